"""gather, select, scatter and select_assign against NumPy: every dtype and update, duplicates, indices out of range."""

import numpy as np
import pytest

import burn
from burn.device import Device
from burn.tensor import DType, Tensor

DTYPES = (DType.F32, DType.F64, DType.F16, DType.BF16, DType.I64, DType.I32, DType.I16, DType.U8)
INDEX = (DType.I32, DType.I64)
UPDATES = {"Add": np.add, "Mul": np.multiply, "Min": np.minimum, "Max": np.maximum}
# outer, n, inner, number of indices
SHAPES = [(1, 5, 1, 9), (3, 7, 1, 4), (2, 5, 3, 6), (1, 100, 64, 30), (40, 33, 1, 50), (20, 6, 8, 10), (1, 3, 1, 0)]


def tensor(values, dtype=DType.F32):
    return Tensor.from_data(values, Device.flex(), dtype=dtype)


def exact(x):
    return np.asarray((x.cast(DType.F64) if x.dtype.is_float else x).numpy())


@pytest.fixture
def rng():
    return np.random.default_rng(8)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("index", INDEX, ids=lambda d: d.name)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
def test_reading(dtype, index, shape, rng):
    outer, n, inner, k = shape
    x = rng.integers(0, 100, (outer, n, inner))
    idx = rng.integers(0, n, (outer, k, inner))
    t = tensor(x, dtype)
    assert np.array_equal(exact(t.gather(1, tensor(idx, index))), np.take_along_axis(x, idx, 1))
    assert np.array_equal(exact(t.select(1, tensor(idx[0, :, 0], index))), x[:, idx[0, :, 0]])


def test_large_results(rng):
    x = rng.standard_normal((900, 700)).astype("f4")
    idx = rng.integers(0, 700, (900, 1000))
    assert np.array_equal(tensor(x).gather(1, tensor(idx, DType.I64)).numpy(), np.take_along_axis(x, idx, 1))
    rows = rng.integers(0, 900, 3000)
    assert np.array_equal(tensor(x[:, :512]).select(0, tensor(rows, DType.I64)).numpy(), x[rows, :512])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("index", INDEX, ids=lambda d: d.name)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
def test_writing(dtype, index, shape, rng):
    outer, n, inner, k = shape
    x, values = rng.integers(0, 5, (outer, n, inner)), rng.integers(0, 3, (outer, k, inner))
    idx = rng.integers(0, n, (outer, k, inner))
    rows = idx[0, :, 0]
    o, _, c = np.indices((outer, k, inner))
    for update, function in UPDATES.items():
        for name, at, where in (
            ("scatter", idx, idx),
            ("select_assign", rows, np.broadcast_to(rows[:, None], (outer, k, inner))),
        ):
            want = x.astype(np.float64 if dtype.is_float else dtype.numpy)
            function.at(want, (o, where, c), values.astype(want.dtype))
            got = getattr(tensor(x, dtype), name)(1, tensor(at, index), tensor(values, dtype), update)
            with np.errstate(over="ignore"):
                assert np.array_equal(exact(got), exact(tensor(want, dtype))), (name, update)
    want, rowwise = x.copy(), x.copy()
    for j in range(k):
        np.put_along_axis(want, idx[:, j : j + 1], values[:, j : j + 1], 1)
        rowwise[:, rows[j]] = values[:, j]
    assert np.array_equal(exact(tensor(x, dtype).scatter(1, tensor(idx, index), tensor(values, dtype), "Assign")), want)
    got = tensor(x, dtype).select_assign(1, tensor(rows, index), tensor(values, dtype), "Assign")
    assert np.array_equal(exact(got), rowwise)


def test_duplicates_sum_alike_for_any_number_of_threads(rng):
    x, idx = rng.standard_normal((300, 256)).astype("f4"), rng.integers(0, 300, 5000)
    values = rng.standard_normal((5000, 256)).astype("f4")
    wide = np.zeros((300, 256))
    np.add.at(wide, idx, values.astype("f8"))
    before, results = burn.get_num_threads(), []
    for count in (1, 2):
        burn.set_num_threads(count)
        results.append(tensor(x).select_assign(0, tensor(idx, DType.I64), tensor(values), "Add").numpy())
    burn.set_num_threads(before)
    assert results[0].tobytes() == results[1].tobytes()
    np.testing.assert_allclose(results[0], x + wide, atol=1e-4)


def test_gradient_of_a_repeated_index():
    x = Tensor.from_data([1.0, 2.0, 3.0], Device.flex().autodiff()).require_grad()
    g = Tensor.from_data([0.1, 0.2, 0.3, 0.4], Device.flex().autodiff())
    idx = Tensor.from_data([2, 0, 2, 2], Device.flex().autodiff())
    np.testing.assert_allclose(x.grad((x.gather(0, idx) * g).sum().backward()).numpy(), [0.2, 0, 0.8], rtol=1e-6)


def test_half_floats_sum_in_float():
    values, idx = np.ones(3000), np.zeros(3000, "i8")
    for dtype, want in ((DType.BF16, 3008), (DType.F16, 3000)):  # adding in bf16 would stop at 256, in f16 at 2048
        assert (
            exact(tensor([0.0], dtype).scatter(0, tensor(idx, DType.I64), tensor(values, dtype), "Add")).item() == want
        )


@pytest.mark.parametrize("index", INDEX, ids=lambda d: d.name)
@pytest.mark.parametrize("wrong", (-1, 4, 2**31 - 1, -(2**31)))
def test_out_of_range_writes_nothing(index, wrong):
    x = np.arange(12, dtype="f4").reshape(3, 4)
    t, before = tensor(x), x.copy()
    idx, values = tensor([[0, 1], [2, 3], [wrong, 0]], index), tensor(np.ones((3, 2)))
    rows = tensor([3, wrong], index)
    for call in (
        lambda: t.gather(1, idx),
        lambda: t.select(1, rows),
        lambda: t.scatter(1, idx, values, "Add"),
        lambda: t.select_assign(1, rows, values, "Assign"),
    ):
        with pytest.raises(IndexError, match=str(wrong)):
            call()
    assert np.array_equal(t.numpy(), before)


def test_nothing_to_read_from():
    with pytest.raises(IndexError):
        tensor(np.zeros((1, 0), "f4")).gather(1, tensor([[0, 0]], DType.I64))


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("shape", [(40, 900, 1, 5000), (1, 500, 700, 600), (2, 3000, 40, 9000)], ids=str)
def test_many_writes_are_exact_for_any_number_of_threads(shape, update, rng):
    """Indices by the slab, columns and rows by the task."""
    outer, n, inner, k = shape
    x, values = rng.integers(1, 3, (outer, n, inner)), rng.integers(1, 3, (outer, k, inner))
    idx = rng.integers(0, n, (outer, k, inner))
    o, _, c = np.indices((outer, k, inner))
    before = burn.get_num_threads()
    for name, at, where in (("scatter", idx, idx), ("select_assign", idx[0, :, 0], idx[0, :, :1])):
        want = x.astype(np.int64)
        UPDATES[update].at(want, (o, np.broadcast_to(where, (outer, k, inner)), c), values)
        try:
            for count in (1, 3):
                burn.set_num_threads(count)
                for dtype in (DType.I32, DType.F32):
                    got = getattr(tensor(x, dtype), name)(1, tensor(at, DType.I32), tensor(values, dtype), update)
                    assert np.array_equal(got.numpy(), want.astype(dtype.numpy)), (name, dtype, count)
        finally:
            burn.set_num_threads(before)


def test_extremes_keep_nan_of_either_side():
    x, nan = np.array([1.0, np.nan, 3.0, -0.0], "f4"), np.nan
    at, values = np.array([0, 1, 2, 2, 3], "i4"), np.array([nan, 5.0, 4.0, 2.0, 0.0], "f4")
    for update, last in (("Max", 4.0), ("Min", 2.0)):
        got = tensor(x).scatter(0, tensor(at, DType.I32), tensor(values), update).numpy()
        np.testing.assert_array_equal(got, [nan, nan, last, 0.0])
        assert np.signbit(got[3])  # equal: the one that was there


def test_a_late_index_outside_is_named(rng):
    idx = rng.integers(0, 50, (3, 30_000))
    idx[2, 29_000] = 50
    for t, dim in ((idx, 1), (np.ascontiguousarray(idx.T), 0)):
        target = tensor(np.zeros(t.shape))
        with pytest.raises(IndexError, match=rf"0..49.*got 50 at flat position {np.flatnonzero(t == 50)[0]}"):
            target.narrow(dim, 0, 50).scatter(dim, tensor(t, DType.I64), target, "Add")


@pytest.mark.parametrize("shape", [(70_003,), (300, 333), (7, 1, 90, 41), (5, 0, 3)], ids=str)
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_where_a_mask_is_true(share, shape, rng):
    mask = rng.random(shape) < share
    values = rng.standard_normal(shape).astype("f4")
    t = Tensor.from_data(mask, Device.flex())
    assert np.array_equal(t.argwhere().numpy(), np.argwhere(mask))
    assert np.array_equal(tensor(values).mask_select(t).numpy(), values[mask])
    found = t.nonzero()
    assert len(found) == (mask.ndim if mask.any() else 0)
    for have, want in zip(found, np.nonzero(mask), strict=False):
        assert np.array_equal(have.numpy(), want)
