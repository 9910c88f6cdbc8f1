/* Losses of two elements x and y, mostly of their error x - y, with their numbers in k[0] to k[3]; gradients by x are made from
   (x, y, gradient of the output z). */
#pragma once
#include "elementwise_float.h"

/* ---- |r|^p; the slope at 0 is 0, whatever p is. Factors are taken one by one, from the gradient on. */
static inline vf m_error_power(vf r, float p) {
    vf a = vf_abs(r);
    if (p == 4) return a * a * (a * a);
    if (p == 1.5f) return a * vf_sqrt(a);
    if (p == .5f) return vf_sqrt(a);
    return m_pow(a, elt_number(p));
}
static inline vf m_error_power_slope(vf r, float p, vf z) {
    vf a = vf_abs(r), g = z * m_sign(r) * elt_number(p);
    if (p == 4) return g * a * a * a;
    if (p == 1.5f) return g * vf_sqrt(a);
    g = p == .5f ? g / vf_sqrt(a) : g * m_pow(a, elt_number(p) - bc(1.f));
    return vf_sel(vf_eq(a, bc(0.f)), bc(0.f), g);
}
static inline double d_error_power(double r, double p) {
    double a = fabs(r);
    return p == 1 ? a : p == 2 ? a * a : p == 3 ? a * a * a : p == 1.5 ? a * sqrt(a) : pow(a, p);
}
static inline double d_error_power_slope(double r, double p, double z) {
    double a = fabs(r), g = p * z * d_sign(r);
    if (a == 0 || z == 0) return 0;
    return p == 1 ? g : p == 2 ? g * a : p == 3 ? g * a * a : p == 1.5 ? g * sqrt(a) : g * pow(a, p - 1);
}
static int l_error_power_f32(const elt_span *s) {
    const int half = s->half;
    const float p = (float)s->f[0];
    F32_OPERAND(0)
    F32_OPERAND(1)
    if (p == 1) {
        F32_BINARY_LOOP(.25f, vf_abs(x - y))
    } else if (p == 2) {
        F32_BINARY_LOOP(.25f, ({ vf e = x - y; e * e; }))
    } else if (p == 3) {
        F32_BINARY_LOOP(.25f, ({ vf e = vf_abs(x - y); e * e * e; }))
    } else {
        F32_BINARY_LOOP(2, m_error_power(x - y, p))
    }
    return BURN_OK;
}
static int l_error_power_bwd_f32(const elt_span *s) {
    const int half = s->half;
    const float p = (float)s->f[0];
    F32_OPERAND(0)
    F32_OPERAND(1)
    F32_OPERAND(2)
    if (p == 1) {
        F32_TERNARY_LOOP(.25f, z * m_sign(x - y))
    } else if (p == 2) {
        F32_TERNARY_LOOP(.25f, vf_gate(z, z * (x - y) * bc(2.f)))
    } else if (p == 3) {
        F32_TERNARY_LOOP(.25f, ({ vf e = x - y; vf_gate(z, z * vf_abs(e) * e * bc(3.f)); }))
    } else {
        F32_TERNARY_LOOP(2, vf_gate(z, m_error_power_slope(x - y, p, z)))
    }
    return BURN_OK;
}
BINARY_SLOW_WITH(l_error_power_f64, double, double, const double p = s->f[0];, d_error_power(x - y, p))
TERNARY_WITH(l_error_power_bwd_f64, double, const double p = s->f[0];, d_error_power_slope(x - y, p, z))
FLOAT_KERNELS(error_power, .4f, 2)
FLOAT_KERNELS(error_power_bwd, .4f, 3)

/* ---- Huber's loss: r^2 / (2 k1) up to |r| = k0, then k2 (|r| - k0 / 2), k2 = k0 / k1 */
static inline vf m_huber(vf r, const vf *k) {
    vf a = vf_abs(r);
    return vf_sel(vf_le(a, k[0]), a * bc(.5f) * (a / k[1]), (a - k[0] * bc(.5f)) * k[2]);
}
static inline vf m_huber_slope(vf r, const vf *k) {
    return vf_sel(vf_gt(vf_abs(r), k[0]), vf_copysign(k[2], r), r / k[1]);
}
/* k1 a power of two: a product with its inverse is the quotient, and takes less time */
static inline int huber_by(const double *f, vf *by) {
    int e;
    *by = elt_number(1 / f[1]);
    return frexp(f[1], &e) == .5 && e > -100 && e < 100;
}
static inline vf m_huber_by(vf r, const vf *k, vf by) {
    vf a = vf_abs(r);
    return vf_sel(vf_le(a, k[0]), a * bc(.5f) * (a * by), (a - k[0] * bc(.5f)) * k[2]);
}
static inline vf m_huber_slope_by(vf r, const vf *k, vf by) {
    return vf_sel(vf_gt(vf_abs(r), k[0]), vf_copysign(k[2], r), r * by);
}
static inline double d_huber(double r, const double *k) {
    double a = fabs(r);
    return a <= k[0] ? a * .5 * (a / k[1]) : (a - k[0] * .5) * k[2];
}
static inline double d_huber_slope(double r, const double *k) { return fabs(r) > k[0] ? copysign(k[2], r) : r / k[1]; }
static int l_error_huber_f32(const elt_span *s) {
    const int half = s->half;
    F32_OPERAND(0)
    F32_OPERAND(1)
    F32_NUMBERS
    vf by;
    if (huber_by(s->f, &by)) {
        F32_BINARY_LOOP(.25f, m_huber_by(x - y, k, by))
    } else {
        F32_BINARY_LOOP(.3f, m_huber(x - y, k))
    }
    return BURN_OK;
}
BINARY_SLOW_WITH(l_error_huber_f64, double, double, F64_NUMBERS, d_huber(x - y, k))
static int l_error_huber_bwd_f32(const elt_span *s) {
    const int half = s->half;
    F32_OPERAND(0)
    F32_OPERAND(1)
    F32_OPERAND(2)
    F32_NUMBERS
    vf by;
    if (huber_by(s->f, &by)) {
        F32_TERNARY_LOOP(.25f, vf_gate(z, z * m_huber_slope_by(x - y, k, by)))
    } else {
        F32_TERNARY_LOOP(.3f, vf_gate(z, z * m_huber_slope(x - y, k)))
    }
    return BURN_OK;
}
TERNARY_WITH(l_error_huber_bwd_f64, double, F64_NUMBERS, z == 0 ? 0.0 : z * d_huber_slope(x - y, k))
FLOAT_KERNELS(error_huber, .3f, 2)
FLOAT_KERNELS(error_huber_bwd, .3f, 3)

/* ---- y (log y - x) of a probability y and the logarithm x of another; f[0]: y is a logarithm, too. 0 where y is impossible */
static inline vf m_kl(vf x, vf y) { return vf_sel(vf_eq(y, bc(0.f)), bc(0.f), y * (m_log(y) - x)); }
static inline vf m_kl_logs(vf x, vf y) { return vf_sel(vf_eq(y, bc(-INFINITY)), bc(0.f), m_exp(y) * (y - x)); }
static inline double d_kl(double x, double y, double logs) {
    if (logs != 0) return y == -INFINITY ? 0 : exp(y) * (y - x);
    return y == 0 ? 0 : y * (log(y) - x);
}
static int l_kl_term_f32(const elt_span *s) {
    const int half = s->half;
    F32_OPERAND(0)
    F32_OPERAND(1)
    if (s->f[0] != 0) {
        F32_BINARY_LOOP(.6f, m_kl_logs(x, y))
    } else {
        F32_BINARY_LOOP(.6f, m_kl(x, y))
    }
    return BURN_OK;
}
BINARY_SLOW_WITH(l_kl_term_f64, double, double, const double logs = s->f[0];, d_kl(x, y, logs))
/* the slopes by x, and by y */
static int l_kl_term_bwd_f32(const elt_span *s) {
    const int half = s->half;
    F32_OPERAND(0)
    F32_OPERAND(1)
    F32_OPERAND(2)
    if (s->f[0] != 0) {
        F32_TERNARY_LOOP(.6f, ({ (void)x; vf_gate(z, -(z * m_exp(y))); }))
    } else {
        F32_TERNARY_LOOP(.25f, ({ (void)x; vf_sel(vf_eq(y, bc(0.f)), bc(0.f), vf_gate(z, -(z * y))); }))
    }
    return BURN_OK;
}
static int l_kl_term_target_bwd_f32(const elt_span *s) {
    const int half = s->half;
    F32_OPERAND(0)
    F32_OPERAND(1)
    F32_OPERAND(2)
    if (s->f[0] != 0) {
        F32_TERNARY_LOOP(.6f, vf_gate(z, vf_sel(vf_eq(y, bc(-INFINITY)), bc(0.f), z * m_exp(y) * (y - x + bc(1.f)))))
    } else {
        F32_TERNARY_LOOP(.6f, vf_gate(z, vf_sel(vf_eq(y, bc(0.f)), bc(0.f), z * (m_log(y) - x + bc(1.f)))))
    }
    return BURN_OK;
}
static inline double d_kl_slope(double y, double z, double logs) {
    return z == 0 || (logs == 0 && y == 0) ? 0 : -z * (logs != 0 ? exp(y) : y);
}
static inline double d_kl_target_slope(double x, double y, double z, double logs) {
    if (z == 0 || y == (logs != 0 ? -INFINITY : 0)) return 0;
    return logs != 0 ? z * exp(y) * (y - x + 1) : z * (log(y) - x + 1);
}
TERNARY_WITH(l_kl_term_bwd_f64, double, const double logs = s->f[0];, ({ (void)x; d_kl_slope(y, z, logs); }))
TERNARY_WITH(l_kl_term_target_bwd_f64, double, const double logs = s->f[0];, d_kl_target_slope(x, y, z, logs))
FLOAT_KERNELS(kl_term, .6f, 2)
FLOAT_KERNELS(kl_term_bwd, .6f, 3)
FLOAT_KERNELS(kl_term_target_bwd, .6f, 3)

/* ---- the sum of the losses of all elements over f[4]. A block of losses stays in L1, so nothing goes to memory; the pieces
   are cut by size alone, and their sums are doubles. */
#define ERROR_PIECE 32768
typedef struct {
    elt_loop loop;
    elt_span s;
    int wide; /* of doubles */
    double *sums;
} error_task;
static double error_block(const void *loss, int64_t n, int wide) {
    double sum = 0;
    int64_t i = 0;
    if (wide) {
        for (; i < n; i++) sum += ((const double *)loss)[i];
        return sum;
    }
    const float *p = loss;
    vf a = {0}, b = a;
    for (; i + 2 * VW <= n; i += 2 * VW) a += vf_load(p + i), b += vf_load(p + i + VW);
    for (; i < n; i++) sum += (double)p[i];
    return sum + (double)vf_sum(a + b);
}
static void error_body(void *ctx, int64_t piece) {
    const error_task *t = ctx;
    uint64_t loss[ELT_BLOCK] __attribute__((aligned(64)));
    const int64_t size = t->wide ? 8 : 4, first = piece * ERROR_PIECE;
    const int64_t last = t->s.n - first < ERROR_PIECE ? t->s.n : first + ERROR_PIECE;
    double sum = 0;
    for (int64_t i = first; i < last; i += ELT_BLOCK) {
        elt_span s = t->s;
        s.n = last - i < ELT_BLOCK ? last - i : ELT_BLOCK;
        s.out = loss;
        for (int k = 0; k < 2; k++) s.in[k] = (const char *)s.in[k] + i * size;
        t->loop(&s);
        sum += error_block(loss, s.n, t->wide);
    }
    t->sums[piece] = sum;
}
static int error_sum(elt_loop loop, float cost, int wide, const burn_buf *out, const burn_buf *in, burn_args *a) {
    const int64_t n = in->size, pieces = (n + ERROR_PIECE - 1) / ERROR_PIECE;
    const size_t bytes = (size_t)(pieces + 1) * sizeof(double);
    error_task t = {.loop = loop, .s = {.n = n, .in = {in[0].p, in[1].p}, .step = {1, 1}, .f = a->f}, .wide = wide};
    if (!(t.sums = elt_rt->alloc(bytes))) {
        a->err[0] = (int64_t)bytes;
        return BURN_ERR_MEMORY;
    }
    if ((float)n * cost > ELT_SERIAL_NS) elt_rt->run(error_body, &t, pieces);
    else for (int64_t i = 0; i < pieces; i++) error_body(&t, i);
    double sum = 0;
    for (int64_t i = 0; i < pieces; i++) sum += t.sums[i];
    elt_rt->free(t.sums, bytes);
    if (wide) *(double *)out->p = sum / a->f[4];
    else *(float *)out->p = (float)(sum / a->f[4]);
    return BURN_OK;
}
#define ERROR_SUM(name, cost) \
    static int k_##name##_sum_f32(const burn_buf *out, const burn_buf *in, burn_args *a) { \
        return error_sum(l_##name##_f32, cost, 0, out, in, a); \
    } \
    static int k_##name##_sum_f64(const burn_buf *out, const burn_buf *in, burn_args *a) { \
        return error_sum(l_##name##_f64, 3 * cost, 1, out, in, a); \
    }
ERROR_SUM(error_power, .3f)
ERROR_SUM(error_huber, .3f)
ERROR_SUM(kl_term, .6f)
#define ROWS_ERROR_SUM(name) \
    {#name "_sum", DT_F32, 0, .3f, k_##name##_sum_f32}, {#name "_sum", DT_FLEX32, 0, .3f, k_##name##_sum_f32}, \
    {#name "_sum", DT_F64, 0, .9f, k_##name##_sum_f64},
