"""Pooling of `[planes, h, w]` and adaptive averages of `[planes, d, h, w]`; ints as in `burn/_ops/pool.py`.

Window after window: of each, the cells that lie inside the input.
"""

import math

import numpy as np

from burn.backend.contract import INDEX, KernelError
from burn.backend.ndarray.table import kernel, wide


def windows(ints):
    """For each window: its place (i, j) in the output, the rows and columns of its cells, and what an average divides by."""
    _, h, w, oh, ow, kh, kw, sh, sw, top, left, bottom, right, dh, dw, counted = ints
    for i in range(oh):
        for j in range(ow):
            first = (i * sh - top, j * sw - left)
            rows = [r for r in range(first[0], first[0] + kh * dh, dh) if 0 <= r < h]
            columns = [c for c in range(first[1], first[1] + kw * dw, dw) if 0 <= c < w]
            count = len(rows) * len(columns)
            if counted:
                count = (min(first[0] + kh, h + bottom) - first[0]) * (min(first[1] + kw, w + right) - first[1])
            yield i, j, rows, columns, max(count, 1)


def parts(sizes, out):
    """For each place of an adaptive average: the slices of its window."""
    for place in np.ndindex(*out):
        yield place, tuple(slice(o * n // k, -(-(o + 1) * n // k)) for o, n, k in zip(place, sizes, out, strict=True))


def planes(array, ints, first):
    """The array as [planes, height, width], its two sizes standing at `first` among the ints."""
    return wide(array).reshape(ints[0], ints[first], ints[first + 1])


def largest(x, ints):
    """The largest of each window and its place: the first of equal cells, the last of several NaN."""
    values = np.full((ints[0], ints[3], ints[4]), -np.inf)
    places = np.full(values.shape, -1, np.int64)
    for i, j, rows, columns, _ in windows(ints):
        cells = [(r, c) for r in rows for c in columns]
        for p in range(ints[0]):
            if not cells:
                continue
            best = cells[0]
            for cell in cells[1:]:
                if x[p][cell] > x[p][best] or np.isnan(x[p][cell]):
                    best = cell
            values[p, i, j], places[p, i, j] = x[p][best], best[0] * ints[2] + best[1]
    return values, places


@kernel("max_pool2d")
def max_pool2d(outs, ins, ints, floats):
    """Values only."""
    outs[0][...] = largest(planes(ins[0], ints, 1), ints)[0].reshape(outs[0].shape)


@kernel("max_pool2d_with_indices")
def max_pool2d_with_indices(outs, ins, ints, floats):
    """Values and places."""
    for out, result in zip(outs, largest(planes(ins[0], ints, 1), ints), strict=True):
        out[...] = result.reshape(out.shape)


@kernel("max_pool2d_bwd")
def max_pool2d_bwd(outs, ins, ints, floats):
    """The gradient goes to the places."""
    places = ins[1].reshape(ints[0], math.prod(ins[1].shape[2:]))
    wrong = np.flatnonzero((places < -1) | (places >= ints[1] * ints[2]))
    if wrong.size:
        raise KernelError(INDEX, int(wrong[0]), int(places.flat[wrong[0]]), ints[1] * ints[2])
    dx, g = np.zeros((ints[0], ints[1] * ints[2])), wide(ins[0]).reshape(places.shape)
    for p in range(ints[0]):
        inside = places[p] >= 0
        np.add.at(dx[p], places[p][inside], g[p][inside])
    outs[0][...] = dx.reshape(outs[0].shape)


@kernel("avg_pool2d")
def avg_pool2d(outs, ins, ints, floats):
    """Averages."""
    x, out = planes(ins[0], ints, 1), np.zeros((ints[0], ints[3], ints[4]))
    for i, j, rows, columns, count in windows(ints):
        out[:, i, j] = x[:, rows][:, :, columns].sum((1, 2)) / count
    outs[0][...] = out.reshape(outs[0].shape)


@kernel("avg_pool2d_bwd")
def avg_pool2d_bwd(outs, ins, ints, floats):
    """Each element is spread over its window."""
    g, dx = planes(ins[0], ints, 3), np.zeros((ints[0], ints[1], ints[2]))
    for i, j, rows, columns, count in windows(ints):
        dx[np.ix_(range(ints[0]), rows, columns)] += g[:, i, j, None, None] / count
    outs[0][...] = dx.reshape(outs[0].shape)


@kernel("adaptive_avg_pool3d")
def adaptive_avg_pool3d(outs, ins, ints, floats):
    """Averages of windows that cut each axis into parts."""
    x, out = wide(ins[0]).reshape(ints[:4]), np.zeros((ints[0], *ints[4:]))
    for place, cut in parts(ints[1:4], ints[4:]):
        out[(slice(None), *place)] = x[(slice(None), *cut)].mean((1, 2, 3))
    outs[0][...] = out.reshape(outs[0].shape)


@kernel("adaptive_avg_pool3d_bwd")
def adaptive_avg_pool3d_bwd(outs, ins, ints, floats):
    """Each element is spread over its window."""
    g, dx = wide(ins[0]).reshape(ints[0], *ints[4:]), np.zeros(ints[:4])
    for place, cut in parts(ints[1:4], ints[4:]):
        part = dx[(slice(None), *cut)]
        part += g[(slice(None), *place)][:, None, None, None] / np.prod(part.shape[1:])
    outs[0][...] = dx.reshape(outs[0].shape)
