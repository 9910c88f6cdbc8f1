"""Normalisation: rows and groups of channels by their own statistics, batches by those of their channels.

Kernels take parameters and statistics in the dtype that they compute in, which is f32 for half precision; casts on the tape
lead there. The kernel of groups sees rows of [channels, spatial], which lie in `groups` in turn: a layer's row is one group
of channels of one element each.
"""

import math
from typing import NamedTuple

from burn._arguments import finite, integer
from burn._core import core
from burn._ops import elementwise as ew
from burn._ops.movement import contiguous, expand, permute, reshape, zeros
from burn._ops.registry import FLOAT, check_kind, check_same, check_tensor, define
from burn._ops.rule import python_rule
from burn.errors import ArgumentError, ShapeError
from burn.tensor.dtype import DType

_group_norm = define("group_norm", "norm", kinds=FLOAT, n_in=3, n_out=3)
_layer_norm = define("layer_norm", "norm", kernel="group_norm", kinds=FLOAT, n_in=3, n_out=3)
_rms_norm = define("rms_norm", "norm", kernel="group_norm", kinds=FLOAT, n_in=2, n_out=3)
_group_norm_bwd = define("group_norm_bwd", "norm", kinds=FLOAT, n_in=5, n_out=3, cuts_graph=True)
_batch_norm = define("batch_norm", "norm", kinds=FLOAT, n_in=5)
_batch_norm_train = define("batch_norm_train", "norm", kinds=FLOAT, n_in=3, n_out=3)
_batch_norm_bwd = define("batch_norm_bwd", "norm", kinds=FLOAT, n_in=5, n_out=3, cuts_graph=True)
_local_response_norm = define("local_response_norm", "norm", kinds=FLOAT)
_local_response_norm_bwd = define("local_response_norm_bwd", "norm", kinds=FLOAT, n_in=2, cuts_graph=True)
# floats: what is added to differences
_l2_norm = define("l2_norm", "norm", kinds=FLOAT)
_l2_distance = define("l2_distance", "norm", kernel="l2_norm", kinds=FLOAT, n_in=2)
_l2_norm_bwd = define("l2_norm_bwd", "norm", kinds=FLOAT, n_in=4, cuts_graph=True)
_cosine_similarity = define("cosine_similarity", "norm", kinds=FLOAT, n_in=2)
_cosine_similarity_bwd = define("cosine_similarity_bwd", "norm", kinds=FLOAT, n_in=3, cuts_graph=True)


class BatchNormTrainOutput(NamedTuple):
    """What `batch_norm_train` returns. Mirrors `BatchNormTrainOutput`.

    Fields: `output` in the shape of the input; `mean` and (biased) `variance` of the batch, [channels], untracked.

    >>> one = Tensor([1.0])
    >>> burn.tensor.module.batch_norm_train(Tensor([[2.0], [6.0]]), one, one, 0.0).mean.tolist()
    [4.0]
    """

    output: object
    mean: object
    variance: object


def _wide(x):
    """The dtype that a kernel for the dtype of x computes in."""
    return DType.F32 if x.dtype in (DType.F16, DType.BF16) else x.dtype


def _epsilon(op, value):
    """A finite float that is not negative."""
    if finite(op, "epsilon", value) < 0:
        raise ArgumentError(f"[{op}] 'epsilon' must not be negative, got {value}")
    return float(value)


def _input(op, x, rank):
    check_kind(op, check_tensor(op, x, "input"), FLOAT, "input")
    if x.ndim < rank:
        raise ShapeError(f"[{op}] 'input' must have at least {rank} axes, got shape {list(x._dims)}; use unsqueeze()")
    return x


def _vector(op, x, value, name, axis):
    """A parameter as long as an axis of x, in the dtype that kernels compute in."""
    check_same(op, x, check_tensor(op, value, name), name)
    n = x._dims[axis]
    if value._dims != (n,):
        raise ShapeError(
            f"[{op}] {name!r} must have shape [{n}] like axis {axis % x.ndim} of the input of shape {list(x._dims)}, "
            f"got {list(value._dims)}"
        )
    return ew.cast(value, _wide(x))


def _by_rows(op, ins, rows, ints, epsilon):
    """Runs the kernel of groups; the tape keeps the statistics of the rows."""
    x = ins[0]
    out = core.empty(x._dims, x._dtype, x._slot, max(t._ctx for t in ins))
    mean, scale = (core.empty((rows,), _wide(x).code, x._slot, 0) for _ in range(2))
    op.update(ins, (out, mean, scale), ints, (epsilon,))
    op.record(ins, out, (ints, mean, scale))
    return out


def layer_norm(x, gamma, beta, epsilon):
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta over the last axis."""
    _input("layer_norm", x, 1)
    epsilon = _epsilon("layer_norm", epsilon)
    n = x._dims[-1]
    ins = (x, _vector("layer_norm", x, gamma, "gamma", -1))
    if beta is not None:
        ins += (_vector("layer_norm", x, beta, "beta", -1),)
    rows = math.prod(x._dims[:-1])
    return _by_rows(_layer_norm, ins, rows, (rows, 1, n, 1, 1), epsilon)


def rms_norm(x, gamma, epsilon):
    """x / sqrt(mean(x * x) + epsilon) * gamma over the last axis."""
    _input("rms_norm", x, 1)
    epsilon = _epsilon("rms_norm", epsilon)
    rows = math.prod(x._dims[:-1])
    ins = (x, _vector("rms_norm", x, gamma, "gamma", -1))
    return _by_rows(_rms_norm, ins, rows, (rows, 1, x._dims[-1], 1, 0), epsilon)


def group_norm(x, groups, gamma, beta, epsilon):
    """(x - mean) / sqrt(variance + epsilon), each by its group of channels, * gamma + beta by channel where they are given."""
    _input("group_norm", x, 2)
    epsilon = _epsilon("group_norm", epsilon)
    channels = x._dims[1]
    if integer("group_norm", "groups", groups, 1) and channels % groups:
        raise ShapeError(
            f"[group_norm] 'groups' must divide the {channels} channels of the input of shape {list(x._dims)}, got {groups}"
        )
    if (gamma is None) != (beta is None):
        raise ArgumentError(
            "[group_norm] 'gamma' and 'beta' must be given together, got one of them; pass both or None"
        )
    vectors = () if gamma is None else ((gamma, "gamma"), (beta, "beta"))
    ins = (x, *(_vector("group_norm", x, v, name, 1) for v, name in vectors))
    rows = x._dims[0] * groups
    return _by_rows(_group_norm, ins, rows, (rows, groups, channels // groups, math.prod(x._dims[2:]), 1), epsilon)


def _nothing(*inputs):
    """The gradients of what no element depends on."""
    found = [zeros(t._dims, t._dtype, t._slot) for t in inputs]
    return (*found, None, None)


def _rows_bwd(node, g):
    x, (ints, mean, scale) = node.saved(0), node.attrs
    gamma = (node.saved(1),) if node.count > 1 else ()
    if not x._size:
        return _nothing(x, *gamma * 2)
    outs = [core.empty(x._dims, x._dtype, x._slot, 0)]
    if any(node.needs(i) for i in range(1, node.count)):
        outs += [core.empty(gamma[0]._dims, mean._dtype, x._slot, 0) for _ in range(2)]
    _group_norm_bwd.update((x, g, mean, scale, *gamma), outs, ints)
    return (*outs, None, None)[:3]


def _batch(op, x):
    """(outer, channels, inner) of a batch."""
    return x._dims[0], x._dims[1], math.prod(x._dims[2:])


def batch_norm(x, gamma, beta, mean, variance, epsilon):
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta by channel, which is axis 1, with given statistics."""
    op = "batch_norm"
    _input(op, x, 2)
    epsilon = _epsilon(op, epsilon)
    given = ((gamma, "gamma"), (beta, "beta"), (mean, "mean"), (variance, "variance"))
    ins = (x, *(_vector(op, x, value, name, 1) for value, name in given))
    ints = _batch(op, x)
    kept = (ints, epsilon, core.cut(ins[3], 0), core.cut(ins[4], 0))
    return _batch_norm.apply(ins, x._dims, x._dtype, ints, (epsilon,), kept)


def batch_norm_train(x, gamma, beta, epsilon):
    """The same with the mean and biased variance of the batch, which are results too; the gradient flows through them."""
    op = "batch_norm_train"
    _input(op, x, 2)
    epsilon = _epsilon(op, epsilon)
    ins = (x, _vector(op, x, gamma, "gamma", 1), _vector(op, x, beta, "beta", 1))
    ints, wide = _batch(op, x), _wide(x)
    ctx = max(t._ctx for t in ins)
    out = core.empty(x._dims, x._dtype, x._slot, ctx)
    mean, variance = (core.empty((ints[1],), wide.code, x._slot, 0) for _ in range(2))
    if x._size:
        _batch_norm_train.update(ins, (out, mean, variance), ints, (epsilon,))
    else:
        mean = variance = core.make_scalar(wide.code, x._slot, 0, math.nan, 0).expand([ints[1]])
    _batch_norm_train.record(ins, out, (ints, epsilon, mean, variance))
    return BatchNormTrainOutput(out, *(core.alias(ew.cast(v, x.dtype), ctx) for v in (mean, variance)))


def _batch_bwd(train):
    def rule(node, g):
        x, gamma, (ints, epsilon, mean, variance) = node.saved(0), node.saved(1), node.attrs
        if not x._size:
            return _nothing(x, *[gamma] * 4)
        outs = [core.empty(x._dims, x._dtype, x._slot, 0)]
        outs += [core.empty(gamma._dims, gamma._dtype, x._slot, 0) for _ in range(2)]
        _batch_norm_bwd.update((x, g, mean, variance, gamma), outs, (*ints, train), (epsilon,))
        if train or not (node.needs(3) or node.needs(4)):
            return (*outs, None, None)
        # y depends on mean as on -beta * gamma / deviation, on variance as on gamma to the power -1/2.
        spread = variance + epsilon
        return (*outs, -outs[2] * gamma / spread.sqrt(), outs[1] * gamma / spread * -0.5)

    return rule


def local_response_norm(x, size, alpha, beta, k):
    """x / (k + alpha * mean square of `size` channels around)^beta; an even size reaches one channel further up."""
    op = "local_response_norm"
    _input(op, x, 3)
    ints = (*_batch(op, x), integer(op, "size", size, 1))
    floats = tuple(finite(op, name, v) for name, v in (("alpha", alpha), ("beta", beta), ("k", k)))
    return _local_response_norm.apply((x,), x._dims, x._dtype, ints, floats, (ints, floats))


def _local_response_bwd(node, g):
    return (_local_response_norm_bwd.apply((node.saved(0), g), g._dims, g._dtype, *node.attrs),)


# The kernels compute all gradients of parameters at once, and need all of this for any.
_group_norm.rule = _layer_norm.rule = _rms_norm.rule = python_rule(_rows_bwd, ["0 1"] * 3)
_batch_norm.rule = python_rule(_batch_bwd(0), ["0 1"] * 5)
_batch_norm_train.rule = python_rule(_batch_bwd(1), ["0 1"] * 3)
_local_response_norm.rule = python_rule(_local_response_bwd, ["0"])


def _rows(x, axes):
    """[rows, n] of the elements along some axes."""
    rest = [axis for axis in range(x.ndim) if axis not in axes]
    n = math.prod(x._dims[axis] for axis in axes)
    if rest != list(range(len(rest))):
        x = permute(x, [*rest, *axes])
    return contiguous(reshape(x, (math.prod(x._dims[: len(rest)]), n)))


def l2_norm(x, axes):
    """Roots of the sums of squares along axes, which are kept with size 1; a norm of 0 has the gradient 0."""
    kept = tuple(1 if axis in axes else n for axis, n in enumerate(x._dims))
    x = _rows(x, axes)
    return reshape(_l2_norm.apply((x,), (x._dims[0], 1), x._dtype, x._dims, (0.0,)), kept)


def l2_distance(x, y, shift):
    """Norms of the rows of x - y + shift for x and y of one shape [rows, n], as [rows, 1]; one of 0 has the gradient 0."""
    return _l2_distance.apply((x, y), (x._dims[0], 1), x._dtype, x._dims, (shift,), shift)


def _l2_norm_slopes(node, g):
    x = node.saved(0)
    return (_l2_norm_bwd.apply((x, contiguous(g), node.output), x._dims, x._dtype, x._dims, (0.0,)),)


def _l2_distance_slopes(node, g):
    x = node.saved(0)
    by_x = _l2_norm_bwd.apply((x, contiguous(g), node.output, node.saved(1)), x._dims, x._dtype, x._dims, (node.attrs,))
    return by_x if node.needs(0) else None, ew.neg(by_x) if node.needs(1) else None


def cosine_similarity(x, y, axis, low, zeros):
    """Cosines between vectors along an axis, kept with size 1; zeros: a norm of 0 makes the cosine and its gradient 0."""
    shape = tuple(n if m == 1 else m for m, n in zip(x._dims, y._dims, strict=True))
    kept = tuple(1 if at == axis else n for at, n in enumerate(shape))
    x, y = (_rows(v if v._dims == shape else expand(v, shape), [axis]) for v in (x, y))
    numbers = x._dims, (low, float(zeros))
    return reshape(_cosine_similarity.apply((x, y), (x._dims[0], 1), x._dtype, *numbers, numbers), kept)


def _cosine_similarity_slopes(node, g):
    x, y = node.saved(0), node.saved(1)
    g = contiguous(g)
    by_x = _cosine_similarity_bwd.apply((x, y, g), x._dims, x._dtype, *node.attrs) if node.needs(0) else None
    by_y = _cosine_similarity_bwd.apply((y, x, g), x._dims, x._dtype, *node.attrs) if node.needs(1) else None
    return by_x, by_y


_l2_norm.rule = python_rule(_l2_norm_slopes, ["0 out"])
_l2_distance.rule = python_rule(_l2_distance_slopes, ["0 1 out", "0 1 out"])
_cosine_similarity.rule = python_rule(_cosine_similarity_slopes, ["0 1", "0 1"])
