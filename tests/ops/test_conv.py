"""Convolutions against sums written out, on every device; larger ones against the reference backend."""

import functools

import numpy as np
import pytest

import burn
from burn import Device
from burn.tensor import module
from burn.tensor.ops import ConvOptions, ConvTransposeOptions
from tests.cases import F16, F32, F64
from tests.cases import conv as cases
from tests.cases.tensors import array, gradients, tensor
from tests.ops.checks import check_error, check_gradient, check_value, check_views, each, with_threads


@each(cases.CASES)
def test_value(case, device):
    check_value(case, device)


@each([c for c in cases.CASES if c.grad])
def test_gradient(case, device):
    check_gradient(case, device)


@each(cases.CASES)
def test_views(case, device):
    check_views(case, device)


@each(cases.ERRORS)
def test_error(case, device):
    check_error(case, device)


# Batch, channels in and out, map, kernel, stride, padding, groups: each takes another way through the kernels.
LARGE = {
    "winograd": (2, 33, 40, (15, 19), (3, 3), 1, (1, 1), 1),
    "winograd, several blocks": (3, 64, 64, (28, 28), (3, 3), 1, (1, 1), 1),
    "winograd, uneven": (2, 26, 25, (13, 12), (3, 3), 1, ((2, 0), (0, 1)), 1),
    "winograd, many channels": (5, 400, 24, (24, 24), (3, 3), 1, (1, 1), 1),
    "winograd, groups": (2, 64, 64, (9, 9), (3, 3), 1, (1, 1), 2),
    "winograd, narrow": (2, 26, 25, (30, 2), (3, 3), 1, (1, 1), 1),
    "winograd, as wide as a patch": (2, 24, 31, (8, 7), (3, 3), 1, (1, 1), 1),
    "winograd, more padding than map": (2, 25, 26, (5, 2), (3, 3), 1, ((0, 0), (10, 10)), 1),
    "winograd, strided": (3, 33, 40, (49, 57), (3, 3), 2, (1, 1), 1),
    "winograd, strided, one image": (1, 300, 140, (56, 55), (3, 3), 2, (1, 1), 1),
    "winograd, strided, uneven": (2, 26, 25, (57, 61), (3, 3), 2, ((2, 0), (0, 1)), 1),
    "winograd, strided, groups": (4, 60, 64, (40, 40), (3, 3), 2, (0, 1), 2),
    "strided": (2, 20, 70, (29, 31), (3, 3), 2, (1, 1), 1),
    "first layer": (1, 3, 16, (64, 61), (7, 7), 2, (3, 3), 1),
    "one by one": (2, 300, 37, (13, 11), (1, 1), 1, (0, 0), 1),
    "one by one, strided": (2, 30, 37, (13, 11), (1, 1), 2, (0, 0), 1),
    "depthwise": (2, 40, 40, (30, 35), (3, 3), 1, (1, 1), 40),
    "depthwise, large kernel": (1, 4, 4, (20, 20), (9, 9), 1, (4, 4), 4),
    "long row": (1, 5, 7, (1, 5000), (1, 9), 1, (0, 4), 1),
    "few channels": (3, 8, 9, (26, 24), (3, 3), 1, (1, 1), 1),
    "few channels, edges of rows, two blocks": (3, 3, 7, (51, 30), (3, 3), 1, ((2, 0), (1, 2)), 1),
    "few channels, strided": (2, 4, 8, (51, 48), (5, 5), 2, (2, 2), 1),
    "few channels, groups": (2, 6, 8, (20, 24), (3, 2), 1, (1, 0), 2),
    "few channels in": (2, 1, 4, (28, 28), (3, 3), 1, (0, 0), 1),
    "many channels, small map": (2, 200, 150, (5, 5), (3, 3), 1, (1, 1), 1),
}


def large(name, dtype=F32):
    """Inputs and options of a row."""
    n, c, o, size, kernel, stride, padding, groups = LARGE[name]
    rng = np.random.default_rng(7)
    arrays = [rng.standard_normal(s) for s in ((n, c, *size), (o, c // groups, *kernel), (o,))]
    arrays = [np.round(a * 64) / 1024 for a in arrays]  # exact in every dtype, so that one reference serves all
    return [a.astype(dtype) for a in arrays], ConvOptions([stride] * 2, padding, [1, 1], groups)


@functools.cache
def reference(name):
    """Value and gradients of a row by the reference backend."""
    arrays, options = large(name, F64)
    return value_and_gradients(lambda x, w, b: module.conv2d(x, w, b, options), arrays, Device.ndarray())


def near(have, want, limit):
    """Within a part of the largest value."""
    for a, b in zip(have, want, strict=True):
        assert np.abs(a.astype(F64) - b.astype(F64)).max() <= limit * np.abs(b.astype(F64)).max()


def value_and_gradients(call, arrays, device):
    y = array(call(*(tensor(a, device) for a in arrays)))
    return [y, *gradients(call, arrays, [(np.arange(y.size) * 7 % 11 / 4 - 1.25).reshape(y.shape)], device)]


@pytest.fixture
def cpu():
    """The kernels whose ways differ by shape."""
    return Device.flex()


@pytest.mark.parametrize("dtype", [F32, F64, F16], ids=str)
@pytest.mark.parametrize("name", LARGE)
def test_large(name, dtype, cpu):
    arrays, options = large(name, dtype)
    have = value_and_gradients(lambda x, w, b: module.conv2d(x, w, b, options), arrays, cpu)
    near(have, reference(name), {F32: 2e-5, F64: 1e-13, F16: 2e-3}[dtype])


@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (3, 2)])
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_large_transposed(stride, dtype, cpu):
    rng = np.random.default_rng(5)
    arrays = [rng.standard_normal(s).astype(dtype) for s in ((2, 34, 15, 17), (34, 29, 3, 3), (29,))]
    options = ConvTransposeOptions(stride, [1, 0], [0, 1], [1, 1], 1)

    def call(x, w, b):
        return module.conv_transpose2d(x, w, b, options)

    have = value_and_gradients(call, arrays, cpu)
    near(
        have,
        value_and_gradients(call, [a.astype(F64) for a in arrays], Device.ndarray()),
        2e-5 if dtype == F32 else 1e-13,
    )


def test_large_in_three_axes(cpu):
    """Few channels too, a plane of the kernel after the other."""
    rng = np.random.default_rng(3)
    arrays = [rng.standard_normal(s) for s in ((2, 3, 5, 17, 24), (5, 3, 2, 3, 3), (5,))]
    options = ConvOptions([1, 1, 1], [1, 1, 0], [1, 1, 1], 1)

    def call(x, w, b):
        return module.conv3d(x, w, b, options)

    want = value_and_gradients(call, arrays, Device.ndarray())
    near(value_and_gradients(call, [a.astype(F32) for a in arrays], cpu), want, 2e-5)
    near(value_and_gradients(call, arrays, cpu), want, 1e-13)


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("outputs", [1, 3, 4, 5])
def test_small_maps(outputs, dtype, cpu):
    """Maps of every small size: groups of positions run on from row to row, and the last tile has groups to spare."""
    rng = np.random.default_rng(8)
    options, limit = ConvOptions([1, 1], [1, 1], [1, 1], 1), 1e-5 if dtype == F32 else 1e-13
    for size in np.ndindex(8, 9):
        x, w = (rng.standard_normal(s).astype(dtype) for s in ((2, 9, size[0] + 1, size[1] + 1), (outputs, 9, 3, 3)))
        windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)]), (3, 3), (2, 3))
        want = np.einsum("nchwij,ocij->nohw", windows, w)
        near([array(module.conv2d(tensor(x, cpu), tensor(w, cpu), None, options))], [want], limit)


@pytest.mark.parametrize("padding", [((0, 0), (0, 0)), ((1, 1), (1, 1)), ((0, 1), (2, 0)), ((3, 5), (4, 1))], ids=str)
@pytest.mark.parametrize(("batch", "c", "o"), [(0, 24, 24), (1, 24, 31), (1, 47, 24), (5, 25, 33)])
def test_strided_maps(batch, c, o, padding, cpu):
    """Stride 2 where tiles are whole, cut, and in the padding alone; channels that fill no vector."""
    rng = np.random.default_rng(12)
    options = ConvOptions([2, 2], padding, [1, 1], 1)
    for size in [(64, 64), (63, 66), (56, 57), (55, 58)]:
        x, w = (rng.standard_normal(s).astype(F32) for s in ((batch, c, *size), (o, c, 3, 3)))
        windows = np.pad(x.astype(F64), [(0, 0), (0, 0), *padding])
        windows = np.lib.stride_tricks.sliding_window_view(windows, (3, 3), (2, 3))[:, :, ::2, ::2]
        want = np.einsum("nchwij,ocij->nohw", windows, w.astype(F64), optimize=True)
        have = array(module.conv2d(tensor(x, cpu), tensor(w, cpu), None, options))
        assert have.shape == want.shape
        if batch:
            near([have], [want], 1e-5)


def test_transposed_beyond_the_caches(cpu):
    """An output so large that it is written around the caches, with rows of whole vectors and with others."""
    rng = np.random.default_rng(6)
    for width in (64, 63):
        arrays = [rng.standard_normal(s).astype(F32) for s in ((2, 2, 64, width), (2, 33, 3, 3), (33,))]
        options = ConvTransposeOptions([2, 2], [1, 1], [1, 1], [1, 1], 1)
        have = [
            array(module.conv_transpose2d(*(tensor(a, d) for a in arrays), options)) for d in (cpu, Device.ndarray())
        ]
        near(have[:1], have[1:], 1e-5)


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("stride", [1, 2])
def test_small_maps_depthwise(stride, dtype, cpu):
    """Maps around the length of a vector, windows that hang over every edge, and some that lie outside."""
    rng = np.random.default_rng(9)
    for size in [(1, 1), (2, 3), (8, 15), (9, 16), (10, 17), (17, 33)]:
        x, w, b = (rng.standard_normal(s).astype(dtype) for s in ((2, 3, *size), (6, 1, 3, 3), (6,)))
        for pad in [(1, 1), (0, 3), (2, 0)]:
            if min(size[0] + 2 * pad[0], size[1] + 2 * pad[1]) < 3:
                continue
            options = ConvOptions([stride, stride], list(pad), [1, 1], 3)
            want = depthwise_by_shifts(x, w, b, pad)[:, :, ::stride, ::stride]
            near(
                [array(module.conv2d(*(tensor(a, cpu) for a in (x, w, b)), options))],
                [want],
                1e-5 if dtype == F32 else 1e-13,
            )


def depthwise_by_shifts(x, w, b, pad):
    """Depthwise kernels of three by three with step 1, as sums of shifted maps in double precision."""
    x = np.pad(x.astype(F64), [(0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2]).repeat(len(w) // x.shape[1], 1)
    h, v = x.shape[2] - 2, x.shape[3] - 2
    return b[:, None, None] + sum(
        w[:, 0, i, j, None, None] * x[:, :, i : i + h, j : j + v] for i, j in np.ndindex(3, 3)
    )


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_beyond_the_caches(dtype, cpu):
    """Outputs so large that they are written around the caches: with whole lines and with others."""
    rng = np.random.default_rng(10)
    limit = 1e-5 if dtype == F32 else 1e-13
    for width in (96, 95):
        x, w, b = (rng.standard_normal(s).astype(dtype) for s in ((2, 30, 100, width), (30, 1, 3, 3), (30,)))
        have = module.conv2d(*(tensor(a, cpu) for a in (x, w, b)), ConvOptions([1, 1], [1, 1], [1, 1], 30))
        near([array(have)], [depthwise_by_shifts(x, w, b, (1, 1))], limit)
        x, w = x[:, :3], rng.standard_normal((30, 3, 1, 1)).astype(dtype)
        have = module.conv2d(
            *(tensor(np.ascontiguousarray(a), cpu) for a in (x, w, b)), ConvOptions([1, 1], [0, 0], [1, 1], 1)
        )
        near([array(have)], [np.einsum("nchw,oc->nohw", x, w[..., 0, 0]) + b[:, None, None]], limit)


@pytest.mark.parametrize("name", LARGE)
def test_threads(name, cpu):
    """The same bits for one thread and for two, gradients included."""
    arrays, options = large(name)
    results = with_threads(lambda: value_and_gradients(lambda x, w, b: module.conv2d(x, w, b, options), arrays, cpu))
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two, strict=True)


@pytest.mark.parametrize("name", ["winograd, several blocks", "winograd, strided"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38])
def test_odd_values_stay_in_their_window(value, name, cpu):
    """Winograd's sums would spread a NaN over a tile, make one of infinities, and overflow where the result does not."""
    (x, w, b), options = large(name)
    x[2, 5, 9, 13] = value
    w[:, 5] *= 1e-3
    have = array(module.conv2d(*(tensor(a, cpu) for a in (x, w, b)), options))
    want = array(module.conv2d(*(tensor(a.astype(F64), Device.ndarray()) for a in (x, w, b)), options))
    finite = np.isfinite(want) & (np.abs(want) < 3e38)
    np.testing.assert_array_equal(np.isfinite(have), finite)
    usual = finite & (np.abs(want) < 1e30)
    near([have[usual]], [want[usual]], 1e-4)
    np.testing.assert_allclose(have[finite], want[finite], rtol=1e-4, atol=1e-4 * np.abs(want[usual]).max())
    np.testing.assert_array_equal(np.isnan(have), np.isnan(want))


@pytest.mark.parametrize(
    "name", ["winograd, groups", "winograd, strided, one image", "strided", "depthwise", "first layer", "one by one"]
)
def test_infinite_weights_meet_only_elements(name, device):
    """What lies outside is not multiplied, so an infinite weight makes no NaN at the borders."""
    (x, w, b), options = large(name, F64)
    x, w, b = np.abs(x[:1]) + 0.5, w.copy(), b
    w[0, 0, 0, 0] = np.inf
    have = array(module.conv2d(*(tensor(a.astype(F32), device) for a in (x, w, b)), options))
    assert not np.isnan(have).any() and np.isinf(have[0, 0]).any() and np.isfinite(have[0, 1:]).all()
    want = array(module.conv2d(*(tensor(a, Device.ndarray()) for a in (x, w, b)), options))
    np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-3)


def weight_gradient_by_sums(x, g, kernel, stride, padding, groups):
    """The gradient of a weight of conv2d, from elements that exist."""
    c, o = x.shape[1] // groups, g.shape[1] // groups
    out = np.zeros((g.shape[1], c, *kernel))
    for at in np.ndindex(out.shape):
        for i, j in np.ndindex(g.shape[2:]):
            y, z = i * stride + at[2] - padding[0], j * stride + at[3] - padding[1]
            if 0 <= y < x.shape[2] and 0 <= z < x.shape[3]:
                out[at] += (x[:, at[0] // o * c + at[1], y, z] * g[:, at[0], i, j]).sum()
    return out


@pytest.mark.parametrize(
    ("c", "o", "size", "stride", "groups"),
    [(2, 3, (17, 16), 1, 1), (8, 3, (20, 21), 1, 1), (2, 3, (5, 6), 1, 1), (4, 4, (9, 8), 2, 2), (3, 3, (6, 6), 1, 3)],
)
def test_infinite_gradients_meet_only_elements(c, o, size, stride, groups, device):
    """What lies outside is not multiplied in the gradient of the weight either; a NaN that is meant stays."""
    rng = np.random.default_rng(4)
    x = rng.uniform(0.5, 1, (2, c, *size))
    g = rng.uniform(0.5, 1, (2, o, *((n - 1) // stride + 1 for n in size)))
    g[0, 0, 0, 0] = np.inf
    g[1, 1, -1, 2] = -np.inf
    x[1, 0, -1, 2] = 0.0
    x[0, 1, 4, 0] = np.inf
    options = ConvOptions([stride] * 2, [1, 1], [1, 1], groups)
    w = rng.standard_normal((o, c // groups, 3, 3))
    have = array(module.conv2d_weight_backward(*(tensor(a, device) for a in (x, w, g)), options))
    with np.errstate(invalid="ignore"):
        want = weight_gradient_by_sums(x, g, (3, 3), stride, (1, 1), groups)
    assert np.isinf(want).any()
    np.testing.assert_allclose(have, want, rtol=1e-12)


@pytest.mark.parametrize("where", ["x", "gradient"])
@pytest.mark.parametrize(("value", "at"), [(np.nan, 0), (np.inf, 0), (3e38, 2)])
def test_odd_values_stay_in_their_taps(value, at, where, cpu):
    """In the gradient of a weight too Winograd's sums would spread them, and overflow."""
    (x, w, _), options = large("winograd, uneven")
    grad = np.random.default_rng(3).uniform(0.5, 1, (2, 25, 13, 11)).astype(F32)
    (x if where == "x" else grad)[1, 3, at, at] = value
    if value == 3e38:
        x *= 1e-3
    have = array(module.conv2d_weight_backward(*(tensor(a, cpu) for a in (x, w, grad)), options))
    plain = (tensor(a.astype(F64), Device.ndarray()) for a in (x, w, grad))
    want = array(module.conv2d_weight_backward(*plain, options))
    np.testing.assert_array_equal(np.isnan(have), np.isnan(want))
    np.testing.assert_array_equal(np.isfinite(have), np.isfinite(want) & (np.abs(want) < 3.4e38))
    usual = np.isfinite(want) & (np.abs(want) < 1e30)
    near([have[usual]], [want[usual]], 1e-5)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("groups", [1, 5])
def test_infinite_weights_of_transposed_convolutions(stride, groups, device):
    rng = np.random.default_rng(9)
    x, w = rng.uniform(0.5, 1, (1, 5, 4, 6)), rng.uniform(0.5, 1, (5, 3 * 5 // groups, 3, 3))
    w[1, 0, 2, 1] = np.inf
    options = ConvTransposeOptions([stride] * 2, [1, 0], [0, 0], [1, 1], groups)
    have = array(module.conv_transpose2d(tensor(x, device), tensor(w, device), None, options))
    want = array(module.conv_transpose2d(tensor(x, Device.ndarray()), tensor(w, Device.ndarray()), None, options))
    assert np.isinf(want).any() and not np.isnan(want).any()
    np.testing.assert_allclose(have, want, rtol=1e-12)


def test_slab_beyond_its_offsets(flex):
    """A copy of the input that 32 bits cannot address counts as too large, whatever memory there is."""
    x, w = burn.Tensor.ones([1, 2200, 1], device=flex), burn.Tensor.ones([3, 2200, 2], device=flex)
    options = ConvOptions([1], [500_000], [1_000_000], 1)
    with pytest.raises(burn.errors.OutOfMemoryError):
        module.conv1d(x, w, None, options)
    wide = ConvOptions([1, 1], [0, 500_000], [1, 1_000_000], 1)
    with pytest.raises(burn.errors.OutOfMemoryError):
        module.conv2d_weight_backward(
            x.reshape([1, 2200, 1, 1]), w.reshape([3, 2200, 1, 2]), burn.Tensor.ones([1, 3, 1, 1], device=flex), wide
        )


@pytest.mark.parametrize("name", ["winograd, several blocks", "winograd, strided"])
def test_winograd_can_be_forbidden(name, cpu):
    arrays, options = large(name)
    tensors, want = [tensor(a, cpu) for a in arrays], reference(name)[0]
    with_it = array(module.conv2d(*tensors, options))
    before = burn.set_winograd(False)
    try:
        without = array(module.conv2d(*tensors, options))
    finally:
        assert burn.set_winograd(before) is False
    near([without], [want], 1e-6)
    near([with_it], [want], 1e-4)
    assert (with_it != without).any()


def test_only_wanted_gradients(device):
    """An input that is not tracked gets none, and what nobody needs is not computed."""
    arrays, options = large("strided")
    x, w, b = (tensor(a, device.autodiff()) for a in arrays)
    w = w.require_grad()
    grads = module.conv2d(x, w, b, options).sum().backward()
    assert x.grad(grads) is None
    assert w.grad(grads) is not None
    assert b.grad(grads) is None
