"""Decompositions of matrices, computed on the host by LAPACK through SciPy. The tape sees one step for each result."""

from collections.abc import Callable

import numpy as np

from burn._core import core
from burn._ops.registry import FLOAT, check_kind, check_tensor, define
from burn._ops.rule import python_rule
from burn.errors import ArgumentError, AutodiffError, ShapeError

# attrs: the name of the result's rule, then what it needs.
_step = define("linalg_step", "matmul", kinds=FLOAT)


def matrices(op, x, rank=2):
    """The matrices of a Float tensor as an array in f32 or f64."""
    check_kind(op, check_tensor(op, x, "x"), FLOAT, "x")
    if x.ndim < rank:
        raise ShapeError(f"[{op}] 'x' must have at least {rank} axes, got shape {list(x._dims)}; use unsqueeze()")
    values = core.cut(x, 0).numpy()
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float32)


def _tensor(values, x):
    """A tensor of host values with the dtype, device and autodiff association of x."""
    values = np.ascontiguousarray(values, x.dtype.numpy)
    data = values.view(np.uint8) if values.size else b""
    return core.from_buffer(data, values.shape, x._dtype, x._slot, x._ctx)


def _result(values, x, name, *data):
    out = _tensor(values, x)
    _step.record((x,), out, (name, *data))
    return out


def _each(function, *stacks):
    """Results of a function of matrices for each matrix of the stacks, stacked again."""
    batch = stacks[0].shape[:-2]
    flat = [s.reshape(-1, *s.shape[len(batch) :]) for s in stacks]
    rows = [function(*one) for one in zip(*flat, strict=True)]
    several = isinstance(rows[0], tuple)
    made = [np.stack(part) for part in zip(*rows, strict=True)] if several else [np.stack(rows)]
    made = [a.reshape(*batch, *a.shape[1:]) for a in made]
    return tuple(made) if several else made[0]


def _empty(x, *shapes):
    """Factors of no matrices, or of matrices without elements: zeros, with ones on the diagonal of square ones."""
    batch, made = x._dims[:-2], []
    for m, n, identity in shapes:
        one = np.eye(m, n) if identity else np.zeros((m, n))
        made.append(_tensor(np.broadcast_to(one, (*batch, m, n)), x))
    return tuple(made)


def lu(x):
    """(P, L, U) with x = P L U by partial pivoting."""
    a = matrices("lu", x)
    m, n = a.shape[-2:]
    if not a.size:
        return _empty(x, (m, m, True), (m, min(m, n), True), (min(m, n), n, False))
    import scipy.linalg

    p, lower, upper = _each(lambda one: scipy.linalg.lu(one, check_finite=False), a)
    return (
        _tensor(p, x),
        _result(lower, x, "lu lower", p, lower, upper),
        _result(upper, x, "lu upper", p, lower, upper),
    )


def qr(x, reduced):
    """(Q, R) by Householder reflections of every column: R has the sign opposite to each pivot on its diagonal."""
    a = matrices("qr", x)
    m, n = a.shape[-2:]
    k = n if reduced and m > n else m
    if not a.size:
        return _empty(x, (m, k, True), (k, n, False))
    q, r = _each(lambda one: _householder(one, k), a)
    return _result(q, x, "qr q", q, r), _result(r, x, "qr r", q, r)


def _householder(a, k):
    import scipy.linalg

    m, n = a.shape
    (packed, tau), _ = scipy.linalg.qr(a, mode="raw", check_finite=False)
    r = np.zeros((k, n), a.dtype)
    r[: min(m, n)] = np.triu(packed)[: min(m, n)]
    start = np.zeros((m, k), a.dtype, order="F")
    start[:, : min(m, n)] = packed[:, : min(m, n)]
    (orgqr,) = scipy.linalg.get_lapack_funcs(("orgqr",), (start,))
    q = orgqr(start, tau)[0]
    kept = np.flatnonzero((tau == 0) & (np.diagonal(r)[: len(tau)] != 0))  # LAPACK leaves finished columns alone
    q[:, kept] *= -1
    r[kept] *= -1
    return q, r


def svd(x):
    """(U, S, Vt), the singular values in descending order."""
    a = matrices("svd", x)
    m, n = a.shape[-2:]
    k = min(m, n)
    if not a.size:
        u, vt = _empty(x, (m, k, True), (k, n, True))
        return u, _tensor(np.zeros((*a.shape[:-2], k)), x), vt
    if not np.isfinite(a).all():
        raise ArgumentError("[svd] 'x' must hold finite numbers; mask NaN and infinities first")
    factors = np.linalg.svd(a, full_matrices=False)
    return tuple(_result(part, x, f"svd {name}", *factors) for name, part in zip("usv", factors, strict=True))


def det(x):
    """Determinants of matrices from their LU factors."""
    a = matrices("det", x)
    return _result(np.linalg.det(a), x, "det", a)


# Gradients by the input; g is that of the result.


def _solved(a, b, **how):
    """a^-1 b for a triangular matrix."""
    from scipy.linalg import LinAlgError, solve_triangular

    try:
        return solve_triangular(a, b, check_finite=False, **how)
    except LinAlgError:
        raise AutodiffError("[backward] a decomposition of a singular matrix has no gradient") from None


def _lu_bwd(p, lower, upper, to_lower, to_upper):
    m, n, k = len(lower), upper.shape[1], upper.shape[0]
    square, across = lower[:k], upper[:, :k]
    out = np.zeros((m, n), lower.dtype)
    to_l, to_u = to_lower[:k].copy(), to_upper[:, :k].copy()
    if n > k:  # the further columns are L U2
        out[:k, k:] = _solved(square, to_upper[:, k:], lower=True, unit_diagonal=True, trans=1)
        to_l -= out[:k, k:] @ upper[:, k:].T
    if m > k:  # the further rows are L2 U
        out[k:, :k] = _solved(across, to_lower[k:].T, trans=0).T
        to_u -= lower[k:].T @ out[k:, :k]
    middle = np.tril(square.T @ to_l, -1) + np.triu(to_u @ across.T)
    left = _solved(square, middle, lower=True, unit_diagonal=True, trans=1)
    out[:k, :k] = _solved(across, left.T, trans=0).T
    return p @ out


def _qr_bwd(q, r, to_q, to_r):
    m, k = q.shape
    n = r.shape[1]
    if k > n:
        return _reflections_bwd(q, r, to_q, np.triu(to_r))
    out = np.zeros((m, n), q.dtype)
    if n > k:  # the further columns are Q R2
        out[:, k:] = q @ to_r[:, k:]
        to_q = to_q + (q @ r[:, k:]) @ to_r[:, k:].T
    r, to_r = r[:, :k], to_r[:, :k]
    middle = r @ to_r.T - to_q.T @ q
    middle = np.tril(middle) + np.tril(middle, -1).T
    out[:, :k] = _solved(r, (to_q + q @ middle).T, trans=0).T
    return out


def _reflections_bwd(q, r, to_q, to_r):
    """Gradient of a full Q of more rows than columns: the further columns follow from the reflections that made the others.

    A reflection is its own inverse, so that each one is undone to find what it was made from.
    """
    n = r.shape[1]
    q, r, to_q, to_r = q.copy(), r.copy(), to_q.copy(), to_r.copy()
    vectors = _reflection_vectors(q, r)
    for j in reversed(range(n)):
        v, scale = vectors[j]
        rows, columns, to_rows, to_columns = r[j:, j:], q[:, j:], to_r[j:, j:], to_q[:, j:]
        length = rows[0, 0]
        rows -= scale * np.outer(v, v @ rows)
        columns -= scale * np.outer(columns @ v, v)
        turned, weights = columns @ v, v @ rows
        to_scale = -(v @ to_rows @ weights) - turned @ to_columns @ v
        to_v = -scale * (
            to_rows @ weights + rows @ (to_rows.T @ v) + to_columns.T @ turned + columns.T @ (to_columns @ v)
        )
        to_v -= scale * scale * to_scale * v
        to_rows -= scale * np.outer(v, v @ to_rows)
        to_columns -= scale * np.outer(to_columns @ v, v)
        if length:  # v is e_j - x / length, and length grows by x / length
            to_rows[:, 0] += to_v[0] * rows[:, 0] / length**2 - to_v / length
    return to_r


def _reflection_vectors(q, r):
    """(v, 2 / v.v) of the reflections whose product is Q, from its columns: column j is reflection j's image of e_j."""
    n = r.shape[1]
    found = []
    rest = q.copy()
    for j in range(n):
        v = -rest[j:, j]  # e_j - x / R_jj, since the column x becomes R_jj e_j
        v[0] += 1.0
        scale = 2.0 / (v @ v) if v @ v else 0.0
        rest[j:] -= scale * np.outer(v, v @ rest[j:])
        found.append((v, scale))
    return found


def _svd_bwd(u, s, vt, to_u, to_s, to_v):
    """Where singular values are equal, or 0, the directions that they leave open get no gradient."""
    gaps = s[None, :] ** 2 - s[:, None] ** 2
    close = np.abs(gaps) <= np.finfo(s.dtype).eps * len(s) * s.max(initial=0.0) ** 2
    inverse = np.where(close, 0.0, 1.0 / np.where(close, 1.0, gaps))
    small = s <= np.finfo(s.dtype).eps * len(s) * s.max(initial=0.0)
    over = np.where(small, 0.0, 1.0 / np.where(small, 1.0, s))
    left, right = u.T @ to_u, vt @ to_v.T
    middle = (inverse * (left - left.T)) * s + s[:, None] * (inverse * (right - right.T)) + np.diag(to_s)
    out = u @ middle @ vt
    out += ((to_u - u @ left) * over) @ vt
    return out + u @ (over[:, None] * (to_v - right.T @ vt))


def _det_bwd(a, g):
    """g times the cofactors, which singular matrices have too: from all singular values but one each."""
    u, s, vt = np.linalg.svd(a.astype(np.float64))
    rest = np.stack([np.delete(s, i, -1).prod(-1) for i in range(s.shape[-1])], -1)
    sign = np.round(np.linalg.det(u) * np.linalg.det(vt))
    return (g * sign)[..., None, None] * (u * rest[..., None, :]) @ vt


def _zeros(a):
    return np.zeros_like(a)


_RULES: dict[str, Callable[..., np.ndarray]] = {
    "lu lower": lambda g, p, lo, up: _each(lambda p, lo, up, g: _lu_bwd(p, lo, up, g, _zeros(up)), p, lo, up, g),
    "lu upper": lambda g, p, lo, up: _each(lambda p, lo, up, g: _lu_bwd(p, lo, up, _zeros(lo), g), p, lo, up, g),
    "qr q": lambda g, q, r: _each(lambda q, r, g: _qr_bwd(q, r, g, _zeros(r)), q, r, g),
    "qr r": lambda g, q, r: _each(lambda q, r, g: _qr_bwd(q, r, _zeros(q), g), q, r, g),
    "svd u": lambda g, u, s, v: _each(
        lambda u, s, v, g: _svd_bwd(u, s[0], v, g, _zeros(s[0]), _zeros(v)), u, s[..., None, :], v, g
    ),
    "svd s": lambda g, u, s, v: (u * g[..., None, :]) @ v,
    "svd v": lambda g, u, s, v: _each(
        lambda u, s, v, g: _svd_bwd(u, s[0], v, _zeros(u), _zeros(s[0]), g), u, s[..., None, :], v, g
    ),
    "det": lambda g, a: _det_bwd(a, g),
}


def _backward(node, g):
    name, *data = node.attrs
    values = g.numpy().astype(data[0].dtype)
    return (_tensor(_RULES[name](values, *data), g),)


_step.rule = python_rule(_backward, [""])
