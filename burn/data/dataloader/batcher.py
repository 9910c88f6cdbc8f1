"""`Batcher`: a list of items to one batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from burn.errors import DatasetError

if TYPE_CHECKING:
    from burn.device import Device

I = TypeVar("I")  # noqa: E741
O = TypeVar("O")  # noqa: E741


class Batcher(ABC, Generic[I, O]):
    """Function from a list of items to a batch on a device (Burn: `Batcher`); a plain callable serves as well.

    A loader with workers calls it from several threads at the same time.

    Example:
        >>> class Stack(Batcher[int, list]):
        ...     def batch(self, items, device):
        ...         return list(items)
        >>> Stack()([1, 2], None)
        [1, 2]
    """

    @abstractmethod
    def batch(self, items: list[I], device: Device) -> O:
        """The batch of `items`, with its tensors on `device`.

        Args:
            items: the items.
            device: where the batch is to be.
        """

    def __call__(self, items: list[I], device: Device) -> O:
        return self.batch(items, device)


def make_batch(batcher: Callable[[list, Device], O], items: list, device: Device, end: int) -> O:
    """The batch of the `len(items)` items before position `end` of a pass, which an error names."""
    try:
        return batcher(items, device)
    except StopIteration as error:
        raise DatasetError(
            "[dataloader] the batcher raised StopIteration; it must return a batch or raise an error"
        ) from error
    except Exception as error:
        error.add_note(f"while batching items {end - len(items)} to {end - 1} of the pass")
        raise
