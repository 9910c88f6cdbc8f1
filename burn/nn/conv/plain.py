"""Convolutions along one to three axes."""

import functools

from burn.config import Config
from burn.module import Param
from burn.nn._checks import named
from burn.nn.initializer import Initializer
from burn.nn.padding import PaddingConfig1d, PaddingConfig2d, PaddingConfig3d
from burn.tensor import Tensor
from burn.tensor import module as functional
from burn.tensor.ops import ConvOptions

from ._shared import UNIFORM, ConvLayer, checked, each_axis, parameters_of

# A layer asks for the same options at each call, and they never change.
_options = functools.lru_cache(256)(ConvOptions)


class _Conv(ConvLayer):
    """A plain convolution."""

    def _apply(self, function, input: Tensor) -> Tensor:
        weight = self.weight.val()
        self._check(input, weight._dims[1] * self.groups)
        options = _options(
            tuple(each_axis(self.stride)), tuple(self._pairs(input)), tuple(each_axis(self.dilation)), self.groups
        )
        bias = None if self.bias is None else self.bias.val()
        return named(type(self).__name__, function, input, weight, bias, options)

    def custom_content(self, content):
        c_out, c_in, *_ = self.weight.lazy_shape()
        content = content.add("ch_in", c_in * self.groups).add("ch_out", c_out)
        for name in ("stride", "kernel_size", "dilation", "groups", "padding"):
            content.add(name, getattr(self, name))
        return content


class Conv1dConfig(Config):
    """Configuration of `Conv1d`. Mirrors `burn::nn::conv::Conv1dConfig`.

    Args:
        channels_in: channels of the input.
        channels_out: channels of the output.
        kernel_size: size of the window, along each axis where there are several.
        stride: steps of the window.
        dilation: distance between neighbours in the window.
        groups: groups of channels that do not mix; they divide the channels.
        padding: what is put around the input.
        bias: whether there is a bias.
        initializer: how weight and bias are drawn.

    >>> from burn.device import Device
    >>> Conv1dConfig(5, 5, 5).init(Device.flex())
    Conv1d {ch_in: 5, ch_out: 5, stride: 1, kernel_size: 5, dilation: 1, groups: 1, padding: Valid, params: 130}
    """

    channels_in: int
    channels_out: int
    kernel_size: int
    stride: int = 1
    dilation: int = 1
    groups: int = 1
    padding: PaddingConfig1d = PaddingConfig1d.Valid
    bias: bool = True
    initializer: Initializer = UNIFORM

    def init(self, device=None) -> "Conv1d":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is not positive, or groups that do not divide the channels.
        """
        channels = checked(self, 1)
        parameters = parameters_of(self, channels, self.groups, device)
        return Conv1d(*parameters, self.stride, self.kernel_size, self.dilation, self.groups, self.padding)


class Conv1d(_Conv):
    """A convolution along one axis: see `burn.tensor.module.conv1d`. Mirrors `burn::nn::conv::Conv1d`.

    Fields: `weight` [channels_out, channels_in / groups, kernel_size]; `bias` [channels_out] or None; `stride`, `kernel_size`,
    `dilation`, `groups`, `padding`.

    >>> Conv1dConfig(2, 3, 2).init().forward(Tensor.ones([1, 2, 5])).dims()
    [1, 3, 4]
    """

    weight: Param
    bias: Param | None
    stride: int
    kernel_size: int
    dilation: int
    groups: int
    padding: PaddingConfig1d

    def __init__(self, weight, bias, stride, kernel_size, dilation, groups, padding):
        self.weight, self.bias = weight, bias
        self.stride, self.kernel_size, self.dilation = stride, kernel_size, dilation
        self.groups, self.padding = groups, padding

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels_in, length]
        - output: [batch, channels_out, length out]

        Raises:
            KindError: an input that is not Float.
            ShapeError: another rank or number of channels, or a kernel larger than the padded input.
        """
        return self._apply(functional.conv1d, input)


class Conv2dConfig(Config):
    """Configuration of `Conv2d`. Mirrors `burn::nn::conv::Conv2dConfig`.

    Args:
        channels: channels of the input and of the output.
        kernel_size: size of the window, along each axis where there are several.
        stride: steps of the window.
        dilation: distance between neighbours in the window.
        groups: groups of channels that do not mix; they divide the channels.
        padding: what is put around the input.
        bias: whether there is a bias.
        initializer: how weight and bias are drawn.

    >>> from burn.device import Device
    >>> Conv2dConfig([5, 1], [5, 5]).init(Device.flex())
    Conv2d {ch_in: 5, ch_out: 1, stride: [1, 1], kernel_size: [5, 5], dilation: [1, 1], groups: 1, padding: Valid, params: 126}
    """

    channels: list[int]
    kernel_size: list[int]
    stride: list[int] = (1, 1)
    dilation: list[int] = (1, 1)
    groups: int = 1
    padding: PaddingConfig2d = PaddingConfig2d.Valid
    bias: bool = True
    initializer: Initializer = UNIFORM

    def init(self, device=None) -> "Conv2d":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is not positive, or groups that do not divide the channels.
        """
        channels = checked(self, 2)
        parameters = parameters_of(self, channels, self.groups, device)
        return Conv2d(*parameters, self.stride, self.kernel_size, self.dilation, self.groups, self.padding)


class Conv2d(_Conv):
    """A convolution along two axes: see `burn.tensor.module.conv2d`. Mirrors `burn::nn::conv::Conv2d`.

    Fields: `weight` [channels_out, channels_in / groups, height, width]; `bias` [channels_out] or None; `stride`,
    `kernel_size`, `dilation`, `groups`, `padding`.

    >>> Conv2dConfig([2, 3], [2, 2]).init().forward(Tensor.ones([1, 2, 5, 4])).dims()
    [1, 3, 4, 3]
    """

    weight: Param
    bias: Param | None
    stride: list[int]
    kernel_size: list[int]
    dilation: list[int]
    groups: int
    padding: PaddingConfig2d

    def __init__(self, weight, bias, stride, kernel_size, dilation, groups, padding):
        self.weight, self.bias = weight, bias
        self.stride, self.kernel_size, self.dilation = map(list, (stride, kernel_size, dilation))
        self.groups, self.padding = groups, padding

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels_in, height, width]
        - output: [batch, channels_out, height out, width out]

        Raises:
            KindError: an input that is not Float.
            ShapeError: another rank or number of channels, or a kernel larger than the padded input.
        """
        return self._apply(functional.conv2d, input)


class Conv3dConfig(Config):
    """Configuration of `Conv3d`. Mirrors `burn::nn::conv::Conv3dConfig`.

    Same padding may be uneven, with even kernels too, which Burn refuses.

    Args:
        channels: channels of the input and of the output.
        kernel_size: size of the window, along each axis where there are several.
        stride: steps of the window.
        dilation: distance between neighbours in the window.
        groups: groups of channels that do not mix; they divide the channels.
        padding: what is put around the input.
        bias: whether there is a bias.
        initializer: how weight and bias are drawn.

    >>> from burn.device import Device
    >>> Conv3dConfig([5, 1], [5, 5, 5]).init(Device.flex()).num_params()
    626
    """

    channels: list[int]
    kernel_size: list[int]
    stride: list[int] = (1, 1, 1)
    dilation: list[int] = (1, 1, 1)
    groups: int = 1
    padding: PaddingConfig3d = PaddingConfig3d.Valid
    bias: bool = True
    initializer: Initializer = UNIFORM

    def init(self, device=None) -> "Conv3d":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is not positive, or groups that do not divide the channels.
        """
        channels = checked(self, 3)
        parameters = parameters_of(self, channels, self.groups, device)
        return Conv3d(*parameters, self.stride, self.kernel_size, self.dilation, self.groups, self.padding)


class Conv3d(_Conv):
    """A convolution along three axes: see `burn.tensor.module.conv3d`. Mirrors `burn::nn::conv::Conv3d`.

    Fields: `weight` [channels_out, channels_in / groups, depth, height, width]; `bias` [channels_out] or None; `stride`,
    `kernel_size`, `dilation`, `groups`, `padding`.

    >>> Conv3dConfig([1, 2], [2, 2, 2]).init().forward(Tensor.ones([1, 1, 3, 4, 5])).dims()
    [1, 2, 2, 3, 4]
    """

    weight: Param
    bias: Param | None
    stride: list[int]
    kernel_size: list[int]
    dilation: list[int]
    groups: int
    padding: PaddingConfig3d

    def __init__(self, weight, bias, stride, kernel_size, dilation, groups, padding):
        self.weight, self.bias = weight, bias
        self.stride, self.kernel_size, self.dilation = map(list, (stride, kernel_size, dilation))
        self.groups, self.padding = groups, padding

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels_in, depth, height, width]
        - output: [batch, channels_out, depth out, height out, width out]

        Raises:
            KindError: an input that is not Float.
            ShapeError: another rank or number of channels, or a kernel larger than the padded input.
        """
        return self._apply(functional.conv3d, input)
