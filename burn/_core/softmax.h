/* softmax, log_softmax and quiet_softmax over the middle axis of [outer, n, inner], forward and backward. The kernels of
   each dtype are in softmax_type.h; here they are made and driven. */
#pragma once
#include "runtime.h"
#include "vmath.h"

#define COLUMNS 256         /* most columns of a tile */
#define SOME 64             /* rows of a tile that are added up at once */
#define TILE_BYTES 262144   /* a tile lies in L2 */

typedef struct {
    int size, wide, lanes; /* bytes an element in memory and in the tile, lanes a vector */
    /* by softmax_op; a = x or y, b = gradient of the backward kernels */
    void (*rows[5])(const void *a, const void *b, void *out, int64_t rows, int64_t n, int stream);
    void (*cols[5])(const void *a, const void *b, void *out, int64_t n, int64_t w, int64_t stride, int stream,
                    void *tile);
} softmax_type;

VINL vd vd_exp(vd x) {
    for (int l = 0; l < VD; l++) x[l] = exp(x[l]);
    return x;
}
VINL vd vd_max(vd a, vd b) {
    vl m = a > b;
    return (vd)((m & (vl)a) | (~m & (vl)b));
}
VINL vd vd_load_n(const double *p, int64_t k) {
    vd v = {0};
    memcpy(&v, p, (size_t)k * 8);
    return v;
}
VINL void vd_store_n(double *p, vd v, int64_t k) { memcpy(p, &v, (size_t)k * 8); }
VINL void vd_stream(double *p, vd v) { vf_stream((float *)p, (vf)v); }

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
#define EXP m_exp
#define EXP2(v) m_exp_many(v, 2)
#define HSUM vf_sum
#define MAXV vf_max
#include "softmax_type.h"

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
#define EXP vd_exp
#define EXP2(v) ((v)[0] = vd_exp((v)[0]), (v)[1] = vd_exp((v)[1]))
#define HSUM vd_sum
#define MAXV vd_max
#include "softmax_type.h"

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
#define LOAD2 vf_load2_f16
#define STORE2 vf_put2_f16
#define EXP m_exp
#define EXP2(v) m_exp_many(v, 2)
#define HSUM vf_sum
#define MAXV vf_max
#include "softmax_type.h"

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
#define LOAD2 vf_load2_bf16
#define STORE2 vf_put2_bf16
#define EXP m_exp
#define EXP2(v) m_exp_many(v, 2)
#define HSUM vf_sum
#define MAXV vf_max
#include "softmax_type.h"

static const softmax_type *const SOFTMAX_TYPES[DT_COUNT] = {
    [DT_F64] = &softmax_f64, [DT_F32] = &softmax_f32,   [DT_FLEX32] = &softmax_f32,
    [DT_F16] = &softmax_f16, [DT_BF16] = &softmax_bf16,
};

enum softmax_op { SOFTMAX, LOG_SOFTMAX, QUIET_SOFTMAX, SOFTMAX_BWD, LOG_SOFTMAX_BWD };

typedef struct {
    const softmax_type *t;
    enum softmax_op op;
    const char *a, *b;
    char *out;
    int64_t outer, n, inner, group, tiles; /* rows a task; columns a tile */
    int stream, failed;
} softmax_job;

static void softmax_row_task(void *ctx, int64_t i) {
    const softmax_job *j = ctx;
    int64_t r = i * j->group, rows = i64_min(j->group, j->outer - r), at = r * j->n * j->t->size;
    j->t->rows[j->op](j->a + at, j->b + at, j->out + at, rows, j->n, j->stream);
}

/* few columns: each becomes a row for a while */
static void softmax_narrow(const softmax_job *j, int64_t at, char *row) {
    int size = j->t->size;
    int64_t bytes = j->n * size;
    const char *in[2] = {j->a, j->b};
    for (int64_t c = 0; c < j->inner; c++) {
        int64_t at_c = at + c * size;
        for (int k = 0; k < (j->op >= SOFTMAX_BWD ? 2 : 1); k++)
            for (int64_t r = 0; r < j->n; r++)
                memcpy(row + k * bytes + r * size, in[k] + at_c + r * j->inner * size, (size_t)size);
        j->t->rows[j->op](row, row + bytes, row + 2 * bytes, 1, j->n, 0);
        for (int64_t r = 0; r < j->n; r++)
            memcpy(j->out + at_c + r * j->inner * size, row + 2 * bytes + r * size, (size_t)size);
    }
}

static void softmax_column_task(void *ctx, int64_t i) {
    softmax_job *j = ctx;
    const softmax_type *t = j->t;
    int64_t per = ceil_div(j->inner, j->tiles), o = i / per, c = i % per * j->tiles,
            w = i64_min(j->tiles, j->inner - c);
    int64_t at = (o * j->n * j->inner + c) * t->size, copies = j->op >= SOFTMAX_BWD ? 2 : 1;
    int narrow = j->inner < 2 * t->lanes;
    size_t bytes =
        narrow ? (size_t)(3 * j->n * t->size) : (size_t)(copies * j->n * ceil_div(w, t->lanes) * t->lanes * t->wide);
    void *tile = rt->alloc(bytes);
    if (!tile) {
        j->failed = 1; /* every writer writes the same */
        return;
    }
    if (narrow) softmax_narrow(j, at, tile);
    else t->cols[j->op](j->a + at, j->b + at, j->out + at, j->n, w, j->inner, j->stream, tile);
    rt->free(tile, bytes);
}

/* out = softmax of a, or the gradient of its input from a = output and b = gradient of the output */
static int softmax_run(enum softmax_op op, int dtype, const void *a, const void *b, void *out, int64_t outer, int64_t n,
                       int64_t inner, burn_args *args) {
    const softmax_type *t = SOFTMAX_TYPES[dtype];
    int64_t work = outer * n * inner, bytes = work * t->size;
    softmax_job j = {.t = t, .op = op, .a = a, .b = b ? b : a, .out = out, .outer = outer, .n = n, .inner = inner};
    double ns = (double)work * (dtype == DT_F64 ? 6 : 0.8);
    if (work == 0) return BURN_OK;
    j.stream = can_stream(out, bytes);
    if (inner == 1) {
        j.stream &= n * t->size % 64 == 0;
        j.group = i64_max(1, i64_min(ceil_div(outer, 2), 32768 / n));
        rt_tasks(softmax_row_task, &j, ceil_div(outer, j.group), ns);
        return BURN_OK;
    }
    int64_t line = 64 / t->wide, fit = TILE_BYTES / (n * t->wide * (op >= SOFTMAX_BWD ? 2 : 1));
    j.tiles = i64_min(inner, i64_max(2 * line, i64_min(COLUMNS, fit / line * line)));
    if (inner < 2 * t->lanes) j.tiles = inner;
    j.stream &= inner * t->size % 64 == 0;
    rt_tasks(softmax_column_task, &j, outer * ceil_div(inner, j.tiles), ns);
    return j.failed ? rt_no_memory(args, n * j.tiles * t->wide) : BURN_OK;
}
