"""Methods of Tensor that take and write parts by Burn's slices and by tuples of indices."""

from typing import Self

from burn._core import core
from burn._ops import index as ix
from burn._ops import movement as mv
from burn._ops.registry import BOOL, NUMERIC, check_kind, check_same, check_tensor, number
from burn.errors import OutOfBoundsError, ShapeError
from burn.tensor._calls import compiled
from burn.tensor.indexing import Slice, windows_of
from burn.tensor.shape import axis_of, int_of


class SlicingMethods:
    """Methods of Tensor on parts."""

    __slots__ = ()

    @compiled(core.parts, mv._slice)
    def slice(self, slices):
        """A part given by an entry an axis; bounds are clamped, every axis is kept (a view). Mirrors `Tensor::slice`.

        Args:
            slices: an int, slice, range or Slice, or a sequence of them; `burn.tensor.s[...]` makes it. A negative step walks
                the range from its end, as in Burn; use `x[...]` for NumPy's rules.

        Returns:
            Tensor of the same rank.

        >>> from burn.tensor import s
        >>> Tensor.arange(0, 10).slice(s[2:8:-2]).tolist()
        [7, 5, 3]
        """
        return mv.slice_view(self, *windows_of("slice", slices, self._dims))

    def slice_assign(self, slices, values) -> Self:
        """self with a part replaced by values, which has exactly its shape. Mirrors `Tensor::slice_assign`.

        Args:
            slices: as for `slice`.
            values: tensor of the part's shape, in the dtype of self.

        Returns:
            Tensor of the same shape; self is not changed.

        Raises:
            ShapeError: values has another shape than the part.

        >>> from burn.tensor import s
        >>> Tensor.zeros([2, 3]).slice_assign(s[:, 1:2], Tensor([[5.0], [6.0]])).tolist()
        [[0.0, 5.0, 0.0], [0.0, 6.0, 0.0]]
        """
        starts, steps, sizes = windows_of("slice_assign", slices, self._dims)
        check_same("slice_assign", self, check_tensor("slice_assign", values, "values"), "values")
        if values._dims != tuple(sizes):
            raise ShapeError(
                f"[slice_assign] 'values' must have the shape of the part {sizes}, got {values.dims()} for shape "
                f"{self.dims()}; expand() it"
            )
        return mv.slice_assign(self, starts, steps, values)

    def slice_fill(self, slices, value) -> Self:
        """self with a part replaced by one number. Mirrors `Tensor::slice_fill`.

        Args:
            slices: as for `slice`.
            value: a number.

        Returns:
            Tensor of the same shape; self is not changed.

        >>> from burn.tensor import s
        >>> Tensor.zeros([2, 3]).slice_fill(s[0, 1:], 7.0).tolist()
        [[0.0, 7.0, 7.0], [0.0, 0.0, 0.0]]
        """
        starts, steps, sizes = windows_of("slice_fill", slices, self._dims)
        pair = number("slice_fill", self, value, "value")
        fill = mv.full_like_shape((1,), self._dtype, self._slot, 0, pair)
        return mv.slice_assign(self, starts, steps, mv.expand(fill, sizes))

    def slice_dim(self, dim, slice) -> Self:
        """A part of one axis, by an int, slice, range or Slice (a view). Mirrors `Tensor::slice_dim`.

        Args:
            dim: the axis; negative counts from the end.
            slice: an int, slice, range or Slice.

        Returns:
            Tensor of the same rank.

        >>> Tensor.arange(0, 6).reshape([2, 3]).slice_dim(1, slice(1, None)).tolist()
        [[1, 2], [4, 5]]
        """
        a = axis_of(dim, self.ndim, "slice_dim")
        return mv.slice_view(
            self, *windows_of("slice_dim", [*(Slice(0),) * a, Slice.of(slice, "slice_dim", "slice")], self._dims)
        )

    def select_dim(self, dim, index) -> Self:
        """The slice at one position of an axis, which is removed; a vector gives [1] (a view). Mirrors `Tensor::select_dim`.

        Args:
            dim: the axis; negative counts from the end.
            index: the position; negative counts from the end.

        Returns:
            Tensor with one axis less.

        Raises:
            IndexError: a position outside the axis; negative ones count from the end.

        >>> Tensor.arange(0, 6).reshape([2, 3]).select_dim(1, -1).tolist()
        [2, 5]
        """
        a = axis_of(dim, self.ndim, "select_dim")
        i, n = int_of("select_dim", "index", index), self._dims[a]
        if not -n <= i < n:
            raise OutOfBoundsError(f"[select_dim] 'index' must lie in {-n}..{n - 1} for axis {a} of size {n}, got {i}")
        part = self.slice_dim(a, i)
        return mv.reshape(part, (*self._dims[:a], *self._dims[a + 1 :]) or (1,))

    def iter_dim(self, dim):
        """The slices of size 1 along an axis, one after the other, from either end. Mirrors `Tensor::iter_dim`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Iterator of tensors that have size 1 on the axis; `len`, `reversed` and `next_back` work.

        >>> [part.tolist() for part in Tensor([[1.0, 2.0]]).iter_dim(1)]
        [[[1.0]], [[2.0]]]
        """
        return DimIter(self, axis_of(dim, self.ndim, "iter_dim"))

    def gather_nd(self, indices) -> Self:
        """The cells, or slices, that the Int tuples in the last axis of indices name. Mirrors `Tensor::gather_nd`.

        Args:
            indices: [.., k]; a tuple of k numbers names a place in the first k axes.

        Returns:
            Tensor [.., *shape[k:]].

        Raises:
            IndexError: a number outside its axis, negative ones included.

        >>> Tensor([[1, 2], [3, 4]]).gather_nd(Tensor([[0, 1], [1, 0]])).tolist()
        [2, 3]
        """
        return ix.gather_nd(self, indices)

    def scatter_nd(self, indices, values, update) -> Self:
        """self with values written or combined at the places that indices name. Mirrors `Tensor::scatter_nd`.

        Args:
            indices: [.., k], as in `gather_nd`.
            values: [.., *shape[k:]].
            update: an `IndexingUpdateOp` or its name. Of values for one place, Assign takes the last.

        Returns:
            Tensor of the same shape; self is not changed.

        Raises:
            IndexError: a number outside its axis, negative ones included; nothing is written.

        >>> Tensor.zeros([2, 2]).scatter_nd(Tensor([[0, 1], [0, 1]]), Tensor([1.0, 2.0]), "Add").tolist()
        [[0.0, 3.0], [0.0, 0.0]]
        """
        return ix.scatter_nd(self, indices, values, update)

    def argwhere(self) -> Self:
        """Where a Bool tensor is true: an Int tensor [n, rank], in row-major order. Mirrors `Tensor::argwhere`.

        >>> (Tensor([[1, 5], [7, 2]]) > 2).argwhere().tolist()
        [[0, 1], [1, 0]]
        """
        check_kind("argwhere", self, BOOL)
        return ix.places(self)

    def nonzero(self) -> list[Self]:
        """Where a Bool tensor is true: an Int vector an axis; an empty list if it is nowhere. Mirrors `Tensor::nonzero`.

        >>> [positions.tolist() for positions in (Tensor([[1, 5], [7, 2]]) > 2).nonzero()]
        [[0, 1], [1, 0]]
        """
        check_kind("nonzero", self, BOOL)
        found = ix.places(self, by_axis=True)
        n = found._dims[1]
        return [mv.reshape(found.narrow(0, axis, 1), (n,)) for axis in range(self.ndim)] if n else []

    async def argwhere_async(self):
        """`argwhere` as a coroutine. Mirrors `Tensor::argwhere_async`.

        >>> import asyncio
        >>> asyncio.run(Tensor([False, True]).argwhere_async()).tolist()
        [[1]]
        """
        return self.argwhere()

    async def nonzero_async(self):
        """`nonzero` as a coroutine. Mirrors `Tensor::nonzero_async`.

        >>> import asyncio
        >>> [positions.tolist() for positions in asyncio.run(Tensor([False, True]).nonzero_async())]
        [[1]]
        """
        return self.nonzero()

    async def mask_select_async(self, mask):
        """`mask_select` as a coroutine. Mirrors `Tensor::mask_select_async`.

        Args:
            mask: Bool tensor of the same shape.

        Returns:
            Tensor [n].

        >>> import asyncio
        >>> asyncio.run(Tensor([1, 2]).mask_select_async(Tensor([False, True]))).tolist()
        [2]
        """
        return self.mask_select(mask)

    def one_hot(self, num_classes) -> Self:
        """A new last axis with 1 at each value and 0 elsewhere, in the same dtype. Mirrors `Tensor::one_hot`.

        Negative values count from the last class, fractions are cut off.

        Args:
            num_classes: how many, from 2 to 2**31 - 1; negative values count from the last.

        Returns:
            Tensor [*shape, num_classes].

        Raises:
            OutOfBoundsError: a value that is no class, or such a number of classes.

        >>> Tensor([0, -1]).one_hot(3).tolist()
        [[1, 0, 0], [0, 0, 1]]
        """
        check_kind("one_hot", self, NUMERIC)
        return ix.hot("one_hot", self, int_of("one_hot", "num_classes", num_classes), self.ndim, (0.0, 0), (1.0, 1))

    def one_hot_fill(self, num_classes, on_value, off_value, axis) -> Self:
        """A new axis with on_value at each value and off_value elsewhere. Mirrors `Tensor::one_hot_fill`.

        Args:
            num_classes: how many, from 2 to 2**31 - 1; negative values count from the last.
            on_value: number at each value.
            off_value: number elsewhere.
            axis: place of the new axis, in -(rank + 1)..rank.

        Returns:
            Tensor of the same dtype, with one axis more.

        Raises:
            OutOfBoundsError: a value that is no class, or such a number of classes.

        >>> Tensor([0, 2]).one_hot_fill(3, 5, 0, -1).tolist()
        [[5, 0, 0], [0, 0, 5]]
        """
        a = axis_of(axis, self.ndim + 1, "one_hot_fill", "axis")
        check_kind("one_hot_fill", self, NUMERIC)
        on, off = (number("one_hot_fill", self, v, n) for v, n in ((on_value, "on_value"), (off_value, "off_value")))
        return ix.hot("one_hot_fill", self, int_of("one_hot_fill", "num_classes", num_classes), a, off, on)


class DimIter:
    """Iterator over the slices of an axis; it knows how many are left, and `next_back` takes the last."""

    def __init__(self, x, axis):
        self._x, self._axis, self._at, self._end = x, axis, 0, x._dims[axis]

    def __iter__(self):
        return self

    def __next__(self):
        if self._at >= self._end:
            raise StopIteration
        self._at += 1
        return self._x.slice_dim(self._axis, self._at - 1)

    def next_back(self):
        """The last slice that is left, or None. Mirrors `DoubleEndedIterator::next_back`."""
        if self._at >= self._end:
            return None
        self._end -= 1
        return self._x.slice_dim(self._axis, self._end)

    def __reversed__(self):
        return iter(self.next_back, None)

    def __len__(self):
        return self._end - self._at
