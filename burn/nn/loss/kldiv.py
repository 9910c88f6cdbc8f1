"""The Kullback-Leibler divergence."""

from burn._ops.elementwise import kl_term
from burn.config import Config
from burn.tensor import Tensor

from .._checks import check_alike
from .._printed import Printed
from .reduction import Reduction, reduce_error


class KLDivLossConfig(Config):
    """Configuration of `KLDivLoss`. Mirrors `burn::nn::loss::KLDivLossConfig`.

    Args:
        log_target: whether the targets are logarithms of probabilities, too.

    >>> KLDivLossConfig(log_target=True).init()
    KLDivLoss {log_target: true}
    """

    log_target: bool = False

    def init(self) -> "KLDivLoss":
        """The loss."""
        return KLDivLoss(self.log_target)


class KLDivLoss(Printed):
    """``t (log t - p)`` for logarithms p of probabilities, and targets t. Mirrors `burn::nn::loss::KLDivLoss`.

    A target of probability 0 adds nothing, whatever the prediction, and has the gradient 0. The reduction ``Auto`` is
    ``BatchMean``: the sum divided by the size of the first axis. (Burn limits targets to 1 inside the logarithm.)

    >>> from burn.nn.loss import Reduction
    >>> p, t = Tensor([[0.5, 0.5]]).log(), Tensor([[1.0, 0.0]])
    >>> KLDivLoss().forward(p, t, Reduction.BatchMean).tolist(), KLDivLoss().forward_no_reduction(p, t).tolist()
    ([0.6931...], [[0.6931..., 0.0]])
    """

    log_target: bool

    def __init__(self, log_target: bool = False):
        self.log_target = log_target

    def forward(self, predictions: Tensor, targets: Tensor, reduction: Reduction) -> Tensor:
        """The reduced loss.

        Args:
            reduction: BatchMean (Auto), Mean or Sum.

        # Shapes

        - predictions: Float [batch, ...], logarithms of probabilities
        - targets: the same shape; probabilities, or their logarithms if the config says so
        - output: [1]
        """
        check_alike("KLDivLoss", predictions=predictions, targets=targets)
        numbers = (float(self.log_target),)
        return reduce_error("KLDivLoss", kl_term, predictions, targets, numbers, reduction, Reduction.BatchMean)

    def forward_no_reduction(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """The terms of the sum.

        # Shapes

        - predictions: Float [batch, ...], logarithms of probabilities
        - targets: the same shape; probabilities, or their logarithms if the config says so
        - output: the same shape
        """
        check_alike("KLDivLoss", predictions=predictions, targets=targets)
        return kl_term(predictions, targets, float(self.log_target))
