"""Checks at the boundary of a layer's forward."""

import math
from collections.abc import Callable

from burn._arguments import instance, integer, rename
from burn._ops.registry import check_device, check_same
from burn.errors import ArgumentError, BurnError, KindError, ShapeError
from burn.tensor import Float, Int, Tensor

_FLOAT, _INT = Float.value, Int.value


def named(layer: str, function: Callable[..., Tensor], *arguments) -> Tensor:
    """``function(*arguments)``, whose errors name the layer, and its input."""
    try:
        return function(*arguments)
    except BurnError as error:
        rename(error, layer, x="input", tensor="input")
        raise


def check_last(layer: str, input, size: int, name: str, like: Tensor | None = None) -> None:
    """Raises unless ``input`` is a Float tensor whose last axis has ``size`` elements, of the dtype of ``like``."""
    check_float(layer, input, "input")
    if input._dims[-1:] != (size,):
        raise ShapeError(
            f"[{layer}] 'input' must be [..., {name}] with {name} = {size}, got shape {input.dims()}"
        ) from None
    if like is not None:
        check_same(layer, like, input, "input")


def check_tensor(layer: str, value, argument: str) -> None:
    """Raises unless ``value`` is a tensor."""
    instance(layer, argument, value, Tensor, "use Tensor.from_data(...)")


def check_float(layer: str, value, argument: str) -> None:
    """Raises unless ``value`` is a Float tensor."""
    if type(value) is Tensor and value._kind == _FLOAT:
        return
    check_tensor(layer, value, argument)
    if value.kind is not Float:
        raise KindError(
            f"[{layer}] {argument!r} must be a Float tensor, got {value.dtype.name}; use .float()"
        ) from None


def check_int(layer: str, value, argument: str, like: Tensor) -> None:
    """Raises unless ``value`` is an Int tensor on the device of ``like``."""
    if type(value) is not Tensor or value._kind != _INT:
        check_tensor(layer, value, argument)
        if value.kind is not Int:
            raise KindError(f"[{layer}] {argument!r} must be an Int tensor, got {value.dtype.name}; use .int()")
    check_device(layer, like, value, argument)


def check_same_shape(layer: str, first, second, names: tuple[str, str]) -> None:
    """Raises unless two tensors have the same shape; nothing is broadcast."""
    check_tensor(layer, first, names[0])
    check_tensor(layer, second, names[1])
    if first._dims != second._dims:
        raise ShapeError(
            f"[{layer}] {names[1]!r} must have the shape of {names[0]!r}, "
            f"got {second.dims()} and {first.dims()}; expand or reshape it first"
        )


def check_alike(layer: str, **tensors) -> None:
    """Raises unless all are Float tensors of the dtype and the shape of the first; nothing is broadcast."""
    (name, first), *others = tensors.items()
    check_float(layer, first, name)
    for other, tensor in others:
        check_float(layer, tensor, other)
        check_same_shape(layer, first, tensor, (name, other))
        check_same(layer, first, tensor, other)


def check_size(config: str, name: str, value: int) -> int:
    """Raises unless a size in a config is a positive integer."""
    if integer(config, name, value) < 1:
        raise ArgumentError(f"[{config}] {name!r} must be a positive integer, got {value!r}")
    return int(value)


def check_sizes(config: str, name: str, value, axes: int, low: int = 1) -> list[int]:
    """One int for each axis, none below ``low``; for one axis the int alone is good."""
    values = [value] if isinstance(value, int) and axes == 1 else value
    if isinstance(values, int) or len(values) != axes:
        raise ShapeError(f"[{config}] {name!r} must hold {axes} ints, one an axis, got {value}")
    return [integer(config, name, item, low) for item in values]


def check_positive(config: str, name: str, value: float) -> float:
    """The value, which must be finite and positive."""
    if not (math.isfinite(value) and value > 0):
        raise ArgumentError(f"[{config}] {name!r} must be finite and positive, got {value}")
    return value


def check_margin(config: str, name: str, value: float) -> float:
    """The value, which must be finite and not negative."""
    if not (math.isfinite(value) and value >= 0):
        raise ArgumentError(f"[{config}] {name!r} must be finite and not negative, got {value}")
    return value


def check_rank(layer: str, input, name: str, axes: str) -> None:
    """Raises unless a tensor has the axes that are named, as in "batch, channels"."""
    if input.ndim != axes.count(",") + 1:
        raise ShapeError(f"[{layer}] {name!r} must be [{axes}], got shape {input.dims()}")


def check_channels(layer: str, input, channels: int, name: str, like: Tensor | None = None) -> None:
    """Raises unless ``input`` is a Float tensor of at least two axes, with ``channels`` on axis 1, of the dtype of ``like``."""
    check_float(layer, input, "input")
    if input._dims[1:2] != (channels,):
        raise ShapeError(
            f"[{layer}] 'input' must be [batch, {name}, ...] with {name} = {channels}, got shape {input.dims()}"
        )
    if like is not None:
        check_same(layer, like, input, "input")
