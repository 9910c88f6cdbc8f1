// CUDA's types, bit functions and mathematics for the host compiler; the second half of emulation.h.
#pragma once

// ---- short vectors
#define EMULATED_VECTOR(type, name) \
    struct alignas(2 * sizeof(type)) name##2 { type x, y; }; \
    struct name##3 { type x, y, z; }; \
    struct alignas(sizeof(type) < 8 ? 4 * sizeof(type) : 16) name##4 { type x, y, z, w; }; \
    static inline name##2 make_##name##2(type x, type y) { return {x, y}; } \
    static inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
    static inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
#define uint3 emulated_uint3 // interface.h has it
EMULATED_VECTOR(unsigned, uint)
#undef uint3
EMULATED_VECTOR(signed char, char)
EMULATED_VECTOR(unsigned char, uchar)
EMULATED_VECTOR(short, short)
EMULATED_VECTOR(unsigned short, ushort)
EMULATED_VECTOR(int, int)
EMULATED_VECTOR(long long, longlong)
EMULATED_VECTOR(unsigned long long, ulonglong)
EMULATED_VECTOR(float, float)
EMULATED_VECTOR(double, double)

// ---- bits
#define EMULATED_BITS(name, to, from) \
    static inline to name(from v) { return emulated::bits<to>(v); }
EMULATED_BITS(__float_as_uint, unsigned, float)
EMULATED_BITS(__float_as_int, int, float)
EMULATED_BITS(__uint_as_float, float, unsigned)
EMULATED_BITS(__int_as_float, float, int)
EMULATED_BITS(__double_as_longlong, long long, double)
EMULATED_BITS(__longlong_as_double, double, long long)
static inline int __double2hiint(double v) { return (int)(emulated::bits<uint64_t>(v) >> 32); }
static inline int __double2loint(double v) { return (int)emulated::bits<uint64_t>(v); }
static inline double __hiloint2double(int hi, int lo) {
    return emulated::bits<double>((uint64_t)(unsigned)hi << 32 | (unsigned)lo);
}
static inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
static inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __ffsll(long long v) { return __builtin_ffsll(v); }
static inline unsigned long long __brevll(unsigned long long v) {
    unsigned long long r = 0;
    for (int i = 0; i < 64; i++, v >>= 1) r = r << 1 | (v & 1);
    return r;
}
static inline unsigned __brev(unsigned v) { return (unsigned)(__brevll(v) >> 32); }
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
    return (unsigned)(((uint64_t)hi << 32 | lo) << (n & 31) >> 32);
}
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
    return (unsigned)(((uint64_t)hi << 32 | lo) >> (n & 31));
}
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
    uint64_t both = (uint64_t)y << 32 | x;
    unsigned r = 0;
    for (int i = 0; i < 4; i++, s >>= 4) {
        unsigned byte = (unsigned)(both >> 8 * (s & 7)) & 0xff;
        r |= (s & 8 ? (byte & 0x80 ? 0xffu : 0) : byte) << 8 * i;
    }
    return r;
}

// ---- halves: a NaN becomes the one that the hardware writes
static inline float f16_to_float(unsigned short h) { return (float)emulated::bits<_Float16>(h); }
static inline unsigned short float_to_f16(float f) { return f != f ? 0x7fff : emulated::bits<unsigned short>((_Float16)f); }

// ---- arithmetic with one rounding
#define EMULATED_ROUNDED(type, letter) \
    static inline type __##letter##add_rn(type a, type b) { return emulated::alone(emulated::alone(a) + b); } \
    static inline type __##letter##sub_rn(type a, type b) { return emulated::alone(emulated::alone(a) - b); } \
    static inline type __##letter##mul_rn(type a, type b) { return emulated::alone(emulated::alone(a) * b); } \
    static inline type __##letter##div_rn(type a, type b) { return a / b; } \
    static inline type __##letter##rcp_rn(type a) { return 1 / a; } \
    static inline type __##letter##sqrt_rn(type a) { return sqrt(a); }
EMULATED_ROUNDED(float, f)
EMULATED_ROUNDED(double, d)
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
static inline float __saturatef(float v) { return v > 0 ? v < 1 ? v : 1 : 0; }

// ---- conversions, which saturate; NaN gives 0
#define EMULATED_CONVERT(from, to, type, result) \
    static inline result __##from##2##to##_rn(type v) { return emulated::saturated<result>(rint(v)); } \
    static inline result __##from##2##to##_rz(type v) { return emulated::saturated<result>(trunc(v)); } \
    static inline result __##from##2##to##_rd(type v) { return emulated::saturated<result>(floor(v)); } \
    static inline result __##from##2##to##_ru(type v) { return emulated::saturated<result>(ceil(v)); }
EMULATED_CONVERT(float, int, float, int)
EMULATED_CONVERT(float, uint, float, unsigned)
EMULATED_CONVERT(float, ll, float, long long)
EMULATED_CONVERT(float, ull, float, unsigned long long)
EMULATED_CONVERT(double, int, double, int)
EMULATED_CONVERT(double, uint, double, unsigned)
EMULATED_CONVERT(double, ll, double, long long)
EMULATED_CONVERT(double, ull, double, unsigned long long)
static inline float __int2float_rn(int v) { return (float)v; }
static inline float __uint2float_rn(unsigned v) { return (float)v; }
static inline float __ll2float_rn(long long v) { return (float)v; }
static inline float __ull2float_rn(unsigned long long v) { return (float)v; }
static inline double __int2double_rn(int v) { return v; }
static inline double __uint2double_rn(unsigned v) { return v; }
static inline double __ll2double_rn(long long v) { return (double)v; }
static inline double __ull2double_rn(unsigned long long v) { return (double)v; }
static inline float __double2float_rn(double v) { return (float)v; }

// ---- mathematics
template <class A, class B> static inline std::common_type_t<A, B> min(A a, B b) {
    typedef std::common_type_t<A, B> R;
    if constexpr (std::is_floating_point_v<R>) return __builtin_fmin((R)a, (R)b);
    else return (R)a < (R)b ? (R)a : (R)b;
}
template <class A, class B> static inline std::common_type_t<A, B> max(A a, B b) {
    typedef std::common_type_t<A, B> R;
    if constexpr (std::is_floating_point_v<R>) return __builtin_fmax((R)a, (R)b);
    else return (R)a > (R)b ? (R)a : (R)b;
}
static inline long long llmin(long long a, long long b) { return a < b ? a : b; }
static inline long long llmax(long long a, long long b) { return a > b ? a : b; }
static inline unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
static inline unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }

// Newer C libraries have these too.
#define sinpi emulated_sinpi
#define cospi emulated_cospi
#define sinpif emulated_sinpif
#define cospif emulated_cospif
#define rsqrt emulated_rsqrt
#define rsqrtf emulated_rsqrtf
static inline double sinpi(double v) {
    double r = fmod(v, 2);
    return r == trunc(r) ? copysign(0.0, v) : sin(M_PI * r);
}
static inline double cospi(double v) {
    double r = fabs(fmod(v, 2));
    return r == 0.5 || r == 1.5 ? 0 : cos(M_PI * r);
}
static inline float sinpif(float v) { return (float)sinpi(v); }
static inline float cospif(float v) { return (float)cospi(v); }
static inline void sincospi(double v, double *s, double *c) { *s = sinpi(v), *c = cospi(v); }
static inline void sincospif(float v, float *s, float *c) { *s = sinpif(v), *c = cospif(v); }
static inline double rsqrt(double v) { return 1 / sqrt(v); }
static inline float rsqrtf(float v) { return (float)(1 / sqrt((double)v)); }
static inline double rcbrt(double v) { return 1 / cbrt(v); }
static inline float rcbrtf(float v) { return (float)(1 / cbrt((double)v)); }
static inline double normcdf(double v) { return 0.5 * erfc(-v * M_SQRT1_2); }
static inline float normcdff(float v) { return (float)normcdf(v); }
static inline double rhypot(double a, double b) { return 1 / hypot(a, b); }
static inline float fdividef(float a, float b) { return a / b; }
static inline float __fdividef(float a, float b) { return a / b; }
// The C library declares some of these names itself.
#define __expf expf
#define __exp10f exp10f
#define __logf logf
#define __log2f log2f
#define __log10f log10f
#define __sinf sinf
#define __cosf cosf
#define __tanf tanf
#define __powf powf
static inline float __frsqrt_rn(float v) { return rsqrtf(v); }
