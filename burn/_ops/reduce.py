"""Reductions: the kernels see [outer, n, inner] and reduce the middle axis; Python folds any axes into that form."""

import functools
import math

import numpy as np

from burn._core import core
from burn._ops import elementwise as ew
from burn._ops.movement import expand, reshape, slice_view, zeros
from burn._ops.registry import ANY, FLOAT, NUMERIC, check_kind, check_tensor, define
from burn._ops.rule import compile_rule, python_rule
from burn.errors import NumberOverflowError, ShapeError
from burn.tensor.dtype import DType

INDEX = -2  # out_dtype: the device's default Int dtype, which positions have


def _reduction(name, kinds, **fields):
    return define(name, "reduce", kinds=kinds, shape="reduced", **fields)


_sum = _reduction("sum", NUMERIC)
_mean = _reduction("mean", NUMERIC, attrs=("scale",))
_prod = _reduction("prod", NUMERIC, attrs=("dim",))
_max = _reduction("max", NUMERIC)
_min = _reduction("min", NUMERIC)
_argmax = _reduction("argmax", NUMERIC, cuts_graph=True, out_dtype=INDEX)
_argmin = _reduction("argmin", NUMERIC, cuts_graph=True, out_dtype=INDEX)
_max_with_indices = _reduction("max_with_indices", NUMERIC, n_out=2)
_min_with_indices = _reduction("min_with_indices", NUMERIC, n_out=2)
_any = _reduction("any", ANY, cuts_graph=True, out_dtype=DType.Bool.code)
_all = _reduction("all", ANY, cuts_graph=True, out_dtype=DType.Bool.code)
_var = _reduction("var", FLOAT, number=1.0, attrs=("dim", "correction"))
_var_bias = _reduction("var_bias", FLOAT, kernel="var", attrs=("dim", "correction"))


def fold(dims, axis):
    """(outer, n, inner) of a contiguous tensor around an axis; None means all elements."""
    if axis is None:
        return 1, math.prod(dims), 1
    return math.prod(dims[:axis]), dims[axis], math.prod(dims[axis + 1 :])


def reduced(dims, axis):
    """Shape after a reduction: the axis kept with size 1, [1] for all."""
    return (1,) if axis is None else (*dims[:axis], 1, *dims[axis + 1 :])


def _run(op, x, axis, code=None, attrs=None, floats=()):
    out = core.along(op, x, axis)
    if out is None and not x._contiguous:
        out = _of_repeated(op, x, axis, code, attrs)
    if out is not None:
        return out
    dims = x._dims
    return op.apply((x,), reduced(dims, axis), x._dtype if code is None else code, fold(dims, axis), floats, attrs)


def _of_repeated(op, x, axis, code, attrs):
    """The reduction of a view that repeats elements along axes (an expanded tensor) from one of each, or None."""
    dims = x._dims
    still = [d for d, n in enumerate(dims) if n > 1 and x._strides[d] == 0]
    if not still or not x._size or op not in (_sum, _mean, _max, _min, _any, _all):
        return None
    times = math.prod(dims[d] for d in still if axis is None or d == axis)
    if op is _sum and times > 1 and x.dtype not in (DType.F32, DType.F64):
        return None
    part = slice_view(
        core.alias(x, 0), [0] * x.ndim, [1] * x.ndim, tuple(1 if d in still else n for d, n in enumerate(dims))
    )
    part = _run(op, part, axis, code)
    if op is _sum and times > 1:
        part = part * float(times)
    out = core.alias(expand(part, reduced(dims, axis)), x._ctx)
    if core.node_state(x) and not op.cuts_graph:
        op.record((x,), out, attrs)
    return out


def _check(name, x, kinds):
    check_kind(name, check_tensor(name, x), kinds)
    return x


def sum_(x, axis=None):
    """Sum over all elements ([1]) or over an axis kept with size 1."""
    return _run(_sum, _check("sum", x, NUMERIC), axis)


def mean(x, axis=None):
    """Mean; of integers it truncates."""
    _check("mean", x, NUMERIC)
    n = x._size if axis is None else x._dims[axis]
    if x._kind != FLOAT and n == 0:
        raise ShapeError(f"[mean] an Int tensor must not be empty along the reduced axis, got shape {list(x._dims)}")
    return _run(_mean, x, axis, attrs=1.0 / n if n else float("nan"))


def prod(x, axis=None):
    """Product."""
    return _run(_prod, _check("prod", x, NUMERIC), axis, attrs=axis)


def sum_dims(x, axes):
    """Sum over several axes, each kept with size 1; neighbours are folded into one pass."""
    if len(axes) == 1:
        out = core.along(_sum, x, axes[0])
        if out is not None:
            return out
    _check("sum_dims", x, NUMERIC)
    dims = x._dims
    axes = sorted({a for a in axes if dims[a] != 1})
    while axes:
        last = first = axes.pop()
        while axes and axes[-1] == first - 1:
            first = axes.pop()
        joined = (*dims[:first], math.prod(dims[first : last + 1]), *dims[last + 1 :])
        dims = (*dims[:first], *[1] * (last + 1 - first), *dims[last + 1 :])
        x = reshape(_run(_sum, reshape(x, joined), first), dims)
    return x


def sum_to_shape(g, shape):
    """A gradient summed over the axes along which its operand was broadcast."""
    shift = g.ndim - len(shape)
    axes = [i for i, n in enumerate(g._dims) if i < shift or (n != 1 and shape[i - shift] == 1)]
    g = sum_dims(g, axes)
    return g if g._dims == tuple(shape) else reshape(g, shape)


def _refuse_empty(name, x, axis):
    if (x._size if axis is None else x._dims[axis]) == 0:
        where = "be empty" if axis is None else f"be empty along axis {axis}"
        raise ShapeError(f"[{name}] 'self' must not {where}, got shape {list(x._dims)}; there is no {name} of nothing")


@functools.cache
def _largest(dtype):
    return int(np.iinfo(dtype.numpy).max)


def index_dtypes(x, count):
    """(dtype that kernels write positions 0..count in, the device's default Int dtype that results have)."""
    want = x.device.settings().int_dtype
    return (want if want == DType.I32 and count - 1 <= _largest(want) else DType.I64), want


def positions(name, raw, want, count):
    """What a kernel wrote of 0..count as the device's default Int dtype; refused where that cannot hold all of them."""
    if count - 1 > _largest(want):
        raise NumberOverflowError(
            f"[{name}] gives positions up to {count - 1:,}, which the device's default Int dtype {want} does not hold; "
            "before the first tensor call device.configure(DeviceConfig().int_dtype(DType.I64))"
        )
    return ew.cast(raw, want)


def extremum(name, x, axis):
    """max or min over all elements or an axis; the gradient goes to the first extremum."""
    _check(name, x, NUMERIC)
    _refuse_empty(name, x, axis)
    if core.node_state(x):
        return _extremum_and_places(name, x, axis)[0]
    return _run(_max if name == "max" else _min, x, axis)


def extremum_with_indices(name, x, axis):
    """(values, first positions) of max or min."""
    _check(name, x, NUMERIC)
    _refuse_empty(name, x, axis)
    values, indices, want = _extremum_and_places(name, x, axis)
    return values, positions(name, indices, want, _count(x, axis))


def _count(x, axis):
    return x._size if axis is None else x._dims[axis]


def _extremum_and_places(name, x, axis):
    op = _max_with_indices if name == "max" else _min_with_indices
    shape = reduced(x._dims, axis)
    raw, want = index_dtypes(x, _count(x, axis))
    values = core.empty(shape, x._dtype, x._slot, x._ctx)
    indices = core.empty(shape, raw.code, x._slot, x._ctx)
    op.update((x,), (values, indices), fold(x._dims, axis))
    op.record((x,), values, (axis, core.alias(indices, 0)))  # the caller may assign to its own
    return values, indices, want


def arg_extremum(name, x, axis):
    """First position of the largest or smallest element along an axis."""
    _check(name, x, NUMERIC)
    _refuse_empty(name, x, axis)
    n = _count(x, axis)
    raw, want = index_dtypes(x, n)
    return positions(name, _run(_argmax if name == "argmax" else _argmin, x, axis, raw.code), want, n)


def any_(x, axis=None):
    """Whether any element is true (nonzero)."""
    return _run(_any, check_tensor("any", x), axis, DType.Bool.code)


def all_(x, axis=None):
    """Whether all elements are true (nonzero)."""
    return _run(_all, check_tensor("all", x), axis, DType.Bool.code)


def var(x, axis, correction, name="var"):
    """Variance along an axis, divided by n - correction, which is 1 or 0."""
    _check(name, x, FLOAT)
    n = x._dims[axis]
    if n == 0:
        raise ShapeError(f"[{name}] 'self' must not be empty along axis {axis}, got shape {list(x._dims)}")
    op = _var if correction else _var_bias
    return _run(op, x, axis, attrs=(axis, op.number), floats=(op.number,))


def _prod_bwd(node, g):
    x, axis = node.saved(0), node.attrs
    zero = x.equal_scalar(0.0)
    count = sum_(ew.cast(zero, x.dtype), axis)
    rest = ew.mask_fill(x, zero, 1.0)
    if axis is None:
        shape = (1,) * x.ndim
        g, count, total = (reshape(t, shape) for t in (g, count, prod(rest)))
    else:
        total = prod(rest, axis)
    base = expand(ew.mul_bwd(total, g), x._dims)
    plain = ew.mask_fill(ew.div_bwd(rest, base), zero, 0.0)
    # exactly one zero: only its own position has a product of the others; none: every position
    alone = ew.mask_where(ew.mul_scalar.scalar(base, 0.0, 0), zero, base)
    none, one = (expand(count.equal_scalar(float(k)), x._dims) for k in (0, 1))
    nothing = zeros(x._dims, x._dtype, x._slot)
    return (ew.mask_where(ew.mask_where(nothing, one, alone), none, plain),)


def _extremum_bwd(node, g):
    from burn._ops.index import scatter_into

    axis, indices = node.attrs
    shape = node.shape(0)
    if axis is None:
        out = zeros((math.prod(shape),), g._dtype, g._slot)
        return (reshape(scatter_into(out, 0, indices, g), shape),)
    return (scatter_into(zeros(shape, g._dtype, g._slot), axis, indices, g),)


def _var_bwd(node, g):
    x = node.saved(0)
    axis, correction = node.attrs
    n = x._dims[axis]
    if n <= correction:
        return (zeros(x._dims, x._dtype, x._slot),)
    centred = x - expand(mean(x, axis), x._dims)
    return (ew.mul_bwd(centred, expand(g * (2.0 / (n - correction)), x._dims)),)


_sum.rule = compile_rule(("expand(g)",), ("x",), ew.OPS)
_mean.rule = compile_rule(("expand(g * s)",), ("x",), ew.OPS)
_prod.rule = python_rule(_prod_bwd, ["0"])
_max_with_indices.rule = python_rule(_extremum_bwd, ["shape"])
_min_with_indices.rule = python_rule(_extremum_bwd, ["shape"])
_var.rule = _var_bias.rule = python_rule(_var_bwd, ["0"])
