"""Losses of rows with a class, and of sequences.

A sequence's loss is minus the logarithm of the probability of a target, summed over all its alignments. Forward keeps the sums
over paths that lead to each place; backward makes those that lead on from it, and the gradient with them. The gradient is that
of the function as it stands, whatever made its input.
"""

import functools
from contextlib import contextmanager

from burn._arguments import integer
from burn._core import core
from burn._ops.index import check_indices
from burn._ops.movement import contiguous
from burn._ops.registry import FLOAT, check_kind, check_tensor, define
from burn._ops.rule import python_rule
from burn._ops.softmax import log_softmax
from burn.errors import ArgumentError, OutOfBoundsError, ShapeError
from burn.tensor.dtype import DType

# ints: whether a class marks rows that count for nothing, that class; floats: smoothing. The third input is missing or weights.
_nll_loss = define("nll_loss", "loss", kinds=FLOAT, n_in=3, n_out=2)
_nll_loss_bwd = define("nll_loss_bwd", "loss", kinds=FLOAT, n_in=3, cuts_graph=True)
# The same of logits, with one more result: the logarithms of the sums of the rows' exponentials.
_cross_entropy = define("cross_entropy", "loss", kinds=FLOAT, n_in=3, n_out=3)
_cross_entropy_bwd = define("cross_entropy_bwd", "loss", kinds=FLOAT, n_in=5, cuts_graph=True)
# ints: power; floats: margin
_multi_margin_loss = define("multi_margin_loss", "loss", kinds=FLOAT, n_in=2)
_multi_margin_loss_bwd = define("multi_margin_loss_bwd", "loss", kinds=FLOAT, n_in=3, cuts_graph=True)
# ints: blank. The inputs beside the first are Int tensors; the tape keeps them, and what backward needs, as attributes.
_ctc_loss = define("ctc_loss", "loss", kinds=FLOAT, n_in=4, n_out=2)
_ctc_loss_bwd = define("ctc_loss_bwd", "loss", kinds=FLOAT, n_in=6, cuts_graph=True)
# ints: blank, whether the input holds logits
_rnnt_loss = define("rnnt_loss", "loss", kinds=FLOAT, n_in=4, n_out=2)
_rnnt_loss_bwd = define("rnnt_loss_bwd", "loss", kinds=FLOAT, n_in=6, cuts_graph=True)

# The lengths of a loss's inputs: their name, and the least they may be.
_STEPS = {_ctc_loss: ("input_lengths", 0), _rnnt_loss: ("logit_lengths", 1)}
_WHICH = 1 << 40  # a kernel adds this to the position once for each tensor before the one that is wrong


def _kept(x, tensors):
    """What the gradient by x asks for of tensors: their values of now, whatever is assigned to them later."""
    return tensors if x._node_id is None else tuple(core.alias(t, 0) for t in tensors)


def nll_loss(x, targets, weights, pads, smoothing, words):
    """(loss of each row, what it counts in a mean) of logarithms [batch, classes] and Int targets [batch].

    All rows count 1 where the counts are None. A layer has checked the inputs; `words` are those of `no_class`.
    """
    ins = (x, targets) if weights is None else (x, targets, weights)
    ints, floats = (1, pads[0]) if pads else (0, 0), (smoothing,)
    rows, attrs = targets._dims, (_kept(x, ins[1:]), x._dims, ints, floats)
    before = core.set_blame(words)
    try:
        if weights is None and not pads:
            return _nll_loss.apply(ins, rows, x._dtype, ints, floats, attrs), None
        losses, counts = (core.empty(rows, x._dtype, x._slot, ctx) for ctx in (x._ctx, 0))
        _nll_loss.update(ins, (losses, counts), ints, floats)
    finally:
        core.set_blame(before)
    _nll_loss.record(ins, losses, attrs)
    return losses, counts


def cross_entropy(x, targets, weights, pads, smoothing, words):
    """`nll_loss` of the logarithms of the softmax of logits, which are not stored where there is one kernel for both."""
    if not _cross_entropy.has_kernel(x._slot, x._dtype):
        return nll_loss(log_softmax(x, 1), targets, weights, pads, smoothing, words)
    ins = (x, targets) if weights is None else (x, targets, weights)
    ints, floats, rows = (1, pads[0]) if pads else (0, 0), (smoothing,), targets._dims
    losses = core.empty(rows, x._dtype, x._slot, x._ctx)
    sums = core.empty(rows, DType.F64.code, x._slot, 0)
    counts = None if weights is None and not pads else core.empty(rows, x._dtype, x._slot, 0)
    before = core.set_blame(words)
    try:
        _cross_entropy.update(ins, (losses, sums) if counts is None else (losses, sums, counts), ints, floats)
    finally:
        core.set_blame(before)
    _cross_entropy.record(ins, losses, (_kept(x, ins[1:]), sums, ints, floats))
    return losses, counts


def _cross_entropy_backward(node, g):
    x = node.saved(0)
    (targets, *weights), sums, ints, floats = node.attrs
    by_x = _cross_entropy_bwd.apply((x, targets, sums, contiguous(g), *weights), x._dims, x._dtype, ints, floats)
    return (by_x, None, None)[: 2 + len(weights)]


def _nll_backward(node, g):
    ins, dims, ints, floats = node.attrs
    return (_nll_loss_bwd.apply((g, *ins), dims, g._dtype, ints, floats), None, None)[: 1 + len(ins)]


def multi_margin_loss(x, target, margin, p, words):
    """The loss of each row of scores [batch, classes]; a layer has checked the inputs, `words` are those of `no_class`."""
    ints, floats = (p,), (margin,)
    before = core.set_blame(words)
    try:
        return _multi_margin_loss.apply(
            (x, target), target._dims, x._dtype, ints, floats, (_kept(x, (target,)), ints, floats)
        )
    finally:
        core.set_blame(before)


def _multi_margin_backward(node, g):
    (target,), ints, floats = node.attrs
    x = node.saved(0)
    return _multi_margin_loss_bwd.apply((x, target, g), x._dims, x._dtype, ints, floats), None


@functools.lru_cache(64)
def no_class(layer, argument, pads=()):
    """What makes the error of a target that is no class."""
    also = f" or a pad token of {[*pads]}" if pads else ""

    def words(_code, position, value, size):
        return OutOfBoundsError(
            f"[{layer}] {argument!r} must be classes from 0 to {size - 1}{also}, got {value} at position {position}"
        )

    return words


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank):
    """The loss of each sample; see `burn.tensor.module.ctc_loss`."""
    dims = _floats("ctc_loss", "log_probs", log_probs, "[steps, batch, classes]", 3)
    steps, batch, _ = dims
    blank = _blank("ctc_loss", blank, "log_probs", dims)
    ints = _ints("ctc_loss", log_probs, batch, None, targets, ("input_lengths", input_lengths), target_lengths)
    width = 2 * ints[0]._dims[1] + 1
    out = core.empty((batch,), log_probs._dtype, log_probs._slot, log_probs._ctx)
    kept = None
    if log_probs._node_id is not None:
        kept = core.empty((batch, steps, width), DType.F64.code, log_probs._slot, 0)
    _run(_ctc_loss, (log_probs, *ints), (out, kept), (blank,))
    return out


def rnnt_loss(logits, targets, logit_lengths, target_lengths, blank, from_logits):
    """The loss of each sample, of logits or of logarithms of probabilities [batch, steps, labels + 1, classes]."""
    dims = _floats("rnnt_loss", "logits", logits, "[batch, steps, labels + 1, classes]", 4)
    batch, steps, rows, _ = dims
    if rows == 0:
        raise ShapeError(
            f"[rnnt_loss] 'logits' must have a row for the end of the target on axis 2, got shape {list(dims)}"
        )
    if batch and steps == 0:
        raise ShapeError(f"[rnnt_loss] 'logits' must have at least one step on axis 1, got shape {list(dims)}")
    blank = _blank("rnnt_loss", blank, "logits", dims)
    ints = _ints("rnnt_loss", logits, batch, rows - 1, targets, ("logit_lengths", logit_lengths), target_lengths)
    out = core.empty((batch,), logits._dtype, logits._slot, logits._ctx)
    kept = core.empty((1 + from_logits, batch, steps, rows), DType.F64.code, logits._slot, 0)
    _run(_rnnt_loss, (logits, *ints), (out, kept), (blank, int(from_logits)))
    return out


def _floats(op, name, x, form, rank):
    check_kind(op, check_tensor(op, x, name), FLOAT, name)
    if x.ndim != rank:
        raise ShapeError(f"[{op}] {name!r} must be {form}, got shape {list(x._dims)}")
    return x._dims


def _blank(op, blank, name, dims):
    classes = dims[-1]
    blank = integer(op, "blank", blank)
    if classes == 0:
        raise ShapeError(f"[{op}] {name!r} must have at least one class on its last axis, got shape {list(dims)}")
    if not 0 <= blank < classes:
        raise ArgumentError(f"[{op}] 'blank' must be a class, in 0..{classes - 1}, got {blank}")
    return blank


def _ints(op, x, batch, width, targets, steps, counts):
    """Contiguous Int tensors [batch, width], [batch], [batch]; any width where it is None."""
    found = []
    for name, t, dims in (
        ("targets", targets, (batch, width)),
        (*steps, (batch,)),
        ("target_lengths", counts, (batch,)),
    ):
        t = check_indices(op, x, t, name)
        if t.ndim != len(dims) or any(n not in (want, None) for n, want in zip(dims, t._dims, strict=True)):
            wanted = ", ".join("any" if n is None else str(n) for n in dims)
            raise ShapeError(f"[{op}] {name!r} must have shape [{wanted}] for a batch of {batch}, got {list(t._dims)}")
        found.append(contiguous(t))
    return tuple(found)


def _run(op, ins, outs, ints):
    """Runs and records."""
    with _blaming(op, ins[1]):
        op.update(ins, tuple(t for t in outs if t is not None), ints)
    op.record(ins[:1], outs[0], (_kept(ins[0], ins[1:]), outs[1], ints))


@contextmanager
def _blaming(op, targets):
    """What a kernel of a loss finds out of range is named by its tensor and place."""
    width = targets._dims[1]

    def wrong(_code, position, value, size):
        which, at = divmod(position, _WHICH)
        if which == 0:
            return OutOfBoundsError(
                f"[{op.name}] 'targets' must be classes in 0..{size - 1}, got {value} at {list(divmod(at, width))}"
            )
        name, low = _STEPS[op] if which == 1 else ("target_lengths", 0)
        return OutOfBoundsError(f"[{op.name}] {name!r} must lie in {low}..{size}, got {value} at [{at}]")

    before = core.set_blame(wrong)
    try:
        yield
    finally:
        core.set_blame(before)


def _rule(op, bwd):
    def backward(node, g):
        ints, kept, numbers = node.attrs
        x = node.saved(0)
        with _blaming(op, ints[0]):
            return (bwd.apply((x, *ints, kept, g), x._dims, x._dtype, numbers),)

    return python_rule(backward, ["0"])


_ctc_loss.rule, _rnnt_loss.rule = _rule(_ctc_loss, _ctc_loss_bwd), _rule(_rnnt_loss, _rnnt_loss_bwd)
_nll_loss.rule = python_rule(_nll_backward, ["", "", ""])
_cross_entropy.rule = python_rule(_cross_entropy_backward, ["0", "", ""])
_multi_margin_loss.rule = python_rule(_multi_margin_backward, ["0", ""])
