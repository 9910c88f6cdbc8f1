/* Pooling of planes, [planes, h, w], and adaptive averages of [planes, d, h, w]; forward and backward. The kernels of each
   dtype are in pool_type.h; here they are made and driven. One axis is a plane of height 1. */
#pragma once
#include "runtime.h"

#define POOL_WORK 16384     /* elements of a task */
#define AHEAD 512           /* elements between a read and what is fetched for later */

enum { POOL_MAX, POOL_AVG, POOL_PLACES, POOL_MAX_BWD, POOL_AVG_BWD };

/* The op's numbers, in their order: sizes of input and output, kernel, stride, padding on both sides, dilation, and
   whether an average counts the padding. */
typedef struct {
    int64_t planes, h, w, oh, ow, kh, kw, sh, sw, top, left, bottom, right, dh, dw, counted;
} pool_window;
typedef struct {
    int64_t planes, d, h, w, od, oh, ow;
} adaptive_shape;

typedef struct pool_type pool_type;
typedef struct {
    const pool_type *t;
    int op, failed, some_empty, place_dtype, pairs;
    pool_window win;
    const void *in;
    void *out;
    const void *places;
    int64_t cols;               /* of the input that any window covers */
    int64_t len, room, wide;    /* elements of a phase, of a row of the output and of the input, rounded up */
    int64_t ring;               /* rows of the input whose winners are kept */
    int64_t group, parts, rows; /* planes a task, or parts of a plane and rows a part */
    int64_t *taps, *count, *begin; /* a column of the kernel; an output column's divisor and its first column */
    size_t scratch;
} pool_job;
typedef struct {
    const pool_type *t;
    int backward, failed;
    adaptive_shape shape;
    const void *in;
    void *out;
    /* windows along the last axis, and along the one before it: of the output in a forward pass, of the input in a backward
       one, where also how many elements each window of the output has (`wide`, `high`) */
    int64_t *begin, *end, *top, *bottom, *wide, *high;
    int64_t group, tasks;
    size_t scratch;
} adaptive_job;

struct pool_type {
    int lanes, native;
    void (*rows[5])(pool_job *j, int64_t plane, int64_t first, int64_t last, void *room);
    void (*adaptive[2])(const adaptive_job *j, int64_t plane, int64_t i, void *room);
};

/* cells along an axis of a window that starts at `start`: those an average divides by */
VINL int64_t pool_count(int64_t size, int64_t start, int64_t kernel, int64_t after, int64_t counted) {
    if (counted) return i64_min(start + kernel, size + after) - start;
    return i64_max(1, i64_min(start + kernel, size) - i64_max(start, 0));
}
VINL int64_t adaptive_start(int64_t o, int64_t in, int64_t out) { return o * in / out; }
VINL int64_t adaptive_end(int64_t o, int64_t in, int64_t out) { return ceil_div((o + 1) * in, out); }
VINL int64_t rounded(int64_t n, int64_t to) { return ceil_div(n, to) * to; }

#define BODY "pool_type.h"
#include "each_float.h"

static const pool_type *const POOL_TYPES[DT_COUNT] = {
    [DT_F64] = &pool_f64, [DT_F32] = &pool_f32, [DT_FLEX32] = &pool_f32, [DT_F16] = &pool_f16, [DT_BF16] = &pool_bf16,
};

static void pool_task(void *ctx, int64_t i) {
    pool_job *j = ctx;
    const int64_t rows = j->op >= POOL_MAX_BWD ? j->win.h : j->win.oh;
    void *room = rt->alloc(j->scratch);
    if (!room) {
        j->failed = 2; /* every writer writes the same */
        return;
    }
    if (j->parts > 1) {
        int64_t first = i % j->parts * j->rows;
        j->t->rows[j->op](j, i / j->parts, first, i64_min(rows, first + j->rows), room);
    } else {
        for (int64_t p = i * j->group; p < i64_min(j->win.planes, (i + 1) * j->group); p++)
            j->t->rows[j->op](j, p, 0, rows, room);
    }
    rt->free(room, j->scratch);
}

/* The first wrong place; a plane's own number of cells bounds it. */
static int pool_wrong_place(const pool_job *j, burn_args *a) {
    const int64_t cells = j->win.h * j->win.w, n = j->win.planes * j->win.oh * j->win.ow;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = j->place_dtype == DT_I32 ? ((const int32_t *)j->places)[i] : ((const int64_t *)j->places)[i];
        if (at >= -1 && at < cells) continue;
        a->err[0] = i;
        a->err[1] = at;
        a->err[2] = cells;
        return BURN_ERR_INDEX;
    }
    return BURN_OK;
}

static int pool_run(int op, int dtype, const void *in, void *out, const void *places, int place_dtype, const int64_t *ints,
                    burn_args *a) {
    pool_job j = {.t = POOL_TYPES[dtype], .op = op, .in = in, .out = out, .places = places, .place_dtype = place_dtype};
    memcpy(&j.win, ints, sizeof j.win);
    const pool_window *w = &j.win;
    const int back = op >= POOL_MAX_BWD, lanes = j.t->lanes;
    const int64_t extent = (w->kw - 1) * w->dw + 1, shift = (w->kw - 1) * w->dw / w->sw;
    if (w->planes * (back ? w->h * w->w : w->oh * w->ow) == 0) return BURN_OK;
    j.cols = i64_min(w->w, (w->ow - 1) * w->sw + extent - w->left);
    j.pairs = w->kh == 2 && w->kw == 2 && w->sw == 2 && w->dw == 1 && w->left == 0 && 2 * w->ow <= w->w;
    j.room = rounded(w->ow, lanes);
    j.wide = rounded(w->w, lanes) + lanes;
    j.len = rounded(i64_max(j.room + shift + 1, (w->left + w->w) / w->sw + 1), lanes) + lanes;
    j.ring = (w->kh - 1) * w->dh + 1;
    const size_t table = (size_t)(w->kw + 2 * w->ow) * sizeof(int64_t);
    const int64_t wide_enough = w->sw * j.len + 2 * (j.len + lanes) + j.wide + 4 * j.room + w->kh;
    j.scratch = (size_t)wide_enough * 8;
    if (op == POOL_PLACES) j.scratch += (size_t)(j.ring * (2 * j.room + 1)) * 8;
    if (op == POOL_MAX_BWD) j.scratch = (size_t)(j.t->native ? 1 : w->h * w->w) * 4;
    j.taps = rt->alloc(table);
    if (!j.taps) return rt_no_memory(a, (int64_t)table);
    j.count = j.taps + w->kw;
    j.begin = j.count + w->ow;
    for (int64_t k = 0; k < w->kw; k++) j.taps[k] = k * w->dw % w->sw * j.len + k * w->dw / w->sw;
    for (int64_t c = 0; c < w->ow; c++) {
        int64_t start = c * w->sw - w->left, first = start < 0 ? start + ceil_div(-start, w->dw) * w->dw : start;
        j.begin[c] = first < w->w && first < start + extent ? first : -1;
        j.some_empty |= j.begin[c] < 0;
        j.count[c] = pool_count(w->w, start, w->kw, w->right, w->counted);
    }
    /* cut by shape alone: planes together, or one in parts */
    const int64_t rows = back ? w->h : w->oh, row = i64_max(w->w, w->ow) * (back ? 1 : i64_max(1, w->sh));
    j.rows = i64_max(i64_max(1, w->kh / w->sh), POOL_WORK / row);
    j.parts = op == POOL_MAX_BWD || j.rows >= rows ? 1 : ceil_div(rows, j.rows);
    j.group = i64_max(1, POOL_WORK / (rows * row));
    const double ns = (double)(w->planes * (w->h * w->w + w->oh * w->ow)) * (dtype == DT_F64 ? 0.8 : 0.4);
    rt_tasks(pool_task, &j, j.parts > 1 ? w->planes * j.parts : ceil_div(w->planes, j.group), ns);
    rt->free(j.taps, table);
    if (j.failed == 2) return rt_no_memory(a, (int64_t)j.scratch);
    return j.failed ? pool_wrong_place(&j, a) : BURN_OK;
}

static void adaptive_task(void *ctx, int64_t i) {
    adaptive_job *j = ctx;
    const int64_t deep = j->backward ? j->shape.d : j->shape.od;
    void *room = rt->alloc(j->scratch);
    if (!room) {
        j->failed = 1;
        return;
    }
    for (int64_t k = i * j->group; k < i64_min(j->tasks, (i + 1) * j->group); k++)
        j->t->adaptive[j->backward](j, k / deep, k % deep, room);
    rt->free(room, j->scratch);
}

static int adaptive_run(int backward, int dtype, const void *in, void *out, const int64_t *ints, burn_args *a) {
    adaptive_job j = {.t = POOL_TYPES[dtype], .backward = backward, .in = in, .out = out};
    memcpy(&j.shape, ints, sizeof j.shape);
    const adaptive_shape *s = &j.shape;
    const int64_t n = backward ? s->w : s->ow, of = backward ? s->ow : s->w, deep = backward ? s->d : s->od;
    const int64_t volume = s->d * s->h * s->w, small = s->od * s->oh * s->ow;
    const int64_t m = backward ? s->h : s->oh, rows = backward ? s->oh : s->h;
    const size_t table = (size_t)(2 * (n + m) + s->ow + s->oh) * sizeof(int64_t);
    j.tasks = s->planes * deep;
    if (j.tasks * (backward ? volume : small) == 0) return BURN_OK;
    j.begin = rt->alloc(table);
    if (!j.begin) return rt_no_memory(a, (int64_t)table);
    j.end = j.begin + n, j.top = j.end + n, j.bottom = j.top + m, j.wide = j.bottom + m, j.high = j.wide + s->ow;
    for (int64_t c = 0; c < n; c++) j.begin[c] = adaptive_start(c, of, n), j.end[c] = adaptive_end(c, of, n);
    for (int64_t c = 0; c < m; c++) j.top[c] = adaptive_start(c, rows, m), j.bottom[c] = adaptive_end(c, rows, m);
    for (int64_t c = 0; c < s->ow; c++) j.wide[c] = adaptive_end(c, s->w, s->ow) - adaptive_start(c, s->w, s->ow);
    for (int64_t c = 0; c < s->oh; c++) j.high[c] = adaptive_end(c, s->h, s->oh) - adaptive_start(c, s->h, s->oh);
    j.scratch = (size_t)(rounded(of, j.t->lanes) + j.t->lanes) * 8;
    j.group = i64_max(1, POOL_WORK / i64_max(1, (volume + small) / deep));
    rt_tasks(adaptive_task, &j, ceil_div(j.tasks, j.group), (double)(s->planes * (volume + small)) * 0.4);
    rt->free(j.begin, table);
    return j.failed ? rt_no_memory(a, (int64_t)j.scratch) : BURN_OK;
}
