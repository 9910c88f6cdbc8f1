/* The register tile and its vector helpers, included once an element type. Needs T, TS (T or its signed twin),
   TI (signed integer as wide as T), TBYTES and FN(name). Defines VL (lanes), NR (columns of a tile), VEC, IVEC, SVEC. */
#define VL (GEMM_LANES_BYTES / TBYTES)
#define NR (2 * VL)
#define VEC FN(vec)
#define IVEC FN(ivec)
#define SVEC FN(svec)
typedef T VEC __attribute__((vector_size(GEMM_VBYTES), aligned(TBYTES), may_alias));
typedef TI IVEC __attribute__((vector_size(GEMM_VBYTES), aligned(TBYTES), may_alias));
typedef TS SVEC __attribute__((vector_size(GEMM_VBYTES), aligned(TBYTES), may_alias));

#if VL == 2
#define LANES GEMM_LANES_2
#elif VL == 4
#define LANES GEMM_LANES_4
#elif VL == 8
#define LANES GEMM_LANES_8
#else
#define LANES GEMM_LANES_16
#endif

#define LOAD(p) (*(const VEC *)(p))
#define STORE(p, v) (*(VEC *)(p) = (v))
/* x - 0 is x for every x; 0 + x is not for -0, so the compiler would really add. */
#define SPLAT(x) ((x) - (VEC){0})
#define RELU(v) ((VEC)((IVEC)(v) & ~(IVEC)((IVEC)((SVEC)(v) < (SVEC){0}))))

#if BURN_LEVEL >= 4 && TBYTES == 4
#define MASK __mmask16
#define LOAD_MASK(mask, p) (VEC)_mm512_maskz_loadu_epi32(mask, p)
#define STORE_MASK(mask, p, v) _mm512_mask_storeu_epi32(p, mask, (__m512i)(v))
#elif BURN_LEVEL >= 4
#define MASK __mmask8
#define LOAD_MASK(mask, p) (VEC)_mm512_maskz_loadu_epi64(mask, p)
#define STORE_MASK(mask, p, v) _mm512_mask_storeu_epi64(p, mask, (__m512i)(v))
#endif

/* VL x VL transpose: stage s exchanges the off-diagonal s x s blocks of each 2s x 2s block. */
#define LOW(l, s) (((l) & (s) ? VL + (l) - (s) : (l)) % (2 * VL))
#define HIGH(l, s) (((l) & (s) ? VL + (l) : (l) + (s)) % (2 * VL))
#define STAGE(s) \
    if (VL > s) { \
        GEMM_PRAGMA(GCC unroll 16) \
        for (int i = 0; i < VL; i++) \
            if (!(i & s)) { \
                VEC x = r[i], y = r[(i + s) % VL]; \
                r[i] = GEMM_SHUFFLE(IVEC, x, y, LANES(LOW, s)); \
                r[(i + s) % VL] = GEMM_SHUFFLE(IVEC, x, y, LANES(HIGH, s)); \
            } \
    }
GEMM_INLINE void FN(transpose)(VEC *r) { STAGE(1) STAGE(2) STAGE(4) STAGE(8) }
#undef STAGE
#undef LOW
#undef HIGH

/* Where a tile goes: w columns at c, rows ldc apart. add: on top of what is there (a later block of k). near: c is not asked for
   ahead, it lies in L1. next: what will be read soon, as many rows as the tile has and next_step bytes apart; NULL for
   nothing. */
typedef struct {
    T *c;
    int64_t ldc;
    const T *bias;
    int add, act, w, near;
    const char *next;
    int64_t next_step;
} FN(target);

/* A tile with a ragged right edge: whole vectors, then what is left by a mask or one by one. */
GEMM_CALL void FN(store_edge)(const T *tile, int rows, const FN(target) *to)
{
    for (int i = 0; i < rows; i++, tile += NR) {
        T *c = to->c + i * to->ldc;
        int j = 0;
        for (; j + VL <= to->w; j += VL) {
            VEC x = LOAD(tile + j);
            if (to->add) x += LOAD(c + j);
            if (to->bias) x += LOAD(to->bias + j);
            if (to->act) x = RELU(x);
            STORE(c + j, x);
        }
#if BURN_LEVEL >= 4
        if (j < to->w) {
            const MASK mask = (MASK)((1u << (to->w - j)) - 1);
            VEC x = LOAD(tile + j);
            if (to->add) x += LOAD_MASK(mask, c + j);
            if (to->bias) x += LOAD_MASK(mask, to->bias + j);
            if (to->act) x = RELU(x);
            STORE_MASK(mask, c + j, x);
        }
#else
        for (; j < to->w; j++) {
            T x = tile[j];
            if (to->add) x += c[j];
            if (to->bias) x += to->bias[j];
            c[j] = to->act && (TS)x < 0 ? 0 : x;
        }
#endif
    }
}

/* R rows x V vectors of C; R, V and KNOWN, whether csa and rsb are constants too, are constants after inlining.
   a(i, k) = a[i * rsa + k * csa]; b(k, j) = b[k * rsb + j].
   Accumulators are separate variables: gcc keeps those in registers, an array of vectors it may not. */
GEMM_INLINE void FN(kernel)(const int R, const int V, const int KNOWN, int64_t k, const T *a, int64_t rsa, int64_t csa,
                            const T *b, int64_t rsb, const FN(target) *to)
{
    T *c = to->c;
    const int64_t ldc = to->ldc;
#define DECLARE(i, base, off) VEC x##i = {0}, y##i = {0};
#define PREFETCH(i, base, off) \
    if (R > i) { \
        __builtin_prefetch(c + i * ldc, 1); \
        if (GEMM_AHEAD && V > 1) __builtin_prefetch(c + i * ldc + VL, 1); \
    }
/* Step u of those that follow each other before pointers move. b is pinned: else gcc would read it from memory again in each
   multiply-add. */
#define ADVANCE(u) \
    { \
        const int64_t in = (u) * csa, at = (u) * rsb; \
        b0 = LOAD(b + at); \
        GEMM_PIN(b0); \
        if (GEMM_AHEAD) __builtin_prefetch(b + GEMM_AHEAD * rsb + at); \
        if (V > 1) { \
            b1 = LOAD(b + at + VL); \
            GEMM_PIN(b1); \
            if (GEMM_AHEAD) __builtin_prefetch(b + GEMM_AHEAD * rsb + at + VL); \
        } \
        GEMM_ROWS(MULTIPLY) \
    }
#define MOVE(n) \
    { \
        const int64_t by = (n) * csa; \
        GEMM_BASES(STEP) \
        b += (n) * rsb; \
    }
#define MULTIPLY(i, base, off) \
    if (R > i) { \
        VEC s = SPLAT(base[off * rsa + in]); \
        GEMM_PIN(s); \
        x##i += s * b0; \
        if (V > 1) y##i += s * b1; \
    }
#define ADD(i, base, off) if (R > i) { x##i += LOAD(c + i * ldc); if (V > 1) y##i += LOAD(c + i * ldc + VL); }
#define BIAS(i, base, off) if (R > i) { x##i += b0; if (V > 1) y##i += b1; }
#define CLIP(i, base, off) if (R > i) { x##i = RELU(x##i); if (V > 1) y##i = RELU(y##i); }
#define WRITE(i, base, off) if (R > i) { STORE(c + i * ldc, x##i); if (V > 1) STORE(c + i * ldc + VL, y##i); }
#define BASE(i) const T *a##i = a + i * rsa;
#define STEP(i) a##i += by;
    GEMM_ROWS(DECLARE)
    GEMM_BASES(BASE)
    VEC b0, b1;
    if (GEMM_AHEAD && to->next) {
        /* A few lines at a time: all at once they would keep b waiting. */
        const char *near = (const char *)c, *next = to->next;
        const int64_t steps = gemm_min(k / R, GEMM_AHEAD);
        k -= R * steps;
        for (int i = 0; i < R; i++, near += ldc * TBYTES, next += to->next_step) {
            __builtin_prefetch(near, 1);
            __builtin_prefetch(next, 0, 2);
            if (V > 1) {
                __builtin_prefetch(near + GEMM_VBYTES, 1);
                __builtin_prefetch(next + GEMM_VBYTES, 0, 2);
            }
            GEMM_PRAGMA(GCC unroll 1)
            for (int64_t step = steps; step > 0; step--) {
                ADVANCE(0)
                MOVE(1)
            }
        }
    } else if (!to->near) { GEMM_ROWS(PREFETCH) }
    if (KNOWN)
        for (; k >= GEMM_STEPS; k -= GEMM_STEPS) {
            GEMM_PRAGMA(GCC unroll 4)
            for (int u = 0; u < GEMM_STEPS; u++) ADVANCE(u)
            MOVE(GEMM_STEPS)
        }
    GEMM_UNROLL
    for (; k > 0; k--) {
        ADVANCE(0)
        MOVE(1)
    }
    T tile[GEMM_MR * NR];
    if (to->w == V * VL) {
        if (to->add) { GEMM_ROWS(ADD) }
        if (to->bias) {
            b0 = LOAD(to->bias);
            if (V > 1) b1 = LOAD(to->bias + VL);
            GEMM_ROWS(BIAS)
        }
        if (to->act) { GEMM_ROWS(CLIP) }
        GEMM_ROWS(WRITE)
    } else {
        T *const t = tile;
#define SPILL(i, base, off) if (R > i) { STORE(t + i * NR, x##i); if (V > 1) STORE(t + i * NR + VL, y##i); }
        GEMM_ROWS(SPILL)
        FN(store_edge)(tile, R, to);
    }
#undef DECLARE
#undef PREFETCH
#undef ADVANCE
#undef MOVE
#undef MULTIPLY
#undef ADD
#undef BIAS
#undef CLIP
#undef WRITE
#undef SPILL
#undef BASE
#undef STEP
}

/* Integers have sums at once: tiles of half the height keep a processor as busy, with a quarter of the code. */
#define INTEGER ((T)0.5 == 0)
#define STEADY (GEMM_STEPS > 1 && !INTEGER)
#define CASE(R, V, ...) case R: if (!INTEGER || R <= GEMM_MR / 2) FN(kernel)(R, V, 0, k, __VA_ARGS__, to); break;
#define HALVES(tile) \
    if (INTEGER && rows > GEMM_MR / 2) { \
        const int upper = rows / 2; \
        FN(target) lower = *to; \
        lower.c += upper * to->ldc; \
        if (to->next) lower.next += upper * to->next_step; \
        FN(tile)(upper, k, a, rsa, csa, b, rsb, to); \
        FN(tile)(rows - upper, k, a + upper * rsa, rsa, csa, b, rsb, &lower); \
        return; \
    }

/* Operands of any stride, b with unit stride along its rows. */
GEMM_CALL void FN(tile_strided)(int rows, int64_t k, const T *a, int64_t rsa, int64_t csa, const T *b, int64_t rsb,
                                const FN(target) *to)
{
    HALVES(tile_strided)
    if (STEADY && csa == 1 && rsb == NR && rows <= GEMM_LOW) {
        switch (rows) {
#define ROWS(R) case R: if (!INTEGER && R <= GEMM_LOW) FN(kernel)(R, 2, STEADY, k, a, rsa, 1, b, NR, to); break;
            GEMM_CASES(ROWS)
#undef ROWS
        }
        return;
    }
    switch (rows) {
#define ROWS(R) CASE(R, 2, a, rsa, csa, b, rsb)
        GEMM_CASES(ROWS)
#undef ROWS
    }
}

/* The same for up to VL columns: half of the multiplications. */
GEMM_CALL void FN(tile_narrow)(int rows, int64_t k, const T *a, int64_t rsa, int64_t csa, const T *b, int64_t rsb,
                               const FN(target) *to)
{
    HALVES(tile_narrow)
    switch (rows) {
#define ROWS(R) CASE(R, 1, a, rsa, csa, b, rsb)
        GEMM_CASES(ROWS)
#undef ROWS
    }
}

/* Both operands packed: a [k][rows], b [k][NR]. */
GEMM_CALL void FN(tile_packed)(int rows, int64_t k, const T *a, const T *b, const FN(target) *to)
{
    if (INTEGER) {
        FN(tile_strided)(rows, k, a, 1, rows, b, NR, to);
        return;
    }
    switch (rows) {
#define ROWS(R) case R: if (!INTEGER) FN(kernel)(R, 2, STEADY && R <= GEMM_LOW, k, a, 1, R, b, NR, to); break;
        GEMM_CASES(ROWS)
#undef ROWS
    }
}
#undef INTEGER
#undef STEADY
#undef HALVES
#undef CASE

/* How operands are read: packed from elements of `size` bytes; half types are rounded once on the way out. */
typedef struct {
    int64_t size;
    void (*pack_a)(const void *src, int64_t rs, int64_t cs, int rows, int64_t k, T *d);
    void (*pack_b)(const void *src, int64_t rs, int64_t cs, int w, int64_t k, T *d);
    void (*widen)(const void *src, int64_t step, int64_t n, T *d);
    void (*line)(const void *src, int64_t step, int64_t n, T *d);
    void (*dots)(const T *a, int64_t k, const void *src, int64_t cs, int64_t cols, T *out);
    void (*strip)(const T *a, int64_t k, const void *src, int64_t rs, int64_t w, T *sum);
    void (*narrow)(const T *c, void *out, int64_t rows, int64_t cols, int64_t n);
} FN(source);
