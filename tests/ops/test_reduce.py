"""Reductions, running reductions and ordering against NumPy, on every device."""

import numpy as np
import pytest

from tests.cases import BF16, F16, F32, F64
from tests.cases import reduce as cases
from tests.cases.tensors import array, gradients, tensor
from tests.ops.checks import check_error, check_gradient, check_threads, check_value, check_views, each


@each(cases.CASES)
def test_value(case, device):
    check_value(case, device)


@each([c for c in cases.CASES if c.grad])
def test_gradient(case, device):
    check_gradient(case, device)


@each(cases.CASES)
def test_views(case, device):
    check_views(case, device)


@each(cases.WHOLE[:8])
def test_whole_threads(case, flex):
    if case.args[0].shape is None:
        check_threads(case, flex, (300_001,))


@each([c for c in cases.ALONG if "prod" not in c.name])
def test_threads(case, flex):
    check_threads(case, flex, (61, 67, 71))


@each(cases.ERRORS)
def test_error(case, device):
    check_error(case, device)


@pytest.mark.parametrize(("name", "dtype", "values", "result"), cases.NARROW)
def test_narrow_integers(name, dtype, values, result, device):
    y = array(getattr(tensor(np.array(values, dtype), device), name)())
    assert (y.dtype, y.tolist()) == (dtype, [result])


def test_running_extremes(device):
    """NaN stays once seen; a tie sends the gradient to its latest position, a NaN to its own."""
    x = tensor(np.array([2.0, np.nan, 5.0, np.nan]), device)
    np.testing.assert_array_equal(array(x.cummax(0)), [2, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(array(x.cummin(0)), [2, np.nan, np.nan, np.nan])
    (grad,) = gradients(lambda t: t.cummax(0), [np.array([3.0, 1.0, 3.0])], [np.array([1.0, 2.0, 4.0])], device)
    np.testing.assert_array_equal(grad, [3, 0, 4])


def test_cumulative_product_gradient_with_zeros(device):
    for values in ([2.0, 0.0, 3.0, 4.0], [0.0, 0.0, 2.0], [2.0, 3.0, 0.0]):
        x, weights = np.array(values), np.arange(1.0, len(values) + 1)
        (grad,) = gradients(lambda t: t.cumprod(0), [x], [weights], device)
        step = 1e-6
        slope = [
            ((np.cumprod(x + step * e) - np.cumprod(x - step * e)) * weights).sum() / (2 * step) for e in np.eye(len(x))
        ]
        np.testing.assert_allclose(grad, slope, atol=1e-6)


def test_deviation_of_a_constant_has_a_gradient(device):
    (grad,) = gradients(lambda t: t.var_bias(0).sqrt(), [np.full(4, 3.0)], [np.ones(1)], device)
    np.testing.assert_array_equal(grad, np.zeros(4))


def test_float_sums_are_accurate(device):
    """A sum of a million float32 loses no more than its last digits; half precision accumulates wide."""
    x = np.random.default_rng(0).uniform(0, 1, (1000, 1000)).astype(F32)
    want = x.astype(F64)
    np.testing.assert_allclose(array(tensor(x, device).sum()), [want.sum()], rtol=3e-7)
    np.testing.assert_allclose(array(tensor(x, device).sum_dim(0)), want.sum(0, keepdims=True), rtol=1e-6)
    np.testing.assert_allclose(array(tensor(x, device).mean_dim(1)), want.mean(1, keepdims=True), rtol=1e-6)
    half = np.ones(5000, F16)
    assert array(tensor(half, device).sum()).tolist() == [5000]
    assert array(tensor(np.ones(512, BF16), device).sum()).astype(F32).tolist() == [512]
    assert array(tensor(np.full(70000, 1.0, F16), device).mean()).tolist() == [1]


def test_all_ways_to_name_an_axis_agree(device):
    x = tensor(np.arange(24.0).reshape(2, 3, 4), device)
    np.testing.assert_array_equal(array(x.sum_dim(-2)), array(x.sum_dim(1)))
    np.testing.assert_array_equal(array(x.sum_dims([-1, 0])), array(x.sum_dims([0, 2])))
    assert array(x.sum_dims_squeeze([0, 1])).shape == (4,)
    assert array(x.sum()).shape == (1,)


@pytest.mark.parametrize(
    ("dtype", "values", "want"),
    [
        (np.int64, [2**63 - 1, 2**63 - 1], 2**63 - 1),
        (np.int64, [-(2**63), -(2**63) + 1], -(2**63) + 1),
        (np.uint64, [2**64 - 1, 2**64 - 3, 2**64 - 2], 2**64 - 2),
    ],
)
def test_means_of_the_widest_integers(dtype, values, want, device):
    assert tensor(np.array(values, dtype), device).mean().item() == want
