"""From the text of a family to a module for one GPU architecture, by PyCUDA's compiler, through the cache on disk."""

import functools
import logging
import os
import re
import shutil

from burn.backend.cuda import cache, source
from burn.errors import DeviceError, ExecutionError
from burn.tensor.dtype import DType

__all__ = ["compile_module", "image", "nvcc", "toolkit"]

OPTIONS = ["-std=c++17", "-O3"]
PARALLEL = (12, 4)  # toolkits from here on spread one module over the processors; what they make is the same

_log = logging.getLogger("burn.cuda")


def nvcc():
    """Path of the CUDA compiler, or None."""
    root = os.environ.get("CUDA_ROOT") or os.environ.get("CUDA_HOME")
    places = [os.path.join(root, "bin")] if root else []
    return shutil.which("nvcc", path=os.pathsep.join([*places, os.environ.get("PATH", ""), "/usr/local/cuda/bin"]))


@functools.cache
def toolkit():
    """Version of the CUDA compiler as text such as "13.0.88", or None without one."""
    path = nvcc()
    if path is None:
        return None
    import subprocess

    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"\bV([\d.]+)", said)
    return found[1] if found else None


def label_of(family, code, arch):
    """Start of the name of a module's file."""
    return f"{family}-{DType.of_code(code).variant.lower()}-{arch}"


def compile_module(family, code, arch):
    """A module as bytes, compiled now.

    Raises:
        DeviceError: there is no compiler.
        ExecutionError: the text does not compile; the message has the compiler's first error.
    """
    path = nvcc()
    if path is None:
        raise DeviceError(
            "[cuda] nvcc was not found; install the CUDA toolkit (or set CUDA_ROOT), or fill the cache of compiled kernels on "
            "another machine with `python -m burn.backend.cuda.build`"
        )
    from pycuda import compiler, driver

    version = tuple(int(part) for part in (toolkit() or "0").split(".")[:2])
    options = [*OPTIONS, "-split-compile=0"] if version >= PARALLEL else OPTIONS
    try:
        return bytes(
            compiler.compile(
                source.text(family, code), nvcc=path, options=options, no_extern_c=True, arch=arch, cache_dir=False
            )
        )
    except OSError as e:
        raise ExecutionError(
            f"[cuda] {family} cannot be compiled for {arch}: {e}; look at {path} and the temporary folder"
        ) from None
    except driver.CompileError as e:
        raise ExecutionError(f"[cuda] {family} does not compile for {arch}: {_first_error(e)}") from None


def _first_error(e):
    """The compiler's first error, with the file and line of our text."""
    said = "\n".join(str(part) for part in (getattr(e, "stderr", ""), getattr(e, "stdout", ""), e) if part)
    found = re.search(r"^.*\berror\b.*$", said, re.M)
    return found[0].strip() if found else said.strip().splitlines()[0] if said.strip() else "no reason was given"


def cached_module(family, code, arch):
    """(module, whether it was compiled now, whether it is in the cache)."""
    name = cache.key(source.text(family, code), OPTIONS, arch)
    label = label_of(family, code, arch)
    found = cache.load(label, name, toolkit())
    if found is not None:
        return found, False, True
    _log.info("compiling the %s kernels for %s on %s", family, DType.of_code(code), arch)
    made = compile_module(family, code, arch)
    return made, True, cache.store(label, name, toolkit() or "unknown", made)


def image(index, family, code):
    """The module of a family and dtype for a GPU; what compiled code asks for at the first launch."""
    from burn.backend.cuda import launch

    major, minor = launch.describe(index)[1]
    return cached_module(family, code, f"sm_{major}{minor}")[0]
