"""Default dtypes of a device, and their one-time configuration."""

import dataclasses

from burn._core import core
from burn._locks import Lock
from burn.errors import DeviceError
from burn.tensor.dtype import DType

__all__ = ["DeviceConfig", "DeviceSettings"]


@dataclasses.dataclass(frozen=True)
class DeviceSettings:
    """The default dtypes of a device. Mirrors `burn::tensor::DeviceSettings`.

    Args:
        float_dtype: dtype of Float tensors that are made without one.
        int_dtype: the same for Int tensors, and for the positions that operations give; where it
            does not hold all of them, these raise `NumberOverflowError`.
        bool_dtype: the same for Bool tensors.

    >>> burn.Device.flex().settings().int_dtype
    DType.I32
    """

    float_dtype: DType
    int_dtype: DType
    bool_dtype: DType


class DeviceConfig:
    """What `Device.configure` shall set; unset dtypes keep the backend's default. Mirrors `burn::tensor::DeviceConfig`.

    >>> DeviceConfig().float_dtype(DType.F64).int_dtype(DType.I64)
    DeviceConfig(float_dtype=f64, int_dtype=i64, bool_dtype=None)
    """

    __slots__ = ("_float", "_int", "_bool")

    def __init__(self, float_dtype=None, int_dtype=None, bool_dtype=None):
        self._float, self._int, self._bool = (
            None if d is None else DType.of(d) for d in (float_dtype, int_dtype, bool_dtype)
        )

    def float_dtype(self, dtype):
        """The same with a default Float dtype.

        Args:
            dtype: a Float dtype.

        Returns:
            DeviceConfig.
        """
        return DeviceConfig(dtype, self._int, self._bool)

    def int_dtype(self, dtype):
        """The same with a default Int dtype.

        Args:
            dtype: an Int dtype.

        Returns:
            DeviceConfig.
        """
        return DeviceConfig(self._float, dtype, self._bool)

    def bool_dtype(self, dtype):
        """The same with a default Bool dtype.

        Args:
            dtype: a Bool dtype.

        Returns:
            DeviceConfig.

        >>> DeviceConfig().bool_dtype(DType.Bool)
        DeviceConfig(float_dtype=None, int_dtype=None, bool_dtype=bool)
        """
        return DeviceConfig(self._float, self._int, dtype)

    def __repr__(self):
        parts = (("float_dtype", self._float), ("int_dtype", self._int), ("bool_dtype", self._bool))
        return f"DeviceConfig({', '.join(f'{k}={v and v.name}' for k, v in parts)})"

    @staticmethod
    def of(value):
        """A config from a config, one dtype, or a (float, int) pair.

        Args:
            value: a DeviceConfig, a DType, or a pair of them.

        Returns:
            DeviceConfig.

        >>> DeviceConfig.of((DType.F64, DType.I64))
        DeviceConfig(float_dtype=f64, int_dtype=i64, bool_dtype=None)
        """
        if isinstance(value, DeviceConfig):
            return value
        config = DeviceConfig()
        for dtype in value if isinstance(value, tuple | list) else (value,):
            dtype = DType.of(dtype)
            setattr(config, {1: "_float", 2: "_int", 4: "_bool"}[dtype.kind.value], dtype)
        return config


class SettingsBox:
    """The settings of one hardware device, fixed by the first configure or the first tensor."""

    def __init__(self, slot, defaults):
        self.slot, self.value, self.defaults, self.lock, self.fixed = slot, defaults, defaults, Lock(), False
        self._tell()

    def _tell(self):
        """The core makes tensors in these dtypes."""
        core.set_defaults(self.slot, self, *(dtype.code for dtype in dataclasses.astuple(self.value)))

    def configure(self, device, config):
        """Fixes the settings, once."""
        config = DeviceConfig.of(config)
        given = (config._float, config._int, config._bool)
        wanted = [d or e for d, e in zip(given, dataclasses.astuple(self.defaults), strict=True)]
        for dtype, kind in zip(wanted, ("float", "int", "bool"), strict=True):
            if dtype.kind.name.lower() != kind:
                raise DeviceError(f"[configure] '{kind}_dtype' must be of kind {kind.capitalize()}, got {dtype.name}")
            if not device.supports_dtype(dtype):
                raise DeviceError(f"[configure] {device} does not support dtype {dtype.name}; see supports_dtype()")
        with self.lock.held:
            if self.fixed:
                raise DeviceError(
                    f"[configure] the settings of {device} have already been initialized and cannot be changed; the first "
                    "tensor (or an earlier configure) locks them: configure before creating tensors, or pass a dtype"
                )
            self.value, self.fixed = DeviceSettings(*wanted), True
            self._tell()
