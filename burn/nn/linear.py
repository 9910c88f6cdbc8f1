"""The affine layer."""

import enum
import math

from burn._core import core
from burn.config import Config
from burn.errors import BurnError
from burn.module import ONE_LINE, Module, Param
from burn.tensor import Tensor
from burn.tensor.module import linear

from ._checks import check_last, check_size
from .initializer import Initializer

_val = core.held_value  # Param.val, found at once: the layer is to cost little beside the product


class LinearLayout(enum.Enum):
    """How records hold the weight: ``Row`` as [d_input, d_output], ``Col`` as [d_output, d_input].

    The weight itself is [d_input, d_output] either way. Mirrors `burn::nn::LinearLayout`.
    """

    Row = "Row"
    Col = "Col"


class LinearConfig(Config):
    """Configuration of `Linear`. Mirrors `burn::nn::LinearConfig`.

    Args:
        d_input: size of the last axis of the input.
        d_output: size of the last axis of the output.
        bias: whether a bias is added.
        initializer: how weight and bias are drawn.
        layout: how records hold the weight.

    >>> from burn.device import Device
    >>> LinearConfig(3, 5).with_bias(False).init(Device.flex())
    Linear {d_input: 3, d_output: 5, bias: false, params: 15}
    """

    d_input: int
    d_output: int
    bias: bool = True
    initializer: Initializer = Initializer.KaimingUniform(1.0 / math.sqrt(3.0), False)
    layout: LinearLayout = LinearLayout.Row

    def init(self, device=None) -> "Linear":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is no positive integer.
        """
        rows = check_size("LinearConfig", "d_input", self.d_input)
        columns = check_size("LinearConfig", "d_output", self.d_output)
        if self.layout is LinearLayout.Row:
            weight = self.initializer.init_with([rows, columns], rows, columns, device)
        else:
            # The units are the same in both layouts, so the fans are too.
            weight = self.initializer.init_with([columns, rows], rows, columns, device)
            weight = weight.save_mapper(Tensor.transpose).load_mapper(Tensor.transpose).init_mapper(Tensor.transpose)
        bias = self.initializer.init_with([columns], rows, columns, device) if self.bias else None
        return Linear(weight, bias)


class Linear(Module):
    """``input @ weight + bias`` over the last axis. Mirrors `burn::nn::Linear`.

    Fields: `weight` [d_input, d_output], not transposed as PyTorch's; `bias` [d_output] or None.

    >>> device = burn.Device.flex()
    >>> layer = Linear(Param.from_data([[1.0], [10.0]], device), Param.from_data([100.0], device))
    >>> layer.forward(Tensor([[1.0, 2.0]], device)).tolist(), layer(Tensor([[3.0, 4.0]], device)).tolist()
    ([[121.0]], [[143.0]])
    """

    weight: Param
    bias: Param | None

    def __init__(self, weight: Param, bias: Param | None = None):
        self.weight = weight
        self.bias = bias

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [..., d_input], at least one axis
        - output: [..., d_output]

        Raises:
            KindError: an input that is not Float.
            ShapeError: a last axis of another size.
        """
        weight, bias = _val(self.weight), self.bias
        try:
            return linear(input, weight, None if bias is None else _val(bias))
        except (BurnError, TypeError):
            # The product checks kind, device and shapes anyway, before it runs; only the message is the layer's.
            check_last("Linear", input, weight.shape[0], "d_input", weight)
            raise

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        d_input, d_output = self.weight.lazy_shape()
        return content.add("d_input", d_input).add("d_output", d_output).add("bias", self.bias is not None)
