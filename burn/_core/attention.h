/* softmax(q k^T * scale) v, and its gradients, without the matrix of scores: a block of queries meets a tile of keys, and
   only that piece exists. The kernels of each dtype are in attention_type.h; here they are made and driven. */
#pragma once
#include "runtime.h"
#include "vmath.h"
#include "gemm_level.h"

/* QUERIES, KEYS   of a block and of a tile, whose keys and values stay in L2 while all queries of the block meet them
   STRIP           queries whose scores lie in L1, with KEYS keys, from the first product to the second
   BACK_QUERIES, BACK_KEYS   of a block and a tile of the gradients, which need two matrices of scores */
#if BURN_LEVEL >= 4
enum { QUERIES = 56, STRIP = 14, KEYS = 512, BACK_QUERIES = 56, BACK_KEYS = 128 };
#else
enum { QUERIES = 60, STRIP = 12, KEYS = 256, BACK_QUERIES = 60, BACK_KEYS = 128 };
#endif
enum { ROOM = KEYS + 32, BACK_ROOM = BACK_KEYS + 32 }; /* elements from row to row of scores */
#define TASKS 32                         /* where there are fewer heads than this, queries are split as well */

#define T float
#define TS float
#define TI int32_t
#define TBYTES 4
#define FN(name) gemm_##name##_f32
#include "gemm_kernel.h"
enum { PANEL_F32 = NR, LANES_F32 = VL };
#include "gemm_end.h"
#define T double
#define TS double
#define TI int64_t
#define TBYTES 8
#define FN(name) gemm_##name##_f64
#include "gemm_kernel.h"
enum { PANEL_F64 = NR, LANES_F64 = VL };
#include "gemm_end.h"

typedef struct attention_type attention_type;

/* a tensor [batch, heads, rows, columns]: memory and strides in elements */
typedef struct { const char *p; int64_t s[4]; } attention_in;

typedef struct {
    const attention_type *t;
    attention_in q, k, v, mask, bias, g, y;
    attention_in out, dq, dk, dv;            /* written */
    char *dbias;
    void *totals;                            /* of each query the largest score, then one over the sum of exponentials, or 0 */
    int64_t batch, heads, kv_heads, queries, keys, d, width; /* d of queries and keys, width of values */
    int64_t chunk, chunks;
    double scale, softcap;
    int causal, failed, wants;               /* wants: 1 dq, 2 dk, 4 dv */
    size_t bytes;
} attention_job;

struct attention_type {
    int wide, panel;
    void (*forward)(const attention_job *j, int64_t b, int64_t h, int64_t first, int64_t last, void *scratch);
    void (*backward)(const attention_job *j, int64_t b, int64_t kv, void *scratch);
};

VINL vd vd_tanh(vd x) {
    for (int l = 0; l < VD; l++) x[l] = tanh(x[l]);
    return x;
}
VINL vd vd_max(vd a, vd b) {
    vl m = a > b;
    return (vd)((m & (vl)a) | (~m & (vl)b));
}
VINL double vd_hmax(vd v) {
    double m = v[0];
    for (int l = 1; l < VD; l++) m = v[l] > m ? v[l] : m;
    return m;
}
/* e^x for x up to 0, or little more, within 2 ulp and half a unit of x's last place: 2^n times 2^r by a polynomial, in as few
   operations as there can be. Below -87 it is 0, not subnormal: an instruction that makes or takes a subnormal number can cost
   a hundred others, and a weight of e^-87 beside one of 1 is not seen. */
VINL vf vf_weight(vf x) {
    const vf z = vf_fma(x, bc(1.44269504f), bc(VM_SHIFT)), n = z - bc(VM_SHIFT), r = vf_fma(x, bc(1.44269504f), -n);
    vf p = bc(0x1.5bba14p-10f);
    p = vf_fma(p, r, bc(0x1.3cea88p-7f));
    p = vf_fma(p, r, bc(0x1.c6b752p-5f));
    p = vf_fma(p, r, bc(0x1.ebf9bcp-3f));
    p = vf_fma(p, r, bc(0x1.62e42ap-1f));
    p = vf_fma(p, r, bc(1.f));
#if BURN_LEVEL == 4
    return (vf)_mm512_maskz_scalef_ps(vm_not(vf_lt(x, bc(-87.f))), (__m512)p, (__m512)n);
#else /* a product: a sum of bits would make numbers of some NaNs */
    return vf_sel(vf_lt(x, bc(-87.f)), bc(0.f), p * (vf)(((vi)z << 23) + (vi)bc(1.f)));
#endif
}
VINL void vf_weights(vf *x, int n) { VM_EACH(j, n) x[j] = vf_weight(x[j]); }
VINL void vd_weights(vd *x, int n) { VM_EACH(j, n) for (int l = 0; l < VD; l++) x[j][l] = exp(x[j][l]); }
VINL vd vd_load_n(const double *p, int64_t k) {
    vd v = {0};
    memcpy(&v, p, (size_t)k * 8);
    return v;
}
VINL void vd_store_n(double *p, vd v, int64_t k) { memcpy(p, &v, (size_t)k * 8); }

#define FN(name) name##_f32
#define GEMM(name) gemm_##name##_f32
#define T float
#define A float
#define V vf
#define L VW
#define LOAD vf_load
#define LOAD_N vf_load_n
#define STORE vf_store
#define STORE_N vf_store_n
#define EXPS vf_weights
#define TANH m_tanh
#define HSUM vf_sum
#define MAXV vf_max
#define HMAX vf_hmax
#define PANEL PANEL_F32
#define LANES LANES_F32
#include "attention_type.h"

#define FN(name) name##_f64
#define GEMM(name) gemm_##name##_f64
#define T double
#define A double
#define V vd
#define L VD
#define LOAD vd_load
#define LOAD_N vd_load_n
#define STORE vd_store
#define STORE_N vd_store_n
#define EXPS vd_weights
#define TANH vd_tanh
#define HSUM vd_sum
#define MAXV vd_max
#define HMAX vd_hmax
#define PANEL PANEL_F64
#define LANES LANES_F64
#include "attention_type.h"

#define FN(name) name##_f16
#define GEMM(name) gemm_##name##_f32
#define T uint16_t
#define A float
#define V vf
#define L VW
#define LOAD vf_load_f16
#define LOAD_N vf_load_f16_n
#define STORE vf_store_f16
#define STORE_N vf_store_f16_n
#define EXPS vf_weights
#define TANH m_tanh
#define HSUM vf_sum
#define MAXV vf_max
#define HMAX vf_hmax
#define PANEL PANEL_F32
#define LANES LANES_F32
#include "attention_type.h"

#define FN(name) name##_bf16
#define GEMM(name) gemm_##name##_f32
#define T uint16_t
#define A float
#define V vf
#define L VW
#define LOAD vf_load_bf16
#define LOAD_N vf_load_bf16_n
#define STORE vf_store_bf16
#define STORE_N vf_store_bf16_n
#define EXPS vf_weights
#define TANH m_tanh
#define HSUM vf_sum
#define MAXV vf_max
#define HMAX vf_hmax
#define PANEL PANEL_F32
#define LANES LANES_F32
#include "attention_type.h"

static const attention_type *const ATTENTION_TYPES[DT_COUNT] = {
    [DT_F64] = &attention_f64, [DT_F32] = &attention_f32, [DT_FLEX32] = &attention_f32,
    [DT_F16] = &attention_f16, [DT_BF16] = &attention_bf16,
};

static void attention_init(const burn_rt *services) {
    rt_init(services);
    gemm_init(services);
}

/* whether the last axis can be read as it lies, or any axis (any) */
static int attention_view(attention_in *to, const burn_buf *from, int any) {
    int64_t step = 1;
    to->p = from->p;
    for (int i = 3; i >= 0; i--) {
        to->s[i] = from->strides ? from->strides[i] : step;
        step *= from->shape[i];
    }
    return any || to->s[3] == 1 || from->shape[3] < 2;
}

/* in: q, k, v, then the mask (flags & 1), the bias (flags & 2) */
static int attention_inputs(attention_job *j, const burn_buf *in, const burn_args *a, int64_t causal, int64_t flags) {
    int at = 3;
    int good = attention_view(&j->q, &in[0], 0) && attention_view(&j->k, &in[1], 0) && attention_view(&j->v, &in[2], 0);
    if (flags & 1) attention_view(&j->mask, &in[at++], 1);
    if (flags & 2) attention_view(&j->bias, &in[at++], 1);
    j->t = ATTENTION_TYPES[in->dtype];
    j->batch = in[0].shape[0];
    j->heads = in[0].shape[1];
    j->queries = in[0].shape[2];
    j->d = in[0].shape[3];
    j->kv_heads = in[1].shape[1];
    j->keys = in[1].shape[2];
    j->width = in[2].shape[3];
    j->causal = (int)causal;
    j->scale = a->f[0];
    j->softcap = a->f[1];
    return good;
}

static int64_t attention_round(int64_t n, int64_t to) { return ceil_div(n, to) * to; }

static void attention_task(void *ctx, int64_t i) {
    attention_job *j = ctx;
    int64_t chunk = i % j->chunks, head = i / j->chunks;
    void *scratch = rt->alloc(j->bytes);
    if (!scratch) {
        j->failed = 1; /* every writer writes the same */
        return;
    }
    if (!j->g.p)
        j->t->forward(j, head / j->heads, head % j->heads, chunk * j->chunk, i64_min((chunk + 1) * j->chunk, j->queries),
                      scratch);
    else j->t->backward(j, head / j->kv_heads, head % j->kv_heads, scratch);
    rt->free(scratch, j->bytes);
}

static double attention_ns(const attention_job *j, double passes) {
    return passes * (double)(j->batch * j->heads * j->queries) * (double)(j->keys * (j->d + j->width + 16)) * 0.05;
}

/* out: the result, and of each query the largest score and one over the sum of its exponentials */
static int attention_run(const burn_buf *out, const burn_buf *in, burn_args *a, int64_t causal, int64_t flags) {
    attention_job j = {0};
    if (!attention_inputs(&j, in, a, causal, flags)) return BURN_ERR_STRIDES;
    if (!attention_view(&j.out, &out[0], 0) || out[1].strides) return BURN_ERR_STRIDES;
    j.totals = out[1].p;
    int64_t heads = j.batch * j.heads, panel = j.t->panel, d = j.d, w = j.width;
    if (heads * j.queries == 0) return BURN_OK;
    j.chunks = i64_max(1, i64_min(ceil_div(TASKS, heads), ceil_div(j.queries, 2 * QUERIES)));
    j.chunk = attention_round(ceil_div(j.queries, j.chunks), QUERIES);
    j.chunks = ceil_div(j.queries, j.chunk);
    j.bytes = (size_t)((attention_round(j.keys, panel) * d + attention_round(w, panel) * j.keys
                        + STRIP * ROOM + QUERIES * (d + w + 2) + panel) * j.t->wide);
    rt_tasks(attention_task, &j, heads * j.chunks, attention_ns(&j, 1));
    return j.failed ? rt_no_memory(a, (int64_t)j.bytes) : BURN_OK;
}

/* out: dq, dk, dv, and with a bias its gradient in full; in: as attention_run, then the result, totals and g */
static int attention_bwd_run(const burn_buf *out, const burn_buf *in, burn_args *a, int64_t causal, int64_t flags,
                             int64_t wants) {
    attention_job j = {0};
    const burn_buf *more = in + a->n_in - 3;
    if (!attention_inputs(&j, in, a, causal, flags)) return BURN_ERR_STRIDES;
    if (!attention_view(&j.y, &more[0], 0) || !attention_view(&j.g, &more[2], 0) || more[1].strides) return BURN_ERR_STRIDES;
    j.totals = more[1].p;
    if (!attention_view(&j.dq, &out[0], 0) || !attention_view(&j.dk, &out[1], 0) || !attention_view(&j.dv, &out[2], 0)
        || (a->n_out > 3 && out[3].strides))
        return BURN_ERR_STRIDES;
    j.dbias = a->n_out > 3 ? out[3].p : NULL;
    j.wants = (int)wants;
    j.chunks = 1;
    int64_t heads = j.batch * j.kv_heads, panel = j.t->panel;
    int64_t d = attention_round(j.d, panel), w = attention_round(j.width, panel);
    if (heads == 0) return BURN_OK;
    j.bytes = (size_t)((attention_round(j.keys, panel) * (3 * d + 2 * w) + BACK_QUERIES * (3 * d + 2 * w + 3 * BACK_ROOM + 2))
                       * j.t->wide);
    rt_tasks(attention_task, &j, heads, attention_ns(&j, 2.5));
    return j.failed ? rt_no_memory(a, (int64_t)j.bytes) : BURN_OK;
}
