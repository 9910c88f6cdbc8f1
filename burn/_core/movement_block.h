/* Square blocks transposed in registers: element (i, j) of x, rows lda bytes apart, goes to (j, i) of y, rows
   ldb apart. */
#pragma once
#include "vec.h"

#if BURN_LEVEL == 4
#define BLOCK4 16
VINL void block4(const char *x, int64_t lda, char *y, int64_t ldb, int stream) {
    __m512 r[16], t[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) r[i] = _mm512_loadu_ps(x + i * lda);
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4) { /* pairs of floats as doubles */
        __m512d a = (__m512d)t[i], b = (__m512d)t[i + 1], c = (__m512d)t[i + 2], d = (__m512d)t[i + 3];
        r[i] = (__m512)_mm512_unpacklo_pd(a, c);
        r[i + 1] = (__m512)_mm512_unpackhi_pd(a, c);
        r[i + 2] = (__m512)_mm512_unpacklo_pd(b, d);
        r[i + 3] = (__m512)_mm512_unpackhi_pd(b, d);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        t[i] = _mm512_shuffle_f32x4(r[i], r[4 + i], 0x88);
        t[4 + i] = _mm512_shuffle_f32x4(r[i], r[4 + i], 0xdd);
        t[8 + i] = _mm512_shuffle_f32x4(r[8 + i], r[12 + i], 0x88);
        t[12 + i] = _mm512_shuffle_f32x4(r[8 + i], r[12 + i], 0xdd);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        r[i] = _mm512_shuffle_f32x4(t[i], t[8 + i], 0x88);
        r[8 + i] = _mm512_shuffle_f32x4(t[i], t[8 + i], 0xdd);
        r[4 + i] = _mm512_shuffle_f32x4(t[4 + i], t[12 + i], 0x88);
        r[12 + i] = _mm512_shuffle_f32x4(t[4 + i], t[12 + i], 0xdd);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) {
        if (stream) _mm512_stream_ps((float *)(y + i * ldb), r[i]);
        else _mm512_storeu_ps((float *)(y + i * ldb), r[i]);
    }
}
#elif BURN_LEVEL == 3
#define BLOCK4 8
VINL void block4(const char *x, int64_t lda, char *y, int64_t ldb, int stream) {
    __m256 r[8], t[8];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) { /* rows i and i + 4 share registers: the lane exchange is part of the load */
        r[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps((const float *)(x + i * lda))),
                                    _mm_loadu_ps((const float *)(x + (i + 4) * lda)), 1);
        r[i + 4] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps((const float *)(x + i * lda + 16))),
                                        _mm_loadu_ps((const float *)(x + (i + 4) * lda + 16)), 1);
    }
#pragma GCC unroll 2
    for (int h = 0; h < 8; h += 4) {
        t[h] = _mm256_unpacklo_ps(r[h], r[h + 1]);
        t[h + 1] = _mm256_unpackhi_ps(r[h], r[h + 1]);
        t[h + 2] = _mm256_unpacklo_ps(r[h + 2], r[h + 3]);
        t[h + 3] = _mm256_unpackhi_ps(r[h + 2], r[h + 3]);
        r[h] = _mm256_shuffle_ps(t[h], t[h + 2], 0x44);
        r[h + 1] = _mm256_shuffle_ps(t[h], t[h + 2], 0xee);
        r[h + 2] = _mm256_shuffle_ps(t[h + 1], t[h + 3], 0x44);
        r[h + 3] = _mm256_shuffle_ps(t[h + 1], t[h + 3], 0xee);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        if (stream) _mm256_stream_ps((float *)(y + i * ldb), r[i]);
        else _mm256_storeu_ps((float *)(y + i * ldb), r[i]);
    }
}
#else
#define BLOCK4 4
VINL void block4(const char *x, int64_t lda, char *y, int64_t ldb, int stream) {
    vf a = vf_load((const float *)x), b = vf_load((const float *)(x + lda));
    vf c = vf_load((const float *)(x + 2 * lda)), d = vf_load((const float *)(x + 3 * lda));
    vf ab = __builtin_shuffle(a, b, (vi){0, 4, 1, 5}), cd = __builtin_shuffle(c, d, (vi){0, 4, 1, 5});
    vf ab2 = __builtin_shuffle(a, b, (vi){2, 6, 3, 7}), cd2 = __builtin_shuffle(c, d, (vi){2, 6, 3, 7});
    vf r[4] = {__builtin_shuffle(ab, cd, (vi){0, 1, 4, 5}), __builtin_shuffle(ab, cd, (vi){2, 3, 6, 7}),
               __builtin_shuffle(ab2, cd2, (vi){0, 1, 4, 5}), __builtin_shuffle(ab2, cd2, (vi){2, 3, 6, 7})};
    for (int i = 0; i < 4; i++) {
        if (stream) vf_stream((float *)(y + i * ldb), r[i]);
        else vf_store((float *)(y + i * ldb), r[i]);
    }
}
#endif

#if BURN_LEVEL >= 3
#define BLOCK8 4
VINL void block8(const char *x, int64_t lda, char *y, int64_t ldb, int stream) {
    __m256d r[4], t[4];
    for (int i = 0; i < 2; i++) {
        t[i] = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd((const double *)(x + i * lda))),
                                    _mm_loadu_pd((const double *)(x + (i + 2) * lda)), 1);
        t[i + 2] = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd((const double *)(x + i * lda + 16))),
                                        _mm_loadu_pd((const double *)(x + (i + 2) * lda + 16)), 1);
    }
    for (int h = 0; h < 4; h += 2) {
        r[h] = _mm256_unpacklo_pd(t[h], t[h + 1]);
        r[h + 1] = _mm256_unpackhi_pd(t[h], t[h + 1]);
    }
    for (int i = 0; i < 4; i++) {
        if (stream) _mm256_stream_pd((double *)(y + i * ldb), r[i]);
        else _mm256_storeu_pd((double *)(y + i * ldb), r[i]);
    }
}
#else
#define BLOCK8 4
VINL void block8(const char *x, int64_t lda, char *y, int64_t ldb, int stream) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) memcpy(y + j * ldb + 8 * i, x + i * lda + 8 * j, 8);
}
#endif

#define BLOCK2 8
#if BURN_LEVEL >= 2
VINL void block2(const char *x, int64_t lda, char *y, int64_t ldb) {
    __m128i r[8], t[8];
    for (int i = 0; i < 8; i++) r[i] = _mm_loadu_si128((const __m128i *)(x + i * lda));
    for (int i = 0; i < 4; i++) {
        t[2 * i] = _mm_unpacklo_epi16(r[i], r[i + 4]);
        t[2 * i + 1] = _mm_unpackhi_epi16(r[i], r[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        r[2 * i] = _mm_unpacklo_epi16(t[i], t[i + 4]);
        r[2 * i + 1] = _mm_unpackhi_epi16(t[i], t[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        t[2 * i] = _mm_unpacklo_epi16(r[i], r[i + 4]);
        t[2 * i + 1] = _mm_unpackhi_epi16(r[i], r[i + 4]);
    }
    for (int i = 0; i < 8; i++) _mm_storeu_si128((__m128i *)(y + i * ldb), t[i]);
}
#else
VINL void block2(const char *x, int64_t lda, char *y, int64_t ldb) {
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) memcpy(y + j * ldb + 2 * i, x + i * lda + 2 * j, 2);
}
#endif
