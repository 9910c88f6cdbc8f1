"""Fourier transforms of any length. Powers of two are computed by our kernels where the device has them; other lengths, and
those of other devices, on the host through SciPy, in the precision of the data. f16 and bf16 are computed in f32.

The tape sees one step for each result. All of them are linear maps, so a gradient is another transform.
"""

import math

import numpy as np

from burn._core import core
from burn._ops import elementwise as ew
from burn._ops.linalg import _tensor
from burn._ops.movement import copied, swap, zeros
from burn._ops.registry import FLOAT, check_kind, check_same, check_tensor, define
from burn._ops.rule import python_rule
from burn.errors import ShapeError
from burn.tensor.dtype import DType

_step = define("fft_step", "signal", kinds=FLOAT)
_OPS = {
    "rfft": define("rfft", "signal", kinds=FLOAT, n_out=2),
    "irfft": define("irfft", "signal", kinds=FLOAT, n_in=2),
    "cfft": define("cfft", "signal", kinds=FLOAT, n_in=2, n_out=2),
}
_SHORTEST, _LONGEST = 16, 1 << 19  # lengths that the kernels take


def _wide(x):
    """The values of a Float tensor in f32 or f64, outside the graph."""
    x = core.cut(x, 0)
    return ew.cast(x, DType.F32) if x.dtype in (DType.F16, DType.BF16) else x


def _checked(op, x, name):
    check_kind(op, check_tensor(op, x, name), FLOAT, name)
    return _wide(x)


def _checked_pair(op, re, im):
    a, b = _checked(op, re, "re"), _checked(op, im, "im")
    check_same(op, re, im, "im")
    if re._dims != im._dims:
        raise ShapeError(f"[{op}] 'im' must have the shape of 're' {list(re._dims)}, got {list(im._dims)}")
    return a, b


def _transformed(kind, ins, axis, n):
    """The parts of a transform of wide tensors."""
    op, x = _OPS[kind], ins[0]
    if n & (n - 1) or not _SHORTEST <= n <= _LONGEST or not op.has_kernel(x._slot, x._dtype):
        return _on_host(kind, ins, axis, n)
    last = x.ndim - 1
    ins = tuple(swap(part, axis, last) for part in ins) if axis != last else ins
    outer, have = ins[0]._dims[:-1], ins[0]._dims[-1]
    shape = (*outer, n // 2 + 1 if kind == "rfft" else n)
    count = op.n_out
    outs = op.apply_many(ins, [shape] * count, [x._dtype] * count, (math.prod(outer), n, have))
    return tuple(copied(swap(out, axis, last)) for out in outs) if axis != last else outs


def _on_host(kind, ins, axis, n):
    """The same by SciPy; each row is computed by one thread."""
    from scipy import fft

    threads = core.pool_size_now()
    values = [part.numpy() for part in ins]
    if kind == "rfft":
        bins = fft.rfft(values[0], n, axis, workers=threads)
    else:
        both = np.empty(values[0].shape, np.result_type(values[0], np.complex64))
        both.real, both.imag = values
        bins = (fft.irfft if kind == "irfft" else fft.fft)(both, n, axis, workers=threads)
    return (_copied(bins, ins[0]),) if kind == "irfft" else (_copied(bins.real, ins[0]), _copied(bins.imag, ins[0]))


def _copied(values, x):
    """A tensor of host values like x; parts of complex numbers are taken apart by our own copy, on all threads."""
    if x._slot or values.dtype != x.dtype.numpy or not values.size:
        return _tensor(values, x)
    return copied(core.borrow(values.ctypes.data, values, values.shape, values.strides, x._dtype, 0, 0, True))


def _result(made, ins, attrs):
    """A part of a transform in the dtype and context of the inputs, and its step on the tape."""
    ctx = next((x._ctx for x in ins if x._ctx), 0)
    out = ew.cast(made, ins[0].dtype)
    out = core.cut(out, ctx) if ctx else out
    _step.record(ins, out, attrs)
    return out


def rfft(x, axis, n):
    """(re, im) of the n // 2 + 1 first bins of the transform of x cut or padded to n."""
    parts = _transformed("rfft", (_checked("rfft", x, "signal"),), axis, n)
    return tuple(
        _result(part, (x,), ("rfft", axis, n, of_re)) for part, of_re in zip(parts, (True, False), strict=True)
    )


def irfft(re, im, axis, n):
    """The n real samples whose first bins are re + i im."""
    (samples,) = _transformed("irfft", _checked_pair("irfft", re, im), axis, n)
    return _result(samples, (re, im), ("irfft", axis, n))


def cfft(re, im, axis, n):
    """(re, im) of all n bins of the transform of re + i im cut or padded to n."""
    parts = _transformed("cfft", _checked_pair("cfft", re, im), axis, n)
    return tuple(
        _result(part, (re, im), ("cfft", axis, n, of_re)) for part, of_re in zip(parts, (True, False), strict=True)
    )


def _fitted(values, axis, size):
    """values cut or padded with zeros to a size along an axis."""
    have = values.shape[axis]
    if have >= size:
        return values.take(range(size), axis)
    return np.pad(values, [(0, size - have) if a == axis else (0, 0) for a in range(values.ndim)])


def _backward(node, g):
    kind, axis, n, *of_re = node.attrs
    size, values = node.shape(0)[axis], _wide(g)
    if kind == "irfft":
        re, im = (part.numpy() / n for part in _transformed("rfft", (values,), axis, n))
        weight = np.full(re.shape[axis], 2.0, re.dtype)
        weight[0] = 1.0
        if n % 2 == 0:
            weight[-1] = 1.0
        weight = weight.reshape([-1 if a == axis else 1 for a in range(re.ndim)])
        grads = re * weight, _without_edges(im * weight, axis, n)
    else:
        # the adjoint is n times the inverse transform of the bins that there are: of real ones the conjugate transform
        nothing = zeros(values._dims, values._dtype, values._slot)
        re, im = (part.numpy() for part in _transformed("cfft", (values, nothing), axis, n))
        grads = (re, -im) if of_re[0] else (im, re)
    grads = [_fitted(part, axis, size) for part in grads[: node.count]]
    return tuple(_tensor(part, g) if node.needs(i) else None for i, part in enumerate(grads))


def _without_edges(imag, axis, n):
    """The imaginary parts of the first bin and, of even lengths, of the middle one do not count."""
    keep = np.ones(imag.shape[axis], imag.dtype)
    keep[0] = 0.0
    if n % 2 == 0:
        keep[-1] = 0.0
    return imag * keep.reshape([-1 if a == axis else 1 for a in range(imag.ndim)])


_step.rule = python_rule(_backward, ["shape", "shape"])
