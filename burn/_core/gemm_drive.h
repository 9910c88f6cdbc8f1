/* From a call to register tiles, included once an element type. The ways, chosen by shape:
   VECTOR  one row: memory bound, b is read once;
   DIRECT  b fits L2, or very few rows use it: nothing is packed but a ragged last panel; a large b is then read once, some
           rows of a strip of columns at a time;
   PANELS  a fits L2: panels of b are packed in private memory right before their use, one parallel region;
   SLABS   k is long, or long against a short side (gemm_slabs.h);
   STREAM  each thread holds a block of b, rows of a go by (gemm_stream.h);
   BLOCKS  both are packed whole (one region), then blocks of c are computed (another); rows of a stay where b is narrow.
   The order in which an element of c is summed depends on the shape alone: DIRECT, PANELS, STREAM and BLOCKS cut k alike, so
   the number of threads may choose among them. */
enum { FN(DIRECT), FN(PANELS), FN(BLOCKS), FN(SLABS), FN(STREAM), FN(VECTOR) };

typedef struct {
    int64_t m, n, k;
    const char *a, *b;                       /* of source->size bytes an element */
    int64_t rsa, csa, rsb, csb, bias_stride;
    T *c;
    const T *bias;
    const FN(source) *source;
    void *half;                              /* where c goes in the end, rounded; NULL where c is the result */
    int act, threads, way, pack_a, late, by_rows, streamed;
    gemm_split rows;                         /* row panels */
    int64_t mp, np, kc, slab, at;            /* panels, block and slab of k, start of the slab */
    int64_t mt, nt;                          /* blocks of c */
    int64_t parts, pa_size, pb_size;         /* chunks of the parallel region; elements of scratch */
    int64_t taken;                           /* tasks of STREAM that have an owner */
    int hold_b;                              /* of SLABS: b is the operand that stays */
    int64_t chunks, ranges;                  /* chunks of k, ranges of the long side */
    int64_t group_count, held_size, group_size, done_at;
    int32_t *done;                           /* of each chunk's groups twice the blocks of k that are done, one more at work */
    T *sums;                                 /* of columns of b, or NULL; needs scratch at the end of pb */
    gemm_split groups;                       /* of panels of the long side */
    int64_t strip;                           /* of VECTOR: columns of a part */
    T *pa, *pb;
} FN(job);

GEMM_INLINE const T *FN(at_a)(const FN(job) *g, int64_t i, int64_t k)
{
    return (const T *)(g->a + (i * g->rsa + k * g->csa) * g->source->size);
}

GEMM_INLINE const T *FN(at_b)(const FN(job) *g, int64_t k, int64_t j)
{
    return (const T *)(g->b + (k * g->rsb + j * g->csb) * g->source->size);
}

GEMM_INLINE int FN(width)(const FN(job) *g, int64_t j) { return (int)gemm_min(g->n - j * NR, NR); }
GEMM_INLINE int FN(height)(const FN(job) *g, int64_t i) { return (int)(g->rows.each + (i < g->rows.more)); }

/* The tile at row i and column panel j, whose products begin at element k of the sums and end before k_end. */
GEMM_INLINE FN(target) FN(aim)(const FN(job) *g, int64_t i, int64_t j, int64_t k, int64_t k_end)
{
    const int last = k_end >= g->k;
    return (FN(target)){.c = g->c + i * g->n + j * NR,
                        .ldc = g->n,
                        .bias = last && g->bias ? g->bias + j * NR : NULL,
                        .add = k > 0,
                        .act = last && g->act,
                        .w = FN(width)(g, j)};
}

/* Lets a tile of row panel i ask for its share of the panel after it: the lines at column panel j, which tiles see one after
   another. */
GEMM_INLINE void FN(foresee)(const FN(job) *g, FN(target) *to, int64_t i, int64_t j, int64_t k0, int64_t k1)
{
    if (g->csa != 1 || j * NR >= k1 - k0) return;
    to->next = (const char *)FN(at_a)(g, gemm_start(g->rows, i), k0 + j * NR);
    to->next_step = g->rsa * g->source->size;
}

GEMM_INLINE void FN(round)(const FN(job) *g, int64_t i, int64_t rows, int64_t j, int64_t cols)
{
    if (g->half) g->source->narrow(g->c + i * g->n + j, (uint16_t *)g->half + i * g->n + j, rows, cols, g->n);
}

/* ---- VECTOR */

enum { FN(STRIP) = 8192 / TBYTES, FN(DOTS) = 64 }; /* columns at most */

GEMM_INLINE void FN(finish)(const FN(job) *g, int64_t j, T sum)
{
    if (g->bias) sum += g->bias[j * g->bias_stride];
    g->c[j] = g->act && (TS)sum < 0 ? 0 : sum;
}

static void FN(strip)(void *ctx, int64_t part)
{
    const FN(job) *g = ctx;
    const int64_t j0 = part * g->strip, w = gemm_min(g->n - j0, g->strip);
    T sum[FN(STRIP)];
    g->source->strip((const T *)g->a, g->k, FN(at_b)(g, 0, j0), g->rsb, w, sum);
    for (int64_t j = 0; j < w; j++) FN(finish)(g, j0 + j, sum[j]);
    FN(round)(g, 0, 1, j0, w);
}

static void FN(dots)(void *ctx, int64_t part)
{
    const FN(job) *g = ctx;
    const gemm_split split = gemm_even(gemm_ceil(g->n, GEMM_DOTS), g->parts);
    const int64_t begin = gemm_start(split, part) * GEMM_DOTS;
    const int64_t end = gemm_min(gemm_start(split, part + 1) * GEMM_DOTS, g->n);
    for (int64_t j0 = begin; j0 < end; j0 += FN(DOTS)) {
        const int64_t w = gemm_min(end - j0, FN(DOTS));
        T sum[FN(DOTS)];
        g->source->dots((const T *)g->a, g->k, FN(at_b)(g, 0, j0), g->csb, w, sum);
        for (int64_t j = 0; j < w; j++) FN(finish)(g, j0 + j, sum[j]);
        FN(round)(g, 0, 1, j0, w);
    }
}

/* ---- DIRECT */

/* A last panel that is neither a whole tile nor a whole vector cannot be read in place. */
GEMM_INLINE int FN(ragged)(const FN(job) *g) { return g->n % NR && g->n % NR != VL; }

GEMM_INLINE void FN(direct_piece)(const FN(job) *g, int64_t i, int64_t j, int64_t k0, int64_t k1)
{
    const int64_t i0 = gemm_start(g->rows, i);
    const int w = FN(width)(g, j), packed = w != NR && w != VL;
    FN(target) to = FN(aim)(g, i0, j, k0, k1);
    if (GEMM_AHEAD && g->by_rows && i + 1 < g->mp) FN(foresee)(g, &to, i + 1, j, k0, k1);
    const T *b = packed ? g->pb + k0 * NR : FN(at_b)(g, k0, j * NR);
    (w > VL ? FN(tile_strided) : FN(tile_narrow))(FN(height)(g, i), k1 - k0, FN(at_a)(g, i0, k0), g->rsa, g->csa, b,
                                                  packed ? NR : g->rsb, &to);
}

GEMM_INLINE void FN(direct_tile)(const FN(job) *g, int64_t i, int64_t j)
{
    int64_t k0 = 0;
    do {
        const int64_t k1 = gemm_min(k0 + g->kc, g->k);
        FN(direct_piece)(g, i, j, k0, k1);
        k0 = k1;
    } while (k0 < g->k);
}

/* Which panels are shared out among threads. A long a goes by once; else those that leave nobody idle. */
GEMM_INLINE int FN(by_rows)(const FN(job) *g, int threads)
{
    if (g->np < threads || g->mp >= 8 * threads) return 1;
    if (g->mp < 2 * threads || !GEMM_ROWS_OUTSIDE) return g->mp >= 2 * threads;
    return gemm_ceil(g->mp, threads) * g->np <= gemm_ceil(g->np, threads) * g->mp;
}

/* Few rows of a and a b from memory: a strip of c stays in L1 or L2 while rows of b go by. */
enum { FN(STREAM_PANELS) = 4096 / TBYTES / NR, FN(STREAM_DEPTH) = 16 };

GEMM_INLINE void FN(direct_streamed)(const FN(job) *g, int64_t j0, int64_t j1)
{
    for (int64_t at = j0; at < j1; at += FN(STREAM_PANELS))
        for (int64_t k0 = 0; k0 < g->k; k0 += FN(STREAM_DEPTH))
            for (int64_t j = at; j < gemm_min(at + FN(STREAM_PANELS), j1); j++)
                for (int64_t i = 0; i < g->mp; i++)
                    FN(direct_piece)(g, i, j, k0, gemm_min(k0 + FN(STREAM_DEPTH), g->k));
}

static void FN(direct)(void *ctx, int64_t part)
{
    const FN(job) *g = ctx;
    if (g->by_rows) {
        const gemm_split split = gemm_even(g->mp, g->parts);
        for (int64_t i = gemm_start(split, part); i < gemm_start(split, part + 1); i++)
            for (int64_t j = 0; j < g->np; j++) FN(direct_tile)(g, i, j);
    } else {
        const gemm_split split = gemm_even(g->np, g->parts);
        const int64_t begin = gemm_start(split, part), end = gemm_start(split, part + 1);
        if (g->streamed) FN(direct_streamed)(g, begin, end);
        else
            for (int64_t j = begin; j < end; j++)
                for (int64_t i = 0; i < g->mp; i++) FN(direct_tile)(g, i, j);
    }
}

/* ---- PANELS */

static void FN(pack_a_part)(void *ctx, int64_t part)
{
    const FN(job) *g = ctx;
    const gemm_split split = gemm_even(g->mp, g->parts);
    for (int64_t i = gemm_start(split, part); i < gemm_start(split, part + 1); i++) {
        const int64_t i0 = gemm_start(g->rows, i);
        g->source->pack_a(FN(at_a)(g, i0, 0), g->rsa, g->csa, FN(height)(g, i), g->k, g->pa + i0 * g->k);
    }
}

/* Columns of b in panels j0..j1, rows k0..k1, to [panel][k1 - k0][NR]. */
GEMM_INLINE void FN(pack_b_group)(const FN(job) *g, int64_t j0, int64_t j1, int64_t k0, int64_t k1, T *d)
{
    const int64_t run = g->csb == 1 && j1 - j0 > 1 ? 16 : k1 - k0; /* few rows over all panels: longer runs of a row */
    for (int64_t k = k0; k < k1; k += run)
        for (int64_t j = j0; j < j1; j++)
            g->source->pack_b(FN(at_b)(g, k, j * NR), g->rsb, g->csb, FN(width)(g, j), gemm_min(k1 - k, run),
                              d + ((j - j0) * (k1 - k0) + k - k0) * NR);
}

static void FN(panels)(void *ctx, int64_t part)
{
    const FN(job) *g = ctx;
    const gemm_split split = gemm_even(g->np, g->parts);
    T *const pb = g->pb + part * GEMM_GROUP * NR * g->kc;
    const int64_t end = gemm_start(split, part + 1);
    for (int64_t j0 = gemm_start(split, part); j0 < end; j0 += GEMM_GROUP) {
        const int64_t j1 = gemm_min(j0 + GEMM_GROUP, end);
        int64_t k0 = 0;
        do {
            const int64_t k1 = gemm_min(k0 + g->kc, g->k), kk = k1 - k0;
            FN(pack_b_group)(g, j0, j1, k0, k1, pb);
            for (int64_t j = j0; j < j1; j++)
                for (int64_t i = 0; i < g->mp; i++) {
                    const int64_t i0 = gemm_start(g->rows, i);
                    const int r = FN(height)(g, i);
                    const FN(target) to = FN(aim)(g, i0, j, k0, k1);
                    const T *b = pb + (j - j0) * kk * NR;
                    if (g->pack_a) FN(tile_packed)(r, kk, g->pa + i0 * g->k + k0 * r, b, &to);
                    else FN(tile_strided)(r, kk, FN(at_a)(g, i0, k0), g->rsa, g->csa, b, NR, &to);
                }
            k0 = k1;
        } while (k0 < g->k);
        FN(round)(g, 0, g->m, j0 * NR, gemm_min(j1 * NR, g->n) - j0 * NR);
    }
}

/* ---- BLOCKS */

/* Whether columns of a lie in one piece each. */
GEMM_INLINE int FN(a_by_depth)(const FN(job) *g) { return g->rsa == 1 && g->csa != 1; }

/* Row panels i0..i1 of a, columns k0..k1, to [panel][k1 - k0][height]. */
GEMM_INLINE void FN(pack_a_group)(const FN(job) *g, int64_t i0, int64_t i1, int64_t k0, int64_t k1, T *d)
{
    const int64_t run = FN(a_by_depth)(g) ? 32 : k1 - k0, first = gemm_start(g->rows, i0);
    for (int64_t k = k0; k < k1; k += run)
        for (int64_t i = i0; i < i1; i++) {
            const int64_t row = gemm_start(g->rows, i);
            const int r = FN(height)(g, i);
            g->source->pack_a(FN(at_a)(g, row, k), g->rsa, g->csa, r, gemm_min(k1 - k, run),
                              d + (row - first) * (k1 - k0) + (k - k0) * r);
        }
}

enum { FN(PACK_ROWS) = 4, FN(PACK_DEPTH) = 16 };

/* Tasks: slices of a, then of b, by what is contiguous: some of k for all panels, or some panels for all of k. */
GEMM_INLINE int64_t FN(a_tasks)(const FN(job) *g, int64_t slab)
{
    if (!g->pack_a || g->late) return 0;
    return FN(a_by_depth)(g) ? gemm_ceil(slab, FN(PACK_DEPTH)) : gemm_ceil(g->mp, FN(PACK_ROWS));
}

static void FN(pack_slab)(void *ctx, int64_t task)
{
    const FN(job) *g = ctx;
    const int64_t k0 = g->at, k1 = gemm_min(k0 + g->slab, g->k), kk = k1 - k0, a_tasks = FN(a_tasks)(g, kk);
    if (task < a_tasks && FN(a_by_depth)(g)) {
        const int64_t k = k0 + task * FN(PACK_DEPTH), depth = gemm_min(k1 - k, FN(PACK_DEPTH));
        for (int64_t i = 0; i < g->mp; i++) {
            const int64_t i0 = gemm_start(g->rows, i);
            const int r = FN(height)(g, i);
            g->source->pack_a(FN(at_a)(g, i0, k), 1, g->csa, r, depth, g->pa + i0 * kk + (k - k0) * r);
        }
    } else if (task < a_tasks) {
        for (int64_t i = task * FN(PACK_ROWS); i < gemm_min((task + 1) * FN(PACK_ROWS), g->mp); i++) {
            const int64_t i0 = gemm_start(g->rows, i);
            g->source->pack_a(FN(at_a)(g, i0, k0), g->rsa, g->csa, FN(height)(g, i), kk, g->pa + i0 * kk);
        }
    } else if (g->csb == 1) {
        const int64_t k = k0 + (task - a_tasks) * FN(PACK_DEPTH), depth = gemm_min(k1 - k, FN(PACK_DEPTH));
        for (int64_t j = 0; j < g->np; j++)
            g->source->pack_b(FN(at_b)(g, k, j * NR), g->rsb, 1, FN(width)(g, j), depth,
                              g->pb + (j * kk + k - k0) * NR);
    } else {
        const int64_t j = task - a_tasks;
        g->source->pack_b(FN(at_b)(g, k0, j * NR), g->rsb, g->csb, FN(width)(g, j), kk, g->pb + j * kk * NR);
    }
}

enum { FN(LAST_PARTS) = 4 };

/* The last block of each of several threads is cut into so many tasks: who is late then keeps the others waiting for less. */
GEMM_INLINE int64_t FN(last_blocks)(const FN(job) *g) { return g->threads > 1 ? gemm_min(g->mt * g->nt, g->threads) : 0; }

static void FN(block)(void *ctx, int64_t task)
{
    const FN(job) *g = ctx;
    const gemm_split down = gemm_even(g->mp, g->mt), across = gemm_even(g->np, g->nt);
    const int64_t whole = g->mt * g->nt - FN(last_blocks)(g), beyond = task - whole;
    const int64_t at = beyond < 0 ? task : whole + beyond / FN(LAST_PARTS);
    const int64_t ti = at % g->mt, tj = at / g->mt, slab = gemm_min(g->slab, g->k - g->at);
    int64_t i_begin = gemm_start(down, ti), i_end = gemm_start(down, ti + 1);
    if (beyond >= 0) {
        const gemm_split parts = gemm_even(i_end - i_begin, FN(LAST_PARTS));
        i_end = i_begin + gemm_start(parts, beyond % FN(LAST_PARTS) + 1);
        i_begin += gemm_start(parts, beyond % FN(LAST_PARTS));
    }
    const int64_t j_begin = gemm_start(across, tj), j_end = gemm_start(across, tj + 1);
    if (g->late) FN(pack_a_group)(g, i_begin, i_end, 0, slab, g->pa + gemm_start(g->rows, i_begin) * slab);
    for (int64_t k0 = 0; k0 < slab; k0 += g->kc) {
        const int64_t k1 = gemm_min(k0 + g->kc, slab);
#if GEMM_ROWS_OUTSIDE
        for (int64_t i = i_begin; i < i_end; i++)
            for (int64_t j = j_begin; j < j_end; j++) {
#else
        for (int64_t j = j_begin; j < j_end; j++)
            for (int64_t i = i_begin; i < i_end; i++) {
#endif
                const int64_t i0 = gemm_start(g->rows, i);
                const int r = FN(height)(g, i);
                const FN(target) to = FN(aim)(g, i0, j, g->at + k0, g->at + k1);
                const T *b = g->pb + (j * slab + k0) * NR;
                if (g->pack_a) FN(tile_packed)(r, k1 - k0, g->pa + i0 * slab + k0 * r, b, &to);
                else FN(tile_strided)(r, k1 - k0, FN(at_a)(g, i0, g->at + k0), g->rsa, 1, b, NR, &to);
            }
    }
    if (g->at + slab == g->k) {
        const int64_t i0 = gemm_start(g->rows, i_begin), j0 = j_begin * NR;
        FN(round)(g, i0, gemm_start(g->rows, i_end) - i0, j0, gemm_min(j_end * NR, g->n) - j0);
    }
}

#include "gemm_slabs.h"
#include "gemm_stream.h"

/* ---- plan and execution of one product */

/* Chooses the way and its sizes; returns elements of scratch. */
static int64_t FN(plan)(FN(job) *g, int threads)
{
    const int native = !g->half;
    const int64_t kc = GEMM_KC / TBYTES;
    g->threads = threads;
    g->mp = gemm_ceil(g->m, GEMM_MR);
    g->np = gemm_ceil(g->n, NR);
    g->rows = gemm_even(g->m, g->mp);
    g->kc = g->k <= kc + kc / 4 ? g->k : (gemm_ceil(g->k, gemm_ceil(g->k, kc)) + 7) / 8 * 8;
    g->pa_size = g->pb_size = 0;
    if (g->m == 1 && (g->csb == 1 || g->rsb == 1)) {
        g->way = FN(VECTOR);
        if (g->n * g->k < 32768 * 4 / TBYTES) g->threads = 1;
        g->strip = gemm_min((gemm_ceil(g->n, g->threads) + 63) / 64 * 64, FN(STRIP));
        if (g->csb == 1) g->parts = gemm_ceil(g->n, g->strip);
        else g->parts = g->threads == 1 ? 1 : gemm_min(gemm_ceil(g->n, GEMM_DOTS), 4 * g->threads);
        if (!native || g->csa != 1) g->pa_size = (g->k + 63) / 64 * 64;
        return g->pa_size + (native ? 0 : g->n);
    }
    /* Rows a multiple of 4 KB apart would share one set of L1: those of b, and those of a tall tile of a. */
    const int a_collides = g->csa == 1 && g->rsa * TBYTES % 4096 == 0, b_collides = g->rsb * TBYTES % 4096 == 0;
    const int collide = g->k > 8 && (b_collides || (a_collides && g->rows.each > GEMM_L1_WAYS));
    const int64_t near = g->mp <= GEMM_FEW && g->k <= 3 * kc ? 2 * GEMM_B_L2 : GEMM_B_L2;
    if (native && g->csb == 1 && (g->mp <= GEMM_SKINNY || (g->k * g->n <= near / TBYTES && !collide))) {
        g->way = FN(DIRECT);
        g->streamed = g->mp <= GEMM_SKINNY && g->np >= 8 && g->k * g->n > GEMM_STREAM / TBYTES;
        g->by_rows = !g->streamed && FN(by_rows)(g, threads);
        g->parts = gemm_min(g->by_rows ? g->mp : g->np, threads);
        if (FN(ragged)(g)) g->pb_size = NR * g->k;
        return g->pb_size;
    }
    if (FN(plan_slabs)(g, kc)) {
        g->way = FN(SLABS);
    } else if (FN(plan_stream)(g)) {
        g->way = FN(STREAM);
    } else if (g->m * g->k <= GEMM_A_L2 / TBYTES && (threads == 1 || g->np >= 4 * threads || g->m <= 4 * GEMM_MR)) {
        g->way = FN(PANELS);
        g->pack_a = !native || (g->mp > 1 && (g->csa != 1 || a_collides));
        g->parts = threads == 1 ? 1 : gemm_min(g->np, GEMM_PARTS * threads);
        g->pa_size = g->pack_a ? g->m * g->k : 0;
        g->pb_size = g->parts * GEMM_GROUP * NR * g->kc;
    } else {
        g->way = FN(BLOCKS);
        g->slab = g->k;
        while ((g->m + g->n) * g->slab > (64 << 20) / TBYTES && g->slab > 2 * g->kc)
            g->slab = gemm_ceil(g->slab / 2, g->kc) * g->kc;
        int64_t mt = GEMM_MT, nt = GEMM_NT;
        while (threads > 1 && mt * nt > 2 && gemm_ceil(g->mp, mt) * gemm_ceil(g->np, nt) < 4 * threads) {
            if (nt * NR > mt * GEMM_MR) nt = (nt + 1) / 2;
            else mt = (mt + 1) / 2;
        }
        g->mt = gemm_ceil(g->mp, mt);
        g->nt = gemm_ceil(g->np, nt);
        while (g->mt * g->nt < 8 * threads && g->mt * g->nt % threads && g->mt < g->mp) g->mt++; /* nobody waits */
        g->pack_a = !native || g->csa != 1 || a_collides || g->np > GEMM_PLAIN_A;
        g->pa_size = g->pack_a ? g->m * g->slab : 0;
        g->pb_size = g->np * NR * g->slab;
        g->late = g->pack_a && g->kc == g->k && g->mp >= 4 * threads * GEMM_MT;
        if (g->late) { /* blocks of whole rows pack theirs themselves, near where they use them */
            g->mt = gemm_ceil(g->mp, GEMM_MT);
            g->nt = 1;
        }
    }
    g->pa_size = (g->pa_size + 63) / 64 * 64;
    return g->pa_size + g->pb_size + (native ? 0 : g->m * g->n);
}

static void FN(execute)(FN(job) *g, T *scratch)
{
    g->pa = scratch;
    g->pb = scratch + g->pa_size;
    if (g->half) g->c = g->pb + g->pb_size;
    switch (g->way) {
    case FN(VECTOR):
        if (g->pa_size) {
            (g->csb == 1 ? g->source->widen : g->source->line)(g->a, g->csa, g->k, g->pa);
            g->a = (const char *)g->pa;
            g->csa = 1;
        }
        gemm_spread(g->csb == 1 ? FN(strip) : FN(dots), g, g->parts, g->threads);
        break;
    case FN(DIRECT):
        if (g->pb_size) g->source->pack_b(FN(at_b)(g, 0, g->n / NR * NR), g->rsb, 1, (int)(g->n % NR), g->k, g->pb);
        gemm_spread(FN(direct), g, g->parts, g->threads);
        break;
    case FN(PANELS):
        if (g->pack_a) gemm_spread(FN(pack_a_part), g, g->parts, g->m * g->k > 16384 ? g->threads : 1);
        gemm_spread(FN(panels), g, g->parts, g->threads);
        break;
    case FN(SLABS):
        g->done = (int32_t *)(g->pb + g->done_at);
        memset(g->done, 0, (size_t)(g->chunks * g->group_count) * sizeof *g->done);
        gemm_spread(FN(slabs), g, g->chunks * g->ranges, g->threads);
        if (g->chunks > 1 || g->half) gemm_spread(FN(add_chunks), g, g->parts, g->threads);
        if (g->sums) FN(join_columns)(g);
        break;
    case FN(STREAM):
        g->taken = 0;
        if (GEMM_STREAM_B) gemm_spread(FN(stream), g, g->parts, g->threads); /* else the code is left out */
        break;
    default:
        for (g->at = 0; g->at < g->k; g->at += g->slab) {
            const int64_t slab = gemm_min(g->slab, g->k - g->at);
            const int64_t b_tasks = g->csb == 1 ? gemm_ceil(slab, FN(PACK_DEPTH)) : g->np;
            gemm_spread(FN(pack_slab), g, FN(a_tasks)(g, slab) + b_tasks, g->threads);
            gemm_spread(FN(block), g, g->mt * g->nt + (FN(LAST_PARTS) - 1) * FN(last_blocks)(g), g->threads);
        }
    }
}

/* ---- many products of one shape */

typedef struct {
    const FN(job) *job;
    const gemm_call *call;
    int64_t parts, size;   /* chunks of the batch; elements of scratch of each */
    T *scratch;
} FN(batch);

static void FN(batch_part)(void *ctx, int64_t part)
{
    const FN(batch) *w = ctx;
    const gemm_call *call = w->call;
    const gemm_split split = gemm_even(call->batch, w->parts);
    for (int64_t i = gemm_start(split, part); i < gemm_start(split, part + 1); i++) {
        FN(job) g = *w->job;
        int64_t a, b;
        gemm_offsets(call, i, &a, &b);
        g.a += a * g.source->size;
        g.b += b * g.source->size;
        if (g.half) g.half = (uint16_t *)g.half + i * g.m * g.n;
        else g.c += i * g.m * g.n;
        FN(execute)(&g, w->scratch + part * w->size);
    }
}

GEMM_CALL int FN(product)(gemm_call *call, const FN(source) *source)
{
    FN(job) g; /* filled field by field: clearing all of it first would be seen in small products */
    g.m = call->m;
    g.n = call->n;
    g.k = call->k;
    g.a = call->a;
    g.b = call->b;
    g.rsa = call->rsa;
    g.csa = call->csa;
    g.rsb = call->rsb;
    g.csb = call->csb;
    g.c = call->c;
    g.bias = NULL;
    g.bias_stride = 1;
    g.source = source;
    g.half = source->narrow ? call->c : NULL;
    g.act = call->act;
    g.sums = call->batch == 1 ? call->sums : NULL;
    const double work = (double)g.m * g.n * g.k * (TBYTES / 4), total = work * call->batch;
    const int threads = total < GEMM_SERIAL ? 1 : gemm_rt->threads();
    /* Whole products in parallel, unless they are few or too large for the caches of one core. */
    const int apart = call->batch > 1 && (threads == 1 || (call->batch >= 2 * threads && work < 5e7));
    FN(batch) w = {.job = &g, .call = call, .parts = 1};
    w.size = (FN(plan)(&g, apart || work < GEMM_SERIAL ? 1 : threads) + 63) / 64 * 64;
    if (apart && threads > 1) w.parts = gemm_min(call->batch, 4 * threads);
    call->summed = g.sums && g.way == FN(SLABS);
    int64_t bias_size = 0;
    if (call->bias) {
        if (source->narrow || (call->bias_stride != 1 && g.way != FN(VECTOR))) bias_size = (g.n + 63) / 64 * 64;
        else {
            g.bias = call->bias;
            g.bias_stride = call->bias_stride;
        }
    }
    /* Small needs from the stack: the allocator would cost as much as the product. */
    T small[8192 / TBYTES] __attribute__((aligned(64)));
    size_t bytes = (w.parts * w.size + bias_size) * sizeof(T);
    if (bytes > sizeof small && bytes < 1 << 24) /* powers of two, so that products of several sizes reuse one block */
        bytes = (size_t)1 << (64 - __builtin_clzll((unsigned long long)bytes - 1));
    T *scratch = small;
    if (bytes > sizeof small && !(scratch = gemm_rt->alloc(bytes))) {
        call->wanted = (int64_t)bytes;
        return BURN_ERR_MEMORY;
    }
    if (bias_size) {
        source->widen(call->bias, call->bias_stride, g.n, scratch);
        g.bias = scratch;
    }
    w.scratch = scratch + bias_size;
    if (call->batch == 1) FN(execute)(&g, w.scratch);
    else gemm_spread(FN(batch_part), &w, w.parts, w.parts > 1 ? threads : 1);
    if (scratch != small) gemm_rt->free(scratch, bytes);
    return BURN_OK;
}
