# cython: language_level=3
"""Kernels of softmax, log_softmax and quiet_softmax over the middle axis of [outer, n, inner].

The loops are in softmax.h and softmax_type.h.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t
from burn._core.abi cimport *

cdef extern from "softmax.h" nogil:
    enum softmax_op:
        SOFTMAX, LOG_SOFTMAX, QUIET_SOFTMAX, SOFTMAX_BWD, LOG_SOFTMAX_BWD
    const char *LEVEL_NAME
    void rt_init(const burn_rt *services) noexcept
    int softmax_run(softmax_op op, int dtype, const void *a, const void *b, void *out,
                    int64_t outer, int64_t n, int64_t inner, burn_args *args)


cdef int softmax_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return softmax_run(SOFTMAX, x.dtype, x.p, NULL, out.p, a.i[0], a.i[1], a.i[2], a)

cdef int softmax_bwd(const burn_buf *dx, const burn_buf *y_g, burn_args *a) noexcept nogil:
    return softmax_run(SOFTMAX_BWD, dx.dtype, y_g[0].p, y_g[1].p, dx.p, a.i[0], a.i[1], a.i[2], a)

cdef int log_softmax_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return softmax_run(LOG_SOFTMAX, x.dtype, x.p, NULL, out.p, a.i[0], a.i[1], a.i[2], a)

cdef int quiet_softmax_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return softmax_run(QUIET_SOFTMAX, x.dtype, x.p, NULL, out.p, a.i[0], a.i[1], a.i[2], a)

cdef int log_softmax_bwd(const burn_buf *dx, const burn_buf *y_g, burn_args *a) noexcept nogil:
    return softmax_run(LOG_SOFTMAX_BWD, dx.dtype, y_g[0].p, y_g[1].p, dx.p, a.i[0], a.i[1], a.i[2], a)


cdef burn_row rows[32]
cdef burn_table _table

cdef int fill_table() except -1:
    cdef int n = 0
    for dtype in (DT_F64, DT_F32, DT_FLEX32, DT_F16, DT_BF16):
        rows[n] = burn_row(name=b"softmax", dtype=dtype, flags=0, cost=1.0, fn=softmax_fwd)
        rows[n + 1] = burn_row(name=b"softmax_bwd", dtype=dtype, flags=0, cost=0.6, fn=softmax_bwd)
        rows[n + 2] = burn_row(name=b"log_softmax", dtype=dtype, flags=0, cost=1.0, fn=log_softmax_fwd)
        rows[n + 3] = burn_row(name=b"log_softmax_bwd", dtype=dtype, flags=0, cost=1.0, fn=log_softmax_bwd)
        rows[n + 4] = burn_row(name=b"quiet_softmax", dtype=dtype, flags=0, cost=1.0, fn=quiet_softmax_fwd)
        n += 5
    _table.family = b"softmax"
    _table.level = LEVEL_NAME
    _table.n = n
    _table.rows = rows
    _table.init = rt_init
    return 0

fill_table()
table = PyCapsule_New(&_table, "burn.kernels", NULL)
