"""A stand-in for PyCUDA: its compiler makes kernels for the emulated driver."""

VERSION = (2026, 1)
VERSION_TEXT = "2026.1"
__version__ = VERSION_TEXT
