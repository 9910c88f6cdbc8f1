"""Layers, their configurations, and losses. Mirrors `burn::nn`.

Layers are imported when they are first used.
"""

import importlib
from typing import TYPE_CHECKING

from burn._hints import lacking as _lacking

if TYPE_CHECKING:
    from . import activation, attention, cache, conv, interpolate, loss, norm, pool, rnn, transformer
    from .activation import (
        GLU,
        Celu,
        CeluConfig,
        Elu,
        EluConfig,
        Gelu,
        Glu,
        HardShrink,
        HardShrinkConfig,
        HardSigmoid,
        HardSigmoidConfig,
        LeakyRelu,
        LeakyReluConfig,
        PRelu,
        Prelu,
        PReluConfig,
        PreluConfig,
        Relu,
        Selu,
        Shrink,
        ShrinkConfig,
        Sigmoid,
        Softplus,
        SoftplusConfig,
        SoftShrink,
        SoftShrinkConfig,
        Softsign,
        SwiGlu,
        SwiGluConfig,
        Tanh,
        ThresholdedRelu,
        ThresholdedReluConfig,
    )
    from .distance import CosineSimilarity, CosineSimilarityConfig, PairwiseDistance, PairwiseDistanceConfig
    from .dropout import Dropout, DropoutConfig
    from .embedding import Embedding, EmbeddingConfig
    from .identity import Identity
    from .initializer import Initializer
    from .linear import Linear, LinearConfig, LinearLayout
    from .noise import GaussianNoise, GaussianNoiseConfig
    from .norm import (
        BatchNorm,
        BatchNormConfig,
        GroupNorm,
        GroupNormConfig,
        InstanceNorm,
        InstanceNormConfig,
        LayerNorm,
        LayerNormConfig,
        LocalResponseNorm,
        LocalResponseNormConfig,
        RmsNorm,
        RmsNormConfig,
    )
    from .padding import PaddingConfig1d, PaddingConfig2d, PaddingConfig3d
    from .pixel_shuffle import PixelShuffle, PixelShuffleConfig, PixelUnshuffle, PixelUnshuffleConfig
    from .pos_encoding import PositionalEncoding, PositionalEncodingConfig, generate_sinusoids
    from .rnn import (
        BiGru,
        BiGruConfig,
        BiLstm,
        BiLstmConfig,
        BiRnn,
        BiRnnConfig,
        GateController,
        Gru,
        GruConfig,
        Lstm,
        LstmConfig,
        LstmState,
        OptionalInitialLstmState,
        Rnn,
        RnnConfig,
        RnnState,
    )
    from .rope_encoding import RotaryEncoding, RotaryEncodingConfig
    from .unfold import Fold4d, Fold4dConfig, Unfold4d, Unfold4dConfig

_PLACES = {
    "activation": (
        "Celu",
        "CeluConfig",
        "Elu",
        "EluConfig",
        "GLU",
        "Gelu",
        "Glu",
        "HardShrink",
        "HardShrinkConfig",
        "HardSigmoid",
        "HardSigmoidConfig",
        "LeakyRelu",
        "LeakyReluConfig",
        "PRelu",
        "PReluConfig",
        "Prelu",
        "PreluConfig",
        "Relu",
        "Selu",
        "Shrink",
        "ShrinkConfig",
        "Sigmoid",
        "SoftShrink",
        "SoftShrinkConfig",
        "Softplus",
        "SoftplusConfig",
        "Softsign",
        "SwiGlu",
        "SwiGluConfig",
        "Tanh",
        "ThresholdedRelu",
        "ThresholdedReluConfig",
    ),
    "distance": (
        "CosineSimilarity",
        "CosineSimilarityConfig",
        "PairwiseDistance",
        "PairwiseDistanceConfig",
    ),
    "dropout": (
        "Dropout",
        "DropoutConfig",
    ),
    "embedding": (
        "Embedding",
        "EmbeddingConfig",
    ),
    "identity": ("Identity",),
    "initializer": ("Initializer",),
    "linear": (
        "Linear",
        "LinearConfig",
        "LinearLayout",
    ),
    "noise": (
        "GaussianNoise",
        "GaussianNoiseConfig",
    ),
    "norm": (
        "BatchNorm",
        "BatchNormConfig",
        "GroupNorm",
        "GroupNormConfig",
        "InstanceNorm",
        "InstanceNormConfig",
        "LayerNorm",
        "LayerNormConfig",
        "LocalResponseNorm",
        "LocalResponseNormConfig",
        "RmsNorm",
        "RmsNormConfig",
    ),
    "padding": (
        "PaddingConfig1d",
        "PaddingConfig2d",
        "PaddingConfig3d",
    ),
    "pixel_shuffle": (
        "PixelShuffle",
        "PixelShuffleConfig",
        "PixelUnshuffle",
        "PixelUnshuffleConfig",
    ),
    "pos_encoding": (
        "PositionalEncoding",
        "PositionalEncodingConfig",
        "generate_sinusoids",
    ),
    "rnn": (
        "BiGru",
        "BiGruConfig",
        "BiLstm",
        "BiLstmConfig",
        "BiRnn",
        "BiRnnConfig",
        "GateController",
        "Gru",
        "GruConfig",
        "Lstm",
        "LstmConfig",
        "LstmState",
        "OptionalInitialLstmState",
        "Rnn",
        "RnnConfig",
        "RnnState",
    ),
    "rope_encoding": (
        "RotaryEncoding",
        "RotaryEncodingConfig",
    ),
    "unfold": (
        "Fold4d",
        "Fold4dConfig",
        "Unfold4d",
        "Unfold4dConfig",
    ),
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names}

_MODULES = ("activation", "attention", "cache", "conv", "interpolate", "loss", "norm", "pool", "rnn", "transformer")
_INSIDE_RNN = ("basic", "gru", "lstm")

__all__ = [
    "GLU",
    "BatchNorm",
    "BatchNormConfig",
    "BiGru",
    "BiGruConfig",
    "BiLstm",
    "BiLstmConfig",
    "BiRnn",
    "BiRnnConfig",
    "Celu",
    "CeluConfig",
    "CosineSimilarity",
    "CosineSimilarityConfig",
    "Dropout",
    "DropoutConfig",
    "Elu",
    "EluConfig",
    "Embedding",
    "EmbeddingConfig",
    "Fold4d",
    "Fold4dConfig",
    "GateController",
    "GaussianNoise",
    "GaussianNoiseConfig",
    "Gelu",
    "Glu",
    "GroupNorm",
    "GroupNormConfig",
    "Gru",
    "GruConfig",
    "HardShrink",
    "HardShrinkConfig",
    "HardSigmoid",
    "HardSigmoidConfig",
    "Identity",
    "Initializer",
    "InstanceNorm",
    "InstanceNormConfig",
    "LayerNorm",
    "LayerNormConfig",
    "LeakyRelu",
    "LeakyReluConfig",
    "Linear",
    "LinearConfig",
    "LinearLayout",
    "LocalResponseNorm",
    "LocalResponseNormConfig",
    "Lstm",
    "LstmConfig",
    "LstmState",
    "OptionalInitialLstmState",
    "PRelu",
    "PReluConfig",
    "PaddingConfig1d",
    "PaddingConfig2d",
    "PaddingConfig3d",
    "PairwiseDistance",
    "PairwiseDistanceConfig",
    "PixelShuffle",
    "PixelShuffleConfig",
    "PixelUnshuffle",
    "PixelUnshuffleConfig",
    "PositionalEncoding",
    "PositionalEncodingConfig",
    "Prelu",
    "PreluConfig",
    "Relu",
    "RmsNorm",
    "RmsNormConfig",
    "Rnn",
    "RnnConfig",
    "RnnState",
    "RotaryEncoding",
    "RotaryEncodingConfig",
    "Selu",
    "Shrink",
    "ShrinkConfig",
    "Sigmoid",
    "SoftShrink",
    "SoftShrinkConfig",
    "Softplus",
    "SoftplusConfig",
    "Softsign",
    "SwiGlu",
    "SwiGluConfig",
    "Tanh",
    "ThresholdedRelu",
    "ThresholdedReluConfig",
    "Unfold4d",
    "Unfold4dConfig",
    "activation",
    "attention",
    "cache",
    "conv",
    "generate_sinusoids",
    "interpolate",
    "loss",
    "norm",
    "pool",
    "rnn",
    "transformer",
]


def __getattr__(name):
    if name in _INSIDE_RNN:
        return importlib.import_module(f"burn.nn.rnn.{name}")
    if name in _MODULES:
        return importlib.import_module(f"burn.nn.{name}")
    if name not in _MODULE_OF:
        raise _lacking("burn.nn", name)
    value = getattr(importlib.import_module(f"burn.nn.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__
