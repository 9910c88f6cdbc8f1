/* Stable sorts of the rows of x, [rows, n], of which positions first..first+k are written: all of a row, its k largest, its
   median. Elements become integers in the wanted order (keys: NaN above all numbers whatever its sign, -0 equal to 0;
   inverted to sort downward). A key and its position make an entry; no two entries are equal, so that every way to sort
   them is stable: counting for a few, merges for some, a radix sort for many. */
#pragma once
#include "runtime.h"
#include "scalar.h"

#define RANKED 32              /* entries of a block that is sorted by counting how many are smaller */
#define GROUPS 64              /* least number of groups whose minima bound the k-th smallest key */
#define PIECES 16              /* of a row that is sorted by several threads */
#define PIECE 32768            /* least elements of a piece */
#define ALL32 0x7fffffff
#define ALL64 INT64_MAX

/* ---- keys: a sign and a magnitude as a signed number, NaN on top. 16 and 8 bits become 0..65535 and 0..255, so that the
   upper digits of their keys are the same for all and cost the radix sort no pass */
#define KEYS(T, K, ...) \
    for (int64_t i = 0; i < n; i++) { \
        const T b = ((const T *)x)[i]; \
        keys[i] = (K)(__VA_ARGS__) ^ flip; \
    } \
    break;
#define SIGNED(b, sign, most, infinity) \
    (((b) & (most)) > (infinity) ? (most) : (b) & (sign) ? -(int32_t)((b) & (most)) : (int32_t)((b) & (most)))

static void narrow_keys(int dtype, const void *x, int64_t n, int32_t flip, int32_t *keys) {
    switch (dtype) {
    case DT_F32: case DT_FLEX32:
        KEYS(int32_t, int32_t, (b & ALL32) > 0x7f800000 ? ALL32 : b < 0 ? -(b & ALL32) : b)
    case DT_F16: KEYS(uint16_t, int32_t, 0x8000 + SIGNED(b, 0x8000, 0x7fff, 0x7c00))
    case DT_BF16: KEYS(uint16_t, int32_t, 0x8000 + SIGNED(b, 0x8000, 0x7fff, 0x7f80))
    case DT_I32: KEYS(int32_t, int32_t, b)
    case DT_U32: KEYS(int32_t, int32_t, b ^ INT32_MIN)
    case DT_I16: KEYS(int16_t, int32_t, b + 0x8000)
    case DT_U16: KEYS(uint16_t, int32_t, b)
    case DT_I8: KEYS(int8_t, int32_t, b + 0x80)
    default: KEYS(uint8_t, int32_t, b)
    }
}

static void wide_keys(int dtype, const void *x, int64_t n, int64_t flip, int64_t *keys) {
    switch (dtype) {
    case DT_F64: KEYS(int64_t, int64_t, (b & ALL64) > 0x7ff0000000000000 ? ALL64 : b < 0 ? -(b & ALL64) : b)
    case DT_I64: KEYS(int64_t, int64_t, b)
    case DT_U64: KEYS(int64_t, int64_t, b ^ INT64_MIN)
    default: /* rows too long for entries of 64 bits */
        for (int64_t i = 0; i < n; i += 256) {
            int32_t some[256];
            int64_t len = i64_min(256, n - i);
            narrow_keys(dtype, (const char *)x + i * DT_SIZE[dtype], len, (int32_t)flip, some);
            for (int64_t j = 0; j < len; j++) keys[i + j] = some[j];
        }
    }
}

typedef struct {
    const char *x;
    char *values;         /* may be NULL */
    void *at;             /* positions; may be NULL */
    int64_t rows, n, first, k, group;
    int dtype, size, at_wide, flip, bad;
} sort_job;

typedef struct { int64_t key, at; } wide_entry;

/* a key of 32 bits above a position of 32 bits */
#define FN(name) narrow_##name
#define K int32_t
#define E int64_t
#define COUNT uint32_t
#define DIGITS 4
#define MERGED 200
#define MAKE(key, at) ((int64_t)((uint64_t)(uint32_t)(key) << 32 | (uint32_t)(at)))
#define AT(e) ((int64_t)(uint32_t)(e))
#define KEY(e) ((int32_t)((e) >> 32))
#define DIGIT(e, q) ((uint8_t)((uint64_t)(e) >> (32 + 8 * (q))) ^ ((q) == 3 ? 0x80 : 0))
#define LESS(a, b) ((a) < (b))
#define VECTORS 1
#include "sort_type.h"

#define FN(name) wide_##name
#define K int64_t
#define E wide_entry
#define COUNT uint64_t
#define DIGITS 8
#define MERGED 150
#define MAKE(k, p) ((wide_entry){.key = (k), .at = (p)})
#define AT(e) ((e).at)
#define KEY(e) ((e).key)
#define DIGIT(e, q) ((uint8_t)((uint64_t)(e).key >> (8 * (q))) ^ ((q) == 7 ? 0x80 : 0))
#define LESS(a, b) (((a).key < (b).key) | (((a).key == (b).key) & ((a).at < (b).at)))
#define VECTORS 0
#include "sort_type.h"

static int sort_run(int dtype, const void *x, void *values, void *at, int at_dtype, int64_t rows, int64_t n,
                    int64_t descending, int64_t first, int64_t k, burn_args *a) {
    sort_job j = {.x = x, .values = values, .at = at, .rows = rows, .n = n, .first = first, .k = k, .dtype = dtype,
                  .size = DT_SIZE[dtype], .at_wide = at_dtype == DT_I64, .flip = descending ? -1 : 0};
    const int wide = j.size == 8 || n > UINT32_MAX;
    if (rows == 0 || k == 0) return BURN_OK;
    const int picked = k == 1 || (first == 0 && 16 * k <= n); /* one thread is faster than all that sort the row */
    if (rows < PIECES && n >= 2 * PIECE && !picked && rt->threads() > 1) {
        for (int64_t r = 0; r < rows && !j.bad; r++) (wide ? wide_long_row : narrow_long_row)(&j, r);
    } else {
        j.group = i64_max(1, 8192 / n);
        double ns = n <= RANKED ? 4 + 0.6 * (double)n : wide ? 20 : 7;
        rt_tasks(wide ? wide_task : narrow_task, &j, ceil_div(rows, j.group), (double)(rows * n) * ns);
    }
    return j.bad ? rt_no_memory(a, n * (wide ? 40 : 20)) : BURN_OK;
}
