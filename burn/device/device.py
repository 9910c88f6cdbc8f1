"""Devices: where tensors live, which backend computes, and whether autodiff is on."""

import os
import secrets
import threading

from burn._core import core
from burn.device.listing import Devices, DeviceType
from burn.device.settings import DeviceConfig, DeviceSettings, SettingsBox
from burn.errors import ArgumentError, AutodiffError, DeviceError
from burn.tensor.dtype import DType

__all__ = ["Device", "GradientCheckpointingStrategy"]

PLAIN, AUTODIFF, BALANCED = 0, 1, 2


class _Backend:
    """One row of the device table: a backend, its number in the core, its device slots and defaults."""

    def __init__(self, name, number, slot, text, int_dtype):
        self.name, self.number, self.slot, self.text = name, number, slot, text
        self.box = SettingsBox(DeviceSettings(DType.F32, int_dtype, DType.Bool))
        self.lock = threading.Lock()
        self.seed, self.offset = secrets.randbits(63), 0
        core.register_device(slot, number)


_BACKENDS = {
    "flex": _Backend("flex", 0, 0, "Flex(Cpu)", DType.I32),
    "ndarray": _Backend("ndarray", 1, 1, "NdArray(Cpu)", DType.I64),
}
_BY_SLOT = {b.slot: b for b in _BACKENDS.values()}


class GradientCheckpointingStrategy:
    """How much the tape keeps. Mirrors `burn::tensor::GradientCheckpointingStrategy`."""

    Disabled = "Disabled"
    Balanced = "Balanced"


class Device:
    """Where tensors live and who computes on them. Mirrors `burn::tensor::Device`.

    A small value: hardware identity plus an optional autodiff association, which equality ignores.

    >>> Device.flex()
    Device<Flex(Cpu)>
    >>> Device.flex().autodiff() == Device.flex()
    True
    """

    __slots__ = ("_slot", "_ctx")

    def __init__(self, slot=None, ctx=PLAIN):
        if slot not in _BY_SLOT:
            raise DeviceError(
                "[Device] a device is made by Device.flex(), Device.ndarray(), Device.cuda() or Device.default(), "
                f"not from {slot!r}"
            )
        self._slot, self._ctx = slot, ctx

    # Constructors

    @staticmethod
    def flex():
        """The compiled CPU backend."""
        return Device(0)

    @staticmethod
    def ndarray():
        """The slow reference backend in plain NumPy. Burn deprecates it: use it to check results, not to compute."""
        return Device(1)

    @staticmethod
    def cuda(index=0):
        """GPU number `index` through PyCUDA.

        Raises:
            DeviceError: there is no PyCUDA, no GPU, or no CUDA backend in this build.
        """
        from burn.backend.cuda import cuda_slot

        return Device(cuda_slot(index))

    @staticmethod
    def default():
        """The device that BURN_DEVICE names, else CUDA when it can be used, else flex.

        Raises:
            DeviceError: BURN_DEVICE names an unknown backend, or one that is not installed.
        """
        name = os.environ.get("BURN_DEVICE", "").strip().lower()
        if name in _BACKENDS:
            return Device(_BACKENDS[name].slot)
        if name == "cuda":
            return Device.cuda()
        if name in [t.value for t in DeviceType]:
            raise DeviceError(
                f"[default] BURN_DEVICE={name} is not available in this build; use {', '.join(_BACKENDS)} or cuda"
            )
        if name:
            raise DeviceError(f"[default] BURN_DEVICE must be one of {', '.join(_BACKENDS)} or cuda, got {name!r}")
        return Device(0)

    @staticmethod
    def enumerate(*filters):
        """The devices of the given types, in order and without repeats; no filter gives an empty list.

        Args:
            filters: `DeviceType` values, their names, `DeviceFilter` objects, or lists of these.

        Returns:
            Devices.

        Raises:
            DeviceError: an unknown name. Mirrors `Device::enumerate`.

        >>> Device.enumerate("flex", "ndarray")
        [Device<Flex(Cpu)>, Device<NdArray(Cpu)>]
        """
        types = []
        for f in filters:
            types += [DeviceType.of(f)] if isinstance(f, str | DeviceType) else [DeviceType.of(t) for t in f]
        found = []
        for t in types:
            if t.value in _BACKENDS:
                found.append(Device(_BACKENDS[t.value].slot))
            elif t is DeviceType.Cuda:
                from burn.backend.cuda import cuda_devices

                found += [Device(slot) for slot in cuda_devices()]
        return Devices(dict.fromkeys(found))

    # Settings

    @property
    def _backend(self):
        return _BY_SLOT[self._slot]

    @property
    def name(self):
        """Name of the backend, such as "flex"; "autodiff<flex>" with autodiff on."""
        return f"autodiff<{self._backend.name}>" if self._ctx else self._backend.name

    def settings(self):
        """The default dtypes in force; asking does not lock them. Mirrors `Device::settings`."""
        return self._backend.box.value

    def configure(self, config):
        """Sets the default dtypes of this hardware device, once, before the first tensor. Mirrors `Device::configure`.

        Args:
            config: a `DeviceConfig`, a dtype, or a (float, int) pair of dtypes.

        Raises:
            DeviceError: a dtype is not supported, or the settings are already in use.
        """
        self._backend.box.configure(self, DeviceConfig.of(config))

    def _lock_settings(self):
        box = self._backend.box
        box.fixed = True
        return box.value

    def supports_dtype(self, dtype):
        """Whether this device stores and computes a dtype. Mirrors `Device::supports_dtype`."""
        from burn._ops import OPS

        dtype = DType.of(dtype)
        return (
            OPS["equal" if dtype.is_bool else "add"].has_kernel(self._backend.number, dtype.code)
            and dtype is not DType.Flex32
        )

    # Autodiff

    def autodiff(self):
        """The same device with autodiff on; keeps a checkpointing strategy. Mirrors `Device::autodiff`."""
        return self if self._ctx else Device(self._slot, AUTODIFF)

    def inner(self):
        """The same device with autodiff off. Mirrors `Device::inner`."""
        return Device(self._slot)

    without_autodiff = inner

    def is_autodiff(self):
        """Whether tensors created here carry autodiff."""
        return self._ctx != PLAIN

    def gradient_checkpointing(self):
        """The same device with the Balanced checkpointing strategy. Mirrors `Device::gradient_checkpointing`."""
        if not self._ctx:
            raise AutodiffError(
                "[gradient_checkpointing] the device must have autodiff on; use device.autodiff() first"
            )
        return Device(self._slot, BALANCED)

    def gradient_checkpointing_strategy(self):
        """None, "Disabled" or "Balanced"."""
        return (None, GradientCheckpointingStrategy.Disabled, GradientCheckpointingStrategy.Balanced)[self._ctx]

    # Work, randomness, memory

    def seed(self, seed):
        """Seeds the random numbers of this backend: initialisation, dropout and shuffling follow. Mirrors `Device::seed`."""
        if not isinstance(seed, int) or not 0 <= seed < 1 << 64:
            raise ArgumentError(f"[seed] 'seed' must be an int in 0..2**64-1, got {seed!r}")
        backend = self._backend
        with backend.lock:
            backend.seed, backend.offset = seed, 0

    def _next_random(self, count):
        """(seed, offset) of the next count 32-bit random words."""
        backend = self._backend
        with backend.lock:
            at = backend.offset
            backend.offset += (count + 3) // 4
            seed = backend.seed
        return (seed - (1 << 64) if seed >= 1 << 63 else seed), at

    def _random_u64(self):
        """A whole number drawn from the device's generator, for generators in Python (shuffling)."""
        import hashlib

        text = "{} {}".format(*self._next_random(4))
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")

    def sync(self):
        """Waits until all work of this device is done; a CPU computes at once. Mirrors `Device::sync`."""

    def flush(self):
        """Hands queued work to the device without waiting; a CPU has none. Mirrors `Device::flush`."""

    def memory_cleanup(self):
        """Gives cached memory back to the system. Mirrors `Device::memory_cleanup`."""
        core.memory_trim()

    def memory_pool_usage(self):
        """Live and cached memory as a dict of byte and block counts. Mirrors `Device::memory_pool_usage`."""
        return core.memory_usage()

    def __eq__(self, other):
        return self._slot == other._slot if isinstance(other, Device) else NotImplemented

    def __hash__(self):
        return hash(("burn.Device", self._slot))

    def __repr__(self):
        inner = self._backend.text
        if not self._ctx:
            return f"Device<{inner}>"
        return f"Device<Autodiff {{ device: {inner}, checkpointing: {self.gradient_checkpointing_strategy()} }}>"

    def __reduce__(self):
        return (Device, (self._slot, self._ctx))
