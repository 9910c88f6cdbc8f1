"""Weight decay added to the gradient (Burn: `burn::optim::decay`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burn._arguments import finite
from burn.config import F32, Config
from burn.optim._numbers import to_f32

if TYPE_CHECKING:
    from burn.tensor import Tensor


class WeightDecayConfig(Config):
    """L2 penalty (Burn: `WeightDecayConfig`).

    Args:
        penalty: factor of the parameter in its gradient.
    """

    penalty: F32

    def init(self) -> WeightDecay:
        """The weight decay.

        Raises:
            ArgumentError: if the penalty is not finite.
        """
        return WeightDecay(self)


class WeightDecay:
    """Adds `penalty * tensor` to the gradient (Burn: `WeightDecay`)."""

    def __init__(self, config: WeightDecayConfig) -> None:
        self.penalty = to_f32(finite("WeightDecayConfig", "penalty", config.penalty))

    def transform(self, grad: Tensor, tensor: Tensor) -> Tensor:
        """The gradient with the penalty; all shapes are equal."""
        return tensor * self.penalty + grad
