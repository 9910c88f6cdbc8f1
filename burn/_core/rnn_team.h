/* Steps that follow each other, each cut into the same parts, in one parallel region: a part of a step begins when all parts
   of the step before are done. A thread takes its own parts first, whose weights its cache holds, then what others have not
   begun. It waits only for parts that another thread has begun: where the pool runs everything on one thread, nobody waits. */
#pragma once
#include "runtime.h"
#include <sched.h>

typedef struct { int64_t step; char room[56]; } rnn_mark; /* steps in which a part was taken; a cache line for each */

typedef struct {
    void (*body)(void *ctx, int64_t step, int64_t part);
    void *ctx;
    int64_t steps, parts, threads;
    rnn_mark *taken;
    int64_t done;
} rnn_team;

VINL void rnn_pause(int64_t spins) {
#if BURN_LEVEL >= 2
    _mm_pause();
#endif
    if (spins > 4096) sched_yield(); /* more threads than processors: let the one that works work */
}

static void rnn_work(void *ctx, int64_t worker) {
    rnn_team *t = ctx;
    const int64_t first = worker * t->parts / t->threads;
    for (int64_t step = __atomic_load_n(&t->done, __ATOMIC_ACQUIRE) / t->parts; step < t->steps; step++) {
        for (int64_t i = 0; i < t->parts; i++) {
            const int64_t part = first + i < t->parts ? first + i : first + i - t->parts;
            int64_t seen = step;
            if (__atomic_load_n(&t->taken[part].step, __ATOMIC_RELAXED) != step
                || !__atomic_compare_exchange_n(&t->taken[part].step, &seen, step + 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
                continue;
            t->body(t->ctx, step, part);
            __atomic_fetch_add(&t->done, 1, __ATOMIC_ACQ_REL);
        }
        for (int64_t spins = 0; __atomic_load_n(&t->done, __ATOMIC_ACQUIRE) < (step + 1) * t->parts; spins++) rnn_pause(spins);
    }
}

/* body(ctx, 0..steps-1, 0..parts-1); ns is the estimated work of one step on one core. Returns bytes that could not be had. */
static size_t rnn_steps(void (*body)(void *, int64_t, int64_t), void *ctx, int64_t steps, int64_t parts, double ns) {
    rnn_team t = {.body = body, .ctx = ctx, .steps = steps, .parts = parts, .threads = i64_min(rt->threads(), parts)};
    if (ns < SERIAL_NS || t.threads < 2) {
        for (int64_t step = 0; step < steps; step++)
            for (int64_t part = 0; part < parts; part++) body(ctx, step, part);
        return 0;
    }
    const size_t bytes = (size_t)parts * sizeof(rnn_mark);
    if (!(t.taken = rt->alloc(bytes))) return bytes;
    memset(t.taken, 0, bytes);
    rt->run(rnn_work, &t, t.threads);
    rt->free(t.taken, bytes);
    return 0;
}
