/* Packing of operands held as S into panels of T, included once a pair. Needs what gemm_kernel.h defines, and S,
   PACK(name), READ(p) (VL elements as a VEC), READ1(x) (one element as T)
   and NARROW (how results go back to S, NULL where S is T); READ2 and SPLIT where gemm_vector.h reads in an order of its own. */
#ifndef READ2
#define READ2(p, v) ((v)[0] = READ(p), (v)[1] = READ((p) + VL))
#define SPLIT 0
#endif

/* rows contiguous along k: VL columns are transposed at a time. A panel is as wide as it has rows, so a store of whole
   vectors spills into the next row, which is written after it; the last rows go one by one. */
GEMM_INLINE void PACK(rows)(const S *a, int64_t rs, const int rows, int64_t k, T *d)
{
    enum { GROUPS = (GEMM_MR + VL - 1) / VL };
    const int groups = (rows + VL - 1) / VL;
    int64_t p = 0;
    for (; (k - p - VL + 1) * rows >= groups * VL && p + VL <= k; p += VL) {
        VEC t[GROUPS][VL];
        for (int g = 0; g < groups; g++) {
            GEMM_PRAGMA(GCC unroll 16)
            for (int i = 0; i < VL; i++) t[g][i] = g * VL + i < rows ? READ(a + (g * VL + i) * rs + p) : (VEC){0};
            FN(transpose)(t[g]);
        }
        GEMM_PRAGMA(GCC unroll 16)
        for (int i = 0; i < VL; i++)
            for (int g = 0; g < groups; g++) STORE(d + (p + i) * rows + g * VL, t[g][i]);
    }
    for (; p < k; p++)
        for (int i = 0; i < rows; i++) d[p * rows + i] = READ1(a[i * rs + p]);
}

/* Rows next to each other: whole vectors, which spill and read on like those above; the last ones go one by one. */
GEMM_INLINE void PACK(columns)(const S *a, int64_t rs, int64_t cs, const int rows, int64_t k, T *d)
{
    enum { GROUPS = (GEMM_MR + VL - 1) / VL };
    int64_t p = 0;
    if (rs == 1 && rows > GEMM_MR - 2 && cs >= GROUPS * VL)
        for (; p < k - 1; p++)
            for (int g = 0; g < GROUPS; g++) STORE(d + p * rows + g * VL, READ(a + p * cs + g * VL));
    for (; p < k; p++)
        for (int i = 0; i < rows; i++) d[p * rows + i] = READ1(a[i * rs + p * cs]);
}

/* Some rows of A to [k][rows]. The two heights that balanced panels have get code of their own. */
GEMM_CALL void PACK(a)(const void *src, int64_t rs, int64_t cs, int rows, int64_t k, T *d)
{
    const S *a = src;
    if (cs == 1) {
        if (rows == GEMM_MR) PACK(rows)(a, rs, GEMM_MR, k, d);
        else if (rows == GEMM_MR - 1) PACK(rows)(a, rs, GEMM_MR - 1, k, d);
        else PACK(rows)(a, rs, rows, k, d);
    } else if (rs == 1 && rows == GEMM_MR) PACK(columns)(a, 1, cs, GEMM_MR, k, d);
    else if (rs == 1 && rows == GEMM_MR - 1) PACK(columns)(a, 1, cs, GEMM_MR - 1, k, d);
    else PACK(columns)(a, rs, cs, rows, k, d);
}

/* w <= NR columns of B to [k][NR], the rest 0. */
GEMM_CALL void PACK(b)(const void *src, int64_t rs, int64_t cs, int w, int64_t k, T *d)
{
    const S *b = src;
    int64_t p = 0;
    if (cs == 1 && w == NR) {
        for (; p < k; p++, b += rs, d += NR) {
            STORE(d, READ(b));
            STORE(d + VL, READ(b + VL));
        }
        return;
    }
    if (cs == 1) {
        for (; p < k; p++, b += rs, d += NR) {
            int j = w < VL ? 0 : VL;
            if (j) STORE(d, READ(b));
            for (; j < w; j++) d[j] = READ1(b[j]);
            for (; j < NR; j++) d[j] = 0;
        }
        return;
    }
    if (rs == 1) {
        for (; p + VL <= k; p += VL)
            for (int h = 0; h < NR; h += VL) {
                VEC t[VL];
                if (w == NR) {
                    GEMM_PRAGMA(GCC unroll 16)
                    for (int j = 0; j < VL; j++) t[j] = READ(b + (h + j) * cs + p);
                } else for (int j = 0; j < VL; j++) t[j] = h + j < w ? READ(b + (h + j) * cs + p) : (VEC){0};
                FN(transpose)(t);
                GEMM_PRAGMA(GCC unroll 16)
                for (int i = 0; i < VL; i++) STORE(d + (p + i) * NR + h, t[i]);
            }
    }
    for (; p < k; p++) {
        for (int j = 0; j < w; j++) d[p * NR + j] = READ1(b[p * rs + j * cs]);
        for (int j = w; j < NR; j++) d[p * NR + j] = 0;
    }
}

/* n elements in a line */
GEMM_CALL void PACK(widen)(const void *src, int64_t step, int64_t n, T *d)
{
    const S *s = src;
    int64_t i = 0;
    if (step == 1) for (; i + VL <= n; i += VL) STORE(d + i, READ(s + i));
    for (; i < n; i++) d[i] = READ1(s[i * step]);
}

#include "gemm_vector.h"

static const FN(source) PACK(source) = {sizeof(S), PACK(a), PACK(b), PACK(widen), PACK(line), PACK(dots), PACK(strip), NARROW};
#undef S
#undef PACK
#undef READ
#undef READ1
#undef READ2
#undef SPLIT
#undef NARROW

