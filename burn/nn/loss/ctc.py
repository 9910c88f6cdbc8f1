"""Connectionist temporal classification."""

from burn._arguments import integer
from burn.config import Config
from burn.module import Module
from burn.tensor import Tensor
from burn.tensor.module import ctc_loss

from .._checks import named
from .reduction import Reduction, reduce


class CTCLossConfig(Config):
    """Configuration of `CTCLoss`. Mirrors `burn::nn::loss::CTCLossConfig`.

    Attributes:
        blank: the class that stands for no label.
        zero_infinity: whether an infinite loss counts as 0.

    >>> CTCLossConfig(zero_infinity=True).init()
    CTCLoss {
      blank: 0
      zero_infinity: true
    }
    """

    blank: int = 0
    zero_infinity: bool = False

    def init(self) -> "CTCLoss":
        """The loss.

        Raises:
            ArgumentError: a negative blank.
        """
        return CTCLoss(integer("CTCLossConfig", "blank", self.blank, 0), self.zero_infinity)


class CTCLoss(Module):
    """Minus the logarithm of a target's probability over all its alignments with the input. Mirrors `burn::nn::loss::CTCLoss`.

    An alignment names a class for each step: the labels in order, each as often as it lasts, with blanks between them as
    it likes, but at least one between two equal labels. A target without an alignment has the loss inf (0 with
    `zero_infinity`) and a gradient of zero.

    >>> log_probs = Tensor([[[0.5, 0.5]], [[0.5, 0.5]]]).log()
    >>> CTCLoss().forward(log_probs, Tensor([[1]]), Tensor([2]), Tensor([1])).tolist()
    [0.2876...]
    """

    blank: int
    zero_infinity: bool

    def __init__(self, blank=0, zero_infinity=False):
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        """The loss of each sample.

        # Shapes

        - log_probs: Float [steps, batch, classes]; logarithms of probabilities, as `log_softmax` makes them
        - targets: Int [batch, length]; what lies behind a target's length is not looked at
        - input_lengths: Int [batch]; from 0 to steps
        - target_lengths: Int [batch]; from 0 to length
        - output: [batch]

        Raises:
            OutOfBoundsError: a length or a target out of range; the message names it.
        """
        loss = named("CTCLoss", ctc_loss, log_probs, targets, input_lengths, target_lengths, self.blank)
        return loss.mask_fill(loss.is_inf(), 0.0) if self.zero_infinity else loss

    def forward_with_reduction(
        self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, reduction: Reduction
    ) -> Tensor:
        """The reduced loss; its mean divides each loss by the length of the target, at least 1.

        # Shapes

        - log_probs: Float [steps, batch, classes]
        - targets: Int [batch, length]
        - input_lengths, target_lengths: Int [batch]
        - output: [1]

        Args:
            log_probs: logarithms of probabilities.
            targets: classes of the labels.
            input_lengths: how many steps of each sample count.
            target_lengths: how many labels each sample has.
            reduction: Mean (Auto) or Sum.

        >>> log_probs, lengths = Tensor([[[0.5, 0.5]], [[0.5, 0.5]]]).log(), (Tensor([2]), Tensor([1]))
        >>> CTCLoss().forward_with_reduction(log_probs, Tensor([[1]]), *lengths, Reduction.Mean).tolist()
        [0.2876...]
        """
        loss = self.forward(log_probs, targets, input_lengths, target_lengths)
        if reduction in (Reduction.Mean, Reduction.Auto):
            loss = loss / target_lengths.clamp_min(1).float().cast(loss.dtype)
        return reduce("CTCLoss", loss, reduction)
