"""All op records by name, and the checks that bridges share."""

import numbers
import operator

from burn._core import core
from burn.errors import (
    ArgumentTypeError,
    AutodiffError,
    DeviceError,
    DTypeError,
    KindError,
    NumberOverflowError,
    ShapeError,
)
from burn.tensor.dtype import DType, Kind

OPS = {}
FLOAT, INT, BOOL = 1, 2, 4
NUMERIC, ANY = FLOAT | INT, FLOAT | INT | BOOL
PRODUCT = 2  # Op.recompute of products


def define(name, family, **fields):
    """Makes an op record and files it under its name."""
    if name in OPS:
        raise ValueError(f"op {name} is defined twice")
    op = OPS[name] = core.Op(name, family, **fields)
    return op


def kinds_text(mask):
    """The kinds in a mask as words."""
    return " or ".join(kind.name for kind in Kind if mask & kind.value)


def _tensor_of(value):
    """How a tensor is made of what is none."""
    return "use its val()" if type(value).__name__ == "Param" else "make one with Tensor.from_data()"


def check_tensor(op, value, name="self"):
    """value, which must be a tensor."""
    if not isinstance(value, core.TensorBase):
        raise ArgumentTypeError(f"[{op}] '{name}' must be a tensor, got {type(value).__name__}; {_tensor_of(value)}")
    return value


def check_kind(op, x, mask, name="self"):
    """Refuses a tensor of a kind that the op does not take."""
    if not mask & x._kind:
        kind = Kind(x._kind).name
        remedy = {FLOAT: "call float() first", INT: "call int() first", BOOL: "compare, or call bool() first"}.get(
            mask, "call int() or float() first"
        )
        raise KindError(f"[{op}] '{name}' must be of kind {kinds_text(mask)}, got {kind} ({x.dtype.name}); {remedy}")


def check_device(op, x, y, name="other"):
    """Refuses two tensors on different devices."""
    if x._slot != y._slot:
        raise DeviceError(f"[{op}] '{name}' must be on {x.device}, got {y.device}; move it with to_device()")


def check_same(op, x, y, name="other"):
    """Refuses two tensors of different dtype, device or checkpointing strategy."""
    check_device(op, x, y, name)
    if x._dtype != y._dtype:
        raise DTypeError(
            f"[{op}] '{name}' must have dtype {x.dtype.name}, got {y.dtype.name}; dtypes never promote: use cast()"
        )
    if x._ctx and y._ctx and x._ctx != y._ctx:
        raise AutodiffError(
            f"[{op}] '{name}' must share the gradient checkpointing strategy of the first tensor; make both on "
            "device.autodiff(), or both on device.autodiff().gradient_checkpointing()"
        )


def broadcast(op, a, b, name="other"):
    """The common shape of two shapes of one rank, where sizes of 1 stretch."""
    if len(a) != len(b):
        raise ShapeError(
            f"[{op}] '{name}' must have rank {len(a)} like the first tensor, got shapes {list(a)} and {list(b)}; "
            "add axes with unsqueeze() or expand()"
        )
    out = []
    for axis, (m, n) in enumerate(zip(a, b, strict=True)):
        if m != n and m != 1 and n != 1:
            raise ShapeError(
                f"[{op}] '{name}' must match on each axis or have size 1 there, got shapes {list(a)} and {list(b)}: "
                f"axis {axis} has {m} and {n}"
            )
        out.append(n if m == 1 else m)
    return tuple(out)


def number(op, x, value, name="other"):
    """(float, int) of a Python or NumPy number for a tensor's kind; fractions are refused by Int tensors."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        value = int(value)
    if isinstance(value, numbers.Complex) and not isinstance(value, numbers.Real):
        raise DTypeError(f"[{op}] '{name}' must be a real number, got {value}; there are no complex tensors")
    try:
        whole = operator.index(value)
        real = None
    except TypeError:
        try:
            real = None if isinstance(value, str | bytes | bytearray) else float(value)
        except (TypeError, ValueError):
            real = None
        if real is None:
            raise ArgumentTypeError(
                f"[{op}] '{name}' must be a tensor or a number, got {type(value).__name__}; {_tensor_of(value)}"
            ) from None
        whole = None
    if x._kind == FLOAT:
        try:
            return (float(whole) if real is None else real), 0
        except OverflowError:
            raise NumberOverflowError(
                f"[{op}] '{name}' must fit a float, got an int of {value.bit_length()} bits"
            ) from None
    if whole is None:
        if not real.is_integer():
            raise DTypeError(
                f"[{op}] '{name}' must be a whole number for kind {Kind(x._kind).name}, got {value}; "
                "call float() on the tensor first"
            )
        whole = int(real)
    if x._kind == BOOL:
        return 0.0, int(whole != 0)
    low, high = int_range(x._dtype)
    if not low <= whole <= high:
        raise NumberOverflowError(f"[{op}] '{name}' must lie in {low}..{high} for dtype {x.dtype.name}, got {whole}")
    return 0.0, whole - (1 << 64) if whole >= 1 << 63 else whole


def int_range(code):
    """Smallest and largest value of an integer dtype."""
    dtype = DType.of_code(code)
    bits = 8 * dtype.size
    return (0, (1 << bits) - 1) if dtype.is_uint else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def is_number(value):
    """Whether a value is a scalar rather than a tensor or an array."""
    return isinstance(value, int | float) or (hasattr(value, "__float__") and not getattr(value, "shape", ()))
