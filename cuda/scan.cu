// Running sums, products and extremes of [outer, n, inner] over n, from the end where `reverse`. Floats are added up and
// multiplied in double; extremes keep their dtype, a NaN stays, and of equal values the later one is taken.
//   rows  inner 1: lanes (32 or 256) threads go along a row together, STEP elements each at a time
//   cols  a thread a column
// Long axes are cut into pieces: a first launch, without `out`, leaves the total of each in `part`.
#include "common.cuh"

OP(cumsum, NUMERIC)
OP(cumprod, NUMERIC)
OP(cummax, NUMERIC)
OP(cummin, NUMERIC)

#if !IS_BOOL
#define INLINE __device__ __forceinline__
const int STEP = 4;

#if IS_FLOAT
typedef double Total;
#define IS_NAN(v) ((v) != (v))
INLINE T from_total(Total v) { return down<T>((C)v); }
#else
typedef u64 Total; // modulo the width of the dtype or more
#define IS_NAN(v) false
INLINE T from_total(Total v) { return (T)v; }
#endif

struct Sum {
    typedef Total A;
    static INLINE A none() { return 0; }
    static INLINE A join(A a, A b) { return a + b; }
    static INLINE T store(A a) { return from_total(a); }
};
struct Prod {
    typedef Total A;
    static INLINE A none() { return 1; }
    static INLINE A join(A a, A b) { return a * b; }
    static INLINE T store(A a) { return from_total(a); }
};
#if IS_FLOAT
#define HIGHEST C(INFINITY)
#define LOWEST C(-INFINITY)
#elif IS_SIGNED
#define HIGHEST C(~((u64)1 << (8 * sizeof(T) - 1)))
#define LOWEST C(-HIGHEST - 1)
#else
#define HIGHEST C(~(C)0)
#define LOWEST C(0)
#endif
template <bool IS_MIN> struct Extreme {
    typedef C A;
    static INLINE A none() { return IS_MIN ? HIGHEST : LOWEST; }
    static INLINE A join(A a, A b) { return (IS_MIN ? b <= a : b >= a) || IS_NAN(b) ? b : a; }
    static INLINE T store(A a) { return down<T>(a); }
};

// What the thread `off` lanes before has.
template <class A> INLINE A from_before(const A &a, int off) {
    union {
        A a;
        u32 words[(sizeof(A) + 3) / 4];
    } it;
    it.words[0] = 0;
    it.a = a;
#pragma unroll
    for (int k = 0; k < (int)((sizeof(A) + 3) / 4); k++) it.words[k] = __shfl_up_sync(0xffffffffu, it.words[k], off);
    return it.a;
}

// A group of threads, a warp or the block: all values before the thread's own joined; `all` gets those of the whole group.
template <class Op> INLINE typename Op::A before(typename Op::A v, int lanes, typename Op::A *room, typename Op::A &all) {
    typedef typename Op::A A;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    A upto = v;
    for (int off = 1; off < 32; off *= 2) {
        A other = from_before(upto, off);
        if (lane >= off) upto = Op::join(other, upto);
    }
    A less = from_before(upto, 1);
    if (lane == 0) less = Op::none();
    __syncthreads();
    if (lane == 31) room[warp] = upto;
    __syncthreads();
    all = room[warp];
    if (lanes == 32) return less;
    A base = Op::none();
    all = room[0];
    for (int w = 1; w < 8; w++) {
        if (w == warp) base = all;
        all = Op::join(all, room[w]);
    }
    return warp ? Op::join(base, less) : less;
}

// A group has a piece of `length` elements of a row.
template <class Op> INLINE void scan_rows(T *out, const T *x, i64 outer, i64 n, i32 reverse, i32 lanes, i64 pieces, i64 length,
                                          void *part) {
    typedef typename Op::A A;
    __shared__ A room[8];
    i64 group = (i64)blockIdx.x * (256 / lanes) + threadIdx.x / lanes, row = group / pieces, piece = group - row * pieces;
    int lane = threadIdx.x % lanes;
    i64 first = piece * length, end = first + length < n ? first + length : n;
    A carry = Op::none(), all;
    if (row >= outer) row = outer - 1, end = first; // keeps the company of the others
    A *parts = (A *)part + row * pieces;
    if (out && pieces > 1) { // at most 256 of them
        before<Op>(lane < piece ? parts[lane] : Op::none(), lanes, room, all);
        carry = all;
    }
    // every group of the block makes as many steps as the longest
    for (i64 from = first; from < first + length; from += lanes * STEP) {
        A held[STEP], sum = Op::none();
        i64 own = from + lane * STEP;
#pragma unroll
        for (int k = 0; k < STEP; k++) {
            i64 i = own + k;
            held[k] = i < end ? (A)up(x[row * n + (reverse ? n - 1 - i : i)]) : Op::none();
            sum = k ? Op::join(sum, held[k]) : held[0];
        }
        A base = Op::join(carry, before<Op>(sum, lanes, room, all));
        carry = Op::join(carry, all);
#pragma unroll
        for (int k = 0; k < STEP; k++) {
            i64 i = own + k;
            base = Op::join(base, held[k]);
            if (out && i < end) out[row * n + (reverse ? n - 1 - i : i)] = Op::store(base);
        }
    }
    if (!out && lane == 0 && end > first) parts[piece] = carry;
}

template <class Op> INLINE void scan_cols(T *out, const T *x, i64 outer, i64 n, i64 inner, i32 reverse, i64 pieces, i64 length,
                                          void *part) {
    typedef typename Op::A A;
    i64 number = (i64)blockIdx.x * 256 + threadIdx.x, line = number / inner, c = number - line * inner;
    i64 o = line / pieces, piece = line - o * pieces;
    if (o >= outer) return;
    i64 i = piece * length, end = i + length < n ? i + length : n, step = reverse ? -inner : inner;
    A *parts = (A *)part + o * pieces * inner + c, sum = Op::none();
    if (out) for (i64 p = 0; p < piece; p++) sum = Op::join(sum, parts[p * inner]);
    i64 at = (o * n + (reverse ? n - 1 - i : i)) * inner + c;
    for (; i + 8 <= end; i += 8) {
        T held[8];
#pragma unroll
        for (int k = 0; k < 8; k++) held[k] = x[at + k * step];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            sum = Op::join(sum, (A)up(held[k]));
            if (out) out[at + k * step] = Op::store(sum);
        }
        at += 8 * step;
    }
    for (; i < end; i++, at += step) {
        sum = Op::join(sum, (A)up(x[at]));
        if (out) out[at] = Op::store(sum);
    }
    if (!out) parts[piece * inner] = sum;
}

#define SCAN(name, ...) \
    KERNEL(name##_rows, 256, (T *out, const T *x, i64 outer, i64 n, i32 reverse, i32 lanes, i64 pieces, i64 length, \
                              void *part)) { \
        scan_rows<__VA_ARGS__>(out, x, outer, n, reverse, lanes, pieces, length, part); \
    } \
    KERNEL(name##_cols, 256, (T *out, const T *x, i64 outer, i64 n, i64 inner, i32 reverse, i64 pieces, i64 length, \
                              void *part)) { \
        scan_cols<__VA_ARGS__>(out, x, outer, n, inner, reverse, pieces, length, part); \
    }
SCAN(cumsum, Sum)
SCAN(cumprod, Prod)
SCAN(cummax, Extreme<false>)
SCAN(cummin, Extreme<true>)
#endif
