/* Matrix products: cuBLASLt for floats, our own kernel for integers and for what the library does not take. */
#pragma once
#include "blas.h"
#include "matmul_fold.h"

/* A matrix of r rows and c columns with these strides, as the library wants it: row-major (0), transposed (1), neither (-1). */
static inline int matmul_order(int64_t r, int64_t c, int64_t row_step, int64_t col_step, int64_t *ld) {
    if ((col_step == 1 || c == 1) && (row_step >= c || r == 1)) {
        *ld = r == 1 ? c : row_step;
        return 0;
    }
    if ((row_step == 1 || r == 1) && (col_step >= r || c == 1)) {
        *ld = c == 1 ? r : col_step;
        return 1;
    }
    return -1;
}

static inline int64_t matmul_tiles(int64_t n) { return (n + 63) / 64; }

/* Any strides, any dtype: cuda/matmul.cu. */
static int matmul_by_kernel(cuda_row *r, void *out, const void *x, const void *y, const void *bias, int64_t bias_stride,
                            matmul_dims *d, int32_t act) {
    CUfunction f = kernel_of(r, 0, "");
    void *params[] = {&out, &x, &y, &bias, &bias_stride, d, &act};
    if (!f) return BURN_ERR_RAISED;
    return launch(r, f, matmul_tiles(d->m) * matmul_tiles(d->n) * d->batch, 1, 256, 0, params);
}

static int matmul_finish(cuda_row *r, void *out, const void *bias, int64_t rows, int64_t n, int32_t act) {
    CUfunction f = kernel_of(r, 1, "finish");
    int64_t one = 1, blocks = (rows * n + 1023) / 1024;
    void *params[] = {&out, &bias, &one, &rows, &n, &act};
    if (!f) return BURN_ERR_RAISED;
    return launch(r, f, blocks < 65536 ? blocks : 65536, 1, 256, 0, params);
}

/* The library sees memory by columns, so it computes the transposed product: out' = b' a'. */
static int matmul_by_library(cuda_row *r, char *out, const char *x, const char *y, const void *bias, const matmul_dims *d,
                             int32_t act) {
    int64_t outer = 1, last = d->axes - 1, size = DT_SIZE[r->row.dtype], at[BURN_MAX_RANK] = {0};
    int epilogue = (bias ? BLAS_BIAS : 0) | (act == 1 ? BLAS_RELU : 0), fused = 1;
    blas_key key;
    memset(&key, 0, sizeof key);
    key.rows = d->n;
    key.cols = d->m;
    key.k = d->k;
    key.ldd = d->n;
    key.trans_a = matmul_order(d->k, d->n, d->rsb, d->csb, &key.lda);
    key.trans_b = matmul_order(d->m, d->k, d->rsa, d->csa, &key.ldb);
    if (key.trans_a < 0 || key.trans_b < 0) return BURN_ERR_STRIDES;
    key.batch = d->axes ? d->shape[last] : 1;
    key.step_a = d->axes ? d->sb[last] : 0;
    key.step_b = d->axes ? d->sa[last] : 0;
    key.step_d = d->axes ? d->m * d->n : 0;
    key.dtype = r->row.dtype == DT_FLEX32 ? DT_F32 : r->row.dtype;
    key.epilogue = epilogue ? epilogue : BLAS_PLAIN;
    for (int axis = 0; axis < last; axis++) outer *= d->shape[axis];
    for (int64_t i = 0; i < outer; i++) {
        int64_t from_x = 0, from_y = 0;
        for (int axis = 0; axis < last; axis++) from_x += at[axis] * d->sa[axis], from_y += at[axis] * d->sb[axis];
        char *to = out + i * key.batch * d->m * d->n * size;
        int rc = blas_product(r, &key, y + from_y * size, x + from_x * size, fused ? bias : NULL, to);
        if (rc == BLAS_UNSUPPORTED && fused && epilogue) {
            fused = 0; /* from the start: what was done has the bias already */
            key.epilogue = BLAS_PLAIN;
            memset(at, 0, sizeof at);
            i = -1;
            continue;
        }
        if (rc) return rc;
        for (int axis = (int)last - 1; axis >= 0 && ++at[axis] == d->shape[axis]; axis--) at[axis] = 0;
    }
    return fused || !epilogue ? BURN_OK : matmul_finish(r, out, bias, d->m * d->batch, d->n, act);
}

static int launch_matmul(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    matmul_dims d;
    int32_t act = (int32_t)a->i[0];
    int64_t bias_stride = a->n_in > 2 && in[2].strides ? in[2].strides[0] : 1;
    const void *bias = a->n_in > 2 ? in[2].p : NULL;
    if (out->size == 0) return BURN_OK;
    matmul_fold(out, in, &d);
    if (r->row.dtype <= DT_BF16 && d.k > 0 && !(bias && bias_stride != 1 && d.n > 1)) {
        int rc = matmul_by_library(r, out->p, in[0].p, in[1].p, bias, &d, act);
        if (rc != BLAS_UNSUPPORTED) return rc;
    }
    return matmul_by_kernel(r, out->p, in[0].p, in[1].p, bias, bias_stride, &d, act);
}

static const cuda_launcher matmul_launchers[] = {{"matmul", launch_matmul, ROW_STRIDED}, {0}};
