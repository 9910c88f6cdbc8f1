"""Running sums, products and extremes over the middle axis of `[outer, n, inner]` (ints = outer, n, inner, reverse).

Integers wrap; a NaN stays.
"""

import numpy as np

from burn.backend.ndarray.reduce import middle
from burn.backend.ndarray.table import kernel


def running(name, ufunc):
    """Enters an op that accumulates by `ufunc`, from the end of the axis where `reverse`."""

    @kernel(name)
    def run(outs, ins, ints, floats):
        step = -1 if ints[3] else 1
        result = ufunc.accumulate(middle(ins[0], ints[:3])[:, ::step], axis=1)
        outs[0].reshape(ints[:3])[...] = result[:, ::step]


running("cumsum", np.add)
running("cumprod", np.multiply)
running("cummax", np.maximum)
running("cummin", np.minimum)
