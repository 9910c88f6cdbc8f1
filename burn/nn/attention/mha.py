"""Attention of several heads."""

import dataclasses
import math
from collections.abc import Callable

from burn._arguments import instance
from burn._ops.registry import check_device, check_same
from burn.config import Config
from burn.errors import ArgumentError, KindError, ShapeError
from burn.module import ONE_LINE, Module
from burn.tensor import Bool, Tensor

from .._checks import check_float, check_size, check_tensor
from ..cache import TensorCache
from ..dropout import Dropout, DropoutConfig
from ..initializer import Initializer
from ..linear import Linear, LinearConfig
from . import scores


class MultiHeadAttentionConfig(Config):
    """Configuration of `MultiHeadAttention`. Mirrors `burn::nn::attention::MultiHeadAttentionConfig`.

    Args:
        d_model: size of a position.
        n_heads: heads; they divide the size.
        dropout: probability that a weight becomes 0 in training.
        min_float: score of a key that is masked.
        quiet_softmax: whether the weights of a query may add up to less than 1.
        initializer: how the weights are drawn.
        key_bias, value_bias, query_bias, output_bias: whether the linear layers have a bias.

    >>> from burn.device import Device
    >>> MultiHeadAttentionConfig(4, 2).init(Device.flex())
    MultiHeadAttention {d_model: 4, n_heads: 2, d_k: 2, dropout: 0.1, min_float: -10000, quiet_softmax: false, params: 80}
    """

    d_model: int
    n_heads: int
    dropout: float = 0.1
    min_float: float = -1.0e4
    quiet_softmax: bool = False
    initializer: Initializer = Initializer.KaimingUniform(1.0 / math.sqrt(3.0), False)
    key_bias: bool = True
    value_bias: bool = True
    query_bias: bool = True
    output_bias: bool = True

    def init(self, device=None) -> "MultiHeadAttention":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is no positive integer, heads that do not divide the size, a dropout outside
                [0, 1], a min_float that is NaN or infinity.
        """
        size = check_size("MultiHeadAttentionConfig", "d_model", self.d_model)
        heads = check_size("MultiHeadAttentionConfig", "n_heads", self.n_heads)
        if size % heads:
            raise ArgumentError(
                f"[MultiHeadAttentionConfig] 'n_heads' must divide 'd_model', got {heads} heads of {size} features"
            )

        def linear(bias):
            return LinearConfig(size, size, bias, self.initializer).init(device)

        return MultiHeadAttention(
            linear(self.query_bias),
            linear(self.key_bias),
            linear(self.value_bias),
            linear(self.output_bias),
            DropoutConfig(self.dropout).init(),
            heads,
            scores.check_min_float("MultiHeadAttentionConfig", self.min_float),
            self.quiet_softmax,
        )


@dataclasses.dataclass(frozen=True)
class MhaInput:
    """What `MultiHeadAttention` takes. Mirrors `MhaInput`.

    Args:
        query: [batch, queries, d_model].
        key, value: [batch, keys, d_model].
        pad: Bool [batch, keys], true removes the key, or None; `mask_pad` sets it.
        attn: Bool [batch, queries, keys], true removes the pair, or None; `mask_attn` sets it.

    >>> x, mask = Tensor.ones([1, 3, 4]), Tensor([[False, False, True]])
    >>> given = MhaInput.self_attn(x).mask_pad(mask).mask_attn(mask.unsqueeze_dim(1).expand([1, 3, 3]))
    >>> given.pad.dims(), given.attn.dims()
    ([1, 3], [1, 3, 3])
    """

    query: Tensor
    key: Tensor
    value: Tensor
    pad: Tensor | None = None
    attn: Tensor | None = None

    @classmethod
    def self_attn(cls, tensor: Tensor) -> "MhaInput":
        """Attention of a sequence to itself.

        Args:
            tensor: [batch, positions, d_model].
        """
        return cls(tensor, tensor, tensor)

    def mask_pad(self, mask: Tensor) -> "MhaInput":
        """The same with a mask [batch, keys] of keys.

        Args:
            mask: Bool, true removes.
        """
        return dataclasses.replace(self, pad=mask)

    def mask_attn(self, mask: Tensor) -> "MhaInput":
        """The same with a mask [batch, queries, keys] of pairs.

        Args:
            mask: Bool, true removes.
        """
        return dataclasses.replace(self, attn=mask)


class MhaOutput:
    """What `MultiHeadAttention` gives. Mirrors `MhaOutput`.

    Fields: `weights` [batch, n_heads, queries, keys], computed when they are first asked for where the layer did not
    need them; `context` [batch, queries, d_model].

    >>> output = MultiHeadAttentionConfig(4, 2).init().forward(MhaInput.self_attn(Tensor.ones([1, 3, 4])))
    >>> output.weights.dims(), output.context.dims()
    ([1, 2, 3, 3], [1, 3, 4])
    """

    def __init__(self, weights: Tensor | Callable[[], Tensor], context: Tensor):
        self._weights = weights
        self.context = context

    @property
    def weights(self) -> Tensor:
        """How much each query takes of each key, after dropout."""
        if not isinstance(self._weights, Tensor):
            self._weights = self._weights()
        return self._weights


class MhaCache:
    """What `MultiHeadAttention.forward_cache` keeps. Mirrors `MhaCache`.

    Fields: `query`, `key`, `value`, `output`, each a `TensorCache`; `fixed`, whether keys and values are computed once.

    >>> MhaCache.autoregressive().fixed, MhaCache.autoregressive_cross_attention().fixed
    (False, True)
    """

    def __init__(self, fixed: bool):
        self.query, self.key, self.value, self.output = (TensorCache() for _ in range(4))
        self.fixed = fixed

    @classmethod
    def autoregressive(cls) -> "MhaCache":
        """For attention of a growing sequence to itself."""
        return cls(False)

    @classmethod
    def autoregressive_cross_attention(cls) -> "MhaCache":
        """For attention of a growing sequence to one that stays as it is at the first call."""
        return cls(True)

    def _check(self, input: "MhaInput") -> None:
        """Raises unless an input fits what is cached: before a part of it is changed."""
        growing = (self.query, input.query), *(() if self.fixed else ((self.key, input.key), (self.value, input.value)))
        for part, x in growing:
            part._check(x, 2)
        if self.fixed:
            self._check_fixed("MultiHeadAttention", "key", input.key)

    def _check_fixed(self, layer: str, name: str, x: Tensor) -> None:
        """Raises unless a sequence has as many positions as the one whose keys are cached."""
        known = self.key.value
        if known is not None and x._dims[1] != known._dims[2]:
            raise ShapeError(
                f"[{layer}] {name!r} must have the {known._dims[2]} positions of the first call, which are cached, got shape "
                f"{x.dims()}"
            )


class MultiHeadAttention(Module):
    """Attention of ``n_heads`` heads between linear layers. Mirrors `burn::nn::attention::MultiHeadAttention`.

    Masked scores are replaced by ``min_float``: a query whose keys are all masked takes the mean of all values. The
    weights exist as a matrix only for dropout in training, for quiet softmax, for a ``min_float`` above -1e4, and when
    the output is asked for them. Fields: `query`, `key`, `value`, `output`, layers of d_model to d_model; `dropout`,
    `n_heads`, `min_float`, `quiet_softmax`.

    >>> layer, given, cache = MultiHeadAttentionConfig(4, 2).init(), MhaInput.self_attn(Tensor.ones([1, 1, 4])), MhaCache(False)
    >>> layer.forward(given).context.dims(), layer.forward_cache(given, cache).context.dims()
    ([1, 1, 4], [1, 1, 4])
    """

    query: Linear
    key: Linear
    value: Linear
    output: Linear
    dropout: Dropout
    n_heads: int
    min_float: float
    quiet_softmax: bool

    def __init__(self, query, key, value, output, dropout, n_heads, min_float=-1.0e4, quiet_softmax=False):
        self.query = query
        self.key = key
        self.value = value
        self.output = output
        self.dropout = dropout
        self.n_heads = n_heads
        self.min_float = min_float
        self.quiet_softmax = quiet_softmax

    def forward(self, input: MhaInput) -> MhaOutput:
        """Applies the layer.

        Args:
            input: an MhaInput.

        # Shapes

        - query: [batch, queries, d_model]
        - key, value: [batch, keys, d_model]
        - weights: [batch, n_heads, queries, keys]
        - context: [batch, queries, d_model]

        Raises:
            KindError: an input that is not Float, a mask that is not Bool.
            ShapeError: sizes that do not fit.
        """
        self._check(input)
        q, k, v = (
            scores.split_heads(layer(x), self.n_heads)
            for layer, x in ((self.query, input.query), (self.key, input.key), (self.value, input.value))
        )
        weights, context = self._attend(input, q, k, v)
        return MhaOutput(weights, self.output(scores.merge_heads(context)))

    def forward_cache(self, input: MhaInput, cache: MhaCache) -> MhaOutput:
        """`forward` of a sequence that grows by one position a call; what is known is not computed again.

        The caller passes the whole sequence. Each position sees what was there when it came.

        Args:
            input: an MhaInput.
            cache: what the calls before left.

        # Shapes

        - query: [batch, queries, d_model], one more than at the last call
        - key, value: [batch, keys, d_model], one more too; those of the first call where the cache is for cross attention
        - weights: [batch, n_heads, queries, keys]
        - context: [batch, queries, d_model]

        Raises:
            ShapeError: sizes that do not fit, or that are not one position more than at the last call.
        """
        self._check(input)
        instance("MultiHeadAttention", "cache", cache, MhaCache, "use MhaCache.autoregressive()")
        cache._check(input)

        def heads(layer):
            return lambda x: scores.split_heads(layer(x), self.n_heads)

        q = cache.query.forward_autoregressive(input.query, 2, heads(self.query))
        if cache.fixed:
            k = cache.key.forward_full(input.key, heads(self.key))
            v = cache.value.forward_full(input.value, heads(self.value))
        else:
            k = cache.key.forward_autoregressive(input.key, 2, heads(self.key))
            v = cache.value.forward_autoregressive(input.value, 2, heads(self.value))
        last = None if cache.output.value is None else q._dims[2] - 1
        weights, context = self._attend(input, q, k, v, last)
        return MhaOutput(weights, cache.output._append(self.output(scores.merge_heads(context)), 1))

    def _attend(self, input, q, k, v, last=None):
        mask = scores.join_masks(input.pad, input.attn)
        how = (1.0 / math.sqrt(q._dims[3]), self.min_float, self.quiet_softmax, self.dropout)
        context, weights = scores.attend(q, k, v, mask, *how, last)
        return (lambda: scores.weights(q, k, mask, *how)) if weights is None else weights, context

    def _check(self, input):
        instance("MultiHeadAttention", "input", input, MhaInput, "use MhaInput.self_attn(x)")
        for name in ("query", "key", "value"):
            x = getattr(input, name)
            check_positions("MultiHeadAttention", x, name, self.query.weight.val())
            if x._dims[0] != input.query._dims[0]:
                raise ShapeError(
                    f"[MultiHeadAttention] {name!r} must have the batch of 'query', got shapes {x.dims()} and "
                    f"{input.query.dims()}"
                )
        if input.key._dims != input.value._dims:
            raise ShapeError(
                f"[MultiHeadAttention] 'value' must have the shape of 'key', got {input.value.dims()} and {input.key.dims()}"
            )
        batch, queries, keys = input.query._dims[0], input.query._dims[1], input.key._dims[1]
        check_mask("MultiHeadAttention", "mask_pad", input.pad, (batch, keys), input.query)
        check_mask("MultiHeadAttention", "mask_attn", input.attn, (batch, queries, keys), input.query)

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        size = self.query.weight.lazy_shape()[0]
        content.add("d_model", size).add("n_heads", self.n_heads).add("d_k", size // self.n_heads)
        content.add("dropout", self.dropout.prob).add("min_float", self.min_float)
        return content.add("quiet_softmax", self.quiet_softmax)


def check_positions(layer: str, x, name: str, weight: Tensor, size: str = "d_model") -> None:
    """Raises unless a tensor is [batch, positions, size], like the weight that it is multiplied with."""
    check_float(layer, x, name)
    if x.ndim != 3 or x._dims[2] != weight._dims[0]:
        raise ShapeError(
            f"[{layer}] {name!r} must be [batch, positions, {size}] with {size} = {weight._dims[0]}, got shape {x.dims()}"
        )
    check_same(layer, weight, x, name)


def check_mask(layer: str, name: str, mask, shape: tuple, like: Tensor) -> None:
    """Raises unless a mask is None or a Bool tensor of this shape, whose batch may be 1, on the device of another tensor."""
    if mask is None:
        return
    check_tensor(layer, mask, name)
    if mask.kind is not Bool:
        raise KindError(f"[{layer}] {name!r} must be a Bool tensor, got {mask.dtype.name}; compare first")
    if mask._dims != shape and mask._dims != (1, *shape[1:]):
        raise ShapeError(f"[{layer}] {name!r} must have shape {list(shape)}, got {mask.dims()}")
    check_device(layer, like, mask, name)
