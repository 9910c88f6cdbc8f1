"""Checks of arguments: which values an annotation takes, and what the messages say."""

import enum
import math
import typing
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from burn import Device
from burn._arguments import described, device, file_path, finite, fits, instance, integer, shown
from burn.errors import ArgumentError, ArgumentTypeError, BurnError
from burn.nn import PaddingConfig1d


class Layout(enum.Enum):
    Row = 0
    Col = 1


@pytest.mark.parametrize(
    "value, hint",
    [(1, int), (np.int64(1), int), (1, float), (1.5, float), (np.float32(1), float), (True, bool), (np.bool_(1), bool),
     ("a", str), (None, int | None), (1, None | int), ([1, 2], list[int]), ((1, 2), list[int]),
     ([1, "a"], tuple[int, str]), ((1, 2), tuple[int, ...]), ({"a": 1}, dict[str, int]), (Layout.Row, Layout),
     (1, typing.Annotated[float, "f32"]), (object(), typing.Any), ("a", typing.Literal["a"]), (abs, Callable[[int], int]),
     ([1], Sequence[int]), (3, typing.TypeVar("T")), (None, None), (b"", bytes)],
)  # fmt: skip
def test_what_fits(value, hint):
    assert fits(value, hint)


@pytest.mark.parametrize(
    "value, hint, text",
    [(1.0, int, "an integer"), (True, int, "an integer"), ("1", float, "a number"), (False, float, "a number"),
     (1, bool, "True or False"), (None, str, "a str"), ("a", int | None, "an integer or None"),
     ([1, "a"], list[int], "a list of integers"), ([1.5], list[typing.Annotated[float, "f32"]] | int, None),
     ([1], tuple[int, int], "a tuple of an integer, an integer"), ({"a": "b"}, dict[str, int], "a dict from texts to integers"),
     ({1: 1}, dict[str, int], "a dict from texts to integers"),
     ("Row", Layout, "a Layout (Row, Col)"), ([1], list[Layout], "a list of items that are each a Layout (Row, Col)")],
)  # fmt: skip
def test_what_does_not(value, hint, text):
    assert fits(value, hint) == (text is None)
    assert text is None or described(hint) == text


@pytest.mark.parametrize("value", ["a", 1.0, None, True, np.ones(2), [1]])
def test_integers(value):
    with pytest.raises(ArgumentTypeError, match=r"\[op\] 'n' must be an integer, got"):
        integer("op", "n", value)


def test_bounds_and_numbers():
    assert integer("op", "n", np.uint8(3), 3, 3) == 3
    for low, high, text in ((4, None, "at least 4"), (None, 2, "at most 2")):
        with pytest.raises(ArgumentError, match=rf"'n' must be {text}, got 3"):
            integer("op", "n", 3, low, high)
    assert finite("op", "x", np.float32(0.5)) == 0.5
    for value in (math.nan, math.inf, 10**400):
        with pytest.raises(ArgumentError, match="'x' must be a finite number"):
            finite("op", "x", value)
    with pytest.raises(ArgumentTypeError, match="'x' must be a number, got '1'"):
        finite("op", "x", "1")


def test_objects_paths_and_devices():
    with pytest.raises(TypeError, match=r"\[op\] 'f' must be a Layout \(Row, Col\), got 3; do that"):
        instance("op", "f", 3, Layout, "do that")
    assert file_path("op", b"a") == "a"
    with pytest.raises(BurnError, match="'path' must be a path"):
        file_path("op", 3)
    assert device("op", None) == Device.default()
    with pytest.raises(TypeError, match="'device' must be a Device, got 'x'"):
        device("op", "x")
    assert [shown(value) for value in (Layout, Layout.Row, "a", [1], object(), "x" * 99, PaddingConfig1d.Same)] == [
        "the class Layout", "Layout.Row", "'a'", "[1]", "object", "str", "PaddingConfig1d.Same",
    ]  # fmt: skip
