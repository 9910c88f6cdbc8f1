"""Cases of pooling. The oracle pads the plane and takes strided windows of it."""

import numpy as np

from burn.errors import ArgumentError, ArgumentTypeError, OutOfBoundsError, ShapeError
from tests.cases import FLOATS, Arg, Case, ErrorCase
from tests.cases.tensors import tensor


def options(cls, kernel, **fields):
    """Options by the name of their class."""
    from burn.tensor import ops

    return getattr(ops, cls)(kernel, **fields)


def function(name, *args):
    """Call of `burn.tensor.module.<name>` with the tensors and `args`; options are (class, kernel, fields)."""

    def call(*tensors):
        from burn.tensor import module

        made = [options(a[0], *a[1:-1], **a[-1]) if isinstance(a, tuple) else a for a in args]
        return getattr(module, name)(*tensors, *made)

    return call


def pairs(padding):
    return [(p, p) if isinstance(p, int) else tuple(p) for p in padding]


def windows(x, kernel, stride, padding, dilation, ceil_mode, fill):
    """[batch, channels, windows along each axis, kernel]: the cells of each window, `fill` outside the input and padding.

    Also for the position of each cell: 2 in the input, 1 in the padding, 0 beyond.
    """
    axes, sizes = len(kernel), x.shape[2:]
    beyond = [k * d + s for k, d, s in zip(kernel, dilation, stride, strict=True)]
    around = [(a, b + more) for (a, b), more in zip(padding, beyond, strict=True)]
    wide = np.pad(x, [(0, 0), (0, 0), *around], constant_values=fill)
    where = np.pad(np.pad(np.full(sizes, 2), padding, constant_values=1), [(0, more) for more in beyond])
    place = np.pad(np.arange(np.prod(sizes)).reshape(sizes), around, constant_values=-1)
    starts = []
    for n, k, s, (a, b), d in zip(sizes, kernel, stride, padding, dilation, strict=True):
        extent, padded = d * (k - 1) + 1, n + a + b
        fits = [q for q in range(0, padded, s) if q + extent - (s - 1 if ceil_mode else 0) <= padded]
        starts.append([q for q in fits if q < n + a or not ceil_mode])

    def cut(values):
        lead = values.ndim - axes
        for axis in range(axes):
            cells = np.add.outer(starts[axis], np.arange(kernel[axis]) * dilation[axis])
            values = np.take(values, np.intp(cells), lead + 2 * axis)
        order = [lead + 2 * axis + part for part in (0, 1) for axis in range(axes)]
        return values.transpose([*range(lead), *order])

    return cut(wide), cut(where), cut(place)


def complete(kernel, stride=None, padding=None, dilation=None, ceil_mode=False, count_include_pad=True):
    """The options with Burn's defaults filled in."""
    n = len(kernel)
    return kernel, stride or kernel, pairs(padding or [0] * n), dilation or [1] * n, ceil_mode


def largest(x, kernel, indices=False, **fields):
    """Largest of each window; the place of the first of equal cells, or of the last NaN."""
    flat, where, place = (
        a.reshape(*a.shape[: -len(kernel)], np.prod(kernel)) for a in windows(x, *complete(kernel, **fields), -np.inf)
    )
    nan = np.isnan(flat)
    ranked = np.where(nan, np.inf, np.where(np.isneginf(flat), -1e300, flat))
    best = np.argmax(np.where(where == 2, ranked, -np.inf), -1)
    at = np.where(nan.any(-1), flat.shape[-1] - 1 - np.argmax(nan[..., ::-1], -1), best)[..., None]
    values = np.take_along_axis(flat, at, -1)[..., 0]
    return (values, np.take_along_axis(np.broadcast_to(place, flat.shape), at, -1)[..., 0]) if indices else values


def average(x, kernel, count_include_pad=True, **fields):
    """Sum of each window over the cells that count."""
    cells, where, _ = windows(x, *complete(kernel, **fields), 0.0)
    axes = tuple(range(-len(kernel), 0))
    counted = (where >= (1 if count_include_pad else 2)).sum(axes)
    return cells.sum(axes) / np.maximum(counted, 1)


def adaptive(x, out):
    """Averages over parts of each axis, one axis after the other."""
    for axis, n in enumerate(out, 2):
        size = x.shape[axis]
        parts = [np.arange(int(np.floor(o * size / n)), int(np.ceil((o + 1) * size / n))) for o in range(n)]
        x = np.stack([np.take(x, p, axis).mean(axis) for p in parts], axis)
    return x


SHAPES = ((2, 2, 5, 9), (1, 3, 7, 20), (0, 2, 5, 6), (2, 0, 5, 6))
LINES = ((2, 2, 9), (1, 3, 37), (0, 2, 5))
PLANE = [
    ([2, 2], {}),
    ([3, 3], {"stride": [2, 2], "padding": [1, 1]}),
    ([3, 2], {"stride": [2, 3], "ceil_mode": True}),
    ([2, 3], {"stride": [1, 1], "padding": [(0, 1), (2, 1)]}),
    ([3, 1], {"stride": [4, 3], "padding": [(1, 0), (0, 2)], "ceil_mode": True}),
    ([4, 5], {"stride": [1, 2], "padding": [2, (2, 3)]}),
]
LINE = [([3], {"stride": [2]}), ([2], {"stride": [3], "padding": [(1, 0)]}), ([4], {"stride": [1], "padding": [2]}),
        ([3], {"stride": [2], "padding": [1], "ceil_mode": True})]  # fmt: skip
DILATED = [
    ([2, 3], {"stride": [1, 2], "padding": [1, 2], "dilation": [2, 3]}),
    ([3, 3], {"stride": [2, 1], "dilation": [2, 2]}),
]


def pooled(name, oracle, cls, chosen, shapes, **more):
    """Cases of a function for several options."""
    return [
        Case(
            f"{name}({number})",
            function(name, (cls, kernel, {**fields, **more})),
            lambda x, kernel=kernel, fields=fields: oracle(x, kernel, **fields, **more),
            (Arg(domain="distinct"),), FLOATS, shapes=shapes,
        )
        for number, (kernel, fields) in enumerate(chosen)
    ]  # fmt: skip


def places(x, kernel, **fields):
    return largest(x, kernel, True, **fields)


MAX = [
    *pooled("max_pool1d", largest, "MaxPoolOptions", [*LINE, ([2], {"stride": [1], "dilation": [3]})], LINES),
    *pooled("max_pool2d", largest, "MaxPoolOptions", [*PLANE, *DILATED], SHAPES),
    *pooled("max_pool1d_with_indices", places, "MaxPoolOptions", LINE, LINES),
    *pooled("max_pool2d_with_indices", places, "MaxPoolOptions", [*PLANE, *DILATED], SHAPES),
]
AVERAGE = [
    *pooled("avg_pool1d", average, "AvgPoolOptions", LINE, LINES),
    *pooled("avg_pool2d", average, "AvgPoolOptions", PLANE, SHAPES),
    *(
        Case(
            f"avg_pool2d(uncounted {number})",
            function("avg_pool2d", ("AvgPoolOptions", kernel, {**fields, "count_include_pad": False})),
            lambda x, kernel=kernel, fields=fields: average(x, kernel, False, **fields),
            shapes=SHAPES,
        )
        for number, (kernel, fields) in enumerate(PLANE)
    ),
]
ADAPTIVE = [
    Case("adaptive_avg_pool1d", function("adaptive_avg_pool1d", 4), lambda x: adaptive(x, [4]), shapes=LINES),
    *(
        Case(
            f"adaptive_avg_pool2d({n}×{m})",
            function("adaptive_avg_pool2d", [n, m]),
            lambda x, n=n, m=m: adaptive(x, [n, m]),
            shapes=SHAPES,
        )
        for n, m in ((1, 1), (3, 4), (6, 11))
    ),
    Case(
        "adaptive_avg_pool3d",
        function("adaptive_avg_pool3d", [2, 3, 4]),
        lambda x: adaptive(x, [2, 3, 4]),
        shapes=((2, 2, 4, 5, 9), (1, 1, 1, 2, 3)),
    ),
]


CORNERS = (12 * np.arange(2)[:, None] + 2 * np.arange(3)).astype(np.int32)  # of windows of 2×2 in a plane of 4×6


def max_back_call(x, g, i):
    """Places in the upper row of each window."""
    at = i.clamp(0, 1) + tensor(np.broadcast_to(CORNERS, (2, 2, 2, 3)), i.device)
    return function("max_pool2d_with_indices_backward")(x, [2, 2], [2, 2], [0, 0], [1, 1], False, g, at)


def max_back(x, g, i):
    flat = np.zeros((x.shape[0], x.shape[1], x.shape[2] * x.shape[3]))
    for at in np.ndindex(g.shape):
        flat[at[0], at[1], CORNERS[at[2:]] + min(i[at], 1)] += g[at]
    return flat.reshape(x.shape)


def avg_back(x, g):
    """Windows of 2×3 with stride 1 and padding 1, all of it counted."""
    dx = np.zeros((*x.shape[:2], x.shape[2] + 2, x.shape[3] + 2))
    for i in range(g.shape[2]):
        for j in range(g.shape[3]):
            dx[:, :, i : i + 2, j : j + 3] += g[:, :, i : i + 1, j : j + 1] / 6
    return dx[:, :, 1:-1, 1:-1]


BACKWARD = [
    Case(
        "max_pool2d_with_indices_backward",
        max_back_call,
        max_back,
        (Arg((2, 2, 4, 6)), Arg((2, 2, 2, 3)), Arg((2, 2, 2, 3), "index3", np.dtype("i4"))),
        grad=False,
    ),
    Case(
        "avg_pool2d_backward",
        lambda x, g: function("avg_pool2d_backward")(x, g, [2, 3], [1, 1], [1, 1], True, False),
        avg_back,
        (Arg((2, 2, 4, 6)), Arg((2, 2, 5, 6))),
        grad=False,
    ),
]

CASES = [*MAX, *AVERAGE, *ADAPTIVE, *BACKWARD]

x = np.ones((1, 2, 4, 5), np.float32)


def refused(name, call, error, *words):
    return ErrorCase(name, lambda d: call(lambda a: tensor(a, d)), error, words)


ERRORS = [
    *(
        refused(f"{name}: window", lambda t, name=name, cls=cls: function(name, (cls, [6, 2], {}))(t(x)), ShapeError,
                f"[{name}]", "window of 6", "4 cells", "axis 2")
        for name, cls in (("max_pool2d", "MaxPoolOptions"), ("avg_pool2d", "AvgPoolOptions"))
    ),
    refused("max_pool2d: rank", lambda t: function("max_pool2d", ("MaxPoolOptions", [2, 2], {}))(t(x[0])), ShapeError,
            "[max_pool2d]", "[batch, channels, height, width]", "[2, 4, 5]"),
    refused("max_pool1d: axes", lambda t: function("max_pool1d", ("MaxPoolOptions", [2, 2], {}))(t(x[0])), ShapeError,
            "[max_pool1d]", "1 axes", "[2, 2]"),
    refused("max_pool1d: empty", lambda t: function("max_pool1d", ("MaxPoolOptions", [2], {}))(t(x[0, ..., :0])), ShapeError,
            "[max_pool1d]", "[2, 4, 0]"),
    refused("avg_pool2d: options", lambda t: function("avg_pool2d", ("MaxPoolOptions", [2, 2], {}))(t(x)),
            ArgumentTypeError, "[avg_pool2d]", "AvgPoolOptions"),
    refused("avg_pool1d: Int", lambda t: function("avg_pool1d", ("AvgPoolOptions", [2], {}))(t(x[0].astype(np.int32))),
            TypeError, "[avg_pool1d]", "Float"),
    refused("adaptive_avg_pool2d: size", lambda t: function("adaptive_avg_pool2d", [0, 2])(t(x)), ArgumentError,
            "[adaptive_avg_pool2d]", "at least 1"),
    refused("adaptive_avg_pool2d: sizes", lambda t: function("adaptive_avg_pool2d", [2])(t(x)), ShapeError,
            "[adaptive_avg_pool2d]", "2 ints", "[2]"),
    refused("adaptive_avg_pool3d: rank", lambda t: function("adaptive_avg_pool3d", [1, 1, 1])(t(x)), ShapeError,
            "[adaptive_avg_pool3d]", "depth", "[1, 2, 4, 5]"),
    refused("avg_pool2d_backward: gradient",
            lambda t: function("avg_pool2d_backward")(t(x), t(x), [2, 2], [2, 2], [0, 0], True, False), ShapeError,
            "[avg_pool2d_backward]", "[1, 2, 2, 2]", "[1, 2, 4, 5]"),
    refused(
        "max_pool2d_with_indices_backward: place",
        lambda t: function("max_pool2d_with_indices_backward")(
            t(x), [4, 5], [1, 1], [0, 0], [1, 1], False, t(x[..., :1, :1]), t(np.array([[[[3]], [[20]]]]))
        ),
        OutOfBoundsError, "[max_pool2d_with_indices_backward]", "0..19", "got 20", "position 1",
    ),
]  # fmt: skip
