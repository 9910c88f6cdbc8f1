/* The softmax kernels of one dtype. softmax.h includes this file once a dtype, with these macros set:
     T, A, V, L     type in memory, type that it is computed in, vector of A and its lanes
     LOAD, STORE    L elements at p as V; LOAD_N, STORE_N only the first k of them (others read as 0)
     LOAD2, STORE2  a pair v of vectors, in any order of lanes, STORE2(p, v, stream) past the cache where stream is set
     STREAM(p, v)   STORE past the cache       EXP, HSUM, MAXV   functions of V       EXP2(v)  of a pair in place
     FN(name)       name_dtype

   A row that lies in L1 is read three times: largest value, exponentials and their sum, output. The output pass of a
   row runs inside the exponential pass of the next one, so that loads, arithmetic and stores overlap instead of taking
   turns. Nothing is special about infinities: a row with NaN or +inf, or of -inf only, meets inf - inf: NaN. */

#define SPREAD(a) ((A)(a) - (V){0})
#define ROW_MAX ((int64_t)(32768 / sizeof(A)))
#define PUTV(p, v, stream) do { if (stream) STREAM(p, v); else STORE(p, v); } while (0)

#ifndef LOAD2
#define LOAD2(p, v) do { (v)[0] = LOAD(p); (v)[1] = LOAD((p) + L); } while (0)
#define STORE2(p, v, stream) do { PUTV(p, (v)[0], stream); PUTV((p) + L, (v)[1], stream); } while (0)
#endif

/* a finished row that is still to be written: x - shift - scale for the logarithm, e * scale otherwise */
typedef struct { const T *x; const A *e; T *y; V shift, scale; } FN(waiting);

VINL V FN(result)(const FN(waiting) *w, int64_t i, const int as_log) {
    return as_log ? LOAD(w->x + i) - w->shift - w->scale : *(const V *)(w->e + i) * w->scale;
}
/* 2 * L elements from i, a multiple of it: e has them in the order of LOAD2 */
VINL void FN(put_result)(const FN(waiting) *w, int64_t i, int stream, const int as_log) {
    V v[2];
    if (as_log) LOAD2(w->x + i, v);
    for (int k = 0; k < 2; k++) v[k] = as_log ? v[k] - w->shift - w->scale : *(const V *)(w->e + i + k * L) * w->scale;
    STORE2(w->y + i, v, stream);
}
VINL void FN(finish)(const FN(waiting) *w, int64_t i, int64_t n, int stream, const int as_log) {
    for (; i + 2 * L <= n; i += 2 * L) FN(put_result)(w, i, stream, as_log);
    for (; i + L <= n; i += L) PUTV(w->y + i, FN(result)(w, i, as_log), stream);
    if (i == n) return;
    STORE_N(w->y + i, as_log ? LOAD_N(w->x + i, n - i) - w->shift - w->scale : *(const V *)(w->e + i) * w->scale,
            n - i);
}

/* the first k lanes, and others instead of the rest */
VINL V FN(first)(V v, int64_t k, V others) {
    __typeof__(v > v) lane;
    for (int l = 0; l < L; l++) lane[l] = l;
    lane = lane < (__typeof__(lane[0] + 0))(k < L ? k : L);
    return (V)((lane & (__typeof__(lane))v) | (~lane & (__typeof__(lane))others));
}

/* the largest element; one of several where there is a NaN, which the sum then finds */
static A FN(largest)(const T *x, int64_t n) {
    V m0 = SPREAD(-INFINITY), m1 = m0;
    int64_t i = 0;
    for (; i + 2 * L <= n; i += 2 * L) {
        V v[2];
        LOAD2(x + i, v);
        m0 = MAXV(m0, v[0]);
        m1 = MAXV(m1, v[1]);
    }
    for (; i + L <= n; i += L) m0 = MAXV(m0, LOAD(x + i));
    m0 = MAXV(m0, m1);
    if (i < n) m0 = MAXV(m0, FN(first)(LOAD_N(x + i, n - i), n - i, SPREAD(-INFINITY)));
    A m = m0[0];
    for (int l = 1; l < L; l++) m = m0[l] > m ? m0[l] : m;
    return m;
}

/* what is subtracted before the exponential; quiet: as if there was one more element, 0 */
static A FN(base)(const T *x, int64_t n, const int quiet) {
    A most = FN(largest)(x, n);
    return quiet && !(most > 0) ? 0 : most;
}

/* exponentials of x - shift into e (unless as_log) and their sum; writes row w meanwhile, if there is one */
VINL double FN(exp_pass)(const T *x, A *e, int64_t n, V shift, const FN(waiting) *w, int stream, const int as_log) {
    V s0 = {0}, s1 = s0;
    int64_t i = 0;
#define STEP2 { \
    V v_[2]; \
    LOAD2(x + i, v_); \
    v_[0] -= shift; \
    v_[1] -= shift; \
    EXP2(v_); \
    s0 += v_[0]; \
    s1 += v_[1]; \
    if (!as_log) *(V *)(e + i) = v_[0], *(V *)(e + i + L) = v_[1]; }
    if (w) {
        for (; i + 2 * L <= n; i += 2 * L) {
            v_prefetch(x + n + i);
            STEP2
            FN(put_result)(w, i, stream, as_log);
        }
        FN(finish)(w, i, n, stream, as_log);
    } else {
        for (; i + 2 * L <= n; i += 2 * L) STEP2
    }
#undef STEP2
    for (; i + L <= n; i += L) {
        V v = EXP(LOAD(x + i) - shift);
        s0 += v;
        if (!as_log) *(V *)(e + i) = v;
    }
    if (i < n) {
        V v = FN(first)(EXP(LOAD_N(x + i, n - i) - shift), n - i, (V){0});
        if (!as_log) *(V *)(e + i) = v;
        s1 += v;
    }
    return HSUM(s0 + s1);
}

/* rows longer than L1: the exponentials wait in y itself; where that is shorter than A they would lose digits and are
   computed again instead */
VINL void FN(long_row)(const T *x, T *y, int64_t n, int stream, const int as_log, const int quiet) {
    const int keep = sizeof(T) == sizeof(A) && !as_log;
    A most = FN(base)(x, n, quiet);
    V shift = SPREAD(most);
    double sum = quiet ? exp(-(double)most) : 0;
    for (int64_t b = 0; b < n; b += ROW_MAX) {
        int64_t len = i64_min(ROW_MAX, n - b), i = 0;
        V s0 = {0}, s1 = s0;
        for (; i + 2 * L <= len; i += 2 * L) {
            V v0 = EXP(LOAD(x + b + i) - shift), v1 = EXP(LOAD(x + b + i + L) - shift);
            s0 += v0;
            s1 += v1;
            if (keep) STORE(y + b + i, v0), STORE(y + b + i + L, v1);
        }
        for (; i < len; i += L) {
            int64_t k = i64_min(L, len - i);
            V v = EXP(LOAD_N(x + b + i, k) - shift);
            if (keep) STORE_N(y + b + i, v, k);
            s0 += FN(first)(v, k, (V){0});
        }
        sum += HSUM(s0 + s1);
    }
    FN(waiting) w = {x, NULL, y, shift, SPREAD(as_log ? log(sum) : 1 / sum)};
    if (as_log) {
        FN(finish)(&w, 0, n, stream, 1);
        return;
    }
    int64_t i = 0;
    for (; i + L <= n; i += L) {
        if (keep) STORE(y + i, LOAD(y + i) * w.scale);
        else STORE(y + i, EXP(LOAD(x + i) - shift) * w.scale);
    }
    if (i < n) STORE_N(y + i, (keep ? LOAD_N(y + i, n - i) : EXP(LOAD_N(x + i, n - i) - shift)) * w.scale, n - i);
}

VINL void FN(softmax_rows)(const T *x, T *y, int64_t rows, int64_t n, int stream, const int as_log, const int quiet) {
    A e[2][ROW_MAX + 64 / sizeof(A)] __attribute__((aligned(64)));
    FN(waiting) w = {0};
    for (int64_t r = 0; r < rows; r++, x += n, y += n) {
        if (n > ROW_MAX) {
            FN(long_row)(x, y, n, stream, as_log, quiet);
            continue;
        }
        A *now = e[r & 1];
        A most = FN(base)(x, n, quiet);
        V shift = SPREAD(most);
        double sum = FN(exp_pass)(x, now, n, shift, r ? &w : NULL, stream, as_log);
        if (quiet) sum += exp(-(double)most);
        w = (FN(waiting)){x, now, y, shift, SPREAD(as_log ? log(sum) : 1 / sum)};
    }
    if (n <= ROW_MAX) FN(finish)(&w, 0, n, stream, as_log);
    if (stream) v_fence();
}

/* long sums are sums in double of the sums of SOME rows */
VINL void FN(flush)(double *total, A *some, int64_t wide) {
    for (int64_t c = 0; c < wide; c++) total[c] += some[c], some[c] = 0;
}

/* w columns of n rows `stride` apart. They are first copied together: columns of a wide matrix share few cache sets.
   tile holds n rows of w rounded up to whole vectors. */
VINL void FN(softmax_cols)(const T *x, T *y, int64_t n, int64_t w, int64_t stride, int stream, A *tile,
                           const int as_log, const int quiet) {
    int64_t wide = (w + L - 1) / L * L;
    A shift[COLUMNS] __attribute__((aligned(64))), sum[COLUMNS] __attribute__((aligned(64))),
        some[COLUMNS] __attribute__((aligned(64))) = {0};
    double total[COLUMNS] = {0};
    for (int64_t c = 0; c < wide; c++) shift[c] = quiet ? 0 : -INFINITY;
    for (int64_t r = 0; r < n; r++) {
        const T *p = x + r * stride;
        for (int64_t c = 0; c < wide; c += L) {
            if ((c * sizeof(T) & 63) == 0) v_prefetch(p + 12 * stride + c);
            V v = c + L <= w ? LOAD(p + c) : LOAD_N(p + c, w - c);
            *(V *)(tile + r * wide + c) = v;
            *(V *)(shift + c) = MAXV(*(V *)(shift + c), v);
        }
    }
    for (int64_t r = 0; r < n; r++) {
        A *t = tile + r * wide;
        for (int64_t c = 0; c < wide; c += L) {
            V v = EXP(*(V *)(t + c) - *(V *)(shift + c));
            if (!as_log) *(V *)(t + c) = v;
            *(V *)(some + c) += v;
        }
        if (r % SOME == SOME - 1 || r == n - 1) FN(flush)(total, some, wide);
    }
    for (int64_t c = 0; quiet && c < w; c++) total[c] += exp(-(double)shift[c]);
    for (int64_t c = 0; c < w; c++) sum[c] = (A)(as_log ? log(total[c]) : 1 / total[c]);
    for (int64_t r = 0; r < n; r++) {
        const A *t = tile + r * wide;
        T *q = y + r * stride;
        for (int64_t c = 0; c < wide; c += L) {
            V v = *(const V *)(t + c), s = *(V *)(sum + c);
            v = as_log ? v - *(V *)(shift + c) - s : v * s;
            if (c + L <= w) PUTV(q + c, v, stream);
            else STORE_N(q + c, v, w - c);
        }
    }
    if (stream) v_fence();
}

/* ---- backward, from the output y: (g - sum g*y) * y; for the logarithm g - exp(y) * sum g. A row of which all g are 0 has no
   gradient, whatever it holds, NaN too: g stands for its y then, and 0 for its sum. */
static int FN(no_gradient)(const T *g, int64_t n, int64_t step, double sum) {
    if (sum < 0 || sum > 0) return 0;
    for (int64_t i = 0; i < n; i++)
        if (LOAD_N(g + i * step, 1)[0] != 0) return 0;
    return 1;
}
VINL V FN(bwd_term)(V y, V g, const int as_log) {
    if (as_log) return g;
    return g * y;
}
VINL V FN(bwd_value)(V y, V g, V sum, const int as_log) {
    return as_log ? g - EXP(y) * sum : (g - sum) * y;
}

VINL void FN(bwd_rows)(const T *y, const T *g, T *dx, int64_t rows, int64_t n, int stream, const int as_log) {
    V last = {0};
    const T *from = y; /* y of row r - 1 */
    for (int64_t r = 0; r <= rows; r++, y += n, g += n, dx += n) { /* sums of row r, output of row r - 1 */
        V s0 = {0}, s1 = s0;
        double sum = 0;
        int64_t i = 0;
#define SUM(k, s) { s += FN(bwd_term)(as_log ? s : LOAD(y + i + k), LOAD(g + i + k), as_log); }
#define OUT(k) PUTV(dx - n + i + k, FN(bwd_value)(LOAD(from + i + k), LOAD(g - n + i + k), last, as_log), stream)
        if (r && r < rows) {
            for (; i + 2 * L <= n; i += 2 * L) {
                v_prefetch(g + n + i);
                v_prefetch(y + n + i);
                SUM(0, s0)
                OUT(0);
                SUM(L, s1)
                OUT(L);
            }
        }
        int64_t done = i;
        if (r < rows) {
            for (; i + L <= n; i += L) {
                SUM(0, s0)
                if (i % (256 * L) == 0) sum += HSUM(s0), s0 = (V){0};
            }
            if (i < n) s1 += FN(bwd_term)(LOAD_N(y + i, n - i), LOAD_N(g + i, n - i), as_log);
            sum += HSUM(s0 + s1);
        }
        if (r) {
            for (i = done; i + L <= n; i += L) OUT(0);
            if (i < n)
                STORE_N(dx - n + i, FN(bwd_value)(LOAD_N(from + i, n - i), LOAD_N(g - n + i, n - i), last, as_log),
                        n - i);
        }
#undef SUM
#undef OUT
        from = y;
        if (r < rows && FN(no_gradient)(g, n, 1, sum)) from = g, sum = 0;
        last = SPREAD(sum);
    }
    if (stream) v_fence();
}

VINL void FN(bwd_cols)(const T *y, const T *g, T *dx, int64_t n, int64_t w, int64_t stride, int stream, A *tile,
                       const int as_log) {
    int64_t wide = (w + L - 1) / L * L;
    A sum[COLUMNS] __attribute__((aligned(64))), some[COLUMNS] __attribute__((aligned(64))) = {0};
    double total[COLUMNS] = {0};
    for (int64_t r = 0; r < n; r++) {
        for (int64_t c = 0; c < wide; c += L) {
            const T *p = y + r * stride + c, *q = g + r * stride + c;
            if ((c * sizeof(T) & 63) == 0) v_prefetch(p + 12 * stride), v_prefetch(q + 12 * stride);
            V a = c + L <= w ? LOAD(p) : LOAD_N(p, w - c), b = c + L <= w ? LOAD(q) : LOAD_N(q, w - c);
            *(V *)(tile + 2 * r * wide + c) = a;
            *(V *)(tile + (2 * r + 1) * wide + c) = b;
            *(V *)(some + c) += FN(bwd_term)(a, b, as_log);
        }
        if (r % SOME == SOME - 1 || r == n - 1) FN(flush)(total, some, wide);
    }
    for (int64_t c = 0; c < wide; c++) {
        sum[c] = (A)total[c];
        if (c < w && FN(no_gradient)(g + c, n, stride, total[c])) {
            for (int64_t r = 0; r < n; r++) tile[2 * r * wide + c] = 0;
            sum[c] = 0;
        }
    }
    for (int64_t r = 0; r < n; r++) {
        const A *t = tile + 2 * r * wide;
        T *q = dx + r * stride;
        for (int64_t c = 0; c < wide; c += L) {
            V v = FN(bwd_value)(*(const V *)(t + c), *(const V *)(t + wide + c), *(V *)(sum + c), as_log);
            if (c + L <= w) PUTV(q + c, v, stream);
            else STORE_N(q + c, v, w - c);
        }
    }
    if (stream) v_fence();
}

/* ---- as the driver calls them */
static void FN(fwd_rows)(const void *x, const void *none, void *y, int64_t rows, int64_t n, int stream) {
    FN(softmax_rows)(x, y, rows, n, stream, 0, 0);
}
static void FN(log_fwd_rows)(const void *x, const void *none, void *y, int64_t rows, int64_t n, int stream) {
    FN(softmax_rows)(x, y, rows, n, stream, 1, 0);
}
static void FN(quiet_fwd_rows)(const void *x, const void *none, void *y, int64_t rows, int64_t n, int stream) {
    FN(softmax_rows)(x, y, rows, n, stream, 0, 1);
}
static void FN(grad_rows)(const void *y, const void *g, void *dx, int64_t rows, int64_t n, int stream) {
    FN(bwd_rows)(y, g, dx, rows, n, stream, 0);
}
static void FN(log_grad_rows)(const void *y, const void *g, void *dx, int64_t rows, int64_t n, int stream) {
    FN(bwd_rows)(y, g, dx, rows, n, stream, 1);
}
static void FN(fwd_cols)(const void *x, const void *none, void *y, int64_t n, int64_t w, int64_t stride, int stream,
                         void *tile) {
    FN(softmax_cols)(x, y, n, w, stride, stream, tile, 0, 0);
}
static void FN(log_fwd_cols)(const void *x, const void *none, void *y, int64_t n, int64_t w, int64_t stride, int stream,
                             void *tile) {
    FN(softmax_cols)(x, y, n, w, stride, stream, tile, 1, 0);
}
static void FN(quiet_fwd_cols)(const void *x, const void *none, void *y, int64_t n, int64_t w, int64_t stride, int stream,
                               void *tile) {
    FN(softmax_cols)(x, y, n, w, stride, stream, tile, 0, 1);
}
static void FN(grad_cols)(const void *y, const void *g, void *dx, int64_t n, int64_t w, int64_t stride, int stream,
                          void *tile) {
    FN(bwd_cols)(y, g, dx, n, w, stride, stream, tile, 0);
}
static void FN(log_grad_cols)(const void *y, const void *g, void *dx, int64_t n, int64_t w, int64_t stride, int stream,
                              void *tile) {
    FN(bwd_cols)(y, g, dx, n, w, stride, stream, tile, 1);
}
static const softmax_type FN(softmax) = {
    .size = sizeof(T), .wide = sizeof(A), .lanes = L,
    .rows = {FN(fwd_rows), FN(log_fwd_rows), FN(quiet_fwd_rows), FN(grad_rows), FN(log_grad_rows)},
    .cols = {FN(fwd_cols), FN(log_fwd_cols), FN(quiet_fwd_cols), FN(grad_cols), FN(log_grad_cols)},
};
#undef SPREAD
#undef ROW_MAX
#undef PUTV
#undef FN
#undef T
#undef A
#undef V
#undef L
#undef LOAD
#undef LOAD_N
#undef STORE
#undef STORE_N
#undef STREAM
#undef LOAD2
#undef STORE2
#undef EXP
#undef EXP2
#undef HSUM
#undef MAXV
