from dataclasses import dataclass

import pytest

from burn import Device, Tensor
from burn.optim.state import MissingLeaf, flatten, map_tensors, unflatten


@dataclass
class Inner:
    velocity: Tensor


@dataclass
class State:
    time: int
    scale: float
    warm: bool
    moment: Tensor
    history: list[Tensor]
    largest: Tensor | None = None
    inner: Inner | None = None
    rate: float | None = None


def one():
    return Tensor.ones([2], Device.flex())


def test_round_trip():
    state = State(3, 0.5, True, one(), [one(), one()], None, Inner(one()))
    leaves = dict(flatten(state, "7"))
    assert list(leaves) == [
        "7.time", "7.scale", "7.warm", "7.moment", "7.history.len", "7.history.0", "7.history.1", "7.inner.velocity"
    ]  # fmt: skip
    again = unflatten(State, "7", leaves)
    assert again.time == 3 and again.scale == 0.5 and again.warm is True and len(again.history) == 2
    assert again.largest is None and again.rate is None and again.inner.velocity is state.inner.velocity


def test_no_prefix_and_absent_parts():
    leaves = dict(flatten(State(0, 1.0, False, one(), []), ""))
    assert "time" in leaves and unflatten(State, "", leaves).inner is None


@pytest.mark.parametrize(
    ("name", "value"), [("7.time", 1.5), ("7.time", True), ("7.warm", 1), ("7.moment", 3), ("7.history.len", None)]
)
def test_a_leaf_of_another_type_is_missing(name, value):
    leaves = dict(flatten(State(0, 1.0, False, one(), []), "7")) | {name: value}
    with pytest.raises(MissingLeaf, match=name):
        unflatten(State, "7", leaves)


def test_an_integer_serves_as_a_float():
    leaves = dict(flatten(State(0, 1.0, False, one(), []), "7")) | {"7.scale": 2}
    assert isinstance(unflatten(State, "7", leaves).scale, float)


def test_map_tensors():
    state = map_tensors(State(3, 0.5, True, one(), [one()], None, Inner(one())), lambda tensor: tensor * 2.0)
    assert state.time == 3 and state.history[0].numpy().tolist() == [2, 2] == state.inner.velocity.numpy().tolist()


def test_unknown_field_type():
    @dataclass
    class Odd:
        name: str

    with pytest.raises(TypeError, match=r"'7\.name' must be a tensor"):
        dict(flatten(Odd("x"), "7"))
