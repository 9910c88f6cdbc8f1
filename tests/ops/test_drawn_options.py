"""Options drawn at random, together: values in two dtypes and a slope of the gradient, against the oracles of the cases."""

import dataclasses
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burn.device import Device
from tests.cases import F32, F64, Case
from tests.cases import attention as attention_cases
from tests.cases import conv as conv_cases
from tests.cases import norm as norm_cases
from tests.ops.checks import check_slope, check_value

few = settings(max_examples=50, deadline=None, derandomize=True)
sizes = st.integers


def check(case: Case) -> None:
    """Value and slope on the devices of the host."""
    case = dataclasses.replace(case, dtypes=(F64, F32))
    for device in (Device.flex(), Device.ndarray()):
        check_value(case, device)
        check_slope(case, device)


@st.composite
def convolutions(draw, padding):
    """Shapes of input and weight, and the options that a plain and a deformable convolution share."""
    axes, groups = draw(sizes(1, 3)), draw(sizes(1, 3))
    kernel, stride, dilation = ([draw(sizes(1, top)) for _ in range(axes)] for top in (3, 3, 2))
    pads = [draw(padding) for _ in range(axes)]
    x = [max(1, d * (k - 1) + 1 - sum(p)) + draw(sizes(0, 3)) for k, d, p in zip(kernel, dilation, pads, strict=True)]
    x = (draw(sizes(0, 2)), groups * draw(sizes(1, 3)), *x)
    weight = (groups * draw(sizes(1, 3)), x[1] // groups, *kernel)
    return x, weight, stride, pads, dilation, groups


pairs = st.tuples(sizes(0, 2), sizes(0, 2))
even = sizes(0, 2).map(lambda p: (p, p))


@few
@given(convolutions(pairs), st.booleans())
def test_conv(drawn, bias):
    check(conv_cases.conv("drawn", *drawn, bias=bias))


KERNELS, STEPS, SIDES = (1, 2, 3), (1, 2), ((0, 0), (1, 1), (2, 0), (0, 1))


@pytest.mark.parametrize("groups", (1, 2, 4))
def test_conv_all_options(groups):
    """Every combination, on a row: kernel, stride, padding, dilation, groups, bias."""
    for k, s, p, d, bias in itertools.product(KERNELS, STEPS, SIDES, STEPS, (True, False)):
        check(conv_cases.conv(f"{k}{s}{p}{d}", (2, 4, 6), (4, 4 // groups, k), [s], [p], [d], groups, bias))


@few
@given(st.data(), st.booleans())
def test_conv_transpose(data, bias):
    draw, (axes, groups) = data.draw, data.draw(st.tuples(sizes(1, 3), sizes(1, 3)))
    kernel, stride, dilation = ([draw(sizes(1, top)) for _ in range(axes)] for top in (3, 3, 2))
    out = [draw(sizes(0, s - 1)) for s in stride]
    x = [draw(sizes(1, 4)) for _ in range(axes)]
    full = [(n - 1) * s + d * (k - 1) + 1 + o for n, s, d, k, o in zip(x, stride, dilation, kernel, out, strict=True)]
    padding = [draw(sizes(0, min(2, (n - 1) // 2))) for n in full]
    x = (draw(sizes(0, 2)), groups * draw(sizes(1, 3)), *x)
    weight = (x[1], draw(sizes(1, 3)), *kernel)
    check(conv_cases.transposed("drawn", x, weight, stride, padding, out, dilation, groups, bias))


@settings(few, max_examples=25)
@given(convolutions(even), st.booleans(), st.booleans(), st.booleans())
def test_deform_conv2d(drawn, mask, bias, apart):
    x, weight, stride, pads, dilation, groups = drawn
    flat = [(*v, 1, 1)[:2] for v in (weight[2:], stride, [p[0] for p in pads], dilation)]
    kernel, stride, padding, dilation = flat
    padding = padding if len(pads) > 1 else (padding[0], 0)
    x, weight = (*x[:2], *(*x[2:], 2)[:2]), (*weight[:2], *kernel)
    parts = x[1] if apart else 1
    check(conv_cases.deform("drawn", x, weight, list(stride), list(padding), list(dilation), groups, parts, mask, bias))


@few
@given(convolutions(even), st.booleans())
def test_unfold_and_fold(drawn, back):
    x, weight, stride, pads, dilation, _ = drawn
    kernel, stride, padding, dilation = (
        list((*v, 1, 1)[:2]) for v in (weight[2:], stride, [p[0] for p in pads], dilation)
    )
    padding = padding if len(pads) > 1 else [padding[0], 0]
    x = (*x[:2], *(*x[2:], 2)[:2])
    options = (stride, padding, dilation)
    if back:
        grid = conv_cases.out_sizes(
            x[2:], kernel, conv_cases.ConvOptions(stride, [(p, p) for p in padding], dilation, 1)
        )
        columns = (x[0], x[1] * kernel[0] * kernel[1], grid[0] * grid[1])
        check(conv_cases.fold("drawn", columns, list(x[2:]), kernel, *options))
    else:
        check(conv_cases.unfold("drawn", x, kernel, *options))


@settings(few, max_examples=80)
@given(
    st.tuples(*[sizes(1, 3)] * 3, *[sizes(1, 5)] * 4),
    st.tuples(*[st.booleans()] * 3),
    st.sampled_from([None, 0.3]),
    st.sampled_from([None, 0.9]),
    st.sampled_from([None, (0, 1), (2,), (0, 1, 2)]),
    st.sampled_from([None, (0, 1), (1, 3), ()]),
)
def test_attention(drawn, flags, scale, softcap, mask, bias):
    """mask and bias name the axes along which they have one element, broadcast."""
    batch, heads, shared, queries, keys, width, out = drawn
    q, k = (batch, heads * shared, queries, width), (batch, heads, keys, width)
    full = (*q[:3], keys)
    shapes = [
        None if axes is None else tuple(1 if a in axes else n for a, n in enumerate(full)) for axes in (mask, bias)
    ]
    options = {"scale": scale, "softcap": softcap, "is_causal": flags[0]}
    check(attention_cases.case("drawn", q, k, out, *shapes, **options))


@few
@given(st.lists(sizes(1, 7), min_size=1, max_size=4), st.booleans())
def test_layer_norm(shape, beta):
    shape = (*shape, 1 + shape[-1])  # one element has no deviation: its slope is that of 0 / epsilon
    call = norm_cases.function("layer_norm", norm_cases.EPSILON)
    if beta:
        case = norm_cases.case(
            "drawn", call, lambda x, g, b: norm_cases.normal(x, -1) * g + b, shape, *[shape[-1:]] * 2
        )
    else:
        call = norm_cases.function("layer_norm", None, norm_cases.EPSILON)
        case = norm_cases.case("drawn", call, lambda x, g: norm_cases.normal(x, -1) * g, shape, shape[-1:])
    check(case)


@few
@given(sizes(1, 4), sizes(1, 3), sizes(1, 3), st.lists(sizes(1, 4), max_size=3))
def test_group_norm(batch, groups, each, rest):
    shape = (batch, groups * each, *rest, 2)
    case = norm_cases.case("drawn", lambda x, g, b: norm_cases.op("group_norm", groups, g, b, norm_cases.EPSILON)(x),
                           norm_cases.group_norm(groups), shape, *[shape[1:2]] * 2)  # fmt: skip
    check(case)


@few
@given(sizes(2, 5), sizes(1, 5), st.lists(sizes(1, 4), max_size=3))
def test_batch_norm(batch, channels, rest):
    shape = (batch, channels, *rest)
    train = norm_cases.function("batch_norm_train", norm_cases.EPSILON)
    check(norm_cases.case("drawn", lambda *t: train(*t).output, lambda *t: norm_cases.batch_norm_train(*t)[0], shape,
                          *[shape[1:2]] * 2))  # fmt: skip


@few
@given(sizes(1, 6), sizes(1, 7), st.lists(sizes(1, 3), min_size=1, max_size=2))
def test_local_response_norm(size, channels, rest):
    call = norm_cases.op("local_response_norm", size, 0.5, 0.75, 1.2)
    check(norm_cases.case("drawn", call, norm_cases.response(size, 0.5, 0.75, 1.2), (2, channels, *rest)))
