"""Ids of parameters: their text form, and what is no id."""

import pickle

import pytest

from burn.errors import ModuleError
from burn.module import ParamId

TEXTS = [
    (0, "0000000000000"),
    (1, "0400000000000"),
    (42, "5800000000000"),
    (123456, "83h0200000000"),
    (0x123456789ABCDEF0, "u3fbp6joaoq14"),
    (2**64 - 1, "vvvvvvvvvvvvu"),
    (16062609607772680586, "h8oh3falrbkts"),
]


@pytest.mark.parametrize("value, text", TEXTS)
def test_text_form(value, text):
    assert str(ParamId(value)) == text
    assert ParamId.parse(text) == ParamId(value) == ParamId.parse(text.upper())


def test_short_ids_of_old_records():
    assert ParamId.parse("83h02").val() == 123456 and ParamId.parse("00").val() == 0


@pytest.mark.parametrize(
    "text", ["", "w0", "83h020000000x", "0" * 14, "vvvvvvvvvvvvv", "0", "123e4567e89b12d3a456426614174000", "a-b"]
)
def test_what_is_no_id(text):
    with pytest.raises(ModuleError, match="must be an id"):
        ParamId.parse(text)


def test_values():
    assert ParamId() != ParamId()
    assert len({ParamId(3), ParamId(3), ParamId(4)}) == 2 and ParamId(3) < ParamId(4) and ParamId(3) != 3
    assert pickle.loads(pickle.dumps(ParamId(7))) == ParamId(7)
    for wrong in (-1, 2**64):
        with pytest.raises(ModuleError, match="from 0 to"):
            ParamId(wrong)
