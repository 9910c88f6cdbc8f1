"""AdamW: Adam whose weight decay acts on the parameter."""

from __future__ import annotations

from burn._arguments import finite
from burn.config import F32, Config
from burn.grad_clipping import GradientClippingConfig
from burn.optim._numbers import to_f32
from burn.optim.adam import AdaptiveMomentum
from burn.optim.module_optimizer import ModuleOptimizer


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


class AdamW(AdaptiveMomentum):
    """p = p * (1 - lr * weight_decay) - lr * (m / (1 - beta_1^t)) / (sqrt(v / (1 - beta_2^t)) + epsilon), at step t.

    Half-precision parameters have moments in f32 (Burn: `AdamW`).

    >>> rule = AdamWConfig().build()
    >>> value, state = rule.step(0.1, Tensor([1.0]), Tensor([0.5]), None)
    >>> value.shape, state.momentum.time
    ([1], 1)
    """

    def __init__(self, config: AdamWConfig) -> None:
        super().__init__("AdamWConfig", config.beta_1, config.beta_2, config.epsilon, config.amsgrad)
        self._weight_decay = to_f32(finite("AdamWConfig", "weight_decay", config.weight_decay))
        self._cautious = config.cautious_weight_decay

    def _numbers(self, lr: float, time: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
        factors = self._factors_at(time + 1)
        betas = self.beta_1, self.rest_1, self.beta_2, self.rest_2
        scales = 1.0 / factors.correction_1, 1.0 / factors.correction_2, self.epsilon, 1.0 - lr * self._weight_decay
        return (2 + self.amsgrad, int(self._cautious)), (0.0, *betas, *scales, lr)
