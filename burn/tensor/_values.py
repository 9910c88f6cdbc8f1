"""Values of the host on their way into a tensor: nested lists as an array, and arrays of one dtype in another."""

import numpy as np

from burn.errors import DataError, UnsupportedConversionError

__all__ = ["array_of_lists", "checked_convert"]


def array_of_lists(values, dtype, op, name):
    """Numbers and nested lists as an array; ints that only 64 unsigned bits hold stay ints."""
    try:
        made = np.array(values)
    except (ValueError, TypeError, OverflowError) as e:
        raise DataError(f"[{op}] {name!r} must be a rectangular nested list of numbers, got {e}") from None
    if made.dtype == np.float64 and made.size and np.abs(made).max() >= 2.0**63:
        exact = np.array(values, dtype=object)
        if all(isinstance(v, int) for v in exact.reshape(-1)):
            try:
                return exact.astype(np.uint64)
            except (OverflowError, TypeError):
                raise DataError(
                    f"[{op}] {name!r} must hold ints of one 64-bit dtype, got {made.min():g}..{made.max():g}"
                ) from None
    return made.astype(np.float32) if made.dtype == np.float64 and dtype is None else made


def checked_convert(array, dtype, op, name="data", exact=False):
    """array in another dtype; values that cannot be represented raise, as element conversion in Burn panics.

    Fractions are cut off on the way to integers; where all must be kept exact, they raise too.
    """
    target = dtype.numpy
    if array.dtype == target:
        return array
    if dtype.is_bool:
        return (array != 0).astype(target, copy=False)
    kind = array.dtype.kind if array.dtype.kind in "fiub" else "f"  # bfloat16 has another one
    if target.kind in "iu" and array.size:
        info = np.iinfo(target)
        if kind == "f":
            wide = array.astype(np.float64)
            whole = np.trunc(wide)
            bad = ~((whole >= float(info.min)) & (wide < float(info.max) + 1.0))
            if exact and not bad.any() and (whole != wide).any():
                raise UnsupportedConversionError(
                    f"[{op}] {name!r} must hold whole numbers for dtype {dtype}, got {array[whole != wide].flat[0]}; round "
                    "them first, or cut them off with TensorData.convert()"
                )
        else:
            bad = np.zeros(array.shape, bool) if kind == "b" else (array < info.min) | (array > info.max)
        if bad.any():
            at = np.unravel_index(int(np.argmax(bad)), array.shape) if array.ndim else ()
            raise DataError(
                f"[{op}] {name!r} holds {array[at]} at {[int(i) for i in at]}, which dtype {dtype} cannot represent; it takes "
                f"{info.min}..{info.max}"
            )
    with np.errstate(all="ignore"):
        return array.astype(target)
