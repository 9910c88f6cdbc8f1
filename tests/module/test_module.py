"""What a module is: its fields, what may stand in them, and how it is walked over."""

import abc
import collections
import enum
import pickle
from typing import Generic, TypeVar

import numpy as np
import pytest

from burn import Bool, Device, Int, Tensor
from burn.errors import ArgumentTypeError, ModuleError
from burn.module import (
    EnumModule,
    Flag,
    FrozenModuleError,
    Module,
    ModuleMapper,
    ModuleVisitor,
    Param,
    ParamGroup,
    ParamId,
    RunningState,
    field,
    list_param_ids,
)
from burn.nn import Dropout, Linear, LinearConfig, Relu

CPU = Device.flex()
T = TypeVar("T")


class Tiny(Module):
    weight: Param
    bias: Param

    def __init__(self, device=CPU):
        self.weight = Param.from_data([[1.0, 2.0], [3.0, 4.0]], device)
        self.bias = Param.from_data([5.0, 6.0], device)

    def forward(self, x):
        return x.matmul(self.weight.val())


class Choice(EnumModule):
    Big: Linear
    Small: Relu

    def forward(self, x):
        return self.module(x)


class Net(Module):
    embed: Tiny
    layers: list
    pair: tuple
    array: list = field(array=True)
    absent: Linear | None
    choice: Choice
    state: RunningState
    forward_: Tiny = field(name="forward")
    ints: Param
    mask: Param
    table: Tensor
    scale: float
    name: str
    anything: object = field(skip=True)

    def __init__(self, device=CPU):
        self.embed = Tiny(device)
        self.layers = [LinearConfig(3, 4).init(device), LinearConfig(4, 4, bias=False).init(device)]
        self.pair = (LinearConfig(2, 2).init(device), Dropout(0.5))
        self.array = [Relu(), Relu()]
        self.absent = None
        self.choice = Choice.Big(LinearConfig(1, 2).init(device))
        self.state = RunningState(Tensor.zeros([2], device))
        self.forward_ = Tiny(device)
        self.ints = Param.from_data(np.array([1, 2, 3]), device)
        self.mask = Param.from_tensor(Tensor.from_data([[True, False]], device))
        self.table = Tensor.ones([2, 3], device)
        self.scale = 1.5
        self.name = "net"
        self.anything = {"f": abs}

    def forward(self, x):
        return x


class Trace(ModuleVisitor):
    def __init__(self):
        self.stack, self.types, self.seen = [], [], []

    def enter_module(self, name, container_type):
        self.stack.append(name)
        self.types.append(container_type)

    def exit_module(self, name, container_type):
        assert (self.stack.pop(), self.types.pop()) == (name, container_type)

    def note(self, kind):
        return lambda part: self.seen.append((".".join(self.stack), kind, self.types[-1]))

    def visit_float(self, param):
        self.note("float")(param)

    def visit_int(self, param):
        self.note("int")(param)

    def visit_bool(self, param):
        self.note("bool")(param)

    def visit_flag(self, flag):
        self.note("flag")(flag)


def test_walk_in_the_order_of_assignment():
    trace = Trace()
    Net().visit(trace)
    assert trace.seen == [
        ("embed.weight", "float", "Struct:Tiny"),
        ("embed.bias", "float", "Struct:Tiny"),
        ("layers.0.weight", "float", "Struct:Linear"),
        ("layers.0.bias", "float", "Struct:Linear"),
        ("layers.1.weight", "float", "Struct:Linear"),
        ("pair.0.weight", "float", "Struct:Linear"),
        ("pair.0.bias", "float", "Struct:Linear"),
        ("pair.1.training", "flag", "Struct:Dropout"),
        ("choice.Big.weight", "float", "Struct:Linear"),
        ("choice.Big.bias", "float", "Struct:Linear"),
        ("state", "float", "Struct:Net"),
        ("forward.weight", "float", "Struct:Tiny"),
        ("forward.bias", "float", "Struct:Tiny"),
        ("ints", "int", "Struct:Net"),
        ("mask", "bool", "Struct:Net"),
    ]
    assert trace.stack == [] and len(list_param_ids(Net())) == 14


def test_container_types():
    class Stack(Trace):
        def visit_float(self, param):
            self.seen.append(list(self.types))

        def visit_flag(self, flag):
            pass

    trace = Stack()
    Net().visit(trace)
    assert trace.seen[2] == ["Struct:Net", "Vec", "Struct:Linear"]
    assert trace.seen[5] == ["Struct:Net", "Tuple", "Struct:Linear"]
    assert trace.seen[7] == ["Struct:Net", "Enum:Choice", "Struct:Linear"]


def test_num_params_initialises_nothing():
    net = Net()
    assert net.num_params() == 6 + 16 + 16 + 6 + 4 + 2 + 6
    assert not net.layers[0].weight.is_initialized()
    assert net.devices() == [CPU] and not net.layers[0].weight.is_initialized()


def test_map_makes_a_new_module_and_leaves_the_old_one():
    class Double(ModuleMapper):
        def map_float(self, param):
            return param.map(lambda tensor: tensor * 2.0)

        def map_int(self, param):
            return param.map(lambda tensor: tensor + 1)

    net = Net()
    doubled = net.map(Double())
    assert type(doubled) is Net and type(doubled.choice) is Choice.Big
    assert doubled.embed.weight.val().tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert net.embed.weight.val().tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert doubled.ints.val().tolist() == [2, 3, 4] and net.ints.val().tolist() == [1, 2, 3]
    np.testing.assert_array_equal(doubled.layers[1].weight.val(), net.layers[1].weight.val().numpy() * 2)
    assert list_param_ids(doubled) == list_param_ids(net)
    assert doubled.name == "net" and doubled.anything is net.anything and doubled.state is not net.state


@pytest.mark.parametrize(
    "hook, message",
    [
        ("map_float", r"\[map\] 'map_float' must return a Param, got Tensor; use param\.map\(f\)"),
        ("map_int", "'map_int' must return a Param, got NoneType"),
        ("map_flag", r"'map_flag' must return a Flag, got bool; use flag\.with_value\(value\)"),
    ],
)
def test_what_a_mapper_gives_is_checked(hook, message):
    class Wrong(ModuleMapper):
        pass

    class Mixed(Module):
        def __init__(self):
            self.real, self.whole = Param.from_data([1.0], CPU), Param.from_data([1], CPU)
            self.flag = Flag(True)

    given = {"map_float": lambda self, p: p.val(), "map_int": lambda self, p: None, "map_flag": lambda self, f: True}
    setattr(Wrong, hook, given[hook])
    with pytest.raises(ModuleError, match=message):
        Mixed().map(Wrong())


def test_fields_do_not_change_after_construction():
    tiny = Tiny()
    with pytest.raises(FrozenModuleError, match=r"'bias' cannot be assigned.*module.replace\(bias=\.\.\.\)"):
        tiny.bias = None
    with pytest.raises(AttributeError):
        tiny.other = 1
    with pytest.raises(FrozenModuleError):
        del tiny.bias
    changed = tiny.replace(bias=Param.from_data([0.0], CPU))
    assert changed.bias.shape == (1,) and tiny.bias.shape == (2,) and changed.weight is tiny.weight
    with pytest.raises(ModuleError, match=r"'gamma' must be a field of Tiny, its fields are weight, bias"):
        tiny.replace(gamma=1)
    with pytest.raises(ModuleError, match=r"Tiny\.bias"):
        tiny.replace(bias=object())


def test_a_field_takes_what_it_is_annotated_with():
    tiny, net = Tiny(), Net()
    for value in (3, abs, None, tiny.clone(), Flag(True)):
        with pytest.raises(ModuleError, match=r"\[replace\] 'Tiny.weight' must be a Param, got"):
            tiny.replace(weight=value)
    with pytest.raises(ModuleError, match=r"use replace\(weight=module.weight.with_value\(tensor\)\)"):
        tiny.replace(weight=Tensor.ones([2, 2], CPU))

    class Loose(Module):
        extra: Param | None

        def __init__(self):
            self.part, self.extra, self.size, self.parts = Tiny(), None, 3, [Tiny()]

    loose = Loose()
    assert loose.replace(part=None, size=None).part is None
    assert loose.replace(part=Relu(), size="any", extra=Param.from_data([1.0], CPU)).extra.shape == (1,)
    wrong = {"part": (3, "a Module"), "extra": (3, "a Param or None"), "parts": (3, "a list or a tuple")}
    for name, (value, text) in wrong.items():
        with pytest.raises(ModuleError, match=rf"'Loose.{name}' must be {text}, got 3"):
            loose.replace(**{name: value})
    with pytest.raises(ModuleError, match=r"'Loose.size' must be a constant, got Tiny"):
        loose.replace(size=tiny)
    assert net.replace(pair=list(net.pair)).pair


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda m: m.load_record(None), r"\[load_record\] 'record' must be a ModuleRecord, got None; .*load_file"),
        (lambda m: m.load_record("m.bpk"), "'record' must be a ModuleRecord, got 'm.bpk'"),
        (lambda m: m.to_device("cpu"), r"\[to_device\] 'device' must be a Device, got 'cpu'"),
        (lambda m: m.fork(0), r"\[fork\] 'device' must be a Device, got 0"),
        (lambda m: m.freeze_group("weight"), r"\[freeze_group\] 'group' must be a ParamGroup"),
        (
            lambda m: m.set_require_grad_group(3, True),
            r"\[set_require_grad_group\] 'group' must be a ParamGroup, got 3",
        ),
        (lambda m: m.into_record_group("weight"), r"\[into_record_group\] 'group' must be a ParamGroup"),
        (lambda m: m.weight.to_device("cpu"), "'device' must be a Device"),
        (lambda m: m.weight.with_value(3), r"\[with_value\] 'value' must be a Tensor, got 3"),
        (lambda m: Param.from_tensor([1.0]), r"\[from_tensor\] 'value' must be a Tensor"),
        (lambda m: ParamId("a"), r"\[ParamId\] 'value' must be an integer, got 'a'"),
        (lambda m: ParamId.parse(3), r"\[ParamId\] 'text' must be a str, got 3"),
        (lambda m: ParamGroup.from_path(3), r"\[from_paths\] 'texts' must be a str, got 3"),
        (lambda m: ParamGroup.from_ids(3), "'ids' must be an Iterable, got 3; put a single id into a list"),
        (lambda m: ParamGroup.all().exclude("weight"), r"\[exclude\] 'other' must be a ParamGroup"),
        (lambda m: m.visit(3), r"\[visit\] 'visitor' must be a ModuleVisitor, got 3; derive"),
        (lambda m: m.map(None), r"\[map\] 'mapper' must be a ModuleMapper, got None"),
        (lambda m: m.set_require_grad("no"), r"\[set_require_grad\] 'require_grad' must be True or False, got 'no'"),
        (lambda m: m.format(3), r"\[format\] 'settings' must be a DisplaySettings, got 3"),
        (lambda m: Flag(3), r"\[Flag\] 'value' must be True or False, got 3"),
        (lambda m: RunningState(3), r"\[RunningState\] 'value' must be a Float tensor, got 3"),
        (lambda m: RunningState(Tensor([1])), "must be a Float tensor, got one of dtype i32"),
        (lambda m: RunningState(Tensor([1.0])).update(3), r"\[RunningState.update\] 'value' must be a Float tensor"),
        (lambda m: m.weight.map(3), r"\[map\] 'f' must be a Callable, got 3; pass a function"),
        (lambda m: m.weight.load_mapper(3), r"\[load_mapper\] 'f' must be a Callable"),
        (lambda m: m.weight.save_mapper(3), r"\[save_mapper\] 'f' must be a Callable"),
        (lambda m: Param(Tensor([1.0])), r"\[Param\] cannot be made of Tensor alone: use Param.from_tensor\(tensor\)"),
        (lambda m: Param.initialized("a", Tensor([1.0])), r"\[initialized\] 'id' must be a ParamId, got 'a'"),
        (lambda m: Param.uninitialized(1, abs, CPU, True, [2]), r"\[uninitialized\] 'id' must be a ParamId, got 1"),
        (lambda m: Param.uninitialized(ParamId(1), abs, CPU, 1, [2]), "'is_require_grad' must be True or False, got 1"),
        (lambda m: Param.uninitialized(ParamId(1), abs, CPU, True, 2), "'shape' must be an Iterable, got 2"),
        (lambda m: Param.uninitialized(ParamId(1), abs, CPU, True, [2], "float"), r"'kind' must be a Kind \(Float"),
        (lambda m: m.weight.set_require_grad("no"), r"\[set_require_grad\] 'require_grad' must be True or False"),
        (lambda m: m.weight.transform_for_load([1.0], ParamId(1)), r"\[transform_for_load\] 'tensor' must be a Tensor"),
        (lambda m: Param.from_mapped_value(ParamId(1), Tensor([1.0]), 3), "'mapper' must be a Param, got 3"),
        (lambda m: Param.from_mapped_value(1, Tensor([1.0]), m.weight), "'id' must be a ParamId, got 1"),
        (lambda m: Param.uninitialized(ParamId(1), 3, CPU, True, [2]), r"\[uninitialized\] 'init' must be a Callable"),
    ],
)
def test_arguments_of_another_type(call, message):
    with pytest.raises(ArgumentTypeError, match=message):
        call(Tiny())


def test_a_call_is_the_forward_pass():
    tiny = Tiny()
    assert tiny(Tensor.from_data([[1.0, 0.0]], CPU)).tolist() == [[1.0, 2.0]]

    class Louder(Tiny):
        def forward(self, x, factor=10.0):
            return super().forward(x) * factor

    assert Louder()(Tensor.from_data([[1.0, 0.0]], CPU), factor=2.0).tolist() == [[2.0, 4.0]]

    class Silent(Module):
        pass

    with pytest.raises(ModuleError, match="no method 'forward'"):
        Silent()()


def test_which_forward_a_call_runs():
    class First(Module):
        def forward(self):
            return "first"

    class Mixin:
        def forward(self):
            return "mixin"

    class Mixed(Mixin, First):
        pass

    class Counting(Module):
        def __call__(self):
            return "counted " + self.forward()

    class Counted(Counting):
        def forward(self):
            return "forward"

    class Inherited(Mixed):
        pass

    class Both(Counting):
        def forward(self):
            return "both"

        def __call__(self):
            return "own"

    assert [kind()() for kind in (First, Mixed, Counted, Inherited, Both)] == [
        "first",
        "mixin",
        "counted forward",
        "mixin",
        "own",
    ]


def test_a_replaced_forward_is_called(monkeypatch):
    monkeypatch.setattr(Tiny, "forward", lambda self, x: "patched")
    assert Tiny()(None) == "patched"


Point = collections.namedtuple("Point", "x y")


@pytest.mark.parametrize(
    "value, text",
    [
        (object(), r"Holder\.thing.*type object.*thing = field\(skip=True\)"),
        (abs, r"Holder\.thing"),
        ({"a.b": Relu()}, r"Holder\.thing.*texts without dots, got 'a\.b'"),
        ({"": Relu()}, "texts without dots, got ''"),
        ({1: Relu()}, "texts without dots, got 1"),
        ({"a": Relu(), "b": 3}, "cannot share a dict"),
        (collections.OrderedDict(a=Relu()), "a OrderedDict cannot hold modules"),
        ({"a": object()}, r"Holder\.thing\['a'\]"),
        ([Relu(), 3], "cannot share a list"),
        ([object()], r"Holder\.thing\[0\]"),
        ({Relu()}, "a set cannot hold modules"),
        (Point(Relu(), Relu()), "a Point cannot hold modules"),
        (np.zeros(3), "type ndarray"),
    ],
)
def test_what_cannot_stand_in_a_field(value, text):
    class Holder(Module):
        def __init__(self, thing):
            self.thing = thing

    with pytest.raises(ModuleError, match=text):
        Holder(value)


class Colour(enum.Enum):
    Red = 1


@pytest.mark.parametrize(
    "value",
    [None, 1, 1.5, True, "a", b"a", (1, 2), [1, [2.0]], {"a": 1}, {1, 2}, Colour.Red, np.float32(1), range(3), [], ()],
)
def test_constants(value):
    class Holder(Module):
        def __init__(self, thing):
            self.thing = thing

    assert Holder(value).thing is value and Holder(value).num_params() == 0


def test_one_module_in_two_places():
    class Pair(Module):
        def __init__(self, first, second):
            self.first = first
            self.rest = [second]

    tiny = Tiny()
    with pytest.raises(ModuleError, match=r"one Tiny stands in two places, 'first' and 'rest.0': keep it in one"):
        Pair(tiny, tiny)
    with pytest.raises(ModuleError, match=r"one Param stands in two places, 'first.weight' and 'rest.0.weight'"):
        Pair(tiny, tiny.replace(bias=Param.from_data([0.0], CPU)))
    pair = Pair(tiny, tiny.clone())
    assert pair.first.weight.id == pair.rest[0].weight.id
    shared = Tensor.ones([1], CPU)

    class Constants(Module):
        def __init__(self):
            self.a = self.b = shared

    Constants()


@pytest.mark.parametrize("name", ["forward", "map", "train", "devices", "helper", "size"])
def test_a_field_does_not_hide_a_method(name):
    class Hiding(Module):
        def __init__(self):
            self.__dict__[name] = Relu()

        def forward(self, x):
            return x

        @staticmethod
        def helper():
            pass

        @property
        def size(self):
            return 1

    with pytest.raises(
        ModuleError, match=rf"\[Hiding\] the field '{name}' would hide the method.*{name}_ = field\(name='{name}'\)"
    ):
        Hiding()


def test_groups_by_module_id():
    net = Net()
    group = ParamGroup.ids_from_module(net.pair[1])
    assert group.matches(net.pair[1].training.id) and not group.matches(net.embed.weight.id)


def test_variants():
    choice = Choice.Small(Relu())
    assert isinstance(choice, Choice) and not isinstance(choice, Choice.Big)
    assert choice(Tensor.from_data([-1.0], CPU)).tolist() == [0.0]
    match choice:
        case Choice.Small(module):
            assert isinstance(module, Relu)
    assert str(choice) == "Small {\n  _0: Relu\n}"


@pytest.mark.parametrize("value", [Relu(), 3, None, Relu, [LinearConfig(1, 1).init(CPU)]])
def test_a_variant_holds_what_it_says(value):
    with pytest.raises(ModuleError, match=r"\[Choice.Big\] 'module' must be a Linear, got"):
        Choice.Big(value)
    big = Choice.Big(LinearConfig(1, 1).init(CPU))
    with pytest.raises(
        ModuleError, match=r"\[Choice.Big\] 'module' must be a Linear, got|'Big.module' must be a Module"
    ):
        big.replace(module=value)


@pytest.mark.parametrize("given", [[], [Relu()]])
def test_an_enum_is_made_by_its_variants(given):
    with pytest.raises(
        ModuleError, match=r"\[Choice\] cannot be made itself.*Choice.Big\(module\), Choice.Small\(module\)"
    ):
        Choice(*given)


def test_subclasses_and_marks_are_inherited():
    class Base(Module):
        hook: object = field(skip=True)

        def __init__(self):
            self.hook = abs

    class Derived(Base):
        def __init__(self):
            super().__init__()
            self.inner = Tiny()

    derived = Derived()
    assert derived.hook is abs and derived.num_params() == 6
    assert list(vars(derived)) == ["hook", "inner"]


def test_generic_and_abstract_modules():
    class Base(Module, Generic[T]):
        @abc.abstractmethod
        def forward(self, x): ...

    class Derived(Base[T]):
        def forward(self, x):
            return x

    assert Derived[int]()(1) == 1
    with pytest.raises(TypeError, match="abstract"):
        Base()


def test_arguments_without_a_constructor_are_refused():
    with pytest.raises(TypeError):
        Relu(3)


def test_flags():
    flag = Flag(True)
    assert Param.from_bool(True).is_enabled() and str(flag) == "enabled"
    assert not flag.valid().is_enabled() and flag.valid().train().is_enabled()
    assert flag.with_value(False).train().is_enabled() is False
    assert flag.clone().id == flag.id
    assert pickle.loads(pickle.dumps(flag.valid())).train().is_enabled()


def test_kinds():
    assert Param.from_tensor(Tensor.zeros([2], CPU, kind=Int)).kind == "int"
    assert Param.from_tensor(Tensor.zeros([2], CPU, kind=Bool)).kind == "bool"


def test_containers_are_the_modules_own():
    class Held(Module):
        parts: list
        named: dict

    inner = [LinearConfig(2, 1).init(CPU)]
    parts, named = [inner], {"a": LinearConfig(2, 1).init(CPU)}
    module = Held(parts, named)
    inner.append(module.parts[0][0])
    named["b"] = parts.append(3)
    assert module.into_record().paths() == ["parts.0.0.weight", "parts.0.0.bias", "named.a.weight", "named.a.bias"]


@pytest.mark.parametrize("turn", [lambda x: x, lambda x: (x,), lambda x: {"key": x}])
def test_lists_that_hold_themselves_are_refused(turn):
    class Round(Module):
        parts: object

    for parts in ([], [LinearConfig(2, 1).init(CPU)]):
        parts.append(turn(parts))
        with pytest.raises(ModuleError, match=r"\[Round\] the fields of a module must not hold themselves"):
            Round(parts)
