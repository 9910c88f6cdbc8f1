"""`BatchDataLoader`: batches made in the calling thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from burn._arguments import device as check_device
from burn.data._rng import StdRng
from burn.data.dataloader.base import DataLoader, DataLoaderIterator, Progress
from burn.data.dataloader.batcher import make_batch
from burn.data.dataloader.strategy import BatchStrategy, FixBatchStrategy
from burn.data.dataset import Dataset, PartialDataset, RngSource, ShuffledDataset
from burn.data.dataset.base import size_of
from burn.errors import ArgumentTypeError

if TYPE_CHECKING:
    from burn.device import Device

O = TypeVar("O")  # noqa: E741


class DeviceRng:
    """The generator of a device as the source of a shuffle: each pass takes its seed from it.

    Args:
        device: whose generator is used; `device.seed` fixes the order of the passes that follow.
    """

    def __init__(self, device: Device) -> None:
        self._device = device

    def fork(self) -> StdRng:
        """Generator seeded by the next numbers of the device's."""
        return StdRng.seed_from_u64(self._device._random_u64())


class BatchDataLoader(DataLoader[O]):
    """Loader that reads and batches in the calling thread (Burn: `BatchDataLoader`); made by `DataLoaderBuilder`.

    Args:
        strategy: when items make a batch.
        dataset: the items.
        batcher: a `Batcher`, or a callable that takes a list of items and a device.
        device: where batches are made.
        rng: generator of the order, which is new in each pass; None keeps the order of the data set.

    >>> from burn.data.dataset import InMemDataset
    >>> from burn.data.dataloader import FixBatchStrategy
    >>> device = burn.Device.flex()
    >>> list(BatchDataLoader(FixBatchStrategy(2), InMemDataset("abc"), lambda items, device: "".join(items), device))
    ['ab', 'c']
    """

    def __init__(
        self,
        strategy: BatchStrategy,
        dataset: Dataset,
        batcher: Callable[[list, Device], O],
        device: Device,
        rng: StdRng | DeviceRng | None = None,
    ) -> None:
        self._strategy = strategy
        self._dataset = dataset
        self._batcher = batcher
        self._device = device
        self._rng = rng

    def iter(self) -> DataLoaderIterator[O]:
        return _BatchIterator(self._ordered(), self._strategy.clone_dyn(), self._batcher, self._device)

    def num_items(self) -> int:
        return size_of(self._dataset)

    def to_device(self, device: Device) -> DataLoader[O]:
        device = check_device("to_device", device)
        rng = DeviceRng(device) if isinstance(self._rng, DeviceRng) else self._forked()
        return self._derived(self._dataset, device, rng)

    def slice(self, start: int, end: int) -> DataLoader[O]:
        return self._derived(PartialDataset(self._dataset, start, end), self._device, self._forked())

    def __len__(self) -> int:
        if not isinstance(self._strategy, FixBatchStrategy):
            raise ArgumentTypeError(
                f"[len] {type(self._strategy).__name__} has no fixed batch size; num_items() is the number of items"
            )
        return len(self._strategy.bounds(size_of(self._dataset)))

    def __repr__(self) -> str:
        shuffled = ", shuffled" if self._rng is not None else ""
        return f"{type(self).__name__}({self.num_items()} items{shuffled}, device={self._device})"

    def _ordered(self) -> Dataset:
        """The data set in the order of the next pass."""
        if self._rng is None:
            return self._dataset
        return ShuffledDataset(self._dataset, RngSource.Rng(self._rng.fork()))

    def _forked(self) -> StdRng | DeviceRng | None:
        return self._rng.fork() if isinstance(self._rng, StdRng) else self._rng

    def _derived(self, dataset: Dataset, device: Device, rng: StdRng | DeviceRng | None) -> DataLoader[O]:
        return BatchDataLoader(self._strategy.clone_dyn(), dataset, self._batcher, device, rng)


class _BatchIterator(DataLoaderIterator[O]):
    def __init__(self, dataset: Dataset, strategy: BatchStrategy, batcher: Callable, device: Device) -> None:
        self._total = size_of(dataset)
        self._processed = 0
        self._lists = read_lists(dataset, strategy)
        self._batcher = batcher
        self._device = device

    def __next__(self) -> O:
        items, end = next(self._lists)
        try:
            batch = make_batch(self._batcher, items, self._device, end)
        except BaseException:
            self._lists.close()
            raise
        self._processed = end
        return batch

    def progress(self) -> Progress:
        return Progress(self._processed, self._total, "items")


def read_lists(dataset: Dataset, strategy: BatchStrategy) -> Iterator[tuple[list, int]]:
    """The item lists of the batches of a pass, each with the position after its last item."""
    size, step, end = len(dataset), strategy.batch_size() or 1, 0
    while end < size:
        start, end = end, min(end + step, size)
        for item in dataset.get_many(range(start, end)):
            strategy.add(item)
        if items := strategy.batch(False):
            yield items, end
    while items := strategy.batch(True):
        yield items, end
