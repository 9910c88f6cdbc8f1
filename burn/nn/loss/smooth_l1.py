"""The squared error near 0, the absolute one further away."""

from burn._ops.elementwise import error_huber
from burn.config import F32, Config
from burn.module import Module
from burn.tensor import Tensor

from .._checks import check_alike, check_positive
from .huber import huber, huber_numbers
from .reduction import Reduction, reduce_error


class SmoothL1LossConfig(Config):
    """Configuration of `SmoothL1Loss`. Mirrors `burn::nn::loss::SmoothL1LossConfig`.

    Args:
        beta: below which error the loss is quadratic.

    >>> SmoothL1LossConfig().init()
    SmoothL1Loss {
      beta: 1
    }
    """

    beta: F32 = 1.0

    def init(self) -> "SmoothL1Loss":
        """The loss.

        Raises:
            ArgumentError: a beta that is not finite and positive.
        """
        return SmoothL1Loss(check_positive("SmoothL1LossConfig", "beta", self.beta))


class SmoothL1Loss(Module):
    """``e² / (2 beta)`` below ``|e| = beta``, then ``|e| - beta / 2``. Mirrors `burn::nn::loss::SmoothL1Loss`.

    Here e is ``predictions - targets``. The call gives the loss of every element.

    >>> from burn.nn.loss import Reduction
    >>> x, y, loss = Tensor([[0.5, 3.0]]), Tensor([[0.0, 0.0]]), SmoothL1Loss()
    >>> loss.forward(x, y).tolist(), loss.forward_with_reduction(x, y, Reduction.Sum).tolist()
    ([[0.125, 2.5]], [2.625])
    >>> loss.forward_reduce_dims(x, y, [1]).tolist()
    [[1.3125]]
    """

    beta: float

    def __init__(self, beta: float = 1.0):
        self.beta = beta

    def forward(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """The loss of every element.

        # Shapes

        - predictions: Float, any shape
        - targets: the same shape; nothing is broadcast
        - output: the same shape
        """
        check_alike("SmoothL1Loss", predictions=predictions, targets=targets)
        return huber(predictions, targets, self.beta, self.beta)

    def forward_with_reduction(self, predictions: Tensor, targets: Tensor, reduction: Reduction) -> Tensor:
        """The reduced loss.

        Args:
            reduction: Mean (Auto) or Sum.

        # Shapes

        - predictions: Float, any shape
        - targets: the same shape; nothing is broadcast
        - output: [1]
        """
        check_alike("SmoothL1Loss", predictions=predictions, targets=targets)
        numbers = huber_numbers(self.beta, self.beta)
        return reduce_error("SmoothL1Loss", error_huber, predictions, targets, numbers, reduction)

    def forward_reduce_dims(self, predictions: Tensor, targets: Tensor, dims: list[int]) -> Tensor:
        """The mean over some axes, which are kept; without axes the loss of every element.

        Args:
            dims: the axes; negative ones count from the end.

        # Shapes

        - predictions: Float, any shape
        - targets: the same shape; nothing is broadcast
        - output: 1 along the axes
        """
        return self.forward(predictions, targets).mean_dims(dims)

    def custom_content(self, content):
        return content.add("beta", self.beta)
