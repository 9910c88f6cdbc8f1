"""What convolution layers share."""

import math

from burn._ops.registry import check_same
from burn.errors import ArgumentError, ShapeError
from burn.module import ONE_LINE, Module
from burn.nn._checks import check_float, check_size, check_sizes
from burn.nn.initializer import Initializer
from burn.nn.padding import padding_pairs
from burn.tensor import Tensor

UNIFORM = Initializer.KaimingUniform(1.0 / math.sqrt(3.0), False)
_AXES = ("length", "height, width", "depth, height, width")


def each_axis(value) -> list[int]:
    """One int an axis, of an int or a list."""
    return [value] if isinstance(value, int) else list(value)


def checked(config, axes: int, groups: str = "groups"):
    """Raises unless sizes are positive, one an axis, and the groups divide both numbers of channels; returns the channels."""
    name = type(config).__name__
    for field in ("kernel_size", "stride", "dilation"):
        check_sizes(name, field, getattr(config, field), axes)
    for field in ("padding", "padding_out"):
        values = getattr(config, field, None)
        if isinstance(values, (int, tuple, list)):
            check_sizes(name, field, values, axes, 0)
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


def parameters_of(config, channels, groups, device, transposed=False):
    """Weight and bias, still to be drawn. The fans are those of one group (Burn gives some layers none)."""
    c_in, c_out = channels
    kernel = each_axis(config.kernel_size)
    first, second = (c_in, c_out) if transposed else (c_out, c_in)
    fans = [c // groups * math.prod(kernel) for c in (channels[::-1] if transposed else channels)]
    weight = config.initializer.init_with([first, second // groups, *kernel], *fans, device)
    bias = config.initializer.init_with([c_out], *fans, device) if config.bias else None
    return weight, bias


class ConvLayer(Module):
    """What convolution layers share: the check of the input, and the printed line."""

    def _check(self, input: Tensor, channels: int) -> None:
        weight = self.weight.val()
        layer, axes = type(self).__name__, weight.ndim - 2
        check_float(layer, input, "input")
        if input.ndim != axes + 2:
            raise ShapeError(
                f"[{layer}] 'input' must be [batch, channels, {_AXES[axes - 1]}], got shape {input.dims()}"
            )
        if input._dims[1] != channels:
            raise ShapeError(
                f"[{layer}] 'input' must have {channels} channels. Number of channels in input tensor and input channels of "
                f"convolution must be equal. got: {input._dims[1]}, expected: {channels}; give the layer that many, "
                "or move the axis of channels to 1"
            )
        check_same(layer, weight, input, "input")

    def _pairs(self, input: Tensor) -> list[tuple[int, int]]:
        return padding_pairs(
            self.padding, input._dims[2:], *map(each_axis, (self.kernel_size, self.stride, self.dilation))
        )

    def custom_settings(self):
        return ONE_LINE
