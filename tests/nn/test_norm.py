"""Layers that normalise."""

import json

import numpy as np
import pytest

from burn import Device, DType, Tensor
from burn.config import config_to_json
from burn.errors import ArgumentError, ArgumentTypeError, KindError, ShapeError
from burn.nn import (
    BatchNormConfig,
    GroupNormConfig,
    InstanceNormConfig,
    LayerNormConfig,
    LocalResponseNormConfig,
    RmsNormConfig,
)
from burn.nn.norm import Normalization, NormalizationConfig

CPU = Device.flex()
AD = CPU.autodiff()
BATCH = np.array(
    [[[0.9601, 0.7277], [0.6272, 0.9034], [0.9378, 0.7230]], [[0.6356, 0.1362], [0.0249, 0.9509], [0.6600, 0.5945]]]
)


def values(tensor):
    return np.asarray(tensor.numpy(), "f8")


def test_batch_norm_trains_then_infers():
    norm = BatchNormConfig(3).init(AD)
    out = values(norm(Tensor.from_data(BATCH, AD, dtype="f32")))
    want = [
        [[1.1483, 0.37521], [0.0016272, 0.75067], [1.6204, -0.045168]],
        [[0.068856, -1.5923], [-1.6318, 0.87949], [-0.53368, -1.0416]],
    ]
    np.testing.assert_allclose(out, want, rtol=1e-4, atol=1e-5)
    mean, var = BATCH.mean((0, 2)), BATCH.var((0, 2))
    np.testing.assert_allclose(values(norm.running_mean.value_sync()), 0.1 * mean, rtol=1e-5)
    np.testing.assert_allclose(values(norm.running_var.value_sync()), 0.9 + 0.1 * var, rtol=1e-6)
    out = values(norm.valid()(Tensor.from_data(BATCH, CPU, dtype="f32")))
    want = [
        [[0.942493, 0.698744], [0.590630, 0.879594], [0.910857, 0.684648]],
        [[0.602146, 0.078358], [-0.039505, 0.929289], [0.618302, 0.549323]],
    ]
    np.testing.assert_allclose(out, want, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("momentum, mean, var", [(1.0, 4.0, 4.0), (0.0, 0.0, 1.0)])
def test_batch_norm_momentum(momentum, mean, var):
    norm = BatchNormConfig(1, momentum=momentum).init(AD)
    for batch in ([[1.0], [3.0]], [[2.0], [6.0]]):
        out = norm(Tensor.from_data(batch, AD))
    np.testing.assert_allclose(values(out), [[-1], [1]], rtol=1e-5)
    assert norm.running_mean.value_sync().tolist() == [mean] and norm.running_var.value_sync().tolist() == [var]


def test_batch_norm_keeps_its_statistics_clean():
    """NaN, infinity and nothing at all never reach the running statistics; other channels are updated."""
    norm = BatchNormConfig(3, momentum=0.5).init(AD)
    norm(Tensor.from_data([[np.nan, np.inf, 1.0], [0.0, 0.0, 3.0]], AD))
    assert norm.running_mean.value_sync().tolist() == [0.0, 0.0, 1.0]
    assert norm.running_var.value_sync().tolist() == [1.0, 1.0, 1.0]
    assert norm(Tensor.zeros([0, 3], AD)).shape == (0, 3)
    assert norm.running_mean.value_sync().tolist() == [0.0, 0.0, 1.0]


def test_batch_norm_trains_by_flag_and_device():
    x = Tensor.from_data([[1.0], [3.0]], AD)
    for norm in (BatchNormConfig(1).init(AD).freeze(), BatchNormConfig(1).init(AD).valid()):
        np.testing.assert_allclose(values(norm(x)), [[1], [3]], rtol=1e-5)
        assert norm.running_mean.value_sync().tolist() == [0.0]
    assert str(BatchNormConfig(3).init(AD).freeze()) == (
        "BatchNorm {num_features: 3, momentum: 0.1, epsilon: 0.00001, training: disabled, params: 12}"
    )
    np.testing.assert_allclose(values(BatchNormConfig(1).init(CPU)(x.inner())), [[1], [3]], rtol=1e-5)
    one = BatchNormConfig(2).init(AD)(Tensor.from_data([[5.0, 7.0]], AD))
    assert one.tolist() == [[0.0, 0.0]]


def test_batch_norm_gradients():
    norm = BatchNormConfig(3).init(AD)
    x = Tensor.from_data(BATCH, AD, dtype="f32").require_grad()
    grads = norm(x).sum().backward()
    np.testing.assert_allclose(values(norm.beta.grad(grads)), [4, 4, 4])
    np.testing.assert_allclose(values(norm.gamma.grad(grads)), 0, atol=1e-5)
    np.testing.assert_allclose(values(x.grad(grads)), 0, atol=1e-4)


def test_rms_norm():
    out = RmsNormConfig(3).init(CPU)(Tensor.arange(0, 9, CPU).float().reshape([3, 3]))
    want = [[0, 0.7746, 1.5492], [0.7348, 0.9798, 1.2247], [0.8514, 0.9933, 1.1352]]
    np.testing.assert_allclose(values(out), want, atol=1e-4)


def test_group_norm():
    x = [[-0.3034, 0.2726, -0.9659], [-1.1845, -1.3236, 0.0172], [1.9507, 1.2554, -0.8625], [1.0682, 0.3604, 0.3985],
         [-0.4957, -0.4461, -0.9721], [1.5157, -0.1546, -0.5596]]  # fmt: skip
    want = [[-0.1653, 0.3748, -0.7866], [-0.9916, -1.1220, 0.1353], [1.9485, 1.2965, -0.6896], [1.2769, 0.3628, 0.4120],
            [-0.7427, -0.6786, -1.3578], [1.8547, -0.3022, -0.8252]]  # fmt: skip
    norm = GroupNormConfig(2, 6, affine=False).init(CPU)
    np.testing.assert_allclose(values(norm(Tensor.from_data([x], CPU)))[0], want, atol=1e-4)
    assert str(norm) == "GroupNorm {num_groups: 2, num_channels: 6, epsilon: 0.00001, affine: false}"
    half = GroupNormConfig(4, 64, affine=False).init(CPU)(Tensor.full([1, 64, 64, 64], 0.5, CPU).cast(DType.F16))
    assert half.dtype is DType.F16 and half.abs().max().item() == 0.0


def test_instance_norm():
    x = [[-0.3034, 0.2726, -0.9659], [-1.1845, 1.4078, 0.9774], [0.3963, -1.3738, 1.4125]]
    want = [[0.0569, 1.1952, -1.2522], [-1.3971, 0.8883, 0.5088], [0.2183, -1.3192, 1.1009]]
    out = InstanceNormConfig(3, affine=False).init(CPU)(Tensor.from_data([x], CPU))
    np.testing.assert_allclose(values(out)[0], want, atol=1e-4)


def test_local_response_norm():
    x = Tensor.from_data([[[1.0], [2.0], [4.0]]], CPU)
    out = LocalResponseNormConfig(2, alpha=1.0, beta=1.0, k=0.0).init()(x)
    np.testing.assert_allclose(values(out).ravel(), [0.4, 0.2, 0.5], rtol=1e-6)
    assert str(LocalResponseNormConfig(5).init()) == "LocalResponseNorm {size: 5, alpha: 0.0001, beta: 0.75, k: 1}"


def test_normalization():
    configs = [BatchNormConfig(4), GroupNormConfig(2, 4), InstanceNormConfig(4), LayerNormConfig(4), RmsNormConfig(4)]
    for config in configs:
        chosen = NormalizationConfig.from_(config)
        layer = chosen.init(CPU)
        assert isinstance(layer, Normalization) and layer.num_features() == chosen.num_features() == 4
        assert chosen.with_num_features(8).init(CPU).num_features() == 8
        x = Tensor.from_data(np.arange(12.0).reshape(3, 4), CPU, dtype="f32")
        np.testing.assert_array_equal(values(layer(x)), values(config.init(CPU)(x)))
    nothing = NormalizationConfig.Identity
    assert nothing.num_features() == nothing.init(CPU).num_features() == 0 and nothing.with_num_features(3) is nothing
    assert nothing.init(CPU)(x) is x
    assert json.loads(config_to_json(NormalizationConfig.from_(RmsNormConfig(4)))) == {
        "Rms": {"d_model": 4, "epsilon": 1e-5}
    }
    for other in (LocalResponseNormConfig(5), 4):
        with pytest.raises(
            ArgumentTypeError, match=r"\[NormalizationConfig\] 'config' must be the configuration of one of"
        ):
            NormalizationConfig.from_(other)


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: BatchNormConfig(0).init(CPU), "'num_features' must be a positive integer, got 0"),
        (lambda: BatchNormConfig(2, epsilon=0.0).init(CPU), "'epsilon' must be finite and positive, got 0.0"),
        (lambda: BatchNormConfig(2, momentum=1.5).init(CPU), "'momentum' must be from 0 to 1, got 1.5"),
        (lambda: GroupNormConfig(4, 6).init(CPU), "'num_groups' must divide 'num_channels', got 4 groups of 6"),
        (lambda: InstanceNormConfig(0).init(CPU), "'num_channels' must be a positive integer"),
        (lambda: RmsNormConfig(2, epsilon=-1.0).init(CPU), "'epsilon' must be finite and positive, got -1.0"),
        (lambda: LocalResponseNormConfig(0).init(), "'size' must be a positive integer"),
        (lambda: LocalResponseNormConfig(3, alpha=float("nan")).init(), "'alpha' must be a finite number"),
    ],
)
def test_configs_refuse(make, text):
    with pytest.raises(ArgumentError, match=text):
        make()


def test_layers_refuse():
    for config, pattern in (
        (
            BatchNormConfig(3),
            r"\[BatchNorm\] 'input' must be \[batch, num_features, ...\] with num_features = 3, got shape \[2, 4\]",
        ),
        (GroupNormConfig(1, 3), r"\[GroupNorm\] 'input' must be \[batch, num_channels, ...\]"),
        (InstanceNormConfig(3), r"\[InstanceNorm\] 'input' must be \[batch, num_channels, ...\]"),
        (RmsNormConfig(3), r"\[RmsNorm\] 'input' must be \[..., d_model\] with d_model = 3"),
    ):
        layer = config.init(CPU)
        with pytest.raises(ShapeError, match=pattern):
            layer(Tensor.ones([2, 4], CPU))
        with pytest.raises(KindError, match="Float"):
            layer(Tensor.ones([2, 3], CPU).int())
    with pytest.raises(ShapeError, match="at least 3 axes"):
        LocalResponseNormConfig(3).init()(Tensor.ones([2, 3], CPU))
