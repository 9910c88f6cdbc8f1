"""Methods of Tensor that make tensors: of host data, of one number, of a pattern, of chance."""

import numpy as np

from burn._arguments import shown
from burn._core import core
from burn._ops import movement, random
from burn._ops.registry import int_range, number
from burn.errors import ArgumentError, ArgumentTypeError, DTypeError, NumberOverflowError, ShapeError
from burn.tensor._calls import compiled
from burn.tensor._options import are_options, options, shape_of
from burn.tensor._values import checked_convert
from burn.tensor.data import TensorData, array_of
from burn.tensor.distribution import Distribution
from burn.tensor.dtype import Bool, DType, Float, Int
from burn.tensor.shape import as_shape, int_of

_FORMS = {  # of a distribution's class: the op and its numbers by name; of None what there is without one
    None: (random._uniform, ()),
    type(Distribution.Default): (random._uniform, ()),
    Distribution.Uniform: (random._uniform, ("low", "high")),
    Distribution.Normal: (random._normal, ("mean", "std")),
    Distribution.Bernoulli: (random._bernoulli, ("p",)),
}


class CreationMethods:
    """Methods of Tensor that make new tensors."""

    __slots__ = ()

    @staticmethod
    @compiled(core.listed, -1)
    def from_data(data, device=None, dtype=None):
        """A tensor with a copy of nested lists, a NumPy array or TensorData. Mirrors `Tensor::from_data`.

        Args:
            data: the values. A single number gives shape [1].
            device: a Device, a (Device, dtype) pair or TensorCreationOptions; the default device if None.
            dtype: dtype of the result; if None the device's default for the kind of the data.

        Returns:
            Tensor of the data's shape.

        Raises:
            DataError: ragged or non-numeric data, or a value that the dtype cannot represent, such as a fraction as an Int.

        >>> Tensor.from_data([[1.0, 2.0], [3.0, 4.0]], burn.Device.flex()).shape
        [2, 2]
        """
        return _of_values(data, device, dtype, None, "from_data")

    from_ = from_data

    @staticmethod
    @compiled(core.listed, 0)
    def from_floats(values, device=None):
        """A Float tensor; values are rounded to f32 first, as in Burn. Mirrors `Tensor::from_floats`.

        Args:
            values: nested lists of numbers, an array or TensorData.
            device: a Device, a (Device, dtype) pair or TensorCreationOptions; the default device if None.

        Returns:
            Tensor of the device's default Float dtype.

        >>> Tensor.from_floats([1, 2]).tolist()
        [1.0, 2.0]
        """
        array = checked_convert(array_of(values, True, "from_floats", "values"), DType.F32, "from_floats", "values")
        return _of_values(array, device, None, Float, "from_floats")

    @staticmethod
    @compiled(core.listed, 1)
    def from_ints(values, device=None):
        """An Int tensor; values must fit i32, as in Burn. Mirrors `Tensor::from_ints`.

        Args:
            values: nested lists of whole numbers, an array or TensorData.
            device: a Device, a (Device, dtype) pair or TensorCreationOptions; the default device if None.

        Returns:
            Tensor of the device's default Int dtype.

        Raises:
            DataError: a value outside i32, or a fraction.

        >>> Tensor.from_ints([1, 2]).tolist()
        [1, 2]
        """
        array = array_of(values, True, "from_ints", "values")
        array = checked_convert(array, DType.I32, "from_ints", "values", True)
        return _of_values(array, device, None, Int, "from_ints")

    @staticmethod
    def from_bool(values, device=None):
        """A Bool tensor. Mirrors `Tensor::from_bool`.

        Args:
            values: nested lists, an array or TensorData; all but 0 is True.
            device: a Device, a (Device, dtype) pair or TensorCreationOptions; the default device if None.

        Returns:
            Bool tensor.

        >>> Tensor.from_bool([True, False]).tolist()
        [True, False]
        """
        return _of_values(array_of(values, True, "from_bool", "values") != 0, device, None, Bool, "from_bool")

    @staticmethod
    @compiled(core.blank, movement._fill)
    def empty(shape, device=None, *, kind=None, dtype=None):
        """A tensor of undefined content. Mirrors `Tensor::empty`.

        Args:
            shape: sizes, at least one.
            device: a Device, a (Device, dtype) pair or TensorCreationOptions; the default device if None.
            kind: Float, Int or Bool; that of the dtype if None, Float without a dtype.
            dtype: dtype of the result; the device's default for the kind if None.

        Returns:
            Tensor of that shape.

        Raises:
            DTypeError: a dtype of another kind.

        >>> Tensor.empty([2, 3]).shape
        [2, 3]
        """
        device, dtype = options(device, dtype, kind, "empty")
        out = core.fresh(shape, dtype.code, device._slot, device._ctx)
        return out if out is not None else core.empty(shape_of(shape, "empty"), dtype.code, device._slot, device._ctx)

    @staticmethod
    @compiled(core.zeros, movement._fill)
    def zeros(shape, device=None, *, kind=None, dtype=None):
        """A tensor of zeros (False for Bool). Mirrors `Tensor::zeros`.

        Args:
            shape: sizes, at least one.
            device: a Device, a (Device, dtype) pair or TensorCreationOptions; the default device if None.
            kind: Float, Int or Bool; that of the dtype if None, Float without a dtype.
            dtype: dtype of the result; the device's default for the kind if None.

        Returns:
            Tensor of that shape.

        >>> Tensor.zeros([2, 2], kind=burn.Int).tolist()
        [[0, 0], [0, 0]]
        """
        return _full("zeros", shape, 0, device, kind, dtype)

    @staticmethod
    @compiled(core.ones, movement._fill)
    def ones(shape, device=None, *, kind=None, dtype=None):
        """A tensor of ones (True for Bool). Mirrors `Tensor::ones`.

        Args:
            shape: sizes, at least one.
            device: a Device, a (Device, dtype) pair or TensorCreationOptions; the default device if None.
            kind: Float, Int or Bool; that of the dtype if None, Float without a dtype.
            dtype: dtype of the result; the device's default for the kind if None.

        Returns:
            Tensor of that shape.

        >>> Tensor.ones([2, 2], dtype="f64").dtype.name
        'f64'
        """
        return _full("ones", shape, 1, device, kind, dtype)

    @staticmethod
    @compiled(core.full, movement._fill)
    def full(shape, fill_value, device=None, *, kind=None, dtype=None):
        """A tensor filled with one number; Float unless kind or dtype says otherwise, Bool for a bool. Mirrors `Tensor::full`.

        Args:
            shape: sizes, at least one.
            fill_value: the number.
            device: a Device, a (Device, dtype) pair or TensorCreationOptions; the default device if None.
            kind: Float, Int or Bool; that of the dtype if None, Float without a dtype.
            dtype: dtype of the result; the device's default for the kind if None.

        Returns:
            Tensor of that shape.

        Raises:
            DTypeError: a dtype of another kind, or a fraction for an Int dtype.
            NumberOverflowError: the dtype cannot hold the number.

        >>> Tensor.full([2], 7.5).tolist()
        [7.5, 7.5]
        """
        return _full("full", shape, fill_value, device, kind, dtype)

    @compiled(core.blank_like, movement._fill)
    def empty_like(self):
        """A tensor of undefined content in this shape, dtype and device. Mirrors `Tensor::empty_like`.

        >>> Tensor([1, 2]).empty_like().shape
        [2]
        """
        return core.empty(self._dims, self._dtype, self._slot, self._ctx)

    @compiled(core.filled_like, movement._fill, 0)
    def zeros_like(self):
        """Zeros of this shape, dtype and device. Mirrors `Tensor::zeros_like`.

        >>> Tensor([1, 2]).zeros_like().tolist()
        [0, 0]
        """
        return self.full_like(0)

    @compiled(core.filled_like, movement._fill, 1)
    def ones_like(self):
        """Ones of this shape, dtype and device. Mirrors `Tensor::ones_like`.

        >>> Tensor([[5.0, 6.0]]).ones_like().tolist()
        [[1.0, 1.0]]
        """
        return self.full_like(1)

    @compiled(core.filled_like, movement._fill)
    def full_like(self, fill_value):
        """One number in this shape, dtype and device. Mirrors `Tensor::full_like`.

        Args:
            fill_value: the number.

        Returns:
            Tensor of the same shape, dtype and device.

        Raises:
            DTypeError: a fraction, and self is not Float.
            NumberOverflowError: the dtype cannot hold the number.

        >>> Tensor([1, 2]).full_like(7).tolist()
        [7, 7]
        """
        value = number("full_like", self, fill_value, "fill_value")
        return movement.full_like_shape(self._dims, self._dtype, self._slot, self._ctx, value)

    @staticmethod
    @compiled(core.arange, movement._arange)
    def arange(start, end=None, device=None, *, dtype=None, step=1):
        """Whole numbers from start to end, which is left out. Mirrors `Tensor::arange` and `arange_step`.

        Args:
            start: first value, or a `range`.
            end: bound; with one number, the values run from 0 to it.
            device: a Device, a (Device, dtype) pair or TensorCreationOptions; the default device if None.
            dtype: an Int dtype; the device's default if None.
            step: distance, at least 1.

        Returns:
            Int tensor [n].

        Raises:
            DTypeError: not an Int dtype.
            NumberOverflowError: a value that the dtype cannot represent.

        >>> Tensor.arange(2, 8, step=2).tolist()
        [2, 4, 6]
        """
        if dtype is None:
            out = core.arange(movement._arange, start, end, device, step)
            if out is not None:
                return out
        if isinstance(start, range):
            if device is None and are_options(end):
                device = end
            elif end is not None or step != 1:
                raise ArgumentError(
                    f"[arange] 'end' and 'step' stand in the range {start} already, got {end!r} and {step!r}"
                )
            start, end, step = start.start, start.stop, start.step
        elif are_options(end):
            device, end = end, None
        if end is None:
            start, end = 0, int_of("arange", "start", start, True)
        return _arange("arange", start, end, step, device, dtype)

    @staticmethod
    def arange_step(range, step, device=None, *, dtype=None):
        """Whole numbers of a `range` by a step of at least 1. Mirrors `Tensor::arange_step`.

        Args:
            range: first value and bound, in steps of 1.
            step: distance, at least 1.
            device: a Device, a (Device, dtype) pair or TensorCreationOptions; the default device if None.
            dtype: an Int dtype; the device's default if None.

        Returns:
            Int tensor [n].

        >>> Tensor.arange_step(range(-2, 7), 3).tolist()
        [-2, 1, 4]
        """
        try:
            start, end, own = range.start, range.stop, range.step
        except AttributeError:
            raise ArgumentTypeError(f"[arange_step] 'range' must be a range, got {range!r}") from None
        if own != 1:
            raise ArgumentError(f"[arange_step] 'range' must have the step 1, got {range}; pass the step as 'step'")
        return _arange("arange_step", start, end, step, device, dtype)

    @staticmethod
    @compiled(core.eye, movement._fill)
    def eye(size, device=None, *, kind=None, dtype=None):
        """The identity matrix [size, size]. Mirrors `Tensor::eye`.

        Args:
            size: rows and columns, at least 1.
            device: a Device, a (Device, dtype) pair or TensorCreationOptions; the default device if None.
            kind: Float or Int; that of the dtype if None, Float without a dtype.
            dtype: dtype of the result; the device's default for the kind if None.

        Returns:
            Tensor [size, size].

        >>> Tensor.eye(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        device, dtype = options(device, dtype, kind, "eye")
        if int_of("eye", "size", size) < 1:
            raise ShapeError(f"[eye] 'size' must be at least 1, got {size}")
        as_shape([size, size], "eye", "size")
        rows = _arange("eye", 0, size, 1, device, None).unsqueeze_dim(1)
        return rows.equal(rows.transpose()).cast(dtype)

    @staticmethod
    @compiled(core.drawn, _FORMS)
    def random(shape, distribution=Distribution.Default, device=None, *, kind=None, dtype=None):
        """Random values; `device.seed` makes them repeatable on every backend. Mirrors `Tensor::random`.

        Args:
            shape: sizes, at least one.
            distribution: a `Distribution`; Default draws floats from [0, 1), ints from the whole range of their dtype.
            device: a Device, a (Device, dtype) pair or TensorCreationOptions; the default device if None.
            kind: Float or Int; that of the dtype if None, Float without a dtype.
            dtype: dtype of the result; the device's default for the kind if None.

        Returns:
            Tensor of that shape.

        Raises:
            ArgumentError: parameters that describe no distribution.
            DTypeError: a Bool dtype.

        >>> device = burn.Device.flex()
        >>> device.seed(7)
        >>> x = Tensor.random([2, 3], burn.Distribution.Normal(0.0, 1.0), device)
        >>> device.seed(7)
        >>> x.all_close(Tensor.random([2, 3], burn.Distribution.Normal(0.0, 1.0), device))
        True
        """
        if kind is dtype is None:
            out = core.drawn(_FORMS, shape, distribution, device)
            if out is not None:
                return out
        device, dtype = options(device, dtype, kind, "random")
        if dtype.is_bool:
            raise DTypeError(
                f"[random] 'dtype' must be Float or Int, got {dtype}; compare a Float tensor with a number"
            )
        dims = shape_of(shape, "random")
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

    @compiled(core.drawn_like, _FORMS)
    def random_like(self, distribution=Distribution.Default):
        """Random values in this shape, dtype and device. Mirrors `Tensor::random_like`.

        Args:
            distribution: a `Distribution`.

        Returns:
            Tensor of the same shape, dtype and device.

        >>> Tensor.zeros([2, 3]).random_like(burn.Distribution.Bernoulli(0.5)).shape
        [2, 3]
        """
        return CreationMethods.random(self._dims, distribution, self.device, dtype=self.dtype)


def _of_values(data, device, dtype, kind, op):
    """`from_data`, for a kind alone where one is given."""
    if isinstance(data, TensorData):
        array, own = data._exactly(None, op), data.dtype
    else:
        array = array_of(data, True, op)
        own = DType.of(array.dtype)
    device, dtype = options(device, dtype, kind, op, own.kind)
    array = np.ascontiguousarray(checked_convert(array, dtype, op, exact=True))
    shape = array.shape or (1,)
    if array.ndim == 0:
        array = array.reshape(1)
    return core.from_buffer(array.view(np.uint8) if array.size else b"", shape, dtype.code, device._slot, device._ctx)


def _full(op, shape, value, device, kind, dtype):
    default = Bool if isinstance(value, bool) else Float
    out = core.new_filled(movement._fill, shape, device, kind or default, value) if dtype is None else None
    if out is not None:
        return out
    device, dtype = options(device, dtype, kind, op, default)
    out = core.filled(movement._fill, shape, dtype.code, device._slot, device._ctx, value)
    if out is not None:
        return out
    dims = shape_of(shape, op)
    one = core.make_scalar(dtype.code, device._slot, 0, 0.0, 0)
    return movement.full_like_shape(dims, dtype.code, device._slot, device._ctx, number(op, one, value, "fill_value"))


def _arange(op, start, end, step, device, dtype):
    start, end, step = (int_of(op, n, v, True) for n, v in (("start", start), ("end", end), ("step", step)))
    if not 1 <= step < 1 << 63:
        raise ArgumentError(
            f"[{op}] 'step' must be at least 1 and below 2**63, got {shown(step)}; flip() the result for descending values"
        )
    device, dtype = options(device, dtype, Int, op)
    count = max(0, -(-(end - start) // step))
    if count:
        low, high = int_range(dtype.code)
        last = start + (count - 1) * step
        if start < low or last > high:
            raise NumberOverflowError(
                f"[{op}] 'start' and 'end' must give values in {low}..{high} for dtype {dtype}, got {start}..{last}; "
                "pass a wider dtype"
            )
    return movement.arange(start, count, step, dtype.code, device._slot, device._ctx)
