"""Stores, as methods of modules."""

import os


class ModuleSnapshot:
    """What every module can do with stores. Mirrors `burn::store::ModuleSnapshot`.

    >>> from burn.nn import LinearConfig
    >>> from burn.store import BurnpackStore
    >>> model = LinearConfig(2, 3).init()
    >>> model.save_into(BurnpackStore.from_file("model"))
    >>> copy, result = LinearConfig(2, 3).init().load_from(BurnpackStore.from_file("model"))
    >>> result.applied, copy.apply(model.collect())[1].is_success()
    (['weight', 'bias'], True)
    """

    __slots__ = ()

    def collect(self, filter=None, adapter=None, skip_enum_variants: bool = False) -> list:
        """The tensors of the module in visit order, named by path, with the ids of their parameters.

        Args:
            filter: a `PathFilter`: which parameters; all of them if None.
            adapter: a `ModuleAdapter`, which changes each tensor.
            skip_enum_variants: whether the variants of enums are left out of the paths.

        Returns:
            PackTensors.

        >>> [tensor.name for tensor in burn.nn.LinearConfig(2, 3).init().collect()]
        ['weight', 'bias']
        """
        from burn.store import snapshot

        return snapshot.collect(self, filter, adapter, skip_enum_variants)

    def apply(self, tensors, filter=None, adapter=None, skip_enum_variants: bool = False) -> tuple:
        """The module with tensors in it as far as they fit; the module itself stays as it was.

        Args:
            tensors: PackTensors named by path, as `collect` gives them.
            filter: a `PathFilter`: which parameters may be set; all of them if None.
            adapter: a `ModuleAdapter`, which changes each tensor, and finds those under another name.
            skip_enum_variants: whether the variants of enums are left out of the paths.

        Returns:
            The module, and an `ApplyResult` that says what became of each parameter.

        >>> model = burn.nn.LinearConfig(2, 3).init()
        >>> model.apply(model.collect())[1].applied
        ['weight', 'bias']
        """
        from burn.store import snapshot

        return snapshot.apply(self, tensors, filter, adapter, skip_enum_variants)

    def save_into(self, store) -> None:
        """Saves the parameters into a store: ``store.collect_from(self)``.

        Args:
            store: a `BurnpackStore` or `SafetensorsStore`.

        Raises:
            StoreError: the format cannot hold the parameters.
            RecordIoError: the file cannot be written.

        >>> from burn.store import SafetensorsStore
        >>> burn.nn.LinearConfig(2, 3).init().save_into(SafetensorsStore.from_file("saved.safetensors"))
        """
        _store("save_into", store).collect_from(self)

    def load_from(self, store) -> tuple:
        """The module with the parameters of a store; the module itself stays as it was: ``store.apply_to(self)``.

        Args:
            store: a `BurnpackStore`, `SafetensorsStore` or `PytorchStore`.

        Returns:
            The module, and an `ApplyResult` that says what became of each parameter.

        Raises:
            StoreValidationError: store and module do not fit each other.
            RecordIoError: the file is missing or damaged.

        >>> from burn.store import SafetensorsStore
        >>> store = SafetensorsStore.from_file("m.safetensors")
        >>> burn.nn.LinearConfig(2, 3).init().save_into(store)
        >>> burn.nn.LinearConfig(2, 3).init().load_from(store)[1].applied
        ['weight', 'bias']
        """
        return _store("load_from", store).apply_to(self)


def _store(op: str, value):
    from burn._arguments import instance
    from burn.store import ModuleStore

    suffix = os.path.splitext(value)[1] if isinstance(value, str | os.PathLike) else ""
    kind = {".safetensors": "Safetensors", ".pt": "Pytorch", ".pth": "Pytorch"}.get(str(suffix), "Burnpack")
    return instance(op, "store", value, ModuleStore, f"use {kind}Store.from_file(path)")
