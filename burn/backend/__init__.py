"""Backends: what runs the ops of a device. `contract` says what a backend provides, each folder is one backend."""

from burn._waiting import no_name as _no_name


def __getattr__(name):
    """Names that wait, or that Burn has no longer, say what to use."""
    _no_name(__name__, name)
