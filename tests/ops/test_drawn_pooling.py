"""Options of pooling, resampling and grid sampling: every combination along one axis, and drawn at random along several."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from burn.device import Device
from tests.cases import F32, F64, Arg, Case
from tests.cases import interpolate as resampling
from tests.cases import pool as cases
from tests.ops.checks import check_gradient, check_value

few = settings(max_examples=30, deadline=None, derandomize=True)
sizes = st.integers


def check(case: Case) -> None:
    """Value and every element of the gradient, on the devices of the host."""
    case = dataclasses.replace(case, dtypes=(F64, F32))
    for device in (Device.flex(), Device.ndarray()):
        check_value(case, device)
        check_gradient(case, device)


def pooled(name, shape, kernel, indices=False, **fields):
    """A case of a pooling function; None where it has a window without any element, whose largest is nothing."""
    cls, oracle = ("MaxPoolOptions", cases.largest) if name.startswith("max") else ("AvgPoolOptions", cases.average)
    full = cases.complete(kernel, **fields)
    fits = all(n + sum(p) >= d * (k - 1) + 1 for n, k, p, d in zip(shape[2:], full[0], full[2], full[3], strict=True))
    if not fits:
        return None
    where = cases.windows(np.zeros((1, 1, *shape[2:])), *full, 0.0)[1]
    if cls == "MaxPoolOptions" and not (where == 2).any(tuple(range(-len(kernel), 0))).all():
        return None
    more = {"indices": True} if indices else {}
    call = cases.function(name + "_with_indices" * indices, (cls, kernel, fields))
    return Case(
        f"{name}(drawn)",
        call,
        lambda x: oracle(x, kernel, **more, **fields),
        (Arg(domain="distinct"),),
        shapes=(shape,),
    )


PADS = ((0, 0), (1, 1), (0, 2), (1, 0))


@pytest.mark.parametrize("dilation", (1, 2))
@pytest.mark.parametrize("kernel", (1, 2, 3))
def test_max_pool_all_options(kernel, dilation):
    seen = 0
    for s, p, ceil, indices in itertools.product((1, 2, 3), PADS, (False, True), (False, True)):
        options = {"stride": [s], "padding": [p], "dilation": [dilation], "ceil_mode": ceil}
        case = pooled("max_pool1d", (1, 1, 6), [kernel], indices, **options)
        if case is not None:
            check(case)
            seen += 1
    assert seen >= 18


@pytest.mark.parametrize("counted", (False, True))
@pytest.mark.parametrize("kernel", (1, 2, 3))
def test_avg_pool_all_options(kernel, counted):
    for s, p, ceil in itertools.product((1, 2, 3), PADS, (False, True)):
        options = {"stride": [s], "padding": [p], "ceil_mode": ceil, "count_include_pad": counted}
        check(pooled("avg_pool1d", (1, 1, 6), [kernel], **options))


@st.composite
def planes(draw):
    """A shape, a kernel, and options of windows in a plane."""
    kernel = [draw(sizes(1, 4)) for _ in range(2)]
    fields = {
        "stride": [draw(sizes(1, 3)) for _ in range(2)],
        "padding": [(draw(sizes(0, k)), draw(sizes(0, k))) for k in kernel],
        "ceil_mode": draw(st.booleans()),
    }
    return (draw(sizes(0, 2)), draw(sizes(1, 2)), draw(sizes(1, 5)), draw(sizes(1, 6))), kernel, fields


@few
@given(planes(), st.lists(sizes(1, 2), min_size=2, max_size=2), st.booleans())
def test_max_pool2d(drawn, dilation, indices):
    shape, kernel, fields = drawn
    case = pooled("max_pool2d", shape, kernel, indices, dilation=dilation, **fields)
    assume(case is not None)
    check(case)


@few
@given(planes(), st.booleans())
def test_avg_pool2d(drawn, counted):
    shape, kernel, fields = drawn
    case = pooled("avg_pool2d", shape, kernel, count_include_pad=counted, **fields)
    assume(case is not None)
    check(case)


@pytest.mark.parametrize("n", range(1, 8))
def test_adaptive_all_sizes(n):
    for out in range(1, 10):
        call = cases.function("adaptive_avg_pool1d", out)
        check(
            Case("adaptive_avg_pool1d(drawn)", call, lambda x, out=out: cases.adaptive(x, [out]), shapes=((1, 1, n),))
        )


@few
@given(sizes(0, 2), st.lists(st.tuples(sizes(1, 4), sizes(1, 5)), min_size=2, max_size=3))
def test_adaptive(batch, axes):
    shape, out = (batch, 2, *(n for n, _ in axes)), [o for _, o in axes]
    call = cases.function(f"adaptive_avg_pool{len(out)}d", out)
    check(Case("adaptive_avg_pool(drawn)", call, lambda x: cases.adaptive(x, out), shapes=(shape,)))


ALIGNED = [(mode, aligned) for mode in resampling.MODES for aligned in (True, False)]


def resized(shape, out, mode, aligned, **target):
    target = target or {"output_size": out}
    return Case(
        "interpolate(drawn)", resampling.function(mode, aligned, **target),
        lambda x: resampling.resized(x, out, mode, aligned), slack=8, shapes=(shape,),
    )  # fmt: skip


@pytest.mark.parametrize(("mode", "aligned"), ALIGNED)
def test_interpolate_all_sizes(mode, aligned):
    for n, out in itertools.product(range(1, 6), range(1, 8)):
        check(resized((1, 1, n, 1), [out, 1], mode, aligned))
        check(resized((1, 1, 1, n), [1, out], mode, aligned))


@few
@given(sizes(0, 2), st.lists(st.tuples(sizes(1, 5), sizes(1, 9)), min_size=2, max_size=2), st.sampled_from(ALIGNED))
def test_interpolate(batch, axes, how):
    check(resized((batch, 2, *(n for n, _ in axes)), [o for _, o in axes], *how))


@few
@given(
    st.tuples(sizes(1, 6), sizes(1, 6)),
    st.tuples(*[st.sampled_from([0.3, 0.5, 0.7, 1.0, 1.5, 1.7, 2.0, 3.1])] * 2),
    st.sampled_from(ALIGNED),
)
def test_interpolate_by_factors(size, factors, how):
    out = [int(n * f + 1e-9) for n, f in zip(size, factors, strict=True)]
    assume(min(out) >= 1)
    check(resized((1, 2, *size), out, *how, scale_factor=list(factors)))


@settings(few, max_examples=40)
@given(
    st.tuples(sizes(1, 2), sizes(1, 2), sizes(1, 4), sizes(1, 5), sizes(1, 3), sizes(1, 3)),
    st.sampled_from(["Bilinear", "Nearest", "Bicubic"]),
    st.sampled_from(["Zeros", "Border", "Reflection"]),
    st.booleans(),
)
def test_grid_sample(drawn, mode, padding, aligned):
    n, c, h, w, rows, columns = drawn
    check(
        Case(
            "grid_sample_2d(drawn)", resampling.sampler(mode, padding, aligned),
            lambda x, grid: resampling.sampled(x, grid, mode, padding, aligned),
            (Arg((n, c, h, w)), Arg((n, rows, columns, 2), "apart")), slack=20,
        )
    )  # fmt: skip
