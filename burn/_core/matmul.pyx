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
        int64_t wanted
    int gemm_run(gemm_call *call, int dtype)
    void gemm_init(const burn_rt *rt) noexcept
    const char *gemm_level


cdef inline void strides_of(const burn_buf *x, int64_t *strides) noexcept nogil:
    """The strides of `x`, 0 along axes of size 1 so that those broadcast."""
    cdef int64_t step = 1
    cdef int axis
    for axis in range(x.ndim - 1, -1, -1):
        strides[axis] = 0 if x.shape[axis] == 1 else x.strides[axis] if x.strides else step
        step *= x.shape[axis]


cdef inline void fold_batch(const burn_buf *out, const int64_t *sa, const int64_t *sb, gemm_call *call) noexcept nogil:
    """Merge batch axes that both operands step through evenly; rows that share one `b` become one product."""
    cdef int axis, last = 0
    cdef int64_t size
    call.batch = 1
    for axis in range(out.ndim - 2):
        size = out.shape[axis]
        call.batch *= size
        if size == 1:
            continue
        if last and call.sa[last - 1] == sa[axis] * size and call.sb[last - 1] == sb[axis] * size:
            last -= 1
            size *= call.shape[last]
        call.shape[last] = size
        call.sa[last] = sa[axis]
        call.sb[last] = sb[axis]
        last += 1
    if last and call.sb[last - 1] == 0 and (call.m == 1 or call.sa[last - 1] == call.rsa * call.m):
        last -= 1
        size = call.shape[last]
        if call.m == 1:
            call.rsa = call.sa[last]
        call.m *= size
        call.batch //= size
    call.axes = last


cdef int matmul(const burn_buf *out, const burn_buf *inp, burn_args *args) noexcept nogil:
    """out[..., m, n] = in[0][..., m, k] @ in[1][..., k, n] (+ in[2][n]) (ReLU where i[0] is 1)."""
    cdef gemm_call call
    cdef int64_t sa[BURN_MAX_RANK]
    cdef int64_t sb[BURN_MAX_RANK]
    cdef int row = out.ndim - 2, col = out.ndim - 1, status
    if out.size == 0:
        return BURN_OK
    call.m = out.shape[row]
    call.n = out.shape[col]
    call.k = inp[0].shape[col]
    call.a = inp[0].p
    call.b = inp[1].p
    call.c = out.p
    call.act = args.i[0] == 1
    call.bias = NULL
    if args.n_in > 2:
        call.bias = inp[2].p
        call.bias_stride = inp[2].strides[0] if inp[2].strides else 1
    strides_of(&inp[0], sa)
    strides_of(&inp[1], sb)
    call.rsa, call.csa, call.rsb, call.csb = sa[row], sa[col], sb[row], sb[col]
    fold_batch(out, sa, sb, &call)
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
    if status:
        args.err[0] = call.wanted
    return status


cdef burn_row rows[9]
cdef burn_table _table

cdef int fill_table() except -1:
    cdef int n = 0
    # Nanoseconds an output element, for inner sizes of about a hundred.
    for dtype, cost in ((DT_F32, 3), (DT_FLEX32, 3), (DT_F64, 6), (DT_F16, 4), (DT_BF16, 4), (DT_I32, 6), (DT_I64, 20),
                        (DT_U32, 6), (DT_U64, 20)):
        rows[n] = burn_row(name=b"matmul", dtype=dtype, flags=ROW_STRIDED, cost=cost, fn=matmul)
        n += 1
    _table.family = b"matmul"
    _table.level = gemm_level
    _table.n = n
    _table.rows = rows
    _table.init = gemm_init
    return 0

fill_table()
table = PyCapsule_New(&_table, "burn.kernels", NULL)
