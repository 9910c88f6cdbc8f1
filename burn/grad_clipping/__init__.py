"""Clipping of gradients, each by its own value or norm (Burn: `burn::grad_clipping`)."""

from burn._hints import teaching as _teaching
from burn.grad_clipping.base import GradientClipping, GradientClippingConfig, NonFiniteGradientError
from burn.tensor._calls import teach_constructors as _teach_constructors

__all__ = ["GradientClipping", "GradientClippingConfig", "NonFiniteGradientError"]

__getattr__ = _teaching("burn.grad_clipping")
_teach_constructors(globals())
