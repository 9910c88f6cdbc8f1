"""The loss of recurrent transducers."""

from burn._arguments import integer
from burn._ops.loss import rnnt_loss
from burn.config import Config
from burn.module import Module
from burn.tensor import Tensor

from .._checks import named
from .reduction import Reduction, reduce


class RNNTLossConfig(Config):
    """Configuration of `RNNTLoss`. Mirrors `burn::nn::loss::RNNTLossConfig`.

    Attributes:
        blank: the class that ends a step.
        logits: whether the input holds logits, or logarithms of probabilities.

    >>> RNNTLossConfig(logits=False).init()
    RNNTLoss {
      blank: 0
      logits: false
    }
    """

    blank: int = 0
    logits: bool = True

    def init(self) -> "RNNTLoss":
        """The loss.

        Raises:
            ArgumentError: a negative blank.
        """
        return RNNTLoss(integer("RNNTLossConfig", "blank", self.blank, 0), self.logits)


class RNNTLoss(Module):
    """Minus the logarithm of a target's probability over all paths of a transducer. Mirrors `burn::nn::loss::RNNTLoss`.

    A path emits any number of labels at a step, then the blank, which ends the step; the last blank ends the path.
    Of logits the log-softmax over the classes is taken, without storing it.

    >>> logits = Tensor.zeros([1, 2, 2, 2])
    >>> RNNTLoss().forward(logits, Tensor([[1]]), Tensor([2]), Tensor([1])).tolist()
    [1.386...]
    """

    blank: int
    logits: bool

    def __init__(self, blank=0, logits=True):
        self.blank = blank
        self.logits = logits

    def forward(self, logits: Tensor, targets: Tensor, logit_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        """The loss of each sample.

        # Shapes

        - logits: Float [batch, steps, length + 1, classes]; row u is what follows the first u labels
        - targets: Int [batch, length]; what lies behind a target's length is not looked at
        - logit_lengths: Int [batch]; from 1 to steps
        - target_lengths: Int [batch]; from 0 to length
        - output: [batch]

        Raises:
            OutOfBoundsError: a length or a target out of range; the message names it.
        """
        return named("RNNTLoss", rnnt_loss, logits, targets, logit_lengths, target_lengths, self.blank, self.logits)

    def forward_with_reduction(
        self, logits: Tensor, targets: Tensor, logit_lengths: Tensor, target_lengths: Tensor, reduction: Reduction
    ) -> Tensor:
        """The sum of the losses, or their mean over the batch.

        # Shapes

        - logits: Float [batch, steps, length + 1, classes]
        - targets: Int [batch, length]
        - logit_lengths, target_lengths: Int [batch]
        - output: [1]

        Args:
            logits: logits, or logarithms of probabilities if the config says so.
            targets: classes of the labels.
            logit_lengths: how many steps of each sample count.
            target_lengths: how many labels each sample has.
            reduction: Mean (Auto) or Sum.

        >>> logits, lengths = Tensor.zeros([2, 2, 2, 2]), (Tensor([2, 2]), Tensor([1, 1]))
        >>> RNNTLoss().forward_with_reduction(logits, Tensor([[1], [1]]), *lengths, Reduction.Sum).tolist()
        [2.772...]
        """
        return reduce("RNNTLoss", self.forward(logits, targets, logit_lengths, target_lengths), reduction)
