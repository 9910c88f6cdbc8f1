"""Random numbers added in training."""

from burn.config import Config
from burn.module import ONE_LINE, Flag, Module
from burn.tensor import Distribution, Tensor

from ._checks import check_float, check_margin


class GaussianNoiseConfig(Config):
    """Configuration of `GaussianNoise`. Mirrors `burn::nn::GaussianNoiseConfig`.

    Args:
        std: standard deviation of the noise.

    >>> GaussianNoiseConfig(0.5).init()
    GaussianNoise {std: 0.5}
    """

    std: float

    def init(self) -> "GaussianNoise":
        """The layer.

        Raises:
            ArgumentError: a standard deviation that is negative or not finite.
        """
        return GaussianNoise(check_margin("GaussianNoiseConfig", "std", self.std))


class GaussianNoise(Module):
    """Adds normal random numbers to the input while training. Mirrors `burn::nn::GaussianNoise`.

    It does so if its flag is on and the input is on an autodiff device; otherwise it returns its input. Fields: `std`,
    `training`.

    >>> layer, x = GaussianNoiseConfig(0.5).init(), Tensor.zeros([100])
    >>> layer(x) is x, layer.forward(x.autodiff()).abs().max().item() > 0.0
    (True, True)
    """

    std: float
    training: Flag

    def __init__(self, std: float):
        self.std = std
        self.training = Flag(True)

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: any shape
        - output: the same
        """
        check_float("GaussianNoise", input, "input")
        if not self.training.is_enabled() or self.std == 0.0 or not input.is_autodiff():
            return input
        return input + input.inner().random_like(Distribution.Normal(0.0, self.std))

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        content.add("std", self.std)
        return content if self.training.is_enabled() else content.add("training", self.training)
