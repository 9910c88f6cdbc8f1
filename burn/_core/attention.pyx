# cython: language_level=3
"""Kernels of attention. The loops are in attention.h and attention_type.h."""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t
from burn._core.abi cimport *

cdef extern from "attention.h" nogil:
    const char *gemm_level
    void attention_init(const burn_rt *services) noexcept
    int attention_run(const burn_buf *out, const burn_buf *ins, burn_args *args, int64_t causal, int64_t flags)
    int attention_bwd_run(const burn_buf *out, const burn_buf *ins, burn_args *args,
                          int64_t causal, int64_t flags, int64_t wants)


# out, totals = q, k, v, mask, bias (the last two may be missing: flags)
cdef int attention_fwd(const burn_buf *out, const burn_buf *q_k_v_mask_bias, burn_args *a) noexcept nogil:
    return attention_run(out, q_k_v_mask_bias, a, a.i[0], a.i[1])

# dq, dk, dv, dbias from the same inputs and y, totals, g
cdef int attention_bwd(const burn_buf *out, const burn_buf *q_k_v_mask_bias_y_totals_g, burn_args *a) noexcept nogil:
    return attention_bwd_run(out, q_k_v_mask_bias_y_totals_g, a, a.i[0], a.i[1], a.i[2])


cdef burn_row rows[16]
cdef burn_table _table

cdef int fill_table() except -1:
    cdef int n = 0
    cdef int flags = ROW_STRIDED | ROW_STRIDED_OUT
    for dtype in (DT_F64, DT_F32, DT_FLEX32, DT_F16, DT_BF16):
        rows[n] = burn_row(name=b"attention", dtype=dtype, flags=flags, cost=50.0, fn=attention_fwd)
        rows[n + 1] = burn_row(name=b"attention_bwd", dtype=dtype, flags=flags, cost=100.0, fn=attention_bwd)
        n += 2
    _table.family = b"attention"
    _table.level = gemm_level
    _table.n = n
    _table.rows = rows
    _table.init = attention_init
    return 0

fill_table()
table = PyCapsule_New(&_table, "burn.kernels", NULL)
