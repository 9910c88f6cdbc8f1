"""What may stand in a field of a module, and the marks that a class body can give a field."""

import enum
import inspect
import types
from typing import Any

import numpy as np

from burn.config import Config, ConfigEnum
from burn.errors import ModuleError
from burn.tensor import DType, Tensor

from .flag import Flag
from .param import Param
from .running import RunningState

_PARTS = (Param, Flag, RunningState, Tensor)
_CONSTANTS = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    enum.Enum,
    np.generic,
    Config,
    ConfigEnum,
    DType,
    range,
)
_known: dict[type, bool | None] = {}


class FieldInfo:
    """The mark that `field` leaves in a class body."""

    __slots__ = ("array", "default", "name", "skip")

    def __init__(self, skip: bool, name: str | None, array: bool, default=inspect.Parameter.empty):
        self.skip = skip
        self.name = name
        self.array = array
        self.default = default


def field(
    *, skip: bool = False, name: str | None = None, array: bool = False, default: Any = inspect.Parameter.empty
) -> Any:
    """Marks a field in the body of a module class.

    Args:
        skip: the field is none of the module's parts: it is never visited, moved or recorded, and may hold anything.
        name: the name in paths and in the printed form, where it cannot be the attribute's.
        array: a list of fixed length: Burn's ``[T; N]`` in the printed form and in container types.
        default: the value that the constructor made from the annotations takes where none is given.

    Returns:
        The mark.

    >>> from burn.module import Module
    >>> class Apply(Module):
    ...     function: object = field(skip=True)
    ...     def __init__(self, function):
    ...         self.function = function
    >>> Apply(abs).function(-1)
    1
    """
    return FieldInfo(skip, name, array, default)


NO_MARK = FieldInfo(False, None, False)


def own_parts(value):
    """The value, its lists, tuples and dicts copied: what the caller does to his own is no change of the module."""
    if type(value) in (list, tuple):
        return type(value)(map(own_parts, value))
    return {key: own_parts(item) for key, item in value.items()} if type(value) is dict else value


def holds_parts(value, where: str) -> bool:
    """Whether a field's value is, or holds, something to visit: True for parts, False for constants.

    Raises:
        ModuleError: it is neither; the message names the field.
    """
    kind = type(value)
    known = _known.get(kind)
    if known is None and kind not in _known:
        known = _known[kind] = _classify(kind)
    if known is not None:
        return known
    if isinstance(value, dict):
        found = {holds_parts(item, f"{where}[{key!r}]") for key, item in value.items() if not _nothing(item)}
        if True not in found:
            return False
        if kind is not dict:
            raise ModuleError(f"[{where}] a {kind.__name__} cannot hold modules or parameters: use a dict")
        if len(found) == 2:
            raise ModuleError(f"[{where}] modules and constants cannot share a dict: use two fields")
        for key in value:
            if not isinstance(key, str) or not key or "." in key:
                raise ModuleError(
                    f"[{where}] the keys of a dict of modules must be texts without dots, got {key!r}: "
                    "they stand in the paths of parameters"
                )
        return True
    if isinstance(value, (list, tuple, set, frozenset)):
        found = {holds_parts(item, f"{where}[{index}]") for index, item in enumerate(value) if not _nothing(item)}
        if True in found and kind not in (list, tuple):
            raise ModuleError(f"[{where}] a {kind.__name__} cannot hold modules or parameters: use a list or a tuple")
        if len(found) == 2:
            raise ModuleError(f"[{where}] modules and constants cannot share a list: use two fields")
        return True in found
    raise ModuleError(
        f"[{where}] a field cannot hold a value of type {kind.__name__}: make it a Module or a Param, "
        f"or mark it in the class body with `{where.rpartition('.')[2].partition('[')[0]} = field(skip=True)`"
    )


def _nothing(item) -> bool:
    """Whether an item may stand beside parts and beside constants: None, or a container without items."""
    return item is None or (isinstance(item, (list, tuple, dict)) and not item)


def refusal(old, new, annotated: bool) -> str | None:
    """What a field holds, in words, where ``new`` is of another sort than its present value; else None.

    Without an annotation None may stand anywhere, and anything may take its place.
    """
    from .base import Module

    if old is None or (new is None and not annotated):
        return "None" if annotated else None
    for kind in (*_PARTS, Module):
        if isinstance(old, kind):
            return None if isinstance(new, kind) else f"a {kind.__name__}"
    if isinstance(old, (list, tuple)):
        return None if isinstance(new, (list, tuple)) else "a list or a tuple"
    if isinstance(old, dict):
        return None if isinstance(new, dict) else "a dict"
    if holds_parts(old, "") or isinstance(new, (*_PARTS, Module)):
        return "a constant"
    return None if not annotated or isinstance(new, type(old)) else f"a {type(old).__name__}"


def _classify(kind: type) -> bool | None:
    from .base import Module

    if kind in _PARTS or issubclass(kind, Module):
        return True
    if issubclass(kind, _CONSTANTS):
        return False
    if issubclass(kind, type) or kind in (types.NotImplementedType, types.EllipsisType):
        return False
    return None
