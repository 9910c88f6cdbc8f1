"""Random numbers: counter-based, so that a seed gives the same numbers on every backend and with any number of threads."""

import math

from burn._core import core
from burn._ops.registry import NUMERIC, define, int_range
from burn.errors import ArgumentError, NumberOverflowError
from burn.tensor.dtype import DType

_uniform = define("uniform", "random", kinds=NUMERIC, n_in=0, attrs=("low", "high"))
_normal = define("normal", "random", kinds=NUMERIC, n_in=0, attrs=("mean", "std"))
_bernoulli = define("bernoulli", "random", kinds=NUMERIC, n_in=0, attrs=("p",))


def _draw(op, shape, dtype, device, floats):
    out = core.empty(shape, dtype.code, device._slot, device._ctx)  # fails before a number is drawn
    seed, offset = device._next_random(out._size * (2 if dtype.size == 8 else 1))
    return op.write((), out, (seed, offset), floats)


def uniform(shape, low, high, dtype, device):
    """Uniform on [low, high)."""
    if not (low < high and math.isfinite(high - low)):
        raise ArgumentError(f"[random] 'low' must be below 'high' and both finite, got {low} and {high}")
    _check_bounds(low, high, dtype)
    return _draw(_uniform, shape, dtype, device, (float(low), float(high)))


def _check_bounds(low, high, dtype):
    """Refuses numbers that the dtype does not hold, and a width that the kernels' arithmetic does not."""
    if dtype.is_float:
        limit = dtype.finfo()[1]
        widest = max(limit, DType.F32.finfo()[1])  # halves are drawn in f32
        fit = max(abs(low), abs(high)) <= limit
        if fit and high - low > widest:
            raise ArgumentError(
                f"[random] 'high' - 'low' must be at most {widest} for dtype {dtype}, got {low} and {high}"
            )
        least, most = -limit, limit
    else:
        least, most = int_range(dtype.code)
        fit = least <= int(low) and int(high) <= most + 1  # high is left out
    if not fit:
        raise NumberOverflowError(
            f"[random] 'low' and 'high' must lie in {least}..{most} for dtype {dtype}, got {low} and {high}; pass a wider dtype"
        )


def normal(shape, mean, std, dtype, device):
    """Normal deviates."""
    if not (0 <= std < math.inf and math.isfinite(mean)):
        raise ArgumentError(f"[random] 'mean' and 'std' must be finite and 'std' not negative, got {mean} and {std}")
    if not dtype.is_float:
        from burn._ops.elementwise import cast

        return cast(_draw(_normal, shape, DType.F64, device, (float(mean), float(std))), dtype)
    return _draw(_normal, shape, dtype, device, (float(mean), float(std)))


def bernoulli(shape, p, dtype, device):
    """1 with probability p, else 0."""
    if not 0 <= p <= 1:
        raise ArgumentError(f"[random] 'p' must lie in 0..1, got {p}")
    return _draw(_bernoulli, shape, dtype, device, (float(p),))
