"""Layers, their configurations, and losses. Mirrors `burn::nn`.

Layers are imported when they are first used.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import activation, conv, loss
    from .activation import Gelu, Relu, Sigmoid, Tanh
    from .dropout import Dropout, DropoutConfig
    from .embedding import Embedding, EmbeddingConfig
    from .initializer import Initializer
    from .layer_norm import LayerNorm, LayerNormConfig
    from .linear import Linear, LinearConfig, LinearLayout
    from .padding import PaddingConfig1d, PaddingConfig2d, PaddingConfig3d
    from .unfold import Fold4d, Fold4dConfig, Unfold4d, Unfold4dConfig

_PLACES = {
    "activation": ("Gelu", "Relu", "Sigmoid", "Tanh"),
    "dropout": ("Dropout", "DropoutConfig"),
    "embedding": ("Embedding", "EmbeddingConfig"),
    "initializer": ("Initializer",),
    "layer_norm": ("LayerNorm", "LayerNormConfig"),
    "linear": ("Linear", "LinearConfig", "LinearLayout"),
    "padding": ("PaddingConfig1d", "PaddingConfig2d", "PaddingConfig3d"),
    "unfold": ("Fold4d", "Fold4dConfig", "Unfold4d", "Unfold4dConfig"),
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [
    "Dropout",
    "DropoutConfig",
    "Embedding",
    "EmbeddingConfig",
    "Fold4d",
    "Fold4dConfig",
    "Gelu",
    "Initializer",
    "LayerNorm",
    "LayerNormConfig",
    "Linear",
    "LinearConfig",
    "LinearLayout",
    "PaddingConfig1d",
    "PaddingConfig2d",
    "PaddingConfig3d",
    "Relu",
    "Sigmoid",
    "Tanh",
    "Unfold4d",
    "Unfold4dConfig",
    "activation",
    "conv",
    "loss",
]


def __getattr__(name):
    if name in ("activation", "conv", "loss"):
        return importlib.import_module(f"burn.nn.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'burn.nn' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"burn.nn.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__
