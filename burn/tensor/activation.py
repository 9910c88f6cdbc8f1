"""Activation functions. Mirrors `burn::tensor::activation`."""

from burn._core import core
from burn._ops import elementwise as ew
from burn._ops import movement
from burn._ops import softmax as sm
from burn._ops.registry import FLOAT, check_kind, check_same, check_tensor, number
from burn.errors import ArgumentError, ShapeError
from burn.tensor._calls import teach_functions
from burn.tensor.shape import axis_of
from burn.tensor.tensor import Tensor

__all__ = [
    "DEFAULT_SOFTPLUS_THRESHOLD", "celu", "elu", "gelu", "gelu_approximate", "glu", "hard_shrink", "hard_sigmoid",
    "hard_swish", "hardtanh", "leaky_relu", "log_sigmoid", "log_softmax", "mish", "prelu", "quiet_softmax", "relu",
    "relu6", "selu", "shrink", "sigmoid", "silu", "soft_shrink", "softmax", "softmin", "softplus",
    "softplus_with_threshold", "softsign", "tanh", "tanhshrink", "threshold", "thresholded_relu",
]  # fmt: skip

_SELU_SCALE, _SELU_ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
DEFAULT_SOFTPLUS_THRESHOLD = 20.0  # of softplus: beta x above it is as good as the result


def _numbers(op, tensor, **values):
    """The numbers of an activation as floats."""
    return [v if type(v) is float else number(op, _float(op, tensor), v, name)[0] for name, v in values.items()]


def _float(op, tensor):
    """tensor, which must be a Float tensor."""
    check_kind(op, check_tensor(op, tensor, "tensor"), FLOAT, "tensor")
    return tensor


def relu(tensor) -> Tensor:
    """max(0, x); NaN stays NaN and the gradient at 0 is 0. Mirrors `relu`.

    Args:
        tensor: Float tensor of any shape.

    Returns:
        Tensor of the same shape.

    >>> relu(Tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    return ew.relu(tensor)


def gelu(tensor) -> Tensor:
    """0.5 x (1 + erf(x / sqrt 2)) of a Float tensor, in the same shape. Mirrors `gelu`.

    Args:
        tensor: Float tensor of any shape.

    Returns:
        Tensor of the same shape.

    >>> gelu(Tensor([1.0])).tolist()
    [0.8413...]
    """
    return ew.gelu(tensor)


def gelu_approximate(tensor) -> Tensor:
    """The tanh form of gelu, in the same shape. Mirrors `gelu_approximate`.

    Args:
        tensor: Float tensor of any shape.

    Returns:
        Tensor of the same shape.

    >>> gelu_approximate(Tensor([1.0])).tolist()
    [0.8411...]
    """
    return ew.gelu_approximate(tensor)


def sigmoid(tensor) -> Tensor:
    """1 / (1 + exp(-x)) of a Float tensor, in the same shape. Mirrors `sigmoid`.

    Args:
        tensor: Float tensor of any shape.

    Returns:
        Tensor of the same shape.

    >>> sigmoid(Tensor([0.0, 1.0])).tolist()
    [0.5, 0.7310...]
    """
    return ew.sigmoid(tensor)


def log_sigmoid(tensor) -> Tensor:
    """log(sigmoid(x)) of a Float tensor without overflow, in the same shape. Mirrors `log_sigmoid`.

    Args:
        tensor: Float tensor of any shape.

    Returns:
        Tensor of the same shape.

    >>> log_sigmoid(Tensor([0.0])).tolist()
    [-0.6931...]
    """
    return ew.log_sigmoid(tensor)


def silu(tensor) -> Tensor:
    """x sigmoid(x) of a Float tensor, in the same shape. Mirrors `silu`.

    Args:
        tensor: Float tensor of any shape.

    Returns:
        Tensor of the same shape.

    >>> silu(Tensor([1.0])).tolist()
    [0.7310...]
    """
    return ew.silu(tensor)


def tanh(tensor) -> Tensor:
    """Hyperbolic tangent of a Float tensor, in the same shape. Mirrors `tanh`.

    Args:
        tensor: Float tensor of any shape.

    Returns:
        Tensor of the same shape.

    >>> tanh(Tensor([0.0, 1.0])).tolist()
    [0.0, 0.7615...]
    """
    return ew.tanh(tensor)


def softmax(tensor, dim) -> Tensor:
    """exp(x - max) / sum along an axis, in the same shape. A row of -inf alone, or with +inf or NaN, gives NaN.

    Mirrors `softmax`.

    Args:
        tensor: Float tensor of any shape.
        dim: the axis; negative counts from the end.

    Returns:
        Tensor of the same shape.

    >>> softmax(Tensor([[0.0, 0.0]]), 1).tolist()
    [[0.5, 0.5]]
    """
    out = core.along(sm._softmax, tensor, dim)
    return (
        sm.softmax(tensor, axis_of(dim, check_tensor("softmax", tensor, "tensor").ndim, "softmax"))
        if out is None
        else out
    )


def log_softmax(tensor, dim) -> Tensor:
    """log(softmax) along an axis without overflow, in the same shape. Mirrors `log_softmax`.

    Args:
        tensor: Float tensor of any shape.
        dim: the axis; negative counts from the end.

    Returns:
        Tensor of the same shape.

    >>> log_softmax(Tensor([[0.0, 0.0]]), 1).tolist()
    [[-0.6931..., -0.6931...]]
    """
    out = core.along(sm._log_softmax, tensor, dim)
    return (
        sm.log_softmax(tensor, axis_of(dim, check_tensor("log_softmax", tensor, "tensor").ndim, "log_softmax"))
        if out is None
        else out
    )


def softmin(tensor, dim) -> Tensor:
    """softmax of -x along an axis, in the same shape. Mirrors `softmin`.

    Args:
        tensor: Float tensor of any shape.
        dim: the axis; negative counts from the end.

    Returns:
        Tensor of the same shape.

    >>> softmin(Tensor([[0.0, 1.0]]), 1).tolist()
    [[0.7310..., 0.2689...]]
    """
    return sm.softmax(ew.neg(tensor), axis_of(dim, check_tensor("softmin", tensor, "tensor").ndim, "softmin"))


def hard_swish(tensor) -> Tensor:
    """x clip(x / 6 + 0.5, 0, 1) of a Float tensor, in the same shape. Mirrors `hard_swish`.

    Args:
        tensor: Float tensor of any shape.

    Returns:
        Tensor of the same shape.

    >>> hard_swish(Tensor([-4.0, 1.0, 4.0])).tolist()
    [0.0, 0.6666..., 4.0]
    """
    return ew.hard_swish(tensor)


def mish(tensor) -> Tensor:
    """x tanh(log(1 + exp(x))) of a Float tensor, in the same shape. Mirrors `mish`.

    Args:
        tensor: Float tensor of any shape.

    Returns:
        Tensor of the same shape.

    >>> mish(Tensor([1.0])).tolist()
    [0.8650...]
    """
    return ew.mish(tensor)


def softsign(tensor) -> Tensor:
    """x / (1 + |x|) of a Float tensor, in the same shape; 1 and -1 at the infinities. Mirrors `softsign`.

    Args:
        tensor: Float tensor of any shape.

    Returns:
        Tensor of the same shape.

    >>> softsign(Tensor([1.0, -3.0])).tolist()
    [0.5, -0.75]
    """
    return ew.softsign(tensor)


def tanhshrink(tensor) -> Tensor:
    """x - tanh(x) of a Float tensor, in the same shape. Mirrors `tanhshrink`.

    Args:
        tensor: Float tensor of any shape.

    Returns:
        Tensor of the same shape.

    >>> tanhshrink(Tensor([1.0])).tolist()
    [0.2384...]
    """
    return ew.tanhshrink(tensor)


def relu6(tensor) -> Tensor:
    """x limited to 0..6, in the same shape. Mirrors `relu6`.

    Args:
        tensor: Float tensor of any shape.

    Returns:
        Tensor of the same shape.

    >>> relu6(Tensor([-1.0, 3.0, 8.0])).tolist()
    [0.0, 3.0, 6.0]
    """
    return ew.clamp(_float("relu6", tensor), 0.0, 6.0, "relu6")


def hardtanh(tensor, min_val, max_val) -> Tensor:
    """x limited to min_val..max_val, in the same shape. Mirrors `hardtanh`.

    Args:
        tensor: Float tensor of any shape.
        min_val: lower limit.
        max_val: upper limit.

    Returns:
        Tensor of the same shape.

    Raises:
        ArgumentError: min_val above max_val.

    >>> hardtanh(Tensor([-2.0, 0.5, 2.0]), -1.0, 1.0).tolist()
    [-1.0, 0.5, 1.0]
    """
    low, high = _numbers("hardtanh", _float("hardtanh", tensor), min_val=min_val, max_val=max_val)
    if low > high:
        raise ArgumentError(f"[hardtanh] 'min_val' must not exceed 'max_val', got {low} and {high}")
    return ew.clamp(tensor, low, high, "hardtanh")


def leaky_relu(tensor, negative_slope) -> Tensor:
    """x, times negative_slope below 0, in the same shape. Mirrors `leaky_relu`.

    Args:
        tensor: Float tensor of any shape.
        negative_slope: the slope below 0.

    Returns:
        Tensor of the same shape.

    >>> leaky_relu(Tensor([-1.0, 2.0]), 0.5).tolist()
    [-0.5, 2.0]
    """
    out = core.numbered(ew.leaky_relu.op, tensor, (negative_slope,))
    return (
        out
        if out is not None
        else ew.leaky_relu(tensor, *_numbers("leaky_relu", tensor, negative_slope=negative_slope))
    )


def prelu(tensor, alpha) -> Tensor:
    """x, times alpha below 0, in the same shape. Mirrors `prelu`.

    Args:
        tensor: Float tensor of any shape.
        alpha: [1], or [channels] for a tensor [batch, channels, ...].

    Returns:
        Tensor of the same shape.

    Raises:
        ShapeError: alpha has another length.

    >>> prelu(Tensor([-1.0, 2.0]), Tensor([0.5])).tolist()
    [-0.5, 2.0]
    """
    _float("prelu", tensor)
    check_same("prelu", tensor, check_tensor("prelu", alpha, "alpha"), "alpha")
    channels = tensor._dims[1] if tensor.ndim > 1 else 1
    if alpha.ndim != 1 or alpha._size not in (1, channels):
        raise ShapeError(
            f"[prelu] 'alpha' must have shape [1]{f' or [{channels}]' if channels != 1 else ''}, got {alpha.dims()} for a "
            f"tensor of shape {tensor.dims()}"
        )
    shape = [1] * tensor.ndim
    shape[1 if alpha._size != 1 else 0] = alpha._size
    return ew.prelu(tensor, movement.reshape(alpha, tuple(shape)))


def elu(tensor, alpha) -> Tensor:
    """x, alpha (exp(x) - 1) up to 0, in the same shape; small x keep their digits and large ones a finite gradient.

    Mirrors `elu`.

    Args:
        tensor: Float tensor of any shape.
        alpha: where negative values level off, at -alpha.

    Returns:
        Tensor of the same shape.

    >>> elu(Tensor([1.0, -1.0]), 1.0).tolist()
    [1.0, -0.6321...]
    """
    (alpha,) = _numbers("elu", tensor, alpha=alpha)
    return ew.elu(tensor, alpha, 1.0, 1.0, alpha)


def celu(tensor, alpha) -> Tensor:
    """x, alpha (exp(x / alpha) - 1) up to 0, in the same shape. Mirrors `celu`.

    Args:
        tensor: Float tensor of any shape.
        alpha: where negative values level off, at -alpha; not 0.

    Returns:
        Tensor of the same shape.

    Raises:
        ArgumentError: alpha is 0.

    >>> celu(Tensor([1.0, -1.0]), 2.0).tolist()
    [1.0, -0.7869...]
    """
    (alpha,) = _numbers("celu", tensor, alpha=alpha)
    if alpha == 0.0:
        raise ArgumentError("[celu] 'alpha' must not be 0, since x is divided by it; use relu()")
    return ew.elu(tensor, alpha, 1.0, 1.0 / alpha, 1.0, caller="celu")


def selu(tensor) -> Tensor:
    """elu with the alpha and scale of self-normalizing networks (1.6733 and 1.0507), in the same shape. Mirrors `selu`.

    Args:
        tensor: Float tensor of any shape.

    Returns:
        Tensor of the same shape.

    >>> selu(Tensor([1.0, -1.0])).tolist()
    [1.0507..., -1.1113...]
    """
    return ew.elu(tensor, _SELU_SCALE * _SELU_ALPHA, _SELU_SCALE, 1.0, _SELU_SCALE, caller="selu")


def hard_sigmoid(tensor, alpha, beta) -> Tensor:
    """alpha x + beta limited to 0..1, in the same shape. Mirrors `hard_sigmoid`.

    Args:
        tensor: Float tensor of any shape.
        alpha: the slope; Burn's layer takes 0.2.
        beta: the value at 0; Burn's layer takes 0.5.

    Returns:
        Tensor of the same shape.

    >>> hard_sigmoid(Tensor([-5.0, 0.0, 1.0]), 0.25, 0.5).tolist()
    [0.0, 0.5, 0.75]
    """
    return ew.hard_sigmoid(tensor, *_numbers("hard_sigmoid", tensor, alpha=alpha, beta=beta))


def softplus(tensor, beta) -> Tensor:
    """log(1 + exp(beta x)) / beta without overflow, in the same shape; x itself where beta x > 20. Mirrors `softplus`.

    Args:
        tensor: Float tensor of any shape.
        beta: the sharpness of the bend, not 0.

    Returns:
        Tensor of the same shape.

    Raises:
        ArgumentError: beta is 0.

    >>> softplus(Tensor([0.0, 30.0]), 1.0).tolist()
    [0.6931..., 30.0]
    """
    return _softplus("softplus", tensor, beta, DEFAULT_SOFTPLUS_THRESHOLD)


def softplus_with_threshold(tensor, beta, threshold) -> Tensor:
    """softplus that is x itself where beta x > threshold. Mirrors `softplus_with_threshold`.

    Args:
        tensor: Float tensor of any shape.
        beta: the sharpness of the bend, not 0.
        threshold: where the line begins.

    Returns:
        Tensor of the same shape.

    >>> softplus_with_threshold(Tensor([0.0, 3.0]), 1.0, 2.0).tolist()
    [0.6931..., 3.0]
    """
    return _softplus("softplus_with_threshold", tensor, beta, threshold)


def _softplus(op, tensor, beta, threshold):
    beta, threshold = _numbers(op, tensor, beta=beta, threshold=threshold)
    if beta == 0.0:
        raise ArgumentError(f"[{op}] 'beta' must not be 0, since the result is divided by it")
    return ew.softplus(tensor, beta, threshold, caller=op)


def hard_shrink(tensor, lambda_) -> Tensor:
    """x, 0 where |x| <= lambda_, in the same shape. Mirrors `hard_shrink`.

    Args:
        tensor: Float tensor of any shape.
        lambda_: half the width of what becomes 0.

    Returns:
        Tensor of the same shape.

    >>> hard_shrink(Tensor([0.4, -1.0]), 0.5).tolist()
    [0.0, -1.0]
    """
    return ew.shrink(tensor, *_numbers("hard_shrink", tensor, lambda_=lambda_), 0.0, caller="hard_shrink")


def soft_shrink(tensor, lambda_) -> Tensor:
    """x moved toward 0 by lambda_, 0 where |x| <= lambda_, in the same shape. Mirrors `soft_shrink`.

    Args:
        tensor: Float tensor of any shape.
        lambda_: half the width of what becomes 0, and the shift of the rest.

    Returns:
        Tensor of the same shape.

    >>> soft_shrink(Tensor([0.25, -1.0]), 0.5).tolist()
    [0.0, -0.5]
    """
    (cut,) = _numbers("soft_shrink", tensor, lambda_=lambda_)
    return ew.shrink(tensor, cut, cut, caller="soft_shrink")


def shrink(tensor, lambda_, bias) -> Tensor:
    """x moved toward 0 by bias, 0 where |x| <= lambda_, in the same shape. Mirrors `shrink`.

    Args:
        tensor: Float tensor of any shape.
        lambda_: half the width of what becomes 0.
        bias: the shift of the rest.

    Returns:
        Tensor of the same shape.

    >>> shrink(Tensor([0.25, -1.0]), 0.5, 0.25).tolist()
    [0.0, -0.75]
    """
    return ew.shrink(tensor, *_numbers("shrink", tensor, lambda_=lambda_, bias=bias))


def thresholded_relu(tensor, alpha) -> Tensor:
    """x, 0 where x <= alpha, in the same shape. Mirrors `thresholded_relu`.

    Args:
        tensor: Float tensor of any shape.
        alpha: the limit.

    Returns:
        Tensor of the same shape.

    >>> thresholded_relu(Tensor([0.5, 2.0]), 1.0).tolist()
    [0.0, 2.0]
    """
    return ew.threshold(tensor, *_numbers("thresholded_relu", tensor, alpha=alpha), 0.0, caller="thresholded_relu")


def threshold(tensor, threshold, value) -> Tensor:
    """x, value where x <= threshold, in the same shape. Mirrors `threshold`.

    Args:
        tensor: Float tensor of any shape.
        threshold: the limit.
        value: what stands up to it.

    Returns:
        Tensor of the same shape.

    >>> threshold(Tensor([0.5, 2.0]), 1.0, -9.0).tolist()
    [-9.0, 2.0]
    """
    return ew.threshold(tensor, *_numbers("threshold", tensor, threshold=threshold, value=value))


def glu(tensor, dim) -> Tensor:
    """a sigmoid(b), where a and b are the halves along an axis. Mirrors `glu`.

    Args:
        tensor: Float tensor, even along `dim`.
        dim: the axis; negative counts from the end.

    Returns:
        Tensor with half the size along `dim`.

    Raises:
        ShapeError: an odd size.

    >>> glu(Tensor([[2.0, 0.0]]), 1).tolist()
    [[1.0]]
    """
    axis = axis_of(dim, _float("glu", tensor).ndim, "glu")
    half, odd = divmod(tensor._dims[axis], 2)
    if odd:
        raise ShapeError(
            f"[glu] 'tensor' must have an even size along axis {axis}, got {2 * half + 1} in {tensor.dims()}"
        )
    sizes = list(tensor._dims)
    sizes[axis] = half
    starts, steps = [0] * tensor.ndim, [1] * tensor.ndim
    a = movement.slice_view(tensor, tuple(starts), tuple(steps), sizes)
    starts[axis] = half
    return ew.glu(a, movement.slice_view(tensor, tuple(starts), tuple(steps), sizes))


def quiet_softmax(tensor, dim) -> Tensor:
    """exp(x) / (1 + sum(exp(x))) along an axis without overflow, in the same shape: a row of -inf gives zeros.

    Mirrors `quiet_softmax`.

    Args:
        tensor: Float tensor of any shape.
        dim: the axis; negative counts from the end.

    Returns:
        Tensor of the same shape.

    >>> quiet_softmax(Tensor([[0.0, float("-inf")]]), 1).tolist()
    [[0.5, 0.0]]
    """
    out = core.along(sm._quiet_softmax, tensor, dim)
    return (
        sm.quiet_softmax(tensor, axis_of(dim, check_tensor("quiet_softmax", tensor, "tensor").ndim, "quiet_softmax"))
        if out is None
        else out
    )


teach_functions(globals())
