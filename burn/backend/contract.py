"""What a backend and the dispatcher agree on.

A kernel takes plain arrays: `kernel(outs, ins, ints, floats)` writes its results into `outs`, which dispatch allocated.
Values that cannot be used, such as an index outside its axis, are reported by code, never by a message: only the
dispatcher knows the op and the argument as the caller wrote them.
"""

import os

# Codes of values found wrong by a kernel: the numbers of `burn/_core/abi.h`.
OK = 0
INDEX = 1
ZERO_DIV = 2
MEMORY = 3
SHIFT = 4


def is_on(name: str) -> bool:
    """Whether an environment variable switches something on: set, and not to 0, false, no or off."""
    return os.environ.get(name, "").strip().lower() not in ("", "0", "false", "no", "off")


class KernelError(Exception):
    """A value that a kernel cannot use; the dispatcher turns it into the error that the caller sees.

    Args:
        code: `INDEX`, `ZERO_DIV`, `MEMORY` or `SHIFT`.
        position: flat position of the value in its tensor (bytes asked for with `MEMORY`).
        value: the value found.
        size: size of the axis that an index is for, else 0.

    Example:
        >>> KernelError(INDEX, position=4, value=7, size=3).value
        7
    """

    def __init__(self, code: int, position: int = 0, value: int = 0, size: int = 0):
        super().__init__(code, position, value, size)
        self.code = code
        self.position = position
        self.value = value
        self.size = size
