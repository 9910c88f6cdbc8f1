"""Every SIMD level that this machine runs passes the tests of the ops, not only the one that is chosen."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from burn.backend import flex

ROOT = Path(__file__).resolve().parents[2]
OTHERS = [name for name in flex.available_levels() if name != flex.level()]


@pytest.mark.skipif("BURN_SIMD" in os.environ, reason="a level is already chosen by BURN_SIMD")
@pytest.mark.parametrize("level", OTHERS)
def test_ops_pass_at_another_level(level):
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "--no-header",
        "-p",
        "no:cacheprovider",
        "tests/ops",
        "tests/test_cases.py",
    ]
    command += [
        "tests/core",
        "-k",
        "not ndarray",
        "--deselect",
        "tests/core/test_tape.py::test_no_leak_over_many_steps",
    ]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "BURN_SIMD": level}, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.parametrize("level", flex.available_levels())
def test_the_level_can_be_chosen(level):
    code = "import burn; burn.Tensor([1.0]).exp(); from burn._core import core; print(set(core.families().values()))"
    env = {**os.environ, "BURN_SIMD": level}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str({level})


def test_an_unusable_level_is_refused_in_words():
    code = "import burn; burn.Tensor([1.0]).exp()"
    env = {**os.environ, "BURN_SIMD": "v9"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "BURN_SIMD must be one of" in done.stderr
