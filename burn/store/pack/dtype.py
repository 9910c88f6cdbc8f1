"""Element types as burnpack names them, with their CBOR form, their size and their NumPy type."""

import math
from dataclasses import dataclass

import numpy as np

from .base import MetadataDeserializationError, ValidationError

_SIZES = {
    "F64": 8, "F32": 4, "Flex32": 4, "F16": 2, "BF16": 2,
    "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U64": 8, "U32": 4, "U16": 2, "U8": 1,
}  # fmt: skip
_BOOL_SIZES = {"Native": 1, "U8": 1, "U32": 4}
_NUMPY = {
    "F64": "<f8", "F32": "<f4", "Flex32": "<f4", "F16": "<f2",
    "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1",
}  # fmt: skip
_BOOL_NUMPY = {"Native": "?", "U8": "u1", "U32": "<u4"}
_QUANT_KEYS = ("value", "store", "mode", "tensor", "block")


@dataclass(frozen=True)
class PackDType:
    """An element type of a container.

    Attributes:
        name: ``F64 F32 Flex32 F16 BF16 I64 .. I8 U64 .. U8``, ``Bool`` or ``QFloat``.
        store: of a Bool, ``Native`` (one byte, 0 or 1), ``U8`` or ``U32``.
        scheme: of a QFloat, the quantization scheme as ``(key, value)`` pairs in file order; None otherwise.

    >>> PackDType("F32").itemsize, str(PackDType("Bool")), PackDType("I64").numpy
    (4, 'Bool(Native)', dtype('int64'))
    """

    name: str
    store: str | None = None
    scheme: tuple | None = None

    def __post_init__(self):
        if self.name == "Bool":
            object.__setattr__(self, "store", self.store or "Native")
            known = self.store in _BOOL_SIZES
        else:
            known = self.name in _SIZES or self.name == "QFloat"
        if not known:
            raise ValidationError(f"[burnpack] 'dtype' must be one of {' '.join(_SIZES)} Bool QFloat, got {self}")

    @property
    def kind(self) -> str:
        """``float``, ``int`` (unsigned ones too), ``bool`` or ``quantized``."""
        return {"Bool": "bool", "QFloat": "quantized"}.get(self.name) or ("int" if self.name[0] in "IU" else "float")

    @property
    def itemsize(self) -> int | None:
        """Bytes of one element; None for quantized data, whose elements may be smaller than a byte."""
        return _BOOL_SIZES[self.store] if self.name == "Bool" else _SIZES.get(self.name)

    @property
    def numpy(self) -> np.dtype:
        """The NumPy type of the stored bytes (u8 for quantized data)."""
        if self.name == "BF16":
            import ml_dtypes

            return np.dtype(ml_dtypes.bfloat16)
        if self.name == "QFloat":
            return np.dtype("u1")
        return np.dtype(_BOOL_NUMPY[self.store] if self.name == "Bool" else _NUMPY[self.name])

    @classmethod
    def from_numpy(cls, dtype: np.dtype) -> "PackDType":
        """The element type of a NumPy array: integers, floats, bool and ml_dtypes' bfloat16."""
        dtype = np.dtype(dtype)
        if dtype.kind == "b":
            return cls("Bool")
        if dtype.name == "bfloat16":
            return cls("BF16")
        name = f"{dtype.kind.upper()}{dtype.itemsize * 8}"
        if dtype.kind not in "fiu" or name not in _SIZES:
            raise ValidationError(f"[burnpack] 'dtype' must be a type that burnpack has, got NumPy's {dtype}")
        return cls(name)

    def byte_len(self, shape) -> int | None:
        """Bytes of a tensor of this type; None for quantized data."""
        return None if self.itemsize is None else math.prod(shape) * self.itemsize

    def to_cbor(self):
        """The value under the key ``dtype`` of a descriptor."""
        if self.name == "Bool":
            return {"Bool": self.store}
        if self.name == "QFloat":
            return {"QFloat": _thaw(self.scheme)}
        return self.name

    @classmethod
    def from_cbor(cls, value, tensor: str) -> "PackDType":
        """Reads the value under the key ``dtype``; the plain text ``Bool`` of old files is a native bool.

        Raises:
            MetadataDeserializationError: an unknown or malformed type; the message names the tensor.
        """
        if isinstance(value, str) and (value in _SIZES or value == "Bool"):
            return cls(value)
        if isinstance(value, dict) and len(value) == 1:
            ((name, detail),) = value.items()
            if name == "Bool" and isinstance(detail, str) and detail in _BOOL_SIZES:
                return cls("Bool", detail)
            if name == "QFloat" and isinstance(detail, dict):
                missing = [key for key in _QUANT_KEYS if key not in detail]
                if not missing:
                    return cls("QFloat", scheme=_freeze({key: detail[key] for key in _QUANT_KEYS}))
                raise MetadataDeserializationError(
                    f"[burnpack] the quantization scheme of tensor {tensor!r} lacks {', '.join(missing)}: it was "
                    "written by a Burn release before 0.22; save the file again from Burn 0.22"
                )
        raise MetadataDeserializationError(
            f"[burnpack] tensor {tensor!r} has the unknown dtype {_shorten(value)}; "
            "if an older Burn release wrote the file, export it as safetensors there and load that"
        )

    def __str__(self):
        if self.name == "Bool":
            return f"Bool({self.store})"
        if self.name == "QFloat" and self.scheme:
            return f"QFloat({', '.join(f'{key}: {_thaw(value)}' for key, value in self.scheme)})"
        return self.name


def _freeze(value):
    if isinstance(value, dict):
        return tuple((key, _freeze(item)) for key, item in value.items())
    return _List(_freeze(item) for item in value) if isinstance(value, (list, tuple)) else value


class _List(tuple):
    """An array of the file, told apart from the pairs of a map; hashable."""

    __slots__ = ()


def _thaw(value):
    if isinstance(value, _List):
        return [_thaw(item) for item in value]
    if isinstance(value, tuple):
        return {key: _thaw(item) for key, item in value}
    return value


def _shorten(value) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
