/* Caching allocator of host memory. Size classes in four steps a power of two (at most 25 % waste), 64-byte alignment,
   2 MB-aligned blocks on huge pages from 2 MB up, a bound on what is kept. Callers hand the size back: no headers. */
#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <pthread.h>
#include <sys/mman.h>
#include "size_class.h"
#include "headroom.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else /* a check of addresses sees the bytes between a request and its size class, and what a cached block held, as foreign */
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

#define HUGE_BLOCK ((size_t)1 << 21)
#define UNASKED_SHARE 8               /* this part of what was left is handed out before the system is asked again, */
#define UNASKED_MOST ((size_t)1 << 28) /* and at most so much */

static struct {
    void *free_list[ALLOC_CLASSES];
    size_t live, cached, limit, peak;   /* bytes, by size class */
    size_t live_blocks, cached_blocks;
    size_t unasked;                     /* bytes that may be taken without asking the system */
    int lock;
} heap;

static inline void heap_lock(void) {
    while (__atomic_exchange_n(&heap.lock, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(&heap.lock, __ATOMIC_RELAXED)) {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
}
static inline void heap_unlock(void) { __atomic_store_n(&heap.lock, 0, __ATOMIC_RELEASE); }

static void *heap_fresh(size_t bytes) {
    void *p = NULL;
    if (bytes < HUGE_BLOCK) return posix_memalign(&p, 64, bytes) ? NULL : p;
    /* map with room to align, then give the ends back: a page fault on a huge page costs a fraction of 512 small ones */
    char *raw = mmap(NULL, bytes + HUGE_BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) return NULL;
    char *block = (char *)(((uintptr_t)raw + HUGE_BLOCK - 1) & ~(uintptr_t)(HUGE_BLOCK - 1));
    size_t page = (size_t)sysconf(_SC_PAGESIZE), used = (bytes + page - 1) & ~(page - 1);
    if (block > raw) munmap(raw, (size_t)(block - raw));
    char *end = raw + bytes + HUGE_BLOCK;
    if (end > block + used) munmap(block + used, (size_t)(end - block - used));
#ifdef MADV_HUGEPAGE
    madvise(block, used, MADV_HUGEPAGE);
#endif
    return block;
}
static void heap_return(void *p, size_t bytes) {
    ASAN_UNPOISON_MEMORY_REGION(p, bytes);
    if (bytes < HUGE_BLOCK) { free(p); return; }
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap(p, (bytes + page - 1) & ~(page - 1));
}

/* Whether the system has room for so many fresh bytes. */
static int heap_has_room(size_t bytes) {
    heap_lock();
    int known = bytes <= heap.unasked;
    if (known) heap.unasked -= bytes;
    heap_unlock();
    if (known) return 1;
    size_t room = headroom_now("");
    if (bytes > room) return 0;
    size_t share = (room - bytes) / UNASKED_SHARE;
    heap_lock();
    heap.unasked = share < UNASKED_MOST ? share : UNASKED_MOST;
    heap_unlock();
    return 1;
}

/* Gives every cached block back to the system; returns the bytes freed. */
static size_t heap_trim(void) {
    size_t freed = 0;
    for (int c = 0; c < ALLOC_CLASSES; c++)
        for (;;) {
            size_t base = (size_t)64 << (c ? (c - 1) / 4 : 0), rounded = c ? base + (size_t)((c - 1) % 4 + 1) * (base / 4) : 64;
            heap_lock();
            void *p = heap.free_list[c];
            if (p) { heap.free_list[c] = *(void **)p; heap.cached -= rounded; heap.cached_blocks--; }
            heap_unlock();
            if (!p) break;
            heap_return(p, rounded);
            freed += rounded;
        }
    return freed;
}

static void *heap_alloc(size_t bytes) {
    size_t rounded;
    if (bytes > ((size_t)1 << 46)) return NULL;
    int c = size_class(bytes, &rounded);
    heap_lock();
    void *p = heap.free_list[c];
    if (p) { heap.free_list[c] = *(void **)p; heap.cached -= rounded; heap.cached_blocks--; }
    heap.live += rounded; heap.live_blocks++;
    if (heap.live > heap.peak) heap.peak = heap.live;
    heap_unlock();
    if (!p && heap_has_room(bytes)) p = heap_fresh(rounded);
    if (!p && heap_trim() && heap_has_room(bytes)) p = heap_fresh(rounded);
    if (!p) { heap_lock(); heap.live -= rounded; heap.live_blocks--; heap_unlock(); return p; }
    ASAN_UNPOISON_MEMORY_REGION(p, bytes);
    ASAN_POISON_MEMORY_REGION((char *)p + bytes, rounded - bytes);
    return p;
}
static void heap_free(void *p, size_t bytes) {
    size_t rounded;
    if (!p) return;
    int c = size_class(bytes, &rounded);
    ASAN_UNPOISON_MEMORY_REGION(p, sizeof(void *));
    ASAN_POISON_MEMORY_REGION((char *)p + sizeof(void *), rounded - sizeof(void *)); /* the list's link stays readable */
    heap_lock();
    heap.live -= rounded; heap.live_blocks--;
    if (heap.cached + rounded <= heap.limit) {
        *(void **)p = heap.free_list[c]; heap.free_list[c] = p;
        heap.cached += rounded; heap.cached_blocks++; p = NULL;
    }
    heap_unlock();
    if (p) heap_return(p, rounded);
}
static void heap_init(void) {
    size_t ram = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    heap.limit = ram / 8 < ((size_t)1 << 30) ? ram / 8 : (size_t)1 << 30;
}
