"""Functional forms of layers. Mirrors `burn::tensor::module`."""

from burn._hints import teaching as _teaching
from burn.tensor._calls import teach_functions
from burn.tensor.module.attention import attention
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
from burn.tensor.module.interpolate import interpolate
from burn.tensor.module.linear import embedding, linear
from burn.tensor.module.loss import ctc_loss
from burn.tensor.module.norm import BatchNormTrainOutput, batch_norm, batch_norm_train, layer_norm
from burn.tensor.module.pool import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool2d_backward,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool2d_with_indices_backward,
)

__all__ = [
    "BatchNormTrainOutput",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "attention",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool2d_backward",
    "batch_norm",
    "batch_norm_train",
    "conv1d",
    "conv2d",
    "conv2d_weight_backward",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "ctc_loss",
    "deform_conv2d",
    "embedding",
    "fold4d",
    "interpolate",
    "layer_norm",
    "linear",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool2d_with_indices_backward",
    "unfold4d",
]

teach_functions(globals())

__getattr__ = _teaching("burn.tensor.module")
