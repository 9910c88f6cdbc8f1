/* The attention kernels of one dtype. attention.h includes this file once a dtype, with these macros set:
     T, A, V, L      type in memory, type that it is computed in, vector of A and its lanes
     LOAD, STORE     L elements at p as V; LOAD_N, STORE_N only the first k of them (others read as 0)
     EXPS, TANH, HSUM, MAXV, HMAX   functions of V       GEMM(name)   register tiles of A
     PANEL, LANES    columns of a register tile, and of half a one           FN(name)  name_dtype

   Keys are turned once a head into panels [d][PANEL], values are copied into panels [keys][PANEL], so that products read
   both one after the other. The running maximum of a query is what its exponentials are taken against; what came before
   shrinks when it grows. A query that sees nothing has maximum -inf: its exponentials, sum and result are 0. */

#define SPREAD(a) ((A)(a) - (V){0})

VINL V FN(some)(const T *p, int64_t k) {
    if (k >= L) return LOAD(p);
    return LOAD_N(p, k);
}
VINL A FN(one)(const T *p) { return FN(some)(p, 1)[0]; }

/* rows of n elements, wanted soon, to L2: they are read in an order, or after a time, that a processor does not foresee */
static void FN(bring)(const T *x, int64_t rs, int64_t rows, int64_t n) {
    for (int64_t r = 0; r < rows; r++, x += rs)
        for (int64_t i = 0; i < n; i += 64 / (int64_t)sizeof(T)) __builtin_prefetch(x + i, 0, 2);
}

VINL T *FN(place)(const attention_in *x, int64_t b, int64_t h, int64_t row) {
    return (T *)x->p + b * x->s[0] + h * x->s[1] + row * x->s[2];
}
/* rows of n elements, times a factor, to rows `ld` apart; and back */
static void FN(take_rows)(const T *x, int64_t step, int64_t rows, int64_t n, A factor, A *to, int64_t ld) {
    V f = SPREAD(factor);
    for (int64_t r = 0; r < rows; r++, x += step, to += ld) {
        int64_t i = 0;
        for (; i + L <= n; i += L) {
            V v = LOAD(x + i) * f;
            memcpy(to + i, &v, sizeof v);
        }
        for (; i < n; i++) to[i] = FN(one)(x + i) * factor;
    }
}
static void FN(put_rows)(const A *x, int64_t ld, int64_t rows, int64_t n, A factor, T *to, int64_t step) {
    for (int64_t r = 0; r < rows; r++, x += ld, to += step)
        for (int64_t i = 0; i < n; i += L) {
            V v;
            memcpy(&v, x + i, sizeof v); /* rows are followed by room */
            if (i + L <= n) STORE(to + i, v * SPREAD(factor));
            else STORE_N(to + i, v * SPREAD(factor), n - i);
        }
}
/* panels [n][PANEL] of the columns of a matrix of n rows, times a factor; `step` elements from panel to panel */
static void FN(panels)(const T *x, int64_t rs, int64_t n, int64_t columns, A factor, A *to, int64_t step) {
    V f = SPREAD(factor);
    for (int64_t c = 0; c < columns; c += PANEL, to += step) {
        int64_t w = i64_min(PANEL, columns - c);
        for (int64_t r = 0; r < n; r++) {
            const T *p = x + r * rs + c;
            for (int64_t i = 0; i < PANEL; i += L) {
                V v = {0};
                if (i < w) v = FN(some)(p + i, w - i) * f;
                memcpy(to + r * PANEL + i, &v, sizeof v);
            }
        }
    }
}
/* panels [d][PANEL] of the rows of a matrix, turned; rows that are not there are 0 */
static void FN(turned)(const T *x, int64_t rs, int64_t rows, int64_t d, A *to) {
    for (int64_t first = 0; first < rows; first += PANEL, x += PANEL * rs, to += PANEL * d) {
        FN(bring)(x + PANEL * rs, rs, i64_min(PANEL, rows - first - PANEL), d);
        for (int64_t c = 0; c < d; c += L)
            for (int64_t half = 0; half < PANEL; half += L) {
                const T *from = x + half * rs + c;
                const int64_t w = rows - first - half, n = i64_min(L, d - c);
                GEMM(vec) t[L];
                if (w >= L && n == L) {
                    GEMM_PRAGMA(GCC unroll 16)
                    for (int l = 0; l < L; l++) t[l] = (GEMM(vec))LOAD(from + l * rs);
                } else
                    for (int l = 0; l < L; l++) t[l] = l < w ? (GEMM(vec))FN(some)(from + l * rs, n) : (GEMM(vec)){0};
                GEMM(transpose)(t);
                GEMM_PRAGMA(GCC unroll 16)
                for (int l = 0; l < L; l++)
                    if (l < n) *(GEMM(vec) *)(to + (c + l) * PANEL + half) = t[l];
            }
    }
}

/* c[rows, columns] (+)= a @ panels; a(i, k) = a[i * rsa + k * csa] */
static void FN(product)(int64_t rows, int64_t columns, int64_t k, const A *a, int64_t rsa, int64_t csa, const A *panels,
                        int64_t step, int64_t ldp, A *c, int64_t ldc, int add) {
    gemm_split split = gemm_even(rows, ceil_div(rows, GEMM_MR));
    int64_t parts = ceil_div(rows, GEMM_MR);
    for (int64_t at = 0; at < columns; at += PANEL, panels += step) {
        GEMM(target) to = {.ldc = ldc, .add = add, .w = (int)i64_min(PANEL, columns - at), .near = !add};
        for (int64_t p = 0; p < parts; p++) {
            int64_t r = gemm_start(split, p), n = gemm_start(split, p + 1) - r;
            to.c = c + r * ldc + at;
            if (to.w > LANES) GEMM(tile_strided)((int)n, k, a + r * rsa, rsa, csa, panels, ldp, &to);
            else GEMM(tile_narrow)((int)n, k, a + r * rsa, rsa, csa, panels, ldp, &to);
        }
    }
}

/* keys that a query sees, counted from the first one; the last query sees all */
VINL int64_t FN(seen)(const attention_job *j, int64_t query) {
    int64_t n = query + 1 + j->keys - j->queries;
    if (!j->causal) return j->keys;
    return i64_max(0, i64_min(n, j->keys));
}

/* From products to scores: cap, mask, causal limit, bias; rows are filled with -inf to whole vectors. slopes: of the cap. */
static void FN(scores)(const attention_job *j, int64_t b, int64_t h, int64_t q0, int64_t rows, int64_t k0, int64_t n, A *s,
                       int64_t room, A *slopes) {
    for (int64_t r = 0; r < rows; r++, s += room, slopes = slopes ? slopes + room : NULL) {
        int64_t sees = i64_max(0, i64_min(n, FN(seen)(j, q0 + r) - k0));
        if (j->softcap > 0) {
            V cap = SPREAD(j->softcap), inverse = SPREAD(1 / j->softcap);
            for (int64_t i = 0; i < n; i += L) {
                V t;
                memcpy(&t, s + i, sizeof t);
                t = TANH(t * inverse);
                V out = t * cap;
                memcpy(s + i, &out, sizeof out);
                if (!slopes) continue;
                out = 1 - t * t;
                memcpy(slopes + i, &out, sizeof out);
            }
        }
        if (j->mask.p) {
            const int64_t *at = j->mask.s, step = at[3];
            const uint8_t *m = (const uint8_t *)j->mask.p + b * at[0] + h * at[1] + (q0 + r) * at[2] + k0 * step;
            if (step == 1)
                for (int64_t i = 0; i < n; i++) s[i] = m[i] ? -(A)INFINITY : s[i];
            else
                for (int64_t i = 0; i < n; i++) s[i] = m[i * step] ? -(A)INFINITY : s[i];
        }
        for (int64_t i = sees; i < n; i++) s[i] = -(A)INFINITY;
        if (j->bias.p) {
            const int64_t *at = j->bias.s, step = at[3];
            const T *p = (const T *)j->bias.p + b * at[0] + h * at[1] + (q0 + r) * at[2] + k0 * step;
            int64_t i = 0;
            for (; step == 1 && i + L <= n; i += L) {
                V v;
                memcpy(&v, s + i, sizeof v);
                v += LOAD(p + i);
                memcpy(s + i, &v, sizeof v);
            }
            for (; i < n; i++) s[i] += FN(one)(p + i * step);
        }
        for (int64_t i = n; i % L; i++) s[i] = -(A)INFINITY;
    }
}

/* the largest of n scores, whole vectors; NaN may be lost: the sum finds it */
VINL A FN(most)(const A *s, int64_t n, A m) {
    V a = SPREAD(m), b = a, c = a, d = a, v;
    int64_t i = 0;
#define MEET(to, at) \
    memcpy(&v, s + at, sizeof v); \
    to = MAXV(to, v);
    for (; i + 4 * L <= n; i += 4 * L) {
        MEET(a, i)
        MEET(b, i + L)
        MEET(c, i + 2 * L)
        MEET(d, i + 3 * L)
    }
    for (; i < n; i += L) { MEET(a, i) }
#undef MEET
    return HMAX(MAXV(MAXV(a, b), MAXV(c, d)));
}
/* scores become exponentials against `base`; their sum */
VINL A FN(exponentials)(A *s, int64_t n, A base) {
    V sums[2] = {{0}}, v[4], c = SPREAD(base);
    int64_t i = 0;
    for (; i + 4 * L <= n; i += 4 * L) {
        VM_EACH(j, 4) {
            memcpy(v + j, s + i + j * L, sizeof *v);
            v[j] -= c;
        }
        EXPS(v, 4);
        VM_EACH(j, 4) {
            memcpy(s + i + j * L, v + j, sizeof *v);
            sums[j % 2] += v[j];
        }
    }
    for (; i < n; i += L) {
        memcpy(v, s + i, sizeof *v);
        *v -= c;
        EXPS(v, 1);
        memcpy(s + i, v, sizeof *v);
        sums[i / L % 2] += *v;
    }
    return HSUM(sums[0] + sums[1]);
}

/* `rows` queries meet n keys: what was summed up before shrinks where the maximum grows, then comes what is new */
static void FN(strip)(const attention_job *j, int64_t b, int64_t h, int64_t q0, int64_t rows, int64_t k0, int64_t n,
                      const A *q, const A *kt, const A *vp, int64_t step, int64_t ldp, A *s, A *o, A *most, A *sum) {
    int64_t d = j->d, w = j->width;
    FN(product)(rows, n, d, q, d, 1, kt + k0 * d, PANEL * d, PANEL, s, ROOM, 0);
    FN(scores)(j, b, h, q0, rows, k0, n, s, ROOM, NULL);
    A tops[STRIP];
    for (int64_t r = 0; r < rows; r++) tops[r] = FN(most)(s + r * ROOM, n, most[r]);
    for (int64_t r = 0; r < rows; r++) {
        A top = tops[r], base = top == -(A)INFINITY ? 0 : top;
        A factor = k0 ? (A)exp((double)(most[r] - base)) : 0;
        sum[r] = sum[r] * factor + FN(exponentials)(s + r * ROOM, n, base);
        most[r] = top;
        if (k0 && factor != 1)
            for (int64_t i = 0; i < w; i++) o[r * w + i] *= factor;
    }
    FN(product)(rows, w, n, s, ROOM, 1, vp + k0 * ldp, step, ldp, o, w, k0 > 0);
}

/* whether values are panels as they lie: whole ones, their rows next to each other and short */
GEMM_INLINE int FN(in_place)(const attention_job *j) {
    return sizeof(T) == sizeof(A) && j->width % PANEL == 0 && j->v.s[2] == j->width && j->width * sizeof(A) <= 1024;
}

static void FN(forward)(const attention_job *j, int64_t b, int64_t h, int64_t first, int64_t last, void *scratch) {
    int64_t kv = h / (j->heads / j->kv_heads), d = j->d, w = j->width, keys = FN(seen)(j, last - 1);
    A *kt = scratch, *vp = kt + ceil_div(j->keys, PANEL) * PANEL * d, *q = vp + ceil_div(w, PANEL) * PANEL * j->keys;
    A *s = q + QUERIES * d, *o = s + STRIP * ROOM, *most = o + QUERIES * w + PANEL, *sum = most + QUERIES;
    FN(turned)(FN(place)(&j->k, b, kv, 0), j->k.s[2], keys, d, kt);
    const T *v = FN(place)(&j->v, b, kv, 0);
    int whole = FN(in_place)(j);
    if (!whole) FN(panels)(v, j->v.s[2], keys, w, 1, vp, PANEL * j->keys);
    const A *values = whole ? (const A *)v : vp;
    int64_t step = whole ? PANEL : PANEL * j->keys, ldp = whole ? j->v.s[2] : PANEL;
    for (int64_t q0 = first; q0 < last; q0 += QUERIES) {
        int64_t rows = i64_min(QUERIES, last - q0), end = FN(seen)(j, q0 + rows - 1), row = (b * j->heads + h) * j->queries + q0;
        const T *from = FN(place)(&j->q, b, h, q0);
        FN(take_rows)(from, j->q.s[2], rows, d, (A)j->scale, q, d);
        FN(bring)(from + rows * j->q.s[2], j->q.s[2], i64_min(QUERIES, last - q0 - rows), d);
        for (int64_t r = 0; r < rows; r++) most[r] = -(A)INFINITY, sum[r] = 0;
        if (FN(seen)(j, q0) == 0) memset(o, 0, (size_t)(rows * w) * sizeof(A));
        for (int64_t k0 = 0; k0 < end; k0 += KEYS)
            for (int64_t r = 0; r < rows; r += STRIP) {
                int64_t some = i64_min(STRIP, rows - r), n = i64_min(KEYS, FN(seen)(j, q0 + r + some - 1) - k0);
                if (n <= 0) continue;
                FN(strip)(j, b, h, q0 + r, some, k0, n, q + r * d, kt, values, step, ldp, s, o + r * w, most + r, sum + r);
            }
        for (int64_t r = 0; r < rows; r++) {
            A share = sum[r] == 0 ? 0 : 1 / sum[r];
            FN(put_rows)(o + r * w, w, 1, w, share, FN(place)(&j->out, b, h, q0 + r), w);
            ((A *)j->totals)[row + r] = most[r] == -(A)INFINITY ? 0 : most[r];
            ((A *)j->totals)[j->batch * j->heads * j->queries + row + r] = share;
        }
    }
}

/* n vectors of scores and of slopes of weights become weights and slopes of scores; n is a constant */
VINL void FN(slopes)(A *s, A *ds, V most, V share, V own, int n) {
    V p[4];
    VM_EACH(i, n) {
        memcpy(p + i, s + i * L, sizeof *p);
        p[i] -= most;
    }
    EXPS(p, n);
    VM_EACH(i, n) {
        V t;
        memcpy(&t, ds + i * L, sizeof t);
        p[i] *= share;
        memcpy(s + i * L, p + i, sizeof *p);
        t = p[i] * (t - own);
        memcpy(ds + i * L, &t, sizeof t);
    }
}

/* All query heads of one head of keys and values; their gradients add up in scratch. */
static void FN(backward)(const attention_job *j, int64_t b, int64_t kv, void *scratch) {
    int64_t group = j->heads / j->kv_heads, d = j->d, w = j->width, keys = j->keys, padded = ceil_div(keys, PANEL) * PANEL;
    int64_t dp = ceil_div(d, PANEL) * PANEL, wp = ceil_div(w, PANEL) * PANEL;
    A *kt = scratch, *vt = kt + padded * d, *kp = vt + padded * w, *dk = kp + dp * keys, *dv = dk + padded * dp;
    A *q = dv + padded * wp, *qp = q + BACK_QUERIES * d, *g = qp + BACK_QUERIES * dp, *gp = g + BACK_QUERIES * w;
    A *dq = gp + BACK_QUERIES * wp, *s = dq + BACK_QUERIES * dp, *ds = s + BACK_QUERIES * BACK_ROOM;
    A *slopes = ds + BACK_QUERIES * BACK_ROOM, *own = slopes + BACK_QUERIES * BACK_ROOM;
    int64_t even = ceil_div(j->queries, i64_max(1, ceil_div(j->queries, BACK_QUERIES))); /* no short block in the end */
    int64_t block = ceil_div(even, GEMM_MR) * GEMM_MR;
    const T *k = (const T *)j->k.p + b * j->k.s[0] + kv * j->k.s[1], *v = (const T *)j->v.p + b * j->v.s[0] + kv * j->v.s[1];
    FN(turned)(k, j->k.s[2], keys, d, kt);
    FN(turned)(v, j->v.s[2], keys, w, vt);
    FN(panels)(k, j->k.s[2], keys, d, 1, kp, PANEL * keys);
    memset(dk, 0, (size_t)(padded * (dp + wp)) * sizeof(A));
    for (int64_t h = kv * group; h < (kv + 1) * group; h++) {
        for (int64_t q0 = 0; q0 < j->queries; q0 += block) {
            int64_t rows = i64_min(block, j->queries - q0), end = FN(seen)(j, q0 + rows - 1);
            int64_t row = (b * j->heads + h) * j->queries + q0;
            const T *from = (const T *)j->q.p + b * j->q.s[0] + h * j->q.s[1] + q0 * j->q.s[2];
            const T *slope = (const T *)j->g.p + b * j->g.s[0] + h * j->g.s[1] + q0 * j->g.s[2];
            const T *y = (const T *)j->y.p + b * j->y.s[0] + h * j->y.s[1] + q0 * j->y.s[2];
            const A *most = (const A *)j->totals + row, *share = most + j->batch * j->heads * j->queries;
            FN(take_rows)(from, j->q.s[2], rows, d, (A)j->scale, q, d);
            FN(panels)(from, j->q.s[2], rows, d, (A)j->scale, qp, PANEL * BACK_QUERIES);
            FN(take_rows)(slope, j->g.s[2], rows, w, 1, g, w);
            FN(panels)(slope, j->g.s[2], rows, w, 1, gp, PANEL * BACK_QUERIES);
            for (int64_t r = 0; r < rows; r++) {
                V sum = {0};
                for (int64_t i = 0; i < w; i += L)
                    sum += FN(some)(slope + r * j->g.s[2] + i, w - i) * FN(some)(y + r * j->y.s[2] + i, w - i);
                own[r] = HSUM(sum);
            }
            if (end == 0) memset(dq, 0, (size_t)(rows * d) * sizeof(A));
            for (int64_t k0 = 0; k0 < end; k0 += BACK_KEYS) {
                int64_t n = i64_min(BACK_KEYS, end - k0);
                FN(product)(rows, n, d, q, d, 1, kt + k0 * d, PANEL * d, PANEL, s, BACK_ROOM, 0);
                FN(product)(rows, n, w, g, w, 1, vt + k0 * w, PANEL * w, PANEL, ds, BACK_ROOM, 0);
                FN(scores)(j, b, h, q0, rows, k0, n, s, BACK_ROOM, slopes);
                for (int64_t r = 0; r < rows; r++) {
                    A *sr = s + r * BACK_ROOM, *dr = ds + r * BACK_ROOM;
                    V c = SPREAD(most[r]), f = SPREAD(share[r]), o = SPREAD(own[r]);
                    int64_t i = 0;
                    for (; i + 4 * L <= n; i += 4 * L) FN(slopes)(sr + i, dr + i, c, f, o, 4);
                    for (; i < n; i += L) FN(slopes)(sr + i, dr + i, c, f, o, 1);
                    if (j->dbias) FN(put_rows)(dr, n, 1, n, 1, (T *)j->dbias + (row + r) * keys + k0, n);
                    for (int64_t i = 0; j->softcap > 0 && i < n; i++) dr[i] *= slopes[r * BACK_ROOM + i];
                }
                if (j->wants & 4) FN(product)(n, w, rows, s, 1, BACK_ROOM, gp, PANEL * BACK_QUERIES, PANEL, dv + k0 * w, w, 1);
                if (j->wants & 2) FN(product)(n, d, rows, ds, 1, BACK_ROOM, qp, PANEL * BACK_QUERIES, PANEL, dk + k0 * d, d, 1);
                if (j->wants & 1) FN(product)(rows, d, n, ds, BACK_ROOM, 1, kp + k0 * PANEL, PANEL * keys, PANEL, dq, d, k0 > 0);
            }
            if (j->wants & 1) FN(put_rows)(dq, d, rows, d, (A)j->scale, FN(place)(&j->dq, b, h, q0), j->dq.s[2]);
            for (int64_t r = 0; j->dbias && r < rows; r++)
                memset((T *)j->dbias + (row + r) * keys + end, 0, (size_t)(keys - end) * sizeof(T));
        }
    }
    if (j->wants & 2) FN(put_rows)(dk, d, keys, d, 1, FN(place)(&j->dk, b, kv, 0), j->dk.s[2]);
    if (j->wants & 4) FN(put_rows)(dv, w, keys, w, 1, FN(place)(&j->dv, b, kv, 0), j->dv.s[2]);
}

static const attention_type FN(attention) = {
    .wide = sizeof(A), .panel = PANEL, .forward = FN(forward), .backward = FN(backward),
};
#undef SPREAD
#undef FN
#undef GEMM
#undef T
#undef A
#undef V
#undef L
#undef LOAD
#undef LOAD_N
#undef STORE
#undef STORE_N
#undef EXPS
#undef TANH
#undef HSUM
#undef MAXV
#undef HMAX
#undef PANEL
#undef LANES
