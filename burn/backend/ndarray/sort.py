"""Stable sorts of rows, `[rows, n]`, of which positions first..first+k are given (ints = rows, n, descending, first, k).

NaN is the largest whatever its sign, -0 equals 0, equal elements keep their order in both directions.
"""

import numpy as np

from burn.backend.ndarray.table import kernel, wide


def order(x, ints):
    """The rows, and the positions that sort them."""
    rows, n, descending, first, k = ints
    x = x.reshape(rows, n)
    if descending:  # from the last to the first, both ways round, so that equal ones keep their order
        where = n - 1 - np.argsort(wide(x)[:, ::-1], axis=1, kind="stable")[:, ::-1]
    else:
        where = np.argsort(wide(x), axis=1, kind="stable")
    return x, where[:, first : first + k]


@kernel("sort")
def sort(outs, ins, ints, floats):
    """Values in order, and their positions."""
    x, where = order(ins[0], ints)
    for out, result in zip(outs, (np.take_along_axis(x, where, axis=1), where), strict=True):
        out[...] = result.reshape(out.shape)


@kernel("sort_values")
def sort_values(outs, ins, ints, floats):
    """Values in order."""
    x, where = order(ins[0], ints)
    outs[0][...] = np.take_along_axis(x, where, axis=1).reshape(outs[0].shape)


@kernel("argsort")
def argsort(outs, ins, ints, floats):
    """Positions of the values in order."""
    outs[0][...] = order(ins[0], ints)[1].reshape(outs[0].shape)
