"""Layers, their configurations, and losses. Mirrors `burn::nn`."""

from . import activation, loss
from .activation import Gelu, Relu, Sigmoid, Tanh
from .dropout import Dropout, DropoutConfig
from .embedding import Embedding, EmbeddingConfig
from .initializer import Initializer
from .layer_norm import LayerNorm, LayerNormConfig
from .linear import Linear, LinearConfig, LinearLayout

__all__ = [
    "Dropout",
    "DropoutConfig",
    "Embedding",
    "EmbeddingConfig",
    "Gelu",
    "Initializer",
    "LayerNorm",
    "LayerNormConfig",
    "Linear",
    "LinearConfig",
    "LinearLayout",
    "Relu",
    "Sigmoid",
    "Tanh",
    "activation",
    "loss",
]
