/* One optimizer step of Adam and its kin in one pass: four inputs read, three outputs written, the outputs may be the
   inputs.
       g = grad + wd p;  m' = b1 m + c1 g;  v' = b2 v + c2 g g;  p' = p decay - lr (m' km) / (sqrt(v' kv) + eps) */
#pragma once
#include "elementwise_loops.h"

enum { ADAM_WD, ADAM_B1, ADAM_C1, ADAM_B2, ADAM_C2, ADAM_KM, ADAM_KV, ADAM_EPS, ADAM_DECAY, ADAM_LR };

typedef struct {
    const burn_buf *out, *in;
    const double *f;
    int64_t n, chunk;
} adam_task;

static void adam_f32(const adam_task *t, int64_t lo, int64_t hi) {
    const float *p = t->in[0].p, *g = t->in[1].p, *m = t->in[2].p, *v = t->in[3].p;
    float *po = t->out[0].p, *mo = t->out[1].p, *vo = t->out[2].p;
    const double *f = t->f;
    vf wd = bc((float)f[ADAM_WD]), b1 = bc((float)f[ADAM_B1]), c1 = bc((float)f[ADAM_C1]), b2 = bc((float)f[ADAM_B2]),
       c2 = bc((float)f[ADAM_C2]), kv = bc((float)f[ADAM_KV]), eps = bc((float)f[ADAM_EPS]),
       decay = bc((float)f[ADAM_DECAY]), lk = bc((float)(f[ADAM_LR] * f[ADAM_KM]));
    for (int64_t i = lo; i < hi; i += VW) {
        int64_t k = hi - i;
        int full = k >= VW;
        vf pp = full ? vf_load(p + i) : vf_load_n(p + i, k), gg = full ? vf_load(g + i) : vf_load_n(g + i, k);
        vf mm = full ? vf_load(m + i) : vf_load_n(m + i, k), vv = full ? vf_load(v + i) : vf_load_n(v + i, k);
        gg = vf_fma(wd, pp, gg);
        mm = vf_fma(b1, mm, c1 * gg);
        vv = vf_fma(b2, vv, c2 * gg * gg);
        pp = vf_fnma(lk, mm / (vf_sqrt(vv * kv) + eps), pp * decay);
        if (full) vf_store(po + i, pp), vf_store(mo + i, mm), vf_store(vo + i, vv);
        else vf_store_n(po + i, pp, k), vf_store_n(mo + i, mm, k), vf_store_n(vo + i, vv, k);
    }
}
static void adam_f64(const adam_task *t, int64_t lo, int64_t hi) {
    const double *p = t->in[0].p, *g = t->in[1].p, *m = t->in[2].p, *v = t->in[3].p, *f = t->f;
    double *po = t->out[0].p, *mo = t->out[1].p, *vo = t->out[2].p;
    IVDEP for (int64_t i = lo; i < hi; i++) {
        double gg = g[i] + f[ADAM_WD] * p[i];
        double mm = f[ADAM_B1] * m[i] + f[ADAM_C1] * gg, vv = f[ADAM_B2] * v[i] + f[ADAM_C2] * gg * gg;
        double pp = p[i] * f[ADAM_DECAY] - f[ADAM_LR] * (mm * f[ADAM_KM]) / (sqrt(vv * f[ADAM_KV]) + f[ADAM_EPS]);
        po[i] = pp;
        mo[i] = mm;
        vo[i] = vv;
    }
}
static void adam_body(void *ctx, int64_t i) {
    const adam_task *t = ctx;
    int64_t lo = i * t->chunk, hi = lo + t->chunk < t->n ? lo + t->chunk : t->n;
    if (t->in[0].dtype == DT_F64) adam_f64(t, lo, hi);
    else adam_f32(t, lo, hi);
}
static int k_adam_step(const burn_buf *out, const burn_buf *in, burn_args *a) {
    int64_t n = out->size;
    if (n == 0) return BURN_OK;
    adam_task t = {out, in, a->f, n, elt_chunk(n, 1.5f)};
    if (t.chunk >= n) adam_body(&t, 0);
    else elt_rt->run(adam_body, &t, (n + t.chunk - 1) / t.chunk);
    return BURN_OK;
}
