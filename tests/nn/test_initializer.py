"""First values of parameters."""

import math

import numpy as np
import pytest

from burn import Device, DType, Tensor
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
