"""Convolution layers. Mirrors `burn::nn::conv`."""

from burn._hints import teaching as _teaching

from .deform import DeformConv2d, DeformConv2dConfig
from .plain import Conv1d, Conv1dConfig, Conv2d, Conv2dConfig, Conv3d, Conv3dConfig
from .transposed import (
    ConvTranspose1d,
    ConvTranspose1dConfig,
    ConvTranspose2d,
    ConvTranspose2dConfig,
    ConvTranspose3d,
    ConvTranspose3dConfig,
)

__all__ = [
    "Conv1d",
    "Conv1dConfig",
    "Conv2d",
    "Conv2dConfig",
    "Conv3d",
    "Conv3dConfig",
    "ConvTranspose1d",
    "ConvTranspose1dConfig",
    "ConvTranspose2d",
    "ConvTranspose2dConfig",
    "ConvTranspose3d",
    "ConvTranspose3dConfig",
    "DeformConv2d",
    "DeformConv2dConfig",
]

__getattr__ = _teaching("burn.nn.conv")
