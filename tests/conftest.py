"""What all tests share: the configuration in the header of the report, devices, and programs in fresh processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
os.environ.setdefault("BURN_DEVICE", "flex")  # what is no test of a GPU does not depend on there being one


def pytest_report_header(config):
    """The versions, levels and threads that a failure depends on."""
    import burn

    return f"burn {burn.__version__}, levels built: {', '.join(built_levels()) or 'none'}, threads: {burn.get_num_threads()}"


def built_levels():
    """The SIMD levels that are compiled in this tree, lowest first."""
    return sorted({path.parent.name.lstrip("_") for path in (ROOT / "burn/_core").glob("_*/*.so")})


@pytest.fixture(params=["flex", "ndarray", "cuda"])
def device(request):
    """Every device of this machine in turn."""
    from burn.device import Device
    from burn.errors import DeviceError

    try:
        return getattr(Device, request.param)()
    except DeviceError as e:
        pytest.skip(str(e))


@pytest.fixture
def flex():
    """The compiled CPU backend alone."""
    from burn.device import Device

    return Device.flex()


@pytest.fixture
def root():
    """The folder of the project."""
    return ROOT


@pytest.fixture
def fresh_python():
    """Runs a program in a new interpreter: `fresh_python(code, BURN_SIMD="v2")` returns what it prints."""

    def run(code, *, cwd=ROOT, timeout=120, fails=False, **env):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            cwd=cwd,
            env=dict(os.environ, **env),
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done.stderr if fails else done.stdout.strip()

    return run
