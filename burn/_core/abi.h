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
    int32_t host;      /* p is host memory that holds one value, although the device has memory of its own (ROW_HOST) */
} burn_buf;

struct burn_row;

/* Attributes of the op, in the order its record declares them, and room for what a kernel found wrong in the values. */
typedef struct {
    const int64_t *i;
    const double *f;
    int32_t n_in;
    int32_t n_out;
    int64_t err[3];
    const struct burn_row *row; /* the row that is called */
    int64_t ticket;             /* names this call in an error that shows later (ROW_TICKET) */
} burn_args;

/* What a kernel returns. */
enum {
    BURN_OK = 0,
    BURN_ERR_INDEX = 1,     /* err = {flat position in the index tensor, value found, size of the axis} */
    BURN_ERR_ZERO_DIV = 2,  /* err = {flat position, 0, 0} */
    BURN_ERR_MEMORY = 3,    /* scratch memory could not be had: err = {bytes, 0, 0} */
    BURN_ERR_SHIFT = 4,     /* negative shift amount: err = {flat position, value, 0} */
    BURN_ERR_RAISED = 5,    /* the kernel's module has left an exception with the core (set_pending) */
    BURN_ERR_STRIDES = 6    /* these strides do not fit the kernel: call again with contiguous inputs */
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
    ROW_STRIDED_OUT = 2,    /* also writes to strided outputs; without it the core copies there */
    ROW_HOST = 4,           /* takes single values in host memory (burn_buf.host) */
    ROW_TARGET = 16,        /* writes into the values of an output, or of a last input of the output's shape, contiguous */
    ROW_TICKET = 8          /* runs later than the call and may find wrong values then: it reports them with the ticket */
};

typedef struct burn_row {
    const char *name;  /* op name, with _bwd for a backward kernel */
    int32_t dtype;     /* of the first input; of the output where there is no input */
    int32_t flags;
    float cost;        /* nanoseconds an output element on one core, for the choice to release the GIL */
    burn_kernel fn;
} burn_row;

/* Memory of a device that the host cannot reach, handed over in a capsule named "burn.memory". What returns int gives
   BURN_OK or BURN_ERR_RAISED; alloc gives NULL with an exception left with the core. dev is the device's slot. */
typedef struct {
    void *(*alloc)(int dev, size_t bytes);
    void (*free)(int dev, void *p, size_t bytes);
    int (*upload)(int dev, void *to, const void *from, size_t bytes);   /* on return, from may change */
    int (*download)(int dev, void *to, const void *from, size_t bytes); /* on return, to is filled and all work is checked */
    int (*copy)(int to_dev, void *to, int from_dev, const void *from, size_t bytes); /* between devices of this memory */
    size_t (*trim)(int dev);                                            /* gives back what is kept for reuse: bytes */
    int (*check)(int dev);                                              /* whether the device takes work; does not wait */
    int (*sync)(int dev);                                               /* on return, all work is done and checked */
} burn_memory;

/* One a family, handed over in a capsule named "burn.kernels". */
typedef struct {
    const char *family;
    const char *level; /* "v2", "v3", "v4" or "portable" */
    int32_t n;
    const burn_row *rows;
    int32_t stride;    /* bytes from row to row where a backend keeps more in them; 0: sizeof(burn_row) */
    void (*init)(const burn_rt *rt);
} burn_table;
