"""Rotations that say where in a sequence a vector stands."""

import math
from collections.abc import Callable

import numpy as np

from burn._arguments import device as check_device
from burn._arguments import integer
from burn._ops.registry import check_device as check_place
from burn.config import F32, Config
from burn.device import Device
from burn.errors import ArgumentError, ShapeError
from burn.module import ONE_LINE, Module
from burn.tensor import Tensor

from ._checks import check_last, check_size


class RotaryEncodingConfig(Config):
    """Configuration of `RotaryEncoding`. Mirrors `burn::nn::RotaryEncodingConfig`.

    Args:
        max_sequence_length: number of positions in the table.
        d_model: length of a vector, even.
        theta: base of the frequencies.

    >>> RotaryEncodingConfig(10, 4).init()
    RotaryEncoding {d_model: 4, max_sequence_length: 10}
    """

    max_sequence_length: int
    d_model: int
    theta: F32 = 10000.0

    def init(self, device=None) -> "RotaryEncoding":
        """The layer; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is not positive, an odd d_model, a theta that is not finite and positive.
        """
        return self.init_with_frequency_scaling(lambda frequencies: frequencies, device)

    def init_with_frequency_scaling(self, scaling: Callable[[Tensor], Tensor], device=None) -> "RotaryEncoding":
        """The layer with other frequencies.

        Args:
            scaling: makes of the frequencies [d_model / 2] those that are used.
            device: a Device; the default device if None.

        Raises:
            ArgumentError: as `init`.
            ShapeError: the scaled frequencies have another shape.

        >>> slow = RotaryEncodingConfig(10, 4).init_with_frequency_scaling(lambda frequencies: frequencies / 8.0)
        >>> slow.theta.tolist()
        [0.125, 0.0012...]
        """
        length = check_size("RotaryEncodingConfig", "max_sequence_length", self.max_sequence_length)
        d_model = check_size("RotaryEncodingConfig", "d_model", self.d_model)
        if d_model % 2:
            raise ArgumentError(f"[RotaryEncodingConfig] 'd_model' must be even, got {d_model}")
        if not (math.isfinite(self.theta) and self.theta > 0.0):
            raise ArgumentError(f"[RotaryEncodingConfig] 'theta' must be finite and positive, got {self.theta}")
        Tensor.empty([length, d_model, 2], Device.flex())  # an error of burn where there is no memory for the table
        exponents = np.arange(0, d_model, 2, dtype=np.float32) / np.float32(d_model)
        frequencies = np.float32(1.0) / np.exp(np.log(np.float32(self.theta)) * exponents)
        theta = scaling(Tensor.from_data(frequencies, check_device("init", device)))
        if theta._dims != (d_model // 2,):
            raise ShapeError(
                f"[RotaryEncodingConfig] 'scaling' must give frequencies of shape {[d_model // 2]}, got {theta.dims()}"
            )
        return RotaryEncoding(_table(theta, 0, length), theta)


class RotaryEncoding(Module):
    """Rotates pairs of elements by angles that grow with the position. Mirrors `burn::nn::RotaryEncoding`.

    Neighbours (2i, 2i + 1) make a pair; at position p it is rotated by ``p * theta[i]``. Fields: `freq_complex`
    [max_sequence_length, d_model, 2], cosine and sine of each element's angle; `theta` [d_model / 2]; both are constants.

    >>> layer = RotaryEncodingConfig(10, 2).init()
    >>> layer.forward(Tensor([[1.0, 0.0], [1.0, 0.0]])).tolist(), layer.apply(Tensor([[1.0, 0.0]]), 1).tolist()
    ([[1.0, 0.0], [0.5403..., 0.8414...]], [[0.5403..., 0.8414...]])
    >>> later = layer.shift(3)  # the table now begins at position 3
    >>> later.apply(Tensor([[1.0, 0.0]]), 0).tolist(), later.reset().start_offset
    ([[-0.9899..., 0.1411...]], 0)
    """

    freq_complex: Tensor
    theta: Tensor
    start_offset: int

    def __init__(self, freq_complex: Tensor, theta: Tensor, start_offset: int = 0):
        self.freq_complex = freq_complex
        self.theta = theta
        self.start_offset = start_offset

    def forward(self, input: Tensor) -> Tensor:
        """Rotates a sequence that begins at the first position of the table.

        # Shapes

        - input: Float [..., length, d_model]
        - output: the same

        Raises:
            ShapeError: a last axis of another size, or positions behind the table.
        """
        return self.apply(input, 0)

    def apply(self, input, start=None, adapter=None, skip_enum_variants: bool = False):
        """Rotates a sequence that begins at another position of the table.

        Burn has two methods of this name. Given no tensor but a list of them, this is the one of `Module`.

        Args:
            input: a Tensor, or PackTensors as `collect` gives them.
            start: number of that position; with PackTensors a `PathFilter`, or None.
            adapter: with PackTensors only, as in `Module.apply`.
            skip_enum_variants: with PackTensors only, as in `Module.apply`.

        Returns:
            Tensor; with PackTensors the module and an `ApplyResult`.

        # Shapes

        - input: Float [..., length, d_model]
        - output: the same

        Raises:
            ShapeError: a last axis of another size, or positions behind the table.
        """
        if isinstance(input, list | tuple) and not isinstance(start, int):
            return super().apply(input, start, adapter, skip_enum_variants)
        known, d_model = self.freq_complex._dims[:2]
        check_last("RotaryEncoding", input, d_model, "d_model")
        check_place("RotaryEncoding", self.freq_complex, input, "input")
        start = integer("RotaryEncoding", "start", start, 0)
        if input.ndim < 2:
            raise ShapeError(f"[RotaryEncoding] 'input' must be [..., length, d_model], got shape {input.dims()}")
        *outer, length = input._dims[:-1]
        if start + length > known:
            raise ShapeError(
                f"[RotaryEncoding] 'input' must end within the {known} positions of the table, got {length} of them from "
                f"{start} on; shift() the table, or make it longer"
            )
        pairs = d_model // 2
        # [length, pairs, cosine and sine], once for each pair.
        table = self.freq_complex[start : start + length].reshape([length, pairs, 4]).cast(input.dtype)
        cos, sin = (table.narrow(2, i, 1).reshape([*[1] * len(outer), length, pairs, 1]) for i in (0, 1))
        x = input.reshape([*outer, length, pairs, 2])
        x0, x1 = x.narrow(-1, 0, 1), x.narrow(-1, 1, 1)
        return Tensor.cat([x0 * cos - x1 * sin, x0 * sin + x1 * cos], -1).reshape(input.dims())

    def shift(self, start: int) -> "RotaryEncoding":
        """The layer with a table that begins at another position, for sequences longer than the table.

        What both tables have in common is kept.

        Args:
            start: the position, above that at which the table begins now.

        Raises:
            ArgumentError: a start that is not above the last one.
        """
        ahead = integer("RotaryEncoding", "start", start) - self.start_offset
        if ahead <= 0:
            raise ArgumentError(
                f"[RotaryEncoding] 'start' must be above that of the table, {self.start_offset}, got {start}; "
                "reset() goes back to 0"
            )
        known = self.freq_complex.shape[0]
        if ahead < known:
            kept = self.freq_complex.narrow(0, ahead, known - ahead)
            table = Tensor.cat([kept, _table(self.theta, start + known - ahead, ahead)], 0)
        else:
            table = _table(self.theta, start, known)
        return RotaryEncoding(table, self.theta, start)

    def reset(self) -> "RotaryEncoding":
        """The layer with a table that begins at position 0."""
        return RotaryEncoding(_table(self.theta, 0, self.freq_complex.shape[0]), self.theta)

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        length, d_model, _ = self.freq_complex.shape
        return content.add("d_model", d_model).add("max_sequence_length", length)


def _table(theta: Tensor, start: int, length: int) -> Tensor:
    """Cosines and sines of the angles at some positions, each for both elements of a pair."""
    positions = np.arange(start, start + length, dtype=np.float32)[:, None]
    angles = Tensor.from_data(positions, theta.device, dtype=theta.dtype) * theta.unsqueeze_dim(0)
    both = Tensor.stack([angles.cos(), angles.sin()], 2).unsqueeze_dim(2)
    return both.repeat_dim(2, 2).reshape([length, 2 * theta.shape[0], 2])
