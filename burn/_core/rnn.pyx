# cython: language_level=3
"""Kernels of recurrent layers. The loops are in rnn.h and rnn_type.h."""
from cpython.pycapsule cimport PyCapsule_New
from burn._core.abi cimport *

cdef extern from "rnn.h" nogil:
    enum:
        RNN_PLAIN, RNN_GRU, RNN_GRU_BEFORE
    const char *gemm_level
    void rnn_init(const burn_rt *services) noexcept
    int rnn_forward(int cell, const burn_buf *out, const burn_buf *ins, burn_args *a)
    int rnn_backward(int cell, const burn_buf *out, const burn_buf *ins, burn_args *a)
    int rnn_lstm(const burn_buf *out, const burn_buf *ins, burn_args *a, int whole)
    int rnn_lstm_backward(const burn_buf *out, const burn_buf *ins, burn_args *a)


cdef int rnn(const burn_buf *out, const burn_buf *g_h0_weight, burn_args *a) noexcept nogil:
    return rnn_forward(RNN_PLAIN, out, g_h0_weight, a)

cdef int lstm(const burn_buf *out, const burn_buf *g_h0_c0_weights, burn_args *a) noexcept nogil:
    return rnn_lstm(out, g_h0_c0_weights, a, 0)

cdef int lstm_whole(const burn_buf *out, const burn_buf *x_h0_c0_weights_bias, burn_args *a) noexcept nogil:
    return rnn_lstm(out, x_h0_c0_weights_bias, a, 1)

cdef int gru(const burn_buf *out, const burn_buf *g_h0_weights_bias, burn_args *a) noexcept nogil:
    return rnn_forward(RNN_GRU, out, g_h0_weights_bias, a)

cdef int gru_before(const burn_buf *out, const burn_buf *g_h0_weights, burn_args *a) noexcept nogil:
    return rnn_forward(RNN_GRU_BEFORE, out, g_h0_weights, a)

cdef int rnn_bwd(const burn_buf *out, const burn_buf *saved_grad_weight, burn_args *a) noexcept nogil:
    return rnn_backward(RNN_PLAIN, out, saved_grad_weight, a)

cdef int lstm_bwd(const burn_buf *out, const burn_buf *saved_grad_cells_c0_weights, burn_args *a) noexcept nogil:
    return rnn_lstm_backward(out, saved_grad_cells_c0_weights, a)

cdef int gru_bwd(const burn_buf *out, const burn_buf *saved_grad_own_y_h0_weights, burn_args *a) noexcept nogil:
    return rnn_backward(RNN_GRU, out, saved_grad_own_y_h0_weights, a)

cdef int gru_before_bwd(const burn_buf *out, const burn_buf *saved_grad_y_h0_weights, burn_args *a) noexcept nogil:
    return rnn_backward(RNN_GRU_BEFORE, out, saved_grad_y_h0_weights, a)


cdef burn_row rows[27]
cdef burn_table _table

cdef int fill_table() except -1:
    cdef int n = 0
    for dtype in (DT_F64, DT_F32, DT_FLEX32):
        # Nanoseconds an output element, for some hundred products each.
        rows[n] = burn_row(name=b"rnn", dtype=dtype, flags=0, cost=20, fn=rnn)
        rows[n + 1] = burn_row(name=b"lstm", dtype=dtype, flags=0, cost=60, fn=lstm)
        rows[n + 2] = burn_row(name=b"gru", dtype=dtype, flags=0, cost=50, fn=gru)
        rows[n + 3] = burn_row(name=b"gru_before", dtype=dtype, flags=0, cost=50, fn=gru_before)
        rows[n + 4] = burn_row(name=b"rnn_bwd", dtype=dtype, flags=0, cost=20, fn=rnn_bwd)
        rows[n + 5] = burn_row(name=b"lstm_bwd", dtype=dtype, flags=0, cost=20, fn=lstm_bwd)
        rows[n + 6] = burn_row(name=b"gru_bwd", dtype=dtype, flags=0, cost=20, fn=gru_bwd)
        rows[n + 7] = burn_row(name=b"gru_before_bwd", dtype=dtype, flags=0, cost=20, fn=gru_before_bwd)
        rows[n + 8] = burn_row(name=b"lstm_whole", dtype=dtype, flags=0, cost=80, fn=lstm_whole)
        n += 9
    _table.family = b"rnn"
    _table.level = gemm_level
    _table.n = n
    _table.rows = rows
    _table.init = rnn_init
    return 0

fill_table()
table = PyCapsule_New(&_table, "burn.kernels", NULL)
