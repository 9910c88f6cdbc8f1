"""Elementwise ops against NumPy, on every device."""

import numpy as np
import pytest

from burn._core import core
from burn._ops import elementwise as ops
from burn.tensor import Tensor
from tests.cases import BF16, BOOL, F16, F32, F64, SPECIAL
from tests.cases import elementwise as cases
from tests.cases.tensors import array, gradients, tensor
from tests.ops.checks import (
    assert_close,
    check_error,
    check_gradient,
    check_special,
    check_threads,
    check_value,
    check_views,
    each,
    run,
)  # fmt: skip


@each(cases.CASES)
def test_value(case, device):
    check_value(case, device)


@each([c for c in cases.CASES if c.grad])
def test_gradient(case, device):
    check_gradient(case, device)


@each(cases.CASES)
def test_views(case, device):
    check_views(case, device)


@each([c for c in cases.CASES if c.special])
def test_special(case, device):
    check_special(case, device)


@each(cases.CASES)
def test_threads(case, flex):
    if all(a.shape is None for a in case.args):
        check_threads(case, flex, (300_001,))


@each(cases.BROADCASTING)
def test_broadcast(case, device):
    for shapes in cases.BROADCAST_SHAPES:
        for dtype in {case.dtypes[0], case.dtypes[-1]}:
            arrays = [case.inputs(dtype, s, seed=i)[i] for i, s in enumerate(shapes)]
            for have, want in zip(run(case, arrays, device), case.expected(arrays), strict=True):
                assert_close(have, want, case.slack)


@each([c for c in cases.BROADCASTING if c.grad])
def test_broadcast_gradient(case, device):
    for shapes in cases.BROADCAST_SHAPES[:4]:
        check_gradient(case, device, [case.inputs(F64, s, seed=i)[i] for i, s in enumerate(shapes)])


@each(cases.ERRORS)
def test_error(case, device):
    check_error(case, device)


@pytest.mark.parametrize(("name", "dtype", "inputs", "result"), cases.INTEGER_WIDTHS)
def test_integer_width(name, dtype, inputs, result, device):
    x, y = (tensor(np.array(v, dtype), device) for v in inputs)
    np.testing.assert_array_equal(array(getattr(x, name)(y)), np.array(result, dtype), strict=True)


# d(x^p)/dx at the numbers of ENDS, p x^(p-1); PyTorch's are the same but for the root at 0, which has none here.
ENDS = [0.0, -0.0, np.inf, -np.inf, np.nan, -2.0, 3.0]
SLOPES = {
    0.0: [0, 0, 0, 0, 0, 0, 0],
    1.0: [1, 1, 1, 1, 1, 1, 1],
    2.0: [0, 0, np.inf, -np.inf, np.nan, -4, 6],
    3.0: [0, 0, np.inf, np.inf, np.nan, 12, 27],
    4.0: [0, 0, np.inf, -np.inf, np.nan, -32, 108],
    0.5: [0, 0, 0, 0, np.nan, np.nan, 0.5 / np.sqrt(3)],
    1.5: [0, 0, np.inf, np.inf, np.nan, np.nan, 1.5 * np.sqrt(3)],
    -1.0: [-np.inf, -np.inf, 0, 0, np.nan, -0.25, -1 / 9],
    -2.0: [-np.inf, np.inf, 0, 0, np.nan, 0.25, -2 / 27],
    -3.0: [-np.inf, -np.inf, 0, 0, np.nan, -3 / 16, -3 / 81],
    -0.5: [-np.inf, -np.inf, 0, 0, np.nan, np.nan, -0.5 / 3**1.5],
}


@pytest.mark.parametrize("dtype", [F64, F32])
def test_slopes_of_powers_at_the_ends(dtype, device):
    x, ones = np.array(ENDS, dtype), [np.ones(len(ENDS))]
    for p, want in [*SLOPES.items(), (-0.0, SLOPES[0.0])]:
        found = [gradients(lambda t, p=p: t.powf_scalar(p), [x], ones, device)[0]]
        found.append(gradients(lambda t, u: t.powf(u), [x, np.full(len(ENDS), p, dtype)], ones, device)[0])
        if p.is_integer():
            found.append(gradients(lambda t, p=p: t.powi_scalar(int(p)), [x], ones, device)[0])
        for slopes in found:
            np.testing.assert_allclose(slopes, np.array(want), rtol=1e-6, err_msg=f"p = {p}")


def test_slopes_of_powers_neither_overflow_nor_vanish_on_the_way(device):
    x, g = np.array([1e13, 1e-13, 2e38], F32), np.array([1e10, 1e-30, 1e-20])
    for p in (-2.0, -1.0, 2.0, 3.0):
        (slopes,) = gradients(lambda t, p=p: t.powf_scalar(p), [x], [g], device)
        with np.errstate(over="ignore"):
            want = (p * x.astype(F64) ** (p - 1) * g.astype(F32)).astype(F32)
        np.testing.assert_allclose(slopes, want, rtol=1e-5, atol=1e-38, err_msg=f"p = {p}")


def test_power_corners(device):
    """Gradients of powers at 0 are finite: 0 where the slope is infinite or does not exist."""
    x = np.array([0.0, 0.0, 0.0, 2.0])
    for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0):
        (grad,) = gradients(lambda t, p=p: t.powf_scalar(p), [x], [np.ones(4)], device)
        assert np.isfinite(grad).all(), p
        np.testing.assert_allclose(grad, [1.0 * (p == 1)] * 3 + [p * 2.0 ** (p - 1)])
    exponents = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0])
    grads = gradients(lambda t, u: t.powf(u), [np.zeros(7), exponents], [np.ones(7)], device)
    np.testing.assert_array_equal(grads, [[0, 0, 0, 0, 1, 0, 0], np.zeros(7)])


def test_gradient_of_abs_keeps_nan(device):
    (grad,) = gradients(lambda t: t.abs().square(), [np.array([np.nan, 0.0, -2.0])], [np.ones(3)], device)
    np.testing.assert_array_equal(grad, [np.nan, 0.0, -4.0])


@pytest.mark.parametrize(("dtype", "slope"), [(F16, 40000.0), (F32, 2e38), (F64, 1e308)])
def test_gradient_of_square_overflows_only_where_it_is_too_large(dtype, slope, device):
    x = np.array([0.25, 0.5], dtype)
    (grad,) = gradients(lambda t: t.square(), [x], [np.full(2, slope, dtype)], device)
    np.testing.assert_allclose(grad.astype(F64), [slope / 2, slope], rtol=1e-3)


def test_root_corners(device):
    """The gradient of a root at 0 is 0, so that norms and deviations of constants stay finite."""
    np.testing.assert_array_equal(
        gradients(lambda x: x.sqrt(), [np.array([0.0, 4.0])], [np.ones(2)], device), [[0, 0.25]]
    )
    np.testing.assert_array_equal(
        gradients(lambda x, y: x.hypot(y), [np.array([0.0, 3.0]), np.array([0.0, 4.0])], [np.ones(2)], device),
        [[0, 0.6], [0, 0.8]],
    )


def test_ties_send_the_gradient_to_the_first(device):
    x, y = np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])
    for name, want in (("max_pair", [[1, 0, 1], [0, 1, 0]]), ("min_pair", [[1, 1, 0], [0, 0, 1]])):
        np.testing.assert_array_equal(
            gradients(lambda a, b, n=name: getattr(a, n)(b), [x, y], [np.ones(3)], device), want
        )


def test_clamp_edges(device):
    """The edges pass the gradient, NaN does not, and stays in the value."""
    x = np.array([-1.0, -1.5, 0.0, 1.0, 2.0, np.nan])
    (grad,) = gradients(lambda t: t.clamp(-1.0, 1.0), [x], [np.ones(6)], device)
    np.testing.assert_array_equal(grad[:5], [1, 0, 1, 1, 0])
    np.testing.assert_array_equal(array(tensor(x, device).clamp(-1.0, 1.0)), [-1, -1, 0, 1, 1, np.nan])


CASTS = ["f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8"]


@pytest.mark.parametrize("source", CASTS)
def test_cast(source, device):
    """Floats to integers truncate and saturate with NaN at 0, integers wrap, the rest rounds."""
    from tests.cases.tensors import DTYPES

    numpy_of = {d.name: t for t, d in DTYPES.items()}
    with np.errstate(all="ignore"):
        floats = np.array([np.nan, np.inf, -np.inf, -1.75, 1.75, 300.5, -70000.0, 3e9, -1e19, 1e19]).astype(
            numpy_of[source]
        )
        ints = np.array([0, 1, -1, 127, 128, 300, -70000, 2**31, -(2**63), 2**53 + 1]).astype(numpy_of[source])
    values = floats if source[0] in "fb" else ints
    x = tensor(values, device)
    for target in CASTS:
        to = numpy_of[target]
        if source[0] in "fb" and target[0] in "iu":
            limits = np.iinfo(to)
            wide = values.astype(F64)
            want = [0 if np.isnan(v) else min(max(int(np.clip(v, -1e30, 1e30)), limits.min), limits.max) for v in wide]
            np.testing.assert_array_equal(array(x.cast(DTYPES[to])), np.array(want, to), target, strict=True)
            continue
        with np.errstate(all="ignore"):
            want = values.astype(to)
        have = array(x.cast(DTYPES[to]))
        assert have.dtype == to
        # A rounding in two steps may end one unit away in half precision.
        np.testing.assert_allclose(
            have.astype(F64), want.astype(F64), rtol=1e-2 if to.itemsize == 2 and target[0] in "fb" else 0
        )


def test_bool_and_numbers(device):
    for dtype in (F32, F64, np.dtype("i4"), np.dtype("u1")):
        np.testing.assert_array_equal(
            array(tensor(np.array([0, 1, 3]).astype(dtype), device).bool()), [False, True, True]
        )
    flags = tensor(np.array([True, False]), device)
    np.testing.assert_array_equal(array(flags.int()), [1, 0])
    np.testing.assert_array_equal(array(flags.float()), np.array([1, 0], F32), strict=True)
    assert array(tensor(np.array([np.nan, 0.0]), device).bool()).tolist() == [True, False]


def test_is_close(device):
    x = tensor(np.array([1.0, 1.0, np.inf, np.nan, np.inf, 1e-9]), device)
    y = tensor(np.array([1.000001, 1.1, np.inf, np.nan, -np.inf, 0.0]), device)
    np.testing.assert_array_equal(array(x.is_close(y)), [True, False, True, False, False, True])
    assert x[:1].all_close(y[:1]) is True
    assert x.all_close(y) is False


def test_results_do_not_share_with_numpy_inputs(device):
    """`from_data` copies, an op on a shared array leaves it alone, and `numpy()` is read-only."""
    values = np.array([1.0, 2.0], F32)
    shared = Tensor.from_numpy(values, device)
    y = ((shared + 1.0) * 2.0).neg()
    np.testing.assert_array_equal(values, [1, 2])
    np.testing.assert_array_equal(array(y), [-4, -6])
    view = y.numpy()
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 0


def test_denormals_survive(device):
    tiny = np.array([1e-40, -1e-44], F32)
    np.testing.assert_array_equal(array(tensor(tiny, device) * 1.0), tiny, strict=True)
    np.testing.assert_array_equal(array(tensor(tiny, device).add_scalar(0.0)), tiny, strict=True)


def test_exp_of_doubles(flex):
    rng = np.random.default_rng(1)
    x = np.concatenate(
        [rng.uniform(-746, 709.7, 20001), rng.uniform(-1, 1, 20001), [709.78, -708.5, -745.0, 0.0, -0.0, 1e-300]]
    )
    result, exact = tensor(x, flex).exp().numpy(), np.exp(x.astype(np.longdouble))
    assert result.dtype == np.float64
    assert (np.abs(result - exact) <= np.spacing(result)).all()
    edges = [np.nan, np.inf, -np.inf, 709.79, -745.2, 1e308, -1e308]
    for n in (1, 3, 40):  # beside numbers that need no care, and alone
        many = np.concatenate([np.ones(n), edges])
        result = tensor(many, flex).exp().numpy()[n:]
        np.testing.assert_array_equal(result, [np.nan, np.inf, 0, np.inf, 0, np.inf, 0])


def test_mask_is_any_bool(device):
    """A mask made by a comparison and one made by NumPy choose alike."""
    x = tensor(SPECIAL, device)
    mask = x.is_nan()
    assert array(mask).dtype == BOOL
    np.testing.assert_array_equal(array(x.mask_fill(mask, 0.0)), np.nan_to_num(SPECIAL, posinf=np.inf, neginf=-np.inf))


@pytest.mark.parametrize("dtype", [F64, F32], ids=str)
@pytest.mark.parametrize("shape", [(1,), (3, 5), (4099,)], ids=str)
@pytest.mark.parametrize(("states", "cautious"), [(2, 0), (2, 1), (3, 0), (3, 1)])
def test_adam_step(dtype, shape, states, cautious, device):
    """The fused optimizer step against its formula; gradient and states stay as they were."""
    rng = np.random.default_rng(0)
    parameter, grad, m = (rng.normal(size=shape).astype(dtype) for _ in range(3))
    v, largest = (rng.uniform(0, 1, shape).astype(dtype) for _ in range(2))
    decay_rate, b1, b2, scale_m, scale_v, epsilon, decay, lr = 0.01, 0.9, 0.999, 1.7, 3.1, 1e-3, 0.98, 0.05
    g = grad.astype(F64) + decay_rate * parameter
    want_m, want_v = b1 * m.astype(F64) + (1 - b1) * g, b2 * v.astype(F64) + (1 - b2) * g * g
    want_largest = np.maximum(want_v, largest)
    second = want_largest if states == 3 else want_v
    kept = np.where(cautious and (parameter >= 0) != (want_m >= 0), 1.0, decay)
    want = parameter * kept - lr * want_m * scale_m / (np.sqrt(second * scale_v) + epsilon)
    floats = (decay_rate, b1, 1 - b1, b2, 1 - b2, scale_m, scale_v, epsilon, decay, lr)
    old = parameter, grad, m, v, largest
    tensors = [tensor(a, device) for a in old[: 2 + states]]
    have, after = ops.updated(ops.adam_step, *tensors[:2], tensors[2:], (states, cautious), floats)
    for result, expected in zip((have, *after), (want, want_m, want_v, want_largest)):
        assert_close(array(result), expected, slack=4)
    for kept, values in zip(tensors, old):
        np.testing.assert_array_equal(array(kept), values)


@pytest.mark.parametrize("dtype", [F64, F32], ids=str)
@pytest.mark.parametrize("shape", [(1,), (3, 5), (4099,)], ids=str)
@pytest.mark.parametrize(("states", "nesterov"), [(0, 0), (1, 0), (1, 1)])
def test_sgd_step(dtype, shape, states, nesterov, device):
    rng = np.random.default_rng(0)
    parameter, grad, velocity = (rng.normal(size=shape).astype(dtype) for _ in range(3))
    penalty, momentum, rest, lr = 0.01, 0.9, 0.7, 0.05
    g = grad.astype(F64) + penalty * parameter
    want_velocity = momentum * velocity.astype(F64) + rest * g
    step = (momentum * want_velocity + g if nesterov else want_velocity) if states else g
    tensors = [tensor(a, device) for a in (parameter, grad, velocity)]
    floats = penalty, momentum, rest, lr
    have, after = ops.updated(ops.sgd_step, *tensors[:2], tensors[2 : 2 + states], (states, nesterov), floats)
    assert_close(array(have), parameter - lr * step, slack=4)
    for result in after:
        assert_close(array(result), want_velocity, slack=4)


def test_a_nan_of_the_second_moment_stays(device):
    """Of the largest second moment too, wherever it comes from."""
    one, nan = np.ones(3, F32), np.array([np.nan, 1, 1], F32)
    floats = (0.0, 0.9, 0.1, 0.999, 0.001, 1.0, 1.0, 1e-5, 1.0, 0.1)
    for grad, largest in ((nan, one), (one, nan)):
        tensors = [tensor(a, device) for a in (one, grad, one, one, largest)]
        have, after = ops.updated(ops.adam_step, *tensors[:2], tensors[2:], (3, 0), floats)
        assert np.isnan(array(have)).tolist() == np.isnan(array(after[2])).tolist() == [True, False, False]


@pytest.mark.parametrize("sizes", [[0, 1, 1000, 7, 0, 64, 3], [5000, 100_003, 1, 70_000], [100] * 300])
def test_steps_of_many_parameters(sizes, device):
    """One call for all of them gives what a call for each gives."""
    rng, floats = np.random.default_rng(1), (0.0, 0.9, 0.1, 0.999, 0.001, 1.0, 1.0, 1e-5, 0.99, 0.1)
    updates, wanted, made = core.Updates(ops.adam_step, (2, 0), floats), [], []
    for size in sizes:
        value, grad, m, v = (tensor(rng.uniform(0.1, 1, size).astype(F32), device) for _ in range(4))
        wanted.append(ops.updated(ops.adam_step, value, grad, (m, v), (2, 0), floats))
        state = core.UpdateState(value._slot, 1, 0, None)
        state.tensors = (m, v)
        assert updates.takes(value, grad, state)
        made.append((updates.add(value, grad, state), state))
    updates.run()
    for (have, state), (value, tensors) in zip(made, wanted):
        for result, expected in zip((have, *state.tensors), (value, *tensors)):
            np.testing.assert_array_equal(array(result), array(expected))
        assert state.time == 1


def test_large_results(flex):
    """Results of 2 MB and more are written around the caches, block by block; a ragged end is not."""
    rng, n = np.random.default_rng(9), (1 << 21) + 37
    a, b = (rng.integers(-100, 100, n).astype("i4") for _ in range(2))
    s, mask = rng.integers(0, 40, n).astype("i4"), rng.random(n) < 0.5
    x, y, by, m = tensor(a, flex), tensor(b, flex), tensor(s, flex), tensor(mask, flex)
    for have, want in (
        (x * y, a * b),
        (x ^ y, a ^ b),
        (x * 3, a * 3),
        (-x, -a),
        (x.abs(), np.abs(a)),
        (x < y, a < b),
        (x == 7, a == 7),
        (x >> by, a >> np.minimum(s, 31)),
        (x.clamp(-5, 60), np.clip(a, -5, 60)),
        (x.mask_where(m, y), np.where(mask, b, a)),
        (m & (x < y), mask & (a < b)),
        (~m, ~mask),
    ):
        np.testing.assert_array_equal(array(have), want)
    small, more = a.astype("i1"), np.abs(b).astype("u1")
    np.testing.assert_array_equal(array(tensor(small, flex) + tensor(small, flex)), small + small)
    amounts = rng.integers(0, 8, n).astype("u1")
    np.testing.assert_array_equal(array(tensor(more, flex) << tensor(amounts, flex)), more << amounts)
    np.testing.assert_array_equal(
        array(tensor(small, flex) >> tensor(amounts.view("i1"), flex)), small >> amounts.view("i1")
    )
    b[b == 0] = 1
    b[n - 5] = 0
    with pytest.raises(ZeroDivisionError, match=f"flat position {n - 5};"):
        x.div(tensor(b, flex))
    halves = rng.normal(0, 3, n).astype("f2")
    h = tensor(halves, flex)
    np.testing.assert_array_equal(array(h * h), (halves.astype("f4") ** 2).astype("f2"))
    np.testing.assert_array_equal(array(h < 0.5), halves < 0.5)
    brain = h.cast("bf16")
    np.testing.assert_array_equal(array((-brain).cast("f32")), -array(brain.cast("f32")))
    np.testing.assert_array_equal(array(brain.is_nan()), np.zeros(n, bool))
    wide = rng.normal(0, 3, 1 << 18)
    np.testing.assert_allclose(array(tensor(wide, flex).exp()), np.exp(wide), 1e-14)


@pytest.mark.parametrize("exponent", [2**24 + 1, 2**24 + 2, -(2**24) - 1, 2**53 + 1, -(2**60) - 1])
def test_large_whole_exponents_keep_their_parity(exponent, device):
    x, sign = [-1.0, -0.0, 0.0, 1.0, np.inf, -np.inf], -1.0 if exponent % 2 else 1.0
    zero, end = (0.0, np.inf) if exponent > 0 else (np.inf, 0.0)
    want = np.array([sign, sign * zero, zero, 1.0, end, sign * end])
    t = tensor(np.float32(x), device)
    ints = tensor(np.full(6, exponent), device)
    for power in (t**exponent, t.powi(exponent), t.powi_scalar(exponent), t**ints, t.powi(ints)):
        np.testing.assert_array_equal(np.copysign(1, array(power)), np.copysign(1, want))
        np.testing.assert_array_equal(array(power), want)
    ends = np.float32([-1.0, 1.0])
    for power in (lambda u: u**exponent, lambda u: u ** tensor(np.full(2, exponent), device)):
        (grad,) = gradients(power, [ends], [np.ones(2)], device)
        np.testing.assert_array_equal(grad, np.float32([-sign * exponent, exponent]))


@pytest.mark.parametrize("ints", [np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64])
def test_int_tensors_of_exponents_keep_their_parity(dtype, ints, device):
    found = np.array([3, 257, 258, 2049, 2050, 2**24 + 1, 2**24 + 2, 2**31 - 1], ints)
    if np.dtype(ints).itemsize == 8:
        found = np.append(found, np.array([2**53 + 1, 2**62 + 2], ints))
    if np.dtype(ints).kind == "i":
        found = np.append(found, -found)
    x = tensor(np.full(found.shape, -1.0, dtype), device)
    for power in (x ** tensor(found, device), x.powi(tensor(found, device))):
        assert power.dtype == x.dtype
        np.testing.assert_array_equal(array(power).astype(F32), np.where(found % 2, -1.0, 1.0))


@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64])
def test_even_exponents_beyond_the_digits_have_odd_slopes(dtype, device):
    """The slope p x^(p-1) at -1 is -p, though p - 1 is no number of the dtype."""
    p = {F16: 2050.0, BF16: 258.0, F32: 2.0**24 + 2, F64: 2.0**53 + 2}[dtype]
    for exponent in (p, -p):
        ends = np.array([-1.0, 1.0], dtype)
        (by_number,) = gradients(lambda u, e=exponent: u.powf_scalar(e), [ends], [np.ones(2)], device)
        by_tensor, _ = gradients(lambda u, e: u.powf(e), [ends, np.full(2, exponent, dtype)], [np.ones(2)], device)
        np.testing.assert_array_equal(by_number.astype(F64), [-exponent, exponent])
        np.testing.assert_array_equal(by_tensor.astype(F64), [-exponent, exponent])


@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64])
@pytest.mark.parametrize("n", [1, 8, 33])
def test_powers_of_infinity(dtype, n, device):
    base = tensor(np.full(n, np.inf, dtype), device)
    for exponent, want in ((0.0, 1.0), (-0.0, 1.0), (0.5, np.inf), (-0.5, 0.0)):
        power = tensor(np.full(n, exponent, dtype), device)
        for got in (base**power, np.inf**power, base.powf_scalar(exponent)):
            np.testing.assert_array_equal(array(got).astype(F32), np.full(n, want))


def test_square_roots_by_powers_are_those_of_c(device):
    x = tensor(np.float32([-np.inf, -0.0, -4.0, 4.0]), device)
    for got in (x**0.5, x ** tensor(np.float32([0.5]), device), x ** tensor(np.full(4, 0.5, F32), device)):
        np.testing.assert_array_equal(array(got), [np.inf, 0.0, np.nan, 2.0])
        assert not np.signbit(array(got)[1])


@pytest.mark.parametrize("name", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("n", [1, 7, 33, 70001])
def test_shifts_are_those_of_python(name, n, flex):
    """Any amount: the width and more leave 0, or the sign; negative amounts are found where they are."""
    rng, dtype = np.random.default_rng(n), np.dtype(name)
    info, bits = np.iinfo(dtype), 8 * dtype.itemsize
    x = rng.integers(info.min, info.max, n, dtype, endpoint=True)
    by = rng.choice(np.array([0, 1, 2, 3, 7, bits - 1, bits, bits + 1, bits + 30, int(info.max)], dtype), n)
    pairs = [(int(a), int(b)) for a, b in zip(x, by, strict=True)]
    t, amounts = tensor(x, flex), tensor(by, flex)

    def wrapped(v):
        v %= 1 << bits
        return v - (1 << bits) if info.min < 0 and v >> (bits - 1) else v

    left = [wrapped(a << b) if b < bits else 0 for a, b in pairs]
    right = [a >> b if b < bits else -(a < 0) for a, b in pairs]
    assert t.bitwise_left_shift(amounts).tolist() == left
    assert t.bitwise_right_shift(amounts).tolist() == right
    one = tensor(x[:1], flex).expand([n])
    assert one.bitwise_left_shift(amounts).tolist() == [wrapped(int(x[0]) << b) if b < bits else 0 for _, b in pairs]
    if info.min < 0:
        by[-1] = -3
        for shift in (t.bitwise_left_shift, t.bitwise_right_shift):
            with pytest.raises(ValueError, match=f"-3 at flat position {n - 1}"):
                shift(tensor(by, flex))


@pytest.mark.parametrize("dtype", ["f64", "i64", "u64"])
def test_comparisons_of_eight_bytes(dtype, flex):
    """Sixteen elements at a time and what is left, of tensors and single values; the flags are 0 and 1."""
    rng = np.random.default_rng(3)
    name = {"f64": "float64", "i64": "int64", "u64": "uint64"}[dtype]
    for n in (1, 15, 16, 17, 33, 1000):
        for left, right in ((n, n), (n, 1), (1, n)):
            a, b = (rng.integers(0, 4, size).astype(name) for size in (left, right))
            if dtype == "f64":
                a[::3], b[::5], a[1::7] = np.nan, np.inf, -0.0
            else:
                a[::2] += np.array(-(1 << 63), "int64").view("uint64").astype(name)
            x, y = Tensor.from_data(a, flex, dtype=dtype), Tensor.from_data(b, flex, dtype=dtype)
            for call, want in (
                (Tensor.equal, a == b),
                (Tensor.not_equal, a != b),
                (Tensor.lower, a < b),
                (Tensor.lower_equal, a <= b),
                (Tensor.greater, a > b),
                (Tensor.greater_equal, a >= b),
            ):
                np.testing.assert_array_equal(array(call(x, y)).view("u1"), want.view("u1"))
