"""Channels as pixels, and back."""

from burn.config import Config
from burn.errors import ShapeError
from burn.tensor import Tensor

from ._checks import check_rank, check_size, check_tensor
from ._printed import Printed


class PixelShuffleConfig(Config):
    """Configuration of `PixelShuffle`. Mirrors `burn::nn::PixelShuffleConfig`.

    Args:
        upscale_factor: how many times height and width grow.

    >>> PixelShuffleConfig(2).init()
    PixelShuffle {upscale_factor: 2}
    """

    upscale_factor: int

    def init(self) -> "PixelShuffle":
        """The layer.

        Raises:
            ArgumentError: a factor that is not positive.
        """
        return PixelShuffle(check_size("PixelShuffleConfig", "upscale_factor", self.upscale_factor))


class PixelShuffle(Printed):
    """Spreads groups of r² channels over blocks of r times r pixels. Mirrors `burn::nn::PixelShuffle`.

    >>> PixelShuffle(2).forward(Tensor([[[[0]], [[1]], [[2]], [[3]]]])).tolist()
    [[[[0, 1], [2, 3]]]]
    """

    upscale_factor: int

    def __init__(self, upscale_factor: int):
        self.upscale_factor = check_size("PixelShuffle", "upscale_factor", upscale_factor)

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels * r * r, height, width]
        - output: [batch, channels, height * r, width * r]

        Raises:
            ShapeError: a number of channels that r² does not divide.
        """
        check_tensor("PixelShuffle", input, "input")
        check_rank("PixelShuffle", input, "input", "batch, channels, height, width")
        (n, channels, height, width), r = input.shape, self.upscale_factor
        if channels % (r * r):
            raise ShapeError(
                f"[PixelShuffle] 'input' must have a number of channels that upscale_factor^2 = {r * r} divides, "
                f"got shape {input.dims()}"
            )
        parts = input.reshape([n, channels // (r * r), r, r, height, width]).permute([0, 1, 4, 2, 5, 3])
        return parts.reshape([n, channels // (r * r), height * r, width * r])


class PixelUnshuffleConfig(Config):
    """Configuration of `PixelUnshuffle`. Mirrors `burn::nn::PixelUnshuffleConfig`.

    Args:
        downscale_factor: how many times height and width shrink.

    >>> PixelUnshuffleConfig(2).init()
    PixelUnshuffle {downscale_factor: 2}
    """

    downscale_factor: int

    def init(self) -> "PixelUnshuffle":
        """The layer.

        Raises:
            ArgumentError: a factor that is not positive.
        """
        return PixelUnshuffle(check_size("PixelUnshuffleConfig", "downscale_factor", self.downscale_factor))


class PixelUnshuffle(Printed):
    """Collects blocks of r times r pixels as groups of r² channels: undoes `PixelShuffle`. Mirrors `burn::nn::PixelUnshuffle`.

    >>> PixelUnshuffle(2).forward(Tensor([[[[0, 1], [2, 3]]]])).tolist()
    [[[[0]], [[1]], [[2]], [[3]]]]
    """

    downscale_factor: int

    def __init__(self, downscale_factor: int):
        self.downscale_factor = check_size("PixelUnshuffle", "downscale_factor", downscale_factor)

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels, height * r, width * r]
        - output: [batch, channels * r * r, height, width]

        Raises:
            ShapeError: a height or a width that r does not divide.
        """
        check_tensor("PixelUnshuffle", input, "input")
        check_rank("PixelUnshuffle", input, "input", "batch, channels, height, width")
        (n, channels, height, width), r = input.shape, self.downscale_factor
        if height % r or width % r:
            raise ShapeError(
                f"[PixelUnshuffle] 'input' must have a height and a width that downscale_factor = {r} divides, "
                f"got shape {input.dims()}"
            )
        parts = input.reshape([n, channels, height // r, r, width // r, r]).permute([0, 1, 3, 5, 2, 4])
        return parts.reshape([n, channels * r * r, height // r, width // r])
