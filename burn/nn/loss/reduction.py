"""How element losses become one number."""

import enum

from burn._arguments import shown
from burn.errors import ArgumentError
from burn.tensor import Tensor


class Reduction(enum.Enum):
    """How a loss sums up its elements. Mirrors `burn::nn::loss::Reduction`.

    ``Mean`` divides by the number of elements, ``BatchMean`` by the size of the first axis; ``Auto`` is what suits
    the loss: ``Mean``, except for the Kullback-Leibler divergence.
    """

    Mean = "Mean"
    Sum = "Sum"
    BatchMean = "BatchMean"
    Auto = "Auto"


def reduce(loss: str, elements: Tensor, reduction: Reduction) -> Tensor:
    """The mean or the sum of element losses.

    # Shapes

    - elements: any shape
    - output: [1]

    Raises:
        ArgumentError: ``BatchMean``, or something that is no Reduction.
    """
    if reduction is Reduction.Mean or reduction is Reduction.Auto:
        return elements.mean()
    if reduction is Reduction.Sum:
        return elements.sum()
    raise ArgumentError(f"[{loss}] 'reduction' must be Reduction.Mean, Sum or Auto, got {shown(reduction)}")
