import io
import sys

import pytest

from burn.errors import ShapeError
from burn.train.metric import ConfusionMatrix
from burn.train.renderer import CurvePlot, ProgressBar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run(file):
    with ProgressBar("epoch 1", total=10, file=file) as bar:
        for loss in (3.0, 2.0):
            bar.update(4, loss=loss, accuracy=0.5)
        bar.update(2, loss=1.0, accuracy=1.0)
    return bar


def test_plain_lines_without_a_terminal():
    file = io.StringIO()
    bar = run(file)
    assert file.getvalue() == "epoch 1: 10/10 items, loss 2.2000, accuracy 0.6000\n"
    assert bar.means == pytest.approx({"loss": 2.2, "accuracy": 0.6})


def test_long_passes_have_lines_between(monkeypatch):
    monkeypatch.setattr("burn.train.renderer.progress._LINE_SECONDS", 0.0)
    file = io.StringIO()
    run(file)
    assert len(file.getvalue().splitlines()) == 4


@pytest.mark.parametrize("rich", [True, False])
def test_live_bar_on_a_terminal(monkeypatch, rich):
    if rich:
        pytest.importorskip("rich")
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "120")
    else:
        monkeypatch.setitem(sys.modules, "rich.progress", None)
        monkeypatch.setitem(sys.modules, "rich.console", None)
    file = Terminal()
    run(file)
    assert "epoch 1" in file.getvalue() and "10/10" in file.getvalue() and "loss 2.2000" in file.getvalue()
    assert file.getvalue().endswith("\n") or "\x1b[?25h" in file.getvalue()


def test_an_error_stops_the_bar():
    file = io.StringIO()
    with pytest.raises(KeyboardInterrupt), ProgressBar("epoch 1", total=10, file=file) as bar:
        bar.update(1)
        raise KeyboardInterrupt
    assert file.getvalue() == ""


def test_empty_pass():
    file = io.StringIO()
    with ProgressBar("empty", total=0, file=file) as bar:
        pass
    assert bar.means == {} and file.getvalue() == "empty: 0/0 items\n"


def test_curve():
    pytest.importorskip("plotext")
    plot = CurvePlot("training loss", width=60, height=12)
    assert plot.text() == ""
    for step in range(50):
        plot.add(1 / (1 + step))
    lines = plot.text().splitlines()
    assert lines[0].strip() == "training loss" and len(lines) <= 13 and max(map(len, lines)) <= 60
    assert "\x1b" not in plot.text()
    file = io.StringIO()
    plot.show(file)
    assert file.getvalue() == plot.text() + "\n"


def test_missing_plotext_names_the_extra(monkeypatch):
    monkeypatch.setattr("burn.train.renderer.curve.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "burn-dl\[train\]"'):
        CurvePlot("loss")


def test_confusion_matrix():
    matrix = ConfusionMatrix(3)
    matrix.update([0, 1, 2, 2], [0, 1, 1, 2])
    matrix.update([[2]], [2])
    assert matrix.counts.tolist() == [[1, 0, 0], [0, 1, 1], [0, 0, 2]] and matrix.accuracy == 0.8
    assert str(matrix).splitlines()[2].split() == ["1", ".", "1", "1"]
    with pytest.raises(IndexError, match=r"'predictions' must be in \[0, 3\), got 3"):
        matrix.update([3], [0])
    with pytest.raises(ShapeError, match="2 and 1"):
        matrix.update([1, 2], [0])
    with pytest.raises(ValueError):
        ConfusionMatrix(0)
    assert matrix.counts.sum() == 5
