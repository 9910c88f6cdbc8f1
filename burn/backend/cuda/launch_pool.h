/* Launchers of cuda/pool.cu: a thread an element of what is written; the kernels take the op's numbers as they are. */
#pragma once
#include "device.h"

static int pool_launch(const burn_buf *out, void **params, burn_args *a) {
    cuda_row *r = row_of(a);
    if (out->size == 0) return BURN_OK;
    CUfunction f = kernel_of(r, 0, "");
    return f ? launch(r, f, (out->size + 255) / 256, 1, 256, 0, params) : BURN_ERR_RAISED;
}
static int launch_pool(const burn_buf *out, const burn_buf *in, burn_args *a) {
    void *params[] = {(void *)&out->p, (void *)&in->p, (void *)a->i};
    return pool_launch(out, params, a);
}
static int launch_pool_places(const burn_buf *out, const burn_buf *in, burn_args *a) {
    int32_t wide = out[1].dtype == DT_I64;
    void *params[] = {(void *)&out[0].p, (void *)&out[1].p, (void *)&in->p, (void *)a->i, &wide};
    return pool_launch(out, params, a);
}
static int launch_pool_places_bwd(const burn_buf *out, const burn_buf *in, burn_args *a) {
    int32_t wide = in[1].dtype == DT_I64;
    void *err = error_of(a);
    void *params[] = {(void *)&out->p, (void *)&in[0].p, (void *)&in[1].p, (void *)a->i, &wide, &err, &a->ticket};
    return pool_launch(out, params, a);
}

static const cuda_launcher pool_launchers[] = {
    {"max_pool2d_with_indices", launch_pool_places, 0},
    {"max_pool2d_bwd", launch_pool_places_bwd, ROW_TICKET},
    {NULL, launch_pool, 0},
    {0},
};
