/* gather, select, scatter and select_assign on the middle axis of [outer, n, inner]. Index tensors are int32 or int64
   (`wide`). Every index is checked before it is used; what writes into existing values checks all of them first. */
#pragma once
#include "runtime.h"
#include "scalar.h"

#define CHUNK 16384         /* positions a task */
#define BLOCK 128           /* positions whose indices are checked together, in L1 */
#define AHEAD 512           /* positions from here to the index that is fetched */

VINL int64_t index_at(const void *idx, int wide, int64_t i) {
    return wide ? ((const int64_t *)idx)[i] : ((const int32_t *)idx)[i];
}

/* ---- the check */
VINL int any_outside(const void *idx, int wide, int64_t from, int64_t to, int64_t n) {
    if (wide) { /* the sign of i or of n - 1 - i tells, and signs can be collected without comparing */
        uint64_t signs = 0;
        for (int64_t i = from; i < to; i++) {
            uint64_t v = ((const uint64_t *)idx)[i];
            signs |= v | ((uint64_t)n - 1 - v);
        }
        return (int)(signs >> 63);
    }
    uint32_t signs = 0, last = (uint32_t)i64_min(n - 1, INT32_MAX);
    for (int64_t i = from; i < to; i++) {
        uint32_t v = ((const uint32_t *)idx)[i];
        signs |= v | (last - v);
    }
    return (int)(signs >> 31);
}
static int report_outside(const void *idx, int wide, int64_t count, int64_t n, burn_args *a) {
    for (int64_t i = 0; i < count; i++) {
        int64_t at = index_at(idx, wide, i);
        if (at >= 0 && at < n) continue;
        a->err[0] = i;
        a->err[1] = at;
        a->err[2] = n;
        return BURN_ERR_INDEX;
    }
    return BURN_OK;
}
typedef struct { const void *idx; int wide, bad; int64_t count, n; } check_job;

VINL void mark_bad(int *bad) { __atomic_store_n(bad, 1, __ATOMIC_RELAXED); }

static void check_task(void *ctx, int64_t i) {
    check_job *j = ctx;
    if (any_outside(j->idx, j->wide, i * CHUNK, i64_min((i + 1) * CHUNK, j->count), j->n)) mark_bad(&j->bad);
}
/* BURN_ERR_INDEX with the first index outside [0, n), if there is one */
static int check_indices(const void *idx, int wide, int64_t count, int64_t n, burn_args *a) {
    check_job j = {idx, wide, 0, count, n};
    rt_tasks(check_task, &j, ceil_div(count, CHUNK), (double)count * 0.3);
    return j.bad ? report_outside(idx, wide, count, n, a) : BURN_OK;
}

/* ---- gather: out[o, j, c] = x[o, idx[o, j, c], c]. select with inner = 1: the same idx[j] for every o */
typedef struct {
    const char *x;
    const void *idx;
    char *out;
    int64_t outer, n, inner, k;
    int size, wide, shared, stream, bad;
} take_job;

typedef uint16_t u16_any __attribute__((aligned(1), may_alias));
typedef uint32_t u32_any __attribute__((aligned(1), may_alias));
typedef uint64_t u64_any __attribute__((aligned(1), may_alias));

/* len elements of one line: with step = 1 positions in a row of x, else rows of x at neighbouring columns */
/* (the empty asm keeps gcc from gather instructions, which are slower than loads on many processors) */
#define TAKE(T, wide) \
    for (int64_t i = 0; i < len; i++) { \
        int64_t at = index_at(idx, wide, from + i); \
        __asm__("" : "+r"(at)); \
        ((T *)out)[i] = ((const T *)x)[step == 1 ? at : at * step + i]; \
    }
VINL void take_line(const char *x, const void *idx, int wide, int64_t from, int64_t len, int64_t step, char *out,
                    int size) {
    switch (size * 2 + wide) {
    case 2: TAKE(uint8_t, 0) break;
    case 3: TAKE(uint8_t, 1) break;
    case 4: TAKE(u16_any, 0) break;
    case 5: TAKE(u16_any, 1) break;
    case 8: TAKE(u32_any, 0) break;
    case 9: TAKE(u32_any, 1) break;
    case 16: TAKE(u64_any, 0) break;
    default: TAKE(u64_any, 1)
    }
}
#undef TAKE

#if BURN_LEVEL >= 2
/* the same for step = 1 around the cache, eight bytes a store; out and the size of the line are multiples of them */
#define TAKE_STREAM(T, wide) \
    for (int64_t i = 0; i < len;) { \
        uint64_t word = 0; \
        for (int bit = 0; bit < 64; bit += 8 * (int)sizeof(T), i++) \
            word |= (uint64_t)((const T *)x)[index_at(idx, wide, from + i)] << bit; \
        _mm_stream_si64((long long *)out, (long long)word); \
        out += 8; \
    }
VINL void take_line_stream(const char *x, const void *idx, int wide, int64_t from, int64_t len, char *out, int size) {
    switch (size * 2 + wide) {
    case 2: TAKE_STREAM(uint8_t, 0) break;
    case 3: TAKE_STREAM(uint8_t, 1) break;
    case 4: TAKE_STREAM(u16_any, 0) break;
    case 5: TAKE_STREAM(u16_any, 1) break;
    case 8: TAKE_STREAM(u32_any, 0) break;
    case 9: TAKE_STREAM(u32_any, 1) break;
    case 16: TAKE_STREAM(u64_any, 0) break;
    default: TAKE_STREAM(u64_any, 1)
    }
}
#undef TAKE_STREAM
#else
#define take_line_stream(x, idx, wide, from, len, out, size) take_line(x, idx, wide, from, len, 1, out, size)
#endif

static void gather_task(void *ctx, int64_t task) {
    take_job *j = ctx;
    int64_t line = j->inner == 1 ? j->k : j->inner, at = task * CHUNK;
    int64_t end = i64_min(at + CHUNK, j->outer * j->k * j->inner), isize = j->wide ? 8 : 4;
    int stream = j->stream && j->inner == 1 && j->k * j->size % 8 == 0;
    while (at < end) {
        int64_t number = at / line, off = at % line, len = i64_min(i64_min(line - off, end - at), BLOCK);
        int64_t o = j->inner == 1 ? number : number / j->k, from = j->shared ? off : at;
        const char *x = j->x + (o * j->n * j->inner + (j->inner == 1 ? 0 : off)) * j->size;
        char *out = j->out + at * j->size;
        if (j->inner == 1 && number + 1 < j->outer) { /* the part of the next row of x that this block stands for */
            const char *next = x + j->n * j->size;
            int64_t bytes = j->n * j->size, a = off * bytes / j->k, b = (off + len) * bytes / j->k;
            for (; a < b && bytes <= 262144; a += 64) v_prefetch(next + a);
        }
        if (!j->shared) {
            const char *ahead = (const char *)j->idx + (from + AHEAD) * isize; /* beyond the last one does no harm */
            for (int64_t i = 0; i < len * isize; i += 64) v_prefetch(ahead + i);
            if (any_outside(j->idx, j->wide, from, from + len, j->n)) {
                mark_bad(&j->bad);
                break;
            }
        }
        if (stream) take_line_stream(x, j->idx, j->wide, from, len, out, j->size);
        else take_line(x, j->idx, j->wide, from, len, j->inner, out, j->size);
        at += len;
    }
    if (stream) v_fence();
}

static int gather(const void *x, const void *idx, void *out, int size, int wide, int64_t outer, int64_t n,
                  int64_t inner, int64_t k, burn_args *a) {
    int64_t count = outer * k * inner;
    take_job j = {x, idx, out, outer, n, inner, k, size, wide, 0, can_stream(out, count * size), 0};
    rt_tasks(gather_task, &j, ceil_div(count, CHUNK), (double)count * 0.8);
    return j.bad ? report_outside(idx, wide, count, n, a) : BURN_OK;
}

/* ---- select: out[o, j, :] = x[o, idx[j], :] */
static void select_task(void *ctx, int64_t task) {
    const take_job *j = ctx;
    int64_t bytes = j->inner * j->size, per = i64_max(1, CHUNK / j->inner), r = task * per,
            end = i64_min(r + per, j->outer * j->k);
    int stream = j->stream && bytes % 64 == 0;
    for (; r < end; r++) {
        const char *x = j->x + (r / j->k * j->n + index_at(j->idx, j->wide, r % j->k)) * bytes, *next = x;
        char *out = j->out + r * bytes;
        if (r + 2 < end) next = j->x + ((r + 2) / j->k * j->n + index_at(j->idx, j->wide, (r + 2) % j->k)) * bytes;
        if (stream) {
            for (int64_t i = 0; i < bytes; i += 64) {
                v_prefetch(next + i); /* rows come from anywhere: no hardware prefetch */
                for (int q = 0; q < 64; q += 4 * VW)
                    vf_stream((float *)(out + i + q), vf_load((const float *)(x + i + q)));
            }
        } else if (bytes < 64) { /* 8, 4, 2, 1 bytes a move: calls would cost more */
            int64_t i = 0;
            for (; i + 8 <= bytes; i += 8) memcpy(out + i, x + i, 8);
            if (bytes & 4) memcpy(out + i, x + i, 4), i += 4;
            if (bytes & 2) memcpy(out + i, x + i, 2), i += 2;
            if (bytes & 1) out[i] = x[i];
        } else {
            for (int64_t i = 0; i < i64_min(bytes, 1024); i += 64) v_prefetch(next + i);
            memcpy(out, x, (size_t)bytes);
        }
    }
    if (stream) v_fence();
}

static int select_rows(const void *x, const void *idx, void *out, int size, int wide, int64_t outer, int64_t n,
                       int64_t inner, int64_t k, burn_args *a) {
    int64_t count = outer * k * inner;
    if (count == 0) return k ? check_indices(idx, wide, k, n, a) : BURN_OK;
    int status = check_indices(idx, wide, k, n, a);
    if (status != BURN_OK) return status;
    take_job j = {x, idx, out, outer, n, inner, k, size, wide, 1, can_stream(out, count * size), 0};
    if (inner == 1) rt_tasks(gather_task, &j, ceil_div(count, CHUNK), (double)count * 0.5);
    else rt_tasks(select_task, &j, ceil_div(outer * k, i64_max(1, CHUNK / inner)), (double)count * 0.2);
    return BURN_OK;
}

/* ---- scatter and select_assign: out, which holds the target's values or gets them from `from`, takes in `values`. Order
   within a result is that of the values, so the last writer wins and sums of duplicates are reproducible: a task owns
   whole columns of out. */
enum scatter_mode { SCATTER_ASSIGN, SCATTER_ADD, SCATTER_MUL, SCATTER_MIN, SCATTER_MAX };

/* columns c0..c0+w of one outer index; out is at (o, 0, c0) with rows `pitch` elements apart, values at (o, 0, c0); the
   index of row j and column c is idx[at + j * idx_row + c * idx_col], idx_col = 0 where a row has one index */
typedef struct {
    void *out;
    const void *values, *idx;
    int wide;
    enum scatter_mode mode;
    int64_t k, w, inner, pitch, at, idx_row, idx_col;
    int64_t first, end;               /* rows of out that this task writes, where a row has one index */
} scatter_block;

/* Whether two of LOT indices are equal, or look so by their lower halves. A load waits for the store before it where the
   processor cannot tell that they differ: LOT places that do differ are read together, then written together. */
#if BURN_LEVEL >= 3
#define LOT 8
VINL int any_twice(const void *idx, int wide, int64_t at) {
    const float *p = (const float *)idx + (wide ? 2 * at : at);
    __m256 low = _mm256_loadu_ps(p);
    if (wide) low = _mm256_shuffle_ps(low, _mm256_loadu_ps(p + 8), 0x88);
    __m256i v = (__m256i)low, far = _mm256_permute2x128_si256(v, v, 1);
    __m256i one = _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0));
    __m256i two = _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(2, 3, 4, 5, 6, 7, 0, 1));
    __m256i three = _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(3, 4, 5, 6, 7, 0, 1, 2));
    __m256i same = _mm256_cmpeq_epi32(v, one) | _mm256_cmpeq_epi32(v, two);
    same |= _mm256_cmpeq_epi32(v, three) | _mm256_cmpeq_epi32(v, far);
    return !_mm256_testz_si256(same, same);
}
#else
#define LOT 4
VINL int any_twice(const void *idx, int wide, int64_t at) {
    int64_t a = index_at(idx, wide, at), b = index_at(idx, wide, at + 1), c = index_at(idx, wide, at + 2),
            d = index_at(idx, wide, at + 3);
    return (a == b) | (a == c) | (a == d) | (b == c) | (b == d) | (c == d);
}
#endif

#define BITS_OF(U) __typeof__(__builtin_choose_expr(sizeof(U) == 8, (uint64_t)0, __builtin_choose_expr(sizeof(U) == 4, \
    (uint32_t)0, __builtin_choose_expr(sizeof(U) == 2, (uint16_t)0, (uint8_t)0))))
/* Halves go through float. Of integers, what does not depend on the sign is compiled once a width. */
#define ORDER MODE(SCATTER_MIN) MODE(SCATTER_MAX)
#define IS_NAN(v) ((v) != (v))
#define MODES ORDER MODE(SCATTER_ADD) MODE(SCATTER_MUL)
#define U float
#define FN(name) name##_f32
#include "scatter_type.h"
#define U double
#define FN(name) name##_f64
#include "scatter_type.h"
#undef IS_NAN
#undef MODES
#define IS_NAN(v) ((void)(v), 0)
#define MODES ORDER
#define U int64_t
#define FN(name) name##_i64
#include "scatter_type.h"
#define U int32_t
#define FN(name) name##_i32
#include "scatter_type.h"
#define U int16_t
#define FN(name) name##_i16
#include "scatter_type.h"
#define U int8_t
#define FN(name) name##_i8
#include "scatter_type.h"
#undef MODES
#define MODES ORDER MODE(SCATTER_ASSIGN) MODE(SCATTER_ADD) MODE(SCATTER_MUL)
#define U uint64_t
#define FN(name) name##_u64
#include "scatter_type.h"
#define U uint32_t
#define FN(name) name##_u32
#include "scatter_type.h"
#define U uint16_t
#define FN(name) name##_u16
#include "scatter_type.h"
#define U uint8_t
#define FN(name) name##_u8
#include "scatter_type.h"

typedef void (*scatter_fn)(const scatter_block *b);
static const scatter_fn SCATTER_TYPES[DT_COUNT] = {
    [DT_F64] = scatter_f64,  [DT_F32] = scatter_f32, [DT_FLEX32] = scatter_f32, [DT_F16] = scatter_f32,
    [DT_BF16] = scatter_f32, [DT_I64] = scatter_i64, [DT_I32] = scatter_i32,    [DT_I16] = scatter_i16,
    [DT_I8] = scatter_i8,    [DT_U64] = scatter_u64, [DT_U32] = scatter_u32,    [DT_U16] = scatter_u16,
    [DT_U8] = scatter_u8,    [DT_BOOL] = scatter_u8,
};
static const scatter_fn SCATTER_BITS[9] = {[1] = scatter_u8, [2] = scatter_u16, [4] = scatter_u32, [8] = scatter_u64};

typedef struct {
    char *out;
    const char *from;                 /* what out begins with, NULL where it holds that already */
    const char *values;
    const void *idx;
    int64_t outer, n, inner, k, cols; /* columns a task */
    int64_t group;                    /* outer indices a task, where inner is 1 */
    int64_t ranges;                   /* tasks that share the rows of out among them, where a row has one index */
    int dtype, size, wide, shared, failed, bad;
    enum scatter_mode mode;
} scatter_job;

#define LINE_BYTES 65536 /* a line of out up to this size is made in the cache and streamed from there */

/* The indices of a task are checked a slab at a time, just before they are used and while they are in the cache. */
#define SLAB 4096 /* values */
static int slab_outside(scatter_job *j, const scatter_block *b) {
    int outside = 0;
    if (j->inner == 1) outside = any_outside(b->idx, b->wide, b->at, b->at + b->k, j->n);
    else for (int64_t r = 0; r < b->k; r++)
        outside |= any_outside(b->idx, b->wide, b->at + r * j->inner, b->at + r * j->inner + b->w, j->n);
    if (outside) mark_bad(&j->bad);
    return outside;
}
static void scatter_slabs(scatter_job *j, scatter_block *b, scatter_fn fn) {
    if (j->shared) { /* checked already */
        fn(b);
        return;
    }
    const int64_t k = b->k, slab = i64_max(1, SLAB / b->w);
    for (int64_t at = 0; at < k; at += slab) {
        b->k = i64_min(slab, k - at);
        if (slab_outside(j, b)) return;
        fn(b);
        b->at += b->k * b->idx_row;
        b->values = (const char *)b->values + b->k * b->inner * j->size;
    }
}

/* The rows that the indices name, in the order of their first one, and which of them each index names: how many. */
static int64_t number_rows(const scatter_block *b, int64_t n, int32_t *named, int32_t *which, int32_t *seen) {
    int64_t count = 0;
    memset(seen, 255, (size_t)n * 4);
    for (int64_t i = 0; i < b->k; i++) {
        const int64_t row = index_at(b->idx, b->wide, b->at + i);
        if (seen[row] < 0) named[seen[row] = (int32_t)count++] = (int32_t)row;
        which[i] = seen[row];
    }
    return count;
}

static void widen_row(int dtype, const uint16_t *x, float *to, int64_t n) {
    int64_t i = 0;
    if (dtype == DT_F16) for (; i + VW <= n; i += VW) vf_store(to + i, vf_load_f16(x + i));
    else for (; i + VW <= n; i += VW) vf_store(to + i, vf_load_bf16(x + i));
    if (i < n) vf_store_n(to + i, dtype == DT_F16 ? vf_load_f16_n(x + i, n - i) : vf_load_bf16_n(x + i, n - i), n - i);
}
static void narrow_row(int dtype, const float *x, uint16_t *to, int64_t n) {
    int64_t i = 0;
    if (dtype == DT_F16) for (; i + VW <= n; i += VW) vf_store_f16(to + i, vf_load(x + i));
    else for (; i + VW <= n; i += VW) vf_store_bf16(to + i, vf_load(x + i));
    if (i == n) return;
    if (dtype == DT_F16) vf_store_f16_n(to + i, vf_load_n(x + i, n - i), n - i);
    else vf_store_bf16_n(to + i, vf_load_n(x + i, n - i), n - i);
}

/* sums and products of half floats run in float, for all values of a result, and are rounded once; values are widened a
   slab at a time */
static int scatter_halves(scatter_job *j, scatter_block *b, scatter_fn fn, const void *from) {
    const int few = j->shared && j->inner > 1 && !j->from && b->k < j->n && j->n <= INT32_MAX; /* some rows stay */
    const int64_t w = j->inner == 1 ? j->n : b->w, most = j->inner == 1 ? 1 : few ? b->k : j->n;
    const int64_t k = b->k, slab = i64_min(k, i64_max(1, SLAB / b->w)), row = b->inner;
    const size_t bytes = (size_t)(most * w + slab * b->w) * 4 + (few ? (size_t)(2 * k + j->n) * 4 : 0);
    float *wide = rt->alloc(bytes), *values = wide + most * w;
    int32_t *named = (int32_t *)(values + slab * b->w), *which = named + k;
    const uint16_t *x = b->values;
    uint16_t *out = b->out;
    int64_t rows = most;
    if (!wide) return 0;
    if (few) {
        rows = number_rows(b, j->n, named, which, which + k);
        b->idx = which;
        b->wide = 0;
        b->at = 0;
    }
    for (int64_t r = 0; r < rows; r++)
        widen_row(j->dtype, (const uint16_t *)from + (few ? named[r] : r) * j->inner, wide + r * w, w);
    b->out = wide;
    b->pitch = b->w;
    b->values = values;
    b->inner = b->w;
    for (int64_t at = 0; at < k; at += slab, x += slab * row) {
        b->k = i64_min(slab, k - at);
        if (!j->shared && slab_outside(j, b)) break;
        if (row == b->w) widen_row(j->dtype, x, values, b->k * row);
        else for (int64_t r = 0; r < b->k; r++) widen_row(j->dtype, x + r * row, values + r * b->w, b->w);
        fn(b);
        b->at += b->k * b->idx_row;
    }
    for (int64_t r = 0; r < rows; r++)
        narrow_row(j->dtype, wide + r * w, out + (few ? named[r] : r) * j->inner, w);
    rt->free(wide, bytes);
    return 1;
}

/* whole vectors to memory that will not be read soon */
VINL void stream_out(char *out, const char *x, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i += 4 * VW) vf_stream((float *)(out + i), vf_load((const float *)(x + i)));
    v_fence();
}

/* the line in a buffer of the cache: out's own lines would be read from memory before they are written */
static int scatter_line(scatter_job *j, scatter_block *b, scatter_fn fn, const char *from, int64_t bytes) {
    char *line = rt->alloc((size_t)bytes), *out = b->out;
    if (!line) return 0;
    memcpy(line, from, (size_t)bytes);
    b->out = line;
    scatter_slabs(j, b, fn);
    stream_out(out, line, bytes);
    rt->free(line, (size_t)bytes);
    return 1;
}

static void scatter_task(void *ctx, int64_t task) {
    scatter_job *j = ctx;
    int64_t per = ceil_div(j->inner, j->cols), first = task / j->ranges / per * j->group;
    int64_t c0 = task / j->ranges % per * j->cols, rows = ceil_div(j->n, j->ranges), row = task % j->ranges * rows;
    int64_t bytes = j->n * j->size;
    int half = j->dtype == DT_F16 || j->dtype == DT_BF16, moves = j->mode == SCATTER_ASSIGN;
    int lines = j->from && j->inner == 1 && bytes <= LINE_BYTES && bytes % 64 == 0 &&
                can_stream(j->out, j->outer * bytes);
    int ordered = j->mode == SCATTER_MIN || j->mode == SCATTER_MAX, floating = j->dtype <= DT_BF16;
    scatter_fn fn = moves || (!ordered && !floating) ? SCATTER_BITS[j->size] : SCATTER_TYPES[j->dtype];
    for (int64_t o = first; o < i64_min(first + j->group, j->outer); o++) {
        scatter_block b = {
            .wide = j->wide, .mode = j->mode, .k = j->k, .w = i64_min(j->cols, j->inner - c0), .inner = j->inner};
        int64_t place = (o * j->n * j->inner + c0) * j->size, pitch = j->inner * j->size, w = b.w * j->size;
        const char *from = j->from ? j->from + place : NULL;
        b.out = j->out + place;
        b.values = j->values + (o * j->k * j->inner + c0) * j->size;
        b.idx = j->idx;
        b.pitch = j->inner;
        b.at = j->shared ? 0 : o * j->k * j->inner + c0;
        b.idx_row = j->shared ? 1 : j->inner;
        b.idx_col = !j->shared;
        b.first = row;
        b.end = i64_min(row + rows, j->n);
        int done = 1;
        if (half && !moves) done = scatter_halves(j, &b, fn, from ? from : b.out);
        else if (lines) done = scatter_line(j, &b, fn, from, bytes);
        else {
            char *to = b.out;
            if (from && w == pitch && b.end > row) memcpy(to + row * w, from + row * w, (size_t)((b.end - row) * w));
            else if (from) for (int64_t r = row; r < b.end; r++)
                memcpy(to + r * pitch, from + r * pitch, (size_t)w);
            scatter_slabs(j, &b, fn);
        }
        if (!done) __atomic_store_n(&j->failed, 1, __ATOMIC_RELAXED);
    }
}

typedef struct { char *out; const char *from; int64_t bytes; int stream; } copy_job;
#define COPY_BYTES 262144 /* a task */

static void copy_task(void *ctx, int64_t task) {
    const copy_job *j = ctx;
    int64_t at = task * COPY_BYTES, bytes = i64_min(COPY_BYTES, j->bytes - at), whole = j->stream ? bytes / 64 * 64 : 0;
    if (whole) stream_out(j->out + at, j->from + at, whole);
    memcpy(j->out + at + whole, j->from + at + whole, (size_t)(bytes - whole));
}

/* out[o, idx, c] (mode)= values[o, j, c], with idx[o, j, c], or idx[j] where shared; from: what out is to hold before */
static int scatter(void *out, const void *from, const void *values, const void *idx, int dtype, int wide, int shared,
                   int64_t outer, int64_t n, int64_t inner, int64_t k, enum scatter_mode mode, burn_args *a) {
    int64_t count = outer * k * inner, bytes = outer * n * inner * DT_SIZE[dtype];
    int bools = dtype == DT_BOOL;
    int status = shared ? check_indices(idx, wide, k, n, a) : BURN_OK;
    if (status != BURN_OK) return status;
    if (from && (count == 0 || k < n / 4)) { /* few places change: one plain copy */
        copy_job whole = {out, from, bytes, can_stream(out, bytes)};
        rt_tasks(copy_task, &whole, ceil_div(bytes, COPY_BYTES), (double)bytes * 0.1);
        from = NULL;
    }
    if (count == 0) return BURN_OK;
    if (bools && mode == SCATTER_ADD) mode = SCATTER_MAX; /* or */
    if (bools && mode == SCATTER_MUL) mode = SCATTER_MIN; /* and */
    scatter_job j = {.out = out,
                     .from = from,
                     .values = values,
                     .idx = idx,
                     .outer = outer,
                     .n = n,
                     .inner = inner,
                     .k = k,
                     .group = 1,
                     .ranges = 1,
                     .dtype = dtype,
                     .size = DT_SIZE[dtype],
                     .wide = wide,
                     .shared = shared,
                     .mode = mode};
    int64_t line = 64 / j.size; /* tasks write to different cache lines */
    j.cols = outer >= 16 ? inner : i64_max(line, ceil_div(ceil_div(inner, 16), line) * line);
    int half = dtype == DT_F16 || dtype == DT_BF16;
    if (shared && inner > 1 && outer < 16 && !(half && mode != SCATTER_ASSIGN)) {
        /* An element has one task, whichever it is, so the number of threads may choose: long pieces of rows, and rows
           dealt out where those are too few. */
        int64_t wanted = 4 * rt->threads(), across = i64_max(1, i64_min(inner * j.size / 2048, wanted));
        j.cols = ceil_div(ceil_div(inner, across), line) * line;
        j.ranges = i64_max(1, i64_min(n, wanted / (outer * ceil_div(inner, j.cols))));
        if (k * j.ranges > count / 4) j.ranges = 1; /* each range reads all indices */
    }
    if (inner == 1) j.cols = 1, j.group = i64_max(1, i64_min(ceil_div(outer, 2), CHUNK / i64_max(k, 1)));
    rt_tasks(scatter_task, &j, ceil_div(outer, j.group) * ceil_div(inner, j.cols) * j.ranges,
             (double)count * (shared ? 0.5 : 1.5));
    if (j.bad) return report_outside(idx, wide, count, n, a);
    return j.failed ? rt_no_memory(a, n * j.cols * 4) : BURN_OK;
}
