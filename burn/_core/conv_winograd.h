/* WINOGRAD: F(4x4, 3x3) for f32. Tiles of 4x4 outputs are numbered through rows, maps and images; a vector holds one element of
   VL tiles, so narrow maps lose nothing. Three steps: 36 numbers a tile and input channel; for each of them a product with the
   transformed weights; 16 outputs a tile and output channel. With few channels a thread takes a block of tiles, whose numbers
   stay in L2, through all of them; with many, blocks are larger and each step is spread over the threads, so that the weights
   are read once a block. */

enum { WINO_OUT = 4, WINO_IN = 6, WINO_SPOTS = 36, WINO_CHANNELS = 8, WINO_DEPTH = 384 };
enum { WINO_BYTES = 5 << 20, WINO_NEAR = 310 << 10 }; /* of a large block, of the inputs of one in L2 */
enum { WINO_LOADS = (WINO_IN + VL - 1) / VL, WINO_WIDTH = WINO_LOADS * VL };

typedef struct { int64_t image, y, x; } wino_tile;

typedef struct {
    const conv_call *call;
    const float *x, *w;
    float *y, *u, *v, *m;          /* weights, inputs and products by spot */
    uint8_t *bad;                  /* images of this group with an output that is not finite */
    gemm_split rows;
    int64_t mp, group, down, across, tiles, first, panels, top, left;
    int64_t u_spot, v_spot, m_spot, m_row;
    int failed;
} wino_job;

GEMM_INLINE wino_tile wino_at(const wino_job *g, int64_t i)
{
    const int64_t map = g->down * g->across;
    return (wino_tile){i / map, i % map / g->across, i % g->across};
}

GEMM_INLINE void wino_in(const VEC *d, int step, VEC *o)
{
    const VEC d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step], d5 = d[5 * step];
    const VEC a = d4 - 4.f * d2, b = d3 - 4.f * d1, c = d4 - d2, e = 2.f * (d3 - d1);
    o[0] = 4.f * d0 - 5.f * d2 + d4;
    o[1] = a + b;
    o[2] = a - b;
    o[3] = c + e;
    o[4] = c - e;
    o[5] = 4.f * d1 - 5.f * d3 + d5;
}

GEMM_INLINE void wino_out(const VEC *m, int step, VEC *o)
{
    const VEC m0 = m[0], m1 = m[step], m2 = m[2 * step], m3 = m[3 * step], m4 = m[4 * step], m5 = m[5 * step];
    const VEC s1 = m1 + m2, d1 = m1 - m2, s2 = m3 + m4, d2 = m3 - m4;
    o[0] = m0 + s1 + s2;
    o[1] = d1 + 2.f * d2;
    o[2] = s1 + 4.f * s2;
    o[3] = d1 + 8.f * d2 + m5;
}

GEMM_INLINE void wino_kernel(VEC g0, VEC g1, VEC g2, VEC *o)
{
    const VEC a = g0 + g2, b = (1.f / 24) * g0 + (1.f / 6) * g2;
    o[0] = .25f * g0;
    o[1] = (-1.f / 6) * (a + g1);
    o[2] = (-1.f / 6) * (a - g1);
    o[3] = b + (1.f / 12) * g1;
    o[4] = b - (1.f / 12) * g1;
    o[5] = g2;
}

/* One panel of output channels: a lane is an output channel. */
static void wino_weights(void *ctx, int64_t i)
{
    const wino_job *g = ctx;
    const conv_call *call = g->call;
    const int64_t o = gemm_start(g->rows, i);
    const int rows = (int)(g->rows.each + (i < g->rows.more));
    const float *w = g->w + g->group * call->w_g + o * call->w_o;
    for (int64_t c = 0; c < call->c; c++, w += call->w_c) {
        VEC k[9], half[18], all[WINO_SPOTS];
        float lanes[9][VL];
        memset(lanes, 0, sizeof lanes);
        for (int j = 0; j < rows; j++)
            for (int t = 0; t < 9; t++) lanes[t][j] = w[j * call->w_o + (call->transposed ? 8 - t : t)];
        for (int t = 0; t < 9; t++) k[t] = LOAD(lanes[t]);
        for (int x = 0; x < 3; x++) wino_kernel(k[x], k[3 + x], k[6 + x], half + 6 * x);
        for (int y = 0; y < 6; y++) wino_kernel(half[y], half[6 + y], half[12 + y], all + 6 * y);
        float *u = g->u + o * call->c + c * rows;
        for (int s = 0; s < WINO_SPOTS; s++, u += g->u_spot) {
            /* a whole vector runs into the next channel, which is written after it */
            if ((c + 2) * rows >= c * rows + VL && c + 2 < call->c) STORE(u, all[s]);
            else memcpy(u, &all[s], rows * sizeof(float));
        }
    }
}

/* A panel of tiles, channels c0 to c1. */
static void wino_load(const wino_job *g, int64_t panel, int64_t c0, int64_t c1)
{
    const conv_call *call = g->call;
    const int64_t h = call->in[1], w = call->in[2];
    const float *at[NR];
    int inside[NR], row0[NR], row1[NR], col0[NR], col1[NR];
    for (int l = 0; l < NR; l++) {
        const wino_tile t = wino_at(g, gemm_min(g->first + panel * NR + l, g->tiles - 1));
        const int64_t y = t.y * WINO_OUT + g->top, x = t.x * WINO_OUT + g->left;
        at[l] = g->x + ((t.image * call->groups + g->group) * call->c + c0) * h * w + y * w + x;
        inside[l] = y >= 0 && x >= 0 && y + WINO_IN <= h && x + WINO_WIDTH <= w;
        row0[l] = (int)gemm_min(i64_max(-y, 0), WINO_IN);
        row1[l] = (int)i64_max(gemm_min(h - y, WINO_IN), row0[l]);
        col0[l] = (int)gemm_min(i64_max(-x, 0), WINO_IN);
        col1[l] = (int)i64_max(gemm_min(w - x, WINO_IN), col0[l]);
    }
    for (int64_t c = c0; c < c1; c++)
        for (int half = 0; half < 2; half++) {
            float edge[VL][WINO_IN * WINO_WIDTH];
            const float *p[VL];
            int64_t step[VL];
            for (int l = 0; l < VL; l++) {
                const int q = half * VL + l;
                p[l] = at[q] + (c - c0) * h * w;
                step[l] = w;
                if (inside[q]) continue;
                memset(edge[l], 0, sizeof edge[l]);
                for (int r = row0[q]; r < row1[q]; r++)
                    for (int x = col0[q]; x < col1[q]; x++) edge[l][r * WINO_WIDTH + x] = p[l][r * w + x];
                p[l] = edge[l];
                step[l] = WINO_WIDTH;
            }
            VEC d[WINO_IN][WINO_IN];
            for (int r = 0; r < WINO_IN; r++) {
                VEC t[WINO_WIDTH];
                GEMM_PRAGMA(GCC unroll 2)
                for (int u = 0; u < WINO_LOADS; u++) {
                    GEMM_PRAGMA(GCC unroll 16)
                    for (int l = 0; l < VL; l++) t[u * VL + l] = LOAD(p[l] + r * step[l] + u * VL);
                    FN(transpose)(t + u * VL);
                }
                wino_in(t, 1, d[r]);
            }
            float *v = g->v + (panel * call->c + c) * NR + half * VL;
            for (int k = 0; k < WINO_IN; k++) {
                VEC o[WINO_IN];
                wino_in(&d[0][k], WINO_IN, o);
                for (int r = 0; r < WINO_IN; r++) STORE(v + (r * WINO_IN + k) * g->v_spot, o[r]);
            }
        }
}

/* One spot: panels j0 to j1 of tiles, panels i0 to i1 of output channels. */
static void wino_multiply(const wino_job *g, int64_t spot, int64_t j0, int64_t j1, int64_t i0, int64_t i1)
{
    const int64_t c = g->call->c;
    const float *u = g->u + spot * g->u_spot;
    for (int64_t j = j0; j < j1; j++) {
        const float *v = g->v + spot * g->v_spot + j * c * NR;
        for (int64_t k = 0; k < c; k += WINO_DEPTH)
            for (int64_t i = i0; i < i1; i++) {
                const int64_t o = gemm_start(g->rows, i);
                const int rows = (int)(g->rows.each + (i < g->rows.more));
                const FN(target) to = {.c = g->m + spot * g->m_spot + o * g->m_row + j * NR, .ldc = g->m_row, .add = k > 0,
                                       .w = NR};
                FN(tile_packed)(rows, gemm_min(c - k, WINO_DEPTH), u + o * c + k * rows, v + k * NR, &to);
            }
    }
}

/* A panel of tiles, output channels o0 to o1. */
static void wino_store(const wino_job *g, int64_t panel, int64_t o0, int64_t o1)
{
    const conv_call *call = g->call;
    const int64_t h = call->out[1], w = call->out[2];
    enum { ROWS = VL / WINO_OUT }; /* rows of outputs that one transpose takes */
    float *at[NR];
    int rows[NR], cols[NR], n = 0;
    int64_t image[NR];
    for (int l = 0; l < NR && g->first + panel * NR + l < g->tiles; l++, n++) {
        const wino_tile t = wino_at(g, g->first + panel * NR + l);
        at[l] = g->y + ((t.image * call->groups + g->group) * call->o * h + t.y * WINO_OUT) * w + t.x * WINO_OUT;
        rows[l] = (int)gemm_min(h - t.y * WINO_OUT, WINO_OUT);
        cols[l] = (int)gemm_min(w - t.x * WINO_OUT, WINO_OUT);
        image[l] = t.image;
    }
    for (int64_t o = o0; o < o1; o++) {
        const float bias = call->bias ? ((const float *)call->bias)[g->group * call->o + o] : 0;
        for (int half = 0; half * VL < n; half++) {
            const float *m = g->m + o * g->m_row + panel * NR + half * VL;
            VEC d[WINO_OUT][WINO_IN], out[WINO_OUT][WINO_OUT], wrong = {0};
            for (int k = 0; k < WINO_IN; k++) {
                VEC in[WINO_IN], part[WINO_OUT];
                for (int r = 0; r < WINO_IN; r++) in[r] = LOAD(m + (r * WINO_IN + k) * g->m_spot);
                wino_out(in, 1, part);
                for (int r = 0; r < WINO_OUT; r++) d[r][k] = part[r];
            }
            for (int r = 0; r < WINO_OUT; r++) {
                wino_out(d[r], 1, out[r]);
                for (int k = 0; k < WINO_OUT; k++) {
                    out[r][k] += bias;
                    wrong += out[r][k] * 0.f; /* a NaN where it is not finite */
                }
            }
            float flags[VL];
            STORE(flags, wrong);
            const int lanes = n - half * VL < VL ? n - half * VL : VL;
            for (int l = 0; l < lanes; l++)
                if (flags[l] != flags[l]) {
                    const int64_t at = image[half * VL + l] * call->groups + g->group;
                    __atomic_store_n(&g->bad[at], 1, __ATOMIC_RELAXED);
                }
            for (int r = 0; r < WINO_OUT; r += ROWS) {
                VEC t[VL];
                GEMM_PRAGMA(GCC unroll 16)
                for (int l = 0; l < VL; l++) t[l] = out[r + l / WINO_OUT][l % WINO_OUT];
                FN(transpose)(t);
                for (int l = 0; l < lanes; l++) {
                    const int q = half * VL + l;
                    float *y = at[q] + o * h * w + r * w;
                    const float *from = (const float *)&t[l];
                    for (int k = 0; k < ROWS && r + k < rows[q]; k++) {
                        if (cols[q] == WINO_OUT) memcpy(y + k * w, from + k * WINO_OUT, WINO_OUT * sizeof(float));
                        else for (int x = 0; x < cols[q]; x++) y[k * w + x] = from[k * WINO_OUT + x];
                    }
                }
            }
        }
    }
}

/* The steps of a large block. */
enum { WINO_PANELS = 4 };

static void wino_inputs(void *ctx, int64_t task)
{
    const wino_job *g = ctx;
    const int64_t c = task / g->panels * WINO_CHANNELS;
    wino_load(g, task % g->panels, c, gemm_min(c + WINO_CHANNELS, g->call->c));
}

static void wino_products(void *ctx, int64_t task)
{
    const wino_job *g = ctx;
    const int64_t j = task / WINO_SPOTS * WINO_PANELS;
    wino_multiply(g, task % WINO_SPOTS, j, gemm_min(j + WINO_PANELS, g->panels), 0, g->mp);
}

static void wino_outputs(void *ctx, int64_t task)
{
    const wino_job *g = ctx;
    const int64_t o = task / g->panels * WINO_CHANNELS;
    wino_store(g, task % g->panels, o, gemm_min(o + WINO_CHANNELS, g->call->o));
}

/* All steps of a small block; the products of one panel of output channels at a time. */
static void wino_block(void *ctx, int64_t task)
{
    wino_job *all = ctx, g = *all;
    g.first = task * g.panels * NR;
    g.m_row = g.panels * NR + 16;
    g.m_spot = GEMM_MR * g.m_row;
    g.panels = gemm_min(g.panels, gemm_ceil(g.tiles - g.first, NR));
    const size_t bytes = (size_t)WINO_SPOTS * (g.v_spot + g.m_spot) * sizeof(float);
    float *scratch = rt->alloc(bytes);
    if (!scratch) {
        __atomic_store_n(&all->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    g.v = scratch;
    for (int64_t j = 0; j < g.panels; j++) wino_load(&g, j, 0, g.call->c);
    for (int64_t i = 0; i < g.mp; i++) {
        const int64_t o = gemm_start(g.rows, i), end = gemm_start(g.rows, i + 1);
        g.m = scratch + WINO_SPOTS * g.v_spot - o * g.m_row;
        for (int64_t s = 0; s < WINO_SPOTS; s++) wino_multiply(&g, s, 0, g.panels, i, i + 1);
        for (int64_t j = 0; j < g.panels; j++) wino_store(&g, j, o, end);
    }
    rt->free(scratch, bytes);
}

static size_t wino_run(const conv_call *call)
{
    wino_job g = {.call = call, .x = call->x, .w = call->w, .y = call->y};
    g.mp = gemm_ceil(call->o, GEMM_MR);
    g.rows = gemm_even(call->o, g.mp);
    g.down = gemm_ceil(call->out[1], WINO_OUT);
    g.across = gemm_ceil(call->out[2], WINO_OUT);
    g.tiles = call->n * g.down * g.across;
    g.top = call->transposed ? call->pad[1] - 2 : -call->pad[1];
    g.left = call->transposed ? call->pad[2] - 2 : -call->pad[2];
    const int64_t panels = gemm_ceil(g.tiles, NR), input = WINO_SPOTS * call->c * (int64_t)sizeof(float);
    const int near = input * NR <= WINO_NEAR;
    int64_t most = near ? WINO_NEAR / (input * NR) : WINO_BYTES / (input / call->c * (call->c + call->o)) / NR;
    most = i64_max(most, near ? 1 : 4);
    most = gemm_ceil(panels, gemm_ceil(panels, most)); /* panels of a block */
    /* 16 more: spots must not fall into one set of a cache */
    g.u_spot = call->o * call->c + 16;
    g.v_spot = most * NR * call->c + 16;
    g.m_row = most * NR + 16;
    g.m_spot = call->o * g.m_row + 16;
    const int64_t images = call->n * call->groups;
    const size_t bytes = (size_t)WINO_SPOTS * (g.u_spot + (near ? 0 : g.v_spot + g.m_spot)) * sizeof(float) + images;
    g.u = rt->alloc(bytes);
    if (!g.u) return bytes;
    g.v = g.u + WINO_SPOTS * g.u_spot;
    g.m = g.v + WINO_SPOTS * g.v_spot;
    g.bad = (uint8_t *)(near ? g.v : g.m + WINO_SPOTS * g.m_spot);
    memset(g.bad, 0, images);
    for (g.group = 0; g.group < call->groups; g.group++) {
        rt_tasks(wino_weights, &g, g.mp, 1e9);
        g.panels = most;
        if (near) rt_tasks(wino_block, &g, gemm_ceil(panels, most), 1e9);
        else for (g.first = 0; g.first < g.tiles; g.first += most * NR) {
            g.panels = gemm_min(most, gemm_ceil(g.tiles - g.first, NR));
            rt_tasks(wino_inputs, &g, g.panels * gemm_ceil(call->c, WINO_CHANNELS), 1e9);
            rt_tasks(wino_products, &g, WINO_SPOTS * gemm_ceil(g.panels, WINO_PANELS), 1e9);
            rt_tasks(wino_outputs, &g, g.panels * gemm_ceil(call->o, WINO_CHANNELS), 1e9);
        }
    }
    size_t wanted = g.failed ? bytes : 0;
    if (!wanted && memchr(g.bad, 1, images)) wanted = FN(direct)(call, CONV_DIRECT, g.bad);
    rt->free(g.u, bytes);
    return wanted;
}
