/* Recurrent layers over a whole sequence, and their gradients. What the inputs contribute to the gates comes in, computed by one
   product for all steps; here the state goes from step to step. The cells of each dtype are in rnn_type.h, the parallel region in
   rnn_team.h, an LSTM of one row in rnn_row.h; here the calls are taken apart. All tensors are [steps, batch, ...]. */
#pragma once
#include "rnn_team.h"
#include "vmath.h"
#include "gemm_level.h"

#define T float
#define TS float
#define TI int32_t
#define TBYTES 4
#define FN(name) gemm_##name##_f32
#include "gemm_kernel.h"
#define S float
#define PACK(name) gemm_pack_##name##_f32
#define READ(p) LOAD(p)
#define READ1(x) (x)
#define NARROW NULL
#include "gemm_pack.h"
enum { PANEL_F32 = NR };
#include "gemm_end.h"
#define T double
#define TS double
#define TI int64_t
#define TBYTES 8
#define FN(name) gemm_##name##_f64
#include "gemm_kernel.h"
#define S double
#define PACK(name) gemm_pack_##name##_f64
#define READ(p) LOAD(p)
#define READ1(x) (x)
#define NARROW NULL
#include "gemm_pack.h"
enum { PANEL_F64 = NR };
#include "gemm_end.h"

#define RNN_ROWS (48 / GEMM_MR * GEMM_MR) /* of a part at most: whole register tiles */
/* groups of rows that go on while another waits, of at least so many rows: where registers allow, one tile each */
#if BURN_LEVEL >= 4
enum { RNN_GROUPS = 3, RNN_LEAST = 10 };
#else
enum { RNN_GROUPS = 2, RNN_LEAST = 16 };
#endif
/* Which of a part's tiles follow each other. Where L1 holds little beside what tiles make: those of one panel, some of its
   depth at a time (RNN_DEPTH bytes of a row of states), so that L1 keeps these pieces of panels and states. Else those of the
   same rows: L1 keeps their states, and panels come from L2. */
enum { RNN_DEPTH = GEMM_ROWS_OUTSIDE ? 1 << 20 : 1024 };

enum { RNN_PLAIN, RNN_LSTM, RNN_GRU, RNN_GRU_BEFORE, RNN_CELLS };

typedef struct rnn_type rnn_type;
typedef struct rnn_row rnn_row;

typedef struct {
    const rnn_type *t;
    int cell, gates, reverse, clips;
    int64_t steps, batch, hidden, panels, chunks, depth; /* depth: of the inputs, where they are multiplied here, else 0 */
    double clip;
    const void *g, *h0, *c0, *bias, *w[4], *x, *wx[4];
    const void *grad;       /* of the output; NULL forward */
    void *y, *c_last, *saved, *cells; /* cells: of each step the cell, or what GRU's reset gate is multiplied by */
    void *dh0, *dc0;
    void *packed, *spare;
} rnn_job;

typedef void (*rnn_body)(const rnn_job *j, int64_t step, int64_t part);
struct rnn_type {
    int64_t size, panel;
    void (*pack)(void *ctx, int64_t panel);
    rnn_body forward[RNN_CELLS], backward[RNN_CELLS];
    void (*row)(const rnn_row *t, int64_t chunk, int64_t phase); /* of an LSTM of one row */
};

/* the place in the sequence of a step, counted as they are computed */
GEMM_INLINE int64_t rnn_time(const rnn_job *j, int64_t step) { return j->reverse ? j->steps - 1 - step : step; }

/* Both with fewer operations than the functions of one tensor have: no subnormal results, and tanh(-0) is 0 where it goes
   through e^x - 1. A state is bounded by 1, so nothing more of them can be seen. */
VINL vf rnn_sigmoid(vf x) { return bc(1.f) / (bc(1.f) + vm_exp_near(vf_max(bc(-87.f), vf_min(bc(87.f), -x)))); }
#if BURN_LEVEL == 4
#define rnn_tanh m_tanh
#else
VINL vf rnn_tanh(vf x) {
    vf z, c = vf_max(bc(-9.1f), vf_min(bc(9.1f), x)), r = vm_reduce(c + c, &z), p = vm_expm1_small(r);
    vf scale = (vf)(((vi)z << 23) + (vi)bc(1.f)), e = vf_fma(p, scale, scale - bc(1.f)); /* e^2x - 1 */
    return e / (e + bc(2.f));
}
#endif
VINL vf rnn_inside(vf x, float limit, vf d) { return vf_sel(vf_le(vf_abs(x), bc(limit)), d, bc(0.f)); }
VINL vf rnn_clamp(vf x, float limit) { return vf_max(bc(-limit), vf_min(bc(limit), x)); }
#include "rnn_row.h"

#define RNN_LANES(name, expression, ...) \
    VINL vd name(vd x, ##__VA_ARGS__) { for (int l = 0; l < VD; l++) x[l] = expression; return x; }
RNN_LANES(vd_sigmoid, 1 / (1 + exp(-x[l])))
RNN_LANES(vd_tanh, tanh(x[l]))
RNN_LANES(vd_clamp, x[l] > limit ? limit : x[l] < -limit ? -limit : x[l], double limit)
RNN_LANES(vd_inside, fabs(x[l]) <= limit ? d[l] : 0, double limit, vd d)

#define FN(name) name##_f32
#define GEMM(name) gemm_##name##_f32
#define T float
#define V vf
#define L VW
#define LOAD vf_load
#define STORE vf_store
#define PACK gemm_pack_b_f32
#define SIGMOID rnn_sigmoid
#define TANH rnn_tanh
#define CLAMP rnn_clamp
#define INSIDE rnn_inside
#define PANEL PANEL_F32
#include "rnn_type.h"

#define FN(name) name##_f64
#define GEMM(name) gemm_##name##_f64
#define T double
#define V vd
#define L VD
#define LOAD vd_load
#define STORE vd_store
#define PACK gemm_pack_b_f64
#define SIGMOID vd_sigmoid
#define TANH vd_tanh
#define CLAMP vd_clamp
#define INSIDE vd_inside
#define PANEL PANEL_F64
#include "rnn_type.h"

static void rnn_init(const burn_rt *services) {
    rt_init(services);
    gemm_init(services);
}

static void rnn_part(void *ctx, int64_t step, int64_t part) {
    const rnn_job *j = ctx;
    (j->grad ? j->t->backward : j->t->forward)[j->cell](j, step, part);
}

/* Packs the weights and goes through the steps; `more` after the last one. */
static int rnn_run(rnn_job *j, burn_args *a, int64_t more) {
    const int64_t b = j->batch, h = j->hidden, halves = j->cell == RNN_GRU_BEFORE ? 2 : 1;
    if (b * h == 0) return BURN_OK;
    j->panels = ceil_div(h, j->t->panel);
    j->chunks = i64_max(ceil_div(b, RNN_ROWS), i64_min(b / RNN_LEAST, RNN_GROUPS));
    const int64_t deep = j->depth + h, packed = j->panels * j->gates * deep * j->t->panel * j->t->size;
    const size_t bytes = (size_t)(packed + 2 * b * h * j->t->size);
    char *scratch = rt->alloc(bytes);
    if (!scratch) return rt_no_memory(a, (int64_t)bytes);
    j->packed = scratch;
    j->spare = scratch + packed;
    const double work = (double)(j->gates * h) * deep * j->t->size / 4;
    rt_tasks(j->t->pack, j, j->panels, work * 0.3);
    const size_t missing = rnn_steps(rnn_part, j, j->steps * halves + more, j->panels * j->chunks, j->chunks,
                                     (work * 0.04 + h * j->gates * 2) * b / halves);
    rt->free(scratch, bytes);
    return missing ? rt_no_memory(a, (int64_t)missing) : BURN_OK;
}

/* Attributes of all: whether the sequence is read from its end; the limit of the state (0: none). ins: products of the inputs
   [steps, batch, gates * hidden], h0, then of LSTM c0; the weights of the state, a matrix a gate; of GRU which resets after the
   product the bias of that, where there is one. */
static void rnn_open(rnn_job *j, int cell, const burn_buf *in, burn_args *a, int gates) {
    j->t = in->dtype == DT_F64 ? &rnn_f64 : &rnn_f32;
    j->cell = cell;
    j->gates = gates;
    j->reverse = (int)a->i[0];
    j->clip = a->f[0];
    j->clips = j->clip > 0;
    j->steps = in->shape[0];
    j->batch = in->shape[1];
    j->hidden = in->shape[2] / gates;
}
static void rnn_weights(rnn_job *j, const burn_buf *w) {
    for (int q = 0; q < j->gates; q++) j->w[q] = w[q].p;
}

/* out: the states; with a gradient to come the activations, and what GRU's reset gate is multiplied by */
static int rnn_forward(int cell, const burn_buf *out, const burn_buf *in, burn_args *a) {
    rnn_job j = {0};
    const int gates = cell == RNN_PLAIN ? 1 : 3;
    rnn_open(&j, cell, in, a, gates);
    j.g = in[0].p;
    j.h0 = in[1].p;
    rnn_weights(&j, in + 2);
    j.bias = a->n_in > 2 + gates ? in[2 + gates].p : NULL;
    j.y = out[0].p;
    if (a->n_out > 1) j.saved = out[1].p;
    if (a->n_out > 2) j.cells = out[2].p;
    return rnn_run(&j, a, 0);
}
/* out: the states and, after them, the last cell; with a gradient to come the activations and the cells. whole: in are the
   inputs, h0, c0, the weights of the state, those of the inputs, and a bias where there is one; no gradient comes. */
static int rnn_lstm(const burn_buf *out, const burn_buf *in, burn_args *a, int whole) {
    rnn_job j = {0};
    const int gates = (a->n_in - 3) / (1 + whole);
    rnn_open(&j, RNN_LSTM, in, a, gates);
    j.g = in[0].p;
    if (whole) {
        j.x = in[0].p;
        j.depth = in[0].shape[2];
        j.hidden = in[1].shape[1];
        for (int q = 0; q < gates; q++) j.wx[q] = in[3 + gates + q].p;
        if (a->n_in > 3 + 2 * gates) j.bias = in[3 + 2 * gates].p;
    }
    j.h0 = in[1].p;
    j.c0 = in[2].p;
    rnn_weights(&j, in + 3);
    const int64_t bytes = j.batch * j.hidden * j.t->size;
    j.y = out[0].p;
    j.c_last = (char *)out[0].p + j.steps * bytes;
    if (a->n_out > 1) {
        j.saved = out[1].p;
        j.cells = out[2].p;
    }
    if (j.steps == 0) memcpy(j.c_last, j.c0, (size_t)bytes);
    if (j.batch == 1 && j.hidden && j.hidden % j.t->panel == 0 && j.steps) return rnn_row_run(&j, a);
    return rnn_run(&j, a, 0);
}
/* ins: activations, gradient of the states, what GRU's reset gate was multiplied by, GRU's states and h0, weights. Gradients go
   where the activations are (out[0] is in[0]) and what the reset gate was multiplied by (out[2] is in[2]); out[1] is that of
   h0, where i[1] says that it is wanted. */
static int rnn_backward(int cell, const burn_buf *out, const burn_buf *in, burn_args *a) {
    rnn_job j = {0};
    rnn_open(&j, cell, in, a, cell == RNN_PLAIN ? 1 : 3);
    int at = 2;
    j.saved = out[0].p;
    j.grad = in[1].p;
    if (cell == RNN_GRU) j.cells = in[at++].p;
    if (cell != RNN_PLAIN) {
        j.y = in[at++].p;
        j.h0 = in[at++].p;
    }
    rnn_weights(&j, in + at);
    j.dh0 = out[1].p;
    return rnn_run(&j, a, a->i[1]);
}
/* ins: activations, gradient, cells, c0, weights; out: gradients of the gates (where the activations are), h0, c0 */
static int rnn_lstm_backward(const burn_buf *out, const burn_buf *in, burn_args *a) {
    rnn_job j = {0};
    rnn_open(&j, RNN_LSTM, in, a, a->n_in - 4);
    j.saved = out[0].p;
    j.grad = in[1].p;
    j.cells = in[2].p;
    j.c0 = in[3].p;
    rnn_weights(&j, in + 4);
    j.dh0 = out[1].p;
    j.dc0 = out[2].p;
    if (j.steps == 0) memcpy(j.dc0, j.grad, (size_t)(j.batch * j.hidden * j.t->size));
    return rnn_run(&j, a, a->i[1]);
}
