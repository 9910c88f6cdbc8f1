/* The table of the family: one row an op and a dtype, made from the lists in the other headers. */
#pragma once
#include "elementwise_activation.h"
#include "elementwise_loss.h"
#include "elementwise_update.h"
#include "elementwise_cast.h"
#include "elementwise_float.h"
#include "elementwise_int.h"

#define ROW(name, dt, fn, cost) {name, dt, ROW_STRIDED, cost, k_##fn},
#define ROWS_FLOAT(name, cost) \
    ROW(#name, DT_F32, name##_f32, cost) \
    ROW(#name, DT_FLEX32, name##_f32, cost) \
    ROW(#name, DT_F64, name##_f64, 3 * (cost)) \
    ROW(#name, DT_F16, name##_f16, cost + .4f) \
    ROW(#name, DT_BF16, name##_bf16, cost + .4f)
#define ROWS_FLOAT_OP(name, V, D, cost) ROWS_FLOAT(name, cost)
#define ROWS_FLOAT_BITS(name, V, D, H, cost) ROWS_FLOAT(name, cost)
#define ROWS_FLOAT_TEST(name, E, H, cost) ROWS_FLOAT(name, cost)
#define ROWS_INT_OP(name, N, cost, S, DT) ROW(#name, DT, name##_##S, cost)
#define ROWS_INT(S, T, DT, W, U, SIGNED) INT_BY_WIDTH(ROWS_INT_OP, S, DT) INT_BY_TYPE(ROWS_INT_OP, S, DT)
#define ROWS_COMPARE_OF(S, DT) \
    ROW("equal", DT, equal_##S, .2f) \
    ROW("not_equal", DT, not_equal_##S, .2f) \
    ROW("lower", DT, lower_##S, .2f) \
    ROW("lower_equal", DT, lower_equal_##S, .2f) \
    ROW("greater", DT, greater_##S, .2f) \
    ROW("greater_equal", DT, greater_equal_##S, .2f)
#define ROWS_COMPARE_INT(S, T, DT, W, U, SIGNED) ROWS_COMPARE_OF(S, DT)
#define ROWS_ANY(DT, W) ROW("mask_where", DT, mask_where_##W, .25f) ROW("cast", DT, cast, .5f)

static const burn_row elt_rows[] = {
    FLOAT_UNARY(ROWS_FLOAT_OP)
    FLOAT_BITS(ROWS_FLOAT_BITS)
    FLOAT_MANY(ROWS_FLOAT_OP)
    FLOAT_ARITHMETIC(ROWS_FLOAT_OP)
    FLOAT_HOT(ROWS_FLOAT_OP)
    FLOAT_BINARY(ROWS_FLOAT_OP)
    FLOAT_BACKWARD_HOT(ROWS_FLOAT_OP)
    FLOAT_BACKWARD_EASY(ROWS_FLOAT_OP)
    FLOAT_BACKWARD(ROWS_FLOAT_OP)
    FLOAT_TEST(ROWS_FLOAT_TEST)
    ROWS_FLOAT(gelu, .6f)
    ROWS_FLOAT(gelu_bwd, 1.f)
    FLOAT_ACTIVATION(ROWS_FLOAT_OP)
    FLOAT_ACTIVATION_BACKWARD(ROWS_FLOAT_OP)
    FLOAT_NUMBERED(ROWS_FLOAT_OP)
    FLOAT_NUMBERED_BACKWARD(ROWS_FLOAT_OP)
    ROWS_FLOAT(error_power, .4f)
    ROWS_FLOAT(error_power_bwd, .4f)
    ROWS_FLOAT(error_huber, .3f)
    ROWS_FLOAT(error_huber_bwd, .3f)
    ROWS_FLOAT(kl_term, .6f)
    ROWS_FLOAT(kl_term_bwd, .6f)
    ROWS_FLOAT(kl_term_target_bwd, .6f)
    ROWS_ERROR_SUM(error_power)
    ROWS_ERROR_SUM(error_huber)
    ROWS_ERROR_SUM(kl_term)
    ROWS_FLOAT(glu, .6f)
    ROWS_FLOAT(prelu, .25f)
    ROWS_FLOAT(prelu_bwd, .25f)
    ROWS_FLOAT(clamp, .25f)
    ROWS_FLOAT(powf_scalar, 2)
    ROWS_FLOAT(powf_scalar_bwd, 2)
    ROWS_UPDATE(adam, 1.5f, 3.f)
    ROWS_UPDATE(sgd, .6f, 1.2f)
    ROWS_FLOAT(powf_bwd, 2)
    INT_TYPES(ROWS_INT)
    INT_TYPES(ROWS_COMPARE_INT)
    ROWS_COMPARE_OF(f32, DT_F32)
    ROWS_COMPARE_OF(f32, DT_FLEX32)
    ROWS_COMPARE_OF(f64, DT_F64)
    ROWS_COMPARE_OF(f16, DT_F16)
    ROWS_COMPARE_OF(bf16, DT_BF16)
    ROW("bool_not", DT_BOOL, bool_not, .1f)
    ROW("bool_and", DT_BOOL, bool_and, .1f)
    ROW("bool_or", DT_BOOL, bool_or, .1f)
    ROW("bool_xor", DT_BOOL, bool_xor, .1f)
    ROW("equal", DT_BOOL, bool_equal, .1f)
    ROW("not_equal", DT_BOOL, bool_xor, .1f)
    ROWS_ANY(DT_F64, u64) ROWS_ANY(DT_F32, u32) ROWS_ANY(DT_FLEX32, u32) ROWS_ANY(DT_F16, u16) ROWS_ANY(DT_BF16, u16)
    ROWS_ANY(DT_I64, u64) ROWS_ANY(DT_I32, u32) ROWS_ANY(DT_I16, u16) ROWS_ANY(DT_I8, u8)
    ROWS_ANY(DT_U64, u64) ROWS_ANY(DT_U32, u32) ROWS_ANY(DT_U16, u16) ROWS_ANY(DT_U8, u8) ROWS_ANY(DT_BOOL, u8)
};

static void elt_init(const burn_rt *rt) { elt_rt = rt; }

static const burn_table elt_table = {
    .family = "elementwise",
    .level = BURN_LEVEL == 4 ? "v4" : BURN_LEVEL == 3 ? "v3" : BURN_LEVEL == 2 ? "v2" : "portable",
    .n = sizeof elt_rows / sizeof *elt_rows,
    .rows = elt_rows,
    .init = elt_init,
};
