"""Faults that users of other libraries reported, each standing for a kind of fault."""

import numpy as np
import pytest

from burn.device import Device
from burn.tensor import activation
from tests.cases import BF16, F16, F32, F64, I8
from tests.cases.tensors import array, gradients, tensor, threads


@pytest.fixture(params=["flex", "ndarray"])
def device(request):
    return getattr(Device, request.param)()


def log_sum_exp(x):
    """Through the largest value, as people write it."""
    m = x.max_dim(-1).detach()
    m = m.mask_fill(m.is_finite().bool_not(), 0.0)
    return (x - m).exp().sum_dim(-1).log() + m


def test_rows_of_minus_infinity(device):
    """pytorch#31829: -inf minus -inf is never formed."""
    x = np.array([[-np.inf, -np.inf], [-np.inf, 1.0], [1000.0, 1000.0]])
    np.testing.assert_allclose(array(log_sum_exp(tensor(x, device))), [[-np.inf], [1], [1000.6931471805599]])
    (grad,) = gradients(log_sum_exp, [x[1:]], [np.ones((2, 1))], device)
    np.testing.assert_allclose(grad, [[0, 1], [0.5, 0.5]])
    have = activation.softmax(tensor(np.array([[1000.0, 1000.0, -1000.0]]), device), 1)
    np.testing.assert_array_equal(array(have), [[0.5, 0.5, 0]])
    masked = activation.log_softmax(tensor(x[1:], device), 1)
    np.testing.assert_allclose(array(masked), [[-np.inf, 0], [-np.log(2), -np.log(2)]])


@pytest.mark.parametrize("length", [7, 8, 31, 512, 513])
@pytest.mark.parametrize("dtype", [F64, F32, F16, BF16], ids=str)
def test_nan_wins_wherever_it_stands(length, dtype, device):
    """burn#4814: NaN was kept or lost depending on position, backend and vector width."""
    for position in {0, 3, length // 2, min(8, length - 1), length - 1}:
        x = np.arange(length, dtype=F64)
        x[position] = np.nan
        assert np.isnan(array(tensor(x.astype(dtype), device).max()).astype(F64)).all()
        for axis, shape in ((1, (1, length)), (0, (length, 1)), (1, (2, length, 3))):
            others = [a for a in range(len(shape)) if a != axis]
            t = tensor(np.broadcast_to(np.expand_dims(x, others), shape).astype(dtype), device)
            for name in ("max_dim", "min_dim"):
                assert np.isnan(array(getattr(t, name)(axis)).astype(F64)).all(), (name, position)
            for name in ("argmax", "argmin"):
                assert (array(getattr(t, name)(axis)) == position).all(), (name, position)
            values, where = t.max_dim_with_indices(axis)
            assert np.isnan(array(values).astype(F64)).all() and (array(where) == position).all()


def test_first_nan_and_running_nan(device):
    x = tensor(np.array([2.0, np.nan, 5.0, np.nan]), device)
    assert np.isnan(array(x.max()))
    assert array(x.argmax(0)).tolist() == [1]
    np.testing.assert_array_equal(array(x.cummax(0)), [2, np.nan, np.nan, np.nan])
    first = tensor(np.array([np.nan, 1.0, np.nan]), device)
    assert array(first.argmax(0)).tolist() == array(first.argmin(0)).tolist() == [0]


def test_empty_tensors(device):
    """pytorch#70674: no random memory, and an error that says what is empty."""
    x = tensor(np.ones((0, 3), F32), device)
    np.testing.assert_array_equal(array(x.sum_dim(0)), np.zeros((1, 3), F32), strict=True)
    np.testing.assert_array_equal(array(x.prod_dim(0)), np.ones((1, 3), F32), strict=True)
    np.testing.assert_array_equal(array(x.mean_dim(0)), np.full((1, 3), np.nan, F32), strict=True)
    assert array(x.sum()).tolist() == [0] and array(x.prod()).tolist() == [1] and np.isnan(array(x.mean()))
    assert array((x > 0.0).any()).tolist() == [False] and array((x > 0.0).all()).tolist() == [True]
    for call in (lambda t: t.max(), lambda t: t.min(), lambda t: t.max_dim(0), lambda t: t.argmax(0)):
        with pytest.raises(ValueError, match="empty"):
            call(x)
    wide = tensor(np.ones((0, 4)), device)
    assert array(wide.max_dim(1)).shape == (0, 1)
    with pytest.raises(ValueError, match="empty"):
        wide.max_dim(0)
    (grad,) = gradients(lambda t: t.sum_dim(0), [np.ones((0, 3))], [np.ones((1, 3))], device)
    assert grad.shape == (0, 3)


def test_variance_of_one_value(device):
    x = tensor(np.array([5.0]), device)
    assert np.isnan(array(x.var(0))).all()
    np.testing.assert_array_equal(array(x.var_bias(0)), [0])


def test_remainder_has_the_sign_of_the_divisor(device):
    """pytorch#1164, burn#2427; zeros carry the divisor's sign too."""
    x, y = (tensor(np.array(v), device) for v in ([-7, 7, -7, -6], [3, -3, -3, 3]))
    assert array(x % y).tolist() == [2, -2, -1, 0]
    assert array(x // y).tolist() == [-3, -3, 2, -2]
    x, y = tensor(np.array([-7, 7]), device), tensor(np.array([2, -2]), device)
    assert array(x // y).tolist() == [-4, -4]
    x = tensor(np.array([-7.5, 7.5, -7.5, -1.0, 2.0, 5.0, 1.0]), device)
    y = tensor(np.array([2.0, -2.0, -2.0, 1.0, -1.0, 0.0, np.inf]), device)
    want = np.array([0.5, -0.5, -1.5, 0.0, -0.0, np.nan, 1.0])
    have = array(x.remainder(y))
    np.testing.assert_array_equal(have, want)
    np.testing.assert_array_equal(np.signbit(have[:5]), np.signbit(want[:5]))


def test_integer_division_never_traps(device):
    x = tensor(np.array([-128, 5], I8), device)
    assert array(x.div(tensor(np.array([-1, 2], I8), device))).tolist() == [-128, 2]
    for call in (lambda t: t.div(t - t), lambda t: t.div_scalar(0), lambda t: t % (t - t), lambda t: t // (t - t)):
        with pytest.raises(ZeroDivisionError):
            call(x)


@pytest.mark.parametrize("count", [1, 2, 8])
def test_repeated_indices_add_up_in_the_gradient(count, device):
    """pytorch#1631: the last contribution of a repeated index was the only one kept."""
    x, index, g = np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2, 2]), np.array([0.1, 0.2, 0.3, 0.4])
    with threads(count):
        for call in (lambda t, i: t.gather(0, i), lambda t, i: t.select(0, i), lambda t, i: t.take(0, i)):
            np.testing.assert_allclose(gradients(call, [x, index], [g], device)[0], [0.2, 0, 0.8])
        added = tensor(np.zeros(3), device).scatter(0, tensor(index, device), tensor(g, device), "Add")
        np.testing.assert_allclose(array(added), [0.2, 0, 0.8])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_order_with_nan(sign, device):
    """tt-metal#56626: NaN goes last ascending and first descending, whatever its sign bit."""
    nan = np.copysign(np.nan, sign)
    values, where = tensor(np.array([1.0, nan, 3.0, 2.0]), device).topk_with_indices(2, 0)
    np.testing.assert_array_equal(array(values), [np.nan, 3])
    assert array(where).tolist() == [1, 2]
    x = tensor(np.array([3.0, nan, 1.0, 2.0]), device)
    assert array(x.argsort(0)).tolist() == [2, 3, 0, 1]
    assert array(x.argsort_descending(0)).tolist() == [1, 0, 3, 2]


def test_order_is_stable(device):
    x = tensor(np.array([2.0, 1.0, 2.0, 1.0, 2.0]), device)
    assert array(x.argsort(0)).tolist() == [1, 3, 0, 2, 4]
    assert array(x.argsort_descending(0)).tolist() == [0, 2, 4, 1, 3]
    assert array(x.topk(0, 0)).shape == (0,)
    with pytest.raises(ValueError, match="6"):
        x.topk(6, 0)


def test_product_gradient_with_zeros(device):
    """tinygrad#17404: the gradient does not divide by the input."""
    for values, want in (([0.0, 2.0, 5.0], [10, 0, 0]), ([0.0, 0.0, 3.0], [0, 0, 0]), ([2.0, 3.0, 4.0], [12, 8, 6])):
        for call in (lambda t: t.prod(), lambda t: t.prod_dim(0)):
            np.testing.assert_allclose(gradients(call, [np.array(values)], [np.ones(1)], device)[0], want)
