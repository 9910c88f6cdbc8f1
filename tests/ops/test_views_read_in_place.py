"""Ops on views read what they need of them, and no more: views sliced, stepped, permuted and expanded, against NumPy."""

import functools
import subprocess
import sys

import numpy as np
import pytest

from burn import Device, DType, Tensor
from burn._core import core
from burn.errors import OutOfBoundsError

FLEX = Device.flex()
RNG = np.random.default_rng(3)


def views(x):
    """The same view of a tensor or an array of two axes."""
    return [x[:, 1:], x[3:, :-2], x[1:-1, 5:]]


def alone(test):
    """Decorator: the test runs in a process of its own, whose peak of memory nothing before has raised."""

    @functools.wraps(test)
    def run():
        if __name__ == "__main__":
            return test()
        subprocess.run([sys.executable, "-m", __name__, test.__name__], check=True, timeout=120)

    return run


def peak_above(function):
    """By how many bytes a call raises the peak of memory in tensors; run once before."""
    function()
    live = core.memory_usage()["live_bytes"]
    while core.memory_usage()["peak_bytes"] > live + (1 << 16):  # the peak only rises: meet it with one block
        block = core.empty(((core.memory_usage()["peak_bytes"] - live) // 4,), 1, 0, 0)
        before = core.memory_usage()["peak_bytes"]
        result = function()
        return core.memory_usage()["peak_bytes"] - before, result, block
    return 0, function(), None


@pytest.mark.parametrize("index_dtype", [DType.I32, DType.I64])
@pytest.mark.parametrize("dtype", ["f32", "f64", "i8", "bf16"])
def test_select_and_gather_of_slices(dtype, index_dtype):
    data = RNG.integers(-100, 100, (70, 900)).astype(np.float32)
    x = Tensor.from_data(data, FLEX).cast(dtype)
    for have, want in zip(views(x), views(data), strict=True):
        for axis in (0, 1, -1):
            for k in (1, 3, 40):
                at = RNG.integers(0, want.shape[axis], k)
                index = Tensor.from_data(at, FLEX, index_dtype)
                np.testing.assert_array_equal(have.select(axis, index).cast("f32").numpy(), np.take(want, at, axis))
                shape = list(want.shape)
                shape[axis] = k
                at = RNG.integers(0, want.shape[axis], shape)
                index = Tensor.from_data(at, FLEX, index_dtype)
                np.testing.assert_array_equal(
                    have.gather(axis, index).cast("f32").numpy(), np.take_along_axis(want, at, axis)
                )


def test_a_view_of_three_axes():
    data = RNG.standard_normal((6, 40, 50)).astype(np.float32)
    have, want = Tensor.from_data(data, FLEX).permute([2, 0, 1])[3:, 1:, 2:-1], data.transpose(2, 0, 1)[3:, 1:, 2:-1]
    for axis in range(3):
        at = RNG.integers(0, want.shape[axis], 2)
        index = Tensor.from_data(at, FLEX, "i64")
        np.testing.assert_array_equal(have.select(axis, index).numpy(), np.take(want, at, axis))
        shape = [n if a != axis else 1 for a, n in enumerate(want.shape)]
        at = RNG.integers(0, want.shape[axis], shape)
        np.testing.assert_array_equal(
            have.gather(axis, Tensor.from_data(at, FLEX, "i64")).numpy(), np.take_along_axis(want, at, axis)
        )


@pytest.mark.parametrize("wrong", [-1, 899, 10**6])
def test_positions_outside_a_slice(wrong):
    x = Tensor.zeros([70, 900], FLEX)[:, 1:]
    with pytest.raises(OutOfBoundsError):
        x.select(1, Tensor([0, wrong], FLEX))
    with pytest.raises(OutOfBoundsError):
        x.gather(1, Tensor.full([70, 1], wrong, FLEX, kind=None, dtype="i64"))


def test_gradients_of_what_was_read():
    x = Tensor.zeros([70, 900], FLEX.autodiff()).require_grad()
    grads = (x[:, 1:].select(0, Tensor([2, 2, 5], FLEX.autodiff())) * 3.0).sum().backward()
    want = np.zeros((70, 900), np.float32)
    want[2, 1:], want[5, 1:] = 6, 3
    np.testing.assert_array_equal(x.grad(grads).numpy(), want)
    grads = x[:, 1:].gather(1, Tensor.full([70, 1], 4, FLEX.autodiff(), dtype="i64")).sum().backward()
    want = np.zeros((70, 900), np.float32)
    want[:, 5] = 1
    np.testing.assert_array_equal(x.grad(grads).numpy(), want)


@alone
def test_reading_a_slice_takes_no_copy_of_it():
    x = Tensor.zeros([1024, 2049], FLEX)[:, 1:]
    rows, one = Tensor([3, 4], FLEX), Tensor.full([1024, 1], 7, FLEX, dtype="i64")
    for function in (lambda: x.select(0, rows), lambda: x.gather(1, one)):
        assert peak_above(function)[0] < 1 << 20


REDUCTIONS = ("sum", "mean", "max", "min")


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dtype", ["f32", "f64", "i32", "f16"])
def test_reductions_of_expanded_tensors(name, dtype):
    data = RNG.integers(-8, 8, (1, 5, 1)).astype(np.float32)
    x, want = Tensor.from_data(data, FLEX).cast(dtype).expand([4, 5, 6]), np.broadcast_to(data, (4, 5, 6))
    trunc = np.trunc if dtype == "i32" else np.asarray
    have = getattr(x, name)().cast("f64").numpy()
    np.testing.assert_allclose(have, [trunc(getattr(want, name)())], rtol=1e-3)
    for axis in range(3):
        have = getattr(x, name + "_dim")(axis).cast("f64").numpy()
        np.testing.assert_allclose(have, trunc(getattr(want, name)(axis, keepdims=True)), rtol=1e-3)


def test_any_and_all_of_expanded_numbers():
    x = Tensor([[2.0], [0.0]], FLEX).expand([2, 10])
    assert x.any().tolist() == [True] and x.all().tolist() == [False]
    assert x.any_dim(1).tolist() == x.all_dim(1).tolist() == [[True], [False]]


def test_any_and_all_of_an_expanded_tensor():
    x = Tensor([[True], [False]], FLEX).expand([2, 1000])
    assert x.any().item() and not x.all().item()
    assert x.any_dim(1).tolist() == x.all_dim(1).tolist() == [[True], [False]]
    assert x.all_dim(0).tolist() == [[False] * 1000]


def test_special_values_of_expanded_tensors():
    x = Tensor([[np.nan, np.inf, 3e38, -0.0]], FLEX).expand([7, 4])
    np.testing.assert_array_equal(x.sum_dim(0).numpy(), [[np.nan, np.inf, np.inf, 0.0]])
    np.testing.assert_array_equal(x.max_dim(0).numpy(), [[np.nan, np.inf, np.float32(3e38), 0.0]])


def test_gradients_of_reductions_of_expanded_tensors():
    x = Tensor([[1.0], [2.0]], FLEX.autodiff()).require_grad()
    scale = Tensor([[1.0], [3.0]], FLEX.autodiff())
    for reduce, want in (
        (lambda wide: wide.sum(), [[8.0], [8.0]]),
        (lambda wide: wide.mean(), [[0.5], [0.5]]),
        (lambda wide: (wide.sum_dim(1) * scale).sum(), [[8.0], [24.0]]),
        (lambda wide: (wide.mean_dim(1) * scale).sum(), [[1.0], [3.0]]),
        (lambda wide: wide.sum_dim(0).sum(), [[8.0], [8.0]]),
        (lambda wide: wide.mean_dim(0).sum(), [[4.0], [4.0]]),
        (lambda wide: wide.max_dim(1).sum(), [[1.0], [1.0]]),
    ):
        np.testing.assert_array_equal(x.grad(reduce(x.expand([2, 8])).backward()).numpy(), want)


@alone
def test_reducing_an_expanded_tensor_takes_no_memory_for_it():
    x = Tensor([[1.5]], FLEX).expand([2048, 1024])
    for name in REDUCTIONS:
        grown, result, _ = peak_above(lambda name=name: getattr(x, name)())
        assert grown < 1 << 16 and result.item() == (1.5 * 2**21 if name == "sum" else 1.5)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
