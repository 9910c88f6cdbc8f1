"""Accuracy of the vector math of each SIMD level: all magnitudes of float32 against float64, and the special values."""

import json

import numpy as np
import pytest
from scipy import special

from burn.backend import flex
from burn.device import Device
from burn.tensor import DType, Tensor, activation

SPECIALS = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3.4e38, -3.4e38], np.float32)


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1.0) / (1.0 + e)


def times(x, p):
    """x * p, with 0 where p has vanished."""
    with np.errstate(invalid="ignore"):
        return np.where((p == 0) & np.isinf(x), -0.0, x * p)


def gelu_slope(x):
    leaf = x.autodiff().require_grad()
    return leaf.grad(activation.gelu(leaf).backward())


def normal(x):
    """The distribution function of the standard normal distribution."""
    return 0.5 * special.erfc(-x / np.sqrt(2))


def tanh_gate(x):
    return sigmoid(2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))


# Function, its reference in float64, the largest error allowed in units of the last place, and the least argument for
# which it is asked: below, gelu and its derivative are held to an absolute error.
FUNCTIONS = {
    "exp": (Tensor.exp, np.exp, 2.0, -np.inf),
    "log": (Tensor.log, np.log, 2.0, -np.inf),
    "tanh": (Tensor.tanh, np.tanh, 2.0, -np.inf),
    "erf": (Tensor.erf, special.erf, 2.0, -np.inf),
    "sigmoid": (activation.sigmoid, sigmoid, 3.0, -np.inf),
    "silu": (activation.silu, lambda x: times(x, sigmoid(x)), 4.0, -np.inf),
    "log_sigmoid": (activation.log_sigmoid, lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))), 3.0, -np.inf),
    "gelu": (activation.gelu, lambda x: times(x, normal(x)), 4.0, 0.0),
    "gelu_slope": (gelu_slope, lambda x: normal(x) + times(x, np.exp(-x * x / 2)) / np.sqrt(2 * np.pi), 3.0, 0.0),
    "gelu_approximate": (activation.gelu_approximate, lambda x: times(x, tanh_gate(x)), 4.0, 0.0),
}

# Computed in double and rounded once; the circle functions of arguments beyond 2^20 come from the C library.
WIDE = {
    "log1p": (Tensor.log1p, np.log1p, 0.51),
    "sin": (Tensor.sin, np.sin, 1.0),
    "cos": (Tensor.cos, np.cos, 1.0),
    "tan": (Tensor.tan, np.tan, 1.6),
    "sinh": (Tensor.sinh, np.sinh, 0.51),
    "cosh": (Tensor.cosh, np.cosh, 0.51),
    "asin": (Tensor.asin, np.arcsin, 0.51),
    "acos": (Tensor.acos, np.arccos, 0.51),
    "atan": (Tensor.atan, np.arctan, 0.51),
    "asinh": (Tensor.asinh, np.arcsinh, 0.51),
    "acosh": (Tensor.acosh, np.arccosh, 0.51),
    "atanh": (Tensor.atanh, np.arctanh, 0.51),
}
EDGES = np.array([0.5, 1, 2, 3, 4, 7, 1e10, 16777217, 0.99999994, 1.0000001], np.float32)


def samples():
    """Float32 numbers of every exponent and both signs, evenly spaced in their bits, and the specials."""
    bits = np.arange(0, 2**32, 19937, dtype=np.uint64).astype(np.uint32)
    return np.concatenate([SPECIALS, bits.view(np.float32), np.linspace(-20, 20, 40001, dtype=np.float32)])


def compared(result, reference, *wide):
    """Errors of a result in ulp, absolute ones, and how many special values or signs of zero are wrong."""
    got = np.asarray(result.numpy())
    with np.errstate(all="ignore"):
        want = reference(*wide)
        rounded = want.astype(np.float32)
        plain = np.isfinite(rounded) & np.isfinite(got)
        error = np.abs(np.where(plain, got - want, 0.0))
        ulp = np.where(plain, error / np.exp2(np.maximum(np.frexp(want)[1] - 24.0, -149.0)), 0.0)
    wrong = ~plain & ~((got == rounded) | (np.isnan(got) & np.isnan(rounded)))
    wrong |= (got == 0) & (rounded == 0) & (wide[0] == 0) & (np.signbit(got) != np.signbit(rounded))
    return ulp, error, int(wrong.sum())


def measure():
    """Per function: the level, the largest error in ulp, the largest absolute error for |x| < 20, wrong specials."""
    x = samples()
    with np.errstate(invalid="ignore"):  # signalling NaN among the bit patterns
        wide = x.astype(np.float64)
    tensor = Tensor.from_numpy(x, Device.flex())
    found = {}
    for name, (function, reference, _, least) in FUNCTIONS.items():
        ulp, error, wrong = compared(function(tensor), reference, wide)
        found[name] = [float(ulp[x >= least].max()), float(error[np.abs(x) < 20].max()), wrong]
    for name, (function, reference, _) in WIDE.items():
        ulp, _, wrong = compared(function(tensor), reference, wide)
        found[name] = [float(ulp.max()), 0.0, wrong]
    both = np.concatenate([SPECIALS, EDGES, -EDGES])
    rng = np.random.default_rng(4)
    pairs = [v.reshape(-1) for v in np.meshgrid(both, both)]
    for low, high in ((-80, 80), (-3, 3)):
        more = np.exp(rng.uniform(low, high, 40000)), rng.uniform(-5, 5, 40000)
        pairs = [np.concatenate([a, b.astype(np.float32)]) for a, b in zip(pairs, more, strict=True)]
    a, b = (Tensor.from_numpy(v, Device.flex()) for v in pairs)
    for name, got, reference in (("powf", a.powf(b), np.power), ("atan2", a.atan2(b), np.arctan2)):
        ulp, _, wrong = compared(got, reference, *(v.astype(np.float64) for v in pairs))
        found[name] = [float(ulp.max()), 0.0, wrong]
    for exponent in (1.7, -0.5, 4.0, -3.0):
        p = float(np.float32(exponent))
        ulp, _, wrong = compared(tensor.powf_scalar(exponent), lambda v, p=p: np.power(v, p), wide)
        found[f"powf {exponent}"] = [float(ulp.max()), 0.0, wrong]
    return {"level": flex.level(), "found": found}


@pytest.mark.parametrize("level", flex.available_levels())
def test_accuracy_over_all_of_float32(level, fresh_python):
    code = "import json; from tests.core.test_math import measure; print(json.dumps(measure()))"
    answer = json.loads(fresh_python(code, BURN_SIMD=level))
    assert answer["level"] == level
    for name, (ulp, absolute, wrong) in answer["found"].items():
        assert wrong == 0, (name, wrong)
        assert ulp <= {**FUNCTIONS, **WIDE}.get(name, (None, None, 0.51))[2], (name, ulp)
        if name.startswith("gelu"):
            assert absolute <= (2e-6 if name == "gelu_approximate" else 6e-7), (name, absolute)


def test_a_tail_gives_the_same_as_a_full_vector():
    x = np.linspace(-3, 3, 67, dtype=np.float32)
    for function, *_ in FUNCTIONS.values():
        whole = np.asarray(function(Tensor.from_numpy(x, Device.flex())).numpy())
        for start, stop in ((0, 1), (3, 10), (1, 34), (50, 67)):
            piece = np.ascontiguousarray(x[start:stop])
            part = np.asarray(function(Tensor.from_numpy(piece, Device.flex())).numpy())
            np.testing.assert_array_equal(part, whole[start:stop])


@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16])
def test_half_precision_is_rounded_once_from_float32(dtype):
    x = Tensor.from_numpy(np.linspace(-9, 9, 3001, dtype=np.float32), Device.flex()).cast(dtype)
    for function, *_ in FUNCTIONS.values():
        got = function(x).cast(DType.F32).numpy()
        want = function(x.cast(DType.F32)).cast(dtype).cast(DType.F32).numpy()
        np.testing.assert_array_equal(got, want)


def test_float64_is_the_double_function():
    x = np.linspace(-6, 6, 1001)
    for name, (function, reference, *_) in FUNCTIONS.items():
        at = np.abs(x) + 0.01 if name == "log" else x
        got = np.asarray(function(Tensor.from_data(at, Device.flex(), dtype=DType.F64)).numpy())
        np.testing.assert_allclose(got, reference(at), rtol=1e-12, atol=1e-15)


def every_half(dtype):
    """All 65536 numbers of a half dtype, as float32 and as a tensor; NaN are quiet."""
    bits = np.arange(65536, dtype=np.uint16)
    if dtype == DType.BF16:
        values = (bits.astype(np.uint32) << 16).view(np.float32)
    else:
        values = bits.view(np.float16).astype(np.float32)
    return values, Tensor.from_numpy(values, Device.flex()).cast(dtype)


def rounded_bits(values, dtype):
    """Bits of float32 numbers rounded to nearest even; one pattern for all NaN."""
    if dtype == DType.F16:
        with np.errstate(over="ignore"):
            bits = values.astype(np.float16).view(np.uint16)
    else:
        u = values.view(np.uint32).astype(np.uint64)
        bits = ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FFF), bits)


def bits_of(tensor, dtype):
    return rounded_bits(np.asarray(tensor.cast(DType.F32).numpy()), dtype)


@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16])
def test_arithmetic_of_every_half_is_rounded_to_nearest_even(dtype):
    a, x = every_half(dtype)
    rng = np.random.default_rng(7)
    with np.errstate(all="ignore"):
        for order in (rng.permutation(65536), np.arange(65536), np.arange(65536) ^ 0x8000):
            b, y = a[order], Tensor.from_numpy(a[order], Device.flex()).cast(dtype)
            for got, want in ((x + y, a + b), (x - y, a - b), (x * y, a * b), (x / y, a / b)):
                np.testing.assert_array_equal(bits_of(got, dtype), rounded_bits(want, dtype))
        for value in (1.0, 0.00390625, -3.0, np.inf):
            one = Tensor.from_numpy(np.array([value], np.float32), Device.flex()).cast(dtype)
            np.testing.assert_array_equal(bits_of(x + one, dtype), rounded_bits(a + np.float32(value), dtype))
            np.testing.assert_array_equal(bits_of(one - x, dtype), rounded_bits(np.float32(value) - a, dtype))
        for got, want in ((x.abs(), np.abs(a)), (x.neg(), -a), (x.sqrt(), np.sqrt(a)), (x.recip(), 1 / a)):
            np.testing.assert_array_equal(bits_of(got, dtype), rounded_bits(want, dtype))


@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16])
def test_comparisons_of_every_half(dtype):
    a, x = every_half(dtype)
    rng = np.random.default_rng(8)
    with np.errstate(invalid="ignore"):
        for order in (rng.permutation(65536), np.arange(65536), np.arange(65536) ^ 0x8000):
            for n in (65536, 1, 31, 77):
                b = a[order][-n:]
                u, v = x.slice(slice(65536 - n, 65536)), Tensor.from_numpy(b, Device.flex()).cast(dtype)
                c = a[-n:]
                assert np.array_equal(u.equal(v).numpy(), c == b)
                assert np.array_equal(u.not_equal(v).numpy(), c != b)
                assert np.array_equal(u.lower(v).numpy(), c < b)
                assert np.array_equal(u.lower_equal(v).numpy(), c <= b)
                assert np.array_equal(u.greater(v).numpy(), c > b)
                assert np.array_equal(u.greater_equal(v).numpy(), c >= b)
                np.testing.assert_array_equal(u.max_pair(v).cast(DType.F32).numpy(), np.maximum(c, b))
                np.testing.assert_array_equal(u.min_pair(v).cast(DType.F32).numpy(), np.minimum(c, b))
        for value in (0.0, -0.0, 1.5, -np.inf, np.nan):
            one = Tensor.from_numpy(np.array([value], np.float32), Device.flex()).cast(dtype)
            assert np.array_equal(x.lower(one).numpy(), a < value)
            assert np.array_equal(one.lower(x).numpy(), value < a)
            np.testing.assert_array_equal(one.max_pair(x).cast(DType.F32).numpy(), np.maximum(np.float32(value), a))
        assert np.array_equal(x.is_nan().numpy(), np.isnan(a))
        assert np.array_equal(x.is_inf().numpy(), np.isinf(a))
        assert np.array_equal(x.is_finite().numpy(), np.isfinite(a))


@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16])
def test_functions_of_every_half_are_those_of_float32_rounded(dtype):
    a, x = every_half(dtype)
    wide = x.cast(DType.F32)
    more = {"relu": (activation.relu,), "sin": (Tensor.sin,), "mish": (activation.mish,)}
    for name, (function, *_) in {**FUNCTIONS, **more}.items():
        got, want = function(x), np.asarray(function(wide).numpy())
        np.testing.assert_array_equal(bits_of(got, dtype), rounded_bits(want, dtype), err_msg=name)
        assert np.isnan(np.asarray(got.cast(DType.F32).numpy())[np.isnan(a)]).all(), name
