/* Driver of the elementwise kernels. A kernel is a loop over contiguous pieces (elt_loop) and a record of what it
   takes (elt_op); everything else happens here, once: strided and broadcast inputs, scalar operands, half precision,
   the split over threads, errors found in values.

   Contiguous inputs and scalars go straight to the loop. Otherwise the axes are collapsed; where every input runs
   with step 1 or 0 along a long enough last axis the loop runs on those rows, else the odd inputs are gathered, 1024
   elements at a time, into a buffer in L1. f16 and bf16 run the f32 loop, which converts in registers. */
#pragma once
#include "abi.h"
#include "vec.h"

#define ELT_BLOCK 1024
#define ELT_MIN_ROW 32
#define ELT_SERIAL_NS 5000.f
#define ELT_STREAM_BYTES (2 << 20)

/* One piece of work: inputs are contiguous (step 1) or one value (step 0); at least one has step 1 unless n is 1. */
typedef struct {
    int64_t n;
    void *out;
    const void *in[3];
    int64_t step[3];
    const double *f;   /* attributes of the op */
    int64_t at;        /* flat position of the first element, for errors */
    int64_t *err;
    int32_t tin, tout; /* dtypes of in[0] and out */
    int32_t stream;    /* out is 64-byte aligned, large and not an input: write around the caches */
    int32_t half;      /* DT_F16 or DT_BF16: what an f32 loop reads and writes instead of f32 */
} elt_span;
typedef int (*elt_loop)(const elt_span *s);

/* not at all; by the loop itself; block by block through a buffer in L1, for loops that know nothing of it */
enum { STREAM_NEVER, STREAM_LOOP, STREAM_BLOCKS };

typedef struct {
    elt_loop fn;
    float cost;        /* nanoseconds an element */
    uint8_t n_in;
    uint8_t out_size;  /* bytes an element */
    uint8_t in_size[3];
    uint8_t half;      /* DT_F16 or DT_BF16: what the loop converts to f32 and back */
    uint8_t swap;      /* give the loop its two inputs in the other order */
    uint8_t stream;    /* how large results go around the caches: STREAM_* */
} elt_op;

static const burn_rt *elt_rt;

/* ---- half precision */
static void elt_from_half(int dt, const uint16_t *p, float *o, int64_t n) {
    int64_t i = 0;
    if (dt == DT_F16) {
        for (; i + VW <= n; i += VW) vf_store(o + i, vf_load_f16(p + i));
        if (i < n) vf_store_n(o + i, vf_load_f16_n(p + i, n - i), n - i);
    } else {
        for (; i + VW <= n; i += VW) vf_store(o + i, vf_load_bf16(p + i));
        if (i < n) vf_store_n(o + i, vf_load_bf16_n(p + i, n - i), n - i);
    }
}
static void elt_to_half(int dt, const float *p, uint16_t *o, int64_t n) {
    int64_t i = 0;
    if (dt == DT_F16) {
        for (; i + VW <= n; i += VW) vf_store_f16(o + i, vf_load(p + i));
        if (i < n) vf_store_f16_n(o + i, vf_load_n(p + i, n - i), n - i);
    } else {
        for (; i + VW <= n; i += VW) vf_store_bf16(o + i, vf_load(p + i));
        if (i < n) vf_store_bf16_n(o + i, vf_load_n(p + i, n - i), n - i);
    }
}
/* `bytes` from L1 to an aligned place, around the caches */
static void elt_stream(const void *from, void *to, int64_t bytes) {
    int64_t i = 0;
    for (; i + 4 * VW <= bytes; i += 4 * VW)
        vf_stream((float *)((char *)to + i), vf_loada((const float *)((const char *)from + i)));
    memcpy((char *)to + i, (const char *)from + i, (size_t)(bytes - i));
}
static int elt_run_blocks(const elt_op *op, const elt_span *s) {
    uint64_t buf[ELT_BLOCK] __attribute__((aligned(64)));
    elt_span t = *s;
    t.stream = 0;
    t.out = buf;
    for (int64_t i = 0; i < s->n; i += ELT_BLOCK) {
        t.n = s->n - i < ELT_BLOCK ? s->n - i : ELT_BLOCK;
        t.at = s->at + i;
        for (int j = 0; j < op->n_in; j++) t.in[j] = (const char *)s->in[j] + i * s->step[j] * op->in_size[j];
        int rc = op->fn(&t);
        if (rc) return rc;
        elt_stream(buf, (char *)s->out + i * op->out_size, t.n * op->out_size);
    }
    v_fence();
    return BURN_OK;
}
static inline int elt_run(const elt_op *op, const elt_span *s) {
    return s->stream && op->stream == STREAM_BLOCKS ? elt_run_blocks(op, s) : op->fn(s);
}

/* ---- strided inputs */
typedef struct {
    int32_t nd;
    int32_t rows;          /* the loop can run on the last axis as it is */
    uint8_t mode[3];       /* else, an input at a time: 0 one value, 1 contiguous, 2 gathered */
    int64_t dim[BURN_MAX_RANK], st[3][BURN_MAX_RANK];
} elt_layout;

static void elt_collapse(elt_layout *l, const elt_op *op, const burn_buf *out, const burn_buf *in) {
    int64_t dense = 1, st[3][BURN_MAX_RANK];
    for (int d = out->ndim - 1; d >= 0; d--) {
        for (int j = 0; j < op->n_in; j++)
            st[j][d] = in[j].size == 1 ? 0 : in[j].strides ? in[j].strides[d] : dense;
        dense *= out->shape[d];
    }
    int nd = 0;
    for (int d = 0; d < out->ndim; d++) {
        if (out->shape[d] == 1) continue;
        int merge = nd > 0;
        for (int j = 0; j < op->n_in; j++) merge = merge && l->st[j][nd - 1] == st[j][d] * out->shape[d];
        if (!merge) nd++;
        l->dim[nd - 1] = merge ? l->dim[nd - 1] * out->shape[d] : out->shape[d];
        for (int j = 0; j < op->n_in; j++) l->st[j][nd - 1] = st[j][d];
    }
    l->nd = nd;
    int unit = 0, any = 0;
    l->mode[1] = l->mode[2] = 0;
    l->rows = l->dim[nd - 1] >= ELT_MIN_ROW;
    for (int j = 0; j < op->n_in; j++) {
        int64_t last = l->st[j][nd - 1];
        int zero = 1, whole = 1;
        dense = 1;
        for (int d = nd - 1; d >= 0; d--) {
            zero = zero && l->st[j][d] == 0;
            whole = whole && l->st[j][d] == dense;
            dense *= l->dim[d];
        }
        l->mode[j] = zero ? 0 : whole ? 1 : 2;
        any |= !zero;
        unit |= last == 1;
        l->rows = l->rows && (last == 0 || last == 1);
    }
    l->rows = l->rows && unit;
    if (!any) l->mode[0] = 2; /* nothing but one-value inputs: loops need one that runs */
}

typedef struct { int64_t idx[BURN_MAX_RANK], off[3]; } elt_pos;

static void elt_seek(const elt_layout *l, int n_in, int64_t at, elt_pos *p) {
    p->off[0] = p->off[1] = p->off[2] = 0;
    for (int d = l->nd - 1; d >= 0; d--) {
        p->idx[d] = at % l->dim[d];
        at /= l->dim[d];
        for (int j = 0; j < n_in; j++) p->off[j] += p->idx[d] * l->st[j][d];
    }
}
/* k steps along the last axis, k no more than what is left of it */
static inline void elt_advance(const elt_layout *l, int n_in, int64_t k, elt_pos *p) {
    int d = l->nd - 1;
    p->idx[d] += k;
    for (int j = 0; j < n_in; j++) p->off[j] += k * l->st[j][d];
    while (p->idx[d] == l->dim[d] && d > 0) {
        p->idx[d] = 0;
        for (int j = 0; j < n_in; j++) p->off[j] += l->st[j][d - 1] - l->dim[d] * l->st[j][d];
        p->idx[--d]++;
    }
}
#define ELT_GATHER(T) { \
    const T *src = (const T *)p; T *dst = (T *)o; \
    if (st == 1) for (int64_t i = 0; i < n; i++) dst[i] = src[i]; \
    else if (st == 0) for (int64_t i = 0; i < n; i++) dst[i] = *src; \
    else for (int64_t i = 0; i < n; i++) dst[i] = src[i * st]; }
static void elt_gather(const char *p, char *o, int64_t n, int64_t st, int size) {
    switch (size) {
        case 1: ELT_GATHER(uint8_t) break;
        case 2: ELT_GATHER(uint16_t) break;
        case 4: ELT_GATHER(uint32_t) break;
        default: ELT_GATHER(uint64_t)
    }
}

/* Elements [lo, hi) of the output of s. */
static int elt_walk(const elt_op *op, const elt_layout *l, const elt_span *s, int64_t lo, int64_t hi) {
    uint64_t buf[3][ELT_BLOCK] __attribute__((aligned(64)));
    int last = l->nd - 1, rc;
    elt_span t = *s;
    elt_pos p;
    elt_seek(l, op->n_in, lo, &p);
    while (lo < hi) {
        t.at = lo;
        t.out = (char *)s->out + lo * op->out_size;
        if (l->rows) {
            int64_t left = l->dim[last] - p.idx[last];
            t.n = hi - lo < left ? hi - lo : left;
            for (int j = 0; j < op->n_in; j++) {
                t.in[j] = (const char *)s->in[j] + p.off[j] * op->in_size[j];
                t.step[j] = l->st[j][last];
            }
            elt_advance(l, op->n_in, t.n, &p);
        } else {
            t.n = hi - lo < ELT_BLOCK ? hi - lo : ELT_BLOCK;
            for (int j = 0; j < op->n_in; j++) {
                t.step[j] = l->mode[j] != 0;
                t.in[j] = l->mode[j] == 2 ? (const void *)buf[j]
                                          : (const char *)s->in[j] + lo * t.step[j] * op->in_size[j];
            }
            for (int64_t done = 0, k; done < t.n; done += k) {
                int64_t left = l->dim[last] - p.idx[last];
                k = t.n - done < left ? t.n - done : left;
                for (int j = 0; j < op->n_in; j++)
                    if (l->mode[j] == 2)
                        elt_gather((const char *)s->in[j] + p.off[j] * op->in_size[j],
                                   (char *)buf[j] + done * op->in_size[j], k, l->st[j][last], op->in_size[j]);
                elt_advance(l, op->n_in, k, &p);
            }
        }
        t.stream = s->stream && t.n >= ELT_BLOCK && ((uintptr_t)t.out & 63) == 0;
        if ((rc = elt_run(op, &t))) return rc;
        lo += t.n;
    }
    return BURN_OK;
}

/* ---- threads */
typedef struct {
    const elt_op *op;
    const elt_layout *l; /* NULL: contiguous */
    elt_span s;
    int64_t chunk;
    int rc;
    int64_t err[3];
    char lock;
} elt_task;

static int elt_piece(const elt_op *op, const elt_layout *l, const elt_span *s, int64_t lo, int64_t hi) {
    if (l) return elt_walk(op, l, s, lo, hi);
    elt_span t = *s;
    t.n = hi - lo;
    t.at = lo;
    t.out = (char *)s->out + lo * op->out_size;
    for (int j = 0; j < op->n_in; j++) t.in[j] = (const char *)s->in[j] + lo * s->step[j] * op->in_size[j];
    return elt_run(op, &t);
}
static void elt_body(void *ctx, int64_t i) {
    elt_task *t = ctx;
    int64_t lo = i * t->chunk, hi = lo + t->chunk < t->s.n ? lo + t->chunk : t->s.n, err[3];
    elt_span s = t->s;
    s.err = err;
    int rc = elt_piece(t->op, t->l, &s, lo, hi);
    if (rc) { /* the first position is the one to report, whichever piece comes first */
        while (__atomic_test_and_set(&t->lock, __ATOMIC_ACQUIRE)) {}
        if (!t->rc || err[0] < t->err[0]) {
            t->rc = rc;
            memcpy(t->err, err, sizeof err);
        }
        __atomic_clear(&t->lock, __ATOMIC_RELEASE);
    }
}
/* Pieces of at least ELT_SERIAL_NS, whole blocks, up to four a thread so that one late thread costs little. */
static int64_t elt_chunk(int64_t n, float cost) {
    int64_t threads = elt_rt ? elt_rt->threads() : 1;
    if (threads < 2) return n;
    int64_t parts = (int64_t)((float)n * cost / ELT_SERIAL_NS) + 1, most = parts < 8 * threads ? threads : 4 * threads;
    if (parts > most) parts = most;
    int64_t chunk = (n + parts - 1) / parts;
    return (chunk + ELT_BLOCK - 1) / ELT_BLOCK * ELT_BLOCK;
}
static __attribute__((noinline)) int elt_split(const elt_op *op, const elt_layout *l, elt_span *s, burn_args *a) {
    int64_t chunk = elt_chunk(s->n, op->cost);
    if (chunk >= s->n) return elt_piece(op, l, s, 0, s->n);
    elt_task t = {.op = op, .l = l, .s = *s, .chunk = chunk};
    elt_rt->run(elt_body, &t, (s->n + chunk - 1) / chunk);
    if (t.rc) memcpy(a->err, t.err, sizeof t.err);
    return t.rc;
}

static __attribute__((noinline)) int elt_strided(const elt_op *op, const burn_buf *out, const burn_buf *in, elt_span *s,
                                                 burn_args *a) {
    elt_layout l;
    burn_buf two[2];
    if (op->swap) {
        two[0] = in[1];
        two[1] = in[0];
        in = two;
    }
    if (out->size == 1) { /* one element: every input is one value */
        s->step[0] = s->step[1] = s->step[2] = 1;
        return elt_run(op, s);
    }
    elt_collapse(&l, op, out, in);
    if (l.nd == 1 && (l.rows || (l.mode[0] != 2 && l.mode[1] != 2 && l.mode[2] != 2))) {
        for (int j = 0; j < op->n_in; j++) s->step[j] = l.st[j][0];
        return elt_split(op, NULL, s, a);
    }
    return elt_split(op, &l, s, a);
}

static __attribute__((noinline)) int elt_drive(const elt_op *op, const burn_buf *out, const burn_buf *in,
                                               burn_args *a) {
    int64_t n = out->size;
    if (n == 0) return BURN_OK;
    elt_span s;
    s.n = n;
    s.out = out->p;
    s.f = a->f;
    s.at = 0;
    s.err = a->err;
    s.tin = in[0].dtype;
    s.tout = out->dtype;
    s.half = op->half;
    int plain = 1, running = n == 1, alias = 0;
    for (int j = 0; j < op->n_in; j++) {
        const burn_buf *b = in + (j ^ op->swap);
        s.in[j] = b->p;
        s.step[j] = b->size != 1;
        plain &= b->size == 1 || !b->strides;
        running |= b->size != 1;
        alias |= b->p == out->p;
    }
    s.stream = op->stream && n * op->out_size >= ELT_STREAM_BYTES && !alias && ((uintptr_t)out->p & 63) == 0;
    if (!plain || !running) return elt_strided(op, out, in, &s, a);
    if ((float)n * op->cost <= ELT_SERIAL_NS) return elt_run(op, &s);
    return elt_split(op, NULL, &s, a);
}

/* A kernel of the table: KERNEL(name, .fn = loop, .cost = ..., .n_in = ..., .out_size = ..., .in_size = {...}) */
#define KERNEL(name, ...) \
    static int k_##name(const burn_buf *out, const burn_buf *in, burn_args *a) { \
        static const elt_op op = {__VA_ARGS__}; \
        return elt_drive(&op, out, in, a); \
    }
#define ARGS1(size) .n_in = 1, .in_size = {size}
#define ARGS2(size) .n_in = 2, .in_size = {size, size}
#define ARGS3(size) .n_in = 3, .in_size = {size, size, size}
