"""Wrong calls: the right class, the op and the argument in the message, and nothing read or written past a buffer."""

import numpy as np
import pytest

from burn import Device, Distribution, DType, Tensor, TensorData
from burn.errors import (
    ArgumentError,
    ArgumentTypeError,
    AutodiffError,
    DataError,
    DeviceError,
    DTypeError,
    NumberOverflowError,
    OutOfBoundsError,
    OutOfMemoryError,
    ShapeError,
)
from burn.signal import hann_window
from burn.tensor import PadMode, activation, assert_shape
from burn.tensor.activation import softmax

T = Tensor.from_data
F = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def assign(key, value):
    x = T(F)
    x[key] = value
    return x


@pytest.mark.parametrize(
    ("error", "words", "call"),
    [
        (ShapeError, r"\[setitem\] 'value'", lambda: assign(slice(None), T([[1.0, 2.0]]))),
        (ShapeError, r"\[setitem\] 'value'", lambda: assign(0, T(np.zeros((4, 3), np.float32)))),
        (ShapeError, r"\[setitem\] 'value'", lambda: assign(0, T(np.zeros((2, 0), np.float32)))),
        (ArgumentTypeError, r"\[setitem\]", lambda: assign([0, 1], 1.0)),
        (TypeError, r"\[mul\] 'other'", lambda: T(F).mul(None)),
        (TypeError, r"\[add\] 'other'", lambda: T(F) + None),
        (TypeError, "'other' must be a tensor", lambda: T(F).all_close(None)),
        (ArgumentTypeError, r"\[shape\] is an attribute: write it without \(\)", lambda: T(F).shape()),
        (ArgumentTypeError, r"\[shape\] is an attribute", lambda: T(F).to_data().shape()),
        (ArgumentTypeError, r"\[assert_shape\] takes 2 arguments by position, got 3", lambda: assert_shape(T(F), 2, 3)),
        (ArgumentTypeError, r"\[repeat\] 'sizes'", lambda: T(F).repeat([1.5])),
        (ArgumentTypeError, r"\[narrow\] 'start'", lambda: T(F).narrow(0, 0.5, 1)),
        (ArgumentTypeError, r"\[reshape\] 'shape'", lambda: T(F).reshape([1.5])),
        (ArgumentTypeError, r"\[split\] 'split_size'", lambda: T(F).split(1.5, 0)),
        (ArgumentTypeError, r"\[unsqueeze_dims\] 'axes'", lambda: T(F).unsqueeze_dims([1.5])),
        (ArgumentTypeError, r"\[cat\] 'tensors'", lambda: Tensor.cat(None, 0)),
        (TypeError, r"\[cat\] 'tensors\[1\]'", lambda: Tensor.cat([T(F), None], 0)),
        (TypeError, r"\[take\] 'indices'", lambda: T(F).take(0, None)),
        (ShapeError, "2\\*\\*63", lambda: T([1.0]).expand([2**62, 4])),
        (MemoryError, "bytes", lambda: T([1.0]).expand([2**42]).argmax(0)),
        (ShapeError, "at most 8 axes", lambda: T(F).unsqueeze(9)),
        (ShapeError, r"\[zeros\] 'shape'", lambda: Tensor.zeros([2**64])),
        (ShapeError, r"\[zeros\] 'shape'", lambda: Tensor.zeros([-1])),
        (OutOfBoundsError, r"\[index\] index 2", lambda: T(F)[2]),
        (OutOfBoundsError, r"\[index\]", lambda: T(F)[[0, 2]]),
        (OutOfBoundsError, r"\[index\] a mask", lambda: T(F)[[True]]),
        (OutOfBoundsError, "at most one axis", lambda: T(F)[[0, 1], [0, 2]]),
        (ArgumentTypeError, r"\[index\]", lambda: T(F)["a"]),
        (ArgumentError, "'step'", lambda: T(F)[::0]),
        (DTypeError, r"\[index\]", lambda: T(F)[[0.5]]),
        (NumberOverflowError, r"\[arange\]", lambda: Tensor.arange(2**31, 2**31 + 3)),
        (DataError, "one 64-bit dtype", lambda: T([2**63, -1])),
        (DataError, "at most 64 bits", lambda: T([10**400])),
        (DataError, "masked", lambda: T(np.ma.masked_array([1.0, 2.0], [True, False]))),
        (DTypeError, "real number", lambda: T(F) + np.complex64(1 + 2j)),
        (NumberOverflowError, "fit a float", lambda: T(F) * 10**400),
        (NumberOverflowError, "i32", lambda: T([1]) + 2**40),
        (DTypeError, "whole number", lambda: T([1]) + 0.5),
        (DTypeError, r"\[powi\]", lambda: T(F).powi(1.5)),
        (DTypeError, r"\[pad\] 'PadMode.Constant'.*1.5", lambda: T([1]).pad([(1, 1)], PadMode.Constant(1.5))),
        (DTypeError, r"\[pad\] 'mode'.*1.5", lambda: T([1]).pad([(1, 1)], 1.5)),
        (ArgumentError, r"\[powi\]", lambda: T([2]) ** -1),
        (TypeError, "modulus", lambda: pow(T([2]), 2, 5)),
        (DTypeError, r"\[cast\]", lambda: T(F).cast(None)),
        (DTypeError, r"\[cast\]", lambda: T(F).cast("float")),
        (OutOfBoundsError, r"\[one_hot\]", lambda: T([float("nan")]).one_hot(3)),
        (ArgumentError, "finite", lambda: Tensor.random([2], Distribution.Uniform(0, float("inf")))),
        (ArgumentError, r"\[random\] 'p'", lambda: Tensor.random([2], Distribution.Bernoulli(1.5))),
        (ArgumentTypeError, "'distribution'", lambda: Tensor.random([2], "normal")),
        (ArgumentTypeError, "'kind'", lambda: Tensor.zeros([2], kind="x")),
        (ArgumentTypeError, "'device'", lambda: Tensor.zeros([2], "flex")),
        (DeviceError, "Device.flex", lambda: Device("cpu")),
        (ShapeError, r"\[eye\]", lambda: Tensor.eye(-1)),
        (ShapeError, "exactly one element", lambda: T(F).item()),
        (ValueError, "ambiguous", lambda: bool(T(F))),
        (AttributeError, "__setstate__", lambda: T(F).__setstate__((1, 2))),
        (BufferError, "dl_device", lambda: T(F).__dlpack__(dl_device=(2, 0))),
        (ValueError, "'copy'", lambda: T(F).__array__(np.float64, copy=False)),
        (ArgumentTypeError, "__dlpack__", lambda: Tensor.from_dlpack(3)),
    ],
)
def test_wrong_calls(error, words, call):
    with pytest.raises(error, match=words):
        call()


def test_indexing_follows_numpy():
    a = np.array(F, np.float32)
    x = T(F)
    keys = [
        0,
        -1,
        (0, 1),
        slice(None, None, -1),
        (Ellipsis, 1),
        (None, 1),
        ([1, 0],),
        ([-1],),
        (slice(None), [0, 2]),
        (0, [2, 0]),
    ]
    keys += [
        [True, False],
        np.array([False, True]),
        np.array(1),
        (slice(None), np.array([True, False, True])),
        slice(5, 9),
        [],
    ]
    keys += [slice(None, None, 2**70), (slice(None), slice(-1, None, -2)), (Ellipsis, None), (slice(0, 0), 1)]
    for key in keys:
        want = a[key]
        assert x[key].tolist() == (want.tolist() if want.ndim else [want.item()]), key
    assert x[T([1])].dims() == [1, 3]  # the rank does not depend on how many positions there are
    assert x[x > 2.0].tolist() == [3.0, 4.0, 5.0, 6.0]
    assert x[T([True, False])].tolist() == [F[0]]


def test_assignment_broadcasts_as_in_numpy():
    cases = [
        (0, [9.0, 8.0, 7.0]),
        ((slice(None), 1), 5),
        (slice(None), [[1.0], [2.0]]),
        ((0, 0), 3.5),
        (0, [[9.0, 8.0, 7.0]]),
    ]
    cases += [((slice(None), slice(None, None, -1)), F)]
    for key, value in cases:
        a = np.array(F, np.float32)
        a[key] = np.array(value)
        assert assign(key, value).tolist() == a.tolist()
    x = T(F)
    view, clone = x[0], x.clone()
    x[0] = 0.0
    assert view.tolist() == F[0] and clone.tolist() == F and x[0].tolist() == [0.0, 0.0, 0.0]
    x[x.equal(0.0)] = -1.0
    assert x.tolist() == [[-1.0, -1.0, -1.0], F[1]]


def test_large_integers_keep_their_value():
    assert T([2**64 - 1, 1], dtype=DType.U64).tolist() == [2**64 - 1, 1]
    assert T([2**63, 1], dtype=DType.U64).dtype is DType.U64
    assert T(np.array([2**62] * 3), dtype=DType.I64).mean().item() == 2**62
    assert T(np.array([2**63] * 3, np.uint64), dtype=DType.U64).mean_dim(0).item() == 2**63
    assert Tensor.arange(2**40, 2**40 + 2, dtype="i64").tolist() == [2**40, 2**40 + 1]
    assert set(Tensor.random([400], kind=T([1]).kind, dtype="u8").tolist()) <= set(range(256))


def test_numpy_scalars_and_arrays_at_either_side():
    x = T([1.0, 2.0])
    assert (np.float32(2) * x).tolist() == [2.0, 4.0] and (np.int64(3) - x).tolist() == [2.0, 1.0]
    assert (x / np.float64(2)).tolist() == [0.5, 1.0] and (2 / x).tolist() == [2.0, 1.0]
    for call in (lambda: np.array([1.0, 2.0]) * x, lambda: x * np.array([1.0, 2.0])):
        with pytest.raises(TypeError, match="from_data"):
            call()
    assert (x == None) is False and (x != "a") is True  # noqa: E711
    assert (+x).tolist() == [1.0, 2.0] and (abs(-x)).tolist() == [1.0, 2.0]


def test_operators_on_ints_follow_python():
    a, b = T([7, -7, 7, -7]), T([2, 2, -2, -2])
    assert (a // b).tolist() == [3, -4, -4, 3] and (a % b).tolist() == [1, 1, -1, -1]
    assert (a / b).dtype is DType.F32 and (a / b).tolist() == [3.5, -3.5, -3.5, 3.5]
    assert a.div(b).tolist() == [3, -3, -3, 3]
    assert (T([6]) & 3).tolist() == [2] and (T([6]) | 1).tolist() == [7] and (T([6]) ^ 2).tolist() == [4]
    assert (T([1]) << 3).tolist() == [8] and (~T([0])).tolist() == [-1] and (~T([True])).tolist() == [False]
    assert (2 ** T([1, 3])).tolist() == [2, 8] and (7 // T([2.0])).tolist() == [3.0]
    with pytest.raises(ZeroDivisionError, match=r"\[floordiv\]"):
        T([1]) // 0


def test_a_mask_must_not_change_the_shape():
    x = T([[1.0, 2.0, 3.0]])
    with pytest.raises(ShapeError, match=r"\[setitem\]"):
        x[T([[True, False, True], [False, True, False]])] = 0.0
    assert x.tolist() == [[1.0, 2.0, 3.0]]


def test_positions_in_any_default_int_dtype(fresh_python):
    code = """
import numpy as np
from burn import Device, DType, Tensor
d = Device.flex()
d.configure(DType.{0})
x = Tensor.from_data(np.arange(12, dtype="f4").reshape(3, 4) % 5, d.autodiff()).require_grad()
assert x.argmax(1).dtype is DType.{0} and x.argmax(1).tolist() == [[3], [0], [1]], x.argmax(1).tolist()
values, at = x.max_dim_with_indices(1)
assert at.tolist() == [[3], [0], [1]]
assert x.grad(values.sum().backward()).numpy().sum(1).tolist() == [1.0, 1.0, 1.0]
"""
    for name in ("I16", "U64", "I64"):
        fresh_python(code.format(name))


def test_sizes_that_the_default_int_dtype_does_not_hold(fresh_python):
    fresh_python("""
from burn import Device, DType, Tensor, signal
from burn.nn.attention import generate_padding_mask
from burn.tensor import affine_grid_2d
Device.flex().configure(DType.I8)
same = Tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
grid = affine_grid_2d(same, [1, 1, 1, 301])
assert grid[0, 0, 150, 0].item() == 0.0 and grid[0, 0, 300, 0].item() == 1.0
made = generate_padding_mask(0, [[1] * 200, [1]])
assert made.mask.tolist() == [[False] * 200, [False] + [True] * 199] and made.tensor.dtype is DType.I8
options = signal.StftOptions(16)
x = Tensor.ones([1, 600])
assert (signal.istft(signal.stft(x, None, options), None, 600, options) - x).abs().max().item() < 1e-5
""")


def test_reading_in_another_dtype():
    x = T([[1.5, -2.0], [3.0, 0.0]])
    assert x.to_data_dtype("i32").to_vec() == [1, -2, 3, 0] and x.into_data_as(bool).dtype is DType.Bool
    assert x.to_vec_as("f64") == [1.5, -2.0, 3.0, 0.0]
    with pytest.raises(DataError):
        T([float("nan")]).to_data_dtype("i32")
    assert x.empty_like().shape == [2, 2] and x.empty_like().dtype is DType.F32


def test_strategy_of_a_tensor():
    x = T([1.0, 2.0]).autodiff().require_grad()
    y = (x * x).with_gradient_checkpointing_strategy("Balanced")
    assert y.gradient_checkpointing_strategy() == "Balanced" and x.grad(y.sum().backward()).tolist() == [2.0, 4.0]
    with pytest.raises(AutodiffError, match=r"\[with_gradient_checkpointing_strategy\]"):
        T([1.0]).with_gradient_checkpointing_strategy("Balanced")
    with pytest.raises(ArgumentError, match="Disabled or Balanced"):
        x.with_gradient_checkpointing_strategy("Always")


def test_sole_owner():
    x = T([1.0, 2.0])
    assert x.can_mut()
    y = x.reshape([2, 1])
    assert not x.can_mut() and not y.can_mut()
    del y
    assert x.can_mut()
    x.numpy()
    assert not x.can_mut()


@pytest.mark.parametrize(
    ("words", "call"),
    [
        (r"use to_device\(\) or cast\(\)", lambda: T(F).to("cuda")),
        (r"use to_device\(Device.cuda\(\)\)", lambda: T(F).cuda()),
        (r"use reshape\(\)", lambda: T(F).view(-1)),
        (
            r"\[sum\] takes no argument by position, got .* 0; .* x.sum_dim\(dim\) for one axis",
            lambda: T(F).sum(0),
        ),
        (r"\[sum\] takes no argument 'dim', got dim=0; call x.sum\(\), or x.sum_dim", lambda: T(F).sum(dim=0)),
        (r"\[sort\] missing argument 'dim'; call x.sort\(dim\)", lambda: T(F).sort()),
        (r"\[zeros\] missing argument 'shape'; call Tensor.zeros\(shape, ", lambda: Tensor.zeros()),
        (r"\[softmax\] missing argument 'dim'; call softmax\(tensor, dim\)", lambda: softmax(T(F))),
        (r"\[var_mean\] 'dim' must lie in -2..1", lambda: T(F).var_mean(2)),
        (r"\[max\] .*or x.max_dim\(dim\)", lambda: T(F).max(1)),
        (r"\[transpose\] .*use swap_dims\(\)", lambda: T(F).transpose(0, 1)),
        ("has no attribute 'frobnicate'$", lambda: T(F).frobnicate),
        (r"must be on a GPU.*to_device\(\)", lambda: T(F).__cuda_array_interface__),
    ],
)
def test_habits_of_other_libraries(words, call):
    with pytest.raises((AttributeError, TypeError, IndexError), match=words):
        call()


def test_activations_are_functions():
    for name in activation.__all__:
        if callable(getattr(activation, name)) and not hasattr(Tensor, name):
            with pytest.raises(AttributeError, match=rf"no attribute '{name}'; use burn.tensor.activation.{name}\(\)"):
                getattr(T(F), name)


@pytest.mark.parametrize(
    ("error", "words", "call"),
    [
        (DTypeError, r"\[setitem\] 'value' must be a whole number", lambda x: x.__setitem__(0, 1.7)),
        (
            DataError,
            r"\[setitem\] 'value' must hold whole numbers for dtype i32, got 1.7",
            lambda x: x.__setitem__(slice(None), [1.7]),
        ),
        (TypeError, r"\[setitem\] 'value' must hold whole", lambda x: x.__setitem__(slice(None), np.array([1.5, 2.0]))),
        (DTypeError, r"\[slice_assign\] 'values' must have dtype i32", lambda x: x.slice_assign([0], T([1.5]))),
        (DTypeError, r"\[slice_fill\] 'value'", lambda x: x.slice_fill([0], 1.5)),
        (DTypeError, r"\[full\] 'fill_value'", lambda x: Tensor.full([2], 1.5, dtype="i32")),
        (DataError, r"\[from_data\] 'data' must hold whole", lambda x: T([1.5], dtype="i32")),
        (DataError, r"\[from_data\] 'data' must hold whole", lambda x: T(TensorData([1.5]), dtype="u8")),
        (DataError, r"\[from_ints\] 'values' must hold whole", lambda x: Tensor.from_ints([1.5])),
    ],
)
def test_fractions_do_not_become_ints_silently(error, words, call):
    x = T([1, 2])
    with pytest.raises(error, match=words):
        call(x)
    assert x.tolist() == [1, 2]
    x[:] = [3.0, 4.0]
    assert x.tolist() == [3, 4] and T(TensorData([1.9]).convert("i32")).tolist() == [1]
    assert T([2.0], dtype="i32").tolist() == [2]


@pytest.mark.parametrize("store", [DType.BoolU8, DType.BoolU32])
@pytest.mark.parametrize("device", [Device.flex(), Device.ndarray()])
def test_bool_tensors_have_the_store_of_the_device(device, store):
    """As in Burn, another store that is asked for is that of host data: a mask of it is a mask."""
    assert not device.supports_dtype(store)
    data = TensorData([[256, 0, 3]], dtype=store)
    x = T([[1.0, 2.0, 3.0]], device)
    for mask in (T(data, device), T(data, device, store), T([[5, 0, 1]], device).cast(store)):
        assert mask.dtype is DType.Bool and mask.tolist() == [[True, False, True]]
        assert x.mask_fill(mask, 0.0).tolist() == [[0.0, 2.0, 0.0]] and mask.argwhere().tolist() == [[0, 0], [0, 2]]
        assert (mask == x.greater(2.0)).tolist() == [[False, True, True]]
    assert Tensor.zeros([2], device, dtype=store).dtype is DType.Bool
    assert T(data, device).to_data_dtype(store).dtype is store
    with pytest.raises(DeviceError, match="supports_dtype"):
        device.configure(store)


def test_a_failed_draw_takes_no_numbers():
    device = Device.flex()
    device.seed(5)
    first = Tensor.random([3], device=device).tolist()
    device.seed(5)
    with pytest.raises(MemoryError):
        Tensor.random([2**50], device=device)
    assert Tensor.random([3], device=device).tolist() == first


@pytest.mark.parametrize(
    ("op", "call"),
    [
        ("to_data", lambda: T([1.0]).expand([2**44]).to_data()),
        ("tolist", lambda: T([1.0]).expand([2**44]).tolist()),
        ("hann_window", lambda: hann_window(2**44, True)),
        ("full", lambda: TensorData.full([2**44], 1.0)),
        ("random", lambda: TensorData.random([2**44], Distribution.Default, np.random.default_rng(0))),
    ],
)
def test_more_than_the_host_has(op, call):
    with pytest.raises(OutOfMemoryError, match=rf"\[{op}\].*{2**44} elements"):
        call()
