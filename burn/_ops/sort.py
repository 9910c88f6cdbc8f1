"""Order along an axis. Kernels sort the rows of [rows, n], stably, and write positions first..first+k of each sorted row
(all of it, its k largest, its median); other axes are moved to the end first.

NaN stands above all numbers, whatever its sign; -0 equals 0.
"""

import math

from burn._core import core
from burn._ops.movement import contiguous, swap, zeros
from burn._ops.reduce import INDEX, _refuse_empty, index_dtypes, positions
from burn._ops.registry import FLOAT, NUMERIC, check_kind, check_tensor, define
from burn._ops.rule import python_rule
from burn.errors import ShapeError

_sort = define("sort", "sort", kinds=NUMERIC, n_out=2, shape="rows")
_sort_values = define("sort_values", "sort", kinds=NUMERIC, shape="rows")
_argsort = define("argsort", "sort", kinds=NUMERIC, cuts_graph=True, shape="rows", out_dtype=INDEX)

VALUES, INDICES, BOTH = 1, 2, 3


def _part(name, x, axis, descending, first, k, want):
    """Positions first..first+k of the sorted axis: values, indices or (values, indices)."""
    last = x.ndim - 1
    if axis != last and math.prod(x._dims[axis + 1 :]) != 1:
        part = _part(name, contiguous(swap(x, axis, last)), last, descending, first, k, want)
        back = [contiguous(swap(t, axis, last)) for t in (part if want == BOTH else (part,))]
        return tuple(back) if want == BOTH else back[0]
    dims = x._dims
    shape = (*dims[:axis], k, *dims[axis + 1 :])
    ints = (math.prod(dims[:axis]), dims[axis], int(descending), first, k)
    if want == VALUES and not core.node_state(x):
        return _sort_values.apply((x,), shape, x._dtype, ints)
    raw, wanted = index_dtypes(x, dims[axis])
    if want == INDICES:
        return positions(name, _argsort.apply((x,), shape, raw.code, ints), wanted, dims[axis])
    values = core.empty(shape, x._dtype, x._slot, x._ctx)
    indices = core.empty(shape, raw.code, x._slot, x._ctx)
    _sort.update((x,), (values, indices), ints)
    _sort.record((x,), values, (axis, core.alias(indices, 0)))  # the caller may assign to its own
    return values if want == VALUES else (values, positions(name, indices, wanted, dims[axis]))


def sort(name, x, axis, descending, want):
    """A whole axis in order."""
    check_kind(name, check_tensor(name, x), NUMERIC)
    return _part(name, x, axis, descending, 0, x._dims[axis], want)


def topk(name, x, k, axis, want):
    """The k largest along an axis, the largest first."""
    check_kind(name, check_tensor(name, x), NUMERIC)
    n = x._dims[axis]
    if not 0 <= k <= n:
        raise ShapeError(f"[{name}] 'k' must lie in 0..{n} for axis {axis} of shape {list(x._dims)}, got {k}")
    return _part(name, x, axis, True, 0, k, want)


def median(name, x, axis, want):
    """The lower of the middle values along an axis, kept with size 1."""
    check_kind(name, check_tensor(name, x), FLOAT)
    _refuse_empty(name, x, axis)
    return _part(name, x, axis, False, (x._dims[axis] - 1) // 2, 1, want)


def _sort_bwd(node, g):
    from burn._ops.index import scatter_into

    axis, indices = node.attrs
    return (scatter_into(zeros(node.shape(0), g._dtype, g._slot), axis, indices, g),)


_sort.rule = python_rule(_sort_bwd, ["shape"])
