"""Functional forms of layers. Mirrors `burn::tensor::module`."""

from burn.tensor._calls import teach_functions
from burn.tensor.module.attention import attention
from burn.tensor.module.linear import embedding, linear
from burn.tensor.module.norm import BatchNormTrainOutput, batch_norm, batch_norm_train, layer_norm

__all__ = [
    "BatchNormTrainOutput",
    "attention",
    "batch_norm",
    "batch_norm_train",
    "embedding",
    "layer_norm",
    "linear",
]

teach_functions(globals())
