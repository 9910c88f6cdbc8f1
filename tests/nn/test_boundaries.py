"""Every layer and loss refuses what it does not take before anything is computed, and by its own name."""

import re

import pytest

from burn import Device, Float, Int, Tensor, nn
from burn.errors import BurnError, DeviceError, ShapeError
from burn.nn import attention, conv, interpolate, pool, transformer
from burn.nn import loss as losses
from tests.nn.test_names import BOOK, found, listed

CPU = Device.flex()
a = nn.activation
MEAN = losses.Reduction.Mean
ONES = nn.Initializer.Ones


def f(*shape):
    """Different numbers between 0 and 1."""
    count = 1
    for size in shape:
        count *= size
    return ((Tensor.arange(0, count, CPU).float() + 1.0) / (count + 1.0)).reshape(list(shape))


def i(*shape, value=1):
    return Tensor.full(list(shape), value, CPU, kind=Int)


def reduced(layer, *inputs):
    call = getattr(layer, "forward_with_reduction", layer)
    return (layer, *inputs), lambda *given: call(*given, MEAN)


def plain(layer, *inputs):
    return (layer, *inputs), layer


def holding(layer, kind, *inputs):
    """A layer that takes its tensors in an object."""
    return (layer, *inputs), lambda *given: layer(kind(*given))


ENCODER = transformer.TransformerEncoderConfig(4, 6, 2, 1).init(CPU)
DECODER = transformer.TransformerDecoderConfig(4, 6, 2, 1).init(CPU)
GATE = nn.GateController.new(3, 2, True, ONES, CPU)
MOVED = conv.DeformConv2dConfig([3, 2], [2, 2]).init(CPU)
NUMBERED = "Celu Elu HardShrink HardSigmoid LeakyRelu Softplus SoftShrink Shrink ThresholdedRelu Hardtanh RRelu"
PLAIN = "Gelu Relu Selu Sigmoid Softsign Tanh HardSwish LogSigmoid Mish SiLU Relu6 Tanhshrink"
ROWS = [
    *[plain(getattr(a, name + "Config")().init(), f(2, 3)) for name in NUMBERED.split()],
    *[plain(getattr(a, name)(), f(2, 3)) for name in PLAIN.split()],
    plain(a.ThresholdConfig(0.0, 1.0).init(), f(2, 3)), plain(a.PReluConfig(3).init(CPU), f(2, 3, 4)), plain(a.GLU(1), f(2, 4)),
    plain(nn.SwiGluConfig(3, 2).init(CPU), f(2, 3)), plain(nn.BatchNormConfig(3).init(CPU), f(2, 3, 4)),
    plain(nn.GroupNormConfig(3, 6).init(CPU), f(2, 6, 4)), plain(nn.InstanceNormConfig(3).init(CPU), f(2, 3, 4)),
    plain(nn.LayerNormConfig(3).init(CPU), f(2, 3)), plain(nn.RmsNormConfig(3).init(CPU), f(2, 3)),
    plain(nn.LocalResponseNormConfig(3).init(), f(2, 3, 4)), plain(nn.DropoutConfig(0.5).init(), f(2)),
    plain(nn.GaussianNoiseConfig(0.5).init(), f(2)), plain(nn.EmbeddingConfig(3, 4).init(CPU), i(2, 3)),
    plain(nn.LinearConfig(3, 4).init(CPU), f(2, 3)), plain(nn.CosineSimilarityConfig().init(), f(2, 3), f(2, 3)),
    plain(nn.PairwiseDistanceConfig().init(), f(2, 3), f(2, 3)), plain(nn.PixelShuffleConfig(2).init(), f(1, 4, 2, 2)),
    plain(nn.PixelUnshuffleConfig(2).init(), f(1, 4, 2, 2)), plain(nn.Unfold4dConfig([2, 2]).init(), f(1, 3, 4, 4)),
    plain(nn.Fold4dConfig([3, 3], [2, 2]).init(), f(1, 4, 4)), plain(nn.PositionalEncodingConfig(4).init(CPU), f(1, 3, 4)),
    plain(nn.RotaryEncodingConfig(8, 4).init(CPU), f(1, 3, 4)),
    plain(conv.Conv1dConfig(3, 2, 2).init(CPU), f(1, 3, 4)), plain(conv.Conv2dConfig([3, 2], [2, 2]).init(CPU), f(1, 3, 4, 4)),
    plain(conv.Conv3dConfig([3, 2], [2, 2, 2]).init(CPU), f(1, 3, 4, 4, 4)),
    plain(conv.ConvTranspose1dConfig([3, 2], 2).init(CPU), f(1, 3, 4)),
    plain(conv.ConvTranspose2dConfig([3, 2], [2, 2]).init(CPU), f(1, 3, 4, 4)),
    plain(conv.ConvTranspose3dConfig([3, 2], [2, 2, 2]).init(CPU), f(1, 3, 4, 4, 4)),
    plain(MOVED, f(1, 3, 4, 4), f(1, 8, 3, 3), f(1, 4, 3, 3)),
    plain(pool.MaxPool1dConfig(2).init(), f(1, 3, 4)), plain(pool.AvgPool1dConfig(2).init(), f(1, 3, 4)),
    plain(pool.MaxPool2dConfig([2, 2]).init(), f(1, 3, 4, 4)), plain(pool.AvgPool2dConfig([2, 2]).init(), f(1, 3, 4, 4)),
    plain(pool.AdaptiveAvgPool1dConfig(2).init(), f(1, 3, 4)),
    plain(pool.AdaptiveAvgPool2dConfig([2, 2]).init(), f(1, 3, 4, 4)),
    plain(pool.AdaptiveAvgPool3dConfig([2, 2, 2]).init(), f(1, 3, 4, 4, 4)),
    plain(interpolate.Interpolate1dConfig(output_size=3).init(), f(1, 3, 4)),
    plain(interpolate.Interpolate2dConfig(output_size=[3, 3]).init(), f(1, 3, 4, 4)),
    plain(nn.RnnConfig(3, 2, True).init(CPU), f(1, 4, 3)), plain(nn.BiRnnConfig(3, 2, True).init(CPU), f(1, 4, 3)),
    plain(nn.GruConfig(3, 2, True).init(CPU), f(1, 4, 3), f(1, 2)),
    plain(nn.BiGruConfig(3, 2, True).init(CPU), f(1, 4, 3), f(2, 1, 2)),
    plain(nn.LstmConfig(3, 2, True).init(CPU), f(1, 4, 3)), plain(nn.BiLstmConfig(3, 2, True).init(CPU), f(1, 4, 3)),
    ((GATE, f(1, 3), f(1, 2)), GATE.gate_product),
    holding(attention.MultiHeadAttentionConfig(4, 2).init(CPU), attention.MhaInput, f(1, 3, 4), f(1, 2, 4), f(1, 2, 4)),
    plain(attention.CrossAttentionConfig(4, 6, 2, 1, 3).init(CPU), f(1, 3, 4), f(1, 2, 6)),
    holding(ENCODER, transformer.TransformerEncoderInput, f(1, 3, 4)), plain(ENCODER.layers[0], f(1, 3, 4)),
    holding(DECODER, transformer.TransformerDecoderInput, f(1, 3, 4), f(1, 2, 4)),
    holding(DECODER.layers[0], transformer.TransformerDecoderInput, f(1, 3, 4), f(1, 2, 4)),
    plain(transformer.PositionWiseFeedForwardConfig(4, 6).init(CPU), f(1, 3, 4)),
    reduced(losses.MseLoss(), f(2, 3), f(2, 3)), reduced(losses.SoftMarginLoss(), f(2, 3), f(2, 3)),
    reduced(losses.HuberLossConfig(1.0).init(), f(2, 3), f(2, 3)), reduced(losses.KLDivLossConfig().init(), f(2, 3), f(2, 3)),
    reduced(losses.LpLossConfig(2.0).init(), f(2, 3), f(2, 3)), reduced(losses.PoissonNllLossConfig().init(), f(2, 3), f(2, 3)),
    reduced(losses.MarginRankingLossConfig().init(), f(2), f(2), f(2)),
    reduced(losses.TripletMarginLossConfig().init(), f(2, 3), f(2, 3), f(2, 3)),
    reduced(losses.GaussianNLLLossConfig().init(), f(2, 3), f(2, 3), f(2, 3)),
    reduced(losses.HingeEmbeddingLossConfig().init(), f(2), Tensor.ones([2], CPU)),
    reduced(losses.MultiMarginLossConfig().init(), f(2, 3), i(2)),
    reduced(losses.SmoothL1LossConfig().init(), f(2, 3), f(2, 3)),
    plain(losses.CosineEmbeddingLossConfig().init(), f(2, 3), f(2, 3), i(2)),
    plain(losses.CrossEntropyLossConfig().init(CPU), f(2, 3), i(2)),
    plain(losses.BinaryCrossEntropyLossConfig().init(CPU), f(2, 3), i(2, 3)),
    reduced(losses.CTCLossConfig().init(), f(4, 2, 3), i(2, 2), i(2, value=4), i(2)),
    reduced(losses.RNNTLossConfig().init(), f(2, 3, 3, 4), i(2, 2), i(2, value=3), i(2)),
]  # fmt: skip
# The losses that are one function may name it.
FUNCTIONS = {"CTCLoss": "ctc_loss", "RNNTLoss": "rnnt_loss"}
ANY_SHAPE = f"{NUMBERED} {PLAIN} Threshold Dropout GaussianNoise"


def wrong(x):
    """Tensors beside one that is right: another rank, kind, dtype, size, device."""
    yield from (x.unsqueeze_dim(0), x.unsqueeze_dim(0).unsqueeze_dim(0), [1.0], None)
    yield x.int() if x.kind is Float else x.float()
    yield x.greater_elem(0)
    if x.kind is Float:
        yield x.cast("f64")
    yield x.to_device(Device.ndarray())
    if x.ndim > 1:
        yield x.narrow(0, 0, 1).squeeze_dim(0)
    for axis in range(x.ndim):
        yield Tensor.cat([x, x], axis)
        yield x.narrow(axis, 0, 1)


@pytest.mark.parametrize(("row", "call"), ROWS, ids=lambda x: type(x[0]).__name__ if isinstance(x, tuple) else "")
def test_what_a_layer_does_not_take(row, call):
    layer, *right = row
    name, refused = type(layer).__name__, 0
    call(*right)
    for position, x in enumerate(right):
        for value in wrong(x):
            try:
                call(*right[:position], value, *right[position + 1 :])
            except BurnError as error:
                assert re.match(rf"\[({name}|{FUNCTIONS.get(name, name)})\] '\w+' must ", str(error)), error
                refused += 1
            else:
                # Options may be left out; numbers of axes are free where any shape is fine, other sizes in many places.
                assert isinstance(value, Tensor) or (value is None and position), (name, position)
    assert refused >= (3 if name in ANY_SHAPE.split() else 4)


def test_masks_and_weights_of_another_device():
    there, x = Device.ndarray(), f(1, 3, 4)
    pad, pairs = Tensor.zeros([1, 3], there).greater_elem(0), Tensor.zeros([1, 3, 3], there).greater_elem(0)
    given, ends = attention.MhaInput.self_attn(x), transformer.TransformerDecoderInput(x, x)
    calls = [
        (attention.MultiHeadAttentionConfig(4, 2).init(CPU), [given.mask_pad(pad), given.mask_attn(pairs)], "mask"),
        (ENCODER, [transformer.TransformerEncoderInput(x).mask_pad(pad)], "mask_pad"),
        (DECODER, [ends.target_mask_pad(pad), ends.memory_mask_attn(pairs)], "memory_mask|target_mask"),
        (lambda mask: attention.CrossAttentionConfig(4, 4, 2, 1, 2).init(CPU)(x, x, mask), [pad], "mask"),
        (lambda one: losses.CrossEntropyLossConfig(weights=[1.0, 2.0]).init(CPU)(one, i(2).to_device(there)),
         [f(2, 2).to_device(there)], "logits"),
        (lambda one: losses.BinaryCrossEntropyLossConfig(weights=[1.0, 2.0]).init(CPU)(one, i(2, 2).to_device(there)),
         [f(2, 2).to_device(there)], "logits"),
    ]  # fmt: skip
    for call, wrongs, name in calls:
        for value in wrongs:
            with pytest.raises(DeviceError, match=rf"\[[A-Z]\w+\] '({name})\w*' must be on Device<"):
                call(value)


def test_every_layer_is_here():
    here = {type(row[0]) for row, _ in ROWS}
    lacking = [
        name for place, name in listed(BOOK) if name != "GramMatrixLoss" and found(f"{place}.{name}") not in here
    ]
    assert not lacking


def test_shapes_that_would_broadcast_are_refused():
    """[n, 1] beside [1, n], or one row beside many, would give a result of another shape."""
    for row, call in ROWS:
        layer, *right = row
        if (
            len(right) > 1
            and right[0].dims() == right[1].dims()
            and type(layer).__name__.endswith(("Loss", "ity", "Distance"))
        ):
            with pytest.raises(ShapeError, match=rf"\[{type(layer).__name__}\]"):
                call(right[0], right[1].narrow(0, 0, 1), *right[2:])
    with pytest.raises(ShapeError, match=r"\[GateController\] 'hidden' must be \[batch, d_output\].*one row for each"):
        GATE.gate_product(f(1, 3), f(2, 2))
