"""Activations with parameters."""

import math

from burn._arguments import finite
from burn._ops.registry import check_same
from burn.config import Config
from burn.module import ONE_LINE, Module, Param
from burn.tensor import Tensor, activation

from .._checks import check_channels, check_float, check_last, check_size
from ..initializer import Initializer
from ..linear import Linear, LinearConfig, LinearLayout


class PReluConfig(Config):
    """Configuration of `PRelu`. Mirrors `burn::nn::PReluConfig`.

    Args:
        num_parameters: 1, or one for each channel.
        alpha: the slope below 0 to begin with.

    >>> PReluConfig().init()
    PRelu {num_parameters: 1, alpha_value: 0.25, params: 1}
    """

    num_parameters: int = 1
    alpha: float = 0.25

    def init(self, device=None) -> "PRelu":
        """The layer; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a number of parameters that is no positive integer, an alpha that is not finite.
        """
        count = check_size("PReluConfig", "num_parameters", self.num_parameters)
        alpha = finite("PReluConfig", "alpha", self.alpha)
        return PRelu(Initializer.Constant(alpha).init([count], device), alpha)


class PRelu(Module):
    """``x``, or ``alpha * x`` below 0, where alpha is learned. Mirrors `burn::nn::PRelu`.

    Fields: `alpha` [num_parameters], `alpha_value`, what it was to begin with.

    >>> PReluConfig().init().forward(Tensor([[-1.0, 2.0]])).tolist()
    [[-0.25, 2.0]]
    """

    alpha: Param
    alpha_value: float

    def __init__(self, alpha: Param, alpha_value: float = 0.25):
        self.alpha = alpha
        self.alpha_value = alpha_value

    def forward(self, input: Tensor) -> Tensor:
        """Applies the function.

        # Shapes

        - input: any shape; [batch, num_parameters, ...] where that is not 1
        - output: the same

        Raises:
            ShapeError: an axis 1 of another size than the number of parameters.
        """
        alpha = self.alpha.val()
        check_float("PRelu", input, "input")
        if alpha._dims != (1,):
            check_channels("PRelu", input, alpha._dims[0], "num_parameters", alpha)
        check_same("PRelu", alpha, input, "input")
        return activation.prelu(input, alpha)

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        return content.add("num_parameters", self.alpha.lazy_shape()[0]).add("alpha_value", self.alpha_value)


class SwiGluConfig(Config):
    """Configuration of `SwiGlu`. Mirrors `burn::nn::SwiGluConfig`.

    Args:
        d_input: size of the last axis of the input.
        d_output: size of the last axis of the output.
        bias: whether both linear layers have a bias.
        initializer: how their weights are drawn.
        layout: how records hold them.

    >>> SwiGluConfig(3, 5).init()
    SwiGlu {d_input: 3, d_output: 5, bias: false, params: 30}
    """

    d_input: int
    d_output: int
    bias: bool = False
    initializer: Initializer = Initializer.KaimingUniform(1.0 / math.sqrt(3.0), False)
    layout: LinearLayout = LinearLayout.Row

    def init(self, device=None) -> "SwiGlu":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is no positive integer.
        """
        check_size("SwiGluConfig", "d_input", self.d_input)
        check_size("SwiGluConfig", "d_output", self.d_output)
        linear = LinearConfig(self.d_input, self.d_output, self.bias, self.initializer, self.layout)
        return SwiGlu(linear.init(device), linear.init(device))


class SwiGlu(Module):
    """``silu(linear_inner(x)) * linear_outer(x)``. Mirrors `burn::nn::SwiGlu`.

    Fields: `linear_inner`, `linear_outer`, both [d_input, d_output].

    >>> SwiGluConfig(3, 5).init().forward(Tensor.ones([2, 3])).dims()
    [2, 5]
    """

    linear_inner: Linear
    linear_outer: Linear

    def __init__(self, linear_inner: Linear, linear_outer: Linear):
        self.linear_inner = linear_inner
        self.linear_outer = linear_outer

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [..., d_input]
        - output: [..., d_output]

        Raises:
            KindError: an input that is not Float.
            ShapeError: a last axis of another size.
        """
        weight = self.linear_inner.weight.val()
        check_last("SwiGlu", input, weight._dims[0], "d_input", weight)
        return activation.silu(self.linear_inner(input)) * self.linear_outer(input)

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        d_input, d_output = self.linear_inner.weight.lazy_shape()
        content.add("d_input", d_input).add("d_output", d_output)
        return content.add("bias", self.linear_inner.bias is not None)
