"""What encoders and decoders share: their configuration, the parts of a layer, and the layers one after the other."""

import math
from typing import Any

from burn._arguments import shown
from burn.config import Config
from burn.errors import ArgumentError, ArgumentTypeError
from burn.module import ONE_LINE, Module
from burn.tensor import Tensor

from .._checks import check_size
from ..activation import ActivationConfig
from ..attention import MultiHeadAttention, MultiHeadAttentionConfig
from ..cache import TensorCache
from ..dropout import Dropout, DropoutConfig
from ..initializer import Initializer
from ..norm import LayerNorm, LayerNormConfig
from .pwff import PositionWiseFeedForward, PositionWiseFeedForwardConfig


class LayersConfig(Config):
    """What the configurations of encoders and decoders share.

    >>> config = burn.nn.transformer.TransformerEncoderConfig(4, 8, 2, 1).with_dropout(0.0).with_norm_first(True)
    >>> config = config.with_quiet_softmax(True).with_initializer(Initializer.Zeros).with_layer_norm_eps(1e-6)
    >>> config.with_activation(ActivationConfig.Relu).init()
    TransformerEncoder {d_model: 4, d_ff: 8, n_heads: 2, n_layers: 1, dropout: 0, norm_first: true, quiet_softmax: true, ...}
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

    def _layers(self, kind: Any, device) -> list:
        """The layers, of a class with a constructor `from_config`."""
        count = check_size(type(self).__name__, "n_layers", self.n_layers)
        return [kind.from_config(self, device) for _ in range(count)]

    def _attention(self, device) -> MultiHeadAttention:
        made = MultiHeadAttentionConfig(
            self.d_model,
            self.n_heads,
            dropout=self.dropout,
            quiet_softmax=self.quiet_softmax,
            initializer=self.initializer,
        )
        return made.init(device)

    def _feed_forward(self, device) -> PositionWiseFeedForward:
        made = PositionWiseFeedForwardConfig(
            self.d_model,
            self.d_ff,
            dropout=self.dropout,
            initializer=self.initializer,
            activation=self.activation,
        )
        return made.init(device)

    def _norm(self, device) -> LayerNorm:
        return LayerNormConfig(self.d_model, self.layer_norm_eps).init(device)

    def _dropout(self) -> Dropout:
        return DropoutConfig(self.dropout).init()


class Layer(Module):
    """A layer of an encoder or decoder."""

    def _kept(self, name: str, x: Tensor, cache) -> Tensor:
        """What a part of the layer makes of the positions: of the last one alone where a cache has the others."""
        part = getattr(self, name)
        if cache is None:
            return part(x)
        known: TensorCache = getattr(cache, name)
        return known.forward_autoregressive(x, 1, part)


class Layers(Module):
    """The layers of an encoder or decoder, and what its configuration says of them."""

    layers: list
    d_model: int
    d_ff: int
    n_heads: int
    n_layers: int
    dropout: float
    norm_first: bool
    quiet_softmax: bool

    def __init__(self, layers, config):
        self.layers = layers
        for name in _SHOWN:
            setattr(self, name, getattr(config, name))

    def _known(self, cache: list, kind: type) -> list:
        """The cache, which must be one for each of the layers."""
        fits = isinstance(cache, list) and all(isinstance(c, kind) for c in cache)
        if fits and len(cache) == len(self.layers):
            return cache
        found = f"one of {len(cache)} layers" if fits else shown(cache)
        raise (ArgumentError if fits else ArgumentTypeError)(
            f"[{type(self).__name__}] 'cache' must be of {len(self.layers)} layers, got {found}; use new_autoregressive_cache()"
        )

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        for name in _SHOWN:
            content.add(name, getattr(self, name))
        return content


_SHOWN = ("d_model", "d_ff", "n_heads", "n_layers", "dropout", "norm_first", "quiet_softmax")
