/* Loop makers. Each defines a static elt_loop; the expression sees x, y, z: vf in the F32 forms, plain values of the
   type otherwise. `ivdep`: an output is never another element's input, only ever the very same element's. */
#pragma once
#include "elementwise.h"
#include "vmath.h"

#define IVDEP _Pragma("GCC ivdep")

/* m lanes at element i of f32 or of a half type, to floats and back; m >= VW is a whole vector */
VINL vf elt_load(const void *p, int64_t i, int64_t m, int half) {
    const float *f = (const float *)p + i;
    const uint16_t *h = (const uint16_t *)p + i;
    if (__builtin_expect(m >= VW, 1)) return !half ? vf_load(f) : half == DT_BF16 ? vf_load_bf16(h) : vf_load_f16(h);
    return !half ? vf_load_n(f, m) : half == DT_BF16 ? vf_load_bf16_n(h, m) : vf_load_f16_n(h, m);
}
VINL void elt_store(void *p, int64_t i, int64_t m, int half, int stream, vf x) {
    float *f = (float *)p + i;
    uint16_t *h = (uint16_t *)p + i;
    if (__builtin_expect(m < VW, 0)) {
        if (!half) vf_store_n(f, x, m);
        else if (half == DT_BF16) vf_store_bf16_n(h, x, m);
        else vf_store_f16_n(h, x, m);
    } else if (half) {
        if (half == DT_BF16) vf_put_bf16(h, x, stream);
        else vf_put_f16(h, x, stream);
    } else if (stream) vf_stream(f, x);
    else vf_store(f, x);
}
VINL vf elt_splat(const void *p, int half) {
    const uint16_t *h = p;
    return !half ? bc(*(const float *)p) : bc((half == DT_BF16 ? vf_load_bf16_n(h, 1) : vf_load_f16_n(h, 1))[0]);
}

VINL void elt_load2(const void *p, int64_t i, int half, vf *v) {
    const uint16_t *h = (const uint16_t *)p + i;
    if (half == DT_BF16) vf_load2_bf16(h, v);
    else vf_load2_f16(h, v);
}
/* the same as vf_load2, for loops of one operand: there a shuffle on AVX2 finds a freer port than a shift does */
VINL void half_pair_f16(const uint16_t *p, vf *v) { vf_load2_f16(p, v); }
VINL void half_pair_bf16(const uint16_t *p, vf *v) {
#if BURN_LEVEL == 3
    const __m128i up = _mm_setr_epi8(-1, -1, 0, 1, -1, -1, 4, 5, -1, -1, 8, 9, -1, -1, 12, 13);
    vu w = *(const vu_half *)p;
    v[0] = (vf)_mm256_shuffle_epi8((__m256i)w, _mm256_broadcastsi128_si256(up));
    v[1] = (vf)(w & 0xffff0000u);
#else
    vf_load2_bf16(p, v);
#endif
}
VINL void elt_load_pair(const void *p, int64_t i, int half, vf *v) {
    const uint16_t *h = (const uint16_t *)p + i;
    if (half == DT_BF16) half_pair_bf16(h, v);
    else half_pair_f16(h, v);
}
VINL void elt_store2(void *p, int64_t i, int half, int stream, const vf *v) {
    uint16_t *h = (uint16_t *)p + i;
    if (half == DT_BF16) vf_put2_bf16(h, v, stream);
    else vf_put2_f16(h, v, stream);
}

/* f32 and the half types by vectors. One copy of the expression, so that a long one costs code once: the choices inside
   are well predicted. A short one (ns an element) has two more copies, by which halves go in pairs of vectors: there
   conversions weigh more. Operands with step 0 come as vectors made before the loop. */
#define ELT_SHORT 1.1f
#define F32_OUT(i, m, EXPR) { vf r = EXPR; elt_store(out, i, m, half, stream, r); }
#define F32_IN(k, i, m) (b##k ? elt_load(b##k, i, m, half) : c##k)
#define F32_IN2(k, i) { if (b##k) elt_load2(b##k, i, half, v##k); }
/* PAIR is run on two vectors of halves, and makes the vectors r[j] of x, y, z */
#define F32_EACH(COST, LOADS, PAIR, ...) \
    void *const out = s->out; \
    const int stream = s->stream; \
    int64_t i = 0, m = s->n; \
    if (COST < ELT_SHORT && half) \
        for (; m >= 2 * VW; i += 2 * VW, m -= 2 * VW) { \
            vf r[2]; \
            LOADS \
            _Pragma("GCC unroll 2") for (int j = 0; j < 2; j++) { PAIR } \
            elt_store2(out, i, half, stream, r); \
        } \
    for (; m > 0; i += VW, m -= VW) { __VA_ARGS__ } \
    if (stream) v_fence();
#define F32_OPERAND(k) \
    const void *const b##k = s->step[k] ? s->in[k] : NULL; \
    const vf c##k = elt_splat(s->in[k], half); \
    vf v##k[2] = {c##k, c##k};
#define F32_UNARY(name, COST, EXPR) F32_UNARY_WITH(name, COST, , EXPR)
#define F32_UNARY_LOOP(COST, EXPR) \
    const char *const a = s->in[0]; \
    F32_EACH(COST, vf v0[2]; elt_load_pair(a, i, half, v0);, vf x = v0[j]; r[j] = EXPR;, \
        if (VW == 16) v_prefetch(a + 4 * i + 2048); \
        vf x = elt_load(a, i, m, half); \
        F32_OUT(i, m, EXPR))
#define F32_UNARY_WITH(name, COST, SETUP, EXPR) \
    static int name(const elt_span *s) { \
        const int half = s->half; \
        SETUP \
        F32_UNARY_LOOP(COST, EXPR) \
        return BURN_OK; \
    }
/* f32 alone, where HALF is the loop of halves */
#define F32_UNARY_ALONE(name, HALF, COST, EXPR) \
    static int name(const elt_span *s) { \
        const int half = 0; \
        if (s->half) return HALF(s); \
        F32_UNARY_LOOP(COST, EXPR) \
        return BURN_OK; \
    }
/* halves by their bits: x, its magnitude m, the bits of infinity and of 1 */
#define HALF_BITS(name, EXPR) \
    static int name(const elt_span *s) { \
        const int16_t inf = s->half == DT_BF16 ? 0x7f80 : 0x7c00, one = s->half == DT_BF16 ? 0x3f80 : 0x3c00; \
        const uint16_t *a = s->in[0]; \
        uint16_t *o = s->out, tail[2 * VW] = {0}; \
        int64_t i = 0; \
        (void)inf; \
        (void)one; \
        for (; i + 2 * VW <= s->n; i += 2 * VW) { \
            vhi x = *(const vhi_half *)(a + i), m = x & 0x7fff, r = EXPR; \
            (void)m; \
            if (s->stream) vf_stream((float *)(o + i), (vf)r); \
            else *(vhi_half *)(o + i) = r; \
        } \
        if (s->stream) v_fence(); \
        if (i < s->n) { \
            memcpy(tail, a + i, (size_t)(s->n - i) * 2); \
            vhi x = *(const vhi_half *)tail, m = x & 0x7fff; \
            (void)m; \
            *(vhi_half *)tail = EXPR; \
            memcpy(o + i, tail, (size_t)(s->n - i) * 2); \
        } \
        return BURN_OK; \
    }
/* FN works in place on several vectors at once, N of f32 and MANY_HALF of halves, or on one with a tail of it */
#define MANY 3
#define MANY_HALF 4
#define F32_UNARY_MANY(name, FN) F32_UNARY_BY(name, MANY, FN)
#define F32_UNARY_BY(name, N, FN) \
    static int name(const elt_span *s) { \
        const int half = s->half; \
        void *const out = s->out; \
        const void *const a = s->in[0]; \
        const int stream = s->stream; \
        int64_t i = 0; \
        vf x[MANY_HALF]; \
        if (half) \
            for (; i + MANY_HALF * VW <= s->n; i += MANY_HALF * VW) { \
                for (int j = 0; j < MANY_HALF; j += 2) elt_load2(a, i + j * VW, half, x + j); \
                FN(x, MANY_HALF); \
                for (int j = 0; j < MANY_HALF; j += 2) elt_store2(out, i + j * VW, half, stream, x + j); \
            } \
        for (; i + N * VW <= s->n; i += N * VW) { \
            _Pragma("GCC unroll 4") for (int j = 0; j < N; j++) x[j] = elt_load(a, i + j * VW, VW, half); \
            FN(x, N); \
            _Pragma("GCC unroll 4") for (int j = 0; j < N; j++) elt_store(out, i + j * VW, VW, half, stream, x[j]); \
        } \
        for (int64_t m = s->n - i; m > 0; i += VW, m -= VW) { \
            *x = elt_load(a, i, m, half); \
            FN(x, 1); \
            elt_store(out, i, m, half, stream, *x); \
        } \
        if (stream) v_fence(); \
        return BURN_OK; \
    }
/* the slope that FN makes of the first operand times the second */
#define F32_SLOPE_BY(name, N, FN) \
    static int name(const elt_span *s) { \
        const int half = s->half, stream = s->stream; \
        void *const out = s->out; \
        int64_t i = 0; \
        F32_OPERAND(0) \
        F32_OPERAND(1) \
        if (half) \
            for (; i + MANY_HALF * VW <= s->n; i += MANY_HALF * VW) { \
                vf x[MANY_HALF], r[2]; \
                _Pragma("GCC unroll 4") for (int j = 0; j < MANY_HALF; j += 2) { \
                    F32_IN2(0, i + j * VW) \
                    x[j] = v0[0], x[j + 1] = v0[1]; \
                } \
                FN(x, MANY_HALF); \
                _Pragma("GCC unroll 4") for (int j = 0; j < MANY_HALF; j += 2) { \
                    F32_IN2(1, i + j * VW) \
                    r[0] = vf_gate(v1[0], v1[0] * x[j]), r[1] = vf_gate(v1[1], v1[1] * x[j + 1]); \
                    elt_store2(out, i + j * VW, half, stream, r); \
                } \
            } \
        else \
            for (; i + N * VW <= s->n; i += N * VW) { \
                vf x[N]; \
                _Pragma("GCC unroll 4") for (int j = 0; j < N; j++) x[j] = F32_IN(0, i + j * VW, VW); \
                FN(x, N); \
                _Pragma("GCC unroll 4") for (int j = 0; j < N; j++) { \
                    vf y = F32_IN(1, i + j * VW, VW); \
                    F32_OUT(i + j * VW, VW, vf_gate(y, y * x[j])) \
                } \
            } \
        for (int64_t m = s->n - i; m > 0; i += VW, m -= VW) { \
            vf x = F32_IN(0, i, m), y = F32_IN(1, i, m); \
            FN(&x, 1); \
            F32_OUT(i, m, vf_gate(y, y * x)) \
        } \
        if (stream) v_fence(); \
        return BURN_OK; \
    }
/* The loops alone, after F32_OPERAND for each operand: for kernels that choose between expressions. */
#define F32_BINARY_LOOP(COST, EXPR) \
    F32_EACH(COST, F32_IN2(0, i) F32_IN2(1, i), vf x = v0[j]; vf y = v1[j]; r[j] = EXPR;, \
        vf x = F32_IN(0, i, m), y = F32_IN(1, i, m); F32_OUT(i, m, EXPR))
#define F32_TERNARY_LOOP(COST, EXPR) \
    F32_EACH(COST, F32_IN2(0, i) F32_IN2(1, i) F32_IN2(2, i), vf x = v0[j]; vf y = v1[j]; vf z = v2[j]; r[j] = EXPR;, \
        vf x = F32_IN(0, i, m), y = F32_IN(1, i, m), z = F32_IN(2, i, m); F32_OUT(i, m, EXPR))
#define F32_BINARY(name, COST, EXPR) F32_BINARY_WITH(name, COST, , EXPR)
#define F32_BINARY_WITH(name, COST, SETUP, EXPR) \
    static int name(const elt_span *s) { \
        const int half = s->half; \
        F32_OPERAND(0) \
        F32_OPERAND(1) \
        SETUP \
        F32_BINARY_LOOP(COST, EXPR) \
        return BURN_OK; \
    }
#define F32_TERNARY(name, COST, EXPR) F32_TERNARY_WITH(name, COST, , EXPR)
#define F32_TERNARY_WITH(name, COST, SETUP, EXPR) \
    static int name(const elt_span *s) { \
        const int half = s->half; \
        F32_OPERAND(0) \
        F32_OPERAND(1) \
        F32_OPERAND(2) \
        SETUP \
        F32_TERNARY_LOOP(COST, EXPR) \
        return BURN_OK; \
    }
/* Short expressions in hot ops: a loop for each kind of operand and store, tails by mask. */
#define F32_RUN(X, Y, STORE, EXPR) \
    _Pragma("GCC unroll 2") for (; i + VW <= n; i += VW) { vf x = X, y = Y; STORE(o + i, EXPR); }
#define F32_KINDS(STORE, EXPR) \
    if (sa && sb) F32_RUN(vf_load(a + i), vf_load(b + i), STORE, EXPR) \
    else if (sa) { vf c = bc(*b); F32_RUN(vf_load(a + i), c, STORE, EXPR) } \
    else { vf c = bc(*a); F32_RUN(c, vf_load(b + i), STORE, EXPR) }
#define HALF_RUN(T, LX, LY, EXPR) \
    _Pragma("GCC unroll 2") for (; i + 2 * VW <= n; i += 2 * VW) { \
        vf r[2]; \
        LX \
        LY \
        _Pragma("GCC unroll 2") for (int j = 0; j < 2; j++) { vf x = v0[j], y = v1[j]; r[j] = EXPR; } \
        vf_put2_##T(o + i, r, stream); \
    }
#define HALF_KINDS(T, EXPR) { \
    if (s->step[0] && s->step[1]) HALF_RUN(T, vf_load2_##T(a + i, v0);, vf_load2_##T(b + i, v1);, EXPR) \
    else if (s->step[0]) HALF_RUN(T, half_pair_##T(a + i, v0);, , EXPR) \
    else HALF_RUN(T, , half_pair_##T(b + i, v1);, EXPR) }
#define F32_HOT(name, EXPR) \
    static int name##_half(const elt_span *s) { \
        const uint16_t *const a = s->in[0], *const b = s->in[1]; \
        uint16_t *const o = s->out; \
        const int half = s->half, stream = s->stream; \
        const int64_t n = s->n; \
        int64_t i = 0; \
        F32_OPERAND(0) \
        F32_OPERAND(1) \
        if (half == DT_BF16) HALF_KINDS(bf16, EXPR) else HALF_KINDS(f16, EXPR) \
        for (int64_t m = n - i; m > 0; i += VW, m -= VW) { \
            vf x = F32_IN(0, i, m), y = F32_IN(1, i, m); \
            elt_store(o, i, m, half, stream, EXPR); \
        } \
        if (stream) v_fence(); \
        return BURN_OK; \
    } \
    F32_HOT_OF(name, EXPR)
#define F32_HOT_OF(name, EXPR) \
    static int name(const elt_span *s) { \
        if (s->half) return name##_half(s); \
        const float *a = s->in[0], *b = s->in[1]; \
        float *o = s->out; \
        int64_t sa = s->step[0], sb = s->step[1], n = s->n, i = 0; \
        if (s->stream) { \
            F32_KINDS(vf_stream, EXPR) \
            v_fence(); \
        } else { \
            F32_KINDS(vf_store, EXPR) \
        } \
        if (i < n) { \
            vf x = sa ? vf_load_n(a + i, n - i) : bc(*a), y = sb ? vf_load_n(b + i, n - i) : bc(*b); \
            vf_store_n(o + i, EXPR, n - i); \
        } \
        return BURN_OK; \
    }
/* Halves taken as integers, `step` of both inputs a visit, an input of one value too: it is repeated in x or y. The tail
   goes through them. */
typedef struct {
    const uint16_t *a, *b;
    int64_t left, step, sa, sb;
    uint16_t x[4 * VW], y[4 * VW];
} half_feed;
VINL void half_begin(half_feed *f, const elt_span *s, int64_t step) {
    f->a = s->in[0];
    f->b = s->in[1];
    f->left = s->n;
    f->step = step;
    f->sa = s->step[0] ? step : 0;
    f->sb = s->step[1] ? step : 0;
    for (int64_t j = 0; j < step; j++) f->x[j] = *f->a, f->y[j] = *f->b;
    if (!f->sa) f->a = f->x;
    if (!f->sb) f->b = f->y;
}
VINL void half_next(half_feed *f) {
    f->left -= f->step;
    f->a += f->sa;
    f->b += f->sb;
}
VINL void half_tail(half_feed *f) {
    if (f->sa) memcpy(f->x, f->a, (size_t)f->left * 2);
    if (f->sb) memcpy(f->y, f->b, (size_t)f->left * 2);
    f->a = f->x;
    f->b = f->y;
}

/* A function of the C library, lane by lane. */
#define LANES(fn) ({ \
    float t_[VW]; \
    vf_store(t_, x); \
    for (int j_ = 0; j_ < VW; j_++) t_[j_] = fn(t_[j_]); \
    vf_load(t_); })
#define LANES2(fn) ({ \
    float t_[VW], u_[VW]; \
    vf_store(t_, x); \
    vf_store(u_, y); \
    for (int j_ = 0; j_ < VW; j_++) t_[j_] = fn(t_[j_], u_[j_]); \
    vf_load(t_); })

/* Any types, for the compiler to vectorise. */
#define UNARY(name, TI, TO, EXPR) UNARY_WITH(name, TI, TO, , EXPR)
#define UNARY_WITH(name, TI, TO, SETUP, EXPR) \
    static int name(const elt_span *s) { \
        const TI *a = s->in[0]; \
        TO *o = s->out; \
        int64_t n = s->n; \
        SETUP \
        IVDEP for (int64_t i = 0; i < n; i++) { TI x = a[i]; o[i] = (TO)(EXPR); } \
        return BURN_OK; \
    }
/* doubles by four vectors at once, which FN(vectors, 4) takes in step */
#define F64_UNARY_MANY(name, FN) \
    static int name(const elt_span *s) { \
        const double *a = s->in[0]; \
        double *o = s->out, tail[4 * VD] = {0}; \
        vd x[4]; \
        for (int64_t m = s->n; m > 0; m -= 4 * VD, a += 4 * VD, o += 4 * VD) { \
            int64_t k = m < 4 * VD ? m : 4 * VD; \
            if (k < 4 * VD) memcpy(tail, a, (size_t)k * 8); \
            const double *from = k < 4 * VD ? tail : a; \
            double *to = k < 4 * VD ? tail : o; \
            VM_EACH(j, 4) x[j] = vd_load(from + j * VD); \
            FN(x, 4); \
            if (s->stream && k == 4 * VD) { \
                VM_EACH(j, 4) vf_stream((float *)(o + j * VD), (vf)x[j]); \
                continue; \
            } \
            VM_EACH(j, 4) vd_store(to + j * VD, x[j]); \
            if (k < 4 * VD) memcpy(o, tail, (size_t)k * 8); \
        } \
        if (s->stream) v_fence(); \
        return BURN_OK; \
    }
#define BINARY(name, TI, TO, EXPR) \
    static int name(const elt_span *s) { \
        const TI *a = s->in[0], *b = s->in[1]; \
        TO *o = s->out; \
        int64_t n = s->n; \
        if (s->step[0] && s->step[1]) { \
            IVDEP for (int64_t i = 0; i < n; i++) { TI x = a[i], y = b[i]; o[i] = (TO)(EXPR); } \
        } else if (s->step[0]) { \
            TI y = *b; \
            IVDEP for (int64_t i = 0; i < n; i++) { TI x = a[i]; o[i] = (TO)(EXPR); } \
        } else { \
            TI x = *a; \
            IVDEP for (int64_t i = 0; i < n; i++) { TI y = b[i]; o[i] = (TO)(EXPR); } \
        } \
        return BURN_OK; \
    }
/* Slow expressions: one loop for every kind of operand. */
#define BINARY_SLOW(name, TI, TO, EXPR) BINARY_SLOW_WITH(name, TI, TO, , EXPR)
#define BINARY_SLOW_WITH(name, TI, TO, SETUP, EXPR) \
    static int name(const elt_span *s) { \
        const TI *a = s->in[0], *b = s->in[1]; \
        TO *o = s->out; \
        int64_t n = s->n, sa = s->step[0], sb = s->step[1]; \
        SETUP \
        for (int64_t i = 0; i < n; i++) { TI x = a[i * sa], y = b[i * sb]; o[i] = (TO)(EXPR); } \
        return BURN_OK; \
    }
#define TERNARY(name, T, EXPR) TERNARY_WITH(name, T, , EXPR)
#define TERNARY_WITH(name, T, SETUP, EXPR) \
    static int name(const elt_span *s) { \
        const T *a = s->in[0], *b = s->in[1], *c = s->in[2]; \
        T *o = s->out; \
        SETUP \
        IVDEP for (int64_t i = 0; i < s->n; i++) { \
            T x = a[i * s->step[0]], y = b[i * s->step[1]], z = c[i * s->step[2]]; \
            o[i] = EXPR; \
        } \
        return BURN_OK; \
    }
VINL vf elt_number(double x) { return bc(x == x ? (float)x : NAN); } /* a NaN as vf_to_bf16_fast wants it */
/* The numbers of an op in its expression: k[0] to k[3], vectors or doubles. */
#define F32_NUMBERS \
    const vf k[4] = {elt_number(s->f[0]), elt_number(s->f[1]), elt_number(s->f[2]), elt_number(s->f[3])}; \
    (void)k;
#define F64_NUMBERS \
    const double k[4] = {s->f[0], s->f[1], s->f[2], s->f[3]}; \
    (void)k;
