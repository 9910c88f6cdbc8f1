/* A product of tensors as one product of matrices repeated over as few batch axes as possible; for every backend. */
#pragma once
#include "abi.h"

typedef struct {
    int64_t m, n, k, rsa, csa, rsb, csb, batch; /* row and column strides of a and b; number of products */
    int64_t shape[BURN_MAX_RANK], sa[BURN_MAX_RANK], sb[BURN_MAX_RANK];
    int32_t axes;                               /* batch axes that are left */
} matmul_dims;

/* The strides of x, 0 along axes of size 1 so that those broadcast. */
static inline void matmul_strides(const burn_buf *x, int64_t *strides) {
    int64_t step = 1;
    for (int axis = x->ndim - 1; axis >= 0; axis--) {
        strides[axis] = x->shape[axis] == 1 ? 0 : x->strides ? x->strides[axis] : step;
        step *= x->shape[axis];
    }
}

/* Merges batch axes that both operands step through evenly; rows that share one b become one product. */
static void matmul_fold(const burn_buf *out, const burn_buf *in, matmul_dims *d) {
    int64_t sa[BURN_MAX_RANK], sb[BURN_MAX_RANK];
    int row = out->ndim - 2, col = out->ndim - 1, last = 0;
    matmul_strides(&in[0], sa);
    matmul_strides(&in[1], sb);
    d->m = out->shape[row];
    d->n = out->shape[col];
    d->k = in[0].shape[col];
    d->rsa = sa[row];
    d->csa = sa[col];
    d->rsb = sb[row];
    d->csb = sb[col];
    d->batch = 1;
    for (int axis = 0; axis < row; axis++) {
        int64_t size = out->shape[axis];
        d->batch *= size;
        if (size == 1) continue;
        if (last && d->sa[last - 1] == sa[axis] * size && d->sb[last - 1] == sb[axis] * size) size *= d->shape[--last];
        d->shape[last] = size;
        d->sa[last] = sa[axis];
        d->sb[last++] = sb[axis];
    }
    if (last && d->sb[last - 1] == 0 && (d->m == 1 || d->sa[last - 1] == d->rsa * d->m)) {
        int64_t size = d->shape[--last];
        if (d->m == 1) d->rsa = d->sa[last];
        d->m *= size;
        d->batch /= size;
    }
    d->axes = last;
}
