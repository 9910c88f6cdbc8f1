"""Convolution layers. Mirrors `burn::nn::conv`."""

import math

from burn._arguments import integer
from burn.config import Config
from burn.errors import ArgumentError, ShapeError
from burn.module import ONE_LINE, Module, Param
from burn.tensor import Tensor
from burn.tensor import module as functional
from burn.tensor.ops import ConvOptions, ConvTransposeOptions, DeformConvOptions

from ._checks import check_float, check_size
from .initializer import Initializer
from .padding import PaddingConfig1d, PaddingConfig2d, PaddingConfig3d, padding_pairs

__all__ = [
    "Conv1d",
    "Conv1dConfig",
    "Conv2d",
    "Conv2dConfig",
    "Conv3d",
    "Conv3dConfig",
    "ConvTranspose1d",
    "ConvTranspose1dConfig",
    "ConvTranspose2d",
    "ConvTranspose2dConfig",
    "ConvTranspose3d",
    "ConvTranspose3dConfig",
    "DeformConv2d",
    "DeformConv2dConfig",
]

_UNIFORM = Initializer.KaimingUniform(1.0 / math.sqrt(3.0), False)
_AXES = ("length", "height, width", "depth, height, width")


def _each(value) -> list[int]:
    """One int an axis, of an int or a list."""
    return [value] if isinstance(value, int) else list(value)


def _checked(config, axes: int, groups: str = "groups"):
    """Raises unless sizes are positive, one an axis, and the groups divide both numbers of channels; returns the channels."""
    name = type(config).__name__
    for field in ("kernel_size", "stride", "dilation"):
        values = _each(getattr(config, field))
        if len(values) != axes:
            raise ShapeError(f"[{name}] {field!r} must hold {axes} ints, one an axis, got {values}")
        for value in values:
            integer(name, field, value, 1)
    for field in ("padding", "padding_out"):
        values = getattr(config, field, [])
        for value in _each(values) if isinstance(values, (int, tuple, list)) else []:
            integer(name, field, value, 0)
    channels = [config.channels_in, config.channels_out] if hasattr(config, "channels_in") else list(config.channels)
    if len(channels) != 2:
        raise ShapeError(f"[{name}] 'channels' must be [input, output], got {channels}")
    for value in channels:
        check_size(name, "channels", value)
    n = check_size(name, groups, getattr(config, groups))
    if channels[0] % n or channels[1] % n:
        raise ArgumentError(
            f"[{name}] {groups!r} must divide both numbers of channels: Both channels must be divisible by the number of groups. "
            f"Got channels_in={channels[0]}, channels_out={channels[1]}, groups={n}"
        )
    return channels


def _parameters(config, channels, groups, device, transposed=False):
    """Weight and bias, still to be drawn. The fans are those of one group (Burn gives some layers none)."""
    c_in, c_out = channels
    kernel = _each(config.kernel_size)
    first, second = (c_in, c_out) if transposed else (c_out, c_in)
    fans = [c // groups * math.prod(kernel) for c in (channels[::-1] if transposed else channels)]
    weight = config.initializer.init_with([first, second // groups, *kernel], *fans, device)
    bias = config.initializer.init_with([c_out], *fans, device) if config.bias else None
    return weight, bias


class _Layer(Module):
    """What convolution layers share: the check of the input, and the printed line."""

    def _check(self, input: Tensor, channels: int) -> None:
        layer, axes = type(self).__name__, self.weight.val().ndim - 2
        check_float(layer, input, "input")
        if input.ndim != axes + 2:
            raise ShapeError(
                f"[{layer}] 'input' must be [batch, channels, {_AXES[axes - 1]}], got shape {input.dims()}"
            )
        if input._dims[1] != channels:
            raise ShapeError(
                f"[{layer}] 'input' must have {channels} channels. Number of channels in input tensor and input channels of "
                f"convolution must be equal. got: {input._dims[1]}, expected: {channels}"
            )

    def _pairs(self, input: Tensor) -> list[tuple[int, int]]:
        return padding_pairs(self.padding, input._dims[2:], *map(_each, (self.kernel_size, self.stride, self.dilation)))

    def custom_settings(self):
        return ONE_LINE


class _Conv(_Layer):
    """A plain convolution."""

    def _apply(self, function, input: Tensor) -> Tensor:
        weight = self.weight.val()
        self._check(input, weight._dims[1] * self.groups)
        options = ConvOptions(_each(self.stride), self._pairs(input), _each(self.dilation), self.groups)
        return function(input, weight, None if self.bias is None else self.bias.val(), options)

    def custom_content(self, content):
        c_out, c_in, *_ = self.weight.lazy_shape()
        content = content.add("ch_in", c_in * self.groups).add("ch_out", c_out)
        for name in ("stride", "kernel_size", "dilation", "groups", "padding"):
            content.add(name, getattr(self, name))
        return content


class Conv1dConfig(Config):
    """Configuration of `Conv1d`. Mirrors `burn::nn::conv::Conv1dConfig`.

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
    initializer: Initializer = _UNIFORM

    def init(self, device=None) -> "Conv1d":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Raises:
            ArgumentError: a size that is not positive, or groups that do not divide the channels.
        """
        channels = _checked(self, 1)
        parameters = _parameters(self, channels, self.groups, device)
        return Conv1d(*parameters, self.stride, self.kernel_size, self.dilation, self.groups, self.padding)


class Conv1d(_Conv):
    """A convolution along one axis: see `burn.tensor.module.conv1d`. Mirrors `burn::nn::conv::Conv1d`.

    Fields: `weight` [channels_out, channels_in / groups, kernel_size]; `bias` [channels_out] or None; `stride`, `kernel_size`,
    `dilation`, `groups`, `padding`.
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
    initializer: Initializer = _UNIFORM

    def init(self, device=None) -> "Conv2d":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Raises:
            ArgumentError: a size that is not positive, or groups that do not divide the channels.
        """
        channels = _checked(self, 2)
        parameters = _parameters(self, channels, self.groups, device)
        return Conv2d(*parameters, self.stride, self.kernel_size, self.dilation, self.groups, self.padding)


class Conv2d(_Conv):
    """A convolution along two axes: see `burn.tensor.module.conv2d`. Mirrors `burn::nn::conv::Conv2d`.

    Fields: `weight` [channels_out, channels_in / groups, height, width]; `bias` [channels_out] or None; `stride`,
    `kernel_size`, `dilation`, `groups`, `padding`.
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
    initializer: Initializer = _UNIFORM

    def init(self, device=None) -> "Conv3d":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Raises:
            ArgumentError: a size that is not positive, or groups that do not divide the channels.
        """
        channels = _checked(self, 3)
        parameters = _parameters(self, channels, self.groups, device)
        return Conv3d(*parameters, self.stride, self.kernel_size, self.dilation, self.groups, self.padding)


class Conv3d(_Conv):
    """A convolution along three axes: see `burn.tensor.module.conv3d`. Mirrors `burn::nn::conv::Conv3d`.

    Fields: `weight` [channels_out, channels_in / groups, depth, height, width]; `bias` [channels_out] or None; `stride`,
    `kernel_size`, `dilation`, `groups`, `padding`.
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


class _Transposed(_Layer):
    """A transposed convolution."""

    def _apply(self, function, input: Tensor) -> Tensor:
        weight = self.weight.val()
        self._check(input, weight._dims[0])
        fields = (self.stride, self.padding, self.padding_out, self.dilation)
        options = ConvTransposeOptions(*map(_each, fields), self.groups)
        return function(input, weight, None if self.bias is None else self.bias.val(), options)

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
    initializer: Initializer = _UNIFORM

    def init(self, device=None) -> "ConvTranspose1d":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Raises:
            ArgumentError: a size that is not positive, or groups that do not divide the channels.
        """
        channels = _checked(self, 1)
        weight, bias = _parameters(self, channels, self.groups, device, transposed=True)
        return ConvTranspose1d(weight, bias, channels, self.stride, self.kernel_size, self.dilation, self.groups, self.padding,
                               self.padding_out)  # fmt: skip


class ConvTranspose1d(_Transposed):
    """A transposed convolution along one axis: see `burn.tensor.module.conv_transpose1d`. Mirrors `ConvTranspose1d`.

    Fields: `weight` [channels_in, channels_out / groups, kernel_size]; `bias` [channels_out] or None; `channels`, `stride`,
    `kernel_size`, `dilation`, `groups`, `padding`, `padding_out`.
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
    initializer: Initializer = _UNIFORM

    def init(self, device=None) -> "ConvTranspose2d":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Raises:
            ArgumentError: a size that is not positive, or groups that do not divide the channels.
        """
        channels = _checked(self, 2)
        weight, bias = _parameters(self, channels, self.groups, device, transposed=True)
        return ConvTranspose2d(weight, bias, channels, self.stride, self.kernel_size, self.dilation, self.groups, self.padding,
                               self.padding_out)  # fmt: skip


class ConvTranspose2d(_Transposed):
    """A transposed convolution along two axes: see `burn.tensor.module.conv_transpose2d`. Mirrors `ConvTranspose2d`.

    Fields: `weight` [channels_in, channels_out / groups, height, width]; `bias` [channels_out] or None; `channels`, `stride`,
    `kernel_size`, `dilation`, `groups`, `padding`, `padding_out`.
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
    initializer: Initializer = _UNIFORM

    def init(self, device=None) -> "ConvTranspose3d":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Raises:
            ArgumentError: a size that is not positive, or groups that do not divide the channels.
        """
        channels = _checked(self, 3)
        weight, bias = _parameters(self, channels, self.groups, device, transposed=True)
        return ConvTranspose3d(weight, bias, channels, self.stride, self.kernel_size, self.dilation, self.groups, self.padding,
                               self.padding_out)  # fmt: skip


class ConvTranspose3d(_Transposed):
    """A transposed convolution along three axes: see `burn.tensor.module.conv_transpose3d`. Mirrors `ConvTranspose3d`.

    Fields: `weight` [channels_in, channels_out / groups, depth, height, width]; `bias` [channels_out] or None; `channels`,
    `stride`, `kernel_size`, `dilation`, `groups`, `padding`, `padding_out`.
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


class DeformConv2dConfig(Config):
    """Configuration of `DeformConv2d`. Mirrors `burn::nn::conv::DeformConv2dConfig`.

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
    initializer: Initializer = _UNIFORM

    def init(self, device=None) -> "DeformConv2d":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Raises:
            ArgumentError: a size that is not positive, groups that do not divide the channels, or Same padding of an even kernel.
        """
        channels = _checked(self, 2, "weight_groups")
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
        weight, bias = _parameters(self, channels, self.weight_groups, device)
        return DeformConv2d(weight, bias, self.stride, self.kernel_size, self.dilation, self.weight_groups, self.offset_groups,
                            self.padding)  # fmt: skip


class DeformConv2d(_Layer):
    """A convolution whose samples are moved: see `burn.tensor.module.deform_conv2d`. Mirrors `burn::nn::conv::DeformConv2d`.

    Fields: `weight` [channels_out, channels_in / weight_groups, height, width]; `bias` [channels_out] or None; `stride`,
    `kernel_size`, `dilation`, `weight_groups`, `offset_groups`, `padding`.
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
            ShapeError: sizes that do not fit, or padding that is not the same on both sides of an axis.
        """
        weight = self.weight.val()
        self._check(input, weight._dims[1] * self.weight_groups)
        pairs = self._pairs(input)
        if any(a != b for a, b in pairs):
            raise ShapeError(
                f"[DeformConv2d] 'padding' must be the same on both sides of each axis, got {pairs}; use Explicit"
            )
        options = DeformConvOptions(
            self.stride, [a for a, _ in pairs], self.dilation, self.weight_groups, self.offset_groups
        )
        return functional.deform_conv2d(
            input, offset, weight, mask, None if self.bias is None else self.bias.val(), options
        )

    def custom_content(self, content):
        for name in ("stride", "kernel_size", "dilation", "weight_groups", "offset_groups", "padding"):
            content.add(name, getattr(self, name))
        return content
