# cython: language_level=3
"""Kernels that resample planes, [planes, h, w], and that read pictures at the points of a grid.

The loops are in interpolate.h and grid_sample.h; the numbers of grid sampling are the fields of `sample_shape`.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t
from burn._core.abi cimport *

cdef extern from "grid_sample.h" nogil:
    enum:
        GRID_SAMPLE, GRID_SAMPLE_X_BWD, GRID_SAMPLE_GRID_BWD
    const char *LEVEL_NAME
    void rt_init(const burn_rt *services) noexcept
    int interpolate_run(int backward, int dtype, const void *src, void *out, const int64_t *ints, burn_args *a)
    int sample_run(int op, int dtype, const void *x, const void *grid, const void *g, void *out, const int64_t *ints,
                   burn_args *a)


cdef int interpolate_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return interpolate_run(0, x.dtype, x.p, out.p, a.i, a)

cdef int interpolate_bwd(const burn_buf *dx, const burn_buf *g, burn_args *a) noexcept nogil:
    return interpolate_run(1, dx.dtype, g.p, dx.p, a.i, a)

cdef int grid_sample_2d_fwd(const burn_buf *out, const burn_buf *x_grid, burn_args *a) noexcept nogil:
    return sample_run(GRID_SAMPLE, out.dtype, x_grid[0].p, x_grid[1].p, NULL, out.p, a.i, a)

cdef int grid_sample_2d_x_bwd(const burn_buf *dx, const burn_buf *grid_g, burn_args *a) noexcept nogil:
    return sample_run(GRID_SAMPLE_X_BWD, dx.dtype, NULL, grid_g[0].p, grid_g[1].p, dx.p, a.i, a)

cdef int grid_sample_2d_grid_bwd(const burn_buf *dgrid, const burn_buf *x_grid_g, burn_args *a) noexcept nogil:
    return sample_run(GRID_SAMPLE_GRID_BWD, dgrid.dtype, x_grid_g[0].p, x_grid_g[1].p, x_grid_g[2].p, dgrid.p, a.i, a)


cdef burn_row rows[32]
cdef burn_table _table

cdef int fill_table() except -1:
    cdef int n = 0
    for dtype in (DT_F64, DT_F32, DT_FLEX32, DT_F16, DT_BF16):
        rows[n] = burn_row(name=b"interpolate", dtype=dtype, flags=0, cost=0.5, fn=interpolate_fwd)
        rows[n + 1] = burn_row(name=b"interpolate_bwd", dtype=dtype, flags=0, cost=0.5, fn=interpolate_bwd)
        rows[n + 2] = burn_row(name=b"grid_sample_2d", dtype=dtype, flags=0, cost=4.0, fn=grid_sample_2d_fwd)
        rows[n + 3] = burn_row(name=b"grid_sample_2d_x_bwd", dtype=dtype, flags=0, cost=4.0, fn=grid_sample_2d_x_bwd)
        rows[n + 4] = burn_row(name=b"grid_sample_2d_grid_bwd", dtype=dtype, flags=0, cost=4.0, fn=grid_sample_2d_grid_bwd)
        n += 5
    _table.family = b"interpolate"
    _table.level = LEVEL_NAME
    _table.n = n
    _table.rows = rows
    _table.init = rt_init
    return 0

fill_table()
table = PyCapsule_New(&_table, "burn.kernels", NULL)
