"""`MultiThreadDataLoader`: batches made by threads, delivered in order."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from burn._arguments import integer
from burn.data._rng import StdRng
from burn.data.dataloader.base import DataLoader, DataLoaderIterator, Progress
from burn.data.dataloader.batch import BatchDataLoader, DeviceRng, read_lists
from burn.data.dataloader.batcher import make_batch
from burn.data.dataloader.strategy import BatchStrategy, FixBatchStrategy
from burn.data.dataset import Dataset
from burn.errors import ExecutionError

if TYPE_CHECKING:
    from burn.device import Device

O = TypeVar("O")  # noqa: E741

_AHEAD = 2  # batches a worker may be ahead of the consumer


class MultiThreadDataLoader(BatchDataLoader[O]):
    """Loader whose batches are made by background threads (Burn: `MultiThreadDataLoader`).

    It gives the batches of `BatchDataLoader` in the same order, whatever the number of threads (Burn delivers in order
    of completion). Threads start with a pass and end with it, also when the pass is left early. With a strategy other
    than `FixBatchStrategy` the items are read by the consumer and only batched by the threads.

    Args:
        strategy: when items make a batch.
        dataset: the items; read from several threads.
        batcher: a `Batcher`, or a callable that takes a list of items and a device; called from several threads.
        num_threads: number of threads.
        device: where batches are made.
        rng: generator of the order, which is new in each pass; None keeps the order of the data set.

    Raises:
        ArgumentError: if `num_threads` is not positive.

    >>> from burn.data.dataset import InMemDataset
    >>> from burn.data.dataloader import FixBatchStrategy
    >>> device = burn.Device.flex()
    >>> list(MultiThreadDataLoader(FixBatchStrategy(2), InMemDataset("abc"), lambda items, device: "".join(items), 2, device))
    ['ab', 'c']
    """

    def __init__(
        self,
        strategy: BatchStrategy,
        dataset: Dataset,
        batcher: Callable[[list, Device], O],
        num_threads: int,
        device: Device,
        rng: StdRng | DeviceRng | None = None,
    ) -> None:
        num_threads = integer("MultiThreadDataLoader", "num_threads", num_threads, 1)
        super().__init__(strategy, dataset, batcher, device, rng)
        self._num_threads = num_threads

    def iter(self) -> DataLoaderIterator[O]:
        dataset = self._ordered()
        strategy = self._strategy.clone_dyn()
        batcher, device = self._batcher, self._device
        if type(strategy) is FixBatchStrategy:
            tasks: Iterator = iter(strategy.bounds(len(dataset)))
            count = len(strategy.bounds(len(dataset)))

            def make(task: tuple[int, int]) -> tuple[Any, int]:
                start, end = task
                return make_batch(batcher, dataset.get_many(range(start, end)), device, end), end
        else:
            tasks, count = read_lists(dataset, strategy), len(dataset)

            def make(task: tuple[list, int]) -> tuple[Any, int]:
                items, end = task
                return make_batch(batcher, items, device, end), end

        return _ThreadedIterator(tasks, make, min(self._num_threads, count), len(dataset))

    def _derived(self, dataset: Dataset, device: Device, rng: StdRng | DeviceRng | None) -> DataLoader[O]:
        return MultiThreadDataLoader(self._strategy.clone_dyn(), dataset, self._batcher, self._num_threads, device, rng)


class _Stop:
    """Flag that tells the threads of a pass to end."""

    asked = False


class _ThreadedIterator(DataLoaderIterator[O]):
    """One pass. Numbered tasks go to the threads, numbered results come back and are put in order here.

    Threads never hold the iterator, so dropping it ends them. `SimpleQueue` is safe to use from `__del__`.
    """

    def __init__(self, tasks: Iterator, make: Callable[[Any], tuple[O, int]], num_threads: int, total: int) -> None:
        self._source = tasks
        self._tasks: SimpleQueue = SimpleQueue()
        self._done: SimpleQueue = SimpleQueue()
        self._stop = _Stop()
        self._early: dict[int, tuple] = {}
        self._sent = self._received = self._processed = 0
        self._total = total
        self._process = os.getpid()
        self._threads = [
            threading.Thread(
                target=_work, args=(make, self._tasks, self._done, self._stop), name=f"dataloader-{i}", daemon=True
            )
            for i in range(num_threads)
        ]
        for thread in self._threads:
            thread.start()
        for _ in range(_AHEAD * num_threads):
            self._send()

    def __next__(self) -> O:
        if self._received == self._sent:
            self.close()
            raise StopIteration
        if os.getpid() != self._process:
            raise ExecutionError(
                "[dataloader] a pass started before a fork cannot go on in the child; start one there with iter()"
            )
        while self._received not in self._early:
            number, *result = self._done.get()
            self._early[number] = tuple(result)
        batch, end, error = self._early.pop(self._received)
        if error is not None:
            self._received = self._sent
            self._ask_to_stop()
            raise error
        self._received += 1
        self._processed = end
        self._send()
        return batch

    def progress(self) -> Progress:
        return Progress(self._processed, self._total, "items")

    def close(self) -> None:
        """End the pass and wait for its threads."""
        self._received = self._sent
        self._ask_to_stop()
        for thread in self._threads:
            thread.join()

    def _send(self) -> None:
        try:
            task = next(self._source, None)
        except Exception as error:  # shown when its turn comes, after the batches before it
            self._done.put((self._sent, None, 0, error))
        else:
            if task is None:
                return
            self._tasks.put((self._sent, task))
        self._sent += 1

    def _ask_to_stop(self) -> None:
        self._stop.asked = True
        for _ in self._threads:
            self._tasks.put(None)

    def __del__(self) -> None:
        if hasattr(self, "_threads"):
            self._ask_to_stop()


def _work(make: Callable, tasks: SimpleQueue, done: SimpleQueue, stop: _Stop) -> None:
    """Body of a thread: any exception is a result, so that the consumer never waits for a thread that ended."""
    while (numbered := tasks.get()) is not None and not stop.asked:
        number, task = numbered
        try:
            result = (*make(task), None)
        except BaseException as error:
            result = (None, 0, error)
        done.put((number, *result))
        del numbered, task, result  # a batch that the consumer drops is freed at once
