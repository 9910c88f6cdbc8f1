"""First values of parameters."""

import math

import numpy as np
import pytest
from scipy import stats

from burn import Device, DType, Tensor, nn
from burn.config import from_json, to_json
from burn.errors import ModuleError
from burn.nn import Initializer

CPU = Device.flex()


def values(rule, shape, fan_in=None, fan_out=None):
    CPU.seed(7)
    return rule.init_with(shape, fan_in, fan_out, CPU).val().numpy()


def test_constants():
    assert values(Initializer.Zeros, [2, 2]).tolist() == [[0, 0], [0, 0]]
    assert values(Initializer.Ones, [2]).tolist() == [1, 1]
    assert values(Initializer.Constant(2.5), [2]).tolist() == [2.5, 2.5]
    assert values(Initializer.Uniform(0.5, 0.5), [2]).tolist() == [0.5, 0.5]
    assert values(Initializer.KaimingUniform(0.0), [3], 4).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "rule, shape, fan_in, fan_out, bound",
    [
        (Initializer.Uniform(-2.0, 2.0), [100, 100], None, None, 2.0),
        (Initializer.KaimingUniform(2.0), [100, 100], 5, 6, 2.0 * math.sqrt(3 / 5)),
        (Initializer.KaimingUniform(2.0, True), [100, 100], 5, 6, 2.0 * math.sqrt(3 / 6)),
        (Initializer.KaimingUniform(), [100, 100], 25, None, 1 / 5),
        (Initializer.XavierUniform(2.0), [100, 100], 5, 6, 2.0 * math.sqrt(6 / 11)),
    ],
)
def test_uniform_rules(rule, shape, fan_in, fan_out, bound):
    drawn = values(rule, shape, fan_in, fan_out)
    assert np.abs(drawn).max() <= np.float32(bound) and np.abs(drawn).max() > 0.98 * bound
    assert abs(drawn.mean()) < 0.03 * bound


@pytest.mark.parametrize(
    "rule, fan_in, fan_out, std",
    [
        (Initializer.Normal(0.0, 3.0), None, None, 3.0),
        (Initializer.KaimingNormal(2.0), 1000, 10, math.sqrt(0.004)),
        (Initializer.KaimingNormal(2.0, True), 1000, 10, 2.0 / math.sqrt(10)),
        (Initializer.XavierNormal(2.0), 1000, 10, math.sqrt(8 / 1010)),
    ],
)
def test_normal_rules(rule, fan_in, fan_out, std):
    drawn = values(rule, [200, 200], fan_in, fan_out)
    assert abs(drawn.std() / std - 1) < 0.02 and abs(drawn.mean()) < 0.02 * std


@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 5), (4, 2, 3), (2, 3, 4)])
def test_orthogonal(shape):
    flat = values(Initializer.Orthogonal(2.0), list(shape)).reshape(shape[0], -1)
    assert flat.dtype == np.float32
    product = flat @ flat.T if flat.shape[0] <= flat.shape[1] else flat.T @ flat
    np.testing.assert_allclose(product, 4.0 * np.eye(len(product)), atol=1e-5)


def test_orthogonal_needs_two_axes():
    with pytest.raises(ModuleError, match=r"at least 2 axes, got \[3\]"):
        values(Initializer.Orthogonal(), [3])


@pytest.mark.parametrize(
    "rule, text",
    [
        (Initializer.KaimingUniform(), "positive fan_in, got None"),
        (Initializer.KaimingNormal(1.0, True), "positive fan_out, got None"),
        (Initializer.XavierUniform(), "positive fan_in"),
        (Initializer.Uniform(1.0, 0.0), "must not be empty, got 1.0 to 0.0"),
        (Initializer.Normal(0.0, -1.0), "must not be negative, got -1.0"),
    ],
)
def test_what_fails_when_it_is_drawn(rule, text):
    param = rule.init([3, 3], CPU)
    with pytest.raises(ModuleError, match=text):
        param.val()


def test_parameters_are_trainable_and_shared_by_clones():
    param = Initializer.Normal(0.0, 1.0).init([3], CPU.autodiff())
    twin = param.clone()
    assert not param.is_initialized()
    assert param.val().is_require_grad() and twin.val().tolist() == param.val().tolist()
    assert param.dtype is DType.F32 and isinstance(param.val(), Tensor)
    assert not Initializer.Ones.init([3], CPU).val().is_autodiff()


@pytest.mark.parametrize(
    "rule, json",
    [
        (Initializer.Ones, "Ones"),
        (Initializer.Constant(1.0), {"Constant": {"value": 1.0}}),
        (Initializer.Uniform(0.0, 1.0), {"Uniform": {"min": 0.0, "max": 1.0}}),
        (Initializer.Normal(0.0, 1.0), {"Normal": {"mean": 0.0, "std": 1.0}}),
        (Initializer.KaimingNormal(0.5, True), {"KaimingNormal": {"gain": 0.5, "fan_out_only": True}}),
        (Initializer.XavierUniform(1.0), {"XavierUniform": {"gain": 1.0}}),
        (Initializer.Orthogonal(1.0), {"Orthogonal": {"gain": 1.0}}),
    ],
)
def test_json(rule, json):
    assert to_json(rule) == json
    assert from_json(json, Initializer) == rule


@pytest.mark.parametrize(
    "rule, law, scale",
    [
        (Initializer.Uniform(-1.0, 3.0), stats.uniform(-1.0, 4.0), 1.0),
        (Initializer.Normal(2.0, 0.5), stats.norm(2.0, 0.5), 1.0),
        (Initializer.KaimingUniform(2.0), stats.uniform(-1.0, 2.0), 2.0 * math.sqrt(3 / 20)),
        (Initializer.KaimingNormal(2.0, True), stats.norm, 2.0 / math.sqrt(30)),
        (Initializer.XavierUniform(0.5), stats.uniform(-1.0, 2.0), 0.5 * math.sqrt(6 / 50)),
        (Initializer.XavierNormal(0.5), stats.norm, 0.5 * math.sqrt(2 / 50)),
    ],
)
def test_laws(rule, law, scale):
    """Kolmogorov and Smirnov's test of the whole distribution; neighbours do not hang together."""
    drawn = values(rule, [300, 200], 20, 30).ravel().astype("f8") / scale
    assert stats.kstest(drawn, law.cdf).pvalue > 1e-3
    for lag in (1, 2, 200):
        assert abs(np.corrcoef(drawn[:-lag], drawn[lag:])[0, 1]) < 0.015


def test_orthogonal_matrices_are_uniform():
    """Every entry has mean 0 and variance 1/n, and the determinant is 1 as often as -1."""
    drawn = np.stack([values_of(Initializer.Orthogonal(1.0).init([3, 3], CPU)) for _ in range(500)])
    assert np.abs(drawn.mean(0)).max() < 0.1 and np.abs((drawn**2).mean(0) - 1 / 3).max() < 0.06
    assert 180 < (np.linalg.det(drawn) > 0).sum() < 320


def values_of(param):
    return param.val().numpy().astype("f8")


LINEAR = [("weight", 1 / 8), ("bias", 1 / 8)]  # 64 inputs
FANS = [
    (nn.LinearConfig(64, 5000), LINEAR),
    (nn.LinearConfig(64, 5000, layout=nn.LinearLayout.Col), LINEAR),
    (nn.SwiGluConfig(64, 500, bias=True), [(f"linear_{p}.{n}", b) for p in ("inner", "outer") for n, b in LINEAR]),
    (nn.conv.Conv1dConfig(32, 64, 8).with_groups(4), [("weight", 1 / 8), ("bias", 1 / 8)]),
    (nn.conv.Conv2dConfig([16, 64], [2, 2]), LINEAR),
    (nn.conv.Conv3dConfig([8, 64], [2, 2, 2]), LINEAR),
    (nn.conv.DeformConv2dConfig([16, 64], [2, 2]), LINEAR),
    (nn.conv.ConvTranspose1dConfig([100, 8], 8), LINEAR),
    (nn.conv.ConvTranspose2dConfig([100, 32], [2, 2]).with_groups(2), [("weight", 1 / 8), ("bias", 1 / 8)]),
    (nn.conv.ConvTranspose3dConfig([100, 8], [2, 2, 2]), LINEAR),
    (nn.attention.MultiHeadAttentionConfig(64, 4), [(f"{p}.{n}", b) for p in ("query", "output") for n, b in LINEAR]),
    (nn.transformer.PositionWiseFeedForwardConfig(64, 256), [("linear_inner.weight", 1 / 8), ("linear_outer.weight", 1 / 16)]),
    (
        nn.attention.CrossAttentionConfig(48, 27, 12, 6, 16),  # sqrt(3) / (sqrt(d_head) * sqrt(inputs))
        [("query.weight", 1 / 16), ("key.weight", 1 / 12), ("value.weight", 1 / 12),
         ("output.weight", math.sqrt(3) / 4 / math.sqrt(192))],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("config", "bounds"), FANS, ids=lambda x: type(x).__name__ if not isinstance(x, list) else "")
def test_uniform_bounds_of_layers(config, bounds):
    CPU.seed(11)
    layer = config.init(CPU)
    for path, bound in bounds:
        part = layer
        for name in path.split("."):
            part = getattr(part, name)
        drawn = np.abs(values_of(part))
        assert drawn.max() <= np.float32(bound)
        assert drawn.max() > bound * (1.0 - 8.0 / drawn.size)


def test_gates_are_normal_each_product_with_its_own_fans():
    CPU.seed(12)
    layer = nn.LstmConfig(300, 100, True).init(CPU)
    for gate in (layer.input_gate, layer.forget_gate, layer.output_gate, layer.cell_gate):
        for part, fans in ((gate.input_transform, 400), (gate.hidden_transform, 200)):
            assert abs(values_of(part.weight).std() / math.sqrt(2 / fans) - 1) < 0.05
            assert 0.75 < values_of(part.bias).std() / math.sqrt(2 / fans) < 1.25


def test_values_are_drawn_in_the_order_of_first_use():
    def pair():
        CPU.seed(5)
        return [nn.LinearConfig(3, 3, bias=False).init(CPU) for _ in range(2)]

    first, second = pair()
    one, two = values_of(first.weight), values_of(second.weight)
    first, second = pair()
    assert (values_of(second.weight) == one).all() and (values_of(first.weight) == two).all()
