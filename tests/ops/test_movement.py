"""Movement against NumPy, on every device."""

import numpy as np
import pytest

from burn.tensor import Int, Tensor
from tests.cases import F32
from tests.cases import movement as cases
from tests.cases.tensors import array, strided, tensor
from tests.ops.checks import check_error, check_gradient, check_value, check_views, each


@each(cases.CASES)
def test_value(case, device):
    check_value(case, device)


@each([c for c in cases.CASES if c.grad])
def test_gradient(case, device):
    check_gradient(case, device)


@each(cases.CASES)
def test_views(case, device):
    check_views(case, device)


@each(cases.ERRORS)
def test_error(case, device):
    check_error(case, device)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u1", "?"])
@pytest.mark.parametrize("shape", [(7,), (33, 65), (130, 70), (3, 17, 9), (2, 3, 5, 7)], ids=str)
def test_copies_of_views(dtype, shape, device):
    """Every order of axes, steps and directions is read right; big enough for the blocked and the vector paths."""
    x = (np.arange(np.prod(shape)) % 251).reshape(shape).astype(dtype)
    for kind in ("permuted", "sliced", "stepped", "flipped"):
        view = strided(x, device, kind)
        np.testing.assert_array_equal(array(view), x, err_msg=kind, strict=True)
        np.testing.assert_array_equal(array(view.reshape([-1])), x.reshape(-1), err_msg=kind)
    t = tensor(x, device)
    for axes in {tuple(np.roll(range(x.ndim), k)) for k in range(x.ndim)}:
        np.testing.assert_array_equal(
            array(t.permute(list(map(int, axes))).reshape([-1])), x.transpose(axes).reshape(-1)
        )


def test_views_share_memory_and_writes_do_not_show(device):
    """A view costs no copy, and what is written through another name is not seen."""
    x = tensor(np.arange(6.0).reshape(2, 3), device)
    y = x.slice_fill([slice(0, 1)], 9.0)
    np.testing.assert_array_equal(array(x), np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(array(y), [[9, 9, 9], [3, 4, 5]])
    z = x
    z[0] = 7.0
    np.testing.assert_array_equal(array(x), np.arange(6.0).reshape(2, 3) if z is not x else [[7, 7, 7], [3, 4, 5]])


def test_creation(device):
    for x in (Tensor.zeros([2, 3], device), Tensor.eye(3, device), Tensor.full([2], 2.5, device)):
        assert array(x).dtype == F32
    assert array(Tensor.full([2], 7, device, kind=Int)).tolist() == [7, 7]
    assert Tensor.empty([3, 0], device).shape == (3, 0)
    with pytest.raises(ValueError, match="at least one axis"):
        Tensor.zeros([], device)


def test_like(device):
    x = tensor(np.ones((2, 3)), device)
    for y, value in ((x.zeros_like(), 0), (x.ones_like(), 1), (x.full_like(2.5), 2.5)):
        np.testing.assert_array_equal(array(y), np.full((2, 3), float(value)), strict=True)
