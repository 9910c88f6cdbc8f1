"""The reference backend: every op as one plain NumPy expression, slow and obvious.

Other backends are tested against it. `KERNELS` maps the name of an op, or of its backward kernel, to
`kernel(outs, ins, ints, floats)`, which writes into the arrays `outs`; the families are the files of this folder, named
as in `burn/_ops` and `burn/_core`. Floats are computed in double precision and rounded once to the dtype of the output.
"""

# Each family fills KERNELS when it is imported.
from burn.backend.ndarray import (  # noqa: F401
    attention,
    conv,
    elementwise,
    index,
    interpolate,
    loss,
    matmul,
    movement,
    norm,
    pool,
    random,
    reduce,
    rnn,
    scan,
    signal,
    softmax,
    sort,
)
from burn.backend.ndarray.table import KERNELS as KERNELS
