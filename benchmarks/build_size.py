"""How long a build from nothing takes and how large the wheel is, for one level and for all.

    python -m benchmarks.build_size [native|all]...

Builds in a temporary copy, so the objects of the working tree neither help nor suffer.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCES = ("burn", "cuda", "setup.py", "pyproject.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE")
LIMITS = {"native": (120, 15), "all": (240, 15)}
ROOT = Path(__file__).resolve().parent.parent


def build(levels):
    """Seconds and megabytes of a wheel with these levels."""
    with tempfile.TemporaryDirectory() as folder:
        for name in SOURCES:
            source = ROOT / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("*.so", "__pycache__")
                shutil.copytree(source, Path(folder, name), ignore=ignored)
            elif source.exists():
                shutil.copy(source, folder)
        command = [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-build-isolation",
            "--no-deps",
            "-w",
            "dist",
            ".",
        ]
        start = time.perf_counter()
        subprocess.run(command, cwd=folder, check=True, env=dict(os.environ, BURN_BUILD_LEVELS=levels))
        seconds = time.perf_counter() - start
        (wheel,) = Path(folder, "dist").glob("*.whl")
        return seconds, wheel.stat().st_size / 1e6


def main(*levels):
    """Prints one line for each choice of levels."""
    for choice in levels or LIMITS:
        seconds, megabytes = build(choice)
        limits = "  (limits: {} s, {} MB)".format(*LIMITS[choice]) if choice in LIMITS else ""
        print(f"levels {choice:7} {seconds:5.0f} s {megabytes:6.2f} MB{limits}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
