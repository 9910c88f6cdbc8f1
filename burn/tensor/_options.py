"""What the constructors of tensors share: the device, dtype and shape that the caller means."""

import dataclasses

from burn.device import Device
from burn.device.device import settings_in_use
from burn.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from burn.tensor.dtype import DType, Float, Int, Kind
from burn.tensor.shape import as_shape

__all__ = ["TensorCreationOptions", "are_options", "options", "shape_of"]


def _default(settings, kind):
    """The default dtype of a kind."""
    return settings.float_dtype if kind is Float else settings.int_dtype if kind is Int else settings.bool_dtype


@dataclasses.dataclass(frozen=True)
class TensorCreationOptions:
    """Where a new tensor lies and which dtype it has. Mirrors `burn::tensor::TensorCreationOptions`.

    Every constructor takes one where it takes a device. A device alone, or a (device, dtype) pair, stands for one.

    Args:
        device: the device; the default device if left out.
        dtype: a DType, its name, or a NumPy or Python type; if None the device's default for the kind of the tensor.

    Raises:
        ArgumentTypeError: 'device' is no Device.
        DTypeError: 'dtype' names no dtype.

    >>> from burn.tensor import Device, Tensor
    >>> options = TensorCreationOptions(Device.flex()).with_dtype("f64")
    >>> Tensor.ones([2], options).dtype
    DType.F64
    >>> options.with_device(Device.ndarray()).dtype, TensorCreationOptions.default().dtype
    (DType.F64, None)
    """

    device: Device = dataclasses.field(default_factory=Device.default)
    dtype: DType | None = None

    def __post_init__(self):
        if not isinstance(self.device, Device):
            raise ArgumentTypeError(
                f"[TensorCreationOptions] 'device' must be a Device, got {type(self.device).__name__}; use Device.flex() or "
                "Device.cuda()"
            )
        object.__setattr__(self, "dtype", None if self.dtype is None else DType.of(self.dtype))

    @classmethod
    def default(cls) -> "TensorCreationOptions":
        """The default device, and no dtype asked for. Mirrors `TensorCreationOptions::default`."""
        return cls()

    @classmethod
    def of(cls, value, op="TensorCreationOptions") -> "TensorCreationOptions":
        """The options that a Device, a (device, dtype) pair, options or None stand for. Mirrors `From` of both.

        Args:
            value: a Device, a (device, dtype) pair, options, or None for the default device.
            op: name of the operation in a message.

        Returns:
            TensorCreationOptions.

        Raises:
            ArgumentTypeError: anything else.

        >>> from burn.tensor import Device
        >>> TensorCreationOptions.of((Device.flex(), "i64")).dtype
        DType.I64
        """
        if isinstance(value, TensorCreationOptions):
            return value
        device, dtype = value if isinstance(value, tuple) and len(value) == 2 else (value, None)
        device = Device.default() if device is None else device
        if not isinstance(device, Device):
            hint = "; a shape is one argument, such as [2, 3]" if isinstance(device, int) else ""
            raise ArgumentTypeError(
                f"[{op}] 'device' must be a Device, a (Device, dtype) pair or TensorCreationOptions, got "
                f"{type(device).__name__}{hint}"
            )
        return cls(device, dtype)

    def with_dtype(self, dtype) -> "TensorCreationOptions":
        """The same device with a dtype. Mirrors `TensorCreationOptions::with_dtype`."""
        return dataclasses.replace(self, dtype=dtype)

    def with_device(self, device) -> "TensorCreationOptions":
        """The same dtype on a device. Mirrors `TensorCreationOptions::with_device`."""
        return dataclasses.replace(self, device=device)

    def dtype_or(self, dtype) -> DType:
        """The dtype asked for, or this one. Mirrors `TensorCreationOptions::dtype_or`.

        Args:
            dtype: a DType, its name, or a NumPy or Python type.

        >>> TensorCreationOptions.default().dtype_or("i32")
        DType.I32
        """
        return DType.of(dtype) if self.dtype is None else self.dtype


def are_options(value):
    """Whether a value stands for options: where a number may stand instead."""
    return isinstance(value, Device | tuple | TensorCreationOptions)


def options(device, dtype, kind, op, default=Float):
    """(device, dtype) of a new tensor; locks the device's settings. As in Burn, a Bool tensor has the device's own store.

    Args:
        device: what `TensorCreationOptions.of` takes.
        dtype: the dtype asked for by keyword, or None.
        kind: the kind that the tensor must have; None where it follows from the dtype, and is `default` without one.
    """
    device = Device.default() if device is None else device
    if type(device) is Device and (kind is None or type(kind) is Kind):
        if dtype is None:
            return device, _default(settings_in_use(device._slot), default if kind is None else kind)
        wanted = DType.of(dtype)
        if kind is None or kind is wanted.kind:
            return device, settings_in_use(device._slot).bool_dtype if wanted.is_bool else wanted
    if kind is not None and not isinstance(kind, Kind):
        raise ArgumentTypeError(f"[{op}] 'kind' must be Float, Int or Bool, got {kind!r}")
    given = TensorCreationOptions.of(device, op)
    wanted = given.dtype if dtype is None else DType.of(dtype)
    if given.dtype not in (None, wanted):
        raise ArgumentError(
            f"[{op}] 'dtype' must be that of the options, {given.dtype}, or be left out, got {wanted}; ask for one"
        )
    settings = given.device._lock_settings()
    if wanted is None:
        kind = default if kind is None else kind
        return given.device, _default(settings, kind)
    if kind not in (None, wanted.kind):
        raise DTypeError(
            f"[{op}] 'dtype' must be of kind {kind.name}, got {wanted} of kind {wanted.kind.name}; cast() the result"
        )
    return given.device, settings.bool_dtype if wanted.is_bool else wanted


def shape_of(shape, op):
    """The sizes of a new tensor, of which there must be one at least."""
    dims = as_shape(shape, op)
    if not dims:
        raise ShapeError(f"[{op}] 'shape' must have at least one axis, got []; a scalar has shape [1]")
    return dims
