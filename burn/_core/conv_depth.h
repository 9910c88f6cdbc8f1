/* Depthwise convolutions, included once an element type from conv_direct.h: one output channel from one input channel, in
   rows of positions from a slab; where masks are cheap, kernels of three by three straight from the planes as they lie. */

/* Too few channels for a tile. */
GEMM_INLINE int FN(is_thin)(const conv_call *call) { return call->c == 1 && call->o <= 2; }

#ifdef MASK
enum { FN(THIN_LANES) = VL, FN(THIN_ROWS) = 8, FN(DEEP_ROWS) = 4 };

/* R rows of one vector, from row r and column j on. */
GEMM_INLINE void FN(thin_tile)(const int R, const FN(job) *g, const FN(patch) *w, int64_t every, T bias, const T *a, int64_t r,
                               int64_t j, T *y)
{
    const T *b = w->slab + r * g->width + j;
    const MASK in = FN(inside)(j, w->cols);
    VEC s[FN(THIN_ROWS)];
    GEMM_PRAGMA(GCC unroll 8)
    for (int i = 0; i < R; i++) s[i] = SPLAT(bias);
    for (int64_t p = 0; p < w->depth; p++) {
        const VEC f = SPLAT(a[p * every]);
        GEMM_PRAGMA(GCC unroll 8)
        for (int i = 0; i < R; i++) s[i] += f * LOAD(b + w->off[p] + i * g->width);
    }
    GEMM_PRAGMA(GCC unroll 8)
    for (int i = 0; i < R; i++) {
        T *to = y + (r + i) * w->row_ld + j;
        if (w->add) s[i] += LOAD_MASK(in, to);
        STORE_MASK(in, to, s[i]);
    }
}

/* Taps lie `every` apart. */
static void FN(thin)(const FN(job) *g, const FN(patch) *w, int64_t every, T bias, const T *a, T *y)
{
    for (int64_t j = 0; j < w->cols; j += VL) {
        int64_t r = 0;
        for (; r + FN(THIN_ROWS) <= w->rows; r += FN(THIN_ROWS)) FN(thin_tile)(FN(THIN_ROWS), g, w, every, bias, a, r, j, y);
        for (; r < w->rows; r++) FN(thin_tile)(1, g, w, every, bias, a, r, j, y);
    }
}

/* ---- three by three, neither strided nor dilated */

typedef struct {
    FN(job) *job;
    int64_t planes, each; /* of y; in a part */
    int64_t in[2], out[2], low[2];
    int around;
} FN(deep);

GEMM_INLINE int FN(is_deep)(const FN(job) *g)
{
    const conv_call *call = g->call;
    int fits = FN(is_thin)(call) && call->kernel[0] == 1 && call->in[0] == 1 && call->out[0] == 1;
    for (int a = 1; a < CONV_AXES; a++)
        fits &= call->kernel[a] == 3 && call->dilation[a] == 1 && g->axis[a].read == 1 && g->axis[a].phases == 1;
    return fits;
}

/* R rows of one vector, from row r and column c on: they share the rows that they read, and what lies outside is masked. */
GEMM_INLINE void FN(deep_tile)(const int R, const FN(deep) *t, const T *x, const VEC *f, VEC bias, int64_t r, int64_t c, T *y)
{
    const int64_t rows = t->in[0], width = t->in[1], every = t->out[1];
    const MASK out = FN(inside)(c, every);
    MASK in[3];
    VEC s[FN(DEEP_ROWS)];
    GEMM_PRAGMA(GCC unroll 4)
    for (int i = 0; i < R; i++) s[i] = bias;
    r += t->low[0];
    c += t->low[1];
    x += r * width + c;
    GEMM_PRAGMA(GCC unroll 3)
    for (int k = 0; k < 3; k++) in[k] = FN(inside)(c + k, width);
    GEMM_PRAGMA(GCC unroll 6)
    for (int i = 0; i < R + 2; i++, x += width) {
        if (r + i < 0 || r + i >= rows) continue;
        GEMM_PRAGMA(GCC unroll 3)
        for (int k = 0; k < 3; k++) {
            const VEC b = LOAD_MASK(in[k], x + k);
            GEMM_PRAGMA(GCC unroll 3)
            for (int j = 0; j < 3; j++)
                if (i >= j && i - j < R) s[i - j] += b * f[j * 3 + k];
        }
    }
    GEMM_PRAGMA(GCC unroll 4)
    for (int i = 0; i < R; i++, y += every) STORE_MASK(out, y, s[i]);
}

/* R rows of a plane, to y, or through `buffer` around the caches. */
GEMM_INLINE void FN(deep_rows)(const int R, const FN(deep) *t, const T *x, const VEC *f, VEC bias, int64_t r, T *y, T *buffer)
{
    const int64_t size = R * t->out[1];
    for (int64_t c = 0; c < t->out[1]; c += VL) FN(deep_tile)(R, t, x, f, bias, r, c, (buffer ? buffer : y) + c);
    if (buffer) for (int64_t u = 0; u < size; u += VL) vf_stream((float *)(y + u), (vf)LOAD(buffer + u));
}

static void FN(deep_part)(void *ctx, int64_t part)
{
    const FN(deep) *t = ctx;
    const FN(job) *g = t->job;
    const conv_call *call = g->call;
    const conv_axis *h = &g->axis[1], *v = &g->axis[2];
    const size_t bytes = FN(DEEP_ROWS) * t->out[1] * sizeof(T);
    T *buffer = NULL;
    if (t->around && !(buffer = rt->alloc(bytes))) {
        __atomic_store_n(&t->job->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    for (int64_t p = part * t->each; p < gemm_min((part + 1) * t->each, t->planes); p++) {
        const int64_t image = p / call->o, o = p % call->o, group = image % call->groups;
        const T *w = g->w + group * call->w_g + o * call->w_o, *x = g->x + image * FN(plane_in)(g);
        T *y = g->y + p * FN(plane_out)(g), taps[9];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                taps[(h->offset[i] - h->low) * 3 + v->offset[j] - v->low] = w[h->tap[i] * 3 + v->tap[j]];
        VEC f[9];
        GEMM_PRAGMA(GCC unroll 9)
        for (int k = 0; k < 9; k++) {
            f[k] = SPLAT(taps[k]);
            GEMM_PIN(f[k]);
        }
        const VEC bias = SPLAT(g->bias ? g->bias[group * call->o + o] : 0);
        int64_t r = 0;
        for (; r + FN(DEEP_ROWS) <= t->out[0]; r += FN(DEEP_ROWS), y += FN(DEEP_ROWS) * t->out[1])
            FN(deep_rows)(FN(DEEP_ROWS), t, x, f, bias, r, y, buffer);
        for (; r < t->out[0]; r++, y += t->out[1]) FN(deep_rows)(1, t, x, f, bias, r, y, NULL);
    }
    if (!buffer) return;
    v_fence();
    rt->free(buffer, bytes);
}

static void FN(deep_run)(FN(job) *g, double work)
{
    const conv_call *call = g->call;
    FN(deep) t = {.job = g, .planes = call->n * call->groups * call->o};
    for (int k = 0; k < 2; k++) {
        t.in[k] = g->axis[1 + k].in;
        t.out[k] = g->axis[1 + k].out;
        t.low[k] = g->axis[1 + k].low;
    }
    /* whole lines: of a plane, and of the rows that are written at once */
    const int lines = (FN(plane_out)(g) | FN(DEEP_ROWS) * t.out[1]) * TBYTES % GEMM_VBYTES == 0;
    t.around = lines && can_stream(g->y, t.planes * FN(plane_out)(g) * TBYTES);
    t.each = i64_max(1, t.planes / FN(LOTS));
    rt_tasks(FN(deep_part), &t, gemm_ceil(t.planes, t.each), work);
}
#else
enum { FN(THIN_LANES) = 4 * VL };

/* Four vectors at a time. Taps lie `every` apart. */
static void FN(thin)(const FN(job) *g, const FN(patch) *w, int64_t every, T bias, const T *a, T *y)
{
    for (int64_t r = 0; r < w->rows; r++, y += w->row_ld) {
        const T *b = w->slab + r * g->width;
        for (int64_t j = 0; j < w->cols; j += 4 * VL) {
            VEC s0 = SPLAT(bias), s1 = s0, s2 = s0, s3 = s0;
            for (int64_t p = 0; p < w->depth; p++) {
                const VEC f = SPLAT(a[p * every]);
                const T *at = b + w->off[p] + j;
                s0 += f * LOAD(at);
                s1 += f * LOAD(at + VL);
                s2 += f * LOAD(at + 2 * VL);
                s3 += f * LOAD(at + 3 * VL);
            }
            const int64_t n = gemm_min(w->cols - j, 4 * VL);
            T tile[4 * VL], *to = n == 4 * VL && !w->add ? y + j : tile;
            STORE(to, s0);
            STORE(to + VL, s1);
            STORE(to + 2 * VL, s2);
            STORE(to + 3 * VL, s3);
            if (w->add) for (int64_t u = 0; u < n; u++) y[j + u] += tile[u];
            else if (to == tile) for (int64_t u = 0; u < n; u++) y[j + u] = tile[u];
        }
    }
}
#endif
