/* Products of little depth where masks are cheap, included once an element type from conv_direct.h: one panel at all
   positions of a patch, so that a tile costs no call. */

/* the largest depth, and the rows up to which a tile is three vectors wide: of a few such panels the depth may be larger */
enum { FN(RUN) = 64, FN(RUN_THREE) = 9, FN(RUN_PANELS) = 2, FN(RUN_DEEP) = 96 };

GEMM_INLINE int64_t FN(run_depth)(const FN(job) *g)
{
    const int few = g->mp <= FN(RUN_PANELS) && g->rows.each + (g->rows.more > 0) <= FN(RUN_THREE);
    return few ? FN(RUN_DEEP) : FN(RUN);
}

/* A group of positions: where its lanes are read and written, in which order, and which are there. */
typedef struct {
    const T *b;
    T *y;
    IVEC order;
    MASK in, out;
} FN(group);

#define LANE(l, unused) (l)
/* The group after the last has no lanes. r, j: row and column of the group where groups do not cross the ends of rows. */
GEMM_INLINE FN(group) FN(group_at)(const FN(job) *g, const FN(patch) *w, T *y, int64_t p, int64_t r, int64_t j)
{
    if (!g->lanes) {
        const MASK m = r < w->rows ? FN(inside)(0, w->cols - j) : 0;
        return (FN(group)){.b = w->slab + r * g->width + j, .y = y + r * w->row_ld + j, .order = {LANES(LANE, 0)},
                           .in = m, .out = m};
    }
    const int64_t left = (w->rows - 1) * g->width + w->cols - p * VL;
    if (left <= 0) return (FN(group)){.b = w->slab, .y = y};
    const FN(lanes) *at = g->lanes + p;
    return (FN(group)){.b = w->slab + p * VL, .y = y + at->at, .order = at->order, .in = FN(inside)(0, left),
                       .out = FN(inside)(0, gemm_min(at->count, w->rows * w->cols - at->at))};
}
#undef LANE

/* V: vectors in a tile, 2 or 3 */
GEMM_INLINE void FN(run)(const int R, const int V, const FN(job) *g, const FN(patch) *w, const T *a, const T *bias, T *y)
{
    const int64_t depth = w->depth, ld = w->ld;
    const int64_t groups = g->lanes ? gemm_ceil((w->rows - 1) * g->width + w->cols, VL) : w->rows * gemm_ceil(w->cols, VL);
    const int32_t *const off = w->off;
    T start[GEMM_MR] = {0};
    if (bias) memcpy(start, bias, R * sizeof(T));
#define DECLARE(i, base, o) VEC x##i, y##i, z##i;
#define BEGIN(i, base, o) if (R > i) x##i = y##i = z##i = SPLAT(start[i]);
#define BASE(i) const T *a##i = a + i;
#define STEP(i) a##i += R;
#define MULTIPLY(i, base, o) \
    if (R > i) { \
        VEC s = SPLAT(base[o]); \
        GEMM_PIN(s); \
        x##i += s * b0; \
        y##i += s * b1; \
        if (V > 2) z##i += s * b2; \
    }
#define WRITE(i, base, o) \
    if (R > i) { \
        STORE_MASK(at[0].out, at[0].y + i * ld, FN(in_order)(x##i, at[0].order)); \
        STORE_MASK(at[1].out, at[1].y + i * ld, FN(in_order)(y##i, at[1].order)); \
        if (V > 2) STORE_MASK(at[2].out, at[2].y + i * ld, FN(in_order)(z##i, at[2].order)); \
    }
    for (int64_t p = 0, r = 0, j = 0; p < groups; p += V) {
        FN(group) at[3];
        GEMM_PRAGMA(GCC unroll 3)
        for (int h = 0; h < V; h++) {
            at[h] = FN(group_at)(g, w, y, p + h, r, j);
            if ((j += VL) >= w->cols) j = 0, r++;
        }
        GEMM_ROWS(DECLARE)
        GEMM_ROWS(BEGIN)
        GEMM_BASES(BASE)
        for (int64_t k = 0; k < depth; k++) {
            VEC b0 = LOAD_MASK(at[0].in, at[0].b + off[k]), b1 = LOAD_MASK(at[1].in, at[1].b + off[k]), b2;
            GEMM_PIN(b0);
            GEMM_PIN(b1);
            if (V > 2) {
                b2 = LOAD_MASK(at[2].in, at[2].b + off[k]);
                GEMM_PIN(b2);
            }
            GEMM_ROWS(MULTIPLY)
            GEMM_BASES(STEP)
        }
        GEMM_ROWS(WRITE)
    }
#undef DECLARE
#undef BEGIN
#undef BASE
#undef STEP
#undef MULTIPLY
#undef WRITE
}

GEMM_CALL void FN(run_of)(int rows, const FN(job) *g, const FN(patch) *w, const T *a, const T *bias, T *y)
{
    switch (rows) {
#define CASE(R) case R: FN(run)(R, R <= FN(RUN_THREE) ? 3 : 2, g, w, a, bias, y); break;
        GEMM_CASES(CASE)
#undef CASE
    }
}
