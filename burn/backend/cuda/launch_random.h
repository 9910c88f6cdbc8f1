/* Launchers of cuda/random.cu: what the kernels need of the ends of a range is worked out here, once. */
#pragma once
#include <math.h>
#include "device.h"

#define RANDOM_THREADS 256

static double random_half_value(int dtype, uint16_t h) {
    int e = h >> 10 & 31, m = h & 0x3ff;
    if (dtype == DT_BF16) {
        uint32_t bits = (uint32_t)h << 16;
        float f;
        memcpy(&f, &bits, 4);
        return f;
    }
    double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(m + 1024, e - 25) : ldexp(m, -24);
    return h & 0x8000 ? -v : v;
}

/* the largest value of the dtype that is less than high */
static double random_below(int dtype, double high) {
    if (dtype == DT_F64) return nextafter(high, -INFINITY);
    float f = (float)high;
    if (dtype != DT_F16 && dtype != DT_BF16) return f < high ? f : nextafterf(f, -INFINITY);
    uint16_t h = dtype == DT_F16 ? half_bits(f) : bfloat_bits(f);
    if (random_half_value(dtype, h) >= high) h = (h & 0x7fff) == 0 ? 0x8001 : h & 0x8000 ? h + 1 : h - 1;
    return random_half_value(dtype, h);
}

/* Launches with the values that lie between n and seed; per: elements of a counter. */
static int random_launch(const burn_buf *out, burn_args *a, int per, void **values, int n_values) {
    cuda_row *r = row_of(a);
    void *y = out->p, *params[8] = {&y, NULL}, **p = params;
    int64_t n = out->size, seed = a->i[0], offset = a->i[1], grid = (n + per * RANDOM_THREADS - 1) / (per * RANDOM_THREADS);
    if (n == 0) return BURN_OK;
    CUfunction f = kernel_of(r, 0, "");
    if (!f) return BURN_ERR_RAISED;
    *p++ = &y;
    *p++ = &n;
    for (int k = 0; k < n_values; k++) *p++ = values[k];
    *p++ = &seed;
    *p++ = &offset;
    if (grid > 16 * r->dev->sms) grid = 16 * r->dev->sms;
    return launch(r, f, (unsigned)grid, 1, RANDOM_THREADS, 0, params);
}

static int random_uniform(const burn_buf *out, const burn_buf *none, burn_args *a) {
    int dtype = out->dtype, per = DT_SIZE[dtype] == 8 ? 2 : 4;
    double low = a->f[0], high = a->f[1];
    (void)none;
    if (dtype == DT_F64) {
        double range = high - low, top = random_below(dtype, high);
        return random_launch(out, a, per, (void *[]){&low, &range, &top}, 3);
    }
    if (dtype <= DT_BF16) {
        float first = (float)low, range = (float)(high - low), top = (float)random_below(dtype, high);
        return random_launch(out, a, per, (void *[]){&first, &range, &top}, 3);
    }
    __int128 least = (__int128)low, end = (__int128)high;
    uint64_t first = (uint64_t)least, range = (uint64_t)(end - least);
    return random_launch(out, a, per, (void *[]){&first, &range}, 2);
}
static int random_normal(const burn_buf *out, const burn_buf *none, burn_args *a) {
    float mean = (float)a->f[0], std = (float)a->f[1];
    double wide_mean = a->f[0], wide_std = a->f[1];
    (void)none;
    if (out->dtype == DT_F64) return random_launch(out, a, 2, (void *[]){&wide_mean, &wide_std}, 2);
    return random_launch(out, a, 4, (void *[]){&mean, &std}, 2);
}
static int random_bernoulli(const burn_buf *out, const burn_buf *none, burn_args *a) {
    uint64_t threshold = (uint64_t)(a->f[0] * 0x1p32);
    (void)none;
    return random_launch(out, a, 4, (void *[]){&threshold}, 1);
}

static const cuda_launcher random_launchers[] = {
    {"uniform", random_uniform, 0}, {"normal", random_normal, 0}, {"bernoulli", random_bernoulli, 0}, {0},
};
