"""Methods of Tensor on vectors and samples, made of other ops: cross product, covariance, categorical draws."""

from typing import Self

from burn._core import core
from burn._ops import elementwise as ew
from burn._ops import matmul, movement, random
from burn._ops import reduce as rd
from burn._ops.registry import FLOAT, broadcast, check_kind, check_same, check_tensor
from burn.errors import ArgumentError, ShapeError
from burn.tensor.dtype import DType
from burn.tensor.shape import axis_of, int_of


class VectorMethods:
    """Methods of Tensor on vectors and samples."""

    __slots__ = ()

    def cross(self, other, dim) -> Self:
        """Cross product of the vectors along an axis of size 3; the other axes broadcast. Mirrors `Tensor::cross`.

        Args:
            other: Float tensor of the same rank and dtype.
            dim: the axis; negative counts from the end.

        Returns:
            Tensor with the broadcast shape.

        Raises:
            ShapeError: the axis is not 3 in both, or other axes do not fit.

        >>> Tensor([1.0, 0.0, 0.0]).cross(Tensor([0.0, 1.0, 0.0]), 0).tolist()
        [0.0, 0.0, 1.0]
        """
        check_kind("cross", self, FLOAT)
        check_same("cross", self, check_tensor("cross", other, "other"))
        axis = axis_of(dim, self.ndim, "cross")
        broadcast("cross", self._dims, other._dims)
        if self._dims[axis] != 3 or other._dims[axis] != 3:
            raise ShapeError(
                f"[cross] both tensors must have size 3 along axis {axis}, got {self._dims[axis]} and {other._dims[axis]} in "
                f"shapes {self.dims()} and {other.dims()}"
            )
        a, b = ([_part(t, axis, i, 1) for i in range(3)] for t in (self, other))
        parts = [ew.sub(ew.mul(a[i], b[j]), ew.mul(a[j], b[i])) for i, j in ((1, 2), (2, 0), (0, 1))]
        return movement.cat(parts, axis)

    def cov(self, dim, correction_factor) -> Self:
        """Covariances of the columns (dim 0) or rows (dim 1) of a matrix. Mirrors `Tensor::cov`.

        Args:
            dim: the axis along which the observations lie.
            correction_factor: taken from the number of observations n in the denominator: 1 for the unbiased estimate.

        Returns:
            [k, k] for k variables.

        Raises:
            ShapeError: not a matrix.
            ArgumentError: correction_factor is not below n.

        >>> Tensor([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]).cov(0, 1).tolist()
        [[1.0, 2.0], [2.0, 4.0]]
        """
        check_kind("cov", self, FLOAT)
        if self.ndim != 2:
            raise ShapeError(f"[cov] 'self' must be a matrix, got shape {self.dims()}; flatten() the variables first")
        axis = axis_of(dim, 2, "cov")
        n = self._dims[axis]
        if not 0 <= int_of("cov", "correction_factor", correction_factor) < n:
            raise ArgumentError(
                f"[cov] 'correction_factor' must lie in 0..{n - 1} for {n} observations, got {correction_factor}"
            )
        x = ew.sub(self, rd.mean(self, axis))
        x = x if axis == 1 else movement.swap(x, 0, 1)
        return ew.div_scalar.scalar(matmul.matmul(x, movement.swap(x, 0, 1)), float(n - correction_factor), 0)

    def categorical(self, num_samples) -> Self:
        """Positions drawn with replacement by the weights along the last axis. Mirrors `Tensor::categorical`.

        Args:
            num_samples: draws from each row, at least 1.

        Returns:
            Int tensor; the last axis has num_samples positions. A weight of 0 is never drawn.

        Raises:
            ArgumentError: no samples are wanted, or a row holds a negative number, NaN, an infinity, or nothing but 0.

        >>> Tensor([[0.0, 1.0], [3.0, 0.0]]).categorical(4).tolist()
        [[1, 1, 1, 1], [0, 0, 0, 0]]
        """
        check_kind("categorical", self, FLOAT)
        if int_of("categorical", "num_samples", num_samples) < 1:
            raise ArgumentError(f"[categorical] 'num_samples' must be at least 1, got {num_samples}")
        weights, last = core.cut(self, 0), self.ndim - 1
        if not weights._dims[last]:
            raise ShapeError(f"[categorical] 'self' must not be empty along the last axis, got shape {self.dims()}")
        if weights.dtype not in (DType.F32, DType.F64):
            weights = ew.cast(weights, DType.F32)
        fine = ew.bool_and(ew.is_finite(weights), ew.greater_equal(weights, 0.0))
        most = rd.extremum("max", weights, last)
        if weights._size and not rd.all_(ew.bool_and(fine, ew.greater(most, 0.0))).item():
            raise ArgumentError(
                "[categorical] 'self' must hold finite weights of at least 0, with one above 0 in each row"
            )
        # Of waiting times with these rates the shortest is that of position i with probability weight i over their sum.
        rates = movement.reshape(ew.div(weights, most), (*weights._dims[:-1], 1, weights._dims[last]))
        shape = (*weights._dims[:-1], num_samples, weights._dims[last])
        times = ew.neg(ew.log1p(ew.neg(random.uniform(shape, 0.0, 1.0, weights.dtype, self.device.inner()))))
        times = ew.mask_fill(ew.div(times, rates), ew.equal(rates, 0.0), float("inf"))
        return movement.reshape(rd.arg_extremum("argmin", times, last + 1), shape[:-1])


def _part(x, axis, start, size):
    """A piece of x along an axis (a view)."""
    starts, sizes = [0] * x.ndim, list(x._dims)
    starts[axis], sizes[axis] = start, size
    return movement.slice_view(x, tuple(starts), (1,) * x.ndim, sizes)
