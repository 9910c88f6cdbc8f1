/* Launchers of the movement family. A copy is brought to its simplest form (axes in the order of the output's steps,
   merged where both sides step evenly), then goes to one of four kernels of cuda/movement.cu. */
#pragma once
#include "device.h"

enum { MOVE_FLAT, MOVE_TILES, MOVE_VALUE_FLAT, MOVE_VALUE_WORDS, MOVE_WORDS }; /* places of kernels; 5 kinds of words */
#define MOVE_BLOCK 1024  /* positions or vectors a block, 256 threads */
#define MOVE_TILE 64
#define MOVE_THIN 16     /* planes with fewer rows or columns gain nothing from tiles */

/* the C twins of the structs in cuda/movement.cu */
typedef struct {
    uint32_t n;
    int32_t ndim;
    uint32_t shape[8], magic[8], shift[8];
    int64_t x[8], y[8];
} move_axes;
typedef struct {
    int64_t rows, cols, x_col, y_row, row_tiles, col_tiles;
    int32_t ndim, unused;
    int64_t shape[6], x[6], y[6];
} move_plane;

/* a copy, or with value set a fill; steps in elements of `size` bytes, y steps positive, outermost axis first */
typedef struct {
    const char *x;
    char *y;
    const cuda_in *value;
    int64_t count, shape[BURN_MAX_RANK], xs[BURN_MAX_RANK], ys[BURN_MAX_RANK];
    int size, ndim;
} move_job;

static inline int64_t move_blocks(int64_t n) { return n > MOVE_BLOCK ? (n + MOVE_BLOCK - 1) / MOVE_BLOCK : 1; }

/* axes of size 1 go, y steps become positive and sorted, neighbours that both sides step through evenly are merged */
static void move_simplify(move_job *j, const burn_buf *out, const burn_buf *in) {
    int64_t x_step = 1, y_step = 1, sx[BURN_MAX_RANK], sy[BURN_MAX_RANK];
    int n = 0, last = 0;
    for (int k = out->ndim - 1; k >= 0; k--) {
        sx[k] = !in ? 0 : in->strides ? in->strides[k] : x_step;
        sy[k] = out->strides ? out->strides[k] : y_step;
        if (in) x_step *= in->shape[k];
        y_step *= out->shape[k];
    }
    for (int k = 0; k < out->ndim; k++) {
        int64_t size = out->shape[k], x = sx[k], y = sy[k];
        if (size == 1) continue;
        if (y < 0) {
            j->x += x * (size - 1) * j->size;
            j->y += y * (size - 1) * j->size;
            x = -x;
            y = -y;
        }
        int at = n++;
        for (; at > 0 && j->ys[at - 1] < y; at--)
            j->shape[at] = j->shape[at - 1], j->xs[at] = j->xs[at - 1], j->ys[at] = j->ys[at - 1];
        j->shape[at] = size, j->xs[at] = x, j->ys[at] = y;
    }
    for (int k = 1; k < n; k++) {
        if (j->xs[last] == j->xs[k] * j->shape[k] && j->ys[last] == j->ys[k] * j->shape[k]) {
            j->shape[last] *= j->shape[k];
        } else {
            last++;
            j->shape[last] = j->shape[k];
        }
        j->xs[last] = j->xs[k], j->ys[last] = j->ys[k];
    }
    j->ndim = n ? last + 1 : 1;
    if (!n) j->shape[0] = 1, j->xs[0] = in ? 1 : 0, j->ys[0] = 1;
}

/* `bytes` is the width of a word. Positions are counted in 31 bits: a larger copy is cut in halves. */
static int move_words(cuda_row *r, const move_job *j, int bytes) {
    static const char *const WORDS[] = {"words1", "words2", "words4", "words8", "words16"};
    move_axes axes;
    if (j->count >= (int64_t)1 << 31) {
        int widest = 0;
        for (int k = 1; k < j->ndim; k++) if (j->shape[k] > j->shape[widest]) widest = k;
        move_job half = *j;
        int64_t all = j->shape[widest], first = all / 2;
        half.shape[widest] = first;
        half.count = j->count / all * first;
        int status = move_words(r, &half, bytes);
        if (status != BURN_OK) return status;
        half.x += first * j->xs[widest] * bytes;
        half.y += first * j->ys[widest] * bytes;
        half.shape[widest] = all - first;
        half.count = j->count - half.count;
        return move_words(r, &half, bytes);
    }
    axes.n = (uint32_t)j->count;
    axes.ndim = j->ndim;
    for (int k = 0; k < j->ndim; k++) {
        uint32_t shape = (uint32_t)j->shape[k];
        uint32_t shift = shape > 1 ? 32 - (uint32_t)__builtin_clz(shape - 1) : 0;
        axes.shape[k] = shape;
        axes.shift[k] = shift;
        axes.magic[k] = (uint32_t)((((((uint64_t)1 << shift) - shape) << 32) / shape) + 1);
        axes.x[k] = j->xs[k];
        axes.y[k] = j->ys[k];
    }
    int log = __builtin_ctz((unsigned)bytes);
    CUfunction f = j->value ? kernel_of(r, MOVE_VALUE_WORDS, "value_words") : kernel_of(r, MOVE_WORDS + log, WORDS[log]);
    if (!f) return BURN_ERR_RAISED;
    void *values[] = {(void *)&j->y, (void *)j->value, &axes}, *words[] = {(void *)&j->y, (void *)&j->x, &axes};
    return launch(r, f, move_blocks(j->count), 1, 256, 0, j->value ? values : words);
}

static int move_flat(cuda_row *r, move_job *j) {
    int64_t n = j->count;
    int32_t head = (int32_t)((16 - ((uintptr_t)j->y & 15)) & 15) / j->size;
    if (head > n) head = (int32_t)n;
    CUfunction f = j->value ? kernel_of(r, MOVE_VALUE_FLAT, "value_flat") : kernel_of(r, MOVE_FLAT, "flat");
    if (!f) return BURN_ERR_RAISED;
    void *params[] = {&j->y, j->value ? (void *)j->value : (void *)&j->x, &n, &head};
    return launch(r, f, move_blocks((n - head) / (16 / j->size)), 1, 256, 0, params);
}

/* rows: the axis along which x is dense */
static int move_tiles(cuda_row *r, move_job *j, int rows) {
    move_plane p;
    int last = j->ndim - 1;
    int64_t blocks;
    p.rows = j->shape[rows];
    p.cols = j->shape[last];
    p.x_col = j->xs[last];
    p.y_row = j->ys[rows];
    p.row_tiles = (p.rows + MOVE_TILE - 1) / MOVE_TILE;
    p.col_tiles = (p.cols + MOVE_TILE - 1) / MOVE_TILE;
    p.ndim = 0;
    blocks = p.row_tiles * p.col_tiles;
    for (int k = 0; k < last; k++) {
        if (k == rows) continue;
        p.shape[p.ndim] = j->shape[k];
        p.x[p.ndim] = j->xs[k];
        p.y[p.ndim++] = j->ys[k];
        blocks *= j->shape[k];
    }
    CUfunction f = kernel_of(r, MOVE_TILES, "tiles");
    if (!f) return BURN_ERR_RAISED;
    void *params[] = {&j->y, (void *)&j->x, &p};
    return launch(r, f, blocks, 1, 256, 0, params);
}

/* the widest word that all steps, the row length and both addresses are multiples of */
static int move_widest(const move_job *j) {
    int last = j->ndim - 1;
    uint64_t all = (uint64_t)(uintptr_t)j->x | (uint64_t)(uintptr_t)j->y | (uint64_t)j->shape[last] * j->size | 16;
    for (int k = 0; k < last; k++) all |= (uint64_t)(j->xs[k] * j->size) | (uint64_t)(j->ys[k] * j->size);
    return 1 << __builtin_ctzll(all);
}

static int launch_move(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    move_job j = {.x = in->p, .y = out->p, .count = out->size, .size = DT_SIZE[out->dtype]};
    cuda_in value = {0};
    if (out->size == 0) return BURN_OK;
    if (in->size == 1 || in->host) {
        j.value = &value;
        if (in->host) memcpy(value.v, in->p, (size_t)j.size);
        else value.p = in->p;
    }
    move_simplify(&j, out, j.value ? NULL : in);
    int last = j.ndim - 1, still = 1;
    if (!j.value) { /* one value repeated along all axes is read once a thread */
        for (int k = 0; k < j.ndim; k++) still &= j.xs[k] == 0;
        if (still) value.p = j.x, j.value = &value;
    }
    if (j.ndim == 1 && j.ys[0] == 1 && (j.value || (j.xs[0] == 1 && (((uintptr_t)j.x ^ (uintptr_t)j.y) & 15) == 0)))
        return move_flat(r, &j);
    if (!j.value && j.ys[last] == 1 && j.xs[last] == 1) {
        int bytes = move_widest(&j), wider = bytes / j.size;
        if (wider > 1) {
            for (int k = 0; k < last; k++) j.xs[k] /= wider, j.ys[k] /= wider;
            j.shape[last] /= wider;
            j.count /= wider;
        }
        return move_words(r, &j, wider > 1 ? bytes : j.size);
    }
    if (!j.value && j.ys[last] == 1 && j.shape[last] >= MOVE_THIN)
        for (int k = last - 1; k >= 0; k--)
            if (j.xs[k] == 1 && j.shape[k] >= MOVE_THIN) return move_tiles(r, &j, k);
    return move_words(r, &j, j.size);
}

/* ints = outer, rows, cols, diagonal, upper */
static int launch_triangle(const burn_buf *out, const burn_buf *in, burn_args *a) {
    cuda_row *r = row_of(a);
    int64_t rows = a->i[1], cols = a->i[2], diagonal = a->i[3], lines = a->i[0] * rows;
    int32_t team = 1, upper = (int32_t)a->i[4];
    if (out->size == 0) return BURN_OK;
    CUfunction f = kernel_of(r, 0, "");
    if (!f) return BURN_ERR_RAISED;
    while (team < 256 && team * 4 < cols) team *= 2;
    int64_t parts = (cols + team * 16 - 1) / (team * 16);
    void *params[] = {(void *)&out->p, (void *)&in->p, &rows, &cols, &diagonal, &lines, &team, &upper};
    return launch(r, f, (lines * team + 255) / 256, (unsigned)(parts < 4096 ? parts : 4096), 256, 0, params);
}

static int launch_arange(const burn_buf *out, const burn_buf *none, burn_args *a) {
    cuda_row *r = row_of(a);
    int64_t n = out->size, start = a->i[0], step = a->i[1];
    (void)none;
    if (n == 0) return BURN_OK;
    CUfunction f = kernel_of(r, 0, "");
    if (!f) return BURN_ERR_RAISED;
    void *params[] = {(void *)&out->p, &n, &start, &step};
    return launch(r, f, n / (16 / DT_SIZE[out->dtype]) / 256 + 1, 1, 256, 0, params);
}

static const cuda_launcher movement_launchers[] = {
    {"arange", launch_arange, 0},
    {"triangle", launch_triangle, 0},
    {"fill", launch_move, ROW_STRIDED_OUT | ROW_HOST},
    {"copy", launch_move, ROW_STRIDED | ROW_STRIDED_OUT | ROW_HOST},
    {0},
};
