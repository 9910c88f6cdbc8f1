/* The resampling kernels of one dtype; each_float.h includes this file once a dtype and explains the macros.

   A row of the input is resampled along itself once and kept in a ring; rows of the result are sums of those. Along a row,
   the elements that a vector of the result needs for one tap are neighbours as long as the result is at least half as
   large: they are loaded together and put in order. */

static void FN(plan)(resample_job *j) {
    const resample_axis *x = &j->x;
    const int64_t taps = x->taps;
    IA *pick = j->pick;
    A *weight = j->weight;
    int64_t width = 0, widest = 0; /* of what a tap, and of what all taps of a vector read */
    for (int64_t v = 0; v < j->room / L; v++) {
        int64_t least = INT64_MAX, most = -1;
        for (int64_t t = 0; t < taps; t++) {
            int64_t low = INT64_MAX, high = -1, entry = v * taps + t;
            for (int64_t l = 0; l < L; l++) {
                int64_t from = i64_min(v * L + l, x->n - 1) * taps + t;
                low = i64_min(low, x->at[from]);
                high = i64_max(high, x->at[from]);
                weight[entry * L + l] = (A)x->weight[from];
            }
            j->base[entry] = low;
            width = i64_max(width, high - low);
            least = i64_min(least, low);
            most = i64_max(most, high);
        }
        widest = i64_max(widest, most - least);
    }
    j->vectors = width < L ? 1 : width < 2 * L ? 2 : 0;
    j->shared = widest < j->vectors * L;
    const int64_t last = i64_max(0, j->w - j->vectors * L); /* so that no load leaves the row */
    for (int64_t v = 0; v < j->room / L; v++) {
        int64_t least = INT64_MAX;
        for (int64_t t = 0; t < taps; t++) least = i64_min(least, j->base[v * taps + t]);
        for (int64_t entry = v * taps; entry < (v + 1) * taps; entry++) {
            j->base[entry] = i64_min(j->shared ? least : j->base[entry], last);
            for (int64_t l = 0; l < L; l++) {
                int64_t from = i64_min(v * L + l, x->n - 1) * taps + entry % taps;
                pick[entry * L + l] = (IA)(x->at[from] - j->base[entry]);
            }
        }
    }
}

VINL void FN(along_n)(const resample_job *j, const A *row, A *out, const int taps, const int vectors, const int whole,
                      const int shared) {
    const IA *pick = j->pick;
    const A *weight = j->weight;
    const int64_t *base = j->base;
    for (int64_t c = 0; c < j->room; c += L, base += taps) {
        V sum = {0}, low = AT(row + *base), high = vectors == 2 ? AT(row + *base + L) : low;
        for (int t = 0; t < taps; t++, pick += L, weight += L) {
            if (t && !shared) low = AT(row + base[t]), high = vectors == 2 ? AT(row + base[t] + L) : low;
            V v = vectors == 1 ? SHUFFLE1(low, IAT(pick)) : SHUFFLE2(low, high, IAT(pick));
            if (whole) sum = v;
            else sum = FMA(v, AT(weight), sum);
        }
        PUT(out + c, sum);
    }
}
static void FN(along)(const resample_job *j, const A *row, A *out) {
    const resample_axis *x = &j->x;
    if (j->vectors == 1) {
        if (j->whole) FN(along_n)(j, row, out, 1, 1, 1, 0);
        else if (x->taps == 2 && j->shared) FN(along_n)(j, row, out, 2, 1, 0, 1);
        else if (x->taps == 2) FN(along_n)(j, row, out, 2, 1, 0, 0);
        else if (x->taps == 4 && j->shared) FN(along_n)(j, row, out, 4, 1, 0, 1);
        else if (x->taps == 4) FN(along_n)(j, row, out, 4, 1, 0, 0);
        else FN(along_n)(j, row, out, (int)x->taps, 1, 0, 0);
    } else if (j->vectors == 2) {
        if (j->whole) FN(along_n)(j, row, out, 1, 2, 1, 0);
        else if (x->taps == 4 && j->shared) FN(along_n)(j, row, out, 4, 2, 0, 1);
        else if (x->taps == 4) FN(along_n)(j, row, out, 4, 2, 0, 0);
        else FN(along_n)(j, row, out, (int)x->taps, 2, 0, 0);
    } else {
        for (int64_t o = 0; o < x->n; o++) {
            const int64_t *at = x->at + o * x->taps;
            const double *weight = x->weight + o * x->taps;
            A sum = 0;
            if (j->whole) sum = row[at[0]];
            else for (int64_t t = 0; t < x->taps; t++) sum += (A)weight[t] * row[at[t]];
            out[o] = sum;
        }
    }
}

/* few: at most 4 taps, whose rows and weights stay in registers: the compiler must take the output for any of them */
VINL void FN(down_n)(const resample_job *j, const A *const *rows, const A *weight, T *out, const int taps, const int few,
                     const int stream) {
    const int64_t n = j->x.n;
    const int copied = taps == 1 && weight[0] == 1;
    const A *r[4];
    V w[4];
#pragma GCC unroll 4
    for (int t = 0; t < taps && few; t++) r[t] = rows[t], w[t] = weight[t] - (V){0};
    for (int64_t c = 0; c < n; c += L) {
        V sum = AT((few ? r[0] : rows[0]) + c);
        if (!copied && few) sum = sum * w[0];
        else if (!copied) sum = sum * weight[0];
#pragma GCC unroll 4
        for (int t = 1; t < taps && few; t++) sum = FMA(AT(r[t] + c), w[t], sum);
        for (int t = 1; t < taps && !few; t++) sum = FMA(AT(rows[t] + c), weight[t] - (V){0}, sum);
        if (VW == 16 && !stream) __builtin_prefetch(out + c + RESAMPLE_AHEAD, 1, 3);
        if (stream) STREAM(out + c, sum);
        else if (c + L <= n) STORE(out + c, sum);
        else STORE_N(out + c, sum, n - c);
    }
}
VINL void FN(down_any)(const resample_job *j, const A *const *rows, const A *weight, T *out, const int stream) {
    if (j->y.taps == 1) FN(down_n)(j, rows, weight, out, 1, 1, stream);
    else if (j->y.taps == 2) FN(down_n)(j, rows, weight, out, 2, 1, stream);
    else if (j->y.taps == 4) FN(down_n)(j, rows, weight, out, 4, 1, stream);
    else FN(down_n)(j, rows, weight, out, (int)j->y.taps, 0, stream);
}

static void FN(resample_rows)(const resample_job *j, int64_t plane, int64_t first, int64_t last, void *room) {
    const int64_t taps = j->y.taps, span = j->y.span, n = j->x.n;
    const T *in = (const T *)j->in + plane * j->h * j->w;
    T *out = (T *)j->out + plane * j->y.n * n;
    int64_t *held = room;
    const A **rows = (const A **)(held + span);
    A *weight = (A *)(rows + taps), *line = weight + taps;
    A *ring = (A *)(((uintptr_t)(line + j->w + 2 * L) + 63) & ~(uintptr_t)63); /* whole vectors of a line of the cache */
    const int lined = !NATIVE || j->w < j->vectors * L; /* converted, or with room to read beyond its end */
    for (int64_t s = 0; s < span; s++) held[s] = -1;
    for (int64_t i = 0; i < 2 * L; i++) line[j->w + i] = 0;
    for (int64_t i = first; i < last; i++) {
        for (int64_t t = 0; t < taps && !j->y.none[i]; t++) {
            int64_t r = j->y.at[i * taps + t], slot = r % span;
            weight[t] = (A)j->y.weight[i * taps + t];
            rows[t] = ring + slot * j->room;
            if (held[slot] == r) continue;
            held[slot] = r;
            const T *row = in + r * j->w;
            for (int64_t c = 0; c < j->w && lined; c += L) {
                int64_t k = i64_min(L, j->w - c);
                if (k == L) PUT(line + c, LOAD(row + c));
                else PUT_N(line + c, LOAD_N(row + c, k), k);
            }
            FN(along)(j, lined ? line : (const A *)row, ring + slot * j->room);
        }
        T *to = out + i * n;
        if (j->y.none[i]) memset(to, 0, (size_t)n * sizeof(T));
        else if (j->stream) FN(down_any)(j, rows, weight, to, 1);
        else FN(down_any)(j, rows, weight, to, 0);
        for (int64_t c = 0; c < n && j->x.empty; c++)
            if (j->x.none[c]) to[c] = 0;
    }
    if (j->stream) v_fence();
}

static const resample_type FN(resample) = {
    .size = sizeof(T), .lanes = L, .native = NATIVE, .plan = FN(plan), .rows = FN(resample_rows),
};
