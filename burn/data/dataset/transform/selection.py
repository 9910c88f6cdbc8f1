"""`SelectionDataset` and `ShuffledDataset`: chosen items of another data set in a chosen order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from burn._arguments import instance, integer
from burn.data._rng import StdRng
from burn.data.dataset.base import Dataset, size_of, source
from burn.data.dataset.transform.options import RngSource
from burn.data.dataset.transform.partial import split_bounds
from burn.errors import OutOfBoundsError

T = TypeVar("T")


class SelectionDataset(Dataset[T]):
    """View of a data set through a list of indices, which may repeat (Burn: `SelectionDataset`).

    Made by the classmethods.

    Attributes:
        wrapped: the data set behind.
        indices: for each item of this view, its index in `wrapped`.

    Example:
        >>> from burn.data.dataset import InMemDataset
        >>> letters = InMemDataset("abcd")
        >>> list(SelectionDataset.from_indices_checked(letters, [2, 0, 2]))
        ['c', 'a', 'c']
        >>> SelectionDataset.from_indices_unchecked(letters, [1]).get(0)
        'b'
        >>> everything = SelectionDataset.new_select_all(letters)
        >>> list(everything.slice(1, 3)), [list(part) for part in everything.split(2)]
        (['b', 'c'], [['a', 'b'], ['c', 'd']])
        >>> everything.shuffle(42)
        >>> list(everything) == list(SelectionDataset.new_shuffled(letters, 42))
        True
    """

    def __init__(self, wrapped: Dataset[T], indices: Sequence[int]) -> None:
        self.wrapped = source("SelectionDataset", wrapped)
        if not isinstance(indices, range):
            indices = instance("SelectionDataset", "indices", indices, Iterable)
            indices = [integer("SelectionDataset", "indices", index) for index in indices]
        self.indices = list(indices)

    @classmethod
    def from_indices_checked(cls, dataset: Dataset[T], indices: Sequence[int]) -> SelectionDataset[T]:
        """View through `indices`.

        Args:
            dataset: the data set to view.
            indices: for each item of the view, its index in the data set.

        Raises:
            OutOfBoundsError: naming the first index outside the data set.
        """
        selection, size = cls(dataset, indices), size_of(dataset)
        for position, index in enumerate(selection.indices):
            if not 0 <= index < size:
                raise OutOfBoundsError(
                    f"[SelectionDataset] 'indices' must be in [0, {size}), got {index} at position {position}"
                )
        return selection

    @classmethod
    def from_indices_unchecked(cls, dataset: Dataset[T], indices: Sequence[int]) -> SelectionDataset[T]:
        """View through `indices`, which are checked when an item is read.

        Args:
            dataset: the data set to view.
            indices: for each item of the view, its index in the data set.
        """
        return cls(dataset, indices)

    @classmethod
    def new_select_all(cls, dataset: Dataset[T]) -> SelectionDataset[T]:
        """View of all items in order.

        Args:
            dataset: the data set to view.
        """
        return cls(dataset, range(size_of(source("SelectionDataset", dataset))))

    @classmethod
    def new_shuffled(cls, dataset: Dataset[T], rng_source: RngSource | int = RngSource.Default) -> SelectionDataset[T]:
        """View of all items in a random order, fixed now.

        Args:
            dataset: the data set to view.
            rng_source: a `RngSource`, a seed or a generator.
        """
        selection = cls.new_select_all(dataset)
        selection.shuffle(rng_source)
        return selection

    def shuffle(self, rng_source: RngSource | StdRng | int = RngSource.Default) -> None:
        """Shuffle the present indices in place.

        Args:
            rng_source: a `RngSource`, a seed or a generator.
        """
        RngSource.resolve(rng_source).shuffle(self.indices)

    def slice(self, start: int, end: int) -> SelectionDataset[T]:
        """View of the items `start` to `end - 1` of this one; later shuffles of either leave the other as it is.

        Args:
            start: first item.
            end: position after the last item.

        Raises:
            OutOfBoundsError: unless `0 <= start <= end <= len(self)`.
        """
        start, end = integer("slice", "start", start), integer("slice", "end", end)
        if not 0 <= start <= end <= len(self):
            raise OutOfBoundsError(f"[slice] the range must lie in [0, {len(self)}], got start={start}, end={end}")
        return SelectionDataset(self.wrapped, self.indices[start:end])

    def split(self, num: int) -> list[SelectionDataset[T]]:
        """`num` contiguous parts of equal length; the last one also takes the rest.

        Args:
            num: number of parts, at least 1.
        """
        return [self.slice(start, end) for start, end in split_bounds(len(self), num)]

    def get(self, index: int) -> T:
        return self.wrapped.get(self.indices[self.check_index(index)])

    def get_many(self, indexes: Sequence[int]) -> list[T]:
        return self.wrapped.get_many([self.indices[self.check_index(index)] for index in indexes])

    def __len__(self) -> int:
        return len(self.indices)


class ShuffledDataset(SelectionDataset[T]):
    """View of a data set in a random order, fixed when it is made (Burn: `ShuffledDataset`).

    Args:
        dataset: the data set to view.
        rng_source: `RngSource.Default` (seeded by the operating system), a seed, or a generator.

    Example:
        >>> from burn.data.dataset import InMemDataset
        >>> list(ShuffledDataset(InMemDataset(range(10)), 42))
        [8, 6, 3, 2, 1, 5, 9, 7, 4, 0]
    """

    def __init__(self, dataset: Dataset[T], rng_source: RngSource | StdRng | int = RngSource.Default) -> None:
        super().__init__(dataset, range(size_of(source("ShuffledDataset", dataset))))
        self.shuffle(rng_source)
