/* WINOGRAD where a vector is narrower than the patch of a tile: patches are read row by row and turned in registers. Included by
   conv_winograd.h. */

/* Four rows to four columns, in each half of a vector. */
#define WINO_ZIP(l, first) ((l) / 4 * 4 + (first) + (l) % 4 / 2 + (l) % 2 * VL)
#define WINO_JOIN(l, first) ((l) / 4 * 4 + (first) + (l) % 2 + (l) % 4 / 2 * VL)
GEMM_INLINE void wino_turn(VEC *r)
{
    const VEC a = GEMM_SHUFFLE(IVEC, r[0], r[1], LANES(WINO_ZIP, 0)), b = GEMM_SHUFFLE(IVEC, r[2], r[3], LANES(WINO_ZIP, 0));
    const VEC c = GEMM_SHUFFLE(IVEC, r[0], r[1], LANES(WINO_ZIP, 2)), d = GEMM_SHUFFLE(IVEC, r[2], r[3], LANES(WINO_ZIP, 2));
    r[0] = GEMM_SHUFFLE(IVEC, a, b, LANES(WINO_JOIN, 0));
    r[1] = GEMM_SHUFFLE(IVEC, a, b, LANES(WINO_JOIN, 2));
    r[2] = GEMM_SHUFFLE(IVEC, c, d, LANES(WINO_JOIN, 0));
    r[3] = GEMM_SHUFFLE(IVEC, c, d, LANES(WINO_JOIN, 2));
}
#undef WINO_ZIP
#undef WINO_JOIN

/* Four elements of a row for each half of a vector. */
#if VL == 8
GEMM_INLINE VEC wino_fours(const float *low, const float *high)
{
    return (VEC)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
}
#else
GEMM_INLINE VEC wino_fours(const float *low, const float *high)
{
    (void)high;
    return LOAD(low);
}
#endif

/* Columns x0 to x1 of a row of a patch, among zeros. */
GEMM_INLINE void wino_edge(const float *from, int x0, int x1, int width, float *to)
{
    int x = 0;
#if VL == 8
    static const int32_t ones[3 * VL] = {0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1};
    const __m256i low = _mm256_loadu_si256((const __m256i *)(ones + VL - (x0 < VL ? x0 : VL)));
    const __m256i high = _mm256_loadu_si256((const __m256i *)(ones + 2 * VL - (x1 < VL ? x1 : VL)));
    _mm256_storeu_ps(to, _mm256_maskload_ps(from, _mm256_and_si256(low, high)));
    x = VL;
#endif
    for (; x < width; x++) to[x] = x >= x0 && x < x1 ? from[x] : 0;
}

/* Columns of a patch that are read: by fours, but a single one alone. */
GEMM_INLINE int wino_width(const int stride)
{
    const int n = wino_side(stride), over = n % 4;
    return over > 1 ? n + 4 - over : n;
}
/* No table of places, and nothing fetched ahead: rows are read as they lie. */
enum { WINO_PLACE = 0 };
static void wino_place_fill(void *ctx, int64_t i) { (void)ctx, (void)i; }
GEMM_INLINE void wino_claim(const wino_job *g, int64_t panel, int64_t o0, int64_t o1, int64_t spot)
{
    (void)g, (void)panel, (void)o0, (void)o1, (void)spot;
}

/* One panel of output channels: a lane is an output channel. */
GEMM_INLINE void wino_weights_of(const int stride, const wino_job *g, int64_t i)
{
    const conv_call *call = g->call;
    const int64_t o = gemm_start(g->rows, i);
    const int rows = (int)(g->rows.each + (i < g->rows.more)), n = wino_side(stride);
    const float *w = g->w + g->group * call->w_g + o * call->w_o;
    for (int64_t c = 0; c < call->c; c++, w += call->w_c) {
        VEC k[9], half[3 * WINO_IN_STRIDED];
        float lanes[9][VL];
        memset(lanes, 0, sizeof lanes);
        for (int j = 0; j < rows; j++)
            for (int t = 0; t < 9; t++) lanes[t][j] = w[j * call->w_o + (call->transposed ? 8 - t : t)];
        for (int t = 0; t < 9; t++) k[t] = LOAD(lanes[t]);
        wino_kernel_columns(stride, k, half);
        const int64_t at = (o - g->u_first) * call->c + c * rows;
        GEMM_PRAGMA(GCC unroll 9)
        for (int y = 0; y < n; y++) {
            VEC all[WINO_IN_STRIDED];
            wino_kernel_row(stride, half, y, all);
            GEMM_PRAGMA(GCC unroll 9)
            for (int x = 0; x < n; x++) {
                float *u = g->u + wino_number(stride, y, x, g->u_copy, at, rows, WINO_U_SKEW);
                /* a whole vector runs into the next channel, which is written after it */
                if ((c + 2) * rows >= c * rows + VL && c + 2 < call->c) STORE(u, all[x]);
                else memcpy(u, &all[x], rows * sizeof(float));
            }
        }
    }
}

/* A panel of tiles, channels c0 to c1. */
GEMM_INLINE void wino_load_of(const int stride, const wino_job *g, int64_t panel, int64_t c0, int64_t c1)
{
    enum { SIDE = WINO_IN_STRIDED, WIDTH = WINO_IN_STRIDED + 3 };
    const int side = wino_side(stride), width = wino_width(stride);
    const conv_call *call = g->call;
    const int64_t h = call->in[1], w = call->in[2];
    const float *at[NR];
    int inside[NR], row0[NR], row1[NR], col0[NR], col1[NR];
    for (int l = 0; l < NR; l++) {
        const wino_tile t = wino_at(g, gemm_min(g->first + panel * NR + l, g->tiles - 1));
        const int64_t y = t.y * WINO_OUT * stride + g->top, x = t.x * WINO_OUT * stride + g->left;
        at[l] = g->x + ((t.image * call->groups + g->group) * call->c + c0) * h * w + y * w + x;
        inside[l] = y >= 0 && x >= 0 && y + side <= h && x + width <= w;
        row0[l] = (int)gemm_min(i64_max(-y, 0), side);
        row1[l] = (int)i64_max(gemm_min(h - y, side), row0[l]);
        col0[l] = (int)gemm_min(i64_max(-x, 0), side);
        col1[l] = (int)i64_max(gemm_min(w - x, side), col0[l]);
    }
    for (int64_t c = c0; c < c1; c++)
        for (int half = 0; half < 2; half++) {
            float edge[VL][SIDE * WIDTH];
            const float *p[VL];
            int64_t step[VL];
            for (int l = 0; l < VL; l++) {
                const int q = half * VL + l;
                p[l] = at[q] + (c - c0) * h * w;
                step[l] = w;
                if (inside[q]) continue;
                float *e = edge[l];
                memset(e, 0, row0[q] * width * sizeof(float));
                for (int r = row0[q]; r < row1[q]; r++) wino_edge(p[l] + r * w, col0[q], col1[q], width, e + r * width);
                memset(e + row1[q] * width, 0, (side - row1[q]) * width * sizeof(float));
                p[l] = e;
                step[l] = width;
            }
            VEC d[SIDE][SIDE];
            for (int r = 0; r < side; r++) {
                VEC t[WIDTH];
                GEMM_PRAGMA(GCC unroll 4)
                for (int u = 0; u + 4 <= width; u += 4) {
                    GEMM_PRAGMA(GCC unroll 4)
                    for (int l = 0; l < 4; l++) {
                        const int high = (l + 4) % VL;
                        t[u + l] = wino_fours(p[l] + r * step[l] + u, p[high] + r * step[high] + u);
                    }
                    wino_turn(t + u);
                }
                if (width % 4) {
                    float one[VL];
                    GEMM_PRAGMA(GCC unroll 16)
                    for (int l = 0; l < VL; l++) one[l] = p[l][r * step[l] + side - 1];
                    t[side - 1] = LOAD(one);
                }
                wino_in_of(stride, t, 1, d[r]);
            }
            const int64_t from = (panel * call->c + c) * NR;
            float *v = g->v + half * VL;
            GEMM_PRAGMA(GCC unroll 9)
            for (int k = 0; k < side; k++) {
                VEC o[SIDE];
                wino_in_of(stride, &d[0][k], SIDE, o);
                GEMM_PRAGMA(GCC unroll 9)
                for (int r = 0; r < side; r++) STORE(v + wino_number(stride, r, k, g->v_copy, from, NR, WINO_SKEW), o[r]);
            }
        }
}

/* A panel of tiles, output channels o0 to o1. */
GEMM_INLINE void wino_store_of(const int stride, const wino_job *g, int64_t panel, int64_t o0, int64_t o1)
{
    const int points = wino_points(stride);
    const conv_call *call = g->call;
    const int64_t h = call->out[1], w = call->out[2];
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
            for (int k = 0; k < points; k++) {
                VEC in[WINO_IN], part[WINO_OUT];
                for (int r = 0; r < points; r++) in[r] = LOAD(m + (r * points + k) * g->m_spot);
                wino_out_of(stride, in, 1, part);
                for (int r = 0; r < WINO_OUT; r++) d[r][k] = part[r];
            }
            for (int r = 0; r < WINO_OUT; r++) {
                wino_out_of(stride, d[r], 1, out[r]);
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
            GEMM_PRAGMA(GCC unroll 4)
            for (int r = 0; r < WINO_OUT; r++) wino_turn(out[r]);
            for (int l = 0; l < lanes; l++) {
                const int q = half * VL + l;
                float *y = at[q] + o * h * w;
                for (int r = 0; r < rows[q]; r++) {
                    const float *from = (const float *)&out[r][l % 4] + l / 4 * 4;
                    if (cols[q] == WINO_OUT) memcpy(y + r * w, from, WINO_OUT * sizeof(float));
                    else for (int x = 0; x < cols[q]; x++) y[r * w + x] = from[x];
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
