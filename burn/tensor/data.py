"""TensorData: values on the host, between a tensor and files, lists or NumPy."""

import builtins
import math

import numpy as np

from burn._arguments import no_memory
from burn._waiting import LackingNames
from burn.errors import (
    ArgumentTypeError,
    DataError,
    DTypeMismatchError,
    ElementCountMismatchError,
    InvalidByteLengthError,
    InvalidRepresentationError,
    OutOfBoundsError,
    ShapeError,
)
from burn.tensor._json import JsonMethods
from burn.tensor._values import array_of_lists, checked_convert
from burn.tensor.compare import CompareMethods
from burn.tensor.display import format_number
from burn.tensor.distribution import Distribution
from burn.tensor.dtype import DType
from burn.tensor.shape import Shape, as_shape, ints_of

__all__ = ["TensorData", "TensorDataView", "array_of"]


def array_of(values, dtype=None, op="from_data", name="data"):
    """A NumPy array of nested lists, numbers, arrays or TensorData; ragged and object data are refused."""
    if isinstance(values, TensorData):
        return values._array
    if isinstance(values, np.ma.MaskedArray):
        raise DataError(
            f"[{op}] {name!r} must not be a masked array, since tensors have no mask; fill it with filled()"
        )
    if not isinstance(values, np.ndarray):
        values = np.asarray(values) if hasattr(values, "__array__") else array_of_lists(values, dtype, op, name)
    if values.dtype.kind not in "fiub" and values.dtype.name != "bfloat16":
        odd = type(values.reshape(-1)[0]).__name__ if values.dtype == object and values.size else values.dtype
        raise DataError(
            f"[{op}] {name!r} must hold numbers or booleans of at most 64 bits, got {odd} values; convert them first"
        )
    if values.dtype.byteorder == ">":
        values = values.astype(values.dtype.newbyteorder("="))
    if values.dtype == bool and (values.view(np.uint8) > 1).any():  # such as a view of other bytes
        values = values.view(np.uint8) != 0
    if values.dtype.itemsize > 8 and values.dtype.name != "longdouble":
        raise DataError(f"[{op}] {name!r} must have at most 8 bytes an element, got dtype {values.dtype}")
    return values


class TensorData(CompareMethods, JsonMethods, metaclass=LackingNames):
    """Host values with a shape and a dtype; row-major bytes. Mirrors `burn::tensor::TensorData`.

    Args:
        values: nested lists, numbers or a NumPy array. Python floats become f32, ints i64, as in Burn.
        shape: sizes, when values are flat.
        dtype: dtype of the values; if None it follows from them.

    >>> data = TensorData([[1.0, 2.0], [3.0, 4.0]])
    >>> data.shape, data.rank(), data.num_elements(), data.to_list()
    ([2, 2], 2, 4, [[1.0, 2.0], [3.0, 4.0]])
    """

    __slots__ = ("_array", "_dtype")

    def __init__(self, values, shape=None, dtype=None):
        array = array_of(values, dtype, "TensorData")
        if dtype is not None:
            dtype = DType.of(dtype)
            array = checked_convert(array, dtype, "TensorData")
        if shape is not None:
            dims = as_shape(shape, "TensorData")
            if math.prod(dims) != array.size:
                raise ElementCountMismatchError(
                    f"[TensorData] 'shape' must hold the {array.size} values given, got {list(dims)} for {math.prod(dims)}"
                )
            array = array.reshape(dims)
        self._array = np.array(array, order="C")
        self._dtype = dtype or DType.of(array.dtype)

    @classmethod
    def _of(cls, array, dtype):
        self = cls.__new__(cls)
        self._array, self._dtype = array, dtype
        return self

    @classmethod
    def from_bytes(cls, bytes, shape, dtype):
        r"""Data from raw row-major little-endian bytes. Mirrors `TensorData::from_bytes`.

        Args:
            bytes: bytes, or a list of ints of 0 to 255.
            shape: sizes of the axes.
            dtype: a DType, its name, or a NumPy or Python type.

        Returns:
            TensorData.

        Raises:
            InvalidByteLengthError: the number of bytes does not fit the shape and dtype.

        >>> TensorData.from_bytes(b"\x00\x00\x80\x3f", [1], "f32")
        TensorData([1.0], dtype=f32)
        """
        dtype, dims = DType.of(dtype), as_shape(shape, "from_bytes")
        want = math.prod(dims) * dtype.size
        data = bytearray(bytes)
        if len(data) != want:
            raise InvalidByteLengthError(
                f"[from_bytes] 'bytes' must hold {want} bytes for shape {list(dims)} and dtype {dtype}, got {len(data)}"
            )
        return cls._of(np.frombuffer(data, dtype.numpy).reshape(dims), dtype)

    try_from_bytes = from_bytes_vec = try_from_bytes_vec = from_bytes

    @classmethod
    def from_(cls, values):
        """Data from nested lists or an array; the shape follows from them. Mirrors `TensorData::from`.

        Args:
            values: nested lists, numbers or an array.

        Returns:
            TensorData.

        >>> TensorData.from_([[1, 2]])
        TensorData([[1, 2]], dtype=i64)
        """
        return cls(values)

    @classmethod
    def zeros(cls, shape, dtype=DType.F32):
        """Zeros (False for Bool). Mirrors `TensorData::zeros`.

        Args:
            shape: sizes.
            dtype: a DType or its name.

        Returns:
            TensorData of that shape.

        >>> TensorData.zeros([2])
        TensorData([0.0, 0.0], dtype=f32)
        """
        return cls.full_dtype(shape, 0, dtype)

    @classmethod
    def ones(cls, shape, dtype=DType.F32):
        """Ones (True for Bool). Mirrors `TensorData::ones`.

        Args:
            shape: sizes.
            dtype: a DType or its name.

        Returns:
            TensorData of that shape.

        >>> TensorData.ones([2], "bool")
        TensorData([True, True], dtype=bool)
        """
        return cls.full_dtype(shape, 1, dtype)

    @classmethod
    def full(cls, shape, value, dtype=None):
        """One number everywhere; without a dtype a float gives f32, an int i64, a bool Bool. Mirrors `TensorData::full`.

        Args:
            shape: sizes.
            value: the number.
            dtype: a DType or its name.

        Returns:
            TensorData of that shape.

        >>> TensorData.full([2], 7)
        TensorData([7, 7], dtype=i64)
        """
        return cls.full_dtype(shape, value, cls(value).dtype if dtype is None else dtype)

    @classmethod
    def full_dtype(cls, shape, value, dtype):
        """One number everywhere, in a dtype. Mirrors `TensorData::full_dtype`.

        Args:
            shape: sizes.
            value: the number.
            dtype: a DType or its name.

        Returns:
            TensorData of that shape.

        Raises:
            DataError: the dtype cannot represent the number.

        >>> TensorData.full_dtype([2], 7, "u8")
        TensorData([7, 7], dtype=u8)
        """
        dtype = DType.of(dtype)
        one = checked_convert(array_of(value, True, "full"), dtype, "full")
        if one.ndim:
            raise ArgumentTypeError(f"[full] 'value' must be a number, got {value!r}")
        dims = as_shape(shape, "full")
        try:
            return cls._of(np.full(dims, one, dtype.numpy), dtype)
        except MemoryError as e:
            raise no_memory("full", math.prod(dims), e) from None

    @classmethod
    def random(cls, shape, distribution, rng, dtype=DType.F32):
        """Random values from a generator of the caller. Mirrors `TensorData::random`.

        Args:
            shape: sizes.
            distribution: a `Distribution`.
            rng: a `numpy.random.Generator`.
            dtype: a DType or its name.

        Returns:
            TensorData of that shape.

        >>> import numpy as np
        >>> TensorData.random([2, 3], Distribution.Uniform(0.0, 1.0), np.random.default_rng(0)).shape
        [2, 3]
        """
        dtype, dims, d = DType.of(dtype), as_shape(shape, "random"), distribution
        try:
            if isinstance(d, Distribution.Normal):
                values = rng.normal(d.mean, d.std, dims)
            elif isinstance(d, Distribution.Bernoulli):
                values = rng.random(dims) < d.p
            elif isinstance(d, Distribution.Uniform) or dtype.is_float:
                low, high = (d.low, d.high) if isinstance(d, Distribution.Uniform) else (0.0, 1.0)
                values = rng.uniform(low, high, dims)
            elif dtype.is_bool:
                values = rng.random(dims) < 0.5
            else:
                info = np.iinfo(dtype.numpy)
                values = rng.integers(info.min, info.max, dims, dtype.numpy, endpoint=True)
            if not isinstance(d, Distribution):
                raise ArgumentTypeError(f"[random] 'distribution' must be a Distribution, got {d!r}")
            return cls._of(np.asarray(checked_convert(np.asarray(values), dtype, "random")), dtype)
        except MemoryError as e:
            raise no_memory("random", math.prod(dims), e) from None

    @property
    def shape(self):
        """Sizes of the axes."""
        return Shape(self._array.shape)

    @property
    def dtype(self):
        """Element type."""
        return self._dtype

    def rank(self) -> builtins.int:
        """Number of axes."""
        return self._array.ndim

    def num_elements(self):
        """Number of elements."""
        return self._array.size

    def as_bytes(self):
        r"""The raw bytes.

        >>> TensorData([1, 2], dtype="u8").as_bytes()
        b'\x01\x02'
        """
        return self._array.tobytes()

    bytes = into_bytes = as_bytes

    def numpy(self) -> np.ndarray:
        """The values as a read-only NumPy array.

        >>> TensorData([1, 2], dtype="u8").numpy()
        array([1, 2], dtype=uint8)
        """
        view = self._array.view()
        view.flags.writeable = False
        return view

    def to_list(self):
        """The values as nested lists."""
        return self._array.tolist()

    def into_parts(self):
        r"""(bytes, shape, dtype). Mirrors `TensorData::into_parts`.

        >>> TensorData([1, 2], dtype="u8").into_parts()
        (b'\x01\x02', [2], DType.U8)
        """
        return self.as_bytes(), self.shape, self._dtype

    def with_bytes_mut(self, f):
        """Calls f with the bytes as a bytearray that it may change, and returns its result.

        Mirrors `TensorData::with_bytes_mut`.

        Args:
            f: a function of a bytearray.

        Returns:
            What f returns.

        Raises:
            InvalidByteLengthError: f has changed their number; nothing is left of the data but an empty u8 array.

        >>> data = TensorData([1, 2], dtype="u8")
        >>> data.with_bytes_mut(lambda b: b.reverse())
        >>> data
        TensorData([2, 1], dtype=u8)
        """
        data = bytearray(self._array.tobytes())
        want, shape = len(data), self._array.shape
        result = f(data)
        if len(data) != want:
            self._array, self._dtype = np.zeros(0, np.uint8), DType.U8
            raise InvalidByteLengthError(
                f"[with_bytes_mut] 'f' must leave {want} bytes, got {len(data)}; the data is empty now"
            )
        self._array = np.frombuffer(data, self._dtype.numpy).reshape(shape)
        return result

    def _exactly(self, dtype, op):
        """The values as an array of exactly this dtype."""
        dtype = self._dtype if dtype is None else DType.of(dtype)
        stores = {"BoolU8": "U8", "BoolU32": "U32"}
        if dtype is not self._dtype and dtype.variant != stores.get(self._dtype.variant):
            raise DTypeMismatchError(
                f"[{op}] 'dtype' must be {self._dtype}, the data's, got {dtype}; convert the values with convert()"
            )
        if dtype.variant == "Bool" and (self._array.view(np.uint8) > 1).any():
            raise InvalidRepresentationError(
                f"[{op}] the data holds bytes other than 0 and 1, which are no values of bool"
            )
        return self._array

    def _writable(self):
        if not self._array.flags.writeable:
            self._array = self._array.copy()

    def as_slice(self, dtype=None):
        """The values as a flat read-only NumPy array without a copy. Mirrors `TensorData::as_slice`.

        Args:
            dtype: must be the data's if given; u8 and u32 also read the Bool stores of their size.

        Returns:
            NumPy array [n].

        Raises:
            DTypeMismatchError: another dtype.
            InvalidRepresentationError: bytes that are no values of the dtype.

        >>> TensorData([[1, 2]]).as_slice()
        array([1, 2])
        """
        view = self._exactly(dtype, "as_slice").reshape(-1)
        view.flags.writeable = False
        return view

    def as_mut_slice(self, dtype=None):
        """`as_slice`, which may be written to. Mirrors `TensorData::as_mut_slice`.

        Args:
            dtype: as for `as_slice`.

        Returns:
            NumPy array [n].

        >>> data = TensorData([1, 2])
        >>> data.as_mut_slice()[0] = 9
        >>> data
        TensorData([9, 2], dtype=i64)
        """
        self._exactly(dtype, "as_mut_slice")
        self._writable()
        return self._array.reshape(-1)

    def view(self, dtype=None):
        """The values by index, without conversion: `data.view()[0, -1]`. Mirrors `TensorData::view`.

        Args:
            dtype: must be the data's if given; u8 and u32 also read the Bool stores of their size.

        Returns:
            TensorDataView.

        >>> TensorData([[1, 2], [3, 4]]).view()[1, -1]
        4
        """
        return TensorDataView(self._exactly(dtype, "view"), self._dtype, False)

    try_view = view

    def mut_view(self, dtype=None):
        """`view`, whose elements may be assigned. Mirrors `TensorData::mut_view`.

        Args:
            dtype: must be the data's if given; u8 and u32 also read the Bool stores of their size.

        Returns:
            TensorDataView.

        >>> data = TensorData([[1, 2]])
        >>> data.mut_view()[0, 1] = 9
        >>> data
        TensorData([[1, 9]], dtype=i64)
        """
        self._exactly(dtype, "mut_view")
        self._writable()
        return TensorDataView(self._array, self._dtype, True)

    try_mut_view = mut_view

    def iter(self, dtype=None):
        """An iterator over the values in row-major order, converted to a dtype if one is given. Mirrors `TensorData::iter`.

        Args:
            dtype: a DType or its name; the data's if None.

        Returns:
            Iterator of Python numbers.

        >>> list(TensorData([1.9, -2.0]).iter("i32"))
        [1, -2]
        """
        data = self if dtype is None else self.convert(dtype)
        return (v.item() if hasattr(v, "item") else float(v) for v in data._array.reshape(-1))

    def to_vec(self, dtype=None):
        """The values as a flat list; a dtype must equal the data's. Mirrors `TensorData::try_to_vec`.

        Args:
            dtype: must be the data's if given.

        Returns:
            List of Python numbers.

        Raises:
            DTypeMismatchError: the dtypes differ.

        >>> TensorData([[1, 2]]).to_vec()
        [1, 2]
        """
        return self._exactly(dtype, "to_vec").reshape(-1).tolist()

    try_to_vec = try_into_vec = into_vec = to_vec

    def to_vec_as(self, dtype) -> list:
        """The values as a flat list, converted. Mirrors `TensorData::try_to_vec_as`.

        Args:
            dtype: a DType, its name, or a NumPy or Python type.

        Returns:
            List of Python numbers.

        Raises:
            DataError: a value that the dtype cannot represent.

        >>> TensorData([1.9, -2.0]).to_vec_as("i64")
        [1, -2]
        """
        return self.convert(dtype)._array.reshape(-1).tolist()

    try_to_vec_as = try_into_vec_as = to_vec_as

    def convert(self, dtype):
        """The values in another dtype; to Bool they are compared with 0. Mirrors `TensorData::convert`.

        Args:
            dtype: a DType, its name, or a NumPy or Python type.

        Returns:
            TensorData of the same shape.

        Raises:
            DataError: a value that the dtype cannot represent: floats truncate, floats to floats round.

        >>> TensorData([1.9, 0.0]).convert("bool")
        TensorData([True, False], dtype=bool)
        """
        dtype = DType.of(dtype)
        return TensorData._of(checked_convert(self._array, dtype, "convert"), dtype)

    convert_dtype = try_cast = try_cast_as = convert

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
        array = self._array.astype(np.float32) if self._dtype in (DType.F16, DType.BF16) else self._array
        return "[" + ", ".join(format_number(v) for v in array.reshape(-1)) + "]"

    def __reduce__(self):
        return (TensorData.from_bytes, (self.as_bytes(), tuple(self.shape), self._dtype))


class TensorDataView:
    """The values of a `TensorData` by index: one int an axis, negative ones from the end. Mirrors `TensorDataView`.

    >>> view = TensorData([[1, 2], [3, 4]]).view("i64")
    >>> view[0, -1], view.ravel_index([1, 0]), view.shape
    (2, 2, [2, 2])
    """

    __slots__ = ("_array", "_dtype", "_writable")

    def __init__(self, array, dtype, writable):
        self._array, self._dtype, self._writable = array, dtype, writable

    @property
    def shape(self):
        """Sizes of the axes."""
        return Shape(self._array.shape)

    @property
    def dtype(self):
        """Element type."""
        return self._dtype

    def ravel_index(self, indices):
        """The position in row-major order of an element.

        Args:
            indices: one int an axis; negative ones count from the end.

        Returns:
            An int.

        Raises:
            ShapeError: not one index an axis.
            OutOfBoundsError: an index outside its axis.
        """
        at = ints_of("view", "indices", indices)
        if len(at) != self._array.ndim:
            raise ShapeError(f"[view] 'indices' must be {self._array.ndim}, one an axis, got {at}")
        position = 0
        for axis, (i, n) in enumerate(zip(at, self._array.shape, strict=True)):
            if not -n <= i < n:
                raise OutOfBoundsError(f"[view] 'indices' must lie in {-n}..{n - 1} along axis {axis}, got {i}")
            position = position * n + i % n
        return position

    def __getitem__(self, indices):
        return self._array.reshape(-1)[self.ravel_index(indices)].item()

    def __setitem__(self, indices, value):
        if not self._writable:
            raise TypeError("[view] a view cannot be assigned to; use mut_view()")
        one = checked_convert(array_of(value, True, "mut_view"), self._dtype, "mut_view")
        self._array.reshape(-1)[self.ravel_index(indices)] = one
