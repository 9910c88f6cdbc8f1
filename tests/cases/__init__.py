"""Op cases: how to call an op, on which inputs, and what NumPy says the result is.

The tests of `tests/ops` run every case on every device; a case never names a device. A new op adds one line to the list
of its family.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

BF16 = np.dtype(ml_dtypes.bfloat16)
F16, F32, F64 = np.dtype("f2"), np.dtype("f4"), np.dtype("f8")
I8, I16, I32, I64, U8 = (np.dtype(t) for t in ("i1", "i2", "i4", "i8", "u1"))
BOOL = np.dtype("?")

FLOATS = (F64, F32, F16, BF16)
INTS = (I64, I32)
NUMBERS = FLOATS + INTS
REALS = (F64, F32)

# Relative distance allowed from the value in double precision, rounded to the dtype; the absolute one is the same
# times the
# largest value of the result. A test may tighten it, none may loosen it.
TOLERANCE = {F64: 1e-13, F32: 1e-6, F16: 2e-3, BF16: 1.6e-2}

# Values at which elementwise ops tend to go wrong; the last two are a subnormal of float32 and an angle that needs a
# careful reduction.
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 90.0, -110.0, 1e-40, 1e5])


@dataclass(frozen=True)
class Arg:
    """An input tensor: its shape (`None` is the one that a check asks for) and the domain that its values come from."""

    shape: tuple[int, ...] | None = None
    domain: str = "real"
    dtype: np.dtype | None = None  # fixed, whatever the dtype of the case


@dataclass(frozen=True)
class Case:
    """An op on given inputs.

    Args:
        name: unique in its family, starts with the name of the op where there is one: `topk(3,1)`.
        call: takes the input tensors, returns the result or a tuple of results.
        oracle: the same for arrays in float64, int64 or bool.
        args: the inputs.
        dtypes: dtypes that the inputs without a dtype of their own take.
        grad: whether the gradient of the float inputs is compared with finite differences.
        slack: factor on `TOLERANCE` where the op itself loses digits.
        special: whether the op is also run on `SPECIAL`, in all combinations for two inputs.
        shapes: shapes for inputs that have none, the first is used where one is enough.
    """

    name: str
    call: Callable[..., Any]
    oracle: Callable[..., Any]
    args: tuple[Arg, ...] = (Arg(),)
    dtypes: tuple[np.dtype, ...] = FLOATS
    grad: bool = True
    slack: float = 1.0
    special: bool = False
    shapes: tuple[tuple[int, ...], ...] = ((3, 5),)

    def inputs(self, dtype: np.dtype, shape: tuple[int, ...] | None = None, seed: int = 0) -> list[np.ndarray]:
        """Input arrays in `dtype`, the same for the same arguments."""
        rng = np.random.default_rng([seed, sum(map(ord, self.name))])
        shape = self.shapes[0] if shape is None else shape
        drawn = [(a, DOMAINS[a.domain](rng, shape if a.shape is None else a.shape)) for a in self.args]
        return [values.astype(dtype if a.dtype is None else a.dtype) for a, values in drawn]

    def expected(self, arrays: list[np.ndarray]) -> tuple[np.ndarray, ...]:
        """What the oracle gives for `arrays`, in double precision or 64-bit integers."""
        with np.errstate(all="ignore"):
            return as_tuple(self.oracle(*(widen(a) for a in arrays)))


@dataclass(frozen=True)
class ErrorCase:
    """A call that must fail: `call(device)` raises `error`, whose text holds every one of `words`.

    The name starts with the op: `topk: beyond the axis`.
    """

    name: str
    call: Callable[[Any], Any]
    error: type[Exception]
    words: tuple[str, ...] = field(default=())


def is_float(dtype: np.dtype) -> bool:
    """Whether `dtype` is one of `FLOATS`."""
    return dtype in FLOATS


def widen(array: np.ndarray) -> np.ndarray:
    """`array` in float64 or int64; bool stays."""
    if array.dtype == BOOL:
        return array
    return array.astype(F64 if is_float(array.dtype) else I64)


def as_tuple(value: Any) -> tuple:
    """A result, or several of them, as a tuple."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def method(name: str, *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Call of the method `name` of the first input with the other inputs and then `args`."""
    return lambda x, *rest: getattr(x, name)(*rest, *args, **kwargs)


def real(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers in (-2, 2) that keep a distance of 0.1 from every multiple of 0.5, where elementwise ops have kinks."""
    return 0.5 * rng.integers(-4, 4, shape) + rng.uniform(0.1, 0.4, shape)


def distinct(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers in (-2, 2), absolute values distinct too, with gaps that finite differences do not bridge."""
    n = int(np.prod(shape))
    return (rng.permutation(n).reshape(shape) + 0.75) * (4.0 / max(n, 1)) - 2.0


DOMAINS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "real": real,
    "positive": lambda rng, shape: np.abs(real(rng, shape)),
    "unit": lambda rng, shape: real(rng, shape) * 0.47,
    "above_one": lambda rng, shape: 1.1 + np.abs(real(rng, shape)),
    "distinct": distinct,
    "small": lambda rng, shape: rng.integers(-9, 10, shape),
    "count": lambda rng, shape: rng.integers(0, 5, shape),
    "divisor": lambda rng, shape: rng.integers(1, 5, shape) * rng.choice([-1, 1], shape),
    "index3": lambda rng, shape: rng.integers(0, 3, shape),
    "bool": lambda rng, shape: rng.random(shape) < 0.5,
    # coordinates in (-2, 2) that name no point between two pixels of a picture of 4 or 5, nor a pixel, exactly
    "apart": lambda rng, shape: (rng.integers(-79, 80, shape) * 40 + rng.integers(5, 15, shape)) / 1600,
}
