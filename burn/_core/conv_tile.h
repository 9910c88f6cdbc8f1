/* The register tile of convolutions, included once an element type after gemm_kernel.h: rows are output channels, columns two
   groups of VL positions that need not lie side by side, or three where there are few rows. */

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
   part: sums so far, [rows][groups][VL], read where `more` and kept there where `keep`. add: on top of what is at y.
   around: whole tiles of packed sums go around the caches, to rows that begin with whole lines. */
typedef struct {
    T *y[3];
    int64_t ld;
    const FN(lanes) *order[3];
    int w[3], room[3];
    const T *bias; /* of the first row, or NULL */
    T *part;
    int add, more, keep, around;
} FN(goal);

GEMM_CALL void FN(goal_edge)(T *tile, int rows, int groups, const FN(goal) *to)
{
    for (int i = 0; i < rows; i++)
        for (int h = 0; h < groups; h++) {
            T *y = to->y[h] + i * to->ld, *t = tile + (i * groups + h) * VL;
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
GEMM_INLINE void FN(sums)(const int R, const int V, const int PACKED, int64_t k, const T *a, const T *const *b,
                          const int32_t *off, const FN(goal) *to)
{
#define DECLARE(i, base, o) VEC x##i = {0}, y##i = {0}, z##i = {0};
#define MULTIPLY(i, base, o) \
    if (R > i) { \
        VEC s = SPLAT(base[o]); \
        GEMM_PIN(s); \
        x##i += s * b0; \
        y##i += s * b1; \
        if (V > 2) z##i += s * b2; \
    }
#define BASE(i) const T *a##i = a + i;
#define STEP(i) a##i += R;
#define LAST(i, base, o) \
    if (R > i) { \
        x##i += LOAD(part + i * V * VL); \
        y##i += LOAD(part + i * V * VL + VL); \
        if (V > 2) z##i += LOAD(part + i * V * VL + 2 * VL); \
    }
#define SPILL(i, base, o) \
    if (R > i) { \
        STORE(part + i * V * VL, x##i); \
        STORE(part + i * V * VL + VL, y##i); \
        if (V > 2) STORE(part + i * V * VL + 2 * VL, z##i); \
    }
    const T *const b_0 = b[0], *const b_1 = PACKED ? b_0 + VL : b[1], *const b_2 = V > 2 ? b[2] : NULL;
    GEMM_ROWS(DECLARE)
    GEMM_BASES(BASE)
    VEC b0, b1, b2;
    GEMM_UNROLL
    for (int64_t p = 0; p < k; p++) {
        const int64_t at = PACKED ? p * NR : off[p];
        b0 = LOAD(b_0 + at);
        GEMM_PIN(b0);
        b1 = LOAD(b_1 + at);
        GEMM_PIN(b1);
        if (V > 2) {
            b2 = LOAD(b_2 + at);
            GEMM_PIN(b2);
        }
        GEMM_ROWS(MULTIPLY)
        GEMM_BASES(STEP)
    }
    T *part = to->part;
    if (to->more) { GEMM_ROWS(LAST) }
    if (to->keep) {
        GEMM_ROWS(SPILL)
    } else if (to->room[0] >= VL && to->room[1] >= VL && (V < 3 || to->room[2] >= VL)) {
        const int64_t ld = to->ld;
        T *t0 = to->y[0], *t1 = to->y[1], *t2 = to->y[2];
#define ORDER(i, base, o) \
    if (R > i) { \
        x##i = FN(in_order)(x##i, o0); \
        y##i = FN(in_order)(y##i, o1); \
        if (V > 2) z##i = FN(in_order)(z##i, o2); \
    }
#define ADD(i, base, o) \
    if (R > i) { \
        x##i += LOAD(t0 + i * ld); \
        y##i += LOAD(t1 + i * ld); \
        if (V > 2) z##i += LOAD(t2 + i * ld); \
    }
#define BIAS(i, base, o) \
    if (R > i) { \
        const VEC s = SPLAT(to->bias[i]); \
        x##i += s; \
        y##i += s; \
        if (V > 2) z##i += s; \
    }
#define WRITE(i, base, o) \
    if (R > i) { \
        STORE(t0 + i * ld, x##i); \
        STORE(t1 + i * ld, y##i); \
        if (V > 2) STORE(t2 + i * ld, z##i); \
    }
#define AROUND(i, base, o) \
    if (R > i) { \
        vf_stream((float *)(t0 + i * ld), (vf)x##i); \
        vf_stream((float *)(t1 + i * ld), (vf)y##i); \
    }
        if (to->bias) { GEMM_ROWS(BIAS) }
        if (to->order[0]) {
            const IVEC o0 = to->order[0]->order, o1 = to->order[1]->order, o2 = to->order[V - 1]->order;
            GEMM_ROWS(ORDER)
        }
        if (to->add) { GEMM_ROWS(ADD) }
        if (PACKED && to->around) { GEMM_ROWS(AROUND) } else { GEMM_ROWS(WRITE) }
    } else {
        GEMM_ROWS(SPILL)
        FN(goal_edge)(part, R, V, to);
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
#undef AROUND
}

/* groups: 2, or 3 where there are up to GEMM_THREE rows */
GEMM_CALL void FN(sums_by_offsets)(int rows, int groups, int64_t k, const T *a, const T *const *b, const int32_t *off,
                                   const FN(goal) *to)
{
#if GEMM_THREE
    if (groups == 3) {
        switch (rows) {
        case 4: FN(sums)(4, 3, 0, k, a, b, off, to); break;
        case 3: FN(sums)(3, 3, 0, k, a, b, off, to); break;
        case 2: FN(sums)(2, 3, 0, k, a, b, off, to); break;
        default: FN(sums)(1, 3, 0, k, a, b, off, to);
        }
        return;
    }
#else
    (void)groups;
#endif
    switch (rows) {
#define CASE(R) case R: FN(sums)(R, 2, 0, k, a, b, off, to); break;
        GEMM_CASES(CASE)
#undef CASE
    }
}

GEMM_CALL void FN(sums_packed)(int rows, int64_t k, const T *a, const T *b, const FN(goal) *to)
{
    switch (rows) {
#define CASE(R) case R: FN(sums)(R, 2, 1, k, a, &b, NULL, to); break;
        GEMM_CASES(CASE)
#undef CASE
    }
}
