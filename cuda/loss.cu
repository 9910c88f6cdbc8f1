// Losses of rows with a class: a warp has a row; one whose target is no class gives NaN, and a gradient of zero.
// Losses of sequences: CTC and RNN-T. Sums over paths run over logarithms in double, with exponentials in the compute type.
// A block has a sample; its threads have the states of a step (CTC), or the places of a diagonal of the grid (RNN-T). Rows of
// classes are read and written by a warp each. A sample with a wrong length or target gives NaN, and a gradient of zero.
#include "common.cuh"

OP(nll_loss, FLOAT)
OP(nll_loss_bwd, FLOAT)
OP(multi_margin_loss, FLOAT)
OP(multi_margin_loss_bwd, FLOAT)
OP(ctc_loss, FLOAT)
OP(ctc_loss_bwd, FLOAT)
OP(rnnt_loss, FLOAT)
OP(rnnt_loss_bwd, FLOAT)

#if IS_FLOAT
#define INLINE __device__ __forceinline__
#if DTYPE == DT_F64
#define FN(fn) fn
#else
#define FN(fn) fn##f
#endif
#define NONE (-(double)INFINITY)

INLINE double m_exp(double x) { return (double)FN(exp)((C)x); }
INLINE double log_add(double a, double b, double c = NONE) {
    double most = a > b ? a : b;
    most = most > c ? most : c;
    double base = most == NONE ? 0 : most; // -inf - -inf would be no number
    C sum = FN(exp)((C)(a - base)) + FN(exp)((C)(b - base)) + FN(exp)((C)(c - base));
    return base + (double)FN(log)(sum);
}
INLINE double up_double(T v) { return (double)up(v); }

// ---- Int tensors of 32 or 64 bits: a bit of `wide` each for targets, lengths of inputs and of targets
enum { TARGETS, STEPS, COUNTS };
INLINE i64 int_at(const void *p, i32 wide, int which, i64 i) {
    return wide >> which & 1 ? ((const i64 *)p)[i] : ((const i32 *)p)[i];
}
INLINE double over_warp(double v, bool largest) {
    for (int o = 16; o > 0; o /= 2) {
        double other = __shfl_xor_sync(0xffffffffu, v, o);
        v = largest ? (other > v ? other : v) : v + other;
    }
    return v;
}
// ---- rows of scores [rows, classes] with a class each; wide: whether targets have 64 bits
// The class of a row, classes for one that counts for nothing, or -1 for a target that is no class.
INLINE i64 class_of(const void *targets, i32 wide, i64 r, i64 classes, i32 padded, i64 pad) {
    i64 id = int_at(targets, wide, TARGETS, r);
    if (padded && id == pad) return classes;
    return id >= 0 && id < classes ? id : -1;
}
#define ROW_OF_CLASSES \
    i64 r = (i64)blockIdx.x * 8 + threadIdx.x / 32, first = threadIdx.x % 32; \
    if (r >= rows) return
KERNEL(nll_loss, 256, (T *out, T *counts, const T *x, const void *targets, const T *weights, i64 rows, i64 classes, i32 padded,
                       i64 pad, double smoothing, i32 wide, Error *err, i64 ticket)) {
    ROW_OF_CLASSES;
    i64 id = class_of(targets, wide, r, classes, padded, pad);
    bool used = id >= 0 && id < classes;
    double mean = 0;
    if (used && smoothing != 0) {
        for (i64 c = first; c < classes; c += 32) mean += up_double(x[r * classes + c]) * (weights ? up_double(weights[c]) : 1);
        mean = over_warp(mean, false) / (double)classes;
    }
    if (first) return;
    double count = !used ? 0 : weights ? up_double(weights[id]) : 1;
    double loss = id < 0 ? (double)NAN : used ? up_double(x[r * classes + id]) * count : 0;
    if (used && smoothing != 0) loss = loss * (1 - smoothing) + mean * smoothing;
    if (id < 0) report(err, ticket, ERR_INDEX, r, int_at(targets, wide, TARGETS, r), classes);
    out[r] = down<T>((C)(0 - loss));
    if (counts) counts[r] = down<T>((C)count);
}
KERNEL(nll_loss_bwd, 256, (T *out, const T *g, const void *targets, const T *weights, i64 rows, i64 classes, i32 padded, i64 pad,
                           double smoothing, i32 wide)) {
    ROW_OF_CLASSES;
    i64 id = class_of(targets, wide, r, classes, padded, pad);
    double grad = id >= 0 && id < classes ? -up_double(g[r]) : 0, each = smoothing / (double)classes;
    for (i64 c = first; c < classes; c += 32) {
        double share = (c == id ? 1 - smoothing + each : each) * (weights ? up_double(weights[c]) : 1);
        out[r * classes + c] = down<T>((C)(grad == 0 ? 0 : grad * share));
    }
}
KERNEL(multi_margin_loss, 256, (T *out, const T *x, const void *targets, i64 rows, i64 classes, i64 p, double margin, i32 wide,
                                Error *err, i64 ticket)) {
    ROW_OF_CLASSES;
    i64 id = class_of(targets, wide, r, classes, 0, 0);
    const T *row = x + r * classes;
    C own = up(row[id < 0 ? 0 : id]);
    double sum = 0;
    for (i64 c = first; c < classes; c += 32) {
        C near = up(row[c]) - own + (C)margin;
        if (c != id && !(near <= 0)) sum += p == 2 ? near * near : near;
    }
    sum = over_warp(sum, false);
    if (first) return;
    if (id < 0) report(err, ticket, ERR_INDEX, r, int_at(targets, wide, TARGETS, r), classes);
    out[r] = down<T>((C)(id < 0 ? (double)NAN : sum / (double)classes));
}
KERNEL(multi_margin_loss_bwd, 256, (T *out, const T *x, const void *targets, const T *g, i64 rows, i64 classes, i64 p,
                                    double margin, i32 wide)) {
    ROW_OF_CLASSES;
    i64 id = class_of(targets, wide, r, classes, 0, 0);
    const T *row = x + r * classes;
    C own = up(row[id < 0 ? 0 : id]);
    double grad = id < 0 ? 0 : up_double(g[r]) / (double)classes, sum = 0;
    for (i64 c = first; c < classes; c += 32) {
        C near = up(row[c]) - own + (C)margin;
        double slope = grad != 0 && c != id && near > 0 ? grad * (p == 2 ? 2 * (double)near : 1) : 0;
        sum += slope;
        if (c != id) out[r * classes + c] = down<T>((C)slope);
    }
    sum = over_warp(sum, false);
    if (first == 0 && id >= 0) out[r * classes + id] = down<T>((C)(0 - sum));
}

// Whether sample b can be computed, for all threads of its block; a wrong number is reported where there is a record.
INLINE bool usable(const void *targets, const void *steps, const void *counts, i64 b, i64 room, i64 classes, i64 least, i64 most,
                   i32 wide, Error *err, i64 ticket) {
    __shared__ int wrong;
    i64 step = int_at(steps, wide, STEPS, b), count = int_at(counts, wide, COUNTS, b), which = (i64)1 << 40;
    if (threadIdx.x == 0) {
        wrong = step < least || step > most || count < 0 || count > room;
        if (wrong && err) {
            if (step < least || step > most) report(err, ticket, ERR_INDEX, which + b, step, most);
            else report(err, ticket, ERR_INDEX, 2 * which + b, count, room);
        }
    }
    __syncthreads();
    if (wrong) return false;
    __syncthreads();
    for (i64 i = threadIdx.x; i < count; i += blockDim.x) {
        i64 id = int_at(targets, wide, TARGETS, b * room + i);
        if (id >= 0 && id < classes) continue;
        wrong = 1;
        if (err) report(err, ticket, ERR_INDEX, b * room + i, id, classes);
    }
    __syncthreads();
    return !wrong;
}

// ---- CTC: blanks 0..room of a row, then labels 0..room-1
// Whether label i may follow label i - 1 without a blank between them.
INLINE bool skips(const void *targets, i32 wide, i64 at, i64 i, i64 blank) {
    if (i == 0) return false;
    i64 id = int_at(targets, wide, TARGETS, at + i);
    return id != blank && id != int_at(targets, wide, TARGETS, at + i - 1);
}
// `kept`: rows of alphas that there is memory for, all or two.
KERNEL(ctc_loss, 256, (T *out, double *alphas, const T *x, const void *targets, const void *steps, const void *counts,
                       i64 blank, i64 length, i64 batch, i64 classes, i64 room, i64 kept, i32 wide, Error *err, i64 ticket)) {
    i64 n = blockIdx.x, width = 2 * room + 1;
    if (!usable(targets, steps, counts, n, room, classes, 0, length, wide, err, ticket)) {
        if (threadIdx.x == 0) out[n] = down<T>((C)NAN);
        return;
    }
    i64 len = int_at(counts, wide, COUNTS, n), last = int_at(steps, wide, STEPS, n) - 1, at = n * room;
    double *own = alphas + n * kept * width;
    for (i64 t = 0; t <= last; t++) {
        const T *row = x + (t * batch + n) * classes;
        double *now = own + t % kept * width, *label = now + room + 1;
        const double *was = own + (t + kept - 1) % kept * width, *was_label = was + room + 1;
        for (i64 i = threadIdx.x; i <= len; i += blockDim.x) {
            double left = t && i ? was_label[i - 1] : NONE, here = t ? was[i] : NONE;
            now[i] = (t ? log_add(here, left) : i ? NONE : 0) + up_double(row[blank]);
            if (i == len) continue;
            double lp = up_double(row[int_at(targets, wide, TARGETS, at + i)]);
            label[i] = (t ? log_add(was_label[i], here, skips(targets, wide, at, i, blank) ? left : NONE) : i ? NONE : 0) + lp;
        }
        __syncthreads();
    }
    if (threadIdx.x) return;
    const double *end = own + (last < 0 ? 0 : last % kept) * width;
    double total = last < 0 ? (len ? NONE : 0) : len ? log_add(end[len], end[room + len]) : end[0];
    out[n] = down<T>((C)(0 - total));
}
// scratch: [batch, 3, 2 * room + 1]; two rows of betas, which leave out what the step itself adds, and the shares of paths.
KERNEL(ctc_loss_bwd, 256, (T *out, const T *x, const void *targets, const void *steps, const void *counts, const double *alphas,
                           const T *g, i64 blank, i64 length, i64 batch, i64 classes, i64 room, double *scratch, i32 wide)) {
    __shared__ double sums[256];
    i64 n = blockIdx.x, width = 2 * room + 1, at = n * room;
    for (i64 t = 0; t < length; t++)
        for (i64 c = threadIdx.x; c < classes; c += blockDim.x) out[(t * batch + n) * classes + c] = down<T>(C(0));
    if (!usable(targets, steps, counts, n, room, classes, 0, length, wide, 0, 0)) return;
    i64 len = int_at(counts, wide, COUNTS, n), last = int_at(steps, wide, STEPS, n) - 1;
    if (last < 0) return;
    const double *alpha = alphas + (n * length + last) * width;
    double total = len ? log_add(alpha[len], alpha[room + len]) : alpha[0], grad = up_double(g[n]);
    if (total == NONE || grad == 0) return;
    double *own = scratch + n * 3 * width, *share = own + 2 * width, *share_label = share + room + 1;
    for (i64 i = threadIdx.x; i <= len; i += blockDim.x) {
        own[last % 2 * width + i] = i == len ? 0 : NONE;
        if (i < len) own[last % 2 * width + room + 1 + i] = i == len - 1 ? 0 : NONE;
    }
    for (i64 t = last; t >= 0; t--) {
        const double *beta = own + t % 2 * width, *beta_label = beta + room + 1;
        const T *row = x + (t * batch + n) * classes;
        T *to = out + (t * batch + n) * classes;
        double sum = 0;
        alpha = alphas + (n * length + t) * width;
        __syncthreads();
        for (i64 i = threadIdx.x; i <= len; i += blockDim.x) {
            sum += m_exp(alpha[i] + beta[i] - total);
            if (i == len) continue;
            share_label[i] = m_exp(alpha[room + 1 + i] + beta_label[i] - total);
            if (int_at(targets, wide, TARGETS, at + i) == blank) sum += share_label[i];
        }
        sums[threadIdx.x] = sum;
        __syncthreads();
        for (int half = blockDim.x / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x == 0) to[blank] = down<T>((C)(-grad * sums[0]));
        for (i64 i = threadIdx.x; i < len; i += blockDim.x) { // the first of equal labels has their sum
            i64 id = int_at(targets, wide, TARGETS, at + i);
            bool first = id != blank;
            for (i64 k = 0; k < i && first; k++) first = int_at(targets, wide, TARGETS, at + k) != id;
            if (!first) continue;
            double all = 0;
            for (i64 k = i; k < len; k++) if (int_at(targets, wide, TARGETS, at + k) == id) all += share_label[k];
            to[id] = down<T>((C)(-grad * all));
        }
        double *before = own + (t + 1) % 2 * width, *before_label = before + room + 1, lp = up_double(row[blank]);
        for (i64 i = threadIdx.x; i <= len; i += blockDim.x) {
            double mine = NONE, next = NONE;
            if (i < len) mine = beta_label[i] + up_double(row[int_at(targets, wide, TARGETS, at + i)]);
            before[i] = log_add(beta[i] + lp, mine);
            if (i == len) continue;
            if (i + 1 < len && skips(targets, wide, at, i + 1, blank))
                next = beta_label[i + 1] + up_double(row[int_at(targets, wide, TARGETS, at + i + 1)]);
            before_label[i] = log_add(mine, beta[i + 1] + lp, next);
        }
    }
}

// ---- RNN-T: places [batch, length, rows] with a row of classes each; `kept` has alphas, then the sums of rows (of logits)
KERNEL(rnnt_loss_sums, 256, (double *sums, const T *x, const void *steps, const void *counts, i64 length, i64 rows, i64 classes,
                             i64 total, i32 wide)) {
    i64 at = (i64)blockIdx.x * 8 + threadIdx.x / 32, u = at % rows, t = at / rows % length, b = at / rows / length;
    if (at >= total || t >= int_at(steps, wide, STEPS, b) || u > int_at(counts, wide, COUNTS, b)) return;
    const T *row = x + at * classes;
    double most = NONE, sum = 0;
    for (i64 c = threadIdx.x % 32; c < classes; c += 32) most = up_double(row[c]) > most ? up_double(row[c]) : most;
    most = over_warp(most, true);
    for (i64 c = threadIdx.x % 32; c < classes; c += 32) sum += m_exp(up_double(row[c]) - most);
    sum = over_warp(sum, false);
    if (threadIdx.x % 32 == 0) sums[at] = most + log(sum);
}
struct Grid {
    const T *x;
    const double *sums;
    const void *targets;
    i64 blank, rows, classes, first, at, count;
    i32 wide;
    INLINE double log_of(i64 t, i64 u, i64 c) const {
        i64 place = first + t * rows + u;
        return up_double(x[place * classes + c]) - (sums ? sums[place] : 0);
    }
    INLINE double by_blank(i64 t, i64 u) const { return log_of(t, u, blank); }
    INLINE double by_label(i64 t, i64 u) const {
        return u < count ? log_of(t, u, int_at(targets, wide, TARGETS, at + u)) : NONE;
    }
};
KERNEL(rnnt_loss, 256, (T *out, double *alphas, const T *x, const void *targets, const void *steps, const void *counts,
                        const double *sums, i64 blank, i64 length, i64 rows, i64 classes, i32 wide, Error *err, i64 ticket)) {
    i64 b = blockIdx.x, room = rows - 1;
    if (!usable(targets, steps, counts, b, room, classes, 1, length, wide, err, ticket)) {
        if (threadIdx.x == 0) out[b] = down<T>((C)NAN);
        return;
    }
    i64 step = int_at(steps, wide, STEPS, b), count = int_at(counts, wide, COUNTS, b);
    Grid grid = {x, sums, targets, blank, rows, classes, b * length * rows, b * room, count, wide};
    double *alpha = alphas + grid.first;
    for (i64 diagonal = 0; diagonal < step + count; diagonal++) {
        for (i64 u = threadIdx.x; u <= count; u += blockDim.x) {
            i64 t = diagonal - u;
            if (t < 0 || t >= step) continue;
            double below = t ? alpha[(t - 1) * rows + u] + grid.by_blank(t - 1, u) : NONE;
            double left = u ? alpha[t * rows + u - 1] + grid.by_label(t, u - 1) : NONE;
            alpha[t * rows + u] = diagonal ? log_add(below, left) : 0;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[b] = down<T>((C)(0 - (alpha[(step - 1) * rows + count] + grid.by_blank(step - 1, count))));
}
// paths: [batch, length, rows, 2], the share of paths that emit the blank here, and the label
KERNEL(rnnt_loss_bwd_paths, 256, (double *paths, double *betas, const T *x, const void *targets, const void *steps,
                                  const void *counts, const double *kept, i64 blank, i64 logits, i64 length, i64 rows,
                                  i64 classes, i64 total, i32 wide)) {
    i64 b = blockIdx.x, room = rows - 1;
    double *path = paths + b * length * rows * 2;
    for (i64 i = threadIdx.x; i < length * rows * 2; i += blockDim.x) path[i] = 0;
    if (!usable(targets, steps, counts, b, room, classes, 1, length, wide, 0, 0)) return;
    i64 step = int_at(steps, wide, STEPS, b), count = int_at(counts, wide, COUNTS, b);
    Grid grid = {x, logits ? kept + total : 0, targets, blank, rows, classes, b * length * rows, b * room, count, wide};
    const double *alpha = kept + grid.first;
    double *beta = betas + grid.first, all = alpha[(step - 1) * rows + count] + grid.by_blank(step - 1, count);
    if (all == NONE) return;
    for (i64 diagonal = step + count - 1; diagonal >= 0; diagonal--) {
        for (i64 u = threadIdx.x; u <= count; u += blockDim.x) {
            i64 t = diagonal - u, place = t * rows + u;
            if (t < 0 || t >= step) continue;
            double behind = t + 1 < step ? beta[place + rows] : u == count ? 0 : NONE;
            double down_here = grid.by_blank(t, u) + behind, right = u < count ? grid.by_label(t, u) + beta[place + 1] : NONE;
            path[2 * place] = m_exp(alpha[place] + down_here - all);
            path[2 * place + 1] = m_exp(alpha[place] + right - all);
            beta[place] = log_add(down_here, right);
        }
        __syncthreads();
    }
}
KERNEL(rnnt_loss_bwd_slopes, 256, (T *out, const T *x, const void *targets, const void *counts, const double *paths,
                                   const double *sums, const T *g, i64 blank, i64 length, i64 rows, i64 classes, i64 total,
                                   i32 wide)) {
    i64 at = (i64)blockIdx.x * 8 + threadIdx.x / 32, u = at % rows, b = at / rows / length;
    if (at >= total) return;
    double grad = up_double(g[b]), by_blank = grad == 0 ? 0 : paths[2 * at], by_label = grad == 0 ? 0 : paths[2 * at + 1];
    double share = sums ? by_blank + by_label : 0;
    i64 id = u < int_at(counts, wide, COUNTS, b) ? int_at(targets, wide, TARGETS, b * (rows - 1) + u) : -1;
    for (i64 c = threadIdx.x % 32; c < classes; c += 32) {
        double v = share == 0 ? 0 : share * m_exp(up_double(x[at * classes + c]) - sums[at]);
        if (c == blank) v -= by_blank;
        if (c == id) v -= by_label;
        out[at * classes + c] = down<T>((C)(grad * v));
    }
}
#endif
