/* Float ops: one line each, with the expression for f32 vectors and for double; f16 and bf16 come with them.
   To add an op, add its line to a list below. Costs are nanoseconds an element on one AVX2 core. */
#pragma once
#include "elementwise_loops.h"
#include "vmath_wide.h"

/* ---- double forms that libm lacks */
static inline double d_sigmoid(double x) {
    double e = exp(-fabs(x));
    return (x < 0 ? e : 1.0) / (1.0 + e);
}
static inline double d_log_sigmoid(double x) { return (x < 0 ? x : 0.0) - log1p(exp(-fabs(x))); }
static inline double d_phi(double x) { return 0.5 * erfc(x * -0.70710678118654752440); }
static inline double d_gelu(double x) { return x < -40 ? -0.0 : x * d_phi(x); }
static inline double d_gelu_u(double x) { return x * (1.59576912160573071 + x * x * 0.0713548162726009); }
static inline double d_gelu_approximate(double x) { return x < -40 ? -0.0 : x * d_sigmoid(d_gelu_u(x)); }
static inline double d_silu(double x) { return x < -800 ? -0.0 : x * d_sigmoid(x); }
static inline double d_sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; }
static inline double d_clip(double x, double lim) { return x < -lim ? -lim : x > lim ? lim : x; }

/* ---- remainder with the sign of the divisor, a zero included */
#define REMAINDER(name, T, FMOD, COPYSIGN) \
    static inline T name(T x, T y) { \
        T r = FMOD(x, y); \
        if (r == 0) return COPYSIGN((T)0, y); \
        return (r < 0) != (y < 0) ? r + y : r; \
    }
REMAINDER(f_remainder, float, fmodf, copysignf)
REMAINDER(d_remainder, double, fmod, copysign)
static inline vf m_remainder(vf x, vf y) {
#if BURN_LEVEL >= 3
    /* The quotient may have been rounded up to the next integer, never further; the fused product is exact, so one
       correction is enough. */
    vf q = x / y;
    vm plain = vm_and(vf_lt(vf_abs(q), bc(0x1p22f)), vf_lt(vf_abs(y), bc(INFINITY)));
    if (vm_all(plain)) {
        vf r = vf_fnma(vf_floor(q), y, x);
        vf turn = vf_copysign(r, (vf)((vi)r ^ (vi)y)); /* negative where the signs differ */
        return vf_sel(vf_eq(r, bc(0.f)), vf_copysign(bc(0.f), y), vf_sel(vf_lt(turn, bc(0.f)), r + y, r));
    }
#endif
    return LANES2(f_remainder);
}

/* ---- remainder with the sign of x, a zero included; as above, one correction of the truncated quotient is enough */
static inline vf m_fmod(vf x, vf y) {
#if BURN_LEVEL >= 3
    vf q = x / y;
    vm plain = vm_and(vf_lt(vf_abs(q), bc(0x1p22f)), vf_lt(vf_abs(y), bc(INFINITY)));
    if (vm_all(plain)) {
        vf r = vf_fnma(vf_trunc(q), y, x), turn = vf_copysign(r, (vf)((vi)r ^ (vi)x));
        return vf_copysign(vf_sel(vf_lt(turn, bc(0.f)), vf_abs(y) - vf_abs(r), vf_abs(r)), x);
    }
#endif
    return LANES2(fmodf);
}
/* ---- sqrt(x^2 + y^2): the larger one taken out, so that nothing overflows; infinite if either is */
static inline vf m_hypot(vf x, vf y) {
    vf a = vf_abs(x), b = vf_abs(y), high = vf_max(a, b), r = vf_min(a, b) / high;
    vf h = vf_sel(vf_eq(high, bc(0.f)), high, high * vf_sqrt(vf_fma(r, r, bc(1.f))));
    h = vf_sel(vf_unord(x, y), x + y, h);
    return vf_sel(vm_or(vf_eq(a, bc(INFINITY)), vf_eq(b, bc(INFINITY))), bc(INFINITY), h);
}

static inline vf m_sign(vf x) {
    vf one = vf_copysign(bc(1.f), x);
    return vf_sel(vf_gt(vf_abs(x), bc(0.f)), one, bc(0.f));
}
static inline double d_gelu_slope(double x) {
    double c = d_clip(x, 40);
    return d_phi(c) + c * 0.39894228040143267794 * exp(-0.5 * c * c);
}
/* derivative of x * sigmoid(u(x)): s + x s (1 - s) u' */
static inline vf m_gelu_approximate_slope(vf x) {
    vf c = vf_max(bc(-13.f), vf_min(bc(13.f), x)), k = c * c;
    vf u = c * vf_fma(k, bc(0.0713548163f), bc(1.59576912f)), du = vf_fma(k, bc(0.214064449f), bc(1.59576912f));
    vf s = m_sigmoid(u);
    return vf_fma(c * s * (bc(1.f) - s), du, s);
}
static inline double d_gelu_approximate_slope(double x) {
    double c = d_clip(x, 40), s = d_sigmoid(d_gelu_u(c)), t = d_sigmoid(-d_gelu_u(c));
    return s + c * s * t * (1.59576912160573071 + c * c * 0.2140644488178027);
}
static inline vf m_silu_slope(vf x) {
    vf c = vf_max(bc(-120.f), vf_min(bc(120.f), x)), s = m_sigmoid(c);
    return s * vf_fma(c, bc(1.f) - s, bc(1.f));
}
static inline double d_silu_slope(double x) {
    double c = d_clip(x, 800);
    return d_sigmoid(c) * (1.0 + c * d_sigmoid(-c));
}

/* op, f32 vectors, double, cost */
#define FLOAT_UNARY(X) \
    X(log1p, m_log1p(x), log1p(x), 1.2f) \
    X(sqrt, vf_sqrt(x), sqrt(x), .25f) \
    X(recip, bc(1.f) / x, 1.0 / x, .25f) \
    X(sin, m_sin(x), sin(x), 0.8f) \
    X(cos, m_cos(x), cos(x), 0.8f) \
    X(tan, m_tan(x), tan(x), 1.2f) \
    X(sinh, m_sinh(x), sinh(x), 1.2f) \
    X(cosh, m_cosh(x), cosh(x), 1.f) \
    X(tanh, m_tanh(x), tanh(x), .65f) \
    X(asin, m_asin(x), asin(x), 1.5f) \
    X(acos, m_acos(x), acos(x), 1.5f) \
    X(atan, m_atan(x), atan(x), 1.2f) \
    X(asinh, m_asinh(x), asinh(x), 2.f) \
    X(acosh, m_acosh(x), acosh(x), 2.f) \
    X(atanh, m_atanh(x), atanh(x), 2.f) \
    X(round, vf_round(x), nearbyint(x), .2f) \
    X(floor, vf_floor(x), floor(x), .2f) \
    X(ceil, vf_ceil(x), ceil(x), .2f) \
    X(trunc, vf_trunc(x), trunc(x), .2f) \
    X(sigmoid, m_sigmoid(x), d_sigmoid(x), .5f) \
    X(log_sigmoid, m_log_sigmoid(x), d_log_sigmoid(x), .9f) \
    X(gelu_approximate, m_gelu_approximate(x), d_gelu_approximate(x), .8f) \
    X(silu, m_silu(x), d_silu(x), .6f) \
    X(square, x * x, x * x, .2f)

/* those that need no arithmetic: of the bits x of halves, too, and their magnitude m; inf and one are the bits of infinity
   and of 1 */
#define FLOAT_BITS(X) \
    X(relu, vf_sel(vf_le(x, bc(0.f)), bc(0.f), x), x <= 0 ? 0.0 : x, x & ((vhi)(x > 0) | (vhi)(m > inf)), .2f) \
    X(neg, -x, -x, x ^ (int16_t)-0x8000, .2f) \
    X(abs, vf_abs(x), fabs(x), m, .2f) \
    X(sign, m_sign(x), d_sign(x), ((x ^ m) | one) & (vhi)(m > 0) & (vhi)(m <= inf), .2f)

#define FLOAT_ARITHMETIC(X) \
    X(add, x + y, x + y, .2f) \
    X(sub, x - y, x - y, .2f) \
    X(mul, x * y, x * y, .2f) \
    X(div, x / y, x / y, .25f)
/* NaN of either operand wins in max_pair and min_pair; halves have a loop of their own */
#define FLOAT_HOT(X) \
    X(max_pair, vf_sel(vf_unord(x, x), x, vf_max(x, y)), x > y || x != x ? x : y, .2f) \
    X(min_pair, vf_sel(vf_unord(x, x), x, vf_min(x, y)), x < y || x != x ? x : y, .2f)
#define FLOAT_BINARY(X) \
    X(remainder, m_remainder(x, y), d_remainder(x, y), 1.5f) \
    X(fmod, m_fmod(x, y), fmod(x, y), 1.5f) \
    X(hypot, m_hypot(x, y), hypot(x, y), .6f) \
    X(powf, m_pow(x, y), pow(x, y), 2.f) \
    X(atan2, m_atan2(x, y), atan2(x, y), 1.5f)

/* backward kernels: x is the saved input or output, y the gradient of the output; where y is 0 so is the result,
   whatever the expression says */
#define FLOAT_BACKWARD_HOT(X) \
    X(mul_bwd, y * x, y * x, .2f) \
    X(div_bwd, y / x, y / x, .25f)
/* slopes that are numbers wherever x is, so that they need no care */
#define FLOAT_BACKWARD_EASY(X) \
    X(relu_bwd, vf_sel(vf_le(x, bc(0.f)), bc(0.f), y), x <= 0 ? 0.0 : y, .25f) \
    X(abs_bwd, y * m_sign(x), y * d_sign(x), .25f)
#define FLOAT_BACKWARD(X) \
    X(tanh_bwd, y * ((bc(1.f) - x) * (bc(1.f) + x)), y * ((1.0 - x) * (1.0 + x)), .25f) \
    X(sigmoid_bwd, y * (x * (bc(1.f) - x)), y * (x * (1.0 - x)), .25f) \
    X(gelu_approximate_bwd, y * m_gelu_approximate_slope(x), y * d_gelu_approximate_slope(x), 1.f) \
    X(silu_bwd, y * m_silu_slope(x), y * d_silu_slope(x), .7f) \
    X(erf_bwd, y * bc(1.12837917f) * m_exp(-x * x), y * 1.12837916709551257390 * exp(-x * x), .5f) \
    X(log_sigmoid_bwd, y * m_sigmoid(-x), y * d_sigmoid(-x), .6f) \
    X(sqrt_bwd, vf_sel(vf_eq(x, bc(0.f)), bc(0.f), y / (x + x)), x == 0 ? 0.0 : y / (x + x), .3f)

/* of the bits of halves, whose infinity has those of inf */
#define FLOAT_TEST(X) \
    X(is_nan, x != x, (x & 0x7fff) > inf, .2f) \
    X(is_inf, fabs(x) == INFINITY, (x & 0x7fff) == inf, .2f) \
    X(is_finite, fabs(x) < INFINITY, (x & 0x7fff) < inf, .2f)

#define FLOAT_KERNELS(name, C, N) FLOAT_KERNELS_OF(name, C, N, STREAM_BLOCKS)
#define FLOAT_KERNELS_OF(name, C, N, STREAM_F64) \
    KERNEL(name##_f32, .fn = l_##name##_f32, .cost = C, .out_size = 4, .stream = STREAM_LOOP, ARGS##N(4)) \
    KERNEL(name##_f64, .fn = l_##name##_f64, .cost = 3 * C, .out_size = 8, .stream = STREAM_F64, ARGS##N(8)) \
    FLOAT_HALF(name##_f16, name, C, N, DT_F16) \
    FLOAT_HALF(name##_bf16, name, C, N, DT_BF16)
#define FLOAT_HALF(kernel, name, C, N, DT) \
    KERNEL(kernel, .fn = l_##name##_f32, .cost = C + .2f, .out_size = 2, .half = DT, .stream = STREAM_LOOP, ARGS##N(2))
#define MAKE_FLOAT_UNARY(name, V, D, C) \
    F32_UNARY(l_##name##_f32, C, V) \
    UNARY(l_##name##_f64, double, double, D) \
    FLOAT_KERNELS(name, C, 1)
#define MAKE_FLOAT_BITS(name, V, D, H, C) \
    HALF_BITS(l_##name##_half, H) \
    F32_UNARY_ALONE(l_##name##_f32, l_##name##_half, C, V) \
    UNARY(l_##name##_f64, double, double, D) \
    FLOAT_KERNELS(name, C, 1)
#define MAKE_FLOAT_ARITHMETIC(name, V, D, C) \
    F32_HOT(l_##name##_f32, V) \
    BINARY(l_##name##_f64, double, double, D) \
    FLOAT_KERNELS(name, C, 2)
#define MAKE_FLOAT_HOT(name, V, D, C) \
    static int l_##name##_f32_half(const elt_span *s) { return half_extreme(s, PICK_##name); } \
    F32_HOT_OF(l_##name##_f32, V) \
    BINARY(l_##name##_f64, double, double, D) \
    FLOAT_KERNELS(name, C, 2)
#define MAKE_FLOAT_BINARY(name, V, D, C) \
    F32_BINARY(l_##name##_f32, C, V) \
    BINARY_SLOW(l_##name##_f64, double, double, D) \
    FLOAT_KERNELS(name, C, 2)
#define MAKE_FLOAT_BACKWARD_HOT(name, V, D, C) MAKE_FLOAT_ARITHMETIC(name, vf_gate(y, V), y == 0 ? 0.0 : D, C)
#define MAKE_FLOAT_BACKWARD(name, V, D, C) MAKE_FLOAT_BINARY(name, vf_gate(y, V), y == 0 ? 0.0 : D, C)
#define MAKE_FLOAT_TEST(name, E, H, C) \
    UNARY(l_##name##_f32, float, uint8_t, E) \
    UNARY(l_##name##_f64, double, uint8_t, E) \
    UNARY_WITH(l_##name##_f16, uint16_t, uint8_t, const int inf = 0x7c00;, H) \
    UNARY_WITH(l_##name##_bf16, uint16_t, uint8_t, const int inf = 0x7f80;, H) \
    KERNEL(name##_f32, .fn = l_##name##_f32, .cost = C, .out_size = 1, .stream = STREAM_BLOCKS, ARGS1(4)) \
    KERNEL(name##_f64, .fn = l_##name##_f64, .cost = C, .out_size = 1, .stream = STREAM_BLOCKS, ARGS1(8)) \
    KERNEL(name##_f16, .fn = l_##name##_f16, .cost = C, .out_size = 1, .stream = STREAM_BLOCKS, ARGS1(2)) \
    KERNEL(name##_bf16, .fn = l_##name##_bf16, .cost = C, .out_size = 1, .stream = STREAM_BLOCKS, ARGS1(2))
FLOAT_UNARY(MAKE_FLOAT_UNARY)
FLOAT_BITS(MAKE_FLOAT_BITS)
/* ---- those that take several vectors at once where instructions wait for each other */
#define FLOAT_MANY(X) X(exp, STREAM_LOOP, , .45f) X(log, STREAM_BLOCKS, , .45f) X(erf, STREAM_BLOCKS, , .6f)
#if BURN_LEVEL == 4
#define FLOAT_MANY_F32(name, C) F32_UNARY(l_##name##_f32, C, m_##name(x))
#else
#define FLOAT_MANY_F32(name, C) F32_UNARY_MANY(l_##name##_f32, m_##name##_many)
#endif
#define MAKE_FLOAT_MANY(name, STREAM_F64, D, C) \
    FLOAT_MANY_F32(name, C) \
    FLOAT_KERNELS_OF(name, C, 1, STREAM_F64)
F64_UNARY_MANY(l_exp_f64, md_exp_many)
UNARY(l_log_f64, double, double, log(x))
UNARY(l_erf_f64, double, double, erf(x))
FLOAT_MANY(MAKE_FLOAT_MANY)
FLOAT_ARITHMETIC(MAKE_FLOAT_ARITHMETIC)
/* one of two halves, by their bits; of equal numbers, zeros of both signs included, the second as for floats */
enum { PICK_max_pair, PICK_min_pair };
VINL vhi half_pick(const uint16_t *a, const uint16_t *b, int inf, const int pick) {
    vhi x = *(const vhi_half *)a, y = *(const vhi_half *)b, mx = x & 0x7fff, my = y & 0x7fff;
    vhi p = vh_order(x, mx), q = vh_order(y, my), first = pick == PICK_max_pair ? (vhi)(p > q) : (vhi)(q > p);
    return vh_sel((first & ~(vhi)(my > (int16_t)inf)) | (vhi)(mx > (int16_t)inf), x, y);
}
VINL int half_extreme(const elt_span *s, const int pick) {
    half_feed f;
    const int inf = s->half == DT_BF16 ? 0x7f80 : 0x7c00;
    uint16_t *o = s->out, tail[2 * VW];
    half_begin(&f, s, 2 * VW);
    if (s->stream) {
        for (; f.left >= 2 * VW; half_next(&f), o += 2 * VW) vf_stream((float *)o, (vf)half_pick(f.a, f.b, inf, pick));
        v_fence();
    } else
        for (; f.left >= 2 * VW; half_next(&f), o += 2 * VW) *(vhi_half *)o = half_pick(f.a, f.b, inf, pick);
    if (f.left == 0) return BURN_OK;
    half_tail(&f);
    *(vhi_half *)tail = half_pick(f.a, f.b, inf, pick);
    memcpy(o, tail, (size_t)f.left * 2);
    return BURN_OK;
}
FLOAT_HOT(MAKE_FLOAT_HOT)
FLOAT_BINARY(MAKE_FLOAT_BINARY)
FLOAT_BACKWARD_HOT(MAKE_FLOAT_BACKWARD_HOT)
FLOAT_BACKWARD_EASY(MAKE_FLOAT_BINARY)
FLOAT_BACKWARD(MAKE_FLOAT_BACKWARD)
FLOAT_TEST(MAKE_FLOAT_TEST)

/* ---- gelu, and its gradient from the input and the gradient of the output */
#if BURN_LEVEL == 4
F32_UNARY(l_gelu_f32, .6f, m_gelu(x))
F32_BINARY(l_gelu_bwd_f32, 1.f, vf_gate(y, y * m_gelu_slope(x)))
#else
F32_UNARY_BY(l_gelu_f32, 4, m_gelu_many)
F32_SLOPE_BY(l_gelu_bwd_f32, 4, m_gelu_slope_many)
#endif
UNARY(l_gelu_f64, double, double, d_gelu(x))
BINARY_SLOW(l_gelu_bwd_f64, double, double, y == 0 ? 0.0 : y * d_gelu_slope(x))
FLOAT_KERNELS(gelu, .6f, 1)
FLOAT_KERNELS(gelu_bwd, 1.f, 2)

/* ---- clamp(x, lo, hi): NaN anywhere gives NaN, hi wins over lo */
#define CLAMP(T) \
    static inline T clamp_##T(T x, T lo, T hi) { \
        T r = x < lo ? lo : x; \
        r = r > hi ? hi : r; \
        return lo != lo ? lo : hi != hi ? hi : r; \
    }
CLAMP(double)
F32_TERNARY(l_clamp_f32, .25f, vf_sel(vf_unord(y, z), y + z, vf_min(z, vf_max(y, x))))
TERNARY(l_clamp_f64, double, clamp_double(x, y, z))
FLOAT_KERNELS(clamp, .25f, 3)

/* ---- powers with one exponent for all elements: the common ones without pow */
#define POW_SHORT(X) \
    X(0, ({ (void)x; bc(1.f); }), 1.0) \
    X(1, x, x) \
    X(2, x * x, x * x) \
    X(3, x * x * x, x * x * x) \
    X(-1, bc(1.f) / x, 1.0 / x) \
    X(-2, bc(1.f) / (x * x), 1.0 / (x * x))
static int l_powf_scalar_f32(const elt_span *s) {
    const int half = s->half;
    const float p = (float)s->f[0];
    const vf y = elt_number(p);
#define POW_CASE(e, V, D) \
    if (p == e) { \
        F32_UNARY_LOOP(.2f, V) \
        return BURN_OK; \
    }
    POW_SHORT(POW_CASE)
#undef POW_CASE
    F32_UNARY_LOOP(2, m_pow(x, y))
    return BURN_OK;
}
static int l_powf_scalar_f64(const elt_span *s) {
    const double *a = s->in[0];
    double *o = s->out, p = s->f[0];
#define POW_CASE(e, V, D) \
    if (p == e) { \
        IVDEP for (int64_t i = 0; i < s->n; i++) { double x = a[i]; (void)x; o[i] = D; } \
        return BURN_OK; \
    }
    POW_SHORT(POW_CASE)
#undef POW_CASE
    for (int64_t i = 0; i < s->n; i++) o[i] = pow(a[i], p);
    return BURN_OK;
}
/* x^(p-1). From 2^24 on, 2^53 in double, every p is even, and p - 1 odd though it may be rounded to an even number. */
static inline vf m_pow_less(vf x, vf p) {
    vf r = m_pow(x, p - bc(1.f));
    return vf_sel(vf_ge(vf_abs(p), bc(0x1p24f)), vf_copysign(r, x), r);
}
static inline double d_pow_less(double x, double p) {
    double r = pow(x, p - 1);
    return fabs(p) >= 0x1p53 ? copysign(r, x) : r;
}
/* p x^(p-1) g. A root has no finite slope at 0: 0 there, as for sqrt. Whole exponents take factors one by one, from g on, so that
   nothing overflows or vanishes that the result does not. */
static inline double d_pow_bwd(double x, double p, double g) {
    if (g == 0 || p == 0 || (x == 0 && p > 0 && p < 1)) return 0;
    if (p == 1) return g;
    if (p == 2) return g * x * 2;
    if (p == 3) return g * x * x * 3;
    if (p == -1) return -(g / x / x);
    if (p == -2) return g / x / x / x * -2;
    return p * d_pow_less(x, p) * g;
}
static inline vf m_pow_bwd(vf x, float p, vf g) {
    if (p == 0) return bc(0.f);
    if (p == 1) return g;
    if (p == 2) return g * x * bc(2.f);
    if (p == 3) return g * x * x * bc(3.f);
    vf over = bc(1.f) / x;
    if (p == -1) return -(g * over * over);
    if (p == -2) return g * over * over * over * bc(-2.f);
    vf r = elt_number(p) * m_pow_less(x, elt_number(p)) * g;
    if (p > 0 && p < 1) return vf_sel(vf_eq(x, bc(0.f)), bc(0.f), r);
    return r;
}
F32_BINARY_WITH(l_powf_scalar_bwd_f32, 2, const float p = (float)s->f[0];, vf_gate(y, m_pow_bwd(x, p, y)))
BINARY_SLOW_WITH(l_powf_scalar_bwd_f64, double, double, const double p = s->f[0];, d_pow_bwd(x, p, y))
FLOAT_KERNELS(powf_scalar, 2, 1)
FLOAT_KERNELS(powf_scalar_bwd, 2, 2)
/* the same with an exponent y for each element; z is the gradient */
static inline vf m_powf_bwd(vf x, vf y, vf z) {
    vm root = vm_and(vf_eq(x, bc(0.f)), vf_lt(vf_abs(y - bc(.5f)), bc(.5f)));
    vf r = z * y * m_pow_less(x, y);
    return vf_gate(z, vf_sel(vm_or(root, vf_eq(y, bc(0.f))), bc(0.f), r));
}
static inline double d_powf_bwd(double x, double y, double z) {
    return z == 0 || y == 0 || (x == 0 && y > 0 && y < 1) ? 0 : z * y * d_pow_less(x, y);
}
F32_TERNARY(l_powf_bwd_f32, 2, m_powf_bwd(x, y, z))
TERNARY(l_powf_bwd_f64, double, d_powf_bwd(x, y, z))
FLOAT_KERNELS(powf_bwd, 2, 3)
