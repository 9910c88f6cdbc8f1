"""Linear algebra against NumPy, on every device."""

import math

import numpy as np
import pytest

from burn import linalg
from burn.linalg import Norm
from tests.cases import F32, F64, Arg, Case
from tests.cases import linalg as cases
from tests.cases.tensors import array, gradients, tensor
from tests.ops.checks import check_error, check_gradient, check_value, check_views, each


@each(cases.CASES)
def test_value(case, device):
    check_value(case, device)


@each([c for c in cases.CASES if c.grad])
def test_gradient(case, device):
    check_gradient(case, device)


@each([c for c in cases.CASES if not c.name.startswith(("lu", "qr", "det", "matvec"))])
def test_views(case, device):
    check_views(case, device)


@each(cases.ERRORS)
def test_error(case, device):
    check_error(case, device)


def test_norms_are_scaled(device):
    """Squares and powers neither overflow nor vanish; zeros and infinities are themselves."""
    x = np.array([[3e30, 4e30], [3e-30, 4e-30], [0, 0], [np.inf, 1], [np.nan, 1]], F32)
    want = np.array([[5e30], [5e-30], [0], [np.inf], [np.nan]], F32)
    np.testing.assert_allclose(array(linalg.l2_norm(tensor(x, device), 1)), want, rtol=1e-6)
    big = np.array([[3e30, 4e30, 5e30]], F32)
    np.testing.assert_allclose(array(linalg.lp_norm(tensor(big, device), 3.0, 1)), [[6e30]], rtol=1e-6)
    half = np.array([[300.0, 400.0]], "f2")
    np.testing.assert_array_equal(
        array(linalg.l2_norm(tensor(half, device), 1)), np.array([[500.0]], "f2"), strict=True
    )


@pytest.mark.parametrize(("dtype", "huge"), [(F32, 1e30), (F64, 1e300)], ids=["f32", "f64"])
def test_norms_and_cosines_at_any_scale(dtype, huge, device):
    """Squares of the values overflow or vanish; norms, cosines and gradients are those of moderate values, scaled."""
    rng = np.random.default_rng(0)
    a, b, ones = rng.normal(size=(3, 37)), rng.normal(size=(3, 37)), [np.ones((3, 1))]
    p, q = (np.linalg.norm(v, axis=1, keepdims=True) for v in (a, b))
    cosine = (a * b).sum(1, keepdims=True) / (p * q)
    slopes = (b / q - cosine * a / p) / p, (a / p - cosine * b / q) / q
    near = {"rtol": 2e-6 if dtype == F32 else 1e-13, "atol": 1e-7 if dtype == F32 else 1e-15}
    for s, t in ((huge, 1), (1 / huge, 1), (huge, 1 / huge), (huge, huge), (1 / huge, 1 / huge)):
        x, y = (a * s).astype(dtype), (b * t).astype(dtype)
        np.testing.assert_allclose(array(linalg.l2_norm(tensor(x, device), 1)).astype(F64) / s, p, **near)
        (unit,) = gradients(lambda v: linalg.l2_norm(v, 1), [x], ones, device)
        np.testing.assert_allclose(unit, a / p, **near)
        found = linalg.cosine_similarity(tensor(x, device), tensor(y, device), 1)
        np.testing.assert_allclose(array(found), cosine, **near)
        grads = gradients(lambda v, w: linalg.cosine_similarity(v, w, 1), [x, y], ones, device)
        for grad, scale, want in zip(grads, (s, t), slopes, strict=True):
            np.testing.assert_allclose(grad.astype(F64) * scale, want, **near)


def test_norms_along_other_axes(device):
    """Vectors that do not lie side by side in memory, and cosines between tensors that are broadcast."""
    x, y = np.random.default_rng(1).normal(size=(2, 2, 3, 5)).astype(F64)
    for axes in ([0], [1], [0, 2], [1, 2], [0, 1, 2]):
        want = np.sqrt((x**2).sum(tuple(axes), keepdims=True))
        np.testing.assert_allclose(array(linalg.l2_norm_dims(tensor(x, device), axes)), want, rtol=1e-14)
        (unit,) = gradients(lambda v, axes=axes: linalg.l2_norm_dims(v, axes), [x], [np.ones(want.shape)], device)
        np.testing.assert_allclose(unit, x / want, rtol=1e-14)
    y = y[:1]
    want = (x * y).sum(1, keepdims=True) / np.sqrt((x**2).sum(1, keepdims=True) * (y**2).sum(1, keepdims=True))
    np.testing.assert_allclose(
        array(linalg.cosine_similarity(tensor(x, device), tensor(y, device), 1)), want, rtol=1e-13
    )


def test_gradients_of_norms_at_zero_are_finite(device):
    x = np.array([[0.0, 0.0], [0.0, 2.0]])
    for norm in (1, 2, 3, 0.5, -2, math.inf, -math.inf):
        (grad,) = gradients(lambda t, n=norm: linalg.vector_norm(t, n, 1), [x], [np.ones((2, 1))], device)
        assert np.isfinite(grad).all(), norm
    y = np.array([[1.0, 2.0], [1.0, 2.0]])
    grads = gradients(lambda a, b: linalg.cosine_similarity(a, b, 1), [x, y], [np.ones((2, 1))], device)
    assert np.isfinite(grads).all()


def test_numbers_of_burn(device):
    x = tensor(np.array([[1.0, -2.0, 0.0], [0.0, 3.0, 4.0]]), device)
    for norm, want in ((3, [1, 3.2710664, 4]), (0, [1, 2, 1]), (1, [1, 5, 4]), (2, [1, 3.6055512, 4]), (math.inf, [1, 3, 4]),
                       (-math.inf, [0, 2, 0])):  # fmt: skip
        np.testing.assert_allclose(array(linalg.vector_norm(x, norm, 0)), [want], rtol=1e-7)
    row = tensor(np.array([-1.0, 2.0]), device)
    np.testing.assert_allclose(array(linalg.lp_norm(row, -2, 0)), [0.8944272], rtol=1e-7)
    np.testing.assert_allclose(array(linalg.lp_norm(row, -4, 0)), [0.9849581], rtol=1e-7)
    assert array(linalg.lp_norm(x, -2, 1)).tolist() == [[0.0], [0.0]]
    flat = tensor(np.array([[0.25, 0.0]]), device), tensor(np.array([[1.0, 0.0]]), device)
    assert array(linalg.cosine_similarity(flat[0], flat[0], 1, 0.5)).tolist() == [[0.25]]
    assert array(linalg.cosine_similarity(*flat, 1, 0.5)).tolist() == [[0.5]]
    square = tensor(np.array([[1.0, 2.0], [3.0, 4.0]]), device)
    np.testing.assert_allclose(array(linalg.vector_normalize(square, 1, 0, 0.25)), [[1 / 4, 2 / 6], [3 / 4, 4 / 6]])
    np.testing.assert_allclose(array(linalg.vector_normalize(square, Norm.L1, 0, 5)), [[1 / 5, 2 / 6], [3 / 5, 4 / 6]])


def test_norm_of_a_number():
    assert [Norm.from_(v) for v in (0, 1, 2.0, math.inf, 2**31 - 1, -(2**31), 2**32 - 1)] == [
        Norm.L0, Norm.L1, Norm.L2, Norm.LInf, Norm.LInf, Norm.LNegInf, Norm.LInf,
    ]  # fmt: skip
    assert Norm.from_(3) == Norm.Lp(3.0)
    with pytest.raises(TypeError, match="norm"):
        Norm.from_("two")


def test_lu_of_burn(device):
    p, lower, upper = (array(t) for t in linalg.lu(tensor(np.array([[4.0, 3.0], [6.0, 3.0]]), device)))
    np.testing.assert_allclose(lower, [[1, 0], [2 / 3, 1]])
    np.testing.assert_allclose(upper, [[6, 3], [0, 1]])
    np.testing.assert_array_equal(p, [[0, 1], [1, 0]])


def test_qr_of_burn(device):
    """The identity is reflected too; tiny columns are not taken for zero; a full Q has all its columns."""
    for t in linalg.qr(tensor(np.eye(3), device), False):
        np.testing.assert_array_equal(array(t), -np.eye(3))
    q, r = linalg.qr(tensor(np.array([[3.0, 2.0], [4.0, 6.0]]), device), True)
    np.testing.assert_allclose(array(q), [[-0.6, 0.8], [-0.8, -0.6]])
    np.testing.assert_allclose(array(r), [[-5, -6], [0, -2]], atol=1e-14)
    small = np.array([[3e-12, 2e-12], [4e-12, 6e-12], [0, 1e-12]])
    q, r = (array(t) for t in linalg.qr(tensor(small, device), False))
    assert q.shape == (3, 3)
    np.testing.assert_allclose(q @ r, small, rtol=1e-12)
    np.testing.assert_array_equal(np.tril(r, -1), np.zeros((3, 2)))


def test_svd(device):
    x = np.arange(1.0, 13).reshape(4, 3)
    for values in (x, x.T, np.stack([x, 2 * x])):
        u, s, vt = (array(t) for t in linalg.svd(tensor(values, device), 20))
        np.testing.assert_allclose(u * s[..., None, :] @ vt, values, atol=1e-12)
    np.testing.assert_allclose(s[0], [25.46240743603639, 1.290661675761233, 0], atol=1e-12)
    assert [t.dims() for t in linalg.svd(tensor(np.ones((0, 3)), device), 1)] == [[0, 0], [0], [0, 3]]


@pytest.mark.parametrize("m, n", [(3, 3), (4, 3), (3, 5), (1, 4), (3, 1)])
def test_gradient_of_svd(m, n, device):
    def factors(x):
        return tuple(np.linalg.svd(x, full_matrices=False))

    check_gradient(Case("svd", lambda x: linalg.svd(x, 20), factors, (Arg((2, m, n)),), (F64,), slack=50), device)


def test_gradient_of_svd_where_directions_are_free(device):
    """Equal singular values and zeros: that of the values is exact, the rest finite."""
    for x in (np.eye(3), np.zeros((3, 2)), np.diag([2.0, 2.0, 1.0]), np.ones((3, 3))):
        k = min(x.shape)
        (grad,) = gradients(lambda t: linalg.svd(t, 20)[1], [x], [np.ones(k)], device)
        u, _, vt = np.linalg.svd(x, full_matrices=False)
        np.testing.assert_allclose(grad, u @ vt, atol=1e-12)
        whole = gradients(
            lambda t: linalg.svd(t, 20), [x], [np.ones((3, k)), np.ones(k), np.ones((k, x.shape[1]))], device
        )
        assert np.isfinite(whole[0]).all()


def test_det(device):
    """Badly scaled matrices have their determinant, singular ones a gradient."""
    scaled = np.diag([1e10, 1, 1, 1]).astype(F32)[None]
    np.testing.assert_array_equal(array(linalg.det(tensor(scaled, device))), np.array([1e10], F32))
    x = np.array([[[4.0, 7, 3], [6, 1, 3], [8, 3, 7]]])
    np.testing.assert_allclose(array(linalg.det(tensor(x, device))), [-104])
    np.testing.assert_allclose(array(linalg.det(tensor(np.diag(np.arange(1.0, 9))[None], device))), [40320])
    (grad,) = gradients(linalg.det, [np.diag([1.0, 2, 3, 0])[None]], [np.ones(1)], device)
    np.testing.assert_allclose(grad, np.diag([0.0, 0, 0, 6])[None], atol=1e-12)


def test_half_precision(device):
    x = np.array([[4.0, 3.0], [6.0, 3.0]], "f2")
    for t in (*linalg.lu(tensor(x, device)), *linalg.qr(tensor(x, device), True), *linalg.svd(tensor(x, device), 9)):
        assert array(t).dtype == np.float16


def test_alias():
    import burn.tensor

    assert burn.tensor.linalg is linalg
