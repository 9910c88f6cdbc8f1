"""Reductions over the middle axis of `[outer, n, inner]` (ints), into `[outer, inner]`.

Maximum and minimum take the first NaN, ties the first index; sums are exact to 64 bits for integers.
"""

import numpy as np

from burn.backend.ndarray.elementwise import quotient
from burn.backend.ndarray.table import kernel, wide


def middle(x, ints):
    """`x` as `[outer, n, inner]`, floats in double precision, integers in 64 bits of their own sign."""
    x = wide(x.reshape(ints))
    return x.astype({"i": np.int64, "u": np.uint64}.get(x.dtype.kind, x.dtype))


def reduction(name, expression):
    """Enters an op that maps `[outer, n, inner]` to `[outer, inner]` by `expression(x, *floats)`."""

    @kernel(name)
    def run(outs, ins, ints, floats):
        outs[0].reshape(ints[0], ints[2])[...] = expression(middle(ins[0], ints), *floats)


def with_indices(name, find):
    """Enters an op with two outputs: the values at the positions that `find` gives, and the positions."""

    @kernel(name)
    def run(outs, ins, ints, floats):
        x = middle(ins[0], ints)
        where = find(x, axis=1, keepdims=True)
        for out, value in zip(outs, (np.take_along_axis(x, where, axis=1), where), strict=True):
            out.reshape(ints[0], 1, ints[2])[...] = value


def mean(x):
    """Mean over axis 1: NaN for no floats at all, truncated toward zero for integers."""
    if x.dtype.kind == "f":
        return x.sum(axis=1) / np.float64(x.shape[1])
    return quotient(x.astype(object).sum(axis=1), max(x.shape[1], 1))  # sums of 64-bit integers take more bits


def var(x, correction):
    """Sum of squared distances from the mean over `n - correction`; NaN where that is 0 or less."""
    freedom = x.shape[1] - correction
    centred = x - mean(x)[:, None]
    return (centred * centred).sum(axis=1) / (freedom if freedom > 0 else np.nan)


reduction("sum", lambda x: x.sum(axis=1))
reduction("prod", lambda x: x.prod(axis=1))
reduction("mean", mean)
reduction("var", var)
reduction("max", lambda x: x.max(axis=1))
reduction("min", lambda x: x.min(axis=1))
reduction("argmax", lambda x: x.argmax(axis=1))
reduction("argmin", lambda x: x.argmin(axis=1))
reduction("any", lambda x: (x != 0).any(axis=1))
reduction("all", lambda x: (x != 0).all(axis=1))
with_indices("max_with_indices", np.argmax)
with_indices("min_with_indices", np.argmin)
