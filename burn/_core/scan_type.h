/* The scans of one dtype. scan.h includes this file once a dtype, with these macros set:
     T, A                type in memory, type that sums and products are computed in
     FLOATING, SUM(acc)  for float dtypes: 1, and the member of scan_acc that holds A
     ROW_SUM, ROW_PROD   a contiguous row by vectors, where there is such a function
     FN(name)            name_dtype

   fresh: there is no running result yet. A tie gives the later value, which tells the gradient where it came from. */

#ifndef FLOATING
#define FLOATING 0
#define SUM(acc) (acc).u
#endif
#if FLOATING
#define IS_NAN(a) ((a) != (a))
#else
#define IS_NAN(a) 0
#endif
#define HELD(acc) (*(T *)&(acc)) /* a value of the dtype in a running result */

static void FN(columns)(enum scan_op op, const void *from, void *to, int64_t w, scan_acc *acc, int fresh) {
    const T *x = from;
    T *y = to;
    if (fresh) {
        for (int64_t c = 0; c < w; c++) {
            const T v = x[c];
            if (op <= SCAN_PROD) SUM(acc[c]) = (A)v;
            else HELD(acc[c]) = v;
            y[c] = v;
        }
        return;
    }
    switch (op) {
    case SCAN_SUM:
        for (int64_t c = 0; c < w; c++) y[c] = (T)(A)(SUM(acc[c]) += (A)x[c]);
        break;
    case SCAN_PROD:
        for (int64_t c = 0; c < w; c++) y[c] = (T)(A)(SUM(acc[c]) *= (A)x[c]);
        break;
#define RUNNING(c, beats) \
        { \
            const T v = x[c], held = HELD(acc[c]), best = v beats held || IS_NAN(v) ? v : held; \
            HELD(acc[c]) = best; \
            y[c] = best; \
        }
    case SCAN_MAX:
        for (int64_t c = 0; c < w; c++) RUNNING(c, >=)
        break;
    default:
        for (int64_t c = 0; c < w; c++) RUNNING(c, <=)
#undef RUNNING
    }
}

/* The running extreme changes seldom: blocks of eight that do not change it are filled at once. */
#define EXTREME(name, beats) \
    VINL void FN(name)(const T *x, T *y, int64_t n, T best, const int reverse) { \
        int64_t i = 0; \
        const int64_t step = reverse ? -1 : 1; \
        if (reverse) x += n - 1, y += n - 1; \
        while (i < n && !IS_NAN(best)) { \
            if (i + 8 <= n) { \
                const T *p = reverse ? x - i - 7 : x + i; \
                T *q = reverse ? y - i - 7 : y + i; \
                int changes = 0; \
                for (int k = 0; k < 8; k++) changes |= !(best beats p[k]); \
                if (!changes) { \
                    for (int k = 0; k < 8; k++) q[k] = best; \
                    i += 8; \
                    continue; \
                } \
            } \
            const int64_t end = i64_min(n, i + 8); \
            for (; i < end; i++) { \
                const T v = x[i * step]; \
                best = IS_NAN(best) || best beats v ? best : v; \
                y[i * step] = best; \
            } \
        } \
        for (; i < n; i++) y[i * step] = best; \
    }
EXTREME(row_max, >)
EXTREME(row_min, <)

static void FN(row)(enum scan_op op, const void *from, void *to, int64_t n, scan_acc *acc, int fresh, int stream,
                    int reverse) {
    const T *x = from;
    T *y = to;
    const int64_t first = reverse ? n - 1 : 0, step = reverse ? -1 : 1, after = first + step * (n - 1);
    (void)stream;
    if (op >= SCAN_MAX) {
        const T best = fresh ? x[first] : HELD(*acc);
        if (op == SCAN_MAX && reverse) FN(row_max)(x, y, n, best, 1);
        else if (op == SCAN_MAX) FN(row_max)(x, y, n, best, 0);
        else if (reverse) FN(row_min)(x, y, n, best, 1);
        else FN(row_min)(x, y, n, best, 0);
        HELD(*acc) = y[after];
        return;
    }
    if (fresh) SUM(*acc) = op == SCAN_SUM ? 0 : 1;
#ifdef ROW_SUM
    if (op == SCAN_SUM && reverse) ROW_SUM(x, y, n, acc, stream, 1);
    else if (op == SCAN_SUM) ROW_SUM(x, y, n, acc, stream, 0);
    else if (reverse) ROW_PROD(x, y, n, acc, stream, 1);
    else ROW_PROD(x, y, n, acc, stream, 0);
#else
    A sum = (A)SUM(*acc);
    if (op == SCAN_SUM) for (int64_t i = 0; i < n; i++) y[first + i * step] = (T)(sum += (A)x[first + i * step]);
    else for (int64_t i = 0; i < n; i++) y[first + i * step] = (T)(sum *= (A)x[first + i * step]);
    SUM(*acc) = sum;
#endif
}

/* acc with the sum or the product of n elements, in eight interleaved parts */
static void FN(total)(enum scan_op op, const void *from, int64_t n, scan_acc *acc) {
    const T *x = from;
    const A start = op == SCAN_SUM ? 0 : 1;
    A part[8], sum = (A)SUM(*acc);
    int64_t i = 0;
    for (int k = 0; k < 8; k++) part[k] = start;
    if (op == SCAN_SUM) for (; i + 8 <= n; i += 8) for (int k = 0; k < 8; k++) part[k] += (A)x[i + k];
    else for (; i + 8 <= n; i += 8) for (int k = 0; k < 8; k++) part[k] *= (A)x[i + k];
    for (int k = 0; k < 8; k++) sum = op == SCAN_SUM ? sum + part[k] : sum * part[k];
    for (; i < n; i++) sum = op == SCAN_SUM ? sum + (A)x[i] : sum * (A)x[i];
    SUM(*acc) = sum;
}

static const scan_type FN(scan) = {FN(columns), FN(row), FN(total)};

#undef EXTREME
#undef HELD
#undef IS_NAN
#undef FLOATING
#undef SUM
#undef ROW_SUM
#undef ROW_PROD
#undef FN
#undef T
#undef A
