"""Activations with numbers, each with its configuration. Every one takes any shape and keeps it."""

import math

from burn.config import Config
from burn.errors import ArgumentError
from burn.tensor import Tensor, activation

from .._checks import check_positive
from ._pointwise import Numbered, numbers_of


class LeakyReluConfig(Config):
    """Configuration of `LeakyRelu`. Mirrors `burn::nn::activation::LeakyReluConfig`.

    Args:
        negative_slope: the slope below 0.

    >>> LeakyReluConfig().init()
    LeakyRelu {negative_slope: 0.01}
    """

    negative_slope: float = 0.01

    def init(self) -> "LeakyRelu":
        """The layer.

        Raises:
            ArgumentError: a number that is not finite.
        """
        return LeakyRelu(*numbers_of(self))


class LeakyRelu(Numbered):
    """``x``, or ``negative_slope * x`` below 0. Mirrors `burn::nn::LeakyRelu`.

    >>> LeakyReluConfig().init().forward(Tensor([0.441, -0.2507])).tolist()
    [0.4410..., -0.0025...]
    """

    negative_slope: float

    def __init__(self, negative_slope: float = 0.01):
        self.negative_slope = negative_slope

    def _of(self, input: Tensor) -> Tensor:
        return activation.leaky_relu(input, self.negative_slope)


class ThresholdedReluConfig(Config):
    """Configuration of `ThresholdedRelu`. Mirrors `burn::nn::activation::ThresholdedReluConfig`.

    Args:
        alpha: what ``x`` must exceed.

    >>> ThresholdedReluConfig().init()
    ThresholdedRelu {alpha: 1}
    """

    alpha: float = 1.0

    def init(self) -> "ThresholdedRelu":
        """The layer.

        Raises:
            ArgumentError: a number that is not finite.
        """
        return ThresholdedRelu(*numbers_of(self))


class ThresholdedRelu(Numbered):
    """``x`` above ``alpha``, else 0. Mirrors `burn::nn::ThresholdedRelu`.

    >>> ThresholdedReluConfig().init().forward(Tensor([0.5, 1.5, -0.2])).tolist()
    [0.0, 1.5, 0.0]
    """

    alpha: float

    def __init__(self, alpha: float = 1.0):
        self.alpha = alpha

    def _of(self, input: Tensor) -> Tensor:
        return activation.thresholded_relu(input, self.alpha)


class ThresholdConfig(Config):
    """Configuration of `Threshold`. Mirrors `burn::nn::activation::ThresholdConfig`.

    Args:
        threshold: what ``x`` must exceed.
        value: what stands for the others.

    >>> ThresholdConfig(1.0, 20.0).init()
    Threshold {threshold: 1, value: 20}
    """

    threshold: float
    value: float

    def init(self) -> "Threshold":
        """The layer.

        Raises:
            ArgumentError: a number that is not finite.
        """
        return Threshold(*numbers_of(self))


class Threshold(Numbered):
    """``x`` above ``threshold``, else ``value``. Mirrors `burn::nn::activation::Threshold`.

    >>> ThresholdConfig(1.0, 20.0).init().forward(Tensor([0.5, 2.0])).tolist()
    [20.0, 2.0]
    """

    threshold: float
    value: float

    def __init__(self, threshold: float, value: float):
        self.threshold = threshold
        self.value = value

    def _of(self, input: Tensor) -> Tensor:
        return activation.threshold(input, self.threshold, self.value)


class EluConfig(Config):
    """Configuration of `Elu`. Mirrors `burn::nn::activation::EluConfig`.

    Args:
        alpha: where negative values level off, at ``-alpha``.

    >>> EluConfig().init()
    Elu {alpha: 1}
    """

    alpha: float = 1.0

    def init(self) -> "Elu":
        """The layer.

        Raises:
            ArgumentError: a number that is not finite.
        """
        return Elu(*numbers_of(self))


class Elu(Numbered):
    """``x``, or ``alpha * (exp(x) - 1)`` up to 0. Mirrors `burn::nn::Elu`.

    >>> EluConfig().init().forward(Tensor([0.441, -0.2507])).tolist()
    [0.4410..., -0.2217...]
    """

    alpha: float

    def __init__(self, alpha: float = 1.0):
        self.alpha = alpha

    def _of(self, input: Tensor) -> Tensor:
        return activation.elu(input, self.alpha)


class CeluConfig(Config):
    """Configuration of `Celu`. Mirrors `burn::nn::activation::CeluConfig`.

    Args:
        alpha: where negative values level off, at ``-alpha``; not 0.

    >>> CeluConfig().init()
    Celu {alpha: 1}
    """

    alpha: float = 1.0

    def init(self) -> "Celu":
        """The layer.

        Raises:
            ArgumentError: an alpha that is 0, infinite or NaN.
        """
        (alpha,) = numbers_of(self)
        if alpha == 0.0:
            raise ArgumentError("[CeluConfig] 'alpha' must not be 0, since x is divided by it; use Relu()")
        return Celu(alpha)


class Celu(Numbered):
    """``x``, or ``alpha * (exp(x / alpha) - 1)`` up to 0. Mirrors `burn::nn::Celu`.

    >>> CeluConfig().init().forward(Tensor([0.5, -0.5, -1.0])).tolist()
    [0.5, -0.3934..., -0.6321...]
    """

    alpha: float

    def __init__(self, alpha: float = 1.0):
        self.alpha = alpha

    def _of(self, input: Tensor) -> Tensor:
        return activation.celu(input, self.alpha)


class HardSigmoidConfig(Config):
    """Configuration of `HardSigmoid`. Mirrors `burn::nn::activation::HardSigmoidConfig`.

    Args:
        alpha: the slope.
        beta: the value at 0.

    >>> HardSigmoidConfig().init()
    HardSigmoid {alpha: 0.2, beta: 0.5}
    """

    alpha: float = 0.2
    beta: float = 0.5

    def init(self) -> "HardSigmoid":
        """The layer.

        Raises:
            ArgumentError: a number that is not finite.
        """
        return HardSigmoid(*numbers_of(self))


class HardSigmoid(Numbered):
    """``alpha * x + beta`` limited to 0..1. Mirrors `burn::nn::HardSigmoid`.

    >>> HardSigmoidConfig().init().forward(Tensor([0.441, -0.2507])).tolist()
    [0.5882..., 0.4498...]
    """

    alpha: float
    beta: float

    def __init__(self, alpha: float = 0.2, beta: float = 0.5):
        self.alpha = alpha
        self.beta = beta

    def _of(self, input: Tensor) -> Tensor:
        return activation.hard_sigmoid(input, self.alpha, self.beta)


class HardtanhConfig(Config):
    """Configuration of `Hardtanh`. Mirrors `burn::nn::activation::HardtanhConfig`.

    Args:
        min_val: the lower bound.
        max_val: the upper one.

    >>> HardtanhConfig().init()
    Hardtanh {min_val: -1, max_val: 1}
    """

    min_val: float = -1.0
    max_val: float = 1.0

    def init(self) -> "Hardtanh":
        """The layer.

        Raises:
            ArgumentError: bounds that are not finite, or in the wrong order.
        """
        low, high = numbers_of(self)
        if low > high:
            raise ArgumentError(f"[HardtanhConfig] 'min_val' must not exceed 'max_val', got {low} and {high}")
        return Hardtanh(low, high)


class Hardtanh(Numbered):
    """``x`` limited to ``min_val..max_val``. Mirrors `burn::nn::activation::Hardtanh`.

    >>> HardtanhConfig().init().forward(Tensor([-3.0, 0.5])).tolist()
    [-1.0, 0.5]
    """

    min_val: float
    max_val: float

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0):
        self.min_val = min_val
        self.max_val = max_val

    def _of(self, input: Tensor) -> Tensor:
        return activation.hardtanh(input, self.min_val, self.max_val)


class SoftplusConfig(Config):
    """Configuration of `Softplus`. Mirrors `burn::nn::activation::SoftplusConfig`.

    Args:
        beta: how sharp the bend is.
        threshold: from where on it is ``x``.

    >>> SoftplusConfig().init()
    Softplus {beta: 1, threshold: 20}
    """

    beta: float = 1.0
    threshold: float = 20.0

    def init(self) -> "Softplus":
        """The layer.

        Raises:
            ArgumentError: a beta that is not finite and positive, a threshold that is NaN.
        """
        if math.isnan(self.threshold):
            raise ArgumentError(f"[SoftplusConfig] 'threshold' must be a number, got {self.threshold}")
        return Softplus(check_positive("SoftplusConfig", "beta", self.beta), self.threshold)


class Softplus(Numbered):
    """``log(1 + exp(beta * x)) / beta``; ``x`` where ``beta * x`` exceeds ``threshold``. Mirrors `burn::nn::Softplus`.

    >>> SoftplusConfig().init().forward(Tensor([0.0, 1.0, 100.0])).tolist()
    [0.6931..., 1.3132..., 100.0]
    """

    beta: float
    threshold: float

    def __init__(self, beta: float = 1.0, threshold: float = 20.0):
        self.beta = beta
        self.threshold = threshold

    def _of(self, input: Tensor) -> Tensor:
        return activation.softplus_with_threshold(input, self.beta, self.threshold)


class HardShrinkConfig(Config):
    """Configuration of `HardShrink`. Mirrors `burn::nn::activation::HardShrinkConfig`.

    Args:
        lambda_: what ``|x|`` must exceed.

    >>> HardShrinkConfig().init()
    HardShrink {lambda: 0.5}
    """

    lambda_: float = 0.5

    def init(self) -> "HardShrink":
        """The layer.

        Raises:
            ArgumentError: a number that is not finite.
        """
        return HardShrink(*numbers_of(self))


class HardShrink(Numbered):
    """``x`` where ``|x|`` exceeds ``lambda``, else 0. Mirrors `burn::nn::HardShrink`.

    >>> HardShrinkConfig().init().forward(Tensor([0.5, -1.0, 8.0])).tolist()
    [0.0, -1.0, 8.0]
    """

    lambda_: float

    def __init__(self, lambda_: float = 0.5):
        self.lambda_ = lambda_

    def _of(self, input: Tensor) -> Tensor:
        return activation.hard_shrink(input, self.lambda_)


class SoftShrinkConfig(Config):
    """Configuration of `SoftShrink`. Mirrors `burn::nn::activation::SoftShrinkConfig`.

    Args:
        lambda_: how far.

    >>> SoftShrinkConfig().init()
    SoftShrink {lambda: 0.5}
    """

    lambda_: float = 0.5

    def init(self) -> "SoftShrink":
        """The layer.

        Raises:
            ArgumentError: a number that is not finite.
        """
        return SoftShrink(*numbers_of(self))


class SoftShrink(Numbered):
    """``x`` moved towards 0 by ``lambda``, and 0 between. Mirrors `burn::nn::SoftShrink`.

    >>> SoftShrinkConfig().init().forward(Tensor([0.5, -1.0, 8.0])).tolist()
    [0.0, -0.5, 7.5]
    """

    lambda_: float

    def __init__(self, lambda_: float = 0.5):
        self.lambda_ = lambda_

    def _of(self, input: Tensor) -> Tensor:
        return activation.soft_shrink(input, self.lambda_)


class ShrinkConfig(Config):
    """Configuration of `Shrink`. Mirrors `burn::nn::activation::ShrinkConfig`.

    Args:
        lambda_: what ``|x|`` must exceed.
        bias: how far.

    >>> ShrinkConfig().init()
    Shrink {lambda: 0.5, bias: 0.5}
    """

    lambda_: float = 0.5
    bias: float = 0.5

    def init(self) -> "Shrink":
        """The layer.

        Raises:
            ArgumentError: a number that is not finite.
        """
        return Shrink(*numbers_of(self))


class Shrink(Numbered):
    """``x`` moved towards 0 by ``bias`` where ``|x|`` exceeds ``lambda``, else 0. Mirrors `burn::nn::Shrink`.

    >>> ShrinkConfig().init().forward(Tensor([-0.5, 0.1, 2.0])).tolist()
    [0.0, 0.0, 1.5]
    """

    lambda_: float
    bias: float

    def __init__(self, lambda_: float = 0.5, bias: float = 0.5):
        self.lambda_ = lambda_
        self.bias = bias

    def _of(self, input: Tensor) -> Tensor:
        return activation.shrink(input, self.lambda_, self.bias)
