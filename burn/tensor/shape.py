"""The shape of a tensor."""

import math
import operator

from burn._arguments import shown
from burn.errors import ArgumentTypeError, NumberOverflowError, OutOfBoundsError, ShapeError

__all__ = ["Shape"]


class Shape(tuple):
    """Sizes of the axes, a tuple with a few helpers. Mirrors `burn::tensor::Shape`.

    Equal to a list of the same sizes too, since it is shown as one. Methods give new shapes; axes may be negative.

    >>> Shape([2, 3]).num_elements(), Shape([2, 3]) == [2, 3], Shape([2, 3]) == (2, 3)
    (6, True, True)
    >>> Shape.parse("(2, 3)").insert(1, 4), Shape([2, 1]).broadcast([2, 3]), Shape([2, 3]).ravel_index([1, -1])
    ([2, 4, 3], [2, 3], 5)
    """

    __slots__ = ()
    __hash__ = tuple.__hash__

    def __new__(cls, sizes=()):
        return tuple.__new__(cls, sizes if type(sizes) is Shape else as_shape(sizes, "Shape", "sizes"))

    def __eq__(self, other):
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __call__(self):
        raise ArgumentTypeError("[shape] is an attribute: write it without (), or call dims() of a tensor for a list")

    def __ne__(self, other):
        return tuple.__ne__(self, tuple(other) if isinstance(other, list) else other)

    def num_elements(self):
        """Product of the sizes.

        >>> Shape([2, 3]).num_elements()
        6
        """
        return math.prod(self)

    def rank(self):
        """Number of axes.

        >>> Shape([2, 3]).rank()
        2
        """
        return len(self)

    num_dims = rank

    def dims(self):
        """The sizes as a list.

        >>> Shape([2, 3]).dims()
        [2, 3]
        """
        return list(self)

    to_vec = dims

    @classmethod
    def of(cls, value):
        """A Shape from an int or a sequence of ints, checked. Mirrors `Shape::from`.

        Args:
            value: an int or a sequence of ints, at least 0.

        Returns:
            Shape.

        Raises:
            ShapeError: something else.

        >>> Shape.of((2, 3)), Shape.of(4)
        ([2, 3], [4])
        """
        return cls(as_shape(value, "Shape"))

    @classmethod
    def parse(cls, text):
        """The shape that a text shows: `[2, 3]`, `(2, 3)` or `2, 3`. Mirrors `Shape::from_str`.

        Args:
            text: the text.

        Returns:
            Shape.

        Raises:
            ShapeError: any other text.

        >>> Shape.parse("(2, 3)")
        [2, 3]
        """
        inner = text.strip()
        if inner[:1] + inner[-1:] in ("[]", "()"):
            inner = inner[1:-1]
        inner = inner.strip().removesuffix(",")
        try:
            return cls.of([int(part) for part in inner.split(",")] if inner else [])
        except ValueError:
            raise ShapeError(f"[Shape.parse] 'text' must show sizes such as '[2, 3]', got {text!r}") from None

    def iter(self):
        """An iterator over the sizes. Mirrors `Shape::iter`.

        >>> list(Shape([2, 3]).iter())
        [2, 3]
        """
        return iter(self)

    def into_ranges(self):
        """One range from 0 to its size for each axis. Mirrors `Shape::into_ranges`.

        >>> Shape([2, 3]).into_ranges()
        [range(0, 2), range(0, 3)]
        """
        return [range(n) for n in self]

    def flatten(self):
        """One axis with all elements. Mirrors `Shape::flatten`.

        >>> Shape([2, 3]).flatten()
        [6]
        """
        return Shape((math.prod(self),))

    def flatten_dims(self, start, end):
        """The axes start to end merged into one. Mirrors `Shape::flatten_dims`.

        Args:
            start: first axis to merge; negative counts from the end.
            end: last axis to merge.

        Returns:
            Shape.

        Raises:
            ShapeError: start comes after end.

        >>> Shape([2, 3, 4]).flatten_dims(1, 2)
        [2, 12]
        """
        a, b = (axis_of(d, len(self), "Shape.flatten_dims") for d in (start, end))
        if a > b:
            raise ShapeError(f"[Shape.flatten_dims] 'start' must not come after 'end', got {start} and {end}")
        return Shape((*self[:a], math.prod(self[a : b + 1]), *self[b + 1 :]))

    def ravel_index(self, indices):
        """The row-major position of an element; negative coordinates count from the end. Mirrors `Shape::ravel_index`.

        Args:
            indices: one int an axis.

        Returns:
            An int.

        Raises:
            OutOfBoundsError: an index outside its axis.

        >>> Shape([2, 3]).ravel_index([1, -1])
        5
        """
        indices = ints_of("Shape.ravel_index", "indices", indices)
        if len(indices) != len(self):
            raise ShapeError(f"[Shape.ravel_index] 'indices' must hold {len(self)} ints for {self}, got {indices}")
        at = 0
        for axis, (i, n) in enumerate(zip(indices, self, strict=True)):
            if not -n <= i < n:
                raise OutOfBoundsError(
                    f"[Shape.ravel_index] index {i} is out of bounds for axis {axis} of size {n} in shape {self}"
                )
            at = at * n + i % n
        return at

    def insert(self, index, size):
        """With another axis before an axis. Mirrors `Shape::insert`.

        Args:
            index: the axis before which it comes.
            size: its size.

        Returns:
            Shape.

        >>> Shape([2, 3]).insert(1, 4)
        [2, 4, 3]
        """
        a = axis_of(index, len(self) + 1, "Shape.insert", "index")
        return Shape.of((*self[:a], size, *self[a:]))

    def remove(self, index):
        """Without an axis. Mirrors `Shape::remove`.

        Args:
            index: the axis.

        Returns:
            Shape.

        >>> Shape([2, 3]).remove(0)
        [3]
        """
        a = axis_of(index, len(self), "Shape.remove", "index")
        return Shape((*self[:a], *self[a + 1 :]))

    def push(self, size):
        """With another last axis. Mirrors `Shape::push`.

        Args:
            size: its size.

        Returns:
            Shape.

        >>> Shape([2, 3]).push(4)
        [2, 3, 4]
        """
        return Shape.of((*self, size))

    def extend(self, sizes):
        """With more last axes. Mirrors `Shape::extend`.

        Args:
            sizes: their sizes.

        Returns:
            Shape.

        >>> Shape([2, 3]).extend([4, 5])
        [2, 3, 4, 5]
        """
        return Shape.of((*self, *sizes))

    def swapped(self, dim1, dim2):
        """With two axes exchanged. Mirrors `Shape::swapped`.

        Args:
            dim1, dim2: the axes.

        Returns:
            Shape.

        >>> Shape([2, 3, 4]).swapped(0, 2)
        [4, 3, 2]
        """
        a, b = (axis_of(d, len(self), "Shape.swapped") for d in (dim1, dim2))
        sizes = list(self)
        sizes[a], sizes[b] = sizes[b], sizes[a]
        return Shape(sizes)

    def permute(self, axes):
        """With the axes in another order. Mirrors `Shape::permute`.

        Args:
            axes: all axes in their new order.

        Returns:
            Shape.

        Raises:
            ShapeError: an axis is missing or named twice.

        >>> Shape([2, 3, 4]).permute([2, 0, 1])
        [4, 2, 3]
        """
        order = [axis_of(a, len(self), "Shape.permute", "axes") for a in ints_of("Shape.permute", "axes", axes)]
        if sorted(order) != list(range(len(self))):
            raise ShapeError(f"[Shape.permute] 'axes' must name all axes of {self} once, got {list(axes)}")
        return Shape([self[a] for a in order])

    def repeat(self, dim, times):
        """With an axis repeated. Mirrors `Shape::repeat`.

        Args:
            dim: the axis.
            times: how often.

        Returns:
            Shape.

        >>> Shape([2, 3]).repeat(1, 4)
        [2, 12]
        """
        return self._with(axis_of(dim, len(self), "Shape.repeat"), lambda n: n * int_of("Shape.repeat", "times", times))

    def reduce(self, dim):
        """With an axis of size 1, as a reduction leaves it. Mirrors `Shape::reduce`.

        Args:
            dim: the axis.

        Returns:
            Shape.

        >>> Shape([2, 3]).reduce(1)
        [2, 1]
        """
        return self._with(axis_of(dim, len(self), "Shape.reduce"), lambda n: 1)

    def _with(self, axis, size):
        return Shape.of([size(n) if a == axis else n for a, n in enumerate(self)])

    @classmethod
    def cat(cls, shapes, dim):
        """The shape of tensors joined along an axis. Mirrors `Shape::cat`.

        Args:
            shapes: sequence of shapes.
            dim: the axis.

        Returns:
            Shape.

        Raises:
            ShapeError: no shapes, or another axis differs.

        >>> Shape.cat([[2, 3], [2, 5]], 1)
        [2, 8]
        """
        shapes = [cls.of(s) for s in shapes]
        if not shapes:
            raise ShapeError("[Shape.cat] 'shapes' must not be empty")
        a = axis_of(dim, len(shapes[0]), "Shape.cat")
        for s in shapes:
            if len(s) != len(shapes[0]) or s.reduce(a) != shapes[0].reduce(a):
                raise ShapeError(f"[Shape.cat] 'shapes' must agree on all axes but {a}, got {shapes[0]} and {s}")
        return shapes[0]._with(a, lambda n: sum(s[a] for s in shapes))

    def broadcast(self, other):
        """The common shape of two of one rank, where sizes of 1 stretch. Mirrors `Shape::broadcast`.

        Args:
            other: shape of the same rank.

        Returns:
            Shape.

        Raises:
            ShapeError: ranks differ, or sizes that differ and are not 1.

        >>> Shape([2, 1]).broadcast([2, 3])
        [2, 3]
        """
        return Shape.broadcast_many([self, other])

    @classmethod
    def broadcast_many(cls, shapes):
        """The common shape of several of one rank, where sizes of 1 stretch. Mirrors `Shape::broadcast_many`.

        Args:
            shapes: sequence of shapes.

        Returns:
            Shape.

        Raises:
            ShapeError: none, ranks differ, or sizes that differ and are not 1.

        >>> Shape.broadcast_many([[2, 1], [1, 3], [1, 1]])
        [2, 3]
        """
        from burn._ops.registry import broadcast

        shapes = [cls.of(s) for s in shapes]
        if not shapes:
            raise ShapeError("[Shape.broadcast_many] 'shapes' must not be empty")
        out = shapes[0]
        for s in shapes[1:]:
            out = cls(broadcast("Shape.broadcast", out, s))
        return out

    def expand(self, target):
        """The target of an expand, aligned at the right; -1 keeps a size. Mirrors `Shape::expand`.

        Args:
            target: sizes.

        Returns:
            Shape.

        >>> Shape([2, 1]).expand([-1, 3])
        [2, 3]
        """
        from burn._ops.movement import resolve_expand

        return Shape(resolve_expand(self, ints_of("Shape.expand", "target", target)))

    def reshape(self, target):
        """The target of a reshape: -1 is inferred, 0 copies a size. Mirrors `Shape::reshape`.

        Args:
            target: sizes.

        Returns:
            Shape.

        >>> Shape([2, 6]).reshape([0, 2, -1])
        [2, 2, 3]
        """
        from burn._ops.movement import resolve_reshape

        return Shape(resolve_reshape(self, ints_of("Shape.reshape", "target", target)))

    def slice(self, slices):
        """The shape of a part, given as for `Tensor.slice`. Mirrors `Shape::slice`.

        Args:
            slices: as for `Tensor.slice`.

        Returns:
            Shape.

        >>> Shape([5, 6]).slice([slice(1, 3)])
        [2, 6]
        """
        from burn.tensor.indexing import windows_of

        return Shape(windows_of("Shape.slice", slices, self)[2])

    def __str__(self):
        return str(list(self))

    def __repr__(self):
        return str(list(self))


_LIMIT = 1 << 63
_LISTS, _NO_LISTS = (list, tuple), (str, bytes, dict, set)


def _index(value):
    """The int that a value is, or None; True and False are none."""
    if type(value) is int:
        return value
    if value is True or value is False or type(value).__name__ in ("bool", "bool_"):
        return None
    try:
        return operator.index(value)
    except TypeError:  # a Float tensor has the method too
        return None


def _list_of_ints(values):
    """The ints that one int or a sequence holds, or None."""
    if isinstance(values, _LISTS):
        for value in values:
            if type(value) is not int:
                break
        else:
            return list(values)
    else:
        one = _index(values)
        if one is not None:
            return [one]
        if isinstance(values, _NO_LISTS):
            return None
    try:
        numbers = [_index(v) for v in values]
    except TypeError:
        return None
    return None if None in numbers else numbers


def as_shape(value, op, name="shape"):
    """A tuple of non-negative ints from a number or a sequence of numbers."""
    dims = _list_of_ints(value)
    if dims is None:
        raise ArgumentTypeError(f"[{op}] {name!r} must be an int or a sequence of ints, got {shown(value)}")
    for size in dims:
        if not 0 <= size < _LIMIT:
            raise ShapeError(f"[{op}] {name!r} must hold sizes in 0..2**63-1, got {shown(dims)}")
    if math.prod(dims) >= _LIMIT:
        raise ShapeError(f"[{op}] {name!r} must hold fewer than 2**63 elements, got {shown(dims)}")
    return tuple(dims)


def ints_of(op, name, values):
    """A list of 64-bit ints from one int or a sequence of ints."""
    numbers = _list_of_ints(values)
    if numbers is None:
        raise ArgumentTypeError(f"[{op}] {name!r} must be an int or a sequence of ints, got {shown(values)}")
    for number in numbers:
        if not -_LIMIT <= number < _LIMIT:
            raise NumberOverflowError(f"[{op}] {name!r} must hold ints of at most 64 bits, got {shown(values)}")
    return numbers


def int_of(op, name, value, wide=False):
    """One int, of at most 64 bits unless it may be wider."""
    number = _index(value)
    if number is None:
        raise ArgumentTypeError(f"[{op}] {name!r} must be an int, got {shown(value)}")
    if not wide and not -_LIMIT <= number < _LIMIT:
        raise NumberOverflowError(f"[{op}] {name!r} must be an int of at most 64 bits, got {shown(number)}")
    return number


def axis_of(dim, rank, op, name="dim"):
    """A non-negative axis number; negative ones count from the end."""
    axis = dim if type(dim) is int else int_of(op, name, dim)
    if not -rank <= axis < rank:
        raise OutOfBoundsError(
            f"[{op}] {name!r} must lie in {-rank}..{rank - 1} for a tensor of rank {rank}, got {shown(axis)}"
        )
    return axis + rank if axis < 0 else axis
