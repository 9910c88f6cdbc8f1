// Elementwise kernels: one line an op, with its expression in the compute type; two kernels come of it (see
// elementwise_loops.cuh). Long functions are in elementwise_math.cuh, casts in elementwise_cast.cuh.
#include "common.cuh"
#include "elementwise_loops.cuh"
#include "elementwise_math.cuh"
#include "elementwise_cast.cuh"

// ---- numbers
UNARY(neg, NUMERIC, -N(x))
UNARY(abs, NUMERIC, m_abs(x))
UNARY(sign, NUMERIC, sign_of(x))
UNARY(square, NUMERIC, N(x) * N(x))
BINARY(add, NUMERIC, N(x) + N(y))
BINARY(sub, NUMERIC, N(x) - N(y))
BINARY(mul, NUMERIC, N(x) * N(y))
BINARY(max_pair, NUMERIC, max_of(x, y))
BINARY(min_pair, NUMERIC, min_of(x, y))
TERNARY(clamp, NUMERIC, clamp_of(x, y, z))

// ---- floats
BINARY(div, FLOAT, x / y)
BINARY(remainder, FLOAT, remainder_of(x, y))
BINARY(fmod, FLOAT, m_fmod(x, y))
BINARY(hypot, FLOAT, m_hypot(x, y))
BINARY(powf, FLOAT, m_pow(x, y))
BINARY(atan2, FLOAT, m_atan2(x, y))
UNARY(exp, FLOAT, m_exp(x))
UNARY(log, FLOAT, m_log(x))
UNARY(log1p, FLOAT, m_log1p(x))
UNARY(sqrt, FLOAT, m_sqrt(x))
UNARY(recip, FLOAT, C(1) / x)
UNARY(erf, FLOAT, m_erf(x))
UNARY(round, FLOAT, m_round(x))
UNARY(floor, FLOAT, m_floor(x))
UNARY(ceil, FLOAT, m_ceil(x))
UNARY(trunc, FLOAT, m_trunc(x))
UNARY(sin, FLOAT, m_sin(x))
UNARY(cos, FLOAT, m_cos(x))
UNARY(tan, FLOAT, m_tan(x))
UNARY(sinh, FLOAT, m_sinh(x))
UNARY(cosh, FLOAT, m_cosh(x))
UNARY(tanh, FLOAT, m_tanh(x))
UNARY(asin, FLOAT, m_asin(x))
UNARY(acos, FLOAT, m_acos(x))
UNARY(atan, FLOAT, m_atan(x))
UNARY(asinh, FLOAT, m_asinh(x))
UNARY(acosh, FLOAT, m_acosh(x))
UNARY(atanh, FLOAT, m_atanh(x))
UNARY(relu, FLOAT, x <= 0 ? C(0) : x)
UNARY(sigmoid, FLOAT, sigmoid_of(x))
UNARY(log_sigmoid, FLOAT, log_sigmoid_of(x))
UNARY(gelu, FLOAT, gelu_of(x))
UNARY(gelu_approximate, FLOAT, gelu_approximate_of(x))
UNARY(silu, FLOAT, silu_of(x))
UNARY(hard_swish, FLOAT, x <= -3 ? C(0) : x * clip01(x / 6 + C(0.5)))
UNARY(mish, FLOAT, mish_of(x))
UNARY(softsign, FLOAT, is_infinite(x) ? m_copysign(C(1), x) : x / (C(1) + m_abs(x)))
UNARY(tanhshrink, FLOAT, x - m_tanh(x))
BINARY(glu, FLOAT, x * sigmoid_of(y))
BINARY(prelu, FLOAT, x < 0 ? y * x : x)
NUMBERED(leaky_relu, FLOAT, x < 0 ? k[0] * x : x)
NUMBERED(elu, FLOAT, x > 0 ? k[1] * x : k[0] * m_expm1(k[2] * x))
NUMBERED(hard_sigmoid, FLOAT, clip01(m_fma(k[0], x, k[1])))
NUMBERED(softplus, FLOAT, k[0] * x > k[1] ? x : log_sigmoid_of(-(k[0] * x)) / -k[0])
NUMBERED(shrink, FLOAT, m_abs(x) <= k[0] ? C(0) : x - sign_of(x) * k[1])
NUMBERED(threshold, FLOAT, x <= k[0] ? k[1] : x)
NUMBERED2(error_power, FLOAT, power_of(m_abs(x - y), k[0]))
NUMBERED2(error_huber, FLOAT, huber_of(m_abs(x - y), k[0], k[1], k[2]))
NUMBERED2(kl_term, FLOAT, kl_of(x, y, k[0] != 0))
TEST(is_nan, FLOAT, x != x)
TEST(is_inf, FLOAT, is_infinite(x))
TEST(is_finite, FLOAT, is_finite_number(x))

// ---- gradients: x is the saved input or output, y the gradient of the output; where y is 0 so is the result
GRADIENT(mul_bwd, FLOAT, y * x)
GRADIENT(div_bwd, FLOAT, y / x)
GRADIENT(abs_bwd, FLOAT, y * (x > 0 ? C(1) : x < 0 ? C(-1) : C(0)))
GRADIENT(sqrt_bwd, FLOAT, x == 0 ? C(0) : y / (x + x))
GRADIENT(erf_bwd, FLOAT, y * erf_slope(x))
GRADIENT(tanh_bwd, FLOAT, y * ((C(1) - x) * (C(1) + x)))
GRADIENT(relu_bwd, FLOAT, x <= 0 ? C(0) : y)
GRADIENT(sigmoid_bwd, FLOAT, y * (x * (C(1) - x)))
GRADIENT(log_sigmoid_bwd, FLOAT, y * sigmoid_of(-x))
GRADIENT(gelu_bwd, FLOAT, y * gelu_slope(x))
GRADIENT(gelu_approximate_bwd, FLOAT, y * gelu_approximate_slope(x))
GRADIENT(silu_bwd, FLOAT, y * silu_slope(x))
GRADIENT(hard_swish_bwd, FLOAT, x < -3 ? C(0) : x > 3 ? y : y * (x / 3 + C(0.5)))
GRADIENT(mish_bwd, FLOAT, y * mish_slope(x))
GRADIENT(softsign_bwd, FLOAT, y / ((C(1) + m_abs(x)) * (C(1) + m_abs(x))))
TERNARY(powf_bwd, FLOAT, GATED(z, y == 0 || (x == 0 && y > 0 && y < 1) ? C(0) : z * y * power_less(x, y)))
TERNARY(prelu_bwd, FLOAT, GATED(z, x < 0 ? y * z : z))
NUMBERED_GRADIENT(leaky_relu_bwd, FLOAT, x < 0 ? k[0] * y : y)
NUMBERED_GRADIENT(elu_bwd, FLOAT, x > 0 ? k[1] * y : x == 0 ? k[3] * y : k[0] * k[2] * y * m_exp(k[2] * x))
NUMBERED_GRADIENT(hard_sigmoid_bwd, FLOAT, m_fma(k[0], x, k[1]) >= 0 && m_fma(k[0], x, k[1]) <= 1 ? k[0] * y : C(0))
NUMBERED_GRADIENT(softplus_bwd, FLOAT, k[0] * x > k[1] ? y : y * sigmoid_of(k[0] * x))
NUMBERED_GRADIENT(shrink_bwd, FLOAT, m_abs(x) <= k[0] ? C(0) : y)
NUMBERED_GRADIENT(threshold_bwd, FLOAT, x <= k[0] ? C(0) : y)
NUMBERED_GRADIENT2(error_power_bwd, FLOAT, x - y == 0 ? C(0) : power_slope(m_abs(x - y), k[0], z) * sign_of(x - y))
NUMBERED_GRADIENT2(error_huber_bwd, FLOAT, z * (m_abs(x - y) > k[0] ? m_copysign(k[2], x - y) : (x - y) / k[1]))
NUMBERED_GRADIENT2(kl_term_bwd, FLOAT, k[0] != 0 ? -z * m_exp(y) : y == 0 ? C(0) : -z * y)
NUMBERED_GRADIENT2(kl_term_target_bwd, FLOAT, kl_target_slope(x, y, z, k[0] != 0))

// ---- comparisons, bool, bits
COMPARE(equal, ANY, same(x, y))
COMPARE(not_equal, ANY, !same(x, y))
COMPARE(greater, NUMERIC, x > y)
COMPARE(greater_equal, NUMERIC, x >= y)
COMPARE(lower, NUMERIC, x < y)
COMPARE(lower_equal, NUMERIC, x <= y)
UNARY(bool_not, BOOL, x == 0)
BINARY(bool_and, BOOL, x != 0 && y != 0)
BINARY(bool_or, BOOL, (x | y) != 0)
BINARY(bool_xor, BOOL, (x != 0) != (y != 0))
UNARY(bitwise_not, INT, ~x)
BINARY(bitwise_and, INT, x & y)
BINARY(bitwise_or, INT, x | y)
BINARY(bitwise_xor, INT, x ^ y)
BINARY(powi, INT, int_power(x, y))

// ---- ops that refuse values of y: what is refused, the error, the value that it shows. A thread reports the first it has met.
#define NOWHERE 0x7fffffffffffffffll
#define CHECKED(op, BAD, code, shown, ...) \
    struct of_##op { \
        i64 *first, *value; \
        INLINE T operator()(i64 at, C x, C y) const { \
            if (BAD && at < *first) { \
                *first = at; \
                *value = shown; \
            } \
            return down<T>(__VA_ARGS__); \
        } \
    }; \
    KERNEL(op##_flat, ELT_THREADS, (T *out, In<T> x, In<T> y, i64 n, Error *err, i64 ticket)) { \
        i64 first = NOWHERE, value = 0; \
        flat(out, n, of_##op{&first, &value}, x, y); \
        if (first != NOWHERE) report(err, ticket, code, first, value, 0); \
    } \
    KERNEL(op##_strided, ELT_THREADS, \
           (T *out, GIVEN Strided<T> x, GIVEN Strided<T> y, GIVEN Tiles tiles, Error *err, i64 ticket)) { \
        i64 first = NOWHERE, value = 0; \
        strided(out, tiles, of_##op{&first, &value}, x, y); \
        if (first != NOWHERE) report(err, ticket, code, first, value, 0); \
    }
#if IS_INT
OP(div, INT) CHECKED(div, y == 0, ERR_ZERO_DIV, 0, quotient(x, y))
OP(remainder, INT) CHECKED(remainder, y == 0, ERR_ZERO_DIV, 0, remainder_of(x, y))
OP(floordiv, INT) CHECKED(floordiv, y == 0, ERR_ZERO_DIV, 0, floor_quotient(x, y))
OP(bitwise_left_shift, INT) CHECKED(bitwise_left_shift, negative(y), ERR_SHIFT, (i64)y, left_shift(x, y))
OP(bitwise_right_shift, INT) CHECKED(bitwise_right_shift, negative(y), ERR_SHIFT, (i64)y, right_shift(x, y))
#endif

// ---- mask ? value : x, whatever the elements are
OP(mask_where, ANY)
struct of_mask_where { INLINE T operator()(i64, C x, u8 mask, C value) const { return down<T>(mask ? value : x); } };
KERNEL(mask_where_flat, ELT_THREADS, (T *out, In<T> x, In<u8> mask, In<T> value, i64 n)) {
    flat(out, n, of_mask_where(), x, mask, value);
}
KERNEL(mask_where_strided, ELT_THREADS,
       (T *out, GIVEN Strided<T> x, GIVEN Strided<u8> mask, GIVEN Strided<T> value, GIVEN Tiles tiles)) {
    strided(out, tiles, of_mask_where(), x, mask, value);
}

// ---- powers with one exponent for all elements
OP(powf_scalar, FLOAT)
OP(powf_scalar_bwd, FLOAT)
#if IS_FLOAT
struct of_powf_scalar {
    C p;
    INLINE auto operator()(i64, C x) const { return Result<T>::of(power_of(x, p)); }
};
struct of_powf_scalar_bwd {
    C p;
    INLINE auto operator()(i64, C x, C g) const { return Result<T>::of(power_slope(x, p, g)); }
};
KERNEL(powf_scalar_flat, ELT_THREADS, (T *out, In<T> x, i64 n, C exponent)) { flat(out, n, of_powf_scalar{exponent}, x); }
KERNEL(powf_scalar_strided, ELT_THREADS, (T *out, GIVEN Strided<T> x, GIVEN Tiles tiles, C exponent)) {
    strided(out, tiles, of_powf_scalar{exponent}, x);
}
KERNEL(powf_scalar_bwd_flat, ELT_THREADS, (T *out, In<T> x, In<T> g, i64 n, C exponent)) {
    flat(out, n, of_powf_scalar_bwd{exponent}, x, g);
}
KERNEL(powf_scalar_bwd_strided, ELT_THREADS,
       (T *out, GIVEN Strided<T> x, GIVEN Strided<T> g, GIVEN Tiles tiles, C exponent)) {
    strided(out, tiles, of_powf_scalar_bwd{exponent}, x, g);
}
#endif

// ---- steps of optimizers in one pass over each parameter and its state, up to UPDATED parameters a launch; the outputs may be
//      the inputs. In and out begin with the value; in goes on with the gradient, both end with the states.
OP(adam_step, REAL)
OP(sgd_step, REAL)
#if DTYPE == DT_F64 || DTYPE == DT_F32 || DTYPE == DT_FLEX32
#define UPDATED 32
struct Updated { T *out[4]; const T *in[5]; i64 n; };
struct Updates { Updated each[UPDATED]; u32 first[UPDATED]; }; // first: block of each parameter
template <class Rule> INLINE void update_one(const Updates &all, int count, int states, const Rule &rule) {
    typedef vec<T, 16 / sizeof(T)> word;
    const int N = 16 / sizeof(T);
    int at = 0;
    while (at + 1 < count && all.first[at + 1] <= blockIdx.x) at++;
    const Updated &u = all.each[at];
    i64 i = ((i64)(blockIdx.x - all.first[at]) * ELT_THREADS + threadIdx.x) * N, n = u.n;
    u64 low = (u64)u.in[1];
    for (int s = 0; s <= states; s++) low |= (u64)u.out[s] | (u64)u.in[s ? s + 1 : 0];
    if (i + N <= n && (low & 15) == 0) {
        word p = *(const word *)(u.in[0] + i), g = *(const word *)(u.in[1] + i), w[3] = {};
#pragma unroll
        for (int s = 0; s < 3; s++)
            if (s < states) w[s] = *(const word *)(u.in[s + 2] + i);
#pragma unroll
        for (int k = 0; k < N; k++) rule(p.v[k], g.v[k], w[0].v[k], w[1].v[k], w[2].v[k]);
        *(word *)(u.out[0] + i) = p;
#pragma unroll
        for (int s = 0; s < 3; s++)
            if (s < states) *(word *)(u.out[s + 1] + i) = w[s];
        return;
    }
#pragma unroll 1
    for (i64 end = i + N < n ? i + N : n; i < end; i++) {
        C p = u.in[0][i], w[3] = {};
        for (int s = 0; s < states; s++) w[s] = u.in[s + 2][i];
        rule(p, u.in[1][i], w[0], w[1], w[2]);
        u.out[0][i] = p;
        for (int s = 0; s < states; s++) u.out[s + 1][i] = w[s];
    }
}
// g = grad + wd p;  m' = b1 m + c1 g;  v' = b2 v + c2 g g;  w' = max(w, v') where there is w, else v'
// p' = p decay - step m' / (sqrt(w' kv) + eps), step: lr km; cautious: no decay where the signs of p and m' differ
struct Adam {
    C wd, b1, c1, b2, c2, kv, eps, decay, step;
    int largest, cautious;
    INLINE void operator()(C &p, C g, C &m, C &v, C &w) const {
        g = m_fma(wd, p, g);
        m = m_fma(b1, m, c1 * g);
        v = m_fma(b2, v, c2 * g * g);
        if (largest) w = v <= w || w != w ? w : v; // a NaN of either stays
        C kept = cautious && (p >= 0) != (m >= 0) ? C(1) : decay;
        p = m_fma(-step, m / (m_sqrt((largest ? w : v) * kv) + eps), p * kept);
    }
};
KERNEL(adam_step, ELT_THREADS, (Updates all, int count, int states, Adam rule)) { update_one(all, count, states, rule); }

// g = grad + wd p;  with a velocity u' = momentum u + rest g, and g = nesterov ? momentum u' + g : u';  p' = p - lr g
struct Sgd {
    C wd, momentum, rest, lr;
    int velocity, nesterov;
    INLINE void operator()(C &p, C g, C &u, C &, C &) const {
        g = m_fma(wd, p, g);
        if (velocity) {
            u = m_fma(momentum, u, rest * g);
            g = nesterov ? m_fma(momentum, u, g) : u;
        }
        p = m_fma(-lr, g, p);
    }
};
KERNEL(sgd_step, ELT_THREADS, (Updates all, int count, int states, Sgd rule)) { update_one(all, count, states, rule); }
#endif
