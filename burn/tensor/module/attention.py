"""Attention."""

from typing import TYPE_CHECKING

from burn._arguments import instance
from burn._ops import attention as ops
from burn.tensor.ops import AttentionModuleOptions

if TYPE_CHECKING:
    from burn.tensor import Tensor

__all__ = ["attention"]


def attention(query, key, value, mask=None, attn_bias=None, options=None) -> "Tensor":
    """softmax(query @ key^T * scale) @ value for each head, without the matrix of scores. Mirrors `attention`.

    Scores are scaled, capped, masked, limited to keys up to the query's own position (causal; the last query sees all
    keys) and then biased. A query that sees no key gets zeros. Heads of keys serve as many heads of queries each as
    there are more of these. Half precision is computed in f32.

    Args:
        query: Float tensor [batch, heads, queries, d].
        key: [batch, key heads, keys, d]; the key heads divide the heads.
        value: [batch, key heads, keys, d_value].
        mask: Bool tensor [batch, heads, queries, keys], where true removes the key (PyTorch keeps it), or None. A size
            of 1 stretches.
        attn_bias: Float tensor of the same shape, added to the scores, or None.
        options: AttentionModuleOptions; None divides the scores by sqrt(d).

    Returns:
        Tensor [batch, heads, queries, d_value].

    Raises:
        ShapeError: sizes that do not fit.
        KindError: a mask that is not Bool.

    >>> from burn.tensor import Tensor
    >>> from burn.tensor.ops import AttentionModuleOptions
    >>> q, k = Tensor([[[[1.0, 0.0]]]]), Tensor([[[[1.0, 0.0], [1.0, 0.0]]]])
    >>> v = Tensor([[[[1.0], [3.0]]]])
    >>> attention(q, k, v).tolist(), attention(q, k, v, options=AttentionModuleOptions(scale=0.5)).tolist()
    ([[[[2.0]]]], [[[[2.0]]]])
    """
    if options is None:
        options = AttentionModuleOptions()
    options = instance("attention", "options", options, AttentionModuleOptions)
    return ops.attention(query, key, value, mask, attn_bias, options.scale, options.softcap, options.is_causal)
