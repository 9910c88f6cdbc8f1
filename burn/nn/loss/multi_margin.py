"""The target's score above all others."""

from burn._ops.index import check_indices
from burn._ops.loss import multi_margin_loss, no_class
from burn.config import Config
from burn.errors import ArgumentError, ShapeError
from burn.tensor import Tensor

from .._checks import check_float, check_int, check_margin, check_rank
from .._printed import Printed
from .reduction import Reduction, reduce

_NO_CLASS = no_class("MultiMarginLoss", "target")


class MultiMarginLossConfig(Config):
    """Configuration of `MultiMarginLoss`. Mirrors `burn::nn::loss::MultiMarginLossConfig`.

    Args:
        margin: by how much the target's score must exceed the others.
        p: power of what is lacking, 1 or 2.

    >>> MultiMarginLossConfig(margin=0.5).init()
    MultiMarginLoss {margin: 0.5, p: 1}
    """

    margin: float = 1.0
    p: int = 1

    def init(self) -> "MultiMarginLoss":
        """The loss.

        Raises:
            ArgumentError: a margin that is negative or not finite, a power that is neither 1 nor 2.
        """
        if self.p not in (1, 2):
            raise ArgumentError(f"[MultiMarginLossConfig] 'p' must be 1 or 2, got {self.p}")
        return MultiMarginLoss(check_margin("MultiMarginLossConfig", "margin", self.margin), self.p)


class MultiMarginLoss(Printed):
    """``sum over i of max(0, margin - x[y] + x[i])^p / classes`` without i = y. Mirrors `burn::nn::loss::MultiMarginLoss`.

    >>> from burn.nn.loss import Reduction
    >>> x, y, loss = Tensor([[0.1, 0.2, 0.7], [3.0, 0.0, 0.0]]), Tensor([2, 0]), MultiMarginLoss()
    >>> loss.forward(x, y, Reduction.Sum).tolist(), loss.forward_no_reduction(x, y).tolist()
    ([0.3...], [0.3..., 0.0])
    """

    margin: float
    p: int

    def __init__(self, margin: float = 1.0, p: int = 1):
        self.margin = margin
        self.p = p

    def forward(self, input: Tensor, target: Tensor, reduction: Reduction) -> Tensor:
        """The reduced loss.

        Args:
            reduction: Mean (Auto) or Sum.

        # Shapes

        - input: Float [batch, classes]
        - target: Int [batch]; class numbers
        - output: [1]

        Raises:
            OutOfBoundsError: a target that is no class; the message names it.
        """
        return reduce("MultiMarginLoss", self._rows(input, target), reduction)

    def forward_no_reduction(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of every row.

        # Shapes

        - input: Float [batch, classes]
        - target: Int [batch]; class numbers
        - output: [batch]

        Raises:
            OutOfBoundsError: a target that is no class; the message names it.
        """
        return self._rows(input, target)

    def _rows(self, input: Tensor, target: Tensor) -> Tensor:
        check_float("MultiMarginLoss", input, "input")
        check_int("MultiMarginLoss", target, "target", input)
        shape, batch = input._dims, target._dims
        if len(shape) != 2:
            check_rank("MultiMarginLoss", input, "input", "batch, classes")
        if batch != shape[:1]:
            raise ShapeError(
                f"[MultiMarginLoss] 'target' must be [batch] with batch = {shape[0]} as in input, got shape {list(batch)}"
            )
        target = check_indices("MultiMarginLoss", input, target, "target")
        return multi_margin_loss(input, target, self.margin, self.p, _NO_CLASS)
