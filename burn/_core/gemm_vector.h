/* One row times a matrix, which is read once and as it lies: memory bound. Included by gemm_pack.h once a pair of S and T.

   READ2(p, v) reads two vectors in an order of the source's own; SPLIT says that it is the even elements, then the odd ones,
   as bf16 take no shuffle so. For dot products `line` brings the row into the same order. */

/* n elements of the row, `step` apart. */
GEMM_CALL void PACK(line)(const void *src, int64_t step, int64_t n, T *d)
{
    const S *s = src;
    int64_t i = 0;
    for (; i + 2 * VL <= n; i += 2 * VL) {
        S near[2 * VL];
        const S *p = s + i;
        if (step != 1) {
            for (int j = 0; j < 2 * VL; j++) near[j] = s[(i + j) * step];
            p = near;
        }
        VEC v[2];
        READ2(p, v);
        STORE(d + i, v[0]);
        STORE(d + i + VL, v[1]);
    }
    for (; i < n; i++) d[i] = READ1(s[i * step]);
}

/* R dot products of a with columns of b, w of them different; lines of b are asked for ahead, at the end of columns those of
   the next ones. */
GEMM_INLINE void PACK(dots_of)(const int R, const T *a, int64_t k, const S *b, int64_t cs, int w, T *out)
{
    enum { LINE = 64 / sizeof(S), AHEAD = GEMM_DOTS_AHEAD / sizeof(S) };
    const S *p[GEMM_DOTS];
    VEC s[GEMM_DOTS][2];
    for (int q = 0; q < R; q++) {
        p[q] = b + (q < w ? q : 0) * cs;
        s[q][0] = s[q][1] = (VEC){0};
    }
    int64_t i = 0;
    for (; i + 2 * VL <= k; i += 2 * VL) {
        const VEC x = LOAD(a + i), y = LOAD(a + i + VL);
        const int64_t soon = i + AHEAD < k ? i + AHEAD : i + AHEAD - k + R * cs;
        GEMM_PRAGMA(GCC unroll 8)
        for (int q = 0; q < R; q++) {
            if (AHEAD) for (int l = 0; l < 2 * VL; l += LINE) __builtin_prefetch(p[q] + soon + l);
            VEC v[2];
            READ2(p[q] + i, v);
            s[q][0] += x * v[0];
            s[q][1] += y * v[1];
        }
    }
    for (int q = 0; q < w; q++) {
        const VEC v = s[q][0] + s[q][1];
        T sum = 0, rest = 0;
        for (int l = 0; l < VL; l++) sum += v[l];
        for (int64_t t = i; t < k; t++) rest += a[t] * READ1(p[q][t]);
        out[q] = sum + rest;
    }
}

/* b by columns `cs` apart: dot products, some at a time to share the loads of a. */
GEMM_CALL void PACK(dots)(const T *a, int64_t k, const void *src, int64_t cs, int64_t cols, T *out)
{
    const S *b = src;
    for (int64_t j = 0; j < cols; j += GEMM_DOTS) {
        const int w = (int)gemm_min(cols - j, GEMM_DOTS);
        if (w > 1) PACK(dots_of)(GEMM_DOTS, a, k, b + j * cs, cs, w, out + j);
        else PACK(dots_of)(1, a, k, b + j * cs, cs, 1, out + j);
    }
}

/* R rows of b added to a strip of sums: pairs of vectors in the order of READ2, the rest as it is. */
#define LANE(l, s) l
GEMM_INLINE void PACK(rows_of)(const int R, const T *a, const S *b, int64_t rs, int64_t w, T *restrict sum)
{
    T s[8];
    for (int i = 0; i < R; i++) s[i] = a[i];
    int64_t j = 0;
    for (; j + 2 * VL <= w; j += 2 * VL) {
        VEC x = {0}, y = {0};
        GEMM_PRAGMA(GCC unroll 8)
        for (int i = 0; i < R; i++) {
            VEC v[2];
            READ2(b + i * rs + j, v);
            x += SPLAT(s[i]) * v[0];
            y += SPLAT(s[i]) * v[1];
        }
        STORE(sum + j, LOAD(sum + j) + x);
        STORE(sum + j + VL, LOAD(sum + j + VL) + y);
    }
    if (j + VL <= w) {
        VEC x = {0};
        GEMM_PRAGMA(GCC unroll 8)
        for (int i = 0; i < R; i++) x += SPLAT(s[i]) * READ(b + i * rs + j);
        STORE(sum + j, LOAD(sum + j) + x);
        j += VL;
    }
    if (j < w && w >= VL) { /* the last vector again, for what is new of it */
        VEC x = {0};
        GEMM_PRAGMA(GCC unroll 8)
        for (int i = 0; i < R; i++) x += SPLAT(s[i]) * READ(b + i * rs + w - VL);
        const IVEC fresh = (IVEC){LANES(LANE, 0)} >= (TI)(VL - (w - j));
        STORE(sum + w - VL, LOAD(sum + w - VL) + (VEC)((IVEC)x & fresh));
        return;
    }
    for (; j < w; j++) {
        T x = 0;
        for (int i = 0; i < R; i++) x += s[i] * READ1(b[i * rs + j]);
        sum[j] += x;
    }
}

#undef LANE

/* b by rows `rs` apart: w sums stay in L1 while rows are added, eight at a time: less traffic and less rounding. */
GEMM_CALL void PACK(strip)(const T *a, int64_t k, const void *src, int64_t rs, int64_t w, T *restrict sum)
{
    const S *b = src;
    memset(sum, 0, w * sizeof(T));
    int64_t p = 0;
    for (; p + 8 <= k; p += 8) PACK(rows_of)(8, a + p, b + p * rs, rs, w, sum);
    for (; p < k; p++) PACK(rows_of)(1, a + p, b + p * rs, rs, w, sum);
    if (SPLIT)
        for (int64_t j = 0; j + 2 * VL <= w; j += 2 * VL) {
            T both[2 * VL];
            for (int i = 0; i < VL; i++) {
                both[2 * i] = sum[j + i];
                both[2 * i + 1] = sum[j + VL + i];
            }
            memcpy(sum + j, both, sizeof both);
        }
}
