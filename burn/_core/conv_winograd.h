/* WINOGRAD: F(4x4, 3x3) for f32. Tiles of 4x4 outputs are numbered through rows, maps and images; a vector holds one element of
   VL tiles, so narrow maps lose nothing. Three steps: 36 numbers (spots) a tile and input channel; for each a product with the
   transformed weights; 16 outputs a tile and output channel. With few channels a thread takes a block of tiles, whose numbers
   stay in L2, through all of them; with many, blocks are larger, and their inputs are made for all threads first.
   With stride 2 (conv_winograd_stride.h) there are 25 spots and 81 numbers of the input: up to four in a spot, one after the
   other like further channels, the copies of a channel. */

enum { WINO_OUT = 4, WINO_IN = 6, WINO_SPOTS = 36, WINO_CHANNELS = 8 };
/* WINO_DEPTH   input channels of one product
   WINO_NEAR    bytes of the inputs of a block that one thread takes through all steps
   WINO_BYTES   of a large block: of its inputs, and of its products where they are kept
   WINO_TEAM    bytes of weights that a thread makes for itself and takes through a large block; 0: they are made for all, and
                each step is spread over the threads, as with stride 2, whose inputs are too many to be read that often
   WINO_SHARE   then, bytes of weights that are kept at a time, if that is some panels: other output channels come later
   WINO_SKEW    elements between spots, which must not fall into one set of a cache */
#if BURN_LEVEL >= 4
enum { WINO_DEPTH = 512, WINO_NEAR = 700 << 10, WINO_BYTES = 8 << 20, WINO_TEAM = 1100 << 10, WINO_SHARE = 4 << 20 };
enum { WINO_SKEW = 32 };
#else
enum { WINO_DEPTH = 384, WINO_NEAR = 340 << 10, WINO_BYTES = 6600 << 10, WINO_TEAM = 0, WINO_SHARE = 3 << 20 };
enum { WINO_SKEW = 16 };
#endif
enum { WINO_U_SKEW = 16 };

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
    int64_t u_copy, v_copy, m_spot, m_panel, teams, parts;
    int64_t u_first, i0, i1;       /* the first output channel of u; panels of output channels at hand */
    int stride, spots, copies;     /* copies: of all spots */
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

#include "conv_winograd_stride.h"

/* ---- of both strides: `stride` is a constant after inlining */

GEMM_INLINE int wino_side(const int stride) { return stride == 1 ? WINO_IN : WINO_IN_STRIDED; }
GEMM_INLINE int wino_points(const int stride) { return stride == 1 ? WINO_IN : WINO_POINTS; }

GEMM_INLINE void wino_in_of(const int stride, const VEC *d, int step, VEC *o)
{
    if (stride == 1) wino_in(d, step, o);
    else wino_in_strided(d, step, o);
}

GEMM_INLINE void wino_out_of(const int stride, const VEC *m, int step, VEC *o)
{
    if (stride == 1) wino_out(m, step, o);
    else wino_out_strided(m, step, o);
}

GEMM_INLINE void wino_kernel_of(const int stride, VEC g0, VEC g1, VEC g2, VEC *o)
{
    if (stride == 1) wino_kernel(g0, g1, g2, o);
    else wino_kernel_strided(g0, g1, g2, o);
}

/* The columns of nine taps, [tap][side]; then row y of their numbers. */
GEMM_INLINE void wino_kernel_columns(const int stride, const VEC *k, VEC *half)
{
    for (int x = 0; x < 3; x++) wino_kernel_of(stride, k[x], k[3 + x], k[6 + x], half + wino_side(stride) * x);
}
GEMM_INLINE void wino_kernel_row(const int stride, const VEC *half, int y, VEC *o)
{
    const int n = wino_side(stride);
    wino_kernel_of(stride, half[y], half[n + y], half[2 * n + y], o);
}

/* Copies of a channel in a spot, and in the spots before it. */
GEMM_INLINE int wino_copies(const int stride, int spot)
{
    return stride == 1 ? 1 : (1 + (spot < WINO_SPOTS_STRIDED - WINO_POINTS)) * (1 + (spot % WINO_POINTS < WINO_POINTS - 1));
}
GEMM_INLINE int wino_before(const int stride, int spot)
{
    const int y = spot / WINO_POINTS, x = spot % WINO_POINTS, copies = y < WINO_POINTS - 1 ? 4 : 2;
    return stride == 1 ? spot : y * (4 * (WINO_POINTS - 1) + 2) + x * copies;
}

/* Where number (y, x) of the sides goes: elements from the first spot on. copy: elements of a copy of all channels; channel:
   elements up to the channel at hand in one copy; line: elements of one channel; skew: between spots. */
GEMM_INLINE int64_t wino_number(const int stride, int y, int x, int64_t copy, int64_t channel, int64_t line, int64_t skew)
{
    const int n = wino_points(stride), odd_y = y >= n, odd_x = x >= n, spot = (y - odd_y * n) * n + x - odd_x * n;
    const int in_row = spot % n < n - 1 ? 2 : 1; /* copies from an even row */
    return wino_before(stride, spot) * copy + spot * skew + wino_copies(stride, spot) * channel + (odd_y * in_row + odd_x) * line;
}

GEMM_INLINE float *wino_u(const wino_job *g, int64_t spot, int64_t o)
{
    const int64_t before = wino_before(g->stride, (int)spot), copies = wino_copies(g->stride, (int)spot);
    return g->u + before * g->u_copy + spot * WINO_U_SKEW + (o - g->u_first) * copies * g->call->c;
}
GEMM_INLINE float *wino_v(const wino_job *g, int64_t spot, int64_t panel)
{
    const int64_t before = wino_before(g->stride, (int)spot), copies = wino_copies(g->stride, (int)spot);
    return g->v + before * g->v_copy + spot * WINO_SKEW + panel * copies * g->call->c * NR;
}

/* Elements that all weights take: whole lines, since what comes after them is read by vectors. */
GEMM_INLINE int64_t wino_weights_size(const wino_job *g)
{
    return (g->copies * g->u_copy + g->spots * WINO_U_SKEW + 15) / 16 * 16;
}

#if BURN_LEVEL >= 4
#include "conv_winograd_lanes.h"
#else
#include "conv_winograd_rows.h"
#endif

/* The steps for the stride at hand. */
static void wino_weights(void *ctx, int64_t i)
{
    const wino_job *g = ctx;
    if (g->stride == 1) wino_weights_of(1, g, g->i0 + i);
    else wino_weights_of(2, g, g->i0 + i);
}

static void wino_load(const wino_job *g, int64_t panel, int64_t c0, int64_t c1)
{
    if (g->stride == 1) wino_load_of(1, g, panel, c0, c1);
    else wino_load_of(2, g, panel, c0, c1);
}

static void wino_store(const wino_job *g, int64_t panel, int64_t o0, int64_t o1)
{
    if (g->stride == 1) wino_store_of(1, g, panel, o0, o1);
    else wino_store_of(2, g, panel, o0, o1);
}

/* One spot: panels j0 to j1 of tiles, panels i0 to i1 of output channels. What comes next is fetched meanwhile. */
static void wino_multiply(const wino_job *g, int64_t spot, int64_t j0, int64_t j1, int64_t i0, int64_t i1)
{
    const int64_t c = g->call->c * wino_copies(g->stride, (int)spot), then = spot + 1 < g->spots ? spot + 1 : 0;
    const float *u = wino_u(g, spot, gemm_start(g->rows, i0)), *u_then = wino_u(g, then, gemm_start(g->rows, i0));
    for (int64_t j = j0; j < j1; j++) {
        const float *v = wino_v(g, spot, j), *v_then = j + 1 < j1 ? wino_v(g, spot, j + 1) : wino_v(g, then, j0);
        const int wide = g->tiles - g->first - j * NR > VL; /* of the last tiles perhaps one vector */
        for (int64_t k = 0; k < c; k += WINO_DEPTH)
            for (int64_t i = i0; i < i1; i++) {
                const int64_t o = gemm_start(g->rows, i), depth = gemm_min(c - k, WINO_DEPTH);
                const int rows = (int)(g->rows.each + (i < g->rows.more)), last = i == i1 - 1;
                const float *from = wino_u(g, spot, o) + k * rows;
                const float *u_next = !last ? from + c * rows : j + 1 < j1 ? u : u_then;
                const float *v_next = !last ? v + k * NR : k + depth < c ? v + (k + depth) * NR : v_then;
                float *m = g->m + spot * g->m_spot + j * g->m_panel + o * NR;
                wino_product(rows, wide, depth, from, v + k * NR, u_next, v_next, m, k > 0);
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
    const int64_t j = task / g->spots * WINO_PANELS;
    wino_multiply(g, task % g->spots, j, gemm_min(j + WINO_PANELS, g->panels), g->i0, g->i1);
}

static void wino_outputs(void *ctx, int64_t task)
{
    const wino_job *g = ctx;
    const int64_t o = g->u_first + task / g->panels * WINO_CHANNELS;
    wino_store(g, task % g->panels, o, gemm_min(o + WINO_CHANNELS, gemm_start(g->rows, g->i1)));
}

/* All steps of a small block; the products of one panel of output channels at a time. */
static void wino_block(void *ctx, int64_t task)
{
    wino_job *all = ctx, g = *all;
    g.first = task * g.panels * NR;
    g.m_panel = GEMM_MR * NR;
    g.m_spot = g.panels * g.m_panel + WINO_SKEW;
    g.panels = gemm_min(g.panels, gemm_ceil(g.tiles - g.first, NR));
    const int64_t v = g.copies * g.v_copy + g.spots * WINO_SKEW;
    const size_t bytes = (v + g.spots * g.m_spot) * sizeof(float);
    float *scratch = rt->alloc(bytes);
    if (!scratch) {
        __atomic_store_n(&all->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    g.v = scratch;
    for (int64_t j = 0; j < g.panels; j++) wino_load(&g, j, 0, g.call->c);
    for (int64_t i = 0; i < g.mp; i++) {
        const int64_t o = gemm_start(g.rows, i), end = gemm_start(g.rows, i + 1);
        g.m = scratch + v - o * NR;
        for (int64_t s = 0; s < g.spots; s++) {
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
    const int64_t o0 = gemm_start(g.rows, i0), o1 = gemm_start(g.rows, i1);
    g.i0 = i0;
    g.u_first = o0;
    g.u_copy = (o1 - o0) * g.call->c;
    g.m_panel = 0; /* one at a time */
    g.m_spot = (o1 - o0) * NR + WINO_SKEW;
    const int64_t u = wino_weights_size(&g);
    const size_t bytes = (u + g.spots * g.m_spot) * sizeof(float);
    float *scratch = rt->alloc(bytes);
    if (!scratch) {
        __atomic_store_n(&all->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    g.u = scratch;
    g.m = scratch + u - o0 * NR;
    for (int64_t i = 0; i < i1 - i0; i++) wino_weights(&g, i);
    for (int64_t j = j0; j < j1; j++) {
        for (int64_t s = 0; s < g.spots; s++) {
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
    g->stride = (int)call->stride[1];
    g->spots = g->stride == 1 ? WINO_SPOTS : WINO_SPOTS_STRIDED;
    g->copies = g->stride == 1 ? WINO_SPOTS : WINO_COPIES_STRIDED;
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
    const int64_t panels = gemm_ceil(g.tiles, NR), input = g.copies * call->c * (int64_t)sizeof(float);
    const int near = input * NR <= WINO_NEAR, team = !near && WINO_TEAM && (g.stride == 1 || panels == 1);
    /* output channels go in shares, of which all weights and products are kept */
    const int64_t times = near || team ? 1 : gemm_ceil(g.mp, i64_max(WINO_PANELS, WINO_SHARE / (input * GEMM_MR)));
    const gemm_split shares = gemm_even(g.mp, times);
    const int64_t share = gemm_start(g.rows, gemm_start(shares, 1));
    const int64_t output = team ? 0 : g.spots * share * (int64_t)sizeof(float); /* that is kept of a tile */
    int64_t most = near ? WINO_NEAR / (input * NR) : WINO_BYTES / (input + output) / NR;
    if (near) most = gemm_min(most, panels / (2 * rt->threads())); /* enough tasks */
    most = i64_max(most, near ? 1 : 4);
    most = gemm_ceil(panels, gemm_ceil(panels, most)); /* panels of a block */
    g.u_copy = share * call->c;
    g.v_copy = most * NR * call->c;
    g.m_panel = share * NR;
    g.m_spot = most * g.m_panel + WINO_SKEW;
    g.teams = team ? gemm_ceil(g.mp, i64_max(1, WINO_TEAM / (input * GEMM_MR))) : 0;
    const int64_t images = call->n * call->groups;
    const size_t u = team ? 0 : wino_weights_size(&g);
    const size_t v = near ? 0 : g.copies * g.v_copy + g.spots * WINO_SKEW, m = near || team ? 0 : g.spots * g.m_spot;
    const size_t bytes = (u + v + m) * sizeof(float) + 2 * panels * WINO_PLACE + images;
    float *const scratch = rt->alloc(bytes);
    if (!scratch) return bytes;
    g.u = scratch;
    g.v = scratch + u;
    g.places = (wino_place *)(g.v + v + m);
    g.bad = (uint8_t *)scratch + bytes - images;
    memset(g.bad, 0, images);
    if (WINO_PLACE) rt_tasks(wino_place_fill, &g, 2 * panels, 200. * panels);
    for (g.group = 0; g.group < call->groups; g.group++) {
        if (near) {
            g.panels = most;
            rt_tasks(wino_weights, &g, g.mp, 1e9);
            rt_tasks(wino_block, &g, gemm_ceil(panels, most), 1e9);
            continue;
        }
        for (g.first = 0; g.first < g.tiles; g.first += most * NR) {
            g.panels = gemm_min(most, gemm_ceil(g.tiles - g.first, NR));
            rt_tasks(wino_inputs, &g, g.panels * gemm_ceil(call->c, WINO_CHANNELS), 1e9);
            if (team) {
                g.parts = gemm_min(g.panels, gemm_ceil(2 * rt->threads(), g.teams));
                rt_tasks(wino_columns, &g, g.teams * g.parts, 1e9);
                continue;
            }
            for (int64_t i = 0; i < times; i++) {
                g.i0 = gemm_start(shares, i);
                g.i1 = gemm_start(shares, i + 1);
                g.u_first = gemm_start(g.rows, g.i0);
                g.m = g.v + v - g.u_first * NR;
                const int64_t outputs = gemm_start(g.rows, g.i1) - g.u_first;
                if (!g.first || times > 1) rt_tasks(wino_weights, &g, g.i1 - g.i0, 1e9);
                rt_tasks(wino_products, &g, g.spots * gemm_ceil(g.panels, WINO_PANELS), 1e9);
                rt_tasks(wino_outputs, &g, g.panels * gemm_ceil(outputs, WINO_CHANNELS), 1e9);
            }
        }
    }
    size_t wanted = g.failed ? bytes : 0;
    if (!wanted && memchr(g.bad, 1, images)) wanted = FN(direct)(call, CONV_DIRECT, g.bad);
    rt->free(scratch, bytes);
    return wanted;
}
