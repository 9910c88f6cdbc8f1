/* The kernels of normalisation of one dtype. norm.h includes this file once a dtype, with these macros set:
     T, A, V, L     type in memory, type that it is computed in, vector of A and its lanes
     LOAD, STORE    L elements at p as V; LOAD_N, STORE_N only the first k of them (others read as 0)
     STREAM(p, v)   STORE past the cache       FMA, HSUM, POW   functions of V
     PLAIN          set where T is A           FN(name)         name_dtype

   Sums of squares run around a number from the data itself, which is then taken out: one pass, and nothing cancels that is
   not as large as the deviation. Means keep what rounding took from them (`low`) until they have been subtracted. */

#define SPREAD(a) ((A)(a) - (V){0})
#define PUTV(p, v, stream) do { if (stream) STREAM(p, v); else STORE(p, v); } while (0)
#ifdef PLAIN
#define LOAD_A LOAD
#define LOAD_A_N LOAD_N
#define STORE_A STORE
#define STORE_A_N STORE_N
#else
#define LOAD_A vf_load
#define LOAD_A_N vf_load_n
#define STORE_A vf_store
#define STORE_A_N vf_store_n
#endif

/* a vector at p, of which only the first k elements may be there */
VINL V FN(some)(const T *p, int64_t k) {
    if (k >= L) return LOAD(p);
    return LOAD_N(p, k);
}
/* the first k lanes; others 0 */
VINL V FN(first)(V v, int64_t k) {
    for (int64_t l = k; l < L; l++) v[l] = 0;
    return v;
}

/* adds a run of n elements; not centred: around 0 */
VINL void FN(run)(const T *x, int64_t n, moments *to, const int centred) {
    for (int64_t at = 0; at < n; at += CHUNK, x += CHUNK) {
        int64_t len = i64_min(CHUNK, n - at), i = 0;
        A around = 0;
        if (centred) {
            V v = FN(some)(x, len);
            int64_t k = L;
            for (; k < FIRST && k + L <= len; k += L) v += LOAD(x + k);
            around = (A)(HSUM(v) / i64_min(len, k));
            if (!(around - around == 0)) around = 0;
        }
        V c = SPREAD(around), s0 = {0}, s1 = s0, s2 = s0, s3 = s0, q0 = s0, q1 = s0, q2 = s0, q3 = s0;
#define ADD(k) { V d_ = LOAD(x + i + k * L) - c; s##k += d_; q##k = FMA(d_, d_, q##k); }
        for (; i + 4 * L <= len; i += 4 * L) {
            ADD(0) ADD(1) ADD(2) ADD(3)
        }
        for (; i + L <= len; i += L) ADD(0)
#undef ADD
        if (i < len) {
            V d = FN(first)(LOAD_N(x + i, len - i) - c, len - i);
            s1 += d;
            q1 += d * d;
        }
        double s = HSUM((s0 + s1) + (s2 + s3)), q = HSUM((q0 + q1) + (q2 + q3));
        if (centred) join_moments(to, (double)len, around + s / (double)len, fmax(q - s * s / (double)len, q * 0));
        else to->m2 += q;
    }
}

/* y = (x - mean) * scale + shift */
VINL void FN(affine)(const T *x, T *y, int64_t n, A mean, A scale, A shift, int stream) {
    V m = SPREAD(mean), a = SPREAD(scale), b = SPREAD(shift);
    int64_t i = 0;
    for (; i + L <= n; i += L) PUTV(y + i, FMA(LOAD(x + i) - m, a, b), stream);
    if (i < n) STORE_N(y + i, FMA(LOAD_N(x + i, n - i) - m, a, b), n - i);
}

/* y = ((x - mean) * scale + low) * gamma + beta */
VINL void FN(affine_row)(const T *x, const A *gamma, const A *beta, T *y, int64_t n, A mean, A scale, A low, int stream,
                         const int biased) {
    V m = SPREAD(mean), a = SPREAD(scale), b = SPREAD(low);
    int64_t i = 0;
    for (; i + L <= n; i += L) {
        if ((i * sizeof(T) & 63) == 0) v_prefetch(x + n + i);
        V v = FMA(LOAD(x + i) - m, a, b), w = LOAD_A(gamma + i);
        v = v * w;
        if (biased) v += LOAD_A(beta + i);
        PUTV(y + i, v, stream);
    }
    if (i < n) {
        int64_t k = n - i;
        V v = FMA(LOAD_N(x + i, k) - m, a, b), w = LOAD_A_N(gamma + i, k);
        v = v * w;
        if (biased) v += LOAD_A_N(beta + i, k);
        STORE_N(y + i, v, k);
    }
}

static void FN(rows)(const norm_job *j, int64_t first, int64_t last) {
    int64_t n = j->channels * j->spatial;
    for (int64_t r = first; r < last; r++) {
        const T *x = (const T *)j->x + r * n;
        T *y = (T *)j->y + r * n;
        int64_t at = r % j->groups * j->channels;
        const A *gamma = j->gamma ? (const A *)j->gamma + at : NULL, *beta = j->beta ? (const A *)j->beta + at : NULL;
        moments of = {0};
        if (j->centred) FN(run)(x, n, &of, 1);
        else FN(run)(x, n, &of, 0);
        A mean = (A)of.mean, scale = (A)(1 / sqrt(of.m2 / (double)n + j->eps)), low = (A)((mean - of.mean) * scale);
        ((A *)j->out_mean)[r] = mean;
        ((A *)j->out_scale)[r] = scale;
        if (!gamma) FN(affine)(x, y, n, mean, scale, low, j->stream);
        else if (j->spatial == 1 && beta) FN(affine_row)(x, gamma, beta, y, n, mean, scale, low, j->stream, 1);
        else if (j->spatial == 1) FN(affine_row)(x, gamma, gamma, y, n, mean, scale, low, j->stream, 0);
        else
            for (int64_t c = 0; c < j->channels; c++)
                FN(affine)(x + c * j->spatial, y + c * j->spatial, j->spatial, mean, scale * gamma[c],
                           low * gamma[c] + (beta ? beta[c] : 0), j->stream);
    }
    if (j->stream) v_fence();
}

/* sum g and sum g * (x - mean) of a run */
VINL void FN(products)(const T *x, const T *g, int64_t n, A mean, double *sum, double *product) {
    V m = SPREAD(mean);
    for (int64_t at = 0; at < n; at += CHUNK, x += CHUNK, g += CHUNK) {
        int64_t len = i64_min(CHUNK, n - at), i = 0;
        V s0 = {0}, s1 = s0, p0 = s0, p1 = s0;
#define ADD(k) { V g_ = LOAD(g + i + k * L); s##k += g_; p##k = FMA(g_, LOAD(x + i + k * L) - m, p##k); }
        for (; i + 2 * L <= len; i += 2 * L) {
            ADD(0) ADD(1)
        }
        for (; i + L <= len; i += L) ADD(0)
#undef ADD
        if (i < len) {
            V v = LOAD_N(g + i, len - i);
            s1 += v;
            p1 += FN(first)(v * (LOAD_N(x + i, len - i) - m), len - i);
        }
        *sum += HSUM(s0 + s1);
        *product += HSUM(p0 + p1);
    }
}

/* the same weighted by gamma, element by element */
VINL void FN(weighted)(const T *x, const T *g, const A *gamma, int64_t n, A mean, double *sum, double *product) {
    V m = SPREAD(mean);
    for (int64_t at = 0; at < n; at += CHUNK, x += CHUNK, g += CHUNK, gamma += CHUNK) {
        int64_t len = i64_min(CHUNK, n - at), i = 0;
        V s0 = {0}, s1 = s0, p0 = s0, p1 = s0;
#define ADD(k) { V g_ = LOAD(g + i + k * L) * LOAD_A(gamma + i + k * L); s##k += g_; \
                 p##k = FMA(g_, LOAD(x + i + k * L) - m, p##k); }
        for (; i + 2 * L <= len; i += 2 * L) {
            ADD(0) ADD(1)
        }
        for (; i + L <= len; i += L) ADD(0)
#undef ADD
        if (i < len) {
            V v = LOAD_N(g + i, len - i) * LOAD_A_N(gamma + i, len - i);
            s1 += v;
            p1 += FN(first)(v * (LOAD_N(x + i, len - i) - m), len - i);
        }
        *sum += HSUM(s0 + s1);
        *product += HSUM(p0 + p1);
    }
}

/* dx = g * p + (x - mean) * q + r */
VINL void FN(slope)(const T *x, const T *g, T *dx, int64_t n, A mean, A p, A q, A r, int stream) {
    V m = SPREAD(mean), a = SPREAD(p), b = SPREAD(q), c = SPREAD(r);
    int64_t i = 0;
    for (; i + L <= n; i += L) PUTV(dx + i, FMA(LOAD(g + i), a, FMA(LOAD(x + i) - m, b, c)), stream);
    if (i < n) STORE_N(dx + i, FMA(LOAD_N(g + i, n - i), a, FMA(LOAD_N(x + i, n - i) - m, b, c)), n - i);
}

/* dx with gamma in p, element by element; adds g * xhat to dgamma and g to dbeta where they are wanted */
VINL void FN(slope_row)(const T *x, const T *g, const A *gamma, T *dx, A *dgamma, A *dbeta, int64_t n, A mean, A scale, A q,
                        A r, int stream, const int wants) {
    V m = SPREAD(mean), a = SPREAD(scale), b = SPREAD(q), c = SPREAD(r);
    int64_t i = 0;
    for (; i + L <= n; i += L) {
        if ((i * sizeof(T) & 63) == 0) v_prefetch(x + n + i), v_prefetch(g + n + i);
        V d = LOAD(x + i) - m, v = LOAD(g + i);
        if (wants) {
            STORE_A(dgamma + i, FMA(v, d * a, LOAD_A(dgamma + i)));
            STORE_A(dbeta + i, LOAD_A(dbeta + i) + v);
        }
        PUTV(dx + i, FMA(v * LOAD_A(gamma + i), a, FMA(d, b, c)), stream);
    }
    if (i < n) {
        int64_t k = n - i;
        V d = LOAD_N(x + i, k) - m, v = LOAD_N(g + i, k);
        if (wants) {
            STORE_A_N(dgamma + i, FMA(v, d * a, LOAD_A_N(dgamma + i, k)), k);
            STORE_A_N(dbeta + i, LOAD_A_N(dbeta + i, k) + v, k);
        }
        STORE_N(dx + i, FMA(v * LOAD_A_N(gamma + i, k), a, FMA(d, b, c)), k);
    }
}

static void FN(rows_bwd)(const norm_job *j, int64_t first, int64_t last, void *sums) {
    int64_t n = j->channels * j->spatial, params = j->groups * j->channels;
    A *dgamma = sums, *dbeta = dgamma + params;
    if (sums) memset(sums, 0, (size_t)(2 * params) * sizeof(A));
    for (int64_t row = first; row < last; row++) {
        const T *x = (const T *)j->x + row * n, *g = (const T *)j->g + row * n;
        T *dx = (T *)j->y + row * n;
        int64_t at = row % j->groups * j->channels;
        const A *gamma = j->gamma ? (const A *)j->gamma + at : NULL;
        A mean = ((const A *)j->mean)[row], scale = ((const A *)j->scale)[row];
        double sum = 0, product = 0;
        if (!gamma) FN(products)(x, g, n, mean, &sum, &product);
        else if (j->spatial == 1) FN(weighted)(x, g, gamma, n, mean, &sum, &product);
        else
            for (int64_t c = 0; c < j->channels; c++) {
                double s = 0, p = 0;
                FN(products)(x + c * j->spatial, g + c * j->spatial, j->spatial, mean, &s, &p);
                sum += s * gamma[c];
                product += p * gamma[c];
                if (sums) dgamma[at + c] += (A)(p * scale), dbeta[at + c] += (A)s;
            }
        A q = (A)(-product / (double)n * scale * scale * scale), r = j->centred ? (A)(-sum / (double)n * scale) : 0;
        if (!gamma) FN(slope)(x, g, dx, n, mean, scale, q, r, j->stream);
        else if (j->spatial == 1 && sums)
            FN(slope_row)(x, g, gamma, dx, dgamma + at, dbeta + at, n, mean, scale, q, r, j->stream, 1);
        else if (j->spatial == 1) FN(slope_row)(x, g, gamma, dx, NULL, NULL, n, mean, scale, q, r, j->stream, 0);
        else
            for (int64_t c = 0; c < j->channels; c++)
                FN(slope)(x + c * j->spatial, g + c * j->spatial, dx + c * j->spatial, j->spatial, mean, scale * gamma[c], q, r,
                          j->stream);
    }
    if (j->stream) v_fence();
}

static void FN(add_parts)(const norm_job *j, void *dgamma, void *dbeta) {
    int64_t params = j->groups * j->channels;
    A *outs[2] = {dgamma, dbeta};
    for (int k = 0; k < 2; k++)
        for (int64_t c = 0; c < params; c++) {
            double sum = 0;
            for (int64_t p = 0; p < j->parts; p++) sum += ((const A *)j->part)[(2 * p + k) * params + c];
            outs[k][c] = (A)sum;
        }
}

/* ---- channels of a batch as columns */
/* [from, to) of the columns in the rows of a part: mean and sum of squares around it */
/* adds `rows` of k columns, `vectors` of them, around a number for each, which the first rows decide */
VINL void FN(column_block)(const T *x, int64_t width, int64_t rows, const int vectors, int64_t k, int fresh, A *around, A *sum,
                           A *square) {
    V m0 = {0}, m1 = m0, s0 = m0, s1 = m0, q0 = m0, q1 = m0;
    if (fresh) {
        for (int64_t i = 0; i < rows; i++) {
            m0 += FN(some)(x + i * width, k);
            if (vectors > 1) m1 += LOAD(x + i * width + L);
        }
        m0 /= SPREAD(rows);
        m1 /= SPREAD(rows);
        for (int l = 0; l < L; l++) m0[l] = m0[l] - m0[l] == 0 ? m0[l] : 0, m1[l] = m1[l] - m1[l] == 0 ? m1[l] : 0;
        STORE_A(around, m0);
        STORE_A(sum, s0);
        STORE_A(square, s0);
        if (vectors > 1) {
            STORE_A(around + L, m1);
            STORE_A(sum + L, s0);
            STORE_A(square + L, s0);
        }
    }
    m0 = LOAD_A(around);
    if (vectors > 1) m1 = LOAD_A(around + L);
    for (int64_t i = 0; i < rows; i++, x += width) {
        if (WIDE == TILE) v_prefetch(x + FEW * width);
        V d = FN(some)(x, k) - m0;
        s0 += d;
        q0 = FMA(d, d, q0);
        if (vectors > 1) {
            d = LOAD(x + L) - m1;
            s1 += d;
            q1 = FMA(d, d, q1);
        }
    }
    STORE_A(sum, LOAD_A(sum) + s0);
    STORE_A(square, LOAD_A(square) + q0);
    if (vectors > 1) {
        STORE_A(sum + L, LOAD_A(sum + L) + s1);
        STORE_A(square + L, LOAD_A(square + L) + q1);
    }
}
static void FN(column_moments)(const norm_job *j, int64_t part, int64_t from, int64_t to) {
    A around[WIDE + L] __attribute__((aligned(64))), sum[WIDE + L] __attribute__((aligned(64))),
        square[WIDE + L] __attribute__((aligned(64)));
    int64_t first = part * j->per, last = i64_min(first + j->per, j->outer), w = to - from;
    double *out = j->sums + (part * j->width + from) * 2, count = (double)(last - first);
    for (int64_t r = first; r < last; r += FEW) {
        int64_t rows = i64_min(FEW, last - r), c = 0;
        const T *x = (const T *)j->x + r * j->width + from;
        /* two vectors at once: where rows lie a multiple of 4 KB apart, their lines drive each other out of L1 */
        for (; c + 2 * L <= w; c += 2 * L)
            FN(column_block)(x + c, j->width, rows, 2, L, r == first, around + c, sum + c, square + c);
        for (; c < w; c += L) FN(column_block)(x + c, j->width, rows, 1, w - c, r == first, around + c, sum + c, square + c);
    }
    for (int64_t c = 0; c < w; c++) {
        double s = sum[c];
        out[2 * c] = around[c] + s / count;
        out[2 * c + 1] = fmax(square[c] - s * s / count, square[c] * 0);
    }
}
static void FN(run_moments)(const norm_job *j, int64_t part, int64_t from, int64_t to) {
    int64_t first = part * j->per, last = i64_min(first + j->per, j->outer);
    for (int64_t c = from; c < to; c++) {
        moments of = {0};
        for (int64_t o = first; o < last; o++)
            FN(run)((const T *)j->x + (o * j->channels + c) * j->inner, j->inner, &of, 1);
        double *out = j->sums + (part * j->width + c) * 2;
        out[0] = of.mean;
        out[1] = of.m2;
    }
}
static void FN(column_sums)(const norm_job *j, int64_t part, int64_t from, int64_t to) {
    A sum[TILE + L] __attribute__((aligned(64))) = {0}, product[TILE + L] __attribute__((aligned(64))) = {0},
      mean[TILE + L] __attribute__((aligned(64))) = {0};
    int64_t first = part * j->per, last = i64_min(first + j->per, j->outer), w = to - from;
    int64_t fold = j->width / j->channels;
    double *out = j->sums + (part * j->width + from) * 2;
    for (int64_t c = 0; c < w; c++) mean[c] = ((const A *)j->mean)[(from + c) / fold];
    for (int64_t r = first; r < last; r += BLOCK) {
        int64_t end = i64_min(r + BLOCK, last);
        for (int64_t c = 0; c < w; c += L) {
            const T *x = (const T *)j->x + r * j->width + from + c, *g = (const T *)j->g + r * j->width + from + c;
            V s = {0}, p = s, m = *(V *)(mean + c);
            for (int64_t i = r; i < end; i++, x += j->width, g += j->width) {
                if ((c * sizeof(T) & 63) == 0) v_prefetch(x + BLOCK * j->width), v_prefetch(g + BLOCK * j->width);
                V v = FN(some)(g, w - c);
                s += v;
                p = FMA(v, FN(some)(x, w - c) - m, p);
            }
            *(V *)(sum + c) += s;
            *(V *)(product + c) += p;
        }
    }
    for (int64_t c = 0; c < w; c++) out[2 * c] = sum[c], out[2 * c + 1] = product[c];
}
static void FN(run_sums)(const norm_job *j, int64_t part, int64_t from, int64_t to) {
    int64_t first = part * j->per, last = i64_min(first + j->per, j->outer);
    for (int64_t c = from; c < to; c++) {
        double *out = j->sums + (part * j->width + c) * 2;
        out[0] = out[1] = 0;
        for (int64_t o = first; o < last; o++) {
            int64_t at = (o * j->channels + c) * j->inner;
            FN(products)((const T *)j->x + at, (const T *)j->g + at, j->inner, ((const A *)j->mean)[c], out, out + 1);
        }
    }
}

/* factors of column or channel c: mean, p, q, r of y = (x - mean) * q + r, or of dx = g * p + (x - mean) * q + r */
VINL void FN(set_factors)(const norm_job *j, int64_t channel, A mean, A p, A q, A r) {
    A *f = j->part;
    int64_t fold = j->width / j->channels, w = j->width;
    for (int64_t c = channel * fold; c < (channel + 1) * fold; c++) f[c] = mean, f[w + c] = p, f[2 * w + c] = q, f[3 * w + c] = r;
}
static void FN(factors)(const norm_job *j, int64_t from, int64_t to) {
    int64_t fold = j->width / j->channels, each = j->inner / fold;
    for (int64_t c = from; c < to; c++) {
        moments of = {0};
        if (j->train) {
            for (int64_t p = 0; p < j->parts; p++)
                for (int64_t k = c * fold; k < (c + 1) * fold; k++) {
                    const double *s = j->sums + (p * j->width + k) * 2;
                    join_moments(&of, (double)((i64_min((p + 1) * j->per, j->outer) - p * j->per) * each), s[0], s[1]);
                }
            of.m2 /= of.n;
            ((A *)j->out_mean)[c] = (A)of.mean;
            ((A *)j->out_scale)[c] = (A)of.m2;
        } else {
            of.mean = ((const A *)j->mean)[c];
            of.m2 = ((const A *)j->scale)[c];
        }
        double a = ((const A *)j->gamma)[c] / sqrt(of.m2 + j->eps);
        A mean = (A)of.mean;
        FN(set_factors)(j, c, mean, 0, (A)a, (A)(((const A *)j->beta)[c] + (mean - of.mean) * a));
    }
}
static void FN(factors_bwd)(const norm_job *j, int64_t from, int64_t to) {
    int64_t fold = j->width / j->channels;
    double n = (double)(j->outer * j->inner);
    for (int64_t c = from; c < to; c++) {
        double sum = 0, product = 0;
        for (int64_t p = 0; p < j->parts; p++)
            for (int64_t k = c * fold; k < (c + 1) * fold; k++) {
                sum += j->sums[(p * j->width + k) * 2];
                product += j->sums[(p * j->width + k) * 2 + 1];
            }
        double scale = 1 / sqrt(((const A *)j->scale)[c] + j->eps), a = ((const A *)j->gamma)[c] * scale;
        ((A *)j->dgamma)[c] = (A)(product * scale);
        ((A *)j->dbeta)[c] = (A)sum;
        FN(set_factors)(j, c, ((const A *)j->mean)[c], (A)a, j->train ? (A)(-a * scale * scale * product / n) : 0,
                        j->train ? (A)(-a * sum / n) : 0);
    }
}

VINL void FN(row_of_columns)(const norm_job *j, int64_t row, int64_t from, int64_t to, const int with_g, const int with_x) {
    const A *mean = j->part, *p = mean + j->width, *q = p + j->width, *r = q + j->width;
    const T *x = (const T *)j->x + row * j->width, *g = (const T *)j->g + row * j->width;
    T *y = (T *)j->y + row * j->width;
#define VALUE(LD, LA) \
    V v = (V){0}; \
    if (with_x) v = FMA(LD(x) - LA(mean), LA(q), LA(r)); \
    if (with_g) v = FMA(LD(g), LA(p), v);
    int64_t c = from;
    for (; c + L <= to; c += L) {
#define AT(p) LOAD(p + c)
#define AT_A(p) LOAD_A(p + c)
        VALUE(AT, AT_A)
        PUTV(y + c, v, j->stream);
#undef AT
#undef AT_A
    }
    if (c < to) {
#define AT(p) LOAD_N(p + c, to - c)
#define AT_A(p) LOAD_A_N(p + c, to - c)
        VALUE(AT, AT_A)
        STORE_N(y + c, v, to - c);
#undef AT
#undef AT_A
    }
#undef VALUE
}
/* two rows of y, which share the loads of the factors, as far as whole vectors go */
VINL int64_t FN(pair_of_rows)(const norm_job *j, int64_t row, int64_t from, int64_t to) {
    const A *mean = j->part, *q = mean + 2 * j->width, *r = q + j->width;
    const T *x = (const T *)j->x + row * j->width;
    T *y = (T *)j->y + row * j->width;
    for (; from + L <= to; from += L) {
        V m = LOAD_A(mean + from), s = LOAD_A(q + from), b = LOAD_A(r + from);
        V v = FMA(LOAD(x + from) - m, s, b), w = FMA(LOAD(x + j->width + from) - m, s, b);
        PUTV(y + from, v, j->stream);
        PUTV(y + j->width + from, w, j->stream);
    }
    return from;
}
static void FN(columns)(const norm_job *j, int64_t first, int64_t last) {
    const int64_t tile = (j->g ? 2 : 8) * TILE; /* three factors and x in L1, or four and two more */
    for (int64_t from = 0; from < j->width; from += tile) {
        int64_t to = i64_min(from + tile, j->width), r = first;
        for (; !j->g && r + 1 < last; r += 2) {
            int64_t c = FN(pair_of_rows)(j, r, from, to);
            if (c == to) continue;
            FN(row_of_columns)(j, r, c, to, 0, 1);
            FN(row_of_columns)(j, r + 1, c, to, 0, 1);
        }
        for (; r < last; r++) {
            if (!j->g) FN(row_of_columns)(j, r, from, to, 0, 1);
            else if (j->train) FN(row_of_columns)(j, r, from, to, 1, 1);
            else FN(row_of_columns)(j, r, from, to, 1, 0);
        }
    }
    if (j->stream) v_fence();
}
/* runs first, first + step and so on, of [outer, channels] */
static void FN(runs)(const norm_job *j, int64_t first, int64_t last, int64_t step) {
    const A *f = j->part;
    int64_t w = j->width;
    for (int64_t i = first; i < last; i += step) {
        int64_t c = i % j->channels;
        const T *x = (const T *)j->x + i * j->inner, *g = (const T *)j->g + i * j->inner;
        T *y = (T *)j->y + i * j->inner;
        if (!j->g) FN(affine)(x, y, j->inner, f[c], f[2 * w + c], f[3 * w + c], j->stream);
        else if (j->train) FN(slope)(x, g, y, j->inner, f[c], f[w + c], f[2 * w + c], f[3 * w + c], j->stream);
        else FN(affine)(g, y, j->inner, 0, f[w + c], 0, j->stream);
    }
    if (j->stream) v_fence();
}

/* ---- local response: w positions of all channels of one outer index; the window of c reaches `below` down, `above` up */
VINL V FN(window)(const A *tile, int64_t wide, int64_t c, int64_t channels, int64_t below, int64_t above) {
    V s = {0};
    for (int64_t k = i64_max(0, c - below); k <= i64_min(channels - 1, c + above); k++) s += LOAD_A(tile + k * wide);
    return s;
}
static void FN(response)(const norm_job *j, int64_t outer, int64_t from, int64_t w, void *room) {
    int64_t wide = (w + L - 1) / L * L, below = (j->groups - 1) / 2, above = j->groups / 2, n = j->channels;
    A *tile = room, *terms = tile + n * wide;
    const T *x = (const T *)j->x + outer * n * j->inner + from, *g = j->g ? (const T *)j->g + outer * n * j->inner + from : x;
    T *y = (T *)j->y + outer * n * j->inner + from;
    V k = SPREAD(j->k), alpha = SPREAD(j->alpha), power = SPREAD(-j->power);
    V factor = SPREAD(2 * j->alpha * j->power);
#define ROW(p, c, at) FN(some)(p + (c) * j->inner + (at), w - (at))
    for (int64_t at = 0; at < w; at += L) {
        for (int64_t c = 0; c < n; c++) {
            V v = ROW(x, c, at);
            STORE_A(tile + c * wide + at, v * v);
        }
        for (int64_t c = 0; c < n; c++) {
            V s = FMA(FN(window)(tile + at, wide, c, n, below, above), alpha, k), v = ROW(x, c, at);
            if (!j->g) {
                V out = v * POW(s, power);
                STORE_N(y + c * j->inner + at, out, i64_min(L, w - at));
            } else STORE_A(terms + c * wide + at, ROW(g, c, at) * v * POW(s, power - 1));
        }
        for (int64_t c = 0; j->g && c < n; c++) {
            V s = FMA(FN(window)(tile + at, wide, c, n, below, above), alpha, k);
            V out = ROW(g, c, at) * POW(s, power)
                    - factor * ROW(x, c, at) * FN(window)(terms + at, wide, c, n, above, below);
            STORE_N(y + c * j->inner + at, out, i64_min(L, w - at));
        }
    }
#undef ROW
}

static const norm_type FN(norm) = {
    .size = sizeof(T), .wide = sizeof(A), .rows = FN(rows), .rows_bwd = FN(rows_bwd), .add_parts = FN(add_parts),
    .column_moments = FN(column_moments), .run_moments = FN(run_moments), .column_sums = FN(column_sums),
    .run_sums = FN(run_sums), .factors = FN(factors), .factors_bwd = FN(factors_bwd), .columns = FN(columns),
    .runs = FN(runs), .response = FN(response),
};
#undef SPREAD
#undef PUTV
#undef LOAD_A
#undef LOAD_A_N
#undef STORE_A
#undef STORE_A_N
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
#undef FMA
#undef HSUM
#undef POW
#undef PLAIN
