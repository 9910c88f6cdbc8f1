"""Where Burn's numbers are not the right ones, or are less exact: the one list of known differences.

A difference is told by the operation and by a condition on the inputs, so it holds in any folder of golden numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

ANY = None  # either value is defensible


@dataclass(frozen=True)
class Facts:
    """What a condition may look at; arrays are in double precision.

    Args:
        inputs: the input tensors in order.
        args: the arguments of the case.
        burn: Burn's number for the result in question.
        ct: the cotangent of the first output.
        outputs: Burn's outputs.
        of: number of the output, or of the input whose gradient it is.
    """

    inputs: tuple[np.ndarray, ...]
    args: dict[str, Any]
    burn: np.ndarray
    ct: np.ndarray | None
    outputs: tuple[np.ndarray, ...]
    of: int

    @property
    def x(self) -> np.ndarray:
        """The first input."""
        return self.inputs[0]

    @property
    def y(self) -> np.ndarray:
        """The second input."""
        return self.inputs[1]

    @property
    def own(self) -> np.ndarray:
        """The input whose gradient it is."""
        return self.inputs[self.of]

    def axes(self) -> Any:
        """The axes of the case, all of them where it names none."""
        found = self.args.get("dim", self.args.get("dims"))
        return None if found is None else tuple(found) if isinstance(found, list) else found

    def rows(self, condition: np.ndarray) -> np.ndarray:
        """Whether it holds anywhere along the axes of the case, for each element."""
        return np.broadcast_to(np.any(condition, axis=self.axes(), keepdims=True), condition.shape)


@dataclass(frozen=True)
class Difference:
    """Results that differ from Burn's.

    Args:
        ops: names of operations, separated by blanks.
        result: `out` or `grad`.
        where: which elements differ; a bool stands for all of them.
        right: the right value, a function of the facts that gives it, or ANY.
        why: the reason.
    """

    ops: str
    result: str
    where: Callable[[Facts], Any]
    right: Any
    why: str


def is_zero(f: Facts) -> np.ndarray:
    return f.own == 0


def passed(factor: float = 1.0) -> Callable[[Facts], Any]:
    """The right gradient where it is `factor` times the cotangent."""
    return lambda f: factor * f.ct


def exponent(f: Facts) -> Any:
    return f.args["value"] if "value" in f.args else f.y


def zero_vectors(f: Facts) -> np.ndarray:
    """Elements of vectors that are zero in one of the inputs."""
    found = [np.all(x == 0, axis=f.axes(), keepdims=True) for x in f.inputs]
    return np.broadcast_to(np.logical_or.reduce(found), f.own.shape)


def order(f: Facts) -> Any:
    """A norm's number."""
    return float(f.args.get("p", f.args.get("norm", 2)))


def running_gradient(f: Facts, better: Callable) -> np.ndarray:
    """The gradient of a running extreme: each result's cotangent goes to the element that it is."""
    x, ct = (np.moveaxis(a, f.axes(), -1) for a in (f.x, f.ct))
    grad = np.zeros_like(x)
    for row in np.ndindex(x.shape[:-1]):
        at = 0
        for i in range(x.shape[-1]):
            now, new = x[row][at], x[row][i]
            at = i if not np.isnan(now) and (np.isnan(new) or better(new, now)) else at
            grad[row][at] += ct[row][i]
    return np.moveaxis(grad, -1, f.axes())


def product_gradient(f: Facts) -> np.ndarray:
    """The gradient of running products, without a division."""
    x, ct = (np.moveaxis(a, f.axes(), -1) for a in (f.x, f.ct))
    grad = np.zeros_like(x)
    for i in range(x.shape[-1]):
        others = x.copy()
        others[..., i] = 1.0
        grad[..., i] = (ct * np.cumprod(others, -1))[..., i:].sum(-1)
    return np.moveaxis(grad, -1, f.axes())


def odd_nan(f: Facts) -> Any:
    """Rows with a NaN whose sign bit is set, or, where a sort is long enough not to be stable, with equal elements."""
    axis = f.axes()
    if axis is None or not f.x.ndim:
        return False
    odd = f.rows(np.isnan(f.x) & np.signbit(f.x))
    if f.x.shape[axis] > 20:
        ordered = np.sort(f.x, axis)
        equal = np.any(np.diff(ordered, axis=axis) == 0, axis=axis, keepdims=True)
        odd = odd | equal
    return odd if f.burn.shape == f.x.shape else np.any(odd, axis=axis, keepdims=True)


def signed_nan(f: Facts) -> Any:
    """Rows with a NaN whose sign bit is set."""
    axis = f.axes()
    odd = f.rows(np.isnan(f.x) & np.signbit(f.x))
    return odd if f.burn.shape == f.x.shape else np.any(odd, axis=axis, keepdims=True)


INDICES = "sort_with_indices sort_descending_with_indices topk_with_indices median_with_indices"
SORTED = f"sort sort_descending topk median {INDICES}"
POSITIONS = "argsort argsort_descending argtopk"
NORMS = "l2_norm l2_norm_dims lp_norm lp_norm_dims vector_norm vector_norm_dims"
SMOOTH = "gelu gelu_approximate silu mish"
LIMITS = "clamp clamp_min clamp_max relu6 hardtanh hard_sigmoid"
SHIFTS = "bitwise_left_shift bitwise_right_shift bitwise_left_shift_scalar bitwise_right_shift_scalar"

DIFFERENCES = (
    Difference("sqrt", "grad", is_zero, 0.0, "A root has gradient 0 at 0, so that norms stay finite; Burn has infinities."),
    Difference("sqrt", "grad", lambda f: np.isneginf(f.x), ANY, "Below 0 the gradient is as undefined as the value."),
    Difference(
        "powf powf_scalar", "grad", lambda f: (f.x == 0) & (exponent(f) >= 0) & (exponent(f) < 1) & (f.of == 0), 0.0,
        "Powers of 0 have finite gradients.",
    ),
    Difference(
        "powf", "grad", lambda f: (f.x == 0) & (f.y >= 0) & (f.of == 1), 0.0, "Powers of 0 have finite gradients."
    ),
    Difference(
        "max_pair min_pair", "out", lambda f: np.isnan(f.y), np.nan, "A NaN of the second operand is kept; Burn loses it."
    ),
    Difference("max_pair min_pair", "grad", lambda f: np.isnan(f.y), ANY, "Burn takes the first operand at a NaN of the second."),
    Difference(LIMITS, "grad", lambda f: np.isnan(f.x), 0.0, "A limit lets no gradient through at NaN."),
    Difference(
        "elu celu", "grad", lambda f: np.isnan(f.burn) & (f.x > 0), passed(),
        "The branch that is not taken does not poison the gradient where its exp overflows.",
    ),
    Difference(
        "selu", "grad", lambda f: np.isnan(f.burn) & (f.x > 0), passed(1.0507009873554805),
        "The branch that is not taken does not poison the gradient where its exp overflows.",
    ),
    Difference(f"{SMOOTH} hard_swish", "out", lambda f: np.isneginf(f.x), 0.0, "The limit at -inf is 0; Burn has NaN."),
    Difference(SMOOTH, "grad", lambda f: np.isposinf(f.x), passed(), "The limit of the slope at +inf is 1; Burn has NaN."),
    Difference(SMOOTH, "grad", lambda f: np.isneginf(f.x), 0.0, "The limit of the slope at -inf is 0; Burn has NaN."),
    Difference("hard_swish", "grad", lambda f: np.isneginf(f.x), ANY, "The slope at -inf: 0, or NaN as Burn has it."),
    Difference("softsign", "out", lambda f: np.isinf(f.x), lambda f: np.sign(f.x), "The limits are 1 and -1; Burn has NaN."),
    Difference("softsign", "grad", lambda f: np.isinf(f.x), 0.0, "The limit of the slope is 0; Burn has NaN."),
    Difference(
        "cosine_similarity", "grad", lambda f: zero_vectors(f) & ("eps" not in f.args), 0.0,
        "The cosine of a zero vector is 0 whatever is near it; Burn's gradient is huge or NaN.",
    ),
    Difference(
        NORMS, "grad", lambda f: zero_vectors(f) & ~np.isfinite(f.burn), 0.0, "A norm has gradient 0 at 0; Burn divides 0 by 0."
    ),
    Difference(
        NORMS, "grad", lambda f: (f.x == 0) & (order(f) < 1) & ~np.isfinite(f.burn), 0.0,
        "A root of 0 inside a norm has a finite gradient.",
    ),
    Difference(
        "vector_normalize", "grad", lambda f: ~np.isfinite(f.burn), ANY, "Burn divides 0 by 0 in the gradient of a norm of 0."
    ),
    Difference(
        "hypot atan2", "grad", lambda f: (f.x == 0) & (f.y == 0), 0.0, "The gradient at (0, 0) is 0; Burn divides 0 by 0."
    ),
    Difference(
        "cumprod", "grad", lambda f: f.rows(f.x == 0), product_gradient, "Burn divides by the elements, one of which is 0."
    ),
    Difference(
        "cummax", "grad", lambda f: f.rows(np.isnan(f.x)), lambda f: running_gradient(f, np.greater),
        "The gradient goes to the position of the NaN; Burn's goes to another index.",
    ),
    Difference(
        "cummin", "grad", lambda f: f.rows(np.isnan(f.x)), lambda f: running_gradient(f, np.less),
        "The gradient goes to the position of the NaN; Burn's goes to another index.",
    ),
    Difference(
        "cross", "grad", lambda f: f.x.shape != f.y.shape, ANY, "Burn does not sum the gradient over axes that were stretched."
    ),
    Difference(SORTED, "out", signed_nan, ANY, "NaN is the largest whatever its sign; Burn puts one with a sign first."),
    Difference(POSITIONS, "out", odd_nan, ANY, "Sorting is stable and knows no sign of NaN here; not in Burn."),
    Difference(INDICES, "out", lambda f: (f.of == 1) & np.asarray(odd_nan(f)), ANY, "The same, for the positions beside values."),
    Difference(SORTED, "grad", odd_nan, ANY, "The same, for the gradients of equal elements."),
    Difference(SHIFTS, "out", lambda f: exponent(f) >= 64, ANY, "A shift by the width gives 0 or -1; Burn's is modulo it."),
    Difference(
        "var var_mean", "grad", lambda f: f.axes() is not None and f.x.shape[f.axes()] == 1, ANY,
        "The variance of one number is NaN, and so is what Burn makes of its gradient.",
    ),
    Difference(
        "det", "out grad", lambda f: f.outputs[0] == 0 if f.burn.shape == f.outputs[0].shape else bool(np.any(f.outputs[0] == 0)),
        ANY, "Burn takes a badly scaled matrix for a singular one.",
    ),
    Difference(
        "svd", "out", lambda f: f.of != 1 and bool(np.any(np.diff(f.outputs[1]) > -1e-3 * np.max(f.outputs[1], initial=0))), ANY,
        "The singular vectors of equal singular values are any basis of their space.",
    ),
)  # fmt: skip

# Signs are free in these results.
WITHOUT_SIGN = {"svd"}

# Relative distances that are larger because Burn, or a fast way of ours, is less exact;
# operations, dtype of the case, distance, reason.
LESS_EXACT = (
    (
        "div_scalar celu cov softplus softplus_with_threshold hard_sigmoid hard_swish var var_bias var_mean var_mean_bias "
        "fmod_scalar pad one_hot_fill affine_grid_2d",
        "F64", 1e-7, "Burn rounds the numbers in it to single precision.",
    ),
    (
        "rfft irfft cfft stft istft stft_istft hann_window hamming_window blackman_window", "F64", 1e-5,
        "Burn computes transforms and windows in single precision.",
    ),
    ("deform_conv2d", "F64", 1e-5, "Burn computes the gradient in single precision."),
    ("conv2d", "F32", 2e-5, "Winograd's sums lose about a digit."),
)  # fmt: skip


def distance_of(op: str, dtype: str, usual: float) -> float:
    """The distance allowed from Burn's numbers."""
    return max([usual, *(d for ops, of, d, _ in LESS_EXACT if of == dtype and op in ops.split())])


def corrected(op: str, result: str, facts: Facts, have: np.ndarray) -> np.ndarray:
    """Burn's numbers with the right ones in their places; where any is right, what we have."""
    want = facts.burn
    for difference in DIFFERENCES:
        if op not in difference.ops.split() or result not in difference.result.split():
            continue
        with np.errstate(all="ignore"):
            where = np.asarray(difference.where(facts))
        if not where.any():
            continue
        if difference.right is ANY and where.ndim == 0:
            return have
        right = difference.right(facts) if callable(difference.right) else difference.right
        fitted = fit(where, want.shape)
        if right is ANY or where.shape != want.shape:
            right = have
        want = np.where(fitted, np.broadcast_to(right, want.shape), want)
    return want


def fit(where: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A condition on what two inputs stretch to, for the gradient of one of them: whether it holds for any part of it."""
    if where.ndim == len(shape):
        stretched = tuple(
            axis for axis, (n, size) in enumerate(zip(where.shape, shape, strict=True)) if size == 1 and n > 1
        )
        where = where.any(axis=stretched, keepdims=True)
    return np.broadcast_to(where, shape)
