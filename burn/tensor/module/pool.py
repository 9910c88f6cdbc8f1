"""Pooling."""

from typing import TYPE_CHECKING

from burn._arguments import given
from burn._ops import pool
from burn.tensor.ops import AvgPoolOptions, MaxPoolOptions

if TYPE_CHECKING:
    from burn.tensor import Tensor

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool2d_backward",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool2d_with_indices_backward",
]


def max_pool1d(x, options) -> "Tensor":
    """The largest element of each window along the last axis; NaN if there is one. Mirrors `max_pool1d`.

    Args:
        x: Float tensor [batch, channels, length].
        options: a MaxPoolOptions of one axis.

    Returns:
        Tensor [batch, channels, windows].

    Raises:
        ShapeError: another rank, an empty last axis, or a window larger than the padded input.

    >>> from burn import Tensor
    >>> from burn.tensor.ops import MaxPoolOptions
    >>> x = Tensor([[[3.0, 1.0, 4.0, 1.0, 5.0]]])
    >>> max_pool1d(x, MaxPoolOptions([2]).with_padding([1]).with_ceil_mode(True)).tolist()
    [[[3.0, 4.0, 5.0]]]
    """
    return pool.max_pool("max_pool1d", x, options, MaxPoolOptions, 1)


def max_pool1d_with_indices(x, options):
    """`max_pool1d`, and the position of each result along the last axis. Mirrors `max_pool1d_with_indices`.

    Of equal elements it is the first, of several NaN the last; -1 where a window lies in the padding alone.

    Args:
        x: Float tensor [batch, channels, length].
        options: a MaxPoolOptions of one axis.

    Returns:
        (values, indices), each [batch, channels, windows]; indices are Int.

    Raises:
        ShapeError: as for `max_pool1d`.

    >>> from burn import Tensor
    >>> from burn.tensor.ops import MaxPoolOptions
    >>> max_pool1d_with_indices(Tensor([[[3.0, 1.0, 4.0, 1.0]]]), MaxPoolOptions([2]))[1].tolist()
    [[[0, 2]]]
    """
    return pool.max_pool_with_indices("max_pool1d_with_indices", x, options, MaxPoolOptions, 1)


def max_pool2d(x, options) -> "Tensor":
    """The largest element of each window of a plane; NaN if there is one. Mirrors `max_pool2d`.

    Args:
        x: Float tensor [batch, channels, height, width].
        options: a MaxPoolOptions of two axes.

    Returns:
        Tensor [batch, channels, windows down, windows across].

    Raises:
        ShapeError: another rank, an empty plane, or a window larger than the padded input.

    >>> from burn import Tensor
    >>> from burn.tensor.ops import MaxPoolOptions
    >>> max_pool2d(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), MaxPoolOptions([2, 2])).tolist()
    [[[[4.0]]]]
    """
    return pool.max_pool("max_pool2d", x, options, MaxPoolOptions, 2)


def max_pool2d_with_indices(x, options):
    """`max_pool2d`, and where in its plane each result lies. Mirrors `max_pool2d_with_indices`.

    The index is ``row * width + column`` without the padding; of equal elements it is that of the first, of several NaN that
    of the last; -1 where a window lies in the padding alone.

    Args:
        x: Float tensor [batch, channels, height, width].
        options: a MaxPoolOptions of two axes.

    Returns:
        (values, indices), each [batch, channels, windows down, windows across]; indices are Int.

    Raises:
        ShapeError: as for `max_pool2d`.

    >>> from burn import Tensor
    >>> from burn.tensor.ops import MaxPoolOptions
    >>> max_pool2d_with_indices(Tensor([[[[1.0, 2.0], [9.0, 4.0]]]]), MaxPoolOptions([2, 2]))[1].tolist()
    [[[[2]]]]
    """
    return pool.max_pool_with_indices("max_pool2d_with_indices", x, options, MaxPoolOptions, 2)


def max_pool2d_with_indices_backward(
    x, kernel_size, stride, padding, dilation, ceil_mode, output_grad, indices
) -> "Tensor":
    """Gradient of the input of `max_pool2d`: each element of `output_grad` goes where its maximum came from.

    It is not differentiable itself. Mirrors `max_pool2d_with_indices_backward`.

    Args:
        x: the input, Float tensor [batch, channels, height, width].
        kernel_size, stride, padding, dilation, ceil_mode: as in the options of the forward pass.
        output_grad: gradient of the output.
        indices: the indices of `max_pool2d_with_indices`, each in its window; elements whose index is -1 are left out.

    Returns:
        Tensor of the shape of `x`.

    Raises:
        ShapeError: a gradient or indices of another shape than the output.
        IndexError: an index outside the plane.

    >>> from burn import Tensor
    >>> x, g = Tensor([[[[1.0, 2.0], [9.0, 4.0]]]]), Tensor([[[[5.0]]]])
    >>> at = Tensor([[[[2]]]])
    >>> max_pool2d_with_indices_backward(x, [2, 2], [2, 2], [0, 0], [1, 1], False, g, at).tolist()
    [[[[0.0, 0.0], [5.0, 0.0]]]]
    """
    given("max_pool2d_with_indices_backward", stride=stride, padding=padding, dilation=dilation)
    options = MaxPoolOptions(kernel_size, stride, padding, ceil_mode, dilation)
    return pool.max_pool2d_with_indices_backward(x, options, MaxPoolOptions, output_grad, indices)


def avg_pool1d(x, options) -> "Tensor":
    """The average of each window along the last axis. Mirrors `avg_pool1d`.

    Args:
        x: Float tensor [batch, channels, length].
        options: an AvgPoolOptions of one axis.

    Returns:
        Tensor [batch, channels, windows]; 0 where a window holds no element that counts.

    Raises:
        ShapeError: another rank, an empty last axis, or a window larger than the padded input.

    >>> from burn import Tensor
    >>> from burn.tensor.ops import AvgPoolOptions
    >>> options = AvgPoolOptions([2]).with_padding_pairs([(0, 1)]).with_count_include_pad(False)
    >>> avg_pool1d(Tensor([[[2.0, 4.0, 6.0, 8.0, 10.0]]]), options).tolist()
    [[[3.0, 7.0, 10.0]]]
    """
    return pool.avg_pool("avg_pool1d", x, options, AvgPoolOptions, 1)


def avg_pool2d(x, options) -> "Tensor":
    """The average of each window of a plane. Mirrors `avg_pool2d`.

    The sum is divided by the cells of the window inside the input and its padding, or, if padding is not counted, inside the
    input. Half precision is added up in f32.

    Args:
        x: Float tensor [batch, channels, height, width].
        options: an AvgPoolOptions of two axes.

    Returns:
        Tensor [batch, channels, windows down, windows across]; 0 where a window holds no element that counts.

    Raises:
        ShapeError: another rank, an empty plane, or a window larger than the padded input.

    >>> from burn import Tensor
    >>> from burn.tensor.ops import AvgPoolOptions
    >>> avg_pool2d(Tensor([[[[1.0, 2.0], [3.0, 6.0]]]]), AvgPoolOptions([2, 2])).tolist()
    [[[[3.0]]]]
    """
    return pool.avg_pool("avg_pool2d", x, options, AvgPoolOptions, 2)


def avg_pool2d_backward(x, grad, kernel_size, stride, padding, count_include_pad, ceil_mode) -> "Tensor":
    """Gradient of the input of `avg_pool2d`: each element of `grad` is spread over its window.

    It is not differentiable itself. Mirrors `avg_pool2d_backward`.

    Args:
        x: the input, Float tensor [batch, channels, height, width].
        grad: gradient of the output.
        kernel_size, stride, padding, count_include_pad, ceil_mode: as in the options of the forward pass.

    Returns:
        Tensor of the shape of `x`.

    Raises:
        ShapeError: a gradient of another shape than the output.

    >>> from burn import Tensor
    >>> x, g = Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), Tensor([[[[8.0]]]])
    >>> avg_pool2d_backward(x, g, [2, 2], [2, 2], [0, 0], True, False).tolist()
    [[[[2.0, 2.0], [2.0, 2.0]]]]
    """
    given("avg_pool2d_backward", stride=stride, padding=padding)
    options = AvgPoolOptions(kernel_size, stride, padding, ceil_mode, count_include_pad)
    return pool.avg_pool2d_backward(x, grad, options, AvgPoolOptions)


def adaptive_avg_pool1d(x, output_size) -> "Tensor":
    """Averages over windows that cut the last axis into a number of parts. Mirrors `adaptive_avg_pool1d`.

    Part o of n has the elements from ``floor(o * length / n)`` to ``ceil((o + 1) * length / n)``; parts may overlap.

    Args:
        x: Float tensor [batch, channels, length].
        output_size: the number of parts, at least 1.

    Returns:
        Tensor [batch, channels, output_size].

    Raises:
        ShapeError: another rank or an empty last axis.
        ArgumentError: a size below 1.

    >>> from burn import Tensor
    >>> adaptive_avg_pool1d(Tensor([[[1.0, 2.0, 3.0, 4.0, 5.0]]]), 3).tolist()
    [[[1.5, 3.0, 4.5]]]
    """
    return pool.adaptive_avg_pool("adaptive_avg_pool1d", x, output_size, 1)


def adaptive_avg_pool2d(x, output_size) -> "Tensor":
    """Averages over windows that cut each plane into parts, as `adaptive_avg_pool1d` does. Mirrors `adaptive_avg_pool2d`.

    Args:
        x: Float tensor [batch, channels, height, width].
        output_size: [parts down, parts across], each at least 1.

    Returns:
        Tensor [batch, channels, *output_size].

    Raises:
        ShapeError: another rank, an empty plane, or not two sizes.
        ArgumentError: a size below 1.

    >>> from burn import Tensor
    >>> adaptive_avg_pool2d(Tensor([[[[1.0, 2.0], [3.0, 6.0]]]]), [1, 1]).tolist()
    [[[[3.0]]]]
    """
    return pool.adaptive_avg_pool("adaptive_avg_pool2d", x, output_size, 2)


def adaptive_avg_pool3d(x, output_size) -> "Tensor":
    """Averages over windows that cut each volume into parts, as `adaptive_avg_pool1d` does. Mirrors `adaptive_avg_pool3d`.

    Args:
        x: Float tensor [batch, channels, depth, height, width].
        output_size: the parts along depth, height and width, each at least 1.

    Returns:
        Tensor [batch, channels, *output_size].

    Raises:
        ShapeError: another rank, an empty volume, or not three sizes.
        ArgumentError: a size below 1.

    >>> from burn import Tensor
    >>> adaptive_avg_pool3d(Tensor([[[[[1.0, 3.0]]]]]), [1, 1, 1]).tolist()
    [[[[[2.0]]]]]
    """
    return pool.adaptive_avg_pool("adaptive_avg_pool3d", x, output_size, 3)
