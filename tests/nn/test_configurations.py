"""Configurations of layers refuse what cannot work when the layer is made, and name the field."""

import inspect
import math

import numpy as np
import pytest

from burn import Device, Tensor, nn
from burn.errors import ArgumentError, ShapeError

CPU = Device.flex()
NAN, INF = math.nan, math.inf
a, pool, interpolate, conv, attention = nn.activation, nn.pool, nn.interpolate, nn.conv, nn.attention

REFUSED = [
    (a.LeakyReluConfig(NAN), "negative_slope"), (a.EluConfig(INF), "alpha"), (a.HardSigmoidConfig(beta=NAN), "beta"),
    (a.ThresholdedReluConfig(NAN), "alpha"), (a.ThresholdConfig(NAN, 1.0), "threshold"), (a.ThresholdConfig(1.0, INF), "value"),
    (a.HardShrinkConfig(NAN), "lambda_"), (a.SoftShrinkConfig(INF), "lambda_"), (a.ShrinkConfig(bias=NAN), "bias"),
    (a.SoftplusConfig(beta=0.0), "beta"), (a.SoftplusConfig(threshold=NAN), "threshold"), (a.CeluConfig(0.0), "alpha"),
    (a.PReluConfig(0), "num_parameters"), (a.SwiGluConfig(0, 1), "d_input"),
    (nn.LinearConfig(1, 0), "d_output"), (nn.EmbeddingConfig(1, 0), "d_model"), (nn.DropoutConfig(-0.5), "prob"),
    (nn.BatchNormConfig(0), "num_features"), (nn.BatchNormConfig(1, momentum=NAN), "momentum"),
    (nn.LayerNormConfig(1, epsilon=0.0), "epsilon"), (nn.RmsNormConfig(1, epsilon=NAN), "epsilon"),
    (nn.GroupNormConfig(3, 4), "num_groups"), (nn.InstanceNormConfig(1, epsilon=-1.0), "epsilon"),
    (nn.LocalResponseNormConfig(0), "size"), (nn.LocalResponseNormConfig(1, alpha=INF), "alpha"),
    (nn.Unfold4dConfig([0, 1]), "kernel_size"), (nn.Unfold4dConfig([1]), "kernel_size"),
    (nn.Unfold4dConfig([1, 1], padding=[-1, 0]), "padding"), (nn.Fold4dConfig([0, 1], [1, 1]), "output_size"),
    (nn.Fold4dConfig([1, 1], [1, 1], stride=[1, 0]), "stride"),
    (pool.AdaptiveAvgPool1dConfig(0), "output_size"), (pool.AdaptiveAvgPool2dConfig([1]), "output_size"),
    (pool.AdaptiveAvgPool3dConfig([1, 1, 0]), "output_size"),
    (interpolate.Interpolate1dConfig(output_size=0), "output_size"),
    (interpolate.Interpolate2dConfig(output_size=[1]), "output_size"),
    (interpolate.Interpolate1dConfig(scale_factor=-1.0), "scale_factor"),
    (interpolate.Interpolate2dConfig(scale_factor=[1.0, NAN]), "scale_factor"),
    (conv.Conv1dConfig(1, 1, 0), "kernel_size"), (conv.Conv2dConfig([1, 1], [1]), "kernel_size"),
    (conv.Conv3dConfig([2, 3], [1, 1, 1], groups=2), "groups"),
    (conv.ConvTranspose2dConfig([1, 1], [1, 1], padding=[-1, 0]), "padding"),
    (conv.ConvTranspose1dConfig([1, 1], 1, padding_out=-1), "padding_out"),
    (conv.DeformConv2dConfig([3, 1], [1, 1], offset_groups=2), "offset_groups"),
    (nn.RnnConfig(0, 1, True), "d_input"), (nn.GruConfig(1, 1, True, clip=0.0), "clip"), (nn.LstmConfig(1, 0, True), "d_hidden"),
    (attention.MultiHeadAttentionConfig(5, 2), "n_heads"), (attention.CrossAttentionConfig(4, 4, 3, 2, 2), "n_heads_kv"),
    (nn.transformer.TransformerEncoderConfig(4, 4, 2, 0), "n_layers"),
    (nn.transformer.PositionWiseFeedForwardConfig(1, 0), "d_ff"),
    (nn.loss.CTCLossConfig(blank=-1), "blank"), (nn.loss.RNNTLossConfig(blank=-1), "blank"),
]  # fmt: skip


@pytest.mark.parametrize(("config", "field"), REFUSED, ids=lambda x: x if isinstance(x, str) else type(x).__name__)
def test_refused(config, field):
    with pytest.raises((ArgumentError, ShapeError), match=rf"\[\w+Config\] '{field}'"):
        config.init(CPU) if "device" in inspect.signature(config.init).parameters else config.init()


@pytest.mark.parametrize(("config", "field"), [
    (lambda: pool.MaxPool2dConfig([1, 1], strides=[0, 1]), "strides"), (lambda: pool.AvgPool1dConfig(0), "kernel_size"),
    (lambda: pool.MaxPool1dConfig(1, dilation=0), "dilation"),
], ids=["MaxPool2d", "AvgPool1d", "MaxPool1d"])  # fmt: skip
def test_refused_when_it_is_made(config, field):
    with pytest.raises(ArgumentError, match=f"'{field}' must be at least 1, got 0"):
        config()


def test_sizes_of_numpy():
    """NumPy's integers are as good as Python's."""
    three = np.int64(3)
    assert conv.Conv1dConfig(1, 1, three, stride=three).init(CPU).kernel_size == 3
    assert pool.MaxPool1dConfig(three).init()(Tensor.ones([1, 1, 6], CPU)).dims() == [1, 1, 2]


@pytest.mark.parametrize("delta", [3e38, 1e-30, INF])
def test_limits_without_a_warning(delta, recwarn):
    assert nn.loss.HuberLossConfig(delta).init().delta == delta and not recwarn.list
