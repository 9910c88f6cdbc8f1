"""Options of functional layers: what `burn.tensor.module` takes beside tensors. Mirrors the option types of `burn::tensor::ops`.

Sizes along the spatial axes are given as a list of one int an axis; a single int stands for the same on a single axis.
One class serves every number of axes; the function that takes the options checks it.
"""

import dataclasses
import enum
import math
import numbers
from collections.abc import Iterable
from typing import Any

from burn._arguments import instance, integer, shown, truth
from burn._hints import lacking as _lacking
from burn.errors import ArgumentError, ArgumentTypeError, ShapeError

__all__ = [
    "AttentionModuleOptions",
    "AvgPoolOptions",
    "ConvOptions",
    "ConvTransposeOptions",
    "DeformConvOptions",
    "GridSampleOptions",
    "GridSamplePaddingMode",
    "InterpolateMode",
    "InterpolateOptions",
    "MaxPoolOptions",
    "UnfoldOptions",
]


def _sizes(op: str, name: str, value: Any, low: int, axes: int | None = None) -> tuple[int, ...]:
    """One int an axis, none below `low`; `axes` many where that is given."""
    values = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    sizes = tuple(integer(op, name, v, low, 2**31 - 1) for v in values)
    if not sizes or (axes is not None and len(sizes) != axes):
        raise ShapeError(f"[{op}] {name!r} must hold {axes or 'at least 1'} ints, one an axis, got {list(sizes)}")
    return sizes


def _pairs(op: str, name: str, value: Any, axes: int) -> tuple[tuple[int, int], ...]:
    """A pair (before, after) an axis, from ints (the same on both sides) or pairs."""
    values = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    pairs = tuple(
        (v, v) if isinstance(v, numbers.Integral) else tuple(v) if isinstance(v, list | tuple) else v for v in values
    )
    if len(pairs) != axes or not all(isinstance(p, tuple) and len(p) == 2 for p in pairs):
        raise ShapeError(
            f"[{op}] {name!r} must hold {axes} ints or pairs (before, after), one an axis, got {shown(value)}"
        )
    return tuple((integer(op, name, a, 0, 2**31 - 1), integer(op, name, b, 0, 2**31 - 1)) for a, b in pairs)


class _Uneven:
    """What options with a padding on both sides share."""

    padding: tuple[tuple[int, int], ...]

    def is_asymmetric(self) -> bool:
        """Whether the padding before differs from that after on some axis.

        >>> ConvOptions.new_with_padding([1], [(0, 1)], [1], 1).is_asymmetric()
        True
        """
        return any(a != b for a, b in self.padding)

    def padding_begin(self) -> list[int]:
        """The padding before each axis."""
        return [a for a, _ in self.padding]

    def padding_end(self) -> list[int]:
        """The padding after each axis."""
        return [b for _, b in self.padding]

    def symmetric_padding(self) -> list[int]:
        """The padding of each axis, which must be the same on both sides.

        Raises:
            ArgumentError: it is not.
        """
        if self.is_asymmetric():
            raise ArgumentError(
                f"[{type(self).__name__}] 'padding' must be the same on both sides, got {list(self.padding)}"
            )
        return self.padding_begin()


@dataclasses.dataclass(frozen=True)
class ConvOptions(_Uneven):
    """Stride, padding, dilation and groups of a convolution. Mirrors `ConvOptions`, which has no defaults either.

    Args:
        stride: step of the kernel along each axis, at least 1.
        padding: zeros around each axis: an int for both sides, or a pair (before, after).
        dilation: distance of the kernel's elements along each axis, at least 1.
        groups: number of groups of channels, at least 1.

    >>> ConvOptions([1, 1], [1, (0, 2)], [1, 1], 1).padding
    ((1, 1), (0, 2))
    """

    stride: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    groups: int

    def __post_init__(self) -> None:
        op = "ConvOptions"
        stride = _sizes(op, "stride", self.stride, 1)
        object.__setattr__(self, "stride", stride)
        object.__setattr__(self, "padding", _pairs(op, "padding", self.padding, len(stride)))
        object.__setattr__(self, "dilation", _sizes(op, "dilation", self.dilation, 1, len(stride)))
        object.__setattr__(self, "groups", integer(op, "groups", self.groups, 1))

    @classmethod
    def new_with_padding(cls, stride, padding, dilation, groups) -> "ConvOptions":
        """Options with a pair (before, after) of padding an axis. Mirrors `ConvOptions::new_with_padding`."""
        return cls(stride, padding, dilation, groups)


@dataclasses.dataclass(frozen=True)
class ConvTransposeOptions:
    """Stride, padding and so on of a transposed convolution. Mirrors `ConvTransposeOptions`.

    Args:
        stride: distance of the input's elements in the output along each axis, at least 1.
        padding: elements cut off on both sides of each axis.
        padding_out: elements added at the end of each axis.
        dilation: distance of the kernel's elements, at least 1.
        groups: number of groups of channels, at least 1.

    >>> ConvTransposeOptions([2], [0], [1], [1], 1).padding_out
    (1,)
    """

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    padding_out: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int

    def __post_init__(self) -> None:
        op = "ConvTransposeOptions"
        stride = _sizes(op, "stride", self.stride, 1)
        object.__setattr__(self, "stride", stride)
        for name, low in (("padding", 0), ("padding_out", 0), ("dilation", 1)):
            object.__setattr__(self, name, _sizes(op, name, getattr(self, name), low, len(stride)))
        object.__setattr__(self, "groups", integer(op, "groups", self.groups, 1))


@dataclasses.dataclass(frozen=True)
class DeformConvOptions:
    """Options of a deformable convolution. Mirrors `DeformConvOptions`.

    Args:
        stride, padding, dilation: one int for each of the two axes.
        weight_groups: number of groups of channels, at least 1.
        offset_groups: number of groups of channels that share offsets, at least 1.

    >>> DeformConvOptions([1, 1], [0, 0], [1, 1], 1, 1).weight_groups
    1
    """

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    weight_groups: int
    offset_groups: int

    def __post_init__(self) -> None:
        op = "DeformConvOptions"
        for name, low in (("stride", 1), ("padding", 0), ("dilation", 1)):
            object.__setattr__(self, name, _sizes(op, name, getattr(self, name), low, 2))
        for name in ("weight_groups", "offset_groups"):
            object.__setattr__(self, name, integer(op, name, getattr(self, name), 1))


@dataclasses.dataclass(frozen=True)
class UnfoldOptions:
    """Stride, padding and dilation of the blocks of `unfold4d` and `fold4d`. Mirrors `UnfoldOptions`.

    >>> UnfoldOptions([2, 2], [0, 0], [1, 1]).stride
    (2, 2)
    """

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]

    def __post_init__(self) -> None:
        for name, low in (("stride", 1), ("padding", 0), ("dilation", 1)):
            object.__setattr__(self, name, _sizes("UnfoldOptions", name, getattr(self, name), low, 2))


@dataclasses.dataclass(frozen=True)
class _PoolOptions(_Uneven):
    """What both kinds of pooling share; the constructor takes the kernel alone, as Burn's does."""

    kernel_size: tuple[int, ...]
    stride: tuple[int, ...] = None  # type: ignore[assignment]
    padding: tuple[tuple[int, int], ...] = None  # type: ignore[assignment]
    ceil_mode: bool = False

    def __post_init__(self) -> None:
        op = type(self).__name__
        kernel = _sizes(op, "kernel_size", self.kernel_size, 1)
        axes = len(kernel)
        stride = kernel if self.stride is None else _sizes(op, "stride", self.stride, 1, axes)
        padding = (0,) * axes if self.padding is None else self.padding
        object.__setattr__(self, "kernel_size", kernel)
        object.__setattr__(self, "stride", stride)
        object.__setattr__(self, "padding", _pairs(op, "padding", padding, axes))
        object.__setattr__(self, "ceil_mode", truth(op, "ceil_mode", self.ceil_mode))

    def with_stride(self, stride):
        """The same with a step of the window along each axis."""
        return dataclasses.replace(self, stride=stride)

    def with_padding(self, padding):
        """The same with a padding for both sides of each axis."""
        sizes = _sizes(type(self).__name__, "padding", padding, 0, len(self.kernel_size))
        return dataclasses.replace(self, padding=tuple((n, n) for n in sizes))

    def with_padding_pairs(self, padding):
        """The same with a pair (before, after) of padding an axis."""
        return dataclasses.replace(self, padding=padding)

    def with_ceil_mode(self, ceil_mode):
        """The same with, or without, a last window that is not full."""
        return dataclasses.replace(self, ceil_mode=ceil_mode)


@dataclasses.dataclass(frozen=True)
class MaxPoolOptions(_PoolOptions):
    """Windows of max pooling. Mirrors `MaxPoolOptions`.

    Args:
        kernel_size: size of the window along each axis.
        stride: its step; the kernel size if left out.
        padding: cells around the input, which never win: an int or a pair (before, after) an axis.
        ceil_mode: whether a last window that is not full counts; it must start inside the input or the padding before it.
        dilation: distance of the window's cells.

    >>> MaxPoolOptions([3, 3]).with_stride([2, 2]).with_padding([1, 1])
    MaxPoolOptions(kernel_size=(3, 3), stride=(2, 2), padding=((1, 1), (1, 1)), ceil_mode=False, dilation=(1, 1))
    """

    dilation: tuple[int, ...] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        super().__post_init__()
        axes = len(self.kernel_size)
        dilation = (
            (1,) * axes if self.dilation is None else _sizes("MaxPoolOptions", "dilation", self.dilation, 1, axes)
        )
        object.__setattr__(self, "dilation", dilation)

    def with_dilation(self, dilation):
        """The same with a distance of the window's cells along each axis."""
        return dataclasses.replace(self, dilation=dilation)


@dataclasses.dataclass(frozen=True)
class AvgPoolOptions(_PoolOptions):
    """Windows of average pooling. Mirrors `AvgPoolOptions`.

    Args:
        kernel_size, stride, padding, ceil_mode: as for `MaxPoolOptions`; cells of the padding are 0.
        count_include_pad: whether cells of the padding count in the divisor.

    >>> AvgPoolOptions([2]).with_count_include_pad(False).stride
    (2,)
    """

    count_include_pad: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        truth("AvgPoolOptions", "count_include_pad", self.count_include_pad)

    def with_count_include_pad(self, count_include_pad):
        """The same with, or without, cells of the padding in the divisor."""
        return dataclasses.replace(self, count_include_pad=count_include_pad)


class InterpolateMode(enum.Enum):
    """How `interpolate` and `grid_sample_2d` find a value between elements. Mirrors `InterpolateMode`."""

    Nearest = "Nearest"
    NearestExact = "NearestExact"
    Bilinear = "Bilinear"
    Bicubic = "Bicubic"
    Lanczos3 = "Lanczos3"


class GridSamplePaddingMode(enum.Enum):
    """What `grid_sample_2d` reads outside the image. Mirrors `GridSamplePaddingMode`."""

    Zeros = "Zeros"
    Border = "Border"
    Reflection = "Reflection"


@dataclasses.dataclass(frozen=True)
class InterpolateOptions:
    """Mode and target of `interpolate`. Mirrors `InterpolateOptions`.

    Args:
        mode: an `InterpolateMode`.
        align_corners: whether the outermost points of input and output coincide; the default, as in Burn.
        output_size: [height, width] of the output. Exactly one of this and the next must be given.
        scale_factor: [factor of the height, factor of the width].

    >>> InterpolateOptions(InterpolateMode.Bilinear).with_scale_factor([2.0, 2.0]).output_size is None
    True
    """

    mode: InterpolateMode
    align_corners: bool = True
    output_size: tuple[int, ...] | None = None
    scale_factor: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        op = "InterpolateOptions"
        instance(op, "mode", self.mode, InterpolateMode, "use InterpolateMode.Bilinear or another")
        truth(op, "align_corners", self.align_corners)
        if self.output_size is not None:
            object.__setattr__(self, "output_size", _sizes(op, "output_size", self.output_size, 0))
        if self.scale_factor is not None:
            values = self.scale_factor if isinstance(self.scale_factor, list | tuple) else (self.scale_factor,)
            if not all(isinstance(v, numbers.Real) and math.isfinite(v) and v > 0 for v in values):
                raise ArgumentError(
                    f"[{op}] 'scale_factor' must hold positive finite numbers, got {shown(self.scale_factor)}"
                )
            object.__setattr__(self, "scale_factor", tuple(map(float, values)))

    def with_align_corners(self, align_corners) -> "InterpolateOptions":
        """The same with, or without, outermost points that coincide."""
        return dataclasses.replace(self, align_corners=align_corners)

    def with_output_size(self, output_size) -> "InterpolateOptions":
        """The same with a size of the output; a factor is dropped."""
        return dataclasses.replace(self, output_size=output_size, scale_factor=None)

    def with_scale_factor(self, scale_factor) -> "InterpolateOptions":
        """The same with a factor; an output size is dropped."""
        return dataclasses.replace(self, scale_factor=scale_factor, output_size=None)


@dataclasses.dataclass(frozen=True)
class GridSampleOptions:
    """How `Tensor.grid_sample_2d` reads an image. Mirrors `GridSampleOptions`.

    Args:
        mode: Bilinear, Nearest or Bicubic.
        padding_mode: what lies outside the image.
        align_corners: whether -1 and 1 name the centres of the outermost elements; else their edges.

    >>> GridSampleOptions(InterpolateMode.Nearest).padding_mode
    <GridSamplePaddingMode.Zeros: 'Zeros'>
    """

    mode: InterpolateMode = InterpolateMode.Bilinear
    padding_mode: GridSamplePaddingMode = GridSamplePaddingMode.Zeros
    align_corners: bool = False

    def __post_init__(self) -> None:
        op = "GridSampleOptions"
        instance(op, "mode", self.mode, InterpolateMode, "use InterpolateMode.Bilinear or another")
        instance(
            op, "padding_mode", self.padding_mode, GridSamplePaddingMode, "use GridSamplePaddingMode.Zeros or another"
        )
        truth(op, "align_corners", self.align_corners)

    def with_padding_mode(self, padding_mode) -> "GridSampleOptions":
        """The same with other values outside the image."""
        return dataclasses.replace(self, padding_mode=padding_mode)

    def with_align_corners(self, align_corners) -> "GridSampleOptions":
        """The same with -1 and 1 at the centres, or at the edges, of the outermost elements."""
        return dataclasses.replace(self, align_corners=align_corners)


@dataclasses.dataclass(frozen=True)
class AttentionModuleOptions:
    """What `attention` does beside products and softmax. Mirrors `AttentionModuleOptions`.

    Args:
        scale: factor of the scores; 1 / sqrt(d) of queries of size d if None.
        softcap: c of `c * tanh(score / c)`, positive; none if None.
        is_causal: whether a query sees no key after its own position, counted from the last.

    >>> AttentionModuleOptions(is_causal=True).scale is None
    True
    """

    scale: float | None = None
    softcap: float | None = None
    is_causal: bool = False

    def __post_init__(self) -> None:
        op = "AttentionModuleOptions"
        for name in ("scale", "softcap"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, numbers.Real)):
                raise ArgumentTypeError(f"[{op}] {name!r} must be a number or None, got {shown(value)}")
        if self.softcap is not None and not self.softcap > 0:
            raise ArgumentError(f"[{op}] 'softcap' must be positive, got {self.softcap}")
        truth(op, "is_causal", self.is_causal)


def __getattr__(name):
    """Names that Burn has no longer say what to use."""
    raise _lacking(__name__, name)
