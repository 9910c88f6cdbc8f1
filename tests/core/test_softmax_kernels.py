"""softmax and log_softmax against float64: rows and columns, short and long, infinities, gradients."""

import numpy as np
import pytest

import burn
from burn.device import Device
from burn.tensor import DType, Tensor, activation

ROUNDING = {DType.F32: 2e-6, DType.F64: 1e-13, DType.F16: 2e-3, DType.BF16: 2e-2}
# Rows below a vector, in L1 and longer; columns narrower than a vector, off the grid, and of several tiles.
SHAPES = [(3, 1, 1), (9, 10, 1), (3, 513, 1), (2, 9001, 1), (2, 5, 3), (3, 17, 16), (2, 300, 257), (1, 2100, 40)]


def tensor(values, dtype=DType.F32, device=None):
    return Tensor.from_data(values, device or Device.flex(), dtype=dtype)


def exact(x):
    return np.asarray(x.cast(DType.F64).numpy())


def reference(x):
    """softmax and its logarithm over axis 1 in float64."""
    with np.errstate(all="ignore"):
        top = x.max(1, keepdims=True)
        e = np.exp(x - top)
        return e / e.sum(1, keepdims=True), x - top - np.log(e.sum(1, keepdims=True))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ROUNDING, ids=lambda d: d.name)
@pytest.mark.parametrize("size", (1, 300))
def test_values(dtype, shape, size):
    x = tensor(np.random.default_rng(2).standard_normal(shape) * size, dtype)
    soft, log = reference(exact(x))
    near = {"rtol": ROUNDING[dtype], "atol": ROUNDING[dtype]}
    np.testing.assert_allclose(exact(activation.softmax(x, 1)), soft, **near)
    np.testing.assert_allclose(exact(activation.log_softmax(x, 1)), log, **near)


@pytest.mark.parametrize("shape", [(4, 10, 1), (3, 600, 1), (2, 9001, 1), (2, 40, 5), (1, 70, 70)], ids=str)
@pytest.mark.parametrize("dtype", (DType.F32, DType.F64), ids=lambda d: d.name)
def test_gradients(dtype, shape):
    rng = np.random.default_rng(4)
    values, weight = rng.standard_normal(shape), rng.standard_normal(shape)
    for function, of in ((activation.softmax, 0), (activation.log_softmax, 1)):
        x = tensor(values, dtype, Device.flex().autodiff()).require_grad()
        g = tensor(weight, dtype, Device.flex().autodiff())
        got = exact(x.grad((function(x, 1) * g).sum().backward()))
        soft, w = reference(exact(x.inner()))[0], exact(g.inner())
        want = (w - (w * soft).sum(1, keepdims=True)) * soft if of == 0 else w - soft * w.sum(1, keepdims=True)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 if dtype is DType.F32 else 1e-11)


@pytest.mark.parametrize("inner", (1, 3, 32))
@pytest.mark.parametrize("n", (3, 40, 9000))
def test_rows_without_a_finite_answer(n, inner):
    values = np.zeros((4, n, inner), "f4")
    values[0] = -np.inf
    values[1, n - 1] = np.inf
    values[2, n // 2] = np.nan
    values[3, 1:] = -np.inf
    for function in (activation.softmax, activation.log_softmax):
        out = exact(function(tensor(values), 1))
        assert np.isnan(out[:3]).all()
        assert (out[3, 0] == (1 if function is activation.softmax else 0)).all()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_quiet(shape):
    """As the softmax of rows with one more element, 0; -inf alone gives zeros, and nothing overflows."""
    for size in (1, 300):
        values = np.random.default_rng(3).standard_normal(shape) * size
        values[0, :, 0] = -np.inf
        values[-1, :, -1] = -1000.0
        more = np.concatenate([values, np.zeros((shape[0], 1, shape[2]))], 1)
        for dtype in (DType.F32, DType.F64):
            out = exact(activation.quiet_softmax(tensor(values, dtype), 1))
            want = reference(np.concatenate([exact(tensor(values, dtype)), more[:, -1:]], 1))[0][:, :-1]
            np.testing.assert_allclose(out, want, rtol=ROUNDING[dtype], atol=ROUNDING[dtype])


def test_large_values():
    assert exact(activation.softmax(tensor([[1000.0, 1000.0, -1000.0]]), 1)).tolist() == [[0.5, 0.5, 0]]
    out = exact(activation.log_softmax(tensor([[1e4, 1e4, 1e4 - 1]]), 1))
    np.testing.assert_allclose(out, reference(np.array([[1e4, 1e4, 1e4 - 1]]))[1], rtol=1e-6)


def test_threads_do_not_matter():
    before = burn.get_num_threads()
    x = tensor(np.random.default_rng(0).standard_normal((700, 1024)))
    results = []
    for count in (1, 2):
        burn.set_num_threads(count)
        results.append((activation.softmax(x, 1).numpy().tobytes(), activation.softmax(x, 0).numpy().tobytes()))
    burn.set_num_threads(before)
    assert results[0] == results[1]


def test_long_columns_are_summed_in_parts():
    """Thousands of small terms after a large one are not lost, in the values and in the gradient."""
    values = np.full((1, 20_000, 40), -9.0)
    values[0, 0] = 0
    soft = exact(activation.softmax(tensor(values), 1))
    np.testing.assert_allclose(soft, reference(values)[0], rtol=3e-6)
    x = tensor(values, device=Device.flex().autodiff()).require_grad()
    weight = np.linspace(0, 1, values.size).reshape(values.shape)
    grad = exact(x.grad((activation.softmax(x, 1) * tensor(weight, device=Device.flex().autodiff())).sum().backward()))
    want = soft * (weight - (soft * weight).sum(1, keepdims=True))
    np.testing.assert_allclose(grad, want, rtol=1e-5, atol=1e-7)
