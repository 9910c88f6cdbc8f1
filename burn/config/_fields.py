"""The values of fields: numbers and containers as their annotations ask for them, and as they would come from JSON."""

import math
import types
import typing

import numpy as np

from burn._arguments import fits, shown
from burn.errors import ConfigError

F32 = typing.Annotated[float, np.float32]
"""A float field that Burn keeps in 32 bits: the field and JSON have the digits that they need."""
F32_END = 2.0**128 - 2.0**103  # what is not below it rounds to infinity in 32 bits


def own_value(value, hint):
    """A copy of a container, in the type that its annotation asks for, and a number, as they would come from JSON.

    Raises OverflowError for a number that its type does not hold.
    """
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is F32:
        return _single(value)
    if origin is typing.Annotated:
        return own_value(value, arguments[0])
    if origin in (typing.Union, types.UnionType):
        return own_value(value, next((choice for choice in arguments if fits(value, choice)), None))
    kind = origin or hint
    if isinstance(value, dict):
        item = arguments[1] if kind is dict and arguments else None
        return {key: own_value(entry, item) for key, entry in value.items()}
    if type(value) in (list, tuple):  # not what derives from them, such as a named tuple
        items = [own_value(item, each) for item, each in zip(value, inner_hints(hint, len(value)))]
        return tuple(items) if kind is tuple or (kind is not list and type(value) is tuple) else items
    if hint is float:
        float(value)  # raises for an int that is too large
    return value.item() if isinstance(value, (np.integer, np.bool_)) else value


def _single(value):
    """The shortest number that is the same in 32 bits."""
    number = float(value)
    if not math.isfinite(number):
        return number
    if abs(number) >= F32_END:
        raise OverflowError
    single = float(str(np.float32(number)))
    return value if type(value) in (int, float) and single == value else single


def dict_hints(hint) -> list:
    """The types of a dict's keys and values."""
    for choice in (hint, *typing.get_args(hint)):
        if typing.get_origin(choice) is dict:
            return list(typing.get_args(choice))
    return [typing.Any, typing.Any]


def inner_hints(hint, count: int) -> list:
    """The types of a sequence's items."""
    for choice in (hint, *typing.get_args(hint)):
        origin, arguments = typing.get_origin(choice), typing.get_args(choice)
        if origin in (list, tuple) and arguments:
            return [arguments[0]] * count if origin is list or arguments[-1] is ... else list(arguments)
    return [typing.Any] * count


def is_f32(hint) -> bool:
    return hint is F32 or F32 in typing.get_args(hint)


def has_f32(hint) -> bool:
    return hint is F32 or any(map(has_f32, typing.get_args(hint)))


def wants_float(hint) -> bool:
    choices = {hint, *typing.get_args(hint)}
    return bool(choices & {float, F32}) and int not in choices


def check_text(value: str, where: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ConfigError(f"[config] {where!r} must be Unicode to be saved as JSON, got {value!r}") from error
    return value


def key_to_json(key, where: str) -> str:
    """The key of an object: a text, or an integer, as Burn's maps have them."""
    if isinstance(key, str):
        return check_text(key, where)
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
        return str(key)
    raise ConfigError(f"[config] the keys of {where!r} must be texts or integers to be saved as JSON, got {shown(key)}")


def key_from_json(key: str, kind, where: str):
    if kind is not int:
        return key
    expect(key.removeprefix("-").isdecimal() and key.isascii(), "an object with integers as keys", key, where)
    return int(key)


def expect(holds: bool, wanted: str, value, where: str):
    if not holds:
        shown = repr(value)
        raise ConfigError(
            f"[config] {where!r} must be {wanted}, got {shown if len(shown) <= 60 else shown[:57] + '...'}"
        )
