"""Which devices there are: types, filters, and the list that `Device.enumerate` returns."""

import enum

from burn.errors import DeviceError

__all__ = ["DeviceFilter", "DeviceType", "Devices"]


class DeviceType(enum.Enum):
    """The backends by name. Mirrors `burn::tensor::DeviceType`; a filter is made with `|`."""

    Flex = "flex"
    NdArray = "ndarray"
    Cuda = "cuda"
    Cpu = "cpu"
    Rocm = "rocm"
    Wgpu = "wgpu"
    Metal = "metal"
    Vulkan = "vulkan"
    WebGpu = "webgpu"
    LibTorch = "tch"
    Remote = "remote"

    def __or__(self, other):
        return DeviceFilter(self) | other

    @staticmethod
    def of(value):
        """The type that a DeviceType or its name means.

        Args:
            value: a DeviceType or its name.

        Returns:
            DeviceType.

        Raises:
            DeviceError: no backend has that name.

        >>> DeviceType.of("cuda")
        <DeviceType.Cuda: 'cuda'>
        """
        if isinstance(value, DeviceType):
            return value
        try:
            return DeviceType(str(value).lower())
        except ValueError:
            names = ", ".join(t.value for t in DeviceType)
            raise DeviceError(f"[enumerate] unknown backend {value!r}; use one of {names}") from None


class DeviceFilter:
    """Device types to list, in order. Mirrors `burn::tensor::DeviceFilter`.

    >>> DeviceFilter(DeviceType.Flex) | DeviceType.NdArray
    DeviceFilter(flex, ndarray)
    """

    __slots__ = ("types",)

    def __init__(self, *types):
        self.types = [DeviceType.of(t) for t in types]

    def with_(self, device_type):
        """The filter with one more type.

        Args:
            device_type: a DeviceType or its name.

        Returns:
            DeviceFilter.

        >>> DeviceFilter("flex").with_("cuda")
        DeviceFilter(flex, cuda)
        """
        return DeviceFilter(*self.types, device_type)

    def __or__(self, other):
        return DeviceFilter(*self.types, *(other.types if isinstance(other, DeviceFilter) else [other]))

    def __iter__(self):
        return iter(self.types)

    def __repr__(self):
        return f"DeviceFilter({', '.join(t.value for t in self.types)})"


class Devices(list):
    """A list of devices. Mirrors `burn::tensor::Devices`.

    >>> devices = burn.Device.enumerate("flex", "ndarray")
    >>> devices.autodiff()[0], devices.without_autodiff().into_vec()
    (Device<Autodiff { device: Flex(Cpu), checkpointing: Disabled }>, [Device<Flex(Cpu)>, Device<NdArray(Cpu)>])
    """

    def autodiff(self):
        """The same devices with autodiff on."""
        return Devices(d.autodiff() for d in self)

    def without_autodiff(self):
        """The same devices with autodiff off."""
        return Devices(d.inner() for d in self)

    def configure(self, config):
        """Configures each device; stops at the first error.

        Args:
            config: as for `Device.configure`.

        >>> devices = Devices()
        >>> devices.configure(("f32", "i32"))
        """
        for d in self:
            d.configure(config)

    def into_vec(self):
        """The devices as a plain list."""
        return list(self)
