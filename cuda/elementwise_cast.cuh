// Casts from the module's dtype: float to integer truncates and saturates, NaN is 0; integers wrap; a number becomes a float
// rounded once; anything to bool is "not zero", and bool is 0 or 1.
#pragma once
#include "elementwise_loops.cuh"

template <class S> struct limits;
#define LIMITS(S, LEAST, MOST) \
    template <> struct limits<S> { \
        static constexpr S least = (S)(LEAST), most = (S)(MOST); \
    };
LIMITS(i64, -0x7fffffffffffffffll - 1, 0x7fffffffffffffffll)
LIMITS(i32, -0x7fffffff - 1, 0x7fffffff)
LIMITS(short, -0x8000, 0x7fff)
LIMITS(signed char, -0x80, 0x7f)
LIMITS(u64, 0, 0xffffffffffffffffull)
LIMITS(u32, 0, 0xffffffffu)
LIMITS(unsigned short, 0, 0xffff)
LIMITS(u8, 0, 0xff)

// double to float so that rounding the result again to 8 or 11 bits gives what rounding once would: to odd when inexact
INLINE float round_to_odd(double d) {
    float f = (float)d;
    u32 bits = __float_as_uint(f);
    if ((double)f == d || f != f || (bits & 1)) return f;
    return __uint_as_float(fabs((double)f) < fabs(d) ? bits + 1 : bits - 1);
}
// An integer to a float that is rounded again later: 49 bits of it, the last one set where more were cut, are exact in double.
template <class S> INLINE float odd_float(S x) {
    if (sizeof(S) < 4) return (float)x;
    if (sizeof(S) == 8 && (x > (S)(1ull << 53) || (limits<S>::least < 0 && x < (S) - (1ll << 53))))
        x = (S)((x & ~(S)0xffff) | ((x & 0xffff) != 0 ? 0x8000 : 0));
    return round_to_odd((double)x);
}

// What holds the elements of the destination: the number types as they are, 0 or 1 for bool.
template <class D> struct Converter {
    static INLINE D from(float x) { return saturated(x); }
    static INLINE D from(double x) { return saturated(x); }
    template <class S> static INLINE D from(S x) { return (D)x; }
    template <class S> static INLINE D saturated(S x) {
        if (x != x) return 0;
        return x <= (S)limits<D>::least ? limits<D>::least : x >= (S)limits<D>::most ? limits<D>::most : (D)x;
    }
};
template <> struct Converter<double> { template <class S> static INLINE double from(S x) { return (double)x; } };
template <> struct Converter<float> { template <class S> static INLINE float from(S x) { return (float)x; } };
template <class H> struct HalfConverter {
    static INLINE H from(float x) { return down<H>(x); }
    static INLINE H from(double x) { return down<H>(round_to_odd(x)); }
    template <class S> static INLINE H from(S x) { return down<H>(odd_float(x)); }
};
template <> struct Converter<f16> : HalfConverter<f16> {};
template <> struct Converter<bf16> : HalfConverter<bf16> {};

#if IS_BOOL
#define CAST_VALUE(x) ((i32)((x) != 0))
#else
#define CAST_VALUE(x) x
#endif
#define CAST_FLAT(name, D, ...) \
    struct of_cast_##name { INLINE D operator()(i64, C x) const { return __VA_ARGS__; } }; \
    KERNEL(cast_##name##_flat, ELT_THREADS, (D *out, In<T> x, i64 n)) { flat(out, n, of_cast_##name(), x); }
#define CAST_STRIDED(name, D) \
    KERNEL(cast_##name##_strided, ELT_THREADS, (D *out, GIVEN Strided<T> x, GIVEN Tiles tiles)) { \
        strided(out, tiles, of_cast_##name(), x); \
    }
// The less common destinations have no strided kernel: the launcher asks for a contiguous input.
OP(cast, ANY)
#define CAST(name, D) CAST_FLAT(name, D, Converter<D>::from(CAST_VALUE(x)))
CAST(f64, double) CAST_STRIDED(f64, double)
CAST(f32, float) CAST_STRIDED(f32, float)
CAST(f16, f16) CAST_STRIDED(f16, f16)
CAST(bf16, bf16) CAST_STRIDED(bf16, bf16)
CAST(i64, i64) CAST_STRIDED(i64, i64)
CAST(i32, i32) CAST_STRIDED(i32, i32)
CAST(i16, short) CAST_STRIDED(i16, short)
CAST(i8, signed char) CAST_STRIDED(i8, signed char)
CAST(u64, u64)
CAST(u32, u32)
CAST(u16, unsigned short)
CAST(u8, u8) CAST_STRIDED(u8, u8)
CAST_FLAT(bool, u8, x != 0) CAST_STRIDED(bool, u8)
