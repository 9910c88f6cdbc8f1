"""Reading burnpack containers, damaged and hostile ones included."""

import itertools
import os
from collections.abc import Mapping

import numpy as np

from burn._locks import Lock

from .base import (
    FORMAT_VERSION,
    HEADER_SIZE,
    MAGIC_NUMBER,
    MAX_CBOR_RECURSION_DEPTH,
    MAX_FILE_SIZE,
    MAX_METADATA_SIZE,
    MAX_TENSOR_COUNT,
    MAX_TENSOR_SIZE,
    InvalidHeader,
    InvalidMagicNumber,
    InvalidVersion,
    MetadataDeserializationError,
    MissingFile,
    PackError,
    TensorNotFound,
    ValidationError,
    aligned_data_section_start,
    has_extension,
    named_file,
    open_file,
    reason,
    with_default_extension,
)
from .dtype import PackDType
from .legacy import describe
from .tensor import PackTensor, Scalar, as_bytes, check_declared_size

_U64 = 1 << 64
# The decoder makes objects of up to 70 times the bytes that describe them. The descriptors of as many tensors as there
# may be have about two million items; metadata of a few megabytes cannot do harm and is not counted.
_MAX_ITEMS = 4_000_000
_UNCOUNTED = 4 << 20


class _Memory:
    """The bytes of a container that is in memory: parts are views, nothing is copied."""

    def __init__(self, data):
        self._data = as_bytes(data)
        self.size = self._data.nbytes
        self.name = "the bytes"

    def read(self, start: int, end: int) -> memoryview:
        return self._data[start:end]

    def close(self):
        self._data = None


class _File:
    """An open file. It stays open, so a file that is replaced under its name later does no harm."""

    def __init__(self, path: str):
        self.name = repr(path)
        try:
            self._file, self.size = open_file(path)
        except FileNotFoundError as error:
            raise MissingFile(f"[burnpack] cannot open {path!r}: there is no such file") from error
        except OSError as error:
            raise PackError(f"[burnpack] cannot open {path!r}: {reason(error)}") from error
        self._lock = Lock()

    def read(self, start: int, end: int) -> memoryview:
        buffer = memoryview(np.empty(end - start, np.uint8))
        self.read_into(buffer, start)
        return buffer

    def read_into(self, buffer: memoryview, start: int) -> None:
        """Fills a buffer with the bytes from ``start`` on."""
        rest = buffer
        try:
            while rest:
                count = self._read_some(rest, start + len(buffer) - len(rest))
                if not count:
                    raise PackError(f"[burnpack] {self.name} became shorter while it was read; save or copy it again")
                rest = rest[count:]
        except PackError:
            raise
        except ValueError as error:
            raise PackError(f"[burnpack] {self.name} was closed; read it again") from error
        except OSError as error:
            raise PackError(f"[burnpack] cannot read {self.name}: {reason(error)}") from error

    def _read_some(self, buffer: memoryview, start: int) -> int:
        if hasattr(os, "preadv"):  # needs no position, which threads and forked processes share
            return os.preadv(self._file.fileno(), [buffer], start)
        with self._lock.held:
            self._file.seek(start)
            return self._file.readinto(buffer)

    def close(self):
        self._file.close()

    def __del__(self):  # tensors are lazy, so the last one to go closes the file; no need to warn about that
        if hasattr(self, "_file"):
            self._file.close()


class Reader:
    """Reads a burnpack container: names and shapes at once, the data of a tensor when it is asked for.

    A file stays open until the reader and its tensors are gone, or until `close()`. Mirrors `burn_pack::Reader`.

    >>> import numpy as np
    >>> from burn.store.pack import PackTensor, Writer
    >>> data = Writer([PackTensor.from_numpy("w", np.arange(3, dtype="i4"))]).into_bytes()
    >>> reader = Reader.from_bytes(data)
    >>> reader.tensor_names(), reader.tensor("w").to_numpy().tolist()
    (['w'], [0, 1, 2])
    """

    def __init__(self, source):
        """Use `from_bytes`, `from_file` or `from_file_exact`."""
        self._source = source
        try:
            self._read_head()
        except BaseException:
            source.close()
            raise

    @classmethod
    def from_bytes(cls, data) -> "Reader":
        """Reads a container in memory; the tensors are views of ``data``."""
        return cls(_Memory(data))

    @classmethod
    def from_file(cls, path) -> "Reader":
        """Opens a file; ``.bpk`` is appended if the path has no extension and names no existing file.

        Raises:
            MissingFile: there is no such file.
            PackError: it cannot be read, or it is not a sound container.
        """
        path = named_file(path)
        return cls.from_file_exact(
            path if has_extension(path) or os.path.isfile(path) else with_default_extension(path)
        )

    @classmethod
    def from_file_exact(cls, path) -> "Reader":
        """Opens the file at exactly this path."""
        return cls(_File(named_file(path)))

    def metadata(self) -> dict[str, str]:
        """The text entries."""
        return dict(self._metadata)

    def scalars(self) -> dict[str, Scalar]:
        """The scalars."""
        return dict(self._scalars)

    def tensor_names(self) -> list[str]:
        """The names of the tensors, sorted."""
        return sorted(self._entries, key=str.encode)

    def tensor(self, name: str) -> PackTensor:
        """The tensor of that name, its data unread.

        Raises:
            TensorNotFound: no tensor has that name.
        """
        try:
            dtype, shape, start, end, param_id = self._entries[name]
        except KeyError:
            raise TensorNotFound(f"[burnpack] {self._source.name} has no tensor {name!r}") from None
        source, begin = self._source, self._data_start + start
        if isinstance(source, _Memory):
            return PackTensor(name, dtype, shape, source.read(begin, begin + end - start), param_id)
        return PackTensor.deferred(
            name,
            dtype,
            shape,
            end - start,
            lambda: source.read(begin, begin + end - start),
            param_id,
            lambda buffer: source.read_into(buffer, begin),
        )

    def tensor_data(self, name: str) -> bytes:
        """A copy of a tensor's bytes."""
        return bytes(self.tensor(name).to_bytes())

    def into_tensors(self) -> list[PackTensor]:
        """All tensors, sorted by name, their data unread."""
        return [self.tensor(name) for name in self.tensor_names()]

    def in_file_order(self) -> list[PackTensor]:
        """All tensors in the order of their data: the order in which the writer was given them."""
        return [self.tensor(name) for name in sorted(self._entries, key=lambda name: self._entries[name][2:4])]

    def close(self):
        """Closes the file; tensors that were not read yet cannot be read any more."""
        self._source.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _read_head(self):
        source = self._source
        if source.size > MAX_FILE_SIZE and isinstance(source, _File):
            raise ValidationError(f"[burnpack] {source.name} has {source.size} bytes, the limit is {MAX_FILE_SIZE}")
        header = bytes(source.read(0, min(HEADER_SIZE, source.size)))
        magic = MAGIC_NUMBER.to_bytes(4, "little")
        if len(header) < HEADER_SIZE and magic.startswith(header[:4]):
            raise InvalidHeader(
                f"[burnpack] {source.name} has {len(header)} bytes, a burnpack header has {HEADER_SIZE}; "
                "it was cut off: save or copy it again"
            )
        if header[:4] != magic:
            start = bytes(source.read(0, min(64, source.size)))
            raise InvalidMagicNumber(f"[burnpack] {source.name} is not a burnpack file: {describe(start, source.name)}")
        version, metadata_size = int.from_bytes(header[4:6], "little"), int.from_bytes(header[6:10], "little")
        if version != FORMAT_VERSION:
            raise InvalidVersion(
                f"[burnpack] {source.name} has the format version {version}, this release reads {FORMAT_VERSION}"
            )
        if metadata_size > MAX_METADATA_SIZE:
            raise ValidationError(
                f"[burnpack] {source.name} announces {metadata_size} bytes of metadata, "
                f"the limit is {MAX_METADATA_SIZE}"
            )
        if source.size < HEADER_SIZE + metadata_size:
            raise InvalidHeader(
                f"[burnpack] {source.name} has {source.size} bytes, its header announces at least "
                f"{HEADER_SIZE + metadata_size}; it was cut off: save or copy it again"
            )
        content = _decode(source.read(HEADER_SIZE, HEADER_SIZE + metadata_size), source.name)
        self._data_start = aligned_data_section_start(metadata_size)
        self._metadata = _text_map(content.get("metadata", {}))
        self._scalars = {name: _scalar(name, value) for name, value in _text_keys(content, "scalars", {}).items()}
        tensors = _text_keys(content, "tensors")
        if len(tensors) > MAX_TENSOR_COUNT:
            raise ValidationError(
                f"[burnpack] {source.name} announces {len(tensors)} tensors, the limit is {MAX_TENSOR_COUNT}"
            )
        self._entries = {name: _descriptor(name, value) for name, value in tensors.items()}
        self._check_ranges()

    def _check_ranges(self):
        ranges = sorted((start, end, name) for name, (_, _, start, end, _) in self._entries.items() if end > start)
        for (_, end, name), (start, _, other) in itertools.pairwise(ranges):
            if start < end:
                raise ValidationError(f"[burnpack] the tensors {name!r} and {other!r} share bytes of the file")
        if not self._entries:
            return
        needed = self._data_start + max(end for _, _, _, end, _ in self._entries.values())
        if self._source.size < needed:
            raise ValidationError(
                f"[burnpack] {self._source.name} has {self._source.size} bytes, its tensors end at byte {needed}; "
                "it was cut off: save or copy it again"
            )


def _decode(data: memoryview, name: str) -> dict:
    import cbor2  # only readers pay for it

    if data.nbytes > _UNCOUNTED:
        _check_item_count(data, name)
    try:
        content = cbor2.loads(
            data,
            tag_hook=lambda tag, *_: tag.value,
            max_depth=MAX_CBOR_RECURSION_DEPTH,
            strict_hashable_types=True,
        )
    except Exception as error:  # whatever hostile bytes make the decoder raise, memory included
        raise MetadataDeserializationError(f"[burnpack] the metadata of {name} is damaged: {error}") from error
    if not isinstance(content, Mapping):
        raise MetadataDeserializationError(f"[burnpack] the metadata of {name} is damaged: it is not a map")
    return content


def _check_item_count(data: memoryview, name: str):
    """Raises if the CBOR holds more items than any sound container; looks at nothing but the head of each."""
    position, size, items = 0, data.nbytes, 0
    while position < size:
        items += 1
        if items > _MAX_ITEMS:
            raise ValidationError(f"[burnpack] the metadata of {name} holds more than {_MAX_ITEMS} items")
        major, number = data[position] >> 5, data[position] & 31
        position += 1
        if 24 <= number <= 27:
            width = 1 << (number - 24)
            number = int.from_bytes(data[position : position + width], "big")
            position += width
        elif number > 27:
            number = 0
        if major in (2, 3):
            position += number


def _text_keys(content: dict, key: str, default=None) -> dict:
    value = content.get(key, default)
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise MetadataDeserializationError(f"[burnpack] the metadata is damaged: {key!r} must be a map with text keys")
    return value


def _text_map(value) -> dict[str, str]:
    entries = _text_keys({"metadata": value}, "metadata")
    if not all(isinstance(item, str) for item in entries.values()):
        raise MetadataDeserializationError("[burnpack] the metadata is damaged: 'metadata' must map text to text")
    return entries


def _scalar(name: str, value) -> Scalar:
    if isinstance(value, Mapping) and len(value) == 1:
        ((variant, number),) = value.items()
        if variant == "Float" and isinstance(number, int) and not isinstance(number, bool):
            number = float(number) if abs(number) < _U64 else None
        try:
            return Scalar(variant, number)
        except ValidationError:
            pass
    raise MetadataDeserializationError(f"[burnpack] the metadata is damaged: the scalar {name!r} is malformed")


def _descriptor(name: str, value) -> tuple:
    """Checks one tensor's descriptor: (dtype, shape, start, end, param_id)."""
    if not isinstance(value, Mapping):
        raise MetadataDeserializationError(f"[burnpack] the descriptor of tensor {name!r} must be a map")
    for key in ("dtype", "shape", "data_offsets"):
        if key not in value:
            raise MetadataDeserializationError(f"[burnpack] the descriptor of tensor {name!r} lacks {key!r}")
    shape, offsets, param_id = value["shape"], value["data_offsets"], value.get("param_id")
    if not _unsigned(shape):
        raise MetadataDeserializationError(f"[burnpack] the shape of tensor {name!r} must be a list of sizes")
    if not _unsigned(offsets) or len(offsets) != 2:
        raise MetadataDeserializationError(f"[burnpack] the offsets of tensor {name!r} must be two positions")
    if param_id is not None and not _unsigned([param_id]):
        raise MetadataDeserializationError(f"[burnpack] the param_id of tensor {name!r} must be an unsigned integer")
    dtype = PackDType.from_cbor(value["dtype"], name)
    start, end = offsets
    if end < start:
        raise ValidationError(f"[burnpack] tensor {name!r} ends at byte {end}, before its start at {start}")
    if end - start > MAX_TENSOR_SIZE:
        raise ValidationError(f"[burnpack] tensor {name!r} takes {end - start} bytes, the limit is {MAX_TENSOR_SIZE}")
    check_declared_size(name, dtype, shape, end - start)
    return dtype, tuple(shape), start, end, param_id


def _unsigned(values) -> bool:
    return isinstance(values, (list, tuple)) and all(type(item) is int and 0 <= item < _U64 for item in values)
