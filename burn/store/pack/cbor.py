"""The CBOR that Burn's writer emits: definite lengths, insertion order, shortest numbers.

Reading is left to cbor2; writing is done here, because a file must come out byte for byte as Burn writes it.
"""

import struct

from burn.errors import ArgumentTypeError

_QUIET_NAN = 0x7FF8 << 48


def encode(value) -> bytes:
    """Encodes nested dicts (in their own order), lists, tuples, str, int, float, bool and None.

    Args:
        value: the value to encode.

    Returns:
        The CBOR bytes.

    Raises:
        TypeError: a value of another type.
        OverflowError: an integer that does not fit 64 bits.

    >>> encode({"a": [1, -1, 0.5, None]}).hex()
    'a16161840120f93800f6'
    """
    out = bytearray()
    _encode(value, out)
    return bytes(out)


def _encode(value, out: bytearray):
    if value is None:
        out.append(0xF6)
    elif value is True:
        out.append(0xF5)
    elif value is False:
        out.append(0xF4)
    elif isinstance(value, str):
        text = value.encode()
        _head(3, len(text), out)
        out += text
    elif isinstance(value, int):
        _head(0, value, out) if value >= 0 else _head(1, -1 - value, out)
    elif isinstance(value, float):
        out += encode_float(value)
    elif isinstance(value, dict):
        _head(5, len(value), out)
        for key, item in value.items():
            _encode(key, out)
            _encode(item, out)
    elif isinstance(value, (list, tuple)):
        _head(4, len(value), out)
        for item in value:
            _encode(item, out)
    else:
        raise ArgumentTypeError(f"[cbor] cannot encode a value of type {type(value).__name__}")


def _head(major: int, number: int, out: bytearray):
    major <<= 5
    if number < 24:
        out.append(major | number)
    elif number < 1 << 8:
        out += bytes((major | 24, number))
    elif number < 1 << 16:
        out += struct.pack(">BH", major | 25, number)
    elif number < 1 << 32:
        out += struct.pack(">BI", major | 26, number)
    elif number < 1 << 64:
        out += struct.pack(">BQ", major | 27, number)
    else:
        raise OverflowError(f"[cbor] the integer {number} does not fit 64 bits")


def encode_float(value: float) -> bytes:
    """A float in the shortest of 16, 32 and 64 bits that gives back the very same 64-bit pattern.

    >>> encode_float(1.0).hex(), encode_float(0.1).hex()
    ('f93c00', 'fb3fb999999999999a')
    """
    bits = struct.pack(">d", value)
    if value != value:
        return _encode_nan(int.from_bytes(bits, "big"))
    for head, code in ((b"\xf9", ">e"), (b"\xfa", ">f")):
        try:
            short = struct.pack(code, value)
        except OverflowError:
            continue
        if struct.pack(">d", *struct.unpack(code, short)) == bits:
            return head + short
    return b"\xfb" + bits


def _encode_nan(bits: int) -> bytes:
    # Conversions make a NaN quiet, so only quiet ones survive a shorter form; their payload must fit it.
    sign, payload = bits >> 63, bits & ((1 << 52) - 1)
    if bits & _QUIET_NAN == _QUIET_NAN:
        if payload & ((1 << 42) - 1) == 0:
            return b"\xf9" + (sign << 15 | 0x7C00 | payload >> 42).to_bytes(2, "big")
        if payload & ((1 << 29) - 1) == 0:
            return b"\xfa" + (sign << 31 | 0x7F800000 | payload >> 29).to_bytes(4, "big")
    return b"\xfb" + bits.to_bytes(8, "big")
