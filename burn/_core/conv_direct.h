/* DIRECT and POINT, included once an element type. Weights are packed once into panels of output channels; a task copies
   the rows that it needs, padded and with columns split by the stride, into a slab that fits L2, and reads that through a
   table of offsets. Depth is the outermost sum: one plane of the kernel after the other. */

typedef struct {
    const conv_call *call;
    conv_axis axis[CONV_AXES];
    const T *x, *w, *bias;
    T *y;
    T *panels;                              /* [group][kernel depth][phase][panel][c, tap][rows of the panel] */
    int32_t *offsets;                       /* [phase][c, tap] in the slab */
    gemm_split rows;
    int64_t mp, weights;                    /* panels; elements of one kernel plane of a group */
    int64_t row_block, col_block, row_blocks, col_blocks;
    int64_t slab_row, slab_plane, slab_width, slab;  /* a row, a channel, a column phase; all: elements */
    int64_t k_chunk, panel_chunk;
    int gather;                             /* pairs of groups are packed before the panels read them */
    const uint8_t *only;                    /* NULL, or for each image and group whether to compute it */
    int failed;
} FN(job);

GEMM_INLINE int FN(job_height)(const FN(job) *g, int64_t i) { return (int)(g->rows.each + (i < g->rows.more)); }
GEMM_INLINE int64_t FN(plane_in)(const FN(job) *g) { return g->axis[1].in * g->axis[2].in; }
GEMM_INLINE int64_t FN(plane_out)(const FN(job) *g) { return g->axis[1].out * g->axis[2].out; }

/* Panel i of phase (r, q) of plane d of the kernel of a group: task numbers count (group, d, panel). */
static void FN(pack_weights)(void *ctx, int64_t task)
{
    const FN(job) *g = ctx;
    const conv_call *call = g->call;
    const int64_t i = task % g->mp, d = task / g->mp % call->kernel[0], group = task / g->mp / call->kernel[0];
    const int64_t i0 = gemm_start(g->rows, i), area = call->kernel[1] * call->kernel[2];
    const int rows = FN(job_height)(g, i);
    const T *w = g->w + group * call->w_g + i0 * call->w_o + d * area;
    T *out = g->panels + (group * call->kernel[0] + d) * g->weights;
    const conv_axis *h = &g->axis[1], *v = &g->axis[2];
    for (int64_t r = 0; r < h->phases; r++)
        for (int64_t q = 0; q < v->phases; q++) {
            const int64_t depth = call->c * conv_taps(h, r) * conv_taps(v, q);
            T *p = out + i0 * depth;
            for (int64_t c = 0; c < call->c; c++)
                for (int64_t y = h->first[r]; y < h->first[r + 1]; y++)
                    for (int64_t x = v->first[q]; x < v->first[q + 1]; x++, p += rows) {
                        const T *from = w + c * call->w_c + h->tap[y] * call->kernel[2] + v->tap[x];
                        for (int j = 0; j < rows; j++) p[j] = from[j * call->w_o];
                    }
            out += call->o * depth;
        }
}

/* Rows of all channels of one plane of the input, from row `top` and column `left`; what lies outside is 0. */
static void FN(fill_slab)(const FN(job) *g, const T *x, int64_t rows, int64_t top, int64_t left, T *slab)
{
    const conv_axis *h = &g->axis[1], *v = &g->axis[2];
    const int64_t s = v->read, channel = g->axis[0].in * FN(plane_in)(g), width = g->slab_width;
    for (int64_t q = 0; q < s && q <= v->span; q++) {
        /* column u of the phase is element left + q + u * s */
        const int64_t at = left + q, u0 = at < 0 ? gemm_min((-at + s - 1) / s, width) : 0;
        const int64_t u1 = at < v->in ? gemm_min((v->in - 1 - at) / s + 1, width) : 0;
        for (int64_t c = 0; c < g->call->c; c++)
            for (int64_t r = 0; r < rows; r++) {
                T *d = slab + c * g->slab_plane + r * g->slab_row + q * width;
                const int64_t i = top + r;
                if (r % h->read > h->span) continue; /* between rows that are read */
                if (i < 0 || i >= h->in || u1 <= u0) {
                    memset(d, 0, width * sizeof(T));
                    continue;
                }
                const T *src = x + c * channel + i * v->in + at;
                memset(d, 0, u0 * sizeof(T));
                if (s == 1) memcpy(d + u0, src + u0, (u1 - u0) * sizeof(T));
                else if (s == 2) for (int64_t u = u0; u < u1; u++) d[u] = src[2 * u];
                else for (int64_t u = u0; u < u1; u++) d[u] = src[u * s];
                memset(d + u1, 0, (width - u1) * sizeof(T));
            }
    }
}

/* One output channel from one input channel: rows of positions, four vectors at a time. */
static void FN(thin)(const FN(job) *g, const T *slab, const T *w, const int32_t *off, int64_t k, int64_t rows, int64_t cols,
                     T *y, int64_t ld, int64_t step, T bias, int add)
{
    const int64_t down = g->axis[1].read * g->slab_row;
    for (int64_t r = 0; r < rows; r++, y += ld) {
        const T *b = slab + r * down;
        for (int64_t j = 0; j < cols; j += 4 * VL) {
            VEC s0 = SPLAT(bias), s1 = s0, s2 = s0, s3 = s0;
            for (int64_t p = 0; p < k; p++) {
                const VEC f = SPLAT(w[p]);
                const T *at = b + off[p] + j;
                s0 += f * LOAD(at);
                s1 += f * LOAD(at + VL);
                s2 += f * LOAD(at + 2 * VL);
                s3 += f * LOAD(at + 3 * VL);
            }
            T tile[4 * VL];
            STORE(tile, s0);
            STORE(tile + VL, s1);
            STORE(tile + 2 * VL, s2);
            STORE(tile + 3 * VL, s3);
            const int64_t n = gemm_min(cols - j, 4 * VL);
            if (add) for (int64_t u = 0; u < n; u++) y[(j + u) * step] += tile[u];
            else if (step == 1) memcpy(y + j, tile, n * sizeof(T));
            else for (int64_t u = 0; u < n; u++) y[(j + u) * step] = tile[u];
        }
    }
}

typedef struct { const T *slab, *a; const int32_t *off; int64_t depth, rows, cols, row_ld; T *y, *pair; const T *bias; int add; } FN(patch);

/* All output channels of a group at rows x cols positions of one phase, from one plane of the kernel. */
static void FN(multiply)(const FN(job) *g, const FN(patch) *w)
{
    const int64_t across = gemm_ceil(w->cols, VL), groups = w->rows * across, down = g->axis[1].read * g->slab_row;
    const int64_t ld = g->axis[0].out * FN(plane_out)(g), step = g->axis[2].write, depth = w->depth;
    for (int64_t i0 = 0; i0 < g->mp; i0 += g->panel_chunk)
        for (int64_t p = 0; p < groups; p += 2) {
            const T *b[2];
            FN(goal) to = {.ld = ld, .step = step};
            T *y[2];
            for (int h = 0; h < 2; h++) {
                const int64_t q = p + h < groups ? p + h : p, r = q / across, j = q % across * VL;
                b[h] = w->slab + r * down + j;
                y[h] = w->y + r * w->row_ld + j * step;
                to.w[h] = p + h < groups ? (int)gemm_min(w->cols - j, VL) : 0;
            }
            int64_t k0 = 0;
            do {
                const int64_t kk = gemm_min(depth - k0, g->k_chunk);
                const int32_t *off = w->off + k0;
                if (g->gather)
                    for (int64_t k = 0; k < kk; k++) {
                        STORE(w->pair + k * NR, LOAD(b[0] + off[k]));
                        STORE(w->pair + k * NR + VL, LOAD(b[1] + off[k]));
                    }
                to.add = w->add || k0;
                for (int64_t i = i0; i < gemm_min(i0 + g->panel_chunk, g->mp); i++) {
                    const int64_t o = gemm_start(g->rows, i);
                    const int rows = FN(job_height)(g, i);
                    const T *a = w->a + o * depth + k0 * rows;
                    to.bias = w->bias && !k0 ? w->bias + o : NULL;
                    to.y[0] = y[0] + o * ld;
                    to.y[1] = y[1] + o * ld;
                    if (g->gather) FN(sums_packed)(rows, kk, a, w->pair, &to);
                    else FN(sums_by_offsets)(rows, kk, a, b[0], b[1], off, &to);
                }
                k0 += kk;
            } while (k0 < depth);
        }
}

static void FN(direct_part)(void *ctx, int64_t task)
{
    FN(job) *g = ctx;
    const conv_call *call = g->call;
    const conv_axis *d = &g->axis[0], *h = &g->axis[1], *v = &g->axis[2];
    const int64_t col = task % g->col_blocks, row = task / g->col_blocks % g->row_blocks;
    const int64_t plane = task / g->col_blocks / g->row_blocks, z = plane % d->out, image = plane / d->out;
    const int64_t group = image % call->groups, q0 = row * g->row_block, j0 = col * g->col_block;
    if (g->only && !g->only[image]) return;
    const T *x = g->x + image * call->c * d->in * FN(plane_in)(g);
    T *y = g->y + image * call->o * d->out * FN(plane_out)(g) + z * FN(plane_out)(g);
    const int64_t most = gemm_min(g->row_block, conv_positions(h, 0) - q0);
    const int64_t top = q0 * h->read + h->low, rows = (most - 1) * h->read + h->span + 1;
    const int64_t pair = g->gather ? g->k_chunk * NR : 0;
    const size_t bytes = (g->slab + pair) * sizeof(T);
    T *scratch = rt->alloc(bytes);
    if (!scratch) {
        __atomic_store_n(&g->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    T *slab = scratch + pair;
    int add = 0;
    const int64_t r0 = z % d->write, z0 = z / d->write * d->read;
    for (int64_t t = d->first[r0]; t <= d->first[r0 + 1]; t++) {
        const int last = t == d->first[r0 + 1]; /* no tap is left: where none was inside, the bias remains */
        const int64_t at = last ? 0 : z0 + d->offset[t];
        if (last ? add : at < 0 || at >= d->in) continue;
        if (!last) FN(fill_slab)(g, x + at * FN(plane_in)(g), rows, top, j0 * v->read + v->low, slab);
        const T *a = g->panels + (group * call->kernel[0] + (last ? 0 : d->tap[t])) * g->weights;
        const int32_t *off = g->offsets;
        for (int64_t r = 0; r < h->phases; r++)
            for (int64_t q = 0; q < v->phases; q++) {
                const int64_t depth = call->c * conv_taps(h, r) * conv_taps(v, q);
                FN(patch) w = {.slab = slab, .a = a, .off = off, .depth = last ? 0 : depth, .pair = scratch, .add = add};
                w.rows = gemm_min(g->row_block, conv_positions(h, r) - q0);
                w.cols = gemm_min(g->col_block, conv_positions(v, q) - j0);
                w.row_ld = h->write * v->out;
                w.y = y + (q0 * h->write + r) * v->out + j0 * v->write + q;
                w.bias = g->bias && !add ? g->bias + group * call->o : NULL;
                if (w.rows > 0 && w.cols > 0) {
                    if (call->c > 1 || call->o > 2) FN(multiply)(g, &w);
                    else
                        for (int64_t o = 0; o < call->o; o++) {
                            /* few rows make one panel */
                            T taps[64], *f = taps;
                            if (w.depth > 64 && !(f = rt->alloc(w.depth * sizeof(T)))) {
                                __atomic_store_n(&g->failed, 1, __ATOMIC_RELAXED);
                                continue;
                            }
                            for (int64_t k = 0; k < w.depth; k++) f[k] = a[k * call->o + o];
                            FN(thin)(g, slab, f, off, w.depth, w.rows, w.cols, w.y + o * d->out * FN(plane_out)(g), w.row_ld,
                                     v->write, w.bias ? w.bias[o] : 0, add);
                            if (f != taps) rt->free(f, w.depth * sizeof(T));
                        }
                }
                a += call->o * depth;
                off += depth;
            }
        add = 1;
    }
    rt->free(scratch, bytes);
}

/* Sizes of slabs and chunks. A slab stays in L2, the part of it that a tile reads in L1; there are enough tasks for many
   threads where the map allows. */
enum { FN(SLAB) = 200 * 1024 / TBYTES, FN(NEAR) = 16 * 1024, FN(PANELS) = 128 * 1024 / TBYTES, FN(TASKS) = 32 };

static void FN(direct_sizes)(FN(job) *g)
{
    const conv_call *call = g->call;
    const conv_axis *h = &g->axis[1], *v = &g->axis[2];
    const int64_t rows = conv_positions(h, 0), cols = conv_positions(v, 0);
    const int64_t images = call->n * call->groups * g->axis[0].out;
    g->row_block = rows;
    g->col_block = cols;
    for (;;) {
        const int64_t phases = gemm_min(v->read, v->span + 1);
        g->slab_width = g->col_block + v->span / v->read + 4 * VL;
        g->slab_row = phases * g->slab_width;
        g->slab_plane = ((g->row_block - 1) * h->read + h->span + 1) * g->slab_row + VL;
        if (g->slab_plane * TBYTES % 1024 < 64) g->slab_plane += 64 / TBYTES;
        g->slab = call->c * g->slab_plane + 4 * VL;
        g->row_blocks = gemm_ceil(rows, g->row_block);
        g->col_blocks = gemm_ceil(cols, g->col_block);
        const int large = g->slab > FN(SLAB), few = images * g->row_blocks * g->col_blocks < FN(TASKS);
        if (g->row_block > 1 && (large || (few && g->row_block * g->col_block * call->c * call->o > 16384)))
            g->row_block = gemm_ceil(rows, 2 * g->row_blocks);
        else if (g->col_block > 16 * VL && (large || (few && g->col_block * call->c * call->o > 16384)))
            g->col_block = gemm_ceil(gemm_ceil(cols, 2 * g->col_blocks), VL) * VL;
        else break;
        if (g->row_block < 1) g->row_block = 1;
    }
    const int64_t taps = gemm_ceil(call->kernel[1], h->phases) * gemm_ceil(call->kernel[2], v->phases);
    const int64_t lines = gemm_ceil(call->kernel[1], h->phases) * gemm_min(v->read, 2) * 2 * 64; /* bytes a channel touches */
    const int64_t channels = gemm_ceil(call->c, gemm_ceil(call->c, i64_max(FN(NEAR) / lines, 1)));
    g->k_chunk = channels * taps;
    g->gather = v->read > 1 && g->mp >= 8 && cols >= 2 * VL;
    const int64_t chunks = gemm_ceil(g->mp, i64_max(FN(PANELS) / (GEMM_MR * call->c * taps), 1));
    g->panel_chunk = gemm_ceil(g->mp, chunks);
}

static void FN(direct_offsets)(FN(job) *g)
{
    const conv_axis *h = &g->axis[1], *v = &g->axis[2];
    int32_t *off = g->offsets;
    for (int64_t r = 0; r < h->phases; r++)
        for (int64_t q = 0; q < v->phases; q++)
            for (int64_t c = 0; c < g->call->c; c++)
                for (int64_t y = h->first[r]; y < h->first[r + 1]; y++)
                    for (int64_t x = v->first[q]; x < v->first[q + 1]; x++) {
                        const int64_t u = v->offset[x] - v->low;
                        *off++ = (int32_t)(c * g->slab_plane + (h->offset[y] - h->low) * g->slab_row +
                                           u % v->read * g->slab_width + u / v->read);
                    }
}

/* ---- POINT */

enum { FN(POINT_COLUMNS) = 12, FN(POINT_DEPTH) = 256 * 4 / TBYTES };

static void FN(point_part)(void *ctx, int64_t task)
{
    FN(job) *g = ctx;
    const conv_call *call = g->call;
    const int64_t size = g->axis[0].in * FN(plane_in)(g), panels = gemm_ceil(size, NR);
    const int64_t image = task / g->col_blocks, group = image % call->groups;
    const gemm_split split = gemm_even(panels, g->col_blocks);
    const int64_t begin = gemm_start(split, task % g->col_blocks), end = gemm_start(split, task % g->col_blocks + 1);
    const T *x = g->x + image * call->c * size, *a = g->panels + group * g->weights;
    T *y = g->y + image * call->o * size;
    const size_t bytes = (size_t)(end - begin) * NR * gemm_min(call->c, FN(POINT_DEPTH)) * sizeof(T);
    T *b = rt->alloc(bytes);
    if (!b) {
        __atomic_store_n(&g->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    for (int64_t k0 = 0; k0 < call->c; k0 += FN(POINT_DEPTH)) {
        const int64_t kk = gemm_min(call->c - k0, FN(POINT_DEPTH));
        for (int64_t k = 0; k < kk; k++)
            for (int64_t j = begin; j < end; j++) {
                const T *src = x + (k0 + k) * size + j * NR;
                T *d = b + ((j - begin) * kk + k) * NR;
                const int64_t w = gemm_min(size - j * NR, NR);
                if (w == NR) {
                    STORE(d, LOAD(src));
                    STORE(d + VL, LOAD(src + VL));
                } else for (int64_t u = 0; u < NR; u++) d[u] = u < w ? src[u] : 0;
            }
        for (int64_t j = begin; j < end; j++)
            for (int64_t i = 0; i < g->mp; i++) {
                const int64_t o = gemm_start(g->rows, i), w = gemm_min(size - j * NR, NR);
                const int rows = FN(job_height)(g, i);
                T *at = y + o * size + j * NR;
                const FN(goal) to = {.y = {at, at + VL}, .ld = size, .step = 1, .add = k0 > 0,
                                     .bias = g->bias && !k0 ? g->bias + group * call->o + o : NULL,
                                     .w = {(int)gemm_min(w, VL), (int)(w > VL ? w - VL : 0)}};
                FN(sums_packed)(rows, kk, a + o * call->c + k0 * rows, b + (j - begin) * kk * NR, &to);
            }
    }
    rt->free(b, bytes);
}

/* ---- both: plan, packing, tasks. Returns bytes that could not be had. */
static size_t FN(direct)(const conv_call *call, conv_way way, const uint8_t *only)
{
    FN(job) g = {.call = call, .x = call->x, .w = call->w, .bias = call->bias, .y = call->y, .only = only};
    int64_t taps = 1, room = 0, outputs = call->n * call->groups;
    for (int a = 0; a < CONV_AXES; a++) {
        taps *= call->kernel[a];
        room += conv_axis_room(call, a);
        outputs *= call->out[a];
    }
    const int64_t area = call->kernel[1] * call->kernel[2];
    room += call->c * area;
    g.mp = gemm_ceil(call->o, GEMM_MR);
    g.rows = gemm_even(call->o, g.mp);
    g.weights = call->o * call->c * area;
    const int64_t packed = (call->groups * call->kernel[0] * g.weights + 63) / 64 * 64;
    const size_t bytes = packed * sizeof(T) + room * sizeof(int32_t);
    g.panels = rt->alloc(bytes);
    if (!g.panels) return bytes;
    int32_t *ints = (int32_t *)(g.panels + packed);
    for (int a = 0; a < CONV_AXES; a++) {
        conv_axis_fill(&g.axis[a], call, a, ints);
        ints += conv_axis_room(call, a);
    }
    g.offsets = ints;
    rt_tasks(FN(pack_weights), &g, call->groups * call->kernel[0] * g.mp, (double)packed);
    const double work = (double)outputs * call->o * call->c * taps * (TBYTES / 4) / 12;
    if (way == CONV_POINT) {
        g.col_blocks = gemm_ceil(gemm_ceil(g.axis[0].in * FN(plane_in)(&g), NR), FN(POINT_COLUMNS));
        rt_tasks(FN(point_part), &g, call->n * call->groups * g.col_blocks, work);
    } else {
        FN(direct_sizes)(&g);
        FN(direct_offsets)(&g);
        rt_tasks(FN(direct_part), &g, call->n * call->groups * g.axis[0].out * g.row_blocks * g.col_blocks, work);
    }
    rt->free(g.panels, bytes);
    return g.failed ? (g.slab + g.k_chunk * NR) * sizeof(T) : 0;
}
