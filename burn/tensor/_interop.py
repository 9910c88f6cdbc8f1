"""Tensors and the arrays of other libraries: NumPy, DLPack, the CUDA array interface."""

import math
import operator
from typing import Self

import numpy as np

from burn._core import core
from burn._ops import movement
from burn.device import Device
from burn.errors import ArgumentError, ArgumentTypeError, DataError, DeviceError, ShapeError
from burn.tensor._options import options
from burn.tensor.data import array_of
from burn.tensor.dtype import DType

__all__ = ["InteropMethods"]

HOST, GPU = 1, 2  # kDLCPU, kDLCUDA


def _device_of(kind, index):
    """The device whose memory DLPack calls so; for the host's the default device if it shares that, else flex."""
    if kind == GPU:
        return Device.cuda(index)
    default = Device.default()
    return default if default._dlpack()[0] == HOST else Device.flex()


def _cuda_facts(facts):
    """(address, readonly, shape, byte strides, dtype, stream) of a CUDA array interface, checked."""

    def wrong(name, wanted):
        return DataError(
            f"[from_cuda_array] 'source' must have {wanted} in its __cuda_array_interface__, got {name} {facts.get(name)!r}"
        )

    try:
        address, readonly = facts["data"]
        address, readonly = operator.index(address), bool(readonly)
    except (KeyError, TypeError, ValueError):
        raise wrong("data", "an (address, readonly) pair") from None
    try:
        element = np.dtype(facts["typestr"])
    except (KeyError, TypeError):
        raise wrong("typestr", "the name of an element type") from None
    if element.byteorder == ">":
        raise wrong("typestr", "little-endian elements")
    dtype = DType.of(element)
    shape = _whole_numbers(facts.get("shape"))
    if shape is None or min(shape, default=0) < 0 or len(shape) > 8:
        raise wrong("shape", "at most 8 sizes of at least 0")
    strides = facts.get("strides")
    if strides is None:
        strides = [dtype.size * math.prod(shape[i + 1 :]) for i in range(len(shape))]
    strides = _whole_numbers(strides)
    if strides is None or len(strides) != len(shape):
        raise wrong("strides", f"{len(shape)} steps in bytes, one for each axis,")
    reach = sum(abs(s) * (n - 1) for s, n in zip(strides, shape) if n)
    if any(s % dtype.size for s in strides) or address % dtype.size or reach >= 1 << 47:
        raise wrong("strides", "aligned elements, and strides of whole elements that stay in memory,")
    if facts.get("mask") is not None:
        raise wrong("mask", "no mask, since tensors have none,")
    return address, readonly, shape or (1,), strides or (dtype.size,), dtype, facts.get("stream")


def _whole_numbers(values):
    """A tuple of ints, or None."""
    try:
        return tuple(operator.index(v) for v in values)
    except TypeError:
        return None


class InteropMethods:
    """Methods of Tensor that lend memory to other libraries or borrow it."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy arrays at the left defer to our operators
    __array_priority__ = 1000

    @classmethod
    def from_numpy(cls, array, device=None) -> Self:
        """A tensor that shares a NumPy array's memory, without a copy; later writes to the array show in the tensor.

        A GPU cannot share it: there, the tensor is a copy.

        Args:
            array: an array of a dtype that has a DType; strides must be whole elements.
            device: a Device, whose memory is the host's; the default device if None.

        Returns:
            Tensor of the array's shape and dtype.

        Raises:
            DataError: not a NumPy array of numbers, or byte strides that are not whole elements.

        >>> import numpy as np
        >>> array = np.zeros(2, np.float32)
        >>> x = Tensor.from_numpy(array)
        >>> array[0] = 5.0
        >>> x.tolist()
        [5.0, 0.0]
        """
        if not isinstance(array, np.ndarray):
            raise DataError(f"[from_numpy] 'array' must be a NumPy array, got {type(array).__name__}; use from_data()")
        array = array_of(array, True, "from_numpy")
        device, dtype = options(device, DType.of(array.dtype), None, "from_numpy")
        if device._dlpack()[0] != HOST:
            return cls.from_data(array, device, dtype)
        if array.ndim == 0:
            array = array.reshape(1)
        if array.ndim > 8:
            raise ShapeError(f"[from_numpy] 'array' must have at most 8 axes, got {array.ndim}")
        if any(s % dtype.size for s in array.strides) or array.ctypes.data % dtype.size:
            raise DataError(
                f"[from_numpy] 'array' must have aligned elements and strides, got {array.strides}; use from_data()"
            )
        return core.borrow(
            array.ctypes.data,
            array,
            array.shape,
            array.strides,
            dtype.code,
            device._slot,
            device._ctx,
            not array.flags.writeable,
        )

    @classmethod
    def from_dlpack(cls, source, device=None) -> Self:
        """A tensor that shares the memory of anything with `__dlpack__`, such as a PyTorch or CuPy array.

        Args:
            source: memory of the host or of a GPU. Its stream and ours are put in order: no sync is needed. When the result
                is dropped while the source's library works on a stream of its own, call `device.sync()` first.
            device: the device of the result; if None the one where the memory is.

        Returns:
            Tensor of the source's shape and dtype.

        Raises:
            DeviceError: the memory is not the device's.
            DTypeError: an element type that has no DType.

        >>> import numpy as np
        >>> Tensor.from_dlpack(np.arange(3)).tolist()
        [0, 1, 2]
        """
        if not hasattr(source, "__dlpack__"):
            raise ArgumentTypeError(f"[from_dlpack] 'source' must have __dlpack__, got {type(source).__name__}")
        kind, index = source.__dlpack_device__() if hasattr(source, "__dlpack_device__") else (HOST, 0)
        if device is None:
            device = _device_of(kind, index)
        device, _ = options(device, None, None, "from_dlpack")
        if device._dlpack()[0] == HOST or kind != device._dlpack()[0]:
            return core.from_dlpack(source.__dlpack__(), device._slot, device._ctx)
        from burn.backend import cuda

        return core.from_dlpack(source.__dlpack__(stream=cuda.stream(index)), device._slot, device._ctx)

    @classmethod
    def from_cuda_array(cls, source, device=None) -> Self:
        """A tensor that shares the GPU memory of anything with `__cuda_array_interface__` (CuPy, Numba, PyCUDA, PyTorch).

        Args:
            source: the array. Work on the stream that it names is waited for on the GPU, not here.
            device: the GPU where the memory is; if None that one.

        Returns:
            Tensor of the source's shape and dtype.

        Raises:
            DataError: strides that are not whole elements, or a mask.
            DTypeError: an element type that has no DType.

        >>> x = Tensor.from_cuda_array(cupy_array)  # doctest: +SKIP
        """
        facts = getattr(source, "__cuda_array_interface__", None)
        if facts is None:
            raise ArgumentTypeError(
                f"[from_cuda_array] 'source' must have __cuda_array_interface__, got {type(source).__name__}; "
                "use from_dlpack() or from_numpy()"
            )
        from burn.backend import cuda

        address, readonly, shape, strides, dtype, stream = _cuda_facts(facts)
        owner = cuda.owner_of(address) if math.prod(shape) else None
        if math.prod(shape) and owner is None:
            raise DataError(f"[from_cuda_array] 'source' must lie in memory of a GPU, got address {address:#x}")
        if device is None:
            device = Device.cuda(owner or 0)
        device, _ = options(device, None, None, "from_cuda_array")
        kind, index = device._dlpack()
        if kind == HOST or owner not in (None, index):
            where = "a GPU" if owner is None else Device.cuda(owner)
            raise DeviceError(f"[from_cuda_array] 'device' must be where the memory is, {where}, got {device}")
        cuda.order(index, stream, True)
        keeper = source, cuda.StreamGuard(index, stream, False)
        return core.borrow(address, keeper, shape, strides, dtype.code, device._slot, device._ctx, readonly)

    def numpy(self) -> np.ndarray:
        """The values as a read-only NumPy array that shares the memory; a copy where a GPU has them.

        >>> Tensor([[1.0, 2.0]]).numpy()
        array([[1., 2.]], dtype=float32)
        """
        return core.to_numpy(self)

    def __bytes__(self):
        return self.numpy().tobytes()

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ArgumentError(f"[array] 'copy' must not be False to convert {self.dtype} to {np.dtype(dtype)}")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        place = self.device._dlpack()
        if dl_device is not None and tuple(dl_device) != place:
            raise BufferError(f"[dlpack] 'dl_device' must be {place}, where the tensor is, got {dl_device}")
        x = movement.copied(self) if copy else self
        if place[0] == HOST:
            return core.to_dlpack(x)
        from burn.backend import cuda

        capsule = core.to_dlpack(x, cuda.StreamGuard(place[1], stream, True))
        cuda.order(place[1], stream, False)
        return capsule

    def __dlpack_device__(self):
        return self.device._dlpack()

    @property
    def __cuda_array_interface__(self):
        kind, index = self.device._dlpack()
        if kind == HOST:
            raise AttributeError(
                f"[__cuda_array_interface__] 'self' must be on a GPU, got {self.device}; move it with to_device()"
            )
        if self.dtype in (DType.BF16, DType.Flex32):
            raise AttributeError(
                f"[__cuda_array_interface__] 'self' must have a dtype that the interface can name, got {self.dtype}; use DLPack"
            )
        from burn.backend import cuda

        size = self.dtype.size
        return {
            "version": 3,
            "shape": self._dims,
            "strides": None if self._contiguous else tuple(s * size for s in self._strides),
            "typestr": self.dtype.numpy.str,
            "data": core.address(self),
            "stream": cuda.stream(index),
        }
