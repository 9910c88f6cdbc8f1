"""Layers of self attention, attention to a memory, and feed-forward."""

import dataclasses

from burn._arguments import instance
from burn.errors import ShapeError
from burn.tensor import Tensor

from ..attention import MhaCache, MhaInput, MultiHeadAttention
from ..attention.mha import check_mask, check_positions
from ..cache import TensorCache
from ..dropout import Dropout
from ..norm import LayerNorm
from ._layers import Layer, Layers, LayersConfig
from .pwff import PositionWiseFeedForward

_REMEDY = "use TransformerDecoderInput(target, memory)"


class TransformerDecoderConfig(LayersConfig):
    """Configuration of `TransformerDecoder`. Mirrors `burn::nn::transformer::TransformerDecoderConfig`.

    Args:
        d_model: size of a position.
        d_ff: size between the two linear layers of the feed-forward part.
        n_heads: heads; they divide the size.
        n_layers: how many layers.
        dropout: probability that an element becomes 0 in training.
        norm_first: whether the norms stand before the parts.
        quiet_softmax: whether the weights of a query may add up to less than 1.
        initializer: how the weights are drawn.
        activation: what stands between the two linear layers.
        layer_norm_eps: added to the variance in the norms.

    >>> TransformerDecoderConfig(4, 8, 2, 1).with_norm_first(True).init().norm_first
    True
    """

    def init(self, device=None) -> "TransformerDecoder":
        """The layers, their parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is no positive integer, heads that do not divide the size, a dropout outside
                [0, 1].
        """
        return TransformerDecoder(self._layers(TransformerDecoderLayer, device), self)


@dataclasses.dataclass(frozen=True)
class TransformerDecoderInput:
    """What `TransformerDecoder` takes. Mirrors `TransformerDecoderInput`.

    Args:
        target: [batch, targets, d_model].
        memory: [batch, positions, d_model].
        target_pad: Bool [batch, targets], or None; `target_mask_pad` sets it.
        target_attn: Bool [batch, targets, targets], or None; `target_mask_attn` sets it.
        memory_pad: Bool [batch, positions], or None; `memory_mask_pad` sets it.
        memory_attn: Bool [batch, targets, positions], or None; `memory_mask_attn` sets it.

    >>> given, mask = TransformerDecoderInput(Tensor.ones([1, 2, 4]), Tensor.ones([1, 2, 4])), Tensor([[False, True]])
    >>> pairs = mask.unsqueeze_dim(1).expand([1, 2, 2])
    >>> given = given.target_mask_pad(mask).target_mask_attn(pairs).memory_mask_pad(mask).memory_mask_attn(pairs)
    >>> given.target_pad.dims(), given.memory_attn.dims()
    ([1, 2], [1, 2, 2])
    """

    target: Tensor
    memory: Tensor
    target_pad: Tensor | None = None
    target_attn: Tensor | None = None
    memory_pad: Tensor | None = None
    memory_attn: Tensor | None = None

    def target_mask_pad(self, mask: Tensor) -> "TransformerDecoderInput":
        """The same with a mask [batch, targets] of keys in the target.

        Args:
            mask: Bool, true removes.
        """
        return dataclasses.replace(self, target_pad=mask)

    def target_mask_attn(self, mask: Tensor) -> "TransformerDecoderInput":
        """The same with a mask [batch, targets, targets] of pairs in the target.

        Args:
            mask: Bool, true removes.
        """
        return dataclasses.replace(self, target_attn=mask)

    def memory_mask_pad(self, mask: Tensor) -> "TransformerDecoderInput":
        """The same with a mask [batch, positions] of keys in the memory.

        Args:
            mask: Bool, true removes.
        """
        return dataclasses.replace(self, memory_pad=mask)

    def memory_mask_attn(self, mask: Tensor) -> "TransformerDecoderInput":
        """The same with a mask [batch, targets, positions] of pairs.

        Args:
            mask: Bool, true removes.
        """
        return dataclasses.replace(self, memory_attn=mask)


class LayerCache:
    """What a layer keeps in autoregressive inference."""

    def __init__(self):
        self.self_attn, self.cross_attn = MhaCache.autoregressive(), MhaCache.autoregressive_cross_attention()
        self.pwff, self.norm_1, self.norm_2, self.norm_3 = (TensorCache() for _ in range(4))


class TransformerDecoderLayer(Layer):
    """Self attention, attention to the memory, and feed-forward, each with dropout, a residual and a norm.

    Mirrors `burn::nn::transformer::TransformerDecoderLayer`. With the norms first they stand in the order `norm_3`, `norm_1`,
    `norm_2`, as in Burn. Fields: `cross_attn`, `self_attn`, `pwff`, `norm_1`, `norm_2`, `norm_3`, `dropout`, `norm_first`.

    >>> layer = TransformerDecoderLayer.from_config(TransformerDecoderConfig(4, 8, 2, 1))
    >>> layer.forward(TransformerDecoderInput(Tensor.ones([1, 2, 4]), Tensor.ones([1, 3, 4]))).target.dims()
    [1, 2, 4]
    """

    cross_attn: MultiHeadAttention
    self_attn: MultiHeadAttention
    pwff: PositionWiseFeedForward
    norm_1: LayerNorm
    norm_2: LayerNorm
    norm_3: LayerNorm
    dropout: Dropout
    norm_first: bool

    def __init__(self, cross_attn, self_attn, pwff, norm_1, norm_2, norm_3, dropout, norm_first):
        self.cross_attn = cross_attn
        self.self_attn = self_attn
        self.pwff = pwff
        self.norm_1 = norm_1
        self.norm_2 = norm_2
        self.norm_3 = norm_3
        self.dropout = dropout
        self.norm_first = norm_first

    @classmethod
    def from_config(cls, config, device=None) -> "TransformerDecoderLayer":
        """One layer of a configuration of `TransformerDecoder`.

        Args:
            config: a TransformerDecoderConfig.
            device: a Device; the default device if None.
        """
        attentions = [config._attention(device) for _ in range(2)]
        norms = [config._norm(device) for _ in range(3)]
        return cls(*attentions, config._feed_forward(device), *norms, config._dropout(), config.norm_first)

    def forward(self, input: TransformerDecoderInput) -> TransformerDecoderInput:
        """Applies the layer.

        Args:
            input: a TransformerDecoderInput.

        # Shapes

        - target: [batch, targets, d_model]
        - memory: [batch, positions, d_model]
        - output: the input with another target of the same shape

        Raises:
            KindError: an input that is not Float, a mask that is not Bool.
            ShapeError: sizes that do not fit.
        """
        check_input("TransformerDecoderLayer", input, self)
        return self._run(input, None)

    def _run(self, input, cache):
        def attend(name, x, other, pad, attn):
            layer, given = getattr(self, name), MhaInput(x, other, other, pad, attn)
            return (layer(given) if cache is None else layer.forward_cache(given, getattr(cache, name))).context

        def own(x):
            return self.dropout(attend("self_attn", x, x, input.target_pad, input.target_attn))

        def cross(x):
            return self.dropout(attend("cross_attn", x, input.memory, input.memory_pad, input.memory_attn))

        def kept(name, x):
            return self._kept(name, x, cache)

        x = input.target
        if self.norm_first:
            x = x + own(kept("norm_3", x))
            x = x + cross(kept("norm_1", x))
            x = x + self.dropout(kept("pwff", kept("norm_2", x)))
        else:
            x = kept("norm_1", x + own(x))
            x = kept("norm_2", x + cross(x))
            x = kept("norm_3", x + self.dropout(kept("pwff", x)))
        return dataclasses.replace(input, target=x)


class TransformerDecoder(Layers):
    """Layers of self attention and attention to a memory. Mirrors `burn::nn::transformer::TransformerDecoder`.

    No mask is added: pass a causal one with `target_mask_attn`. Fields: `layers`, and of the configuration `d_model`,
    `d_ff`, `n_heads`, `n_layers`, `dropout`, `norm_first`, `quiet_softmax`.

    >>> layers = TransformerDecoderConfig(4, 8, 2, 1).init()
    >>> given = TransformerDecoderInput(Tensor.ones([1, 1, 4]), Tensor.ones([1, 3, 4]))
    >>> layers.forward(given).dims()
    [1, 1, 4]
    >>> layers.forward_autoregressive_inference(given, layers.new_autoregressive_cache()).dims()
    [1, 1, 4]
    """

    layers: list[TransformerDecoderLayer]

    def forward(self, input: TransformerDecoderInput) -> Tensor:
        """Applies the layers; every one gets the same memory and masks.

        Args:
            input: a TransformerDecoderInput.

        # Shapes

        - target: [batch, targets, d_model]
        - memory: [batch, positions, d_model]
        - output: as the target

        Raises:
            KindError: an input that is not Float, a mask that is not Bool.
            ShapeError: sizes that do not fit.
        """
        return self._run(input, [None] * len(self.layers))

    def _run(self, input, caches):
        check_input("TransformerDecoder", input, self.layers[0])
        for layer, cache in zip(self.layers, caches, strict=True):
            input = layer(input) if cache is None else layer._run(input, cache)
        return input.target

    def new_autoregressive_cache(self) -> list[LayerCache]:
        """What `forward_autoregressive_inference` keeps, empty."""
        return [LayerCache() for _ in self.layers]

    def forward_autoregressive_inference(self, input: TransformerDecoderInput, cache: list[LayerCache]) -> Tensor:
        """`forward` of a target that grows by one position a call, each of which sees what was there when it came.

        The caller passes the whole target; only the last position is computed. The memory is that of the first call.

        Args:
            input: a TransformerDecoderInput.
            cache: what `new_autoregressive_cache` made.

        # Shapes

        - target: [batch, targets, d_model], one more than at the last call
        - memory: [batch, positions, d_model]
        - output: as the target

        Raises:
            KindError: an input that is not Float, a mask that is not Bool.
            ShapeError: sizes that do not fit, or not one position more than at the last call.
            ArgumentError: a cache of another number of layers.
        """
        known = self._known(cache, LayerCache)
        instance("TransformerDecoder", "input", input, TransformerDecoderInput, _REMEDY)
        for layer in known:  # before the cache of a part is changed
            layer.cross_attn._check_fixed("TransformerDecoder", "memory", input.memory)
        return self._run(input, known)


def check_input(name: str, input, layer: TransformerDecoderLayer) -> None:
    """Raises unless sequences and masks fit a layer."""
    instance(name, "input", input, TransformerDecoderInput, _REMEDY)
    weight = layer.self_attn.query.weight.val()
    check_positions(name, input.target, "target", weight)
    check_positions(name, input.memory, "memory", weight)
    (batch, targets), (memories, positions) = input.target._dims[:2], input.memory._dims[:2]
    if memories != batch:
        raise ShapeError(f"[{name}] 'memory' must have the batch of 'target', {batch}, got shape {input.memory.dims()}")
    check_mask(name, "target_mask_pad", input.target_pad, (batch, targets), input.target)
    check_mask(name, "target_mask_attn", input.target_attn, (batch, targets, targets), input.target)
    check_mask(name, "memory_mask_pad", input.memory_pad, (batch, positions), input.target)
    check_mask(name, "memory_mask_attn", input.memory_attn, (batch, targets, positions), input.target)
