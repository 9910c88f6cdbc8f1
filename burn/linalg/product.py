"""Products and diagonals of matrices and vectors."""

from typing import TYPE_CHECKING

from burn._ops import elementwise as ew
from burn._ops import matmul, movement, norm
from burn._ops import reduce as rd
from burn._ops.registry import FLOAT, NUMERIC, broadcast, check_kind, check_same, check_tensor, number
from burn.errors import ShapeError
from burn.tensor._calls import teach_functions
from burn.tensor.shape import axis_of

if TYPE_CHECKING:
    from burn.tensor import Tensor

__all__ = ["cosine_similarity", "diag", "matvec", "outer", "outer_dim", "trace"]


def diag(x) -> "Tensor":
    """The main diagonals of matrices: [..., m, n] to [..., min(m, n)]. Mirrors `diag`.

    Args:
        x: tensor of at least two axes.

    Returns:
        Tensor with one axis less (a view).

    >>> diag(Tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [1.0, 4.0]
    """
    return movement.diagonal(_matrices("diag", x))


def trace(x) -> "Tensor":
    """Sums of the main diagonals: [..., m, n] to [..., 1]. Mirrors `trace`.

    Args:
        x: Float or Int tensor of at least two axes.

    Returns:
        Tensor [..., 1].

    >>> trace(Tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [5.0]
    """
    check_kind("trace", _matrices("trace", x), NUMERIC, "x")
    return rd.sum_(movement.diagonal(x), x.ndim - 2)


def matvec(matrix, vector) -> "Tensor":
    """Products of matrices [..., m, n] and vectors [..., n], as [..., m]; leading axes broadcast. Mirrors `matvec`.

    Args:
        matrix: Float or Int tensor [..., m, n].
        vector: tensor [..., n] of the same dtype.

    Returns:
        Tensor [..., m].

    Raises:
        ShapeError: the vector's rank is not one less, or sizes do not fit.

    >>> matvec(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([1.0, 10.0])).tolist()
    [21.0, 43.0]
    """
    check_kind("matvec", _matrices("matvec", matrix, "matrix"), NUMERIC, "matrix")
    check_same("matvec", matrix, check_tensor("matvec", vector, "vector"), "vector")
    a, b = matrix._dims, vector._dims
    if len(b) != len(a) - 1 or b[-1] != a[-1]:
        raise ShapeError(
            f"[matvec] 'vector' must have shape [..., {a[-1]}] and rank {len(a) - 1} for a matrix of shape {list(a)}, got "
            f"{list(b)}"
        )
    broadcast("matvec", a[:-2], b[:-1], "vector")
    product = matmul.matmul(matrix, movement.reshape(vector, (*b, 1)))
    return movement.reshape(product, product._dims[:-1])


def outer(lhs, rhs) -> "Tensor":
    """Products of all pairs: [..., i] and [..., j] to [..., i, j]; other axes broadcast. Mirrors `outer`.

    Args:
        lhs: Float or Int tensor [..., i].
        rhs: tensor [..., j] of the same rank and dtype.

    Returns:
        Tensor [..., i, j].

    >>> outer(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])).tolist()
    [[3.0, 4.0], [6.0, 8.0]]
    """
    return _outer("outer", lhs, rhs, -1)


def outer_dim(lhs, rhs, dim) -> "Tensor":
    """Products of all pairs along an axis, which becomes two: that of lhs, then that of rhs. Mirrors `outer_dim`.

    Args:
        lhs: Float or Int tensor.
        rhs: tensor of the same rank and dtype; axes other than dim broadcast.
        dim: the axis; negative counts from the end.

    Returns:
        Tensor with one axis more.

    >>> outer_dim(Tensor([[1, 2]]), Tensor([[3, 4]]), 1).shape
    [1, 2, 2]
    """
    return _outer("outer_dim", lhs, rhs, dim)


def _outer(op, lhs, rhs, dim):
    check_kind(op, check_tensor(op, lhs, "lhs"), NUMERIC, "lhs")
    check_same(op, lhs, check_tensor(op, rhs, "rhs"), "rhs")
    if lhs.ndim != rhs.ndim:
        raise ShapeError(f"[{op}] 'rhs' must have rank {lhs.ndim} like 'lhs', got shapes {lhs.dims()} and {rhs.dims()}")
    axis = axis_of(dim, lhs.ndim, op)
    a, b = (*lhs._dims[: axis + 1], 1, *lhs._dims[axis + 1 :]), (*rhs._dims[:axis], 1, *rhs._dims[axis:])
    broadcast(op, a, b, "rhs")
    return ew.mul(movement.reshape(lhs, a), movement.reshape(rhs, b))


def cosine_similarity(x1, x2, dim, eps=None) -> "Tensor":
    """Cosine of the angles between vectors along an axis, kept with size 1. Mirrors `cosine_similarity`.

    Args:
        x1, x2: Float tensors of one rank and dtype.
        dim: the axis; negative counts from the end.
        eps: norms count as at least this much; the smallest normal number of the dtype if None. A zero vector gives 0,
            without eps with the gradient 0.

    Returns:
        Tensor with the broadcast shape and size 1 on the axis.

    >>> cosine_similarity(Tensor([[1.0, 0.0]]), Tensor([[1.0, 1.0]]), 1).tolist()
    [[0.7071...]]
    """
    op = "cosine_similarity"
    check_kind(op, check_tensor(op, x1, "x1"), FLOAT, "x1")
    check_same(op, x1, check_tensor(op, x2, "x2"), "x2")
    broadcast(op, x1._dims, x2._dims, "x2")
    axis = axis_of(dim, x1.ndim, op)
    low = _TINY.get(x1.dtype.name, 2.0**-126) if eps is None else number(op, x1, eps, "eps")[0]
    return norm.cosine_similarity(x1, x2, axis, low, eps is None)


_TINY = {"f64": 2.0**-1022, "f16": 2.0**-14}  # of the others 2^-126


def _matrices(op, x, name="x"):
    if check_tensor(op, x, name).ndim < 2:
        raise ShapeError(f"[{op}] '{name}' must have at least two axes, got shape {list(x._dims)}")
    return x


teach_functions(globals())
