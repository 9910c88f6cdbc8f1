/* Steps of optimizers in one pass over each parameter and its state, for any number of parameters in one parallel region.
   A parameter has the inputs value, gradient, states and the outputs value, states; the outputs may be the inputs, and the
   new value may be the gradient. Numbers and choices are the same for all parameters of a call. */
#pragma once
#include "elementwise_loops.h"
#include "rounded.h"

enum { UPDATE_STATES, UPDATE_CHOICE };          /* whole numbers: states a parameter; cautious (adam), nesterov (sgd) */
enum { ADAM_WD, ADAM_B1, ADAM_C1, ADAM_B2, ADAM_C2, ADAM_KM, ADAM_KV, ADAM_EPS, ADAM_DECAY, ADAM_LR };
enum { SGD_WD, SGD_MOMENTUM, SGD_REST, SGD_LR };
#define UPDATE_ROUND 64                         /* pieces of a parameter begin at multiples of this */
#define UPDATE_NEAR (1 << 19)                   /* elements of all parameters that caches of cores may hold */

/* soon_out and soon_in are of the parameter that is next, or NULL */
typedef void update_piece(const burn_buf *out, const burn_buf *in, const burn_args *a, int64_t lo, int64_t hi,
                          const burn_buf *soon_out, const burn_buf *soon_in);
typedef struct {
    const burn_buf *out, *in;
    const burn_args *a;
    update_piece *piece;
    const int64_t *start; /* of each parameter, in elements of all of them; one more for the end */
    int64_t count, states, chunk;
    int back; /* each piece begins with its last parameter */
} update_task;

/* adam: g = grad + wd p;  m' = b1 m + c1 g;  v' = b2 v + c2 g g;  w' = max(w, v') where there is w, else v'
         p' = p decay - lr (m' km) / (sqrt(w' kv) + eps); cautious: no decay where the signs of p and m' differ */
#define UPDATE_LANES(i) \
    int64_t k = hi - i; \
    int full = k >= VW; \
    vf pp = full ? vf_load(p + i) : vf_load_n(p + i, k), gg = full ? vf_load(g + i) : vf_load_n(g + i, k);
#define UPDATE_IN(x, i) (full ? vf_load(x + i) : vf_load_n(x + i, k))
#define UPDATE_OUT(x, i, v) { if (full) vf_store(x + i, v); else vf_store_n(x + i, v, k); }
#define UPDATE_VALUE(i, v) { \
    if (!full) vf_store_n(po + i, v, k); \
    else if (stream) vf_stream(po + i, v); \
    else vf_store(po + i, v); }
/* A large value that takes the place of none that was read is written around the cache. */
VINL int update_streams(const burn_buf *out, const burn_buf *in) {
    return out->p != in[0].p && out->p != in[1].p && out->size * 4 >= ELT_STREAM_BYTES && ((uintptr_t)out->p & 63) == 0;
}
/* What a large parameter reads next, or a small one the parameter after it: with AVX-512 the arithmetic leaves room, and more
   lines are under way than the hardware asks for by itself. */
#define UPDATE_AHEAD 512
#define UPDATE_SMALL 4096
typedef struct { const float *in[5]; const float *out; } update_ahead;
VINL update_ahead update_look(const burn_buf *out, const burn_buf *in, int64_t lo, int64_t hi, const burn_buf *soon_out,
                              const burn_buf *soon_in, int n_in) {
    update_ahead h;
    const int64_t from = soon_in && in->size <= UPDATE_SMALL ? -lo : UPDATE_AHEAD;
    if (from == UPDATE_AHEAD) soon_in = in, soon_out = out;
    for (int k = 0; k < n_in; k++) h.in[k] = (const float *)soon_in[k].p + from;
    h.out = (const float *)soon_out->p + from;
    return h;
}
VINL void adam_f32_of(const burn_buf *out, const burn_buf *in, const burn_args *a, int64_t lo, int64_t hi,
                      const burn_buf *soon_out, const burn_buf *soon_in, int largest, int cautious, int stream) {
    const update_ahead ahead = update_look(out, in, lo, hi, soon_out, soon_in, largest ? 5 : 4);
    const float *p = in[0].p, *g = in[1].p, *m = in[2].p, *v = in[3].p, *w = largest ? in[4].p : NULL;
    float *po = out[0].p, *mo = out[1].p, *vo = out[2].p, *wo = largest ? out[3].p : NULL;
    const double *f = a->f;
    vf wd = bc((float)f[ADAM_WD]), b1 = bc((float)f[ADAM_B1]), c1 = bc((float)f[ADAM_C1]), b2 = bc((float)f[ADAM_B2]),
       c2 = bc((float)f[ADAM_C2]), kv = bc((float)f[ADAM_KV]), eps = bc((float)f[ADAM_EPS]),
       decay = bc((float)f[ADAM_DECAY]), lk = bc((float)(f[ADAM_LR] * f[ADAM_KM])), one = bc(1.f), zero = bc(0.f);
    for (int64_t i = lo; i < hi; i += VW) {
        UPDATE_LANES(i)
        if (VW == 16) {
            for (int k = 0; k < (largest ? 5 : 4); k++) v_prefetch(ahead.in[k] + i);
            if (!stream) __builtin_prefetch(ahead.out + i, 1, 3);
        }
        vf mm = UPDATE_IN(m, i), vv = UPDATE_IN(v, i), kept = decay;
        gg = vf_fma(wd, pp, gg);
        mm = vf_fma(b1, mm, c1 * gg);
        vv = vf_fma(b2, vv, c2 * gg * gg);
        UPDATE_OUT(mo, i, mm)
        UPDATE_OUT(vo, i, vv)
        if (largest) {
            vf ww = UPDATE_IN(w, i);
            vv = vf_sel(vf_le(vv, ww), ww, vf_sel(vf_unord(ww, ww), ww, vv)); /* a NaN of either stays */
            UPDATE_OUT(wo, i, vv)
        }
        if (cautious) {
            vf same = vf_sel(vf_ge(mm, zero), one, zero), other = vf_sel(vf_ge(pp, zero), one, zero);
            kept = vf_sel(vf_eq(same, other), decay, one);
        }
        pp = vf_fnma(lk, mm / (vf_sqrt(vv * kv) + eps), pp * kept);
        UPDATE_VALUE(i, pp)
    }
    if (stream) v_fence();
}
static void adam_f32(const burn_buf *out, const burn_buf *in, const burn_args *a, int64_t lo, int64_t hi,
                     const burn_buf *soon_out, const burn_buf *soon_in) {
    int stream = update_streams(out, in);
    int largest = a->i[UPDATE_STATES] == 3, cautious = a->i[UPDATE_CHOICE] != 0;
    if (largest) adam_f32_of(out, in, a, lo, hi, soon_out, soon_in, 1, cautious, stream);
    else if (cautious) adam_f32_of(out, in, a, lo, hi, soon_out, soon_in, 0, 1, stream);
    else if (stream) adam_f32_of(out, in, a, lo, hi, soon_out, soon_in, 0, 0, 1);
    else adam_f32_of(out, in, a, lo, hi, soon_out, soon_in, 0, 0, 0);
}
static void adam_f64(const burn_buf *out, const burn_buf *in, const burn_args *a, int64_t lo, int64_t hi,
                     const burn_buf *soon_out, const burn_buf *soon_in) {
    const int largest = a->i[UPDATE_STATES] == 3, cautious = a->i[UPDATE_CHOICE] != 0;
    const double *p = in[0].p, *g = in[1].p, *m = in[2].p, *v = in[3].p, *w = largest ? in[4].p : NULL, *f = a->f;
    double *po = out[0].p, *mo = out[1].p, *vo = out[2].p, *wo = largest ? out[3].p : NULL;
    IVDEP for (int64_t i = lo; i < hi; i++) {
        double gg = g[i] + f[ADAM_WD] * p[i], kept = f[ADAM_DECAY];
        double mm = f[ADAM_B1] * m[i] + f[ADAM_C1] * gg, vv = f[ADAM_B2] * v[i] + f[ADAM_C2] * gg * gg;
        mo[i] = mm;
        vo[i] = vv;
        if (largest) {
            vv = vv <= w[i] || w[i] != w[i] ? w[i] : vv;
            wo[i] = vv;
        }
        if (cautious && (mm >= 0) != (p[i] >= 0)) kept = 1;
        po[i] = p[i] * kept - f[ADAM_LR] * (mm * f[ADAM_KM]) / (sqrt(vv * f[ADAM_KV]) + f[ADAM_EPS]);
    }
}

/* Each product is rounded, as separate operations do and Burn does: near 0 the last bits of a sum decide.
   sgd: g = grad + wd p;  with a velocity u' = momentum u + rest g, and g = nesterov ? momentum u' + g : u';  p' = p - lr g */
VINL void sgd_f32_of(const burn_buf *out, const burn_buf *in, const burn_args *a, int64_t lo, int64_t hi, int velocity,
                     int stream) {
    const float *p = in[0].p, *g = in[1].p, *u = velocity ? in[2].p : NULL;
    float *po = out[0].p, *uo = velocity ? out[1].p : NULL;
    const int nesterov = a->i[UPDATE_CHOICE] != 0;
    const vf wd = bc((float)a->f[SGD_WD]), momentum = bc((float)a->f[SGD_MOMENTUM]), rest = bc((float)a->f[SGD_REST]),
             lr = bc((float)a->f[SGD_LR]);
    for (int64_t i = lo; i < hi; i += VW) {
        UPDATE_LANES(i)
        vf product = wd * pp;
        ROUNDED(product);
        gg = product + gg;
        if (velocity) {
            vf uu = momentum * UPDATE_IN(u, i), part = rest * gg;
            ROUNDED(uu);
            ROUNDED(part);
            uu = part + uu;
            UPDATE_OUT(uo, i, uu)
            product = momentum * uu;
            ROUNDED(product);
            if (nesterov) gg = product + gg;
            else gg = uu;
        }
        product = lr * gg;
        ROUNDED(product);
        pp = pp - product;
        UPDATE_VALUE(i, pp)
    }
    if (stream) v_fence();
}
static void sgd_f32(const burn_buf *out, const burn_buf *in, const burn_args *a, int64_t lo, int64_t hi,
                    const burn_buf *soon_out, const burn_buf *soon_in) {
    int stream = update_streams(out, in);
    if (a->i[UPDATE_STATES]) sgd_f32_of(out, in, a, lo, hi, 1, stream);
    else sgd_f32_of(out, in, a, lo, hi, 0, stream);
}
static void sgd_f64(const burn_buf *out, const burn_buf *in, const burn_args *a, int64_t lo, int64_t hi,
                    const burn_buf *soon_out, const burn_buf *soon_in) {
    const int velocity = a->i[UPDATE_STATES] != 0, nesterov = a->i[UPDATE_CHOICE] != 0;
    const double *p = in[0].p, *g = in[1].p, *u = velocity ? in[2].p : NULL, *f = a->f;
    double *po = out[0].p, *uo = velocity ? out[1].p : NULL;
    IVDEP for (int64_t i = lo; i < hi; i++) {
        double gg = g[i] + f[SGD_WD] * p[i];
        if (velocity) {
            double uu = f[SGD_MOMENTUM] * u[i] + f[SGD_REST] * gg;
            uo[i] = uu;
            gg = nesterov ? f[SGD_MOMENTUM] * uu + gg : uu;
        }
        po[i] = p[i] - f[SGD_LR] * gg;
    }
}

/* Where a piece that ends or begins at `at` of all elements cuts a parameter. */
VINL int64_t update_cut(int64_t at, int64_t start, int64_t size) {
    at -= start;
    return at >= size ? size : at <= 0 ? 0 : at & -UPDATE_ROUND;
}
static void update_body(void *ctx, int64_t i) {
    const update_task *t = ctx;
    int64_t lo = i * t->chunk, hi = lo + t->chunk, a = 0, b = t->count;
    while (b - a > 1) { /* the last parameter that starts at or before lo */
        int64_t mid = (a + b) / 2;
        if (t->start[mid] <= lo) a = mid;
        else b = mid;
    }
    for (b = a; b + 1 < t->count && t->start[b + 1] < hi;) b++; /* the last one that starts before hi */
    const int64_t step = t->back ? -1 : 1, end = (t->back ? a : b) + step;
    for (int64_t k = t->back ? b : a; k != end; k += step) {
        int64_t size = t->start[k + 1] - t->start[k];
        int64_t first = update_cut(lo, t->start[k], size), last = update_cut(hi, t->start[k], size);
        const burn_buf *out = t->out + k * (1 + t->states), *in = t->in + k * (2 + t->states);
        const int more = k + step != end;
        if (first < last)
            t->piece(out, in, t->a, first, last, more ? out + step * (1 + t->states) : NULL,
                     more ? in + step * (2 + t->states) : NULL);
    }
}
/* Every other call goes backwards through what caches may hold: it finds there what the call before has used last. */
static int update_turn;
static int update_run(const burn_buf *out, const burn_buf *in, burn_args *a, update_piece *piece, float cost) {
    int64_t states = a->i[UPDATE_STATES], count = a->n_out / (1 + states), few[17], *start = few;
    size_t bytes = (size_t)(count + 1) * sizeof *start;
    if (count > 16 && !(start = elt_rt->alloc(bytes))) {
        a->err[0] = (int64_t)bytes;
        return BURN_ERR_MEMORY;
    }
    start[0] = 0;
    for (int64_t k = 0; k < count; k++) start[k + 1] = start[k] + out[k * (1 + states)].size;
    int64_t total = start[count];
    update_task t = {out, in, a, piece, start, count, states, elt_chunk(total, cost), 0};
    const int64_t threads = elt_rt->threads(), each = (total + threads - 1) / threads;
    if (total < UPDATE_NEAR) t.back = __atomic_fetch_xor(&update_turn, 1, __ATOMIC_RELAXED);
    if (total < UPDATE_NEAR && each > t.chunk) /* a piece for each thread, whose cache has it from the step before */
        t.chunk = (each + UPDATE_ROUND - 1) & -UPDATE_ROUND;
    if (t.chunk >= total) update_body(&t, 0);
    else elt_rt->run(update_body, &t, (total + t.chunk - 1) / t.chunk);
    if (start != few) elt_rt->free(start, bytes);
    return BURN_OK;
}
#define UPDATE_KERNEL(op, type, cost) \
    static int k_##op##_##type(const burn_buf *out, const burn_buf *in, burn_args *a) { \
        return update_run(out, in, a, op##_##type, cost); \
    }
UPDATE_KERNEL(adam, f32, 1.5f)
UPDATE_KERNEL(adam, f64, 3.f)
UPDATE_KERNEL(sgd, f32, .6f)
UPDATE_KERNEL(sgd, f64, 1.2f)
#define ROWS_UPDATE(op, c32, c64) \
    {#op "_step", DT_F32, 0, c32, k_##op##_f32}, {#op "_step", DT_FLEX32, 0, c32, k_##op##_f32}, \
    {#op "_step", DT_F64, 0, c64, k_##op##_f64},
