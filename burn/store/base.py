"""What all stores share: one set of builder methods, loading, and saving."""

import os
from collections.abc import Callable, Iterable

from burn._arguments import file_path, instance, truth
from burn._waiting import LackingNames
from burn.errors import MissingTensorsError, StoreError, StoreValidationError

from .adapter import IdentityAdapter, ModuleAdapter, adapter
from .filter import PathFilter, compiled
from .pack import PackTensor, atomic
from .pack.base import has_extension
from .remap import KeyRemapper, map_indices_contiguous_except
from .result import ApplyResult
from .snapshot import apply, by_name, collect

BURN_VERSION = "0.22.1"
"""The version of Burn whose files ours are like."""


class ModuleStore(metaclass=LackingNames):
    """Base of the stores: where parameters are read from, and which of them go where.

    Every builder method changes the store and returns it. What is in the file is read once and kept: its names, shapes
    and positions; the values are read when they are needed. Mirrors `burn::store::ModuleStore`.

    >>> from burn.nn import LinearConfig
    >>> from burn.store import BurnpackStore
    >>> model = LinearConfig(2, 3).init()
    >>> model.save_into(BurnpackStore.from_file("model"))
    >>> store = BurnpackStore.from_file("model").filter(PathFilter().with_regex("weight$")).allow_partial(True)
    >>> copy, result = store.apply_to(LinearConfig(2, 3).init())
    >>> result.applied, result.skipped, store.keys(), sorted(store.get_all_tensors()) == store.keys()
    (['weight'], ['bias'], ['bias', 'weight'], True)
    >>> store.get_tensor("bias").shape, store.get_tensor("gain")
    ((3,), None)
    >>> store = BurnpackStore.from_file("model").with_full_path("bias").with_regexes(["^w"]).with_full_paths(["b"])
    >>> store = store.with_predicate(lambda path, container: False).with_predicates([]).match_all()
    >>> store = store.remap(KeyRemapper()).map_indices_contiguous(True).validate(True).skip_enum_variants(False)
    >>> store = store.with_remap_pattern("^weight", "w").with_from_adapter(IdentityAdapter())
    >>> store.keys(), store.map_indices_contiguous_except("^flows$").with_filter(PathFilter()).with_regex("w") is store
    (['bias', 'w'], True)
    """

    _format = "store"
    _skip_default = False
    _contiguous_default = False

    def __init__(self, path=None):
        """Use `from_file`."""
        self._path = None if path is None else file_path(self._format, path)
        self._filter = PathFilter()
        self._remapper = KeyRemapper()
        self._validate = True
        self._partial = False
        self._skip = self._skip_default
        self._contiguous = self._contiguous_default
        self._keep: list = []
        self._from: ModuleAdapter = IdentityAdapter()
        self._cache: dict[str, PackTensor] | None = None
        self._renamed: dict[str, PackTensor] | None = None

    @classmethod
    def from_file(cls, path):
        """A store in a file.

        Args:
            path: the file; it is opened when it is needed.
        """
        return cls(file_path(cls._format, path))

    def filter(self, filter: PathFilter):
        """Lets only these parameters take part.

        Args:
            filter: which parameters, by their paths in the module.
        """
        self._filter = instance("filter", "filter", filter, PathFilter, "use PathFilter()")
        return self

    with_filter = filter

    def with_regex(self, pattern: str):
        """Lets parameters take part in whose path the regular expression is found."""
        return self.filter(self._filter.with_regex(pattern))

    def with_regexes(self, patterns: Iterable[str]):
        """Lets parameters take part in whose path one of the regular expressions is found."""
        return self.filter(self._filter.with_regexes(patterns))

    def with_full_path(self, path: str):
        """Lets the parameter at this path take part."""
        return self.filter(self._filter.with_full_path(path))

    def with_full_paths(self, paths: Iterable[str]):
        """Lets the parameters at these paths take part."""
        return self.filter(self._filter.with_full_paths(paths))

    def with_predicate(self, predicate: Callable[[str, str], bool]):
        """Lets parameters take part where a function of path and container path says so."""
        return self.filter(self._filter.with_predicate(predicate))

    def with_predicates(self, predicates: Iterable[Callable[[str, str], bool]]):
        """Lets parameters take part where one of the functions of path and container path says so."""
        return self.filter(self._filter.with_predicates(predicates))

    def match_all(self):
        """Lets every parameter take part."""
        return self.filter(self._filter.match_all())

    def remap(self, remapper: KeyRemapper):
        """Renames what the file holds when it is read, and what is written into it; in place of patterns given before.

        Args:
            remapper: the patterns.
        """
        self._remapper = instance("remap", "remapper", remapper, KeyRemapper, "use KeyRemapper.from_patterns(...)")
        self._renamed = None
        return self

    def with_key_remapping(self, from_: str, to: str):
        r"""Adds a pattern that renames, as `KeyRemapper.add_pattern` does.

        Args:
            from_: the regular expression.
            to: what stands in place of each match.

        >>> from burn.store import SafetensorsStore
        >>> _ = burn.nn.LinearConfig(2, 3).init().save_into(SafetensorsStore.from_file("m.safetensors"))
        >>> SafetensorsStore.from_file("m.safetensors").with_key_remapping("^(.*)$", "encoder.$1").keys()
        ['encoder.bias', 'encoder.weight']
        """
        return self.remap(self._remapper._joined(KeyRemapper().add_pattern(from_, to)))

    with_remap_pattern = with_key_remapping

    def map_indices_contiguous(self, enable: bool):
        """Whether lists in the file are numbered anew without gaps when it is read.

        Args:
            enable: whether to.
        """
        self._contiguous = truth("map_indices_contiguous", "enable", enable)
        self._renamed = None
        return self

    def map_indices_contiguous_except(self, pattern: str):
        """Numbers lists anew, but not those whose name the regular expression is found in.

        Args:
            pattern: a regular expression for what stands before a number, such as ``^flows$``.
        """
        self._keep.append(compiled("map_indices_contiguous_except", "pattern", pattern))
        return self.map_indices_contiguous(True)

    def allow_partial(self, allow: bool):
        """Whether parameters that the file lacks stay as they are (default False: they are an error).

        Args:
            allow: whether to.
        """
        self._partial = truth("allow_partial", "allow", allow)
        return self

    def validate(self, validate: bool):
        """Whether a parameter that cannot be set is an error (default True), or stands in the result only.

        Args:
            validate: whether to.
        """
        self._validate = truth("validate", "validate", validate)
        return self

    def skip_enum_variants(self, skip: bool):
        """Whether variants of enums are left out of the paths, as PyTorch has none.

        Args:
            skip: whether to.
        """
        self._skip = truth("skip_enum_variants", "skip", skip)
        return self

    def with_from_adapter(self, adapter_: ModuleAdapter):
        """Changes tensors on their way into a module."""
        self._from = adapter("with_from_adapter", adapter_)
        return self

    def apply_to(self, module) -> tuple:
        """The module with what the store holds, and an `ApplyResult`; the module itself stays as it was.

        Args:
            module: the module.

        Raises:
            StoreValidationError: parameters that cannot be set; `result` of the error lists them.
            MissingTensorsError: parameters that the store lacks, unless ``allow_partial(True)``.
            RecordIoError: the file is missing or damaged.
        """
        loaded, result = apply(module, self._tensors(), self._filter, self._loading_adapter(), self._skip)
        if self._validate and result.errors:
            first = f"{result.errors[0]}; validate(False) would leave such parameters as they are"
            raise self._unfit(StoreValidationError, f"{len(result.errors)} parameters cannot be set: {first}", result)
        if not self._partial and result.missing:
            names = ", ".join(repr(path) for path, _ in result.missing[:3]) + (
                ", ..." if len(result.missing) > 3 else ""
            )
            text = f"lacks {len(result.missing)} parameters ({names}); allow_partial(True) would leave them as they are"
            raise self._unfit(MissingTensorsError, text, result)
        return loaded, result

    def keys(self) -> list[str]:
        """The names of the tensors, after renaming, sorted; filters play no part."""
        return sorted(self._tensors())

    def get_tensor(self, name: str) -> PackTensor | None:
        """The tensor of that name, its values unread; None if there is none. Filters play no part.

        Args:
            name: the name, after renaming.
        """
        return self._tensors().get(instance("get_tensor", "name", name, str))

    def get_all_tensors(self) -> dict[str, PackTensor]:
        """All tensors by name, sorted, their values unread; filters play no part."""
        tensors = self._tensors()
        return {name: tensors[name] for name in sorted(tensors)}

    def _tensors(self) -> dict[str, PackTensor]:
        if self._renamed is None:
            if self._cache is None:
                self._cache = by_name(self._format, self._read())
            tensors = list(self._cache.values())
            try:
                if not self._remapper.is_empty():
                    tensors, _ = self._remapper.remap(tensors)
                if self._contiguous:
                    keep = self._keep
                    tensors, _ = map_indices_contiguous_except(
                        tensors, lambda prefix: any(k.search(prefix) for k in keep)
                    )
            except StoreValidationError as error:
                raise StoreValidationError(f"{error}; the names are those of {self._name()}") from error
            self._renamed = by_name(self._format, tensors)
        return self._renamed

    def _read(self) -> list[PackTensor]:
        """The tensors of the file, under their own names."""
        raise NotImplementedError

    def _loading_adapter(self) -> ModuleAdapter:
        return self._from

    def _unfit(self, kind: type[StoreError], text: str, result: ApplyResult) -> StoreError:
        error = kind(f"[{self._format}] {self._name()} does not fit the module: {text}\n{result}")
        error.result = result
        return error

    def _name(self) -> str:
        return "the store in memory" if self._path is None else repr(self._path)

    def __repr__(self):
        return f"{type(self).__name__}({self._name()})"


class SavingStore(ModuleStore):
    """Base of the stores that also save, into a file or into memory.

    >>> from burn.nn import LinearConfig
    >>> from burn.store import BurnToPyTorchAdapter, SafetensorsStore
    >>> store = SafetensorsStore.from_file("layer").auto_extension(True).overwrite(True).sync(False)
    >>> store = store.clear_metadata().metadata("epoch", "3")
    >>> store.with_to_adapter(BurnToPyTorchAdapter()).collect_from(LinearConfig(2, 3).init())
    >>> SafetensorsStore.from_file("layer.safetensors").file_metadata()
    {'epoch': '3'}
    >>> memory = SafetensorsStore.from_bytes()
    >>> memory.collect_from(LinearConfig(2, 3).init())
    >>> SafetensorsStore.from_bytes(memory.get_bytes()).keys()
    ['bias', 'weight']
    """

    _extension = ""
    _auto_default = False

    def __init__(self, path=None, data=None):
        """Use `from_file` or `from_bytes`."""
        super().__init__(path)
        self._data = data
        self._overwrite = False
        self._sync = False
        self._auto_extension = self._auto_default
        self._to: ModuleAdapter = IdentityAdapter()
        self._metadata = {"format": self._format, "version": BURN_VERSION, "producer": "burn"}

    @classmethod
    def from_bytes(cls, data=None):
        """A store in memory.

        Args:
            data: the bytes to load from; None for a store to save into.
        """
        return cls(None, data)

    def auto_extension(self, enable: bool):
        """Whether a path without extension gets the usual one.

        Args:
            enable: whether to.
        """
        self._auto_extension = truth("auto_extension", "enable", enable)
        self._cache = self._renamed = None
        return self

    def overwrite(self, enable: bool):
        """Whether saving replaces an existing file (default False: it is an error).

        Args:
            enable: whether to.
        """
        self._overwrite = truth("overwrite", "enable", enable)
        return self

    def sync(self, enable: bool):
        """Whether saving waits until the file is on the disk (default False): it then survives a loss of power too.

        Args:
            enable: whether to.
        """
        self._sync = truth("sync", "enable", enable)
        return self

    def metadata(self, key: str, value: str):
        """Adds an entry of text to the file.

        Args:
            key: its name.
            value: its text.
        """
        self._metadata[instance("metadata", "key", key, str)] = instance("metadata", "value", value, str)
        return self

    def clear_metadata(self):
        """Removes all entries of text, those too that say who wrote the file."""
        self._metadata.clear()
        return self

    def with_to_adapter(self, adapter_: ModuleAdapter):
        """Changes tensors on their way out of a module."""
        self._to = adapter("with_to_adapter", adapter_)
        return self

    def collect_from(self, module) -> None:
        """Saves a module. A file is always the old one or the new one, never a part.

        Args:
            module: the module.

        Raises:
            RecordIoError: the file exists and ``overwrite(True)`` was not asked for, or it cannot be written.
            StoreError: two parameters get one name, an adapter failed, or the format lacks a dtype.
        """
        tensors = collect(module, self._filter, self._to, self._skip)
        if not self._remapper.is_empty():
            tensors, _ = self._remapper.remap(tensors)
        by_name("collect_from", tensors)
        self._write(tensors)
        self._cache = self._renamed = None

    def get_bytes(self) -> bytes:
        """The bytes that were saved into a store in memory.

        Raises:
            StoreError: nothing was saved, or the store is a file.
        """
        if self._path is not None:
            raise StoreError(f"[get_bytes] {self._name()} is a file: read it, or save into a store from from_bytes()")
        if self._data is None:
            raise StoreError("[get_bytes] the store in memory is empty: save a module into it first")
        return bytes(self._data)

    def _write(self, tensors: list[PackTensor]) -> None:
        """Saves tensors under the names that they have now."""
        raise NotImplementedError

    def _full_path(self, path: str, saving: bool) -> str:
        """The path with the extension that it gets; a file that is there without one can be loaded."""
        bare = self._auto_extension and not has_extension(path)
        return path + self._extension if bare and (saving or not os.path.isfile(path)) else path

    def _source(self):
        if self._data is None:
            raise StoreError(f"[{self._format}] the store in memory is empty: give from_bytes() the bytes to load")
        return self._data


def write_atomically(
    path: str, overwrite: bool, sync: bool, pieces: Iterable, error: Callable[[str], Exception]
) -> None:
    """Writes pieces of bytes to a file that appears under its name when it is complete.

    ``error`` makes the exception of a text.
    """
    exists = "exists already: delete it, or allow replacing it with overwrite(True)"
    if os.path.isdir(path):
        raise error("is a folder; name a file in it")
    if not overwrite and os.path.lexists(path):
        raise error(exists)
    try:
        with atomic.AtomicFile(path, overwrite, sync) as file:
            for piece in pieces:
                rest = memoryview(piece).cast("B")
                while rest:
                    rest = rest[file.write(rest[: 8 << 20]) :]
    except FileExistsError as found:
        raise error(exists) from found
    except OSError as found:
        if isinstance(found, StoreError):
            raise
        raise error(f"cannot be written: {found.strerror or found}") from found
