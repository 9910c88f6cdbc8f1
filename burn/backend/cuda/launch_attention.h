/* Launchers of cuda/attention.cu. */
#pragma once
#include "device.h"

#define ATTENTION_SIDE 32
#define ATTENTION_WIDE 64

/* the C twin of Shape in cuda/attention.cu */
typedef struct {
    int64_t q[4], k[4], v[4], mask[4], bias[4], y[4], g[4];
    int64_t heads, kv_heads, queries, keys, d, width, rows;
    double scale, softcap;
    int32_t causal, unused;
} attention_shape;

static void attention_strides(int64_t *to, const burn_buf *x) {
    int64_t step = 1;
    for (int i = 3; i >= 0; i--) {
        to[i] = x->strides ? x->strides[i] : step;
        step *= x->shape[i];
    }
}
static attention_shape attention_shape_of(const burn_buf *in, const burn_args *a, void **mask, void **bias) {
    attention_shape s = {.heads = in[0].shape[1], .kv_heads = in[1].shape[1], .queries = in[0].shape[2], .keys = in[1].shape[2],
                         .d = in[0].shape[3], .width = in[2].shape[3], .scale = a->f[0], .softcap = a->f[1],
                         .causal = (int32_t)a->i[0]};
    s.rows = in[0].shape[0] * s.heads * s.queries;
    int at = 3;
    attention_strides(s.q, &in[0]);
    attention_strides(s.k, &in[1]);
    attention_strides(s.v, &in[2]);
    if (a->i[1] & 1) {
        *mask = in[at].p;
        attention_strides(s.mask, &in[at++]);
    }
    if (a->i[1] & 2) {
        *bias = in[at].p;
        attention_strides(s.bias, &in[at]);
    }
    return s;
}
static int64_t attention_pieces(int64_t n, int64_t columns) {
    return (n + ATTENTION_SIDE - 1) / ATTENTION_SIDE * ((columns + ATTENTION_WIDE - 1) / ATTENTION_WIDE);
}
static int attention_launch(cuda_row *r, int variant, const char *suffix, int64_t blocks, void **params) {
    if (blocks == 0) return BURN_OK;
    CUfunction f = kernel_of(r, variant, suffix);
    return f ? launch(r, f, blocks, 1, 256, 0, params) : BURN_ERR_RAISED;
}

static int launch_attention(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    void *mask = NULL, *bias = NULL;
    attention_shape s = attention_shape_of(in, a, &mask, &bias);
    int64_t heads = in[0].shape[0] * s.heads;
    void *sums[] = {(void *)&out[1].p, (void *)&in[0].p, (void *)&in[1].p, &mask, &bias, &s};
    void *result[] = {(void *)&out[0].p, (void *)&in[0].p, (void *)&in[1].p, (void *)&in[2].p, &mask, &bias,
                      (void *)&out[1].p, &s};
    int status = attention_launch(r, 0, "totals", attention_pieces(s.queries, 1) * heads, sums);
    return status ? status : attention_launch(r, 1, "out", attention_pieces(s.queries, s.width) * heads, result);
}

static int launch_attention_bwd(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    void *mask = NULL, *bias = NULL, *own = NULL, *none = NULL;
    const burn_buf *more = in + a->n_in - 3;
    attention_shape s = attention_shape_of(in, a, &mask, &bias);
    int64_t batch = in[0].shape[0], rows = s.rows;
    size_t bytes = (size_t)rows * 8;
    attention_strides(s.y, &more[0]);
    attention_strides(s.g, &more[2]);
    void *sums[] = {&own, (void *)&more[0].p, (void *)&more[2].p, &rows, &s};
    void *queries[] = {(void *)&out[0].p, a->n_out > 3 ? (void *)&out[3].p : (void *)&none, (void *)&in[0].p, (void *)&in[1].p,
                       (void *)&in[2].p, &mask, &bias, (void *)&more[1].p, (void *)&more[2].p, &own, &s};
    void *keys[] = {(void *)&out[1].p, (void *)&out[2].p, (void *)&in[0].p, (void *)&in[1].p, (void *)&in[2].p, &mask, &bias,
                    (void *)&more[1].p, (void *)&more[2].p, &own, &s};
    if (rows && !(own = scratch_take(r, bytes))) return BURN_ERR_RAISED;
    int status = attention_launch(r, 2, "own", (rows + 7) / 8, sums);
    if (!status && ((a->i[2] & 1) || a->n_out > 3))
        status = attention_launch(r, 3, "queries", attention_pieces(s.queries, s.d ? s.d : 1) * batch * s.heads, queries);
    int64_t widest = s.d > s.width ? s.d : s.width;
    if (!status && (a->i[2] & 6))
        status = attention_launch(r, 4, "keys", attention_pieces(s.keys, widest) * batch * s.kv_heads, keys);
    if (own) scratch_give(r, own, bytes);
    return status;
}

static const cuda_launcher attention_launchers[] = {
    {"attention", launch_attention, ROW_STRIDED},
    {"attention_bwd", launch_attention_bwd, ROW_STRIDED},
    {0},
};
