"""Parameters: when they initialise, what they share, and their training state."""

import pickle
import threading

import pytest

from burn import Device, Int, Tensor
from burn.errors import AutodiffError, ModuleError
from burn.module import Module, Param, ParamGroup, ParamId
from burn.nn import Dropout, LinearConfig

CPU = Device.flex()
AD = CPU.autodiff()


def lazy(device=AD, calls=None, shape=(2, 3), value=1.0, require_grad=True):
    """A parameter of ones that notes where it was initialised."""

    def init(device, require_grad):
        if calls is not None:
            calls.append(device)
        tensor = Tensor.full(shape, value, device)
        return tensor.require_grad() if require_grad else tensor

    return Param.uninitialized(ParamId(), init, device, require_grad, shape)


def state(param):
    return param.is_active(), param.val().is_require_grad()


class One(Module):
    def __init__(self, param):
        self.param = param
        self.dropout = Dropout(0.5)

    def forward(self, x):
        return x


def test_nothing_initialises_a_parameter_but_its_value():
    calls = []
    param = lazy(calls=calls)
    twin = param.clone()
    assert param.shape == (2, 3) and param.lazy_device() == AD and param.num_elements() == 6
    assert not param.is_initialized() and repr(param) and str(param) and calls == []
    one = One(param)
    assert one.num_params() == 6 and one.devices() == [CPU] and str(one) and calls == []
    assert param.val() is param.val() is twin.val() and len(calls) == 1
    assert param.is_initialized() and twin.is_initialized()


def test_threads_initialise_once():
    calls = []
    params = [lazy(calls=calls)]
    params += [params[0].clone() for _ in range(7)]
    values, barrier = [], threading.Barrier(8)

    def read(param):
        barrier.wait()
        values.append(param.val())

    threads = [threading.Thread(target=read, args=[param]) for param in params]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(calls) == 1 and len({id(value) for value in values}) == 1


def test_an_initialiser_with_another_shape_is_an_error():
    param = Param.uninitialized(ParamId(), lambda device, grad: Tensor.ones([3], device), CPU, False, [2])
    with pytest.raises(ModuleError, match=r"must give the shape \[2\] that was declared, got \[3\]"):
        param.val()


def test_an_initialiser_of_another_kind_is_an_error():
    param = Param.uninitialized(ParamId(), lambda device, grad: Tensor.zeros([2], device, kind=Int), CPU, False, [2])
    with pytest.raises(ModuleError, match="must give float values, got i32"):
        param.val()


def test_gradients_through_the_parameter():
    weight = Param.from_data([2.0, 3.0], AD)
    grads = (weight.val() * weight.val()).sum().backward()
    assert weight.grad(grads).tolist() == [4.0, 6.0]
    assert weight.clone().val().grad(grads).tolist() == [4.0, 6.0]


def test_constructors():
    assert state(Param.from_data([1.0], AD)) == (True, True)
    assert state(Param.from_data([1.0], CPU)) == (True, False)
    assert state(Param.initialized(ParamId(1), Tensor.ones([1], AD))) == (False, False)
    assert state(Param.initialized(ParamId(1), Tensor.ones([1], AD).require_grad())) == (True, True)
    assert Param.from_tensor(Tensor.zeros([1], AD, kind=Int)).is_active() is False
    tracked = Tensor.ones([1], AD).require_grad() * 2.0
    with pytest.raises(AutodiffError, match="detach"):
        Param.from_tensor(tracked)


@pytest.mark.parametrize("make", [lazy, lambda: Param.from_data([1.0], AD)])
def test_training_states(make):
    one = One(make())

    def at(module):
        return (*state(module.param), module.dropout.training.is_enabled())

    assert at(one) == (True, True, True)
    assert at(one.valid()) == (True, False, False)
    assert at(one.valid().valid()) == (True, False, False)
    assert at(one.valid().train()) == (True, True, True)
    assert at(one.no_grad()) == (False, False, True)
    assert at(one.no_grad().valid().train()) == (False, False, True)
    assert at(one.freeze().valid().set_require_grad(True)) == (True, False, False)
    assert at(one.freeze().valid().set_require_grad(True).train()) == (True, True, False)
    assert at(one.valid().unfreeze()) == (True, False, True)
    assert at(one.valid().unfreeze().train()) == (True, True, True)
    assert at(one.valid().freeze().train()) == (False, False, False)
    assert at(one) == (True, True, True)


def test_a_plain_device_keeps_the_setting_until_train():
    one = One(lazy(CPU))
    assert state(one.param) == (True, False)
    assert state(one.train().param) == (True, True)


def test_groups():
    linear = LinearConfig(2, 2).init(AD)
    frozen = linear.freeze_group(ParamGroup.from_path("bias"))
    assert (state(frozen.weight), state(frozen.bias)) == ((True, True), (False, False))
    assert state(frozen.unfreeze_group(ParamGroup.from_ids([linear.bias.id])).bias) == (True, True)
    one = One(lazy())
    group = ParamGroup.from_path("dropout.training")
    assert one.freeze_group(group).dropout.training.is_enabled() is False
    assert one.set_require_grad_group(ParamGroup.all(), False).dropout.training.is_enabled() is True


def test_freezing_a_clone_leaves_the_lazy_original():
    param = lazy()
    frozen = param.clone().set_require_grad(False)
    assert state(param) == (True, True) and state(frozen) == (False, False)
    assert frozen.val().tolist() == param.val().tolist()
    first = lazy()
    frozen = first.clone().set_require_grad(False)
    assert state(frozen) == (False, False) and state(first) == (True, True)


def test_moving_before_initialising():
    calls = []
    other = Device.ndarray()
    moved = lazy(AD, calls).to_device(other)
    assert moved.lazy_device() == other and not moved.is_initialized() and calls == []
    assert moved.val().device == other and moved.val().is_require_grad() and calls == [other]


def test_moving_a_lazy_one_that_stays_in_use_gives_equal_values():
    def init(device, require_grad):
        tensor = Tensor.random([4], device=device)
        return tensor.require_grad() if require_grad else tensor

    here = Param.uninitialized(ParamId(), init, AD, True, [4])
    for there in (here.to_device(Device.ndarray()), here.fork(Device.ndarray())):
        assert there.val().tolist() == here.val().tolist()


def test_moving_one_that_has_clones_initialises_at_the_source():
    calls = []
    param = lazy(AD, calls)
    twin = param.clone()
    forked = param.fork(Device.ndarray())
    assert calls == [AD] and twin.is_initialized() and forked.val().is_require_grad()


def test_to_device_keeps_the_graph_and_fork_cuts_it():
    param = Param.from_data([2.0], AD)
    there = param.to_device(Device.ndarray())
    grads = (there.val() * 3.0).sum().backward()
    assert param.grad(grads).tolist() == [3.0] and there.grad(grads) is None
    leaf = param.fork(Device.ndarray())
    grads = (leaf.val() * 3.0).sum().backward()
    assert param.grad(grads) is None and leaf.grad(grads).tolist() == [3.0]
    assert leaf.id == param.id == there.id


def test_train_after_to_device_names_the_parameter_and_fork():
    one = One(Param.from_data([2.0], AD)).to_device(CPU)
    with pytest.raises(AutodiffError, match=r"\[train\] parameter 'param'.*fork\(\)"):
        one.train()


def test_map_keeps_id_and_trainability():
    param = Param.from_data([1.0, 2.0], AD)
    mapped = param.map(lambda tensor: tensor * 2.0)
    assert mapped.val().tolist() == [2.0, 4.0] and mapped.id == param.id and state(mapped) == (True, True)
    assert state(param.set_require_grad(False).map(lambda tensor: tensor * 2.0)) == (False, False)
    id, value, mapper = param.consume()
    assert Param.from_mapped_value(id, value.inner().autodiff(), mapper).is_active()


def test_init_mapper_stays_lazy():
    calls = []
    param = lazy(AD, calls).init_mapper(lambda tensor: tensor.transpose() * 2.0)
    assert param.lazy_shape() == (3, 2) and calls == []
    grads = param.val().sum().backward()
    assert param.val().tolist() == [[2.0, 2.0]] * 3 and param.grad(grads).tolist() == [[1.0, 1.0]] * 3
    assert state(param) == (True, True)
    done = Param.from_data([[1.0, 2.0]], AD).set_require_grad(False).init_mapper(Tensor.transpose)
    assert done.lazy_shape() == (2, 1)


def test_pickles_keep_id_and_trainability():
    param = Param.from_data([1.0], AD).set_require_grad(False)
    again = pickle.loads(pickle.dumps(param))
    assert again.id == param.id and again.is_active() is False and again.val().tolist() == [1.0]


def test_dropped_graphs_do_not_keep_parameters():
    param = lazy()
    param.val()
    moved = lazy().to_device(Device.ndarray())
    del param
    assert moved.val() is not None
