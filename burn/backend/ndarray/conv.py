"""Convolutions tap by tap: for each element of the kernel, the part of the input that meets it is a strided slice.

Attributes: stride, padding before and dilation of each axis, groups, and whether fast algorithms may be used.
"""

import itertools
import math
from typing import Any

import numpy as np

from burn.backend.ndarray.table import kernel, wide


def attributes(ints, axes):
    """Stride, padding, dilation and groups."""
    return ints[:axes], ints[axes : 2 * axes], ints[2 * axes : 3 * axes], ints[3 * axes]


def meeting(tap, small, large, stride, padding, dilation):
    """Slices of the positions, and of the elements that a tap reads there, for those that lie inside."""
    here, there = [], []
    for t, n, size, s, p, d in zip(tap, small, large, stride, padding, dilation, strict=True):
        at = t * d - p
        first = max(0, -(at // s))
        last = min(n, (size - 1 - at) // s + 1)
        here.append(slice(first, max(first, last)))
        there.append(slice(first * s + at, max(first, last) * s + at, s) if last > first else slice(0, 0))
    return (..., *here), (..., *there)


def grouped(x, groups):
    """[batch, channels, ...] as [batch, group, channel, ...] in double precision."""
    return wide(x).reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])


def element(tap):
    """The index of a tap along the last axes."""
    return (..., *tap)


def spots(x):
    """[batch, group, channel, position]."""
    return x.reshape(*x.shape[:3], math.prod(x.shape[3:]))


def finish(out, result, bias):
    """Writes a result, with the bias where there is one."""
    result = result.reshape(out.shape)
    if bias:
        result = result + wide(bias[0]).reshape(-1, *[1] * (out.ndim - 2))
    out[...] = result


@kernel("conv")
def conv(outs, ins, ints, floats):
    x, weight, *bias = ins
    axes = x.ndim - 2
    *geometry, groups = attributes(ints, axes)
    out, x = outs[0], grouped(x, groups)
    w = wide(weight).reshape(groups, -1, *weight.shape[1:])
    result = np.zeros((out.shape[0], groups, w.shape[1], *out.shape[2:]))
    for tap in itertools.product(*map(range, weight.shape[2:])):
        here, there = meeting(tap, out.shape[2:], x.shape[3:], *geometry)
        result[here] += np.einsum("ngc...,goc->ngo...", x[there], w[element(tap)], optimize=True)
    finish(out, result, bias)


@kernel("conv_transpose")
def conv_transpose(outs, ins, ints, floats):
    x, weight, *bias = ins
    axes = x.ndim - 2
    *geometry, groups = attributes(ints, axes)
    out, x = outs[0], grouped(x, groups)
    w = wide(weight).reshape(groups, -1, *weight.shape[1:])
    result = np.zeros((out.shape[0], groups, w.shape[2], *out.shape[2:]))
    for tap in itertools.product(*map(range, weight.shape[2:])):
        here, there = meeting(tap, x.shape[3:], out.shape[2:], *geometry)
        result[there] += np.einsum("ngc...,gco->ngo...", x[here], w[element(tap)], optimize=True)
    finish(out, result, bias)


@kernel("conv_weight_bwd")
def conv_weight_bwd(outs, ins, ints, floats):
    x, grad = ins
    *geometry, groups = attributes(ints, x.ndim - 2)
    out, x, grad = outs[0], grouped(x, groups), grouped(grad, groups)
    result = np.zeros((groups, grad.shape[2], x.shape[2], *out.shape[2:]))
    for tap in itertools.product(*map(range, out.shape[2:])):
        here, there = meeting(tap, grad.shape[3:], x.shape[3:], *geometry)
        result[element(tap)] = np.einsum("ngcp,ngop->goc", spots(x[there]), spots(grad[here]), optimize=True)
    out[...] = result.reshape(out.shape)


def blocks(ints):
    """Stride, padding and dilation; kernel, map and grid; channels and groups of offsets."""
    return (ints[:2], ints[2:4], ints[4:6]), ints[6:8], ints[8:10], ints[10:12], ints[12], ints[13]


@kernel("unfold4d")
def unfold4d(outs, ins, ints, floats):
    geometry, size, image, grid, channels, _ = blocks(ints)
    out = np.zeros((len(outs[0]), channels, *size, *grid), outs[0].dtype)
    for tap in itertools.product(*map(range, size)):
        here, there = meeting(tap, grid, image, *geometry)
        out[:, :, tap[0], tap[1]][here] = ins[0][there]
    outs[0][...] = out.reshape(outs[0].shape)


@kernel("fold4d")
def fold4d(outs, ins, ints, floats):
    geometry, size, image, grid, channels, _ = blocks(ints)
    x = wide(ins[0]).reshape(len(ins[0]), channels, *size, *grid)
    out = np.zeros(outs[0].shape)
    for tap in itertools.product(*map(range, size)):
        here, there = meeting(tap, grid, image, *geometry)
        out[there] += x[:, :, tap[0], tap[1]][here]
    outs[0][...] = out


def corners(offset, ints):
    """For each corner of each sample, [batch, group, tap, grid]: element of the map, weight, slopes along both axes."""
    (stride, padding, dilation), size, image, grid, _, groups = blocks(ints)
    at = wide(offset).reshape(len(offset), groups, *size, 2, *grid)
    point = []
    for a in (0, 1):
        tap = np.arange(size[a]).reshape((-1, 1, 1, 1) if a == 0 else (1, -1, 1, 1))
        cell = np.arange(grid[a]).reshape((-1, 1) if a == 0 else (1, -1))
        point.append(cell * stride[a] + tap * dilation[a] - padding[a] + at[..., a, :, :])
    inside = (point[0] > -1) & (point[1] > -1) & (point[0] < image[0]) & (point[1] < image[1])
    low = [np.floor(np.where(inside, p, 0)).astype(int) for p in point]
    part = [np.where(inside, p, 0) - q for p, q in zip(point, low, strict=True)]
    for i, j in itertools.product((0, 1), (0, 1)):
        y, x = low[0] + i, low[1] + j
        valid = inside & (y >= 0) & (y < image[0]) & (x >= 0) & (x < image[1])
        v, u = (part[0] if i else 1 - part[0]), (part[1] if j else 1 - part[1])
        yield (
            np.where(valid, y * image[1] + x, 0),
            np.where(valid, v * u, 0),
            np.where(valid, u if i else -u, 0),
            np.where(valid, v if j else -v, 0),
        )


def flat(x, ints):
    """Maps [batch, group, channel, element], or columns [batch, group, channel, kernel, grid]."""
    _, size, image, grid, channels, groups = blocks(ints)
    rest = (image[0] * image[1],) if x.ndim == 4 else (*size, *grid)
    return wide(x).reshape(len(x), groups, channels // groups, *rest)


def taken(x, at):
    """Elements of the maps at places that all channels of a group share."""
    batch, groups, channels = x.shape[:3]
    count = math.prod(at.shape[2:])
    index = np.broadcast_to(at.reshape(batch, groups, 1, count), (batch, groups, channels, count))
    return np.take_along_axis(x, index, 3).reshape(batch, groups, channels, *at.shape[2:])


def factor(mask, ints):
    """The mask as a factor of the columns; 1 where there is none."""
    _, size, _, grid, _, groups = blocks(ints)
    return wide(mask[0]).reshape(len(mask[0]), groups, 1, *size, *grid) if mask else 1.0


@kernel("deform")
def deform(outs, ins, ints, floats):
    x, offset, *mask = ins
    x = flat(x, ints)
    total = sum(w[:, :, None] * taken(x, at) for at, w, _, _ in corners(offset, ints))
    outs[0][...] = (total * factor(mask, ints)).reshape(outs[0].shape)


@kernel("deform_x_bwd")
def deform_x_bwd(outs, ins, ints, floats):
    grad, offset, *mask = ins
    grad = flat(grad, ints) * factor(mask, ints)
    out = np.zeros((*grad.shape[:3], outs[0].shape[2] * outs[0].shape[3]))
    for at, w, _, _ in corners(offset, ints):
        for n, g, c in np.ndindex(out.shape[:3]):
            np.add.at(out[n, g, c], at[n, g], w[n, g] * grad[n, g, c])
    outs[0][...] = out.reshape(outs[0].shape)


@kernel("deform_offset_bwd")
def deform_offset_bwd(outs, ins, ints, floats):
    grad, x, offset, *mask = ins
    grad, x = flat(grad, ints), flat(x, ints)
    slopes: list[Any] = [0.0, 0.0]
    value: Any = 0.0
    for at, w, dy, dx in corners(offset, ints):
        summed = (grad * taken(x, at)).sum(2)
        slopes[0] = slopes[0] + dy * summed
        slopes[1] = slopes[1] + dx * summed
        value = value + w * summed
    m = factor(mask, ints)
    m = m if isinstance(m, float) else m[:, :, 0]
    outs[0][...] = np.stack([slopes[0] * m, slopes[1] * m], 4).reshape(outs[0].shape)
    if mask:
        outs[1][...] = value.reshape(outs[1].shape)
