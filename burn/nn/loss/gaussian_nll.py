"""Normal distributions with predicted variances."""

import math

from burn.config import Config
from burn.tensor import Tensor

from .._checks import check_alike, check_positive
from .._printed import Printed
from .reduction import Reduction, reduce


class GaussianNLLLossConfig(Config):
    """Configuration of `GaussianNLLLoss`. Mirrors `burn::nn::loss::GaussianNLLLossConfig`.

    Args:
        eps: a variance counts as at least this much.
        full: whether the constant log(2 pi) / 2 is added.

    >>> GaussianNLLLossConfig(eps=0.5).init()
    GaussianNLLLoss {eps: 0.5, full: false}
    """

    eps: float = 1e-6
    full: bool = False

    def init(self) -> "GaussianNLLLoss":
        """The loss.

        Raises:
            ArgumentError: an eps that is not finite and positive.
        """
        return GaussianNLLLoss(check_positive("GaussianNLLLossConfig", "eps", self.eps), self.full)


class GaussianNLLLoss(Printed):
    """``(log v + (input - target)² / v) / 2`` with v the variance, at least eps. Mirrors `burn::nn::loss::GaussianNLLLoss`.

    A variance below eps, negative ones among them, counts as eps and has the gradient 0.

    >>> from burn.nn.loss import Reduction
    >>> mean, target, var = Tensor([1.0, 2.0]), Tensor([1.5, 1.0]), Tensor([0.5, 1.0])
    >>> GaussianNLLLoss().forward(mean, target, var, Reduction.Mean).tolist()
    [0.2017...]
    >>> GaussianNLLLoss().forward_no_reduction(mean, target, var).tolist()
    [-0.0965..., 0.5]
    """

    eps: float
    full: bool

    def __init__(self, eps: float = 1e-6, full: bool = False):
        self.eps = eps
        self.full = full

    def forward(self, input: Tensor, target: Tensor, var: Tensor, reduction: Reduction) -> Tensor:
        """The reduced loss.

        Args:
            reduction: Mean (Auto) or Sum.

        # Shapes

        - input: Float, any shape; the means
        - target: the same shape; nothing is broadcast
        - var: the same shape
        - output: [1]
        """
        return reduce("GaussianNLLLoss", self.forward_no_reduction(input, target, var), reduction)

    def forward_no_reduction(self, input: Tensor, target: Tensor, var: Tensor) -> Tensor:
        """The loss of every element.

        # Shapes

        - input: Float, any shape; the means
        - target: the same shape; nothing is broadcast
        - var: the same shape
        - output: the same shape
        """
        check_alike("GaussianNLLLoss", input=input, target=target, var=var)
        error, var = input - target, var.clamp_min(self.eps)
        loss = (var.log() + error * error / var) * 0.5
        return loss + 0.5 * math.log(2.0 * math.pi) if self.full else loss
