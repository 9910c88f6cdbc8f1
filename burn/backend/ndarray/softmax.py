"""Softmax, its logarithm and quiet softmax over the middle axis of `[outer, n, inner]` (ints), and their backward kernels.

The largest value is subtracted first. A row that is all -inf, or holds +inf or NaN, is NaN.
"""

import numpy as np

from burn.backend.ndarray.table import kernel, wide


def over_middle(name, expression):
    """Enters an op that maps arrays `[outer, n, inner]` to one of the same shape, which may be empty."""

    @kernel(name)
    def run(outs, ins, ints, floats):
        if outs[0].size:
            outs[0].reshape(ints)[...] = expression(*(wide(x).reshape(ints) for x in ins))


def total(x):
    """Sum over the middle axis, which stays with size 1."""
    return x.sum(axis=1, keepdims=True)


def shifted(x):
    """`x` minus the largest value of its row."""
    return x - x.max(axis=1, keepdims=True)


def softmax(x):
    """Exponentials over their sum."""
    e = np.exp(shifted(x))
    return e / total(e)


def quiet_softmax(x):
    """The softmax of a row with one more element, 0, without it."""
    base = np.maximum(x.max(axis=1, keepdims=True), 0)
    e = np.exp(x - base)
    return e / (total(e) + np.exp(-base))


over_middle("softmax", softmax)
over_middle("quiet_softmax", quiet_softmax)
over_middle("log_softmax", lambda x: shifted(x) - np.log(total(np.exp(shifted(x)))))


def over_gradients(name, expression):
    """Enters an op of `(y, g)`; a row of which all `g` are 0 gives 0, whatever `y` is."""
    over_middle(name, lambda y, g: np.where((g == 0).all(axis=1, keepdims=True), 0.0, expression(y, g)))


over_gradients("softmax_bwd", lambda y, g: y * (g - total(y * g)))
over_gradients("log_softmax_bwd", lambda y, g: g - np.exp(y) * total(g))
