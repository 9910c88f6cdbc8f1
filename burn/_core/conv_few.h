/* The gradient of the weight for few output channels, included once an element type after conv_direct.h: inner products of
   rows of the gradient and of the slab, vector by vector, with nothing packed or transposed. A tile is FEW_ROWS output channels
   and 3 columns (c, tap); its sums are vectors, and their lanes are added at the very end. */

/* Where vectors lie: pairs of places in the slab and in a map of the gradient. `full` has those that count as a whole; where
   rows are no whole number of vectors, `edge` has one more for each, which begins early and counts in the lanes of `mask`. */
typedef struct {
    const int32_t *full, *edge;
    int64_t full_count, edge_count;
    IVEC mask;
} FN(steps);

#ifdef MASK
#define FEW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define FEW_CASES(X) X(8) X(7) X(6) X(5) X(4) X(3) X(2) X(1)
enum { FN(FEW_ROWS) = 8, FN(FEW_COLUMNS) = 3 };
#else
#define FEW(X) X(0) X(1) X(2) X(3)
#define FEW_CASES(X) X(4) X(3) X(2) X(1)
enum { FN(FEW_ROWS) = 4, FN(FEW_COLUMNS) = 3 };
#endif

GEMM_INLINE void FN(dots)(const int R, const FN(steps) *s, const T *grad, int64_t ld, const T *const *from, T *sums,
                        int64_t ld_sums)
{
    const T *x0 = from[0], *x1 = from[1], *x2 = from[2];
#define BEGIN(i) \
    VEC a##i = {0}, b##i = {0}, c##i = {0}; \
    const T *g##i = grad + (R > i ? i : 0) * ld;
#define MULTIPLY(i) \
    if (R > i) { \
        v = LOAD(g##i + at[1]); \
        GEMM_PIN(v); \
        a##i += v * u0; \
        b##i += v * u1; \
        c##i += v * u2; \
    }
#define MASKED(i) \
    if (R > i) { \
        v = (VEC)((IVEC)LOAD(g##i + at[1]) & mask); \
        a##i += v * u0; \
        b##i += v * u1; \
        c##i += v * u2; \
    }
#define END(i) \
    if (R > i) { \
        T *to = sums + i * ld_sums; \
        STORE(to, LOAD(to) + a##i); \
        STORE(to + VL, LOAD(to + VL) + b##i); \
        STORE(to + 2 * VL, LOAD(to + 2 * VL) + c##i); \
    }
    FEW(BEGIN)
    VEC u0, u1, u2, v;
    const int32_t *at = s->full;
    for (int64_t p = s->full_count; p > 0; p--, at += 2) {
        u0 = LOAD(x0 + at[0]);
        GEMM_PIN(u0);
        u1 = LOAD(x1 + at[0]);
        GEMM_PIN(u1);
        u2 = LOAD(x2 + at[0]);
        GEMM_PIN(u2);
        FEW(MULTIPLY)
    }
    const IVEC mask = s->mask;
    at = s->edge;
    for (int64_t p = s->edge_count; p > 0; p--, at += 2) {
        u0 = (VEC)((IVEC)LOAD(x0 + at[0]) & mask);
        u1 = (VEC)((IVEC)LOAD(x1 + at[0]) & mask);
        u2 = (VEC)((IVEC)LOAD(x2 + at[0]) & mask);
        FEW(MASKED)
    }
    FEW(END)
#undef BEGIN
#undef MULTIPLY
#undef MASKED
#undef END
}

GEMM_CALL void FN(dots_of)(int rows, const FN(steps) *s, const T *grad, int64_t ld, const T *const *from, T *sums,
                          int64_t ld_sums)
{
    switch (rows) {
#define CASE(R) case R: FN(dots)(R, s, grad, ld, from, sums, ld_sums); break;
        FEW_CASES(CASE)
#undef CASE
    }
}

/* Adds the products of all output channels and columns at some positions to lanes[output channel][column], vectors; `every` is
   the number of columns, a multiple of FEW_COLUMNS. */
static void FN(few_unit)(const FN(job) *g, const FN(steps) *s, const T *grad, int64_t ld, const T *slab, int64_t depth,
                         int64_t every, T *lanes)
{
    const int64_t panels = gemm_ceil(g->call->o, FN(FEW_ROWS));
    const gemm_split split = gemm_even(g->call->o, panels);
    for (int64_t i = 0; i < panels; i++) {
        const int64_t o = gemm_start(split, i);
        const int rows = (int)(split.each + (i < split.more));
        for (int64_t k = 0; k < every; k += FN(FEW_COLUMNS)) {
            const T *from[FN(FEW_COLUMNS)];
            for (int l = 0; l < FN(FEW_COLUMNS); l++) from[l] = slab + g->offsets[gemm_min(k + l, depth - 1)];
            FN(dots_of)(rows, s, grad + o * ld, ld, from, lanes + (o * every + k) * VL, every * VL);
        }
    }
}

/* The lanes added, to out[output channel][columns], written by whole vectors. Up to VL - 1 vectors beyond `lanes` are read. */
static void FN(few_sums)(int64_t outputs, const T *lanes, int64_t depth, int64_t every, int64_t columns, T *out)
{
    for (int64_t o = 0; o < outputs; o++, lanes += every * VL, out += columns)
        for (int64_t k = 0; k < depth; k += VL) {
            VEC t[VL], sum = {0};
            GEMM_PRAGMA(GCC unroll 16)
            for (int l = 0; l < VL; l++) t[l] = LOAD(lanes + (k + l) * VL);
            FN(transpose)(t);
            GEMM_PRAGMA(GCC unroll 16)
            for (int l = 0; l < VL; l++) sum += t[l];
            STORE(out + k, sum);
        }
}
#undef FEW
#undef FEW_CASES
