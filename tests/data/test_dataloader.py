import gc
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from burn import Device
from burn.data.dataloader import (
    BatchDataLoader,
    Batcher,
    BatchStrategy,
    DataLoaderBuilder,
    FixBatchStrategy,
    MultiThreadDataLoader,
    Progress,
    split_dataloader,
)
from burn.data.dataset import Dataset, InMemDataset, SelectionDataset
from burn.errors import ArgumentError, ArgumentTypeError, DatasetError

WORKERS = [0, 1, 2, 3, 7]
A, B = Device.flex(), Device.ndarray()


class ListBatcher(Batcher):
    def batch(self, items, device):
        return items


class Failing(Dataset):
    def __init__(self, error):
        self.error = error

    def get(self, index):
        if self.check_index(index) == 5:
            raise self.error
        return index

    def __len__(self):
        return 10


class UpTo(BatchStrategy):
    """Batches whose items sum to at least 10."""

    def __init__(self):
        self.items = []

    def add(self, item):
        self.items.append(item)

    def batch(self, force):
        if sum(self.items) < 10 and not (force and self.items):
            return None
        items, self.items = self.items, []
        return items

    def clone_dyn(self):
        return UpTo()


def builder(workers=0, batch_size=4):
    return DataLoaderBuilder(ListBatcher()).batch_size(batch_size).num_workers(workers)


def numbers(size):
    return InMemDataset(range(size))


def loader_threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("dataloader-")]


@pytest.fixture(autouse=True)
def no_thread_left():
    yield
    gc.collect()
    deadline = time.monotonic() + 2
    while loader_threads() and time.monotonic() < deadline:
        time.sleep(0.005)
    assert not loader_threads()


@pytest.mark.parametrize("workers", WORKERS)
def test_batches_do_not_depend_on_workers(workers):
    loader = builder(workers).build(numbers(10))
    for _ in range(2):
        assert list(loader) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert len(loader) == 3 and loader.num_items() == 10
    dropped = builder(workers).drop_last().build(numbers(10))
    assert [len(batch) for batch in dropped] == [4, 4] and len(dropped) == 2
    empty = builder(workers).build(numbers(0))
    assert list(empty) == [] and len(empty) == 0
    assert [len(batch) for batch in builder(workers, 5).build(numbers(27))] == [5, 5, 5, 5, 5, 2]
    assert len(list(builder(workers, 1).build(numbers(300)))) == 300


@pytest.mark.parametrize("workers", WORKERS)
def test_shuffle_gives_burns_orders(workers):
    loader = builder(workers, 10).shuffle(42).build(numbers(10))
    orders = [" ".join(map(str, *loader)) for _ in range(3)]
    assert orders == ["7 3 2 1 8 5 4 9 6 0", "8 7 2 1 3 4 5 9 6 0", "2 7 9 5 1 3 0 6 4 8"]


@pytest.mark.parametrize("workers", WORKERS)
def test_strategy_of_ones_own(workers):
    args = (UpTo(), numbers(9), ListBatcher())
    loader = MultiThreadDataLoader(*args, workers, "cpu") if workers else BatchDataLoader(*args, "cpu")
    assert list(loader) == [[0, 1, 2, 3, 4], [5, 6], [7, 8]]
    assert loader.iter().progress() == Progress(0, 9, "items")
    with pytest.raises(TypeError, match="num_items"):
        len(loader)


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("batcher", [ListBatcher(), lambda items, device: items])
def test_error_of_an_item(workers, batcher):
    loader = DataLoaderBuilder(batcher).batch_size(2).num_workers(workers).build(Failing(ValueError("five")))
    iterator = loader.iter()
    assert [next(iterator), next(iterator)] == [[0, 1], [2, 3]]
    start = time.monotonic()
    with pytest.raises(ValueError) as caught:
        next(iterator)
    assert time.monotonic() - start < 1
    assert str(caught.value) == "five" and caught.value.__notes__ == ["while reading item 5 of Failing"]
    assert list(iterator) == []  # an error ends the pass


@pytest.mark.parametrize("workers", WORKERS)
def test_error_in_a_strategy_pass(workers):
    args = (UpTo(), Failing(ValueError("five")), ListBatcher())
    iterator = (MultiThreadDataLoader(*args, workers, "cpu") if workers else BatchDataLoader(*args, "cpu")).iter()
    assert next(iterator) == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="five"):
        next(iterator)
    assert list(iterator) == []


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("error", [StopIteration, SystemExit, KeyError])
def test_every_exception_reaches_the_consumer(workers, error):
    wanted = DatasetError if error is StopIteration else error
    with pytest.raises(wanted):
        list(builder(workers, 2).build(Failing(error("x"))))

    def fail(items, device):
        if 5 in items:
            raise error("x")
        return items

    loader = DataLoaderBuilder(fail).batch_size(2).num_workers(workers).build(numbers(10))
    iterator = iter(loader)
    assert [next(iterator), next(iterator)] == [[0, 1], [2, 3]]
    with pytest.raises(wanted) as caught:
        next(iterator)
    if wanted is KeyError:
        assert caught.value.__notes__ == ["while batching items 4 to 5 of the pass"]
    assert list(iterator) == []


@pytest.mark.parametrize("workers", WORKERS)
def test_leaving_early(workers):
    for batch in builder(workers, 2).build(numbers(1000)):
        assert batch == [0, 1]
        break


def test_passes_are_independent():
    loader = builder(2).build(numbers(10))
    first, second = loader.iter(), loader.iter()
    assert next(first) == next(second) == [0, 1, 2, 3]
    assert list(second) == list(first) == [[4, 5, 6, 7], [8, 9]]


@pytest.mark.parametrize("workers", WORKERS)
def test_progress(workers):
    iterator = builder(workers).build(numbers(10)).iter()
    assert iterator.progress() == Progress(0, 10, "items")
    seen = [(iterator.progress().items_processed, iterator.progress().is_completed()) for _ in iterator]
    assert seen == [(4, False), (8, False), (10, True)]


def test_workers_keep_the_order_and_stay_near_the_consumer():
    made = []

    def slow_first(items, device):
        if items[0] == 0:
            time.sleep(0.1)
        made.append(items[0])
        return items

    iterator = DataLoaderBuilder(slow_first).num_workers(3).build(numbers(100)).iter()
    assert next(iterator) == [0]
    time.sleep(0.05)
    assert made[0] != 0 and len(made) <= 7
    assert [batch[0] for batch in iterator] == list(range(1, 100))


@pytest.mark.parametrize("workers", [0, 2])
def test_slice_device_and_split(workers):
    devices = []

    def batch(items, device):
        devices.append(device)
        return items

    loader = DataLoaderBuilder(batch).batch_size(2).num_workers(workers).set_device(A).build(numbers(11))
    assert list(loader.slice(3, 6).to_device(B)) == [[3, 4], [5]] and set(devices) == {B}
    parts = split_dataloader(loader, [A, B])
    assert [part.num_items() for part in parts] == [5, 6]
    assert [item for part in parts for batch in part for item in batch] == list(range(11))
    assert split_dataloader(loader, []) == [loader]
    devices.clear()
    assert len(list(split_dataloader(loader, [B])[0])) == 6 and set(devices) == {B}
    shuffled = builder(workers).shuffle(1).build(numbers(100))
    orders = [
        [i for batch in part for i in batch]
        for part in (shuffled.slice(0, 50), shuffled.slice(0, 50), shuffled.to_device(B))
    ]
    assert orders[0] != orders[1] and sorted(orders[0]) == list(range(50)) and sorted(orders[2]) == list(range(100))


def test_bad_settings():
    for setting in (lambda: builder().batch_size(0), lambda: builder().num_workers(-1), lambda: FixBatchStrategy(-2)):
        with pytest.raises(ArgumentError, match="at least"):
            setting()
    with pytest.raises(TypeError, match="InMemDataset"):
        builder().build([1, 2])
    with pytest.raises(TypeError, match="callable"):
        DataLoaderBuilder(3)
    with pytest.raises(ValueError, match="num_threads"):
        MultiThreadDataLoader(FixBatchStrategy(1), numbers(3), ListBatcher(), 0, "cpu")


def test_setters_leave_the_builder_as_it_was():
    base = builder()
    base.shuffle(1)
    assert list(base.build(numbers(4))) == [[0, 1, 2, 3]]


PROGRAM = """
    import signal
    import sys, time
    from burn.data.dataloader import DataLoaderBuilder
    from burn.data.dataset import InMemDataset
    def batch(items, device):
        time.sleep(0.01)
        return items
    loader = DataLoaderBuilder(batch).num_workers(2).build(InMemDataset(range(100000)))
    kept = iter(loader)  # still open when the program ends
    next(kept)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background begins without it
    if sys.argv[1] == "end":
        sys.exit(0)
    print("ready", flush=True)
    for _ in loader:
        pass
"""


@pytest.mark.parametrize("how", ["end", "interrupt"])
def test_a_program_with_an_open_pass_ends(how):
    program = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), how], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    if how == "interrupt":
        assert program.stdout.readline() == "ready\n"
        time.sleep(0.05)
        program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=10)
    if how == "end":
        assert program.returncode == 0 and errors == ""
    else:
        assert (
            program.returncode != 0 and errors.rstrip().endswith("KeyboardInterrupt") and errors.count("Traceback") == 1
        )


@pytest.mark.parametrize("workers", [0, 2])
def test_device_seed_fixes_the_orders(workers):
    device = Device.flex().autodiff()
    loader = DataLoaderBuilder(ListBatcher()).batch_size(20).num_workers(workers).shuffle().set_device(device)
    loader = loader.build(numbers(20))
    runs = []
    for _ in range(2):
        device.seed(3)
        runs.append([list(loader), list(loader), list(loader.slice(0, 20))])
    assert runs[0] == runs[1] and runs[0][0] != runs[0][1] != runs[0][2]
    assert sorted(runs[0][0][0]) == list(range(20))


def test_the_default_device_is_taken():
    devices = []
    list(DataLoaderBuilder(lambda items, device: devices.append(device)).build(numbers(1)))
    assert devices == [Device.default()]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda b: b.batch_size(1.5), r"\[batch_size\] 'batch_size' must be an integer, got 1.5"),
        (lambda b: b.batch_size("a"), "'batch_size' must be an integer, got 'a'"),
        (lambda b: b.num_workers(1.5), r"\[num_workers\] 'num_workers' must be an integer, got 1.5"),
        (lambda b: b.num_workers("a"), "'num_workers' must be an integer, got 'a'"),
        (lambda b: b.shuffle("a"), r"\[shuffle\] 'seed' must be an integer, got 'a'"),
        (lambda b: b.shuffle(1.5), "'seed' must be an integer, got 1.5"),
        (lambda b: b.drop_last("yes"), "'drop_last' must be True or False, got 'yes'"),
        (lambda b: b.set_device("x"), r"\[set_device\] 'device' must be a Device, got 'x'"),
        (lambda b: b.build(numbers(3)).to_device("x"), "'device' must be a Device, got 'x'"),
        (lambda b: split_dataloader(b.build(numbers(3)), ["x"]), "'device' must be a Device, got 'x'"),
        (lambda b: b.build(numbers(3)).slice(0, 1.5), "'end_index' must be an integer, got 1.5"),
        (lambda b: b.build([1]), "'dataset' must be a Dataset, got list; wrap a list in InMemDataset"),
    ],
)
def test_settings_of_another_type(call, message):
    with pytest.raises(ArgumentTypeError, match=message):
        call(builder())


@pytest.mark.parametrize("seed", [-1, 1 << 64])
def test_seeds_fit_64_bits(seed):
    with pytest.raises(ArgumentError, match=r"\[shuffle\] 'seed' must be at (least 0|most \d+), got"):
        builder().shuffle(seed)


def test_no_device_is_the_default_one():
    devices = []
    list(DataLoaderBuilder(lambda items, device: devices.append(device)).set_device(None).build(numbers(1)))
    assert devices == [Device.default()]


@pytest.mark.parametrize("size", [-3, 1.5, None])
def test_lengths_that_are_none(size):
    class Odd(Dataset):
        def get(self, index):
            return index

        def __len__(self):
            return size

    for use in (builder().build, Dataset.iter, Dataset.is_empty, SelectionDataset.new_select_all):
        with pytest.raises(DatasetError, match=rf"\[Odd\] '__len__' must return an integer of at least 0, got {size}"):
            use(Odd())
