"""The op records, one file a family, and the bridges that check arguments and word errors.

Importing this package registers every op with the core.
"""

from burn._core import core
from burn._ops import (
    attention,
    conv,
    elementwise,
    index,
    interpolate,
    loss,
    matmul,
    movement,
    norm,
    operators,
    pool,
    random,
    reduce,
    rnn,
    scan,
    signal,
    softmax,
    sort,
)
from burn._ops.registry import OPS

core.set_core_ops(OPS["copy"], OPS["fill"], OPS["add"])
core.set_sum_to_shape(reduce.sum_to_shape)

__all__ = [
    "OPS",
    "attention",
    "conv",
    "elementwise",
    "index",
    "interpolate",
    "loss",
    "matmul",
    "movement",
    "norm",
    "operators",
    "pool",
    "random",
    "reduce",
    "rnn",
    "scan",
    "signal",
    "softmax",
    "sort",
]
