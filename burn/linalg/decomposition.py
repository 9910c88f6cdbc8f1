"""Decompositions and determinants. They are computed on the host, by LAPACK."""

from typing import TYPE_CHECKING

from burn._arguments import truth
from burn._ops import elementwise as ew
from burn._ops import linalg, movement
from burn._ops.registry import FLOAT, check_kind, check_tensor
from burn.errors import ArgumentError, ShapeError
from burn.tensor._calls import teach_functions
from burn.tensor.shape import int_of

if TYPE_CHECKING:
    from burn.tensor import Tensor

__all__ = ["det", "lu", "qr", "svd"]


def lu(x):
    """The factors of x = P L U by partial pivoting. Mirrors `lu`.

    Args:
        x: Float tensor [..., m, n]; k is min(m, n).

    Returns:
        (P, L, U): a permutation [..., m, m], a lower triangle [..., m, k] with ones on its diagonal, an upper triangle
        [..., k, n].

    >>> p, l, u = lu(Tensor([[4.0, 4.0], [8.0, 4.0]]))
    >>> l.tolist(), u.tolist()
    ([[1.0, 0.0], [0.5, 1.0]], [[8.0, 4.0], [0.0, 2.0]])
    """
    return linalg.lu(x)


def qr(x, reduced):
    """The factors of x = Q R, with orthonormal columns of Q and an upper triangle R. Mirrors `qr`.

    Every column is reflected, so the diagonal of R has the sign opposite to that of the pivots: of the identity both are -1.
    Columns of any size count; Burn takes those below 1e-8 for zero.

    Args:
        x: Float tensor [..., m, n].
        reduced: whether Q has n columns instead of m where there are more rows than columns.

    Returns:
        (Q, R): [..., m, n] and [..., n, n] if reduced and m > n, else [..., m, m] and [..., m, n].

    >>> x = Tensor([[3.0, 0.0], [4.0, 5.0]])
    >>> q, r = qr(x, True)
    >>> r.shape, q.matmul(r).all_close(x, atol=1e-5)
    ([2, 2], True)
    """
    return linalg.qr(x, truth("qr", "reduced", reduced))


def svd(x, sweeps):
    """The factors of x = U diag(S) Vt, S in descending order. Mirrors `svd`, whose own has no gradient.

    Singular vectors that the matrix leaves open, those of equal singular values, get no gradient from each other.

    Args:
        x: Float tensor [..., m, n]; k is min(m, n).
        sweeps: Burn's limit of iterations, at least 1; LAPACK chooses its own.

    Returns:
        (U, S, Vt): [..., m, k], [..., k] and [..., k, n].

    >>> u, s, vt = svd(Tensor([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]]), 10)
    >>> u.shape, s.tolist(), vt.shape
    ([3, 2], [3.0, 2.0], [2, 2])
    """
    if int_of("svd", "sweeps", sweeps) < 1:
        raise ArgumentError(f"[svd] 'sweeps' must be at least 1, got {sweeps}")
    return linalg.svd(x)


def det(x) -> "Tensor":
    """Determinants: [..., n, n] to [...]. Badly scaled matrices have theirs too, where Burn gives 0. Mirrors `det`.

    Args:
        x: Float tensor with at least three axes; add one to a single matrix with unsqueeze_dim(0).

    Returns:
        Tensor without the last two axes.

    Raises:
        ShapeError: fewer axes, or matrices that are not square.

    >>> det(Tensor([[[1.0, 2.0], [3.0, 5.0]]])).tolist()
    [-1.0]
    """
    check_kind("det", check_tensor("det", x, "x"), FLOAT, "x")
    if x.ndim < 3 or x._dims[-1] != x._dims[-2]:
        raise ShapeError(
            f"[det] 'x' must be square matrices with at least one axis before, [..., n, n], got shape {list(x._dims)}; use "
            "unsqueeze_dim(0) for a single one"
        )
    n, batch = x._dims[-1], x._dims[:-2]
    if not 1 <= n <= 3:
        return linalg.det(x)
    rows = [[_entry(x, i, j) for j in range(n)] for i in range(n)]
    if n == 1:
        return rows[0][0]
    if n == 2:
        return _minor(*rows[0], *rows[1])
    total = None
    for j, sign in ((0, 1), (1, -1), (2, 1)):
        a, b = (k for k in range(3) if k != j)
        term = ew.mul(rows[0][j], _minor(rows[1][a], rows[1][b], rows[2][a], rows[2][b]))
        total = term if total is None else ew.add(total, term) if sign > 0 else ew.sub(total, term)
    return movement.reshape(total, batch)


def _entry(x, i, j):
    """The element at (i, j) of each matrix."""
    steps, sizes = (1,) * x.ndim, (*x._dims[:-2], 1, 1)
    return movement.reshape(movement.slice_view(x, (*[0] * (x.ndim - 2), i, j), steps, sizes), x._dims[:-2])


def _minor(a, b, c, d):
    return ew.sub(ew.mul(a, d), ew.mul(b, c))


teach_functions(globals())
