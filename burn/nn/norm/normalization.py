"""A normalisation that is chosen by a configuration."""

import dataclasses
from typing import Any

from burn._arguments import shown
from burn.config import ConfigEnum, tuple_variant
from burn.errors import ArgumentTypeError
from burn.module import EnumModule
from burn.tensor import Tensor

from ..identity import Identity
from . import batch, group, layer

_SIZES = {
    "Batch": "num_features",
    "Group": "num_channels",
    "Instance": "num_channels",
    "Layer": "d_model",
    "Rms": "d_model",
}


class NormalizationConfig(ConfigEnum):
    """Which normalisation, with its configuration. Mirrors `burn::nn::norm::NormalizationConfig`.

    >>> config = NormalizationConfig.from_(layer.LayerNormConfig(4)).with_num_features(6)
    >>> config.num_features(), config.init().num_features()
    (6, 6)
    """

    class Identity:
        """None."""

    @tuple_variant
    class Batch:
        """`BatchNorm`."""

        config: batch.BatchNormConfig

    @tuple_variant
    class Group:
        """`GroupNorm`."""

        config: group.GroupNormConfig

    @tuple_variant
    class Instance:
        """`InstanceNorm`."""

        config: group.InstanceNormConfig

    @tuple_variant
    class Layer:
        """`LayerNorm`."""

        config: layer.LayerNormConfig

    @tuple_variant
    class Rms:
        """`RmsNorm`."""

        config: layer.RmsNormConfig

    @classmethod
    def from_(cls, config) -> "NormalizationConfig":
        """The variant that holds this configuration.

        Args:
            config: the configuration of a layer.

        Raises:
            ArgumentTypeError: something else.
        """
        name = type(config).__name__.removesuffix("NormConfig")
        if name not in _SIZES:
            raise ArgumentTypeError(
                f"[NormalizationConfig] 'config' must be the configuration of one of {', '.join(_SIZES)}, got {shown(config)}"
            )
        return getattr(cls, name)(config)

    def init(self, device=None) -> "Normalization":
        """The layer; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.
        """
        name = type(self).__name__
        if name not in _SIZES:
            return Normalization.Identity(Identity())
        variant: Any = self
        return getattr(Normalization, name)(variant.config.init(device))

    def with_num_features(self, num_features: int) -> "NormalizationConfig":
        """The same for this many features; the number of groups stays."""
        variant: Any = self
        name = type(self).__name__
        if name not in _SIZES:
            return self
        return getattr(NormalizationConfig, name)(dataclasses.replace(variant.config, **{_SIZES[name]: num_features}))

    def num_features(self) -> int:
        """How many features; 0 for `Identity`."""
        variant: Any = self
        name = type(self).__name__
        return getattr(variant.config, _SIZES[name]) if name in _SIZES else 0


class Normalization(EnumModule):
    """A normalisation of any kind. Mirrors `burn::nn::norm::Normalization`.

    The variant's name is part of the paths of its parameters.

    >>> from burn.device import Device
    >>> layers = NormalizationConfig.from_(layer.RmsNormConfig(2)).init(Device.flex())
    >>> layers.num_features(), layers.forward(Tensor([[3.0, -3.0]], Device.flex())).round().tolist()
    (2, [[1.0, -1.0]])
    """

    Identity: Identity
    Batch: batch.BatchNorm
    Group: group.GroupNorm
    Instance: group.InstanceNorm
    Layer: layer.LayerNorm
    Rms: layer.RmsNorm

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer in the variant.

        # Shapes

        - input: as the layer takes it
        - output: the same
        """
        return self.module(input)

    def num_features(self) -> int:
        """How many features; 0 for `Identity`."""
        module = self.module
        if isinstance(module, Identity):
            return 0
        if hasattr(module, "num_channels"):
            return module.num_channels
        return module.gamma.lazy_shape()[0]
