"""The public tensor: information, reading back, autodiff state.

Creation is in `_creation.py`, arithmetic in `_math.py`, shapes and indexing in `_shaping.py`; the operators are C slots of
`TensorBase`.
"""

import numpy as np

from burn._core import core
from burn._ops import elementwise as ew
from burn._ops.registry import FLOAT, check_same, check_tensor
from burn._waiting import WaitingNames
from burn.device import Device
from burn.errors import (
    ArgumentError,
    ArgumentTypeError,
    AutodiffError,
    DTypeError,
    InvalidShapeError,
    ShapeError,
)
from burn.tensor._calls import teach_class
from burn.tensor._creation import CreationMethods
from burn.tensor._foreign import ForeignNames
from burn.tensor._interop import InteropMethods
from burn.tensor._math import MathMethods
from burn.tensor._patterns import PatternMethods
from burn.tensor._sampling import SamplingMethods
from burn.tensor._shaping import ShapingMethods
from burn.tensor._slicing import SlicingMethods
from burn.tensor._sorting import SortingMethods
from burn.tensor._vector import VectorMethods
from burn.tensor.data import TensorData
from burn.tensor.display import format_tensor
from burn.tensor.dtype import DType, Kind
from burn.tensor.shape import Shape

__all__ = ["Tensor"]


class Tensor(
    CreationMethods,
    ShapingMethods,
    SlicingMethods,
    PatternMethods,
    MathMethods,
    SamplingMethods,
    SortingMethods,
    VectorMethods,
    InteropMethods,
    ForeignNames,
    core.TensorBase,
    metaclass=WaitingNames,
):
    """An n-dimensional array of numbers on a device. Mirrors `burn::tensor::Tensor`.

    Make one with `Tensor.from_data`, `zeros`, `ones`, `full`, `arange`, `random`, or with `Tensor(data, device)`.
    Operations return new tensors and never change their inputs. The kind (Float, Int, Bool) follows from the dtype.

    >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> (x * x).sum().item()
    30.0
    """

    __slots__ = ()

    def __new__(cls, data, device=None, dtype=None):
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

    def can_mut(self):
        """Whether nobody else holds this tensor's memory. Mirrors `Tensor::can_mut`."""
        return core.sole_owner(self)

    def dims(self):
        """The sizes as a list. Mirrors `Tensor::dims`."""
        return list(self._dims)

    def rank(self):
        """Number of axes. Mirrors `Tensor::rank`."""
        return self.ndim

    # Reading back

    def to_data(self):
        """The values as TensorData. Mirrors `Tensor::to_data`."""
        return TensorData._of(np.array(self.numpy(), order="C"), self.dtype)

    into_data = try_to_data = try_into_data = to_data

    def to_data_dtype(self, dtype):
        """The values as TensorData of another dtype. Mirrors `Tensor::to_data_dtype`.

        Args:
            dtype: a DType, its name, or a NumPy or Python type.

        Raises:
            DataError: a value that the dtype cannot represent.
        """
        return self.to_data().convert(dtype)

    into_data_dtype = try_to_data_dtype = try_into_data_dtype = to_data_dtype
    to_data_as = into_data_as = try_to_data_as = try_into_data_as = to_data_dtype

    def to_vec_as(self, dtype):
        """The values as a flat list, converted to a dtype. Mirrors `Tensor::try_to_vec_as`.

        >>> Tensor([[1.5, 2.0]]).to_vec_as("i32")
        [1, 2]
        """
        return self.to_data().to_vec_as(dtype)

    try_to_vec_as = try_into_vec_as = to_vec_as

    def to_json(self):
        """The values as JSON, as Burn's serde writes a tensor: see `TensorData.to_json`."""
        return self.to_data().to_json()

    @classmethod
    def from_json(cls, text):
        """The tensor that `to_json`, or Burn, has written: on the default device, in its default dtype of the kind.

        Raises:
            DataError: the text is no tensor, or the default dtype cannot represent a value.

        >>> Tensor.from_json(Tensor([0.5], dtype="f64").to_json()).dtype
        DType.F32
        """
        return cls.from_data(TensorData.from_json(text))

    def item(self):
        """The only element as a Python number: `into_scalar` without a conversion.

        Returns:
            float, int or bool.

        Raises:
            InvalidShapeError: there is not exactly one element.
        """
        return _only_element(self, "item")

    def into_scalar(self, dtype=None):
        """The only element as a Python number, converted to a dtype if one is given. Mirrors `Tensor::into_scalar`.

        Args:
            dtype: a DType, its name, or a NumPy or Python type.

        Raises:
            InvalidShapeError: there is not exactly one element.
            DataError: the dtype cannot represent the value.

        >>> Tensor([2.7]).into_scalar("i32")
        2
        """
        value = _only_element(self, "into_scalar")
        return value if dtype is None else TensorData([value], dtype=self.dtype).to_vec_as(dtype)[0]

    try_into_scalar = into_scalar

    def tolist(self):
        """The values as nested lists."""
        return self.numpy().tolist()

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

    def clone(self):
        """Another handle of the same value; cheap. Mirrors `Clone`."""
        return core.clone(self)

    def extract(self):
        """Takes the value out: what is left here is empty, with shape [0, .., 0]. Mirrors `Tensor::extract`."""
        out = core.clone(self)
        core.assign(self, core.empty((0,) * self.ndim, self._dtype, self._slot, self._ctx))
        return out

    def inplace(self, func):
        """Replaces this value by func(value); clones and views keep what they had. Mirrors `Tensor::inplace`."""
        core.assign(self, check_tensor("inplace", func(core.clone(self)), "func(self)"))

    # Autodiff

    def autodiff(self):
        """The same value with autodiff on (untracked). Mirrors `Tensor::autodiff`."""
        return self if self._ctx else core.cut(self, 1)

    @classmethod
    def from_inner(cls, tensor):
        """The same value with autodiff on. Mirrors `Tensor::from_inner`."""
        return check_tensor("from_inner", tensor, "tensor").autodiff()

    def inner(self):
        """The same value without autodiff. Mirrors `Tensor::inner`."""
        return core.cut(self, 0) if self._ctx else self

    without_autodiff = inner

    def is_autodiff(self):
        """Whether autodiff is on for this tensor. Mirrors `Tensor::is_autodiff`."""
        return self._ctx != 0

    def is_tracked(self):
        """Whether an ancestor (or this leaf) requires a gradient. Mirrors `Tensor::is_tracked`."""
        return core.node_state(self) != 0

    def is_require_grad(self):
        """Whether this is a leaf that keeps its gradient. Mirrors `Tensor::is_require_grad`."""
        return core.node_state(self) == 2

    def require_grad(self):
        """This value as a leaf whose gradient is kept. Mirrors `Tensor::require_grad`.

        Raises:
            AutodiffError: autodiff is off, or the tensor is a tracked intermediate.
            DTypeError: not a Float tensor.
        """
        if self._kind != FLOAT:
            raise DTypeError(
                f"[require_grad] 'self' must be a Float tensor, got {self.dtype}; only floats have gradients"
            )
        if not self._ctx:
            raise AutodiffError(
                "[require_grad] autodiff is off for this tensor; call autodiff() first, or use device.autodiff()"
            )
        state = core.node_state(self)
        if state == 1:
            raise AutodiffError(
                "[require_grad] the tensor is a tracked intermediate; call it on the source, or detach() first"
            )
        return self if state == 2 else core.make_leaf(self)

    def set_require_grad(self, require_grad):
        """require_grad() if true, else an untracked leaf. Mirrors `Tensor::set_require_grad`."""
        if require_grad:
            return self.require_grad()
        return core.cut(self, self._ctx) if core.node_state(self) else self

    def detach(self):
        """The value cut from the graph; a leaf keeps requiring its gradient. Mirrors `Tensor::detach`."""
        return core.make_leaf(self) if core.node_state(self) == 2 else core.cut(self, self._ctx)

    def backward(self):
        """Gradients of the sum of this tensor with respect to its leaves; consumes the graph. Mirrors `Tensor::backward`.

        Returns:
            Gradients: read it with `tensor.grad(gradients)`.

        Raises:
            AutodiffError: untracked, or the graph was consumed by an earlier backward.
        """
        from burn._autodiff import Gradients

        return Gradients(core.backward(self))

    def grad(self, grads):
        """This leaf's gradient as a plain tensor, or None. Mirrors `Tensor::grad`."""
        grads = _gradients("grad", grads)
        return grads._get(self._node_id) if core.node_state(self) == 2 else None

    def grad_remove(self, grads):
        """Takes this leaf's gradient out of grads. Mirrors `Tensor::grad_remove`."""
        grads = _gradients("grad_remove", grads)
        return grads._remove(self._node_id) if core.node_state(self) == 2 else None

    def grad_replace(self, grads, grad):
        """Puts another plain gradient in place. Mirrors `Tensor::grad_replace`."""
        if not self._ctx or self._node_id is None:
            raise AutodiffError("[grad_replace] 'self' must be a tracked tensor; call autodiff().require_grad() first")
        if check_tensor("grad_replace", grad, "grad")._ctx:
            raise AutodiffError(
                "[grad_replace] 'grad' must be a plain tensor, got one with autodiff; call inner() on it"
            )
        check_same("grad_replace", self, grad, "grad")
        if grad._dims != self._dims:
            raise ShapeError(f"[grad_replace] 'grad' must have shape {self.dims()}, got {grad.dims()}")
        _gradients("grad_replace", grads)._replace(self._node_id, grad)

    def with_gradient_checkpointing_strategy(self, strategy):
        """The same value and graph under another strategy. Mirrors `Tensor::with_gradient_checkpointing_strategy`.

        Args:
            strategy: "Disabled" or "Balanced".

        Raises:
            AutodiffError: autodiff is off.
        """
        contexts = {"Disabled": 1, "Balanced": 2}
        if strategy not in contexts:
            raise ArgumentError(
                f"[with_gradient_checkpointing_strategy] 'strategy' must be Disabled or Balanced, got {strategy!r}"
            )
        if not self._ctx:
            raise AutodiffError(
                "[with_gradient_checkpointing_strategy] 'self' must have autodiff on; call autodiff() first"
            )
        return core.with_context(self, contexts[strategy])

    def gradient_checkpointing_strategy(self):
        """None, "Disabled" or "Balanced". Mirrors `Tensor::gradient_checkpointing_strategy`."""
        return self.device.gradient_checkpointing_strategy()

    def to_device(self, device):
        """The value on another device; keeps this tensor's autodiff context. Mirrors `Tensor::to_device`."""
        if not isinstance(device, Device):
            raise ArgumentTypeError(f"[to_device] 'device' must be a Device, got {type(device).__name__}")
        from burn._ops.transfer import to_device

        return to_device(self, device._slot)

    def int(self):
        """The values in the device's default Int dtype. Mirrors `Tensor::int`."""
        return ew.cast(self, self.device._lock_settings().int_dtype)

    def float(self):
        """The values in the device's default Float dtype. Mirrors `Tensor::float`."""
        return ew.cast(self, self.device._lock_settings().float_dtype)

    def bool(self):
        """Whether each value is nonzero. Mirrors `Tensor::bool`."""
        return ew.cast(self, DType.Bool)

    def cast(self, dtype):
        """The values in another dtype; the kind follows, and Bool has one store, the device's. Mirrors `Tensor::cast`."""
        dtype = DType.of(dtype)
        return ew.cast(self, DType.Bool if dtype.is_bool else dtype)


def _only_element(x, op):
    if x._size != 1:
        raise InvalidShapeError(f"[{op}] the tensor must have exactly one element, got {x._size} in shape {x.dims()}")
    return np.frombuffer(core.read_scalar(x, 0), x.dtype.numpy)[0].item()


def _gradients(op, grads):
    from burn._autodiff import Gradients

    if not isinstance(grads, Gradients):
        raise ArgumentTypeError(
            f"[{op}] 'grads' must be the Gradients that backward() returned, got {type(grads).__name__}"
        )
    return grads


def _unpickle(data):
    device = Device.default()
    device._lock_settings()
    return Tensor.from_data(data, device, data.dtype)


teach_class(Tensor)
core.set_types(Tensor, Shape)
