"""Stochastic gradient descent."""

from __future__ import annotations

from dataclasses import dataclass

from burn.config import Config
from burn.grad_clipping import GradientClippingConfig
from burn.optim.base import Optimizer
from burn.optim.decay import WeightDecayConfig
from burn.optim.module_optimizer import ModuleOptimizer
from burn.optim.momentum import MomentumConfig, MomentumState
from burn.tensor import Tensor


class SgdConfig(Config):
    """Stochastic gradient descent with momentum (Burn: `SgdConfig`).

    Args:
        weight_decay: penalty added to the gradient.
        momentum: momentum, if any.
        gradient_clipping: clipping of each gradient (`grad_clipping` in the other optimizers, as in Burn).

    Example:
        >>> from burn.optim.momentum import MomentumConfig
        >>> optim = SgdConfig(momentum=MomentumConfig()).init()
    """

    weight_decay: WeightDecayConfig | None = None
    momentum: MomentumConfig | None = None
    gradient_clipping: GradientClippingConfig | None = None

    def build(self) -> Sgd:
        """The rule for one tensor; the clipping is not part of it.

        >>> type(SgdConfig().build()).__name__
        'Sgd'
        """
        return Sgd(self)

    def init(self) -> ModuleOptimizer:
        """Optimizer of a module, with the clipping."""
        return ModuleOptimizer(self.build(), self.gradient_clipping)


@dataclass
class SgdState:
    """State of a parameter: its momentum, if configured (Burn: `SgdState`).

    >>> SgdState().momentum is None
    True
    """

    momentum: MomentumState | None = None


class Sgd(Optimizer):
    """p = p - lr * g, with g after weight decay and momentum (Burn: `Sgd`).

    >>> rule = SgdConfig().build()
    >>> value, state = rule.step(0.5, Tensor([1.0]), Tensor([0.5]), None)
    >>> value.tolist(), state
    ([0.75], SgdState(momentum=None))
    """

    state_type = SgdState

    def __init__(self, config: SgdConfig) -> None:
        self._decay = config.weight_decay.init() if config.weight_decay is not None else None
        self._momentum = config.momentum.init() if config.momentum is not None else None

    def step(self, lr: float, tensor: Tensor, grad: Tensor, state: SgdState | None) -> tuple[Tensor, SgdState]:
        momentum = state.momentum if state is not None else None
        if self._decay is not None:
            grad = self._decay.transform(grad, tensor)
        if self._momentum is not None:
            grad, momentum = self._momentum.transform(grad, momentum)
        return tensor - grad * lr, SgdState(momentum)
