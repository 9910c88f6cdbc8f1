"""The examples as a user runs them, cut short."""

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import burn

ROOT = Path(__file__).parent.parent.parent


def run(*args, expect=0):
    # A script sees its own folder, not ours: it gets the burn that this test imports.
    result = subprocess.run(
        [sys.executable, *map(str, args)], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
        env=dict(os.environ, PYTHONPATH=str(Path(burn.__file__).parent.parent)),
    )  # fmt: skip
    assert result.returncode == expect, result.stderr
    return result.stdout if expect == 0 else result.stderr


def test_digits():
    pytest.importorskip("plotext")
    out = run("examples/digits.py", "--epochs", 3)
    assert out.count("items, loss") == 3 and "training loss" in out and "true \\ predicted" in out
    assert "saved, loaded again and found equal" in out
    assert float(re.search(r"test accuracy: ([\d.]+) %", out).group(1)) > 70
    again = run("examples/digits.py", "--epochs", 3)
    assert re.sub(r"trained in .*", "", out) == re.sub(r"trained in .*", "", again)


def test_digits_without_plotext():
    program = (
        "import runpy, sys; sys.modules['plotext'] = None\nrunpy.run_path('examples/digits.py', run_name='__main__')"
    )
    errors = run("-c", program, expect=1)
    assert 'pip install "burn-dl[train]"' in errors


@pytest.fixture(scope="module")
def small_mnist(tmp_path_factory):
    """Files in the format of MNIST: images whose bright quarter tells the class."""
    folder = tmp_path_factory.mktemp("mnist")
    rng = np.random.default_rng(0)
    for name, count in (("train", 640), ("t10k", 200)):
        classes = rng.integers(0, 4, count).astype(np.uint8)
        images = rng.integers(0, 100, (count, 28, 28)).astype(np.uint8)
        for image, quarter in zip(images, classes):
            image[14 * (quarter // 2) : 14 * (quarter // 2) + 14, 14 * (quarter % 2) : 14 * (quarter % 2) + 14] += 100
        for kind, array in (("images-idx3", images), ("labels-idx1", classes)):
            header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
            (folder / f"{name}-{kind}-ubyte.gz").write_bytes(gzip.compress(header + array.tobytes()))
    return folder


def accuracies(out):
    return re.findall(r"after epoch (\d): ([\d.]+) %", out)


def test_mnist_resumes_bit_for_bit(small_mnist, tmp_path):
    out = run("examples/mnist.py", "--data", small_mnist, "--epochs", 2, "--save", tmp_path / "a", "--workers", 2)
    assert [epoch for epoch, _ in accuracies(out)] == ["1", "2"] and float(accuracies(out)[-1][1]) > 90
    run("examples/mnist.py", "--data", small_mnist, "--epochs", 1, "--save", tmp_path / "b")
    resumed = run(
        "examples/mnist.py", "--data", small_mnist, "--epochs", 2, "--resume", tmp_path / "b", "--save", tmp_path / "b"
    )
    assert accuracies(resumed) == accuracies(out)[1:]


def test_mnist_without_saved_epochs(small_mnist, tmp_path):
    errors = run("examples/mnist.py", "--data", small_mnist, "--resume", tmp_path, expect=1)
    assert "holds no saved epoch" in errors and "Traceback" not in errors
