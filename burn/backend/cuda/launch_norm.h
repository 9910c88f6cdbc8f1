/* Launchers of cuda/norm.cu. */
#pragma once
#include "device.h"

enum { NORM_ROWS, NORM_COLUMNS, NORM_CHANNELS, NORM_APPLY };

static unsigned norm_block(int64_t n) {
    unsigned block = 32;
    while (block < 256 && (int64_t)block * 4 < n) block *= 2;
    return block;
}

static int launch_group_norm(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    int64_t rows = a->i[0], groups = a->i[1], channels = a->i[2], spatial = a->i[3];
    int32_t centred = (int32_t)a->i[4];
    double eps = a->f[0];
    const void *gamma = a->n_in > 1 ? in[1].p : NULL, *beta = a->n_in > 2 ? in[2].p : NULL;
    void *params[] = {(void *)&out[0].p, (void *)&out[1].p, (void *)&out[2].p, (void *)&in[0].p, &gamma, &beta, &groups,
                      &channels, &spatial, &centred, &eps};
    if (rows * channels * spatial == 0) return BURN_OK;
    CUfunction f = kernel_of(r, NORM_ROWS, "");
    return f ? launch(r, f, rows, 1, norm_block(channels * spatial), 0, params) : BURN_ERR_RAISED;
}

static int launch_group_norm_bwd(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    int64_t rows = a->i[0], groups = a->i[1], channels = a->i[2], spatial = a->i[3], wide = groups * channels;
    int32_t centred = (int32_t)a->i[4];
    const void *gamma = a->n_in > 4 ? in[4].p : NULL;
    void *slope[] = {(void *)&out[0].p, (void *)&in[0].p, (void *)&in[1].p, (void *)&in[2].p, (void *)&in[3].p, &gamma, &groups,
                     &channels, &spatial, &centred};
    if (rows * channels * spatial == 0) return BURN_OK;
    CUfunction f = kernel_of(r, NORM_ROWS, "rows");
    if (!f || launch(r, f, rows, 1, norm_block(channels * spatial), 0, slope)) return BURN_ERR_RAISED;
    if (a->n_out == 1) return BURN_OK;
    void *sums[] = {(void *)&out[1].p, (void *)&out[2].p, (void *)&in[0].p, (void *)&in[1].p, (void *)&in[2].p,
                    (void *)&in[3].p, &rows, &groups, &channels, &spatial};
    f = spatial == 1 ? kernel_of(r, NORM_COLUMNS, "columns") : kernel_of(r, NORM_CHANNELS, "channels");
    if (!f) return BURN_ERR_RAISED;
    return launch(r, f, spatial == 1 ? (wide + 31) / 32 : wide, 1, spatial == 1 ? 256 : norm_block(spatial), 0, sums);
}

/* Blocks over columns, and over rows while there are few of those. */
static int norm_apply(cuda_row *r, void **params, int64_t outer, int64_t wide) {
    CUfunction f = kernel_of(r, NORM_APPLY, "apply");
    int64_t tiles = (wide + 255) / 256, lines = 1;
    while (lines * tiles < 4096 && lines < outer && lines < 32768) lines *= 2;
    return f ? launch(r, f, tiles, (unsigned)lines, 256, 0, params) : BURN_ERR_RAISED;
}

static int launch_batch_norm(const burn_buf *out, const burn_buf *in, burn_args *a) {
    int64_t outer = a->i[0], channels = a->i[1], inner = a->i[2];
    double eps = a->f[0];
    void *low = NULL;
    void *params[] = {(void *)&out->p, (void *)&in[0].p, (void *)&in[1].p, (void *)&in[2].p, (void *)&in[3].p, (void *)&in[4].p,
                      &low, &outer, &channels, &inner, &eps};
    if (outer * channels * inner == 0) return BURN_OK;
    return norm_apply(row_of(a), params, outer, channels * inner);
}

static int launch_batch_norm_train(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    int64_t outer = a->i[0], channels = a->i[1], inner = a->i[2];
    double eps = a->f[0];
    void *low = NULL;
    size_t bytes = (size_t)out[1].size * 8;
    void *stats[] = {(void *)&out[1].p, (void *)&out[2].p, &low, (void *)&in[0].p, &outer, &channels, &inner};
    void *params[] = {(void *)&out[0].p, (void *)&in[0].p, (void *)&in[1].p, (void *)&in[2].p, (void *)&out[1].p,
                      (void *)&out[2].p, &low, &outer, &channels, &inner, &eps};
    if (outer * channels * inner == 0) return BURN_OK;
    if (!(low = scratch_take(r, bytes))) return BURN_ERR_RAISED;
    int status = BURN_OK;
    CUfunction f = inner == 1 ? kernel_of(r, NORM_COLUMNS, "columns") : kernel_of(r, NORM_CHANNELS, "channels");
    if (!f || launch(r, f, inner == 1 ? (channels + 31) / 32 : channels, 1, inner == 1 ? 256 : norm_block(outer * inner), 0,
                     stats))
        status = BURN_ERR_RAISED;
    if (!status) status = norm_apply(r, params, outer, channels * inner);
    scratch_give(r, low, bytes);
    return status;
}

static int launch_batch_norm_bwd(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    int64_t outer = a->i[0], channels = a->i[1], inner = a->i[2];
    int32_t train = (int32_t)a->i[3];
    double eps = a->f[0];
    void *columns[] = {(void *)&out[1].p, (void *)&out[2].p, (void *)&in[0].p, (void *)&in[1].p, (void *)&in[2].p,
                       (void *)&in[3].p, &outer, &channels, &eps};
    void *runs[] = {(void *)&out[1].p, (void *)&out[2].p, (void *)&in[0].p, (void *)&in[1].p, (void *)&in[2].p,
                    (void *)&in[3].p, &outer, &channels, &inner, &eps};
    void *params[] = {(void *)&out[0].p, (void *)&in[0].p, (void *)&in[1].p, (void *)&in[2].p, (void *)&in[3].p,
                      (void *)&in[4].p, (void *)&out[1].p, (void *)&out[2].p, &outer, &channels, &inner, &train, &eps};
    if (outer * channels * inner == 0) return BURN_OK;
    CUfunction f = inner == 1 ? kernel_of(r, NORM_COLUMNS, "columns") : kernel_of(r, NORM_CHANNELS, "channels");
    if (!f || launch(r, f, inner == 1 ? (channels + 31) / 32 : channels, 1, inner == 1 ? 256 : norm_block(outer * inner), 0,
                     inner == 1 ? columns : runs))
        return BURN_ERR_RAISED;
    return norm_apply(r, params, outer, channels * inner);
}

static int launch_local_response(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    void *params[10], **p = params;
    *p++ = (void *)&out->p;
    for (int k = 0; k < a->n_in; k++) *p++ = (void *)&in[k].p;
    for (int k = 0; k < 4; k++) *p++ = (void *)&a->i[k];
    for (int k = 0; k < 3; k++) *p++ = (void *)&a->f[k];
    if (out->size == 0) return BURN_OK;
    CUfunction f = kernel_of(r, NORM_ROWS, "");
    return f ? launch(r, f, (out->size + 255) / 256, 1, 256, 0, params) : BURN_ERR_RAISED;
}

/* in: x; for slopes also the gradient, and norms, which are made again; then what is taken off, where there is anything */
static int launch_lengths(const burn_buf *out, const burn_buf *in, burn_args *a, int slopes) {
    cuda_row *r = row_of(a);
    int64_t rows = a->i[0], n = a->i[1];
    void *none = NULL, *params[6], **p = params;
    *p++ = (void *)&out->p;
    *p++ = (void *)&in[0].p;
    if (slopes) *p++ = (void *)&in[1].p;
    *p++ = a->n_in > 1 + 2 * slopes ? (void *)&in[1 + 2 * slopes].p : (void *)&none;
    *p++ = &n;
    *p++ = (void *)&a->f[0];
    if (out->size == 0) return BURN_OK;
    CUfunction f = kernel_of(r, NORM_ROWS, "");
    return f ? launch(r, f, rows, 1, norm_block(n), 0, params) : BURN_ERR_RAISED;
}
static int launch_l2_norm(const burn_buf *out, const burn_buf *in, burn_args *a) { return launch_lengths(out, in, a, 0); }
static int launch_l2_norm_bwd(const burn_buf *out, const burn_buf *in, burn_args *a) { return launch_lengths(out, in, a, 1); }

static int launch_vectors(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    int64_t rows = a->i[0], n = a->i[1];
    int32_t open = a->f[1] != 0;
    void *params[8], **p = params;
    *p++ = (void *)&out->p;
    for (int k = 0; k < a->n_in; k++) *p++ = (void *)&in[k].p;
    *p++ = &n;
    *p++ = (void *)&a->f[0];
    *p++ = &open;
    if (out->size == 0) return BURN_OK;
    CUfunction f = kernel_of(r, NORM_ROWS, "");
    return f ? launch(r, f, rows, 1, norm_block(n), 0, params) : BURN_ERR_RAISED;
}

static const cuda_launcher norm_launchers[] = {
    {"l2_norm", launch_l2_norm, 0},
    {"l2_norm_bwd", launch_l2_norm_bwd, 0},
    {"cosine_similarity", launch_vectors, 0},
    {"cosine_similarity_bwd", launch_vectors, 0},
    {"group_norm", launch_group_norm, 0},
    {"group_norm_bwd", launch_group_norm_bwd, 0},
    {"batch_norm", launch_batch_norm, 0},
    {"batch_norm_train", launch_batch_norm_train, 0},
    {"batch_norm_bwd", launch_batch_norm_bwd, 0},
    {NULL, launch_local_response, 0},
    {0},
};
