/* Running sums, products and extremes of x viewed as [outer, n, inner] over n, forward or from the end (`reverse`).
   Floats are added up and multiplied in double, integers modulo their width; extremes keep their dtype, and a NaN stays.
   scan_type.h has the kernels of each dtype; the half types are widened piece by piece and run as floats. */
#pragma once
#include "runtime.h"
#include "scalar.h"

#define TILE 256     /* columns of a task where there are many */
#define SPAN 512     /* elements of a half type that are widened together */

enum scan_op { SCAN_SUM, SCAN_PROD, SCAN_MAX, SCAN_MIN };

/* running results: a double for sums and products of floats, else a value of the dtype */
typedef union { double d; int64_t i; uint64_t u; float f; } scan_acc;

#if BURN_LEVEL == 4
#define LANES_SHIFT1 {0, 8, 9, 10, 11, 12, 13, 14}
#define LANES_SHIFT2 {0, 1, 8, 9, 10, 11, 12, 13}
#define LANES_LAST {7, 7, 7, 7, 7, 7, 7, 7}
#define LANES_MIRROR {7, 6, 5, 4, 3, 2, 1, 0}
#elif BURN_LEVEL == 3
#define LANES_SHIFT1 {0, 4, 5, 6}
#define LANES_SHIFT2 {0, 1, 4, 5}
#define LANES_LAST {3, 3, 3, 3}
#define LANES_MIRROR {3, 2, 1, 0}
#else
#define LANES_SHIFT1 {0, 2}
#define LANES_LAST {1, 1}
#define LANES_MIRROR {1, 0}
#endif

/* lanes of v combined with all lanes before them; edge: the neutral element everywhere */
#if BURN_LEVEL == 4
#define LANES_SHIFT4 {0, 1, 2, 3, 8, 9, 10, 11}
#define ACROSS(v, edge, OP) do { \
    v = v OP __builtin_shuffle(edge, v, (vl)LANES_SHIFT1); \
    v = v OP __builtin_shuffle(edge, v, (vl)LANES_SHIFT2); \
    v = v OP __builtin_shuffle(edge, v, (vl)LANES_SHIFT4); } while (0)
#elif BURN_LEVEL == 3
#define ACROSS(v, edge, OP) do { \
    v = v OP __builtin_shuffle(edge, v, (vl)LANES_SHIFT1); \
    v = v OP __builtin_shuffle(edge, v, (vl)LANES_SHIFT2); } while (0)
#else
#define ACROSS(v, edge, OP) do { v = v OP __builtin_shuffle(edge, v, (vl)LANES_SHIFT1); } while (0)
#endif

/* A contiguous row of floats, vector by vector in double: what a vector adds to the running result is known before the
   result itself, so that the chain from vector to vector is one operation long. */
#define FLOAT_ROW(name, OP, neutral) \
    VINL void name(const float *x, float *y, int64_t n, scan_acc *acc, int stream, const int reverse) { \
        const vd edge = bcd(neutral); \
        const vl mirror = LANES_MIRROR, last = LANES_LAST; \
        vd carry = bcd(acc->d); \
        int64_t i = 0; \
        for (; i + VW <= n; i += VW) { \
            const int64_t at = reverse ? n - VW - i : i; \
            vf v = vf_load(x + at); \
            vd lo = reverse ? __builtin_shuffle(vf_dhi(v), mirror) : vf_dlo(v); \
            vd hi = reverse ? __builtin_shuffle(vf_dlo(v), mirror) : vf_dhi(v); \
            ACROSS(lo, edge, OP); \
            ACROSS(hi, edge, OP); \
            vd total = __builtin_shuffle(lo, last); \
            lo = carry OP lo; \
            carry = carry OP total; \
            total = __builtin_shuffle(hi, last); \
            hi = carry OP hi; \
            carry = carry OP total; \
            v = reverse ? vf_from_d(__builtin_shuffle(hi, mirror), __builtin_shuffle(lo, mirror)) : vf_from_d(lo, hi); \
            if (stream) vf_stream(y + at, v); \
            else vf_store(y + at, v); \
        } \
        double rest = carry[0]; \
        for (; i < n; i++) { \
            const int64_t at = reverse ? n - 1 - i : i; \
            rest = rest OP (double)x[at]; \
            y[at] = (float)rest; \
        } \
        acc->d = rest; \
    }
FLOAT_ROW(float_row_sum, +, 0.0)
FLOAT_ROW(float_row_prod, *, 1.0)

typedef struct {
    enum scan_op op;
    int size, stream, reverse;
    const char *x;
    char *y;
    int64_t outer, n, inner, tiles, tile, group;
} scan_job;

/* x and y: w columns of one row; or one contiguous row of n */
typedef struct {
    void (*columns)(enum scan_op op, const void *x, void *y, int64_t w, scan_acc *acc, int fresh);
    void (*row)(enum scan_op op, const void *x, void *y, int64_t n, scan_acc *acc, int fresh, int stream, int reverse);
    void (*total)(enum scan_op op, const void *x, int64_t n, scan_acc *acc);
} scan_type;

#define FN(name) name##_f64
#define T double
#define A double
#define FLOATING 1
#define SUM(acc) (acc).d
#include "scan_type.h"

#define FN(name) name##_f32
#define T float
#define A double
#define FLOATING 1
#define SUM(acc) (acc).d
#define ROW_SUM float_row_sum
#define ROW_PROD float_row_prod
#include "scan_type.h"

#define FN(name) name##_i64
#define T int64_t
#define A uint64_t
#include "scan_type.h"
#define FN(name) name##_u64
#define T uint64_t
#define A uint64_t
#include "scan_type.h"
#define FN(name) name##_i32
#define T int32_t
#define A uint32_t
#include "scan_type.h"
#define FN(name) name##_u32
#define T uint32_t
#define A uint32_t
#include "scan_type.h"
#define FN(name) name##_i16
#define T int16_t
#define A uint32_t
#include "scan_type.h"
#define FN(name) name##_u16
#define T uint16_t
#define A uint32_t
#include "scan_type.h"
#define FN(name) name##_i8
#define T int8_t
#define A uint32_t
#include "scan_type.h"
#define FN(name) name##_u8
#define T uint8_t
#define A uint32_t
#include "scan_type.h"

/* ---- half types: pieces as floats */
#define HALF(name) \
    static void widen_##name(const uint16_t *x, float *y, int64_t n) { \
        int64_t i = 0; \
        for (; i + VW <= n; i += VW) vf_storea(y + i, vf_load_##name(x + i)); \
        if (i < n) vf_storea(y + i, vf_load_##name##_n(x + i, n - i)); \
    } \
    static void narrow_##name(const float *x, uint16_t *y, int64_t n) { \
        int64_t i = 0; \
        for (; i + VW <= n; i += VW) vf_store_##name(y + i, vf_loada(x + i)); \
        if (i < n) vf_store_##name##_n(y + i, vf_loada(x + i), n - i); \
    } \
    static void columns_##name(enum scan_op op, const void *x, void *y, int64_t w, scan_acc *acc, int fresh) { \
        float some[SPAN + VW] __attribute__((aligned(64))); \
        for (int64_t c = 0; c < w; c += SPAN) { \
            int64_t len = i64_min(SPAN, w - c); \
            widen_##name((const uint16_t *)x + c, some, len); \
            columns_f32(op, some, some, len, acc + c, fresh); \
            narrow_##name(some, (uint16_t *)y + c, len); \
        } \
    } \
    static void row_##name(enum scan_op op, const void *x, void *y, int64_t n, scan_acc *acc, int fresh, int stream, \
                           int reverse) { \
        (void)stream; \
        float some[SPAN + VW] __attribute__((aligned(64))); \
        for (int64_t i = 0; i < n; i += SPAN) { \
            int64_t len = i64_min(SPAN, n - i), at = reverse ? n - i - len : i; \
            widen_##name((const uint16_t *)x + at, some, len); \
            row_f32(op, some, some, len, acc, fresh && i == 0, 0, reverse); \
            narrow_##name(some, (uint16_t *)y + at, len); \
        } \
    } \
    static void total_##name(enum scan_op op, const void *x, int64_t n, scan_acc *acc) { \
        float some[SPAN + VW] __attribute__((aligned(64))); \
        for (int64_t i = 0; i < n; i += SPAN) { \
            int64_t len = i64_min(SPAN, n - i); \
            widen_##name((const uint16_t *)x + i, some, len); \
            total_f32(op, some, len, acc); \
        } \
    } \
    static const scan_type scan_##name = {columns_##name, row_##name, total_##name};
HALF(f16)
HALF(bf16)

static const scan_type *const SCAN_TYPES[DT_COUNT] = {
    [DT_F64] = &scan_f64, [DT_F32] = &scan_f32, [DT_FLEX32] = &scan_f32, [DT_F16] = &scan_f16, [DT_BF16] = &scan_bf16,
    [DT_I64] = &scan_i64, [DT_I32] = &scan_i32, [DT_I16] = &scan_i16,    [DT_I8] = &scan_i8,   [DT_U64] = &scan_u64,
    [DT_U32] = &scan_u32, [DT_U16] = &scan_u16, [DT_U8] = &scan_u8,
};

typedef struct { scan_job j; const scan_type *t; } scan_work;

/* a tile of columns of one outer index, or a group of whole rows where inner is 1 */
static void scan_task(void *ctx, int64_t task) {
    const scan_work *work = ctx;
    const scan_job *j = &work->j;
    if (j->inner == 1) {
        int64_t end = i64_min((task + 1) * j->group, j->outer), bytes = j->n * j->size;
        for (int64_t o = task * j->group; o < end; o++) {
            scan_acc acc = {0};
            work->t->row(j->op, j->x + o * bytes, j->y + o * bytes, j->n, &acc, 1, j->stream, j->reverse);
        }
        if (j->stream) v_fence();
        return;
    }
    scan_acc acc[SPAN];
    int64_t o = task / j->tiles, c0 = task % j->tiles * j->tile, w = i64_min(j->tile, j->inner - c0);
    for (int64_t k = 0; k < j->n; k++) {
        int64_t at = ((o * j->n + (j->reverse ? j->n - 1 - k : k)) * j->inner + c0) * j->size;
        work->t->columns(j->op, j->x + at, j->y + at, w, acc, k == 0);
    }
}

/* ---- a long row in pieces: what each adds, then each with what those before it add. The pieces follow from the length
   alone; a single thread takes them in turn, while they are in its cache. */
#define LONG_PIECE 32768
#define LONG_PIECES 1024

typedef struct {
    const scan_work *work;
    const char *x;
    char *y;
    int64_t piece;
    int apply; /* the second pass */
    scan_acc acc[LONG_PIECES];
} scan_long;

static void scan_piece(void *ctx, int64_t p) {
    scan_long *l = ctx;
    const scan_job *j = &l->work->j;
    int64_t from = p * l->piece, len = i64_min(l->piece, j->n - from), at = j->reverse ? j->n - from - len : from;
    if (!l->apply) {
        l->work->t->total(j->op, l->x + at * j->size, len, &l->acc[p]);
        return;
    }
    l->work->t->row(j->op, l->x + at * j->size, l->y + at * j->size, len, &l->acc[p], 0, j->stream, j->reverse);
    if (j->stream) v_fence();
}

static void scan_long_row(const scan_work *work, int64_t row, int floating) {
    const scan_job *j = &work->j;
    const int64_t piece = i64_max(LONG_PIECE, ceil_div(ceil_div(j->n, LONG_PIECES), 64) * 64), n = ceil_div(j->n, piece);
    scan_long l = {.work = work, .x = j->x + row * j->n * j->size, .y = j->y + row * j->n * j->size, .piece = piece};
    scan_acc neutral = {0}, sum;
    if (floating) neutral.d = j->op == SCAN_SUM ? 0 : 1;
    else neutral.u = j->op == SCAN_SUM ? 0 : 1;
    for (int64_t p = 0; p < n; p++) l.acc[p] = neutral;
    const int alone = rt->threads() == 1;
    if (!alone) rt->run(scan_piece, &l, n);
    sum = neutral;
    for (int64_t p = 0; p < n; p++) {
        l.apply = 0;
        if (alone) scan_piece(&l, p);
        const scan_acc here = l.acc[p];
        l.acc[p] = sum;
        if (floating) sum.d = j->op == SCAN_SUM ? sum.d + here.d : sum.d * here.d;
        else sum.u = j->op == SCAN_SUM ? sum.u + here.u : sum.u * here.u;
        l.apply = 1;
        if (alone) scan_piece(&l, p);
    }
    if (!alone) rt->run(scan_piece, &l, n);
}

static int scan_run(enum scan_op op, int dtype, const void *x, void *y, int64_t outer, int64_t n, int64_t inner,
                    int64_t reverse) {
    scan_work work = {{.op = op, .size = DT_SIZE[dtype], .reverse = (int)reverse, .x = x, .y = y, .outer = outer, .n = n,
                       .inner = inner}, SCAN_TYPES[dtype]};
    scan_job *j = &work.j;
    int64_t size = outer * n * inner;
    if (size == 0) return BURN_OK;
    j->stream = can_stream(y, size * j->size) && n * j->size % 64 == 0 && x != y;
    if (inner == 1 && outer < 16 && n >= 4 * LONG_PIECE && op <= SCAN_PROD) {
        for (int64_t row = 0; row < outer; row++) scan_long_row(&work, row, dtype <= DT_BF16);
        return BURN_OK;
    }
    j->group = i64_max(1, 16384 / n);
    j->tile = inner >= 4 * SPAN ? SPAN : i64_min(inner, TILE);
    j->tiles = ceil_div(inner, j->tile);
    rt_tasks(scan_task, &work, inner == 1 ? ceil_div(outer, j->group) : outer * j->tiles, (double)size * 0.8);
    return BURN_OK;
}
