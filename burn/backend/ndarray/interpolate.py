"""Planes `[planes, h, w]` in another size, and pictures read at the points of a grid; ints as in `burn/_ops/interpolate.py`."""

import numpy as np

from burn.backend.ndarray.table import kernel, wide

CUBIC = -0.75


def cubic(d):
    """Weight of an element at the distance d."""
    d, a = np.abs(d), CUBIC
    near, far = ((a + 2) * d - (a + 3)) * d * d + 1, ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d < 1, near, np.where(d < 2, far, 0.0))


def cubic_slope(d):
    """How it changes with the place."""
    m, a = np.abs(d), CUBIC
    near, far = (3 * (a + 2) * m - 2 * (a + 3)) * m, (3 * a * m - 10 * a) * m + 8 * a
    return np.sign(d) * np.where(m < 1, near, np.where(m < 2, far, 0.0))


def along(size, out, mode, aligned):
    """Places and weights, [out, taps], that make the elements of an axis."""
    o = np.arange(out)
    if mode < 2:
        at = o * size // out if mode == 0 else (2 * o + 1) * size // (2 * out)
        return at[:, None], np.ones((out, 1))
    place = o * ((size - 1) / max(out - 1, 1)) if aligned else (o + 0.5) * (size / out) - 0.5
    taps = {2: 2, 3: 4, 4: 6}[mode]
    at = np.floor(place).astype(np.int64)[:, None] + np.arange(1 - taps // 2, 1 + taps // 2)
    d = place[:, None] - at
    if mode == 2:
        weight = 1 - np.abs(d)
    elif mode == 3:
        weight = cubic(d)
    else:
        weight = np.where((at >= 0) & (at < size) & (np.abs(d) < 3), np.sinc(d) * np.sinc(d / 3), 0.0)
        weight /= weight.sum(1, keepdims=True)
    return np.clip(at, 0, size - 1), weight


def axes(ints):
    """The places and weights of both axes."""
    _, h, w, oh, ow, mode, aligned = ints
    return along(h, oh, mode, aligned), along(w, ow, mode, aligned)


@kernel("interpolate")
def interpolate(outs, ins, ints, floats):
    """Columns first, then rows."""
    (rows, down), (columns, across) = axes(ints)
    x = wide(ins[0]).reshape(ints[:3])
    if x.size and outs[0].size:
        x = (x[:, :, columns] * across).sum(3)
        outs[0][...] = (x[:, rows] * down[:, :, None]).sum(2).reshape(outs[0].shape)


@kernel("interpolate_bwd")
def interpolate_bwd(outs, ins, ints, floats):
    """Each element goes to the places that made it."""
    (rows, down), (columns, across) = axes(ints)
    planes, h, w, oh, ow, *_ = ints
    g = wide(ins[0]).reshape(planes, oh, ow)
    narrow, dx = np.zeros((planes, h, ow)), np.zeros((planes, h, w))
    for o, t in zip(*np.nonzero(down), strict=True):
        narrow[:, rows[o, t]] += g[:, o] * down[o, t]
    for o, t in zip(*np.nonzero(across), strict=True):
        dx[:, :, columns[o, t]] += narrow[:, :, o] * across[o, t]
    outs[0][...] = dx.reshape(outs[0].shape)


def mirrored(place, low, span):
    """A place mirrored at the edges, and whether it runs forward (1) or backward (-1) there."""
    if span <= 0:
        return low, 0.0
    turns, rest = divmod(place - low, span)
    return (low + rest, 1.0) if turns % 2 == 0 else (low + span - rest, -1.0)


def sampled(coordinate, size, mode, padding, aligned):
    """(place, weight, slope) of each element that a coordinate reads along an axis."""
    scale, low = ((size - 1) / 2, 0.0) if aligned else (size / 2, -0.5)
    span = size - 1 if aligned else size
    place, sign = (coordinate + 1) * scale + low, 1.0
    if not np.isfinite(place):  # 0 beside zeros, else the middle, or NaN where the picture is mirrored
        if padding != 1:
            return [] if padding == 0 else [(0, np.nan, 0.0)]
        place, scale = (size - 1) / 2, 0.0
    if padding == 1 and mode < 2 and not 0 <= place <= size - 1:
        place, sign = min(max(place, 0.0), size - 1.0), 0.0
    if padding == 2 and mode < 2:
        place, sign = mirrored(place, low, span)
    if abs(place) > 4 * size + 40:
        if padding == 2:
            place = place % (2 * span) if span > 0 else 0.0
        else:
            place = np.copysign(4.0 * size + 40, place)
    if mode == 0:
        found = [(int(np.rint(place)), 1.0, 0.0)]
    elif mode == 1:
        k = int(np.floor(place))
        found = [(k, 1 - (place - k), -1.0), (k + 1, place - k, 1.0)]
    else:
        k = int(np.floor(place))
        found = [(i, float(cubic(place - i)), float(cubic_slope(place - i))) for i in range(k - 1, k + 3)]
    inside = []
    for k, weight, slope in found:
        if padding == 0 and not 0 <= k < size:
            continue
        if padding == 2 and mode == 2:
            k = int(mirrored(k, low, span)[0])
        inside.append((min(max(k, 0), size - 1), weight, slope * scale * sign))
    return inside


def points(grid, ints):
    """For each point: its place in the result, and (row, column, weight, slope across, slope down) of what it reads."""
    _, _, h, w, _, _, mode, padding, aligned = ints
    for n, i, j in np.ndindex(grid.shape[:3]):
        xs = sampled(grid[n, i, j, 0], w, mode, padding, aligned)
        ys = sampled(grid[n, i, j, 1], h, mode, padding, aligned)
        yield n, i, j, [(r, c, wy * wx, wy * sx, sy * wx) for r, wy, sy in ys for c, wx, sx in xs]


@kernel("grid_sample_2d")
def grid_sample_2d(outs, ins, ints, floats):
    """Point after point."""
    x, out = wide(ins[0]), np.zeros(outs[0].shape)
    for n, i, j, read in points(wide(ins[1]), ints):
        for r, c, weight, _, _ in read:
            out[n, :, i, j] += weight * x[n, :, r, c]
    outs[0][...] = out


@kernel("grid_sample_2d_x_bwd")
def grid_sample_2d_x_bwd(outs, ins, ints, floats):
    """The gradient goes to what each point reads."""
    dx, g = np.zeros(outs[0].shape), wide(ins[1])
    for n, i, j, read in points(wide(ins[0]), ints):
        for r, c, weight, _, _ in read:
            if weight == weight:
                dx[n, :, r, c] += weight * g[n, :, i, j]
    outs[0][...] = dx


@kernel("grid_sample_2d_grid_bwd")
def grid_sample_2d_grid_bwd(outs, ins, ints, floats):
    """How what each point reads changes with its coordinates."""
    x, g, dgrid = wide(ins[0]), wide(ins[2]), np.zeros(outs[0].shape)
    for n, i, j, read in points(wide(ins[1]), ints):
        for r, c, _, *slopes in read:
            value = (x[n, :, r, c] * g[n, :, i, j]).sum()
            dgrid[n, i, j] += [slope * value if slope == slope else 0.0 for slope in slopes]
    outs[0][...] = dgrid
