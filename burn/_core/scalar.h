/* One number in the memory form of a dtype, and the sizes of the dtypes. */
#pragma once
#include <string.h>
#include "abi.h"

static const int DT_SIZE[DT_COUNT] = {8, 4, 4, 2, 2, 8, 4, 2, 1, 8, 4, 2, 1, 1, 1, 4};

static inline uint16_t half_bits(double v) {                     /* IEEE half, rounded once from the double, ties to even */
    uint64_t b; memcpy(&b, &v, 8);
    uint16_t sign = (uint16_t)((b >> 48) & 0x8000);
    double a = v < 0 ? -v : v;
    if (v != v) return sign | 0x7e00;
    if (a >= 65520.0) return sign | 0x7c00;
    if (a < 6.103515625e-05) {                                     /* subnormal: steps of 2^-24 */
        double scaled = a * 16777216.0, whole = (double)(int64_t)scaled, rest = scaled - whole;
        int64_t q = (int64_t)whole; if (rest > 0.5 || (rest == 0.5 && (q & 1))) q++;
        return (uint16_t)(sign | q);
    }
    int e = (int)((b >> 52) & 0x7ff) - 1023;
    uint64_t m = b & 0xfffffffffffffULL, q = m >> 42, rest = m & ((1ULL << 42) - 1), half = 1ULL << 41;
    uint32_t r = (uint32_t)(((e + 15) << 10) + (int)q);
    if (rest > half || (rest == half && (q & 1))) r++;
    return (uint16_t)(sign | r);
}
static inline uint16_t bfloat_bits(double v) {                    /* via float with round-to-odd, so that one rounding remains */
    float f = (float)v; uint32_t u; memcpy(&u, &f, 4);
    if (f != f) return (uint16_t)((u >> 16) | 0x40);
    if ((double)f != v && f - f == 0.0f) {
        int up = (double)f > v ? 1 : 0;                            /* make f the truncation, then set the sticky bit */
        if ((v >= 0) == up) u -= 1;
        u |= 1;
    }
    uint32_t lsb = (u >> 16) & 1;
    return (uint16_t)((u + 0x7fff + lsb) >> 16);
}
/* v and i hold the same number: v for float dtypes, i for the others */
static inline void scalar_store(int dtype, double v, int64_t i, void *p) {
    switch (dtype) {
    case DT_F64: memcpy(p, &v, 8); break;
    case DT_F32: case DT_FLEX32: { float f = (float)v; memcpy(p, &f, 4); break; }
    case DT_F16: { uint16_t h = half_bits(v); memcpy(p, &h, 2); break; }
    case DT_BF16: { uint16_t h = bfloat_bits(v); memcpy(p, &h, 2); break; }
    case DT_I64: case DT_U64: memcpy(p, &i, 8); break;
    case DT_I32: case DT_U32: { int32_t w = (int32_t)i; memcpy(p, &w, 4); break; }
    case DT_I16: case DT_U16: { int16_t w = (int16_t)i; memcpy(p, &w, 2); break; }
    default: { int8_t w = (int8_t)i; memcpy(p, &w, 1); }
    }
}
