/* Launchers of the index family: ints = outer, n, inner, k (and the mode of a write). */
#pragma once
#include "device.h"

enum { INDEX_ASSIGN, INDEX_ADD, INDEX_MUL, INDEX_MIN, INDEX_MAX };
enum { INDEX_CHECK, INDEX_CLAIM, INDEX_WRITE, INDEX_ORDERED, INDEX_SORT, INDEX_SORTED, INDEX_WORDS }; /* places of kernels */

/* Up to here assignments, sums and products of floats run in the order of the positions, exactly as on the CPU; beyond,
   assignments still do (more scratch), and atomic sums of floats may differ in the last bits from run to run. */
#define INDEX_ORDERED_K 1024                   /* positions a thread compares its own with */
#define INDEX_ORDERED_WORK ((int64_t)1 << 28)
#define INDEX_SORTED_K 8192

typedef struct {
    const void *x, *idx;
    void *out;
    int64_t outer, n, inner, k, ticket;
    void *err;
    int32_t wide, mode;
} index_call;

static inline int64_t index_blocks(int64_t n, int each) { return (n + 256 * each - 1) / (256 * each); }
static inline index_call index_make(const burn_buf *out, const burn_buf *in, burn_args *a) {
    index_call c = {in[0].p, in[1].p, out->p, a->i[0], a->i[1], a->i[2], a->i[3], a->ticket, error_of(a),
                    in[1].dtype == DT_I64, 0};
    return c;
}
static int index_check(cuda_row *r, index_call *c, void *winner, int64_t count) {
    CUfunction f = kernel_of(r, INDEX_CHECK, "check");
    if (!f) return BURN_ERR_RAISED;
    void *params[] = {&winner, (void *)&c->idx, &c->outer, &c->n, &c->inner, &c->k, &c->wide, &c->err, &c->ticket};
    return launch(r, f, index_blocks(count, 4), 1, 256, 0, params);
}

static int launch_gather(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    index_call c = index_make(out, in, a);
    if (out->size == 0) return BURN_OK;
    CUfunction f = kernel_of(r, INDEX_WORDS, "");
    if (!f) return BURN_ERR_RAISED;
    void *params[] = {&c.out, (void *)&c.x, (void *)&c.idx, &c.outer, &c.n, &c.inner, &c.k, &c.wide, &c.err, &c.ticket};
    return launch(r, f, index_blocks(out->size, 4), 1, 256, 0, params);
}

/* Rows move in the widest words that they and both addresses are multiples of. */
static int launch_select(const burn_buf *out, const burn_buf *in, burn_args *a) {
    static const char *const WORDS[] = {"words1", "words2", "words4", "words8", "words16"};
    cuda_row *r = row_of(a);
    index_call c = index_make(out, in, a);
    if (c.k == 0) return BURN_OK;
    if (out->size == 0) return index_check(r, &c, NULL, c.k);
    int64_t bytes = c.inner * DT_SIZE[out->dtype];
    int log = __builtin_ctzll((uint64_t)bytes | (uint64_t)(uintptr_t)c.x | (uint64_t)(uintptr_t)c.out | 16);
    CUfunction f = kernel_of(r, INDEX_WORDS + log, WORDS[log]);
    if (!f) return BURN_ERR_RAISED;
    c.inner = bytes >> log;
    void *params[] = {&c.out, (void *)&c.x, (void *)&c.idx, &c.outer, &c.n, &c.inner, &c.k, &c.wide, &c.err, &c.ticket};
    return launch(r, f, index_blocks(c.outer * c.k * c.inner, 4), 1, 256, 0, params);
}

/* Positions sorted by index, then a block for each run of equal ones. */
static int index_sorted(cuda_row *r, index_call *c) {
    CUfunction sort = kernel_of(r, INDEX_SORT, "sort"), sorted = kernel_of(r, INDEX_SORTED, "sorted");
    if (!sort || !sorted) return BURN_ERR_RAISED;
    size_t bytes = (size_t)c->k * 4;
    void *order = scratch_take(r, bytes);
    if (!order) return BURN_ERR_RAISED;
    void *first[] = {&order, (void *)&c->idx, &c->k, &c->wide, &c->err, &c->ticket};
    int status = launch(r, sort, index_blocks(c->k * 32, 1), 1, 256, 0, first);
    if (status == BURN_OK) {
        void *then[] = {&c->out,   (void *)&c->x, (void *)&c->idx, &order,   &c->outer, &c->n,
                        &c->inner, &c->k,         &c->wide,        &c->mode, &c->err,   &c->ticket};
        status = launch(r, sorted, c->outer * c->k * ((c->inner + 255) / 256), 1, 256, 0, then);
    }
    scratch_give(r, order, bytes);
    return status;
}

static int index_write(const burn_buf *out, const burn_buf *in, burn_args *a, int shared) {
    cuda_row *r = row_of(a);
    index_call c = index_make(out, in, a);
    int64_t count = c.outer * c.k * c.inner, positions = shared ? c.k : count;
    int type = out->dtype, bools = type == DT_BOOL, floats = type <= DT_BF16, status = BURN_OK;
    c.mode = (int32_t)a->i[4];
    if (bools && c.mode == INDEX_ADD) c.mode = INDEX_MAX; /* or */
    if (bools && c.mode == INDEX_MUL) c.mode = INDEX_MIN; /* and */
    if (positions == 0) return BURN_OK;
    if (count == 0) return index_check(r, &c, NULL, positions);
    int by_order = c.k > 1 && (c.mode == INDEX_ASSIGN || (floats && (c.mode == INDEX_ADD || c.mode == INDEX_MUL)));
    int few = c.k <= INDEX_ORDERED_K && count <= INDEX_ORDERED_WORK / c.k;
    if (by_order && (shared ? c.k <= 64 || (few && count <= ((int64_t)1 << 24) / c.k) : few)) {
        CUfunction f = kernel_of(r, INDEX_ORDERED, "ordered");
        if (!f) return BURN_ERR_RAISED;
        void *params[] = {&c.out, (void *)&c.x, (void *)&c.idx, &c.outer, &c.n,   &c.inner,
                          &c.k,   &c.wide,      &c.mode,        &c.err,   &c.ticket};
        status = index_check(r, &c, NULL, positions);
        return status ? status : launch(r, f, index_blocks(count, 1), 1, 256, 0, params);
    }
    if (by_order && c.mode != INDEX_ASSIGN && shared && c.k <= INDEX_SORTED_K) {
        status = index_check(r, &c, NULL, positions);
        return status ? status : index_sorted(r, &c);
    }
    void *winner = NULL;
    size_t bytes = 0;
    CUfunction f = kernel_of(r, INDEX_WRITE, "write");
    if (!f) return BURN_ERR_RAISED;
    if (by_order && c.mode == INDEX_ASSIGN) {
        bytes = (size_t)(shared ? c.n : c.outer * c.n * c.inner) * 4;
        winner = scratch_take(r, bytes);
        if (!winner) return BURN_ERR_RAISED;
    }
    status = index_check(r, &c, winner, positions);
    if (status == BURN_OK && winner) {
        CUfunction claim = kernel_of(r, INDEX_CLAIM, "claim");
        void *params[] = {&winner, (void *)&c.idx, &c.outer, &c.n, &c.inner, &c.k, &c.wide, &c.err, &c.ticket};
        status = claim ? launch(r, claim, index_blocks(positions, 1), 1, 256, 0, params) : BURN_ERR_RAISED;
    }
    if (status == BURN_OK) {
        void *params[] = {&c.out, (void *)&c.x, (void *)&c.idx, &c.outer, &c.n,   &c.inner,
                          &c.k,   &winner,      &c.wide,        &c.mode,  &c.err, &c.ticket};
        status = launch(r, f, index_blocks(count, 4), 1, 256, 0, params);
    }
    if (winner) scratch_give(r, winner, bytes);
    return status;
}
static int launch_scatter(const burn_buf *out, const burn_buf *in, burn_args *a) { return index_write(out, in, a, 0); }
static int launch_select_assign(const burn_buf *out, const burn_buf *in, burn_args *a) { return index_write(out, in, a, 1); }

/* ints = outer, classes, inner, the number that is on and the one that is off; floats = the same two */
static int launch_one_hot(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    const int64_t outer = a->i[0], classes = a->i[1], inner = a->i[2], ticket = a->ticket;
    uint64_t on = 0, off = 0;
    void *err = error_of(a);
    if (out->size == 0) return BURN_OK;
    CUfunction f = kernel_of(r, 0, "");
    if (!f) return BURN_ERR_RAISED;
    scalar_store(out->dtype, a->f[0], a->i[3], &on);
    scalar_store(out->dtype, a->f[1], a->i[4], &off);
    void *params[] = {(void *)&out->p, (void *)&in->p, (void *)&outer, (void *)&classes, (void *)&inner, &on, &off, &err,
                      (void *)&ticket};
    return launch(r, f, index_blocks(out->size, 4), 1, 256, 0, params);
}

#define MASK_BLOCK 8192
typedef struct { int64_t place, axis, rank, dims[BURN_MAX_RANK]; } mask_axes; /* C twin of MaskAxes in cuda/index.cu */

static int launch_mask_counts(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    int64_t n = in->size;
    CUfunction f = kernel_of(r, 0, "");
    if (!f) return BURN_ERR_RAISED;
    void *params[] = {(void *)&out->p, (void *)&in->p, &n};
    return launch(r, f, (n + MASK_BLOCK - 1) / MASK_BLOCK, 1, 256, 0, params);
}

/* ints = steps from place to place and from axis to axis, rank, axes of the mask */
static int launch_mask_places(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    int64_t n = in[0].size;
    int32_t wide = out->dtype == DT_I64;
    mask_axes axes = {a->i[0], a->i[1], a->i[2], {0}};
    memcpy(axes.dims, a->i + 3, (size_t)axes.rank * sizeof *axes.dims);
    CUfunction f = kernel_of(r, 0, "");
    if (!f) return BURN_ERR_RAISED;
    void *params[] = {(void *)&out->p, (void *)&in[0].p, (void *)&in[1].p, &n, &wide, &axes};
    return launch(r, f, (n + MASK_BLOCK - 1) / MASK_BLOCK, 1, 256, 0, params);
}

static const cuda_launcher index_launchers[] = {
    {"mask_counts", launch_mask_counts, 0},
    {"mask_places", launch_mask_places, 0},
    {"one_hot", launch_one_hot, ROW_TICKET},
    {"gather", launch_gather, ROW_TICKET},
    {"select", launch_select, ROW_TICKET},
    {"scatter", launch_scatter, ROW_TICKET},
    {"select_assign", launch_select_assign, ROW_TICKET},
    {0},
};
