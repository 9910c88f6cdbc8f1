"""Layers of convolutions: sizes with every padding, printed forms, configurations that cannot work."""

import numpy as np
import pytest

from burn import Device, Tensor
from burn.errors import ArgumentError, KindError, ShapeError
from burn.nn import Fold4dConfig, Initializer, PaddingConfig1d, PaddingConfig2d, PaddingConfig3d, Unfold4dConfig
from burn.nn.conv import (
    Conv1dConfig,
    Conv2dConfig,
    Conv3dConfig,
    ConvTranspose1dConfig,
    ConvTranspose2dConfig,
    ConvTranspose3dConfig,
    DeformConv2dConfig,
)

DEVICE = Device.flex()


def ones(*shape):
    return Tensor.ones(shape, DEVICE)


@pytest.mark.parametrize(
    ("config", "shape", "wanted"),
    [
        (Conv1dConfig(2, 3, 3).with_padding(PaddingConfig1d.Explicit(1, 2)), (1, 2, 4), [1, 3, 5]),
        (Conv1dConfig(4, 4, 2).with_padding(PaddingConfig1d.Same), (1, 4, 5), [1, 4, 5]),
        (Conv1dConfig(4, 4, 3).with_padding(PaddingConfig1d.Same).with_dilation(2), (1, 4, 9), [1, 4, 9]),
        (Conv2dConfig([2, 3], [3, 3]).with_padding(PaddingConfig2d.Explicit(1, 2, 3, 4)), (1, 2, 4, 5), [1, 3, 6, 9]),
        (Conv2dConfig([1, 1], [2, 2]).with_padding(PaddingConfig2d.Same), (1, 1, 5, 5), [1, 1, 5, 5]),
        (Conv2dConfig([4, 4], [3, 3]).with_padding(PaddingConfig2d.Same).with_stride([2, 2]), (1, 4, 4, 5), [1, 4, 2, 3]),
        (Conv2dConfig([3, 8], [3, 3]), (2, 3, 28, 28), [2, 8, 26, 26]),
        (Conv3dConfig([1, 2], [2, 3, 3]).with_padding(PaddingConfig3d.Same), (1, 1, 4, 5, 6), [1, 2, 4, 5, 6]),
        (ConvTranspose1dConfig([4, 2], 3).with_stride(2).with_padding_out(1), (1, 4, 5), [1, 2, 12]),
        (ConvTranspose2dConfig([4, 2], [3, 3]).with_groups(2), (1, 4, 5, 6), [1, 2, 7, 8]),
        (ConvTranspose3dConfig([2, 2], [1, 2, 3]), (1, 2, 2, 2, 2), [1, 2, 2, 3, 4]),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_sizes(config, shape, wanted):
    assert config.init(DEVICE).forward(ones(*shape)).dims() == wanted


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (ConvTranspose1dConfig([5, 2], 5), "ConvTranspose1d {channels: [5, 2], stride: 1, kernel_size: 5, dilation: 1, "
         "groups: 1, padding: 0, padding_out: 0, params: 52}"),
        (Conv3dConfig([5, 1], [5, 5, 5]), "Conv3d {ch_in: 5, ch_out: 1, stride: [1, 1, 1], kernel_size: [5, 5, 5], "
         "dilation: [1, 1, 1], groups: 1, padding: Valid, params: 626}"),
        (DeformConv2dConfig([5, 1], [5, 5]), "DeformConv2d {stride: [1, 1], kernel_size: [5, 5], dilation: [1, 1], "
         "weight_groups: 1, offset_groups: 1, padding: Valid, params: 126}"),
    ],
)  # fmt: skip
def test_printed_form(config, text):
    assert str(config.init(DEVICE)) == text


def test_deform_with_zero_offsets_is_a_convolution():
    config = DeformConv2dConfig([2, 3], [3, 3]).with_padding(PaddingConfig2d.Explicit(1, 1, 1, 1))
    layer = config.init(DEVICE)
    plain = Conv2dConfig([2, 3], [3, 3]).with_padding(PaddingConfig2d.Explicit(1, 1, 1, 1)).init(DEVICE)
    plain = plain.replace(weight=layer.weight.clone(), bias=layer.bias.clone())
    x = Tensor.from_data(np.random.default_rng(0).standard_normal((1, 2, 5, 4)).astype("f4"), DEVICE)
    out = layer.forward(x, Tensor.zeros((1, 18, 5, 4), DEVICE), ones(1, 9, 5, 4))
    np.testing.assert_allclose(out.numpy(), plain.forward(x).numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("padding", [PaddingConfig2d.Same, PaddingConfig2d.Explicit(0, 2, 1, 1)], ids=str)
def test_deform_with_uneven_padding(padding):
    """Same padding of an even length with stride 2, and padding that is larger before an axis."""
    layer = DeformConv2dConfig([2, 3], [3, 3]).with_stride([2, 1]).with_padding(padding).init(DEVICE)
    plain = Conv2dConfig([2, 3], [3, 3]).with_stride([2, 1]).with_padding(padding).init(DEVICE)
    plain = plain.replace(weight=layer.weight.clone(), bias=layer.bias.clone())
    x = Tensor.from_data(np.random.default_rng(0).standard_normal((1, 2, 8, 5)).astype("f4"), DEVICE)
    want = plain.forward(x).numpy()
    rows, cols = want.shape[2:]
    out = layer.forward(x, Tensor.zeros((1, 18, rows, cols), DEVICE))
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-5, atol=1e-6)
    # Samples half a row lower: the mean of the rows above and below, of which one that does not exist is 0.
    moved = np.zeros((1, 9, 2, rows, cols), "f4")
    moved[:, :, 0] = 0.5
    out = layer.forward(x, Tensor.from_data(moved.reshape(1, 18, rows, cols), DEVICE))
    (top, bottom), (left, right) = ((0, 1), (1, 1)) if padding is PaddingConfig2d.Same else ((0, 1), (2, 1))
    framed = np.pad(x.numpy(), ((0, 0), (0, 0), (top, bottom + 1), (left, right)))
    means = Tensor.from_data((framed[:, :, :-1] + framed[:, :, 1:]) / 2, DEVICE)
    want = plain.replace(padding=PaddingConfig2d.Valid).forward(means).numpy()
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-5, atol=1e-6)


def test_blocks_there_and_back():
    x = Tensor.from_data(np.arange(1.0, 17.0, dtype="f4").reshape(1, 1, 4, 4), DEVICE)
    columns = Unfold4dConfig([2, 2]).init().forward(x)
    back = Fold4dConfig([4, 4], [2, 2]).init().forward(columns)
    assert back.tolist() == [[[[1, 4, 6, 4], [10, 24, 28, 16], [18, 40, 44, 24], [13, 28, 30, 16]]]]


def test_every_initializer_gets_its_fans():
    """Burn gives the bias of Conv1d and all of the transposed layers no fan_out."""
    for rule in (Initializer.XavierUniform(1.0), Initializer.KaimingNormal(1.0, True)):
        for config in (Conv1dConfig(4, 2, 3), ConvTranspose2dConfig([4, 2], [3, 3])):
            layer = config.with_initializer(rule).init(DEVICE)
            assert np.isfinite(layer.weight.val().numpy()).all()
            assert np.isfinite(layer.bias.val().numpy()).all()


@pytest.mark.parametrize(
    ("config", "error", "word"),
    [
        (Conv1dConfig(3, 4, 2).with_groups(2), ArgumentError, "channels_in=3"),
        (Conv2dConfig([2, 2], [3]), ShapeError, "kernel_size"),
        (Conv2dConfig([2, 2], [3, 0]), ArgumentError, "kernel_size"),
        (Conv2dConfig([0, 2], [3, 3]), ArgumentError, "channels"),
        (Conv2dConfig([2, 2], [3, 3]).with_stride([0, 1]), ArgumentError, "stride"),
        (ConvTranspose1dConfig([2, 2], 3).with_padding(-1), ArgumentError, "padding"),
        (DeformConv2dConfig([3, 4], [3, 3]).with_offset_groups(2), ArgumentError, "offset_groups=2"),
        (DeformConv2dConfig([3, 4], [2, 3]).with_padding(PaddingConfig2d.Same), ArgumentError, "even kernel"),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_wrong_configurations(config, error, word):
    with pytest.raises(error, match=word):
        config.init(DEVICE)


def test_wrong_inputs():
    layer = Conv2dConfig([5, 2], [3, 3]).init(DEVICE)
    with pytest.raises(ShapeError, match="got: 4, expected: 5"):
        layer.forward(ones(1, 4, 9, 9))
    with pytest.raises(ShapeError, match=r"\[batch, channels, height, width\]"):
        layer.forward(ones(5, 9, 9))
    with pytest.raises(ShapeError, match="pad more"):
        layer.forward(ones(1, 5, 2, 9))
    with pytest.raises(KindError, match="Float"):
        layer.forward(ones(1, 5, 9, 9).int())
