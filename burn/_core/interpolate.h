/* Planes resampled along both axes, forward and backward. Each axis has a table: the places and weights that make an element
   of the result; that of the gradient is the same table turned round, so one kernel does both. The kernels of each dtype are
   in interpolate_type.h; here tables are made and the kernels driven. */
#pragma once
#include "runtime.h"

#define RESAMPLE_WORK 32768     /* elements of a task */
#define RESAMPLE_AHEAD 512      /* elements of the output fetched ahead: stores by themselves keep few lines under way */

enum { NEAREST, NEAREST_EXACT, BILINEAR, BICUBIC, LANCZOS3 };
static const int AXIS_TAPS[] = {1, 1, 2, 4, 6};

/* Element o of the result is the sum over t of weight[o * taps + t] times element at[o * taps + t]. */
typedef struct {
    int64_t n, taps, span;      /* elements, at most `taps` places each, which lie within `span` neighbours */
    int64_t *at;
    double *weight;
    int64_t empty;              /* how many elements have no place; theirs are 0 */
    unsigned char *none;
    size_t bytes;
    char *memory;
} resample_axis;

typedef struct resample_type resample_type;
typedef struct {
    const resample_type *t;
    const void *in;
    void *out;
    int64_t planes, h, w;       /* of the input */
    resample_axis y, x;
    int64_t room;               /* elements of a row of the result, whole vectors */
    int64_t parts, rows, group; /* parts of a plane and rows a part, or planes a task */
    /* for each vector of a row and tap: where it reads, which of those elements, and their weights */
    int64_t *base;
    void *pick, *weight;
    int vectors;                /* read for one vector of a row: 1 or 2; 0: element by element */
    int shared;                 /* whether all taps of a vector of a row are picked from the same ones */
    int whole, stream, failed;  /* whole: the only weight is 1 */
    size_t scratch;
} resample_job;
struct resample_type {
    int size, lanes, native;
    void (*plan)(resample_job *j);
    void (*rows)(const resample_job *j, int64_t plane, int64_t first, int64_t last, void *room);
};

VINL double cubic_weight(double d) {
    const double a = -0.75;
    d = fabs(d);
    if (d < 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}
VINL double lanczos_weight(double d) {
    const double pi = 3.14159265358979323846;
    d = fabs(d);
    if (d < 1e-12) return 1;
    return d < 3 ? sin(pi * d) / (pi * d) * (sin(pi * d / 3) / (pi * d / 3)) : 0;
}

static int axis_alloc(resample_axis *a, int64_t n, int64_t taps) {
    a->n = n;
    a->taps = taps;
    a->bytes = (size_t)(n * taps * 16 + n + 64);
    a->memory = rt->alloc(a->bytes);
    if (!a->memory) return 0;
    a->at = (int64_t *)a->memory;
    a->weight = (double *)(a->at + n * taps);
    a->none = (unsigned char *)(a->weight + n * taps);
    memset(a->none, 0, (size_t)n);
    a->empty = 0;
    return 1;
}
static void axis_free(resample_axis *a) {
    if (a->memory) rt->free(a->memory, a->bytes);
    a->memory = NULL;
}
static void axis_span(resample_axis *a) {
    a->span = 1;
    for (int64_t o = 0; o < a->n; o++) {
        int64_t low = a->at[o * a->taps], high = low;
        for (int64_t t = 1; t < a->taps; t++) {
            low = i64_min(low, a->at[o * a->taps + t]);
            high = i64_max(high, a->at[o * a->taps + t]);
        }
        a->span = i64_max(a->span, high - low + 1);
    }
}

/* from `in` elements to `out`. Coordinates are in double whatever the dtype, and come from the sizes alone. */
static int axis_make(resample_axis *a, int64_t in, int64_t out, int mode, int aligned) {
    const int taps = AXIS_TAPS[mode];
    if (!axis_alloc(a, out, taps)) return 0;
    for (int64_t o = 0; o < out; o++) {
        int64_t *at = a->at + o * taps;
        double *weight = a->weight + o * taps, sum = 0;
        if (mode <= NEAREST_EXACT) {
            at[0] = i64_min(mode == NEAREST ? o * in / out : (2 * o + 1) * in / (2 * out), in - 1);
            weight[0] = 1;
            continue;
        }
        double place = aligned ? (double)o * ((double)(in - 1) / (double)i64_max(out - 1, 1))
                               : ((double)o + 0.5) * ((double)in / (double)out) - 0.5;
        int64_t low = (int64_t)floor(place), first = low - (taps / 2 - 1);
        double rest = place - (double)low;
        for (int t = 0; t < taps; t++) {
            int64_t k = first + t;
            double w;
            if (mode == BILINEAR) w = t ? rest : 1 - rest;
            else if (mode == BICUBIC) w = cubic_weight(place - (double)k);
            else w = k < 0 || k >= in ? 0 : lanczos_weight(place - (double)k);
            at[t] = i64_min(i64_max(k, 0), in - 1);
            weight[t] = w;
            sum += w;
        }
        for (int t = 0; t < taps && mode == LANCZOS3; t++) weight[t] /= sum; /* what lies outside is left out */
    }
    axis_span(a);
    return 1;
}

/* the same map backward: `from` elements of its result make `to` of its input */
static int axis_turn(resample_axis *a, const resample_axis *of, int64_t to) {
    int64_t most = 1, *count = rt->alloc((size_t)(2 * to) * 8), *last = count + to;
    if (!count) return 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass && !axis_alloc(a, to, most)) {
            rt->free(count, (size_t)(2 * to) * 8);
            return 0;
        }
        for (int64_t r = 0; r < to; r++) count[r] = 0, last[r] = -1;
        for (int64_t o = 0; o < of->n; o++) {
            for (int64_t t = 0; t < of->taps; t++) {
                int64_t r = of->at[o * of->taps + t];
                double w = of->weight[o * of->taps + t];
                if (w == 0) continue;
                if (last[r] != o) count[r]++, last[r] = o; /* several taps of o at one place are one */
                else w += pass ? a->weight[r * most + count[r] - 1] : 0;
                if (pass) a->at[r * most + count[r] - 1] = o, a->weight[r * most + count[r] - 1] = w;
                else most = i64_max(most, count[r]);
            }
        }
    }
    for (int64_t r = 0; r < to; r++) {
        a->none[r] = count[r] == 0;
        a->empty += count[r] == 0;
        /* the last place again, so that no other value is read; it shares its weight, as 0 times infinity would be NaN */
        for (int64_t t = count[r]; t < most; t++) {
            const int64_t i = r * most + t;
            a->at[i] = t ? a->at[i - 1] : 0;
            a->weight[i] = t ? a->weight[i - 1] /= 2 : 0;
        }
    }
    rt->free(count, (size_t)(2 * to) * 8);
    axis_span(a);
    return 1;
}

#define BODY "interpolate_type.h"
#include "each_float.h"

static const resample_type *const RESAMPLE_TYPES[DT_COUNT] = {
    [DT_F64] = &resample_f64, [DT_F32] = &resample_f32,   [DT_FLEX32] = &resample_f32,
    [DT_F16] = &resample_f16, [DT_BF16] = &resample_bf16,
};

static void resample_task(void *ctx, int64_t i) {
    resample_job *j = ctx;
    void *room = rt->alloc(j->scratch);
    if (!room) {
        j->failed = 1; /* every writer writes the same */
        return;
    }
    if (j->parts > 1) {
        int64_t first = i % j->parts * j->rows;
        j->t->rows(j, i / j->parts, first, i64_min(j->y.n, first + j->rows), room);
    } else {
        for (int64_t p = i * j->group; p < i64_min(j->planes, (i + 1) * j->group); p++) j->t->rows(j, p, 0, j->y.n, room);
    }
    rt->free(room, j->scratch);
}

/* whether every element is a copy of one */
static int axis_whole(const resample_axis *a) {
    for (int64_t o = 0; o < a->n; o++)
        if (a->taps != 1 || a->weight[o] != 1 || a->none[o]) return 0;
    return 1;
}

static int resample_all(resample_job *j, burn_args *a) {
    const int lanes = j->t->lanes;
    const int64_t row = j->w + j->x.n;
    j->room = ceil_div(j->x.n, lanes) * lanes;
    const int64_t cells = j->room * j->x.taps;
    const size_t bytes = (size_t)(cells * 16 + cells / lanes * 8);
    char *memory = rt->alloc(bytes);
    if (!memory) return rt_no_memory(a, (int64_t)bytes);
    j->pick = memory;
    j->weight = memory + cells * 8;
    j->base = (int64_t *)(memory + cells * 16);
    j->whole = axis_whole(&j->x);
    j->t->plan(j);
    j->stream = j->t->native && !j->x.empty && j->x.n * j->t->size % 64 == 0 &&
                can_stream(j->out, j->planes * j->y.n * j->x.n * j->t->size);
    j->scratch = (size_t)(j->y.span * (j->room + 1) + 2 * j->y.taps + j->w + 4 * lanes) * 8 + 64;
    j->rows = i64_max(8 * j->y.taps, RESAMPLE_WORK / i64_max(j->x.n, 1));
    j->parts = j->rows >= j->y.n ? 1 : ceil_div(j->y.n, j->rows);
    j->group = i64_max(1, RESAMPLE_WORK / (j->y.n * j->x.n));
    const double ns = (double)(j->planes * j->y.n) * (double)row * 0.1 * (double)(j->x.taps + j->y.taps);
    rt_tasks(resample_task, j, j->parts > 1 ? j->planes * j->parts : ceil_div(j->planes, j->group), ns);
    rt->free(memory, bytes);
    return j->failed ? rt_no_memory(a, (int64_t)j->scratch) : BURN_OK;
}

/* ints: planes, size of the small picture's plane, size of the result's, mode, whether the corners coincide */
static int interpolate_run(int backward, int dtype, const void *in, void *out, const int64_t *ints, burn_args *a) {
    const int64_t h = ints[1], w = ints[2], oh = ints[3], ow = ints[4];
    const int mode = (int)ints[5], aligned = (int)ints[6];
    resample_job j = {.t = RESAMPLE_TYPES[dtype], .in = in, .out = out, .planes = ints[0]};
    resample_axis y = {0}, x = {0};
    int status = BURN_OK;
    if (ints[0] * h * w == 0 || (!backward && oh * ow == 0)) return BURN_OK;
    j.h = backward ? oh : h;
    j.w = backward ? ow : w;
    if (!axis_make(&y, h, oh, mode, aligned) || !axis_make(&x, w, ow, mode, aligned))
        status = rt_no_memory(a, (int64_t)(y.bytes + x.bytes));
    if (!status && backward) {
        if (!axis_turn(&j.y, &y, h) || !axis_turn(&j.x, &x, w))
            status = rt_no_memory(a, 16 * (h + w) + (int64_t)(j.y.bytes + j.x.bytes));
    } else if (!status) {
        j.y = y, j.x = x;
    }
    if (!status) status = resample_all(&j, a);
    axis_free(&y);
    axis_free(&x);
    if (backward) axis_free(&j.y), axis_free(&j.x);
    return status;
}
