"""Sines and cosines that say where in a sequence a vector stands."""

import numpy as np

from burn._arguments import device as check_device
from burn._arguments import integer
from burn._ops.registry import check_device as check_place
from burn.config import Config
from burn.device import Device
from burn.errors import ArgumentError, ShapeError
from burn.module import ONE_LINE, Module
from burn.tensor import Tensor

from ._checks import check_last, check_rank, check_size


def generate_sinusoids(length: int, d_model: int, max_timescale: int, device=None) -> Tensor:
    """The table of positional encodings. Mirrors `burn::nn::generate_sinusoids`.

    Row i has ``sin(f i)`` in the even columns k and ``cos(f i)`` behind them, with ``f = max_timescale ** (-k / d_model)``.
    As in Burn, all is computed in single precision.

    Args:
        length: number of positions.
        d_model: length of a row, even.
        max_timescale: the largest period, divided by 2 pi; at least the length.
        device: a Device; the default device if None.

    Returns:
        Tensor [length, d_model].

    Raises:
        ArgumentError: an odd d_model, or more positions than the timescale.

    >>> generate_sinusoids(2, 2, 10000).tolist()
    [[0.0, 1.0], [0.8414..., 0.5403...]]
    """
    op = "generate_sinusoids"
    length, d_model = integer(op, "length", length, 0), integer(op, "d_model", d_model, 1)
    max_timescale = integer(op, "max_timescale", max_timescale, 1)
    if d_model % 2:
        raise ArgumentError(f"[{op}] 'd_model' must be even, got {d_model}")
    if max_timescale < length:
        raise ArgumentError(
            f"[{op}] 'max_timescale' must be at least the length, got {max_timescale} for {length} positions"
        )
    Tensor.empty([length, d_model], Device.flex())  # an error of burn where there is no memory for the table
    step = -np.log(np.float32(max_timescale)) / np.float32(d_model)
    angles = np.outer(np.arange(length, dtype=np.float32), np.exp(np.arange(0, d_model, 2, dtype=np.float32) * step))
    table = np.stack([np.sin(angles), np.cos(angles)], 2).reshape(length, d_model)
    return Tensor.from_data(table, check_device(op, device))


class PositionalEncodingConfig(Config):
    """Configuration of `PositionalEncoding`. Mirrors `burn::nn::PositionalEncodingConfig`.

    Args:
        d_model: length of a vector, even.
        max_sequence_size: number of positions.
        max_timescale: the largest period, divided by 2 pi; at least the number of positions.

    >>> PositionalEncodingConfig(4).init()
    PositionalEncoding {d_model: 4, max_sequence_size: 5000, max_timescale: 10000}
    """

    d_model: int
    max_sequence_size: int = 5_000
    max_timescale: int = 10_000

    def init(self, device=None) -> "PositionalEncoding":
        """The layer; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is not positive, an odd d_model, more positions than the timescale.
        """
        for name in ("d_model", "max_sequence_size", "max_timescale"):
            check_size("PositionalEncodingConfig", name, getattr(self, name))
        table = generate_sinusoids(self.max_sequence_size, self.d_model, self.max_timescale, device)
        return PositionalEncoding(table.unsqueeze_dim(0), self.max_sequence_size, self.max_timescale)


class PositionalEncoding(Module):
    """Adds to each vector of a sequence what says where it stands. Mirrors `burn::nn::PositionalEncoding`.

    Fields: `sinusoids` [1, max_sequence_size, d_model], a constant (see `generate_sinusoids`); `max_sequence_size`;
    `max_timescale`.

    >>> PositionalEncodingConfig(2).init().forward(Tensor.zeros([1, 2, 2])).tolist()
    [[[0.0, 1.0], [0.8414..., 0.5403...]]]
    """

    sinusoids: Tensor
    max_sequence_size: int
    max_timescale: int

    def __init__(self, sinusoids: Tensor, max_sequence_size: int, max_timescale: int):
        self.sinusoids = sinusoids
        self.max_sequence_size = max_sequence_size
        self.max_timescale = max_timescale

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: Float [batch, length, d_model]
        - output: the same

        Raises:
            ShapeError: a last axis of another size, or more than max_sequence_size positions.
        """
        check_last("PositionalEncoding", input, self.sinusoids.shape[2], "d_model")
        check_place("PositionalEncoding", self.sinusoids, input, "input")
        check_rank("PositionalEncoding", input, "input", "batch, length, d_model")
        length = input.shape[1]
        if length > self.max_sequence_size:
            raise ShapeError(
                f"[PositionalEncoding] 'input' must have at most max_sequence_size = {self.max_sequence_size} positions, "
                f"got shape {input.dims()}"
            )
        return input + self.sinusoids[:, :length].cast(input.dtype)

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        content.add("d_model", self.sinusoids.shape[2]).add("max_sequence_size", self.max_sequence_size)
        return content.add("max_timescale", self.max_timescale)
