"""The error classes of burn: each derives from `BurnError` and from the builtin that Python users would catch.

A message starts with the op in brackets and the argument in quotes, says what was seen, what was wanted, and what to do.
"""


class BurnError(Exception):
    """Base of every error that burn raises on purpose."""

    late = False  # whether an operation is at fault that had returned before, as on a GPU


class ShapeError(BurnError, ValueError):
    """Sizes, ranks or axes that do not fit the operation."""


class DTypeError(BurnError, TypeError):
    """Data types that differ, or that the operation does not take: cast first."""


class KindError(DTypeError):
    """A Float, Int or Bool tensor where another kind is needed."""


class OutOfBoundsError(BurnError, IndexError):
    """An index, or an axis number, outside its range; nothing was written."""


class ArgumentError(BurnError, ValueError):
    """A number or option outside its range."""


class NumberOverflowError(BurnError, OverflowError):
    """A number that does not fit the dtype."""


class DivisionByZeroError(BurnError, ZeroDivisionError):
    """An Int tensor divided by a 0: mask those values, or use a Float tensor."""


class DeviceError(BurnError, RuntimeError):
    """A device that is missing, differs from the other tensor's, or is already configured."""


class AutodiffError(BurnError, RuntimeError):
    """Autodiff state that does not allow the call (untracked, consumed, not a leaf)."""


class TensorReadError(BurnError):
    """The values of a tensor could not be read. Mirrors `TensorReadError`.

    Its variants are ExecutionError, DataError and InvalidShapeError.
    """


class InvalidShapeError(TensorReadError, ShapeError):
    """A tensor with another number of elements than is read. Mirrors `TensorReadError::InvalidShape`."""


class ExecutionError(TensorReadError, RuntimeError):
    """Work on a device failed while it ran. Mirrors `ExecutionError`."""

    def is_device_poisoned(self) -> bool:
        """Whether the device is lost until the process is restarted."""
        return isinstance(self, DevicePoisonedError)

    def reason(self) -> str:
        """What happened, as text."""
        return str(self)


class DevicePoisonedError(ExecutionError):
    """A fault that the device cannot recover from, such as an illegal access: restart the process.

    Mirrors `ExecutionError::DevicePoisoned`.
    """


class OutOfMemoryError(BurnError, MemoryError):
    """More memory was asked for than there is; nothing was allocated."""


class DeviceMemoryError(ExecutionError, OutOfMemoryError):
    """A device has no memory left, even after everything kept for reuse was given back."""


class DataError(TensorReadError, ValueError):
    """Host data that cannot be read or converted. Mirrors `DataError`; its variants are the classes below."""


class StorageAccessError(DataError):
    """The memory of host data cannot be accessed. Mirrors `DataError::StorageAccess`."""


class InvalidRepresentationError(DataError):
    """Bytes that are no value of the element type, such as a Bool of 2. Mirrors `DataError::InvalidRepresentation`."""


class DTypeMismatchError(DataError, TypeError):
    """Values that are read as another element type than theirs. Mirrors `DataError::DTypeMismatch`."""


class UnsupportedConversionError(DataError, TypeError):
    """No conversion leads from the one element type to the other. Mirrors `DataError::UnsupportedConversion`."""


class ElementCountMismatchError(DataError):
    """A shape that does not fit the number of values. Mirrors `DataError::ElementCountMismatch`."""


class InvalidByteLengthError(DataError):
    """A number of bytes that does not fit the shape and the element type. Mirrors `DataError::InvalidByteLength`."""


class ComparisonError(BurnError, AssertionError):
    """Two sets of values that a test found to differ."""


class RecordError(BurnError, ValueError):
    """A record that cannot be written, read or applied."""


class RecordIoError(RecordError, OSError):
    """The file of a record is missing, damaged or cannot be written."""


class RecordValidationError(RecordError):
    """A record and a module that do not fit each other."""


class StoreError(RecordError):
    """A store of parameters that cannot be read, written or applied to a module.

    Mirrors `burn::store::SafetensorsStoreError` and `PytorchStoreError`. Where a module was looked at, `result` is the
    `ApplyResult`, which lists what did not fit.
    """

    result: object = None


class StoreIoError(StoreError, RecordIoError):
    """The file of a store is missing, damaged or cannot be written."""


class StoreValidationError(StoreError, RecordValidationError):
    """A store and a module that do not fit each other; the module is as it was."""


class MissingTensorsError(StoreValidationError, LookupError):
    """Parameters that a store lacks, or a name that it does not hold."""


class ConfigError(BurnError, ValueError):
    """A configuration file that is missing or cannot be understood."""


class DatasetError(BurnError, RuntimeError):
    """An item of a data set could not be read."""


class ModuleError(BurnError, TypeError):
    """A module that breaks the rules of modules (unknown field type, one module in two places)."""


class ArgumentTypeError(BurnError, TypeError):
    """An argument of a type that the operation does not take."""


class NotYetError(BurnError, NotImplementedError, AttributeError):
    """A name of Burn that burn does not have yet; the message says what it waits for and what serves until then.

    It is an AttributeError too, so that `hasattr` is False for such a name.
    """
