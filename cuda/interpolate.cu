// Planes resampled to another size, and pictures read at the points of a grid. A thread has an element of what is written and
// works out the places and weights itself, in double; only the gradient of a sampled picture is added up by atomics, so its
// last bits depend on the order in which the GPU comes to the points.
#include "common.cuh"

OP(interpolate, FLOAT)
OP(interpolate_bwd, FLOAT)
OP(grid_sample_2d, FLOAT)
OP(grid_sample_2d_x_bwd, FLOAT)
OP(grid_sample_2d_grid_bwd, FLOAT)

// The numbers of an op in their order, as the host holds them.
struct Resize {
    i64 planes, h, w, oh, ow, mode, aligned;
};
struct Sample {
    i64 n, c, h, w, oh, ow, mode, padding, aligned;
};

#if IS_FLOAT
#define INLINE __device__ __forceinline__
enum { NEAREST, NEAREST_EXACT, BILINEAR, BICUBIC, LANCZOS3 };
enum { PAD_ZEROS, PAD_BORDER, PAD_REFLECTION };
enum { SAMPLE_NEAREST, SAMPLE_BILINEAR, SAMPLE_BICUBIC };

INLINE i64 least(i64 a, i64 b) { return a < b ? a : b; }
INLINE i64 most(i64 a, i64 b) { return a > b ? a : b; }
INLINE i64 element() { return (i64)blockIdx.x * 256 + threadIdx.x; }

INLINE double cubic(double d) {
    const double a = -0.75;
    d = fabs(d);
    if (d < 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}
INLINE double cubic_slope(double d) {
    const double a = -0.75, m = fabs(d);
    double s = m < 1 ? (3 * (a + 2) * m - 2 * (a + 3)) * m : m < 2 ? (3 * a * m - 10 * a) * m + 8 * a : 0;
    return d < 0 ? -s : s;
}
INLINE double lanczos(double d) {
    const double pi = 3.14159265358979323846;
    d = fabs(d);
    if (d < 1e-12) return 1;
    return d < 3 ? sin(pi * d) / (pi * d) * (sin(pi * d / 3) / (pi * d / 3)) : 0;
}

// ---- what makes an element of an axis: `taps` places from `first` on, those outside brought to the edge
struct Axis {
    i64 size, out;
    int mode, taps;
    bool aligned;
};
INLINE Axis axis_of(i64 size, i64 out, const Resize &p) {
    Axis a = {size, out, (int)p.mode, p.mode < BILINEAR ? 1 : p.mode == BILINEAR ? 2 : p.mode == BICUBIC ? 4 : 6, p.aligned != 0};
    return a;
}
INLINE i64 first_of(const Axis &a, i64 o, double *place) {
    *place = 0;
    if (a.mode == NEAREST) return least(o * a.size / a.out, a.size - 1);
    if (a.mode == NEAREST_EXACT) return least((2 * o + 1) * a.size / (2 * a.out), a.size - 1);
    *place = a.aligned ? (double)o * ((double)(a.size - 1) / (double)most(a.out - 1, 1))
                       : ((double)o + 0.5) * ((double)a.size / (double)a.out) - 0.5;
    return (i64)floor(*place) - (a.taps / 2 - 1);
}
INLINE void weights_of(const Axis &a, i64 first, double place, double *weight) {
    double sum = 0;
    for (int t = 0; t < a.taps; t++) {
        i64 k = first + t;
        double d = place - (double)k;
        weight[t] = a.mode < BILINEAR    ? 1
                    : a.mode == BILINEAR ? 1 - fabs(d)
                    : a.mode == BICUBIC  ? cubic(d)
                    : k < 0 || k >= a.size ? 0
                                           : lanczos(d);
        sum += weight[t];
    }
    if (a.mode == LANCZOS3) for (int t = 0; t < a.taps; t++) weight[t] /= sum;
}
INLINE i64 inside(i64 k, i64 size) { return least(most(k, 0), size - 1); }

// The weight of the element r of the input in the element o of the result.
INLINE double weight_at(const Axis &a, i64 o, i64 r) {
    double place, weight[6], sum = 0;
    i64 first = first_of(a, o, &place);
    weights_of(a, first, place, weight);
    for (int t = 0; t < a.taps; t++)
        if (inside(first + t, a.size) == r) sum += weight[t];
    return sum;
}
// The first element of the result whose places begin at `from` or later.
INLINE i64 search(const Axis &a, i64 from) {
    i64 low = 0, high = a.out;
    double place;
    while (low < high) {
        i64 middle = (low + high) / 2;
        if (first_of(a, middle, &place) < from) low = middle + 1;
        else high = middle;
    }
    return low;
}
INLINE void users_of(const Axis &a, i64 r, i64 *low, i64 *high) {
    *low = r == 0 ? 0 : search(a, r - a.taps + 1);
    *high = r == a.size - 1 ? a.out : search(a, r + 1);
}

KERNEL(interpolate, 256, (T *out, const T *x, Resize p)) {
    i64 i = element();
    if (i >= p.planes * p.oh * p.ow) return;
    i64 column = i % p.ow, row = i / p.ow % p.oh, plane = i / p.ow / p.oh;
    Axis down_ = axis_of(p.h, p.oh, p), across = axis_of(p.w, p.ow, p);
    double y, z, wy[6], wx[6];
    i64 top = first_of(down_, row, &y), left = first_of(across, column, &z);
    x += plane * p.h * p.w;
    if (down_.taps == 1) {
        out[i] = x[top * p.w + left];
        return;
    }
    weights_of(down_, top, y, wy);
    weights_of(across, left, z, wx);
    C sum = 0;
    for (int k = 0; k < down_.taps; k++) {
        const T *line = x + inside(top + k, p.h) * p.w;
        C part = 0;
        for (int l = 0; l < across.taps; l++) part += (C)wx[l] * up(line[inside(left + l, p.w)]);
        sum += (C)wy[k] * part;
    }
    out[i] = down<T>(sum);
}
KERNEL(interpolate_bwd, 256, (T *dx, const T *g, Resize p)) {
    const int KEPT = 16;
    i64 i = element();
    if (i >= p.planes * p.h * p.w) return;
    i64 column = i % p.w, row = i / p.w % p.h, plane = i / p.w / p.h, k, rows, left, right;
    Axis down_ = axis_of(p.h, p.oh, p), across = axis_of(p.w, p.ow, p);
    users_of(down_, row, &k, &rows);
    users_of(across, column, &left, &right);
    C kept[KEPT], sum = 0;
    for (i64 l = left; l < least(right, left + KEPT); l++) kept[l - left] = (C)weight_at(across, l, column);
    for (; k < rows; k++) {
        C weight = (C)weight_at(down_, k, row), part = 0;
        if (weight == 0) continue;
        for (i64 l = left; l < right; l++) {
            C w = l - left < KEPT ? kept[l - left] : (C)weight_at(across, l, column);
            if (w != 0) part += w * up(g[(plane * p.oh + k) * p.ow + l]);
        }
        sum += weight * part;
    }
    dx[i] = down<T>(sum);
}

// ---- grid sampling
INLINE double mirrored(double place, double low, double span, double *sign) {
    if (!(span > 0)) {
        *sign = 0;
        return low;
    }
    double d = place - low, turned = d < 0 ? -1 : 1, rest = fmod(fabs(d), 2 * span);
    *sign = rest > span ? -turned : turned;
    return low + (rest > span ? 2 * span - rest : rest);
}
INLINE i64 place_of(i64 k, i64 size, int padding, bool aligned) {
    double sign;
    if (padding == PAD_ZEROS) return k >= 0 && k < size ? k : -1;
    if (padding == PAD_REFLECTION && (k < 0 || k >= size))
        k = (i64)mirrored((double)k, aligned ? 0 : -0.5, (double)(aligned ? size - 1 : size), &sign);
    return inside(k, size);
}

// What a coordinate reads along an axis: places (-1: nothing), weights, and their change with the coordinate.
struct Reads {
    i64 at[4];
    double weight[4], slope[4];
};
INLINE void reads_of(Reads *a, double coordinate, i64 size, int taps, const Sample &s) {
    const int mode = (int)s.mode, padding = (int)s.padding;
    const bool aligned = s.aligned != 0;
    double scale = (double)(aligned ? size - 1 : size) / 2, sign = 1, start = aligned ? 0 : -0.5;
    double place = (coordinate + 1) * scale + start, span = 2 * scale, far = (double)size + 8, nothing = place - place;
    const bool odd = nothing != 0; // infinite or NaN
    if (odd) {
        place = (double)(size - 1) / 2;
        scale = 0;
    } else if (padding == PAD_REFLECTION) {
        if (mode != SAMPLE_BICUBIC) place = mirrored(place, start, span, &sign);
        else if (span > 0) place = fmod(place, 2 * span);
        else place = 0, sign = 0;
    } else if (place < -8 || place > far) {
        place = place < 0 ? -8 : far;
    }
    if (padding == PAD_BORDER && mode != SAMPLE_BICUBIC) {
        double kept = fmin(fmax(place, 0.0), (double)(size - 1));
        if (kept != place) sign = 0;
        place = kept;
    }
    double low = mode == SAMPLE_NEAREST ? rint(place) : floor(place), rest = place - low;
    const i64 first = (i64)low - (mode == SAMPLE_BICUBIC);
    const int beyond = mode != SAMPLE_BICUBIC && padding == PAD_REFLECTION ? PAD_BORDER : padding;
    for (int t = 0; t < taps; t++) {
        double d = place - (double)(first + t);
        a->at[t] = odd && padding == PAD_ZEROS ? -1 : place_of(first + t, size, beyond, aligned);
        a->weight[t] = mode == SAMPLE_NEAREST ? 1 : mode == SAMPLE_BILINEAR ? (t ? rest : 1 - rest) : cubic(d);
        a->slope[t] = mode == SAMPLE_NEAREST ? 0 : mode == SAMPLE_BILINEAR ? (t ? 1 : -1) : cubic_slope(d);
        a->slope[t] *= scale * sign;
        if (odd && padding == PAD_REFLECTION) a->weight[t] = nothing;
    }
}
INLINE int taps_of(const Sample &s) { return s.mode == SAMPLE_NEAREST ? 1 : s.mode == SAMPLE_BILINEAR ? 2 : 4; }
// n and p: the picture and the point
INLINE void point_of(Reads *x, Reads *y, const T *grid, i64 n, i64 p, const Sample &s) {
    const T *at = grid + 2 * (n * s.oh * s.ow + p);
    reads_of(x, (double)up(at[0]), s.w, taps_of(s), s);
    reads_of(y, (double)up(at[1]), s.h, taps_of(s), s);
}

KERNEL(grid_sample_2d, 256, (T *out, const T *x, const T *grid, Sample s)) {
    i64 i = element(), points = s.oh * s.ow;
    if (i >= s.n * s.c * points) return;
    i64 plane = i / points, taps = taps_of(s);
    Reads across, below;
    point_of(&across, &below, grid, plane / s.c, i - plane * points, s);
    C sum = 0;
    for (int k = 0; k < taps; k++)
        for (int l = 0; l < taps; l++)
            if (below.at[k] >= 0 && across.at[l] >= 0)
                sum += (C)(below.weight[k] * across.weight[l]) * up(x[(plane * s.h + below.at[k]) * s.w + across.at[l]]);
    out[i] = down<T>(sum);
}
// sum has the gradient in the type that is computed in, and starts as zeros
KERNEL(grid_sample_2d_x_bwd_zero, 256, (C *sum, i64 size)) {
    if (element() < size) sum[element()] = 0;
}
KERNEL(grid_sample_2d_x_bwd, 256, (C *sum, const T *grid, const T *g, Sample s)) {
    i64 i = element(), points = s.oh * s.ow;
    if (i >= s.n * s.c * points) return;
    i64 plane = i / points, taps = taps_of(s);
    Reads across, below;
    point_of(&across, &below, grid, plane / s.c, i - plane * points, s);
    for (int k = 0; k < taps; k++) {
        for (int l = 0; l < taps; l++) {
            C w = (C)(below.weight[k] * across.weight[l]);
            if (below.at[k] >= 0 && across.at[l] >= 0 && w == w)
                atomicAdd(&sum[(plane * s.h + below.at[k]) * s.w + across.at[l]], w * up(g[i]));
        }
    }
}
KERNEL(grid_sample_2d_x_bwd_store, 256, (T *dx, const C *sum, i64 size)) {
    if (element() < size) dx[element()] = down<T>(sum[element()]);
}
KERNEL(grid_sample_2d_grid_bwd, 256, (T *dgrid, const T *x, const T *grid, const T *g, Sample s)) {
    i64 i = element(), points = s.oh * s.ow;
    if (i >= s.n * points) return;
    i64 n = i / points, p = i - n * points, taps = taps_of(s);
    Reads across, below;
    point_of(&across, &below, grid, n, p, s);
    double sums[2] = {0, 0};
    for (i64 c = 0; c < s.c; c++) {
        const T *plane = x + (n * s.c + c) * s.h * s.w;
        C change[2] = {0, 0}, factor = up(g[(n * s.c + c) * points + p]);
        for (int k = 0; k < taps; k++) {
            for (int l = 0; l < taps; l++) {
                if (below.at[k] < 0 || across.at[l] < 0) continue;
                C value = up(plane[below.at[k] * s.w + across.at[l]]);
                double wx = below.weight[k] * across.slope[l], wy = below.slope[k] * across.weight[l];
                if (wx == wx) change[0] += (C)wx * value;
                if (wy == wy) change[1] += (C)wy * value;
            }
        }
        sums[0] += (double)(change[0] * factor);
        sums[1] += (double)(change[1] * factor);
    }
    dgrid[2 * i] = down<T>((C)sums[0]);
    dgrid[2 * i + 1] = down<T>((C)sums[1]);
}
#endif
