"""Pooling layers. Mirrors `burn::nn::pool`."""

import dataclasses

from burn._hints import teaching as _teaching
from burn.config import Config
from burn.errors import ShapeError
from burn.tensor import Tensor, module
from burn.tensor.ops import AvgPoolOptions, MaxPoolOptions

from ._checks import check_float, check_sizes, named
from ._printed import Printed
from .padding import PaddingConfig1d, PaddingConfig2d, padding_pairs

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool1dConfig",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool2dConfig",
    "AdaptiveAvgPool3d",
    "AdaptiveAvgPool3dConfig",
    "AvgPool1d",
    "AvgPool1dConfig",
    "AvgPool2d",
    "AvgPool2dConfig",
    "MaxPool1d",
    "MaxPool1dConfig",
    "MaxPool2d",
    "MaxPool2dConfig",
]


class _Window(Config):
    """What the configs of windows share: checks, and a stride that is the kernel size where it is not given."""

    def __post_init__(self):
        stride = "strides" if hasattr(self, "strides") else "stride"
        if getattr(self, stride) is None:
            object.__setattr__(self, stride, self.kernel_size)
        axes = 2 if stride == "strides" else 1
        for name in ("kernel_size", stride, "dilation"):
            if hasattr(self, name):
                check_sizes(type(self).__name__, name, getattr(self, name), axes)


class _Pool(Printed):
    """A layer whose padding follows from the size of its input."""

    def _pairs(self, input: Tensor, axes: int, dilation) -> list[tuple[int, int]]:
        layer = type(self).__name__
        check_float(layer, input, "input")
        if input.ndim != axes + 2:
            names = "length" if axes == 1 else "height, width"
            raise ShapeError(f"[{layer}] 'input' must be [batch, channels, {names}], got shape {input.dims()}")
        sizes = [[v] if axes == 1 else v for v in (self.kernel_size, self.stride, dilation)]
        return padding_pairs(self.padding, input._dims[2:], *sizes)


class MaxPool1dConfig(_Window):
    """Configuration of `MaxPool1d`. Mirrors `burn::nn::pool::MaxPool1dConfig`.

    Args:
        kernel_size: size of the window, along each axis where there are several.
        stride: steps of the window; the kernel size if None.
        padding: what is put around the input.
        dilation: distance between neighbours in the window.
        ceil_mode: whether a last window that is not full counts.

    >>> MaxPool1dConfig(3).init()
    MaxPool1d {kernel_size: 3, stride: 3, padding: Valid, dilation: 1, ceil_mode: false}
    """

    kernel_size: int
    stride: int | None = None
    padding: PaddingConfig1d = PaddingConfig1d.Valid
    dilation: int = 1
    ceil_mode: bool = False

    def init(self) -> "MaxPool1d":
        """The layer."""
        return MaxPool1d(self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)


class MaxPool1d(_Pool):
    """The largest element of each window of the last axis. Mirrors `burn::nn::pool::MaxPool1d`.

    Padding never is the largest; NaN is. Fields: `kernel_size`, `stride`, `padding`, `dilation`, `ceil_mode`.

    >>> MaxPool1d(2, 1).forward(Tensor([[[3.0, 1.0, 4.0]]])).tolist()
    [[[3.0, 4.0]]]
    """

    kernel_size: int
    stride: int
    padding: PaddingConfig1d
    dilation: int
    ceil_mode: bool

    def __init__(self, kernel_size, stride, padding=PaddingConfig1d.Valid, dilation=1, ceil_mode=False):
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels, length]
        - output: [batch, channels, windows]

        Raises:
            KindError: an input that is not Float.
            ShapeError: another rank, or a window larger than the padded input.
        """
        pairs = self._pairs(input, 1, self.dilation)
        options = MaxPoolOptions([self.kernel_size], [self.stride], pairs, self.ceil_mode, [self.dilation])
        return named(type(self).__name__, module.max_pool1d, input, options)


class AvgPool1dConfig(_Window):
    """Configuration of `AvgPool1d`. Mirrors `burn::nn::pool::AvgPool1dConfig`.

    Args:
        kernel_size: size of the window, along each axis where there are several.
        stride: steps of the window; the kernel size if None.
        padding: what is put around the input.
        count_include_pad: whether padding counts in the divisor.
        ceil_mode: whether a last window that is not full counts.

    >>> AvgPool1dConfig(3).init()
    AvgPool1d {kernel_size: 3, stride: 3, padding: Valid, count_include_pad: true, ceil_mode: false}
    """

    kernel_size: int
    stride: int | None = None
    padding: PaddingConfig1d = PaddingConfig1d.Valid
    count_include_pad: bool = True
    ceil_mode: bool = False

    def init(self) -> "AvgPool1d":
        """The layer."""
        return AvgPool1d(self.kernel_size, self.stride, self.padding, self.count_include_pad, self.ceil_mode)


class AvgPool1d(_Pool):
    """The average of each window of the last axis. Mirrors `burn::nn::pool::AvgPool1d`.

    Fields: `kernel_size`, `stride`, `padding`, `count_include_pad`, `ceil_mode`.

    >>> AvgPool1d(2, 1).forward(Tensor([[[3.0, 1.0, 4.0]]])).tolist()
    [[[2.0, 2.5]]]
    """

    kernel_size: int
    stride: int
    padding: PaddingConfig1d
    count_include_pad: bool
    ceil_mode: bool

    def __init__(self, kernel_size, stride, padding=PaddingConfig1d.Valid, count_include_pad=True, ceil_mode=False):
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.count_include_pad = count_include_pad
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels, length]
        - output: [batch, channels, windows]

        Raises:
            KindError: an input that is not Float.
            ShapeError: another rank, or a window larger than the padded input.
        """
        pairs = self._pairs(input, 1, 1)
        options = AvgPoolOptions([self.kernel_size], [self.stride], pairs, self.ceil_mode, self.count_include_pad)
        return named(type(self).__name__, module.avg_pool1d, input, options)


class MaxPool2dConfig(_Window):
    """Configuration of `MaxPool2d`. Mirrors `burn::nn::pool::MaxPool2dConfig`.

    Args:
        kernel_size: size of the window, along each axis where there are several.
        strides: steps of the window; the kernel size if None.
        padding: what is put around the input.
        dilation: distance between neighbours in the window.
        ceil_mode: whether a last window that is not full counts.

    >>> MaxPool2dConfig([3, 3]).init()
    MaxPool2d {kernel_size: [3, 3], stride: [3, 3], padding: Valid, dilation: [1, 1], ceil_mode: false}
    """

    kernel_size: list[int]
    strides: list[int] | None = None
    padding: PaddingConfig2d = PaddingConfig2d.Valid
    dilation: list[int] = dataclasses.field(default_factory=lambda: [1, 1])
    ceil_mode: bool = False

    def init(self) -> "MaxPool2d":
        """The layer."""
        return MaxPool2d(self.kernel_size, self.strides, self.padding, self.dilation, self.ceil_mode)


class MaxPool2d(_Pool):
    """The largest element of each window of a plane. Mirrors `burn::nn::pool::MaxPool2d`.

    Padding never is the largest; NaN is. Fields: `kernel_size`, `stride`, `padding`, `dilation`, `ceil_mode`.

    >>> MaxPool2d([2, 2], [1, 1]).forward(Tensor([[[[3.0, 1.0], [4.0, 0.0]]]])).tolist()
    [[[[4.0]]]]
    """

    kernel_size: list[int]
    stride: list[int]
    padding: PaddingConfig2d
    dilation: list[int]
    ceil_mode: bool

    def __init__(self, kernel_size, stride, padding=PaddingConfig2d.Valid, dilation=(1, 1), ceil_mode=False):
        self.kernel_size = list(kernel_size)
        self.stride = list(stride)
        self.padding = padding
        self.dilation = list(dilation)
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels, height, width]
        - output: [batch, channels, windows down, windows across]

        Raises:
            KindError: an input that is not Float.
            ShapeError: another rank, or a window larger than the padded input.
        """
        pairs = self._pairs(input, 2, self.dilation)
        options = MaxPoolOptions(self.kernel_size, self.stride, pairs, self.ceil_mode, self.dilation)
        return named(type(self).__name__, module.max_pool2d, input, options)


class AvgPool2dConfig(_Window):
    """Configuration of `AvgPool2d`. Mirrors `burn::nn::pool::AvgPool2dConfig`.

    Args:
        kernel_size: size of the window, along each axis where there are several.
        strides: steps of the window; the kernel size if None.
        padding: what is put around the input.
        count_include_pad: whether padding counts in the divisor.
        ceil_mode: whether a last window that is not full counts.

    >>> AvgPool2dConfig([3, 3]).init()
    AvgPool2d {kernel_size: [3, 3], stride: [3, 3], padding: Valid, count_include_pad: true, ceil_mode: false}
    """

    kernel_size: list[int]
    strides: list[int] | None = None
    padding: PaddingConfig2d = PaddingConfig2d.Valid
    count_include_pad: bool = True
    ceil_mode: bool = False

    def init(self) -> "AvgPool2d":
        """The layer."""
        return AvgPool2d(self.kernel_size, self.strides, self.padding, self.count_include_pad, self.ceil_mode)


class AvgPool2d(_Pool):
    """The average of each window of a plane. Mirrors `burn::nn::pool::AvgPool2d`.

    Fields: `kernel_size`, `stride`, `padding`, `count_include_pad`, `ceil_mode`.

    >>> AvgPool2d([2, 2], [1, 1]).forward(Tensor([[[[3.0, 1.0], [4.0, 0.0]]]])).tolist()
    [[[[2.0]]]]
    """

    kernel_size: list[int]
    stride: list[int]
    padding: PaddingConfig2d
    count_include_pad: bool
    ceil_mode: bool

    def __init__(self, kernel_size, stride, padding=PaddingConfig2d.Valid, count_include_pad=True, ceil_mode=False):
        self.kernel_size = list(kernel_size)
        self.stride = list(stride)
        self.padding = padding
        self.count_include_pad = count_include_pad
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels, height, width]
        - output: [batch, channels, windows down, windows across]

        Raises:
            KindError: an input that is not Float.
            ShapeError: another rank, or a window larger than the padded input.
        """
        pairs = self._pairs(input, 2, [1, 1])
        options = AvgPoolOptions(self.kernel_size, self.stride, pairs, self.ceil_mode, self.count_include_pad)
        return named(type(self).__name__, module.avg_pool2d, input, options)


class AdaptiveAvgPool1dConfig(Config):
    """Configuration of `AdaptiveAvgPool1d`. Mirrors `burn::nn::pool::AdaptiveAvgPool1dConfig`.

    Args:
        output_size: the new size.

    >>> AdaptiveAvgPool1dConfig(3).init()
    AdaptiveAvgPool1d {output_size: 3}
    """

    output_size: int

    def init(self) -> "AdaptiveAvgPool1d":
        """The layer.

        Raises:
            ArgumentError: a size below 1.
        """
        check_sizes("AdaptiveAvgPool1dConfig", "output_size", self.output_size, 1)
        return AdaptiveAvgPool1d(self.output_size)


class AdaptiveAvgPool1d(Printed):
    """Averages over windows that cut the input into parts. Mirrors `burn::nn::pool::AdaptiveAvgPool1d`.

    Field: `output_size`.

    >>> AdaptiveAvgPool1d(2).forward(Tensor([[[3.0, 1.0, 4.0, 0.0]]])).tolist()
    [[[2.0, 2.0]]]
    """

    output_size: int

    def __init__(self, output_size):
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels, length]
        - output: [batch, channels, output_size]

        Raises:
            KindError: an input that is not Float.
            ShapeError: another rank.
        """
        return named(type(self).__name__, module.adaptive_avg_pool1d, input, self.output_size)


class AdaptiveAvgPool2dConfig(Config):
    """Configuration of `AdaptiveAvgPool2d`. Mirrors `burn::nn::pool::AdaptiveAvgPool2dConfig`.

    Args:
        output_size: the new size.

    >>> AdaptiveAvgPool2dConfig([3, 3]).init()
    AdaptiveAvgPool2d {output_size: [3, 3]}
    """

    output_size: list[int]

    def init(self) -> "AdaptiveAvgPool2d":
        """The layer.

        Raises:
            ArgumentError: a size below 1.
        """
        check_sizes("AdaptiveAvgPool2dConfig", "output_size", self.output_size, 2)
        return AdaptiveAvgPool2d(self.output_size)


class AdaptiveAvgPool2d(Printed):
    """Averages over windows that cut the input into parts. Mirrors `burn::nn::pool::AdaptiveAvgPool2d`.

    Field: `output_size`.

    >>> AdaptiveAvgPool2d([1, 1]).forward(Tensor([[[[3.0, 1.0], [4.0, 0.0]]]])).tolist()
    [[[[2.0]]]]
    """

    output_size: list[int]

    def __init__(self, output_size):
        self.output_size = list(output_size)

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels, height, width]
        - output: [batch, channels, *output_size]

        Raises:
            KindError: an input that is not Float.
            ShapeError: another rank.
        """
        return named(type(self).__name__, module.adaptive_avg_pool2d, input, self.output_size)


class AdaptiveAvgPool3dConfig(Config):
    """Configuration of `AdaptiveAvgPool3d`. Mirrors `burn::nn::pool::AdaptiveAvgPool3dConfig`.

    Args:
        output_size: the new size.

    >>> AdaptiveAvgPool3dConfig([3, 3, 3]).init()
    AdaptiveAvgPool3d {output_size: [3, 3, 3]}
    """

    output_size: list[int]

    def init(self) -> "AdaptiveAvgPool3d":
        """The layer.

        Raises:
            ArgumentError: a size below 1.
        """
        check_sizes("AdaptiveAvgPool3dConfig", "output_size", self.output_size, 3)
        return AdaptiveAvgPool3d(self.output_size)


class AdaptiveAvgPool3d(Printed):
    """Averages over windows that cut the input into parts. Mirrors `burn::nn::pool::AdaptiveAvgPool3d`.

    Field: `output_size`.

    >>> AdaptiveAvgPool3d([1, 1, 1]).forward(Tensor([[[[[3.0, 1.0], [4.0, 0.0]]]]])).tolist()
    [[[[[2.0]]]]]
    """

    output_size: list[int]

    def __init__(self, output_size):
        self.output_size = list(output_size)

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels, depth, height, width]
        - output: [batch, channels, *output_size]

        Raises:
            KindError: an input that is not Float.
            ShapeError: another rank.
        """
        return named(type(self).__name__, module.adaptive_avg_pool3d, input, self.output_size)


__getattr__ = _teaching("burn.nn.pool")
