/* The pooling kernels of one dtype; each_float.h includes this file once a dtype and explains the macros.

   A row of windows is taken in two steps. Down: the rows of the input that it covers become one, or, where places are
   wanted, each row stays by itself. That row is laid out in `sw` phases with the padding around it: phase p has the padded
   columns p, p + sw, p + 2 sw, ... Across: column k of all windows is then a run of neighbours in one phase. */

VINL V FN(join)(V a, V b, const int op) {
    if (op == POOL_AVG) return a + b;
    return SEL(UNORD(a, a), a, MAXV(a, b)); /* a NaN of either stays */
}
VINL void FN(fill)(A *p, int64_t n, A value) {
    for (int64_t i = 0; i < n; i++) p[i] = value;
}

/* ---- down */
VINL V FN(down)(const T *const *rows, const int n, int64_t c, int64_t k, const int op) {
    V v = k == L ? LOAD(rows[0] + c) : LOAD_N(rows[0] + c, k);
    for (int r = 1; r < n; r++) v = FN(join)(v, k == L ? LOAD(rows[r] + c) : LOAD_N(rows[r] + c, k), op);
    return v;
}
/* where columns 0 and 1 of the input lie in two phases: column c is at [c / 2] from there */
VINL A *FN(pair)(const pool_job *j, A *ph, int odd) {
    int64_t q = j->win.left + odd;
    return ph + (q & 1) * j->len + q / 2;
}
VINL void FN(spread_n)(const pool_job *j, const T *const *rows, const int n, A *ph, A *tmp, const int op) {
    const int64_t left = j->win.left, cols = j->cols, sw = j->win.sw;
    int64_t c = 0;
    if (sw == 2) {
        A *even = FN(pair)(j, ph, 0), *odd = FN(pair)(j, ph, 1), rest[L];
        for (; c + 2 * L <= cols; c += 2 * L) {
            v_prefetch(rows[n - 1] + c + AHEAD), v_prefetch(rows[n - 1] + c + L + AHEAD);
            if (n > 1) v_prefetch(rows[n - 2] + c + AHEAD), v_prefetch(rows[n - 2] + c + L + AHEAD);
            V u = FN(down)(rows, n, c, L, op), w = FN(down)(rows, n, c + L, L, op);
            PUT(even + c / 2, EVENS(u, w));
            PUT(odd + c / 2, ODDS(u, w));
        }
        for (; c < cols; c += L) {
            int64_t k = i64_min(L, cols - c);
            PUT(rest, k == L ? FN(down)(rows, n, c, L, op) : FN(down)(rows, n, c, k, op));
            for (int64_t i = 0; i < k; i++) (i & 1 ? odd : even)[(c + i) / 2] = rest[i];
        }
        return;
    }
    A *to = sw == 1 ? ph + left : tmp;
    for (; c + L <= cols; c += L) PUT(to + c, FN(down)(rows, n, c, L, op));
    if (c < cols) PUT_N(to + c, FN(down)(rows, n, c, cols - c, op), cols - c);
    for (int64_t p = 0; p < sw && sw > 1; p++) {
        int64_t m = left > p ? ceil_div(left - p, sw) : 0;
        for (int64_t q = m * sw + p - left; q < cols; q += sw) ph[p * j->len + m++] = tmp[q];
    }
}
static void FN(spread)(const pool_job *j, const T *const *rows, int n, A *ph, A *tmp, const int op) {
    if (n == 1) FN(spread_n)(j, rows, 1, ph, tmp, op);
    else if (n == 2) FN(spread_n)(j, rows, 2, ph, tmp, op);
    else if (n == 3) FN(spread_n)(j, rows, 3, ph, tmp, op);
    else FN(spread_n)(j, rows, n, ph, tmp, op);
}

/* ---- across */
VINL void FN(across_n)(const pool_job *j, const A *ph, const int kw, T *out, const A *counts, const int op) {
    const int64_t ow = j->win.ow;
    for (int64_t c = 0; c < ow; c += L) {
        V v = AT(ph + j->taps[0] + c);
        for (int k = 1; k < kw; k++) v = FN(join)(v, AT(ph + j->taps[k] + c), op);
        if (op == POOL_AVG) v = v / AT(counts + c);
        if (c + L <= ow) STORE(out + c, v);
        else STORE_N(out + c, v, ow - c);
    }
}
VINL void FN(across)(const pool_job *j, const A *ph, T *out, const A *counts, const int op) {
    if (j->win.kw == 2) FN(across_n)(j, ph, 2, out, counts, op);
    else if (j->win.kw == 3) FN(across_n)(j, ph, 3, out, counts, op);
    else FN(across_n)(j, ph, (int)j->win.kw, out, counts, op);
}

/* both steps at once for windows of two columns side by side without padding */
VINL void FN(pairs_n)(const pool_job *j, const T *const *rows, const int n, T *out, const A *counts, const int op) {
    const int64_t ow = j->win.ow;
    for (int64_t c = 0; c < ow; c += L) {
        V u, w;
        for (int r = 0; r < n; r++) v_prefetch(rows[r] + 2 * c + AHEAD), v_prefetch(rows[r] + 2 * c + L + AHEAD);
        if (c + L <= ow) {
            u = FN(down)(rows, n, 2 * c, L, op), w = FN(down)(rows, n, 2 * c + L, L, op);
        } else {
            int64_t k = 2 * (ow - c);
            u = FN(down)(rows, n, 2 * c, i64_min(L, k), op);
            w = k > L ? FN(down)(rows, n, 2 * c + L, k - L, op) : u;
        }
        V v = FN(join)(EVENS(u, w), ODDS(u, w), op);
        if (op == POOL_AVG) v = v / AT(counts + c);
        if (c + L <= ow) STORE(out + c, v);
        else STORE_N(out + c, v, ow - c);
    }
}

/* ---- forward: rows first..last of a plane's output */
VINL void FN(values)(const pool_job *j, int64_t plane, int64_t first, int64_t last, void *room, const int op) {
    const pool_window *w = &j->win;
    const A outside = op == POOL_MAX ? (A)-INFINITY : 0;
    const T *x = (const T *)j->in + plane * w->h * w->w, **rows = room;
    T *out = (T *)j->out + plane * w->oh * w->ow;
    A *counts = (A *)(rows + w->kh), *tmp = counts + j->room, *ph = tmp + j->wide;
    int64_t counted = 0;
    FN(fill)(ph, w->sw * j->len, outside);
    for (int64_t i = first; i < last; i++) {
        int64_t start = i * w->sh - w->top, n = 0;
        for (int64_t k = 0; k < w->kh; k++) {
            int64_t r = start + k * w->dh;
            if (r >= 0 && r < w->h) rows[n++] = x + r * w->w;
        }
        if (op == POOL_AVG) {
            int64_t height = pool_count(w->h, start, w->kh, w->bottom, w->counted);
            if (height != counted)
                for (int64_t c = 0; c < j->room; c++) counts[c] = (A)(c < w->ow ? height * j->count[c] : 1);
            counted = height;
        }
        if (j->pairs && n == 2) {
            FN(pairs_n)(j, rows, 2, out + i * w->ow, counts, op);
            continue;
        }
        if (n && j->cols > 0) FN(spread)(j, rows, (int)n, ph, tmp, op);
        else FN(fill)(ph, w->sw * j->len, outside);
        FN(across)(j, ph, out + i * w->ow, counts, op);
    }
}
static void FN(max_rows)(pool_job *j, int64_t plane, int64_t first, int64_t last, void *room) {
    FN(values)(j, plane, first, last, room, POOL_MAX);
}
static void FN(avg_rows)(pool_job *j, int64_t plane, int64_t first, int64_t last, void *room) {
    FN(values)(j, plane, first, last, room, POOL_AVG);
}

/* ---- the largest and its place: the winners of each row of the input first, kept in a ring, then row after row. A cell
   wins where it is larger than all before it, or NaN, which is the order of a scan; the first cell wins over the padding. */
VINL MASK FN(wins)(V v, V best) { return GT(v, best) | UNORD(v, v); }

VINL void FN(row_winners)(const pool_job *j, const A *ph, int64_t row, const int kw, const IA *begin, A *best, IA *at) {
    const pool_window *w = &j->win;
    const M lanes = (M){LANES} * (IA)w->sw;
    for (int64_t c = 0; c < w->ow; c += L) {
        V v = AT(ph + j->taps[0] + c); /* -inf where the first column lies in the padding: `begin` is the first that does not */
        M start = lanes + (IA)(c * w->sw - w->left + row * w->w), place = IAT(begin + c) + (IA)(row * w->w);
        for (int k = 1; k < kw; k++) {
            V u = AT(ph + j->taps[k] + c);
            MASK m = FN(wins)(u, v);
            v = SEL(m, u, v);
            place = ISEL(m, start + (IA)(k * w->dw), place);
        }
        PUT(best + c, v);
        IPUT(at + c, place);
    }
}
static void FN(place_rows)(pool_job *j, int64_t plane, int64_t first, int64_t last, void *room) {
    const pool_window *w = &j->win;
    const T *x = (const T *)j->in + plane * w->h * w->w;
    int64_t *held = room, *slots = held + j->ring;
    IA *begin = (IA *)(slots + w->kh), *whole = begin + j->room, *at = whole + j->room;
    A *best = (A *)(at + j->ring * j->room), *tmp = best + j->ring * j->room, *ph = tmp + j->wide;
    FN(fill)(ph, w->sw * j->len, (A)-INFINITY);
    for (int64_t s = 0; s < j->ring; s++) held[s] = -1;
    for (int64_t c = 0; c < j->room; c++) begin[c] = (IA)(c < w->ow ? j->begin[c] : 0);
    for (int64_t i = first; i < last; i++) {
        int64_t start = i * w->sh - w->top, from = (plane * w->oh + i) * w->ow, n = 0;
        T *out = (T *)j->out + from;
        IA *direct = sizeof(IA) == (j->place_dtype == DT_I32 ? 4 : 8) ? (IA *)j->places + from : NULL;
        for (int64_t k = 0; k < w->kh; k++) {
            int64_t r = start + k * w->dh, slot = r % j->ring;
            if (r < 0 || r >= w->h) continue;
            A *winners = best + slot * j->room;
            IA *where = at + slot * j->room;
            if (held[slot] != r) {
                const T *row = x + r * w->w;
                if (j->cols > 0) FN(spread)(j, &row, 1, ph, tmp, POOL_MAX);
                if (w->kw == 2) FN(row_winners)(j, ph, r, 2, begin, winners, where);
                else if (w->kw == 3) FN(row_winners)(j, ph, r, 3, begin, winners, where);
                else FN(row_winners)(j, ph, r, (int)w->kw, begin, winners, where);
                held[slot] = r;
            }
            slots[n++] = slot * j->room;
        }
        for (int64_t c = 0; c < w->ow; c += L) {
            V v = (A)-INFINITY - (V){0};
            M place = (M){0} - 1;
            if (n) v = AT(best + slots[0] + c), place = IAT(at + slots[0] + c);
            for (int64_t k = 1; k < n; k++) {
                V u = AT(best + slots[k] + c);
                MASK m = FN(wins)(u, v);
                v = SEL(m, u, v);
                place = ISEL(m, IAT(at + slots[k] + c), place);
            }
            if (c + L <= w->ow) STORE(out + c, v);
            else STORE_N(out + c, v, w->ow - c);
            if (direct && c + L <= w->ow) IPUT(direct + c, place);
            else IPUT(whole + c, place);
        }
        int64_t done = direct ? w->ow / L * L : 0;
        for (int64_t c = 0; c < w->ow && j->some_empty; c++)
            if (j->begin[c] < 0) (c < done ? direct : whole)[c] = -1;
        int32_t *narrow = (int32_t *)j->places + from;
        int64_t *broad = (int64_t *)j->places + from;
        for (int64_t c = done; c < w->ow && j->place_dtype == DT_I32; c++) narrow[c] = (int32_t)whole[c];
        for (int64_t c = done; c < w->ow && j->place_dtype != DT_I32; c++) broad[c] = whole[c];
    }
}

/* ---- gradient of the largest: to the place that each came from; a whole plane */
static void FN(max_back)(pool_job *j, int64_t plane, int64_t first, int64_t last, void *room) {
    const pool_window *w = &j->win;
    const int64_t cells = w->h * w->w, n = w->oh * w->ow;
    const T *g = (const T *)j->in + plane * n;
    T *dx = (T *)j->out + plane * cells;
    A *sum = NATIVE ? (A *)dx : room;
    const int32_t *narrow = (const int32_t *)j->places + plane * n;
    const int64_t *wide = (const int64_t *)j->places + plane * n;
    FN(fill)(sum, cells, 0);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = j->place_dtype == DT_I32 ? narrow[i] : wide[i];
        if ((uint64_t)at < (uint64_t)cells) sum[at] += UP(g[i]);
        else if (at != -1) j->failed = 1; /* every writer writes the same */
    }
    for (int64_t i = 0; i < cells && !NATIVE; i += L) {
        if (i + L <= cells) STORE(dx + i, AT(sum + i));
        else STORE_N(dx + i, AT_N(sum + i, cells - i), cells - i);
    }
}

/* ---- gradient of the average: rows first..last of a plane's input. Its rows of windows are added up, each divided by what
   it counts; what a phase of the padded row gets is then a sum of shifted runs. */
static void FN(avg_back)(pool_job *j, int64_t plane, int64_t first, int64_t last, void *room) {
    const pool_window *w = &j->win;
    const T *g = (const T *)j->in + plane * w->oh * w->ow;
    T *dx = (T *)j->out + plane * w->h * w->w;
    const int64_t shift = (w->kw - 1) / w->sw, sw = w->sw, len = j->len;
    A *counts = room, *v = counts + j->room + shift, *ph = v + len + L;
    FN(fill)(v - shift, shift + len + L, 0);
    for (int64_t c = 0; c < j->room; c++) counts[c] = (A)(c < w->ow ? j->count[c] : 1);
    int64_t low = -1, high = -1;
    for (int64_t r = first; r < last; r++) {
        int64_t top = r + w->top, from = top < w->kh ? 0 : (top - w->kh) / w->sh + 1, to = i64_min(w->oh - 1, top / w->sh);
        T *row = dx + r * w->w;
        if (r > first && from == low && to == high) {
            memcpy(row, row - w->w, (size_t)w->w * sizeof(T));
            continue;
        }
        low = from, high = to;
        for (int64_t c = 0; c < w->ow; c += L) {
            V sum = {0};
            int64_t k = i64_min(L, w->ow - c);
            for (int64_t i = from; i <= to; i++) {
                A height = (A)pool_count(w->h, i * w->sh - w->top, w->kh, w->bottom, w->counted);
                const T *at = g + i * w->ow + c;
                sum += (k == L ? LOAD(at) : LOAD_N(at, k)) * (1 / height);
            }
            PUT(v + c, sum / AT(counts + c));
        }
        for (int64_t p = 0; p < sw; p++) {
            for (int64_t m = 0; m + L <= len; m += L) {
                V sum = {0};
                for (int64_t k = p; k < w->kw; k += sw) sum += AT(v + m - k / sw);
                PUT(ph + p * len + m, sum);
            }
        }
        int64_t c = 0;
        if (sw == 1) {
            for (; c + L <= w->w; c += L) STORE(row + c, AT(ph + w->left + c));
            if (c < w->w) STORE_N(row + c, AT(ph + w->left + c), w->w - c);
        } else if (sw == 2) {
            const A *even = FN(pair)(j, ph, 0), *odd = FN(pair)(j, ph, 1);
            for (; c + 2 * L <= w->w; c += 2 * L) {
                V a = AT(even + c / 2), b = AT(odd + c / 2);
                STORE(row + c, ZIP(a, b, 0));
                STORE(row + c + L, ZIP(a, b, 1));
            }
        }
        for (; c < w->w && sw > 1; c++) row[c] = DOWN(ph[(c + w->left) % sw * len + (c + w->left) / sw]);
    }
}

/* a few rows of w elements at once, so that each is read from its start to its end */
VINL void FN(add_rows)(const T *x, int64_t w, const int rows, A *sum, int fresh) {
    for (int64_t c = 0; c < w; c += L) {
        V total = {0};
        for (int r = 0; r < rows; r++) total += c + L <= w ? LOAD(x + r * w + c) : LOAD_N(x + r * w + c, w - c);
        if (!fresh) total += AT(sum + c);
        PUT(sum + c, total);
    }
}

/* ---- adaptive average: the rows of a window added up, then its columns. Of [planes, d, h, w]; a task has one of od */
static void FN(adaptive_rows)(const adaptive_job *j, int64_t plane, int64_t i, void *room) {
    A *sum = room;
    const adaptive_shape *s = &j->shape;
    const T *x = (const T *)j->in + plane * s->d * s->h * s->w;
    T *out = (T *)j->out + (plane * s->od + i) * s->oh * s->ow;
    int64_t d0 = adaptive_start(i, s->d, s->od), d1 = adaptive_end(i, s->d, s->od);
    for (int64_t k = 0; k < s->oh; k++) {
        int64_t h0 = j->top[k], h1 = j->bottom[k];
        for (int64_t d = d0; d < d1; d++) {
            for (int64_t r = h0; r < h1; r += 4) {
                int fresh = d == d0 && r == h0;
                const T *at = x + (d * s->h + r) * s->w;
                if (h1 - r >= 4) FN(add_rows)(at, s->w, 4, sum, fresh);
                else if (h1 - r == 3) FN(add_rows)(at, s->w, 3, sum, fresh);
                else if (h1 - r == 2) FN(add_rows)(at, s->w, 2, sum, fresh);
                else FN(add_rows)(at, s->w, 1, sum, fresh);
            }
        }
        for (int64_t o = 0; o < s->ow; o++) {
            int64_t c = j->begin[o], end = j->end[o], count = (d1 - d0) * (h1 - h0) * (end - c);
            V a = {0};
            A total = 0;
            for (; c + L <= end; c += L) a += AT(sum + c);
            for (; c < end; c++) total += sum[c];
            out[k * s->ow + o] = DOWN((SUM(a) + total) / (A)count);
        }
    }
}
/* its gradient; a task has one of d. Neighbouring rows are often covered by the same windows. */
static void FN(adaptive_back)(const adaptive_job *j, int64_t plane, int64_t i, void *room) {
    A *sum = room;
    const adaptive_shape *s = &j->shape;
    const T *g = (const T *)j->in + plane * s->od * s->oh * s->ow;
    T *dx = (T *)j->out + (plane * s->d + i) * s->h * s->w;
    int64_t d0 = adaptive_start(i, s->od, s->d), d1 = adaptive_end(i, s->od, s->d), low = -1, high = -1;
    for (int64_t r = 0; r < s->h; r++) {
        int64_t h0 = j->top[r], h1 = j->bottom[r];
        T *row = dx + r * s->w;
        if (h0 == low && h1 == high) {
            memcpy(row, row - s->w, (size_t)s->w * sizeof(T));
            continue;
        }
        low = h0, high = h1;
        for (int64_t c = 0; c < s->ow; c++) sum[c] = 0;
        for (int64_t d = d0; d < d1; d++) {
            int64_t depth = adaptive_end(d, s->d, s->od) - adaptive_start(d, s->d, s->od);
            for (int64_t k = h0; k < h1; k++) {
                const T *at = g + (d * s->oh + k) * s->ow;
                A factor = 1 / (A)(depth * j->high[k]);
                for (int64_t c = 0; c < s->ow; c++) sum[c] += UP(at[c]) * factor;
            }
        }
        for (int64_t c = 0; c < s->ow; c++) sum[c] /= (A)j->wide[c];
        for (int64_t c = 0; c < s->w; c++) {
            A total = sum[j->begin[c]];
            for (int64_t o = j->begin[c] + 1; o < j->end[c]; o++) total += sum[o];
            row[c] = DOWN(total);
        }
    }
}

static const pool_type FN(pool) = {
    .lanes = L, .native = NATIVE,
    .rows = {FN(max_rows), FN(avg_rows), FN(place_rows), FN(max_back), FN(avg_back)},
    .adaptive = {FN(adaptive_rows), FN(adaptive_back)},
};
