/* Grid sampling of one dtype; each_float.h includes this file once a dtype and explains the macros. The places and weights of
   some points are worked out once and used for all channels. */

/* of the points from `first`: at[k][p] and weight[k][p]; or, instead of the weight, its change with each coordinate.
   Returns how many points. */
static int64_t FN(prepare)(const sample_job *j, int64_t n, int64_t first, int64_t *at, A *weight, A *along, A *down) {
    const sample_shape *s = &j->s;
    const int64_t points = s->oh * s->ow, count = i64_min(SAMPLE_POINTS, points - first);
    const T *grid = (const T *)j->grid + 2 * (n * points + first);
    const int border = s->padding == PAD_BORDER, aligned = (int)s->aligned;
    const int pairs = weight && s->mode == SAMPLE_BILINEAR && s->padding != PAD_REFLECTION;
    for (int64_t p = 0; p < count; p++) {
        double across = (double)UP(grid[2 * p]), below = (double)UP(grid[2 * p + 1]);
        sample_axis x, y;
        if (!pairs || !sample_pair(&x, across, s->w, border, aligned))
            sample_along(&x, across, s->w, (int)s->mode, (int)s->padding, aligned);
        if (!pairs || !sample_pair(&y, below, s->h, border, aligned))
            sample_along(&y, below, s->h, (int)s->mode, (int)s->padding, aligned);
        for (int r = 0; r < j->taps; r++) {
            for (int c = 0; c < j->taps; c++) {
                int64_t k = (r * j->taps + c) * SAMPLE_POINTS + p;
                at[k] = x.at[c] < 0 || y.at[r] < 0 ? -1 : y.at[r] * s->w + x.at[c];
                if (weight) weight[k] = (A)(y.weight[r] * x.weight[c]);
                if (along) along[k] = (A)(y.weight[r] * x.slope[c]), down[k] = (A)(y.slope[r] * x.weight[c]);
            }
        }
    }
    return count;
}

VINL void FN(sample_n)(const sample_job *j, int64_t n, int64_t block, void *room, const int taps) {
    const sample_shape *s = &j->s;
    const int64_t points = s->oh * s->ow, first = block * SAMPLE_POINTS, plane = s->h * s->w;
    int64_t *at = room;
    A *weight = (A *)(at + taps * SAMPLE_POINTS);
    int64_t count = FN(prepare)(j, n, first, at, weight, NULL, NULL);
    int32_t *small = (int32_t *)(weight + taps * SAMPLE_POINTS); /* the places, where they are lanes of a vector */
    const int lanes = VW == 16 && sizeof(T) == 4 && plane <= INT32_MAX; /* below AVX-512 loads one by one are faster */
    const int64_t whole = lanes ? count / VW * VW : 0;
    int inside = 1;
    for (int k = 0; k < taps; k++)
        for (int64_t p = 0; p < count; p++) inside &= at[k * SAMPLE_POINTS + p] >= 0;
    for (int64_t i = 0; i < taps * SAMPLE_POINTS && whole; i++) small[i] = (int32_t)at[i];
    for (int64_t c = 0; c < s->c; c++) {
        const T *x = (const T *)j->x + (n * s->c + c) * plane;
        T *out = (T *)j->out + (n * s->c + c) * points + first;
        for (int64_t p = 0; p < whole; p += VW) {
            vf sum = {0};
            for (int k = 0; k < taps; k++) {
                int64_t i = k * SAMPLE_POINTS + p;
                sum = vf_fma(vf_load((const float *)weight + i), vf_gather((const float *)x, vi_load(small + i)), sum);
            }
            vf_store((float *)out + p, sum);
        }
        for (int64_t p = whole; p < count; p++) {
            A sum = 0;
            for (int k = 0; k < taps; k++) {
                int64_t from = at[k * SAMPLE_POINTS + p];
                if (inside || from >= 0) sum += weight[k * SAMPLE_POINTS + p] * UP(x[from]);
            }
            out[p] = DOWN(sum);
        }
    }
}
static void FN(sample_points)(const sample_job *j, int64_t n, int64_t block, void *room) {
    if (j->taps == 1) FN(sample_n)(j, n, block, room, 1);
    else if (j->taps == 2) FN(sample_n)(j, n, block, room, 4);
    else FN(sample_n)(j, n, block, room, 16);
}

/* the picture's gradient: some channels of a picture */
static void FN(sample_x_back)(const sample_job *j, int64_t n, int64_t block, void *room) {
    const sample_shape *s = &j->s;
    const int64_t points = s->oh * s->ow, plane = s->h * s->w, c0 = block * SAMPLE_CHANNELS;
    const int64_t channels = i64_min(SAMPLE_CHANNELS, s->c - c0);
    const int taps = j->taps * j->taps;
    int64_t *at = room;
    A *weight = (A *)(at + taps * SAMPLE_POINTS), *more = weight + taps * SAMPLE_POINTS;
    T *out = (T *)j->out + (n * s->c + c0) * plane;
    A *sum = NATIVE ? (A *)out : more;
    for (int64_t i = 0; i < channels * plane; i++) sum[i] = 0;
    for (int64_t first = 0; first < points; first += SAMPLE_POINTS) {
        int64_t count = FN(prepare)(j, n, first, at, weight, NULL, NULL);
        for (int64_t c = 0; c < channels; c++) {
            const T *g = (const T *)j->g + (n * s->c + c0 + c) * points + first;
            for (int64_t p = 0; p < count; p++) {
                A value = UP(g[p]);
                for (int k = 0; k < taps; k++) {
                    int64_t to = at[k * SAMPLE_POINTS + p];
                    A w = weight[k * SAMPLE_POINTS + p];
                    if (to >= 0 && w == w) sum[c * plane + to] += w * value;
                }
            }
        }
    }
    for (int64_t i = 0; i < channels * plane && !NATIVE; i++) out[i] = DOWN(sum[i]);
}

/* the grid's gradient: some points of all channels */
static void FN(sample_grid_back)(const sample_job *j, int64_t n, int64_t block, void *room) {
    const sample_shape *s = &j->s;
    const int64_t points = s->oh * s->ow, first = block * SAMPLE_POINTS, plane = s->h * s->w;
    const int taps = j->taps * j->taps;
    int64_t *at = room;
    double *sums = (double *)(at + taps * SAMPLE_POINTS);
    A *along = (A *)(sums + 2 * SAMPLE_POINTS), *down = along + taps * SAMPLE_POINTS;
    int64_t count = FN(prepare)(j, n, first, at, NULL, along, down);
    for (int64_t p = 0; p < 2 * SAMPLE_POINTS; p++) sums[p] = 0;
    for (int64_t c = 0; c < s->c; c++) {
        const T *x = (const T *)j->x + (n * s->c + c) * plane, *g = (const T *)j->g + (n * s->c + c) * points + first;
        for (int64_t p = 0; p < count; p++) {
            A across = 0, below = 0;
            for (int k = 0; k < taps; k++) {
                int64_t i = k * SAMPLE_POINTS + p;
                if (at[i] < 0) continue;
                A value = UP(x[at[i]]);
                across += along[i] == along[i] ? along[i] * value : 0;
                below += down[i] == down[i] ? down[i] * value : 0;
            }
            sums[2 * p] += (double)(across * UP(g[p]));
            sums[2 * p + 1] += (double)(below * UP(g[p]));
        }
    }
    T *out = (T *)j->out + 2 * (n * points + first);
    for (int64_t p = 0; p < 2 * count; p++) out[p] = DOWN((A)sums[p]);
}

static const sample_type FN(sample) = {
    .native = NATIVE, .tasks = {FN(sample_points), FN(sample_x_back), FN(sample_grid_back)},
};
