"""Random zeros in training."""

import math

from burn.config import Config
from burn.errors import ArgumentError
from burn.module import ONE_LINE, Flag, Module
from burn.tensor import Distribution, Tensor

from ._checks import check_float


class DropoutConfig(Config):
    """Configuration of `Dropout`. Mirrors `burn::nn::DropoutConfig`.

    Args:
        prob: share of the elements that become zero, from 0 to 1.

    >>> DropoutConfig(0.5).init()
    Dropout {prob: 0.5}
    """

    prob: float

    def init(self) -> "Dropout":
        """The layer.

        Raises:
            ArgumentError: a probability outside [0, 1].
        """
        if not (math.isfinite(self.prob) and 0.0 <= self.prob <= 1.0):
            raise ArgumentError(f"[DropoutConfig] 'prob' must be from 0 to 1, got {self.prob}")
        return Dropout(self.prob)


class Dropout(Module):
    """Sets elements to zero at random while training, and scales the others up. Mirrors `burn::nn::Dropout`.

    Each element is kept with probability ``1 - prob`` and multiplied by ``1 / (1 - prob)``; with ``prob`` 1 all are
    zero (Burn refuses it). The layer does so if its flag is on and the input is on an autodiff device; otherwise it
    returns its input. Fields: `prob`, `training`.

    >>> device = burn.Device.flex().autodiff()
    >>> layer = DropoutConfig(0.5).init()
    >>> sorted(set(layer(Tensor.ones([100], device)).tolist())), layer.valid().forward(Tensor.ones([2], device)).tolist()
    ([0.0, 2.0], [1.0, 1.0])
    """

    prob: float
    training: Flag

    def __init__(self, prob: float):
        self.prob = prob
        self.training = Flag(True)

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: any shape
        - output: the same
        """
        check_float("Dropout", input, "input")
        if not self.training.is_enabled() or self.prob == 0.0 or not input.is_autodiff():
            return input
        keep = 1.0 - self.prob
        mask = input.inner().random_like(Distribution.Bernoulli(keep))
        # One factor for both steps: the product is the same, and the mask is not recorded.
        return input * (mask * (1.0 / keep if keep else 0.0))

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        content.add("prob", self.prob)
        return content if self.training.is_enabled() else content.add("training", self.training)
