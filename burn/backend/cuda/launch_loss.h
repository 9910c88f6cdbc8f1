/* Launchers of cuda/loss.cu: a warp a row of classes, a block a sample of sequences. */
#pragma once
#include "device.h"

enum { LOSS_SAMPLES, LOSS_ROWS };

/* which of targets and lengths have 64 bits */
static int32_t loss_wide(const burn_buf *in) {
    int32_t wide = 0;
    for (int k = 0; k < 3; k++) wide |= (in[k + 1].dtype == DT_I64) << k;
    return wide;
}
static unsigned loss_block(int64_t states) {
    unsigned block = 32;
    while (block < 256 && block < states) block *= 2;
    return block;
}

static int launch_nll_loss(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    int64_t rows = in[0].shape[0], classes = in[0].shape[1];
    int32_t wide = in[1].dtype == DT_I64, padded = (int32_t)a->i[0];
    void *err = error_of(a), *counts = a->n_out > 1 ? out[1].p : NULL, *weights = a->n_in > 2 ? in[2].p : NULL;
    void *params[] = {(void *)&out[0].p, &counts, (void *)&in[0].p, (void *)&in[1].p, &weights, &rows, &classes, &padded,
                      (void *)&a->i[1], (void *)&a->f[0], &wide, &err, &a->ticket};
    if (rows == 0) return BURN_OK;
    CUfunction f = kernel_of(r, LOSS_SAMPLES, "");
    return f ? launch(r, f, (rows + 7) / 8, 1, 256, 0, params) : BURN_ERR_RAISED;
}
static int launch_nll_loss_bwd(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    int64_t rows = out->shape[0], classes = out->shape[1];
    int32_t wide = in[1].dtype == DT_I64, padded = (int32_t)a->i[0];
    void *weights = a->n_in > 2 ? in[2].p : NULL;
    void *params[] = {(void *)&out->p, (void *)&in[0].p, (void *)&in[1].p, &weights, &rows, &classes, &padded,
                      (void *)&a->i[1], (void *)&a->f[0], &wide};
    if (out->size == 0) return BURN_OK;
    CUfunction f = kernel_of(r, LOSS_SAMPLES, "");
    return f ? launch(r, f, (rows + 7) / 8, 1, 256, 0, params) : BURN_ERR_RAISED;
}
static int launch_multi_margin_loss(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    int64_t rows = in[0].shape[0], classes = in[0].shape[1];
    int32_t wide = in[1].dtype == DT_I64;
    void *err = error_of(a);
    void *params[] = {(void *)&out->p, (void *)&in[0].p, (void *)&in[1].p, &rows, &classes, (void *)&a->i[0],
                      (void *)&a->f[0], &wide, &err, &a->ticket};
    if (rows == 0) return BURN_OK;
    CUfunction f = kernel_of(r, LOSS_SAMPLES, "");
    return f ? launch(r, f, (rows + 7) / 8, 1, 256, 0, params) : BURN_ERR_RAISED;
}
static int launch_multi_margin_loss_bwd(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    int64_t rows = in[0].shape[0], classes = in[0].shape[1];
    int32_t wide = in[1].dtype == DT_I64;
    void *params[] = {(void *)&out->p, (void *)&in[0].p, (void *)&in[1].p, (void *)&in[2].p, &rows, &classes,
                      (void *)&a->i[0], (void *)&a->f[0], &wide};
    if (out->size == 0) return BURN_OK;
    CUfunction f = kernel_of(r, LOSS_SAMPLES, "");
    return f ? launch(r, f, (rows + 7) / 8, 1, 256, 0, params) : BURN_ERR_RAISED;
}

static int launch_ctc_loss(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    int64_t length = in[0].shape[0], batch = in[0].shape[1], classes = in[0].shape[2], room = in[1].shape[1];
    int64_t kept = a->n_out > 1 ? (length ? length : 1) : 2;
    size_t bytes = (size_t)(batch * 2 * (2 * room + 1)) * 8;
    int32_t wide = loss_wide(in);
    void *err = error_of(a), *alphas = a->n_out > 1 ? out[1].p : NULL, *scratch = NULL;
    void *params[] = {(void *)&out[0].p, &alphas, (void *)&in[0].p, (void *)&in[1].p, (void *)&in[2].p, (void *)&in[3].p,
                      (void *)&a->i[0], &length, &batch, &classes, &room, &kept, &wide, &err, &a->ticket};
    if (batch == 0) return BURN_OK;
    CUfunction f = kernel_of(r, LOSS_SAMPLES, "");
    if (!f) return BURN_ERR_RAISED;
    if (a->n_out == 1 && !(alphas = scratch = scratch_take(r, bytes))) return BURN_ERR_RAISED;
    int status = launch(r, f, batch, 1, loss_block(room + 1), 0, params);
    if (scratch) scratch_give(r, scratch, bytes);
    return status;
}

static int launch_ctc_loss_bwd(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    int64_t length = in[0].shape[0], batch = in[0].shape[1], classes = in[0].shape[2], room = in[1].shape[1];
    size_t bytes = (size_t)(batch * 3 * (2 * room + 1)) * 8;
    int32_t wide = loss_wide(in);
    void *scratch = NULL;
    void *params[] = {(void *)&out->p, (void *)&in[0].p, (void *)&in[1].p, (void *)&in[2].p, (void *)&in[3].p, (void *)&in[4].p,
                      (void *)&in[5].p, (void *)&a->i[0], &length, &batch, &classes, &room, &scratch, &wide};
    if (out->size == 0) return BURN_OK;
    CUfunction f = kernel_of(r, LOSS_SAMPLES, "");
    if (!f || !(scratch = scratch_take(r, bytes))) return BURN_ERR_RAISED;
    int status = launch(r, f, batch, 1, loss_block(room + 1), 0, params);
    scratch_give(r, scratch, bytes);
    return status;
}

static int launch_rnnt_loss(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    int64_t batch = in[0].shape[0], length = in[0].shape[1], rows = in[0].shape[2], classes = in[0].shape[3];
    int64_t total = batch * length * rows;
    int32_t wide = loss_wide(in);
    void *err = error_of(a), *sums = a->i[1] ? (char *)out[1].p + total * 8 : NULL;
    void *of_rows[] = {&sums, (void *)&in[0].p, (void *)&in[2].p, (void *)&in[3].p, &length, &rows, &classes, &total, &wide};
    void *params[] = {(void *)&out[0].p, (void *)&out[1].p, (void *)&in[0].p, (void *)&in[1].p, (void *)&in[2].p,
                      (void *)&in[3].p, &sums, (void *)&a->i[0], &length, &rows, &classes, &wide, &err, &a->ticket};
    if (batch == 0) return BURN_OK;
    CUfunction f = kernel_of(r, LOSS_SAMPLES, ""), each = kernel_of(r, LOSS_ROWS, "sums");
    if (!f || !each) return BURN_ERR_RAISED;
    int status = sums && total ? launch(r, each, (total + 7) / 8, 1, 256, 0, of_rows) : BURN_OK;
    return status ? status : launch(r, f, batch, 1, loss_block(rows), 0, params);
}

static int launch_rnnt_loss_bwd(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    int64_t batch = in[0].shape[0], length = in[0].shape[1], rows = in[0].shape[2], classes = in[0].shape[3];
    int64_t total = batch * length * rows;
    size_t bytes = (size_t)total * 24;
    int32_t wide = loss_wide(in);
    void *paths = NULL, *betas = NULL, *sums = a->i[1] ? (char *)in[4].p + total * 8 : NULL;
    void *of_samples[] = {&paths, &betas, (void *)&in[0].p, (void *)&in[1].p, (void *)&in[2].p, (void *)&in[3].p,
                          (void *)&in[4].p, (void *)&a->i[0], (void *)&a->i[1], &length, &rows, &classes, &total, &wide};
    void *of_rows[] = {(void *)&out->p, (void *)&in[0].p, (void *)&in[1].p, (void *)&in[3].p, &paths, &sums, (void *)&in[5].p,
                       (void *)&a->i[0], &length, &rows, &classes, &total, &wide};
    if (out->size == 0) return BURN_OK;
    CUfunction f = kernel_of(r, LOSS_SAMPLES, "paths"), each = kernel_of(r, LOSS_ROWS, "slopes");
    if (!f || !each || !(paths = scratch_take(r, bytes))) return BURN_ERR_RAISED;
    betas = (char *)paths + total * 16;
    int status = launch(r, f, batch, 1, loss_block(rows), 0, of_samples);
    if (!status) status = launch(r, each, (total + 7) / 8, 1, 256, 0, of_rows);
    scratch_give(r, paths, bytes);
    return status;
}

static const cuda_launcher loss_launchers[] = {
    {"nll_loss", launch_nll_loss, ROW_TICKET},
    {"nll_loss_bwd", launch_nll_loss_bwd, 0},
    {"multi_margin_loss", launch_multi_margin_loss, ROW_TICKET},
    {"multi_margin_loss_bwd", launch_multi_margin_loss_bwd, 0},
    {"ctc_loss", launch_ctc_loss, ROW_TICKET},
    {"ctc_loss_bwd", launch_ctc_loss_bwd, 0},
    {"rnnt_loss", launch_rnnt_loss, ROW_TICKET},
    {"rnnt_loss_bwd", launch_rnnt_loss_bwd, 0},
    {0},
};
