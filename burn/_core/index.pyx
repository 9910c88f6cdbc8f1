# cython: language_level=3
"""Kernels that read and write through index tensors, on the middle axis of [outer, n, inner].

The loops are in index.h, scatter_type.h, one_hot.h and mask.h.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t
from burn._core.abi cimport *

cdef extern from "index.h" nogil:
    enum scatter_mode:
        SCATTER_ASSIGN, SCATTER_ADD, SCATTER_MUL, SCATTER_MIN, SCATTER_MAX
    const char *LEVEL_NAME
    const int *DT_SIZE
    void rt_init(const burn_rt *services) noexcept
    int gather(const void *x, const void *idx, void *out, int size, int wide,
               int64_t outer, int64_t n, int64_t inner, int64_t k, burn_args *a)
    int select_rows(const void *x, const void *idx, void *out, int size, int wide,
                    int64_t outer, int64_t n, int64_t inner, int64_t k, burn_args *a)
    int scatter(void *out, const void *target, const void *values, const void *idx, int dtype, int wide, int shared,
                int64_t outer, int64_t n, int64_t inner, int64_t k, scatter_mode mode, burn_args *a)


cdef extern from "mask.h" nogil:
    int mask_counts(const char *mask, int64_t *out, int64_t n)
    int mask_places(const char *mask, const int64_t *ends, void *out, int wide, int64_t n,
                    int64_t place, int64_t axis, int64_t rank, const int64_t *dims)


cdef extern from "one_hot.h" nogil:
    int one_hot(const burn_buf *out, const burn_buf *x, burn_args *a, int64_t outer, int64_t classes, int64_t inner)


cdef int gather_fwd(const burn_buf *out, const burn_buf *x_idx, burn_args *a) noexcept nogil:
    return gather(x_idx[0].p, x_idx[1].p, out.p, DT_SIZE[out.dtype], x_idx[1].dtype == DT_I64,
                  a.i[0], a.i[1], a.i[2], a.i[3], a)

cdef int select_fwd(const burn_buf *out, const burn_buf *x_idx, burn_args *a) noexcept nogil:
    return select_rows(x_idx[0].p, x_idx[1].p, out.p, DT_SIZE[out.dtype], x_idx[1].dtype == DT_I64,
                       a.i[0], a.i[1], a.i[2], a.i[3], a)

cdef inline int scatter_into(const burn_buf *out, const burn_buf *ins, burn_args *a, int shared) noexcept nogil:
    """`out` comes with the target's values, unless a third input has them."""
    return scatter(out.p, ins[2].p if a.n_in > 2 else NULL, ins[0].p, ins[1].p, out.dtype, ins[1].dtype == DT_I64,
                   shared, a.i[0], a.i[1], a.i[2], a.i[3], <scatter_mode>a.i[4], a)

cdef int scatter_fwd(const burn_buf *out, const burn_buf *values_idx, burn_args *a) noexcept nogil:
    return scatter_into(out, values_idx, a, 0)

cdef int select_assign_fwd(const burn_buf *out, const burn_buf *values_idx, burn_args *a) noexcept nogil:
    return scatter_into(out, values_idx, a, 1)


cdef int one_hot_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return one_hot(out, x, a, a.i[0], a.i[1], a.i[2])


cdef int mask_counts_fwd(const burn_buf *out, const burn_buf *mask, burn_args *a) noexcept nogil:
    """How many elements of each block are true."""
    return mask_counts(<const char *>mask.p, <int64_t *>out.p, mask.size)

cdef int mask_places_fwd(const burn_buf *out, const burn_buf *mask_ends, burn_args *a) noexcept nogil:
    """The coordinates of the true elements, with the sums of the counts."""
    return mask_places(<const char *>mask_ends[0].p, <const int64_t *>mask_ends[1].p, out.p,
                       out.dtype == DT_I64, mask_ends[0].size, a.i[0], a.i[1], a.i[2], a.i + 3)


cdef burn_row rows[80]
cdef burn_table _table

cdef int fill_table() except -1:
    cdef int n = 0
    for dtype in range(DT_BOOL + 1):
        rows[n] = burn_row(name=b"gather", dtype=dtype, flags=0, cost=0.8, fn=gather_fwd)
        rows[n + 1] = burn_row(name=b"select", dtype=dtype, flags=0, cost=0.4, fn=select_fwd)
        rows[n + 2] = burn_row(name=b"scatter", dtype=dtype, flags=ROW_TARGET, cost=1.0, fn=scatter_fwd)
        rows[n + 3] = burn_row(name=b"select_assign", dtype=dtype, flags=ROW_TARGET, cost=0.5, fn=select_assign_fwd)
        n += 4
    for dtype in range(DT_BOOL):
        rows[n] = burn_row(name=b"one_hot", dtype=dtype, flags=0, cost=0.2, fn=one_hot_fwd)
        n += 1
    rows[n] = burn_row(name=b"mask_counts", dtype=DT_BOOL, flags=0, cost=0.1, fn=mask_counts_fwd)
    rows[n + 1] = burn_row(name=b"mask_places", dtype=DT_BOOL, flags=0, cost=1.0, fn=mask_places_fwd)
    n += 2
    _table.family = b"index"
    _table.level = LEVEL_NAME
    _table.n = n
    _table.rows = rows
    _table.init = rt_init
    return 0

fill_table()
table = PyCapsule_New(&_table, "burn.kernels", NULL)
