"""Adam."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from burn._ops.elementwise import adam_step
from burn.config import F32, Config
from burn.grad_clipping import GradientClippingConfig
from burn.optim._numbers import not_negative, powi_f32, share, to_f32
from burn.optim.base import Optimizer
from burn.optim.decay import WeightDecayConfig
from burn.optim.module_optimizer import ModuleOptimizer
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


class AdaptiveMomentum:
    """The two moments that Adam and AdamW share.

    m = beta_1 * m + (1 - beta_1) * g; v = beta_2 * v + (1 - beta_2) * g * g; both start at 0.
    """

    def __init__(self, owner: str, beta_1: float, beta_2: float, epsilon: float, amsgrad: bool) -> None:
        self.beta_1 = to_f32(share(owner, "beta_1", beta_1))
        self.beta_2 = to_f32(share(owner, "beta_2", beta_2))
        self.rest_1 = to_f32(1.0 - self.beta_1)
        self.rest_2 = to_f32(1.0 - self.beta_2)
        self.epsilon = to_f32(not_negative(owner, "epsilon", epsilon))
        self.amsgrad = amsgrad
        self._factors = Factors(0, 0.0, 0.0, 0.0, 0.0)

    def factors(self, time: int) -> Factors:
        """Factors of step `time`; all parameters of a step share them."""
        factors = self._factors
        if factors.time != time:
            correction_1 = to_f32(1.0 - powi_f32(self.beta_1, time))
            correction_2 = to_f32(1.0 - powi_f32(self.beta_2, time))
            root = to_f32(correction_2**0.5)
            scale, epsilon = to_f32(root / correction_1), to_f32(self.epsilon * root)
            self._factors = factors = Factors(time, correction_1, correction_2, scale, epsilon)
        return factors

    def begin(self, tensor: Tensor, state: AdamState | None) -> AdaptiveMomentumState:
        """The moments before a step."""
        if state is not None:
            return state.momentum
        return AdaptiveMomentumState(0, tensor.zeros_like(), tensor.zeros_like())

    def advance(self, grad: Tensor, old: AdaptiveMomentumState) -> AdaptiveMomentumState:
        """The moments after a step, with separate operations."""
        moment_1 = old.moment_1 * self.beta_1 + grad * self.rest_1
        moment_2 = old.moment_2 * self.beta_2 + grad.square() * self.rest_2
        largest = old.max_moment_2
        if self.amsgrad:
            largest = moment_2 if largest is None else largest.max_pair(moment_2)
        return AdaptiveMomentumState(old.time + 1, moment_1, moment_2, largest)

    def fused(
        self, tensor: Tensor, grad: Tensor, old: AdaptiveMomentumState, scales: tuple[float, ...], penalty: float = 0.0
    ) -> tuple[Tensor, AdaptiveMomentumState]:
        """Moments and parameter in one pass over memory, in place in the moments.

        Args:
            scales: factor of m, factor of v, epsilon, factor of the parameter, learning rate.
            penalty: factor of the parameter in the gradient.
        """
        floats = (penalty, self.beta_1, self.rest_1, self.beta_2, self.rest_2, *scales)
        tensor, moment_1, moment_2 = adam_step(tensor, grad, old.moment_1, old.moment_2, floats)
        return tensor, AdaptiveMomentumState(old.time + 1, moment_1, moment_2)


class Adam(Optimizer):
    """p = p - lr * (m / (1 - beta_1^t)) / (sqrt(v / (1 - beta_2^t)) + epsilon), at step t (Burn: `Adam`).

    Half-precision parameters have moments in f32.

    >>> rule = AdamConfig().build()
    >>> value, state = rule.step(0.1, Tensor([1.0]), Tensor([0.5]), None)
    >>> value.shape, state.momentum.time
    ([1], 1)
    """

    state_type = AdamState

    def __init__(self, config: AdamConfig) -> None:
        self._momentum = AdaptiveMomentum("AdamConfig", config.beta_1, config.beta_2, config.epsilon, config.amsgrad)
        self._decay = config.weight_decay.init() if config.weight_decay is not None else None

    def step(self, lr: float, tensor: Tensor, grad: Tensor, state: AdamState | None) -> tuple[Tensor, AdamState]:
        if is_half(tensor):
            return step_in_f32(self, lr, tensor, grad, state)
        rule = self._momentum
        old = rule.begin(tensor, state)
        factors = rule.factors(old.time + 1)
        # Both sides of the fraction are multiplied by the root of the second correction, as Burn does.
        scale, epsilon = factors.scale, factors.epsilon
        if not rule.amsgrad:
            penalty = self._decay.penalty if self._decay is not None else 0.0
            tensor, new = rule.fused(tensor, grad, old, (scale, 1.0, epsilon, 1.0, lr), penalty)
        else:
            if self._decay is not None:
                grad = self._decay.transform(grad, tensor)
            new = rule.advance(grad, old)
            tensor = tensor - (new.moment_1 * scale) / (new.max_moment_2.sqrt() + epsilon) * lr
        return tensor, AdamState(new)


def is_half(tensor: Tensor) -> bool:
    """Whether a tensor has too few bits for moments: they would underflow."""
    return tensor.dtype.size == 2


def step_in_f32(
    optimizer: Optimizer, lr: float, tensor: Tensor, grad: Tensor, state: AdamState | None
) -> tuple[Tensor, AdamState]:
    """One step of a half-precision parameter, computed in f32."""
    if state is not None and is_half(state.momentum.moment_1):
        moments = state.momentum
        largest = moments.max_moment_2
        state = AdamState(
            AdaptiveMomentumState(
                moments.time,
                moments.moment_1.cast(DType.F32),
                moments.moment_2.cast(DType.F32),
                largest.cast(DType.F32) if largest is not None else None,
            )
        )
    result, state = optimizer.step(lr, tensor.cast(DType.F32), grad.cast(DType.F32), state)
    return result.cast(tensor.dtype), state
