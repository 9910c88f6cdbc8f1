"""Losses. Mirrors `burn::nn::loss`."""

from .cross_entropy import CrossEntropyLoss, CrossEntropyLossConfig
from .ctc import CTCLoss, CTCLossConfig
from .mse import MseLoss
from .reduction import Reduction
from .rnnt import RNNTLoss, RNNTLossConfig

__all__ = [
    "CTCLoss",
    "CTCLossConfig",
    "CrossEntropyLoss",
    "CrossEntropyLossConfig",
    "MseLoss",
    "RNNTLoss",
    "RNNTLossConfig",
    "Reduction",
]
