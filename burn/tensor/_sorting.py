"""Methods of Tensor that order elements along an axis, and that run along it.

Sorting is stable in both directions. NaN counts as the largest whatever its sign: it comes last, or first descending.
Index results have the device's default Int dtype.
"""

from typing import Self

from burn._core import core
from burn._ops import scan
from burn._ops import sort as so
from burn.tensor._calls import compiled
from burn.tensor.shape import axis_of, int_of


class SortingMethods:
    """Methods of Tensor for order and running results."""

    __slots__ = ()

    @compiled(core.along, so._sort_values, False)
    def sort(self, dim):
        """The values along an axis in ascending order. Mirrors `Tensor::sort`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Tensor of the same shape.

        >>> Tensor([3.0, 1.0, 2.0]).sort(0).tolist()
        [1.0, 2.0, 3.0]
        """
        return so.sort("sort", self, axis_of(dim, self.ndim, "sort"), False, so.VALUES)

    @compiled(core.along, so._sort_values, True)
    def sort_descending(self, dim):
        """The values along an axis in descending order. Mirrors `Tensor::sort_descending`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Tensor of the same shape.

        >>> Tensor([3.0, 1.0, 2.0]).sort_descending(0).tolist()
        [3.0, 2.0, 1.0]
        """
        return so.sort("sort_descending", self, axis_of(dim, self.ndim, "sort_descending"), True, so.VALUES)

    @compiled(core.along, so._sort, False)
    def sort_with_indices(self, dim):
        """(values ascending, their positions) along an axis. Mirrors `Tensor::sort_with_indices`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            (values, indices), both of the same shape; indices have the device's Int dtype.

        >>> values, indices = Tensor([3.0, 1.0, 2.0]).sort_with_indices(0)
        >>> values.tolist(), indices.tolist()
        ([1.0, 2.0, 3.0], [1, 2, 0])
        """
        return so.sort("sort_with_indices", self, axis_of(dim, self.ndim, "sort_with_indices"), False, so.BOTH)

    @compiled(core.along, so._sort, True)
    def sort_descending_with_indices(self, dim):
        """(values descending, their positions) along an axis. Mirrors `Tensor::sort_descending_with_indices`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            (values, indices), both of the same shape; indices have the device's Int dtype.

        >>> values, indices = Tensor([3.0, 1.0, 2.0]).sort_descending_with_indices(0)
        >>> values.tolist(), indices.tolist()
        ([3.0, 2.0, 1.0], [0, 2, 1])
        """
        name = "sort_descending_with_indices"
        return so.sort(name, self, axis_of(dim, self.ndim, name), True, so.BOTH)

    @compiled(core.along, so._argsort, False)
    def argsort(self, dim):
        """Positions that put an axis in ascending order. Mirrors `Tensor::argsort`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Tensor of the same shape and the device's Int dtype.

        >>> Tensor([3.0, 1.0, 2.0]).argsort(0).tolist()
        [1, 2, 0]
        """
        return so.sort("argsort", self, axis_of(dim, self.ndim, "argsort"), False, so.INDICES)

    @compiled(core.along, so._argsort, True)
    def argsort_descending(self, dim):
        """Positions that put an axis in descending order. Mirrors `Tensor::argsort_descending`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Tensor of the same shape and the device's Int dtype.

        >>> Tensor([3.0, 1.0, 2.0]).argsort_descending(0).tolist()
        [0, 2, 1]
        """
        return so.sort("argsort_descending", self, axis_of(dim, self.ndim, "argsort_descending"), True, so.INDICES)

    def topk(self, k, dim) -> Self:
        """The k largest values along an axis, the largest first; of equal ones the first. Mirrors `Tensor::topk`.

        Args:
            k: how many, 0 to the size of the axis.
            dim: the axis.

        Returns:
            Tensor whose axis has size k.

        Raises:
            ShapeError: the axis has fewer than k elements.

        >>> Tensor([3.0, 1.0, 2.0]).topk(2, 0).tolist()
        [3.0, 2.0]
        """
        return _topk("topk", so._sort_values, self, k, dim, so.VALUES)

    def topk_with_indices(self, k, dim) -> tuple[Self, Self]:
        """(the k largest values, their positions) along an axis. Mirrors `Tensor::topk_with_indices`.

        Args:
            k: how many, 0 to the size of the axis.
            dim: the axis; negative counts from the end.

        Returns:
            (values, indices), both with size k on the axis.

        >>> values, indices = Tensor([3.0, 1.0, 2.0]).topk_with_indices(2, 0)
        >>> values.tolist(), indices.tolist()
        ([3.0, 2.0], [0, 2])
        """
        return _topk("topk_with_indices", so._sort, self, k, dim, so.BOTH)

    def argtopk(self, k, dim) -> Self:
        """Positions of the k largest values along an axis. Mirrors `Tensor::argtopk`.

        Args:
            k: how many, 0 to the size of the axis.
            dim: the axis; negative counts from the end.

        Returns:
            Tensor of the device's Int dtype, with size k on the axis.

        >>> Tensor([3.0, 1.0, 2.0]).argtopk(2, 0).tolist()
        [0, 2]
        """
        return _topk("argtopk", so._argsort, self, k, dim, so.INDICES)

    def median(self, dim) -> Self:
        """The median along an axis, kept with size 1: of two middle values the lower. Mirrors `Tensor::median`.

        NaN counts as the largest: the median is NaN where most values are.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Tensor with size 1 on the axis.

        >>> Tensor([[1.0, 5.0, 3.0, 2.0], [8.0, 4.0, 6.0, 7.0]]).median(1).tolist()
        [[2.0], [6.0]]
        """
        return so.median("median", self, axis_of(dim, self.ndim, "median"), so.VALUES)

    def median_with_indices(self, dim) -> tuple[Self, Self]:
        """(medians, their positions) along an axis. Mirrors `Tensor::median_with_indices`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            (values, indices), both with size 1 on the axis.

        >>> values, indices = Tensor([[1.0, 5.0, 3.0]]).median_with_indices(1)
        >>> values.tolist(), indices.tolist()
        ([[3.0]], [[2]])
        """
        name = "median_with_indices"
        return so.median(name, self, axis_of(dim, self.ndim, name), so.BOTH)

    @compiled(core.along, scan._cumsum)
    def cumsum(self, dim):
        """Sums of the elements up to each one along an axis; integers wrap. Mirrors `Tensor::cumsum`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Tensor of the same shape.

        >>> Tensor([1.0, 2.0, 3.0]).cumsum(0).tolist()
        [1.0, 3.0, 6.0]
        """
        return scan.cumsum(self, axis_of(dim, self.ndim, "cumsum"))

    @compiled(core.along, scan._cumprod)
    def cumprod(self, dim):
        """Products of the elements up to each one along an axis. Mirrors `Tensor::cumprod`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Tensor of the same shape.

        >>> Tensor([1.0, 2.0, 3.0, 4.0]).cumprod(0).tolist()
        [1.0, 2.0, 6.0, 24.0]
        """
        return scan.cumprod(self, axis_of(dim, self.ndim, "cumprod"))

    @compiled(core.along, scan._cummax)
    def cummax(self, dim):
        """Largest element up to each one along an axis; a NaN stays. Mirrors `Tensor::cummax`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Tensor of the same shape.

        >>> Tensor([1.0, 3.0, 2.0]).cummax(0).tolist()
        [1.0, 3.0, 3.0]
        """
        return scan.cummax(self, axis_of(dim, self.ndim, "cummax"))

    @compiled(core.along, scan._cummin)
    def cummin(self, dim):
        """Smallest element up to each one along an axis; a NaN stays. Mirrors `Tensor::cummin`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Tensor of the same shape.

        >>> Tensor([3.0, 1.0, 2.0]).cummin(0).tolist()
        [3.0, 1.0, 1.0]
        """
        return scan.cummin(self, axis_of(dim, self.ndim, "cummin"))


def _topk(name, op, x, k, dim, what):
    out = None if k is None else core.along(op, x, dim, True, k)
    return so.topk(name, x, int_of(name, "k", k), axis_of(dim, x.ndim, name), what) if out is None else out
