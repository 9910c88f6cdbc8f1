// Loops of the elementwise kernels. An op is a function object f(at, x, y, ...) from one element of each input to one of the
// output; `at` is the flat position in the output.
//   flat     inputs that are contiguous or one value: every thread moves a few 16-byte words
//   strided  any other inputs: every thread makes a few short rows of the output, every block a tile; an input that runs down
//            the columns (a transposed one) goes through shared memory
#pragma once
#include "common.cuh"

#define INLINE __device__ __forceinline__
// Long functions are called, not copied into every loop: compiling takes a fraction of the time.
#define CALLED static __device__ __attribute__((noinline))

#define ELT_THREADS 256

template <class... S> __device__ constexpr int widest() {
    int most = 0;
    ((most = (int)sizeof(S) > most ? (int)sizeof(S) : most), ...);
    return most;
}
// Elements that a flat kernel moves at once: no operand by more than 16 bytes.
template <class... S> __device__ constexpr int word_of() { return 16 / widest<S...>() < 8 ? 16 / widest<S...>() : 8; }
// Words of every input that a thread of a flat kernel has under way.
template <class... S> __device__ constexpr int words_of() { return widest<S...>() > 2 ? 2 : 1; }

// ---- results
// An op gives bf16 as float: two are rounded by one instruction. That would not keep the sign and the bits of a NaN.
template <class O> struct Result {
    static INLINE O of(typename compute<O>::type v) { return down<O>(v); }
};
template <> struct Result<bf16> {
    static INLINE float of(float v) { return v; }
};
template <class O> INLINE void store(O &to, O v) { to = v; }
INLINE void store(bf16 &to, float v) { to = down<bf16>(v); }
template <class O, int N> INLINE void store(vec<O, N> &to, const O (&v)[N]) {
#pragma unroll
    for (int k = 0; k < N; k++) to.v[k] = v[k];
}
template <int N> INLINE void store(vec<bf16, N> &to, const float (&v)[N]) {
#if !defined(BURN_EMULATED) && __CUDA_ARCH__ >= 800
    float sum = v[0];
#pragma unroll
    for (int k = 1; k < N; k++) sum += v[k];
    if (sum == sum) {
        vec<u32, N / 2> pairs;
#pragma unroll
        for (int k = 0; k < N / 2; k++)
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pairs.v[k]) : "f"(v[2 * k + 1]), "f"(v[2 * k]));
        to = *(vec<bf16, N> *)&pairs;
        return;
    }
#endif
#pragma unroll
    for (int k = 0; k < N; k++) to.v[k] = down<bf16>(v[k]);
}

// ---- flat
template <class S> INLINE S only(const In<S> &x) { return x.p ? *x.p : x.v; }
template <int N, class S> INLINE bool aligned(const In<S> &x) { return !x.step || ((u64)x.p & (sizeof(S) * N - 1)) == 0; }

template <int U, int N, class S> struct Words { vec<S, N> w[U]; };
template <int U, int N, class S> INLINE Words<U, N, S> read_words(const In<S> &x, i64 first) {
    Words<U, N, S> r;
    if (x.step) {
#pragma unroll
        for (int u = 0; u < U; u++) r.w[u] = *(const vec<S, N> *)(x.p + first + u * (ELT_THREADS * N));
    } else {
        S one = only(x);
#pragma unroll
        for (int u = 0; u < U; u++)
#pragma unroll
            for (int k = 0; k < N; k++) r.w[u].v[k] = one;
    }
    return r;
}
template <int U, int N, class O, class F, class... S>
INLINE void write_words(O *out, i64 first, const F &f, const Words<U, N, S> &...x) {
#pragma unroll
    for (int u = 0; u < U; u++) {
        i64 at = first + u * (ELT_THREADS * N);
        decltype(f(at, up(x.w[u].v[0])...)) r[N];
#pragma unroll
        for (int k = 0; k < N; k++) r[k] = f(at + k, up(x.w[u].v[k])...);
        vec<O, N> word;
        store(word, r);
        *(vec<O, N> *)(out + at) = word;
    }
}
template <class O, class F, class... S> INLINE void flat(O *out, i64 n, const F &f, const In<S> &...x) {
    constexpr int N = word_of<O, S...>(), U = words_of<O, S...>();
    i64 first = (i64)blockIdx.x * (ELT_THREADS * U * N), end = first + ELT_THREADS * U * N;
    if (end <= n && (aligned<N>(x) && ...)) {
        first += threadIdx.x * N;
        write_words<U, N>(out, first, f, read_words<U, N>(x, first)...);
        return;
    }
    if (end > n) end = n;
#pragma unroll 1
    for (i64 i = first + threadIdx.x; i < end; i += ELT_THREADS) store(out[i], f(i, up(x.step ? x.p[i] : only(x))...));
}

// ---- strided
// How an operand is read: one number of the host, one element a row, element by element, words along its rows, words of a
// tile in shared memory into which its columns were read.
enum { READ_NUMBER, READ_ONE, READ_EACH, READ_WORDS, READ_TURNED };
// An input: its steps down the rows and across the columns, along the axes outside the tiles, and to a thread's next row.
template <class S> struct Strided {
    const S *p;
    i64 down, across, step[6], next;
    i32 read, room; // room: bytes of shared memory before its tile
    S v;
};
// The output, contiguous but for the order of its axes, cut into tiles. 2^lanes threads stand side by side, the block's other
// threads below them. A thread's columns are 2^across_gap apart; it takes `each` rows, which are `gap` apart.
struct Tiles {
    i64 rows, cols, down, step[6], next;
    u32 shape[6];
    i32 ndim, lanes, each, gap, across_gap, words, turned; // words: the output is written by words
    u32 blocks_down, blocks_across;
};
// A parameter that stays in constant memory; the loop over axes would have it copied.
#define GIVEN const __grid_constant__

#define TURNED_LANES 16
#define TURNED_ROWS 64
// Place of an element in a tile: words change places within their row so that neither rows nor columns wait for one bank.
template <int N> INLINE int place(int row, int col) {
    return row * (TURNED_LANES * N) + ((col / N) ^ (row / 4 & 7)) * N + col % N;
}
// p: the tile's corner; neighbours lie down the columns. Beyond the last column that column is repeated.
template <int N, class S> CALLED void read_tile(i32 read, i32 room, const S *p, i64 across, i64 rows, i64 cols) {
    DYNAMIC_SHARED(char, tiles);
    S *tile = (S *)(tiles + room);
    if (read != READ_TURNED) return;
    if (rows >= TURNED_ROWS && cols >= TURNED_LANES * N && across % N == 0 && ((u64)p & (sizeof(S) * N - 1)) == 0) {
        constexpr int HIGH = TURNED_ROWS / (8 * N);
        int row = threadIdx.x % 8 * N, col = threadIdx.x / 8;
        vec<S, N> held[4];
#pragma unroll
        for (int q = 0; q < 4; q++)
            held[q] = *(const vec<S, N> *)(p + row + q % HIGH * (8 * N) + (col + q / HIGH * 32) * across);
#pragma unroll
        for (int q = 0; q < 4; q++)
#pragma unroll
            for (int k = 0; k < N; k++) tile[place<N>(row + q % HIGH * (8 * N) + k, col + q / HIGH * 32)] = held[q].v[k];
        return;
    }
    int row = threadIdx.x % TURNED_ROWS;
#pragma unroll 4
    for (int col = threadIdx.x / TURNED_ROWS; col < TURNED_LANES * N; col += ELT_THREADS / TURNED_ROWS)
        if (row < rows) tile[place<N>(row, col)] = p[row + (col < cols ? col : cols - 1) * across];
}

// Where a thread reads: in the tile if there is one.
template <int N, class S> CALLED const S *tile_row(i32 read, i32 room, const S *at, int row, int col) {
    DYNAMIC_SHARED(char, tiles);
    return read == READ_TURNED ? (const S *)(tiles + room) + place<N>(row, col) : at;
}

template <class S> struct Cursor {
    const Strided<S> &x;
    const S *at;
};
// A thread's column b. Where fewer are left the last one of the row is read and computed again, `limit` further than the first.
INLINE int column(int b, const Tiles &t, int limit) {
    int col = b << t.across_gap;
    return col < limit ? col : limit;
}
template <int N, class S> INLINE vec<S, N> read_row(const Cursor<S> &c, const Tiles &t, int limit) {
    vec<S, N> r;
    if (c.x.read >= READ_WORDS) return *(const vec<S, N> *)c.at;
    if (c.x.read == READ_EACH) {
#pragma unroll
        for (int b = 0; b < N; b++) r.v[b] = c.at[column(b, t, limit) * c.x.across];
        return r;
    }
    S one = c.x.read == READ_ONE ? *c.at : c.x.v;
#pragma unroll
    for (int b = 0; b < N; b++) r.v[b] = one;
    return r;
}
template <int N, class O, class F, class... S>
INLINE void write_row(O *out, i64 at, const Tiles &t, int limit, const F &f, const vec<S, N> &...x) {
    decltype(f(at, up(x.v[0])...)) r[N];
#pragma unroll
    for (int b = 0; b < N; b++) r[b] = f(at + column(b, t, limit), up(x.v[b])...);
    if (t.words) {
        vec<O, N> word;
        store(word, r);
        *(vec<O, N> *)(out + at) = word;
        return;
    }
#pragma unroll
    for (int b = 0; b < N; b++)
        if (b << t.across_gap <= limit) store(out[at + (b << t.across_gap)], r[b]);
}
template <int N, class O, class F, class... S> INLINE void walk(O *out, const Tiles &t, const F &f, Cursor<S>... c) {
    u32 block = blockIdx.x, across = block % t.blocks_across;
    block /= t.blocks_across;
    u32 down = block % t.blocks_down;
    block /= t.blocks_down;
    i64 row = (i64)down * ((ELT_THREADS >> t.lanes) * t.each), first = (i64)across * (N << t.lanes), at = row * t.down + first;
    ((c.at += row * c.x.down + first * c.x.across), ...);
#pragma unroll 1
    for (int d = t.ndim - 1; d >= 0; d--) {
        u32 index = block % t.shape[d];
        block /= t.shape[d];
        at += index * t.step[d];
        ((c.at += index * c.x.step[d]), ...);
    }
    if (t.turned) {
        (read_tile<N>(c.x.read, c.x.room, c.at, c.x.across, t.rows - row, t.cols - first), ...);
        __syncthreads();
    }
    // A thread's rows are neighbours where there are tiles, as words change places alike in four rows; else lines apart.
    int lane = threadIdx.x & ((1 << t.lanes) - 1), line = threadIdx.x >> t.lanes;
    if (t.turned) line *= t.each;
    if (!t.across_gap) lane *= N;
    row += line;
    first += lane;
    if (row >= t.rows || first >= t.cols) return;
    at += line * t.down + lane;
    ((c.at += line * c.x.down + lane * c.x.across), ...);
    if (t.turned) ((c.at = tile_row<N>(c.x.read, c.x.room, c.at, line, lane)), ...);
    int limit = (int)(t.cols - 1 - first < (N << t.across_gap) ? t.cols - 1 - first : N << t.across_gap);
#pragma unroll 1
    for (int a = 0; a < t.each; a++) {
        if (row >= t.rows) break;
        write_row<N>(out, at, t, limit, f, read_row<N>(c, t, limit)...);
        row += t.gap;
        at += t.next;
        ((c.at += c.x.next), ...);
    }
}
template <class O, class F, class... S> INLINE void strided(O *out, const Tiles &t, const F &f, const Strided<S> &...x) {
    walk<word_of<O, S...>()>(out, t, f, Cursor<S>{x, x.p}...);
}

// ---- makers: the two kernels of an op. The expression sees x, y, z in the compute type.
#if IS_FLOAT
#define IF_FLOAT(...) __VA_ARGS__
#define IF_NUMERIC(...) __VA_ARGS__
#else
#define IF_FLOAT(...)
#endif
#if IS_INT
#define IF_INT(...) __VA_ARGS__
#define IF_NUMERIC(...) __VA_ARGS__
#else
#define IF_INT(...)
#endif
#if IS_BOOL
#define IF_NUMERIC(...)
#define IF_BOOL(...) __VA_ARGS__
#else
#define IF_BOOL(...)
#endif
#define IF_ANY(...) __VA_ARGS__

#define KERNELS1(op, O, X) \
    KERNEL(op##_flat, ELT_THREADS, (O *out, In<X> x, i64 n)) { flat(out, n, of_##op(), x); } \
    KERNEL(op##_strided, ELT_THREADS, (O *out, GIVEN Strided<X> x, GIVEN Tiles tiles)) { strided(out, tiles, of_##op(), x); }
#define KERNELS2(op, O, X, Y) \
    KERNEL(op##_flat, ELT_THREADS, (O *out, In<X> x, In<Y> y, i64 n)) { flat(out, n, of_##op(), x, y); } \
    KERNEL(op##_strided, ELT_THREADS, (O *out, GIVEN Strided<X> x, GIVEN Strided<Y> y, GIVEN Tiles tiles)) { \
        strided(out, tiles, of_##op(), x, y); \
    }
#define KERNELS3(op, O, X, Y, Z) \
    KERNEL(op##_flat, ELT_THREADS, (O *out, In<X> x, In<Y> y, In<Z> z, i64 n)) { flat(out, n, of_##op(), x, y, z); } \
    KERNEL(op##_strided, ELT_THREADS, (O *out, GIVEN Strided<X> x, GIVEN Strided<Y> y, GIVEN Strided<Z> z, GIVEN Tiles tiles)) { \
        strided(out, tiles, of_##op(), x, y, z); \
    }
#define MAKE1(op, O, ...) \
    struct of_##op { INLINE auto operator()(i64, C x) const { return Result<O>::of(__VA_ARGS__); } }; \
    KERNELS1(op, O, T)
#define MAKE2(op, O, ...) \
    struct of_##op { INLINE auto operator()(i64, C x, C y) const { return Result<O>::of(__VA_ARGS__); } }; \
    KERNELS2(op, O, T, T)
#define MAKE3(op, O, ...) \
    struct of_##op { INLINE auto operator()(i64, C x, C y, C z) const { return Result<O>::of(__VA_ARGS__); } }; \
    KERNELS3(op, O, T, T, T)
#define UNARY(op, kinds, ...) IF_##kinds(MAKE1(op, T, __VA_ARGS__))
#define BINARY(op, kinds, ...) IF_##kinds(MAKE2(op, T, __VA_ARGS__))
#define TERNARY(op, kinds, ...) IF_##kinds(MAKE3(op, T, __VA_ARGS__))
// A gradient made from the incoming one, g: 0 where g is, whatever the expression gives there.
#define GATED(g, ...) (g == 0 ? C(0) : C(__VA_ARGS__))
#define GRADIENT(op, kinds, ...) IF_##kinds(MAKE2(op, T, GATED(y, __VA_ARGS__)))
#define TEST(op, kinds, ...) IF_##kinds(MAKE1(op, u8, __VA_ARGS__))
#define COMPARE(op, kinds, ...) IF_##kinds(MAKE2(op, u8, __VA_ARGS__))
// An op with numbers of its own, k[0] to k[3] in the expression, of one input, or its gradient.
#if IS_FLOAT
struct Numbers { C k[4]; };
#endif
#define MAKE_NUMBERED1(op, ...) \
    struct of_##op : Numbers { INLINE auto operator()(i64, C x) const { return Result<T>::of(__VA_ARGS__); } }; \
    KERNEL(op##_flat, ELT_THREADS, (T *out, In<T> x, i64 n, Numbers numbers)) { flat(out, n, of_##op{numbers}, x); } \
    KERNEL(op##_strided, ELT_THREADS, (T *out, GIVEN Strided<T> x, GIVEN Tiles tiles, Numbers numbers)) { \
        strided(out, tiles, of_##op{numbers}, x); \
    }
#define KERNELS_NUMBERED2(op) \
    KERNEL(op##_flat, ELT_THREADS, (T *out, In<T> x, In<T> y, i64 n, Numbers numbers)) { flat(out, n, of_##op{numbers}, x, y); } \
    KERNEL(op##_strided, ELT_THREADS, \
           (T *out, GIVEN Strided<T> x, GIVEN Strided<T> y, GIVEN Tiles tiles, Numbers numbers)) { \
        strided(out, tiles, of_##op{numbers}, x, y); \
    }
#define MAKE_NUMBERED2(op, ...) \
    struct of_##op : Numbers { INLINE auto operator()(i64, C x, C y) const { return Result<T>::of(__VA_ARGS__); } }; \
    KERNELS_NUMBERED2(op)
#define MAKE_NUMBERED_GRADIENT(op, ...) \
    struct of_##op : Numbers { INLINE auto operator()(i64, C x, C y) const { return Result<T>::of(GATED(y, __VA_ARGS__)); } }; \
    KERNELS_NUMBERED2(op)
#define MAKE_NUMBERED_GRADIENT2(op, ...) \
    struct of_##op : Numbers { \
        INLINE auto operator()(i64, C x, C y, C z) const { return Result<T>::of(GATED(z, __VA_ARGS__)); } \
    }; \
    KERNEL(op##_flat, ELT_THREADS, (T *out, In<T> x, In<T> y, In<T> z, i64 n, Numbers numbers)) { \
        flat(out, n, of_##op{numbers}, x, y, z); \
    } \
    KERNEL(op##_strided, ELT_THREADS, (T *out, GIVEN Strided<T> x, GIVEN Strided<T> y, GIVEN Strided<T> z, GIVEN Tiles tiles, \
                                       Numbers numbers)) { \
        strided(out, tiles, of_##op{numbers}, x, y, z); \
    }
#define NUMBERED(op, kinds, ...) IF_##kinds(MAKE_NUMBERED1(op, __VA_ARGS__))
#define NUMBERED_GRADIENT(op, kinds, ...) IF_##kinds(MAKE_NUMBERED_GRADIENT(op, __VA_ARGS__))
#define NUMBERED2(op, kinds, ...) IF_##kinds(MAKE_NUMBERED2(op, __VA_ARGS__))
#define NUMBERED_GRADIENT2(op, kinds, ...) IF_##kinds(MAKE_NUMBERED_GRADIENT2(op, __VA_ARGS__))
