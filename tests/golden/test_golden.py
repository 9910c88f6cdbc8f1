"""Values and gradients of every op against the numbers that Burn 0.22.1 computed."""

import numpy as np
import pytest

from tests import golden
from tests.cases import is_float
from tests.cases.tensors import array, tensor
from tests.golden.calls import call
from tests.golden.conftest import folder_of
from tests.golden.known import WITHOUT_SIGN, Facts, corrected, distance_of

# Families, with the number of cases that the manifests of the folder in the repository hold.
COUNTS = {
    "elementwise": 243, "activation": 127, "reduce": 153, "movement": 42, "index": 13, "matmul": 12, "edge": 39, "linalg": 17,
    "norm": 8, "signal": 10, "pool": 31, "interpolate": 49, "conv": 26,
}  # fmt: skip

# Relative distance from Burn's number: half precision may end one unit apart.
TOLERANCE = {"F64": 1e-11, "F32": 3e-6, "F16": 2e-3, "BF16": 1.6e-2}
OF_SIZE = {8: "F64", 4: "F32"}

# Families that add up many numbers: there the distance is relative to the largest of the result.
SUMMING = {"reduce", "matmul", "edge", "linalg", "signal", "norm", "conv"}


def pytest_generate_tests(metafunc):
    """One test a case of the folder; a family that it lacks is one skipped test."""
    if "case" not in metafunc.fixturenames:
        return
    folder, found = folder_of(metafunc.config), []
    for family in COUNTS:
        if (folder / f"{family}.json").exists():
            found += [pytest.param(folder, family, c, id=f"{family}-{c['name']}") for c in golden.cases(family, folder)]
        else:
            lacking = pytest.mark.skip(reason=f"{family}.json is not in {folder}")
            found.append(pytest.param(folder, family, None, id=family, marks=lacking))
    metafunc.parametrize(("folder", "family", "case"), found)


def widened(values: np.ndarray) -> np.ndarray:
    """Floats in double precision, other numbers as they are."""
    return values.astype("f8") if is_float(values.dtype) else values


def compare(family: str, case: dict, key: str, actual: np.ndarray, expected: np.ndarray, facts: Facts) -> None:
    """`actual` against Burn's numbers, put right where they are known to be wrong."""
    op, result = case["op"], key.split(".")[0]
    have = widened(actual)
    want = corrected(op.removeprefix("int_"), result, facts, have)
    if not is_float(expected.dtype):
        np.testing.assert_array_equal(have, want, key)
        return
    if op in WITHOUT_SIGN:
        have, want = np.abs(have), np.abs(want)
    usual = max(TOLERANCE.get(case["dtype"], 0.0), TOLERANCE[OF_SIZE.get(actual.dtype.itemsize, "F16")])
    distance = distance_of(op, case["dtype"], usual)
    scale = np.abs(want[np.isfinite(want)]).max(initial=0.0)
    if family in SUMMING:
        scale = max(scale, *(np.abs(x[np.isfinite(x)]).max(initial=0.0) for x in map(widened, facts.inputs)), 0.0)
        scale = min(scale, 1e3)
    else:
        scale = min(scale, 1.0)
    np.testing.assert_allclose(have, want, rtol=distance, atol=distance * scale, err_msg=key, strict=True)


def test_golden(folder, family, case, device):
    name, data = case["name"], golden.tensors(family, folder)
    names = [entry["name"] for entry in case["inputs"]]
    values = [data[f"{name}/in.{n}"] for n in names]
    inputs = {n: tensor(v, device.autodiff() if case["grads"] else device) for n, v in zip(names, values, strict=True)}
    inputs |= {n: inputs[n].require_grad() for n in case["grads"]}
    results = call(case, inputs, device)
    assert len(results) == case["outputs"]
    outputs = [data[f"{name}/out.{i}"] for i in range(len(results))]
    cotangents = [data.get(f"{name}/ct.{i}") for i in range(len(results))]

    def check(key, actual, of):
        burn = data[f"{name}/{key}"]
        ct = None if not cotangents or cotangents[0] is None else widened(cotangents[0])
        facts = Facts(tuple(map(widened, values)), case["args"], widened(burn), ct, tuple(map(widened, outputs)), of)
        compare(family, case, key, actual, burn, facts)

    for i, y in enumerate(results):
        if is_float(outputs[i].dtype):
            assert y.numpy().dtype == outputs[i].dtype
        check(f"out.{i}", array(y), i)
    if not any(f"{name}/grad.{n}" in data for n in case["grads"]):
        return
    terms = [
        (y * tensor(c, device.autodiff())).sum() for y, c in zip(results, cotangents, strict=True) if c is not None
    ]
    grads = sum(terms[1:], terms[0]).backward()
    for n in case["grads"]:
        check(f"grad.{n}", array(inputs[n].grad(grads)), names.index(n))


@pytest.mark.parametrize("family", COUNTS)
def test_no_case_was_lost(family, request):
    if folder_of(request.config) != golden.FOLDER.resolve():
        pytest.skip("the number of cases is known of the folder in the repository alone")
    assert len(golden.cases(family)) == COUNTS[family]
