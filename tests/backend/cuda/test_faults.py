"""What goes wrong on a GPU, each in a process of its own: faults, forks, exit, missing parts, broken caches and kernels."""

import textwrap

import pytest

pytestmark = pytest.mark.usefixtures("gpu")

BEGIN = """
import burn, numpy as np
from burn import Device, Tensor
from burn.errors import *
device = Device.cuda()
x = Tensor.ones([1000], device)
x.sum().item()
"""
# A tensor whose second element is in nobody's memory, as another library might hand it over by mistake.
WILD = """
class Wild:
    def __init__(self, x):
        self.__cuda_array_interface__ = x.__cuda_array_interface__ | {"shape": (2,), "strides": (1 << 42,)}
wild = Tensor.from_cuda_array(Wild(x), device)
"""


@pytest.fixture
def program(fresh_python):
    """Runs a program after the common beginning."""

    def run(text, **env):
        return fresh_python(BEGIN + textwrap.dedent(text), **env)

    return run


def test_a_fault_names_the_ops_and_poisons_the_device(program):
    out = program(
        WILD
        + """
try:
    y = x.exp(); z = wild + 1.0; w = z * 2.0
    device.sync()
except ExecutionError as e:
    print(e.is_device_poisoned(), e)
for call in (lambda: x + x, device.sync, device.flush, x.numpy, lambda: Tensor.ones([3], device)):
    try:
        call()
    except DevicePoisonedError as e:
        print(str(e).count(". "), e)
"""
    )
    first, *later = out.splitlines()
    assert first.startswith("True [") and "cuda:0 met CUDA_ERROR_ILLEGAL_ADDRESS" in first
    assert "exp, add" in first or "op to blame is add" in first
    assert len(later) == 5
    assert all(
        "cuda:0 is poisoned: CUDA_ERROR_ILLEGAL_ADDRESS" in line and "restart the process" in line for line in later
    )


def test_one_op_is_named_when_each_is_waited_for(program):
    out = program(
        WILD
        + """
y = x.exp()
try:
    z = wild * 3.0
except ExecutionError as e:
    print(e)
""",
        BURN_CUDA_SYNC="1",
    )
    assert "the op to blame is mul" in out


def test_check_at_once(program):
    out = program(
        """
        try:
            x.select(0, Tensor.from_data([1000], device))
        except IndexError as e:
            print(e)
        """,
        BURN_CHECK="1",
    )
    assert "got 1000 at flat position 0" in out


def test_a_forked_child_says_so(program):
    out = program(
        """
        import os, sys
        pid = os.fork()
        if pid == 0:
            for call in (lambda: x + x, x.numpy, Device.cuda, device.sync):
                try:
                    call()
                except DeviceError as e:
                    print(e)
            os.environ["BURN_DEVICE"] = ""
            print(Tensor.ones([2]).tolist(), Device.default())
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(pid, 0)
        print((x + x).sum().item())
        """
    )
    *child, cpu, parent = out.splitlines()
    assert len(child) == 4 and all("forked child" in line and "spawn" in line for line in child)
    assert cpu == "[1.0, 1.0] Device<Flex(Cpu)>" and parent == "2000.0"


def test_what_nobody_read_is_said_at_exit(fresh_python):
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", BEGIN + "x.select(0, Tensor.from_data([1000], device))"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert done.stderr.startswith(
        "burn: work on cuda:0 that nothing has read failed: [select] 'indices' must lie in 0..999"
    )


def test_the_build_tool_says_what_is_wrong(fresh_python, tmp_path):
    (tmp_path / "file").write_text("")
    ask = "from burn.backend.cuda import build\nprint(build.main([{}]))"
    for arguments, words in {
        "'--dtype', 'f33'": "must be one of",
        "'--arch', 'nonsense'": "is no architecture; write it as sm_90",
        "'--family', 'matmul', '--dtype', 'bool'": "none of these families has kernels",
    }.items():
        assert words in fresh_python(ask.format(arguments), fails=True)
    code = "import warnings; warnings.simplefilter('ignore')\n" + ask.format("'--family', 'random', '--dtype', 'f32'")
    out = fresh_python(code, BURN_CUDA_CACHE=str(tmp_path / "file"))
    assert "0 of 1 modules" in out and out.endswith("1")


def test_exit_is_clean_with_work_in_flight(program):
    assert program("keep = [(x * i).exp() for i in range(50)]\nprint('done')") == "done"


def test_exit_while_a_thread_reads(program):
    """No crash: the process ends with status 0, which `program` asserts, and prints nothing."""
    out = program(
        """
        import threading
        def read():
            while True:
                x.numpy()
        for _ in range(3):
            threading.Thread(target=read, daemon=True).start()
        threading.excepthook = lambda *_: None
        """
    )
    assert out == ""


def test_a_fault_is_put_on_the_gpu_that_has_it(program):
    out = program(
        """
        from burn.backend import cuda
        if cuda.count() > 1:
            class Wild:
                def __init__(self, x):
                    self.__cuda_array_interface__ = x.__cuda_array_interface__ | {"shape": (2,), "strides": (1 << 42,)}
            wild = Tensor.from_cuda_array(Wild(Tensor.ones([4], Device.cuda(1)))) + 1.0
            try:
                x.to_device(Device.cuda(1))
            except DevicePoisonedError as e:
                print(e)
            try:
                print(x.sum().item())
            except DevicePoisonedError:
                print("1000.0")  # a driver may end all GPUs of a process for a fault on one
        """
    )
    if out:
        first, second = out.splitlines()
        assert "cuda:1 met CUDA_ERROR_ILLEGAL_ADDRESS" in first and second == "1000.0"


WARNED = """
import warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
"""


def test_damaged_cache_is_made_again(program, fresh_python, tmp_path):
    cache = {"BURN_CUDA_CACHE": str(tmp_path)}
    program("", **cache)
    files = sorted(tmp_path.iterdir())
    assert files and all(path.suffix == ".cubin" for path in files)
    whole = files[0].read_bytes()
    for damaged in (whole[:100], whole[:-1] + bytes([whole[-1] ^ 1]), b""):
        files[0].write_bytes(damaged)
        out = fresh_python(WARNED + textwrap.indent(BEGIN, "    ") + "\nprint(len(seen), seen[0].message)", **cache)
        assert out.startswith("1 [cuda]") and f"{files[0].name} is damaged and is made again" in out
        assert files[0].read_bytes()[:45] == whole[:45] and files[0].stat().st_size > 100


def test_cache_that_cannot_be_written(fresh_python, tmp_path):
    (tmp_path / "file").write_text("in the way")
    out = fresh_python(
        WARNED + textwrap.indent(BEGIN, "    ") + "\nprint(len(seen), seen[0].message)",
        BURN_CUDA_CACHE=str(tmp_path / "file" / "cache"),
    )
    assert out.startswith("1 [cuda] the cache of compiled kernels cannot be") and "BURN_CUDA_CACHE" in out
    nobody = "import os\nos.path.expanduser = str\n"  # a user without a home
    out = fresh_python(
        nobody + WARNED + textwrap.indent(BEGIN, "    ") + "\nprint(len(seen), seen[0].message)",
        BURN_CUDA_CACHE="", XDG_CACHE_HOME="",
    )  # fmt: skip
    assert out.startswith(
        "1 [cuda] the cache of compiled kernels cannot be read (no home folder for ~/.cache/burn/cuda)"
    )


def test_a_kernel_that_does_not_compile_is_named(fresh_python, tmp_path):
    out = fresh_python(
        """
import shutil, sys
from burn.backend.cuda import source
where = sys.argv[-1] if len(sys.argv) > 1 else None
"""
        + f"""
shutil.copytree(source.folder(), r"{tmp_path}/kernels")
path = r"{tmp_path}/kernels/movement.cu"
lines = open(path).read().splitlines()
lines.append("this is no kernel;")
open(path, "w").write("\\n".join(lines))
import pathlib
source.folder = lambda: pathlib.Path(r"{tmp_path}/kernels")
from burn import Device, Tensor
from burn.errors import ExecutionError
try:
    Tensor.ones([3], Device.cuda())
except ExecutionError as e:
    print(len(lines), e)
""",
        BURN_CUDA_CACHE=str(tmp_path / "cache"),
    )
    line, text = out.split(" ", 1)
    assert "[cuda] movement does not compile" in text and "error" in text
    assert f"cuda/movement.cu({line})" in text or f"cuda/movement.cu:{line}" in text
