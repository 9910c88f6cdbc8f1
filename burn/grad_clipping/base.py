"""Clipping by value and by norm."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from burn._arguments import finite
from burn.config import F32, ConfigEnum, tuple_variant
from burn.errors import ArgumentError, BurnError
from burn.tensor import DType, Tensor

_TINY = {4: 1.1754943508222875e-38, 8: sys.float_info.min}
# Outside this range a sum of squares in f32 may have lost part of it to underflow or overflow.
_SAFE = 1e-24, 1e37


class NonFiniteGradientError(BurnError, ArithmeticError):
    """A gradient has an infinite element: scaled by its norm, it would become NaN and the others 0."""


class GradientClippingConfig(ConfigEnum):
    """How gradients are clipped (Burn: `GradientClippingConfig`).

    Variants: `GradientClippingConfig.Value(threshold)` limits each element to `[-threshold, threshold]`;
    `GradientClippingConfig.Norm(max_norm)` scales a gradient down to that L2 norm. Each parameter counts alone: there
    is no norm over all of them.

    Example:
        >>> from burn.optim import SgdConfig
        >>> optim = SgdConfig(gradient_clipping=GradientClippingConfig.Norm(1.0)).init()
    """

    @tuple_variant
    class Value:
        """Limit each element."""

        threshold: F32

        def init(self) -> GradientClipping:
            """The clipping; raises ArgumentError unless the threshold is positive and finite."""
            return GradientClipping.Value(self.threshold)

    @tuple_variant
    class Norm:
        """Limit the norm of each gradient."""

        max_norm: F32

        def init(self) -> GradientClipping:
            """The clipping; raises ArgumentError unless the norm is positive and finite."""
            return GradientClipping.Norm(self.max_norm)


class GradientClipping(ABC):
    """Clipping of one gradient, made by `init()` of the config; variants `Value`, `Norm` (Burn: `GradientClipping`).

    >>> clipping = GradientClippingConfig.Norm(1.0).init()
    >>> clipping.clip_gradient(Tensor([3.0, 4.0])).tolist()
    [0.6000..., 0.8000...]
    >>> GradientClipping.Value(2.0).clip_gradient(Tensor([3.0, 1.0])).tolist()
    [2.0, 1.0]
    """

    Value: ClassVar[type[_Value]]
    Norm: ClassVar[type[_Norm]]

    @abstractmethod
    def clip_gradient(self, grad: Tensor, name: str | None = None) -> Tensor:
        """Clip a gradient.

        Args:
            grad: the gradient, of any shape.
            name: path of the parameter, for messages.

        Returns:
            The clipped gradient; `grad` itself where nothing is to be done.

        Raises:
            NonFiniteGradientError: if a norm is to be limited and an element is infinite.
        """


@dataclass(frozen=True, repr=False)
class _Value(GradientClipping):
    threshold: float

    def __post_init__(self) -> None:
        _check("Value", "threshold", self.threshold)

    def clip_gradient(self, grad: Tensor, name: str | None = None) -> Tensor:
        return grad.clamp(-self.threshold, self.threshold)

    def __repr__(self) -> str:
        return f"GradientClipping.Value({self.threshold})"


@dataclass(frozen=True, repr=False)
class _Norm(GradientClipping):
    max_norm: float

    def __post_init__(self) -> None:
        _check("Norm", "max_norm", self.max_norm)

    def clip_gradient(self, grad: Tensor, name: str | None = None) -> Tensor:
        wide = grad.cast(DType.F32) if grad.dtype.size == 2 else grad
        norm = _norm(wide, name)
        scale = self.max_norm / (norm + _TINY[wide.dtype.size])
        if scale >= 1.0:
            return grad
        return (wide * scale).cast(grad.dtype)

    def __repr__(self) -> str:
        return f"GradientClipping.Norm({self.max_norm})"


GradientClipping.Value = _Value
GradientClipping.Norm = _Norm


def _norm(grad: Tensor, name: str | None) -> float:
    """L2 norm of a gradient, also where its squares do not fit the dtype; NaN where an element is NaN."""
    total = grad.square().sum().item()
    if _SAFE[0] < total < _SAFE[1] or math.isnan(total):
        return math.sqrt(total)
    largest = grad.abs().max().item() if grad.shape.num_elements() else 0.0
    if math.isinf(largest):
        where = f" of parameter '{name}'" if name else ""
        raise NonFiniteGradientError(
            f"[clip_gradient] the gradient{where} must be finite to limit its norm, got an infinite element; lower the "
            "learning rate, or clip by value"
        )
    if largest == 0.0 or math.isnan(largest):
        return largest
    return largest * math.sqrt((grad / largest).square().sum().item())


def _check(variant: str, name: str, value: float) -> None:
    if finite(f"GradientClipping.{variant}", name, value) <= 0:
        raise ArgumentError(f"[GradientClipping.{variant}] '{name}' must be a positive finite number, got {value}")
