"""Signals against NumPy's transforms, on every device."""

import numpy as np
import pytest

from burn import signal
from burn.errors import ArgumentError, ShapeError
from burn.tensor import Tensor
from tests.cases.tensors import array, gradients, tensor

RNG = np.random.default_rng(2)
STEP = 1e-6


@pytest.mark.parametrize("n", [1, 2, 7, 12, 16])
@pytest.mark.parametrize("size", [1, 5, 12])
def test_transforms(size, n, device):
    a, b = RNG.normal(size=(2, 3, size, 2))
    re, im = signal.rfft(tensor(a, device), 1, n)
    np.testing.assert_allclose(array(re) + 1j * array(im), np.fft.rfft(a, n, 1), atol=1e-12)
    full = np.fft.fft(a + 1j * b, n, 1)
    re, im = signal.cfft(tensor(a, device), tensor(b, device), -2, n)
    np.testing.assert_allclose(array(re) + 1j * array(im), full, atol=1e-12)
    np.testing.assert_allclose(
        array(signal.irfft(tensor(a, device), tensor(b, device), 1, n)), np.fft.irfft(a + 1j * b, n, 1), atol=1e-12
    )


CALLS = {
    "rfft": lambda n: lambda x, y: [*signal.rfft(x * y, 0, n)],
    "irfft": lambda n: lambda x, y: signal.irfft(x, y, 0, n),
    "cfft": lambda n: lambda x, y: [*signal.cfft(x, y, 0, n)],
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("n", [None, 1, 5, 6, 9])
def test_gradients(name, n, device):
    call, at = CALLS[name](n), [RNG.normal(size=(6, 2)) for _ in range(2)]
    outs = call(*(tensor(a, device) for a in at))
    outs = outs if isinstance(outs, list) else [outs]
    weights = [RNG.uniform(0.5, 1.5, y._dims) for y in outs]

    def loss(x, y):
        made = call(tensor(x, device), tensor(y, device))
        return sum((array(m) * w).sum() for m, w in zip(made if isinstance(made, list) else [made], weights))

    for k, grad in enumerate(gradients(call, at, weights, device)):
        slope = np.zeros_like(at[k])
        for place in np.ndindex(slope.shape):
            up, down = [a.copy() for a in at], [a.copy() for a in at]
            up[k][place] += STEP
            down[k][place] -= STEP
            slope[place] = (loss(*up) - loss(*down)) / (2 * STEP)
        np.testing.assert_allclose(grad, slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("onesided", [True, False])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("width", [8, 6])
def test_there_and_back(width, center, onesided, device):
    x = RNG.normal(size=(2, 40))
    options = signal.StftOptions(8, 2, width, center, onesided)
    window = signal.hann_window(width, True, device, dtype="f64")
    spectra = signal.stft(tensor(x, device), window, options)
    assert spectra.dims()[2:] == [5 if onesided else 8, 2]
    back = array(signal.istft(spectra, window, 40, options))
    inner = slice(None) if center else slice(8, -8)
    np.testing.assert_allclose(back[:, inner], x[:, inner], atol=1e-9)


def test_windows(device):
    np.testing.assert_allclose(array(signal.hann_window(8, True, device))[:4], [0, 0.146447, 0.5, 0.853553], atol=1e-6)
    np.testing.assert_allclose(
        array(signal.hamming_window(8, False, device))[:3], [0.086957, 0.258842, 0.645064], atol=1e-6
    )
    np.testing.assert_allclose(
        array(signal.blackman_window(8, True, device))[:4], [0, 0.066447, 0.34, 0.773553], atol=1e-6
    )
    assert array(signal.hann_window(1, True, device)).tolist() == [1.0] and signal.hann_window(
        0, True, device
    ).dims() == [0]


def test_wrong_calls(device):
    x = Tensor.ones([1, 10], device)
    for error, words, call in (
        (ShapeError, r"\[rfft\] 'n' must be at least 1", lambda: signal.rfft(x, 1, 0)),
        (IndexError, r"\[rfft\] 'dim'", lambda: signal.rfft(x, 2)),
        (TypeError, r"\[rfft\] 'signal' must be", lambda: signal.rfft([1.0], 0)),
        (ShapeError, r"\[irfft\] 'im' must have the shape", lambda: signal.irfft(x, x.transpose(), 1)),
        (ArgumentError, "'hop_length' must lie in 1..4", lambda: signal.stft(x, None, signal.StftOptions(4, 5))),
        (ShapeError, "more than 200 samples", lambda: signal.stft(x)),
        (
            ShapeError,
            "'window' must have shape",
            lambda: signal.stft(x, Tensor.ones([3], device), signal.StftOptions(4)),
        ),
        (ShapeError, r"\[istft\] 'matrix' must be", lambda: signal.istft(x, None, None, signal.StftOptions(4))),
        (ShapeError, "'size'", lambda: signal.hann_window(-1, True)),
    ):
        with pytest.raises(error, match=words):
            call()
