// Stable sorts of the rows of x, [rows, n], of which positions first..first+k are written. An element becomes a key in the
// wanted order (NaN above all numbers, -0 equal to 0, inverted to sort downward); a key and its position are an entry, and
// no two entries of a row are equal, so that a network sorts them stably.
//   tile   a block sorts tiles of p entries in shared memory: whole rows, or pieces of longer ones, of which it passes on all
//          entries or only the least `need`
//   merge  two sorted runs of a row become one: the place of an entry is its own plus the number of smaller ones in the other
//   put    results from the sorted entries of long rows
#include "common.cuh"

OP(sort, NUMERIC)
OP(sort_values, NUMERIC)
OP(argsort, NUMERIC)

#if !IS_BOOL
#define INLINE __device__ __forceinline__

template <int SIZE> struct raw { typedef u64 type; };
template <> struct raw<4> { typedef u32 type; };
template <> struct raw<2> { typedef unsigned short type; };
template <> struct raw<1> { typedef u8 type; };
typedef raw<sizeof(T)>::type Raw; // the bits of an element

#if DTYPE == DT_F64 || DTYPE == DT_I64 || DTYPE == DT_U64
typedef u64 Key;
struct Entry {
    u64 key, at;
};
INLINE Entry make(Key key, i64 at) {
    Entry e = {key, (u64)at};
    return e;
}
INLINE i64 place_of(Entry e) { return (i64)e.at; }
INLINE bool less(Entry a, Entry b) { return a.key < b.key || (a.key == b.key && a.at < b.at); }
INLINE Entry beyond() { return make(~(u64)0, -1); }
#else
typedef u32 Key;
typedef u64 Entry;
INLINE Entry make(Key key, i64 at) { return (u64)key << 32 | (u32)at; }
INLINE i64 place_of(Entry e) { return (i64)(u32)e; }
INLINE bool less(Entry a, Entry b) { return a < b; }
INLINE Entry beyond() { return ~(u64)0; }
#endif

// Unsigned numbers in the order of the elements. The bits of a float are a sign and a magnitude.
INLINE Key key_of(Raw b, bool descending) {
    const int bits = 8 * sizeof(T);
    const Key sign = (Key)1 << (bits - 1), most = sign - 1;
#if IS_FLOAT
    const Key infinity = DTYPE == DT_F16 ? 0x7c00 : DTYPE == DT_BF16 ? 0x7f80 : DTYPE == DT_F64 ? (Key)0x7ffull << (bits - 12)
                                                                                               : (Key)0x7f800000;
    Key mag = b & most, key = mag > infinity ? sign + most : b & sign ? sign - mag : sign + mag;
#elif IS_SIGNED
    Key key = b ^ sign;
#else
    Key key = b;
#endif
    return descending ? most + sign - key : key;
}

INLINE void put(Raw *values, void *at, const Raw *x, i64 row, i64 n, i64 k, i64 q, Entry e, i32 at_wide) {
    i64 place = place_of(e);
    if (values) values[row * k + q] = x[row * n + place];
    if (at && at_wide) ((i64 *)at)[row * k + q] = place;
    else if (at) ((i32 *)at)[row * k + q] = (i32)place;
}

// p and size are powers of two, size entries are a block's: size / p tiles. A row has `tiles` tiles. Entries come from x, or
// from `from` with m of a row; results go to values and at, or entries to `some`, `stride` of a row.
INLINE void sort_tiles(Entry *e, Raw *values, void *at, Entry *some, const Raw *x, const Entry *from, i64 rows, i64 n,
                       i32 descending, i64 first, i64 k, i32 at_wide, i64 m, i32 p, i32 size, i64 tiles, i64 need, i64 stride) {
    const i64 first_tile = (i64)blockIdx.x * (size / p);
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        i64 tile = first_tile + i / p, row = tile / tiles, j = (tile - row * tiles) * p + (i & (p - 1));
        Entry v = beyond();
        if (row < rows && j < m) v = from ? from[row * m + j] : make(key_of(x[row * n + j], descending), j);
        e[i] = v;
    }
    __syncthreads();
    for (int run = 2; run <= p; run *= 2) { // sorted halves become a sorted run: first mirrored pairs, then pairs d apart
        for (int d = run / 2; d; d /= 2) {
            for (int i = threadIdx.x; i < size / 2; i += blockDim.x) {
                int r = i & (d - 1), low = 2 * i - r, high = d == run / 2 ? low + 2 * (d - r) - 1 : low + d;
                Entry a = e[low], b = e[high];
                if (less(b, a)) e[low] = b, e[high] = a;
            }
            __syncthreads();
        }
    }
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        i64 tile = first_tile + i / p, row = tile / tiles, j = i & (p - 1);
        if (row >= rows) continue;
        if (some) {
            i64 to = (tile - row * tiles) * need + j;
            if (j < need && to < stride) some[row * stride + to] = e[i];
        } else if (j >= first && j < first + k) {
            put(values, at, x, row, n, k, j - first, e[i], at_wide);
        }
    }
}

// Runs of `width` entries, from the start of each row.
INLINE void merge_runs(Entry *some, const Entry *from, i64 rows, i64 n, i64 width) {
    i64 i = (i64)blockIdx.x * 256 + threadIdx.x;
    if (i >= rows * n) return;
    i64 row = i / n, j = i - row * n, run = j / width, other = run ^ 1, start = other * width;
    i64 low = start < n ? start : n, end = start + width < n ? start + width : n;
    const Entry *of = from + row * n;
    Entry e = of[j];
    for (i64 high = end; low < high;) {
        i64 middle = (low + high) / 2;
        if (less(of[middle], e)) low = middle + 1;
        else high = middle;
    }
    i64 smaller = start < n ? low - start : 0;
    some[row * n + (run < other ? run : other) * width + (j - run * width) + smaller] = e;
}

INLINE void put_part(Raw *values, void *at, const Raw *x, const Entry *from, i64 rows, i64 n, i64 first, i64 k, i32 at_wide) {
    i64 i = (i64)blockIdx.x * 256 + threadIdx.x;
    if (i >= rows * k) return;
    i64 row = i / k, q = i - row * k;
    put(values, at, x, row, n, k, q, from[row * n + first + q], at_wide);
}

#define SORTS(name) \
    KERNEL(name##_tile, 512, (Raw *values, void *at, Entry *some, const Raw *x, const Entry *from, i64 rows, i64 n, \
                              i32 descending, i64 first, i64 k, i32 at_wide, i64 m, i32 p, i32 size, i64 tiles, i64 need, \
                              i64 stride)) { \
        DYNAMIC_SHARED(Entry, e); \
        sort_tiles(e, values, at, some, x, from, rows, n, descending, first, k, at_wide, m, p, size, tiles, need, stride); \
    } \
    KERNEL(name##_merge, 256, (Entry *some, const Entry *from, i64 rows, i64 n, i64 width)) { \
        merge_runs(some, from, rows, n, width); \
    } \
    KERNEL(name##_put, 256, (Raw *values, void *at, const Raw *x, const Entry *from, i64 rows, i64 n, i64 first, i64 k, \
                             i32 at_wide)) { \
        put_part(values, at, x, from, rows, n, first, k, at_wide); \
    }
SORTS(sort)
SORTS(sort_values)
SORTS(argsort)
#endif
