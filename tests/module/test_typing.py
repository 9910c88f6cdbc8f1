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

# What mypy has nothing to say about with --strict.
STRICT = """
from typing import Optional

from burn import Device, Tensor
from burn.config import Config
from burn.module import Module, Param, field
from burn.nn import Dropout, DropoutConfig, Linear, LinearConfig, Relu
from burn.nn.loss import CrossEntropyLossConfig
from burn.optim import AdamConfig, GradientsParams
from burn.tensor.activation import softmax

class NetConfig(Config):
    size: int
    rate: float = 0.1

    def init(self, device: Device | None = None) -> "Net":
        first = LinearConfig(self.size, self.size).with_bias(False).init(device)
        scale = Param.from_tensor(Tensor.ones([2], device))
        return Net(first, [first], {"a": first}, None, None, scale, DropoutConfig(self.rate).init())

class Net(Module):
    first: Linear
    layers: list[Linear]
    named: dict[str, Linear]
    maybe: Optional[Linear]
    other: Linear | None
    scale: Param[Tensor]
    drop: Dropout
    pair: tuple[Linear, Linear] | None = None
    hook: object = field(skip=True, default=None)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        if self.maybe is not None:
            x = self.maybe(x)
        return self.drop.forward(self.named["a"](x)) * self.scale.val()

class Own(Module):
    def __init__(self, size: int) -> None:
        self.layer = LinearConfig(size, size).init()
        self.act = Relu()

    def forward(self, x: Tensor) -> Tensor:
        return softmax(self.act(self.layer(x)), 1).unsqueeze_dims([0]).sum_dims([0])

def step(net: Net, x: Tensor, y: Tensor) -> Net:
    loss = CrossEntropyLossConfig().init()(net(x), y)
    grads = GradientsParams.from_grads(loss.backward(), net)
    return AdamConfig().init().step(1e-3, net, grads)

device = Device.flex().autodiff()
net = NetConfig(3).with_rate(0.5).init(device).load_file("net")
reveal_type(net.scale)
reveal_type(net.first.weight)
reveal_type(net.forward(Tensor.ones([2, 3], device)))
reveal_type(step(net.valid(), Tensor.ones([2, 3]), Tensor([1, 2])))
"""


def test_the_marks_for_type_checkers_are_on_the_right_classes():
    assert type(Module).__dataclass_transform__["field_specifiers"] == (field,)
    marks = Config.__dataclass_transform__
    assert {**marks, **marks["kwargs"]}["frozen_default"] is True


def said_by_mypy(tmp_path, program, *options):
    """What mypy says of a program: (all of it, kinds and texts of its lines)."""
    pytest.importorskip("mypy")
    path = tmp_path / "program.py"
    path.write_text(program)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--no-error-summary",
        "--cache-dir",
        str(tmp_path / "cache"),
        *options,
        str(path),
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    lines = [line.split(": ", 2) for line in said.splitlines() if line.startswith(str(path))]
    return said, [(kind, text) for _, kind, text in lines if kind in ("note", "error")]


@pytest.mark.slow
def test_a_strict_program(tmp_path):
    said, lines = said_by_mypy(tmp_path, STRICT, "--strict", "--config-file=", "--follow-imports=silent")
    assert lines == [
        ("note", 'Revealed type is "burn.module.param.Param[burn.tensor.tensor.Tensor]"'),
        ("note", 'Revealed type is "burn.module.param.Param[burn.tensor.tensor.Tensor]"'),
        ("note", 'Revealed type is "burn.tensor.tensor.Tensor"'),
        ("note", 'Revealed type is "program.Net"'),
    ], said


@pytest.mark.slow
def test_what_mypy_says(tmp_path):
    said, lines = said_by_mypy(tmp_path, PROGRAM)
    assert [text for _, text in lines if text.startswith("Revealed")] == [
        'Revealed type is "burn.nn.linear.Linear"',
        'Revealed type is "program.Block"',
        'Revealed type is "float"',
    ], said
    errors = " ".join(text for kind, text in lines if kind == "error")
    for part in (
        'Missing positional argument "scale"',
        'Argument 1 to "Block" has incompatible type "int"; expected "Linear"',
        'Argument 1 to "BlockConfig" has incompatible type "str"; expected "int"',
        'Property "size" defined in "BlockConfig" is read-only',
    ):
        assert part in errors, said
