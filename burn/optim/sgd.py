"""Stochastic gradient descent."""

from __future__ import annotations

from dataclasses import dataclass

from burn._ops.elementwise import sgd_step
from burn.config import Config
from burn.grad_clipping import GradientClippingConfig
from burn.optim.decay import WeightDecayConfig
from burn.optim.module_optimizer import ModuleOptimizer
from burn.optim.momentum import MomentumConfig, MomentumState
from burn.optim.one_pass import OnePass
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


class Sgd(OnePass):
    """p = p - lr * g, with g after weight decay and momentum (Burn: `Sgd`).

    >>> rule = SgdConfig().build()
    >>> value, state = rule.step(0.5, Tensor([1.0]), Tensor([0.5]), None)
    >>> value.tolist(), state
    ([0.75], SgdState(momentum=None))
    """

    state_type = SgdState
    op = sgd_step

    def __init__(self, config: SgdConfig) -> None:
        self._decay = config.weight_decay.init() if config.weight_decay is not None else None
        self._momentum = config.momentum.init() if config.momentum is not None else None

    def _begin(self, tensor: Tensor) -> tuple[int, tuple[Tensor, ...]]:
        return 0, () if self._momentum is None else (tensor.zeros_like(),)

    def _unpack(self, state: SgdState) -> tuple[int, tuple[Tensor, ...]] | None:
        if self._momentum is None:
            return 1, ()
        return None if state.momentum is None else (1, (state.momentum.velocity,))

    def _pack(self, time: int, tensors: tuple[Tensor, ...]) -> SgdState:
        return SgdState(MomentumState(*tensors) if tensors else None)

    def _numbers(self, lr: float, time: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
        penalty = self._decay.penalty if self._decay is not None else 0.0
        rule = self._momentum
        if rule is None:
            return (0, 0), (penalty, 0.0, 0.0, lr)
        # The first velocity is the gradient, all of it.
        rest = 1.0 - rule.dampening if time else 1.0
        return (1, int(rule.nesterov)), (penalty, rule.momentum, rest, lr)

    def _step_half(self, lr: float, tensor: Tensor, grad: Tensor, state: SgdState | None) -> tuple[Tensor, SgdState]:
        """The step with separate operations."""
        momentum = state.momentum if state is not None else None
        if self._decay is not None:
            grad = self._decay.transform(grad, tensor)
        if self._momentum is not None:
            grad, momentum = self._momentum.transform(grad, momentum)
        return tensor - grad * lr, SgdState(momentum)
