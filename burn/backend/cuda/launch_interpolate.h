/* Launchers of cuda/interpolate.cu: a thread an element; the kernels take the op's numbers as they are. */
#pragma once
#include "device.h"

static int interpolate_launch(cuda_row *r, int variant, const char *suffix, int64_t n, void **params) {
    if (n == 0) return BURN_OK;
    CUfunction f = kernel_of(r, variant, suffix);
    return f ? launch(r, f, (n + 255) / 256, 1, 256, 0, params) : BURN_ERR_RAISED;
}
static int launch_interpolate(const burn_buf *out, const burn_buf *in, burn_args *a) {
    void *params[] = {(void *)&out->p, (void *)&in->p, (void *)a->i};
    return interpolate_launch(row_of(a), 0, "", out->size, params);
}
static int launch_grid_sample(const burn_buf *out, const burn_buf *in, burn_args *a) {
    void *params[] = {(void *)&out->p, (void *)&in[0].p, (void *)&in[1].p, (void *)a->i};
    return interpolate_launch(row_of(a), 0, "", out->size, params);
}
/* Sums in memory of their own where the dtype is narrower than what is added up. */
static int launch_grid_sample_x_bwd(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    int64_t size = out->size;
    const int narrow = DT_SIZE[out->dtype] < 4;
    const size_t bytes = (size_t)size * 4;
    void *sum = narrow && size ? scratch_take(r, bytes) : out->p;
    if (size == 0) return BURN_OK;
    if (!sum) return BURN_ERR_RAISED;
    void *zero[] = {&sum, &size};
    void *add[] = {&sum, (void *)&in[0].p, (void *)&in[1].p, (void *)a->i};
    void *store[] = {(void *)&out->p, &sum, &size};
    int status = interpolate_launch(r, 1, "zero", size, zero);
    if (!status) status = interpolate_launch(r, 0, "", in[1].size, add);
    if (!status && narrow) status = interpolate_launch(r, 2, "store", size, store);
    if (narrow) scratch_give(r, sum, bytes);
    return status;
}
static int launch_grid_sample_grid_bwd(const burn_buf *out, const burn_buf *in, burn_args *a) {
    void *params[] = {(void *)&out->p, (void *)&in[0].p, (void *)&in[1].p, (void *)&in[2].p, (void *)a->i};
    return interpolate_launch(row_of(a), 0, "", out->size / 2, params);
}

static const cuda_launcher interpolate_launchers[] = {
    {"grid_sample_2d", launch_grid_sample, 0},
    {"grid_sample_2d_x_bwd", launch_grid_sample_x_bwd, 0},
    {"grid_sample_2d_grid_bwd", launch_grid_sample_grid_bwd, 0},
    {NULL, launch_interpolate, 0},
    {0},
};
