"""Sizes at which kernels change their ways (one block, many, split axes, vector and odd tails), against the CPU's results."""

import os

import numpy as np
import pytest

from burn.device import Device
from burn.tensor import Tensor, activation, module
from burn.tensor.ops import ConvOptions

FLEX = Device.flex()
RNG = np.random.default_rng(5)


def close(call, *arrays, gpu, rtol=1e-5, atol=1e-6):
    """The same call on both devices."""
    have = call(*(Tensor.from_data(a, gpu, str(a.dtype)) for a in arrays))
    want = call(*(Tensor.from_data(a, FLEX, str(a.dtype)) for a in arrays))
    for x, y in zip(*[r if isinstance(r, tuple) else (r,) for r in (have, want)]):
        if x.dtype.is_float:
            scale = np.abs(y.numpy().astype("f8")).max(initial=1.0)
            np.testing.assert_allclose(x.numpy().astype("f8"), y.numpy().astype("f8"), rtol=rtol, atol=atol * scale)
        else:
            np.testing.assert_array_equal(x.numpy(), y.numpy(), strict=True)


def floats(*shape, dtype="f4"):
    return RNG.normal(size=shape).astype(dtype)


@pytest.mark.parametrize("n", [1, 2, 31, 255, 1024, 4099, 65_537, 1_000_003])
def test_elementwise(n, gpu):
    x, y = floats(n), floats(n)
    close(lambda a, b: a + b, x, y, gpu=gpu)
    close(lambda a, b: (a > b, (a * 2.0).exp()), x, y, gpu=gpu)
    close(lambda a: (a[1:], -a[1:]), floats(n + 1), gpu=gpu)  # not aligned
    close(lambda a: a.int() + 1, 100 * x, gpu=gpu)


@pytest.mark.parametrize("shape", [(3, 5), (257, 129), (1025, 513), (7, 40_001), (40_001, 7)])
def test_broadcast_and_strides(shape, gpu):
    n, m = shape
    x, row, column = floats(n, m), floats(1, m), floats(n, 1)
    close(lambda a, b: a * b, x, row, gpu=gpu)
    close(lambda a, b: b - a, x, column, gpu=gpu)
    close(lambda a, b: a * b, row, column, gpu=gpu)
    close(lambda a, b: a + b.transpose(), x, floats(m, n), gpu=gpu)
    close(lambda a: a[::2, ::-1] + a[: (n + 1) // 2] * 0.5, x, gpu=gpu)


@pytest.mark.parametrize(
    "shape", [(1, 1), (7, 5), (2000, 3), (3, 2000), (129, 257), (31, 8, 70), (5, 100_003), (100_003, 5)]
)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_reductions(shape, dtype, gpu):
    x = (100 * floats(*shape)).astype(dtype)
    for axis in range(len(shape)):
        close(lambda a, axis=axis: (a.sum_dim(axis), a.max_dim(axis), a.argmin(axis)), x, gpu=gpu)
        if dtype != "i4":
            close(lambda a, axis=axis: (a.mean_dim(axis), a.var(axis)), x, gpu=gpu, rtol=1e-4)
    close(lambda a: (a.sum(), a.min(), a.greater_scalar(0).any(), a.greater_scalar(0).all()), x, gpu=gpu)


def test_a_reduction_has_the_same_bits_each_time(gpu):
    x = Tensor.from_data(floats(700, 3001), gpu)
    for call in (lambda: x.sum(), lambda: x.sum_dim(0), lambda: x.sum_dim(1), lambda: x.var(0)):
        first = call().numpy()
        for _ in range(5):
            np.testing.assert_array_equal(call().numpy(), first)


@pytest.mark.parametrize("n", [1, 2, 7, 33, 100, 1000, 1024, 1025, 4097, 9001, 33_000, 70_001])
def test_softmax_rows(n, gpu):
    x = 5 * floats(5, n)
    close(lambda a: (activation.softmax(a, 1), activation.log_softmax(a, 1)), x, gpu=gpu)

    def gradient(a):
        a = a.autodiff().require_grad()
        return a.grad((activation.softmax(a, 1) * activation.log_softmax(a, 1)).sum().backward())

    close(gradient, x, gpu=gpu, atol=1e-5)


@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 1000, 33), (1000, 2), (4097, 65)])
def test_softmax_columns(shape, gpu):
    close(lambda a: (activation.softmax(a, 0), activation.log_softmax(a, 0)), 5 * floats(*shape), gpu=gpu)
    if len(shape) == 3:
        close(lambda a: activation.softmax(a, 1), 5 * floats(*shape), gpu=gpu)


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i1"])
@pytest.mark.parametrize("shape", [(64, 64), (65, 63), (300, 1001), (17, 9, 130)])
def test_transposed_copies(shape, dtype, gpu):
    x = (10 * floats(*shape)).astype(dtype)
    for axes in ([1, 0], [0, 1]) if len(shape) == 2 else ([2, 1, 0], [1, 0, 2], [0, 2, 1]):
        close(lambda a, axes=axes: a.permute(axes).contiguous(), x, gpu=gpu)


@pytest.mark.parametrize("rows", [1, 13, 3000])
@pytest.mark.parametrize("inner", [1, 3, 64, 1000])
def test_rows_by_index(rows, inner, gpu):
    table, index = floats(500, inner), RNG.integers(0, 500, rows)
    close(lambda t, i: t.select(0, i), table, index, gpu=gpu)
    for update in ("Assign", "Add", "Mul", "Max"):
        values = RNG.uniform(0.99, 1.01, (rows, inner)).astype("f4")
        close(lambda t, i, v, u=update: t.select_assign(0, i, v, u), table, index, values, gpu=gpu, rtol=1e-4)
    close(lambda t, i: module.embedding(t, i), table, index.reshape(1, -1), gpu=gpu)


@pytest.mark.parametrize("shape", [(4, 5), (300, 7), (7, 3000)])
def test_elements_by_index(shape, gpu):
    x = floats(*shape)
    for axis in (0, 1):
        index = RNG.integers(0, shape[axis], shape)
        close(lambda a, i, axis=axis: a.gather(axis, i), x, index, gpu=gpu)
        close(lambda a, i, axis=axis: a.scatter(axis, i, a * 0.5, "Add"), x, index, gpu=gpu, rtol=1e-4)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "f2"])
@pytest.mark.parametrize(
    ("a", "b"),
    [((1, 1), (1, 1)), ((3, 70), (70, 5)), ((130, 65), (65, 129)), ((1, 300), (300, 1)), ((4, 3, 9), (4, 9, 6)),
     ((2, 1, 5, 6), (1, 3, 6, 7)), ((3, 1, 8), (3, 8, 4)), ((5, 0), (0, 4))],
)  # fmt: skip
def test_products(a, b, dtype, gpu):
    x, y = ((4 * floats(*s)).astype(dtype) for s in (a, b))
    tolerance = {"f2": 2e-3}.get(dtype, 1e-5)
    close(lambda p, q: p.matmul(q), x, y, gpu=gpu, rtol=tolerance, atol=tolerance)
    if len(a) == 2:
        close(lambda p, q: q.transpose().matmul(p.transpose()), x, y, gpu=gpu, rtol=tolerance, atol=tolerance)
        bias = floats(b[1]).astype(dtype)
        close(module.linear, x, y, bias, gpu=gpu, rtol=tolerance, atol=tolerance)


MANY = 65_536  # a grid has at most one less along its second axis
slow = pytest.mark.skipif("BURN_CUDA_DRIVER" in os.environ, reason="so many blocks take minutes on an emulated GPU")


@slow
def test_more_heads_than_a_grid_is_high(gpu):
    close(lambda q, k, v: module.attention(q, k, v), *(floats(MANY // 2, 2, 1, 1) for _ in range(3)), gpu=gpu)


@slow
def test_more_groups_than_a_grid_is_high(gpu):
    def gradients(x, w):
        x, w = x.autodiff().require_grad(), w.autodiff().require_grad()
        grads = module.conv1d(x, w, None, ConvOptions([1], [0], [1], MANY)).square().sum().backward()
        return x.grad(grads), w.grad(grads)

    close(gradients, floats(1, MANY, 1), floats(MANY, 1, 1), gpu=gpu)
