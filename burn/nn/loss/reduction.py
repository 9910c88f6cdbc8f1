"""How element losses become one number."""

import enum

from burn._arguments import shown
from burn.errors import ArgumentError
from burn.tensor import DType, Tensor


class Reduction(enum.Enum):
    """How a loss sums up its elements. Mirrors `burn::nn::loss::Reduction`.

    ``Mean`` divides by the number of elements, ``BatchMean`` by the size of the first axis; ``Auto`` is what suits
    the loss: ``Mean``, except for the Kullback-Leibler divergence.
    """

    Mean = "Mean"
    Sum = "Sum"
    BatchMean = "BatchMean"
    Auto = "Auto"


_MEAN, _SUM = Reduction.Mean, Reduction.Sum  # looking a member up takes as long as a small sum


def check_reduction(loss: str, reduction: Reduction, auto: Reduction = _MEAN) -> Reduction:
    """The reduction, with ``auto`` in the place of Auto; BatchMean is only for losses where it is that.

    Raises:
        ArgumentError: ``BatchMean``, or something that is no Reduction.
    """
    if reduction is _MEAN or reduction is _SUM or reduction is auto:
        return reduction
    if reduction is Reduction.Auto:
        return auto
    names = "Mean, Sum, BatchMean" if auto is Reduction.BatchMean else "Mean, Sum"
    raise ArgumentError(f"[{loss}] 'reduction' must be Reduction.{names} or Auto, got {shown(reduction)}")


def reduce(loss: str, elements: Tensor, reduction: Reduction, auto: Reduction = _MEAN) -> Tensor:
    """The mean or the sum of element losses.

    # Shapes

    - elements: any shape
    - output: [1]

    Raises:
        ArgumentError: a reduction that the loss does not have.
    """
    reduction = check_reduction(loss, reduction, auto)
    if reduction is _MEAN:
        return elements.mean()
    if reduction is _SUM:
        return elements.sum()
    return (wide(elements).sum() / float(elements.shape[0])).cast(elements.dtype)


def wide(x: Tensor) -> Tensor:
    """Half precision in f32: a sum that is still to be divided must not overflow."""
    return x.cast(DType.F32) if x.dtype.size == 2 else x


def reduce_error(
    loss: str, error, x: Tensor, y: Tensor, numbers: tuple, reduction: Reduction, auto: Reduction = _MEAN
) -> Tensor:
    """The mean or the sum of `error(x, y, *numbers)`, which is made only where something else needs it.

    # Shapes

    - x, y: any shape
    - output: [1]

    Raises:
        ArgumentError: a reduction that the loss does not have.
    """
    reduction = check_reduction(loss, reduction, auto)
    over = float(x._size) if reduction is _MEAN else 1.0 if reduction is _SUM else float(x.shape[0])
    out = error.sum(x, y, over, *numbers)
    return reduce(loss, error(x, y, *numbers), reduction, auto) if out is None else out
