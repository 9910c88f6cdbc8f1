"""Fourier transforms of rows, cut or padded to a length (ints = rows, n, have); complex numbers are pairs (re, im)."""

import numpy as np

from burn.backend.ndarray.table import kernel, wide


@kernel("rfft")
def rfft(outs, ins, ints, floats):
    """The n // 2 + 1 first bins of real samples."""
    bins = np.fft.rfft(wide(ins[0]), ints[1]) if ints[0] else np.zeros(outs[0].shape, complex)
    outs[0][...], outs[1][...] = bins.real, bins.imag


@kernel("irfft")
def irfft(outs, ins, ints, floats):
    """The n real samples of the first bins."""
    outs[0][...] = np.fft.irfft(wide(ins[0]) + 1j * wide(ins[1]), ints[1]) if ints[0] else 0.0


@kernel("cfft")
def cfft(outs, ins, ints, floats):
    """All bins of complex samples."""
    bins = np.fft.fft(wide(ins[0]) + 1j * wide(ins[1]), ints[1]) if ints[0] else np.zeros(outs[0].shape, complex)
    outs[0][...], outs[1][...] = bins.real, bins.imag
