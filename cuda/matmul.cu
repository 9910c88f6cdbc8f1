// Matrix products of any strides: of integers, and of floats where the library (burn/backend/cuda/blas.h) takes none.
// Launched with 256 threads and tiles(m) * tiles(n) * batch blocks in x, tiles(i) = (i + 63) / 64.
#include "common.cuh"

OP(matmul, PRODUCT)

// The twin of matmul_dims in burn/_core/matmul_fold.h.
struct Dims {
    i64 m, n, k, rsa, csa, rsb, csb, batch;
    i64 shape[8], sa[8], sb[8];
    i32 axes;
};

#define TILE 64 // rows and columns of out a block
#define DEPTH 16

#if !IS_BOOL
#if IS_FLOAT
typedef C Sum;
#else
// Modulo the width: unsigned, since signed numbers must not overflow.
template <bool WIDE> struct sum_of { typedef u32 type; };
template <> struct sum_of<true> { typedef u64 type; };
typedef sum_of<(sizeof(T) == 8)>::type Sum;
#endif

// The element of a tile that thread t fetches in round q: neighbours in memory by neighbouring threads.
__device__ __forceinline__ void place(int e, bool along_k, int &i, int &kk) {
    i = along_k ? e / DEPTH : e % TILE;
    kk = along_k ? e % DEPTH : e / TILE;
}

// out[i, j] = sum of a[i, :] b[:, j] (+ bias[j]) (ReLU where act is 1), for each product of the batch
KERNEL(matmul, 256, (T *out, const T *a, const T *b, const T *bias, i64 bias_stride, Dims dims, i32 act)) {
    __shared__ Sum left[DEPTH][TILE + 4], right[DEPTH][TILE + 4];
    i64 down_tiles = (dims.m + TILE - 1) / TILE, across_tiles = (dims.n + TILE - 1) / TILE;
    i64 number = blockIdx.x / across_tiles, j0 = (blockIdx.x - number * across_tiles) * TILE;
    i64 product = number / down_tiles, i0 = (number - product * down_tiles) * TILE, rest = product;
    for (int axis = dims.axes - 1; axis >= 0; axis--) {
        i64 next = rest / dims.shape[axis], here = rest - next * dims.shape[axis];
        a += here * dims.sa[axis];
        b += here * dims.sb[axis];
        rest = next;
    }
    out += product * dims.m * dims.n;
    bool a_along_k = dims.csa == 1, b_along_k = dims.csb != 1;
    int row = threadIdx.x / 16, col = threadIdx.x % 16;
    Sum sum[4][4];
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int c = 0; c < 4; c++) sum[r][c] = 0;
    for (i64 k0 = 0; k0 < dims.k; k0 += DEPTH) {
#pragma unroll
        for (int q = 0; q < TILE * DEPTH / 256; q++) {
            int i, kk;
            place(threadIdx.x + q * 256, a_along_k, i, kk);
            left[kk][i] = i0 + i < dims.m && k0 + kk < dims.k ? (Sum)up(a[(i0 + i) * dims.rsa + (k0 + kk) * dims.csa]) : 0;
            place(threadIdx.x + q * 256, b_along_k, i, kk);
            right[kk][i] = j0 + i < dims.n && k0 + kk < dims.k ? (Sum)up(b[(k0 + kk) * dims.rsb + (j0 + i) * dims.csb]) : 0;
        }
        __syncthreads();
#pragma unroll 4
        for (int kk = 0; kk < DEPTH; kk++) {
            Sum x[4], y[4];
#pragma unroll
            for (int r = 0; r < 4; r++) x[r] = left[kk][row * 4 + r], y[r] = right[kk][col + r * 16];
#pragma unroll
            for (int r = 0; r < 4; r++)
#pragma unroll
                for (int c = 0; c < 4; c++) sum[r][c] += x[r] * y[c];
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 4; r++) {
#pragma unroll
        for (int c = 0; c < 4; c++) {
            i64 i = i0 + row * 4 + r, j = j0 + col + c * 16;
            if (i >= dims.m || j >= dims.n) continue;
            Sum v = sum[r][c];
            if (bias) v += (Sum)up(bias[j * bias_stride]);
#if IS_FLOAT
            if (act == 1 && v < 0) v = 0; // NaN stays
            out[i * dims.n + j] = down<T>(v);
#else
            if (act == 1 && (T)v < (T)1) v = 0;
            out[i * dims.n + j] = (T)v;
#endif
        }
    }
}

#if IS_FLOAT
// What a product without epilogue lacks: out[i, j] + bias[j], ReLU where act is 1.
KERNEL(matmul_finish, 256, (T *out, const T *bias, i64 bias_stride, i64 m, i64 n, i32 act)) {
    i64 count = m * n, step = (i64)gridDim.x * 256;
    for (i64 at = (i64)blockIdx.x * 256 + threadIdx.x; at < count; at += step) {
        C v = up(out[at]);
        if (bias) v += up(bias[at % n * bias_stride]);
        if (act == 1 && v < 0) v = 0;
        out[at] = down<T>(v);
    }
}
#endif
#endif
