"""Constants and errors of the burnpack container."""

import errno
import os
import stat

from burn._arguments import file_path
from burn.errors import RecordIoError

MAGIC_NUMBER = 0x4255524E
"""First four bytes of a file, little-endian: they read ``NRUB``."""
FORMAT_VERSION = 1
HEADER_SIZE = 10
TENSOR_ALIGNMENT = 256
EXTENSION = "bpk"

MAX_METADATA_SIZE = 100 << 20
MAX_TENSOR_SIZE = 10 << 30
MAX_TENSOR_COUNT = 100_000
MAX_CBOR_RECURSION_DEPTH = 128
MAX_FILE_SIZE = 100 << 30


class PackError(RecordIoError):
    """Base of everything that can be wrong with a burnpack container."""


class InvalidHeader(PackError):
    """Fewer bytes than the header, or than the metadata that it announces."""


class InvalidMagicNumber(PackError):
    """The first bytes are not those of a burnpack container."""


class InvalidVersion(PackError):
    """A format version that this reader does not know."""


class MetadataDeserializationError(PackError):
    """The metadata is not the CBOR map that it should be."""


class TensorNotFound(PackError, LookupError):
    """A tensor name that the container does not hold."""


class TensorBytesSizeMismatch(PackError):
    """A deferred tensor produced another number of bytes than it declared."""


class ValidationError(PackError):
    """Sizes, offsets, names or limits that contradict each other."""


class MissingFile(PackError, FileNotFoundError):
    """There is no file at the path."""


class AlreadyExists(PackError, FileExistsError):
    """Something is at the destination already and must not be replaced."""


def aligned_data_section_start(metadata_size: int) -> int:
    """Offset of the first tensor byte in a file whose metadata takes ``metadata_size`` bytes.

    >>> [aligned_data_section_start(n) for n in (0, 246, 247)]
    [256, 256, 512]
    """
    return align(HEADER_SIZE + metadata_size)


def align(offset: int) -> int:
    """The next multiple of the tensor alignment."""
    return -(-offset // TENSOR_ALIGNMENT) * TENSOR_ALIGNMENT


def has_extension(path) -> bool:
    """Whether the last part of ``path`` has an extension: a dot that is not its first character.

    >>> [has_extension(p) for p in ("model", "model.v1", ".hidden", "dir.x/model", "model.")]
    [False, True, False, False, True]
    """
    return os.path.basename(file_path("burnpack", path)).rfind(".") > 0


def with_default_extension(path) -> str:
    """``path`` with ``.bpk`` appended where it has no extension."""
    path = file_path("burnpack", path)
    return path if has_extension(path) else f"{path}.{EXTENSION}"


def named_file(path) -> str:
    """The text of a path, which must end in a name.

    Raises:
        PackError: it is empty, or ends where a folder begins.
    """
    path = file_path("burnpack", path)
    if os.path.basename(path) in ("", ".", ".."):
        raise PackError(f"[burnpack] 'path' must name a file, got {path!r}; give the file a name, such as 'model.bpk'")
    return path


def open_file(path: str):
    """A file open for reading, unbuffered, and its size.

    Raises:
        OSError: it cannot be opened, or it is a pipe or a device, whose bytes have no positions.
    """
    # Without waiting for a pipe's other end; files are read as ever.
    file = open(path, "rb", buffering=0, opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is a pipe or a device, and no file; copy it into a file first")
    return file, status.st_size


def reason(error: OSError) -> str:
    """The words of the operating system for an error, without number and path."""
    return error.strerror or str(error)
