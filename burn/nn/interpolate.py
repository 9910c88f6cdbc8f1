"""Resampling layers. Mirrors `burn::nn::interpolate`."""

import enum

from burn._hints import teaching as _teaching
from burn._ops import interpolate as ops
from burn.config import F32, Config
from burn.module import ONE_LINE, Module
from burn.module.display import format_container
from burn.tensor import Tensor
from burn.tensor.ops import InterpolateMode as Functional
from burn.tensor.ops import InterpolateOptions

from ._checks import check_positive, check_sizes

__all__ = ["Interpolate1d", "Interpolate1dConfig", "Interpolate2d", "Interpolate2dConfig", "InterpolateMode"]


class InterpolateMode(enum.Enum):
    """How a layer finds a value between elements. Mirrors `burn::nn::interpolate::InterpolateMode`.

    >>> InterpolateMode.Linear
    <InterpolateMode.Linear: 'Linear'>
    """

    Nearest = "Nearest"
    NearestExact = "NearestExact"
    Linear = "Linear"
    Cubic = "Cubic"
    Lanczos = "Lanczos"


_FUNCTIONAL = {
    InterpolateMode.Nearest: Functional.Nearest,
    InterpolateMode.NearestExact: Functional.NearestExact,
    InterpolateMode.Linear: Functional.Bilinear,
    InterpolateMode.Cubic: Functional.Bicubic,
    InterpolateMode.Lanczos: Functional.Lanczos3,
}


def _check(config, axes: int) -> None:
    name, factors = type(config).__name__, config.scale_factor
    if config.output_size is not None:
        check_sizes(name, "output_size", config.output_size, axes)
    for factor in [] if factors is None else [factors] if axes == 1 else factors:
        check_positive(name, "scale_factor", factor)


class Interpolate1dConfig(Config):
    """Configuration of `Interpolate1d`; exactly one of `output_size` and `scale_factor` must be set.

    Mirrors `burn::nn::interpolate::Interpolate1dConfig`.

    Args:
        output_size: the new size.
        scale_factor: new size by size.
        mode: how a value between elements is found.
        align_corners: whether the outermost elements stay where they are.

    >>> Interpolate1dConfig().with_output_size(20).init()
    Interpolate1d {mode: Nearest, output_size: Some(20), scale_factor: None}
    """

    output_size: int | None = None
    scale_factor: F32 | None = None
    mode: InterpolateMode = InterpolateMode.Nearest
    align_corners: bool = True

    def init(self) -> "Interpolate1d":
        """The layer.

        Raises:
            ArgumentError: a size below 1, a factor that is not finite and positive.
        """
        _check(self, 1)
        return Interpolate1d(self.output_size, self.scale_factor, self.mode, self.align_corners)


class Interpolate2dConfig(Config):
    """Configuration of `Interpolate2d`; exactly one of `output_size` and `scale_factor` must be set.

    Mirrors `burn::nn::interpolate::Interpolate2dConfig`.

    Args:
        output_size: the new size.
        scale_factor: new size by size.
        mode: how a value between elements is found.
        align_corners: whether the outermost elements stay where they are.

    >>> Interpolate2dConfig().with_output_size([20, 20]).init()
    Interpolate2d {mode: Nearest, output_size: Some([20, 20]), scale_factor: None}
    """

    output_size: list[int] | None = None
    scale_factor: list[F32] | None = None
    mode: InterpolateMode = InterpolateMode.Nearest
    align_corners: bool = True

    def init(self) -> "Interpolate2d":
        """The layer.

        Raises:
            ArgumentError: a size below 1, a factor that is not finite and positive.
        """
        _check(self, 2)
        return Interpolate2d(self.output_size, self.scale_factor, self.mode, self.align_corners)


class _Interpolate(Module):
    """What the layers share: the printed form, and the call."""

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        content.add("mode", self.mode)
        content.add_field("output_size", self.output_size, False, True)
        if isinstance(self.scale_factor, list):
            return content.add_formatted(
                "scale_factor", format_container("[0..2]", self.scale_factor, content.settings)
            )
        return content.add("scale_factor", self.scale_factor)

    def _resample(self, input: Tensor, axes: int) -> Tensor:
        size, factor = ([v] if axes == 1 and v is not None else v for v in (self.output_size, self.scale_factor))
        options = InterpolateOptions(_FUNCTIONAL[self.mode], self.align_corners, size, factor)
        return ops.interpolate(type(self).__name__, input, options, InterpolateOptions, axes)


class Interpolate1d(_Interpolate):
    """The last axis in another size. Mirrors `burn::nn::interpolate::Interpolate1d`.

    Fields: `output_size`, `scale_factor`, `mode`, `align_corners`; see `burn.tensor.module.interpolate`.

    >>> Interpolate1d(output_size=4).forward(Tensor([[[1.0, 2.0]]])).tolist()
    [[[1.0, 1.0, 2.0, 2.0]]]
    """

    output_size: int | None
    scale_factor: float | None
    mode: InterpolateMode
    align_corners: bool

    def __init__(self, output_size=None, scale_factor=None, mode=InterpolateMode.Nearest, align_corners=True):
        self.output_size = output_size
        self.scale_factor = scale_factor
        self.mode = mode
        self.align_corners = align_corners

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels, length]
        - output: [batch, channels, new length]

        Raises:
            KindError: an input that is not Float.
            ShapeError: another rank, or an empty last axis.
            ArgumentError: a size and a factor, or neither.
        """
        return self._resample(input, 1)


class Interpolate2d(_Interpolate):
    """Planes in another size. Mirrors `burn::nn::interpolate::Interpolate2d`.

    Fields: `output_size`, `scale_factor`, `mode`, `align_corners`; see `burn.tensor.module.interpolate`.

    >>> Interpolate2d(output_size=[1, 4]).forward(Tensor([[[[1.0, 2.0]]]])).tolist()
    [[[[1.0, 1.0, 2.0, 2.0]]]]
    """

    output_size: list[int] | None
    scale_factor: list[float] | None
    mode: InterpolateMode
    align_corners: bool

    def __init__(self, output_size=None, scale_factor=None, mode=InterpolateMode.Nearest, align_corners=True):
        self.output_size = None if output_size is None else list(output_size)
        self.scale_factor = None if scale_factor is None else list(scale_factor)
        self.mode = mode
        self.align_corners = align_corners

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels, height, width]
        - output: [batch, channels, new height, new width]

        Raises:
            KindError: an input that is not Float.
            ShapeError: another rank, or an empty plane.
            ArgumentError: a size and a factor, or neither.
        """
        return self._resample(input, 2)


__getattr__ = _teaching("burn.nn.interpolate")
