"""Every public operation on values and memory that are unusual: NaN, infinities, extremes of integers, axes of size 0 and 1,
views whose elements share memory. Results are those of the reference, of plain copies, or of integers of any size."""

import math
from typing import Any

import numpy as np
import pytest

from burn import Device, DType, Tensor
from tests.cases import F32
from tests.cases.tensors import array, tensor
from tests.ops.calls import Call, Held
from tests.ops.test_dtypes import MAIN, difference, outcome_of

ODD = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.5, 1e-40, 1e18, -1e18], F32)
FIXED = ("indices", "mask", "window")
FLOATS = {name: call for name, call in MAIN.items() if call.arguments and Held in map(type, call.arguments.values())}


def replaced(call: Call, change: Any) -> Call:
    """The call with its f32 tensors changed, each by its own number."""
    made = {}
    for at, (name, value) in enumerate(call.arguments.items()):
        plain = isinstance(value, Held) and name not in FIXED and value.values.dtype == F32
        made[name] = Held(change(value.values, at)) if plain else value
    return Call(call.place, call.name, made)


def reshaped(call: Call, change: Any) -> Call:
    """The call with all tensors in another shape."""
    made = {k: Held(change(v.values)) if isinstance(v, Held) else v for k, v in call.arguments.items()}
    return Call(call.place, call.name, made)


def compared(call: Call, flex: Device) -> str | None:
    """How the results differ from those of the reference."""
    reference = Device.ndarray()
    return difference(outcome_of(call, call.made(flex)), outcome_of(call, call.made(reference)))


@pytest.mark.parametrize("name", [name for name in FLOATS if name != "Tensor.int"])  # the default Int dtypes differ
def test_nan_and_infinities(name, flex):
    call = replaced(FLOATS[name], lambda x, at: np.resize(np.roll(ODD, at), x.shape))
    assert compared(call, flex) is None


@pytest.mark.parametrize("name", FLOATS)
def test_axes_of_size_0_and_1(name, flex):
    found = {
        "nothing": compared(reshaped(FLOATS[name], lambda x: x[..., :0]), flex),
        "no rows": compared(reshaped(FLOATS[name], lambda x: x[:0]), flex),
        "one element": compared(reshaped(FLOATS[name], lambda x: x[(slice(1),) * x.ndim]), flex),
        "a vector": compared(reshaped(FLOATS[name], lambda x: x.reshape(-1)), flex),
    }
    assert {what: text for what, text in found.items() if text} == {}


def overlapping(values: np.ndarray, device: Device, kind: str) -> Tensor:
    """A view with the shape and dtype of an array, whose elements share memory."""
    if kind == "expanded":
        return tensor(np.ascontiguousarray(values[:1]), device).expand(list(values.shape))
    *outer, rows, columns = values.shape if values.ndim > 1 else (1, *values.shape)
    flat = tensor(np.resize(values, rows + columns - 1), device)
    return flat.unfold(0, columns, 1).expand([*outer, rows, columns]).reshape(list(values.shape))


@pytest.mark.parametrize("kind", ["expanded", "windows"])
@pytest.mark.parametrize("name", FLOATS)
def test_views_that_share_memory(name, kind, flex):
    call = FLOATS[name]
    if min((min(v.values.shape, default=0) for v in call.arguments.values() if isinstance(v, Held)), default=0) == 0:
        return
    views = call.made(flex)
    for key, value in call.arguments.items():
        if isinstance(value, Held):
            views[key] = overlapping(value.values, flex, kind)
    copies = {k: tensor(array(v), flex) if isinstance(v, Tensor) else v for k, v in views.items()}
    before = {k: array(v) for k, v in views.items() if isinstance(v, Tensor)}
    # The mean of repeated elements is exact: their covariance is 0, and next to 0 for the copy.
    assert difference(outcome_of(call, views), outcome_of(call, copies), 1e-6) is None
    for key, values in before.items() if call.name != "inplace" else ():
        np.testing.assert_array_equal(array(views[key]), values)


INTS = (DType.I64, DType.I32, DType.I16, DType.I8, DType.U64, DType.U32, DType.U16, DType.U8)
WRAPPING = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "bitwise_and": lambda a, b: a & b,
    "bitwise_xor": lambda a, b: a ^ b,
    "max_pair": max,
    "min_pair": min,
    "div": lambda a, b: int(math.copysign(1, a) * math.copysign(1, b)) * (abs(a) // abs(b)) if a else 0,
    "remainder": lambda a, b: a % b,
}
FOLDED = {"sum": sum, "prod": math.prod, "max": max, "min": min}


def wrapped(value: int, dtype: DType) -> int:
    """An integer as two's complement of the width of a dtype."""
    bits = 8 * dtype.size
    value %= 1 << bits
    return value if dtype.is_uint or value < 1 << (bits - 1) else value - (1 << bits)


@pytest.mark.parametrize("dtype", INTS, ids=str)
def test_integers_are_twos_complement(dtype, device):
    info = np.iinfo(dtype.numpy)
    values = [info.min, info.max, info.max - 1, 1, 3, 100] + ([] if dtype.is_uint else [-1, info.min + 1, -100])
    pairs = [(a, b) for a in values for b in values if b]
    x, y = (Tensor.from_data(np.array(part, dtype.numpy), device, dtype) for part in zip(*pairs, strict=True))
    for name, oracle in WRAPPING.items():
        assert getattr(x, name)(y).tolist() == [wrapped(oracle(a, b), dtype) for a, b in pairs], name
    t = Tensor.from_data(np.array(values, dtype.numpy), device, dtype)
    for name, oracle in FOLDED.items():
        assert getattr(t, name)().item() == wrapped(oracle(values), dtype), name
    for name, oracle in (
        ("neg", lambda v: -v),
        ("abs", abs),
        ("square", lambda v: v * v),
        ("bitwise_not", lambda v: ~v),
    ):
        if not (name == "neg" and dtype.is_uint):
            assert getattr(t, name)().tolist() == [wrapped(oracle(v), dtype) for v in values], name
    sums = [wrapped(sum(values[: k + 1]), dtype) for k in range(len(values))]
    assert t.cumsum(0).tolist() == sums
    assert t.cumprod(0).tolist() == [wrapped(math.prod(values[: k + 1]), dtype) for k in range(len(values))]
    square = t.unsqueeze_dim(0)
    assert (square @ square.transpose()).tolist() == [[wrapped(sum(v * v for v in values), dtype)]]
    assert t.add_scalar(1).tolist() == [wrapped(v + 1, dtype) for v in values]
    for other in INTS:
        assert t.cast(other).tolist() == [wrapped(v, other) for v in values], other
