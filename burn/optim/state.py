"""States of optimizers as named tensors and numbers, the form in which records hold them (Burn: `RecordState`)."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from burn.errors import ArgumentTypeError
from burn.tensor import Tensor

Leaf = Tensor | int | float | bool


class MissingLeaf(Exception):
    """A leaf that a state needs and the record lacks (or holds with another type)."""


def flatten(state: Any, prefix: str) -> Iterator[tuple[str, Leaf]]:
    """The leaves of a state with their names, in the order of the fields."""
    for field in dataclasses.fields(state):
        yield from _flatten_value(getattr(state, field.name), f"{prefix}.{field.name}" if prefix else field.name)


def _flatten_value(value: Any, name: str) -> Iterator[tuple[str, Leaf]]:
    if value is None:
        return
    if dataclasses.is_dataclass(value):
        yield from flatten(value, name)
    elif isinstance(value, (list, tuple)):
        yield f"{name}.len", len(value)
        for index, item in enumerate(value):
            yield f"{name}.{index}", item
    elif isinstance(value, Leaf):
        yield name, value
    else:
        raise ArgumentTypeError(
            f"[state] '{name}' must be a tensor, a number, a dataclass or None, got {type(value).__name__}"
        )


def unflatten(state_type: type, prefix: str, leaves: Mapping[str, Leaf]) -> Any:
    """A state from its leaves.

    Raises:
        MissingLeaf: naming a leaf that is needed and missing, or has another type.
    """
    values = {}
    for name, hint, optional in _fields(state_type):
        path = f"{prefix}.{name}" if prefix else name
        if dataclasses.is_dataclass(hint):
            present = not optional or any(known.startswith(f"{path}.") for known in leaves)
            values[name] = unflatten(hint, path, leaves) if present else None
        elif typing.get_origin(hint) is list:
            length = _take(leaves, f"{path}.len", int, optional)
            values[name] = (
                None if length is None else [_take(leaves, f"{path}.{i}", Tensor, False) for i in range(length)]
            )
        else:
            values[name] = _take(leaves, path, hint, optional)
    return state_type(**values)


def map_tensors(state: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """A copy of a state with `function` applied to its tensors."""
    if isinstance(state, Tensor):
        return function(state)
    if isinstance(state, (list, tuple)):
        return type(state)(map_tensors(value, function) for value in state)
    if dataclasses.is_dataclass(state):
        fields = (field.name for field in dataclasses.fields(state))
        return type(state)(**{name: map_tensors(getattr(state, name), function) for name in fields})
    return state


@cache
def _fields(state_type: type) -> list[tuple[str, Any, bool]]:
    """Name, type without None, and whether None is allowed, of each field."""
    hints = typing.get_type_hints(state_type)
    fields = []
    for field in dataclasses.fields(state_type):
        hint, optional = hints[field.name], False
        if typing.get_origin(hint) in (typing.Union, types.UnionType):
            kinds = [kind for kind in typing.get_args(hint) if kind is not type(None)]
            hint, optional = kinds[0], True
        fields.append((field.name, hint, optional))
    return fields


def _take(leaves: Mapping[str, Leaf], path: str, hint: type, optional: bool) -> Leaf | None:
    value = leaves.get(path)
    kind = type(value)
    if hint is float and kind is int:
        return float(value)
    if kind is hint or (hint is Tensor and isinstance(value, Tensor)):
        return value
    if optional:
        return None
    raise MissingLeaf(path)
