"""Adam."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from burn._core.core import momentum_factors
from burn._ops.elementwise import adam_step
from burn.config import F32, Config
from burn.grad_clipping import GradientClippingConfig
from burn.optim._numbers import not_negative, share, to_f32
from burn.optim.decay import WeightDecayConfig
from burn.optim.module_optimizer import ModuleOptimizer
from burn.optim.one_pass import OnePass
from burn.tensor import DType, Tensor


class AdamConfig(Config):
    """Adam (Burn: `AdamConfig`).

    Args:
        beta_1: share of the first moment that stays in a step.
        beta_2: the same for the second moment.
        epsilon: added to the root of the second moment, after bias correction. The default, 1e-5, is Burn's; PyTorch
            has 1e-8.
        amsgrad: whether to divide by the largest second moment so far.
        weight_decay: penalty added to the gradient (AdamW decays the parameter instead).
        grad_clipping: clipping of each gradient.

    Example:
        >>> optim = AdamConfig(epsilon=1e-8).init()
        >>> type(AdamConfig().build()).__name__
        'Adam'
    """

    beta_1: F32 = 0.9
    beta_2: F32 = 0.999
    epsilon: F32 = 1e-5
    amsgrad: bool = False
    weight_decay: WeightDecayConfig | None = None
    grad_clipping: GradientClippingConfig | None = None

    def build(self) -> Adam:
        """The rule for one tensor; the clipping is not part of it.

        Raises:
            ArgumentError: if a number is out of its range.
        """
        return Adam(self)

    def init(self) -> ModuleOptimizer:
        """Optimizer of a module, with the clipping."""
        return ModuleOptimizer(self.build(), self.grad_clipping)


@dataclass(slots=True)
class AdaptiveMomentumState:
    """Number of steps and moments of a parameter; tensors have its shape (Burn: `AdaptiveMomentumState`)."""

    time: int
    moment_1: Tensor
    moment_2: Tensor
    max_moment_2: Tensor | None = None


@dataclass(slots=True)
class AdamState:
    """State of a parameter (Burn: `AdamState`).

    >>> rule = AdamConfig().build()
    >>> value, state = rule.step(0.1, Tensor([1.0]), Tensor([0.5]), None)
    >>> state.momentum.moment_1.shape
    [1]
    """

    momentum: AdaptiveMomentumState


class Factors(NamedTuple):
    """What the number of steps contributes, in single precision."""

    time: int
    correction_1: float  # 1 - beta_1 ** time
    correction_2: float  # 1 - beta_2 ** time
    scale: float  # root of the second correction over the first
    epsilon: float  # epsilon times the root of the second correction


class AdaptiveMomentum(OnePass):
    """The two moments that Adam and AdamW share, and the largest second one with amsgrad.

    m = beta_1 * m + (1 - beta_1) * g; v = beta_2 * v + (1 - beta_2) * g * g; all start at 0.
    """

    state_type = AdamState
    op = adam_step

    def __init__(self, owner: str, beta_1: float, beta_2: float, epsilon: float, amsgrad: bool) -> None:
        self.beta_1 = to_f32(share(owner, "beta_1", beta_1))
        self.beta_2 = to_f32(share(owner, "beta_2", beta_2))
        self.rest_1 = to_f32(1.0 - self.beta_1)
        self.rest_2 = to_f32(1.0 - self.beta_2)
        self.epsilon = to_f32(not_negative(owner, "epsilon", epsilon))
        self.amsgrad = amsgrad
        self._factors = Factors(0, 0.0, 0.0, 0.0, 0.0)

    def _factors_at(self, time: int) -> Factors:
        """Factors of step `time`; all parameters of a step share them."""
        factors = self._factors
        if factors.time != time:
            made = momentum_factors(self.beta_1, self.beta_2, self.epsilon, time)
            self._factors = factors = Factors(time, *made)
        return factors

    def _begin(self, tensor: Tensor) -> tuple[int, tuple[Tensor, ...]]:
        return 0, tuple(tensor.zeros_like() for _ in range(2 + self.amsgrad))

    def _unpack(self, state: AdamState) -> tuple[int, tuple[Tensor, ...]]:
        moments = state.momentum
        tensors = moments.moment_1, moments.moment_2
        if self.amsgrad:
            largest = moments.max_moment_2
            tensors = *tensors, moments.moment_2.zeros_like() if largest is None else largest
        return moments.time, tensors

    def _pack(self, time: int, tensors: tuple[Tensor, ...]) -> AdamState:
        return AdamState(AdaptiveMomentumState(time, *tensors))

    def _step_half(self, lr: float, tensor: Tensor, grad: Tensor, state: AdamState | None) -> tuple[Tensor, AdamState]:
        """The step computed in f32; its moments stay in f32."""
        if state is not None:
            time, tensors = self._unpack(state)
            state = self._pack(time, tuple(moment.cast(DType.F32) for moment in tensors))
        result, state = self.step(lr, tensor.cast(DType.F32), grad.cast(DType.F32), state)
        return result.cast(tensor.dtype), state


class Adam(AdaptiveMomentum):
    """p = p - lr * (m / (1 - beta_1^t)) / (sqrt(v / (1 - beta_2^t)) + epsilon), at step t (Burn: `Adam`).

    Half-precision parameters have moments in f32.

    >>> rule = AdamConfig().build()
    >>> value, state = rule.step(0.1, Tensor([1.0]), Tensor([0.5]), None)
    >>> value.shape, state.momentum.time
    ([1], 1)
    """

    def __init__(self, config: AdamConfig) -> None:
        super().__init__("AdamConfig", config.beta_1, config.beta_2, config.epsilon, config.amsgrad)
        self._penalty = config.weight_decay.init().penalty if config.weight_decay is not None else 0.0

    def _numbers(self, lr: float, time: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
        # Both sides of the fraction are multiplied by the root of the second correction, as Burn does.
        factors = self._factors_at(time + 1)
        betas = self.beta_1, self.rest_1, self.beta_2, self.rest_2
        return (2 + self.amsgrad, 0), (self._penalty, *betas, factors.scale, 1.0, factors.epsilon, 1.0, lr)
