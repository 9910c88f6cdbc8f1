"""The logistic loss of two classes."""

from burn.module import Module
from burn.tensor import Tensor
from burn.tensor.activation import softplus

from .._checks import check_alike
from .reduction import Reduction, reduce


class SoftMarginLoss(Module):
    """``log(1 + exp(-targets logits))``, for targets of 1 or -1. Mirrors `burn::nn::loss::SoftMarginLoss`.

    >>> from burn.nn.loss import Reduction
    >>> x, y, loss = Tensor([0.5, -100.0]), Tensor([1.0, 1.0]), SoftMarginLoss()
    >>> loss.forward(x, y, Reduction.Sum).tolist(), loss.forward_no_reduction(x, y).tolist()
    ([100.474...], [0.474..., 100.0])
    """

    def forward(self, logits: Tensor, targets: Tensor, reduction: Reduction) -> Tensor:
        """The reduced loss.

        Args:
            reduction: Mean (Auto) or Sum.

        # Shapes

        - logits: Float, any shape
        - targets: Float, the same shape; 1 or -1
        - output: [1]
        """
        return reduce("SoftMarginLoss", self.forward_no_reduction(logits, targets), reduction)

    def forward_no_reduction(self, logits: Tensor, targets: Tensor) -> Tensor:
        """The loss of every element.

        # Shapes

        - logits: Float, any shape
        - targets: Float, the same shape; 1 or -1
        - output: the same shape
        """
        check_alike("SoftMarginLoss", logits=logits, targets=targets)
        return softplus(-(targets * logits), 1.0)
