/* One number at the class that each value names along a new axis, another one elsewhere: x is [outer, inner], out is
   [outer, classes, inner]. Negative classes count from the last one, fractions are cut off, and what names no class is reported.
   Every line of out is written once, around the cache where out is large. */
#pragma once
#include "index.h"

#define HOT_BYTES 16384 /* of out that are made at a time, in L1 */
#define HOT_PIECES 16   /* such pieces a task */
#define HOT_SHORT 256   /* from here on rows of `inner` are compared with each class, shorter ones are looked up */
#define HOT_IDS 2048    /* values whose classes are worked out together */

typedef struct {
    const void *x;
    char *out;
    int64_t outer, classes, inner, per; /* per: classes a task, where rows are compared */
    int dtype, size, stream, bad;
    char on[8], off[8];
} hot_job;

/* The classes of n values; whether any of them is none. */
#define HOT_INTS(T, negatives) \
    static int hot_##T(const void *x, int64_t n, int64_t classes, uint32_t *ids) { \
        uint64_t signs = 0; \
        for (int64_t i = 0; i < n; i++) { \
            int64_t at = (int64_t)((const T *)x)[i]; \
            if (negatives) at += at < 0 ? classes : 0; \
            signs |= (uint64_t)at | ((uint64_t)classes - 1 - (uint64_t)at); \
            ids[i] = (uint32_t)at; \
        } \
        return (int)(signs >> 63); \
    }
#define HOT_FLOATS(T) \
    static int hot_##T(const void *x, int64_t n, int64_t classes, uint32_t *ids) { \
        const double low = -1.0 - (double)classes, high = (double)classes; \
        int bad = 0; \
        for (int64_t i = 0; i < n; i++) { \
            const double v = (double)((const T *)x)[i]; \
            const int fits = v > low && v < high; \
            const int64_t at = fits ? (int64_t)v : 0; \
            bad |= !fits; \
            ids[i] = (uint32_t)(at < 0 ? at + classes : at); \
        } \
        return bad; \
    }
HOT_INTS(int64_t, 1)
HOT_INTS(int32_t, 1)
HOT_INTS(int16_t, 1)
HOT_INTS(int8_t, 1)
HOT_INTS(uint64_t, 0)
HOT_INTS(uint32_t, 0)
HOT_INTS(uint16_t, 0)
HOT_INTS(uint8_t, 0)
HOT_FLOATS(double)
HOT_FLOATS(float)

static int hot_ids(const hot_job *j, int64_t from, int64_t n, uint32_t *ids) {
    const void *x = (const char *)j->x + from * j->size;
    float wide[HOT_IDS];
    switch (j->dtype) {
    case DT_I64: return hot_int64_t(x, n, j->classes, ids);
    case DT_I32: return hot_int32_t(x, n, j->classes, ids);
    case DT_I16: return hot_int16_t(x, n, j->classes, ids);
    case DT_I8: return hot_int8_t(x, n, j->classes, ids);
    case DT_U64: return hot_uint64_t(x, n, j->classes, ids);
    case DT_U32: return hot_uint32_t(x, n, j->classes, ids);
    case DT_U16: return hot_uint16_t(x, n, j->classes, ids);
    case DT_U8: return hot_uint8_t(x, n, j->classes, ids);
    case DT_F64: return hot_double(x, n, j->classes, ids);
    case DT_F16: case DT_BF16:
        widen_row(j->dtype, x, wide, n);
        return hot_float(wide, n, j->classes, ids);
    default: return hot_float(x, n, j->classes, ids);
    }
}

/* a value without its fraction; INT64_MIN for NaN and what is too large */
static int64_t hot_value(int dtype, const void *x) {
    double v;
    float f;
    switch (dtype) {
    case DT_I64: case DT_U64: return *(const int64_t *)x;
    case DT_I32: return *(const int32_t *)x;
    case DT_I16: return *(const int16_t *)x;
    case DT_I8: return *(const int8_t *)x;
    case DT_U32: return *(const uint32_t *)x;
    case DT_U16: return *(const uint16_t *)x;
    case DT_U8: return *(const uint8_t *)x;
    case DT_F64: v = *(const double *)x; break;
    case DT_F16: case DT_BF16: widen_row(dtype, x, &f, 1), v = f; break;
    default: v = *(const float *)x;
    }
    return v > -0x1p63 && v < 0x1p63 ? (int64_t)v : INT64_MIN;
}
/* The first value that is no class. */
static int hot_report(const hot_job *j, burn_args *a) {
    const int64_t count = j->outer * j->inner;
    for (int64_t i = 0; i < count; i++) {
        uint32_t id;
        if (!hot_ids(j, i, 1, &id)) continue;
        a->err[0] = i;
        a->err[1] = hot_value(j->dtype, (const char *)j->x + i * j->size);
        a->err[2] = j->classes;
        return BURN_ERR_INDEX;
    }
    return BURN_OK;
}

#define HOT_SIZES(f) \
    switch (size) { \
    case 1: f(uint8_t) break; \
    case 2: f(u16_any) break; \
    case 4: f(u32_any) break; \
    default: f(u64_any) \
    }
VINL void hot_fill(char *to, const char *number, int size, int64_t n) {
#define HOT_FILL(T) { T v; memcpy(&v, number, sizeof v); for (int64_t i = 0; i < n; i++) ((T *)to)[i] = v; }
    HOT_SIZES(HOT_FILL)
#undef HOT_FILL
}
VINL void hot_poke(char *to, const uint16_t *at, int64_t n, const char *number, int size) {
#define HOT_POKE(T) { T v; memcpy(&v, number, sizeof v); for (int64_t i = 0; i < n; i++) ((T *)to)[at[i]] = v; }
    HOT_SIZES(HOT_POKE)
#undef HOT_POKE
}
/* bytes to out, around the cache where stream is set; from lies in its line as out does */
VINL void hot_put(char *out, const char *from, int64_t bytes, int stream) {
    int64_t head = stream ? i64_min(-(int64_t)(uintptr_t)out & 63, bytes) : bytes, i = head;
    memcpy(out, from, (size_t)head);
    for (; i + 64 <= bytes; i += 64)
        for (int k = 0; k < 64; k += 4 * VW) vf_stream((float *)(out + i + k), vf_load((const float *)(from + i + k)));
    memcpy(out + i, from + i, (size_t)(bytes - i));
}

/* Pieces of out as it lies in memory: a piece of nothing but `off` in which the places that are on are set, and set back. */
static void hot_pieces(void *ctx, int64_t task) {
    hot_job *j = ctx;
    char piece[HOT_BYTES] __attribute__((aligned(64)));
    uint16_t at[HOT_BYTES / 2 + 2 * HOT_SHORT];
    uint32_t ids[HOT_IDS];
    const int64_t plane = j->classes * j->inner, size = j->outer * plane, most = HOT_BYTES / j->size;
    int64_t first = task * HOT_PIECES * most;
    hot_fill(piece, j->off, j->size, most);
    for (const int64_t end = i64_min(size, first + HOT_PIECES * most); first < end; first += most) {
        const int64_t len = i64_min(most, end - first), last = ((first + len - 1) / plane + 1) * j->inner;
        int64_t from = first / plane * j->inner, place = first / plane * plane - first, c = 0, count = 0;
        for (; from < last; from += HOT_IDS) {
            const int64_t n = i64_min(HOT_IDS, last - from);
            if (hot_ids(j, from, n, ids)) {
                mark_bad(&j->bad);
                return;
            }
            for (int64_t i = 0; i < n; i++) { /* place: where class 0 of the value would lie, from the piece on */
                const uint64_t here = (uint64_t)(place + (int64_t)ids[i] * j->inner);
                at[count] = (uint16_t)here;
                count += here < (uint64_t)len;
                place++;
                if (++c == j->inner) c = 0, place += plane - j->inner;
            }
        }
        hot_poke(piece, at, count, j->on, j->size);
        hot_put(j->out + first * j->size, piece, len * j->size, j->stream);
        hot_poke(piece, at, count, j->off, j->size);
    }
    if (j->stream) v_fence();
}

/* Columns of one outer index and some classes: the classes of the columns compared with each of these. */
static void hot_columns(void *ctx, int64_t task) {
    hot_job *j = ctx;
    char room[8 * HOT_IDS + 64] __attribute__((aligned(64)));
    uint32_t ids[HOT_IDS];
    const int size = j->size;
    const int64_t tiles = ceil_div(j->inner, HOT_IDS), ranges = ceil_div(j->classes, j->per), range = task % ranges;
    const int64_t o = task / ranges / tiles, from = task / ranges % tiles * HOT_IDS, w = i64_min(HOT_IDS, j->inner - from);
    if (hot_ids(j, o * j->inner + from, w, ids)) {
        mark_bad(&j->bad);
        return;
    }
    for (int64_t c = range * j->per; c < i64_min((range + 1) * j->per, j->classes); c++) {
        char *out = j->out + ((o * j->classes + c) * j->inner + from) * j->size;
        char *line = j->stream ? room + ((uintptr_t)out & 63) : out;
        const uint32_t id = (uint32_t)c;
#define HOT_COMPARE(T) { \
        T on, off; \
        memcpy(&on, j->on, sizeof on); \
        memcpy(&off, j->off, sizeof off); \
        for (int64_t i = 0; i < w; i++) ((T *)line)[i] = ids[i] == id ? on : off; \
    }
        HOT_SIZES(HOT_COMPARE)
#undef HOT_COMPARE
        if (j->stream) hot_put(out, line, w * j->size, 1);
    }
    if (j->stream) v_fence();
}

static int one_hot(const burn_buf *out, const burn_buf *x, burn_args *a, int64_t outer, int64_t classes, int64_t inner) {
    const int size = DT_SIZE[x->dtype];
    const int64_t count = outer * classes * inner, bytes = count * size;
    hot_job j = {.x = x->p, .out = out->p, .outer = outer, .classes = classes, .inner = inner, .dtype = x->dtype, .size = size,
                 .stream = can_stream(out->p, bytes)};
    if (count == 0) return BURN_OK;
    scalar_store(x->dtype, a->f[0], a->i[3], j.on);
    scalar_store(x->dtype, a->f[1], a->i[4], j.off);
    if (inner < HOT_SHORT) {
        rt_tasks(hot_pieces, &j, ceil_div(bytes, HOT_BYTES * HOT_PIECES), (double)bytes * 0.06);
    } else {
        const int64_t w = i64_min(inner, HOT_IDS);
        j.per = i64_max(1, HOT_BYTES * HOT_PIECES / (w * size));
        rt_tasks(hot_columns, &j, outer * ceil_div(inner, HOT_IDS) * ceil_div(classes, j.per), (double)bytes * 0.06);
    }
    return j.bad ? hot_report(&j, a) : BURN_OK;
}
