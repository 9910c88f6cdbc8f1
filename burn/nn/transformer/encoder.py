"""Layers of self attention and feed-forward."""

import dataclasses
import math

from burn._arguments import instance
from burn.config import Config
from burn.module import ONE_LINE, Module
from burn.tensor import Tensor

from .._checks import check_size
from ..activation import ActivationConfig
from ..attention import MhaCache, MhaInput, MultiHeadAttention, MultiHeadAttentionConfig
from ..attention.mha import check_mask, check_positions
from ..cache import TensorCache
from ..dropout import Dropout, DropoutConfig
from ..initializer import Initializer
from ..norm import LayerNorm, LayerNormConfig
from .pwff import PositionWiseFeedForward, PositionWiseFeedForwardConfig


class TransformerEncoderConfig(Config):
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

    >>> config = TransformerEncoderConfig(4, 8, 2, 1).with_dropout(0.0).with_norm_first(True).with_quiet_softmax(True)
    >>> config = config.with_activation(ActivationConfig.Relu).with_layer_norm_eps(1e-6)
    >>> config.with_initializer(Initializer.Zeros).init().n_layers
    1
    """

    d_model: int
    d_ff: int
    n_heads: int
    n_layers: int
    dropout: float = 0.1
    norm_first: bool = False
    quiet_softmax: bool = False
    initializer: Initializer = Initializer.KaimingUniform(1.0 / math.sqrt(3.0), False)
    activation: ActivationConfig = ActivationConfig.Gelu
    layer_norm_eps: float = 1e-5

    def init(self, device=None) -> "TransformerEncoder":
        """The layers, their parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is no positive integer, heads that do not divide the size, a dropout outside
                [0, 1].
        """
        layers = check_size("TransformerEncoderConfig", "n_layers", self.n_layers)
        made = [TransformerEncoderLayer.from_config(self, device) for _ in range(layers)]
        return TransformerEncoder(made, self)


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


class TransformerEncoderLayer(Module):
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
        norms = [LayerNormConfig(config.d_model, config.layer_norm_eps).init(device) for _ in range(2)]
        dropout = DropoutConfig(config.dropout).init()
        return cls(attention_of(config, device), feed_forward_of(config, device), *norms, dropout, config.norm_first)

    def forward(self, input: Tensor, mask_pad: Tensor | None = None, mask_attn: Tensor | None = None) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, positions, d_model]
        - mask_pad: Bool [batch, positions]
        - mask_attn: Bool [batch, positions, positions]
        - output: as the input
        """
        return self._run(input, mask_pad, mask_attn, None)

    def _run(self, x, mask_pad, mask_attn, cache):
        def attend(x):
            given = MhaInput(x, x, x, mask_pad, mask_attn)
            return (self.mha(given) if cache is None else self.mha.forward_cache(given, cache.mha)).context

        def kept(name, x):
            layer = getattr(self, name)
            return layer(x) if cache is None else getattr(cache, name).forward_autoregressive(x, 1, layer)

        if self.norm_first:
            x = x + self.dropout(attend(kept("norm_2", x)))
            return x + self.dropout(kept("pwff", kept("norm_1", x)))
        x = kept("norm_1", x + self.dropout(attend(x)))
        return kept("norm_2", x + self.dropout(kept("pwff", x)))


class TransformerEncoder(Module):
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
    d_model: int
    d_ff: int
    n_heads: int
    n_layers: int
    dropout: float
    norm_first: bool
    quiet_softmax: bool

    def __init__(self, layers, config):
        self.layers = layers
        for name in SHOWN:
            setattr(self, name, getattr(config, name))

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
        x = self._checked(input)
        for layer in self.layers:
            x = layer(x, input.pad, input.attn)
        return x

    def _checked(self, input):
        instance("TransformerEncoder", "input", input, TransformerEncoderInput, "use TransformerEncoderInput(x)")
        x, layer = input.tensor, self.layers[0]
        check_positions("TransformerEncoder", x, "tensor", layer.mha.query.weight.val())
        batch, length = x._dims[:2]
        check_mask("TransformerEncoder", "mask_pad", input.pad, (batch, length))
        check_mask("TransformerEncoder", "mask_attn", input.attn, (batch, length, length))
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
        """
        x = self._checked(input)
        for layer, kept in zip(self.layers, cache, strict=True):
            x = layer._run(x, input.pad, input.attn, kept)
        return x

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        for name in SHOWN:
            content.add(name, getattr(self, name))
        return content


SHOWN = ("d_model", "d_ff", "n_heads", "n_layers", "dropout", "norm_first", "quiet_softmax")


def attention_of(config, device) -> MultiHeadAttention:
    """The attention of a layer of an encoder or decoder."""
    made = MultiHeadAttentionConfig(
        config.d_model,
        config.n_heads,
        dropout=config.dropout,
        quiet_softmax=config.quiet_softmax,
        initializer=config.initializer,
    )
    return made.init(device)


def feed_forward_of(config, device) -> PositionWiseFeedForward:
    """The feed-forward part of a layer of an encoder or decoder."""
    made = PositionWiseFeedForwardConfig(
        config.d_model,
        config.d_ff,
        dropout=config.dropout,
        initializer=config.initializer,
        activation=config.activation,
    )
    return made.init(device)
