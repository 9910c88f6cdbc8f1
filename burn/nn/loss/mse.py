"""The mean squared error."""

from burn._ops.elementwise import error_power
from burn.module import Module
from burn.tensor import Tensor

from .._checks import check_alike
from .reduction import Reduction, reduce_error


class MseLoss(Module):
    """``(logits - targets)²``. Mirrors `burn::nn::loss::MseLoss`.

    >>> from burn.nn.loss import Reduction
    >>> x, y = Tensor([1.0, 2.0]), Tensor([1.0, 5.0])
    >>> MseLoss().forward(x, y, Reduction.Sum).tolist(), MseLoss().forward_no_reduction(x, y).tolist()
    ([9.0], [0.0, 9.0])
    """

    def forward(self, logits: Tensor, targets: Tensor, reduction: Reduction) -> Tensor:
        """The reduced loss.

        # Shapes

        - logits: any shape
        - targets: the same shape; nothing is broadcast
        - output: [1]

        Args:
            logits: Float tensor of any shape.
            targets: tensor of the same shape and dtype.
            reduction: a `Reduction`.
        """
        check_alike("MseLoss", logits=logits, targets=targets)
        return reduce_error("MseLoss", error_power, logits, targets, (2.0,), reduction)

    def forward_no_reduction(self, logits: Tensor, targets: Tensor) -> Tensor:
        """The loss of every element.

        # Shapes

        - logits: any shape
        - targets: the same shape; nothing is broadcast
        - output: the same shape
        """
        check_alike("MseLoss", logits=logits, targets=targets)
        return error_power(logits, targets, 2.0)
