"""What a pickle of PyTorch is made of, as far as it is looked at: nothing here is an object of the classes it names."""

from dataclasses import dataclass
from typing import Any, ClassVar

from burn.store.pack import PackDType

# Storage classes of PyTorch, with the dtype and the bytes of an element; None as dtype: burn does not have it.
STORAGES: dict[str, tuple[PackDType | None, int]] = {
    "FloatStorage": (PackDType("F32"), 4),
    "DoubleStorage": (PackDType("F64"), 8),
    "HalfStorage": (PackDType("F16"), 2),
    "BFloat16Storage": (PackDType("BF16"), 2),
    "LongStorage": (PackDType("I64"), 8),
    "IntStorage": (PackDType("I32"), 4),
    "ShortStorage": (PackDType("I16"), 2),
    "CharStorage": (PackDType("I8"), 1),
    "ByteStorage": (PackDType("U8"), 1),
    "BoolStorage": (PackDType("Bool"), 1),
    "UntypedStorage": (None, 1),
    "ComplexFloatStorage": (None, 8),
    "ComplexDoubleStorage": (None, 16),
    "QInt8Storage": (None, 1),
    "QUInt8Storage": (None, 1),
    "QInt32Storage": (None, 4),
    "QUInt4x2Storage": (None, 1),
    "QUInt2x4Storage": (None, 1),
}
DTYPES: dict[str, tuple[PackDType | None, int]] = {
    "float32": STORAGES["FloatStorage"],
    "float": STORAGES["FloatStorage"],
    "float64": STORAGES["DoubleStorage"],
    "double": STORAGES["DoubleStorage"],
    "float16": STORAGES["HalfStorage"],
    "half": STORAGES["HalfStorage"],
    "bfloat16": STORAGES["BFloat16Storage"],
    "int64": STORAGES["LongStorage"],
    "long": STORAGES["LongStorage"],
    "int32": STORAGES["IntStorage"],
    "int": STORAGES["IntStorage"],
    "int16": STORAGES["ShortStorage"],
    "short": STORAGES["ShortStorage"],
    "int8": STORAGES["CharStorage"],
    "uint8": STORAGES["ByteStorage"],
    "bool": STORAGES["BoolStorage"],
    "uint16": (PackDType("U16"), 2),
    "uint32": (PackDType("U32"), 4),
    "uint64": (PackDType("U64"), 8),
    "complex32": (None, 4),
    "complex64": (None, 8),
    "complex128": (None, 16),
    **{f"float8_{kind}": (None, 1) for kind in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0fnu")},
    "float4_e2m1fn_x2": (None, 1),
}


class Damaged(Exception):
    """What a file says that cannot be; the text goes on after the name of the file."""


class Budget:
    """How much more work a file may make: what it holds once can be named many times."""

    __slots__ = ("left",)

    def __init__(self, left: int):
        self.left = left

    def spend(self, count: int) -> None:
        """Takes from what is left."""
        self.left -= count
        if self.left < 0:
            raise Damaged("makes more work than any sound file of its size: it names the same values over and over")


@dataclass(frozen=True, slots=True)
class Global:
    """A function or class by its name; it is never looked up."""

    name: str


class Opaque:
    """An object that is not understood: its class, and all that was put into it."""

    __slots__ = ("held", "state", "type_name")

    def __init__(self, type_name: str, *held):
        self.type_name = type_name
        self.held = list(held)
        self.state: Any = None

    def is_module(self) -> bool:
        """Whether this is a module of PyTorch, saved whole."""
        state = self.state
        parts = ("_parameters", "_buffers", "_modules")
        return isinstance(state, dict) and all(isinstance(state.get(part), dict) for part in parts)


class OddKey:
    """A key of a dict that is neither a text nor an integer; no two are equal."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


@dataclass(frozen=True, slots=True)
class Storage:
    """A reference to memory of tensors: which, how its elements are stored, and what part of it."""

    key: str
    kind: str
    numel: int
    start: int = 0

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return STORAGES[self.kind][1]


@dataclass(frozen=True, slots=True)
class Strided:
    """A tensor: a place in a storage."""

    storage: Storage
    offset: int
    shape: tuple
    strides: tuple
    dtype: str | None  # PyTorch's name where the storage does not say it

    def element(self) -> tuple[PackDType | None, int, str]:
        """The dtype, or None if burn does not have it; the bytes of an element; and PyTorch's name."""
        if self.dtype is not None:
            return *DTYPES[self.dtype], self.dtype
        return *STORAGES[self.storage.kind], self.storage.kind


@dataclass(frozen=True)
class PickleValue:
    """What a pickle holds besides plain values: see `PytorchReader.read_pickle_data`.

    Plain values are Python's: None, bool, int, float, str, bytes, list (for tuples and sets too) and dict. What is of any
    other type is a ``PickleValue.Unsupported``. Mirrors `pytorch_reader::PickleValue`.

    >>> PickleValue.Unsupported("torch.Tensor").type_name
    'torch.Tensor'
    """

    Unsupported: ClassVar[type]


@dataclass(frozen=True)
class Unsupported(PickleValue):
    """A value of this type, which is not looked into."""

    type_name: str


PickleValue.Unsupported = Unsupported
