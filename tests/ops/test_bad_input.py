"""Wrong calls of every public operation, made from its good call by spoiling one argument: each raises an error of burn that
starts with the operation and names the argument; what is only unusual gives a result or such an error, never another one."""

import enum
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from burn import Device, Tensor
from burn.errors import ArgumentTypeError, BurnError, DeviceError, DTypeError, KindError, OutOfBoundsError
from tests.cases.tensors import array, tensor
from tests.ops.calls import DEVICE, PLACES, Call, Held, placed, public, recorded

CALLS = {f"{getattr(c.place, '__name__', c.place).rpartition('.')[2]}.{c.name}": c for c in recorded()}
AXES = ("dim", "dim1", "dim2", "axis", "start_dim", "end_dim", "axes", "dims")
WHOLE = (*AXES, "k", "size", "step", "shift", "start", "length", "times", "chunks", "split_size", "rank", "index",
         "num_classes", "num_samples", "diagonal", "offset", "correction_factor", "sweeps", "n")  # fmt: skip
# whose arguments are anything, or have tests of their own
FREE = ("inplace", "from_numpy", "from_data", "from_floats", "from_ints", "from_bool", "set_require_grad", "from_")
NO_NUMBER = ("matmul", "dot", "cross", "is_close", "all_close")

# Arguments that may be None, but must be given.
OR_NONE = {
    ("layer_norm", "beta"), ("deform_conv2d", "mask"),
    *((f"{name}{axes}d", "bias") for name in ("conv", "conv_transpose") for axes in (1, 2, 3)), ("deform_conv2d", "bias"),
    ("attention", "mask"), ("attention", "attn_bias"),
}  # fmt: skip

Wrong = tuple[str, Any, type[Exception] | None]  # what, the value, what it must raise: None where a result is fine too


def spoiled(name: str, value: Any, call: Call) -> Iterator[Wrong]:
    """Wrong values for an argument of a good call."""
    optional = call.parameters[name].default is None or (call.name, name) in OR_NONE
    if isinstance(value, Held):
        yield from (row for row in spoiled_tensor(name, value, call) if row[1] is not None or not optional)
        return
    yield "object", object(), BurnError
    if value is DEVICE:
        yield "text", "flex", BurnError
        return
    if not optional:
        yield "None", None, BurnError
    if isinstance(value, bool):
        yield "text", "yes", ArgumentTypeError
        yield "list", [1], ArgumentTypeError
    elif isinstance(value, (int, float)):
        yield from spoiled_number(name)
    elif isinstance(value, (list, tuple)):
        yield "text", "a", BurnError
        yield "number", 1.5, BurnError
        for item in (None, "a", 1.5, object(), [[]]):
            yield f"list of {type(item).__name__}", [item], BurnError
        yield "list of huge ints", [2**70], None if name == "slices" else BurnError
        for odd in ([], [0], [-1], [99], [1] * 9, [2**62, 4], [-(2**40)]):
            yield f"list {odd}", odd, None
        if name in AXES and all(isinstance(v, int) for v in value):
            yield "axis too large", [99], BurnError
            yield "axis that is a bool", [True], BurnError
    elif isinstance(value, (str, enum.Enum)):
        yield "nonsense", "nonsense", BurnError
        yield "number", 3, BurnError


def spoiled_number(name: str) -> Iterator[Wrong]:
    """Wrong values for a number."""
    for what, bad in (("text", "a"), ("digits", "1"), ("bytes", b"1"), ("complex", 1 + 2j), ("array", np.ones((2, 2)))):
        yield what, bad, BurnError
    for odd in (-99, 99, 2**63, 2**64, -(2**63) - 1, 2**200, 10**400):
        yield f"number {odd!r:.20}", odd, OutOfBoundsError if name in AXES else None
    for odd in (float("nan"), float("inf"), 1e308, np.float32(0.5), 1.5):
        yield f"number {odd}", odd, BurnError if name in WHOLE else None
    if name in WHOLE:
        yield "bool", True, BurnError
        yield "NumPy's bool", np.True_, BurnError
        yield "list", [1], BurnError
        yield "Float tensor", Held(np.ones(1, np.float32)), BurnError


def spoiled_tensor(name: str, held: Held, call: Call) -> Iterator[Wrong]:
    """Wrong values for a tensor."""
    x = held.values
    others = [v for k, v in call.arguments.items() if isinstance(v, Held) and k != name]
    if name != "self":
        for what, bad in (
            ("None", None),
            ("text", "a"),
            ("list", [1.0]),
            ("array", np.ones((2, 2))),
            ("object", object()),
        ):
            yield what, bad, BurnError
        number = name == "other" and call.name not in NO_NUMBER
        yield "number", 2, None if number else BurnError
        yield "fraction", 0.5, None if number else BurnError
    yield "higher rank", Held(x[None]), None
    if x.ndim > 1:
        yield "lower rank", Held(x[0]), None
    yield "another size", Held(np.concatenate([x, x[..., :1]], -1)), None
    yield "empty", Held(x[..., :0]), None
    yield "no element", Held(np.zeros((0,) * x.ndim, x.dtype)), None
    yield "one element", Held(np.ones((1,) * x.ndim, x.dtype)), None
    for kind in {"f": "f4", "i": "i4", "b": "?"}.items():
        if kind[0] != x.dtype.kind:
            yield f"kind {kind[0]}", Held((x * 0).astype(kind[1])), None
    if x.dtype.kind == "f":
        yield "NaN", Held(np.full_like(x, np.nan)), None
        yield "infinity", Held(np.full_like(x, np.inf)), None
        if any(o.values.dtype == x.dtype for o in others):
            yield "another dtype", Held(x.astype("f8")), DTypeError
    if others:
        yield "another device", OnReference(x), DeviceError
    if name == "indices":
        for odd in (99, -1, 2**31 - 1):
            nowhere = odd == -1 and call.name == "max_pool2d_with_indices_backward"
            yield f"index {odd}", Held(np.full_like(x, odd)), None if nowhere else OutOfBoundsError
        yield "Float indices", Held(x.astype("f4")), KindError


class OnReference(Held):
    """A tensor on another device than the rest."""


def with_value(call: Call, name: str, value: Any, device: Device) -> dict[str, Any]:
    """The arguments with one of them changed."""
    made = tensor(value.values, Device.ndarray()) if isinstance(value, OnReference) else placed(value, device)
    parameter = call.parameters[name]
    return {**call.made(device), name: (made,) if parameter.kind is parameter.VAR_POSITIONAL else made}


def fault(call: Call, name: str, must: type[Exception] | None, run: Callable[[], Any], op: str) -> str | None:
    """What is wrong with the behaviour of a spoiled call, or None."""
    try:
        result = run()
        for part in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(part, Tensor):
                array(part)
    except BurnError as e:
        text = str(e)
        if not text.startswith(f"[{op}] "):
            return f"starts otherwise: {text}"
        if must and not isinstance(e, must):
            return f"raises {type(e).__name__}, not {must.__name__}: {text}"
        if must is DTypeError:
            return None if "f32" in text and "f64" in text else f"does not name both dtypes: {text}"
        if must and must is not DeviceError and not re.search(rf"\b{name}\b", text):
            return f"does not name the argument: {text}"
    except MemoryError:
        pass
    except Exception as e:
        return f"raises {type(e).__name__}: {e}"
    else:
        return f"is accepted: {result!r:.80}" if must else None
    return None


def faults(call: Call, device: Device) -> list[str]:
    """All that is wrong with the behaviour of a public operation on spoiled arguments."""
    found = []
    for name, value in {} if call.name in FREE else call.arguments.items():
        if call.parameters[name].kind is call.parameters[name].VAR_POSITIONAL:
            value = list(value[0]) if value and not isinstance(value[0], int) else list(value)
        for what, bad, must in spoiled(name, value, call):
            arguments = with_value(call, name, bad, device)
            wrong = fault(call, name, must, lambda a=arguments: call.run(a), call.name)
            found += [f"{call.name}({name}: {what}) {wrong}"] if wrong else []
    return found


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", CALLS)
def test_spoiled_arguments(name, flex):
    assert faults(CALLS[name], flex) == []


@pytest.mark.parametrize("name", CALLS)
def test_calls_that_do_not_fit(name, flex):
    call = CALLS[name]
    arguments = call.made(flex)
    given = [arguments.pop("self")] if "self" in arguments else []
    found = [fault(call, "axes_", ArgumentTypeError, lambda: call.function(*given, axes_=1), call.name)]
    names = [p for p in call.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "self"]
    for p in names:
        if p.default is p.empty:
            rest = {key: value for key, value in arguments.items() if key != p.name}
            found.append(fault(call, p.name, ArgumentTypeError, lambda a=rest: call.function(*given, **a), call.name))
    if all(p.kind is not p.VAR_POSITIONAL for p in call.parameters.values()):
        found.append(fault(call, "takes", ArgumentTypeError, lambda: call.function(*given, *range(9)), call.name))
    assert [text for text in found if text] == []


MAKERS = {
    "zeros": Tensor.zeros,
    "ones": Tensor.ones,
    "empty": Tensor.empty,
    "full": lambda shape: Tensor.full(shape, 1.0),
    "random": Tensor.random,
    "triu_mask": lambda shape: Tensor.triu_mask(shape, 0),
    "cartesian_grid": Tensor.cartesian_grid,
}
SHAPES = {
    "negative": [2, -1],
    "rank 0": [],
    "rank 9": [1] * 9,
    "too many elements": [2**32, 2**32],
    "not 64 bits": [2**64],
    "float": [2.0],
    "bool": [True, 2],
    "text": "22",
    "None": None,
    "nested": [[2, 2]],
    "array of floats": np.ones(2),
    "one float": 2.0,
}


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("what", SHAPES)
def test_shapes_that_are_none(maker, what, flex):
    with pytest.raises(BurnError, match=rf"^\[{maker}\] 'shape'"):
        MAKERS[maker](SHAPES[what])


@pytest.mark.parametrize("odd", [-1, 2, 2**31 - 1])
def test_nothing_is_written_where_an_index_is_wrong(odd, device):
    x, values = tensor(np.zeros((2, 3), np.float32), device), tensor(np.ones((2, 3), np.float32), device)
    rows = tensor(np.array([0, odd]), device)
    for call in (
        lambda: x.select_assign(0, rows, values, "Add"),
        lambda: x.scatter(0, rows.unsqueeze_dim(1).expand([2, 3]), values, "Add"),
        lambda: x.scatter_nd(rows.unsqueeze_dim(1), values, "Add"),
        lambda: x.select(0, rows),
        lambda: x.take(0, rows),
        lambda: x.gather(0, rows.unsqueeze_dim(1).expand([2, 3])),
        lambda: x.gather_nd(rows.unsqueeze_dim(1)),
    ):
        with pytest.raises(OutOfBoundsError, match=f"'indices'.*{odd}"):
            call()
            device.sync()
        assert array(x).sum() == 0


def test_every_public_function_is_here():
    """But those that read a tensor back or ask about it, and take no argument."""
    for place in PLACES:
        for name in public(place):
            parameters = CALLS.get(f"Tensor.{name}") or any(key.endswith("." + name) for key in CALLS)
            if not parameters:
                takes = [p for p in Call(place, name, {}).parameters if p != "self"]
                assert not takes or name in OTHER_NAMES, name


# aliases of what is here, checks, and what takes objects of other libraries
OTHER_NAMES = {"assert_shape", "check_closeness", "debug_assert_shape", "from_cuda_array", "grad_replace", "from_dlpack", "from_",
               "from_json", "try_into_scalar", "mask_select_async", "to_data_as", "try_to_data_dtype",
               "into_data_dtype", "try_into_data_dtype", "into_data_as", "try_to_data_as", "try_into_data_as", "try_to_vec_as",
               "try_into_vec_as"}  # fmt: skip
