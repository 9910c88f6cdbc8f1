"""Counts of independent events."""

import math

from burn.config import Config
from burn.errors import ArgumentError
from burn.tensor import Tensor

from .._checks import check_alike, check_positive
from .._printed import Printed
from .reduction import Reduction, reduce


class PoissonNllLossConfig(Config):
    """Configuration of `PoissonNllLoss`. Mirrors `burn::nn::loss::PoissonNllLossConfig`.

    Args:
        log_input: whether predictions are logarithms of rates, or rates.
        full: whether Stirling's approximation of the logarithm of the target's factorial is added.
        eps: added to a rate before its logarithm is taken.

    >>> PoissonNllLossConfig().init()
    PoissonNllLoss {log_input: true, full: false, eps: 0.00000001}
    """

    log_input: bool = True
    full: bool = False
    eps: float = 1e-8

    def init(self) -> "PoissonNllLoss":
        """The loss.

        Raises:
            ArgumentError: an eps that is not finite and positive.
        """
        return PoissonNllLoss(self.log_input, self.full, check_positive("PoissonNllLossConfig", "eps", self.eps))


class PoissonNllLoss(Printed):
    """Minus the logarithm of a count's probability at a rate. Mirrors `burn::nn::loss::PoissonNllLoss`.

    ``exp(p) - t p`` for the logarithm p of a rate, ``p - t log(p + eps)`` for a rate p. With `full`,
    ``t log t - t + log(2 pi t) / 2`` is added where t is above 1.

    >>> from burn.nn.loss import Reduction
    >>> p, t, loss = Tensor([0.0, 1.0]), Tensor([1.0, 0.0]), PoissonNllLoss()
    >>> loss.forward(p, t, Reduction.Sum).tolist(), loss.forward_no_reduction(p, t).tolist()
    ([3.7182...], [1.0, 2.7182...])
    """

    log_input: bool
    full: bool
    eps: float

    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-8):
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, predictions: Tensor, targets: Tensor, reduction: Reduction) -> Tensor:
        """The reduced loss.

        Args:
            reduction: Mean (Auto) or Sum.

        # Shapes

        - predictions: Float, any shape
        - targets: the same shape; nothing is broadcast
        - output: [1]

        Raises:
            ArgumentError: a negative target, or a negative rate.
        """
        return reduce("PoissonNllLoss", self.forward_no_reduction(predictions, targets), reduction)

    def forward_no_reduction(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """The loss of every element. The values are looked at, so this waits for the device.

        # Shapes

        - predictions: Float, any shape
        - targets: the same shape; nothing is broadcast
        - output: the same shape

        Raises:
            ArgumentError: a negative target, or a negative rate.
        """
        check_alike("PoissonNllLoss", predictions=predictions, targets=targets)
        _check_not_negative("targets", targets, "")
        if self.log_input:
            loss = predictions.exp() - targets * predictions
        else:
            _check_not_negative("predictions", predictions, "; with log_input=True they are logarithms of rates")
            loss = predictions - targets * (predictions + self.eps).log()
        if self.full:
            small = targets.lower_equal_scalar(1.0)
            safe = targets.mask_fill(small, 1.0)
            stirling = safe * safe.log() - safe + (safe * (2.0 * math.pi)).log() * 0.5
            loss = loss + stirling.mask_fill(small, 0.0)
        return loss


def _check_not_negative(name: str, values: Tensor, remedy: str) -> None:
    if not values.inner().greater_equal_scalar(0.0).all().item():
        raise ArgumentError(f"[PoissonNllLoss] {name!r} must not hold negative numbers or NaN{remedy}")
