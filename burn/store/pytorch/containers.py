"""The four containers of PyTorch checkpoints: what object they hold, and where the memory of its tensors is."""

import struct

from burn.store.source import Source

from .archive import Archive, Member, check_name
from .rebuild import storage, strided
from .unpickle import MAX_PICKLE_SIZE, load_at
from .values import Damaged, Storage, Strided

MAX_TEXT = 4096
_MAGIC = 0x1950A86A20F9469CFC6C
_MAGIC_BYTES = _MAGIC.to_bytes(10, "little")
_BLOCK = 512


class Container:
    """What a checkpoint holds.

    Attributes:
        root: the saved object.
        metadata: what the file says about itself.
        form: which container it is.
    """

    form: str

    def __init__(self, source: Source):
        self.source = source
        self.root: object = None
        self.metadata: dict[str, object] = {}

    def read(self, where: Storage, start: int, end: int) -> memoryview:
        """Some bytes of a storage, counted from its start."""
        raise NotImplementedError

    def read_into(self, where: Storage, start: int, buffer: memoryview) -> None:
        """Fills a buffer with the bytes of a storage from ``start`` on."""
        raise NotImplementedError


def open_container(source: Source) -> Container:
    """The container of a file, told by its first bytes.

    Raises:
        Damaged: it is none of PyTorch's, or it is damaged.
    """
    start = bytes(source.read(0, min(_BLOCK, source.size)))
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return ZipContainer(source)
    if start[257:262] == b"ustar":
        return TarContainer(source)
    if _MAGIC_BYTES in start[:64] or str(_MAGIC).encode() in start[:64]:
        return LegacyContainer(source)
    if not start:
        raise Damaged("is empty; save it again")
    if start[8:9] == b"{" and int.from_bytes(start[:8], "little") <= 100_000_000:
        raise Damaged("is a safetensors file: load it with SafetensorsStore")
    if start.startswith(b"NRUB"):
        raise Damaged("is a burnpack file: load it with BurnpackStore")
    if start[0] in b"\x80(}]c":
        return PlainContainer(source)
    raise Damaged("is no PyTorch checkpoint: it has the header of no zip, tar or legacy file and of no pickle")


class ZipContainer(Container):
    """Files of PyTorch 1.6 and later: a pickle and a member for each storage in a zip archive."""

    form = "zip"

    def __init__(self, source: Source):
        super().__init__(source)
        self.archive = Archive(source)
        pickles = [name for name in self.archive.members if name == "data.pkl" or name.endswith("/data.pkl")]
        if not pickles:
            raise Damaged("is a zip archive without 'data.pkl': no PyTorch checkpoint")
        name = min(pickles, key=lambda name: (len(name), name))
        self.folder = name.removesuffix("data.pkl")
        if self.folder + "constants.pkl" in self.archive.members:
            raise Damaged("is a TorchScript program: load it in PyTorch and save its state_dict() with torch.save")
        order = self._text("byteorder") or "little"
        if order != "little":
            raise Damaged(f"has the byte order {order[:20]!r}, only 'little' is supported: save it on another machine")
        for key in ("version", ".format_version", ".storage_alignment"):
            text = self._text(key)
            if text is not None:
                self.metadata[key] = text
        data = self.archive.read(name, MAX_PICKLE_SIZE)
        self.root, _ = load_at(_Slice(source, data), 0, _persistent_storage)

    def read(self, where: Storage, start: int, end: int) -> memoryview:
        return self.archive.window(self._member(where), start, end)

    def read_into(self, where: Storage, start: int, buffer: memoryview) -> None:
        self.archive.read_into(self._member(where), start, buffer)

    def _member(self, where: Storage) -> Member:
        return self.archive.find(f"{self.folder}data/{where.key}")

    def _text(self, name: str) -> str | None:
        name = self.folder + name
        if name not in self.archive.members:
            return None
        return self.archive.read(name, MAX_TEXT).decode("ascii", "replace").strip()


class LegacyContainer(Container):
    """Files of PyTorch 0.1.10 to 1.5: five pickles, then the storages one after another."""

    form = "legacy"

    def __init__(self, source: Source):
        super().__init__(source)
        sizes: dict[str, int] = {}

        def persistent(saved):
            if isinstance(saved, tuple) and len(saved) > 1 and saved[0] == "module":
                return saved[1]
            found = _persistent_storage(saved)
            size = _own_size(saved) * found.itemsize
            if sizes.setdefault(found.key, size) != size:
                raise Damaged(f"is damaged: the storage {found.key!r} in it has two sizes")
            return found

        magic, at = load_at(source, 0, _nothing_persistent)
        version, at = load_at(source, at, _nothing_persistent)
        if magic != _MAGIC or version != 1001:
            raise Damaged("is damaged: its first pickles are not those of a PyTorch checkpoint")
        system, at = load_at(source, at, _nothing_persistent)
        if not isinstance(system, dict) or system.get("little_endian") is not True:
            raise Damaged("was not written on a little-endian machine, which is not supported")
        self.metadata["protocol_version"] = version
        self.root, at = load_at(source, at, persistent)
        keys, at = load_at(source, at, _nothing_persistent)
        if not isinstance(keys, list) or not all(isinstance(key, (str, int)) for key in keys):
            raise Damaged("is damaged: it lacks the list of its storages")
        self._places: dict[str, tuple[int, int]] = {}
        for key in map(str, keys):
            if key not in sizes or key in self._places:
                raise Damaged(f"is damaged: it lists the storage {key[:100]!r} twice, or no tensor is in it")
            self._places[key] = at + 8, sizes[key]
            at += 8 + sizes[key]
        if at > source.size:
            raise Damaged(
                f"has {source.size} bytes, its storages end at byte {at}; it was cut off: save or copy it again"
            )

    def read(self, where: Storage, start: int, end: int) -> memoryview:
        at = self._checked(where, end)
        return self.source.read(at + start, at + end)

    def read_into(self, where: Storage, start: int, buffer: memoryview) -> None:
        self.source.read_into(buffer, self._checked(where, start + len(buffer)) + start)

    def _checked(self, where: Storage, end: int) -> int:
        """Where a storage begins, if it has so many bytes."""
        if where.key not in self._places:
            raise Damaged(f"is damaged: it lacks the storage {where.key!r}")
        at, size = self._places[where.key]
        count = int.from_bytes(self.source.read(at - 8, at), "little", signed=True)
        if count * where.itemsize != size or end > size:
            raise Damaged(f"is damaged: the storage {where.key!r} in it has {count} elements and not those announced")
        return at


class TarContainer(Container):
    """Files of PyTorch before 0.1.10: lists of storages and of tensors, and a pickle, in a tar archive."""

    form = "tar"

    def __init__(self, source: Source):
        super().__init__(source)
        members = _tar_members(source)
        for name in ("storages", "tensors", "pickle"):
            if name not in members:
                raise Damaged(f"is damaged: the tar archive lacks the member {name!r}")
        if "sys_info" in members:
            system, _ = load_at(members["sys_info"], 0, _nothing_persistent)
            if isinstance(system, dict) and system.get("little_endian") is False:
                raise Damaged("was not written on a little-endian machine, which is not supported")
        self._places: dict[str, int] = {}
        self._storages: dict[int, Storage] = {}
        self._tensors: dict[int, Strided] = {}
        self._read_storages(members["storages"])
        self._read_tensors(members["tensors"])
        self.root, _ = load_at(members["pickle"], 0, self._persistent)

    def read(self, where: Storage, start: int, end: int) -> memoryview:
        at = self._places[where.key]
        return self.source.read(at + start, at + end)

    def read_into(self, where: Storage, start: int, buffer: memoryview) -> None:
        self.source.read_into(buffer, self._places[where.key] + start)

    def _persistent(self, saved):
        if isinstance(saved, tuple):
            return saved[0]
        key = int(saved)
        found = self._tensors.get(key) or self._storages.get(key)
        if found is None:
            raise Damaged(f"is damaged: its pickle names the tensor {key}, which is not there")
        return found

    def _read_storages(self, member: "_Slice"):
        count, at = load_at(member, 0, _nothing_persistent)
        for _ in range(_count(count)):
            entry, at = load_at(member, at, _nothing_persistent)
            key, _, kind = _parts(entry, 3)
            numel = int.from_bytes(_exactly(member, at, 8), "little", signed=True)
            found = storage(kind, _key(key), numel)
            self._places[found.key] = member.start + at + 8
            at += 8 + numel * found.itemsize
            if at > member.size:
                raise Damaged("is damaged: a storage in it was cut off; save or copy it again")
            self._storages[_key(key)] = found
        views, _ = load_at(member, at, _nothing_persistent)
        for view in views if isinstance(views, list) else ():
            key, root, offset, numel = _parts(view, 4)
            whole = self._storages.get(_key(root))
            if whole is None or not all(type(n) is int and n >= 0 for n in (offset, numel)):
                raise Damaged("is damaged: a view in it has no storage")
            if offset + numel > whole.numel:
                raise Damaged("is damaged: a view in it reaches past its storage")
            self._storages[_key(key)] = Storage(whole.key, whole.kind, numel, whole.start + offset)

    def _read_tensors(self, member: "_Slice"):
        count, at = load_at(member, 0, _nothing_persistent)
        for _ in range(_count(count)):
            entry, at = load_at(member, at, _nothing_persistent)
            key, where, _ = _parts(entry, 3)
            rank = int.from_bytes(_exactly(member, at, 4), "little", signed=True)
            if not 0 <= rank <= 64:
                raise Damaged(f"is damaged: a tensor in it has the rank {rank}")
            numbers = struct.unpack(f"<{2 * rank + 1}q", _exactly(member, at + 8, 16 * rank + 8))
            at += 16 + 16 * rank
            self._tensors[_key(key)] = strided(
                self._storages.get(_key(where)), numbers[-1], numbers[:rank], numbers[rank:-1]
            )


class PlainContainer(Container):
    """A pickle and nothing else: it can hold no tensors."""

    form = "pickle"

    def __init__(self, source: Source):
        super().__init__(source)
        self.root, _ = load_at(source, 0, _nothing_persistent)

    def read(self, where: Storage, start: int, end: int) -> memoryview:
        raise Damaged("is a plain pickle, which holds no tensors")

    def read_into(self, where: Storage, start: int, buffer: memoryview) -> None:
        self.read(where, start, start + len(buffer))


class _Slice(Source):
    """A part of a source, or bytes that came out of it."""

    def __init__(self, source: Source, data: bytes | None = None, start: int = 0, size: int = 0):
        super().__init__(source.format, source.name)
        self._source, self._data, self.start = source, data, start
        self.size = size if data is None else len(data)

    def read(self, start: int, end: int) -> memoryview:
        if self._data is not None:
            return memoryview(self._data)[start:end]
        return self._source.read(self.start + start, self.start + end)


def _nothing_persistent(saved):
    raise Damaged("is damaged: a pickle in it names something outside, where there is nothing")


def _persistent_storage(saved) -> Storage:
    if not isinstance(saved, tuple) or len(saved) < 5 or saved[0] != "storage":
        raise Damaged("is damaged: its pickle names something outside that is no storage")
    kind, key, _, numel = saved[1:5]
    view = saved[5] if len(saved) > 5 else None
    if view is None:
        return storage(kind, key, numel)
    _, offset, size = _parts(view, 3)
    if not all(type(n) is int and n >= 0 for n in (offset, size, numel)) or offset + size > numel:
        raise Damaged("is damaged: a view in it reaches past its storage")
    return storage(kind, key, size, offset)


def _own_size(saved) -> int:
    """The elements of the storage itself, which a view of it shows a part of."""
    if type(saved[4]) is not int or saved[4] < 0:
        raise Damaged("is damaged: a storage in it has no size")
    return saved[4]


def _parts(value, count: int) -> tuple:
    if not isinstance(value, (tuple, list)) or len(value) < count:
        raise Damaged("is damaged: an entry of one of its lists is malformed")
    return tuple(value[:count])


def _key(value) -> int:
    if type(value) is not int:
        raise Damaged("is damaged: a storage or tensor in it has no number")
    return value


def _count(value) -> int:
    if type(value) is not int or not 0 <= value <= 1_000_000:
        raise Damaged("is damaged: it does not say how many tensors it holds, or too many")
    return value


def _exactly(source: Source, at: int, count: int) -> bytes:
    if at + count > source.size:
        raise Damaged("is damaged: it was cut off; save or copy it again")
    return bytes(source.read(at, at + count))


def _tar_members(source: Source) -> dict[str, _Slice]:
    """The regular files of a tar archive by name; links are refused, and so are names that lead out of it."""
    members: dict[str, _Slice] = {}
    at = 0
    while at + _BLOCK <= source.size and len(members) < 1000:
        head = bytes(source.read(at, at + _BLOCK))
        if not any(head):
            break
        try:
            if sum(head[:148]) + sum(head[156:]) + 8 * 32 != int(head[148:156].split(b"\0")[0] or b"0", 8):
                raise ValueError("a wrong sum")
            size = int(head[124:136].split(b"\0")[0].strip() or b"0", 8)
            name = head[:100].split(b"\0")[0].decode()
        except ValueError as error:
            raise Damaged(f"is damaged: a header of the tar archive is malformed: {error}") from error
        check_name(name)
        kind = head[156:157]
        if size < 0 or at + _BLOCK + size > source.size:
            raise Damaged(f"is damaged: the member {name!r} was cut off; save or copy it again")
        if kind in (b"0", b"\0"):
            name = name.removeprefix("./")
            if name in members:
                raise Damaged(f"is damaged: it holds two members named {name!r}")
            members[name] = _Slice(source, None, at + _BLOCK, size)
        elif kind in (b"1", b"2"):
            raise Damaged(f"holds the link {name!r}, which no checkpoint has: do not trust the file")
        at += _BLOCK + -(-size // _BLOCK) * _BLOCK
    return members
