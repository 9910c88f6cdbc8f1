/* The core's services as the row and index kernels use them: tasks, scratch memory, and when to bypass the cache.
   A kernel cuts its work by shape alone, so its result does not depend on the number of threads. */
#pragma once
#include "abi.h"
#include "vec.h"

#define SERIAL_NS 5000.0            /* below this a parallel region costs more than it saves */
#define STREAM_BYTES (2 << 20)      /* from here an output does not stay in cache anyway */

#if BURN_LEVEL == 4
#define LEVEL_NAME "v4"
#elif BURN_LEVEL == 3
#define LEVEL_NAME "v3"
#elif BURN_LEVEL == 2
#define LEVEL_NAME "v2"
#else
#define LEVEL_NAME "portable"
#endif

static const burn_rt *rt;
VINL void rt_init(const burn_rt *services) { rt = services; }

VINL int64_t i64_min(int64_t a, int64_t b) { return a < b ? a : b; }
VINL int64_t i64_max(int64_t a, int64_t b) { return a > b ? a : b; }
VINL int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* body(ctx, 0..n-1); ns is the estimated work of all of them together on one core */
static inline void rt_tasks(void (*body)(void *, int64_t), void *ctx, int64_t n, double ns) {
    if (n > 1 && ns > SERIAL_NS) rt->run(body, ctx, n);
    else for (int64_t i = 0; i < n; i++) body(ctx, i);
}

static inline int rt_no_memory(burn_args *a, int64_t bytes) {
    a->err[0] = bytes;
    return BURN_ERR_MEMORY;
}

/* streaming stores pay for a large output; they need whole, aligned vectors: also check that rows keep the alignment */
VINL int can_stream(const void *out, int64_t bytes) { return bytes >= STREAM_BYTES && ((uintptr_t)out & 63) == 0; }
