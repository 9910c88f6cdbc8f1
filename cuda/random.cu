// Random numbers from Philox4x32-10, one counter a thread and step; the rules are in burn/_core/random.h. Equal bits to those of
// the processor's kernels: everything but logarithm, sine and cosine of double precision is written out operation by operation.
#include "common.cuh"

OP(uniform, NUMERIC)
OP(normal, FLOAT)
OP(bernoulli, ANY)

#define INLINE __device__ __forceinline__
#define THREADS 256

struct Words { u32 w[4]; };
struct Keys { u32 left[10], right[10]; };
INLINE Keys keys_of(u64 seed) {
    Keys k;
#pragma unroll
    for (int round = 0; round < 10; round++) {
        k.left[round] = (u32)seed + round * 0x9e3779b9u;
        k.right[round] = (u32)(seed >> 32) + round * 0xbb67ae85u;
#ifndef BURN_EMULATED
        asm("" : "+r"(k.left[round]), "+r"(k.right[round])); // stays in registers, else every counter adds again
#endif
    }
    return k;
}
// Both halves of a product. Written as one of 64 bits, the compiler adds a zero to each upper half.
INLINE void multiply(u32 a, u32 b, u32 &high, u32 &low) {
#ifndef BURN_EMULATED
    asm("{\n.reg .b64 both;\nmul.wide.u32 both, %2, %3;\nmov.b64 {%0, %1}, both;\n}" : "=r"(low), "=r"(high) : "r"(a), "r"(b));
#else
    u64 both = (u64)a * b;
    high = (u32)(both >> 32);
    low = (u32)both;
#endif
}
INLINE Words philox(const Keys &keys, u64 counter) {
    u32 a = (u32)counter, b = (u32)(counter >> 32), c = 0, d = 0, left, right;
#pragma unroll
    for (int round = 0; round < 10; round++) {
        u32 x = b ^ keys.left[round], y = d ^ keys.right[round];
        multiply(a, 0xd2511f53u, left, d);
        multiply(c, 0xcd9e8d57u, right, b);
        a = right ^ x;
        c = left ^ y;
    }
    Words r = {{a, b, c, d}};
    return r;
}

// Calls make(words, values) for every counter and stores the N values; the output is aligned.
template <int N, class F> INLINE void draw(T *out, i64 n, u64 seed, u64 offset, const F &make) {
    typedef vec<T, N> word;
    i64 step = (i64)gridDim.x * THREADS, first = (i64)blockIdx.x * THREADS + threadIdx.x;
    Keys keys = keys_of(seed);
    u64 counter = offset + (u64)first;
    word *p = (word *)out + first, *end = (word *)out + n / N, v;
#pragma unroll 1
    for (; p < end; p += step, counter += (u64)step) {
        make(philox(keys, counter), v.v);
        *p = v;
    }
    if (p > end || n % N == 0) return;
    make(philox(keys, counter), v.v);
#pragma unroll
    for (int k = 0; k < N; k++)
        if (k < n % N) ((T *)p)[k] = v.v[k];
}
#define PER (sizeof(T) == 8 ? 2 : 4) // elements of a counter

INLINE float unit_float(u32 w) { return (float)(i32)(w >> 8) * 0x1p-24f; }
INLINE u64 both(u32 low, u32 high) { return (u64)high << 32 | low; }
INLINE double unit_double(u32 low, u32 high) { return (double)(i64)(both(low, high) >> 11) * 0x1p-53; }
// Rounded after the product and after the sum.
INLINE float affine(float x, float scale, float shift) { return __fadd_rn(__fmul_rn(x, scale), shift); }
INLINE double affine(double x, double scale, double shift) { return __dadd_rn(__dmul_rn(x, scale), shift); }

#if IS_FLOAT
// top: the largest value below the upper end
KERNEL(uniform, THREADS, (T *out, i64 n, C low, C range, C top, u64 seed, u64 offset)) {
    draw<PER>(out, n, seed, offset, [=](Words r, T *v) {
#pragma unroll
        for (int k = 0; k < PER; k++) {
#if DTYPE == DT_F64
            C u = unit_double(r.w[2 * k], r.w[2 * k + 1]);
#else
            C u = unit_float(r.w[k]);
#endif
            u = affine(u, range, low);
            v[k] = down<T>(sizeof(C) == 8 ? (C)fmin(u, top) : (C)fminf(u, top));
        }
    });
}

#if DTYPE == DT_F64
INLINE void normal_pair(const Words &r, double mean, double std, T *v) {
    double radius = sqrt(-2.0 * log(unit_double(r.w[0], r.w[1]) + 0x1p-53));
    double turn = __dmul_rn(6.283185307179586477, unit_double(r.w[2], r.w[3])), sine, cosine;
    sincos(turn, &sine, &cosine);
    v[0] = affine(radius * cosine, std, mean);
    v[1] = affine(radius * sine, std, mean);
}
#else
// log of a normal number up to 1, as m_log of burn/_core/vmath.h takes it
INLINE float log_of(float x) {
    i32 bits = (i32)__float_as_uint(x), k = (bits - 0x3f2aaaab) & (i32)0xff800000;
    float m = __fadd_rn(__uint_as_float((u32)(bits - k)), -1.f), s = __fmul_rn(m, m), r = -0.130310059f, t = 0.140869141f;
    r = fmaf(r, s, -0.121483512f);
    t = fmaf(t, s, 0.139814854f);
    r = fmaf(r, s, -0.166846126f);
    t = fmaf(t, s, 0.200120345f);
    r = fmaf(r, s, -0.249996200f);
    r = fmaf(t, m, r);
    r = fmaf(r, m, 0.333331972f);
    r = fmaf(r, m, -0.5f);
    r = fmaf(r, s, m);
    return fmaf((float)k, 0x1.62e43p-24f, r);
}
// Cosine and sine of 2 pi k / 2^24, k the upper bits of the word: the nearest quarter turn comes off exactly, the rest is at
// most pi/4. Shifted by two the word is what is left of it, as a signed number.
INLINE void turn_cos_sin(u32 word, float &cosine, float &sine) {
    u32 quarter = word + 0x20000000u; // in the upper two bits
    float f = (float)(i32)(word << 2 & 0xfffffc00u);
    float t = fmaf(f, 0x1.921fb6p-32f, __fmul_rn(f, -0x1.777a5cp-57f)), z = __fmul_rn(t, t);
    float s = fmaf(z, -1.9515295891e-4f, 8.3321608736e-3f);
    s = fmaf(z, s, -1.6666654611e-1f);
    s = fmaf(__fmul_rn(z, t), s, t);
    float c = fmaf(z, 2.443315711809948e-5f, -1.388731625493765e-3f);
    c = fmaf(z, c, 4.166664568298827e-2f);
    c = fmaf(__fmul_rn(z, z), c, fmaf(-z, .5f, 1.f));
    u32 odd = quarter & 0x40000000u; // sine and cosine change places at odd quarters
#ifndef BURN_EMULATED
    asm("" : "+r"(odd)); // one instruction tests a mask, three the bit that the compiler would make of it
#endif
    cosine = __uint_as_float(__float_as_uint(odd ? s : c) ^ ((quarter + 0x40000000u) & 0x80000000u));
    sine = __uint_as_float(__float_as_uint(odd ? c : s) ^ (quarter & 0x80000000u));
}
// The root of 0 or of a number that is neither tiny nor huge: sqrtf without its other cases.
INLINE float root(float x) {
#ifndef BURN_EMULATED
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x + 0x1p-60f)); // adds to 0 only
    float s = __fmul_rn(x, y);
    return fmaf(fmaf(-s, s, x), __fmul_rn(y, .5f), s);
#else
    return sqrtf(x);
#endif
}
INLINE void normal_pair(u32 first, u32 second, float mean, float std, T *v) {
    float u = fmaf((float)(i32)(first >> 8), 0x1p-24f, 0x1p-24f), cosine, sine; // exact
    float radius = root(__fmul_rn(log_of(u), -2.f));
    turn_cos_sin(second, cosine, sine);
    v[0] = down<T>(affine(__fmul_rn(radius, cosine), std, mean));
    v[1] = down<T>(affine(__fmul_rn(radius, sine), std, mean));
}
#endif
KERNEL(normal, THREADS, (T *out, i64 n, C mean, C std, u64 seed, u64 offset)) {
    draw<PER>(out, n, seed, offset, [=](Words r, T *v) {
#if DTYPE == DT_F64
        normal_pair(r, mean, std, v);
#else
        normal_pair(r.w[0], r.w[1], mean, std, v);
        normal_pair(r.w[2], r.w[3], mean, std, v + 2);
#endif
    });
}
#elif IS_INT
// range 0: all 64 bits
KERNEL(uniform, THREADS, (T *out, i64 n, u64 low, u64 range, u64 seed, u64 offset)) {
    draw<PER>(out, n, seed, offset, [=](Words r, T *v) {
#pragma unroll
        for (int k = 0; k < PER; k++) {
            u64 bits = sizeof(T) == 8 ? both(r.w[2 * k % 4], r.w[(2 * k + 1) % 4]) : r.w[k % 4];
            if (sizeof(T) == 8) bits = range ? __umul64hi(bits, range) : bits;
            else bits = bits * range >> 32;
            v[k] = (T)(low + bits);
        }
    });
}
#endif

// One word an element, whatever its size; p 2^32 is exact for p = 0 and p = 1.
KERNEL(bernoulli, THREADS, (T *out, i64 n, u64 threshold, u64 seed, u64 offset)) {
    draw<4>(out, n, seed, offset, [=](Words r, T *v) {
#pragma unroll
        for (int k = 0; k < 4; k++) v[k] = down<T>((C)(r.w[k] < threshold));
    });
}
