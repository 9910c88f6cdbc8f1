"""An activation that is chosen by a configuration."""

from typing import Any

from burn.config import ConfigEnum, tuple_variant
from burn.errors import ArgumentTypeError
from burn.module import EnumModule
from burn.tensor import Tensor

from ..identity import Identity
from . import learned, numbered, plain

_WITH_DEVICE = ("PRelu", "SwiGlu")


class ActivationConfig(ConfigEnum):
    """Which activation, with its configuration where it has one. Mirrors `burn::nn::activation::ActivationConfig`.

    >>> ActivationConfig.Relu.init()
    Relu {
      _0: Relu
    }
    >>> ActivationConfig.LeakyRelu(numbered.LeakyReluConfig(0.2)).init().forward(Tensor([-1.0, 2.0])).tolist()
    [-0.2..., 2.0]
    """

    class Identity:
        """None."""

    class Gelu:
        """`Gelu`."""

    class GeluApproximate:
        """`Gelu` in its tanh form."""

    @tuple_variant
    class PRelu:
        """`PRelu`."""

        config: learned.PReluConfig

    class Relu:
        """`Relu`."""

    @tuple_variant
    class LeakyRelu:
        """`LeakyRelu`."""

        config: numbered.LeakyReluConfig

    @tuple_variant
    class SwiGlu:
        """`SwiGlu`."""

        config: learned.SwiGluConfig

    class Selu:
        """`Selu`."""

    class Sigmoid:
        """`Sigmoid`."""

    class Tanh:
        """`Tanh`."""

    @tuple_variant
    class HardSigmoid:
        """`HardSigmoid`."""

        config: numbered.HardSigmoidConfig

    class HardSwish:
        """`HardSwish`."""

    @tuple_variant
    class Softplus:
        """`Softplus`."""

        config: numbered.SoftplusConfig

    class Softsign:
        """`Softsign`."""

    @tuple_variant
    class Elu:
        """`Elu`."""

        config: numbered.EluConfig

    @tuple_variant
    class Celu:
        """`Celu`."""

        config: numbered.CeluConfig

    @tuple_variant
    class ThresholdedRelu:
        """`ThresholdedRelu`."""

        config: numbered.ThresholdedReluConfig

    @tuple_variant
    class HardShrink:
        """`HardShrink`."""

        config: numbered.HardShrinkConfig

    @tuple_variant
    class SoftShrink:
        """`SoftShrink`."""

        config: numbered.SoftShrinkConfig

    @tuple_variant
    class Shrink:
        """`Shrink`."""

        config: numbered.ShrinkConfig

    @classmethod
    def from_(cls, config) -> "ActivationConfig":
        """The variant that holds this configuration of a layer.

        Args:
            config: the configuration.

        Raises:
            ArgumentTypeError: something else.

        >>> ActivationConfig.from_(numbered.EluConfig(2.0))
        ActivationConfig.Elu(EluConfig(alpha=2.0))
        """
        name = type(config).__name__
        variant = cls._variants.get(name.removesuffix("Config"))
        if variant is None or not name.endswith("Config"):
            raise ArgumentTypeError(
                f"[ActivationConfig] 'config' must be the configuration of an activation, got {type(config).__name__}"
            )
        return variant(config)

    def init(self, device=None) -> "Activation":
        """The layer; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.
        """
        variant: Any = self
        name = type(self).__name__
        if name == "GeluApproximate":
            return Activation.Gelu(plain.Gelu.new_approximate())
        if hasattr(variant, "config"):
            layer = variant.config.init(device) if name in _WITH_DEVICE else variant.config.init()
        else:
            layer = Identity() if name == "Identity" else getattr(plain, name)()
        return getattr(Activation, name)(layer)


class Activation(EnumModule):
    """An activation of any kind. Mirrors `burn::nn::activation::Activation`.

    The variant's name is part of the paths of its parameters.

    >>> ActivationConfig.Relu.init().forward(Tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    Identity: Identity
    Gelu: plain.Gelu
    PRelu: learned.PRelu
    Relu: plain.Relu
    LeakyRelu: numbered.LeakyRelu
    SwiGlu: learned.SwiGlu
    Selu: plain.Selu
    Sigmoid: plain.Sigmoid
    Tanh: plain.Tanh
    HardSigmoid: numbered.HardSigmoid
    HardSwish: plain.HardSwish
    Softplus: numbered.Softplus
    Softsign: plain.Softsign
    Elu: numbered.Elu
    Celu: numbered.Celu
    ThresholdedRelu: numbered.ThresholdedRelu
    HardShrink: numbered.HardShrink
    SoftShrink: numbered.SoftShrink
    Shrink: numbered.Shrink

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer in the variant.

        # Shapes

        - input: as the layer takes it; any shape but for `PRelu` and `SwiGlu`
        - output: the same; the last axis of `SwiGlu` is d_output
        """
        return self.module(input)
