"""Momentum of SGD (Burn: `burn::optim::momentum`)."""

from __future__ import annotations

from dataclasses import dataclass

from burn._arguments import finite
from burn.config import Config
from burn.optim._numbers import to_f32
from burn.tensor import Tensor


class MomentumConfig(Config):
    """Momentum (Burn: `MomentumConfig`).

    Args:
        momentum: share of the velocity that stays.
        dampening: share of the gradient that does not enter the velocity, but for the first step. The default, 0.1, is
            Burn's; PyTorch has 0.
        nesterov: whether to look ahead along the velocity.
    """

    momentum: float = 0.9
    dampening: float = 0.1
    nesterov: bool = False

    def init(self) -> Momentum:
        """The momentum.

        Raises:
            ArgumentError: if a number is not finite.
        """
        return Momentum(self)


@dataclass
class MomentumState:
    """Velocity of a parameter, of its shape (Burn: `MomentumState`)."""

    velocity: Tensor


class Momentum:
    """Replaces a gradient by its velocity (Burn: `Momentum`).

    v = g at the first step, then v = momentum * v + (1 - dampening) * g; the result is v (nesterov: momentum * v + g).
    """

    def __init__(self, config: MomentumConfig) -> None:
        self.momentum = to_f32(finite("MomentumConfig", "momentum", config.momentum))
        self.dampening = finite("MomentumConfig", "dampening", config.dampening)
        self.nesterov = config.nesterov

    def transform(self, grad: Tensor, state: MomentumState | None) -> tuple[Tensor, MomentumState]:
        """The gradient to apply and the new state; all shapes are equal."""
        velocity = grad if state is None else grad * (1.0 - self.dampening) + state.velocity * self.momentum
        return velocity * self.momentum + grad if self.nesterov else velocity, MomentumState(velocity)
