"""How near the rows of two tensors are."""

import math

from burn._arguments import finite, integer
from burn._ops.norm import l2_distance
from burn.config import Config
from burn.errors import ArgumentError
from burn.linalg import cosine_similarity, vector_norm
from burn.tensor import Tensor

from ._checks import check_alike, check_margin, check_rank
from ._printed import Printed


class CosineSimilarityConfig(Config):
    """Configuration of `CosineSimilarity`. Mirrors `burn::nn::CosineSimilarityConfig`.

    Args:
        dim: the axis of the vectors; negative ones count from the end.
        eps: a norm counts as at least this much.

    >>> CosineSimilarityConfig(dim=-1, eps=0.5).init()
    CosineSimilarity {dim: -1, eps: 0.5}
    """

    dim: int = 1
    eps: float = 1e-8

    def init(self) -> "CosineSimilarity":
        """The layer.

        Raises:
            ArgumentError: an axis that a matrix does not have, an eps that is negative or not finite.
        """
        dim = integer("CosineSimilarityConfig", "dim", self.dim, -2, 1)
        return CosineSimilarity(dim, check_margin("CosineSimilarityConfig", "eps", self.eps))


class CosineSimilarity(Printed):
    """Cosines of the angles between the vectors of two matrices. Mirrors `burn::nn::CosineSimilarity`.

    Each vector is divided by its norm, or by `eps` where that is larger (or by the smallest normal number of the dtype),
    so the cosine with a zero vector is 0.

    >>> CosineSimilarity().forward(Tensor([[1.0, 0.0], [1.0, 1.0]]), Tensor([[1.0, 0.0], [0.0, 1.0]])).tolist()
    [1.0, 0.7071...]
    """

    dim: int
    eps: float

    def __init__(self, dim: int = 1, eps: float = 1e-8):
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - x1: Float [batch, features]
        - x2: the same shape; nothing is broadcast
        - output: one cosine for each vector: [batch], or [features] for dim 0
        """
        check_alike("CosineSimilarity", x1=x1, x2=x2)
        check_rank("CosineSimilarity", x1, "x1", "batch, features")
        return cosine_similarity(x1, x2, self.dim, max(self.eps, x1.dtype.finfo()[3])).squeeze_dim(self.dim)


class PairwiseDistanceConfig(Config):
    """Configuration of `PairwiseDistance`. Mirrors `burn::nn::PairwiseDistanceConfig`.

    Args:
        p: number of the norm: 0 counts what differs, infinity takes the largest difference.
        eps: added to each difference.

    >>> PairwiseDistanceConfig(eps=0.5).init()
    PairwiseDistance {p: 2, eps: 0.5}
    """

    p: float = 2.0
    eps: float = 1e-6

    def init(self) -> "PairwiseDistance":
        """The layer.

        Raises:
            ArgumentError: a norm that is NaN, an eps that is not finite.
        """
        if math.isnan(self.p):
            raise ArgumentError(f"[PairwiseDistanceConfig] 'p' must be the number of a norm, got {self.p}")
        return PairwiseDistance(self.p, finite("PairwiseDistanceConfig", "eps", self.eps))


class PairwiseDistance(Printed):
    """The p-norm of ``x1 - x2 + eps`` of each pair of rows. Mirrors `burn::nn::PairwiseDistance`.

    A distance of 0 has the gradient 0.

    >>> PairwiseDistance().forward(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[1.0, 1.0], [0.0, 0.0]])).tolist()
    [1.0..., 5.0...]
    """

    p: float
    eps: float

    def __init__(self, p: float = 2.0, eps: float = 1e-6):
        self.p = p
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - x1: Float [batch, features]
        - x2: the same shape; nothing is broadcast
        - output: [batch]
        """
        check_alike("PairwiseDistance", x1=x1, x2=x2)
        check_rank("PairwiseDistance", x1, "x1", "batch, features")
        return distance(x1, x2, self.p, self.eps).squeeze_dim(1)


def distance(x: Tensor, y: Tensor, p: float, eps: float = 0.0) -> Tensor:
    """The p-norms of the rows of x - y + eps. A distance of 0 has the gradient 0.

    # Shapes

    - x, y: Float [batch, features]
    - output: [batch, 1]
    """
    if p == 2:
        return l2_distance(x, y, eps)
    difference = x - y
    return vector_norm(difference + eps if eps else difference, p, 1)
