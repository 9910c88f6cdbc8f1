/* Launchers of cuda/rnn.cu: for each step a product of the state and the weights of all gates, side by side, and a kernel. */
#pragma once
#include "launch_matmul.h"

enum { RNN_PACK, RNN_PRODUCT, RNN_STEP, RNN_SECOND, RNN_END, RNN_HOLD };

typedef struct {
    cuda_row *r;
    int64_t steps, batch, hidden, gates, wide, n, size;
    int reverse, status;
    double clip;
    char *weights, *s, *more, *spare; /* scratch: [hidden, wide], products [batch, wide] twice, two of [batch, hidden] */
    size_t bytes;
} rnn_call;

static int64_t rnn_at(const rnn_call *c, int64_t step) { return c->reverse ? c->steps - 1 - step : step; }

/* a kernel with a thread for each of `count` elements */
static void rnn_launch(rnn_call *c, int variant, const char *suffix, int64_t count, void **params) {
    if (c->status || count == 0) return;
    CUfunction f = kernel_of(c->r, variant, suffix);
    c->status = f ? launch(c->r, f, (count + 255) / 256, 1, 256, 0, params) : BURN_ERR_RAISED;
}

/* without a step: a state goes on as it is, a gradient is 0 (no `from`) */
static void rnn_hold(rnn_call *c, void *out, const void *from) {
    void *params[] = {&out, (void *)&from, &c->n};
    if (c->steps == 0) rnn_launch(c, RNN_HOLD, "hold", c->n, params);
}

/* out[m, n] = a[m, k] b[k, n]; a has rows `rsa` apart, b any order */
static void rnn_product(rnn_call *c, void *out, const void *a, int64_t rsa, const void *b, int64_t n, int64_t k, int64_t rsb,
                        int64_t csb) {
    matmul_dims d = {.m = c->batch, .n = n, .k = k, .rsa = rsa, .csa = 1, .rsb = rsb, .csb = csb, .batch = 1};
    if (c->status) return;
    c->status = matmul_by_library(c->r, out, a, b, NULL, &d, 0);
    if (c->status == BURN_OK || c->status == BURN_ERR_RAISED) return;
    CUfunction f = kernel_of(c->r, RNN_PRODUCT, "product");
    void *params[] = {&out, (void *)&a, (void *)&b, &d.m, &d.n, &d.k, &d.rsa, &d.rsb, &d.csb};
    c->status = f ? launch(c->r, f, (d.m + 31) / 32 * ((n + 31) / 32), 1, 256, 0, params) : BURN_ERR_RAISED;
}
/* s = states @ the weights of `gates` gates from `first` on */
static void rnn_forward_product(rnn_call *c, void *s, const void *states, int64_t first, int64_t gates) {
    rnn_product(c, s, states, c->hidden, c->weights + first * c->hidden * c->size, gates * c->hidden, c->hidden, c->wide, 1);
}
/* s = gradients @ the transposed weights of `gates` gates from `first` on; rows of the gradients are `ld` apart */
static void rnn_backward_product(rnn_call *c, void *s, const void *grads, int64_t ld, int64_t first, int64_t gates) {
    rnn_product(c, s, grads, ld, c->weights + first * c->hidden * c->size, c->hidden, gates * c->hidden, 1, c->wide);
}

/* Takes scratch memory, and copies the weights of the gates there. False where there is nothing more to do. */
static int rnn_begin(rnn_call *c, const burn_buf *in, const burn_buf *weights, int64_t gates, burn_args *a) {
    *c = (rnn_call){.r = row_of(a), .steps = in->shape[0], .batch = in->shape[1], .hidden = in->shape[2] / gates, .gates = gates,
                    .wide = in->shape[2], .reverse = (int)a->i[0], .clip = a->f[0]};
    c->size = DT_SIZE[c->r->row.dtype];
    c->n = c->batch * c->hidden;
    if (c->n == 0) return 0;
    int64_t matrix = c->hidden * c->wide * c->size, rows = c->batch * c->wide * c->size, square = c->hidden * c->hidden;
    c->bytes = (size_t)(matrix + 2 * rows + 2 * c->n * c->size);
    if (!(c->weights = scratch_take(c->r, c->bytes))) {
        c->status = BURN_ERR_RAISED;
        return 0;
    }
    c->s = c->weights + matrix;
    c->more = c->s + rows;
    c->spare = c->more + rows;
    for (int64_t q = 0; q < gates; q++) {
        char *to = c->weights + q * c->hidden * c->size;
        void *params[] = {&to, (void *)&weights[q].p, &c->hidden, &c->wide};
        rnn_launch(c, RNN_PACK, "pack", square, params);
    }
    return 1;
}
static int rnn_end(rnn_call *c) {
    if (c->weights) scratch_give(c->r, c->weights, c->bytes);
    return c->status;
}

static const char *rnn_before(const rnn_call *c, const burn_buf *states, const burn_buf *first, int64_t step) {
    return step ? (const char *)states->p + rnn_at(c, step - 1) * c->n * c->size : first->p;
}
static char *rnn_place(const rnn_call *c, const burn_buf *x, int64_t step, int64_t wide) {
    return (char *)x->p + rnn_at(c, step) * c->batch * wide * c->size;
}

static int launch_rnn(const burn_buf *out, const burn_buf *in, burn_args *a) {
    rnn_call c;
    if (!rnn_begin(&c, in, in + 2, 1, a)) return c.status;
    for (int64_t t = 0; t < c.steps && !c.status; t++) {
        char *y = rnn_place(&c, out, t, c.hidden), *g = rnn_place(&c, in, t, c.wide);
        char *saved = a->n_out > 1 ? rnn_place(&c, &out[1], t, c.wide) : NULL;
        rnn_forward_product(&c, c.s, rnn_before(&c, out, &in[1], t), 0, 1);
        void *params[] = {&y, &saved, &g, &c.s, &c.n, &c.hidden, &c.clip};
        rnn_launch(&c, RNN_STEP, "step", c.n, params);
    }
    return rnn_end(&c);
}

static int launch_lstm(const burn_buf *out, const burn_buf *in, burn_args *a) {
    rnn_call c;
    if (!rnn_begin(&c, in, in + 3, a->n_in - 3, a)) return c.status;
    char *last = (char *)out->p + c.steps * c.n * c.size;
    rnn_hold(&c, last, in[2].p);
    for (int64_t t = 0; t < c.steps && !c.status; t++) {
        char *y = rnn_place(&c, out, t, c.hidden), *g = rnn_place(&c, in, t, c.wide);
        char *saved = a->n_out > 1 ? rnn_place(&c, &out[1], t, c.wide) : NULL;
        char *cells = a->n_out > 1 ? rnn_place(&c, &out[2], t, c.hidden) : NULL;
        const char *before = t ? last : in[2].p;
        rnn_forward_product(&c, c.s, rnn_before(&c, out, &in[1], t), 0, c.gates);
        void *params[] = {&y, &saved, &cells, &last, &g, &c.s, &before, &c.n, &c.hidden, &c.gates, &c.clip};
        rnn_launch(&c, RNN_STEP, "step", c.n, params);
    }
    return rnn_end(&c);
}

static int launch_gru(const burn_buf *out, const burn_buf *in, burn_args *a) {
    rnn_call c;
    if (!rnn_begin(&c, in, in + 2, 3, a)) return c.status;
    const void *bias = a->n_in > 5 ? in[5].p : NULL;
    for (int64_t t = 0; t < c.steps && !c.status; t++) {
        char *y = rnn_place(&c, out, t, c.hidden), *g = rnn_place(&c, in, t, c.wide);
        char *saved = a->n_out > 1 ? rnn_place(&c, &out[1], t, c.wide) : NULL;
        char *own = a->n_out > 1 ? rnn_place(&c, &out[2], t, c.hidden) : NULL;
        const char *before = rnn_before(&c, out, &in[1], t);
        rnn_forward_product(&c, c.s, before, 0, 3);
        void *params[] = {&y, &saved, &own, &g, &c.s, &before, &bias, &c.n, &c.hidden, &c.clip};
        rnn_launch(&c, RNN_STEP, "step", c.n, params);
    }
    return rnn_end(&c);
}

static int launch_gru_before(const burn_buf *out, const burn_buf *in, burn_args *a) {
    rnn_call c;
    if (!rnn_begin(&c, in, in + 2, 3, a)) return c.status;
    char *update = c.spare, *reset = update + c.n * c.size;
    for (int64_t t = 0; t < c.steps && !c.status; t++) {
        char *y = rnn_place(&c, out, t, c.hidden), *g = rnn_place(&c, in, t, c.wide);
        char *saved = a->n_out > 1 ? rnn_place(&c, &out[1], t, c.wide) : NULL;
        const char *before = rnn_before(&c, out, &in[1], t);
        rnn_forward_product(&c, c.s, before, 0, 2);
        void *gates[] = {&update, &reset, &saved, &g, &c.s, &before, &c.n, &c.hidden};
        rnn_launch(&c, RNN_STEP, "gates", c.n, gates);
        rnn_forward_product(&c, c.s, reset, 2, 1);
        void *fresh[] = {&y, &saved, &g, &c.s, &before, &update, &c.n, &c.hidden, &c.clip};
        rnn_launch(&c, RNN_SECOND, "new", c.n, fresh);
    }
    return rnn_end(&c);
}

/* ---- gradients: from the last step to the first. `s` is the product that closes the step after, nothing at the last one. */

static int launch_rnn_bwd(const burn_buf *out, const burn_buf *in, burn_args *a) {
    rnn_call c;
    if (!rnn_begin(&c, in, in + 2, 1, a)) return c.status;
    char *s = NULL;
    for (int64_t t = c.steps - 1; t >= 0 && !c.status; t--) {
        char *to = rnn_place(&c, out, t, c.wide), *grad = rnn_place(&c, &in[1], t, c.hidden);
        void *params[] = {&to, &to, &grad, &s, &c.n, &c.hidden, &c.clip};
        rnn_launch(&c, RNN_STEP, "step", c.n, params);
        s = c.s;
        if (t || a->i[1]) rnn_backward_product(&c, t ? s : out[1].p, to, c.wide, 0, 1);
    }
    rnn_hold(&c, out[1].p, NULL);
    return rnn_end(&c);
}

static int launch_lstm_bwd(const burn_buf *out, const burn_buf *in, burn_args *a) {
    rnn_call c;
    if (!rnn_begin(&c, in, in + 4, a->n_in - 4, a)) return c.status;
    char *s = NULL, *dc = out[2].p, *slope = (char *)in[1].p + c.steps * c.n * c.size;
    rnn_hold(&c, dc, slope);
    rnn_hold(&c, out[1].p, NULL);
    for (int64_t t = c.steps - 1; t >= 0 && !c.status; t--) {
        char *to = rnn_place(&c, out, t, c.wide), *grad = rnn_place(&c, &in[1], t, c.hidden);
        char *cells = rnn_place(&c, &in[2], t, c.hidden);
        const char *before = rnn_before(&c, &in[2], &in[3], t);
        void *params[] = {&to, &dc, &to, &grad, &s, &slope, &cells, &before, &c.n, &c.hidden, &c.gates, &c.clip};
        rnn_launch(&c, RNN_STEP, "step", c.n, params);
        slope = dc;
        s = c.s;
        if (t || a->i[1]) rnn_backward_product(&c, t ? s : out[1].p, to, c.wide, 0, c.gates);
    }
    return rnn_end(&c);
}

static int launch_gru_bwd(const burn_buf *out, const burn_buf *in, burn_args *a) {
    rnn_call c;
    if (!rnn_begin(&c, in, in + 5, 3, a)) return c.status;
    char *s = NULL, *more = NULL, *carry = c.spare;
    for (int64_t t = c.steps - 1; t >= 0 && !c.status; t--) {
        char *to = rnn_place(&c, out, t, c.wide), *own = rnn_place(&c, &out[2], t, c.hidden);
        char *grad = rnn_place(&c, &in[1], t, c.hidden);
        const char *before = rnn_before(&c, &in[3], &in[4], t);
        void *params[] = {&to, &own, &carry, &to, &grad, &before, &s, &more, &c.n, &c.hidden, &c.clip};
        rnn_launch(&c, RNN_STEP, "step", c.n, params);
        s = c.s;
        more = c.more;
        if (!t && !a->i[1]) break;
        rnn_backward_product(&c, s, to, c.wide, 0, 2);
        rnn_backward_product(&c, more, own, c.hidden, 2, 1);
    }
    void *end[] = {(void *)&out[1].p, &s, &more, &carry, &c.n};
    if (a->i[1]) rnn_launch(&c, RNN_END, "end", c.n, end);
    return rnn_end(&c);
}

static int launch_gru_before_bwd(const burn_buf *out, const burn_buf *in, burn_args *a) {
    rnn_call c;
    if (!rnn_begin(&c, in, in + 4, 3, a)) return c.status;
    char *s = NULL, *carry = c.spare;
    for (int64_t t = c.steps - 1; t >= 0 && !c.status; t--) {
        char *to = rnn_place(&c, out, t, c.wide), *grad = rnn_place(&c, &in[1], t, c.hidden);
        const char *before = rnn_before(&c, &in[2], &in[3], t);
        void *fresh[] = {&to, &carry, &to, &grad, &before, &s, &c.n, &c.hidden, &c.clip};
        rnn_launch(&c, RNN_STEP, "new", c.n, fresh);
        rnn_backward_product(&c, c.more, to + 2 * c.hidden * c.size, c.wide, 2, 1);
        void *reset[] = {&to, &carry, &to, &before, &c.more, &c.n, &c.hidden};
        rnn_launch(&c, RNN_SECOND, "reset", c.n, reset);
        s = c.s;
        if (t || a->i[1]) rnn_backward_product(&c, s, to, c.wide, 0, 2);
    }
    void *end[] = {(void *)&out[1].p, &s, &carry, &c.n};
    if (a->i[1]) rnn_launch(&c, RNN_END, "end", c.n, end);
    return rnn_end(&c);
}

static const cuda_launcher rnn_launchers[] = {
    {"rnn", launch_rnn, 0},         {"rnn_bwd", launch_rnn_bwd, 0},
    {"lstm", launch_lstm, 0},       {"lstm_bwd", launch_lstm_bwd, 0},
    {"gru", launch_gru, 0},         {"gru_bwd", launch_gru_bwd, 0},
    {"gru_before", launch_gru_before, 0}, {"gru_before_bwd", launch_gru_before_bwd, 0},
    {0},
};
