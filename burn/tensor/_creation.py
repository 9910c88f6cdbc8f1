"""Methods of Tensor that make tensors."""

import numpy as np

from burn._core import core
from burn._ops import movement, random
from burn._ops.registry import int_range, number
from burn.device import Device
from burn.errors import ArgumentError, ArgumentTypeError, NumberOverflowError, ShapeError
from burn.tensor._options import options, shape_of
from burn.tensor.data import TensorData, array_of, checked_convert
from burn.tensor.distribution import Distribution
from burn.tensor.dtype import DType, Float, Int, Kind
from burn.tensor.shape import as_shape, int_of


class CreationMethods:
    """Methods of Tensor that make tensors."""

    __slots__ = ()

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

        >>> Tensor.from_data([[1.0, 2.0], [3.0, 4.0]], burn.Device.flex()).shape
        [2, 2]
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
        """A Float tensor; values are rounded to f32 first, as in Burn. Mirrors `Tensor::from_floats`.

        Args:
            values: nested lists of numbers, an array or TensorData.
            device: a Device; the default device if None.

        Returns:
            Tensor of the device's default Float dtype.

        >>> Tensor.from_floats([1, 2]).tolist()
        [1.0, 2.0]
        """
        array = checked_convert(array_of(values, True, "from_floats"), DType.F32, "from_floats")
        return cls.from_data(array, device)

    @classmethod
    def from_ints(cls, values, device=None):
        """An Int tensor; values must fit i32, as in Burn. Mirrors `Tensor::from_ints`.

        Args:
            values: nested lists of ints, an array or TensorData; floats are truncated.
            device: a Device; the default device if None.

        Returns:
            Tensor of the device's default Int dtype.

        Raises:
            DataError: a value outside i32.

        >>> Tensor.from_ints([1, 2]).tolist()
        [1, 2]
        """
        return cls.from_data(checked_convert(array_of(values, True, "from_ints"), DType.I32, "from_ints"), device)

    @classmethod
    def from_bool(cls, values, device=None):
        """A Bool tensor. Mirrors `Tensor::from_bool`.

        Args:
            values: nested lists, an array or TensorData; all but 0 is True.
            device: a Device; the default device if None.

        Returns:
            Bool tensor.

        >>> Tensor.from_bool([True, False]).tolist()
        [True, False]
        """
        return cls.from_data(array_of(values, True, "from_bool") != 0, device)

    @classmethod
    def empty(cls, shape, device=None, *, kind=Float, dtype=None):
        """A tensor of undefined content. Mirrors `Tensor::empty`.

        Args:
            shape: sizes.
            device: a Device or a (Device, dtype) pair; the default device if None.
            kind: Float, Int or Bool, whose default dtype is taken.
            dtype: a dtype, instead of the kind.

        Returns:
            Tensor of that shape.

        >>> Tensor.empty([2, 3]).shape
        [2, 3]
        """
        device, dtype = options(device, dtype, kind, "empty")
        return core.empty(shape_of(shape, "empty"), dtype.code, device._slot, device._ctx)

    @classmethod
    def zeros(cls, shape, device=None, *, kind=Float, dtype=None):
        """A tensor of zeros (False for Bool). Mirrors `Tensor::zeros`.

        Args:
            shape: sizes.
            device: a Device or a (Device, dtype) pair; the default device if None.
            kind: Float, Int or Bool, whose default dtype is taken.
            dtype: a dtype, instead of the kind.

        Returns:
            Tensor of that shape.

        >>> Tensor.zeros([2, 2], kind=burn.Int).tolist()
        [[0, 0], [0, 0]]
        """
        return cls.full(shape, 0, device, kind=kind, dtype=dtype, _op="zeros")

    @classmethod
    def ones(cls, shape, device=None, *, kind=Float, dtype=None):
        """A tensor of ones (True for Bool). Mirrors `Tensor::ones`.

        Args:
            shape: sizes.
            device: a Device or a (Device, dtype) pair; the default device if None.
            kind: Float, Int or Bool, whose default dtype is taken.
            dtype: a dtype, instead of the kind.

        Returns:
            Tensor of that shape.

        >>> Tensor.ones([2, 2], dtype="f64").dtype.name
        'f64'
        """
        return cls.full(shape, 1, device, kind=kind, dtype=dtype, _op="ones")

    @classmethod
    def full(cls, shape, fill_value, device=None, *, kind=None, dtype=None, _op="full"):
        """A tensor filled with one number; Float unless kind or dtype says otherwise, Bool for a bool. Mirrors `Tensor::full`.

        Args:
            shape: sizes.
            fill_value: the number.
            device: a Device or a (Device, dtype) pair; the default device if None.
            kind: Float, Int or Bool, whose default dtype is taken.
            dtype: a dtype, instead of the kind.

        Returns:
            Tensor of that shape.

        Raises:
            NumberOverflowError: the dtype cannot hold the number.

        >>> Tensor.full([2], 7.5).tolist()
        [7.5, 7.5]
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
        """A tensor of undefined content in this shape, dtype and device. Mirrors `Tensor::empty_like`.

        >>> Tensor([1, 2]).empty_like().shape
        [2]
        """
        return core.empty(self._dims, self._dtype, self._slot, self._ctx)

    def zeros_like(self):
        """Zeros of this shape, dtype and device. Mirrors `Tensor::zeros_like`.

        >>> Tensor([1, 2]).zeros_like().tolist()
        [0, 0]
        """
        return self.full_like(0)

    def ones_like(self):
        """Ones of this shape, dtype and device. Mirrors `Tensor::ones_like`.

        >>> Tensor([[5.0, 6.0]]).ones_like().tolist()
        [[1.0, 1.0]]
        """
        return self.full_like(1)

    def full_like(self, fill_value):
        """One number in this shape, dtype and device. Mirrors `Tensor::full_like`.

        Args:
            fill_value: the number.

        Returns:
            Tensor of the same shape, dtype and device.

        Raises:
            NumberOverflowError: the dtype cannot hold the number.

        >>> Tensor([1, 2]).full_like(7).tolist()
        [7, 7]
        """
        value = number("full_like", self, fill_value, "fill_value")
        return movement.full_like_shape(self._dims, self._dtype, self._slot, self._ctx, value)

    @classmethod
    def arange(cls, start, end=None, device=None, *, dtype=None, step=1):
        """Whole numbers from start to end, which is left out. Mirrors `Tensor::arange` and `arange_step`.

        Args:
            start: first value, or a `range`.
            end: bound; with one number, the values run from 0 to it.
            device: a Device or a (Device, dtype) pair; the default device if None.
            dtype: the dtype; the device's default Int dtype if None.
            step: distance, at least 1.

        Returns:
            Tensor [n].

        Raises:
            NumberOverflowError: a value that the dtype cannot hold.

        >>> Tensor.arange(2, 8, step=2).tolist()
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
        """The identity matrix [size, size]. Mirrors `Tensor::eye`.

        Args:
            size: rows and columns, at least 1.
            device: a Device or a (Device, dtype) pair; the default device if None.
            kind: Float or Int, whose default dtype is taken.
            dtype: a dtype, instead of the kind.

        Returns:
            Tensor [size, size].

        >>> Tensor.eye(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
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
            distribution: a `Distribution`; Default draws floats from [0, 1), ints from the whole range of their dtype.
            device: a Device or a (Device, dtype) pair; the default device if None.
            kind: Float or Int, whose default dtype is taken.
            dtype: a dtype, instead of the kind.

        Returns:
            Tensor of that shape.

        Raises:
            ArgumentError: parameters that describe no distribution.

        >>> device = burn.Device.flex()
        >>> device.seed(7)
        >>> x = Tensor.random([2, 3], burn.Distribution.Normal(0.0, 1.0), device)
        >>> device.seed(7)
        >>> x.all_close(Tensor.random([2, 3], burn.Distribution.Normal(0.0, 1.0), device))
        True
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
        """Random values in this shape, dtype and device. Mirrors `Tensor::random_like`.

        Args:
            distribution: a `Distribution`.

        Returns:
            Tensor of the same shape, dtype and device.

        >>> Tensor.zeros([2, 3]).random_like(burn.Distribution.Bernoulli(0.5)).shape
        [2, 3]
        """
        return type(self).random(self._dims, distribution, self.device, dtype=self.dtype)
