/* Norms of rows, or of the differences of rows, and the cosines between them. Products are added up in double, where those of
   floats neither overflow nor vanish; rows of doubles whose squares would are scaled by a power of two first. */
#pragma once
#include "norm.h"
#include <math.h>

#define VEC_CHUNK 512
#define VEC_LANES 8
#define VEC_PIECE 16384 /* elements that are worth a task */
#define VEC_LOW 0x1p-900
#define VEC_HIGH 0x1p1000

typedef struct {
    int dtype, size;
    const char *x, *y, *g; /* y may be missing */
    const char *norms;     /* of the rows, for slopes */
    char *out;
    int64_t rows, n, per;
    double low;            /* what norms count as at least */
    double shift;          /* is added to differences */
    int open;              /* a norm of 0 makes the cosine 0, and its gradient */
    int stream;
} vec_job;

/* n elements at p as floats or, of doubles, as they are */
VINL const float *vec_floats(int dtype, const void *p, float *room, int64_t n) {
    const uint16_t *h = p;
    if (dtype == DT_F32 || dtype == DT_FLEX32) return p;
    for (int64_t i = 0; i < n; i += VW) {
        int64_t m = n - i < VW ? n - i : VW;
        vf v = dtype == DT_F16 ? (m == VW ? vf_load_f16(h + i) : vf_load_f16_n(h + i, m))
                               : (m == VW ? vf_load_bf16(h + i) : vf_load_bf16_n(h + i, m));
        vf_store(room + i, v);
    }
    return room;
}
/* Sums over a row of x[i] * y[i], or (x[i] - y[i] + shift)^2. */
VINL double vec_sum_floats(const float *x, const float *y, int64_t n, vd shift, const int squares) {
    vd s0 = {0}, s1 = s0, s2 = s0, s3 = s0;
    double rest = 0;
    int64_t i = 0;
#define VEC_TERM(s, half, k) { \
        vd p = half(vf_load(x + i + k)), q = x == y ? p : half(vf_load(y + i + k)); \
        if (squares) p = p - q + shift, q = p; \
        s = vd_fma(p, q, s); \
    }
    for (; i + 2 * VW <= n; i += 2 * VW) {
        VEC_TERM(s0, vf_dlo, 0)
        VEC_TERM(s1, vf_dhi, 0)
        VEC_TERM(s2, vf_dlo, VW)
        VEC_TERM(s3, vf_dhi, VW)
    }
#undef VEC_TERM
    for (; i < n; i++) {
        double p = x[i], q = y[i];
        if (squares) p = p - q + shift[0], q = p;
        rest += p * q;
    }
    return vd_sum((s0 + s1) + (s2 + s3)) + rest;
}
#define VEC_SUM(name, TERM) \
    static double name(const double *x, const double *y, int64_t n, double a, double b) { \
        double s[VEC_LANES] = {0}, rest = 0; \
        int64_t i = 0; \
        for (; i + VEC_LANES <= n; i += VEC_LANES) \
            for (int j = 0; j < VEC_LANES; j++) s[j] += TERM(x[i + j], y[i + j]); \
        for (; i < n; i++) rest += TERM(x[i], y[i]); \
        return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7])) + rest; \
    }
#define VEC_PRODUCT(x, y) ((x) * a * ((y) * b))
#define VEC_SQUARE(x, y) ({ double d_ = ((x) - (y) + b) * a; d_ * d_; })
VEC_SUM(vec_products, VEC_PRODUCT)
VEC_SUM(vec_squares, VEC_SQUARE)

/* the product of two rows; of doubles, scaled by a and b */
static double vec_dot(const vec_job *j, const char *x, const char *y, double a, double b) {
    float room[2][VEC_CHUNK + VW];
    double s = 0;
    if (j->dtype == DT_F64) return vec_products((const double *)x, (const double *)y, j->n, a, b);
    for (int64_t i = 0; i < j->n; i += VEC_CHUNK) {
        int64_t m = i64_min(VEC_CHUNK, j->n - i);
        const float *p = vec_floats(j->dtype, x + i * j->size, room[0], m);
        const float *q = x == y ? p : vec_floats(j->dtype, y + i * j->size, room[1], m);
        s += vec_sum_floats(p, q, m, bcd(0), 0);
    }
    return s;
}
/* the sum of the squares of x - y + shift; of doubles, scaled by a */
static double vec_apart(const vec_job *j, const char *x, const char *y, double a) {
    float room[2][VEC_CHUNK + VW];
    double s = 0;
    if (j->dtype == DT_F64) return vec_squares((const double *)x, (const double *)y, j->n, a, j->shift);
    for (int64_t i = 0; i < j->n; i += VEC_CHUNK) {
        int64_t m = i64_min(VEC_CHUNK, j->n - i);
        const float *p = vec_floats(j->dtype, x + i * j->size, room[0], m);
        s += vec_sum_floats(p, vec_floats(j->dtype, y + i * j->size, room[1], m), m, bcd(j->shift), 1);
    }
    return s;
}
/* the norm of a row, or of x - y + shift where there is y, times the scale, a power of two */
static double vec_norm(const vec_job *j, const char *x, const char *y, double *scale) {
    double s = y ? vec_apart(j, x, y, 1) : vec_dot(j, x, x, 1, 1), most = 0;
    const double *p = (const double *)x, *q = (const double *)y;
    *scale = 1;
    if (j->dtype != DT_F64 || (s > VEC_LOW && s < VEC_HIGH)) return sqrt(s);
    for (int64_t i = 0; i < j->n; i++) most = fmax(most, fabs(q ? p[i] - q[i] + j->shift : p[i]));
    if (most == 0 || most > 0x1.fffffffffffffp1023) return sqrt(s);
    int e;
    frexp(most, &e);
    *scale = ldexp(1, e < -1000 ? 1000 : e > 1000 ? -1000 : -e);
    return sqrt(y ? vec_apart(j, x, y, *scale) : vec_dot(j, x, x, *scale, *scale));
}
static void vec_put(int dtype, char *out, int64_t i, double v) {
    if (dtype == DT_F64) ((double *)out)[i] = v;
    else if (dtype == DT_F16) vf_store_f16_n((uint16_t *)out + i, bc((float)v), 1);
    else if (dtype == DT_BF16) vf_store_bf16_n((uint16_t *)out + i, bc((float)v), 1);
    else ((float *)out)[i] = (float)v;
}
static double vec_get(const vec_job *j, const char *p, int64_t i) {
    float one[VW];
    return j->dtype == DT_F64 ? ((const double *)p)[i] : vec_floats(j->dtype, p + i * j->size, one, 1)[0];
}
VINL const char *vec_row(const vec_job *j, const char *p, int64_t r) { return p ? p + r * j->n * j->size : NULL; }
static void vec_norms(void *ctx, int64_t part) {
    const vec_job *j = ctx;
    for (int64_t r = part * j->per; r < i64_min(j->rows, (part + 1) * j->per); r++) {
        double scale, norm = vec_norm(j, vec_row(j, j->x, r), vec_row(j, j->y, r), &scale);
        vec_put(j->dtype, j->out, r, norm / scale);
    }
}
/* n floats to place i of a row of out, in its type */
static void vec_out(const vec_job *j, char *row, int64_t i, const float *from, int64_t n) {
    uint16_t *h = (uint16_t *)row + i;
    float *to = (float *)row + i;
    for (int64_t k = 0; k < n; k += VW) {
        const int64_t left = n - k < VW ? n - k : VW;
        vf v = vf_load(from + k); /* of a buffer with room for whole vectors */
        if (j->dtype == DT_F16) vf_store_f16_n(h + k, v, left);
        else if (j->dtype == DT_BF16) vf_store_bf16_n(h + k, v, left);
        else if (j->stream) vf_stream(to + k, v);
        else if (left == VW) vf_store(to + k, v);
        else vf_store_n(to + k, v, left);
    }
}
/* (x - y + shift) g in the type itself */
#define VEC_SCALED(T, V, L, LOAD, STORE, STREAM) \
    static void vec_scaled_##T(const T *x, const T *y, T *o, int64_t n, T shift, T g, int stream) { \
        const V more = shift - (V){0}, by = g - (V){0}; \
        int64_t i = 0; \
        for (; i + L <= n; i += L) { \
            V v = LOAD(x + i); \
            if (y) v = v - LOAD(y + i) + more; \
            v = v * by; \
            if (stream) STREAM(o + i, v); \
            else STORE(o + i, v); \
        } \
        for (; i < n; i++) o[i] = (y ? x[i] - y[i] + shift : x[i]) * g; \
    }
VEC_SCALED(float, vf, VW, vf_load, vf_store, vf_stream)
VEC_SCALED(double, vd, VD, vd_load, vd_store, vd_stream)
VINL int vec_moderate(double v) { return fabs(v) > 1e-30 && fabs(v) < 1e30; }

/* by x: g (x - y + shift) / norm; 0 where the norm is. Norms of half floats are rounded, and of extreme ones little may be left:
   these are made again, and what follows from them runs in double. */
static void vec_norm_slopes(void *ctx, int64_t part) {
    const vec_job *j = ctx;
    float room[3][VEC_CHUNK + VW];
    for (int64_t r = part * j->per; r < i64_min(j->rows, (part + 1) * j->per); r++) {
        const char *x = vec_row(j, j->x, r), *y = vec_row(j, j->y, r);
        char *o = j->out + r * j->n * j->size;
        double g = vec_get(j, j->g, r), a = 1, norm = vec_get(j, j->norms, r);
        if (j->size > 2 && vec_moderate(norm) && vec_moderate(g / norm)) {
            g /= norm;
            if (j->size == 8)
                vec_scaled_double((const double *)x, (const double *)y, (double *)o, j->n, j->shift, g, j->stream);
            else vec_scaled_float((const float *)x, (const float *)y, (float *)o, j->n, (float)j->shift, (float)g, j->stream);
            continue;
        }
        norm = g == 0 ? 0 : vec_norm(j, x, y, &a);
        if (norm == 0) {
            memset(o, 0, (size_t)(j->n * j->size));
            continue;
        }
        g /= norm;
        if (j->dtype == DT_F64) {
            const double *p = (const double *)x, *q = (const double *)y;
            for (int64_t i = 0; i < j->n; i++) ((double *)o)[i] = (q ? p[i] - q[i] + j->shift : p[i]) * a * g;
            continue;
        }
        for (int64_t i = 0; i < j->n; i += VEC_CHUNK) {
            const int64_t m = i64_min(VEC_CHUNK, j->n - i);
            const float *p = vec_floats(j->dtype, x + i * j->size, room[0], m);
            const float *q = y ? vec_floats(j->dtype, y + i * j->size, room[1], m) : NULL;
            for (int64_t k = 0; k < m; k++) room[2][k] = (float)((q ? (double)p[k] - (double)q[k] + j->shift : (double)p[k]) * g);
            vec_out(j, o, i, room[2], m);
        }
    }
    if (j->stream) v_fence();
}

/* what the cosine of two rows and its gradient are made of */
typedef struct { double a, b, x, y, cos; int moves; } vec_angle; /* scales, scaled divisors, whether x moves its own */
static vec_angle vec_angle_of(const vec_job *j, const char *x, const char *y) {
    vec_angle v;
    double p = vec_norm(j, x, NULL, &v.a), q = vec_norm(j, y, NULL, &v.b), low = j->low * v.a;
    v.moves = !(p < low);
    v.x = p < low ? low : p;
    v.y = q < j->low * v.b ? j->low * v.b : q;
    if (j->open && (p == 0 || q == 0)) {
        if (p == 0) v.x = INFINITY;
        if (q == 0) v.y = INFINITY;
        v.moves = 0;
        v.cos = 0;
        return v;
    }
    v.cos = vec_dot(j, x, y, v.a, v.b) / v.x / v.y;
    return v;
}
static void vec_cosines(void *ctx, int64_t part) {
    const vec_job *j = ctx;
    for (int64_t r = part * j->per; r < i64_min(j->rows, (part + 1) * j->per); r++)
        vec_put(j->dtype, j->out, r, vec_angle_of(j, j->x + r * j->n * j->size, j->y + r * j->n * j->size).cos);
}
/* by x: g / |x| (y / |y| - cos x / |x|) */
#define VEC_SLOPE(T) \
    static void vec_slope_##T(const T *x, const T *y, T *o, int64_t n, double by_x, double by_y, double g) { \
        for (int64_t i = 0; i < n; i++) o[i] = (T)(((double)y[i] * by_y - (double)x[i] * by_x) * g); \
    }
VEC_SLOPE(float)
VEC_SLOPE(double)
static void vec_slopes(void *ctx, int64_t part) {
    const vec_job *j = ctx;
    float room[3][VEC_CHUNK + VW];
    for (int64_t r = part * j->per; r < i64_min(j->rows, (part + 1) * j->per); r++) {
        const char *x = j->x + r * j->n * j->size, *y = j->y + r * j->n * j->size;
        char *o = j->out + r * j->n * j->size;
        double g = vec_get(j, j->g, r);
        if (g == 0) {
            memset(o, 0, (size_t)(j->n * j->size));
            continue;
        }
        vec_angle v = vec_angle_of(j, x, y);
        double by_y = v.b / v.y, by_x = v.moves ? v.cos * v.a / v.x : 0;
        g = g * v.a / v.x;
        if (j->dtype == DT_F64) {
            vec_slope_double((const double *)x, (const double *)y, (double *)o, j->n, by_x, by_y, g);
            continue;
        }
        for (int64_t i = 0; i < j->n; i += VEC_CHUNK) {
            int64_t m = i64_min(VEC_CHUNK, j->n - i);
            const float *p = vec_floats(j->dtype, x + i * j->size, room[0], m);
            const float *q = vec_floats(j->dtype, y + i * j->size, room[1], m);
            vec_slope_float(p, q, room[2], m, by_x, by_y, g);
            vec_out(j, o, i, room[2], m);
        }
    }
    if (j->stream) v_fence();
}

enum { VEC_NORM, VEC_NORM_SLOPES, VEC_COSINE, VEC_SLOPES };
/* in: x; of cosines y; of slopes the gradient; of slopes of norms these; of norms what is taken off, where there is anything */
static int vectors_run(int what, const burn_buf *out, const burn_buf *in, burn_args *a, int64_t rows, int64_t n) {
    static void (*const run[])(void *, int64_t) = {vec_norms, vec_norm_slopes, vec_cosines, vec_slopes};
    static const double ns[] = {.3, .6, .8, 1.2};
    const int dtype = in->dtype, cosine = what >= VEC_COSINE, slopes = what == VEC_NORM_SLOPES || what == VEC_SLOPES;
    const int at_y = what == VEC_NORM_SLOPES ? 3 : 1;
    vec_job j = {.dtype = dtype, .size = dtype == DT_F64 ? 8 : dtype == DT_F16 || dtype == DT_BF16 ? 2 : 4, .x = in->p,
                 .out = out->p, .rows = rows, .n = n};
    if (rows == 0 || (slopes && n == 0)) return BURN_OK;
    if (a->n_in > at_y) j.y = in[at_y].p;
    if (cosine) j.low = a->f[0], j.open = a->f[1] != 0;
    else j.shift = a->f[0];
    if (slopes) j.g = in[cosine ? 2 : 1].p;
    if (what == VEC_NORM_SLOPES) j.norms = in[2].p;
    j.stream = slopes && j.size > 2 && n * j.size % 64 == 0 && can_stream(out->p, rows * n * j.size);
    j.per = i64_max(1, VEC_PIECE / i64_max(n, 1));
    rt_tasks(run[what], &j, ceil_div(rows, j.per), ns[what] * (double)rows * (double)n);
    return BURN_OK;
}
