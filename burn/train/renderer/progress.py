"""`ProgressBar`: how far a pass over a loader is, with the means of its metrics."""

from __future__ import annotations

import sys
import time
from typing import Any, TextIO

_REDRAW_SECONDS = 0.05
_LINE_SECONDS = 10.0


class ProgressBar:
    """Live progress of a pass: a bar on a terminal (with rich where it is installed), plain lines elsewhere.

    Args:
        description: what is running.
        total: number of items of the pass.
        file: where to write; standard output by default.

    Example:
        >>> with ProgressBar("epoch 1", total=4) as bar:
        ...     bar.update(2, loss=0.5)
        ...     bar.update(2, loss=0.25)
        epoch 1: 4/4 items, loss 0.3750
        >>> bar.means
        {'loss': 0.375}
    """

    def __init__(self, description: str, total: int, file: TextIO | None = None) -> None:
        self.description = description
        self.total = total
        self.items = 0
        self._sums: dict[str, float] = {}
        self._file = file or sys.stdout
        self._bar: Any = None
        self._live = self._file.isatty()
        self._shown = 0.0

    @property
    def means(self) -> dict[str, float]:
        """Mean of each metric over the items so far."""
        return {name: value / max(self.items, 1) for name, value in self._sums.items()}

    def update(self, items: int, **metrics: float) -> None:
        """Count `items` more, over which each of `metrics` is a mean.

        Args:
            items: number of items.
            metrics: means over these items, by name.
        """
        self.items += items
        for name, value in metrics.items():
            self._sums[name] = self._sums.get(name, 0.0) + float(value) * items
        now = time.monotonic()
        if now - self._shown >= (_REDRAW_SECONDS if self._live else _LINE_SECONDS):
            self._shown = now
            self._show()

    def __enter__(self) -> ProgressBar:
        # The first line without a terminal comes after a while: a short pass has one line, its last.
        self._shown = 0.0 if self._live else time.monotonic()
        if self._live:
            self._bar = _rich_bar(self._file)
        if self._bar is not None:
            self._task = self._bar.add_task(self.description, total=self.total, metrics="")
            try:
                self._bar.start()
            except BaseException:  # an interrupt just now would leave the cursor hidden
                self._bar.stop()
                raise
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        try:
            if kind is None or self._live:
                self._show()
        finally:
            if self._bar is not None:
                self._bar.stop()
            elif self._live:
                self._file.write("\n")

    def _show(self) -> None:
        metrics = ", ".join(f"{name} {value:.4f}" for name, value in self.means.items())
        if self._bar is not None:
            self._bar.update(self._task, completed=self.items, metrics=metrics, refresh=True)
            return
        line = f"{self.description}: {self.items}/{self.total} items" + (f", {metrics}" if metrics else "")
        self._file.write(f"\r{line}" if self._live else f"{line}\n")
        self._file.flush()


def _rich_bar(file: TextIO) -> Any:
    """A rich progress display, or None where rich is not installed."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        return None
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[metrics]}")
    # update() redraws: no thread of rich's own has to be started and joined for each bar.
    return Progress(*columns, TimeElapsedColumn(), console=Console(file=file), auto_refresh=False)
