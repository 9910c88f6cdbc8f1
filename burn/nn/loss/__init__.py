"""Losses. Mirrors `burn::nn::loss`."""

from burn._hints import lacking as _lacking

from .binary_cross_entropy import BinaryCrossEntropyLoss, BinaryCrossEntropyLossConfig
from .cosine_embedding import CosineEmbeddingLoss, CosineEmbeddingLossConfig
from .cross_entropy import CrossEntropyLoss, CrossEntropyLossConfig
from .ctc import CTCLoss, CTCLossConfig
from .gaussian_nll import GaussianNLLLoss, GaussianNLLLossConfig
from .hinge_embedding import HingeEmbeddingLoss, HingeEmbeddingLossConfig
from .huber import HuberLoss, HuberLossConfig
from .kldiv import KLDivLoss, KLDivLossConfig
from .lp import LpLoss, LpLossConfig
from .margin_ranking import MarginRankingLoss, MarginRankingLossConfig
from .mse import MseLoss
from .multi_margin import MultiMarginLoss, MultiMarginLossConfig
from .poisson import PoissonNllLoss, PoissonNllLossConfig
from .reduction import Reduction
from .rnnt import RNNTLoss, RNNTLossConfig
from .smooth_l1 import SmoothL1Loss, SmoothL1LossConfig
from .soft_margin import SoftMarginLoss
from .triplet_margin import TripletMarginLoss, TripletMarginLossConfig

__all__ = [
    "BinaryCrossEntropyLoss",
    "BinaryCrossEntropyLossConfig",
    "CTCLoss",
    "CTCLossConfig",
    "CosineEmbeddingLoss",
    "CosineEmbeddingLossConfig",
    "CrossEntropyLoss",
    "CrossEntropyLossConfig",
    "GaussianNLLLoss",
    "GaussianNLLLossConfig",
    "HingeEmbeddingLoss",
    "HingeEmbeddingLossConfig",
    "HuberLoss",
    "HuberLossConfig",
    "KLDivLoss",
    "KLDivLossConfig",
    "LpLoss",
    "LpLossConfig",
    "MarginRankingLoss",
    "MarginRankingLossConfig",
    "MseLoss",
    "MultiMarginLoss",
    "MultiMarginLossConfig",
    "PoissonNllLoss",
    "PoissonNllLossConfig",
    "RNNTLoss",
    "RNNTLossConfig",
    "Reduction",
    "SmoothL1Loss",
    "SmoothL1LossConfig",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginLossConfig",
]


def __getattr__(name):
    """Names that wait say what for."""
    raise _lacking("burn.nn.loss", name)
