"""Nearer to one than to another."""

import math

from burn._arguments import finite
from burn.config import Config
from burn.errors import ArgumentError
from burn.tensor import Tensor
from burn.tensor.activation import relu

from .._checks import check_alike, check_rank
from .._printed import Printed
from ..distance import distance
from .reduction import Reduction, reduce


class TripletMarginLossConfig(Config):
    """Configuration of `TripletMarginLoss`. Mirrors `burn::nn::loss::TripletMarginLossConfig`.

    Args:
        margin: by how much the positive one must be nearer.
        p: number of the norm that measures distances.

    >>> TripletMarginLossConfig(margin=0.5).init()
    TripletMarginLoss {margin: 0.5, p: 2}
    """

    margin: float = 1.0
    p: float = 2.0

    def init(self) -> "TripletMarginLoss":
        """The loss.

        Raises:
            ArgumentError: a margin that is not finite, a norm that is NaN.
        """
        if math.isnan(self.p):
            raise ArgumentError(f"[TripletMarginLossConfig] 'p' must be the number of a norm, got {self.p}")
        return TripletMarginLoss(finite("TripletMarginLossConfig", "margin", self.margin), self.p)


class TripletMarginLoss(Printed):
    """``max(0, |anchor - positive| - |anchor - negative| + margin)``. Mirrors `burn::nn::loss::TripletMarginLoss`.

    Distances are p-norms of whole rows; a distance of 0 has the gradient 0.

    >>> from burn.nn.loss import Reduction
    >>> anchor, positive, negative = Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0]]), Tensor([[2.0, 0.0]])
    >>> TripletMarginLoss().forward(anchor, positive, negative, Reduction.Mean).tolist()
    [4.0]
    >>> TripletMarginLoss(10.0).forward_no_reduction(anchor, positive, negative).tolist()
    [13.0]
    """

    margin: float
    p: float

    def __init__(self, margin: float = 1.0, p: float = 2.0):
        self.margin = margin
        self.p = p

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor, reduction: Reduction) -> Tensor:
        """The reduced loss.

        Args:
            reduction: Mean (Auto) or Sum.

        # Shapes

        - anchor: Float [batch, features]
        - positive: the same shape; nothing is broadcast
        - negative: the same shape
        - output: [1]
        """
        return reduce("TripletMarginLoss", self.forward_no_reduction(anchor, positive, negative), reduction)

    def forward_no_reduction(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """The loss of every row.

        # Shapes

        - anchor: Float [batch, features]
        - positive: the same shape; nothing is broadcast
        - negative: the same shape
        - output: [batch]
        """
        check_alike("TripletMarginLoss", anchor=anchor, positive=positive, negative=negative)
        check_rank("TripletMarginLoss", anchor, "anchor", "batch, features")
        near, far = (distance(anchor, other, self.p) for other in (positive, negative))
        return relu(near - far + self.margin).squeeze_dim(1)
