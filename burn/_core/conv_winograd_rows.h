/* WINOGRAD where a vector is narrower than the patch of a tile: patches are read row by row and turned in registers. Included by
   conv_winograd.h. */

enum { WINO_LOADS = (WINO_IN + VL - 1) / VL, WINO_WIDTH = WINO_LOADS * VL };
/* No table of places, and nothing fetched ahead: rows are read as they lie. */
enum { WINO_PLACE = 0 };
static void wino_place_fill(void *ctx, int64_t i) { (void)ctx, (void)i; }
GEMM_INLINE void wino_claim(const wino_job *g, int64_t panel, int64_t o0, int64_t o1, int64_t spot)
{
    (void)g, (void)panel, (void)o0, (void)o1, (void)spot;
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
            const float *m = g->m + panel * g->m_panel + o * NR + half * VL;
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

GEMM_INLINE void wino_product(int rows, int wide, int64_t k, const float *u, const float *v, const float *u_next,
                              const float *v_next, float *m, int add)
{
    (void)u_next, (void)v_next;
    const FN(target) to = {.c = m, .ldc = NR, .add = add, .w = wide ? NR : VL};
    if (wide) FN(tile_packed)(rows, k, u, v, &to);
    else FN(tile_narrow)(rows, k, u, 1, rows, v, NR, &to);
}
