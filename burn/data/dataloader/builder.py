"""`DataLoaderBuilder`: the settings of a loader."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from burn._arguments import device as check_device
from burn._arguments import instance, integer
from burn.data._rng import StdRng
from burn.data.dataloader.base import DataLoader
from burn.data.dataloader.batch import BatchDataLoader, DeviceRng
from burn.data.dataloader.multithread import MultiThreadDataLoader
from burn.data.dataloader.strategy import FixBatchStrategy
from burn.data.dataset import Dataset
from burn.data.dataset.base import size_of
from burn.errors import ArgumentTypeError

if TYPE_CHECKING:
    from burn.device import Device

I = TypeVar("I")  # noqa: E741
O = TypeVar("O")  # noqa: E741


class DataLoaderBuilder(Generic[I, O]):
    """Builder of loaders (Burn: `DataLoaderBuilder`); each setter returns a changed copy.

    Args:
        batcher: a `Batcher`, or a callable that takes a list of items and a device and returns a batch.

    Example:
        >>> from burn.data.dataset import InMemDataset
        >>> builder = DataLoaderBuilder(lambda items, device: items).batch_size(2)
        >>> list(builder.build(InMemDataset([1, 2, 3]))), list(builder.drop_last().build(InMemDataset([1, 2, 3])))
        ([[1, 2], [3]], [[1, 2]])
        >>> list(builder.shuffle(42).num_workers(2).set_device(burn.Device.flex()).build(InMemDataset([1, 2, 3])))
        [[1, 2], [3]]
    """

    def __init__(self, batcher: Callable[[list[I], Device], O]) -> None:
        if not callable(batcher):
            raise ArgumentTypeError(
                f"[DataLoaderBuilder] 'batcher' must be a Batcher or a callable, got {type(batcher).__name__}"
            )
        self._batcher = batcher
        self._batch_size = 1
        self._drop_last = False
        self._shuffle = False
        self._seed: int | None = None
        self._num_workers = 0
        self._device: Device | None = None

    def batch_size(self, batch_size: int) -> DataLoaderBuilder[I, O]:
        """Number of items in a batch (1 by default).

        Args:
            batch_size: at least 1.

        Raises:
            ArgumentError: if it is not positive.
        """
        return self._with(_batch_size=integer("batch_size", "batch_size", batch_size, 1))

    def drop_last(self, drop_last: bool = True) -> DataLoaderBuilder[I, O]:
        """Leave out a last batch with fewer items (not in Burn).

        Args:
            drop_last: whether to.
        """
        return self._with(_drop_last=instance("drop_last", "drop_last", drop_last, bool))

    def shuffle(self, seed: int | None = None) -> DataLoaderBuilder[I, O]:
        """Read the items in a new random order in each pass.

        Args:
            seed: fixes the orders of all passes, to those of Burn with this seed and no workers. Without one, each pass
                takes its seed from the generator of the loader's device, which `device.seed` fixes.

        Raises:
            ArgumentError: if it does not fit 64 bits, or is negative.
        """
        if seed is not None:
            seed = integer("shuffle", "seed", seed, 0, (1 << 64) - 1)
        return self._with(_shuffle=True, _seed=seed)

    def num_workers(self, num_workers: int) -> DataLoaderBuilder[I, O]:
        """Number of threads that make batches; 0, the default, makes them in the calling thread.

        Args:
            num_workers: at least 0.

        Raises:
            ArgumentError: if it is negative.
        """
        return self._with(_num_workers=integer("num_workers", "num_workers", num_workers, 0))

    def set_device(self, device: Device | None) -> DataLoaderBuilder[I, O]:
        """Device of the batches; the default device when not set, or None."""
        return self._with(_device=device if device is None else check_device("set_device", device))

    def build(self, dataset: Dataset[I]) -> DataLoader[O]:
        """Loader of the items of `dataset`.

        Args:
            dataset: the items.

        Raises:
            ArgumentTypeError: if `dataset` is not a `Dataset`.
            DatasetError: if its length is no integer of at least 0.
        """
        if not isinstance(dataset, Dataset):
            raise ArgumentTypeError(
                f"[build] 'dataset' must be a Dataset, got {type(dataset).__name__}; wrap a list in InMemDataset(items)"
            )
        size_of(dataset)
        device = check_device("build", self._device)
        rng = None
        if self._shuffle:
            rng = DeviceRng(device) if self._seed is None else StdRng.seed_from_u64(self._seed)
        strategy: FixBatchStrategy = FixBatchStrategy(self._batch_size, self._drop_last)
        if self._num_workers == 0:
            return BatchDataLoader(strategy, dataset, self._batcher, device, rng)
        return MultiThreadDataLoader(strategy, dataset, self._batcher, self._num_workers, device, rng)

    def _with(self, **settings) -> DataLoaderBuilder[I, O]:
        builder = copy.copy(self)
        vars(builder).update(settings)
        return builder
