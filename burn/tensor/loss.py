"""Losses on tensors. Mirrors `burn::tensor::loss`."""

from typing import TYPE_CHECKING

from burn._ops import elementwise as ew
from burn._ops import reduce as rd
from burn._ops import softmax
from burn._ops.registry import FLOAT, check_kind, check_same, check_tensor
from burn.errors import ShapeError
from burn.tensor._calls import teach_functions

if TYPE_CHECKING:
    from burn.tensor import Tensor

__all__ = ["cross_entropy_with_logits"]


def cross_entropy_with_logits(logits, target_probs) -> "Tensor":
    """-sum(target log_softmax(logits)) over the last axis, averaged over all rows. Mirrors `cross_entropy_with_logits`.

    Args:
        logits: Float tensor [..., classes].
        target_probs: probabilities of the same shape. Where they are 0, nothing is added, whatever the logit.

    Returns:
        Tensor [1].

    Raises:
        ShapeError: the shapes differ.

    >>> cross_entropy_with_logits(Tensor([[0.0, 0.0]]), Tensor([[1.0, 0.0]])).tolist()
    [0.6931...]
    """
    op = "cross_entropy_with_logits"
    check_kind(op, check_tensor(op, logits, "logits"), FLOAT, "logits")
    check_same(op, logits, check_tensor(op, target_probs, "target_probs"), "target_probs")
    if logits._dims != target_probs._dims:
        raise ShapeError(
            f"[{op}] 'target_probs' must have shape {list(logits._dims)} like 'logits', got {list(target_probs._dims)}"
        )
    logs = softmax.log_softmax(logits, logits.ndim - 1)
    logs = ew.mask_fill(logs, ew.equal(target_probs, 0.0), 0.0)
    rows = rd.sum_(ew.mul(logs, target_probs), logits.ndim - 1)
    return ew.neg(rd.mean(rows))


teach_functions(globals())
