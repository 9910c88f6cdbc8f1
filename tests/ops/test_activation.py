"""Activation functions against NumPy, on every device."""

import numpy as np

from tests.cases import F32
from tests.cases import activation as cases
from tests.cases.tensors import array, gradients, tensor
from tests.ops.checks import (
    check_error,
    check_gradient,
    check_special,
    check_threads,
    check_value,
    check_views,
    each,
)

softmax, log_softmax = cases.function("softmax", -1), cases.function("log_softmax", -1)


@each(cases.CASES)
def test_value(case, device):
    check_value(case, device)


@each([c for c in cases.CASES if c.grad])
def test_gradient(case, device):
    check_gradient(case, device)


@each(cases.CASES)
def test_views(case, device):
    check_views(case, device)


@each([c for c in cases.CASES if c.special])
def test_special(case, device):
    check_special(case, device, signs=False)


@each(cases.POINTWISE[:-2])
def test_threads(case, flex):
    check_threads(case, flex, (300_001,))


@each(cases.rows("softmax", cases.softmax, 0, -1, 1) + cases.rows("log_softmax", cases.softmax, 0, -1, 1))
def test_row_threads(case, flex):
    check_threads(case, flex, (37, 91, 53))


@each(cases.ERRORS)
def test_error(case, device):
    check_error(case, device)


def test_softmax_special_rows(device):
    """A row of -inf only, with +inf or with NaN is NaN, the others are untouched; large values do not overflow."""
    x = np.array([[-np.inf] * 3, [0.0, np.inf, 1.0], [np.nan, 0.0, 0.0], [1000, 1000, -1000], [-np.inf, 1, -np.inf]])
    want = np.array([[np.nan] * 3] * 3 + [[0.5, 0.5, 0], [0, 1, 0]])
    np.testing.assert_array_equal(array(softmax(tensor(x, device))), want)
    np.testing.assert_array_equal(array(softmax(tensor(x.astype(F32), device))), want)
    have = array(log_softmax(tensor(x, device)))
    np.testing.assert_allclose(
        have, np.array([[np.nan] * 3] * 3 + [[-np.log(2), -np.log(2), -2000 - np.log(2)], [-np.inf, 0, -np.inf]])
    )
    quiet = array(cases.function("quiet_softmax", -1)(tensor(x[[0, 3]], device)))
    np.testing.assert_allclose(quiet, [[0, 0, 0], [0.5, 0.5, 0]])


def test_log_softmax_gradient_of_masked_entries(device):
    """-inf beside a finite value: the mask has no gradient, nothing is NaN."""
    x = np.array([[-np.inf, 1.0, 2.0]])
    grad = gradients(lambda t: log_softmax(t)[:, 1:], [x], [np.array([[1.0, 0.0]])], device)[0]
    p = np.exp([1.0, 2.0]) / np.exp([1.0, 2.0]).sum()
    np.testing.assert_allclose(grad, [[0, 1 - p[0], -p[1]]], atol=1e-12)
    np.testing.assert_allclose(gradients(softmax, [x], [np.array([[1.0, 2.0, 3.0]])], device)[0][0, 0], 0)


def test_gradients_at_large_inputs_are_finite(device):
    """Branches that are not taken do not poison the gradient."""
    x = np.array([-1000.0, -100.0, 100.0, 1000.0])
    for name, args in {"elu": (1.3,), "celu": (1.3,), "selu": (), "softplus": (1.0,), "mish": (), "silu": (),
         "gelu": (),
                       "gelu_approximate": (), "log_sigmoid": (), "sigmoid": (), "hard_swish": ()}.items():  # fmt: skip
        for dtype in (np.float64, F32):
            (grad,) = gradients(cases.function(name, *args), [x.astype(dtype)], [np.ones(4)], device)
            assert np.isfinite(grad).all(), name


def test_kinks(device):
    """Subgradients at the kinks are Burn's."""
    for name, args, at, want in (
        ("relu", (), [0.0, -0.0], [0, 0]),
        ("relu6", (), [0.0, 6.0], [1, 1]),
        ("hardtanh", (-1.0, 1.0), [-1.0, 1.0], [1, 1]),
        ("leaky_relu", (0.1,), [0.0], [1]),
        ("elu", (1.3,), [0.0], [1.3]),
        ("celu", (1.3,), [0.0], [1]),
        ("selu", (), [0.0], [cases.SELU_SCALE]),
    ):
        (grad,) = gradients(cases.function(name, *args), [np.array(at)], [np.ones(len(at))], device)
        np.testing.assert_allclose(grad, want, err_msg=name)
