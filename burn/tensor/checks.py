"""Checks for tests and for the boundaries of modules: shapes, and how close two tensors are."""

import ast
import inspect
import linecache
import sys

import numpy as np

from burn._ops.registry import check_tensor
from burn.errors import ArgumentError, ArgumentTypeError, ShapeError
from burn.tensor._calls import teach_functions

__all__ = ["assert_shape", "check_closeness", "debug_assert_shape"]


def assert_shape(tensor, shape) -> None:
    """Raises unless a tensor has a shape. Mirrors `assert_shape!`.

    Args:
        tensor: a tensor of any kind.
        shape: a size for each axis; `None` takes any size, and one `...` any number of axes.

    Raises:
        ShapeError: with the call as it was written, the first axis that is wrong, and the sizes.

    >>> x = Tensor.zeros([2, 3, 4])
    >>> assert_shape(x, [2, None, 4])
    >>> assert_shape(x, [..., 4])
    >>> assert_shape(Tensor.zeros([2, 3, 4]), [2, 99, 4])
    Traceback (most recent call last):
    burn.errors.ShapeError: [assert_shape] axis 1 must be 99, got 3 (dims [2, 3, 4])...
    """
    _assert_shape("assert_shape", tensor, shape)


def debug_assert_shape(tensor, shape) -> None:
    """`assert_shape`, which checks nothing under `python -O`. Mirrors `debug_assert_shape!`.

    Args:
        tensor: a tensor of any kind.
        shape: as for `assert_shape`.

    >>> debug_assert_shape(Tensor.zeros([2, 3]), [2, None])
    """
    if __debug__:
        _assert_shape("debug_assert_shape", tensor, shape)


def _assert_shape(name, tensor, shape):
    dims = check_tensor(name, tensor, "tensor")._dims
    try:
        wanted = list(shape)
    except TypeError:
        wanted = None
    if wanted is None or not all(w is None or w is ... or hasattr(w, "__index__") for w in wanted):
        raise ArgumentTypeError(f"[{name}] 'shape' must be a sequence of ints, None and at most one ..., got {shape!r}")
    if any(w is not None and w is not ... and w.__index__() < 0 for w in wanted):
        raise ArgumentError(f"[{name}] 'shape' must hold no negative size, got {shape!r}; None stands for any size")
    gaps = [i for i, w in enumerate(wanted) if w is ...]
    if len(gaps) > 1:
        raise ArgumentError(f"[{name}] 'shape' must hold '...' at most once, got {shape!r}")
    count = len(wanted) - len(gaps)
    if len(dims) < count or (not gaps and len(dims) != count):
        _fail(name, f"the rank must be {'at least ' if gaps else ''}{count}, got {len(dims)}", dims)
    if gaps:
        wanted[gaps[0] : gaps[0] + 1] = [None] * (len(dims) - count)
    for axis, (want, size) in enumerate(zip(wanted, dims, strict=True)):
        if want is not None and want.__index__() != size:
            _fail(name, f"axis {axis} must be {want.__index__()}, got {size}", dims)


def _fail(name, what, dims):
    call = _call_of(sys._getframe(3), name)
    raise ShapeError(f"[{name}] {what} (dims {list(dims)})" + (f" in {call}" if call else ""))


def _call_of(frame, name):
    """The call that a frame is at, as it was written; empty where the source cannot be found."""
    found = inspect.getframeinfo(frame)
    place = getattr(found, "positions", None)  # since Python 3.11
    if place is not None and place.lineno and place.end_lineno and place.col_offset is not None:
        lines = [
            linecache.getline(found.filename, n, frame.f_globals) for n in range(place.lineno, place.end_lineno + 1)
        ]
        if lines[-1]:
            lines[-1] = lines[-1].encode()[: place.end_col_offset].decode(errors="ignore")
            lines[0] = lines[0].encode()[place.col_offset :].decode(errors="ignore")
            return " ".join("".join(lines).split())
    line = linecache.getline(found.filename, found.lineno, frame.f_globals).strip()
    try:
        tree = ast.parse(line)
    except SyntaxError:
        return line if name in line else ""
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.unparse(n.func).endswith(name)]
    return ast.unparse(calls[0]) if calls else ""


def check_closeness(output, expected) -> None:
    """Prints how many elements are close, for tolerances of 1e-1 to 1e-8. Mirrors `check_closeness`.

    Args:
        output: Float tensor.
        expected: tensor of the same shape and dtype.

    Raises:
        ShapeError: the shapes differ.

    >>> check_closeness(Tensor([1.0]), Tensor([1.0]))
    Tensor Closeness Check Results:
    ===============================
    Epsilon: 1e-1
      Close elements: 1/1 (100.00%)
      [PASS]
    ...
    Closeness check complete.
    """
    check_tensor("check_closeness", output, "output")
    if output._dims != check_tensor("check_closeness", expected, "expected")._dims:
        raise ShapeError(f"[check_closeness] 'expected' must have shape {output.dims()}, got {expected.dims()}")
    n = max(output._size, 1)
    print("Tensor Closeness Check Results:")
    print("=" * 31)
    for power in range(1, 9):
        epsilon = 10.0**-power
        close = int(np.count_nonzero(output.is_close(expected, epsilon, epsilon).numpy())) if output._size else n
        share = 100.0 * close / n
        mark = "[PASS]" if close == n else "[WARN]" if share >= 90.0 else "[FAIL]"
        print(f"Epsilon: 1e-{power}")
        print(f"  Close elements: {close if output._size else 0}/{output._size} ({share:.2f}%)")
        print(f"  {mark}\n")
    print("Closeness check complete.")


teach_functions(globals())
