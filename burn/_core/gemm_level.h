/* Sizes that depend on the level, and the few things about a level that GCC vector types cannot say. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "abi.h"
#if BURN_LEVEL >= 2
#include <immintrin.h>
#endif

enum { GEMM_STREAM = 1024 * 1024, GEMM_L1_WAYS = 8 };

#define GEMM_INLINE static inline __attribute__((always_inline))
#define GEMM_CALL static __attribute__((noinline, unused))
#define GEMM_PRAGMA_(x) _Pragma(#x)
#define GEMM_PRAGMA(x) GEMM_PRAGMA_(x)

/* GEMM_ROWS(X) names the rows of a register tile as X(row, base pointer, rows behind that base): a few bases and the
   addressing modes reach all rows, where a pointer a row would spill.

   GEMM_MR      rows of a register tile; it is two vectors wide
   GEMM_UNROLL  of the loop over k
   GEMM_STEPS   of k between which no pointer moves, where strides are constants, in tiles of up to
   GEMM_LOW     rows: each multiply-add has more of other instructions there, and registers are left
   GEMM_KC      bytes of a row of A in one block of k
   GEMM_B_L2    bytes of B up to which it is read in place, again for each row panel
   GEMM_SKINNY  row panels up to which b of any size is read in place
   GEMM_FEW     row panels up to which b of twice GEMM_B_L2 is: threads share its columns
   GEMM_STREAM  bytes of B from which it is read by rows then: it does not stay in L2
   GEMM_A_L2    bytes of A up to which it stays in L2 and only B is packed, a few panels at a time
   GEMM_GROUP   panels of B packed together: longer runs of each row of B
   GEMM_MT, NT  row and column panels of the block of C that one task computes
   GEMM_PLAIN_A  panels of B up to which blocks read rows of A in place
   GEMM_ROWS_OUTSIDE  in a block, row panels are the outer loop (its a in L1, b from L2), else column panels
   GEMM_PARTS   shares of b for each thread where only b is packed: several are evener, one lets L2 keep it from call to call
   GEMM_AHEAD   steps of k by which the tile asks for b before it needs it, also for lines of c and of what comes next; 0 leaves
                that to the processor
   GEMM_STREAM_B  bytes of the block of b that each thread holds while row panels of a go by; 0 where that way loses
   GEMM_THREE   rows up to which a tile of a convolution is three vectors wide; 0 where registers do not allow it or rows suffice
   GEMM_DOTS    columns of a matrix that meet one row together
   GEMM_DOTS_AHEAD  bytes by which each of them asks ahead for what comes; 0 leaves that to the processor
   GEMM_SERIAL  multiply-adds below which a second thread costs more than it brings */
#if BURN_LEVEL >= 4
enum { GEMM_VBYTES = 64, GEMM_MR = 14, GEMM_KC = 2048, GEMM_GROUP = 4, GEMM_MT = 16, GEMM_NT = 8, GEMM_SKINNY = 1 };
enum { GEMM_B_L2 = 1024 * 1024, GEMM_A_L2 = 600 * 1024, GEMM_SERIAL = 300000, GEMM_PLAIN_A = 0, GEMM_DOTS = 8 };
enum { GEMM_AHEAD = 16, GEMM_STREAM_B = 1024 * 1024, GEMM_FEW = 5, GEMM_PARTS = 1, GEMM_DOTS_AHEAD = 512 };
enum { GEMM_STEPS = 4, GEMM_LOW = 12 };
#define GEMM_THREE 0
#define GEMM_LEVEL "v4"
#define GEMM_LANES_BYTES 64
#define GEMM_ROWS_OUTSIDE 1
#define GEMM_UNROLL GEMM_PRAGMA(GCC unroll 1)
#define GEMM_PIN(x) __asm__("" : "+v"(x))
#define GEMM_ROWS(X) X(0, a0, 0) X(1, a0, 1) X(2, a0, 2) X(3, a3, 0) X(4, a3, 1) X(5, a3, 2) X(6, a6, 0) X(7, a6, 1) \
    X(8, a6, 2) X(9, a9, 0) X(10, a9, 1) X(11, a9, 2) X(12, a12, 0) X(13, a12, 1)
#define GEMM_BASES(X) X(0) X(3) X(6) X(9) X(12)
#define GEMM_CASES(X) X(14) X(13) X(12) X(11) X(10) X(9) X(8) X(7) X(6) X(5) X(4) X(3) X(2) X(1)
#elif BURN_LEVEL == 3
enum { GEMM_VBYTES = 32, GEMM_MR = 6, GEMM_KC = 1280, GEMM_GROUP = 4, GEMM_MT = 16, GEMM_NT = 16, GEMM_SKINNY = 2 };
enum { GEMM_B_L2 = 128 * 1024, GEMM_A_L2 = 320 * 1024, GEMM_SERIAL = 100000, GEMM_PLAIN_A = 32, GEMM_DOTS = 4 };
enum { GEMM_AHEAD = 0, GEMM_STREAM_B = 0, GEMM_FEW = 0, GEMM_PARTS = 4, GEMM_DOTS_AHEAD = 0 };
enum { GEMM_STEPS = 1, GEMM_LOW = 0 };
#define GEMM_THREE 4
#define GEMM_LEVEL "v3"
#define GEMM_LANES_BYTES 32
#define GEMM_ROWS_OUTSIDE 0
#define GEMM_UNROLL GEMM_PRAGMA(GCC unroll 4)
#define GEMM_PIN(x) __asm__("" : "+x"(x))
#define GEMM_ROWS(X) X(0, a0, 0) X(1, a0, 1) X(2, a0, 2) X(3, a3, 0) X(4, a3, 1) X(5, a3, 2)
#define GEMM_BASES(X) X(0) X(3)
#define GEMM_CASES(X) X(6) X(5) X(4) X(3) X(2) X(1)
#else
enum { GEMM_VBYTES = 16, GEMM_MR = 4, GEMM_KC = 1024, GEMM_GROUP = 1, GEMM_MT = 16, GEMM_NT = 16, GEMM_SKINNY = 2 };
enum { GEMM_B_L2 = 64 * 1024, GEMM_A_L2 = 128 * 1024, GEMM_SERIAL = 50000, GEMM_PLAIN_A = 0, GEMM_DOTS = 4 };
enum { GEMM_AHEAD = 0, GEMM_STREAM_B = 0, GEMM_FEW = 0, GEMM_PARTS = 4, GEMM_DOTS_AHEAD = 0 };
enum { GEMM_STEPS = 1, GEMM_LOW = 0 };
#define GEMM_THREE 0
#define GEMM_LANES_BYTES 16
#define GEMM_ROWS_OUTSIDE 0
#define GEMM_UNROLL GEMM_PRAGMA(GCC unroll 4)
#if BURN_LEVEL == 2
#define GEMM_LEVEL "v2"
#define GEMM_PIN(x) __asm__("" : "+x"(x))
#else
#define GEMM_LEVEL "portable"
#define GEMM_PIN(x) (void)(x)
#endif
#define GEMM_ROWS(X) X(0, a0, 0) X(1, a0, 1) X(2, a0, 2) X(3, a3, 0)
#define GEMM_BASES(X) X(0) X(3)
#define GEMM_CASES(X) X(4) X(3) X(2) X(1)
#endif

#ifdef __clang__
#define GEMM_SHUFFLE(IV, x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define GEMM_SHUFFLE(IV, x, y, ...) __builtin_shuffle(x, y, (IV){__VA_ARGS__})
#endif
#define GEMM_LANES_2(F, s) F(0, s), F(1, s)
#define GEMM_LANES_4(F, s) GEMM_LANES_2(F, s), F(2, s), F(3, s)
#define GEMM_LANES_8(F, s) GEMM_LANES_4(F, s), F(4, s), F(5, s), F(6, s), F(7, s)
#define GEMM_LANES_16(F, s) \
    GEMM_LANES_8(F, s), F(8, s), F(9, s), F(10, s), F(11, s), F(12, s), F(13, s), F(14, s), F(15, s)

/* One call: c[..., m, n] = a[..., m, k] @ b[..., k, n] (+ bias over the columns) (ReLU). Strides in elements, of any
   sign; c is row-major. Up to BURN_MAX_RANK - 2 batch axes, outermost first. */
typedef struct {
    int64_t m, n, k;
    const void *a, *b, *bias;
    void *c;
    int64_t rsa, csa, rsb, csb, bias_stride;
    int64_t batch, shape[BURN_MAX_RANK], sa[BURN_MAX_RANK], sb[BURN_MAX_RANK];
    int32_t axes, act;
    void *sums;     /* f32, f64: where sums down the columns of b go if the way at hand reads all of it once; or NULL */
    int32_t summed; /* out: whether they did */
    int64_t wanted; /* out: bytes of scratch that could not be had */
} gemm_call;

/* Where product `i` of a batch begins in a and b. */
GEMM_INLINE void gemm_offsets(const gemm_call *call, int64_t i, int64_t *a, int64_t *b)
{
    *a = *b = 0;
    for (int x = call->axes - 1; x >= 0; x--) {
        const int64_t at = x ? i % call->shape[x] : i;
        i = x ? i / call->shape[x] : 0;
        *a += at * call->sa[x];
        *b += at * call->sb[x];
    }
}

static const char *const gemm_level = GEMM_LEVEL;
static const burn_rt *gemm_rt;

static void gemm_init(const burn_rt *rt) { gemm_rt = rt; }

/* body(ctx, 0..n-1), on the pool where more than one thread is wanted. */
GEMM_INLINE void gemm_spread(void (*body)(void *, int64_t), void *ctx, int64_t n, int threads)
{
    if (threads > 1 && n > 1) gemm_rt->run(body, ctx, n);
    else for (int64_t i = 0; i < n; i++) body(ctx, i);
}

GEMM_INLINE int64_t gemm_min(int64_t x, int64_t y) { return x < y ? x : y; }
GEMM_INLINE int64_t gemm_max(int64_t x, int64_t y) { return x > y ? x : y; }
GEMM_INLINE int64_t gemm_ceil(int64_t x, int64_t y) { return (x + y - 1) / y; }

/* n things in `parts` ranges that differ by one at most: 64 rows in panels of up to 6 are 5 and 6, never 4. */
typedef struct { int64_t each, more; } gemm_split;
GEMM_INLINE gemm_split gemm_even(int64_t n, int64_t parts)
{
    /* A 64 bit division costs as much as a small tile. */
    if (parts == 1) return (gemm_split){n, 0};
    if (n <= INT32_MAX) return (gemm_split){(int32_t)n / (int32_t)parts, (int32_t)n % (int32_t)parts};
    return (gemm_split){n / parts, n % parts};
}
GEMM_INLINE int64_t gemm_start(gemm_split s, int64_t i) { return i * s.each + gemm_min(i, s.more); }
