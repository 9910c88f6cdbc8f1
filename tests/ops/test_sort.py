"""Order and running results beyond the cases: every dtype, lengths at which the kernels change their way, ties, NaN."""

import ml_dtypes
import numpy as np
import pytest

from burn.errors import ArgumentTypeError, ShapeError
from tests.cases.reduce import ordered
from tests.cases.tensors import array, gradients, tensor, threads

DTYPES = [np.dtype(t) for t in ("f8", "f4", "f2", ml_dtypes.bfloat16, "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1")]
FLOATS = DTYPES[:4]
# Around the blocks that are counted, merged and sorted by digits, and the least length at which a few are picked out.
LENGTHS = (1, 31, 32, 33, 64, 150, 151, 200, 201, 257, 1030)


def values(dtype, shape, rng):
    """Numbers with many ties; of floats some are NaN of both signs, infinite, or zeros of both signs."""
    if dtype.kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        return np.where(rng.random(shape) < 0.5, rng.integers(low, high, shape, dtype, True), rng.integers(0, 9, shape)
                        ).astype(dtype)  # fmt: skip
    odd = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-7])
    x = rng.standard_normal(shape).round(1)
    return np.where(rng.random(shape) < 0.2, rng.choice(odd, shape), x).astype(dtype)


def widened(x):
    return x if x.dtype.kind in "iu" else x.astype(np.float64)


def assert_same_bits(actual, expected):
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    assert actual.tobytes() == np.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_order_is_numpys(dtype, descending, device):
    """Stable, NaN above all numbers; the very bits of the input in a new order."""
    rng = np.random.default_rng(3)
    for n in LENGTHS:
        x = values(dtype, (3, n), rng)
        t = tensor(x, device)
        where = ordered(descending)(widened(x), 1)[1]
        want = np.take_along_axis(x, where, 1)
        names = ("sort_descending", "argsort_descending") if descending else ("sort", "argsort")
        have, positions = getattr(t, f"{names[0]}_with_indices")(1)
        np.testing.assert_array_equal(array(positions), where)
        assert_same_bits(array(have), want)
        assert_same_bits(array(getattr(t, names[0])(1)), want)
        np.testing.assert_array_equal(array(getattr(t, names[1])(1)), where)


def alike(dtype, n, rng):
    """Rows of one value, of two, and of few with others between; the ends of the range too."""
    ends = np.array([np.nan, np.inf, -np.inf]) if dtype.kind not in "iu" else np.array(
        [np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)  # fmt: skip
    few = [0, *ends]
    rows = [np.full(n, v, dtype) for v in few] + [rng.choice(np.array([v, 1], dtype), n) for v in few]
    rows += [np.where(rng.random(n) < 0.9, 0, rng.integers(0, 100, n)), np.arange(n) % 64 // 63, np.arange(n) >= n - 20]
    return np.stack([row.astype(dtype) for row in rows])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_equal_values_keep_the_order_of_their_positions(dtype, device):
    rng = np.random.default_rng(6)
    for n in (300, 2048, 2100):
        x = alike(dtype, n, rng)
        t = tensor(x, device)
        where = ordered(True, n)(widened(x), 1)[1]
        for k in (1, 10, 64, n // 9):
            have, positions = t.topk_with_indices(k, 1)
            np.testing.assert_array_equal(array(positions), where[:, :k])
            assert_same_bits(array(have), np.take_along_axis(x, where[:, :k], 1))
        if dtype in FLOATS:
            middle = ordered(False)(widened(x), 1)[1][:, (n - 1) // 2 :][:, :1]
            have, positions = t.median_with_indices(1)
            np.testing.assert_array_equal(array(positions), middle)
            assert_same_bits(array(have), np.take_along_axis(x, middle, 1))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_largest_are_the_first_of_the_order(dtype, device):
    rng = np.random.default_rng(4)
    for n, k in ((5, 5), (64, 3), (256, 1), (300, 10), (1030, 32), (1030, 33), (2100, 100), (2100, 2000)):
        x = values(dtype, (2, n), rng)
        where = ordered(True, k)(widened(x), 1)[1]
        have, positions = tensor(x, device).topk_with_indices(k, 1)
        np.testing.assert_array_equal(array(positions), where)
        assert_same_bits(array(have), np.take_along_axis(x, where, 1))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_medians(dtype, device):
    """The middle of the order, without NaN and with many, of few different values and of many."""
    rng = np.random.default_rng(12)
    for n in (1, 2, 33, 151, 1030):
        for x in (values(dtype, (3, n), rng), rng.standard_normal((3, n)).astype(dtype), np.ones((3, n), dtype)):
            where = ordered(False)(widened(x), 1)[1][:, (n - 1) // 2 : (n - 1) // 2 + 1]
            have, positions = tensor(x, device).median_with_indices(1)
            np.testing.assert_array_equal(array(positions), where)
            assert_same_bits(array(have), np.take_along_axis(x, where, 1))


def test_equal_elements_keep_their_order(device):
    for n in (20, 150, 1000, 5000):
        x = tensor(np.zeros((2, n), np.float32), device)
        for positions in (x.argsort(1), x.argsort_descending(1), x.argtopk(n, 1)):
            np.testing.assert_array_equal(array(positions), np.tile(np.arange(n), (2, 1)))
        np.testing.assert_array_equal(array(x.argtopk(7, 1)), np.tile(np.arange(7), (2, 1)))


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("dtype", [np.dtype(t) for t in ("f4", "f8", "i1")], ids=str)
def test_long_rows(dtype, count, flex):
    """Rows that several threads sort together."""
    x = values(dtype, (2, 70_001), np.random.default_rng(5))
    where = ordered(False)(widened(x), 1)[1]
    with threads(count):
        have, positions = tensor(x, flex).sort_with_indices(1)
        middle = tensor(x, flex).argtopk(40_000, 1)
    np.testing.assert_array_equal(array(positions), where)
    assert_same_bits(array(have), np.take_along_axis(x, where, 1))
    np.testing.assert_array_equal(array(middle), ordered(True, 40_000)(widened(x), 1)[1])


@pytest.mark.parametrize("dtype", [np.dtype(t) for t in ("f4", "f8", "f2", "i4", "u1")], ids=str)
def test_one_long_running_sum(dtype, flex):
    """A row that is scanned in pieces: the same bits for any number of threads, either way, and exact for integers."""
    rng, n = np.random.default_rng(6), 150_003
    x = rng.integers(-5, 6, (2, n)) if dtype.kind != "u" else rng.integers(0, 9, (2, n))
    x = (x / 8 if dtype.kind == "f" else x).astype(dtype)
    factors = np.where(np.arange(2 * n).reshape(2, n) % 7 == 0, 2, 1)
    factors = (
        np.where(np.arange(2 * n).reshape(2, n) % 14 == 7, 0.5, factors) if dtype.kind == "f" else factors
    ).astype(dtype)
    results = []
    for count in (1, 3):
        with threads(count):
            t = tensor(x, flex)
            back = t.flip([1]).cumsum(1).flip([1])
            results.append([array(t.cumsum(1)), array(back), array(tensor(factors, flex).cumprod(1))])
    for one, many in zip(*results, strict=True):
        assert_same_bits(one, many)
    exact = np.cumsum(x, 1, dtype if dtype.kind != "f" else "f8").astype(dtype)
    np.testing.assert_array_equal(results[0][0], exact)
    np.testing.assert_array_equal(
        results[0][2], np.cumprod(factors, 1, dtype if dtype.kind != "f" else "f8").astype(dtype)
    )


def test_gradients_of_ordered_values(device):
    x, g = np.array([[3.0, 1.0, 3.0, 2.0]]), np.array([[1.0, 10.0, 100.0, 1000.0]])
    for call, want in (
        (lambda t: t.sort(1), [100, 1, 1000, 10]),
        (lambda t: t.sort_descending(1), [1, 1000, 10, 100]),
        (lambda t: t.topk_with_indices(4, 1)[0], [1, 1000, 10, 100]),
    ):
        np.testing.assert_array_equal(gradients(call, [x], [g], device)[0], [want])
    np.testing.assert_array_equal(gradients(lambda t: t.median(1), [x], [g[:, :1]], device)[0], [[0, 0, 0, 1]])
    np.testing.assert_array_equal(gradients(lambda t: t.topk(2, 1), [x], [g[:, :2]], device)[0], [[1, 0, 10, 0]])


def test_nothing_to_order(device):
    for shape, dim in (((0, 3), 0), ((0, 3), 1), ((2, 0, 3), 1), ((0,), 0)):
        x = tensor(np.zeros(shape, np.float32), device)
        for y in (
            x.sort(dim),
            x.argsort(dim),
            x.topk(0, dim),
            x.cumsum(dim),
            x.cumprod(dim),
            x.cummax(dim),
            x.cummin(dim),
        ):
            assert array(y).size == 0
    assert array(tensor(np.zeros((2, 0, 3), np.float32), device).topk(0, 0)).shape == (0, 0, 3)


def test_wrong_calls(device):
    x = tensor(np.ones((2, 3), np.float32), device)
    with pytest.raises(ShapeError, match=r"\[argtopk\] 'k' must lie in 0\.\.3 for axis 1 of shape \[2, 3\], got -1"):
        x.argtopk(-1, 1)
    with pytest.raises(ArgumentTypeError, match="k"):
        x.topk(1.5, 1)
    for name in ("sort", "argsort", "cumsum", "cummax"):
        with pytest.raises(TypeError, match="Bool"):
            getattr(x > 0, name)(0)
    with pytest.raises(TypeError, match="Float"):
        x.int().median(0)


@pytest.mark.parametrize("name, ufunc", [("cumsum", np.add), ("cumprod", np.multiply)])
@pytest.mark.parametrize("dtype", DTYPES[4:], ids=str)
def test_integers_wrap(name, ufunc, dtype, device):
    x = values(dtype, (2, 37, 3), np.random.default_rng(6))
    for dim in (0, 1, 2):
        np.testing.assert_array_equal(array(getattr(tensor(x, device), name)(dim)), ufunc.accumulate(x, dim, dtype))


@pytest.mark.parametrize("name, ufunc", [("cummax", np.maximum), ("cummin", np.minimum)])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_running_extremes_are_exact(name, ufunc, dtype, device):
    x = values(dtype, (2, 300, 5), np.random.default_rng(7))
    x[0] = np.where(x[0] != x[0], 1, x[0])  # one half without NaN
    for t, dim in ((x, 1), (np.ascontiguousarray(x[..., 0]), 1), (x, 2)):
        want = ufunc.accumulate(widened(t), dim)
        np.testing.assert_array_equal(widened(array(getattr(tensor(t, device), name)(dim))), want)


@pytest.mark.parametrize("dtype", FLOATS[1:], ids=str)
def test_long_sums_are_rounded_once(dtype, device):
    """Narrow floats are added up in a wider type: the only error is that of storing the result."""
    x = np.random.default_rng(8).uniform(0, 1, (2, 5003)).astype(dtype)
    want = np.cumsum(x.astype(np.float64), 1)
    step = float(ml_dtypes.finfo(dtype).eps)
    for t, dim, wanted in ((x, 1, want), (np.ascontiguousarray(x.T), 0, want.T)):
        have = array(tensor(t, device).cumsum(dim)).astype(np.float64)
        assert np.abs(have - wanted).max() <= step * wanted.max()
        assert (np.abs(have / wanted - 1) < 1.01 * step).all()


def test_a_reversed_sum_is_the_gradient(device):
    g = np.random.default_rng(9).standard_normal((3, 41))
    for x, cotangent, dim in ((g, g, 1), (g.T.copy(), g.T.copy(), 0)):
        for dtype in (np.float64, np.float32):
            (have,) = gradients(lambda t, dim=dim: t.cumsum(dim), [x.astype(dtype)], [cotangent], device)
            want = np.flip(np.cumsum(np.flip(cotangent, dim), dim), dim)
            np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.dtype(t) for t in ("f4", "f8", "i2")], ids=str)
def test_long_axes(dtype, device):
    """Rows that a GPU cuts into pieces."""
    x = values(dtype, (2, 9_101), np.random.default_rng(10))
    t = tensor(x, device)
    for descending, first, k, call in (
        (False, 0, 9_101, lambda t: t.sort_with_indices(1)),
        (True, 0, 10, lambda t: t.topk_with_indices(10, 1)),
        (True, 0, 3_000, lambda t: t.topk_with_indices(3_000, 1)),
    ):
        where = ordered(descending, first + k)(widened(x), 1)[1]
        have, positions = call(t)
        np.testing.assert_array_equal(array(positions), where)
        assert_same_bits(array(have), np.take_along_axis(x, where, 1))
    clean = np.where(x != x, 1, x).astype(dtype)
    for y, dim in ((clean, 1), (np.ascontiguousarray(clean.T), 0)):
        have = widened(array(tensor(y, device).cummin(dim)))
        np.testing.assert_array_equal(have, np.minimum.accumulate(widened(y), dim))
        if dtype.kind == "i":
            np.testing.assert_array_equal(array(tensor(y, device).cumsum(dim)), np.cumsum(y, dim, dtype))
        else:
            small = np.random.default_rng(11).uniform(0, 1, y.shape).astype(dtype)
            have, want = array(tensor(small, device).cumsum(dim)), np.cumsum(small.astype(np.float64), dim)
            np.testing.assert_allclose(have, want, rtol=1e-7 if dtype == np.float32 else 1e-13)
            (grad,) = gradients(lambda t, dim=dim: t.cumsum(dim), [small], [small.astype(np.float64)], device)
            want = np.flip(np.cumsum(np.flip(small.astype(np.float64), dim), dim), dim)
            np.testing.assert_allclose(grad, want, rtol=1e-6)


def test_positions_that_the_default_dtype_does_not_hold(fresh_python):
    """They wrapped: the largest at 299 was said to be at 43."""
    fresh_python(
        "from burn import Device, DType, Tensor\nfrom burn.errors import NumberOverflowError\n"
        "d = Device.flex()\nd.configure((DType.F32, DType.I8))\n"
        "x, short = Tensor([[float(i) for i in range(300)]], d), Tensor([[1.0, 5.0, 2.0]], d)\n"
        "for name, args in [('argmax', (1,)), ('argsort', (1,)), ('max_dim_with_indices', (1,)), ('topk_with_indices', (2, 1)),\n"
        "                   ('sort_with_indices', (1,)), ('median_with_indices', (1,))]:\n"
        "    try:\n        getattr(x, name)(*args)\n        raise AssertionError(name)\n"
        "    except NumberOverflowError as error:\n        assert f'[{name}]' in str(error) and '299' in str(error), error\n"
        "    getattr(short, name)(*args)\n"
        "assert x.autodiff().require_grad().max_dim(1).item() == 299 and short.argmax(1).dtype is DType.I8\n"
        "try:\n    x.greater_scalar(5.0).argwhere()\nexcept NumberOverflowError:\n    pass\nelse:\n    raise AssertionError\n"
    )
