"""Layers of self attention and feed-forward."""

import dataclasses

from burn._arguments import instance
from burn.tensor import Tensor

from ..attention import MhaCache, MhaInput, MultiHeadAttention
from ..attention.mha import check_mask, check_positions
from ..cache import TensorCache
from ..dropout import Dropout
from ..norm import LayerNorm
from ._layers import Layer, Layers, LayersConfig
from .pwff import PositionWiseFeedForward


class TransformerEncoderConfig(LayersConfig):
    """Configuration of `TransformerEncoder`. Mirrors `burn::nn::transformer::TransformerEncoderConfig`.

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

    >>> TransformerEncoderConfig(4, 8, 2, 1).with_norm_first(True).init().norm_first
    True
    """

    def init(self, device=None) -> "TransformerEncoder":
        """The layers, their parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is no positive integer, heads that do not divide the size, a dropout outside
                [0, 1].
        """
        return TransformerEncoder(self._layers(TransformerEncoderLayer, device), self)


@dataclasses.dataclass(frozen=True)
class TransformerEncoderInput:
    """What `TransformerEncoder` takes. Mirrors `TransformerEncoderInput`.

    Args:
        tensor: [batch, positions, d_model].
        pad: Bool [batch, positions], true removes the position as a key, or None; `mask_pad` sets it.
        attn: Bool [batch, positions, positions], or None; `mask_attn` sets it.

    >>> given, mask = TransformerEncoderInput(Tensor.ones([1, 2, 4])), Tensor([[False, True]])
    >>> given.mask_pad(mask).pad.dims(), given.mask_attn(mask.unsqueeze_dim(1).expand([1, 2, 2])).attn.dims()
    ([1, 2], [1, 2, 2])
    """

    tensor: Tensor
    pad: Tensor | None = None
    attn: Tensor | None = None

    def mask_pad(self, mask: Tensor) -> "TransformerEncoderInput":
        """The same with a mask [batch, positions] of keys.

        Args:
            mask: Bool, true removes.
        """
        return dataclasses.replace(self, pad=mask)

    def mask_attn(self, mask: Tensor) -> "TransformerEncoderInput":
        """The same with a mask [batch, queries, keys] of pairs.

        Args:
            mask: Bool, true removes.
        """
        return dataclasses.replace(self, attn=mask)


class LayerCache:
    """What a layer keeps in autoregressive inference."""

    def __init__(self):
        self.mha, self.pwff, self.norm_1, self.norm_2 = MhaCache.autoregressive(), *(TensorCache() for _ in range(3))


class TransformerEncoderLayer(Layer):
    """Self attention and feed-forward, each with dropout, a residual and a norm.

    Mirrors `burn::nn::transformer::TransformerEncoderLayer`. With the norms first, `norm_2` stands before the attention and
    `norm_1` before the feed-forward, as in Burn. Fields: `mha`, `pwff`, `norm_1`, `norm_2`, `dropout`, `norm_first`.

    >>> TransformerEncoderLayer.from_config(TransformerEncoderConfig(4, 8, 2, 1)).forward(Tensor.ones([1, 2, 4])).dims()
    [1, 2, 4]
    """

    mha: MultiHeadAttention
    pwff: PositionWiseFeedForward
    norm_1: LayerNorm
    norm_2: LayerNorm
    dropout: Dropout
    norm_first: bool

    def __init__(self, mha, pwff, norm_1, norm_2, dropout, norm_first):
        self.mha = mha
        self.pwff = pwff
        self.norm_1 = norm_1
        self.norm_2 = norm_2
        self.dropout = dropout
        self.norm_first = norm_first

    @classmethod
    def from_config(cls, config, device=None) -> "TransformerEncoderLayer":
        """One layer of a configuration of `TransformerEncoder`.

        Args:
            config: a TransformerEncoderConfig.
            device: a Device; the default device if None.
        """
        parts = (config._attention(device), config._feed_forward(device), config._norm(device), config._norm(device))
        return cls(*parts, config._dropout(), config.norm_first)

    def forward(self, input: Tensor, mask_pad: Tensor | None = None, mask_attn: Tensor | None = None) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, positions, d_model]
        - mask_pad: Bool [batch, positions]
        - mask_attn: Bool [batch, positions, positions]
        - output: as the input

        Raises:
            KindError: an input that is not Float, a mask that is not Bool.
            ShapeError: sizes that do not fit.
        """
        check_input("TransformerEncoderLayer", input, "input", mask_pad, mask_attn, self)
        return self._run(input, mask_pad, mask_attn, None)

    def _run(self, x, mask_pad, mask_attn, cache):
        def attend(x):
            given = MhaInput(x, x, x, mask_pad, mask_attn)
            return (self.mha(given) if cache is None else self.mha.forward_cache(given, cache.mha)).context

        if self.norm_first:
            x = x + self.dropout(attend(self._kept("norm_2", x, cache)))
            return x + self.dropout(self._kept("pwff", self._kept("norm_1", x, cache), cache))
        x = self._kept("norm_1", x + self.dropout(attend(x)), cache)
        return self._kept("norm_2", x + self.dropout(self._kept("pwff", x, cache)), cache)


class TransformerEncoder(Layers):
    """Layers of self attention, one after the other. Mirrors `burn::nn::transformer::TransformerEncoder`.

    Fields: `layers`, and of the configuration `d_model`, `d_ff`, `n_heads`, `n_layers`, `dropout`, `norm_first`,
    `quiet_softmax`.

    >>> layers, given = TransformerEncoderConfig(4, 8, 2, 1).init(), TransformerEncoderInput(Tensor.ones([1, 1, 4]))
    >>> layers.forward(given).dims()
    [1, 1, 4]
    >>> layers.forward_autoregressive_inference(given, layers.new_autoregressive_cache()).dims()
    [1, 1, 4]
    """

    layers: list[TransformerEncoderLayer]

    def forward(self, input: TransformerEncoderInput) -> Tensor:
        """Applies the layers; every one gets the same masks.

        Args:
            input: a TransformerEncoderInput.

        # Shapes

        - tensor: [batch, positions, d_model]
        - output: the same

        Raises:
            KindError: an input that is not Float, a mask that is not Bool.
            ShapeError: sizes that do not fit.
        """
        return self._run(input, [None] * len(self.layers))

    def _run(self, input, caches):
        instance("TransformerEncoder", "input", input, TransformerEncoderInput, "use TransformerEncoderInput(x)")
        x = input.tensor
        check_input("TransformerEncoder", x, "tensor", input.pad, input.attn, self.layers[0])
        for layer, cache in zip(self.layers, caches, strict=True):
            masks = input.pad, input.attn
            x = layer(x, *masks) if cache is None else layer._run(x, *masks, cache)
        return x

    def new_autoregressive_cache(self) -> list[LayerCache]:
        """What `forward_autoregressive_inference` keeps, empty."""
        return [LayerCache() for _ in self.layers]

    def forward_autoregressive_inference(self, input: TransformerEncoderInput, cache: list[LayerCache]) -> Tensor:
        """`forward` of a sequence that grows by one position a call, each of which sees what was there when it came.

        The caller passes the whole sequence; only the last position is computed.

        Args:
            input: a TransformerEncoderInput.
            cache: what `new_autoregressive_cache` made.

        # Shapes

        - tensor: [batch, positions, d_model], one more than at the last call
        - output: as the tensor

        Raises:
            KindError: an input that is not Float, a mask that is not Bool.
            ShapeError: sizes that do not fit, or not one position more than at the last call.
            ArgumentError: a cache of another number of layers.
        """
        return self._run(input, self._known(cache, LayerCache))


def check_input(name: str, x, argument: str, mask_pad, mask_attn, layer: TransformerEncoderLayer) -> None:
    """Raises unless a sequence and its masks fit a layer."""
    check_positions(name, x, argument, layer.mha.query.weight.val())
    batch, length = x._dims[:2]
    check_mask(name, "mask_pad", mask_pad, (batch, length), x)
    check_mask(name, "mask_attn", mask_attn, (batch, length, length), x)
