"""`PartialDataset`: a range of another data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from burn._arguments import integer
from burn.data.dataset.base import Dataset, size_of, source
from burn.errors import ArgumentError

T = TypeVar("T")


class PartialDataset(Dataset[T]):
    """View of the items `start_index` to `end_index - 1` of a data set (Burn: `PartialDataset`).

    Args:
        dataset: the data set to view.
        start_index: first item.
        end_index: one past the last item; cut at the end of the data set.

    Raises:
        ArgumentError: if `start_index` is negative or above `end_index`.

    Example:
        >>> from burn.data.dataset import InMemDataset
        >>> list(PartialDataset(InMemDataset("abcdef"), 2, 4))
        ['c', 'd']
    """

    def __init__(self, dataset: Dataset[T], start_index: int, end_index: int) -> None:
        source("PartialDataset", dataset)
        start_index = integer("PartialDataset", "start_index", start_index)
        end_index = integer("PartialDataset", "end_index", end_index)
        if not 0 <= start_index <= end_index:
            raise ArgumentError(
                "[PartialDataset] 'start_index' must be between 0 and 'end_index', "
                f"got start_index={start_index}, end_index={end_index}"
            )
        self._dataset = dataset
        self._start = start_index
        self._len = max(0, min(end_index, size_of(dataset)) - start_index)

    @classmethod
    def split(cls, dataset: Dataset[T], num: int) -> list[PartialDataset[T]]:
        """`num` contiguous parts of equal length; the last one also takes the rest.

        Args:
            dataset: the data set to view.
            num: number of parts, at least 1.

        Raises:
            ArgumentError: if `num` is not positive.

        >>> from burn.data.dataset import InMemDataset
        >>> [list(part) for part in PartialDataset.split(InMemDataset("abcde"), 2)]
        [['a', 'b'], ['c', 'd', 'e']]
        """
        bounds = split_bounds(size_of(source("split", dataset)), num)
        return [cls(dataset, start, end) for start, end in bounds]

    @classmethod
    def split_chunks(cls, dataset: Dataset[T], num: int, batch_size: int) -> list[PartialDataset[T]]:
        """At most `num` contiguous parts, cut where batches of `batch_size` end.

        Args:
            dataset: the data set to view.
            num: number of parts, at least 1.
            batch_size: number of items in a batch.

        Raises:
            ArgumentError: if `num` or `batch_size` is not positive.

        >>> from burn.data.dataset import InMemDataset
        >>> [list(part) for part in PartialDataset.split_chunks(InMemDataset("abcde"), 2, 2)]
        [['a', 'b', 'c', 'd'], ['e']]
        """
        num, batch_size = integer("split_chunks", "num", num, 1), integer("split_chunks", "batch_size", batch_size, 1)
        size = size_of(source("split_chunks", dataset))
        total = -(-size // batch_size)
        parts, start = [], 0
        for part in range(min(num, total)):
            end = start + (total // num + (part < total % num)) * batch_size
            parts.append(cls(dataset, start, min(end, size)))
            start = end
        return parts

    def get(self, index: int) -> T:
        return self._dataset.get(self._start + self.check_index(index))

    def get_many(self, indexes: Sequence[int]) -> list[T]:
        return self._dataset.get_many([self._start + self.check_index(index) for index in indexes])

    def __len__(self) -> int:
        return self._len


def split_bounds(size: int, num: int) -> list[tuple[int, int]]:
    """Bounds of `num` equal parts of `size` items, the rest in the last one."""
    integer("split", "num", num, 1)
    step = size // num
    return [(part * step, size if part == num - 1 else (part + 1) * step) for part in range(num)]
