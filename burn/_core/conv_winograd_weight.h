/* The gradient of the weight by WINOGRAD, included by conv_type.h: the transpose of the forward computation, so 36 products
   [output channels, tiles] @ [tiles, input channels]. A lane is a channel here; those beyond the last are zero or repeat
   another. A task takes some channels of both kinds and a part of the tiles, a block of them at a time, so that numbers and sums
   stay in L2. Parts are added in order. */

typedef struct {
    wino_job job;
    const float *grad;
    float *sums, *out;           /* sums: [group, part][o][tap][columns] */
    int64_t columns, panels, c_teams, o_teams, block;
    int odd;
} wino_gradient;

/* The transpose of wino_out. */
GEMM_INLINE void wino_out_back(const VEC *y, int step, VEC *o)
{
    const VEC y0 = y[0], y1 = y[step], y2 = y[2 * step], y3 = y[3 * step];
    const VEC a = y0 + y2, b = y1 + y3, c = y0 + 4.f * y2, e = 2.f * (y1 + 4.f * y3);
    o[0] = y0;
    o[1] = a + b;
    o[2] = a - b;
    o[3] = c + e;
    o[4] = c - e;
    o[5] = y3;
}

/* The transpose of wino_kernel. */
GEMM_INLINE void wino_kernel_back(const VEC *m, int step, VEC *o)
{
    const VEC a = m[step] + m[2 * step], b = m[2 * step] - m[step];
    const VEC c = m[3 * step] + m[4 * step], e = m[3 * step] - m[4 * step];
    o[0] = .25f * m[0] - (1.f / 6) * a + (1.f / 24) * c;
    o[1] = (1.f / 6) * b + (1.f / 12) * e;
    o[2] = (1.f / 6) * (c - a) + m[5 * step];
}

#if BURN_LEVEL >= 4
#include "conv_winograd_weight_lanes.h"
#else
#include "conv_winograd_weight_rows.h"
#endif

/* From 36 numbers to the nine taps, for 16 input channels. */
GEMM_INLINE void wino_weight_taps(const float *m, int64_t m_spot, float *to, int64_t columns)
{
    VEC d[3][WINO_IN], o[3];
    for (int k = 0; k < WINO_IN; k++) {
        VEC in[WINO_IN];
        for (int r = 0; r < WINO_IN; r++) in[r] = LOAD(m + (r * WINO_IN + k) * m_spot);
        wino_kernel_back(in, 1, o);
        for (int r = 0; r < 3; r++) d[r][k] = o[r];
    }
    for (int r = 0; r < 3; r++) {
        wino_kernel_back(d[r], 1, o);
        for (int k = 0; k < 3; k++) STORE(to + (3 * r + k) * columns, o[k]);
    }
}

static void wino_weight_part(void *ctx, int64_t task)
{
    wino_gradient *s = ctx;
    wino_job g = s->job;
    const conv_call *call = g.call;
    const gemm_split c_panels = gemm_even(s->panels, s->c_teams), o_panels = gemm_even(g.mp, s->o_teams);
    const int64_t c_team = task % s->c_teams, o_team = task / s->c_teams % s->o_teams;
    const int64_t part = task / s->c_teams / s->o_teams % g.parts;
    g.group = task / s->c_teams / s->o_teams / g.parts;
    const gemm_split tiles = gemm_even(g.tiles, g.parts);
    const int64_t t0 = gemm_start(tiles, part), count = gemm_start(tiles, part + 1) - t0;
    const gemm_split blocks = gemm_even(count, gemm_ceil(count, s->block));
    const int64_t j0 = gemm_start(c_panels, c_team), j1 = gemm_start(c_panels, c_team + 1);
    const int64_t i0 = gemm_start(o_panels, o_team), i1 = gemm_start(o_panels, o_team + 1);
    const int64_t o0 = gemm_start(g.rows, i0), outputs = gemm_start(g.rows, i1) - o0;
    const int64_t u_spot = outputs * s->block + 16, v_spot = (j1 - j0) * s->block * NR + WINO_SKEW;
    const int64_t m_spot = (j1 - j0) * outputs * NR + WINO_SKEW, map = call->in[1] * call->in[2];
    const int64_t out_map = call->out[1] * call->out[2];
    const size_t bytes = WINO_SPOTS * (u_spot + v_spot + m_spot) * sizeof(float) + s->block * sizeof(wino_window);
    float *v = rt->alloc(bytes), *m = v + WINO_SPOTS * v_spot, *u = m + WINO_SPOTS * m_spot;
    wino_window *p = (wino_window *)(u + WINO_SPOTS * u_spot);
    if (!v) {
        __atomic_store_n(&s->job.failed, 1, __ATOMIC_RELAXED);
        return;
    }
    for (int64_t b = 0; b < gemm_ceil(count, s->block); b++) {
        const int64_t n = gemm_start(blocks, b + 1) - gemm_start(blocks, b);
        wino_windows(&g, t0 + gemm_start(blocks, b), n, p);
        for (int64_t c = j0 * NR; c < gemm_min(j1 * NR, call->c); c += VL)
            wino_weight_inputs(g.x + c * map, call->in[1], call->in[2], (int)gemm_min(call->c - c, VL), p, n,
                              v + (c / NR - j0) * n * NR + c % NR, v_spot);
        for (int64_t i = i0; i < i1; i++) {
            const int64_t o = gemm_start(g.rows, i);
            const int rows = (int)(g.rows.each + (i < g.rows.more));
            wino_weight_outputs(s->grad + o * out_map, call->out[1], call->out[2], rows, p, n, u + (o - o0) * n, u_spot);
        }
        for (int64_t f = 0; f < WINO_SPOTS; f++)
            for (int64_t i = i0; i < i1; i++)
                for (int64_t j = j0; j < j1; j++) {
                    const int64_t o = gemm_start(g.rows, i) - o0;
                    const float *a = u + f * u_spot + o * n, *from = v + f * v_spot + (j - j0) * n * NR;
                    const int rows = (int)(g.rows.each + (i < g.rows.more)), wide = call->c - j * NR > VL;
                    float *sum = m + f * m_spot + ((j - j0) * outputs + o) * NR;
                    wino_product(rows, wide, n, a, from, a + u_spot, from + v_spot, sum, b > 0);
                }
    }
    float *to = s->sums + ((g.group * g.parts + part) * call->o + o0) * 9 * s->columns;
    for (int64_t o = 0; o < outputs; o++, to += 9 * s->columns)
        for (int64_t c = j0 * NR; c < gemm_min(j1 * NR, call->c); c += VL)
            wino_weight_taps(m + ((c / NR - j0) * outputs + o) * NR + c % NR, m_spot, to + c, s->columns);
    rt->free(v, bytes);
}

/* Parts added in order: one output channel. */
static void wino_weight_sum(void *ctx, int64_t task)
{
    wino_gradient *s = ctx;
    const conv_call *call = s->job.call;
    const int64_t step = call->o * 9 * s->columns;
    const float *sums = s->sums + (task / call->o * s->job.parts * call->o + task % call->o) * 9 * s->columns;
    float *out = s->out + task * call->c * 9;
    VEC odd = {0}; /* becomes a NaN with a sum that is not finite */
    for (int64_t c = 0; c < call->c; c += VL) {
        float taps[9][VL];
        const int64_t n = gemm_min(call->c - c, VL);
        for (int k = 0; k < 9; k++) {
            VEC sum = {0};
            for (int64_t p = 0; p < s->job.parts; p++) sum += LOAD(sums + p * step + k * s->columns + c);
            odd += sum * 0.f;
            STORE(taps[k], sum);
        }
        for (int64_t l = 0; l < n; l++, out += 9)
            for (int k = 0; k < 9; k++) out[k] = taps[k][l];
    }
    for (int l = 0; l < VL; l++)
        if (odd[l] != odd[l]) __atomic_store_n(&s->odd, 1, __ATOMIC_RELAXED);
}

enum { WINO_PARTS = 16 }; /* where channels are few */

/* Returns bytes that could not be had; *again where the result is not finite, which must be computed directly. */
static size_t wino_weight_gradient(const conv_call *call, const float *grad, float *out, int *again)
{
    wino_gradient s = {.job = {.call = call, .x = call->x}, .grad = grad, .out = out};
    wino_job *g = &s.job;
    wino_shape(g);
    s.panels = gemm_ceil(call->c, NR);
    s.columns = s.panels * NR;
    s.c_teams = gemm_ceil(s.panels, WINO_PART_C);
    s.o_teams = gemm_ceil(g->mp, WINO_PART_O);
    const int64_t c = gemm_ceil(s.panels, s.c_teams) * NR, o = gemm_ceil(call->o, s.o_teams);
    s.block = i64_max(WINO_PART_TILES, (WINO_PART_BYTES / (WINO_SPOTS * (int64_t)sizeof(float)) - c * o) / (c + o));
    g->parts = gemm_ceil(WINO_PARTS, s.c_teams * s.o_teams * call->groups);
    g->parts = i64_max(1, gemm_min(g->parts, g->tiles / WINO_PART_TILES));
    s.block = gemm_min(s.block, gemm_ceil(g->tiles, g->parts));
    const size_t bytes = call->groups * g->parts * call->o * 9 * s.columns * sizeof(float);
    s.sums = rt->alloc(bytes);
    if (!s.sums) return bytes;
    rt_tasks(wino_weight_part, &s, call->groups * g->parts * s.c_teams * s.o_teams, 1e9);
    if (!g->failed) rt_tasks(wino_weight_sum, &s, call->groups * call->o, (double)(call->groups * g->parts * call->o * call->c));
    rt->free(s.sums, bytes);
    *again = s.odd;
    return g->failed ? bytes : 0;
}
