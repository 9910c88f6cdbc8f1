"""What the constructors of tensors share: the device, dtype and shape that the caller means."""

from burn.device import Device
from burn.errors import ArgumentTypeError, ShapeError
from burn.tensor.dtype import DType, Kind
from burn.tensor.shape import as_shape

__all__ = ["options", "shape_of"]


def options(device, dtype, kind, op):
    """(device, dtype) of a new tensor; locks the device's settings. As in Burn, a Bool tensor has the device's own store."""
    if isinstance(device, tuple):
        if len(device) != 2:
            raise ArgumentTypeError(
                f"[{op}] 'device' must be a Device or a (Device, dtype) pair, got {len(device)} items"
            )
        device, dtype = device
    if not isinstance(kind, Kind):
        raise ArgumentTypeError(f"[{op}] 'kind' must be Float, Int or Bool, got {kind!r}")
    if device is None:
        device = Device.default()
    elif not isinstance(device, Device):
        raise ArgumentTypeError(
            f"[{op}] 'device' must be a Device or a (Device, dtype) pair, got {type(device).__name__}"
        )
    settings = device._lock_settings()
    if dtype is None:
        dtype = {1: settings.float_dtype, 2: settings.int_dtype, 4: settings.bool_dtype}[kind.value]
    else:
        dtype = DType.of(dtype)
        dtype = settings.bool_dtype if dtype.is_bool else dtype
    return device, dtype


def shape_of(shape, op):
    dims = as_shape(shape, op)
    if not dims:
        raise ShapeError(f"[{op}] 'shape' must have at least one axis, got []; a scalar has shape [1]")
    return dims
