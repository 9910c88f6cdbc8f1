"""Compiled modules on disk: written whole or not at all, checked when they are read, optional.

A file is named by what it was made from (source, options, architecture, toolkit) and starts with the hash of its content, so a
damaged one is noticed and made again. Where the folder cannot be written, kernels are compiled in each process, after
one warning.
"""

import contextlib
import functools
import hashlib
import os
import threading
import warnings
from pathlib import Path

__all__ = ["folder", "key", "load", "store"]

MAGIC = b"burn cubin 1\n"
DIGEST = 32

_warned = False


@functools.cache
def folder():
    """The cache folder: BURN_CUDA_CACHE, else `burn/cuda` in the user's cache folder; the same for the whole process.

    Raises:
        OSError: the user has no home, as in a container with a number for a user.
    """
    named = os.environ.get("BURN_CUDA_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    path = os.path.expanduser(named or os.path.join(base, "burn", "cuda"))
    if path.startswith("~"):
        raise OSError(f"no home folder for {path}")
    return Path(path).absolute()


def key(source, options, arch):
    """Name of what a module is made from, but for the toolkit."""
    return hashlib.sha256("\0".join([source, *options, arch]).encode()).hexdigest()[:32]


def _path(label, name, toolkit):
    return folder() / f"{label}-{name}-{toolkit}.cubin"


def load(label, name, toolkit):
    """The module of that name, or None. Without a toolkit (None) one made by any toolkit will do."""
    try:
        paths = [_path(label, name, toolkit)] if toolkit else sorted(folder().glob(f"{label}-{name}-*.cubin"))
        for path in paths:
            if path.exists():
                data = path.read_bytes()
                content = data[len(MAGIC) + DIGEST :]
                if data[: len(MAGIC)] == MAGIC and hashlib.sha256(content).digest() == data[len(MAGIC) :][:DIGEST]:
                    return content
                _warn(f"{path} is damaged and is made again")
    except OSError as e:
        _warn(f"the cache of compiled kernels cannot be read ({e}); kernels are compiled in each process")
    return None


def store(label, name, toolkit, content):
    """Keeps a module, and says whether it could; a failure costs a warning only."""
    temporary = None
    try:
        path = _path(label, name, toolkit)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}")
        with open(temporary, "xb") as file:
            file.write(MAGIC + hashlib.sha256(content).digest() + content)
        os.replace(temporary, path)
        return True
    except OSError as e:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
        _warn(f"the cache of compiled kernels cannot be written ({e}); kernels are compiled in each process")
    return False


def _warn(text):
    """One warning a process: a broken cache would repeat it for each module."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(f"[cuda] {text}; BURN_CUDA_CACHE names another folder", RuntimeWarning, stacklevel=2)
