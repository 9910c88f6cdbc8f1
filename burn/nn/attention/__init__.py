"""Attention layers and masks. Mirrors `burn::nn::attention`."""

from burn._hints import teaching as _teaching

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
