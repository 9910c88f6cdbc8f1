"""Normalisation layers. Mirrors `burn::nn::norm`."""

from burn._hints import teaching as _teaching

from .batch import BatchNorm, BatchNormConfig
from .group import GroupNorm, GroupNormConfig, InstanceNorm, InstanceNormConfig
from .layer import LayerNorm, LayerNormConfig, RmsNorm, RmsNormConfig
from .local_response import LocalResponseNorm, LocalResponseNormConfig
from .normalization import Normalization, NormalizationConfig

__all__ = [
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
    "Normalization",
    "NormalizationConfig",
    "RmsNorm",
    "RmsNormConfig",
]

__getattr__ = _teaching("burn.nn.norm")
