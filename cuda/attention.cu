// Attention without the matrix of scores. A block of 256 threads has 32 queries and meets 32 keys at a time; a thread has one
// query and four keys, 8 apart. Scores are computed where they are needed: for the sums of exponentials,
// for the result, for the gradients of queries and for those of keys and values; 64 columns of a result are a block's.
#include "common.cuh"

OP(attention, FLOAT)
OP(attention_bwd, FLOAT)

#if IS_FLOAT
#define INLINE __device__ __forceinline__
#if DTYPE == DT_F64
#define FN(fn) fn
#else
#define FN(fn) fn##f
#endif
#define SIDE 32 // queries and keys of a tile
#define WIDE 64 // columns of a result that a block has
#define EACH (WIDE / 8)

// The C twin is in burn/backend/cuda/launch_attention.h. Strides are in elements: batch, head, row, column.
struct Shape {
    i64 q[4], k[4], v[4], mask[4], bias[4], y[4], g[4];
    i64 heads, kv_heads, queries, keys, d, width, rows;
    double scale, softcap;
    i32 causal, unused;
};
// Of a query: the largest score, and one over the sum of exponentials, 0 where it sees nothing; `rows` queries lie between them.
struct Total { C most, share; };
INLINE Total total_of(const C *totals, const Shape &shape, i64 row, bool inside) {
    if (inside) return {totals[row], totals[shape.rows + row]};
    return {C(0), C(0)};
}
struct Tile { C a[SIDE][SIDE + 1], b[SIDE][SIDE + 1]; };
struct Panel { C p[SIDE][SIDE + 1], v[SIDE][WIDE + 1]; };

// What a block has: a piece of the result of a row, which is a head of a batch.
struct Place { i64 row, piece; };
INLINE Place place_of(i64 n, i64 columns) {
    i64 pieces = (n + SIDE - 1) / SIDE * ((columns + WIDE - 1) / WIDE);
    return {blockIdx.x / pieces, blockIdx.x % pieces};
}
// s[i] += products of a query and of the keys threadIdx % 8 + 8 i, over n columns
INLINE void products(Tile &t, C (&s)[4], const T *a, i64 rs, i64 cs, i64 rows, const T *b, i64 rs2, i64 cs2, i64 rows2, i64 n) {
    int row = threadIdx.x / 8, column = threadIdx.x % 8;
    for (i64 at = 0; at < n; at += SIDE) {
        __syncthreads();
        for (int e = threadIdx.x; e < SIDE * SIDE; e += 256) {
            i64 r = e / SIDE, c = e % SIDE;
            t.a[r][c] = r < rows && at + c < n ? up(a[r * rs + (at + c) * cs]) : C(0);
            t.b[r][c] = r < rows2 && at + c < n ? up(b[r * rs2 + (at + c) * cs2]) : C(0);
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < SIDE; c++)
#pragma unroll
            for (int i = 0; i < 4; i++) s[i] += t.a[row][c] * t.b[column + 8 * i][c];
    }
}
// Scores of a tile; slope: of the cap. What is not there or not seen is -inf.
INLINE void scores(Tile &t, C (&s)[4], C (&slope)[4], const T *q, const T *k, const u8 *mask, const T *bias, const Shape &shape,
                   i64 b, i64 h, i64 q0, i64 k0) {
    int row = threadIdx.x / 8, column = threadIdx.x % 8;
    i64 kv = h / (shape.heads / shape.kv_heads), query = q0 + row;
#pragma unroll
    for (int i = 0; i < 4; i++) s[i] = 0;
    products(t, s, q + b * shape.q[0] + h * shape.q[1] + q0 * shape.q[2], shape.q[2], shape.q[3], shape.queries - q0,
             k + b * shape.k[0] + kv * shape.k[1] + k0 * shape.k[2], shape.k[2], shape.k[3], shape.keys - k0, shape.d);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        i64 key = k0 + column + 8 * i;
        C v = s[i] * (C)shape.scale;
        slope[i] = 1;
        if (shape.softcap > 0) {
            C u = FN(tanh)(v / (C)shape.softcap);
            v = u * (C)shape.softcap;
            slope[i] = C(1) - u * u;
        }
        bool inside = query < shape.queries && key < shape.keys;
        if (!inside || (shape.causal && key > query + shape.keys - shape.queries)) v = C(-INFINITY);
        if (inside && mask && mask[b * shape.mask[0] + h * shape.mask[1] + query * shape.mask[2] + key * shape.mask[3]])
            v = C(-INFINITY);
        if (inside && bias) v += up(bias[b * shape.bias[0] + h * shape.bias[1] + query * shape.bias[2] + key * shape.bias[3]]);
        s[i] = v;
    }
}
// acc[i] of row threadIdx / 8 and column threadIdx % 8 + 8 i += p @ x, or with `turned` p^T @ x; x: rows from `first`
INLINE void gather(Panel &t, C (&acc)[EACH], const C (&p)[4], const T *x, i64 rs, i64 cs, i64 rows, i64 first, i64 columns,
                   bool turned) {
    int row = threadIdx.x / 8, column = threadIdx.x % 8;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (turned) t.p[column + 8 * i][row] = p[i];
        else t.p[row][column + 8 * i] = p[i];
    }
    for (int e = threadIdx.x; e < SIDE * WIDE; e += 256) {
        i64 r = e / WIDE, c = first + e % WIDE;
        t.v[r][e % WIDE] = r < rows && c < columns ? up(x[r * rs + c * cs]) : C(0);
    }
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < SIDE; k++)
#pragma unroll
        for (int i = 0; i < EACH; i++) acc[i] += t.p[row][k] * t.v[k][column + 8 * i];
}
INLINE void put(T *out, const C (&acc)[EACH], C factor, i64 rows, i64 first, i64 columns) { // out: row 0
    int row = threadIdx.x / 8, column = threadIdx.x % 8;
    if (row >= rows) return;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        i64 c = first + column + 8 * i;
        if (c < columns) out[row * columns + c] = down<T>(acc[i] * factor);
    }
}
INLINE C larger(C a, C b) { return a > b ? a : b; } // a NaN may be dropped: the sum finds it
// Keys of the tiles that the queries from q0 see.
INLINE i64 seen(const Shape &shape, i64 q0) {
    i64 n = q0 + SIDE + shape.keys - shape.queries;
    return !shape.causal || n > shape.keys ? shape.keys : n;
}

KERNEL(attention_totals, 256, (C *totals, const T *q, const T *k, const u8 *mask, const T *bias, Shape shape)) {
    __shared__ Tile tile;
    Place at = place_of(shape.queries, 1);
    i64 b = at.row / shape.heads, h = at.row % shape.heads, q0 = at.piece * SIDE, query = q0 + threadIdx.x / 8;
    C most = C(-INFINITY), sum = 0, s[4], slope[4];
    for (i64 k0 = 0; k0 < seen(shape, q0); k0 += SIDE) {
        scores(tile, s, slope, q, k, mask, bias, shape, b, h, q0, k0);
        C top = most, more = 0;
#pragma unroll
        for (int i = 0; i < 4; i++) top = larger(top, s[i]);
        for (int o = 1; o < 8; o *= 2) top = larger(top, __shfl_xor_sync(0xffffffffu, top, o));
        C base = top == C(-INFINITY) ? C(0) : top;
#pragma unroll
        for (int i = 0; i < 4; i++) more += FN(exp)(s[i] - base);
        for (int o = 1; o < 8; o *= 2) more += __shfl_xor_sync(0xffffffffu, more, o);
        sum = sum * FN(exp)(most - base) + more;
        most = top;
    }
    if (threadIdx.x % 8 == 0 && query < shape.queries) {
        C *found = totals + at.row * shape.queries + query;
        found[0] = most == C(-INFINITY) ? C(0) : most;
        found[shape.rows] = sum == 0 ? C(0) : C(1) / sum;
    }
}
KERNEL(attention_out, 256, (T *out, const T *q, const T *k, const T *v, const u8 *mask, const T *bias, const C *totals,
                            Shape shape)) {
    __shared__ Tile tile;
    __shared__ Panel panel;
    Place at = place_of(shape.queries, shape.width);
    i64 pieces = (shape.width + WIDE - 1) / WIDE, first = at.piece % pieces * WIDE, q0 = at.piece / pieces * SIDE;
    i64 b = at.row / shape.heads, h = at.row % shape.heads, kv = h / (shape.heads / shape.kv_heads);
    i64 query = q0 + threadIdx.x / 8;
    Total total = total_of(totals, shape, at.row * shape.queries + query, query < shape.queries);
    C acc[EACH] = {0}, s[4], slope[4];
    for (i64 k0 = 0; k0 < seen(shape, q0); k0 += SIDE) {
        scores(tile, s, slope, q, k, mask, bias, shape, b, h, q0, k0);
#pragma unroll
        for (int i = 0; i < 4; i++) s[i] = FN(exp)(s[i] - total.most);
        gather(panel, acc, s, v + b * shape.v[0] + kv * shape.v[1] + k0 * shape.v[2], shape.v[2], shape.v[3], shape.keys - k0,
               first, shape.width, false);
    }
    put(out + (at.row * shape.queries + q0) * shape.width, acc, total.share, shape.queries - q0, first, shape.width);
}

// Sum of g * y of each query: a warp has one.
KERNEL(attention_bwd_own, 256, (C *own, const T *y, const T *g, i64 rows, Shape shape)) {
    i64 r = ((i64)blockIdx.x * 256 + threadIdx.x) / 32, i = r % shape.queries, h = r / shape.queries % shape.heads;
    i64 b = r / shape.queries / shape.heads;
    C sum = 0;
    for (i64 c = threadIdx.x % 32; r < rows && c < shape.width; c += 32)
        sum += up(y[b * shape.y[0] + h * shape.y[1] + i * shape.y[2] + c * shape.y[3]]) *
               up(g[b * shape.g[0] + h * shape.g[1] + i * shape.g[2] + c * shape.g[3]]);
    for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);
    if (threadIdx.x % 32 == 0 && r < rows) own[r] = sum;
}
// p: probabilities; s: gradients of the scores, of what they were before the cap with `capped`
INLINE void slopes(Tile &t, C (&p)[4], C (&s)[4], C (&capped)[4], const T *q, const T *k, const T *v, const u8 *mask,
                   const T *bias, const C *totals, const T *g, const C *own, const Shape &shape, i64 b, i64 h, i64 q0, i64 k0) {
    C slope[4];
    i64 kv = h / (shape.heads / shape.kv_heads), query = q0 + threadIdx.x / 8, at = (b * shape.heads + h) * shape.queries + query;
    bool inside = query < shape.queries;
    scores(t, p, slope, q, k, mask, bias, shape, b, h, q0, k0);
#pragma unroll
    for (int i = 0; i < 4; i++) s[i] = 0;
    products(t, s, g + b * shape.g[0] + h * shape.g[1] + q0 * shape.g[2], shape.g[2], shape.g[3], shape.queries - q0,
             v + b * shape.v[0] + kv * shape.v[1] + k0 * shape.v[2], shape.v[2], shape.v[3], shape.keys - k0, shape.width);
    Total total = total_of(totals, shape, at, inside);
    C o = inside ? own[at] : C(0);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        p[i] = FN(exp)(p[i] - total.most) * total.share;
        s[i] = p[i] * (s[i] - o);
        capped[i] = s[i] * slope[i];
    }
}
KERNEL(attention_bwd_queries, 256, (T *dq, T *dbias, const T *q, const T *k, const T *v, const u8 *mask, const T *bias,
                                    const C *totals, const T *g, const C *own, Shape shape)) {
    __shared__ Tile tile;
    __shared__ Panel panel;
    i64 columns = shape.d > 0 ? shape.d : 1, pieces = (columns + WIDE - 1) / WIDE; // without one there is the bias still
    Place at = place_of(shape.queries, columns);
    i64 first = at.piece % pieces * WIDE, q0 = at.piece / pieces * SIDE;
    i64 b = at.row / shape.heads, h = at.row % shape.heads, kv = h / (shape.heads / shape.kv_heads);
    i64 query = q0 + threadIdx.x / 8;
    C acc[EACH] = {0}, p[4], s[4], capped[4];
    for (i64 k0 = 0; k0 < (dbias ? shape.keys : seen(shape, q0)); k0 += SIDE) {
        slopes(tile, p, s, capped, q, k, v, mask, bias, totals, g, own, shape, b, h, q0, k0);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            i64 key = k0 + threadIdx.x % 8 + 8 * i;
            if (dbias && first == 0 && query < shape.queries && key < shape.keys)
                dbias[(at.row * shape.queries + query) * shape.keys + key] = down<T>(s[i]);
        }
        gather(panel, acc, capped, k + b * shape.k[0] + kv * shape.k[1] + k0 * shape.k[2], shape.k[2], shape.k[3],
               shape.keys - k0, first, shape.d, false);
    }
    put(dq + (at.row * shape.queries + q0) * shape.d, acc, (C)shape.scale, shape.queries - q0, first, shape.d);
}
KERNEL(attention_bwd_keys, 256, (T *dk, T *dv, const T *q, const T *k, const T *v, const u8 *mask, const T *bias, const C *totals,
                                 const T *g, const C *own, Shape shape)) {
    __shared__ Tile tile;
    __shared__ Panel panel;
    i64 widest = shape.d > shape.width ? shape.d : shape.width, pieces = (widest + WIDE - 1) / WIDE;
    Place at = place_of(shape.keys, widest);
    i64 first = at.piece % pieces * WIDE, k0 = at.piece / pieces * SIDE, group = shape.heads / shape.kv_heads;
    i64 b = at.row / shape.kv_heads, kv = at.row % shape.kv_heads;
    C keys[EACH] = {0}, values[EACH] = {0}, p[4], s[4], capped[4];
    for (i64 h = kv * group; h < (kv + 1) * group; h++)
        for (i64 q0 = 0; q0 < shape.queries; q0 += SIDE) {
            if (seen(shape, q0) <= k0) continue;
            slopes(tile, p, s, capped, q, k, v, mask, bias, totals, g, own, shape, b, h, q0, k0);
            gather(panel, keys, capped, q + b * shape.q[0] + h * shape.q[1] + q0 * shape.q[2], shape.q[2], shape.q[3],
                   shape.queries - q0, first, shape.d, true);
            gather(panel, values, p, g + b * shape.g[0] + h * shape.g[1] + q0 * shape.g[2], shape.g[2], shape.g[3],
                   shape.queries - q0, first, shape.width, true);
        }
    put(dk + (at.row * shape.keys + k0) * shape.d, keys, (C)shape.scale, shape.keys - k0, first, shape.d);
    put(dv + (at.row * shape.keys + k0) * shape.width, values, C(1), shape.keys - k0, first, shape.width);
}
#endif
