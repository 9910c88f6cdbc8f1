/* Fourier transforms of rows whose length is a power of two; complex numbers are two arrays.

   A row of N complex samples is a matrix of N1 × N2. Columns are transformed, as many side by side as a vector has lanes
   (so every step works on whole vectors and nothing is shuffled), turned by the twiddles, written transposed, and the
   columns of the result are transformed again. A block of columns lies in L1, the row in L2. Short rows are taken side by side
   themselves. Real transforms are complex ones of half the length. fft_type.h has the kernels of
   each dtype. */
#pragma once
#include <stdlib.h>
#include "runtime.h"

#define FFT_MOST_BITS 19 /* of a complex length; the bridge sends longer ones elsewhere */
#define FFT_SIDE_BY_SIDE 256 /* below this complex length rows lie side by side; at least the square of the lanes */
#define TASK_POINTS 16384 /* complex samples that are worth a task */

enum signal_op { SIGNAL_RFFT, SIGNAL_IRFFT, SIGNAL_CFFT };

/* What the transforms of one length need; numbers are of the dtype. */
typedef struct {
    int bits, bits1, bits2; /* of N, N1, N2; bits2 is 0 where rows lie side by side */
    void *steps1, *steps2;  /* twiddles of the passes over columns */
    void *turn, *lanes;     /* of the matrix: of each block of columns by row; of each row by lane, re and im apart */
    void *half_re, *half_im; /* exp(-i pi k / N) for k < N / 2 */
} signal_plan;

typedef struct {
    enum signal_op op;
    const signal_plan *plan;
    const void *a, *b; /* inputs, have values a row */
    void *re, *im;     /* results; im is not used by irfft */
    int64_t rows, n, have, group;
    int failed;
} signal_job;

/* exp(-2 pi i k / n) in double precision: the angle is taken from the nearest axis or diagonal */
static void unit_root(int64_t k, int64_t n, double *re, double *im) {
    const double turn = 6.283185307179586476925286766559;
    k &= n - 1;
    int64_t eighth = 8 * k / n, from = (eighth + 1) / 2, rest = 4 * k - from * n; /* angle = from quarters + rest / 4n */
    double angle = turn * (double)rest / (double)(4 * n), c = cos(angle), s = sin(angle);
    switch (from & 3) {
    case 0: *re = c, *im = -s; break;
    case 1: *re = -s, *im = -c; break;
    case 2: *re = -c, *im = s; break;
    default: *re = s, *im = c;
    }
}

/* how many of the bits of a length the next pass takes */
static int pass_bits(int bits) { return bits == 1 ? 1 : bits & 1 ? 3 : 2; }

/* ---- lanes. SWAPd: of a pair of vectors, the blocks of d lanes that a transposition exchanges */
#define SWAP1_LO_2 {0, 2}
#define SWAP1_HI_2 {1, 3}
#define PICK_EVEN_2 {0, 2}
#define PICK_ODD_2 {1, 3}
#define ZIP_LO_2 {0, 2}
#define ZIP_HI_2 {1, 3}
#define MIRROR_2 {1, 0}

#define SWAP1_LO_4 {0, 4, 2, 6}
#define SWAP1_HI_4 {1, 5, 3, 7}
#define SWAP2_LO_4 {0, 1, 4, 5}
#define SWAP2_HI_4 {2, 3, 6, 7}
#define PICK_EVEN_4 {0, 2, 4, 6}
#define PICK_ODD_4 {1, 3, 5, 7}
#define ZIP_LO_4 {0, 4, 1, 5}
#define ZIP_HI_4 {2, 6, 3, 7}
#define MIRROR_4 {3, 2, 1, 0}

#define SWAP1_LO_8 {0, 8, 2, 10, 4, 12, 6, 14}
#define SWAP1_HI_8 {1, 9, 3, 11, 5, 13, 7, 15}
#define SWAP2_LO_8 {0, 1, 8, 9, 4, 5, 12, 13}
#define SWAP2_HI_8 {2, 3, 10, 11, 6, 7, 14, 15}
#define SWAP4_LO_8 {0, 1, 2, 3, 8, 9, 10, 11}
#define SWAP4_HI_8 {4, 5, 6, 7, 12, 13, 14, 15}
#define PICK_EVEN_8 {0, 2, 4, 6, 8, 10, 12, 14}
#define PICK_ODD_8 {1, 3, 5, 7, 9, 11, 13, 15}
#define ZIP_LO_8 {0, 8, 1, 9, 2, 10, 3, 11}
#define ZIP_HI_8 {4, 12, 5, 13, 6, 14, 7, 15}
#define MIRROR_8 {7, 6, 5, 4, 3, 2, 1, 0}

#define SWAP1_LO_16 {0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30}
#define SWAP1_HI_16 {1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31}
#define SWAP2_LO_16 {0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29}
#define SWAP2_HI_16 {2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31}
#define SWAP4_LO_16 {0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27}
#define SWAP4_HI_16 {4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31}
#define SWAP8_LO_16 {0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23}
#define SWAP8_HI_16 {8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31}
#define PICK_EVEN_16 {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30}
#define PICK_ODD_16 {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31}
#define ZIP_LO_16 {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23}
#define ZIP_HI_16 {8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31}
#define MIRROR_16 {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define LANES(name) PASTE(name, L)

#if BURN_LEVEL == 4
#define L 16
#elif BURN_LEVEL == 3
#define L 8
#else
#define L 4
#endif
#define FN(name) name##_f32
#define T float
#define V vf
#define V_UN vf_un
#define I vi
#include "fft_type.h"

#if BURN_LEVEL == 4
#define L 8
#elif BURN_LEVEL == 3
#define L 4
#else
#define L 2
#endif
#define FN(name) name##_f64
#define T double
#define V vd
#define V_UN vd_un
#define I vl
#include "fft_type.h"

/* Rows of `have` values (samples, or bins of irfft), cut or padded with zeros to what a transform of n samples takes. */
static int signal_run(enum signal_op op, int dtype, const void *a, const void *b, void *re, void *im, int64_t rows,
                      int64_t n, int64_t have, burn_args *args) {
    const int wide = dtype == DT_F64;
    const int bits = __builtin_ctzll((uint64_t)n) - (op != SIGNAL_CFFT);
    const signal_plan *plan;
    if (rows == 0) return BURN_OK;
    plan = wide ? plan_f64(bits) : plan_f32(bits);
    if (!plan) return rt_no_memory(args, n * (wide ? 32 : 16));
    signal_job j = {.op = op, .plan = plan, .a = a, .b = b, .re = re, .im = im, .rows = rows, .n = n, .have = have};
    int64_t lanes = wide ? VD : VW, most = i64_max(1, TASK_POINTS >> bits);
    j.group = i64_max(1, i64_min(most, ceil_div(rows, 2)));
    if (!plan->bits2) j.group = ceil_div(j.group, lanes) * lanes;
    rt_tasks(wide ? rows_task_f64 : rows_task_f32, &j, ceil_div(rows, j.group), (double)(rows * n) * (wide ? 4 : 2));
    return j.failed ? rt_no_memory(args, n * (wide ? 32 : 16)) : BURN_OK;
}
