"""Element types of tensors, and the kinds that follow from them."""

import enum
from typing import Any

from burn._waiting import LackingNames, check_waiting

__all__ = ["Bool", "BoolDType", "BoolStore", "DType", "Float", "FloatDType", "Int", "IntDType", "Kind"]


class Kind(enum.Enum):
    """The kind of a tensor: Float, Int or Bool. It follows from the dtype. Mirrors `burn::tensor::{Float, Int, Bool}`."""

    Float = 1
    Int = 2
    Bool = 4

    def __repr__(self):
        return self.name


Float, Int, Bool = Kind.Float, Kind.Int, Kind.Bool

#      variant     name      bytes  numpy      record form
_ROWS = [
    ("F64", "f64", 8, "float64", "F64"),
    ("F32", "f32", 4, "float32", "F32"),
    ("Flex32", "flex32", 4, "float32", "Flex32"),
    ("F16", "f16", 2, "float16", "F16"),
    ("BF16", "bf16", 2, "bfloat16", "BF16"),
    ("I64", "i64", 8, "int64", "I64"),
    ("I32", "i32", 4, "int32", "I32"),
    ("I16", "i16", 2, "int16", "I16"),
    ("I8", "i8", 1, "int8", "I8"),
    ("U64", "u64", 8, "uint64", "U64"),
    ("U32", "u32", 4, "uint32", "U32"),
    ("U16", "u16", 2, "uint16", "U16"),
    ("U8", "u8", 1, "uint8", "U8"),
    ("Bool", "bool", 1, "bool", "Bool(Native)"),
    ("BoolU8", "bool(u8)", 1, "uint8", "Bool(U8)"),
    ("BoolU32", "bool(u32)", 4, "uint32", "Bool(U32)"),
]


class DType(metaclass=LackingNames):
    """The type of a tensor's elements. Mirrors `burn::tensor::DType`.

    The variants are class attributes: `DType.F64 F32 Flex32 F16 BF16 I64 I32 I16 I8 U64 U32 U16 U8 Bool BoolU8 BoolU32`.

    Attributes:
        name: what Burn prints, such as "f32"; wherever a dtype is asked for, it stands for it.
        size: bytes an element.
        kind: Float, Int or Bool.
        variant: name of the class attribute.
        record_name: what records hold.
        code: the number by which kernels know it.

    >>> DType.F32.name, DType.F32.size, DType.F32.kind
    ('f32', 4, Float)
    """

    __slots__ = ("code", "name", "variant", "size", "kind", "record_name", "_numpy_name", "_numpy")
    F64: "DType"
    F32: "DType"
    Flex32: "DType"
    F16: "DType"
    BF16: "DType"
    I64: "DType"
    I32: "DType"
    I16: "DType"
    I8: "DType"
    U64: "DType"
    U32: "DType"
    U16: "DType"
    U8: "DType"
    Bool: "DType"
    BoolU8: "DType"
    BoolU32: "DType"

    def __init__(self, code, variant, name, size, numpy_name, record_name):
        self.code, self.variant, self.name, self.size = code, variant, name, size
        self._numpy_name, self.record_name, self._numpy = numpy_name, record_name, None
        self.kind = Float if code <= 4 else Int if code <= 12 else Bool

    @property
    def numpy(self):
        """The NumPy dtype with the same bytes (bf16 comes from ml_dtypes)."""
        if self._numpy is None:
            import numpy as np

            if self._numpy_name == "bfloat16":
                import ml_dtypes

                self._numpy = np.dtype(ml_dtypes.bfloat16)
            else:
                self._numpy = np.dtype(self._numpy_name)
        return self._numpy

    @property
    def is_float(self):
        """Whether this is one of f64, f32, flex32, f16, bf16."""
        return self.kind is Float

    @property
    def is_int(self):
        """Whether this is a signed integer."""
        return 5 <= self.code <= 8

    @property
    def is_uint(self):
        """Whether this is an unsigned integer."""
        return 9 <= self.code <= 12

    @property
    def is_bool(self):
        """Whether this is one of the Bool stores."""
        return self.kind is Bool

    @staticmethod
    def of_code(code):
        """The dtype with an internal number.

        Args:
            code: the number.

        Returns:
            DType.

        >>> DType.of_code(DType.F32.code)
        DType.F32
        """
        return _ALL[code]

    @staticmethod
    def of(value):
        """The dtype that a DType, a name such as "f32", a NumPy dtype or a Python type means.

        Args:
            value: a DType, a name, a NumPy dtype or a Python type.

        Returns:
            DType.

        Raises:
            DTypeError: nothing here corresponds to it.

        >>> DType.of("bf16"), DType.of(bool)
        (DType.BF16, DType.Bool)
        """
        if isinstance(value, DType):
            return value
        if isinstance(value, str):
            found = _BY_NAME.get(value) or _BY_NUMPY.get(value)
        else:
            import numpy as np

            try:
                key = None if value is None else np.dtype(value)
            except TypeError:
                key = None
            found = _SEEN.get(key)
            if found is None and key is not None:
                found = _BY_NUMPY.get(key.name)  # NumPy makes the name anew each time
                if found is not None:
                    _SEEN[key] = found
        if found is None:
            from burn.errors import DTypeError

            raise DTypeError(f"[dtype] 'dtype' must be one of {', '.join(_BY_NAME)}, got {value!r}")
        return found

    def finfo(self):
        """(epsilon, max, min, min_positive) of a float dtype as Python floats.

        >>> DType.F16.finfo()[:2]
        (0.0009..., 65504.0)
        """
        import ml_dtypes

        info = ml_dtypes.finfo("float16" if self.variant == "Flex32" else self.numpy)
        return float(info.eps), float(info.max), float(info.min), float(info.smallest_normal)

    @property
    def _serde(self):
        """How Burn writes this dtype into a file: a text, or of a Bool `{"Bool": store}`."""
        store = self.record_name.removeprefix("Bool").strip("()")
        return {"Bool": store} if self.is_bool else store

    @staticmethod
    def _of_serde(value):
        """The dtype that Burn has written so, or None."""
        if isinstance(value, dict) and "QFloat" in value:
            check_waiting("DType", "QFloat")
        return next((d for d in _ALL if d._serde == value), None)

    def __repr__(self):
        return f"DType.{self.variant}"

    def __str__(self):
        return self.name

    def __reduce__(self):
        return (DType.of_code, (self.code,))


_ALL = [DType(code, *row) for code, row in enumerate(_ROWS)]
for _dtype in _ALL:
    setattr(DType, _dtype.variant, _dtype)
_BY_NAME = {d.name: d for d in _ALL}
_BY_NUMPY = {d._numpy_name: d for d in reversed(_ALL) if d.variant not in ("Flex32", "BoolU8", "BoolU32")}
_SEEN: dict[Any, DType] = {}  # dtypes of NumPy that were looked up by name


class DTypeFamily:
    """The dtypes of one kind, as attributes; called, it checks that a dtype is one of them.

    Mirrors `FloatDType`, `IntDType` and `BoolDType`, which is `BoolStore` too.

    Args:
        dtype: of the call: a DType, its name, or a NumPy or Python type.

    Returns:
        DType: of the call.

    Raises:
        DTypeError: the dtype is of another kind.

    >>> FloatDType("f32"), FloatDType.F16, DType.I32 in FloatDType, BoolDType(DType.U8)
    (DType.F32, DType.F16, False, DType.BoolU8)
    """

    def __init__(self, name, members, also=()):
        self._name, self._members, self._also = name, members, dict(also)
        vars(self).update(members)

    def __call__(self, dtype):
        dtype = DType.of(dtype)
        dtype = self._also.get(dtype, dtype)
        if dtype not in self:
            from burn.errors import DTypeError

            raise DTypeError(
                f"[{self._name}] 'dtype' must be one of {', '.join(d.name for d in self)}, got {dtype}; cast() changes the kind"
            )
        return dtype

    def __contains__(self, dtype):
        return dtype in self._members.values()

    def __iter__(self):
        return iter(self._members.values())

    def __repr__(self):
        return self._name


FloatDType = DTypeFamily("FloatDType", {d.variant: d for d in _ALL if d.kind is Float})
IntDType = DTypeFamily("IntDType", {d.variant: d for d in _ALL if d.kind is Int})
BoolDType = BoolStore = DTypeFamily(
    "BoolDType",
    {"Native": DType.Bool, "U8": DType.BoolU8, "U32": DType.BoolU32},
    {DType.U8: DType.BoolU8, DType.U32: DType.BoolU32},
)
