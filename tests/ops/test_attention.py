"""Attention against one query at a time in NumPy, on every device."""

import numpy as np
import pytest

from burn import Device
from burn.tensor import Tensor, activation, module
from burn.tensor.ops import AttentionModuleOptions
from tests.cases import F32, F64
from tests.cases import attention as cases
from tests.cases.tensors import array, gradients, tensor, threads
from tests.ops.checks import check_error, check_gradient, check_value, check_views, each


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


def attention(q, k, v, mask=None, bias=None, **options):
    """`module.attention` with what is given."""
    return module.attention(q, k, v, mask, bias, AttentionModuleOptions(**options))


def test_worked_numbers(device):
    """Numbers of Burn's documentation of the operation."""
    q, k, v = (
        tensor(np.array(a)[None, None], device)
        for a in ([[1.0, 0], [0, 1]], [[1.0, 0], [0, 1], [1, 1]], [[1.0], [2], [4]])
    )
    mask = tensor(np.array([[True, True, True], [False, True, False]])[None, None], device)
    for have, want in (
        (attention(q, k, v), [2.4011121, 2.6044484]),
        (attention(q, k, v, is_causal=True), [1.3302385, 2.6044484]),
        (attention(q, k, v, softcap=0.5), [2.3785955, 2.5143818]),
        (attention(q, k, v, mask), [0, 3.0092846]),
    ):
        np.testing.assert_allclose(array(have).ravel(), want, rtol=1e-7)


def test_large_scores_lose_no_digits(device):
    """Scores of a million, whose differences f32 holds, and the logarithm of whose sums it would not."""
    rng = np.random.default_rng(0)
    k = np.stack([np.ones(40), rng.integers(0, 3, 40)], 1)[None, None]
    q, (v, g) = np.full((1, 1, 5, 2), [1e6, 1.0]), rng.standard_normal((2, 1, 1, 40, 3))
    found = []
    for dtype in ("f32", "f64"):
        leaves = [Tensor.from_data(x, device.autodiff(), dtype=dtype).require_grad() for x in (q, k, v)]
        out = attention(*leaves, scale=1.0)
        grads = (out * Tensor.from_data(g[:, :, :5], device.autodiff(), dtype=dtype)).sum().backward()
        found.append([array(out.detach()), *(array(leaf.grad(grads)) for leaf in leaves)])
    for have, want in zip(*found, strict=True):
        np.testing.assert_allclose(have, want, atol=2e-6 * np.abs(want).max())


def test_a_bias_alone_makes_the_scores(device):
    """Queries and keys of size 0; the gradient of the bias is that through its softmax."""
    rng = np.random.default_rng(0)
    v, b = (tensor(rng.standard_normal((1, 1, *n)), device).autodiff().require_grad() for n in ((4, 2), (3, 4)))
    nothing = [Tensor.zeros([1, 1, n, 0], device.autodiff(), dtype=b.dtype).require_grad() for n in (3, 4)]
    found = []
    for out in (attention(*nothing, v, bias=b), activation.softmax(b, 3).matmul(v)):
        grads = (out * out).sum().backward()
        found.append([array(out.detach()), array(b.grad(grads)), array(v.grad(grads))])
    for have, want in zip(*found, strict=True):
        np.testing.assert_allclose(have, want, atol=1e-6)


def test_an_infinite_cap_is_none(device):
    q, k, v = (tensor(np.random.default_rng(0).standard_normal((1, 1, 4, 3)), device) for _ in range(3))
    np.testing.assert_array_equal(array(attention(q, k, v, softcap=np.inf)), array(attention(q, k, v)))


def test_queries_that_see_nothing(device):
    """Zeros, and gradients of zero, not NaN."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((1, 1, 4, 3)) for _ in range(3))
    mask = np.zeros((1, 1, 4, 4), bool)
    mask[0, 0, 1] = True
    found = gradients(lambda *t: attention(*t), [q, k, v, mask], [np.ones((1, 1, 4, 3))], device)
    out = array(attention(*(tensor(a, device) for a in (q, k, v, mask))))
    assert (out[0, 0, 1] == 0).all() and (found[0][0, 0, 1] == 0).all() and all(np.isfinite(g).all() for g in found[:3])
    none = tensor(np.ones((1, 1, 0, 3)), device)
    assert (array(attention(tensor(q, device), none, none)) == 0).all()
    assert array(attention(none, tensor(k, device), tensor(v, device))).shape == (1, 1, 0, 3)
    empty = np.ones((0, 2, 3, 4))
    assert [g.shape for g in gradients(attention, [empty] * 3, [empty], device)] == [(0, 2, 3, 4)] * 3


def test_nan_and_infinite_scores_stay_in_their_row(device):
    q, k, v = np.ones((1, 1, 3, 2)), np.ones((1, 1, 3, 2)), np.arange(6.0).reshape(1, 1, 3, 2)
    q[0, 0, 1, 0] = np.nan
    out = array(attention(*(tensor(a, device) for a in (q, k, v))))
    assert np.isnan(out[0, 0, 1]).all()
    np.testing.assert_allclose(out[0, 0, [0, 2]], [[2, 3], [2, 3]])
    big = array(attention(*(tensor(a, device) for a in (q[:, :, :1] * 1e3, k * np.array([[1e3], [1], [1]]), v))))
    np.testing.assert_allclose(big, [[[[0, 1]]]])


def test_every_nan_is_one(device):
    """A NaN may carry bits of its own, which must not meet those of an exponent."""
    q, k = np.ones((1, 1, 64, 16), F32), np.ones((1, 1, 40, 16), F32)
    q[0, 0, :, 0] = (0x7FC00000 + np.arange(64, dtype=np.int32) * 0x5555).view(F32)
    assert np.isnan(array(attention(*(tensor(a, device) for a in (q, k, k))))).all()


def test_only_what_is_tracked_gets_a_gradient(device):
    rng = np.random.default_rng(1)
    values = [rng.standard_normal(s) for s in ((1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 3), (1, 2, 3, 5))]

    def call(q, k, v, bias):
        return attention(q, k, v, None, bias)

    g = rng.standard_normal((1, 2, 3, 3))
    full = gradients(call, values, [g], device)
    for i in range(4):
        leaves = [tensor(v, device.autodiff()) for v in values]
        leaves[i] = leaves[i].require_grad()
        loss = (call(*leaves) * tensor(g, device.autodiff())).sum()
        np.testing.assert_allclose(array(leaves[i].grad(loss.backward())), full[i], rtol=1e-12, atol=1e-12)


def test_swapped_axes_are_read_and_written_in_place(device):
    """Heads beside positions, as layers have them: results lie in memory as what they belong to does."""
    rng = np.random.default_rng(2)
    x = [rng.standard_normal((2, 7, 3, 5)) for _ in range(4)]

    def layer(q, k, v):
        return attention(*(t.swap_dims(1, 2) for t in (q, k, v))).swap_dims(1, 2)

    swapped = layer(*(tensor(a, device) for a in x[:3]))
    plain = [a.swapaxes(1, 2).copy() for a in x]
    want = attention(*(tensor(a, device) for a in plain[:3]))
    np.testing.assert_array_equal(array(swapped), array(want).swapaxes(1, 2))
    have = gradients(layer, x[:3], x[3:], device)
    for one, two in zip(have, gradients(attention, plain[:3], plain[3:], device), strict=True):
        np.testing.assert_array_equal(one, two.swapaxes(1, 2))
    assert swapped._contiguous


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"softcap": 2.0}], ids=str)
def test_gradients_of_backends_agree(options):
    """Where finite differences would take too long: more than a block of queries and a tile of keys."""
    rng = np.random.default_rng(4)
    q, k, v, g = (rng.standard_normal((1, 2, n, d)) for n, d in ((150, 20), (300, 20), (300, 35), (150, 35)))

    def run(dtype, device):
        return gradients(lambda *t: attention(*t, **options), [a.astype(dtype) for a in (q, k, v)], [g], device)

    want = run(F64, Device.ndarray())
    for have, right in zip(run(F64, Device.flex()), want, strict=True):
        np.testing.assert_allclose(have, right, rtol=1e-9, atol=1e-12)
    for have, right in zip(run(F32, Device.flex()), want, strict=True):
        np.testing.assert_allclose(have, right, rtol=1e-4, atol=1e-5)


def test_weights_too_small_to_see(device):
    """Weights that would be subnormal, or less than any number, are as good as none."""
    k = np.array([0.0, -86, -88, -95, -103, -200, -np.inf]).reshape(1, 1, 7, 1)
    out = array(attention(*(tensor(a.astype(F32), device) for a in (np.ones((1, 1, 1, 1)), k, np.ones((1, 1, 7, 1))))))
    np.testing.assert_array_equal(out, np.ones((1, 1, 1, 1)))


@pytest.mark.parametrize("shape", [(1, 1, 500, 16), (2, 20, 70, 8)], ids=str)
@pytest.mark.parametrize("dtype", (F32, F64), ids=str)
def test_threads_do_not_matter(dtype, shape, flex):
    rng = np.random.default_rng(3)
    x = [rng.standard_normal(shape).astype(dtype) for _ in range(4)]
    results = []
    for count in (1, 2):
        with threads(count):
            out = array(attention(*(tensor(a, flex) for a in x[:3])))
            results.append([*gradients(attention, x[:3], x[3:], flex), out])
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)
