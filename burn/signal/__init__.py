"""Signals: Fourier transforms, short-time transforms, windows. Mirrors `burn::tensor::signal`."""

from burn._hints import teaching as _teaching
from burn.signal.fourier import cfft as cfft
from burn.signal.fourier import irfft as irfft
from burn.signal.fourier import rfft as rfft
from burn.signal.short_time import StftOptions as StftOptions
from burn.signal.short_time import istft as istft
from burn.signal.short_time import stft as stft
from burn.signal.windows import blackman_window as blackman_window
from burn.signal.windows import hamming_window as hamming_window
from burn.signal.windows import hann_window as hann_window

__getattr__ = _teaching("burn.signal")
