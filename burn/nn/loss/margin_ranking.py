"""Which of two is the larger one."""

from burn.config import Config
from burn.tensor import Tensor
from burn.tensor.activation import relu

from .._checks import check_alike, check_margin
from .._printed import Printed
from .reduction import Reduction, reduce


class MarginRankingLossConfig(Config):
    """Configuration of `MarginRankingLoss`. Mirrors `burn::nn::loss::MarginRankingLossConfig`.

    Args:
        margin: by how much the larger one must exceed the other.

    >>> MarginRankingLossConfig(margin=0.5).init()
    MarginRankingLoss {margin: 0.5}
    """

    margin: float = 0.0

    def init(self) -> "MarginRankingLoss":
        """The loss.

        Raises:
            ArgumentError: a margin that is negative or not finite.
        """
        return MarginRankingLoss(check_margin("MarginRankingLossConfig", "margin", self.margin))


class MarginRankingLoss(Printed):
    """``max(0, margin - target (first - second))``. Mirrors `burn::nn::loss::MarginRankingLoss`.

    A target of 1 wants the first to be larger, -1 the second.

    >>> from burn.nn.loss import Reduction
    >>> first, second, target = Tensor([1.0, 3.0]), Tensor([2.0, 0.5]), Tensor([1.0, 1.0])
    >>> MarginRankingLoss(0.5).forward(first, second, target, Reduction.Sum).tolist()
    [1.5]
    >>> MarginRankingLoss(0.5).forward_no_reduction(first, second, target).tolist()
    [1.5, 0.0]
    """

    margin: float

    def __init__(self, margin: float = 0.0):
        self.margin = margin

    def forward(self, first: Tensor, second: Tensor, target: Tensor, reduction: Reduction) -> Tensor:
        """The reduced loss.

        Args:
            reduction: Mean (Auto) or Sum.

        # Shapes

        - first: Float, any shape
        - second: the same shape; nothing is broadcast
        - target: Float, the same shape; 1 or -1
        - output: [1]
        """
        return reduce("MarginRankingLoss", self.forward_no_reduction(first, second, target), reduction)

    def forward_no_reduction(self, first: Tensor, second: Tensor, target: Tensor) -> Tensor:
        """The loss of every element.

        # Shapes

        - first: Float, any shape
        - second: the same shape; nothing is broadcast
        - target: Float, the same shape; 1 or -1
        - output: the same shape
        """
        check_alike("MarginRankingLoss", first=first, second=second, target=target)
        return relu(self.margin - target * (first - second))
