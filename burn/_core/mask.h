/* Where a mask is true, in two steps: the true elements of each block are counted, and with the sums of the counts up to
   each block all blocks write their positions at once. */
#pragma once
#include "runtime.h"

#define MASK_BLOCK 8192 /* elements; cuda/index.cu has it too */

typedef struct {
    const char *mask;    /* bytes; any but 0 is true */
    int64_t *counts;     /* of the first step */
    const int64_t *ends; /* of the second: positions up to and including a block */
    void *out;
    int64_t n, place, axis, dims[BURN_MAX_RANK]; /* steps of out from place to place and from axis to axis */
    int wide, rank;
} mask_job;

/* the top bit of each byte of w that is not 0 */
VINL uint64_t mask_bits(uint64_t w) {
    const uint64_t low = 0x7f7f7f7f7f7f7f7full;
    return (((w & low) + low) | w) & ~low;
}

static void mask_count_task(void *ctx, int64_t block) {
    const mask_job *j = ctx;
    int64_t i = block * MASK_BLOCK, end = i64_min(i + MASK_BLOCK, j->n), count = 0;
    for (; i + 8 <= end; i += 8) {
        uint64_t w;
        memcpy(&w, j->mask + i, 8);
        count += __builtin_popcountll(mask_bits(w));
    }
    for (; i < end; i++) count += j->mask[i] != 0;
    j->counts[block] = count;
}

/* the true places of a block, counted from its start; at has room for one more */
static int64_t mask_collect(const mask_job *j, int64_t first, int32_t *at) {
    int64_t n = i64_min(MASK_BLOCK, j->n - first), i = 0, c = 0;
    const char *m = j->mask + first;
    for (; i + 8 <= n; i += 8) {
        uint64_t w;
        memcpy(&w, m + i, 8);
        if (!w) continue;
        for (int k = 0; k < 8; k++) {
            at[c] = (int32_t)(i + k);
            c += m[i + k] != 0;
        }
    }
    for (; i < n; i++) {
        at[c] = (int32_t)i;
        c += m[i] != 0;
    }
    return c;
}

/* T is the type of out */
#define MASK_WRITE(T) { \
    T *out = (T *)j->out + to * j->place; \
    for (int64_t i = 0; i < count; i++, out += j->place) { \
        int64_t p = at[i]; \
        if (p - start >= cols) { \
            for (; p - start >= cols; row++) start += cols; \
            mask_row(j, row, outer); \
        } \
        for (int k = 0; k < last; k++) out[k * j->axis] = (T)outer[k]; \
        out[last * j->axis] = (T)(p - start); \
    } }
VINL void mask_row(const mask_job *j, int64_t row, int64_t *outer) {
    for (int k = j->rank - 2; k > 0; k--) {
        outer[k] = row % j->dims[k];
        row /= j->dims[k];
    }
    outer[0] = row;
}
static void mask_place_task(void *ctx, int64_t block) {
    const mask_job *j = ctx;
    int32_t at[MASK_BLOCK + 1];
    int64_t first = block * MASK_BLOCK, to = block ? j->ends[block - 1] : 0, count = mask_collect(j, first, at);
    int last = j->rank - 1;
    int64_t cols = j->dims[last], row = first / cols, start = row * cols - first, outer[BURN_MAX_RANK];
    if (count == 0) return;
    mask_row(j, row, outer);
    if (j->wide) MASK_WRITE(int64_t) else MASK_WRITE(int32_t)
}

static int mask_run(mask_job *j, void (*task)(void *, int64_t), double ns) {
    rt_tasks(task, j, ceil_div(j->n, MASK_BLOCK), (double)j->n * ns);
    return BURN_OK;
}
static int mask_counts(const char *mask, int64_t *out, int64_t n) {
    mask_job j = {.mask = mask, .counts = out, .n = n};
    return mask_run(&j, mask_count_task, 0.1);
}
/* dims: the axes of the mask */
static int mask_places(const char *mask, const int64_t *ends, void *out, int wide, int64_t n, int64_t place, int64_t axis,
                       int64_t rank, const int64_t *dims) {
    mask_job j = {.mask = mask, .ends = ends, .out = out, .n = n, .place = place, .axis = axis, .wide = wide, .rank = (int)rank};
    memcpy(j.dims, dims, (size_t)rank * sizeof *dims);
    return mask_run(&j, mask_place_task, 1.0);
}
