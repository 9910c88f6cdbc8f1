"""`ComposedDataset`: several data sets one after the other."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import TypeVar

from burn._arguments import instance
from burn.data.dataset.base import Dataset, size_of, source

T = TypeVar("T")


class ComposedDataset(Dataset[T]):
    """Concatenation of data sets (Burn: `ComposedDataset`); their lengths are read once.

    Args:
        datasets: the parts, in order; empty ones count for nothing.

    Example:
        >>> from burn.data.dataset import InMemDataset
        >>> list(ComposedDataset([InMemDataset([1]), InMemDataset([2, 3])]))
        [1, 2, 3]
    """

    def __init__(self, datasets: Iterable[Dataset[T]]) -> None:
        datasets = instance("ComposedDataset", "datasets", datasets, Iterable)
        self._datasets = [source("ComposedDataset", dataset) for dataset in datasets]
        self._ends = list(accumulate(size_of(dataset) for dataset in self._datasets))

    def get(self, index: int) -> T:
        part = bisect_right(self._ends, self.check_index(index))
        return self._datasets[part].get(index - (self._ends[part - 1] if part else 0))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0
