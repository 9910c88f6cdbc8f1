"""Cases of reductions, running reductions and ordering."""

import numpy as np

from burn.errors import OutOfBoundsError, ShapeError
from tests.cases import BOOL, F32, FLOATS, I8, INTS, NUMBERS, REALS, Arg, Case, ErrorCase, method
from tests.cases.tensors import tensor

# Lengths around the vector width, the block of a sum, and one; the reduced axis is never of size 0 here.
SHAPES = ((2, 4, 3), (3, 513, 2), (2, 8, 31), (2, 1, 3), (1, 1, 1))
DIMS = (0, 1, -1)


def along(name, oracle, domain="real", dtypes=NUMBERS, dims=DIMS, **options):
    """Cases of a method that takes an axis; the oracle takes it too."""
    return [
        Case(f"{name}({dim})", method(name, dim), lambda x, dim=dim: oracle(x, dim), (Arg(domain=domain),), dtypes,
             shapes=SHAPES, **options)
        for dim in dims
    ]  # fmt: skip


def whole(name, oracle, domain="real", dtypes=NUMBERS, **options):
    """Case of a reduction to shape [1]."""
    return Case(name, method(name), lambda x: np.reshape(oracle(x), (1,)), (Arg(domain=domain),), dtypes, shapes=SHAPES,
                **options)  # fmt: skip


def over(name, oracle, dims, domain="real", dtypes=FLOATS, **options):
    """Case of a method that takes a list of axes."""
    return Case(f"{name}({dims})", method(name, dims), lambda x: oracle(x, tuple(dims)), (Arg((2, 4, 3), domain),),
         dtypes,
                **options)  # fmt: skip


def kept(ufunc):
    """A NumPy reduction that keeps the axis with size 1."""
    return lambda x, dim: ufunc(x, axis=dim, keepdims=True)


def mean(x, dim):
    """Mean that keeps the axis; integers truncate toward zero."""
    return np.trunc(x.mean(dim, keepdims=True)).astype(x.dtype) if x.dtype.kind == "i" else x.mean(dim, keepdims=True)


def extreme(arg):
    """Values and positions of an extreme value along an axis."""

    def oracle(x, dim):
        where = arg(x, axis=dim, keepdims=True)
        return np.take_along_axis(x, where, dim), where

    return oracle


def variance(correction):
    """Variance along an axis; a single value with correction 1 gives NaN."""
    return lambda x, dim: x.var(dim, ddof=correction, keepdims=True) if x.shape[dim] > correction else 0 * x.sum(
        dim, keepdims=True) / 0  # fmt: skip


def order(x, dim, descending=False):
    """Positions that sort an axis, stable, NaN last ascending and first descending."""
    if not descending:
        return np.argsort(x, dim, kind="stable")
    return x.shape[dim] - 1 - np.flip(np.argsort(np.flip(x, dim), dim, kind="stable"), dim)


def ordered(descending, k=None):
    """Sorted values and their positions, the first k of them."""

    def oracle(x, dim):
        where = np.take(order(x, dim, descending), range(x.shape[dim] if k is None else k), dim)
        return np.take_along_axis(x, where, dim), where

    return oracle


def first(oracle):
    return lambda x, dim: oracle(x, dim)[0]


def second(oracle):
    return lambda x, dim: oracle(x, dim)[1]


def median(x, dim):
    """The lower median and its position."""
    values, where = ordered(False)(x, dim)
    middle = (x.shape[dim] - 1) // 2
    return np.take(values, [middle], dim), np.take(where, [middle], dim)


def cov(x, dim):
    """Covariance of a matrix whose observations lie along `dim`."""
    return np.cov(x, rowvar=dim % 2 == 1)


ALONG = [
    *along("sum_dim", kept(np.sum)),
    *along("mean_dim", mean),
    *along("prod_dim", kept(np.prod), "above_one", REALS, slack=100),
    *along("prod_dim", kept(np.prod), "small", INTS, dims=(1,), grad=False),
    *along("max_dim", kept(np.max), "distinct"),
    *along("min_dim", kept(np.min), "distinct"),
    *along("max_abs_dim", lambda x, dim: np.abs(x).max(dim, keepdims=True), "distinct", slack=2),
    *along("argmax", kept(np.argmax), "distinct", grad=False),
    *along("argmin", kept(np.argmin), "distinct", grad=False),
    *along("max_dim_with_indices", extreme(np.argmax), "distinct"),
    *along("min_dim_with_indices", extreme(np.argmin), "distinct"),
    *along("any_dim", kept(np.any), "bool", (BOOL, *INTS, F32), grad=False),
    *along("all_dim", kept(np.all), "bool", (BOOL, *INTS, F32), grad=False),
    *along("var", variance(1), dtypes=REALS, slack=4),
    *along("var_bias", variance(0), dtypes=REALS, slack=4),
    *along("var_mean", lambda x, dim: (variance(1)(x, dim), mean(x, dim)), dtypes=REALS, dims=(1,), slack=4),
    *along("var_mean_bias", lambda x, dim: (variance(0)(x, dim), mean(x, dim)), dtypes=REALS, dims=(1,), slack=4),
    *along("cumsum", np.cumsum, dtypes=(*REALS, *INTS), slack=20),
    *along("cumprod", np.cumprod, "unit", REALS, slack=100),
    *along("cummax", np.maximum.accumulate, "distinct", (*REALS, *INTS)),
    *along("cummin", np.minimum.accumulate, "distinct", (*REALS, *INTS)),
    *along("median", first(median), "distinct", REALS),
    *along("median_with_indices", median, "distinct", REALS, dims=(1,)),
]

ORDERING = [
    *along("sort", first(ordered(False)), "distinct"),
    *along("sort_descending", first(ordered(True)), "distinct"),
    *along("sort_with_indices", ordered(False), "small", grad=False),
    *along("sort_descending_with_indices", ordered(True), "small", grad=False),
    *along("argsort", second(ordered(False)), "small", grad=False),
    *along("argsort_descending", second(ordered(True)), "small", grad=False),
    Case("topk(3,1)", lambda x: x.topk(3, 1), lambda x: ordered(True, 3)(x, 1)[0], (Arg((2, 6, 3), "distinct"),),
         NUMBERS),
    Case("topk_with_indices(2,-1)", lambda x: x.topk_with_indices(2, -1), lambda x: ordered(True, 2)(x, -1),
         (Arg((4, 5), "distinct"),), NUMBERS),
    Case("topk(0,0)", lambda x: x.topk(0, 0), lambda x: x[:0], (Arg((3, 2)),), NUMBERS, False),
    Case("argtopk(5,1)", lambda x: x.argtopk(5, 1), lambda x: order(x, 1, True), (Arg((3, 5), "small"),), NUMBERS,
         False),
]  # fmt: skip

WHOLE = [
    whole("sum", np.sum),
    whole("mean", lambda x: np.trunc(x.mean()).astype(x.dtype) if x.dtype.kind == "i" else x.mean()),
    Case("prod", method("prod"), lambda x: np.prod(x).reshape(1), (Arg((2, 3, 2)),), (*REALS, *INTS)),
    whole("max", np.max, "distinct"),
    whole("min", np.min, "distinct"),
    whole("max_abs", lambda x: np.abs(x).max(), "distinct"),
    whole("any", np.any, "bool", (BOOL, *INTS), grad=False),
    whole("all", np.all, "bool", (BOOL, *INTS), grad=False),
    Case("cov(0,1)", lambda x: x.cov(0, 1), lambda x: cov(x, 0), (Arg((3, 5)),), REALS, slack=4),
    Case("cov(1,1)", lambda x: x.cov(1, 1), lambda x: cov(x, 1), (Arg((3, 5)),), REALS, slack=4),
    Case("argwhere", method("argwhere"), np.argwhere, (Arg((3, 4), "bool"),), (BOOL,), False),
    Case("nonzero", method("nonzero"), np.nonzero, (Arg((3, 4), "bool"),), (BOOL,), False),
]

SEVERAL = [
    over("sum_dims", lambda x, a: x.sum(a, keepdims=True), [0, 2]),
    over("sum_dims", lambda x, a: x.sum(a, keepdims=True), []),
    over("sum_dims_squeeze", lambda x, a: x.sum(a), [0, -1]),
    over("mean_dims", lambda x, a: x.mean(a, keepdims=True), [-1, 0]),
    over("prod_dims", lambda x, a: x.prod(a, keepdims=True), [1, 2], dtypes=REALS),
    over("max_dims", lambda x, a: x.max(a, keepdims=True), [0, 2], "distinct"),
    over("min_dims", lambda x, a: x.min(a, keepdims=True), [0, 2], "distinct"),
    over("max_abs_dims", lambda x, a: np.abs(x).max(a, keepdims=True), [0, 2], "distinct"),
    over("max_abs_dims", lambda x, a: np.abs(x), [], "distinct"),
]

CASES = [*ALONG, *ORDERING, *WHOLE, *SEVERAL]

x = np.ones((2, 3), F32)
empty = np.ones((0, 3), F32)
DIM_METHODS = (
    "sum_dim", "mean_dim", "prod_dim", "max_dim", "min_dim", "argmax", "argmin", "any_dim", "all_dim", "var", "cumsum",
    "cummax", "sort", "argsort", "median",
)  # fmt: skip
EMPTY_METHODS = ("max_dim", "min_dim", "argmax", "argmin", "max_dim_with_indices", "max_abs_dim", "median")
ERRORS = [
    *(
        ErrorCase(
            f"{name}: axis {dim}",
            lambda d, name=name, dim=dim: getattr(tensor(x, d), name)(dim),
            OutOfBoundsError,
            (str(dim), "2"),
        )
        for name in DIM_METHODS
        for dim in (2, -3)
    ),
    *(
        ErrorCase(
            f"{name}: empty axis", lambda d, name=name: getattr(tensor(empty, d), name)(0), ShapeError, ("empty",)
        )
        for name in EMPTY_METHODS
    ),
    *(
        ErrorCase(f"{name}: nothing", lambda d, name=name: getattr(tensor(empty, d), name)(), ShapeError, ("empty",))
        for name in ("max", "min", "max_abs")
    ),
    ErrorCase("mean_dim: no integers", lambda d: tensor(empty.astype(np.int32), d).mean_dim(0), ShapeError, ("empty",)),
    ErrorCase("topk: beyond the axis", lambda d: tensor(x, d).topk(4, 1), ShapeError, ("4", "3")),
    ErrorCase("max_dim: Bool", lambda d: tensor(x > 0, d).max_dim(0), TypeError, ("Bool",)),
    ErrorCase("var: Int", lambda d: tensor(x.astype(np.int32), d).var(0), TypeError, ("Float",)),
]

# Sums of narrow integers: (method, dtype, values, result); exact in 64 bits, stored modulo the width, means truncate.
NARROW = [
    ("sum", I8, [100, 100, 100], 44),
    ("mean", I8, [100, 100, 100], 100),
    ("mean", np.dtype(np.int32), [2**31 - 1, 2**31 - 1], 2**31 - 1),
    ("mean", np.dtype(np.int32), [-3, -4], -3),
    ("mean", np.dtype(np.uint8), [255, 254, 255], 254),
    ("sum", np.dtype(np.int64), [2**63 - 1, 1], -(2**63)),
]
