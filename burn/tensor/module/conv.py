"""Convolutions and blocks of images."""

from typing import TYPE_CHECKING

from burn._arguments import instance
from burn._ops import conv
from burn.tensor.ops import ConvOptions, ConvTransposeOptions, DeformConvOptions, UnfoldOptions, _sizes

if TYPE_CHECKING:
    from burn.tensor import Tensor

__all__ = [
    "conv1d",
    "conv2d",
    "conv2d_weight_backward",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "deform_conv2d",
    "fold4d",
    "unfold4d",
]


def _options(op, options, kind):
    instance(op, "options", options, kind, f"use {kind.__name__}(...)")
    return options


def conv1d(x, weight, bias, options) -> "Tensor":
    """Cross-correlation along one axis, with zeros around. Mirrors `conv1d`.

    The zeros around add nothing, not even where a weight is infinite (PyTorch has NaN there).

    Args:
        x: Float tensor [batch, channels_in, length].
        weight: [channels_out, channels_in / groups, kernel], not flipped.
        bias: [channels_out] or None.
        options: `ConvOptions` for one axis.

    Returns:
        Tensor [batch, channels_out, (length + before + after - dilation (kernel - 1) - 1) // stride + 1].

    Raises:
        ShapeError: sizes that do not fit, or a kernel larger than the padded input.

    >>> from burn.tensor import Tensor
    >>> conv1d(Tensor([[[1.0, 2.0, 4.0]]]), Tensor([[[1.0, -1.0]]]), None, ConvOptions([1], [0], [1], 1)).tolist()
    [[[-1.0, -2.0]]]
    """
    return conv.conv(x, weight, bias, _options("conv1d", options, ConvOptions), 1)


def conv2d(x, weight, bias, options) -> "Tensor":
    """Cross-correlation along two axes, with zeros around. Mirrors `conv2d`.

    Args:
        x: Float tensor [batch, channels_in, height, width].
        weight: [channels_out, channels_in / groups, kernel height, kernel width], not flipped.
        bias: [channels_out] or None.
        options: `ConvOptions` for two axes; padding may differ before and after.

    Returns:
        Tensor [batch, channels_out, height out, width out], sizes as for `conv1d`.

    Raises:
        ShapeError: sizes that do not fit, or a kernel larger than the padded input.

    >>> from burn.tensor import Tensor
    >>> x, weight = Tensor.ones([1, 2, 3, 3]), Tensor.ones([1, 2, 2, 2])
    >>> conv2d(x, weight, None, ConvOptions([2, 2], [1, 1], [1, 1], 1)).tolist()
    [[[[2.0, 4.0], [4.0, 8.0]]]]
    """
    return conv.conv(x, weight, bias, _options("conv2d", options, ConvOptions), 2)


def conv3d(x, weight, bias, options) -> "Tensor":
    """Cross-correlation along three axes, with zeros around. Mirrors `conv3d`, which refuses uneven padding.

    Args:
        x: Float tensor [batch, channels_in, depth, height, width].
        weight: [channels_out, channels_in / groups, *kernel], not flipped.
        bias: [channels_out] or None.
        options: `ConvOptions` for three axes.

    Returns:
        Tensor [batch, channels_out, depth out, height out, width out], sizes as for `conv1d`.

    Raises:
        ShapeError: sizes that do not fit, or a kernel larger than the padded input.

    >>> from burn.tensor import Tensor
    >>> x, weight = Tensor.ones([1, 1, 2, 2, 2]), Tensor.ones([1, 1, 2, 2, 2])
    >>> conv3d(x, weight, Tensor([1.0]), ConvOptions([1] * 3, [0] * 3, [1] * 3, 1)).tolist()
    [[[[[9.0]]]]]
    """
    return conv.conv(x, weight, bias, _options("conv3d", options, ConvOptions), 3)


def conv_transpose1d(x, weight, bias, options) -> "Tensor":
    """Each element spreads the kernel over the output: the adjoint of `conv1d`. Mirrors `conv_transpose1d`.

    Args:
        x: Float tensor [batch, channels_in, length].
        weight: [channels_in, channels_out / groups, kernel].
        bias: [channels_out] or None.
        options: `ConvTransposeOptions` for one axis.

    Returns:
        Tensor [batch, channels_out, (length - 1) stride + dilation (kernel - 1) + 1 + padding_out - 2 padding].

    Raises:
        ShapeError: sizes that do not fit, or an output without elements.

    >>> from burn.tensor import Tensor
    >>> options = ConvTransposeOptions([2], [0], [0], [1], 1)
    >>> conv_transpose1d(Tensor([[[4.0, -1.0]]]), Tensor([[[1.0, 2.0]]]), None, options).tolist()
    [[[4.0, 8.0, -1.0, -2.0]]]
    """
    return conv.conv_transpose(x, weight, bias, _options("conv_transpose1d", options, ConvTransposeOptions), 1)


def conv_transpose2d(x, weight, bias, options) -> "Tensor":
    """The adjoint of `conv2d`. Mirrors `conv_transpose2d`.

    Args:
        x: Float tensor [batch, channels_in, height, width].
        weight: [channels_in, channels_out / groups, kernel height, kernel width].
        bias: [channels_out] or None.
        options: `ConvTransposeOptions` for two axes.

    Returns:
        Tensor [batch, channels_out, height out, width out], sizes as for `conv_transpose1d`.

    Raises:
        ShapeError: sizes that do not fit, or an output without elements.

    >>> from burn.tensor import Tensor
    >>> options = ConvTransposeOptions([1, 1], [0, 0], [0, 0], [1, 1], 1)
    >>> conv_transpose2d(Tensor.ones([1, 1, 2, 2]), Tensor.ones([1, 1, 2, 2]), None, options).tolist()
    [[[[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]]]
    """
    return conv.conv_transpose(x, weight, bias, _options("conv_transpose2d", options, ConvTransposeOptions), 2)


def conv_transpose3d(x, weight, bias, options) -> "Tensor":
    """The adjoint of `conv3d`. Mirrors `conv_transpose3d`.

    Args:
        x: Float tensor [batch, channels_in, depth, height, width].
        weight: [channels_in, channels_out / groups, *kernel].
        bias: [channels_out] or None.
        options: `ConvTransposeOptions` for three axes.

    Returns:
        Tensor [batch, channels_out, depth out, height out, width out], sizes as for `conv_transpose1d`.

    Raises:
        ShapeError: sizes that do not fit, or an output without elements.

    >>> from burn.tensor import Tensor
    >>> options = ConvTransposeOptions([2] * 3, [0] * 3, [0] * 3, [1] * 3, 1)
    >>> conv_transpose3d(Tensor.ones([1, 1, 1, 1, 2]), Tensor.ones([1, 1, 1, 1, 1]), None, options).tolist()
    [[[[[1.0, 0.0, 1.0]]]]]
    """
    return conv.conv_transpose(x, weight, bias, _options("conv_transpose3d", options, ConvTransposeOptions), 3)


def deform_conv2d(x, offset, weight, mask, bias, options) -> "Tensor":
    """`conv2d` whose samples lie off the grid, each moved by an offset and weighted by a mask. Mirrors `deform_conv2d`.

    A sample is bilinear; corners outside of x count as 0, and so does a sample at or beyond -1 or the size.

    Args:
        x: Float tensor [batch, channels_in, height, width].
        offset: [batch, offset_groups * kernel height * kernel width * 2, height out, width out]: for each element of the kernel
            the shift along the height, then along the width.
        weight: [channels_out, channels_in / weight_groups, kernel height, kernel width].
        mask: [batch, offset_groups * kernel height * kernel width, height out, width out] or None.
        bias: [channels_out] or None.
        options: `DeformConvOptions`.

    Returns:
        Tensor [batch, channels_out, height out, width out], sizes as for `conv1d`.

    Raises:
        ShapeError: sizes that do not fit.

    >>> from burn.tensor import Tensor
    >>> x, weight = Tensor([[[[1.0, 2.0, 4.0]]]]), Tensor.ones([1, 1, 1, 1])
    >>> offset = Tensor([[[[0.0, 0.0, 0.0]], [[0.5, 0.5, 0.5]]]])
    >>> deform_conv2d(x, offset, weight, None, None, DeformConvOptions([1, 1], [0, 0], [1, 1], 1, 1)).tolist()
    [[[[1.5, 3.0, 2.0]]]]
    """
    return conv.deform_conv2d(x, offset, weight, mask, bias, _options("deform_conv2d", options, DeformConvOptions))


def conv2d_weight_backward(x, weight, output_grad, options) -> "Tensor":
    """Gradient of the weight of `conv2d`. Mirrors `conv2d_weight_backward`.

    Args:
        x: the input, [batch, channels_in, height, width].
        weight: [channels_out, channels_in / groups, kernel height, kernel width]; only its shape matters.
        output_grad: gradient of the output, in its shape.
        options: `ConvOptions` of the convolution.

    Returns:
        Tensor of the weight's shape, untracked.

    Raises:
        ShapeError: sizes that do not fit.

    >>> from burn.tensor import Tensor
    >>> x, g = Tensor([[[[1.0, 2.0]]]]), Tensor([[[[3.0, 5.0]]]])
    >>> conv2d_weight_backward(x, Tensor.ones([1, 1, 1, 1]), g, ConvOptions([1, 1], [0, 0], [1, 1], 1)).tolist()
    [[[[13.0]]]]
    """
    return conv.conv2d_weight_backward(x, weight, output_grad, _options("conv2d_weight_backward", options, ConvOptions))


def unfold4d(x, kernel_size, options) -> "Tensor":
    """Blocks of images as columns. Mirrors `unfold4d`.

    Args:
        x: Float tensor [batch, channels, height, width].
        kernel_size: [height, width] of a block.
        options: `UnfoldOptions`.

    Returns:
        Tensor [batch, channels * block height * block width, blocks]: row (c, i, j) holds element (i, j) of channel c of each
        block, blocks row by row.

    Raises:
        ShapeError: a rank other than 4, or blocks larger than the padded image.

    >>> from burn.tensor import Tensor
    >>> unfold4d(Tensor([[[[1.0, 2.0, 4.0]]]]), [1, 2], UnfoldOptions([1, 1], [0, 0], [1, 1])).tolist()
    [[[1.0, 2.0], [2.0, 4.0]]]
    """
    options = _options("unfold4d", options, UnfoldOptions)
    return conv.unfold4d(x, _sizes("unfold4d", "kernel_size", kernel_size, 1, 2), options)


def fold4d(x, output_size, kernel_size, options) -> "Tensor":
    """The adjoint of `unfold4d`: columns back to images, overlapping elements added. Mirrors `fold4d`.

    Args:
        x: Float tensor [batch, channels * block height * block width, blocks].
        output_size: [height, width] of the images.
        kernel_size: [height, width] of a block.
        options: `UnfoldOptions`.

    Returns:
        Tensor [batch, channels, height, width].

    Raises:
        ShapeError: a rank other than 3, or channels or blocks that do not fit.

    >>> from burn.tensor import Tensor
    >>> fold4d(Tensor([[[1.0, 2.0], [2.0, 4.0]]]), [1, 3], [1, 2], UnfoldOptions([1, 1], [0, 0], [1, 1])).tolist()
    [[[[1.0, 4.0, 4.0]]]]
    """
    options = _options("fold4d", options, UnfoldOptions)
    output_size = _sizes("fold4d", "output_size", output_size, 1, 2)
    return conv.fold4d(x, output_size, _sizes("fold4d", "kernel_size", kernel_size, 1, 2), options)
