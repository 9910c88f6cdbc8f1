/* Strided copies, fills and ranges. A copy is brought to its simplest form (axes in the order of the output, merged
   where both sides step evenly), then runs as planes of rows x cols by one of five loops; movement_block.h has the
   transposing one. */
#pragma once
#include "runtime.h"
#include "movement_block.h"

#define COPY_TASK 262144        /* bytes a task */
#define STRIP 64                /* columns a task of a transpose: runs of 256 bytes for 4-byte elements */

/* one plane; all steps are in bytes */
typedef struct {
    const char *x;
    char *y;
    int64_t rows, cols, x_row, x_col, y_row, y_col;
    int size, stream;
} plane;
typedef void (*plane_fn)(const plane *p);

/* ---- the loops over one plane */
VINL void copy_line(char *y, const char *x, int64_t bytes, int stream) {
    if (!stream || ((uintptr_t)y & 63)) {
        memcpy(y, x, (size_t)bytes);
        return;
    }
    int64_t i = 0;
    for (; i + 64 <= bytes; i += 64)
        for (int k = 0; k < 64; k += 4 * VW) vf_stream((float *)(y + i + k), vf_load((const float *)(x + i + k)));
    memcpy(y + i, x + i, (size_t)(bytes - i));
}

static void plane_copy(const plane *p) {
    int64_t bytes = p->cols * p->size;
    const char *x = p->x;
    char *y = p->y;
#define SHORT(n) for (int64_t r = 0; r < p->rows; r++, x += p->x_row, y += p->y_row) memcpy(y, x, n);
    switch (bytes) { /* a fixed length is a move or two */
    case 2: SHORT(2) return;
    case 4: SHORT(4) return;
    case 6: SHORT(6) return;
    case 8: SHORT(8) return;
    case 12: SHORT(12) return;
    case 16: SHORT(16) return;
    case 24: SHORT(24) return;
    case 32: SHORT(32) return;
    }
#undef SHORT
    for (int64_t r = 0; r < p->rows; r++, x += p->x_row, y += p->y_row) copy_line(y, x, bytes, p->stream);
}

/* each row is one element, repeated */
static void plane_repeat(const plane *p) {
    int64_t bytes = p->cols * p->size;
    for (int64_t r = 0; r < p->rows; r++) {
        const char *x = p->x + r * p->x_row;
        char *y = p->y + r * p->y_row, pattern[64] __attribute__((aligned(64)));
        if (p->size == 1) {
            memset(y, *x, (size_t)bytes);
            continue;
        }
        for (int k = 0; k < 64; k += p->size) memcpy(pattern + k, x, (size_t)p->size);
        int64_t i = 0;
        int stream = p->stream && ((uintptr_t)y & 63) == 0;
        vf v = *(const vf *)pattern;
        for (; i + 4 * VW <= bytes; i += 4 * VW) {
            if (stream) vf_stream((float *)(y + i), v);
            else vf_store((float *)(y + i), v);
        }
        memcpy(y + i, pattern, (size_t)(bytes - i));
    }
}

/* body with T = unsigned integer of p->size bytes, at any address */
#define ANYWHERE __attribute__((aligned(1), may_alias))
#define BY_SIZE(body) switch (p->size) { \
    case 1: { typedef uint8_t T; body } break; \
    case 2: { typedef uint16_t T ANYWHERE; body } break; \
    case 4: { typedef uint32_t T ANYWHERE; body } break; \
    default: { typedef uint64_t T ANYWHERE; body } }

static void plane_reverse(const plane *p) {
#if BURN_LEVEL == 4
    const vi mirror = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
#elif BURN_LEVEL == 3
    const vi mirror = {7, 6, 5, 4, 3, 2, 1, 0};
#else
    const vi mirror = {3, 2, 1, 0};
#endif
    for (int64_t r = 0; r < p->rows; r++) {
        if (p->size == 4) {
            const float *x = (const float *)(p->x + r * p->x_row);
            float *y = (float *)(p->y + r * p->y_row);
            int64_t c = 0;
            int stream = p->stream && ((uintptr_t)y & 63) == 0;
            for (; c + VW <= p->cols; c += VW) {
                vf v = __builtin_shuffle(vf_load(x - c - (VW - 1)), mirror);
                if (stream) vf_stream(y + c, v);
                else vf_store(y + c, v);
            }
            for (; c < p->cols; c++) memcpy(y + c, x - c, 4);
            continue;
        }
        BY_SIZE(
            const T *x = (const T *)(p->x + r * p->x_row);
            T *y = (T *)(p->y + r * p->y_row);
            for (int64_t c = 0; c < p->cols; c++) y[c] = x[-c];
        )
    }
}

/* every other one of 4 bytes, such as the parts of complex numbers; how many were taken. The last vector would read beyond
   what is needed. */
VINL int64_t every_other(const float *x, float *y, int64_t n, int stream) {
#if VW == 16
    const vi even = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
#elif VW == 8
    const vi even = {0, 2, 4, 6, 8, 10, 12, 14};
#else
    const vi even = {0, 2, 4, 6};
#endif
    int64_t c = 0;
    for (; c + VW < n; c += VW) {
        vf v = __builtin_shuffle(vf_load(x + 2 * c), vf_load(x + 2 * c + VW), even);
        if (stream) vf_stream(y + c, v);
        else vf_store(y + c, v);
    }
    return c;
}

static void plane_strided(const plane *p) {
    for (int64_t r = 0; r < p->rows; r++) {
        const char *x = p->x + r * p->x_row;
        char *y = p->y + r * p->y_row;
        int64_t x_col = p->x_col, y_col = p->y_col;
        if (p->size == 4 && y_col == 4 && x_col == 8) {
            int64_t c = every_other((const float *)x, (float *)y, p->cols, p->stream && ((uintptr_t)y & 63) == 0);
            for (; c < p->cols; c++) memcpy(y + 4 * c, x + 8 * c, 4);
            continue;
        }
        BY_SIZE(
            if (y_col == p->size) for (int64_t c = 0; c < p->cols; c++) ((T *)y)[c] = *(const T *)(x + c * x_col);
            else for (int64_t c = 0; c < p->cols; c++) *(T *)(y + c * y_col) = *(const T *)(x + c * x_col);
        )
    }
}

/* rows of y run along the steps of x: x_row is one element, x_col a row of x */
static void plane_transpose(const plane *p) {
    int b = p->size == 4 ? BLOCK4 : p->size == 8 ? BLOCK8 : p->size == 2 ? BLOCK2 : 1;
    int64_t r = 0, cols = p->cols / b * b;
    int stream = p->stream && (((uintptr_t)p->y | (uintptr_t)p->y_row) & 63) == 0;
    if (b > 1) {
        for (; r + b <= p->rows; r += b) {
            for (int64_t c = 0; c < cols; c += b) {
                const char *x = p->x + r * p->size + c * p->x_col;
                char *y = p->y + r * p->y_row + c * p->size;
                if (p->size == 4) block4(x, p->x_col, y, p->y_row, stream);
                else if (p->size == 8) block8(x, p->x_col, y, p->y_row, stream);
                else block2(x, p->x_col, y, p->y_row);
            }
        }
    }
    plane rest = *p;
    if (cols < p->cols && r) {
        rest.rows = r;
        rest.cols = p->cols - cols;
        rest.x += cols * p->x_col;
        rest.y += cols * p->size;
        plane_strided(&rest);
    }
    if (r < p->rows) {
        rest = *p;
        rest.rows = p->rows - r;
        rest.x += r * p->size;
        rest.y += r * p->y_row;
        plane_strided(&rest);
    }
}

/* ---- the driver: outer axes, then units of at most rows x cols of the last two */
typedef struct {
    plane p;
    plane_fn run;
    int axes;                                       /* outer axes */
    int64_t shape[BURN_MAX_RANK], x[BURN_MAX_RANK], y[BURN_MAX_RANK];
    int64_t unit_rows, unit_cols, row_units, col_units, units, per_task;
} copy_job;

static void copy_task(void *ctx, int64_t task) {
    const copy_job *j = ctx;
    int64_t end = i64_min((task + 1) * j->per_task, j->units);
    for (int64_t u = task * j->per_task; u < end; u++) {
        int64_t c = u % j->col_units * j->unit_cols, q = u / j->col_units, r = q % j->row_units * j->unit_rows;
        plane p = j->p;
        q /= j->row_units;
        for (int k = j->axes - 1; k >= 0 && q; k--) {
            int64_t at = q % j->shape[k];
            q /= j->shape[k];
            p.x += at * j->x[k];
            p.y += at * j->y[k];
        }
        p.x += r * p.x_row + c * p.x_col;
        p.y += r * p.y_row + c * p.y_col;
        p.rows = i64_min(j->unit_rows, p.rows - r);
        p.cols = i64_min(j->unit_cols, p.cols - c);
        j->run(&p);
    }
    if (j->p.stream) v_fence();
}

/* axes sorted by the steps of y, largest first, all steps of y positive; axes of size 1 gone; neighbours merged */
static int copy_simplify(copy_job *j, int ndim, const int64_t *shape, const int64_t *x_strides,
                         const int64_t *y_strides) {
    int n = 0;
    for (int k = 0; k < ndim; k++) {
        int64_t size = shape[k], sx = x_strides[k] * j->p.size, sy = y_strides[k] * j->p.size;
        if (size == 1) continue;
        if (sy < 0) {
            j->p.x += sx * (size - 1);
            j->p.y += sy * (size - 1);
            sx = -sx;
            sy = -sy;
        }
        int at = n++;
        for (; at > 0 && j->y[at - 1] < sy; at--)
            j->shape[at] = j->shape[at - 1], j->x[at] = j->x[at - 1], j->y[at] = j->y[at - 1];
        j->shape[at] = size, j->x[at] = sx, j->y[at] = sy;
    }
    int last = 0;
    for (int k = 1; k < n; k++) {
        if (j->x[last] == j->x[k] * j->shape[k] && j->y[last] == j->y[k] * j->shape[k]) {
            j->shape[last] *= j->shape[k];
            j->x[last] = j->x[k], j->y[last] = j->y[k];
        } else if (++last != k) {
            j->shape[last] = j->shape[k], j->x[last] = j->x[k], j->y[last] = j->y[k];
        }
    }
    return n ? last + 1 : 0;
}

/* y = x element by element; strides in elements of `size` bytes, 0 and negative ones too */
static int strided_copy(const void *x, void *y, int size, int ndim, const int64_t *shape, const int64_t *x_strides,
                        const int64_t *y_strides) {
    copy_job j = {.p = {.x = x, .y = y, .rows = 1, .cols = 1, .x_col = size, .y_col = size, .size = size}};
    int64_t count = 1;
    for (int k = 0; k < ndim; k++) count *= shape[k];
    if (count == 0) return BURN_OK;
    int n = copy_simplify(&j, ndim, shape, x_strides, y_strides);
    plane *p = &j.p;
    if (n) p->cols = j.shape[n - 1], p->x_col = j.x[n - 1], p->y_col = j.y[n - 1], n--;
    p->stream = count * size >= STREAM_BYTES;
    j.run = plane_strided;
    if (p->y_col == size && p->x_col == size) j.run = plane_copy;
    if (p->y_col == size && p->x_col == 0 && p->cols * size >= 64) j.run = plane_repeat; /* short rows: a plain loop */
    if (p->y_col == size && p->x_col == -size) j.run = plane_reverse;
    if (j.run == plane_strided && p->y_col == size) { /* an axis along which x is dense becomes the rows */
        for (int k = n - 1; k >= 0; k--) {
            if (j.x[k] != size) continue;
            int64_t s = j.shape[k], sx = j.x[k], sy = j.y[k];
            for (; k < n - 1; k++) j.shape[k] = j.shape[k + 1], j.x[k] = j.x[k + 1], j.y[k] = j.y[k + 1];
            j.shape[k] = s, j.x[k] = sx, j.y[k] = sy;
            j.run = plane_transpose;
            break;
        }
    }
    if (n) p->rows = j.shape[n - 1], p->x_row = j.x[n - 1], p->y_row = j.y[n - 1], n--;
    j.axes = n;
    int64_t planes = count / p->rows / p->cols;
    j.unit_cols = i64_min(p->cols, j.run == plane_transpose ? STRIP : COPY_TASK / size);
    j.unit_rows = i64_min(p->rows, i64_max(1, (j.run == plane_transpose ? 4 : 1) * COPY_TASK / (j.unit_cols * size)));
    j.col_units = ceil_div(p->cols, j.unit_cols);
    j.row_units = ceil_div(p->rows, j.unit_rows);
    j.units = planes * j.row_units * j.col_units;
    j.per_task = i64_max(1, i64_min(j.units / 64, COPY_TASK / (j.unit_rows * j.unit_cols * size)));
    if (count * size < 65536) j.per_task = j.units;
    rt_tasks(copy_task, &j, ceil_div(j.units, j.per_task),
             (double)(count * size) * (j.run == plane_copy || j.run == plane_repeat ? 0.06 : 0.2));
    return BURN_OK;
}

/* ---- the upper or lower triangle of each matrix of `outer`, zeros elsewhere; all dense */
typedef struct { const char *x; char *y; int64_t rows, cols, diagonal, lines, per_task; int size, upper; } triangle_job;

static void triangle_task(void *ctx, int64_t task) {
    const triangle_job *j = ctx;
    int64_t bytes = j->cols * j->size, end = i64_min((task + 1) * j->per_task, j->lines);
    for (int64_t line = task * j->per_task; line < end; line++) {
        const char *x = j->x + line * bytes;
        char *y = j->y + line * bytes;
        /* columns before the cut belong to the lower triangle */
        int64_t cut = line % j->rows + j->diagonal + !j->upper;
        cut = i64_max(0, i64_min(cut, j->cols)) * j->size;
        if (j->upper) {
            memset(y, 0, (size_t)cut);
            memcpy(y + cut, x + cut, (size_t)(bytes - cut));
        } else {
            memcpy(y, x, (size_t)cut);
            memset(y + cut, 0, (size_t)(bytes - cut));
        }
    }
}
static int triangle(const void *x, void *y, int size, int64_t outer, int64_t rows, int64_t cols, int64_t diagonal,
                    int64_t upper) {
    triangle_job j = {x, y, rows, cols, diagonal, outer * rows, 0, size, (int)upper};
    int64_t bytes = j.lines * cols * size;
    if (bytes == 0) return BURN_OK;
    j.per_task = bytes < 65536 ? j.lines : i64_max(1, COPY_TASK / (cols * size));
    rt_tasks(triangle_task, &j, ceil_div(j.lines, j.per_task), (double)bytes * 0.05);
    return BURN_OK;
}

/* ---- start, start + step, ... in any integer dtype */
typedef struct { char *out; int64_t n, start, step; int size; } arange_job;

static void arange_task(void *ctx, int64_t i) {
    const arange_job *p = ctx;
    int64_t from = i * 65536, to = i64_min(from + 65536, p->n);
    BY_SIZE(
        T *y = (T *)p->out;
        T step = (T)p->step;
        T v = (T)((uint64_t)p->start + (uint64_t)from * (uint64_t)p->step);
        for (int64_t k = from; k < to; k++) y[k] = (T)(v + (T)(k - from) * step);
    )
}
static int arange_fill(void *out, int size, int64_t n, int64_t start, int64_t step) {
    arange_job j = {out, n, start, step, size};
    rt_tasks(arange_task, &j, ceil_div(n, 65536), (double)n * 0.2);
    return BURN_OK;
}
