// Convolutions, their gradients, blocks of images as columns, and the samples of deformable convolutions.
// The convolutions are products without a matrix of columns in memory: a block makes a tile of output channels and positions
// and finds each element of the input that it needs from the geometry. A transposed one looks for the inputs that reach an
// output.
#include "common.cuh"

OP(conv, FLOAT)
OP(conv_transpose, FLOAT)
OP(conv_weight_bwd, FLOAT)
OP(unfold4d, FLOAT)
OP(fold4d, FLOAT)
OP(deform, FLOAT)
OP(deform_x_bwd, FLOAT)
OP(deform_offset_bwd, FLOAT)

#if IS_FLOAT
#define INLINE __device__ __forceinline__

// Twin of cuda_conv in burn/backend/cuda/launch_conv.h: c and o count the channels of a group.
struct Conv {
    i64 n, groups, c, o;
    i64 in[3], out[3], kernel[3], stride[3], pad[3], dilation[3];
};
INLINE i64 volume(const i64 (&d)[3]) { return d[0] * d[1] * d[2]; }
INLINE void split(i64 i, const i64 (&d)[3], i64 (&at)[3]) {
    at[2] = i % d[2];
    at[1] = i / d[2] % d[1];
    at[0] = i / d[2] / d[1];
}
// The element of the input, counted in its map, that a tap reads for an output; -1 where there is none.
template <bool TRANSPOSED> INLINE i64 place(const Conv &s, const i64 (&at)[3], const i64 (&tap)[3]) {
    i64 i = 0;
#pragma unroll
    for (int a = 0; a < 3; a++) {
        i64 x = TRANSPOSED ? at[a] + s.pad[a] - tap[a] * s.dilation[a] : at[a] * s.stride[a] + tap[a] * s.dilation[a] - s.pad[a];
        if (TRANSPOSED) {
            if (x < 0 || x % s.stride[a]) return -1;
            x /= s.stride[a];
        }
        if (x < 0 || x >= s.in[a]) return -1;
        i = i * s.in[a] + x;
    }
    return i;
}

// ---- tiles of 64 x 64 sums, 4 x 4 a thread, 16 products at a time
const int TILE = 64, STEP = 16, EACH = 4;
INLINE i64 tiles_of(i64 n) { return (n + TILE - 1) / TILE; }
template <class A, class B> INLINE void sums(C (&sum)[EACH][EACH], i64 depth, const A &left, const B &right) {
    __shared__ C a[STEP][TILE + 1], b[STEP][TILE + 1];
    int row = threadIdx.x / 16 * EACH, col = threadIdx.x % 16 * EACH;
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++) sum[i][j] = 0;
    for (i64 k0 = 0; k0 < depth; k0 += STEP) {
        for (int e = threadIdx.x; e < STEP * TILE; e += 256) {
            int k = e % STEP, i = e / STEP;
            a[k][i] = k0 + k < depth ? left(i, k0 + k) : C(0);
            k = e / TILE, i = e % TILE;
            b[k][i] = k0 + k < depth ? right(k0 + k, i) : C(0);
        }
        __syncthreads();
        for (int k = 0; k < STEP; k++) {
            C u[EACH], v[EACH];
#pragma unroll
            for (int i = 0; i < EACH; i++) u[i] = a[k][row + i], v[i] = b[k][col + i];
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++) sum[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
}

// The sum of an output without what lies outside, which a tile multiplies as zeros: an infinite weight makes NaN of that.
template <bool TRANSPOSED> INLINE C inside(C sum, const T *image, const T *weight, const Conv &s, i64 o, i64 p) {
    i64 taps = volume(s.kernel), map = volume(s.in), at[3], tap[3];
    bool whole = true;
    if (sum == sum) return sum;
    split(p, s.out, at);
    for (i64 t = 0; t < taps && whole; t++) {
        split(t, s.kernel, tap);
        whole = place<TRANSPOSED>(s, at, tap) >= 0;
    }
    if (whole) return sum;
    sum = 0;
    for (i64 t = 0; t < taps; t++) {
        split(t, s.kernel, tap);
        i64 e = place<TRANSPOSED>(s, at, tap);
        for (i64 c = 0; c < s.c && e >= 0; c++)
            sum += up(image[c * map + e]) * up(weight[(TRANSPOSED ? c * s.o + o : o * s.c + c) * taps + t]);
    }
    return sum;
}
template <bool TRANSPOSED> INLINE void convolve(T *out, const T *x, const T *weight, const T *bias, const Conv &s) {
    i64 taps = volume(s.kernel), map = volume(s.in), area = volume(s.out), tiles = tiles_of(s.o), wide = tiles_of(s.n * area);
    i64 o0 = blockIdx.x % tiles * TILE, p0 = blockIdx.x / tiles % wide * TILE, g = blockIdx.x / tiles / wide;
    // each thread reads one column of the right side in every step
    i64 p = p0 + threadIdx.x % TILE, at[3];
    bool live = p < s.n * area;
    split(live ? p % area : 0, s.out, at);
    const T *image = x + ((live ? p / area : 0) * s.groups + g) * s.c * map;
    weight += g * s.c * s.o * taps;
    C sum[EACH][EACH];
    sums(sum, s.c * taps,
        [&](int i, i64 k) {
            i64 o = o0 + i, c = k / taps, t = k % taps;
            if (o >= s.o) return C(0);
            return up(weight[(TRANSPOSED ? c * s.o + o : o * s.c + c) * taps + t]);
        },
        [&](i64 k, int) {
            i64 tap[3];
            split(k % taps, s.kernel, tap);
            i64 e = live ? place<TRANSPOSED>(s, at, tap) : -1;
            return e < 0 ? C(0) : up(image[k / taps * map + e]);
        });
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++) {
            i64 o = o0 + threadIdx.x / 16 * EACH + i, q = p0 + threadIdx.x % 16 * EACH + j;
            if (o >= s.o || q >= s.n * area) continue;
            i64 channel = g * s.o + o;
            C v = inside<TRANSPOSED>(sum[i][j], x + (q / area * s.groups + g) * s.c * map, weight, s, o, q % area);
            out[(q / area * s.groups * s.o + channel) * area + q % area] = down<T>(v + (bias ? up(bias[channel]) : C(0)));
        }
}
KERNEL(conv, 256, (T *out, const T *x, const T *weight, const T *bias, Conv s)) {
    convolve<false>(out, x, weight, bias, s);
}
KERNEL(conv_transpose, 256, (T *out, const T *x, const T *weight, const T *bias, Conv s)) {
    convolve<true>(out, x, weight, bias, s);
}

// The sum of a weight without the gradients that meet nothing, which a tile multiplies by zeros: infinite ones make NaN.
INLINE C met(C sum, const T *x, const T *grad, const Conv &s, i64 g, i64 o, i64 column) {
    i64 taps = volume(s.kernel), map = volume(s.in), area = volume(s.out), at[3], tap[3], end[3], begin[3] = {0, 0, 0};
    if (sum == sum) return sum;
    split(column % taps, s.kernel, tap);
    split(area - 1, s.out, end);
    if (place<false>(s, begin, tap) >= 0 && place<false>(s, end, tap) >= 0) return sum;
    sum = 0;
    for (i64 p = 0; p < s.n * area; p++) {
        split(p % area, s.out, at);
        i64 e = place<false>(s, at, tap), image = p / area * s.groups + g;
        if (e >= 0) sum += up(x[(image * s.c + column / taps) * map + e]) * up(grad[(image * s.o + o) * area + p % area]);
    }
    return sum;
}
// [o, c and tap] summed over the positions of all images.
KERNEL(conv_weight_bwd, 256, (T *out, const T *x, const T *grad, Conv s)) {
    i64 taps = volume(s.kernel), map = volume(s.in), area = volume(s.out), columns = s.c * taps;
    i64 tiles = tiles_of(s.o), wide = tiles_of(columns);
    i64 o0 = blockIdx.x % tiles * TILE, k0 = blockIdx.x / tiles % wide * TILE, g = blockIdx.x / tiles / wide;
    i64 column = k0 + threadIdx.x % TILE, tap[3];
    bool live = column < columns;
    split(live ? column % taps : 0, s.kernel, tap);
    C sum[EACH][EACH];
    sums(sum, s.n * area,
        [&](int i, i64 p) {
            if (o0 + i >= s.o) return C(0);
            return up(grad[(p / area * s.groups * s.o + g * s.o + o0 + i) * area + p % area]);
        },
        [&](i64 p, int) {
            i64 at[3];
            split(p % area, s.out, at);
            i64 e = live ? place<false>(s, at, tap) : -1;
            return e < 0 ? C(0) : up(x[(p / area * s.groups * s.c + g * s.c + column / taps) * map + e]);
        });
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++) {
            i64 o = o0 + threadIdx.x / 16 * EACH + i, k = k0 + threadIdx.x % 16 * EACH + j;
            if (o < s.o && k < columns) out[(g * s.o + o) * columns + k] = down<T>(met(sum[i][j], x, grad, s, g, o, k));
        }
}

// ---- columns. Twin of cuda_columns: in is the map, out the grid of blocks; n counts the threads that have work.
struct Columns {
    i64 n, channels, groups, in[2], out[2], kernel[2], stride[2], pad[2], dilation[2];
};
INLINE i64 tap_at(const Columns &s, int a, i64 tap, i64 cell) { return cell * s.stride[a] + tap * s.dilation[a] - s.pad[a]; }
INLINE i64 thread_of() { return (i64)blockIdx.x * blockDim.x + threadIdx.x; }

KERNEL(unfold4d, 256, (T *out, const T *x, Columns s)) {
    i64 i = thread_of();
    if (i >= s.n) return;
    i64 area = s.out[0] * s.out[1], taps = s.kernel[0] * s.kernel[1], p = i % area, t = i / area % taps, map = i / area / taps;
    i64 h = tap_at(s, 0, t / s.kernel[1], p / s.out[1]), w = tap_at(s, 1, t % s.kernel[1], p % s.out[1]);
    bool inside = h >= 0 && h < s.in[0] && w >= 0 && w < s.in[1];
    out[i] = inside ? x[map * s.in[0] * s.in[1] + h * s.in[1] + w] : down<T>(C(0));
}

KERNEL(fold4d, 256, (T *out, const T *x, Columns s)) {
    i64 i = thread_of();
    if (i >= s.n) return;
    i64 area = s.out[0] * s.out[1], taps = s.kernel[0] * s.kernel[1], size = s.in[0] * s.in[1], e = i % size, map = i / size;
    C sum = 0;
    for (i64 t = 0; t < taps; t++) {
        i64 h = e / s.in[1] - tap_at(s, 0, t / s.kernel[1], 0), w = e % s.in[1] - tap_at(s, 1, t % s.kernel[1], 0);
        if (h < 0 || w < 0 || h % s.stride[0] || w % s.stride[1]) continue;
        h /= s.stride[0], w /= s.stride[1];
        if (h < s.out[0] && w < s.out[1]) sum += up(x[(map * taps + t) * area + h * s.out[1] + w]);
    }
    out[i] = down<T>(sum);
}

// Four corners around a sample, their weights, and the slopes of the weights; 0 outside of the map.
struct Corners { i64 at[4]; C w[4], dy[4], dx[4]; };
INLINE Corners corners(const Columns &s, const T *offset, i64 part, i64 t, i64 p) {
    Corners k;
    i64 area = s.out[0] * s.out[1], taps = s.kernel[0] * s.kernel[1];
    offset += (part * taps + t) * 2 * area + p;
    C y = C(tap_at(s, 0, t / s.kernel[1], p / s.out[1])) + up(offset[0]);
    C x = C(tap_at(s, 1, t % s.kernel[1], p % s.out[1])) + up(offset[area]);
    bool near = y > C(-1) && x > C(-1) && y < C(s.in[0]) && x < C(s.in[1]);
    i64 y0 = near ? i64(y + C(1)) - 1 : 0, x0 = near ? i64(x + C(1)) - 1 : 0;
    C b = near ? y - C(y0) : C(0), r = near ? x - C(x0) : C(0);
#pragma unroll
    for (int c = 0; c < 4; c++) {
        i64 h = y0 + c / 2, w = x0 + c % 2;
        bool inside = near && h >= 0 && h < s.in[0] && w >= 0 && w < s.in[1];
        C v = c / 2 ? b : C(1) - b, u = c % 2 ? r : C(1) - r;
        k.at[c] = inside ? h * s.in[1] + w : 0;
        k.w[c] = inside ? v * u : C(0);
        k.dy[c] = inside ? (c / 2 ? u : -u) : C(0);
        k.dx[c] = inside ? (c % 2 ? v : -v) : C(0);
    }
    return k;
}
INLINE C weighted(const T *map, const Corners &k, const C (&w)[4]) {
    C sum = 0;
#pragma unroll
    for (int c = 0; c < 4; c++)
        if (w[c] != C(0)) sum += w[c] * up(map[k.at[c]]);
    return sum;
}

KERNEL(deform, 256, (T *out, const T *x, const T *offset, const T *mask, Columns s)) {
    i64 i = thread_of();
    if (i >= s.n) return;
    i64 area = s.out[0] * s.out[1], taps = s.kernel[0] * s.kernel[1], p = i % area, t = i / area % taps, map = i / area / taps;
    i64 part = map / (s.channels / s.groups);
    Corners k = corners(s, offset, part, t, p);
    C m = mask ? up(mask[(part * taps + t) * area + p]) : C(1);
    out[i] = down<T>(weighted(x + map * s.in[0] * s.in[1], k, k.w) * m);
}

// A thread adds up a map in a fixed order, in scratch memory.
KERNEL(deform_x_bwd, 64, (T *out, const T *grad, const T *offset, const T *mask, C *wide_out, Columns s)) {
    i64 map = thread_of();
    if (map >= s.n) return;
    i64 area = s.out[0] * s.out[1], taps = s.kernel[0] * s.kernel[1], size = s.in[0] * s.in[1];
    i64 part = map / (s.channels / s.groups);
    C *sum = wide_out + map * size;
    for (i64 i = 0; i < size; i++) sum[i] = 0;
    for (i64 t = 0; t < taps; t++)
        for (i64 p = 0; p < area; p++) {
            Corners k = corners(s, offset, part, t, p);
            C v = up(grad[(map * taps + t) * area + p]) * (mask ? up(mask[(part * taps + t) * area + p]) : C(1));
            for (int c = 0; c < 4; c++)
                if (k.w[c] != C(0)) sum[k.at[c]] += v * k.w[c];
        }
    for (i64 i = 0; i < size; i++) out[map * size + i] = down<T>(sum[i]);
}

KERNEL(deform_offset_bwd, 256,
       (T *out, T *d_mask, const T *grad, const T *x, const T *offset, const T *mask, Columns s)) {
    i64 i = thread_of();
    if (i >= s.n) return;
    i64 area = s.out[0] * s.out[1], taps = s.kernel[0] * s.kernel[1], p = i % area, t = i / area % taps, part = i / area / taps;
    i64 channels = s.channels / s.groups;
    Corners k = corners(s, offset, part, t, p);
    C m = mask ? up(mask[i]) : C(1), value = 0, dy = 0, dx = 0;
    for (i64 c = part * channels; c < (part + 1) * channels; c++) {
        const T *map = x + c * s.in[0] * s.in[1];
        C g = up(grad[(c * taps + t) * area + p]);
        value += g * weighted(map, k, k.w);
        dy += g * weighted(map, k, k.dy);
        dx += g * weighted(map, k, k.dx);
    }
    out[(part * taps + t) * 2 * area + p] = down<T>(dy * m);
    out[((part * taps + t) * 2 + 1) * area + p] = down<T>(dx * m);
    if (d_mask) d_mask[i] = down<T>(value);
}
#endif
