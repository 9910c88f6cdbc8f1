# cython: language_level=3
"""Kernels that move elements without looking at them: copies between any strides, fills, triangles, integer
ranges.

The loops are in movement.h.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t
from burn._core.abi cimport *

cdef extern from "scalar.h" nogil:
    const int *DT_SIZE

cdef extern from "movement.h" nogil:
    const char *LEVEL_NAME
    void rt_init(const burn_rt *services) noexcept
    int strided_copy(const void *x, void *y, int size, int ndim, const int64_t *shape,
                     const int64_t *x_strides, const int64_t *y_strides)
    int triangle(const void *x, void *y, int size, int64_t outer, int64_t rows, int64_t cols, int64_t diagonal, int64_t upper)
    int arange_fill(void *out, int size, int64_t n, int64_t start, int64_t step)


cdef inline const int64_t *strides_of(const burn_buf *x, int64_t *room) noexcept nogil:
    """The strides of `x`: its own, or those of row-major order, written to `room`."""
    cdef int64_t step = 1
    cdef int axis
    if x.strides != NULL:
        return x.strides
    for axis in range(x.ndim - 1, -1, -1):
        room[axis] = step
        step *= x.shape[axis]
    return room


cdef int copy_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    cdef int64_t x_room[BURN_MAX_RANK]
    cdef int64_t out_room[BURN_MAX_RANK]
    return strided_copy(x.p, out.p, DT_SIZE[x.dtype], out.ndim, out.shape,
                        strides_of(x, x_room), strides_of(out, out_room))

cdef int fill_fwd(const burn_buf *out, const burn_buf *value, burn_args *a) noexcept nogil:
    cdef int64_t still[BURN_MAX_RANK]
    cdef int64_t out_room[BURN_MAX_RANK]
    cdef int axis
    for axis in range(BURN_MAX_RANK):
        still[axis] = 0
    return strided_copy(value.p, out.p, DT_SIZE[out.dtype], out.ndim, out.shape, still, strides_of(out, out_room))

cdef int triangle_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return triangle(x.p, out.p, DT_SIZE[x.dtype], a.i[0], a.i[1], a.i[2], a.i[3], a.i[4])

cdef int arange_fwd(const burn_buf *out, const burn_buf *none, burn_args *a) noexcept nogil:
    return arange_fill(out.p, DT_SIZE[out.dtype], out.size, a.i[0], a.i[1])


cdef burn_row rows[64]
cdef burn_table _table

cdef int fill_table() except -1:
    cdef int n = 0
    for dtype in range(DT_BOOL + 1):
        rows[n] = burn_row(name=b"copy", dtype=dtype, flags=ROW_STRIDED | ROW_STRIDED_OUT, cost=0.25, fn=copy_fwd)
        rows[n + 1] = burn_row(name=b"fill", dtype=dtype, flags=ROW_STRIDED_OUT, cost=0.15, fn=fill_fwd)
        rows[n + 2] = burn_row(name=b"triangle", dtype=dtype, flags=0, cost=0.2, fn=triangle_fwd)
        n += 3
    for dtype in (DT_I64, DT_I32, DT_I16, DT_I8, DT_U64, DT_U32, DT_U16, DT_U8):
        rows[n] = burn_row(name=b"arange", dtype=dtype, flags=0, cost=0.2, fn=arange_fwd)
        n += 1
    _table.family = b"movement"
    _table.level = LEVEL_NAME
    _table.n = n
    _table.rows = rows
    _table.init = rt_init
    return 0

fill_table()
table = PyCapsule_New(&_table, "burn.kernels", NULL)
