"""Attention without the matrix of scores: its gradient computes the probabilities again.

For that the kernel leaves two numbers a query: its largest score, and one over the sum of the exponentials of what its scores
are below it, 0 where it sees nothing. The logarithm of that sum, added to a large score, would be lost.
"""

import math

from burn._core import core
from burn._ops import elementwise as ew
from burn._ops.movement import expand
from burn._ops.registry import FLOAT, check_device, check_kind, check_same, check_tensor, define
from burn._ops.rule import python_rule
from burn.errors import KindError, ShapeError
from burn.tensor.dtype import DType, Kind

# ints: causal, flags (1 mask, 2 bias); floats: scale, cap of the scores (0: none)
_attention = define("attention", "attention", kinds=FLOAT, n_in=5, n_out=2)
_attention_bwd = define("attention_bwd", "attention", kinds=FLOAT, n_in=8, n_out=4, cuts_graph=True)

MASK, BIAS = 1, 2


def _checked(name, x, query, rank=4):
    check_kind("attention", check_tensor("attention", x, name), FLOAT, name)
    if query is not None:
        check_same("attention", query, x, name)
    if x.ndim != rank:
        raise ShapeError(f"[attention] {name!r} must be [batch, heads, sequence, size], got shape {list(x._dims)}")
    return x._dims


def _over_scores(name, x, scores):
    """x with the shape of the scores, its axes of size 1 repeated."""
    dims = x._dims
    if len(dims) != 4 or any(n not in (1, want) for n, want in zip(dims, scores, strict=True)):
        raise ShapeError(
            f"[attention] {name!r} must have the shape of the scores, {list(scores)}, or 1 in place of a size, got {list(dims)}"
        )
    return x if dims == scores else expand(x, scores)


def attention(query, key, value, mask, bias, scale, softcap, causal):
    """softmax(query @ key^T * scale) @ value for each head; see `burn.tensor.module.attention`."""
    q = _checked("query", query, None)
    k, v = _checked("key", key, query), _checked("value", value, query)
    for name, axis, have, want in (("key", 0, k, q[0]), ("key", 3, k, q[3]), ("value", 0, v, q[0])):
        if have[axis] != want:
            raise ShapeError(
                f"[attention] {name!r} must have {want} on axis {axis} like 'query' of {list(q)}, got {list(have)}"
            )
    if v[1:3] != k[1:3]:
        raise ShapeError(f"[attention] 'value' must have the heads and the length of 'key' of {list(k)}, got {list(v)}")
    if k[1] != q[1] and (k[1] == 0 or q[1] % k[1]):
        raise ShapeError(
            f"[attention] 'key' must have as many heads as 'query', or a number that divides them, got {k[1]} and {q[1]}"
        )
    scores, ins, flags = (q[0], q[1], q[2], k[2]), [query, key, value], 0
    if mask is not None:
        check_device("attention", query, check_tensor("attention", mask, "mask"), "mask")
        if mask._kind != Kind.Bool.value:
            raise KindError(
                f"[attention] 'mask' must be of kind Bool, got {mask.dtype.name}; true removes a key; compare first"
            )
        ins.append(_over_scores("mask", ew.cast(mask, DType.Bool), scores))
        flags |= MASK
    if bias is not None:
        _checked("attn_bias", bias, query)
        ins.append(_over_scores("attn_bias", bias, scores))
        flags |= BIAS
    ins = tuple(ins)
    scale = 1.0 / math.sqrt(max(q[3], 1)) if scale is None else float(scale)
    ints, floats = (int(causal), flags), (scale, 0.0 if softcap in (None, math.inf) else float(softcap))
    wide = DType.F32.code if query.dtype in (DType.F16, DType.BF16) else query._dtype
    # Results lie as what they belong to does: heads that are views of one product are merged again without a copy.
    out = core.empty_along(query, (*q[:3], v[3]), max(t._ctx for t in ins))
    totals = core.empty((2, *q[:3]), wide, query._slot, 0)
    _attention.update(ins, (out, totals), ints, floats)
    _attention.record(ins, out, (ints, floats, totals))
    return out


def _attention_rule(node, g):
    ints, floats, totals = node.attrs
    ins = [node.saved(i) for i in range(node.count)]
    outs = [core.empty_along(x, x._dims, 0) for x in ins[:3]]
    at = 3 + bool(ints[1] & MASK)
    if ints[1] & BIAS and node.needs(at):
        outs.append(core.empty(ins[at]._dims, g._dtype, g._slot, 0))
    wants = sum(node.needs(i) << i for i in range(3))
    _attention_bwd.update((*ins, node.output, totals, g), outs, (*ints, wants), floats)
    grads = [outs[i] if wants >> i & 1 else None for i in range(3)]
    return (*grads, *[None] * (at - 3), *outs[3:], None)


_attention.rule = python_rule(_attention_rule, ["0 1 2 out"] * 5)
