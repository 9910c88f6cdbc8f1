"""Random shapes, views and ops: both backends against NumPy."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from burn.device import Device
from tests.cases.tensors import array, tensor

sizes = st.lists(st.integers(0, 5), min_size=1, max_size=4)


@st.composite
def views(draw):
    """The same random chain of views of a random array, as (array, function of a tensor)."""
    x = np.arange(np.prod(shape := draw(sizes), dtype=int), dtype="f4").reshape(shape) % 7 - 3
    steps = []
    view = x
    for _ in range(draw(st.integers(0, 3))):
        rank = view.ndim
        match draw(st.sampled_from(["permute", "flip", "slice", "unsqueeze"])):
            case "permute":
                axes = draw(st.permutations(range(rank)))
                steps.append(lambda t, axes=axes: t.permute(list(axes)))
                view = view.transpose(axes)
            case "flip":
                axis = draw(st.integers(0, rank - 1))
                steps.append(lambda t, axis=axis: t.flip([axis]))
                view = np.flip(view, axis)
            case "slice":
                axis = draw(st.integers(0, rank - 1))
                n = view.shape[axis]
                start, stop, step = draw(st.integers(0, n)), draw(st.integers(0, n)), draw(st.integers(1, 3))
                at = (slice(None),) * axis + (slice(start, max(start, stop), step),)
                steps.append(lambda t, at=at: t[at])
                view = view[at]
            case "unsqueeze" if rank < 5:
                steps.append(lambda t: t.unsqueeze_dim(0))
                view = view[None]

    def build(t):
        for step in steps:
            t = step(t)
        return t

    return x, view, build


@settings(max_examples=150, deadline=None, derandomize=True)
@given(views(), st.data())
def test_ops_on_views(drawn, data):
    x, view, build = drawn
    axis = data.draw(st.integers(0, view.ndim - 1))
    for device in (Device.flex(), Device.ndarray()):
        t = build(tensor(x, device))
        np.testing.assert_array_equal(array(t), view, strict=True)
        np.testing.assert_array_equal(array(t + t), view + view, strict=True)
        np.testing.assert_array_equal(array(t.sum_dim(axis)), view.sum(axis, keepdims=True), strict=True)
        np.testing.assert_array_equal(array(t.reshape([-1])) if view.size else view.reshape(-1), view.reshape(-1))
        np.testing.assert_array_equal(array(t.greater_elem(0.0)), view > 0)
        first = t.narrow(axis, 0, 1) if view.shape[axis] else t
        np.testing.assert_array_equal(array(t.mul(first)), view * (view.take([0], axis) if view.shape[axis] else view))
        if view.shape[axis]:
            np.testing.assert_array_equal(array(t.max_dim(axis)), view.max(axis, keepdims=True))
            np.testing.assert_array_equal(array(t.argmin(axis)), view.argmin(axis, keepdims=True))
        np.testing.assert_array_equal(array(type(t).cat([t, t.neg()], axis)), np.concatenate([view, -view], axis))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.integers(1, 3), max_size=2), st.tuples(*[st.integers(0, 40)] * 3), st.tuples(*[st.booleans()] * 2))
def test_products(batch, sizes, transposed):
    m, k, n = sizes
    rng = np.random.default_rng([m, k, n])
    a, b = rng.integers(-4, 5, (*batch, m, k)).astype("f4"), rng.integers(-4, 5, (*batch, k, n)).astype("f4")
    for device in (Device.flex(), Device.ndarray()):
        left, right = (
            tensor(np.ascontiguousarray(v.swapaxes(-1, -2)), device).transpose() if t else tensor(v, device)
            for v, t in zip((a, b), transposed, strict=True)
        )
        np.testing.assert_array_equal(array(left.matmul(right)), a @ b, strict=True)
