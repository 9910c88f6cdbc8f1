"""Norms of vectors along axes, which are kept with size 1. Squares and powers are taken of scaled values, so that no norm
overflows or vanishes that its dtype can hold. No axes: the elementwise part alone."""

import dataclasses
import math
from typing import TYPE_CHECKING, ClassVar

from burn._arguments import Unit, shown
from burn._core import core
from burn._ops import elementwise as ew
from burn._ops import norm
from burn._ops import reduce as rd
from burn._ops.registry import FLOAT, NUMERIC, check_kind, check_tensor, number
from burn.errors import ArgumentError, ArgumentTypeError, ShapeError
from burn.tensor._calls import teach_functions
from burn.tensor.shape import axis_of, ints_of

if TYPE_CHECKING:
    from burn.tensor import Tensor

__all__ = [
    "Norm", "l0_norm", "l0_norm_dims", "l1_norm", "l1_norm_dims", "l2_norm", "l2_norm_dims", "lp_norm", "lp_norm_dims",
    "max_abs_norm", "max_abs_norm_dims", "min_abs_norm", "min_abs_norm_dims", "vector_norm", "vector_norm_dims",
    "vector_normalize",
]  # fmt: skip


class Norm:
    """Which norm: `Norm.L0`, `L1`, `L2`, `LInf`, `LNegInf` or `Lp(p)`; a number stands for one. Mirrors `Norm`.

    >>> vector_norm(Tensor([3.0, -4.0]), Norm.L1, 0).tolist(), vector_norm(Tensor([3.0, -4.0]), Norm.LInf, 0).tolist()
    ([7.0], [4.0])
    """

    L0: ClassVar["Norm"]
    L1: ClassVar["Norm"]
    L2: ClassVar["Norm"]
    LInf: ClassVar["Norm"]
    LNegInf: ClassVar["Norm"]
    Lp: ClassVar[type]

    @classmethod
    def from_(cls, value):
        """The norm that a number stands for: 0, 1, 2, infinity (or the largest 32-bit integers), else `Lp`.

        Args:
            value: a Norm or a number.

        Returns:
            Norm.

        >>> Norm.from_(2), Norm.from_(3.0)
        (Norm.L2, Norm.Lp(3.0))
        """
        if isinstance(value, Norm):
            return value
        try:
            p = None if isinstance(value, str | bytes) else float(value)
        except (TypeError, ValueError, OverflowError):
            p = None
        if p is None:
            raise ArgumentTypeError(f"[vector_norm] 'norm' must be a Norm or a number, got {shown(value)}")
        if p in (math.inf, 2.0**31 - 1, 2.0**32 - 1):
            return cls.LInf
        if p in (-math.inf, -(2.0**31)):
            return cls.LNegInf
        return {0.0: cls.L0, 1.0: cls.L1, 2.0: cls.L2}.get(p) or cls.Lp(p)


class _Plain(Unit, Norm):
    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return f"Norm.{self._name}"

    def __reduce__(self):
        return (getattr, (Norm, self._name))


@dataclasses.dataclass(frozen=True)
class _Lp(Norm):
    p: float

    def __repr__(self):
        return f"Norm.Lp({self.p})"


for _name in ("L0", "L1", "L2", "LInf", "LNegInf"):
    setattr(Norm, _name, _Plain(_name))
Norm.Lp = _Lp
_Lp.__name__, _Lp.__qualname__ = "Lp", "Norm.Lp"


def _axes(op, x, dims):
    return sorted({axis_of(d, x.ndim, op, "dims") for d in ints_of(op, "dims", dims)})


def _fold(name, x, axes):
    """max or min over several axes."""
    for axis in axes:
        x = rd.extremum(name, x, axis)
    return x


def _scale(x, axes, name):
    """The largest (or smallest) absolute value over the axes, outside the graph; 1 where it is no use as a scale."""
    extreme = _fold(name, ew.abs_(core.cut(x, 0)), axes)
    useful = ew.bool_and(ew.is_finite(extreme), ew.greater(extreme, 0.0))
    return ew.mask_fill(extreme, ew.bool_not(useful), 1.0)


def _l0(op, x, axes):
    check_kind(op, x, NUMERIC)
    return rd.sum_dims(ew.cast(ew.not_equal(x, 0), x.dtype), axes)


def _l1(op, x, axes):
    check_kind(op, x, NUMERIC)
    return rd.sum_dims(ew.abs_(x), axes)


def _l2(op, x, axes):
    check_kind(op, x, FLOAT)
    if not axes:
        return ew.abs_(x)
    if not x._size:
        return ew.sqrt(rd.sum_dims(x, axes))
    return norm.l2_norm(x, axes)


def _lp(op, x, axes, p):
    check_kind(op, x, FLOAT)
    if math.isnan(p) or p == 0.0:
        raise ArgumentError(f"[{op}] 'p' must be a number other than 0, got {p}; l0_norm() counts what is not 0")
    x = ew.abs_(x)
    if not axes:
        return x
    if not x._size:
        return ew.powf_scalar(rd.sum_dims(x, axes), 1.0 / p)
    scale = _scale(x, axes, "max" if p > 0 else "min")
    if p < 0:  # a 0 makes the norm 0, whatever the others are
        zero = ew.equal(x, 0.0)
        x = ew.mask_fill(x, zero, float("inf"))
    powers = ew.powf_scalar(ew.div(x, scale), p)
    if p < 0:
        powers = ew.mask_fill(powers, zero, 0.0)
    norm = ew.mul(ew.powf_scalar(rd.sum_dims(powers, axes), 1.0 / p), scale)
    if p < 0:
        for axis in axes:
            zero = rd.any_(zero, axis)
        norm = ew.mask_fill(norm, zero, 0.0)
    return norm


def _max_abs(op, x, axes):
    check_kind(op, x, NUMERIC)
    return _fold("max", ew.abs_(x), axes)


def _min_abs(op, x, axes):
    check_kind(op, x, NUMERIC)
    return _fold("min", ew.abs_(x), axes)


_PAIR_DOC = """{text} {where}. Mirrors `{name}`.

Args:
    x: {kind} tensor.
    {axes}

Returns:
    Tensor of the same dtype, with size 1 on {there}.

>>> {name}(Tensor([[3.0, -4.0, 0.0]]), {axis}).tolist()
[[{shown}]]
"""


def _pair(name, run, text, shown, kind="Float or Int"):
    """The two forms of a norm: over one axis and over several. `shown` is that of (3, -4, 0)."""

    def one(x, dim):
        check_tensor(name, x, "x")
        return run(name, x, [axis_of(dim, x.ndim, name)])

    def several(x, dims):
        return run(name + "_dims", check_tensor(name + "_dims", x, "x"), _axes(name + "_dims", x, dims))

    one.__name__ = one.__qualname__ = name
    one.__doc__ = _PAIR_DOC.format(
        name=name, text=text, where="along an axis", kind=kind, axes="dim: the axis; negative counts from the end.",
        there="the axis", axis="1", shown=shown,
    )  # fmt: skip
    several.__name__ = several.__qualname__ = name + "_dims"
    several.__doc__ = _PAIR_DOC.format(
        name=name + "_dims", text=text, where="over several axes; without axes elementwise", kind=kind,
        axes="dims: the axes.", there="the axes", axis="[0, 1]", shown=shown,
    )  # fmt: skip
    return one, several


l0_norm, l0_norm_dims = _pair("l0_norm", _l0, "Number of elements that are not 0 (NaN counts)", "2.0")
l1_norm, l1_norm_dims = _pair("l1_norm", _l1, "Sum of absolute values", "7.0")
l2_norm, l2_norm_dims = _pair(
    "l2_norm", _l2, "Root of the sum of squares, with the gradient 0 at 0,", "5.0", kind="Float"
)
max_abs_norm, max_abs_norm_dims = _pair("max_abs_norm", _max_abs, "Largest absolute value", "4.0")
min_abs_norm, min_abs_norm_dims = _pair("min_abs_norm", _min_abs, "Smallest absolute value", "0.0")


def lp_norm(x, p, dim) -> "Tensor":
    """(sum |x|^p)^(1/p) of a Float tensor along an axis, kept with size 1. Mirrors `lp_norm`.

    Args:
        x: Float tensor.
        p: any number but 0; a negative one gives 0 where any element is 0.
        dim: the axis; negative counts from the end.

    Returns:
        Tensor with size 1 on the axis.

    >>> lp_norm(Tensor([3.0, 4.0, 5.0]), 3.0, 0).round().tolist()
    [6.0]
    """
    check_tensor("lp_norm", x, "x")
    return _lp("lp_norm", x, [axis_of(dim, x.ndim, "lp_norm")], _number("lp_norm", x, p))


def lp_norm_dims(x, p, dims) -> "Tensor":
    """(sum |x|^p)^(1/p) over several axes, kept with size 1; without axes elementwise. Mirrors `lp_norm_dims`.

    Args:
        x: Float tensor.
        p: any number but 0.
        dims: the axes.

    Returns:
        Tensor with size 1 on the axes.

    >>> lp_norm_dims(Tensor([[3.0, 4.0]]), 2.0, [0, 1]).round().tolist()
    [[5.0]]
    """
    check_tensor("lp_norm_dims", x, "x")
    return _lp("lp_norm_dims", x, _axes("lp_norm_dims", x, dims), _number("lp_norm_dims", x, p))


def _number(op, x, value, name="p"):
    check_kind(op, x, FLOAT)
    return number(op, x, value, name)[0]


def _norm(op, x, norm, axes):
    norm = Norm.from_(norm)
    if isinstance(norm, _Lp):
        return _lp(op, x, axes, norm.p)
    run = {Norm.L0: _l0, Norm.L1: _l1, Norm.L2: _l2, Norm.LInf: _max_abs, Norm.LNegInf: _min_abs}[norm]
    return run(op, x, axes)


def vector_norm(x, norm, dim) -> "Tensor":
    """A norm along an axis, kept with size 1. Mirrors `vector_norm`.

    Args:
        x: tensor; Float for L2 and Lp.
        norm: a `Norm`, or the number that stands for it.
        dim: the axis; negative counts from the end.

    Returns:
        Tensor with size 1 on the axis.

    >>> vector_norm(Tensor([[3.0, 4.0]]), Norm.L2, 1).tolist()
    [[5.0]]
    """
    check_tensor("vector_norm", x, "x")
    return _norm("vector_norm", x, norm, [axis_of(dim, x.ndim, "vector_norm")])


def vector_norm_dims(x, norm, dims) -> "Tensor":
    """A norm over several axes, kept with size 1; without axes elementwise. Mirrors `vector_norm_dims`.

    Args:
        x: tensor; Float for L2 and Lp.
        norm: a `Norm`, or the number that stands for it.
        dims: the axes.

    Returns:
        Tensor with size 1 on the axes.

    >>> vector_norm_dims(Tensor([[1.0, 2.0], [2.0, 4.0]]), 2, [0, 1]).tolist()
    [[5.0]]
    """
    check_tensor("vector_norm_dims", x, "x")
    return _norm("vector_norm_dims", x, norm, _axes("vector_norm_dims", x, dims))


def vector_normalize(x, norm, dim, eps) -> "Tensor":
    """x divided by its norm along an axis, or by eps where that is larger. Mirrors `vector_normalize`.

    Args:
        x: Float tensor.
        norm: a `Norm`, or the number that stands for it.
        dim: the axis; negative counts from the end.
        eps: least divisor, not negative.

    Returns:
        Tensor of the shape of x.

    >>> vector_normalize(Tensor([[3.0, 4.0]]), Norm.L2, 1, 1e-12).tolist()
    [[0.6000..., 0.8000...]]
    """
    op = "vector_normalize"
    check_kind(op, check_tensor(op, x, "x"), FLOAT, "x")
    axis, eps = axis_of(dim, x.ndim, op), _number(op, x, eps, "eps")
    if not eps >= 0.0:
        raise ArgumentError(f"[{op}] 'eps' must not be negative, got {eps}")
    if not x._dims[axis]:
        raise ShapeError(f"[{op}] 'x' must not be empty along axis {axis}, got shape {list(x._dims)}")
    return ew.div(x, ew.clamp(_norm(op, x, norm, [axis]), eps, name=op))


teach_functions(globals())
