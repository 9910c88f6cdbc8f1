"""Blocks of images as columns, and back."""

from burn.config import Config
from burn.tensor import Tensor, module
from burn.tensor.ops import UnfoldOptions

from ._checks import check_sizes, named
from ._printed import Printed


def _check(config) -> None:
    for name, low in (("kernel_size", 1), ("stride", 1), ("dilation", 1), ("padding", 0)):
        check_sizes(type(config).__name__, name, getattr(config, name), 2, low)


class Unfold4dConfig(Config):
    """Configuration of `Unfold4d`. Mirrors `burn::nn::Unfold4dConfig`.

    Args:
        kernel_size: size of the window, along each axis where there are several.
        stride: steps of the window.
        dilation: distance between neighbours in the window.
        padding: what is put around the input.

    >>> Unfold4dConfig([3, 3]).init()
    Unfold4d {kernel_size: [3, 3], stride: [1, 1], dilation: [1, 1], padding: [0, 0]}
    """

    kernel_size: list[int]
    stride: list[int] = (1, 1)
    dilation: list[int] = (1, 1)
    padding: list[int] = (0, 0)

    def init(self) -> "Unfold4d":
        """The layer.

        Raises:
            ArgumentError: a size, a stride or a dilation below 1, a negative padding.
            ShapeError: another number of axes than 2.
        """
        _check(self)
        return Unfold4d(self.kernel_size, self.stride, self.dilation, self.padding)


class Unfold4d(Printed):
    """Blocks of images as columns: see `burn.tensor.module.unfold4d`. Mirrors `burn::nn::Unfold4d`.

    Fields: `kernel_size`, `stride`, `dilation`, `padding`.

    >>> Unfold4d([1, 2]).forward(Tensor([[[[1.0, 2.0, 4.0]]]])).tolist()
    [[[1.0, 2.0], [2.0, 4.0]]]
    """

    kernel_size: list[int]
    stride: list[int]
    dilation: list[int]
    padding: list[int]

    def __init__(self, kernel_size, stride=(1, 1), dilation=(1, 1), padding=(0, 0)):
        self.kernel_size, self.stride, self.dilation, self.padding = map(list, (kernel_size, stride, dilation, padding))

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels, height, width]
        - output: [batch, channels * kernel height * kernel width, blocks]

        Raises:
            KindError: an input that is not Float.
            ShapeError: another rank, or a kernel larger than the padded input.
        """
        options = UnfoldOptions(self.stride, self.padding, self.dilation)
        return named("Unfold4d", module.unfold4d, input, self.kernel_size, options)


class Fold4dConfig(Config):
    """Configuration of `Fold4d`. Mirrors `burn::nn::Fold4dConfig`.

    Args:
        output_size: the new size.
        kernel_size: size of the window, along each axis where there are several.
        stride: steps of the window.
        dilation: distance between neighbours in the window.
        padding: what is put around the input.

    >>> Fold4dConfig([4, 4], [2, 2]).init()
    Fold4d {output_size: [4, 4], kernel_size: [2, 2], stride: [1, 1], dilation: [1, 1], padding: [0, 0]}
    """

    output_size: list[int]
    kernel_size: list[int]
    stride: list[int] = (1, 1)
    dilation: list[int] = (1, 1)
    padding: list[int] = (0, 0)

    def init(self) -> "Fold4d":
        """The layer.

        Raises:
            ArgumentError: a size, a stride or a dilation below 1, a negative padding.
            ShapeError: another number of axes than 2.
        """
        _check(self)
        check_sizes("Fold4dConfig", "output_size", self.output_size, 2)
        return Fold4d(self.output_size, self.kernel_size, self.stride, self.dilation, self.padding)


class Fold4d(Printed):
    """Columns back to images: see `burn.tensor.module.fold4d`. Mirrors `burn::nn::Fold4d`.

    Fields: `output_size`, `kernel_size`, `stride`, `dilation`, `padding`.

    >>> Fold4d([1, 3], [1, 2]).forward(Tensor([[[1.0, 2.0], [2.0, 4.0]]])).tolist()
    [[[[1.0, 4.0, 4.0]]]]
    """

    output_size: list[int]
    kernel_size: list[int]
    stride: list[int]
    dilation: list[int]
    padding: list[int]

    def __init__(self, output_size, kernel_size, stride=(1, 1), dilation=(1, 1), padding=(0, 0)):
        self.output_size, self.kernel_size = list(output_size), list(kernel_size)
        self.stride, self.dilation, self.padding = map(list, (stride, dilation, padding))

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels * kernel height * kernel width, blocks]
        - output: [batch, channels, height, width]

        Raises:
            KindError: an input that is not Float.
            ShapeError: another rank, or numbers of channels or blocks that do not fit the sizes.
        """
        options = UnfoldOptions(self.stride, self.padding, self.dilation)
        return named("Fold4d", module.fold4d, input, self.output_size, self.kernel_size, options)
