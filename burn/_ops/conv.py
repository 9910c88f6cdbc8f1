"""Convolutions in one to three dimensions, plain, transposed and deformable, and blocks of images as columns.

The kernels take the stride, the padding before each axis and the dilation; the padding after it is in the output's size. The
gradient of an input is the other kind of convolution of the gradient of the output; so weights need no gradient kernel but one.
"""

import math
import os

from burn._ops.matmul import matmul
from burn._ops.movement import reshape, zeros
from burn._ops.reduce import sum_dims
from burn._ops.registry import FLOAT, check_kind, check_same, check_tensor, define
from burn._ops.rule import python_rule
from burn.errors import ShapeError

# Whether kernels may use Winograd's sums: see burn.set_winograd.
winograd = [os.environ.get("BURN_WINOGRAD", "").strip().lower() not in ("0", "false", "no", "off")]

ATTRS = ("stride", "padding", "dilation", "groups")
_plain = {axes: define(f"conv{axes}d", "conv", kernel="conv", kinds=FLOAT, n_in=3, attrs=ATTRS) for axes in (1, 2, 3)}
_transposed = {
    axes: define(f"conv_transpose{axes}d", "conv", kernel="conv_transpose", kinds=FLOAT, n_in=3, attrs=ATTRS)
    for axes in (1, 2, 3)
}
_input_bwd = define("conv_input_bwd", "conv", kernel="conv_transpose", kinds=FLOAT, n_in=2, cuts_graph=True)
_transposed_input_bwd = define("conv_transpose_input_bwd", "conv", kernel="conv", kinds=FLOAT, n_in=2, cuts_graph=True)
_weight_bwd = define("conv_weight_bwd", "conv", kinds=FLOAT, n_in=2, cuts_graph=True)

COLUMNS = ("stride", "padding", "dilation", "kernel_size")
_unfold4d = define("unfold4d", "conv", kinds=FLOAT, attrs=COLUMNS)
_fold4d = define("fold4d", "conv", kinds=FLOAT, attrs=COLUMNS)
_deform = define("deform_conv2d", "conv", kernel="deform", kinds=FLOAT, n_in=3, attrs=COLUMNS)
_deform_x_bwd = define("deform_x_bwd", "conv", kinds=FLOAT, n_in=3, cuts_graph=True)
_deform_offset_bwd = define("deform_offset_bwd", "conv", kinds=FLOAT, n_in=4, n_out=2, cuts_graph=True)


def _checked(op, x, weight, bias, axes, groups):
    """Kinds, dtypes and ranks."""
    check_kind(op, check_tensor(op, x, "x"), FLOAT, "x")
    check_same(op, x, check_tensor(op, weight, "weight"), "weight")
    names = ("[batch, channels, length]", "[batch, channels, height, width]", "[batch, channels, depth, height, width]")
    if x.ndim != axes + 2:
        raise ShapeError(f"[{op}] 'x' must be {names[axes - 1]}, got shape {x.dims()}; use reshape() or unsqueeze()")
    if weight.ndim != axes + 2:
        raise ShapeError(f"[{op}] 'weight' must have rank {axes + 2}, got shape {weight.dims()}")
    if 0 in weight._dims:
        raise ShapeError(f"[{op}] 'weight' must not be empty, got shape {weight.dims()}")
    if bias is not None:
        check_same(op, x, check_tensor(op, bias, "bias"), "bias")


def _check_bias(op, bias, channels):
    if bias is not None and bias._dims != (channels,):
        raise ShapeError(
            f"[{op}] 'bias' must have shape [{channels}], one element an output channel, got {bias.dims()}"
        )


def _axes(op, options, axes):
    if len(options.stride) != axes:
        raise ShapeError(f"[{op}] 'options' must be for {axes} spatial axes, got a stride of {list(options.stride)}")


def sizes(op, dims, kernel, stride, padding, dilation, what="x"):
    """Output sizes of windows of a kernel that step over axes padded by pairs; each window must fit."""
    out = []
    for axis, (size, k, s, (before, after), d) in enumerate(zip(dims, kernel, stride, padding, dilation, strict=True)):
        room, extent = size + before + after, d * (k - 1) + 1
        if room < extent:
            raise ShapeError(
                f"[{op}] {what!r} must have at least {extent} elements with padding along spatial axis {axis} for a kernel of "
                f"{k} with dilation {d}, got {size} and padding ({before}, {after}); pad more or use a smaller kernel"
            )
        out.append((room - extent) // s + 1)
    return tuple(out)


def _ints(geometry):
    """Attributes of the kernels."""
    stride, begin, dilation, groups = geometry
    return (*stride, *begin, *dilation, groups, int(winograd[0]))


def _inputs(x, weight, bias):
    return (x, weight) if bias is None else (x, weight, bias)


def conv(x, weight, bias, options, axes):
    """Cross-correlation of [batch, c_in, *spatial] with [c_out, c_in / groups, *kernel]."""
    op = _plain[axes]
    _checked(op.name, x, weight, bias, axes, options.groups)
    _axes(op.name, options, axes)
    groups, channels, c_out = options.groups, x._dims[1], weight._dims[0]
    if channels != weight._dims[1] * groups:
        raise ShapeError(
            f"[{op.name}] 'x' must have {weight._dims[1] * groups} channels for a weight of shape {weight.dims()} and {groups} "
            f"groups, got {channels}. Number of channels in input tensor and input channels of convolution must be equal. "
            f"got: {channels}, expected: {weight._dims[1] * groups}; the channels of 'x' are axis 1, the weight is "
            "[output, input / groups, *kernel]"
        )
    if c_out % groups:
        raise ShapeError(f"[{op.name}] 'weight' must have output channels divisible by {groups} groups, got {c_out}")
    _check_bias(op.name, bias, c_out)
    out = sizes(op.name, x._dims[2:], weight._dims[2:], options.stride, options.padding, options.dilation)
    geometry = (options.stride, tuple(options.padding_begin()), options.dilation, groups)
    ins = _inputs(x, weight, bias)
    return op.apply(ins, (x._dims[0], c_out, *out), x._dtype, _ints(geometry), (), geometry)


def conv_transpose(x, weight, bias, options, axes):
    """The adjoint: each element of [batch, c_in, *spatial] spreads [c_in, c_out / groups, *kernel] over the output."""
    op = _transposed[axes]
    _checked(op.name, x, weight, bias, axes, options.groups)
    _axes(op.name, options, axes)
    groups, channels = options.groups, x._dims[1]
    if channels != weight._dims[0]:
        raise ShapeError(
            f"[{op.name}] 'x' must have {weight._dims[0]} channels for a weight of shape {weight.dims()}, got {channels}. Number "
            "of channels in input tensor and input channels of convolution must be equal. "
            f"got: {channels}, expected: {weight._dims[0]}; the channels of 'x' are axis 1, the weight is "
            "[input, output / groups, *kernel]"
        )
    if channels % groups:
        raise ShapeError(f"[{op.name}] 'x' must have channels divisible by {groups} groups, got {channels}")
    c_out = weight._dims[1] * groups
    _check_bias(op.name, bias, c_out)
    out = []
    for axis, (n, k) in enumerate(zip(x._dims[2:], weight._dims[2:], strict=True)):
        s, p, d = options.stride[axis], options.padding[axis], options.dilation[axis]
        size = (n - 1) * s + d * (k - 1) + 1 + options.padding_out[axis] - 2 * p
        if n < 1 or size < 1:
            raise ShapeError(
                f"[{op.name}] 'x' must give at least one output element along spatial axis {axis}, got {n} elements, which give "
                f"{size} with kernel {k}, stride {s}, dilation {d}, padding {p} and padding_out {options.padding_out[axis]}"
            )
        out.append(size)
    geometry = (options.stride, options.padding, options.dilation, groups)
    ins = _inputs(x, weight, bias)
    return op.apply(ins, (x._dims[0], c_out, *out), x._dtype, _ints(geometry), (), geometry)


def _bias_bwd(g):
    return reshape(sum_dims(g, (0, *range(2, g.ndim))), (g._dims[1],))


def _conv_bwd(node, g):
    ints = _ints(node.attrs)
    dx = dw = db = None
    if node.needs(0):
        dx = _input_bwd.apply((g, node.saved(1)), node.shape(0), g._dtype, ints)
    if node.needs(1):
        dw = _weight_bwd.apply((node.saved(0), g), node.shape(1), g._dtype, ints)
    if node.count > 2 and node.needs(2):
        db = _bias_bwd(g)
    return (dx, dw, db)[: node.count]


def _conv_transpose_bwd(node, g):
    ints = _ints(node.attrs)
    dx = dw = db = None
    if node.needs(0):
        dx = _transposed_input_bwd.apply((g, node.saved(1)), node.shape(0), g._dtype, ints)
    if node.needs(1):
        dw = _weight_bwd.apply((g, node.saved(0)), node.shape(1), g._dtype, ints)
    if node.count > 2 and node.needs(2):
        db = _bias_bwd(g)
    return (dx, dw, db)[: node.count]


for _op in _plain.values():
    _op.rule = python_rule(_conv_bwd, ["1 shape", "0 shape", ""])
for _op in _transposed.values():
    _op.rule = python_rule(_conv_transpose_bwd, ["1 shape", "0 shape", ""])


def conv2d_weight_backward(x, weight, output_grad, options):
    """The gradient of conv2d's weight from that of its output."""
    op = "conv2d_weight_backward"
    _checked(op, x, weight, None, 2, options.groups)
    check_same(op, x, check_tensor(op, output_grad, "output_grad"), "output_grad")
    _axes(op, options, 2)
    if x._dims[1] != weight._dims[1] * options.groups or weight._dims[0] % options.groups:
        raise ShapeError(
            f"[{op}] 'x' must have the channels of 'weight' in {options.groups} groups, got shapes {x.dims()} and {weight.dims()}"
        )
    out = sizes(op, x._dims[2:], weight._dims[2:], options.stride, options.padding, options.dilation)
    wanted = (x._dims[0], weight._dims[0], *out)
    if output_grad._dims != wanted:
        raise ShapeError(f"[{op}] 'output_grad' must have the output's shape {list(wanted)}, got {output_grad.dims()}")
    geometry = (options.stride, tuple(options.padding_begin()), options.dilation, options.groups)
    return _weight_bwd.apply((x, output_grad), weight._dims, x._dtype, _ints(geometry))


# ---- blocks of images as columns


def _column_ints(options, kernel, image, grid, channels, groups=1):
    return (*options.stride, *options.padding, *options.dilation, *kernel, *image, *grid, channels, groups)


def _grid(op, image, kernel, options, what="x"):
    pairs = tuple((p, p) for p in options.padding)
    return sizes(op, image, kernel, options.stride, pairs, options.dilation, what)


def unfold4d(x, kernel_size, options):
    """[batch, c * kh * kw, blocks] from [batch, c, h, w]."""
    check_kind("unfold4d", check_tensor("unfold4d", x, "x"), FLOAT, "x")
    if x.ndim != 4:
        raise ShapeError(f"[unfold4d] 'x' must be [batch, channels, height, width], got shape {x.dims()}")
    batch, channels, *image = x._dims
    grid = _grid("unfold4d", image, kernel_size, options)
    ints = _column_ints(options, kernel_size, image, grid, channels)
    shape = (batch, channels * math.prod(kernel_size), math.prod(grid))
    return _unfold4d.apply((x,), shape, x._dtype, ints, (), (ints, tuple(x._dims)))


def fold4d(x, output_size, kernel_size, options):
    """[batch, c, *output_size] from [batch, c * kh * kw, blocks]; what overlaps is added."""
    check_kind("fold4d", check_tensor("fold4d", x, "x"), FLOAT, "x")
    if x.ndim != 3:
        raise ShapeError(f"[fold4d] 'x' must be [batch, channels * kernel, blocks], got shape {x.dims()}")
    batch, rows, blocks = x._dims
    taps = math.prod(kernel_size)
    if rows % taps:
        raise ShapeError(
            f"[fold4d] 'x' must have channels divisible by the kernel, got {rows}: fold4d: input channels ({rows}) must be "
            f"divisible by the kernel size product ({taps})"
        )
    grid = _grid("fold4d", output_size, kernel_size, options, "output_size")
    if blocks != math.prod(grid):
        raise ShapeError(
            f"[fold4d] 'x' must have {math.prod(grid)} blocks: fold4d: number of blocks ({blocks}) does not match the expected "
            f"grid ({grid[0]} x {grid[1]}) for the given output size and options"
        )
    ints = _column_ints(options, kernel_size, output_size, grid, rows // taps)
    shape = (batch, rows // taps, *output_size)
    return _fold4d.apply((x,), shape, x._dtype, ints, (), (ints, tuple(x._dims)))


def _adjoint(op):
    def rule(node, g):
        ints, shape = node.attrs
        return (op.apply((g,), shape, g._dtype, ints, (), (ints, tuple(g._dims))),)

    return python_rule(rule, [""])


_unfold4d.rule = _adjoint(_fold4d)
_fold4d.rule = _adjoint(_unfold4d)


def deform_conv2d(x, offset, weight, mask, bias, options):
    """conv2d whose samples are moved by offsets and weighted by a mask."""
    op = "deform_conv2d"
    groups, parts = options.weight_groups, options.offset_groups
    _checked(op, x, weight, bias, 2, groups)
    batch, channels, *image = x._dims
    c_out, per_group, *kernel = weight._dims
    if channels != per_group * groups or c_out % groups:
        raise ShapeError(
            f"[{op}] 'x' must have {per_group * groups} channels for a weight of shape {weight.dims()} and {groups} groups, "
            f"which must divide its output channels, got {channels}"
        )
    if channels % parts:
        raise ShapeError(f"[{op}] 'x' must have channels divisible by {parts} offset groups, got {channels}")
    _check_bias(op, bias, c_out)
    grid = _grid(op, image, kernel, options)
    taps = math.prod(kernel)
    ins = [x]
    for value, name, each in ((offset, "offset", 2), (mask, "mask", 1)):
        if value is None and name == "mask":
            continue
        check_same(op, x, check_tensor(op, value, name), name)
        wanted = (batch, each * parts * taps, *grid)
        if value._dims != wanted:
            raise ShapeError(f"[{op}] {name!r} must have shape {list(wanted)}, got {value.dims()}")
        ins.append(value)
    ints = _column_ints(options, kernel, image, grid, channels, parts)
    area = math.prod(grid)
    columns = _deform.apply(tuple(ins), (batch, channels * taps, area), x._dtype, ints, (), ints)
    columns = reshape(columns, (batch, groups, per_group * taps, area))
    out = matmul(reshape(weight, (1, groups, c_out // groups, per_group * taps)), columns)
    out = reshape(out, (batch, c_out, *grid))
    return out if bias is None else out + reshape(bias, (1, c_out, 1, 1))


def _deform_bwd(node, g):
    ints = node.attrs
    moved = tuple(node.saved(i) for i in range(1, node.count))
    dx = None
    if node.needs(0):
        dx = _deform_x_bwd.apply((g, *moved), node.shape(0), g._dtype, ints)
    rest = [None] * (node.count - 1)
    if any(node.needs(i) for i in range(1, node.count)):
        shapes = [t._dims for t in moved]
        results = [zeros(shape, g._dtype, g._slot) for shape in shapes]
        _deform_offset_bwd.update((g, node.saved(0), *moved), results, ints)
        rest = [r if node.needs(i) else None for i, r in enumerate(results, 1)]
    return (dx, *rest)


_deform.rule = python_rule(_deform_bwd, ["1 2 shape", "0 1 2 shape", "0 1 2 shape"])
