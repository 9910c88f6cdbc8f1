"""Parts, patterns and grids on every device: corners that the cases of movement and index leave out."""

import asyncio

import numpy as np
import pytest

from burn.errors import ArgumentError, ArgumentTypeError, DTypeError, KindError, OutOfBoundsError, ShapeError
from burn.tensor import (
    GridIndexing,
    GridOptions,
    GridSparsity,
    IndexingUpdateOp,
    IndexPos,
    PadMode,
    Slice,
    Tensor,
    affine_grid_2d,
    cartesian_grid,
    meshgrid,
    meshgrid_stack,
    s,
)
from tests.cases import BF16, BOOL, F16, F32, F64, I8, I64, U8
from tests.cases.tensors import array, gradients, strided, tensor

X = np.arange(24.0).reshape(2, 3, 4)


def walked(part, size):
    """Positions that a slice means, by Burn's words."""
    start, end = part.range(size)
    chosen = list(range(start, end))
    return chosen[:: part.step] if part.step > 0 else chosen[::-1][:: -part.step]


@pytest.mark.parametrize("size", [0, 1, 5])
def test_slices_walk_as_burn_says(size, device):
    x = tensor(np.arange(size, dtype=F32), device)
    for start in (-9, -2, 0, 1, 4, 9):
        for end in (None, -9, -1, 0, 2, 5, 2**62):
            for step in (1, 2, -1, -3, 2**62, -(2**62)):
                part = Slice(start, end, step)
                want = walked(part, size)
                assert part.output_size(size) == len(want)
                assert walked(part.bound_to(size), size) == want
                assert Slice.parse(str(part)) == part or part.output_size(size) == Slice.parse(str(part)).output_size(
                    size
                )
                assert array(x.slice(part)).tolist() == want
                filled = np.arange(size, dtype=F32)
                filled[want] = 7
                np.testing.assert_array_equal(array(x.slice_fill(part, 7)), filled)
                values = tensor(np.arange(100.0, 100 + len(want), dtype=F32), device)
                filled[want] = np.arange(100.0, 100 + len(want))
                np.testing.assert_array_equal(array(x.slice_assign(part, values)), filled)


def test_entries_of_slices(device):
    x = tensor(X, device)
    for part, want in (
        (1, X[1:2]),
        (-1, X[1:2]),
        (7, X[:0]),
        (range(1), X[:1]),
        (slice(None, None, -1), X[::-1]),
        (..., X),
        ([..., 1], X[:, :, 1:2]),
        ([0, ..., slice(1, 3)], X[:1, :, 1:3]),
        (s[..., 0], X[:, :, :1]),
        (s[1:, 0:2, ::-2], X[1:, :2, ::-2]),
        ([], X),
        (np.int64(1), X[1:2]),
    ):
        np.testing.assert_array_equal(array(x.slice(part)), want, strict=True)
    for bad in ([0, 0, 0, 0], [..., ...]):
        with pytest.raises(ShapeError, match=r"\[slice\] 'slices'"):
            x.slice(bad)
    for bad in (None, 1.5, [1.5], [True], "1..2"):
        with pytest.raises(ArgumentTypeError, match=r"\[slice\] 'slices'"):
            x.slice(bad)
    with pytest.raises(ArgumentError, match="backwards"):
        x.slice(range(2, 0, -1))
    with pytest.raises(ArgumentError, match="Step cannot be zero"):
        x.slice(slice(0, 1, 0))
    with pytest.raises(ShapeError, match=r"\[slice_assign\] 'values' .*\[1, 3, 4\]"):
        x.slice_assign(0, x.slice(0).slice_dim(1, 0))
    with pytest.raises(DTypeError, match="cast"):
        x.slice_assign(0, x.slice(0).cast("f32"))
    with pytest.raises(TypeError, match=r"\[slice_fill\] 'value'"):
        x.slice_fill(0, x)


def test_text_of_slices():
    for part, text in (
        (Slice.full(), ".."),
        (Slice.index(0), "0"),
        (Slice.index(-3), "-3"),
        (Slice(0, 10), "..10"),
        (Slice(1, 10), "1..10"),
        (Slice(-3, 10, -2), "-3..10;-2"),
        (Slice(2), "2.."),
    ):
        assert str(part) == text
        assert Slice.parse(text) == part
    assert Slice.parse("-1") == Slice(-1) == s[-1]
    assert Slice.parse("..=-1") == Slice.full()
    assert Slice.parse("1..=3;2") == Slice.from_range_stepped(range(1, 4), 2) == Slice.new(1, 4).with_step(2)
    assert Slice(1, 4, -1).is_reversed() and Slice(1, 9, -1).to_range_and_step(3) == (1, 3, -1)
    for text, why in (("", "Empty expression"), ("a", "Invalid integer: 'a'"), ("1..2;0", "Step cannot be zero")):
        with pytest.raises(ArgumentError, match=why):
            Slice.parse(text)


def test_select_dim_and_iter_dim(device):
    x = tensor(X, device)
    np.testing.assert_array_equal(array(x.select_dim(-1, -1)), X[..., -1], strict=True)
    assert array(tensor(X[0, 0], device).select_dim(0, 2)).tolist() == [2.0]
    with pytest.raises(OutOfBoundsError, match=r"\[select_dim\] 'index' .* axis 1 of size 3, got 3"):
        x.select_dim(1, 3)
    parts = x.iter_dim(1)
    assert len(parts) == 3
    np.testing.assert_array_equal(array(next(parts)), X[:, :1])
    np.testing.assert_array_equal(array(parts.next_back()), X[:, 2:])
    assert [array(p).tolist() for p in parts] == [X[:, 1:2].tolist()]
    assert parts.next_back() is None
    assert [array(p).ravel()[0] for p in reversed(x.iter_dim(0))] == [12.0, 0.0]


@pytest.mark.parametrize("dtype", [F32, F16, BF16, I8, I64, U8], ids=str)
@pytest.mark.parametrize("kind", ["permuted", "flipped", "stepped"])
def test_patterns_of_views(dtype, kind, device):
    x = (np.arange(60) % 100).reshape(3, 4, 5).astype(dtype)
    t = strided(x, device, kind)

    def same(have, want):
        np.testing.assert_array_equal(array(have), want, strict=True)

    same(t.roll([1, -7, 3], [0, 1, -1]), np.roll(x, (1, -7, 3), (0, 1, 2)))
    same(t.unfold(1, 2, 2), np.lib.stride_tricks.sliding_window_view(x, 2, 1)[:, ::2])
    same(t.pad([(1, 0), (2, 3)], PadMode.Reflect), np.pad(x, [(0, 0), (1, 0), (2, 3)], "reflect"))
    same(t.pad([(4, 0), (0, 9)], PadMode.Edge), np.pad(x, [(0, 0), (4, 0), (0, 9)], "edge"))
    same(t.pad((1, 2, 3, 0), 5), np.pad(x, [(0, 0), (3, 0), (1, 2)], constant_values=dtype.type(5)))
    same(t.triu(-1), np.where(np.tri(4, 5, -2, dtype=bool), dtype.type(0), x))
    same(t.tril(2), np.where(np.tri(4, 5, 2, dtype=bool), x, dtype.type(0)))
    for offset in (-(2**62), -4, 0, 2, 2**62):
        assert array(t.triu(offset)).astype(bool).sum() == np.triu(x.astype("f4"), offset).astype(bool).sum()


def test_nothing_is_rolled_padded_or_unfolded(device):
    x = tensor(np.zeros((0, 3), F32), device)
    assert x.roll([2, 1], [0, 1]).dims() == [0, 3]
    assert x.roll_dim(0, 1).dims() == [0, 3]
    np.testing.assert_array_equal(array(x.pad([(1, 1), (0, 0)], 2.0)), np.full((2, 3), 2.0, F32))
    assert x.pad([(1, 1)], PadMode.Reflect).dims() == [0, 5]
    assert x.pad([(0, 0), (1, 1)], PadMode.Edge).dims() == [0, 5]
    with pytest.raises(ShapeError, match="no edge"):
        x.pad([(1, 0), (0, 0)], PadMode.Edge)
    assert x.unfold(0, 1, 1).dims() == [0, 3, 1]
    assert x.unfold(1, 3, 5).dims() == [0, 1, 3]
    assert x.triu(0).dims() == [0, 3]
    assert array(tensor(X, device).pad([(0, 0)])).tolist() == X.tolist()
    ones = tensor(np.ones((1, 1)), device)
    assert ones.roll([5, 5], [0, 1]).dims() == [1, 1]
    assert array(ones.pad([(2, 1)], PadMode.Edge)).tolist() == [[1.0] * 4]


def test_wrong_patterns(device):
    x = tensor(X, device)
    for error, words, call in (
        (ArgumentError, r"\[unfold\] 'size'", lambda: x.unfold(0, 0, 1)),
        (ArgumentError, r"\[unfold\] .* 'step'", lambda: x.unfold(0, 1, 0)),
        (ShapeError, "negative", lambda: x.pad([(-1, 0)])),
        (ShapeError, "pairs", lambda: x.pad([(1, 2, 3)])),
        (ArgumentTypeError, "'padding'", lambda: x.pad(1)),
        (ArgumentTypeError, "'mode'", lambda: x.pad([(1, 1)], "edge")),
        (ShapeError, "less than the size", lambda: x.pad([(0, 4)], PadMode.Reflect)),
        (KindError, r"\[pad\]", lambda: x.bool().pad([(1, 1)])),
        (KindError, r"\[triu\]", lambda: x.bool().triu(0)),
        (KindError, r"\[argwhere\]", lambda: x.argwhere()),
        (ShapeError, r"\[tril_mask\] 'shape'", lambda: Tensor.tril_mask([3], 0, device)),
        (ArgumentError, "'step'", lambda: Tensor.arange_step(range(3), 0, device)),
        (ArgumentError, "step 1", lambda: Tensor.arange_step(range(0, 3, 2), 1, device)),
        (ShapeError, r"\[cartesian_grid\] 'shape'", lambda: Tensor.cartesian_grid([], device)),
        (DTypeError, "whole number", lambda: x.int().pad([(1, 1)], 0.5)),
    ):
        with pytest.raises(error, match=words):
            call()


def test_masks_grids_and_steps(device):
    for offset in (-(2**70), -2, 0, 1, 2**70):
        near = max(-9, min(offset, 9))
        d = np.arange(3)[None, :] - np.arange(2)[:, None]
        for name, want in (("triu_mask", d < near), ("tril_mask", d > near), ("diag_mask", d != near)):
            got = array(getattr(Tensor, name)([4, 2, 3], offset, device))
            np.testing.assert_array_equal(got, np.broadcast_to(want, (4, 2, 3)), strict=True)
    assert Tensor.triu_mask([2, 2], 0, device.autodiff()).is_autodiff()
    assert array(Tensor.arange_step(range(5, 5), 2, device)).tolist() == []
    assert array(Tensor.cartesian_grid([3], device)).tolist() == [[0], [1], [2]]
    assert cartesian_grid([2, 0, 3], device).dims() == [2, 0, 3, 3]
    a, b, c = (tensor(np.arange(n, dtype=F32), device) for n in (2, 3, 4))
    for indexing, name in ((GridIndexing.Matrix, "ij"), (GridIndexing.Cartesian, "xy")):
        for sparsity in GridSparsity:
            sparse = sparsity is GridSparsity.Sparse
            want = np.meshgrid(*(array(v) for v in (a, b, c)), indexing=name, sparse=sparse)
            for have, w in zip(meshgrid([a, b, c], GridOptions(indexing, sparsity)), want, strict=True):
                np.testing.assert_array_equal(array(have), w, strict=True)
    assert meshgrid([a], GridIndexing.Cartesian)[0].dims() == [2]
    stacked = np.stack(np.meshgrid([0, 1], [0, 1, 2], indexing="ij"))
    np.testing.assert_array_equal(array(meshgrid_stack([a, b])), stacked)
    np.testing.assert_array_equal(array(meshgrid_stack([a, b], IndexPos.Last)), np.moveaxis(stacked, 0, -1))
    for bad in ([], [a.unsqueeze(2)], [a, b.int()]):
        with pytest.raises((ShapeError, DTypeError), match=r"\[meshgrid\]"):
            meshgrid(bad)


def test_affine_grid(device):
    flat = tensor(np.array([[[1.0, 0, 0], [0, 1, 0]]], F32), device)
    grid = array(affine_grid_2d(flat, [1, 3, 2, 3]))
    assert grid.tolist() == [[[[-1, -1], [0, -1], [1, -1]], [[-1, 1], [0, 1], [1, 1]]]]
    assert array(affine_grid_2d(flat, [1, 3, 1, 1])).tolist() == [[[[0.0, 0.0]]]]
    for dtype, n in ((F16, 3000), (F16, 70_000), (BF16, 300)):  # more places than the dtype holds
        identity = tensor(np.array([[[1.0, 0, 0], [0, 1, 0]]], dtype), device)
        points = array(affine_grid_2d(identity, [1, 3, 1, n])).astype("f8")[0, 0, :, 0]
        np.testing.assert_allclose(points, np.linspace(-1, 1, n), rtol=0, atol={F16: 1e-3, BF16: 8e-3}[dtype] / 2)
    with pytest.raises(ShapeError, match=r"\[affine_grid_2d\] 'transform'"):
        affine_grid_2d(flat, [2, 3, 4, 5])


def test_one_hot(device):
    x = np.array([[0, 2], [1, -1]])
    want = np.array([[[5, 0, 0], [0, 0, 5]], [[0, 5, 0], [0, 0, 5]]])
    for axis in (-1, 0, 1, -2):
        got = tensor(x, device).one_hot_fill(3, 5.0, 0.0, axis)
        np.testing.assert_array_equal(array(got), np.moveaxis(want, -1, axis), strict=True)
    half = tensor(np.array([0.9, -1.5]), device).one_hot_fill(3, 0.5, -0.25, -1)
    np.testing.assert_array_equal(array(half), [[0.5, -0.25, -0.25], [-0.25, -0.25, 0.5]], strict=True)
    with pytest.raises(DTypeError, match="'on_value'"):
        tensor(x, device).one_hot_fill(3, 0.5, 0, 0)
    with pytest.raises(OutOfBoundsError, match=r"\[one_hot_fill\]"):
        tensor(x, device).one_hot_fill(2, 1, 0, 0)
        device.sync()
    assert tensor(x[:0], device).one_hot(3).dims() == [0, 2, 3]


ONE_HOT_DTYPES = [F32, F64, F16, BF16, *(np.dtype(f"{sign}{size}") for sign in "iu" for size in (1, 2, 4, 8))]


@pytest.mark.parametrize("dtype", ONE_HOT_DTYPES, ids=lambda d: np.dtype(d).name)
def test_one_hot_of_every_dtype(device, dtype):
    """Short and long rows behind the class axis, results that go around the cache and that do not, lines that begin anywhere."""
    dtype, rng = np.dtype(dtype), np.random.default_rng(3)
    least = 0 if dtype.kind == "u" else -1
    for shape, axis, classes in (
        ((5, 7), 0, 9), ((5, 7), 2, 2), ((3, 300), 1, 4), ((3, 300), 1, 70), ((70_000,), 1, 40), ((1, 70_001), 1, 37),
        ((2, 40, 1000), 1, 29), ((9, 3, 5), 1, 20_000), ((3, 1, 2), 3, 300_000),
    ):  # fmt: skip
        names = rng.integers(least * min(classes, 100), min(classes, 100), shape)
        x = names.astype(dtype)
        if dtype.kind not in "iu":
            x = (names + np.where(names < 0, -0.5, 0.5)).astype(dtype)
            names = np.trunc(x.astype("f8")).astype("i8")
        got = array(tensor(x, device).one_hot_fill(classes, 3, 1, axis))
        ids = np.expand_dims(np.where(names < 0, names + classes, names), axis)
        want = np.where(ids == np.arange(classes).reshape((-1, *[1] * (x.ndim - axis))), 3, 1).astype(dtype)
        np.testing.assert_array_equal(got, want, strict=True)


@pytest.mark.parametrize("dtype", ONE_HOT_DTYPES, ids=lambda d: np.dtype(d).name)
def test_one_hot_names_what_is_no_class(device, dtype):
    dtype = np.dtype(dtype)
    is_float = dtype.kind not in "iu"
    bad = [float("nan"), float("inf"), 5.0, -6.5] if is_float else [5, np.iinfo(dtype).max]
    bad += [] if is_float or dtype.kind == "u" else [-6, np.iinfo(dtype).min]
    for value in bad:
        for shape in ((4,), (2, 300)):
            x = np.zeros(shape, dtype)
            x.reshape(-1)[2:] = value
            shown = "NaN or" if not np.isfinite(value) else str(int(value))
            with pytest.raises(
                OutOfBoundsError, match=rf"\[one_hot\w*\] .*'num_classes' = 5 .*got {shown}.* position 2"
            ):
                tensor(x, device).one_hot_fill(5, 1, 0, 1) if len(shape) == 2 else tensor(x, device).one_hot(5)
                device.sync()


def test_where(device):
    mask = np.random.default_rng(0).random((3, 4, 5)) < 0.3
    for m in (mask, mask[:, :0], np.zeros((2, 2), bool), np.ones((1,), bool)):
        t = tensor(m, device)
        np.testing.assert_array_equal(array(t.argwhere()), np.argwhere(m))
        found = t.nonzero()
        assert len(found) == (m.ndim if m.any() else 0)
        for have, want in zip(found, np.nonzero(m), strict=False):
            np.testing.assert_array_equal(array(have), want)
    t = strided(mask, device, "permuted")
    np.testing.assert_array_equal(array(asyncio.run(t.argwhere_async())), np.argwhere(mask))
    assert len(asyncio.run(t.nonzero_async())) == 3
    values = np.arange(60.0).reshape(3, 4, 5)
    np.testing.assert_array_equal(array(asyncio.run(tensor(values, device).mask_select_async(t))), values[mask])


def test_tuples_of_indices(device):
    x = tensor(X, device)
    i = tensor(np.array([1, 2, 3]), device)
    assert array(x.gather_nd(i)).tolist() == [23.0]
    assert array(x.scatter_nd(i, tensor(np.array([1.0]), device), IndexingUpdateOp.Add)).ravel()[-1] == 24.0
    none = tensor(np.zeros((0, 2), I64), device)
    assert x.gather_nd(none).dims() == [0, 4]
    np.testing.assert_array_equal(array(x.scatter_nd(none, x.gather_nd(none), IndexingUpdateOp.Add)), X)
    assert array(x.bool().gather_nd(tensor(np.array([[0, 0], [1, 1]], I8), device))).dtype == BOOL
    for bad, axis, size, value, at in (([[0, 3], [0, 0]], 1, 3, 3, 1), ([[0, 0], [-1, 0]], 0, 2, -1, 2)):
        indices = tensor(np.array(bad), device)
        words = rf"0\.\.{size - 1} for axis {axis} of size {size}, got {value} at flat position {at}"
        with pytest.raises(OutOfBoundsError, match=rf"\[gather_nd\] 'indices' must lie in {words}"):
            array(x.gather_nd(indices))
        with pytest.raises(OutOfBoundsError, match=rf"\[scatter_nd\] 'indices' must lie in {words}"):
            array(x.scatter_nd(indices, tensor(np.zeros((2, 4)), device), "Add"))
    with pytest.raises(ShapeError, match=r"\[scatter_nd\] 'values' must have shape \[3, 4\]"):
        x.scatter_nd(tensor(np.zeros((3, 2), I64), device), x, "Add")
    with pytest.raises(ShapeError, match=r"\[gather_nd\] 'indices' must hold 1 to 3"):
        x.gather_nd(tensor(np.zeros((3, 0), I64), device))
    with pytest.raises(ArgumentError, match=r"\[scatter_nd\] 'update'"):
        x.scatter_nd(none, x.gather_nd(none), "Sub")


@pytest.mark.parametrize("name", ["scatter", "select_assign", "scatter_nd"])
def test_gradient_of_products_with_zeros(name, device):
    """Each factor's gradient is the product of the others: zeros, single or several, poison nothing."""
    x, i = np.array([2.0, 0.0, 3.0, 0.0]), np.array([0, 0, 1, 2, 2, 3])
    v = np.array([4.0, 0.0, 5.0, 0.0, 0.0, 0.0])

    def call(x, v):
        at = tensor(i, device)
        if name == "scatter_nd":
            return x.scatter_nd(at.unsqueeze_dim(1), v, "Mul")
        return getattr(x, name)(0, at, v, "Mul")

    to_x, to_v = gradients(call, [x, v], [np.array([1.0, 10.0, 1.0, 100.0])], device)
    np.testing.assert_array_equal(to_x, [0.0, 50.0, 0.0, 0.0])
    np.testing.assert_array_equal(to_v, [0.0, 8.0, 0.0, 0.0, 0.0, 0.0])


def test_gradients_of_overlaps(device):
    """Elements in several windows, or repeated by a border, collect all of them."""
    x = np.arange(10.0).reshape(2, 5)
    (grad,) = gradients(lambda x: x.unfold(1, 3, 1), [x], [np.ones((2, 3, 3))], device)
    assert grad.tolist() == [[1, 2, 3, 2, 1]] * 2
    (grad,) = gradients(lambda x: x.unfold(0, 2, 3), [x], [np.ones((1, 5, 2))], device)
    assert grad.tolist() == [[1] * 5] * 2
    (grad,) = gradients(lambda x: x.pad([(2, 3)], PadMode.Edge), [x], [np.ones((2, 10))], device)
    assert grad.tolist() == [[3, 1, 1, 1, 4]] * 2
    (grad,) = gradients(lambda x: x.pad([(4, 2)], PadMode.Reflect), [x], [np.ones((2, 11))], device)
    assert grad.tolist() == [[1, 2, 3, 3, 2]] * 2
    (grad,) = gradients(lambda x: x.triu(0), [x[:, :2]], [np.full((2, 2), np.nan)], device)
    assert grad[1, 0] == 0.0


def test_reshape_without_elements(device):
    for source, target, want in (
        ((0, 3), [3, 0], [3, 0]),
        ((0, 3), [0, -1], [0, 3]),
        ((0, 2, 3), [0, -1], [0, 6]),
        ((2, 0), [0, -1], [2, 0]),
        ((2, 0), [0, 3], [0, 3]),
        ((2, 0), [5, 1, 0], [5, 1, 0]),
        ((0,), [-1], [0]),
    ):
        assert tensor(np.zeros(source, F32), device).reshape(target).dims() == want
    for source, target in (((0, 3), [4, 4]), ((2, 3), [2, 0, 0]), ((2, 3), [6, 1, 0])):
        with pytest.raises(ShapeError, match=r"\[reshape\]"):
            tensor(np.zeros(source, F32), device).reshape(target)


def test_extract_and_inplace(device):
    x = tensor(X, device)
    other = x.clone()
    x.inplace(lambda t: t + 1.0)
    np.testing.assert_array_equal(array(x), X + 1)
    np.testing.assert_array_equal(array(other), X)
    taken = x.extract()
    np.testing.assert_array_equal(array(taken), X + 1)
    assert x.dims() == [0, 0, 0] and x.dtype == taken.dtype
    with pytest.raises(TypeError, match=r"\[inplace\]"):
        other.inplace(lambda t: None)
