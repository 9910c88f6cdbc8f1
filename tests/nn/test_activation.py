"""Activations as layers: numbers of Burn's tests, printed forms, configurations, and how one is chosen."""

import numpy as np
import pytest

from burn import Device, Tensor, nn
from burn.config import config_to_json, to_json
from burn.errors import ArgumentError, ArgumentTypeError, ShapeError
from burn.nn import activation as layers
from burn.nn.activation import Activation, ActivationConfig
from burn.nn.transformer import PositionWiseFeedForwardConfig

CPU = Device.flex()

NUMBERS = [
    (layers.LeakyReluConfig(), [0.4410, -0.2507], [0.4410, -0.002507]),
    (layers.EluConfig(), [0.4410, -0.2507], [0.4410, -0.22174418]),
    (layers.CeluConfig(), [0.5, -0.5, -1.0], [0.5, -0.393469, -0.632121]),
    (layers.CeluConfig(2.0), [0.0, -2.0], [0.0, -1.264241]),
    (layers.CeluConfig(-1.0), [-1.0], [-1.7182819]),
    (layers.HardSigmoidConfig(), [0.4410, -0.2507], [0.5882, 0.44986]),
    (layers.SoftplusConfig(), [0.0, 1.0, -1.0], [0.6931472, 1.3132617, 0.3132617]),
    (layers.SoftplusConfig(beta=2.0), [0.0, 1.0], [0.3465736, 1.0634640]),
    (layers.SoftplusConfig(), [100.0, 1000.0], [100.0, 1000.0]),
    (layers.SoftplusConfig(threshold=10.0), [5.0], [5.0067153]),
    (layers.SoftplusConfig(threshold=1.0), [5.0], [5.0]),
    (layers.ThresholdedReluConfig(), [0.5, 1.5, -0.2], [0.0, 1.5, 0.0]),
    (layers.ThresholdConfig(1.0, 20.0), [0.5, 1.5, 1.0], [20.0, 1.5, 20.0]),
    (layers.HardShrinkConfig(), [0.5, -0.5, -1.0, 8.0, 0.3, 0.0], [0.0, 0.0, -1.0, 8.0, 0.0, 0.0]),
    (layers.SoftShrinkConfig(), [0.5, -0.5, -1.0, 8.0, 0.3, 0.0], [0.0, 0.0, -0.5, 7.5, 0.0, 0.0]),
    (layers.SoftShrinkConfig(0.25), [0.125, -0.125, -0.5, 0.75, 0.1, 0.0], [0.0, 0.0, -0.25, 0.5, 0.0, 0.0]),
    (layers.ShrinkConfig(0.25, 0.125), [0.125, -0.125, -0.5, 0.75, 0.1, 0.0], [0.0, 0.0, -0.375, 0.625, 0.0, 0.0]),
    (layers.HardtanhConfig(), [-3.0, 0.5, 2.0], [-1.0, 0.5, 1.0]),
]
PLAIN = [
    (layers.HardSwish(), [3.0, -3.0, 0.0, 1.0], [3.0, 0.0, 0.0, 0.6666667]),
    (layers.Gelu.new_approximate(), [-1.0, 0.0, 1.0, 0.5, -0.5, 2.0],
     [-0.1588079929, 0.0, 0.8411920071, 0.3457140028, -0.1542859972, 1.9545977116]),
    (layers.Selu(), [1.0, -1.0], [1.0507010, -1.1113307]),
    (layers.Relu6(), [-1.0, 3.0, 7.0], [0.0, 3.0, 6.0]),
    (layers.Mish(), [1.0, 0.0], [0.8650984, 0.0]),
    (layers.Softsign(), [1.0, -3.0], [0.5, -0.75]),
    (layers.Tanhshrink(), [1.0], [0.2384058]),
]  # fmt: skip


@pytest.mark.parametrize("layer, x, expected", [(c.init(), x, y) for c, x, y in NUMBERS] + PLAIN, ids=str)
def test_numbers(layer, x, expected):
    np.testing.assert_allclose(layer(Tensor.from_data(x, CPU)).numpy(), np.float32(expected), rtol=2e-6, atol=1e-7)


def test_gated():
    x = [-0.5710, -1.3416, 1.9128, -0.8257, -0.1331, -1.4804, -0.6281, -0.6115]
    out = layers.GLU(-1)(Tensor.from_data([x], CPU)).numpy()[0]
    np.testing.assert_allclose(out, [-0.2665, -0.2487, 0.6656, -0.2904], atol=1e-4)
    with pytest.raises(ShapeError, match="GLU"):
        layers.GLU(1)(Tensor.zeros([1, 3], CPU))
    half = nn.Initializer.Constant(0.5)
    x = Tensor.from_data([[1.0, 2, 3], [4, 5, 6]], CPU)
    for bias, rows in ((False, [8.5732, 56.2189]), (True, [11.8909, 63.9785])):
        out = nn.SwiGluConfig(3, 3, bias=bias, initializer=half).init(CPU)(x).numpy()
        np.testing.assert_allclose(out, np.repeat(np.array(rows)[:, None], 3, 1), rtol=1e-5)


@pytest.mark.parametrize(
    "layer, text",
    [
        (layers.LeakyRelu(), "LeakyRelu {negative_slope: 0.01}"),
        (layers.PReluConfig(3).init(CPU), "PRelu {num_parameters: 3, alpha_value: 0.25, params: 3}"),
        (layers.Threshold(1.0, 20.0), "Threshold {threshold: 1, value: 20}"),
        (layers.HardShrink(), "HardShrink {lambda: 0.5}"),
        (layers.Shrink(), "Shrink {lambda: 0.5, bias: 0.5}"),
        (layers.Softplus(), "Softplus {beta: 1, threshold: 20}"),
        (layers.Selu(), "Selu"),
        (layers.GLU(1), "GLU {\n  dim: 1\n}"),
        (nn.SwiGluConfig(3, 5).init(CPU), "SwiGlu {d_input: 3, d_output: 5, bias: false, params: 30}"),
        (
            ActivationConfig.Shrink(layers.ShrinkConfig()).init(CPU),
            "Shrink {\n  _0: Shrink {lambda: 0.5, bias: 0.5}\n}",
        ),
    ],
    ids=str,
)
def test_printed(layer, text):
    assert str(layer) == text


VARIANTS = {name: getattr(ActivationConfig, name) for name in ActivationConfig._variants}


def chosen(name):
    """A configuration of the variant."""
    if not isinstance(VARIANTS[name], type):
        return VARIANTS[name]
    config = getattr(layers, name + "Config")
    return VARIANTS[name](config(4, 4) if name == "SwiGlu" else config())


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant(name):
    """It makes its layer, and is the same after JSON."""
    config = chosen(name)
    layer = config.init(CPU)
    assert isinstance(layer, Activation) and layer(Tensor.ones([2, 4], CPU)).dims() == [2, 4]
    assert type(layer.module).__name__ == ("Gelu" if name == "GeluApproximate" else name)
    outer = PositionWiseFeedForwardConfig(2, 4, activation=config)
    again = PositionWiseFeedForwardConfig.load_binary(config_to_json(outer).encode())
    assert again == outer and again.activation == config
    if hasattr(config, "config"):
        assert ActivationConfig.from_(config.config) == config
        assert to_json(config) == {name: to_json(config.config)}


def test_json_has_burns_words():
    assert to_json(ActivationConfig.PRelu(layers.PReluConfig())) == {"PRelu": {"num_parameters": 1, "alpha": 0.25}}
    assert to_json(ActivationConfig.HardShrink(layers.HardShrinkConfig())) == {"HardShrink": {"lambda": 0.5}}


def test_parameters_have_the_variant_in_their_path():
    layer = PositionWiseFeedForwardConfig(2, 4, activation=ActivationConfig.PRelu(layers.PReluConfig())).init(CPU)
    assert layer.num_params() == 22 + 1
    assert "activation.PRelu.alpha" in layer.into_record().paths()


def test_prelu_learns_a_slope_for_each_channel():
    device = CPU.autodiff()
    layer = layers.PReluConfig(3).init(device)
    x = Tensor.from_data([[-1.0, 2.0, -3.0]], device)
    grads = layer(x).sum().backward()
    assert layer.alpha.grad(grads).tolist() == [-1.0, 0.0, -3.0]
    with pytest.raises(
        ShapeError,
        match=r"\[PRelu\] 'input' must be \[batch, num_parameters, ...\] with num_parameters = 3, got shape \[1, 2\]",
    ):
        layer(Tensor.ones([1, 2], device))


def test_what_they_refuse():
    for alpha in (0.0, float("inf"), float("nan")):
        with pytest.raises(ArgumentError, match="'alpha' must"):
            layers.CeluConfig(alpha).init()
    with pytest.raises(ArgumentError, match=r"'min_val' must not exceed 'max_val', got 2\.0 and 1\.0"):
        layers.HardtanhConfig(2.0, 1.0).init()
    with pytest.raises(ArgumentError, match="'max_val' must be a finite number"):
        layers.HardtanhConfig(2.0, float("inf")).init()
    with pytest.raises(ArgumentError, match="'num_parameters' must be a positive integer"):
        layers.PReluConfig(0).init(CPU)
    with pytest.raises(ArgumentTypeError, match="'config' must be the configuration of an activation, got int"):
        ActivationConfig.from_(3)
    with pytest.raises(TypeError):
        layers.ThresholdConfig(1.0)
