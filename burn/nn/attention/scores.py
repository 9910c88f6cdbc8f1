"""Attention of heads, with the matrix of weights and without it."""

import math

from burn.errors import ArgumentError
from burn.nn.dropout import Dropout
from burn.tensor import Tensor, activation
from burn.tensor import module as functional
from burn.tensor.ops import AttentionModuleOptions

# At this or below, a masked score weighs nothing beside one that is not masked.
LOW = -1.0e4


def check_min_float(config: str, value: float) -> float:
    """The score of a masked key, which must be a number that others can be above; minus infinity is the lowest one."""
    if not value < math.inf:
        raise ArgumentError(f"[{config}] 'min_float' must be a number below infinity, got {value}")
    return value


def split_heads(x: Tensor, heads: int) -> Tensor:
    """[batch, positions, heads * size] as [batch, heads, positions, size]."""
    batch, length, size = x._dims
    return x.reshape([batch, length, heads, size // heads]).swap_dims(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """[batch, heads, positions, size] as [batch, positions, heads * size]."""
    batch, heads, length, size = x._dims
    return x.swap_dims(1, 2).reshape([batch, length, heads * size])


def join_masks(pad: Tensor | None, attn: Tensor | None) -> Tensor | None:
    """The mask [batch, 1, 1 or queries, keys] of keys [batch, keys] and of pairs [batch, queries, keys]."""
    wide = [m.unsqueeze_dims(axes) for m, axes in ((pad, [1, 2]), (attn, [1])) if m is not None]
    if len(wide) == 2:
        return wide[0].bool_or(wide[1])
    return wide[0] if wide else None


def weights(q, k, mask, scale: float, min_float: float, quiet: bool, dropout: Dropout) -> Tensor:
    """[batch, heads, queries, keys]: how much each query takes of each key."""
    q, k = q * scale, _repeated(k, q._dims[1])
    scores = q.matmul(k.swap_dims(2, 3))
    if mask is not None:
        # -inf, which it may be in a narrow dtype, would make a row that is all masked NaN.
        scores = scores.mask_fill(mask.expand(scores.dims()), max(min_float, q.dtype.finfo()[2]))
    soft = activation.quiet_softmax(scores, 3) if quiet else activation.softmax(scores, 3)
    return dropout(soft)


def attend(
    q, k, v, mask, scale: float, min_float: float, quiet: bool, dropout: Dropout, last: int | None = None
) -> tuple[Tensor, Tensor | None]:
    """([batch, heads, queries, size], of the query `last` alone where it is given; the weights where they had to be computed).

    Without dropout and with the usual softmax there is no matrix of weights. A query whose keys are all masked takes
    the mean of all values then too: as a query of zeros that sees everything.
    """
    drops = dropout.training.is_enabled() and dropout.prob > 0.0 and q.is_autodiff()
    if quiet or drops or min_float > LOW:
        found = weights(q, k, mask, scale, min_float, quiet, dropout)
        asked = found if last is None else found.narrow(2, last, 1)
        return asked.matmul(_repeated(v, q._dims[1])), found
    if last is not None:
        q = q.narrow(2, last, 1)
        mask = mask if mask is None or mask._dims[2] == 1 else mask.narrow(2, last, 1)
    if mask is not None:
        blind = mask.all_dim(3)
        q, mask = q.mask_fill(blind.expand([*q.dims()[:3], 1]), 0.0), mask.bool_and(blind.bool_not())
    return functional.attention(q, k, v, mask, None, AttentionModuleOptions(scale=scale)), None


def _repeated(x: Tensor, heads: int) -> Tensor:
    """Heads of keys or values, each as often as queries share it."""
    batch, own, length, size = x._dims
    if own == heads:
        return x
    wide = x.unsqueeze_dim(2).expand([batch, own, heads // own, length, size])
    return wide.reshape([batch, heads, length, size])
