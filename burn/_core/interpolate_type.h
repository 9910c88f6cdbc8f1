/* The resampling kernels of one dtype; each_float.h includes this file once a dtype and explains the macros.

   A row of the input is resampled along itself once and kept in a ring; rows of the result are sums of those. Along a row,
   the elements that a vector of the result needs for one tap are neighbours as long as the result is at least half as
   large: they are loaded together and put in order. */

static void FN(plan)(resample_job *j) {
    const resample_axis *x = &j->x;
    const int64_t taps = x->taps;
    IA *pick = j->pick;
    A *weight = j->weight;
    j->vectors = 1;
    for (int64_t v = 0; v < j->room / L; v++) {
        for (int64_t t = 0; t < taps; t++) {
            int64_t low = INT64_MAX, high = -1, entry = v * taps + t;
            for (int64_t l = 0; l < L; l++) {
                int64_t from = i64_min(v * L + l, x->n - 1) * taps + t;
                low = i64_min(low, x->at[from]);
                high = i64_max(high, x->at[from]);
                weight[entry * L + l] = (A)x->weight[from];
            }
            j->base[entry] = low;
            if (high - low >= L && j->vectors) j->vectors = high - low < 2 * L ? 2 : 0;
            if (high - low >= 2 * L) j->vectors = 0;
        }
    }
    const int64_t most = i64_max(0, j->w - j->vectors * L); /* so that no load leaves the row */
    for (int64_t entry = 0; entry < j->room / L * taps; entry++) {
        j->base[entry] = i64_min(j->base[entry], most);
        for (int64_t l = 0; l < L; l++) {
            int64_t from = i64_min(entry / taps * L + l, x->n - 1) * taps + entry % taps;
            pick[entry * L + l] = (IA)(x->at[from] - j->base[entry]);
        }
    }
}

VINL void FN(along_n)(const resample_job *j, const A *row, A *out, const int taps, const int vectors, const int whole) {
    const IA *pick = j->pick;
    const A *weight = j->weight;
    const int64_t *base = j->base;
    for (int64_t c = 0; c < j->room; c += L) {
        V sum = {0};
        for (int t = 0; t < taps; t++, base++, pick += L, weight += L) {
            V v = vectors == 1 ? SHUFFLE1(AT(row + *base), IAT(pick))
                               : SHUFFLE2(AT(row + *base), AT(row + *base + L), IAT(pick));
            if (whole) sum = v;
            else sum = FMA(v, AT(weight), sum);
        }
        PUT(out + c, sum);
    }
}
static void FN(along)(const resample_job *j, const A *row, A *out) {
    const resample_axis *x = &j->x;
    if (j->vectors == 1) {
        if (j->whole) FN(along_n)(j, row, out, 1, 1, 1);
        else if (x->taps == 2) FN(along_n)(j, row, out, 2, 1, 0);
        else if (x->taps == 4) FN(along_n)(j, row, out, 4, 1, 0);
        else FN(along_n)(j, row, out, (int)x->taps, 1, 0);
    } else if (j->vectors == 2) {
        if (j->whole) FN(along_n)(j, row, out, 1, 2, 1);
        else if (x->taps == 4) FN(along_n)(j, row, out, 4, 2, 0);
        else FN(along_n)(j, row, out, (int)x->taps, 2, 0);
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

VINL void FN(down_n)(const resample_job *j, const A *const *rows, const A *weight, T *out, const int taps, const int stream) {
    const int64_t n = j->x.n;
    const int copied = taps == 1 && weight[0] == 1;
    for (int64_t c = 0; c < n; c += L) {
        V sum = AT(rows[0] + c);
        if (!copied) sum = sum * weight[0];
        for (int t = 1; t < taps; t++) sum = FMA(AT(rows[t] + c), weight[t] - (V){0}, sum);
        if (stream) STREAM(out + c, sum);
        else if (c + L <= n) STORE(out + c, sum);
        else STORE_N(out + c, sum, n - c);
    }
}
VINL void FN(down_any)(const resample_job *j, const A *const *rows, const A *weight, T *out, const int stream) {
    if (j->y.taps == 1) FN(down_n)(j, rows, weight, out, 1, stream);
    else if (j->y.taps == 2) FN(down_n)(j, rows, weight, out, 2, stream);
    else if (j->y.taps == 4) FN(down_n)(j, rows, weight, out, 4, stream);
    else FN(down_n)(j, rows, weight, out, (int)j->y.taps, stream);
}

static void FN(resample_rows)(const resample_job *j, int64_t plane, int64_t first, int64_t last, void *room) {
    const int64_t taps = j->y.taps, span = j->y.span, n = j->x.n;
    const T *in = (const T *)j->in + plane * j->h * j->w;
    T *out = (T *)j->out + plane * j->y.n * n;
    int64_t *held = room;
    const A **rows = (const A **)(held + span);
    A *weight = (A *)(rows + taps), *line = weight + taps, *ring = line + j->w + 2 * L;
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
