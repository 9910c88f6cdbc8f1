// Pooling of planes, [planes, h, w], and adaptive averages of [planes, d, h, w]. A thread has an element of what is written,
// so that neighbours read and write neighbours; gradients are gathered from the windows that hold a cell, in their order.
#include "common.cuh"

OP(max_pool2d, FLOAT)
OP(max_pool2d_with_indices, FLOAT)
OP(max_pool2d_bwd, FLOAT)
OP(avg_pool2d, FLOAT)
OP(avg_pool2d_bwd, FLOAT)
OP(adaptive_avg_pool3d, FLOAT)
OP(adaptive_avg_pool3d_bwd, FLOAT)

// The numbers of an op in their order, as the host holds them.
struct Window {
    i64 planes, h, w, oh, ow, kh, kw, sh, sw, top, left, bottom, right, dh, dw, counted;
};
struct Shape {
    i64 planes, d, h, w, od, oh, ow;
};

#if IS_FLOAT
#define INLINE __device__ __forceinline__
INLINE i64 least(i64 a, i64 b) { return a < b ? a : b; }
INLINE i64 most(i64 a, i64 b) { return a > b ? a : b; }
INLINE i64 element() { return (i64)blockIdx.x * 256 + threadIdx.x; }

// The largest cell of a window and its place; the first of equal ones, the last of several NaN.
INLINE C largest(const T *x, const Window &p, i64 row, i64 column, i64 *at) {
    C best = C(-INFINITY);
    *at = -1;
    for (i64 k = 0, r = row; k < p.kh; k++, r += p.dh) {
        if (r < 0 || r >= p.h) continue;
        for (i64 l = 0, c = column; l < p.kw; l++, c += p.dw) {
            if (c < 0 || c >= p.w) continue;
            C v = up(x[r * p.w + c]);
            if (*at < 0 || v > best || v != v) best = v, *at = r * p.w + c;
        }
    }
    return best;
}
INLINE void pool_largest(T *out, void *at, int at_wide, const T *x, const Window &p) {
    i64 i = element(), windows = p.oh * p.ow, place;
    if (i >= p.planes * windows) return;
    i64 plane = i / windows, o = i - plane * windows, row = o / p.ow, column = o - row * p.ow;
    out[i] = down<T>(largest(x + plane * p.h * p.w, p, row * p.sh - p.top, column * p.sw - p.left, &place));
    if (at && at_wide) ((i64 *)at)[i] = place;
    else if (at) ((i32 *)at)[i] = (i32)place;
}
KERNEL(max_pool2d, 256, (T *out, const T *x, Window p)) { pool_largest(out, 0, 0, x, p); }
KERNEL(max_pool2d_with_indices, 256, (T *out, void *at, const T *x, Window p, i32 at_wide)) {
    pool_largest(out, at, at_wide, x, p);
}

// Cells along an axis that an average divides by.
INLINE i64 count(i64 size, i64 start, i64 kernel, i64 after, i64 counted) {
    if (counted) return least(start + kernel, size + after) - start;
    return most(1, least(start + kernel, size) - most(start, 0));
}
KERNEL(avg_pool2d, 256, (T *out, const T *x, Window p)) {
    i64 i = element(), windows = p.oh * p.ow;
    if (i >= p.planes * windows) return;
    i64 plane = i / windows, o = i - plane * windows, row = o / p.ow, column = o - row * p.ow;
    row = row * p.sh - p.top, column = column * p.sw - p.left;
    x += plane * p.h * p.w;
    C sum = 0;
    for (i64 r = most(row, 0); r < least(row + p.kh, p.h); r++)
        for (i64 c = most(column, 0); c < least(column + p.kw, p.w); c++) sum += up(x[r * p.w + c]);
    out[i] = down<T>(sum / (C)(count(p.h, row, p.kh, p.bottom, p.counted) * count(p.w, column, p.kw, p.right, p.counted)));
}

// The first window of an axis that reaches the padded place q, and the last that starts before it.
INLINE i64 first_window(i64 q, i64 extent, i64 stride) { return q < extent ? 0 : (q - extent) / stride + 1; }
INLINE i64 last_window(i64 q, i64 stride, i64 windows) { return least(q / stride, windows - 1); }

KERNEL(max_pool2d_bwd, 256, (T *dx, const T *g, const void *at, Window p, i32 at_wide, Error *err, i64 ticket)) {
    i64 i = element(), cells = p.h * p.w, windows = p.oh * p.ow;
    for (i64 k = i; k < p.planes * windows; k += (i64)gridDim.x * 256) { // whoever comes by checks the places
        i64 place = at_wide ? ((const i64 *)at)[k] : ((const i32 *)at)[k];
        if (place < -1 || place >= cells) report(err, ticket, ERR_INDEX, k, place, cells);
    }
    if (i >= p.planes * cells) return;
    i64 plane = i / cells, cell = i - plane * cells, r = cell / p.w + p.top, c = cell % p.w + p.left;
    i64 rows = last_window(r, p.sh, p.oh), columns = last_window(c, p.sw, p.ow);
    i64 left = first_window(c, (p.kw - 1) * p.dw + 1, p.sw);
    C sum = 0;
    for (i64 k = first_window(r, (p.kh - 1) * p.dh + 1, p.sh); k <= rows; k++) {
        for (i64 l = left; l <= columns; l++) {
            i64 from = plane * windows + k * p.ow + l;
            if ((at_wide ? ((const i64 *)at)[from] : ((const i32 *)at)[from]) == cell) sum += up(g[from]);
        }
    }
    dx[i] = down<T>(sum);
}
KERNEL(avg_pool2d_bwd, 256, (T *dx, const T *g, Window p)) {
    i64 i = element(), cells = p.h * p.w;
    if (i >= p.planes * cells) return;
    i64 plane = i / cells, cell = i - plane * cells, r = cell / p.w + p.top, c = cell % p.w + p.left;
    i64 rows = last_window(r, p.sh, p.oh), columns = last_window(c, p.sw, p.ow), left = first_window(c, p.kw, p.sw);
    C sum = 0;
    for (i64 k = first_window(r, p.kh, p.sh); k <= rows; k++) {
        i64 height = count(p.h, k * p.sh - p.top, p.kh, p.bottom, p.counted);
        for (i64 l = left; l <= columns; l++)
            sum += up(g[(plane * p.oh + k) * p.ow + l]) / (C)(height * count(p.w, l * p.sw - p.left, p.kw, p.right, p.counted));
    }
    dx[i] = down<T>(sum);
}

// Part o of `parts` of an axis.
INLINE i64 begin(i64 o, i64 size, i64 parts) { return o * size / parts; }
INLINE i64 end(i64 o, i64 size, i64 parts) { return ((o + 1) * size + parts - 1) / parts; }

KERNEL(adaptive_avg_pool3d, 256, (T *out, const T *x, Shape s)) {
    i64 i = element();
    if (i >= s.planes * s.od * s.oh * s.ow) return;
    i64 c = i % s.ow, rest = i / s.ow, r = rest % s.oh, d = rest / s.oh % s.od, plane = rest / s.oh / s.od;
    i64 d0 = begin(d, s.d, s.od), d1 = end(d, s.d, s.od), r0 = begin(r, s.h, s.oh), r1 = end(r, s.h, s.oh);
    i64 c0 = begin(c, s.w, s.ow), c1 = end(c, s.w, s.ow);
    C sum = 0;
    for (i64 k = d0; k < d1; k++)
        for (i64 l = r0; l < r1; l++)
            for (i64 m = c0; m < c1; m++) sum += up(x[((plane * s.d + k) * s.h + l) * s.w + m]);
    out[i] = down<T>(sum / (C)((d1 - d0) * (r1 - r0) * (c1 - c0)));
}
KERNEL(adaptive_avg_pool3d_bwd, 256, (T *dx, const T *g, Shape s)) {
    i64 i = element();
    if (i >= s.planes * s.d * s.h * s.w) return;
    i64 c = i % s.w, rest = i / s.w, r = rest % s.h, d = rest / s.h % s.d, plane = rest / s.h / s.d;
    C sum = 0;
    for (i64 k = begin(d, s.od, s.d); k < end(d, s.od, s.d); k++) {
        for (i64 l = begin(r, s.oh, s.h); l < end(r, s.oh, s.h); l++) {
            i64 area = (end(k, s.d, s.od) - begin(k, s.d, s.od)) * (end(l, s.h, s.oh) - begin(l, s.h, s.oh));
            for (i64 m = begin(c, s.ow, s.w); m < end(c, s.ow, s.w); m++)
                sum += up(g[((plane * s.od + k) * s.oh + l) * s.ow + m]) / (C)(area * (end(m, s.w, s.ow) - begin(m, s.w, s.ow)));
        }
    }
    dx[i] = down<T>(sum);
}
#endif
