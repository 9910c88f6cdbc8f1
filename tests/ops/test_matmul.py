"""Matrix products against NumPy, on every device."""

import numpy as np
import pytest

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


@pytest.mark.parametrize("shape", [(257, 129, 193), (1, 700, 300), (300, 700, 1), (8, 2000, 8)], ids=str)
def test_threads(shape, flex):
    m, k, n = shape
    rng = np.random.default_rng(5)
    for dtype, tolerance in ((F32, 2e-5), (F64, 1e-12)):
        a, b = rng.normal(size=(m, k)).astype(dtype), rng.normal(size=(k, n)).astype(dtype)
        results = with_threads(lambda a=a, b=b: array(tensor(a, flex) @ tensor(b, flex)))
        np.testing.assert_array_equal(*results)
        np.testing.assert_allclose(results[0], a.astype(F64) @ b.astype(F64), rtol=tolerance, atol=tolerance * k**0.5)


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
