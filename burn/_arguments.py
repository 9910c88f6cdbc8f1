"""Checks of arguments that many functions share: each returns the value, or raises one sentence."""

import dataclasses
import enum
import math
import operator
import os
import types
import typing

import numpy as np

from burn.errors import ArgumentError, ArgumentTypeError, BurnError, ExecutionError, OutOfMemoryError

_LISTS = (list, tuple)


class Unit:
    """A variant of an enum that has no values: it is an object, and called as the others are it gives itself."""

    def __call__(self) -> typing.Self:
        return self


def no_memory(op: str, count: int, error: MemoryError) -> MemoryError:
    """What to raise for NumPy's MemoryError: one that names the operation and the number of elements."""
    if isinstance(error, BurnError):
        return error
    return OutOfMemoryError(f"[{op}] the host has no memory for {count} elements; use fewer at a time")


def integer(op: str, name: str, value, low: int | None = None, high: int | None = None) -> int:
    """The value as an int, which must not be below ``low`` or above ``high``; a bool or a float is none.

    >>> integer("batch_size", "batch_size", np.int32(3), 1)
    3
    """
    try:
        number = None if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        number = None
    if number is None:
        raise ArgumentTypeError(f"[{op}] {name!r} must be an integer, got {shown(value)}")
    if low is not None and number < low:
        raise ArgumentError(f"[{op}] {name!r} must be at least {low}, got {number}")
    if high is not None and number > high:
        raise ArgumentError(f"[{op}] {name!r} must be at most {high}, got {number}")
    return number


def given(op: str, **values: object) -> None:
    """Refuses None where a value stands for itself.

    >>> given("pool", stride=[2, 2])
    """
    for name, value in values.items():
        if value is None:
            raise ArgumentTypeError(f"[{op}] {name!r} must be given, got None")


def finite(op: str, name: str, value) -> float:
    """The value as a float, which must be finite."""
    if not fits(value, float):
        raise ArgumentTypeError(f"[{op}] {name!r} must be a number, got {shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ArgumentError(f"[{op}] {name!r} must be a finite number, got {shown(value)}")
    return number


def instance(op: str, name: str, value, kind: type, remedy: str = ""):
    """The value, which must be an object of a class; ``remedy`` says what to do otherwise."""
    if isinstance(value, kind):
        return value
    raise ArgumentTypeError(
        f"[{op}] {name!r} must be {described(kind)}, got {shown(value)}{remedy and '; '}{remedy}"
    ) from None


def truth(op: str, name: str, value) -> bool:
    """The value, which must be True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentTypeError(f"[{op}] {name!r} must be True or False, got {shown(value)}")
    return bool(value)


def device(op: str, value):
    """The device; None stands for the default one."""
    from burn.device import Device  # not needed where nothing is placed

    if value is None:
        return Device.default()
    name = value.partition(":")[0] if isinstance(value, str) else ""
    return instance(op, "device", value, Device, f"use Device.{name if name in ('cuda', 'ndarray') else 'flex'}()")


def file_path(op: str, value) -> str:
    """The text of a path."""
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise ArgumentTypeError(f"[{op}] 'path' must be a path (a str or an os.PathLike), got {shown(value)}")
    path = os.fsdecode(value)
    try:
        sound = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        sound = False
    if not sound:
        raise ArgumentError(f"[{op}] 'path' must be a name that a file can have, got {path!r}; take another name")
    return path


def check_variant(self, *_, **__) -> None:
    """The constructor of a `ConfigEnum`, which its variants have too: raises where the enum itself is made."""
    cls = type(self)
    variants = vars(cls).get("_variants")
    if variants:
        forms = [f"{cls.__name__}.{name}" + _fields(variant) for name, variant in variants.items()]
        raise ArgumentTypeError(f"[{cls.__name__}] is no variant by itself; take one of {', '.join(forms)}")


def _fields(variant) -> str:
    """What stands behind the name of a variant where it is made."""
    if not isinstance(variant, type):
        return ""
    return f"({', '.join(field.name for field in dataclasses.fields(variant))})"


def rename(error: BurnError, op: str, **arguments: str) -> None:
    """Lets an error of an operation speak of the one that was called: ``op``, and its names for the arguments.

    >>> error = ArgumentError("[conv2d] 'x' must be large")
    >>> rename(error, "Conv2d", x="input")
    >>> str(error)
    "[Conv2d] 'input' must be large"
    """
    text = error.args[0]
    if error.late or isinstance(error, ExecutionError) or not text.startswith("["):
        return  # no argument is at fault
    text = f"[{op}]{text.partition(']')[2]}"
    for name, called in arguments.items():
        text = text.replace(f"'{name}'", f"'{called}'")
    error.args = (text, *error.args[1:])


def class_name(kind: type) -> str:
    """The name of a class in a message, with the class that it stands in."""
    return kind.__qualname__.rpartition("<locals>.")[2]


def shown(value) -> str:
    """A value in a message: itself if it is short, else its type."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, enum.Enum):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str, bytes, np.generic, *_LISTS)):
        text = repr(value)
        if len(text) <= 60:
            return text
    return class_name(type(value))


def fits(value, hint) -> bool:
    """Whether a value has the type of an annotation; what cannot be judged fits.

    An int is good for a float, NumPy's numbers are good for Python's, lists and tuples are good for each other.

    >>> [fits(3, float), fits(True, int), fits(None, int | None), fits([1, "a"], list[int])]
    [True, False, True, False]
    """
    if hint is bool:
        return isinstance(value, (bool, np.bool_))
    if hint is int:
        return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if hint is float:
        return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return fits(value, arguments[0])
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, choice) for choice in arguments)
    if origin is typing.Literal:
        return value in arguments
    if hint is None:
        return value is None
    kind = origin or hint
    if kind in _LISTS:
        return isinstance(value, _LISTS) and _items_fit(value, kind, arguments)
    if kind is dict and arguments:
        return isinstance(value, dict) and all(
            fits(k, arguments[0]) and fits(v, arguments[1]) for k, v in value.items()
        )
    try:
        return isinstance(value, kind) if isinstance(kind, type) else True
    except TypeError:  # a protocol that cannot be checked
        return True


def _items_fit(values, kind: type, arguments: tuple) -> bool:
    if not arguments:
        return True
    if kind is tuple and arguments[-1] is not ...:
        return len(values) == len(arguments) and all(map(fits, values, arguments))
    return all(fits(value, arguments[0]) for value in values)


def described(hint) -> str:
    """What an annotation asks for, in words.

    >>> described(list[int] | None)
    'a list of integers or None'
    """
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return described(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(described(choice) for choice in arguments)
    if hint in _WORDS:
        return _WORDS[hint]
    if origin in _LISTS:
        if origin is tuple and arguments[-1] is not ...:
            return f"a tuple of {', '.join(described(item) for item in arguments)}"
        item = typing.get_args(arguments[0])[0] if typing.get_origin(arguments[0]) is typing.Annotated else arguments[0]
        plural = _PLURALS.get(item) or f"items that are each {described(item)}"
        return f"a {origin.__name__} of {plural}"
    if origin is dict:
        keys, items = (_PLURALS.get(each, "others") for each in arguments)
        return f"a dict from {keys} to {items}"
    if not isinstance(origin or hint, type):
        return str(hint)
    name = (origin or hint).__name__
    text = f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
    members = getattr(hint, "__members__", None) or getattr(hint, "_variants", None)
    return f"{text} ({', '.join(members)})" if members else text


_WORDS = {
    bool: "True or False",
    int: "an integer",
    float: "a number",
    str: "a str",
    dict: "a dict",
    list: "a list",
    tuple: "a tuple",
    None: "None",
    types.NoneType: "None",
}
_PLURALS = {int: "integers", float: "numbers", str: "texts", bool: "truth values"}
