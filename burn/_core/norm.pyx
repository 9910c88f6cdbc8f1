# cython: language_level=3
"""Kernels of normalisation: of rows, of groups of channels, of the channels of a batch, of neighbouring channels; norms of
vectors and cosines between them.

The loops are in norm.h, norm_type.h and norm_vectors.h. Statistics and parameters come in f32 for half precision.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t
from burn._core.abi cimport *

cdef extern from "norm_vectors.h" nogil:
    enum:
        VEC_NORM, VEC_NORM_SLOPES, VEC_COSINE, VEC_SLOPES
    int vectors_run(int what, const burn_buf *out, const burn_buf *ins, burn_args *args, int64_t rows, int64_t n)

cdef extern from "norm.h" nogil:
    const char *LEVEL_NAME
    void rt_init(const burn_rt *services) noexcept
    int group_norm_run(const burn_buf *out, const burn_buf *ins, burn_args *args,
                       int64_t rows, int64_t groups, int64_t channels, int64_t spatial, int centred)
    int group_norm_bwd_run(const burn_buf *out, const burn_buf *ins, burn_args *args,
                           int64_t rows, int64_t groups, int64_t channels, int64_t spatial, int centred)
    int batch_norm_run(const burn_buf *out, const burn_buf *ins, burn_args *args,
                       int64_t outer, int64_t channels, int64_t inner)
    int batch_norm_train_run(const burn_buf *out, const burn_buf *ins, burn_args *args,
                             int64_t outer, int64_t channels, int64_t inner)
    int batch_norm_bwd_run(const burn_buf *out, const burn_buf *ins, burn_args *args,
                           int64_t outer, int64_t channels, int64_t inner, int train)
    int local_response_run(void *out, const void *x, const void *g, burn_args *args, int dtype,
                           int64_t outer, int64_t channels, int64_t inner, int64_t size)


# y_mean_scale = x, gamma, beta (the last two may be missing)
cdef int group_norm_fwd(const burn_buf *out, const burn_buf *x_gamma_beta, burn_args *a) noexcept nogil:
    return group_norm_run(out, x_gamma_beta, a, a.i[0], a.i[1], a.i[2], a.i[3], a.i[4])

# dx, dgamma, dbeta (the last two may be missing) from x, g, mean, scale, gamma (the last may be missing)
cdef int group_norm_bwd(const burn_buf *out, const burn_buf *x_g_mean_scale_gamma, burn_args *a) noexcept nogil:
    return group_norm_bwd_run(out, x_g_mean_scale_gamma, a, a.i[0], a.i[1], a.i[2], a.i[3], a.i[4])

cdef int batch_norm_fwd(const burn_buf *out, const burn_buf *x_gamma_beta_mean_variance, burn_args *a) noexcept nogil:
    return batch_norm_run(out, x_gamma_beta_mean_variance, a, a.i[0], a.i[1], a.i[2])

cdef int batch_norm_train_fwd(const burn_buf *out, const burn_buf *x_gamma_beta, burn_args *a) noexcept nogil:
    return batch_norm_train_run(out, x_gamma_beta, a, a.i[0], a.i[1], a.i[2])

cdef int batch_norm_bwd(const burn_buf *out, const burn_buf *x_g_mean_variance_gamma, burn_args *a) noexcept nogil:
    return batch_norm_bwd_run(out, x_g_mean_variance_gamma, a, a.i[0], a.i[1], a.i[2], a.i[3])

cdef int local_response_norm_fwd(const burn_buf *out, const burn_buf *x, burn_args *a) noexcept nogil:
    return local_response_run(out.p, x.p, NULL, a, x.dtype, a.i[0], a.i[1], a.i[2], a.i[3])

cdef int local_response_norm_bwd(const burn_buf *out, const burn_buf *x_g, burn_args *a) noexcept nogil:
    return local_response_run(out.p, x_g[0].p, x_g[1].p, a, x_g.dtype, a.i[0], a.i[1], a.i[2], a.i[3])

# norms of rows of x, or of x - y + shift, and their gradient by x; cosines of x_y, and their gradient by x from x_y_g
cdef int l2_norm_fwd(const burn_buf *out, const burn_buf *x_y, burn_args *a) noexcept nogil:
    return vectors_run(VEC_NORM, out, x_y, a, a.i[0], a.i[1])

cdef int l2_norm_bwd(const burn_buf *out, const burn_buf *x_g_norms_y, burn_args *a) noexcept nogil:
    return vectors_run(VEC_NORM_SLOPES, out, x_g_norms_y, a, a.i[0], a.i[1])

cdef int cosine_fwd(const burn_buf *out, const burn_buf *x_y, burn_args *a) noexcept nogil:
    return vectors_run(VEC_COSINE, out, x_y, a, a.i[0], a.i[1])

cdef int cosine_bwd(const burn_buf *out, const burn_buf *x_y_g, burn_args *a) noexcept nogil:
    return vectors_run(VEC_SLOPES, out, x_y_g, a, a.i[0], a.i[1])


cdef burn_row rows[64]
cdef burn_table _table

cdef int fill_table() except -1:
    cdef int n = 0
    for dtype in (DT_F64, DT_F32, DT_FLEX32, DT_F16, DT_BF16):
        rows[n] = burn_row(name=b"group_norm", dtype=dtype, flags=0, cost=0.8, fn=group_norm_fwd)
        rows[n + 1] = burn_row(name=b"group_norm_bwd", dtype=dtype, flags=0, cost=1.2, fn=group_norm_bwd)
        rows[n + 2] = burn_row(name=b"batch_norm", dtype=dtype, flags=0, cost=0.4, fn=batch_norm_fwd)
        rows[n + 3] = burn_row(name=b"batch_norm_train", dtype=dtype, flags=0, cost=0.8, fn=batch_norm_train_fwd)
        rows[n + 4] = burn_row(name=b"batch_norm_bwd", dtype=dtype, flags=0, cost=1.2, fn=batch_norm_bwd)
        rows[n + 5] = burn_row(name=b"local_response_norm", dtype=dtype, flags=0, cost=4.0, fn=local_response_norm_fwd)
        rows[n + 6] = burn_row(name=b"local_response_norm_bwd", dtype=dtype, flags=0, cost=8.0, fn=local_response_norm_bwd)
        rows[n + 7] = burn_row(name=b"l2_norm", dtype=dtype, flags=0, cost=0.3, fn=l2_norm_fwd)
        rows[n + 8] = burn_row(name=b"cosine_similarity", dtype=dtype, flags=0, cost=0.8, fn=cosine_fwd)
        rows[n + 9] = burn_row(name=b"cosine_similarity_bwd", dtype=dtype, flags=0, cost=1.2, fn=cosine_bwd)
        rows[n + 10] = burn_row(name=b"l2_norm_bwd", dtype=dtype, flags=0, cost=0.6, fn=l2_norm_bwd)
        n += 11
    _table.family = b"norm"
    _table.level = LEVEL_NAME
    _table.n = n
    _table.rows = rows
    _table.init = rt_init
    return 0

fill_table()
table = PyCapsule_New(&_table, "burn.kernels", NULL)
