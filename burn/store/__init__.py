"""Saving and loading: records of modules, and the burnpack container that they are stored in.

Mirrors `burn::store`; `burn.store.pack` is Burn's crate `burn-pack`.
"""

__all__ = ["DTypePolicy", "ModuleRecord"]


def __getattr__(name):
    # Records need modules and tensors; the container alone does not.
    if name in __all__:
        from . import record

        return getattr(record, name)
    raise AttributeError(f"module 'burn.store' has no attribute {name!r}")


def __dir__():
    return [*__all__, "pack"]
