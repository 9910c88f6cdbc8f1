"""Matrix products against NumPy in a wider type: every way through the kernels, every layout, one and two threads."""

import itertools

import numpy as np
import pytest

import burn
from burn.device import Device
from burn.tensor import DType, Tensor, activation, module

FLOATS = (DType.F32, DType.F64, DType.F16, DType.BF16)
INTS = (DType.I32, DType.I64)
# Relative error of one rounding on the way out, and of one step of the sum.
ROUNDING = {DType.F32: 2.0**-24, DType.F64: 2.0**-53, DType.F16: 2.0**-11, DType.BF16: 2.0**-8}
STEP = {DType.F32: 2.0**-24, DType.F64: 2.0**-53, DType.F16: 2.0**-24, DType.BF16: 2.0**-24}


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture(params=[1, 2])
def threads(request):
    """The test runs with one thread and with two."""
    before = burn.get_num_threads()
    burn.set_num_threads(request.param)
    yield request.param
    burn.set_num_threads(before)


def tensor(values, dtype=DType.F32):
    return Tensor.from_data(values, Device.flex(), dtype=dtype)


def wide(x):
    """The values of a tensor, exactly, as float64."""
    return np.asarray(x.cast(DType.F64).numpy()) if x.dtype in FLOATS else np.asarray(x.numpy())


def check(a, b, dtype=DType.F32, bias=None):
    """a @ b (+ bias) stays within the rounding of a sum of k products; returns the result."""
    out = module.linear(a, b, bias) if bias is not None else a.matmul(b)
    x, y = wide(a), wide(b)
    want, size = x @ y, np.abs(x) @ np.abs(y)
    if bias is not None:
        want, size = want + wide(bias), size + np.abs(wide(bias))
    assert out.dtype == dtype
    assert tuple(out.shape) == want.shape
    bound = STEP[dtype] * (np.sqrt(x.shape[-1]) * 2 + 8) * size + ROUNDING[dtype] * 1.01 * np.abs(want) + 2.0**-25
    assert (np.abs(wide(out) - want) <= bound).all()
    return out


# Sizes around the tiles of all levels (4x8, 6x16, 14x32 and half of that for f64), and of each way of computing.
EDGES = (1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33)


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
@pytest.mark.parametrize("m", EDGES)
def test_odd_sizes(rng, dtype, m):
    for n, k in itertools.product(EDGES, (1, 2, 7, 8, 19)):
        check(tensor(rng.standard_normal((m, k)), dtype), tensor(rng.standard_normal((k, n)), dtype), dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
@pytest.mark.parametrize(
    "m, n, k",
    [
        (1, 700, 300),
        (700, 1, 300),
        (1, 1, 5000),
        (64, 65, 64),
        (3, 517, 400),
        (3, 1031, 600),
        (8, 2100, 260),
        (64, 130, 1100),
        (65, 500, 601),
        (500, 40, 350),
        (337, 311, 703),
    ],
)
def test_every_way(rng, threads, dtype, m, n, k):
    a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    check(tensor(a, dtype), tensor(b, dtype), dtype)
    check(tensor(a.T.copy(), dtype).swap_dims(0, 1), tensor(b, dtype), dtype)
    check(tensor(a, dtype), tensor(b.T.copy(), dtype).swap_dims(0, 1), dtype)


def layouts(x, dtype):
    """The matrix x behind strides of every sort."""
    rows, cols = x.shape
    padded = np.zeros((rows + 3, 2 * cols + 2), x.dtype)
    padded[2 : rows + 2, 1 : 2 * cols + 1 : 2] = x
    yield tensor(x, dtype)
    yield tensor(x.T.copy(), dtype).swap_dims(0, 1)
    yield Tensor.from_numpy(padded)[2 : rows + 2, 1 : 2 * cols + 1 : 2]
    yield Tensor.from_numpy(np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1])
    yield tensor(x[::-1].copy(), dtype).flip([0])


@pytest.mark.parametrize("m, n, k", [(1, 40, 33), (40, 1, 33), (13, 21, 17), (70, 50, 400)])
@pytest.mark.parametrize("numpy_type", ["float32", "float64"])
def test_strided_views(rng, numpy_type, m, n, k):
    dtype = DType.F32 if numpy_type == "float32" else DType.F64
    x, y = rng.standard_normal((m, k)).astype(numpy_type), rng.standard_normal((k, n)).astype(numpy_type)
    for a, b in itertools.product(layouts(x, dtype), layouts(y, dtype)):
        check(a, b, dtype)


def test_broadcast_rows_and_columns(rng):
    row, column = tensor(rng.standard_normal((1, 20))), tensor(rng.standard_normal((20, 1)))
    other = tensor(rng.standard_normal((20, 20)))
    for a in (row.expand([20, 20]), column.expand([20, 20])):
        check(a, other)
        check(other, a)
        check(a, a)


@pytest.mark.parametrize("m, n, k", [(1, 6, 5), (5, 1, 4), (9, 17, 8), (70, 33, 90)])
@pytest.mark.parametrize(
    "left, right",
    [
        ((4,), (4,)),
        ((4,), (1,)),
        ((1,), (4,)),
        ((2, 3), (2, 3)),
        ((2, 1), (1, 3)),
        ((1, 3), (2, 1)),
        ((2, 1, 3), (1, 2, 3)),
    ],
)
def test_batches(rng, threads, left, right, m, n, k):
    check(tensor(rng.standard_normal((*left, m, k))), tensor(rng.standard_normal((*right, k, n))))


def test_batch_of_permuted_heads(rng):
    q = tensor(rng.standard_normal((2, 11, 3, 8))).swap_dims(1, 2)
    k = tensor(rng.standard_normal((2, 11, 3, 8))).swap_dims(1, 2)
    check(q, k.swap_dims(2, 3))


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
@pytest.mark.parametrize("m, n, k", [(1, 5, 3), (5, 1, 3), (1, 1, 1), (6, 16, 10), (30, 47, 70), (90, 400, 500)])
def test_bias(rng, threads, dtype, m, n, k):
    a, b = tensor(rng.standard_normal((m, k)), dtype), tensor(rng.standard_normal((k, n)), dtype)
    check(a, b, dtype, tensor(rng.standard_normal(n), dtype))
    check(a, b, dtype, tensor(rng.standard_normal(2 * n), dtype)[::2])


@pytest.mark.parametrize("dtype", FLOATS + INTS, ids=lambda d: d.name)
def test_empty(dtype):
    def zeros(*shape):
        return tensor(np.zeros(shape), dtype)

    assert tuple(zeros(0, 3).matmul(zeros(3, 4)).shape) == (0, 4)
    assert tuple(zeros(4, 3).matmul(zeros(3, 0)).shape) == (4, 0)
    assert tuple(zeros(2, 0, 3).matmul(zeros(2, 3, 5)).shape) == (2, 0, 5)
    for m, n in ((1, 1), (1, 7), (7, 1), (20, 33)):
        out = zeros(m, 0).matmul(zeros(0, n))
        assert wide(out).tolist() == np.zeros((m, n)).tolist()


def test_empty_sum_leaves_the_bias():
    out = module.linear(tensor(np.zeros((3, 0))), tensor(np.zeros((0, 2))), tensor(np.array([1.0, -2.0])))
    assert out.numpy().tolist() == [[1.0, -2.0]] * 3


@pytest.mark.parametrize("k", [20_000, 100_003])
@pytest.mark.parametrize("m, n", [(1, 1), (1, 9), (9, 1), (3, 5), (20, 20)])
def test_long_sums_stay_accurate(rng, m, n, k):
    """All products positive, where errors of a plain running sum would show."""
    a, b = rng.random((m, k), np.float32), rng.random((k, n), np.float32)
    out = tensor(a).matmul(tensor(b)).numpy()
    np.testing.assert_allclose(out, a.astype(float) @ b.astype(float), rtol=2e-5)


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
@pytest.mark.parametrize("m, n, k", [(1, 9, 12), (9, 1, 12), (7, 19, 12), (65, 130, 600)])
def test_nan_and_infinity(dtype, m, n, k):
    a, b = np.zeros((m, k)), np.ones((k, n))
    a[0, k // 2] = np.nan
    out = wide(tensor(a, dtype).matmul(tensor(b, dtype)))
    assert np.isnan(out[0]).all() and (out[1:] == 0).all()
    a[0, k // 2] = np.inf
    out = wide(tensor(a, dtype).matmul(tensor(b, dtype)))
    assert (out[0] == np.inf).all() and (out[1:] == 0).all()
    a[0, k // 2], b[k // 2, n - 1] = 0, np.inf  # 0 * inf is NaN: zeros are not skipped
    out = wide(tensor(a, dtype).matmul(tensor(b, dtype)))
    assert np.isnan(out[:, n - 1]).all() and (out[:, : n - 1] == 0).all()


@pytest.mark.parametrize("numpy_type", ["float32", "float64"])
@pytest.mark.parametrize(
    "shapes",
    [
        ((1, 900), (900, 1000)),
        ((1000, 900), (900, 1)),
        ((200, 300), (300, 200)),
        ((90, 700), (700, 900)),
        ((600, 500), (500, 700)),
        ((260, 4000), (4000, 130)),
        ((1100, 1400), (1400, 96)),
        ((96, 1400), (1400, 1100)),
        ((16, 40, 50), (16, 50, 60)),
        ((3, 200, 200), (3, 200, 200)),
        ((16, 1, 300), (16, 300, 200)),
    ],
)
def test_threads_do_not_change_a_bit(rng, numpy_type, shapes):
    x, y = (rng.standard_normal(shape).astype(numpy_type) for shape in shapes)
    turned = Tensor.from_numpy(np.ascontiguousarray(y.swapaxes(-1, -2))).swap_dims(y.ndim - 2, y.ndim - 1)
    before, results = burn.get_num_threads(), []
    try:
        for count in (1, 2, 3, 7):
            burn.set_num_threads(count)
            a = Tensor.from_numpy(x)
            results.append(a.matmul(Tensor.from_numpy(y)).numpy().tobytes() + a.matmul(turned).numpy().tobytes())
    finally:
        burn.set_num_threads(before)
    assert len(set(results)) == 1


@pytest.mark.parametrize("dtype, numpy_type", [(DType.I32, np.int32), (DType.I64, np.int64)], ids=["i32", "i64"])
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (1, 30, 20), (30, 1, 20), (13, 37, 29), (70, 90, 400)])
def test_integers_wrap(rng, dtype, numpy_type, m, n, k):
    info = np.iinfo(numpy_type)
    x = rng.integers(info.min, info.max, (m, k), numpy_type)
    y = rng.integers(info.min, info.max, (k, n), numpy_type)
    want = x @ y  # NumPy wraps as well
    a, b = Tensor.from_numpy(x), Tensor.from_numpy(y)
    assert a.matmul(b).dtype == dtype
    assert np.array_equal(a.matmul(b).numpy(), want)
    assert np.array_equal(b.swap_dims(0, 1).matmul(a.swap_dims(0, 1)).numpy(), want.T)


# Sizes around tiles of 16 and 32, blocks of rows and slabs of k of products of bf16 where the processor has tiles.
TILED = [
    (2, 300, 100),
    (16, 64, 64),
    (17, 65, 33),
    (33, 31, 70),
    (100, 90, 130),
    (130, 260, 96),
    (600, 40, 1000),
    (40, 600, 3000),
    (270, 70, 2100),
]


@pytest.mark.parametrize("m, n, k", TILED)
def test_bf16_tiles(rng, m, n, k):
    """Every layout, with bias and ReLU; the same bits whatever the number of threads."""
    x, y, bias = (rng.standard_normal(shape) for shape in ((m, k), (k, n), (n,)))
    left = (tensor(x, DType.BF16), tensor(x.T.copy(), DType.BF16).swap_dims(0, 1))
    right = (tensor(y, DType.BF16), tensor(y.T.copy(), DType.BF16).swap_dims(0, 1))
    before = burn.get_num_threads()
    for a, b in itertools.product(left, right):
        results = []
        try:
            for count in (1, 2, 3, 6):
                burn.set_num_threads(count)
                results.append(wide(check(a, b, DType.BF16, tensor(bias, DType.BF16))))
            clipped = wide(activation.relu(module.linear(a, b, tensor(bias, DType.BF16))))
        finally:
            burn.set_num_threads(before)
        for result in results[1:]:
            assert np.array_equal(results[0], result)
        assert np.array_equal(clipped, np.maximum(results[0], 0))


@pytest.mark.parametrize("left, right", [((5,), (5,)), ((1,), (5,)), ((9,), (1,)), ((2, 1), (1, 3)), ((2, 3), (2, 3))])
def test_bf16_batches(rng, threads, left, right):
    for m, n, k in ((40, 33, 90), (17, 100, 40)):
        x, y = rng.standard_normal((*left, m, k)), rng.standard_normal((*right, k, n))
        check(tensor(x, DType.BF16), tensor(y, DType.BF16), DType.BF16)
        turned = tensor(y.swapaxes(-1, -2).copy(), DType.BF16)
        check(tensor(x, DType.BF16), turned.swap_dims(turned.ndim - 2, turned.ndim - 1), DType.BF16)


def test_bf16_views(rng):
    """Rows and columns apart, backwards and repeated."""
    x, y = rng.standard_normal((50, 80)), rng.standard_normal((80, 70))
    a, b = tensor(np.repeat(x, 2, 0), DType.BF16)[::2], tensor(y[:, ::-1].copy(), DType.BF16).flip([1])
    for left in (a, tensor(x[::-1].copy(), DType.BF16).flip([0]), tensor(x[:1], DType.BF16).expand([50, 80])):
        for right in (b, tensor(np.repeat(y, 2, 1), DType.BF16)[:, ::2], tensor(y[:, :1], DType.BF16).expand([80, 70])):
            check(left, right, DType.BF16)


@pytest.mark.parametrize("row, col", [(0, 0), (39, 63), (17, 5)])
def test_bf16_subnormals_count(row, col):
    """A subnormal times something huge is not lost, and times infinity it is not NaN."""
    a = np.zeros((40, 64))
    a[row, col] = 2.0**-130
    for other in (2.0**120, np.inf):
        b = np.full((64, 48), other) if other != np.inf else np.ones((64, 48))
        b[col] = other
        want = np.zeros((40, 48))
        want[row] = 2.0**-130 * other
        for x, y in ((a, b), (b.T, a.T)):
            out = wide(tensor(x, DType.BF16).matmul(tensor(y, DType.BF16)))
            if other != np.inf:
                assert np.array_equal(out, want if x is a else want.T)
            else:  # the other rows hold 0 times infinity
                assert (out[row] == np.inf).all() if x is a else (out[:, row] == np.inf).all()


def test_half_types_round_once():
    """4096 ones: a sum held in f16 would stop at 2048, one in bf16 at 256."""
    for dtype in (DType.F16, DType.BF16):
        ones = tensor(np.ones((1, 4096)), dtype)
        assert wide(ones.matmul(ones.swap_dims(0, 1))).tolist() == [[4096.0]]


def test_half_subnormals_and_overflow():
    tiny = tensor(np.full((1, 1), 2.0**-24), DType.F16)
    assert wide(tiny.matmul(tensor(np.ones((1, 1)), DType.F16))).item() == 2.0**-24
    assert wide(tiny.matmul(tensor(np.full((1, 1), 0.5), DType.F16))).item() == 0.0
    big = tensor(np.full((1, 2), 256.0), DType.F16)
    assert wide(big.matmul(big.swap_dims(0, 1))).item() == np.inf
