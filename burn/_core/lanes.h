/* Lanes in other orders, and what vec.h has for floats also for doubles. */
#pragma once
#include "vec.h"

typedef int64_t vl_un __attribute__((vector_size(8 * VD), aligned(8), may_alias));
VINL vl vl_load(const int64_t *p) { return *(const vl_un *)p; }
VINL void vl_store(int64_t *p, vl v) { *(vl_un *)p = v; }

VINL vd vd_load_n(const double *p, int64_t k) {
    vd v = {0};
    memcpy(&v, p, (size_t)k * 8);
    return v;
}
VINL void vd_store_n(double *p, vd v, int64_t k) { memcpy(p, &v, (size_t)k * 8); }
VINL void vd_stream(double *p, vd v) { vf_stream((float *)p, (vf)v); }
VINL vl vd_gt(vd a, vd b) { return a > b; }
VINL vl vd_unord(vd a, vd b) { return (a != a) | (b != b); }
VINL vl vl_sel(vl m, vl a, vl b) { return (m & a) | (~m & b); }
VINL vd vd_sel(vl m, vd a, vd b) { return (vd)vl_sel(m, (vl)a, (vl)b); }
VINL vd vd_max(vd a, vd b) { return vd_sel(a > b, a, b); }

/* elements 0, 2, 4, .. and 1, 3, 5, .. of two vectors side by side; a and b in turns, low and high half of them */
#define N4(f) f(0), f(1), f(2), f(3)
#define N8(f) N4(f), f(4), f(5), f(6), f(7)
#define N16(f) N8(f), f(8), f(9), f(10), f(11), f(12), f(13), f(14), f(15)
#define N2(f) f(0), f(1)
#if VW == 16
#define NF N16
#define ND N8
#elif VW == 8
#define NF N8
#define ND N4
#else
#define NF N4
#define ND N2
#endif
#define LANE_EVEN(i) (2 * (i))
#define LANE_ODD(i) (2 * (i) + 1)
#define LANE_LOW(w, i) ((i) % 2 * (w) + (i) / 2)
#define LANE_LOW_F(i) LANE_LOW(VW, i)
#define LANE_HIGH_F(i) (LANE_LOW(VW, i) + VW / 2)
#define LANE_LOW_D(i) LANE_LOW(VD, i)
#define LANE_HIGH_D(i) (LANE_LOW(VD, i) + VD / 2)
#define LANE_OWN(i) (i)

VINL vf vf_evens(vf a, vf b) { return __builtin_shuffle(a, b, (vi){NF(LANE_EVEN)}); }
VINL vf vf_odds(vf a, vf b) { return __builtin_shuffle(a, b, (vi){NF(LANE_ODD)}); }
VINL vf vf_zip(vf a, vf b, const int high) {
    return high ? __builtin_shuffle(a, b, (vi){NF(LANE_HIGH_F)}) : __builtin_shuffle(a, b, (vi){NF(LANE_LOW_F)});
}
VINL vd vd_evens(vd a, vd b) { return __builtin_shuffle(a, b, (vl){ND(LANE_EVEN)}); }
VINL vd vd_odds(vd a, vd b) { return __builtin_shuffle(a, b, (vl){ND(LANE_ODD)}); }
VINL vd vd_zip(vd a, vd b, const int high) {
    return high ? __builtin_shuffle(a, b, (vl){ND(LANE_HIGH_D)}) : __builtin_shuffle(a, b, (vl){ND(LANE_LOW_D)});
}

/* element at[i] of a, or of a and b side by side */
VINL vf vf_shuffle(vf a, vi at) { return __builtin_shuffle(a, at); }
VINL vf vf_shuffle2(vf a, vf b, vi at) { return __builtin_shuffle(a, b, at); }
VINL vd vd_shuffle(vd a, vl at) { return __builtin_shuffle(a, at); }
VINL vd vd_shuffle2(vd a, vd b, vl at) { return __builtin_shuffle(a, b, at); }

VINL float f16_up(uint16_t h) {
    vf v = vf_load_f16_n(&h, 1);
    return v[0];
}
VINL uint16_t f16_down(float f) {
    uint16_t h;
    vf_store_f16_n(&h, bc(f), 1);
    return h;
}
VINL float bf16_up(uint16_t h) {
    uint32_t bits = (uint32_t)h << 16;
    float f;
    memcpy(&f, &bits, 4);
    return f;
}
VINL uint16_t bf16_down(float f) {
    uint16_t h;
    vf_store_bf16_n(&h, bc(f), 1);
    return h;
}
