"""Normalisation: rows of `[channels, spatial]` in groups, channels of a batch, neighbouring channels, and their gradients."""

import numpy as np

from burn.backend.ndarray.table import kernel, wide


def rows_of(x, ints):
    """The rows as [outer, groups, channels, spatial]."""
    rows, groups, channels, spatial, _ = ints
    return wide(x).reshape(rows // groups, groups, channels, spatial)


def spread(vector, like):
    """A parameter of channels, broadcast to [outer, groups, channels, spatial]."""
    return wide(vector).reshape(1, *like.shape[1:3], 1)


def total(x):
    """Sum over a row."""
    return x.sum((2, 3), keepdims=True)


@kernel("group_norm")
def group_norm(outs, ins, ints, floats):
    x = rows_of(ins[0], ints)
    n = max(x.shape[2] * x.shape[3], 1)
    mean = total(x) / n if ints[4] else 0 * total(x)
    scale = 1 / np.sqrt(total((x - mean) ** 2) / n + floats[0])
    y = (x - mean) * scale
    if len(ins) > 1:
        y = y * spread(ins[1], x)
    if len(ins) > 2:
        y = y + spread(ins[2], x)
    for out, value in zip(outs, (y, mean, scale), strict=True):
        out[...] = value.reshape(out.shape)


@kernel("group_norm_bwd")
def group_norm_bwd(outs, ins, ints, floats):
    x, g = rows_of(ins[0], ints), rows_of(ins[1], ints)
    mean, scale = (wide(v).reshape(*x.shape[:2], 1, 1) for v in ins[2:4])
    n, hat = max(x.shape[2] * x.shape[3], 1), (x - mean) * scale
    inner = g * spread(ins[4], x) if len(ins) > 4 else g
    centre = total(inner) / n if ints[4] else 0
    outs[0][...] = (scale * (inner - centre - hat * total(inner * hat) / n)).reshape(outs[0].shape)
    for out, value in zip(outs[1:], (g * hat, g), strict=False):
        out[...] = value.sum((0, 3)).reshape(out.shape)


def batch(x, ints):
    """A batch as [outer, channels, inner]."""
    return wide(x).reshape(ints[:3])


def by_channel(vector):
    """A vector of channels, broadcast to [outer, channels, inner]."""
    return wide(vector)[None, :, None]


@kernel("batch_norm")
def batch_norm(outs, ins, ints, floats):
    gamma, beta, mean, variance = map(by_channel, ins[1:])
    y = (batch(ins[0], ints) - mean) / np.sqrt(variance + floats[0]) * gamma + beta
    outs[0][...] = y.reshape(outs[0].shape)


@kernel("batch_norm_train")
def batch_norm_train(outs, ins, ints, floats):
    x = batch(ins[0], ints)
    outs[1][...], outs[2][...] = x.mean((0, 2)), x.var((0, 2))
    batch_norm(outs[:1], [*ins, x.mean((0, 2)), x.var((0, 2))], ints, floats)


@kernel("batch_norm_bwd")
def batch_norm_bwd(outs, ins, ints, floats):
    x, g = batch(ins[0], ints), batch(ins[1], ints)
    mean, variance, gamma = map(by_channel, ins[2:])
    scale = 1 / np.sqrt(variance + floats[0])
    hat, n = (x - mean) * scale, max(x.shape[0] * x.shape[2], 1)
    outs[1][...], outs[2][...] = (g * hat).sum((0, 2)), g.sum((0, 2))
    if ints[3]:
        g = g - g.sum((0, 2), keepdims=True) / n - hat * (g * hat).sum((0, 2), keepdims=True) / n
    outs[0][...] = (g * scale * gamma).reshape(outs[0].shape)


def window(x, below, above):
    """Sum over the channels from `below` under each one to `above` over it."""
    out = np.zeros_like(x)
    for c in range(x.shape[1]):
        out[:, c] = x[:, max(c - below, 0) : c + above + 1].sum(1)
    return out


@kernel("local_response_norm")
def local_response_norm(outs, ins, ints, floats):
    x, size, (alpha, beta, k) = batch(ins[0], ints), ints[3], floats
    s = k + alpha / size * window(x * x, (size - 1) // 2, size // 2)
    outs[0][...] = (x * s**-beta).reshape(outs[0].shape)


@kernel("local_response_norm_bwd")
def local_response_norm_bwd(outs, ins, ints, floats):
    x, g, size, (alpha, beta, k) = batch(ins[0], ints), batch(ins[1], ints), ints[3], floats
    s = k + alpha / size * window(x * x, (size - 1) // 2, size // 2)
    terms = window(g * x * s ** (-beta - 1), size // 2, (size - 1) // 2)
    outs[0][...] = (g * s**-beta - 2 * alpha * beta / size * x * terms).reshape(outs[0].shape)


def scaled(x):
    """Rows in double precision and a scale for each, by which their squares neither overflow nor vanish."""
    x = wide(x)
    most = np.abs(x).max(-1, keepdims=True, initial=0.0)
    _, exponent = np.frexp(np.where(np.isfinite(most) & (most > 0), most, 1.0))
    scale = np.ldexp(1.0, np.clip(-exponent, -1000, 1000))
    return x * scale, scale


def length(x):
    """The norms of rows."""
    return np.sqrt(np.square(x).sum(-1, keepdims=True))


def apart(ints, floats, x, y=None):
    """Scaled rows of x, or of x - y + floats[0], and their scales."""
    return scaled(x.reshape(ints) if y is None else wide(x.reshape(ints)) - wide(y.reshape(ints)) + floats[0])


@kernel("l2_norm")
def l2_norm(outs, ins, ints, floats):
    """Norms of rows, or of differences of rows."""
    x, scale = apart(ints, floats, *ins)
    outs[0][...] = (length(x) / scale).reshape(outs[0].shape)


@kernel("l2_norm_bwd")
def l2_norm_bwd(outs, ins, ints, floats):
    """Their gradient by the first rows; 0 where the norm is."""
    (x, _), g = apart(ints, floats, ins[0], *ins[3:]), wide(ins[1]).reshape(-1, 1)
    norm = length(x)
    outs[0][...] = np.where((g == 0) | (norm == 0), 0.0, x / norm * g).reshape(outs[0].shape)


def angle(x, y, low, zeros):
    """Unit vectors of rows, their cosine, the scaled divisor of x and its scale, and whether x moves it."""
    (x, a), (y, b) = scaled(x), scaled(y)
    p, q = length(x), length(y)
    by, over = np.maximum(p, low * a), np.maximum(q, low * b)
    moves = ~(p < low * a)
    if zeros:
        by, over, moves = np.where(p == 0, np.inf, by), np.where(q == 0, np.inf, over), moves & (p != 0) & (q != 0)
    x, y = x / by, y / over
    return x, y, (x * y).sum(-1, keepdims=True), by, a, moves


@kernel("cosine_similarity")
def cosine_similarity(outs, ins, ints, floats):
    """Cosines between rows; norms count as at least floats[0], and with floats[1] those of 0 give 0."""
    outs[0][...] = angle(*(v.reshape(ints) for v in ins), *floats)[2].reshape(outs[0].shape)


@kernel("cosine_similarity_bwd")
def cosine_similarity_bwd(outs, ins, ints, floats):
    """Its gradient by the first rows."""
    x, y, cosine, by, scale, moves = angle(*(v.reshape(ints) for v in ins[:2]), *floats)
    g = wide(ins[2]).reshape(-1, 1)
    slope = g * scale / by * (y - np.where(moves, cosine * x, 0.0))
    outs[0][...] = np.where(g == 0, 0.0, slope).reshape(outs[0].shape)
