"""Devices: constructors, default, settings and their lock, autodiff association."""

import os
import subprocess
import sys

import pytest

from burn import Device, DeviceConfig, DType, Tensor
from burn.errors import AutodiffError, DeviceError


def fresh(code, **env):
    """Runs code in a new process, since settings are fixed once a process."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **env}, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_identity_ignores_autodiff():
    d = Device.flex()
    assert d.autodiff() == d and hash(d.autodiff()) == hash(d) and d != Device.ndarray()
    assert d.autodiff().is_autodiff() and not d.autodiff().inner().is_autodiff()
    assert d.autodiff().autodiff().gradient_checkpointing_strategy() == "Disabled"
    assert d.autodiff().gradient_checkpointing().autodiff().gradient_checkpointing_strategy() == "Balanced"
    with pytest.raises(AutodiffError, match="autodiff"):
        d.gradient_checkpointing()
    assert repr(d) == "Device<Flex(Cpu)>"
    assert repr(d.autodiff()) == "Device<Autodiff { device: Flex(Cpu), checkpointing: Disabled }>"


def test_default_follows_the_environment():
    code = "import burn; print(burn.Device.default(), burn.Tensor([1.0]).device)"
    assert fresh(code, BURN_DEVICE="NdArray") == "Device<NdArray(Cpu)> Device<NdArray(Cpu)>"
    assert fresh(code, BURN_DEVICE="flex") == "Device<Flex(Cpu)> Device<Flex(Cpu)>"
    error = "import burn\ntry: burn.Device.default()\nexcept burn.errors.DeviceError as e: print(e)"
    assert "must be one of" in fresh(error, BURN_DEVICE="tpu")
    assert "not available" in fresh(error, BURN_DEVICE="wgpu")


def test_cuda_index_must_be_a_number():
    for index in (-1, True, 1.0, "0", None):
        with pytest.raises(DeviceError, match="at least 0"):
            Device.cuda(index)


def test_enumerate():
    assert Device.enumerate() == []
    assert Device.enumerate("flex", "Flex", "ndarray") == [Device.flex(), Device.ndarray()]
    with pytest.raises(DeviceError, match="unknown backend"):
        Device.enumerate("abacus")


def test_configure_once():
    code = """
from burn import Device, DeviceConfig, DType, Tensor
from burn.errors import DeviceError
d = Device.flex()
assert d.settings().float_dtype is DType.F32          # asking does not lock
for bad in (DType.Flex32, "bool(u32)"):
    try: d.configure(DeviceConfig(float_dtype=bad)); raise SystemExit("accepted")
    except DeviceError: pass
d.configure((DType.F64, DType.I64))
assert Tensor([1.5], d).dtype is DType.F64 and Tensor([1], d).dtype is DType.I64
assert Device.flex().autodiff().settings().float_dtype is DType.F64
assert Device.ndarray().settings().float_dtype is DType.F32
try: d.configure((DType.F64, DType.I64)); raise SystemExit("configured twice")
except DeviceError as e: print(e)
"""
    assert "cannot be changed" in fresh(code)


def test_creation_locks_settings_even_with_a_dtype():
    code = """
from burn import Device, DType, Tensor
Tensor.zeros([1], (Device.flex(), DType.F64))
try: Device.flex().configure(DType.F64)
except Exception as e: print(type(e).__name__)
"""
    assert fresh(code) == "DeviceError"


def test_supports_dtype():
    d = Device.flex()
    assert all(d.supports_dtype(x) for x in ("f64", "f32", "f16", "bf16", "i64", "i32", "bool"))
    assert not d.supports_dtype(DType.Flex32)


@pytest.mark.parametrize("device", [Device.flex(), Device.ndarray()], ids=str)
def test_seed_repeats_and_backends_agree(device):
    def draw():
        device.seed(42)
        return Tensor.random([5], device=device).tolist()

    assert draw() == draw()
    Device.flex().seed(7)
    Device.ndarray().seed(7)
    assert Tensor.random([9], device=Device.flex()).tolist() == Tensor.random([9], device=Device.ndarray()).tolist()
    for bad in (-1, 1.5, 1 << 64, True):
        with pytest.raises(ValueError, match="seed"):
            device.seed(bad)


def test_to_device_keeps_the_context_of_the_source():
    x = Tensor([1.0, 2.0], Device.flex().autodiff()).require_grad()
    y = x.to_device(Device.ndarray())
    assert y.device == Device.ndarray() and y.is_autodiff() and y.is_tracked() and not y.is_require_grad()
    grads = (y * 3.0).sum().backward()
    assert x.grad(grads).tolist() == [3.0, 3.0] and x.grad(grads).device == Device.flex()
    assert not Tensor([1.0]).to_device(Device.flex().autodiff()).is_autodiff()
    assert not x.to_device(Device.flex()).is_require_grad()
    with pytest.raises(TypeError, match="to_device"):
        x.to_device("flex")


def test_sync_flush_and_config():
    d = Device.flex()
    assert d.sync() is None and d.flush() is None and d.memory_cleanup() is None
    assert repr(DeviceConfig().float_dtype("f64")) == "DeviceConfig(float_dtype=f64, int_dtype=None, bool_dtype=None)"
    assert DType.of("f32") is DType.F32
