"""Methods of Tensor that join tensors and take them apart."""

from typing import Self

from burn._core import core
from burn._ops import movement as mv
from burn._ops.registry import check_same, check_tensor
from burn.errors import ArgumentTypeError, OutOfBoundsError, ShapeError
from burn.tensor._calls import compiled
from burn.tensor.shape import axis_of, int_of, ints_of


class JoiningMethods:
    """Methods of Tensor that join and split."""

    __slots__ = ()

    @staticmethod
    @compiled(core.join, mv._cat)
    def cat(tensors, dim):
        """Tensors joined along an axis; the other axes must agree. Mirrors `Tensor::cat`.

        Args:
            tensors: sequence of tensors of one rank, dtype and device.
            dim: the axis.

        Returns:
            Tensor whose size on the axis is the sum of theirs.

        Raises:
            ShapeError: no tensors, or another axis differs.

        >>> Tensor.cat([Tensor([1, 2]), Tensor([3])], 0).tolist()
        [1, 2, 3]
        """
        return _joined("cat", tensors, dim)

    @staticmethod
    @compiled(core.join, mv._cat, True)
    def stack(tensors, dim):
        """Tensors of one shape joined along a new axis. Mirrors `Tensor::stack`.

        Args:
            tensors: sequence of tensors of one shape, dtype and device.
            dim: place of the new axis.

        Returns:
            Tensor with one axis more.

        Raises:
            ShapeError: no tensors, or shapes differ.

        >>> Tensor.stack([Tensor([1, 2]), Tensor([3, 4])], 1).tolist()
        [[1, 3], [2, 4]]
        """
        tensors = _tensors("stack", tensors)
        for i, t in enumerate(tensors):
            if t._dims != tensors[0]._dims:
                raise ShapeError(
                    f"[stack] 'tensors' must have one shape, got {tensors[0].dims()} and {t.dims()} at {i}"
                )
        a = axis_of(dim, tensors[0].ndim + 1, "stack")
        return _joined("stack", [t.unsqueeze_dim(a) for t in tensors], a)

    @compiled(core.narrow, mv._slice)
    def narrow(self, dim, start, length):
        """length elements from start along an axis (a view). Mirrors `Tensor::narrow`.

        Args:
            dim: the axis; negative counts from the end.
            start: first position, at least 0.
            length: how many, at least 1.

        Returns:
            Tensor with size length on the axis.

        Raises:
            OutOfBoundsError: the part is empty or leaves the axis; `slice()` clamps instead.

        >>> Tensor.arange(0, 6).narrow(0, 2, 3).tolist()
        [2, 3, 4]
        """
        a = axis_of(dim, self.ndim, "narrow")
        n, start, length = self._dims[a], int_of("narrow", "start", start), int_of("narrow", "length", length)
        if length < 1 or not 0 <= start < n or start + length > n:
            raise OutOfBoundsError(
                f"[narrow] {length} elements from {start} must lie within axis {a} of size {n} and be at least 1"
            )
        starts, sizes = [0] * self.ndim, list(self._dims)
        starts[a], sizes[a] = start, length
        return mv.slice_view(self, starts, [1] * self.ndim, sizes)

    @compiled(core.split, mv._slice)
    def split(self, split_size, dim):
        """Pieces of split_size along an axis, the last one smaller. Mirrors `Tensor::split`.

        Args:
            split_size: size of the pieces.
            dim: the axis.

        Returns:
            List of tensors (views).

        >>> [part.tolist() for part in Tensor.arange(0, 5).split(2, 0)]
        [[0, 1], [2, 3], [4]]
        """
        a = axis_of(dim, self.ndim, "split")
        n, split_size = self._dims[a], int_of("split", "split_size", split_size)
        if split_size < 1 and n:
            raise ShapeError(f"[split] 'split_size' must be at least 1 for an axis of size {n}, got {split_size}")
        return [self.narrow(a, at, min(split_size, n - at)) for at in range(0, n, split_size or 1)]

    def split_with_sizes(self, sizes, dim) -> list[Self]:
        """Pieces of the given sizes along an axis; zero sizes are dropped. Mirrors `Tensor::split_with_sizes`.

        Args:
            sizes: sizes of the pieces; they add up to that of the axis.
            dim: the axis.

        Returns:
            List of tensors (views).

        Raises:
            ShapeError: another sum, or a negative size.

        >>> [part.tolist() for part in Tensor.arange(0, 5).split_with_sizes([1, 4], 0)]
        [[0], [1, 2, 3, 4]]
        """
        a = axis_of(dim, self.ndim, "split_with_sizes")
        sizes = ints_of("split_with_sizes", "sizes", sizes)
        if min(sizes, default=0) < 0:
            raise ShapeError(f"[split_with_sizes] 'sizes' must not be negative, got {list(sizes)}")
        if sum(sizes) != self._dims[a]:
            raise ShapeError(
                f"[split_with_sizes] 'sizes' must add up to {self._dims[a]} on axis {a}, got {list(sizes)}"
            )
        out, at = [], 0
        for n in sizes:
            if n:
                out.append(self.narrow(a, at, n))
            at += n
        return out

    @compiled(core.chunk, mv._slice)
    def chunk(self, chunks, dim):
        """At most `chunks` equal pieces along an axis, the last one smaller. Mirrors `Tensor::chunk`.

        Args:
            chunks: number of pieces, at least 1.
            dim: the axis.

        Returns:
            List of tensors (views).

        >>> [part.tolist() for part in Tensor.arange(0, 5).chunk(2, 0)]
        [[0, 1, 2], [3, 4]]
        """
        a = axis_of(dim, self.ndim, "chunk")
        if int_of("chunk", "chunks", chunks) < 1:
            raise ShapeError(f"[chunk] 'chunks' must be at least 1, got {chunks}")
        return self.split(max(1, -(-self._dims[a] // chunks)), a)


def _tensors(op, tensors):
    """A non-empty list of tensors."""
    if isinstance(tensors, JoiningMethods) or not hasattr(tensors, "__iter__"):
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
