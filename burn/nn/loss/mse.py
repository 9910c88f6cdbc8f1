"""The mean squared error."""

from burn.module import Module
from burn.tensor import Tensor

from .._checks import check_same_shape
from .reduction import Reduction, reduce


class MseLoss(Module):
    """``(logits - targets)²``. Mirrors `burn::nn::loss::MseLoss`.

    >>> MseLoss()
    MseLoss
    """

    def forward(self, logits: Tensor, targets: Tensor, reduction: Reduction) -> Tensor:
        """The reduced loss.

        # Shapes

        - logits: any shape
        - targets: the same shape; nothing is broadcast
        - output: [1]
        """
        return reduce("MseLoss", self.forward_no_reduction(logits, targets), reduction)

    def forward_no_reduction(self, logits: Tensor, targets: Tensor) -> Tensor:
        """The loss of every element.

        # Shapes

        - logits: any shape
        - targets: the same shape; nothing is broadcast
        - output: the same shape
        """
        check_same_shape("MseLoss", logits, targets, ("logits", "targets"))
        difference = logits - targets
        return difference * difference
