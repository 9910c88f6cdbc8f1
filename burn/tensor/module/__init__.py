"""Functional forms of layers. Mirrors `burn::tensor::module`."""

from burn.tensor._calls import teach_functions
from burn.tensor.module.linear import embedding, linear

__all__ = ["embedding", "linear"]

teach_functions(globals())
