"""Resampling and grid sampling against NumPy, on every device."""

import numpy as np
import pytest

from burn.tensor.ops import GridSampleOptions, InterpolateMode
from tests.cases import F32
from tests.cases import interpolate as cases
from tests.cases.tensors import array, gradients, tensor
from tests.ops.checks import check_error, check_gradient, check_threads, check_value, check_views, each


@each(cases.CASES)
def test_value(case, device):
    check_value(case, device)


@each(cases.CASES)
def test_gradient(case, device):
    check_gradient(case, device)


@each(cases.CASES)
def test_views(case, device):
    check_views(case, device)


@each(cases.FACTORS)
def test_threads(case, flex):
    check_threads(case, flex, (3, 5, 61, 131))


@each(cases.ERRORS)
def test_error(case, device):
    check_error(case, device)


X = np.array([[[[1.0, 2.0, 4.0, 8.0]]]])


@pytest.mark.parametrize(
    ("mode", "aligned", "size", "want"),
    [
        ("Nearest", True, 6, [1, 1, 2, 4, 4, 8]),
        ("NearestExact", True, 6, [1, 2, 2, 4, 8, 8]),
        ("Bilinear", True, 6, [1, 1.6, 2.4, 3.6, 5.6, 8]),
        ("Bilinear", False, 6, [1, 1.5, 7 / 3, 11 / 3, 6, 8]),
        ("Bicubic", True, 6, [1, 1.396, 2.352, 3.288, 5.768, 8]),
        ("Bicubic", False, 6, [0.913194, 1.3125, 2.304398, 3.383102, 6.1875, 8.347222]),
        ("Lanczos3", True, 6, [1, 1.460063, 2.226008, 3.244483, 5.920592, 8]),
        ("Lanczos3", False, 3, [1.05859, 2.571429, 7.593269]),
        ("Bilinear", False, 3, [7 / 6, 3, 22 / 3]),
        ("Bicubic", False, 3, [1.108796, 2.71875, 7.460648]),
        ("Nearest", False, 3, [1, 2, 4]),
        ("NearestExact", False, 3, [1, 4, 8]),
    ],
)
def test_worked_rows(mode, aligned, size, want, device):
    have = array(cases.function(mode, aligned, output_size=[1, size])(tensor(X, device)))
    np.testing.assert_allclose(have[0, 0, 0], want, rtol=1e-6)


def test_one_point(device):
    """A single point of the result or of the input divides by nothing."""
    x = tensor(np.array([[[[4.0, 8.0, 12.0]]]]), device)
    for aligned, want in ((True, 4), (False, 8)):
        assert array(cases.function("Bilinear", aligned, output_size=[1, 1])(x)).item() == want
    seven = tensor(np.full((1, 1, 1, 1), 7.0), device)
    for mode in cases.MODES:
        for aligned in (True, False):
            have = array(cases.function(mode, aligned, output_size=[1, 3])(seven))
            np.testing.assert_allclose(have, np.full((1, 1, 1, 3), 7.0), rtol=1e-12)


def test_sizes_from_factors(device):
    for size, factor, want in ((88, 120 / 88, 119), (10, 0.7, 7), (5, 1.4, 7), (2, 1.00001, 2)):
        x = np.arange(float(size)).reshape(1, 1, 1, size)
        have = array(cases.function("Nearest", scale_factor=[1.0, factor])(tensor(x, device)))
        assert have.shape == (1, 1, 1, want)
    assert have.tolist() == [[[[0, 1]]]]


def test_the_same_size_is_the_input(device):
    x = tensor(np.array([[[[1.0, np.nan], [np.inf, 2.0]]]]), device)
    for mode in cases.MODES:
        assert cases.function(mode, output_size=[2, 2])(x) is x


def test_an_empty_result(device):
    x = tensor(np.ones((1, 2, 3, 4)), device)
    assert array(cases.function("Bicubic", output_size=[0, 5])(x)).shape == (1, 2, 0, 5)
    assert array(cases.function("Bicubic", output_size=[2, 5])(x[:0])).shape == (0, 2, 2, 5)


@pytest.mark.parametrize("mode", cases.MODES)
@pytest.mark.parametrize("out", [[64, 70], [5, 9], [33, 100]])
def test_a_nan_stays_near(mode, out, device):
    """Elements that have no part in a result do not spoil it, in either direction."""
    rng = np.random.default_rng(6)
    for dtype in (np.dtype("f8"), F32):
        x = rng.standard_normal((1, 2, 32, 35)).astype(dtype)
        x[:, :, 13, 17] = np.nan
        have = array(cases.function(mode, False, output_size=out)(tensor(x, device)))
        down, across = (cases.matrix(n, m, mode, False) for n, m in zip((32, 35), out, strict=True))
        reach = {"Bilinear": 1.0, "Bicubic": 2.0, "Lanczos3": 3.0}.get(mode, 0.0)

        def touched(n, m, at, used, reach=reach):
            places = (np.arange(m) + 0.5) * n / m - 0.5
            return (np.abs(places - at) <= reach) | (used[:, at] != 0)

        near = np.outer(touched(32, out[0], 13, down), touched(35, out[1], 17, across))
        assert not np.isnan(have[:, :, ~near]).any()
        assert np.isnan(have[:, :, np.outer(down[:, 13] != 0, across[:, 17] != 0)]).all()
        g = np.ones((1, 2, *out))
        g[0, 0, out[0] // 2, out[1] // 2] = np.nan
        (grad,) = gradients(cases.function(mode, False, output_size=out), [np.ones_like(x)], [g], device)
        weights = np.abs(np.outer(down[out[0] // 2], across[out[1] // 2]))
        assert np.isnan(grad[0, 0][weights > 1e-9]).all() and not np.isnan(grad[0, 0][weights == 0]).any()
        assert not np.isnan(grad[0, 1]).any()


def test_worked_points(device):
    x = np.array([[[[1.0, 2.0], [3.0, 4.0]]]])
    grid = np.array([[[[-1, -1], [0, 0], [0.5, -0.25], [1.5, 0]]]])
    for options, want in (
        (("Bilinear", "Zeros", False), [0.25, 2.5, 2.5, 0]),
        (("Bilinear", "Border", False), [1, 2.5, 2.5, 3]),
        (("Bilinear", "Reflection", False), [1, 2.5, 2.5, 3]),
        (("Bilinear", "Zeros", True), [1, 2.5, 2.5, 2.25]),
        (("Bilinear", "Border", True), [1, 2.5, 2.5, 3]),
        (("Bilinear", "Reflection", True), [1, 2.5, 2.5, 2.75]),
        (("Nearest", "Zeros", False), [1, 1, 2, 0]),
    ):
        have = array(cases.sampler(*options)(tensor(x, device), tensor(grid, device)))
        np.testing.assert_allclose(have[0, 0, 0], want, err_msg=str(options))
    plain, told = tensor(x, device), tensor(grid, device)
    np.testing.assert_array_equal(array(plain.grid_sample_2d(told)), array(cases.sampler()(plain, told)))
    by_mode = array(plain.grid_sample_2d(told, InterpolateMode.Nearest))
    np.testing.assert_array_equal(
        by_mode, array(plain.grid_sample_2d(told, GridSampleOptions(InterpolateMode.Nearest)))
    )


@pytest.mark.parametrize("mode", ["Bilinear", "Nearest", "Bicubic"])
def test_coordinates_far_out(mode, device):
    """Coordinates that are infinite, NaN or huge: 0 beside zeros, the middle beside a border, NaN in a mirrored picture."""
    x = np.arange(1.0, 13.0).reshape(1, 1, 3, 4)
    odd = np.array([[[[np.inf, 0], [np.nan, 0], [0, -np.inf], [1e30, 0], [-1e30, 1e12], [1e300, -1e300]]]])
    with np.errstate(all="ignore"):
        have = {p: array(cases.sampler(mode, p)(tensor(x, device), tensor(odd, device)))[0, 0, 0] for p in
                ("Zeros", "Border", "Reflection")}  # fmt: skip
    assert have["Zeros"].tolist() == [0] * 6
    assert np.isnan(have["Reflection"][:3]).all() and (np.abs(have["Reflection"][3:] - 6.5) < 6.4).all()
    middle = array(cases.sampler(mode, "Border")(tensor(x, device), tensor(np.zeros((1, 1, 1, 2)), device))).item()
    np.testing.assert_allclose(have["Border"], [middle] * 3 + [8, 9, 4])
    for padding in ("Zeros", "Border", "Reflection"):
        dx, dgrid = gradients(cases.sampler(mode, padding), [x, odd[:, :, :3]], [np.ones((1, 1, 1, 3))], device)
        assert np.isfinite(dx).all() and np.isfinite(dgrid).all()


def test_no_points_and_no_pictures(device):
    x, grid = tensor(np.ones((2, 3, 4, 5)), device), tensor(np.zeros((2, 3, 2, 2)), device)
    assert array(x.grid_sample_2d(grid[:, :0])).shape == (2, 3, 0, 2)
    assert array(x[:0].grid_sample_2d(grid[:0])).shape == (0, 3, 3, 2)
    dx, dgrid = gradients(
        cases.sampler(), [np.ones((1, 2, 3, 4)), np.zeros((1, 0, 2, 2))], [np.ones((1, 2, 0, 2))], device
    )
    assert not dx.any() and dgrid.shape == (1, 0, 2, 2)


@pytest.mark.parametrize("mode", ["Nearest", "Bilinear"])
def test_infinite_gradients(mode, flex):
    """An element that few of the result come from gets infinity too, not NaN."""
    grad = np.ones((1, 1, 1, 9))
    grad[..., 2] = np.inf
    (dx,) = gradients(cases.function(mode, output_size=[1, 9]), [np.ones((1, 1, 1, 4))], [grad], flex)
    assert np.isinf(dx).any() and not np.isnan(dx).any()


def test_large_planes_are_cut(flex):
    """Planes of which several tasks have a part."""
    x = np.random.default_rng(8).standard_normal((1, 2, 150, 260))
    for mode in cases.MODES:
        for out in ([301, 520], [290, 77]):
            have = array(cases.function(mode, False, output_size=out)(tensor(x, flex)))
            want = cases.resized(x, out, mode, False)
            np.testing.assert_allclose(have, want, rtol=1e-11, atol=1e-11)
            g = np.random.default_rng(9).standard_normal(want.shape)
            (grad,) = gradients(cases.function(mode, False, output_size=out), [x], [g], flex)
            down, across = cases.matrix(150, out[0], mode, False), cases.matrix(260, out[1], mode, False)
            np.testing.assert_allclose(grad, down.T @ g @ across, rtol=1e-10, atol=1e-10)
