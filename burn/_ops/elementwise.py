"""Elementwise ops: one row an op, its gradient beside it.

The kernels are `_core/elementwise.pyx`; every input has the output's shape, by strides where it is broadcast.
"""

from burn._core import core
from burn._ops.registry import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NUMERIC,
    OPS,
    broadcast,
    check_kind,
    check_same,
    check_tensor,
    define,
    int_range,
    is_number,
    number,
)
from burn._ops.rule import compile_rule, python_rule
from burn.errors import ArgumentError, DTypeError, ShapeError
from burn.tensor.dtype import DType

BOOL_CODE = DType.Bool.code
OPEN = object()  # no limit
_RULES = []


def _bridge1(op, x):
    check_tensor(op.name, x)
    check_kind(op.name, x, op.kinds)
    return op.apply((x,), x._dims, x._dtype if op.out_dtype < 0 else op.out_dtype)


def _bridge2(op, x, y):
    if not isinstance(x, core.TensorBase):
        if isinstance(y, core.TensorBase) and is_number(x):
            check_kind(op.name, y, op.kinds)
            left = OPS.get(op.name + "_scalar_left")
            if left is None:
                return op(core.make_scalar(y._dtype, y._slot, 0, *number(op.name, y, x), y.ndim), y)
            return left.scalar(y, *number(op.name, y, x))
        check_tensor(op.name, x)
    check_kind(op.name, x, op.kinds)
    if not isinstance(y, core.TensorBase):
        value = number(op.name, x, y)
        scalar = OPS.get(op.name + "_scalar")
        if scalar is None:
            return op(x, core.make_scalar(x._dtype, x._slot, 0, *value, x.ndim))
        return scalar.scalar(x, *value)
    check_kind(op.name, y, op.kinds, "other")
    check_same(op.name, x, y)
    shape = broadcast(op.name, x._dims, y._dims)
    return op.apply((x, y), shape, x._dtype if op.out_dtype < 0 else op.out_dtype)


def _bridge_scalar(op, x, value):
    check_tensor(op.name, x)
    check_kind(op.name, x, op.kinds)
    return op.scalar(x, *number(op.name, x, value, "value"))


def unary(name, kinds, grad=None, *, out_dtype=-1):
    """A row of one input; grad is an expression over x, out and g, "cut" where no gradient flows."""
    op = define(
        name,
        "elementwise",
        kinds=kinds,
        elementwise=True,
        out_dtype=out_dtype,
        bridge=_bridge1,
        cuts_graph=grad is None,
    )
    if grad is not None:
        _RULES.append((op, (grad,), ("x",)))
    return op


def binary(name, kinds, grads=None, *, out_dtype=-1):
    """A row of two inputs; grads are expressions over lhs, rhs, out and g."""
    op = define(
        name,
        "elementwise",
        kinds=kinds,
        n_in=2,
        elementwise=True,
        out_dtype=out_dtype,
        bridge=_bridge2,
        cuts_graph=grads is None,
    )
    if grads is not None:
        _RULES.append((op, grads, ("lhs", "rhs")))
    return op


def scalar(name, base, grad=None, *, side=1):
    """The form of a two-tensor row with a number at its right (side 1) or left (side -1)."""
    b = OPS[base]
    op = define(
        name, "elementwise", kernel=b.kernel, kinds=b.kinds, elementwise=True, out_dtype=b.out_dtype, scalar_side=side,
        bridge=_bridge_scalar, cuts_graph=grad is None,
    )  # fmt: skip
    if side > 0:
        b.with_number = op
    else:
        b.with_number_left = op
    if grad is not None:
        _RULES.append((op, (grad,), ("x",)))
    return op


def numbered(name):
    """A row of one input and up to four numbers, with a kernel of its own for the gradient: f(x, *numbers)."""
    op = define(name, "elementwise", kinds=FLOAT, elementwise=True, attrs=("numbers",))
    back = define(name + "_bwd", "elementwise", kinds=FLOAT, n_in=2, elementwise=True, cuts_graph=True)
    op.rule = python_rule(lambda node, g: (back.apply((node.saved(0), g), g._dims, g._dtype, (), node.attrs),), ["0"])

    def run(x, *numbers, caller=name):
        out = core.numbered(op, x, numbers)
        if out is not None:
            return out
        check_kind(caller, check_tensor(caller, x, "tensor"), FLOAT, "tensor")
        floats = (*numbers, 0.0, 0.0, 0.0, 0.0)[:4]
        return op.apply((x,), x._dims, x._dtype, (), floats, floats)

    run.op = op
    return run


def error_loss(name, by_target=None):
    """A function of x - y with up to four numbers, and a kernel for its gradient by x: f(x, y, *numbers). A function of both has
    another kernel, by_target, for that by y.

    f.sum(x, y, over, *numbers) is the sum of its values over a number, in one pass; None where there is no kernel for that.
    """
    op = define(name, "elementwise", kinds=FLOAT, n_in=2, elementwise=True, attrs=("numbers",))
    back = define(name + "_bwd", "elementwise", kinds=FLOAT, n_in=3, elementwise=True, cuts_graph=True)

    target_back = by_target and define(by_target, "elementwise", kinds=FLOAT, n_in=3, elementwise=True, cuts_graph=True)

    def slopes(node, g, floats):
        x, y = node.saved(0), node.saved(1)
        given, by_x, by_y = ((x, y, g), x._dims, x._dtype, (), floats), None, None
        if node.needs(0) or (node.needs(1) and not target_back):
            by_x = back.apply(*given)
        if node.needs(1):
            by_y = target_back.apply(*given) if target_back else neg(by_x)
        return by_x if node.needs(0) else None, by_y

    def backward(node, g):
        return slopes(node, g, node.attrs)

    op.rule = python_rule(backward, ["0 1", "0 1"])
    total = define(name + "_sum", "elementwise", kinds=FLOAT, n_in=2)

    def sum_backward(node, g):
        *floats, over = node.attrs
        return slopes(node, div(g, over), tuple(floats))

    total.rule = python_rule(sum_backward, ["0 1", "0 1"])

    def four(numbers):
        return (*numbers, 0.0, 0.0, 0.0, 0.0)[:4]

    def run(x, y, *numbers):
        floats = four(numbers)
        return op.apply((x, y), x._dims, x._dtype, (), floats, floats)

    def run_sum(x, y, over, *numbers):
        if not total.has_kernel(x._slot, x._dtype):
            return None
        floats = (*four(numbers), over)
        return total.apply((x, y), (1,), x._dtype, (), floats, floats)

    run.op = op
    run.sum = run_sum
    return run


def backward_kernel(name):
    """A row that gradients use: (saved, g) -> gradient."""
    return define(name, "elementwise", kinds=FLOAT, n_in=2, elementwise=True, bridge=_bridge2, cuts_graph=True)


# Gradients times and over something, (saved, g): 0 where g is, whatever is saved. `g * x` in an expression is mul_bwd(x, g).
mul_bwd = backward_kernel("mul_bwd")
div_bwd = backward_kernel("div_bwd")
for _name in ("mul_bwd", "div_bwd"):
    scalar(_name + "_scalar_left", _name, side=-1)

# Arithmetic
add = binary("add", NUMERIC, ("g", "g"))
sub = binary("sub", NUMERIC, ("g", "-g"))
mul = binary("mul", NUMERIC, ("g * rhs", "g * lhs"))
div = binary("div", NUMERIC, ("g / rhs", "-(g * out / rhs)"))
remainder = binary("remainder", NUMERIC, ("g", "-(g * floor(lhs / rhs))"))
floordiv = binary("floordiv", INT)
powf = binary(
    "powf",
    FLOAT,
    (
        "powf_bwd(lhs, rhs, g)",
        "mask_where(g * out * log(lhs), bool_and(equal(lhs, 0.0), greater_equal(rhs, 0.0)), zeros())",
    ),
)
powi = binary("powi", INT)
atan2 = binary(
    "atan2",
    FLOAT,
    (
        "mask_where(g * rhs / (lhs * lhs + rhs * rhs), equal(lhs * lhs + rhs * rhs, 0.0), zeros())",
        "mask_where(-(g * lhs / (lhs * lhs + rhs * rhs)), equal(lhs * lhs + rhs * rhs, 0.0), zeros())",
    ),
)
max_pair = binary(
    "max_pair",
    NUMERIC,
    (
        "mask_where(g, bool_or(lower(lhs, rhs), is_nan(rhs)), zeros())",
        "mask_where(zeros(), bool_or(lower(lhs, rhs), is_nan(rhs)), g)",
    ),
)
min_pair = binary(
    "min_pair",
    NUMERIC,
    (
        "mask_where(g, bool_or(greater(lhs, rhs), is_nan(rhs)), zeros())",
        "mask_where(zeros(), bool_or(greater(lhs, rhs), is_nan(rhs)), g)",
    ),
)
fmod = binary("fmod", FLOAT, ("g", "-(g * trunc(lhs / rhs))"))
hypot = binary(
    "hypot",
    FLOAT,
    (
        "mask_where(g * (lhs / out), equal(out, 0.0), zeros())",
        "mask_where(g * (rhs / out), equal(out, 0.0), zeros())",
    ),
)
add_scalar = scalar("add_scalar", "add", "g")
sub_scalar = scalar("sub_scalar", "sub", "g")
mul_scalar = scalar("mul_scalar", "mul", "g * s")
div_scalar = scalar("div_scalar", "div", "g / s")
remainder_scalar = scalar("remainder_scalar", "remainder", "g")
floordiv_scalar = scalar("floordiv_scalar", "floordiv")
fmod_scalar = scalar("fmod_scalar", "fmod", "g")
sub_scalar_left = scalar("sub_scalar_left", "sub", "-g", side=-1)
div_scalar_left = scalar("div_scalar_left", "div", "-(g * out / x)", side=-1)
OPS["add_scalar_left"], OPS["mul_scalar_left"] = add_scalar, mul_scalar
add.with_number_left, mul.with_number_left = add_scalar, mul_scalar
max_pair_scalar = scalar("max_pair_scalar", "max_pair", "mask_where(g, lower(x, s), zeros())")
min_pair_scalar = scalar("min_pair_scalar", "min_pair", "mask_where(g, greater(x, s), zeros())")

neg = unary("neg", NUMERIC, "-g")
abs_ = unary("abs", NUMERIC, "abs_bwd(x, g)")
sign = unary("sign", NUMERIC, "zeros()")
square = unary("square", NUMERIC, "g * x * 2.0")  # g * 2.0 first would overflow where the gradient does not

# Powers, exponentials, rounding
exp = unary("exp", FLOAT, "g * out")
log = unary("log", FLOAT, "g / x")
log1p = unary("log1p", FLOAT, "g / (x + 1.0)")
sqrt = unary("sqrt", FLOAT, "sqrt_bwd(out, g)")
recip = unary("recip", FLOAT, "-(g * out * out)")
erf = unary("erf", FLOAT, "erf_bwd(x, g)")
round_ = unary("round", FLOAT, "zeros()")
floor = unary("floor", FLOAT, "zeros()")
ceil = unary("ceil", FLOAT, "zeros()")
trunc = unary("trunc", FLOAT, "zeros()")

# Trigonometry
sin = unary("sin", FLOAT, "g * cos(x)")
cos = unary("cos", FLOAT, "-(g * sin(x))")
tan = unary("tan", FLOAT, "g * (out * out + 1.0)")
sinh = unary("sinh", FLOAT, "g * cosh(x)")
cosh = unary("cosh", FLOAT, "g * sinh(x)")
tanh = unary("tanh", FLOAT, "tanh_bwd(out, g)")
asin = unary("asin", FLOAT, "g / sqrt(1.0 - x * x)")
acos = unary("acos", FLOAT, "-(g / sqrt(1.0 - x * x))")
atan = unary("atan", FLOAT, "g / (x * x + 1.0)")
asinh = unary("asinh", FLOAT, "g / sqrt(x * x + 1.0)")
acosh = unary("acosh", FLOAT, "g / sqrt(x * x - 1.0)")
atanh = unary("atanh", FLOAT, "g / (1.0 - x * x)")

# Activations
relu = unary("relu", FLOAT, "relu_bwd(out, g)")
sigmoid = unary("sigmoid", FLOAT, "sigmoid_bwd(out, g)")
log_sigmoid = unary("log_sigmoid", FLOAT, "log_sigmoid_bwd(x, g)")
gelu = unary("gelu", FLOAT, "gelu_bwd(x, g)")
gelu_approximate = unary("gelu_approximate", FLOAT, "gelu_approximate_bwd(x, g)")
silu = unary("silu", FLOAT, "silu_bwd(x, g)")
hard_swish = unary("hard_swish", FLOAT, "hard_swish_bwd(x, g)")
mish = unary("mish", FLOAT, "mish_bwd(x, g)")
softsign = unary("softsign", FLOAT, "softsign_bwd(x, g)")
tanhshrink = unary("tanhshrink", FLOAT, "g * square(tanh(x))")
glu = binary("glu", FLOAT, ("g * sigmoid(rhs)", "g * out * sigmoid(-rhs)"))
prelu = binary("prelu", FLOAT, ("prelu_bwd(lhs, rhs, g)", "g * min_pair(lhs, 0.0)"))
for _name in ("prelu_bwd", "powf_bwd"):
    define(_name, "elementwise", kinds=FLOAT, n_in=3, elementwise=True, cuts_graph=True)
for _name in (
    "abs", "sqrt", "erf", "tanh", "relu", "sigmoid", "log_sigmoid", "gelu", "gelu_approximate", "silu", "hard_swish",
    "mish", "softsign",
):  # fmt: skip
    backward_kernel(_name + "_bwd")
leaky_relu = numbered("leaky_relu")
elu = numbered("elu")
hard_sigmoid = numbered("hard_sigmoid")
softplus = numbered("softplus")
shrink = numbered("shrink")
threshold = numbered("threshold")

# Losses of an error x - y: |x - y|^p; Huber's of (limit, divisor, limit / divisor)
error_power = error_loss("error_power")
error_huber = error_loss("error_huber")
kl_term = error_loss("kl_term", "kl_term_target_bwd")

# Comparisons
equal = binary("equal", ANY, out_dtype=BOOL_CODE)
not_equal = binary("not_equal", ANY, out_dtype=BOOL_CODE)
greater = binary("greater", NUMERIC, out_dtype=BOOL_CODE)
greater_equal = binary("greater_equal", NUMERIC, out_dtype=BOOL_CODE)
lower = binary("lower", NUMERIC, out_dtype=BOOL_CODE)
lower_equal = binary("lower_equal", NUMERIC, out_dtype=BOOL_CODE)
for _name in ("equal", "not_equal", "greater", "greater_equal", "lower", "lower_equal"):
    scalar(_name + "_scalar", _name)
is_nan = unary("is_nan", FLOAT, out_dtype=BOOL_CODE)
is_inf = unary("is_inf", FLOAT, out_dtype=BOOL_CODE)
is_finite = unary("is_finite", FLOAT, out_dtype=BOOL_CODE)

# Bool and bits
bool_not = unary("bool_not", BOOL)
bool_and = binary("bool_and", BOOL)
bool_or = binary("bool_or", BOOL)
bool_xor = binary("bool_xor", BOOL)
bitwise_not = unary("bitwise_not", INT)
for _name in ("and", "or", "xor", "left_shift", "right_shift"):
    binary("bitwise_" + _name, INT)
    scalar(f"bitwise_{_name}_scalar", "bitwise_" + _name)

# Ops with their own arguments
_mask_where = define("mask_where", "elementwise", kinds=ANY, n_in=3, elementwise=True, mask=1)
_clamp = define("clamp", "elementwise", kinds=NUMERIC, n_in=3, elementwise=True)
_cast = define("cast", "elementwise", kinds=ANY, elementwise=True, attrs=("from_dtype",))
_powf_scalar = define("powf_scalar", "elementwise", kinds=FLOAT, elementwise=True, attrs=("exponent",))
_powf_scalar_bwd = define("powf_scalar_bwd", "elementwise", kinds=FLOAT, n_in=2, elementwise=True, cuts_graph=True)
adam_step = define("adam_step", "elementwise", kinds=FLOAT, n_in=4, n_out=3, cuts_graph=True)
sgd_step = define("sgd_step", "elementwise", kinds=FLOAT, n_in=3, n_out=2, cuts_graph=True)

_RULES.append(
    (_mask_where, ("mask_where(g, mask, zeros())", None, "mask_where(zeros(), mask, g)"), ("x", "mask", "value"))
)
_RULES.append(
    (
        _clamp,
        ("mask_where(zeros(), bool_and(greater_equal(x, lo), lower_equal(x, hi)), g)", None, None),
        ("x", "lo", "hi"),
    )
)
_cast.rule = python_rule(lambda node, g: (cast(g, DType.of_code(node.attrs)),), [""])
_powf_scalar.rule = python_rule(
    lambda node, g: (_powf_scalar_bwd.apply((node.saved(0), g), g._dims, g._dtype, (), (node.attrs,)),), ["0"]
)
for _op, _grads, _inputs in _RULES:
    _op.rule = compile_rule(_grads, _inputs, OPS)


def mask_where(x, mask, value, name="mask_where"):
    """value where mask is true, x elsewhere; the three broadcast."""
    out = core.mixed(_mask_where, x, mask, value) if isinstance(value, core.TensorBase) else None
    if out is not None:
        return out
    check_tensor(name, x)
    check_kind(name, check_tensor(name, mask, "mask"), BOOL, "mask")
    check_same(name, x, check_tensor(name, value, "value"), "value")
    if mask._slot != x._slot:
        check_same(name, x, mask, "mask")
    shape = broadcast(name, broadcast(name, x._dims, mask._dims, "mask"), value._dims, "value")
    return _mask_where.apply((x, mask, value), shape, x._dtype)


def mask_fill(x, mask, value, name="mask_fill"):
    """A number where mask is true, x elsewhere."""
    out = core.mixed(_mask_where, x, mask, value)
    if out is not None:
        return out
    check_tensor(name, x)
    fill = core.make_scalar(x._dtype, x._slot, 0, *number(name, x, value, "value"), x.ndim)
    return mask_where(x, mask, fill, name)


def clamp(x, low=OPEN, high=OPEN, name="clamp"):
    """x limited to low..high; NaN stays NaN. OPEN is no limit."""
    if low is not None and high is not None:
        out = core.clamp(_clamp, x, None if low is OPEN else low, None if high is OPEN else high)
        if out is not None:
            return out
    check_kind(name, check_tensor(name, x), NUMERIC)
    lowest, highest = (float("-inf"), float("inf")) if x._kind == FLOAT else int_range(x._dtype)
    low, high = lowest if low is OPEN else low, highest if high is OPEN else high
    ends = [number(name, x, low, "min"), number(name, x, high, "max")]
    if low > high:
        raise ArgumentError(f"[{name}] 'min' must not exceed 'max', got {low} and {high}")
    ends = [core.make_scalar(x._dtype, x._slot, 0, *end, x.ndim) for end in ends]
    return _clamp.apply((x, *ends), x._dims, x._dtype)


def cast(x, dtype):
    """x in another dtype; the kind follows."""
    if dtype.code == x._dtype:
        return x
    out = core.converted(_cast, x, dtype.code)
    return out if out is not None else _cast.apply((x,), x._dims, dtype.code, (), (), x._dtype)


_ODD = 1 << 24  # f32 holds no odd number beyond


def powf_scalar(x, exponent, argument="value"):
    """x to a power; whole exponents take the exact forms."""
    if type(exponent) in (int, float) and isinstance(x, core.TensorBase) and x._kind == FLOAT:
        if type(exponent) is int and not -_ODD <= exponent <= _ODD:
            return _large_power(x, exponent, argument)
        out = None if exponent == 1 else core.numbered(_powf_scalar, x, (exponent,))
        if out is not None:
            return out
    check_kind("powf_scalar", check_tensor("powf_scalar", x), FLOAT)
    p = number("powf_scalar", x, exponent, argument)[0]
    if p == 1.0:
        return core.clone(x)
    return _powf_scalar.apply((x,), x._dims, x._dtype, (), (p,), p)


def powi_float(x, exponent):
    """A Float tensor to the power of an Int tensor."""
    dtype, ints = x.dtype, exponent.dtype
    bits = 8 * ints.size
    if bits > 8 and dtype in (DType.F16, DType.BF16):
        return cast(powi_float(cast(x, DType.F32), exponent), dtype)
    out = powf(x, cast(exponent, dtype))
    digits = 53 if dtype == DType.F64 else 24
    if bits <= digits:
        return out
    # Beyond, all exponents have become even. x + 1 / x is below 0 where x is or is -0.
    beyond = exponent.greater_scalar(1 << digits)
    if ints.is_int:
        beyond = bool_or(beyond, exponent.lower_scalar(-(1 << digits)))
    odd = bool_and(beyond, exponent.bitwise_and_scalar(1).equal_scalar(1))
    plain = core.cut(x, x._ctx)
    return mask_where(out, bool_and(odd, lower(add(plain, recip(plain)), 0.0)), neg(out))


def _large_power(x, exponent, argument):
    """x to an int whose last bit a float does not keep: the even power of x, times or over x for an odd one."""
    odd = exponent % 2
    even = exponent - odd if exponent > 0 else exponent + odd
    power = powf_scalar(x, number("powf_scalar", x, even, argument)[0], argument)
    return power if not odd else mul(power, x) if exponent > 0 else div(power, x)


def updated(op, param, grad, states, ints, floats):
    """One step of an optimizer on plain tensors of one shape: the new parameter and states; the old ones stay as they are.

    adam_step has the states first moment, second moment and, at will, the largest second moment; ints are (number of
    states, whether decay is cautious), floats (weight_decay, beta_1, 1 - beta_1, beta_2, 1 - beta_2, scale_1, scale_2,
    epsilon, decay, lr): lr * moment_1 * scale_1 / (sqrt(moment_2 * scale_2) + epsilon) is taken from param * decay.
    sgd_step has the velocity or no state; ints are (number of states, whether momentum is Nesterov's), floats
    (weight_decay, share of the velocity, share of the gradient, lr).
    """
    if param._kind != FLOAT:
        raise DTypeError(f"[{op.name}] 'param' must be Float, got {param.dtype.name}")
    for name, t in (("grad", grad), *(("state", state) for state in states)):
        check_same(op.name, param, t, name)
        if t._dims != param._dims:
            raise ShapeError(f"[{op.name}] '{name}' must have shape {list(param._dims)}, got {list(t._dims)}")
    state = core.UpdateState(param._slot, param.ndim, 0, None)
    state.tensors = tuple(states)
    updates = core.Updates(op, ints, floats)
    out = updates.add(param, grad, state)
    updates.run(True)
    return out, state.tensors


for _slot, _op in {
    "add": add, "sub": sub, "mul": mul, "neg": neg, "abs": abs_, "mod": remainder, "lt": lower, "le": lower_equal, "eq": equal,
    "ne": not_equal, "gt": greater, "ge": greater_equal,
}.items():  # fmt: skip
    core.set_slot(_slot, _op)
