"""Pooling: the largest or the average of windows. One axis is a plane of height 1; the kernels see [planes, height, width].

Padding never is the largest and adds nothing to an average. Places of largest cells are counted in the plane without padding.
"""

import functools
import math

from burn._arguments import instance, integer, shown
from burn._core import core
from burn._ops import elementwise as ew
from burn._ops.reduce import index_dtypes, positions
from burn._ops.registry import FLOAT, INT, check_device, check_kind, check_same, check_tensor, define
from burn._ops.rule import python_rule
from burn.errors import ShapeError

WINDOW = (
    "planes",
    "h",
    "w",
    "oh",
    "ow",
    "kh",
    "kw",
    "sh",
    "sw",
    "top",
    "left",
    "bottom",
    "right",
    "dh",
    "dw",
    "counted",
)
SHAPE = ("planes", "d", "h", "w", "od", "oh", "ow")

_max = define("max_pool2d", "pool", kinds=FLOAT, attrs=WINDOW)
_places = define("max_pool2d_with_indices", "pool", kinds=FLOAT, n_out=2, attrs=WINDOW)
_max_bwd = define("max_pool2d_bwd", "pool", kinds=FLOAT, n_in=2, attrs=WINDOW, cuts_graph=True)
_avg = define("avg_pool2d", "pool", kinds=FLOAT, attrs=WINDOW)
_avg_bwd = define("avg_pool2d_bwd", "pool", kinds=FLOAT, attrs=WINDOW, cuts_graph=True)
_adaptive = define("adaptive_avg_pool3d", "pool", kinds=FLOAT, attrs=SHAPE)
_adaptive_bwd = define("adaptive_avg_pool3d_bwd", "pool", kinds=FLOAT, attrs=SHAPE, cuts_graph=True)

AXES = {1: "length", 2: "height, width", 3: "depth, height, width"}


def planes(op, x, axes, name="x"):
    """The sizes of a Float tensor [batch, channels, ...], no axis of a plane being empty."""
    check_kind(op, check_tensor(op, x, name), FLOAT, name)
    dims = x._dims
    if len(dims) != axes + 2 or 0 in dims[2:]:
        raise ShapeError(
            f"[{op}] '{name}' must be [batch, channels, {AXES[axes]}] with at least 1 element along the last {axes}, "
            f"got shape {x.dims()}"
        )
    return dims


def _outputs(op, size, axis, options, dilation):
    """Windows along an axis. In ceil mode the last one must start inside the input or the padding before it."""
    kernel, stride, (before, after) = options.kernel_size[axis], options.stride[axis], options.padding[axis]
    extent, padded = dilation * (kernel - 1) + 1, size + before + after
    n = (padded - extent + (stride - 1 if options.ceil_mode else 0)) // stride + 1
    if options.ceil_mode:
        n = min(n, (size + before - 1) // stride + 1)
    if n < 1:
        raise ShapeError(
            f"[{op}] 'kernel_size' must fit the padded input, got a window of {extent} cells for {padded} cells along axis "
            f"{axis + 2} (size {size}, padding {before} and {after}); use a smaller kernel or more padding"
        )
    return n


def window(op, x, options, kind, axes):
    """(shape of the result, the kernels' numbers)."""
    dims = planes(op, x, axes)
    if type(options) is not kind:
        given = isinstance(options, list | tuple) and len(options) == axes
        instance(op, "options", options, kind, f"use {kind.__name__}({shown(options) if given else [2] * axes})")
    return _window(op, dims, options, axes)


@functools.lru_cache(1024)
def _window(op, dims, options, axes):
    sizes = dims[2:]
    if len(options.kernel_size) != axes:
        raise ShapeError(f"[{op}] 'options' must be for {axes} axes, got a kernel size of {list(options.kernel_size)}")
    dilation = getattr(options, "dilation", (1,) * axes)
    out = tuple(_outputs(op, n, a, options, dilation[a]) for a, n in enumerate(sizes))
    if math.prod(sizes) >= 1 << 31:
        raise ShapeError(f"[{op}] 'x' must have less than 2^31 elements a plane, got shape {list(dims)}")
    lead, still = (1,) * (2 - axes), ((0, 0),) * (2 - axes)
    padding = still + options.padding
    ints = (
        dims[0] * dims[1], *lead, *sizes, *lead, *out, *lead, *options.kernel_size, *lead, *options.stride,
        *(before for before, _ in padding), *(after for _, after in padding), *lead, *dilation,
        int(getattr(options, "count_include_pad", False)),
    )  # fmt: skip
    return (*dims[:2], *out), ints


def max_pool(op, x, options, kind, axes):
    """The largest of each window."""
    shape, ints = window(op, x, options, kind, axes)
    if core.node_state(x):
        return _largest(x, shape, ints)[0]
    return _max.apply((x,), shape, x._dtype, ints)


def max_pool_with_indices(op, x, options, kind, axes):
    """The largest of each window, and its place in the plane; -1 for a window without a cell of the input."""
    values, places, wanted = _largest(x, *window(op, x, options, kind, axes))
    return values, positions(op, places, wanted, math.prod(x._dims[2:]))


def _largest(x, shape, ints):
    raw, wanted = index_dtypes(x, math.prod(x._dims[2:]))
    values = core.empty(shape, x._dtype, x._slot, x._ctx)
    places = core.empty(shape, raw.code, x._slot, x._ctx)
    _places.update((x,), (values, places), ints)
    _places.record((x,), values, (ints, core.alias(places, 0)))  # the caller may assign to its own
    return values, places, wanted


def _max_rule(node, g):
    ints, places = node.attrs
    return (_max_bwd.apply((g, places), node.shape(0), g._dtype, ints),)


def avg_pool(op, x, options, kind, axes):
    """The average of each window."""
    shape, ints = window(op, x, options, kind, axes)
    return _avg.apply((x,), shape, x._dtype, ints, (), ints)


def adaptive_avg_pool(op, x, output_size, axes):
    """The average of windows that cut the axes into `output_size` parts."""
    dims = planes(op, x, axes)
    wanted = (output_size,) if axes == 1 and not isinstance(output_size, list | tuple) else output_size
    if not isinstance(wanted, list | tuple) or len(wanted) != axes:
        raise ShapeError(f"[{op}] 'output_size' must be {axes} ints ({AXES[axes]}), got {output_size!r}")
    out = tuple(integer(op, "output_size", n, 1, 2**31 - 1) for n in wanted)
    lead = (1,) * (3 - axes)
    ints = (dims[0] * dims[1], *lead, *dims[2:], *lead, *out)
    return _adaptive.apply((x,), (*dims[:2], *out), x._dtype, ints, (), ints)


def _gradient(op, x, g, name, shape):
    check_same(op, x, check_tensor(op, g, name), name)
    if g._dims != shape:
        raise ShapeError(
            f"[{op}] '{name}' must have the shape of the output {list(shape)}, got {g.dims()} for 'x' {x.dims()}"
        )


def avg_pool2d_backward(x, grad, options, kind):
    """Gradient of x from that of its averages."""
    shape, ints = window("avg_pool2d_backward", x, options, kind, 2)
    _gradient("avg_pool2d_backward", x, grad, "grad", shape)
    return _avg_bwd.apply((grad,), x._dims, x._dtype, ints)


def max_pool2d_with_indices_backward(x, options, kind, grad, indices):
    """Gradient of x from that of its largest cells and their places."""
    op = "max_pool2d_with_indices_backward"
    shape, ints = window(op, x, options, kind, 2)
    _gradient(op, x, grad, "output_grad", shape)
    check_kind(op, check_tensor(op, indices, "indices"), INT, "indices")
    check_device(op, x, indices, "indices")
    if indices._dims != shape:
        raise ShapeError(f"[{op}] 'indices' must have the shape of the output {list(shape)}, got {indices.dims()}")
    named = (op, "height * width", 1, 0)  # for the error of a place outside the plane
    raw, _ = index_dtypes(x, math.prod(x._dims[2:]))
    return _max_bwd.apply((grad, ew.cast(indices, raw)), x._dims, x._dtype, ints, (), named)


def _same_window(op):
    return python_rule(lambda node, g: (op.apply((g,), node.shape(0), g._dtype, node.attrs),), ["shape"])


_places.rule = python_rule(_max_rule, ["shape"])
_avg.rule = _same_window(_avg_bwd)
_adaptive.rule = _same_window(_adaptive_bwd)
