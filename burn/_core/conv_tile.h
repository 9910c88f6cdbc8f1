/* The register tile of convolutions, included once an element type after gemm_kernel.h: rows are output channels, columns two
   groups of VL positions that need not lie side by side. */

/* The lanes of a group that are positions, first to last; the others lie between rows. */
typedef struct {
    IVEC order;
    int32_t count, at; /* how many, and how many come before this group */
} FN(lanes);

GEMM_INLINE VEC FN(in_order)(VEC x, IVEC order)
{
#ifdef __clang__
    const VEC from = x;
    for (int l = 0; l < VL; l++) x[l] = from[order[l]];
    return x;
#else
    return __builtin_shuffle(x, order);
#endif
}

/* Where a tile goes: a group at y[h], with w[h] elements that are the lanes in order[h], or the first ones where that is NULL.
   As many as room[h] elements may be written: those after w[h] are written again later. Rows are ld apart.
   part: sums so far, [rows][NR], read where `more` and kept there where `keep`. add: on top of what is at y. */
typedef struct {
    T *y[2];
    int64_t ld;
    const FN(lanes) *order[2];
    int w[2], room[2];
    const T *bias; /* of the first row, or NULL */
    T *part;
    int add, more, keep;
} FN(goal);

GEMM_CALL void FN(goal_edge)(T *tile, int rows, const FN(goal) *to)
{
    for (int i = 0; i < rows; i++)
        for (int h = 0; h < 2; h++) {
            T *y = to->y[h] + i * to->ld, *t = tile + i * NR + h * VL;
            VEC x = LOAD(t) + SPLAT(to->bias ? to->bias[i] : 0);
            if (to->order[h]) x = FN(in_order)(x, to->order[h]->order);
            if (to->room[h] >= VL) {
                if (to->add) x += LOAD(y);
                STORE(y, x);
                continue;
            }
            STORE(t, x);
            if (to->add) for (int j = 0; j < to->w[h]; j++) y[j] += t[j];
            else for (int j = 0; j < to->w[h]; j++) y[j] = t[j];
        }
}

/* a is packed [k][R]. Group h of step k of b lies at b[h] + off[k], or packed, both groups of it together, at b[0] + k * NR. */
GEMM_INLINE void FN(sums)(const int R, const int PACKED, int64_t k, const T *a, const T *b_0, const T *b_1,
                          const int32_t *off, const FN(goal) *to)
{
#define DECLARE(i, base, o) VEC x##i = {0}, z##i = {0};
#define MULTIPLY(i, base, o) \
    if (R > i) { \
        VEC s = SPLAT(base[o]); \
        GEMM_PIN(s); \
        x##i += s * b0; \
        z##i += s * b1; \
    }
#define BASE(i) const T *a##i = a + i;
#define STEP(i) a##i += R;
#define LAST(i, base, o) if (R > i) { x##i += LOAD(part + i * NR); z##i += LOAD(part + i * NR + VL); }
#define SPILL(i, base, o) if (R > i) { STORE(part + i * NR, x##i); STORE(part + i * NR + VL, z##i); }
    GEMM_ROWS(DECLARE)
    GEMM_BASES(BASE)
    VEC b0, b1;
    GEMM_UNROLL
    for (int64_t p = 0; p < k; p++) {
        const int64_t at = PACKED ? p * NR : off[p];
        b0 = LOAD(b_0 + at);
        GEMM_PIN(b0);
        b1 = LOAD((PACKED ? b_0 + VL : b_1) + at);
        GEMM_PIN(b1);
        GEMM_ROWS(MULTIPLY)
        GEMM_BASES(STEP)
    }
    T *part = to->part;
    if (to->more) { GEMM_ROWS(LAST) }
    if (to->keep) {
        GEMM_ROWS(SPILL)
    } else if (to->room[0] >= VL && to->room[1] >= VL) {
        const int64_t ld = to->ld;
        T *y0 = to->y[0], *y1 = to->y[1];
#define ORDER(i, base, o) if (R > i) { x##i = FN(in_order)(x##i, o0); z##i = FN(in_order)(z##i, o1); }
#define ADD(i, base, o) if (R > i) { x##i += LOAD(y0 + i * ld); z##i += LOAD(y1 + i * ld); }
#define BIAS(i, base, o) if (R > i) { x##i += SPLAT(to->bias[i]); z##i += SPLAT(to->bias[i]); }
#define WRITE(i, base, o) if (R > i) { STORE(y0 + i * ld, x##i); STORE(y1 + i * ld, z##i); }
        if (to->bias) { GEMM_ROWS(BIAS) }
        if (to->order[0]) {
            const IVEC o0 = to->order[0]->order, o1 = to->order[1]->order;
            GEMM_ROWS(ORDER)
        }
        if (to->add) { GEMM_ROWS(ADD) }
        GEMM_ROWS(WRITE)
    } else {
        GEMM_ROWS(SPILL)
        FN(goal_edge)(part, R, to);
    }
#undef DECLARE
#undef MULTIPLY
#undef BASE
#undef STEP
#undef LAST
#undef SPILL
#undef ORDER
#undef ADD
#undef BIAS
#undef WRITE
}

GEMM_CALL void FN(sums_by_offsets)(int rows, int64_t k, const T *a, const T *b0, const T *b1, const int32_t *off,
                                   const FN(goal) *to)
{
    switch (rows) {
#define CASE(R) case R: FN(sums)(R, 0, k, a, b0, b1, off, to); break;
        GEMM_CASES(CASE)
#undef CASE
    }
}

GEMM_CALL void FN(sums_packed)(int rows, int64_t k, const T *a, const T *b, const FN(goal) *to)
{
    switch (rows) {
#define CASE(R) case R: FN(sums)(R, 1, k, a, b, b, NULL, to); break;
        GEMM_CASES(CASE)
#undef CASE
    }
}
