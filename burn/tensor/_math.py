"""Arithmetic and comparison methods of Tensor; each hands over to its op record."""

import math
from typing import Self

from burn._core import core
from burn._ops import elementwise as ew
from burn._ops import reduce as rd
from burn._ops.registry import ANY, FLOAT, INT, OPS, check_kind, check_same, check_tensor, kinds_text, number
from burn.errors import ArgumentError, DTypeError, ShapeError
from burn.tensor._calls import compiled
from burn.tensor.dtype import DType

DEFAULT_RTOL, DEFAULT_ATOL = 1e-5, 1e-8  # how close two values are without other numbers


def _documented(method, op, text, call, shown, args=""):
    """Names a method after its record and writes its docstring: kinds and dtype are the record's."""
    bools = " of dtype Bool" if op.out_dtype == DType.Bool.code else ""
    shape = " with the broadcast shape" if "tensor of the same rank" in args else " of the same shape"
    kinds = "" if op.kinds == ANY else f"\n    KindError: self is not {kinds_text(op.kinds)}."
    mixed = (
        "\n    ShapeError: ranks differ, or sizes that differ and are not 1.\n    DTypeError: dtypes differ."
        if "tensor of" in args
        else ""
    )
    method.__name__ = method.__qualname__ = op.name
    method.__doc__ = f"{text} Mirrors `Tensor::{op.name}`.\n\n" + "\n\n".join(
        part
        for part in (
            args and f"Args:\n    {args}",
            f"Returns:\n    Tensor{shape}{bools}.",
            kinds + mixed and f"Raises:{kinds}{mixed}",
            shown and f">>> {call}.tolist()\n{shown}\n",
        )
        if part
    )
    return method


def _unary(op, text, x="", shown=""):
    run = op.one

    def method(self):
        return run(self)

    method.op = op
    return _documented(method, op, text, f"Tensor({x}).{op.name}()", shown)


def _binary(op, text, x="", y="", shown=""):
    run = op.two

    def method(self, other):
        return run(self, other)

    method.op = op
    args = "other: a tensor of the same rank, dtype and device (sizes of 1 stretch), or a number."
    return _documented(method, op, text, f"Tensor({x}).{op.name}({y})", shown, args)


def _scalar(op, x="", value="", shown=""):
    @compiled(core.with_number, op)
    def method(self, value):
        return op.bridge(op, self, value)

    text = f"`{op.name.removesuffix('_scalar')}` with a number."
    return _documented(method, op, text, f"Tensor({x}).{op.name}({value})", shown, "value: a number.")


def _powi_scalar(x, value, argument):
    real, whole = number("powi", x, value, argument)
    if not real.is_integer():
        raise DTypeError(f"[powi] {argument!r} must be a whole number, got {value}; use powf()")
    if x._kind == FLOAT:
        return ew.powf_scalar(x, int(value) if hasattr(value, "__int__") else int(real))
    if whole < 0:
        raise ArgumentError(
            f"[powi] {argument!r} must not be negative for Int tensors, got {whole}; call float() first"
        )
    return ew.powi(x, whole)


class MathMethods:
    """Methods of Tensor that compute."""

    __slots__ = ()

    add = _binary(ew.add, "Sum of each pair.", "[1.0, 2.0]", "Tensor([10.0, 20.0])", "[11.0, 22.0]")
    sub = _binary(ew.sub, "Difference of each pair.", "[1.0, 2.0]", "Tensor([10.0, 20.0])", "[-9.0, -18.0]")
    mul = _binary(ew.mul, "Product of each pair.", "[[1.0], [2.0]]", "Tensor([[3.0, 4.0]])", "[[3.0, 4.0], [6.0, 8.0]]")
    div = _binary(
        ew.div, "Quotient of each pair; Int tensors truncate toward zero.", "[-7, 7]", "Tensor([2, 2])", "[-3, 3]"
    )
    remainder = _binary(ew.remainder, "Remainder with the sign of the divisor.", "[-7.0, 7.0]", "3.0", "[2.0, 1.0]")
    atan2 = _binary(
        ew.atan2, "Angle of each point (other, self).", "[1.0, -1.0]", "Tensor([0.0, 0.0])", "[1.5707..., -1.5707...]"
    )
    fmod = _binary(
        ew.fmod, "Remainder with the sign of self; an infinite divisor gives self.", "[-7.0, 7.0]", "3.0", "[-1.0, 1.0]"
    )
    hypot = _binary(
        ew.hypot,
        "sqrt(self^2 + other^2) without overflow; its gradient at 0 is 0.",
        "[3.0, 6.0]",
        "Tensor([4.0, 8.0])",
        "[5.0, 10.0]",
    )
    max_pair = _binary(ew.max_pair, "Larger of each pair; NaN wins.", "[1.0, 5.0]", "Tensor([3.0, 4.0])", "[3.0, 5.0]")
    min_pair = _binary(ew.min_pair, "Smaller of each pair; NaN wins.", "[1.0, 5.0]", "Tensor([3.0, 4.0])", "[1.0, 4.0]")
    equal = _binary(ew.equal, "Whether the two are equal.", "[1, 2]", "Tensor([1, 3])", "[True, False]")
    not_equal = _binary(ew.not_equal, "Whether the two differ.", "[1, 2]", "Tensor([1, 3])", "[False, True]")
    greater = _binary(ew.greater, "Whether self is greater.", "[1.0, 2.0, 3.0]", "2.0", "[False, False, True]")
    greater_equal = _binary(
        ew.greater_equal, "Whether self is greater or equal.", "[1.0, 2.0, 3.0]", "2.0", "[False, True, True]"
    )
    lower = _binary(ew.lower, "Whether self is lower.", "[1.0, 2.0, 3.0]", "2.0", "[True, False, False]")
    lower_equal = _binary(
        ew.lower_equal, "Whether self is lower or equal.", "[1.0, 2.0, 3.0]", "2.0", "[True, True, False]"
    )
    bool_and = _binary(
        ew.bool_and, "Logical and.", "[True, True, False]", "Tensor([True, False, False])", "[True, False, False]"
    )
    bool_or = _binary(
        ew.bool_or, "Logical or.", "[True, True, False]", "Tensor([True, False, False])", "[True, True, False]"
    )
    bool_xor = _binary(
        ew.bool_xor,
        "Logical exclusive or.",
        "[True, True, False]",
        "Tensor([True, False, False])",
        "[False, True, False]",
    )
    bitwise_and = _binary(OPS["bitwise_and"], "Bits set in both.", "[12]", "Tensor([10])", "[8]")
    bitwise_or = _binary(OPS["bitwise_or"], "Bits set in either.", "[12]", "Tensor([10])", "[14]")
    bitwise_xor = _binary(OPS["bitwise_xor"], "Bits set in one.", "[12]", "Tensor([10])", "[6]")
    bitwise_left_shift = _binary(OPS["bitwise_left_shift"], "Bits moved up.", "[1, 3]", "Tensor([4, 1])", "[16, 6]")
    bitwise_right_shift = _binary(OPS["bitwise_right_shift"], "Bits moved down.", "[16, 6]", "Tensor([4, 1])", "[1, 3]")

    add_scalar = _scalar(ew.add_scalar, "[1.0, 2.0]", "10.0", "[11.0, 12.0]")
    sub_scalar = _scalar(ew.sub_scalar, "[1.0, 2.0]", "10.0", "[-9.0, -8.0]")
    mul_scalar = _scalar(ew.mul_scalar, "[1.0, 2.0]", "10.0", "[10.0, 20.0]")
    div_scalar = _scalar(ew.div_scalar, "[1.0, 2.0]", "4.0", "[0.25, 0.5]")
    remainder_scalar = _scalar(ew.remainder_scalar, "[-7, 7]", "3", "[2, 1]")
    fmod_scalar = _scalar(ew.fmod_scalar, "[-7.0, 7.0]", "3.0", "[-1.0, 1.0]")
    equal_scalar = equal_elem = _scalar(OPS["equal_scalar"], "[1, 2, 3]", "2", "[False, True, False]")
    not_equal_scalar = not_equal_elem = _scalar(OPS["not_equal_scalar"], "[1, 2, 3]", "2", "[True, False, True]")
    greater_scalar = greater_elem = _scalar(OPS["greater_scalar"], "[1, 2, 3]", "2", "[False, False, True]")
    greater_equal_scalar = greater_equal_elem = _scalar(
        OPS["greater_equal_scalar"], "[1, 2, 3]", "2", "[False, True, True]"
    )
    lower_scalar = lower_elem = _scalar(OPS["lower_scalar"], "[1, 2, 3]", "2", "[True, False, False]")
    lower_equal_scalar = lower_equal_elem = _scalar(OPS["lower_equal_scalar"], "[1, 2, 3]", "2", "[True, True, False]")
    bitwise_and_scalar = _scalar(OPS["bitwise_and_scalar"], "[12, 7]", "10", "[8, 2]")
    bitwise_or_scalar = _scalar(OPS["bitwise_or_scalar"], "[12, 7]", "10", "[14, 15]")
    bitwise_xor_scalar = _scalar(OPS["bitwise_xor_scalar"], "[12, 7]", "10", "[6, 13]")
    bitwise_left_shift_scalar = _scalar(OPS["bitwise_left_shift_scalar"], "[1, 3]", "2", "[4, 12]")
    bitwise_right_shift_scalar = _scalar(OPS["bitwise_right_shift_scalar"], "[16, 6]", "2", "[4, 1]")

    neg = _unary(ew.neg, "Negation.", "[1.0, -2.0]", "[-1.0, 2.0]")
    abs = _unary(ew.abs_, "Absolute value.", "[1.0, -2.0]", "[1.0, 2.0]")
    sign = _unary(ew.sign, "-1, 0 or 1.", "[3.0, -2.0, 0.0]", "[1.0, -1.0, 0.0]")
    square = _unary(ew.square, "x * x.", "[3.0, -2.0]", "[9.0, 4.0]")
    exp = _unary(ew.exp, "e to the power of each element.", "[0.0, 1.0]", "[1.0, 2.7182...]")
    log = _unary(ew.log, "Natural logarithm.", "[1.0, 10.0]", "[0.0, 2.3025...]")
    log1p = _unary(ew.log1p, "log(1 + x), exact near 0.", "[0.0, 1.0]", "[0.0, 0.6931...]")
    sqrt = _unary(ew.sqrt, "Square root; its gradient at 0 is 0.", "[4.0, 9.0]", "[2.0, 3.0]")
    recip = _unary(ew.recip, "1 / x.", "[2.0, 4.0]", "[0.5, 0.25]")
    erf = _unary(ew.erf, "Error function.", "[0.0, 1.0]", "[0.0, 0.8427...]")
    sin = _unary(ew.sin, "Sine.", "[0.0, 1.0]", "[0.0, 0.8414...]")
    cos = _unary(ew.cos, "Cosine.", "[0.0, 1.0]", "[1.0, 0.5403...]")
    tan = _unary(ew.tan, "Tangent.", "[0.0, 1.0]", "[0.0, 1.5574...]")
    sinh = _unary(ew.sinh, "Hyperbolic sine.", "[0.0, 1.0]", "[0.0, 1.1752...]")
    cosh = _unary(ew.cosh, "Hyperbolic cosine.", "[0.0, 1.0]", "[1.0, 1.5430...]")
    tanh = _unary(ew.tanh, "Hyperbolic tangent.", "[0.0, 1.0]", "[0.0, 0.7615...]")
    asin = _unary(ew.asin, "Arc sine.", "[0.0, 1.0]", "[0.0, 1.5707...]")
    acos = _unary(ew.acos, "Arc cosine.", "[1.0, 0.0]", "[0.0, 1.5707...]")
    atan = _unary(ew.atan, "Arc tangent.", "[0.0, 1.0]", "[0.0, 0.7853...]")
    asinh = _unary(ew.asinh, "Inverse hyperbolic sine.", "[0.0, 1.0]", "[0.0, 0.8813...]")
    acosh = _unary(ew.acosh, "Inverse hyperbolic cosine.", "[1.0, 2.0]", "[0.0, 1.3169...]")
    atanh = _unary(ew.atanh, "Inverse hyperbolic tangent.", "[0.0, 0.5]", "[0.0, 0.5493...]")
    round = _unary(ew.round_, "Nearest whole number, halves to even.", "[0.5, 1.5, -2.6]", "[0.0, 2.0, -3.0]")
    floor = _unary(ew.floor, "Largest whole number not above.", "[1.7, -1.2]", "[1.0, -2.0]")
    ceil = _unary(ew.ceil, "Smallest whole number not below.", "[1.2, -1.7]", "[2.0, -1.0]")
    trunc = _unary(ew.trunc, "Whole part, toward zero.", "[1.7, -1.7]", "[1.0, -1.0]")
    is_nan = _unary(ew.is_nan, "Whether each element is NaN.", "[1.0, float('nan')]", "[False, True]")
    is_inf = _unary(ew.is_inf, "Whether each element is infinite.", "[1.0, float('-inf')]", "[False, True]")
    is_finite = _unary(ew.is_finite, "Whether each element is finite.", "[1.0, float('nan')]", "[True, False]")
    bool_not = _unary(ew.bool_not, "Logical not.", "[True, False]", "[False, True]")
    bitwise_not = _unary(ew.bitwise_not, "All bits inverted.", "[0, 5]", "[-1, -6]")

    def deg2rad(self) -> Self:
        """Degrees as radians. Mirrors `Tensor::deg2rad`.

        >>> Tensor([180.0]).deg2rad().tolist()
        [3.1415...]
        """
        check_kind("deg2rad", self, FLOAT)
        return ew.mul_scalar.scalar(self, math.pi / 180.0, 0)

    def rad2deg(self) -> Self:
        """Radians as degrees. Mirrors `Tensor::rad2deg`.

        >>> Tensor([0.0]).rad2deg().tolist()
        [0.0]
        """
        check_kind("rad2deg", self, FLOAT)
        return ew.mul_scalar.scalar(self, 180.0 / math.pi, 0)

    def powf(self, other) -> Self:
        """self to the power of a Float tensor or a number. Mirrors `Tensor::powf`.

        Args:
            other: a Float tensor of the same rank and dtype, or a number.

        Returns:
            Tensor with the broadcast shape. A negative base with a fractional exponent gives NaN.

        >>> Tensor([4.0, 9.0]).powf(Tensor([0.5, 2.0])).tolist()
        [2.0, 81.0]
        """
        return ew.powf(self, other) if isinstance(other, MathMethods) else ew.powf_scalar(self, other, "other")

    def powf_scalar(self, value) -> Self:
        """self to the power of a number; whole numbers take the exact forms. Mirrors `Tensor::powf_scalar`.

        Args:
            value: the exponent.

        Returns:
            Tensor of the same shape.

        >>> Tensor([2.0, 3.0]).powf_scalar(3.0).tolist()
        [8.0, 27.0]
        """
        return ew.powf_scalar(self, value)

    def powi(self, other) -> Self:
        """self to an integer power, a tensor or a number. Mirrors `Tensor::powi`.

        Args:
            other: an Int tensor of the same rank, or a whole number.

        Returns:
            Tensor with the broadcast shape.

        Raises:
            DTypeError: a fractional number.
            ArgumentError: a negative number, and self is Int.

        >>> Tensor([2, 3]).powi(3).tolist()
        [8, 27]
        """
        if not isinstance(other, MathMethods):
            if type(other) is int and self._kind == FLOAT:
                return ew.powf_scalar(self, other)
            return _powi_scalar(self, other, "other")
        if self._kind == FLOAT:
            return ew.powi_float(self, other) if other._kind == INT else self.powf(other)
        return ew.powi(self, other)

    def powi_scalar(self, value) -> Self:
        """self to a whole power. Mirrors `Tensor::powi_scalar`.

        Args:
            value: a whole number.

        Returns:
            Tensor of the same shape.

        >>> Tensor([2.0, -3.0]).powi_scalar(2).tolist()
        [4.0, 9.0]
        """
        return _powi_scalar(self, value, "value")

    @compiled(core.between, ew._clamp)
    def clamp(self, min, max):
        """Values limited to min..max; NaN stays NaN. Mirrors `Tensor::clamp`.

        Args:
            min: lower limit; gradients are 0 below it.
            max: upper limit.

        Returns:
            Tensor of the same shape.

        Raises:
            ArgumentError: min exceeds max.

        >>> Tensor([-3.0, 0.5, 3.0]).clamp(-1.0, 1.0).tolist()
        [-1.0, 0.5, 1.0]
        """
        return ew.clamp(self, min, max)

    def clamp_min(self, min) -> Self:
        """Values of at least min. Mirrors `Tensor::clamp_min`.

        Args:
            min: lower limit.

        Returns:
            Tensor of the same shape.

        >>> Tensor([-3.0, 0.5]).clamp_min(0.0).tolist()
        [0.0, 0.5]
        """
        return ew.clamp(self, low=min, name="clamp_min")

    def clamp_max(self, max) -> Self:
        """Values of at most max. Mirrors `Tensor::clamp_max`.

        Args:
            max: upper limit.

        Returns:
            Tensor of the same shape.

        >>> Tensor([0.5, 3.0]).clamp_max(1.0).tolist()
        [0.5, 1.0]
        """
        return ew.clamp(self, high=max, name="clamp_max")

    @compiled(core.masked, ew._mask_where)
    def mask_where(self, mask, value):
        """value where mask is true, self elsewhere; the three broadcast. Mirrors `Tensor::mask_where`.

        Args:
            mask: Bool tensor of the same rank.
            value: tensor of the same rank and dtype.

        Returns:
            Tensor with the broadcast shape. NumPy's `where(mask, value, self)`.

        Raises:
            KindError: mask is not Bool.

        >>> x = Tensor([1.0, 2.0, 3.0])
        >>> x.mask_where(x > 1.5, -x).tolist()
        [1.0, -2.0, -3.0]
        """
        return ew.mask_where(self, mask, value)

    @compiled(core.mask_filled, ew._mask_where)
    def mask_fill(self, mask, value):
        """A number where mask is true, self elsewhere. Mirrors `Tensor::mask_fill`.

        Args:
            mask: Bool tensor of the same rank.
            value: a number; a whole one where self is not Float.

        Returns:
            Tensor with the broadcast shape.

        Raises:
            KindError: mask is not Bool.

        >>> x = Tensor([1.0, 2.0, 3.0])
        >>> x.mask_fill(x > 1.5, 0.0).tolist()
        [1.0, 0.0, 0.0]
        """
        return ew.mask_fill(self, mask, value)

    def matmul(self, other) -> Self:
        """Matrix product over the last two axes; leading axes broadcast. [.., m, k] and [.., k, n] give [.., m, n].

        Mirrors `Tensor::matmul`.

        Args:
            other: tensor of the same rank and dtype.

        Returns:
            Tensor [.., m, n]. The same as `self @ other`.

        Raises:
            ShapeError: ranks or inner sizes do not fit.

        >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> x.matmul(Tensor([[1.0], [10.0]])).tolist()
        [[21.0], [43.0]]
        """
        return self @ other

    def dot(self, other) -> Self:
        """Sum of products of two vectors of one length, as [1]. Mirrors `Tensor::dot`.

        Args:
            other: vector of the same length and dtype.

        Returns:
            Tensor [1].

        Raises:
            ShapeError: not two vectors of one length.

        >>> Tensor([1.0, 2.0]).dot(Tensor([3.0, 4.0])).tolist()
        [11.0]
        """
        if self.ndim != 1 or check_tensor("dot", other, "other").ndim != 1 or self._dims != other._dims:
            raise ShapeError(
                f"[dot] both tensors must be vectors of one length, got shapes {self.dims()} and {other.dims()}"
            )
        return rd.sum_(ew.mul(self, other))

    def all_close(self, other, rtol=DEFAULT_RTOL, atol=DEFAULT_ATOL) -> bool:
        """Whether all elements are close, as a Python bool; equal infinities are, NaN never is. Mirrors `Tensor::all_close`.

        Args:
            other: tensor of the same rank and dtype.
            rtol: part of |other| that they may differ by.
            atol: amount that they may differ by.

        Returns:
            A bool.

        >>> Tensor([1.0, 2.0]).all_close(Tensor([1.0, 2.000001]))
        True
        """
        return bool(rd.all_(self.is_close(other, rtol, atol)).item())

    def is_close(self, other, rtol=DEFAULT_RTOL, atol=DEFAULT_ATOL) -> Self:
        """Whether |self - other| <= rtol * |other| + atol, or both are the same infinity. Mirrors `Tensor::is_close`.

        Args:
            other: Float tensor of the same rank and dtype.
            rtol: part of |other| that they may differ by.
            atol: amount that they may differ by.

        Returns:
            Bool tensor with the broadcast shape.

        >>> Tensor([1.0, 2.0]).is_close(Tensor([1.0, 2.1])).tolist()
        [True, False]
        """
        check_kind("is_close", self, FLOAT)
        check_same("is_close", self, check_tensor("is_close", other, "other"))
        near = ew.lower_equal(
            ew.abs_(ew.sub(self, other)), ew.add_scalar.scalar(ew.mul_scalar.scalar(ew.abs_(other), rtol, 0), atol, 0)
        )
        finite = ew.bool_and(ew.is_finite(self), ew.is_finite(other))
        return ew.bool_or(ew.bool_and(near, finite), ew.equal(self, other))
