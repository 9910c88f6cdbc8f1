"""Every public operation in every dtype: all dtypes of a kind behave alike, and give what the reference gives."""

import math
from typing import Any

import numpy as np
import pytest

from burn import Bool, Device, DType, Float, Int, Tensor
from burn.errors import BurnError, KindError
from burn.tensor import PadMode
from tests.cases import TOLERANCE, is_float
from tests.cases.tensors import array
from tests.ops.calls import Call, Held, placed
from tests.ops.test_bad_input import CALLS

DTYPES = {
    Float: (DType.F32, DType.F64, DType.Flex32, DType.F16, DType.BF16),
    Int: (DType.I32, DType.I64, DType.I16, DType.I8, DType.U64, DType.U32, DType.U16, DType.U8),
    Bool: (DType.Bool,),
}
UNDEFINED = ("random_like", "categorical", "empty_like")  # values differ from call to call


def tensors(call: Call) -> list[Held]:
    """The tensors among the arguments."""
    listed = [v for value in call.arguments.values() if isinstance(value, list) for v in value]
    return [v for v in (*call.arguments.values(), *listed) if isinstance(v, Held)]


MAIN = {name: call for name, call in CALLS.items() if tensors(call) and call.name not in (*UNDEFINED, "inplace")}


def taking(call: Call, dtype: DType, device: Device) -> dict[str, Any]:
    """The arguments of a call with its values, and numbers that are fractions, in a dtype."""
    main = tensors(call)[0].values.dtype
    fractions = dtype.kind is not Float

    def changed(value: Any) -> Any:
        if isinstance(value, list):
            return [changed(v) for v in value]
        if isinstance(value, float) and fractions:
            return float(math.ceil(abs(value)))
        if isinstance(value, PadMode.Constant) and fractions:
            return PadMode.Constant(2)
        if not isinstance(value, Held) or value.values.dtype != main:
            return placed(value, device)
        values = value.values
        if fractions:
            values = np.round(np.abs(values) * 2 + 1) if main.kind == "f" else np.abs(values)
        return Tensor.from_data(values.astype(dtype.numpy), device, dtype)

    def fixed(name: str, value: Any) -> bool:
        return name in ("indices", "mask") and not (isinstance(value, Held) and is_float(value.values.dtype))

    return {k: placed(v, device) if fixed(k, v) else changed(v) for k, v in call.arguments.items()}


def outcome_of(call: Call, arguments: dict[str, Any]) -> Any:
    """The results, or the error."""
    try:
        made = call.run(arguments)
    except BurnError as e:
        return e
    made = list(made) if isinstance(made, (tuple, list)) else [made]
    return [(x.dtype, array(x)) if isinstance(x, Tensor) else (None, x) for x in made]


def difference(have: Any, want: Any, least: float = 1e-30) -> str | None:
    """How an outcome differs from that of the reference, held to the largest value there, or to `least`."""
    if isinstance(have, BurnError) or isinstance(want, BurnError):
        return None if type(have) is type(want) else f"{have!r:.200} and {want!r:.200}"
    for (have_dtype, x), (want_dtype, y) in zip(have, want, strict=True):
        if have_dtype is not want_dtype and have_dtype.kind is not Int:  # the default Int dtype differs
            return f"{have_dtype} and {want_dtype}"
        if not isinstance(x, np.ndarray):
            if type(x) in (bool, int, float) and x != y and x == x:
                return f"{x} and {y}"
        elif x.shape != y.shape:
            return f"shapes {x.shape} and {y.shape}"
        else:
            near = x == y
            if is_float(x.dtype):
                with np.errstate(all="ignore"):
                    a, b = x.astype("f8"), y.astype("f8")
                scale = np.abs(b[np.isfinite(b)]).max(initial=least)
                near = np.isclose(a, b, rtol=TOLERANCE[x.dtype], atol=8 * TOLERANCE[x.dtype] * scale, equal_nan=True)
            if not np.all(near):
                return f"{x[~near][:3]} and {y[~near][:3]} in {x.dtype}"
    return None


@pytest.mark.parametrize("name", MAIN)
def test_dtypes(name, flex):
    """All dtypes of a kind are taken, with the values of the reference, or the kind is refused by name."""
    call, reference = MAIN[name], Device.ndarray()
    for kind, dtypes in DTYPES.items():
        refused = {}
        for dtype in dtypes:
            have, want = (outcome_of(call, taking(call, dtype, device)) for device in (flex, reference))
            assert difference(have, want) is None, dtype
            refused[dtype] = type(have) if isinstance(have, BurnError) else None
            if isinstance(have, KindError):
                assert kind.name in str(have) and f"[{call.name}]" in str(have)
        assert len(set(refused.values())) == 1, refused
