"""Cases of convolutions, transposed and deformable ones included, and of blocks of images as columns.

The oracles go through every output element and every tap, as the definitions read, and then make all products at once.
"""

import functools
import itertools

import numpy as np

from burn.errors import ArgumentTypeError, DTypeError, KindError, ShapeError
from burn.tensor import module
from burn.tensor.ops import ConvOptions, ConvTransposeOptions, DeformConvOptions, UnfoldOptions
from tests.cases import F32, F64, I32, Arg, Case, ErrorCase
from tests.cases.tensors import tensor


def out_sizes(sizes, kernel, o):
    """Sizes of a convolution's output."""
    rows = zip(sizes, kernel, o.stride, o.padding, o.dilation, strict=True)
    return tuple((n + a + b - d * (k - 1) - 1) // s + 1 for n, k, s, (a, b), d in rows)


@functools.cache
def meetings(small, large, kernel, stride, before, dilation):
    """Positions p, elements e and taps t, in row-major numbers, of all that meet: e = p * stride + t * dilation - before.

    Every position and every tap is gone through; what lies outside meets nothing.
    """
    found = []
    for p, t in itertools.product(np.ndindex(small), np.ndindex(kernel)):
        e = [i * s + k * d - b for i, k, s, d, b in zip(p, t, stride, dilation, before, strict=True)]
        if all(0 <= i < n for i, n in zip(e, large, strict=True)):
            found.append([np.ravel_multi_index(*pair) for pair in ((p, small), (e, large), (t, kernel))])
    return np.array(found, int).reshape(-1, 3).T


def parted(x, *shape):
    """x with its first two axes in another shape, and the others as one."""
    return x.reshape(*shape, int(np.prod(x.shape[2:])))


def with_bias(out, bias):
    return out if bias is None else out + bias.reshape(-1, *[1] * (out.ndim - 2))


def convolved(x, weight, bias, o):
    """Each output is a sum over the kernel's elements that meet the input."""
    kernel, sizes = weight.shape[2:], x.shape[2:]
    grid = out_sizes(sizes, kernel, o)
    p, e, t = meetings(grid, sizes, kernel, tuple(o.stride), tuple(a for a, _ in o.padding), tuple(o.dilation))
    each_in, each_out = weight.shape[1], weight.shape[0] // o.groups
    left, right = parted(x, len(x), o.groups, each_in), parted(weight, o.groups, each_out, each_in)
    out = np.zeros((len(x), o.groups, each_out, int(np.prod(grid))))
    np.add.at(out, (..., p), np.einsum("ngim,goim->ngom", left[..., e], right[..., t]))
    return with_bias(out.reshape(len(x), len(weight), *grid), bias)


def spread(x, weight, bias, o):
    """Each input adds the kernel to the output where it meets it."""
    kernel, sizes = weight.shape[2:], x.shape[2:]
    room = tuple((n - 1) * s + d * (k - 1) + 1 + e - 2 * p for n, k, s, d, e, p in
                 zip(sizes, kernel, o.stride, o.dilation, o.padding_out, o.padding, strict=True))  # fmt: skip
    p, e, t = meetings(sizes, room, kernel, tuple(o.stride), tuple(o.padding), tuple(o.dilation))
    each_in, each_out = x.shape[1] // o.groups, weight.shape[1]
    left, right = parted(x, len(x), o.groups, each_in), parted(weight, o.groups, each_in, each_out)
    out = np.zeros((len(x), o.groups, each_out, int(np.prod(room))))
    np.add.at(out, (..., e), np.einsum("ngim,giom->ngom", left[..., p], right[..., t]))
    return with_bias(out.reshape(len(x), o.groups * each_out, *room), bias)


def bilinear(x, image, channel, y, z):
    """Elements of maps between their places (y, z); 0 outside."""
    h, w = x.shape[2:]
    y0, z0 = np.floor(y).astype(int), np.floor(z).astype(int)
    out = np.zeros(y.shape)
    for i, j in ((y0, z0), (y0, z0 + 1), (y0 + 1, z0), (y0 + 1, z0 + 1)):
        there = (i >= 0) & (i < h) & (j >= 0) & (j < w)
        values = x[image, channel, np.where(there, i, 0), np.where(there, j, 0)]
        out += np.where(there, values * (1 - np.abs(y - i)) * (1 - np.abs(z - j)), 0.0)
    return out


def deformed(x, offset, weight, mask, bias, o):
    """Samples off the grid, then an ordinary grouped sum: all products at once."""
    plain = ConvOptions(o.stride, o.padding, o.dilation, o.weight_groups)
    kh, kw = weight.shape[2:]
    grid = out_sizes(x.shape[2:], (kh, kw), plain)
    out = np.zeros((x.shape[0], weight.shape[0], *grid))
    each_in, each_out = weight.shape[1], weight.shape[0] // o.weight_groups
    n, k, c, i, j, p, q = np.indices((*out.shape[:2], each_in, kh, kw, *grid)).reshape(7, -1)
    channel = k // each_out * each_in + c
    tap = channel // (x.shape[1] // o.offset_groups) * kh * kw + i * kw + j
    y = p * o.stride[0] + i * o.dilation[0] - o.padding[0] + offset[n, 2 * tap, p, q]
    z = q * o.stride[1] + j * o.dilation[1] - o.padding[1] + offset[n, 2 * tap + 1, p, q]
    factor = 1.0 if mask is None else mask[n, tap, p, q]
    np.add.at(out, (n, k, p, q), weight[k, c, i, j] * factor * bilinear(x, n, channel, y, z))
    return with_bias(out, bias)


def of_blocks(size, kernel, o):
    """The grid of blocks, and what meets there."""
    grid = out_sizes(size, kernel, ConvOptions(o.stride, o.padding, o.dilation, 1))
    return grid, meetings(grid, tuple(size), tuple(kernel), tuple(o.stride), tuple(o.padding), tuple(o.dilation))


def blocks(x, kernel, o):
    """Each block as a column."""
    grid, (p, e, t) = of_blocks(x.shape[2:], kernel, o)
    out = np.zeros((*x.shape[:2], int(np.prod(kernel)), int(np.prod(grid))))
    out[..., t, p] = parted(x, *x.shape[:2])[..., e]
    return out.reshape(len(x), -1, out.shape[3])


def folded(x, size, kernel, o):
    """The sum of the columns' elements that stand for each element of the map."""
    _, (p, e, t) = of_blocks(size, kernel, o)
    out = np.zeros((len(x), x.shape[1] // int(np.prod(kernel)), int(np.prod(size))))
    np.add.at(out, (..., e), x.reshape(*out.shape[:2], -1, x.shape[2])[..., t, p])
    return out.reshape(*out.shape[:2], *size)


def conv(name, x, weight, stride, padding, dilation, groups, bias=True):
    """A case of conv1d, conv2d or conv3d."""
    axes = len(x) - 2
    o = ConvOptions([stride] * axes if isinstance(stride, int) else stride, padding, dilation, groups)
    args = (Arg(x), Arg(weight), *([Arg((weight[0],))] if bias else []))
    return Case(f"conv{axes}d({name})", lambda x, w, b=None: getattr(module, f"conv{axes}d")(x, w, b, o),
                lambda x, w, b=None: convolved(x, w, b, o), args, slack=4.0)  # fmt: skip


def transposed(name, x, weight, stride, padding, padding_out, dilation, groups, bias=True):
    """A case of conv_transpose1d, conv_transpose2d or conv_transpose3d."""
    axes = len(x) - 2
    o = ConvTransposeOptions(stride, padding, padding_out, dilation, groups)
    args = (Arg(x), Arg(weight), *([Arg((weight[1] * groups,))] if bias else []))
    return Case(f"conv_transpose{axes}d({name})", lambda x, w, b=None: getattr(module, f"conv_transpose{axes}d")(x, w, b, o),
                lambda x, w, b=None: spread(x, w, b, o), args, slack=4.0)  # fmt: skip


def deform(name, x, weight, stride, padding, dilation, groups, parts, mask, bias):
    """A case of deform_conv2d; offsets keep away from the grid, where the value has a kink."""
    o = DeformConvOptions(stride, padding, dilation, groups, parts)
    grid = out_sizes(x[2:], weight[2:], ConvOptions(stride, padding, dilation, 1))
    taps = parts * weight[2] * weight[3]
    args = [Arg(x), Arg((x[0], 2 * taps, *grid)), Arg(weight)]
    args += [Arg((x[0], taps, *grid))] if mask else []
    args += [Arg((weight[0],))] if bias else []

    def optional(rest):
        return (rest[0] if mask else None), (rest[-1] if bias else None)

    return Case(f"deform_conv2d({name})", lambda x, s, w, *rest: module.deform_conv2d(x, s, w, *optional(rest), o),
                lambda x, s, w, *rest: deformed(x, s, w, *optional(rest), o), tuple(args), slack=4.0)  # fmt: skip


def weight_backward(x, weight, o):
    """What the kernel's elements met, times the gradient of the output."""

    def oracle(x, weight, grad):
        out = np.zeros_like(weight)
        for at in np.ndindex(out.shape):
            unit = np.zeros_like(weight)
            unit[at] = 1
            out[at] = (convolved(x, unit, None, o) * grad).sum()
        return out

    grad = (x[0], weight[0], *out_sizes(x[2:], weight[2:], o))
    return Case("conv2d_weight_backward", lambda x, w, g: module.conv2d_weight_backward(x, w, g, o), oracle,
                (Arg(x), Arg(weight), Arg(grad)), grad=False, slack=4.0)  # fmt: skip


def unfold(name, x, kernel, *options):
    o = UnfoldOptions(*options)
    return Case(f"unfold4d({name})", lambda x: module.unfold4d(x, kernel, o), lambda x: blocks(x, kernel, o), (Arg(x),))


def fold(name, x, size, kernel, *options):
    o = UnfoldOptions(*options)
    return Case(f"fold4d({name})", lambda x: module.fold4d(x, size, kernel, o), lambda x: folded(x, size, kernel, o),
                (Arg(x),), slack=4.0)  # fmt: skip


CASES = [
    conv("plain", (2, 3, 7), (4, 3, 3), 1, [0], [1], 1),
    conv("uneven", (2, 4, 9), (6, 2, 2), 3, [(2, 1)], [2], 2),
    conv("point", (2, 3, 5), (4, 3, 1), 1, [0], [1], 1, bias=False),
    conv("remainder", (1, 4, 6), (4, 2, 2), 3, [0], [1], 2),
    conv("plain", (2, 3, 6, 5), (4, 3, 3, 3), 1, [1, 1], [1, 1], 1),
    conv("uneven", (1, 4, 7, 6), (6, 2, 3, 2), [2, 3], [(1, 0), (2, 3)], [1, 2], 2),
    conv("depthwise", (2, 3, 5, 9), (3, 1, 3, 3), 1, [1, 1], [1, 1], 3),
    conv("depthwise, two each", (1, 3, 6, 5), (6, 1, 2, 3), 2, [1, 0], [1, 1], 3),
    conv("wide padding", (1, 2, 3, 3), (2, 2, 2, 2), 1, [4, 3], [1, 1], 1),
    conv("no images", (0, 2, 4, 4), (3, 2, 2, 2), 1, [0, 0], [1, 1], 1),
    conv("point", (2, 5, 3, 4), (7, 5, 1, 1), 1, [0, 0], [1, 1], 1),
    conv("point, strided", (1, 3, 5, 6), (4, 3, 1, 1), 2, [0, 0], [1, 1], 1),
    conv("uneven", (1, 2, 4, 5, 3), (4, 1, 2, 3, 2), [2, 1, 1], [(1, 2), (0, 1), (1, 0)], [1, 2, 1], 2),
    conv("plain", (1, 2, 3, 3, 4), (3, 2, 3, 2, 2), 1, [1, 0, 0], [1, 1, 1], 1, bias=False),
    transposed("plain", (2, 3, 4), (3, 2, 3), [1], [0], [0], [1], 1),
    transposed("strided", (1, 4, 5), (4, 3, 2), [3], [1], [2], [2], 2),
    transposed("plain", (2, 3, 3, 4), (3, 2, 3, 3), [1, 1], [1, 1], [0, 0], [1, 1], 1),
    transposed("strided", (1, 4, 3, 4), (4, 1, 3, 3), [2, 3], [1, 0], [1, 2], [1, 1], 2),
    transposed("kernel below stride", (1, 2, 3, 2), (2, 2, 1, 2), [3, 2], [0, 0], [0, 1], [1, 2], 1, bias=False),
    transposed("depthwise", (1, 3, 4, 5), (3, 1, 3, 3), [2, 2], [1, 1], [1, 1], [1, 1], 3),
    transposed("strided", (1, 2, 2, 3, 2), (2, 2, 2, 3, 2), [2, 1, 2], [1, 0, 0], [1, 0, 1], [1, 1, 2], 1),
    deform("all", (2, 4, 5, 4), (6, 2, 3, 2), [2, 1], [1, 0], [1, 2], 2, 2, True, True),
    deform("offsets alone", (1, 2, 4, 4), (3, 2, 2, 2), [1, 1], [0, 1], [1, 1], 1, 1, False, False),
    weight_backward((2, 4, 6, 5), (6, 2, 3, 2), ConvOptions([2, 1], [(1, 0), (0, 2)], [1, 2], 2)),
    unfold("plain", (2, 3, 4, 5), [2, 3], [1, 1], [0, 0], [1, 1]),
    unfold("strided", (1, 2, 5, 6), [3, 2], [2, 3], [1, 2], [1, 2]),
    fold("plain", (2, 12, 9), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1]),
    fold("strided", (1, 12, 9), [5, 6], [3, 2], [2, 2], [1, 0], [1, 1]),
]  # fmt: skip


def call(name, shapes, *rest, dtypes=(F32,) * 4):
    """A call of a function of `burn.tensor.module` with tensors of the given shapes (None for no bias)."""

    def run(device):
        tensors = [None if s is None else tensor(np.ones(s, d), device) for s, d in zip(shapes, dtypes)]
        return getattr(module, name)(*tensors, *rest)

    return run


PLAIN = ConvOptions([1, 1], [0, 0], [1, 1], 1)
SPREAD = ConvTransposeOptions([1, 1], [0, 0], [0, 0], [1, 1], 1)
UNFOLD = UnfoldOptions([1, 1], [0, 0], [1, 1])
DEFORM = DeformConvOptions([1, 1], [0, 0], [1, 1], 1, 1)
X, W = (1, 2, 4, 4), (3, 2, 3, 3)
ERRORS = [
    ErrorCase("conv2d: channels", call("conv2d", [(1, 4, 4, 4), W, None], PLAIN), ShapeError, ("'x'", "got: 4, expected: 2")),
    ErrorCase("conv2d: kernel too large", call("conv2d", [(1, 2, 2, 4), W, None], PLAIN), ShapeError,
              ("'x'", "axis 0", "at least 3", "got 2", "pad more")),
    ErrorCase("conv2d: rank", call("conv2d", [(2, 4, 4), W, None], PLAIN), ShapeError, ("'x'", "[2, 4, 4]")),
    ErrorCase("conv2d: rank of the weight", call("conv2d", [X, (3, 2, 3), None], PLAIN), ShapeError, ("'weight'", "[3, 2, 3]")),
    ErrorCase("conv2d: empty weight", call("conv2d", [X, (0, 2, 3, 3), None], PLAIN), ShapeError, ("'weight'", "empty")),
    ErrorCase("conv2d: groups", call("conv2d", [X, (3, 1, 3, 3), None], ConvOptions([1, 1], [0, 0], [1, 1], 2)), ShapeError,
              ("'weight'", "divisible by 2 groups", "got 3")),
    ErrorCase("conv2d: bias", call("conv2d", [X, W, (2,)], PLAIN), ShapeError, ("'bias'", "[3]", "got [2]")),
    ErrorCase("conv2d: dtype", call("conv2d", [X, W, None], PLAIN, dtypes=(F32, F64, F32)), DTypeError, ("'weight'", "f64")),
    ErrorCase("conv2d: kind", call("conv2d", [X, W, None], PLAIN, dtypes=(I32, I32, I32)), KindError, ("'x'", "Int")),
    ErrorCase("conv2d: axes of the options", call("conv2d", [X, W, None], ConvOptions([1], [0], [1], 1)), ShapeError,
              ("'options'", "2 spatial axes")),
    ErrorCase("conv2d: kind of options", call("conv2d", [X, W, None], SPREAD), ArgumentTypeError, ("'options'",)),
    ErrorCase("conv1d: rank", call("conv1d", [X, (3, 2, 3), None], ConvOptions([1], [0], [1], 1)), ShapeError, ("'x'", "length")),
    ErrorCase("conv3d: kernel too large", call("conv3d", [(1, 1, 2, 2, 2), (1, 1, 1, 2, 2), None],
              ConvOptions([1] * 3, [0] * 3, [1, 1, 2], 1)), ShapeError, ("axis 2", "dilation 2")),
    ErrorCase("conv_transpose2d: channels", call("conv_transpose2d", [X, W, None], SPREAD), ShapeError, ("got: 2, expected: 3",)),
    ErrorCase("conv_transpose2d: nothing left", call("conv_transpose2d", [(1, 3, 1, 4), W, None],
              ConvTransposeOptions([1, 1], [2, 0], [0, 0], [1, 1], 1)), ShapeError, ("'x'", "axis 0", "give -1")),
    ErrorCase("conv_transpose1d: groups", call("conv_transpose1d", [(1, 3, 4), (3, 2, 2), None],
              ConvTransposeOptions([1], [0], [0], [1], 2)), ShapeError, ("divisible by 2 groups", "got 3")),
    ErrorCase("conv_transpose3d: bias", call("conv_transpose3d", [(1, 1, 2, 2, 2), (1, 2, 1, 1, 1), (3,)],
              ConvTransposeOptions([1] * 3, [0] * 3, [0] * 3, [1] * 3, 1)), ShapeError, ("'bias'", "[2]")),
    ErrorCase("deform_conv2d: offset", call("deform_conv2d", [X, (1, 18, 3, 3), W, None, None], DEFORM, dtypes=(F32,) * 5),
              ShapeError, ("'offset'", "[1, 18, 2, 2]")),
    ErrorCase("deform_conv2d: mask", call("deform_conv2d", [X, (1, 18, 2, 2), W, (1, 3, 2, 2), None], DEFORM, dtypes=(F32,) * 5),
              ShapeError, ("'mask'", "[1, 9, 2, 2]")),
    ErrorCase("conv2d_weight_backward: gradient", call("conv2d_weight_backward", [X, W, (1, 3, 3, 3)], PLAIN), ShapeError,
              ("'output_grad'", "[1, 3, 2, 2]")),
    ErrorCase("unfold4d: rank", call("unfold4d", [(2, 4, 4)], [2, 2], UNFOLD), ShapeError, ("'x'", "[2, 4, 4]")),
    ErrorCase("unfold4d: block too large", call("unfold4d", [X], [2, 5], UNFOLD), ShapeError, ("axis 1", "at least 5")),
    ErrorCase("fold4d: channels", call("fold4d", [(1, 5, 4)], [3, 3], [2, 2], UNFOLD), ShapeError,
              ("input channels (5) must be divisible by the kernel size product (4)",)),
    ErrorCase("fold4d: blocks", call("fold4d", [(1, 4, 5)], [3, 3], [2, 2], UNFOLD), ShapeError,
              ("number of blocks (5) does not match the expected grid (2 x 2)",)),
]  # fmt: skip
