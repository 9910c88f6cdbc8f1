"""Identifiers of parameters."""

import os

from burn._arguments import instance, integer
from burn._waiting import LackingNames
from burn.errors import ModuleError

_ALPHABET = "0123456789abcdefghijklmnopqrstuv"
_DIGITS = {letter: value for value, letter in enumerate(_ALPHABET)}
_U64 = 1 << 64


class ParamId(metaclass=LackingNames):
    """A 64-bit identifier of a parameter: kept by every copy of the parameter and written into records.

    Optimizer state is keyed by it. The text form is base32 in lower case (13 letters), as Burn prints it.
    Mirrors `burn::module::ParamId`.

    >>> ParamId(42), str(ParamId(123456)), ParamId.parse("83H0200000000").val(), ParamId.from_(42) == ParamId(42)
    (ParamId(5800000000000), '83h0200000000', 123456, True)
    """

    __slots__ = ("_value",)

    def __init__(self, value: int | None = None):
        """A random id, or the given one.

        Args:
            value: an integer from 0 to 2^64 - 1; None draws one from the operating system, so a seed of a device
                does not fix it.

        Raises:
            ModuleError: the value does not fit 64 bits.
        """
        if value is None:
            value = int.from_bytes(os.urandom(8), "little")
        value = integer("ParamId", "value", value)
        if not 0 <= value < _U64:
            raise ModuleError(f"[ParamId] 'value' must be from 0 to 2^64 - 1, got {value}")
        self._value = value

    def val(self) -> int:
        """The integer."""
        return self._value

    @classmethod
    def parse(cls, text: str) -> "ParamId":
        """Reads the text form; the shorter ids of older releases are accepted, letters of either case.

        Args:
            text: the text.

        Raises:
            ModuleError: the text is not base32 of at most 8 bytes. UUIDs are refused: Burn hashes them to a number
                that depends on the machine.
        """
        digits = [_DIGITS.get(letter) for letter in instance("ParamId", "text", text, str).lower()]
        size, spare = divmod(5 * len(digits), 8)
        if not digits or None in digits or size > 8 or spare > 4:
            raise ModuleError(f"[ParamId] 'text' must be an id such as '83h0200000000', got {text!r}")
        number = 0
        for digit in digits:
            number = number << 5 | digit
        if number & ((1 << spare) - 1):
            raise ModuleError(f"[ParamId] 'text' must be an id such as '83h0200000000', got {text!r}")
        return cls(int.from_bytes((number >> spare).to_bytes(size, "big"), "little"))

    @classmethod
    def from_(cls, value: int) -> "ParamId":
        """The id with this value.

        Args:
            value: an integer from 0 to 2^64 - 1.
        """
        return cls(value)

    def __str__(self):
        # 8 bytes are 64 bits; one more bit makes 13 letters of 5.
        number = int.from_bytes(self._value.to_bytes(8, "little"), "big") << 1
        return "".join(_ALPHABET[number >> shift & 31] for shift in range(60, -1, -5))

    def __repr__(self):
        return f"ParamId({self})"

    def __int__(self):
        return self._value

    def __eq__(self, other):
        return self._value == other._value if isinstance(other, ParamId) else NotImplemented

    def __lt__(self, other):
        return self._value < other._value if isinstance(other, ParamId) else NotImplemented

    def __hash__(self):
        return hash(self._value)

    def __reduce__(self):
        return ParamId, (self._value,)
