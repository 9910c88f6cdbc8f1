/* Blocks of images as columns, included once an element type: unfold4d, fold4d, and the bilinear samples of deformable
   convolutions with their gradients. A task is one map of one image (deformable: one group of maps that share offsets). */

typedef struct {
    const T *x, *offset, *mask, *grad;
    T *out, *d_offset, *d_mask;
    conv_columns d;
} FN(columns);

GEMM_INLINE int64_t FN(tap_y)(const conv_columns *d, int64_t i, int64_t y)
{
    return y * d->stride[0] + i * d->dilation[0] - d->pad[0];
}
GEMM_INLINE int64_t FN(tap_x)(const conv_columns *d, int64_t j, int64_t x)
{
    return x * d->stride[1] + j * d->dilation[1] - d->pad[1];
}

/* [image, channel, tap, y, x] from [image, channel, h, w] */
static void FN(unfold_part)(void *ctx, int64_t task)
{
    const FN(columns) *g = ctx;
    const conv_columns *d = &g->d;
    const T *x = g->x + task * d->in[0] * d->in[1];
    T *out = g->out + task * d->kernel[0] * d->kernel[1] * d->out[0] * d->out[1];
    for (int64_t i = 0; i < d->kernel[0]; i++)
        for (int64_t j = 0; j < d->kernel[1]; j++)
            for (int64_t y = 0; y < d->out[0]; y++, out += d->out[1]) {
                const int64_t h = FN(tap_y)(d, i, y), w0 = FN(tap_x)(d, j, 0), s = d->stride[1];
                const int64_t a = w0 < 0 ? gemm_min((-w0 + s - 1) / s, d->out[1]) : 0;
                const int outside = h < 0 || h >= d->in[0] || w0 >= d->in[1];
                const int64_t b = outside ? a : i64_max(gemm_min((d->in[1] - 1 - w0) / s + 1, d->out[1]), a);
                const T *src = x + h * d->in[1] + w0;
                memset(out, 0, a * sizeof(T));
                if (s == 1 && b > a) memcpy(out + a, src + a, (b - a) * sizeof(T));
                else for (int64_t u = a; u < b; u++) out[u] = src[u * s];
                memset(out + b, 0, (d->out[1] - b) * sizeof(T));
            }
}

/* The sum of the columns' elements that stand for each element of the map. */
static void FN(fold_part)(void *ctx, int64_t task)
{
    const FN(columns) *g = ctx;
    const conv_columns *d = &g->d;
    T *out = g->out + task * d->in[0] * d->in[1];
    const T *x = g->x + task * d->kernel[0] * d->kernel[1] * d->out[0] * d->out[1];
    memset(out, 0, d->in[0] * d->in[1] * sizeof(T));
    for (int64_t i = 0; i < d->kernel[0]; i++)
        for (int64_t j = 0; j < d->kernel[1]; j++)
            for (int64_t y = 0; y < d->out[0]; y++, x += d->out[1]) {
                const int64_t h = FN(tap_y)(d, i, y), w0 = FN(tap_x)(d, j, 0), s = d->stride[1];
                if (h < 0 || h >= d->in[0]) continue;
                T *to = out + h * d->in[1];
                for (int64_t u = 0; u < d->out[1]; u++)
                    if (w0 + u * s >= 0 && w0 + u * s < d->in[1]) to[w0 + u * s] += x[u];
            }
}

/* Four corners around a point, their weights, and the slopes of the weights along both axes; 0 outside. */
typedef struct { int64_t at[4]; T w[4], dy[4], dx[4]; } FN(corners);

GEMM_INLINE int FN(sample)(const conv_columns *d, T y, T x, FN(corners) *c)
{
    const int64_t h = d->in[0], w = d->in[1];
    if (!(y > -1 && x > -1 && y < h && x < w)) return 0;
    const int64_t y0 = (int64_t)(y + 1) - 1, x0 = (int64_t)(x + 1) - 1;
    const T b = y - y0, r = x - x0;
    for (int k = 0; k < 4; k++) {
        const int64_t p = y0 + k / 2, q = x0 + k % 2;
        const int inside = p >= 0 && p < h && q >= 0 && q < w;
        const T v = k / 2 ? b : 1 - b, u = k % 2 ? r : 1 - r;
        c->at[k] = inside ? p * w + q : 0;
        c->w[k] = inside ? v * u : 0;
        c->dy[k] = inside ? (k / 2 ? u : -u) : 0;
        c->dx[k] = inside ? (k % 2 ? v : -v) : 0;
    }
    return 1;
}

enum { FN(COLUMNS), FN(TO_X), FN(TO_OFFSET) };

GEMM_INLINE void FN(deform)(FN(columns) *g, int64_t task, const int what)
{
    const conv_columns *d = &g->d;
    const int64_t taps = d->kernel[0] * d->kernel[1], area = d->out[0] * d->out[1], map = d->in[0] * d->in[1];
    const int64_t channels = d->channels / d->groups, c0 = task * channels; /* tasks count (image, group) */
    const T *offset = g->offset + task * taps * 2 * area, *mask = g->mask ? g->mask + task * taps * area : NULL;
    if (what == FN(TO_X)) memset(g->out + c0 * map, 0, channels * map * sizeof(T));
    for (int64_t t = 0; t < taps; t++)
        for (int64_t p = 0; p < area; p++) {
            FN(corners) k = {0};
            const T y = FN(tap_y)(d, t / d->kernel[1], p / d->out[1]) + offset[2 * t * area + p];
            const T x = FN(tap_x)(d, t % d->kernel[1], p % d->out[1]) + offset[(2 * t + 1) * area + p];
            const int inside = FN(sample)(d, y, x, &k);
            const T m = mask ? mask[t * area + p] : 1;
            T sum = 0, dy = 0, dx = 0;
            for (int64_t c = 0; c < channels; c++) {
                const int64_t column = ((c0 + c) * taps + t) * area + p;
                if (what == FN(TO_X)) {
                    T *to = g->out + (c0 + c) * map;
                    const T v = g->grad[column] * m;
                    if (inside) for (int q = 0; q < 4; q++) if (k.w[q] != 0) to[k.at[q]] += v * k.w[q];
                    continue;
                }
                const T *from = g->x + (c0 + c) * map;
                T v = 0, vy = 0, vx = 0;
                if (inside)
                    for (int q = 0; q < 4; q++) {
                        const T e = from[k.at[q]];
                        if (k.w[q] != 0) v += k.w[q] * e;
                        if (what == FN(TO_OFFSET)) {
                            if (k.dy[q] != 0) vy += k.dy[q] * e;
                            if (k.dx[q] != 0) vx += k.dx[q] * e;
                        }
                    }
                if (what == FN(COLUMNS)) g->out[column] = v * m;
                else {
                    const T s = g->grad[column];
                    sum += s * v;
                    dy += s * vy;
                    dx += s * vx;
                }
            }
            if (what == FN(TO_OFFSET)) {
                g->d_offset[(task * taps + t) * 2 * area + p] = dy * m;
                g->d_offset[((task * taps + t) * 2 + 1) * area + p] = dx * m;
                if (g->d_mask) g->d_mask[(task * taps + t) * area + p] = sum;
            }
        }
}

static void FN(deform_forward)(void *ctx, int64_t task) { FN(deform)(ctx, task, FN(COLUMNS)); }
static void FN(deform_to_x)(void *ctx, int64_t task) { FN(deform)(ctx, task, FN(TO_X)); }
static void FN(deform_to_offset)(void *ctx, int64_t task) { FN(deform)(ctx, task, FN(TO_OFFSET)); }
