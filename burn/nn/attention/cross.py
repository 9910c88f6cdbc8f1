"""Attention of a sequence to another one."""

import math

from burn._arguments import instance
from burn.config import Config
from burn.errors import ArgumentError, ShapeError
from burn.module import Module
from burn.tensor import Tensor

from .._checks import check_size
from ..cache import TensorCache
from ..dropout import Dropout, DropoutConfig
from ..initializer import Initializer
from ..linear import Linear, LinearConfig
from . import scores
from .mha import check_mask, check_positions


class CrossAttentionConfig(Config):
    """Configuration of `CrossAttention`. Mirrors `burn::nn::attention::CrossAttentionConfig`.

    Args:
        d_model: size of a query.
        d_context: size of an element of the context.
        n_heads: heads of queries.
        n_heads_kv: heads of keys and values; they divide the heads of queries.
        d_head: size of a head.
        dropout: probability that a weight becomes 0 in training.
        min_float: score of a key that is masked.
        quiet_softmax: whether the weights of a query may add up to less than 1.

    >>> config = CrossAttentionConfig(4, 6, 2, 1, 3).with_dropout(0.0).with_min_float(-1e9).with_quiet_softmax(True)
    >>> config.init().forward(Tensor.ones([1, 2, 4]), Tensor.ones([1, 5, 6])).dims()
    [1, 2, 4]
    """

    d_model: int
    d_context: int
    n_heads: int
    n_heads_kv: int
    d_head: int
    dropout: float = 0.1
    min_float: float = -1.0e4
    quiet_softmax: bool = False

    def init(self, device=None) -> "CrossAttention":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is no positive integer, heads of keys that do not divide those of queries, a
                dropout outside [0, 1], a min_float that is NaN or infinity.
        """
        names = ("d_model", "d_context", "n_heads", "n_heads_kv", "d_head")
        model, context, heads, kv, size = (check_size("CrossAttentionConfig", n, getattr(self, n)) for n in names)
        if heads % kv:
            raise ArgumentError(f"[CrossAttentionConfig] 'n_heads_kv' must divide 'n_heads', got {kv} and {heads}")
        rule = Initializer.KaimingUniform(1.0 / math.sqrt(size), False)

        def linear(rows, columns):
            return LinearConfig(rows, columns, initializer=rule).init(device)

        return CrossAttention(
            linear(model, heads * size),
            linear(context, kv * size),
            linear(context, kv * size),
            linear(heads * size, model),
            DropoutConfig(self.dropout).init(),
            heads,
            kv,
            scores.check_min_float("CrossAttentionConfig", self.min_float),
            self.quiet_softmax,
        )


class CrossAttentionCache:
    """Keys and values of a context that stays. Mirrors `CrossAttentionCache`. Fields: `k`, `v`, each a `TensorCache`.

    >>> CrossAttentionCache().k.value is None
    True
    """

    def __init__(self):
        self.k, self.v = TensorCache(), TensorCache()


class CrossAttention(Module):
    """Attention to a context, of which several heads of queries may share one of keys.

    Mirrors `burn::nn::attention::CrossAttention`. Masked scores are replaced by ``min_float``. Fields: `query`, `key`,
    `value`, `output`, `dropout`, `n_heads`, `n_heads_kv`, `min_float`, `quiet_softmax`.

    >>> layer, query, context = CrossAttentionConfig(4, 6, 2, 1, 3).init(), Tensor.ones([1, 2, 4]), Tensor.ones([1, 5, 6])
    >>> layer.forward(query, context).dims(), layer.forward_cache(query, context, None, CrossAttentionCache()).dims()
    ([1, 2, 4], [1, 2, 4])
    """

    query: Linear
    key: Linear
    value: Linear
    output: Linear
    dropout: Dropout
    n_heads: int
    n_heads_kv: int
    min_float: float
    quiet_softmax: bool

    def __init__(self, query, key, value, output, dropout, n_heads, n_heads_kv, min_float=-1.0e4, quiet_softmax=False):
        self.query = query
        self.key = key
        self.value = value
        self.output = output
        self.dropout = dropout
        self.n_heads = n_heads
        self.n_heads_kv = n_heads_kv
        self.min_float = min_float
        self.quiet_softmax = quiet_softmax

    def forward(self, query: Tensor, context: Tensor, mask: Tensor | None = None) -> Tensor:
        """Applies the layer.

        # Shapes

        - query: [batch, queries, d_model]
        - context: [batch, keys, d_context]
        - mask: Bool [batch, keys], true removes the key
        - output: [batch, queries, d_model]

        Raises:
            KindError: an input that is not Float, a mask that is not Bool.
            ShapeError: sizes that do not fit.
        """
        return self.forward_cache(query, context, mask, CrossAttentionCache())

    def forward_cache(self, query: Tensor, context: Tensor, mask: Tensor | None, cache: CrossAttentionCache) -> Tensor:
        """`forward` with the keys and values of the first call; of later contexts only the batch is looked at.

        Args:
            query: what looks.
            context: what is looked at.
            mask: Bool, true removes the key, or None.
            cache: what the first call fills.

        # Shapes

        - query: [batch, queries, d_model]
        - context: [batch, keys, d_context]
        - mask: Bool [batch, keys]
        - output: [batch, queries, d_model]

        Raises:
            KindError: an input that is not Float, a mask that is not Bool.
            ShapeError: sizes that do not fit.
        """
        check_positions("CrossAttention", query, "query", self.query.weight.val(), "d_model")
        check_positions("CrossAttention", context, "context", self.key.weight.val(), "d_context")
        if query._dims[0] != context._dims[0]:
            raise ShapeError(
                f"[CrossAttention] 'context' must have the batch of 'query', got shapes {context.dims()} and {query.dims()}"
            )
        instance("CrossAttention", "cache", cache, CrossAttentionCache, "use CrossAttentionCache()")
        keys = context._dims[1] if cache.k.value is None else cache.k.value._dims[2]
        check_mask("CrossAttention", "mask", mask, (query._dims[0], keys), query)
        k = cache.k.forward_full(context, lambda x: scores.split_heads(self.key(x), self.n_heads_kv))
        v = cache.v.forward_full(context, lambda x: scores.split_heads(self.value(x), self.n_heads_kv))
        q = scores.split_heads(self.query(query), self.n_heads)
        how = (1.0 / math.sqrt(q._dims[3]), self.min_float, self.quiet_softmax, self.dropout)
        return self.output(scores.merge_heads(scores.attend(q, k, v, scores.join_masks(mask, None), *how)[0]))
