/* Sums down the columns of b, for products that do not read it once, included once an element type. Blocks of rows, as many as
   the shape says, are summed apart. */
enum { FN(COLUMN_STRIP) = 256 / TBYTES, FN(COLUMN_ROWS) = 512 };

typedef struct {
    const T *b;
    int64_t rsb, csb, k, n, strips, blocks;
    T *part;                                 /* [blocks][n] */
} FN(columns);

static void FN(columns_part)(void *ctx, int64_t task)
{
    const FN(columns) *g = ctx;
    const gemm_split rows = gemm_even(g->k, g->blocks);
    const int64_t block = task / g->strips, j = task % g->strips * FN(COLUMN_STRIP), w = gemm_min(g->n - j, FN(COLUMN_STRIP));
    T sum[FN(COLUMN_STRIP)] = {0};
    const int64_t end = gemm_start(rows, block + 1), step = g->rsb;
    int64_t p = gemm_start(rows, block);
    const T *b = g->b + p * step + j * g->csb;
    if (g->csb == 1)
        for (; p + 4 <= end; p += 4, b += 4 * step)
            for (int64_t i = 0; i < w; i++) sum[i] += (b[i] + b[step + i]) + (b[2 * step + i] + b[3 * step + i]);
    for (; p < end; p++, b += step)
        for (int64_t i = 0; i < w; i++) sum[i] += b[i * g->csb];
    memcpy(g->part + block * g->n + j, sum, (size_t)w * sizeof(T));
}

static int FN(columns_run)(const T *b, int64_t rsb, int64_t csb, int64_t k, int64_t n, T *sums, int64_t *wanted)
{
    FN(columns) g = {b, rsb, csb, k, n, gemm_ceil(n, FN(COLUMN_STRIP)), gemm_max(1, k / FN(COLUMN_ROWS)), sums};
    const size_t bytes = (size_t)(g.blocks * n) * sizeof(T);
    if (g.blocks > 1 && !(g.part = gemm_rt->alloc(bytes))) {
        *wanted = (int64_t)bytes;
        return BURN_ERR_MEMORY;
    }
    gemm_spread(FN(columns_part), &g, g.strips * g.blocks, k * n < GEMM_SERIAL ? 1 : gemm_rt->threads());
    if (g.part == sums) return BURN_OK;
    for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t i = 0; i < g.blocks; i++) sum += g.part[i * n + j];
        sums[j] = (T)sum;
    }
    gemm_rt->free(g.part, bytes);
    return BURN_OK;
}
