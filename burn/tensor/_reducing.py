"""Reductions of Tensor: without dim the result has shape [1], over an axis that is kept with size 1."""

from typing import Self

from burn._core import core
from burn._ops import elementwise as ew
from burn._ops import reduce as rd
from burn.tensor._calls import compiled
from burn.tensor.shape import axis_of, ints_of


class ReducingMethods:
    """Methods of Tensor that reduce."""

    __slots__ = ()

    @compiled(core.along, rd._sum)
    def sum(self):
        """Sum of all elements, [1]. Mirrors `Tensor::sum`.

        >>> Tensor([[1.0, 2.0], [3.0, 4.0]]).sum().tolist()
        [10.0]
        """
        return rd.sum_(self)

    @compiled(core.along, rd._sum)
    def sum_dim(self, dim):
        """Sum over an axis, kept with size 1. Mirrors `Tensor::sum_dim`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Tensor of the same dtype, with size 1 on the axis. f16 and bf16 are added in f32, integers wrap.

        >>> Tensor([[1.0, 2.0], [3.0, 4.0]]).sum_dim(1).tolist()
        [[3.0], [7.0]]
        """
        return rd.sum_(self, axis_of(dim, self.ndim, "sum_dim"))

    def sum_dims(self, dims) -> Self:
        """Sum over several axes, each kept with size 1. Mirrors `Tensor::sum_dims`.

        Args:
            dims: the axes.

        Returns:
            Tensor with size 1 on the axes.

        >>> Tensor.ones([2, 3, 4]).sum_dims([0, 2]).tolist()
        [[[8.0], [8.0], [8.0]]]
        """
        return rd.sum_dims(self, [axis_of(d, self.ndim, "sum_dims", "dims") for d in ints_of("sum_dims", "dims", dims)])

    def sum_dims_squeeze(self, dims) -> Self:
        """Sum over several axes, which are removed. Mirrors `Tensor::sum_dims_squeeze`.

        Args:
            dims: the axes; at least one other must remain.

        Returns:
            Tensor without the axes.

        >>> Tensor.ones([2, 3, 4]).sum_dims_squeeze([0, 2]).tolist()
        [8.0, 8.0, 8.0]
        """
        return self.sum_dims(dims).squeeze_dims(dims)

    @compiled(core.along, rd._mean)
    def mean(self):
        """Mean of all elements, [1]. Mirrors `Tensor::mean`.

        >>> Tensor([[1.0, 2.0], [3.0, 4.0]]).mean().tolist()
        [2.5]
        """
        return rd.mean(self)

    @compiled(core.along, rd._mean)
    def mean_dim(self, dim):
        """Mean over an axis, kept with size 1. Mirrors `Tensor::mean_dim`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Tensor of the same dtype, with size 1 on the axis; Int means are truncated.

        >>> Tensor([[1.0, 2.0], [3.0, 4.0]]).mean_dim(0).tolist()
        [[2.0, 3.0]]
        """
        return rd.mean(self, axis_of(dim, self.ndim, "mean_dim"))

    def mean_dims(self, dims) -> Self:
        """Mean over several axes, each kept with size 1. Mirrors `Tensor::mean_dims`.

        Args:
            dims: the axes.

        Returns:
            Tensor with size 1 on the axes.

        >>> Tensor([[1.0, 2.0], [3.0, 4.0]]).mean_dims([0, 1]).tolist()
        [[2.5]]
        """
        return _fold(rd.mean, self, dims, "mean_dims")

    @compiled(core.along, rd._prod)
    def prod(self):
        """Product of all elements, [1]. Mirrors `Tensor::prod`.

        >>> Tensor([[1.0, 2.0], [3.0, 4.0]]).prod().tolist()
        [24.0]
        """
        return rd.prod(self)

    @compiled(core.along, rd._prod)
    def prod_dim(self, dim):
        """Product over an axis, kept with size 1. Mirrors `Tensor::prod_dim`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Tensor of the same dtype, with size 1 on the axis.

        >>> Tensor([[1.0, 2.0], [3.0, 4.0]]).prod_dim(1).tolist()
        [[2.0], [12.0]]
        """
        return rd.prod(self, axis_of(dim, self.ndim, "prod_dim"))

    def prod_dims(self, dims) -> Self:
        """Product over several axes, each kept with size 1. Mirrors `Tensor::prod_dims`.

        Args:
            dims: the axes.

        Returns:
            Tensor with size 1 on the axes.

        >>> Tensor([[1.0, 2.0], [3.0, 4.0]]).prod_dims([0, 1]).tolist()
        [[24.0]]
        """
        return _fold(rd.prod, self, dims, "prod_dims")

    @compiled(core.along, rd._max)
    def max(self):
        """Largest element, [1]; NaN wins. Mirrors `Tensor::max`.

        >>> Tensor([[1.0, 7.0], [3.0, 4.0]]).max().tolist()
        [7.0]
        """
        return rd.extremum("max", self, None)

    @compiled(core.along, rd._min)
    def min(self):
        """Smallest element, [1]; NaN wins. Mirrors `Tensor::min`.

        >>> Tensor([[1.0, 7.0], [3.0, 4.0]]).min().tolist()
        [1.0]
        """
        return rd.extremum("min", self, None)

    @compiled(core.along, rd._max)
    def max_dim(self, dim):
        """Largest element along an axis, kept with size 1. Mirrors `Tensor::max_dim`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Tensor with size 1 on the axis. The gradient goes to the first of equal ones.

        Raises:
            ShapeError: the axis is empty.

        >>> Tensor([[1.0, 7.0], [3.0, 4.0]]).max_dim(1).tolist()
        [[7.0], [4.0]]
        """
        return rd.extremum("max", self, axis_of(dim, self.ndim, "max_dim"))

    @compiled(core.along, rd._min)
    def min_dim(self, dim):
        """Smallest element along an axis, kept with size 1. Mirrors `Tensor::min_dim`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Tensor with size 1 on the axis. The gradient goes to the first of equal ones.

        Raises:
            ShapeError: the axis is empty.

        >>> Tensor([[1.0, 7.0], [3.0, 4.0]]).min_dim(0).tolist()
        [[1.0, 4.0]]
        """
        return rd.extremum("min", self, axis_of(dim, self.ndim, "min_dim"))

    def max_dims(self, dims) -> Self:
        """Largest element over several axes, each kept with size 1. Mirrors `Tensor::max_dims`.

        Args:
            dims: the axes.

        Returns:
            Tensor with size 1 on the axes.

        >>> Tensor([[1.0, 7.0], [3.0, 4.0]]).max_dims([0, 1]).tolist()
        [[7.0]]
        """
        return _fold(lambda x, a: rd.extremum("max", x, a), self, dims, "max_dims")

    def min_dims(self, dims) -> Self:
        """Smallest element over several axes, each kept with size 1. Mirrors `Tensor::min_dims`.

        Args:
            dims: the axes.

        Returns:
            Tensor with size 1 on the axes.

        >>> Tensor([[1.0, 7.0], [3.0, 4.0]]).min_dims([0, 1]).tolist()
        [[1.0]]
        """
        return _fold(lambda x, a: rd.extremum("min", x, a), self, dims, "min_dims")

    @compiled(core.along, rd._max_with_indices)
    def max_dim_with_indices(self, dim):
        """(values, first positions) of the largest along an axis. Mirrors `Tensor::max_dim_with_indices`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            (values, indices), both with size 1 on the axis; indices have the device's Int dtype.

        >>> values, indices = Tensor([[1.0, 7.0], [3.0, 3.0]]).max_dim_with_indices(1)
        >>> values.tolist(), indices.tolist()
        ([[7.0], [3.0]], [[1], [0]])
        """
        return rd.extremum_with_indices("max", self, axis_of(dim, self.ndim, "max_dim_with_indices"))

    @compiled(core.along, rd._min_with_indices)
    def min_dim_with_indices(self, dim):
        """(values, first positions) of the smallest along an axis. Mirrors `Tensor::min_dim_with_indices`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            (values, indices), both with size 1 on the axis; indices have the device's Int dtype.

        >>> values, indices = Tensor([[1.0, 7.0], [3.0, 3.0]]).min_dim_with_indices(1)
        >>> values.tolist(), indices.tolist()
        ([[1.0], [3.0]], [[0], [0]])
        """
        return rd.extremum_with_indices("min", self, axis_of(dim, self.ndim, "min_dim_with_indices"))

    def max_abs(self) -> Self:
        """Largest absolute value, [1]. Mirrors `Tensor::max_abs`.

        >>> Tensor([1.0, -7.0]).max_abs().tolist()
        [7.0]
        """
        return self.abs().max()

    def max_abs_dim(self, dim) -> Self:
        """Largest absolute value along an axis, kept with size 1. Mirrors `Tensor::max_abs_dim`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Tensor with size 1 on the axis.

        >>> Tensor([[1.0, -7.0], [3.0, 4.0]]).max_abs_dim(1).tolist()
        [[7.0], [4.0]]
        """
        return self.abs().max_dim(dim)

    def max_abs_dims(self, dims) -> Self:
        """Largest absolute value over several axes, each kept with size 1. Mirrors `Tensor::max_abs_dims`.

        Args:
            dims: the axes.

        Returns:
            Tensor with size 1 on the axes.

        >>> Tensor([[1.0, -7.0], [3.0, 4.0]]).max_abs_dims([0, 1]).tolist()
        [[7.0]]
        """
        return self.abs().max_dims(dims)

    @compiled(core.along, rd._argmax)
    def argmax(self, dim):
        """First position of the largest along an axis, kept with size 1. Mirrors `Tensor::argmax`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Tensor of the device's Int dtype, with size 1 on the axis.

        Raises:
            ShapeError: the axis is empty.

        >>> Tensor([[1.0, 7.0], [3.0, 3.0]]).argmax(1).tolist()
        [[1], [0]]
        """
        return rd.arg_extremum("argmax", self, axis_of(dim, self.ndim, "argmax"))

    @compiled(core.along, rd._argmin)
    def argmin(self, dim):
        """First position of the smallest along an axis, kept with size 1. Mirrors `Tensor::argmin`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Tensor of the device's Int dtype, with size 1 on the axis.

        Raises:
            ShapeError: the axis is empty.

        >>> Tensor([[1.0, 7.0], [3.0, 3.0]]).argmin(1).tolist()
        [[0], [0]]
        """
        return rd.arg_extremum("argmin", self, axis_of(dim, self.ndim, "argmin"))

    @compiled(core.along, rd._any)
    def any(self):
        """Whether any element is true (nonzero), [1]. Mirrors `Tensor::any`.

        >>> Tensor([False, True]).any().tolist()
        [True]
        """
        return rd.any_(self)

    @compiled(core.along, rd._any)
    def any_dim(self, dim):
        """Whether any element along an axis is true. Mirrors `Tensor::any_dim`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Bool tensor with size 1 on the axis.

        >>> Tensor([[0, 1], [0, 0]]).any_dim(1).tolist()
        [[True], [False]]
        """
        return rd.any_(self, axis_of(dim, self.ndim, "any_dim"))

    @compiled(core.along, rd._all)
    def all(self):
        """Whether all elements are true (nonzero), [1]. Mirrors `Tensor::all`.

        >>> Tensor([False, True]).all().tolist()
        [False]
        """
        return rd.all_(self)

    @compiled(core.along, rd._all)
    def all_dim(self, dim):
        """Whether all elements along an axis are true. Mirrors `Tensor::all_dim`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Bool tensor with size 1 on the axis.

        >>> Tensor([[2, 1], [0, 1]]).all_dim(1).tolist()
        [[True], [False]]
        """
        return rd.all_(self, axis_of(dim, self.ndim, "all_dim"))

    @compiled(core.along, rd._var)
    def var(self, dim):
        """Variance along an axis with n - 1 in the denominator. Mirrors `Tensor::var`.

        Args:
            dim: the axis; a single element has the variance NaN.

        Returns:
            Tensor with size 1 on the axis.

        >>> Tensor([[1.0, 2.0, 6.0]]).var(1).tolist()
        [[7.0]]
        """
        return rd.var(self, axis_of(dim, self.ndim, "var"), 1)

    @compiled(core.along, rd._var_bias)
    def var_bias(self, dim):
        """Variance along an axis with n in the denominator. Mirrors `Tensor::var_bias`.

        Args:
            dim: the axis.

        Returns:
            Tensor with size 1 on the axis.

        >>> Tensor([[1.0, 3.0, 5.0, 7.0]]).var_bias(1).tolist()
        [[5.0]]
        """
        return rd.var(self, axis_of(dim, self.ndim, "var_bias"), 0, "var_bias")

    def var_mean(self, dim) -> tuple[Self, Self]:
        """(variance, mean) along an axis. Mirrors `Tensor::var_mean`.

        Args:
            dim: the axis; a single element has the variance NaN.

        Returns:
            (variance, mean), both with size 1 on the axis.

        >>> variance, mean = Tensor([[1.0, 2.0, 6.0]]).var_mean(1)
        >>> variance.tolist(), mean.tolist()
        ([[7.0]], [[3.0]])
        """
        return self.var(dim), self.mean_dim(dim)

    def var_mean_bias(self, dim) -> tuple[Self, Self]:
        """(variance with n, mean) along an axis. Mirrors `Tensor::var_mean_bias`.

        Args:
            dim: the axis.

        Returns:
            (variance, mean), both with size 1 on the axis.

        >>> variance, mean = Tensor([[1.0, 3.0, 5.0, 7.0]]).var_mean_bias(1)
        >>> variance.tolist(), mean.tolist()
        ([[5.0]], [[4.0]])
        """
        return self.var_bias(dim), self.mean_dim(dim)

    def contains_nan(self) -> Self:
        """Whether any element is NaN, [1]. Mirrors `Tensor::contains_nan`.

        >>> Tensor([1.0, float("nan")]).contains_nan().tolist()
        [True]
        """
        return rd.any_(ew.is_nan(self))


def _fold(reduce, x, dims, name):
    for d in sorted({axis_of(d, x.ndim, name, "dims") for d in ints_of(name, "dims", dims)}):
        x = reduce(x, d)
    return x
