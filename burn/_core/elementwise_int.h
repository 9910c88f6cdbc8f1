/* Integer, bool and comparison ops, mask_where. What does not depend on the sign is written once a width: a sum, a
   product or a left shift of u32 has the bits of that of i32 (so nothing overflows either). */
#pragma once
#include "elementwise_loops.h"

/* suffix, type, dtype, suffix and type of the width, is it signed */
#define INT_TYPES(X) \
    X(i64, int64_t, DT_I64, u64, uint64_t, 1) \
    X(i32, int32_t, DT_I32, u32, uint32_t, 1) \
    X(i16, int16_t, DT_I16, u16, uint16_t, 1) \
    X(i8, int8_t, DT_I8, u8, uint8_t, 1) \
    X(u64, uint64_t, DT_U64, u64, uint64_t, 0) \
    X(u32, uint32_t, DT_U32, u32, uint32_t, 0) \
    X(u16, uint16_t, DT_U16, u16, uint16_t, 0) \
    X(u8, uint8_t, DT_U8, u8, uint8_t, 0)
#define UINT_TYPES(X) X(u64, uint64_t) X(u32, uint32_t) X(u16, uint16_t) X(u8, uint8_t)

/* ---- by width */
#define MAKE_BY_WIDTH(W, U) \
    UNARY(l_neg_##W, U, U, 0u - (U)x) \
    UNARY(l_square_##W, U, U, (uint64_t)x * x) \
    UNARY(l_bitwise_not_##W, U, U, ~x) \
    BINARY(l_add_##W, U, U, x + y) \
    BINARY(l_sub_##W, U, U, x - y) \
    BINARY(l_mul_##W, U, U, (sizeof(U) < 4 ? 1u : (U)1) * x * y) \
    BINARY(l_bitwise_and_##W, U, U, x & y) \
    BINARY(l_bitwise_or_##W, U, U, x | y) \
    BINARY(l_bitwise_xor_##W, U, U, x ^ y)
UINT_TYPES(MAKE_BY_WIDTH)

/* ---- by type */
#define TOP_BIT(T) ((int)sizeof(T) * 8 - 1)
/* position of the first element of the second operand that fails, or -1 */
#define MAKE_FIND(name, T, FAILS) \
    static int64_t name(const elt_span *s) { \
        const T *b = s->in[1]; \
        int64_t n = s->step[1] ? s->n : 1; \
        T any = 0; /* no wider than what it is made from: more of it fits in a vector */ \
        for (int64_t i = 0; i < n; i++) { T y = b[i]; any |= (T)FAILS; } \
        if (!any) return -1; \
        for (int64_t i = 0;; i++) { T y = b[i]; if (FAILS) return i; } \
    }
#define CHECK(find, T, code, shown) \
    int64_t bad = find(s); \
    if (bad >= 0) { \
        s->err[0] = s->at + bad; \
        s->err[1] = shown ? (int64_t)((const T *)s->in[1])[bad] : 0; \
        s->err[2] = 0; \
        return code; \
    }
/* Division: through double where the type fits in it (exact: two quotients of 32-bit integers differ by more than its
   rounding), since processors divide no integer vectors; 64 bits one by one. The least integer over -1 wraps. */
#define DIV_SMALL(T, x, y) ({ \
    double q_ = (double)(x) / (double)(y); \
    (T)(int32_t)(q_ > 2147483647.0 ? -2147483648.0 : q_); })
#define DIV_LARGE(T, x, y) ((T)-1 < 0 && (y) == (T)-1 ? (T)(0 - (uint64_t)(x)) : (x) / (y))
#define DIV_i8 DIV_SMALL
#define DIV_i16 DIV_SMALL
#define DIV_i32 DIV_SMALL
#define DIV_u8 DIV_SMALL
#define DIV_u16 DIV_SMALL
#define DIV_u32 DIV_LARGE
#define DIV_i64 DIV_LARGE
#define DIV_u64 DIV_LARGE
#define REM(S, T, x, y) REM_OF(T, x, y, DIV_##S(T, x, y))
#define REM_OF(T, x, y, quotient) ({ \
    T d_ = quotient; \
    T r_ = sizeof(T) == 8 ? (T)((uint64_t)(x) - (uint64_t)d_ * (uint64_t)(y)) \
                          : (T)((uint32_t)(x) - (uint32_t)d_ * (uint32_t)(y)); \
    (T)-1 < 0 && r_ != 0 && (T)(r_ ^ (y)) < 0 ? (T)(r_ + (y)) : r_; })
#define FLOORDIV(S, T, x, y) FLOORDIV_OF(T, x, y, DIV_##S(T, x, y))
#define FLOORDIV_OF(T, x, y, quotient) ({ \
    T d_ = quotient; \
    T r_ = (T)((uint64_t)(x) - (uint64_t)d_ * (uint64_t)(y)); \
    (T)-1 < 0 && r_ != 0 && (T)(r_ ^ (y)) < 0 ? (T)(d_ - 1) : d_; })
#define DIVISIONS_SHORT(S, T, SIGNED) \
    BINARY(div_##S, T, T, DIV_##S(T, x, y)) \
    BINARY(remainder_##S, T, T, REM(S, T, x, y)) \
    BINARY(floordiv_##S, T, T, FLOORDIV(S, T, x, y))
#define DIVISIONS_u8 DIVISIONS_SHORT
#define DIVISIONS_u16 DIVISIONS_SHORT
#define DIVISIONS_u32 DIVISIONS_SHORT
/* 64 bits go through double, too, a block at a time where all of it lies within 2^51: there a quotient just below an integer
   is not rounded to it, and integers become doubles and back by way of the bits of 3 * 2^51. */
#define LONG_BLOCK 256
#define LONG_BITS 0x4338000000000000ull
VINL double long_double(uint64_t x) { double d; x += LONG_BITS; memcpy(&d, &x, 8); return d - 0x1.8p52; }
VINL uint64_t long_whole(double q) { uint64_t x; q = __builtin_trunc(q) + 0x1.8p52; memcpy(&x, &q, 8); return x - LONG_BITS; }
#define LONG_QUOTIENTS(X, Y) IVDEP for (int64_t i = 0; i < n; i++) q[i] = (T)long_whole(X / Y);
#define DIVISIONS_u64(S, T_, SIGNED) \
    static void quotients_##S(const T_ *a, int64_t sa, const T_ *b, int64_t sb, int64_t n, T_ *q) { \
        typedef T_ T; \
        const uint64_t up = SIGNED ? 1ull << 51 : 0; \
        uint64_t wide = 0; \
        for (int64_t i = 0; i < (sa ? n : 1); i++) wide |= (uint64_t)a[i] + up; \
        for (int64_t i = 0; i < (sb ? n : 1); i++) wide |= (uint64_t)b[i] + up; \
        const double x = long_double((uint64_t)*a), y = long_double((uint64_t)*b); \
        if (wide >> (SIGNED ? 52 : 51)) \
            for (int64_t i = 0; i < n; i++) q[i] = DIV_LARGE(T, a[i * sa], b[i * sb]); \
        else if (!sb) LONG_QUOTIENTS(long_double((uint64_t)a[i]), y) \
        else if (!sa) LONG_QUOTIENTS(x, long_double((uint64_t)b[i])) \
        else LONG_QUOTIENTS(long_double((uint64_t)a[i]), long_double((uint64_t)b[i])) \
    } \
    LONG_DIVISION(div_##S, S, T_, q[i]) \
    LONG_DIVISION(remainder_##S, S, T_, REM_OF(T_, x, y, q[i])) \
    LONG_DIVISION(floordiv_##S, S, T_, FLOORDIV_OF(T_, x, y, q[i]))
#define LONG_DIVISION(name, S, T, EXPR) \
    static int name(const elt_span *s) { \
        const T *a = s->in[0], *b = s->in[1]; \
        const int64_t sa = s->step[0], sb = s->step[1]; \
        T *o = s->out, q[LONG_BLOCK]; \
        for (int64_t at = 0; at < s->n; at += LONG_BLOCK, a += sa * LONG_BLOCK, b += sb * LONG_BLOCK, o += LONG_BLOCK) { \
            const int64_t n = s->n - at < LONG_BLOCK ? s->n - at : LONG_BLOCK; \
            quotients_##S(a, sa, b, sb, n, q); \
            IVDEP for (int64_t i = 0; i < n; i++) { \
                const T x = a[i * sa], y = b[i * sb]; \
                (void)x; \
                (void)y; \
                o[i] = EXPR; \
            } \
        } \
        return BURN_OK; \
    }
/* base ^ exponent by squaring, wrapping; a negative exponent leaves 0 but for the bases 1 and -1 */
static inline uint64_t int_pow(uint64_t x, int64_t e, int is_signed) {
    if (is_signed && e < 0) return x == 1 ? 1 : x == (uint64_t)-1 ? (e & 1 ? x : 1) : 0;
    uint64_t r = 1;
    for (uint64_t k = (uint64_t)e; k; k >>= 1, x *= x)
        if (k & 1) r *= x;
    return r;
}
/* Processors shift vectors of bytes and words by one amount only: those go by the bits of the amount, or words as
   products. Nor is there a signed shift of 64 bits everywhere. */
#define SHIFT_LARGE(x, y, top, SHIFT) ((x) SHIFT ((y) & (top)))
#define SHIFT_SMALL(x, y, top, SHIFT) ({ \
    __typeof__(x) v_ = x; \
    const __typeof__(x) by_ = (__typeof__(x))(y); \
    v_ = by_ & 1 ? (__typeof__(x))(v_ SHIFT 1) : v_; \
    v_ = by_ & 2 ? (__typeof__(x))(v_ SHIFT 2) : v_; \
    v_ = by_ & 4 ? (__typeof__(x))(v_ SHIFT 4) : v_; \
    (top) == 15 && (by_ & 8) ? (__typeof__(x))(v_ SHIFT 8) : v_; })
#define SHIFT_SIGNED(x, y, top, SHIFT) ({ \
    const uint64_t sign_ = (x) < 0 ? ~(uint64_t)0 : 0; \
    (int64_t)((((uint64_t)(x) ^ sign_) SHIFT ((uint64_t)(y) & (top))) ^ sign_); })
#define SHIFT_u8 SHIFT_SMALL
#define SHIFT_i8 SHIFT_SMALL
#define SHIFT_u16 SHIFT_SMALL
#define SHIFT_i16 SHIFT_SMALL
#define SHIFT_u32 SHIFT_LARGE
#define SHIFT_i32 SHIFT_LARGE
#define SHIFT_u64 SHIFT_LARGE
#define SHIFT_i64 SHIFT_SIGNED
#define LEFT(W, U, x, y) ((U)(y) > TOP_BIT(U) ? 0 : (U)SHIFT_##W(x, y, TOP_BIT(U), <<))
#define RIGHT(S, T, U, x, y) \
    ((T)-1 < 0 ? (T)SHIFT_##S(x, ((U)(y) < TOP_BIT(T) ? (U)(y) : (U)TOP_BIT(T)), TOP_BIT(T), >>) \
     : (U)(y) > TOP_BIT(T) ? 0 \
     : (T)SHIFT_##S(x, y, TOP_BIT(T), >>))
#if BURN_LEVEL >= 3
/* Sixteen words a time, an amount each: products with a power of two, which are looked up by their bytes. To the right it
   is the upper half of the product, and by 0 the word itself. An amount of 16 or more finds the power 0. Gives how many
   words are done, and gathers the bits of the amounts in any. */
VINL int64_t shift_words(const void *a, const void *b, void *out, int64_t n, int left, int is_signed, uint16_t *any) {
    const __m256i byte = _mm256_set1_epi16(255), zero = _mm256_setzero_si256();
    const __m256i left_low = _mm256_broadcastsi128_si256(_mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0));
    const __m256i right_high = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, -128, 64, 32, 16, 8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0));
    const __m256i left_high = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, -128));
    const __m256i right_low = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, -128, 64, 32, 16, 8, 4, 2));
    __m256i all = zero;
    uint16_t bits[16];
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m256i x = _mm256_loadu_si256((const __m256i *)((const uint16_t *)a + i)), sign = zero, r;
        const __m256i y = _mm256_loadu_si256((const __m256i *)((const uint16_t *)b + i));
        const __m256i cut = _mm256_min_epu16(y, byte);
        const __m256i at = _mm256_adds_epu8(_mm256_or_si256(cut, _mm256_slli_epi16(cut, 8)), _mm256_set1_epi8(0x70));
        const __m256i power = _mm256_blendv_epi8(_mm256_shuffle_epi8(left ? left_high : right_high, at),
                                                 _mm256_shuffle_epi8(left ? left_low : right_low, at), byte);
        all = _mm256_or_si256(all, y);
        if (left) r = _mm256_mullo_epi16(x, power);
        else {
            if (is_signed) sign = _mm256_srai_epi16(x, 15), x = _mm256_xor_si256(x, sign);
            r = _mm256_blendv_epi8(_mm256_mulhi_epu16(x, power), x, _mm256_cmpeq_epi16(y, zero));
            if (is_signed) r = _mm256_xor_si256(r, sign);
        }
        _mm256_storeu_si256((__m256i *)((uint16_t *)out + i), r);
    }
    _mm256_storeu_si256((__m256i *)bits, all);
    for (int j = 0; j < 16; j++) *any |= bits[j];
    return i;
}
/* eight of 32 bits: the instructions take any amount as the operations do */
VINL int64_t shift_ints(const void *a, const void *b, void *out, int64_t n, int left, int is_signed, uint32_t *any) {
    __m256i all = _mm256_setzero_si256();
    uint32_t bits[8];
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256i x = _mm256_loadu_si256((const __m256i *)((const uint32_t *)a + i));
        const __m256i y = _mm256_loadu_si256((const __m256i *)((const uint32_t *)b + i));
        all = _mm256_or_si256(all, y);
        _mm256_storeu_si256((__m256i *)((uint32_t *)out + i), left ? _mm256_sllv_epi32(x, y)
                                                              : is_signed ? _mm256_srav_epi32(x, y)
                                                                          : _mm256_srlv_epi32(x, y));
    }
    _mm256_storeu_si256((__m256i *)bits, all);
    for (int j = 0; j < 8; j++) *any |= bits[j];
    return i;
}
#else
#define shift_words(a, b, out, n, left, is_signed, any) 0
#define shift_ints(a, b, out, n, left, is_signed, any) 0
#endif
/* The bits of all amounts are gathered along with the shifts: a negative one shows in them. X: type of x. */
#define SHIFT_LOOP(U, X, A, B, EXPR) IVDEP for (; i < n; i++) { X x = A; U y = B; any |= y; o[i] = (X)(EXPR); }
#define SHIFT_LOOPS(name, S, U, X, SIGNED, IS_LEFT, EXPR) \
    static U loops_##name##_##S(const elt_span *s) { \
        const X *a = s->in[0]; \
        const U *b = s->in[1]; \
        X *o = s->out; \
        U any = 0; \
        int64_t n = s->n, i = 0; \
        uint16_t words = 0; \
        uint32_t ints = 0; \
        if (!s->step[1]) { const U y = *b; IVDEP for (; i < n; i++) { X x = a[i]; o[i] = (X)(EXPR); } } \
        else if (!s->step[0]) { const X one = *a; SHIFT_LOOP(U, X, one, b[i], EXPR) } \
        else { \
            if (sizeof(X) == 2) i = shift_words(a, b, o, n, IS_LEFT, SIGNED, &words); \
            if (sizeof(X) == 4) i = shift_ints(a, b, o, n, IS_LEFT, SIGNED, &ints); \
            any = (U)(words | ints); \
            SHIFT_LOOP(U, X, a[i], b[i], EXPR) \
        } \
        return any; \
    }
/* negative amounts are looked for before where the shifts do not see them all or overwrite them */
#define MAKE_SHIFT(name, S, T, LOOPS, SIGNED) \
    static int l_##name##_##S(const elt_span *s) { \
        if (!s->step[1] || s->out == s->in[1]) { CHECK(find_negative_##S, T, BURN_ERR_SHIFT, 1) } \
        if (loops_##name##_##LOOPS(s) >> TOP_BIT(T) && SIGNED) { CHECK(find_negative_##S, T, BURN_ERR_SHIFT, 1) } \
        return BURN_OK; \
    }
#define MAKE_LEFT_LOOPS(W, U) SHIFT_LOOPS(bitwise_left_shift, W, U, U, 0, 1, LEFT(W, U, x, y))
UINT_TYPES(MAKE_LEFT_LOOPS)
#define MAKE_BY_TYPE(S, T, DT, W, U, SIGNED) \
    UNARY(l_abs_##S, T, U, SIGNED && x < 0 ? (U)(0u - (U)x) : (U)x) \
    UNARY(l_sign_##S, T, T, (x > 0) - (SIGNED && x < 0)) \
    BINARY(l_max_pair_##S, T, T, x > y ? x : y) \
    BINARY(l_min_pair_##S, T, T, x < y ? x : y) \
    MAKE_FIND(find_zero_##S, T, (y == 0)) \
    MAKE_FIND(find_negative_##S, T, (SIGNED && y < 0)) \
    DIVISIONS_##W(S, T, SIGNED) \
    MAKE_SHIFT(bitwise_left_shift, S, T, W, SIGNED) \
    SHIFT_LOOPS(bitwise_right_shift, S, U, T, SIGNED, 0, RIGHT(S, T, U, x, y)) \
    MAKE_SHIFT(bitwise_right_shift, S, T, S, SIGNED) \
    BINARY_SLOW(l_powi_##S, T, T, int_pow((uint64_t)x, (int64_t)y, SIGNED)) \
    static int l_div_##S(const elt_span *s) { CHECK(find_zero_##S, T, BURN_ERR_ZERO_DIV, 0) return div_##S(s); } \
    static int l_remainder_##S(const elt_span *s) { \
        CHECK(find_zero_##S, T, BURN_ERR_ZERO_DIV, 0) \
        return remainder_##S(s); \
    } \
    static int l_floordiv_##S(const elt_span *s) { \
        CHECK(find_zero_##S, T, BURN_ERR_ZERO_DIV, 0) \
        return floordiv_##S(s); \
    } \
    static int l_clamp_##S(const elt_span *s) { \
        const T *a = s->in[0], *lo = s->in[1], *hi = s->in[2]; \
        T *o = s->out; \
        if (!s->step[1] && !s->step[2]) { \
            const T l = *lo, h = *hi; \
            const int64_t n = s->n; \
            IVDEP for (int64_t i = 0; i < n; i++) { T x = a[i] < l ? l : a[i]; o[i] = x > h ? h : x; } \
            return BURN_OK; \
        } \
        IVDEP for (int64_t i = 0; i < s->n; i++) { \
            T x = a[i * s->step[0]], l = lo[i * s->step[1]], h = hi[i * s->step[2]]; \
            x = x < l ? l : x; \
            o[i] = x > h ? h : x; \
        } \
        return BURN_OK; \
    }
INT_TYPES(MAKE_BY_TYPE)

/* op, how many inputs, cost; BY_WIDTH ops take the loop of their width */
#define INT_BY_WIDTH(X, ...) \
    X(neg, 1, .2f, __VA_ARGS__) X(square, 1, .2f, __VA_ARGS__) X(bitwise_not, 1, .2f, __VA_ARGS__) \
    X(add, 2, .2f, __VA_ARGS__) X(sub, 2, .2f, __VA_ARGS__) X(mul, 2, .2f, __VA_ARGS__) \
    X(bitwise_and, 2, .2f, __VA_ARGS__) X(bitwise_or, 2, .2f, __VA_ARGS__) X(bitwise_xor, 2, .2f, __VA_ARGS__)
#define INT_BY_TYPE(X, ...) \
    X(abs, 1, .2f, __VA_ARGS__) X(sign, 1, .2f, __VA_ARGS__) X(max_pair, 2, .2f, __VA_ARGS__) \
    X(min_pair, 2, .2f, __VA_ARGS__) X(div, 2, 1.5f, __VA_ARGS__) X(remainder, 2, 2.f, __VA_ARGS__) \
    X(floordiv, 2, 2.f, __VA_ARGS__) \
    X(bitwise_left_shift, 2, .4f, __VA_ARGS__) X(bitwise_right_shift, 2, .4f, __VA_ARGS__) \
    X(powi, 2, 5.f, __VA_ARGS__) X(clamp, 3, .4f, __VA_ARGS__)
#define MAKE_INT_W(name, N, C, S, T, W) \
    KERNEL(name##_##S, .fn = l_##name##_##W, .cost = C, .out_size = sizeof(T), .stream = STREAM_BLOCKS, ARGS##N(sizeof(T)))
#define MAKE_INT_T(name, N, C, S, T, W) \
    KERNEL(name##_##S, .fn = l_##name##_##S, .cost = C, .out_size = sizeof(T), .stream = STREAM_BLOCKS, ARGS##N(sizeof(T)))
#define MAKE_INT(S, T, DT, W, U, SIGNED) INT_BY_WIDTH(MAKE_INT_W, S, T, W) INT_BY_TYPE(MAKE_INT_T, S, T, W)
INT_TYPES(MAKE_INT)

/* ---- comparisons: three loops a type, the others are their mirror images */
#if BURN_LEVEL == 3
/* Elements of 8 bytes, 16 at a time; the other loop takes what is left, and those of other sizes. */
#define COMPARE_LOOP(name, T, OP) \
    BINARY(name##_rest, T, uint8_t, x OP y) \
    static int name(const elt_span *s) { \
        typedef T wide __attribute__((vector_size(32), aligned(8), may_alias)); \
        const T *a = s->in[0], *b = s->in[1]; \
        uint8_t *o = s->out; \
        int64_t i = 0; \
        const int sa = s->step[0] != 0, sb = s->step[1] != 0; \
        if (sizeof(T) == 8 && s->n >= 16) { \
            const wide x = *a - (wide){0}, y = *b - (wide){0}; \
            for (; i + 16 <= s->n; i += 16) { \
                __m256i m[4]; \
                for (int j = 0; j < 4; j++) { \
                    const wide p = sa ? *(const wide *)(a + i + 4 * j) : x, q = sb ? *(const wide *)(b + i + 4 * j) : y; \
                    m[j] = (__m256i)(p OP q); \
                } \
                v8_put_flags(o + i, m[0], m[1], m[2], m[3]); \
            } \
            if (i == s->n) return BURN_OK; \
        } \
        elt_span rest = *s; \
        rest.in[0] = a + (sa ? i : 0); \
        rest.in[1] = b + (sb ? i : 0); \
        rest.out = o + i; \
        rest.n -= i; \
        return name##_rest(&rest); \
    }
#else
#define COMPARE_LOOP(name, T, OP) BINARY(name, T, uint8_t, x OP y)
#endif
#define MAKE_EQUAL(S, T) COMPARE_LOOP(l_equal_##S, T, ==) COMPARE_LOOP(l_not_equal_##S, T, !=)
#define MAKE_ORDER(S, T) COMPARE_LOOP(l_lower_##S, T, <) COMPARE_LOOP(l_lower_equal_##S, T, <=)
UINT_TYPES(MAKE_EQUAL)
MAKE_EQUAL(f32, float)
MAKE_EQUAL(f64, double)
#define MAKE_ORDER_INT(S, T, DT, W, U, SIGNED) MAKE_ORDER(S, T)
INT_TYPES(MAKE_ORDER_INT)
MAKE_ORDER(f32, float)
MAKE_ORDER(f64, double)
/* Halves are compared as integers, those without NaN in order; infinity has the bits of inf, NaN more. */
enum { TEST_EQ, TEST_NE, TEST_LT, TEST_LE };
VINL vhi half_test(const uint16_t *a, const uint16_t *b, int inf, const int test) {
    vhi x = *(const vhi_half *)a, y = *(const vhi_half *)b, mx = x & 0x7fff, my = y & 0x7fff;
    vhi p = vh_order(x, mx), q = vh_order(y, my), nan = (vhi)(mx > (int16_t)inf) | (vhi)(my > (int16_t)inf);
    if (test == TEST_EQ) return (vhi)(p == q) & ~nan;
    if (test == TEST_NE) return ~((vhi)(p == q) & ~nan);
    return test == TEST_LT ? (vhi)(q > p) & ~nan : ~((vhi)(p > q) | nan);
}
VINL int half_compare(const elt_span *s, int inf, const int test) {
    enum { STEP = 4 * VW };
    half_feed f;
    uint8_t *o = s->out, tail[STEP];
    half_begin(&f, s, STEP);
#define PUT_FLAGS(o) \
    vh_put_flags(o, half_test(f.a, f.b, inf, test), half_test(f.a + 2 * VW, f.b + 2 * VW, inf, test))
    for (; f.left >= STEP; half_next(&f), o += STEP) PUT_FLAGS(o);
    if (f.left == 0) return BURN_OK;
    half_tail(&f);
    PUT_FLAGS(tail);
#undef PUT_FLAGS
    memcpy(o, tail, (size_t)f.left);
    return BURN_OK;
}
#define MAKE_TEST_HALF(name, inf, test) static int name(const elt_span *s) { return half_compare(s, inf, test); }
#define MAKE_COMPARE_HALF(S, INF) \
    MAKE_TEST_HALF(l_equal_##S, INF, TEST_EQ) \
    MAKE_TEST_HALF(l_not_equal_##S, INF, TEST_NE) \
    MAKE_TEST_HALF(l_lower_##S, INF, TEST_LT) \
    MAKE_TEST_HALF(l_lower_equal_##S, INF, TEST_LE)
MAKE_COMPARE_HALF(f16, 0x7c00)
MAKE_COMPARE_HALF(bf16, 0x7f80)

/* suffix, loop of equal, loop of order, bytes */
#define COMPARE_TYPES(X) \
    X(f64, f64, f64, 8) X(f32, f32, f32, 4) X(f16, f16, f16, 2) X(bf16, bf16, bf16, 2) \
    X(i64, u64, i64, 8) X(i32, u32, i32, 4) X(i16, u16, i16, 2) X(i8, u8, i8, 1) \
    X(u64, u64, u64, 8) X(u32, u32, u32, 4) X(u16, u16, u16, 2) X(u8, u8, u8, 1)
#define COMPARE(name, S, LOOP, SIZE, SWAP) \
    KERNEL(name##_##S, .fn = l_##LOOP, .cost = .2f, .out_size = 1, .swap = SWAP, .stream = STREAM_BLOCKS, ARGS2(SIZE))
#define MAKE_COMPARE(S, E, L, SIZE) \
    COMPARE(equal, S, equal_##E, SIZE, 0) \
    COMPARE(not_equal, S, not_equal_##E, SIZE, 0) \
    COMPARE(lower, S, lower_##L, SIZE, 0) \
    COMPARE(lower_equal, S, lower_equal_##L, SIZE, 0) \
    COMPARE(greater, S, lower_##L, SIZE, 1) \
    COMPARE(greater_equal, S, lower_equal_##L, SIZE, 1)
COMPARE_TYPES(MAKE_COMPARE)

/* ---- bool: one byte, 0 or 1; any other byte counts as true */
UNARY(l_bool_not, uint8_t, uint8_t, x == 0)
BINARY(l_bool_and, uint8_t, uint8_t, (x != 0) & (y != 0))
BINARY(l_bool_or, uint8_t, uint8_t, (x | y) != 0)
BINARY(l_bool_xor, uint8_t, uint8_t, (x != 0) ^ (y != 0))
BINARY(l_bool_equal, uint8_t, uint8_t, (x != 0) == (y != 0))
KERNEL(bool_not, .fn = l_bool_not, .cost = .1f, .out_size = 1, .stream = STREAM_BLOCKS, ARGS1(1))
KERNEL(bool_and, .fn = l_bool_and, .cost = .1f, .out_size = 1, .stream = STREAM_BLOCKS, ARGS2(1))
KERNEL(bool_or, .fn = l_bool_or, .cost = .1f, .out_size = 1, .stream = STREAM_BLOCKS, ARGS2(1))
KERNEL(bool_xor, .fn = l_bool_xor, .cost = .1f, .out_size = 1, .stream = STREAM_BLOCKS, ARGS2(1))
KERNEL(bool_equal, .fn = l_bool_equal, .cost = .1f, .out_size = 1, .stream = STREAM_BLOCKS, ARGS2(1))

/* ---- mask_where(x, mask, value): mask ? value : x, for any dtype of the width */
#define WHERE_LOOP(X, V) IVDEP for (int64_t i = 0; i < n; i++) { U x = X, v = V; o[i] = m[i] ? v : x; }
#define MAKE_WHERE(W, T) \
    static int l_mask_where_##W(const elt_span *s) { \
        typedef T U; \
        const U *a = s->in[0], *b = s->in[2]; \
        const uint8_t *m = s->in[1]; \
        U *o = s->out; \
        int64_t n = s->n; \
        if (!s->step[1]) { /* one mask value: a copy */ \
            int64_t k = s->step[*m ? 2 : 0]; \
            if (*m) a = b; \
            for (int64_t i = 0; i < n; i++) o[i] = a[i * k]; \
        } else if (s->step[0] && s->step[2]) WHERE_LOOP(a[i], b[i]) \
        else if (s->step[0]) { U c = *b; WHERE_LOOP(a[i], c) } \
        else { int64_t k = s->step[2]; U c = *a; WHERE_LOOP(c, b[i * k]) } \
        return BURN_OK; \
    } \
    KERNEL(mask_where_##W, .fn = l_mask_where_##W, .cost = .25f, .n_in = 3, .out_size = sizeof(T), .stream = STREAM_BLOCKS, \
           .in_size = {sizeof(T), 1, sizeof(T)})
UINT_TYPES(MAKE_WHERE)
