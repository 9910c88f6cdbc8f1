/* The one thread pool, and the only place that knows OpenMP. Kernels get pool_run through burn_rt.
   - One team: while one caller uses it, other callers run the same chunks serially (libgomp would start a team each).
   - A forked child runs serially: the team's threads do not exist there, a parallel region would wait for ever. */
#pragma once
#include <stdint.h>
#include <pthread.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include "alloc.h"

static int pool_size = 1, pool_forked = 0, pool_busy = 0;

static int pool_threads(void) { return pool_forked || __atomic_load_n(&pool_busy, __ATOMIC_RELAXED) ? 1 : pool_size; }

static void pool_run(void (*body)(void *, int64_t), void *ctx, int64_t n) {
#ifdef _OPENMP
    if (n > 1 && pool_size > 1 && !pool_forked && !__atomic_exchange_n(&pool_busy, 1, __ATOMIC_ACQUIRE)) {
        int nt = pool_size < n ? pool_size : (int)n;
        if (n == nt) {
            #pragma omp parallel for num_threads(nt) schedule(static, 1)
            for (int64_t i = 0; i < n; i++) body(ctx, i);
        } else {
            #pragma omp parallel for num_threads(nt) schedule(dynamic, 1)
            for (int64_t i = 0; i < n; i++) body(ctx, i);
        }
        __atomic_store_n(&pool_busy, 0, __ATOMIC_RELEASE);
        return;
    }
#endif
    for (int64_t i = 0; i < n; i++) body(ctx, i);
}

static void pool_before_fork(void) { heap_lock(); }
static void pool_after_fork_parent(void) { heap_unlock(); }
static void pool_after_fork_child(void) { heap_unlock(); pool_forked = 1; pool_busy = 0; }
static void pool_init(void) { pthread_atfork(pool_before_fork, pool_after_fork_parent, pool_after_fork_child); }
