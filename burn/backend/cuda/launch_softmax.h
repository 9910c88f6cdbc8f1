/* Launchers of cuda/softmax.cu: which kernel fits the rows. */
#pragma once
#include "device.h"

enum { SOFTMAX_SMALL, SOFTMAX_MIDDLE, SOFTMAX_LARGE, SOFTMAX_LONG, SOFTMAX_COLUMNS, SOFTMAX_WIDE };

static int softmax_any(const burn_buf *out, const burn_buf *in, burn_args *a) {
    static const char *const names[] = {"small", "middle", "large", "long", "columns", "wide"};
    cuda_row *r = row_of(a);
    int64_t outer = a->i[0], n = a->i[1], inner = a->i[2], tiles = 0, grid = outer;
    int32_t lanes = 0;
    unsigned block = 512;
    void *x = in[0].p, *g = NULL, *y = out->p, *params[7], **p = params;
    int size = DT_SIZE[out->dtype], word = 16 / size, kind;
    if (outer == 0 || n == 0 || inner == 0) return BURN_OK;
    if (inner != 1) {
        /* threads side by side take all 32 columns of a block, one or a word of them each */
        int columns = size == 8 ? 2 : 4, lanes = 32;
        uintptr_t places = (uintptr_t)x | (uintptr_t)y | (uintptr_t)(a->n_in > 1 ? in[1].p : NULL);
        int wide = inner % columns == 0 && (places & (uintptr_t)(columns * size - 1)) == 0;
        kind = wide ? SOFTMAX_WIDE : SOFTMAX_COLUMNS;
        if (wide) lanes /= columns;
        tiles = (inner + 31) / 32;
        grid = outer * tiles;
        while (block > 32 && block / lanes * 2 > n) block /= 2;
    } else {
        /* elements of a thread in rows of each kind, as in the kernels */
        int64_t middle = word * (size == 2 ? 2 : 4), large = 2 * middle, per = word;
        kind = n <= 32 * word ? SOFTMAX_SMALL : n <= 256 * middle ? SOFTMAX_MIDDLE : n <= 512 * large ? SOFTMAX_LARGE
                                                                                                       : SOFTMAX_LONG;
        if (kind == SOFTMAX_MIDDLE) per = middle;
        if (kind == SOFTMAX_LARGE) per = large;
        if (kind != SOFTMAX_LONG) {
            int64_t need = (n + per - 1) / per;
            for (lanes = 1; lanes < need && lanes < 32;) lanes *= 2;
            if (need > 32) lanes = (int32_t)((need + 31) / 32 * 32);
            block = lanes > 32 ? (unsigned)lanes : 128;
            grid = lanes > 32 ? outer : (outer + 128 / lanes - 1) / (128 / lanes);
        }
    }
    CUfunction f = kernel_of(r, kind, names[kind]);
    if (!f) return BURN_ERR_RAISED;
    *p++ = &y;
    *p++ = &x;
    if (a->n_in > 1) {
        g = in[1].p;
        *p++ = &g;
    }
    if (kind >= SOFTMAX_LONG) {
        *p++ = &n;
        *p++ = &inner;
        *p++ = &tiles;
    } else {
        *p++ = &outer;
        *p++ = &n;
        *p++ = &lanes;
    }
    return launch(r, f, (unsigned)grid, 1, block, 0, params);
}

static const cuda_launcher softmax_launchers[] = {{NULL, softmax_any, 0}, {0}};
