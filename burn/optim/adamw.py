"""AdamW: Adam whose weight decay acts on the parameter."""

from __future__ import annotations

from burn._arguments import finite
from burn.config import F32, Config
from burn.grad_clipping import GradientClippingConfig
from burn.optim._numbers import to_f32
from burn.optim.adam import AdamState, AdaptiveMomentum, is_half, step_in_f32
from burn.optim.base import Optimizer
from burn.optim.module_optimizer import ModuleOptimizer
from burn.tensor import Tensor


class AdamWConfig(Config):
    """Adam with decoupled weight decay (Burn: `AdamWConfig`).

    Args:
        beta_1: share of the first moment that stays in a step.
        beta_2: the same for the second moment.
        epsilon: added to the root of the second moment, after bias correction. The default, 1e-5, is Burn's; PyTorch
            has 1e-8.
        weight_decay: share of the parameter, times the learning rate, that decays in a step. The default, 1e-4, is
            Burn's; PyTorch has 1e-2.
        cautious_weight_decay: whether to decay only where parameter and first moment have one sign.
        amsgrad: whether to divide by the largest second moment so far.
        grad_clipping: clipping of each gradient.

    Example:
        >>> optim = AdamWConfig(weight_decay=0.01).init()
    """

    beta_1: F32 = 0.9
    beta_2: F32 = 0.999
    epsilon: F32 = 1e-5
    weight_decay: F32 = 1e-4
    cautious_weight_decay: bool = False
    amsgrad: bool = False
    grad_clipping: GradientClippingConfig | None = None

    def build(self) -> AdamW:
        """The rule for one tensor; the clipping is not part of it.

        Raises:
            ArgumentError: if a number is out of its range.

        >>> type(AdamWConfig().build()).__name__
        'AdamW'
        """
        return AdamW(self)

    def init(self) -> ModuleOptimizer:
        """Optimizer of a module, with the clipping."""
        return ModuleOptimizer(self.build(), self.grad_clipping)


class AdamW(Optimizer):
    """p = p * (1 - lr * weight_decay) - lr * (m / (1 - beta_1^t)) / (sqrt(v / (1 - beta_2^t)) + epsilon), at step t.

    Half-precision parameters have moments in f32 (Burn: `AdamW`).

    >>> rule = AdamWConfig().build()
    >>> value, state = rule.step(0.1, Tensor([1.0]), Tensor([0.5]), None)
    >>> value.shape, state.momentum.time
    ([1], 1)
    """

    state_type = AdamState

    def __init__(self, config: AdamWConfig) -> None:
        self._momentum = AdaptiveMomentum("AdamWConfig", config.beta_1, config.beta_2, config.epsilon, config.amsgrad)
        self._weight_decay = to_f32(finite("AdamWConfig", "weight_decay", config.weight_decay))
        self._cautious = config.cautious_weight_decay

    def step(self, lr: float, tensor: Tensor, grad: Tensor, state: AdamState | None) -> tuple[Tensor, AdamState]:
        if is_half(tensor):
            return step_in_f32(self, lr, tensor, grad, state)
        rule = self._momentum
        old = rule.begin(tensor, state)
        factors = rule.factors(old.time + 1)
        rate = lr * self._weight_decay
        if not rule.amsgrad and not self._cautious:
            scales = (1.0 / factors.correction_1, 1.0 / factors.correction_2, rule.epsilon, 1.0 - rate, lr)
            tensor, new = rule.fused(tensor, grad, old, scales)
            return tensor, AdamState(new)
        new = rule.advance(grad, old)
        second = new.max_moment_2 if rule.amsgrad else new.moment_2
        update = (new.moment_1 / factors.correction_1) / ((second / factors.correction_2).sqrt() + rule.epsilon)
        if rate and self._cautious:
            differs = tensor.greater_equal(0.0).not_equal(new.moment_1.greater_equal(0.0))
            tensor = tensor - (tensor * rate).mask_fill(differs, 0.0)
        elif rate:
            tensor = tensor * (1.0 - rate)
        return tensor - update * lr, AdamState(new)
