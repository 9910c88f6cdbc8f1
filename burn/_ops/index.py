"""Indexing by Int tensors. Kernels see x as [outer, n, inner] around the indexed axis; indices are checked there, and a
scatter checks all of them before it writes."""

import functools
import math

from burn._core import core
from burn._ops.elementwise import cast, div_bwd, mask_fill, mask_where, mul_bwd
from burn._ops.movement import _copy, arange, contiguous, copied, permute, reshape, slice_view, zeros
from burn._ops.reduce import fold, index_dtypes, positions
from burn._ops.registry import ANY, BOOL, INT, NUMERIC, check_kind, check_same, check_tensor, define
from burn._ops.rule import python_rule
from burn._ops.scan import cumsum
from burn.errors import ArgumentError, DeviceError, DTypeError, OutOfBoundsError, ShapeError
from burn.tensor.dtype import DType

_gather = define("gather", "index", kinds=ANY, n_in=2, attrs=("dim",), shape="indices")
_select = define("select", "index", kinds=ANY, n_in=2, attrs=("dim",), shape="picked")
_scatter = define("scatter", "index", kinds=ANY, n_in=2, cuts_graph=True)
_select_assign = define("select_assign", "index", kinds=ANY, n_in=2, cuts_graph=True, shape="picked")
# ints: outer, classes, inner, the number that is on, the one that is off; floats: these two
_one_hot = define("one_hot", "index", kinds=NUMERIC, cuts_graph=True)
_mask_counts = define("mask_counts", "index", kinds=BOOL, cuts_graph=True)
_mask_places = define("mask_places", "index", kinds=BOOL, n_in=2, cuts_graph=True)
# The steps that the tape sees: the kernels above write into a copy of the target.
_scatter_step = define("scatter_step", "index", kinds=ANY, n_in=3, attrs=("kind", "dim", "update"))
_INDEX = (DType.I64.code, DType.I32.code)
MODES = {"Assign": 0, "Add": 1, "Mul": 2, "Min": 3, "Max": 4}


def mode_of(update):
    """The number of an update, given by its name or as an IndexingUpdateOp; -1 for anything else."""
    word = update if type(update) is str else getattr(update, "name", None)
    return MODES.get(word, -1) if type(word) is str else -1


def check_indices(op, x, indices, name="indices"):
    """An Int tensor on x's device, in i32 or i64."""
    if isinstance(indices, core.TensorBase) and indices._dtype in _INDEX and indices._slot == x._slot:
        return indices
    check_kind(op, check_tensor(op, indices, name), INT, name)
    if indices._slot != x._slot:
        raise DeviceError(f"[{op}] '{name}' must be on {x.device}, got {indices.device}; move it with to_device()")
    if indices._dtype == DType.U64.code:
        raise DTypeError(f"[{op}] '{name}' must have a dtype of at most 64 signed bits, got u64; use cast()")
    return cast(indices, DType.I64)


def gather(x, axis, indices):
    """out[.., j, ..] = x[.., indices[.., j, ..], ..] along an axis; result in the shape of indices."""
    indices = check_indices("gather", check_tensor("gather", x), indices)
    a, b = x._dims, indices._dims
    if len(a) != len(b) or any(m != n for i, (m, n) in enumerate(zip(a, b, strict=True)) if i != axis):
        raise ShapeError(
            f"[gather] 'indices' must agree with 'self' on all axes but {axis}, got shapes {list(b)} and {list(a)}"
        )
    outer, n, inner = fold(a, axis)
    return _gather.apply((x, indices), b, x._dtype, (outer, n, inner, b[axis]), (), axis)


def select(x, axis, indices):
    """Slices of x at the given positions of an axis; indices has one axis."""
    indices = check_indices("select", check_tensor("select", x), indices)
    if indices.ndim != 1:
        raise ShapeError(
            f"[select] 'indices' must have one axis, got shape {list(indices._dims)}; use take() for others"
        )
    order = None if x._contiguous else sorted(range(x.ndim), key=x._strides.__getitem__, reverse=True)
    if order and order != [*range(x.ndim)] and (rows := permute(x, order))._contiguous:
        # permuted memory, such as a transposed table: what is picked is read in place instead of copying all of it first
        picked = select(rows, order.index(axis), indices)
        return permute(picked, [order.index(a) for a in range(x.ndim)])
    outer, n, inner = fold(x._dims, axis)
    k = indices._dims[0]
    shape = (*x._dims[:axis], k, *x._dims[axis + 1 :])
    return _select.apply((x, indices), shape, x._dtype, (outer, n, inner, k), (), axis)


def scatter_into(target, axis, indices, values, mode=1):
    """Writes values at indices into target's own memory (a fresh contiguous tensor); nothing is recorded."""
    outer, n, inner = fold(target._dims, axis)
    _scatter.write((values, indices), target, (outer, n, inner, values._dims[axis], mode), (), axis)
    return target


def select_into(target, axis, indices, values, mode=1):
    """Writes slices at the positions of an axis into target's own memory; nothing is recorded."""
    outer, n, inner = fold(target._dims, axis)
    _select_assign.write((values, indices), target, (outer, n, inner, indices._size, mode), (), axis)
    return target


def _fresh_copy(x, other):
    out = core.empty(x._dims, x._dtype, x._slot, x._ctx or other._ctx)
    return _copy.write((x,), out)


def scatter(x, axis, indices, values, update):
    """x with values written, added, ... at indices along an axis."""
    indices = check_indices("scatter", check_tensor("scatter", x), indices)
    check_same("scatter", x, check_tensor("scatter", values, "values"), "values")
    a, b = x._dims, indices._dims
    if len(a) != len(b) or any(m != n for i, (m, n) in enumerate(zip(a, b, strict=True)) if i != axis):
        raise ShapeError(
            f"[scatter] 'indices' must agree with 'self' on all axes but {axis}, got shapes {list(b)} and {list(a)}"
        )
    if values._dims != b:
        raise ShapeError(f"[scatter] 'values' must have the shape of 'indices' {list(b)}, got {list(values._dims)}")
    return _scattered("scatter", scatter_into, x, axis, indices, values, update)


def select_assign(x, axis, indices, values, update):
    """x with slices written, added, ... at positions of an axis."""
    indices = check_indices("select_assign", check_tensor("select_assign", x), indices)
    check_same("select_assign", x, check_tensor("select_assign", values, "values"), "values")
    shape = (*x._dims[:axis], indices._size, *x._dims[axis + 1 :])
    if indices.ndim != 1 or values._dims != shape:
        raise ShapeError(
            f"[select_assign] 'values' must have shape {list(shape)} for {indices._size} indices on axis {axis} of shape "
            f"{list(x._dims)}, got {list(values._dims)}"
        )
    return _scattered("select_assign", select_into, x, axis, indices, values, update)


def _cells(op, x, indices):
    """(indices, depth): Int tuples in the last axis of indices, each naming a cell of the first depth axes of x."""
    indices = check_indices(op, check_tensor(op, x), indices)
    depth = indices._dims[-1]
    if not 1 <= depth <= x.ndim:
        raise ShapeError(
            f"[{op}] 'indices' must hold 1 to {x.ndim} ints in its last axis for shape {list(x._dims)}, got {depth} in shape "
            f"{list(indices._dims)}"
        )
    return indices, depth


_MASK_BLOCK = 8192  # as in the kernels


def places(mask, by_axis=False, dtype=None):
    """Coordinates of the true elements in row-major order, outside the graph: [n, rank], or [rank, n] where by_axis."""
    dims, rank = mask._dims, mask.ndim
    longest = max(dims, default=1)
    raw, wanted = index_dtypes(mask, longest) if dtype is None else (dtype, dtype)
    if not mask._size:
        return zeros((rank, 0) if by_axis else (0, rank), wanted.code, mask._slot)
    mask = contiguous(cast(core.alias(mask, 0), DType.Bool))
    blocks = -(-mask._size // _MASK_BLOCK)
    ends = cumsum(_mask_counts.apply((mask,), (blocks,), DType.I64.code), 0)
    n = slice_view(ends, [blocks - 1], [1], [1]).item()
    ints = (1, n, rank, *dims) if by_axis else (rank, 1, rank, *dims)
    shape = (rank, n) if by_axis else (n, rank)
    if not n:
        return zeros(shape, wanted.code, mask._slot)
    return positions("argwhere", _mask_places.apply((mask, ends), shape, raw.code, ints), wanted, longest)


def true_positions(mask):
    """Flat positions of the true elements."""
    found = places(reshape(mask, (mask._size,)), False, DType.I32 if mask._size < 1 << 31 else DType.I64)
    return reshape(found, (found._size,))


def hot(op, x, classes, axis, off, on):
    """One number everywhere but, along a new axis, at the class that each value names: another one there.

    off and on are given as (float, int).
    """
    if not 2 <= classes < 1 << 31:
        raise OutOfBoundsError(f"[{op}] 'num_classes' must be at least 2, and below 2**31, got {classes}")
    outer, inner = math.prod(x._dims[:axis]), math.prod(x._dims[axis:])
    whole = (n - (1 << 64) if n >= 1 << 63 else n for n in (on[1], off[1]))
    before = core.set_blame(_no_class(op, x._dtype))
    try:
        shape = (*x._dims[:axis], classes, *x._dims[axis:])
        return _one_hot.apply((x,), shape, x._dtype, (outer, classes, inner, *whole), (on[0], off[0]))
    finally:
        core.set_blame(before)


@functools.lru_cache(64)
def _no_class(op, dtype):
    """What makes the error of a value that names no class."""

    def words(_code, position, value, classes):
        if dtype == DType.U64.code:
            value %= 1 << 64
        elif dtype <= DType.BF16.code and value == -(1 << 63):
            value = "NaN or a number beyond 2**63"
        return OutOfBoundsError(
            f"[{op}] values must name one of 'num_classes' = {classes} classes, 0 to {classes - 1} or, from the last one on, "
            f"-1 to {-classes}, got {value} at flat position {position}"
        )

    return words


def _numbers(op, indices, sizes):
    """The row-major number of the cell that each tuple of indices names among axes of the given sizes.

    Each place of the tuples is looked up in the offsets of its axis, so the kernel finds what lies outside.
    """
    depth, total = len(sizes), None
    rows = reshape(indices, (math.prod(indices._dims[:-1]), depth))
    count = rows._dims[0]
    for axis, n in enumerate(sizes):
        offsets = arange(0, n, math.prod(sizes[axis + 1 :]), DType.I64.code, rows._slot, 0)
        place = reshape(slice_view(rows, [0, axis], [1, 1], [count, 1]), (count,))
        part = _select.apply((offsets, place), (count,), DType.I64.code, (1, n, 1, count), (), (op, axis, depth, axis))
        total = part if total is None else total + part
    return total


def gather_nd(x, indices):
    """The cells, or slices, of x that the tuples in the last axis of indices name."""
    indices, depth = _cells("gather_nd", x, indices)
    head, tail = x._dims[:depth], x._dims[depth:]
    rows = select(reshape(x, (math.prod(head), math.prod(tail))), 0, _numbers("gather_nd", indices, head))
    return reshape(rows, (*indices._dims[:-1], *tail) or (1,))


def scatter_nd(x, indices, values, update):
    """x with values written, added, ... to the cells, or slices, that the tuples in the last axis of indices name."""
    indices, depth = _cells("scatter_nd", x, indices)
    check_same("scatter_nd", x, check_tensor("scatter_nd", values, "values"), "values")
    head, tail = x._dims[:depth], x._dims[depth:]
    shape = (*indices._dims[:-1], *tail) or (1,)
    if values._dims != shape:
        raise ShapeError(
            f"[scatter_nd] 'values' must have shape {list(shape)} for indices of shape {list(indices._dims)} into shape "
            f"{list(x._dims)}, got {list(values._dims)}"
        )
    numbers, inner = _numbers("scatter_nd", indices, head), math.prod(tail)
    rows, values = reshape(x, (math.prod(head), inner)), reshape(values, (numbers._size, inner))
    return reshape(_scattered("scatter_nd", select_into, rows, 0, numbers, values, update), x._dims)


def _scattered(name, write, x, axis, indices, values, update):
    mode = mode_of(update)
    if mode < 0:
        raise ArgumentError(f"[{name}] 'update' must be one of {', '.join(MODES)}, got {update!r}")
    out = write(_fresh_copy(x, values), axis, contiguous(indices), values, mode)
    _scatter_step.record((x, values, indices), out, (name, axis, mode))
    return out


def _gather_bwd(node, g):
    out = zeros(node.shape(0), g._dtype, g._slot)
    return scatter_into(out, node.attrs, node.saved(1), g), None


def _select_bwd(node, g):
    out = zeros(node.shape(0), g._dtype, g._slot)
    return select_into(out, node.attrs, node.saved(1), g), None


def _scatter_bwd(node, g):
    name, axis, mode = node.attrs
    read, write = (gather, scatter_into) if name == "scatter" else (select, select_into)
    x, values, indices = node.saved(0), node.saved(1), node.saved(2)
    to_x = to_values = None
    if mode == 1:
        return g, read(g, axis, indices), None
    if mode == 0:
        to_x = write(_fresh_copy(g, g), axis, indices, zeros(values._dims, g._dtype, g._slot), 0)
        winners = write(zeros(x._dims, DType.I64.code, g._slot), axis, indices, _positions(values, g._slot), 0)
        mine = read(winners, axis, indices).equal(_positions(values, g._slot))
        to_values = mask_fill(read(g, axis, indices), mine.bool_not(), 0.0)
        return to_x, to_values, None
    if mode == 2:
        return *_product_bwd(g, axis, indices, x, values, read, write), None
    out = write(_fresh_copy(x, x), axis, indices, values, mode)
    to_x = mask_fill(g, out.not_equal(x), 0.0)
    to_values = mask_fill(read(g, axis, indices), read(out, axis, indices).not_equal(values), 0.0)
    return to_x, to_values, None


def _product_bwd(g, axis, indices, x, values, read, write):
    """g times the product of the other factors at the cell: a single zero keeps it for itself, two leave nothing."""
    x_zero, v_zero = x.equal(0), values.equal(0)
    x_safe, v_safe = mask_fill(x, x_zero, 1.0), mask_fill(values, v_zero, 1.0)
    count = write(copied(cast(x_zero, x.dtype)), axis, indices, cast(v_zero, x.dtype), 1)
    total = mul_bwd(write(copied(x_safe), axis, indices, v_safe, 2), g)
    lone, clean = mask_fill(total, count.not_equal(1), 0.0), mask_fill(total, count.not_equal(0), 0.0)
    to_values = mask_where(div_bwd(v_safe, read(clean, axis, indices)), v_zero, read(lone, axis, indices))
    return mask_where(div_bwd(x_safe, clean), x_zero, lone), to_values


def _positions(values, slot):
    return reshape(arange(1, math.prod(values._dims), 1, DType.I64.code, slot, 0), values._dims)


_gather.rule = python_rule(_gather_bwd, ["1 shape", ""])
_select.rule = python_rule(_select_bwd, ["1 shape", ""])
_scatter_step.rule = python_rule(_scatter_bwd, ["0 1 2", "0 1 2", ""])
