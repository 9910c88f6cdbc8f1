// Kernels that read and write through index tensors, on the middle axis of [outer, n, inner]. Indices are i32 or i64
// (`wide`). What only reads checks as it goes; what writes runs `check` first and does nothing if that found one wrong.
#include "common.cuh"
#include "words.cuh"

OP(gather, ANY)
OP(select, ANY)
OP(scatter, ANY)
OP(select_assign, ANY)
OP(one_hot, NUMERIC)
OP(mask_counts, BOOL)
OP(mask_places, BOOL)


__device__ __forceinline__ i64 index_at(const void *idx, i32 wide, i64 i) {
    return wide ? ((const i64 *)idx)[i] : ((const i32 *)idx)[i];
}
// at = (o * k + j) * inner + c; in 32 bits where they hold all positions, as division is long
__device__ __forceinline__ void split(i64 at, i64 count, i64 k, i64 inner, i64 &o, i64 &j, i64 &c) {
    if (count <= 0x7fffffff) {
        u32 row = (u32)at / (u32)inner, block = row / (u32)k;
        c = (u32)at - row * (u32)inner;
        j = row - block * (u32)k;
        o = block;
    } else {
        i64 row = at / inner;
        c = at - row * inner;
        o = row / k;
        j = row - o * k;
    }
}
#define INSIDE(at, n) ((u64)(at) < (u64)(n))
#define EACH 4 // positions a thread, 256 apart

// ---- gather: out[o, j, c] = x[o, idx[o, j, c], c]
KERNEL(gather, 256, (E *out, const E *x, const void *idx, i64 outer, i64 n, i64 inner, i64 k, i32 wide, Error *err, i64 ticket)) {
    i64 count = outer * k * inner, first = (i64)blockIdx.x * (256 * EACH) + threadIdx.x, at[EACH];
    E held[EACH];
#pragma unroll
    for (int q = 0; q < EACH; q++) at[q] = first + q * 256 < count ? index_at(idx, wide, first + q * 256) : 0;
#pragma unroll
    for (int q = 0; q < EACH; q++) {
        i64 o, j, c;
        if (first + q * 256 >= count || !INSIDE(at[q], n)) continue;
        split(first + q * 256, count, k, inner, o, j, c);
        held[q] = x[(o * n + at[q]) * inner + c];
    }
#pragma unroll
    for (int q = 0; q < EACH; q++) {
        if (first + q * 256 >= count) continue;
        bool inside = INSIDE(at[q], n);
        out[first + q * 256] = inside ? held[q] : E();
        if (!inside) report(err, ticket, ERR_INDEX, first + q * 256, at[q], n);
    }
}

// ---- select: out[o, j, :] = x[o, idx[j], :], in words of up to 16 bytes; inner counts words here
template <class S>
__device__ __forceinline__ void select(S *out, const S *x, const void *idx, i64 outer, i64 n, i64 inner, i64 k, i32 wide,
                                       Error *err, i64 ticket) {
    i64 count = outer * k * inner, first = (i64)blockIdx.x * (256 * EACH) + threadIdx.x, from[EACH];
    S held[EACH];
    bool wrong = false;
#pragma unroll
    for (int q = 0; q < EACH; q++) {
        i64 o, j, c, at;
        from[q] = -1;
        if (first + q * 256 >= count) continue;
        split(first + q * 256, count, k, inner, o, j, c);
        at = index_at(idx, wide, j);
        if (INSIDE(at, n)) from[q] = (o * n + at) * inner + c;
        else wrong = true;
    }
#pragma unroll
    for (int q = 0; q < EACH; q++)
        if (from[q] >= 0) held[q] = x[from[q]];
#pragma unroll
    for (int q = 0; q < EACH; q++)
        if (first + q * 256 < count) out[first + q * 256] = from[q] >= 0 ? held[q] : S();
    if (!wrong) return;
#pragma unroll 1
    for (int q = 0; q < EACH && first + q * 256 < count; q++) {
        i64 j = (first + q * 256) / inner % k, at = index_at(idx, wide, j);
        if (!INSIDE(at, n)) report(err, ticket, ERR_INDEX, j, at, n);
    }
}
#define SELECT(bytes) \
    KERNEL(select_words##bytes, 256, \
           (word_of<bytes>::type *out, const word_of<bytes>::type *x, const void *idx, i64 outer, i64 n, i64 inner, i64 k, \
            i32 wide, Error *err, i64 ticket)) { \
        select(out, x, idx, outer, n, inner, k, wide, err, ticket); \
    }
#if SIZE <= 1
SELECT(1)
#endif
#if SIZE <= 2
SELECT(2)
#endif
#if SIZE <= 4
SELECT(4)
#endif
SELECT(8)
SELECT(16)

// ---- writing: out, which holds values already, takes in values[o, j, c] at (o, idx, c), with idx[o, j, c] or, for
// select_assign (shared), idx[j]
enum { ASSIGN, ADD, MUL, MIN, MAX };

__device__ __forceinline__ C combine(C a, C v, i32 mode) {
    switch (mode) {
    case ASSIGN: return v;
#if IS_FLOAT
    case ADD: return a + v;
    case MUL: return a * v;
    case MIN: return a <= v || a != a ? a : v; // NaN of either wins
    default: return a >= v || a != a ? a : v;
#else
    case ADD: return (C)((u64)a + (u64)v); // modulo the width
    case MUL: return (C)((u64)a * (u64)v);
    case MIN: return a <= v ? a : v;
    default: return a >= v ? a : v;
#endif
    }
}

// One value into *to while other threads do the same. Half floats are rounded at each step, sums of floats depend on the
// order in which the threads come. (The hardware's own f32 sum takes subnormal numbers for 0.)
#if SIZE >= 4
typedef word_of<SIZE>::type Word;
union Bits {
    T value;
    Word word;
};
__device__ __forceinline__ void combine_atomic(T *to, T v, i32 mode) {
#if !IS_BOOL
    if (mode == ADD) {
#if IS_FLOAT
        atomicAdd(to, v);
#else
        atomicAdd((Word *)to, (Word)v);
#endif
        return;
    }
#endif
#if !IS_FLOAT
    if (mode == MIN) {
        atomicMin(to, v);
        return;
    }
    if (mode == MAX) {
        atomicMax(to, v);
        return;
    }
#endif
    Bits seen, next;
    seen.value = *(volatile T *)to;
    for (;;) {
        next.value = combine(seen.value, v, mode);
        Word found = atomicCAS((Word *)to, seen.word, next.word);
        if (found == seen.word) return;
        seen.word = found;
    }
}
#else
// The word of 32 bits around *to; memory blocks are multiples of it.
__device__ __forceinline__ void combine_atomic(T *to, T v, i32 mode) {
    u32 *word = (u32 *)((u64)to & ~(u64)3), shift = (u32)((u64)to & 3) * 8, mask = (SIZE == 1 ? 0xffu : 0xffffu) << shift;
    u32 seen = *(volatile u32 *)word;
    union {
        T value;
        E bits;
    } it;
    for (;;) {
        it.bits = (E)(seen >> shift);
        it.value = down<T>(combine(up(it.value), up(v), mode));
        u32 found = atomicCAS(word, seen, (seen & ~mask) | (u32)it.bits << shift);
        if (found == seen) return;
        seen = found;
    }
}
#endif

// All indices are looked at first. Where `winner` is given, the cells that will be written to get a -1 there: one cell an
// element of out, or for shared ones an index of the axis.
template <bool SHARED>
__device__ __forceinline__ void check(i32 *winner, const void *idx, i64 outer, i64 n, i64 inner, i64 k, i32 wide, Error *err,
                                      i64 ticket) {
    i64 count = SHARED ? k : outer * k * inner, first = (i64)blockIdx.x * (256 * EACH) + threadIdx.x;
    for (int q = 0; q < EACH; q++) {
        i64 i = first + q * 256, o, j, c, at;
        if (i >= count) return;
        at = index_at(idx, wide, i);
        if (!INSIDE(at, n)) {
            report(err, ticket, ERR_INDEX, i, at, n);
        } else if (winner) {
            if (SHARED) {
                winner[at] = -1;
            } else {
                split(i, count, k, inner, o, j, c);
                winner[(o * n + at) * inner + c] = -1;
            }
        }
    }
}

// For short k: of the positions that write to one cell, the first takes in the values of all, in order. One rounding, as
// on the CPU, and the last assignment wins.
template <bool SHARED>
__device__ __forceinline__ void ordered(T *out, const T *values, const void *idx, i64 outer, i64 n, i64 inner, i64 k, i32 wide,
                                        i32 mode, const Error *err, i64 ticket) {
    i64 count = outer * k * inner, i = (i64)blockIdx.x * 256 + threadIdx.x, o, j, c;
    if (i >= count || failed(err, ticket)) return;
    split(i, count, k, inner, o, j, c);
    i64 row = SHARED ? 1 : inner, base = SHARED ? 0 : o * k * inner + c, at = index_at(idx, wide, base + j * row);
    bool before = false;
#pragma unroll 8
    for (i64 p = 0; p < j; p++) before |= index_at(idx, wide, base + p * row) == at;
    if (before) return;
    T *to = out + (o * n + at) * inner + c;
    C sum = combine(up(*to), up(values[i]), mode);
    for (i64 p = j + 1; p < k; p += 8) {
        u32 same = 0; // eight loads at once
#pragma unroll
        for (int q = 0; q < 8; q++)
            if (p + q < k && index_at(idx, wide, base + (p + q) * row) == at) same |= 1u << q;
        for (int q = 0; same; q++, same >>= 1)
            if (same & 1) sum = combine(sum, up(values[(o * k + p + q) * inner + c]), mode);
    }
    *to = down<T>(sum);
}

// Assignment: the highest position wins. claim finds it, write obeys; without `winner` all positions write (k is 1).
template <bool SHARED>
__device__ __forceinline__ void claim(i32 *winner, const void *idx, i64 outer, i64 n, i64 inner, i64 k, i32 wide,
                                      const Error *err, i64 ticket) {
    i64 count = SHARED ? k : outer * k * inner, i = (i64)blockIdx.x * 256 + threadIdx.x, o, j, c;
    if (i >= count || failed(err, ticket)) return;
    i64 at = index_at(idx, wide, i);
    if (SHARED) {
        atomicMax(winner + at, (i32)i);
    } else {
        split(i, count, k, inner, o, j, c);
        atomicMax(winner + (o * n + at) * inner + c, (i32)j);
    }
}
template <bool SHARED>
__device__ __forceinline__ void write(T *out, const T *values, const void *idx, i64 outer, i64 n, i64 inner, i64 k,
                                      const i32 *winner, i32 wide, i32 mode, const Error *err, i64 ticket) {
    i64 count = outer * k * inner, first = (i64)blockIdx.x * (256 * EACH) + threadIdx.x;
    if (failed(err, ticket)) return;
    for (int q = 0; q < EACH; q++) {
        i64 i = first + q * 256, o, j, c;
        if (i >= count) return;
        split(i, count, k, inner, o, j, c);
        i64 at = index_at(idx, wide, SHARED ? j : i), cell = (o * n + at) * inner + c;
        if (mode != ASSIGN) combine_atomic(out + cell, values[i], mode);
        else if (!winner || winner[SHARED ? at : cell] == (i32)j) out[cell] = values[i];
    }
}

#define WRITERS(op, shared) \
    KERNEL(op##_check, 256, (i32 *winner, const void *idx, i64 outer, i64 n, i64 inner, i64 k, i32 wide, Error *err, \
                             i64 ticket)) { \
        check<shared>(winner, idx, outer, n, inner, k, wide, err, ticket); \
    } \
    KERNEL(op##_claim, 256, (i32 *winner, const void *idx, i64 outer, i64 n, i64 inner, i64 k, i32 wide, const Error *err, \
                             i64 ticket)) { \
        claim<shared>(winner, idx, outer, n, inner, k, wide, err, ticket); \
    } \
    KERNEL(op##_write, 256, (T *out, const T *values, const void *idx, i64 outer, i64 n, i64 inner, i64 k, const i32 *winner, \
                             i32 wide, i32 mode, const Error *err, i64 ticket)) { \
        write<shared>(out, values, idx, outer, n, inner, k, winner, wide, mode, err, ticket); \
    } \
    KERNEL(op##_ordered, 256, (T *out, const T *values, const void *idx, i64 outer, i64 n, i64 inner, i64 k, i32 wide, \
                               i32 mode, const Error *err, i64 ticket)) { \
        ordered<shared>(out, values, idx, outer, n, inner, k, wide, mode, err, ticket); \
    }
WRITERS(scatter, false)
WRITERS(select_assign, true)
// where out has no elements, select has only the indices to look at
KERNEL(select_check, 256, (i32 *winner, const void *idx, i64 outer, i64 n, i64 inner, i64 k, i32 wide, Error *err, i64 ticket)) {
    check<true>(winner, idx, outer, n, inner, k, wide, err, ticket);
}

// ---- many values for select_assign in order: positions are sorted by their index, each row of out is then the work of a
// block
// A warp a position: its place is the number of smaller indices and of equal ones before it.
KERNEL(select_assign_sort, 256, (i32 *order, const void *idx, i64 k, i32 wide, const Error *err, i64 ticket)) {
    i64 j = ((i64)blockIdx.x * 256 + threadIdx.x) / 32, mine = j < k ? index_at(idx, wide, j) : 0;
    u32 lane = threadIdx.x % 32, place = 0;
    if (failed(err, ticket)) return;
    for (i64 p = lane; p < k; p += 32) {
        i64 other = index_at(idx, wide, p);
        place += other < mine || (other == mine && p < j);
    }
    for (int off = 16; off; off /= 2) place += __shfl_down_sync(0xffffffffu, place, off);
    if (lane == 0 && j < k) order[place] = (i32)j;
}
// A block takes 256 columns of the run of equal indices that begins at its place in the order, if one does.
KERNEL(select_assign_sorted, 256, (T *out, const T *values, const void *idx, const i32 *order, i64 outer, i64 n, i64 inner,
                                   i64 k, i32 wide, i32 mode, const Error *err, i64 ticket)) {
    i64 tiles = (inner + 255) / 256, number = blockIdx.x / tiles, c = (blockIdx.x - number * tiles) * 256 + threadIdx.x;
    i64 o = number / k, place = number - o * k;
    if (failed(err, ticket)) return;
    i64 at = index_at(idx, wide, order[place]);
    if (place && index_at(idx, wide, order[place - 1]) == at) return;
    i64 end = place + 1;
    while (end < k && index_at(idx, wide, order[end]) == at) end++;
    if (c >= inner) return;
    T *to = out + (o * n + at) * inner + c;
    values += o * k * inner + c;
    C sum = up(*to);
    for (; place + 4 <= end; place += 4) {
        T some[4];
#pragma unroll
        for (int q = 0; q < 4; q++) some[q] = values[order[place + q] * inner];
#pragma unroll
        for (int q = 0; q < 4; q++) sum = combine(sum, up(some[q]), mode);
    }
    for (; place < end; place++) sum = combine(sum, up(values[order[place] * inner]), mode);
    *to = down<T>(sum);
}

// ---- one number at the class that each value names along a new axis, another one elsewhere: a value without its fraction, which
// counts from the last class where it is negative. on and off come as words.
#if !IS_BOOL
KERNEL(one_hot, 256, (E *out, const T *x, i64 outer, i64 classes, i64 inner, E on, E off, Error *err, i64 ticket)) {
    i64 count = outer * classes * inner, first = (i64)blockIdx.x * (256 * EACH) + threadIdx.x;
#pragma unroll
    for (int q = 0; q < EACH; q++) {
        i64 o, at, i, named;
        if (first + q * 256 >= count) return;
        split(first + q * 256, count, classes, inner, o, at, i);
        C v = up(x[o * inner + i]);
#if IS_FLOAT
        bool fits = v > (C)-0x1p63 && v < (C)0x1p63;
        named = fits ? (i64)v : (i64)1 << 63;
        fits = named >= -classes && named < classes;
#else
        named = (i64)v;
        bool fits = named < classes && named >= (IS_SIGNED ? -classes : 0);
#endif
        if (!fits && at == 0) report(err, ticket, ERR_INDEX, o * inner + i, named, classes);
        out[first + q * 256] = at == named + (named < 0 ? classes : 0) ? on : off;
    }
}
#endif

// ---- where a mask is true: counts of blocks of 8192 elements (MASK_BLOCK in burn/_core/mask.h), 32 neighbours a thread; then,
// with the sums of the counts, the coordinates of each true element
#if IS_BOOL
#define MASK_EACH 32
#define MASK_BLOCK (256 * MASK_EACH)
__device__ __forceinline__ int true_of(const T *mask, i64 first, i64 n) {
    int count = 0;
    for (int k = 0; k < MASK_EACH; k++) count += first + k < n && mask[first + k] != 0;
    return count;
}
// the sum of the counts of the threads up to this one; the same in every block size of 256
__device__ __forceinline__ int sum_up(int count, int *room) {
    room[threadIdx.x] = count;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int before = threadIdx.x >= step ? room[threadIdx.x - step] : 0;
        __syncthreads();
        room[threadIdx.x] += before;
        __syncthreads();
    }
    return room[threadIdx.x];
}
KERNEL(mask_counts, 256, (i64 *out, const T *mask, i64 n)) {
    __shared__ int room[256];
    int sum = sum_up(true_of(mask, (i64)blockIdx.x * MASK_BLOCK + threadIdx.x * MASK_EACH, n), room);
    if (threadIdx.x == 255) out[blockIdx.x] = sum;
}
struct MaskAxes { i64 place, axis; i64 rank, dims[8]; };
KERNEL(mask_places, 256, (void *out, const T *mask, const i64 *ends, i64 n, i32 wide, MaskAxes axes)) {
    __shared__ int room[256];
    i64 first = (i64)blockIdx.x * MASK_BLOCK + threadIdx.x * MASK_EACH;
    int count = true_of(mask, first, n), sum = sum_up(count, room);
    i64 to = (blockIdx.x ? ends[blockIdx.x - 1] : 0) + sum - count;
    for (int k = 0; k < MASK_EACH && first + k < n; k++) {
        if (mask[first + k] == 0) continue;
        i64 rest = first + k;
        for (int axis = (int)axes.rank - 1; axis >= 0; axis--) {
            i64 next = rest / axes.dims[axis], here = rest - next * axes.dims[axis], at = to * axes.place + axis * axes.axis;
            if (wide) ((i64 *)out)[at] = here;
            else ((i32 *)out)[at] = (i32)here;
            rest = next;
        }
        to++;
    }
}
#endif
