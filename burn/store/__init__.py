"""Saving and loading: records of modules, stores in the formats of Burn and PyTorch, and the burnpack container.

Mirrors `burn::store`; `burn.store.pack` is Burn's crate `burn-pack`.
"""

import importlib

from burn._hints import lacking as _lacking

_PLACES = {
    "adapter": (
        "BurnToPyTorchAdapter",
        "ChainAdapter",
        "FloatCastAdapter",
        "HalfPrecisionAdapter",
        "IdentityAdapter",
        "ModuleAdapter",
        "ModuleContext",
        "PyTorchToBurnAdapter",
    ),
    "base": ("ModuleStore",),
    "burnpack": ("BurnpackStore",),
    "filter": ("PathFilter",),
    "pytorch": ("PickleValue", "PytorchReader", "PytorchStore"),
    "record": ("DTypePolicy", "ModuleRecord"),
    "remap": ("KeyRemapper", "map_indices_contiguous", "map_indices_contiguous_except"),
    "result": ("ApplyError", "ApplyResult"),
    "safetensors": ("SafetensorsStore",),
    "snapshot": ("Applier", "Collector"),
}
_MODULES = ("bridge", "pack")
_HOME = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [
    "Applier",
    "ApplyError",
    "ApplyResult",
    "BurnToPyTorchAdapter",
    "BurnpackStore",
    "ChainAdapter",
    "Collector",
    "DTypePolicy",
    "FloatCastAdapter",
    "HalfPrecisionAdapter",
    "IdentityAdapter",
    "KeyRemapper",
    "ModuleAdapter",
    "ModuleContext",
    "ModuleRecord",
    "ModuleStore",
    "PathFilter",
    "PickleValue",
    "PyTorchToBurnAdapter",
    "PytorchReader",
    "PytorchStore",
    "SafetensorsStore",
    "map_indices_contiguous",
    "map_indices_contiguous_except",
]


def __getattr__(name):
    # Records need modules and tensors; the container alone does not.
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise _lacking("burn.store", name)


def __dir__():
    return [*__all__, *_MODULES]
