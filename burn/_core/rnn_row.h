/* LSTM of a single row: a step begins before all of the one before is done. Each thread has a range of the units, a chunk, and
   multiplies first what this says of its next step, while others still make theirs. Two halves of the units decide what comes
   first, not the threads, so the order of a sum depends on the shape alone. Weights come from the caches, a core's share from
   its own. Included by rnn.h; a step is in rnn_row_type.h. */
#pragma once

/* ROW_WIDE    vectors of a row of weights, and
   ROW_GATES   gates whose sums registers hold at once, where weights are read as they are
   ROW_PACK    whether they are put in the order of their use before: for a small L2, to which the rows' pieces come one by one */
#if BURN_LEVEL >= 4
enum { ROW_WIDE = 8, ROW_GATES = 2, ROW_PACK = 0 };
#else
enum { ROW_WIDE = 2, ROW_GATES = 4, ROW_PACK = 1 };
#endif
enum { ROW_SPINS = 64 }; /* looks at a phase until which its own thread may begin it */

struct rnn_row {
    const rnn_job *j;
    int64_t chunks, panels, phases; /* phases: what comes before the steps, if anything does, and they */
    int ahead;                      /* whether it does: products of the inputs, packing */
    void *g, *x, *w;                /* products of the inputs of all steps, `g_row` elements apart; sums of a step; weights */
    int64_t g_row;
    rnn_mark *taken, *done;         /* of each chunk the phases that were begun, that are done */
};

VINL int64_t rnn_row_start(const rnn_row *t, int64_t chunk) { return chunk * t->panels / t->chunks; } /* its first panel */

/* A phase of a chunk, where it is the next one and nobody has begun it. */
static int rnn_row_take(const rnn_row *t, int64_t chunk, int64_t phase) {
    int64_t seen = phase;
    if (!__atomic_compare_exchange_n(&t->taken[chunk].n, &seen, phase + 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return 0;
    t->j->t->row(t, chunk, phase);
    __atomic_store_n(&t->done[chunk].n, phase + 1, __ATOMIC_RELEASE);
    return 1;
}
VINL int rnn_row_has(const rnn_row *t, int64_t chunk, int64_t phases) {
    return __atomic_load_n(&t->done[chunk].n, __ATOMIC_ACQUIRE) >= phases;
}
/* Until a chunk has done so many phases. What nobody begins for a while is done here: its thread may never run. */
VINL void rnn_row_wait(const rnn_row *t, int64_t chunk, int64_t phases) {
    for (int64_t spins = 1; !rnn_row_has(t, chunk, phases); spins++) {
        const int64_t next = __atomic_load_n(&t->taken[chunk].n, __ATOMIC_RELAXED);
        if (spins % ROW_SPINS || next >= phases || !rnn_row_take(t, chunk, next)) rnn_pause(spins);
    }
}

static void rnn_row_work(void *ctx, int64_t chunk) {
    const rnn_row *t = ctx;
    for (int64_t phase = 0; phase < t->phases; phase++)
        if (!rnn_row_take(t, chunk, phase)) rnn_row_wait(t, chunk, phase + 1);
}

static int rnn_row_run(const rnn_job *j, burn_args *a) {
    const int64_t wide = j->gates * j->hidden, size = j->t->size, pad = 64 / size; /* rows 4 KB apart would share sets of L1 */
    rnn_row t = {.j = j, .panels = j->hidden / j->t->panel, .ahead = ROW_PACK || j->x};
    t.phases = j->steps + t.ahead;
    t.g_row = wide + (j->x ? pad : 0);
    t.chunks = wide * (j->hidden * size * 0.01 + 2) < SERIAL_NS ? 1 : i64_min(rt->threads(), t.panels);
    const int64_t marks = 2 * t.chunks * (int64_t)sizeof(rnn_mark), inputs = j->x ? j->steps * t.g_row : 0;
    const int64_t bytes = marks + (wide + inputs + (ROW_PACK ? wide * j->hidden : 0)) * size;
    if (!(t.taken = rt->alloc((size_t)bytes))) return rt_no_memory(a, bytes);
    memset(t.taken, 0, (size_t)marks);
    t.done = t.taken + t.chunks;
    t.x = t.done + t.chunks;
    t.g = j->x ? (char *)t.x + wide * size : (void *)j->g;
    t.w = (char *)t.x + (wide + inputs) * size;
    if (t.chunks > 1) rt->run(rnn_row_work, &t, t.chunks);
    else rnn_row_work(&t, 0);
    rt->free(t.taken, (size_t)bytes);
    return BURN_OK;
}
