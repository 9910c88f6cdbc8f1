"""Transformers. Mirrors `burn::nn::transformer`."""

from .decoder import TransformerDecoder, TransformerDecoderConfig, TransformerDecoderInput, TransformerDecoderLayer
from .encoder import TransformerEncoder, TransformerEncoderConfig, TransformerEncoderInput, TransformerEncoderLayer
from .pwff import PositionWiseFeedForward, PositionWiseFeedForwardConfig

__all__ = [
    "PositionWiseFeedForward",
    "PositionWiseFeedForwardConfig",
    "TransformerDecoder",
    "TransformerDecoderConfig",
    "TransformerDecoderInput",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderConfig",
    "TransformerEncoderInput",
    "TransformerEncoderLayer",
]
