"""What methods do in compiled code without the bridge: the same values as NumPy, views and copies, and what does not fit."""

import numpy as np
import pytest

from burn import Device, DType, Tensor
from burn.errors import DTypeError, KindError, OutOfBoundsError, ShapeError
from burn.tensor import PadMode, activation, module

FLEX = Device.flex()


def tensor(values):
    values = np.asarray(values)
    return Tensor.from_data(values, FLEX, values.dtype)


@pytest.mark.parametrize("shape", [(1,), (8191,), (8192,), (8193,), (3, 9000), (4, 5, 1000), (20000, 1), (2, 3, 1, 2)])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_argwhere_over_blocks(shape, share):
    mask = np.random.default_rng(0).random(shape) < share
    np.testing.assert_array_equal(tensor(mask).argwhere().numpy(), np.argwhere(mask))
    for have, want in zip(tensor(mask).nonzero(), np.nonzero(mask), strict=False):
        np.testing.assert_array_equal(have.numpy(), want)
    np.testing.assert_array_equal(tensor(mask).mask_select(tensor(mask)).numpy(), mask[mask])


def test_argwhere_of_a_view():
    mask = np.random.default_rng(1).random((40, 50)) < 0.3
    np.testing.assert_array_equal(tensor(mask).transpose().argwhere().numpy(), np.argwhere(mask.T))


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_floor_division(dtype):
    info = np.iinfo(dtype)
    x = np.array([info.min, info.min, info.max, 7, 6, 0, 1], dtype)
    y = np.array([1, 3, 2, 3, 3, 5, info.max], dtype)
    if info.min < 0:
        x, y = np.concatenate([x, x[1:]]), np.concatenate([y, -y[1:]])
    np.testing.assert_array_equal((tensor(x) // tensor(y)).numpy(), np.floor_divide(x, y))
    if info.min < 0:  # the least integer over -1 wraps
        assert (tensor(np.array([info.min], dtype)) // -1).tolist() == [info.min]


@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16])
@pytest.mark.parametrize("n", [1, 7, 8, 9, 63, 1025])
def test_half_precision_is_rounded_once(dtype, n):
    rng = np.random.default_rng(n)
    a, b = (tensor(rng.uniform(-3, 3, n).astype("f4")).cast(dtype) for _ in range(2))
    x, y = (t.cast(DType.F32).numpy() for t in (a, b))
    for got, want in ((a + b, x + y), (a * b, x * y), (a / b, x / y), (a - 1.5, x - 1.5), (2.0 - a, 2 - x), (-a, -x)):
        np.testing.assert_array_equal(got.numpy(), want.astype(dtype.numpy))
    np.testing.assert_array_equal(a.clamp(-1.0, 0.5).numpy(), np.clip(x, -1, 0.5).astype(dtype.numpy))
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-40, 60000.0], "f4")[:n]
    want = -special.astype(dtype.numpy).astype("f4")
    np.testing.assert_array_equal((-tensor(special).cast(dtype)).cast(DType.F32).numpy(), want)


def test_windows_and_joins():
    x = np.arange(24).reshape(2, 3, 4)
    t = tensor(x)
    for key in ((1,), (slice(None), -1), (0, slice(2, 0, -1)), (slice(0, 9), slice(1, 2), 3), (-1, -1, -1)):
        want = x[key]
        np.testing.assert_array_equal(t[key].numpy(), np.atleast_1d(want))
    np.testing.assert_array_equal(Tensor.cat([t, t.flip([0])], -1).numpy(), np.concatenate([x, x[::-1]], -1))
    np.testing.assert_array_equal(Tensor.stack([t, t.flip([2])], 1).numpy(), np.stack([x, x[..., ::-1]], 1))
    np.testing.assert_array_equal(
        t.permute([2, 0, 1]).roll([1, -4], [0, -1]).numpy(), np.roll(x.transpose(2, 0, 1), (1, -4), (0, 2))
    )
    np.testing.assert_array_equal(t.repeat([1, 2, 3]).numpy(), np.tile(x, (1, 2, 3)))
    for mode, name in ((7, "constant"), (PadMode.Reflect, "reflect"), (PadMode.Edge, "edge")):
        extra = {"constant_values": 7} if name == "constant" else {}
        want = np.pad(x, [(0, 1), (2, 0), (1, 3)], name, **extra)
        np.testing.assert_array_equal(t.pad([(0, 1), (2, 0), (1, 3)], mode).numpy(), want)
    assert [p.dims() for p in t.chunk(2, 1)] == [[2, 2, 4], [2, 1, 4]]


def test_gradients_pass_through():
    x = Tensor([[1.0, 2.0], [3.0, 4.0]], FLEX.autodiff()).require_grad()
    y = Tensor.cat([x, x.transpose()], 0).narrow(0, 1, 2).roll([1], [1]).clamp(1.5, 3.5).sum_dim(1).mean()
    grads = y.backward()
    # rows 1 of x and 0 of its transpose: 3, 4 and 1, 3; inside 1.5..3.5 are the 3s
    assert x.grad(grads).tolist() == [[0.0, 0.0], [1.0, 0.0]]


def test_a_wrong_index_is_found_in_its_line():
    x = tensor(np.zeros((20, 5), "f4"))
    at = np.zeros((20, 2), "i8")
    at[13, 1] = 5
    with pytest.raises(OutOfBoundsError, match=r"\[scatter\].*got 5 at flat position 27"):
        x.scatter(1, tensor(at), tensor(np.ones((20, 2), "f4")), "Add")
    assert x.sum().item() == 0.0


@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16])
def test_every_half_by_its_bits(dtype):
    bits = np.arange(1 << 16, dtype=np.uint16)
    x = Tensor.from_data(bits.view(np.float16), FLEX, "f16")
    if dtype is DType.BF16:
        x = Tensor.from_data((bits.astype(np.uint32) << 16).view(np.float32), FLEX, "f32").cast(dtype)
    wide = x.cast("f32").numpy()
    with np.errstate(all="ignore"):
        want = {
            "relu": np.where(wide <= 0, np.float32(0), wide),
            "neg": -wide,
            "abs": np.abs(wide),
            "sign": np.where(np.isnan(wide), 0, np.sign(wide)) + np.float32(0),
        }
        sums = [(x + 1.5, wide + np.float32(1.5)), (2.0 - x, np.float32(2) - wide)]
    have = {"relu": activation.relu(x), "neg": -x, "abs": x.abs(), "sign": x.sign()}
    for name, expected in want.items():
        got = have[name].cast("f32").numpy()
        np.testing.assert_array_equal(got, expected, err_msg=name)
        at = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(got[at]), np.signbit(expected[at]), err_msg=name)
    for got, expected in sums:
        rounded = Tensor.from_data(expected, FLEX, "f32").cast(dtype).cast("f32").numpy()
        np.testing.assert_array_equal(got.cast("f32").numpy(), rounded)
    part = np.float32(Tensor.from_data([-0.3], FLEX, "f32").cast(dtype).cast("f32").item())
    with np.errstate(all="ignore"):
        expected = wide * part
    rounded = Tensor.from_data(expected, FLEX, "f32").cast(dtype).cast("f32").numpy()
    np.testing.assert_array_equal((x * float(part)).cast("f32").numpy(), rounded)


@pytest.mark.parametrize("n", [1, 15, 16, 17, 31, 33, (1 << 20) + 5])
@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16])
def test_halves_of_every_length(dtype, n):
    values = (np.arange(n) % 7 - 3).astype(np.float32)
    x = Tensor.from_data(values, FLEX, "f32").cast(dtype)
    np.testing.assert_array_equal(activation.relu(x).cast("f32").numpy(), np.maximum(values, 0))
    np.testing.assert_array_equal((-x).cast("f32").numpy(), -values)
    np.testing.assert_array_equal(x.sign().cast("f32").numpy(), np.sign(values))
    np.testing.assert_array_equal((x + 1.0).cast("f32").numpy(), values + 1)


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_division_of_64_bits(dtype):
    info, rng = np.iinfo(dtype), np.random.default_rng(5)
    edge = [1, 2, 3, 7, 1 << 31, (1 << 51) - 1, 1 << 51, (1 << 51) + 1, 1 << 52, (1 << 53) + 1, info.max, info.max - 1]
    edge += [] if info.min == 0 else [-v for v in edge] + [info.min, info.min + 1]
    x, y = (v.reshape(-1) for v in np.meshgrid(np.array([0, *edge], dtype), np.array(edge, dtype)))
    divisor = rng.integers(1, 1 << 25, 5000)
    near = divisor * rng.integers(1, 1 << 26, 5000) - rng.integers(0, 2, 5000)  # at or just below a whole quotient
    big, small = rng.integers(0, info.max, 700, dtype), rng.integers(1, 1000, 700, dtype)
    for a, b in ((x, y), (near, divisor), (big, small), (np.where(np.arange(700) < 300, small, big), small)):
        a, b = a.astype(dtype), b.astype(dtype)
        with np.errstate(over="ignore"):
            floor, rest = np.floor_divide(a, b), np.remainder(a, b)
            whole = np.where((rest != 0) & ((a < 0) != (b < 0)), floor + 1, floor).astype(dtype)
        for have, want in (
            (tensor(a) // tensor(b), floor),
            (tensor(a) % tensor(b), rest),
            (tensor(a).div(tensor(b)), whole),
        ):
            np.testing.assert_array_equal(have.numpy(), want)
        for divisor_ in (b[:1], np.array([3], dtype)):
            np.testing.assert_array_equal((tensor(a) // tensor(divisor_)).numpy(), np.floor_divide(a, divisor_))
            np.testing.assert_array_equal((tensor(a) % int(divisor_[0])).numpy(), np.remainder(a, divisor_))
        np.testing.assert_array_equal((tensor(a[-1:]) // tensor(b)).numpy(), np.floor_divide(a[-1:], b))


@pytest.mark.parametrize("device", [FLEX, FLEX.autodiff(), FLEX.autodiff().gradient_checkpointing()], ids=repr)
@pytest.mark.parametrize("shape", [(4,), (1, 4), (3, 4), (2, 3, 4), (2, 1, 3, 4), (0, 4), (2, 0, 4)])
@pytest.mark.parametrize("biased", [True, False])
def test_linear_layers(device, shape, biased):
    """Whatever shares the graph, plain inputs beside parameters with gradients too; views as inputs and as weights."""
    rng = np.random.default_rng(3)
    x, w, b = (rng.uniform(-1, 1, size).astype("f4") for size in (shape, (4, 5), (5,)))
    weight, bias = tensor(w.T.copy()).transpose(), tensor(np.repeat(b, 2))[::2]
    weight, bias = (Tensor.from_data(t.numpy(), device) if device.is_autodiff() else t for t in (weight, bias))
    leaves = [t.require_grad() for t in (weight, bias)[: 1 + biased]] if device.is_autodiff() else [weight, bias]
    for given in (tensor(x), tensor(x[..., ::-1].copy()).flip([len(shape) - 1]), Tensor.from_data(x, device)):
        out = module.linear(given, *leaves[: 1 + biased])
        np.testing.assert_allclose(out.numpy(), x @ w + b * biased, rtol=1e-5, atol=1e-6)
        if device.is_autodiff():
            factor = rng.uniform(-1, 1, out.shape).astype("f4")
            grads = (out * Tensor.from_data(factor, device)).sum().backward()
            flat, rows = factor.reshape(-1, 5), x.reshape(-1, 4)
            np.testing.assert_allclose(leaves[0].grad(grads).numpy(), rows.T @ flat, rtol=1e-4, atol=1e-5)
            if biased:
                np.testing.assert_allclose(leaves[1].grad(grads).numpy(), flat.sum(0), rtol=1e-4, atol=1e-5)


def test_gradients_of_the_input_of_a_linear_layer():
    x = Tensor.from_data(np.ones((2, 3, 4), "f4"), FLEX.autodiff()).require_grad()
    w = np.arange(20, dtype="f4").reshape(4, 5)
    grads = module.linear(x, tensor(w)).sum().backward()
    np.testing.assert_array_equal(x.grad(grads).numpy(), np.broadcast_to(w.sum(1), (2, 3, 4)))


@pytest.mark.parametrize("given, error, message", [
    ((np.ones((1, 4)), np.ones((3, 5))), ShapeError, r"\[linear\] 'weight' must be \[4, d_output\]"),
    ((np.ones((1, 4)), np.ones((4, 5)), np.ones(4)), ShapeError, r"\[linear\] 'bias' must have shape \[5\]"),
    ((np.ones((1, 4)), np.ones((4, 5), "f4")), DTypeError, r"\[linear\] 'weight' must have dtype f64"),
    ((np.ones((1, 4)), np.ones((4, 5)), np.ones(5, "f4")), DTypeError, r"\[linear\] 'bias' must have dtype f64"),
    ((np.ones((1, 4), bool), np.ones((4, 5), bool)), KindError, r"\[linear\] 'input' must be of kind Float or Int"),
])  # fmt: skip
def test_linear_layers_refuse(given, error, message):
    with pytest.raises(error, match=message):
        module.linear(*map(tensor, given))


def test_linear_layers_of_narrow_integers():
    x, w = np.array([[100, 3]], "i1"), np.array([[2, 1], [5, 7]], "i1")
    assert (
        module.linear(tensor(x), tensor(w), tensor(np.array([1, 2], "i1"))).tolist()
        == (x @ w + [1, 2]).astype("i1").tolist()
    )
