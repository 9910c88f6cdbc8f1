"""Methods of Tensor that read pictures between their elements."""

from typing import Self

from burn._ops import interpolate
from burn.tensor.ops import GridSampleOptions, InterpolateMode


class SamplingMethods:
    """Part of Tensor."""

    __slots__ = ()

    def grid_sample_2d(self, grid, options=None) -> Self:
        """A picture read at the points of a grid. Mirrors `grid_sample_2d`.

        A point is (x, y), -1 and 1 being the left and right, or upper and lower, edges: those of the outermost elements, or
        their centres if the corners are aligned. Bilinear mixes the 4 elements around it, Nearest takes one (of two equally
        near ones that with the even index), Bicubic mixes 16 (a = -0.75; Burn has no such kernel). Beyond the edges there are
        zeros, the edge goes on (Border), or the picture is mirrored (Reflection). A coordinate that is infinite or NaN reads 0,
        the middle, or NaN, in this order, and no gradient flows from it.

        Args:
            grid: tensor [batch, height, width, 2] of the dtype of `self`, which is [batch, channels, rows, columns].
            options: a GridSampleOptions or a mode; bilinear with zeros outside, corners not aligned, by default.

        Returns:
            Tensor [batch, channels, height, width].

        Raises:
            ShapeError: other ranks, or batches that differ.
            DTypeError: a grid of another dtype.
            ArgumentError: a mode that there is not.

        >>> from burn import Tensor
        >>> x = Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> x.grid_sample_2d(Tensor([[[[0.0, 0.0], [-1.0, -1.0]]]])).tolist()
        [[[[2.5, 0.25]]]]
        """
        if options is None:
            options = GridSampleOptions()
        elif isinstance(options, InterpolateMode):
            options = GridSampleOptions(options)
        return interpolate.grid_sample_2d(self, grid, options, GridSampleOptions)
