"""Backends: what runs the ops of a device. `contract` says what a backend provides, each folder is one backend."""

from burn._hints import lacking as _lacking


def __getattr__(name):
    """Names that wait, or that Burn has no longer, say what to use."""
    raise _lacking(__name__, name)
