// Kernels that move elements without looking at them: copies between any strides, fills, triangles, integer ranges. The
// launcher (burn/backend/cuda/launch_movement.h) orders and merges the axes and chooses the widest word that fits both sides.
#include "common.cuh"
#include "words.cuh"

OP(copy, ANY)
OP(fill, ANY)
OP(triangle, ANY)
OP(arange, INT)

#define PER_VECTOR (16 / SIZE)

// Axes of a copy, outermost first, fewer than 2^31 positions in all; steps in words. Division by shape[k] is a
// multiplication: position / shape = (mulhi(position, magic) + position) >> shift.
struct Axes {
    u32 n;
    i32 ndim;
    u32 shape[8], magic[8], shift[8];
    i64 x[8], y[8];
};

__device__ __forceinline__ void offsets(const Axes &axes, u32 at, i64 &from, i64 &to) {
    from = to = 0;
#pragma unroll
    for (int k = 7; k > 0; k--) {
        if (k >= axes.ndim) continue;
        u32 next = (__umulhi(at, axes.magic[k]) + at) >> axes.shift[k];
        i64 here = at - next * axes.shape[k];
        from += here * axes.x[k];
        to += here * axes.y[k];
        at = next;
    }
    from += at * axes.x[0];
    to += at * axes.y[0];
}

// A block takes 1024 neighbours of the output, a thread four of them: their loads are under way together.
template <class S> __device__ __forceinline__ void copy_words(S *y, const S *x, const Axes &axes) {
    u32 first = blockIdx.x * 1024 + threadIdx.x;
    S held[4];
    i64 to[4];
#pragma unroll
    for (int q = 0; q < 4; q++) {
        u32 at = first + q * 256;
        i64 from;
        if (at >= axes.n) continue;
        offsets(axes, at, from, to[q]);
        held[q] = x[from];
    }
#pragma unroll
    for (int q = 0; q < 4; q++)
        if (first + q * 256 < axes.n) y[to[q]] = held[q];
}
#define COPY_WORDS(bytes) \
    KERNEL(copy_words##bytes, 256, (word_of<bytes>::type *y, const word_of<bytes>::type *x, Axes axes)) { \
        copy_words(y, x, axes); \
    }
#if SIZE <= 1
COPY_WORDS(1)
#endif
#if SIZE <= 2
COPY_WORDS(2)
#endif
#if SIZE <= 4
COPY_WORDS(4)
#endif
COPY_WORDS(8)
COPY_WORDS(16)

// One run of n elements; both sides lie alike within 16 bytes, and `head` elements come before the first vector.
KERNEL(copy_flat, 256, (E *y, const E *x, i64 n, i32 head)) {
    typedef word_of<16>::type V;
    i64 vectors = (n - head) / PER_VECTOR, first = (i64)blockIdx.x * 1024 + threadIdx.x;
    const V *from = (const V *)(x + head);
    V *to = (V *)(y + head);
    V held[4];
#pragma unroll
    for (int q = 0; q < 4; q++)
        if (first + q * 256 < vectors) held[q] = from[first + q * 256];
#pragma unroll
    for (int q = 0; q < 4; q++)
        if (first + q * 256 < vectors) to[first + q * 256] = held[q];
    if (blockIdx.x) return;
    for (i64 i = threadIdx.x; i < head; i += 256) y[i] = x[i];
    for (i64 i = head + vectors * PER_VECTOR + threadIdx.x; i < n; i += 256) y[i] = x[i];
}

// Planes of rows x cols where neighbours of x lie along the rows and neighbours of y along the columns: tiles go through
// shared memory, so that both sides move whole lines. The padding keeps the banks apart in both directions.
struct Plane {
    i64 rows, cols, x_col, y_row;
    i64 row_tiles, col_tiles;
    i32 ndim, unused;
    i64 shape[6], x[6], y[6];
};
#define TILE 64
#define PAD (SIZE >= 4 ? 1 : 4 / SIZE)
KERNEL(copy_tiles, 256, (E *y, const E *x, Plane plane)) {
    __shared__ E tile[TILE][TILE + PAD];
    i64 block = blockIdx.x, number = block / plane.row_tiles;
    i64 row0 = (block - number * plane.row_tiles) * TILE, rest = number / plane.col_tiles;
    i64 col0 = (number - rest * plane.col_tiles) * TILE;
    for (int k = plane.ndim - 1; k >= 0; k--) {
        i64 next = rest / plane.shape[k], here = rest - next * plane.shape[k];
        x += here * plane.x[k];
        y += here * plane.y[k];
        rest = next;
    }
    int lane = threadIdx.x % TILE, line = threadIdx.x / TILE;
    x += row0 + col0 * plane.x_col;
    y += row0 * plane.y_row + col0;
    int rows = (int)(plane.rows - row0 < TILE ? plane.rows - row0 : TILE);
    int cols = (int)(plane.cols - col0 < TILE ? plane.cols - col0 : TILE);
    E held[TILE / 4];
#pragma unroll
    for (int q = 0; q < TILE / 4; q++)
        if (lane < rows && line + q * 4 < cols) held[q] = x[lane + (line + q * 4) * plane.x_col];
#pragma unroll
    for (int q = 0; q < TILE / 4; q++)
        if (lane < rows && line + q * 4 < cols) tile[line + q * 4][lane] = held[q];
    __syncthreads();
#pragma unroll
    for (int q = 0; q < TILE / 4; q++)
        if (lane < cols && line + q * 4 < rows) y[lane + (line + q * 4) * plane.y_row] = tile[lane][line + q * 4];
}

// ---- one value everywhere; copy takes single values too, and a kernel is found by the name of its op
#define VALUES(op) \
    KERNEL(op##_value_flat, 256, (E *y, In<E> x, i64 n, i32 head)) { value_flat(y, x, n, head); } \
    KERNEL(op##_value_words, 256, (E *y, In<E> x, Axes axes)) { value_words(y, x, axes); }

__device__ __forceinline__ void value_flat(E *y, const In<E> &x, i64 n, i32 head) {
    typedef vec<E, PER_VECTOR> V;
    E value = x.p ? *x.p : x.v;
    i64 vectors = (n - head) / PER_VECTOR, first = (i64)blockIdx.x * 1024 + threadIdx.x;
    V *to = (V *)(y + head), all;
#pragma unroll
    for (int k = 0; k < PER_VECTOR; k++) all.v[k] = value;
#pragma unroll
    for (int q = 0; q < 4; q++)
        if (first + q * 256 < vectors) to[first + q * 256] = all;
    if (blockIdx.x) return;
    for (i64 i = threadIdx.x; i < head; i += 256) y[i] = value;
    for (i64 i = head + vectors * PER_VECTOR + threadIdx.x; i < n; i += 256) y[i] = value;
}
__device__ __forceinline__ void value_words(E *y, const In<E> &x, const Axes &axes) {
    E value = x.p ? *x.p : x.v;
    u32 first = blockIdx.x * 1024 + threadIdx.x;
    for (int q = 0; q < 4; q++) {
        i64 from, to;
        if (first + q * 256 >= axes.n) return;
        offsets(axes, first + q * 256, from, to);
        y[to] = value;
    }
}
VALUES(copy)
VALUES(fill)

// ---- the upper or lower triangle of each matrix, zeros elsewhere. A warp-wide or wider team of `team` threads takes a
// row, or a part of it where blocks are stacked in y; what becomes 0 is not read.
KERNEL(triangle, 256, (E *out, const E *x, i64 rows, i64 cols, i64 diagonal, i64 lines, i32 team, i32 upper)) {
    i64 line = (i64)blockIdx.x * (256 / team) + threadIdx.x / team;
    if (line >= lines) return;
    i64 cut = line % rows + diagonal + !upper; // columns before it belong to the lower triangle
    i64 step = (i64)gridDim.y * team * 4;
    out += line * cols;
    x += line * cols;
    for (i64 first = (i64)blockIdx.y * team * 4 + threadIdx.x % team; first < cols; first += step) {
        E held[4];
#pragma unroll
        for (int q = 0; q < 4; q++) {
            i64 col = first + q * team;
            held[q] = 0;
            if (col < cols && (col >= cut) == (upper != 0)) held[q] = x[col];
        }
#pragma unroll
        for (int q = 0; q < 4; q++)
            if (first + q * team < cols) out[first + q * team] = held[q];
    }
}

// ---- start, start + step, ... modulo the width
#if IS_INT
KERNEL(arange, 256, (E *out, i64 n, i64 start, i64 step)) {
    i64 vectors = n / PER_VECTOR, at = (i64)blockIdx.x * 256 + threadIdx.x;
    vec<E, PER_VECTOR> some;
#pragma unroll
    for (int k = 0; k < PER_VECTOR; k++) some.v[k] = (E)((u64)start + (u64)(at * PER_VECTOR + k) * (u64)step);
    if (at < vectors) {
        ((vec<E, PER_VECTOR> *)out)[at] = some;
    } else if (at == vectors) {
#pragma unroll
        for (int k = 0; k < PER_VECTOR; k++)
            if (vectors * PER_VECTOR + k < n) out[vectors * PER_VECTOR + k] = some.v[k];
    }
}
#endif
