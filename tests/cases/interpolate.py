"""Cases of resampling and of grid sampling. The oracle writes each axis as a matrix."""

import numpy as np

from burn.errors import ArgumentError, ArgumentTypeError, ShapeError
from tests.cases import BF16, F16, F32, F64, FLOATS, Arg, Case, ErrorCase
from tests.cases.tensors import tensor

MODES = ("Nearest", "NearestExact", "Bilinear", "Bicubic", "Lanczos3")


def function(mode, aligned=True, **target):
    """Call of `interpolate` with options."""

    def call(x):
        from burn.tensor import module
        from burn.tensor.ops import InterpolateMode, InterpolateOptions

        return module.interpolate(x, InterpolateOptions(InterpolateMode[mode], aligned, **target))

    return call


def keys(d, a=-0.75):
    """The cubic of Keys."""
    d = abs(d)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0


def matrix(size, out, mode, aligned):
    """[out, size]: the weight of each element in each result."""
    m = np.zeros((out, size))
    for o in range(out):
        if mode == "Nearest":
            m[o, min(o * size // out, size - 1)] = 1
        elif mode == "NearestExact":
            m[o, min((2 * o + 1) * size // (2 * out), size - 1)] = 1
        else:
            place = (o * (size - 1) / (out - 1) if out > 1 else 0.0) if aligned else (o + 0.5) * size / out - 0.5
            if mode == "Bilinear":
                place = min(max(place, 0.0), size - 1)
                low = min(int(place), size - 1)
                m[o, low] += 1 - (place - low)
                m[o, min(low + 1, size - 1)] += place - low
            elif mode == "Bicubic":
                for k in range(int(np.floor(place)) - 1, int(np.floor(place)) + 3):
                    m[o, min(max(k, 0), size - 1)] += keys(place - k)
            else:
                near = [k for k in range(size) if abs(place - k) < 3]
                weights = np.array([np.sinc(place - k) * np.sinc((place - k) / 3) for k in near])
                m[o, near] = weights / weights.sum()
    return m


def resized(x, out, mode, aligned):
    down, across = matrix(x.shape[2], out[0], mode, aligned), matrix(x.shape[3], out[1], mode, aligned)
    return down @ x @ across.T


SHAPES = ((1, 2, 4, 5), (1, 1, 7, 21), (1, 1, 1, 1), (0, 2, 3, 4))
SIZES = ([8, 10], [3, 1], [7, 3], [9, 33])
RESIZE = [
    Case(
        f"interpolate({mode} {out[0]}×{out[1]}{' aligned' if aligned else ''})",
        function(mode, aligned, output_size=out),
        lambda x, out=out, mode=mode, aligned=aligned: resized(x, out, mode, aligned),
        (Arg(),), FLOATS, slack=8, shapes=SHAPES,
    )
    for mode in MODES for aligned in (True, False) for out in SIZES if aligned or mode not in MODES[:2]
]  # fmt: skip
FACTORS = [
    Case(
        f"interpolate({mode} × {factor})",
        function(mode, False, scale_factor=factor),
        lambda x, mode=mode, factor=factor: resized(
            x, [int(n * f + 1e-9) for n, f in zip(x.shape[2:], factor, strict=True)], mode, False
        ),
        (Arg(),), (F64, F32, F16, BF16), slack=8, shapes=((2, 2, 10, 5), (1, 1, 20, 9)),
    )
    for mode in ("Nearest", "Bilinear", "Lanczos3") for factor in ([0.7, 2.0], [1.7, 0.4])
]  # fmt: skip


# ---- grid sampling


def sampler(mode="Bilinear", padding="Zeros", aligned=False):
    """Call of `grid_sample_2d` with options."""

    def call(x, grid):
        from burn.tensor.ops import GridSampleOptions, GridSamplePaddingMode, InterpolateMode

        return x.grid_sample_2d(grid, GridSampleOptions(InterpolateMode[mode], GridSamplePaddingMode[padding], aligned))

    return call


def outside(place, size, padding, aligned):
    """A place brought inside by steps, as somebody would who walks back from the edge."""
    low, high = (0.0, size - 1.0) if aligned else (-0.5, size - 0.5)
    if padding == "Border":
        return min(max(place, 0.0), size - 1.0)
    if padding == "Reflection":
        if high <= low:
            return 0.0
        while not low <= place <= high:
            place = 2 * low - place if place < low else 2 * high - place
        return min(max(place, 0.0), size - 1.0)
    return place


def row(size, coordinate, mode, padding, aligned):
    """[size]: the weight of each element of an axis at a coordinate."""
    place = (coordinate + 1) / 2 * (size - 1) if aligned else ((coordinate + 1) * size - 1) / 2
    m = np.zeros(size)
    if mode != "Bicubic":
        place = outside(place, size, padding, aligned)
    if mode == "Nearest":
        found = [(int(np.rint(place)), 1.0)]
    elif mode == "Bilinear":
        k = int(np.floor(place))
        found = [(k, k + 1 - place), (k + 1, place - k)]
    else:
        k = int(np.floor(place))
        found = [(int(outside(i, size, padding, aligned)), keys(place - i)) for i in range(k - 1, k + 3)]
    for k, weight in found:
        if 0 <= k < size:
            m[k] += weight
    return m


def sampled(x, grid, mode="Bilinear", padding="Zeros", aligned=False):
    out = np.zeros((*x.shape[:2], *grid.shape[1:3]))
    for n, i, j in np.ndindex(grid.shape[:3]):
        across, down = (row(x.shape[3 - a], grid[n, i, j, a], mode, padding, aligned) for a in (0, 1))
        out[n, :, i, j] = np.einsum("chw,h,w->c", x[n], down, across)
    return out


SAMPLE = [
    Case(
        f"grid_sample_2d({mode} {padding}{' aligned' if aligned else ''})",
        sampler(mode, padding, aligned),
        lambda x, grid, options=(mode, padding, aligned): sampled(x, grid, *options),
        (Arg((2, 2, 4, 5)), Arg((2, 2, 3, 2), "apart")),
        (F64, F32),
        slack=20,
    )
    for mode in ("Bilinear", "Nearest", "Bicubic")
    for padding in ("Zeros", "Border", "Reflection")
    for aligned in (False, True)
]

CASES = [*RESIZE, *FACTORS, *SAMPLE]

x = np.ones((1, 2, 4, 5), np.float32)


def refused(name, call, error, *words):
    return ErrorCase(name, lambda d: call(lambda a: tensor(a, d)), error, words)


ERRORS = [
    refused("interpolate: neither", lambda t: function("Nearest")(t(x)), ArgumentError,
            "[interpolate]", "either 'output_size' or 'scale_factor'", "neither"),
    refused("interpolate: both", lambda t: function("Nearest", output_size=[2, 2], scale_factor=[2.0, 2.0])(t(x)),
            ArgumentError, "[interpolate]", "[2, 2] and [2.0, 2.0]"),
    refused("interpolate: rank", lambda t: function("Nearest", output_size=[2, 2])(t(x[0])), ShapeError,
            "[interpolate]", "[batch, channels, height, width]", "[2, 4, 5]"),
    refused("interpolate: empty", lambda t: function("Bilinear", output_size=[2, 2])(t(x[..., :0])), ShapeError,
            "[interpolate]", "[1, 2, 4, 0]"),
    refused("interpolate: sizes", lambda t: function("Bilinear", output_size=[2])(t(x)), ShapeError,
            "[interpolate]", "'output_size'", "2 numbers", "[2]"),
    refused("interpolate: Int", lambda t: function("Nearest", output_size=[2, 2])(t(x.astype(np.int32))), TypeError,
            "[interpolate]", "Float"),
    refused("grid_sample_2d: mode", lambda t: sampler("Lanczos3")(t(x), t(np.zeros((1, 2, 2, 2), np.float32))),
            ArgumentError, "[grid_sample_2d]", "Lanczos3"),
    refused("grid_sample_2d: batch", lambda t: sampler()(t(x), t(np.zeros((2, 2, 2, 2), np.float32))), ShapeError,
            "[grid_sample_2d]", "[1, 2, 4, 5]", "[2, 2, 2, 2]"),
    refused("grid_sample_2d: grid", lambda t: sampler()(t(x), t(np.zeros((1, 2, 2, 3), np.float32))), ShapeError,
            "[grid_sample_2d]", "[batch, height, width, 2]", "[1, 2, 2, 3]"),
    refused("grid_sample_2d: dtype", lambda t: sampler()(t(x), t(np.zeros((1, 2, 2, 2)))), TypeError,
            "[grid_sample_2d]", "f64", "f32"),
    refused("grid_sample_2d: options", lambda t: t(x).grid_sample_2d(t(x[:, :, :, :2]), "nearest"), ArgumentTypeError,
            "[grid_sample_2d]", "GridSampleOptions"),
]  # fmt: skip
