"""Fourier transforms along an axis. Complex numbers are pairs of real tensors; forward transforms are not scaled, inverse
ones are divided by the length. Any length is taken, where Burn takes powers of two: those of 16 to 2^19 have kernels; others,
and those on a GPU, are computed on the host through SciPy."""

from typing import TYPE_CHECKING

from burn._ops import signal as transforms
from burn._ops.registry import check_tensor
from burn.errors import ShapeError
from burn.tensor._calls import teach_functions
from burn.tensor.shape import axis_of, int_of

if TYPE_CHECKING:
    from burn.tensor import Tensor

__all__ = ["cfft", "irfft", "rfft"]

_MOST = 1 << 48  # more than a process can address, which NumPy refuses in words of its own


def _length(op, x, axis, n):
    """The length of the transform: n, or the size of the axis."""
    n = x._dims[axis] if n is None else int_of(op, "n", n)
    if not 1 <= n < _MOST:
        raise ShapeError(f"[{op}] 'n' must be at least 1 and at most {_MOST - 1}, got {n} for shape {list(x._dims)}")
    return n


def rfft(signal, dim, n=None):
    """The first half of the spectrum of real samples. Mirrors `rfft`.

    Args:
        signal: Float tensor.
        dim: axis of the samples.
        n: length of the transform; samples are cut or padded with zeros to it. Default: the size of the axis.

    Returns:
        (re, im), with n // 2 + 1 bins on the axis.

    >>> [part.tolist() for part in rfft(Tensor([1.0, -1.0]), 0)]
    [[0.0, 2.0], [0.0, 0.0]]
    """
    axis = axis_of(dim, check_tensor("rfft", signal, "signal").ndim, "rfft")
    return transforms.rfft(signal, axis, _length("rfft", signal, axis, n))


def irfft(re, im, dim, n=None) -> "Tensor":
    """The real samples of a first half of a spectrum. Mirrors `irfft`.

    Args:
        re, im: Float tensors of one shape; missing bins count as 0, surplus ones are ignored.
        dim: axis of the bins.
        n: number of samples. Default: 2 * (bins - 1).

    Returns:
        Tensor with n samples on the axis.

    >>> irfft(Tensor([0.0, 2.0]), Tensor([0.0, 0.0]), 0).tolist()
    [1.0, -1.0]
    """
    axis = axis_of(dim, check_tensor("irfft", re, "re").ndim, "irfft")
    if n is None:
        n = max(1, 2 * (re._dims[axis] - 1))
    if re._dims[axis] == 0:
        raise ShapeError(f"[irfft] 're' must have at least one bin on axis {axis}, got shape {list(re._dims)}")
    return transforms.irfft(re, im, axis, _length("irfft", re, axis, n))


def cfft(re, im, dim, n=None):
    """The spectrum of complex samples. Mirrors `cfft`.

    Args:
        re, im: Float tensors of one shape.
        dim: axis of the samples.
        n: length of the transform. Default: the size of the axis.

    Returns:
        (re, im), with n bins on the axis.

    >>> [part.tolist() for part in cfft(Tensor([1.0, 0.0]), Tensor([0.0, 1.0]), 0)]
    [[1.0, 1.0], [1.0, -1.0]]
    """
    axis = axis_of(dim, check_tensor("cfft", re, "re").ndim, "cfft")
    return transforms.cfft(re, im, axis, _length("cfft", re, axis, n))


teach_functions(globals())
