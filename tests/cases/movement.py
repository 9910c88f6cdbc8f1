"""Cases of movement: shapes, axes, slices, joins, padding and constant tensors."""

import numpy as np

from burn.errors import OutOfBoundsError, ShapeError
from tests.cases import BF16, BOOL, F32, F64, I32, U8, Arg, Case, ErrorCase, method
from tests.cases.tensors import tensor

EVERY = (F64, F32, BF16, I32, U8, BOOL)
NUMERIC = (F64, F32, BF16, I32)


def case(name, call, oracle, *shapes, dtypes=EVERY, **options):
    """Case on a tensor of shape [2, 3, 4], or on one tensor for each of `shapes`."""
    return Case(name, call, oracle, tuple(Arg(s) for s in shapes or ((2, 3, 4),)), dtypes, **options)


def burn_slice(start, end, step):
    """Burn's slice: the range is chosen first, a negative step then walks it from its end."""
    from burn.tensor import Slice

    return Slice(start, end, step)


def joined(name, dim):
    """Call of a static method that takes a list of tensors and an axis."""

    def call(*tensors):
        return getattr(type(tensors[0]), name)(list(tensors), dim)

    return call


def unfold(x, dim, size, step):
    windows = np.lib.stride_tricks.sliding_window_view(x, size, axis=dim)
    return np.take(windows, range(0, windows.shape[dim], step), dim)


def padded(mode, *widths, **options):
    """Call of `pad` in a mode named as Burn's."""

    def call(x):
        from burn.tensor import PadMode

        chosen = getattr(PadMode, mode)
        return x.pad(list(widths), chosen(**options) if options else chosen)

    return call


def replaced(x, where, value):
    y = x.copy()
    y[where] = value
    return y


VIEWS = [
    case("reshape", method("reshape", [4, 6]), lambda x: x.reshape(4, 6)),
    case("reshape(-1)", method("reshape", [6, -1]), lambda x: x.reshape(6, 4)),
    case("reshape(0 copies)", method("reshape", [0, -1]), lambda x: x.reshape(2, 12)),
    case("transpose", method("transpose"), lambda x: np.swapaxes(x, -1, -2)),
    case("t", method("t"), lambda x: x.T, (3, 4)),
    case("swap_dims", method("swap_dims", 0, -1), lambda x: np.swapaxes(x, 0, 2)),
    case("permute", method("permute", [2, 0, -2]), lambda x: x.transpose(2, 0, 1)),
    case("movedim", method("movedim", 0, 2), lambda x: np.moveaxis(x, 0, 2)),
    case("movedim(lists)", method("movedim", [0, 1], [-1, 0]), lambda x: np.moveaxis(x, [0, 1], [-1, 0])),
    case("flip", method("flip", [0, -1]), lambda x: np.flip(x, (0, 2))),
    case("flip(none)", method("flip", []), lambda x: x),
    case("flatten", method("flatten", 1, -1), lambda x: x.reshape(2, 12)),
    case("squeeze", method("squeeze"), np.squeeze, (1, 3, 1, 4)),
    case("squeeze_dim", method("squeeze_dim", -2), lambda x: x.reshape(1, 3, 4), (1, 3, 1, 4)),
    case("squeeze_dims", method("squeeze_dims", [0, -2]), lambda x: x.reshape(3, 4), (1, 3, 1, 4)),
    case("squeeze_dims(all)", method("squeeze_dims", []), lambda x: x.reshape(3, 4), (1, 3, 1, 4)),
    case("unsqueeze", method("unsqueeze", 4), lambda x: x.reshape(1, 1, 3, 4), (3, 4)),
    case("unsqueeze_dim", method("unsqueeze_dim", -1), lambda x: x[..., None]),
    case("unsqueeze_dims", method("unsqueeze_dims", [0, 4]), lambda x: x.reshape(1, 3, 4, 5, 1), (3, 4, 5)),
    case("unsqueeze_dims(-)", method("unsqueeze_dims", [0, -1, -1]), lambda x: x.reshape(1, 3, 4, 5, 1, 1), (3, 4, 5)),
    case("unsqueeze_dims(mixed)", method("unsqueeze_dims", [1, -2]), lambda x: x.reshape(3, 1, 4, 1, 5), (3, 4, 5)),
    case("expand", method("expand", [2, 3, 4]), lambda x: np.broadcast_to(x, (2, 3, 4)), (1, 3, 1)),
    case("expand(rank)", method("expand", [5, -1, 4]), lambda x: np.broadcast_to(x, (5, 3, 4)), (3, 1)),
    case("unfold", method("unfold", 1, 3, 2), lambda x: unfold(x, 1, 3, 2), (2, 7)),
    case("unfold(short)", method("unfold", 1, 3, 1), lambda x: np.zeros((2, 0, 3), x.dtype), (2, 2), grad=False),
]

COPIES = [
    case("roll_dim", method("roll_dim", 1, 1), lambda x: np.roll(x, 1, 1)),
    case("roll", method("roll", [1, -1], [0, 2]), lambda x: np.roll(x, (1, -1), (0, 2))),
    case("roll(same axis)", method("roll", [1, 2], [2, 2]), lambda x: np.roll(x, 3, 2)),
    case("repeat_dim", method("repeat_dim", 1, 3), lambda x: np.tile(x, (1, 3, 1))),
    case("repeat_dim(0)", method("repeat_dim", 1, 0), lambda x: x[:, :0], grad=False),
    case("repeat", method("repeat", [2, 1, 2]), lambda x: np.tile(x, (2, 1, 2))),
    case("cat", joined("cat", 1), lambda *xs: np.concatenate(xs, 1), (2, 3), (2, 1), (2, 4)),
    case("cat(empty part)", joined("cat", 0), lambda *xs: np.concatenate(xs), (0, 3), (2, 3)),
    case("stack", joined("stack", -1), lambda *xs: np.stack(xs, -1), (2, 3), (2, 3)),
    case("stack(0)", joined("stack", 0), lambda *xs: np.stack(xs), (2, 3), (2, 3), (2, 3)),
    case("chunk", method("chunk", 3, 1), lambda x: np.split(x, [3, 6], 1), (2, 7)),
    case("chunk(few)", method("chunk", 4, 0), lambda x: np.split(x, [2, 4]), (5, 2)),
    case("split", method("split", 3, 2), lambda x: np.split(x, [3], 2)),
    case("split_with_sizes", method("split_with_sizes", [1, 3], 2), lambda x: np.split(x, [1], 2)),
    case("pad(constant)", padded("Constant", (1, 2), (0, 3), value=1.5),
         lambda x: np.pad(x, [(0, 0), (1, 2), (0, 3)], constant_values=1.5), dtypes=(F64, F32, BF16)),
    case("pad(reflect)", padded("Reflect", (1, 2), (2, 1)), lambda x: np.pad(x, [(0, 0), (1, 2), (2, 1)],
         mode="reflect"),
         dtypes=NUMERIC),
    case("pad(edge)", padded("Edge", (1, 2), (2, 1)), lambda x: np.pad(x, [(0, 0), (1, 2), (2, 1)], mode="edge"),
         dtypes=NUMERIC),
    case("triu", method("triu", 1), lambda x: np.triu(x, 1), dtypes=NUMERIC),
    case("tril", method("tril", -1), lambda x: np.tril(x, -1), dtypes=NUMERIC),
    case("clone", method("clone"), lambda x: x),
]  # fmt: skip

SLICES = [
    case("x[1]", lambda x: x[1], lambda x: x[1]),
    case("x[-1, 2]", lambda x: x[-1, 2], lambda x: x[-1, 2]),
    case("x[..., 1:3]", lambda x: x[..., 1:3], lambda x: x[..., 1:3]),
    case("x[::-1, :, ::2]", lambda x: x[::-1, :, ::2], lambda x: x[::-1, :, ::2]),
    case("x[:, 2:0:-1]", lambda x: x[:, 2:0:-1], lambda x: x[:, 2:0:-1]),
    case("x[5:9]", lambda x: x[5:9], lambda x: x[5:9], grad=False),
    case("slice(list)", lambda x: x.slice([slice(0, 1), slice(1, 3)]), lambda x: x[0:1, 1:3]),
    case("slice(index)", lambda x: x.slice([1]), lambda x: x[1:2]),
    case("slice(step)", lambda x: x.slice([burn_slice(0, None, 1), burn_slice(0, 3, -2)]), lambda x: x[:, [2, 0]]),
    case("slice(clamped)", lambda x: x.slice([slice(1, 9)]), lambda x: x[1:9]),
    case("slice_dim", lambda x: x.slice_dim(-1, slice(1, 3)), lambda x: x[..., 1:3]),
    case("select_dim", method("select_dim", 1, 2), lambda x: x[:, 2]),
    case("narrow", method("narrow", 2, 1, 2), lambda x: x[:, :, 1:3]),
    case("slice_assign", lambda x, v: x.slice_assign([slice(0, 1), slice(1, 3)], v),
         lambda x, v: replaced(x, np.s_[0:1, 1:3], v), (2, 3, 4), (1, 2, 4)),
    case("slice_assign(step)", lambda x, v: x.slice_assign([slice(0, 2), burn_slice(0, 3, -2)], v),
         lambda x, v: replaced(x, np.s_[:, 2::-2], v), (2, 3, 4), (2, 2, 4)),
    case("slice_fill", lambda x: x.slice_fill([slice(0, 1), slice(1, 3)], 3), lambda x: replaced(x, np.s_[0:1, 1:3], 3),
         dtypes=NUMERIC),
]  # fmt: skip


def made(name, call, oracle):
    """Case of a constructor: `call(Tensor, device)`; the input only brings the device."""
    return Case(name, lambda x: call(type(x), x.device), lambda x: oracle, (Arg((1,)),), (F32,), False)


CREATION = [
    made("triu_mask", lambda t, d: t.triu_mask([3, 3], 0, d), np.tril(np.ones((3, 3), bool), -1)),
    made("tril_mask", lambda t, d: t.tril_mask([3, 3], 0, d), np.triu(np.ones((3, 3), bool), 1)),
    made("diag_mask", lambda t, d: t.diag_mask([2, 3], 0, d), ~np.eye(2, 3, dtype=bool)),
    made("arange_step", lambda t, d: t.arange_step(range(-2, 7), 3, d), np.array([-2, 1, 4])),
    made("cartesian_grid", lambda t, d: t.cartesian_grid([2, 3], d), np.moveaxis(np.indices((2, 3)), 0, -1)),
    made("eye", lambda t, d: t.eye(3, d), np.eye(3)),
    made("zeros", lambda t, d: t.zeros([2, 3], d), np.zeros((2, 3))),
    made("ones", lambda t, d: t.ones([2, 3], d), np.ones((2, 3))),
    made("full", lambda t, d: t.full([2, 3], 2.5, d), np.full((2, 3), 2.5)),
    made("arange", lambda t, d: t.arange(range(-2, 3), d), np.arange(-2, 3)),
    made("arange(nothing)", lambda t, d: t.arange(range(3, 1), d), np.arange(0)),
]

CASES = [*VIEWS, *COPIES, *SLICES, *CREATION]

x = np.ones((2, 3), F32)
ERRORS = [
    ErrorCase("reshape: another count", lambda d: tensor(x, d).reshape([4, 2]), ShapeError, ("[reshape]", "6", "8")),
    ErrorCase("reshape: two -1", lambda d: tensor(x, d).reshape([-1, -1]), ShapeError, ("[reshape]", "-1")),
    ErrorCase("reshape: -2", lambda d: tensor(x, d).reshape([-2, 3]), ShapeError, ("[reshape]", "-2")),
    ErrorCase("reshape: does not divide", lambda d: tensor(x, d).reshape([4, -1]), ShapeError, ("[reshape]", "6", "4")),
    ErrorCase("permute: twice the same", lambda d: tensor(x, d).permute([0, 0]), ShapeError, ("[permute]", "0")),
    ErrorCase("permute: too short", lambda d: tensor(x, d).permute([0]), ShapeError, ("[permute]", "2")),
    ErrorCase("permute: out of range", lambda d: tensor(x, d).permute([0, 2]), OutOfBoundsError, ("[permute]", "2")),
    ErrorCase("flip: twice the same", lambda d: tensor(x, d).flip([0, -2]), ShapeError, ("[flip]",)),
    ErrorCase(
        "swap_dims: out of range", lambda d: tensor(x, d).swap_dims(0, 2), OutOfBoundsError, ("[swap_dims]", "2")
    ),
    ErrorCase("flatten: backwards", lambda d: tensor(x, d).flatten(1, 0), ShapeError, ("[flatten]", "1", "0")),
    ErrorCase("squeeze_dim: long axis", lambda d: tensor(x, d).squeeze_dim(1), ShapeError, ("[squeeze", "3")),
    ErrorCase("unsqueeze: lower rank", lambda d: tensor(x, d).unsqueeze(1), ShapeError, ("[unsqueeze]", "1", "2")),
    ErrorCase("expand: long axis", lambda d: tensor(x, d).expand([2, 4]), ShapeError, ("[expand]", "3", "4")),
    ErrorCase("expand: to 1", lambda d: tensor(x, d).expand([2, 1]), ShapeError, ("[expand]", "3", "1")),
    ErrorCase("expand: lower rank", lambda d: tensor(x, d).expand([3]), ShapeError, ("[expand]",)),
    ErrorCase("cat: nothing", lambda d: type(tensor(x, d)).cat([], 0), ValueError, ("[cat]",)),
    ErrorCase(
        "cat: other shapes",
        lambda d: type(tensor(x, d)).cat([tensor(x, d), tensor(x.T, d)], 0),
        ShapeError,
        ("[cat]", "2", "3"),
    ),
    ErrorCase(
        "stack: other shapes",
        lambda d: type(tensor(x, d)).stack([tensor(x, d), tensor(x.T, d)], 0),
        ShapeError,
        ("[stack]",),
    ),
    ErrorCase(
        "split_with_sizes: sum",
        lambda d: tensor(x, d).split_with_sizes([1, 1], 1),
        ShapeError,
        ("[split_with_sizes]", "3"),
    ),
    ErrorCase(
        "split_with_sizes: negative",
        lambda d: tensor(x, d).split_with_sizes([1, -1, 3], 1),
        ShapeError,
        ("[split_with_sizes]", "negative", "-1"),
    ),
    ErrorCase("narrow: too far", lambda d: tensor(x, d).narrow(1, 2, 2), OutOfBoundsError, ("[narrow]", "3")),
    ErrorCase("x[2] out of range", lambda d: tensor(x, d)[2], IndexError, ("2",)),
    ErrorCase("x[0, 0, 0] of a matrix", lambda d: tensor(x, d)[0, 0, 0], IndexError, ("3", "2")),
    ErrorCase("slice: too many", lambda d: tensor(x, d).slice([slice(0, 1)] * 3), ValueError, ("[slice]", "3", "2")),
    ErrorCase(
        "slice_assign: shape",
        lambda d: tensor(x, d).slice_assign([slice(0, 1)], tensor(x, d)),
        ShapeError,
        ("[slice_assign]",),
    ),
    ErrorCase("pad: too wide", lambda d: padded("Reflect", (3, 0))(tensor(x, d)), ShapeError, ("[pad]", "3")),
    ErrorCase("pad: too many axes", lambda d: padded("Edge", *[(1, 1)] * 3)(tensor(x, d)), ShapeError, ("[pad]",)),
    ErrorCase("roll: lengths", lambda d: tensor(x, d).roll([1], [0, 1]), ValueError, ("[roll]",)),
    ErrorCase("triu: vector", lambda d: tensor(x[0], d).triu(0), ShapeError, ("[triu]", "2")),
]
