# cython: language_level=3
"""Kernels that sort the rows of x, [rows, n], and write positions first..first+k of the sorted rows.

The loops are in sort.h and sort_type.h.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t
from burn._core.abi cimport *

cdef extern from "sort.h" nogil:
    const char *LEVEL_NAME
    void rt_init(const burn_rt *services) noexcept
    int sort_run(int dtype, const void *x, void *values, void *at, int at_dtype,
                 int64_t rows, int64_t n, int64_t descending, int64_t first, int64_t k, burn_args *a)


cdef int sort_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return sort_run(x.dtype, x.p, out[0].p, out[1].p, out[1].dtype, a.i[0], a.i[1], a.i[2], a.i[3], a.i[4], a)

cdef int sort_values_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return sort_run(x.dtype, x.p, out.p, NULL, DT_I64, a.i[0], a.i[1], a.i[2], a.i[3], a.i[4], a)

cdef int argsort_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return sort_run(x.dtype, x.p, NULL, out.p, out.dtype, a.i[0], a.i[1], a.i[2], a.i[3], a.i[4], a)


cdef burn_row rows[48]
cdef burn_table _table

cdef int fill_table() except -1:
    cdef int n = 0
    for dtype in (DT_F64, DT_F32, DT_FLEX32, DT_F16, DT_BF16, DT_I64, DT_I32, DT_I16, DT_I8, DT_U64, DT_U32, DT_U16, DT_U8):
        rows[n] = burn_row(name=b"sort", dtype=dtype, flags=0, cost=8.0, fn=sort_fwd)
        rows[n + 1] = burn_row(name=b"sort_values", dtype=dtype, flags=0, cost=8.0, fn=sort_values_fwd)
        rows[n + 2] = burn_row(name=b"argsort", dtype=dtype, flags=0, cost=8.0, fn=argsort_fwd)
        n += 3
    _table.family = b"sort"
    _table.level = LEVEL_NAME
    _table.n = n
    _table.rows = rows
    _table.init = rt_init
    return 0

fill_table()
table = PyCapsule_New(&_table, "burn.kernels", NULL)
