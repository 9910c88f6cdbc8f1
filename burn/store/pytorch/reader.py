"""The tensors of a PyTorch checkpoint, by name."""

import json

import numpy as np

from burn._arguments import instance
from burn.config import Config
from burn.errors import ArgumentTypeError, MissingTensorsError, StoreIoError
from burn.store.bridge import RefusedTensor
from burn.store.pack import PackDType, PackTensor
from burn.store.source import FileSource, MemorySource, Source

from .containers import Container, open_container
from .rebuild import holds_tensor
from .values import Budget, Damaged, Global, OddKey, Opaque, PickleValue, Storage, Strided

MAX_TENSOR_SIZE = 10 << 30
MAX_DEPTH = 1000
MAX_VISITS = 5_000_000
MAX_NAMES = 64 << 20


class PytorchReader:
    """Reads a PyTorch checkpoint: names, dtypes and shapes at once, the values of a tensor when it is asked for.

    Files of ``torch.save`` in any version: state dicts, dicts that hold them, whole modules. Nothing that the file names
    is imported or called. Mirrors `pytorch_reader::PytorchReader`.

    >>> import pickle
    >>> with open("notes.pkl", "wb") as file:
    ...     pickle.dump({"epoch": 3, "model": {}}, file)
    >>> reader = PytorchReader("notes.pkl")
    >>> len(reader), reader.keys(), reader.tensors(), reader.into_tensors(), reader.get("weight"), reader.metadata()
    (0, [], {}, [], None, {'format': 'pickle'})
    >>> PytorchReader.read_pickle_data("notes.pkl")
    {'epoch': 3, 'model': {}}
    >>> PytorchReader.with_top_level_key("notes.pkl", "model").is_empty()
    True
    """

    def __init__(self, path, top_level_key: str | None = None):
        """Opens a checkpoint.

        Args:
            path: the file.
            top_level_key: the key of the dict at its root that holds the tensors; the whole of it if None.

        Raises:
            StoreIoError: the file is missing or damaged, or no checkpoint.
            MissingTensorsError: there is no such key.
        """
        self._setup(FileSource("pytorch", path), top_level_key)

    @classmethod
    def with_top_level_key(cls, path, key: str) -> "PytorchReader":
        """Opens a checkpoint whose tensors are under a key.

        Args:
            path: the file.
            key: the key of the dict at its root.
        """
        return cls(path, key)

    @classmethod
    def from_bytes(cls, data, key: str | None = None) -> "PytorchReader":
        """Reads a checkpoint in memory.

        Args:
            data: the bytes.
            key: the key of the dict at its root that holds the tensors; the whole of it if None.

        >>> import pickle
        >>> PytorchReader.from_bytes(pickle.dumps({})).is_empty()
        True
        """
        reader = cls.__new__(cls)
        reader._setup(MemorySource("pytorch", data), key)
        return reader

    @classmethod
    def from_reader(cls, reader, key: str | None = None) -> "PytorchReader":
        """Reads a checkpoint from an open file, to its end.

        Args:
            reader: an object with a method ``read`` that gives bytes.
            key: the key of the dict at its root that holds the tensors; the whole of it if None.

        >>> import io, pickle
        >>> PytorchReader.from_reader(io.BytesIO(pickle.dumps({}))).is_empty()
        True
        """
        if not hasattr(reader, "read"):
            raise ArgumentTypeError(
                "[from_reader] 'reader' must be a file open for reading; for a path use PytorchReader(path)"
            )
        return cls.from_bytes(reader.read(), key)

    @staticmethod
    def read_pickle_data(path, top_level_key: str | None = None):
        """The values of a checkpoint that are no tensors: configurations, epochs and the like.

        Args:
            path: the file.
            top_level_key: one key of the dict at its root; the whole of it if None.

        Returns:
            Python's plain values; a list for a tuple or a set, a dict with texts as keys, a ``PickleValue.Unsupported`` with the
            name of the type for anything else.
        """
        source = FileSource("pytorch", path)
        return _checked(source, lambda: _plain(_chosen(open_container(source).root, top_level_key), Budget(MAX_VISITS)))

    @staticmethod
    def load_config(path, top_level_key: str | None = None, config: type[Config] | None = None):
        """A configuration that was saved in a checkpoint.

        Args:
            path: the file.
            top_level_key: the key of the dict at its root that holds the configuration; the whole of it if None.
            config: a Config class; the plain values if None.

        >>> import pickle
        >>> with open("config.pkl", "wb") as file:
        ...     pickle.dump({"config": {"d_input": 2, "d_output": 3}}, file)
        >>> PytorchReader.load_config("config.pkl", "config", burn.nn.LinearConfig).d_output
        3
        """
        values = PytorchReader.read_pickle_data(path, top_level_key)
        return values if config is None else config.load_binary(json.dumps(values).encode())

    def keys(self) -> list[str]:
        """The names of the tensors, sorted."""
        return sorted(self._tensors)

    def get(self, name: str) -> PackTensor | None:
        """The tensor of that name, its values unread; None if there is none.

        Args:
            name: keys and positions in lists, joined by dots.
        """
        return self._tensors.get(instance("get", "name", name, str))

    def tensors(self) -> dict[str, PackTensor]:
        """The tensors by name, in the order of the file, their values unread."""
        return dict(self._tensors)

    def into_tensors(self) -> list[PackTensor]:
        """The tensors in the order of the file, their values unread."""
        return list(self._tensors.values())

    def metadata(self) -> dict:
        """What the file says about itself: its ``format`` (zip, legacy, tar or pickle) and versions."""
        return dict(self._metadata)

    def is_empty(self) -> bool:
        """Whether there are no tensors."""
        return not self._tensors

    def __len__(self) -> int:
        return len(self._tensors)

    def __repr__(self):
        return f"PytorchReader({self._name}, {len(self)} tensors)"

    def _setup(self, source: Source, key: str | None):
        self._name = source.name
        self._tensors: dict[str, PackTensor] = {}
        self._metadata: dict[str, object] = {}
        _checked(source, lambda: self._list(source, key))

    def _list(self, source: Source, key: str | None):
        container = open_container(source)
        self._metadata = {"format": container.form, **container.metadata}
        root = _chosen(container.root, key)
        if not isinstance(root, dict) and not (isinstance(root, Opaque) and root.is_module()):
            found = "a tensor" if isinstance(root, Strided) else _type_name(root)
            where = f"the top-level key {key!r}" if key is not None else "its root"
            raise Damaged(f"must hold a dict or a module at {where}, found {found}: save model.state_dict()")
        for name, leaf in _leaves(root):
            if name in self._tensors:
                raise Damaged(
                    f"holds two tensors that are both named {name!r}: keys with dots collide with nested ones"
                )
            self._tensors[name] = _tensor(container, name, leaf)


def _checked(source: Source, action):
    """The result of an action; what is wrong with the file becomes an error that names it."""
    try:
        return action()
    except Damaged as error:
        raise source.error(str(error)) from error
    except KeyMissing as error:
        raise MissingTensorsError(f"[pytorch] {source.name} {error}") from error


class KeyMissing(Exception):
    """The dict at the root lacks a key."""


def _chosen(root, key: str | None):
    if key is None:
        return root
    if not isinstance(root, dict):
        raise Damaged(f"must hold a dict at its root to have top-level keys, found {_type_name(root)}")
    keys = {_key_text(k): value for k, value in root.items() if not isinstance(k, OddKey)}
    if instance("pytorch", "top_level_key", key, str) not in keys:
        raise KeyMissing(f"lacks the top-level key {key!r}; its keys are {', '.join(map(repr, list(keys)[:20]))}")
    return keys[key]


def _key_text(key) -> str:
    return key if isinstance(key, str) else str(key)


def _children(value, budget: Budget):
    """(name, part) of each part of a container; None if it is none."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, (list, tuple)):
        return list(enumerate(value))
    if isinstance(value, Opaque) and value.is_module():
        state = value.state
        dropped = state.get("_non_persistent_buffers_set")
        dropped = [name for name in dropped if isinstance(name, str)] if isinstance(dropped, (list, tuple)) else []
        budget.spend(len(dropped))
        gone = set(dropped)
        buffers = [(name, part) for name, part in state["_buffers"].items() if name not in gone]
        parts = [*state["_parameters"].items(), *buffers, *state["_modules"].items()]
        return [(name, part) for name, part in parts if part is not None]
    return None


def _leaves(root):
    """(name, tensor or opaque object that holds one) of all that is below a value, in order."""
    budget, letters = Budget(MAX_VISITS), Budget(MAX_NAMES)
    waiting = [("", 0, root)]
    while waiting:
        name, depth, value = waiting.pop()
        children = _children(value, budget)
        if children is None:
            if isinstance(value, (Strided, Storage)) or (isinstance(value, Opaque) and _is_tensor(value, budget)):
                try:
                    name.encode()
                except UnicodeEncodeError:
                    raise Damaged(f"holds a tensor whose name is no valid text: {name!r}") from None
                yield name, value
            continue
        if depth >= MAX_DEPTH:
            raise Damaged(f"is damaged: it nests more than {MAX_DEPTH} values in each other")
        budget.spend(len(children))
        for key, part in reversed(children):
            if not isinstance(part, (dict, list, tuple, Strided, Storage, Opaque)):
                continue
            if isinstance(key, OddKey):
                if holds_tensor(part, budget):
                    raise Damaged(
                        f"holds tensors under a key of a dict that is neither a text nor a number, in {name!r}"
                    )
                continue
            text = _key_text(key)
            full = f"{name}.{text}" if name else text
            letters.spend(len(full))
            waiting.append((full, depth + 1, part))


def _is_tensor(value: Opaque, budget: Budget) -> bool:
    """Whether an object that is not understood is a kind of tensor; those of the device meta have no storage."""
    return value.type_name.startswith("torch._utils._rebuild_") or holds_tensor(value, budget)


def _tensor(container: Container, name: str, leaf) -> PackTensor:
    """A tensor of the file, its values unread; one that burn cannot hold is refused when it is read."""
    source = container.source
    if not isinstance(leaf, Strided):
        type_name = leaf.type_name if isinstance(leaf, Opaque) else f"torch.{leaf.kind}"
        reason = f"in {source.name} it is a {type_name}, which burn does not have; save a plain dense tensor"
        return RefusedTensor(name, type_name, (), reason)
    dtype, item, torch_name = leaf.element()
    count = 1
    for size in leaf.shape:
        count *= size
    if dtype is None or count * item > MAX_TENSOR_SIZE:
        reason = (
            f"in {source.name} it has the dtype {torch_name}, which burn does not have; save it as float16 or float32"
        )
        if dtype is not None:
            reason = f"in {source.name} it takes {count * item} bytes, the limit is {MAX_TENSOR_SIZE}"
        return RefusedTensor(name, torch_name, leaf.shape, reason, count * item)

    def fill(buffer):
        where = memoryview(buffer).cast("B")
        _read(container, name, lambda: container.read_into(leaf.storage, _first(leaf), where))

    stored = not isinstance(source, MemorySource)
    return PackTensor.deferred(
        name,
        dtype,
        leaf.shape,
        count * item,
        lambda: _values(container, name, leaf, dtype),
        fill=fill if stored and dtype.name != "Bool" and _is_row_major(leaf) else None,
        constant=source.is_constant(),
    )


def _first(leaf: Strided) -> int:
    """The byte of its storage at which a tensor begins."""
    return leaf.storage.start * leaf.storage.itemsize + leaf.offset * leaf.element()[1]


def _is_row_major(leaf: Strided) -> bool:
    """Whether the elements lie in order and without gaps."""
    expected = 1
    for size, stride in zip(reversed(leaf.shape), reversed(leaf.strides)):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def _read(container: Container, name: str, action):
    """The result of reading a tensor; what is wrong with the file becomes an error that names it."""
    try:
        return action()
    except Damaged as error:
        raise StoreIoError(f"[pytorch] {container.source.name} {error}") from error
    except MemoryError as error:
        raise StoreIoError(f"[pytorch] {container.source.name} cannot be read: no memory for {name!r}") from error


def _values(container: Container, name: str, leaf: Strided, dtype: PackDType) -> np.ndarray:
    """The values of a tensor in row-major order: the part of its storage that it touches is read, no more."""
    if 0 in leaf.shape:
        return np.empty(0, dtype.numpy)
    item, first = leaf.element()[1], _first(leaf)
    extent = 1 + sum((size - 1) * stride for size, stride in zip(leaf.shape, leaf.strides))
    array = np.frombuffer(
        _read(container, name, lambda: container.read(leaf.storage, first, first + extent * item)),
        np.dtype("u1") if dtype.name == "Bool" else dtype.numpy,
    )
    if not _is_row_major(leaf):
        strides = tuple(stride * item if size != 1 else 0 for size, stride in zip(leaf.shape, leaf.strides))
        view = np.lib.stride_tricks.as_strided(array, leaf.shape, strides)
        array = _read(container, name, lambda: np.ascontiguousarray(view))
    return array != 0 if dtype.name == "Bool" else array


def _type_name(value) -> str:
    if isinstance(value, Opaque):
        return value.type_name
    if isinstance(value, Strided):
        return "torch.Tensor"
    if isinstance(value, Storage):
        return f"torch.{value.kind}"
    return value.name if isinstance(value, Global) else type(value).__name__


def _plain(root, budget: Budget):
    """The values as Python's own, without tensors. Shared parts are copied, so their number is bounded."""

    def convert(value, depth: int):
        budget.spend(1)
        if value is None or isinstance(value, (bool, int, float, str, bytes)):
            return value
        if depth >= 200:
            raise Damaged("nests more than 200 values in each other")
        if isinstance(value, (list, tuple)):
            return [convert(item, depth + 1) for item in value]
        if isinstance(value, dict):
            odd = next((key for key in value if isinstance(key, OddKey)), None)
            if odd is not None:
                raise Damaged(
                    f"holds a dict with a key of the type {_type_name(odd.value)}; keys must be texts or integers"
                )
            return {_key_text(key): convert(item, depth + 1) for key, item in value.items()}
        return PickleValue.Unsupported(_type_name(value))

    return convert(root, 0)
