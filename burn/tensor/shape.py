"""The shape of a tensor."""

import math

from burn.errors import OutOfBoundsError, ShapeError

__all__ = ["Shape"]


class Shape(tuple):
    """Sizes of the axes, a tuple with a few helpers. Mirrors `burn::tensor::Shape`.

    >>> Shape([2, 3]).num_elements()
    6
    """

    __slots__ = ()

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
        if size < 0:
            raise ShapeError(f"[{op}] 'shape' must not hold negative sizes, got {list(dims)}")
    return dims


def axis_of(dim, rank, op, name="dim"):
    """A non-negative axis number; negative ones count from the end."""
    try:
        axis = dim.__index__()
    except AttributeError:
        raise TypeError(f"[{op}] '{name}' must be an int, got {dim!r}") from None
    if not -rank <= axis < rank:
        raise OutOfBoundsError(
            f"[{op}] '{name}' must lie in {-rank}..{rank - 1} for a tensor of rank {rank}, got {axis}"
        )
    return axis + rank if axis < 0 else axis
