"""Cython face of abi.h."""
from libc.stdint cimport int32_t, int64_t

cdef extern from "abi.h" nogil:
    enum:
        DT_F64, DT_F32, DT_FLEX32, DT_F16, DT_BF16, DT_I64, DT_I32, DT_I16, DT_I8, DT_U64, DT_U32, DT_U16, DT_U8, DT_BOOL
        DT_BOOL_U8, DT_BOOL_U32, DT_COUNT
        BURN_MAX_RANK
        BURN_OK, BURN_ERR_INDEX, BURN_ERR_ZERO_DIV, BURN_ERR_MEMORY, BURN_ERR_SHIFT, BURN_ERR_RAISED
        BURN_ERR_STRIDES
        ROW_STRIDED, ROW_STRIDED_OUT, ROW_HOST, ROW_TICKET, ROW_TARGET
    ctypedef struct burn_buf:
        void *p
        const int64_t *shape
        const int64_t *strides
        int64_t size
        int32_t ndim
        int32_t dtype
        int32_t host
    ctypedef struct burn_row
    ctypedef struct burn_args:
        const int64_t *i
        const double *f
        int32_t n_in
        int32_t n_out
        int64_t err[3]
        const burn_row *row
        int64_t ticket
    ctypedef int (*burn_kernel)(const burn_buf *out, const burn_buf *inp, burn_args *a) noexcept nogil
    ctypedef struct burn_rt:
        void (*run)(void (*body)(void *, int64_t) noexcept nogil, void *, int64_t) noexcept nogil
        int (*threads)() noexcept nogil
        void *(*alloc)(size_t) noexcept nogil
        void (*free)(void *, size_t) noexcept nogil
    ctypedef struct burn_row:
        const char *name
        int32_t dtype
        int32_t flags
        float cost
        burn_kernel fn
    ctypedef struct burn_table:
        const char *family
        const char *level
        int32_t n
        const burn_row *rows
        int32_t stride
        void (*init)(const burn_rt *) noexcept
    ctypedef struct burn_memory:
        void *(*alloc)(int, size_t) noexcept nogil
        void (*free)(int, void *, size_t) noexcept nogil
        int (*upload)(int, void *, const void *, size_t) noexcept nogil
        int (*download)(int, void *, const void *, size_t) noexcept nogil
        int (*copy)(int, void *, int, const void *, size_t) noexcept nogil
        size_t (*trim)(int) noexcept nogil
        int (*check)(int) noexcept nogil
        int (*sync)(int) noexcept nogil
