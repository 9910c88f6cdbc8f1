/* Convolutions of all float types; f16 and bf16 are widened to f32 first and rounded once at the end. */
#pragma once
#include "conv_plan.h"

/* Geometry of unfold4d, fold4d and deformable convolutions: `in` is the map, `out` the grid of blocks. */
typedef struct {
    int64_t images, channels, groups, in[2], out[2], kernel[2], stride[2], pad[2], dilation[2];
} conv_columns;

#define T float
#define TS float
#define TI int32_t
#define TBYTES 4
#define FN(name) conv_##name##_f32
#include "conv_type.h"

#define T double
#define TS double
#define TI int64_t
#define TBYTES 8
#define FN(name) conv_##name##_f64
#include "conv_type.h"

static void conv_init(const burn_rt *services)
{
    rt_init(services);
    gemm_init(services);
}

/* ---- half types */
enum { CONV_OPERANDS = 5, CONV_WIDEN = 1 << 14 };

typedef struct { const uint16_t *from; float *to; uint16_t *back; int64_t n; int dtype; } conv_half;

static void conv_widen(void *ctx, int64_t i)
{
    const conv_half *h = ctx;
    const int64_t end = gemm_min((i + 1) * CONV_WIDEN, h->n);
    if (h->dtype == DT_F16) for (int64_t j = i * CONV_WIDEN; j < end; j++) h->to[j] = gemm_from_f16(h->from[j]);
    else for (int64_t j = i * CONV_WIDEN; j < end; j++) h->to[j] = gemm_from_bf16(h->from[j]);
}

static void conv_narrow(void *ctx, int64_t i)
{
    const conv_half *h = ctx;
    const int64_t at = i * CONV_WIDEN, n = gemm_min(h->n - at, CONV_WIDEN);
    (h->dtype == DT_F16 ? gemm_narrow_f16 : gemm_narrow_bf16)(h->to + at, h->back + at, 1, n, n);
}

/* Buffers in the type that is computed in: those of the call, or wide copies in scratch memory. */
typedef struct {
    void *out[2];
    const void *in[CONV_OPERANDS];
    float *scratch;
    size_t bytes;
    int f64, half;
} conv_buffers;

static int conv_open(const burn_buf *out, const burn_buf *in, const burn_args *a, conv_buffers *b)
{
    b->f64 = in->dtype == DT_F64;
    b->half = in->dtype == DT_F16 || in->dtype == DT_BF16;
    b->bytes = 0;
    for (int i = 0; i < a->n_out; i++) b->bytes += b->half ? (out[i].size + 15) / 16 * 64 : 0;
    for (int i = 0; i < a->n_in; i++) b->bytes += b->half ? (in[i].size + 15) / 16 * 64 : 0;
    b->scratch = NULL;
    if (b->bytes && !(b->scratch = rt->alloc(b->bytes))) return 0;
    float *to = b->scratch;
    for (int i = 0; i < a->n_in; i++) {
        b->in[i] = in[i].p;
        if (!b->half) continue;
        conv_half h = {.from = in[i].p, .to = to, .n = in[i].size, .dtype = in->dtype};
        rt_tasks(conv_widen, &h, gemm_ceil(h.n, CONV_WIDEN), (double)h.n);
        b->in[i] = to;
        to += (h.n + 15) / 16 * 16;
    }
    for (int i = 0; i < a->n_out; i++) {
        b->out[i] = out[i].p;
        if (!b->half) continue;
        b->out[i] = to;
        to += (out[i].size + 15) / 16 * 16;
    }
    return 1;
}

/* Ends a call: results to their own type, scratch given back, and what could not be had as an error. */
static int conv_close(const burn_buf *out, const burn_buf *in, burn_args *a, conv_buffers *b, size_t wanted)
{
    if (b->half && !wanted)
        for (int i = 0; i < a->n_out; i++) {
            conv_half h = {.to = b->out[i], .back = out[i].p, .n = out[i].size, .dtype = in->dtype};
            rt_tasks(conv_narrow, &h, gemm_ceil(h.n, CONV_WIDEN), (double)h.n);
        }
    if (b->scratch) rt->free(b->scratch, b->bytes);
    return wanted ? rt_no_memory(a, (int64_t)wanted) : BURN_OK;
}

/* Geometry from the shapes of what is read, what is written, and the weight, and from the attributes: stride, padding before,
   dilation for each axis, groups, whether Winograd may be used. */
static void conv_fill(conv_call *c, const burn_buf *x, const burn_buf *y, const burn_buf *w, const burn_args *a, int transposed)
{
    const int axes = x->ndim - 2;
    *c = (conv_call){.n = x->shape[0], .groups = a->i[3 * axes], .winograd = (int32_t)a->i[3 * axes + 1],
                     .transposed = transposed};
    int64_t taps = 1;
    for (int k = 0; k < CONV_AXES; k++) {
        const int from = k - (CONV_AXES - axes);
        c->in[k] = from < 0 ? 1 : x->shape[2 + from];
        c->out[k] = from < 0 ? 1 : y->shape[2 + from];
        c->kernel[k] = from < 0 ? 1 : w->shape[2 + from];
        c->stride[k] = from < 0 ? 1 : a->i[from];
        c->pad[k] = from < 0 ? 0 : a->i[axes + from];
        c->dilation[k] = from < 0 ? 1 : a->i[2 * axes + from];
        taps *= c->kernel[k];
    }
    c->c = x->shape[1] / c->groups;
    c->o = y->shape[1] / c->groups;
    c->w_g = c->c * c->o * taps;
    c->w_o = transposed ? taps : c->c * taps;
    c->w_c = transposed ? c->o * taps : taps;
}

static int conv_forward(const burn_buf *out, const burn_buf *x, const burn_buf *weight, burn_args *a, int transposed)
{
    conv_call c;
    conv_buffers b;
    if (out->size == 0) return BURN_OK;
    if (!conv_open(out, x, a, &b)) return rt_no_memory(a, (int64_t)b.bytes);
    conv_fill(&c, x, out, weight, a, transposed);
    c.x = b.in[0];
    c.w = b.in[1];
    c.bias = a->n_in > 2 ? b.in[2] : NULL;
    c.y = b.out[0];
    return conv_close(out, x, a, &b, b.f64 ? conv_forward_f64(&c) : conv_forward_f32(&c));
}

static int conv_weight(const burn_buf *out, const burn_buf *x, const burn_buf *grad, burn_args *a)
{
    conv_call c;
    conv_buffers b;
    size_t wanted = 0;
    if (out->size == 0) return BURN_OK;
    if (!conv_open(out, x, a, &b)) return rt_no_memory(a, (int64_t)b.bytes);
    conv_fill(&c, x, grad, out, a, 0);
    c.x = b.in[0];
    if (x->size == 0 || grad->size == 0) memset(b.out[0], 0, out->size * (b.f64 ? 8 : 4));
    else if (b.f64) wanted = conv_gradient_f64(&c, b.in[1], b.out[0]);
    else wanted = conv_gradient_f32(&c, b.in[1], b.out[0]);
    return conv_close(out, x, a, &b, wanted);
}

/* ---- columns: the attributes are stride, padding, dilation, kernel, map, grid of blocks (two each), channels, groups of
   offsets */
typedef enum { CONV_UNFOLD, CONV_FOLD, CONV_DEFORM, CONV_DEFORM_X, CONV_DEFORM_OFFSET } conv_kind;

#define CONV_COLUMNS(type, FN) \
    do { \
        FN(columns) g = {.d = d, .out = (type *)b.out[0]}; \
        const type *const *p = (const type *const *)b.in; \
        switch (kind) { \
        case CONV_UNFOLD: g.x = p[0]; rt_tasks(FN(unfold_part), &g, d.images * d.channels, ns); break; \
        case CONV_FOLD: g.x = p[0]; rt_tasks(FN(fold_part), &g, d.images * d.channels, ns); break; \
        case CONV_DEFORM: \
            g.x = p[0]; g.offset = p[1]; g.mask = a->n_in > 2 ? p[2] : NULL; \
            rt_tasks(FN(deform_forward), &g, d.images * d.groups, 4 * ns); \
            break; \
        case CONV_DEFORM_X: \
            g.grad = p[0]; g.offset = p[1]; g.mask = a->n_in > 2 ? p[2] : NULL; \
            rt_tasks(FN(deform_to_x), &g, d.images * d.groups, 4 * ns); \
            break; \
        default: \
            g.grad = p[0]; g.x = p[1]; g.offset = p[2]; g.mask = a->n_in > 3 ? p[3] : NULL; \
            g.d_offset = (type *)b.out[0]; g.d_mask = a->n_out > 1 ? (type *)b.out[1] : NULL; \
            rt_tasks(FN(deform_to_offset), &g, d.images * d.groups, 8 * ns); \
        } \
    } while (0)
#define CONV_F32(name) conv_##name##_f32
#define CONV_F64(name) conv_##name##_f64

static int conv_by_columns(conv_kind kind, const burn_buf *out, const burn_buf *in, burn_args *a)
{
    conv_columns d = {.channels = a->i[12], .groups = a->i[13]};
    conv_buffers b;
    for (int k = 0; k < 2; k++) {
        d.stride[k] = a->i[k];
        d.pad[k] = a->i[2 + k];
        d.dilation[k] = a->i[4 + k];
        d.kernel[k] = a->i[6 + k];
        d.in[k] = a->i[8 + k];
        d.out[k] = a->i[10 + k];
    }
    if (out->size == 0) return BURN_OK;
    d.images = out->shape[0];
    if (!conv_open(out, in, a, &b)) return rt_no_memory(a, (int64_t)b.bytes);
    const double ns = (double)d.images * d.channels * d.kernel[0] * d.kernel[1] * d.out[0] * d.out[1];
    if (b.f64) CONV_COLUMNS(double, CONV_F64);
    else CONV_COLUMNS(float, CONV_F32);
    return conv_close(out, in, a, &b, 0);
}
