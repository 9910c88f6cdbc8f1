"""The runner of golden numbers itself: other folders, other arguments, what it says about cases that it cannot run."""

import json
import subprocess
import sys

import numpy as np
import pytest

import burn.linalg
import burn.signal
from burn import Device, Tensor
from burn.tensor import GridIndexing, PadMode
from tests.conftest import ROOT
from tests.golden.calls import UnknownArgument, UnknownOperation, bound, function_of
from tests.golden.known import DIFFERENCES, LESS_EXACT, Facts, corrected, distance_of

FLEX = Device.flex()
X, N, B = Tensor([[1.0, 2.0]], FLEX), Tensor([0], FLEX), Tensor([[True, False]], FLEX)


def write(folder, family, cases):
    """A manifest and its tensors; a case is (op, arguments, inputs, outputs)."""
    manifest, header, body = [], {}, b""
    for number, (op, args, inputs, outputs) in enumerate(cases, 1):
        name = f"{op}.{number}"
        arrays = {f"{name}/in.{key}": value for key, value in inputs.items()}
        arrays |= {f"{name}/out.{i}": value for i, value in enumerate(outputs)}
        for key, value in arrays.items():
            value = np.asarray(value, np.float64)
            span = [len(body), len(body) + value.nbytes]
            header[key] = {"dtype": "F64", "shape": list(value.shape), "data_offsets": span}
            body += value.tobytes()
        kinds = [{"name": key, "kind": "N"} for key in inputs]
        manifest.append(
            {
                "name": name,
                "op": op,
                "dtype": "F64",
                "args": args,
                "inputs": kinds,
                "outputs": len(outputs),
                "grads": [],
            }
        )
    (folder / f"{family}.json").write_text(json.dumps({"family": family, "cases": manifest}))
    text = json.dumps(header).encode()
    (folder / f"{family}.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + body)


def run(folder):
    """What pytest prints about a folder, on one device."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        "flex or lost",
        "tests/golden/test_golden.py",
    ]
    done = subprocess.run(
        [*command, "--golden", str(folder)], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_another_folder(tmp_path):
    x = np.array([[-2.0, 0.5, 3.0]])
    write(tmp_path, "elementwise", [
        ("exp", {}, {"x": x}, [np.exp(x)]),
        ("clamp", {"max": 1.0, "min": -1.0}, {"x": x}, [np.clip(x, -1, 1)]),
        ("clamp_min", {"value": 0.25}, {"x": x}, [np.maximum(x, 0.25)]),
        ("sub", {}, {"lhs": x, "rhs": x.T + np.zeros((3, 1))}, [x - x.T]),
    ])  # fmt: skip
    write(tmp_path, "loss", [("SomeLoss", {"config": {}}, {"x": x}, [x])])  # no family of this runner
    code, text = run(tmp_path)
    assert code == 0 and "4 passed" in text, text
    assert f"activation.json is not in {tmp_path}" in text and "SomeLoss" not in text


def test_what_is_wrong_is_told(tmp_path):
    x = np.array([1.0, 2.0])
    write(tmp_path, "elementwise", [
        ("frobnicate", {}, {"x": x}, [x]),
        ("exp", {"speed": 3}, {"x": x}, [x]),
        ("neg", {}, {"x": x}, [x]),
        ("abs", {}, {"x": x}, [x]),
    ])  # fmt: skip
    code, text = run(tmp_path)
    assert code == 1 and "3 failed, 1 passed" in text, text
    assert "burn has no operation 'frobnicate'" in text
    assert "exp(self) does not take ['speed']" in text
    code, text = run(tmp_path / "nowhere")
    assert code == 4 and "--golden must name a folder" in text


@pytest.mark.parametrize(
    ("op", "inputs", "args", "positional"),
    [
        ("clamp", {"x": X}, {"max": 1, "min": 0}, [X, 0, 1]),
        ("clamp_max", {"x": X}, {"value": 1}, [X, 1]),
        ("int_add", {"lhs": N, "rhs": N}, {}, [N, N]),
        ("float_int", {"x": X}, {}, [X]),
        ("mask_where", {"x": X, "mask": B, "value": X}, {}, [X, B, X]),
        ("gather", {"x": X, "indices": N}, {"dim": 1}, [X, 1, N]),
        ("scatter", {"x": X, "indices": N, "values": X}, {"update": "add", "dim": 0}, [X, 0, N, X, "Add"]),
        ("scatter_nd", {"x": X, "indices": N, "values": X}, {"reduction": "mul"}, [X, N, X, "Mul"]),
        ("cat", {"a": X, "b": X}, {"dim": 1}, [[X, X], 1]),
        ("reshape", {"x": X}, {"shape": [2]}, [X, [2]]),
        ("split_with_sizes", {"x": X}, {"dim": 0, "split_sizes": [1]}, [X, [1], 0]),
        ("swap_dims", {"x": X}, {"d2": 1, "d1": 0}, [X, 0, 1]),
        ("hard_shrink", {"x": X}, {"lambda": 0.5}, [X, 0.5]),
        ("linear", {"x": X, "weight": B, "bias": N}, {"bias": True}, [X, B, N]),
        ("linear", {"x": X, "weight": B}, {"bias": False}, [X, B, None]),
        ("pad", {"x": X}, {"mode": "constant", "padding": [[1, 0]], "value": 2.0}, [X, [(1, 0)], PadMode.Constant(2.0)]),
        ("pad", {"x": X}, {"mode": "edge", "padding": [[1, 0]]}, [X, [(1, 0)], PadMode.Edge]),
        ("vector_norm", {"x": X}, {"p": "-inf", "dim": 0}, [X, float("-inf"), 0]),
        ("lp_norm", {"x": X}, {"p": "3", "dim": 0}, [X, 3.0, 0]),
        ("rfft", {"x": X}, {"n": 4, "dim": 1}, [X, 1, 4]),
        ("arange_step", {}, {"step": 2, "start": 1, "end": 5}, [range(1, 5), 2, FLEX]),
    ],
)  # fmt: skip
def test_arguments_are_bound_by_name(op, inputs, args, positional):
    found, named = bound(function_of(op), inputs, args, FLEX, op)
    assert named == {} or set(named) <= {"kind", "dtype", "bias"}
    assert len(found) == len(positional)
    assert all(a is b or (not isinstance(a, Tensor) and a == b) for a, b in zip(found, positional, strict=True))


def test_options_are_gathered():
    found, named = bound(function_of("meshgrid"), {"a": N, "b": N}, {"indexing": "cartesian"}, FLEX, "meshgrid")
    assert found[1].indexing is GridIndexing.Cartesian and named == {}
    found, named = bound(burn.signal.stft, {"x": X}, {"n_fft": 8, "center": False}, FLEX, "stft")
    assert (named["options"] == burn.signal.StftOptions(n_fft=8, center=False)) and found == [X]
    with pytest.raises(UnknownArgument, match="no options with the fields"):
        bound(burn.signal.stft, {"x": X}, {"n_fft": 8, "speed": 1}, FLEX, "stft")
    with pytest.raises(UnknownArgument, match="1 inputs are left"):
        bound(burn.linalg.trace, {"x": X, "y": X}, {}, FLEX, "trace")
    with pytest.raises(UnknownOperation, match="'quantize'"):
        function_of("quantize")


def facts(inputs, burn, args=None, ct=None, of=0):
    arrays = tuple(np.asarray(x, float) for x in inputs)
    return Facts(arrays, args or {}, np.asarray(burn, float), None if ct is None else np.asarray(ct, float), (), of)


def test_differences_hold_for_any_values():
    ours = np.full(3, 7.0)
    at_zero = facts([[4.0, 0.0, 1.0]], [0.25, np.inf, 0.5])
    assert corrected("sqrt", "grad", at_zero, ours).tolist() == [0.25, 0.0, 0.5]
    assert corrected("exp", "grad", at_zero, ours).tolist() == [0.25, np.inf, 0.5]
    kept = facts([[1.0, 2.0, 3.0], [0.0, np.nan, 9.0]], [1.0, 2.0, 9.0])
    np.testing.assert_array_equal(corrected("max_pair", "out", kept, ours), [1.0, np.nan, 9.0])
    assert corrected("max_pair", "grad", kept, ours).tolist() == [1.0, 7.0, 9.0]
    running = facts([[1.0, np.nan, 3.0]], [0.0, 0.0, 6.0], {"dim": 0}, [1.0, 2.0, 3.0])
    assert corrected("cummax", "grad", running, ours).tolist() == [1.0, 5.0, 0.0]
    products = facts([[2.0, 0.0, 3.0]], [np.nan] * 3, {"dim": 0}, [1.0, 1.0, 1.0])
    assert corrected("cumprod", "grad", products, ours).tolist() == [1.0, 8.0, 0.0]
    stretched = facts([[[0.0, 1.0]], [[0.0], [0.5]]], [[np.inf, 1.0]])
    assert corrected("powf", "grad", stretched, np.array([[7.0, 7.0]])).tolist() == [[7.0, 1.0]]


def test_list_of_differences_is_sound():
    for difference in DIFFERENCES:
        assert difference.why and set(difference.result.split()) <= {"out", "grad"}
        for op in difference.ops.split():
            assert function_of(op), op
    for ops, dtype, distance, why in LESS_EXACT:
        first, other = ops.split()[0], "F64" if dtype == "F32" else "F32"
        assert why and distance_of(first, dtype, 0.0) == distance and distance_of(first, other, 0.0) == 0.0
