/* WINOGRAD: F(4x4, 3x3) for f32. Tiles of 4x4 outputs are numbered through rows, maps and images; a vector holds one element of
   VL tiles, so narrow maps lose nothing. Three steps: 36 numbers a tile and input channel; for each of them a product with the
   transformed weights; 16 outputs a tile and output channel. With few channels a thread takes a block of tiles, whose numbers
   stay in L2, through all of them; with many, blocks are larger, and their inputs are made for all threads first. */

enum { WINO_OUT = 4, WINO_IN = 6, WINO_SPOTS = 36, WINO_CHANNELS = 8 };
/* WINO_DEPTH  input channels of one product
   WINO_NEAR   bytes of the inputs of a block that one thread takes through all steps
   WINO_BYTES  of a large block: of its inputs, and of its products where they are kept
   WINO_TEAM   bytes of weights that a thread makes for itself and takes through a large block; 0: they are made for all, and
               each step is spread over the threads
   WINO_SKEW   elements between spots, which must not fall into one set of a cache */
#if BURN_LEVEL >= 4
enum { WINO_DEPTH = 512, WINO_NEAR = 600 << 10, WINO_BYTES = 8 << 20, WINO_TEAM = 1100 << 10, WINO_SKEW = 32 };
#else
enum { WINO_DEPTH = 384, WINO_NEAR = 310 << 10, WINO_BYTES = 5 << 20, WINO_TEAM = 0, WINO_SKEW = 16 };
#endif

typedef struct { int64_t image, y, x; } wino_tile;
typedef struct wino_place wino_place;

typedef struct {
    const conv_call *call;
    const float *x, *w;
    float *y, *u, *v, *m;          /* weights, inputs and products by spot */
    uint8_t *bad;                  /* images of this group with an output that is not finite */
    wino_place *places;            /* of vectors of tiles, where the level uses them */
    gemm_split rows;
    int64_t mp, group, down, across, tiles, first, panels, top, left;
    int64_t u_spot, v_spot, m_spot, m_panel, teams, parts;
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

#if BURN_LEVEL >= 4
#include "conv_winograd_lanes.h"
#else
#include "conv_winograd_rows.h"
#endif

/* One spot: panels j0 to j1 of tiles, panels i0 to i1 of output channels. What comes next is fetched meanwhile. */
static void wino_multiply(const wino_job *g, int64_t spot, int64_t j0, int64_t j1, int64_t i0, int64_t i1)
{
    const int64_t c = g->call->c;
    const float *u = g->u + spot * g->u_spot;
    for (int64_t j = j0; j < j1; j++) {
        const float *v = g->v + spot * g->v_spot + j * c * NR;
        const float *next = spot + 1 < WINO_SPOTS ? v + g->v_spot : g->v + (j + 1) * c * NR;
        const int wide = g->tiles - g->first - j * NR > VL; /* of the last tiles perhaps one vector */
        for (int64_t k = 0; k < c; k += WINO_DEPTH)
            for (int64_t i = i0; i < i1; i++) {
                const int64_t o = gemm_start(g->rows, i), depth = gemm_min(c - k, WINO_DEPTH);
                const int rows = (int)(g->rows.each + (i < g->rows.more));
                float *m = g->m + spot * g->m_spot + j * g->m_panel + o * NR;
                const float *from = u + o * c + k * rows;
                wino_product(rows, wide, depth, from, v + k * NR, from + g->u_spot, (i == i0 ? next : v) + k * NR, m, k > 0);
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
    g.m_panel = GEMM_MR * NR;
    g.m_spot = g.panels * g.m_panel + WINO_SKEW;
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
        g.m = scratch + WINO_SPOTS * g.v_spot - o * NR;
        for (int64_t s = 0; s < WINO_SPOTS; s++) {
            for (int64_t j = 0; j < g.panels; j++) wino_claim(&g, j, o, end, s);
            wino_multiply(&g, s, 0, g.panels, i, i + 1);
        }
        for (int64_t j = 0; j < g.panels; j++) wino_store(&g, j, o, end);
    }
    rt->free(scratch, bytes);
}

/* The last steps of a large block for some panels of output channels: their weights are made where they are used, and stay in L2
   with the products of a panel of tiles. */
static void wino_columns(void *ctx, int64_t task)
{
    wino_job *all = ctx, g = *all;
    const gemm_split outputs = gemm_even(g.mp, g.teams), tiles = gemm_even(g.panels, g.parts);
    const int64_t i0 = gemm_start(outputs, task % g.teams), i1 = gemm_start(outputs, task % g.teams + 1);
    const int64_t j0 = gemm_start(tiles, task / g.teams), j1 = gemm_start(tiles, task / g.teams + 1);
    const int64_t o0 = gemm_start(g.rows, i0), o1 = gemm_start(g.rows, i1), c = g.call->c;
    g.u_spot = (o1 - o0) * c + 16;
    g.m_panel = 0; /* one at a time */
    g.m_spot = (o1 - o0) * NR + WINO_SKEW;
    const size_t bytes = (size_t)WINO_SPOTS * (g.u_spot + g.m_spot) * sizeof(float);
    float *scratch = rt->alloc(bytes);
    if (!scratch) {
        __atomic_store_n(&all->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    g.u = scratch - o0 * c;
    g.m = scratch + WINO_SPOTS * g.u_spot - o0 * NR;
    for (int64_t i = i0; i < i1; i++) wino_weights(&g, i);
    for (int64_t j = j0; j < j1; j++) {
        for (int64_t s = 0; s < WINO_SPOTS; s++) {
            wino_claim(&g, j, o0, o1, s);
            wino_multiply(&g, s, j, j + 1, i0, i1);
        }
        wino_store(&g, j, o0, o1);
    }
    rt->free(scratch, bytes);
}

static void wino_shape(wino_job *g)
{
    const conv_call *call = g->call;
    g->mp = gemm_ceil(call->o, GEMM_MR);
    g->rows = gemm_even(call->o, g->mp);
    g->down = gemm_ceil(call->out[1], WINO_OUT);
    g->across = gemm_ceil(call->out[2], WINO_OUT);
    g->tiles = call->n * g->down * g->across;
    g->top = call->transposed ? call->pad[1] - 2 : -call->pad[1];
    g->left = call->transposed ? call->pad[2] - 2 : -call->pad[2];
}

static size_t wino_run(const conv_call *call)
{
    wino_job g = {.call = call, .x = call->x, .w = call->w, .y = call->y};
    wino_shape(&g);
    const int64_t panels = gemm_ceil(g.tiles, NR), input = WINO_SPOTS * call->c * (int64_t)sizeof(float);
    const int near = input * NR <= WINO_NEAR, team = !near && WINO_TEAM;
    const int64_t output = team ? 0 : input / call->c * call->o; /* that is kept of a tile */
    int64_t most = near ? WINO_NEAR / (input * NR) : WINO_BYTES / (input + output) / NR;
    if (near) most = gemm_min(most, panels / (2 * rt->threads())); /* enough tasks */
    most = i64_max(most, near ? 1 : 4);
    most = gemm_ceil(panels, gemm_ceil(panels, most)); /* panels of a block */
    g.u_spot = call->o * call->c + 16;
    g.v_spot = most * NR * call->c + WINO_SKEW;
    g.m_panel = call->o * NR;
    g.m_spot = most * g.m_panel + WINO_SKEW;
    g.teams = team ? gemm_ceil(g.mp, i64_max(1, WINO_TEAM / (input * GEMM_MR))) : 0;
    const int64_t images = call->n * call->groups;
    const size_t u = team ? 0 : WINO_SPOTS * g.u_spot, v = near ? 0 : WINO_SPOTS * g.v_spot;
    const size_t m = near || team ? 0 : WINO_SPOTS * g.m_spot;
    const size_t bytes = (u + v + m) * sizeof(float) + 2 * panels * WINO_PLACE + images;
    g.u = rt->alloc(bytes);
    if (!g.u) return bytes;
    g.v = g.u + u;
    g.m = g.v + v;
    g.places = (wino_place *)(g.m + m);
    g.bad = (uint8_t *)g.u + bytes - images;
    memset(g.bad, 0, images);
    if (WINO_PLACE) rt_tasks(wino_place_fill, &g, 2 * panels, 200. * panels);
    for (g.group = 0; g.group < call->groups; g.group++) {
        if (!team) rt_tasks(wino_weights, &g, g.mp, 1e9);
        g.panels = most;
        if (near) rt_tasks(wino_block, &g, gemm_ceil(panels, most), 1e9);
        else for (g.first = 0; g.first < g.tiles; g.first += most * NR) {
            g.panels = gemm_min(most, gemm_ceil(g.tiles - g.first, NR));
            rt_tasks(wino_inputs, &g, g.panels * gemm_ceil(call->c, WINO_CHANNELS), 1e9);
            if (team) {
                g.parts = gemm_min(g.panels, gemm_ceil(2 * rt->threads(), g.teams));
                rt_tasks(wino_columns, &g, g.teams * g.parts, 1e9);
                continue;
            }
            rt_tasks(wino_products, &g, WINO_SPOTS * gemm_ceil(g.panels, WINO_PANELS), 1e9);
            rt_tasks(wino_outputs, &g, g.panels * gemm_ceil(call->o, WINO_CHANNELS), 1e9);
        }
    }
    size_t wanted = g.failed ? bytes : 0;
    if (!wanted && memchr(g.bad, 1, images)) wanted = FN(direct)(call, CONV_DIRECT, g.bad);
    rt->free(g.u, bytes);
    return wanted;
}
