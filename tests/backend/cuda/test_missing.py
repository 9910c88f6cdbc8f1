"""What a program hears where CUDA cannot be used: one sentence with the remedy. No GPU is needed for this."""

import pytest

from tests import emulator

ASK = """
import burn
from burn.errors import DeviceError
try:
    burn.Device.cuda()
except DeviceError as e:
    print(e)
print(burn.Device.default(), burn.Device.enumerate("cuda"))
"""


def test_without_pycuda(fresh_python):
    out = fresh_python("import sys; sys.modules['pycuda'] = None\n" + ASK, BURN_DEVICE="", PYTHONPATH="")
    first, second = out.splitlines()
    assert (
        first == '[cuda] PyCUDA is not installed; install it with `pip install "burn-dl[cuda]"`, or use Device.flex()'
    )
    assert second == "Device<Flex(Cpu)> []"


@pytest.fixture
def emulated():
    if not emulator.available():
        pytest.skip("the emulator needs x86-64 Linux and g++")
    return emulator.build()


def test_without_a_driver(fresh_python, emulated, tmp_path):
    out = fresh_python(ASK, **emulated | {"BURN_DEVICE": "", "BURN_CUDA_DRIVER": str(tmp_path / "none.so")})
    first, second = out.splitlines()
    assert "the NVIDIA driver cannot be used (libcuda.so.1); install or update the NVIDIA driver" in first
    assert second == "Device<Flex(Cpu)> []"


def test_without_a_gpu(fresh_python, emulated):
    out = fresh_python(ASK, **emulated | {"BURN_DEVICE": "", "BURN_EMULATED_DEVICES": "0"})
    assert "CUDA_VISIBLE_DEVICES" in out and out.endswith("Device<Flex(Cpu)> []")


def test_the_default_is_the_gpu(fresh_python, emulated):
    assert fresh_python(ASK, **emulated | {"BURN_DEVICE": ""}) == "Device<Cuda(0)> [Device<Cuda(0)>, Device<Cuda(1)>]"


def test_nothing_is_imported_before_it_is_needed(fresh_python, emulated):
    code = """
import sys, burn
burn.Tensor.ones([2], burn.Device.flex()).sum().item()
print([m for m in sys.modules if m.startswith(("pycuda", "burn.backend.cuda.launch"))])
burn.Device.cuda()
print([m for m in sys.modules if m.startswith("pycuda")])
"""
    assert fresh_python(code, **emulated | {"BURN_DEVICE": "flex"}).splitlines() == ["[]", "[]"]


def test_a_full_gpu_cannot_be_opened(fresh_python, emulated):
    code = """
import burn, ctypes, os
from burn.errors import DeviceError
for _ in range(2):
    try:
        burn.Device.cuda()
    except DeviceError as e:
        print(e)
driver = ctypes.CDLL(os.environ["BURN_CUDA_DRIVER"])
driver.emulator_limit(0, ctypes.c_uint64(1 << 28))
print(burn.Tensor.ones([3], burn.Device.cuda()).tolist())
"""
    first, again, then = fresh_python(code, **emulated | {"BURN_EMULATED_MEMORY": "1000"}).splitlines()
    assert (
        first
        == again
        == ("[cuda] GPU 0 cannot be opened: [open] cuda:0 has too little free memory; end other programs that use it")
    )
    assert then == "[1.0, 1.0, 1.0]"


def test_a_small_product_needs_no_room(fresh_python, emulated):
    code = "import burn\nx = burn.Tensor.ones([4, 4], burn.Device.cuda())\nprint((x @ x).sum().item())"
    assert fresh_python(code, **emulated | {"BURN_EMULATED_MEMORY": str(1 << 20)}) == "64.0"
