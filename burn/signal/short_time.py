"""Short-time Fourier transforms: the spectra of overlapping pieces, and the signal from them."""

import dataclasses

from burn._arguments import instance, truth
from burn._ops.registry import check_same, check_tensor
from burn.errors import ArgumentError, ShapeError
from burn.signal.fourier import cfft, irfft, rfft
from burn.tensor import DType, PadMode, Tensor
from burn.tensor._calls import teach_functions
from burn.tensor.shape import int_of

__all__ = ["StftOptions", "istft", "stft"]


@dataclasses.dataclass(frozen=True)
class StftOptions:
    """How a signal is cut. Mirrors `StftOptions`.

    Args:
        n_fft: length of the transforms.
        hop_length: distance of the pieces; default n_fft // 4, at least 1.
        win_length: length of the window; default n_fft. A shorter window is put in the middle.
        center: whether the signal is mirrored by n_fft // 2 at its ends, so that pieces are centred on their times.
        onesided: whether only the n_fft // 2 + 1 first bins are kept.

    >>> options = StftOptions(n_fft=8, hop_length=4)
    >>> options.hop, options.width
    (4, 8)
    """

    n_fft: int = 400
    hop_length: int | None = None
    win_length: int | None = None
    center: bool = True
    onesided: bool = True

    @property
    def hop(self):
        """The distance of the pieces."""
        return max(self.n_fft // 4, 1) if self.hop_length is None else self.hop_length

    @property
    def width(self):
        """The length of the window."""
        return self.n_fft if self.win_length is None else self.win_length

    def check(self, op):
        """Refuses numbers that describe no transform.

        Args:
            op: name of the operation in the message.

        Raises:
            ArgumentError: a length that is no length.

        >>> StftOptions(n_fft=8).check("stft")
        """
        for name, value in (("n_fft", self.n_fft), ("hop_length", self.hop), ("win_length", self.width)):
            int_of(op, name, value)
        for name in ("center", "onesided"):
            truth(op, name, getattr(self, name))
        if self.n_fft < 1:
            raise ArgumentError(f"[{op}] 'n_fft' must be at least 1, got {self.n_fft}")
        if not 1 <= self.width <= self.n_fft:
            raise ArgumentError(f"[{op}] 'win_length' must lie in 1..{self.n_fft}, n_fft, got {self.width}")
        if not 1 <= self.hop <= self.width:
            raise ArgumentError(f"[{op}] 'hop_length' must lie in 1..{self.width}, win_length, got {self.hop}")


def _options(op, options):
    options = StftOptions() if options is None else instance(op, "options", options, StftOptions)
    options.check(op)
    return options


def _window(op, window, options, like):
    """The window as [n_fft], padded with zeros on both sides."""
    if window is None:
        window = Tensor.ones([options.width], like.device.inner(), dtype=like.dtype)
    check_same(op, like, check_tensor(op, window, "window"), "window")
    if window._dims != (options.width,):
        raise ShapeError(f"[{op}] 'window' must have shape [{options.width}], win_length, got {list(window._dims)}")
    left = (options.n_fft - options.width) // 2
    return window.pad([(left, options.n_fft - options.width - left)], PadMode.Constant(0.0))


def stft(signal, window=None, options=None):
    """The spectra of overlapping pieces of signals. Mirrors `stft`.

    # Shapes

    - signal: Float [batch, samples]
    - window: Float [win_length]; None for ones
    - output: [batch, pieces, bins, 2]; the last axis is (re, im)

    Args:
        options: StftOptions; the default ones if None.

    Raises:
        ShapeError: too few samples for a piece, or for the mirrored ends.

    >>> stft(Tensor.ones([1, 16]), options=StftOptions(n_fft=8, hop_length=4)).shape
    [1, 5, 5, 2]
    """
    check_tensor("stft", signal, "signal")
    options = _options("stft", options)
    if signal.ndim != 2:
        raise ShapeError(f"[stft] 'signal' must be [batch, samples], got shape {signal.dims()}; use unsqueeze()")
    half = options.n_fft // 2
    if options.center:
        if signal._dims[1] <= half:
            raise ShapeError(
                f"[stft] 'signal' must have more than {half} samples to be mirrored at its ends, got {signal._dims[1]}; "
                "use center=False"
            )
        signal = signal.pad([(half, half)], PadMode.Reflect)
    if signal._dims[1] < options.n_fft:
        raise ShapeError(f"[stft] 'signal' must have at least {options.n_fft} samples, n_fft, got {signal._dims[1]}")
    pieces = signal.unfold(1, options.n_fft, options.hop)
    pieces = pieces * _window("stft", window, options, signal).reshape([1, 1, options.n_fft])
    parts = rfft(pieces, 2) if options.onesided else cfft(pieces, pieces.inner().zeros_like(), 2)
    return Tensor.stack(list(parts), 3)


def istft(matrix, window=None, length=None, options=None):
    """The signals of spectra of overlapping pieces: pieces are windowed, added, and divided by what the windows add up to.

    Mirrors `istft`.

    # Shapes

    - matrix: Float [batch, pieces, bins, 2], as `stft` gives it
    - window: Float [win_length]; None for ones
    - output: [batch, samples]; `length` of them if that is given

    Args:
        length: number of samples; all of them if None.
        options: those of `stft`.

    >>> x, options = Tensor.arange(0, 16).float().unsqueeze(2), StftOptions(n_fft=8, hop_length=4)
    >>> y = istft(stft(x, options=options), options=options)
    >>> y.shape, x.all_close(y, atol=1e-4)
    ([1, 16], True)
    """
    check_tensor("istft", matrix, "matrix")
    options = _options("istft", options)
    length = length if length is None else int_of("istft", "length", length)
    n, hop = options.n_fft, options.hop
    bins = n // 2 + 1 if options.onesided else n
    if matrix.ndim != 4 or matrix._dims[3] != 2 or matrix._dims[2] != bins or matrix._dims[1] < 1:
        raise ShapeError(f"[istft] 'matrix' must be [batch, pieces, {bins}, 2], got shape {matrix.dims()}")
    batch, count = matrix._dims[:2]
    re, im = (matrix.narrow(3, k, 1).squeeze_dim(3).narrow(2, 0, n // 2 + 1) for k in (0, 1))
    weights = _window("istft", window, options, matrix)
    pieces = irfft(re, im, 2, n) * weights.reshape([1, 1, n])
    total = n + hop * (count - 1)
    like = matrix.device.inner()
    starts = Tensor.arange(0, hop * count, like, dtype=DType.I64, step=hop).reshape([count, 1])
    places = (starts + Tensor.arange(0, n, like, dtype=DType.I64).reshape([1, n])).reshape([count * n])
    out = Tensor.zeros([batch, total], like, dtype=matrix.dtype)
    out = out.select_assign(1, places, pieces.reshape([batch, count * n]), "Add")
    squares = (weights * weights).reshape([1, n]).expand([count, n]).reshape([count * n])
    norm = Tensor.zeros([total], like, dtype=matrix.dtype).select_assign(0, places, squares, "Add").clamp_min(1e-10)
    out = out / norm.reshape([1, total])
    if options.center:
        half = n // 2
        out = out.narrow(1, half, max(total - 2 * half, 1))
    if length is not None:
        have = out._dims[1]
        out = out.narrow(1, 0, length) if length <= have else out.pad([(0, length - have)], PadMode.Constant(0.0))
    return out


teach_functions(globals())
