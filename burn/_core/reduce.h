/* Reductions of x viewed as [outer, n, inner] over n. The kernels of each dtype are in reduce_type.h; here they are
   made and driven: fixed pieces of the reduced axis where outer and inner alone give too few tasks, joined in order, so
   that the result does not depend on the number of threads. */
#pragma once
#include "runtime.h"

#define TILE 1024                   /* columns a tile: its accumulators stay in L1 */
#define PIECE 32768                 /* least elements a piece, where the reduced axis itself is cut */
#define MAX_PIECES 64
#define COLUMN_TASKS 32             /* tasks that columns are cut into: each piece leaves a row of accumulators to be joined */

/* one running result: a double for floats, 64 bits for integers, a row number for positions, a flag for any and all */
typedef union { double d; int64_t i; uint64_t u; } acc_t;
typedef void (*tile_fn)(const void *x, int64_t n, int64_t w, int64_t stride, const double *mean, acc_t *acc);

typedef struct {
    int size, floating;
    tile_fn sum, max_at, min_at, max, min, var, prod; /* the last two of floats only */
    void (*join_values)(acc_t *into, const acc_t *from, int64_t w, int is_min);
    int (*wins)(const void *x, int64_t i, int64_t j, int is_min);
    void (*put)(void *out, const acc_t *acc, int64_t w, double n);
} reduce_type;

#if BURN_LEVEL == 4
VINL int any_lane(vi m) { return _mm512_test_epi32_mask((__m512i)m, (__m512i)m) != 0; }
#else
VINL int any_lane(vi m) { return vm_any(m); }
#endif

/* lanes where either is NaN, as one instruction */
#if BURN_LEVEL == 3
VINL vi unordered(vf a, vf b) { return (vi)_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_UNORD_Q); }
#elif BURN_LEVEL == 2
VINL vi unordered(vf a, vf b) { return (vi)_mm_cmpunord_ps((__m128)a, (__m128)b); }
#else
VINL vi unordered(vf a, vf b) { return (a != a) | (b != b); }
#endif

/* ---- vectors of the dtypes that vec.h does not have; small integers are computed as int32 */
typedef uint64_t vul __attribute__((vector_size(8 * VD), may_alias));
typedef int64_t vl_un __attribute__((vector_size(8 * VD), aligned(8), may_alias));
typedef uint64_t vul_un __attribute__((vector_size(8 * VD), aligned(8), may_alias));
typedef uint32_t vu_un __attribute__((vector_size(4 * VW), aligned(4), may_alias));
typedef int16_t v16_un __attribute__((vector_size(2 * VW), aligned(2), may_alias));
typedef uint16_t vu16_un __attribute__((vector_size(2 * VW), aligned(2), may_alias));
typedef int8_t v8_un __attribute__((vector_size(VW), aligned(1), may_alias));
typedef uint8_t vu8_un __attribute__((vector_size(VW), aligned(1), may_alias));

/* products in type P, four at a time in a row */
#define PROD_TILE(name, T, GET, P, field) \
    static void name(const void *xv, int64_t n, int64_t w, int64_t stride, const double *mean, acc_t *acc) { \
        const T *x = xv; \
        if (stride == 1) { \
            P p[4] = {1, 1, 1, 1}; \
            int64_t i = 0; \
            for (; i + 4 <= n; i += 4) for (int k = 0; k < 4; k++) p[k] *= (P)GET(x + i + k); \
            for (; i < n; i++) p[0] *= (P)GET(x + i); \
            acc->field = (p[0] * p[1]) * (p[2] * p[3]); \
            return; \
        } \
        for (int64_t c = 0; c < w; c++) acc[c].field = 1; \
        for (int64_t r = 0; r < n; r++, x += stride) \
            for (int64_t c = 0; c < w; c++) acc[c].field *= (P)GET(x + c); \
    }

#define FN(name) name##_f32
#define T float
#define A float
#define V vf
#define M vi
#define L VW
#define LOAD(p) vf_load(p)
#define GET(p) (*(p))
#define PUT(p, a) (*(p) = (float)(a))
#define MAXV(a, b) vf_max(a, b)
#define MINV(a, b) vf_min(a, b)
#define UNORD(a, b) unordered(a, b)
#define HSUM vf_sum
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#define FLOATING 1
#include "reduce_type.h"

#define FN(name) name##_f64
#define T double
#define A double
#define V vd
#define M vl
#define L VD
#define LOAD(p) vd_load(p)
#define GET(p) (*(p))
#define PUT(p, a) (*(p) = (a))
#define MAXV(a, b) SEL(a > b, a, b)
#define MINV(a, b) SEL(a < b, a, b)
#define UNORD(a, b) (M)((a != a) | (b != b))
#define HSUM vd_sum
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#define FLOATING 1
#include "reduce_type.h"

#define FN(name) name##_f16
#define T uint16_t
#define A float
#define V vf
#define M vi
#define L VW
#define LOAD(p) vf_load_f16(p)
#define LOAD2 vf_load2_f16
#define GET(p) (vf_load_f16_n(p, 1)[0])
#define PUT(p, a) vf_store_f16_n(p, bc((float)(a)), 1)
#define MAXV(a, b) vf_max(a, b)
#define MINV(a, b) vf_min(a, b)
#define UNORD(a, b) unordered(a, b)
#define HSUM vf_sum
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#define FLOATING 1
#include "reduce_type.h"

#define FN(name) name##_bf16
#define T uint16_t
#define A float
#define V vf
#define M vi
#define L VW
#define LOAD(p) vf_load_bf16(p)
#define LOAD2 vf_load2_bf16
#define GET(p) (vf_load_bf16_n(p, 1)[0])
#define PUT(p, a) vf_store_bf16_n(p, bc((float)(a)), 1)
#define MAXV(a, b) vf_max(a, b)
#define MINV(a, b) vf_min(a, b)
#define UNORD(a, b) unordered(a, b)
#define HSUM vf_sum
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#define FLOATING 1
#include "reduce_type.h"

#define FN(name) name##_i64
#define T int64_t
#define A int64_t
#define V vl
#define M vl
#define L VD
#define LOAD(p) (*(const vl_un *)(p))
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#include "reduce_int.h"

#define FN(name) name##_u64
#define T uint64_t
#define A uint64_t
#define V vul
#define M vl
#define L VD
#define LOAD(p) (*(const vul_un *)(p))
#define LOWEST 0
#define HIGHEST UINT64_MAX
#include "reduce_int.h"

#define FN(name) name##_i32
#define T int32_t
#define A int32_t
#define V vi
#define M vi
#define L VW
#define LOAD(p) vi_load(p)
#define LOWEST INT32_MIN
#define HIGHEST INT32_MAX
#include "reduce_int.h"

#define FN(name) name##_u32
#define T uint32_t
#define A uint32_t
#define V vu
#define M vi
#define L VW
#define LOAD(p) (*(const vu_un *)(p))
#define LOWEST 0
#define HIGHEST UINT32_MAX
#include "reduce_int.h"

#define SMALL(p, vec) __builtin_convertvector(*(const vec *)(p), vi)
#define FN(name) name##_i16
#define T int16_t
#define A int32_t
#define V vi
#define M vi
#define L VW
#define LOAD(p) SMALL(p, v16_un)
#define LOWEST INT32_MIN
#define HIGHEST INT32_MAX
#include "reduce_int.h"

#define FN(name) name##_u16
#define T uint16_t
#define A int32_t
#define V vi
#define M vi
#define L VW
#define LOAD(p) SMALL(p, vu16_un)
#define LOWEST INT32_MIN
#define HIGHEST INT32_MAX
#include "reduce_int.h"

#define FN(name) name##_i8
#define T int8_t
#define A int32_t
#define V vi
#define M vi
#define L VW
#define LOAD(p) SMALL(p, v8_un)
#define LOWEST INT32_MIN
#define HIGHEST INT32_MAX
#include "reduce_int.h"

#define FN(name) name##_u8
#define T uint8_t
#define A int32_t
#define V vi
#define M vi
#define L VW
#define LOAD(p) SMALL(p, vu8_un)
#define LOWEST INT32_MIN
#define HIGHEST INT32_MAX
#include "reduce_int.h"

/* ---- what depends on the width of a dtype alone. Flags: whether any element is true (any), is false (the complement of all);
   halves are true by any bit but the sign. Products of integers: they wrap. */
#define FLAG_TILE(name, T, TRUE, wanted) \
    static void name(const void *xv, int64_t n, int64_t w, int64_t stride, const double *mean, acc_t *acc) { \
        const T *x = xv; \
        if (stride == 1) { \
            int found = 0; \
            for (int64_t b = 0; b < n && !found; b += 1024) { \
                int64_t end = i64_min(b + 1024, n); \
                for (int64_t i = b; i < end; i++) found |= TRUE(x[i]) == wanted; \
            } \
            acc->u = (uint64_t)found; \
            return; \
        } \
        uint8_t found[TILE] = {0}; \
        for (int64_t r = 0; r < n; r++, x += stride) \
            for (int64_t c = 0; c < w; c++) found[c] |= TRUE(x[c]) == wanted; \
        for (int64_t c = 0; c < w; c++) acc[c].u = found[c]; \
    }
#define FLAG_TILES(S, T, TRUE) FLAG_TILE(any_##S, T, TRUE, 1) FLAG_TILE(all_##S, T, TRUE, 0)
#define ELEMENT(p) (*(p))
#define NONZERO(x) ((x) != 0)
#define NONZERO_HALF(x) (((x) & 0x7fff) != 0)
#define MAKE_WIDTH(S, U) FLAG_TILES(S, U, NONZERO) PROD_TILE(prod_##S, U, ELEMENT, uint64_t, u)
MAKE_WIDTH(u8, uint8_t)
MAKE_WIDTH(u16, uint16_t)
MAKE_WIDTH(u32, uint32_t)
MAKE_WIDTH(u64, uint64_t)
FLAG_TILES(half, uint16_t, NONZERO_HALF)
FLAG_TILES(f32, float, NONZERO)
FLAG_TILES(f64, double, NONZERO)

typedef struct { tile_fn any, all, prod; } width_type;
/* by whether they are floats, and bytes */
static const width_type WIDTH_TYPES[2][9] = {
    {[1] = {any_u8, all_u8, prod_u8},
     [2] = {any_u16, all_u16, prod_u16},
     [4] = {any_u32, all_u32, prod_u32},
     [8] = {any_u64, all_u64, prod_u64}},
    {[2] = {any_half, all_half}, [4] = {any_f32, all_f32}, [8] = {any_f64, all_f64}},
};

static const reduce_type *const REDUCE_TYPES[DT_COUNT] = {
    [DT_F64] = &reduce_f64,   [DT_F32] = &reduce_f32, [DT_FLEX32] = &reduce_f32, [DT_F16] = &reduce_f16,
    [DT_BF16] = &reduce_bf16, [DT_I64] = &reduce_i64, [DT_I32] = &reduce_i32,    [DT_I16] = &reduce_i16,
    [DT_I8] = &reduce_i8,     [DT_U64] = &reduce_u64, [DT_U32] = &reduce_u32,    [DT_U16] = &reduce_u16,
    [DT_U8] = &reduce_u8,     [DT_BOOL] = &reduce_u8,
};

/* ---- the driver */
enum reduce_op { RED_SUM, RED_MEAN, RED_PROD, RED_VAR, RED_MAX_AT, RED_MIN_AT, RED_MAX, RED_MIN, RED_ANY, RED_ALL };

typedef struct {
    const reduce_type *t;
    enum reduce_op op;
    tile_fn tile;
    const char *x;
    int64_t outer, n, inner;
    int64_t tiles, pieces, rows; /* column tiles; pieces of n, and rows a piece */
    int64_t group;               /* where inner is 1 and n is not cut: results a task, else 0 */
    double scale;                       /* what sums are divided by */
    const double *mean;                 /* of each result, for the variance */
    acc_t *part;                        /* [outer, pieces, inner] */
    char *out;                          /* values or flags; may be NULL */
    void *at;                           /* positions of max and min */
    double *wide_out;                   /* instead of out: results as doubles */
    int at_dtype, invert;
} reduce_job;

VINL int is_extreme(const reduce_job *j) { return j->op == RED_MAX_AT || j->op == RED_MIN_AT; }

/* into[c] takes in from[c], a result over rows further on (any order for max and min); x is element (o, 0, c0) */
static void reduce_join(const reduce_job *j, const void *x, acc_t *into, const acc_t *from, int64_t w) {
    switch (j->op) {
    case RED_MAX_AT: case RED_MIN_AT:
        for (int64_t c = 0; c < w; c++)
            if (j->t->wins(x, into[c].i * j->inner + c, from[c].i * j->inner + c, j->op == RED_MIN_AT))
                into[c] = from[c];
        break;
    case RED_MAX: case RED_MIN:
        j->t->join_values(into, from, w, j->op == RED_MIN);
        break;
    case RED_ANY: case RED_ALL:
        for (int64_t c = 0; c < w; c++) into[c].u |= from[c].u;
        break;
    case RED_PROD:
        if (j->t->floating) for (int64_t c = 0; c < w; c++) into[c].d *= from[c].d;
        else for (int64_t c = 0; c < w; c++) into[c].u *= from[c].u;
        break;
    default:
        if (j->t->floating) { double *a = &into->d; const double *b = &from->d; for (int64_t c = 0; c < w; c++) a[c] += b[c]; }
        else for (int64_t c = 0; c < w; c++) into[c].u += from[c].u;
    }
}

/* Rows r0..r1 of columns c0..c0+w of one outer index. Where a row is only a few elements, many rows are taken as one
   wide row first: [n, inner] is [n / k, k * inner]. */
static void reduce_tile(const reduce_job *j, int64_t o, int64_t r0, int64_t r1, int64_t c0, int64_t w, acc_t *acc) {
    int64_t k = j->inner == 1 ? 1 : TILE / 4 / j->inner, rows = r1 - r0;
    const char *column = j->x + (o * j->n * j->inner + c0) * j->t->size, *x = column + r0 * j->inner * j->t->size;
    const double *mean = j->mean ? j->mean + o * j->inner + c0 : NULL;
    if (k < 4 || rows < 2 * k) {
        j->tile(x, rows, w, j->inner, mean, acc);
        if (is_extreme(j)) for (int64_t c = 0; c < w; c++) acc[c].i += r0;
        return;
    }
    acc_t wide[TILE], rest[TILE];
    double means[TILE];
    int64_t kw = k * w, whole = rows / k;
    if (mean) for (int64_t c = 0; c < kw; c++) means[c] = mean[c % w];
    j->tile(x, whole, kw, kw, mean ? means : NULL, wide);
    if (is_extreme(j)) for (int64_t c = 0; c < kw; c++) wide[c].i = wide[c].i * k + c / w + r0;
    memcpy(acc, wide, (size_t)w * sizeof *acc);
    for (int64_t q = 1; q < k; q++) reduce_join(j, column, acc, wide + q * w, w);
    if (whole * k == rows) return;
    j->tile(x + whole * k * w * j->t->size, rows - whole * k, w, w, mean, rest);
    if (is_extreme(j)) for (int64_t c = 0; c < w; c++) rest[c].i += r0 + whole * k;
    reduce_join(j, column, acc, rest, w);
}

/* w results from number `first` on */
static void reduce_put(const reduce_job *j, int64_t first, const acc_t *acc, int64_t w) {
    if (j->wide_out) {
        for (int64_t c = 0; c < w; c++) j->wide_out[first + c] = acc[c].d / j->scale;
    } else if (is_extreme(j)) {
        const int size = j->t->size;
        for (int64_t c = 0; c < w; c++) {
            int64_t r = first + c, at = acc[c].i;
            if (j->at_dtype == DT_I64) ((int64_t *)j->at)[r] = at;
            else ((int32_t *)j->at)[r] = (int32_t)at;
            if (j->out)
                memcpy(j->out + r * size, j->x + ((r / j->inner * j->n + at) * j->inner + r % j->inner) * size,
                       (size_t)size);
        }
    } else if (j->op == RED_ANY || j->op == RED_ALL) {
        for (int64_t c = 0; c < w; c++) ((uint8_t *)j->out)[first + c] = (acc[c].u != 0) ^ j->invert;
    } else {
        j->t->put(j->out + first * j->t->size, acc, w, j->scale);
    }
}

/* one (outer, piece, tile), or a group of whole rows where inner is 1 */
static void reduce_task(void *ctx, int64_t i) {
    const reduce_job *j = ctx;
    acc_t acc[TILE];
    if (j->group) {
        int64_t end = i64_min((i + 1) * j->group, j->outer);
        for (int64_t o = i * j->group; o < end; o += 64) {
            int64_t some = i64_min(64, end - o);
            for (int64_t q = 0; q < some; q++) reduce_tile(j, o + q, 0, j->n, 0, 1, acc + q);
            reduce_put(j, o, acc, some);
        }
        return;
    }
    int64_t tile = i % j->tiles, piece = i / j->tiles % j->pieces, o = i / j->tiles / j->pieces;
    int64_t c0 = tile * TILE, w = i64_min(TILE, j->inner - c0), r0 = piece * j->rows, r1 = i64_min(r0 + j->rows, j->n);
    if (j->pieces == 1) {
        reduce_tile(j, o, 0, j->n, c0, w, acc);
        reduce_put(j, o * j->inner + c0, acc, w);
    } else {
        reduce_tile(j, o, r0, r1, c0, w, j->part + (o * j->pieces + piece) * j->inner + c0);
    }
}

static int reduce_run(reduce_job *j, burn_args *a) {
    const width_type *width = &WIDTH_TYPES[j->t->floating][j->t->size];
    const tile_fn prod = j->t->floating ? j->t->prod : width->prod;
    const tile_fn tiles[] = {j->t->sum,    j->t->sum, prod,      j->t->var,  j->t->max_at,
                             j->t->min_at, j->t->max, j->t->min, width->any, width->all};
    int64_t work = j->outer * j->n * j->inner, bytes = 0;
    j->tile = tiles[j->op];
    j->tiles = ceil_div(j->inner, TILE);
    j->pieces = 1;
    j->rows = j->n;
    j->group = 0;
    j->invert = j->op == RED_ALL;
    if (j->outer * j->inner == 0) return BURN_OK;
    if (j->n == 0) { /* sum 0, product 1, no flag found, mean 0 / 0 */
        acc_t none[TILE];
        for (int64_t c = 0; c < TILE; c++) {
            none[c].u = 0;
            if (j->op == RED_PROD && j->t->floating) none[c].d = 1;
            else if (j->op == RED_PROD) none[c].u = 1;
        }
        for (int64_t r = 0; r < j->outer * j->inner; r += TILE)
            reduce_put(j, r, none, i64_min(TILE, j->outer * j->inner - r));
        return BURN_OK;
    }
    if (j->outer * j->tiles < 16 && work > 2 * PIECE) {
        int64_t most = j->inner == 1 ? MAX_PIECES : ceil_div(COLUMN_TASKS, j->outer * j->tiles);
        j->pieces = i64_max(1, i64_min(i64_min(most, j->n / 2), j->n * i64_min(j->inner, TILE) / PIECE));
        j->rows = ceil_div(j->n, j->pieces);
        if (j->inner == 1) j->rows = ceil_div(j->rows, 64) * 64;
        j->pieces = ceil_div(j->n, j->rows);
    }
    if (j->inner == 1 && j->pieces == 1) j->group = i64_max(1, i64_max(PIECE / j->n, ceil_div(j->outer, 64)));
    if (j->pieces > 1) {
        bytes = j->outer * j->pieces * j->inner * (int64_t)sizeof(acc_t);
        j->part = rt->alloc((size_t)bytes);
        if (!j->part) return rt_no_memory(a, bytes);
    }
    rt_tasks(reduce_task, j, j->group ? ceil_div(j->outer, j->group) : j->outer * j->pieces * j->tiles,
             (double)work * 0.15 * j->t->size / 4);
    if (j->pieces > 1) {
        for (int64_t o = 0; o < j->outer; o++) {
            for (int64_t c0 = 0; c0 < j->inner; c0 += TILE) {
                int64_t w = i64_min(TILE, j->inner - c0);
                acc_t *acc = j->part + o * j->pieces * j->inner + c0;
                const char *x = j->x + (o * j->n * j->inner + c0) * j->t->size;
                for (int64_t p = 1; p < j->pieces; p++) reduce_join(j, x, acc, acc + p * j->inner, w);
                reduce_put(j, o * j->inner + c0, acc, w);
            }
        }
        rt->free(j->part, (size_t)bytes);
    }
    return BURN_OK;
}

/* ---- the kernels */
/* Means of 64-bit integers: their sum needs more than 64 bits. */
static void reduce_wide_mean(int is_signed, const void *x, void *out, int64_t outer, int64_t n, int64_t inner) {
    for (int64_t o = 0; o < outer; o++)
        for (int64_t c = 0; c < inner; c++) {
            int64_t at = o * n * inner + c;
            __int128 sum = 0;
            for (int64_t k = 0; k < n; k++)
                sum += is_signed ? (__int128)((const int64_t *)x)[at + k * inner] : ((const uint64_t *)x)[at + k * inner];
            ((int64_t *)out)[o * inner + c] = (int64_t)(sum / n);
        }
}
static int reduce_values(enum reduce_op op, int dtype, const void *x, void *out, int64_t outer, int64_t n,
                         int64_t inner, burn_args *a) {
    reduce_job j = {.t = REDUCE_TYPES[dtype], .op = op, .x = x, .out = out, .outer = outer, .n = n, .inner = inner};
    j.scale = op == RED_MEAN ? (double)n : 1;
    if (op == RED_MEAN && n && (dtype == DT_I64 || dtype == DT_U64)) {
        reduce_wide_mean(dtype == DT_I64, x, out, outer, n, inner);
        return BURN_OK;
    }
    if (n == 0 && (op == RED_MAX || op == RED_MIN)) return BURN_OK; /* refused by the caller */
    return reduce_run(&j, a);
}

/* at = position of the extreme on the axis, out = the extreme itself or NULL; op is RED_MAX_AT or RED_MIN_AT */
static int reduce_extreme(enum reduce_op op, int dtype, const void *x, void *out, void *at, int at_dtype,
                          int64_t outer, int64_t n, int64_t inner, burn_args *a) {
    reduce_job j = {.t = REDUCE_TYPES[dtype], .op = op, .x = x, .out = out, .at = at, .at_dtype = at_dtype,
                    .outer = outer, .n = n, .inner = inner};
    return n ? reduce_run(&j, a) : BURN_OK; /* an empty axis has no extreme: the caller has refused it */
}

static int reduce_flags(enum reduce_op op, int dtype, const void *x, void *out, int64_t outer, int64_t n, int64_t inner,
                        burn_args *a) {
    reduce_job j = {.t = REDUCE_TYPES[dtype], .op = op, .x = x, .out = out, .outer = outer, .n = n, .inner = inner};
    return reduce_run(&j, a);
}

/* two passes: means as doubles, then squares of what is left; over n - correction, NaN where that leaves nothing */
static int reduce_var(int dtype, const void *x, void *out, int64_t outer, int64_t n, int64_t inner, double correction,
                      burn_args *a) {
    int64_t bytes = outer * inner * (int64_t)sizeof(double);
    if (bytes == 0) return BURN_OK;
    double *mean = rt->alloc((size_t)bytes);
    if (!mean) return rt_no_memory(a, bytes);
    reduce_job j = {
        .t = REDUCE_TYPES[dtype], .op = RED_SUM, .x = x, .wide_out = mean, .outer = outer, .n = n, .inner = inner};
    j.scale = (double)n;
    int status = reduce_run(&j, a);
    if (status == BURN_OK) {
        double left = (double)n - correction;
        reduce_job v = {
            .t = REDUCE_TYPES[dtype], .op = RED_VAR, .x = x, .out = out, .outer = outer, .n = n, .inner = inner};
        v.mean = mean;
        v.scale = left > 0 ? left : 0;
        status = reduce_run(&v, a);
    }
    rt->free(mean, (size_t)bytes);
    return status;
}
