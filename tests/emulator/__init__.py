"""An emulated GPU: the CUDA backend's kernels run on the host, so that tests of it need no device. See README.md."""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["available", "build"]

HERE = Path(__file__).resolve().parent
LIBRARIES = {"BURN_CUDA_DRIVER": "driver", "BURN_CUBLASLT": "blas"}


def available():
    """Whether this machine can run it: the switch between threads is written for x86-64 Linux, the rest for g++."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and shutil.which("g++") is not None


def build(folder=None):
    """Compiles the stand-ins into a folder, once, and returns the environment in which a program uses them."""
    if folder is None:
        folder = Path(tempfile.gettempdir()) / f"burn-emulator-{os.getuid()}"
    folder = Path(folder).resolve()
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    parts = [*HERE.iterdir(), HERE / "pycuda/compiler.py"]
    text = b"".join(
        path.read_bytes() for path in sorted(parts) if path.suffix in (".h", ".cpp") or path.name == "compiler.py"
    )
    key = hashlib.sha256(text + os.environ.get("BURN_EMULATOR_LEVEL", "").encode()).hexdigest()[:16]
    env = {}
    for name, stem in LIBRARIES.items():
        library = folder / f"{stem}-{key}.so"
        if not library.exists():
            made = folder / f"{stem}-{key}-{os.getpid()}.so"
            command = ["g++", "-std=c++17", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-o", made]
            subprocess.run([*command, HERE / f"{stem}.cpp", "-ldl"], check=True)
            made.replace(library)
        env[name] = str(library)
    nvcc = folder / "bin/nvcc"  # only its version is asked for
    nvcc.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.0'\n")
    nvcc.chmod(0o755)
    path = [str(HERE), os.environ.get("PYTHONPATH", "")]
    return env | {
        "BURN_CUDA_CACHE": str(folder / f"modules-{key}"),
        "BURN_EMULATOR_CACHE": str(folder),
        "CUDA_ROOT": str(folder),
        "PYTHONPATH": os.pathsep.join(p for p in path if p),
    }
