"""The errors of pycuda.driver, and what it says about the devices."""

import ctypes
import os

__all__ = ["CompileError", "Device", "Error", "LogicError", "MemoryError", "RuntimeError", "get_version", "init"]

CUDA_DEBUGGING = False


class Error(Exception):
    """What all errors of PyCUDA are."""


class LogicError(Error):
    """A wrong argument, or nothing was initialized."""


class MemoryError(Error):
    """The device has no room."""


class RuntimeError(Error):
    """A call of the driver failed."""


class CompileError(Error):
    """The compiler did not take the source."""

    def __init__(self, msg, command_line, stdout=None, stderr=None):
        self.msg = msg
        self.command_line = command_line
        self.stdout = stdout
        self.stderr = stderr

    def __str__(self):
        parts = [self.msg]
        if self.command_line:
            parts.append(f"[command: {' '.join(self.command_line)}]")
        parts += [f"[{name}:\n{text}]" for name, text in (("stdout", self.stdout), ("stderr", self.stderr)) if text]
        return "\n".join(parts)


def _call(name, *args):
    library = ctypes.CDLL(os.environ["BURN_CUDA_DRIVER"])
    code = getattr(library, name)(*args)
    if code:
        raise LogicError(f"{name} failed: {code}")


def init(flags=0):
    """Starts the driver."""
    _call("cuInit", flags)


def get_version():
    """The toolkit that PyCUDA was built for."""
    return (13, 0, 0)


def get_driver_version():
    """The driver's version, as a number."""
    return 13000


class Device:
    """A device, by its number."""

    def __init__(self, number):
        self.handle = ctypes.c_int()
        _call("cuDeviceGet", ctypes.byref(self.handle), number)

    @staticmethod
    def count():
        """How many there are."""
        n = ctypes.c_int()
        _call("cuDeviceGetCount", ctypes.byref(n))
        return n.value

    def name(self):
        """What it is called."""
        text = ctypes.create_string_buffer(100)
        _call("cuDeviceGetName", text, 100, self.handle)
        return text.value.decode()

    def compute_capability(self):
        """What its instructions are, (major, minor)."""
        values = []
        for attribute in (75, 76):
            n = ctypes.c_int()
            _call("cuDeviceGetAttribute", ctypes.byref(n), attribute, self.handle)
            values.append(n.value)
        return tuple(values)
