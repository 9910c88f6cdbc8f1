/* f16 and bf16 to f32 and back, for packing and for the way out. */
#pragma once
#include "gemm_level.h"

typedef uint32_t gemm_u32 __attribute__((vector_size(GEMM_VBYTES), aligned(4), may_alias));
typedef uint32_t gemm_u32_half __attribute__((vector_size(GEMM_VBYTES), aligned(2), may_alias));
typedef float gemm_f32 __attribute__((vector_size(GEMM_VBYTES), aligned(4), may_alias));
typedef uint16_t gemm_u16 __attribute__((vector_size(GEMM_VBYTES / 2), aligned(2), may_alias));

GEMM_INLINE gemm_f32 gemm_load_bf16(const uint16_t *p)
{
    return (gemm_f32)(__builtin_convertvector(*(const gemm_u16 *)p, gemm_u32) << 16);
}

/* The even elements, then the odd ones. */
GEMM_INLINE void gemm_load2_bf16(const uint16_t *p, gemm_f32 *v)
{
    const gemm_u32_half w = *(const gemm_u32_half *)p;
    v[0] = (gemm_f32)(w << 16);
    v[1] = (gemm_f32)(w & 0xffff0000);
}

GEMM_INLINE float gemm_from_bf16(uint16_t h)
{
    const uint32_t u = (uint32_t)h << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
}

GEMM_INLINE uint16_t gemm_to_bf16(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    /* To nearest, ties to even; a NaN keeps its top bits and becomes quiet. */
    return (uint16_t)((f != f ? u | 0x400000 : u + 0x7fff + (u >> 16 & 1)) >> 16);
}

#ifdef __F16C__
GEMM_INLINE gemm_f32 gemm_load_f16(const uint16_t *p)
{
#if BURN_LEVEL >= 4
    return (gemm_f32)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
#else
    return (gemm_f32)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
#endif
}

GEMM_INLINE float gemm_from_f16(uint16_t h) { return _cvtsh_ss(h); }
GEMM_INLINE uint16_t gemm_to_f16(float f) { return _cvtss_sh(f, _MM_FROUND_TO_NEAREST_INT); }
#else
/* Exponent and mantissa shifted into place are too small by 2^112, subnormals included; inf and NaN need the full
   exponent. */
GEMM_INLINE gemm_f32 gemm_load_f16(const uint16_t *p)
{
    const gemm_u32 h = __builtin_convertvector(*(const gemm_u16 *)p, gemm_u32), e = (h & 0x7fff) << 13;
    const gemm_u32 f = (gemm_u32)((gemm_f32)e * 0x1p112f) | ((gemm_u32)(e >= 0x0f800000) & 0x7f800000);
    return (gemm_f32)(f | (h & 0x8000) << 16);
}

GEMM_INLINE float gemm_from_f16(uint16_t h)
{
    uint32_t u = (uint32_t)(h & 0x7fff) << 13;
    const uint32_t special = u >= 0x0f800000 ? 0x7f800000 : 0;
    float f;
    memcpy(&f, &u, 4);
    f *= 0x1p112f;
    memcpy(&u, &f, 4);
    u |= special | (uint32_t)(h & 0x8000) << 16;
    memcpy(&f, &u, 4);
    return f;
}

GEMM_INLINE uint16_t gemm_to_f16(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    const uint16_t sign = (uint16_t)(u >> 16 & 0x8000);
    u &= 0x7fffffff;
    if (u > 0x7f800000) return sign | 0x7e00 | (u >> 13 & 0x1ff);
    if (u >= 0x47800000) return sign | 0x7c00;
    if (u < 0x38800000) { /* subnormal: adding 1/2 rounds at 2^-24 */
        float x;
        memcpy(&x, &u, 4);
        x += 0.5f;
        memcpy(&u, &x, 4);
        return sign | (uint16_t)(u - 0x3f000000);
    }
    return sign | (uint16_t)((u - (112u << 23) + 0xfff + (u >> 13 & 1)) >> 13);
}
#endif

/* Rows of f32 to rows of half, both n apart. */
GEMM_CALL void gemm_narrow_f16(const float *c, void *out, int64_t rows, int64_t cols, int64_t n)
{
    for (int64_t i = 0; i < rows; i++) {
        const float *x = c + i * n;
        uint16_t *y = (uint16_t *)out + i * n;
        int64_t j = 0;
#ifdef __F16C__
        for (; j + 8 <= cols; j += 8)
            _mm_storeu_si128((__m128i *)(y + j), _mm256_cvtps_ph(_mm256_loadu_ps(x + j), _MM_FROUND_TO_NEAREST_INT));
#endif
        for (; j < cols; j++) y[j] = gemm_to_f16(x[j]);
    }
}

GEMM_CALL void gemm_narrow_bf16(const float *c, void *out, int64_t rows, int64_t cols, int64_t n)
{
    for (int64_t i = 0; i < rows; i++) {
        const float *x = c + i * n;
        uint16_t *y = (uint16_t *)out + i * n;
        for (int64_t j = 0; j < cols; j++) y[j] = gemm_to_bf16(x[j]);
    }
}
