/* Loop makers. Each defines a static elt_loop; the expression sees x, y, z: vf in the F32 forms, plain values of the
   type otherwise. `ivdep`: an output is never another element's input, only ever the very same element's. */
#pragma once
#include "elementwise.h"
#include "vmath.h"

#define IVDEP _Pragma("GCC ivdep")

/* f32 by vectors. One copy of the expression, so that a long one costs code once: the choices inside are well
   predicted. */
#define F32_STEP(i, m, LOADS, EXPR) \
    { \
        LOADS; \
        vf r = EXPR; \
        if (m < VW) vf_store_n(o + i, r, m); \
        else if (s->stream) vf_stream(o + i, r); \
        else vf_store(o + i, r); \
    }
#define F32_LOAD(p, step, i, m) (!(step) ? bc(*(p)) : (m) >= VW ? vf_load((p) + (i)) : vf_load_n((p) + (i), m))
#define F32_UNARY(name, EXPR) F32_UNARY_WITH(name, , EXPR)
#define F32_UNARY_WITH(name, SETUP, EXPR) \
    static int name(const elt_span *s) { \
        const float *a = s->in[0]; \
        float *o = s->out; \
        SETUP \
        for (int64_t i = 0, m = s->n; m > 0; i += VW, m -= VW) { \
            if (VW == 16) v_prefetch(a + i + 512); \
            F32_STEP(i, m, vf x = m >= VW ? vf_load(a + i) : vf_load_n(a + i, m), EXPR) \
        } \
        if (s->stream) v_fence(); \
        return BURN_OK; \
    }
/* FN works in place on several vectors at once: on MANY, or on one with a tail of it */
#define MANY 3
#define F32_UNARY_MANY(name, FN) \
    static int name(const elt_span *s) { \
        const float *a = s->in[0]; \
        float *o = s->out; \
        int64_t i = 0; \
        vf x[MANY]; \
        for (; i + MANY * VW <= s->n; i += MANY * VW) { \
            _Pragma("GCC unroll 4") for (int j = 0; j < MANY; j++) x[j] = vf_load(a + i + j * VW); \
            FN(x, MANY); \
            _Pragma("GCC unroll 4") for (int j = 0; j < MANY; j++) \
                if (s->stream) vf_stream(o + i + j * VW, x[j]); \
                else vf_store(o + i + j * VW, x[j]); \
        } \
        for (int64_t m = s->n - i; m > 0; i += VW, m -= VW) \
            F32_STEP(i, m, *x = m >= VW ? vf_load(a + i) : vf_load_n(a + i, m); FN(x, 1), *x) \
        if (s->stream) v_fence(); \
        return BURN_OK; \
    }
#define F32_BINARY(name, EXPR) F32_BINARY_WITH(name, , EXPR)
#define F32_BINARY_WITH(name, SETUP, EXPR) \
    static int name(const elt_span *s) { \
        const float *a = s->in[0], *b = s->in[1]; \
        float *o = s->out; \
        int64_t sa = s->step[0], sb = s->step[1]; \
        SETUP \
        for (int64_t i = 0, m = s->n; m > 0; i += VW, m -= VW) \
            F32_STEP(i, m, vf x = F32_LOAD(a, sa, i, m); vf y = F32_LOAD(b, sb, i, m), EXPR) \
        if (s->stream) v_fence(); \
        return BURN_OK; \
    }
#define F32_TERNARY(name, EXPR) \
    static int name(const elt_span *s) { \
        const float *a = s->in[0], *b = s->in[1], *c = s->in[2]; \
        float *o = s->out; \
        int64_t sa = s->step[0], sb = s->step[1], sc = s->step[2]; \
        for (int64_t i = 0, m = s->n; m > 0; i += VW, m -= VW) \
            F32_STEP(i, m, vf x = F32_LOAD(a, sa, i, m); vf y = F32_LOAD(b, sb, i, m); \
                     vf z = F32_LOAD(c, sc, i, m), EXPR) \
        if (s->stream) v_fence(); \
        return BURN_OK; \
    }
/* Short expressions in hot ops: a loop for each kind of operand and store, tails by mask. */
#define F32_RUN(X, Y, STORE, EXPR) \
    _Pragma("GCC unroll 2") for (; i + VW <= n; i += VW) { vf x = X, y = Y; STORE(o + i, EXPR); }
#define F32_KINDS(STORE, EXPR) \
    if (sa && sb) F32_RUN(vf_load(a + i), vf_load(b + i), STORE, EXPR) \
    else if (sa) { vf c = bc(*b); F32_RUN(vf_load(a + i), c, STORE, EXPR) } \
    else { vf c = bc(*a); F32_RUN(c, vf_load(b + i), STORE, EXPR) }
#define F32_HOT(name, EXPR) \
    static int name(const elt_span *s) { \
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
/* The numbers of an op in its expression: k[0] to k[3], vectors or doubles. */
#define F32_NUMBERS \
    const vf k[4] = {bc((float)s->f[0]), bc((float)s->f[1]), bc((float)s->f[2]), bc((float)s->f[3])}; \
    (void)k;
#define F64_NUMBERS \
    const double k[4] = {s->f[0], s->f[1], s->f[2], s->f[3]}; \
    (void)k;
