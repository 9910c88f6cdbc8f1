/* Matrix products of all element types. Integers wrap: their sums are unsigned. */
#pragma once
#include "gemm_half.h"

#define T float
#define TS float
#define TI int32_t
#define TBYTES 4
#define FN(name) gemm_##name##_f32
#include "gemm_kernel.h"
#define S float
#define PACK(name) gemm_pack_##name##_f32
#define READ(p) LOAD(p)
#define READ1(x) (x)
#define NARROW NULL
#include "gemm_pack.h"
#define S uint16_t
#define PACK(name) gemm_pack_##name##_f16
#define READ(p) (VEC)gemm_load_f16(p)
#define READ1(x) gemm_from_f16(x)
#define NARROW gemm_narrow_f16
#include "gemm_pack.h"
#define S uint16_t
#define PACK(name) gemm_pack_##name##_bf16
#define READ(p) (VEC)gemm_load_bf16(p)
#define READ1(x) gemm_from_bf16(x)
#define READ2(p, v) gemm_load2_bf16(p, (gemm_f32 *)(v))
#define SPLIT 1
#define NARROW gemm_narrow_bf16
#include "gemm_pack.h"
#include "gemm_drive.h"
#include "gemm_columns.h"
#include "gemm_end.h"
#include "gemm_amx.h"

#define T double
#define TS double
#define TI int64_t
#define TBYTES 8
#define FN(name) gemm_##name##_f64
#include "gemm_kernel.h"
#define S double
#define PACK(name) gemm_pack_##name##_f64
#define READ(p) LOAD(p)
#define READ1(x) (x)
#define NARROW NULL
#include "gemm_pack.h"
#include "gemm_drive.h"
#include "gemm_columns.h"
#include "gemm_end.h"

#define T uint32_t
#define TS int32_t
#define TI int32_t
#define TBYTES 4
#define FN(name) gemm_##name##_i32
#include "gemm_kernel.h"
#define S uint32_t
#define PACK(name) gemm_pack_##name##_i32
#define READ(p) LOAD(p)
#define READ1(x) (x)
#define NARROW NULL
#include "gemm_pack.h"
#include "gemm_drive.h"
#include "gemm_end.h"

#define T uint64_t
#define TS int64_t
#define TI int64_t
#define TBYTES 8
#define FN(name) gemm_##name##_i64
#include "gemm_kernel.h"
#define S uint64_t
#define PACK(name) gemm_pack_##name##_i64
#define READ(p) LOAD(p)
#define READ1(x) (x)
#define NARROW NULL
#include "gemm_pack.h"
#include "gemm_drive.h"
#include "gemm_end.h"

static int gemm_run(gemm_call *call, int dtype)
{
    switch (dtype) {
    case DT_F32:
    case DT_FLEX32: return gemm_product_f32(call, &gemm_pack_source_f32);
    case DT_F64: return gemm_product_f64(call, &gemm_pack_source_f64);
    case DT_F16: return gemm_product_f32(call, &gemm_pack_source_f16);
    case DT_BF16: {
        int status;
        return gemm_amx_product(call, &status) ? status : gemm_product_f32(call, &gemm_pack_source_bf16);
    }
    case DT_I32:
    case DT_U32: return gemm_product_i32(call, &gemm_pack_source_i32);
    default: return gemm_product_i64(call, &gemm_pack_source_i64);
    }
}

/* sums[n] down the columns of b[k, n], of f32 or f64 */
static int gemm_columns(const void *b, int64_t rsb, int64_t csb, int64_t k, int64_t n, void *sums, int dtype, int64_t *wanted)
{
    if (dtype == DT_F64) return gemm_columns_run_f64(b, rsb, csb, k, n, sums, wanted);
    return gemm_columns_run_f32(b, rsb, csb, k, n, sums, wanted);
}
