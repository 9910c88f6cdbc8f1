"""The CUDA backend. Without PyCUDA or a GPU it says so in one sentence, and nothing else changes."""

import ctypes
import importlib.util

from burn.errors import DeviceError

__all__ = ["cuda_devices", "cuda_slot"]


def _gpu_count():
    """GPUs that the driver sees, asked without PyCUDA; 0 without a driver."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return 0
    return count.value


def cuda_slot(index):
    """The device slot of GPU number index."""
    if not isinstance(index, int) or index < 0:
        raise DeviceError(f"[cuda] 'index' must be an int of at least 0, got {index!r}")
    if importlib.util.find_spec("pycuda") is None:
        raise DeviceError(
            '[cuda] PyCUDA is not installed; install it with `pip install "burn-dl[cuda]"`, or use Device.flex()'
        )
    if _gpu_count() == 0:
        raise DeviceError("[cuda] the driver reports no GPU; install an NVIDIA driver, or use Device.flex()")
    raise DeviceError("[cuda] this version has no CUDA kernels yet; use Device.flex()")


def cuda_devices():
    """Device slots of all usable GPUs."""
    return []
