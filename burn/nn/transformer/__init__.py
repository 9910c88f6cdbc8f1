"""Transformers. Mirrors `burn::nn::transformer`."""

from burn._hints import teaching as _teaching
from burn.tensor._calls import teach_constructors as _teach_constructors

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

__getattr__ = _teaching("burn.nn.transformer")
_teach_constructors(globals())
