/* Launchers of cuda/elementwise.cu. Contiguous inputs and single values take the flat kernel of an op. Otherwise the axes are
   merged where all operands allow it and the output is cut into tiles over its last axis and one more for the strided one. */
#pragma once
#include "device.h"

#define ELT_THREADS 256
#define ELT_TURNED_LANES 4  /* log2 of the threads side by side of a tile in shared memory */
#define ELT_TURNED_ROWS 64
enum { ELT_READ_NUMBER, ELT_READ_ONE, ELT_READ_EACH, ELT_READ_WORDS, ELT_READ_TURNED };

/* Twins of Strided and Tiles in cuda/elementwise_loops.cuh. */
typedef struct { const void *p; int64_t down, across, step[6], next; int32_t read, room; char v[8]; } elt_strided;
typedef struct {
    int64_t rows, cols, down, step[6], next;
    uint32_t shape[6];
    int32_t ndim, lanes, each, gap, across_gap, words, turned;
    uint32_t blocks_down, blocks_across;
} elt_tiles;

/* A call: its buffers, the kernels' places and suffixes, what follows the sizes among the parameters. */
typedef struct {
    const burn_buf *out, *in;
    int n_in, flat, strided;
    const char *flat_name, *strided_name;
    void *extra[2];
} elt_call;

/* Bytes of the widest operand. */
static inline int elt_widest(const elt_call *c) {
    int most = DT_SIZE[c->out->dtype];
    for (int j = 0; j < c->n_in; j++)
        if (DT_SIZE[c->in[j].dtype] > most) most = DT_SIZE[c->in[j].dtype];
    return most;
}

/* Elements that a thread moves at once. */
static inline int elt_word(int widest) { return 16 / widest < 8 ? 16 / widest : 8; }

static inline int elt_flat(const elt_call *c, cuda_row *r, const int64_t *step) {
    cuda_in x[3];
    void *params[8], *out = c->out->p;
    int64_t n = c->out->size;
    int k = 0, most = elt_widest(c);
    CUfunction f = kernel_of(r, c->flat, c->flat_name);
    if (!f) return BURN_ERR_RAISED;
    params[k++] = &out;
    for (int j = 0; j < c->n_in; j++) {
        const burn_buf *b = &c->in[j];
        x[j].p = b->host ? NULL : b->p;
        x[j].step = step[j];
        if (b->host) memcpy(x[j].v, b->p, DT_SIZE[b->dtype]);
        params[k++] = &x[j];
    }
    params[k++] = &n;
    params[k++] = c->extra[0];
    params[k++] = c->extra[1];
    int64_t block = ELT_THREADS * elt_word(most) * (most > 2 ? 2 : 1);
    return launch(r, f, (unsigned)((n + block - 1) / block), 1, ELT_THREADS, 0, params);
}

/* An input that runs along the rows' axis, not along the last one. */
static inline int elt_turned(int64_t down, int64_t across) { return down == 1 && across != 0 && across != 1; }

/* Axes of an output, outermost first, neighbours merged; step[3] is the output's. */
typedef struct { int nd; int64_t dim[BURN_MAX_RANK], step[4][BURN_MAX_RANK]; } elt_axes;

static void elt_collapse(const elt_call *c, elt_axes *x) {
    int64_t dense = 1, step[4][BURN_MAX_RANK];
    const burn_buf *out = c->out;
    for (int d = out->ndim - 1; d >= 0; d--) {
        for (int j = 0; j < c->n_in; j++)
            step[j][d] = c->in[j].size == 1 ? 0 : c->in[j].strides ? c->in[j].strides[d] : dense;
        step[3][d] = dense;
        dense *= out->shape[d];
    }
    x->nd = 0;
    for (int d = 0; d < out->ndim; d++) {
        int64_t n = out->shape[d];
        int merge = x->nd > 0;
        if (n == 1) continue;
        for (int j = 0; j < c->n_in; j++) merge = merge && x->step[j][x->nd - 1] == step[j][d] * n;
        if (!merge) x->dim[x->nd++] = 1;
        x->dim[x->nd - 1] *= n;
        for (int j = 0; j < 4; j++)
            if (j == 3 || j < c->n_in) x->step[j][x->nd - 1] = step[j][d];
    }
}

static int elt_log2(int64_t n, int most) { /* the least power of two that is not below n */
    int k = 0;
    while (k < most && (int64_t)1 << k < n) k++;
    return k;
}

static __attribute__((noinline)) int elt_run_strided(elt_call *c, cuda_row *r) {
    elt_axes x;
    elt_tiles t;
    elt_strided s[3];
    void *params[8], *out = c->out->p;
    int k = 0, n_in = c->n_in, plain, turned = 0, row = -1, word = elt_word(elt_widest(c)), shared = 0;
    elt_collapse(c, &x);
    int last = x.nd - 1;
    plain = x.nd <= 1;
    for (int j = 0; j < n_in && x.nd == 1; j++) plain = plain && (x.step[j][0] == 0 || x.step[j][0] == 1);
    if (plain) {
        int64_t step[3];
        for (int j = 0; j < n_in; j++) step[j] = x.nd ? x.step[j][0] : 0;
        return elt_flat(c, r, step);
    }
    if (!c->strided_name) return BURN_ERR_STRIDES;
    CUfunction f = kernel_of(r, c->strided, c->strided_name);
    if (!f) return BURN_ERR_RAISED;

    /* Rows go along the axis down which an input runs that does not run along the last one, else along the longest. */
    for (int d = 0; d < last; d++) {
        if (row < 0 || (!turned && x.dim[d] > x.dim[row])) row = d;
        for (int j = 0; j < n_in; j++)
            if (elt_turned(x.step[j][d], x.step[j][last]) && (!turned || x.dim[d] > x.dim[row])) {
                row = d;
                turned = 1;
            }
    }
    memset(&t, 0, sizeof t);
    t.cols = x.dim[last];
    t.rows = row < 0 ? 1 : x.dim[row];
    t.down = row < 0 ? 0 : x.step[3][row];
    t.words = t.cols % word == 0;
    t.turned = turned = turned && t.rows >= 16 && t.cols >= 16;
    for (int j = 0; j < n_in; j++) {
        const burn_buf *b = &c->in[j];
        int whole = t.words && ((uintptr_t)b->p & (uintptr_t)(word * DT_SIZE[b->dtype] - 1)) == 0;
        int n = 0, size = DT_SIZE[b->dtype];
        s[j].p = b->host ? NULL : b->p;
        s[j].across = x.step[j][last];
        s[j].down = row < 0 ? 0 : x.step[j][row];
        for (int d = 0; d < last; d++) {
            whole = whole && x.step[j][d] % word == 0;
            if (d != row) s[j].step[n++] = x.step[j][d];
        }
        s[j].read = s[j].across == 0 ? ELT_READ_ONE : whole && s[j].across == 1 ? ELT_READ_WORDS : ELT_READ_EACH;
        if (turned && elt_turned(s[j].down, s[j].across)) {
            s[j].read = ELT_READ_TURNED;
            s[j].room = shared;
            shared += (ELT_TURNED_ROWS * word << ELT_TURNED_LANES) * size;
        }
        if (b->host) {
            s[j].read = ELT_READ_NUMBER;
            memcpy(s[j].v, b->p, size);
        }
    }
    int64_t blocks = 1;
    for (int d = 0; d < last; d++) {
        if (d == row) continue;
        t.shape[t.ndim] = (uint32_t)x.dim[d];
        t.step[t.ndim++] = x.step[3][d];
        if (x.dim[d] > INT32_MAX || (blocks *= x.dim[d]) > INT32_MAX) return BURN_ERR_STRIDES;
    }
    t.lanes = turned ? ELT_TURNED_LANES : elt_log2((t.cols + word - 1) / word, 8);
    t.across_gap = turned || t.words ? 0 : t.lanes;
    int64_t lines = ELT_THREADS >> t.lanes, wide = (int64_t)word << t.lanes, room = t.rows * t.cols * blocks / (wide * lines);
    t.each = turned ? ELT_TURNED_ROWS / lines : room >= 64 * r->dev->sms ? 8 : room >= 16 * r->dev->sms ? 4 : 1;
    int64_t tall = lines * t.each;
    t.gap = turned ? 1 : (int32_t)lines;
    t.next = t.gap * t.down;
    for (int j = 0; j < n_in; j++)
        s[j].next = s[j].read == ELT_READ_TURNED ? (int64_t)word << ELT_TURNED_LANES : t.gap * s[j].down;
    int64_t down = (t.rows + tall - 1) / tall, across = (t.cols + wide - 1) / wide;
    if (down > INT32_MAX || across > INT32_MAX || (blocks *= down) > INT32_MAX || (blocks *= across) > INT32_MAX)
        return BURN_ERR_STRIDES;
    t.blocks_down = (uint32_t)down;
    t.blocks_across = (uint32_t)across;
    params[k++] = &out;
    for (int j = 0; j < n_in; j++) params[k++] = &s[j];
    params[k++] = &t;
    params[k++] = c->extra[0];
    params[k++] = c->extra[1];
    return launch(r, f, (unsigned)blocks, 1, ELT_THREADS, (unsigned)shared, params);
}

static inline int elt_run(elt_call *c, cuda_row *r) {
    int64_t step[3];
    if (c->out->size == 0) return BURN_OK;
    for (int j = 0; j < c->n_in; j++) {
        if (c->in[j].size != 1 && c->in[j].strides) return elt_run_strided(c, r);
        step[j] = c->in[j].size != 1;
    }
    return elt_flat(c, r, step);
}

static int elt_any(const burn_buf *out, const burn_buf *in, burn_args *a) {
    elt_call c = {out, in, a->n_in, 0, 1, "flat", "strided", {NULL, NULL}};
    return elt_run(&c, row_of(a));
}
/* Integers: values of the second input are checked. */
static int elt_checked(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    void *err = error_of(a);
    elt_call c = {out, in, a->n_in, 0, 1, "flat", "strided", {NULL, NULL}};
    if (in->dtype > DT_BF16) {
        c.extra[0] = &err;
        c.extra[1] = &a->ticket;
    }
    return elt_run(&c, r);
}
static int elt_power(const burn_buf *out, const burn_buf *in, burn_args *a) {
    double wide = a->f[0];
    float single = (float)wide;
    elt_call c = {out, in, a->n_in, 0, 1, "flat", "strided", {in->dtype == DT_F64 ? (void *)&wide : (void *)&single, NULL}};
    return elt_run(&c, row_of(a));
}
/* Four numbers. */
static int elt_numbered(const burn_buf *out, const burn_buf *in, burn_args *a) {
    double wide[4] = {a->f[0], a->f[1], a->f[2], a->f[3]};
    float single[4] = {(float)wide[0], (float)wide[1], (float)wide[2], (float)wide[3]};
    elt_call c = {out, in, a->n_in, 0, 1, "flat", "strided", {in->dtype == DT_F64 ? (void *)wide : (void *)single, NULL}};
    return elt_run(&c, row_of(a));
}
/* Places of the kernels of a cast; the rarer destinations have no strided one. */
static const struct { int flat, strided; const char *flat_name, *strided_name; } elt_casts[DT_COUNT] = {
    [DT_F64] = {0, 13, "f64_flat", "f64_strided"},   [DT_F32] = {1, 14, "f32_flat", "f32_strided"},
    [DT_FLEX32] = {1, 14, "f32_flat", "f32_strided"}, [DT_F16] = {2, 15, "f16_flat", "f16_strided"},
    [DT_BF16] = {3, 16, "bf16_flat", "bf16_strided"}, [DT_I64] = {4, 17, "i64_flat", "i64_strided"},
    [DT_I32] = {5, 18, "i32_flat", "i32_strided"},   [DT_I16] = {6, 19, "i16_flat", "i16_strided"},
    [DT_I8] = {7, 20, "i8_flat", "i8_strided"},      [DT_U64] = {8, 0, "u64_flat", NULL},
    [DT_U32] = {9, 0, "u32_flat", NULL},             [DT_U16] = {10, 0, "u16_flat", NULL},
    [DT_U8] = {11, 21, "u8_flat", "u8_strided"},     [DT_BOOL] = {12, 22, "bool_flat", "bool_strided"},
};
static int elt_cast(const burn_buf *out, const burn_buf *in, burn_args *a) {
    int to = out->dtype;
    elt_call c = {out, in, 1, elt_casts[to].flat, elt_casts[to].strided, elt_casts[to].flat_name, elt_casts[to].strided_name,
                  {NULL, NULL}};
    return elt_run(&c, row_of(a));
}

/* Twins of Updated and Updates in cuda/elementwise.cu. */
#define ELT_UPDATED 32
typedef struct { void *out[4]; const void *in[5]; int64_t n; } elt_updated;
typedef struct { elt_updated each[ELT_UPDATED]; uint32_t first[ELT_UPDATED]; } elt_updates;

/* Optimizer steps of any number of parameters; rule holds the numbers of the step, its choices last, in the kernel's type. */
static int elt_update(const burn_buf *out, const burn_buf *in, burn_args *a, void *rule) {
    cuda_row *r = row_of(a);
    CUfunction fn = kernel_of(r, 0, "");
    if (!fn) return BURN_ERR_RAISED;
    elt_updates all;
    int states = (int)a->i[0], count = a->n_out / (1 + states), used = 0;
    int64_t block = ELT_THREADS * (16 / DT_SIZE[in->dtype]), blocks = 0;
    for (int k = 0; k < count; k++, in += 2 + states, out += 1 + states) {
        if (out->size) {
            elt_updated *u = &all.each[used];
            for (int j = 0; j <= states; j++) u->out[j] = out[j].p;
            for (int j = 0; j < 2 + states; j++) u->in[j] = in[j].p;
            u->n = out->size;
            all.first[used++] = (uint32_t)blocks;
            blocks += (out->size + block - 1) / block;
        }
        if (used == 0 || (k + 1 < count && used < ELT_UPDATED && blocks < 1 << 30)) continue;
        void *params[4] = {&all, &used, &states, rule};
        int rc = launch(r, fn, (unsigned)blocks, 1, ELT_THREADS, 0, params);
        if (rc != BURN_OK) return rc;
        used = 0;
        blocks = 0;
    }
    return BURN_OK;
}
static int elt_adam_step(const burn_buf *out, const burn_buf *in, burn_args *a) {
    enum { WD, B1, C1, B2, C2, KM, KV, EPS, DECAY, LR };
    const double *f = a->f, n[9] = {f[WD], f[B1], f[C1], f[B2], f[C2], f[KV], f[EPS], f[DECAY], f[LR] * f[KM]};
    struct { double n[9]; int choice[2]; } wide = {.choice = {a->i[0] == 3, (int)a->i[1]}};
    struct { float n[9]; int choice[2]; } single = {.choice = {a->i[0] == 3, (int)a->i[1]}};
    for (int k = 0; k < 9; k++) wide.n[k] = n[k], single.n[k] = (float)n[k];
    return elt_update(out, in, a, in->dtype == DT_F64 ? (void *)&wide : (void *)&single);
}
static int elt_sgd_step(const burn_buf *out, const burn_buf *in, burn_args *a) {
    struct { double n[4]; int choice[2]; } wide = {.choice = {a->i[0] != 0, (int)a->i[1]}};
    struct { float n[4]; int choice[2]; } single = {.choice = {a->i[0] != 0, (int)a->i[1]}};
    for (int k = 0; k < 4; k++) wide.n[k] = a->f[k], single.n[k] = (float)a->f[k];
    return elt_update(out, in, a, in->dtype == DT_F64 ? (void *)&wide : (void *)&single);
}

static const cuda_launcher elementwise_launchers[] = {
    {"div", elt_checked, ROW_STRIDED | ROW_HOST | ROW_TICKET},
    {"remainder", elt_checked, ROW_STRIDED | ROW_HOST | ROW_TICKET},
    {"floordiv", elt_checked, ROW_STRIDED | ROW_HOST | ROW_TICKET},
    {"bitwise_left_shift", elt_checked, ROW_STRIDED | ROW_HOST | ROW_TICKET},
    {"bitwise_right_shift", elt_checked, ROW_STRIDED | ROW_HOST | ROW_TICKET},
    {"powf_scalar", elt_power, ROW_STRIDED | ROW_HOST},
    {"powf_scalar_bwd", elt_power, ROW_STRIDED | ROW_HOST},
    {"leaky_relu", elt_numbered, ROW_STRIDED | ROW_HOST},
    {"leaky_relu_bwd", elt_numbered, ROW_STRIDED | ROW_HOST},
    {"elu", elt_numbered, ROW_STRIDED | ROW_HOST},
    {"elu_bwd", elt_numbered, ROW_STRIDED | ROW_HOST},
    {"hard_sigmoid", elt_numbered, ROW_STRIDED | ROW_HOST},
    {"hard_sigmoid_bwd", elt_numbered, ROW_STRIDED | ROW_HOST},
    {"softplus", elt_numbered, ROW_STRIDED | ROW_HOST},
    {"softplus_bwd", elt_numbered, ROW_STRIDED | ROW_HOST},
    {"shrink", elt_numbered, ROW_STRIDED | ROW_HOST},
    {"shrink_bwd", elt_numbered, ROW_STRIDED | ROW_HOST},
    {"threshold", elt_numbered, ROW_STRIDED | ROW_HOST},
    {"threshold_bwd", elt_numbered, ROW_STRIDED | ROW_HOST},
    {"error_power", elt_numbered, ROW_STRIDED | ROW_HOST},
    {"error_power_bwd", elt_numbered, ROW_STRIDED | ROW_HOST},
    {"error_huber", elt_numbered, ROW_STRIDED | ROW_HOST},
    {"error_huber_bwd", elt_numbered, ROW_STRIDED | ROW_HOST},
    {"kl_term", elt_numbered, ROW_STRIDED | ROW_HOST},
    {"kl_term_bwd", elt_numbered, ROW_STRIDED | ROW_HOST},
    {"kl_term_target_bwd", elt_numbered, ROW_STRIDED | ROW_HOST},
    {"cast", elt_cast, ROW_STRIDED | ROW_HOST},
    {"adam_step", elt_adam_step, 0},
    {"sgd_step", elt_sgd_step, 0},
    {NULL, elt_any, ROW_STRIDED | ROW_HOST},
    {0},
};
