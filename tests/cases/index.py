"""Cases of indexing: taking by index, writing by index, one-hot."""

import numpy as np

from burn.errors import BurnError, OutOfBoundsError, ShapeError
from tests.cases import F32, I32, I64, INTS, NUMBERS, REALS, Arg, Case, ErrorCase, method
from tests.cases.tensors import tensor

UPDATES = {"Assign": None, "Add": np.add, "Mul": np.multiply, "Min": np.minimum, "Max": np.maximum}


def index(shape, dtype=I64):
    """Int input with values 0, 1 and 2, duplicates included."""
    return Arg(shape, "index3", dtype)


def written(x, where, values, name):
    """`x` after `values` were combined into `x[where]` one after the other."""
    y = x.copy()
    if UPDATES[name] is None:
        y[where] = values
    else:
        UPDATES[name].at(y, where, values)
    return y


def along(indices, dim):
    """Index arrays that address, for every element of `indices`, the cell that it names along `dim`."""
    grid = list(np.indices(indices.shape))
    grid[dim] = indices
    return tuple(grid)


def nd(indices):
    """Index arrays of the last axis of `indices`."""
    return tuple(np.moveaxis(indices, -1, 0))


def take_nd(x, i):
    return x[nd(i)]


TAKING = [
    Case("gather(0)", lambda x, i: x.gather(0, i), lambda x, i: np.take_along_axis(x, i, 0), (Arg((3, 4)), index((5,
         4))), NUMBERS),
    Case("gather(-1)", lambda x, i: x.gather(-1, i), lambda x, i: np.take_along_axis(x, i, -1),
         (Arg((2, 4, 3)), index((2, 4, 6), I32)), NUMBERS),
    Case("select(0)", lambda x, i: x.select(0, i), lambda x, i: x[i], (Arg((3, 4)), index((6,))), NUMBERS),
    Case("select(1)", lambda x, i: x.select(1, i), lambda x, i: x[:, i], (Arg((2, 3, 5)), index((4,), I32)), NUMBERS),
    Case("select(nothing)", lambda x, i: x.select(0, i), lambda x, i: x[i], (Arg((3, 4)), index((0,))), NUMBERS),
    Case("take(-1)", lambda x, i: x.take(-1, i), lambda x, i: x[:, i], (Arg((2, 3)), index((2, 2))), NUMBERS),
    Case("gather_nd", method("gather_nd"), take_nd, (Arg((3, 3, 2)), index((4, 2))), NUMBERS),
    Case("gather_nd(full)", method("gather_nd"), take_nd, (Arg((3, 3)), index((2, 3, 2))), NUMBERS),
]  # fmt: skip

# Mul, Min and Max have a gradient for targets that are hit once; the values of duplicates are exact for all but
# Assign's losers.
WRITING = [
    *(Case(f"scatter({name})", lambda x, i, v, name=name: x.scatter(1, i, v, name),
           lambda x, i, v, name=name: written(x, along(i, 1), v, name),
           (Arg((2, 3)), index((2, 5)), Arg((2, 5), "distinct")), NUMBERS, grad=name == "Add") for name in UPDATES),
    *(Case(f"select_assign({name})", lambda x, i, v, name=name: x.select_assign(0, i, v, name),
           lambda x, i, v, name=name: written(x, (i,), v, name),
           (Arg((3, 4)), index((5,), I32), Arg((5, 4), "distinct")), NUMBERS, grad=name == "Add") for name in UPDATES),
    *(Case(f"scatter_nd({name})", lambda x, i, v, name=name: x.scatter_nd(i, v, name),
           lambda x, i, v, name=name: written(x, nd(i), v, name),
           (Arg((3, 3, 2)), index((4, 2)), Arg((4, 2), "distinct")), NUMBERS, grad=name == "Add") for name in UPDATES),
    Case("select_assign(1)", lambda x, i, v: x.select_assign(1, i, v, "Add"),
         lambda x, i, v: written(x, (slice(None), i), v, "Add"), (Arg((2, 3, 2)), index((4,)), Arg((2, 4, 2))), REALS),
]  # fmt: skip

ONE_HOT = [
    Case("one_hot", method("one_hot", 4), lambda i: np.eye(4)[i], (index((2, 3)),), INTS, False),
    Case("one_hot_fill", method("one_hot_fill", 3, 5.0, 0.0, 1), lambda i: np.moveaxis(np.eye(3)[i] * 5, -1, 1),
         (index((2, 4)),), INTS, False),
]  # fmt: skip

CASES = [*TAKING, *WRITING, *ONE_HOT]

x = np.ones((2, 3), F32)


def bad(method_name, indices, *rest):
    """Call of an indexing method along axis 1 with indices that it must refuse."""
    return lambda d: getattr(tensor(x, d), method_name)(1, tensor(np.array(indices), d), *(r(d) for r in rest))


def values(shape):
    return lambda d: tensor(np.ones(shape, F32), d)


def add(d):
    return "Add"


ERRORS = [
    ErrorCase("select: above", bad("select", [0, 3]), OutOfBoundsError, ("[select]", "3", "axis 1")),
    ErrorCase("select: below", bad("select", [0, -1]), OutOfBoundsError, ("[select]", "-1", "axis 1")),
    ErrorCase("gather: above", bad("gather", [[0, 5], [1, 1]]), OutOfBoundsError, ("[gather]", "5", "3")),
    ErrorCase(
        "scatter: above",
        bad("scatter", [[0, 5], [1, 1]], values((2, 2)), add),
        OutOfBoundsError,
        ("[scatter]", "5", "3"),
    ),
    ErrorCase(
        "select_assign: below",
        bad("select_assign", [0, -2], values((2, 2)), add),
        OutOfBoundsError,
        ("[select_assign]", "-2"),
    ),
    ErrorCase("gather: rank", bad("gather", [0, 1]), ShapeError, ("[gather]", "[2]", "[2, 3]")),
    ErrorCase("gather: rows", bad("gather", [[0, 1]]), ShapeError, ("[gather]",)),
    ErrorCase("scatter: values", bad("scatter", [[0], [1]], values((2, 2)), add), ShapeError, ("[scatter]",)),
    ErrorCase(
        "select_assign: count",
        bad("select_assign", [0, 1], values((2, 3)), add),
        ShapeError,
        ("[select_assign]", "2", "3"),
    ),
    ErrorCase("select: matrix", bad("select", [[0, 1]]), ShapeError, ("[select]",)),
    ErrorCase(
        "select: Float indices", lambda d: tensor(x, d).select(0, tensor(x[0], d)), TypeError, ("[select]", "Int")
    ),
    ErrorCase("one_hot: class", lambda d: tensor(np.array([0, 4]), d).one_hot(4), OutOfBoundsError, ("[one_hot]", "4")),
    ErrorCase(
        "one_hot: number of classes", lambda d: tensor(np.array([0, 0]), d).one_hot(1), BurnError, ("[one_hot]", "1")
    ),
    ErrorCase(
        "gather_nd: index",
        lambda d: tensor(x, d).gather_nd(tensor(np.array([[0, 3]]), d)),
        OutOfBoundsError,
        ("[gather_nd]", "3"),
    ),
    ErrorCase(
        "gather_nd: depth",
        lambda d: tensor(x, d).gather_nd(tensor(np.array([[0, 1, 1]]), d)),
        ShapeError,
        ("[gather_nd]", "3", "2"),
    ),
]
