/* Vector math on vf for every level, no fast-math; NaN, infinities, denormals and -0 right.

   exp, sigmoid, silu, log, log_sigmoid: one form for all levels (Cody-Waite reduction; 1 + (r + r^2 P(r)), where the
   sum in brackets is small and its rounding costs little). AVX-512 takes exponents apart and puts them together in
   one instruction; below it exp and log have a shorter path for vectors without a lane near overflow, underflow or
   NaN. tanh, erf, gelu: on AVX-512 piecewise polynomials with the coefficients picked from registers, no exp, no
   division; below it two forms and a choice (an odd polynomial near zero), for gelu the eighth power of a polynomial.
   Largest errors in ulp: exp 1.0, log 1.1, tanh 1.3, erf 1.6, sigmoid 2.3, silu 3.0, log_sigmoid 1.7; gelu 1.5 for
   x > -5 on AVX-512, below it 2.0 for x > 0, and 2.5e-7 absolute. */
#pragma once
#include "vec.h"
#include "vtables.h"

#define VM_SHIFT 12582912.f /* 1.5 * 2^23: adding it rounds to an integer, left in the low bits */

#define VM_EACH(j, n) _Pragma("GCC unroll 8") for (int j = 0; j < n; j++)

/* e^r - 1 for |r| <= ln2/2 */
VINL vf vm_expm1_small(vf r) {
    vf p = bc(0x1.6a4f54p-10f);
    p = vf_fma(p, r, bc(0x1.12397ep-7f));
    p = vf_fma(p, r, bc(0x1.5558aep-5f));
    p = vf_fma(p, r, bc(0x1.555492p-3f));
    p = vf_fma(p, r, bc(0x1.fffffcp-2f));
    return vf_fma(p, r * r, r);
}
/* x = n ln2 + r; z holds n in its low bits. ln2 in two parts, the first short enough for an exact product. */
VINL vf vm_reduce(vf x, vf *z) {
    *z = vf_fma(x, bc(1.44269504f), bc(VM_SHIFT));
    vf n = *z - bc(VM_SHIFT);
    vf r = vf_fnma(n, bc(0.693145752f), x);
    return vf_fnma(n, bc(1.42860677e-6f), r);
}

/* e^x for x known in [-87, 88]: the exponent of the result is put in by an integer addition */
VINL vf vm_exp_near(vf x) {
    vf z, r = vm_reduce(x, &z);
    return (vf)((vi)(vm_expm1_small(r) + bc(1.f)) + ((vi)z << 23));
}
VINL vf m_exp(vf x) {
#if BURN_LEVEL != 4
    if (__builtin_expect(vm_all(vf_lt(vf_abs(x), bc(87.f))), 1)) return vm_exp_near(x);
#endif
    vf z, r = vm_reduce(vf_max(bc(-105.f), vf_min(bc(90.f), x)), &z);
    vf p = vm_expm1_small(r) + bc(1.f);
#if BURN_LEVEL == 4
    return vf_scale(p, z - bc(VM_SHIFT));
#else
    /* 2^n in two factors (an integer addition would lose NaN); the bits of VM_SHIFT leave through the top */
    vi k = (vi)z, h = k >> 1;
    return p * (vf)((h + 127) << 23) * (vf)((k - h + 127) << 23);
#endif
}

#if BURN_LEVEL == 4
VINL void m_exp_many(vf *x, int n) { VM_EACH(j, n) x[j] = m_exp(x[j]); }
#else
/* exp of n vectors in place, n a constant: the chains of multiply-adds are interleaved to hide the latency */
VINL void m_exp_many(vf *x, int n) {
    static const float P[4] = {0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558aep-5f, 0x1.12397ep-7f};
    vm near = vf_lt(vf_abs(x[0]), bc(87.f));
    VM_EACH(j, n) near = vm_and(near, vf_lt(vf_abs(x[j]), bc(87.f)));
    if (__builtin_expect(!vm_all(near), 0)) {
        for (int j = 0; j < n; j++) x[j] = m_exp(x[j]);
        return;
    }
    vf z[4], r[4], p[4];
    VM_EACH(j, n) {
        r[j] = vm_reduce(x[j], z + j);
        p[j] = bc(0x1.6a4f54p-10f);
    }
    VM_EACH(k, 4) VM_EACH(j, n) p[j] = vf_fma(p[j], r[j], bc(P[3 - k]));
    VM_EACH(j, n) p[j] = vf_fma(p[j], r[j] * r[j], r[j]) + bc(1.f);
    VM_EACH(j, n) x[j] = (vf)((vi)p[j] + ((vi)z[j] << 23));
}
#endif
/* e^-|x| * 2^64 for the functions built on it: never denormal, so a product with it keeps its accuracy. Multiply by
   0x1p-64. Below -120 it stays at e^-120, which the callers' last product takes to 0. */
VINL vf vm_exp_neg(vf x) {
    vf z, r = vm_reduce(vf_max(bc(-120.f), -vf_abs(x)), &z);
    vf p = vm_expm1_small(r) + bc(1.f);
    return p * (vf)(((vi)z + (127 + 64)) << 23);
}
/* (x < 0 ? a e^x : b) / (1 + e^-|x|), the shape of silu and gelu_approximate */
VINL vf vm_logistic(vf x, vf a, vf b) {
    vf q = vm_exp_neg(x), e = q * bc(0x1p-64f);
    vf d = bc(1.f) + e;
    return vf_sel(vf_lt(x, bc(0.f)), a * q * bc(0x1p-64f), b) / d;
}
VINL vf m_sigmoid(vf x) {
    vf q = vm_exp_neg(x), e = q * bc(0x1p-64f);
    return vf_sel(vf_lt(x, bc(0.f)), e, bc(1.f)) / (bc(1.f) + e);
}
VINL vf m_silu(vf x) { return vm_logistic(x, vf_max(bc(-120.f), x), x); }

/* log(1 + m) for m in [-1/3, 1/3] */
VINL vf vm_log1p_small(vf m) {
    vf s = m * m;
    vf r = bc(-0.130310059f), t = bc(0.140869141f);
    r = vf_fma(r, s, bc(-0.121483512f));
    t = vf_fma(t, s, bc(0.139814854f));
    r = vf_fma(r, s, bc(-0.166846126f));
    t = vf_fma(t, s, bc(0.200120345f));
    r = vf_fma(r, s, bc(-0.249996200f));
    r = vf_fma(t, m, r);
    r = vf_fma(r, m, bc(0.333331972f));
    r = vf_fma(r, m, bc(-0.5f));
    return vf_fma(r, s, m);
}
VINL vf m_log(vf x) {
#if BURN_LEVEL == 4
    vf e = (vf)_mm512_getexp_ps((__m512)x); /* -inf for 0, inf and NaN as they are */
    vf m = (vf)_mm512_getmant_ps((__m512)x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_nan);
    vm big = vf_ge(m, bc(4.f / 3));
    m = vf_sel(big, m * bc(.5f), m);
    e = vf_sel(big, e + bc(1.f), e);
    return vf_fma(e, bc(0.693147182f), vm_log1p_small(m - bc(1.f)));
#else
    /* normal, positive, finite: the bits lie in one range, told by one comparison of a biased difference */
    if (__builtin_expect(vm_all(vi_lt((vi)((vu)x + 0x7f800000u), bci(-0x01000000))), 1)) {
        vi k = ((vi)x - 0x3f2aaaab) & (int32_t)0xff800000; /* exponent of the power that brings x into [2/3, 4/3) */
        vf r = vm_log1p_small((vf)((vi)x - k) - bc(1.f));
        return vf_fma(vi_to_vf(k), bc(0x1.62e43p-24f), r); /* ln2 / 2^23 */
    }
    vm tiny = vf_lt(x, bc(0x1p-126f));
    vf y = vf_sel(tiny, x * bc(0x1p23f), x);
    vi e = ((vi)y - 0x3f2aaaab) & (int32_t)0xff800000;
    vf m = (vf)((vi)y - e) - bc(1.f);
    vf n = vf_fma(vi_to_vf(e), bc(0x1p-23f), vf_sel(tiny, bc(-23.f), bc(0.f)));
    vf r = vf_fma(n, bc(0.693147182f), vm_log1p_small(m));
    r = vf_sel(vf_lt(x, bc(INFINITY)), r, x); /* inf, NaN */
    r = vf_sel(vf_eq(x, bc(0.f)), bc(-INFINITY), r);
    return vf_sel(vf_lt(x, bc(0.f)), bc(NAN), r);
#endif
}
#if BURN_LEVEL != 4
/* log of n vectors in place, n a constant, together where all of their lanes are normal, positive and finite */
VINL void m_log_many(vf *x, int n) {
    vm plain = vi_lt((vi)((vu)x[0] + 0x7f800000u), bci(-0x01000000));
    VM_EACH(j, n) plain = vm_and(plain, vi_lt((vi)((vu)x[j] + 0x7f800000u), bci(-0x01000000)));
    if (__builtin_expect(!vm_all(plain), 0)) {
        for (int j = 0; j < n; j++) x[j] = m_log(x[j]);
        return;
    }
    vi k[4];
    VM_EACH(j, n) {
        k[j] = ((vi)x[j] - 0x3f2aaaab) & (int32_t)0xff800000;
        x[j] = (vf)((vi)x[j] - k[j]) - bc(1.f);
    }
    VM_EACH(j, n) x[j] = vm_log1p_small(x[j]);
    VM_EACH(j, n) x[j] = vf_fma(vi_to_vf(k[j]), bc(0x1.62e43p-24f), x[j]);
}
#endif
/* min(x, 0) - log(1 + e^-|x|): keeps its relative accuracy on both sides */
VINL vf m_log_sigmoid(vf x) {
    vf e = vm_exp_neg(x) * bc(0x1p-64f);
    vm big = vf_gt(e, bc(1.f / 3));
    vf m = vf_sel(big, (e - bc(1.f)) * bc(.5f), e);
    vf l = vm_log1p_small(m) + vf_sel(big, bc(0.693147182f), bc(0.f));
    return vf_min(bc(0.f), x) - l;
}

/* tanh form of gelu as x * sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3) */
VINL vf m_gelu_approximate_logistic(vf x) {
    vf u = x * vf_fma(x * x, bc(0.0713548163f), bc(1.59576912f));
    return vm_logistic(u, vf_max(bc(-13.f), x), x);
}

#if BURN_LEVEL == 4
#define VT_PICK(T, k) \
    ((vf)_mm512_permutex2var_ps(_mm512_load_ps(&T[k][0]), (__m512i)i, _mm512_load_ps(&T[k][16])))
/* odd function by table: |x| clamped to [lo, hi]; `lead` where the term of x itself must not go through the table
   near 0 */
#define VT_ODD(x, T, lo, hi, lead) ({ \
    vf a = vf_abs(x), top = vf_min(bc(hi), a); \
    vi i = (vi)((vu)vf_max(bc(lo), top) >> 21); \
    vf t = top - VT_PICK(T, 0), c = VT_PICK(T, 1), p = VT_PICK(T, 6); \
    if (lead) c = vf_sel(vf_gt(a, bc(lo)), c, t); \
    p = vf_fma(p, t, VT_PICK(T, 5)); \
    p = vf_fma(p, t, VT_PICK(T, 4)); \
    p = vf_fma(p, t, VT_PICK(T, 3)); \
    p = vf_fma(p, t, VT_PICK(T, 2)); \
    vf_copysign(vf_fma(p, t, c), x); })
/* max(x, 0) - H(|x|): H keeps its relative accuracy in the negative tail, which 1 + erf would lose; 0 beyond the
   table */
#define VT_GELU_OF(x, T) ({ \
    vf a = vf_abs(x), top = vf_min(bc(7.874f), a); \
    vf z = vf_fma(top, bc(4.f), bc(VM_SHIFT)), t = vf_fnma(z - bc(VM_SHIFT), bc(.25f), top), p; \
    vi i = (vi)z; \
    p = vf_fma(VT_PICK(T, 7), t, VT_PICK(T, 6)); \
    p = vf_fma(p, t, VT_PICK(T, 5)); \
    p = vf_fma(p, t, VT_PICK(T, 4)); \
    p = vf_fma(p, t, VT_PICK(T, 3)); \
    p = vf_fma(p, t, VT_PICK(T, 2)); \
    p = vf_fma(p, t, VT_PICK(T, 1)); \
    p = vf_fma(p, t, VT_PICK(T, 0)); \
    vf r = vf_max(bc(0.f), x); \
    vf_sel(vf_gt(a, bc(7.874f)), r, r - p); })
VINL vf m_tanh(vf x) { return VT_ODD(x, VT_TANH, 0x1.fffffep-5f, 9.25f, 0); }
VINL vf m_erf(vf x) { return VT_ODD(x, VT_ERF, 0x1.fffffep-6f, 3.95f, 1); }
VINL vf m_gelu(vf x) { return VT_GELU_OF(x, VT_GELU); }
VINL vf m_gelu_approximate(vf x) { return VT_GELU_OF(x, VT_GELU_TANH); }
/* the derivative of gelu from the distribution function and the density */
VINL vf m_gelu_slope(vf x) {
    vf c = vf_max(bc(-15.f), vf_min(bc(15.f), x)), phi = bc(.5f) + bc(.5f) * m_erf(c * bc(0.707106781f));
    return vf_fma(c * bc(0.398942280f), m_exp(c * c * bc(-.5f)), phi);
}
#else
/* the sign of x on a value without one */
VINL vf vm_signed(vf mag, vf x) { return (vf)((vi)mag | ((vi)x & (int32_t)0x80000000)); }
VINL vf m_tanh(vf x) {
    vf a = vf_abs(x), s = x * x;
    vf p = bc(-5.70498872745e-3f);
    p = vf_fma(p, s, bc(2.06390887954e-2f));
    p = vf_fma(p, s, bc(-5.37397155531e-2f));
    p = vf_fma(p, s, bc(1.33314422036e-1f));
    p = vf_fma(p, s, bc(-3.33332819422e-1f));
    vf near = vf_fma(p * s, a, a);
    vf c = vf_min(bc(9.1f), a);
    vf far = bc(1.f) - bc(2.f) / (vm_exp_near(c + c) + bc(1.f));
    return vm_signed(vf_sel(vf_ge(a, bc(0.625f)), far, near), x); /* NaN takes the near form and stays NaN */
}
/* erf of n vectors in place, n a constant: their chains of multiply-adds are interleaved to hide the latency. Near zero
   an odd polynomial; far from it 1 - P(|x|)^4, P near the fourth root of 1 - erf, a tame function; the powers cost less
   than an exp. Each form is below erf where it is not meant, so the larger one is right. */
VINL void m_erf_many(vf *x, int n) {
    static const float NEAR[6] = {0x1.06eba4p-3f,  -0x1.8126ap-2f, 0x1.ce0f24p-4f,
                                  -0x1.b5ec76p-6f, 0x1.43ba2ap-8f, -0x1.2c63bap-11f};
    static const float FAR[9] = {0x1.00767ap+0f,  -0x1.2ad44p-2f,  -0x1.8ce6c6p-4f, -0x1.b8917ep-7f, 0x1.4ffebcp-5f,
                                 -0x1.7a1ba2p-7f, 0x1.de0586p-12f, 0x1.d81b1p-13f,  -0x1.a768p-16f};
    vf t[4], s[4], p[4], q[4];
    VM_EACH(j, n) {
        t[j] = vf_min(bc(3.92f), vf_abs(x[j]));
        s[j] = t[j] * t[j];
        p[j] = bc(NEAR[5]);
        q[j] = bc(FAR[8]);
    }
    VM_EACH(k, 8) {
        VM_EACH(j, n) q[j] = vf_fma(q[j], t[j], bc(FAR[7 - k]));
        if (k < 5) VM_EACH(j, n) p[j] = vf_fma(p[j], s[j], bc(NEAR[4 - k]));
    }
    VM_EACH(j, n) p[j] = vf_fma(p[j], t[j], t[j]);
    VM_EACH(j, n) q[j] = q[j] * q[j];
    VM_EACH(j, n) q[j] = vf_fnma(q[j], q[j], bc(1.f));
    VM_EACH(j, n) x[j] = vm_signed(vf_max(p[j], q[j]), x[j]);
}
/* (1 + q)^8 of n vectors, n a constant, where q = a (c[0] + c[1] a + ... + c[d - 1] a^(d - 1)). (1 + q)^2 - 1 = q (q + 2)
   keeps the digits that 1 + q would lose twice as often each time it is squared. */
VINL void vm_eighth(const vf *a, const float *c, int d, vf *p, int n) {
    VM_EACH(j, n) p[j] = bc(c[d - 1]);
    VM_EACH(k, d - 1) VM_EACH(j, n) p[j] = vf_fma(p[j], a[j], bc(c[d - 2 - k]));
    VM_EACH(j, n) p[j] = p[j] * a[j];
    VM_EACH(j, n) p[j] = p[j] * (p[j] + bc(2.f));
    VM_EACH(j, n) p[j] = vf_fma(p[j], p[j] + bc(2.f), bc(1.f));
    VM_EACH(j, n) p[j] = p[j] * p[j];
}
/* gelu and its derivative, of n vectors in place. With a = |x| and H(a) the upper tail of the normal distribution, gelu
   is max(x, 0) - a H(a); the derivative at -a is H(a) + a H'(a), and at a it is 1 less that. The eighth roots of 2 H(a)
   and of (H(a) + a H'(a)) / (1/2 - 0.665 a), from which its zero is taken out, are tame: a polynomial each, 0 at a = 8,
   and neither exp nor division. */
VINL void m_gelu_many(vf *x, int n) {
    static const float ROOT[8] = {-0x1.98843cp-4f, -0x1.1d369p-5f,   -0x1.81b306p-11f, 0x1.aeac94p-10f,
                                  0x1.3158c6p-15f, -0x1.12c9a8p-14f, 0x1.11526p-17f,   -0x1.5b5ea4p-22f};
    vf a[4], p[4];
    VM_EACH(j, n) a[j] = vf_min(bc(8.f), vf_abs(x[j]));
    vm_eighth(a, ROOT, 8, p, n);
    VM_EACH(j, n) x[j] = vf_fnma(a[j] * bc(.5f), p[j], vf_max(bc(0.f), x[j]));
}
VINL void m_gelu_slope_many(vf *x, int n) {
    static const float ROOT[9] = {-0x1.0ffcd2p-5f,  -0x1.89639ep-5f, -0x1.9eaac6p-9f, 0x1.5706d4p-9f,  -0x1.fc7d32p-14f,
                                  -0x1.1d1110p-15f, 0x1.2f20aep-19f, 0x1.2030bep-22f, -0x1.8f441ep-26f};
    vf a[4], p[4];
    VM_EACH(j, n) a[j] = vf_min(bc(8.f), vf_abs(x[j]));
    vm_eighth(a, ROOT, 9, p, n);
    VM_EACH(j, n) {
        vf below = vf_fnma(a[j], bc(0x1.54851ap-1f), bc(.5f)) * p[j];
        x[j] = vf_sel(vf_lt(x[j], bc(0.f)), below, bc(1.f) - below);
    }
}
VINL vf m_gelu_approximate(vf x) { return m_gelu_approximate_logistic(x); }
#endif
