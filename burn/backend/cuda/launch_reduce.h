/* Launchers of the reductions: x is [outer, n, inner], ints = outer, n, inner. How the work is spread follows from the
   shape alone, so results are the same on every GPU. */
#pragma once
#include "device.h"

#define RED_SPLIT_ROWS 512      /* fewer results than this (or tiles of results), and long axes are cut into pieces */
#define RED_SPLIT_BYTES 65536   /* what is smaller than this is not cut */

/* the C twin of Split in cuda/reduce.cu */
typedef struct {
    int32_t lanes, lines, tiles, pieces, vector, unused;
    int64_t length;
    void *part;
    unsigned *counters;
} red_split;

static inline int64_t red_ceil(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int red_pow2(int64_t n, int most) { /* the least power of two that is not below n, at most `most` */
    int p = 1;
    while (p < n && p < most) p *= 2;
    return p;
}
/* Pieces of a length that is a multiple of `step`; at most `most` of them. */
static void red_pieces(red_split *s, int64_t n, int64_t most, int64_t step) {
    int64_t pieces = n / step < most ? n / step : most;
    if (pieces < 2) return;
    s->length = red_ceil(red_ceil(n, pieces), step) * step;
    s->pieces = (int32_t)red_ceil(n, s->length);
}

/* Rows: a few lanes of a warp for short ones, a block for long ones or where there are few. */
static int64_t red_rows(red_split *s, const void *x, int size, int64_t outer, int64_t n) {
    const int vector = 16 / size, unroll = size < 4 ? size : 4;
    s->vector = n % vector == 0 && ((uintptr_t)x & 15) == 0;
    int64_t units = s->vector ? n / vector : n;
    s->lanes = red_pow2(units, 32);
    if (units >= 1024 || (units >= 128 && outer < 2048)) s->lanes = 256;
    if (s->lanes < 256) return red_ceil(outer, 256 / s->lanes);
    if (outer <= RED_SPLIT_ROWS && n * size >= RED_SPLIT_BYTES) red_pieces(s, n, 2048 / outer, 256 * vector * unroll);
    return outer * s->pieces;
}

/* Columns: lanes along inner, lines down n while each still has rows enough or the GPU would stay empty. */
static int64_t red_cols(red_split *s, const void *x, int size, int64_t outer, int64_t n, int64_t inner, int most) {
    const int columns = size >= 4 ? 16 / size : 4;
    s->vector = inner % columns == 0 && (uintptr_t)x % (unsigned)(columns * size) == 0;
    int64_t units = red_ceil(inner, columns);
    s->lanes = red_pow2(units, units % 64 == 0 || units >= 512 ? 64 : 32);
    while (s->lanes * s->lines < 256 && s->lines * 2 <= n &&
           (n >= s->lines * 16 || outer * units * s->lines < 131072))
        s->lines *= 2;
    s->tiles = (int32_t)red_ceil(units, s->lanes);
    int64_t groups = red_ceil(outer, 256 / (s->lanes * s->lines)) * s->tiles;
    if (s->lanes * s->lines == 256 && groups <= RED_SPLIT_ROWS && n * inner * size >= RED_SPLIT_BYTES)
        red_pieces(s, n, most / groups, s->lines * 8);
    return groups * s->pieces;
}

/* params: what comes before the sizes, and after them at most one number; the sizes and the split are put in here. most:
   blocks over columns where long axes are cut; few finish together, many suit ops that wait for arithmetic. */
static int red_launch(const burn_buf *x, burn_args *a, void **before, int n_before, void *after, int most) {
    cuda_row *r = row_of(a);
    int64_t outer = a->i[0], n = a->i[1], inner = a->i[2], blocks;
    red_split s = {.lanes = 1, .lines = 1, .tiles = 1, .pieces = 1, .length = n};
    void *params[8];
    int at = 0, size = DT_SIZE[x->dtype], rows = inner == 1;
    size_t bytes = 0;
    if (outer * inner == 0) return BURN_OK;
    blocks = rows ? red_rows(&s, x->p, size, outer, n) : red_cols(&s, x->p, size, outer, n, inner, most);
    CUfunction f = rows ? kernel_of(r, 0, "rows") : kernel_of(r, 1, "cols");
    if (!f) return BURN_ERR_RAISED;
    if (s.pieces > 1) {
        bytes = (size_t)(outer * s.pieces * inner) * 32; /* no running result is larger */
        s.part = scratch_take(r, bytes);
        if (!s.part) return BURN_ERR_RAISED;
        s.counters = counters_of(r);
    }
    for (; at < n_before; at++) params[at] = before[at];
    params[at++] = &outer;
    params[at++] = &n;
    params[at++] = &inner;
    if (after) params[at++] = after;
    params[at] = &s;
    int status = launch(r, f, (unsigned)blocks, 1, 256, 0, params);
    if (s.part) scratch_give(r, s.part, bytes);
    return status;
}

static int launch_reduce(const burn_buf *out, const burn_buf *x, burn_args *a) {
    void *before[] = {(void *)&out->p, (void *)&x->p};
    return red_launch(x, a, before, 2, NULL, 512);
}
static int launch_var(const burn_buf *out, const burn_buf *x, burn_args *a) {
    void *before[] = {(void *)&out->p, (void *)&x->p};
    double correction = a->f[0];
    return red_launch(x, a, before, 2, &correction, 512);
}
/* An empty axis has no extreme: the caller has refused it. */
static int launch_extreme(const burn_buf *out, const burn_buf *x, burn_args *a) {
    return a->i[1] ? launch_reduce(out, x, a) : BURN_OK;
}
static int launch_place(const burn_buf *out, const burn_buf *x, burn_args *a) {
    void *before[] = {(void *)&out->p, (void *)&x->p};
    int32_t at_dtype = out->dtype;
    return a->i[1] ? red_launch(x, a, before, 2, &at_dtype, 2048) : BURN_OK;
}
static int launch_value_and_place(const burn_buf *out, const burn_buf *x, burn_args *a) {
    void *before[] = {(void *)&out[0].p, (void *)&out[1].p, (void *)&x->p};
    int32_t at_dtype = out[1].dtype;
    return a->i[1] ? red_launch(x, a, before, 3, &at_dtype, 2048) : BURN_OK;
}

static const cuda_launcher reduce_launchers[] = {
    {"var", launch_var, 0},
    {"max", launch_extreme, 0},
    {"min", launch_extreme, 0},
    {"argmax", launch_place, 0},
    {"argmin", launch_place, 0},
    {"max_with_indices", launch_value_and_place, 0},
    {"min_with_indices", launch_value_and_place, 0},
    {NULL, launch_reduce, 0},
    {0},
};
