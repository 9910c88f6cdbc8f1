/* Normalisation: rows or groups of rows (layer, group, instance, rms), channels of a batch, neighbouring channels. The
   kernels of each dtype are in norm_type.h; here they are made and driven. gamma, beta and statistics come in the type that
   is computed in.

   A row is [channels, spatial], of `rows` that lie in `groups` in turn: a layer's row has one group and spatial 1. A batch is
   [outer, channels, inner]. Where inner is short it is seen as columns of [outer, channels * inner], else as runs. */
#pragma once
#include "runtime.h"
#include "vmath.h"
#include "vmath_wide.h"

#define ROW_PARTS 32    /* most pieces of rows, each with sums for gamma and beta of its own */
#define PIECE 32768     /* elements that are worth a task */
#define CHUNK 2048      /* elements that are added up in the type itself; what they come to, in double */
#define FIRST 32        /* elements whose mean the squares of a chunk run around */
#define BLOCK 16        /* rows of a tile of columns that lie in L1 */
#define TILE 256        /* columns of a tile */
/* of moments: WIDE columns of FEW rows are read as they lie, which a processor foresees if it has room for their sums in L1 */
#if BURN_LEVEL >= 4
enum { WIDE = 2048, FEW = 8 };
#else
enum { WIDE = TILE, FEW = BLOCK };
#endif
#define SHORT_RUN 32    /* shorter runs are columns */
/* bytes of a channel's runs that stay in a core's second cache until they are read again */
#if BURN_LEVEL >= 4
enum { NEAR = 1 << 20 };
#else
enum { NEAR = 256 << 10 };
#endif

/* how many numbers, their mean, and the sum of squares around it */
typedef struct { double n, mean, m2; } moments;

VINL void join_moments(moments *a, double n, double mean, double m2) {
    double all = a->n + n, d = mean - a->mean;
    if (n == 0) return;
    a->mean += d * n / all;
    a->m2 += m2 + d * d * (a->n * n / all);
    a->n = all;
}

typedef struct norm_type norm_type;

typedef struct {
    const norm_type *t;
    const char *x, *g;
    const void *gamma, *beta, *mean, *scale; /* scale: 1 / deviation of rows, variance of channels */
    char *y;
    void *out_mean, *out_scale, *dgamma, *dbeta;
    int64_t rows, groups, channels, spatial; /* of rows; channels of a group */
    int64_t outer, inner, width;             /* of a batch; width: columns, or channels where runs are long */
    int64_t per, parts, tile;                /* rows (of outer) a part, parts, columns of a task */
    double eps;
    int centred, train, stream, wants;       /* wants: sums for gamma and beta */
    double *sums;                            /* [parts, width, 2] */
    void *part;                              /* [parts, 2, groups * channels] of rows; [4, width] factors of a batch */
    int size;
    double alpha, power, k;                  /* of local response */
} norm_job;

struct norm_type {
    int size, wide; /* bytes an element in memory, and computed in */
    void (*rows)(const norm_job *j, int64_t first, int64_t last);
    void (*rows_bwd)(const norm_job *j, int64_t first, int64_t last, void *sums);
    void (*add_parts)(const norm_job *j, void *dgamma, void *dbeta);
    void (*column_moments)(const norm_job *j, int64_t part, int64_t from, int64_t to);
    void (*run_moments)(const norm_job *j, int64_t part, int64_t from, int64_t to);
    void (*column_sums)(const norm_job *j, int64_t part, int64_t from, int64_t to);
    void (*run_sums)(const norm_job *j, int64_t part, int64_t from, int64_t to);
    void (*factors)(const norm_job *j, int64_t from, int64_t to);
    void (*factors_bwd)(const norm_job *j, int64_t from, int64_t to);
    void (*columns)(const norm_job *j, int64_t first, int64_t last);
    void (*runs)(const norm_job *j, int64_t first, int64_t last, int64_t step);
    void (*response)(const norm_job *j, int64_t outer, int64_t from, int64_t w, void *tile);
};

VINL vd vd_load_n(const double *p, int64_t k) {
    vd v = {0};
    memcpy(&v, p, (size_t)k * 8);
    return v;
}
VINL void vd_store_n(double *p, vd v, int64_t k) { memcpy(p, &v, (size_t)k * 8); }
VINL void vd_stream(double *p, vd v) { vf_stream((float *)p, (vf)v); }
VINL vd vd_pow(vd x, vd y) {
    for (int l = 0; l < VD; l++) x[l] = pow(x[l], y[l]);
    return x;
}

#define FN(name) name##_f32
#define T float
#define A float
#define V vf
#define L VW
#define LOAD vf_load
#define LOAD_N vf_load_n
#define STORE vf_store
#define STORE_N vf_store_n
#define STREAM vf_stream
#define FMA vf_fma
#define HSUM vf_sum
#define POW m_pow
#define PLAIN 1
#include "norm_type.h"

#define FN(name) name##_f64
#define T double
#define A double
#define V vd
#define L VD
#define LOAD vd_load
#define LOAD_N vd_load_n
#define STORE vd_store
#define STORE_N vd_store_n
#define STREAM vd_stream
#define FMA vd_fma
#define HSUM vd_sum
#define POW vd_pow
#define PLAIN 1
#include "norm_type.h"

#define FN(name) name##_f16
#define T uint16_t
#define A float
#define V vf
#define L VW
#define LOAD vf_load_f16
#define LOAD_N vf_load_f16_n
#define STORE vf_store_f16
#define STORE_N vf_store_f16_n
#define STREAM vf_store_f16
#define FMA vf_fma
#define HSUM vf_sum
#define POW m_pow
#include "norm_type.h"

#define FN(name) name##_bf16
#define T uint16_t
#define A float
#define V vf
#define L VW
#define LOAD vf_load_bf16
#define LOAD_N vf_load_bf16_n
#define STORE vf_store_bf16
#define STORE_N vf_store_bf16_n
#define STREAM vf_store_bf16
#define FMA vf_fma
#define HSUM vf_sum
#define POW m_pow
#include "norm_type.h"

static const norm_type *const NORM_TYPES[DT_COUNT] = {
    [DT_F64] = &norm_f64, [DT_F32] = &norm_f32, [DT_FLEX32] = &norm_f32, [DT_F16] = &norm_f16, [DT_BF16] = &norm_bf16,
};

static double norm_ns(const norm_job *j, double n) { return n * (j->t->wide == 8 ? 1.5 : 0.8); }

/* ---- rows */
static void norm_rows_task(void *ctx, int64_t i) {
    const norm_job *j = ctx;
    j->t->rows(j, i * j->per, i64_min((i + 1) * j->per, j->rows));
}
static void norm_rows_bwd_task(void *ctx, int64_t i) {
    const norm_job *j = ctx;
    int64_t bytes = 2 * j->groups * j->channels * j->t->wide;
    j->t->rows_bwd(j, i * j->per, i64_min((i + 1) * j->per, j->rows), j->wants ? (char *)j->part + i * bytes : NULL);
}
static norm_job norm_rows_job(int dtype, void *y, int64_t rows, int64_t groups, int64_t channels, int64_t spatial) {
    const norm_type *t = NORM_TYPES[dtype];
    int64_t n = channels * spatial;
    norm_job j = {.t = t, .y = y, .rows = rows, .groups = groups, .channels = channels, .spatial = spatial, .size = t->size};
    j.stream = can_stream(y, rows * n * t->size) && (spatial == 1 ? n : spatial) * t->size % 64 == 0;
    return j;
}

/* y = (x - mean) / sqrt(variance + epsilon) * gamma + beta; not centred: x / sqrt(mean square + epsilon) * gamma */
static int group_norm_run(const burn_buf *out, const burn_buf *in, burn_args *a, int64_t rows, int64_t groups,
                          int64_t channels, int64_t spatial, int centred) {
    norm_job j = norm_rows_job(in->dtype, out[0].p, rows, groups, channels, spatial);
    int64_t n = channels * spatial;
    if (rows * n == 0) return BURN_OK;
    j.x = in[0].p;
    j.gamma = a->n_in > 1 ? in[1].p : NULL;
    j.beta = a->n_in > 2 ? in[2].p : NULL;
    j.out_mean = out[1].p;
    j.out_scale = out[2].p;
    j.eps = a->f[0];
    j.centred = centred;
    j.per = i64_max(1, i64_min(ceil_div(rows, 2), PIECE / n));
    rt_tasks(norm_rows_task, &j, ceil_div(rows, j.per), norm_ns(&j, (double)rows * n));
    return BURN_OK;
}

/* out: the gradient of x and, where wanted, of gamma and beta; in: x, g, mean, scale, and gamma where there is one */
static int group_norm_bwd_run(const burn_buf *out, const burn_buf *in, burn_args *a, int64_t rows, int64_t groups,
                              int64_t channels, int64_t spatial, int centred) {
    norm_job j = norm_rows_job(in->dtype, out[0].p, rows, groups, channels, spatial);
    int64_t n = channels * spatial, params = groups * channels;
    if (rows * n == 0) return BURN_OK;
    j.x = in[0].p;
    j.g = in[1].p;
    j.mean = in[2].p;
    j.scale = in[3].p;
    j.gamma = a->n_in > 4 ? in[4].p : NULL;
    j.centred = centred;
    j.wants = a->n_out > 1;
    j.per = i64_max(ceil_div(rows, ROW_PARTS), i64_max(1, PIECE / n));
    j.parts = ceil_div(rows, j.per);
    size_t bytes = (size_t)(j.wants ? j.parts * 2 * params * j.t->wide : 0);
    if (bytes && !(j.part = rt->alloc(bytes))) return rt_no_memory(a, (int64_t)bytes);
    rt_tasks(norm_rows_bwd_task, &j, j.parts, norm_ns(&j, 2.0 * rows * n));
    if (j.wants) j.t->add_parts(&j, out[1].p, out[2].p);
    if (bytes) rt->free(j.part, bytes);
    return BURN_OK;
}

/* ---- channels of a batch */
static void norm_sums_task(void *ctx, int64_t i) {
    const norm_job *j = ctx;
    int columns = j->width != j->channels || j->inner == 1;
    int64_t tiles = ceil_div(j->width, j->tile);
    int64_t part = i / tiles, from = i % tiles * j->tile, to = i64_min(from + j->tile, j->width);
    if (j->g && columns) j->t->column_sums(j, part, from, to);
    else if (j->g) j->t->run_sums(j, part, from, to);
    else if (columns) j->t->column_moments(j, part, from, to);
    else j->t->run_moments(j, part, from, to);
}
static void norm_apply_task(void *ctx, int64_t i) {
    const norm_job *j = ctx;
    int columns = j->width != j->channels || j->inner == 1;
    int64_t n = columns ? j->outer : j->outer * j->channels, last = i64_min((i + 1) * j->per, n);
    if (columns) j->t->columns(j, i * j->per, last);
    else j->t->runs(j, i * j->per, last, 1);
}
static norm_job norm_batch_job(int dtype, void *y, int64_t outer, int64_t channels, int64_t inner) {
    const norm_type *t = NORM_TYPES[dtype];
    norm_job j = {.t = t, .y = y, .outer = outer, .channels = channels, .inner = inner, .size = t->size};
    j.width = inner < SHORT_RUN ? channels * inner : channels;
    j.stream = can_stream(y, outer * channels * inner * t->size);
    j.stream &= (j.width == channels && inner > 1 ? inner : j.width) * t->size % 64 == 0;
    return j;
}
static int norm_scratch(norm_job *j, burn_args *a, int sums, size_t *bytes) {
    int columns = j->width != j->channels || j->inner == 1;
    int64_t run = columns ? TILE : j->inner;
    j->per = i64_max(1, ceil_div(PIECE, run));
    j->per = i64_max(j->per, ceil_div(j->outer, 64));
    j->parts = ceil_div(j->outer, j->per);
    *bytes = (size_t)((sums ? j->parts : 0) * j->width * 16 + 4 * j->width * j->t->wide);
    if (!(j->sums = rt->alloc(*bytes))) return rt_no_memory(a, (int64_t)*bytes);
    j->part = j->sums + (sums ? j->parts * j->width * 2 : 0);
    return BURN_OK;
}
static void norm_sums(norm_job *j) {
    int columns = j->width != j->channels || j->inner == 1;
    j->tile = !columns ? 1 : j->g || j->parts * ceil_div(j->width, WIDE) < 4 * rt->threads() ? TILE : WIDE;
    rt_tasks(norm_sums_task, j, j->parts * ceil_div(j->width, j->tile),
             norm_ns(j, (double)j->outer * j->channels * j->inner));
}
static void norm_apply(norm_job *j) {
    int columns = j->width != j->channels || j->inner == 1;
    int64_t n = columns ? j->outer : j->outer * j->channels;
    j->per = i64_max(1, PIECE / (columns ? j->width : j->inner));
    rt_tasks(norm_apply_task, j, ceil_div(n, j->per), norm_ns(j, (double)j->outer * j->channels * j->inner));
}

/* One channel, from its sums to what is written: its runs are still near when they are read again. */
static void norm_channel_task(void *ctx, int64_t c) {
    const norm_job *j = ctx;
    for (int64_t p = 0; p < j->parts; p++) (j->g ? j->t->run_sums : j->t->run_moments)(j, p, c, c + 1);
    (j->g ? j->t->factors_bwd : j->t->factors)(j, c, c + 1);
    j->t->runs(j, c, j->outer * j->channels, j->channels);
}
/* Sums, factors, and what is written. Either way sums are those of the parts, so it may depend on the threads. */
static void norm_whole(norm_job *j) {
    const int64_t bytes = j->outer * j->inner * j->size * (j->g ? 2 : 1);
    if (j->width == j->channels && j->inner > 1 && bytes <= NEAR && j->channels >= 2 * rt->threads()) {
        rt_tasks(norm_channel_task, j, j->channels, norm_ns(j, 2.0 * j->outer * j->channels * j->inner));
        return;
    }
    norm_sums(j);
    (j->g ? j->t->factors_bwd : j->t->factors)(j, 0, j->channels);
    norm_apply(j);
}

/* y = (x - mean) / sqrt(variance + epsilon) * gamma + beta with given statistics */
static int batch_norm_run(const burn_buf *out, const burn_buf *in, burn_args *a, int64_t outer, int64_t channels,
                          int64_t inner) {
    norm_job j = norm_batch_job(in->dtype, out->p, outer, channels, inner);
    size_t bytes;
    j.x = in[0].p;
    j.gamma = in[1].p;
    j.beta = in[2].p;
    j.mean = in[3].p;
    j.scale = in[4].p;
    j.eps = a->f[0];
    if (outer * channels * inner == 0) return BURN_OK;
    if (norm_scratch(&j, a, 0, &bytes)) return BURN_ERR_MEMORY;
    j.t->factors(&j, 0, channels);
    norm_apply(&j);
    rt->free(j.sums, bytes);
    return BURN_OK;
}

/* the same with the statistics of x, which are results too */
static int batch_norm_train_run(const burn_buf *out, const burn_buf *in, burn_args *a, int64_t outer, int64_t channels,
                                int64_t inner) {
    norm_job j = norm_batch_job(in->dtype, out[0].p, outer, channels, inner);
    size_t bytes;
    j.x = in[0].p;
    j.gamma = in[1].p;
    j.beta = in[2].p;
    j.out_mean = out[1].p;
    j.out_scale = out[2].p;
    j.eps = a->f[0];
    j.train = 1;
    if (outer * channels * inner == 0) return BURN_OK;
    if (norm_scratch(&j, a, 1, &bytes)) return BURN_ERR_MEMORY;
    norm_whole(&j);
    rt->free(j.sums, bytes);
    return BURN_OK;
}

/* train: mean and variance are those of x */
static int batch_norm_bwd_run(const burn_buf *out, const burn_buf *in, burn_args *a, int64_t outer, int64_t channels,
                              int64_t inner, int train) {
    norm_job j = norm_batch_job(in->dtype, out[0].p, outer, channels, inner);
    size_t bytes;
    j.x = in[0].p;
    j.g = in[1].p;
    j.mean = in[2].p;
    j.scale = in[3].p;
    j.gamma = in[4].p;
    j.eps = a->f[0];
    j.train = train;
    if (outer * channels * inner == 0) return BURN_OK;
    if (norm_scratch(&j, a, 1, &bytes)) return BURN_ERR_MEMORY;
    j.dgamma = out[1].p;
    j.dbeta = out[2].p;
    norm_whole(&j);
    rt->free(j.sums, bytes);
    return BURN_OK;
}

/* ---- neighbouring channels */
#define RESPONSE_TILE 64
typedef struct { norm_job *job; int failed; } response_job;
static void response_task(void *ctx, int64_t i) {
    response_job *r = ctx;
    const norm_job *j = r->job;
    int64_t tiles = ceil_div(j->inner, RESPONSE_TILE), from = i % tiles * RESPONSE_TILE;
    size_t bytes = (size_t)(2 * j->channels * (RESPONSE_TILE + VW) * j->t->wide);
    void *tile = rt->alloc(bytes);
    if (!tile) {
        r->failed = 1;
        return;
    }
    j->t->response(j, i / tiles, from, i64_min(RESPONSE_TILE, j->inner - from), tile);
    rt->free(tile, bytes);
}
/* y = x / (k + alpha * mean square of `size` channels around)^beta, or with g its gradient */
static int local_response_run(void *out, const void *x, const void *g, burn_args *a, int dtype, int64_t outer,
                              int64_t channels, int64_t inner, int64_t size) {
    norm_job j = norm_batch_job(dtype, out, outer, channels, inner);
    response_job r = {&j, 0};
    j.x = x;
    j.g = g;
    j.alpha = a->f[0] / (double)size;
    j.power = a->f[1];
    j.k = a->f[2];
    j.groups = size;
    if (outer * channels * inner == 0) return BURN_OK;
    rt_tasks(response_task, &r, outer * ceil_div(inner, RESPONSE_TILE),
             norm_ns(&j, 20.0 * (double)outer * channels * inner));
    return r.failed ? rt_no_memory(a, 2 * channels * (RESPONSE_TILE + VW) * j.t->wide) : BURN_OK;
}
