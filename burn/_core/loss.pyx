# cython: language_level=3
"""Kernels of the losses of sequences. The recursions are in loss_ctc.h and loss_rnnt.h, the rows of each dtype in loss_type.h."""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t
from burn._core.abi cimport *

cdef extern from "loss.h" nogil:
    const char *LEVEL_NAME
    void rt_init(const burn_rt *services) noexcept
    int ctc_forward(const burn_buf *out, const burn_buf *ins, burn_args *args, int64_t blank)
    int ctc_backward(const burn_buf *out, const burn_buf *ins, burn_args *args, int64_t blank)
    int rnnt_forward(const burn_buf *out, const burn_buf *ins, burn_args *args, int64_t blank, int64_t logits)
    int rnnt_backward(const burn_buf *out, const burn_buf *ins, burn_args *args, int64_t blank, int64_t logits)


# loss, alphas (these may be missing)
cdef int ctc_loss_fwd(const burn_buf *out, const burn_buf *x_targets_steps_counts, burn_args *a) noexcept nogil:
    return ctc_forward(out, x_targets_steps_counts, a, a.i[0])

cdef int ctc_loss_bwd(const burn_buf *out, const burn_buf *x_targets_steps_counts_alphas_g, burn_args *a) noexcept nogil:
    return ctc_backward(out, x_targets_steps_counts_alphas_g, a, a.i[0])

# loss, what the gradient needs
cdef int rnnt_loss_fwd(const burn_buf *out, const burn_buf *x_targets_steps_counts, burn_args *a) noexcept nogil:
    return rnnt_forward(out, x_targets_steps_counts, a, a.i[0], a.i[1])

cdef int rnnt_loss_bwd(const burn_buf *out, const burn_buf *x_targets_steps_counts_kept_g, burn_args *a) noexcept nogil:
    return rnnt_backward(out, x_targets_steps_counts_kept_g, a, a.i[0], a.i[1])


cdef burn_row rows[24]
cdef burn_table _table

cdef int fill_table() except -1:
    cdef int n = 0
    for dtype in (DT_F64, DT_F32, DT_FLEX32, DT_F16, DT_BF16):
        rows[n] = burn_row(name=b"ctc_loss", dtype=dtype, flags=0, cost=5.0, fn=ctc_loss_fwd)
        rows[n + 1] = burn_row(name=b"ctc_loss_bwd", dtype=dtype, flags=0, cost=10.0, fn=ctc_loss_bwd)
        rows[n + 2] = burn_row(name=b"rnnt_loss", dtype=dtype, flags=0, cost=1.0, fn=rnnt_loss_fwd)
        rows[n + 3] = burn_row(name=b"rnnt_loss_bwd", dtype=dtype, flags=0, cost=2.0, fn=rnnt_loss_bwd)
        n += 4
    _table.family = b"loss"
    _table.level = LEVEL_NAME
    _table.n = n
    _table.rows = rows
    _table.init = rt_init
    return 0

fill_table()
table = PyCapsule_New(&_table, "burn.kernels", NULL)
