// Normalisation: rows and groups of channels, channels of a batch, neighbouring channels, and their gradients. Parameters and
// statistics come in the type that is computed in.
//   rows       a block has a row of [channels, spatial]
//   columns    neighbouring threads have neighbouring columns of [outer, channels]
//   channels   a block has a channel of [outer, channels, inner]
// Few elements are added up in the type that is computed in; what they come to is joined in double.
#include "common.cuh"

OP(group_norm, FLOAT)
OP(group_norm_bwd, FLOAT)
OP(batch_norm, FLOAT)
OP(batch_norm_train, FLOAT)
OP(batch_norm_bwd, FLOAT)
OP(local_response_norm, FLOAT)
OP(local_response_norm_bwd, FLOAT)
OP(l2_norm, FLOAT)
OP(l2_norm_bwd, FLOAT)
OP(cosine_similarity, FLOAT)
OP(cosine_similarity_bwd, FLOAT)

#if IS_FLOAT
#define INLINE __device__ __forceinline__
#if DTYPE == DT_F64
#define FN(fn) fn
#else
#define FN(fn) fn##f
#endif
#define SOME 64 // products that are added up in C
#define FEW 16  // elements that a thread has in registers

// Count, mean and sum of squares around it; or plain sums, where the count is not used.
struct Moments { double n, mean, m2; };
INLINE void join(Moments &a, const Moments &b) {
    double all = a.n + b.n, d = b.mean - a.mean;
    if (b.n == 0) return;
    a.mean += d * b.n / all;
    a.m2 += b.m2 + d * d * (a.n * b.n / all);
    a.n = all;
}
struct Sums { double s, p; };
INLINE void join(Sums &a, const Sums &b) {
    a.s += b.s;
    a.p += b.p;
}

// Joins what the threads of a block have, always in the same order; every thread gets the result.
template <class M> INLINE M over_block(M v) {
    __shared__ M room[256];
    room[threadIdx.x] = v;
    __syncthreads();
    for (u32 half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) join(room[threadIdx.x], room[threadIdx.x + half]);
        __syncthreads();
    }
    v = room[0];
    __syncthreads();
    return v;
}
// The same over the lines of a block that is 32 columns wide.
template <class M> INLINE M over_lines(M v) {
    __shared__ M room[256];
    room[threadIdx.x] = v;
    __syncthreads();
    if (threadIdx.x < 32)
        for (u32 k = 1; k < blockDim.x / 32; k++) join(v, room[threadIdx.x + 32 * k]);
    return v;
}

// Element number i of those that a thread has lies at at(i). A few at a time are under way, and are read twice in registers.
template <class At> INLINE Moments take(const T *x, i64 n, const At &at) {
    Moments all = {0, 0, 0};
    for (i64 i = 0; i < n; i += FEW) {
        C v[FEW], sum = 0, q = 0, low = 0;
        i32 few = n - i < FEW ? (i32)(n - i) : FEW;
#pragma unroll
        for (int k = 0; k < FEW; k++) v[k] = k < few ? up(x[at(i + k)]) : C(0);
#pragma unroll
        for (int k = 0; k < FEW; k++) sum += v[k];
        C mean = sum / (C)few;
#pragma unroll
        for (int k = 0; k < FEW; k++) {
            C d = k < few ? v[k] - mean : C(0);
            low += d;
            q += d * d;
        }
        Moments more = {(double)few, mean + (double)low / few, q};
        join(all, more);
    }
    return all;
}
template <class At> INLINE Sums take_products(const T *x, const T *g, C mean, i64 n, const At &at) {
    Sums all = {0, 0};
    for (i64 i = 0; i < n; i += SOME) {
        i64 end = i + SOME < n ? i + SOME : n;
        C s = 0, p = 0;
        for (i64 k = i; k < end; k++) {
            C v = up(g[at(k)]);
            s += v;
            p += v * (up(x[at(k)]) - mean);
        }
        all.s += s;
        all.p += p;
    }
    return all;
}
INLINE i64 share(i64 n, i64 first, i64 step) { return first < n ? (n - 1 - first) / step + 1 : 0; }

// ---- rows
KERNEL(group_norm, 256, (T *out, C *out_mean, C *out_scale, const T *x, const C *gamma, const C *beta, i64 groups, i64 channels,
                         i64 spatial, i32 centred, double eps)) {
    i64 row = blockIdx.x, n = channels * spatial, first = threadIdx.x, step = blockDim.x;
    i64 group = row % groups * channels;
    x += row * n;
    out += row * n;
    Moments m = {(double)n, 0, 0};
    if (centred) m = over_block(take(x, share(n, first, step), [&](i64 i) { return first + i * step; }));
    else {
        Sums s = over_block(take_products(x, x, C(0), share(n, first, step), [&](i64 i) { return first + i * step; }));
        m.m2 = s.p;
    }
    C mean = (C)m.mean, scale = (C)(1 / sqrt(m.m2 / (double)n + eps)), low = (C)(((double)mean - m.mean) * scale);
    if (threadIdx.x == 0) {
        out_mean[row] = mean;
        out_scale[row] = scale;
    }
    for (i64 i = first; i < n; i += step) {
        C v = (up(x[i]) - mean) * scale + low;
        i64 c = spatial == 1 ? i : gamma ? i / spatial : 0;
        if (gamma) v *= gamma[group + c];
        if (beta) v += beta[group + c];
        out[i] = down<T>(v);
    }
}
KERNEL(group_norm_bwd_rows, 256, (T *out, const T *x, const T *g, const C *mean, const C *scale, const C *gamma, i64 groups,
                                  i64 channels, i64 spatial, i32 centred)) {
    i64 row = blockIdx.x, n = channels * spatial, group = row % groups * channels;
    C m = mean[row], a = scale[row];
    Sums sums = {0, 0};
    x += row * n;
    g += row * n;
    out += row * n;
    for (i64 i = threadIdx.x; i < n; i += (i64)SOME * blockDim.x) {
        C s = 0, p = 0;
        for (i64 k = i; k < n && k < i + (i64)SOME * blockDim.x; k += blockDim.x) {
            C v = up(g[k]) * (gamma ? gamma[group + (spatial == 1 ? k : k / spatial)] : C(1));
            s += v;
            p += v * (up(x[k]) - m);
        }
        sums.s += s;
        sums.p += p;
    }
    sums = over_block(sums);
    C q = (C)(-sums.p / (double)n * a * a * a), r = centred ? (C)(-sums.s / (double)n * a) : C(0);
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
        C v = up(g[i]) * (gamma ? gamma[group + (spatial == 1 ? i : i / spatial)] : C(1));
        out[i] = down<T>(v * a + (up(x[i]) - m) * q + r);
    }
}
KERNEL(group_norm_bwd_columns, 256, (C *dgamma, C *dbeta, const T *x, const T *g, const C *mean, const C *scale, i64 rows,
                                     i64 groups, i64 channels)) {
    i64 column = (i64)blockIdx.x * 32 + threadIdx.x % 32, lines = blockDim.x / 32, wide = groups * channels;
    Sums sums = {0, 0};
    if (column < wide) {
        for (i64 o = threadIdx.x / 32; o < rows / groups; o += SOME * lines) {
            C s = 0, p = 0;
            for (i64 k = o; k < rows / groups && k < o + SOME * lines; k += lines) {
                i64 row = k * groups + column / channels;
                C v = up(g[k * wide + column]);
                s += v;
                p += v * ((up(x[k * wide + column]) - mean[row]) * scale[row]);
            }
            sums.s += s;
            sums.p += p;
        }
    }
    sums = over_lines(sums);
    if (threadIdx.x < 32 && column < wide) {
        dgamma[column] = (C)sums.p;
        dbeta[column] = (C)sums.s;
    }
}
KERNEL(group_norm_bwd_channels, 256, (C *dgamma, C *dbeta, const T *x, const T *g, const C *mean, const C *scale, i64 rows,
                                      i64 groups, i64 channels, i64 spatial)) {
    i64 channel = blockIdx.x, wide = groups * channels;
    Sums sums = {0, 0};
    for (i64 o = 0; o < rows / groups; o++) {
        i64 row = o * groups + channel / channels, first = threadIdx.x, step = blockDim.x, at = (o * wide + channel) * spatial;
        Sums more = take_products(x + at, g + at, mean[row], share(spatial, first, step),
                                  [&](i64 i) { return first + i * step; });
        sums.s += more.s;
        sums.p += more.p * scale[row];
    }
    sums = over_block(sums);
    if (threadIdx.x == 0) {
        dgamma[channel] = (C)sums.p;
        dbeta[channel] = (C)sums.s;
    }
}

// ---- channels of a batch
KERNEL(batch_norm_train_columns, 256, (C *out_mean, C *out_variance, C *low, const T *x, i64 outer, i64 channels)) {
    i64 column = (i64)blockIdx.x * 32 + threadIdx.x % 32, first = threadIdx.x / 32, lines = blockDim.x / 32;
    Moments m = {0, 0, 0};
    if (column < channels)
        m = take(x, share(outer, first, lines), [&](i64 i) { return (first + i * lines) * channels + column; });
    m = over_lines(m);
    if (threadIdx.x < 32 && column < channels) {
        out_mean[column] = (C)m.mean;
        low[column] = (C)((double)(C)m.mean - m.mean);
        out_variance[column] = (C)(m.m2 / m.n);
    }
}
KERNEL(batch_norm_train_channels, 256, (C *out_mean, C *out_variance, C *low, const T *x, i64 outer, i64 channels,
                                         i64 inner)) {
    i64 channel = blockIdx.x, first = threadIdx.x, step = blockDim.x;
    Moments m = take(x, share(outer * inner, first, step), [&](i64 i) {
        i64 k = first + i * step;
        return (k / inner * channels + channel) * inner + k % inner;
    });
    m = over_block(m);
    if (threadIdx.x == 0) {
        out_mean[channel] = (C)m.mean;
        low[channel] = (C)((double)(C)m.mean - m.mean);
        out_variance[channel] = (C)(m.m2 / m.n);
    }
}
KERNEL(batch_norm_bwd_columns, 256, (C *dgamma, C *dbeta, const T *x, const T *g, const C *mean, const C *variance, i64 outer,
                                     i64 channels, double eps)) {
    i64 column = (i64)blockIdx.x * 32 + threadIdx.x % 32, first = threadIdx.x / 32, lines = blockDim.x / 32;
    Sums s = {0, 0};
    if (column < channels)
        s = take_products(x, g, mean[column], share(outer, first, lines),
                          [&](i64 i) { return (first + i * lines) * channels + column; });
    s = over_lines(s);
    if (threadIdx.x < 32 && column < channels) {
        dgamma[column] = (C)(s.p / sqrt((double)variance[column] + eps));
        dbeta[column] = (C)s.s;
    }
}
KERNEL(batch_norm_bwd_channels, 256, (C *dgamma, C *dbeta, const T *x, const T *g, const C *mean, const C *variance, i64 outer,
                                      i64 channels, i64 inner, double eps)) {
    i64 channel = blockIdx.x, first = threadIdx.x, step = blockDim.x;
    Sums s = take_products(x, g, mean[channel], share(outer * inner, first, step), [&](i64 i) {
        i64 k = first + i * step;
        return (k / inner * channels + channel) * inner + k % inner;
    });
    s = over_block(s);
    if (threadIdx.x == 0) {
        dgamma[channel] = (C)(s.p / sqrt((double)variance[channel] + eps));
        dbeta[channel] = (C)s.s;
    }
}
// A thread has a column of [outer, channels * inner], of which it takes every gridDim.y-th element. low: what rounding added to
// the mean, or null.
#define APPLY(op) \
    KERNEL(op##_apply, 256, (T *out, const T *x, const C *gamma, const C *beta, const C *mean, const C *variance, \
                             const C *low, i64 outer, i64 channels, i64 inner, double eps)) { \
        i64 wide = channels * inner, column = (i64)blockIdx.x * blockDim.x + threadIdx.x; \
        if (column >= wide) return; \
        i64 c = column / inner; \
        C m = mean[c], a = (C)(gamma[c] / sqrt((double)variance[c] + eps)), b = beta[c] + (low ? low[c] * a : C(0)); \
        for (i64 o = blockIdx.y; o < outer; o += gridDim.y) \
            out[o * wide + column] = down<T>((up(x[o * wide + column]) - m) * a + b); \
    }
APPLY(batch_norm)
APPLY(batch_norm_train)
KERNEL(batch_norm_bwd_apply, 256, (T *out, const T *x, const T *g, const C *mean, const C *variance, const C *gamma,
                                   const C *dgamma, const C *dbeta, i64 outer, i64 channels, i64 inner, i32 train, double eps)) {
    i64 wide = channels * inner, column = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= wide) return;
    i64 c = column / inner;
    double scale = 1 / sqrt((double)variance[c] + eps), n = (double)(outer * inner);
    C m = mean[c], a = (C)(gamma[c] * scale), q = (C)(-a * scale * dgamma[c] / n), r = (C)(-a * dbeta[c] / n);
    for (i64 o = blockIdx.y; o < outer; o += gridDim.y) {
        i64 i = o * wide + column;
        C v = up(g[i]) * a;
        if (train) v += (up(x[i]) - m) * q + r;
        out[i] = down<T>(v);
    }
}

// ---- norms of rows and cosines between them: a block has a row. Products are added up in double, where those of floats neither
//      overflow nor vanish; rows of doubles are scaled by a power of two first.
struct Most { double v; };
INLINE void join(Most &a, const Most &b) { a.v = b.v > a.v ? b.v : a.v; }
struct Sum { double v; };
INLINE void join(Sum &a, const Sum &b) { a.v += b.v; }
// element i of a row, or of x - y + shift where there is y
INLINE double apart(const T *x, const T *y, i64 i, double shift) {
    return y ? (double)up(x[i]) - (double)up(y[i]) + shift : (double)up(x[i]);
}
INLINE double scale_of(const T *x, const T *y, i64 n, double shift) {
#if DTYPE == DT_F64
    Most most = {0};
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) join(most, {fabs(apart(x, y, i, shift))});
    most = over_block(most);
    if (most.v == 0 || most.v > 1.7976931348623157e308) return 1;
    int e = ilogb(most.v);
    return ldexp(1.0, e < -1000 ? 1000 : e > 1000 ? -1000 : -e);
#else
    return 1;
#endif
}
INLINE double product(const T *x, const T *y, i64 n, double a, double b) {
    Sum s = {0};
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) s.v += (double)up(x[i]) * a * ((double)up(y[i]) * b);
    return over_block(s).v;
}
INLINE double norm_of(const T *x, const T *y, i64 n, double shift, double a) {
    Sum s = {0};
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
        double d = apart(x, y, i, shift) * a;
        s.v += d * d;
    }
    return sqrt(over_block(s).v);
}
struct Angle { double a, b, x, y, cos; bool moves; }; // scales, scaled divisors, whether x moves its own
INLINE Angle angle_of(const T *x, const T *y, i64 n, double low, i32 open) {
    Angle v;
    v.a = scale_of(x, 0, n, 0);
    v.b = scale_of(y, 0, n, 0);
    double p = sqrt(product(x, x, n, v.a, v.a)), q = sqrt(product(y, y, n, v.b, v.b)), d = product(x, y, n, v.a, v.b);
    v.moves = !(p < low * v.a);
    v.x = p < low * v.a ? low * v.a : p;
    v.y = q < low * v.b ? low * v.b : q;
    v.cos = d / v.x / v.y;
    if (open && (p == 0 || q == 0)) {
        v.cos = 0;
        v.moves = false;
        if (p == 0) v.x = 1 / p;
        if (q == 0) v.y = 1 / q;
    }
    return v;
}
KERNEL(l2_norm, 256, (T *out, const T *x, const T *y, i64 n, double shift)) {
    i64 row = blockIdx.x;
    x += row * n;
    if (y) y += row * n;
    double a = scale_of(x, y, n, shift), norm = norm_of(x, y, n, shift, a) / a;
    if (threadIdx.x == 0) out[row] = down<T>((C)norm);
}
KERNEL(l2_norm_bwd, 256, (T *out, const T *x, const T *g, const T *y, i64 n, double shift)) {
    i64 row = blockIdx.x;
    x += row * n;
    if (y) y += row * n;
    double a = scale_of(x, y, n, shift), norm = norm_of(x, y, n, shift, a), by = (double)up(g[row]);
    for (i64 i = threadIdx.x; i < n; i += blockDim.x)
        out[row * n + i] = down<T>(by == 0 || norm == 0 ? C(0) : (C)(apart(x, y, i, shift) * a * (by / norm)));
}
KERNEL(cosine_similarity, 256, (T *out, const T *x, const T *y, i64 n, double low, i32 open)) {
    i64 row = blockIdx.x;
    Angle v = angle_of(x + row * n, y + row * n, n, low, open);
    if (threadIdx.x == 0) out[row] = down<T>((C)v.cos);
}
KERNEL(cosine_similarity_bwd, 256, (T *out, const T *x, const T *y, const T *g, i64 n, double low, i32 open)) {
    i64 row = blockIdx.x;
    double by = (double)up(g[row]);
    Angle v = angle_of(x + row * n, y + row * n, n, low, open);
    double by_y = v.b / v.y, by_x = v.moves ? v.cos * v.a / v.x : 0, slope = by * v.a / v.x;
    for (i64 i = row * n + threadIdx.x; i < row * n + n; i += blockDim.x)
        out[i] = by == 0 ? down<T>(C(0)) : down<T>((C)(((double)up(y[i]) * by_y - (double)up(x[i]) * by_x) * slope));
}

// ---- neighbouring channels: a thread has an element
INLINE C window(const T *x, i64 c, i64 channels, i64 inner, i64 size) { // x: channel 0
    i64 from = c - (size - 1) / 2, to = c + size / 2;
    C s = 0;
    for (i64 k = from < 0 ? 0 : from; k <= to && k < channels; k++) s += up(x[k * inner]) * up(x[k * inner]);
    return s;
}
KERNEL(local_response_norm, 256, (T *out, const T *x, i64 outer, i64 channels, i64 inner, i64 size, double alpha, double beta,
                                  double k)) {
    i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x, c = i / inner % channels;
    if (i >= outer * channels * inner) return;
    C s = (C)k + (C)(alpha / (double)size) * window(x + i - c * inner, c, channels, inner, size);
    out[i] = down<T>(up(x[i]) * FN(pow)(s, (C)-beta));
}
KERNEL(local_response_norm_bwd, 256, (T *out, const T *x, const T *g, i64 outer, i64 channels, i64 inner, i64 size, double alpha,
                                      double beta, double k)) {
    i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x, c = i / inner % channels;
    if (i >= outer * channels * inner) return;
    const T *at = x + i - c * inner;
    C sum = 0, own = 0;
    for (i64 o = c - size / 2 < 0 ? 0 : c - size / 2; o <= c + (size - 1) / 2 && o < channels; o++) {
        C s = (C)k + (C)(alpha / (double)size) * window(at, o, channels, inner, size);
        if (o == c) own = up(g[i]) * FN(pow)(s, (C)-beta);
        sum += up(g[i + (o - c) * inner]) * up(at[o * inner]) * FN(pow)(s, (C)(-beta - 1));
    }
    out[i] = down<T>(own - (C)(2 * alpha * beta / (double)size) * up(x[i]) * sum);
}
#endif
