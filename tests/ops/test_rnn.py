"""Recurrent layers against one vector at a time in NumPy, on every device."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burn import Device
from tests.cases import F32, F64
from tests.cases import rnn as cases
from tests.cases.tensors import array, gradients, tensor, threads
from tests.ops.checks import check_gradient, check_value, check_views, each


@each(cases.CASES)
def test_value(case, device):
    check_value(case, device)


@each([c for c in cases.CASES if c.grad])
def test_gradient(case, device):
    check_gradient(case, device)


@each(cases.CASES[::4])
def test_views(case, device):
    check_views(case, device, exact=device.name != "cuda")


@settings(max_examples=25, deadline=None)
@given(
    cell=st.sampled_from(sorted(cases.GATES)),
    sizes=st.tuples(*[st.integers(1, 4)] * 4),
    bias=st.booleans(),
    states=st.booleans(),
    reverse=st.booleans(),
    clip=st.sampled_from([None, 0.2, 0.5]),
)
def test_gradients_of_drawn_options(cell, sizes, bias, states, reverse, clip):
    case = cases.case(cell, *sizes, bias, states, reverse=reverse, clip=clip)
    check_gradient(case, Device.flex())


@pytest.mark.parametrize("cell", cases.GATES)
@pytest.mark.parametrize(("batch", "size"), [(3, 70), (1, 150), (60, 40)])
def test_gradients_of_backends_agree(cell, batch, size):
    """Where finite differences would take too long: tiles, panels and parts, with more than one thread."""
    case = cases.case(cell, 5, batch, 6, size, clip=0.8)
    arrays = case.inputs(F64)
    shapes = [(5, batch, size)] + [(batch, size)] * (2 if cell in ("lstm", "coupled") else 1)
    rng = np.random.default_rng(2)
    cotangents = [rng.uniform(-1, 1, s) for s in shapes]
    found, want = (gradients(case.call, arrays, cotangents, d) for d in (Device.flex(), Device.ndarray()))
    for have, right in zip(found, want, strict=True):
        np.testing.assert_allclose(have, right, rtol=1e-9, atol=1e-11 * np.abs(right).max())
    single = gradients(case.call, [a.astype(F32) for a in arrays], cotangents, Device.flex())
    for have, right in zip(single, want, strict=True):
        np.testing.assert_allclose(have, right, rtol=1e-3, atol=1e-5 * np.abs(right).max())


@pytest.mark.parametrize("cell", cases.GATES)
@pytest.mark.parametrize(("batch", "size"), [(53, 100), (1, 160)])
def test_same_bits_on_any_number_of_threads(cell, batch, size):
    case = cases.case(cell, 6, batch, 20, size)
    arrays = case.inputs(F32)
    cotangents = [np.ones(s) for s in [(6, batch, size)] + [(batch, size)] * (2 if cell in ("lstm", "coupled") else 1)]

    def run():
        results = [array(y) for y in case.call(*(tensor(a, Device.flex()) for a in arrays))]
        return results + gradients(case.call, arrays, cotangents, Device.flex())

    with threads(1):
        want = run()
    for n in (2, 3, 7):
        with threads(n):
            for have, right in zip(run(), want, strict=True):
                np.testing.assert_array_equal(have, right)


@pytest.mark.parametrize("cell", cases.GATES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("batch", "size"), [(20, 37), (1, 96)])
def test_a_gradient_to_come_changes_nothing(cell, bias, batch, size):
    """Whether inputs are multiplied step by step or all before."""
    case = cases.case(cell, 4, batch, 9, size, bias=bias, clip=0.7)
    arrays = case.inputs(F32)
    plain = case.call(*(tensor(a, Device.flex()) for a in arrays))
    tracked = case.call(*(tensor(a, Device.flex().autodiff()).require_grad() for a in arrays))
    for have, want in zip(plain, tracked, strict=True):
        np.testing.assert_allclose(array(have), array(want), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("cell", cases.GATES)
@pytest.mark.parametrize(("steps", "batch"), [(0, 2), (3, 0), (0, 0)])
def test_nothing_to_do(cell, steps, batch, device):
    """No step leaves the states as they are and an empty output; no row gives empty results; weights get zeros."""
    for states in (True, False):
        case = cases.case(cell, steps, batch, 2, 3, given=states)
        arrays = case.inputs(F64)
        y, *last = case.call(*(tensor(a, device) for a in arrays))
        assert y.dims() == [steps, batch, 3]
        for k, s in enumerate(last):
            np.testing.assert_array_equal(array(s), arrays[5 + k] if states else np.zeros((batch, 3)))
        if states:
            found = gradients(case.call, arrays, [np.ones(t.dims()) for t in (y, *last)], device)
            assert all((g == 0).all() for g in found[:5]) and all((g == 1).all() for g in found[5:])


@pytest.mark.parametrize("cell", cases.GATES)
def test_only_what_is_tracked_gets_a_gradient(cell, device):
    case = cases.case(cell, 3, 2, 3, 4)
    arrays = case.inputs(F64)
    device = device.autodiff()
    every = [tensor(a, device).require_grad() for a in arrays]
    want = [x.grad(g) for g in [case.call(*every)[0].sum().backward()] for x in every]
    for k in range(len(arrays)):
        leaves = [tensor(a, device) for a in arrays]
        leaves[k] = leaves[k].require_grad()
        grads = case.call(*leaves)[0].sum().backward()
        for i, x in enumerate(leaves):
            if i == k:
                np.testing.assert_allclose(array(x.grad(grads)), array(want[k]), rtol=1e-12, atol=1e-13)
            else:
                assert x.grad(grads) is None


@pytest.mark.parametrize("cell", cases.GATES)
def test_checkpointing_gives_the_same_bits(cell):
    case = cases.case(cell, 3, 2, 3, 4)
    arrays = case.inputs(F64)
    plain = Device.flex().autodiff()
    found = []
    for device in (plain, plain.gradient_checkpointing()):
        leaves = [tensor(a, device).require_grad() for a in arrays]
        y, *_ = case.call(leaves[0] * 2.0, *leaves[1:])
        grads = (y * y).sum().backward()
        found.append([array(x.grad(grads)) for x in leaves])
    for have, want in zip(*found, strict=True):
        np.testing.assert_array_equal(have, want)


@pytest.mark.parametrize("cell", cases.GATES)
def test_nan_stays_in_its_row(cell, device):
    """And an infinite input saturates the gates as it should."""
    for clip in (None, 0.5):
        case = cases.case(cell, 3, 3, 2, 3, given=False, clip=clip)
        arrays = case.inputs(F32)
        arrays[0][1, 1, 0] = np.nan
        arrays[0][0, 2] = [3e4, -2e4]
        y = array(case.call(*(tensor(a, device) for a in arrays))[0])
        want = case.expected(arrays)[0]
        assert np.isnan(y[1:, 1]).all() and np.isfinite(y[:, [0, 2]]).all() and np.isfinite(y[0, 1]).all()
        np.testing.assert_allclose(y[:, [0, 2]], want[:, [0, 2]], atol=2e-6)


def test_published_numbers(device):
    """Where the reset gate acts: a case of another project, the first form as PyTorch gives it."""
    w, u = np.array([[-0.4, 0.5, 1.2]]), np.array([[0.7, 0.3, -0.9]])
    b, c = np.array([0.2, 0.1, -0.3]), np.array([0.05, -0.2, 0.4])
    x = np.array([1.0, -2, 0.5]).reshape(3, 1, 1)
    for cell, want in (
        ("gru", [0.437595403, 0.144967233, 0.272114852]),
        ("gru_before", [0.463115744, 0.170844694, 0.343435174]),
    ):
        y = cases.call(cell, True, False)(*(tensor(a, device) for a in (x, w, u, b, c)))[0]
        np.testing.assert_allclose(array(y).ravel(), want, rtol=1e-8)


@pytest.mark.parametrize("cell", cases.GATES)
@pytest.mark.parametrize(("batch", "size"), [(9, 100), (1, 160)])
def test_callers_side_by_side(cell, batch, size):
    """One of them has the pool, the others run all parts of a step on their own thread."""
    case = cases.case(cell, 12, batch, 20, size)
    arrays = case.inputs(F32)
    inputs = [tensor(a, Device.flex()) for a in arrays]
    want = array(case.call(*inputs)[0])
    with threads(3), ThreadPoolExecutor(3) as pool:
        for y in pool.map(lambda _: array(case.call(*inputs)[0]), range(12)):
            np.testing.assert_array_equal(y, want)
