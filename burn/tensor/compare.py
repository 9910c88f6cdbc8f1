"""Comparing host values in tests: equal, approximately equal, within a range."""

import dataclasses

import numpy as np

from burn.errors import ArgumentError, ArgumentTypeError, ComparisonError
from burn.tensor.dtype import DType

__all__ = ["CompareMethods", "Tolerance"]

_SHOWN = 5  # differences in a message
_SIZES = (2, 4, 8)


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """How far apart two numbers may be: strictly less than the larger of both parts. Mirrors `Tolerance`.

    The relative part counts times the larger of the two magnitudes. `Tolerance()` is `Tolerance.balanced()`.

    Args:
        relative_parts: one for the dtypes of each size: 2, 4 and 8 bytes.
        absolute_parts: likewise; None is 64 times the smallest normal number.

    >>> Tolerance.rel_abs(0.1, 0.0).approx_eq(10.0, 10.9), Tolerance.absolute(0.5).approx_eq(1.0, 1.5)
    (True, False)
    >>> Tolerance.balanced().parts("f32"), Tolerance.permissive().parts("f32"), Tolerance.strict().parts("f32")[0]
    ((0.005, 1e-05), (0.01, 0.01), 0.0)
    >>> Tolerance.relative(0.01).set_absolute(1e-6).set_half_precision_relative(0.05).parts("f16")
    (0.05, 1e-06)
    """

    relative_parts: tuple = (0.005, 0.005, 0.005)  # by size of the dtype: 2, 4 and 8 bytes
    absolute_parts: tuple = (1e-5, 1e-5, 1e-5)  # None stands for 64 times the smallest normal number

    def __post_init__(self):
        for r in self.relative_parts:
            if not 0.0 <= r <= 1.0:
                raise ArgumentError(f"[Tolerance] 'relative' must lie in 0..1, got {r}")
        for a in self.absolute_parts:
            if a is not None and not a >= 0.0:
                raise ArgumentError(f"[Tolerance] 'absolute' must be at least 0, got {a}")

    @classmethod
    def balanced(cls):
        """Relative 0.005, absolute 1e-5."""
        return cls()

    default = balanced

    @classmethod
    def strict(cls):
        """Relative 0, absolute 64 times the smallest normal number of the dtype."""
        return cls((0.0,) * 3, (None,) * 3)

    @classmethod
    def permissive(cls):
        """Relative 0.01, absolute 0.01."""
        return cls.rel_abs(0.01, 0.01)

    @classmethod
    def rel_abs(cls, relative, absolute):
        """Both parts.

        Args:
            relative: the relative part, in 0..1.
            absolute: the absolute part, at least 0.
        """
        return cls((float(relative),) * 3, (float(absolute),) * 3)

    @classmethod
    def relative(cls, relative):
        """A relative part alone.

        Args:
            relative: the relative part, in 0..1.
        """
        return cls.rel_abs(relative, 0.0)

    @classmethod
    def absolute(cls, absolute):
        """An absolute part alone.

        Args:
            absolute: the absolute part, at least 0.
        """
        return cls.rel_abs(0.0, absolute)

    def _with(self, field, value, sizes):
        parts = list(getattr(self, field))
        for size in sizes:
            parts[_SIZES.index(size)] = float(value)
        return dataclasses.replace(self, **{field: tuple(parts)})

    def set_relative(self, relative):
        """This with another relative part."""
        return self._with("relative_parts", relative, _SIZES)

    def set_absolute(self, absolute):
        """This with another absolute part."""
        return self._with("absolute_parts", absolute, _SIZES)

    def set_half_precision_relative(self, relative):
        """This with another relative part for f16 and bf16."""
        return self._with("relative_parts", relative, (2,))

    def set_half_precision_absolute(self, absolute):
        """This with another absolute part for f16 and bf16."""
        return self._with("absolute_parts", absolute, (2,))

    def set_single_precision_relative(self, relative):
        """This with another relative part for f32."""
        return self._with("relative_parts", relative, (4,))

    def set_single_precision_absolute(self, absolute):
        """This with another absolute part for f32."""
        return self._with("absolute_parts", absolute, (4,))

    def set_double_precision_relative(self, relative):
        """This with another relative part for f64."""
        return self._with("relative_parts", relative, (8,))

    def set_double_precision_absolute(self, absolute):
        """This with another absolute part for f64."""
        return self._with("absolute_parts", absolute, (8,))

    def parts(self, dtype):
        """(relative, absolute) for a float dtype.

        Args:
            dtype: a Float dtype or its name.
        """
        dtype = DType.of(dtype)
        which = _SIZES.index(dtype.size)
        absolute = self.absolute_parts[which]
        return self.relative_parts[which], 64.0 * dtype.finfo()[3] if absolute is None else absolute

    def approx_eq(self, x, y, dtype=DType.F64):
        """Whether two numbers of a dtype are equal or near enough.

        Args:
            x, y: the numbers.
            dtype: a Float dtype or its name.
        """
        return bool(_near(np.float64(x), np.float64(y), *self.parts(dtype)))


def _near(x, y, relative, absolute):
    with np.errstate(all="ignore"):
        return (x == y) | (np.abs(x - y) < np.maximum(absolute, relative * np.maximum(np.abs(x), np.abs(y))))


class CompareMethods:
    """Methods of TensorData for tests; they raise ComparisonError, an AssertionError."""

    __slots__ = ()

    def assert_eq(self, other, strict):
        """Raises unless the values are equal; NaN is not equal to NaN. Mirrors `TensorData::assert_eq`.

        Args:
            other: the TensorData that is expected.
            strict: whether the dtypes must be the same; else those of other are converted.

        Raises:
            ComparisonError: with the shapes, or the first values that differ.

        >>> burn.TensorData([1.0]).assert_eq(burn.TensorData([1.0]), strict=True)
        """
        _check_other("assert_eq", self, other)
        if strict and self.dtype is not other.dtype:
            raise ComparisonError(f"[assert_eq] Data types differ ({self.dtype} != {other.dtype})")
        other = other.convert(self.dtype)
        _check_shapes("assert_eq", "Tensors are not eq:", self, other)
        x, y = self._array.reshape(-1), other._array.reshape(-1)
        bad = np.flatnonzero(x != y)
        if bad.size:
            lines = [f"  => Position {i}: {x[i]} != {y[i]}" for i in bad[:_SHOWN]]
            raise ComparisonError(_message("assert_eq", "Tensors are not eq:", lines, bad.size))

    def assert_approx_eq(self, other, tolerance=None, dtype=None):
        """Raises unless the values are near; NaN is near NaN, an infinity its like. Mirrors `TensorData::assert_approx_eq`.

        Args:
            other: the TensorData that is expected.
            tolerance: a `Tolerance`, balanced if None.
            dtype: the float dtype to which both are converted; this data's, or f32 for integers, if None.

        Raises:
            ComparisonError: with the shapes, or the first values that differ and how far.

        >>> burn.TensorData([1.0]).assert_approx_eq(burn.TensorData([1.001]))
        """
        op, head = "assert_approx_eq", "Tensors are not approx eq:"
        _check_other(op, self, other)
        tolerance = Tolerance() if tolerance is None else tolerance
        if not isinstance(tolerance, Tolerance):
            raise ArgumentTypeError(f"[{op}] 'tolerance' must be a Tolerance, got {tolerance!r}")
        dtype = DType.of(dtype) if dtype is not None else self.dtype if self.dtype.is_float else DType.F32
        if not dtype.is_float:
            raise ArgumentTypeError(f"[{op}] 'dtype' must be a float dtype, got {dtype}")
        _check_shapes(op, head, self, other)
        x, y = (d.convert(dtype)._array.reshape(-1).astype(np.float64) for d in (self, other))
        relative, absolute = tolerance.parts(dtype)
        bad = np.flatnonzero(~(_near(x, y, relative, absolute) | (np.isnan(x) & np.isnan(y))))
        if bad.size:
            lines = []
            for i in bad[:_SHOWN]:
                gap, size = abs(x[i] - y[i]), max(abs(x[i]), abs(y[i]))
                with np.errstate(all="ignore"):
                    share = np.float64(gap) / size
                lines.append(f"  => Position {i}: {x[i]} != {y[i]}")
                lines.append(
                    f"     diff (rel = {share:+.2e}, abs = {gap:.2e}), tol (rel = {relative:+.2e}, abs = {absolute:.2e})"
                )
            raise ComparisonError(_message(op, head, lines, bad.size))

    def assert_within_range(self, low, high):
        """Raises unless low <= value < high everywhere. Mirrors `TensorData::assert_within_range`.

        Args:
            low: smallest value.
            high: bound, which is too large already.

        Raises:
            ComparisonError: with the first values outside.

        >>> burn.TensorData([0.0, 0.5]).assert_within_range(0.0, 1.0)
        """
        self._assert_range("assert_within_range", low, high, np.less)

    def assert_within_range_inclusive(self, low, high):
        """Raises unless low <= value <= high everywhere. Mirrors `TensorData::assert_within_range_inclusive`.

        Args:
            low: smallest value.
            high: largest value.

        Raises:
            ComparisonError: with the first values outside.

        >>> burn.TensorData([0.0, 1.0]).assert_within_range_inclusive(0.0, 1.0)
        """
        self._assert_range("assert_within_range_inclusive", low, high, np.less_equal)

    def _assert_range(self, op, low, high, below):
        x = self._array.reshape(-1)
        bad = np.flatnonzero(~((x >= low) & below(x, high)))
        if bad.size:
            end = "<" if below is np.less else "<="
            lines = [f"  => Position {i}: {x[i]} is not in {low} <= value {end} {high}" for i in bad[:_SHOWN]]
            raise ComparisonError(_message(op, "Values are out of range:", lines, bad.size))


def _check_other(op, data, other):
    if not isinstance(other, type(data)):
        raise ArgumentTypeError(
            f"[{op}] 'other' must be TensorData, got {type(other).__name__}; call to_data() on a tensor"
        )


def _check_shapes(op, head, data, other):
    if data.shape != other.shape:
        lines = [f"Shape is different: {data.shape} != {other.shape}"]
        if data.num_elements() != other.num_elements():
            lines.append(f"Element counts differ: {data.num_elements()} != {other.num_elements()}")
        raise ComparisonError(_message(op, head, lines, 0))


def _message(op, head, lines, count):
    more = [f"{count - _SHOWN} more errors..."] if count > _SHOWN else []
    return "\n".join([f"[{op}] {head}", *lines, *more])
