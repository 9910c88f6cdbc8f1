"""`ConfusionMatrix`: which class was taken for which."""

from __future__ import annotations

from typing import Any

import numpy as np

from burn._arguments import integer
from burn.errors import ArgumentTypeError, OutOfBoundsError, ShapeError


class ConfusionMatrix:
    """Counts of (true class, predicted class) over any number of batches.

    Args:
        num_classes: number of classes.

    Attributes:
        counts: `[num_classes, num_classes]` integers; row = true class, column = predicted class.

    Example:
        >>> matrix = ConfusionMatrix(2)
        >>> matrix.update([0, 1, 1], [0, 1, 0])
        >>> matrix.accuracy
        0.6666666666666666
        >>> print(matrix)
        true \\ predicted  0  1
                       0  1  1
                       1  .  1
    """

    def __init__(self, num_classes: int) -> None:
        num_classes = integer("ConfusionMatrix", "num_classes", num_classes, 1)
        self.counts = np.zeros((num_classes, num_classes), np.int64)

    def update(self, predictions: Any, targets: Any) -> None:
        """Count a batch.

        Args:
            predictions: predicted classes, any shape: an Int tensor or anything that NumPy takes.
            targets: true classes, with as many elements.

        Raises:
            ShapeError: if the numbers of elements differ.
            OutOfBoundsError: if a class is outside `[0, num_classes)`.
        """
        predicted, true = (np.asarray(values).reshape(-1) for values in (predictions, targets))
        if predicted.size != true.size:
            raise ShapeError(
                f"[ConfusionMatrix] 'predictions' must have the size of 'targets', got {predicted.size} and {true.size}"
            )
        classes = len(self.counts)
        for name, values in (("predictions", predicted), ("targets", true)):
            if values.size and values.dtype.kind not in "iu":
                raise ArgumentTypeError(f"[ConfusionMatrix] '{name}' must be integers, got {values.dtype}")
            wrong = values[(values < 0) | (values >= classes)]
            if wrong.size:
                raise OutOfBoundsError(f"[ConfusionMatrix] '{name}' must be in [0, {classes}), got {wrong[0]}")
        np.add.at(self.counts, (true, predicted), 1)

    @property
    def accuracy(self) -> float:
        """Share of right predictions; NaN before the first one."""
        total = self.counts.sum()
        return float(np.trace(self.counts) / total) if total else float("nan")

    def __str__(self) -> str:
        corner = "true \\ predicted"
        cells = [[str(count) if count else "." for count in row] for row in self.counts.tolist()]
        width = max(len(cell) for row in [*cells, [str(len(cells) - 1)]] for cell in row) + 2
        lines = [corner + "".join(f"{label:>{width}}" for label in range(len(cells)))]
        lines += [
            f"{label:>{len(corner)}}" + "".join(f"{cell:>{width}}" for cell in row) for label, row in enumerate(cells)
        ]
        return "\n".join(lines)
