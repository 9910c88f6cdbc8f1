"""Losses of sequences."""

from typing import TYPE_CHECKING

from burn._ops import loss as ops

if TYPE_CHECKING:
    from burn.tensor import Tensor

__all__ = ["ctc_loss"]


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank) -> "Tensor":
    """Minus the logarithm of the probability of each target, over all its alignments. Mirrors `ctc_loss`.

    A target without an alignment, as one longer than its input, has an infinite loss, and a gradient of zero. Sums run in
    double precision. The gradient is that of the loss by `log_probs`; PyTorch's is that by what a log-softmax made
    them of.

    Args:
        log_probs: logarithms of probabilities [steps, batch, classes].
        targets: Int tensor [batch, length] of classes. What lies behind a target's length is not looked at.
        input_lengths: Int tensor [batch], how many steps of each sample count.
        target_lengths: Int tensor [batch].
        blank: the class that stands for no label.

    Returns:
        Tensor [batch].

    Raises:
        ShapeError: sizes that do not fit.
        OutOfBoundsError: a length beyond the axis, or a target that is no class.
        ArgumentError: a blank that is no class.

    >>> probabilities = Tensor([[[0.5, 0.5]], [[0.5, 0.5]]])
    >>> ctc_loss(probabilities.log(), Tensor([[1]]), Tensor([2]), Tensor([1]), 0).tolist()
    [0.2876...]
    """
    return ops.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank)
