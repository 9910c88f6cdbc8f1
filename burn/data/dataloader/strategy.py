"""`BatchStrategy`: when enough items are there for a batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from burn._arguments import instance, integer

I = TypeVar("I")  # noqa: E741


class BatchStrategy(ABC, Generic[I]):
    """Collector of items that decides when they make a batch (Burn: `BatchStrategy`).

    Example: batches of at most 10 letters.

        >>> class ByLength(BatchStrategy[str]):
        ...     def __init__(self):
        ...         self.items = []
        ...     def add(self, item):
        ...         self.items.append(item)
        ...     def batch(self, force):
        ...         if not self.items or (not force and sum(map(len, self.items)) < 10):
        ...             return None
        ...         items, self.items = self.items, []
        ...         return items
        ...     def clone_dyn(self):
        ...         return ByLength()
    """

    @abstractmethod
    def add(self, item: I) -> None:
        """Take one more item.

        Args:
            item: the item.
        """

    @abstractmethod
    def batch(self, force: bool) -> list[I] | None:
        """Give the items of a batch and forget them, or None while there are too few.

        Args:
            force: whether no item will follow: then whatever is held makes a batch.
        """

    @abstractmethod
    def clone_dyn(self) -> BatchStrategy[I]:
        """A fresh collector with the same rule and no items."""

    def batch_size(self) -> int | None:
        """Number of items in a batch where it is fixed.

        >>> FixBatchStrategy(2).batch_size()
        2
        """
        return None


class FixBatchStrategy(BatchStrategy[I]):
    """Batches of a fixed number of items, the last one with what is left (Burn: `FixBatchStrategy`).

    Args:
        batch_size: number of items in a batch.
        drop_last: whether a last batch with fewer items is left out.

    Raises:
        ArgumentError: if `batch_size` is not positive.

    Example:
        >>> strategy = FixBatchStrategy(2)
        >>> strategy.add("a")
        >>> strategy.batch(force=False), strategy.batch(force=True)
        (None, ['a'])
    """

    def __init__(self, batch_size: int, drop_last: bool = False) -> None:
        self._batch_size = integer("FixBatchStrategy", "batch_size", batch_size, 1)
        self._drop_last = instance("FixBatchStrategy", "drop_last", drop_last, bool)
        self._items: list[I] = []

    def add(self, item: I) -> None:
        self._items.append(item)

    def batch(self, force: bool) -> list[I] | None:
        if len(self._items) < self._batch_size and (not force or self._drop_last or not self._items):
            return None
        items, self._items = self._items, []
        return items

    def clone_dyn(self) -> FixBatchStrategy[I]:
        return FixBatchStrategy(self._batch_size, self._drop_last)

    def batch_size(self) -> int:
        return self._batch_size

    def bounds(self, size: int) -> list[tuple[int, int]]:
        """First item and end of every batch of a data set of `size` items.

        Args:
            size: number of items.

        >>> FixBatchStrategy(2).bounds(5), FixBatchStrategy(2, drop_last=True).bounds(5)
        ([(0, 2), (2, 4), (4, 5)], [(0, 2), (2, 4)])
        """
        last = size - size % self._batch_size if self._drop_last else size
        return [(start, min(start + self._batch_size, size)) for start in range(0, last, self._batch_size)]
