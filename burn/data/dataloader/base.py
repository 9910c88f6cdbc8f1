"""`DataLoader`, its iterator, and `Progress`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from burn.device import Device

O = TypeVar("O")  # noqa: E741


@dataclass(frozen=True)
class Progress:
    """How far a pass has come (Burn: `Progress`).

    Args:
        items_processed: number of items handed out so far.
        items_total: number of items of the pass.
        unit: what is counted.

    Example:
        >>> Progress(2, 4, "items").is_completed()
        False
    """

    items_processed: int
    items_total: int
    unit: str | None = None

    def is_completed(self) -> bool:
        """Whether all items are processed."""
        return self.items_processed == self.items_total


class DataLoaderIterator(Iterator[O]):
    """One pass over a loader (Burn: `DataLoaderIterator`): gives batches; an error ends it.

    >>> from burn.data.dataloader import DataLoaderBuilder
    >>> from burn.data.dataset import InMemDataset
    >>> batches = iter(DataLoaderBuilder(lambda items, device: items).batch_size(2).build(InMemDataset("abc")))
    >>> next(batches), batches.progress()
    (['a', 'b'], Progress(items_processed=2, items_total=3, unit='items'))
    """

    @abstractmethod
    def progress(self) -> Progress:
        """How many items the batches given so far held."""


class DataLoader(ABC, Generic[O]):
    """Source of batches; each `iter()` is a new pass, and passes do not disturb each other (Burn: `DataLoader`).

    >>> from burn.data.dataloader import DataLoaderBuilder
    >>> from burn.data.dataset import InMemDataset
    >>> loader = DataLoaderBuilder(lambda items, device: items).batch_size(2).build(InMemDataset("abc"))
    >>> len(loader), loader.num_items(), list(loader), list(loader.slice(1, 3))
    (2, 3, [['a', 'b'], ['c']], [['b', 'c']])
    >>> batches = loader.to_device(burn.Device.flex()).iter()
    >>> next(batches), batches.progress().items_processed
    (['a', 'b'], 2)
    """

    @abstractmethod
    def iter(self) -> DataLoaderIterator[O]:
        """Start a pass."""

    @abstractmethod
    def num_items(self) -> int:
        """Number of items (not batches) of a pass."""

    @abstractmethod
    def to_device(self, device: Device) -> DataLoader[O]:
        """Loader of the same items whose batches are on `device`.

        Args:
            device: a Device.
        """

    @abstractmethod
    def slice(self, start: int, end: int) -> DataLoader[O]:
        """Loader of the items `start` to `end - 1` of the data set.

        Args:
            start: first item.
            end: position after the last item.
        """

    @abstractmethod
    def __len__(self) -> int:
        """Number of batches of a pass.

        Raises:
            TypeError: if the batch strategy has no fixed size.
        """

    def __iter__(self) -> DataLoaderIterator[O]:
        return self.iter()
