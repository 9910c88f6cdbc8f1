"""Normalisation of rows and of batches."""

from typing import TYPE_CHECKING

from burn._ops import norm
from burn._ops.norm import BatchNormTrainOutput

if TYPE_CHECKING:
    from burn.tensor import Tensor

__all__ = ["BatchNormTrainOutput", "batch_norm", "batch_norm_train", "layer_norm"]


def layer_norm(input, gamma, beta, epsilon) -> "Tensor":
    """(input - mean) / sqrt(variance + epsilon) * gamma + beta over the last axis. Mirrors `layer_norm`.

    Mean and (biased) variance are of each row; half precision is computed in f32.

    Args:
        input: Float tensor [..., d].
        gamma: [d].
        beta: [d] or None.
        epsilon: added to the variance.

    Returns:
        Tensor [..., d].

    Raises:
        ShapeError: a vector of another length.
        DTypeError: a vector of another dtype than the input.

    >>> from burn.tensor import Tensor
    >>> one = Tensor([1.0, 1.0])
    >>> layer_norm(Tensor([[1.0, 3.0]]), one, one, 0.0).tolist()
    [[0.0, 2.0]]
    """
    return norm.layer_norm(input, gamma, beta, epsilon)


def batch_norm(input, gamma, beta, mean, variance, epsilon) -> "Tensor":
    """(input - mean) / sqrt(variance + epsilon) * gamma + beta by channel with given statistics. Mirrors `batch_norm`.

    Args:
        input: Float tensor [batch, channels, ...].
        gamma, beta, mean, variance: [channels].
        epsilon: added to the variance.

    Returns:
        Tensor in the shape of the input.

    Raises:
        ShapeError: an input without channels, or a vector of another length.

    >>> from burn.tensor import Tensor
    >>> one, two, four = Tensor([1.0]), Tensor([2.0]), Tensor([4.0])
    >>> batch_norm(Tensor([[2.0], [6.0]]), one, one, two, four, 0.0).tolist()
    [[1.0], [3.0]]
    """
    return norm.batch_norm(input, gamma, beta, mean, variance, epsilon)


def batch_norm_train(input, gamma, beta, epsilon):
    """`batch_norm` with the mean and the biased variance of the batch. Mirrors `batch_norm_train`.

    The gradient of the output flows through the statistics, which come back untracked; those of an empty batch are NaN.

    Args:
        input: Float tensor [batch, channels, ...].
        gamma, beta: [channels].
        epsilon: added to the variance.

    Returns:
        BatchNormTrainOutput(output, mean, variance): the shape of the input, [channels], [channels].

    Raises:
        ShapeError: an input without channels, or a vector of another length.

    >>> from burn.tensor import Tensor
    >>> one = Tensor([1.0])
    >>> output, mean, variance = batch_norm_train(Tensor([[2.0], [6.0]]), one, one, 0.0)
    >>> output.tolist(), mean.tolist(), variance.tolist()
    ([[0.0], [2.0]], [4.0], [4.0])
    """
    return norm.batch_norm_train(input, gamma, beta, epsilon)
