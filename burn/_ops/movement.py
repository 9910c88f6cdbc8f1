"""Movement ops: views where strides allow it, copies where not, and the gradients of both."""

import itertools
import math
from operator import mul

from burn._core import core
from burn._ops.registry import ANY, NUMERIC, define
from burn._ops.rule import python_rule
from burn.errors import ShapeError
from burn.tensor.dtype import DType
from burn.tensor.shape import axis_of

_copy = define("copy", "movement", kinds=ANY)
_fill = define("fill", "movement", kinds=ANY)
_arange = define("arange", "movement", kinds=ANY, n_in=0)
_reshape = define("reshape", "movement", kinds=ANY)
_expand = define("expand", "movement", kinds=ANY)
_permute = define("permute", "movement", kinds=ANY, attrs=("axes",))
_slice = define("slice", "movement", kinds=ANY, attrs=("starts", "steps"))
_slice_assign = define("slice_assign", "movement", kinds=ANY, n_in=2, attrs=("starts", "steps"))
_roll = define("roll", "movement", kinds=ANY, attrs=("shifts",))
_unfold = define("unfold", "movement", kinds=ANY, attrs=("dim", "step"))
_pad = define("pad", "movement", kinds=NUMERIC, attrs=("starts", "frame"))
_triu = define("triu", "movement", kernel="triangle", kinds=NUMERIC, attrs=("diagonal",))
_tril = define("tril", "movement", kernel="triangle", kinds=NUMERIC, attrs=("diagonal",))
_cat = define("cat", "movement", kinds=ANY, n_in=-1, attrs=("dim",))


def reshape(x, shape):
    """x with another shape of the same size."""
    return _reshape.reshaped(x, shape)


def resolve_reshape(source, shape):
    """The target of a reshape of sizes source: -1 is inferred once, 0 copies the size of the axis at its index.

    Without elements a 0 stands for itself where a copy does not fit.
    """
    dims, source, size = list(shape), list(source), math.prod(source)
    if not dims:
        raise ShapeError("[reshape] 'shape' must have at least one axis; a scalar has shape [1]")
    if any(n < -1 for n in dims):
        raise ShapeError(f"[reshape] 'shape' must not hold negative sizes other than -1, got {dims}")
    if dims.count(-1) > 1:
        raise ShapeError(f"[reshape] 'shape' may hold -1 once, got {dims}")
    copied = [i for i, n in enumerate(dims) if n == 0]
    if copied and copied[-1] >= len(source):
        if size == 0 and -1 not in dims:
            return tuple(dims)
        raise ShapeError(f"[reshape] 'shape' must not use 0 past the axes of shape {source}, got {dims}")
    for i in copied:
        dims[i] = source[i]
    if -1 in dims:
        # what is copied fills itself, which tells -1 even where that has no elements
        left = math.prod(n for i, n in enumerate(source) if i not in copied)
        given = math.prod(n for i, n in enumerate(dims) if i not in copied and n != -1)
        if left % given:
            raise ShapeError(f"[reshape] cannot infer -1: {size} elements of shape {source} do not fill {dims}")
        dims[dims.index(-1)] = left // given
    if copied and size == 0 and math.prod(dims) and -1 not in shape:
        return tuple(shape)
    if math.prod(dims) != size:
        raise ShapeError(
            f"[reshape] 'shape' must hold {size} elements like shape {source}, got {list(shape)} with {math.prod(dims)}"
        )
    return tuple(dims)


def permute(x, axes):
    """The axes in another order (a view)."""
    dims, steps = x._dims, x._strides
    return _permute.view(x, [dims[a] for a in axes], [steps[a] for a in axes], x._offset, axes)


def swap(x, a, b):
    """Two axes exchanged (a view)."""
    axes = list(range(x.ndim))
    axes[a], axes[b] = b, a
    return permute(x, tuple(axes))


def expand(x, shape):
    """x with axes of size 1 repeated (a view)."""
    return _expand.expanded(x, shape)


def resolve_expand(source, shape):
    """The target of an expand of sizes source: -1 keeps the source size."""
    target = list(shape)
    if len(target) < len(source):
        raise ShapeError(
            f"[expand] 'shape' must have at least rank {len(source)}, got {target} for shape {list(source)}"
        )
    shift = len(target) - len(source)
    for i, n in enumerate(target):
        if n == -1:
            if i < shift:
                raise ShapeError(
                    f"[expand] 'shape' cannot use -1 for the new axis {i}, got {target} for shape {list(source)}"
                )
            target[i] = source[i - shift]
        elif n < -1:
            raise ShapeError(f"[expand] 'shape' must hold sizes or -1, got {target}")
        elif i >= shift and n != source[i - shift] and source[i - shift] != 1:
            raise ShapeError(
                f"[expand] 'shape' must keep axes that are not 1, got {target} for shape {list(source)}: axis {i} has "
                f"{source[i - shift]} and cannot become {n}"
            )
    return tuple(target)


def _window(x, starts, steps, sizes):
    strides = x._strides
    return sizes, map(mul, steps, strides), sum(map(mul, starts, strides), x._offset)


def slice_view(x, starts, steps, sizes):
    """Elements from starts by steps (which may be negative), sizes many an axis (a view)."""
    shape, strides, offset = _window(x, starts, steps, sizes)
    return _slice.view(x, shape, strides, offset if math.prod(sizes) else x._offset, (starts, steps))


def slice_assign(x, starts, steps, values):
    """x with the window replaced by values, which has the window's shape."""
    out = core.empty(x._dims, x._dtype, x._slot, x._ctx or values._ctx)
    _copy.write((x,), out)
    _put(out, starts, steps, values)
    _slice_assign_record(x, values, out, (starts, steps))
    return out


def _slice_assign_record(x, values, out, attrs):
    _slice_assign.record((x, values), out, attrs)


def cat(tensors, dim):
    """Tensors joined along an axis; shapes agree but for that axis."""
    out = core.join(_cat, tensors, dim)
    if out is not None:
        return out
    shape = list(tensors[0]._dims)
    shape[dim] = sum(t._dims[dim] for t in tensors)
    out = core.empty(shape, tensors[0]._dtype, tensors[0]._slot, max(t._ctx for t in tensors))
    starts, steps = [0] * len(shape), [1] * len(shape)
    for t in tensors:
        _put(out, starts, steps, t)
        starts[dim] += t._dims[dim]
    _cat.record(tuple(tensors), out, dim)
    return out


def roll(x, shifts):
    """x turned by 0 <= shift < size along each axis: one copy for each combination of the two parts of each axis."""
    if not any(shifts) or not x._size:
        return x
    out = core.empty(x._dims, x._dtype, x._slot, x._ctx)
    parts = [[(0, n, 0)] if not k else [(0, n - k, k), (n - k, k, 0)] for n, k in zip(x._dims, shifts, strict=True)]
    steps = [1] * x.ndim
    for block in itertools.product(*parts):
        sources, sizes, targets = zip(*block, strict=True)
        _put(out, targets, steps, slice_view(x, sources, steps, sizes))
    _roll.record((x,), out, shifts)
    return out


def _put(out, starts, steps, values):
    """Writes values into a window of a fresh tensor's own memory."""
    if values._size:
        shape, strides, offset = _window(out, starts, steps, values._dims)
        _copy.write((values,), _slice.view(out, shape, strides, offset))


def unfold(x, axis, size, step):
    """Windows of size elements, step apart, along an axis; the windows' own axis comes last (a view)."""
    n = x._dims[axis]
    count = (n - size) // step + 1 if n >= size else 0
    strides = [*x._strides, x._strides[axis]]
    strides[axis] *= step if count > 1 else 1
    return _unfold.view(x, (*_with(x._dims, axis, count), size), strides, x._offset, (axis, step))


FRAME = 1 << 16  # elements from which filling the frame alone beats filling all of a padded tensor


def pad_constant(x, widths, value):
    """x within a frame of one number, given as (float, int); widths is one pair (before, after) an axis."""
    shape = [n + before + after for n, (before, after) in zip(x._dims, widths, strict=True)]
    starts, ones = [before for before, _ in widths], [1] * x.ndim
    if math.prod(shape) < FRAME:
        out = full_like_shape(shape, x._dtype, x._slot, x._ctx, value)
    else:
        out = core.empty(shape, x._dtype, x._slot, x._ctx)
        one = full_like_shape((1,), x._dtype, x._slot, 0, value)
        for _, _, _, to, sizes in _frame(x._dims, widths, False):
            _put(out, to, ones, expand(one, sizes))
    _put(out, starts, ones, x)
    _pad.record((x,), out, (starts, ()))
    return out


def pad_border(x, widths, reflect):
    """x within a frame of its own elements: mirrored at the outermost, or the outermost repeated."""
    shape = [n + before + after for n, (before, after) in zip(x._dims, widths, strict=True)]
    starts, ones = [before for before, _ in widths], [1] * x.ndim
    out = core.empty(shape, x._dtype, x._slot, x._ctx)
    _put(out, starts, ones, x)
    frame = _frame(x._dims, widths, reflect)
    for axis, step, start, to, sizes in frame:
        _put(out, to, ones, slice_view(out, start, _with(ones, axis, step), sizes))
    _pad.record((x,), out, (starts, frame))
    return out


def _frame(dims, widths, reflect):
    """(axis, step, from, to, sizes) of each side of a padded tensor: where in it a border is, and what it repeats.

    Later axes come last, and their borders include the corners.
    """
    sides, sizes = [], list(dims)
    inner = [before for before, _ in widths]
    for axis, (n, (before, after)) in enumerate(zip(dims, widths, strict=True)):
        end = before + n
        for count, place, first in ((before, 0, 2 * before), (after, end, end - 2)):
            if count:
                step, start = (-1, first) if reflect else (0, min(max(before, place - 1), end))
                sides.append(
                    (axis, step, _with(inner, axis, start), _with(inner, axis, place), _with(sizes, axis, count))
                )
        sizes[axis], inner[axis] = before + n + after, 0
    return sides


def triangle(x, diagonal, upper):
    """The upper or lower triangle of the last two axes, from or up to a diagonal, and zeros."""
    rows, cols = x._dims[-2:]
    ints = (math.prod(x._dims[:-2]), rows, cols, max(-rows, min(diagonal, cols)), upper)
    return (_triu if upper else _tril).apply((x,), x._dims, x._dtype, ints, (), diagonal)


def full_like_shape(shape, code, slot, ctx, value):
    """A fresh tensor filled with one number, given as (float, int)."""
    out = core.empty(shape, code, slot, ctx)
    _fill.write((core.make_scalar(code, slot, 0, *value),), out)
    return out


def zeros(shape, code, slot, ctx=0):
    """A fresh tensor of zeros."""
    return full_like_shape(shape, code, slot, ctx, (0.0, 0))


def arange(start, count, step, code, slot, ctx):
    """count whole numbers from start by step."""
    start, step = (n - (1 << 64) if n >= 1 << 63 else n for n in (start, step))
    return _arange.create((count,), code, slot, ctx, (start, step))


def contiguous(x):
    """x with row-major memory; keeps the graph."""
    if x._contiguous:
        return x
    return _copy.apply((x,), x._dims, x._dtype)


def copied(x):
    """A copy in memory of its own, outside the graph."""
    return _copy.write((x,), core.empty(x._dims, x._dtype, x._slot, 0))


def repeat(x, sizes):
    """The whole tensor tiled sizes times along each axis."""
    inner, outer, shape = [], [], []
    for n, k in zip(x._dims, sizes, strict=True):
        inner += [1, n]
        outer += [k, n]
        shape.append(n * k)
    if len(inner) > 8:
        for axis, k in enumerate(sizes):
            if k != 1:
                x = cat([x] * k, axis) if k else slice_view(x, [0] * x.ndim, [1] * x.ndim, _with(x._dims, axis, 0))
        return x
    return reshape(contiguous(expand(reshape(x, inner), outer)), shape)


def diagonal(x):
    """The main diagonal of the last two axes, [..., m, n] to [..., min(m, n)] (a view where x is contiguous)."""
    m, n = x._dims[-2:]
    flat, starts = reshape(x, (*x._dims[:-2], m * n)), (0,) * (x.ndim - 1)
    return slice_view(flat, starts, (*[1] * (x.ndim - 2), n + 1), (*x._dims[:-2], min(m, n)))


def _with(dims, axis, size):
    out = list(dims)
    out[axis] = size
    return out


def flip(x, axes):
    """The order along axes reversed (a view)."""
    starts = [n - 1 if i in axes and n else 0 for i, n in enumerate(x._dims)]
    steps = [-1 if i in axes else 1 for i in range(x.ndim)]
    return slice_view(x, starts, steps, x._dims)


def _reshape_bwd(node, g):
    return (reshape(g, node.shape(0)),)


def _expand_bwd(node, g):
    from burn._ops.reduce import sum_to_shape

    return (sum_to_shape(g, node.shape(0)),)


def _permute_bwd(node, g):
    inverse = [0] * len(node.attrs)
    for i, a in enumerate(node.attrs):
        inverse[a] = i
    return (permute(g, tuple(inverse)),)


def _slice_bwd(node, g):
    starts, steps = node.attrs
    out = zeros(node.shape(0), g._dtype, g._slot)
    _put(out, starts, steps, g)
    return (out,)


def _slice_assign_bwd(node, g):
    starts, steps = node.attrs
    size = node.shape(1)
    kept = slice_assign(g, starts, steps, zeros(size, g._dtype, g._slot)) if node.needs(0) else None
    return kept, slice_view(g, starts, steps, size) if node.needs(1) else None


def _cat_bwd(node, g):
    dim, at, parts = node.attrs, 0, []
    steps = [1] * g.ndim
    for i in range(node.count):
        size = node.shape(i)
        starts = [0] * g.ndim
        starts[dim] = at
        at += size[dim]
        parts.append(slice_view(g, starts, steps, size) if node.needs(i) else None)
    return parts


def _roll_bwd(node, g):
    return (roll(g, tuple((-k) % n if n else 0 for n, k in zip(g._dims, node.attrs, strict=True))),)


def _unfold_bwd(node, g):
    from burn._ops.index import select_into

    axis, step = node.attrs
    out, count, size = zeros(node.shape(0), g._dtype, g._slot), g._dims[axis], g._dims[-1]
    if g._size:
        first = arange(0, count, step, DType.I64.code, g._slot, 0)
        inside = arange(0, size, 1, DType.I64.code, g._slot, 0)
        positions = reshape(first, (count, 1)) + reshape(inside, (1, size))
        last = g.ndim - 1
        windows = permute(g, (*range(axis + 1), last, *range(axis + 1, last)))
        values = reshape(windows, _with(node.shape(0), axis, count * size))
        select_into(out, axis, reshape(positions, (count * size,)), values)
    return (out,)


def _pad_bwd(node, g):
    from burn._ops.elementwise import add
    from burn._ops.reduce import sum_

    starts, frame = node.attrs
    ones, out = [1] * g.ndim, copied(g) if frame else g
    for axis, step, start, to, sizes in reversed(frame):
        part = slice_view(out, to, ones, sizes)
        if step == 0:
            part = sum_(part, axis)
        by = _with(ones, axis, step or 1)
        _put(out, start, by, add(slice_view(out, start, by, part._dims), part))
    return (slice_view(out, starts, ones, node.shape(0)),)


_copy.rule = python_rule(lambda node, g: (g,), [""])
_reshape.rule = python_rule(_reshape_bwd, ["shape"])
_expand.rule = python_rule(_expand_bwd, ["shape"])
_permute.rule = python_rule(_permute_bwd, [""])
_slice.rule = python_rule(_slice_bwd, ["shape"])
_slice_assign.rule = python_rule(_slice_assign_bwd, ["shape", "shape"])
_roll.rule = python_rule(_roll_bwd, [""])
_unfold.rule = python_rule(_unfold_bwd, ["shape"])
_pad.rule = python_rule(_pad_bwd, ["shape"])
_triu.rule = python_rule(lambda node, g: (triangle(g, node.attrs, 1),), [""])
_tril.rule = python_rule(lambda node, g: (triangle(g, node.attrs, 0),), [""])
_cat.rule = python_rule(_cat_bwd, ["shape"] * 8)


def normalize_axes(axes, rank, op):
    """Distinct non-negative axes."""
    out = [axis_of(a, rank, op, "axes") for a in axes]
    if len(set(out)) != len(out):
        raise ShapeError(f"[{op}] 'axes' must be distinct, got {list(axes)}")
    return out
