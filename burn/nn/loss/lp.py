"""Powers of the error."""

from burn._ops.elementwise import error_power
from burn.config import Config
from burn.module import Module
from burn.tensor import Tensor

from .._checks import check_alike, check_positive
from .reduction import Reduction, reduce_error


class LpLossConfig(Config):
    """Configuration of `LpLoss`. Mirrors `burn::nn::loss::LpLossConfig`.

    Args:
        p: the power, above 0.

    >>> print(LpLossConfig(3.0).init())
    LpLoss {
      p: 3
    }
    >>> LpLossConfig.l1().p, LpLossConfig.l2().p
    (1.0, 2.0)
    """

    p: float

    def init(self) -> "LpLoss":
        """The loss.

        Raises:
            ArgumentError: a power that is not finite and positive.
        """
        return LpLoss(check_positive("LpLossConfig", "p", self.p))

    @classmethod
    def l1(cls) -> "LpLoss":
        """The loss of power 1, the absolute error."""
        return cls(1.0).init()

    @classmethod
    def l2(cls) -> "LpLoss":
        """The loss of power 2, the squared error."""
        return cls(2.0).init()


class LpLoss(Module):
    """``|predictions - targets| ** p``, without a root. Mirrors `burn::nn::loss::LpLoss`.

    The gradient of an error of 0 is 0, whatever the power.

    >>> from burn.nn.loss import Reduction
    >>> x, y, loss = Tensor([[1.0, 2.0]]), Tensor([[3.0, 5.0]]), LpLoss(3.0)
    >>> loss.forward(x, y, Reduction.Sum).tolist(), loss.forward_no_reduction(x, y).tolist()
    ([35.0], [[8.0, 27.0]])
    >>> loss.forward_reduce_dims(x, y, [1]).tolist()
    [[17.5]]
    """

    p: float

    def __init__(self, p: float):
        self.p = float(p)

    def forward(self, predictions: Tensor, targets: Tensor, reduction: Reduction) -> Tensor:
        """The reduced loss.

        Args:
            reduction: Mean (Auto) or Sum.

        # Shapes

        - predictions: Float, any shape
        - targets: the same shape; nothing is broadcast
        - output: [1]
        """
        check_alike("LpLoss", predictions=predictions, targets=targets)
        return reduce_error("LpLoss", error_power, predictions, targets, (self.p,), reduction)

    def forward_no_reduction(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """The loss of every element.

        # Shapes

        - predictions: Float, any shape
        - targets: the same shape; nothing is broadcast
        - output: the same shape
        """
        check_alike("LpLoss", predictions=predictions, targets=targets)
        return error_power(predictions, targets, self.p)

    def forward_reduce_dims(self, predictions: Tensor, targets: Tensor, dims: list[int]) -> Tensor:
        """The mean over some axes, which are kept; without axes the loss of every element.

        Args:
            dims: the axes; negative ones count from the end.

        # Shapes

        - predictions: Float, any shape
        - targets: the same shape; nothing is broadcast
        - output: 1 along the axes
        """
        return self.forward_no_reduction(predictions, targets).mean_dims(dims)

    def custom_content(self, content):
        return content.add("p", self.p)
