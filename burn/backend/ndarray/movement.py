"""Movement: copies between any strides, constants, triangles and ranges."""

import numpy as np

from burn.backend.ndarray.table import kernel


@kernel("copy")
def copy(outs, ins, ints, floats):
    """The elements of the input in the order of its view, dtype unchanged."""
    outs[0][...] = ins[0].reshape(outs[0].shape) if ins[0].size == 1 else ins[0]


@kernel("fill")
def fill(outs, ins, ints, floats):
    """One value everywhere."""
    outs[0][...] = ins[0].reshape(())


@kernel("triangle")
def triangle(outs, ins, ints, floats):
    """The upper or lower triangle of each matrix (ints = outer, rows, cols, diagonal, upper), zeros elsewhere."""
    _, rows, cols, diagonal, upper = ints
    away = np.arange(cols) - np.arange(rows)[:, None]
    kept = away >= diagonal if upper else away <= diagonal
    outs[0][...] = np.where(kept, ins[0], np.zeros(1, ins[0].dtype))


@kernel("arange")
def arange(outs, ins, ints, floats):
    """`start + step * position` (ints = start, step), modulo the width of the dtype."""
    start, step = ints
    outs[0][...] = (np.int64(start) + np.int64(step) * np.arange(outs[0].size)).reshape(outs[0].shape)
