"""Functional forms of layers. Mirrors `burn::tensor::module`."""

from burn.tensor._calls import teach_functions
from burn.tensor.module.conv import (
    conv1d,
    conv2d,
    conv2d_weight_backward,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    deform_conv2d,
    fold4d,
    unfold4d,
)
from burn.tensor.module.linear import embedding, linear

__all__ = [
    "conv1d",
    "conv2d",
    "conv2d_weight_backward",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "deform_conv2d",
    "embedding",
    "fold4d",
    "linear",
    "unfold4d",
]

teach_functions(globals())
