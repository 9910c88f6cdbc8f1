// Reductions of [outer, n, inner] over n. An op is a struct: its running result A, how it takes elements in and how two
// results are joined. Two kernels serve all ops: `rows` where inner is 1, `cols` else. Long axes are cut into pieces, and
// the last block that finishes joins them, always in the same order: results depend on the shape only.
#include "common.cuh"

OP(sum, NUMERIC)
OP(mean, NUMERIC)
OP(prod, NUMERIC)
OP(var, FLOAT)
OP(max, NUMERIC)
OP(min, NUMERIC)
OP(argmax, NUMERIC)
OP(argmin, NUMERIC)
OP(max_with_indices, NUMERIC)
OP(min_with_indices, NUMERIC)
OP(any, ANY)
OP(all, ANY)

#define VECTOR (16 / (int)sizeof(T))                // elements of a row that a thread loads at once
#define UNROLL (sizeof(T) < 4 ? (int)sizeof(T) : 4) // and how many such loads are under way
#define COLUMNS (sizeof(T) >= 4 ? VECTOR : 4)       // columns a thread
#define DOWN (sizeof(T) == 8 ? 4 : 8)               // and how many of their rows are under way

// How the launcher (burn/backend/cuda/launch_reduce.h) spreads the work over blocks of 256 threads.
struct Split {
    i32 lanes;     // threads side by side along a row (1..32 or 256) or along inner
    i32 lines;     // cols: threads down the reduced axis
    i32 tiles;     // cols: blocks along inner
    i32 pieces;    // of the reduced axis; more than one only where a block has one row, or one outer index
    i32 vector;    // whether a thread's neighbours can be loaded at once
    i32 unused;
    i64 length;    // of a piece
    void *part;    // [outer, pieces, inner] results of the pieces
    u32 *counters; // pieces that are done
};

// ---- the ops. take: N elements, of which number k has position at + k / V * step + k % V * gap in its piece; shift makes
// that a position in the row
#if IS_INT
#if DTYPE == DT_I64 || DTYPE == DT_U64
typedef u64 Ring;       // sums and products modulo the width of the dtype or more
typedef __int128 Total; // holds any sum exactly
#else
typedef u32 Ring;
typedef i64 Total;
#endif
#endif

// A sum of N numbers as a tree: few roundings, and no long chain of waiting.
template <int N, class S> struct Tree {
    static __device__ __forceinline__ S sum(const S *v) { return Tree<N / 2, S>::sum(v) + Tree<N / 2, S>::sum(v + N / 2); }
};
template <class S> struct Tree<1, S> {
    static __device__ __forceinline__ S sum(const S *v) { return *v; }
};

// Floats are added up as trees of their own type, trees and all that follows in double.
#if !IS_BOOL
template <bool MEAN> struct Sum {
#if IS_FLOAT
    typedef double A;
    typedef C Leaf;
#else
    template <bool M, class X, class Y> struct choose { typedef X type; };
    template <class X, class Y> struct choose<false, X, Y> { typedef Y type; };
    typedef typename choose<MEAN, Total, Ring>::type A;
    typedef typename choose<(MEAN && sizeof(T) < 4), i32, A>::type Leaf;
#endif
    T *out;
    i64 n;
    __device__ A start(const T *first) const { return 0; }
    template <int N, int V> __device__ void take(A &a, const T *w, u32 at, u32 step, u32 gap) const {
        Leaf v[N];
#pragma unroll
        for (int k = 0; k < N; k++) v[k] = (Leaf)up(w[k]);
        a += (A)Tree<N, Leaf>::sum(v);
    }
    __device__ void join(A &a, const A &b) const { a += b; }
    __device__ void shift(A &, i64) const {}
    __device__ void put(i64 r, const A &a) const {
#if IS_FLOAT
        out[r] = down<T>((C)(MEAN ? a / (double)n : a));
#else
        out[r] = (T)(MEAN && n > 1 ? a / (A)n : a);
#endif
    }
};

// Products of floats run in double: no overflow half way that the result does not have.
struct Prod {
#if IS_FLOAT
    typedef double A;
#else
    typedef Ring A;
#endif
    T *out;
    __device__ A start(const T *first) const { return 1; }
    template <int N, int V> __device__ void take(A &a, const T *w, u32 at, u32 step, u32 gap) const {
#pragma unroll
        for (int k = 0; k < N; k++) a *= (A)up(w[k]);
    }
    __device__ void join(A &a, const A &b) const { a *= b; }
    __device__ void shift(A &, i64) const {}
    __device__ void put(i64 r, const A &a) const {
#if IS_FLOAT
        out[r] = down<T>((C)a);
#else
        out[r] = (T)a;
#endif
    }
};

#if IS_FLOAT
typedef C Key; // what is compared
#define IS_NAN(v) ((v) != (v))
#else
template <bool SMALL> struct key_of { typedef T type; };
template <> struct key_of<true> { typedef i32 type; };
typedef key_of<(sizeof(T) < 4)>::type Key;
#define IS_NAN(v) false
#endif

// All threads start from the first element of the piece: taking it twice changes nothing.
template <bool IS_MIN> struct Extreme {
    typedef Key A;
    T *out;
    __device__ A start(const T *first) const { return (Key)up(*first); }
    __device__ void join(A &a, const A &b) const {
        if ((IS_MIN ? b < a : b > a) || IS_NAN(b)) a = b;
    }
    template <int N, int V> __device__ void take(A &a, const T *w, u32 at, u32 step, u32 gap) const {
#pragma unroll
        for (int k = 0; k < N; k++) join(a, (Key)up(w[k]));
    }
    __device__ void shift(A &, i64) const {}
    __device__ void put(i64 r, const A &a) const { out[r] = down<T>((C)a); }
};

// The first NaN wins, else the first of the extremes. out may be null, at is i64 or i32.
struct Place {
    i64 at;
    Key value;
};
template <bool IS_MIN> struct ExtremeAt {
    typedef Place A;
    T *out;
    void *at;
    i32 at_dtype;
    __device__ A start(const T *first) const {
        Place a = {0, (Key)up(*first)};
        return a;
    }
    // whether b, which lies further on, wins over a
    __device__ static bool beats(Key b, Key a) { return (IS_MIN ? b < a : b > a) || (IS_NAN(b) && !IS_NAN(a)); }
    template <int N, int V> __device__ void take(A &a, const T *w, u32 at, u32 step, u32 gap) const {
        Key best = (Key)up(w[0]);
        u32 where = 0;
#pragma unroll
        for (int k = 1; k < N; k++) {
            Key v = (Key)up(w[k]);
            if (beats(v, best)) best = v, where = k;
        }
        if (beats(best, a.value)) a.value = best, a.at = at + where / V * step + where % V * gap;
    }
    __device__ void join(A &a, const A &b) const {
        bool same = a.value == b.value || (IS_NAN(a.value) && IS_NAN(b.value));
        if (same ? b.at < a.at : beats(b.value, a.value) && !IS_NAN(a.value)) a = b;
    }
    __device__ void shift(A &a, i64 first) const { a.at += first; }
    __device__ void put(i64 r, const A &a) const {
        if (at_dtype == DT_I64) ((i64 *)at)[r] = a.at;
        else ((i32 *)at)[r] = (i32)a.at;
        if (out) out[r] = down<T>((C)a.value);
    }
};
#endif

#if IS_FLOAT
// Count, mean and sum of squared distances from it, joined by Chan's formula: no cancellation, one pass over memory.
struct Moments {
    double n, mean, m2;
};
struct Var {
    typedef Moments A;
    T *out;
    double correction;
    __device__ A start(const T *first) const {
        Moments a = {0, 0, 0};
        return a;
    }
    template <int N, int V> __device__ void take(A &a, const T *w, u32 at, u32 step, u32 gap) const {
        C v[N], mean = 0, off = 0, squares = 0;
#pragma unroll
        for (int k = 0; k < N; k++) v[k] = up(w[k]), mean += v[k] * (C)(1.0 / N);
#pragma unroll
        for (int k = 0; k < N; k++) {
            C d = v[k] - mean;
            off += d;
            squares += d * d;
        }
        Moments b = {(double)N, mean, squares};
        off *= (C)(1.0 / N); // what rounding left in the mean; nothing to mend where the squares are beyond all numbers
        if (squares - squares == 0) b.mean += off, b.m2 -= (double)(off * off) * N;
        join(a, b);
    }
    __device__ void join(A &a, const A &b) const {
        if (b.n == 0) return;
        if (a.n == 0) {
            a = b;
            return;
        }
        double n = a.n + b.n, step = b.mean - a.mean;
        double share = sizeof(C) == 8 ? b.n / n : (double)((float)b.n / (float)n);
        a.mean += step * share;
        a.m2 += b.m2 + step * step * a.n * share;
        a.n = n;
    }
    __device__ void shift(A &, i64) const {}
    __device__ void put(i64 r, const A &a) const {
        double left = a.n - correction;
        out[r] = down<T>((C)(left > 0 ? a.m2 / left : (double)__uint_as_float(0x7fc00000u)));
    }
};
#endif

// Whether any element is true (any), is false (the complement of all).
template <bool WANTED> struct Flag {
    typedef u32 A;
    u8 *out;
    __device__ A start(const T *first) const { return 0; }
    template <int N, int V> __device__ void take(A &a, const T *w, u32 at, u32 step, u32 gap) const {
#pragma unroll
        for (int k = 0; k < N; k++) a |= (up(w[k]) != 0) == WANTED;
    }
    __device__ void join(A &a, const A &b) const { a |= b; }
    __device__ void shift(A &, i64) const {}
    __device__ void put(i64 r, const A &a) const {
        out[r] = (a != 0) == WANTED;
    }
};

// ---- joining
template <class A> __device__ __forceinline__ A from_lane(const A &a, int off) {
    union {
        A a;
        u32 words[sizeof(A) / 4];
    } it;
    it.a = a;
#pragma unroll
    for (int k = 0; k < (int)(sizeof(A) / 4); k++) it.words[k] = __shfl_down_sync(0xffffffffu, it.words[k], off);
    return it.a;
}
// Among `lanes` neighbours (1..32); the first gets the result.
template <class Op, class A> __device__ __forceinline__ void join_lanes(const Op &op, A &a, int lanes) {
    for (int off = lanes / 2; off; off /= 2) {
        A other = from_lane(a, off);
        op.join(a, other);
    }
}
// Among the 256 threads of the block; thread 0 gets the result.
template <class Op, class A> __device__ __forceinline__ void join_block(const Op &op, A &a, A *warps) {
    join_lanes(op, a, 32);
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = a;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int k = 1; k < 8; k++) op.join(a, warps[k]);
}
// Whether this block is the last of `pieces` to come here; what the others wrote before is seen after.
__device__ __forceinline__ bool is_last(u32 *counter, int pieces) {
    __shared__ int last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(counter, 1u) == (u32)pieces - 1;
        if (last) *counter = 0;
    }
    __syncthreads();
    __threadfence();
    return last;
}

// N times V elements, `step` apart: V neighbours at once, or V elements `gap` apart, the first `some` of them (then the
// first again).
template <int N, int V>
__device__ __forceinline__ void load(vec<T, V> *held, const T *from, i64 step, bool vector, u32 gap, int some) {
    if (vector) {
#pragma unroll
        for (int q = 0; q < N; q++, from += step) held[q] = *(const vec<T, V> *)from;
    } else {
#pragma unroll
        for (int q = 0; q < N; q++, from += step)
#pragma unroll
            for (int k = 0; k < V; k++) held[q].v[k] = from[k < some ? k * gap : 0];
    }
}

// ---- rows: x is [outer, n]
template <class Op>
__device__ __forceinline__ void reduce_rows(const Op &op, const T *x, i64 outer, i64 n, const Split &split) {
    typedef typename Op::A A;
    __shared__ A warps[8];
    u32 lanes = split.lanes, lane = threadIdx.x % lanes, piece = 0;
    i64 row = blockIdx.x;
    if (split.pieces > 1) {
        piece = blockIdx.x % split.pieces;
        row = blockIdx.x / split.pieces;
    } else {
        row = row * (256 / lanes) + threadIdx.x / lanes;
    }
    bool inside = row < outer;
    i64 first = piece * split.length;
    const T *p = inside ? x + row * n + first : x;
    A a = op.start(p);
    u32 at = split.vector ? lane * VECTOR : lane, step = lanes * VECTOR, gap = split.vector ? 1 : lanes;
    u32 end = inside ? (u32)(n - first < split.length ? n - first : split.length) : 0; // no piece has 2^31 elements
    for (; UNROLL > 1 && at + (UNROLL - 1) * step + (VECTOR - 1) * gap < end; at += UNROLL * step) {
        vec<T, VECTOR> held[UNROLL];
        T w[UNROLL * VECTOR];
        load<UNROLL, VECTOR>(held, p + at, step, split.vector, gap, VECTOR);
#pragma unroll
        for (int k = 0; k < UNROLL * VECTOR; k++) w[k] = held[k / VECTOR].v[k % VECTOR];
        op.template take<UNROLL * VECTOR, VECTOR>(a, w, at, step, gap);
    }
#pragma unroll 1
    for (; at + (VECTOR - 1) * gap < end; at += step) {
        vec<T, VECTOR> held;
        load<1, VECTOR>(&held, p + at, step, split.vector, gap, VECTOR);
        op.template take<VECTOR, VECTOR>(a, held.v, at, step, gap);
    }
#pragma unroll 1
    for (; at < end; at += gap) op.template take<1, 1>(a, p + at, at, step, gap);
    op.shift(a, first);
    if (lanes <= 32) {
        join_lanes(op, a, lanes);
        if (inside && lane == 0) op.put(row, a);
        return;
    }
    join_block(op, a, warps);
    if (split.pieces > 1) {
        A *part = (A *)split.part + row * split.pieces;
        if (threadIdx.x == 0) part[piece] = a;
        if (!is_last(split.counters + row, split.pieces)) return;
        a = op.start(x + row * n);
#pragma unroll 4
        for (int k = threadIdx.x; k < split.pieces; k += 256) op.join(a, part[k]);
        join_block(op, a, warps);
    }
    if (threadIdx.x == 0) op.put(row, a);
}

// ---- cols: threads side by side along inner, COLUMNS columns each; `lines` of them down n, the rest of the block further
// on in outer
template <class Op, class A>
__device__ __forceinline__ void join_lines(const Op &op, A &a, A *shared, u32 lanes, u32 lines) {
    u32 line = threadIdx.x / lanes % lines;
    if (lines == 1) return;
    __syncthreads();
    shared[threadIdx.x] = a;
    for (u32 h = lines / 2; h; h /= 2) {
        __syncthreads();
        if (line < h) {
            op.join(a, shared[threadIdx.x + h * lanes]);
            shared[threadIdx.x] = a;
        }
    }
}
template <class Op>
__device__ __forceinline__ void reduce_cols(const Op &op, const T *x, i64 outer, i64 n, i64 inner, const Split &split) {
    typedef typename Op::A A;
    __shared__ A shared[256];
    u32 lanes = split.lanes, lines = split.lines, lane = threadIdx.x % lanes, line = threadIdx.x / lanes % lines;
    u32 group = blockIdx.x / split.tiles, tile = blockIdx.x - group * split.tiles, piece = group % split.pieces;
    group /= split.pieces;
    i64 o = (i64)group * (256 / (lanes * lines)) + threadIdx.x / (lanes * lines);
    i64 c = (i64)tile * lanes * COLUMNS + (split.vector ? lane * COLUMNS : lane);
    u32 gap = split.vector ? 1 : lanes;
    int some = 0; // columns of this thread
#pragma unroll
    for (int k = 0; k < COLUMNS; k++) some += o < outer && c + k * gap < inner;
    i64 first = piece * split.length, step = lines * inner;
    const T *p = some ? x + o * n * inner + c : x, *from = p + (some ? first * inner : 0);
    u32 at = line, end = some ? (u32)(n - first < split.length ? n - first : split.length) : 0;
    A a[COLUMNS];
#pragma unroll
    for (int k = 0; k < COLUMNS; k++) a[k] = op.start(from + (k < some ? k * gap : 0));
    from += line * inner;
    for (; at + (DOWN - 1) * lines < end; at += DOWN * lines, from += DOWN * step) {
        vec<T, COLUMNS> held[DOWN];
        load<DOWN, COLUMNS>(held, from, step, split.vector, gap, some);
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) {
            T w[DOWN];
#pragma unroll
            for (int q = 0; q < DOWN; q++) w[q] = held[q].v[k];
            op.template take<DOWN, 1>(a[k], w, at, lines, 0);
        }
    }
#pragma unroll 1
    for (; at < end; at += lines, from += step) {
        vec<T, COLUMNS> held;
        load<1, COLUMNS>(&held, from, step, split.vector, gap, some);
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) op.template take<1, 1>(a[k], held.v + k, at, lines, 0);
    }
#pragma unroll
    for (int k = 0; k < COLUMNS; k++) op.shift(a[k], first);
    A *part = (A *)split.part + o * split.pieces * inner + c;
    for (bool whole = split.pieces == 1;; whole = true) {
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) {
            join_lines(op, a[k], shared, lanes, lines);
            if (line || k >= some) continue;
            if (whole) op.put(o * inner + c + k * gap, a[k]);
            else part[piece * inner + k * gap] = a[k];
        }
        if (whole || !is_last(split.counters + o * split.tiles + tile, split.pieces)) return;
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) {
            a[k] = op.start(p + (k < some ? k * gap : 0));
            if (k < some)
                for (int q = line; q < split.pieces; q += lines) op.join(a[k], part[q * inner + k * gap]);
        }
    }
}

// ---- kernels: <op>_rows and <op>_cols
#define KERNELS(name, op, ...) \
    KERNEL(name##_rows, 256, (__VA_ARGS__)) { reduce_rows(op, x, outer, n, split); } \
    KERNEL(name##_cols, 256, (__VA_ARGS__)) { reduce_cols(op, x, outer, n, inner, split); }
#define VALUES(name, op) KERNELS(name, op, T *out, const T *x, i64 outer, i64 n, i64 inner, Split split)
#define FLAGS(name, op) KERNELS(name, op, u8 *out, const T *x, i64 outer, i64 n, i64 inner, Split split)
#define PLACES(name, op) KERNELS(name, op, void *at, const T *x, i64 outer, i64 n, i64 inner, i32 at_dtype, Split split)
#define BOTH(name, op) \
    KERNELS(name, op, T *out, void *at, const T *x, i64 outer, i64 n, i64 inner, i32 at_dtype, Split split)

#if !IS_BOOL
VALUES(sum, (Sum<false>{out, n}))
VALUES(mean, (Sum<true>{out, n}))
VALUES(prod, (Prod{out}))
VALUES(max, (Extreme<false>{out}))
VALUES(min, (Extreme<true>{out}))
PLACES(argmax, (ExtremeAt<false>{nullptr, at, at_dtype}))
PLACES(argmin, (ExtremeAt<true>{nullptr, at, at_dtype}))
BOTH(max_with_indices, (ExtremeAt<false>{out, at, at_dtype}))
BOTH(min_with_indices, (ExtremeAt<true>{out, at, at_dtype}))
#endif
#if IS_FLOAT
KERNELS(var, (Var{out, correction}), T *out, const T *x, i64 outer, i64 n, i64 inner, double correction, Split split)
#endif
FLAGS(any, (Flag<true>{out}))
FLAGS(all, (Flag<false>{out}))
