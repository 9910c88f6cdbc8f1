"""TensorData: values on the host, between a tensor and files, lists or NumPy."""

import numpy as np

from burn.errors import DataError
from burn.tensor.display import format_number
from burn.tensor.dtype import DType
from burn.tensor.shape import Shape, as_shape

__all__ = ["TensorData", "array_of"]


def array_of(values, dtype=None, op="from_data"):
    """A NumPy array of nested lists, numbers, arrays or TensorData; ragged and object data are refused."""
    if isinstance(values, TensorData):
        return values._array
    if isinstance(values, np.ma.MaskedArray):
        raise DataError(f"[{op}] 'data' must not be a masked array, since tensors have no mask; fill it with filled()")
    if not isinstance(values, np.ndarray):
        values = np.asarray(values) if hasattr(values, "__array__") else _array_of_lists(values, dtype, op)
    if values.dtype.kind not in "fiub" and values.dtype.name != "bfloat16":
        odd = type(values.reshape(-1)[0]).__name__ if values.dtype == object and values.size else values.dtype
        raise DataError(
            f"[{op}] 'data' must hold numbers or booleans of at most 64 bits, got {odd} values; convert them first"
        )
    if values.dtype.byteorder == ">":
        values = values.astype(values.dtype.newbyteorder("="))
    if values.dtype.name not in ("longdouble",) and values.dtype.itemsize > 8:
        raise DataError(f"[{op}] 'data' must have at most 8 bytes an element, got dtype {values.dtype}")
    return values


def _array_of_lists(values, dtype, op):
    """Numbers and nested lists as an array; ints that only 64 unsigned bits hold stay ints."""
    try:
        made = np.array(values)
    except (ValueError, TypeError, OverflowError) as e:
        raise DataError(f"[{op}] 'data' must be a rectangular nested list of numbers, got {e}") from None
    if made.dtype == np.float64 and made.size and np.abs(made).max() >= 2.0**63:
        exact = np.array(values, dtype=object)
        if all(isinstance(v, int) for v in exact.reshape(-1)):
            try:
                return exact.astype(np.uint64)
            except (OverflowError, TypeError):
                raise DataError(
                    f"[{op}] 'data' must hold ints of one 64-bit dtype, got {made.min():g}..{made.max():g}"
                ) from None
    return made.astype(np.float32) if made.dtype == np.float64 and dtype is None else made


class TensorData:
    """Host values with a shape and a dtype; row-major bytes. Mirrors `burn::tensor::TensorData`.

    Args:
        values: nested lists, numbers or a NumPy array. Python floats become f32, ints i64, as in Burn.
        shape: sizes, when values are flat.

    >>> TensorData([[1.0, 2.0], [3.0, 4.0]]).shape
    [2, 2]
    """

    __slots__ = ("_array", "_dtype")

    def __init__(self, values, shape=None, dtype=None):
        array = array_of(values, dtype, "TensorData")
        if dtype is not None:
            dtype = DType.of(dtype)
            array = checked_convert(array, dtype, "TensorData")
        if shape is not None:
            dims = as_shape(shape, "TensorData")
            if int(np.prod(dims, dtype=np.int64)) != array.size:
                raise DataError(f"[TensorData] 'shape' {list(dims)} does not fit {array.size} values")
            array = array.reshape(dims)
        self._array = np.array(array, order="C")
        self._dtype = dtype or DType.of(array.dtype)

    @classmethod
    def _of(cls, array, dtype):
        self = cls.__new__(cls)
        self._array, self._dtype = array, dtype
        return self

    @classmethod
    def from_bytes(cls, data, shape, dtype):
        """Data from raw row-major little-endian bytes.

        Raises:
            DataError: the number of bytes does not fit the shape and dtype.
        """
        dtype, dims = DType.of(dtype), as_shape(shape, "from_bytes")
        want = int(np.prod(dims, dtype=np.int64)) * dtype.size
        if len(data) != want:
            raise DataError(
                f"[from_bytes] 'data' must hold {want} bytes for shape {list(dims)} and dtype {dtype}, got {len(data)}"
            )
        return cls._of(np.frombuffer(bytes(data), dtype.numpy).reshape(dims), dtype)

    try_from_bytes = from_bytes

    @property
    def shape(self):
        """Sizes of the axes."""
        return Shape(self._array.shape)

    @property
    def dtype(self):
        """Element type."""
        return self._dtype

    def rank(self):
        """Number of axes."""
        return self._array.ndim

    def num_elements(self):
        """Number of elements."""
        return self._array.size

    def as_bytes(self):
        """The raw bytes."""
        return self._array.tobytes()

    bytes = into_bytes = as_bytes

    def numpy(self):
        """The values as a read-only NumPy array."""
        view = self._array.view()
        view.flags.writeable = False
        return view

    def to_list(self):
        """The values as nested lists."""
        return self._array.tolist()

    def to_vec(self, dtype=None):
        """The values as a flat list; a dtype must equal the data's.

        Raises:
            DataError: the dtypes differ.
        """
        if dtype is not None and DType.of(dtype) is not self._dtype:
            raise DataError(f"[to_vec] 'dtype' must be {self._dtype}, the data's, got {DType.of(dtype)}; use convert()")
        return self._array.reshape(-1).tolist()

    try_to_vec = to_vec

    def convert(self, dtype):
        """The values in another dtype; one that a value does not fit raises DataError."""
        dtype = DType.of(dtype)
        return TensorData._of(checked_convert(self._array, dtype, "convert"), dtype)

    def __array__(self, dtype=None, copy=None):
        return np.array(self._array, dtype=dtype, copy=True if copy is None else copy)

    def __eq__(self, other):
        if not isinstance(other, TensorData):
            return NotImplemented
        return self._dtype is other._dtype and np.array_equal(self._array, other._array)

    __hash__ = None

    def __repr__(self):
        return f"TensorData({self.to_list()}, dtype={self._dtype})"

    def __str__(self):
        return "[" + ", ".join(format_number(v) for v in self._array.reshape(-1)) + "]"

    def __reduce__(self):
        return (TensorData.from_bytes, (self.as_bytes(), tuple(self.shape), self._dtype))


def checked_convert(array, dtype, op):
    """array in another dtype; values that cannot be represented raise, as element conversion in Burn panics."""
    target = dtype.numpy
    if array.dtype == target:
        return array
    if dtype.is_bool and dtype.variant == "Bool":
        return array != 0
    kind = array.dtype.kind if array.dtype.name != "bfloat16" else "f"
    if target.kind in "iu" and array.size:
        info = np.iinfo(target)
        if kind == "f":
            wide = array.astype(np.float64)
            bad = ~((np.trunc(wide) >= float(info.min)) & (wide < float(info.max) + 1.0))
        else:
            bad = np.zeros(array.shape, bool) if kind == "b" else (array < info.min) | (array > info.max)
        if bad.any():
            at = np.unravel_index(int(np.argmax(bad)), array.shape) if array.ndim else ()
            raise DataError(
                f"[{op}] 'data' holds {array[at]} at {[int(i) for i in at]}, which dtype {dtype} cannot represent; it takes "
                f"{info.min}..{info.max}"
            )
    with np.errstate(all="ignore"):
        return array.astype(target)
