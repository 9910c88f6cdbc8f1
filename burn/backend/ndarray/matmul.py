"""Matrix products."""

import numpy as np

from burn.backend.ndarray.elementwise import relu
from burn.backend.ndarray.table import kernel, wide

NO_ACTIVATION, RELU = 0, 1


@kernel("matmul")
def matmul(outs, ins, ints, floats):
    """`a[..., m, k] @ b[..., k, n]`, plus a bias `[n]` when there is one, then the activation that `ints[0]` names."""
    product = np.matmul(wide(ins[0]), wide(ins[1]))
    if len(ins) > 2:
        product = product + wide(ins[2])
    outs[0][...] = relu(product) if ints and ints[0] == RELU else product


@kernel("linear_bwd")
def linear_bwd(outs, ins, ints, floats):
    """`a[m, k] @ b[k, n]`, and the sums of `b` over k."""
    matmul(outs, ins, ints, floats)
    outs[1][...] = wide(ins[1]).sum(0)
