"""Normalisation over the last axis."""

from burn._ops import norm
from burn.config import Config
from burn.module import ONE_LINE, Module, Param
from burn.tensor import Tensor
from burn.tensor import module as functional

from .._checks import check_last, check_positive, check_size
from ..initializer import Initializer


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
        check_positive("LayerNormConfig", "epsilon", self.epsilon)
        beta = Initializer.Zeros.init(size, device) if self.bias else None
        return LayerNorm(Initializer.Ones.init(size, device), beta, self.epsilon)


class LayerNorm(Module):
    """``(x - mean) / sqrt(var + epsilon) * gamma + beta`` over the last axis. Mirrors `burn::nn::LayerNorm`.

    Mean and (biased) variance are of each row; half precision is computed in f32. Fields: `gamma` [d_model], `beta`
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
        check_last("LayerNorm", input, gamma._dims[0], "d_model", gamma)
        return functional.layer_norm(input, gamma, None if beta is None else beta.val(), self.epsilon)

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        content.add("d_model", self.gamma.lazy_shape()[0]).add("epsilon", self.epsilon)
        return content.add("bias", self.beta is not None)


class RmsNormConfig(Config):
    """Configuration of `RmsNorm`. Mirrors `burn::nn::RmsNormConfig`.

    >>> from burn.device import Device
    >>> RmsNormConfig(6).init(Device.flex())
    RmsNorm {d_model: 6, epsilon: 0.00001, params: 6}
    """

    d_model: int
    epsilon: float = 1e-5

    def init(self, device=None) -> "RmsNorm":
        """The layer with gamma 1; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is no positive integer, an epsilon that is not finite and positive.
        """
        size = [check_size("RmsNormConfig", "d_model", self.d_model)]
        check_positive("RmsNormConfig", "epsilon", self.epsilon)
        return RmsNorm(Initializer.Ones.init(size, device), self.epsilon)


class RmsNorm(Module):
    """``x / sqrt(mean(x * x) + epsilon) * gamma`` over the last axis. Mirrors `burn::nn::RmsNorm`.

    Half precision is computed in f32; f64 stays f64 (Burn narrows it). Fields: `gamma` [d_model], `epsilon`.

    >>> RmsNormConfig(2).with_epsilon(1e-12).init().forward(Tensor([[3.0, -3.0]])).tolist()
    [[1.0, -1.0]]
    """

    gamma: Param
    epsilon: float

    def __init__(self, gamma: Param, epsilon: float = 1e-5):
        self.gamma = gamma
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
        gamma = self.gamma.val()
        check_last("RmsNorm", input, gamma._dims[0], "d_model", gamma)
        return norm.rms_norm(input, gamma, self.epsilon)

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        return content.add("d_model", self.gamma.lazy_shape()[0]).add("epsilon", self.epsilon)
