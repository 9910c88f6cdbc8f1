"""The cross entropy of yes and no."""

import functools
import math

from burn._arguments import device as check_device
from burn._ops.registry import check_device as check_place
from burn.config import F32, Config
from burn.errors import ShapeError
from burn.module import ONE_LINE, Module
from burn.tensor import Tensor
from burn.tensor.activation import log_sigmoid

from .._checks import check_float, check_int
from .._naming import Naming
from .cross_entropy import check_smoothing, check_weights

_LOWEST = -100.0  # what stands for the logarithm of 0


class BinaryCrossEntropyLossConfig(Config):
    """Configuration of `BinaryCrossEntropyLoss`. Mirrors `burn::nn::loss::BinaryCrossEntropyLossConfig`.

    Attributes:
        weights: one positive weight a label (the last axis); for targets of one axis, one for 0 and one for 1.
        smoothing: share of each target that is spread, from 0 to 1.
        logits: whether the input holds logits, or probabilities.

    >>> BinaryCrossEntropyLossConfig(smoothing=0.5).init()
    BinaryCrossEntropyLoss {weights: None, smoothing: 0.5, logits: false}
    """

    weights: list[F32] | None = None
    smoothing: F32 | None = None
    logits: bool = False

    def init(self, device=None) -> "BinaryCrossEntropyLoss":
        """The loss, its weights on a device (the default one if None).

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a smoothing outside [0, 1], or a weight that is not positive.
        """
        check_smoothing("BinaryCrossEntropyLossConfig", self.smoothing)
        device = check_device("init", device)
        weights = check_weights("BinaryCrossEntropyLossConfig", self.weights, device)
        return BinaryCrossEntropyLoss(weights, self.smoothing, self.logits)


class BinaryCrossEntropyLoss(Module):
    """The mean of ``-log p`` where the target is 1, of ``-log(1 - p)`` where it is 0.

    Mirrors `burn::nn::loss::BinaryCrossEntropyLoss`. Of probabilities, a logarithm counts as at least -100. Weights
    multiply the losses and leave the divisor as it is. With smoothing ``a`` a target y is ``(1 - a) y + a / K``, K the
    size of the last axis, or 2 if there is just one.

    >>> p, y = Tensor([0.25, 0.75]), Tensor([0, 1])
    >>> BinaryCrossEntropyLoss().forward(p, y).tolist()
    [0.2876...]
    >>> BinaryCrossEntropyLossConfig(logits=True).init().forward(Tensor([0.0, 0.0]), y).tolist()
    [0.6931...]
    """

    weights: Tensor | None
    smoothing: float | None
    logits: bool

    def __init__(self, weights=None, smoothing=None, logits=False):
        self.weights = weights
        self.smoothing = smoothing
        self.logits = logits

    def forward(self, logits: Tensor, targets: Tensor) -> Tensor:
        """The loss.

        # Shapes

        - logits: Float [batch] or [..., labels]; probabilities, or logits if the config says so
        - targets: Int, the same shape; 0 or 1
        - output: [1]

        Raises:
            OutOfBoundsError: a target that is neither 0 nor 1; the message names it.
        """
        self._check(logits, targets)
        if self.logits and not self.smoothing:
            loss = -log_sigmoid(logits * self._either(targets, -1.0, 1.0, logits))
        else:
            a = (self.smoothing or 0.0) / (logits.shape[-1] if logits.ndim > 1 else 2)
            y = self._either(targets, a, 1.0 - (self.smoothing or 0.0) + a, logits)
            if self.logits:
                loss = (1.0 - y) * logits - log_sigmoid(logits)
            else:
                loss = (y - 1.0) * (-logits).log1p().clamp_min(_LOWEST) - y * _log(logits)
        if self.weights is not None:
            weights = self.weights.cast(logits.dtype)
            loss = loss * (weights.select(0, targets) if logits.ndim == 1 else weights.unsqueeze(logits.ndim))
        return loss.mean()

    def _either(self, targets: Tensor, no: float, yes: float, like: Tensor) -> Tensor:
        """One number where the target is 0, another where it is 1."""
        table = _table(targets.device, like.dtype, no, yes)
        with Naming("BinaryCrossEntropyLoss", "targets", "be 0 or 1", targets, 2):
            return table.select(0, targets.reshape([-1])).reshape(targets.dims())

    def _check(self, logits: Tensor, targets: Tensor) -> None:
        check_float("BinaryCrossEntropyLoss", logits, "logits")
        check_int("BinaryCrossEntropyLoss", targets, "targets", logits)
        if logits._dims != targets._dims:
            raise ShapeError(
                f"[BinaryCrossEntropyLoss] 'targets' must have the shape of 'logits', got {targets.dims()} and "
                f"{logits.dims()}"
            )
        if self.weights is None:
            return
        check_place("BinaryCrossEntropyLoss", self.weights, logits, "logits")
        labels, (count,) = 2 if logits.ndim == 1 else logits.shape[-1], self.weights._dims
        if labels != count:
            what = "2 weights for targets of one axis" if logits.ndim == 1 else f"a weight for each of {labels} labels"
            raise ShapeError(f"[BinaryCrossEntropyLoss] 'weights' must hold {what}, got {count}")

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        return content.add("weights", self.weights).add("smoothing", self.smoothing).add("logits", self.logits)


@functools.lru_cache(16)
def _table(device, dtype, no: float, yes: float) -> Tensor:
    """Two numbers; making them anew would take longer than a small loss."""
    return Tensor.from_data([no, yes], device, dtype=dtype)


def _log(p: Tensor) -> Tensor:
    """Logarithms of probabilities. The slope at numbers too small for their reciprocal is left out: it would be inf."""
    if not p.is_tracked():
        return p.log().clamp_min(_LOWEST)
    least = max(p.dtype.finfo()[3], math.exp(_LOWEST))
    low = p.inner()
    return p.clamp_min(least).log().mask_where(low.lower_scalar(least), low.log().clamp_min(_LOWEST))
