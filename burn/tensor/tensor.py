"""The public tensor: creation, information, reading back, autodiff state and interoperation.

Arithmetic is in `_math.py`, shapes and indexing in `_shaping.py`; the operators are C slots of `TensorBase`.
"""

import numpy as np

from burn._core import core
from burn._ops import elementwise as ew
from burn._ops import movement, random
from burn._ops.registry import FLOAT, check_same, check_tensor, int_range, number
from burn.device import Device
from burn.errors import (
    ArgumentError,
    ArgumentTypeError,
    AutodiffError,
    DTypeError,
    NumberOverflowError,
    ShapeError,
)
from burn.tensor._foreign import ForeignNames
from burn.tensor._interop import InteropMethods
from burn.tensor._math import MathMethods
from burn.tensor._options import options, shape_of
from burn.tensor._patterns import PatternMethods
from burn.tensor._reducing import ReducingMethods
from burn.tensor._shaping import ShapingMethods
from burn.tensor._slicing import SlicingMethods
from burn.tensor._sorting import SortingMethods
from burn.tensor._vector import VectorMethods
from burn.tensor.data import TensorData, array_of, checked_convert
from burn.tensor.display import format_tensor
from burn.tensor.distribution import Distribution
from burn.tensor.dtype import DType, Float, Int, Kind
from burn.tensor.shape import Shape, as_shape, int_of

__all__ = ["Tensor"]


class Tensor(
    ShapingMethods,
    SlicingMethods,
    PatternMethods,
    MathMethods,
    ReducingMethods,
    SortingMethods,
    VectorMethods,
    InteropMethods,
    ForeignNames,
    core.TensorBase,
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

    # Creation

    @classmethod
    def from_data(cls, data, device=None, dtype=None):
        """A tensor with a copy of nested lists, a NumPy array or TensorData. Mirrors `Tensor::from_data`.

        Args:
            data: the values. A single number gives shape [1].
            device: a Device or a (Device, dtype) pair; the default device if None.
            dtype: dtype of the result; if None the device's default for the kind of the data.

        Returns:
            Tensor of the data's shape.

        Raises:
            DataError: ragged or non-numeric data, or a value that the dtype cannot represent.
        """
        array = array_of(data, True)
        given = data.dtype if isinstance(data, TensorData) else DType.of(array.dtype)
        device, dtype = options(device, dtype, given.kind, "from_data")
        array = np.ascontiguousarray(checked_convert(array, dtype, "from_data"))
        shape = array.shape or (1,)
        if array.ndim == 0:
            array = array.reshape(1)
        return core.from_buffer(
            array.view(np.uint8) if array.size else b"", shape, dtype.code, device._slot, device._ctx
        )

    from_ = from_data

    @classmethod
    def from_floats(cls, values, device=None):
        """A Float tensor; values are rounded to f32 first, as in Burn. Mirrors `Tensor::from_floats`."""
        array = checked_convert(array_of(values, True, "from_floats"), DType.F32, "from_floats")
        return cls.from_data(array, device)

    @classmethod
    def from_ints(cls, values, device=None):
        """An Int tensor; values must fit i32, as in Burn. Mirrors `Tensor::from_ints`."""
        return cls.from_data(checked_convert(array_of(values, True, "from_ints"), DType.I32, "from_ints"), device)

    @classmethod
    def from_bool(cls, values, device=None):
        """A Bool tensor. Mirrors `Tensor::from_bool`."""
        return cls.from_data(array_of(values, True, "from_bool") != 0, device)

    @classmethod
    def empty(cls, shape, device=None, *, kind=Float, dtype=None):
        """A tensor of undefined content. Mirrors `Tensor::empty`."""
        device, dtype = options(device, dtype, kind, "empty")
        return core.empty(shape_of(shape, "empty"), dtype.code, device._slot, device._ctx)

    @classmethod
    def zeros(cls, shape, device=None, *, kind=Float, dtype=None):
        """A tensor of zeros (False for Bool). Mirrors `Tensor::zeros`."""
        return cls.full(shape, 0, device, kind=kind, dtype=dtype, _op="zeros")

    @classmethod
    def ones(cls, shape, device=None, *, kind=Float, dtype=None):
        """A tensor of ones (True for Bool). Mirrors `Tensor::ones`."""
        return cls.full(shape, 1, device, kind=kind, dtype=dtype, _op="ones")

    @classmethod
    def full(cls, shape, fill_value, device=None, *, kind=None, dtype=None, _op="full"):
        """A tensor filled with one number; the kind follows the number unless kind or dtype says otherwise.

        Mirrors `Tensor::full`.
        """
        if kind is None:
            kind = Kind.Bool if isinstance(fill_value, bool) else Float
        device, dtype = options(device, dtype, kind, _op)
        dims = shape_of(shape, _op)
        one = core.make_scalar(dtype.code, device._slot, 0, 0.0, 0)
        return movement.full_like_shape(
            dims, dtype.code, device._slot, device._ctx, number(_op, one, fill_value, "fill_value")
        )

    def empty_like(self):
        """A tensor of undefined content in this shape, dtype and device. Mirrors `Tensor::empty_like`."""
        return core.empty(self._dims, self._dtype, self._slot, self._ctx)

    def zeros_like(self):
        """Zeros of this shape, dtype and device. Mirrors `Tensor::zeros_like`."""
        return self.full_like(0)

    def ones_like(self):
        """Ones of this shape, dtype and device. Mirrors `Tensor::ones_like`."""
        return self.full_like(1)

    def full_like(self, fill_value):
        """One number in this shape, dtype and device. Mirrors `Tensor::full_like`."""
        value = number("full_like", self, fill_value, "fill_value")
        return movement.full_like_shape(self._dims, self._dtype, self._slot, self._ctx, value)

    @classmethod
    def arange(cls, start, end=None, device=None, *, dtype=None, step=1):
        """Whole numbers from start to end, which is left out. Mirrors `Tensor::arange` and `arange_step`.

        Args:
            start: first value, or a `range`.
            end: bound; with one number, the values run from 0 to it.
            step: distance, at least 1.

        >>> Tensor.arange(2, 8, step=2).numpy().tolist()
        [2, 4, 6]
        """
        if isinstance(start, range):
            if device is None and isinstance(end, Device | tuple):
                device = end
            start, end, step = start.start, start.stop, start.step
        elif isinstance(end, Device | tuple):
            device, end = end, None
        if end is None:
            start, end = 0, start
        start, end, step = (int_of("arange", n, v) for n, v in (("start", start), ("end", end), ("step", step)))
        if step < 1:
            raise ArgumentError(
                f"[arange] 'step' must be at least 1, got {step}; flip() the result for descending values"
            )
        device, dtype = options(device, dtype, Int, "arange")
        count = max(0, -(-(end - start) // step))
        if count and dtype.kind is Int:
            low, high = int_range(dtype.code)
            last = start + (count - 1) * step
            if start < low or last > high:
                raise NumberOverflowError(
                    f"[arange] 'start' and 'end' must give values in {low}..{high} for dtype {dtype}, got {start}..{last}; "
                    "pass a wider dtype"
                )
        return movement.arange(start, count, step, dtype.code, device._slot, device._ctx)

    @classmethod
    def eye(cls, size, device=None, *, kind=Float, dtype=None):
        """The identity matrix [size, size]. Mirrors `Tensor::eye`."""
        device, dtype = options(device, dtype, kind, "eye")
        if int_of("eye", "size", size) < 1:
            raise ShapeError(f"[eye] 'size' must be at least 1, got {size}")
        rows = cls.arange(0, size, device).unsqueeze_dim(1)
        return rows.equal(rows.transpose()).cast(dtype)

    @classmethod
    def random(cls, shape, distribution=Distribution.Default, device=None, *, kind=Float, dtype=None):
        """Random values; `device.seed` makes them repeatable on every backend. Mirrors `Tensor::random`.

        Args:
            shape: sizes.
            distribution: a `Distribution`.

        Raises:
            ArgumentError: parameters that describe no distribution.
        """
        device, dtype = options(device, dtype, kind, "random")
        dims = as_shape(shape, "random")
        d = distribution
        if d is Distribution.Default:
            if dtype.is_float:
                return random.uniform(dims, 0.0, 1.0, dtype, device)
            info = np.iinfo(dtype.numpy)
            return random.uniform(dims, float(info.min), float(info.max) + 1.0, dtype, device)
        if isinstance(d, Distribution.Uniform):
            return random.uniform(dims, d.low, d.high, dtype, device)
        if isinstance(d, Distribution.Normal):
            return random.normal(dims, d.mean, d.std, dtype, device)
        if isinstance(d, Distribution.Bernoulli):
            return random.bernoulli(dims, d.p, dtype, device)
        raise ArgumentTypeError(f"[random] 'distribution' must be a Distribution, got {d!r}")

    def random_like(self, distribution=Distribution.Default):
        """Random values in this shape, dtype and device. Mirrors `Tensor::random_like`."""
        return Tensor.random(self._dims, distribution, self.device, dtype=self.dtype)

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

    def item(self):
        """The only element as a Python number. Mirrors `Tensor::into_scalar`.

        Raises:
            ShapeError: there is not exactly one element.
        """
        if self._size != 1:
            raise ShapeError(
                f"[item] the tensor must have exactly one element, got {self._size} in shape {self.dims()}"
            )
        return np.frombuffer(core.read_scalar(self, 0), self.dtype.numpy)[0].item()

    into_scalar = try_into_scalar = item

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
        return tensor.autodiff()

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
        return _gradients("grad", grads)._get(self._node_id) if core.node_state(self) == 2 else None

    def grad_remove(self, grads):
        """Takes this leaf's gradient out of grads. Mirrors `Tensor::grad_remove`."""
        return _gradients("grad_remove", grads)._remove(self._node_id) if core.node_state(self) == 2 else None

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
        """The values in another dtype; the kind follows. Mirrors `Tensor::cast`."""
        return ew.cast(self, DType.of(dtype))


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


core.set_types(Tensor, Shape)
