# cython: language_level=3
"""Kernels of losses: of rows with a class (loss_classes.h), of sequences (loss_ctc.h, loss_rnnt.h). Loops over elements of each
dtype are in loss_type.h."""
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

    int nll_forward(const burn_buf *out, const burn_buf *ins, burn_args *args, int64_t padded, int64_t pad, double smoothing)
    int nll_backward(const burn_buf *out, const burn_buf *ins, burn_args *args, int64_t padded, int64_t pad, double smoothing)
    int entropy_forward(const burn_buf *out, const burn_buf *ins, burn_args *args, int64_t padded, int64_t pad, double smoothing)
    int entropy_backward(const burn_buf *out, const burn_buf *ins, burn_args *args, int64_t padded, int64_t pad,
                         double smoothing)
    int margin_forward(const burn_buf *out, const burn_buf *ins, burn_args *args, int64_t p, double margin)
    int margin_backward(const burn_buf *out, const burn_buf *ins, burn_args *args, int64_t p, double margin)


# loss, counts (these may be missing, as may the weights)
cdef int nll_fwd(const burn_buf *out, const burn_buf *x_targets_weights, burn_args *a) noexcept nogil:
    return nll_forward(out, x_targets_weights, a, a.i[0], a.i[1], a.f[0])

cdef int nll_bwd(const burn_buf *dx, const burn_buf *g_targets_weights, burn_args *a) noexcept nogil:
    return nll_backward(dx, g_targets_weights, a, a.i[0], a.i[1], a.f[0])

# loss, logarithms of the rows' sums, counts (these may be missing, as may the weights)
cdef int cross_entropy_fwd(const burn_buf *out, const burn_buf *x_targets_weights, burn_args *a) noexcept nogil:
    return entropy_forward(out, x_targets_weights, a, a.i[0], a.i[1], a.f[0])

cdef int cross_entropy_bwd(const burn_buf *dx, const burn_buf *x_targets_sums_g_weights, burn_args *a) noexcept nogil:
    return entropy_backward(dx, x_targets_sums_g_weights, a, a.i[0], a.i[1], a.f[0])

cdef int multi_margin_fwd(const burn_buf *out, const burn_buf *x_targets, burn_args *a) noexcept nogil:
    return margin_forward(out, x_targets, a, a.i[0], a.f[0])

cdef int multi_margin_bwd(const burn_buf *dx, const burn_buf *x_targets_g, burn_args *a) noexcept nogil:
    return margin_backward(dx, x_targets_g, a, a.i[0], a.f[0])

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


cdef burn_row rows[50]
cdef burn_table _table

cdef int fill_table() except -1:
    cdef int n = 0
    for dtype in (DT_F64, DT_F32, DT_FLEX32, DT_F16, DT_BF16):
        rows[n] = burn_row(name=b"ctc_loss", dtype=dtype, flags=0, cost=5.0, fn=ctc_loss_fwd)
        rows[n + 1] = burn_row(name=b"ctc_loss_bwd", dtype=dtype, flags=0, cost=10.0, fn=ctc_loss_bwd)
        rows[n + 2] = burn_row(name=b"rnnt_loss", dtype=dtype, flags=0, cost=1.0, fn=rnnt_loss_fwd)
        rows[n + 3] = burn_row(name=b"rnnt_loss_bwd", dtype=dtype, flags=0, cost=2.0, fn=rnnt_loss_bwd)
        rows[n + 4] = burn_row(name=b"nll_loss", dtype=dtype, flags=0, cost=0.2, fn=nll_fwd)
        rows[n + 5] = burn_row(name=b"nll_loss_bwd", dtype=dtype, flags=0, cost=0.3, fn=nll_bwd)
        rows[n + 6] = burn_row(name=b"multi_margin_loss", dtype=dtype, flags=0, cost=0.3, fn=multi_margin_fwd)
        rows[n + 7] = burn_row(name=b"multi_margin_loss_bwd", dtype=dtype, flags=0, cost=0.4, fn=multi_margin_bwd)
        rows[n + 8] = burn_row(name=b"cross_entropy", dtype=dtype, flags=0, cost=1.0, fn=cross_entropy_fwd)
        rows[n + 9] = burn_row(name=b"cross_entropy_bwd", dtype=dtype, flags=0, cost=1.0, fn=cross_entropy_bwd)
        n += 10
    _table.family = b"loss"
    _table.level = LEVEL_NAME
    _table.n = n
    _table.rows = rows
    _table.init = rt_init
    return 0

fill_table()
table = PyCapsule_New(&_table, "burn.kernels", NULL)
