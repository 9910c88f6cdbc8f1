"""Normalisation against NumPy on every device: values, gradients, views, odd values, threads."""

import numpy as np
import pytest

from burn.nn import PairwiseDistance
from burn.tensor import module
from tests.cases import BF16, F16, F32, F64
from tests.cases import norm as cases
from tests.cases.tensors import array, gradients, tensor, threads
from tests.ops.checks import check_error, check_gradient, check_value, check_views, each

ALL = [*cases.CASES, *cases.MORE]


@each(ALL)
def test_value(case, device):
    check_value(case, device)


@each([c for c in ALL if c.grad])
def test_gradient(case, device):
    check_gradient(case, device)


@each(ALL)
def test_views(case, device):
    check_views(case, device)


@each(cases.ERRORS)
def test_error(case, device):
    check_error(case, device)


CALLS = {
    "layer": lambda x, g, b: module.layer_norm(x, g, b, 1e-5),
    "batch": lambda x, g, b: module.batch_norm_train(x, g, b, 1e-5).output,
    "group": lambda x, g, b: cases.op("group_norm", 1, g, b, 1e-5)(x),
}


def axes_of(kind):
    return 0 if kind == "batch" else 1


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize("dtype", (F64, F32), ids=str)
def test_large_means_do_not_cancel(kind, dtype, device):
    """The deviation of numbers far from 0 comes out as exactly as the numbers hold it."""
    rng = np.random.default_rng(1)
    x = (1e4 + rng.standard_normal((130, 130))).astype(dtype)
    one, zero = np.ones(130, dtype), np.zeros(130, dtype)
    have = array(CALLS[kind](*(tensor(v, device) for v in (x, one, zero)))).astype(F64)
    want, axis = x.astype(F64), axes_of(kind)
    want = (want - want.mean(axis, keepdims=True)) / np.sqrt(want.var(axis, keepdims=True) + 1e-5)
    np.testing.assert_allclose(have, want, atol=3e-6 if dtype == F32 else 1e-10)


@pytest.mark.parametrize("kind", CALLS)
def test_an_outlier_first_costs_no_digits(kind, device):
    x = np.random.default_rng(2).standard_normal((600, 600))
    x[0, :] += 1e4
    x[:, 0] += 1e4
    one, zero = np.ones(600, F32), np.zeros(600, F32)
    have = array(CALLS[kind](*(tensor(v, device) for v in (x.astype(F32), one, zero)))).astype(F64)
    want, axis = x.astype(F32).astype(F64), axes_of(kind)
    want = (want - want.mean(axis, keepdims=True)) / np.sqrt(want.var(axis, keepdims=True) + 1e-5)
    np.testing.assert_allclose(have, want, atol=2e-5, rtol=2e-6)


@pytest.mark.parametrize("kind", CALLS)
def test_nan_and_infinity_stay_in_their_row(kind, device):
    x = np.random.default_rng(3).standard_normal((40, 40)).astype(F32)
    x[3, 3], x[7, 7] = np.nan, np.inf
    have = array(CALLS[kind](*(tensor(v, device) for v in (x, np.ones(40, F32), np.zeros(40, F32)))))
    have = have.T if kind == "batch" else have
    touched = ~np.isfinite(have).all(1)
    assert touched.tolist() == [row in (3, 7) for row in range(40)]
    assert np.isnan(have[3]).all()


@pytest.mark.parametrize("dtype", (F16, BF16), ids=str)
def test_half_precision_does_not_overflow(dtype, device):
    """Sums, squares and statistics of half precision run in single precision."""
    x = np.full((2, 4, 65536), 200.0).astype(dtype)
    one, zero = np.ones(4, dtype), np.zeros(4, dtype)
    for call in (CALLS["group"], CALLS["batch"]):
        have = call(*(tensor(v, device) for v in (x, one, zero)))
        assert array(have).dtype == dtype
        np.testing.assert_array_equal(array(have).astype(F64), 0)
    mean = module.batch_norm_train(*(tensor(v, device) for v in (x, one, zero)), 1e-5).mean
    np.testing.assert_array_equal(array(mean).astype(F64), 200)


def test_nothing_to_normalise(device):
    one = tensor(np.ones(3), device)
    for shape in ((0, 3), (2, 0, 3)):
        assert array(module.layer_norm(tensor(np.ones(shape), device), one, one, 1e-5)).shape == shape
    nothing = tensor(np.ones(0), device)
    assert array(module.layer_norm(tensor(np.ones((2, 0)), device), nothing, None, 1e-5)).shape == (2, 0)
    for shape in ((0, 3), (0, 3, 4), (2, 3, 0)):
        x = tensor(np.ones(shape), device)
        output, mean, variance = module.batch_norm_train(x, one, one, 1e-5)
        assert array(output).shape == shape and np.isnan([array(mean), array(variance)]).all()
        assert array(module.batch_norm(x, one, one, one, one, 1e-5)).shape == shape
        empty, ones = np.ones(shape), np.ones(3)
        for kind in ("batch", "group"):
            grads = gradients(CALLS[kind], [empty, ones, ones], [empty], device)
            assert grads[0].shape == shape
            np.testing.assert_array_equal(grads[1:], np.zeros((2, 3)))


def test_statistics_are_untracked(device):
    x, one = (tensor(np.ones(s), device.autodiff()).require_grad() for s in ((4, 3), (3,)))
    output, mean, variance = module.batch_norm_train(x, one, one, 1e-5)
    assert output.is_tracked() and not mean.is_tracked() and not variance.is_tracked()


def test_only_what_is_tracked_gets_a_gradient(device):
    """Parameters alone, or the input alone."""
    rng = np.random.default_rng(4)
    values = [rng.standard_normal(s) for s in ((6, 5), (5,), (5,))]
    for call in CALLS.values():
        full = gradients(call, values, [values[0]], device)
        for k in range(3):
            leaves = [tensor(v, device.autodiff()) for v in values]
            leaves[k] = leaves[k].require_grad()
            loss = (call(*leaves) * tensor(values[0], device.autodiff())).sum()
            np.testing.assert_allclose(array(leaves[k].grad(loss.backward())), full[k], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(700, 700), (8, 16, 40, 40), (400, 60, 3)], ids=str)
def test_threads_do_not_matter(shape, flex):
    rng = np.random.default_rng(5)
    x, g = (rng.standard_normal(shape).astype(F32) for _ in range(2))
    for kind, call in CALLS.items():
        n = shape[-1] if kind == "layer" else shape[1]
        vectors = [rng.standard_normal(n).astype(F32) for _ in range(2)]
        results = []
        for count in (1, 2):
            with threads(count):
                results.append(gradients(call, [x, *vectors], [g], flex))
        for one, two in zip(*results, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("dtype", [F16, F32, F64], ids=str)
@pytest.mark.parametrize("shape", [(2100, 517), (5, 23, 67, 79), (3, 20, 190, 190)], ids=str)
def test_batches_larger_than_caches(shape, dtype, flex):
    """Channels that stay near until they are read again, and others: by one thread and by two."""
    rng = np.random.default_rng(6)
    n, axes = shape[1], (0, *range(2, len(shape)))
    x = (rng.standard_normal(shape) * 3 + 1).astype(dtype)
    x[0, 1] = np.nan
    gamma, beta = (rng.standard_normal(n).astype(dtype) for _ in range(2))
    results = []
    for count in (1, 2):
        with threads(count):
            results.append(
                [array(t) for t in module.batch_norm_train(*(tensor(v, flex) for v in (x, gamma, beta)), 1e-5)]
            )
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)
    wide, spread = x.astype(F64), [1, n] + [1] * (len(shape) - 2)
    mean, variance = wide.mean(axes), wide.var(axes)
    scale = (gamma.astype(F64) / np.sqrt(variance + 1e-5)).reshape(spread)
    want = (wide - mean.reshape(spread)) * scale + beta.astype(F64).reshape(spread)
    close = {F16: 4e-3, F32: 4e-6, F64: 1e-12}[dtype]
    for have, wanted in zip(results[0], (want, mean, variance), strict=True):
        np.testing.assert_allclose(have.astype(F64), wanted, rtol=close, atol=close)


@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("shape", [(3, 5), (2, 700), (5, 1), (600, 1024)], ids=str)
def test_distances_of_rows(shape, dtype, device):
    """Of any length, and so many that the gradient goes around the cache; rows that are equal have the gradient 0."""
    rng = np.random.default_rng(shape[1])
    x, y = (rng.standard_normal(shape).astype(dtype) for _ in range(2))
    y[-1] = x[-1]
    wide = x.astype("f8") - y.astype("f8")
    norms = np.sqrt((wide**2).sum(1))
    slopes = wide / np.where(norms == 0, 1, norms)[:, None]
    weights = np.arange(1, shape[0] + 1).astype(dtype)
    a, b = (tensor(v, device.autodiff()).require_grad() for v in (x, y))
    out = PairwiseDistance(2.0, 0.0)(a, b)
    grads = (out * tensor(weights, device)).sum().backward()
    close = {"rtol": {F16: 1e-3, BF16: 8e-3, F32: 1e-6, F64: 1e-14}[dtype], "atol": 6e-8 if dtype == F16 else 1e-12}
    np.testing.assert_allclose(array(out).astype("f8"), norms, **close)
    want = slopes * weights.astype("f8")[:, None]
    for sign, v in ((1, a), (-1, b)):
        np.testing.assert_allclose(array(v.grad(grads)).astype("f8"), sign * want, **close)


@pytest.mark.parametrize(("dtype", "huge"), [(F32, 1e30), (F64, 1e300), (F32, 1e-30), (F64, 1e-300)])
def test_distances_neither_overflow_nor_vanish(dtype, huge, device):
    x = np.array([[3.0, 1.0], [0.0, 2.0]]) * huge
    y = np.array([[0.0, -3.0], [5.0, 2.0]]) * huge
    a = tensor(x.astype(dtype), device.autodiff()).require_grad()
    out = PairwiseDistance(2.0, 0.0)(a, tensor(y.astype(dtype), device))
    np.testing.assert_allclose(array(out).astype("f8") / huge, [5, 5], rtol=1e-6)
    weights = np.array([[1.0, 2.0], [1e-3, 1e3]]).astype(dtype)
    for w in weights:
        out = PairwiseDistance(2.0, 0.0)(a, tensor(y.astype(dtype), device))
        grads = (out * tensor(w, device)).sum().backward()
        np.testing.assert_allclose(array(a.grad(grads)), [[0.6, 0.8], [-1, 0]] * w[:, None], rtol=1e-6)
