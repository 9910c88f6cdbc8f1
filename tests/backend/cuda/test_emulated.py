"""The op cases, golden numbers and the tests of this folder on an emulated GPU, where none is: see tests/emulator/README.md."""

import os
import subprocess
import sys

import pytest

from burn.backend import cuda
from tests import emulator
from tests.conftest import ROOT

# Two sets that take about as long, for two processors.
SETS = (
    ["tests/ops/test_elementwise.py", "tests/ops/test_activation.py", "tests/ops/test_movement.py", "tests/backend"],
    ["tests/ops", "--ignore=tests/ops/test_elementwise.py", "--ignore=tests/ops/test_activation.py",
     "--ignore=tests/ops/test_movement.py", "tests/golden"],
)  # fmt: skip


@pytest.mark.skipif(not emulator.available(), reason="the emulator needs x86-64 Linux and g++")
@pytest.mark.skipif(cuda.count() > 0, reason="there is a GPU: these tests run on it")
def test_cases_on_an_emulated_gpu():
    env = dict(os.environ, **emulator.build(), BURN_DEVICE="flex")
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "cuda", "-r", "fE", *chosen],
            cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for chosen in SETS
    ]  # fmt: skip
    outs = [process.communicate(timeout=1200)[0] for process in running]
    for process, out in zip(running, outs, strict=True):
        assert process.returncode == 0, out[-20000:]
        assert " passed" in out.splitlines()[-1] and "failed" not in out.splitlines()[-1]
