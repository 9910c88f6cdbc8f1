"""Hyper-parameters in single precision, as Burn holds them: the factors made of them decide the last bits of a step."""

from __future__ import annotations

import math
import struct

from burn.errors import ArgumentError

_F32 = struct.Struct("f")


def to_f32(value: float) -> float:
    """The single-precision number nearest to `value`."""
    return _F32.unpack(_F32.pack(value))[0]


def share(owner: str, name: str, value: float) -> float:
    """`value`, which must lie in [0, 1).

    Raises:
        ArgumentError: if it does not.
    """
    if not 0 <= value < 1:
        raise ArgumentError(f"[{owner}] '{name}' must be in [0, 1), got {value}")
    return float(value)


def not_negative(owner: str, name: str, value: float) -> float:
    """`value`, which must be a finite number of at least 0.

    Raises:
        ArgumentError: if it is not.
    """
    if not (value >= 0 and math.isfinite(value)):
        raise ArgumentError(f"[{owner}] '{name}' must be a finite number of at least 0, got {value}")
    return float(value)
