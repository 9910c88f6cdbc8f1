"""Activation functions. Mirrors `burn::tensor::activation`."""

from burn._ops import elementwise as ew
from burn._ops import softmax as sm
from burn._ops.registry import check_tensor
from burn.tensor.shape import axis_of

__all__ = [
    "gelu",
    "gelu_approximate",
    "log_sigmoid",
    "log_softmax",
    "relu",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "tanh",
]


def relu(tensor):
    """max(0, x); NaN stays NaN and the gradient at 0 is 0.

    Args:
        tensor: Float tensor of any shape.

    Returns:
        Tensor of the same shape.

    >>> from burn.tensor import Tensor
    >>> relu(Tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    return ew.relu(tensor)


def gelu(tensor):
    """0.5 x (1 + erf(x / sqrt 2)) of a Float tensor, in the same shape."""
    return ew.gelu(tensor)


def gelu_approximate(tensor):
    """The tanh form of gelu, in the same shape."""
    return ew.gelu_approximate(tensor)


def sigmoid(tensor):
    """1 / (1 + exp(-x)) of a Float tensor, in the same shape."""
    return ew.sigmoid(tensor)


def log_sigmoid(tensor):
    """log(sigmoid(x)) of a Float tensor without overflow, in the same shape."""
    return ew.log_sigmoid(tensor)


def silu(tensor):
    """x sigmoid(x) of a Float tensor, in the same shape."""
    return ew.silu(tensor)


def tanh(tensor):
    """Hyperbolic tangent of a Float tensor, in the same shape."""
    return ew.tanh(tensor)


def softmax(tensor, dim):
    """exp(x - max) / sum along an axis, in the same shape. A row of -inf alone, or with +inf or NaN, gives NaN.

    Args:
        tensor: Float tensor of any shape.
        dim: the axis; negative counts from the end.

    >>> from burn.tensor import Tensor
    >>> softmax(Tensor([[0.0, 0.0]]), 1).tolist()
    [[0.5, 0.5]]
    """
    return sm.softmax(tensor, axis_of(dim, check_tensor("softmax", tensor, "tensor").ndim, "softmax"))


def log_softmax(tensor, dim):
    """log(softmax) along an axis without overflow, in the same shape."""
    return sm.log_softmax(tensor, axis_of(dim, check_tensor("log_softmax", tensor, "tensor").ndim, "log_softmax"))


def softmin(tensor, dim):
    """softmax of -x along an axis, in the same shape."""
    return sm.softmax(ew.neg(tensor), axis_of(dim, tensor.ndim, "softmin"))
