"""Resampling."""

from typing import TYPE_CHECKING

from burn._ops import interpolate as ops
from burn.tensor.ops import InterpolateOptions

if TYPE_CHECKING:
    from burn.tensor import Tensor

__all__ = ["interpolate"]


def interpolate(x, options) -> "Tensor":
    """Planes in another size. Mirrors `interpolate`.

    With ``ratio = size / new size``, an element at o of the result comes from the place ``(o + 0.5) * ratio - 0.5``, or, where
    the corners are aligned, ``o * (size - 1) / (new size - 1)`` (0 for a single one). Nearest takes ``floor(o * ratio)`` and
    NearestExact ``floor((o + 0.5) * ratio)``, aligned or not. Bilinear mixes 2 elements along each axis, Bicubic 4 (a = -0.75,
    the edge repeated), Lanczos3 6 (those outside left out). The ratio comes from the sizes alone, and nothing is smoothed
    before a plane shrinks.

    Args:
        x: Float tensor [batch, channels, height, width].
        options: an InterpolateOptions with an output size or a scale factor; from a factor the size is
            ``floor(size * factor)`` in double precision (Burn rounds the factor to f32 first: 10 * 0.7 is 6 there, 7 here).

    Returns:
        Tensor [batch, channels, new height, new width]; `x` itself where the size stays.

    Raises:
        ShapeError: another rank, an empty plane, or not two sizes.
        ArgumentError: options with both a size and a factor, or neither.

    >>> from burn import Tensor
    >>> from burn.tensor.ops import InterpolateMode, InterpolateOptions
    >>> options = InterpolateOptions(InterpolateMode.Bilinear).with_output_size([1, 4])
    >>> interpolate(Tensor([[[[0.0, 3.0]]]]), options).tolist()
    [[[[0.0, 1.0, 2.0, 3.0]]]]
    """
    return ops.interpolate("interpolate", x, options, InterpolateOptions)
