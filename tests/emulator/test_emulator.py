"""The emulated GPU runs kernels, and finds what a real one would not forgive."""

import ctypes
import importlib.util
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from tests import emulator

if not emulator.available():
    pytest.skip("the emulator needs g++ on x86-64 Linux", allow_module_level=True)

ILLEGAL, ASSERTED, MISALIGNED, FAILED = 700, 710, 716, 719
SOURCE = (emulator.HERE / "kernels.cu").read_text()


class Gpu:
    """The emulated driver with a context of device 0, and the module of kernels.cu."""

    def __init__(self, env, image):
        self.driver = ctypes.CDLL(env["BURN_CUDA_DRIVER"])
        self.driver.emulator_message.restype = ctypes.c_char_p
        self.call("cuInit", 0)
        self.context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), 0)
        self.call("cuCtxPushCurrent_v2", self.context)
        self.stream, self.pool, self.module = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuStreamCreate", ctypes.byref(self.stream), 1)
        self.call("cuModuleLoadData", ctypes.byref(self.module), image)
        props = (ctypes.c_int * 22)(1, 0, 1, 0)
        self.call("cuMemPoolCreate", ctypes.byref(self.pool), props)

    def code(self, name, *args):
        return getattr(self.driver, name)(*args)

    def call(self, name, *args):
        code = self.code(name, *args)
        assert code == 0, f"{name}: {code}"

    def alloc(self, nbytes):
        p = ctypes.c_uint64()
        code = self.code("cuMemAllocFromPoolAsync", ctypes.byref(p), ctypes.c_size_t(nbytes), self.pool, self.stream)
        return code, p

    def free(self, p):
        return self.code("cuMemFreeAsync", p, self.stream)

    def put(self, array):
        code, p = self.alloc(array.nbytes)
        assert code == 0
        source = np.ascontiguousarray(array)
        self.call(
            "cuMemcpyHtoDAsync_v2", p, ctypes.c_void_p(source.ctypes.data), ctypes.c_size_t(array.nbytes), self.stream
        )
        return p

    def get(self, p, shape, dtype):
        out = np.empty(shape, dtype)
        self.call("cuMemcpyDtoHAsync_v2", ctypes.c_void_p(out.ctypes.data), p, ctypes.c_size_t(out.nbytes), self.stream)
        self.call("cuStreamSynchronize", self.stream)
        return out

    def function(self, name):
        f = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(f), self.module, name.encode())
        return f

    def launch(self, name, grid, block, *args, shared=0):
        grid, block = [(*size, 1, 1)[:3] if isinstance(size, tuple) else (size, 1, 1) for size in (grid, block)]
        pointers = (ctypes.c_void_p * len(args))(*[ctypes.addressof(a) for a in args])
        f = name if isinstance(name, ctypes.c_void_p) else self.function(name)
        return self.code("cuLaunchKernel", f, *grid, *block, shared, self.stream, pointers, None)

    def fault(self):
        """The sticky error of device 0, which every call gives, and its text; then all is as new."""
        code = self.code("cuStreamSynchronize", self.stream)
        assert self.alloc(256)[0] == code
        assert self.code("cuStreamSynchronize", self.stream) == code
        message = self.driver.emulator_message(0).decode()
        self.driver.emulator_forgive(0)
        return code, message


@pytest.fixture(scope="module")
def env():
    """Where the stand-ins are."""
    return emulator.build()


@pytest.fixture(scope="module")
def pycuda(env):
    """The stand-in of PyCUDA, although another may be installed."""
    names = ("pycuda", "pycuda.driver", "pycuda.compiler")
    kept = {name: sys.modules.pop(name, None) for name in names}
    sys.path.insert(0, str(emulator.HERE))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        import pycuda.compiler
        import pycuda.driver

        yield pycuda
    sys.path.remove(str(emulator.HERE))
    for name, module in kept.items():
        sys.modules.pop(name, None)
        if module is not None:
            sys.modules[name] = module


@pytest.fixture(scope="module")
def device(env, pycuda):
    """A device with the kernels of kernels.cu."""
    return Gpu(env, pycuda.compiler.compile(SOURCE, no_extern_c=True, arch="sm_90", cache_dir=False))


@pytest.fixture
def gpu(device):
    """The device, as new for the next test."""
    yield device
    device.driver.emulator_forgive(0)


def test_elementwise(gpu):
    x = np.arange(100_000, dtype=np.float32)
    a, b = gpu.put(x), gpu.put(x)
    assert gpu.launch("scale", 13, 256, b, a, ctypes.c_int64(x.size), ctypes.c_float(2.5)) == 0
    np.testing.assert_array_equal(gpu.get(b, x.shape, x.dtype), x * np.float32(2.5))
    assert gpu.free(a) == gpu.free(b) == 0


def test_sum_over_blocks(gpu):
    x = np.random.default_rng(0).standard_normal(50_000)
    a, parts, counter, out = gpu.put(x), gpu.put(np.zeros(64)), gpu.put(np.zeros(1, np.uint32)), gpu.put(np.zeros(1))
    for _ in range(2):
        assert gpu.launch("sum", 20, 256, out, a, ctypes.c_int64(x.size), parts, counter) == 0
        np.testing.assert_allclose(gpu.get(out, 1, np.float64), x.sum(), rtol=1e-12)
    assert gpu.get(counter, 1, np.uint32) == 0
    for p in (a, parts, counter, out):
        assert gpu.free(p) == 0


def test_dynamic_shared_memory(gpu):
    p = gpu.put(np.arange(1024, dtype=np.int32))
    assert gpu.launch("reverse", 1, 1024, p, shared=4096) == 0
    np.testing.assert_array_equal(gpu.get(p, 1024, np.int32), np.arange(1024)[::-1])
    f = gpu.function("reverse")
    assert gpu.launch(f, 1, 1024, p, shared=50_000) == 1
    assert gpu.code("cuFuncSetAttribute", f, 8, 240_000) == 1
    gpu.call("cuFuncSetAttribute", f, 8, 50_000)
    assert gpu.launch(f, 1, 1024, p, shared=50_000) == 0
    assert gpu.launch("past_shared", 1, 32, p, shared=124) == 0
    assert gpu.fault() == (ILLEGAL, "past_shared writes past its 124 bytes of shared memory")
    assert gpu.free(p) == 0


def test_places_of_threads(gpu):
    p = gpu.put(np.zeros((24, 24), np.int32))
    assert gpu.launch("places", (2, 3, 4), (4, 3, 2), p) == 0
    np.testing.assert_array_equal(gpu.get(p, (24, 24), np.int32), np.arange(24)[:, None] * 100 + np.arange(24))
    assert gpu.free(p) == 0


def test_warps(gpu):
    p = gpu.put(np.zeros((64, 8), np.int64))
    assert gpu.launch("warps", 1, 64, p) == 0
    out, lane = gpu.get(p, (64, 8), np.int64), np.arange(64) % 32
    expected = [
        np.full(64, 30),
        np.where(lane < 4, lane, lane - 4),
        np.where(lane + 30 < 32, lane + 30, lane),
        lane ^ 5,
        np.full(64, sum(1 << i for i in range(0, 32, 3))),
        np.arange(64) >= 32,
        np.arange(64) < 32,
        np.where(lane < 16, lane ^ 1, lane ^ 2),
    ]
    np.testing.assert_array_equal(out, np.stack(expected, axis=1))
    assert gpu.free(p) == 0


@pytest.mark.parametrize("block", [32, 64])
@pytest.mark.parametrize(
    "kernel, message",
    [("divergent", "divergent barrier in divergent"), ("two_barriers", "divergent barrier in two_barriers")],
)
def test_divergent_barrier(gpu, kernel, message, block):
    p = gpu.put(np.zeros(64, np.int32))
    assert gpu.launch(kernel, 1, block, p) == 0
    if (kernel, block) == ("two_barriers", 32):
        assert gpu.get(p, 64, np.int32)[0] == 1
    else:
        code, text = gpu.fault()
        assert code == FAILED and message in text
    assert gpu.free(p) == 0


def test_wrong_mask(gpu):
    p = gpu.put(np.zeros(64, np.int32))
    assert gpu.launch("wrong_mask", 1, 32, p) == 0
    code, text = gpu.fault()
    assert code == FAILED and "divergent warp in wrong_mask" in text
    assert gpu.free(p) == 0


@pytest.mark.parametrize("kernel, at", [("store", 1 << 60), ("deep", None)])
def test_illegal_access(gpu, kernel, at):
    p = gpu.put(np.zeros(64, np.int32))
    argument = ctypes.c_int64(at) if at else ctypes.c_int(1 << 20)
    assert gpu.launch(kernel, 1, 32, p, argument) == 0
    code, text = gpu.fault()
    assert code == ILLEGAL and f"in {kernel}, block (0, 0, 0), thread (0, 0, 0)" in text
    np.testing.assert_array_equal(gpu.get(p, 64, np.int32), 0)
    assert gpu.free(p) == 0


def test_misaligned_address(gpu):
    p = gpu.put(np.zeros(64, np.int32))
    assert gpu.launch("misaligned", 1, 32, ctypes.c_uint64(p.value + 4)) == 0
    assert gpu.fault()[0] == MISALIGNED
    assert gpu.launch("misaligned", 1, 32, p) == 0
    np.testing.assert_array_equal(gpu.get(p, 4, np.float32), [1, 2, 3, 4])
    assert gpu.free(p) == 0


def test_division_goes_on(gpu):
    x = np.full(32, -(2**31), np.int32)
    a, b = gpu.put(x), gpu.put(x)
    assert gpu.launch("divide", 1, 32, b, a, ctypes.c_int(-1)) == 0
    np.testing.assert_array_equal(gpu.get(b, 32, np.int32), x)
    assert gpu.launch("divide", 1, 32, b, a, ctypes.c_int(0)) == 0
    gpu.get(b, 32, np.int32)
    assert gpu.free(a) == gpu.free(b) == 0


def test_assertion(gpu):
    p = gpu.put(np.ones(1, np.int32))
    assert gpu.launch("asserts", 1, 32, p) == 0
    code, text = gpu.fault()
    assert code == ASSERTED and "x[0] == 0" in text
    assert gpu.free(p) == 0


def test_overrun(gpu, capfd):
    p = gpu.put(np.zeros(64, np.int32))
    assert gpu.launch("store", 1, 32, p, ctypes.c_int64(33)) == 0
    code, text = gpu.fault()
    assert code == ILLEGAL and text == "a write at byte 256 of an allocation of 256 bytes; the last kernel was store"
    assert text in capfd.readouterr().err
    gpu.launch("store", 1, 32, p, ctypes.c_int64(-8))
    gpu.free(p)
    code, text = gpu.fault()
    assert code == ILLEGAL and "a write at byte -" in text
    assert gpu.free(p) == 1


def test_memory(gpu):
    live = gpu.driver.emulator_live(0)
    gpu.driver.emulator_limit(0, ctypes.c_uint64(1 << 20))
    code, p = gpu.alloc(600_000)
    assert code == 0 and gpu.driver.emulator_live(0) == live + 1
    assert gpu.alloc(600_000)[0] == 2
    assert gpu.free(p) == 0 and gpu.free(p) == 1 and gpu.free(ctypes.c_uint64(12345)) == 1
    code, p = gpu.alloc(900_000)
    assert code == 0
    value, shown = ctypes.c_uint64(), []
    for attribute in (7, 5):
        gpu.call("cuMemPoolGetAttribute", gpu.pool, attribute, ctypes.byref(value))
        shown.append(value.value)
    assert shown[0] >= 900_000 and shown[1] >= shown[0]
    assert gpu.free(p) == 0
    gpu.call("cuMemPoolTrimTo", gpu.pool, ctypes.c_size_t(0))
    gpu.call("cuMemPoolGetAttribute", gpu.pool, 5, ctypes.byref(value))
    assert value.value < 900_000
    assert gpu.code("cuMemcpyDtoDAsync_v2", p, p, ctypes.c_size_t(4), gpu.stream) == 0
    assert gpu.fault() == (ILLEGAL, "a copy uses memory after it was freed")
    gpu.driver.emulator_limit(0, ctypes.c_uint64(1 << 30))


def test_limits_of_launches(gpu):
    p = gpu.put(np.zeros(1, np.float32))
    args = (p, p, ctypes.c_int64(1), ctypes.c_float(1))
    assert gpu.launch("scale", 1, 288, *args) == 701
    assert gpu.launch("scale", 1, 1056, *args) == gpu.launch("scale", 0, 32, *args) == 1
    assert gpu.launch("scale", (1, 65536), 32, *args) == 1
    assert gpu.code("cuModuleGetFunction", ctypes.byref(ctypes.c_void_p()), gpu.module, b"nothing") == 500
    assert gpu.code("cuModuleLoadData", ctypes.byref(ctypes.c_void_p()), b"\x7fELF and more than that") == 200
    assert gpu.free(p) == 0


def test_contexts(gpu):
    popped = ctypes.c_void_p()
    gpu.call("cuCtxPopCurrent_v2", ctypes.byref(popped))
    assert popped.value == gpu.context.value
    assert gpu.code("cuStreamCreate", ctypes.byref(ctypes.c_void_p()), 1) == 201
    assert gpu.alloc(256)[0] == 201
    other = ctypes.c_void_p()
    gpu.call("cuDevicePrimaryCtxRetain", ctypes.byref(other), 1)
    gpu.call("cuCtxPushCurrent_v2", other)
    assert gpu.launch.__self__ is gpu
    f = ctypes.c_void_p()
    gpu.call("cuModuleGetFunction", ctypes.byref(f), gpu.module, b"store")
    assert gpu.launch(f, 1, 32, ctypes.c_uint64(0), ctypes.c_int64(0)) == 400
    gpu.call("cuCtxPopCurrent_v2", None)
    gpu.call("cuDevicePrimaryCtxRelease_v2", 1)
    gpu.call("cuCtxPushCurrent_v2", gpu.context)


def test_halves(gpu):
    x = np.concatenate([np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)] * 2)
    rng = np.random.default_rng(1)
    x[1 << 16 :] = np.ldexp(rng.uniform(-2, 2, 1 << 16), rng.integers(-27, 17, 1 << 16))
    a, half, back = gpu.put(x), gpu.put(np.zeros(x.size, np.uint16)), gpu.put(x)
    assert gpu.launch("halves", x.size // 256, 256, half, a, back) == 0
    with np.errstate(over="ignore"):
        expected = x.astype(np.float16)
    got, number = gpu.get(half, x.size, np.uint16), ~np.isnan(x)
    np.testing.assert_array_equal(got[number], expected.view(np.uint16)[number])
    assert (got[~number] == 0x7FFF).all()
    np.testing.assert_array_equal(gpu.get(back, x.size, np.float32), expected.astype(np.float32))
    for p in (a, half, back):
        assert gpu.free(p) == 0


def test_products_are_fused_with_sums(gpu, pycuda):
    if not any("fma" in flag for flag in pycuda.compiler.processor_flags()):
        pytest.skip("the processor has no fused multiply-add")
    a, c = np.float32(1 + 2**-12), np.float32(-1)
    p, f, module = gpu.put(np.zeros(2, np.float32)), ctypes.c_void_p(), ctypes.c_void_p()
    gpu.call("cuModuleLoadData", ctypes.byref(module), pycuda.compiler.compile(SOURCE, no_extern_c=True, level="-O1"))
    gpu.call("cuModuleGetFunction", ctypes.byref(f), module, b"contracted")
    assert gpu.launch(f, 1, 1, p, *[ctypes.c_float(v) for v in (a, a, c)]) == 0
    exact = np.float64(a) * np.float64(a) - 1
    np.testing.assert_array_equal(gpu.get(p, 2, np.float32), [np.float32(exact), a * a + c])
    assert gpu.free(p) == 0


USE_OF_MEMORY = """
import ctypes, os, sys
import numpy as np
import pycuda.compiler
from tests.emulator.test_emulator import SOURCE, Gpu

gpu = Gpu(os.environ, pycuda.compiler.compile(SOURCE, no_extern_c=True, arch="sm_90", cache_dir=False))
p, q = (gpu.put(np.arange(1000, dtype=np.float32)) for _ in range(2))
assert gpu.launch("scale", 4, 256, q, p, ctypes.c_int64(1000), ctypes.c_float(2)) == 0
np.testing.assert_array_equal(gpu.get(q, 1000, np.float32), np.arange(1000, dtype=np.float32) * 2)
assert gpu.free(p) == 0
print("freed", flush=True)
gpu.launch("scale", 4, 256, q, p, ctypes.c_int64(1000), ctypes.c_float(2))
print(*gpu.fault(), flush=True)
ctypes.string_at(q.value, 1)
"""


@pytest.mark.parametrize("mode", ["GUARD", "STRICT"])
def test_modes_that_find_more(device, env, mode):
    done = subprocess.run(
        [sys.executable, "-c", USE_OF_MEMORY],
        cwd=emulator.HERE.parent.parent,
        env=os.environ | env | {f"BURN_EMULATED_{mode}": "1"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("freed\n"), done.stderr
    if mode == "GUARD":
        assert "700 illegal access at" in done.stdout and "in scale" in done.stdout
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == -signal.SIGSEGV


def test_compile_error(pycuda):
    with pytest.raises(pycuda.driver.CompileError, match=r"nvcc compilation of .* failed") as caught:
        pycuda.compiler.compile("KERNEL(wrong, 32, ()) { nothing; }", no_extern_c=True)
    assert "nothing" in caught.value.stderr and "nothing" in str(caught.value)


def test_stand_in_for_pycuda(pycuda):
    assert pycuda.driver.Device.count() == 2
    assert pycuda.driver.Device(1).compute_capability() == (9, 0)
    assert pycuda.driver.Device(0).name() == "Emulated GPU"
    assert importlib.util.find_spec("pycuda").origin == str(emulator.HERE / "pycuda/__init__.py")
