"""Devices: where tensors live, which backend computes, and whether autodiff is on."""

import os
import re
import secrets

from burn._core import core
from burn._waiting import LackingNames
from burn.backend.cuda import FIRST_SLOT as FIRST_GPU
from burn.device.listing import Devices, DeviceType
from burn.device.settings import DeviceConfig, DeviceSettings, SettingsBox
from burn.errors import ArgumentError, AutodiffError, DeviceError
from burn.tensor.dtype import Bool, DType, Float, Int

__all__ = ["Device", "GradientCheckpointingStrategy"]

PLAIN, AUTODIFF, BALANCED = 0, 1, 2


class _Entry:
    """One row of the device table: a piece of hardware, its slot in the core, its backend's name and defaults."""

    def __init__(self, name, slot, text, int_dtype, generator):
        self.name, self.slot, self.text, self.generator = name, slot, text, generator
        core.set_generator(slot, generator)
        self.box = SettingsBox(slot, DeviceSettings(DType.F32, int_dtype, DType.Bool))


_HOST = {
    "flex": _Entry("flex", 0, "Flex(Cpu)", DType.I32, core.Generator(secrets.randbits(63))),
    "ndarray": _Entry("ndarray", 1, "NdArray(Cpu)", DType.I64, core.Generator(secrets.randbits(63))),
}
_BY_SLOT = {entry.slot: entry for entry in _HOST.values()}
_CUDA_GENERATOR = core.Generator(secrets.randbits(63))
for _entry in _HOST.values():
    core.register_device(_entry.slot, _entry.slot)


def _cuda_entry(index):
    """The row of a GPU, which is opened when it is first asked for."""
    from burn.backend.cuda import cuda_slot

    slot = cuda_slot(index)
    return _BY_SLOT.setdefault(slot, _Entry("cuda", slot, f"Cuda({slot - FIRST_GPU})", DType.I32, _CUDA_GENERATOR))


class GradientCheckpointingStrategy:
    """How much the tape keeps. Mirrors `burn::tensor::GradientCheckpointingStrategy`.

    >>> GradientCheckpointingStrategy.Balanced
    'Balanced'
    """

    Disabled = "Disabled"
    Balanced = "Balanced"


def settings_in_use(slot):
    """The default dtypes of a device's slot, which they no longer change: a tensor follows them."""
    box = _BY_SLOT[slot].box
    box.fixed = True
    return box.value


class Device(core.DeviceBase, metaclass=LackingNames):
    """Where tensors live and who computes on them. Mirrors `burn::tensor::Device`.

    A small value: hardware identity plus an optional autodiff association, which equality ignores.

    >>> Device.flex()
    Device<Flex(Cpu)>
    >>> Device.flex().autodiff() == Device.flex()
    True
    """

    __slots__ = ()

    def __init__(self, slot=None, ctx=PLAIN):
        if slot not in _BY_SLOT:
            self._open(slot)
        if slot not in _BY_SLOT:
            raise DeviceError(
                "[Device] a device is made by Device.flex(), Device.ndarray(), Device.cuda() or Device.default(), "
                f"not from {slot!r}"
            )
        self._slot, self._ctx = slot, ctx

    @staticmethod
    def _open(slot):
        """Opens the GPU of a slot that another process has named (a pickled device)."""
        if isinstance(slot, int) and slot >= FIRST_GPU:
            _cuda_entry(slot - FIRST_GPU)

    # Constructors

    @staticmethod
    def flex() -> "Device":
        """The compiled CPU backend.

        >>> Device.flex()
        Device<Flex(Cpu)>
        """
        return Device(0)

    @staticmethod
    def ndarray() -> "Device":
        """The slow reference backend in plain NumPy. Burn deprecates it: use it to check results, not to compute.

        >>> Device.ndarray()
        Device<NdArray(Cpu)>
        """
        return Device(1)

    @staticmethod
    def cuda(index: int = 0) -> "Device":
        """GPU number `index` through PyCUDA.

        Args:
            index: number of the GPU, from 0.

        Returns:
            Device.

        Raises:
            DeviceError: there is no PyCUDA, no GPU of that number, or the driver is too old.

        >>> Device.cuda(0)  # doctest: +SKIP
        Device<Cuda(0)>
        """
        return Device(_cuda_entry(index).slot)

    @staticmethod
    def default() -> "Device":
        """The device that BURN_DEVICE names ("flex", "cuda", "cuda:1", ...), else CUDA when it can be used, else flex.

        Raises:
            DeviceError: BURN_DEVICE names an unknown backend, or one that is not installed.

        >>> Device.default()  # doctest: +SKIP
        Device<Flex(Cpu)>
        """
        kept = core.kept_default()
        if kept is not None:
            return kept
        name = os.environ.get("BURN_DEVICE", "").strip().lower()
        if name in _HOST:
            return Device(_HOST[name].slot)._as_default()
        if name == "cuda" or re.fullmatch(r"cuda:\d+", name):
            return Device.cuda(int(name[5:] or 0))
        if name in [t.value for t in DeviceType]:
            raise DeviceError(
                f"[default] BURN_DEVICE={name} is not available in this build; use {', '.join(_HOST)} or cuda"
            )
        if name:
            raise DeviceError(f"[default] BURN_DEVICE must be one of {', '.join(_HOST)} or cuda, got {name!r}")
        from burn.backend.cuda import count

        return Device.cuda() if count() else Device(0)._as_default()

    def _as_default(self):
        """self, which default() gives from now on without looking again; not for a GPU, which a forked child cannot use."""
        core.keep_default(self)
        return self

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
            if t.value in _HOST:
                found.append(Device(_HOST[t.value].slot))
            elif t is DeviceType.Cuda:
                from burn.backend.cuda import count

                found += [Device.cuda(index) for index in range(count())]
        return Devices(dict.fromkeys(found))

    # Settings

    @property
    def _entry(self):
        return _BY_SLOT[self._slot]

    @property
    def name(self):
        """Name of the backend, such as "flex"; "autodiff<flex>" with autodiff on."""
        return f"autodiff<{self._entry.name}>" if self._ctx else self._entry.name

    def settings(self):
        """The default dtypes in force; asking does not lock them. Mirrors `Device::settings`.

        >>> Device.flex().settings().float_dtype
        DType.F32
        """
        return self._entry.box.value

    def configure(self, config):
        """Sets the default dtypes of this hardware device, once, before the first tensor. Mirrors `Device::configure`.

        Args:
            config: a `DeviceConfig`, a dtype, or a (float, int) pair of dtypes.

        Raises:
            DeviceError: a dtype is not supported, or the settings are already in use.

        >>> Device.flex().configure((DType.F64, DType.I64))  # doctest: +SKIP
        """
        self._entry.box.configure(self, DeviceConfig.of(config))

    def _lock_settings(self):
        return settings_in_use(self._slot)

    def supports_dtype(self, dtype):
        """Whether this device stores and computes a dtype; bool(u8) and bool(u32) are stores of files and host data alone.

        Mirrors `Device::supports_dtype`.

        Args:
            dtype: a DType or its name.

        Returns:
            A bool.

        >>> Device.flex().supports_dtype("bf16")
        True
        """
        from burn._ops import OPS

        dtype = DType.of(dtype)
        if dtype in (DType.Flex32, DType.BoolU8, DType.BoolU32):
            return False
        return OPS["equal" if dtype.is_bool else "add"].has_kernel(self._slot, dtype.code)

    # Autodiff

    def autodiff(self) -> "Device":
        """The same device with autodiff on; keeps a checkpointing strategy. Mirrors `Device::autodiff`.

        >>> Device.flex().autodiff()
        Device<Autodiff { device: Flex(Cpu), checkpointing: Disabled }>
        """
        return self if self._ctx else Device(self._slot, AUTODIFF)

    def inner(self) -> "Device":
        """The same device with autodiff off. Mirrors `Device::inner`.

        >>> Device.flex().autodiff().inner()
        Device<Flex(Cpu)>
        """
        return Device(self._slot)

    without_autodiff = inner

    def is_autodiff(self) -> bool:
        """Whether tensors created here carry autodiff. Mirrors `Device::is_autodiff`.

        >>> Device.flex().autodiff().is_autodiff()
        True
        """
        return self._ctx != PLAIN

    def gradient_checkpointing(self) -> "Device":
        """The same device with the Balanced checkpointing strategy. Mirrors `Device::gradient_checkpointing`.

        Raises:
            AutodiffError: autodiff is off.

        >>> Device.flex().autodiff().gradient_checkpointing()
        Device<Autodiff { device: Flex(Cpu), checkpointing: Balanced }>
        """
        if not self._ctx:
            raise AutodiffError(
                "[gradient_checkpointing] the device must have autodiff on; use device.autodiff() first"
            )
        return Device(self._slot, BALANCED)

    def gradient_checkpointing_strategy(self):
        """None, "Disabled" or "Balanced".

        >>> Device.flex().autodiff().gradient_checkpointing_strategy()
        'Disabled'
        """
        return (None, GradientCheckpointingStrategy.Disabled, GradientCheckpointingStrategy.Balanced)[self._ctx]

    def with_autodiff_context_from(self, source):
        """This device with autodiff and checkpointing as another has them. Mirrors `Device::with_autodiff_context_from`.

        Args:
            source: the device whose autodiff state is taken over.

        Returns:
            A device.

        >>> trained = Device.flex().autodiff().gradient_checkpointing()
        >>> str(Device.ndarray().with_autodiff_context_from(trained).gradient_checkpointing_strategy())
        'Balanced'
        """
        return Device(self._slot, source._ctx)

    # Work, randomness, memory

    def seed(self, seed: int) -> None:
        """Seeds the random numbers of this backend: initialisation, dropout and shuffling follow. Mirrors `Device::seed`.

        Args:
            seed: an int of at most 64 bits, not negative.

        Raises:
            ArgumentError: any other value.

        >>> device = Device.flex()
        >>> device.seed(42)
        >>> x = Tensor.random([3], device=device)
        >>> device.seed(42)
        >>> x.all_close(Tensor.random([3], device=device))
        True
        """
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 1 << 64:
            raise ArgumentError(f"[seed] 'seed' must be an int in 0..2**64-1, got {seed!r}")
        generator = self._entry.generator
        generator.seed, generator.offset = seed, 0

    def _next_random(self, count):
        """(seed, offset) of the next count 32-bit random words."""
        return self._entry.generator.next(count)

    def _random_u64(self):
        """A whole number drawn from the device's generator, for generators in Python (shuffling)."""
        import hashlib

        text = "{} {}".format(*self._next_random(4))
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")

    def sync(self) -> None:
        """Waits until all work of this device is done; a CPU computes at once. Mirrors `Device::sync`.

        Raises:
            ExecutionError: the work failed; the error's `is_device_poisoned()` tells whether the process must be restarted.
            IndexError, ZeroDivisionError: a GPU met a wrong value in work that was launched earlier.

        >>> Device.flex().sync()
        """
        core.sync_device(self._slot)

    def flush(self):
        """Hands queued work to the device without waiting: a CPU has none, a GPU gets each op at once. Mirrors `Device::flush`.

        Raises:
            ExecutionError: the device is poisoned by an earlier fault.

        >>> Device.flex().flush()
        """
        core.check_device(self._slot)

    def memory_cleanup(self):
        """Gives cached memory back to the system. Mirrors `Device::memory_cleanup`.

        >>> Device.flex().memory_cleanup()
        """
        core.memory_trim(self._slot)

    def memory_pool_usage(self):
        """Live and cached memory as a dict of byte and block counts. Mirrors `Device::memory_pool_usage`.

        Of a GPU also `reserved_bytes`, which the driver's pool holds for us, and the card's `free_bytes` and `total_bytes`.

        >>> sorted(Device.flex().memory_pool_usage())
        ['cached_blocks', 'cached_bytes', 'limit_bytes', 'live_blocks', 'live_bytes', 'peak_bytes']
        """
        if self._slot < 2:
            return core.memory_usage()
        from burn.backend.cuda import usage

        return usage(self._slot)

    def _dlpack(self):
        """(kind, index) as DLPack names this hardware."""
        return (2, self._slot - FIRST_GPU) if self._slot >= FIRST_GPU else (1, 0)

    def __eq__(self, other):
        return self._slot == other._slot if isinstance(other, Device) else NotImplemented

    def __hash__(self):
        return hash(("burn.Device", self._slot))

    def __repr__(self):
        inner = self._entry.text
        if not self._ctx:
            return f"Device<{inner}>"
        return f"Device<Autodiff {{ device: {inner}, checkpointing: {self.gradient_checkpointing_strategy()} }}>"

    def __reduce__(self):
        return (Device, (self._slot, self._ctx))


core.set_devices(Device, (Float, Int, Bool))
