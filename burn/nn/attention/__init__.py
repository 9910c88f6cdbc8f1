"""Attention layers and masks. Mirrors `burn::nn::attention`."""

from burn._hints import teaching as _teaching
from burn.tensor._calls import teach_constructors as _teach_constructors

from .cross import CrossAttention, CrossAttentionCache, CrossAttentionConfig
from .mask import GeneratePaddingMask, SeqLengthOption, generate_autoregressive_mask, generate_padding_mask
from .mha import MhaCache, MhaInput, MhaOutput, MultiHeadAttention, MultiHeadAttentionConfig

__all__ = [
    "CrossAttention",
    "CrossAttentionCache",
    "CrossAttentionConfig",
    "GeneratePaddingMask",
    "MhaCache",
    "MhaInput",
    "MhaOutput",
    "MultiHeadAttention",
    "MultiHeadAttentionConfig",
    "SeqLengthOption",
    "generate_autoregressive_mask",
    "generate_padding_mask",
]

__getattr__ = _teaching("burn.nn.attention")
_teach_constructors(globals())
