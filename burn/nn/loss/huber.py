"""The squared error near 0, a linear one further away."""

import numpy as np

from burn._ops.elementwise import error_huber
from burn.config import F32, Config
from burn.errors import ArgumentError
from burn.module import ONE_LINE, Module
from burn.tensor import Tensor

from .._checks import check_alike, check_float
from .reduction import Reduction, reduce_error


class HuberLossConfig(Config):
    """Configuration of `HuberLoss`. Mirrors `burn::nn::loss::HuberLossConfig`.

    Args:
        delta: up to which residual the loss is quadratic; at least 0, infinity allowed.

    >>> HuberLossConfig(0.5).init()
    HuberLoss {delta: 0.5, lin_bias: 0.125}
    """

    delta: F32

    def init(self) -> "HuberLoss":
        """The loss.

        Raises:
            ArgumentError: a negative delta, or NaN.
        """
        if not self.delta >= 0.0:
            raise ArgumentError(f"[HuberLossConfig] 'delta' must not be negative, got {self.delta}")
        return HuberLoss(self.delta)


class HuberLoss(Module):
    """``r² / 2`` up to ``|r| = delta``, then ``delta |r| - delta² / 2``. Mirrors `burn::nn::loss::HuberLoss`.

    Here r is ``targets - predictions``. The gradient is r, limited to delta. Fields: `delta`, `lin_bias` (delta² / 2).

    >>> from burn.nn.loss import Reduction
    >>> x, y, loss = Tensor([-2.0, 0.3]), Tensor([0.0, 0.0]), HuberLoss(0.5)
    >>> loss.forward(x, y, Reduction.Sum).tolist(), loss.forward_no_reduction(x, y).tolist()
    ([0.92...], [0.875, 0.045...])
    >>> loss.forward_residuals(Tensor([2.0])).tolist()
    [0.875]
    """

    delta: float
    lin_bias: float

    def __init__(self, delta: float):
        self.delta = delta
        # The digits that single precision needs, as Burn keeps it.
        with np.errstate(over="ignore"):
            self.lin_bias = float(str(np.float32(delta) * np.float32(delta) * np.float32(0.5)))

    def forward(self, predictions: Tensor, targets: Tensor, reduction: Reduction) -> Tensor:
        """The reduced loss.

        Args:
            reduction: Mean (Auto) or Sum.

        # Shapes

        - predictions: Float, any shape
        - targets: the same shape; nothing is broadcast
        - output: [1]
        """
        check_alike("HuberLoss", predictions=predictions, targets=targets)
        return reduce_error("HuberLoss", error_huber, predictions, targets, huber_numbers(self.delta, 1.0), reduction)

    def forward_no_reduction(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """The loss of every element.

        # Shapes

        - predictions: Float, any shape
        - targets: the same shape; nothing is broadcast
        - output: the same shape
        """
        check_alike("HuberLoss", predictions=predictions, targets=targets)
        return huber(predictions, targets, self.delta, 1.0)

    def forward_residuals(self, residuals: Tensor) -> Tensor:
        """The loss of every residual.

        # Shapes

        - residuals: Float, any shape
        - output: the same shape
        """
        check_float("HuberLoss", residuals, "residuals")
        return huber(residuals, residuals.inner().zeros_like(), self.delta, 1.0)

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        return content.add("delta", self.delta).add("lin_bias", self.lin_bias)


def huber(predictions: Tensor, targets: Tensor, delta: float, scale: float) -> Tensor:
    """The loss of every element, divided by a scale."""
    return error_huber(predictions, targets, *huber_numbers(delta, scale))


def huber_numbers(delta: float, scale: float) -> tuple[float, float, float]:
    """Limit, divisor and their quotient."""
    return delta, scale, delta / scale
