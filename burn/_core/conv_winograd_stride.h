/* WINOGRAD for stride 2, included by conv_winograd.h. Even elements of a row meet the outer two taps and odd ones the middle tap,
   so four outputs are a sum of two convolutions of stride 1. The outer one is F(4, 2) at +-1/2, +-5/4 (of the small fractions
   those that round least) and infinity. At the four finite points the middle one is known as well, and at infinity it is
   nothing, so both are summed before they are transformed back. In two dimensions a spot sums up to four copies of each channel:
   81 multiplications for 16 outputs instead of 144. */

/* A side is the nine numbers of a row or column of a patch: five of even elements, then four of odd ones. */
enum { WINO_IN_STRIDED = 9, WINO_POINTS = 5, WINO_SPOTS_STRIDED = 25, WINO_COPIES_STRIDED = 81 };

/* Point squared: of the near two and of the far two. */
#define WINO_A 0.25f
#define WINO_B 1.5625f

GEMM_INLINE void wino_in_strided(const VEC *d, int step, VEC *o)
{
    GEMM_PRAGMA(GCC unroll 2)
    for (int odd = 0; odd < 2; odd++) {
        const VEC d0 = d[odd * step], d1 = d[(2 + odd) * step], d2 = d[(4 + odd) * step], d3 = d[(6 + odd) * step];
        const VEC a = d3 - WINO_B * d1, b = d2 - WINO_B * d0, c = d3 - WINO_A * d1, e = d2 - WINO_A * d0;
        o[0] = a + .5f * b;
        o[1] = a - .5f * b;
        o[2] = c + 1.25f * e;
        o[3] = c - 1.25f * e;
        if (!odd) o[4] = d[8 * step] - (WINO_A + WINO_B) * d2 + WINO_A * WINO_B * d0;
        o += WINO_POINTS;
    }
}

GEMM_INLINE void wino_out_strided(const VEC *m, int step, VEC *o)
{
    const VEC m0 = m[0], m1 = m[step], m2 = m[2 * step], m3 = m[3 * step], m4 = m[4 * step];
    const VEC s1 = m0 + m1, d1 = m0 - m1, s2 = m2 + m3, d2 = m2 - m3;
    o[0] = s1 + s2;
    o[1] = .5f * d1 + 1.25f * d2;
    o[2] = WINO_A * s1 + WINO_B * s2;
    o[3] = .5f * WINO_A * d1 + 1.25f * WINO_B * d2 + m4;
}

GEMM_INLINE void wino_kernel_strided(VEC g0, VEC g1, VEC g2, VEC *o)
{
    const VEC near = (16.f / 21) * g0, far = (32.f / 105) * g0;
    o[0] = -near - (8.f / 21) * g2;
    o[1] = near - (8.f / 21) * g2;
    o[2] = far + (8.f / 21) * g2;
    o[3] = (8.f / 21) * g2 - far;
    o[4] = g2;
    o[5] = (-16.f / 21) * g1;
    o[6] = (16.f / 21) * g1;
    o[7] = (32.f / 105) * g1;
    o[8] = (-32.f / 105) * g1;
}
#undef WINO_A
#undef WINO_B
