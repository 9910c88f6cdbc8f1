/* Rows of one dtype as the losses read and write them. loss.h includes this file once a dtype, with these macros set:
     T, A, V, L     type in memory, type that is computed in, vector of A and its lanes
     LOAD, STORE    L elements at p as V; LOAD_N, STORE_N only the first k of them (others read as 0)
     EXP, HSUM, MAXV   functions of V        UP, DOWN   one element to double and back        FN(name)   name_dtype */

static void FN(loss_gather)(const void *row, const int64_t *ids, int64_t n, double *out) {
    for (int64_t i = 0; i < n; i++) out[i] = UP(((const T *)row)[ids[i]]);
}
static void FN(loss_put)(void *row, int64_t at, double v) { ((T *)row)[at] = DOWN(v); }

#define SPREAD(a) ((A)(a) - (V){0})
/* the logarithm of the sum of a row's exponentials */
static double FN(loss_log_sum)(const void *row, int64_t n) {
    const T *x = row;
    V most = SPREAD(-INFINITY);
    int64_t i = 0;
    for (; i + L <= n; i += L) most = MAXV(most, LOAD(x + i));
    A top = most[0];
    for (int l = 1; l < L; l++) top = most[l] > top ? most[l] : top;
    for (; i < n; i++) top = UP(x[i]) > top ? (A)UP(x[i]) : top;
    const V shift = SPREAD(top);
    double sum = 0;
    for (i = 0; i < n;) { /* a vector of sums takes in a few hundred numbers, then a double */
        const int64_t end = i64_min(n, i + LOSS_SPAN);
        V s0 = {0}, s1 = {0};
        for (; i + 2 * L <= end; i += 2 * L) {
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
static const loss_type FN(loss) = {sizeof(T), sizeof(T) == 8, FN(loss_gather), FN(loss_put), FN(loss_log_sum), FN(loss_softmax)};
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
#undef EXP
#undef HSUM
#undef MAXV
#undef UP
#undef DOWN
