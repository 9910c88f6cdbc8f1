// softmax, log_softmax and quiet_softmax over the middle axis of [outer, n, inner], forward and backward.
//   row_*    inner 1: a group of threads keeps a row in registers, so that it is read once and written once
//   long     inner 1, rows too long for that: read twice
//   columns  other inner: neighbouring threads take neighbouring columns, read twice; wide: words of columns
// Nothing is special about infinities: a row with NaN or +inf, or of -inf only, meets inf - inf: NaN.
#include "common.cuh"

OP(softmax, FLOAT)
OP(log_softmax, FLOAT)
OP(quiet_softmax, FLOAT)
OP(softmax_bwd, FLOAT)
OP(log_softmax_bwd, FLOAT)

#if IS_FLOAT
#define INLINE __device__ __forceinline__
#if DTYPE == DT_F64
#define FN(fn) fn
#else
#define FN(fn) fn##f
#endif
INLINE C m_exp(C x) { return FN(exp)(x); }
INLINE C m_log(C x) { return FN(log)(x); }
INLINE C larger(C a, C b) { return a > b ? a : b; } // a NaN may be dropped: the sum finds it
#define LEAST C(-INFINITY)
enum { PLAIN, LOG, QUIET }; // quiet: as if there was one more element, 0
const int WORD = 16 / (int)sizeof(T); // elements

struct Sum { static INLINE C of(C a, C b) { return a + b; } static INLINE C none() { return 0; } };
struct Max { static INLINE C of(C a, C b) { return larger(a, b); } static INLINE C none() { return LEAST; } };

// A group of threads has a row: `lanes` neighbours, a power of two, or more than 32, a multiple of that, which are the block.
INLINE i64 row_of(int lanes) { return lanes > 32 ? blockIdx.x : ((i64)blockIdx.x * blockDim.x + threadIdx.x) / lanes; }
INLINE int lane_of(int lanes) { return lanes > 32 ? threadIdx.x : threadIdx.x & (lanes - 1); }
// `room` holds 32 values.
template <class Op> INLINE C over_group(C v, int lanes, C *room) {
    for (int o = lanes < 32 ? lanes / 2 : 16; o > 0; o /= 2) v = Op::of(v, __shfl_xor_sync(0xffffffffu, v, o));
    if (lanes <= 32) return v;
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x % 32 < lanes / 32 ? room[threadIdx.x % 32] : Op::none();
    for (int o = 16; o > 0; o /= 2) v = Op::of(v, __shfl_xor_sync(0xffffffffu, v, o));
    return v;
}

// ---- rows in registers
// K words of a row are a thread's; where rows are not made of whole aligned words, as many single elements.
template <int K> struct Row { T v[K * WORD]; };
// Place of the thread's element k in its row: words side by side, or elements side by side.
INLINE int place(int k, int lane, int lanes, bool words) {
    return words ? (k / WORD * lanes + lane) * WORD + k % WORD : k * lanes + lane;
}
template <int K> INLINE Row<K> read_row(const T *x, int n, int lane, int lanes, bool words, T beyond) {
    Row<K> r;
#pragma unroll
    for (int k = 0; k < K * WORD; k++) r.v[k] = beyond;
    if (words) {
#pragma unroll
        for (int k = 0; k < K; k++) {
            int at = (k * lanes + lane) * WORD;
            if (at < n) *(vec<T, WORD> *)(r.v + k * WORD) = *(const vec<T, WORD> *)(x + at);
        }
    } else {
#pragma unroll
        for (int k = 0; k < K * WORD; k++)
            if (k * lanes + lane < n) r.v[k] = x[k * lanes + lane];
    }
    return r;
}
template <int K> INLINE void write_row(T *out, const Row<K> &r, int n, int lane, int lanes, bool words) {
    if (words) {
#pragma unroll
        for (int k = 0; k < K; k++) {
            int at = (k * lanes + lane) * WORD;
            if (at < n) *(vec<T, WORD> *)(out + at) = *(const vec<T, WORD> *)(r.v + k * WORD);
        }
    } else {
#pragma unroll
        for (int k = 0; k < K * WORD; k++)
            if (k * lanes + lane < n) out[k * lanes + lane] = r.v[k];
    }
}
INLINE bool whole_words(const T *a, const T *b, const T *c, i64 n) {
    return (((u64)a | (u64)b | (u64)c) & 15) == 0 && n % WORD == 0;
}

template <int K, int HOW> INLINE void forward_row(T *out, const T *x, i64 outer, int n, int lanes) {
    __shared__ C room[2][32];
    i64 row = row_of(lanes);
    int lane = lane_of(lanes);
    bool words = whole_words(x, out, out, n), live = row < outer;
    x += row * n;
    Row<K> r = read_row<K>(x, live ? n : 0, lane, lanes, words, down<T>(LEAST));
    C most = LEAST, sum = 0, e[K * WORD];
#pragma unroll
    for (int k = 0; k < K * WORD; k++) most = larger(most, up(r.v[k]));
    most = over_group<Max>(most, lanes, room[0]);
    if (HOW == QUIET) most = larger(most, C(0));
#pragma unroll
    for (int k = 0; k < K * WORD; k++) {
        bool inside = place(k, lane, lanes, words) < n; // beyond the row -inf - most would be NaN where most is -inf
        e[k] = inside ? m_exp(up(r.v[k]) - most) : C(0);
        sum += e[k];
    }
    sum = over_group<Sum>(sum, lanes, room[1]);
    if (HOW == QUIET) sum += m_exp(-most);
    C scale = HOW == LOG ? m_log(sum) : C(1) / sum;
#pragma unroll
    for (int k = 0; k < K * WORD; k++) r.v[k] = down<T>(HOW == LOG ? up(r.v[k]) - most - scale : e[k] * scale);
    write_row<K>(out + row * n, r, live ? n : 0, lane, lanes, words);
}
// From the output y: (g - sum g y) y; for the logarithm g - e^y sum g. A row of which all g are 0 has no gradient
// whatever it holds, NaN too.
INLINE C times(C g, C factor) { return g == 0 ? C(0) : g * factor; }
template <bool AS_LOG> INLINE C term(C y, C g) { return AS_LOG ? g : times(g, y); }
template <bool AS_LOG> INLINE C slope(C y, C g, C sum) {
    if (AS_LOG) return g == 0 && sum == 0 ? C(0) : g - m_exp(y) * sum;
    return times(g - sum, y);
}
template <int K, bool AS_LOG> INLINE void backward_row(T *out, const T *y, const T *g, i64 outer, int n, int lanes) {
    __shared__ C room[32];
    i64 row = row_of(lanes);
    int lane = lane_of(lanes), size = row < outer ? n : 0;
    bool words = whole_words(y, g, out, n);
    Row<K> a = read_row<K>(y + row * n, size, lane, lanes, words, down<T>(C(0)));
    Row<K> b = read_row<K>(g + row * n, size, lane, lanes, words, down<T>(C(0)));
    C sum = 0;
#pragma unroll
    for (int k = 0; k < K * WORD; k++) sum += term<AS_LOG>(up(a.v[k]), up(b.v[k]));
    sum = over_group<Sum>(sum, lanes, room);
#pragma unroll
    for (int k = 0; k < K * WORD; k++) a.v[k] = down<T>(slope<AS_LOG>(up(a.v[k]), up(b.v[k]), sum));
    write_row<K>(out + row * n, a, size, lane, lanes, words);
}

// ---- a largest value so far and the sum of exponentials below it
struct Running { C most, sum; };
// What is subtracted: nothing while all are -inf, as -inf - -inf is no number.
INLINE C base(C most) { return most == LEAST ? C(0) : most; }
template <int N> INLINE void take(Running &r, const C (&v)[N]) {
    C most = r.most;
#pragma unroll
    for (int k = 0; k < N; k++) most = larger(most, v[k]);
    C at = base(most), sum = r.sum * m_exp(r.most - at);
#pragma unroll
    for (int k = 0; k < N; k++) sum += m_exp(v[k] - at);
    r.most = most;
    r.sum = sum;
}
INLINE void take_0(Running &r) {
    C none[1] = {0};
    take(r, none);
}
template <bool AS_LOG> INLINE C result(C x, Running r, C scale) {
    return AS_LOG ? x - r.most - scale : m_exp(x - r.most) * scale;
}

// ---- long rows: a block each
template <class F> INLINE void by_words(i64 n, bool words, const F &f) {
    if (words) {
        for (i64 i = (i64)threadIdx.x * WORD; i < n; i += (i64)blockDim.x * WORD) f(i, true);
    } else {
        for (i64 i = threadIdx.x; i < n; i += blockDim.x) f(i, false);
    }
}
template <int HOW> INLINE void forward_long(T *out, const T *x, i64 n) {
    __shared__ C room[2][32];
    bool words = whole_words(x, out, out, n);
    x += blockIdx.x * n;
    out += blockIdx.x * n;
    Running r = {LEAST, 0};
    by_words(n, words, [&](i64 i, bool word) {
        C v[WORD];
        vec<T, WORD> w;
        if (word) w = *(const vec<T, WORD> *)(x + i);
        else w.v[0] = x[i];
#pragma unroll
        for (int k = 0; k < WORD; k++) v[k] = word || k == 0 ? up(w.v[k]) : LEAST;
        take(r, v);
    });
    C most = over_group<Max>(r.most, blockDim.x, room[0]);
    r.sum = over_group<Sum>(r.sum * m_exp(r.most - base(most)), blockDim.x, room[1]);
    r.most = most;
    if (HOW == QUIET) take_0(r);
    C scale = HOW == LOG ? m_log(r.sum) : C(1) / r.sum;
    by_words(n, words, [&](i64 i, bool word) {
        if (!word) {
            out[i] = down<T>(result<HOW == LOG>(up(x[i]), r, scale));
            return;
        }
        vec<T, WORD> w = *(const vec<T, WORD> *)(x + i);
#pragma unroll
        for (int k = 0; k < WORD; k++) w.v[k] = down<T>(result<HOW == LOG>(up(w.v[k]), r, scale));
        *(vec<T, WORD> *)(out + i) = w;
    });
}
template <bool AS_LOG> INLINE void backward_long(T *out, const T *y, const T *g, i64 n) {
    __shared__ C room[32];
    bool words = whole_words(y, g, out, n);
    y += blockIdx.x * n;
    g += blockIdx.x * n;
    out += blockIdx.x * n;
    C sum = 0;
    by_words(n, words, [&](i64 i, bool word) {
        if (!word) {
            sum += term<AS_LOG>(up(y[i]), up(g[i]));
            return;
        }
        vec<T, WORD> a = *(const vec<T, WORD> *)(y + i), b = *(const vec<T, WORD> *)(g + i);
#pragma unroll
        for (int k = 0; k < WORD; k++) sum += term<AS_LOG>(up(a.v[k]), up(b.v[k]));
    });
    sum = over_group<Sum>(sum, blockDim.x, room);
    by_words(n, words, [&](i64 i, bool word) {
        if (!word) {
            out[i] = down<T>(slope<AS_LOG>(up(y[i]), up(g[i]), sum));
            return;
        }
        vec<T, WORD> a = *(const vec<T, WORD> *)(y + i), b = *(const vec<T, WORD> *)(g + i);
#pragma unroll
        for (int k = 0; k < WORD; k++) a.v[k] = down<T>(slope<AS_LOG>(up(a.v[k]), up(b.v[k]), sum));
        *(vec<T, WORD> *)(out + i) = a;
    });
}

// ---- columns: a block is 32 columns wide; a thread takes V neighbours of every so many elements, BATCH of them under way.
// The second time it comes from the end, of which some is still in L2.
#define COLUMN_WORD (DTYPE == DT_F64 ? 2 : 4)
#define BATCH (DTYPE == DT_F64 ? 1 : 4)
// Among the lines of the block, column by column; every thread gets what all of its column come to.
struct Room { C most[64][33], sums[64][33]; };
template <int V> INLINE void over_lines(Room &room, Running (&r)[V], int lane, int line, int lines) {
#pragma unroll
    for (int c = 0; c < V; c++) {
        room.most[line][lane * V + c] = r[c].most;
        room.sums[line][lane * V + c] = r[c].sum;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        C most = LEAST, sum = 0;
        for (int k = 0; k < lines; k++) most = larger(most, room.most[k][threadIdx.x]);
        C at = base(most);
#pragma unroll 4
        for (int k = 0; k < lines; k++) sum += room.sums[k][threadIdx.x] * m_exp(room.most[k][threadIdx.x] - at);
        room.most[0][threadIdx.x] = most;
        room.sums[0][threadIdx.x] = sum;
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < V; c++) {
        r[c].most = room.most[0][lane * V + c];
        r[c].sum = room.sums[0][lane * V + c];
    }
}
template <int V> INLINE vec<T, V> read_at(const T *p, bool inside, T beyond) {
    vec<T, V> r;
    if (inside) return *(const vec<T, V> *)p;
#pragma unroll
    for (int c = 0; c < V; c++) r.v[c] = beyond;
    return r;
}
// Element `line` of the last batch that begins inside.
INLINE i64 last_batch(i64 n, i64 line, i64 step) { return line + (n - 1 - line) / step * step; }

template <int HOW, int V> INLINE void forward_columns(T *out, const T *x, i64 n, i64 inner, i64 tiles) {
    __shared__ Room room;
    constexpr int LANES = 32 / V;
    int lane = threadIdx.x % LANES, line = threadIdx.x / LANES, lines = blockDim.x / LANES;
    i64 column = blockIdx.x % tiles * 32 + lane * V, step = (i64)BATCH * lines, next = lines * inner;
    bool live = column < inner && line < n;
    x += blockIdx.x / tiles * n * inner + column;
    out += blockIdx.x / tiles * n * inner + column;
    Running r[V];
#pragma unroll
    for (int c = 0; c < V; c++) r[c].most = LEAST, r[c].sum = 0;
#pragma unroll 1
    for (i64 i = line; live && i < n; i += step) {
        vec<T, V> w[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; k++) w[k] = read_at<V>(x + i * inner + k * next, i + k * lines < n, down<T>(LEAST));
#pragma unroll
        for (int c = 0; c < V; c++) {
            C v[BATCH];
#pragma unroll
            for (int k = 0; k < BATCH; k++) v[k] = up(w[k].v[c]);
            take(r[c], v);
        }
    }
    over_lines<V>(room, r, lane, line, lines);
    C scale[V];
#pragma unroll
    for (int c = 0; c < V; c++) {
        if (HOW == QUIET) take_0(r[c]);
        scale[c] = HOW == LOG ? m_log(r[c].sum) : C(1) / r[c].sum;
    }
#pragma unroll 1
    for (i64 i = live ? last_batch(n, line, step) : -1; i >= 0; i -= step) {
        vec<T, V> w[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; k++) w[k] = read_at<V>(x + i * inner + k * next, i + k * lines < n, down<T>(LEAST));
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
#pragma unroll
            for (int c = 0; c < V; c++) w[k].v[c] = down<T>(result<HOW == LOG>(up(w[k].v[c]), r[c], scale[c]));
            if (i + k * lines < n) *(vec<T, V> *)(out + i * inner + k * next) = w[k];
        }
    }
}
template <bool AS_LOG, int V> INLINE void backward_columns(T *out, const T *y, const T *g, i64 n, i64 inner, i64 tiles) {
    __shared__ C sums[64][33];
    constexpr int LANES = 32 / V;
    int lane = threadIdx.x % LANES, line = threadIdx.x / LANES, lines = blockDim.x / LANES;
    i64 column = blockIdx.x % tiles * 32 + lane * V, step = (i64)BATCH * lines, next = lines * inner;
    i64 start = blockIdx.x / tiles * n * inner + column;
    bool live = column < inner && line < n;
    y += start;
    g += start;
    out += start;
    C sum[V];
#pragma unroll
    for (int c = 0; c < V; c++) sum[c] = 0;
#pragma unroll 1
    for (i64 i = line; live && i < n; i += step) {
        vec<T, V> a[BATCH], b[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            a[k] = read_at<V>(y + i * inner + k * next, i + k * lines < n, down<T>(C(0)));
            b[k] = read_at<V>(g + i * inner + k * next, i + k * lines < n, down<T>(C(0)));
        }
#pragma unroll
        for (int k = 0; k < BATCH; k++)
#pragma unroll
            for (int c = 0; c < V; c++) sum[c] += term<AS_LOG>(up(a[k].v[c]), up(b[k].v[c]));
    }
#pragma unroll
    for (int c = 0; c < V; c++) sums[line][lane * V + c] = sum[c];
    __syncthreads();
    if (threadIdx.x < 32) {
        C all = 0;
#pragma unroll 4
        for (int k = 0; k < lines; k++) all += sums[k][threadIdx.x];
        sums[0][threadIdx.x] = all;
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < V; c++) sum[c] = sums[0][lane * V + c];
#pragma unroll 1
    for (i64 i = live ? last_batch(n, line, step) : -1; i >= 0; i -= step) {
        vec<T, V> a[BATCH], b[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            a[k] = read_at<V>(y + i * inner + k * next, i + k * lines < n, down<T>(C(0)));
            b[k] = read_at<V>(g + i * inner + k * next, i + k * lines < n, down<T>(C(0)));
        }
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
#pragma unroll
            for (int c = 0; c < V; c++) a[k].v[c] = down<T>(slope<AS_LOG>(up(a[k].v[c]), up(b[k].v[c]), sum[c]));
            if (i + k * lines < n) *(vec<T, V> *)(out + i * inner + k * next) = a[k];
        }
    }
}

// Words of a thread in a row of middle or large size.
#define MIDDLE (IS_HALF ? 2 : 4)
#define LARGE (IS_HALF ? 4 : 8)
#define FORWARD(op, HOW) \
    KERNEL(op##_small, 128, (T *out, const T *x, i64 outer, i64 n, i32 lanes)) { \
        forward_row<1, HOW>(out, x, outer, n, lanes); \
    } \
    KERNEL(op##_middle, 256, (T *out, const T *x, i64 outer, i64 n, i32 lanes)) { \
        forward_row<MIDDLE, HOW>(out, x, outer, n, lanes); \
    } \
    KERNEL(op##_large, 512, (T *out, const T *x, i64 outer, i64 n, i32 lanes)) { \
        forward_row<LARGE, HOW>(out, x, outer, n, lanes); \
    } \
    KERNEL(op##_long, 512, (T *out, const T *x, i64 n)) { forward_long<HOW>(out, x, n); } \
    KERNEL(op##_columns, 512, (T *out, const T *x, i64 n, i64 inner, i64 tiles)) { \
        forward_columns<HOW, 1>(out, x, n, inner, tiles); \
    } \
    KERNEL(op##_wide, 512, (T *out, const T *x, i64 n, i64 inner, i64 tiles)) { \
        forward_columns<HOW, COLUMN_WORD>(out, x, n, inner, tiles); \
    }
#define BACKWARD(op, AS_LOG) \
    KERNEL(op##_bwd_small, 128, (T *out, const T *y, const T *g, i64 outer, i64 n, i32 lanes)) { \
        backward_row<1, AS_LOG>(out, y, g, outer, n, lanes); \
    } \
    KERNEL(op##_bwd_middle, 256, (T *out, const T *y, const T *g, i64 outer, i64 n, i32 lanes)) { \
        backward_row<MIDDLE, AS_LOG>(out, y, g, outer, n, lanes); \
    } \
    KERNEL(op##_bwd_large, 512, (T *out, const T *y, const T *g, i64 outer, i64 n, i32 lanes)) { \
        backward_row<LARGE, AS_LOG>(out, y, g, outer, n, lanes); \
    } \
    KERNEL(op##_bwd_long, 512, (T *out, const T *y, const T *g, i64 n)) { backward_long<AS_LOG>(out, y, g, n); } \
    KERNEL(op##_bwd_columns, 512, (T *out, const T *y, const T *g, i64 n, i64 inner, i64 tiles)) { \
        backward_columns<AS_LOG, 1>(out, y, g, n, inner, tiles); \
    } \
    KERNEL(op##_bwd_wide, 512, (T *out, const T *y, const T *g, i64 n, i64 inner, i64 tiles)) { \
        backward_columns<AS_LOG, COLUMN_WORD>(out, y, g, n, inner, tiles); \
    }
FORWARD(softmax, PLAIN)
FORWARD(log_softmax, LOG)
FORWARD(quiet_softmax, QUIET)
BACKWARD(softmax, false)
BACKWARD(log_softmax, true)
#endif
