# cython: language_level=3
"""Matrix products: `matmul` for floats, half floats and integers of 32 and 64 bits.

The adapter turns shapes and strides into one description; gemm.h computes. Mirrors `float_matmul` and `int_matmul` of
Burn's backend ops.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t
from burn._core.abi cimport *

cdef extern from "gemm.h" nogil:
    ctypedef struct gemm_call:
        int64_t m, n, k
        const void *a
        const void *b
        const void *bias
        void *c
        int64_t rsa, csa, rsb, csb, bias_stride, batch
        int64_t shape[BURN_MAX_RANK]
        int64_t sa[BURN_MAX_RANK]
        int64_t sb[BURN_MAX_RANK]
        int32_t axes, act
        void *sums
        int32_t summed
        int64_t wanted
    int gemm_columns(const void *b, int64_t rsb, int64_t csb, int64_t k, int64_t n, void *sums, int dtype, int64_t *wanted)
    int gemm_run(gemm_call *call, int dtype)
    void gemm_init(const burn_rt *rt) noexcept
    const char *gemm_level

cdef extern from "matmul_fold.h" nogil:
    ctypedef struct matmul_dims:
        int64_t m, n, k, rsa, csa, rsb, csb, batch
        int64_t shape[BURN_MAX_RANK]
        int64_t sa[BURN_MAX_RANK]
        int64_t sb[BURN_MAX_RANK]
        int32_t axes
    void matmul_fold(const burn_buf *out, const burn_buf *inp, matmul_dims *d)


cdef int product(const burn_buf *out, const burn_buf *inp, burn_args *args, void *sums, int *summed) noexcept nogil:
    """The product, and sums down the columns of in[1] where sums is not NULL and they cost nothing more."""
    cdef gemm_call call
    cdef matmul_dims d
    cdef int row, status
    matmul_fold(out, inp, &d)
    call.m, call.n, call.k, call.batch, call.axes = d.m, d.n, d.k, d.batch, d.axes
    call.rsa, call.csa, call.rsb, call.csb = d.rsa, d.csa, d.rsb, d.csb
    for row in range(d.axes):
        call.shape[row], call.sa[row], call.sb[row] = d.shape[row], d.sa[row], d.sb[row]
    call.a = inp[0].p
    call.b = inp[1].p
    call.c = out.p
    call.act = args.i[0] == 1
    call.sums = sums
    call.bias = NULL
    if args.n_in > 2:
        call.bias = inp[2].p
        call.bias_stride = inp[2].strides[0] if inp[2].strides else 1
    # An axis of size 1 has no stride of its own: let it look contiguous.
    if call.k == 1:
        call.csa = 1
    if call.n == 1:
        if call.m > 1:
            # A column is a row of the transposed product: c' = b' a'.
            call.a, call.b = call.b, call.a
            call.rsa, call.csa, call.rsb, call.csb = call.csb, call.rsb, call.csa, call.rsa
            call.m, call.n = 1, call.m
            call.bias_stride = 0
            for row in range(call.axes):
                call.sa[row], call.sb[row] = call.sb[row], call.sa[row]
        elif call.rsb != 1:
            call.csb = 1
    status = gemm_run(&call, inp[0].dtype)
    summed[0] = call.summed
    if status:
        args.err[0] = call.wanted
    return status


cdef int matmul(const burn_buf *out, const burn_buf *inp, burn_args *args) noexcept nogil:
    """out[..., m, n] = in[0][..., m, k] @ in[1][..., k, n] (+ in[2][n]) (ReLU where i[0] is 1)."""
    cdef int summed = 0
    return product(out, inp, args, NULL, &summed) if out.size else BURN_OK


cdef int linear_bwd(const burn_buf *out, const burn_buf *inp, burn_args *args) noexcept nogil:
    """out[0][m, n] = in[0][m, k] @ in[1][k, n], and out[1][n] the sums over k of in[1]."""
    cdef int summed = 0, status = BURN_OK
    cdef const burn_buf *b = &inp[1]
    if out.size:
        status = product(out, inp, args, out[1].p, &summed)
    if status == BURN_OK and not summed and out[1].size:
        status = gemm_columns(b.p, b.strides[0] if b.strides else b.shape[1], b.strides[1] if b.strides else 1, b.shape[0],
                              b.shape[1], out[1].p, b.dtype, &args.err[0])
    return status


cdef burn_row rows[12]
cdef burn_table _table

cdef int fill_table() except -1:
    cdef int n = 0
    # Nanoseconds an output element, for inner sizes of about a hundred.
    for dtype, cost in ((DT_F32, 3), (DT_FLEX32, 3), (DT_F64, 6), (DT_F16, 4), (DT_BF16, 4), (DT_I32, 6), (DT_I64, 20),
                        (DT_U32, 6), (DT_U64, 20)):
        rows[n] = burn_row(name=b"matmul", dtype=dtype, flags=ROW_STRIDED, cost=cost, fn=matmul)
        n += 1
    for dtype, cost in ((DT_F32, 3), (DT_FLEX32, 3), (DT_F64, 6)):
        rows[n] = burn_row(name=b"linear_bwd", dtype=dtype, flags=ROW_STRIDED, cost=cost, fn=linear_bwd)
        n += 1
    _table.family = b"matmul"
    _table.level = gemm_level
    _table.n = n
    _table.rows = rows
    _table.init = gemm_init
    return 0

fill_table()
table = PyCapsule_New(&_table, "burn.kernels", NULL)
