"""Matrix products against NumPy, on every device."""

import numpy as np
import pytest

import burn
from burn.tensor.activation import relu
from burn.tensor.module import linear
from tests.cases import F32, F64, I32, I64
from tests.cases import matmul as cases
from tests.cases.tensors import array, strided, tensor
from tests.ops.checks import VIEWS, check_error, check_gradient, check_value, each, with_threads


@each(cases.CASES)
def test_value(case, device):
    check_value(case, device)


@each([c for c in cases.CASES if c.grad])
def test_gradient(case, device):
    check_gradient(case, device)


@each(cases.CASES)
def test_views(case, device):
    """Views need not give the same bits: a kernel may sum transposed operands in another order."""
    arrays = case.inputs(case.dtypes[0])
    (want,) = case.expected(arrays)
    for kind in VIEWS:
        have = case.call(*(strided(a, device, kind) for a in arrays))
        np.testing.assert_allclose(array(have), want, rtol=1e-12, atol=1e-12, err_msg=kind)


@each(cases.ERRORS)
def test_error(case, device):
    check_error(case, device)


@pytest.mark.parametrize(
    "shape", [(257, 129, 193), (1, 700, 300), (300, 700, 1), (1067, 1001, 1), (8, 2000, 8)], ids=str
)
def test_threads(shape, flex):
    m, k, n = shape
    rng = np.random.default_rng(5)
    for dtype, tolerance in ((F32, 2e-5), (F64, 1e-12)):
        a, b = rng.normal(size=(m, k)).astype(dtype), rng.normal(size=(k, n)).astype(dtype)
        results = with_threads(lambda a=a, b=b: array(tensor(a, flex) @ tensor(b, flex)))
        np.testing.assert_array_equal(*results)
        np.testing.assert_allclose(results[0], a.astype(F64) @ b.astype(F64), rtol=tolerance, atol=tolerance * k**0.5)


@pytest.mark.parametrize(
    "shape",
    [
        (64, 1000, 50),
        (50, 1000, 67),
        (37, 3001, 33),
        (200, 2048, 250),
        (1030, 1024, 40),
        (40, 2050, 1100),
        (310, 1400, 330),
    ],
    ids=str,
)
def test_long_sums(shape, flex):
    """A slab of one operand stays near while the other goes by; the sums of chunks of k are added in the end. Where both
    operands are large, row panels of one go by a block of the other.
    """
    m, k, n = shape
    rng = np.random.default_rng(5)
    a, b, bias = rng.normal(size=(m, k)), rng.normal(size=(k, n)), rng.normal(size=n)
    for dtype, tolerance in ((F32, 2e-5), (F64, 1e-12)):
        want = np.maximum(a.astype(dtype).astype(F64) @ b.astype(dtype).astype(F64) + bias.astype(dtype), 0)
        for turned_a, turned_b in ((0, 0), (1, 0), (0, 1), (1, 1)):
            x = tensor(a.astype(dtype).T.copy(), flex).transpose() if turned_a else tensor(a.astype(dtype), flex)
            y = tensor(b.astype(dtype).T.copy(), flex).transpose() if turned_b else tensor(b.astype(dtype), flex)
            c = tensor(bias.astype(dtype), flex)
            have = with_threads(lambda x=x, y=y, c=c: array(relu(linear(x, y, c))))
            np.testing.assert_array_equal(*have)
            np.testing.assert_allclose(have[0], want, rtol=tolerance, atol=tolerance * k**0.5)
    flipped = tensor(a[::-1].copy(), flex).flip([0]) @ tensor(b[:, ::-1].copy(), flex).flip([1])
    np.testing.assert_allclose(array(flipped), a @ b, rtol=1e-12, atol=1e-10)
    for dtype in (I32, I64):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        x, y = rng.integers(low, high, (m, k), dtype), rng.integers(low, high, (k, n), dtype)
        np.testing.assert_array_equal(array(tensor(x, flex) @ tensor(y, flex)), x @ y)
    for dtype in (burn.DType.F16, burn.DType.BF16):
        x, y = tensor(a, flex).cast(dtype), tensor(b, flex).cast(dtype)
        want = array(x.cast(burn.DType.F64)) @ array(y.cast(burn.DType.F64))
        have = with_threads(lambda x=x, y=y: array((x @ y).cast(burn.DType.F64)))
        np.testing.assert_array_equal(*have)
        np.testing.assert_allclose(have[0], want, rtol=2**-8, atol=2**-8 * np.abs(want).max() / 8)


@pytest.mark.parametrize(
    "shape",
    [(2048, 64, 200), (2048, 200, 64), (1001, 40, 33), (600, 500, 300), (3, 5, 7), (70000, 3, 2), (1500, 1, 40), (1500, 40, 1),
     (0, 4, 5)],
    ids=str,
)  # fmt: skip
def test_gradients_of_linear_layers(shape, flex):
    """The gradients of weight and bias come of one pass, and of their own where only one is wanted."""
    rows, d_input, d_output = shape
    rng = np.random.default_rng(8)
    values = rng.normal(size=(rows, d_input)), rng.normal(size=(d_input, d_output)), rng.normal(size=d_output)
    slope = rng.normal(size=(rows, d_output)) + 0.3
    for dtype, tolerance in ((burn.DType.F32, 3e-6), (burn.DType.F64, 1e-13), (burn.DType.BF16, 2**-7)):
        x, weight, bias, g = (tensor(v, flex).cast(dtype) for v in (*values, slope))
        wide, steep = (array(t.cast(burn.DType.F64)) for t in (x, g))

        def run(wanted, x=x, leaves=(weight, bias), g=g):
            leaves = [
                t.autodiff().require_grad() if wants else t.autodiff() for t, wants in zip(leaves, wanted, strict=True)
            ]
            grads = (linear(x.autodiff(), *leaves) * g.autodiff()).sum().backward()
            found = [
                array(t.grad(grads).cast(burn.DType.F64)) for t, wants in zip(leaves, wanted, strict=True) if wants
            ]
            return np.concatenate([v.reshape(-1, d_output) for v in found])

        want = np.concatenate([wide.T @ steep, steep.sum(0)[None]])
        size = np.concatenate([abs(wide).T @ abs(steep), abs(steep).sum(0)[None]])
        have = with_threads(lambda run=run: run((True, True)))
        np.testing.assert_array_equal(*have)
        assert (abs(have[0] - want) <= tolerance * size).all()
        for wanted, rest in (((True, False), slice(0, -1)), ((False, True), slice(-1, None))):
            assert (abs(run(wanted) - want[rest]) <= tolerance * size[rest]).all()


def test_transposed_operands(device):
    rng = np.random.default_rng(6)
    for dtype in (F32, F64):
        a, b = rng.normal(size=(35, 20)).astype(dtype), rng.normal(size=(41, 35)).astype(dtype)
        want = a.T.astype(F64) @ b.T.astype(F64)
        have = tensor(a, device).transpose() @ tensor(b, device).transpose()
        np.testing.assert_allclose(array(have), want, rtol=1e-4, atol=1e-4)


def test_integers_wrap(device):
    for dtype in (I32, I64):
        rng = np.random.default_rng(7)
        a, b = (rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, s, dtype) for s in ((5, 9), (9, 4)))
        np.testing.assert_array_equal(array(tensor(a, device) @ tensor(b, device)), a @ b, strict=True)


def test_nan_and_inf_are_not_lost(device):
    """0 times NaN or infinity is NaN: no element is skipped for being 0."""
    a = np.zeros((3, 4), F32)
    b = np.ones((4, 5), F32)
    b[1, 2], b[2, 3] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(array(tensor(a, device) @ tensor(b, device)), a @ b)
