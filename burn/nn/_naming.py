"""Errors of lookups that name the layer."""

import numpy as np

from burn._core import core
from burn.errors import OutOfBoundsError
from burn.tensor import Tensor


class Naming:
    """While it is entered, an index out of range raises the error of a layer, which names the first one and its place.

    A device that finds it later raises the same error then.

    Args:
        layer: its name.
        argument: name of the argument that holds the indices.
        must: what the argument must do, as a text.
        indices: the argument.
        size: indices must lie below it, and not be negative.
        also: other values that are fine.
    """

    __slots__ = ("also", "before", "indices", "size", "text")

    def __init__(self, layer: str, argument: str, must: str, indices: Tensor, size: int, also=()):
        self.text = f"[{layer}] {argument!r} must {must}"
        self.indices, self.size, self.also = indices, size, also

    def __enter__(self):
        text, shape = self.text, self.indices._dims  # what is found late must not keep the indices until then
        self.before = core.set_blame(lambda code, position, value, size: _error(text, value, position, shape))

    def __exit__(self, kind, error, trace):
        core.set_blame(self.before)
        if isinstance(error, IndexError):
            values = self.indices.numpy().ravel()
            fine = (values >= 0) & (values < self.size) | np.isin(values, self.also)
            if not fine.all():
                first = int(np.argmin(fine))
                raise _error(self.text, int(values[first]), first, self.indices._dims) from error


def _error(text: str, value: int, position: int, shape) -> OutOfBoundsError:
    place = [int(i) for i in np.unravel_index(position, shape)] if len(shape) > 1 else position
    return OutOfBoundsError(f"{text}, got {value} at position {place}")
