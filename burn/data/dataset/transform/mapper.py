"""`MapperDataset`: each item changed by a function when it is read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from burn.data.dataset.base import Dataset, mapped, source
from burn.errors import ArgumentTypeError

I = TypeVar("I")  # noqa: E741
O = TypeVar("O")  # noqa: E741


class Mapper(ABC, Generic[I, O]):
    """Function from one item to another (Burn: `Mapper`); a plain callable serves as well.

    >>> class Double(Mapper[int, int]):
    ...     def map(self, item):
    ...         return 2 * item
    >>> Double()(3)
    6
    """

    @abstractmethod
    def map(self, item: I) -> O:
        """The mapped item.

        Args:
            item: the item.
        """

    def __call__(self, item: I) -> O:
        return self.map(item)


class MapperDataset(Dataset[O]):
    """View of a data set whose items pass through a mapper each time they are read (Burn: `MapperDataset`).

    Args:
        dataset: the data set to view.
        mapper: a `Mapper` or a callable with one argument.

    Example:
        >>> from burn.data.dataset import InMemDataset
        >>> MapperDataset(InMemDataset([1, 2]), lambda x: 10 * x).get(1)
        20
    """

    def __init__(self, dataset: Dataset[I], mapper: Mapper[I, O] | Callable[[I], O]) -> None:
        if not callable(mapper):
            raise ArgumentTypeError(
                f"[MapperDataset] 'mapper' must be a Mapper or a callable, got {type(mapper).__name__}"
            )
        self._dataset = source("MapperDataset", dataset)
        self._mapper = mapper

    def get(self, index: int) -> O:
        return self._mapper(self._dataset.get(index))

    def get_many(self, indexes: Sequence[int]) -> list[O]:
        return mapped(self._mapper, self._dataset.get_many(indexes), indexes, self)

    def __len__(self) -> int:
        return len(self._dataset)
