/* Patches for the gradient of the weight where a vector is narrower than a patch: rows are read from VL channels and turned in
   registers. Included by conv_winograd_weight.h, as are its sizes. */

/* Of a part: panels of channels, tiles at least, bytes that shall stay in L2. */
enum { WINO_PART_C = 4, WINO_PART_O = 11, WINO_PART_TILES = 16, WINO_PART_BYTES = 900 << 10 };

enum { WINO_LOADS = (WINO_IN + VL - 1) / VL, WINO_WIDTH = WINO_LOADS * VL }; /* vectors and elements of a row of a patch */

/* A tile: the first row of its patches of the input and of the gradient, in the first channel, and where its columns begin. */
typedef struct {
    int64_t from, to;
    int32_t x, out_x;
    uint8_t in_rows, out_rows;   /* bits of the rows that exist */
} wino_window;

static void wino_windows(const wino_job *g, int64_t first, int64_t n, wino_window *p)
{
    const conv_call *call = g->call;
    const int64_t h = call->in[1], w = call->in[2], high = call->out[1], wide = call->out[2];
    for (int64_t i = 0; i < n; i++, p++) {
        const wino_tile t = wino_at(g, first + i);
        const int64_t y = t.y * WINO_OUT + g->top, image = t.image * call->groups + g->group;
        p->from = image * call->c * h * w + y * w;
        p->to = image * call->o * high * wide + t.y * WINO_OUT * wide;
        /* a patch that lies outside reads padding alone, wherever it is */
        p->x = (int32_t)gemm_min(i64_max(t.x * WINO_OUT + g->left, -WINO_IN), w);
        p->out_x = (int32_t)(t.x * WINO_OUT);
        p->in_rows = p->out_rows = 0;
        for (int r = 0; r < WINO_IN; r++) p->in_rows |= (uint8_t)((y + r >= 0 && y + r < h) << r);
        for (int r = 0; r < WINO_OUT; r++) p->out_rows |= (uint8_t)((t.y * WINO_OUT + r < high) << r);
    }
}

/* Columns x to x + n of one row of VL channels, w wide; zeros beyond its ends. */
GEMM_CALL void wino_beside(const float *const *row, int64_t from, int64_t x, int64_t w, int n, VEC *d)
{
    const int64_t near = i64_max(gemm_min(x, w - n), 0);
    VEC all[3 * WINO_IN] = {0};
    for (int64_t k = 0; k < gemm_min(n, w); k++)
        for (int l = 0; l < VL; l++) ((float *)&all[WINO_IN + k])[l] = row[l][from + near + k];
    for (int k = 0; k < n; k++) d[k] = all[WINO_IN + x - near + k];
}

/* Not inline: GCC would keep addresses in vectors and take them out one by one. */
GEMM_CALL void wino_channels(const float *x, int64_t map, int count, const float **row)
{
    for (int l = 0; l < VL; l++) row[l] = x + (l < count ? l : 0) * map;
}

GEMM_INLINE const float *wino_at_row(const float *const *row, int l, int64_t from)
{
    const float *p = row[l];
    __asm__("" : "+r"(p));
    return p + from;
}

/* The numbers of n tiles: VL channels of the input from x on, of which `count` exist, a tile NR from the one before. */
static void wino_weight_inputs(const float *x, int64_t h, int64_t w, int count, const wino_window *p, int64_t n, float *v,
                              int64_t v_spot)
{
    const float *row[VL];
    wino_channels(x, h * w, count, row);
    for (int64_t i = 0; i < n; i++, p++, v += NR) {
        VEC d[WINO_IN][WINO_IN];
        const int whole = p->x >= 0 && p->x + WINO_WIDTH <= w;
        for (int r = 0; r < WINO_IN; r++) {
            const int64_t from = p->from + r * w;
            VEC t[WINO_WIDTH];
            if (!(p->in_rows >> r & 1)) {
                for (int k = 0; k < WINO_IN; k++) d[r][k] = (VEC){0};
                continue;
            }
            if (!whole) wino_beside(row, from, p->x, w, WINO_IN, t);
            GEMM_PRAGMA(GCC unroll 2)
            for (int u = 0; u < WINO_LOADS && whole; u++) {
                GEMM_PRAGMA(GCC unroll 16)
                for (int l = 0; l < VL; l++) t[u * VL + l] = LOAD(wino_at_row(row, l, from + p->x + u * VL));
                FN(transpose)(t + u * VL);
            }
            wino_in(t, 1, d[r]);
        }
        for (int k = 0; k < WINO_IN; k++) {
            VEC o[WINO_IN];
            wino_in(&d[0][k], WINO_IN, o);
            for (int r = 0; r < WINO_IN; r++) STORE(v + (r * WINO_IN + k) * v_spot, o[r]);
        }
    }
}

/* Four elements of a row, and below them of the next where a vector is that long. */
GEMM_INLINE VEC wino_quads(const float *p, int64_t w)
{
#if BURN_LEVEL == 3
    return (VEC)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + w), 1);
#else
    (void)w;
    return LOAD(p);
#endif
}

/* The same for `rows` channels of the gradient, a tile `rows` from the one before: what a vector has beyond is written over. */
static void wino_weight_outputs(const float *y, int64_t h, int64_t w, int rows, const wino_window *p, int64_t n, float *u,
                               int64_t u_spot)
{
    enum { ROWS = VL / WINO_OUT }; /* of a patch that are turned together */
    const float *row[VL];
    wino_channels(y, h * w, rows, row);
    for (int64_t i = 0; i < n; i++, p++, u += rows) {
        VEC d[WINO_OUT][WINO_IN];
        const int whole = p->out_x + WINO_OUT <= w && p->out_rows == (1 << WINO_OUT) - 1;
        for (int r = 0; r < WINO_OUT; r += ROWS) {
            const int64_t from = p->to + r * w;
            VEC t[VL];
            if (whole) {
                GEMM_PRAGMA(GCC unroll 16)
                for (int l = 0; l < VL; l++) t[l] = wino_quads(wino_at_row(row, l, from + p->out_x), w);
                FN(transpose)(t);
            } else
                for (int q = 0; q < ROWS; q++) {
                    if (p->out_rows >> (r + q) & 1) wino_beside(row, from + q * w, p->out_x, w, WINO_OUT, t + q * WINO_OUT);
                    else for (int k = 0; k < WINO_OUT; k++) t[q * WINO_OUT + k] = (VEC){0};
                }
            for (int q = 0; q < ROWS; q++) wino_out_back(t + q * WINO_OUT, 1, d[r + q]);
        }
        for (int k = 0; k < WINO_IN; k++) {
            VEC o[WINO_IN];
            wino_out_back(&d[0][k], WINO_IN, o);
            for (int r = 0; r < WINO_IN; r++) STORE(u + (r * WINO_IN + k) * u_spot, o[r]);
        }
    }
}
