/* Functions of vf that are computed in double, half of the lanes at a time: a short polynomial then leaves an error of
   2^-33, and the one rounding at the end all of 0.51 ulp. sin, cos, tan, sinh, cosh, asin, acos, atan, asinh, acosh, atanh,
   log1p, powf, atan2; and exp of doubles. The polynomials interpolate at Chebyshev points. NaN, infinities, subnormals and
   -0 are right. */
#pragma once
#include "vmath.h"

typedef uint64_t vdu __attribute__((vector_size(8 * VD), may_alias));

#if BURN_LEVEL == 4
VINL vd vd_sel(vl m, vd a, vd b) { return (vd)_mm512_mask_blend_pd(_mm512_movepi64_mask((__m512i)m), (__m512d)b, (__m512d)a); }
VINL vd vd_sqrt(vd x) { return (vd)_mm512_sqrt_pd((__m512d)x); }
#elif BURN_LEVEL == 3
VINL vd vd_sel(vl m, vd a, vd b) { return (vd)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)m); }
VINL vd vd_sqrt(vd x) { return (vd)_mm256_sqrt_pd((__m256d)x); }
#elif BURN_LEVEL == 2
VINL vd vd_sel(vl m, vd a, vd b) { return (vd)_mm_blendv_pd((__m128d)b, (__m128d)a, (__m128d)m); }
VINL vd vd_sqrt(vd x) { return (vd)_mm_sqrt_pd((__m128d)x); }
#else
VINL vd vd_sel(vl m, vd a, vd b) { return (vd)((m & (vl)a) | (~m & (vl)b)); }
VINL vd vd_sqrt(vd x) { vd r; for (int j = 0; j < VD; j++) r[j] = sqrt(x[j]); return r; }
#endif

#define VD_SHIFT 0x1.8p52 /* adding it rounds to an integer, left in the low bits */
#define WIDE_LN2 0x1.62e42fefa39efp-1
#define WIDE_PI 0x1.921fb54442d18p+1

/* c[0] + c[1] x + ... */
#define POLY(x, ...) ({ \
    static const double c_[] = {__VA_ARGS__}; \
    const int n_ = sizeof c_ / sizeof *c_; \
    vd p_ = bcd(c_[n_ - 1]); \
    _Pragma("GCC unroll 8") for (int i_ = n_ - 2; i_ >= 0; i_--) p_ = vd_fma(p_, x, bcd(c_[i_])); \
    p_; })

/* f(x) of both halves of the lanes */
#define WIDE(name, fn) VINL vf name(vf x) { return vf_from_d(fn(vf_dlo(x)), fn(vf_dhi(x))); }

/* ---- sine and cosine of x for |x| < 2^20, both of the rest r of x = quadrant * pi/2 + r */
#define WIDE_NEAR 0x1p20f
typedef struct { vd sin, cos; vdu quadrant; } wide_circle;
VINL wide_circle wide_angle(vd x) {
    vd t = vd_fma(x, bcd(0x1.45f306dc9c883p-1), bcd(VD_SHIFT)), n = t - bcd(VD_SHIFT);
    vd r = vd_fma(n, bcd(-0x1.0b4611a626331p-34), vd_fma(n, bcd(-0x1.921fb544p+0), x)), z = r * r; /* the first is exact */
    vd s = POLY(z, 0x1.fffffffff6700p-1, -0x1.555555493bbafp-3, 0x1.11110743b51a1p-7, -0x1.a00ee23c4a17fp-13,
                0x1.6cb5f9ee3566cp-19);
    vd c = POLY(z, 0x1.ffffffff97004p-1, -0x1.ffffffbd91996p-2, 0x1.55553a6c64313p-5, -0x1.6c077c4bf6bb2p-10,
                0x1.9904c7bcdc6bdp-16);
    return (wide_circle){s * r, c, (vdu)t};
}
/* the sine `turn` quadrants further on */
VINL vd wide_sine(vd x, int turn) {
    wide_circle a = wide_angle(x);
    vdu q = a.quadrant + (uint64_t)turn;
    return (vd)((vdu)vd_sel((vl)(q << 63) < 0, a.cos, a.sin) ^ ((q & 2) << 62));
}
VINL vd wide_sin(vd x) { return wide_sine(x, 0); }
VINL vd wide_cos(vd x) { return wide_sine(x, 1); }
VINL vd wide_tan(vd x) {
    wide_circle a = wide_angle(x);
    vl odd = (vl)(a.quadrant << 63) < 0;
    return vd_sel(odd, -a.cos, a.sin) / vd_sel(odd, a.sin, a.cos);
}
WIDE(wide_near_sin, wide_sin)
WIDE(wide_near_cos, wide_cos)
WIDE(wide_near_tan, wide_tan)
/* Larger arguments go to the C library, lane by lane: pi would need more digits. */
#define WITH_FAR(name, libm) \
    static __attribute__((noinline)) vf name##_far(vf x, vf r) { \
        for (int j = 0; j < VW; j++) if (!(fabsf(x[j]) < WIDE_NEAR)) r[j] = libm(x[j]); \
        return r; \
    } \
    VINL vf m_##name(vf x) { \
        vf r = wide_near_##name(x); \
        return __builtin_expect(vm_all(vf_lt(vf_abs(x), bc(WIDE_NEAR))), 1) ? r : name##_far(x, r); \
    }
WITH_FAR(sin, sinf)
WITH_FAR(cos, cosf)
WITH_FAR(tan, tanf)

/* ---- e^x for 0 <= x <= 100 or NaN, and the hyperbolic functions of x >= 0 */
VINL vd wide_exp2(vd x) { /* for |x| < 1000 */
    vd t = x + bcd(VD_SHIFT), r = x - (t - bcd(VD_SHIFT));
    vd p = POLY(r, 0x1.ffffffffa65c7p-1, 0x1.62e42fef9cb88p-1, 0x1.ebfbe0ab15f60p-3, 0x1.c6b08da761307p-5,
                0x1.3b29d7d6d7badp-7, 0x1.5d87750bb25c0p-10, 0x1.446d30541ffd7p-13, 0x1.00c1552eaeb61p-16);
    return p * (vd)(((vdu)t << 52) + 0x3ff0000000000000u); /* a product: a NaN stays one */
}
VINL vd wide_exp(vd x) { return wide_exp2(x * bcd(0x1.71547652b82fep+0)); }
VINL vd wide_cosh(vd x) {
    vd e = wide_exp(x);
    return bcd(.5) * (e + bcd(1) / e);
}
VINL vd wide_sinh(vd x) {
    vd e = wide_exp(x), z = x * x;
    vd p = POLY(z, 0x1.0000000036f15p+0, 0x1.555554ff950b2p-3, 0x1.11113bdee3925p-7, 0x1.9ffc1e2de9796p-13,
                0x1.7a5ef207476fbp-19);
    return vd_sel((vl)(x < 1), x * p, bcd(.5) * (e - bcd(1) / e));
}
WIDE(wide_sinh_plus, wide_sinh)
WIDE(wide_cosh_plus, wide_cosh)
VINL vf m_cosh(vf x) { return wide_cosh_plus(vf_min(bc(100.f), vf_abs(x))); }
VINL vf m_sinh(vf x) { return vf_copysign(wide_sinh_plus(vf_min(bc(100.f), vf_abs(x))), x); }

/* ---- logarithms. u = 2^e m, m in [sqrt(1/2), sqrt(2)), for normal u > 0 */
typedef struct { vd e, m; } wide_parts;
VINL wide_parts wide_split(vd u) {
    const uint64_t low = 0x3fe6a09e667f3bcd; /* sqrt(1/2) */
    vdu t = (vdu)u + (0x3ff0000000000000 - low);
    return (wide_parts){(vd)((t >> 52) | 0x4330000000000000) - bcd(0x1p52 + 1023), (vd)((t & 0xfffffffffffff) + low)};
}
/* log(1 + x) for any x; the sign of a zero is lost */
VINL vd wide_log1p(vd x) {
    vd u = x + bcd(1);
    wide_parts p = wide_split(u);
    vd f = vd_sel((vl)(p.e == 0), x, p.m - bcd(1)), s = f / (f + bcd(2)), z = s * s; /* x itself has not been rounded */
    vd l = s * POLY(z, 0x1.00000000049e7p+1, 0x1.555554daee41ep-1, 0x1.999a9c8a467fap-2, 0x1.2432ba683936ep-2,
                    0x1.e3b159cf31211p-3);
    l = vd_fma(p.e, bcd(WIDE_LN2), l);
    vl plain = (vl)(u > 0) & (vl)(u < INFINITY);
    vd edge = vd_sel((vl)(u == 0), bcd(-INFINITY), vd_sel((vl)(u > 0), u, bcd(NAN)));
    return vd_sel(plain, l, edge);
}
/* of x >= 0; sqrt(x^2 + 1) of an infinity would end in a NaN */
VINL vd wide_asinh(vd x) {
    vd c = vd_sel((vl)(x < 0x1p200), x, bcd(0x1p200)), z = c * c;
    return wide_log1p(x + z / (bcd(1) + vd_sqrt(z + bcd(1))));
}
VINL vd wide_acosh(vd x) {
    vd t = x - bcd(1);
    return vd_sel((vl)(t < 0), bcd(NAN), wide_log1p(t + vd_sqrt(t * (t + bcd(2)))));
}
VINL vd wide_atanh(vd x) { return bcd(.5) * wide_log1p((x + x) / (bcd(1) - x)); }
WIDE(wide_log1p_any, wide_log1p)
WIDE(wide_asinh_plus, wide_asinh)
WIDE(wide_atanh_plus, wide_atanh)
WIDE(m_acosh, wide_acosh)
VINL vf m_log1p(vf x) { return vf_copysign(wide_log1p_any(x), x); }
VINL vf m_asinh(vf x) { return vf_copysign(wide_asinh_plus(vf_abs(x)), x); }
VINL vf m_atanh(vf x) { return vf_copysign(wide_atanh_plus(vf_abs(x)), x); }

/* ---- the angle of (x, y) for y >= 0, from 0 to pi: the smaller over the larger, turned by pi/4 where that is large */
VINL vd wide_angle_of(vd y, vd x) {
    vd b = (vd)((vl)x & INT64_MAX);
    vl both = (vl)(y == INFINITY) & (vl)(b == INFINITY), steep = (vl)(y > b);
    y = vd_sel(both, bcd(1), y);
    b = vd_sel(both, bcd(1), b);
    vd n = vd_sel(steep, b, y), d = vd_sel(steep, y, b);
    vl big = (vl)(n > d * bcd(0x1.a827999fcef32p-2)); /* tan(pi/8) */
    vd top = vd_sel(big, n - d, n), base = vd_sel(big, n + d, d);
    vd t = top / vd_sel((vl)(base == 0), bcd(1), base), z = t * t;
    vd r = t * POLY(z, 0x1.ffffffffd0300p-1, -0x1.5555547fdc78fp-2, 0x1.9998fd01aa2f3p-3, -0x1.247c9447e8442p-3,
                    0x1.c4360242850d1p-4, -0x1.5a52c33d30eedp-4, 0x1.81726fff67213p-5);
    r += vd_sel(big, bcd(WIDE_PI / 4), bcd(0));
    r = vd_sel(steep, bcd(WIDE_PI / 2) - r, r);
    return vd_sel((vl)x < 0, bcd(WIDE_PI) - r, r);
}
VINL vd wide_rest(vd x) { return vd_sqrt((bcd(1) - x) * (bcd(1) + x)); }
VINL vd wide_asin(vd x) { return wide_angle_of(x, wide_rest(x)); }
VINL vd wide_acos(vd x) { return wide_angle_of(wide_rest(x), x); }
VINL vd wide_atan(vd x) { return wide_angle_of(x, bcd(1)); }
WIDE(wide_asin_plus, wide_asin)
WIDE(wide_atan_plus, wide_atan)
WIDE(m_acos, wide_acos)
VINL vf m_asin(vf x) { return vf_copysign(wide_asin_plus(vf_abs(x)), x); }
VINL vf m_atan(vf x) { return vf_copysign(wide_atan_plus(vf_abs(x)), x); }
VINL vf m_atan2(vf y, vf x) {
    vf a = vf_abs(y);
    return vf_copysign(vf_from_d(wide_angle_of(vf_dlo(a), vf_dlo(x)), wide_angle_of(vf_dhi(a), vf_dhi(x))), y);
}

/* ---- x^y for x >= 0, without the cases that C singles out */
VINL vd wide_pow(vd x, vd y) {
    wide_parts p = wide_split(x);
    vd f = p.m - bcd(1), s = f / (f + bcd(2)), z = s * s;
    vd l = vd_fma(s, POLY(z, 0x1.71547652b8251p+1, 0x1.ec709dc53bfcfp-1, 0x1.2776c2935a8c1p-1, 0x1.a61a2ef4051f3p-2,
                          0x1.4795463b406c3p-2, 0x1.21b245a850e1dp-2), p.e);
    l = vd_sel((vl)(x == 0), bcd(-0x1p900), vd_sel((vl)(x < INFINITY), l, x * bcd(0x1p900)));
    vd v = y * l;
    v = vd_sel((vl)(v > 300), bcd(300), v);
    return wide_exp2(vd_sel((vl)(v < -300), bcd(-300), v));
}
VINL vf m_pow(vf x, vf y) {
    vf a = vf_abs(x), half = y * bc(.5f);
    vf r = vf_from_d(wide_pow(vf_dlo(a), vf_dlo(y)), wide_pow(vf_dhi(a), vf_dhi(y)));
    if (__builtin_expect(vm_all(vm_and(vm_and(vf_gt(x, bc(0.f)), vf_lt(x, bc(INFINITY))),
                                     vf_lt(vf_abs(y), bc(INFINITY)))), 1)) return r;
    vm whole = vf_eq(vf_trunc(y), y), odd = vm_and(whole, vf_ne(vf_trunc(half), half)); /* infinite y are even */
    r = vf_sel(vm_and(vf_eq(a, bc(1.f)), vf_eq(y, y)), bc(1.f), r);
    r = vf_sel(odd, vf_copysign(r, x), r);
    r = vf_sel(vm_and(vm_and(vf_lt(x, bc(0.f)), vf_gt(x, bc(-INFINITY))), vm_not(whole)), bc(NAN), r);
    return vf_sel(vm_or(vf_eq(x, bc(1.f)), vf_eq(y, bc(0.f))), bc(1.f), r);
}

/* ---- e^x of doubles, at most 1 ulp off: x = k ln2 + r, with ln2 in two parts of which the first has an exact product with k;
   1 + (r + r^2 P(r)). Several vectors in step: the latency of one would show. */
VINL vd vd_pow2(vd k) { return (vd)(((vdu)(k + bcd(VD_SHIFT)) << 52) + 0x3ff0000000000000u); } /* whole k in [-1022, 1023] */
VINL void vd_exp_parts(vd *x, vd *k, const int n) { /* x becomes e^r */
    static const double P[11] = {0x1p-1, 0x1.5555555555557p-3, 0x1.5555555555556p-5, 0x1.1111111110085p-7,
                                 0x1.6c16c16c162a3p-10, 0x1.a01a01ac16f76p-13, 0x1.a01a01a6f35fbp-16, 0x1.71de019d031e7p-19,
                                 0x1.27e4db0f8a3efp-22, 0x1.af4f1ddf981a8p-26, 0x1.1f73b376c0f55p-29};
    vd p[4];
    VM_EACH(j, n) k[j] = vd_fma(x[j], bcd(0x1.71547652b82fep+0), bcd(VD_SHIFT)) - bcd(VD_SHIFT);
    VM_EACH(j, n) x[j] = vd_fma(k[j], bcd(-0x1.62e42feep-1), x[j]);
    VM_EACH(j, n) x[j] = vd_fma(k[j], bcd(-0x1.a39ef35793c76p-33), x[j]);
    VM_EACH(j, n) p[j] = vd_fma(x[j], bcd(P[10]), bcd(P[9]));
    _Pragma("GCC unroll 16") for (int i = 8; i >= 0; i--) VM_EACH(j, n) p[j] = vd_fma(p[j], x[j], bcd(P[i]));
    VM_EACH(j, n) x[j] = vd_fma(p[j], x[j] * x[j], x[j]) + bcd(1);
}
VINL void vd_exp_far(vd *x, const int n) {
    vd k[4];
    VM_EACH(j, n) x[j] = vd_sel((vl)(x[j] > 710), bcd(710), vd_sel((vl)(x[j] < -746), bcd(-746), x[j]));
    vd_exp_parts(x, k, n);
    VM_EACH(j, n) {
#if BURN_LEVEL == 4
        x[j] = (vd)_mm512_scalef_pd((__m512d)x[j], (__m512d)k[j]);
#else
        vd half = vd_fma(k[j], bcd(.5), bcd(VD_SHIFT)) - bcd(VD_SHIFT); /* 2^k in two factors: the first product is exact */
        x[j] = x[j] * vd_pow2(half) * vd_pow2(k[j] - half);
#endif
    }
}
VINL void md_exp_many(vd *x, const int n) {
#if BURN_LEVEL == 4
    vd_exp_far(x, n);
#else
    vl near = (vl)(((vd)((vl)x[0] & INT64_MAX)) < 708);
    VM_EACH(j, n) near &= (vl)(((vd)((vl)x[j] & INT64_MAX)) < 708);
    if (__builtin_expect(!vm_all((vm)near), 0)) {
        for (int j = 0; j < n; j++) vd_exp_far(x + j, 1);
        return;
    }
    vd k[4];
    vd_exp_parts(x, k, n);
    VM_EACH(j, n) x[j] = (vd)((vdu)x[j] + ((vdu)(k[j] + bcd(VD_SHIFT)) << 52));
#endif
}
