/* One small vocabulary for vector code, written once and compiled for every level:

     BURN_LEVEL 4   VW 16   AVX-512 F/BW/DQ/VL: mask registers, masked tails, scalef, fused multiply-add
     BURN_LEVEL 3   VW 8    AVX2 + FMA + F16C: masks are integer vectors, tails by maskload/maskstore
     BURN_LEVEL 2   VW 4    SSE4.2: no fused multiply-add (vf_fma is a product and a sum), tails through a small buffer
     BURN_LEVEL 0   VW 4    any processor: GCC vector types only, lane loops where an instruction would be needed

   vf, vi, vu are VW lanes of float, int32, uint32; vd is VD = VW/2 lanes of double. Arithmetic, shifts and bit
   operations are plain C operators on these types (`>>` is arithmetic on vi, logical on vu; a cast between them keeps
   the bits); functions exist only for what C has no operator for. vm is a lane mask: make it with the comparisons,
   use it with the selects. Nothing here changes rounding modes or flushes denormals. */
#pragma once
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef BURN_LEVEL
#define BURN_LEVEL 0
#endif
#if BURN_LEVEL >= 2
#include <immintrin.h>
#endif

#if BURN_LEVEL == 4
#define VW 16
#elif BURN_LEVEL == 3
#define VW 8
#else
#define VW 4
#endif
#define VD (VW / 2)
#define VINL static inline __attribute__((always_inline, unused))

typedef float vf __attribute__((vector_size(4 * VW), may_alias));
typedef int32_t vi __attribute__((vector_size(4 * VW), may_alias));
typedef uint32_t vu __attribute__((vector_size(4 * VW), may_alias));
typedef double vd __attribute__((vector_size(8 * VD), may_alias));
typedef int64_t vl __attribute__((vector_size(8 * VD), may_alias));
typedef float vf_un __attribute__((vector_size(4 * VW), aligned(4), may_alias));
typedef int32_t vi_un __attribute__((vector_size(4 * VW), aligned(4), may_alias));
typedef double vd_un __attribute__((vector_size(8 * VD), aligned(8), may_alias));

/* ---- constants, loads, stores. bc broadcasts; _n forms touch only the first n lanes (0 < n < VW), others read as 0
   */
VINL vf bc(float x) { return x - (vf){0}; }
VINL vi bci(int32_t x) { return x - (vi){0}; }
VINL vd bcd(double x) { return x - (vd){0}; }
VINL vf vf_load(const float *p) { return *(const vf_un *)p; }
VINL void vf_store(float *p, vf v) { *(vf_un *)p = v; }
VINL vf vf_loada(const float *p) { return *(const vf *)p; }
VINL void vf_storea(float *p, vf v) { *(vf *)p = v; }
VINL vi vi_load(const int32_t *p) { return *(const vi_un *)p; }
VINL void vi_store(int32_t *p, vi v) { *(vi_un *)p = v; }
VINL vd vd_load(const double *p) { return *(const vd_un *)p; }
VINL void vd_store(double *p, vd v) { *(vd_un *)p = v; }
VINL void v_prefetch(const void *p) { __builtin_prefetch(p, 0, 3); }

/* Streaming stores need p aligned to 4 * VW bytes; close a streamed piece with v_fence. */
#if BURN_LEVEL == 4
VINL void vf_stream(float *p, vf v) { _mm512_stream_ps(p, (__m512)v); }
#elif BURN_LEVEL == 3
VINL void vf_stream(float *p, vf v) { _mm256_stream_ps(p, (__m256)v); }
#elif BURN_LEVEL == 2
VINL void vf_stream(float *p, vf v) { _mm_stream_ps(p, (__m128)v); }
#else
VINL void vf_stream(float *p, vf v) { vf_storea(p, v); }
#endif
#if BURN_LEVEL >= 2
VINL void v_fence(void) { _mm_sfence(); }
#else
VINL void v_fence(void) {}
#endif

#if BURN_LEVEL == 4
VINL __mmask16 v_lanes(int64_t n) { return (__mmask16)((1u << n) - 1); }
VINL vf vf_load_n(const float *p, int64_t n) { return (vf)_mm512_maskz_loadu_ps(v_lanes(n), p); }
VINL void vf_store_n(float *p, vf v, int64_t n) { _mm512_mask_storeu_ps(p, v_lanes(n), (__m512)v); }
VINL vi vi_load_n(const int32_t *p, int64_t n) { return (vi)_mm512_maskz_loadu_epi32(v_lanes(n), p); }
VINL void vi_store_n(int32_t *p, vi v, int64_t n) { _mm512_mask_storeu_epi32(p, v_lanes(n), (__m512i)v); }
#elif BURN_LEVEL == 3
VINL __m256i v_lanes(int64_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
VINL vf vf_load_n(const float *p, int64_t n) { return (vf)_mm256_maskload_ps(p, v_lanes(n)); }
VINL void vf_store_n(float *p, vf v, int64_t n) { _mm256_maskstore_ps(p, v_lanes(n), (__m256)v); }
VINL vi vi_load_n(const int32_t *p, int64_t n) { return (vi)_mm256_maskload_epi32(p, v_lanes(n)); }
VINL void vi_store_n(int32_t *p, vi v, int64_t n) { _mm256_maskstore_epi32(p, v_lanes(n), (__m256i)v); }
#else
VINL vf vf_load_n(const float *p, int64_t n) { vf v = {0}; memcpy(&v, p, (size_t)n * 4); return v; }
VINL void vf_store_n(float *p, vf v, int64_t n) { memcpy(p, &v, (size_t)n * 4); }
VINL vi vi_load_n(const int32_t *p, int64_t n) { vi v = {0}; memcpy(&v, p, (size_t)n * 4); return v; }
VINL void vi_store_n(int32_t *p, vi v, int64_t n) { memcpy(p, &v, (size_t)n * 4); }
#endif

/* ---- fused (or plain) multiply-add: vf_fma = a*b + c, vf_fnma = c - a*b */
#if BURN_LEVEL == 4
VINL vf vf_fma(vf a, vf b, vf c) { return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
VINL vf vf_fnma(vf a, vf b, vf c) { return (vf)_mm512_fnmadd_ps((__m512)a, (__m512)b, (__m512)c); }
VINL vd vd_fma(vd a, vd b, vd c) { return (vd)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c); }
#elif BURN_LEVEL == 3
VINL vf vf_fma(vf a, vf b, vf c) { return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
VINL vf vf_fnma(vf a, vf b, vf c) { return (vf)_mm256_fnmadd_ps((__m256)a, (__m256)b, (__m256)c); }
VINL vd vd_fma(vd a, vd b, vd c) { return (vd)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c); }
#else
VINL vf vf_fma(vf a, vf b, vf c) { return a * b + c; }
VINL vf vf_fnma(vf a, vf b, vf c) { return c - a * b; }
VINL vd vd_fma(vd a, vd b, vd c) { return a * b + c; }
#endif

/* ---- masks, comparisons (ordered: false with NaN, except ne), selects. vf_sel(m, a, b) is m ? a : b lane by lane */
#if BURN_LEVEL == 4
typedef __mmask16 vm;
#define V_CMP(a, b, p) _mm512_cmp_ps_mask((__m512)(a), (__m512)(b), p)
VINL vm vf_lt(vf a, vf b) { return V_CMP(a, b, _CMP_LT_OQ); }
VINL vm vf_le(vf a, vf b) { return V_CMP(a, b, _CMP_LE_OQ); }
VINL vm vf_gt(vf a, vf b) { return V_CMP(a, b, _CMP_GT_OQ); }
VINL vm vf_ge(vf a, vf b) { return V_CMP(a, b, _CMP_GE_OQ); }
VINL vm vf_eq(vf a, vf b) { return V_CMP(a, b, _CMP_EQ_OQ); }
VINL vm vf_ne(vf a, vf b) { return V_CMP(a, b, _CMP_NEQ_UQ); }
VINL vm vf_unord(vf a, vf b) { return V_CMP(a, b, _CMP_UNORD_Q); } /* either is NaN */
VINL vm vi_lt(vi a, vi b) { return _mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b); }
VINL vm vi_gt(vi a, vi b) { return _mm512_cmpgt_epi32_mask((__m512i)a, (__m512i)b); }
VINL vm vi_eq(vi a, vi b) { return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b); }
VINL vf vf_sel(vm m, vf a, vf b) { return (vf)_mm512_mask_blend_ps(m, (__m512)b, (__m512)a); }
VINL vi vi_sel(vm m, vi a, vi b) { return (vi)_mm512_mask_blend_epi32(m, (__m512i)b, (__m512i)a); }
VINL vm vm_not(vm m) { return (vm)~m; }
VINL uint32_t vm_bits(vm m) { return m; }  /* bit j is lane j */
#else
typedef vi vm;
VINL vm vf_lt(vf a, vf b) { return a < b; }
VINL vm vf_le(vf a, vf b) { return a <= b; }
VINL vm vf_gt(vf a, vf b) { return a > b; }
VINL vm vf_ge(vf a, vf b) { return a >= b; }
VINL vm vf_eq(vf a, vf b) { return a == b; }
VINL vm vf_ne(vf a, vf b) { return a != b; }
VINL vm vf_unord(vf a, vf b) { return (a != a) | (b != b); }
VINL vm vi_lt(vi a, vi b) { return a < b; }
VINL vm vi_gt(vi a, vi b) { return a > b; }
VINL vm vi_eq(vi a, vi b) { return a == b; }
VINL vm vm_not(vm m) { return ~m; }
#if BURN_LEVEL == 3
VINL vf vf_sel(vm m, vf a, vf b) { return (vf)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m); }
VINL uint32_t vm_bits(vm m) { return (uint32_t)_mm256_movemask_ps((__m256)m); }
#elif BURN_LEVEL == 2
VINL vf vf_sel(vm m, vf a, vf b) { return (vf)_mm_blendv_ps((__m128)b, (__m128)a, (__m128)m); }
VINL uint32_t vm_bits(vm m) { return (uint32_t)_mm_movemask_ps((__m128)m); }
#else
VINL vf vf_sel(vm m, vf a, vf b) { return (vf)((m & (vi)a) | (~m & (vi)b)); }
VINL uint32_t vm_bits(vm m) {
    uint32_t r = 0;
    for (int j = 0; j < VW; j++) r |= (uint32_t)(m[j] & 1) << j;
    return r;
}
#endif
VINL vi vi_sel(vm m, vi a, vi b) { return (vi)vf_sel(m, (vf)a, (vf)b); }
#endif
VINL vm vm_and(vm a, vm b) { return a & b; }
VINL vm vm_or(vm a, vm b) { return a | b; }
VINL int vm_any(vm m) { return vm_bits(m) != 0; }
VINL int vm_all(vm m) { return vm_bits(m) == (1u << VW) - 1; }
/* a gradient r made from the incoming one, g: 0 where g is, though r may be 0 * inf there */
#if BURN_LEVEL == 4
VINL vf vf_gate(vf g, vf r) { return (vf)_mm512_maskz_mov_ps(vf_ne(g, (vf){0}), (__m512)r); }
#else
VINL vf vf_gate(vf g, vf r) { return (vf)((vi)r & vf_ne(g, (vf){0})); }
#endif

/* ---- float pieces. vf_min(a, b) = a < b ? a : b and vf_max(a, b) = a > b ? a : b: where either is NaN, or both are
   zeros, the result is b. So vf_min(limit, x) keeps a NaN in x, vf_min(x, limit) drops it. */
VINL vf vf_abs(vf x) { return (vf)((vi)x & 0x7fffffff); }
#if BURN_LEVEL == 4
VINL vf vf_min(vf a, vf b) { return (vf)_mm512_min_ps((__m512)a, (__m512)b); }
VINL vf vf_max(vf a, vf b) { return (vf)_mm512_max_ps((__m512)a, (__m512)b); }
VINL vf vf_sqrt(vf a) { return (vf)_mm512_sqrt_ps((__m512)a); }
VINL vf vf_copysign(vf mag, vf sign) { /* one bit select instead of two ands and an or */
    return (vf)_mm512_ternarylogic_epi32((__m512i)mag, (__m512i)sign, _mm512_set1_epi32((int)0x80000000), 0xd8);
}
#define V_ROUND(a, mode) ((vf)_mm512_roundscale_ps((__m512)(a), mode))
VINL vi vf_to_vi(vf a) { return (vi)_mm512_cvtps_epi32((__m512)a); }
VINL vf vi_to_vf(vi a) { return (vf)_mm512_cvtepi32_ps((__m512i)a); }
#elif BURN_LEVEL == 3
VINL vf vf_min(vf a, vf b) { return (vf)_mm256_min_ps((__m256)a, (__m256)b); }
VINL vf vf_max(vf a, vf b) { return (vf)_mm256_max_ps((__m256)a, (__m256)b); }
VINL vf vf_sqrt(vf a) { return (vf)_mm256_sqrt_ps((__m256)a); }
#define V_ROUND(a, mode) ((vf)_mm256_round_ps((__m256)(a), mode))
VINL vi vf_to_vi(vf a) { return (vi)_mm256_cvtps_epi32((__m256)a); }
VINL vf vi_to_vf(vi a) { return (vf)_mm256_cvtepi32_ps((__m256i)a); }
#elif BURN_LEVEL == 2
VINL vf vf_min(vf a, vf b) { return (vf)_mm_min_ps((__m128)a, (__m128)b); }
VINL vf vf_max(vf a, vf b) { return (vf)_mm_max_ps((__m128)a, (__m128)b); }
VINL vf vf_sqrt(vf a) { return (vf)_mm_sqrt_ps((__m128)a); }
#define V_ROUND(a, mode) ((vf)_mm_round_ps((__m128)(a), mode))
VINL vi vf_to_vi(vf a) { return (vi)_mm_cvtps_epi32((__m128)a); }
VINL vf vi_to_vf(vi a) { return (vf)_mm_cvtepi32_ps((__m128i)a); }
#else
VINL vf vf_min(vf a, vf b) { return vf_sel(a < b, a, b); }
VINL vf vf_max(vf a, vf b) { return vf_sel(a > b, a, b); }
#define V_LANES(name, fn) VINL vf name(vf a) { vf r; for (int j = 0; j < VW; j++) r[j] = fn(a[j]); return r; }
V_LANES(vf_sqrt, sqrtf)
V_LANES(vf_round, rintf)
V_LANES(vf_floor, floorf)
V_LANES(vf_ceil, ceilf)
V_LANES(vf_trunc, truncf)
VINL vi vf_to_vi(vf a) { vi r; for (int j = 0; j < VW; j++) r[j] = (int32_t)rintf(a[j]); return r; }
VINL vf vi_to_vf(vi a) { vf r; for (int j = 0; j < VW; j++) r[j] = (float)a[j]; return r; }
#endif
#if BURN_LEVEL >= 2
VINL vf vf_round(vf a) { return V_ROUND(a, 8); }  /* to nearest, ties to even */
VINL vf vf_floor(vf a) { return V_ROUND(a, 9); }
VINL vf vf_ceil(vf a) { return V_ROUND(a, 10); }
VINL vf vf_trunc(vf a) { return V_ROUND(a, 11); }
#endif
#if BURN_LEVEL != 4
VINL vf vf_copysign(vf mag, vf sign) { return (vf)(((vi)mag & 0x7fffffff) | ((vi)sign & (int32_t)0x80000000)); }
#endif

/* x * 2^n for an integral n in [-252, 254]: right through overflow, underflow and denormals (double rounding aside)
   */
#if BURN_LEVEL == 4
VINL vf vf_scale(vf x, vf n) { return (vf)_mm512_scalef_ps((__m512)x, (__m512)n); }
#else
VINL vf vf_scale(vf x, vf n) {
    vi k = vf_to_vi(n), h = k >> 1;
    return x * (vf)((h + 127) << 23) * (vf)((k - h + 127) << 23);
}
#endif

/* ---- across lanes: halves are folded onto each other, so sums add as a tree. hmax and hmin of a vector with NaN are
   unspecified, check before. */
#if BURN_LEVEL >= 2
VINL __m128 v_hi4(__m128 v) { return _mm_movehl_ps(v, v); }
VINL __m128 v_lane1(__m128 v) { return _mm_movehdup_ps(v); }
#if BURN_LEVEL == 4
#define V_FOLD(v, op) \
    __m256 y = _mm256_##op##_ps(_mm512_castps512_ps256((__m512)v), _mm512_extractf32x8_ps((__m512)v, 1)); \
    __m128 x = _mm_##op##_ps(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1));
#elif BURN_LEVEL == 3
#define V_FOLD(v, op) \
    __m128 x = _mm_##op##_ps(_mm256_castps256_ps128((__m256)v), _mm256_extractf128_ps((__m256)v, 1));
#else
#define V_FOLD(v, op) __m128 x = (__m128)v;
#endif
#define V_ACROSS(name, op) VINL float name(vf v) { V_FOLD(v, op) \
    x = _mm_##op##_ps(x, v_hi4(x)); return _mm_cvtss_f32(_mm_##op##_ps(x, v_lane1(x))); }
V_ACROSS(vf_sum, add)
V_ACROSS(vf_hmax, max)
V_ACROSS(vf_hmin, min)
#else
VINL float vf_sum(vf v) { return (v[0] + v[2]) + (v[1] + v[3]); }
VINL float vf_hmax(vf v) { vf w = vf_max(v, (vf){v[2], v[3], v[0], v[1]}); return w[0] > w[1] ? w[0] : w[1]; }
VINL float vf_hmin(vf v) { vf w = vf_min(v, (vf){v[2], v[3], v[0], v[1]}); return w[0] < w[1] ? w[0] : w[1]; }
#endif
#if BURN_LEVEL == 4
VINL double vd_sum(vd v) { return _mm512_reduce_add_pd((__m512d)v); }
#elif BURN_LEVEL == 3
VINL double vd_sum(vd v) { return (v[0] + v[2]) + (v[1] + v[3]); }
#else
VINL double vd_sum(vd v) { return v[0] + v[1]; }
#endif

/* ---- float <-> double: the lower and the upper half of the lanes */
#if BURN_LEVEL == 4
VINL vd vf_dlo(vf v) { return (vd)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)v)); }
VINL vd vf_dhi(vf v) { return (vd)_mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)v, 1)); }
VINL vf vf_from_d(vd lo, vd hi) {
    __m512 low = _mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)lo));
    return (vf)_mm512_insertf32x8(low, _mm512_cvtpd_ps((__m512d)hi), 1);
}
#elif BURN_LEVEL == 3
VINL vd vf_dlo(vf v) { return (vd)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)v)); }
VINL vd vf_dhi(vf v) { return (vd)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)v, 1)); }
VINL vf vf_from_d(vd lo, vd hi) {
    return (vf)_mm256_set_m128(_mm256_cvtpd_ps((__m256d)hi), _mm256_cvtpd_ps((__m256d)lo));
}
#else
VINL vd vf_dlo(vf v) { return (vd){v[0], v[1]}; }
VINL vd vf_dhi(vf v) { return (vd){v[2], v[3]}; }
VINL vf vf_from_d(vd lo, vd hi) { return (vf){(float)lo[0], (float)lo[1], (float)hi[0], (float)hi[1]}; }
#endif

/* ---- half precision: stored as uint16_t, computed as float, rounded once to nearest even */
#if BURN_LEVEL == 4
VINL vi v_widen16(const uint16_t *p) { return (vi)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p)); }
VINL void v_narrow16(uint16_t *p, vi v) { _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16((__m512i)v)); }
#elif BURN_LEVEL == 3
VINL vi v_widen16(const uint16_t *p) { return (vi)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)); }
VINL void v_narrow16(uint16_t *p, vi v) {
    _mm_storeu_si128((__m128i *)p, _mm_packus_epi32(_mm256_castsi256_si128((__m256i)v),
                                                    _mm256_extracti128_si256((__m256i)v, 1)));
}
#elif BURN_LEVEL == 2
VINL vi v_widen16(const uint16_t *p) { return (vi)_mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i *)p)); }
VINL void v_narrow16(uint16_t *p, vi v) {
    _mm_storel_epi64((__m128i *)p, _mm_packus_epi32((__m128i)v, (__m128i)v));
}
#else
VINL vi v_widen16(const uint16_t *p) { return (vi){p[0], p[1], p[2], p[3]}; }
VINL void v_narrow16(uint16_t *p, vi v) { for (int j = 0; j < VW; j++) p[j] = (uint16_t)v[j]; }
#endif

VINL vf vf_load_bf16(const uint16_t *p) { return (vf)(v_widen16(p) << 16); }
VINL vi vf_to_bf16(vf x) { /* NaN stays NaN, quiet */
    vu u = (vu)x, r = u + 0x7fff + ((u >> 16) & 1);
    return (vi)((vu)vi_sel(vf_unord(x, x), (vi)(u | 0x400000), (vi)r) >> 16);
}
/* for numbers made from half floats or computed: the lower half of their NaN is 0, which rounding leaves alone */
VINL vi vf_to_bf16_fast(vf x) {
    vi u = (vi)x;
    return (vi)((vu)(u + (0x7fff - ((u << 15) >> 31))) >> 16);
}
VINL void vf_store_bf16(uint16_t *p, vf x) { v_narrow16(p, vf_to_bf16(x)); }
#if BURN_LEVEL == 4
VINL vf vf_load_f16(const uint16_t *p) { return (vf)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p)); }
VINL void vf_store_f16(uint16_t *p, vf x) { _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph((__m512)x, 8)); }
#elif BURN_LEVEL == 3
VINL vf vf_load_f16(const uint16_t *p) { return (vf)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)); }
VINL void vf_store_f16(uint16_t *p, vf x) { _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph((__m256)x, 8)); }
#else
VINL vf vf_load_f16(const uint16_t *p) {
    vi h = v_widen16(p), e = (h & 0x7fff) << 13;
    vi r = (vi)((vf)e * 0x1p112f);                                   /* rebias; exact for denormals too */
    r |= (e >= 0x0f800000) & 0x7f800000;                             /* inf and NaN */
    return (vf)(r | (h & 0x8000) << 16);
}
VINL vi vf_to_f16(vf x) {
    vu u = (vu)x, a = u & 0x7fffffffu;
    vi normal = (vi)((a + 0xfff + ((a >> 13) & 1) - (112u << 23)) >> 13);
    vi small = (vi)((vf)a + 0.5f) - 0x3f000000;       /* the sum rounds at 2^-24, the denormal unit */
    vi large = vi_sel((vi)a > 0x7f800000, (vi)(0x7e00 | ((a >> 13) & 0x3ff)), (vi)(a & 0) + 0x7c00);
    vi r = vi_sel((vi)a < 0x38800000, small, normal);
    r = vi_sel((vi)a >= 0x47800000, large, r);
    return r | (vi)((u >> 16) & 0x8000);
}
VINL void vf_store_f16(uint16_t *p, vf x) { v_narrow16(p, vf_to_f16(x)); }
#endif

/* where stream, around the caches (p aligned to 2 * VW bytes) */
#if BURN_LEVEL == 4
#define V_PUT(name, v) VINL void name(uint16_t *p, vf x, int stream) { \
    if (stream) _mm256_stream_si256((__m256i *)p, v); \
    else _mm256_storeu_si256((__m256i *)p, v); }
V_PUT(vf_put_f16, _mm512_cvtps_ph((__m512)x, 8))
V_PUT(vf_put_bf16, _mm512_cvtepi32_epi16((__m512i)vf_to_bf16_fast(x)))
#elif BURN_LEVEL == 3
#define V_PUT(name, v) VINL void name(uint16_t *p, vf x, int stream) { \
    if (stream) _mm_stream_si128((__m128i *)p, v); \
    else _mm_storeu_si128((__m128i *)p, v); }
VINL __m128i v_narrow(vi v) {
    return _mm_packus_epi32(_mm256_castsi256_si128((__m256i)v), _mm256_extracti128_si256((__m256i)v, 1));
}
V_PUT(vf_put_f16, _mm256_cvtps_ph((__m256)x, 8))
V_PUT(vf_put_bf16, v_narrow(vf_to_bf16_fast(x)))
#else
VINL void vf_put_f16(uint16_t *p, vf x, int stream) { (void)stream; vf_store_f16(p, x); }
VINL void vf_put_bf16(uint16_t *p, vf x, int stream) { (void)stream; v_narrow16(p, vf_to_bf16_fast(x)); }
#endif

/* ---- two vectors of halves at once. bf16 come in an order of their own, the even ones in v[0] and the odd ones in v[1]:
   that takes no shuffle, and rounding works on 16 bits. NaN as for vf_to_bf16_fast */
typedef uint16_t vh __attribute__((vector_size(4 * VW), may_alias));
typedef int16_t vhi __attribute__((vector_size(4 * VW), may_alias));
typedef uint32_t vu_half __attribute__((vector_size(4 * VW), aligned(2), may_alias));
typedef int16_t vhi_half __attribute__((vector_size(4 * VW), aligned(2), may_alias));
/* vh_swap changes the halves of each lane: not a shift, since the ports for those are busy with loads */
#if BURN_LEVEL == 4
VINL vu vh_swap(vu x) { return (x << 16) | (x >> 16); }
VINL vh vh_zip(vu lo, vu hi) { return (vh)_mm512_mask_blend_epi16(0xaaaaaaaau, (__m512i)lo, (__m512i)hi); }
VINL vh vh_subs(vh a, vh b) { return (vh)_mm512_subs_epu16((__m512i)a, (__m512i)b); } /* no less than 0 */
#elif BURN_LEVEL == 3
VINL vu vh_swap(vu x) {
    const __m128i s = _mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    return (vu)_mm256_shuffle_epi8((__m256i)x, _mm256_broadcastsi128_si256(s));
}
VINL vh vh_zip(vu lo, vu hi) { return (vh)_mm256_blend_epi16((__m256i)lo, (__m256i)hi, 0xaa); }
VINL vh vh_subs(vh a, vh b) { return (vh)_mm256_subs_epu16((__m256i)a, (__m256i)b); }
#elif BURN_LEVEL == 2
VINL vu vh_swap(vu x) {
    return (vu)_mm_shuffle_epi8((__m128i)x, _mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
}
VINL vh vh_zip(vu lo, vu hi) { return (vh)_mm_blend_epi16((__m128i)lo, (__m128i)hi, 0xaa); }
VINL vh vh_subs(vh a, vh b) { return (vh)_mm_subs_epu16((__m128i)a, (__m128i)b); }
#else
VINL vu vh_swap(vu x) { return (x << 16) | (x >> 16); }
VINL vh vh_zip(vu lo, vu hi) { return (vh)((lo & 0xffffu) | (hi & 0xffff0000u)); } /* lanes of 16 bits from the low end */
VINL vh vh_subs(vh a, vh b) { return (a - b) & (vh)(a > b); }
#endif
VINL void vf_load2_bf16(const uint16_t *p, vf *v) {
    vu w = *(const vu_half *)p;
    v[0] = (vf)(w << 16);
    v[1] = (vf)(w & 0xffff0000u);
}
VINL void vf_put2_bf16(uint16_t *p, const vf *v, int stream) {
    vu e = (vu)v[0], o = (vu)v[1];
    vh top = vh_zip(vh_swap(e), o), low = vh_zip(e, vh_swap(o));
    vh r = top - (vh)((vhi)vh_subs(low, ~top & 1) < 0); /* up from a half on; from exactly a half only what is odd */
    if (stream && BURN_LEVEL >= 2) vf_stream((float *)p, (vf)r);
    else *(vu_half *)p = (vu)r;
}
/* 1 where a lane of the masks a and b is set, a byte a lane */
VINL void vh_put_flags(uint8_t *o, vhi a, vhi b) {
#if BURN_LEVEL == 3
    __m256i t = _mm256_permute4x64_epi64(_mm256_packs_epi16((__m256i)a, (__m256i)b), 0xd8);
    _mm256_storeu_si256((__m256i *)o, _mm256_and_si256(t, _mm256_set1_epi8(1)));
#elif BURN_LEVEL == 2
    _mm_storeu_si128((__m128i *)o, _mm_and_si128(_mm_packs_epi16((__m128i)a, (__m128i)b), _mm_set1_epi8(1)));
#else
    typedef uint8_t bytes __attribute__((vector_size(2 * VW), aligned(1), may_alias));
    ((bytes *)o)[0] = __builtin_convertvector(a & 1, bytes);
    ((bytes *)o)[1] = __builtin_convertvector(b & 1, bytes);
#endif
}
#if BURN_LEVEL == 3
/* 1 where a lane of the masks of 16 elements of 8 bytes is set, a byte a lane; a compiler takes a shuffle for each halving */
VINL void v8_put_flags(uint8_t *o, __m256i a, __m256i b, __m256i c, __m256i d) {
    __m256i ab = (__m256i)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x88);
    __m256i cd = (__m256i)_mm256_shuffle_ps((__m256)c, (__m256)d, 0x88);
    __m256i t = _mm256_packs_epi32(ab, cd); /* the first two lanes of each, then the last two */
    __m128i u = _mm_packs_epi16(_mm256_castsi256_si128(t), _mm256_extracti128_si256(t, 1));
    u = _mm_unpacklo_epi16(u, _mm_srli_si128(u, 8));
    _mm_storeu_si128((__m128i *)o, _mm_and_si128(u, _mm_set1_epi8(1)));
}
#endif
/* the lanes of x, all but its sign in mag, in the order of the numbers: -0 is 0 */
VINL vhi vh_order(vhi x, vhi mag) {
#if BURN_LEVEL == 3
    return (vhi)_mm256_sign_epi16((__m256i)mag, (__m256i)x);
#else
    return (mag ^ (x >> 15)) - (x >> 15);
#endif
}
VINL vhi vh_sel(vhi mask, vhi a, vhi b) {
#if BURN_LEVEL == 3
    return (vhi)_mm256_blendv_epi8((__m256i)b, (__m256i)a, (__m256i)mask);
#else
    return (mask & a) | (~mask & b);
#endif
}
VINL void vf_load2_f16(const uint16_t *p, vf *v) {
    v[0] = vf_load_f16(p);
    v[1] = vf_load_f16(p + VW);
}
VINL void vf_put2_f16(uint16_t *p, const vf *v, int stream) {
    vf_put_f16(p, v[0], stream);
    vf_put_f16(p + VW, v[1], stream);
}
VINL vf vf_load_bf16_n(const uint16_t *p, int64_t n) {
    uint16_t t[VW] = {0};
    memcpy(t, p, (size_t)n * 2);
    return vf_load_bf16(t);
}
VINL void vf_store_bf16_n(uint16_t *p, vf x, int64_t n) {
    uint16_t t[VW];
    vf_store_bf16(t, x);
    memcpy(p, t, (size_t)n * 2);
}
VINL vf vf_load_f16_n(const uint16_t *p, int64_t n) {
    uint16_t t[VW] = {0};
    memcpy(t, p, (size_t)n * 2);
    return vf_load_f16(t);
}
VINL void vf_store_f16_n(uint16_t *p, vf x, int64_t n) {
    uint16_t t[VW];
    vf_store_f16(t, x);
    memcpy(p, t, (size_t)n * 2);
}
