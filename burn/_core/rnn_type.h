/* Recurrent cells of one dtype. rnn.h includes this file once a dtype, with these macros set:
     T, V, L                   element, vector of them and its lanes       FN(name), GEMM(name)   name_dtype
     LOAD, STORE               L elements at p as V                        PACK                   gemm_pack_b_dtype
     SIGMOID, TANH             functions of V                              PANEL                  columns of a register tile
     CLAMP(x, limit)           x within -limit..limit, NaN as it is
     INSIDE(x, limit, d)       d where x lies in -limit..limit, else 0

   A part of a step has the PANEL units of one panel in some rows of the batch, for all gates: in small arrays [rows][PANEL]
   products and activations follow each other in L1. A step of the gradient begins with the product that closes the one
   before, since that is all its own units need from the others. */

#define ARRAY (RNN_ROWS * PANEL)
#define SPREAD(a) ((T)(a) - (V){0})
#define EACH(e) for (int64_t e = 0; e < p.rows * PANEL; e += L)

/* where a part is: its panel, its rows, and the units that the panel really has */
typedef struct { int64_t panel, row, rows, width; } FN(part);

GEMM_INLINE FN(part) FN(part_of)(const rnn_job *j, int64_t part) {
    const gemm_split split = gemm_even(j->batch, j->chunks);
    const int64_t panel = part / j->chunks, chunk = part % j->chunks, row = gemm_start(split, chunk);
    return (FN(part)){panel, row, gemm_start(split, chunk + 1) - row, i64_min(PANEL, j->hidden - panel * PANEL)};
}

/* the part's rows and units of a matrix whose rows are `ld` apart, and back */
GEMM_INLINE void FN(take)(T *to, const FN(part) *p, const T *from, int64_t ld) {
    from += p->row * ld + p->panel * PANEL;
    if (p->width == PANEL) {
        for (int64_t r = 0; r < p->rows; r++, from += ld, to += PANEL) {
            STORE(to, LOAD(from));
            STORE(to + L, LOAD(from + L));
        }
        return;
    }
    for (int64_t r = 0; r < p->rows; r++, from += ld, to += PANEL) {
        for (int64_t i = 0; i < p->width; i++) to[i] = from[i];
        for (int64_t i = p->width; i < PANEL; i++) to[i] = 0;
    }
}
GEMM_INLINE void FN(put)(const T *from, const FN(part) *p, T *to, int64_t ld) {
    to += p->row * ld + p->panel * PANEL;
    if (p->width == PANEL) {
        for (int64_t r = 0; r < p->rows; r++, to += ld, from += PANEL) {
            STORE(to, LOAD(from));
            STORE(to + L, LOAD(from + L));
        }
        return;
    }
    for (int64_t r = 0; r < p->rows; r++, to += ld, from += PANEL)
        for (int64_t i = 0; i < p->width; i++) to[i] = from[i];
}

/* One row: to[gate] += a @ its panel, `gates` of them side by side, since a chain of additions alone would wait for itself. */
GEMM_INLINE void FN(one_row)(const int gates, const int depth, int64_t k, const T *a, const T *w, int64_t step, T *to) {
    V x[4][2] = {{{0}}};
    int64_t i = 0;
    for (; i + depth <= k; i += depth)
        for (int d = 0; d < depth; d++) {
            const V s = SPREAD(a[i + d]);
            for (int q = 0; q < gates; q++) {
                x[q + d * gates][0] += s * LOAD(w + q * step + (i + d) * PANEL);
                x[q + d * gates][1] += s * LOAD(w + q * step + (i + d) * PANEL + L);
            }
        }
    for (; i < k; i++)
        for (int q = 0; q < gates; q++)
            for (int h = 0; h < 2; h++) x[q][h] += SPREAD(a[i]) * LOAD(w + q * step + i * PANEL + h * L);
    for (int q = 0; q < gates; q++)
        for (int h = 0; h < 2; h++) {
            V sum = x[q][h];
            for (int d = 1; d < depth; d++) sum += x[q + d * gates][h];
            STORE(to + q * ARRAY + h * L, LOAD(to + q * ARRAY + h * L) + sum);
        }
}

/* to[gate] += a @ panel of the gate, for the rows of a part: a has rows of k elements, `ld` apart; panels are `step` apart. */
static void FN(products)(int64_t rows, int gates, int64_t k, const T *a, int64_t ld, const T *w, int64_t step, T *to) {
    if (rows == 1) {
        if (gates == 1) FN(one_row)(1, 4, k, a, w, step, to);
        else if (gates == 2) FN(one_row)(2, 2, k, a, w, step, to);
        else if (gates == 3) FN(one_row)(3, 1, k, a, w, step, to);
        else FN(one_row)(4, 1, k, a, w, step, to);
        return;
    }
    const int64_t tiles = gemm_ceil(rows, GEMM_MR), parts = gemm_ceil(k, RNN_DEPTH / (int64_t)sizeof(T));
    const gemm_split split = gemm_even(rows, tiles), deep = gemm_even(k, parts);
    for (int64_t d = 0; d < parts; d++) {
        const int64_t k0 = gemm_start(deep, d), kk = gemm_start(deep, d + 1) - k0;
        for (int64_t at = 0; at < gates * tiles; at++) {
            const int64_t q = GEMM_ROWS_OUTSIDE ? at % gates : at / tiles, i = GEMM_ROWS_OUTSIDE ? at / gates : at % tiles;
            const int64_t r = gemm_start(split, i), n = gemm_start(split, i + 1) - r;
            const GEMM(target) aim = {.c = to + q * ARRAY + r * PANEL, .ldc = PANEL, .add = 1, .w = PANEL, .near = 1};
            GEMM(tile_strided)((int)n, kk, a + r * ld + k0, ld, 1, w + q * step + k0 * PANEL, PANEL, &aim);
        }
    }
}

/* ---- weights: of each panel [gate][hidden][PANEL] forward, with the inputs' after the state's where those are multiplied
   here, and [gate * hidden][PANEL] of the transposed matrices backward, which is the same place */

static void FN(pack)(void *ctx, int64_t panel) {
    const rnn_job *j = ctx;
    const int64_t h = j->hidden, w = i64_min(PANEL, h - panel * PANEL), deep = j->depth + h;
    for (int q = 0; q < j->gates; q++) {
        T *to = (T *)j->packed + (panel * j->gates + q) * deep * PANEL;
        if (j->x) PACK((const T *)j->wx[q] + panel * PANEL, h, 1, (int)w, j->depth, to + h * PANEL);
        const T *from = (const T *)j->w[q] + panel * PANEL * (j->grad ? h : 1);
        if (j->grad) PACK(from, 1, h, (int)w, h, to);
        else PACK(from, h, 1, (int)w, h, to);
    }
}
GEMM_INLINE const T *FN(panel)(const rnn_job *j, int64_t panel, int gate) {
    return (const T *)j->packed + (panel * j->gates + gate) * (j->depth + j->hidden) * PANEL;
}

/* ---- forward: a step reads the products of its input from g and leaves activations in `saved`, where that is */

GEMM_INLINE const T *FN(before)(const rnn_job *j, int64_t step) {
    return step ? (const T *)j->y + rnn_time(j, step - 1) * j->batch * j->hidden : j->h0;
}
GEMM_INLINE V FN(clipped)(const rnn_job *j, V x) { return j->clips ? CLAMP(x, (T)j->clip) : x; }

static void FN(step_plain)(const rnn_job *j, int64_t step, int64_t part) {
    const FN(part) p = FN(part_of)(j, part);
    const int64_t h = j->hidden, at = rnn_time(j, step) * j->batch * h;
    T x[ARRAY];
    FN(take)(x, &p, (const T *)j->g + at, h);
    FN(products)(p.rows, 1, h, FN(before)(j, step) + p.row * h, h, FN(panel)(j, p.panel, 0), 0, x);
    EACH(e) STORE(x + e, TANH(LOAD(x + e)));
    if (j->saved) FN(put)(x, &p, (T *)j->saved + at, h);
    EACH(e) STORE(x + e, FN(clipped)(j, LOAD(x + e)));
    FN(put)(x, &p, (T *)j->y + at, h);
}

/* the bias of each gate in all rows, 0 where there is none */
GEMM_INLINE void FN(spread_bias)(const rnn_job *j, const FN(part) *p, T *x) {
    const FN(part) one = {p->panel, 0, 1, p->width};
    for (int q = 0; q < j->gates; q++) {
        T row[PANEL] = {0};
        if (j->bias) FN(take)(row, &one, (const T *)j->bias + q * j->hidden, 0);
        const V a = LOAD(row), b = LOAD(row + L);
        for (int64_t r = 0; r < p->rows; r++) {
            STORE(x + q * ARRAY + r * PANEL, a);
            STORE(x + q * ARRAY + r * PANEL + L, b);
        }
    }
}

/* gates: input, output, cell, and forget unless it is 1 - input */
static void FN(step_lstm)(const rnn_job *j, int64_t step, int64_t part) {
    const FN(part) p = FN(part_of)(j, part);
    const int64_t h = j->hidden, size = j->batch * h, at = rnn_time(j, step) * size, wide = j->gates * h;
    T x[4 * ARRAY], c[ARRAY], y[ARRAY];
    const T *w = FN(panel)(j, p.panel, 0);
    const int64_t apart = (j->depth + h) * PANEL;
    if (j->x) {
        FN(spread_bias)(j, &p, x);
        FN(products)(p.rows, j->gates, j->depth, (const T *)j->x + (rnn_time(j, step) * j->batch + p.row) * j->depth, j->depth,
                     w + h * PANEL, apart, x);
    } else
        for (int q = 0; q < j->gates; q++) FN(take)(x + q * ARRAY, &p, (const T *)j->g + at * j->gates + q * h, wide);
    FN(products)(p.rows, j->gates, h, FN(before)(j, step) + p.row * h, h, w, apart, x);
    const T *last = j->saved ? (const T *)j->cells + (step ? rnn_time(j, step - 1) * size : 0) : j->c_last;
    FN(take)(c, &p, step ? last : j->c0, h);
    for (int q = 0; q < j->gates; q++)
        if (q == 2) EACH(e) STORE(x + q * ARRAY + e, TANH(LOAD(x + q * ARRAY + e)));
        else EACH(e) STORE(x + q * ARRAY + e, SIGMOID(LOAD(x + q * ARRAY + e)));
    if (j->gates == 3) EACH(e) STORE(x + 3 * ARRAY + e, 1 - LOAD(x + e));
    EACH(e) STORE(c + e, LOAD(x + 3 * ARRAY + e) * LOAD(c + e) + LOAD(x + e) * LOAD(x + 2 * ARRAY + e));
    if (j->clips) EACH(e) STORE(c + e, CLAMP(LOAD(c + e), (T)j->clip));
    EACH(e) STORE(y + e, LOAD(x + ARRAY + e) * TANH(LOAD(c + e)));
    FN(put)(y, &p, (T *)j->y + at, h);
    if (!j->saved || step == j->steps - 1) FN(put)(c, &p, j->c_last, h);
    if (!j->saved) return;
    for (int q = 0; q < j->gates; q++) FN(put)(x + q * ARRAY, &p, (T *)j->saved + at * j->gates + q * h, wide);
    FN(put)(c, &p, (T *)j->cells + at, h);
}

/* gates: update, reset, new; the new one's product of the state is kept apart, since it is multiplied by the reset gate */
static void FN(step_gru)(const rnn_job *j, int64_t step, int64_t part) {
    const FN(part) p = FN(part_of)(j, part);
    const int64_t h = j->hidden, at = rnn_time(j, step) * j->batch * h;
    const T *before = FN(before)(j, step);
    T x[4 * ARRAY], y[ARRAY], *own = x + 2 * ARRAY, *fresh = x + 3 * ARRAY;
    for (int q = 0; q < 3; q++) FN(take)(x + (q < 2 ? q : 3) * ARRAY, &p, (const T *)j->g + at * 3 + q * h, 3 * h);
    for (int64_t e = 0; e < p.rows * PANEL; e++)
        own[e] = j->bias && e % PANEL < p.width ? ((const T *)j->bias)[p.panel * PANEL + e % PANEL] : 0;
    FN(products)(p.rows, 3, h, before + p.row * h, h, FN(panel)(j, p.panel, 0), h * PANEL, x);
    FN(take)(y, &p, before, h);
    EACH(e) {
        const V z = SIGMOID(LOAD(x + e)), r = SIGMOID(LOAD(x + ARRAY + e)), n = TANH(LOAD(fresh + e) + r * LOAD(own + e));
        STORE(x + e, z);
        STORE(x + ARRAY + e, r);
        STORE(fresh + e, n);
        STORE(y + e, FN(clipped)(j, n * (1 - z) + z * LOAD(y + e)));
    }
    FN(put)(y, &p, (T *)j->y + at, h);
    if (!j->saved) return;
    for (int q = 0; q < 3; q++) FN(put)(x + (q < 2 ? q : 3) * ARRAY, &p, (T *)j->saved + at * 3 + q * h, 3 * h);
    FN(put)(own, &p, (T *)j->cells + at, h);
}

/* The reset gate before the product: all of it must be there first, so a step has two halves. */
static void FN(step_gru_before)(const rnn_job *j, int64_t half, int64_t part) {
    const FN(part) p = FN(part_of)(j, part);
    const int64_t h = j->hidden, step = half / 2, at = rnn_time(j, step) * j->batch * h;
    const T *before = FN(before)(j, step);
    T *update = (T *)j->spare, *reset = update + j->batch * h, x[2 * ARRAY], y[ARRAY];
    FN(take)(y, &p, before, h);
    if (half % 2 == 0) {
        for (int q = 0; q < 2; q++) FN(take)(x + q * ARRAY, &p, (const T *)j->g + at * 3 + q * h, 3 * h);
        FN(products)(p.rows, 2, h, before + p.row * h, h, FN(panel)(j, p.panel, 0), h * PANEL, x);
        EACH(e) {
            const V r = SIGMOID(LOAD(x + ARRAY + e));
            STORE(x + e, SIGMOID(LOAD(x + e)));
            STORE(x + ARRAY + e, r);
            STORE(y + e, r * LOAD(y + e));
        }
        FN(put)(x, &p, update, h);
        FN(put)(y, &p, reset, h);
        for (int q = 0; j->saved && q < 2; q++) FN(put)(x + q * ARRAY, &p, (T *)j->saved + at * 3 + q * h, 3 * h);
        return;
    }
    FN(take)(x, &p, (const T *)j->g + at * 3 + 2 * h, 3 * h);
    FN(products)(p.rows, 1, h, reset + p.row * h, h, FN(panel)(j, p.panel, 2), 0, x);
    FN(take)(x + ARRAY, &p, update, h);
    EACH(e) {
        const V n = TANH(LOAD(x + e)), z = LOAD(x + ARRAY + e);
        STORE(x + e, n);
        STORE(y + e, FN(clipped)(j, n * (1 - z) + z * LOAD(y + e)));
    }
    FN(put)(y, &p, (T *)j->y + at, h);
    if (j->saved) FN(put)(x, &p, (T *)j->saved + at * 3 + 2 * h, 3 * h);
}

/* ---- backward: step 0 is the last one that was computed. Gradients of the gates' sums go where the activations were. */

GEMM_INLINE V FN(passed)(const rnn_job *j, V x, V d) { return j->clips ? INSIDE(x, (T)j->clip, d) : d; }

/* what the gates of the step before say about the state: dh += gradients of `gates` gates from `first` on @ transposed weights */
GEMM_INLINE void FN(through)(const rnn_job *j, const FN(part) *p, int64_t back, int first, int gates, T *dh) {
    const int64_t h = j->hidden, wide = j->gates * h, at = rnn_time(j, j->steps - 1 - back) * j->batch;
    FN(products)(p->rows, 1, gates * h, (const T *)j->saved + (at + p->row) * wide + first * h, wide,
                 FN(panel)(j, p->panel, first), 0, dh);
}
GEMM_INLINE void FN(add_output)(const rnn_job *j, const FN(part) *p, int64_t at, T *dh) {
    T g[ARRAY];
    FN(take)(g, p, (const T *)j->grad + at, j->hidden);
    for (int64_t e = 0; e < p->rows * PANEL; e += L) STORE(dh + e, LOAD(dh + e) + LOAD(g + e));
}

static void FN(back_plain)(const rnn_job *j, int64_t back, int64_t part) {
    const FN(part) p = FN(part_of)(j, part);
    const int64_t h = j->hidden, at = rnn_time(j, j->steps - 1 - back) * j->batch * h;
    T x[ARRAY], dh[ARRAY] = {0};
    if (back) FN(through)(j, &p, back - 1, 0, 1, dh);
    if (back == j->steps) {
        FN(put)(dh, &p, j->dh0, h);
        return;
    }
    FN(add_output)(j, &p, at, dh);
    FN(take)(x, &p, (const T *)j->saved + at, h);
    EACH(e) {
        const V a = LOAD(x + e);
        STORE(x + e, FN(passed)(j, a, LOAD(dh + e)) * (1 - a * a));
    }
    FN(put)(x, &p, (T *)j->saved + at, h);
}

static void FN(back_lstm)(const rnn_job *j, int64_t back, int64_t part) {
    const FN(part) p = FN(part_of)(j, part);
    const int64_t h = j->hidden, size = j->batch * h, step = j->steps - 1 - back, wide = j->gates * h;
    T x[4 * ARRAY], dh[ARRAY], c[ARRAY], before[ARRAY], dc[ARRAY];
    memset(dh, 0, (size_t)(p.rows * PANEL) * sizeof(T));
    const int64_t at = rnn_time(j, step) * size;
    if (back) FN(through)(j, &p, back - 1, 0, j->gates, dh);
    if (back == j->steps) {
        FN(put)(dh, &p, j->dh0, h);
        return;
    }
    FN(add_output)(j, &p, at, dh);
    for (int q = 0; q < j->gates; q++) FN(take)(x + q * ARRAY, &p, (const T *)j->saved + at * j->gates + q * h, wide);
    FN(take)(c, &p, (const T *)j->cells + at, h);
    FN(take)(before, &p, step ? (const T *)j->cells + rnn_time(j, step - 1) * size : j->c0, h);
    FN(take)(dc, &p, back ? j->dc0 : (const T *)j->grad + j->steps * size, h);
    EACH(e) {
        const V i = LOAD(x + e), o = LOAD(x + ARRAY + e), g = LOAD(x + 2 * ARRAY + e), b = LOAD(before + e);
        const V f = j->gates == 4 ? LOAD(x + 3 * ARRAY + e) : (V)(1 - i), t = TANH(LOAD(c + e)), d = LOAD(dh + e);
        const V s = FN(passed)(j, f * b + i * g, LOAD(dc + e) + d * o * (1 - t * t));
        STORE(x + e, s * (j->gates == 4 ? (V)g : (V)(g - b)) * i * (1 - i));
        STORE(x + ARRAY + e, d * t * o * (1 - o));
        STORE(x + 2 * ARRAY + e, s * i * (1 - g * g));
        STORE(x + 3 * ARRAY + e, s * b * f * (1 - f));
        STORE(dc + e, s * f);
    }
    for (int q = 0; q < j->gates; q++) FN(put)(x + q * ARRAY, &p, (T *)j->saved + at * j->gates + q * h, wide);
    FN(put)(dc, &p, j->dc0, h);
}

static void FN(back_gru)(const rnn_job *j, int64_t back, int64_t part) {
    const FN(part) p = FN(part_of)(j, part);
    const int64_t h = j->hidden, step = j->steps - 1 - back, size = j->batch * h;
    T x[3 * ARRAY], dh[ARRAY] = {0}, own[ARRAY], before[ARRAY];
    const int64_t at = rnn_time(j, step) * size;
    if (back) {
        FN(take)(dh, &p, j->spare, h);
        FN(through)(j, &p, back - 1, 0, 2, dh);
        FN(products)(p.rows, 1, h, (const T *)j->cells + rnn_time(j, step + 1) * size + p.row * h, h,
                     FN(panel)(j, p.panel, 2), 0, dh);
    }
    if (back == j->steps) {
        FN(put)(dh, &p, j->dh0, h);
        return;
    }
    FN(add_output)(j, &p, at, dh);
    for (int q = 0; q < 3; q++) FN(take)(x + q * ARRAY, &p, (const T *)j->saved + at * 3 + q * h, 3 * h);
    FN(take)(own, &p, (const T *)j->cells + at, h);
    FN(take)(before, &p, FN(before)(j, step), h);
    EACH(e) {
        const V z = LOAD(x + e), r = LOAD(x + ARRAY + e), n = LOAD(x + 2 * ARRAY + e), b = LOAD(before + e);
        const V d = FN(passed)(j, n * (1 - z) + z * b, LOAD(dh + e)), dn = d * (1 - z) * (1 - n * n);
        STORE(x + e, d * (b - n) * z * (1 - z));
        STORE(x + ARRAY + e, dn * LOAD(own + e) * r * (1 - r));
        STORE(x + 2 * ARRAY + e, dn);
        STORE(own + e, dn * r);
        STORE(dh + e, d * z);
    }
    for (int q = 0; q < 3; q++) FN(put)(x + q * ARRAY, &p, (T *)j->saved + at * 3 + q * h, 3 * h);
    FN(put)(own, &p, (T *)j->cells + at, h);
    FN(put)(dh, &p, j->spare, h);
}

static void FN(back_gru_before)(const rnn_job *j, int64_t half, int64_t part) {
    const FN(part) p = FN(part_of)(j, part);
    const int64_t h = j->hidden, back = half / 2, step = j->steps - 1 - back;
    T x[3 * ARRAY], dh[ARRAY] = {0}, before[ARRAY];
    if (back && half % 2 == 0) {
        FN(take)(dh, &p, j->spare, h);
        FN(through)(j, &p, back - 1, 0, 2, dh);
    }
    if (back == j->steps) {
        FN(put)(dh, &p, j->dh0, h);
        return;
    }
    const int64_t at = rnn_time(j, step) * j->batch * h;
    T *gates = (T *)j->saved + at * 3;
    for (int q = 0; q < 3; q++) FN(take)(x + q * ARRAY, &p, gates + q * h, 3 * h);
    FN(take)(before, &p, FN(before)(j, step), h);
    if (half % 2 == 0) {
        FN(add_output)(j, &p, at, dh);
        EACH(e) {
            const V z = LOAD(x + e), n = LOAD(x + 2 * ARRAY + e), b = LOAD(before + e);
            const V d = FN(passed)(j, n * (1 - z) + z * b, LOAD(dh + e));
            STORE(x + e, d * (b - n) * z * (1 - z));
            STORE(x + 2 * ARRAY + e, d * (1 - z) * (1 - n * n));
            STORE(dh + e, d * z);
        }
        FN(put)(x, &p, gates, 3 * h);
        FN(put)(x + 2 * ARRAY, &p, gates + 2 * h, 3 * h);
    } else {
        T own[ARRAY] = {0};
        FN(through)(j, &p, back, 2, 1, own);
        FN(take)(dh, &p, j->spare, h);
        EACH(e) {
            const V r = LOAD(x + ARRAY + e), d = LOAD(own + e);
            STORE(x + ARRAY + e, d * LOAD(before + e) * r * (1 - r));
            STORE(dh + e, LOAD(dh + e) + d * r);
        }
        FN(put)(x + ARRAY, &p, gates + h, 3 * h);
    }
    FN(put)(dh, &p, j->spare, h);
}

#include "rnn_row_type.h"

static const rnn_type FN(rnn) = {
    .size = sizeof(T), .panel = PANEL, .pack = FN(pack),
    .forward = {FN(step_plain), FN(step_lstm), FN(step_gru), FN(step_gru_before)},
    .backward = {FN(back_plain), FN(back_lstm), FN(back_gru), FN(back_gru_before)},
    .row = FN(row_lstm),
};
#undef ARRAY
#undef SPREAD
#undef EACH
#undef FN
#undef GEMM
#undef T
#undef V
#undef L
#undef LOAD
#undef STORE
#undef PACK
#undef SIGMOID
#undef TANH
#undef CLAMP
#undef INSIDE
#undef PANEL
