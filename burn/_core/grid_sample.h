/* Pictures read at points of a grid: out[n, c, p] from x[n, c] at the place grid[n, p] = (across, down), -1 and 1 being the
   edges. Forward, and the gradients of the picture and of the grid. The kernels of each dtype are in grid_sample_type.h. */
#pragma once
#include "interpolate.h"

#define SAMPLE_POINTS 256   /* points whose places and weights are worked out together; a plane is then read often while in L1 */
#define SAMPLE_CHANNELS 16  /* channels of a task of the picture's gradient */
#define SAMPLE_TAPS 4       /* at most, along an axis */

enum { PAD_ZEROS, PAD_BORDER, PAD_REFLECTION };
enum { SAMPLE_NEAREST, SAMPLE_BILINEAR, SAMPLE_BICUBIC };
enum { GRID_SAMPLE, GRID_SAMPLE_X_BWD, GRID_SAMPLE_GRID_BWD };
typedef struct {
    int64_t n, c, h, w, oh, ow, mode, padding, aligned;
} sample_shape;

typedef struct sample_type sample_type;
typedef struct {
    const sample_type *t;
    sample_shape s;
    int op, taps, failed;
    const void *x, *grid, *g;
    void *out;
    int64_t blocks; /* of points, or of channels, for each picture */
    size_t scratch;
} sample_job;
struct sample_type {
    int native;
    void (*tasks[3])(const sample_job *j, int64_t n, int64_t block, void *room);
};

/* what a coordinate reads along an axis: places (-1: nothing), weights, and their change with the coordinate */
typedef struct {
    int64_t at[SAMPLE_TAPS];
    double weight[SAMPLE_TAPS], slope[SAMPLE_TAPS];
} sample_axis;

/* p[at[l]] of each lane, 0 where at is negative */
#if BURN_LEVEL == 4
VINL vf vf_gather(const float *p, vi at) {
    __mmask16 inside = _mm512_cmpge_epi32_mask((__m512i)at, _mm512_setzero_si512());
    return (vf)_mm512_mask_i32gather_ps(_mm512_setzero_ps(), inside, (__m512i)at, p, 4);
}
#else
VINL vf vf_gather(const float *p, vi at) {
    vf v;
    for (int l = 0; l < VW; l++) v[l] = at[l] < 0 ? 0 : p[at[l]];
    return v;
}
#endif

VINL double cubic_slope(double d) {
    const double a = -0.75, m = fabs(d);
    double s = m < 1 ? (3 * (a + 2) * m - 2 * (a + 3)) * m : m < 2 ? (3 * a * m - 10 * a) * m + 8 * a : 0;
    return d < 0 ? -s : s;
}
/* a place mirrored at the edges until it lies inside; the sign tells whether it runs backward there */
VINL double reflected(double place, double low, double span, double *sign) {
    if (!(span > 0)) {
        *sign = 0;
        return low;
    }
    double d = place - low, turned = d < 0 ? -1 : 1, rest = fmod(fabs(d), 2 * span);
    *sign = rest > span ? -turned : turned;
    return low + (rest > span ? 2 * span - rest : rest);
}
VINL int64_t sample_place(int64_t k, int64_t size, int padding, int aligned) {
    double sign;
    if (padding == PAD_ZEROS) return k >= 0 && k < size ? k : -1;
    if (padding == PAD_REFLECTION && (k < 0 || k >= size))
        k = (int64_t)reflected((double)k, aligned ? 0 : -0.5, (double)(aligned ? size - 1 : size), &sign);
    return i64_min(i64_max(k, 0), size - 1);
}

/* A coordinate that is no finite number reads nothing where zeros lie outside, the middle where the border goes on, and is
   NaN where the picture is mirrored; no gradient flows from it. */
static void sample_along(sample_axis *a, double coordinate, int64_t size, int mode, int padding, int aligned) {
    const int taps = mode == SAMPLE_NEAREST ? 1 : mode == SAMPLE_BILINEAR ? 2 : 4;
    double scale = (double)(aligned ? size - 1 : size) / 2, sign = 1;
    double place = (coordinate + 1) * scale - (aligned ? 0 : 0.5), far = (double)size + 8;
    const int odd = !isfinite(place);
    if (odd) {
        place = (double)(size - 1) / 2;
        scale = 0;
    } else if (padding == PAD_REFLECTION) {
        /* the picture repeats after twice its size, so the taps of a cubic may be mirrored one by one */
        double low = aligned ? 0 : -0.5, span = (double)(aligned ? size - 1 : size);
        if (mode != SAMPLE_BICUBIC) place = reflected(place, low, span, &sign);
        else if (span > 0) place = fmod(place, 2 * span);
        else place = 0, sign = 0;
    } else if (place < -8 || place > far) { /* as far out, and a number that an integer holds */
        place = place < 0 ? -8 : far;
    }
    if (padding == PAD_BORDER && mode != SAMPLE_BICUBIC) {
        double inside = fmin(fmax(place, 0), (double)(size - 1));
        if (inside != place) sign = 0;
        place = inside;
    }
    double low = mode == SAMPLE_NEAREST ? rint(place) : floor(place), rest = place - low;
    const int64_t first = (int64_t)low - (mode == SAMPLE_BICUBIC);
    const int beyond = mode != SAMPLE_BICUBIC && padding == PAD_REFLECTION ? PAD_BORDER : padding;
    for (int t = 0; t < taps; t++) {
        double d = place - (double)(first + t);
        a->at[t] = odd && padding == PAD_ZEROS ? -1 : sample_place(first + t, size, beyond, aligned);
        a->weight[t] = mode == SAMPLE_NEAREST ? 1 : mode == SAMPLE_BILINEAR ? (t ? rest : 1 - rest) : cubic_weight(d);
        a->slope[t] = mode == SAMPLE_NEAREST ? 0 : mode == SAMPLE_BILINEAR ? (t ? 1 : -1) : cubic_slope(d);
        a->slope[t] *= scale * sign;
        if (odd && padding == PAD_REFLECTION) a->weight[t] = NAN;
    }
}

/* the same for most coordinates where two places are read: whether it is one of them, and then without slopes */
VINL int sample_pair(sample_axis *a, double coordinate, int64_t size, int border, int aligned) {
    double place = (coordinate + 1) * ((double)(aligned ? size - 1 : size) / 2) - (aligned ? 0 : 0.5);
    if (!(fabs(place) < 1e9)) return 0;
    if (border) place = fmin(fmax(place, 0), (double)(size - 1));
    double low = floor(place);
    int64_t first = (int64_t)low, second = border ? i64_min(first + 1, size - 1) : first + 1;
    a->weight[0] = 1 - (place - low);
    a->weight[1] = place - low;
    a->at[0] = (uint64_t)first < (uint64_t)size ? first : -1;
    a->at[1] = (uint64_t)second < (uint64_t)size ? second : -1;
    return 1;
}

#define BODY "grid_sample_type.h"
#include "each_float.h"

static const sample_type *const SAMPLE_TYPES[DT_COUNT] = {
    [DT_F64] = &sample_f64, [DT_F32] = &sample_f32,   [DT_FLEX32] = &sample_f32,
    [DT_F16] = &sample_f16, [DT_BF16] = &sample_bf16,
};

static void sample_task(void *ctx, int64_t i) {
    sample_job *j = ctx;
    void *room = rt->alloc(j->scratch);
    if (!room) {
        j->failed = 1; /* every writer writes the same */
        return;
    }
    j->t->tasks[j->op](j, i / j->blocks, i % j->blocks, room);
    rt->free(room, j->scratch);
}

/* x, grid and the gradient of the result are those of the op, as far as it has them */
static int sample_run(int op, int dtype, const void *x, const void *grid, const void *g, void *out, const int64_t *ints,
                      burn_args *a) {
    sample_job j = {.t = SAMPLE_TYPES[dtype], .op = op, .x = x, .grid = grid, .g = g, .out = out};
    memcpy(&j.s, ints, sizeof j.s);
    const sample_shape *s = &j.s;
    const int64_t points = s->oh * s->ow, written = op == GRID_SAMPLE        ? s->c * points
                                                    : op == GRID_SAMPLE_X_BWD ? s->c * s->h * s->w
                                                                              : 2 * points;
    if (s->n * written == 0) return BURN_OK;
    j.taps = s->mode == SAMPLE_NEAREST ? 1 : s->mode == SAMPLE_BILINEAR ? 2 : 4;
    j.blocks = op == GRID_SAMPLE_X_BWD ? ceil_div(s->c, SAMPLE_CHANNELS) : ceil_div(points, SAMPLE_POINTS);
    j.scratch = (size_t)(SAMPLE_POINTS * SAMPLE_TAPS * SAMPLE_TAPS * 3 + 2 * SAMPLE_POINTS) * 8;
    if (op == GRID_SAMPLE_X_BWD && !j.t->native) j.scratch += (size_t)(SAMPLE_CHANNELS * s->h * s->w) * 4;
    const double ns = (double)(s->n * points) * (20.0 + (double)(s->c * j.taps * j.taps));
    rt_tasks(sample_task, &j, s->n * j.blocks, ns);
    return j.failed ? rt_no_memory(a, (int64_t)j.scratch) : BURN_OK;
}
