"""Where the readers of stores take their bytes from: memory, or a file that stays open.

Files are read and not memory-mapped: a mapped file that somebody cuts kills the process with a bus error.
"""

import os

import numpy as np

from burn._arguments import file_path
from burn.errors import StoreIoError
from burn.store.pack.base import open_file
from burn.store.pack.tensor import as_bytes


class Source:
    """Bytes with a name. ``format`` is what messages start with."""

    size: int

    def __init__(self, format: str, name: str):
        self.format = format
        self.name = name

    def read(self, start: int, end: int) -> memoryview:
        """The bytes from ``start`` to ``end``, all of them."""
        raise NotImplementedError

    def is_constant(self) -> bool:
        """Whether nobody ever writes to the bytes that `read` gives."""
        return True

    def read_into(self, buffer, start: int) -> None:
        """Fills a writable buffer with the bytes from ``start`` on."""
        rest = memoryview(buffer).cast("B")
        rest[:] = self.read(start, start + len(rest))

    def error(self, text: str, kind: type[StoreIoError] = StoreIoError) -> StoreIoError:
        """An error about these bytes: ``text`` goes on after their name."""
        return kind(f"[{self.format}] {self.name} {text}")


class MemorySource(Source):
    """The bytes of a container in memory: parts are views, nothing is copied."""

    def __init__(self, format: str, data):
        super().__init__(format, "the file in memory")
        self._data = as_bytes(data)
        self.size = self._data.nbytes

    def is_constant(self) -> bool:
        return isinstance(self._data.obj, bytes)

    def read(self, start: int, end: int) -> memoryview:
        if end > self.size:
            raise self.error(f"end at {self.size}, {end} were asked for; they were cut off")
        return self._data[start:end]


class FileSource(Source):
    """An open file. A file that is replaced under its name later does no harm; threads may read at once."""

    def __init__(self, format: str, path):
        path = file_path(format, path)
        super().__init__(format, repr(path))
        try:
            self._file, self.size = open_file(path)
        except FileNotFoundError as error:
            raise MissingStoreFile(f"[{format}] cannot open {path!r}: there is no such file") from error
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise StoreIoError(f"[{format}] cannot open {path!r}: {reason}") from error

    def read(self, start: int, end: int) -> memoryview:
        try:
            buffer = np.empty(end - start, np.uint8)
        except MemoryError as error:
            raise self.error(f"cannot be read: there is no memory for {end - start} bytes") from error
        self.read_into(buffer.data, start)
        return buffer.data

    def read_into(self, buffer, start: int) -> None:
        rest = memoryview(buffer).cast("B")
        end = start + len(rest)
        try:
            while rest:
                count = os.preadv(self._file.fileno(), [rest], end - len(rest))
                if not count:
                    raise self.error("became shorter while it was read; save or copy it again")
                rest = rest[count:]
        except StoreIoError:
            raise
        except (OSError, ValueError) as error:
            raise self.error(f"cannot be read: {getattr(error, 'strerror', None) or error}") from error

    def __del__(self):  # tensors are lazy, so the last one to go closes the file; no need to warn about that
        if hasattr(self, "_file"):
            self._file.close()


class MissingStoreFile(StoreIoError, FileNotFoundError):
    """There is no file at the path of a store."""
