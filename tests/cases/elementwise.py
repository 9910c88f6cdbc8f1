"""Cases of elementwise ops: arithmetic, comparisons, masks and casts."""

import numpy as np
from scipy import special

from burn.errors import DTypeError, KindError, ShapeError
from tests.cases import (
    BOOL,
    F32,
    F64,
    FLOATS,
    I8,
    I32,
    I64,
    INTS,
    NUMBERS,
    REALS,
    U8,
    Arg,
    Case,
    ErrorCase,
    method,
)  # fmt: skip
from tests.cases.tensors import tensor

# Around one vector, many vectors with a remainder, one element, none, and leading axes of size 1.
SHAPES = ((3, 5), (1037,), (1,), (0, 3), (2, 1, 3))


def unary(name, oracle, domain="real", dtypes=FLOATS, **options):
    """Case of a method without arguments."""
    return Case(name, method(name), oracle, (Arg(domain=domain),), dtypes, special=True, shapes=SHAPES, **options)


def scalar(name, value, oracle, domain="real", dtypes=FLOATS, **options):
    """Case of a method that takes one number."""
    call = method(name, value)
    return Case(f"{name}({value})", call, oracle, (Arg(domain=domain),), dtypes, shapes=SHAPES, **options)


def binary(name, oracle, left="real", right="real", dtypes=FLOATS, **options):
    """Case of a method of two tensors; it also runs on shapes that broadcast."""
    return Case(name, method(name), oracle, (Arg(domain=left), Arg(domain=right)), dtypes, shapes=SHAPES, **options)


def truncated(x, y):
    """Quotient of integers toward zero."""
    return np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y))


UNARY = [
    unary("exp", np.exp),
    unary("log", np.log, "positive"),
    unary("log1p", np.log1p, "positive"),
    unary("sqrt", np.sqrt, "positive"),
    unary("recip", lambda x: 1 / x),
    unary("erf", special.erf),
    unary("sin", np.sin),
    unary("cos", np.cos),
    unary("tan", np.tan, "unit"),
    unary("sinh", np.sinh),
    unary("cosh", np.cosh),
    unary("tanh", np.tanh),
    unary("asin", np.arcsin, "unit"),
    unary("acos", np.arccos, "unit"),
    unary("atan", np.arctan),
    unary("asinh", np.arcsinh),
    unary("acosh", np.arccosh, "above_one"),
    unary("atanh", np.arctanh, "unit"),
    unary("deg2rad", np.deg2rad),
    unary("rad2deg", np.rad2deg),
    unary("round", np.rint),
    unary("floor", np.floor),
    unary("ceil", np.ceil),
    unary("trunc", np.trunc),
    unary("neg", np.negative, dtypes=NUMBERS),
    unary("abs", np.abs, dtypes=NUMBERS),
    unary("square", np.square, dtypes=NUMBERS),
    unary("sign", lambda x: np.nan_to_num(np.sign(x)), dtypes=NUMBERS),
    unary("is_nan", np.isnan, grad=False),
    unary("is_inf", np.isinf, grad=False),
    unary("is_finite", np.isfinite, grad=False),
    Case("contains_nan", method("contains_nan"), lambda x: np.isnan(x).any().reshape(1), grad=False),
    unary("bool", lambda x: x != 0, "small", dtypes=NUMBERS, grad=False),
    Case("bitwise_not", method("bitwise_not"), np.invert, (Arg(domain="small"),), INTS, grad=False, shapes=SHAPES),
    Case("bool_not", method("bool_not"), np.invert, (Arg(domain="bool"),), (BOOL,), grad=False, shapes=SHAPES),
]

BINARY = [
    binary("add", np.add, dtypes=NUMBERS, special=True),
    binary("sub", np.subtract, dtypes=NUMBERS, special=True),
    binary("mul", np.multiply, dtypes=NUMBERS, special=True),
    binary("div", np.divide, special=True),
    binary("powf", np.power, "positive"),
    binary("atan2", np.arctan2, special=True),
    binary("hypot", np.hypot, special=True),
    binary("max_pair", np.maximum, dtypes=NUMBERS, special=True),
    binary("min_pair", np.minimum, dtypes=NUMBERS, special=True),
    binary("remainder", np.remainder, "unit", "above_one"),
    binary("fmod", np.fmod, "unit", "above_one"),
    Case(
        "div(int)", method("div"), truncated, (Arg(domain="small"), Arg(domain="divisor")), INTS, False, shapes=SHAPES
    ),
    Case(
        "remainder(int)",
        method("remainder"),
        np.remainder,
        (Arg(domain="small"), Arg(domain="divisor")),
        INTS,
        False,
        shapes=SHAPES,
    ),
    Case("powi(int)", method("powi"), np.power, (Arg(domain="small"), Arg(domain="count")), INTS, False, shapes=SHAPES),
    binary("bitwise_and", np.bitwise_and, "small", "small", INTS, grad=False),
    binary("bitwise_or", np.bitwise_or, "small", "small", INTS, grad=False),
    binary("bitwise_xor", np.bitwise_xor, "small", "small", INTS, grad=False),
    binary("bitwise_left_shift", np.left_shift, "small", "count", INTS, grad=False),
    binary("bitwise_right_shift", np.right_shift, "small", "count", INTS, grad=False),
    binary("bool_and", np.logical_and, "bool", "bool", (BOOL,), grad=False),
    binary("bool_or", np.logical_or, "bool", "bool", (BOOL,), grad=False),
    binary("bool_xor", np.logical_xor, "bool", "bool", (BOOL,), grad=False),
    binary("equal", np.equal, "small", "small", (*NUMBERS, BOOL), grad=False, special=True),
    binary("not_equal", np.not_equal, "small", "small", (*NUMBERS, BOOL), grad=False, special=True),
    binary("greater", np.greater, "small", "small", NUMBERS, grad=False, special=True),
    binary("greater_equal", np.greater_equal, "small", "small", NUMBERS, grad=False, special=True),
    binary("lower", np.less, "small", "small", NUMBERS, grad=False, special=True),
    binary("lower_equal", np.less_equal, "small", "small", NUMBERS, grad=False, special=True),
]

SCALAR = [
    scalar("add_scalar", 0.75, lambda x: x + 0.75),
    scalar("sub_scalar", 0.75, lambda x: x - 0.75),
    scalar("mul_scalar", 0.75, lambda x: x * 0.75),
    scalar("div_scalar", 0.75, lambda x: x / 0.75),
    scalar("remainder_scalar", -0.75, lambda x: np.remainder(x, -0.75), "unit"),
    scalar("fmod_scalar", 0.75, lambda x: np.fmod(x, 0.75), "unit"),
    scalar("add_scalar", 3, lambda x: x + 3, "small", INTS, grad=False),
    scalar("sub_scalar", 3, lambda x: x - 3, "small", INTS, grad=False),
    scalar("mul_scalar", -3, lambda x: x * -3, "small", INTS, grad=False),
    scalar("div_scalar", -3, lambda x: truncated(x, -3), "small", INTS, grad=False),
    scalar("remainder_scalar", -3, lambda x: np.remainder(x, -3), "small", INTS, grad=False),
    *(scalar("powf_scalar", p, lambda x, p=p: np.power(x, p), "positive") for p in (0.0, 1.0, 2.0, 3.0, -1.0, -2.0,
         0.5, -1.5)),
    *(scalar("powi_scalar", p, lambda x, p=p: np.power(x, p), dtypes=REALS) for p in (0, 1, 2, 3, -1, -2, 5)),
    *(scalar("powi_scalar", p, lambda x, p=p: np.power(x, p), "small", INTS, grad=False) for p in (0, 1, 2, 7)),
    scalar("clamp_min", -0.5, lambda x: np.maximum(x, -0.5), special=True),
    scalar("clamp_max", 0.5, lambda x: np.minimum(x, 0.5), special=True),
    Case("clamp(-1,0.5)", method("clamp", -1.0, 0.5), lambda x: np.clip(x, -1.0, 0.5), special=True, shapes=SHAPES),
    Case("clamp(-4,3)", method("clamp", -4, 3), lambda x: np.clip(x, -4, 3), (Arg(domain="small"),), INTS, False),
    scalar("bitwise_and_scalar", 6, lambda x: x & 6, "small", INTS, grad=False),
    scalar("bitwise_or_scalar", 6, lambda x: x | 6, "small", INTS, grad=False),
    scalar("bitwise_xor_scalar", 6, lambda x: x ^ 6, "small", INTS, grad=False),
    scalar("bitwise_left_shift_scalar", 2, lambda x: x << 2, "small", INTS, grad=False),
    scalar("bitwise_right_shift_scalar", 2, lambda x: x >> 2, "small", INTS, grad=False),
    *(scalar(f"{name}_scalar", 2, lambda x, f=f: f(x, 2), "small", NUMBERS, grad=False)
      for name, f in (("equal", np.equal), ("not_equal", np.not_equal), ("greater", np.greater), ("lower", np.less),
                      ("greater_equal", np.greater_equal), ("lower_equal", np.less_equal))),
]  # fmt: skip

# Python's own operators, with tensors and with numbers on either side.
OPERATORS = [
    Case("x + y", lambda x, y: x + y, np.add, (Arg(), Arg()), NUMBERS),
    Case("x - y", lambda x, y: x - y, np.subtract, (Arg(), Arg()), NUMBERS),
    Case("x * y", lambda x, y: x * y, np.multiply, (Arg(), Arg()), NUMBERS),
    Case("x / y", lambda x, y: x / y, np.divide, (Arg(), Arg())),
    Case("x // y (int)", lambda x, y: x // y, np.floor_divide, (Arg(domain="small"), Arg(domain="divisor")), INTS,
         False),
    Case("x // 3 (int)", lambda x: x // 3, lambda x: np.floor_divide(x, 3), (Arg(domain="small"),), INTS, False),
    Case("x % y", lambda x, y: x % y, np.remainder, (Arg(domain="unit"), Arg(domain="above_one"))),
    Case("x % y (int)", lambda x, y: x % y, np.remainder, (Arg(domain="small"), Arg(domain="divisor")), INTS, False),
    Case("x ** y", lambda x, y: x**y, np.power, (Arg(domain="positive"), Arg())),
    Case("-x", lambda x: -x, np.negative, dtypes=NUMBERS),
    Case("abs(x)", abs, np.abs, dtypes=NUMBERS),
    Case("2 - x", lambda x: 2 - x, lambda x: 2 - x, dtypes=NUMBERS),
    Case("2 * x + 1", lambda x: 2 * x + 1, lambda x: 2 * x + 1, dtypes=NUMBERS),
    Case("3 / x", lambda x: 3 / x, lambda x: 3 / x),
    Case("x ** 2", lambda x: x**2, lambda x: x**2),
    Case("x < y", lambda x, y: x < y, np.less, (Arg(), Arg()), NUMBERS, False),
    Case("x == y", lambda x, y: x == y, np.equal, (Arg(domain="small"), Arg(domain="small")), NUMBERS, False),
    Case("x != 2", lambda x: x != 2, lambda x: x != 2, (Arg(domain="small"),), NUMBERS, False),
    Case("~(p & q | p ^ q)", lambda p, q: ~(p & q | p ^ q), lambda p, q: ~(p & q | p ^ q),
         (Arg(domain="bool"), Arg(domain="bool")), (BOOL,), False),
    Case("i << 2 >> 1", lambda i: i << 2 >> 1, lambda i: i << 2 >> 1, (Arg(domain="small"),), INTS, False),
]  # fmt: skip

MASKS = [
    Case("mask_where", method("mask_where"), lambda x, m, v: np.where(m, v, x),
         (Arg(), Arg(domain="bool", dtype=BOOL), Arg()), NUMBERS, shapes=SHAPES),
    Case("mask_where(broadcast)", method("mask_where"), lambda x, m, v: np.where(m, v, x),
         (Arg((3, 1)), Arg((3, 4), "bool", BOOL), Arg((1, 4)))),
    Case("mask_fill", lambda x, m: x.mask_fill(m, 2.5), lambda x, m: np.where(m, 2.5, x),
         (Arg(), Arg(domain="bool", dtype=BOOL)), shapes=SHAPES),
    Case("mask_fill(int)", lambda x, m: x.mask_fill(m, 7), lambda x, m: np.where(m, 7, x),
         (Arg(domain="small"), Arg(domain="bool", dtype=BOOL)), INTS, False),
    Case("mask_select", method("mask_select"), lambda x, m: x[m], (Arg(), Arg(domain="bool", dtype=BOOL)), NUMBERS),
]  # fmt: skip


def error(name, *numbers, oracle):
    """Case of a loss of an error x - y with numbers; it has no public name of its own."""

    def call(x, y):
        from burn._ops import elementwise

        return getattr(elementwise, name)(x, y, *numbers)

    shown = ",".join(map(str, numbers))
    return Case(
        f"x - y, {name}({shown})",
        call,
        lambda x, y: oracle(x - y),
        (Arg(), Arg()),
        special=True,
        shapes=SHAPES,
        slack=3,
    )


def huber(e, limit, over):
    size = np.abs(e)
    return np.where(size <= limit, size * size / 2, limit * (size - limit / 2)) / over


def kl(logs):
    """Case of a term of the Kullback-Leibler divergence, of a probability or, with logs, of its logarithm."""

    def call(x, y):
        from burn._ops import elementwise

        return elementwise.kl_term(x, y, logs)

    def oracle(x, y):
        if logs:
            return np.where(y == -np.inf, 0, np.exp(y) * (y - x))
        return np.where(y == 0, 0, y * (np.log(y) - x))

    args = Arg(), Arg(domain="real" if logs else "positive")
    return Case(f"x - y, kl_term({logs})", call, oracle, args, special=not logs, shapes=SHAPES, slack=4)


ERROR_LOSSES = [
    kl(0.0),
    kl(1.0),
    *(error("error_power", p, oracle=lambda e, p=p: np.abs(e) ** p) for p in (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0)),
    *(error("error_huber", limit, over, limit / over, oracle=lambda e, k=(limit, over): huber(e, *k))
      for limit, over in ((0.75, 1.0), (0.5, 0.5), (np.inf, 1.0))),
]  # fmt: skip

CASES = [*UNARY, *BINARY, *SCALAR, *OPERATORS, *MASKS, *ERROR_LOSSES]
BROADCASTING = [c for c in BINARY if not c.name.startswith("powi")]
BROADCAST_SHAPES = (
    ((2, 3), (1, 3)),
    ((2, 3), (2, 1)),
    ((1, 1), (2, 3)),
    ((2, 1), (1, 3)),
    ((1, 3, 1), (2, 1, 4)),
    ((0, 3), (1, 3)),
)

x23 = np.ones((2, 3), F32)
ERRORS = [
    ErrorCase(
        "add: sizes", lambda d: tensor(x23, d).add(tensor(np.ones((2, 4), F32), d)), ShapeError, ("[add]", "3", "4")
    ),
    ErrorCase("mul: ranks", lambda d: tensor(x23, d) * tensor(np.ones(3, F32), d), ShapeError, ("[mul]", "rank")),
    ErrorCase(
        "add: dtypes", lambda d: tensor(x23, d) + tensor(x23.astype(F64), d), DTypeError, ("[add]", "f32", "f64")
    ),
    ErrorCase("sub: kinds", lambda d: tensor(x23, d) - tensor(x23.astype(I32), d), TypeError, ("[sub]", "f32", "i32")),
    ErrorCase("exp: Int", lambda d: tensor(x23.astype(I32), d).exp(), KindError, ("[exp]", "Float", "Int")),
    ErrorCase(
        "bitwise_not: Float", lambda d: tensor(x23, d).bitwise_not(), KindError, ("[bitwise_not]", "Int", "Float")
    ),
    ErrorCase("bool_not: Float", lambda d: tensor(x23, d).bool_not(), KindError, ("[bool_not]", "Bool", "Float")),
    ErrorCase("add_scalar: fraction on Int", lambda d: tensor(x23.astype(I32), d).add_scalar(2.5), TypeError, ("2.5",)),
    ErrorCase(
        "div: zero divisor",
        lambda d: tensor(np.array([4, 2]), d).div(tensor(np.array([1, 0]), d)),
        ZeroDivisionError,
        ("[div]", "1"),
    ),
    ErrorCase("div_scalar: zero", lambda d: tensor(np.array([4, 2]), d).div_scalar(0), ZeroDivisionError, ("[div",)),
    ErrorCase(
        "remainder: zero divisor",
        lambda d: tensor(np.array([4, 2]), d) % tensor(np.array([0, 1]), d),
        ZeroDivisionError,
        ("[remainder]", "0"),
    ),
    ErrorCase(
        "bitwise_left_shift: negative",
        lambda d: tensor(np.array([4]), d).bitwise_left_shift(tensor(np.array([-1]), d)),
        ValueError,
        ("[bitwise_left_shift]", "-1"),
    ),
    ErrorCase(
        "mask_select: another shape",
        lambda d: tensor(x23, d).mask_select(tensor(np.ones((2, 4), bool), d)),
        ShapeError,
        ("[mask_select]", "[2, 3]", "[2, 4]"),
    ),
    ErrorCase(
        "mask_fill: mask that is no Bool",
        lambda d: tensor(x23, d).mask_fill(tensor(x23, d), 1.0),
        KindError,
        ("[mask_fill]", "Bool"),
    ),
]

# Integers of other widths: (method, dtype, inputs, result); arithmetic wraps modulo the width.
INTEGER_WIDTHS = [
    ("add", I8, ([127, -128], [1, -1]), [-128, 127]),
    ("sub", U8, ([0, 255], [1, 255]), [255, 0]),
    ("mul", I8, ([64, 3], [2, -3]), [-128, -9]),
    ("div", I8, ([-128, -7], [-1, 2]), [-128, -3]),
    ("remainder", I8, ([-128, -7], [-1, 3]), [0, 2]),
    ("mul", I32, ([2**31 - 1, 65536], [2, 65536]), [-2, 0]),
    ("add", I64, ([2**63 - 1], [1]), [-(2**63)]),
    ("div", I64, ([-(2**63), -(2**63)], [-1, 2]), [-(2**63), -(2**62)]),
    ("bitwise_left_shift", I32, ([1, 1, 3], [31, 32, 40]), [-(2**31), 0, 0]),
    ("bitwise_right_shift", I32, ([-8, -8, 8], [1, 40, 40]), [-4, -1, 0]),
]
