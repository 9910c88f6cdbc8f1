/* Losses of rows with a class (loss_classes.h), and of sequences: CTC (loss_ctc.h) and RNN-T (loss_rnnt.h). The sums of these
   over alignments run over logarithms in double, whatever the dtype, so that long sequences lose nothing; exponentials and
   logarithms of their differences are taken in float for f32 and half precision. */
#pragma once
#include "lanes.h"
#include "runtime.h"
#include "scalar.h"
#include "vmath.h"

#define LOSS_SPAN 1024

typedef struct {
    int size, exact;                                                          /* bytes an element; whether it is f64 */
    void (*gather)(const void *row, const int64_t *ids, int64_t n, double *out);
    void (*put)(void *row, int64_t at, double v);
    double (*log_sum)(const void *row, int64_t n);
    void (*softmax)(const void *row, void *out, int64_t n, double log_sum, double scale);
    double (*dot)(const void *row, const void *weights, int64_t n, double less);
    void (*likelier)(const void *row, const void *weights, void *out, int64_t n, double log_sum, double scale, double each,
                     int64_t id, double own, int stream);
    void (*spread)(const void *weights, void *out, int64_t n, double scale);
    double (*lacking)(const void *row, int64_t n, int64_t id, double margin, int64_t p);
    void (*slopes)(const void *row, void *out, int64_t n, int64_t id, double margin, int64_t p, double scale);
} loss_type;

VINL vd vd_exp(vd x) {
    for (int l = 0; l < VD; l++) x[l] = exp(x[l]);
    return x;
}
#define FN(name) name##_f32
#define T float
#define A float
#define V vf
#define L VW
#define LOAD vf_load
#define LOAD_N vf_load_n
#define STORE vf_store
#define STORE_N vf_store_n
#define STREAM vf_stream
#define EXP m_exp
#define HSUM vf_sum
#define MAXV vf_max
#define UP(v) ((double)(v))
#define DOWN(v) ((float)(v))
#include "loss_type.h"

#define FN(name) name##_f64
#define T double
#define A double
#define V vd
#define L VD
#define LOAD vd_load
#define LOAD_N vd_load_n
#define STORE vd_store
#define STORE_N vd_store_n
#define STREAM vd_stream
#define EXP vd_exp
#define HSUM vd_sum
#define MAXV vd_max
#define UP(v) (v)
#define DOWN(v) (v)
#include "loss_type.h"

#define FN(name) name##_f16
#define T uint16_t
#define A float
#define V vf
#define L VW
#define LOAD vf_load_f16
#define LOAD_N vf_load_f16_n
#define STORE vf_store_f16
#define STORE_N vf_store_f16_n
#define STREAM vf_store_f16
#define EXP m_exp
#define HSUM vf_sum
#define MAXV vf_max
#define UP(v) ((double)vf_load_f16_n(&(v), 1)[0])
#define DOWN(v) half_bits(v)
#include "loss_type.h"

#define FN(name) name##_bf16
#define T uint16_t
#define A float
#define V vf
#define L VW
#define LOAD vf_load_bf16
#define LOAD_N vf_load_bf16_n
#define STORE vf_store_bf16
#define STORE_N vf_store_bf16_n
#define STREAM vf_store_bf16
#define EXP m_exp
#define HSUM vf_sum
#define MAXV vf_max
#define UP(v) ((double)vf_load_bf16_n(&(v), 1)[0])
#define DOWN(v) bfloat_bits(v)
#include "loss_type.h"

static const loss_type *const LOSS_TYPES[DT_COUNT] = {
    [DT_F64] = &loss_f64, [DT_F32] = &loss_f32, [DT_FLEX32] = &loss_f32, [DT_F16] = &loss_f16, [DT_BF16] = &loss_bf16,
};

/* log(e^a + e^b) */
VINL double log_add(double a, double b) {
    const double low = a < b ? a : b, high = a < b ? b : a;
    return low == -INFINITY ? high : high + log1p(exp(low - high));
}

/* ---- targets and lengths: Int tensors of 32 or 64 bits */
VINL int64_t int_at(const burn_buf *b, int64_t i) {
    return b->dtype == DT_I64 ? ((const int64_t *)b->p)[i] : ((const int32_t *)b->p)[i];
}
/* An error names one of several tensors: its number is above the position. */
#define LOSS_WHICH ((int64_t)1 << 40)
static int loss_outside(burn_args *a, int64_t which, int64_t position, int64_t value, int64_t size) {
    a->err[0] = which * LOSS_WHICH + position;
    a->err[1] = value;
    a->err[2] = size;
    return BURN_ERR_INDEX;
}
/* ints = targets [n, s], lengths of the inputs [n] and of the targets [n]: targets in 0..classes-1, those lengths in
   least..most and 0..s */
static int loss_check(const burn_buf *ints, int64_t n, int64_t s, int64_t classes, int64_t least, int64_t most, burn_args *a) {
    for (int64_t b = 0; b < n; b++) {
        const int64_t steps = int_at(&ints[1], b), count = int_at(&ints[2], b);
        if (steps < least || steps > most) return loss_outside(a, 1, b, steps, most);
        if (count < 0 || count > s) return loss_outside(a, 2, b, count, s);
        for (int64_t i = 0; i < count; i++) {
            const int64_t id = int_at(&ints[0], b * s + i);
            if (id < 0 || id >= classes) return loss_outside(a, 0, b * s + i, id, classes);
        }
    }
    return BURN_OK;
}
#include "loss_classes.h"
#include "loss_ctc.h"
#include "loss_rnnt.h"
