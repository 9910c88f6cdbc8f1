# cython: language_level=3
"""Kernels of the reductions: [outer, n, inner] over n gives [outer, inner].

The loops are in reduce.h and reduce_type.h.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t
from burn._core.abi cimport *

cdef extern from "reduce.h" nogil:
    enum reduce_op:
        RED_SUM, RED_MEAN, RED_PROD, RED_VAR, RED_MAX_AT, RED_MIN_AT, RED_MAX, RED_MIN, RED_ANY, RED_ALL
    const char *LEVEL_NAME
    void rt_init(const burn_rt *services) noexcept
    int reduce_values(reduce_op op, int dtype, const void *x, void *out,
                      int64_t outer, int64_t n, int64_t inner, burn_args *a)
    int reduce_extreme(reduce_op op, int dtype, const void *x, void *out, void *at, int at_dtype,
                       int64_t outer, int64_t n, int64_t inner, burn_args *a)
    int reduce_flags(reduce_op op, int dtype, const void *x, void *out, int64_t outer, int64_t n, int64_t inner, burn_args *a)
    int reduce_var(int dtype, const void *x, void *out,
                   int64_t outer, int64_t n, int64_t inner, double correction, burn_args *a)


cdef int sum_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return reduce_values(RED_SUM, x.dtype, x.p, out.p, a.i[0], a.i[1], a.i[2], a)

cdef int mean_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return reduce_values(RED_MEAN, x.dtype, x.p, out.p, a.i[0], a.i[1], a.i[2], a)

cdef int prod_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return reduce_values(RED_PROD, x.dtype, x.p, out.p, a.i[0], a.i[1], a.i[2], a)

cdef int var_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return reduce_var(x.dtype, x.p, out.p, a.i[0], a.i[1], a.i[2], a.f[0], a)

cdef int max_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return reduce_values(RED_MAX, x.dtype, x.p, out.p, a.i[0], a.i[1], a.i[2], a)

cdef int min_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return reduce_values(RED_MIN, x.dtype, x.p, out.p, a.i[0], a.i[1], a.i[2], a)

cdef int argmax_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return reduce_extreme(RED_MAX_AT, x.dtype, x.p, NULL, out.p, out.dtype, a.i[0], a.i[1], a.i[2], a)

cdef int argmin_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return reduce_extreme(RED_MIN_AT, x.dtype, x.p, NULL, out.p, out.dtype, a.i[0], a.i[1], a.i[2], a)

cdef int max_with_indices_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return reduce_extreme(RED_MAX_AT, x.dtype, x.p, out[0].p, out[1].p, out[1].dtype, a.i[0], a.i[1], a.i[2], a)

cdef int min_with_indices_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return reduce_extreme(RED_MIN_AT, x.dtype, x.p, out[0].p, out[1].p, out[1].dtype, a.i[0], a.i[1], a.i[2], a)

cdef int any_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return reduce_flags(RED_ANY, x.dtype, x.p, out.p, a.i[0], a.i[1], a.i[2], a)

cdef int all_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return reduce_flags(RED_ALL, x.dtype, x.p, out.p, a.i[0], a.i[1], a.i[2], a)


cdef burn_row rows[192]
cdef burn_table _table

cdef int add_rows(int n, const char *name, burn_kernel fn, float cost, dtypes) except -1:
    """Rows of one op for these dtypes, from row n on; gives the number of rows so far."""
    for dtype in dtypes:
        rows[n] = burn_row(name=name, dtype=dtype, flags=0, cost=cost, fn=fn)
        n += 1
    return n

cdef int fill_table() except -1:
    floats = (DT_F64, DT_F32, DT_FLEX32, DT_F16, DT_BF16)
    numbers = floats + (DT_I64, DT_I32, DT_I16, DT_I8, DT_U64, DT_U32, DT_U16, DT_U8)
    everything = numbers + (DT_BOOL,)
    cdef int n = 0
    n = add_rows(n, b"sum", sum_fwd, 0.2, numbers)
    n = add_rows(n, b"mean", mean_fwd, 0.2, numbers)
    n = add_rows(n, b"prod", prod_fwd, 0.5, numbers)
    n = add_rows(n, b"var", var_fwd, 0.4, floats)
    n = add_rows(n, b"max", max_fwd, 0.2, numbers)
    n = add_rows(n, b"min", min_fwd, 0.2, numbers)
    n = add_rows(n, b"argmax", argmax_fwd, 0.2, numbers)
    n = add_rows(n, b"argmin", argmin_fwd, 0.2, numbers)
    n = add_rows(n, b"max_with_indices", max_with_indices_fwd, 0.2, numbers)
    n = add_rows(n, b"min_with_indices", min_with_indices_fwd, 0.2, numbers)
    n = add_rows(n, b"any", any_fwd, 0.2, everything)
    n = add_rows(n, b"all", all_fwd, 0.2, everything)
    _table.family = b"reduce"
    _table.level = LEVEL_NAME
    _table.n = n
    _table.rows = rows
    _table.init = rt_init
    return 0

fill_table()
table = PyCapsule_New(&_table, "burn.kernels", NULL)
