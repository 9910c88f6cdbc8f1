import numpy as np
import pytest

from burn import Device, Tensor
from burn.grad_clipping import GradientClipping, GradientClippingConfig, NonFiniteGradientError

G = np.array(
    [[0.6294, 0.0940, 0.8176, 0.8824, 0.5228, 0.4310], [0.7152, 0.9559, 0.7893, 0.5684, 0.5939, 0.8883]], np.float32
)


def tensor(data, dtype=None):
    return Tensor.from_data(np.asarray(data), Device.flex(), dtype)


def norm(limit, data, dtype="f32"):
    return GradientClippingConfig.Norm(limit).init().clip_gradient(tensor(data, dtype)).float().numpy()


def test_value():
    clip = GradientClippingConfig.Value(0.5).init()
    np.testing.assert_array_equal(clip.clip_gradient(tensor([-2.0, 0.25, 3.0, np.inf])).numpy(), [-0.5, 0.25, 0.5, 0.5])
    assert np.isnan(clip.clip_gradient(tensor([np.nan])).numpy()).all()
    assert repr(clip) == "GradientClipping.Value(0.5)" and isinstance(clip, GradientClipping)


def test_norm():
    expected = [
        [0.57375723, 0.08568983, 0.7453192, 0.80439043, 0.47658134, 0.39289698],
        [0.651972, 0.8713926, 0.7195211, 0.51815003, 0.54139566, 0.80976886],
    ]
    np.testing.assert_allclose(norm(2.2, G), expected, rtol=1e-6)


def test_a_gradient_below_the_limit_is_the_same():
    grad = tensor(G)
    assert GradientClippingConfig.Norm(3.0).init().clip_gradient(grad) is grad


@pytest.mark.parametrize(
    ("data", "dtype", "limit", "expected"),
    [
        ([1e20], "f32", 1.0, [1.0]),  # its square is infinite
        ([3e38, 3e38], "f32", 1.0, [0.5**0.5] * 2),
        ([1e-30, 0.0], "f32", 1e-31, [1e-31, 0.0]),  # its square is 0
        ([0.0], "f32", 1.0, [0.0]),
        ([3.0, 0.0], "f32", 1.0, [1.0, 0.0]),
        ([300.0], "f16", 1.0, [1.0]),
        ([60000.0, 60000.0], "f16", 1.0, [0.70711, 0.70711]),
        ([3.0, 4.0], "bf16", 1.0, [0.6, 0.8]),
        ([3e200, 4e200], "f64", 1.0, [0.6, 0.8]),
    ],
)
def test_extreme_norms(data, dtype, limit, expected):
    tolerance = {"f32": 1e-6, "f64": 1e-6, "f16": 1e-3, "bf16": 1e-2}[dtype]
    np.testing.assert_allclose(norm(limit, data, dtype), expected, rtol=tolerance)


def test_infinities_raise_and_nan_stays():
    clip = GradientClippingConfig.Norm(1.0).init()
    with pytest.raises(NonFiniteGradientError, match=r"parameter 'fc\.weight'"):
        clip.clip_gradient(tensor([np.inf, 1.0]), "fc.weight")
    with pytest.raises(ArithmeticError, match="infinite element"):
        clip.clip_gradient(tensor([-np.inf]))
    assert np.isnan(norm(1.0, [np.nan, 1.0])).all()


def test_empty_gradient():
    assert norm(1.0, np.zeros((0, 3))).shape == (0, 3)
