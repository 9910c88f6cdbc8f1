"""Two linear layers for each position."""

import math

from burn.config import Config
from burn.module import ONE_LINE, Module
from burn.tensor import Tensor

from .._checks import check_last, check_size
from ..activation import Activation, ActivationConfig
from ..dropout import Dropout, DropoutConfig
from ..initializer import Initializer
from ..linear import Linear, LinearConfig


class PositionWiseFeedForwardConfig(Config):
    """Configuration of `PositionWiseFeedForward`. Mirrors `burn::nn::transformer::PositionWiseFeedForwardConfig`.

    Args:
        d_model: size of a position.
        d_ff: size between the two linear layers.
        dropout: probability that an element between them becomes 0 in training.
        initializer: how the weights are drawn.
        activation: what stands between them.

    >>> from burn.device import Device
    >>> PositionWiseFeedForwardConfig(2, 4).init(Device.flex())
    PositionWiseFeedForward {d_model: 2, d_ff: 4, prob: 0.1, params: 22}
    """

    d_model: int
    d_ff: int
    dropout: float = 0.1
    initializer: Initializer = Initializer.KaimingUniform(1.0 / math.sqrt(3.0), False)
    activation: ActivationConfig = ActivationConfig.Gelu

    def init(self, device=None) -> "PositionWiseFeedForward":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is no positive integer, a dropout outside [0, 1].
        """
        size = check_size("PositionWiseFeedForwardConfig", "d_model", self.d_model)
        inner = check_size("PositionWiseFeedForwardConfig", "d_ff", self.d_ff)
        return PositionWiseFeedForward(
            LinearConfig(size, inner, initializer=self.initializer).init(device),
            LinearConfig(inner, size, initializer=self.initializer).init(device),
            DropoutConfig(self.dropout).init(),
            self.activation.init(device),
        )


class PositionWiseFeedForward(Module):
    """``linear_outer(dropout(activation(linear_inner(x))))``. Mirrors `burn::nn::transformer::PositionWiseFeedForward`.

    Fields: `linear_inner`, `linear_outer`, `dropout`, `activation`, whose parameters are recorded too (Burn skips them).

    >>> PositionWiseFeedForwardConfig(2, 4).init().forward(Tensor.ones([1, 3, 2])).dims()
    [1, 3, 2]
    """

    linear_inner: Linear
    linear_outer: Linear
    dropout: Dropout
    activation: Activation

    def __init__(self, linear_inner, linear_outer, dropout, activation):
        self.linear_inner = linear_inner
        self.linear_outer = linear_outer
        self.dropout = dropout
        self.activation = activation

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [..., d_model]
        - output: the same

        Raises:
            KindError: an input that is not Float.
            ShapeError: a last axis of another size.
        """
        weight = self.linear_inner.weight.val()
        check_last("PositionWiseFeedForward", input, weight._dims[0], "d_model", weight)
        return self.linear_outer(self.dropout(self.activation(self.linear_inner(input))))

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        d_model, d_ff = self.linear_inner.weight.lazy_shape()
        return content.add("d_model", d_model).add("d_ff", d_ff).add("prob", self.dropout.prob)
