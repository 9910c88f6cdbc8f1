/* The reduce kernels of one dtype. reduce.h includes this file once a dtype, with these macros set:
     T                type in memory
     A                type that it is computed in: float for the half types, int32 for small integers
     V, M, L          vector of A, vector of integers as wide as A, and their lanes
     LOAD(p), GET(p)  L elements as V, one element as A
     LOAD2(p, v)      2 * L elements as a pair v, in any order
     PUT(p, a)        stores a double
     MAXV, MINV       a > b ? a : b and a < b ? a : b
     UNORD(a, b)      lanes where either is NaN
     HSUM(v)          sum of the lanes
     LOWEST, HIGHEST  start values of max and min
     FLOATING         1 for float dtypes
     FN(name)         name_dtype

   A tile is n rows of w <= TILE columns, `stride` elements apart; it gives w accumulators. With w = 1 and stride = 1 it
   is one contiguous row. */

#define SEL(m, a, b) ((V)(((m) & (M)(a)) | (~(m) & (M)(b))))
#define SPREAD(a) ((A)(a) - (V){0})
#if FLOATING
#define IS_NAN(a) ((a) != (a))
#else
#define IS_NAN(a) ((void)(a), 0)
#endif

#ifndef LOAD2
#define LOAD2(p, v) ((v)[0] = LOAD(p), (v)[1] = LOAD((p) + L))
#endif
#if FLOATING
/* Sum of x, or of (x - mean)^2 where sq: 8 vectors of running sums, 32 terms each, then double. mean is taken off
   in two parts, as a mean of large values is not a float. */
VINL double FN(sum_row)(const T *x, int64_t n, double mean, const int sq) {
    const V hi = SPREAD(mean), lo = SPREAD(mean - (double)(A)mean);
    double total = 0;
    A rest = 0;
#define TERM(v) ({ V d_ = (v); if (sq) { d_ = d_ - hi - lo; d_ = d_ * d_; } d_; })
    if (n < 8 * L) { /* many short rows: little to set up */
        V s = {0};
        int64_t i = 0;
        for (; i + L <= n; i += L) s += TERM(LOAD(x + i));
        for (; i < n; i++) {
            A d = GET(x + i);
            if (sq) d = d - hi[0] - lo[0], d = d * d;
            rest += d;
        }
        return (double)HSUM(s) + rest;
    }
    for (int64_t b = 0; b < n; b += 256 * L) {
        const T *p = x + b;
        int64_t len = i64_min(256 * L, n - b), i = 0;
        V s0 = {0}, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
        for (; i + 8 * L <= len; i += 8 * L, p += 8 * L) {
            if (VW == 16) /* with AVX2 the hardware's own prefetch is faster alone: 5-10 % of a sum */
                for (int k = 0; k < (int)(8 * L * sizeof(T)); k += 64) v_prefetch((const char *)p + 2048 + k);
            V v[8];
#pragma GCC unroll 4
            for (int k = 0; k < 8; k += 2) LOAD2(p + k * L, v + k);
            s0 += TERM(v[0]);
            s1 += TERM(v[1]);
            s2 += TERM(v[2]);
            s3 += TERM(v[3]);
            s4 += TERM(v[4]);
            s5 += TERM(v[5]);
            s6 += TERM(v[6]);
            s7 += TERM(v[7]);
        }
        for (; i + L <= len; i += L, p += L) s0 += TERM(LOAD(p));
        for (; i < len; i++, p++) {
            A d = GET(p);
            if (sq) d = d - hi[0] - lo[0], d = d * d;
            rest += d;
        }
        total += HSUM(((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7)));
    }
    return total + rest;
}

/* The same down the columns: 8 rows as a tree, up to 16 such trees into an L1 tile, tiles into doubles: the error grows
   with n / 128 only. */
VINL void FN(sum_cols)(const T *x, int64_t n, int64_t w, int64_t stride, const double *mean, acc_t *acc, const int sq) {
    A part[TILE] __attribute__((aligned(64))), hi_w[TILE] __attribute__((aligned(64))),
        lo_w[TILE] __attribute__((aligned(64)));
    int64_t whole = w / L * L;
    double *total = &acc->d; /* of acc_t the compiler would have to think that it may be part of `part` */
    for (int64_t c = 0; c < w; c++) {
        total[c] = 0;
        if (sq) hi_w[c] = (A)mean[c], lo_w[c] = (A)(mean[c] - (double)hi_w[c]);
    }
#define COL(q) TERM(LOAD(p + (q) * stride))
#define COL1(p) ({ A d_ = GET(p); if (sq) { d_ = d_ - hi_w[c] - lo_w[c]; d_ = d_ * d_; } d_; })
    for (int64_t r0 = 0; r0 < n; r0 += 128) {
        int64_t r = r0, r1 = i64_min(r0 + 128, n);
        memset(part, 0, (size_t)w * sizeof(A));
        for (; r + 8 <= r1; r += 8) {
            const T *p = x + r * stride;
            int64_t c = 0;
            for (; c < whole; c += L, p += L) {
                V hi = {0}, lo = hi;
                if (sq) hi = *(const V *)(hi_w + c), lo = *(const V *)(lo_w + c);
                /* Processors with AVX-512 follow the rows themselves. */
                if (BURN_LEVEL < 4 && (c * sizeof(T) & 63) == 0)
                    for (int q = 8; q < 16; q++) v_prefetch(p + q * stride);
                *(V *)(part + c) += ((COL(0) + COL(1)) + (COL(2) + COL(3))) + ((COL(4) + COL(5)) + (COL(6) + COL(7)));
            }
            for (; c < w; c++, p++) for (int q = 0; q < 8; q++) part[c] += COL1(p + q * stride);
        }
        for (; r < r1; r++) {
            const T *p = x + r * stride;
            int64_t c = 0;
            for (; c < whole; c += L, p += L) {
                V hi = {0}, lo = hi;
                if (sq) hi = *(const V *)(hi_w + c), lo = *(const V *)(lo_w + c);
                *(V *)(part + c) += COL(0);
            }
            for (; c < w; c++, p++) part[c] += COL1(p);
        }
        for (int64_t c = 0; c < w; c++) total[c] += (double)part[c];
    }
#undef COL
#undef COL1
#undef TERM
}

static void FN(sum_tile)(const void *x, int64_t n, int64_t w, int64_t stride, const double *mean, acc_t *acc) {
    if (stride == 1) acc->d = FN(sum_row)(x, n, 0, 0);
    else FN(sum_cols)(x, n, w, stride, mean, acc, 0);
}
static void FN(var_tile)(const void *x, int64_t n, int64_t w, int64_t stride, const double *mean, acc_t *acc) {
    if (stride == 1) acc->d = FN(sum_row)(x, n, *mean, 1);
    else FN(sum_cols)(x, n, w, stride, mean, acc, 1);
}
PROD_TILE(FN(prod_tile), T, GET, double, d) /* no overflow half way that the result does not have */
#define ACC d
#else
/* Integer sums wrap at 64 bits, hence at the dtype's width too. */
static void FN(sum_tile)(const void *xv, int64_t n, int64_t w, int64_t stride, const double *mean, acc_t *acc) {
    const T *x = xv;
    if (stride == 1) {
        uint64_t s = 0;
        for (int64_t i = 0; i < n; i++) s += (uint64_t)(int64_t)x[i];
        acc->u = s;
        return;
    }
    memset(acc, 0, (size_t)w * sizeof *acc);
    for (int64_t r = 0; r < n; r++, x += stride)
        for (int64_t c = 0; c < w; c++) acc[c].u += (uint64_t)(int64_t)x[c];
}
#define ACC u
#endif

/* ---- largest and smallest: the position of the first NaN, else of the first extreme */
#define BETTER(a, b) (is_min ? MINV(a, b) : MAXV(a, b))
/* the best of the lanes */
VINL A FN(best_lane)(V v, const int is_min) {
    A t[L] __attribute__((aligned(64)));
    memcpy(t, &v, sizeof t);
#pragma GCC unroll 4
    for (int h = L / 2; h; h /= 2)
#pragma GCC unroll 16
        for (int l = 0; l < h; l++)
            if (is_min ? t[l + h] < t[l] : t[l + h] > t[l]) t[l] = t[l + h];
    return t[0];
}
static int64_t FN(first)(const T *x, int64_t n, A value, int nan) {
    const V b = SPREAD(value);
    int64_t i = 0;
    for (; !nan && i + 4 * L <= n; i += 4 * L) {
        V v[4];
        LOAD2(x + i, v);
        LOAD2(x + i + 2 * L, v + 2);
        if (any_lane((vi)((v[0] == b) | (v[1] == b) | (v[2] == b) | (v[3] == b)))) break;
    }
    for (; i + L <= n; i += L) {
        V v = LOAD(x + i);
#if FLOATING
        if (any_lane(nan ? (vi)(v != v) : (vi)(v == b))) break;
#else
        if (any_lane((vi)(v == b))) break;
#endif
    }
    for (; i < n; i++) {
        A a = GET(x + i);
        if (nan ? IS_NAN(a) : a == value) return i;
    }
    return 0;
}

/* Blocks of 2048 go by at memory speed; only the block that holds the answer, still in L1, is searched. */
VINL int64_t FN(extreme_row)(const T *x, int64_t n, const int is_min) {
    A best = GET(x);
    int64_t at = 0;
    for (int64_t b = 0; b < n; b += 2048) {
        const T *p = x + b, *end = p + i64_min(2048, n - b);
        A m = is_min ? HIGHEST : LOWEST;
        V m0 = SPREAD(m), m1 = m0, m2 = m0, m3 = m0;
        M u = {0};
        int nan = 0;
        for (; p + 4 * L <= end; p += 4 * L) {
            for (int k = 0; k < (int)(4 * L * sizeof(T)); k += 64) v_prefetch((const char *)p + 2048 + k);
            V v[4];
            LOAD2(p, v);
            LOAD2(p + 2 * L, v + 2);
            const V v0 = v[0], v1 = v[1], v2 = v[2], v3 = v[3];
#if FLOATING
            u |= UNORD(v0, v1) | UNORD(v2, v3);
#endif
            m0 = BETTER(m0, v0);
            m1 = BETTER(m1, v1);
            m2 = BETTER(m2, v2);
            m3 = BETTER(m3, v3);
        }
        for (; p + L <= end; p += L) {
            V v0 = LOAD(p);
#if FLOATING
            u |= UNORD(v0, v0);
#endif
            m0 = BETTER(m0, v0);
        }
        m = FN(best_lane)(BETTER(BETTER(m0, m1), BETTER(m2, m3)), is_min);
        for (; p < end; p++) {
            A a = GET(p);
            nan |= IS_NAN(a);
            if (is_min ? a < m : a > m) m = a;
        }
        if (nan || any_lane((vi)u)) return b + FN(first)(x + b, end - x - b, 0, 1);
        if (b == 0 || (is_min ? m < best : m > best)) best = m, at = b;
    }
    return at + FN(first)(x + at, i64_min(2048, n - at), best, 0);
}

/* The value alone needs no search; where there is a NaN it is the first. */
VINL A FN(value_row)(const T *x, int64_t n, const int is_min) {
    V m[8], v[8];
    M u = {0};
    int64_t i = 0;
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++) m[k] = SPREAD(is_min ? HIGHEST : LOWEST);
    for (; i + 8 * L <= n; i += 8 * L) {
        for (int k = 0; k < (int)(8 * L * sizeof(T)); k += 64) v_prefetch((const char *)(x + i) + 2048 + k);
#pragma GCC unroll 4
        for (int k = 0; k < 8; k += 2) {
            LOAD2(x + i + k * L, v + k);
#if FLOATING
            u |= UNORD(v[k], v[k + 1]);
#endif
            m[k] = BETTER(m[k], v[k]);
            m[k + 1] = BETTER(m[k + 1], v[k + 1]);
        }
    }
    for (; i + L <= n; i += L) {
        v[0] = LOAD(x + i);
#if FLOATING
        u |= UNORD(v[0], v[0]);
#endif
        m[0] = BETTER(m[0], v[0]);
    }
    m[0] = BETTER(BETTER(BETTER(m[0], m[1]), BETTER(m[2], m[3])), BETTER(BETTER(m[4], m[5]), BETTER(m[6], m[7])));
    A best = FN(best_lane)(m[0], is_min);
    int nan = 0;
    for (; i < n; i++) {
        A a = GET(x + i);
        nan |= IS_NAN(a);
        if (is_min ? a < best : a > best) best = a;
    }
    return nan || any_lane((vi)u) ? GET(x + FN(first)(x, n, 0, 1)) : best;
}

/* Down the columns, four rows a visit; best values and their rows stay in an L1 tile. */
VINL void FN(extreme_cols)(const T *x, int64_t n, int64_t w, int64_t stride, acc_t *acc, const int is_min) {
    A best[TILE] __attribute__((aligned(64)));
    __typeof__((M){0}[0]) row[TILE] __attribute__((aligned(64)));
    int64_t whole = w / L * L;
    for (int64_t c = 0; c < w; c++) best[c] = GET(x + c), row[c] = 0;
#if FLOATING
#define TAKES(t, b) ((is_min ? (t) < (b) : (t) > (b)) | (((t) != (t)) & ((b) == (b))))
#else
#define TAKES(t, b) (is_min ? (t) < (b) : (t) > (b))
#endif
    for (int64_t r = 1; r < n; r += 4) {
        int rows = (int)i64_min(4, n - r);
        const T *p = x + r * stride;
        int64_t c = 0;
        if (rows == 4) {
            for (; c < whole; c += L) {
                V b = *(V *)(best + c);
                M k = *(M *)(row + c);
#pragma GCC unroll 4
                for (int q = 0; q < 4; q++) {
                    V t = LOAD(p + q * stride + c);
                    M take = (M)TAKES(t, b), rq = (__typeof__(k[0]))(r + q) - (M){0};
                    b = SEL(take, t, b);
                    k = (take & rq) | (~take & k);
                }
                *(V *)(best + c) = b;
                *(M *)(row + c) = k;
            }
        }
        for (; c < w; c++) {
            for (int q = 0; q < rows; q++) {
                A t = GET(p + q * stride + c);
                if (TAKES(t, best[c])) best[c] = t, row[c] = (__typeof__(row[0]))(r + q);
            }
        }
    }
#undef TAKES
    for (int64_t c = 0; c < w; c++) acc[c].i = row[c];
}
static void FN(max_tile)(const void *x, int64_t n, int64_t w, int64_t stride, const double *mean, acc_t *acc) {
    if (stride == 1) acc->i = FN(extreme_row)(x, n, 0);
    else FN(extreme_cols)(x, n, w, stride, acc, 0);
}
static void FN(min_tile)(const void *x, int64_t n, int64_t w, int64_t stride, const double *mean, acc_t *acc) {
    if (stride == 1) acc->i = FN(extreme_row)(x, n, 1);
    else FN(extreme_cols)(x, n, w, stride, acc, 1);
}
/* ---- largest and smallest values alone: eight rows as a tree, NaN noticed aside and put on top as all ones */
VINL void FN(value_cols)(const T *x, int64_t n, int64_t w, int64_t stride, acc_t *acc, const int is_min) {
    A best[TILE] __attribute__((aligned(64)));
    int64_t whole = w / L * L;
    for (int64_t c = 0; c < w; c++) best[c] = GET(x + c);
    for (int64_t r = 0; r < n;) {
        int rows = n - r >= 8 ? 8 : 1;
        const T *p = x + r * stride;
        int64_t c = 0;
        for (; rows == 8 && c < whole; c += L, p += L) {
            if ((c * sizeof(T) & 63) == 0) for (int q = 8; q < 16; q++) v_prefetch(p + q * stride);
            V a = LOAD(p), b = LOAD(p + stride), d = LOAD(p + 2 * stride), e = LOAD(p + 3 * stride),
              m = *(V *)(best + c);
            V f = LOAD(p + 4 * stride), g = LOAD(p + 5 * stride), h = LOAD(p + 6 * stride), i = LOAD(p + 7 * stride);
            m = BETTER(BETTER(BETTER(BETTER(a, b), BETTER(d, e)), BETTER(BETTER(f, g), BETTER(h, i))), m);
#if FLOATING
            m = (V)((M)m | UNORD(a, b) | UNORD(d, e) | UNORD(f, g) | UNORD(h, i));
#endif
            *(V *)(best + c) = m;
        }
        for (; rows == 1 && c < whole; c += L, p += L) {
            V a = LOAD(p), m = BETTER(a, *(V *)(best + c));
#if FLOATING
            m = (V)((M)m | UNORD(a, a));
#endif
            *(V *)(best + c) = m;
        }
        for (; c < w; c++, p++) {
            for (int q = 0; q < rows; q++) {
                A a = GET(p + q * stride);
                if (IS_NAN(a) || (is_min ? a < best[c] : a > best[c])) best[c] = a;
            }
        }
        r += rows;
    }
    for (int64_t c = 0; c < w; c++) acc[c].ACC = (__typeof__(acc->ACC))best[c];
}
static void FN(max_value_tile)(const void *x, int64_t n, int64_t w, int64_t stride, const double *mean, acc_t *acc) {
    if (stride == 1) acc->ACC = (__typeof__(acc->ACC))FN(value_row)(x, n, 0);
    else FN(value_cols)(x, n, w, stride, acc, 0);
}
static void FN(min_value_tile)(const void *x, int64_t n, int64_t w, int64_t stride, const double *mean, acc_t *acc) {
    if (stride == 1) acc->ACC = (__typeof__(acc->ACC))FN(value_row)(x, n, 1);
    else FN(value_cols)(x, n, w, stride, acc, 1);
}
static void FN(join_values)(acc_t *into, const acc_t *from, int64_t w, int is_min) {
    for (int64_t c = 0; c < w; c++) {
        A a = (A)into[c].ACC, b = (A)from[c].ACC;
        if (IS_NAN(b) || (is_min ? b < a : b > a)) into[c] = from[c];
    }
}
/* whether position j of x wins over position i: a NaN over a number, the better value, the earlier position */
static int FN(wins)(const void *xv, int64_t i, int64_t j, int is_min) {
    A a = GET((const T *)xv + i), b = GET((const T *)xv + j);
    if (IS_NAN(a) || IS_NAN(b)) return IS_NAN(b) && (!IS_NAN(a) || j < i);
    return (is_min ? b < a : b > a) || (a == b && j < i);
}

/* stores acc / n (n = 1 for plain sums and products); integers truncate */
static void FN(put)(void *out, const acc_t *acc, int64_t w, double n) {
    T *y = out;
#if FLOATING
    for (int64_t c = 0; c < w; c++) PUT(y + c, n == 1 ? acc[c].d : acc[c].d / n);
#else
    int64_t k = (int64_t)n;
    int wide = (T)-1 > 0 && sizeof(T) == 8; /* only there the sum needs bit 63 as a digit */
    for (int64_t c = 0; c < w; c++)
        y[c] = (T)(k <= 1 ? acc[c].i : wide ? (int64_t)(acc[c].u / (uint64_t)k) : acc[c].i / k);
#endif
}

static const reduce_type FN(reduce) = {
    .size = sizeof(T),
    .floating = FLOATING,
    .sum = FN(sum_tile),
    .max_at = FN(max_tile),
    .min_at = FN(min_tile),
    .max = FN(max_value_tile),
    .min = FN(min_value_tile),
    .join_values = FN(join_values),
    .wins = FN(wins),
    .put = FN(put),
#if FLOATING
    .var = FN(var_tile),
    .prod = FN(prod_tile),
#endif
};
#undef SEL
#undef SPREAD
#undef IS_NAN
#undef BETTER
#undef ACC
#undef T
#undef A
#undef V
#undef M
#undef L
#undef FN
#undef LOAD
#undef LOAD2
#undef GET
#undef PUT
#undef MAXV
#undef MINV
#undef UNORD
#undef HSUM
#undef LOWEST
#undef HIGHEST
#undef FLOATING
