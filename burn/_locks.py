"""Locks that a forked child does not find taken for ever."""

import os
import threading
import weakref

__all__ = ["Lock"]


class Lock:
    """A lock that the thread which has it may take again, as ``with lock.held:``.

    A fork copies locks as they are, but only the thread that forks goes on in the child: what others had taken is free there.
    A copy, or one that was pickled, is a lock of its own.

    >>> lock = Lock()
    >>> with lock.held, lock.held:
    ...     pass
    """

    __slots__ = ("__weakref__", "held")

    def __init__(self) -> None:
        self.held = threading.RLock()
        _known.add(self)

    def __reduce__(self):
        return Lock, ()


_known: "weakref.WeakSet[Lock]" = weakref.WeakSet()


def _renew() -> None:
    for lock in list(_known):
        if lock.held.acquire(blocking=False):  # nobody has it, or the thread that forked
            lock.held.release()
        else:
            lock.held = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
