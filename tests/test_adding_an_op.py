"""docs/adding_an_op.md, followed to the letter in a copy of the project."""

import re
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT

STEP = re.compile(r"^In `([^`]+)`, below `([^`]+)`:\n\n```\w+\n(.*?)^```", re.M | re.S)
STEPS = STEP.findall((ROOT / "docs/adding_an_op.md").read_text())


def insert_below(path, anchor, text):
    """Inserts text after the one line that starts with the anchor."""
    lines = path.read_text().splitlines(keepends=True)
    (at,) = [number for number, line in enumerate(lines, 1) if line.lstrip().startswith(anchor)]
    path.write_text("".join([*lines[:at], text, *lines[at:]]))


def run(folder, *args):
    """Runs Python in the copy and returns what it printed."""
    done = subprocess.run(
        [sys.executable, *args], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_page_names_six_files():
    assert len({path for path, *_ in STEPS}) == len(STEPS) == 6


@pytest.mark.slow
def test_op_of_the_page_works(tmp_path, monkeypatch):
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    for name in ("burn", "cuda", "tests", "docs", "setup.py", "pyproject.toml"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path)
    for path, anchor, text in STEPS:
        insert_below(tmp_path / path, anchor, text)
    monkeypatch.setenv("BURN_BUILD_LEVELS", "native")
    monkeypatch.setenv("BURN_BUILD_MODULES", "elementwise")
    run(tmp_path, "setup.py", "--quiet", "build_ext", "--inplace")
    tests = ("tests/ops/test_elementwise.py", "tests/test_layout.py", "-k", "cube or match or cpu")
    printed = run(tmp_path, "-m", "pytest", "-q", *tests)
    assert re.search(r"\d+ passed", printed) and "failed" not in printed
    program = "import burn; print(burn.Tensor.from_floats([2.0, -3.0], burn.Device.flex()).cube().tolist())"
    assert run(tmp_path, "-c", program).strip() == "[8.0, -27.0]"
