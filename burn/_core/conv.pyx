# cython: language_level=3
"""Kernels of convolutions and their gradients, of `unfold4d` and `fold4d`, and of deformable convolutions.

The adapters name the buffers; conv_plan.h chooses the algorithm, the other conv_*.h compute.
"""
from cpython.pycapsule cimport PyCapsule_New
from burn._core.abi cimport *

cdef extern from "conv.h" nogil:
    enum conv_kind:
        CONV_UNFOLD, CONV_FOLD, CONV_DEFORM, CONV_DEFORM_X, CONV_DEFORM_OFFSET
    const char *LEVEL_NAME
    void conv_init(const burn_rt *services) noexcept
    int conv_forward(const burn_buf *out, const burn_buf *x, const burn_buf *weight, burn_args *a, int transposed)
    int conv_weight(const burn_buf *out, const burn_buf *x, const burn_buf *grad, burn_args *a)
    int conv_by_columns(conv_kind kind, const burn_buf *out, const burn_buf *inp, burn_args *a)


cdef int conv(const burn_buf *out, const burn_buf *x_weight_bias, burn_args *a) noexcept nogil:
    return conv_forward(out, x_weight_bias, x_weight_bias + 1, a, 0)

cdef int conv_transpose(const burn_buf *out, const burn_buf *x_weight_bias, burn_args *a) noexcept nogil:
    return conv_forward(out, x_weight_bias, x_weight_bias + 1, a, 1)

cdef int conv_weight_bwd(const burn_buf *out, const burn_buf *x_grad, burn_args *a) noexcept nogil:
    return conv_weight(out, x_grad, x_grad + 1, a)

cdef int unfold4d(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return conv_by_columns(CONV_UNFOLD, out, x, a)

cdef int fold4d(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return conv_by_columns(CONV_FOLD, out, x, a)

cdef int deform(const burn_buf *out, const burn_buf *x_offset_mask, burn_args *a) noexcept nogil:
    return conv_by_columns(CONV_DEFORM, out, x_offset_mask, a)

cdef int deform_x_bwd(const burn_buf *out, const burn_buf *grad_offset_mask, burn_args *a) noexcept nogil:
    return conv_by_columns(CONV_DEFORM_X, out, grad_offset_mask, a)

cdef int deform_offset_bwd(const burn_buf *out, const burn_buf *grad_x_offset_mask, burn_args *a) noexcept nogil:
    return conv_by_columns(CONV_DEFORM_OFFSET, out, grad_x_offset_mask, a)


cdef burn_row rows[40]
cdef burn_table _table

cdef int fill_table() except -1:
    cdef int n = 0
    for dtype in (DT_F64, DT_F32, DT_FLEX32, DT_F16, DT_BF16):
        # Nanoseconds an output element, for some hundred products each.
        rows[n] = burn_row(name=b"conv", dtype=dtype, flags=0, cost=10, fn=conv)
        rows[n + 1] = burn_row(name=b"conv_transpose", dtype=dtype, flags=0, cost=10, fn=conv_transpose)
        rows[n + 2] = burn_row(name=b"conv_weight_bwd", dtype=dtype, flags=0, cost=50, fn=conv_weight_bwd)
        rows[n + 3] = burn_row(name=b"unfold4d", dtype=dtype, flags=0, cost=1, fn=unfold4d)
        rows[n + 4] = burn_row(name=b"fold4d", dtype=dtype, flags=0, cost=1, fn=fold4d)
        rows[n + 5] = burn_row(name=b"deform", dtype=dtype, flags=0, cost=5, fn=deform)
        rows[n + 6] = burn_row(name=b"deform_x_bwd", dtype=dtype, flags=0, cost=5, fn=deform_x_bwd)
        rows[n + 7] = burn_row(name=b"deform_offset_bwd", dtype=dtype, flags=0, cost=5, fn=deform_offset_bwd)
        n += 8
    _table.family = b"conv"
    _table.level = LEVEL_NAME
    _table.n = n
    _table.rows = rows
    _table.init = conv_init
    return 0

fill_table()
table = PyCapsule_New(&_table, "burn.kernels", NULL)
