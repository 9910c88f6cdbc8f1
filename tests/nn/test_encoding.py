"""Encodings of positions: Burn's numbers, windows of the table, dtypes, wrong sizes."""

import numpy as np
import pytest

from burn import Device, Tensor
from burn.errors import ArgumentError, ArgumentTypeError, OutOfMemoryError, ShapeError
from burn.nn import PositionalEncodingConfig, RotaryEncodingConfig, generate_sinusoids

CPU = Device.flex()
AD = CPU.autodiff()


def test_sinusoids():
    table = generate_sinusoids(12, 6, 10_000, CPU)
    want = {
        0: [0, 1, 0, 1, 0, 1], 1: [0.84147, 0.54030, 0.04640, 0.99892, 0.00215, 1],
        2: [0.90930, -0.41615, 0.09270, 0.99569, 0.00431, 0.99999], 11: [-0.99999, 0.00443, 0.48868, 0.87246, 0.02370, 0.99972],
    }  # fmt: skip
    for row, numbers in want.items():
        np.testing.assert_allclose(table.numpy()[row], numbers, atol=1e-5)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_positional_encoding(dtype):
    layer = PositionalEncodingConfig(6, max_sequence_size=12).init(AD)
    x = Tensor.full([2, 3, 6], 1.0, AD, dtype=dtype).require_grad()
    out = layer(x)
    table = generate_sinusoids(3, 6, 10_000, CPU).cast(dtype)
    assert out.dtype is x.dtype
    for sample in out.cast("f64").numpy():
        np.testing.assert_allclose(sample, (table + 1.0).cast("f64").numpy())
    assert (x.grad(out.sum().backward()).cast("f64").numpy() == 1.0).all()


def test_positional_encoding_is_a_constant():
    layer = PositionalEncodingConfig(4).init(CPU)
    assert str(layer) == "PositionalEncoding {d_model: 4, max_sequence_size: 5000, max_timescale: 10000}"
    assert layer.num_params() == 0 and len(layer.into_record()) == 0
    assert layer.to_device(Device.ndarray()).sinusoids.device == Device.ndarray()


def test_positional_encoding_refuses():
    layer = PositionalEncodingConfig(8, max_sequence_size=5).init(CPU)
    for size in (1, 10):
        with pytest.raises(
            ShapeError, match=r"'input' must be \[\.\.\., d_model\] with d_model = 8, got shape \[1, 2, \d+\]"
        ):
            layer(Tensor.ones([1, 2, size], CPU))
    with pytest.raises(ShapeError, match=r"at most max_sequence_size = 5 positions, got shape \[1, 6, 8\]"):
        layer(Tensor.ones([1, 6, 8], CPU))
    with pytest.raises(ShapeError, match=r"'input' must be \[batch, length, d_model\], got shape \[5, 8\]"):
        layer(Tensor.ones([5, 8], CPU))
    with pytest.raises(ArgumentError, match="'d_model' must be even, got 3"):
        PositionalEncodingConfig(3).init(CPU)
    with pytest.raises(ArgumentError, match="'max_timescale' must be at least the length, got 100 for 5000 positions"):
        PositionalEncodingConfig(4, max_timescale=100).init(CPU)
    with pytest.raises(ArgumentError, match="'max_sequence_size' must be a positive integer, got 0"):
        PositionalEncodingConfig(4, max_sequence_size=0).init(CPU)


X = [[1.0, 2, 3, 4], [5, 6, 7, 8]]


def test_rotary_encoding():
    layer = RotaryEncodingConfig(10, 4).init(CPU)
    assert str(layer) == "RotaryEncoding {d_model: 4, max_sequence_length: 10}" and layer.num_params() == 0
    first, second = (
        [[1, 2, 3, 4], [-2.3473, 7.4492, 6.9197, 8.0696]],
        [[9, 10, 11, 12], [-4.7567, 18.5034, 14.8393, 16.1492]],
    )
    x = np.array([X, [[9, 10, 11, 12], [13, 14, 15, 16.0]]])
    for shape in ((2, 2, 4), (1, 2, 2, 4), (2, 1, 2, 4)):
        out = layer(Tensor.from_data(x.reshape(shape), CPU)).numpy().reshape(2, 2, 4)
        np.testing.assert_allclose(out, [first, second], atol=1e-4)
    np.testing.assert_allclose(layer(Tensor.from_data(X, CPU)).numpy(), first, atol=1e-4)
    third = [[-2.234742, 0.077004, 2.919405, 4.059196], [-5.796683, -5.234355, 6.756886, 8.206369]]
    np.testing.assert_allclose(layer.apply(Tensor.from_data(X, CPU), 2).numpy(), third, atol=1e-5)
    table = RotaryEncodingConfig(2, 8).init(CPU).freq_complex.numpy()[1, ::2]
    pairs = [(0.54030, 0.84147), (0.99500, 0.099833), (0.99995, 0.0099998), (0.99999, 0.00099999)]
    np.testing.assert_allclose(table, pairs, atol=1e-5)


@pytest.mark.parametrize("device", [CPU, Device.ndarray()], ids=str)
@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
def test_rotation_as_complex_numbers(dtype, device):
    rng = np.random.default_rng(2)
    data = rng.standard_normal((2, 3, 5, 6))
    layer = RotaryEncodingConfig(9, 6, theta=100.0).init(device)
    x = Tensor.from_data(data, device.autodiff(), dtype=dtype).require_grad()
    out = layer.apply(x, 4)
    angles = np.arange(4, 9)[:, None] * 100.0 ** (-np.arange(3) / 3)
    turn = np.exp(1j * angles)

    def rotated(values, by):
        z = (values[..., ::2] + 1j * values[..., 1::2]) * by
        return np.stack([z.real, z.imag], -1).reshape(values.shape)

    tolerance = 5e-3 if dtype == "f16" else 2e-6
    assert out.dtype is x.dtype
    np.testing.assert_allclose(out.cast("f64").numpy(), rotated(data, turn), atol=tolerance)
    weight = rng.standard_normal(data.shape)
    grad = x.grad((out * Tensor.from_data(weight, device, dtype=dtype)).sum().backward())
    np.testing.assert_allclose(grad.cast("f64").numpy(), rotated(weight, turn.conj()), atol=tolerance)


def test_the_table_moves_on():
    long, short = RotaryEncodingConfig(40, 4).init(CPU), RotaryEncodingConfig(5, 4).init(CPU)
    for start in (2, 4, 5, 9, 30):  # inside the table, at its end, and beyond
        short = short.shift(start)
        assert short.start_offset == start and short.freq_complex.shape == (5, 4, 2)
        np.testing.assert_array_equal(short.freq_complex.numpy(), long.freq_complex.numpy()[start : start + 5])
        at = start + 1
        np.testing.assert_array_equal(
            short.apply(Tensor.from_data(X, CPU), 1).numpy(), long.apply(Tensor.from_data(X, CPU), at).numpy()
        )
    with pytest.raises(ArgumentError, match="'start' must be above that of the table, 30, got 30"):
        short.shift(30)
    np.testing.assert_array_equal(short.reset().freq_complex.numpy(), long.freq_complex.numpy()[:5])
    assert short.reset().start_offset == 0


def test_scaled_frequencies():
    config = RotaryEncodingConfig(9, 4)
    half = config.init_with_frequency_scaling(lambda theta: theta * 0.5, CPU)
    np.testing.assert_allclose(half.freq_complex.numpy()[8], config.init(CPU).freq_complex.numpy()[4], rtol=1e-6)
    np.testing.assert_array_equal(half.shift(2).freq_complex.numpy()[:7], half.freq_complex.numpy()[2:])
    with pytest.raises(ShapeError, match=r"'scaling' must give frequencies of shape \[2\], got \[1\]"):
        config.init_with_frequency_scaling(lambda theta: theta.narrow(0, 0, 1), CPU)


def test_rotary_encoding_refuses():
    layer = RotaryEncodingConfig(5, 4).init(CPU)
    with pytest.raises(ShapeError, match="must end within the 5 positions of the table, got 3 of them from 3 on"):
        layer.apply(Tensor.ones([3, 4], CPU), 3)
    with pytest.raises(ShapeError, match=r"'input' must be \[\.\.\., d_model\] with d_model = 4"):
        layer(Tensor.ones([2, 3], CPU))
    with pytest.raises(ShapeError, match=r"'input' must be \[\.\.\., length, d_model\], got shape \[4\]"):
        layer(Tensor.ones([4], CPU))
    with pytest.raises(ArgumentError, match="'start' must be at least 0, got -1"):
        layer.apply(Tensor.ones([1, 4], CPU), -1)
    with pytest.raises(ArgumentTypeError, match="'start' must be an integer"):
        layer.shift(1.5)
    with pytest.raises(ArgumentError, match="'d_model' must be even, got 3"):
        RotaryEncodingConfig(5, 3).init(CPU)
    for theta in (0.0, -1.0, float("nan")):
        with pytest.raises(ArgumentError, match="'theta' must be finite and positive"):
            RotaryEncodingConfig(5, 4, theta=theta).init(CPU)


def test_sequences_of_no_positions():
    for layer in (PositionalEncodingConfig(4).init(AD), RotaryEncodingConfig(8, 4).init(AD)):
        x = Tensor.zeros([2, 0, 4], AD).require_grad()
        out = layer(x)
        assert out.dims() == [2, 0, 4] and x.grad(out.sum().backward()).dims() == [2, 0, 4]


@pytest.mark.parametrize("size", [1 << 80, 1 << 62, 1 << 46])
@pytest.mark.parametrize("config", [PositionalEncodingConfig, lambda size: RotaryEncodingConfig(4, size)])
def test_tables_that_no_memory_holds(config, size):
    with pytest.raises((ShapeError, OutOfMemoryError)):
        config(size).init(Device.flex())
