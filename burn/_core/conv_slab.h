/* Slabs of direct convolutions, included once an element type from conv_direct.h. */

/* Elements u0 to u1 of a row, each `s` from the one before in src, and zeros up to u0 and from u1 to n. Vectors may overlap: what
   is in two of them is written last by the right one. */
GEMM_INLINE void FN(fill_row)(const T *src, int64_t s, int64_t u0, int64_t u1, int64_t n, T *d)
{
    if (s == 1 && n >= VL && (u1 - u0 >= VL || u1 == u0)) {
        VEC t = {0};
        for (int64_t u = 0; u < u0; u += VL) STORE(d + gemm_min(u, n - VL), t);
        for (int64_t u = n; u > u1; u -= VL) STORE(d + i64_max(u - VL, 0), t);
        for (int64_t u = u0; u < u1; u += VL) {
            const int64_t at = gemm_min(u, u1 - VL);
            t = LOAD(src + at);
            GEMM_PIN(t); /* else it would become a call */
            STORE(d + at, t);
        }
        return;
    }
    for (int64_t u = 0; u < u0; u++) d[u] = 0;
    if (s == 2) for (int64_t u = u0; u < u1; u++) d[u] = src[2 * u];
    else for (int64_t u = u0; u < u1; u++) d[u] = src[u * s];
    for (int64_t u = u1; u < n; u++) d[u] = 0;
}

#ifdef MASK
/* Lanes of [c, c + VL) that lie in [0, n). */
GEMM_INLINE MASK FN(inside)(int64_t c, int64_t n)
{
    const int64_t low = gemm_min(i64_max(-c, 0), VL), high = gemm_min(i64_max(n - c, 0), VL);
    return (MASK)(((1u << high) - 1) & ~((1u << low) - 1));
}

#define PICK(l, first) (2 * (l) + (first))
/* The same by masks, down columns of vectors, for rows that are read one by one, or two by two. */
static void FN(fill_slab_masked)(const FN(job) *g, const T *x, int64_t rows, int64_t top, int64_t left, T *slab)
{
    const conv_axis *h = &g->axis[1], *v = &g->axis[2];
    const int64_t s = v->read, channel = g->axis[0].in * FN(plane_in)(g), width = g->width;
    const int64_t phases = gemm_min(s, v->span + 1);
    for (int64_t c = 0; c < g->call->c; c++)
        for (int64_t j = 0; j < width; j += VL) {
            const int64_t at = left + j * s;
            const MASK in0 = FN(inside)(at, v->in), in1 = s == 2 ? FN(inside)(at + VL, v->in) : 0, out = FN(inside)(j, width);
            const T *src = x + c * channel + top * v->in + at;
            T *d = slab + c * g->channel + j;
            for (int64_t r = 0, phase = 0; r < rows; r++, src += v->in) {
                if (phase <= h->span) {
                    const int here = top + r >= 0 && top + r < h->in;
                    T *to = d + phase * phases * g->map;
                    const VEC a = LOAD_MASK(here ? in0 : 0, src);
                    if (s == 1) STORE_MASK(out, to, a);
                    else {
                        const VEC b = LOAD_MASK(here ? in1 : 0, src + VL);
                        STORE_MASK(out, to, GEMM_SHUFFLE(IVEC, a, b, LANES(PICK, 0)));
                        if (phases > 1) STORE_MASK(out, to + g->map, GEMM_SHUFFLE(IVEC, a, b, LANES(PICK, 1)));
                    }
                }
                if (++phase == h->read) phase = 0, d += width;
            }
        }
}
#undef PICK
#endif

/* Rows of all channels of one plane of the input, from row `top` and column `left`, to [channel][row phase][column phase]
   [row][column]; what lies outside is 0. */
static void FN(fill_slab)(const FN(job) *g, const T *x, int64_t rows, int64_t top, int64_t left, T *slab)
{
#ifdef MASK
    if (g->axis[2].read <= 2) {
        FN(fill_slab_masked)(g, x, rows, top, left, slab);
        return;
    }
#endif
    const conv_axis *h = &g->axis[1], *v = &g->axis[2];
    const int64_t s = v->read, channel = g->axis[0].in * FN(plane_in)(g), width = g->width;
    const int64_t phases = gemm_min(s, v->span + 1);
    for (int64_t q = 0; q < phases; q++) {
        /* column u of the phase is element left + q + u * s */
        const int64_t at = left + q, u0 = at < 0 ? gemm_min((-at + s - 1) / s, width) : 0;
        const int64_t u1 = at < v->in ? gemm_min((v->in - 1 - at) / s + 1, width) : 0;
        for (int64_t c = 0; c < g->call->c; c++) {
            T *d = slab + c * g->channel + q * g->map;
            const T *src = x + c * channel + top * v->in + at;
            for (int64_t r = 0, phase = 0; r < rows; r++, src += v->in) {
                /* rows between those that are read stay away */
                if (phase <= h->span) {
                    const int inside = top + r >= 0 && top + r < h->in && u1 > u0;
                    FN(fill_row)(src, s, inside ? u0 : width, inside ? u1 : width, width, d + phase * phases * g->map);
                }
                if (++phase == h->read) phase = 0, d += width;
            }
        }
    }
}
