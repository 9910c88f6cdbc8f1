"""Between tensors, host data, and the named bytes (`PackTensor`) that travel through stores and adapters.

Mirrors `burn::store::bridge`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from burn._arguments import instance
from burn.errors import BurnError, StoreError, StoreValidationError
from burn.store.pack import PackDType, PackTensor
from burn.tensor import DType, Tensor, TensorData

__all__ = [
    "RefusedTensor",
    "data_len",
    "deferred",
    "from_data",
    "from_tensor",
    "into_data",
    "map_data",
    "renamed",
    "to_data",
]


class ForeignDType:
    """An element type of another library that burn does not have; only its name is known."""

    __slots__ = ("name",)
    kind = "foreign"
    itemsize = None

    def __init__(self, name: str):
        self.name = name

    def byte_len(self, shape) -> None:
        """Unknown."""

    def __str__(self):
        return self.name


class RefusedTensor(PackTensor):
    """A tensor of a file that burn cannot hold: it has a name, and raises the reason when it is read.

    >>> RefusedTensor("w", "C64", (2,), "it is complex").to_bytes()
    Traceback (most recent call last):
      ...
    burn.errors.StoreValidationError: [store] the tensor 'w' cannot be read: it is complex
    """

    __slots__ = ("reason",)

    def __init__(self, name: str, dtype: str, shape, reason: str, byte_len: int = 0):
        """A tensor that is refused.

        Args:
            name: its name in the file.
            dtype: the name of its element type.
            shape: its sizes, as far as they are known.
            reason: why it is refused, and what to do.
            byte_len: the bytes that it takes in the file.
        """
        self.name = name
        foreign: Any = ForeignDType(dtype)
        self.dtype = foreign
        self.shape = tuple(shape)
        self.param_id = None
        self.reason = reason
        self._byte_len = byte_len
        self._bytes = self._provider = self._fill = None
        self._constant = False

    def to_bytes(self):
        """Raises the reason."""
        raise StoreValidationError(f"[store] the tensor {self.name!r} cannot be read: {self.reason}")

    def to_numpy(self):
        """Raises the reason."""
        return self.to_bytes()


def data_len(dtype: PackDType, shape) -> int:
    """Bytes of a tensor. Mirrors `bridge::data_len`.

    Args:
        dtype: element type.
        shape: sizes.

    Returns:
        The number of bytes.

    Raises:
        StoreValidationError: the tensor is quantized.

    >>> from burn.store.pack import PackDType
    >>> data_len(PackDType("F16"), [2, 3])
    12
    """
    size = dtype.byte_len(shape)
    if size is None:
        raise StoreValidationError("[store] the tensor is quantized: burn has no quantized tensors yet")
    return size


def deferred(name: str, dtype: PackDType, shape, provider: Callable, param_id: int | None = None) -> PackTensor:
    """A tensor whose values are produced each time they are asked for. Mirrors `bridge::deferred`.

    Args:
        name: the name.
        dtype: element type that the provider gives.
        shape: sizes that the provider gives.
        provider: called without arguments; returns an array or bytes.
        param_id: the id of the parameter, if it has one.

    Returns:
        The tensor. Reading it raises StoreError if the provider gives another dtype, shape or number of bytes.

    >>> import numpy as np
    >>> from burn.store.pack import PackDType
    >>> deferred("w", PackDType("F32"), [2], lambda: np.ones(2, "f4")).to_numpy().tolist()
    [1.0, 1.0]
    """
    return _produced(name, dtype, shape, provider, param_id, False)


def _produced(name: str, dtype: PackDType, shape, provider: Callable, param_id, constant: bool) -> PackTensor:
    """`deferred`; ``constant``: whether nobody ever writes to the memory that the provider gives."""
    shape, size = tuple(shape), data_len(dtype, shape)

    def produce():
        try:
            values = provider()
        except (BurnError, OSError):
            raise
        except Exception as error:  # of whoever wrote the provider
            raise StoreValidationError(
                f"[store] the tensor {name!r} could not be produced: {type(error).__name__}: {error}"
            ) from error
        if isinstance(values, np.ndarray):
            made = PackDType.from_numpy(values.dtype)
            if values.shape != shape or made.numpy != dtype.numpy:
                raise StoreError(
                    f"[store] the tensor {name!r}: its provider produced {made} {list(values.shape)}, "
                    f"but the tensor declared {dtype} {list(shape)}"
                )
        return values

    return PackTensor.deferred(name, dtype, shape, size, produce, param_id, constant=constant)


def from_tensor(name: str, tensor: Tensor, param_id: int | None = None) -> PackTensor:
    """A tensor on its way into a store; memory of the CPU is shared, not copied. Mirrors `bridge::from_tensor`.

    Args:
        name: the name.
        tensor: the values.
        param_id: the id of the parameter, if it has one.

    Returns:
        The named bytes.

    >>> from_tensor("w", Tensor([1.0, 2.0])).shape
    (2,)
    """
    dtype = dtype_of(instance("from_tensor", "tensor", tensor, Tensor).dtype)
    # Not an array at once: what lies on a GPU or is strided would take memory for a whole model.
    return PackTensor.deferred(name, dtype, tuple(tensor.shape), data_len(dtype, tensor.shape), tensor.numpy, param_id)


def from_data(name: str, data: TensorData, param_id: int | None = None) -> PackTensor:
    """Host data on its way into a store. Mirrors `bridge::from_data`.

    Args:
        name: the name.
        data: the values.
        param_id: the id of the parameter, if it has one.

    Returns:
        The named bytes.

    >>> from burn import TensorData
    >>> from_data("w", TensorData([1.0, 2.0])).shape
    (2,)
    """
    data = instance("from_data", "data", data, TensorData)
    return PackTensor(name, dtype_of(data.dtype), tuple(data.shape), np.ascontiguousarray(data.numpy()), param_id)


def to_data(tensor: PackTensor) -> TensorData:
    """The values of a tensor that came out of a store. Mirrors `bridge::to_data`.

    Args:
        tensor: the named bytes; they are read or produced now.

    Returns:
        The values.

    >>> to_data(from_tensor("w", Tensor([1.0, 2.0]))).to_list()
    [1.0, 2.0]
    """
    if tensor.dtype.kind == "quantized":
        raise StoreValidationError(f"[to_data] {tensor.name!r} is quantized: burn has no quantized tensors yet")
    dtype = DType.Bool if tensor.dtype.kind == "bool" else DType.of(tensor.dtype.name.lower())
    array = tensor.to_numpy()
    return TensorData(array != 0 if tensor.dtype.kind == "bool" else array, dtype=dtype)


into_data = to_data


def map_data(tensor: PackTensor, function: Callable, dtype: PackDType, shape) -> PackTensor:
    """A tensor whose values go through a function when they are asked for. Mirrors `bridge::map_data`.

    Args:
        tensor: the named bytes.
        function: takes and gives an array.
        dtype: element type that the function gives.
        shape: sizes that the function gives.

    Returns:
        The tensor with the same name and id.

    >>> turned = map_data(from_tensor("w", Tensor([[1.0, 2.0]])), lambda array: array.T, PackDType("F32"), [2, 1])
    >>> turned.to_numpy().tolist()
    [[1.0], [2.0]]
    """
    return deferred(tensor.name, dtype, shape, lambda: np.asarray(function(tensor.to_numpy())), tensor.param_id)


def derived(tensor: PackTensor, function: Callable, dtype: PackDType, shape) -> PackTensor:
    """`map_data` for a function that gives new memory, or a part of what it was given, and keeps neither.

    Its values can be loaded without another copy, unless those of the tensor can change.
    """
    constant = tensor.is_stored() or tensor.is_constant()
    return _produced(
        tensor.name, dtype, shape, lambda: np.asarray(function(tensor.to_numpy())), tensor.param_id, constant
    )


def renamed(tensor: PackTensor, name: str) -> PackTensor:
    """The same bytes under another name.

    Args:
        tensor: the named bytes.
        name: the name.

    Returns:
        The tensor; nothing is read.

    >>> renamed(from_tensor("w", Tensor([1.0])), "v").name
    'v'
    """
    if tensor.name == name:
        return tensor
    if isinstance(tensor, RefusedTensor):
        return RefusedTensor(name, tensor.dtype.name, tensor.shape, tensor.reason, tensor.byte_len())
    if not tensor.is_deferred():
        return PackTensor(name, tensor.dtype, tensor.shape, tensor.to_bytes(), tensor.param_id)
    fill = tensor.read_into if tensor.is_stored() else None
    return PackTensor.deferred(
        name,
        tensor.dtype,
        tensor.shape,
        tensor.byte_len(),
        tensor.to_bytes,
        tensor.param_id,
        fill,
        tensor.is_constant(),
    )


def dtype_of(dtype: DType) -> PackDType:
    """The element type of a container for one of burn's."""
    form = dtype._serde
    return PackDType("Bool", form["Bool"]) if isinstance(form, dict) else PackDType(form)
