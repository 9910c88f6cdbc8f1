"""Products with a table of weights."""

from typing import TYPE_CHECKING

from burn._core import core
from burn._ops import index, matmul, movement
from burn._ops.movement import reshape
from burn._ops.registry import check_tensor
from burn.errors import ShapeError
from burn.tensor._calls import compiled

if TYPE_CHECKING:
    from burn.tensor import Tensor

__all__ = ["embedding", "linear"]


@compiled(core.linear, (matmul._linear, movement._reshape))
def linear(input, weight, bias=None) -> "Tensor":
    """input @ weight + bias over the last axis. Mirrors `linear`.

    Args:
        input: [..., d_input].
        weight: [d_input, d_output].
        bias: [d_output] or None.

    Returns:
        Tensor [..., d_output].

    Raises:
        ShapeError: sizes that do not fit.

    >>> linear(Tensor([[1.0, 2.0]]), Tensor([[1.0], [10.0]]), Tensor([100.0])).tolist()
    [[121.0]]
    """
    return matmul.linear(input, weight, bias)


def embedding(weights, indices) -> "Tensor":
    """Rows of a table. Mirrors `embedding`.

    Args:
        weights: [n_embedding, d_model].
        indices: Int tensor [batch, length].

    Returns:
        Tensor [batch, length, d_model].

    Raises:
        IndexError: an index outside 0..n_embedding - 1.

    >>> embedding(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[1, 0, 1]])).tolist()
    [[[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]]]
    """
    if check_tensor("embedding", weights, "weights").ndim != 2:
        raise ShapeError(f"[embedding] 'weights' must be [n_embedding, d_model], got shape {weights.dims()}")
    if check_tensor("embedding", indices, "indices").ndim != 2:
        raise ShapeError(f"[embedding] 'indices' must be [batch, length], got shape {indices.dims()}")
    rows = index.select(weights, 0, reshape(indices, (indices._size,)))
    return reshape(rows, (*indices._dims, weights._dims[1]))
