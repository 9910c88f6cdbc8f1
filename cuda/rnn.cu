// Recurrent layers step by step. What all inputs contribute to the gates comes in as g [steps, batch, gates * hidden]; for each
// step the launcher (burn/backend/cuda/launch_rnn.h) makes the product s of the state before and the weights, and a kernel here
// joins both, a thread an element of [batch, hidden]. Gradients go where the activations were.
#include "common.cuh"

OP(rnn, REAL)
OP(lstm, REAL)
OP(gru, REAL)
OP(gru_before, REAL)
OP(rnn_bwd, REAL)
OP(lstm_bwd, REAL)
OP(gru_bwd, REAL)
OP(gru_before_bwd, REAL)

#if IS_FLOAT
#define INLINE __device__ __forceinline__
#if DTYPE == DT_F64
#define FN(fn) fn
#else
#define FN(fn) fn##f
#endif
#define TILE 32

INLINE C sigmoid(C x) { return C(1) / (C(1) + FN(exp)(-x)); }
// within the limit, where there is one; NaN stays
INLINE C limited(C x, double clip) {
    C most = (C)clip;
    return clip > 0 ? (x > most ? most : x < -most ? -most : x) : x;
}
INLINE C passed(C x, double clip, C d) { return clip > 0 && !(FN(fabs)(x) <= (C)clip) ? C(0) : d; }

// out[i, j] = sum of a[i, :] b[:, j], tiles of 32 x 32, 256 threads
INLINE void multiply(T *out, const T *a, const T *b, i64 m, i64 n, i64 k, i64 rsa, i64 rsb, i64 csb) {
    __shared__ C left[TILE][TILE + 1], right[TILE][TILE + 1];
    i64 across = (n + TILE - 1) / TILE, i0 = blockIdx.x / across * TILE, j0 = blockIdx.x % across * TILE;
    int column = threadIdx.x % TILE, row = threadIdx.x / TILE;
    C sum[4] = {0, 0, 0, 0};
    for (i64 k0 = 0; k0 < k; k0 += TILE) {
#pragma unroll
        for (int q = 0; q < 4; q++) {
            int line = row + 8 * q;
            left[line][column] = i0 + line < m && k0 + column < k ? up(a[(i0 + line) * rsa + k0 + column]) : C(0);
            // neighbouring threads fetch neighbours in memory
            int kk = csb == 1 ? line : column, j = csb == 1 ? column : line;
            right[kk][j] = k0 + kk < k && j0 + j < n ? up(b[(k0 + kk) * rsb + (j0 + j) * csb]) : C(0);
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < TILE; kk++)
#pragma unroll
            for (int q = 0; q < 4; q++) sum[q] += left[row + 8 * q][kk] * right[kk][column];
        __syncthreads();
    }
#pragma unroll
    for (int q = 0; q < 4; q++)
        if (i0 + row + 8 * q < m && j0 + column < n) out[(i0 + row + 8 * q) * n + j0 + column] = down<T>(sum[q]);
}
// pack: the weights of a gate among those of all, [hidden, gates * hidden]
// product: where the library makes none
// hold: a copy, or zeros, where there is no step
#define SHARED(op) \
    KERNEL(op##_pack, 256, (T *out, const T *weight, i64 hidden, i64 wide)) { \
        i64 e = blockIdx.x * (i64)256 + threadIdx.x; \
        if (e < hidden * hidden) out[e / hidden * wide + e % hidden] = weight[e]; \
    } \
    KERNEL(op##_product, 256, (T *out, const T *a, const T *b, i64 m, i64 n, i64 k, i64 rsa, i64 rsb, i64 csb)) { \
        multiply(out, a, b, m, n, k, rsa, rsb, csb); \
    } \
    KERNEL(op##_hold, 256, (T *out, const T *from, i64 n)) { \
        i64 e = blockIdx.x * (i64)256 + threadIdx.x; \
        if (e < n) out[e] = from ? from[e] : down<T>(C(0)); \
    }
SHARED(rnn)
SHARED(lstm)
SHARED(gru)
SHARED(gru_before)
SHARED(rnn_bwd)
SHARED(lstm_bwd)
SHARED(gru_bwd)
SHARED(gru_before_bwd)

// e: element of [batch, hidden]; at: of the first gate in [batch, gates * hidden]
#define ELEMENT(gates) \
    i64 e = blockIdx.x * (i64)256 + threadIdx.x, at = e / hidden * (gates) * hidden + e % hidden; \
    if (e >= n) return

KERNEL(rnn_step, 256, (T *out, T *saved, const T *g, const T *s, i64 n, i64 hidden, double clip)) {
    ELEMENT(1);
    C a = FN(tanh)(up(g[at]) + up(s[at]));
    if (saved) saved[at] = down<T>(a);
    out[e] = down<T>(limited(a, clip));
}
KERNEL(rnn_bwd_step, 256, (T *out, const T *saved, const T *grad, const T *s, i64 n, i64 hidden, double clip)) {
    ELEMENT(1);
    C a = up(saved[at]), d = up(grad[e]) + (s ? up(s[e]) : C(0));
    out[at] = down<T>(passed(a, clip, d) * (1 - a * a));
}

// gates: input, output, cell, and forget unless there are three
KERNEL(lstm_step, 256, (T *out, T *saved, T *cells, T *last, const T *g, const T *s, const T *before, i64 n, i64 hidden,
                        i64 gates, double clip)) {
    ELEMENT(gates);
    C i = sigmoid(up(g[at]) + up(s[at])), o = sigmoid(up(g[at + hidden]) + up(s[at + hidden]));
    C c = FN(tanh)(up(g[at + 2 * hidden]) + up(s[at + 2 * hidden]));
    C f = gates == 4 ? sigmoid(up(g[at + 3 * hidden]) + up(s[at + 3 * hidden])) : 1 - i;
    C cell = limited(f * up(before[e]) + i * c, clip);
    last[e] = down<T>(cell);
    out[e] = down<T>(o * FN(tanh)(cell));
    if (!saved) return;
    saved[at] = down<T>(i);
    saved[at + hidden] = down<T>(o);
    saved[at + 2 * hidden] = down<T>(c);
    if (gates == 4) saved[at + 3 * hidden] = down<T>(f);
    cells[e] = down<T>(cell);
}
KERNEL(lstm_bwd_step, 256, (T *out, T *dc, const T *saved, const T *grad, const T *s, const T *slope, const T *cells,
                            const T *before, i64 n, i64 hidden, i64 gates, double clip)) {
    ELEMENT(gates);
    C i = up(saved[at]), o = up(saved[at + hidden]), g = up(saved[at + 2 * hidden]), b = up(before[e]);
    C f = gates == 4 ? up(saved[at + 3 * hidden]) : 1 - i, t = FN(tanh)(up(cells[e]));
    C dh = up(grad[e]) + (s ? up(s[e]) : C(0)), d = passed(f * b + i * g, clip, up(slope[e]) + dh * o * (1 - t * t));
    out[at] = down<T>(d * (gates == 4 ? g : g - b) * i * (1 - i));
    out[at + hidden] = down<T>(dh * t * o * (1 - o));
    out[at + 2 * hidden] = down<T>(d * i * (1 - g * g));
    if (gates == 4) out[at + 3 * hidden] = down<T>(d * b * f * (1 - f));
    dc[e] = down<T>(d * f);
}

// gates: update, reset, new
KERNEL(gru_step, 256, (T *out, T *saved, T *own, const T *g, const T *s, const T *before, const T *bias, i64 n, i64 hidden,
                       double clip)) {
    ELEMENT(3);
    C z = sigmoid(up(g[at]) + up(s[at])), r = sigmoid(up(g[at + hidden]) + up(s[at + hidden]));
    C mine = up(s[at + 2 * hidden]) + (bias ? up(bias[e % hidden]) : C(0));
    C fresh = FN(tanh)(up(g[at + 2 * hidden]) + r * mine);
    out[e] = down<T>(limited(fresh * (1 - z) + z * up(before[e]), clip));
    if (!saved) return;
    saved[at] = down<T>(z);
    saved[at + hidden] = down<T>(r);
    saved[at + 2 * hidden] = down<T>(fresh);
    own[e] = down<T>(mine);
}
// inner: what the reset gate was multiplied by; s, more: products of the gradients of the step after; carry: what
// that step passes on by its update gate
KERNEL(gru_bwd_step, 256, (T *out, T *inner, T *carry, const T *saved, const T *grad, const T *before, const T *s, const T *more,
                           i64 n, i64 hidden, double clip)) {
    ELEMENT(3);
    C z = up(saved[at]), r = up(saved[at + hidden]), fresh = up(saved[at + 2 * hidden]), b = up(before[e]);
    C dh = up(grad[e]) + (s ? up(s[e]) + up(more[e]) + up(carry[e]) : C(0));
    C d = passed(fresh * (1 - z) + z * b, clip, dh), dn = d * (1 - z) * (1 - fresh * fresh);
    out[at] = down<T>(d * (b - fresh) * z * (1 - z));
    out[at + hidden] = down<T>(dn * up(inner[e]) * r * (1 - r));
    out[at + 2 * hidden] = down<T>(dn);
    inner[e] = down<T>(dn * r);
    carry[e] = down<T>(d * z);
}
KERNEL(gru_bwd_end, 256, (T *out, const T *s, const T *more, const T *carry, i64 n)) {
    i64 e = blockIdx.x * (i64)256 + threadIdx.x;
    if (e < n) out[e] = s ? down<T>(up(s[e]) + up(more[e]) + up(carry[e])) : down<T>(C(0));
}

// The reset gate before the product: first both gates, then the rest.
KERNEL(gru_before_gates, 256, (T *update, T *reset, T *saved, const T *g, const T *s, const T *before, i64 n, i64 hidden)) {
    ELEMENT(3);
    i64 mine = e / hidden * 2 * hidden + e % hidden;
    C z = sigmoid(up(g[at]) + up(s[mine])), r = sigmoid(up(g[at + hidden]) + up(s[mine + hidden]));
    update[e] = down<T>(z);
    reset[e] = down<T>(r * up(before[e]));
    if (!saved) return;
    saved[at] = down<T>(z);
    saved[at + hidden] = down<T>(r);
}
KERNEL(gru_before_new, 256, (T *out, T *saved, const T *g, const T *s, const T *before, const T *update, i64 n, i64 hidden,
                             double clip)) {
    ELEMENT(3);
    C fresh = FN(tanh)(up(g[at + 2 * hidden]) + up(s[e])), z = up(update[e]);
    out[e] = down<T>(limited(fresh * (1 - z) + z * up(before[e]), clip));
    if (saved) saved[at + 2 * hidden] = down<T>(fresh);
}
KERNEL(gru_before_bwd_new, 256, (T *out, T *carry, const T *saved, const T *grad, const T *before, const T *s, i64 n, i64 hidden,
                                 double clip)) {
    ELEMENT(3);
    C z = up(saved[at]), fresh = up(saved[at + 2 * hidden]), b = up(before[e]);
    C d = passed(fresh * (1 - z) + z * b, clip, up(grad[e]) + (s ? up(s[e]) + up(carry[e]) : C(0)));
    out[at] = down<T>(d * (b - fresh) * z * (1 - z));
    out[at + 2 * hidden] = down<T>(d * (1 - z) * (1 - fresh * fresh));
    carry[e] = down<T>(d * z);
}
KERNEL(gru_before_bwd_reset, 256, (T *out, T *carry, const T *saved, const T *before, const T *s, i64 n, i64 hidden)) {
    ELEMENT(3);
    C r = up(saved[at + hidden]), d = up(s[e]);
    out[at + hidden] = down<T>(d * up(before[e]) * r * (1 - r));
    carry[e] = down<T>(up(carry[e]) + d * r);
}
KERNEL(gru_before_bwd_end, 256, (T *out, const T *s, const T *carry, i64 n)) {
    i64 e = blockIdx.x * (i64)256 + threadIdx.x;
    if (e < n) out[e] = s ? down<T>(up(s[e]) + up(carry[e])) : down<T>(C(0));
}
#endif
