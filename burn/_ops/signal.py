"""Fourier transforms of any length, computed on the host through SciPy in the precision of the data; f16 and bf16 in f32.

The tape sees one step for each result. All of them are linear maps, so a gradient is another transform.
"""

import numpy as np

from burn._core import core
from burn._ops.linalg import _tensor
from burn._ops.movement import copied
from burn._ops.registry import FLOAT, check_kind, check_same, check_tensor, define
from burn._ops.rule import python_rule
from burn.errors import ShapeError

_step = define("fft_step", "matmul", kinds=FLOAT)


def _host(op, x, name):
    """The values of a Float tensor in f32 or f64."""
    check_kind(op, check_tensor(op, x, name), FLOAT, name)
    values = core.cut(x, 0).numpy()
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float32)


def _threads():
    """How many threads SciPy may use for transforms of several rows; each row is computed by one."""
    return core.pool_size_now()


def _copied(values, x):
    """A tensor of host values like x; parts of complex numbers are taken apart by our own copy, on all threads."""
    if x._slot or values.dtype != x.dtype.numpy or not values.size:
        return _tensor(values, x)
    shared = core.borrow(values.ctypes.data, values, values.shape, values.strides, x._dtype, 0, x._ctx, True)
    return copied(shared) if not x._ctx else core.alias(copied(shared), x._ctx)


def _result(values, ins, attrs):
    out = _copied(values, ins[0])
    if len(ins) > 1 and ins[1]._ctx and not out._ctx:
        out = core.cut(out, ins[1]._ctx)
    _step.record(ins, out, attrs)
    return out


def _pair(op, re, im):
    a, b = _host(op, re, "re"), _host(op, im, "im")
    check_same(op, re, im, "im")
    if re._dims != im._dims:
        raise ShapeError(f"[{op}] 'im' must have the shape of 're' {list(re._dims)}, got {list(im._dims)}")
    both = np.empty(a.shape, np.result_type(a, np.complex64))
    both.real, both.imag = a, b
    return both


def rfft(x, axis, n):
    """(re, im) of the n // 2 + 1 first bins of the transform of x cut or padded to n."""
    from scipy import fft

    bins = fft.rfft(_host("rfft", x, "signal"), n, axis, workers=_threads())
    return tuple(_result(part, (x,), ("rfft", axis, n, factor)) for part, factor in ((bins.real, 1.0), (bins.imag, 1j)))


def irfft(re, im, axis, n):
    """The n real samples whose first bins are re + i im."""
    from scipy import fft

    return _result(fft.irfft(_pair("irfft", re, im), n, axis, workers=_threads()), (re, im), ("irfft", axis, n))


def cfft(re, im, axis, n):
    """(re, im) of all n bins of the transform of re + i im cut or padded to n."""
    from scipy import fft

    bins = fft.fft(_pair("cfft", re, im), n, axis, workers=_threads())
    return tuple(
        _result(part, (re, im), ("cfft", axis, n, factor)) for part, factor in ((bins.real, 1.0), (bins.imag, 1j))
    )


def _fitted(values, axis, size):
    """values cut or padded with zeros to a size along an axis."""
    have = values.shape[axis]
    if have >= size:
        return values.take(range(size), axis)
    return np.pad(values, [(0, size - have) if a == axis else (0, 0) for a in range(values.ndim)])


def _backward(node, g):
    from scipy import fft

    kind, axis, n, *rest = node.attrs
    size = node.shape(0)[axis]
    values = _host(kind, g, "g")
    if kind == "irfft":
        bins = fft.rfft(values, n, axis, workers=_threads()) / n
        weight = np.full(bins.shape[axis], 2.0, values.dtype)
        weight[0] = 1.0
        if n % 2 == 0:
            weight[-1] = 1.0
        bins = bins * weight.reshape([-1 if a == axis else 1 for a in range(bins.ndim)])
        grads = _fitted(bins.real, axis, size), _fitted(_without_edges(bins.imag, axis, n), axis, size)
    else:
        # the adjoint of a transform is n times its inverse, of the bins that there are
        samples = n * fft.ifft(values * rest[0], n, axis, workers=_threads())
        grads = _fitted(samples.real, axis, size), _fitted(samples.imag, axis, size)
    return tuple(_tensor(part, g) if node.needs(i) else None for i, part in enumerate(grads[: node.count]))


def _without_edges(imag, axis, n):
    """The imaginary parts of the first bin and, of even lengths, of the middle one do not count."""
    keep = np.ones(imag.shape[axis], imag.dtype)
    keep[0] = 0.0
    if n % 2 == 0:
        keep[-1] = 0.0
    return imag * keep.reshape([-1 if a == axis else 1 for a in range(imag.ndim)])


_step.rule = python_rule(_backward, ["shape", "shape"])
