/* Products of bf16 by the tile unit (AMX) of processors that have it, with sums in f32 that are rounded once.

   The operands are laid out as tiles of 16 rows of 64 bytes: of a, 16 rows by 32 of k; of b, 16 pairs of k by 16 columns.
   A panel is two tiles wide. One step multiplies two tiles of a by two of b into four tiles of sums: 32 x 32 of c, 32 deep.

   One part a thread: it packs some row panels of its share of c, about half of L2, and meets the columns panel by panel.
   b is packed once by all threads where several row blocks will read it, else by the part that uses it, right before.
   Sums run through k in order wherever c is cut, so neither parts nor blocks change a bit.

   The unit takes a subnormal number for 0. Packing looks at every element: where it finds one, the product is computed
   again in f32. Sums stay as they are: one below 2^-126 becomes 0. */
#pragma once
#include "gemm_half.h"

#if BURN_LEVEL >= 4 && defined(__linux__) && defined(__x86_64__) && !defined(__clang__) && __GNUC__ >= 11
#include <sys/syscall.h>
#include <unistd.h>

#define GEMM_AMX_CODE __attribute__((noinline, target("amx-tile,amx-bf16,avx512bf16")))

enum {
    AMX_SIDE = 32,                   /* rows or columns of a panel; depth of a step */
    AMX_STEP = 2 * 16 * 32,          /* elements of a panel in one step */
    AMX_SLAB = 64,                   /* steps of k that are packed together */
    AMX_BLOCK = 512,                 /* steps of all panels of a that stay in L2: 2 KB each */
    AMX_GROUP = 4,                   /* panels of b packed together by one part: longer runs of each row */
    AMX_SHARED = 16384,              /* steps of all panels of b packed by all threads */
    AMX_LEAST = 32768,               /* multiply-adds from which on tiles pay, */
    AMX_SERIAL = 1000000             /* and a second thread */
};

/* The kernel lends tiles to a process that asks; asked once, at the first product that wants them. */
static int gemm_amx_ready(void)
{
    enum { REQUEST = 0x1023, TILES = 18 };
    static int known;                /* 1 granted, -1 refused; threads that ask at once get the same answer */
    int state = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!state) {
        __builtin_cpu_init();
        state = __builtin_cpu_supports("amx-bf16") && __builtin_cpu_supports("avx512bf16")
                && syscall(SYS_arch_prctl, REQUEST, TILES) == 0 ? 1 : -1;
        __atomic_store_n(&known, state, __ATOMIC_RELAXED);
    }
    return state > 0;
}

typedef struct {
    const uint16_t *a, *b;
    uint16_t *c;
    int64_t m, n, k, rsa, csa, rsb, csb;
    const float *bias;
    int act, threads, shared;        /* shared: b is packed by all, before */
    int64_t mp, np, steps, slab;     /* panels; steps of k, and of a slab of it */
    int64_t down, across, block;     /* parts of c; row panels of a block at most */
    int64_t first, last;             /* panels of b in the shared pack */
    int64_t pa_size, pb_size, size;  /* bytes of a part for each packed operand, and with its sums */
    char *scratch;
    uint16_t *pb;
    int *subnormal;                  /* set where an operand has such a number */
} gemm_amx_job;

/* ---- packing */

/* The least magnitude seen, less 1 so that 0 is the largest. */
GEMM_INLINE __m512i gemm_amx_least(__m512i least, __m512i x)
{
    const __m512i size = _mm512_and_si512(x, _mm512_set1_epi16(0x7fff));
    return _mm512_min_epu16(least, _mm512_sub_epi16(size, _mm512_set1_epi16(1)));
}

/* Up to 16 lines along k, `stride` apart, as they are; what is beyond them or beyond `depth` is 0. Plain loops: unrolled,
   each line would get a pointer of its own. */
GEMM_INLINE __m512i gemm_amx_lines(const uint16_t *x, int64_t stride, int lines, int depth, __m512i *d, __m512i least)
{
    const __mmask32 mask = depth < 32 ? (1u << depth) - 1 : ~0u;
    const int n = (int)gemm_min(lines, 16);
    int i = 0;
    GEMM_PRAGMA(GCC unroll 1)
    for (; i < n; i++, x += stride) {
        d[i] = _mm512_maskz_loadu_epi16(mask, x);
        least = gemm_amx_least(least, d[i]);
    }
    for (; i < 16; i++) d[i] = _mm512_setzero_si512();
    return least;
}

/* 16 pairs of k, `stride` apart, of up to 16 columns that lie next to each other. */
GEMM_INLINE __m512i gemm_amx_pairs(const uint16_t *x, int64_t stride, int cols, int depth, __m512i *d, __m512i least)
{
    const __mmask16 mask = cols < 16 ? (1u << cols) - 1 : 0xffff;
    const __m512i mix = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40, 8,
                                         39, 7, 38, 6, 37, 5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
    const int n = (depth + 1) / 2;
    int i = 0;
    GEMM_PRAGMA(GCC unroll 1)
    for (; i < n; i++, x += 2 * stride) {
        const __m256i even = _mm256_maskz_loadu_epi16(mask, x);
        const __m256i odd = 2 * i + 1 < depth ? _mm256_maskz_loadu_epi16(mask, x + stride) : _mm256_setzero_si256();
        d[i] = _mm512_permutex2var_epi16(_mm512_castsi256_si512(even), mix, _mm512_castsi256_si512(odd));
        least = gemm_amx_least(least, d[i]);
    }
    for (; i < 16; i++) d[i] = _mm512_setzero_si512();
    return least;
}

/* 16 lines along k become 16 pairs of k, or back. */
GEMM_CALL void gemm_amx_turn(gemm_vec_f32 *d)
{
    gemm_vec_f32 t[16];
    GEMM_PRAGMA(GCC unroll 16)
    for (int i = 0; i < 16; i++) t[i] = d[i];
    gemm_transpose_f32(t);
    GEMM_PRAGMA(GCC unroll 16)
    for (int i = 0; i < 16; i++) d[i] = t[i];
}

/* Panels j0..j1 of b, or of a (pairs = 0), steps k0..k1, to [panel][step]; panels `apart` steps apart in d. */
GEMM_CALL void gemm_amx_pack(const gemm_amx_job *g, int pairs, int64_t j0, int64_t j1, int64_t k0, int64_t k1,
                             uint16_t *d, int64_t apart)
{
    const uint16_t *x = pairs ? g->b : g->a;
    const int64_t along = pairs ? g->csb : g->rsa, down = pairs ? g->rsb : g->csa, sides = pairs ? g->n : g->m;
    const int flat = down == 1;             /* lies along k */
    const int64_t run = flat ? k1 - k0 : 1; /* else few rows over all panels: longer runs of a row */
    __m512i least = _mm512_set1_epi16(-1);
    for (int64_t at = k0; at < k1; at += run)
        for (int64_t j = j0; j < j1; j++)
            for (int64_t k = at; k < at + run; k++) {
                const int depth = (int)gemm_min(g->k - k * AMX_SIDE, AMX_SIDE);
                const uint16_t *p = x + j * AMX_SIDE * along + k * AMX_SIDE * down;
                __m512i *to = (__m512i *)(d + ((j - j0) * apart + k - k0) * AMX_STEP);
                for (int left = (int)gemm_min(sides - j * AMX_SIDE, AMX_SIDE); left > 0; left -= 16, p += 16 * along, to += 16) {
                    if (flat) least = gemm_amx_lines(p, along, left, depth, to, least);
                    else least = gemm_amx_pairs(p, down, left, depth, to, least);
                    if (flat == pairs) gemm_amx_turn((gemm_vec_f32 *)to);
                }
            }
    if (_mm512_cmplt_epu16_mask(least, _mm512_set1_epi16(0x7f))) __atomic_store_n(g->subnormal, 1, __ATOMIC_RELAXED);
}

/* ---- multiplication */

GEMM_AMX_CODE static void gemm_amx_begin(void)
{
    struct {
        uint8_t palette, start, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } config = {.palette = 1};
    for (int i = 0; i < 8; i++) {
        config.bytes[i] = 64;
        config.rows[i] = 16;
    }
    _tile_loadconfig(&config);
}

GEMM_AMX_CODE static void gemm_amx_end(void) { _tile_release(); }

/* Tiles 0 1 / 2 3 hold the sums, 4 5 are a, 6 7 are b. R x C of the sums are wanted. */
__attribute__((always_inline, target("amx-tile,amx-bf16")))
static inline void gemm_amx_tiles(const int R, const int C, const uint16_t *a, const uint16_t *b, int64_t steps,
                                  int add, float *sums)
{
    __asm__ volatile("" ::: "memory"); /* the intrinsics do not say that they read memory */
    if (add) {
        _tile_loadd(0, sums, 128);
        if (C > 1) _tile_loadd(1, sums + 16, 128);
        if (R > 1) _tile_loadd(2, sums + 512, 128);
        if (R > 1 && C > 1) _tile_loadd(3, sums + 528, 128);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (int64_t k = 0; k < steps; k++, a += AMX_STEP, b += AMX_STEP) {
        _tile_loadd(4, a, 64);
        _tile_loadd(6, b, 64);
        if (C > 1) _tile_loadd(7, b + 512, 64);
        if (R > 1) _tile_loadd(5, a + 512, 64);
        _tile_dpbf16ps(0, 4, 6);
        if (C > 1) _tile_dpbf16ps(1, 4, 7);
        if (R > 1) _tile_dpbf16ps(2, 5, 6);
        if (R > 1 && C > 1) _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, sums, 128);
    if (C > 1) _tile_stored(1, sums + 16, 128);
    if (R > 1) _tile_stored(2, sums + 512, 128);
    if (R > 1 && C > 1) _tile_stored(3, sums + 528, 128);
}

GEMM_AMX_CODE static void gemm_amx_step(int rows, int cols, const uint16_t *a, const uint16_t *b, int64_t steps,
                                        int add, float *sums)
{
    if (rows > 16 && cols > 16) gemm_amx_tiles(2, 2, a, b, steps, add, sums);
    else if (rows > 16) gemm_amx_tiles(2, 1, a, b, steps, add, sums);
    else if (cols > 16) gemm_amx_tiles(1, 2, a, b, steps, add, sums);
    else gemm_amx_tiles(1, 1, a, b, steps, add, sums);
}

/* Sums of panels i and j to c: bias, ReLU and the one rounding. */
GEMM_AMX_CODE static void gemm_amx_finish(const gemm_amx_job *g, const float *sums, int64_t i, int64_t j)
{
    const int rows = (int)gemm_min(g->m - i * AMX_SIDE, AMX_SIDE), cols = (int)gemm_min(g->n - j * AMX_SIDE, AMX_SIDE);
    const __mmask32 mask = cols < 32 ? (1u << cols) - 1 : ~0u;
    const float *bias = g->bias ? g->bias + j * AMX_SIDE : NULL;
    uint16_t *c = g->c + i * AMX_SIDE * g->n + j * AMX_SIDE;
    for (int r = 0; r < rows; r++, sums += 32, c += g->n) {
        __m512 x = _mm512_loadu_ps(sums), y = _mm512_loadu_ps(sums + 16);
        if (bias) {
            x = _mm512_add_ps(x, _mm512_maskz_loadu_ps((__mmask16)mask, bias));
            y = _mm512_add_ps(y, _mm512_maskz_loadu_ps((__mmask16)(mask >> 16), bias + 16));
        }
        if (g->act) { /* NaN stays */
            const __m512 zero = _mm512_setzero_ps();
            x = _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, zero, _CMP_LT_OQ), zero);
            y = _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask(y, zero, _CMP_LT_OQ), zero);
        }
        _mm512_mask_storeu_epi16(c, mask, (__m512i)_mm512_cvtne2ps_pbh(y, x));
    }
}

/* One part: row panels i0..i1 by column panels j0..j1 of c. */
static void gemm_amx_part(void *ctx, int64_t part)
{
    const gemm_amx_job *g = ctx;
    const gemm_split rows = gemm_even(g->mp, g->down), cols = gemm_even(g->last - g->first, g->across);
    const int64_t i0 = gemm_start(rows, part % g->down), i1 = gemm_start(rows, part % g->down + 1);
    const int64_t j0 = g->first + gemm_start(cols, part / g->down), j1 = g->first + gemm_start(cols, part / g->down + 1);
    const gemm_split blocks = gemm_even(i1 - i0, gemm_ceil(i1 - i0, g->block));
    const int one = g->slab == g->steps;
    char *const scratch = g->scratch + part * g->size;
    uint16_t *const pa = (uint16_t *)scratch, *const own = (uint16_t *)(scratch + g->pa_size);
    float *const sums = (float *)(scratch + g->pa_size + g->pb_size);
    gemm_amx_begin();
    for (int64_t block = 0; block < gemm_ceil(i1 - i0, g->block); block++) {
        const int64_t top = i0 + gemm_start(blocks, block), end = i0 + gemm_start(blocks, block + 1);
        for (int64_t k = 0; k < g->steps; k += g->slab) {
            const int64_t steps = gemm_min(g->steps - k, g->slab), last = k + steps == g->steps;
            gemm_amx_pack(g, 0, top, end, k, k + steps, pa, steps);
            for (int64_t j = j0; j < j1; j++) {
                const uint16_t *b = g->pb + ((j - g->first) * g->steps + k) * AMX_STEP;
                if (!g->shared) {
                    const int64_t at = (j - j0) % AMX_GROUP;
                    if (!at) gemm_amx_pack(g, 1, j, gemm_min(j + AMX_GROUP, j1), k, k + steps, own, steps);
                    b = own + at * steps * AMX_STEP;
                }
                for (int64_t i = top; i < end; i++) {
                    float *s = one ? sums : sums + ((j - j0) * (end - top) + i - top) * 1024;
                    gemm_amx_step((int)gemm_min(g->m - i * AMX_SIDE, AMX_SIDE), (int)gemm_min(g->n - j * AMX_SIDE, AMX_SIDE),
                                  pa + (i - top) * steps * AMX_STEP, b, steps, k > 0, s);
                    if (last) gemm_amx_finish(g, s, i, j);
                }
            }
        }
    }
    gemm_amx_end();
}

/* Some of b for all parts: steps of k over all panels where rows of b lie in one piece, else panels over all of k. */
static void gemm_amx_share(void *ctx, int64_t task)
{
    const gemm_amx_job *g = ctx;
    if (g->rsb == 1 && g->csb != 1)
        gemm_amx_pack(g, 1, g->first + task, g->first + task + 1, 0, g->steps, g->pb + task * g->steps * AMX_STEP, g->steps);
    else gemm_amx_pack(g, 1, g->first, g->last, task, task + 1, g->pb + task * AMX_STEP, g->steps);
}

/* ---- plan and execution */

/* Cuts one product for some threads; returns bytes of scratch. */
static int64_t gemm_amx_plan(gemm_amx_job *g, int threads)
{
    g->threads = threads;
    g->mp = gemm_ceil(g->m, AMX_SIDE);
    g->np = gemm_ceil(g->n, AMX_SIDE);
    g->steps = gemm_ceil(g->k, AMX_SIDE);
    const int64_t slabs = g->steps <= AMX_SLAB + AMX_SLAB / 4 ? 1 : gemm_ceil(g->steps, AMX_SLAB);
    g->slab = gemm_ceil(g->steps, slabs);
    g->block = gemm_max(AMX_BLOCK / g->slab, 1);
    /* Rows are cut first: then each part has an a of its own; but no part gets less than a block of four panels. */
    g->down = 1;
    for (int64_t d = 2; d <= threads; d++) if (threads % d == 0 && g->mp >= 4 * d) g->down = d;
    g->across = gemm_min(threads / g->down, g->np);
    const int64_t tall = gemm_ceil(g->mp, g->down), height = gemm_min(tall, g->block);
    g->shared = g->down > 1 || tall > g->block;
    g->first = 0;
    g->last = g->shared ? gemm_min(g->np, gemm_max(AMX_SHARED / g->steps, g->across)) : g->np;
    const int64_t wide = gemm_ceil(g->last, g->across), step = AMX_STEP * 2;
    g->pa_size = height * g->slab * step;
    g->pb_size = g->shared ? 0 : gemm_min(wide, AMX_GROUP) * g->slab * step;
    g->size = g->pa_size + g->pb_size + (slabs > 1 ? height * wide : 1) * 4096;
    return g->down * g->across * g->size + (g->shared ? g->last * g->steps * step : 0);
}

static void gemm_amx_execute(gemm_amx_job *g, char *scratch)
{
    const int64_t wide = g->last, parts = g->down * g->across;
    g->scratch = scratch;
    g->pb = (uint16_t *)(scratch + parts * g->size);
    for (g->first = 0; g->first < g->np; g->first += wide) {
        g->last = gemm_min(g->first + wide, g->np);
        if (g->shared)
            gemm_spread(gemm_amx_share, g, g->rsb == 1 && g->csb != 1 ? g->last - g->first : g->steps, g->threads);
        if (*g->subnormal) break;
        gemm_spread(gemm_amx_part, g, parts, g->threads);
    }
    g->last = wide;
}

typedef struct {
    const gemm_amx_job *job;
    const gemm_call *call;
    int64_t parts, size;
    char *scratch;
} gemm_amx_batch;

static void gemm_amx_batch_part(void *ctx, int64_t part)
{
    const gemm_amx_batch *w = ctx;
    const gemm_split split = gemm_even(w->call->batch, w->parts);
    for (int64_t i = gemm_start(split, part); i < gemm_start(split, part + 1); i++) {
        gemm_amx_job g = *w->job;
        int64_t a, b;
        gemm_offsets(w->call, i, &a, &b);
        g.a += a;
        g.b += b;
        g.c += i * g.m * g.n;
        gemm_amx_execute(&g, w->scratch + part * w->size);
    }
}

/* Computes a product by tiles; 0 where they cannot. */
static int gemm_amx_product(gemm_call *call, int *status)
{
    const double work = (double)call->m * call->n * call->k, total = work * call->batch;
    if (call->m == 1 || work < AMX_LEAST || (call->csa != 1 && call->rsa != 1) || (call->csb != 1 && call->rsb != 1)
        || !gemm_amx_ready())
        return 0;
    int subnormal = 0;
    gemm_amx_job g = {.a = call->a, .b = call->b, .c = call->c, .m = call->m, .n = call->n, .k = call->k,
                      .rsa = call->rsa, .csa = call->csa, .rsb = call->rsb, .csb = call->csb, .act = call->act,
                      .subnormal = &subnormal};
    const int threads = total < AMX_SERIAL ? 1 : gemm_rt->threads();
    /* Whole products in parallel, unless they are few or large. */
    const int apart = call->batch >= 2 * threads && work < 1e8;
    gemm_amx_batch w = {.job = &g, .call = call, .parts = apart && threads > 1 ? gemm_min(call->batch, 4 * threads) : 1};
    w.size = gemm_amx_plan(&g, apart || work < AMX_SERIAL ? 1 : threads);
    const size_t bytes = w.parts * w.size + (call->bias ? (call->n + 15) / 16 * 64 : 0);
    char *const scratch = gemm_rt->alloc(bytes);
    *status = scratch ? BURN_OK : BURN_ERR_MEMORY;
    call->wanted = (int64_t)bytes;
    if (!scratch) return 1;
    call->summed = 0;
    w.scratch = scratch;
    if (call->bias) {
        g.bias = (float *)(scratch + w.parts * w.size);
        gemm_pack_widen_bf16(call->bias, call->bias_stride, g.n, (float *)g.bias);
    }
    if (call->batch == 1) gemm_amx_execute(&g, scratch);
    else gemm_spread(gemm_amx_batch_part, &w, w.parts, w.parts > 1 ? threads : 1);
    gemm_rt->free(scratch, bytes);
    return !subnormal;
}
#else
static int gemm_amx_product(gemm_call *call, int *status) { (void)call; (void)status; return 0; }
#endif
