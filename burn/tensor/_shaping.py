"""Shape and indexing methods of Tensor."""

from typing import Self

from burn._core import core
from burn._ops import index as ix
from burn._ops import movement as mv
from burn._ops.registry import BOOL, INT, check_device, check_kind, check_tensor
from burn.errors import ArgumentTypeError, OutOfBoundsError, ShapeError
from burn.tensor._calls import compiled
from burn.tensor._indexing import get_item, set_item
from burn.tensor.shape import axis_of, int_of, ints_of


class ShapingMethods:
    """Methods of Tensor that move elements."""

    __slots__ = ()

    @compiled(core.reshape, mv._reshape)
    def reshape(self, *shape):
        """The elements in another shape; -1 once is inferred, 0 copies the size of that axis. Mirrors `Tensor::reshape`.

        Args:
            shape: sizes, as one sequence or one by one.

        Returns:
            Tensor of that shape; a view where the memory allows it.

        Raises:
            ShapeError: the number of elements differs.

        >>> x = Tensor.arange(0, 6)
        >>> x.reshape([2, -1]).tolist()
        [[0, 1, 2], [3, 4, 5]]
        """
        dims = ints_of("reshape", "shape", shape[0] if len(shape) == 1 else shape)
        return mv.reshape(self, mv.resolve_reshape(self._dims, dims))

    @compiled(core.merge_axes, mv._reshape)
    def flatten(self, start, end):
        """The axes start to end merged into one. Mirrors `Tensor::flatten`.

        Args:
            start: first axis to merge; negative counts from the end.
            end: last axis to merge.

        Returns:
            Tensor with end - start axes fewer.

        Raises:
            ShapeError: start comes after end.

        >>> Tensor.zeros([2, 3, 4]).flatten(1, -1).shape
        [2, 12]
        """
        a, b = axis_of(start, self.ndim, "flatten", "start"), axis_of(end, self.ndim, "flatten", "end")
        if a > b:
            raise ShapeError(f"[flatten] 'start' must not come after 'end', got {start} and {end}")
        size = 1
        for n in self._dims[a : b + 1]:
            size *= n
        return mv.reshape(self, (*self._dims[:a], size, *self._dims[b + 1 :]))

    def transpose(self, *axes) -> Self:
        """The last two axes exchanged (a view); a vector stays as it is. Mirrors `Tensor::transpose`.

        >>> Tensor([[1, 2], [3, 4]]).transpose().tolist()
        [[1, 3], [2, 4]]
        """
        out = None if axes else core.swap(mv._permute, self, -2, -1)
        if out is not None:
            return out
        if axes:
            raise ArgumentTypeError(
                f"[transpose] takes no 'axes', since it exchanges the last two, got {axes}; use swap_dims() or permute()"
            )
        return self if self.ndim < 2 else mv.swap(self, self.ndim - 2, self.ndim - 1)

    t = transpose

    @property
    def T(self):
        """The last two axes exchanged."""
        out = core.swap(mv._permute, self, -2, -1)
        return self.transpose() if out is None else out

    @compiled(core.swap, mv._permute)
    def swap_dims(self, dim1, dim2):
        """Two axes exchanged (a view). Mirrors `Tensor::swap_dims`.

        Args:
            dim1, dim2: the axes; negative ones count from the end.

        Returns:
            Tensor with the two sizes exchanged.

        >>> Tensor.zeros([2, 3, 4]).swap_dims(0, -1).shape
        [4, 3, 2]
        """
        a, b = axis_of(dim1, self.ndim, "swap_dims", "dim1"), axis_of(dim2, self.ndim, "swap_dims", "dim2")
        return self if a == b else mv.swap(self, a, b)

    @compiled(core.permute, mv._permute)
    def permute(self, *axes):
        """Axes in another order (a view). Mirrors `Tensor::permute`.

        Args:
            axes: all axes in their new order, as one sequence or one by one.

        Returns:
            Tensor with its sizes in that order.

        Raises:
            ShapeError: an axis is missing or named twice.

        >>> Tensor.zeros([2, 3, 4]).permute([2, 0, 1]).shape
        [4, 2, 3]
        """
        axes = ints_of("permute", "axes", axes[0] if len(axes) == 1 else axes)
        order = mv.normalize_axes(axes, self.ndim, "permute")
        if len(order) != self.ndim:
            raise ShapeError(
                f"[permute] 'axes' must name all {self.ndim} axes of shape {self.dims()}, got {list(axes)}"
            )
        return mv.permute(self, tuple(order))

    def movedim(self, src, dst) -> Self:
        """Axes moved to other places, the rest in order (a view). Mirrors `Tensor::movedim`.

        Args:
            src: one axis, or several.
            dst: where each of them goes.

        Returns:
            Tensor with its sizes in the new order.

        Raises:
            ShapeError: the two differ in length.

        >>> Tensor.zeros([2, 3, 4]).movedim(0, -1).shape
        [3, 4, 2]
        """
        src, dst = ints_of("movedim", "src", src), ints_of("movedim", "dst", dst)
        s, d = (mv.normalize_axes(a, self.ndim, "movedim") for a in (src, dst))
        if len(s) != len(d):
            raise ShapeError(f"[movedim] 'src' and 'dst' must have the same length, got {src} and {dst}")
        order = [a for a in range(self.ndim) if a not in s]
        for to, axis in sorted(zip(d, s, strict=True)):
            order.insert(to, axis)
        return mv.permute(self, tuple(order))

    @compiled(core.flip, mv._slice)
    def flip(self, axes):
        """The order along axes reversed. Mirrors `Tensor::flip`.

        Args:
            axes: one axis, or several.

        Returns:
            Tensor of the same shape.

        >>> Tensor([[1, 2], [3, 4]]).flip([1]).tolist()
        [[2, 1], [4, 3]]
        """
        return mv.flip(self, mv.normalize_axes(ints_of("flip", "axes", axes), self.ndim, "flip"))

    def squeeze(self) -> Self:
        """All axes of size 1 removed. Mirrors `Tensor::squeeze`.

        Raises:
            ShapeError: all sizes are 1.

        >>> Tensor.zeros([2, 1, 3]).squeeze().shape
        [2, 3]
        """
        dims = tuple(n for n in self._dims if n != 1)
        if not dims:
            raise ShapeError(
                f"[squeeze] at least one axis must remain, got shape {self.dims()}; use squeeze_dim() or item()"
            )
        return mv.reshape(self, dims)

    @compiled(core.drop_axis, mv._reshape)
    def squeeze_dim(self, dim):
        """An axis of size 1 removed. Mirrors `Tensor::squeeze_dim`.

        Args:
            dim: the axis; negative counts from the end.

        Returns:
            Tensor with one axis less.

        Raises:
            ShapeError: its size is not 1.

        >>> Tensor.zeros([2, 1, 3]).squeeze_dim(1).shape
        [2, 3]
        """
        return _squeezed(self, [axis_of(dim, self.ndim, "squeeze_dim")])

    def squeeze_dims(self, dims) -> Self:
        """Axes of size 1 removed; an empty list removes all of them. Mirrors `Tensor::squeeze_dims`.

        Args:
            dims: the axes.

        Returns:
            Tensor without them.

        Raises:
            ShapeError: a size that is not 1, or no axis would remain.

        >>> Tensor.zeros([1, 2, 1]).squeeze_dims([0, 2]).shape
        [2]
        """
        dims = ints_of("squeeze_dims", "dims", dims)
        if not dims:
            return self.squeeze()
        return _squeezed(self, [axis_of(d, self.ndim, "squeeze_dims", "dims") for d in dims])

    def unsqueeze(self, rank) -> Self:
        """Leading axes of size 1 added up to a rank. Mirrors `Tensor::unsqueeze`.

        Args:
            rank: number of axes of the result.

        Returns:
            Tensor [1, .., 1, *shape].

        Raises:
            ShapeError: rank is less than the tensor's.

        >>> Tensor([1.0, 2.0]).unsqueeze(3).shape
        [1, 1, 2]
        """
        if int_of("unsqueeze", "rank", rank) < self.ndim:
            raise ShapeError(f"[unsqueeze] 'rank' must be at least {self.ndim}, the rank of the tensor, got {rank}")
        dims = (*(1,) * (rank - self.ndim), *self._dims)
        out = core.reshape(mv._reshape, self, dims)
        return mv.reshape(self, dims) if out is None else out

    @compiled(core.insert_axis, mv._reshape)
    def unsqueeze_dim(self, dim):
        """An axis of size 1 inserted at dim; -1 appends. Mirrors `Tensor::unsqueeze_dim`.

        Args:
            dim: place of the new axis, in -(rank + 1)..rank.

        Returns:
            Tensor with one axis more.

        >>> Tensor([1.0, 2.0]).unsqueeze_dim(1).tolist()
        [[1.0], [2.0]]
        """
        a = axis_of(dim, self.ndim + 1, "unsqueeze_dim")
        return mv.reshape(self, (*self._dims[:a], 1, *self._dims[a:]))

    def unsqueeze_dims(self, axes) -> Self:
        """Several axes of size 1 inserted; the k-th negative axis counts from the end as if inserted one by one.

        Mirrors `Tensor::unsqueeze_dims`.

        Args:
            axes: places of the new axes in the result.

        Returns:
            Tensor with as many axes more.

        >>> Tensor.zeros([3, 4, 5]).unsqueeze_dims([0, 4]).shape
        [1, 3, 4, 5, 1]
        """
        axes = ints_of("unsqueeze_dims", "axes", axes)
        rank, negatives, places = self.ndim + len(axes), 0, []
        for a in axes:
            if not -rank <= a < rank:
                raise OutOfBoundsError(f"[unsqueeze_dims] 'axes' must lie in {-rank}..{rank - 1}, got {a}")
            if a < 0:
                negatives += 1
                a += rank - negatives + 1
            places.append(a)
        taken = set()
        for a in sorted(places):
            while a in taken:
                a += 1
            taken.add(a)
        rest = iter(self._dims)
        return mv.reshape(self, tuple(1 if i in taken else next(rest) for i in range(rank)))

    @compiled(core.expand, mv._expand)
    def expand(self, *shape):
        """Axes of size 1 repeated without a copy; -1 keeps a size. Mirrors `Tensor::expand`.

        Args:
            shape: sizes, aligned at the right; further axes may come before.

        Returns:
            Tensor of that shape (a view).

        Raises:
            ShapeError: an axis of another size than 1 would change.

        >>> Tensor([[1], [2]]).expand([2, 3]).tolist()
        [[1, 1, 1], [2, 2, 2]]
        """
        dims = ints_of("expand", "shape", shape[0] if len(shape) == 1 else shape)
        return mv.expand(self, mv.resolve_expand(self._dims, dims))

    def repeat_dim(self, dim, times) -> Self:
        """The tensor tiled along one axis. Mirrors `Tensor::repeat_dim`.

        Args:
            dim: the axis; negative counts from the end.
            times: how often, at least 0.

        Returns:
            Tensor with times the size on the axis.

        >>> Tensor([1, 2]).repeat_dim(0, 2).tolist()
        [1, 2, 1, 2]
        """
        sizes = [1] * self.ndim
        sizes[axis_of(dim, self.ndim, "repeat_dim")] = int_of("repeat_dim", "times", times)
        return self.repeat(sizes)

    @compiled(core.repeat, mv._expand)
    def repeat(self, sizes):
        """The whole tensor tiled along each axis; missing sizes are 1. Mirrors `Tensor::repeat`.

        Args:
            sizes: how often along each axis, from the first.

        Returns:
            Tensor with the sizes multiplied. NumPy's `tile`.

        Raises:
            ShapeError: more counts than axes, or a negative one.

        >>> Tensor([[1, 2]]).repeat([2, 2]).tolist()
        [[1, 2, 1, 2], [1, 2, 1, 2]]
        """
        sizes = ints_of("repeat", "sizes", sizes)
        if len(sizes) > self.ndim or any(k < 0 for k in sizes):
            raise ShapeError(f"[repeat] 'sizes' must hold at most {self.ndim} non-negative counts, got {sizes}")
        return mv.repeat(self, sizes + [1] * (self.ndim - len(sizes)))

    def contiguous(self) -> Self:
        """The tensor with row-major memory: itself, or a copy.

        >>> Tensor([[1, 2], [3, 4]]).transpose().contiguous().tolist()
        [[1, 3], [2, 4]]
        """
        return mv.contiguous(self)

    # Indexing by tensors

    @compiled(core.indexed, ix._select)
    def select(self, dim, indices):
        """Slices at the positions that a one-axis Int tensor names. Mirrors `Tensor::select`.

        Args:
            dim: the axis; negative counts from the end.
            indices: Int tensor [n] of positions.

        Returns:
            Tensor with size n on the axis.

        Raises:
            IndexError: a position outside the axis, negative ones included.

        >>> Tensor([10, 20, 30]).select(0, Tensor([2, 0, 0])).tolist()
        [30, 10, 10]
        """
        return ix.select(self, axis_of(dim, self.ndim, "select"), indices)

    def select_assign(self, dim, indices, values, update) -> Self:
        """self with slices written or combined at positions of an axis. Mirrors `Tensor::select_assign`.

        Args:
            dim: the axis; negative counts from the end.
            indices: Int tensor [n] of positions; with Assign the last of equal ones counts.
            values: tensor like self, with size n on the axis.
            update: an `IndexingUpdateOp` or its name: Assign, Add, Mul, Min or Max.

        Returns:
            Tensor of the same shape; self is not changed.

        Raises:
            IndexError: a position outside the axis, negative ones included; nothing is written.

        >>> Tensor([1, 2, 3]).select_assign(0, Tensor([0, 0, 2]), Tensor([10, 20, 30]), "Add").tolist()
        [31, 2, 33]
        """
        out = core.written(ix._select_assign, ix._scatter_step, self, dim, indices, values, ix.mode_of(update))
        if out is not None:
            return out
        return ix.select_assign(self, axis_of(dim, self.ndim, "select_assign"), indices, values, update)

    @compiled(core.indexed, ix._gather)
    def gather(self, dim, indices):
        """Elements that an Int tensor of the same rank names along an axis; result in its shape. Mirrors `Tensor::gather`.

        Args:
            dim: the axis; negative counts from the end.
            indices: Int tensor that has the sizes of self on all other axes.

        Returns:
            Tensor of the shape of indices.

        Raises:
            IndexError: a position outside the axis, negative ones included.

        >>> Tensor([[1, 2], [3, 4]]).gather(1, Tensor([[1], [0]])).tolist()
        [[2], [3]]
        """
        return ix.gather(self, axis_of(dim, self.ndim, "gather"), indices)

    def scatter(self, dim, indices, values, update) -> Self:
        """self with values written or combined at indices along an axis. Mirrors `Tensor::scatter`.

        Args:
            dim: the axis; negative counts from the end.
            indices: Int tensor that has the sizes of self on all other axes.
            values: tensor of the shape of indices, in the dtype of self.
            update: an `IndexingUpdateOp` or its name: Assign, Add, Mul, Min or Max.

        Returns:
            Tensor of the same shape; self is not changed.

        Raises:
            IndexError: a position outside the axis, negative ones included; nothing is written.

        >>> x = Tensor.zeros([2, 3])
        >>> x.scatter(1, Tensor([[0], [2]]), Tensor([[5.0], [6.0]]), "Add").tolist()
        [[5.0, 0.0, 0.0], [0.0, 0.0, 6.0]]
        """
        out = core.written(ix._scatter, ix._scatter_step, self, dim, indices, values, ix.mode_of(update))
        if out is not None:
            return out
        return ix.scatter(self, axis_of(dim, self.ndim, "scatter"), indices, values, update)

    def take(self, dim, indices) -> Self:
        """Slices at the positions of an Int tensor of any rank. Mirrors `Tensor::take`.

        Args:
            dim: the axis; negative counts from the end.
            indices: Int tensor of any shape.

        Returns:
            Tensor [*shape[:dim], *indices.shape, *shape[dim + 1:]].

        Raises:
            IndexError: a position outside the axis, negative ones included.

        >>> Tensor([10, 20, 30]).take(0, Tensor([[0, 1], [2, 0]])).tolist()
        [[10, 20], [30, 10]]
        """
        a = axis_of(dim, self.ndim, "take")
        check_kind("take", check_tensor("take", indices, "indices"), INT, "indices")
        flat = ix.select(self, a, mv.reshape(indices, (indices._size,)))
        return mv.reshape(flat, (*self._dims[:a], *indices._dims, *self._dims[a + 1 :]))

    def mask_select(self, mask) -> Self:
        """Elements where a Bool tensor of the same shape is true, as a vector. Mirrors `Tensor::mask_select`.

        Args:
            mask: Bool tensor.

        Returns:
            Tensor [n] in row-major order. Their number must be known, so a GPU is waited for.

        Raises:
            ShapeError: mask is not Bool, or has another shape.

        >>> x = Tensor([[1, 5], [7, 2]])
        >>> x.mask_select(x > 2).tolist()
        [5, 7]
        """
        check_kind("mask_select", check_tensor("mask_select", mask, "mask"), BOOL, "mask")
        check_device("mask_select", self, mask, "mask")
        if mask._dims != self._dims:
            raise ShapeError(f"[mask_select] 'mask' must have shape {self.dims()}, got {mask.dims()}")
        return ix.select(mv.reshape(self, (self._size,)), 0, ix.true_positions(mask))

    # Slicing

    def __getitem__(self, key):
        """NumPy indexing: ints drop an axis (a vector gives [1]), slices clamp, a list, an Int or a Bool tensor selects."""
        out = core.item(self, key)
        return get_item(self, key) if out is None else out

    def __setitem__(self, key, value):
        """Rebinds this name to a tensor with the part replaced; views and clones keep what they had."""
        set_item(self, key, value)

    def __iter__(self):
        """Slices along the first axis."""
        return (self[i] for i in range(self._dims[0]))


def _squeezed(x, axes):
    """x without some axes of size 1."""
    for a in axes:
        if x._dims[a] != 1:
            raise ShapeError(f"[squeeze] axis {a} must have size 1, got size {x._dims[a]} in shape {x.dims()}")
    kept = tuple(n for a, n in enumerate(x._dims) if a not in axes)
    if not kept:
        raise ShapeError(f"[squeeze] at least one axis must remain, got shape {x.dims()}")
    return mv.reshape(x, kept)
