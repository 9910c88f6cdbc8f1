"""Between NumPy and the public Tensor API, for tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import burn
from burn.tensor import DType, Tensor
from tests.cases import BF16

DTYPES = {
    np.dtype(np.float64): DType.F64, np.dtype(np.float32): DType.F32, np.dtype(np.float16): DType.F16, BF16: DType.BF16,
    np.dtype(np.int64): DType.I64, np.dtype(np.int32): DType.I32, np.dtype(np.int16): DType.I16,
         np.dtype(np.int8): DType.I8,
    np.dtype(np.uint64): DType.U64, np.dtype(np.uint32): DType.U32, np.dtype(np.uint16): DType.U16,
         np.dtype(np.uint8): DType.U8,
}  # fmt: skip


def tensor(values: Any, device: Any) -> Tensor:
    """A copy of `values` on `device`, dtype kept."""
    values = np.asarray(values)
    return Tensor.from_data(values, device, dtype=DTYPES.get(values.dtype))


def array(value: Any) -> np.ndarray:
    """The values of a tensor as an array of its own; anything else as NumPy sees it."""
    return np.array(value.numpy() if isinstance(value, Tensor) else value)


def strided(values: np.ndarray, device: Any, kind: str) -> Tensor:
    """A tensor that holds `values` as a view: `permuted`, `sliced`, `stepped` or `flipped`."""
    axes = list(range(values.ndim))
    if kind == "permuted":
        return tensor(np.ascontiguousarray(values.transpose(axes[::-1])), device).permute(axes[::-1])
    if kind == "flipped":
        return tensor(np.ascontiguousarray(np.flip(values)), device).flip(axes)
    step = 2 if kind == "stepped" else 1
    store = np.zeros([n * step + 2 for n in values.shape], values.dtype)
    inner = tuple(slice(1, 1 + n * step, step) for n in values.shape)
    store[inner] = values
    return tensor(store, device)[inner]


def gradients(
    call: Any, arrays: list[np.ndarray], cotangents: list[np.ndarray], device: Any
) -> list[np.ndarray | None]:
    """Gradient of the sum of every float output times its cotangent; `None` for inputs that are not floats."""
    leaves = [tensor(a, device.autodiff()) for a in arrays]
    leaves = [x.require_grad() if x.dtype.is_float else x for x in leaves]
    outputs = call(*leaves)
    outputs = [y for y in (outputs if isinstance(outputs, (tuple, list)) else [outputs]) if y.dtype.is_float]
    loss = None
    for y, c in zip(outputs, cotangents, strict=True):
        term = (y * tensor(c.astype(y.dtype.numpy), device.autodiff())).sum()
        loss = term if loss is None else loss + term
    grads = loss.backward()
    return [array(x.grad(grads)) if x.dtype.is_float else None for x in leaves]


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Runs the block with a pool of n threads."""
    before = burn.get_num_threads()
    burn.set_num_threads(n)
    try:
        yield
    finally:
        burn.set_num_threads(before)
