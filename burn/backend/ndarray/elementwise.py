"""Elementwise ops: arithmetic, comparisons, masks, casts, backward kernels and the optimizer step."""

import numpy as np

from burn.backend.contract import SHIFT, ZERO_DIV, KernelError
from burn.backend.ndarray.table import KERNELS, backward, is_float, kernel, operands, pointwise, wide

ROOT_2 = np.sqrt(2.0)
GELU_SCALE = np.sqrt(2.0 / np.pi)
GELU_CUBIC = 0.044715


def erf(x):
    """The error function. SciPy is imported at the first use only."""
    from scipy import special

    return special.erf(x)


def sigmoid(x):
    """`1 / (1 + exp(-x))` in the form that cannot overflow on either side."""
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, e) / (1.0 + e)


def normal_cdf(x):
    """Probability that a standard normal deviate is below `x`, exact in the far left tail too."""
    from scipy import special

    return 0.5 * special.erfc(-x / ROOT_2)


def gelu_inner(x):
    """Argument of tanh in the approximate GELU."""
    return GELU_SCALE * (x + GELU_CUBIC * x**3)


def damped(x, weight):
    """`x * weight`, with the limit 0 where the weight has vanished, at infinity too."""
    return np.where(weight == 0, np.copysign(0.0, x), x * weight)


def relu(x):
    """`max(x, 0)`; NaN stays NaN, -0 becomes 0."""
    return np.where(x <= 0, 0, x)


def power(x, y):
    """x to the power y as in C: NumPy may take the square root for 0.5, which differs at -inf and -0."""
    return np.power(np.where((y == 0.5) & ((x == 0) | (x == -np.inf)), np.abs(x), x), y)


def sign(x):
    """-1, 0 or 1; NaN gives 0."""
    return np.where(x > 0, 1, 0) - np.where(x < 0, 1, 0)


# Unary, float.
for _name, _ufunc in {
    "exp": np.exp, "log": np.log, "log1p": np.log1p, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "round": np.rint, "floor": np.floor, "ceil": np.ceil,
    "trunc": np.trunc, "is_nan": np.isnan, "is_inf": np.isinf, "is_finite": np.isfinite,
}.items():  # fmt: skip
    pointwise(_name, _ufunc)
pointwise("recip", lambda x: 1.0 / x)
pointwise("erf", erf)
pointwise("sigmoid", sigmoid)
pointwise("log_sigmoid", lambda x: -np.logaddexp(0.0, -x))
pointwise("relu", relu)
pointwise("gelu", lambda x: damped(x, normal_cdf(x)))
pointwise("gelu_approximate", lambda x: damped(x, 0.5 * (1.0 + np.tanh(gelu_inner(x)))))
pointwise("silu", lambda x: damped(x, sigmoid(x)))
pointwise("hard_swish", lambda x: damped(x, np.clip(x / 6.0 + 0.5, 0.0, 1.0)))
pointwise("mish", lambda x: damped(x, np.tanh(np.logaddexp(0.0, x))))
pointwise("softsign", lambda x: np.where(np.isinf(x), np.sign(x), x / (1.0 + np.abs(x))))
pointwise("tanhshrink", lambda x: x - np.tanh(x))

# Activations with numbers; those that one does not use are `_`.
pointwise("leaky_relu", lambda x, slope, *_: np.where(x < 0, slope * x, x))
pointwise("elu", lambda x, alpha, scale, rate, _: np.where(x > 0, scale * x, alpha * np.expm1(rate * x)))
pointwise("hard_sigmoid", lambda x, alpha, beta, *_: np.clip(alpha * x + beta, 0.0, 1.0))
pointwise("softplus", lambda x, b, end, *_: np.where(b * x > end, x, np.logaddexp(0.0, b * x) / b))
pointwise("shrink", lambda x, cut, bias, *_: np.where(np.abs(x) <= cut, 0.0, x - sign(x) * bias))
pointwise("threshold", lambda x, at, value, *_: np.where(x <= at, value, x))
pointwise("glu", lambda x, y: x * sigmoid(y))
pointwise("prelu", lambda x, slope: np.where(x < 0, slope * x, x))

# Unary, numbers.
pointwise("neg", np.negative)
pointwise("abs", np.abs)
pointwise("sign", sign)
pointwise("square", lambda x: x * x)
pointwise("bitwise_not", np.invert)

# Binary.
pointwise("add", np.add)
pointwise("sub", np.subtract)
pointwise("mul", np.multiply)
pointwise("max_pair", np.maximum)
pointwise("min_pair", np.minimum)
pointwise("fmod", np.fmod)
pointwise("hypot", np.hypot)
pointwise("powf", power)
pointwise("atan2", np.arctan2)
pointwise("bitwise_and", np.bitwise_and)
pointwise("bitwise_or", np.bitwise_or)
pointwise("bitwise_xor", np.bitwise_xor)


def refuse(bad, out, code, value=None):
    """Raises for the first element of the mask `bad`, seen with the shape of `out`."""
    bad = np.broadcast_to(bad, out.shape)
    if bad.any():
        position = int(np.argmax(bad))
        seen = 0 if value is None else int(np.broadcast_to(value, out.shape).reshape(-1)[position])
        raise KernelError(code, position, seen)


def quotient(x, y):
    """Integer quotient truncated toward zero; the smallest integer over -1 wraps to itself."""
    return np.floor_divide(x, y) + ((np.remainder(x, y) != 0) & ((x < 0) != (y < 0)))


@kernel("div")
def div(outs, ins, ints, floats):
    """Quotient; integers truncate toward zero and refuse a divisor of 0."""
    x, y = operands(outs, ins)
    if is_float(x.dtype):
        outs[0][...] = x / y
        return
    refuse(y == 0, outs[0], ZERO_DIV)
    outs[0][...] = quotient(x, y)


@kernel("remainder")
def remainder(outs, ins, ints, floats):
    """Remainder with the sign of the divisor, zeros included; a float over 0 is NaN."""
    x, y = operands(outs, ins)
    if not is_float(x.dtype):
        refuse(y == 0, outs[0], ZERO_DIV)
    outs[0][...] = np.remainder(x, y)


@kernel("floordiv")
def floordiv(outs, ins, ints, floats):
    """Quotient of integers, rounded down."""
    x, y = operands(outs, ins)
    refuse(y == 0, outs[0], ZERO_DIV)
    outs[0][...] = np.floor_divide(x, y)


@kernel("powi")
def powi(outs, ins, ints, floats):
    """Integer power by squaring, wrapping; a negative exponent gives 1 or -1 for such a base, 0 for any other."""
    base, exponent = (np.broadcast_to(a, outs[0].shape) for a in operands(outs, ins))
    result, square, left = np.ones_like(outs[0]), base.copy(), np.where(exponent < 0, 0, exponent)
    while left.any():
        result = np.where(left & 1, result * square, result)
        square, left = square * square, left >> 1
    of_unit = np.where((base == -1) & (exponent & 1 == 1), base, np.abs(base) == 1)
    outs[0][...] = np.where(exponent < 0, of_unit, result)


def shift(ufunc):
    """Kernel of a shift: by the width or more gives 0 (-1 for a negative value to the right), below 0 is refused."""

    def run(outs, ins, ints, floats):
        x, amount = operands(outs, ins)
        refuse(amount < 0, outs[0], SHIFT, amount)
        outs[0][...] = ufunc(x, amount)

    return run


kernel("bitwise_left_shift")(shift(np.left_shift))
kernel("bitwise_right_shift")(shift(np.right_shift))

# Comparisons and logic.
pointwise("equal", np.equal)
pointwise("not_equal", np.not_equal)
pointwise("greater", np.greater)
pointwise("greater_equal", np.greater_equal)
pointwise("lower", np.less)
pointwise("lower_equal", np.less_equal)
pointwise("bool_not", np.logical_not)
pointwise("bool_and", np.logical_and)
pointwise("bool_or", np.logical_or)
pointwise("bool_xor", np.logical_xor)

# Choices.
pointwise("mask_where", lambda x, mask, value: np.where(mask.astype(bool), value, x))
pointwise("clamp", lambda x, low, high: np.minimum(np.maximum(x, low), high))


@kernel("cast")
def cast(outs, ins, ints, floats):
    """Conversion of dtype: floats to integers truncate and saturate, NaN gives 0; integers wrap; Bool is nonzero."""
    x, out = ins[0], outs[0]
    if out.dtype.kind == "b":
        out[...] = x != 0
    elif is_float(x.dtype) and out.dtype.kind in "iu":
        x, limits = np.trunc(wide(x)), np.iinfo(out.dtype)
        low, high = float(limits.min), float(int(limits.max) + 1)  # powers of two: exact, unlike the largest integer
        inside = np.where((x >= low) & (x < high), x, 0.0).astype(out.dtype)
        out[...] = np.where(x >= high, limits.max, np.where(x < low, limits.min, inside))
    else:
        out[...] = x.astype(out.dtype)


# Backward kernels: the incoming gradient is the last input.
backward("mul_bwd", lambda x, g: g * x)
backward("div_bwd", lambda x, g: g / x)
backward("tanh_bwd", lambda y, g: g * (1.0 - y * y))
backward("sigmoid_bwd", lambda y, g: g * y * (1.0 - y))
backward("sqrt_bwd", lambda y, g: np.where(y == 0, 0.0, g / (2.0 * y)))
backward("relu_bwd", lambda x, g: np.where(x <= 0, 0.0, g))
backward("abs_bwd", lambda x, g: g * sign(x))
backward("erf_bwd", lambda x, g: g * 2.0 / np.sqrt(np.pi) * np.exp(-x * x))
backward("log_sigmoid_bwd", lambda x, g: g * sigmoid(-x))
backward("silu_bwd", lambda x, g: g * (sigmoid(x) + damped(x, sigmoid(x) * sigmoid(-x))))
backward("gelu_bwd", lambda x, g: g * (normal_cdf(x) + damped(x, np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi))))
backward("softsign_bwd", lambda x, g: g / np.square(1.0 + np.abs(x)))
backward("hard_swish_bwd", lambda x, g: np.where(x < -3, 0.0, np.where(x > 3, g, g * (x / 3.0 + 0.5))))
backward("prelu_bwd", lambda x, slope, g: np.where(x < 0, slope * g, g))
backward("leaky_relu_bwd", lambda x, g, slope, *_: np.where(x < 0, slope * g, g))
backward("hard_sigmoid_bwd", lambda x, g, a, b, *_: np.where((a * x + b >= 0) & (a * x + b <= 1), a * g, 0.0))
backward("softplus_bwd", lambda x, g, beta, end, *_: np.where(beta * x > end, g, g * sigmoid(beta * x)))
backward("shrink_bwd", lambda x, g, cut, *_: np.where(np.abs(x) <= cut, 0.0, g))
backward("threshold_bwd", lambda x, g, at, *_: np.where(x <= at, 0.0, g))


def mish_bwd(x, g):
    """Derivative of `x tanh(u)` with `u = log(1 + exp(x))`."""
    t = np.tanh(np.logaddexp(0.0, x))
    return g * (t + damped(x, sigmoid(x) * (1.0 - t * t)))


def elu_bwd(x, g, alpha, scale, rate, at_0):
    """Slopes of the two branches, and that at 0."""
    return g * np.where(x > 0, scale, np.where(x == 0, at_0, alpha * rate * np.exp(rate * x)))


def gelu_approximate_bwd(x, g):
    """Derivative of `0.5 x (1 + tanh(u))` with `u = gelu_inner(x)`."""
    t = np.tanh(gelu_inner(x))
    slope = GELU_SCALE * (1.0 + 3.0 * GELU_CUBIC * x * x)
    return g * 0.5 * (1.0 + t + damped(x * slope, 1.0 - t * t))


def powf_bwd(x, p, g):
    """`p x^(p-1) g`; 0 for p = 0, and for roots at x = 0, which have no finite slope there."""
    slope = power(x, p - 1.0)
    slope = np.where(np.abs(p) >= 2.0**53, np.copysign(slope, x), slope)  # p is even, p - 1 odd though rounded
    return np.where((p == 0) | ((x == 0) & (p > 0) & (p < 1)), 0.0, p * slope * g)


backward("mish_bwd", mish_bwd)
backward("elu_bwd", elu_bwd)
backward("gelu_approximate_bwd", gelu_approximate_bwd)
backward("powf_bwd", powf_bwd)
backward("powf_scalar_bwd", lambda x, g, p: powf_bwd(x, p, g))
pointwise("powf_scalar", power)


def error_power_slope(x, y, g, p, *_):
    """`p |x - y|^(p-1) sign(x - y) g`; 0 where x is y."""
    size = np.abs(x - y)
    return np.where(size == 0, 0.0, p * g * sign(x - y) * power(size, p - 1.0))


def huber(x, y, limit, over, *_):
    """Half the squared error over `over` up to the limit, straight lines beyond."""
    size = np.abs(x - y)
    return np.where(size <= limit, size * size / 2.0, limit * (size - limit / 2.0)) / over


pointwise("error_power", lambda x, y, p, *_: power(np.abs(x - y), p))
backward("error_power_bwd", error_power_slope)
backward("error_huber_bwd", lambda x, y, g, limit, over, *_: g * np.clip(x - y, -limit, limit) / over)
pointwise("error_huber", huber)


def kl_term(x, y, logs, *_):
    """`y (log y - x)`, or of the logarithm of y; 0 where y is impossible."""
    return np.where(y == -np.inf, 0.0, np.exp(y) * (y - x)) if logs else np.where(y == 0, 0.0, y * (np.log(y) - x))


def kl_term_target_bwd(x, y, g, logs, *_):
    """Its gradient by y."""
    if logs:
        return np.where(y == -np.inf, 0.0, g * np.exp(y) * (y - x + 1.0))
    return np.where(y == 0, 0.0, g * (np.log(y) - x + 1.0))


pointwise("kl_term", kl_term)
backward(
    "kl_term_bwd", lambda x, y, g, logs, *_: np.where((y == 0) & (logs == 0), 0.0, -g * (np.exp(y) if logs else y))
)
backward("kl_term_target_bwd", kl_term_target_bwd)


def error_sum(name: str) -> None:
    """The sum of a loss over the last number."""
    losses = KERNELS[name]

    @kernel(name + "_sum")
    def run(outs, ins, ints, floats):
        each = np.empty(ins[0].shape, wide(ins[0]).dtype)
        losses((each,), ins, ints, floats[:4])
        outs[0][...] = each.sum(dtype=np.float64) / floats[4]


error_sum("error_power")
error_sum("error_huber")
error_sum("kl_term")


@kernel("adam_step")
def adam_step(outs, ins, ints, floats):
    """One step of Adam or AdamW: new parameter and moments, epsilon outside the root and after the bias correction."""
    parameter, grad, m, v = map(wide, ins[:4])
    weight_decay, b1, c1, b2, c2, scale_m, scale_v, epsilon, decay, lr = floats
    grad = grad + weight_decay * parameter
    m = b1 * m + c1 * grad
    v = b2 * v + c2 * grad * grad
    second = np.maximum(v, wide(ins[4])) if ints[0] == 3 else v
    kept = np.where((parameter >= 0) == (m >= 0), decay, 1.0) if ints[1] else decay
    parameter = parameter * kept - lr * (m * scale_m) / (np.sqrt(second * scale_v) + epsilon)
    for out, value in zip(outs, (parameter, m, v, second), strict=False):
        out[...] = value


@kernel("sgd_step")
def sgd_step(outs, ins, ints, floats):
    """One step of SGD: new parameter and, where there is one, velocity."""
    parameter, grad = map(wide, ins[:2])
    weight_decay, momentum, rest, lr = floats
    grad = grad + weight_decay * parameter
    if ints[0]:
        velocity = momentum * wide(ins[2]) + rest * grad
        grad = momentum * velocity + grad if ints[1] else velocity
        outs[1][...] = velocity
    outs[0][...] = parameter - lr * grad
