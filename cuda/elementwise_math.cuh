// Functions of one element in the compute type C.
#pragma once
#include "elementwise_loops.cuh"

#if IS_FLOAT
#if DTYPE == DT_F64
#define FN(fn) fn
#define SHORT CALLED C // long in double precision
#else
#define FN(fn) fn##f
#define SHORT INLINE C
#endif
#define LONG CALLED C

SHORT m_exp(C x) { return FN(exp)(x); }
SHORT m_log(C x) { return FN(log)(x); }
SHORT m_tanh(C x) { return FN(tanh)(x); }
SHORT m_erf(C x) { return FN(erf)(x); }
LONG m_expm1(C x) { return FN(expm1)(x); }
LONG m_log1p(C x) { return FN(log1p)(x); }
LONG m_sin(C x) { return FN(sin)(x); }
LONG m_cos(C x) { return FN(cos)(x); }
LONG m_tan(C x) { return FN(tan)(x); }
LONG m_sinh(C x) { return FN(sinh)(x); }
LONG m_cosh(C x) { return FN(cosh)(x); }
LONG m_asin(C x) { return FN(asin)(x); }
LONG m_acos(C x) { return FN(acos)(x); }
LONG m_atan(C x) { return FN(atan)(x); }
LONG m_asinh(C x) { return FN(asinh)(x); }
LONG m_acosh(C x) { return FN(acosh)(x); }
LONG m_atanh(C x) { return FN(atanh)(x); }
LONG m_atan2(C x, C y) { return FN(atan2)(x, y); }
LONG m_hypot(C x, C y) { return FN(hypot)(x, y); }
INLINE C m_fmod(C x, C y) { return FN(fmod)(x, y); }
INLINE C m_abs(C x) { return FN(fabs)(x); }
INLINE C m_copysign(C x, C y) { return FN(copysign)(x, y); }
INLINE C m_fma(C x, C y, C z) { return FN(fma)(x, y, z); }
INLINE C m_round(C x) { return FN(rint)(x); }
INLINE C m_floor(C x) { return FN(floor)(x); }
INLINE C m_ceil(C x) { return FN(ceil)(x); }
INLINE C m_trunc(C x) { return FN(trunc)(x); }
INLINE C m_sqrt(C x) { return FN(sqrt)(x); }
INLINE bool negative(C x) { return x < 0; }
INLINE bool is_infinite(C x) { return m_abs(x) == C(INFINITY); }
INLINE bool is_finite_number(C x) { return m_abs(x) < C(INFINITY); }

#if DTYPE == DT_F64
INLINE C m_over(C x, C y) { return x / y; }
#else
// One over y, neither tiny nor huge, and 2^x, tiny results zero: wrong by an ulp or two.
INLINE float near_recip(float y) {
#ifndef BURN_EMULATED
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(y));
    return r;
#else
    return 1.f / y;
#endif
}
INLINE float near_exp2(float x) {
#ifndef BURN_EMULATED
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
#else
    return exp2f(x);
#endif
}
INLINE C m_over(C x, C y) { return x * near_recip(y); }
#endif

#if DTYPE == DT_F64
INLINE C m_power(C x, C y) { return pow(x, y); }
#else
CALLED float any_power(float x, float y) { return powf(x, y); }
// For x normal and positive and results that are neither tiny nor huge: log2(x) to 32 bits and more as the sum of two
// numbers, from atanh(s), s = (m - 1) / (m + 1) with the error of that quotient; then 2^(y log2(x)).
INLINE C m_power(C x, C y) {
    i32 bits = (i32)__float_as_uint(x), k = (bits - 0x3f3504f3) & (i32)0xff800000;
    float f = __uint_as_float((u32)(bits - k)) - 1.f, d = f + 2.f, r = near_recip(d);
    float s = __fmul_rn(f, r), z = s * s, p = 0.116663158f;
    float rest = fmaf(-s, f - (d - 2.f), fmaf(-s, d, f)) * r;
    p = fmaf(p, z, 0.142753640f);
    p = fmaf(p, z, 0.200000614f);
    p = fmaf(p, z, 0.333333333f);
    float high = __fmul_rn(s, 2.88539004f), low = fmaf(s, 2.88539004f, -high), e = (float)k * 0x1p-23f;
    low = fmaf(rest, 2.88539004f, fmaf(s, 3.8518746e-8f, low));
    low = fmaf(p * z, high, low);
    float sum = __fadd_rn(e, high);
    low += high - (sum - e);
    float t = __fmul_rn(y, sum), n = __fadd_rn(t, 12582912.f);
    if ((u32)bits - 0x00800000u >= 0x7f000000u || !(fabsf(t) < 125.f)) return any_power(x, y);
    low = fmaf(y, low, fmaf(y, sum, -t)) + (t - (n - 12582912.f));
    return __uint_as_float(__float_as_uint(near_exp2(low)) + (__float_as_uint(n) << 23));
}
#endif
LONG m_pow(C x, C y) { return m_power(x, y); }

// Beyond this e^x is 0 in the type; beyond the other one half erfc(-x / sqrt(2)) is, and the tanh form too.
#define EXP_END (sizeof(C) == 8 ? C(800) : C(120))
#define PHI_END C(40)
INLINE C clipped(C x, C limit) { return x < -limit ? -limit : x > limit ? limit : x; }

// e^-|x| can neither overflow nor lose digits against 1.
SHORT sigmoid_of(C x) {
    C e = m_exp(-m_abs(x));
    return m_over(x < 0 ? e : C(1), C(1) + e);
}
SHORT log_sigmoid_of(C x) { return (x < 0 ? x : C(0)) - FN(log1p)(m_exp(-m_abs(x))); }
SHORT silu_of(C x) { return x < -EXP_END ? C(-0.0) : x * sigmoid_of(x); }
// x n / (n + v), where n / (n + v) = tanh(log(1 + e^x)).
LONG mish_of(C x) {
    C e = m_exp(-m_abs(x)), n = x < 0 ? e * (C(2) + e) : C(1) + 2 * e, v = x < 0 ? C(2) : 2 * e * e;
    return x < -EXP_END ? C(-0.0) : x * (n / (n + v));
}
LONG mish_slope(C x) {
    C c = clipped(x, EXP_END), e = m_exp(-m_abs(c)), n = c < 0 ? e * (C(2) + e) : C(1) + 2 * e, v = c < 0 ? C(2) : 2 * e * e;
    C w = n / (n + v), u = v / (n + v), s = (c < 0 ? e : C(1)) / (C(1) + e);
    return w + c * s * u * (C(1) + w);
}
INLINE C clip01(C x) { return x < 0 ? C(0) : x > 1 ? C(1) : x; }
LONG silu_slope(C x) {
    C c = clipped(x, EXP_END), e = m_exp(-m_abs(c)), d = m_over(C(1), C(1) + e), s = c < 0 ? e * d : d, t = c < 0 ? d : e * d;
    return s * (C(1) + c * t);
}
#if DTYPE == DT_F64
// Probability that a normal deviate is below x, exact in the far left tail too.
SHORT phi(C x) { return C(0.5) * erfc(x * C(-0.70710678118654752440)); }
SHORT gelu_of(C x) { return x < -PHI_END ? C(-0.0) : x * phi(x); }
LONG gelu_slope(C x) {
    C c = clipped(x, PHI_END);
    return phi(c) + c * C(0.39894228040143267794) * m_exp(C(-0.5) * c * c);
}
#else
#define TAIL_END 13.1f
// Probability that a normal deviate is above a, 0 <= a <= TAIL_END, with a small relative error: q = e^(-a^2 / 2) times a
// polynomial in 1 / (1 + 0.35 a). The exponent is taken exactly: its error would be one of the result, times a^2.
#if IS_HALF
INLINE float normal_tail(float a, float &e) { // to 17 bits
    float t = near_recip(fmaf(0.3f, a, 1.f)), p = -0.0777592025f;
    e = near_exp2(a * a * -0.721347511f);
    p = fmaf(p, t, 0.218029188f);
    p = fmaf(p, t, -0.0192283550f);
    p = fmaf(p, t, 0.145428179f);
    p = fmaf(p, t, 0.113430102f);
    p = fmaf(p, t, 0.120103654f);
    return p * t * e;
}
#else
INLINE float normal_tail(float a, float &e) {
    float s = __fmul_rn(a, a), low = fmaf(a, a, -s);
    float z = fmaf(s, -0.721347511f, 12582912.f), n = z - 12582912.f; // to an integer, in the low bits
    float r = fmaf(s, -0.721347511f, -n);
    r = fmaf(s, -9.629815e-9f, r);
    r = fmaf(low, -0.721347511f, r);
    e = __uint_as_float(__float_as_uint(near_exp2(r)) + (__float_as_uint(z) << 23));
    float t = near_recip(fmaf(0.35f, a, 1.f)), p = -0.0291088932f;
    p = fmaf(p, t, 0.143788036f);
    p = fmaf(p, t, -0.255326884f);
    p = fmaf(p, t, 0.158721566f);
    p = fmaf(p, t, -0.0227904398f);
    p = fmaf(p, t, 0.105369066f);
    p = fmaf(p, t, 0.119869121f);
    p = fmaf(p, t, 0.1398567f);
    p = fmaf(p, t, 0.139621712f);
    return p * t * e;
}
#endif
INLINE C gelu_of(C x) {
    float a = fabsf(x), e;
    bool far = a > TAIL_END;
    float c = far ? TAIL_END : a, q = normal_tail(c, e);
    return (x >= 0 ? x : -0.f) - (far ? 0.f : c * q);
}
INLINE C gelu_slope(C x) {
    float c = clipped(x, TAIL_END), e, q = normal_tail(fabsf(c), e);
    return fmaf(c * 0.398942280f, e, c < 0 ? q : 1.f - q);
}
#endif
// 0.5 x (1 + tanh(u)) is x sigmoid(2 u), 2 u = sqrt(8 / pi) (x + 0.044715 x^3).
INLINE C gelu_exponent(C x) { return x * m_fma(x * x, C(0.0713548162726009), C(1.59576912160573071)); }
SHORT gelu_approximate_of(C x) { return x < -PHI_END ? C(-0.0) : x * sigmoid_of(gelu_exponent(x)); }
LONG gelu_approximate_slope(C x) {
    C c = clipped(x, PHI_END), u = gelu_exponent(c), e = m_exp(-m_abs(u)), d = m_over(C(1), C(1) + e);
    C s = u < 0 ? e * d : d, t = u < 0 ? d : e * d;
    return s + c * s * t * m_fma(c * c, C(0.2140644488178027), C(1.59576912160573071));
}
SHORT erf_slope(C x) { return C(1.12837916709551257390) * m_exp(-x * x); }

// Remainder with the sign of the divisor, a zero included.
INLINE C exact_remainder(C x, C y) {
    C r = m_fmod(x, y);
    if (r == 0) return m_copysign(C(0), y);
    return (r < 0) != (y < 0) ? r + y : r;
}
LONG remainder_of(C x, C y) {
#if DTYPE != DT_F64
    // The quotient may have been rounded up to the next integer, never further; the fused product is exact, so one
    // correction is enough.
    C q = x / y;
    if (m_abs(q) < C(0x1p22f) && is_finite_number(y)) {
        C r = m_fma(-m_floor(q), y, x);
        return r == 0 ? m_copysign(C(0), y) : (r < 0) != (y < 0) ? r + y : r;
    }
#endif
    return exact_remainder(x, y);
}

// NaN anywhere gives NaN, the upper limit wins over the lower one.
INLINE C clamp_of(C x, C low, C high) {
    C r = x < low ? low : x;
    r = r > high ? high : r;
    return low != low ? low : high != high ? high : r;
}
INLINE C max_of(C x, C y) { return x > y || x != x ? x : y; }
INLINE C min_of(C x, C y) { return x < y || x != x ? x : y; }

// The common exponents without pow.
LONG power_of(C x, C p) {
    if (p == 2) return x * x;
    if (p == 3) return x * x * x;
    if (p == 1) return x;
    if (p == 0) return C(1);
    if (p == -1) return C(1) / x;
    if (p == -2) return C(1) / (x * x);
    return m_power(x, p);
}
// x^(p-1). From 2^24 on, 2^53 in double, every p is even, and p - 1 odd though it may be rounded to an even number.
INLINE C power_less(C x, C p) {
    C r = m_power(x, p - C(1));
    return m_abs(p) >= (DTYPE == DT_F64 ? C(9007199254740992.0) : C(16777216)) ? m_copysign(r, x) : r;
}
INLINE C huber_of(C size, C limit, C over, C slope) {
    return size <= limit ? size * C(0.5) * (size / over) : (size - limit * C(0.5)) * slope;
}
// y (log y - x), or with the logarithm of y; and its slope by y
LONG kl_of(C x, C y, bool logs) {
    if (logs) return is_infinite(y) && y < 0 ? C(0) : m_exp(y) * (y - x);
    return y == 0 ? C(0) : y * (m_log(y) - x);
}
LONG kl_target_slope(C x, C y, C g, bool logs) {
    if (logs) return is_infinite(y) && y < 0 ? C(0) : g * m_exp(y) * (y - x + C(1));
    return y == 0 ? C(0) : g * (m_log(y) - x + C(1));
}
// p x^(p-1) g. A root has no finite slope at 0: 0 there, as for sqrt. Whole exponents take factors one by one, from g on, so
// that nothing overflows or vanishes that the result does not.
LONG power_slope(C x, C p, C g) {
    if (p == 0 || g == 0) return C(0);
    if (p == 1) return g;
    if (p == 2) return g * x * C(2);
    if (p == 3) return g * x * x * C(3);
    if (p == -1) return -(g / x / x);
    if (p == -2) return g / x / x / x * C(-2);
    return x == 0 && p > 0 && p < 1 ? C(0) : p * power_less(x, p) * g;
}
typedef C N;

#else
// Sums, products and left shifts wrap: they are taken in an unsigned type, N.
template <class S> struct unsigned_of { typedef u32 type; };
template <> struct unsigned_of<i64> { typedef u64 type; };
template <> struct unsigned_of<u64> { typedef u64 type; };
typedef unsigned_of<T>::type N;
#define BITS ((int)sizeof(T) * 8)

INLINE bool negative(C x) { return IS_SIGNED && (i64)x < 0; }
INLINE C m_abs(C x) { return negative(x) ? (C)(N(0) - N(x)) : x; }
INLINE C max_of(C x, C y) { return x > y ? x : y; }
INLINE C min_of(C x, C y) { return x < y ? x : y; }
INLINE C clamp_of(C x, C low, C high) {
    C r = x < low ? low : x;
    return r > high ? high : r;
}
// The divisor 0 has been reported; the least integer over -1 wraps.
INLINE C quotient(C x, C y) {
    if (y == 0) return 0;
    return IS_SIGNED && (i64)y == -1 ? (C)(N(0) - N(x)) : (C)(x / y);
}
INLINE C remainder_of(C x, C y) {
    if (y == 0 || (IS_SIGNED && (i64)y == -1)) return 0;
    C r = (C)(x % y);
    return r != 0 && negative((C)(r ^ y)) ? (C)(r + y) : r;
}
INLINE C floor_quotient(C x, C y) {
    C d = quotient(x, y), r = (C)(N(x) - N(d) * N(y));
    return y != 0 && r != 0 && negative((C)(r ^ y)) ? (C)(d - 1) : d;
}
// By the width or more: 0, or -1 for a negative number to the right.
INLINE C left_shift(C x, C y) { return (u64)y < BITS ? (C)(N(x) << y) : C(0); }
INLINE C right_shift(C x, C y) { return (u64)y < BITS ? (C)(x >> y) : negative(x) ? (C)-1 : C(0); }
// By squaring, wrapping; a negative exponent leaves 0 but for the bases 1 and -1.
CALLED C int_power(C x, C e) {
    if (negative(e)) return x == 1 ? C(1) : (i64)x == -1 ? ((e & 1) ? x : C(1)) : C(0);
    N r = 1, b = (N)x;
    for (u64 k = (u64)e; k; k >>= 1, b *= b)
        if (k & 1) r *= b;
    return (C)r;
}
#endif

INLINE C sign_of(C x) { return C((x > C(0)) - negative(x)); }
#if IS_BOOL
INLINE bool same(C x, C y) { return (x != 0) == (y != 0); }
#else
INLINE bool same(C x, C y) { return x == y; }
#endif
