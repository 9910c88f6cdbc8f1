"""Reductions against NumPy: every dtype, rows, columns and middle axes, NaN wherever it hides, one and two threads."""

import numpy as np
import pytest

import burn
from burn.device import Device
from burn.tensor import DType, Tensor

FLOATS = (DType.F32, DType.F64, DType.F16, DType.BF16)
INTS = (DType.I64, DType.I32, DType.I16, DType.I8, DType.U64, DType.U32, DType.U16, DType.U8)
ROUNDING = {DType.F32: 2e-6, DType.F64: 1e-12, DType.F16: 1e-3, DType.BF16: 8e-3}
# Rows around the vector sizes, cut rows, narrow and wide columns, columns of several tiles, many short rows.
SHAPES = [
    (1, 7, 1),
    (3, 33, 1),
    (600, 8, 1),
    (1, 70_001, 1),
    (2, 5, 3),
    (1, 30_001, 3),
    (4, 300, 5),
    (1, 300, 2050),
    (3, 40, 17),
]


def tensor(values, dtype):
    return Tensor.from_data(values, Device.flex(), dtype=dtype)


def exact(x):
    """The values of a tensor without rounding: floats as float64."""
    return np.asarray((x.cast(DType.F64) if x.dtype.is_float else x).numpy())


def numbers(dtype, shape):
    rng = np.random.default_rng(5)
    if dtype.is_float:
        return tensor(rng.standard_normal(shape), dtype)
    info = np.iinfo(dtype.numpy)
    return tensor(rng.integers(info.min, info.max, shape, dtype=dtype.numpy, endpoint=True), dtype)


@pytest.fixture
def both_threads():
    """Runs a function with one thread and with two; the bytes must agree."""
    before = burn.get_num_threads()

    def run(function):
        results = []
        for count in (1, 2):
            burn.set_num_threads(count)
            results.append(function())
        assert exact(results[0]).tobytes() == exact(results[1]).tobytes()
        return exact(results[0])

    yield run
    burn.set_num_threads(before)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
def test_sum_mean_var_of_floats(dtype, shape, both_threads):
    x = numbers(dtype, shape)
    want, eps = exact(x), ROUNDING[dtype]
    near = {"rtol": eps, "atol": eps}
    np.testing.assert_allclose(
        both_threads(lambda: x.sum_dim(1)), want.sum(1, keepdims=True), rtol=eps, atol=eps * 2 * shape[1] ** 0.5
    )
    np.testing.assert_allclose(both_threads(lambda: x.mean_dim(1)), want.mean(1, keepdims=True), **near)
    np.testing.assert_allclose(
        both_threads(lambda: x.var(1)), want.var(1, ddof=1, keepdims=True), rtol=4 * eps, atol=eps
    )


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", INTS, ids=lambda d: d.name)
def test_sum_and_product_of_integers_wrap(dtype, shape, both_threads):
    x = numbers(dtype, shape)
    kind = dtype.numpy
    assert np.array_equal(both_threads(lambda: x.sum_dim(1)), exact(x).sum(1, keepdims=True, dtype=kind))
    assert np.array_equal(both_threads(lambda: x.prod_dim(1)), exact(x).prod(1, keepdims=True, dtype=kind))


@pytest.mark.parametrize("dtype", (DType.I32, DType.I16, DType.U8, DType.I8), ids=lambda d: d.name)
def test_mean_of_integers_truncates_the_exact_sum(dtype):
    x = numbers(dtype, (50, 999))
    sums = exact(x).astype(np.int64).sum(1)
    assert exact(x.mean_dim(1)).ravel().tolist() == [int(abs(s) // 999 * (1 if s >= 0 else -1)) for s in sums.tolist()]
    assert exact(tensor([2**31 - 1, 2**31 - 1], DType.I32).mean()).item() == 2**31 - 1


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS + INTS, ids=lambda d: d.name)
def test_extremes_and_positions(dtype, shape, both_threads):
    x = numbers(dtype, shape)
    values = exact(x)
    for name, find in (("max", np.argmax), ("min", np.argmin)):
        at = find(values, 1)[:, None]
        best = np.take_along_axis(values, at, 1)
        assert np.array_equal(both_threads(lambda name=name: getattr(x, f"arg{name}")(1)), at)
        assert np.array_equal(both_threads(lambda name=name: getattr(x, f"{name}_dim")(1)), best)
        pair = getattr(x, f"{name}_dim_with_indices")(1)
        assert np.array_equal(exact(pair[0]), best) and np.array_equal(exact(pair[1]), at)


@pytest.mark.parametrize("n", (7, 8, 31, 512, 513, 3000))
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
@pytest.mark.parametrize("inner", (1, 3, 40))
def test_first_nan_wins(dtype, n, inner):
    for places in ((0,), (n - 1,), (min(8, n - 1),), (n // 2, n - 1), (0, n - 1)):
        values = np.random.default_rng(n).standard_normal((2, n, inner))
        values[:, places] = np.nan
        x = tensor(values, dtype)
        for name in ("max", "min"):
            assert np.isnan(exact(getattr(x, f"{name}_dim")(1))).all()
            best, at = getattr(x, f"{name}_dim_with_indices")(1)
            assert np.isnan(exact(best)).all()
            assert (exact(at) == places[0]).all() and (exact(getattr(x, f"arg{name}")(1)) == places[0]).all()


def test_nan_of_one_column_stays_there():
    values = np.random.default_rng(0).standard_normal((300, 100)).astype("f4")
    values[123, 45] = values[7, 99] = np.nan
    best = exact(tensor(values, DType.F32).max_dim(0))[0]
    assert np.flatnonzero(np.isnan(best)).tolist() == [45, 99]


def test_ties_give_the_first():
    values = np.zeros((3, 700, 20), "f4")
    values[:, 5] = values[:, 600] = 1
    x = tensor(values, DType.F32)
    assert (exact(x.argmax(1)) == 5).all() and (exact(x.argmin(1)) == 0).all()
    assert (exact(tensor(np.full((4, 90), -np.inf), DType.F32).argmax(1)) == 0).all()
    assert exact(tensor([[-0.0, 0.0]], DType.F32).argmax(1)).item() == 0


def test_empty_axes():
    x = tensor(np.zeros((0, 3), "f4"), DType.F32)
    assert exact(x.sum_dim(0)).tolist() == [[0, 0, 0]] and exact(x.prod_dim(0)).tolist() == [[1, 1, 1]]
    assert np.isnan(exact(x.mean_dim(0))).all()
    assert exact(x.max_dim(1)).shape == (0, 1)
    for name in ("max_dim", "min_dim", "argmax", "argmin"):
        with pytest.raises(ValueError, match="empty"):
            getattr(x, name)(0)
    flags = tensor(np.zeros((0, 3), bool), DType.Bool)
    assert not exact(flags.any()).any() and exact(flags.all()).all()


def test_variance_of_one_value_and_of_large_ones():
    one = tensor([[5.0]], DType.F32)
    assert np.isnan(exact(one.var(1))).all() and exact(one.var_bias(1)).item() == 0
    values = (10_000 + np.arange(64) % 2 * 0.5).astype("f4").reshape(1, 64)
    assert exact(tensor(values, DType.F32).var_bias(1)).item() == pytest.approx(0.0625, rel=1e-5)


@pytest.mark.parametrize("shape", [(3, 9, 1), (2, 5000, 1), (2, 300, 7), (1, 20, 1500)], ids=str)
def test_any_and_all(shape):
    rng = np.random.default_rng(1)
    for share in (0, 0.001, 0.999, 1):
        flags = rng.random(shape) < share
        x = tensor(flags, DType.Bool)
        assert np.array_equal(exact(x.any_dim(1)), flags.any(1, keepdims=True))
        assert np.array_equal(exact(x.all_dim(1)), flags.all(1, keepdims=True))
        assert exact(x.any()).item() == flags.any() and exact(x.all()).item() == flags.all()


def test_sum_of_many_floats_is_accurate(both_threads):
    values = np.random.default_rng(3).standard_normal(1 << 21).astype("f4")
    x = tensor(values, DType.F32)
    assert both_threads(lambda: x.sum()).item() == pytest.approx(values.sum(dtype="f8"), abs=5e-4)
    columns = both_threads(lambda: tensor(values.reshape(-1, 64), DType.F32).sum_dim(0))
    np.testing.assert_allclose(columns[0], values.reshape(-1, 64).sum(0, dtype="f8"), atol=1e-4, rtol=1e-6)


def test_half_floats_accumulate_in_float():
    assert exact(tensor(np.ones(3000), DType.BF16).sum()).item() == 3008  # to 8 bits; adding in bf16 stops at 256
    assert exact(tensor(np.full(4096, 0.1), DType.F16).mean()).item() == pytest.approx(0.1, rel=1e-3)
