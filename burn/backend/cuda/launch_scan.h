/* Launchers of cuda/scan.cu: ints = outer, n, inner, reverse. The cuts follow from the shape alone. */
#pragma once
#include "device.h"

#define SCAN_PIECE 4096     /* least elements of a piece of a row */
#define SCAN_GROUPS 1024    /* fewer rows or columns than this times 32, and long axes are cut */

static int launch_scan(const burn_buf *out, const burn_buf *x, burn_args *a) {
    cuda_row *r = row_of(a);
    int64_t outer = a->i[0], n = a->i[1], inner = a->i[2], pieces = 1, length = n, groups;
    int32_t reverse = (int32_t)a->i[3], lanes = n > 2048 ? 256 : 32;
    void *part = NULL, *none = NULL;
    size_t bytes = 0;
    if (outer * n * inner == 0) return BURN_OK;
    const int rows = inner == 1 && n > 16;
    if (rows) {
        if (outer < SCAN_GROUPS && n >= 2 * SCAN_PIECE) pieces = SCAN_GROUPS / outer < 256 ? SCAN_GROUPS / outer : 256;
        if (pieces > n / SCAN_PIECE) pieces = n / SCAN_PIECE;
    } else if (outer * inner < 32 * SCAN_GROUPS && n >= 128) {
        pieces = 32 * SCAN_GROUPS / (outer * inner) < n / 64 ? 32 * SCAN_GROUPS / (outer * inner) : n / 64;
        if (pieces > 64) pieces = 64;
    }
    if (pieces < 2) pieces = 1;
    length = (n + pieces - 1) / pieces;
    pieces = (n + length - 1) / length;
    CUfunction f = rows ? kernel_of(r, 0, "rows") : kernel_of(r, 1, "cols");
    if (!f) return BURN_ERR_RAISED;
    if (pieces > 1) {
        bytes = (size_t)(outer * pieces * inner) * 8; /* no running result is larger */
        part = scratch_take(r, bytes);
        if (!part) return BURN_ERR_RAISED;
    }
    groups = rows ? (outer * pieces * lanes + 255) / 256 : (outer * pieces * inner + 255) / 256;
    int status = BURN_OK;
    for (int last = pieces == 1; last < 2 && !status; last++) {
        void *along[] = {last ? (void *)&out->p : &none, (void *)&x->p, &outer, &n, &reverse, &lanes, &pieces, &length, &part};
        void *across[] = {along[0], along[1], &outer, &n, &inner, &reverse, &pieces, &length, &part};
        status = launch(r, f, groups, 1, 256, 0, rows ? along : across);
    }
    if (part) scratch_give(r, part, bytes);
    return status;
}

static const cuda_launcher scan_launchers[] = {{NULL, launch_scan, 0}, {0}};
