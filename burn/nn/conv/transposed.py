"""Transposed convolutions along one to three axes."""

from burn.config import Config
from burn.module import Param
from burn.nn._checks import named
from burn.nn.initializer import Initializer
from burn.tensor import Tensor
from burn.tensor import module as functional
from burn.tensor.ops import ConvTransposeOptions

from ._shared import UNIFORM, ConvLayer, checked, each_axis, parameters_of


class _Transposed(ConvLayer):
    """A transposed convolution."""

    def _apply(self, function, input: Tensor) -> Tensor:
        weight = self.weight.val()
        self._check(input, weight._dims[0])
        fields = (self.stride, self.padding, self.padding_out, self.dilation)
        options = ConvTransposeOptions(*map(each_axis, fields), self.groups)
        bias = None if self.bias is None else self.bias.val()
        return named(type(self).__name__, function, input, weight, bias, options)

    def _set(self, weight, bias, channels, stride, kernel_size, dilation, groups, padding, padding_out):
        self.weight, self.bias, self.channels = weight, bias, list(channels)
        self.stride, self.kernel_size, self.dilation, self.groups = stride, kernel_size, dilation, groups
        self.padding, self.padding_out = padding, padding_out

    def custom_content(self, content):
        for name in ("channels", "stride", "kernel_size", "dilation", "groups", "padding", "padding_out"):
            content.add(name, getattr(self, name))
        return content


class ConvTranspose1dConfig(Config):
    """Configuration of `ConvTranspose1d`. Mirrors `burn::nn::conv::ConvTranspose1dConfig`.

    Args:
        channels: channels of the input and of the output.
        kernel_size: size of the window, along each axis where there are several.
        stride: steps of the window.
        dilation: distance between neighbours in the window.
        groups: groups of channels that do not mix; they divide the channels.
        padding: what is put around the input.
        padding_out: elements added at the end of the output.
        bias: whether there is a bias.
        initializer: how weight and bias are drawn.

    >>> from burn.device import Device
    >>> ConvTranspose1dConfig([5, 2], 5).init(Device.flex()).num_params()
    52
    """

    channels: list[int]
    kernel_size: int
    stride: int = 1
    dilation: int = 1
    groups: int = 1
    padding: int = 0
    padding_out: int = 0
    bias: bool = True
    initializer: Initializer = UNIFORM

    def init(self, device=None) -> "ConvTranspose1d":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is not positive, or groups that do not divide the channels.
        """
        channels = checked(self, 1)
        weight, bias = parameters_of(self, channels, self.groups, device, transposed=True)
        return ConvTranspose1d(weight, bias, channels, self.stride, self.kernel_size, self.dilation, self.groups, self.padding,
                               self.padding_out)  # fmt: skip


class ConvTranspose1d(_Transposed):
    """A transposed convolution along one axis: see `burn.tensor.module.conv_transpose1d`. Mirrors `ConvTranspose1d`.

    Fields: `weight` [channels_in, channels_out / groups, kernel_size]; `bias` [channels_out] or None; `channels`, `stride`,
    `kernel_size`, `dilation`, `groups`, `padding`, `padding_out`.

    >>> ConvTranspose1dConfig([2, 3], 2).with_stride(2).init().forward(Tensor.ones([1, 2, 5])).dims()
    [1, 3, 10]
    """

    weight: Param
    bias: Param | None
    channels: list[int]
    stride: int
    kernel_size: int
    dilation: int
    groups: int
    padding: int
    padding_out: int

    def __init__(self, weight, bias, channels, stride, kernel_size, dilation, groups, padding, padding_out):
        self._set(weight, bias, channels, stride, kernel_size, dilation, groups, padding, padding_out)

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels_in, length]
        - output: [batch, channels_out, length out]

        Raises:
            KindError: an input that is not Float.
            ShapeError: another rank or number of channels, or an output without elements.
        """
        return self._apply(functional.conv_transpose1d, input)


class ConvTranspose2dConfig(Config):
    """Configuration of `ConvTranspose2d`. Mirrors `burn::nn::conv::ConvTranspose2dConfig`.

    Args:
        channels: channels of the input and of the output.
        kernel_size: size of the window, along each axis where there are several.
        stride: steps of the window.
        dilation: distance between neighbours in the window.
        groups: groups of channels that do not mix; they divide the channels.
        padding: what is put around the input.
        padding_out: elements added at the end of the output.
        bias: whether there is a bias.
        initializer: how weight and bias are drawn.

    >>> from burn.device import Device
    >>> ConvTranspose2dConfig([5, 2], [5, 5]).init(Device.flex()).num_params()
    252
    """

    channels: list[int]
    kernel_size: list[int]
    stride: list[int] = (1, 1)
    dilation: list[int] = (1, 1)
    groups: int = 1
    padding: list[int] = (0, 0)
    padding_out: list[int] = (0, 0)
    bias: bool = True
    initializer: Initializer = UNIFORM

    def init(self, device=None) -> "ConvTranspose2d":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is not positive, or groups that do not divide the channels.
        """
        channels = checked(self, 2)
        weight, bias = parameters_of(self, channels, self.groups, device, transposed=True)
        return ConvTranspose2d(weight, bias, channels, self.stride, self.kernel_size, self.dilation, self.groups, self.padding,
                               self.padding_out)  # fmt: skip


class ConvTranspose2d(_Transposed):
    """A transposed convolution along two axes: see `burn.tensor.module.conv_transpose2d`. Mirrors `ConvTranspose2d`.

    Fields: `weight` [channels_in, channels_out / groups, height, width]; `bias` [channels_out] or None; `channels`, `stride`,
    `kernel_size`, `dilation`, `groups`, `padding`, `padding_out`.

    >>> ConvTranspose2dConfig([2, 3], [2, 2]).init().forward(Tensor.ones([1, 2, 5, 4])).dims()
    [1, 3, 6, 5]
    """

    weight: Param
    bias: Param | None
    channels: list[int]
    stride: list[int]
    kernel_size: list[int]
    dilation: list[int]
    groups: int
    padding: list[int]
    padding_out: list[int]

    def __init__(self, weight, bias, channels, stride, kernel_size, dilation, groups, padding, padding_out):
        lists = [list(v) for v in (stride, kernel_size, dilation, padding, padding_out)]
        self._set(weight, bias, channels, *lists[:3], groups, *lists[3:])

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels_in, height, width]
        - output: [batch, channels_out, height out, width out]

        Raises:
            KindError: an input that is not Float.
            ShapeError: another rank or number of channels, or an output without elements.
        """
        return self._apply(functional.conv_transpose2d, input)


class ConvTranspose3dConfig(Config):
    """Configuration of `ConvTranspose3d`. Mirrors `burn::nn::conv::ConvTranspose3dConfig`.

    Args:
        channels: channels of the input and of the output.
        kernel_size: size of the window, along each axis where there are several.
        stride: steps of the window.
        dilation: distance between neighbours in the window.
        groups: groups of channels that do not mix; they divide the channels.
        padding: what is put around the input.
        padding_out: elements added at the end of the output.
        bias: whether there is a bias.
        initializer: how weight and bias are drawn.

    >>> from burn.device import Device
    >>> ConvTranspose3dConfig([5, 2], [5, 5, 5]).init(Device.flex()).num_params()
    1252
    """

    channels: list[int]
    kernel_size: list[int]
    stride: list[int] = (1, 1, 1)
    dilation: list[int] = (1, 1, 1)
    groups: int = 1
    padding: list[int] = (0, 0, 0)
    padding_out: list[int] = (0, 0, 0)
    bias: bool = True
    initializer: Initializer = UNIFORM

    def init(self, device=None) -> "ConvTranspose3d":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is not positive, or groups that do not divide the channels.
        """
        channels = checked(self, 3)
        weight, bias = parameters_of(self, channels, self.groups, device, transposed=True)
        return ConvTranspose3d(weight, bias, channels, self.stride, self.kernel_size, self.dilation, self.groups, self.padding,
                               self.padding_out)  # fmt: skip


class ConvTranspose3d(_Transposed):
    """A transposed convolution along three axes: see `burn.tensor.module.conv_transpose3d`. Mirrors `ConvTranspose3d`.

    Fields: `weight` [channels_in, channels_out / groups, depth, height, width]; `bias` [channels_out] or None; `channels`,
    `stride`, `kernel_size`, `dilation`, `groups`, `padding`, `padding_out`.

    >>> ConvTranspose3dConfig([1, 2], [2, 2, 2]).init().forward(Tensor.ones([1, 1, 3, 4, 5])).dims()
    [1, 2, 4, 5, 6]
    """

    weight: Param
    bias: Param | None
    channels: list[int]
    stride: list[int]
    kernel_size: list[int]
    dilation: list[int]
    groups: int
    padding: list[int]
    padding_out: list[int]

    def __init__(self, weight, bias, channels, stride, kernel_size, dilation, groups, padding, padding_out):
        lists = [list(v) for v in (stride, kernel_size, dilation, padding, padding_out)]
        self._set(weight, bias, channels, *lists[:3], groups, *lists[3:])

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels_in, depth, height, width]
        - output: [batch, channels_out, depth out, height out, width out]

        Raises:
            KindError: an input that is not Float.
            ShapeError: another rank or number of channels, or an output without elements.
        """
        return self._apply(functional.conv_transpose3d, input)
