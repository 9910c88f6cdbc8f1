/* Rows of one dtype as the losses read and write them. loss.h includes this file once a dtype, with these macros set:
     T, A, V, L     type in memory, type that is computed in, vector of A and its lanes
     LOAD, STORE    L elements at p as V; LOAD_N, STORE_N only the first k of them (others read as 0)
     STREAM         STORE past the cache
     EXP, HSUM, MAXV   functions of V        UP, DOWN   one element to double and back        FN(name)   name_dtype */

static void FN(loss_gather)(const void *row, const int64_t *ids, int64_t n, double *out) {
    for (int64_t i = 0; i < n; i++) out[i] = UP(((const T *)row)[ids[i]]);
}
static void FN(loss_put)(void *row, int64_t at, double v) { ((T *)row)[at] = DOWN(v); }

#define SPREAD(a) ((A)(a) - (V){0})
/* the logarithm of the sum of a row's exponentials */
static double FN(loss_log_sum)(const void *row, int64_t n) {
    const T *x = row;
    V most = SPREAD(-INFINITY), b = most, c = most, d = most;
    int64_t i = 0;
    for (; i + 4 * L <= n; i += 4 * L) {
        most = MAXV(most, LOAD(x + i));
        b = MAXV(b, LOAD(x + i + L));
        c = MAXV(c, LOAD(x + i + 2 * L));
        d = MAXV(d, LOAD(x + i + 3 * L));
    }
    for (; i + L <= n; i += L) most = MAXV(most, LOAD(x + i));
    most = MAXV(MAXV(most, b), MAXV(c, d));
    A top = most[0];
    for (int l = 1; l < L; l++) top = most[l] > top ? most[l] : top;
    for (; i < n; i++) top = UP(x[i]) > top ? (A)UP(x[i]) : top;
    const V shift = SPREAD(top);
    double sum = 0;
    for (i = 0; i < n;) { /* a vector of sums takes in a few hundred numbers, then a double */
        const int64_t end = i64_min(n, i + LOSS_SPAN);
        V s0 = {0}, s1 = {0};
        for (; i + 2 * L <= end; i += 2 * L) {
            for (int k = 0; k < (int)(2 * L * sizeof(T)); k += 64) v_prefetch((const char *)(x + n + i) + k); /* the next row */
            s0 += EXP(LOAD(x + i) - shift);
            s1 += EXP(LOAD(x + i + L) - shift);
        }
        for (; i + L <= end; i += L) s0 += EXP(LOAD(x + i) - shift);
        if (i < end) {
            V v = EXP(LOAD_N(x + i, end - i) - shift);
            for (int64_t l = end - i; l < L; l++) v[l] = 0;
            s1 += v;
            i = end;
        }
        sum += HSUM(s0 + s1);
    }
    return (double)top + log(sum);
}
/* scale times the softmax of a row */
static void FN(loss_softmax)(const void *row, void *out, int64_t n, double log_sum, double scale) {
    const T *x = row;
    T *y = out;
    const V shift = SPREAD(log_sum), factor = SPREAD(scale);
    int64_t i = 0;
    for (; i + L <= n; i += L) STORE(y + i, EXP(LOAD(x + i) - shift) * factor);
    if (i < n) STORE_N(y + i, EXP(LOAD_N(x + i, n - i) - shift) * factor, n - i);
}
/* L elements from i, or what is left of them: the others are 0 */
VINL V FN(loss_load)(const T *x, int64_t i, int64_t n) { return i + L <= n ? LOAD(x + i) : LOAD_N(x + i, n - i); }
VINL void FN(loss_store)(T *y, int64_t i, int64_t n, V v) {
    if (i + L <= n) STORE(y + i, v);
    else STORE_N(y + i, v, n - i);
}
/* the sum of a row less a number, weighted where there are weights */
static double FN(loss_dot)(const void *row, const void *weights, int64_t n, double less) {
    const V hi = SPREAD(less), lo = SPREAD(less - (double)(A)less);
    double sum = 0;
    for (int64_t i = 0; i < n; i += LOSS_SPAN) {
        const int64_t end = i64_min(n, i + LOSS_SPAN);
        V s = {0};
        for (int64_t k = i; k < end; k += L) {
            V v = FN(loss_load)(row, k, end) - hi - lo;
            if (weights) v *= FN(loss_load)(weights, k, end);
            else for (int64_t l = end - k; l < L; l++) v[l] = 0;
            s += v;
        }
        sum += HSUM(s);
    }
    return sum;
}
/* scale times the softmax of a row, less each times the weights (or 1), and less own at a place */
static void FN(loss_likelier)(const void *row, const void *weights, void *out, int64_t n, double log_sum, double scale,
                              double each, int64_t id, double own, int stream) {
    const T *x = row;
    T *y = out;
    const V hi = SPREAD(log_sum), lo = SPREAD(log_sum - (double)(A)log_sum), factor = SPREAD(scale), less = SPREAD(each);
    for (int64_t i = 0; i < n; i += L) {
        if ((i * sizeof(T) & 63) == 0) v_prefetch(x + n + i);
        V v = EXP(FN(loss_load)(x, i, n) - hi - lo) * factor;
        if (each != 0 && weights) v -= FN(loss_load)(weights, i, n) * less;
        else if (each != 0) v -= less;
        if ((uint64_t)(id - i) < L) v[id - i] -= (A)own;
        if (stream) STREAM(y + i, v);
        else FN(loss_store)(y, i, n, v);
    }
}
/* scale times the weights, or times 1 */
static void FN(loss_spread)(const void *weights, void *out, int64_t n, double scale) {
    const V factor = SPREAD(scale);
    for (int64_t i = 0; i < n; i += L) {
        V v = factor;
        if (weights) v *= FN(loss_load)(weights, i, n);
        FN(loss_store)(out, i, n, v);
    }
}
/* what others lack of the distance `margin` to the score of `id`: its own place is 0, and so is what lacks nothing, or (unless
   `nan`) is no number */
VINL V FN(loss_near)(const T *x, int64_t i, int64_t n, int64_t id, V own, V margin, const int nan) {
    V v = FN(loss_load)(x, i, n) - own + margin;
    __typeof__(v > v) keep = nan ? ~(v <= SPREAD(0)) : v > SPREAD(0), lane;
    for (int l = 0; l < L; l++) lane[l] = l;
    if (n - i < L) keep &= lane < (__typeof__(keep[0] + 0))(n - i);
    if (id >= i && id < i + L) keep &= lane != (__typeof__(keep[0] + 0))(id - i);
    return (V)(keep & (__typeof__(keep))v);
}
static double FN(loss_lacking)(const void *row, int64_t n, int64_t id, double margin, int64_t p) {
    const V own = SPREAD(UP(((const T *)row)[id])), more = SPREAD(margin);
    double sum = 0;
    for (int64_t i = 0; i < n; i += LOSS_SPAN) {
        const int64_t end = i64_min(n, i + LOSS_SPAN);
        V s = {0};
        for (int64_t k = i; k < end; k += L) {
            V v = FN(loss_near)(row, k, end, id, own, more, 1);
            if (p == 2) v *= v;
            s += v;
        }
        sum += HSUM(s);
    }
    return sum;
}
/* the slopes of scale times that; what is no number has none */
static void FN(loss_slopes)(const void *row, void *out, int64_t n, int64_t id, double margin, int64_t p, double scale) {
    const V own = SPREAD(UP(((const T *)row)[id])), more = SPREAD(margin), factor = SPREAD(p == 2 ? 2 * scale : scale);
    double sum = 0;
    for (int64_t i = 0; i < n; i += LOSS_SPAN) {
        const int64_t end = i64_min(n, i + LOSS_SPAN);
        V s = {0};
        for (int64_t k = i; k < end; k += L) {
            V v = FN(loss_near)(row, k, end, id, own, more, 0);
            __typeof__(v > v) near = v > SPREAD(0);
            if (p == 2) v *= factor;
            else v = (V)(near & (__typeof__(near))factor);
            s += v;
            FN(loss_store)(out, k, end, v);
        }
        sum += HSUM(s);
    }
    ((T *)out)[id] = DOWN(-sum);
}
static const loss_type FN(loss) = {
    sizeof(T), sizeof(T) == 8, FN(loss_gather), FN(loss_put), FN(loss_log_sum), FN(loss_softmax),
    FN(loss_dot), FN(loss_likelier), FN(loss_spread), FN(loss_lacking), FN(loss_slopes),
};
#undef SPREAD
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
#undef EXP
#undef HSUM
#undef MAXV
#undef UP
#undef DOWN
