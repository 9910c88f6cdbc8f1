"""Planes resampled to another size, and pictures read at the points of a grid.

The kernels see [planes, height, width]; a line is a plane of height 1.
"""

import math

from burn._arguments import instance
from burn._ops.pool import planes
from burn._ops.registry import FLOAT, check_kind, check_same, check_tensor, define
from burn._ops.rule import python_rule
from burn.errors import ArgumentError, ShapeError

RESIZE = ("planes", "h", "w", "oh", "ow", "mode", "align_corners")
SAMPLE = ("n", "c", "h", "w", "oh", "ow", "mode", "padding_mode", "align_corners")

_interpolate = define("interpolate", "interpolate", kinds=FLOAT, attrs=RESIZE)
_interpolate_bwd = define("interpolate_bwd", "interpolate", kinds=FLOAT, attrs=RESIZE, cuts_graph=True)
_sample = define("grid_sample_2d", "interpolate", kinds=FLOAT, n_in=2, attrs=SAMPLE)
_sample_x_bwd = define("grid_sample_2d_x_bwd", "interpolate", kinds=FLOAT, n_in=2, attrs=SAMPLE, cuts_graph=True)
_sample_grid_bwd = define("grid_sample_2d_grid_bwd", "interpolate", kinds=FLOAT, n_in=3, attrs=SAMPLE, cuts_graph=True)

MODES = {"Nearest": 0, "NearestExact": 1, "Bilinear": 2, "Bicubic": 3, "Lanczos3": 4}
SAMPLE_MODES = {"Nearest": 0, "Bilinear": 1, "Bicubic": 2}
PADDING_MODES = {"Zeros": 0, "Border": 1, "Reflection": 2}


def _output_size(op, sizes, options):
    """The size that the options ask for; from factors it is rounded down, in double precision."""
    size, factors = options.output_size, options.scale_factor
    if (size is None) == (factors is None):
        found = "neither" if size is None else f"{list(size)} and {list(factors)}"
        raise ArgumentError(
            f"[{op}] 'options' must set either 'output_size' or 'scale_factor', got {found}; use with_output_size() or "
            "with_scale_factor()"
        )
    given, name = (factors, "scale_factor") if size is None else (size, "output_size")
    if len(given) != len(sizes):
        raise ShapeError(f"[{op}] {name!r} must hold {len(sizes)} numbers, got {list(given)}")
    if size is None:
        size = tuple(math.floor(n * factor) for n, factor in zip(sizes, factors, strict=True))
    if math.prod(size) >= 1 << 62:
        raise ArgumentError(f"[{op}] {name!r} must be smaller, got {list(given)} for an input of size {list(sizes)}")
    return tuple(size)


def interpolate(op, x, options, kind, axes=2):
    """x [batch, channels, height, width] in another size; one axis less where axes is 1. Unchanged sizes give x itself."""
    dims = planes(op, x, axes)
    instance(op, "options", options, kind, f"use {kind.__name__}(InterpolateMode.Bilinear)")
    sizes = dims[2:]
    out = _output_size(op, sizes, options)
    if out == sizes:
        return x
    lead = (1,) * (2 - axes)
    ints = (dims[0] * dims[1], *lead, *sizes, *lead, *out, MODES[options.mode.name], int(options.align_corners))
    return _interpolate.apply((x,), (*dims[:2], *out), x._dtype, ints, (), ints)


def grid_sample_2d(x, grid, options, kind):
    """x [n, c, h, w] at the points of grid [n, oh, ow, 2]."""
    op = "grid_sample_2d"
    dims = planes(op, x, 2, "self")
    check_kind(op, check_tensor(op, grid, "grid"), FLOAT, "grid")
    check_same(op, x, grid, "grid")
    if grid.ndim != 4 or grid._dims[3] != 2 or grid._dims[0] != dims[0]:
        raise ShapeError(
            f"[{op}] 'grid' must be [batch, height, width, 2] with the batch of 'self' {x.dims()}, got shape {grid.dims()}"
        )
    instance(op, "options", options, kind, f"use {kind.__name__}()")
    if options.mode.name not in SAMPLE_MODES:
        raise ArgumentError(f"[{op}] 'mode' must be Nearest, Bilinear or Bicubic, got {options.mode.name}")
    _, oh, ow, _ = grid._dims
    ints = (*dims, oh, ow, SAMPLE_MODES[options.mode.name], PADDING_MODES[options.padding_mode.name])
    ints = (*ints, int(options.align_corners))
    return _sample.apply((x, grid), (*dims[:2], oh, ow), x._dtype, ints, (), ints)


def _sample_rule(node, g):
    ints = node.attrs
    dx = dgrid = None
    if node.needs(0):
        dx = _sample_x_bwd.apply((node.saved(1), g), ints[:4], g._dtype, ints)
    if node.needs(1):
        x, grid = node.saved(0), node.saved(1)
        dgrid = _sample_grid_bwd.apply((x, grid, g), grid._dims, g._dtype, ints)
    return dx, dgrid


_interpolate.rule = python_rule(
    lambda node, g: (_interpolate_bwd.apply((g,), node.shape(0), g._dtype, node.attrs),), ["shape"]
)
_sample.rule = python_rule(_sample_rule, ["1", "0 1"])
