/* A phase of rnn_row.h for one dtype; included by rnn_type.h. */

/* to[gate] = from[gate] + a[0..n] @ weights, of `gates` gates and `wide` vectors of units; gates are `h` apart */
GEMM_INLINE void FN(row_sums)(const int gates, const int wide, const T *const *w, int64_t ld, int64_t h, int64_t n,
                              const T *a, const T *from, T *to) {
    V s[4][ROW_WIDE];
    const T *p[4];
    for (int q = 0; q < gates; q++) {
        p[q] = w[q];
        for (int v = 0; v < wide; v++) s[q][v] = LOAD(from + q * h + v * L);
    }
    for (int64_t k = 0; k < n; k++) {
        const V one = SPREAD(a[k]);
        for (int q = 0; q < gates; q++) {
            GEMM_PRAGMA(GCC unroll 8)
            for (int v = 0; v < wide; v++) s[q][v] += one * LOAD(p[q] + v * L);
            p[q] += ld;
        }
    }
    for (int q = 0; q < gates; q++)
        for (int v = 0; v < wide; v++) STORE(to + q * h + v * L, s[q][v]);
}

/* Asks for the states of others, where they are there. */
GEMM_INLINE void FN(row_foresee)(const rnn_row *t, int64_t chunk, int64_t phases, const T *a) {
    for (int64_t c = 0; c < t->chunks; c++)
        if (c != chunk && rnn_row_has(t, c, phases))
            for (int64_t i = rnn_row_start(t, c) * PANEL; i < rnn_row_start(t, c + 1) * PANEL; i += 64 / (int64_t)sizeof(T))
                __builtin_prefetch(a + i);
}

/* Packed weights: each half of the units has what it multiplies first, its own half of the states, then the other one. There
   [panel][state][gate][PANEL]. */
GEMM_INLINE T *FN(row_place)(const rnn_row *t, int64_t panel, int half) {
    const int64_t h = t->j->hidden, row = t->j->gates * PANEL, middle = t->panels / 2, own = panel >= middle;
    const int64_t panels = own ? t->panels - middle : middle, first = panels * PANEL, i = panel - own * middle;
    return (T *)t->w + (own * middle * h + (half == own ? i * first : panels * first + i * (h - first))) * row;
}
static void FN(row_pack)(const rnn_row *t, int64_t begin, int64_t end) {
    const rnn_job *j = t->j;
    const int64_t h = j->hidden, limit[3] = {0, t->panels / 2 * PANEL, h};
    for (int64_t panel = begin; panel < end; panel++)
        for (int half = 0; half < 2; half++) {
            T *to = FN(row_place)(t, panel, half);
            for (int64_t k = limit[half]; k < limit[half + 1]; k++)
                for (int q = 0; q < j->gates; q++, to += PANEL) {
                    const T *from = (const T *)j->w[q] + k * h + panel * PANEL;
                    STORE(to, LOAD(from));
                    STORE(to + L, LOAD(from + L));
                }
        }
}

/* to = from + what a half of the states says of all gates of units c0..c1 */
static void FN(row_half)(const rnn_row *t, int64_t chunk, int64_t phases, int64_t c0, int64_t c1, int half, const T *a,
                         const T *from, T *to) {
    const rnn_job *j = t->j;
    const int64_t h = j->hidden, middle = t->panels / 2 * PANEL, k0 = half ? middle : 0, n = half ? h - middle : middle;
    for (int64_t c = c0; c < c1;) {
        const int wide = !ROW_PACK && c1 - c >= ROW_WIDE * L;
        for (int q = 0, gates; q < j->gates; q += gates) {
            gates = wide ? (int)i64_min(ROW_GATES, j->gates - q) : j->gates;
            if (q + gates == j->gates) FN(row_foresee)(t, chunk, phases, a);
            const T *w[4], *packed = ROW_PACK ? FN(row_place)(t, c / PANEL, half) : NULL, *x = from + q * h + c;
            for (int i = 0; i < gates; i++) w[i] = ROW_PACK ? packed + i * PANEL : (const T *)j->w[q + i] + k0 * h + c;
            const int64_t ld = ROW_PACK ? j->gates * PANEL : h;
            T *y = to + q * h + c;
            if (wide && gates == ROW_GATES) FN(row_sums)(ROW_GATES, ROW_WIDE, w, ld, h, n, a + k0, x, y);
            else if (wide) FN(row_sums)(1, ROW_WIDE, w, ld, h, n, a + k0, x, y);
            else if (gates == 4) FN(row_sums)(4, 2, w, ld, h, n, a + k0, x, y);
            else FN(row_sums)(3, 2, w, ld, h, n, a + k0, x, y);
        }
        c += wide ? ROW_WIDE * L : PANEL;
    }
}

/* the inputs of all steps times units c0..c1, and the bias */
static void FN(row_inputs)(const rnn_row *t, int64_t c0, int64_t c1) {
    const rnn_job *j = t->j;
    const int64_t h = j->hidden, tiles = gemm_ceil(j->steps, GEMM_MR);
    const gemm_split split = gemm_even(j->steps, tiles);
    for (int q = 0; q < j->gates; q++)
        for (int64_t c = c0; c < c1; c += PANEL)
            for (int64_t i = 0; i < tiles; i++) {
                const int64_t r = gemm_start(split, i), n = gemm_start(split, i + 1) - r, at = q * h + c;
                const GEMM(target) aim = {.c = (T *)t->g + r * t->g_row + at, .ldc = t->g_row,
                                          .bias = j->bias ? (const T *)j->bias + at : NULL, .w = PANEL};
                GEMM(tile_strided)((int)n, j->depth, (const T *)j->x + r * j->depth, j->depth, 1, (const T *)j->wx[q] + c, h,
                                   &aim);
            }
}

static void FN(row_lstm)(const rnn_row *t, int64_t chunk, int64_t phase) {
    const rnn_job *j = t->j;
    const int64_t h = j->hidden, p0 = rnn_row_start(t, chunk), p1 = rnn_row_start(t, chunk + 1), middle = t->panels / 2;
    rnn_row_wait(t, chunk, phase);
    if (phase < t->ahead) {
        if (j->x) FN(row_inputs)(t, p0 * PANEL, p1 * PANEL);
        if (ROW_PACK) FN(row_pack)(t, p0, p1);
        return;
    }
    const int64_t step = phase - t->ahead, time = rnn_time(j, step), c0 = p0 * PANEL, c1 = p1 * PANEL;
    const int64_t known = step ? phase : 0; /* phases of others that this step needs */
    const int64_t begin[2] = {c0, i64_max(c0, middle * PANEL)}, end[2] = {i64_min(c1, middle * PANEL), c1};
    const T *a = FN(before)(j, step);
    T *x = t->x;
    for (int half = 0; half < 2; half++) {
        if (begin[half] >= end[half]) continue;
        for (int64_t c = 0; c < t->chunks; c++) /* those that have states of this half */
            if (half ? rnn_row_start(t, c + 1) > middle : rnn_row_start(t, c) < middle) rnn_row_wait(t, c, known);
        FN(row_half)(t, chunk, known, begin[half], end[half], half, a, (const T *)t->g + time * t->g_row, x);
    }
    for (int64_t c = 0; c < t->chunks; c++) rnn_row_wait(t, c, known);
    FN(row_foresee)(t, chunk, known, a);
    for (int half = 0; half < 2; half++) FN(row_half)(t, chunk, known, begin[half], end[half], !half, a, x, x);
    const T *last = !step ? j->c0 : j->saved ? (const T *)j->cells + rnn_time(j, step - 1) * h : j->c_last;
    T *cell = j->saved ? (T *)j->cells + time * h : j->c_last, *saved = j->saved ? (T *)j->saved + time * j->gates * h : NULL;
    for (int64_t e = c0; e < c1; e += L) {
        const V i = SIGMOID(LOAD(x + e)), o = SIGMOID(LOAD(x + h + e)), n = TANH(LOAD(x + 2 * h + e));
        const V f = j->gates == 4 ? SIGMOID(LOAD(x + 3 * h + e)) : (V)(1 - i), c = FN(clipped)(j, f * LOAD(last + e) + i * n);
        STORE(cell + e, c);
        STORE((T *)j->y + time * h + e, o * TANH(c));
        if (!saved) continue;
        STORE(saved + e, i);
        STORE(saved + h + e, o);
        STORE(saved + 2 * h + e, n);
        if (j->gates == 4) STORE(saved + 3 * h + e, f);
        if (step == j->steps - 1) STORE((T *)j->c_last + e, c);
    }
}
