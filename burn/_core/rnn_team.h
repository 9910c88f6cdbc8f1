/* Steps that follow each other, each cut into the same parts, in one parallel region. Parts are of `groups` kinds that know
   nothing of each other: a part of a step begins when all parts of its group are done with the step before. So a thread that
   is late keeps nobody waiting as long as there is another group to go on with. A thread takes its own parts, whose weights
   its cache holds; what others have not begun of a step it takes before it waits for it. It waits only for parts that another
   thread has begun: where the pool runs everything on one thread, nobody waits. */
#pragma once
#include "runtime.h"
#include <sched.h>

typedef struct { int64_t n; char room[56]; } rnn_mark; /* a cache line for each */

typedef struct {
    void (*body)(void *ctx, int64_t step, int64_t part);
    void *ctx;
    int64_t steps, parts, groups, threads;
    rnn_mark *taken, *done; /* of each part the steps that were begun, of each group the parts that are done */
} rnn_team;

VINL void rnn_pause(int64_t spins) {
#if BURN_LEVEL >= 2
    _mm_pause();
#endif
    if (spins > 4096) sched_yield(); /* more threads than processors: let the one that works work */
}

/* part i of a group, where nobody has begun it */
static void rnn_take(rnn_team *t, int64_t step, int64_t group, int64_t i) {
    const int64_t part = i * t->groups + group;
    int64_t seen = step, *taken = &t->taken[part].n;
    if (__atomic_load_n(taken, __ATOMIC_RELAXED) != step
        || !__atomic_compare_exchange_n(taken, &seen, step + 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    t->body(t->ctx, step, part);
    __atomic_fetch_add(&t->done[group].n, 1, __ATOMIC_ACQ_REL);
}

static void rnn_work(void *ctx, int64_t worker) {
    rnn_team *t = ctx;
    const int64_t each = t->parts / t->groups, own = worker * t->parts / t->threads, next = (worker + 1) * t->parts / t->threads;
    for (int64_t step = __atomic_load_n(&t->done[t->groups - 1].n, __ATOMIC_ACQUIRE) / each; step <= t->steps; step++)
        for (int64_t group = 0; group < t->groups; group++) {
            const int64_t *done = &t->done[group].n, before = step * each;
            const int64_t first = (own - group + t->groups - 1) / t->groups, last = (next - group + t->groups - 1) / t->groups;
            if (__atomic_load_n(done, __ATOMIC_ACQUIRE) < before)
                for (int64_t i = 0; i < each; i++) rnn_take(t, step - 1, group, (last + i) % each);
            for (int64_t spins = 0; __atomic_load_n(done, __ATOMIC_ACQUIRE) < before; spins++) rnn_pause(spins);
            for (int64_t i = first; step < t->steps && i < last; i++) rnn_take(t, step, group, i);
        }
}

/* body(ctx, 0..steps-1, 0..parts-1), part i of group i % groups; ns is the estimated work of one step on one core. Returns
   bytes that could not be had. */
static size_t rnn_steps(void (*body)(void *, int64_t, int64_t), void *ctx, int64_t steps, int64_t parts, int64_t groups,
                        double ns) {
    rnn_team t = {body, ctx, steps, parts, groups, i64_min(rt->threads(), parts), NULL, NULL};
    if (ns < SERIAL_NS || t.threads < 2) {
        for (int64_t step = 0; step < steps; step++)
            for (int64_t part = 0; part < parts; part++) body(ctx, step, part);
        return 0;
    }
    const size_t bytes = (size_t)(parts + groups) * sizeof(rnn_mark);
    if (!(t.taken = rt->alloc(bytes))) return bytes;
    t.done = t.taken + parts;
    memset(t.taken, 0, bytes);
    rt->run(rnn_work, &t, t.threads);
    rt->free(t.taken, bytes);
    return 0;
}
