"""Rows of text files to items: the fields of a dataclass decide how a column is read."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any

from burn.errors import ArgumentTypeError

_TRUTH = {"true": True, "false": False}


class RowDecoder:
    """Decoder of rows to a dataclass.

    Args:
        item: the dataclass.

    Raises:
        ArgumentTypeError: if `item` is not a dataclass.
    """

    def __init__(self, item: type) -> None:
        if not (isinstance(item, type) and dataclasses.is_dataclass(item)):
            raise ArgumentTypeError(
                f"[InMemDataset] 'item' must be a dataclass, got {item!r}; leave it out for plain rows"
            )
        self._item = item
        hints = typing.get_type_hints(item)
        self._fields = [
            (f.name, *_optional(hints[f.name]), _has_default(f)) for f in dataclasses.fields(item) if f.init
        ]

    def from_text(self, row: list[str], header: list[str] | None) -> Any:
        """Item from the text fields of one row, matched by the names of `header` or by position."""
        columns = dict(zip(header or [name for name, *_ in self._fields], row))
        values = {}
        for name, kind, optional, has_default in self._fields:
            if name in columns:
                values[name] = _parse(columns[name], kind, optional, name)
            elif not has_default:
                raise ValueError(f"no column for the field '{name}'; the columns are {', '.join(columns)}")
        return self._item(**values)

    def from_json(self, value: Any) -> Any:
        """Item from a JSON object; keys that are no field are ignored."""
        if not isinstance(value, dict):
            raise ValueError(f"expected a JSON object, got {type(value).__name__}")
        values = {}
        for name, kind, optional, has_default in self._fields:
            if name in value:
                values[name] = _check_json(value[name], kind, optional, name)
            elif optional and not has_default:
                values[name] = None
            elif not has_default:
                raise ValueError(f"no value for the field '{name}'; the keys are {', '.join(value)}")
        return self._item(**values)


def _optional(hint: Any) -> tuple[Any, bool]:
    """A hint without `None`, and whether it had it."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        kinds = [kind for kind in typing.get_args(hint) if kind is not type(None)]
        if len(kinds) == 1:
            return kinds[0], True
    return hint, False


def _has_default(field: dataclasses.Field) -> bool:
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def _parse(text: str, kind: Any, optional: bool, name: str) -> Any:
    if optional and text == "":
        return None
    try:
        return _TRUTH[text] if kind is bool else kind(text)
    except (KeyError, ValueError, TypeError):
        raise ValueError(f"field '{name}': {text!r} is not {getattr(kind, '__name__', kind)}") from None


def _check_json(value: Any, kind: Any, optional: bool, name: str) -> Any:
    if value is None and optional:
        return None
    if dataclasses.is_dataclass(kind):
        return RowDecoder(kind).from_json(value)
    if kind is float and type(value) is int:
        return float(value)
    if kind in (str, int, float, bool) and type(value) is not kind:
        raise ValueError(f"field '{name}': {value!r} is not {kind.__name__}")
    return value
