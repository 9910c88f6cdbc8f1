"""Python indexing of tensors: what `x[key]` reads and `x[key] = value` writes."""

import dataclasses

import numpy as np

from burn._core import core
from burn._ops import index as ix
from burn._ops import movement as mv
from burn._ops.elementwise import mask_fill, mask_where
from burn._ops.registry import BOOL, INT, check_device, check_same, number
from burn.errors import ArgumentError, ArgumentTypeError, DTypeError, OutOfBoundsError, ShapeError
from burn.tensor._values import checked_convert
from burn.tensor.data import array_of
from burn.tensor.dtype import DType
from burn.tensor.shape import int_of


@dataclasses.dataclass
class Selection:
    """An index expression, axis by axis."""

    starts: list
    steps: list
    sizes: list
    dropped: set  # axes given by one int
    new: list  # places of None
    picks: list  # [(axis, Int tensor)], at most one


def get_item(x, key):
    """x[key]."""
    if isinstance(key, core.TensorBase) and key._kind == BOOL and key._dims == x._dims:
        check_device("index", x, key)
        return x.mask_select(key)
    part = parse(x, key)
    out = x
    if (part.starts, part.steps, part.sizes) != ([0] * x.ndim, [1] * x.ndim, list(x._dims)):
        out = mv.slice_view(x, part.starts, part.steps, part.sizes)
    for axis, indices in part.picks:
        out = ix.select(out, axis, indices)
    if part.dropped or part.new:
        dims = [n for a, n in enumerate(out._dims) if a not in part.dropped]
        for at in part.new:
            dims.insert(at, 1)
        out = mv.reshape(out, tuple(dims) or (1,))
    return out


def set_item(x, key, value):
    """x[key] = value: x becomes a tensor with the part replaced."""
    is_tensor = isinstance(value, core.TensorBase)
    if isinstance(key, core.TensorBase) and key._kind == BOOL:
        new = mask_where(x, key, value, "setitem") if is_tensor else mask_fill(x, key, value, "setitem")
        if new._dims != x._dims:
            raise ShapeError(
                f"[setitem] the mask and 'value' must broadcast to shape {x.dims()}, got a result of shape {new.dims()}"
            )
        core.assign(x, new)
        return
    part = parse(x, key)
    if part.picks or part.new:
        raise ArgumentTypeError(
            "[setitem] the part must be given by ints and slices; use select_assign() or scatter() for index tensors"
        )
    if not is_tensor:
        if hasattr(value, "__array__") or isinstance(value, list | tuple):
            value = checked_convert(array_of(value, True, "setitem", "value"), x.dtype, "setitem", "value", True)
            value = type(x).from_data(value, x.device.inner(), x.dtype)
        else:
            value = mv.full_like_shape((1,), x._dtype, x._slot, 0, number("setitem", x, value, "value"))
    check_same("setitem", x, value, "value")
    shown = tuple(n for a, n in enumerate(part.sizes) if a not in part.dropped) or (1,)
    # as in NumPy: leading axes of size 1 may be left over, the rest broadcasts
    dims = value._dims
    while len(dims) > len(shown) and dims[0] == 1:
        dims = dims[1:]
    if len(dims) > len(shown):
        raise ShapeError(f"[setitem] 'value' must broadcast to shape {list(shown)}, got {value.dims()}")
    value = mv.reshape(value, dims)
    missing = len(shown) - len(dims)
    for axis, (m, n) in enumerate(zip(dims, shown[missing:], strict=True)):
        if m not in (1, n):
            raise ShapeError(
                f"[setitem] 'value' must broadcast to shape {list(shown)}, got {value.dims()}: axis {axis} has {m}"
            )
    value = mv.reshape(mv.expand(value, shown), part.sizes)
    core.assign(x, mv.slice_assign(x, part.starts, part.steps, value))


def parse(x, key):
    """The Selection that an index expression means for x."""
    items = list(key) if isinstance(key, tuple) else [key]
    given = sum(1 for k in items if k is not None and k is not Ellipsis)
    if given > x.ndim:
        raise OutOfBoundsError(f"[index] at most {x.ndim} indices fit shape {x.dims()}, got {given}")
    dots = sum(1 for k in items if k is Ellipsis)
    if dots > 1:
        raise OutOfBoundsError("[index] '...' may appear once")
    if not dots:
        items.append(Ellipsis)
    part = Selection([0] * x.ndim, [1] * x.ndim, list(x._dims), set(), [], [])
    axis = shown = 0  # next axis of x, next axis of the result
    for k in items:
        if k is Ellipsis:
            axis += x.ndim - given
            shown += x.ndim - given
        elif k is None:
            part.new.append(shown)
            shown += 1
        elif isinstance(k, slice):
            if k.step is not None and int_of("index", "step", k.step, True) == 0:
                raise ArgumentError("[index] 'step' of a slice must not be 0")
            a, b, step = slice(
                *[v if v is None else int_of("index", "slice", v, True) for v in (k.start, k.stop, k.step)]
            ).indices(x._dims[axis])
            length = len(range(a, b, step))
            # one element needs no step, and a huge one does not fit 64 bits
            part.starts[axis], part.steps[axis], part.sizes[axis] = (
                (a if length else 0),
                (step if length > 1 else 1),
                length,
            )
            axis, shown = axis + 1, shown + 1
        elif isinstance(k, core.TensorBase | list) or (isinstance(k, np.ndarray) and k.ndim):
            part.picks.append((axis, _positions(x, axis, k)))
            axis, shown = axis + 1, shown + 1
        elif hasattr(k, "__index__") and not isinstance(k, bool | np.bool_):
            i, n = k.__index__(), x._dims[axis]
            if not -n <= i < n:
                raise OutOfBoundsError(
                    f"[index] index {i} is out of bounds for axis {axis} of size {n} in shape {x.dims()}"
                )
            part.starts[axis], part.sizes[axis] = i % n, 1
            part.dropped.add(axis)
            axis += 1
        else:
            raise ArgumentTypeError(
                f"[index] an index must be an int, a slice, None, ..., a list or a tensor, got {type(k).__name__}"
            )
    if len(part.picks) > 1:
        raise OutOfBoundsError(
            "[index] at most one axis may be indexed by a list or tensor; use select() and gather() for more"
        )
    if len(part.dropped) == x.ndim:
        part.dropped.discard(x.ndim - 1)
    return part


def _positions(x, axis, k):
    """The positions that a list, an array or a tensor names along an axis, as an Int tensor of one axis."""
    size = x._dims[axis]
    if isinstance(k, core.TensorBase):
        if k._kind == INT and k.ndim == 1:
            return k
        if k.ndim != 1 or k._kind != BOOL:
            raise DTypeError(
                f"[index] an index tensor must be Int or Bool with one axis, or a mask of shape {x.dims()}, got "
                f"{DType.of_code(k._dtype)} of shape {list(k._dims)}"
            )
        check_device("index", x, k)
        k = core.to_numpy(k)
    k = np.array([], np.int64) if isinstance(k, list) and not k else np.asarray(k)
    if k.ndim != 1 or k.dtype.kind not in "iub":
        raise DTypeError(f"[index] an index list must hold ints or booleans, got {k.dtype} of shape {list(k.shape)}")
    if k.dtype.kind == "b":
        if len(k) != size:
            raise OutOfBoundsError(f"[index] a mask must have the length {size} of axis {axis}, got {len(k)}")
        k = np.flatnonzero(k)
    if k.size and (k.min() < -size or k.max() >= size):
        raise OutOfBoundsError(
            f"[index] positions must lie in {-size}..{size - 1} for axis {axis} of size {size}, got {k.min()}..{k.max()}"
        )
    return type(x).from_data(np.where(k < 0, k + size, k), x.device.inner(), DType.I64)
