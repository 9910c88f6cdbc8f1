/* ---- SLABS: the way for a long k, or one long side, included once an element type.

   A slab of one operand (all of its short side, one block of k deep) stays in L2; the other goes by in groups of panels.
   Each thread packs what it multiplies right before it does, so nothing packed ever goes to memory and back. k is cut into
   chunks, which take turns with its blocks. A chunk sums into a matrix of its own, and the sums are added in the end:
   the number of chunks depends on the shape alone. A thread begins with a range of one chunk: every so many groups, from the
   last to the first, since the end of an operand may still lie in a cache, and each thread gets its share of it. Then it
   takes what others have not begun of the same block, in the end that of other chunks: who is late has less to do. */

enum { FN(HELD_GROUP) = 8, FN(LEAST_RANGE) = 4 };   /* row panels packed together; groups of a range at least */

/* What the next group will read, brought near while this one is multiplied: lines of rows `stride` apart. */
typedef struct {
    const char *p;
    int64_t stride, rows, bytes, at, each;
} FN(ahead);

GEMM_INLINE FN(ahead) FN(look_ahead)(const FN(job) *g, int64_t group, int64_t k0, int64_t k1, int64_t tiles)
{
    const int64_t size = g->source->size, kk = k1 - k0;
    const int64_t first = gemm_start(g->groups, group), last = gemm_start(g->groups, group + 1);
    const int64_t i = g->hold_b ? gemm_start(g->rows, first) : 0;
    const int64_t side = g->hold_b ? gemm_start(g->rows, last) - i : gemm_min(last * NR, g->n) - first * NR;
    const int64_t along = g->hold_b ? g->rsa : g->csb, down = g->hold_b ? g->csa : g->rsb;
    const char *p = (const char *)(g->hold_b ? FN(at_a)(g, i, k0) : FN(at_b)(g, k0, first * NR));
    const int flat = along == 1 || down != 1;   /* rows of one depth, else of one panel row */
    FN(ahead) x = {p, (flat ? down : along) * size, flat ? kk : side, (flat ? side : kk) * size, 0, 0};
    x.each = (x.bytes / 64 + 1) * x.rows / tiles + 1;
    return x;
}

GEMM_INLINE void FN(bring)(FN(ahead) *x)
{
    for (int64_t n = x->each; n > 0 && x->rows > 0; n--) {
        __builtin_prefetch(x->p + x->at, 0, 2);
        if ((x->at += 64) >= x->bytes) {
            x->at = 0;
            x->p += x->stride;
            x->rows--;
        }
    }
}

/* Sums of the columns of panels of b, packed k deep, on top of those of the blocks before. */
GEMM_INLINE void FN(add_columns)(const T *panel, int64_t panels, int64_t k, T *sums, int first)
{
    for (; panels > 0; panels--, sums += NR) {
        VEC s[4][2] = {{{0}}};
        int64_t p = 0;
        for (; p + 4 <= k; p += 4, panel += 4 * NR)
            GEMM_PRAGMA(GCC unroll 4)
            for (int i = 0; i < 4; i++) {
                s[i][0] += LOAD(panel + i * NR);
                s[i][1] += LOAD(panel + i * NR + VL);
            }
        for (; p < k; p++, panel += NR) {
            s[0][0] += LOAD(panel);
            s[0][1] += LOAD(panel + VL);
        }
        for (int h = 0; h < 2; h++) {
            VEC all = (s[0][h] + s[1][h]) + (s[2][h] + s[3][h]);
            if (!first) all += LOAD(sums + h * VL);
            STORE(sums + h * VL, all);
        }
    }
}

/* of all chunks */
GEMM_INLINE void FN(join_columns)(const FN(job) *g)
{
    const T *part = g->pb + (g->chunks - 1) * g->m * g->n;
    for (int64_t j = 0; j < g->n; j++) {
        T sum = part[j];
        for (int64_t c = 1; c < g->chunks; c++) sum += part[c * g->np * NR + j];
        g->sums[j] = sum;
    }
}

/* Multiplies the slab `held` with a group, packed behind it; group `next` will come after it, if that is not negative. */
GEMM_INLINE void FN(slab_group)(const FN(job) *g, int64_t chunk, int64_t at, int64_t k0, int64_t k1, T *held, int64_t next)
{
    const int64_t kk = k1 - k0, first = gemm_start(g->groups, at), last = gemm_start(g->groups, at + 1);
    const int64_t i0 = g->hold_b ? first : 0, i1 = g->hold_b ? last : g->mp;
    const int64_t j0 = g->hold_b ? 0 : first, j1 = g->hold_b ? g->np : last;
    const int add = k0 > chunk * g->kc, whole = g->chunks == 1 && !g->half && k1 == g->k;
    T *const moving = held + g->held_size, *const c = chunk ? g->pb + (chunk - 1) * g->m * g->n : g->c;
    if (g->hold_b) FN(pack_a_group)(g, i0, i1, k0, k1, moving);
    else FN(pack_b_group)(g, j0, j1, k0, k1, moving);
    const T *const a = g->hold_b ? moving : held, *const b = g->hold_b ? held : moving;
    T *const sums = g->pb + (g->chunks - 1) * g->m * g->n + chunk * g->np * NR;
    if (g->sums && (at == 0 || !g->hold_b)) FN(add_columns)(b, j1 - j0, kk, sums + j0 * NR, !add);
    FN(ahead) then = {.rows = 0};
    if (next >= 0) then = FN(look_ahead)(g, next, k0, k1, (j1 - j0) * (i1 - i0));
    for (int64_t j = j0; j < j1; j++)
        for (int64_t i = i0; i < i1; i++) {
            const int64_t row = gemm_start(g->rows, i);
            const FN(target) to = {.c = c + row * g->n + j * NR,
                                   .ldc = g->n,
                                   .bias = whole && g->bias ? g->bias + j * NR : NULL,
                                   .add = add,
                                   .act = whole && g->act,
                                   .w = FN(width)(g, j)};
            FN(bring)(&then);
            FN(tile_packed)(FN(height)(g, i), kk, a + (row - gemm_start(g->rows, i0)) * kk, b + (j - j0) * kk * NR, &to);
        }
}

/* All of a chunk that nobody has begun, beginning with what is of one range. A group whose block before is at work is passed
   over: whoever is at it goes on with it. So nobody waits. */
static void FN(slab_chunk)(const FN(job) *g, int64_t chunk, int64_t range, T *held)
{
    const int64_t each = gemm_ceil(g->group_count, g->ranges);
    int32_t *const done = g->done + chunk * g->group_count, step = 0;
    for (int64_t k0 = chunk * g->kc; k0 < g->k; k0 += g->chunks * g->kc, step += 2) {
        const int64_t k1 = gemm_min(k0 + g->kc, g->k);
        int packed = 0;
        for (int64_t turn = 0; turn < g->ranges; turn++)
            for (int64_t n = 0; n < each; n++) {
                const int64_t at = (turn ? n : each - 1 - n) * g->ranges + (range + turn) % g->ranges;
                int32_t seen = step;
                if (at >= g->group_count || __atomic_load_n(done + at, __ATOMIC_RELAXED) != step
                    || !__atomic_compare_exchange_n(done + at, &seen, step + 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
                    continue;
                if (!packed && g->hold_b) FN(pack_b_group)(g, 0, g->np, k0, k1, held);
                if (!packed && !g->hold_b) FN(pack_a_group)(g, 0, g->mp, k0, k1, held);
                packed = 1;
                FN(slab_group)(g, chunk, at, k0, k1, held, turn ? -1 : at - g->ranges);
                __atomic_store_n(done + at, step + 2, __ATOMIC_RELEASE);
            }
    }
}

static void FN(slabs)(void *ctx, int64_t task)
{
    const FN(job) *g = ctx;
    T *const held = g->pa + task * (g->held_size + g->group_size);
    for (int64_t turn = 0; turn < g->chunks; turn++)
        FN(slab_chunk)(g, (task / g->ranges + turn) % g->chunks, task % g->ranges, held);
}

/* The sums of all chunks, with bias and ReLU, some rows a task; also where results are rounded to half floats. */
static void FN(add_chunks)(void *ctx, int64_t task)
{
    const FN(job) *g = ctx;
    const gemm_split split = gemm_even(g->m, g->parts);
    const int64_t begin = gemm_start(split, task), end = gemm_start(split, task + 1);
    for (int64_t i = begin; i < end; i++) {
        T *c = g->c + i * g->n;
        for (int64_t p = 0; p < g->chunks - 1; p++) {
            const T *more = g->pb + (p * g->m + i) * g->n;
            for (int64_t j = 0; j < g->n; j++) c[j] += more[j];
        }
        if (g->bias) for (int64_t j = 0; j < g->n; j++) c[j] += g->bias[j];
        if (g->act) for (int64_t j = 0; j < g->n; j++) c[j] = (TS)c[j] < 0 ? 0 : c[j];
    }
    FN(round)(g, begin, end - begin, 0, g->n);
}

/* Whether this way fits; fills in its sizes. */
GEMM_INLINE int FN(plan_slabs)(FN(job) *g, int64_t kc)
{
    const int64_t small = gemm_min(g->m, g->n), large = g->m + g->n - small, bytes = g->m * g->n * TBYTES;
    if (g->k <= 3 * kc || small < 32 || small * kc * TBYTES > GEMM_A_L2) return 0;
    g->hold_b = g->n <= g->m;
    g->chunks = large > g->k || bytes > 2 << 20 ? 1 : g->k > 8 * kc && bytes <= 1 << 20 ? 4 : 2;
    const int64_t panels = g->hold_b ? g->mp : g->np, groups = gemm_ceil(panels, g->hold_b ? FN(HELD_GROUP) : GEMM_GROUP);
    g->ranges = gemm_ceil(g->threads, g->chunks);
    if (g->ranges > 1 && groups < g->ranges * FN(LEAST_RANGE)) {
        if (g->chunks == 1) return 0;
        g->ranges = gemm_max(groups / FN(LEAST_RANGE), 1);
    }
    /* As many groups for each range, so that nobody waits for another's last one; none is empty. */
    g->group_count = gemm_min(gemm_ceil(groups, g->ranges) * g->ranges, panels);
    g->groups = gemm_even(panels, g->group_count);
    if (g->chunks > 1) g->kc = (gemm_ceil(g->k, gemm_ceil(gemm_ceil(g->k, kc), g->chunks) * g->chunks) + 7) / 8 * 8;
    g->held_size = ((g->hold_b ? g->np * NR : g->m) * g->kc + 15) / 16 * 16;
    g->group_size = (g->hold_b ? FN(HELD_GROUP) * GEMM_MR : GEMM_GROUP * NR) * g->kc;
    g->pa_size = g->chunks * g->ranges * (g->held_size + g->group_size);
    g->pb_size = (g->chunks - 1) * g->m * g->n + (g->sums ? g->chunks * g->np * NR : 0);
    g->done_at = g->pb_size;
    g->pb_size += gemm_ceil(g->chunks * g->group_count * (int64_t)sizeof *g->done, TBYTES);
    g->parts = gemm_min(g->m, 4 * g->threads);
    return 1;
}
