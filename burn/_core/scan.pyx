# cython: language_level=3
"""Kernels of the running sums, products and extremes: [outer, n, inner] over n, from the end where `reverse`.

The loops are in scan.h and scan_type.h.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t
from burn._core.abi cimport *

cdef extern from "scan.h" nogil:
    enum scan_op:
        SCAN_SUM, SCAN_PROD, SCAN_MAX, SCAN_MIN
    const char *LEVEL_NAME
    void rt_init(const burn_rt *services) noexcept
    int scan_run(scan_op op, int dtype, const void *x, void *y,
                 int64_t outer, int64_t n, int64_t inner, int64_t reverse)


cdef int cumsum_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return scan_run(SCAN_SUM, x.dtype, x.p, out.p, a.i[0], a.i[1], a.i[2], a.i[3])

cdef int cumprod_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return scan_run(SCAN_PROD, x.dtype, x.p, out.p, a.i[0], a.i[1], a.i[2], a.i[3])

cdef int cummax_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return scan_run(SCAN_MAX, x.dtype, x.p, out.p, a.i[0], a.i[1], a.i[2], a.i[3])

cdef int cummin_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return scan_run(SCAN_MIN, x.dtype, x.p, out.p, a.i[0], a.i[1], a.i[2], a.i[3])


cdef burn_row rows[64]
cdef burn_table _table

cdef int fill_table() except -1:
    cdef int n = 0
    for dtype in (DT_F64, DT_F32, DT_FLEX32, DT_F16, DT_BF16, DT_I64, DT_I32, DT_I16, DT_I8, DT_U64, DT_U32, DT_U16, DT_U8):
        rows[n] = burn_row(name=b"cumsum", dtype=dtype, flags=0, cost=0.8, fn=cumsum_fwd)
        rows[n + 1] = burn_row(name=b"cumprod", dtype=dtype, flags=0, cost=0.8, fn=cumprod_fwd)
        rows[n + 2] = burn_row(name=b"cummax", dtype=dtype, flags=0, cost=0.8, fn=cummax_fwd)
        rows[n + 3] = burn_row(name=b"cummin", dtype=dtype, flags=0, cost=0.8, fn=cummin_fwd)
        n += 4
    _table.family = b"scan"
    _table.level = LEVEL_NAME
    _table.n = n
    _table.rows = rows
    _table.init = rt_init
    return 0

fill_table()
table = PyCapsule_New(&_table, "burn.kernels", NULL)
