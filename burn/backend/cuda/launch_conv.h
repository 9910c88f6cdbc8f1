/* Launchers of cuda/conv.cu. ints = stride, padding before, dilation of each axis, groups, winograd; for columns as in conv.h. */
#pragma once
#include "device.h"

#define CONV_TILE 64

typedef struct {
    int64_t n, groups, c, o;
    int64_t in[3], out[3], kernel[3], stride[3], pad[3], dilation[3];
} cuda_conv;
typedef struct {
    int64_t n, channels, groups, in[2], out[2], kernel[2], stride[2], pad[2], dilation[2];
} cuda_columns;

static cuda_conv cuda_conv_of(const burn_buf *x, const burn_buf *y, const burn_buf *w, const burn_args *a) {
    const int axes = x->ndim - 2;
    cuda_conv s = {.n = x->shape[0], .groups = a->i[3 * axes]};
    s.c = x->shape[1] / s.groups;
    s.o = y->shape[1] / s.groups;
    for (int k = 0; k < 3; k++) {
        const int from = k - (3 - axes);
        s.in[k] = from < 0 ? 1 : x->shape[2 + from];
        s.out[k] = from < 0 ? 1 : y->shape[2 + from];
        s.kernel[k] = from < 0 ? 1 : w->shape[2 + from];
        s.stride[k] = from < 0 ? 1 : a->i[from];
        s.pad[k] = from < 0 ? 0 : a->i[axes + from];
        s.dilation[k] = from < 0 ? 1 : a->i[2 * axes + from];
    }
    return s;
}
static int64_t cuda_tiles(int64_t n) { return (n + CONV_TILE - 1) / CONV_TILE; }

static int launch_conv(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    if (out->size == 0) return BURN_OK;
    cuda_conv s = cuda_conv_of(in, out, in + 1, a);
    CUfunction f = kernel_of(r, 0, "");
    if (!f) return BURN_ERR_RAISED;
    void *none = NULL;
    void *params[] = {(void *)&out->p, (void *)&in[0].p, (void *)&in[1].p, a->n_in > 2 ? (void *)&in[2].p : &none, &s};
    return launch(r, f, s.groups * cuda_tiles(s.o) * cuda_tiles(s.n * s.out[0] * s.out[1] * s.out[2]), 1, 256, 0, params);
}

static int launch_conv_weight(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    if (out->size == 0) return BURN_OK;
    cuda_conv s = cuda_conv_of(in, in + 1, out, a);
    CUfunction f = kernel_of(r, 0, "");
    if (!f) return BURN_ERR_RAISED;
    void *params[] = {(void *)&out->p, (void *)&in[0].p, (void *)&in[1].p, &s};
    const int64_t columns = s.c * s.kernel[0] * s.kernel[1] * s.kernel[2];
    return launch(r, f, s.groups * cuda_tiles(s.o) * cuda_tiles(columns), 1, 256, 0, params);
}

static cuda_columns cuda_columns_of(const burn_args *a, int64_t n) {
    cuda_columns s = {.n = n, .channels = a->i[12], .groups = a->i[13]};
    for (int k = 0; k < 2; k++) {
        s.stride[k] = a->i[k];
        s.pad[k] = a->i[2 + k];
        s.dilation[k] = a->i[4 + k];
        s.kernel[k] = a->i[6 + k];
        s.in[k] = a->i[8 + k];
        s.out[k] = a->i[10 + k];
    }
    return s;
}

static int launch_columns(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    if (out->size == 0) return BURN_OK;
    cuda_columns s = cuda_columns_of(a, out->size);
    CUfunction f = kernel_of(r, 0, "");
    if (!f) return BURN_ERR_RAISED;
    void *params[] = {(void *)&out->p, (void *)&in->p, &s};
    return launch(r, f, (s.n + 255) / 256, 1, 256, 0, params);
}

static int launch_deform(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    if (out->size == 0) return BURN_OK;
    cuda_columns s = cuda_columns_of(a, out->size);
    CUfunction f = kernel_of(r, 0, "");
    if (!f) return BURN_ERR_RAISED;
    void *none = NULL;
    void *params[] = {(void *)&out->p, (void *)&in[0].p, (void *)&in[1].p, a->n_in > 2 ? (void *)&in[2].p : &none, &s};
    return launch(r, f, (s.n + 255) / 256, 1, 256, 0, params);
}

static int launch_deform_x(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    if (out->size == 0) return BURN_OK;
    cuda_columns s = cuda_columns_of(a, out->shape[0] * out->shape[1]);
    CUfunction f = kernel_of(r, 0, "");
    if (!f) return BURN_ERR_RAISED;
    const size_t bytes = (size_t)out->size * (out->dtype == DT_F64 ? 8 : 4);
    void *none = NULL, *wide = scratch_take(r, bytes);
    if (!wide) return BURN_ERR_RAISED;
    void *params[] = {(void *)&out->p, (void *)&in[0].p, (void *)&in[1].p, a->n_in > 2 ? (void *)&in[2].p : &none, &wide, &s};
    const int status = launch(r, f, (s.n + 63) / 64, 1, 64, 0, params);
    scratch_give(r, wide, bytes);
    return status;
}

static int launch_deform_offset(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    if (out->size == 0) return BURN_OK;
    cuda_columns s = cuda_columns_of(a, out->size / 2);
    CUfunction f = kernel_of(r, 0, "");
    if (!f) return BURN_ERR_RAISED;
    void *none = NULL;
    void *params[] = {(void *)&out[0].p, a->n_out > 1 ? (void *)&out[1].p : &none, (void *)&in[0].p, (void *)&in[1].p,
                      (void *)&in[2].p, a->n_in > 3 ? (void *)&in[3].p : &none, &s};
    return launch(r, f, (s.n + 255) / 256, 1, 256, 0, params);
}

static const cuda_launcher conv_launchers[] = {
    {"conv", launch_conv, 0},
    {"conv_transpose", launch_conv, 0},
    {"conv_weight_bwd", launch_conv_weight, 0},
    {"unfold4d", launch_columns, 0},
    {"fold4d", launch_columns, 0},
    {"deform", launch_deform, 0},
    {"deform_x_bwd", launch_deform_x, 0},
    {"deform_offset_bwd", launch_deform_offset, 0},
    {0},
};
