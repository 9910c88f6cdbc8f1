"""`WindowsDataset`: overlapping runs of items."""

from __future__ import annotations

from typing import TypeVar

from burn.data.dataset.base import Dataset, check_window, source

T = TypeVar("T")


class WindowsDataset(Dataset[list[T]]):
    """Data set of all windows of `size` neighbouring items (Burn: `WindowsDataset`).

    Args:
        dataset: the source.
        size: number of items in a window.

    Raises:
        ArgumentError: if `size` is not positive.

    Example:
        >>> from burn.data.dataset import InMemDataset
        >>> WindowsDataset(InMemDataset([1, 2, 3, 4]), 3).get(1)
        [2, 3, 4]
    """

    def __init__(self, dataset: Dataset[T], size: int) -> None:
        check_window(size)
        self._dataset = source("WindowsDataset", dataset)
        self.size = size

    def get(self, index: int) -> list[T]:
        return self._dataset.get_many(range(self.check_index(index), index + self.size))

    def __len__(self) -> int:
        return max(0, len(self._dataset) - self.size + 1)
