/* cast: every storage dtype to every other. The pairs that matter have loops of their own; the rest go through a
   block of double or int64 in L1. float -> int truncates, saturates, NaN is 0; int -> int wraps; int -> float rounds
   once; anything -> bool is "not zero"; bool -> number is 0 or 1. */
#pragma once
#include "elementwise_loops.h"

/* dtype, its storage type; f16 and bf16 have their own functions */
#define CAST_INTS(X) \
    X(DT_I64, int64_t) X(DT_I32, int32_t) X(DT_I16, int16_t) X(DT_I8, int8_t) \
    X(DT_U64, uint64_t) X(DT_U32, uint32_t) X(DT_U16, uint16_t) X(DT_U8, uint8_t)
#define CAST_BOOLS(X) X(DT_BOOL, uint8_t)
#define CAST_FLOATS(X) X(DT_F64, double) X(DT_F32, float) X(DT_FLEX32, float)

static const uint8_t dtype_size[DT_COUNT] = {
    [DT_F64] = 8, [DT_F32] = 4, [DT_FLEX32] = 4, [DT_F16] = 2, [DT_BF16] = 2, [DT_I64] = 8, [DT_I32] = 4, [DT_I16] = 2,
    [DT_I8] = 1, [DT_U64] = 8, [DT_U32] = 4, [DT_U16] = 2, [DT_U8] = 1, [DT_BOOL] = 1};
static inline int dtype_is_float(int dt) { return dt <= DT_BF16; }
static inline int dtype_is_half(int dt) { return dt == DT_F16 || dt == DT_BF16; }

/* double -> float so that rounding the result again to 8 or 11 bits gives what rounding once would: to odd when
   inexact */
static inline float round_to_odd(double d) {
    float f = (float)d;
    uint32_t u;
    memcpy(&u, &f, 4);
    if ((double)f != d && f == f && !(u & 1)) { /* an even neighbour: take the odd one on the side of d */
        u += (fabs((double)f) < fabs(d)) ? 1 : -1;
        memcpy(&f, &u, 4);
    }
    return f;
}

/* ---- block of n elements at p to double (floats) or int64 (others, u64 by its bits) */
static void cast_load(int dt, const void *p, void *block, int64_t n) {
    double *d = block;
    int64_t *w = block;
    float half[ELT_BLOCK];
    switch (dt) {
#define CASE(DT, T) case DT: { const T *a = p; for (int64_t i = 0; i < n; i++) d[i] = a[i]; return; }
        CAST_FLOATS(CASE)
#undef CASE
#define CASE(DT, T) case DT: { const T *a = p; for (int64_t i = 0; i < n; i++) w[i] = (int64_t)a[i]; return; }
        CAST_INTS(CASE)
#undef CASE
#define CASE(DT, T) case DT: { const T *a = p; for (int64_t i = 0; i < n; i++) w[i] = a[i] != 0; return; }
        CAST_BOOLS(CASE)
#undef CASE
        default:
            elt_from_half(dt, p, half, n);
            for (int64_t i = 0; i < n; i++) d[i] = half[i];
    }
}
/* double -> integer type of the limits, without undefined behaviour */
#define SATURATE(T, LO, HI, x) ((x) != (x) ? 0 : (x) <= (double)(LO) ? (LO) : (x) >= (double)(HI) ? (HI) : (T)(x))
static void cast_store_float(int dt, const double *d, void *p, int64_t n) {
    float half[ELT_BLOCK];
    switch (dt) {
#define CASE(DT, T) case DT: { T *o = p; for (int64_t i = 0; i < n; i++) o[i] = (T)d[i]; return; }
        CAST_FLOATS(CASE)
#undef CASE
#define CASE(DT, T, LO, HI) \
    case DT: { T *o = p; for (int64_t i = 0; i < n; i++) o[i] = SATURATE(T, LO, HI, d[i]); return; }
        CASE(DT_I64, int64_t, INT64_MIN, INT64_MAX)
        CASE(DT_I32, int32_t, INT32_MIN, INT32_MAX)
        CASE(DT_I16, int16_t, INT16_MIN, INT16_MAX)
        CASE(DT_I8, int8_t, INT8_MIN, INT8_MAX)
        CASE(DT_U64, uint64_t, 0u, UINT64_MAX)
        CASE(DT_U32, uint32_t, 0u, UINT32_MAX)
        CASE(DT_U16, uint16_t, 0u, UINT16_MAX)
        CASE(DT_U8, uint8_t, 0u, UINT8_MAX)
#undef CASE
#define CASE(DT, T) case DT: { T *o = p; for (int64_t i = 0; i < n; i++) o[i] = d[i] != 0; return; }
        CAST_BOOLS(CASE)
#undef CASE
        default:
            for (int64_t i = 0; i < n; i++) half[i] = round_to_odd(d[i]);
            elt_to_half(dt, half, p, n);
    }
}
static void cast_store_int(int dt, int from, const int64_t *w, void *p, int64_t n) {
    float half[ELT_BLOCK];
    const uint64_t *u = (const uint64_t *)w;
    int big = from == DT_U64;
    switch (dt) {
#define CASE(DT, T) case DT: { T *o = p; \
        if (big) { for (int64_t i = 0; i < n; i++) o[i] = (T)u[i]; } \
        else { for (int64_t i = 0; i < n; i++) o[i] = (T)w[i]; } \
        return; }
        CAST_FLOATS(CASE)
#undef CASE
#define CASE(DT, T) case DT: { T *o = p; for (int64_t i = 0; i < n; i++) o[i] = (T)w[i]; return; }
        CAST_INTS(CASE)
#undef CASE
#define CASE(DT, T) case DT: { T *o = p; for (int64_t i = 0; i < n; i++) o[i] = w[i] != 0; return; }
        CAST_BOOLS(CASE)
#undef CASE
        default: /* 53 bits, an odd last bit where more were cut, then 8 or 11: as good as once */
            for (int64_t i = 0; i < n; i++) {
                int64_t v = w[i], cut = big ? u[i] > (1ull << 53) : v > (1ll << 53) || v < -(1ll << 53);
                if (cut) v = (v & ~(int64_t)0xffff) | ((v & 0xffff) != 0 ? 0x8000 : 0);
                half[i] = round_to_odd(big ? (double)(uint64_t)v : (double)v);
            }
            elt_to_half(dt, half, p, n);
    }
}
static int l_cast_any(const elt_span *s) {
    uint64_t block[ELT_BLOCK] __attribute__((aligned(64)));
    int from = s->tin, to = s->tout, isz = dtype_size[from], osz = dtype_size[to];
    for (int64_t i = 0; i < s->n; i += ELT_BLOCK) {
        int64_t m = s->n - i < ELT_BLOCK ? s->n - i : ELT_BLOCK;
        void *o = (char *)s->out + i * osz;
        cast_load(from, (const char *)s->in[0] + i * isz, block, m);
        if (dtype_is_float(from)) cast_store_float(to, (const double *)block, o, m);
        else cast_store_int(to, from, (const int64_t *)block, o, m);
    }
    return BURN_OK;
}

/* ---- pairs with loops of their own */
UNARY(l_cast_f32_f64, float, double, x)
UNARY(l_cast_f64_f32, double, float, x)
UNARY(l_cast_i32_f32, int32_t, float, x)
UNARY(l_cast_i64_f32, int64_t, float, x)
UNARY(l_cast_i32_i64, int32_t, int64_t, x)
UNARY(l_cast_i64_i32, int64_t, int32_t, x)
UNARY(l_cast_u8_f32, uint8_t, float, x)
UNARY(l_cast_bool_f32, uint8_t, float, x != 0)
UNARY(l_cast_bool_i32, uint8_t, int32_t, x != 0)
UNARY(l_cast_bool_i64, uint8_t, int64_t, x != 0)
UNARY(l_cast_f32_bool, float, uint8_t, x != 0)
UNARY(l_cast_i32_bool, int32_t, uint8_t, x != 0)
UNARY(l_cast_copy4, uint32_t, uint32_t, x)
static int l_cast_f32_i32(const elt_span *s) {
    const float *a = s->in[0];
    int32_t *o = s->out;
    for (int64_t i = 0, m = s->n; m > 0; i += VW, m -= VW) {
        vf x = m >= VW ? vf_load(a + i) : vf_load_n(a + i, m);
        vm big = vf_ge(x, bc(0x1p31f)), nan = vf_unord(x, x);
        vf t = vf_trunc(vf_sel(nan, bc(0.f), vf_max(bc(-0x1p31f), vf_min(bc(0x1.fffffep30f), x))));
        vi r = vi_sel(big, bci(INT32_MAX), vf_to_vi(t));
        if (m >= VW) vi_store(o + i, r);
        else vi_store_n(o + i, r, m);
    }
    return BURN_OK;
}
static int l_cast_to_half(const elt_span *s) {
    elt_to_half(s->tout, s->in[0], s->out, s->n);
    return BURN_OK;
}
static int l_cast_from_half(const elt_span *s) {
    elt_from_half(s->tin, s->in[0], s->out, s->n);
    return BURN_OK;
}
static elt_loop cast_loop(int from, int to) {
    if (from == DT_FLEX32) from = DT_F32;
    if (to == DT_FLEX32) to = DT_F32;
    if (from == DT_F32 && dtype_is_half(to)) return l_cast_to_half;
    if (to == DT_F32 && dtype_is_half(from)) return l_cast_from_half;
#define PAIR(a, b) ((a) * DT_COUNT + (b))
    switch (PAIR(from, to)) {
        case PAIR(DT_F32, DT_F32): return l_cast_copy4;
        case PAIR(DT_F32, DT_F64): return l_cast_f32_f64;
        case PAIR(DT_F64, DT_F32): return l_cast_f64_f32;
        case PAIR(DT_F32, DT_I32): return l_cast_f32_i32;
        case PAIR(DT_I32, DT_F32): return l_cast_i32_f32;
        case PAIR(DT_I64, DT_F32): return l_cast_i64_f32;
        case PAIR(DT_I32, DT_I64): return l_cast_i32_i64;
        case PAIR(DT_I64, DT_I32): return l_cast_i64_i32;
        case PAIR(DT_U8, DT_F32): return l_cast_u8_f32;
        case PAIR(DT_BOOL, DT_F32): return l_cast_bool_f32;
        case PAIR(DT_BOOL, DT_I32): return l_cast_bool_i32;
        case PAIR(DT_BOOL, DT_I64): return l_cast_bool_i64;
        case PAIR(DT_F32, DT_BOOL): return l_cast_f32_bool;
        case PAIR(DT_I32, DT_BOOL): return l_cast_i32_bool;
        default: return l_cast_any;
    }
#undef PAIR
}
static int k_cast(const burn_buf *out, const burn_buf *in, burn_args *a) {
    elt_loop fn = cast_loop(in->dtype, out->dtype);
    elt_op op = {.fn = fn, .stream = STREAM_BLOCKS, .cost = fn == l_cast_any ? 1.5f : .25f, .n_in = 1,
                 .out_size = dtype_size[out->dtype], .in_size = {dtype_size[in->dtype]}};
    return elt_drive(&op, out, in, a);
}
