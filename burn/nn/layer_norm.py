"""Normalisation over the last axis."""

import math

from burn.config import Config
from burn.errors import ArgumentError
from burn.module import ONE_LINE, Module, Param
from burn.tensor import DType, Tensor

from ._checks import check_last, check_size
from .initializer import Initializer


class LayerNormConfig(Config):
    """Configuration of `LayerNorm`. Mirrors `burn::nn::LayerNormConfig`.

    Args:
        d_model: size of the last axis.
        epsilon: added to the variance.
        bias: whether there is a beta.

    >>> from burn.device import Device
    >>> LayerNormConfig(6).with_bias(False).init(Device.flex())
    LayerNorm {d_model: 6, epsilon: 0.00001, bias: false, params: 6}
    """

    d_model: int
    epsilon: float = 1e-5
    bias: bool = True

    def init(self, device=None) -> "LayerNorm":
        """The layer with gamma 1 and beta 0; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is no positive integer, an epsilon that is not finite and positive.
        """
        size = [check_size("LayerNormConfig", "d_model", self.d_model)]
        if not (math.isfinite(self.epsilon) and self.epsilon > 0):
            raise ArgumentError(f"[LayerNormConfig] 'epsilon' must be finite and positive, got {self.epsilon}")
        beta = Initializer.Zeros.init(size, device) if self.bias else None
        return LayerNorm(Initializer.Ones.init(size, device), beta, self.epsilon)


class LayerNorm(Module):
    """``(x - mean) / sqrt(var + epsilon) * gamma + beta`` over the last axis. Mirrors `burn::nn::LayerNorm`.

    Mean and (biased) variance are of each row; an f16 input is computed in f32. Fields: `gamma` [d_model], `beta`
    [d_model] or None, `epsilon`.

    >>> layer = LayerNormConfig(2).with_epsilon(1e-12).init()
    >>> layer.forward(Tensor([[1.0, 3.0], [10.0, 50.0]])).round().tolist()
    [[-1.0, 1.0], [-1.0, 1.0]]
    """

    gamma: Param
    beta: Param | None
    epsilon: float

    def __init__(self, gamma: Param, beta: Param | None = None, epsilon: float = 1e-5):
        self.gamma = gamma
        self.beta = beta
        self.epsilon = epsilon

    def forward(self, input: Tensor) -> Tensor:
        """Normalises each row.

        # Shapes

        - input: [..., d_model], at least one axis
        - output: the same

        Raises:
            KindError: an input that is not Float.
            ShapeError: a last axis of another size.
        """
        gamma, beta = self.gamma.val(), self.beta
        check_last("LayerNorm", input, gamma._dims[0], "d_model")
        beta = None if beta is None else beta.val()
        if input.dtype is not DType.F16:
            return _layer_norm(input, gamma, beta, self.epsilon)
        wide = [tensor if tensor is None else tensor.cast(DType.F32) for tensor in (input, gamma, beta)]
        return _layer_norm(*wide, self.epsilon).cast(DType.F16)

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        content.add("d_model", self.gamma.lazy_shape()[0]).add("epsilon", self.epsilon)
        return content.add("bias", self.beta is not None)


def _layer_norm(input: Tensor, gamma: Tensor, beta: Tensor | None, epsilon: float) -> Tensor:
    centred = input - input.mean_dim(-1)
    normal = centred / ((centred * centred).mean_dim(-1) + epsilon).sqrt()
    scaled = normal * gamma.unsqueeze(input.ndim)
    return scaled if beta is None else scaled + beta.unsqueeze(input.ndim)
