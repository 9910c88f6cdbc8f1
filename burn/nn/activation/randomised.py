"""An activation with random slopes in training."""

from burn.config import Config
from burn.errors import ArgumentError
from burn.module import ONE_LINE, Flag, Module
from burn.tensor import Distribution, Tensor, activation

from .._checks import check_float
from ._pointwise import numbers_of


class RReluConfig(Config):
    """Configuration of `RRelu`. Mirrors `burn::nn::activation::RReluConfig`.

    Args:
        lower: the least slope below 0.
        upper: the largest one.

    >>> RReluConfig(0.1, 0.3).init()
    RRelu {lower: 0.1, upper: 0.3}
    """

    lower: float = 1.0 / 8.0
    upper: float = 1.0 / 3.0

    def init(self) -> "RRelu":
        """The layer.

        Raises:
            ArgumentError: bounds that are not finite, or a lower one above the upper one.
        """
        lower, upper = numbers_of(self)
        if lower > upper:
            raise ArgumentError(f"[RReluConfig] 'lower' must not exceed 'upper', got {lower} and {upper}")
        return RRelu(lower, upper)


class RRelu(Module):
    """``x``, or below 0 ``slope * x`` with a slope that is drawn for each element. Mirrors `burn::nn::activation::RRelu`.

    Slopes are uniform on [lower, upper) if the flag is on and the input is on an autodiff device; otherwise all are
    the mean of both. Fields: `lower`, `upper`, `training`.

    >>> RReluConfig(0.1, 0.3).init().forward(Tensor([-2.0, 0.5])).tolist()
    [-0.4..., 0.5]
    """

    lower: float
    upper: float
    training: Flag

    def __init__(self, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0):
        self.lower = lower
        self.upper = upper
        self.training = Flag(True)

    def forward(self, input: Tensor) -> Tensor:
        """Applies the function.

        # Shapes

        - input: any shape
        - output: the same
        """
        check_float("RRelu", input, "input")
        if self.lower == self.upper or not self.training.is_enabled() or not input.is_autodiff():
            return activation.leaky_relu(input, 0.5 * (self.lower + self.upper))
        x = input.inner()
        slopes = x.random_like(Distribution.Uniform(self.lower, self.upper))
        return input * slopes.mask_fill(x.greater_equal_scalar(0.0), 1.0)

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        content.add("lower", self.lower).add("upper", self.upper)
        return content if self.training.is_enabled() else content.add("training", self.training)
