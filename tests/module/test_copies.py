"""What moves, what training and validation switch, what copies and pickles share."""

import copy
import pickle
import threading

import numpy as np
import pytest

from burn import Device, Tensor
from burn.errors import ModuleError
from burn.module import Flag, FrozenModuleError, Module, Param, ParamGroup, RunningState, field, list_param_ids
from burn.nn import LinearConfig
from tests.module.test_module import Choice, Net, Tiny

CPU = Device.flex()


class Kinds(Module):
    real: Param
    whole: Param
    truth: Param
    state: RunningState
    table: Tensor
    places: Tensor
    flag: Flag
    size: int
    hidden: Tensor = field(skip=True)

    def __init__(self, device):
        self.real, self.state = Param.from_data([1.0], device), RunningState(Tensor.ones([1], device))
        self.whole, self.truth = Param.from_data([1], device), Param.from_data([True], device)
        self.table, self.places = Tensor.ones([2], device), Tensor.from_data([1], device)
        self.flag, self.size, self.hidden = Flag(True), 3, Tensor.ones([1], device)


TENSORS = ("real", "whole", "truth", "state", "table", "places")


def tensor_of(module, name):
    value = getattr(module, name)
    return value.value() if name == "state" else value if isinstance(value, Tensor) else value.val()


@pytest.mark.parametrize("move", ["to_device", "fork"])
def test_what_moves(move):
    """Parameters, states and plain tensors; what is skipped stays, and flags and constants are nowhere."""
    here, there = CPU.autodiff(), Device.ndarray()
    kinds = Kinds(here)
    moved = getattr(kinds, move)(there)
    for name in TENSORS:
        tensor = tensor_of(moved, name)
        # The autodiff context goes along: of Float tensors for gradients, of all others as an association.
        assert tensor.device == there and tensor.is_autodiff() == tensor_of(kinds, name).is_autodiff(), name
        assert tensor_of(kinds, name).device == here
    assert moved.hidden.device == here and moved.hidden is kinds.hidden and moved.size == 3 and moved.flag.is_enabled()
    assert moved.devices() == [there] and kinds.devices() == [here]
    assert moved.real.val().is_require_grad() == (move == "fork") and moved.real.is_active()


def test_what_validation_and_training_switch():
    kinds = Kinds(CPU.autodiff())
    valid = kinds.valid()
    assert not any(tensor_of(valid, name).is_autodiff() for name in TENSORS) and not valid.flag.is_enabled()
    assert valid.hidden is kinds.hidden and valid.hidden.is_autodiff() and valid.real.id == kinds.real.id
    train = valid.train()
    assert all(tensor_of(train, name).is_autodiff() for name in TENSORS) and train.flag.is_enabled()
    assert [tensor_of(train, name).is_require_grad() for name in TENSORS] == [True] + [False] * 5
    assert str(valid.train().valid()) == str(valid)
    frozen = kinds.freeze()
    assert not frozen.real.is_active() and not frozen.flag.is_enabled() and frozen.table is kinds.table
    assert kinds.no_grad().flag.is_enabled() and not kinds.no_grad().real.is_active()


def test_devices_in_the_order_of_first_appearance():
    other = Device.ndarray()

    class Spread(Module):
        def __init__(self):
            self.parts = [
                LinearConfig(1, 1).init(other),
                LinearConfig(1, 1).init(CPU.autodiff()),
                LinearConfig(1, 1).init(CPU),
            ]
            self.size, self.flag = 1, Flag(True)

    spread = Spread()
    assert spread.devices() == [other, CPU] and spread.collect_devices([CPU]) == [CPU, other]
    assert not any(part.weight.is_initialized() for part in spread.parts)


def test_copies_and_pickles():
    net = Net()
    for twin in (net.clone(), copy.copy(net), copy.deepcopy(net)):
        assert twin is not net and list_param_ids(twin) == list_param_ids(net)
        np.testing.assert_array_equal(twin.layers[0].weight.val(), net.layers[0].weight.val())
    again = pickle.loads(pickle.dumps(net))
    assert list_param_ids(again) == list_param_ids(net) and type(again.choice) is Choice.Big and str(again) == str(net)
    tiny = pickle.loads(pickle.dumps(Tiny()))
    assert tiny.weight.val().tolist() == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(FrozenModuleError):
        tiny.weight = None


def test_deep_copies_share_no_constants():
    class Holding(Module):
        hidden: object = field(skip=True)

        def __init__(self, hidden=None):
            self.sizes, self.part, self.hidden = [1, 2], Net(), {"a": [1]} if hidden is None else hidden
            self.state = RunningState(Tensor.ones([1], CPU.autodiff()))

    first = Holding()
    second = copy.deepcopy(first)
    assert second.sizes == [1, 2] and second.hidden == {"a": [1]} and second.part.anything == first.part.anything
    assert second.sizes is not first.sizes and second.hidden["a"] is not first.hidden["a"]
    assert second.part.anything is not first.part.anything and second.part.layers is not first.part.layers
    assert (
        list_param_ids(second) == list_param_ids(first)
        and second.part.pair[1].training.id == first.part.pair[1].training.id
    )
    second.state.update(Tensor([5.0]))
    assert first.state.value_sync().tolist() == [1.0] and second.state.value().is_autodiff()
    assert copy.copy(first.state) is not first.state and first.clone().sizes is first.sizes
    with pytest.raises(FrozenModuleError):
        second.sizes = None
    both = copy.deepcopy([first, first])
    assert both[0] is both[1] is not first
    loop = Holding({})
    loop.hidden["self"] = loop
    assert copy.deepcopy(loop).hidden["self"].hidden["self"].sizes == [1, 2]
    with pytest.raises(ModuleError, match=r"\[deepcopy\] 'Holding.hidden' cannot be copied: .*lock.*; use clone\(\)"):
        copy.deepcopy(Holding(threading.Lock()))


def test_pickles_come_back_on_plain_devices_and_train_again():
    linear = LinearConfig(2, 2).init(CPU.autodiff()).set_require_grad_group(ParamGroup.from_path("bias"), False)
    again = pickle.loads(pickle.dumps(linear))
    assert not again.weight.is_autodiff() and again.weight.is_active() and not again.bias.is_active()
    trained = again.train()
    assert trained.weight.val().is_require_grad() and not trained.bias.val().is_require_grad()
