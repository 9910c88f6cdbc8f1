"""Movement ops: views where strides allow it, copies where not, and the gradients of both."""

import math

from burn._core import core
from burn._ops.registry import ANY, define
from burn._ops.rule import python_rule
from burn.errors import ShapeError
from burn.tensor.shape import axis_of

_copy = define("copy", "movement", kinds=ANY)
_fill = define("fill", "movement", kinds=ANY)
_arange = define("arange", "movement", kinds=ANY, n_in=0)
_reshape = define("reshape", "movement", kinds=ANY)
_expand = define("expand", "movement", kinds=ANY)
_permute = define("permute", "movement", kinds=ANY, attrs=("axes",))
_slice = define("slice", "movement", kinds=ANY, attrs=("starts", "steps"))
_slice_assign = define("slice_assign", "movement", kinds=ANY, n_in=2, attrs=("starts", "steps"))
_cat = define("cat", "movement", kinds=ANY, n_in=-1, attrs=("dim",))


def reshape(x, shape):
    """x with another shape of the same size."""
    return _reshape.reshaped(x, shape)


def resolve_reshape(x, shape):
    """The target of a reshape: -1 is inferred once, 0 copies the size of the axis at its index."""
    dims = list(shape)
    source = x._dims
    holes = [i for i, n in enumerate(dims) if n == -1]
    for i, n in enumerate(dims):
        if n < -1:
            raise ShapeError(f"[reshape] 'shape' must not hold negative sizes other than -1, got {dims}")
        if n == 0 and x._size:
            if i >= len(source):
                raise ShapeError(f"[reshape] 'shape' must not use 0 past the axes of shape {list(source)}, got {dims}")
            dims[i] = source[i]
    if len(holes) > 1:
        raise ShapeError(f"[reshape] 'shape' may hold -1 once, got {dims}")
    if not dims:
        raise ShapeError("[reshape] 'shape' must have at least one axis; a scalar has shape [1]")
    if holes:
        rest = math.prod(n for n in dims if n != -1)
        if rest == 0 or x._size % rest:
            raise ShapeError(
                f"[reshape] cannot infer -1: {x._size} elements of shape {list(source)} do not fill {dims}"
            )
        dims[holes[0]] = x._size // rest
    if math.prod(dims) != x._size:
        raise ShapeError(
            f"[reshape] 'shape' must hold {x._size} elements like shape {list(source)}, got {list(shape)} with {math.prod(dims)}"
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


def resolve_expand(x, shape):
    """The target of an expand: -1 keeps the source size."""
    source, target = x._dims, list(shape)
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
    offset = x._offset + sum(a * s for a, s in zip(starts, strides, strict=True))
    return sizes, [k * s for k, s in zip(steps, strides, strict=True)], offset


def slice_view(x, starts, steps, sizes):
    """Elements from starts by steps (which may be negative), sizes many an axis (a view)."""
    shape, strides, offset = _window(x, starts, steps, sizes)
    return _slice.view(x, shape, strides, offset if math.prod(sizes) else x._offset, (starts, steps))


def slice_assign(x, starts, steps, values):
    """x with the window replaced by values, which has the window's shape."""
    out = core.empty(x._dims, x._dtype, x._slot, x._ctx or values._ctx)
    _copy.write((x,), out)
    shape, strides, offset = _window(out, starts, steps, values._dims)
    if values._size:
        _copy.write((values,), _slice.view(out, shape, strides, offset))
    _slice_assign_record(x, values, out, (starts, steps))
    return out


def _slice_assign_record(x, values, out, attrs):
    _slice_assign.record((x, values), out, attrs)


def cat(tensors, dim):
    """Tensors joined along an axis; shapes agree but for that axis."""
    shape = list(tensors[0]._dims)
    shape[dim] = sum(t._dims[dim] for t in tensors)
    out = core.empty(shape, tensors[0]._dtype, tensors[0]._slot, max(t._ctx for t in tensors))
    starts, steps = [0] * len(shape), [1] * len(shape)
    for t in tensors:
        if t._size:
            window, strides, offset = _window(out, starts, steps, t._dims)
            _copy.write((t,), _slice.view(out, window, strides, offset))
        starts[dim] += t._dims[dim]
    _cat.record(tuple(tensors), out, dim)
    return out


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
    if g._size:
        shape, strides, offset = _window(out, starts, steps, g._dims)
        _copy.write((g,), _slice.view(out, shape, strides, offset))
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


_copy.rule = python_rule(lambda node, g: (g,), [""])
_reshape.rule = python_rule(_reshape_bwd, ["shape"])
_expand.rule = python_rule(_expand_bwd, ["shape"])
_permute.rule = python_rule(_permute_bwd, [""])
_slice.rule = python_rule(_slice_bwd, ["shape"])
_slice_assign.rule = python_rule(_slice_assign_bwd, ["shape", "shape"])
_cat.rule = python_rule(_cat_bwd, ["shape"] * 8)


def normalize_axes(axes, rank, op):
    """Distinct non-negative axes."""
    out = [axis_of(a, rank, op, "axes") for a in axes]
    if len(set(out)) != len(out):
        raise ShapeError(f"[{op}] 'axes' must be distinct, got {list(axes)}")
    return out
