"""Distances that are to be small, or large."""

from burn._arguments import finite
from burn.config import Config
from burn.tensor import Tensor
from burn.tensor.activation import relu

from .._checks import check_alike
from .._printed import Printed
from ._signs import check_signs
from .reduction import Reduction, reduce


class HingeEmbeddingLossConfig(Config):
    """Configuration of `HingeEmbeddingLoss`. Mirrors `burn::nn::loss::HingeEmbeddingLossConfig`.

    Args:
        margin: from which distance on the different ones are far enough.

    >>> HingeEmbeddingLossConfig(margin=0.5).init()
    HingeEmbeddingLoss {margin: 0.5}
    """

    margin: float = 1.0

    def init(self) -> "HingeEmbeddingLoss":
        """The loss.

        Raises:
            ArgumentError: a margin that is not finite.
        """
        return HingeEmbeddingLoss(finite("HingeEmbeddingLossConfig", "margin", self.margin))


class HingeEmbeddingLoss(Printed):
    """The input where the target is 1, ``max(0, margin - input)`` where it is -1. Mirrors `burn::nn::loss::HingeEmbeddingLoss`.

    Other targets raise (Burn takes them for -1).

    >>> from burn.nn.loss import Reduction
    >>> x, y, loss = Tensor([0.5, 0.75]), Tensor([1.0, -1.0]), HingeEmbeddingLoss()
    >>> loss.forward(x, y, Reduction.Sum).tolist(), loss.forward_no_reduction(x, y).tolist()
    ([0.75], [0.5, 0.25])
    """

    margin: float

    def __init__(self, margin: float = 1.0):
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor, reduction: Reduction) -> Tensor:
        """The reduced loss.

        Args:
            reduction: Mean (Auto) or Sum.

        # Shapes

        - input: Float, any shape
        - target: Float, the same shape; 1 or -1
        - output: [1]

        Raises:
            ArgumentError: a target that is neither 1 nor -1.
        """
        return reduce("HingeEmbeddingLoss", self.forward_no_reduction(input, target), reduction)

    def forward_no_reduction(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of every element. The targets are looked at, so this waits for the device.

        # Shapes

        - input: Float, any shape
        - target: Float, the same shape; 1 or -1
        - output: the same shape

        Raises:
            ArgumentError: a target that is neither 1 nor -1.
        """
        check_alike("HingeEmbeddingLoss", input=input, target=target)
        positive = check_signs("HingeEmbeddingLoss", target)
        return relu(self.margin - input).mask_where(positive, input)
