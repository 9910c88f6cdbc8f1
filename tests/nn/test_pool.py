"""Pooling and resampling layers, and the padding that layers work out."""

import numpy as np
import pytest

from burn import Device, Tensor
from burn.errors import ArgumentError, KindError, ShapeError
from burn.nn import PaddingConfig1d, PaddingConfig2d, PaddingConfig3d, pool
from burn.nn.interpolate import Interpolate1dConfig, Interpolate2d, Interpolate2dConfig, InterpolateMode
from burn.nn.padding import padding_pairs

DEVICE = Device.flex()


def row(*values):
    return Tensor([[list(map(float, values))]], DEVICE)


def test_average_of_a_row():
    config, x = pool.AvgPool1dConfig(2), row(1, 2, 3, 4, 5)
    for padding, counted, want in (
        (PaddingConfig1d.Same, False, [1.5, 3.5, 5]),
        (PaddingConfig1d.Explicit(0, 1), True, [1.5, 3.5, 2.5]),
        (PaddingConfig1d.Valid, True, [1.5, 3.5]),
    ):
        layer = config.with_padding(padding).with_count_include_pad(counted).init()
        assert layer(x).tolist() == [[want]]
    x = Tensor([[[0.0, 2, 4], [2, 0, 6]], [[0, 0, 8], [-2, 2, 0]]], DEVICE)
    layer = config.with_padding(PaddingConfig1d.Explicit(0, 1)).with_count_include_pad(False).init()
    assert layer(x).tolist() == [[[1, 4], [1, 6]], [[0, 8], [0, 0]]]


def test_average_in_ceil_mode_and_its_gradient():
    config = pool.AvgPool1dConfig(2).with_padding(PaddingConfig1d.Explicit(1, 0)).with_count_include_pad(False)
    x = row(2, 4, 6, 8).autodiff().require_grad()
    y = config.with_ceil_mode(True).init()(x)
    assert y.tolist() == [[[2, 5, 8]]]
    assert x.grad(y.sum().backward()).tolist() == [[[1, 0.5, 0.5, 1]]]


def test_average_of_a_plane():
    config = (
        pool.AvgPool2dConfig([2, 2]).with_padding(PaddingConfig2d.Explicit(0, 0, 1, 1)).with_count_include_pad(False)
    )
    x = Tensor.from_data(np.arange(1.0, 26.0).reshape(1, 1, 5, 5), DEVICE).autodiff().require_grad()
    y = config.init()(x)
    assert y.tolist() == [[[[4, 6, 7.5], [14, 16, 17.5], [21.5, 23.5, 25]]]]
    want = np.full((5, 5), 0.25)
    want[4], want[:, 4], want[4, 4] = 0.5, 0.5, 1
    np.testing.assert_array_equal(x.grad(y.sum().backward()).numpy()[0, 0], want)
    x = Tensor([[[[4.0]]]], DEVICE)
    config = pool.AvgPool2dConfig([2, 2]).with_strides([1, 1]).with_padding(PaddingConfig2d.Explicit(2, 0, 0, 1))
    assert config.init()(x).tolist() == [[[[0], [1]]]]
    assert config.with_count_include_pad(False).init()(x).tolist() == [[[[0], [4]]]]


def test_shapes():
    x = Tensor.zeros([2, 3, 4], DEVICE)
    for padding, n in (
        (PaddingConfig1d.Explicit(1, 2), 5),
        (PaddingConfig1d.Explicit(2, 2), 6),
        (PaddingConfig1d.Same, 4),
    ):
        assert pool.MaxPool1dConfig(3).with_stride(1).with_padding(padding).init()(x).dims() == [2, 3, n]
    plane = Tensor.zeros([1, 2, 4, 5], DEVICE)
    layer = pool.MaxPool2dConfig([3, 3]).with_strides([1, 1]).with_padding(PaddingConfig2d.Explicit(1, 2, 3, 4)).init()
    assert layer(plane).dims() == [1, 2, 6, 9]
    for kernel in ([2, 2], [3, 2]):
        config = pool.MaxPool2dConfig(kernel).with_strides([1, 1]).with_padding(PaddingConfig2d.Same)
        assert config.init()(plane).dims() == [1, 2, 4, 5]
        assert config.with_dilation([2, 3]).init()(plane).dims() == [1, 2, 4, 5]
    assert pool.AdaptiveAvgPool1dConfig(2).init()(x).dims() == [2, 3, 2]
    assert pool.AdaptiveAvgPool2dConfig([1, 3]).init()(plane).dims() == [1, 2, 1, 3]
    assert pool.AdaptiveAvgPool3dConfig([1, 2, 3]).init()(Tensor.zeros([1, 2, 4, 5, 6], DEVICE)).dims() == [
        1,
        2,
        1,
        2,
        3,
    ]
    assert Interpolate1dConfig().with_output_size(8).init()(x).dims() == [2, 3, 8]
    assert Interpolate1dConfig().with_scale_factor(0.5).init()(x).dims() == [2, 3, 2]
    picture = Tensor.zeros([2, 3, 4, 6], DEVICE)
    assert Interpolate2dConfig().with_scale_factor([0.5, 2.0]).init()(picture).dims() == [2, 3, 2, 12]


def test_printed_forms():
    padded = pool.MaxPool1dConfig(3).with_padding(PaddingConfig1d.Explicit(1, 2))
    assert str(padded.init()) == (
        "MaxPool1d {kernel_size: 3, stride: 3, padding: Explicit(1, 2), dilation: 1, ceil_mode: false}"
    )
    assert '"Explicit": [' in str(padded) and pool.MaxPool1dConfig.load_binary(str(padded).encode()) == padded
    assert str(Interpolate1dConfig().with_scale_factor(0.5).init()) == (
        "Interpolate1d {mode: Nearest, output_size: None, scale_factor: 0.5}"
    )
    assert str(Interpolate2dConfig().with_scale_factor([0.5, 2.0]).init()) == (
        "Interpolate2d {mode: Nearest, output_size: None, scale_factor: [0..2] {0: 0.5, 1: 2}}"
    )
    assert str(Interpolate2d((3, 4))) == str(Interpolate2dConfig([3, 4]).init())


def test_a_layer_has_its_own_sizes():
    for config, size in ((Interpolate2dConfig([3, 4]), "output_size"), (pool.MaxPool2dConfig([2, 2]), "kernel_size")):
        getattr(config.init(), size)[0] = 9
        assert getattr(config, size)[0] != 9


def test_a_padding_that_keeps_the_length():
    for size in range(1, 12):
        for kernel in range(1, 5):
            for stride in range(1, 4):
                for dilation in (1, 2):
                    (pair,) = padding_pairs(PaddingConfig1d.Same, [size], [kernel], [stride], [dilation])
                    extent = dilation * (kernel - 1) + 1
                    assert (size + sum(pair) - extent) // stride + 1 == -(-size // stride)
                    assert 0 <= pair[1] - pair[0] <= 1
    assert padding_pairs(PaddingConfig3d.Explicit(1, 2, 3), [4, 4, 4], [1] * 3, [1] * 3) == [(1, 1), (2, 2), (3, 3)]
    assert padding_pairs(PaddingConfig2d.Valid, [4, 4], [1, 1], [1, 1]) == [(0, 0), (0, 0)]


@pytest.mark.parametrize("mode", InterpolateMode)
@pytest.mark.parametrize("aligned", [True, False])
def test_a_line_is_a_plane_of_one_row(mode, aligned):
    x = Tensor.from_data(np.random.default_rng(0).standard_normal((2, 3, 9)), DEVICE)
    line = Interpolate1dConfig(mode=mode, align_corners=aligned).with_output_size(14).init()(x)
    plane = Interpolate2dConfig(mode=mode, align_corners=aligned).with_output_size([1, 14]).init()
    np.testing.assert_array_equal(line.numpy(), plane(x.reshape([2, 3, 1, 9])).numpy()[:, :, 0])


def test_wrong_use():
    x, plane = Tensor.zeros([1, 2, 4], DEVICE), Tensor.zeros([1, 2, 4, 4], DEVICE)
    with pytest.raises(ArgumentError, match=r"\[MaxPool1dConfig\] 'kernel_size' must be at least 1, got 0"):
        pool.MaxPool1dConfig(0)
    with pytest.raises(ShapeError, match=r"\[AvgPool2dConfig\] 'strides' must hold 2 ints"):
        pool.AvgPool2dConfig([2, 2]).with_strides([1])
    with pytest.raises(ArgumentError, match=r"\[PaddingConfig1d\] 'left' must be at least 0, got -1"):
        PaddingConfig1d.Explicit(-1, 0)
    with pytest.raises(ShapeError, match=r"\[MaxPool2d\] 'input' must be \[batch, channels, height, width\]"):
        pool.MaxPool2dConfig([2, 2]).init()(x)
    with pytest.raises(KindError, match=r"\[AvgPool1d\] 'input' must be a Float tensor"):
        pool.AvgPool1dConfig(2).init()(x.int())
    with pytest.raises(ArgumentError, match=r"\[Interpolate1d\] 'options' must set either .* got neither"):
        Interpolate1dConfig().init()(x)
    with pytest.raises(ArgumentError, match=r"\[Interpolate2d\] 'options' must set either"):
        Interpolate2dConfig().with_output_size([2, 2]).with_scale_factor([2.0, 2.0]).init()(plane)
    with pytest.raises(ShapeError, match=r"\[Interpolate1d\] .*\[batch, channels, length\]"):
        Interpolate1dConfig().with_output_size(3).init()(plane)
