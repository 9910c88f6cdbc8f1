"""pycuda.compiler.compile by the host's compiler: the bytes it returns hold a library that the emulated driver loads."""

import hashlib
import os
import re
import subprocess
import tempfile
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
PARTS = ("interface.h", "emulation.h", "emulated_math.h")
# -Og compiles in half the time of -O1, but does not fuse products and sums. The address of a vector load must
# be a multiple of its size on a GPU: the check of it raises SIGILL.
FLAGS = ["-x", "c++", "-std=c++17", "-fexpensive-optimizations", "-shared", "-fPIC"]
FLAGS += ["-w", "-DBURN_EMULATED", "-D__CUDA_ARCH__=900", "-fvisibility=hidden", "-fno-gnu-unique"]
FLAGS += ["-fno-exceptions", "-fno-rtti", "-fno-strict-aliasing", "-fwrapv"]
FLAGS += ["-fsanitize=alignment", "-fsanitize-undefined-trap-on-error"]


@cache
def processor_flags():
    """nvcc fuses products and sums: so does g++ from -O1 on, where the processor can."""
    try:
        found = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        return ()
    names = found.group(1).split() if found else ()
    return tuple(f"-m{name}" for name in ("fma", "f16c") if name in names)


def cache_folder():
    """Where libraries are kept; BURN_EMULATOR_CACHE names another folder."""
    folder = os.environ.get("BURN_EMULATOR_CACHE") or Path(tempfile.gettempdir()) / f"burn-emulator-{os.getuid()}"
    Path(folder).mkdir(parents=True, exist_ok=True)
    return Path(folder)


@cache
def parts_hash():
    """What else a library is made of."""
    return hashlib.sha256(b"".join((HERE / name).read_bytes() for name in PARTS)).hexdigest()


def compile(
    source,
    nvcc="nvcc",
    options=None,
    keep=False,
    no_extern_c=False,
    arch=None,
    code=None,
    cache_dir=None,
    include_dirs=(),
    target="cubin",
    level=None,
):
    """The image of a module. Of the options, only macros, folders and -fmad mean something here; `level` is the compiler's
    optimization, which BURN_EMULATOR_LEVEL gives otherwise."""
    assert target in ("cubin", "ptx", "fatbin")
    if not no_extern_c:
        source = f'extern "C" {{\n{source}\n}}\n'
    taken = [o for o in options or () if re.match(r"-[DUI].", o)] + [f"-I{folder}" for folder in include_dirs]
    contract = "off" if {"-fmad=false", "--fmad=false"} & set(options or ()) else "fast"
    level = level or os.environ.get("BURN_EMULATOR_LEVEL") or "-Og"
    flags = [
        level,
        *FLAGS,
        *processor_flags(),
        f"-ffp-contract={contract}",
        "-include",
        str(HERE / "emulation.h"),
        *taken,
    ]
    key = hashlib.sha256("\0".join([parts_hash(), *flags, source]).encode()).hexdigest()
    library = cache_folder() / f"{key[:32]}.so"
    if not library.exists():
        build(source, flags, library)
    data = library.read_bytes()
    return b"BURNEMU\0" + len(data).to_bytes(8, "little") + data


def build(source, flags, library):
    """Compiles into a file of its own first: others may do the same at this moment."""
    from pycuda.driver import CompileError

    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        text, made = Path(folder) / "kernel.cu", Path(folder) / "kernel.so"
        text.write_text(source)
        command = [os.environ.get("CXX", "g++"), *flags, "-o", str(made), str(text)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CompileError(f"nvcc compilation of {text} failed", command, done.stdout, done.stderr)
        made.replace(library)
