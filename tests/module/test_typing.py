"""Modules and configurations as type checkers see them: constructors from fields, keyword defaults."""

import subprocess
import sys

import pytest

from burn.config import Config
from burn.module import Module, field

PROGRAM = """
from burn.config import Config
from burn.module import Module, Param, field
from burn.nn import Linear, LinearConfig

class Block(Module):
    linear: Linear
    scale: Param | None
    eps: float = 1e-5
    hook: object = field(skip=True, default=None)

class BlockConfig(Config):
    size: int
    rate: float = 0.1

linear = LinearConfig(2, 2).init()
block = Block(linear, None, eps=1e-3)
reveal_type(block.linear)
reveal_type(block.valid())
reveal_type(BlockConfig(3).rate)
Block(linear)  # lacks scale
Block(3, None)  # no Linear
BlockConfig("a")  # no int
BlockConfig(3).size = 4  # frozen
"""


def test_the_marks_for_type_checkers_are_on_the_right_classes():
    assert type(Module).__dataclass_transform__["field_specifiers"] == (field,)
    marks = Config.__dataclass_transform__
    assert {**marks, **marks["kwargs"]}["frozen_default"] is True


@pytest.mark.slow
def test_what_mypy_says(tmp_path):
    pytest.importorskip("mypy")
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", str(tmp_path / "cache"), str(path)]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    lines = [line.split(": ", 2) for line in said.splitlines() if line.startswith(str(path))]
    texts = [text for _, kind, text in lines if kind in ("note", "error")]
    assert [text for text in texts if text.startswith("Revealed")] == [
        'Revealed type is "burn.nn.linear.Linear"',
        'Revealed type is "program.Block"',
        'Revealed type is "float"',
    ], said
    errors = " ".join(text for _, kind, text in lines if kind == "error")
    for part in (
        'Missing positional argument "scale"',
        'Argument 1 to "Block" has incompatible type "int"; expected "Linear"',
        'Argument 1 to "BlockConfig" has incompatible type "str"; expected "int"',
        'Property "size" defined in "BlockConfig" is read-only',
    ):
        assert part in errors, said
