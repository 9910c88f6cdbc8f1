"""Indexing over the middle axis of `[outer, n, inner]`, k positions taken or written (ints = outer, n, inner, k, ...).

An index outside `0 <= index < n` is refused before anything is written.
"""

import numpy as np

from burn.backend.contract import INDEX, KernelError
from burn.backend.ndarray.table import kernel, wide


def checked(index, n):
    """`index` as 64-bit integers, all of them inside the axis of size n."""
    flat = index.reshape(-1).astype(np.int64)
    bad = (flat < 0) | (flat >= n)
    if bad.any():
        position = int(np.argmax(bad))
        raise KernelError(INDEX, position, int(flat[position]), n)
    return flat


@kernel("gather")
def gather(outs, ins, ints, floats):
    """`out[o, j, c] = x[o, index[o, j, c], c]`."""
    outer, n, inner, k = ints
    index = checked(ins[1], n).reshape(outer, k, inner)
    outs[0].reshape(outer, k, inner)[...] = np.take_along_axis(ins[0].reshape(outer, n, inner), index, axis=1)


@kernel("select")
def select(outs, ins, ints, floats):
    """`out[o, j, :] = x[o, index[j], :]`."""
    outer, n, inner, k = ints
    outs[0].reshape(outer, k, inner)[...] = ins[0].reshape(outer, n, inner)[:, checked(ins[1], n)]


def write(out, target, values, mode):
    """Combines `values` into `out[target]` in order: mode 0 assigns, 1 adds, 2 multiplies, 3 and 4 keep the extreme."""
    if mode == 0:
        out[target] = values
        return
    result = wide(out)
    (np.add, np.multiply, np.minimum, np.maximum)[mode - 1].at(result, target, wide(values))
    out[...] = result


@kernel("scatter")
def scatter(outs, ins, ints, floats):
    """Writes `values[o, j, c]` to `out[o, index[o, j, c], c]`, where `out` already holds the target's values."""
    outer, n, inner, k, mode = ints
    index = checked(ins[1], n).reshape(outer, k, inner)
    target = np.arange(outer)[:, None, None], index, np.arange(inner)
    write(outs[0].reshape(outer, n, inner), target, ins[0].reshape(outer, k, inner), mode)


@kernel("select_assign")
def select_assign(outs, ins, ints, floats):
    """Writes `values[o, j, :]` to `out[o, index[j], :]`, where `out` already holds the target's values."""
    outer, n, inner, k, mode = ints
    target = slice(None), checked(ins[1], n)
    write(outs[0].reshape(outer, n, inner), target, ins[0].reshape(outer, k, inner), mode)


@kernel("one_hot")
def one_hot(outs, ins, ints, floats):
    """`out[o, c, i]` is one number where `x[o, i]`, without its fraction, names the class c, else another one."""
    outer, classes, inner, *numbers = ints
    x = wide(ins[0]).reshape(outer, 1, inner)
    if floating := x.dtype.kind == "f":
        x = np.trunc(x)
    bad = ~((x >= -classes) & (x < classes)).reshape(-1)
    if bad.any():
        position = int(np.argmax(bad))
        value = x.reshape(-1)[position]
        whole = int(value.astype(np.int64)) if not floating or abs(value) < 2.0**63 else -(1 << 63)
        raise KernelError(INDEX, position, whole, classes)
    at = x.astype(np.int64)
    here = np.where(at < 0, at + classes, at) == np.arange(classes).reshape(1, classes, 1)
    on, off = floats if floating else np.array(numbers, np.int64).astype(x.dtype)
    outs[0].reshape(outer, classes, inner)[...] = np.where(here, on, off)


@kernel("mask_counts")
def mask_counts(outs, ins, ints, floats):
    """How many of each 8192 elements are true."""
    flat = ins[0].reshape(-1) != 0
    outs[0][...] = np.add.reduceat(flat.astype(np.int64), np.arange(0, flat.size, 8192))


@kernel("mask_places")
def mask_places(outs, ins, ints, floats):
    """Coordinates of the true elements (ints = step from place to place, from axis to axis, rank, axes of the mask)."""
    place, axis, rank, *dims = ints
    found = np.nonzero(ins[0].reshape(dims))
    out = outs[0].reshape(-1)
    for k in range(rank):
        out[np.arange(found[0].size) * place + k * axis] = found[k]
