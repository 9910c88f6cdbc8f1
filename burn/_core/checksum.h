/* CRC-32 as zip files have it, 16 bytes at a time by products of polynomials: several times as fast as tables. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

static int burn_crc32_fast(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
}

/* The remainder of a bit string does not change when its upper half moves down by n bits, times x^n mod P. `by` holds the
   powers for both halves of 128 bits, reflected as the sum is. */
#define FOLD(x, by, next) _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(x, by, 0x00), _mm_clmulepi64_si128(x, by, 0x11)), next)
#define TAKE(i) _mm_loadu_si128((const __m128i *)p + (i))

static uint32_t burn_crc32_bytes(const uint8_t *p, size_t n, uint32_t crc) {
    for (; n; n--) {
        crc ^= *p++;
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (0xEDB88320u & -(crc & 1));
    }
    return crc;
}

/* The sum of n more bytes after those whose sum is crc. */
__attribute__((target("pclmul,sse4.1")))
static uint32_t burn_crc32(const uint8_t *p, size_t n, uint32_t crc) {
    uint8_t last[16];
    crc = ~crc;
    if (n >= 64) {
        const __m128i by512 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4), by128 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
        __m128i a = _mm_xor_si128(TAKE(0), _mm_cvtsi32_si128((int)crc)), b = TAKE(1), c = TAKE(2), d = TAKE(3);
        for (p += 64, n -= 64; n >= 64; p += 64, n -= 64) {
            a = FOLD(a, by512, TAKE(0));
            b = FOLD(b, by512, TAKE(1));
            c = FOLD(c, by512, TAKE(2));
            d = FOLD(d, by512, TAKE(3));
        }
        a = FOLD(a, by128, b);
        a = FOLD(a, by128, c);
        a = FOLD(a, by128, d);
        for (; n >= 16; p += 16, n -= 16) a = FOLD(a, by128, TAKE(0));
        _mm_storeu_si128((__m128i *)last, a);
        crc = burn_crc32_bytes(last, 16, 0);
    }
    return ~burn_crc32_bytes(p, n, crc);
}
#undef FOLD
#undef TAKE
#else
static int burn_crc32_fast(void) { return 0; }
static uint32_t burn_crc32(const uint8_t *p, size_t n, uint32_t crc) { (void)p; (void)n; return crc; }
#endif
