"""Channels as pixels: Burn's numbers, there and back, gradients, wrong sizes."""

import numpy as np
import pytest

from burn import Device, Tensor
from burn.errors import ArgumentError, ShapeError
from burn.nn import PixelShuffle, PixelShuffleConfig, PixelUnshuffle, PixelUnshuffleConfig

CPU = Device.flex()


def test_numbers():
    x = Tensor.from_data(np.arange(16.0).reshape(1, 4, 2, 2), CPU)
    out = PixelShuffleConfig(2).init()(x)
    assert out.tolist() == [[[[0, 4, 1, 5], [8, 12, 9, 13], [2, 6, 3, 7], [10, 14, 11, 15]]]]
    assert PixelUnshuffleConfig(2).init()(out).tolist() == x.tolist()


@pytest.mark.parametrize("r", [1, 2, 3])
@pytest.mark.parametrize("shape", [(2, 1, 2, 3), (1, 2, 1, 1), (0, 1, 2, 2), (2, 0, 2, 2)])
def test_there_and_back(shape, r):
    """Against indices: pixel (h r + i, w r + j) of channel c is channel c r² + i r + j at (h, w)."""
    n, c, h, w = shape
    data = np.arange(float(np.prod(shape) * r * r), dtype=np.float32).reshape(n, c * r * r, h, w)
    out = PixelShuffle(r)(Tensor.from_data(data, CPU))
    want = np.zeros((n, c, h * r, w * r), np.float32)
    for i in range(r):
        for j in range(r):
            want[:, :, i::r, j::r] = data[:, i * r + j :: r * r]
    np.testing.assert_array_equal(out.numpy(), want)
    np.testing.assert_array_equal(PixelUnshuffle(r)(out).numpy(), data)


def test_gradients_go_the_other_way():
    weight = Tensor.from_data(np.arange(32.0).reshape(1, 2, 4, 4), CPU)
    x = Tensor.ones([1, 8, 2, 2], CPU.autodiff()).require_grad()
    grad = x.grad((PixelShuffle(2)(x) * weight).sum().backward())
    assert grad.tolist() == PixelUnshuffle(2)(weight).tolist()


def test_what_they_refuse():
    with pytest.raises(ShapeError, match=r"channels that upscale_factor\^2 = 4 divides, got shape \[1, 3, 2, 2\]"):
        PixelShuffle(2)(Tensor.ones([1, 3, 2, 2], CPU))
    for shape in ([1, 1, 3, 2], [1, 1, 2, 3]):
        with pytest.raises(ShapeError, match=r"a height and a width that downscale_factor = 2 divides"):
            PixelUnshuffle(2)(Tensor.ones(shape, CPU))
    for layer in (PixelShuffle(2), PixelUnshuffle(2)):
        with pytest.raises(
            ShapeError, match=r"'input' must be \[batch, channels, height, width\], got shape \[4, 2, 2\]"
        ):
            layer(Tensor.ones([4, 2, 2], CPU))
    for make in (
        PixelShuffle,
        PixelUnshuffle,
        lambda r: PixelShuffleConfig(r).init(),
        lambda r: PixelUnshuffleConfig(r).init(),
    ):
        with pytest.raises(ArgumentError, match="scale_factor' must be a positive integer, got 0"):
            make(0)
