"""Losses. Mirrors `burn::nn::loss`."""

from .cross_entropy import CrossEntropyLoss, CrossEntropyLossConfig
from .mse import MseLoss
from .reduction import Reduction

__all__ = ["CrossEntropyLoss", "CrossEntropyLossConfig", "MseLoss", "Reduction"]
