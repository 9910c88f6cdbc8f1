import dataclasses
import random

import numpy as np
import pytest

from burn.data._rng import StdRng
from burn.data.dataset import (
    ComposedDataset,
    Dataset,
    InMemDataset,
    Mapper,
    MapperDataset,
    PartialDataset,
    RngSource,
    SamplerDataset,
    SamplerDatasetOptions,
    SelectionDataset,
    ShuffledDataset,
    SizeConfig,
    WindowsDataset,
)
from burn.errors import ArgumentTypeError, DatasetError, OutOfBoundsError


class Failing(Dataset):
    """Ten items, one of which raises."""

    def __init__(self, error, at=5):
        self.error, self.at = error, at

    def get(self, index):
        if self.check_index(index) == self.at:
            raise self.error
        return index

    def __len__(self):
        return 10


def numbers(size):
    return InMemDataset(range(size))


def test_in_memory():
    dataset = InMemDataset("abc")
    assert len(dataset) == 3 and not dataset.is_empty() and InMemDataset([]).is_empty()
    assert list(dataset) == list(dataset.iter()) == ["a", "b", "c"]
    assert dataset.get_many([2, 0, 2]) == ["c", "a", "c"] and dataset.get_many([]) == []
    assert dataset[-1] == "c"
    assert list(InMemDataset.from_dataset(dataset)) == ["a", "b", "c"]
    assert repr(dataset) == "InMemDataset(len=3)"


@pytest.mark.parametrize("index", [3, -1, 10])
def test_index_out_of_bounds(index):
    for read in (InMemDataset("abc").get, lambda i: InMemDataset("abc").get_many([0, i])):
        with pytest.raises(IndexError, match=rf"\[InMemDataset\] 'index' must be in \[0, 3\), got {index}"):
            read(index)


def test_slice_names_the_view():
    with pytest.raises(TypeError, match="PartialDataset"):
        InMemDataset("abc")[0:2]


def test_a_failing_item_is_named_and_keeps_its_type():
    for view in (Failing(ValueError("five")), PartialDataset(Failing(ValueError("five")), 3, 9)):
        with pytest.raises(ValueError, match="five") as caught:
            view.get_many(range(len(view)))
        assert str(caught.value) == "five" and caught.value.__notes__ == ["while reading item 5 of Failing"]


def test_stop_iteration_does_not_end_a_loop():
    with pytest.raises(DatasetError, match="item 5"):
        list(Failing(StopIteration()))
    with pytest.raises(DatasetError, match="item 5"):
        Failing(StopIteration()).get_many(range(10))


def test_iterator_goes_on_after_an_error():
    iterator = iter(Failing(ValueError("two"), at=2))
    assert [next(iterator), next(iterator)] == [0, 1]
    with pytest.raises(ValueError):
        next(iterator)
    assert next(iterator) == 3


@dataclasses.dataclass
class Row:
    column_str: str
    column_int: int
    column_bool: bool
    column_float: float | None = None


def test_csv(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('column_int,column_str,extra,column_bool,column_float\n1,HI1,x,true,1.0\n\n2,"a,b",y,false,\n')
    assert list(InMemDataset.from_csv(path, Row)) == [Row("HI1", 1, True, 1.0), Row("a,b", 2, False, None)]
    assert InMemDataset.from_csv(path).get(0)["column_str"] == "HI1"
    path.write_text("HI1 1 true 1.0\nHI2 1 false 1.0\n")
    assert InMemDataset.from_csv(path, Row, delimiter=" ", has_headers=False).get(1) == Row("HI2", 1, False, 1.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("column_str,column_int,column_bool\nx,1,true\ny,1.5,true\n", "line 3: field 'column_int': '1.5' is not int"),
        ("column_str,column_int,column_bool\nx,1,True\n", "line 2: field 'column_bool'"),
        ("column_str,column_int\nx,1\n", "no column for the field 'column_bool'"),
        ("column_str,column_int,column_bool\nx,1\n", "line 2: 2 fields where the first row has 3"),
    ],
)
def test_bad_csv(tmp_path, text, message):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises(DatasetError, match=message):
        InMemDataset.from_csv(path, Row)


def test_json_rows(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(
        '{"column_str":"é","column_int":1,"column_bool":true,"column_float":2,"more":[1]}\n'
        '{"column_str":"b","column_int":2,"column_bool":false}'
    )
    rows = list(InMemDataset.from_json_rows(path, Row))
    assert rows == [Row("é", 1, True, 2.0), Row("b", 2, False, None)] and isinstance(rows[0].column_float, float)
    assert InMemDataset.from_json_rows(path).get(0)["more"] == [1]


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[1]", b'{"column_str":"a"}', b"\xff", b'{"column_str":1,"column_int":1,"column_bool":true}']
)
def test_bad_json_rows(tmp_path, line):
    path = tmp_path / "rows.json"
    path.write_bytes(b'{"column_str":"a","column_int":1,"column_bool":true}\n' + line + b"\n")
    with pytest.raises(DatasetError, match="line 2"):
        InMemDataset.from_json_rows(path, Row)


def test_missing_file_and_item_type(tmp_path):
    with pytest.raises(FileNotFoundError):
        InMemDataset.from_csv(tmp_path / "none.csv")
    with pytest.raises(TypeError, match="dataclass"):
        InMemDataset.from_json_rows(tmp_path / "none.json", int)


def test_mapper():
    class Double(Mapper):
        def map(self, item):
            return 2 * item

    assert list(MapperDataset(numbers(3), Double())) == [0, 2, 4]
    assert MapperDataset(numbers(3), str).get_many([2, 1]) == ["2", "1"]
    with pytest.raises(ZeroDivisionError) as caught:
        MapperDataset(numbers(3), lambda x: 1 // (x - 1)).get_many(range(3))
    assert caught.value.__notes__ == ["while reading item 1 of MapperDataset"]
    with pytest.raises(TypeError):
        MapperDataset(numbers(3), None)


def test_composed():
    dataset = ComposedDataset([numbers(0), numbers(2), numbers(0), numbers(3)])
    assert list(dataset) == [0, 1, 0, 1, 2] and len(ComposedDataset([])) == 0
    with pytest.raises(IndexError, match="ComposedDataset"):
        dataset.get(5)


def test_partial():
    assert list(PartialDataset(numbers(10), 2, 5)) == [2, 3, 4]
    late = PartialDataset(numbers(25), 20, 30)
    assert len(late) == 5 and late.get_many([4]) == [24]
    assert len(PartialDataset(numbers(3), 5, 9)) == 0
    with pytest.raises(IndexError, match=r"\[0, 5\), got 5"):
        late.get(5)
    for start, end in ((-1, 2), (3, 2)):
        with pytest.raises(ValueError):
            PartialDataset(numbers(5), start, end)


@pytest.mark.parametrize(("size", "num", "expected"), [(27, 4, [6, 6, 6, 9]), (2, 4, [0, 0, 0, 2])])
def test_partial_split(size, num, expected):
    parts = PartialDataset.split(numbers(size), num)
    assert [len(part) for part in parts] == expected and list(ComposedDataset(parts)) == list(range(size))


@pytest.mark.parametrize(
    ("size", "num", "batch_size", "expected"),
    [
        (27, 4, 5, [10, 10, 5, 2]),
        (10, 1, 4, [10]),
        (10, 2, 4, [8, 2]),
        (10, 3, 4, [4, 4, 2]),
        (10, 7, 4, [4, 4, 2]),
        (0, 3, 4, []),
    ],
)
def test_split_chunks(size, num, batch_size, expected):
    parts = PartialDataset.split_chunks(numbers(size), num, batch_size)
    assert [len(part) for part in parts] == expected and list(ComposedDataset(parts)) == list(range(size))


def test_split_into_nothing():
    for split in (lambda: PartialDataset.split(numbers(3), 0), lambda: PartialDataset.split_chunks(numbers(3), 2, 0)):
        with pytest.raises(ValueError, match="at least 1"):
            split()


def test_selection():
    dataset = SelectionDataset.from_indices_checked(numbers(20), [15, 1, 12, 12])
    assert dataset.get_many([3, 0, 2, 0]) == [12, 15, 12, 15]
    part = dataset.slice(1, 3)
    dataset.shuffle(3)
    assert list(part) == [1, 12] and sorted(dataset) == [1, 12, 12, 15]
    assert [len(p) for p in SelectionDataset.new_select_all(numbers(28)).split(3)] == [9, 9, 10]
    with pytest.raises(IndexError, match=r"\[0, 3\), got 3 at position 1"):
        SelectionDataset.from_indices_checked(numbers(3), [0, 3])
    with pytest.raises(IndexError, match="InMemDataset"):
        SelectionDataset.from_indices_unchecked(numbers(3), [9]).get(0)
    with pytest.raises(IndexError):
        dataset.slice(2, 9)


# Orders that Burn 0.22.1 gives.
@pytest.mark.parametrize(
    ("size", "seed", "order"),
    [
        (10, 0, "1 0 7 3 6 4 5 9 8 2"),
        (10, 42, "8 6 3 2 1 5 9 7 4 0"),
        (27, 42, "17 16 13 2 1 20 25 22 19 0 18 24 8 3 7 10 23 12 9 4 5 14 26 11 6 15 21"),
    ],
)
def test_shuffle_gives_burns_order(size, seed, order):
    expected = [int(word) for word in order.split()]
    for source in (seed, RngSource.Seed(seed), RngSource.Rng(StdRng.seed_from_u64(seed))):
        assert list(ShuffledDataset(numbers(size), source)) == expected


def test_shuffle_keeps_all_items_and_forks_a_generator():
    assert sorted(ShuffledDataset(numbers(5000))) == list(range(5000))
    rng = StdRng.seed_from_u64(1)
    first, second = ShuffledDataset(numbers(50), rng), ShuffledDataset(numbers(50), rng)
    assert list(first) != list(second)
    with pytest.raises(TypeError, match="RngSource"):
        ShuffledDataset(numbers(3), "seed")


def test_generator():
    rng = StdRng.seed_from_u64(42)
    assert [rng.next_u64(), rng.next_u64()] == [9713269763989775522, 10011513049433592189]
    assert all(0 <= rng.below(7) < 7 and 0 <= rng.uniform(2**40) < 2**40 for _ in range(1000))
    assert [rng.shuffle(short) for short in ([], [1])] == [None, None]
    with pytest.raises(ValueError, match="32 bytes"):
        StdRng(b"short")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (SamplerDatasetOptions().with_seed(42), "1 5 2 5 8 6 9 4 9 0"),
        (SamplerDatasetOptions().without_replacement().with_size(15).with_seed(42), "4 7 9 5 0 8 6 7 3 2 6 5 1 8 2"),
        (SamplerDatasetOptions().without_replacement().with_size(0.5).with_seed(42), "6 2 7 5 8"),
    ],
)
def test_sampler_gives_burns_draws(options, expected):
    assert " ".join(map(str, SamplerDataset(numbers(10), options))) == expected


def test_sampler():
    counts = [list(SamplerDataset.without_replacement(numbers(10), 30)).count(i) for i in range(10)]
    assert counts == [3] * 10
    assert len(SamplerDataset(numbers(10), 4)) == 4 and SamplerDataset(numbers(10)).is_with_replacement()
    assert list(SamplerDataset(numbers(0))) == []
    with pytest.raises(ValueError, match="empty"):
        SamplerDataset(numbers(0), 3)
    with pytest.raises(IndexError):
        SamplerDataset(numbers(10), 3).get(3)
    for bad in (-1, -0.5, float("nan")):
        with pytest.raises(ValueError):
            SizeConfig.of(bad)


def test_windows():
    assert [len(WindowsDataset(numbers(5), size)) for size in (1, 3, 5, 6)] == [5, 3, 1, 0]
    expected = [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    assert list(WindowsDataset(numbers(5), 3)) == list(numbers(5).windows(3)) == expected
    assert numbers(5).window(2, 3) == [2, 3, 4] and numbers(5).window(3, 3) is None
    assert list(numbers(2).windows(3)) == []
    with pytest.raises(IndexError):
        WindowsDataset(numbers(5), 3).get(3)
    for zero in (lambda: WindowsDataset(numbers(5), 0), lambda: numbers(5).window(0, 0), lambda: numbers(5).windows(0)):
        with pytest.raises(ValueError, match="at least 1"):
            zero()


def test_random_views_agree_with_lists():
    random.seed(7)
    for _ in range(50):
        items = list(range(random.randrange(1, 40)))
        start = random.randrange(len(items) + 1)
        end = random.randrange(start, len(items) + 3)
        view = PartialDataset(InMemDataset(items), start, end)
        assert list(view) == view.get_many(range(len(view))) == items[start:end]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda d: d.get("a"), r"\[InMemDataset\] 'index' must be an integer, got 'a'"),
        (lambda d: d.get(1.0), "'index' must be an integer, got 1.0"),
        (lambda d: d[1.0], "'index' must be an integer, got 1.0"),
        (lambda d: d["a"], "'index' must be an integer, got 'a'"),
        (lambda d: d[:1], "must be an int, got a slice"),
        (lambda d: d.get_many([1.0]), "'index' must be an integer, got 1.0"),
        (lambda d: d.windows("a"), "'size' must be an integer"),
        (lambda d: InMemDataset(3), "'items' must be an Iterable, got 3"),
        (lambda d: InMemDataset.from_csv(3), "'path' must be a path"),
        (lambda d: InMemDataset.from_json_rows(None), "'path' must be a path"),
        (lambda d: PartialDataset(d, 0, 1.5), "'end_index' must be an integer, got 1.5"),
        (lambda d: PartialDataset([1], 0, 1), r"\[PartialDataset\] 'dataset' must be a Dataset, got \[1\]"),
        (lambda d: PartialDataset.split(d, "a"), "'num' must be an integer"),
        (lambda d: ComposedDataset([d, 3]), r"\[ComposedDataset\] 'dataset' must be a Dataset, got 3"),
        (lambda d: SelectionDataset.from_indices_checked(d, [0.5]), "'indices' must be an integer, got 0.5"),
        (lambda d: ShuffledDataset(d, "a"), "'source' must be a RngSource"),
        (lambda d: RngSource.Seed("a"), "'seed' must be an integer, got 'a'"),
        (lambda d: SizeConfig.Ratio("a"), "'ratio' must be a number"),
        (lambda d: SizeConfig.Fixed(1.5), "'size' must be an integer"),
    ],
)
def test_arguments_of_another_type(call, message):
    with pytest.raises(ArgumentTypeError, match=message):
        call(InMemDataset([1, 2, 3]))


def test_outside_and_numpy_indexes():
    dataset = InMemDataset([1, 2, 3])
    for index in (5, -4):
        with pytest.raises(OutOfBoundsError, match=rf"'index' must be in \[0, 3\), got {index}"):
            dataset[index]
    assert dataset.get(np.int64(1)) == dataset[np.int32(-2)] == dataset.get_many(np.array([1]))[0] == 2
