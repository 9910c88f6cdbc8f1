/* What the core and the kernel modules agree on. A kernel sees plain buffers only: no Python, no checks of shape or dtype,
   no allocation of results. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Same order as burn.tensor.dtype.DType: the core, the kernels and Python index tables by it. */
enum { DT_F64, DT_F32, DT_FLEX32, DT_F16, DT_BF16, DT_I64, DT_I32, DT_I16, DT_I8, DT_U64, DT_U32, DT_U16, DT_U8, DT_BOOL,
       DT_BOOL_U8, DT_BOOL_U32, DT_COUNT };

#define BURN_MAX_RANK 8

/* A buffer as a kernel sees it. strides are in elements; NULL means row-major contiguous. A scalar operand has size 1. */
typedef struct {
    void *p;
    const int64_t *shape;
    const int64_t *strides;
    int64_t size;
    int32_t ndim;
    int32_t dtype;
} burn_buf;

/* Attributes of the op, in the order its record declares them, and room for what a kernel found wrong in the values. */
typedef struct {
    const int64_t *i;
    const double *f;
    int32_t n_in;
    int32_t n_out;
    int64_t err[3];
} burn_args;

/* What a kernel returns. */
enum {
    BURN_OK = 0,
    BURN_ERR_INDEX = 1,     /* err = {flat position in the index tensor, value found, size of the axis} */
    BURN_ERR_ZERO_DIV = 2,  /* err = {flat position, 0, 0} */
    BURN_ERR_MEMORY = 3,    /* scratch memory could not be had: err = {bytes, 0, 0} */
    BURN_ERR_SHIFT = 4      /* negative shift amount: err = {flat position, value, 0} */
};

typedef int (*burn_kernel)(const burn_buf *out, const burn_buf *in, burn_args *a);

/* Services of the core: the one thread pool and the caching allocator. */
typedef struct {
    void (*run)(void (*body)(void *ctx, int64_t i), void *ctx, int64_t n); /* body(ctx, 0..n-1), each once, in any order */
    int (*threads)(void);                                                  /* threads that run() would use now */
    void *(*alloc)(size_t bytes);                                          /* 64-byte aligned, NULL when out of memory */
    void (*free)(void *p, size_t bytes);
} burn_rt;

enum {
    ROW_STRIDED = 1,        /* takes strided inputs; without it the core makes inputs contiguous first */
    ROW_STRIDED_OUT = 2     /* also writes to a strided output (copy, fill) */
};

typedef struct {
    const char *name;  /* op name, with _bwd for a backward kernel */
    int32_t dtype;     /* of the first input; of the output where there is no input */
    int32_t flags;
    float cost;        /* nanoseconds an output element on one core, for the choice to release the GIL */
    burn_kernel fn;
} burn_row;

/* One a family, handed over in a capsule named "burn.kernels". */
typedef struct {
    const char *family;
    const char *level; /* "v2", "v3", "v4" or "portable" */
    int32_t n;
    const burn_row *rows;
    void (*init)(const burn_rt *rt);
} burn_table;
