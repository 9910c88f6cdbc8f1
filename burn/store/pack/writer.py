"""Writing burnpack containers."""

import os

from . import cbor
from .atomic import AtomicFile
from .base import (
    FORMAT_VERSION,
    HEADER_SIZE,
    MAGIC_NUMBER,
    MAX_FILE_SIZE,
    MAX_METADATA_SIZE,
    MAX_TENSOR_COUNT,
    MAX_TENSOR_SIZE,
    AlreadyExists,
    PackError,
    ValidationError,
    align,
    aligned_data_section_start,
    named_file,
    reason,
    with_default_extension,
)
from .tensor import PackTensor, Scalar, as_bytes, check_declared_size

_CHUNK = 8 << 20


class Writer:
    """Writes tensors, text metadata and scalars as one burnpack container.

    The data keeps the order of the tensors; the descriptors are sorted by name. Everything that can be checked is
    checked before a byte is written and before a deferred tensor is read. Mirrors `burn_pack::Writer`.

    >>> import numpy as np
    >>> data = Writer([PackTensor.from_numpy("w", np.zeros(2, "f4"), param_id=1)]).into_bytes()
    >>> len(data), data[:4]
    (264, b'NRUB')
    """

    def __init__(self, tensors=()):
        """A writer of the given PackTensors."""
        self._tensors = list(tensors)
        self._metadata: dict[str, str] = {}
        self._scalars: dict[str, Scalar] = {}
        self._auto_extension = True
        self._overwrite = True
        self._sync = False

    def with_metadata(self, key: str, value: str) -> "Writer":
        """Adds a text entry; the last value of a key wins."""
        self._metadata[str(key)] = str(value)
        return self

    def with_scalar(self, key: str, value) -> "Writer":
        """Adds a scalar (a Scalar or a plain number); the last value of a key wins."""
        self._scalars[str(key)] = Scalar.of(value)
        return self

    def auto_extension(self, enable: bool) -> "Writer":
        """Whether ``.bpk`` is appended to a path without extension (default True)."""
        self._auto_extension = enable
        return self

    def overwrite(self, enable: bool) -> "Writer":
        """Whether an existing file is replaced (default True)."""
        self._overwrite = enable
        return self

    def sync(self, enable: bool) -> "Writer":
        """Whether saving waits until the file is on the disk (default False): it then survives a loss of power too."""
        self._sync = enable
        return self

    def size(self) -> int:
        """Size of the container in bytes; no deferred tensor is read."""
        return self._plan()[2]

    def into_bytes(self) -> bytes:
        """The whole container in memory."""
        header, starts, _ = self._plan()
        return b"".join(self._pieces(header, starts))

    def write_into(self, buffer) -> int:
        """Writes the container to the start of a writable buffer and returns its size.

        Raises:
            PackError: the buffer is too small.
        """
        header, starts, size = self._plan()
        view = memoryview(buffer).cast("B")
        if view.nbytes < size:
            raise PackError(f"[burnpack] 'buffer' must hold {size} bytes, got {view.nbytes}")
        position = 0
        for piece in self._pieces(header, starts):
            view[position : position + len(piece)] = piece
            position += len(piece)
        return position

    def write_to_file(self, path) -> str:
        """Writes the container so that the file is always the old one or the new one, never a part.

        Args:
            path: destination; ``.bpk`` is appended where it has no extension.

        Returns:
            The path written.

        Raises:
            AlreadyExists: something is there and ``overwrite(False)`` was asked for.
            PackError: the file cannot be written, or the content breaks a limit.
        """
        path = self._destination(path)
        header, starts, _ = self._plan()
        if not self._overwrite and os.path.lexists(path):
            raise _exists(path)
        try:
            with AtomicFile(path, self._overwrite, self._sync) as file:
                self._write(file, header, starts)
        except FileExistsError:
            raise _exists(path) from None
        except PackError:
            raise
        except OSError as error:
            raise PackError(f"[burnpack] cannot write {path!r}: {reason(error)}") from error
        return path

    def write_to_file_in_place(self, path) -> str:
        """Truncates the file and writes to it: keeps inode, owner and links, but a failure leaves a short file."""
        path = self._destination(path)
        header, starts, _ = self._plan()
        try:
            with open(path, "wb", buffering=0) as file:
                self._write(file, header, starts)
        except PackError:
            raise
        except OSError as error:
            raise PackError(f"[burnpack] cannot write {path!r}: {reason(error)}") from error
        return path

    def _destination(self, path) -> str:
        path = named_file(path)
        full = with_default_extension(path) if self._auto_extension else path
        folder = next(filter(os.path.isdir, (path, full)), None)
        if folder is not None:
            raise PackError(f"[burnpack] cannot write {folder!r}: it is a folder; name a file in it")
        return full

    def _plan(self) -> tuple[bytes, list[int], int]:
        """Checks everything and returns header with metadata and padding, the data offsets, the size of the file."""
        if len(self._tensors) > MAX_TENSOR_COUNT:
            raise ValidationError(
                f"[burnpack] a container holds at most {MAX_TENSOR_COUNT} tensors, got {len(self._tensors)}"
            )
        descriptors, starts, end = {}, [], 0
        for tensor in self._tensors:
            self._check(tensor, descriptors)
            start = align(end)
            end = start + tensor.byte_len()
            starts.append(start)
            descriptor = {"dtype": tensor.dtype.to_cbor(), "shape": tensor.shape, "data_offsets": (start, end)}
            if tensor.param_id is not None:
                descriptor["param_id"] = tensor.param_id
            descriptors[tensor.name] = descriptor
        content = {"tensors": _sorted(descriptors)}
        if self._metadata:
            content["metadata"] = _sorted(self._metadata)
        if self._scalars:
            content["scalars"] = {key: {s.variant: s.value} for key, s in _sorted(self._scalars).items()}
        metadata = cbor.encode(content)
        if len(metadata) > MAX_METADATA_SIZE:
            raise ValidationError(
                f"[burnpack] the metadata may take {MAX_METADATA_SIZE} bytes, got {len(metadata)}; "
                "use fewer or shorter names"
            )
        data_start = aligned_data_section_start(len(metadata))
        # A trailing empty tensor can start past the last byte: the file is padded up to there.
        size = data_start + end
        if size > MAX_FILE_SIZE:
            raise ValidationError(f"[burnpack] a file may take {MAX_FILE_SIZE} bytes, got {size}; split the record")
        fixed = (
            MAGIC_NUMBER.to_bytes(4, "little")
            + FORMAT_VERSION.to_bytes(2, "little")
            + len(metadata).to_bytes(4, "little")
        )
        return fixed + metadata + bytes(data_start - HEADER_SIZE - len(metadata)), starts, size

    @staticmethod
    def _check(tensor: PackTensor, seen: dict):
        if tensor.name in seen:
            raise ValidationError(f"[burnpack] two tensors are named {tensor.name!r}; names must differ")
        check_declared_size(tensor.name, tensor.dtype, tensor.shape, tensor.byte_len())
        if tensor.byte_len() > MAX_TENSOR_SIZE:
            raise ValidationError(
                f"[burnpack] a tensor may take {MAX_TENSOR_SIZE} bytes, {tensor.name!r} takes {tensor.byte_len()}"
            )

    def _write(self, file, header: bytes, starts: list[int]):
        for piece in self._pieces(header, starts):
            for begin in range(0, len(piece), _CHUNK):
                chunk = memoryview(piece)[begin : begin + _CHUNK]
                while chunk:
                    chunk = chunk[file.write(chunk) :]

    def _pieces(self, header: bytes, starts: list[int]):
        """The bytes of the container in order; each deferred tensor is read when its turn comes."""
        yield header
        position = 0
        for tensor, start in zip(self._tensors, starts):
            if start > position:
                yield bytes(start - position)
            data = as_bytes(tensor.to_bytes())
            yield data
            position = start + len(data)


def _sorted(entries: dict) -> dict:
    return {key: entries[key] for key in sorted(entries, key=str.encode)}


def _exists(path) -> AlreadyExists:
    return AlreadyExists(f"[burnpack] {path!r} exists already; delete it, or allow replacing it with overwrite(True)")
