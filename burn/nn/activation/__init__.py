"""Activations as layers. Mirrors `burn::nn::activation`."""

from burn._hints import teaching as _teaching

from .choice import (
    Activation,
    ActivationConfig,
)
from .learned import (
    PRelu,
    PReluConfig,
    SwiGlu,
    SwiGluConfig,
)
from .numbered import (
    Celu,
    CeluConfig,
    Elu,
    EluConfig,
    HardShrink,
    HardShrinkConfig,
    HardSigmoid,
    HardSigmoidConfig,
    Hardtanh,
    HardtanhConfig,
    LeakyRelu,
    LeakyReluConfig,
    Shrink,
    ShrinkConfig,
    Softplus,
    SoftplusConfig,
    SoftShrink,
    SoftShrinkConfig,
    Threshold,
    ThresholdConfig,
    ThresholdedRelu,
    ThresholdedReluConfig,
)
from .plain import (
    GLU,
    Gelu,
    HardSwish,
    LogSigmoid,
    Mish,
    Relu,
    Relu6,
    Selu,
    Sigmoid,
    SiLU,
    Softsign,
    Tanh,
    Tanhshrink,
)
from .randomised import RRelu, RReluConfig

# The spellings of the book's table of modules.
Glu = GLU
Prelu, PreluConfig = PRelu, PReluConfig

__all__ = [
    "GLU",
    "Activation",
    "ActivationConfig",
    "Celu",
    "CeluConfig",
    "Elu",
    "EluConfig",
    "Gelu",
    "Glu",
    "HardShrink",
    "HardShrinkConfig",
    "HardSigmoid",
    "HardSigmoidConfig",
    "HardSwish",
    "Hardtanh",
    "HardtanhConfig",
    "LeakyRelu",
    "LeakyReluConfig",
    "LogSigmoid",
    "Mish",
    "PRelu",
    "PReluConfig",
    "Prelu",
    "PreluConfig",
    "RRelu",
    "RReluConfig",
    "Relu",
    "Relu6",
    "Selu",
    "Shrink",
    "ShrinkConfig",
    "SiLU",
    "Sigmoid",
    "SoftShrink",
    "SoftShrinkConfig",
    "Softplus",
    "SoftplusConfig",
    "Softsign",
    "SwiGlu",
    "SwiGluConfig",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "ThresholdConfig",
    "ThresholdedRelu",
    "ThresholdedReluConfig",
]

__getattr__ = _teaching("burn.nn.activation")
