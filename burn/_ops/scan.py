"""Running sums, products and extremes: the kernels see [outer, n, inner] and go along the middle axis, or from its end."""

from burn._ops import elementwise as ew
from burn._ops.movement import arange, expand, reshape, zeros
from burn._ops.reduce import fold, index_dtypes
from burn._ops.registry import NUMERIC, check_kind, check_tensor, define
from burn._ops.rule import python_rule

_cumsum = define("cumsum", "scan", kinds=NUMERIC, attrs=("dim", "reverse"))
_cumprod = define("cumprod", "scan", kinds=NUMERIC, attrs=("dim", "reverse"))
_cummax = define("cummax", "scan", kinds=NUMERIC, attrs=("dim", "reverse"))
_cummin = define("cummin", "scan", kinds=NUMERIC, attrs=("dim", "reverse"))


def _run(op, x, axis, reverse=False):
    check_kind(op.name, check_tensor(op.name, x), NUMERIC)
    return op.apply((x,), x._dims, x._dtype, (*fold(x._dims, axis), int(reverse)), (), (axis, reverse))


def cumsum(x, axis, reverse=False):
    """Sum of the elements up to each one; from it on where reverse."""
    return _run(_cumsum, x, axis, reverse)


def cumprod(x, axis):
    """Product of the elements up to each one."""
    return _run(_cumprod, x, axis)


def cummax(x, axis):
    """Largest element up to each one; a NaN stays."""
    return _run(_cummax, x, axis)


def cummin(x, axis):
    """Smallest element up to each one; a NaN stays."""
    return _run(_cummin, x, axis)


def _cumsum_bwd(node, g):
    axis, reverse = node.attrs
    return (cumsum(g, axis, not reverse),)


def _cumprod_bwd(node, g):
    """Before the first zero the products contain x; at it they are those without it; after it they are 0 anyway."""
    x, out = node.saved(0), node.output
    axis = node.attrs[0]
    zero = x.equal_scalar(0.0)
    zeros_so_far = cumsum(ew.cast(zero, index_dtypes(x, x._dims[axis])[0]), axis)
    first = ew.bool_and(zero, zeros_so_far.equal_scalar(1))
    without = cumprod(ew.mask_fill(x, first, 1.0), axis)
    before = ew.div_bwd(ew.mask_fill(x, zero, 1.0), cumsum(ew.mul_bwd(out, g), axis, True))
    before = ew.mask_fill(before, zeros_so_far.greater_scalar(0), 0.0)
    return (ew.mask_where(before, first, cumsum(ew.mul_bwd(without, g), axis, True)),)


def _extremum_bwd(node, g):
    """To the position that an element was taken from: the latest of equal ones, its own for a NaN."""
    from burn._ops.index import scatter_into

    x, out = node.saved(0), node.output
    axis = node.attrs[0]
    if not x._size:
        return (g,)
    taken = ew.bool_or(ew.equal(x, out), ew.is_nan(x))
    n = x._dims[axis]
    raw, _ = index_dtypes(x, n)
    own = reshape(arange(0, n, 1, raw.code, x._slot, 0), [n if a == axis else 1 for a in range(x.ndim)])
    own = expand(own, x._dims)
    positions = cummax(ew.mask_fill(own, taken.bool_not(), 0), axis)
    return (scatter_into(zeros(x._dims, g._dtype, g._slot), axis, positions, g),)


_cumsum.rule = python_rule(_cumsum_bwd, [""])
_cumprod.rule = python_rule(_cumprod_bwd, ["0 out"])
_cummax.rule = python_rule(_extremum_bwd, ["0 out"])
_cummin.rule = python_rule(_extremum_bwd, ["0 out"])
