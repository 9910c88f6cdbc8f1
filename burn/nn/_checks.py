"""Checks at the boundary of a layer's forward."""

from burn.errors import KindError, ShapeError
from burn.tensor import Float, Tensor


def check_last(layer: str, input, size: int, name: str) -> None:
    """Raises unless ``input`` is a tensor whose last axis has ``size`` elements."""
    check_tensor(layer, input, "input")
    if input._dims[-1] != size:
        raise ShapeError(
            f"[{layer}] 'input' must be [..., {name}] with {name} = {size}, got shape {input.dims()}"
        ) from None


def check_tensor(layer: str, value, argument: str) -> None:
    """Raises unless ``value`` is a tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"[{layer}] {argument!r} must be a Tensor, got {type(value).__name__}; use Tensor.from_data(...)"
        ) from None


def check_float(layer: str, value, argument: str) -> None:
    """Raises unless ``value`` is a Float tensor."""
    check_tensor(layer, value, argument)
    if value.kind is not Float:
        raise KindError(f"[{layer}] {argument!r} must be a Float tensor, got {value.dtype.name}; use .float()")


def check_same_shape(layer: str, first, second, names: tuple[str, str]) -> None:
    """Raises unless two tensors have the same shape; nothing is broadcast."""
    check_tensor(layer, first, names[0])
    check_tensor(layer, second, names[1])
    if first._dims != second._dims:
        raise ShapeError(
            f"[{layer}] {names[1]!r} must have the shape of {names[0]!r}, "
            f"got {second.dims()} and {first.dims()}; expand or reshape it first"
        )


def check_size(config: str, name: str, value: int) -> int:
    """Raises unless a size in a config is a positive integer."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"[{config}] {name!r} must be a positive integer, got {value!r}")
    return value
