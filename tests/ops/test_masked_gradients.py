"""Where the incoming gradient is 0 the one passed on is 0, whatever an operation met there: infinities, NaN, divisors of 0."""

import numpy as np
import pytest

from burn.linalg import vector_norm
from burn.tensor import activation
from tests.cases import BF16, F16, F32, F64, as_tuple, is_float
from tests.cases import activation as activations
from tests.cases import elementwise as elementwises
from tests.cases.tensors import array, gradients, tensor
from tests.ops.calls import CASES
from tests.ops.checks import each

# Zeros, ones, infinities, NaN, and for every dtype something huge and something subnormal.
ODD = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 3e38, -3e38, 6e4, 1e-40, -1e-40, 1e-7])
# Each element of their gradients is a sum over several elements of the incoming one, times other values.
SUMS = (
    "attention", "batch_norm", "conv", "cov", "deform_conv", "det", "einsum", "grid_sample", "layer_norm", "linear", "lu(",
    "matmul", "matvec", "qr(", "svd", "(1", "(2", "(3", "x @ y",
)  # fmt: skip
# No functions of one element.
ROWS = ("softmax", "log_softmax", "softmin", "quiet_softmax", "glu", "normalize", "mask_select")
MIXED = [c for c in CASES if c.grad and not c.name.startswith(SUMS)]
POINTWISE = [
    c
    for c in (*elementwises.CASES, *activations.CASES)
    if c.grad and not c.name.startswith(ROWS) and len({a.shape for a in c.args if a.dtype is None}) == 1
]


def odd(shape, dtype, turn):
    """Odd values in a shape, in an order of the turn."""
    with np.errstate(all="ignore"):
        return np.resize(np.roll(ODD, turn), shape).astype(dtype)


def spoiled(case, arrays, where=Ellipsis):
    """The float inputs with odd values, several combinations in the elements of two inputs."""
    made = [a.copy() for a in arrays]
    for k, (a, argument) in enumerate(zip(made, case.args, strict=True)):
        if argument.dtype is None and is_float(a.dtype):
            a[where] = odd(a.shape, a.dtype, 3 * k)[where]
    return made


@each(MIXED)
def test_no_gradient_in_none_out(case, device):
    for dtype in filter(is_float, case.dtypes):
        arrays = spoiled(case, case.inputs(dtype))
        outputs = [y for y in as_tuple(case.call(*(tensor(a, device) for a in arrays))) if y.dtype.is_float]
        found = gradients(case.call, arrays, [np.zeros(list(y.shape)) for y in outputs], device)
        for grad in found:
            if grad is not None:
                np.testing.assert_array_equal(grad.astype(F64), 0.0)


@each(POINTWISE)
def test_other_elements_keep_theirs(case, device):
    """Odd values where the incoming gradient is 0 change no other gradient."""
    shape = (5, 13)
    where = np.random.default_rng(0).random(shape) < 0.5
    for dtype in filter(is_float, case.dtypes):
        arrays = case.inputs(dtype, shape)
        if any(a.shape != shape for a in arrays):
            return
        cotangent = np.where(where, 0.0, np.random.default_rng(1).uniform(0.5, 1.5, shape))
        plain = gradients(case.call, arrays, [cotangent], device)
        found = gradients(case.call, spoiled(case, arrays, where), [cotangent], device)
        for have, want in zip(found, plain, strict=True):
            if have is not None:
                np.testing.assert_array_equal(have[where].astype(F64), 0.0)
                np.testing.assert_array_equal(have[~where], want[~where])


X = np.array([-2.0, -0.0, 0.0, 1.0, 4.0, np.inf, np.nan, 800.0, -np.inf])
POSITIVE, FINITE = X > 0, np.isfinite(X)
CHAINS = {
    "sqrt": (lambda x: x.sqrt(), POSITIVE & FINITE, lambda x: 0.5 / np.sqrt(x)),
    "log": (lambda x: x.log(), POSITIVE & FINITE, lambda x: 1 / x),
    "log1p": (lambda x: (x - 1).log1p(), POSITIVE & FINITE, lambda x: 1 / x),
    "recip": (lambda x: x.recip(), POSITIVE & FINITE, lambda x: -1 / x**2),
    "1 / x": (lambda x: 1 / x, POSITIVE & FINITE, lambda x: -1 / x**2),
    "x / x": (lambda x: x / x, POSITIVE & FINITE, lambda x: 0 * x),
    "x * log(x)": (lambda x: x * x.log(), POSITIVE & FINITE, lambda x: np.log(x) + 1),
    "exp": (lambda x: x.exp(), np.abs(X) < 10, np.exp),
    "exp of a square": (lambda x: x.square().exp(), np.abs(X) < 3, lambda x: 2 * x * np.exp(x**2)),
    "x ** -1.5": (lambda x: x**-1.5, POSITIVE & FINITE, lambda x: -1.5 * x**-2.5),
    "x ** x": (lambda x: x.powf(x), POSITIVE & (X < 100), lambda x: x**x * (np.log(x) + 1)),
    "2 ** x": (lambda x: x.full_like(2.0).powf(x), np.abs(X) < 10, lambda x: 2.0**x * np.log(2)),
    "x * inf": (lambda x: x * np.inf, np.zeros_like(FINITE), lambda x: x),
    "x / 0": (lambda x: x / 0.0, np.zeros_like(FINITE), lambda x: x),
    "asin": (lambda x: (x / 8).asin(), np.abs(X) < 8, lambda x: 1 / np.sqrt(64 - x**2)),
    "acosh": (lambda x: x.acosh(), (X > 1) & FINITE, lambda x: 1 / np.sqrt(x**2 - 1)),
    "atanh": (lambda x: (x / 4).atanh(), np.abs(X) < 4, lambda x: 4 / (16 - x**2)),
    "tanh of a logarithm": (lambda x: x.log().tanh(), POSITIVE & FINITE, lambda x: 4 * x / (x**2 + 1) ** 2),
    "atan2": (lambda x: x.atan2(x - 1), POSITIVE & (X < 100), lambda x: -1 / (x**2 + (x - 1) ** 2)),
    "hypot": (lambda x: x.hypot(x), POSITIVE & FINITE, lambda x: np.sqrt(2) * np.sign(x)),
}


@pytest.mark.parametrize("chain", CHAINS)
def test_masked_chains(chain, device):
    """`where(mask, f(x), 0)` has the gradient of f where the mask is true, and 0 elsewhere."""
    function, mask, slope = CHAINS[chain]
    with np.errstate(all="ignore"):
        want = np.where(mask, slope(X), 0.0)
    hidden = tensor(~mask, device)
    (filled,) = gradients(lambda x: function(x).mask_fill(hidden, 0.0), [X], [np.ones(X.shape)], device)
    np.testing.assert_allclose(filled, want, rtol=1e-10)
    (chosen,) = gradients(lambda x: function(x).mask_where(hidden, x.zeros_like()), [X], [np.ones(X.shape)], device)
    np.testing.assert_allclose(chosen, want, rtol=1e-10)


def test_division_by_a_masked_divisor(device):
    x, y = np.array([1.0, 0.0, 3.0, np.nan]), np.array([2.0, 0.0, 0.0, 4.0])
    hidden = tensor(np.array([False, True, True, True]), device)
    found = gradients(lambda a, b: (a / b).mask_fill(hidden, 0.0), [x, y], [np.ones(4)], device)
    np.testing.assert_array_equal(found, [[0.5, 0, 0, 0], [-0.25, 0, 0, 0]])


ROW_OPS = {
    "softmax": lambda x: activation.softmax(x, 1),
    "log_softmax": lambda x: activation.log_softmax(x, 1),
    "quiet_softmax": lambda x: activation.quiet_softmax(x, 1),
    "columns": lambda x: activation.softmax(x.t(), 0).t(),
    "columns, logarithm": lambda x: activation.log_softmax(x.t(), 0).t(),
    "prod": lambda x: x.prod_dim(1),
    "sum": lambda x: x.sum_dim(1),
    "mean": lambda x: x.mean_dim(1),
    "max": lambda x: x.max_dim(1),
    "var": lambda x: x.var(1),
    "std": lambda x: x.var(1).sqrt(),
    "norm": lambda x: vector_norm(x, 2.0, 1),
    "norm 3": lambda x: vector_norm(x, 3.0, 1),
    "cumsum": lambda x: x.cumsum(1),
    "cumprod": lambda x: x.cumprod(1),
    "cummax": lambda x: x.cummax(1),
    "sort": lambda x: x.sort(1),
}


@pytest.mark.parametrize("dtype", [F64, F32, F16, BF16], ids=str)
@pytest.mark.parametrize("name", ROW_OPS)
@pytest.mark.parametrize("columns", [3, 40, 9000])
def test_rows_without_gradient(name, dtype, columns, device):
    """A row of a batch that a loss leaves out has no gradient, and the others have theirs."""
    if columns == 9000 and (device.name != "flex" or dtype == BF16):
        return
    x = np.random.default_rng(0).uniform(0.99, 1.01, (4, columns)).astype(dtype)
    bad = x.copy()
    bad[1], bad[3] = odd(columns, dtype, 0), odd(columns, dtype, 4)
    wide = array(ROW_OPS[name](tensor(x, device))).shape
    cotangent = np.random.default_rng(1).uniform(0.5, 1.5, wide)
    cotangent[[1, 3]] = 0.0
    (want,) = gradients(ROW_OPS[name], [x], [cotangent], device)
    (have,) = gradients(ROW_OPS[name], [bad], [cotangent], device)
    np.testing.assert_array_equal(have[[1, 3]].astype(F64), 0.0)
    np.testing.assert_array_equal(have[[0, 2]], want[[0, 2]])
