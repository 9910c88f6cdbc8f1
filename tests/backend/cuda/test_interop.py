"""Memory shared with other libraries on a GPU."""

import numpy as np
import pytest

from burn.backend import cuda
from burn.device import Device
from burn.errors import DataError, DeviceError
from burn.tensor import DType, Tensor


@pytest.fixture
def x(gpu):
    return Tensor.from_data(np.arange(12, dtype="f4").reshape(3, 4), gpu)


class Facts:
    """An array of another library, as its interface describes it."""

    def __init__(self, **facts):
        self.__cuda_array_interface__ = facts


def test_our_interface(x, gpu):
    facts = x.__cuda_array_interface__
    assert (facts["version"], facts["shape"], facts["typestr"], facts["strides"]) == (3, (3, 4), "<f4", None)
    assert facts["stream"] == cuda.stream(0) and facts["data"][1] is False
    view = x.transpose()[1:]
    facts = view.__cuda_array_interface__
    assert facts["strides"] == (4, 16) and facts["data"][0] == x.__cuda_array_interface__["data"][0] + 4
    with pytest.raises(AttributeError, match="to_device"):
        _ = Tensor([1.0], Device.flex()).__cuda_array_interface__
    with pytest.raises(AttributeError, match="DLPack"):
        _ = x.cast("bf16").__cuda_array_interface__


def test_borrowing_by_the_interface(x, gpu):
    y = Tensor.from_cuda_array(Facts(**x.__cuda_array_interface__))
    np.testing.assert_array_equal(y.numpy(), x.numpy())
    assert y.device == gpu and y.dtype is DType.F32
    facts = x.__cuda_array_interface__ | {"shape": (4,), "strides": (4,)}
    assert Tensor.from_cuda_array(Facts(**facts), gpu.autodiff()).tolist() == [0.0, 1.0, 2.0, 3.0]
    for wrong in (
        {"strides": (6, 2)}, {"strides": (4,)}, {"strides": ()}, {"strides": (2**62, 4)}, {"strides": ("a", 4)}, {"mask": x},
        {"data": (facts["data"][0] + 2, False)}, {"data": (0, False)}, {"data": None}, {"data": "a"},
        {"data": (np.ones(9).ctypes.data, False)}, {"shape": (-2, -2)}, {"shape": (-1,)}, {"shape": None},
        {"typestr": ">f4"}, {"typestr": "xx"},
    ):  # fmt: skip
        with pytest.raises(DataError, match=r"\[from_cuda_array\] 'source' must"):
            Tensor.from_cuda_array(Facts(**(x.__cuda_array_interface__ | wrong)))
    with pytest.raises(TypeError, match="'stream' must be the handle"):
        Tensor.from_cuda_array(Facts(**(x.__cuda_array_interface__ | {"stream": "a"})))
    assert Tensor.from_cuda_array(Facts(**(facts | {"shape": (0, 4), "strides": None, "data": (0, False)}))).dims() == [
        0,
        4,
    ]
    with pytest.raises(TypeError, match="__cuda_array_interface__"):
        Tensor.from_cuda_array(np.ones(3))
    with pytest.raises(DeviceError, match="must be where the memory is"):
        Tensor.from_cuda_array(x, Device.flex())


def test_dlpack_with_ourselves(x, gpu):
    assert x.__dlpack_device__() == (2, 0)
    y = Tensor.from_dlpack(x)
    assert y.device == gpu and y._dtype == x._dtype
    np.testing.assert_array_equal(Tensor.from_dlpack(x.transpose()).numpy(), x.numpy().T)
    with pytest.raises(DeviceError, match=r"must be of DLPack device \(1, 0\), got \(2, 0\)"):
        Tensor.from_dlpack(x, Device.flex())
    with pytest.raises(BufferError, match="dl_device"):
        x.__dlpack__(dl_device=(1, 0))
    capsule = x.__dlpack__(stream=-1)
    del x, capsule


def test_host_memory_goes_to_a_host_device(gpu):
    y = Tensor.from_dlpack(np.ones(3, "f4"))
    assert y.device == Device.flex()
    z = Tensor.from_numpy(np.ones(3, "f4"), gpu)  # a copy: a GPU cannot share it
    assert z.device == gpu and z.tolist() == [1.0, 1.0, 1.0]


@pytest.fixture
def torch(gpu):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    return torch


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool"])
def test_pytorch_both_ways(torch, gpu, dtype):
    a = (torch.arange(24, device="cuda").reshape(4, 6) % 2).to(getattr(torch, dtype))
    t = Tensor.from_dlpack(a.t())
    assert t.device == gpu and t.shape == [6, 4]
    np.testing.assert_array_equal(t.cast("f64").numpy(), a.t().double().cpu().numpy())
    b = torch.from_dlpack(t.transpose())
    assert b.data_ptr() == a.data_ptr() and torch.equal(a, b)
    if dtype == "bool":
        return
    t = t + t
    torch.testing.assert_close(torch.from_dlpack(t), a.t() + a.t())
    if dtype != "bfloat16":
        torch.testing.assert_close(torch.as_tensor(t, device="cuda"), a.t() + a.t())


def test_streams_are_in_order(torch, gpu):
    """Each library waits for the other's work on the GPU, on the default stream and on another one."""
    n = 1 << 22
    for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            for k in range(20):
                a = torch.full((n,), float(k), device="cuda")
                for _ in range(10):
                    a = a + 1
                t = Tensor.from_dlpack(a)
                for _ in range(10):
                    t = t + 1.0
                b = torch.from_dlpack(t)
                del t
                t = Tensor.zeros([n], gpu)  # must not take b's memory while it is read
                assert (b * 2).sum().item() == 2.0 * (k + 20) * n
                del a, b, t


def test_cupy_both_ways(gpu):
    cupy = pytest.importorskip("cupy")
    a = cupy.arange(12, dtype="f4").reshape(3, 4)
    for t in (Tensor.from_dlpack(a), Tensor.from_cuda_array(a)):
        np.testing.assert_array_equal((t * 2.0).numpy(), 2 * a.get())
    x = Tensor.from_data(np.arange(6, dtype="f4").reshape(2, 3), gpu).transpose()
    for b in (cupy.from_dlpack(x), cupy.asarray(x)):
        np.testing.assert_array_equal((b + 1).get(), x.numpy() + 1)
