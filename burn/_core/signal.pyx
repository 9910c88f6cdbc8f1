# cython: language_level=3
"""Kernels of Fourier transforms of rows, of lengths that are powers of two.

The loops are in fft.h and fft_type.h.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t
from burn._core.abi cimport *

cdef extern from "fft.h" nogil:
    enum signal_op:
        SIGNAL_RFFT, SIGNAL_IRFFT, SIGNAL_CFFT
    const char *LEVEL_NAME
    void rt_init(const burn_rt *services) noexcept
    int signal_run(signal_op op, int dtype, const void *a, const void *b, void *re, void *im,
                   int64_t rows, int64_t n, int64_t have, burn_args *args)


cdef int rfft_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return signal_run(SIGNAL_RFFT, x.dtype, x.p, NULL, out[0].p, out[1].p, a.i[0], a.i[1], a.i[2], a)

cdef int irfft_fwd(const burn_buf *out, const burn_buf *re_im, burn_args *a) noexcept nogil:
    return signal_run(SIGNAL_IRFFT, out.dtype, re_im[0].p, re_im[1].p, out.p, NULL, a.i[0], a.i[1], a.i[2], a)

cdef int cfft_fwd(const burn_buf *out, const burn_buf *re_im, burn_args *a) noexcept nogil:
    return signal_run(SIGNAL_CFFT, out.dtype, re_im[0].p, re_im[1].p, out[0].p, out[1].p, a.i[0], a.i[1], a.i[2], a)


cdef burn_row rows[16]
cdef burn_table _table

cdef int fill_table() except -1:
    cdef int n = 0
    for dtype in (DT_F64, DT_F32, DT_FLEX32):
        rows[n] = burn_row(name=b"rfft", dtype=dtype, flags=0, cost=2.0, fn=rfft_fwd)
        rows[n + 1] = burn_row(name=b"irfft", dtype=dtype, flags=0, cost=2.0, fn=irfft_fwd)
        rows[n + 2] = burn_row(name=b"cfft", dtype=dtype, flags=0, cost=4.0, fn=cfft_fwd)
        n += 3
    _table.family = b"signal"
    _table.level = LEVEL_NAME
    _table.n = n
    _table.rows = rows
    _table.init = rt_init
    return 0

fill_table()
table = PyCapsule_New(&_table, "burn.kernels", NULL)
