/* Launchers of cuda/sort.cu: ints = rows, n, descending, first, k. */
#pragma once
#include "device.h"

enum { SORT_TILE, SORT_MERGE, SORT_PUT };

#define SORT_SHARED 32768   /* bytes of a block's entries */

static int32_t sort_pow2(int64_t n, int32_t most) {
    int32_t p = 1;
    while (p < n && p < most) p *= 2;
    return p;
}

typedef struct {
    void *values, *at, *x;
    int64_t rows, n, first, k;
    int32_t descending, at_wide;
} sort_call;

/* Tiles of p entries of m a row, from x or `from`: results, or `need` entries of each tile to `some`, stride of a row. */
static int sort_tiles(cuda_row *r, sort_call *c, void *some, void *from, int64_t m, int32_t p, int32_t most, int64_t tiles,
                      int64_t need, int64_t stride) {
    CUfunction f = kernel_of(r, SORT_TILE, "tile");
    int64_t all = c->rows * tiles;
    int32_t least = most < 1024 ? most : 1024, size = p > least ? p : sort_pow2(all * p, least), entry = SORT_SHARED / most;
    if (!f) return BURN_ERR_RAISED;
    unsigned block = size >= 1024 ? 512 : size >= 128 ? (unsigned)size / 2 : 64;
    void *params[] = {&c->values, &c->at, &some, &c->x, &from, &c->rows, &c->n, &c->descending, &c->first, &c->k, &c->at_wide,
                      &m, &p, &size, &tiles, &need, &stride};
    return launch(r, f, (all * p + size - 1) / size, 1, block, (unsigned)(size * entry), params);
}

static int sort_any(sort_call *c, int dtype, burn_args *a) {
    cuda_row *r = row_of(a);
    const int size = DT_SIZE[dtype], entry = size == 8 ? 16 : 8, most = SORT_SHARED / entry;
    c->rows = a->i[0], c->n = a->i[1], c->descending = (int32_t)a->i[2], c->first = a->i[3], c->k = a->i[4];
    if (c->rows == 0 || c->k == 0) return BURN_OK;
    if (entry == 8 && c->n >= UINT32_MAX) return cuda_raise(r->dev, CUDA_TOO_LARGE, r->row.name, (size_t)c->n);
    if (c->n <= most) return sort_tiles(r, c, NULL, NULL, c->n, sort_pow2(c->n, most), most, 1, 0, 0);

    int64_t m = c->n, need = c->first + c->k, tiles = (m + most - 1) / most;
    const int few = need * 2 <= most; /* then only what may be among the results is passed on */
    const size_t bytes = (size_t)(c->rows * (few ? tiles * need : m) * entry);
    void *room[2] = {scratch_take(r, bytes), NULL}, *from = NULL;
    if (room[0]) room[1] = scratch_take(r, bytes);
    int status = room[1] ? BURN_OK : BURN_ERR_RAISED, turn = 0;
    if (few) {
        for (; !status && m > most; turn ^= 1) {
            tiles = (m + most - 1) / most;
            status = sort_tiles(r, c, room[turn], from, m, most, most, tiles, need, tiles * need);
            m = tiles * need;
            from = room[turn];
        }
        if (!status) status = sort_tiles(r, c, NULL, from, m, sort_pow2(m, most), most, 1, 0, 0);
    } else {
        CUfunction merge = kernel_of(r, SORT_MERGE, "merge"), put = kernel_of(r, SORT_PUT, "put");
        if (!merge || !put) status = BURN_ERR_RAISED;
        if (!status) status = sort_tiles(r, c, room[0], NULL, m, most, most, tiles, most, m);
        for (int64_t width = most; !status && width < m; width *= 2, turn ^= 1) {
            void *params[] = {&room[turn ^ 1], &room[turn], &c->rows, &c->n, &width};
            status = launch(r, merge, (c->rows * m + 255) / 256, 1, 256, 0, params);
        }
        void *params[] = {&c->values, &c->at, &c->x, &room[turn], &c->rows, &c->n, &c->first, &c->k, &c->at_wide};
        if (!status) status = launch(r, put, (c->rows * c->k + 255) / 256, 1, 256, 0, params);
    }
    for (int q = 0; q < 2; q++)
        if (room[q]) scratch_give(r, room[q], bytes);
    return status;
}

static int launch_sort(const burn_buf *out, const burn_buf *x, burn_args *a) {
    sort_call c = {.values = out[0].p, .at = out[1].p, .x = x->p, .at_wide = out[1].dtype == DT_I64};
    return sort_any(&c, x->dtype, a);
}
static int launch_sort_values(const burn_buf *out, const burn_buf *x, burn_args *a) {
    sort_call c = {.values = out->p, .x = x->p};
    return sort_any(&c, x->dtype, a);
}
static int launch_argsort(const burn_buf *out, const burn_buf *x, burn_args *a) {
    sort_call c = {.at = out->p, .x = x->p, .at_wide = out->dtype == DT_I64};
    return sort_any(&c, x->dtype, a);
}

static const cuda_launcher sort_launchers[] = {
    {"sort", launch_sort, 0}, {"sort_values", launch_sort_values, 0}, {"argsort", launch_argsort, 0}, {0},
};
