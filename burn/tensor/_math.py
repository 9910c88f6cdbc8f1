"""Arithmetic, comparison and reduction methods of Tensor; each hands over to its op record."""

import math

from burn._core import core
from burn._ops import elementwise as ew
from burn._ops import reduce as rd
from burn._ops.registry import FLOAT, INT, OPS, check_kind, check_same, check_tensor, number
from burn.errors import ArgumentError, DTypeError, ShapeError
from burn.tensor.shape import axis_of, ints_of

DEFAULT_RTOL, DEFAULT_ATOL = 1e-5, 1e-8  # how close two values are without other numbers


along = core.along  # the compiled path of ops along an axis; None where it does not fit


def _unary(op, text):
    run = op.one

    def method(self):
        return run(self)

    method.__name__, method.op = op.name, op
    method.__doc__ = f"{text} Result in the same shape. Mirrors `Tensor::{op.name}`."
    return method


def _binary(op, text):
    run = op.two

    def method(self, other):
        return run(self, other)

    method.__name__, method.op = op.name, op
    method.__doc__ = (
        f"{text} `other` is a tensor of the same rank and dtype (sizes of 1 broadcast) or a number. "
        f"Mirrors `Tensor::{op.name}`."
    )
    return method


def _scalar(op):
    def method(self, value):
        out = core.with_number(op, self, value)
        return op.bridge(op, self, value) if out is None else out

    base = op.name.removesuffix("_scalar")
    method.__name__ = op.name
    method.__doc__ = f"`{base}` with a number. Mirrors `Tensor::{op.name}`."
    return method


def _powi_scalar(x, value, argument):
    real, whole = number("powi", x, value, argument)
    if not real.is_integer():
        raise DTypeError(f"[powi] {argument!r} must be a whole number, got {value}; use powf()")
    if x._kind == FLOAT:
        return ew.powf_scalar(x, real)
    if whole < 0:
        raise ArgumentError(
            f"[powi] {argument!r} must not be negative for Int tensors, got {whole}; call float() first"
        )
    return ew.powi(x, whole)


class MathMethods:
    """Methods of Tensor that compute."""

    __slots__ = ()

    add = _binary(ew.add, "Sum of each pair.")
    sub = _binary(ew.sub, "Difference of each pair.")
    mul = _binary(ew.mul, "Product of each pair.")
    div = _binary(ew.div, "Quotient of each pair; Int tensors truncate toward zero.")
    remainder = _binary(ew.remainder, "Remainder with the sign of the divisor.")
    powi_int = _binary(ew.powi, "Integer power of each pair.")
    atan2 = _binary(ew.atan2, "Angle of each point (other, self).")
    fmod = _binary(ew.fmod, "Remainder with the sign of self; an infinite divisor gives self.")
    hypot = _binary(ew.hypot, "sqrt(self^2 + other^2) without overflow; its gradient at 0 is 0.")
    max_pair = _binary(ew.max_pair, "Larger of each pair; NaN wins.")
    min_pair = _binary(ew.min_pair, "Smaller of each pair; NaN wins.")
    equal = _binary(ew.equal, "Whether the two are equal.")
    not_equal = _binary(ew.not_equal, "Whether the two differ.")
    greater = _binary(ew.greater, "Whether self is greater.")
    greater_equal = _binary(ew.greater_equal, "Whether self is greater or equal.")
    lower = _binary(ew.lower, "Whether self is lower.")
    lower_equal = _binary(ew.lower_equal, "Whether self is lower or equal.")
    bool_and = _binary(ew.bool_and, "Logical and.")
    bool_or = _binary(ew.bool_or, "Logical or.")
    bool_xor = _binary(ew.bool_xor, "Logical exclusive or.")
    bitwise_and = _binary(OPS["bitwise_and"], "Bits set in both.")
    bitwise_or = _binary(OPS["bitwise_or"], "Bits set in either.")
    bitwise_xor = _binary(OPS["bitwise_xor"], "Bits set in one.")
    bitwise_left_shift = _binary(OPS["bitwise_left_shift"], "Bits moved up.")
    bitwise_right_shift = _binary(OPS["bitwise_right_shift"], "Bits moved down.")

    add_scalar = _scalar(ew.add_scalar)
    sub_scalar = _scalar(ew.sub_scalar)
    mul_scalar = _scalar(ew.mul_scalar)
    div_scalar = _scalar(ew.div_scalar)
    remainder_scalar = _scalar(ew.remainder_scalar)
    fmod_scalar = _scalar(ew.fmod_scalar)
    equal_scalar = equal_elem = _scalar(OPS["equal_scalar"])
    not_equal_scalar = not_equal_elem = _scalar(OPS["not_equal_scalar"])
    greater_scalar = greater_elem = _scalar(OPS["greater_scalar"])
    greater_equal_scalar = greater_equal_elem = _scalar(OPS["greater_equal_scalar"])
    lower_scalar = lower_elem = _scalar(OPS["lower_scalar"])
    lower_equal_scalar = lower_equal_elem = _scalar(OPS["lower_equal_scalar"])
    bitwise_and_scalar = _scalar(OPS["bitwise_and_scalar"])
    bitwise_or_scalar = _scalar(OPS["bitwise_or_scalar"])
    bitwise_xor_scalar = _scalar(OPS["bitwise_xor_scalar"])
    bitwise_left_shift_scalar = _scalar(OPS["bitwise_left_shift_scalar"])
    bitwise_right_shift_scalar = _scalar(OPS["bitwise_right_shift_scalar"])

    neg = _unary(ew.neg, "Negation.")
    abs = _unary(ew.abs_, "Absolute value.")
    sign = _unary(ew.sign, "-1, 0 or 1.")
    square = _unary(ew.square, "x * x.")
    exp = _unary(ew.exp, "e to the power of each element.")
    log = _unary(ew.log, "Natural logarithm.")
    log1p = _unary(ew.log1p, "log(1 + x), exact near 0.")
    sqrt = _unary(ew.sqrt, "Square root; its gradient at 0 is 0.")
    recip = _unary(ew.recip, "1 / x.")
    erf = _unary(ew.erf, "Error function.")
    sin = _unary(ew.sin, "Sine.")
    cos = _unary(ew.cos, "Cosine.")
    tan = _unary(ew.tan, "Tangent.")
    sinh = _unary(ew.sinh, "Hyperbolic sine.")
    cosh = _unary(ew.cosh, "Hyperbolic cosine.")
    tanh = _unary(ew.tanh, "Hyperbolic tangent.")
    asin = _unary(ew.asin, "Arc sine.")
    acos = _unary(ew.acos, "Arc cosine.")
    atan = _unary(ew.atan, "Arc tangent.")
    asinh = _unary(ew.asinh, "Inverse hyperbolic sine.")
    acosh = _unary(ew.acosh, "Inverse hyperbolic cosine.")
    atanh = _unary(ew.atanh, "Inverse hyperbolic tangent.")
    round = _unary(ew.round_, "Nearest whole number, halves to even.")
    floor = _unary(ew.floor, "Largest whole number not above.")
    ceil = _unary(ew.ceil, "Smallest whole number not below.")
    trunc = _unary(ew.trunc, "Whole part, toward zero.")
    is_nan = _unary(ew.is_nan, "Whether each element is NaN.")
    is_inf = _unary(ew.is_inf, "Whether each element is infinite.")
    is_finite = _unary(ew.is_finite, "Whether each element is finite.")
    bool_not = _unary(ew.bool_not, "Logical not.")
    bitwise_not = _unary(ew.bitwise_not, "All bits inverted.")

    def deg2rad(self):
        """Degrees as radians. Mirrors `Tensor::deg2rad`."""
        check_kind("deg2rad", self, FLOAT)
        return ew.mul_scalar.scalar(self, math.pi / 180.0, 0)

    def rad2deg(self):
        """Radians as degrees. Mirrors `Tensor::rad2deg`."""
        check_kind("rad2deg", self, FLOAT)
        return ew.mul_scalar.scalar(self, 180.0 / math.pi, 0)

    def powf(self, other):
        """self to the power of a Float tensor or a number. Mirrors `Tensor::powf`."""
        return ew.powf(self, other) if isinstance(other, MathMethods) else ew.powf_scalar(self, other, "other")

    def powf_scalar(self, value):
        """self to the power of a number; whole numbers take the exact forms. Mirrors `Tensor::powf_scalar`."""
        return ew.powf_scalar(self, value)

    def powi(self, other):
        """self to an integer power, a tensor or a number. Mirrors `Tensor::powi`."""
        if not isinstance(other, MathMethods):
            if type(other) is int and self._kind == FLOAT:
                return ew.powf_scalar(self, other)
            return _powi_scalar(self, other, "other")
        if self._kind == FLOAT:
            return self.powf(other.cast(self.dtype) if other._kind == INT else other)
        return ew.powi(self, other)

    def powi_scalar(self, value):
        """self to a whole power. Mirrors `Tensor::powi_scalar`."""
        return _powi_scalar(self, value, "value")

    def clamp(self, min, max):
        """Values limited to min..max; NaN stays NaN. Mirrors `Tensor::clamp`."""
        return ew.clamp(self, min, max)

    def clamp_min(self, min):
        """Values of at least min. Mirrors `Tensor::clamp_min`."""
        return ew.clamp(self, low=min, name="clamp_min")

    def clamp_max(self, max):
        """Values of at most max. Mirrors `Tensor::clamp_max`."""
        return ew.clamp(self, high=max, name="clamp_max")

    def mask_where(self, mask, value):
        """value where mask is true, self elsewhere; the three broadcast. Mirrors `Tensor::mask_where`."""
        return ew.mask_where(self, mask, value)

    def mask_fill(self, mask, value):
        """A number where mask is true, self elsewhere. Mirrors `Tensor::mask_fill`."""
        return ew.mask_fill(self, mask, value)

    def matmul(self, other):
        """Matrix product over the last two axes; leading axes broadcast. [.., m, k] and [.., k, n] give [.., m, n].

        Raises:
            ShapeError: ranks or inner sizes do not fit. Mirrors `Tensor::matmul`.
        """
        return self @ other

    def dot(self, other):
        """Sum of products of two vectors of one length, as [1]. Mirrors `Tensor::dot`."""
        if self.ndim != 1 or check_tensor("dot", other, "other").ndim != 1 or self._dims != other._dims:
            raise ShapeError(
                f"[dot] both tensors must be vectors of one length, got shapes {self.dims()} and {other.dims()}"
            )
        return rd.sum_(ew.mul(self, other))

    # Reductions: without dim the result has shape [1]; with dim the axis is kept with size 1.

    def sum(self):
        """Sum of all elements, [1]. Mirrors `Tensor::sum`."""
        out = along(rd._sum, self)
        if out is not None:
            return out
        return rd.sum_(self)

    def sum_dim(self, dim):
        """Sum over an axis, kept with size 1. Mirrors `Tensor::sum_dim`."""
        out = along(rd._sum, self, dim)
        return rd.sum_(self, axis_of(dim, self.ndim, "sum_dim")) if out is None else out

    def sum_dims(self, dims):
        """Sum over several axes, each kept with size 1. Mirrors `Tensor::sum_dims`."""
        return rd.sum_dims(self, [axis_of(d, self.ndim, "sum_dims", "dims") for d in ints_of("sum_dims", "dims", dims)])

    def sum_dims_squeeze(self, dims):
        """Sum over several axes, which are removed. Mirrors `Tensor::sum_dims_squeeze`."""
        return self.sum_dims(dims).squeeze_dims(dims)

    def mean(self):
        """Mean of all elements, [1]. Mirrors `Tensor::mean`."""
        out = along(rd._mean, self)
        if out is not None:
            return out
        return rd.mean(self)

    def mean_dim(self, dim):
        """Mean over an axis, kept with size 1. Mirrors `Tensor::mean_dim`."""
        out = along(rd._mean, self, dim)
        return rd.mean(self, axis_of(dim, self.ndim, "mean_dim")) if out is None else out

    def mean_dims(self, dims):
        """Mean over several axes, each kept with size 1. Mirrors `Tensor::mean_dims`."""
        return _fold(rd.mean, self, dims, "mean_dims")

    def prod(self):
        """Product of all elements, [1]. Mirrors `Tensor::prod`."""
        out = along(rd._prod, self)
        if out is not None:
            return out
        return rd.prod(self)

    def prod_dim(self, dim):
        """Product over an axis, kept with size 1. Mirrors `Tensor::prod_dim`."""
        out = along(rd._prod, self, dim)
        return rd.prod(self, axis_of(dim, self.ndim, "prod_dim")) if out is None else out

    def prod_dims(self, dims):
        """Product over several axes, each kept with size 1. Mirrors `Tensor::prod_dims`."""
        return _fold(rd.prod, self, dims, "prod_dims")

    def max(self):
        """Largest element, [1]; NaN wins. Mirrors `Tensor::max`."""
        out = along(rd._max, self)
        if out is not None:
            return out
        return rd.extremum("max", self, None)

    def min(self):
        """Smallest element, [1]; NaN wins. Mirrors `Tensor::min`."""
        out = along(rd._min, self)
        if out is not None:
            return out
        return rd.extremum("min", self, None)

    def max_dim(self, dim):
        """Largest element along an axis, kept with size 1. Mirrors `Tensor::max_dim`."""
        out = along(rd._max, self, dim)
        return rd.extremum("max", self, axis_of(dim, self.ndim, "max_dim")) if out is None else out

    def min_dim(self, dim):
        """Smallest element along an axis, kept with size 1. Mirrors `Tensor::min_dim`."""
        out = along(rd._min, self, dim)
        return rd.extremum("min", self, axis_of(dim, self.ndim, "min_dim")) if out is None else out

    def max_dims(self, dims):
        """Largest element over several axes, each kept with size 1. Mirrors `Tensor::max_dims`."""
        return _fold(lambda x, a: rd.extremum("max", x, a), self, dims, "max_dims")

    def min_dims(self, dims):
        """Smallest element over several axes, each kept with size 1. Mirrors `Tensor::min_dims`."""
        return _fold(lambda x, a: rd.extremum("min", x, a), self, dims, "min_dims")

    def max_dim_with_indices(self, dim):
        """(values, first positions) of the largest along an axis. Mirrors `Tensor::max_dim_with_indices`."""
        out = along(rd._max_with_indices, self, dim)
        return (
            rd.extremum_with_indices("max", self, axis_of(dim, self.ndim, "max_dim_with_indices"))
            if out is None
            else out
        )

    def min_dim_with_indices(self, dim):
        """(values, first positions) of the smallest along an axis. Mirrors `Tensor::min_dim_with_indices`."""
        out = along(rd._min_with_indices, self, dim)
        return (
            rd.extremum_with_indices("min", self, axis_of(dim, self.ndim, "min_dim_with_indices"))
            if out is None
            else out
        )

    def max_abs(self):
        """Largest absolute value, [1]. Mirrors `Tensor::max_abs`."""
        return self.abs().max()

    def max_abs_dim(self, dim):
        """Largest absolute value along an axis, kept with size 1. Mirrors `Tensor::max_abs_dim`."""
        return self.abs().max_dim(dim)

    def max_abs_dims(self, dims):
        """Largest absolute value over several axes, each kept with size 1. Mirrors `Tensor::max_abs_dims`."""
        return self.abs().max_dims(dims)

    def argmax(self, dim):
        """First position of the largest along an axis, kept with size 1. Mirrors `Tensor::argmax`."""
        out = along(rd._argmax, self, dim)
        return rd.arg_extremum("argmax", self, axis_of(dim, self.ndim, "argmax")) if out is None else out

    def argmin(self, dim):
        """First position of the smallest along an axis, kept with size 1. Mirrors `Tensor::argmin`."""
        out = along(rd._argmin, self, dim)
        return rd.arg_extremum("argmin", self, axis_of(dim, self.ndim, "argmin")) if out is None else out

    def any(self):
        """Whether any element is true (nonzero), [1]. Mirrors `Tensor::any`."""
        out = along(rd._any, self)
        if out is not None:
            return out
        return rd.any_(self)

    def any_dim(self, dim):
        """Whether any element along an axis is true. Mirrors `Tensor::any_dim`."""
        out = along(rd._any, self, dim)
        return rd.any_(self, axis_of(dim, self.ndim, "any_dim")) if out is None else out

    def all(self):
        """Whether all elements are true (nonzero), [1]. Mirrors `Tensor::all`."""
        out = along(rd._all, self)
        if out is not None:
            return out
        return rd.all_(self)

    def all_dim(self, dim):
        """Whether all elements along an axis are true. Mirrors `Tensor::all_dim`."""
        out = along(rd._all, self, dim)
        return rd.all_(self, axis_of(dim, self.ndim, "all_dim")) if out is None else out

    def var(self, dim):
        """Variance along an axis with n - 1 in the denominator. Mirrors `Tensor::var`."""
        out = along(rd._var, self, dim)
        return rd.var(self, axis_of(dim, self.ndim, "var"), 1) if out is None else out

    def var_bias(self, dim):
        """Variance along an axis with n in the denominator. Mirrors `Tensor::var_bias`."""
        out = along(rd._var_bias, self, dim)
        return rd.var(self, axis_of(dim, self.ndim, "var_bias"), 0, "var_bias") if out is None else out

    def var_mean(self, dim):
        """(variance, mean) along an axis. Mirrors `Tensor::var_mean`."""
        return self.var(dim), self.mean_dim(dim)

    def var_mean_bias(self, dim):
        """(variance with n, mean) along an axis. Mirrors `Tensor::var_mean_bias`."""
        return self.var_bias(dim), self.mean_dim(dim)

    def contains_nan(self):
        """Whether any element is NaN, [1]. Mirrors `Tensor::contains_nan`."""
        return rd.any_(ew.is_nan(self))

    def all_close(self, other, rtol=DEFAULT_RTOL, atol=DEFAULT_ATOL):
        """Whether all elements are close, as a Python bool; equal infinities are, NaN never is. Mirrors `Tensor::all_close`."""
        return bool(rd.all_(self.is_close(other, rtol, atol)).item())

    def is_close(self, other, rtol=DEFAULT_RTOL, atol=DEFAULT_ATOL):
        """Whether |self - other| <= rtol * |other| + atol, or both are the same infinity. Mirrors `Tensor::is_close`."""
        check_kind("is_close", self, FLOAT)
        check_same("is_close", self, check_tensor("is_close", other, "other"))
        near = ew.lower_equal(
            ew.abs_(ew.sub(self, other)), ew.add_scalar.scalar(ew.mul_scalar.scalar(ew.abs_(other), rtol, 0), atol, 0)
        )
        finite = ew.bool_and(ew.is_finite(self), ew.is_finite(other))
        return ew.bool_or(ew.bool_and(near, finite), ew.equal(self, other))


def _fold(reduce, x, dims, name):
    for d in sorted({axis_of(d, x.ndim, name, "dims") for d in ints_of(name, "dims", dims)}):
        x = reduce(x, d)
    return x
