"""The shape of a tensor."""

import math

from burn.errors import ArgumentTypeError, OutOfBoundsError, ShapeError

__all__ = ["Shape"]


class Shape(tuple):
    """Sizes of the axes, a tuple with a few helpers. Mirrors `burn::tensor::Shape`.

    Equal to a list of the same sizes too, since it is shown as one.

    >>> Shape([2, 3]).num_elements(), Shape([2, 3]) == [2, 3], Shape([2, 3]) == (2, 3)
    (6, True, True)
    """

    __slots__ = ()
    __hash__ = tuple.__hash__

    def __eq__(self, other):
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other):
        return tuple.__ne__(self, tuple(other) if isinstance(other, list) else other)

    def num_elements(self):
        """Product of the sizes."""
        return math.prod(self)

    def rank(self):
        """Number of axes."""
        return len(self)

    num_dims = rank

    def dims(self):
        """The sizes as a list."""
        return list(self)

    to_vec = dims

    def __str__(self):
        return str(list(self))

    def __repr__(self):
        return str(list(self))


def as_shape(value, op):
    """A tuple of non-negative ints from a number or a sequence of numbers."""
    if hasattr(value, "__index__"):
        value = (value,)
    try:
        dims = tuple([v.__index__() for v in value])
    except (TypeError, AttributeError):
        raise ShapeError(f"[{op}] 'shape' must be a sequence of ints, got {value!r}") from None
    for size in dims:
        if not 0 <= size < 1 << 63:
            raise ShapeError(f"[{op}] 'shape' must hold sizes in 0..2**63-1, got {list(dims)}")
    return dims


def ints_of(op, name, values):
    """A list of ints from one int or a sequence of ints."""
    if hasattr(values, "__index__"):
        values = (values,)
    try:
        return [v.__index__() for v in values]
    except (TypeError, AttributeError):
        raise ArgumentTypeError(f"[{op}] '{name}' must be an int or a sequence of ints, got {values!r}") from None


def int_of(op, name, value):
    """One int."""
    try:
        return value.__index__()
    except AttributeError:
        raise ArgumentTypeError(f"[{op}] '{name}' must be an int, got {value!r}") from None


def axis_of(dim, rank, op, name="dim"):
    """A non-negative axis number; negative ones count from the end."""
    try:
        axis = dim.__index__()
    except AttributeError:
        raise ArgumentTypeError(f"[{op}] '{name}' must be an int, got {dim!r}") from None
    if not -rank <= axis < rank:
        raise OutOfBoundsError(
            f"[{op}] '{name}' must lie in {-rank}..{rank - 1} for a tensor of rank {rank}, got {axis}"
        )
    return axis + rank if axis < 0 else axis
