"""The cross entropy of class targets."""

import functools
import math

import numpy as np

from burn._arguments import device as checked_device
from burn._ops.index import check_indices
from burn._ops.loss import cross_entropy, nll_loss, no_class
from burn._ops.registry import check_device
from burn.config import F32, Config
from burn.errors import ArgumentError, ShapeError
from burn.module import ONE_LINE, Module
from burn.tensor import DType, Tensor

from .._checks import check_float, check_int
from .reduction import wide

_NO_CLASS = no_class("CrossEntropyLoss", "targets")


class CrossEntropyLossConfig(Config):
    """Configuration of `CrossEntropyLoss`. Mirrors `burn::nn::loss::CrossEntropyLossConfig`.

    Attributes:
        pad_tokens: targets that leave the loss; they need not be classes.
        weights: one positive weight a class.
        smoothing: share of the target that is spread over all classes, from 0 to 1.
        logits: whether the input holds logits, or probabilities.

    >>> CrossEntropyLossConfig(smoothing=0.5).init()
    CrossEntropyLoss {pad_tokens: None, weights: None, smoothing: 0.5, logits: true}
    """

    pad_tokens: list[int] | None = None
    weights: list[F32] | None = None
    smoothing: F32 | None = None
    logits: bool = True

    def init(self, device=None) -> "CrossEntropyLoss":
        """The loss, its weights on a device (the default one if None).

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a smoothing outside [0, 1], or a weight that is not positive.
        """
        check_smoothing("CrossEntropyLossConfig", self.smoothing)
        weights = check_weights("CrossEntropyLossConfig", self.weights, checked_device("init", device))
        return CrossEntropyLoss(self.pad_tokens, weights, self.smoothing, self.logits)


class CrossEntropyLoss(Module):
    """The mean over the batch of ``-log p[target]``. Mirrors `burn::nn::loss::CrossEntropyLoss`.

    With weights, each row counts as much as the weight of its target, in the sum and in the divisor. Rows whose
    target is a pad token leave both; if no row remains the result is NaN. With smoothing ``a`` the target is
    ``(1 - a)`` on its class plus ``a / classes`` on every class.

    >>> loss = CrossEntropyLossConfig().with_pad_tokens([-1]).init()
    >>> loss.forward(Tensor([[0.0, 0.0], [1.0, 2.0]]), Tensor([0, -1])).tolist()
    [0.6931...]
    """

    pad_tokens: list[int] | None
    weights: Tensor | None
    smoothing: float | None
    logits: bool

    def __init__(self, pad_tokens=None, weights=None, smoothing=None, logits=True):
        self.pad_tokens = None if pad_tokens is None else [int(token) for token in pad_tokens]
        self.weights = weights
        self.smoothing = smoothing
        self.logits = logits

    def forward(self, logits: Tensor, targets: Tensor) -> Tensor:
        """The loss.

        # Shapes

        - logits: Float [batch, classes]; logits, or probabilities if the config says so
        - targets: Int [batch]; class numbers or pad tokens
        - output: [1]

        Raises:
            IndexError: a target that is neither a class nor a pad token; the message names it.
        """
        targets = self._check(logits, targets)
        pads, weights, smoothing, words = self.pad_tokens, self.weights, self.smoothing, _NO_CLASS
        if pads:
            words = no_class("CrossEntropyLoss", "targets", tuple(pads))
            if len(pads) > 1:
                targets = functools.reduce(lambda t, pad: t.mask_fill(t.equal_scalar(pad), pads[0]), pads[1:], targets)
        if weights is not None:
            check_device("CrossEntropyLoss", weights, logits, "logits")
            if weights._dtype != logits._dtype:
                weights = weights.cast(logits.dtype)
        if self.logits:
            losses, counts = cross_entropy(logits, targets, weights, pads, smoothing or 0.0, words)
        elif smoothing or weights is not None:
            losses, counts = nll_loss(_log(logits), targets, weights, pads, smoothing or 0.0, words)
        else:  # the logarithms of all classes would take longer
            losses, counts = nll_loss(logits, targets, None, pads, 0.0, words)
            losses = -_log(-losses)
            losses = losses if counts is None else losses * counts
        if counts is None:
            return losses.mean()
        return (wide(losses).sum() / wide(counts).sum()).cast(losses.dtype)

    def _check(self, logits: Tensor, targets: Tensor) -> Tensor:
        """The targets, of a dtype that kernels take; raises unless all fits."""
        check_float("CrossEntropyLoss", logits, "logits")
        check_int("CrossEntropyLoss", targets, "targets", logits)
        shape = logits._dims
        if len(shape) != 2:
            raise ShapeError(f"[CrossEntropyLoss] 'logits' must be [batch, classes], got shape {list(shape)}")
        if targets._dims != shape[:1]:
            raise ShapeError(
                f"[CrossEntropyLoss] 'targets' must be [batch] with batch = {shape[0]} as in logits, "
                f"got shape {targets.dims()}"
            )
        weights = self.weights
        if weights is not None and weights._dims != shape[1:]:
            raise ShapeError(
                f"[CrossEntropyLoss] 'logits' must have a class for each of the {weights._dims[0]} weights, "
                f"got shape {list(shape)}"
            )
        return check_indices("CrossEntropyLoss", logits, targets, "targets")

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        pads = "None" if self.pad_tokens is None else f"Vec<0..{len(self.pad_tokens)}>"
        content.add("pad_tokens", pads).add("weights", self.weights)
        return content.add("smoothing", self.smoothing).add("logits", self.logits)


def _log(p: Tensor) -> Tensor:
    """The logarithms of probabilities, which count as at least the root of the smallest normal number (of f32 in f16)."""
    if p.dtype is DType.F16:
        return _log(p.cast(DType.F32)).cast(DType.F16)
    return p.clamp_min(_least(p.dtype)).log()


@functools.cache
def _least(dtype: DType) -> float:
    return math.sqrt(dtype.finfo()[3])


def check_smoothing(config: str, value: float | None) -> None:
    """Raises unless a smoothing is a share, or None."""
    if value is not None and not 0.0 <= value <= 1.0:
        raise ArgumentError(f"[{config}] 'smoothing' must be from 0 to 1, got {value}")


def check_weights(config: str, weights: list[float] | None, device) -> Tensor | None:
    """The weights as a tensor; raises unless all are positive."""
    if weights is None:
        return None
    if not all(weight > 0.0 for weight in weights):
        raise ArgumentError(f"[{config}] 'weights' must all be positive, got {weights}")
    return Tensor.from_data(np.asarray(weights, np.float32), device)
