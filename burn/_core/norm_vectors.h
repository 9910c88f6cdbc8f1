/* Norms of rows and the cosines between them. Products are added up in double, where those of floats neither overflow nor vanish;
   rows of doubles whose squares would are scaled by a power of two first. */
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
    const char *x, *y, *g;
    char *out;
    int64_t rows, n, per;
    double low; /* what norms count as at least */
    int open;   /* a norm of 0 makes the cosine 0, and its gradient */
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
#define VEC_SUM(T) \
    static double vec_sum_##T(const T *x, const T *y, int64_t n, double a, double b) { \
        double s[VEC_LANES] = {0}, rest = 0; \
        int64_t i = 0; \
        for (; i + VEC_LANES <= n; i += VEC_LANES) \
            for (int j = 0; j < VEC_LANES; j++) s[j] += (double)x[i + j] * a * ((double)y[i + j] * b); \
        for (; i < n; i++) rest += (double)x[i] * a * ((double)y[i] * b); \
        return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7])) + rest; \
    }
VEC_SUM(float)
VEC_SUM(double)

/* the product of two rows, scaled by a and b */
static double vec_dot(const vec_job *j, const char *x, const char *y, double a, double b) {
    float room[2][VEC_CHUNK + VW];
    double s = 0;
    if (j->dtype == DT_F64) return vec_sum_double((const double *)x, (const double *)y, j->n, a, b);
    for (int64_t i = 0; i < j->n; i += VEC_CHUNK) {
        int64_t m = i64_min(VEC_CHUNK, j->n - i);
        const float *p = vec_floats(j->dtype, x + i * j->size, room[0], m);
        const float *q = x == y ? p : vec_floats(j->dtype, y + i * j->size, room[1], m);
        s += vec_sum_float(p, q, m, a, b);
    }
    return s;
}
/* the norm of a row times the scale, a power of two */
static double vec_norm(const vec_job *j, const char *x, double *scale) {
    double s = vec_dot(j, x, x, 1, 1), most = 0;
    *scale = 1;
    if (j->dtype != DT_F64 || (s > VEC_LOW && s < VEC_HIGH)) return sqrt(s);
    for (int64_t i = 0; i < j->n; i++) most = fmax(most, fabs(((const double *)x)[i]));
    if (most == 0 || most > 0x1.fffffffffffffp1023) return sqrt(s);
    int e;
    frexp(most, &e);
    *scale = ldexp(1, e < -1000 ? 1000 : e > 1000 ? -1000 : -e);
    return sqrt(vec_dot(j, x, x, *scale, *scale));
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
static void vec_norms(void *ctx, int64_t part) {
    const vec_job *j = ctx;
    for (int64_t r = part * j->per; r < i64_min(j->rows, (part + 1) * j->per); r++) {
        double scale, norm = vec_norm(j, j->x + r * j->n * j->size, &scale);
        vec_put(j->dtype, j->out, r, norm / scale);
    }
}

/* what the cosine of two rows and its gradient are made of */
typedef struct { double a, b, x, y, cos; int moves; } vec_angle; /* scales, scaled divisors, whether x moves its own */
static vec_angle vec_angle_of(const vec_job *j, const char *x, const char *y) {
    vec_angle v;
    double p = vec_norm(j, x, &v.a), q = vec_norm(j, y, &v.b), low = j->low * v.a;
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
            float *to = j->size == 4 ? (float *)o + i : room[2];
            vec_slope_float(p, q, to, m, by_x, by_y, g);
            if (j->size == 4) continue;
            for (int64_t k = 0; k < m; k += VW) {
                uint16_t *h = (uint16_t *)o + i + k;
                vf w = vf_load(to + k);
                int64_t left = m - k < VW ? m - k : VW;
                if (j->dtype == DT_F16) vf_store_f16_n(h, w, left);
                else vf_store_bf16_n(h, w, left);
            }
        }
    }
}

enum { VEC_NORM, VEC_COSINE, VEC_SLOPES };
static int vectors_run(int what, const burn_buf *out, const burn_buf *in, burn_args *a, int64_t rows, int64_t n) {
    int dtype = in->dtype, halves = dtype == DT_F16 || dtype == DT_BF16;
    vec_job j = {dtype, dtype == DT_F64 ? 8 : halves ? 2 : 4, in->p, NULL, NULL, out->p, rows, n, 0, 0, 0};
    if (rows == 0 || (what == VEC_SLOPES && n == 0)) return BURN_OK;
    if (what != VEC_NORM) {
        j.y = in[1].p;
        j.low = a->f[0];
        j.open = a->f[1] != 0;
    }
    if (what == VEC_SLOPES) j.g = in[2].p;
    j.per = i64_max(1, VEC_PIECE / i64_max(n, 1));
    rt_tasks(what == VEC_NORM ? vec_norms : what == VEC_COSINE ? vec_cosines : vec_slopes, &j, ceil_div(rows, j.per),
             (what == VEC_NORM ? .3 : what == VEC_COSINE ? .8 : 1.2) * (double)rows * (double)n);
    return BURN_OK;
}
