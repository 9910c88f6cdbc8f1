"""Copies between all sorts of strides, fills and ranges, against NumPy."""

import itertools

import numpy as np
import pytest

from burn.device import Device
from burn.tensor import DType, Int, Tensor

SHAPES = [
    (7,),
    (5, 3),
    (33, 65),
    (64, 128),
    (3, 100, 7),
    (16, 24, 40),
    (700, 1030),
    (2, 3, 9000),
    (1000, 3),
    (8, 64, 512),
]


def views(x):
    """Each way a copy can go: dense, transposed, permuted, stepped, reversed, broadcast."""
    yield x
    yield from (x.transpose(axes) for axes in itertools.permutations(range(x.ndim)))
    yield x[..., ::2]
    yield x[..., 1::2]
    yield x[..., ::-1]
    yield x[::-3]
    yield x[..., 1:]
    yield np.broadcast_to(x[..., :1], x.shape)
    yield np.broadcast_to(x[:1], x.shape)
    yield np.broadcast_to(x, (3, *x.shape))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ("u1", "u2", "f4", "f8"))
def test_from_numpy_of_any_view_copies(dtype, shape):
    x = np.random.default_rng(0).integers(0, 250, shape).astype(dtype)
    for view in views(x):
        assert np.array_equal(Tensor.from_numpy(view).clone().reshape(-1).numpy(), view.ravel())


@pytest.mark.parametrize("shape", [(40, 30, 20), (3, 700, 900), (2, 5000, 3)], ids=str)
def test_tensor_views_made_contiguous(shape):
    x = np.random.default_rng(1).standard_normal(shape).astype("f4")
    t = Tensor.from_data(x, Device.flex())
    for axes in itertools.permutations(range(3)):
        assert np.array_equal(t.permute(*axes).reshape(-1).numpy(), x.transpose(axes).ravel())
    assert np.array_equal((t.flip([0, 2]) + 0).numpy(), x[::-1, :, ::-1])


def test_unaligned_memory():
    raw = np.zeros(4 * 33 * 65 + 1, "u1")
    x = raw[1:].view("u1")[: 4 * 33 * 65].reshape(33, 260)
    x[...] = np.random.default_rng(2).integers(0, 255, x.shape)
    assert np.array_equal(Tensor.from_data(x.T, Device.flex(), dtype=DType.U8).numpy(), x.T)


@pytest.mark.parametrize("dtype", (DType.F32, DType.F64, DType.F16, DType.I32, DType.U8), ids=lambda d: d.name)
@pytest.mark.parametrize("n", (0, 1, 7, 1000, 700_000))
def test_fill(dtype, n):
    kind = Int if not dtype.is_float else None
    x = (
        Tensor.full([n], 3, Device.flex(), dtype=dtype, kind=kind)
        if kind
        else Tensor.full([n], 3.0, Device.flex(), dtype=dtype)
    )
    assert np.array_equal(x.numpy(), np.full(n, 3, dtype.numpy))


def test_arange():
    assert Tensor.arange(5, 200_005, Device.flex()).numpy().tolist() == list(range(5, 200_005))
    assert Tensor.arange(-3, 9, Device.flex(), step=4).numpy().tolist() == [-3, 1, 5]
