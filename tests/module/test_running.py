"""Running statistics."""

import threading

import pytest

from burn import Device, Tensor
from burn.errors import ShapeError
from burn.module import Module, ModuleMapper, RunningState

CPU = Device.flex()


def of(*values):
    return Tensor.from_data(list(values), CPU)


class Holder(Module):
    def __init__(self):
        self.state = RunningState(Tensor.zeros([1], CPU))


def test_a_value_lags_one_update():
    state = RunningState(of(0.0))
    state.update(of(1.0))
    assert state.value().tolist() == [0.0]
    state.update(of(2.0))
    assert state.value().tolist() == [1.0]
    assert state.value_sync().tolist() == [2.0] == state.value().tolist()


def test_valid_and_train_flush_and_copies_are_independent():
    holder = Holder()
    holder.state.update(of(7.0))
    valid = holder.valid()
    assert valid.state.value().tolist() == [7.0]
    valid.state.update(of(9.0))
    assert valid.train().state.value().tolist() == [9.0]
    assert valid.train().state.value().is_require_grad() is False
    assert holder.state.value_sync().tolist() == [7.0]
    twin = holder.clone()
    twin.state.update(of(1.0))
    assert twin.state.value_sync().tolist() == [1.0] and holder.state.value_sync().tolist() == [7.0]


def test_replace_does_not_share_the_state():
    class Named(Holder):
        def __init__(self):
            super().__init__()
            self.name = "a"

    first = Named()
    second = first.replace(name="b")
    second.state.update(of(3.0))
    assert second.state.value_sync().tolist() == [3.0] and first.state.value_sync().tolist() == [0.0]
    assert second.state.id == first.state.id


def test_threads_are_averaged():
    state = RunningState(of(0.0))
    barrier = threading.Barrier(3)

    def update(value):
        state.update(of(value))
        barrier.wait()  # all alive at once, so that each has a number of its own

    threads = [threading.Thread(target=update, args=[value]) for value in (1.0, 2.0, 6.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert state.value_sync().tolist() == [0.0]
    assert state.flush().tolist() == [3.0]


def test_records_and_mappers_see_the_flushed_value():
    holder = Holder()
    holder.state.update(of(5.0))
    record = holder.into_record()
    assert record.tensors()[0].to_numpy().tolist() == [5.0]
    loaded = Holder().load_record(record)
    assert loaded.state.value().tolist() == [5.0] and loaded.state.id == holder.state.id

    class Double(ModuleMapper):
        def map_float(self, param):
            return param.map(lambda tensor: tensor * 2.0)

    assert holder.map(Double()).state.value().tolist() == [10.0]
    assert holder.freeze().unfreeze().state.value().is_require_grad() is False
    assert holder.unfreeze().train().state.value().is_require_grad() is False


def test_an_update_of_another_shape_is_refused():
    with pytest.raises(
        ShapeError, match=r"\[RunningState.update\] 'value' must have the shape \[1\] of the state, got \[2\]"
    ):
        RunningState(Tensor([1.0])).update(Tensor([1.0, 2.0]))
