"""Windows: weights that fall off towards the ends of a piece of a signal."""

import numpy as np

from burn._arguments import no_memory, truth
from burn.errors import ShapeError
from burn.tensor import Tensor
from burn.tensor._calls import teach_functions
from burn.tensor._options import options
from burn.tensor.dtype import Float
from burn.tensor.shape import int_of

__all__ = ["blackman_window", "hamming_window", "hann_window"]

_MOST = 1 << 48  # elements of a host array: what is more than a process can address, NumPy refuses in words of its own


def _window(op, size, periodic, device, dtype, weights):
    """weights[0] + weights[1] c + weights[2] c^2, with c the cosine over one turn."""
    size = int_of(op, "size", size)
    if not 0 <= size < _MOST:
        raise ShapeError(f"[{op}] 'size' must lie in 0..{_MOST - 1}, got {size}")
    periodic = truth(op, "periodic", periodic)
    device, dtype = options(device, dtype, Float, op)
    try:
        turn = 2.0 * np.pi * np.arange(size) / max(size if periodic else size - 1, 1)
        values = np.polyval(weights[::-1], np.cos(turn))
    except MemoryError as e:
        raise no_memory(op, size, e) from None
    return Tensor.from_data(np.ones(1) if size == 1 else values, device, dtype)


def hann_window(size, periodic, device=None, *, dtype=None) -> "Tensor":
    """0.5 - 0.5 cos. Mirrors `hann_window`.

    Args:
        size: number of weights; one weight is 1.
        periodic: whether the turn ends after the last weight (for transforms) or at it.
        device: a Device or a (Device, dtype) pair.
        dtype: a Float dtype; the device's default if None.

    Returns:
        Tensor [size].

    >>> hann_window(4, True).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    return _window("hann_window", size, periodic, device, dtype, (0.5, -0.5))


def hamming_window(size, periodic, device=None, *, dtype=None) -> "Tensor":
    """25/46 - 21/46 cos. Mirrors `hamming_window`; see `hann_window`.

    Args:
        size: number of weights; one weight is 1.
        periodic: whether the turn ends after the last weight (for transforms) or at it.
        device: a Device or a (Device, dtype) pair.
        dtype: a Float dtype; the device's default if None.

    Returns:
        Tensor [size].

    >>> hamming_window(4, True).tolist()
    [0.0869..., 0.5434..., 1.0, 0.5434...]
    """
    return _window("hamming_window", size, periodic, device, dtype, (25 / 46, -21 / 46))


def blackman_window(size, periodic, device=None, *, dtype=None) -> "Tensor":
    """0.42 - 0.5 cos + 0.08 cos of twice the angle. Mirrors `blackman_window`; see `hann_window`.

    Args:
        size: number of weights; one weight is 1.
        periodic: whether the turn ends after the last weight (for transforms) or at it.
        device: a Device or a (Device, dtype) pair.
        dtype: a Float dtype; the device's default if None.

    Returns:
        Tensor [size].

    >>> blackman_window(4, True).shape
    [4]
    """
    return _window("blackman_window", size, periodic, device, dtype, (0.34, -0.5, 0.16))


teach_functions(globals())
