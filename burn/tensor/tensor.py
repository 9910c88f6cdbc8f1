"""The public tensor: what it tells, how it is read back, and where it moves.

The other methods are in the files with an underscore, one a subject; the operators are C slots of `TensorBase`.
"""

import builtins
from typing import Self

import numpy as np

from burn._arguments import no_memory
from burn._core import core
from burn._ops import elementwise as ew
from burn._ops.registry import FLOAT, check_tensor
from burn._waiting import LackingNames
from burn.device import Device
from burn.device.device import settings_in_use
from burn.errors import (
    ArgumentTypeError,
    AutodiffError,
    InvalidShapeError,
)
from burn.tensor._calls import compiled, teach_class
from burn.tensor._creation import CreationMethods
from burn.tensor._foreign import ForeignNames
from burn.tensor._interop import InteropMethods
from burn.tensor._joining import JoiningMethods
from burn.tensor._math import MathMethods
from burn.tensor._patterns import PatternMethods
from burn.tensor._reducing import ReducingMethods
from burn.tensor._sampling import SamplingMethods
from burn.tensor._shaping import ShapingMethods
from burn.tensor._slicing import SlicingMethods
from burn.tensor._sorting import SortingMethods
from burn.tensor._tracking import TrackingMethods
from burn.tensor._vector import VectorMethods
from burn.tensor.data import TensorData
from burn.tensor.display import format_tensor
from burn.tensor.dtype import DType, Kind
from burn.tensor.shape import Shape

__all__ = ["Tensor"]


class Tensor(
    CreationMethods,
    ShapingMethods,
    JoiningMethods,
    SlicingMethods,
    PatternMethods,
    MathMethods,
    ReducingMethods,
    SamplingMethods,
    SortingMethods,
    VectorMethods,
    TrackingMethods,
    InteropMethods,
    ForeignNames,
    core.TensorBase,
    metaclass=LackingNames,
):
    """An n-dimensional array of numbers on a device. Mirrors `burn::tensor::Tensor`.

    Make one with `Tensor.from_data`, `zeros`, `ones`, `full`, `arange`, `random`, or with `Tensor(data, device)`.
    Operations return new tensors and never change their inputs. The kind (Float, Int, Bool) follows from the dtype.

    Args:
        data: nested lists, a NumPy array or TensorData.
        device: a Device or a (Device, dtype) pair; the default device if None.
        dtype: dtype of the result; if None the device's default for the kind of the data.

    >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> (x * x).sum().item()
    30.0
    """

    __slots__ = ()

    def __new__(cls, data, device=None, dtype=None) -> Self:
        return cls.from_data(data, device, dtype)

    def __class_getitem__(cls, item):
        """`Tensor[2]` and `Tensor[1, Int]` are annotations: rank and kind."""
        import typing

        return typing.Annotated[cls, item]

    # Information

    @property
    def dtype(self):
        """Element type."""
        return DType.of_code(self._dtype)

    @property
    def kind(self):
        """Float, Int or Bool."""
        return Kind(self._kind)

    @property
    def device(self):
        """The device, with this tensor's autodiff association."""
        return Device(self._slot, self._ctx)

    def can_mut(self) -> builtins.bool:
        """Whether nobody else holds this tensor's memory. Mirrors `Tensor::can_mut`.

        >>> x = Tensor([1.0])
        >>> y = x.clone()
        >>> x.can_mut()
        False
        """
        return core.sole_owner(self)

    def dims(self) -> list[builtins.int]:
        """The sizes as a list. Mirrors `Tensor::dims`.

        >>> Tensor.zeros([2, 3]).dims()
        [2, 3]
        """
        return list(self._dims)

    def rank(self) -> builtins.int:
        """Number of axes. Mirrors `Tensor::rank`.

        >>> Tensor.zeros([2, 3]).rank()
        2
        """
        return self.ndim

    # Reading back

    def to_data(self) -> TensorData:
        """The values as TensorData. Mirrors `Tensor::to_data`.

        >>> Tensor([1.0, 2.0]).to_data()
        TensorData([1.0, 2.0], dtype=f32)
        """
        try:
            array = np.array(self.numpy(), order="C")
            if array.dtype.kind == "b":
                array = array.view(np.uint8) != 0  # memory that is shared may hold other bytes than 0 and 1
        except MemoryError as e:
            raise no_memory("to_data", self._size, e) from None
        return TensorData._of(array, self.dtype)

    into_data = try_to_data = try_into_data = to_data

    def to_data_dtype(self, dtype) -> TensorData:
        """The values as TensorData of another dtype. Mirrors `Tensor::to_data_dtype`.

        Args:
            dtype: a DType, its name, or a NumPy or Python type.

        Returns:
            TensorData of the same shape.

        Raises:
            DataError: a value that the dtype cannot represent.

        >>> Tensor([1.0, 2.0]).to_data_dtype("i64")
        TensorData([1, 2], dtype=i64)
        """
        return self.to_data().convert(dtype)

    into_data_dtype = try_to_data_dtype = try_into_data_dtype = to_data_dtype
    to_data_as = into_data_as = try_to_data_as = try_into_data_as = to_data_dtype

    def to_vec_as(self, dtype) -> list:
        """The values as a flat list, converted to a dtype. Mirrors `Tensor::try_to_vec_as`.

        Args:
            dtype: a DType, its name, or a NumPy or Python type.

        Returns:
            List of Python numbers.

        Raises:
            DataError: a value that the dtype cannot represent.

        >>> Tensor([[1.5, 2.0]]).to_vec_as("i32")
        [1, 2]
        """
        return self.to_data().to_vec_as(dtype)

    try_to_vec_as = try_into_vec_as = to_vec_as

    def to_json(self) -> str:
        """The values as JSON, as Burn's serde writes a tensor: see `TensorData.to_json`.

        >>> Tensor([1.0]).to_json()
        '{"bytes":[0,0,128,63],"shape":[1],"dtype":"F32"}'
        """
        return self.to_data().to_json()

    @classmethod
    def from_json(cls, text) -> Self:
        """The tensor that `to_json`, or Burn, has written: on the default device, in its default dtype of the kind.

        Args:
            text: str or bytes.

        Returns:
            Tensor.

        Raises:
            DataError: the text is no tensor, or the default dtype cannot represent a value.

        >>> Tensor.from_json(Tensor([0.5], dtype="f64").to_json()).dtype
        DType.F32
        """
        return cls.from_data(TensorData.from_json(text))

    def item(self) -> builtins.float | builtins.int | builtins.bool:
        """The only element as a Python number: `into_scalar` without a conversion.

        Returns:
            float, int or bool.

        Raises:
            InvalidShapeError: there is not exactly one element.

        >>> Tensor([[2.5]]).item()
        2.5
        """
        return _only_element(self, "item")

    def into_scalar(self, dtype=None) -> builtins.float | builtins.int | builtins.bool:
        """The only element as a Python number, converted to a dtype if one is given. Mirrors `Tensor::into_scalar`.

        Args:
            dtype: a DType, its name, or a NumPy or Python type.

        Returns:
            float, int or bool.

        Raises:
            InvalidShapeError: there is not exactly one element.
            DataError: the dtype cannot represent the value.

        >>> Tensor([2.7]).into_scalar("i32")
        2
        """
        value = _only_element(self, "into_scalar")
        return value if dtype is None else TensorData([value], dtype=self.dtype).to_vec_as(dtype)[0]

    try_into_scalar = into_scalar

    def tolist(self) -> list:
        """The values as nested lists.

        >>> Tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        try:
            return self.numpy().tolist()
        except MemoryError as e:
            raise no_memory("tolist", self._size, e) from None

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    def __index__(self):
        if self._kind == FLOAT:
            raise TypeError(f"[index] only Int tensors of one element can be used as an index, got dtype {self.dtype}")
        return int(self.item())

    def __bool__(self):
        if self._size != 1:
            raise ValueError(
                f"[bool] the truth value of a tensor of shape {self.dims()} is ambiguous; use any() or all() and item()"
            )
        return bool(self.item())

    def __repr__(self):
        return format_tensor(self)

    def __format__(self, spec):
        return format_tensor(self, int(spec[1:].rstrip("f"))) if spec.startswith(".") else format_tensor(self)

    def __reduce__(self):
        if core.node_state(self):
            raise AutodiffError("[pickle] a tracked tensor cannot be pickled; call detach() or inner() first")
        return (_unpickle, (self.to_data(),))

    def __copy__(self):
        return core.clone(self)

    def __deepcopy__(self, memo):
        return core.clone(self)

    def clone(self) -> Self:
        """Another handle of the same value; cheap. Mirrors `Clone`.

        >>> x = Tensor([1.0])
        >>> x.clone().tolist()
        [1.0]
        """
        return core.clone(self)

    def extract(self) -> Self:
        """Takes the value out: what is left here is empty, with shape [0, .., 0]. Mirrors `Tensor::extract`.

        >>> x = Tensor([1.0, 2.0])
        >>> x.extract().tolist(), x.shape
        ([1.0, 2.0], [0])
        """
        out = core.clone(self)
        core.assign(self, core.empty((0,) * self.ndim, self._dtype, self._slot, self._ctx))
        return out

    def inplace(self, func) -> None:
        """Replaces this value by func(value); clones and views keep what they had. Mirrors `Tensor::inplace`.

        Args:
            func: called with the value, returns the new one.

        >>> x = Tensor([1.0, 2.0])
        >>> x.inplace(lambda value: value * 10.0)
        >>> x.tolist()
        [10.0, 20.0]
        """
        core.assign(self, check_tensor("inplace", func(core.clone(self)), "func(self)"))

    def to_device(self, device) -> Self:
        """The value on another device; keeps this tensor's autodiff context. Mirrors `Tensor::to_device`.

        Args:
            device: a Device; only its hardware counts, not its autodiff association.

        Returns:
            Tensor of the same value; the gradient goes back the same way.

        >>> Tensor([1.0]).to_device(burn.Device.ndarray()).device
        Device<NdArray(Cpu)>
        """
        if not isinstance(device, Device):
            raise ArgumentTypeError(f"[to_device] 'device' must be a Device, got {type(device).__name__}")
        from burn._ops.transfer import to_device

        return to_device(self, device._slot)

    def int(self) -> Self:
        """The values in the device's default Int dtype. Mirrors `Tensor::int`.

        >>> Tensor([1.7, -1.7]).int().tolist()
        [1, -1]
        """
        return ew.cast(self, settings_in_use(self._slot).int_dtype)

    def float(self) -> Self:
        """The values in the device's default Float dtype. Mirrors `Tensor::float`.

        >>> Tensor([1, 2]).float().tolist()
        [1.0, 2.0]
        """
        return ew.cast(self, settings_in_use(self._slot).float_dtype)

    def bool(self) -> Self:
        """Whether each value is nonzero. Mirrors `Tensor::bool`.

        >>> Tensor([0.0, 2.0]).bool().tolist()
        [False, True]
        """
        return ew.cast(self, DType.Bool)

    @compiled(core.cast_to, ew._cast)
    def cast(self, dtype):
        """The values in another dtype; the kind follows, and Bool has one store, the device's. Mirrors `Tensor::cast`.

        Args:
            dtype: a DType, its name, or a NumPy or Python type.

        Returns:
            Tensor of the same shape. Floats are truncated toward zero and saturate, integers wrap; to Bool, all but 0 is True.

        >>> Tensor([1.7, -1.7]).cast("i32").tolist(), Tensor([300]).cast(burn.DType.U8).tolist()
        ([1, -1], [44])
        """
        dtype = DType.of(dtype)
        return ew.cast(self, DType.Bool if dtype.is_bool else dtype)


def _only_element(x, op):
    value = core.only_value(x)
    if value is not None:
        return value
    if x._size != 1:
        raise InvalidShapeError(f"[{op}] the tensor must have exactly one element, got {x._size} in shape {x.dims()}")
    return np.frombuffer(core.read_scalar(x, 0), x.dtype.numpy)[0].item()


def _unpickle(data):
    device = Device.default()
    device._lock_settings()
    return Tensor.from_data(data, device, data.dtype)


teach_class(Tensor)
core.set_types(Tensor, Shape, DType)
