/* WINOGRAD with AVX-512, included by conv_winograd.h: a vector is 16 tiles wherever they lie. Patches are gathered, two columns
   at a time, and what lies in the padding is a lane that is off; outputs are turned four tiles at a time and stored by rows of a
   tile. Other levels read patches row by row, which with vectors of 16 would mostly read what no tile needs. */

/* Stores wait for lines that are not in L1, even those of L2, one after the other: lines are claimed before they are written */
#define WINO_FETCH(p) __builtin_prefetch(p, 0, 3)
#define WINO_CLAIM(p) __builtin_prefetch(p, 1, 3)

/* Where the tiles of a vector lie. */
struct wino_place {
    int64_t from[VL], to[VL];                    /* of a patch, in the first channel of the first group */
    int64_t image[VL];
    MASK row[WINO_IN_STRIDED], col[WINO_IN_STRIDED]; /* lanes whose patch has this row, this column */
    uint8_t rows[VL], cols[VL];                  /* outputs that exist: their number, a mask */
    int count, whole;
    int64_t low, high;                           /* elements that pairs of columns reach, in the first channel */
};

enum { WINO_AHEAD = 4 }; /* channels, from which elements are fetched while a patch is computed */
enum { WINO_SOON = 32 }; /* the same in a product */
enum { WINO_PLACE = sizeof(struct wino_place) };

static void wino_place_fill(void *ctx, int64_t i)
{
    const wino_job *g = ctx;
    const conv_call *call = g->call;
    const int64_t h = call->in[1], w = call->in[2], high = call->out[1], wide = call->out[2];
    const int side = wino_side(g->stride);
    wino_place *p = g->places + i;
    wino_tile t = wino_at(g, i * VL);
    memset(p, 0, sizeof *p);
    p->count = (int)i64_max(gemm_min(VL, g->tiles - i * VL), 0);
    p->whole = p->count == VL;
    for (int l = 0; l < p->count; l++) {
        const int64_t y = t.y * WINO_OUT * g->stride + g->top, x = t.x * WINO_OUT * g->stride + g->left;
        const int64_t image = t.image * call->groups;
        p->image[l] = image;
        p->from[l] = image * call->c * h * w + y * w + x;
        p->to[l] = image * call->o * high * wide + t.y * WINO_OUT * wide + t.x * WINO_OUT;
        for (int k = 0; k < side; k++) {
            p->col[k] |= (MASK)((x + k >= 0 && x + k < w) << l);
            if (y + k < 0 || y + k >= h) continue;
            p->row[k] |= (MASK)(1 << l);
            p->low = gemm_min(p->low, p->from[l] + k * w);
            p->high = i64_max(p->high, p->from[l] + k * w + (side - 1) / 2 * 2 + 1);
        }
        p->rows[l] = (uint8_t)gemm_min(high - t.y * WINO_OUT, WINO_OUT);
        p->cols[l] = (uint8_t)((1 << gemm_min(wide - t.x * WINO_OUT, WINO_OUT)) - 1);
        p->whole &= p->rows[l] == WINO_OUT && p->cols[l] == (1 << WINO_OUT) - 1;
        if (++t.x < g->across) continue;
        t.x = 0;
        if (++t.y < g->down) continue;
        t.y = 0;
        t.image++;
    }
}

/* One panel of output channels: a lane is an output channel. */
GEMM_INLINE void wino_weights_of(const int stride, const wino_job *g, int64_t i)
{
    const conv_call *call = g->call;
    const int64_t o = gemm_start(g->rows, i);
    const int rows = (int)(g->rows.each + (i < g->rows.more)), n = wino_side(stride);
    const MASK mask = (MASK)((1u << rows) - 1);
    const float *w = g->w + g->group * call->w_g + o * call->w_o;
    int64_t lanes[VL];
    for (int l = 0; l < VL; l++) lanes[l] = l * call->w_o;
    const __m512i low = _mm512_loadu_si512(lanes), high = _mm512_loadu_si512(lanes + VL / 2);
    int64_t at = (o - g->u_first) * call->c;
    for (int64_t c = 0; c < call->c; c++, w += call->w_c, at += rows) {
        VEC k[9], half[3 * WINO_IN_STRIDED];
        for (int t = 0; t < 9; t++) {
            const float *from = w + (call->transposed ? 8 - t : t);
            const __m256 none = _mm256_setzero_ps(), a = _mm512_mask_i64gather_ps(none, (__mmask8)mask, low, from, 4);
            const __m256 b = _mm512_mask_i64gather_ps(none, (__mmask8)(mask >> 8), high, from, 4);
            k[t] = (VEC)_mm512_insertf32x8(_mm512_castps256_ps512(a), b, 1);
        }
        wino_kernel_columns(stride, k, half);
        GEMM_PRAGMA(GCC unroll 9)
        for (int y = 0; y < n; y++) {
            VEC all[WINO_IN_STRIDED];
            wino_kernel_row(stride, half, y, all);
            GEMM_PRAGMA(GCC unroll 9)
            for (int x = 0; x < n; x++)
                STORE_MASK(mask, g->u + wino_number(stride, y, x, g->u_copy, at, rows, WINO_U_SKEW), all[x]);
        }
        for (int s = 0; s < g->spots; s++) WINO_CLAIM(wino_u(g, s, 0) + (at + 2 * rows) * wino_copies(stride, s));
    }
}

/* Columns k and, if there is one, k + 1 of a row of the patches. */
GEMM_INLINE void wino_pair(const wino_place *p, const float *x, MASK rows, int k, const int two, VEC *d)
{
    const __m512i low = _mm512_loadu_si512(p->from), high = _mm512_loadu_si512(p->from + VL / 2);
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    const __m512d none = _mm512_setzero_pd();
    const __m512 a = _mm512_castpd_ps(_mm512_mask_i64gather_pd(none, (__mmask8)rows, low, x + k, 4));
    const __m512 b = _mm512_castpd_ps(_mm512_mask_i64gather_pd(none, (__mmask8)(rows >> 8), high, x + k, 4));
    d[k] = (VEC)_mm512_maskz_permutex2var_ps(p->col[k], a, even, b);
    if (two) d[k + 1] = (VEC)_mm512_maskz_permutex2var_ps(p->col[k + 1], a, odd, b);
}

/* `from`: up to the panel and channel at hand, in one copy; `v` has the half of the panel. */
GEMM_INLINE void wino_patch(const int stride, const wino_job *g, const wino_place *p, const float *x, const int ends, float *v,
                            int64_t from)
{
    enum { SIDE = WINO_IN_STRIDED };
    const int64_t w = g->call->in[2];
    const int side = wino_side(stride);
    VEC d[SIDE][SIDE];
    for (int r = 0; r < side; r++, x += w) {
        VEC t[SIDE + 1];
        if (ends)
            for (int k = 0; k < side; k++) {
                const MASK lanes = p->row[r] & p->col[k];
                float one[VL] = {0};
                GEMM_PRAGMA(GCC unroll 1)
                for (int l = 0; l < VL; l++) if (lanes >> l & 1) one[l] = x[p->from[l] + k];
                t[k] = LOAD(one);
            }
        else for (int k = 0; k < side; k += 2) wino_pair(p, x, p->row[r], k, k + 1 < side, t);
        wino_in_of(stride, t, 1, d[r]);
    }
    GEMM_PRAGMA(GCC unroll 9)
    for (int k = 0; k < side; k++) {
        VEC o[SIDE];
        wino_in_of(stride, &d[0][k], SIDE, o);
        GEMM_PRAGMA(GCC unroll 9)
        for (int r = 0; r < side; r++) STORE(v + wino_number(stride, r, k, g->v_copy, from, NR, WINO_SKEW), o[r]);
    }
}

GEMM_CALL void wino_patch_ends(const wino_job *g, const wino_place *p, const float *x, float *v, int64_t from)
{
    if (g->stride == 1) wino_patch(1, g, p, x, 1, v, from);
    else wino_patch(2, g, p, x, 1, v, from);
}

/* A panel of tiles, channels c0 to c1. */
GEMM_INLINE void wino_load_of(const int stride, const wino_job *g, int64_t panel, int64_t c0, int64_t c1)
{
    const conv_call *call = g->call;
    const wino_place *p = g->places + (g->first / NR + panel) * 2;
    const int64_t map = call->in[1] * call->in[2], size = call->n * call->groups * call->c * map;
    for (int64_t c = c0; c < c1; c++)
        for (int half = 0; half < 2 && p[half].count; half++) {
            const int64_t from = (g->group * call->c + c) * map;
            const float *x = g->x + from;
            float *v = g->v + half * VL;
            const int64_t at = (panel * call->c + c) * NR;
            GEMM_PRAGMA(GCC unroll 8)
            for (int l = 0; l < VL; l += 4 / stride) /* a line is so many tiles wide; rows above and below are those of others */
                for (int r = 1; r <= WINO_OUT * stride; r++) WINO_FETCH(x + WINO_AHEAD * map + p[half].from[l] + r * call->in[2]);
            /* pairs of columns that lie in the padding would leave the buffer */
            const int ends = from < -p[half].low || from >= size - p[half].high;
            if (ends) wino_patch_ends(g, p + half, x, v, at);
            else wino_patch(stride, g, p + half, x, 0, v, at);
        }
}

/* One channel of outputs of a vector of tiles; returns the lanes that have one that is not finite. */
GEMM_INLINE MASK wino_put(const int stride, const wino_job *g, const wino_place *p, const float *m, float bias, float *y)
{
    const int64_t w = g->call->out[2];
    const int points = wino_points(stride);
    VEC d[WINO_OUT][WINO_IN], wrong = {0};
    for (int k = 0; k < points; k++) {
        VEC in[WINO_IN], part[WINO_OUT];
        for (int r = 0; r < points; r++) in[r] = LOAD(m + (r * points + k) * g->m_spot);
        wino_out_of(stride, in, 1, part);
        for (int r = 0; r < WINO_OUT; r++) d[r][k] = part[r];
    }
    for (int r = 0; r < WINO_OUT; r++, y += w) {
        VEC o[WINO_OUT];
        wino_out_of(stride, d[r], 1, o);
        for (int k = 0; k < WINO_OUT; k++) {
            o[k] += bias;
            wrong += o[k] * 0.f; /* a NaN where it is not finite */
        }
        const __m512 a = _mm512_unpacklo_ps((__m512)o[0], (__m512)o[1]), b = _mm512_unpacklo_ps((__m512)o[2], (__m512)o[3]);
        const __m512 c = _mm512_unpackhi_ps((__m512)o[0], (__m512)o[1]), e = _mm512_unpackhi_ps((__m512)o[2], (__m512)o[3]);
        /* a quarter of t[j] is row r of one tile: quarter i that of tile 4i + j */
        const __m512 t[4] = {_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xee), _mm512_shuffle_ps(c, e, 0x44),
                             _mm512_shuffle_ps(c, e, 0xee)};
#define ROW(l) _mm512_extractf32x4_ps(t[(l) % 4], (l) / 4)
#define PUT(l) _mm_storeu_ps(y + p->to[l], ROW(l));
#define PUT_MASK(l) if (r < p->rows[l]) _mm_mask_storeu_ps(y + p->to[l], (__mmask8)p->cols[l], ROW(l));
#define PUT_ALL(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
        if (p->whole) { PUT_ALL(PUT) }
        else { PUT_ALL(PUT_MASK) }
#undef ROW
#undef PUT
#undef PUT_MASK
#undef PUT_ALL
    }
    return _mm512_cmp_ps_mask((__m512)wrong, (__m512)wrong, _CMP_UNORD_Q);
}

/* Claims some of the lines that outputs of channels o0 to o1 will be written to: a few with the products of each spot. */
GEMM_INLINE void wino_claim(const wino_job *g, int64_t panel, int64_t o0, int64_t o1, int64_t spot)
{
    const conv_call *call = g->call;
    const wino_place *p = g->places + (g->first / NR + panel) * 2;
    const int64_t map = call->out[1] * call->out[2], w = call->out[2];
    const gemm_split quads = gemm_even((o1 - o0) * (NR / 4), g->spots);
    for (int64_t q = gemm_start(quads, spot); q < gemm_start(quads, spot + 1); q++) {
        const int l = q % (NR / 4) * 4;
        const float *y = g->y + (g->group * call->o + o0 + q / (NR / 4)) * map + p[l / VL].to[l % VL];
        for (int r = 0; r < WINO_OUT; r++) WINO_CLAIM(y + r * w);
    }
}

/* A panel of tiles, output channels o0 to o1. */
GEMM_INLINE void wino_store_of(const int stride, const wino_job *g, int64_t panel, int64_t o0, int64_t o1)
{
    const conv_call *call = g->call;
    const wino_place *p = g->places + (g->first / NR + panel) * 2;
    const int64_t map = call->out[1] * call->out[2];
    for (int64_t o = o0; o < o1; o++) {
        const int64_t channel = g->group * call->o + o;
        const float bias = call->bias ? ((const float *)call->bias)[channel] : 0;
        for (int half = 0; half < 2 && p[half].count; half++) {
            const float *m = g->m + panel * g->m_panel + o * NR + half * VL;
            const MASK wrong = wino_put(stride, g, p + half, m, bias, g->y + channel * map);
            for (int l = 0; wrong && l < p[half].count; l++)
                if (wrong >> l & 1) __atomic_store_n(&g->bad[p[half].image[l] + g->group], 1, __ATOMIC_RELAXED);
        }
    }
}

/* rows x V vectors of products. What comes soon is fetched meanwhile: of these operands, then of the next. */
GEMM_INLINE void wino_sums(const int R, const int V, int64_t k, const float *u, const float *v, const float *u_next,
                           const float *v_next, float *m, int add)
{
#define DECLARE(i, base, off) VEC x##i = {0}, y##i = {0};
#define MULTIPLY(i, base, off) \
    if (R > i) { \
        VEC s = SPLAT(u[i]); \
        GEMM_PIN(s); \
        x##i += s * b0; \
        if (V > 1) y##i += s * b1; \
    }
#define ADD(i, base, off) if (R > i) { x##i += LOAD(m + i * NR); if (V > 1) y##i += LOAD(m + i * NR + VL); }
#define CLAIM(i, base, off) if (R > i) { WINO_CLAIM(m + i * NR); if (V > 1) WINO_CLAIM(m + i * NR + VL); }
#define WRITE(i, base, off) if (R > i) { STORE(m + i * NR, x##i); if (V > 1) STORE(m + i * NR + VL, y##i); }
    GEMM_ROWS(DECLARE)
    GEMM_ROWS(CLAIM)
    VEC b0, b1;
    const float *u_soon = u + WINO_SOON * R, *v_soon = v + WINO_SOON * NR;
    if (k < WINO_SOON) u_soon = u_next, v_soon = v_next;
    GEMM_UNROLL
    for (; k > 0; k--) {
        if (k == WINO_SOON) u_soon = u_next, v_soon = v_next;
        b0 = LOAD(v);
        GEMM_PIN(b0);
        if (V > 1) {
            b1 = LOAD(v + VL);
            GEMM_PIN(b1);
        }
        WINO_FETCH(u_soon);
        WINO_FETCH(v_soon);
        if (V > 1) WINO_FETCH(v_soon + VL);
        GEMM_ROWS(MULTIPLY)
        u += R;
        v += NR;
        u_soon += R;
        v_soon += NR;
    }
    if (add) { GEMM_ROWS(ADD) }
    GEMM_ROWS(WRITE)
#undef DECLARE
#undef MULTIPLY
#undef ADD
#undef WRITE
#undef CLAIM
}

GEMM_CALL void wino_product(int rows, int wide, int64_t k, const float *u, const float *v, const float *u_next,
                            const float *v_next, float *m, int add)
{
    switch (rows + wide * (GEMM_MR + 1)) {
#define CASE(R) \
    case R: wino_sums(R, 1, k, u, v, u_next, v_next, m, add); break; \
    case R + GEMM_MR + 1: wino_sums(R, 2, k, u, v, u_next, v_next, m, add); break;
        GEMM_CASES(CASE)
#undef CASE
    }
}
