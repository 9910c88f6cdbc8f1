"""Cases of matrix products: plain, batched, vectors, linear layers, einsum."""

import numpy as np

from burn.errors import DTypeError, ShapeError
from tests.cases import F32, FLOATS, INTS, NUMBERS, Arg, Case, ErrorCase, method
from tests.cases.tensors import tensor


def product(left, right, name=None, dtypes=NUMBERS, **options):
    """Case of `matmul` of two shapes."""
    return Case(name or f"{left}@{right}", method("matmul"), np.matmul, (Arg(left), Arg(right)), dtypes, **options)


def linear(*tensors):
    from burn.tensor import module

    return module.linear(*tensors)


def einsum(equation):
    def call(*tensors):
        from burn.tensor import einsum

        return einsum(equation, list(tensors))

    return call


PRODUCTS = [
    product((2, 3), (3, 4)),
    product((1, 5), (5, 1)),
    product((3, 1), (1, 4)),
    product((2, 3, 4), (2, 4, 5)),
    product((1, 3, 4), (2, 4, 5)),
    product((2, 1, 3, 4), (1, 3, 4, 2)),
    product((2, 1, 4), (1, 4, 3), "matmul(rows against one matrix)"),
    # Sizes around the register tiles and the cache blocks, where edges are handled apart.
    *(product((m, k), (k, n), grad=False, slack=8, dtypes=(np.dtype("f8"), F32, *INTS))
      for m, k, n in ((6, 8, 16), (7, 9, 17), (13, 130, 33), (1, 300, 40), (70, 65, 1), (97, 400, 101))),
    # No inner axis: zeros; no rows or columns: nothing.
    product((3, 0), (0, 4)),
    product((0, 3), (3, 4)),
    product((2, 3), (3, 0)),
    product((0, 2, 3), (0, 3, 2)),
]  # fmt: skip

OTHERS = [
    Case("dot", method("dot"), lambda x, y: np.dot(x, y).reshape(1), (Arg((5,)), Arg((5,))), NUMBERS),
    Case("x @ y", lambda x, y: x @ y, np.matmul, (Arg((2, 3)), Arg((3, 2))), NUMBERS),
    Case("cross", method("cross", 1), lambda x, y: np.cross(x, y, axis=1), (Arg((2, 3)), Arg((2, 3))), slack=2),
    Case("cross(broadcast)", method("cross", 0), lambda x, y: np.cross(np.broadcast_to(x, y.shape), y, axis=0),
         (Arg((3, 1)), Arg((3, 4))), slack=2),
    Case("linear", linear, lambda x, w, b: x @ w + b, (Arg((2, 3, 4)), Arg((4, 5)), Arg((5,)))),
    Case("linear(no bias)", linear, lambda x, w: x @ w, (Arg((3, 4)), Arg((4, 5)))),
    Case("linear(vector)", linear, lambda x, w: x @ w, (Arg((4,)), Arg((4, 5)))),
    *(Case(f"einsum({equation})", einsum(equation), lambda *xs, equation=equation: np.einsum(equation, *xs),
           tuple(Arg(s) for s in shapes), FLOATS[:2], slack=4)
      for equation, shapes in (("ij,jk->ik", ((2, 3), (3, 4))), ("bij,bjk->bki", ((2, 3, 4), (2, 4, 2))), ("iij->j",
           ((3, 3, 2),)),
                               ("...ij->...ji", ((2, 3, 4),)), ("i,j", ((2,), (3,))), ("ij->i", ((2, 3),)))),
    Case("einsum(i,i)", einsum("i,i"), lambda x, y: np.dot(x, y).reshape(1), (Arg((3,)), Arg((3,)))),
]  # fmt: skip

CASES = [*PRODUCTS, *OTHERS]

x = np.ones((2, 3), F32)
ERRORS = [
    ErrorCase(
        "matmul: inner sizes", lambda d: tensor(x, d).matmul(tensor(x, d)), ShapeError, ("[matmul]", "[2, 3]", "3", "2")
    ),
    ErrorCase("matmul: vectors", lambda d: tensor(x[0], d).matmul(tensor(x[0], d)), ShapeError, ("[matmul]", "rank")),
    ErrorCase("matmul: ranks", lambda d: tensor(x, d).matmul(tensor(x.T[None], d)), ShapeError, ("[matmul]", "rank")),
    ErrorCase(
        "matmul: batches",
        lambda d: tensor(np.ones((2, 3, 4), F32), d).matmul(tensor(np.ones((3, 4, 5), F32), d)),
        ShapeError,
        ("[matmul]", "2", "3"),
    ),
    ErrorCase(
        "matmul: dtypes",
        lambda d: tensor(x, d).matmul(tensor(x.T.astype("f8"), d)),
        DTypeError,
        ("[matmul]", "f32", "f64"),
    ),
    ErrorCase(
        "dot: lengths", lambda d: tensor(x[0], d).dot(tensor(np.ones(1, F32), d)), ShapeError, ("[dot]", "3", "1")
    ),
    ErrorCase("cross: size", lambda d: tensor(x, d).cross(tensor(x, d), 0), ShapeError, ("[cross]", "2", "3")),
    ErrorCase(
        "einsum: sizes", lambda d: einsum("ij,jk")(tensor(x, d), tensor(x, d)), ShapeError, ("einsum", "j", "3", "2")
    ),
    ErrorCase("einsum: letter", lambda d: einsum("i1->i")(tensor(x, d)), ValueError, ("einsum", "1")),
]
