"""Shape, joining and indexing methods of Tensor."""

from burn._core import core
from burn._ops import index as ix
from burn._ops import movement as mv
from burn._ops.registry import BOOL, INT, check_device, check_kind, check_same, check_tensor
from burn.errors import ArgumentTypeError, OutOfBoundsError, ShapeError
from burn.tensor._indexing import get_item, set_item
from burn.tensor.shape import axis_of, int_of, ints_of


class ShapingMethods:
    """Methods of Tensor that move elements."""

    __slots__ = ()

    def reshape(self, *shape):
        """The elements in another shape; -1 once is inferred, 0 copies the size of that axis. Mirrors `Tensor::reshape`.

        Raises:
            ShapeError: the number of elements differs.
        """
        out = core.reshape(mv._reshape, self, shape)
        if out is not None:
            return out
        dims = ints_of("reshape", "shape", shape[0] if len(shape) == 1 else shape)
        return mv.reshape(self, mv.resolve_reshape(self._dims, dims))

    def flatten(self, start, end):
        """The axes start to end merged into one. Mirrors `Tensor::flatten`."""
        out = core.merge_axes(mv._reshape, self, start, end)
        if out is not None:
            return out
        a, b = axis_of(start, self.ndim, "flatten", "start"), axis_of(end, self.ndim, "flatten", "end")
        if a > b:
            raise ShapeError(f"[flatten] 'start' must not come after 'end', got {start} and {end}")
        size = 1
        for n in self._dims[a : b + 1]:
            size *= n
        return mv.reshape(self, (*self._dims[:a], size, *self._dims[b + 1 :]))

    def transpose(self, *axes):
        """The last two axes exchanged (a view); a vector stays as it is. Mirrors `Tensor::transpose`."""
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

    def swap_dims(self, dim1, dim2):
        """Two axes exchanged (a view). Mirrors `Tensor::swap_dims`."""
        out = core.swap(mv._permute, self, dim1, dim2)
        if out is not None:
            return out
        a, b = axis_of(dim1, self.ndim, "swap_dims", "dim1"), axis_of(dim2, self.ndim, "swap_dims", "dim2")
        return self if a == b else mv.swap(self, a, b)

    def permute(self, *axes):
        """Axes in another order (a view). Mirrors `Tensor::permute`."""
        out = core.permute(mv._permute, self, axes)
        if out is not None:
            return out
        axes = ints_of("permute", "axes", axes[0] if len(axes) == 1 else axes)
        order = mv.normalize_axes(axes, self.ndim, "permute")
        if len(order) != self.ndim:
            raise ShapeError(
                f"[permute] 'axes' must name all {self.ndim} axes of shape {self.dims()}, got {list(axes)}"
            )
        return mv.permute(self, tuple(order))

    def movedim(self, src, dst):
        """Axes moved to other places, the rest in order (a view). Mirrors `Tensor::movedim`."""
        src, dst = ints_of("movedim", "src", src), ints_of("movedim", "dst", dst)
        s, d = (mv.normalize_axes(a, self.ndim, "movedim") for a in (src, dst))
        if len(s) != len(d):
            raise ShapeError(f"[movedim] 'src' and 'dst' must have the same length, got {src} and {dst}")
        order = [a for a in range(self.ndim) if a not in s]
        for to, axis in sorted(zip(d, s, strict=True)):
            order.insert(to, axis)
        return mv.permute(self, tuple(order))

    def flip(self, axes):
        """The order along axes reversed. Mirrors `Tensor::flip`."""
        out = core.flip(mv._slice, self, axes)
        if out is not None:
            return out
        return mv.flip(self, mv.normalize_axes(ints_of("flip", "axes", axes), self.ndim, "flip"))

    def squeeze(self):
        """All axes of size 1 removed. Mirrors `Tensor::squeeze`."""
        dims = tuple(n for n in self._dims if n != 1)
        if not dims:
            raise ShapeError(
                f"[squeeze] at least one axis must remain, got shape {self.dims()}; use squeeze_dim() or item()"
            )
        return mv.reshape(self, dims)

    def squeeze_dim(self, dim):
        """An axis of size 1 removed. Mirrors `Tensor::squeeze_dim`."""
        out = core.drop_axis(mv._reshape, self, dim)
        if out is not None:
            return out
        return _squeezed(self, [axis_of(dim, self.ndim, "squeeze_dim")])

    def squeeze_dims(self, dims):
        """Axes of size 1 removed; an empty list removes all of them. Mirrors `Tensor::squeeze_dims`."""
        dims = ints_of("squeeze_dims", "dims", dims)
        if not dims:
            return self.squeeze()
        return _squeezed(self, [axis_of(d, self.ndim, "squeeze_dims", "dims") for d in dims])

    def unsqueeze(self, rank):
        """Leading axes of size 1 added up to a rank. Mirrors `Tensor::unsqueeze`."""
        if int_of("unsqueeze", "rank", rank) < self.ndim:
            raise ShapeError(f"[unsqueeze] 'rank' must be at least {self.ndim}, the rank of the tensor, got {rank}")
        dims = (*(1,) * (rank - self.ndim), *self._dims)
        out = core.reshape(mv._reshape, self, dims)
        return mv.reshape(self, dims) if out is None else out

    def unsqueeze_dim(self, dim):
        """An axis of size 1 inserted at dim; -1 appends. Mirrors `Tensor::unsqueeze_dim`."""
        out = core.insert_axis(mv._reshape, self, dim)
        if out is not None:
            return out
        a = axis_of(dim, self.ndim + 1, "unsqueeze_dim")
        return mv.reshape(self, (*self._dims[:a], 1, *self._dims[a:]))

    def unsqueeze_dims(self, axes):
        """Several axes of size 1 inserted; the k-th negative axis counts from the end as if inserted one by one.

        Mirrors `Tensor::unsqueeze_dims`.
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

    def expand(self, *shape):
        """Axes of size 1 repeated without a copy; -1 keeps a size. Mirrors `Tensor::expand`."""
        out = core.expand(mv._expand, self, shape)
        if out is not None:
            return out
        dims = ints_of("expand", "shape", shape[0] if len(shape) == 1 else shape)
        return mv.expand(self, mv.resolve_expand(self._dims, dims))

    def repeat_dim(self, dim, times):
        """The tensor tiled along one axis. Mirrors `Tensor::repeat_dim`."""
        sizes = [1] * self.ndim
        sizes[axis_of(dim, self.ndim, "repeat_dim")] = int_of("repeat_dim", "times", times)
        return self.repeat(sizes)

    def repeat(self, sizes):
        """The whole tensor tiled along each axis; missing sizes are 1. Mirrors `Tensor::repeat`."""
        sizes = ints_of("repeat", "sizes", sizes)
        if len(sizes) > self.ndim or any(k < 0 for k in sizes):
            raise ShapeError(f"[repeat] 'sizes' must hold at most {self.ndim} non-negative counts, got {sizes}")
        out = core.repeat(mv._expand, self, sizes)
        if out is not None:
            return out
        return mv.repeat(self, sizes + [1] * (self.ndim - len(sizes)))

    def contiguous(self):
        """The tensor with row-major memory: itself, or a copy."""
        return mv.contiguous(self)

    # Joining and splitting

    @staticmethod
    def cat(tensors, dim):
        """Tensors joined along an axis; the other axes must agree. Mirrors `Tensor::cat`."""
        out = core.join(mv._cat, tensors, dim)
        if out is not None:
            return out
        return _joined("cat", tensors, dim)

    @staticmethod
    def stack(tensors, dim):
        """Tensors of one shape joined along a new axis. Mirrors `Tensor::stack`."""
        out = core.join(mv._cat, tensors, dim, True)
        if out is not None:
            return out
        tensors = _tensors("stack", tensors)
        for i, t in enumerate(tensors):
            if t._dims != tensors[0]._dims:
                raise ShapeError(
                    f"[stack] 'tensors' must have one shape, got {tensors[0].dims()} and {t.dims()} at {i}"
                )
        a = axis_of(dim, tensors[0].ndim + 1, "stack")
        return _joined("stack", [t.unsqueeze_dim(a) for t in tensors], a)

    def narrow(self, dim, start, length):
        """length elements from start along an axis (a view). Mirrors `Tensor::narrow`."""
        out = core.narrow(mv._slice, self, dim, start, length)
        if out is not None:
            return out
        a = axis_of(dim, self.ndim, "narrow")
        n, start, length = self._dims[a], int_of("narrow", "start", start), int_of("narrow", "length", length)
        if length < 1 or not 0 <= start < n or start + length > n:
            raise OutOfBoundsError(
                f"[narrow] {length} elements from {start} must lie within axis {a} of size {n} and be at least 1"
            )
        starts, sizes = [0] * self.ndim, list(self._dims)
        starts[a], sizes[a] = start, length
        return mv.slice_view(self, starts, [1] * self.ndim, sizes)

    def split(self, split_size, dim):
        """Pieces of split_size along an axis, the last one smaller. Mirrors `Tensor::split`."""
        out = core.split(mv._slice, self, split_size, dim)
        if out is not None:
            return out
        a = axis_of(dim, self.ndim, "split")
        n, split_size = self._dims[a], int_of("split", "split_size", split_size)
        if split_size < 1 and n:
            raise ShapeError(f"[split] 'split_size' must be at least 1 for an axis of size {n}, got {split_size}")
        return [self.narrow(a, at, min(split_size, n - at)) for at in range(0, n, split_size or 1)]

    def split_with_sizes(self, sizes, dim):
        """Pieces of the given sizes along an axis; zero sizes are dropped. Mirrors `Tensor::split_with_sizes`."""
        a = axis_of(dim, self.ndim, "split_with_sizes")
        sizes = ints_of("split_with_sizes", "sizes", sizes)
        if min(sizes, default=0) < 0 or sum(sizes) != self._dims[a]:
            raise ShapeError(
                f"[split_with_sizes] 'sizes' must add up to {self._dims[a]} on axis {a}, got {list(sizes)}"
            )
        out, at = [], 0
        for n in sizes:
            if n:
                out.append(self.narrow(a, at, n))
            at += n
        return out

    def chunk(self, chunks, dim):
        """At most `chunks` equal pieces along an axis, the last one smaller. Mirrors `Tensor::chunk`."""
        out = core.chunk(mv._slice, self, chunks, dim)
        if out is not None:
            return out
        a = axis_of(dim, self.ndim, "chunk")
        if int_of("chunk", "chunks", chunks) < 1:
            raise ShapeError(f"[chunk] 'chunks' must be at least 1, got {chunks}")
        return self.split(max(1, -(-self._dims[a] // chunks)), a)

    # Indexing by tensors

    def select(self, dim, indices):
        """Slices at the positions that a one-axis Int tensor names. Mirrors `Tensor::select`.

        Raises:
            IndexError: a position outside the axis, negative ones included.
        """
        out = core.indexed(ix._select, self, dim, indices)
        if out is not None:
            return out
        return ix.select(self, axis_of(dim, self.ndim, "select"), indices)

    def select_assign(self, dim, indices, values, update):
        """self with slices written or combined at positions of an axis. Mirrors `Tensor::select_assign`."""
        out = core.written(ix._select_assign, ix._scatter_step, self, dim, indices, values, ix.mode_of(update))
        if out is not None:
            return out
        return ix.select_assign(self, axis_of(dim, self.ndim, "select_assign"), indices, values, update)

    def gather(self, dim, indices):
        """Elements that an Int tensor of the same rank names along an axis; result in its shape. Mirrors `Tensor::gather`."""
        out = core.indexed(ix._gather, self, dim, indices)
        if out is not None:
            return out
        return ix.gather(self, axis_of(dim, self.ndim, "gather"), indices)

    def scatter(self, dim, indices, values, update):
        """self with values written or combined at indices along an axis. Mirrors `Tensor::scatter`."""
        out = core.written(ix._scatter, ix._scatter_step, self, dim, indices, values, ix.mode_of(update))
        if out is not None:
            return out
        return ix.scatter(self, axis_of(dim, self.ndim, "scatter"), indices, values, update)

    def take(self, dim, indices):
        """Slices at the positions of an Int tensor of any rank. Mirrors `Tensor::take`."""
        a = axis_of(dim, self.ndim, "take")
        check_kind("take", check_tensor("take", indices, "indices"), INT, "indices")
        flat = ix.select(self, a, mv.reshape(indices, (indices._size,)))
        return mv.reshape(flat, (*self._dims[:a], *indices._dims, *self._dims[a + 1 :]))

    def mask_select(self, mask):
        """Elements where a Bool tensor of the same shape is true, as a vector. Mirrors `Tensor::mask_select`."""
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


def _tensors(op, tensors):
    """A non-empty list of tensors."""
    if isinstance(tensors, ShapingMethods) or not hasattr(tensors, "__iter__"):
        raise ArgumentTypeError(f"[{op}] 'tensors' must be a sequence of tensors, got {type(tensors).__name__}")
    tensors = list(tensors)
    if not tensors:
        raise ShapeError(f"[{op}] 'tensors' must not be empty")
    for i, t in enumerate(tensors):
        check_tensor(op, t, f"tensors[{i}]")
    return tensors


def _joined(op, tensors, dim):
    tensors = _tensors(op, tensors)
    first = tensors[0]
    a = axis_of(dim, first.ndim, op)
    tracked = next((t for t in tensors if t._ctx), first)
    for i, t in enumerate(tensors):
        check_same(op, first, t, f"tensors[{i}]")
        check_same(op, tracked, t, f"tensors[{i}]")
        if t.ndim != first.ndim or any(
            m != n for k, (m, n) in enumerate(zip(t._dims, first._dims, strict=True)) if k != a
        ):
            raise ShapeError(
                f"[{op}] 'tensors' must agree on all axes but {a}, got shapes {first.dims()} and {t.dims()} at position {i}"
            )
    if len(tensors) > 60:
        tensors = [_joined(op, tensors[k : k + 60], a) for k in range(0, len(tensors), 60)]
        return _joined(op, tensors, a)
    return mv.cat(tensors, a)
