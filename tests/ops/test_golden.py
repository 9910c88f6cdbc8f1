"""Values and gradients of every op against the numbers that Burn 0.22.1 computed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burn.signal
import burn.tensor
from burn.tensor import Tensor
from tests import golden
from tests.cases import as_tuple, is_float
from tests.cases.tensors import array, tensor
from tests.ops.checks import find

# Families, with the number of cases that their manifests hold.
COUNTS = {
    "elementwise": 243,
    "activation": 127,
    "reduce": 153,
    "movement": 42,
    "index": 13,
    "matmul": 12,
    "edge": 39,
    "linalg": 17,
    "signal": 10,
}

# Distance from Burn's number, relative to the largest of the result: half precision may end one unit apart.
TOLERANCE = {"F64": 1e-11, "F32": 3e-6, "F16": 2e-3, "BF16": 1.6e-2}

# Ops that Burn computes with constants rounded to single precision, even in f64: its distance from the right value.
SINGLE_CONSTANTS = {
    "div_scalar",
    "celu",
    "cov",
    "softplus_with_threshold",
    "hard_sigmoid",
    "hard_swish",
    "var",
    "var_bias",
    "var_mean",
    "var_mean_bias",
}
SINGLE_TOLERANCE = 1e-7

ANY = None  # either value is defensible


def slope(factor: float) -> Callable[[float], float]:
    """The right gradient where it is `factor` times the cotangent."""
    return lambda cotangent: factor * cotangent


# Where Burn's number is not the right one: case -> result -> flat position -> the right value.
KNOWN: dict[str, dict[str, dict[int, Any]]] = {
    # A root has gradient 0 at 0, so that norms stay finite; below 0 it is as undefined as the value.
    "sqrt.5": {"grad.x": {0: 0, 1: 0, 13: ANY}},
    "sqrt.6": {"grad.x": {0: 0, 1: 0, 13: ANY}},
    # Powers of 0 have finite gradients.
    "powf.5": {"grad.lhs": {0: 0}, "grad.rhs": {0: 0, 1: 0, 6: 0}},
    # A NaN of the second operand is kept.
    "max_pair.5": {"out.0": {3: np.nan}, "grad.lhs": {3: ANY}, "grad.rhs": {3: ANY}},
    "min_pair.5": {"out.0": {3: np.nan}, "grad.lhs": {3: ANY}, "grad.rhs": {3: ANY}},
    "powf_scalar.14": {"grad.x": {0: 0}},
    "clamp.1": {"grad.x": {5: 0}},
    # The branch that is not taken does not poison the gradient at +inf.
    "elu.3": {"grad.x": {16: slope(1)}},
    "celu.3": {"grad.x": {16: slope(1)}},
    "selu.3": {"grad.x": {16: slope(1.0507009873554805)}},
    "hard_swish.3": {"out.0": {17: 0}, "grad.x": {17: ANY}},
    # At infinity the limits are right, Burn has NaN.
    **{
        f"{op}.3": {"out.0": {17: 0}, "grad.x": {16: slope(1), 17: 0}}
        for op in ("gelu", "gelu_approximate", "silu", "mish")
    },
    # The cosine of a zero vector is 0, and so is its gradient where both are zero.
    "cosine_similarity.2": {f"grad.x{i}": dict.fromkeys(range(8), 0) for i in (1, 2)},
    "softsign.3": {"out.0": {16: 1, 17: -1}, "grad.x": {16: 0, 17: 0}},
    # A limit lets no gradient through at NaN, as that of clamp.
    **{f"{op}.3": {"grad.x": {18: 0}} for op in ("relu6", "hardtanh", "hard_sigmoid")},
}

# Names that Burn's own test program gave to calls on Int tensors and to casts.
RENAMED = {
    "stft_istft": "istft",
    "int_float": "float",
    "int_bool": "bool",
    "float_int": "int",
    "bool_int": "int",
    "bool_float": "float",
}

# Order of the arguments, where there are several or some do not come last.
ORDER = {
    "clamp": ("min", "max"), "hard_sigmoid": ("alpha", "beta"), "softplus_with_threshold": ("beta", "threshold"),
    "shrink": ("lambda", "bias"), "threshold": ("threshold", "value"), "hardtanh": ("min_val", "max_val"),
         "topk": ("k", "dim"),
    "topk_with_indices": ("k", "dim"), "argtopk": ("k", "dim"), "cov": ("dim", "correction_factor"), "movedim": ("src",
         "dst"),
    "flatten": ("start", "end"), "roll_dim": ("shift", "dim"), "roll": ("shifts", "dims"), "narrow": ("dim", "start",
         "length"),
    "split": ("split_size", "dim"), "split_with_sizes": ("split_sizes", "dim"), "slice_fill": ("slices", "value"),
}  # fmt: skip

# Slices whose text in the manifest is not what the numbers were made with: `2..0;-1` would select nothing.
SLICES = {"slice.5": "[.., 0..3;-2]"}

CREATION: dict[str, Callable[[dict, Any], Tensor]] = {
    **{
        name: lambda a, device, name=name: getattr(burn.signal, name)(a["size"], a["periodic"], device)
        for name in ("hann_window", "hamming_window", "blackman_window")
    },
    "triu_mask": lambda a, device: Tensor.triu_mask(a["shape"], a["offset"], device),
    "tril_mask": lambda a, device: Tensor.tril_mask(a["shape"], a["offset"], device),
    "diag_mask": lambda a, device: Tensor.diag_mask(a["shape"], a["offset"], device),
    "arange_step": lambda a, device: Tensor.arange_step(range(a["start"], a["end"]), a["step"], device),
    "cartesian_grid": lambda a, device: Tensor.cartesian_grid(a["shape"], device),
    "eye": lambda a, device: Tensor.eye(a["size"], device),
}

# Calls whose arguments stand between the tensors, or are options: (function, tensors, arguments) -> result.
CALLS: dict[str, Callable[[Callable, list, dict], Any]] = {
    "stft": lambda f, t, a: f(*t, None, burn.signal.StftOptions(**a)),
    "stft_istft": lambda f, t, a: f(burn.signal.stft(*t, None, o := burn.signal.StftOptions(**a)), None, None, o),
    "cat": lambda f, t, a: f(t, a["dim"]),
    "stack": lambda f, t, a: f(t, a["dim"]),
    "meshgrid": lambda f, t, a: f(t),
    "linear": lambda f, t, a: f(*t),
    "vector_norm": lambda f, t, a: f(*t, float(a["p"]), a["dim"]),
    "vector_normalize": lambda f, t, a: f(*t, float(a["p"]), a["dim"], a["eps"]),
    "affine_grid_2d": lambda f, t, a: f(*t, a["dims"]),
    "mask_fill": lambda f, t, a: f(*t, a["value"]),
    "pad": lambda f, t, a: f(*t, [tuple(p) for p in a["padding"]], pad_mode(a)),
    **dict.fromkeys(("select", "gather", "take"), lambda f, t, a: f(t[0], a["dim"], t[1])),
    **dict.fromkeys(("select_assign", "scatter"), lambda f, t, a: f(t[0], a["dim"], *t[1:], a["update"].capitalize())),
    "scatter_nd": lambda f, t, a: f(*t, a["reduction"].capitalize()),
}


def pad_mode(args: dict) -> Any:
    mode = getattr(burn.tensor.PadMode, args["mode"].capitalize())
    return mode(args["value"]) if "value" in args else mode


def parsed(text: str) -> list:
    """Slices of Burn's notation `[.., 2..0;-1]`."""
    return [burn.tensor.Slice.parse(part.strip()) for part in text.strip("[]").split(",")]


def function_of(op: str) -> Callable | None:
    """The public function that a golden case calls, `None` where there is none."""
    return find(RENAMED.get(op, op.removeprefix("int_")))


def call(case: dict, tensors: list[Tensor], device: Any) -> tuple:
    """Results of a case on `tensors`."""
    op, args = case["op"], {k: v for k, v in case["args"].items() if k != "note"}
    op = op.removeprefix("int_") if op not in RENAMED else op
    if op in CREATION:
        return (CREATION[op](args, device),)
    function = function_of(op)
    if op in CALLS:
        return as_tuple(CALLS[op](function, tensors, args))
    if "slices" in args:
        args["slices"] = parsed(SLICES.get(case["name"], args["slices"]))
    return as_tuple(function(*tensors, *(args[k] for k in ORDER.get(op, args))))


def compare(case: dict, key: str, actual: np.ndarray, expected: np.ndarray, cotangents: list[np.ndarray]) -> None:
    """`actual` against Burn's numbers, put right where they are known to be wrong."""
    if not is_float(expected.dtype):
        np.testing.assert_array_equal(actual, expected, key)
        return
    have, want = actual.astype("f8"), expected.astype("f8")
    if case["op"] == "svd":  # singular vectors are free in sign
        have, want = np.abs(have), np.abs(want)
    for position, value in KNOWN.get(case["name"], {}).get(key, {}).items():
        right = have.reshape(-1)[position] if value is ANY else value
        want.reshape(-1)[position] = right(cotangents[0].reshape(-1)[position]) if callable(right) else right
    tolerance = TOLERANCE[case["dtype"]]
    if case["op"] in SINGLE_CONSTANTS:
        tolerance = max(tolerance, SINGLE_TOLERANCE)
    scale = np.abs(want[np.isfinite(want)]).max(initial=0.0)
    np.testing.assert_allclose(have, want, rtol=tolerance, atol=tolerance * min(scale, 1.0), err_msg=key, strict=True)


CASES = [(family, case) for family in COUNTS for case in golden.cases(family)]


@pytest.mark.parametrize("family, case", CASES, ids=[f"{family}-{case['name']}" for family, case in CASES])
def test_golden(family, case, device):
    name, data = case["name"], golden.tensors(family)
    leaves = {}
    for entry in case["inputs"]:
        values = data[f"{name}/in.{entry['name']}"]
        x = tensor(values, device.autodiff() if case["grads"] else device)
        leaves[entry["name"]] = x.require_grad() if entry["name"] in case["grads"] else x
    results = call(case, list(leaves.values()), device)
    assert len(results) == case["outputs"]
    cotangents = [data.get(f"{name}/ct.{i}") for i in range(len(results))]
    for i, y in enumerate(results):
        expected = data[f"{name}/out.{i}"]
        if is_float(expected.dtype):
            assert y.numpy().dtype == expected.dtype
        compare(case, f"out.{i}", array(y), expected, cotangents)
    if not any(f"{name}/grad.{leaf}" in data for leaf in case["grads"]):
        return
    terms = [
        (y * tensor(c, device.autodiff())).sum() for y, c in zip(results, cotangents, strict=True) if c is not None
    ]
    grads = sum(terms[1:], terms[0]).backward()
    for leaf in case["grads"]:
        compare(case, f"grad.{leaf}", array(leaves[leaf].grad(grads)), data[f"{name}/grad.{leaf}"], cotangents)


@pytest.mark.parametrize("family", COUNTS)
def test_no_case_was_lost(family):
    assert len(golden.cases(family)) == COUNTS[family]
