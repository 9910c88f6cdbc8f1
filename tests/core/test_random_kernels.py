"""Random numbers against a NumPy Philox checked with the published vectors: equal bits, any size, any threads."""

import hashlib

import numpy as np
import pytest

import burn
from burn.backend import flex
from burn.device import Device
from burn.tensor import Distribution, DType, Int, Tensor

SEED = 0x0123456789ABCDEF
SIZES = (1, 3, 7, 1024, 1025, 100_003)


def philox(counter, key):
    """Philox4x32-10 of four counter words (arrays or numbers) and two key words."""
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    c, (k0, k1) = [np.asarray(x, np.uint64) for x in counter], key
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [b >> half ^ c[1] ^ np.uint64(k0), b & low, a >> half ^ c[3] ^ np.uint64(k1), a & low]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c


def words(n, seed=SEED):
    """The first n words of a freshly seeded device."""
    counter = np.arange((n + 3) // 4, dtype=np.uint64)
    none = np.zeros_like(counter)
    return np.stack(philox([counter, none, none, none], [seed & 0xFFFFFFFF, seed >> 32]), 1).reshape(-1)[:n]


def draw(n, distribution, dtype, seed=SEED):
    device = Device.flex()
    device.seed(seed)
    kind = {} if dtype.is_float else {"kind": Int}
    return Tensor.random([n], distribution, device, dtype=dtype, **kind)


def exact(x):
    return np.asarray((x.cast(DType.F64) if x.dtype.is_float else x).numpy())


def test_known_answers():
    assert [hex(x) for x in philox([0] * 4, [0] * 2)] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]
    ones = [0xFFFFFFFF] * 4
    assert [hex(x) for x in philox(ones, ones[:2])] == ["0x408f276d", "0x41c83b0e", "0xa20bc7c6", "0x6d5451fd"]
    digits = [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344]
    assert [hex(x) for x in philox(digits, [0xA4093822, 0x299F31D0])] == [
        "0xd16cfe09",
        "0x94fdcceb",
        "0x5001e420",
        "0x24126ea1",
    ]
    got = draw(4, Distribution.Uniform(0, 2.0**32), DType.U32, seed=0)
    assert [hex(x) for x in exact(got)] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]


@pytest.mark.parametrize("n", SIZES)
def test_uniform(n):
    w, pairs = words(n), words(2 * n)
    bits = pairs[1::2] << np.uint64(32) | pairs[::2]
    unit = (w >> np.uint64(8)).astype("f4") * np.float32(2**-24)
    assert np.array_equal(exact(draw(n, Distribution.Default, DType.F32)), unit.astype("f8"))
    spread = unit * np.float32(3.75) + np.float32(-1.5)
    want = np.minimum(spread, np.nextafter(np.float32(2.25), np.float32(0)))
    assert np.array_equal(exact(draw(n, Distribution.Uniform(-1.5, 2.25), DType.F32)), want.astype("f8"))
    assert np.array_equal(
        exact(draw(n, Distribution.Default, DType.F64)), (bits >> np.uint64(11)).astype("f8") * 2.0**-53
    )
    assert np.array_equal(
        exact(draw(n, Distribution.Uniform(-3, 7), DType.I32)), (w * np.uint64(10) >> np.uint64(32)).astype("i8") - 3
    )
    wide = draw(n, Distribution.Uniform(-(2.0**63), 2.0**63), DType.I64)
    assert np.array_equal(exact(wide), (bits + np.uint64(1 << 63)).view("i8"))


@pytest.mark.parametrize("n", SIZES)
def test_normal(n):
    even = (n + 1) // 2 * 2
    unit = (words(even) >> np.uint64(8)).astype("f8") * 2.0**-24
    pairs = words(2 * even)
    unit64 = ((pairs[1::2] << np.uint64(32) | pairs[::2]) >> np.uint64(11)).astype("f8") * 2.0**-53
    for dtype, u, step in ((DType.F32, unit, 2.0**-24), (DType.F64, unit64, 2.0**-53)):
        radius, angle = np.sqrt(-2 * np.log(u[::2] + step)), 2 * np.pi * u[1::2]
        want = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)[:n]
        got = exact(draw(n, Distribution.Normal(0, 1), dtype))
        if dtype is DType.F32:
            assert (np.abs(got - want) <= 4 * np.spacing(np.abs(want).astype("f4"))).all()
        else:
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-15)
        shifted = exact(draw(n, Distribution.Normal(5, 0.25), dtype))
        np.testing.assert_allclose(shifted, 5 + 0.25 * want, rtol=1e-6)


@pytest.mark.parametrize(
    "dtype", (DType.F32, DType.F64, DType.F16, DType.BF16, DType.I32, DType.I64), ids=lambda d: d.name
)
@pytest.mark.parametrize("p", (0.0, 1e-5, 0.3, 1.0))
def test_bernoulli(dtype, p):
    got = exact(draw(50_001, Distribution.Bernoulli(p), dtype))
    assert np.array_equal(got == 1, words(50_001) < int(p * 2.0**32)) and np.isin(got, (0, 1)).all()


@pytest.mark.parametrize("dtype", (DType.F32, DType.F64, DType.F16, DType.BF16), ids=lambda d: d.name)
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, -0.5), (1, 1.1), (-3, 1e-3), (-1, 0), (0, 0.7)])
def test_uniform_stays_below_high(dtype, low, high):
    got = exact(draw(1 << 18, Distribution.Uniform(low, high), dtype))
    assert got.max() < high and got.min() >= low - 0.01 * abs(low)


def test_moments():
    x = exact(draw(1 << 20, Distribution.Normal(0, 1), DType.F32))
    assert (
        abs(x.mean()) < 4e-3 and x.std() == pytest.approx(1, abs=4e-3) and np.mean(x**4) == pytest.approx(3, abs=0.05)
    )


def test_threads_do_not_matter():
    before, results = burn.get_num_threads(), []
    for count in (1, 2):
        burn.set_num_threads(count)
        results.append(
            [exact(draw(300_000, d, DType.F32)).tobytes() for d in (Distribution.Default, Distribution.Normal(0, 1))]
        )
    burn.set_num_threads(before)
    assert results[0] == results[1]


@pytest.mark.parametrize("level", flex.available_levels())
def test_levels_agree(level, fresh_python):
    code = """
import hashlib
from burn.device import Device
from burn.tensor import Distribution, Tensor
device = Device.flex()
device.seed(5)
print(hashlib.sha256(Tensor.random([5001], Distribution.Uniform(-0.3, 0.7), device).numpy().tobytes()).hexdigest())
"""
    unit = (words(5001, 5) >> np.uint64(8)).astype("f4") * np.float32(2**-24)
    want = np.minimum(unit * np.float32(1.0) + np.float32(-0.3), np.float32(0.7))
    assert fresh_python(code, BURN_SIMD=level) == hashlib.sha256(want.tobytes()).hexdigest()
