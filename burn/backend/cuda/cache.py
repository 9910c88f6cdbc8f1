"""Compiled modules on disk: written whole or not at all, checked when they are read, optional.

A file is named by what it was made from (source, options, architecture, toolkit) and starts with the hash of its content, so a
damaged one is noticed and made again. Where the folder cannot be written, kernels are compiled in each process, after
one warning.
"""

import hashlib
import os
import tempfile
import warnings
from pathlib import Path

__all__ = ["folder", "key", "load", "store"]

MAGIC = b"burn cubin 1\n"
DIGEST = 32

_warned = False


def folder():
    """The cache folder: BURN_CUDA_CACHE, else `burn/cuda` in the user's cache folder."""
    named = os.environ.get("BURN_CUDA_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "burn" / "cuda"


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
    """Keeps a module; a failure costs a warning only."""
    path = _path(label, name, toolkit)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=path.name, dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(MAGIC + hashlib.sha256(content).digest() + content)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # as any file: others may share the folder
        os.replace(temporary, path)
    except OSError as e:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        _warn(f"the cache of compiled kernels cannot be written ({e}); kernels are compiled in each process")


def _warn(text):
    """One warning a process: a broken cache would repeat it for each module."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(f"[cuda] {text}; BURN_CUDA_CACHE names another folder", RuntimeWarning, stacklevel=2)
