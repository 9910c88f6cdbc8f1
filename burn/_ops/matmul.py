"""Matrix products, with bias and activation in the kernel's epilogue."""

from burn._core import core
from burn._ops.elementwise import cast
from burn._ops.movement import expand, reshape, swap
from burn._ops.reduce import sum_dims, sum_to_shape
from burn._ops.registry import FLOAT, NUMERIC, PRODUCT, check_kind, check_same, check_tensor, define
from burn._ops.rule import python_rule
from burn.errors import ShapeError
from burn.tensor.dtype import DType

# Kernels multiply integers of 32 and 64 bits; what is left of their sums modulo 2^8 or 2^16 is that of narrow ones.
_NARROW = tuple(dtype.code for dtype in (DType.I8, DType.I16, DType.U8, DType.U16))


def _bridge(op, lhs, rhs):
    return matmul(lhs, rhs)


_matmul = define("matmul", "matmul", kinds=NUMERIC, n_in=2, bridge=_bridge, recompute=PRODUCT)
_linear = define("linear", "matmul", kernel="matmul", kinds=NUMERIC, n_in=3, recompute=PRODUCT)
# The gradients of weight and bias in one pass over that of the output, where a backend has it for a dtype.
_linear_bwd = define("linear_bwd", "matmul", kinds=FLOAT, n_in=2, n_out=2, cuts_graph=True)
core.set_slot("matmul", _matmul)


def matmul(lhs, rhs):
    """lhs @ rhs on the last two axes; leading axes broadcast."""
    check_kind("matmul", check_tensor("matmul", lhs), NUMERIC)
    check_kind("matmul", check_tensor("matmul", rhs, "other"), NUMERIC, "other")
    check_same("matmul", lhs, rhs)
    a, b = lhs._dims, rhs._dims
    if len(a) != len(b) or len(a) < 2:
        raise ShapeError(
            f"[matmul] 'other' must have the rank of 'self', at least 2, got shapes {list(a)} and {list(b)}; use unsqueeze()"
        )
    if a[-1] != b[-2]:
        raise ShapeError(
            f"[matmul] 'other' must have {a[-1]} rows to match the columns of 'self', got shapes {list(a)} and {list(b)}"
        )
    if lhs._dtype in _NARROW:
        return cast(matmul(cast(lhs, DType.I32), cast(rhs, DType.I32)), lhs.dtype)
    if len(a) == 2:
        return _matmul.apply((lhs, rhs), (a[0], b[1]), lhs._dtype, (0,))
    batch = []
    for axis, (m, n) in enumerate(zip(a[:-2], b[:-2], strict=True)):
        if m != n and m != 1 and n != 1:
            raise ShapeError(
                f"[matmul] batch axes must match or have size 1, got shapes {list(a)} and {list(b)}: axis {axis} has {m} and {n}"
            )
        batch.append(n if m == 1 else m)
    if batch != list(a[:-2]) or batch != list(b[:-2]):
        lhs, rhs = expand(lhs, (*batch, *a[-2:])), expand(rhs, (*batch, *b[-2:]))
    return _matmul.apply((lhs, rhs), (*batch, a[-2], b[-1]), lhs._dtype, (0,))


def linear(x, weight, bias=None):
    """x @ weight + bias over the last axis of x; weight is [d_input, d_output]."""
    check_kind("linear", check_tensor("linear", x, "input"), NUMERIC, "input")
    check_same("linear", x, check_tensor("linear", weight, "weight"), "weight")
    a, w = x._dims, weight._dims
    if len(w) != 2 or a[-1] != w[0]:
        raise ShapeError(
            f"[linear] 'weight' must be [{a[-1]}, d_output] for an input of shape {list(a)}, got {list(w)}"
        )
    if bias is not None:
        check_same("linear", x, check_tensor("linear", bias, "bias"), "bias")
        if bias._dims != (w[1],):
            raise ShapeError(
                f"[linear] 'bias' must have shape [{w[1]}] for a weight of shape {list(w)}, got {list(bias._dims)}"
            )
    if x._dtype in _NARROW:
        return cast(linear(*(t if t is None else cast(t, DType.I32) for t in (x, weight, bias))), x.dtype)
    rows = x if len(a) == 2 else reshape(x, (x._size // a[-1] if a[-1] else _count(a[:-1]), a[-1]))
    shape = (rows._dims[0], w[1])
    ins = (rows, weight) if bias is None else (rows, weight, bias)
    out = _linear.apply(ins, shape, x._dtype, (0,))
    return out if len(a) == 2 else reshape(out, (*a[:-1], w[1]))


def _count(dims):
    n = 1
    for d in dims:
        n *= d
    return n


def _matmul_bwd(node, g):
    left = right = None
    if node.needs(0):
        left = sum_to_shape(_matmul(g, swap(node.saved(1), -2, -1)), node.shape(0))
    if node.needs(1):
        right = sum_to_shape(_matmul(swap(node.saved(0), -2, -1), g), node.shape(1))
    return left, right


def _linear_rule(node, g):
    left = _matmul(g, swap(node.saved(1), 0, 1)) if node.needs(0) else None
    if not node.needs(1):
        return left, None, _rows_sum(g) if node.needs(2) else None
    x = swap(node.saved(0), 0, 1)
    if not node.needs(2) or not _linear_bwd.has_kernel(g._slot, g._dtype):
        return left, _matmul(x, g), _rows_sum(g) if node.needs(2) else None
    width = g._dims[1]
    grads = [core.empty(shape, g._dtype, g._slot, 0) for shape in ((x._dims[0], width), (width,))]
    _linear_bwd.update((x, g), grads, (0,))
    return left, *grads


def _rows_sum(g):
    return reshape(sum_dims(g, (0,)), (g._dims[1],))


_matmul.rule = python_rule(_matmul_bwd, ["1 shape", "0 shape"])
_linear.rule = python_rule(_linear_rule, ["1", "0", ""])
