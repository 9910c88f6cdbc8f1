"""The `Dataset` interface: what every data set offers, and how a failing item is reported."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from burn._arguments import instance, integer, shown
from burn.errors import ArgumentTypeError, DatasetError, OutOfBoundsError

T = TypeVar("T")


class Dataset(ABC, Generic[T]):
    """Sized collection of items with random access (Burn: `Dataset`).

    A data set of one's own defines `get` and `__len__`; one that reads many items in one go also defines `get_many`.
    Loaders with workers call it from several threads. An item that cannot be read raises (`DatasetError`, or whatever
    the reader raised); an index outside the data set raises `IndexError`.

    Example:
        >>> class Squares(Dataset[int]):
        ...     def get(self, index: int) -> int:
        ...         return self.check_index(index) ** 2
        ...     def __len__(self) -> int:
        ...         return 4
        >>> squares = Squares()
        >>> list(squares.iter()), squares[-1], squares.get_many([3, 0]), squares.is_empty(), squares.window(1, 2)
        ([0, 1, 4, 9], 9, [9, 0], False, [1, 4])
    """

    @abstractmethod
    def get(self, index: int) -> T:
        """Item at `index`, counted from 0.

        Args:
            index: the position.

        Raises:
            IndexError: if `index` is negative or not below `len(self)`.
        """

    @abstractmethod
    def __len__(self) -> int:
        """Number of items."""

    def get_many(self, indexes: Sequence[int]) -> list[T]:
        """Items at `indexes`, in the order asked; an index may come more than once.

        Args:
            indexes: the positions.

        Raises:
            IndexError: if an index is outside the data set.
            Exception: whatever the first failing item raised, with a note that names its index.
        """
        get = self.get
        items = []
        for index in indexes:
            try:
                items.append(get(index))
            except Exception as error:
                note_item(error, index, self)
                raise
        return items

    def is_empty(self) -> bool:
        """Whether the data set has no item."""
        return size_of(self) == 0

    def iter(self) -> DatasetIterator[T]:
        """Iterator over all items in order."""
        return DatasetIterator(self)

    def __iter__(self) -> Iterator[T]:
        return DatasetIterator(self)

    def __getitem__(self, index: int) -> T:
        if isinstance(index, slice):
            raise ArgumentTypeError(
                f"[{type(self).__name__}] 'index' must be an int, got a slice; "
                "use PartialDataset(dataset, start, end) for a view, get_many(range(start, end)) for the items"
            )
        index = integer(type(self).__name__, "index", index)
        return self.get(index + len(self) if -len(self) <= index < 0 else index)

    def window(self, current: int, size: int) -> list[T] | None:
        """Items `current` to `current + size - 1`, or None where they would pass the end.

        Args:
            current: the first position.
            size: number of items, at least 1.

        Raises:
            ArgumentError: if `size` is not positive.
        """
        check_window(size)
        integer("window", "current", current, 0)
        return None if current + size > len(self) else self.get_many(range(current, current + size))

    def windows(self, size: int) -> Iterator[list[T]]:
        """Iterator over all overlapping windows of `size` items, one step apart.

        Args:
            size: number of items, at least 1.

        Example:
            >>> from burn.data.dataset import InMemDataset
            >>> list(InMemDataset([1, 2, 3, 4]).windows(3))
            [[1, 2, 3], [2, 3, 4]]
        """
        check_window(size)
        return (self.get_many(range(start, start + size)) for start in range(size_of(self) - size + 1))

    def check_index(self, index: int) -> int:
        """Return `index`, after checking that it lies in `[0, len(self))`.

        Args:
            index: the position.

        Raises:
            OutOfBoundsError: if it does not, naming the data set and its size.
            ArgumentTypeError: if it is no integer.
        """
        if type(index) is not int:
            index = integer(type(self).__name__, "index", index)
        if not 0 <= index < len(self):
            raise OutOfBoundsError(f"[{type(self).__name__}] 'index' must be in [0, {len(self)}), got {index}")
        return index

    def __repr__(self) -> str:
        return f"{type(self).__name__}(len={len(self)})"


class DatasetIterator(Iterator[T]):
    """Iterator over a data set, whose length it reads once (Burn: `DatasetIterator`).

    A failing item raises and the next call goes on with the item after it.

    Args:
        dataset: the data set to walk.

    >>> from burn.data.dataset import InMemDataset
    >>> list(DatasetIterator(InMemDataset("ab")))
    ['a', 'b']
    """

    def __init__(self, dataset: Dataset[T]) -> None:
        self._dataset = dataset
        self._current = 0
        self._len = size_of(dataset)

    def __next__(self) -> T:
        if self._current >= self._len:
            raise StopIteration
        index = self._current
        self._current += 1
        try:
            return self._dataset.get(index)
        except Exception as error:
            note_item(error, index, self._dataset)
            raise


def size_of(dataset: Dataset) -> int:
    """Length of a data set.

    Raises:
        DatasetError: if it is no integer of at least 0, which `len` would say without naming the data set.
    """
    size = type(dataset).__len__(dataset)
    if not hasattr(size, "__index__") or size < 0:
        raise DatasetError(
            f"[{type(dataset).__name__}] '__len__' must return an integer of at least 0, got {shown(size)}"
        )
    return int(size)


def source(op: str, dataset: Dataset) -> Dataset:
    """The data set that another one is made from; raises where it is none."""
    return instance(op, "dataset", dataset, Dataset, "wrap a list in InMemDataset(items)")


def note_item(error: Exception, index: int, dataset: object) -> None:
    """Name the item in an error about to be raised again, by a note: type and text stay as they are.

    The note of the innermost data set stays alone: it has the index in the data itself.

    Raises:
        DatasetError: for a `StopIteration`; passed on, it would end the caller's loop without a word.
    """
    name = type(dataset).__name__
    if isinstance(error, StopIteration):
        raise DatasetError(
            f"[{name}] item {index} raised StopIteration; an item that cannot be read must raise an error"
        ) from error
    if not any(note.startswith("while reading item") for note in getattr(error, "__notes__", ())):
        error.add_note(f"while reading item {index} of {name}")


def check_window(size: int) -> None:
    """Refuse a window without items."""
    integer("window", "size", size, 1)


def mapped(mapper: Callable, items: Sequence, indexes: Sequence[int], dataset: object) -> list:
    """`mapper` applied to `items`, the index named where it fails."""
    results = []
    for item, index in zip(items, indexes):
        try:
            results.append(mapper(item))
        except Exception as error:
            note_item(error, index, dataset)
            raise
    return results
