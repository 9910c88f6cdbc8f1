"""Pooling against NumPy, on every device."""

import re

import numpy as np
import pytest

from burn.errors import ArgumentTypeError
from burn.tensor.module import max_pool2d
from tests.cases import F16, F32
from tests.cases import pool as cases
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


@each([*cases.MAX[9:12], *cases.AVERAGE[4:7], *cases.ADAPTIVE[1:4]])
def test_threads(case, flex):
    check_threads(case, flex, (3, 5, 67, 131))


@each(cases.ERRORS)
def test_error(case, device):
    check_error(case, device)


def pool(name, cls, x, device, kernel, **fields):
    return cases.function(name, (cls, kernel, fields))(tensor(np.asarray(x), device))


def test_windows_in_ceil_mode(device):
    """The last window starts inside the input or the padding before it."""
    for kernel, stride, pad, dilation, size, want in (
        (2, 2, 1, 1, 5, 3), (2, 3, 1, 2, 5, 2), (1, 3, 0, 1, 5, 2), (3, 2, 1, 1, 6, 4), (3, 2, 0, 1, 6, 3), (3, 2, 0, 1, 2, 1),
        (4, 2, 1, 1, 2, 1),
    ):  # fmt: skip
        options = {"stride": [stride], "padding": [pad], "dilation": [dilation], "ceil_mode": True}
        have = array(pool("max_pool1d", "MaxPoolOptions", np.zeros((1, 1, size)), device, [kernel], **options))
        assert have.shape == (1, 1, want)
    x = [[[3.0, 1.0, 4.0, 1.0, 5.0]]]
    have = pool("max_pool1d", "MaxPoolOptions", x, device, [2], stride=[2], padding=[1], ceil_mode=True)
    assert array(have).tolist() == [[[3.0, 4.0, 5.0]]]


def test_padding_on_one_side_is_not_counted(device):
    fields = {"stride": [2], "padding": [(0, 1)]}
    x = [[[2.0, 4.0, 6.0, 8.0, 10.0]]]
    for counted, want in ((False, [3, 7, 10]), (True, [3, 7, 5])):
        have = pool("avg_pool1d", "AvgPoolOptions", x, device, [2], count_include_pad=counted, **fields)
        assert array(have).tolist() == [[want]]
    have = pool("avg_pool2d", "AvgPoolOptions", [[[[4.0]]]], device, [2, 2], stride=[1, 1], padding=[(2, 0), (0, 1)],
                count_include_pad=False)  # fmt: skip
    assert array(have).tolist() == [[[[0], [4]]]]


@pytest.mark.parametrize("dtype", [np.dtype("f8"), F32, F16], ids=str)
def test_nan_ties_and_infinities(dtype, device):
    """NaN is the largest and has the place of the window's last one; of equal cells the first counts; -inf is a cell."""
    rng = np.random.default_rng(2)
    for width in (5, 9, 33):
        x = rng.integers(0, 3, (2, 3, 6, width)).astype(dtype)
        x[rng.random(x.shape) < 0.15] = np.nan
        x[rng.random(x.shape) < 0.3] = -np.inf
        x[0, 0] = -np.inf
        for kernel, fields in (*cases.PLANE, *cases.DILATED):
            have = pool("max_pool2d_with_indices", "MaxPoolOptions", x, device, kernel, **fields)
            alone = pool("max_pool2d", "MaxPoolOptions", x, device, kernel, **fields)
            values, places = cases.largest(x.astype("f8"), kernel, True, **fields)
            np.testing.assert_array_equal(array(have[0]), values.astype(dtype))
            np.testing.assert_array_equal(array(alone), values.astype(dtype))
            np.testing.assert_array_equal(array(have[1]), places)


def test_a_window_of_padding_has_no_place(device):
    x = np.arange(1.0, 5.0).reshape(1, 1, 2, 2)
    fields = {"stride": [1, 1], "padding": [1, 1]}

    def call(t):
        return cases.function("max_pool2d_with_indices", ("MaxPoolOptions", [1, 1], fields))(t)

    values, places = call(tensor(x, device))
    want = np.full((4, 4), -1)
    want[1:3, 1:3] = [[0, 1], [2, 3]]
    assert array(places)[0, 0].tolist() == want.tolist()
    assert np.isneginf(array(values)).sum() == 12
    (grad,) = gradients(
        lambda t: call(t)[0].mask_fill(call(t)[1].lower_elem(0), 0.0), [x], [np.full((1, 1, 4, 4), 2.0)], device
    )
    assert grad.tolist() == [[[[2, 2], [2, 2]]]]


def test_half_precision_is_added_up_in_single(device):
    ones = np.ones((1, 1, 64, 64), F16)
    assert array(cases.function("adaptive_avg_pool2d", [1, 1])(tensor(ones, device))).item() == 1
    assert array(pool("avg_pool2d", "AvgPoolOptions", ones, device, [64, 64])).item() == 1


def test_the_gradient_of_equal_cells_goes_to_the_first(device):
    x, g = np.array([[[[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]]]), np.array([[[[1.0, 10.0]]]])
    call = cases.function("max_pool2d", ("MaxPoolOptions", [2, 2], {"stride": [1, 1]}))
    assert gradients(call, [x], [g], device)[0].tolist() == [[[[1, 10, 0], [0, 0, 0]]]]


def test_large_planes_are_cut(flex):
    """Planes of which several tasks have a part."""
    x = np.random.default_rng(3).standard_normal((1, 2, 300, 257))
    for kernel, fields in (([3, 3], {"stride": [2, 2], "padding": [1, 1]}), ([5, 2], {"stride": [3, 1]})):
        want = cases.largest(x, kernel, True, **fields)
        have = pool("max_pool2d_with_indices", "MaxPoolOptions", x, flex, kernel, **fields)
        np.testing.assert_array_equal(array(have[0]), want[0])
        np.testing.assert_array_equal(array(have[1]), want[1])
        np.testing.assert_allclose(
            array(pool("avg_pool2d", "AvgPoolOptions", x, flex, kernel, **fields)), cases.average(x, kernel, **fields),
            rtol=1e-12, atol=1e-13,
        )  # fmt: skip
        g = np.random.default_rng(4).standard_normal(want[0].shape)
        (have,) = gradients(cases.function("avg_pool2d", ("AvgPoolOptions", kernel, fields)), [x], [g], flex)
        step = 1e-3 * np.random.default_rng(5).standard_normal(x.shape)
        slope = ((cases.average(x + step, kernel, **fields) - cases.average(x, kernel, **fields)) * g).sum()
        np.testing.assert_allclose((have * step).sum(), slope, rtol=1e-8)


def test_a_size_in_the_place_of_options_is_in_the_remedy(device):
    x = tensor(np.zeros((1, 1, 4, 4)), device)
    for given, remedy in (([3, 3], "[3, 3]"), (3, "[2, 2]"), ([3], "[2, 2]")):
        with pytest.raises(
            ArgumentTypeError, match=rf"must be a MaxPoolOptions.*use MaxPoolOptions\({re.escape(remedy)}\)"
        ):
            max_pool2d(x, given)
