"""Random numbers: equal bits on every backend and thread count, right ranges and moments."""

import numpy as np
import pytest

from burn.device import Device
from burn.errors import ArgumentError, NumberOverflowError
from burn.tensor import Distribution, DType, Int, Tensor
from tests.cases.tensors import array, tensor
from tests.ops.checks import with_threads

FLOATS = [DType.F64, DType.F32, DType.F16, DType.BF16]
UNIFORM = Distribution.Uniform(-2.0, 3.0)


def draw(device, distribution=Distribution.Default, shape=(5, 7), dtype=DType.F32, seed=3, skip=0):
    """Numbers from a fresh seed, after `skip` others."""
    device.seed(seed)
    if skip:
        Tensor.random([skip], distribution, device, dtype=dtype)
    return array(Tensor.random(list(shape), distribution, device, dtype=dtype))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape", [(1,), (5, 7), (4099,), (0, 3)], ids=str)
def test_backends_agree(dtype, shape):
    """Uniform numbers in every bit, normal ones to the last digits."""
    for distribution in (Distribution.Default, UNIFORM, Distribution.Bernoulli(0.3)):
        flex, ndarray = (draw(d, distribution, shape, dtype, skip=6) for d in (Device.flex(), Device.ndarray()))
        np.testing.assert_array_equal(flex, ndarray, strict=True)
    flex, ndarray = (
        draw(d, Distribution.Normal(1.0, 2.0), shape, dtype).astype("f8") for d in (Device.flex(), Device.ndarray())
    )
    np.testing.assert_allclose(flex, ndarray, rtol=0, atol={8: 1e-14, 4: 4e-6, 2: 2e-2}[dtype.size])


@pytest.mark.parametrize("dtype", [DType.I64, DType.I32, DType.I8, DType.U8, DType.U64], ids=str)
def test_backends_agree_on_integers(dtype):
    for distribution in (
        Distribution.Uniform(0.0, 10.0),
        Distribution.Uniform(3.0, 100.0),
        Distribution.Bernoulli(0.5),
    ):
        flex, ndarray = (draw(d, distribution, (501,), dtype) for d in (Device.flex(), Device.ndarray()))
        np.testing.assert_array_equal(flex, ndarray, strict=True)
        assert flex.dtype == dtype.numpy


@pytest.mark.parametrize(
    "distribution", [UNIFORM, Distribution.Normal(0.0, 1.0), Distribution.Bernoulli(0.5)], ids=repr
)
def test_threads(distribution, flex):
    one, two = with_threads(lambda: draw(flex, distribution, (300_001,)))
    np.testing.assert_array_equal(one, two)


def test_seed_and_sequence(device):
    first, again, other = draw(device), draw(device), draw(device, seed=4)
    np.testing.assert_array_equal(first, again)
    assert not (first == other).any()
    device.seed(3)
    pair = [array(Tensor.random([5, 7], Distribution.Default, device)) for _ in range(2)]
    np.testing.assert_array_equal(pair[0], first)
    assert not (pair[0] == pair[1]).any()
    assert len(np.unique(draw(device, dtype=DType.F64, shape=(10_000,)))) == 10_000


def test_seeds_of_every_size(device):
    results = {draw(device, seed=s, shape=(1,), dtype=DType.F64).item() for s in (0, 1, 2**32, 2**63, 2**64 - 1)}
    assert len(results) == 5
    with pytest.raises(ValueError, match="seed"):
        device.seed(-1)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_uniform_range(dtype, device):
    """The upper end is never reached, rounding to a narrow dtype included."""
    for low, high in ((0.0, 1.0), (-2.0, 3.0), (0.75, 1.0), (1000.0, 1001.0)):
        x = draw(device, Distribution.Uniform(low, high), (20_000,), dtype).astype("f8")
        rounded = float(np.array(low).astype(dtype.numpy))
        assert x.min() >= min(low, rounded) and (x.max() < high or x.max() == rounded), (low, high, x.min(), x.max())
    x = draw(device, UNIFORM, (20_000,), dtype).astype("f8")
    assert abs(x.mean() - 0.5) < 0.05 and abs(x.std() - 5 / 12**0.5) < 0.05


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_normal_moments(dtype, device):
    x = draw(device, Distribution.Normal(1.0, 2.0), (50_000,), dtype).astype("f8")
    assert np.isfinite(x).all()
    z = (x - 1) / 2
    assert abs(z.mean()) < 0.02 and abs(z.std() - 1) < 0.02
    assert abs((z**3).mean()) < 0.06 and abs((z**4).mean() - 3) < 0.2
    assert abs(np.corrcoef(z[:-1:2], z[1::2])[0, 1]) < 0.03


def test_bernoulli(device):
    x = draw(device, Distribution.Bernoulli(0.3), (20_000,))
    assert set(np.unique(x)) == {0.0, 1.0} and abs(x.mean() - 0.3) < 0.02
    assert draw(device, Distribution.Bernoulli(0.0)).sum() == 0
    assert draw(device, Distribution.Bernoulli(1.0)).sum() == 35


def test_integers(device):
    x = draw(device, Distribution.Uniform(-3.0, 4.0), (7_000,), DType.I32)
    counts = np.bincount(x + 3, minlength=7)
    assert (x.min(), x.max()) == (-3, 3) and counts.min() > 800
    assert array(Tensor.random([4], Distribution.Uniform(0.0, 9.0), device, kind=Int)).dtype.kind == "i"


def test_bad_parameters(device):
    for distribution, word in (
        (Distribution.Uniform(1.0, 1.0), "low"),
        (Distribution.Normal(0.0, -1.0), "std"),
        (Distribution.Bernoulli(1.5), "p"),
        (Distribution.Uniform(0.0, float("nan")), "high"),
    ):
        with pytest.raises(ValueError, match=word):
            Tensor.random([2], distribution, device)


def test_categorical(device):
    """Frequencies follow the weights, row by row; a weight of 0 is never drawn."""
    device.seed(7)
    weights = np.array([[1.0, 0.0, 3.0], [0.0, 1e-40, 0.0]], "f4")
    drawn = array(tensor(weights, device).categorical(4000))
    assert drawn.shape == (2, 4000)
    assert set(drawn[0]) == {0, 2}
    assert abs((drawn[0] == 2).mean() - 0.75) < 0.03
    assert (drawn[1] == 1).all()
    assert array(tensor(weights[1].astype("f2") + 1, device).categorical(2)).shape == (2,)


def test_categorical_refuses_what_is_no_distribution(device):
    for row in ([0.0, 0.0], [1.0, -1.0], [np.nan, 1.0], [np.inf, 1.0]):
        with pytest.raises(ArgumentError, match=r"\[categorical\]"):
            tensor(np.array([row, [1.0, 1.0]]), device).categorical(1)
    with pytest.raises(ArgumentError, match="num_samples"):
        tensor(np.ones(2), device).categorical(0)


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [("u8", -10, 10), ("u8", 300, 310), ("i8", 0, 129), ("i32", 0, 2**40), ("u64", -1, 5), ("f16", 0.0, 1e6)],
)
def test_bounds_must_fit_the_dtype(dtype, low, high, device):
    with pytest.raises(NumberOverflowError, match=rf"'low' and 'high'.*{dtype}.*{low}"):
        Tensor.random([4], Distribution.Uniform(low, high), device, dtype=DType.of(dtype))


@pytest.mark.parametrize(("dtype", "end"), [("f32", 3e38), ("bf16", 3e38), ("f64", 1e308)])
def test_width_must_fit_the_arithmetic(dtype, end, device):
    with pytest.raises(ArgumentError, match="'high'"):
        Tensor.random([4], Distribution.Uniform(-end, end), device, dtype=DType.of(dtype))


def test_widest_bounds(device):
    for dtype, low, high in (
        ("u8", 0, 256),
        ("i8", -128, 128),
        ("i64", -(2**63), 2**63 - 1),
        ("f16", -65504.0, 65504.0),
    ):
        drawn = Tensor.random([1000], Distribution.Uniform(low, high), device, dtype=DType.of(dtype)).tolist()
        assert low <= min(drawn) < low / 2 + high / 4 < high / 2 < max(drawn) < high
