"""What travels through a container: named tensors as bytes, and scalars."""

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from burn._arguments import shown
from burn.errors import ArgumentTypeError, BurnError, RecordIoError

from .base import PackError, TensorBytesSizeMismatch, ValidationError
from .dtype import PackDType

_U64_MAX = (1 << 64) - 1
_MAX_RANK = 1024


class PackTensor:
    """A named tensor as a container holds it: dtype, shape, id, and bytes that are resident or produced on demand.

    Mirrors `burn_pack::Tensor`.

    >>> tensor = PackTensor.from_numpy("weight", np.ones((2, 3), "f4"), param_id=7)
    >>> tensor.shape, str(tensor.dtype), tensor.byte_len()
    ((2, 3), 'F32', 24)
    """

    __slots__ = ("_byte_len", "_bytes", "_constant", "_fill", "_provider", "dtype", "name", "param_id", "shape")

    def __init__(self, name: str, dtype: PackDType, shape, data, param_id: int | None = None):
        """A tensor whose bytes are at hand.

        Args:
            name: the name in the container.
            dtype: element type.
            shape: sizes; () for a single number without axes.
            data: the row-major little-endian bytes, as bytes or as a C-contiguous buffer.
            param_id: the id of the parameter, if it has one.
        """
        self.name = name
        self.dtype = dtype
        self.shape = tuple(operator.index(size) for size in shape)
        self.param_id = None if param_id is None else operator.index(param_id)
        if any(size < 0 for size in self.shape):
            raise ValidationError(f"[burnpack] 'shape' must hold no negative size, got {list(self.shape)} for {name!r}")
        if self.param_id is not None and not 0 <= self.param_id <= _U64_MAX:
            raise ValidationError(f"[burnpack] 'param_id' must fit 64 bits, got {self.param_id} for {name!r}")
        self._bytes = None if data is None else as_bytes(data)
        self._provider = self._fill = None
        self._constant = data is not None and isinstance(self._bytes.obj, bytes)
        self._byte_len = None if data is None else self._bytes.nbytes

    @classmethod
    def deferred(
        cls,
        name: str,
        dtype: PackDType,
        shape,
        byte_len: int,
        provider: Callable,
        param_id: int | None = None,
        fill: Callable | None = None,
        constant: bool = False,
    ) -> "PackTensor":
        """A tensor whose bytes are produced by ``provider()`` each time they are asked for; nothing is kept.

        ``fill(buffer)``, if there is one, writes the same bytes into memory of the caller. ``constant``: whether nobody ever
        writes to the bytes that a call gave.
        """
        tensor = cls(name, dtype, shape, None, param_id)
        tensor._provider, tensor._fill, tensor._constant = provider, fill, constant
        tensor._byte_len = operator.index(byte_len)
        return tensor

    @classmethod
    def from_numpy(cls, name: str, array: np.ndarray, param_id: int | None = None) -> "PackTensor":
        """A tensor with the values of an array, whatever its memory order."""
        # ascontiguousarray would turn a 0-d array into a 1-d one.
        array = np.asarray(array, order="C")
        if array.dtype.byteorder == ">":
            array = array.astype(array.dtype.newbyteorder("<"))
        return cls(name, PackDType.from_numpy(array.dtype), array.shape, array, param_id)

    def byte_len(self) -> int:
        """Number of bytes, without producing them."""
        return self._byte_len

    def to_bytes(self) -> memoryview:
        """The bytes, read or produced now.

        Raises:
            TensorBytesSizeMismatch: a provider gave another number of bytes than declared.
            PackError: the provider failed; the message names the tensor.
        """
        if self._provider is None:
            return self._bytes
        data = as_bytes(self._named(self._provider))
        if data.nbytes != self._byte_len:
            raise TensorBytesSizeMismatch(
                f"[burnpack] tensor {self.name!r}: its source gave {data.nbytes} bytes, declared were {self._byte_len}"
            )
        return data

    def _named(self, source: Callable, *args):
        """What a source of bytes gives; its errors name the tensor."""
        try:
            return source(*args)
        except RecordIoError as error:
            raise type(error)(f"tensor {self.name!r}: {error}") from error
        except OSError as error:
            if isinstance(error, BurnError):
                raise
            raise PackError(f"tensor {self.name!r}: {error}") from error

    def is_deferred(self) -> bool:
        """Whether the bytes are read or produced when they are asked for."""
        return self._provider is not None

    def is_stored(self) -> bool:
        """Whether the bytes lie in a file and can be read into memory of the caller."""
        return self._fill is not None

    def is_constant(self) -> bool:
        """Whether the bytes that `to_bytes` gives can never change, so that their memory may be shared."""
        return self._constant

    def read_into(self, buffer) -> None:
        """Reads the bytes of a stored tensor into a writable buffer of their size.

        Raises:
            PackError: the file cannot be read any more; the message names the tensor.
        """
        self._named(self._fill, buffer)

    def to_numpy(self) -> np.ndarray:
        """The values as an array of the declared shape (read-only where the bytes are); quantized data as flat u8.

        Raises:
            PackError: the bytes cannot be read, or no array has that shape.
        """
        flat = np.frombuffer(self.to_bytes(), self.dtype.numpy)
        if self.dtype.name == "QFloat":
            return flat
        try:
            return flat.reshape(self.shape)
        except ValueError as error:  # beside a size of 0 the others may be anything
            shown = f"{list(self.shape[:8])}{' and so on' if len(self.shape) > 8 else ''}"
            raise ValidationError(
                f"[burnpack] tensor {self.name!r} has {len(self.shape)} axes of the sizes {shown}, as no array has: {error}"
            ) from error

    def __reduce__(self):
        # What lies in a file is read: another process may not reach the file.
        return PackTensor, (self.name, self.dtype, self.shape, bytes(self.to_bytes()), self.param_id)

    def __repr__(self):
        return f"PackTensor({self.name!r}, {self.dtype}, {list(self.shape)}, param_id={self.param_id})"


def as_bytes(data) -> memoryview:
    """A flat byte view of a C-contiguous buffer, without copying."""
    try:
        if isinstance(data, np.ndarray):
            data = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
        view = memoryview(data)
        return view if view.format == "B" and view.ndim == 1 else view.cast("B")
    except TypeError as error:
        raise ArgumentTypeError(
            f"[burnpack] 'data' must be bytes or a contiguous buffer of numbers, got {shown(data)}"
        ) from error


def check_declared_size(tensor_name: str, dtype: PackDType, shape, byte_len: int):
    """Raises unless ``byte_len`` is what shape and dtype need; quantized data is not checked."""
    # Products of absurdly many sizes would take for ever.
    count = math.prod(shape) if len(shape) <= _MAX_RANK else _U64_MAX + 1
    if count > _U64_MAX or (dtype.itemsize and count * dtype.itemsize > _U64_MAX):
        raise ValidationError(f"[burnpack] the size of tensor {tensor_name!r} with {len(shape)} axes overflows 64 bits")
    needed = dtype.byte_len(shape)
    if needed is not None and needed != byte_len:
        raise ValidationError(
            f"[burnpack] tensor {tensor_name!r} has {byte_len} bytes, "
            f"but its shape {list(shape)} and dtype {dtype} need {needed}"
        )


@dataclass(frozen=True)
class Scalar:
    """A number of a container with its variant: ``Int`` (i64), ``UInt`` (u64), ``Float`` (f64) or ``Bool``.

    Mirrors `burn_pack::Scalar`.

    >>> Scalar.UInt(3).as_int(), Scalar.Int(-1).as_float()
    (3, -1.0)
    """

    variant: str
    value: int | float | bool

    def __post_init__(self):
        value, fits = self.value, False
        if self.variant == "Bool":
            fits = isinstance(value, bool)
        elif self.variant == "Float":
            fits = isinstance(value, float)
        elif self.variant in ("Int", "UInt") and isinstance(value, int) and not isinstance(value, bool):
            low, high = (-(1 << 63), (1 << 63) - 1) if self.variant == "Int" else (0, _U64_MAX)
            fits = low <= value <= high
        if not fits:
            raise ValidationError(f"[burnpack] 'value' must fit a scalar of variant {self.variant}, got {value!r}")

    @classmethod
    def Int(cls, value) -> "Scalar":
        """A signed 64-bit integer."""
        return cls("Int", operator.index(value))

    @classmethod
    def UInt(cls, value) -> "Scalar":
        """An unsigned 64-bit integer."""
        return cls("UInt", operator.index(value))

    @classmethod
    def Float(cls, value) -> "Scalar":
        """A double."""
        return cls("Float", float(value))

    @classmethod
    def Bool(cls, value) -> "Scalar":
        """A truth value."""
        return cls("Bool", bool(value))

    @classmethod
    def of(cls, value) -> "Scalar":
        """The scalar of a Python or NumPy number; a Python int is an ``Int`` where it fits, else a ``UInt``."""
        if isinstance(value, Scalar):
            return value
        if isinstance(value, (bool, np.bool_)):
            return cls.Bool(value)
        if isinstance(value, (float, np.floating)):
            return cls.Float(value)
        if isinstance(value, np.unsignedinteger):
            return cls.UInt(value)
        number = operator.index(value)
        return cls.Int(number) if number < 1 << 63 else cls.UInt(number)

    def as_int(self) -> int:
        """The integer; raises for a Float or a Bool."""
        return self._take("an integer", "Int", "UInt")

    def as_float(self) -> float:
        """The number as a float; raises for a Bool."""
        return float(self._take("a float", "Float", "Int", "UInt"))

    def as_bool(self) -> bool:
        """The truth value; raises for a number."""
        return self._take("a bool", "Bool")

    def _take(self, wanted: str, *variants: str):
        if self.variant not in variants:
            raise ValidationError(f"[burnpack] the scalar must be {wanted}, got {self.variant}({self.value!r})")
        return self.value
