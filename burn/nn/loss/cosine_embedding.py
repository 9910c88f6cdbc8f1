"""Angles that are to be small, or large."""

from burn._arguments import finite
from burn.config import F32, Config
from burn.errors import ShapeError
from burn.linalg import cosine_similarity
from burn.tensor import Tensor
from burn.tensor.activation import relu

from .._checks import check_alike, check_int, check_rank
from .._printed import Printed
from ._signs import check_signs
from .reduction import Reduction, check_reduction, reduce


class CosineEmbeddingLossConfig(Config):
    """Configuration of `CosineEmbeddingLoss`. Mirrors `burn::nn::loss::CosineEmbeddingLossConfig`.

    Args:
        margin: up to which cosine the different ones are far enough.
        reduction: Mean (Auto) or Sum.

    >>> CosineEmbeddingLossConfig(margin=0.5).init()
    CosineEmbeddingLoss {margin: 0.5, reduction: Mean}
    """

    margin: F32 = 0.0
    reduction: Reduction = Reduction.Mean

    def init(self) -> "CosineEmbeddingLoss":
        """The loss.

        Raises:
            ArgumentError: a margin that is not finite, a reduction that the loss does not have.
        """
        check_reduction("CosineEmbeddingLossConfig", self.reduction)
        return CosineEmbeddingLoss(finite("CosineEmbeddingLossConfig", "margin", self.margin), self.reduction)


class CosineEmbeddingLoss(Printed):
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1. Mirrors `burn::nn::loss::CosineEmbeddingLoss`.

    The cosine with a zero vector is 0, and so is its gradient. Other targets raise (Burn gives them the loss 0).

    >>> first, second, target = Tensor([[1.0, 0.0], [1.0, 0.0]]), Tensor([[1.0, 0.0], [0.0, 2.0]]), Tensor([-1, 1])
    >>> loss = CosineEmbeddingLoss()
    >>> loss.forward(first, second, target).tolist(), loss.forward_no_reduction(first, second, target).tolist()
    ([1.0], [1.0, 1.0])
    """

    margin: float
    reduction: Reduction

    def __init__(self, margin: float = 0.0, reduction: Reduction = Reduction.Mean):
        self.margin = margin
        self.reduction = reduction

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """The loss, reduced as the config says.

        # Shapes

        - input1: Float [batch, features]
        - input2: the same shape; nothing is broadcast
        - target: Int [batch]; 1 or -1
        - output: [1]

        Raises:
            ArgumentError: a target that is neither 1 nor -1.
        """
        return reduce("CosineEmbeddingLoss", self.forward_no_reduction(input1, input2, target), self.reduction)

    def forward_no_reduction(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """The loss of every pair of rows. The targets are looked at, so this waits for the device.

        # Shapes

        - input1: Float [batch, features]
        - input2: the same shape; nothing is broadcast
        - target: Int [batch]; 1 or -1
        - output: [batch]

        Raises:
            ArgumentError: a target that is neither 1 nor -1.
        """
        check_alike("CosineEmbeddingLoss", input1=input1, input2=input2)
        check_rank("CosineEmbeddingLoss", input1, "input1", "batch, features")
        check_int("CosineEmbeddingLoss", target, "target", input1)
        if target._dims != input1._dims[:1]:
            raise ShapeError(
                f"[CosineEmbeddingLoss] 'target' must be [batch] with batch = {input1.shape[0]} as in input1, "
                f"got shape {target.dims()}"
            )
        alike = check_signs("CosineEmbeddingLoss", target)
        cosine = cosine_similarity(input1, input2, 1).squeeze_dim(1)
        return relu(cosine - self.margin).mask_where(alike, 1.0 - cosine)
