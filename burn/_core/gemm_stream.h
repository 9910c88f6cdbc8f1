/* ---- STREAM: the way for large products at levels with GEMM_STREAM_B, included once an element type.

   Each thread holds one block of b packed in its L2: a strip of columns, one block of k deep. Row panels of a go by, each
   packed right before it meets all of the strip, while the next one is brought near; so no packed operand goes to memory and
   back, and no thread waits for packing to end. Tasks are ranges of rows times strips; a thread takes the next one when it is
   done, so a slower core does less. */

/* Rows of the panel, whatever its height, and a block of b: elements of scratch a thread. */
GEMM_INLINE int64_t FN(stream_held)(const FN(job) *g) { return gemm_ceil(g->np, g->nt) * NR * g->kc; }
GEMM_INLINE int64_t FN(stream_size)(const FN(job) *g) { return FN(stream_held)(g) + (GEMM_MR + 2) * g->kc; }

static void FN(stream)(void *ctx, int64_t part)
{
    FN(job) *g = ctx;
    T *const b = g->pb + part * FN(stream_size)(g), *const a = b + FN(stream_held)(g);
    const gemm_split down = gemm_even(g->mp, g->mt), across = gemm_even(g->np, g->nt);
    for (int64_t task; (task = __atomic_fetch_add(&g->taken, 1, __ATOMIC_RELAXED)) < g->mt * g->nt;) {
        const int64_t i_begin = gemm_start(down, task % g->mt), i_end = gemm_start(down, task % g->mt + 1);
        const int64_t j_begin = gemm_start(across, task / g->mt), j_end = gemm_start(across, task / g->mt + 1);
        for (int64_t k0 = 0; k0 < g->k; k0 += g->kc) {
            const int64_t k1 = gemm_min(k0 + g->kc, g->k);
            FN(pack_b_group)(g, j_begin, j_end, k0, k1, b);
            for (int64_t i = i_begin; i < i_end; i++) {
                const int64_t i0 = gemm_start(g->rows, i);
                const int r = FN(height)(g, i);
                g->source->pack_a(FN(at_a)(g, i0, k0), g->rsa, g->csa, r, k1 - k0, a);
                for (int64_t j = j_begin; j < j_end; j++) {
                    FN(target) to = FN(aim)(g, i0, j, k0, k1);
                    if (i + 1 < i_end) FN(foresee)(g, &to, i + 1, j - j_begin, k0, k1);
                    FN(tile_packed)(r, k1 - k0, a, b + (j - j_begin) * (k1 - k0) * NR, &to);
                }
                if (k1 == g->k) FN(round)(g, i0, r, j_begin * NR, gemm_min(j_end * NR, g->n) - j_begin * NR);
            }
        }
    }
}

/* Whether this way fits; fills in its sizes. */
GEMM_INLINE int FN(plan_stream)(FN(job) *g)
{
    /* Enough rows to use what is packed of b, enough columns to use what is packed of a. */
    if (!GEMM_STREAM_B || g->csa != 1 || g->m < 256 || g->np < 4 || g->k < 64) return 0;
    g->nt = gemm_ceil(g->np, gemm_max(GEMM_STREAM_B / (NR * TBYTES) / g->kc, 1));
    /* Ranges of rows: whoever is last should have little left; packing a block costs about as much as a row panel. */
    int64_t best = INT64_MAX;
    for (int64_t mt = 1; mt <= gemm_min(g->mp / 8, 4 * g->threads); mt++) {
        const int64_t cost = gemm_ceil(mt * g->nt, g->threads) * (gemm_ceil(g->mp, mt) + 1);
        if (cost < best) {
            best = cost;
            g->mt = mt;
        }
    }
    g->parts = g->threads;
    g->pb_size = g->parts * FN(stream_size)(g);
    return 1;
}
