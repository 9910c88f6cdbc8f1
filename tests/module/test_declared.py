"""Fields as a class declares them: the constructor made of them, what is missing, what does not fit; dicts of modules."""

import copy
import inspect
import pickle
from typing import ClassVar

import numpy as np
import pytest

from burn import Device, Tensor
from burn.errors import AutodiffError, ModuleError
from burn.module import Flag, Module, ModuleMapper, ModuleVisitor, Param, ParamId, PathTracking, field
from burn.nn import Dropout, DropoutConfig, Linear, LinearConfig, Relu

CPU = Device.flex()


def linear(device=CPU):
    return LinearConfig(2, 2).init(device)


class Block(Module):
    linear: Linear
    dropout: Dropout
    eps: float = 1e-5
    function: object = field(skip=True, default=None)
    kind: ClassVar[str] = "block"

    def forward(self, x):
        return self.dropout(self.linear(x))


class Taller(Block):
    name: str = "tall"


class Branches(Module):
    def __init__(self, **branches):
        self.branches = branches

    def forward(self, x):
        return {name: branch(x) for name, branch in self.branches.items()}


def test_a_class_without_a_constructor_takes_its_fields():
    block = Block(linear(), DropoutConfig(0.5).init())
    assert list(block.__dict__) == ["linear", "dropout", "eps", "function"] and block.eps == 1e-5
    assert block(Tensor.ones([1, 2], CPU)).dims() == [1, 2]
    assert Block(dropout=DropoutConfig(0.5).init(), linear=linear(), eps=0.5).eps == 0.5
    assert Block(linear(), DropoutConfig(0.5).init(), 1e-3, abs).function is abs
    tall = Taller(linear(), DropoutConfig(0.5).init(), name="x")
    assert tall.name == "x" and tall.eps == 1e-5 and tall.into_record().paths() == ["linear.weight", "linear.bias"]
    assert list(inspect.signature(Block).parameters) == ["linear", "dropout", "eps", "function"]
    assert list(inspect.signature(Branches).parameters) == ["branches"] and not inspect.signature(Relu).parameters
    assert pickle.loads(pickle.dumps(block)).eps == 1e-5


def test_wrong_arguments_name_the_fields():
    with pytest.raises(
        ModuleError, match=r"\[Block\] missing a required argument: 'dropout'; its fields are linear, dropout"
    ):
        Block(linear())
    with pytest.raises(ModuleError, match="unexpected keyword argument 'size'"):
        Block(linear(), DropoutConfig(0.5).init(), size=3)


def test_a_field_that_was_never_set():
    class Half(Module):
        weight: Param
        bias: Param | None

        def __init__(self):
            self.weight = Param.from_data([1.0], CPU)

    with pytest.raises(ModuleError, match=r"\[Half\] the field 'bias' was never set: assign it in __init__, None if"):
        Half()


def test_a_tensor_that_should_be_a_param():
    class Scale(Module):
        weight: Param | None

        def __init__(self, weight):
            self.weight = weight

    with pytest.raises(
        ModuleError, match=r"'Scale.weight' must be a Param or None, got Tensor; wrap it with Param.from_tensor"
    ):
        Scale(Tensor.ones([2], CPU))
    assert Scale(None).num_params() == 0

    class Plain(Module):
        def __init__(self, weight):
            self.weight = weight

    with pytest.raises(ModuleError, match=r"'Plain.weight' must not require a gradient.*Param.from_tensor"):
        Plain(Tensor.ones([2], CPU.autodiff()).require_grad())
    Plain(Tensor.ones([2], CPU.autodiff()))


def test_a_field_of_another_type():
    with pytest.raises(ModuleError, match=r"\[Block\] 'Block.linear' must be a Linear, got Relu"):
        Block(Relu(), DropoutConfig(0.5).init())
    with pytest.raises(ModuleError, match=r"'Block.eps' must be a number, got 'a'"):
        Block(linear(), DropoutConfig(0.5).init(), "a")


@pytest.mark.parametrize("value", [3, [1.0], None, np.ones(2), Relu])
def test_params_hold_tensors_and_flags(value):
    for make in (Param.from_tensor, lambda v: Param.initialized(ParamId(1), v)):
        with pytest.raises(TypeError, match="'value' must be a Tensor"):
            make(value)
    flag = Param.initialized(ParamId(7), Flag(False))
    assert type(flag) is Flag and flag.id == ParamId(7) and not flag.is_enabled()
    assert Param.initialized(ParamId(7), True).is_enabled()


class Trace(PathTracking, ModuleVisitor):
    def __init__(self):
        super().__init__()
        self.paths, self.containers = [], []

    def enter_module(self, name, container_type):
        super().enter_module(name, container_type)
        self.containers.append(container_type)

    def visit_float(self, param):
        self.paths.append(self.path())


def test_dicts_keep_their_order():
    model = Branches(left=linear(), b=None, a=[linear()])
    trace = Trace()
    model.visit(trace)
    assert trace.paths == [
        "branches.left.weight", "branches.left.bias", "branches.a.0.weight", "branches.a.0.bias"
    ]  # fmt: skip
    assert trace.containers[:3] == ["Struct:Branches", "Dict", "Struct:Linear"]
    assert model.into_record().paths() == trace.paths and model.num_params() == 12
    again = Branches(left=linear(), b=None, a=[linear()]).load_record(model.into_record())
    assert again.branches["left"].weight.val().tolist() == model.branches["left"].weight.val().tolist()
    assert list(again.branches) == ["left", "b", "a"]


def test_dicts_are_parts():
    model = Branches(x=linear(CPU.autodiff()), y=DropoutConfig(0.5).init())
    assert model(Tensor.ones([1, 2], CPU))["x"].dims() == [1, 2]
    assert not model.valid().branches["x"].weight.is_autodiff()
    assert not model.freeze().branches["y"].training.is_enabled()
    there = Device.ndarray()
    assert model.fork(there).devices() == [there] and model.devices() == [CPU]
    for twin in (model.clone(), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert twin.into_record().paths() == model.into_record().paths() and twin.branches is not model.branches

    class Double(ModuleMapper):
        def map_float(self, param):
            return param.map(lambda tensor: tensor * 2.0)

    assert model.map(Double()).branches is not model.branches
    shared = linear()
    with pytest.raises(ModuleError, match=r"two places, 'branches\.a' and 'branches\.b'"):
        Branches(a=shared, b=shared)
    with pytest.raises(ModuleError, match=r"'Branches.branches' must be a dict, got 3"):
        model.replace(branches=3)


def test_dicts_are_printed():
    assert str(Branches(a=linear(), b=Relu())) == (
        "Branches {\n"
        "  branches: Dict<0..2> {\n"
        "    a: Linear {d_input: 2, d_output: 2, bias: true, params: 6}\n"
        "    b: Relu\n"
        "  }\n"
        "  params: 6\n"
        "}"
    )
    assert str(Branches()) == "Branches {\n  branches: {}\n}"


def test_what_is_skipped_holds_no_param():
    class Skipping(Module):
        hidden: object = field(skip=True)

    with pytest.raises(ModuleError, match=r"'Skipping.hidden' is skipped and cannot hold a Param"):
        Skipping(Param.from_data([1.0], CPU))
    assert Skipping(linear()).num_params() == 0


def test_what_cannot_be_trained_is_named():
    moved = Block(linear(CPU.autodiff()), DropoutConfig(0.5).init())
    moved.linear.weight.val()
    moved = moved.to_device(CPU)
    for name, call in (
        ("train", moved.train),
        ("unfreeze", moved.unfreeze),
        ("set_require_grad", lambda: moved.set_require_grad(True)),
    ):
        with pytest.raises(AutodiffError, match=rf"\[{name}\] parameter 'linear.weight': .*use fork\(\)"):
            call()
