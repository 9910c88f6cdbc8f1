# cython: language_level=3
"""Kernels of pooling: windows over planes, [planes, h, w], and adaptive averages of [planes, d, h, w].

The loops are in pool.h and pool_type.h; the numbers of an op are the fields of `pool_window` and `adaptive_shape`.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t
from burn._core.abi cimport *

cdef extern from "pool.h" nogil:
    enum:
        POOL_MAX, POOL_AVG, POOL_PLACES, POOL_MAX_BWD, POOL_AVG_BWD
    const char *LEVEL_NAME
    void rt_init(const burn_rt *services) noexcept
    int pool_run(int op, int dtype, const void *src, void *out, const void *at, int at_dtype, const int64_t *ints, burn_args *a)
    int adaptive_run(int backward, int dtype, const void *src, void *out, const int64_t *ints, burn_args *a)


cdef int max_pool2d_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return pool_run(POOL_MAX, x.dtype, x.p, out.p, NULL, DT_I32, a.i, a)

cdef int max_pool2d_with_indices_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return pool_run(POOL_PLACES, x.dtype, x.p, out[0].p, out[1].p, out[1].dtype, a.i, a)

cdef int max_pool2d_bwd(const burn_buf *dx, const burn_buf *g_at, burn_args *a) noexcept nogil:
    return pool_run(POOL_MAX_BWD, dx.dtype, g_at[0].p, dx.p, g_at[1].p, g_at[1].dtype, a.i, a)

cdef int avg_pool2d_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return pool_run(POOL_AVG, x.dtype, x.p, out.p, NULL, DT_I32, a.i, a)

cdef int avg_pool2d_bwd(const burn_buf *dx, const burn_buf *g, burn_args *a) noexcept nogil:
    return pool_run(POOL_AVG_BWD, dx.dtype, g.p, dx.p, NULL, DT_I32, a.i, a)

cdef int adaptive_avg_pool3d_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return adaptive_run(0, x.dtype, x.p, out.p, a.i, a)

cdef int adaptive_avg_pool3d_bwd(const burn_buf *dx, const burn_buf *g, burn_args *a) noexcept nogil:
    return adaptive_run(1, dx.dtype, g.p, dx.p, a.i, a)


cdef burn_row rows[40]
cdef burn_table _table

cdef int fill_table() except -1:
    cdef int n = 0
    for dtype in (DT_F64, DT_F32, DT_FLEX32, DT_F16, DT_BF16):
        rows[n] = burn_row(name=b"max_pool2d", dtype=dtype, flags=0, cost=0.4, fn=max_pool2d_fwd)
        rows[n + 1] = burn_row(name=b"max_pool2d_with_indices", dtype=dtype, flags=0, cost=0.6, fn=max_pool2d_with_indices_fwd)
        rows[n + 2] = burn_row(name=b"max_pool2d_bwd", dtype=dtype, flags=0, cost=0.6, fn=max_pool2d_bwd)
        rows[n + 3] = burn_row(name=b"avg_pool2d", dtype=dtype, flags=0, cost=0.4, fn=avg_pool2d_fwd)
        rows[n + 4] = burn_row(name=b"avg_pool2d_bwd", dtype=dtype, flags=0, cost=0.4, fn=avg_pool2d_bwd)
        rows[n + 5] = burn_row(name=b"adaptive_avg_pool3d", dtype=dtype, flags=0, cost=0.3, fn=adaptive_avg_pool3d_fwd)
        rows[n + 6] = burn_row(name=b"adaptive_avg_pool3d_bwd", dtype=dtype, flags=0, cost=0.3, fn=adaptive_avg_pool3d_bwd)
        n += 7
    _table.family = b"pool"
    _table.level = LEVEL_NAME
    _table.n = n
    _table.rows = rows
    _table.init = rt_init
    return 0

fill_table()
table = PyCapsule_New(&_table, "burn.kernels", NULL)
