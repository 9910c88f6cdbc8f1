/* The gradient of the weight by WINOGRAD with AVX-512, included by conv_type.h: the transpose of the forward computation, so 36
   products [output channels, tiles] @ [tiles, input channels]. A lane is a channel here. A task takes some channels of both
   kinds and a part of the tiles, a block of them at a time, so that numbers and sums stay in L2. Parts are added in order. */

/* Two columns of a patch: where they are gathered together, and which of the two each is; none in the padding. */
typedef struct { int32_t at; MASK keep[2]; uint8_t odd[2]; } wino_two;
/* A tile: its patches of the input and of the gradient, in the first channel. */
typedef struct {
    int64_t from, to;
    uint8_t in_rows, out_rows;   /* bits of the rows that exist */
    wino_two in[WINO_IN / 2], out[WINO_OUT / 2];
} wino_window;

typedef struct {
    wino_job job;
    const float *grad;
    float *sums, *out;           /* sums: [group, part][o][tap][columns] */
    int64_t columns, panels, c_teams, o_teams, block;
    int odd;
} wino_gradient;

static const int32_t wino_pick[2][16] = {{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30},
                                         {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31}};

GEMM_INLINE void wino_two_at(wino_two *t, int64_t x, int64_t width)
{
    t->at = (int32_t)i64_max(gemm_min(x, width - 2), 0);
    for (int i = 0; i < 2; i++) {
        t->keep[i] = (MASK)-(x + i >= 0 && x + i < width);
        t->odd[i] = (uint8_t)((x + i - t->at) & 1);
    }
}

static void wino_windows(const wino_job *g, int64_t first, int64_t n, wino_window *p)
{
    const conv_call *call = g->call;
    const int64_t h = call->in[1], w = call->in[2], high = call->out[1], wide = call->out[2];
    for (int64_t i = 0; i < n; i++, p++) {
        const wino_tile t = wino_at(g, first + i);
        const int64_t y = t.y * WINO_OUT + g->top, image = t.image * call->groups + g->group;
        p->from = image * call->c * h * w + y * w;
        p->to = image * call->o * high * wide + t.y * WINO_OUT * wide;
        p->in_rows = p->out_rows = 0;
        for (int r = 0; r < WINO_IN; r++) p->in_rows |= (uint8_t)((y + r >= 0 && y + r < h) << r);
        for (int r = 0; r < WINO_OUT; r++) p->out_rows |= (uint8_t)((t.y * WINO_OUT + r < high) << r);
        for (int k = 0; k < WINO_IN / 2; k++) wino_two_at(p->in + k, t.x * WINO_OUT + g->left + 2 * k, w);
        for (int k = 0; k < WINO_OUT / 2; k++) wino_two_at(p->out + k, t.x * WINO_OUT + 2 * k, wide);
    }
}

/* One row of the patches of some channels, `n` columns. */
GEMM_INLINE void wino_row(const float *x, const wino_two *two, int n, __m512i low, __m512i high, MASK lanes, VEC *d)
{
    const __m512d none = _mm512_setzero_pd();
    GEMM_PRAGMA(GCC unroll 3)
    for (int k = 0; k < n; k += 2, two++) {
        const __m512 a = _mm512_castpd_ps(_mm512_mask_i64gather_pd(none, (__mmask8)lanes, low, x + two->at, 4));
        const __m512 b = _mm512_castpd_ps(_mm512_mask_i64gather_pd(none, (__mmask8)(lanes >> 8), high, x + two->at, 4));
        for (int i = 0; i < 2; i++)
            d[k + i] = (VEC)_mm512_maskz_permutex2var_ps(two->keep[i], a, _mm512_loadu_si512(wino_pick[two->odd[i]]), b);
    }
}

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

/* Offsets of channels `map` elements apart. */
GEMM_INLINE void wino_channels(int64_t map, __m512i *low, __m512i *high)
{
    const __m512i lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    *low = _mm512_mullo_epi64(lanes, _mm512_set1_epi64(map));
    *high = _mm512_add_epi64(*low, _mm512_set1_epi64(8 * map));
}

/* The numbers of n tiles: 16 channels of the input from x on, a tile NR from the one before. */
static void wino_weight_inputs(const float *x, int64_t h, int64_t w, int count, const wino_window *p, int64_t n, float *v,
                              int64_t v_spot)
{
    const MASK lanes = (MASK)((1u << count) - 1);
    __m512i low, high;
    wino_channels(h * w, &low, &high);
    for (int64_t i = 0; i < n; i++, p++, v += NR) {
        if (i + WINO_AHEAD < n) { /* one row of four tiles, which a line is wide, in each of their turns */
            const float *next = x + p[WINO_AHEAD].from + (1 + (i & 3)) * w + p[WINO_AHEAD].in[1].at;
            GEMM_PRAGMA(GCC unroll 16)
            for (int l = 0; l < VL; l++) WINO_FETCH(next + l * h * w);
        }
        VEC d[WINO_IN][WINO_IN];
        for (int r = 0; r < WINO_IN; r++) {
            VEC t[WINO_IN];
            wino_row(x + p->from + r * w, p->in, WINO_IN, low, high, p->in_rows >> r & 1 ? lanes : 0, t);
            wino_in(t, 1, d[r]);
        }
        for (int k = 0; k < WINO_IN; k++) {
            VEC o[WINO_IN];
            wino_in(&d[0][k], WINO_IN, o);
            for (int r = 0; r < WINO_IN; r++) STORE(v + (r * WINO_IN + k) * v_spot, o[r]);
            for (int r = 0; r < WINO_IN; r++) WINO_CLAIM(v + (r * WINO_IN + k) * v_spot + NR);
        }
    }
}

/* The same for `rows` channels of the gradient, a tile `rows` from the one before. */
static void wino_weight_outputs(const float *y, int64_t h, int64_t w, int rows, const wino_window *p, int64_t n, float *u,
                               int64_t u_spot)
{
    const MASK lanes = (MASK)((1u << rows) - 1);
    __m512i low, high;
    wino_channels(h * w, &low, &high);
    for (int64_t i = 0; i < n; i++, p++, u += rows) {
        if (i + WINO_AHEAD < n) {
            const float *next = y + p[WINO_AHEAD].to + (i & 3) * w + p[WINO_AHEAD].out[0].at;
            GEMM_PRAGMA(GCC unroll 16)
            for (int l = 0; l < VL; l++) WINO_FETCH(next + l * h * w);
        }
        VEC d[WINO_OUT][WINO_IN];
        for (int r = 0; r < WINO_OUT; r++) {
            VEC t[WINO_OUT];
            wino_row(y + p->to + r * w, p->out, WINO_OUT, low, high, p->out_rows >> r & 1 ? lanes : 0, t);
            wino_out_back(t, 1, d[r]);
        }
        for (int k = 0; k < WINO_IN; k++) {
            VEC o[WINO_IN];
            wino_out_back(&d[0][k], WINO_IN, o);
            for (int r = 0; r < WINO_IN; r++) STORE_MASK(lanes, u + (r * WINO_IN + k) * u_spot, o[r]);
            for (int r = 0; r < WINO_IN; r++) WINO_CLAIM(u + (r * WINO_IN + k) * u_spot + 2 * rows);
        }
    }
}

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
        const MASK lanes = (MASK)((1u << n) - 1);
        for (int k = 0; k < 9; k++) {
            VEC sum = {0};
            for (int64_t p = 0; p < s->job.parts; p++) sum += LOAD_MASK(lanes, sums + p * step + k * s->columns + c);
            odd += sum * 0.f;
            STORE(taps[k], sum);
        }
        for (int64_t l = 0; l < n; l++, out += 9)
            for (int k = 0; k < 9; k++) out[k] = taps[k][l];
    }
    if (_mm512_cmp_ps_mask((__m512)odd, (__m512)odd, _CMP_UNORD_Q)) __atomic_store_n(&s->odd, 1, __ATOMIC_RELAXED);
}

/* Of a part: panels of channels, tiles at least, bytes that shall stay in L2; parts where channels are few. */
enum { WINO_PART_C = 2, WINO_PART_O = 5, WINO_PART_TILES = 32, WINO_PART_BYTES = 1500 << 10, WINO_PARTS = 16 };

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
    rt_tasks(wino_weight_sum, &s, call->groups * call->o, (double)(call->groups * g->parts * call->o * call->c));
    rt->free(s.sums, bytes);
    *again = s.odd;
    return g->failed ? bytes : 0;
}
