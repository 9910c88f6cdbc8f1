"""Files that appear under their name only when they are complete."""

import contextlib
import errno
import itertools
import os
import re
import stat

_counter = itertools.count()
_MAX_NAME = 255  # bytes, on all common file systems
_SUFFIX = 40  # more than what scratch files have after the name


class AtomicFile:
    """Writes to a scratch file beside the destination and moves it there when it is complete.

    Used as a context manager it commits at the end of the block, and removes the scratch file when the block raises.
    A process that is killed leaves the destination as it was, and a scratch file that the next save under that name
    removes. A symbolic link at the destination is replaced by a regular file; the permission bits of a regular file
    there are kept.

    Mirrors `burn_pack::AtomicFile`. Errors are plain `OSError`.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.txt")
    >>> with AtomicFile(path) as file:
    ...     _ = file.write(b"all or nothing")
    >>> os.listdir(os.path.dirname(path)), os.path.getsize(path)
    (['a.txt'], 14)
    """

    def __init__(self, destination, overwrite: bool = True, sync: bool = True):
        """Opens the scratch file.

        Args:
            destination: path of the file to make.
            overwrite: replace what is there; otherwise the commit raises FileExistsError.
            sync: wait until file and name are on the disk, so that a loss of power leaves the old file or the new one too.

        Raises:
            OSError: the directory is missing or not writable, or the path names no file, or a pipe or a device.
        """
        self.destination = os.fspath(destination)
        self.overwrite = overwrite
        self.sync = sync
        directory, name = os.path.split(self.destination)
        if name in ("", ".", ".."):
            raise OSError(f"cannot write to {self.destination!r}: not a file path")
        if _is_special(self.destination):  # else /dev/null would give way to a file
            raise OSError(errno.EINVAL, "it is a pipe or a device, and no file; name a file")
        self._directory = directory or "."
        stem = _stem(name)
        _remove_stale(self._directory, stem)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        while True:
            self._scratch = os.path.join(directory, f"{stem}.{os.getpid()}-{next(_counter)}.tmp")
            try:
                descriptor = os.open(self._scratch, flags, 0o666)
                break
            except FileExistsError:
                continue
        _lock(descriptor)
        self.file = os.fdopen(descriptor, "wb", buffering=0)

    @classmethod
    def create(cls, destination) -> tuple["AtomicFile", object]:
        """A guard for ``destination`` and the open file to write to."""
        guard = cls(destination)
        return guard, guard.file

    def path(self) -> str:
        """Path of the scratch file."""
        return self._scratch

    def commit(self):
        """Flushes to disk (unless ``sync=False``) and moves the file to its destination, replacing what is there."""
        self._publish(overwrite=True)

    def commit_new(self):
        """The same as `commit`, but FileExistsError if anything is at the destination."""
        self._publish(overwrite=False)

    def discard(self):
        """Removes the scratch file, as far as that is possible; does nothing after a commit."""
        self.file.close()
        if self._scratch is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._scratch)
            self._scratch = None

    def __enter__(self):
        return self.file

    def __exit__(self, kind, value, traceback):
        if kind is None:
            self._publish(self.overwrite)
        else:
            self.discard()

    def _publish(self, overwrite: bool):
        try:
            if self.sync:
                os.fsync(self.file.fileno())
            self._keep_permissions()
            self.file.close()
            self._move(overwrite)
        except BaseException:
            self.discard()
            raise
        self._scratch = None
        if self.sync:
            self._sync_directory()

    def _keep_permissions(self):
        try:
            status = os.lstat(self.destination)
        except FileNotFoundError:
            return
        if stat.S_ISREG(status.st_mode) and hasattr(os, "fchmod"):
            os.fchmod(self.file.fileno(), stat.S_IMODE(status.st_mode))

    def _move(self, overwrite: bool):
        if overwrite:
            os.replace(self._scratch, self.destination)
            return
        # A hard link refuses an existing name in one step; file systems without links get the two-step form.
        try:
            os.link(self._scratch, self.destination, follow_symlinks=False)
        except FileExistsError:
            raise
        except (OSError, NotImplementedError, AttributeError):
            if os.path.lexists(self.destination):
                raise FileExistsError(f"{self.destination!r} exists already") from None
            os.rename(self._scratch, self.destination)
        else:
            os.unlink(self._scratch)

    def _sync_directory(self):
        if os.name != "posix":
            return
        try:
            descriptor = os.open(self._directory, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise OSError(
                f"{self.destination!r} was saved, but its directory could not be flushed to disk: {error}"
            ) from error


def _is_special(path: str) -> bool:
    """Whether a pipe, a device or a socket is there, a link to one included."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _stem(name: str) -> str:
    """What the names of scratch files start with: the name of the file, cut where theirs would become too long."""
    return os.fsencode(name)[: _MAX_NAME - _SUFFIX].decode(errors="ignore")


def _remove_stale(directory: str, name: str):
    """Removes the scratch files that killed processes left of a file, as far as that is possible."""
    scratch = re.compile(re.escape(name) + r"\.([1-9]\d*)-\d+\.tmp")
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            match = scratch.fullmatch(entry.name)
            if match and entry.is_file(follow_symlinks=False) and _is_dead(int(match[1])):
                with contextlib.suppress(OSError):
                    descriptor = os.open(entry.path, os.O_RDWR)
                    try:
                        # A process of another machine or container may have the number; it holds the lock.
                        if _lock(descriptor):
                            os.unlink(entry.path)
                    finally:
                        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Marks an open scratch file as in use; False if another process did so, or where that cannot be told."""
    try:
        import fcntl  # POSIX only

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _is_dead(process: int) -> bool:
    """Whether no process has this number; False where that cannot be told."""
    if os.name != "posix":
        return False  # there os.kill would end the process
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False
