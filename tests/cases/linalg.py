"""Cases of linear algebra: norms, products, diagonals and determinants."""

import numpy as np

from burn.errors import ArgumentError, KindError, ShapeError
from tests.cases import BOOL, F32, FLOATS, NUMBERS, REALS, Arg, Case, ErrorCase
from tests.cases.tensors import tensor

NORMS = ((2, 3), (4, 5, 3), (2, 700), (3, 1))


def function(name, *args):
    """Call of `burn.linalg.<name>` with `args` after the tensors."""

    def call(*tensors):
        from burn import linalg

        return getattr(linalg, name)(*tensors, *args)

    return call


def lp(x, p, axes):
    """Root p of the sum of powers p."""
    return (np.abs(x) ** p).sum(axes, keepdims=True) ** (1 / p) if axes else np.abs(x)


def norms(name, oracle, dtypes, *args, grad=True):
    """Cases of a norm along one axis, several axes and none."""
    axes = (0, 2)
    return [
        Case(f"{name}({dim})", function(name, *args, dim), lambda x, dim=dim: oracle(x, (dim,)), dtypes=dtypes, grad=grad,
             shapes=NORMS, slack=4)
        for dim in (0, -1)
    ] + [
        Case(f"{name}_dims", function(name + "_dims", *args, list(axes)), lambda x: oracle(x, axes), (Arg((2, 3, 4)),),
             dtypes, grad, slack=4),
        Case(f"{name}_dims(none)", function(name + "_dims", *args, []), lambda x: oracle(x, ()), dtypes=dtypes, grad=grad),
    ]  # fmt: skip


def kept(reduce):
    return lambda x, axes: reduce(np.abs(x), axis=axes, keepdims=True) if axes else np.abs(x)


CASES = [
    *norms("l0_norm", lambda x, a: (x != 0).sum(a, keepdims=True) if a else (x != 0) + 0 * x, NUMBERS, grad=False),
    *norms("l1_norm", kept(np.sum), NUMBERS),
    *norms("l2_norm", lambda x, a: lp(x, 2, a), FLOATS),
    *norms("max_abs_norm", kept(np.max), NUMBERS),
    *norms("min_abs_norm", kept(np.min), NUMBERS),
    *(c for p in (3.0, 2.0, 0.5, -2.0) for c in norms("lp_norm", lambda x, a, p=p: lp(x, p, a), REALS, p)[:3]),
    *(
        Case(
            f"vector_norm({p})",
            function("vector_norm", p, 1),
            lambda x, p=p: lp(x, p, (1,)),
            (Arg((3, 4)),),
            REALS,
            slack=4,
        )
        for p in (1, 2, 2.5, -4)
    ),
    Case(
        "vector_normalize(2)",
        function("vector_normalize", 2, 1, 1e-6),
        lambda x: x / lp(x, 2, (1,)),
        (Arg((3, 4)),),
        slack=4,
    ),
    Case(
        "vector_normalize(eps)", function("vector_normalize", 1, 0, 100.0), lambda x: x / 100, (Arg((3, 4)),), slack=4
    ),
    Case("diag", function("diag"), lambda x: np.diagonal(x, 0, -2, -1), (Arg((2, 3, 5)),), (*NUMBERS, BOOL)),
    Case("diag(tall)", function("diag"), lambda x: np.diagonal(x, 0, -2, -1), (Arg((5, 3)),)),
    Case("trace", function("trace"), lambda x: np.trace(x, 0, -2, -1)[..., None], (Arg((2, 3, 5)),), NUMBERS),
    Case("matvec", function("matvec"), lambda m, v: m @ v, (Arg((3, 4)), Arg((4,))), NUMBERS),
    Case("matvec(batch)", function("matvec"), lambda m, v: (m @ v[..., None])[..., 0], (Arg((2, 3, 4)), Arg((1, 4)))),
    Case("outer", function("outer"), lambda x, y: x[..., None] * y[..., None, :], (Arg((2, 3)), Arg((2, 4))), NUMBERS),
    Case(
        "outer(broadcast)", function("outer"), lambda x, y: x[..., None] * y[..., None, :], (Arg((1, 3)), Arg((2, 4)))
    ),
    Case("outer_dim(0)", function("outer_dim", 0), lambda x, y: x[:, None] * y[None], (Arg((3, 2)), Arg((4, 2)))),
    Case(
        "cosine_similarity",
        function("cosine_similarity", 1),
        lambda x, y: (x * y).sum(1, keepdims=True) / (lp(x, 2, (1,)) * lp(y, 2, (1,))),
        (Arg((3, 4)), Arg((3, 4))),
        slack=4,
    ),
    *(Case(f"det({n})", function("det"), np.linalg.det, (Arg((2, n, n)),), REALS, slack=50) for n in (1, 2, 3, 4, 6)),
    *(
        Case(f"lu({m},{n})", function("lu"), lambda x: lu(x), (Arg((2, m, n)),), REALS, slack=50)
        for m, n in ((3, 3), (3, 5), (5, 3), (1, 1))
    ),
    *(
        Case(f"qr({m},{n})", function("qr", True), lambda x: qr(x), (Arg((2, m, n)),), REALS, slack=50)
        for m, n in ((3, 3), (5, 3), (3, 5), (1, 1))
    ),
    *(
        Case(f"qr({m},{n}) full", function("qr", False), lambda x: qr(x, False), (Arg((2, m, n)),), REALS, slack=50)
        for m, n in ((5, 3), (4, 1), (2, 3))
    ),
]


def lu(x):
    """Stacked factors by elimination."""
    from scipy.linalg import lu as factors

    return tuple(np.stack(part) for part in zip(*(factors(one) for one in x), strict=True))


def qr(x, reduced=True):
    """Stacked factors, the diagonal of R with signs opposite to those of Householder's pivots."""
    made = []
    for one in x:
        a, q = one.copy(), np.eye(len(one))
        for i in range(min(one.shape)):
            v = a[i:, i].copy()
            v[0] += np.copysign(np.linalg.norm(v), v[0])
            h = np.eye(len(v)) - 2 * np.outer(v, v) / (v @ v)
            a[i:] = h @ a[i:]
            q[:, i:] = q[:, i:] @ h
        k = min(one.shape) if reduced else len(one)
        made.append((q[:, :k], np.triu(a)[:k]))
    return tuple(np.stack(part) for part in zip(*made, strict=True))


x = np.ones((2, 3), F32)
ERRORS = [
    ErrorCase(
        "l2_norm: Int", lambda d: function("l2_norm", 0)(tensor(x.astype("i4"), d)), KindError, ("[l2_norm]", "Float")
    ),
    ErrorCase("lp_norm: 0", lambda d: function("lp_norm", 0, 0)(tensor(x, d)), ArgumentError, ("[lp_norm]", "l0_norm")),
    ErrorCase("l1_norm: axis", lambda d: function("l1_norm", 2)(tensor(x, d)), IndexError, ("[l1_norm]", "2")),
    ErrorCase("diag: vector", lambda d: function("diag")(tensor(x[0], d)), ShapeError, ("[diag]", "[3]")),
    ErrorCase(
        "matvec: size",
        lambda d: function("matvec")(tensor(x, d), tensor(x[:, 0], d)),
        ShapeError,
        ("[matvec]", "3", "2"),
    ),
    ErrorCase(
        "outer: ranks", lambda d: function("outer")(tensor(x, d), tensor(x[0], d)), ShapeError, ("[outer]", "rank")
    ),
    ErrorCase("det: one matrix", lambda d: function("det")(tensor(x[:, :2], d)), ShapeError, ("[det]", "unsqueeze")),
    ErrorCase("det: not square", lambda d: function("det")(tensor(x[None], d)), ShapeError, ("[det]", "[1, 2, 3]")),
    ErrorCase("qr: reduced", lambda d: function("qr", 1)(tensor(x, d)), TypeError, ("[qr]", "True or False")),
    ErrorCase("svd: sweeps", lambda d: function("svd", 0)(tensor(x, d)), ArgumentError, ("[svd]", "sweeps")),
]
