/* Patches for the gradient of the weight with AVX-512: columns are gathered from 16 channels, two at a time. Included by
   conv_winograd_weight.h, as are its sizes. */

/* Of a part: panels of channels, tiles at least, bytes that shall stay in L2. */
enum { WINO_PART_C = 2, WINO_PART_O = 5, WINO_PART_TILES = 32, WINO_PART_BYTES = 1500 << 10 };

/* Two columns of a patch: where they are gathered together, and which of the two each is; none in the padding. */
typedef struct { int32_t at; MASK keep[2]; uint8_t odd[2]; } wino_two;
/* A tile: its patches of the input and of the gradient, in the first channel. */
typedef struct {
    int64_t from, to;
    uint8_t in_rows, out_rows;   /* bits of the rows that exist */
    wino_two in[WINO_IN / 2], out[WINO_OUT / 2];
} wino_window;

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
