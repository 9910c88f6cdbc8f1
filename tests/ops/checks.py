"""What is checked about an op case on a device; the tests of a family run all of it over the cases of that family."""

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burn.linalg
import burn.signal
import burn.tensor
from burn.tensor import Tensor
from tests.cases import BF16, F32, F64, SPECIAL, TOLERANCE, Case, ErrorCase, as_tuple, is_float, widen
from tests.cases.tensors import array, gradients, strided, tensor, threads

STEP = 1e-6  # of the finite differences
GRADIENT_TOLERANCE = 1e-6
VIEWS = ("permuted", "sliced", "stepped", "flipped")


def run(case: Case, arrays: list[np.ndarray], device: Any) -> list[np.ndarray]:
    """Results of a case as arrays."""
    return [array(y) for y in as_tuple(case.call(*(tensor(a, device) for a in arrays)))]


def assert_close(actual: np.ndarray, expected: np.ndarray, slack: float = 1.0, elementwise: bool = False) -> None:
    """Compares a result with the oracle's: integers exactly, floats within the tolerance of the result's dtype.

    With `elementwise` every element is held to its own size; otherwise to the largest one of the result.
    """
    if not is_float(actual.dtype):
        assert expected.dtype == np.bool_ or not expected.dtype.kind == "b" or actual.dtype == np.bool_
        np.testing.assert_array_equal(actual, expected.astype(actual.dtype), strict=True)
        return
    with np.errstate(all="ignore"):
        want = expected.astype(actual.dtype).astype(F64)
    have, tolerance = actual.astype(F64), TOLERANCE[actual.dtype] * slack
    finite = np.abs(want[np.isfinite(want)])
    tiny = 1e-37 if actual.dtype in (F32, BF16) else 1e-300 if actual.dtype == F64 else 1e-6
    atol = tolerance * tiny if elementwise else tolerance * finite.max(initial=tiny)
    np.testing.assert_allclose(have, want, rtol=tolerance, atol=atol, strict=True)


def check_value(case: Case, device: Any) -> None:
    """Value in every dtype and shape; float results keep the dtype, inputs keep their values."""
    for dtype in case.dtypes:
        for shape in case.shapes:
            arrays = case.inputs(dtype, shape)
            tensors = [tensor(a, device) for a in arrays]
            results = [array(y) for y in as_tuple(case.call(*tensors))]
            for have, want in zip(results, case.expected(arrays), strict=True):
                if is_float(dtype) and is_float(want.dtype):
                    assert have.dtype == dtype
                assert_close(have, want, case.slack)
            for x, a in zip(tensors, arrays, strict=True):
                np.testing.assert_array_equal(array(x), a, "an input was changed", strict=True)


def slopes(case: Case, arrays: list[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray | None]]:
    """Cotangents, and for each float input the finite differences of the oracle's outputs times them."""
    rng = np.random.default_rng(1)
    cotangents = [rng.uniform(0.5, 1.5, y.shape) for y in case.expected(arrays) if is_float(y.dtype)]

    def loss(k: int, x: np.ndarray) -> float:
        outputs = [y for y in case.expected([*arrays[:k], x, *arrays[k + 1 :]]) if is_float(y.dtype)]
        return sum(float((y * c).sum()) for y, c in zip(outputs, cotangents, strict=True))

    def along(k: int, x: np.ndarray) -> np.ndarray:
        slope = np.zeros_like(x)
        for at in np.ndindex(x.shape):
            above, below = x.copy(), x.copy()
            above[at] += STEP
            below[at] -= STEP
            slope[at] = (loss(k, above) - loss(k, below)) / (2 * STEP)
        return slope

    return cotangents, [along(k, x) if is_float(x.dtype) else None for k, x in enumerate(arrays)]


@functools.cache
def own_slopes(case: Case) -> tuple[list[np.ndarray], list[np.ndarray | None]]:
    """Those of a case on its own inputs, the same for every device."""
    return slopes(case, case.inputs(F64))


def check_gradient(case: Case, device: Any, arrays: list[np.ndarray] | None = None) -> None:
    """Gradient in float64 against finite differences of the oracle, and in float32 against that in float64."""
    cotangents, wanted = own_slopes(case) if arrays is None else slopes(case, arrays)
    arrays = case.inputs(F64) if arrays is None else arrays
    found = gradients(case.call, arrays, cotangents, device)
    for grad, slope in zip(found, wanted, strict=True):
        if grad is None:
            continue
        scale = np.abs(slope).max(initial=1.0)
        assert grad.dtype == F64
        np.testing.assert_allclose(grad, slope, rtol=GRADIENT_TOLERANCE, atol=GRADIENT_TOLERANCE * scale, strict=True)
    if F32 in case.dtypes:
        single = gradients(case.call, [a.astype(F32) if a.dtype == F64 else a for a in arrays], cotangents, device)
        for have, want in zip(single, found, strict=True):
            if want is not None:
                assert have.dtype == F32
                scale = np.abs(want).max(initial=1.0)
                np.testing.assert_allclose(have, want, rtol=2e-5 * case.slack, atol=2e-6 * case.slack * scale)


def check_slope(case: Case, device: Any) -> None:
    """Gradient in float64 along one random direction of all inputs at once against the oracle's central difference.

    Cheap enough for options that are drawn at random; `check_gradient` looks at every element.
    """
    arrays, rng = case.inputs(F64), np.random.default_rng(2)
    cotangents = [rng.uniform(0.5, 1.5, y.shape) for y in case.expected(arrays) if is_float(y.dtype)]
    way = [rng.choice([-1.0, 1.0], a.shape) if is_float(a.dtype) else None for a in arrays]
    ends = []
    for step in (STEP, -STEP):
        moved = [a if w is None else a + step * w for a, w in zip(arrays, way, strict=True)]
        outputs = [y for y in case.expected(moved) if is_float(y.dtype)]
        ends.append(sum(float((y * c).sum()) for y, c in zip(outputs, cotangents, strict=True)))
    found = gradients(case.call, arrays, cotangents, device)
    terms = np.concatenate([[0.0], *((g * w).ravel() for g, w in zip(found, way, strict=True) if g is not None)])
    slope, size = (ends[0] - ends[1]) / (2 * STEP), max(1.0, abs(ends[0]), np.abs(terms).sum())
    np.testing.assert_allclose(terms.sum(), slope, rtol=0, atol=GRADIENT_TOLERANCE * size)


def check_views(case: Case, device: Any, exact: bool = True) -> None:
    """The same bits from inputs that are views of other memory; near where a library takes other kernels for other layouts."""
    dtype = F32 if F32 in case.dtypes else case.dtypes[0]
    shape = next((s for s in case.shapes if len(s) > 1 and 0 not in s), case.shapes[0])
    arrays = case.inputs(dtype, shape)
    want = run(case, arrays, device)
    for kind in VIEWS:
        results = as_tuple(case.call(*(strided(a, device, kind) for a in arrays)))
        for have, expected in zip(results, want, strict=True):
            if exact:
                np.testing.assert_array_equal(array(have), expected, err_msg=kind, strict=True)
            else:
                assert_close(array(have), expected, case.slack)


def check_special(case: Case, device: Any, signs: bool = True) -> None:
    """NaN, infinities, zeros of both signs, a subnormal and large values, in all combinations for two inputs."""
    for dtype in case.dtypes:
        if not is_float(dtype):
            continue
        with np.errstate(all="ignore"):
            values = SPECIAL.astype(dtype)
        grids = np.meshgrid(*[values] * len(case.args), indexing="ij") if len(case.args) > 1 else [values]
        grids = [np.ascontiguousarray(g) for g in grids]
        for have, want in zip(run(case, grids, device), case.expected(grids), strict=True):
            assert_close(have, want, case.slack, elementwise=True)
            if signs and is_float(have.dtype):
                with np.errstate(all="ignore"):
                    zero = (widen(have) == 0) & (want == 0)
                np.testing.assert_array_equal(np.signbit(have)[zero], np.signbit(want)[zero], "sign of zero")


def check_threads(case: Case, device: Any, shape: tuple[int, ...]) -> None:
    """The same bits for one thread and for two."""
    arrays = case.inputs(F32 if F32 in case.dtypes else case.dtypes[0], shape)
    for one, two in zip(*with_threads(lambda: run(case, arrays, device)), strict=True):
        np.testing.assert_array_equal(one, two, strict=True)


def with_threads(call: Callable[[], Any]) -> list:
    """What `call` returns with one thread and with two."""
    results = []
    for n in (1, 2):
        with threads(n):
            results.append(call())
    return results


def check_error(case: ErrorCase, device: Any) -> None:
    """The class of the error, and the facts that its text must hold."""
    with pytest.raises(case.error) as caught:
        case.call(device)
        device.sync()  # a GPU meets wrong values after the call
    text = str(caught.value)
    for word in case.words:
        assert word in text, text


def op_of(name: str) -> str | None:
    """The op that the name of a case starts with; `None` for operators and indexing."""
    found = re.match(r"([a-z]\w*)(?=\(|:|$)", name)
    return found[1] if found else None


def find(op: str) -> Any:
    """The public function of an op: a method, an activation, a functional module or a free function, else `None`."""
    places = (
        Tensor,
        burn.tensor.activation,
        burn.tensor.module,
        burn.tensor,
        burn.linalg,
        burn.signal,
    )
    return next((getattr(p, op) for p in places if hasattr(p, op)), None)


def each(cases: list) -> Any:
    """Decorator: one test a case, named as the case."""
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)
