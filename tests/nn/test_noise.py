"""Layers that draw in training: noise and random slopes."""

import numpy as np
import pytest

from burn import Device, Tensor
from burn.config import config_to_json
from burn.errors import ArgumentError, KindError
from burn.module import ParamGroup
from burn.nn import GaussianNoise, GaussianNoiseConfig
from burn.nn.activation import RRelu, RReluConfig

CPU = Device.flex()
AD = CPU.autodiff()
LAYERS = {"GaussianNoise": GaussianNoiseConfig(0.5), "RRelu": RReluConfig(0.1, 0.3)}


@pytest.mark.parametrize("name", LAYERS)
def test_only_in_training(name):
    layer, x = LAYERS[name].init(), Tensor.full([1000], -1.0, CPU)
    still = layer(x)
    random = layer(x.autodiff())
    assert len(np.unique(random.numpy())) > 100
    for quiet in (layer.valid(), layer.freeze(), layer.freeze_group(ParamGroup.from_path("training"))):
        assert quiet(x.autodiff()).tolist() == still.tolist()
    assert len(np.unique(layer.valid().train()(x.autodiff()).numpy())) > 100
    assert len(layer.into_record()) == 0 and layer.num_params() == 0


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("name", LAYERS)
def test_the_dtype_stays(name, dtype):
    x = Tensor.full([4], -1.0, AD, dtype=dtype)
    assert LAYERS[name].init()(x).dtype is x.dtype


def test_noise_is_normal_and_lets_gradients_through():
    x = Tensor.full([20000], 3.0, AD).require_grad()
    out = GaussianNoise(0.5)(x)
    noise = out.numpy() - 3.0
    assert abs(noise.mean()) < 0.02 and abs(noise.std() - 0.5) < 0.02
    assert (x.grad(out.sum().backward()).numpy() == 1.0).all()
    assert GaussianNoise(0.0)(x) is x


def test_slopes_are_uniform_and_are_the_gradient():
    x = Tensor.from_data(np.linspace(-2, 2, 20001, dtype=np.float32), AD).require_grad()
    out = RRelu(0.1, 0.3)(x)
    slope = x.grad(out.sum().backward()).numpy()
    below = x.numpy() < 0
    assert (slope[~below] == 1.0).all()
    assert (slope[below] >= 0.1).all() and (slope[below] < 0.3).all() and abs(slope[below].mean() - 0.2) < 0.005
    np.testing.assert_allclose(out.numpy(), slope * x.numpy())
    assert RRelu(0.25, 0.25)(Tensor.from_data([-2.0], AD)).tolist() == [-0.5]


def test_numbers_of_inference():
    out = RRelu(0.1, 0.3)(Tensor.from_data([-2.0, -1, 0, 0.5, 1, 2], CPU))
    np.testing.assert_allclose(out.numpy(), [-0.4, -0.2, 0, 0.5, 1, 2], rtol=1e-6)


def test_printed_and_stored():
    assert str(GaussianNoise(0.5)) == "GaussianNoise {std: 0.5}"
    assert str(GaussianNoise(0.5).freeze()) == "GaussianNoise {std: 0.5, training: disabled}"
    assert str(RRelu(0.1, 0.3)) == "RRelu {lower: 0.1, upper: 0.3}"
    assert str(RRelu(0.1, 0.3).valid()) == "RRelu {lower: 0.1, upper: 0.3, training: disabled}"
    assert config_to_json(RReluConfig()).split() == ["{", '"lower":', "0.125,", '"upper":', "0.3333333333333333", "}"]


def test_what_they_refuse():
    for std in (-0.5, float("nan"), float("inf")):
        with pytest.raises(ArgumentError, match="'std' must be finite and not negative"):
            GaussianNoiseConfig(std).init()
    with pytest.raises(ArgumentError, match=r"'lower' must not exceed 'upper', got 0\.5 and 0\.25"):
        RReluConfig(0.5, 0.25).init()
    with pytest.raises(ArgumentError, match="'upper' must be a finite number"):
        RReluConfig(0.5, float("inf")).init()
    for name, config in LAYERS.items():
        with pytest.raises(KindError, match=rf"\[{name}\] 'input' must be a Float tensor"):
            config.init()(Tensor.from_data([1], CPU))
