/* Activations beyond those of elementwise_float.h: one line each, as there. Those with numbers of their own find them in
   k[0] to k[3]. */
#pragma once
#include "elementwise_float.h"

/* ---- e^x - 1 without losing the digits of a small x; right for x < 88 */
static inline vf m_expm1(vf x) {
    vf z, r = vm_reduce(vf_min(bc(88.f), vf_max(bc(-25.f), x)), &z), s = (vf)(((vi)z + 127) << 23);
    return vf_fma(s, vm_expm1_small(r), s - bc(1.f));
}
/* ---- mish: x n / d, where n / d = tanh(log(1 + e^x)), from e = e^-|x| */
static inline vf m_mish(vf x) {
    vf q = vm_exp_neg(x), e = q * bc(0x1p-64f), two = e + e;
    vm neg = vf_lt(x, bc(0.f));
    vf d = vf_sel(neg, vf_fma(e, e, two) + bc(2.f), vf_fma(two, e, bc(1.f) + two));
    vf far = vf_max(bc(-120.f), x) * (q * (bc(2.f) + e)) * bc(0x1p-64f);
    return vf_sel(neg, far, x * (bc(1.f) + two)) / d;
}
static inline double d_mish(double x) {
    double e = exp(-fabs(x)), n = x < 0 ? e * (2 + e) : 1 + 2 * e, d = x < 0 ? n + 2 : n + 2 * e * e;
    return x < -800 ? -0.0 : x * (n / d);
}
/* w + x s (1 - w^2) with s = sigmoid(x), w = n / d and u = 1 - w */
static inline vf m_mish_slope(vf x) {
    vf c = vf_max(bc(-120.f), vf_min(bc(120.f), x)), e = vm_exp_neg(c) * bc(0x1p-64f), two = e + e;
    vm neg = vf_lt(c, bc(0.f));
    vf n = vf_sel(neg, vf_fma(e, e, two), bc(1.f) + two), v = vf_sel(neg, bc(2.f), two * e);
    vf d = bc(1.f) / (n + v), w = n * d, s = vf_sel(neg, e, bc(1.f)) / (bc(1.f) + e);
    return vf_fma(c * s * (v * d), bc(1.f) + w, w);
}
static inline double d_mish_slope(double x) {
    double c = d_clip(x, 800), e = exp(-fabs(c)), n = c < 0 ? e * (2 + e) : 1 + 2 * e, v = c < 0 ? 2 : 2 * e * e;
    double w = n / (n + v), u = v / (n + v);
    return w + c * d_sigmoid(c) * u * (1 + w);
}
static inline vf m_clip01(vf x) { return vf_min(bc(1.f), vf_max(bc(0.f), x)); }
static inline double d_clip01(double x) { return x < 0 ? 0.0 : x > 1 ? 1.0 : x; }
static inline vf m_softsign(vf x) {
    vf a = vf_abs(x);
    return vf_sel(vf_eq(a, bc(INFINITY)), vf_copysign(bc(1.f), x), x / (bc(1.f) + a));
}
static inline double d_softsign(double x) { return fabs(x) == INFINITY ? copysign(1, x) : x / (1 + fabs(x)); }
static inline vf m_over_square(vf y, vf a) { return y / (a * a); }

/* op, f32 vectors, double, cost */
#define FLOAT_ACTIVATION(X) \
    X(hard_swish, vf_sel(vf_le(x, bc(-3.f)), bc(0.f), x * m_clip01(vf_fma(x, bc(1.f / 6), bc(.5f)))), \
      x <= -3 ? 0.0 : x * d_clip01(x / 6 + 0.5), .25f) \
    X(mish, m_mish(x), d_mish(x), .8f) \
    X(softsign, m_softsign(x), d_softsign(x), .25f) \
    X(tanhshrink, x - m_tanh(x), x - tanh(x), .7f)
/* backward kernels: x is the input, y the gradient of the output; where y is 0 so is the result */
#define FLOAT_ACTIVATION_BACKWARD(X) \
    X(hard_swish_bwd, vf_sel(vf_lt(x, bc(-3.f)), bc(0.f), vf_sel(vf_gt(x, bc(3.f)), y, y * vf_fma(x, bc(1.f / 3), bc(.5f)))), \
      x < -3 ? 0.0 : x > 3 ? y : y * (x / 3 + 0.5), .25f) \
    X(mish_bwd, y * m_mish_slope(x), y * d_mish_slope(x), 1.f) \
    X(softsign_bwd, m_over_square(y, bc(1.f) + vf_abs(x)), y / ((1 + fabs(x)) * (1 + fabs(x))), .3f)

/* with numbers */
#define FLOAT_NUMBERED(X) \
    X(leaky_relu, vf_sel(vf_lt(x, bc(0.f)), k[0] * x, x), x < 0 ? k[0] * x : x, .2f) \
    X(elu, vf_sel(vf_gt(x, bc(0.f)), k[1] * x, k[0] * m_expm1(k[2] * x)), x > 0 ? k[1] * x : k[0] * expm1(k[2] * x), .5f) \
    X(hard_sigmoid, m_clip01(vf_fma(k[0], x, k[1])), d_clip01(k[0] * x + k[1]), .2f) \
    X(softplus, vf_sel(vf_gt(k[0] * x, k[1]), x, m_log_sigmoid(-(k[0] * x)) / -k[0]), \
      k[0] * x > k[1] ? x : d_log_sigmoid(-(k[0] * x)) / -k[0], .9f) \
    X(shrink, vf_sel(vf_le(vf_abs(x), k[0]), bc(0.f), x - m_sign(x) * k[1]), fabs(x) <= k[0] ? 0.0 : x - d_sign(x) * k[1], .25f) \
    X(threshold, vf_sel(vf_le(x, k[0]), k[1], x), x <= k[0] ? k[1] : x, .2f)
#define FLOAT_NUMBERED_BACKWARD(X) \
    X(leaky_relu_bwd, vf_sel(vf_lt(x, bc(0.f)), k[0] * y, y), x < 0 ? k[0] * y : y, .25f) \
    X(elu_bwd, vf_sel(vf_gt(x, bc(0.f)), k[1] * y, vf_sel(vf_eq(x, bc(0.f)), k[3] * y, k[0] * k[2] * y * m_exp(k[2] * x))), \
      x > 0 ? k[1] * y : x == 0 ? k[3] * y : k[0] * k[2] * y * exp(k[2] * x), .5f) \
    X(hard_sigmoid_bwd, \
      vf_sel(vm_and(vf_ge(vf_fma(k[0], x, k[1]), bc(0.f)), vf_le(vf_fma(k[0], x, k[1]), bc(1.f))), k[0] * y, bc(0.f)), \
      k[0] * x + k[1] >= 0 && k[0] * x + k[1] <= 1 ? k[0] * y : 0.0, .25f) \
    X(softplus_bwd, vf_sel(vf_gt(k[0] * x, k[1]), y, y * m_sigmoid(k[0] * x)), \
      k[0] * x > k[1] ? y : y * d_sigmoid(k[0] * x), .6f) \
    X(shrink_bwd, vf_sel(vf_le(vf_abs(x), k[0]), bc(0.f), y), fabs(x) <= k[0] ? 0.0 : y, .25f) \
    X(threshold_bwd, vf_sel(vf_le(x, k[0]), bc(0.f), y), x <= k[0] ? 0.0 : y, .25f)

#define MAKE_FLOAT_NUMBERED(name, V, D, C) \
    F32_UNARY_WITH(l_##name##_f32, C, F32_NUMBERS, V) \
    UNARY_WITH(l_##name##_f64, double, double, F64_NUMBERS, D) \
    FLOAT_KERNELS(name, C, 1)
#define MAKE_FLOAT_NUMBERED_BACKWARD(name, V, D, C) \
    F32_BINARY_WITH(l_##name##_f32, C, F32_NUMBERS, vf_gate(y, V)) \
    BINARY_SLOW_WITH(l_##name##_f64, double, double, F64_NUMBERS, y == 0 ? 0.0 : D) \
    FLOAT_KERNELS(name, C, 2)
FLOAT_ACTIVATION(MAKE_FLOAT_UNARY)
FLOAT_ACTIVATION_BACKWARD(MAKE_FLOAT_BACKWARD)
FLOAT_NUMBERED(MAKE_FLOAT_NUMBERED)
FLOAT_NUMBERED_BACKWARD(MAKE_FLOAT_NUMBERED_BACKWARD)

/* ---- x sigmoid(y) */
F32_BINARY(l_glu_f32, .6f, x * m_sigmoid(y))
BINARY_SLOW(l_glu_f64, double, double, x * d_sigmoid(y))
FLOAT_KERNELS(glu, .6f, 2)

/* ---- prelu(x, slope), and its gradient by x from (x, slope, gradient of the output) */
F32_BINARY(l_prelu_f32, .25f, vf_sel(vf_lt(x, bc(0.f)), y * x, x))
BINARY_SLOW(l_prelu_f64, double, double, x < 0 ? y * x : x)
F32_TERNARY(l_prelu_bwd_f32, .25f, vf_gate(z, vf_sel(vf_lt(x, bc(0.f)), y * z, z)))
TERNARY(l_prelu_bwd_f64, double, x < 0 && z != 0 ? y * z : z)
FLOAT_KERNELS(prelu, .25f, 2)
FLOAT_KERNELS(prelu_bwd, .25f, 3)
