"""Fourier transforms of powers of two against NumPy in float64: all lengths, views, halves, what is not finite, threads."""

import numpy as np
import pytest

from burn import signal
from burn.device import Device
from burn.tensor import DType, Tensor
from tests.cases.tensors import array, gradients, strided, tensor, threads

# relative error in the norm of a row; that of 2^17 points is the largest
ROUNDING = {DType.F32: 3e-7, DType.F64: 6e-16, DType.F16: 6e-4, DType.BF16: 5e-3}
BITS = range(4, 18)
FLEX = Device.flex()


def made(values, dtype):
    """A tensor and its values in float64."""
    x = Tensor.from_data(values, FLEX, dtype=dtype)
    return x, np.asarray(x.cast(DType.F64).numpy())


def near(parts, want, dtype):
    got = [np.asarray(part.cast(DType.F64).numpy()) for part in parts]
    assert all(part.dtype == dtype for part in parts)
    got = got[0] + 1j * got[1] if len(got) == 2 else got[0]
    assert got.shape == want.shape
    assert np.linalg.norm(got - want) <= ROUNDING[dtype] * np.linalg.norm(want)


def check(rows, n, dtype):
    rng = np.random.default_rng(n)
    scale = n**-0.5  # half floats hold the bins
    (x, a), (y, b) = (made(rng.standard_normal((rows, n)) * scale, dtype) for _ in range(2))
    near(signal.rfft(x, 1), np.fft.rfft(a), dtype)
    near(signal.cfft(x, y, 1), np.fft.fft(a + 1j * b), dtype)
    bins = n // 2 + 1
    (x, a), (y, b) = (made(rng.standard_normal((rows, bins)), dtype) for _ in range(2))
    near([signal.irfft(x, y, 1)], np.fft.irfft(a + 1j * b), dtype)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("dtype", ROUNDING, ids=lambda d: d.name)
def test_every_length(dtype, bits):
    check(3, 1 << bits, dtype)


@pytest.mark.parametrize("rows", (1, 2, 33))
@pytest.mark.parametrize("bits", (4, 5, 6, 7, 9, 12))
@pytest.mark.parametrize("dtype", (DType.F32, DType.F64), ids=lambda d: d.name)
def test_rows(dtype, bits, rows):
    check(rows, 1 << bits, dtype)


@pytest.mark.parametrize("dtype", (DType.F32, DType.F64), ids=lambda d: d.name)
def test_the_longest_and_beyond(dtype):
    for n in (1 << 18, 1 << 19, 1 << 20):
        check(1, n, dtype)


def test_accuracy_is_that_of_scipy():
    from scipy import fft

    x = np.random.default_rng(0).standard_normal((4, 1 << 14)).astype("f4")
    want = np.fft.rfft(x.astype("f8"))
    re, im = (array(part) for part in signal.rfft(tensor(x, FLEX), 1))
    ours, theirs = (np.linalg.norm(got - want) for got in (re + 1j * im.astype("f8"), fft.rfft(x)))
    assert ours <= 2 * theirs


@pytest.mark.parametrize("have", (1, 20, 31, 33, 100))
@pytest.mark.parametrize("n", (16, 32, 64, 1024))
def test_cut_and_padded(n, have):
    a, b = np.random.default_rng(3).standard_normal((2, 5, have))
    x, y = tensor(a, FLEX), tensor(b, FLEX)
    near(signal.rfft(x, 1, n), np.fft.rfft(a, n), DType.F64)
    near(signal.cfft(x, y, 1, n), np.fft.fft(a + 1j * b, n), DType.F64)
    near([signal.irfft(x, y, 1, n)], np.fft.irfft(a + 1j * b, n), DType.F64)


@pytest.mark.parametrize("axis", (0, 1, 2))
@pytest.mark.parametrize("kind", ("permuted", "sliced", "stepped", "flipped"))
def test_views_and_axes(kind, axis):
    a, b = np.random.default_rng(4).standard_normal((2, 32, 16, 128))
    x, y = strided(a, FLEX, kind), strided(b, FLEX, kind)
    near(signal.rfft(x, axis), np.fft.rfft(a, axis=axis), DType.F64)
    near(signal.cfft(x, y, axis), np.fft.fft(a + 1j * b, axis=axis), DType.F64)
    near([signal.irfft(x, y, axis, 64)], np.fft.irfft(a + 1j * b, 64, axis), DType.F64)


@pytest.mark.parametrize("n", (16, 64, 4096))
@pytest.mark.parametrize("bad", (np.nan, np.inf, -np.inf))
def test_what_is_not_finite_stays_in_its_row(bad, n):
    a, b = np.random.default_rng(5).standard_normal((2, 11, n)).astype("f4")
    others = np.arange(11) != 4
    clean = [*signal.rfft(tensor(a, FLEX), 1), *signal.cfft(tensor(a, FLEX), tensor(b, FLEX), 1)]
    clean.append(signal.irfft(tensor(a, FLEX), tensor(b, FLEX), 1, n))
    a[4, 3] = bad
    dirty = [*signal.rfft(tensor(a, FLEX), 1), *signal.cfft(tensor(a, FLEX), tensor(b, FLEX), 1)]
    dirty.append(signal.irfft(tensor(a, FLEX), tensor(b, FLEX), 1, n))
    for before, after in zip(clean, dirty, strict=True):
        assert array(before)[others].tobytes() == array(after)[others].tobytes()
        assert not np.isfinite(array(after)[4]).all()


def test_imaginary_parts_of_real_bins():
    """Those of the first and the middle bin are zero, and do not count on the way back."""
    x = np.random.default_rng(6).standard_normal((3, 256))
    re, im = signal.rfft(tensor(x, FLEX), 1)
    assert (array(im)[:, [0, -1]] == 0).all()
    wrong = array(im)
    wrong[:, [0, -1]] = np.nan
    np.testing.assert_allclose(array(signal.irfft(re, tensor(wrong, FLEX), 1)), x, atol=1e-14)


@pytest.mark.parametrize("n", (16, 256))
def test_no_rows(n):
    x = Tensor.zeros([0, n], FLEX)
    assert [part.dims() for part in signal.rfft(x, 1)] == [[0, n // 2 + 1]] * 2
    assert [part.dims() for part in signal.cfft(x, x, 1)] == [[0, n]] * 2
    assert signal.irfft(x, x, 1, n).dims() == [0, n]


@pytest.mark.parametrize("shape", ((1000, 16), (130, 256), (9, 1 << 14)), ids=str)
def test_threads_do_not_matter(shape):
    x = tensor(np.random.default_rng(7).standard_normal(shape).astype("f4"), FLEX)
    results = []
    for count in (1, 2, 3):
        with threads(count):
            parts = [*signal.rfft(x, 1), *signal.cfft(x, x, 1), signal.irfft(x, x, 1, shape[1])]
            results.append([array(part).tobytes() for part in parts])
    assert results[0] == results[1] == results[2]


CALLS = {
    "rfft": lambda n: lambda a, b: signal.rfft(a * b, 1, n),
    "cfft": lambda n: lambda a, b: signal.cfft(a, b, 1, n),
    "irfft": lambda n: lambda a, b: signal.irfft(a, b, 1, n),
}


@pytest.mark.parametrize("more", (0, -3, 5))
@pytest.mark.parametrize("n", (16, 32, 64))
@pytest.mark.parametrize("name", CALLS)
def test_gradients(name, n, more):
    """Along a random direction, as the slope."""
    rng, call, step = np.random.default_rng(8), CALLS[name](n), 1e-6
    at, way = rng.standard_normal((2, 2, 3, n + more))

    def outputs(values):
        outs = call(*(tensor(v, FLEX) for v in values))
        return [array(out) for out in (outs if isinstance(outs, tuple) else (outs,))]

    weights = [rng.standard_normal(out.shape) for out in outputs(at)]
    grads = gradients(call, list(at), weights, FLEX)
    ups, downs = outputs(at + step * way), outputs(at - step * way)
    slope = sum(((up - down) * w).sum() for up, down, w in zip(ups, downs, weights, strict=True)) / (2 * step)
    assert abs(slope - (np.stack(grads) * way).sum()) < 1e-6 * n
