# cython: language_level=3
"""Kernels that draw random numbers: counter-based, so that seed and offset alone decide.

The generator and the rules are in random.h.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t
from burn._core.abi cimport *

cdef extern from "random.h" nogil:
    const char *LEVEL_NAME
    void rt_init(const burn_rt *services) noexcept
    int uniform(int dtype, void *out, int64_t n, double low, double high, int64_t seed, int64_t offset)
    int normal(int dtype, void *out, int64_t n, double mean, double std, int64_t seed, int64_t offset)
    int bernoulli(int dtype, void *out, int64_t n, double p, int64_t seed, int64_t offset)


cdef int uniform_fwd(const burn_buf *out, const burn_buf *none, burn_args *a) noexcept nogil:
    return uniform(out.dtype, out.p, out.size, a.f[0], a.f[1], a.i[0], a.i[1])

cdef int normal_fwd(const burn_buf *out, const burn_buf *none, burn_args *a) noexcept nogil:
    return normal(out.dtype, out.p, out.size, a.f[0], a.f[1], a.i[0], a.i[1])

cdef int bernoulli_fwd(const burn_buf *out, const burn_buf *none, burn_args *a) noexcept nogil:
    return bernoulli(out.dtype, out.p, out.size, a.f[0], a.i[0], a.i[1])


cdef burn_row rows[40]
cdef burn_table _table

cdef int fill_table() except -1:
    floats = (DT_F64, DT_F32, DT_FLEX32, DT_F16, DT_BF16)
    ints = (DT_I64, DT_I32, DT_I16, DT_I8, DT_U64, DT_U32, DT_U16, DT_U8)
    cdef int n = 0
    for dtype in floats:
        rows[n] = burn_row(name=b"normal", dtype=dtype, flags=0, cost=3.0, fn=normal_fwd)
        n += 1
    for dtype in floats + ints:
        rows[n] = burn_row(name=b"uniform", dtype=dtype, flags=0, cost=1.0, fn=uniform_fwd)
        n += 1
    for dtype in floats + ints + (DT_BOOL,):
        rows[n] = burn_row(name=b"bernoulli", dtype=dtype, flags=0, cost=1.0, fn=bernoulli_fwd)
        n += 1
    _table.family = b"random"
    _table.level = LEVEL_NAME
    _table.n = n
    _table.rows = rows
    _table.init = rt_init
    return 0

fill_table()
table = PyCapsule_New(&_table, "burn.kernels", NULL)
