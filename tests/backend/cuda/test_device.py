"""GPUs as devices: memory, transfers, seeds, errors that show later, threads."""

import copy
import pickle
import threading

import numpy as np
import pytest

from burn.backend import cuda
from burn.device import Device
from burn.errors import DeviceError, OutOfBoundsError
from burn.tensor import Distribution, DType, Tensor


def test_enumerate_and_text(gpu):
    devices = Device.enumerate("cuda", "flex")
    assert devices[0] == gpu and devices[-1] == Device.flex() and len(devices) == cuda.count() + 1
    assert repr(gpu) == "Device<Cuda(0)>" and gpu.name == "cuda"
    assert repr(gpu.autodiff()) == "Device<Autodiff { device: Cuda(0), checkpointing: Disabled }>"
    assert pickle.loads(pickle.dumps(gpu)) == gpu
    settings = gpu.settings()
    assert (settings.float_dtype, settings.int_dtype, settings.bool_dtype) == (DType.F32, DType.I32, DType.Bool)


def test_index_out_of_range(gpu):
    with pytest.raises(DeviceError, match=rf"'index' must be below the number of GPUs, {cuda.count()}, got 99"):
        Device.cuda(99)
    with pytest.raises(DeviceError, match="at least 0, got -1"):
        Device.cuda(-1)


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16", "i64", "i32", "i8", "u8", "u64", "bool"])
def test_round_trip(gpu, dtype):
    values = (np.arange(24).reshape(2, 3, 4) % 2 if dtype == "bool" else np.arange(24).reshape(2, 3, 4)).astype(
        DType.of(dtype).numpy
    )
    x = Tensor.from_data(values, gpu, DType.of(dtype))
    np.testing.assert_array_equal(x.numpy(), values, strict=True)
    view = x.permute([2, 0, 1])
    np.testing.assert_array_equal(view.numpy(), values.transpose(2, 0, 1), strict=True)
    host = view.to_device(Device.flex())
    assert host.device == Device.flex()
    np.testing.assert_array_equal(host.numpy(), values.transpose(2, 0, 1), strict=True)
    np.testing.assert_array_equal(host.to_device(gpu).numpy(), values.transpose(2, 0, 1), strict=True)
    assert x.item if dtype else None
    assert x[1:2, 2:3, 3:4].item() == values[1, 2, 3]


def test_empty_and_large_reads(gpu):
    assert Tensor.zeros([0, 3], gpu).numpy().shape == (0, 3)
    values = np.random.default_rng(0).integers(
        0, 255, 23_000_001, np.uint8
    )  # through both halves of the staging memory
    np.testing.assert_array_equal(Tensor.from_data(values, gpu, DType.U8).numpy(), values)


def test_gradient_of_a_transfer(gpu):
    x = Tensor.from_data([1.0, 2.0], Device.flex().autodiff()).require_grad()
    y = (x.to_device(gpu) * 3.0).sum()
    grad = x.grad(y.backward())
    assert grad.device == Device.flex() and grad.tolist() == [3.0, 3.0]


def test_two_devices_in_one_op(gpu):
    x, y = Tensor.ones([2], gpu), Tensor.ones([2], Device.flex())
    with pytest.raises(DeviceError, match=r"\[add\] 'other' must be on Device<Cuda\(0\)>, got Device<Flex\(Cpu\)>"):
        x + y
    if cuda.count() > 1:
        z = x.to_device(Device.cuda(1))
        assert z.device == Device.cuda(1) and (z + z).tolist() == [2.0, 2.0]
        with pytest.raises(DeviceError, match=r"Cuda\(1\)"):
            x * z


@pytest.mark.parametrize("dtype", ["f32", "f64", "bf16", "i32"])
@pytest.mark.parametrize(
    "distribution", [Distribution.Uniform(-2.0, 5.0), Distribution.Bernoulli(0.3), Distribution.Normal(1.0, 2.0)]
)
def test_seed_gives_the_numbers_of_the_cpu(gpu, dtype, distribution):
    drawn = []
    for device in (gpu, Device.flex()):
        device.seed(7)
        drawn.append([Tensor.random([n], distribution, device, dtype=dtype).numpy() for n in (1, 4099, 3)])
    for have, want in zip(*drawn):
        if isinstance(distribution, Distribution.Normal) and dtype != "i32":
            np.testing.assert_allclose(
                have.astype("f8"), want.astype("f8"), rtol=3e-7 if dtype != "bf16" else 8e-3, atol=1e-6
            )
        else:
            np.testing.assert_array_equal(have, want, strict=True)


def test_wrong_values_show_at_the_next_read_or_sync(gpu):
    x = Tensor.from_data(np.arange(6.0).reshape(2, 3), gpu)
    y = x.gather(1, Tensor.from_data([[0, 9], [1, 7]], gpu))
    with pytest.raises(
        OutOfBoundsError, match=r"\[gather\] 'indices' must lie in 0..2 for axis 1 of size 3, got 9 at flat position 1"
    ):
        y.numpy()
    gpu.sync()
    x.select(0, Tensor.from_data([-1], gpu))
    (x + x).select(0, Tensor.from_data([5], gpu))
    with pytest.raises(OutOfBoundsError, match="got -1") as caught:  # the first one
        gpu.sync()
    assert "got 5 at flat position 0" in caught.value.__notes__[0]
    gpu.sync()
    n = Tensor.from_data([1, 2, 3], gpu)
    _ = n.div(Tensor.from_data([1, 1, 0], gpu))
    with pytest.raises(ZeroDivisionError, match=r"\[div\] .* got 0 at flat position 2"):
        gpu.sync()
    assert (n + 1).tolist() == [2, 3, 4]


def test_many_wrong_calls_before_a_check(gpu):
    """More than there are records: none writes, the first is named, all is well afterwards."""
    x, one = Tensor.zeros([4], gpu), Tensor.ones([1], gpu)
    results = [x.select_assign(0, Tensor.from_data([4 + k], gpu), one, "Assign") for k in range(150)]
    with pytest.raises(OutOfBoundsError, match="got 4 at flat position 0"):
        gpu.sync()
    assert all(y.tolist() == [0.0] * 4 for y in results)
    assert x.select_assign(0, Tensor.from_data([3], gpu), one, "Add").tolist() == [0.0, 0.0, 0.0, 1.0]


def test_threads_wait_while_another_meets_wrong_values(gpu):
    x, bad, seen = Tensor.ones([4], gpu), Tensor.from_data([9], gpu), []

    def work():
        for _ in range(100):
            try:
                x.select(0, bad)
                assert x.sum().item() == 4.0
            except OutOfBoundsError as e:
                seen.append(e)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) > 50


def test_values_are_checked_on_the_way_to_another_gpu(gpu):
    if cuda.count() < 2:
        pytest.skip("one GPU only")
    y = Tensor.ones([4], gpu).select(0, Tensor.from_data([9, 1], gpu))
    with pytest.raises(OutOfBoundsError, match="got 9"):
        y.to_device(Device.cuda(1))


def test_memory_lent_by_address_outlives_a_rebinding(gpu):
    x = Tensor.from_data([0.0, 1.0, 2.0], gpu)
    other = Tensor.from_cuda_array(type("Facts", (), {"__cuda_array_interface__": x.__cuda_array_interface__}))
    x[0] = 5.0
    x[1] = 6.0
    more = [Tensor.full([3], 7.0, gpu) for _ in range(4)]
    assert other.tolist() == [0.0, 1.0, 2.0] and x.tolist() == [5.0, 6.0, 2.0] and len(more) == 4


def test_nothing_is_written_by_a_wrong_scatter(gpu):
    x = Tensor.zeros([4, 3], gpu)
    for update in ("Assign", "Add", "Mul", "Min", "Max"):
        y = x.select_assign(0, Tensor.from_data([0, 4, 1], gpu), Tensor.ones([3, 3], gpu), update)
        with pytest.raises(IndexError):
            gpu.sync()
        assert y.numpy().sum() == 0


def test_a_right_scatter_is_written_beside_a_wrong_gather(gpu):
    x = Tensor.zeros([4], gpu)
    i, one = Tensor.from_data([1], gpu), Tensor.ones([1], gpu)
    x.select(0, Tensor.from_data([4], gpu))
    right = x.select_assign(0, i, one, "Add")
    wrong = x.select_assign(0, Tensor.from_data([9], gpu), one, "Add")
    with pytest.raises(IndexError):
        gpu.sync()
    assert right.tolist() == [0.0, 1.0, 0.0, 0.0] and wrong.tolist() == [0.0] * 4


def test_wrong_values_are_told_in_the_words_of_the_layer(gpu):
    from burn import nn

    loss = nn.loss.CrossEntropyLossConfig().init(gpu)(Tensor.ones([3, 3], gpu), Tensor.from_data([1, -4, 2], gpu))
    with pytest.raises(
        IndexError, match=r"\[CrossEntropyLoss\] 'targets' must be classes from 0 to 2, got -4 at position 1"
    ):
        loss.item()
    rows = nn.EmbeddingConfig(4, 2).init(gpu)(Tensor.from_data([[0, 1], [2, 9]], gpu))
    with pytest.raises(IndexError, match=r"\[Embedding\] .* from 0 to 3, got 9 at position \[1, 1\]"):
        rows.numpy()
    quotient = Tensor.from_data([1, 2], gpu) // 0
    with pytest.raises(ZeroDivisionError, match=r"\[floordiv\]") as caught:
        quotient.numpy()
    assert not hasattr(caught.value, "__notes__")


def test_a_record_for_a_cpu_model_does_not_touch_the_gpu(gpu, monkeypatch):
    from burn import nn
    from burn.optim import AdamConfig, GradientsParams

    device = Device.flex().autodiff()
    model, optimizer = nn.LinearConfig(3, 2).init(device), AdamConfig().init()
    loss = model(Tensor.ones([4, 3], device)).sum()
    optimizer.step(0.1, model, GradientsParams.from_grads(loss.backward(), model))
    monkeypatch.setenv("BURN_DEVICE", "cuda")
    before = gpu.memory_pool_usage()["peak_bytes"]
    AdamConfig().init().load_record(optimizer.to_record())
    assert gpu.memory_pool_usage()["peak_bytes"] == before


def test_memory_is_counted_reused_and_given_back(gpu):
    gpu.memory_cleanup()
    before = gpu.memory_pool_usage()
    x = Tensor.zeros([1 << 20], gpu)
    held = gpu.memory_pool_usage()
    assert held["live_bytes"] - before["live_bytes"] == 4 << 20 and held["live_blocks"] == before["live_blocks"] + 1
    del x
    after = gpu.memory_pool_usage()
    assert after["live_bytes"] == before["live_bytes"] and after["cached_bytes"] >= 4 << 20
    gpu.memory_cleanup()
    assert gpu.memory_pool_usage()["cached_bytes"] == 0


def test_no_memory_grows_over_many_steps(gpu):
    x = Tensor.ones([64, 32], gpu.autodiff()).require_grad()

    def step():
        return x.grad(((x * x).sum_dim(1) + 1.0).log().sum().backward())

    for _ in range(5):
        step()
    gpu.sync()
    before = gpu.memory_pool_usage()
    for _ in range(50):
        step()
    gpu.sync()
    after = gpu.memory_pool_usage()
    assert {k: after[k] for k in ("live_bytes", "reserved_bytes")} == {
        k: before[k] for k in ("live_bytes", "reserved_bytes")
    }


def test_out_of_memory_says_how_much(gpu):
    total = gpu.memory_pool_usage()["total_bytes"]
    with pytest.raises(MemoryError, match=rf"has no room for {4 * total} bytes"):
        Tensor.empty([total], gpu)
    assert Tensor.ones([3], gpu).sum().item() == 3.0


def test_threads_share_a_device(gpu):
    failures = []

    def work(seed):
        try:
            x = np.random.default_rng(seed).normal(size=(50, 40)).astype("f4")
            t = Tensor.from_data(x, gpu)
            for _ in range(20):
                np.testing.assert_allclose(
                    (t * 2.0 + 1.0).sum_dim(1).numpy(), (x * 2 + 1).sum(1, keepdims=True), rtol=1e-4
                )
        except Exception as e:
            failures.append(e)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_copies_and_text(gpu):
    x = Tensor.from_data([[1.0, 2.0]], gpu)
    assert "Device<Cuda(0)>" in repr(x) and copy.deepcopy(x).tolist() == [[1.0, 2.0]]
    assert np.asarray(x).tolist() == [[1.0, 2.0]]
    assert x.mask_fill(x.greater_scalar(1.5), 9.0).tolist() == [[1.0, 9.0]]
    assert x.clamp(1.5, 1.75).tolist() == [[1.5, 1.75]]
    assert Tensor.eye(2, gpu).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert Tensor.full([2], 7, gpu, dtype="i64").tolist() == [7, 7]


def test_supports_dtype(gpu):
    for dtype in ("f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool"):
        assert gpu.supports_dtype(dtype), dtype
    assert not gpu.supports_dtype("flex32")
