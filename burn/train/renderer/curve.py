"""`CurvePlot`: a curve drawn with text, through plotext."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TextIO


class CurvePlot:
    """Curve of a value over steps, drawn in the terminal.

    Args:
        title: what the curve shows.
        width: columns of the picture.
        height: rows of the picture.

    Raises:
        ModuleNotFoundError: if plotext is missing; raised here, before anything is trained.

    Example:
        >>> plot = CurvePlot("loss")
        >>> for step in range(10):
        ...     plot.add(1 / (1 + step))
        >>> "loss" in plot.text()
        True
        >>> plot.show()  # doctest: +SKIP
    """

    def __init__(self, title: str, width: int = 80, height: int = 15) -> None:
        if find_spec("plotext") is None:
            raise ModuleNotFoundError(
                '[CurvePlot] plotext, which draws curves, is not installed; get it with: pip install "burn-dl[train]"'
            )
        self.title = title
        self.values: list[float] = []
        self._size = width, height

    def add(self, value: float) -> None:
        """Append the value of the next step.

        Args:
            value: the value.
        """
        self.values.append(float(value))

    def text(self) -> str:
        """The picture, without colors; empty where no value was added."""
        return _draw(self.values, self.title, *self._size) if self.values else ""

    def show(self, file: TextIO | None = None) -> None:
        """Print the picture (to standard output by default).

        Args:
            file: where to; standard output if None.
        """
        print(self.text(), file=file or sys.stdout)


def _draw(values: Sequence[float], title: str, width: int, height: int) -> str:
    import plotext

    steps = list(range(1, len(values) + 1))
    if hasattr(plotext, "clear_figure"):  # plotext 5
        plotext.clear_figure()
        plotext.theme("clear")
        plotext.plotsize(width, height)
        plotext.title(title)
        plotext.xlabel("step")
        plotext.plot(steps, list(values), marker="braille")
        picture = plotext.uncolorize(plotext.build())
    else:
        figure = plotext.figure
        figure.clear()
        figure.plot_size(width, height)
        figure.title(title)
        figure.label("step", "x")
        figure.draw(figure.signal(steps, list(values), marker="braille").lines())
        picture = figure.build().string(colorless=True)
    return "\n".join(line.rstrip() for line in picture.splitlines())
