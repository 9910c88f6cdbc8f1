"""Memory: alignment, caching, counters, sharing with others."""

import pickle
import sys

import numpy as np
import pytest

import burn
from burn import Device, DType, Tensor
from burn._core import core
from burn.errors import DataError, DeviceError, DTypeError, ShapeError


def address(t):
    return t.numpy().ctypes.data


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 1000, 65_537, 600_000])
def test_alignment_and_counters(n):
    core.memory_trim()
    before = core.memory_usage()
    t = Tensor.zeros([n]) if n else Tensor.empty([0])
    assert address(t) % (1 << 21 if n * 4 >= 1 << 21 else 64) == 0
    live = core.memory_usage()
    assert (
        live["live_bytes"] >= before["live_bytes"] + n * 4
        and live["live_bytes"] <= before["live_bytes"] + max(64, n * 5) + 64
    )
    del t
    after = core.memory_usage()
    assert after["live_bytes"] == before["live_bytes"]
    assert after["cached_bytes"] > before["cached_bytes"]
    Device.flex().memory_cleanup()
    assert Device.flex().memory_pool_usage()["cached_bytes"] == 0


def test_cached_blocks_are_reused():
    first = Tensor.zeros([1000])
    where = address(first)
    del first
    assert address(Tensor.ones([1000])) == where


def test_cache_is_bounded():
    limit = core.memory_usage()["limit_bytes"]
    try:
        core.memory_trim()
        core.memory_limit(1 << 20)
        held = [Tensor.zeros([100_000]) for _ in range(10)]
        del held
        assert core.memory_usage()["cached_bytes"] <= 1 << 20
    finally:
        core.memory_limit(limit)


def test_too_large_a_tensor_is_refused_in_words():
    with pytest.raises(MemoryError, match="bytes"):
        Tensor.zeros([1 << 40, 1 << 10])
    with pytest.raises(ShapeError, match="at most 8 axes"):
        Tensor.zeros([1] * 9)


def test_numpy_view_shares_and_is_read_only():
    t = Tensor([[1.0, 2.0], [3.0, 4.0]])
    a = t.numpy()
    assert not a.flags.writeable and a.base is not None
    with pytest.raises(ValueError):
        a[0, 0] = 5
    u = t.T.numpy()
    assert u.strides == (4, 8) and u.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    del t
    assert a.tolist() == [[1.0, 2.0], [3.0, 4.0]]  # the view keeps the memory


def test_from_numpy_shares_from_data_copies():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    shared, copied = Tensor.from_numpy(a), Tensor.from_data(a)
    a[0, 0] = 9
    assert shared[0, 0].item() == 9 and copied[0, 0].item() == 0
    assert Tensor.from_numpy(a[:, ::-1]).tolist() == a[:, ::-1].tolist()
    assert Tensor.from_numpy(a.T).tolist() == a.T.tolist()
    assert (Tensor.from_numpy(a[::-1, ::2]) + 1.0).tolist() == (a[::-1, ::2] + 1).tolist()
    a.flags.writeable = False
    assert Tensor.from_numpy(a).exp().numpy().shape == (2, 3)
    del a
    assert shared.sum().item() == 24.0


@pytest.mark.parametrize(
    "bad",
    [
        np.array([object()]),
        np.array(["x"]),
        np.array([1 + 2j]),
        [[1.0], [1.0, 2.0]],
        np.array([b"x"]),
        {"a": 1},
        "text",
    ],
)
def test_unusable_data_is_refused(bad):
    with pytest.raises((DataError, DTypeError, TypeError), match=r"\[from_data\]|no dtype"):
        Tensor.from_data(bad)


def test_unaligned_memory_is_refused_by_from_numpy_only():
    raw = np.zeros(17, np.uint8)[1:].view(np.float32)
    with pytest.raises(DataError, match="aligned"):
        Tensor.from_numpy(raw)
    assert Tensor.from_data(raw).dims() == [4]


def test_big_endian_and_small_arrays():
    assert Tensor.from_data(np.array([1, 2], ">i4")).tolist() == [1, 2]
    assert Tensor.from_data(np.float32(3)).dims() == [1]
    assert Tensor.from_data(3.5).item() == 3.5
    assert Tensor.from_data([]).dims() == [0]


@pytest.mark.parametrize(
    "code", ["f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool"]
)
def test_round_trip_of_every_dtype(code):
    dtype = DType.of(code)
    a = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype.numpy)
    t = Tensor.from_data(a, dtype=dtype)
    assert t.dtype is dtype and t.numpy().dtype == a.dtype
    assert t.tolist() == a.tolist()
    again = pickle.loads(pickle.dumps(t))
    assert again.dtype is dtype and again.tolist() == a.tolist()
    assert t.to_data().as_bytes() == a.tobytes()


def test_dlpack_both_ways():
    t = Tensor([[1.0, 2.0], [3.0, 4.0]])
    a = np.from_dlpack(t)
    assert a.tolist() == t.tolist() and a.ctypes.data == address(t)
    b = np.arange(6, dtype=np.int64).reshape(2, 3)
    u = Tensor.from_dlpack(b)
    b[0, 0] = 7
    assert u.tolist() == [[7, 1, 2], [3, 4, 5]]
    capsule = t.__dlpack__()
    refs = sys.getrefcount(t)
    del capsule  # never consumed: the capsule frees itself
    assert sys.getrefcount(t) == refs
    assert t.__dlpack_device__() == (1, 0)


def test_dlpack_with_torch():
    torch = pytest.importorskip("torch")
    x = torch.arange(4.0).reshape(2, 2)
    t = Tensor.from_dlpack(x)
    x[0, 0] = 5
    assert t.tolist() == [[5.0, 1.0], [2.0, 3.0]]
    assert torch.from_dlpack(Tensor([1.0, 2.0])).tolist() == [1.0, 2.0]
    half = Tensor([1.0, -3.0]).cast("bf16")
    assert torch.from_dlpack(half).dtype == torch.bfloat16
    assert Tensor.from_dlpack(torch.from_dlpack(half)).dtype is DType.BF16


def test_pickle_of_a_tracked_tensor_is_refused():
    x = Tensor([1.0], Device.flex().autodiff()).require_grad()
    with pytest.raises(burn.errors.AutodiffError, match="pickle"):
        pickle.dumps(x)


def test_devices_do_not_mix():
    with pytest.raises(DeviceError, match="to_device"):
        Tensor([1.0], Device.flex()) + Tensor([1.0], Device.ndarray())


def test_buffer_protocol():
    """A read-only view of the memory, which rebinding does not disturb; bf16 has no format there and goes by way of NumPy."""
    x = Tensor([[1.0, 2.0], [3.0, 4.0]], Device.flex())
    view = memoryview(x)
    assert (view.format, view.shape, view.readonly) == ("f", (2, 2), True)
    assert address(x) == np.asarray(view).ctypes.data
    x[0] = 9.0
    assert view.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert np.asarray(x.T).tolist() == [[9.0, 3.0], [9.0, 4.0]]
    assert bytes(Tensor([1, 2], Device.flex())) == np.array([1, 2], "i4").tobytes()
    half = x.cast("bf16")
    with pytest.raises(BufferError, match="bf16"):
        memoryview(half)
    assert np.asarray(half).dtype.name == "bfloat16"
    references = sys.getrefcount(x)
    for _ in range(100):
        memoryview(x).release()
    assert sys.getrefcount(x) == references
