"""The convolution whose samples are moved."""

from burn.config import Config
from burn.errors import ArgumentError
from burn.module import Param
from burn.nn._checks import check_float, check_size, named
from burn.nn.initializer import Initializer
from burn.nn.padding import PaddingConfig2d
from burn.tensor import Tensor
from burn.tensor import module as functional
from burn.tensor.ops import DeformConvOptions

from ._shared import UNIFORM, ConvLayer, checked, parameters_of


class DeformConv2dConfig(Config):
    """Configuration of `DeformConv2d`. Mirrors `burn::nn::conv::DeformConv2dConfig`.

    Padding may be uneven, which Burn refuses.

    Args:
        channels: channels of the input and of the output.
        kernel_size: size of the window, along each axis where there are several.
        stride: steps of the window.
        dilation: distance between neighbours in the window.
        weight_groups: groups of channels that do not mix; they divide the channels.
        offset_groups: groups of input channels that share their offsets.
        padding: what is put around the input.
        bias: whether there is a bias.
        initializer: how weight and bias are drawn.

    >>> from burn.device import Device
    >>> DeformConv2dConfig([5, 1], [5, 5]).init(Device.flex()).num_params()
    126
    """

    channels: list[int]
    kernel_size: list[int]
    stride: list[int] = (1, 1)
    dilation: list[int] = (1, 1)
    weight_groups: int = 1
    offset_groups: int = 1
    padding: PaddingConfig2d = PaddingConfig2d.Valid
    bias: bool = True
    initializer: Initializer = UNIFORM

    def init(self, device=None) -> "DeformConv2d":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is not positive, groups that do not divide the channels, or Same padding of an even kernel.
        """
        channels = checked(self, 2, "weight_groups")
        if self.padding is PaddingConfig2d.Same and any(k % 2 == 0 for k in self.kernel_size):
            raise ArgumentError(
                "[DeformConv2dConfig] 'padding' must not be Same: Same padding with an even kernel size is not supported, got "
                f"{list(self.kernel_size)}; use Explicit"
            )
        if channels[0] % check_size("DeformConv2dConfig", "offset_groups", self.offset_groups):
            raise ArgumentError(
                "[DeformConv2dConfig] 'offset_groups' must divide the input channels: Channels must be divisible by the number "
                f"of groups. Got channels_in={channels[0]}, offset_groups={self.offset_groups}"
            )
        weight, bias = parameters_of(self, channels, self.weight_groups, device)
        return DeformConv2d(weight, bias, self.stride, self.kernel_size, self.dilation, self.weight_groups, self.offset_groups,
                            self.padding)  # fmt: skip


class DeformConv2d(ConvLayer):
    """A convolution whose samples are moved: see `burn.tensor.module.deform_conv2d`. Mirrors `burn::nn::conv::DeformConv2d`.

    Fields: `weight` [channels_out, channels_in / weight_groups, height, width]; `bias` [channels_out] or None; `stride`,
    `kernel_size`, `dilation`, `weight_groups`, `offset_groups`, `padding`.

    >>> layer = DeformConv2dConfig([2, 3], [1, 1]).init()
    >>> layer.forward(Tensor.ones([1, 2, 4, 5]), Tensor.zeros([1, 2, 4, 5])).dims()
    [1, 3, 4, 5]
    """

    weight: Param
    bias: Param | None
    stride: list[int]
    kernel_size: list[int]
    dilation: list[int]
    weight_groups: int
    offset_groups: int
    padding: PaddingConfig2d

    def __init__(self, weight, bias, stride, kernel_size, dilation, weight_groups, offset_groups, padding):
        self.weight, self.bias = weight, bias
        self.stride, self.kernel_size, self.dilation = map(list, (stride, kernel_size, dilation))
        self.weight_groups, self.offset_groups, self.padding = weight_groups, offset_groups, padding

    def forward(self, input: Tensor, offset: Tensor, mask: Tensor | None = None) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels_in, height, width]
        - offset: [batch, 2 * offset_groups * kernel height * kernel width, height out, width out]
        - mask: [batch, offset_groups * kernel height * kernel width, height out, width out]
        - output: [batch, channels_out, height out, width out]

        Raises:
            KindError: a tensor that is not Float.
            ShapeError: sizes that do not fit.
        """
        weight = self.weight.val()
        self._check(input, weight._dims[1] * self.weight_groups)
        check_float("DeformConv2d", offset, "offset")
        if mask is not None:
            check_float("DeformConv2d", mask, "mask")
        pairs = self._pairs(input)
        even = [min(pair) for pair in pairs]
        if any(a != b for a, b in pairs):
            # The operation pads both sides alike: what a side has more becomes part of the input.
            input = input.pad([(a - n, b - n) for (a, b), n in zip(pairs, even, strict=True)])
        options = DeformConvOptions(self.stride, even, self.dilation, self.weight_groups, self.offset_groups)
        bias = None if self.bias is None else self.bias.val()
        return named("DeformConv2d", functional.deform_conv2d, input, offset, weight, mask, bias, options)

    def custom_content(self, content):
        for name in ("stride", "kernel_size", "dilation", "weight_groups", "offset_groups", "padding"):
            content.add(name, getattr(self, name))
        return content
