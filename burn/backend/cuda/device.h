/* One GPU as the launchers see it: context, stream, memory, the record of wrong values, and what ran since the last check.

   All work of a device goes to one stream, so memory that is given back may be used again at once: whoever gets it comes
   later on the stream. The stream is an ordinary one: the legacy default stream of PyTorch and CuPy waits for it and it for
   that. Everything but copies and waiting is called with the interpreter's lock held. */
#pragma once
#include <pthread.h>
#include <string.h>
#include "abi.h"
#include "driver.h"
#include "scalar.h"
#include "size_class.h"

#define CUDA_DEVICES 32
#define CUDA_FIRST_SLOT 8
#define CUDA_VARIANTS 24
#define CUDA_LOG 256                        /* launches that a fault can name */
#define CUDA_SHELF_BYTES ((size_t)32 << 20) /* larger blocks go to the driver's pool, where they are rounded less */
#define CUDA_STAGING ((size_t)8 << 20)
#define CUDA_COUNTERS 1024
#define CUDA_ERRORS 64

/* Twins of the types in cuda/common.cuh. */
typedef struct { const void *p; int64_t step; char v[8]; } cuda_in;
typedef struct { int64_t ticket; int32_t code, lock; int64_t position, value, size, latest; } cuda_error;

typedef struct cuda_device {
    int index, slot, sms;
    int refuse;                    /* poisoned, closed, or this is a forked child: every call says so */
    int poisoned, sync_each;       /* sync_each: BURN_CUDA_SYNC=1 */
    int armed;                     /* something that may find wrong values ran since the last check */
    CUcontext ctx;
    CUstream stream;
    CUmemoryPool pool;
    cuda_error *err, *seen;        /* CUDA_ERRORS records on the device, and their copy in pinned memory */
    unsigned *counters;            /* zero between launches */
    char *staging;                 /* pinned, two halves */
    CUevent half[2];
    pthread_mutex_t copying;
    const char *log[CUDA_LOG];
    uint64_t launched, checked;    /* launches so far, and those known to be good */
    struct { void **p; int n, room; } shelf[ALLOC_CLASSES];
    size_t live, cached, limit, peak, live_blocks, cached_blocks;
    void *blas;
} cuda_device;

typedef struct {
    cuda_device *dev;
    const char *family;
    int dtype;
    CUmodule module;
} cuda_unit;

/* A row of a kernel table: what the core knows, and the handles of the row's kernels once they are found. */
typedef struct {
    burn_row row;
    cuda_device *dev;
    cuda_unit *unit;
    CUfunction fn[CUDA_VARIANTS];
} cuda_row;

typedef struct { const char *op; burn_kernel fn; int32_t flags; } cuda_launcher;

/* What a check has found: records of calls that met wrong values. */
typedef struct { int n; cuda_error record[CUDA_ERRORS]; } cuda_findings;

static cuda_device devices[CUDA_DEVICES];
static int cuda_forked;
static int cuda_exact; /* BURN_CUDA_EXACT=1: no rounding, nothing kept, so that memory checkers see every byte too far */

/* Set by launch.pyx; they take the interpreter's lock, leave an exception with the core and return BURN_ERR_RAISED. */
static int (*cuda_raise)(cuda_device *d, int code, const char *what, size_t bytes);
static int (*cuda_raise_findings)(const cuda_findings *found);
static int (*cuda_load)(cuda_unit *unit);

#define CUDA_REFUSED (-1)
#define CUDA_TOO_LARGE (-2)

static inline cuda_row *row_of(const burn_args *a) { return (cuda_row *)a->row; }
/* The record in which a call reports: its own, unless CUDA_ERRORS later calls were launched before a check. */
static inline void *error_of(const burn_args *a) { return row_of(a)->dev->err + a->ticket % CUDA_ERRORS; }
static inline unsigned *counters_of(cuda_row *r) { return r->dev->counters; }
static inline cuda_device *device_of(int slot) { return &devices[slot - CUDA_FIRST_SLOT]; }

static inline int cuda_enter(cuda_device *d) {
    CUcontext now = NULL;
    cuCtxGetCurrent(&now);
    return now != d->ctx && cuCtxPushCurrent(d->ctx) == CUDA_OK;
}
static inline void cuda_leave(int pushed) {
    CUcontext old;
    if (pushed) cuCtxPopCurrent(&old);
}

/* After these the context is lost until the process ends. */
static int cuda_is_fatal(CUresult rc) {
    return rc == 214 || rc == 220 || rc == 226 || rc == 700 || rc == 702 || rc == 709 || rc == 710 || (rc >= 714 && rc <= 719);
}
static int cuda_fail(cuda_device *d, CUresult rc, const char *what, size_t bytes) {
    if (cuda_is_fatal(rc)) d->poisoned = d->refuse = 1;
    return cuda_raise(d, rc, what, bytes);
}
#define CUDA_TRY(call) (rc = rc ? rc : (call))

/* ---- memory */
static int cuda_class(size_t bytes, size_t *rounded) {
    if (cuda_exact) {
        *rounded = bytes ? bytes : 1;
        return -1;
    }
    if (bytes > CUDA_SHELF_BYTES) {
        *rounded = (bytes + ((size_t)2 << 20) - 1) & ~(((size_t)2 << 20) - 1);
        return -1;
    }
    return size_class(bytes < 512 ? 512 : bytes, rounded);
}

/* Gives what is kept for reuse to the driver's pool, and that back to the device. */
static size_t cuda_trim(cuda_device *d) {
    size_t before = 0, after = 0;
    if (d->refuse) return 0;
    int pushed = cuda_enter(d);
    cuMemPoolGetAttribute(d->pool, POOL_RESERVED, &before);
    for (int c = 0; c < ALLOC_CLASSES; c++)
        while (d->shelf[c].n) cuMemFreeAsync((CUdeviceptr)d->shelf[c].p[--d->shelf[c].n], d->stream);
    d->cached = d->cached_blocks = 0;
    cuStreamSynchronize(d->stream);
    cuMemPoolTrimTo(d->pool, 0);
    cuMemPoolGetAttribute(d->pool, POOL_RESERVED, &after);
    cuda_leave(pushed);
    return before > after ? before - after : 0;
}

static void *cuda_take(cuda_device *d, size_t bytes) {
    size_t rounded;
    int c = cuda_class(bytes, &rounded);
    CUdeviceptr p = 0;
    if (d->refuse) { cuda_raise(d, CUDA_REFUSED, "alloc", bytes); return NULL; }
    if (c >= 0 && d->shelf[c].n) {
        p = (CUdeviceptr)d->shelf[c].p[--d->shelf[c].n];
        d->cached -= rounded;
        d->cached_blocks--;
    } else {
        int pushed = cuda_enter(d);
        CUresult rc = bytes >> 46 ? CUDA_OUT_OF_MEMORY : cuMemAllocFromPoolAsync(&p, rounded, d->pool, d->stream);
        if (rc == CUDA_OUT_OF_MEMORY) {
            cuda_trim(d);
            rc = bytes >> 46 ? CUDA_OUT_OF_MEMORY : cuMemAllocFromPoolAsync(&p, rounded, d->pool, d->stream);
        }
        cuda_leave(pushed);
        if (rc) { cuda_fail(d, rc, "alloc", bytes); return NULL; }
    }
    d->live += rounded;
    d->live_blocks++;
    if (d->live > d->peak) d->peak = d->live;
    return (void *)p;
}

static void cuda_give(cuda_device *d, void *p, size_t bytes) {
    size_t rounded;
    int c = cuda_class(bytes, &rounded);
    if (!p || d->refuse) return;
    d->live -= rounded;
    d->live_blocks--;
    if (c >= 0 && d->cached + rounded <= d->limit) {
        if (d->shelf[c].n == d->shelf[c].room) {
            int room = d->shelf[c].room * 2 + 64;
            void **more = realloc(d->shelf[c].p, room * sizeof(void *));
            if (more) { d->shelf[c].p = more; d->shelf[c].room = room; }
        }
        if (d->shelf[c].n < d->shelf[c].room) {
            d->shelf[c].p[d->shelf[c].n++] = p;
            d->cached += rounded;
            d->cached_blocks++;
            return;
        }
    }
    int pushed = cuda_enter(d);
    cuMemFreeAsync((CUdeviceptr)p, d->stream);
    cuda_leave(pushed);
}

static inline void *scratch_take(cuda_row *r, size_t bytes) { return cuda_take(r->dev, bytes); }
static inline void scratch_give(cuda_row *r, void *p, size_t bytes) { cuda_give(r->dev, p, bytes); }

/* ---- kernels */
static CUfunction kernel_find(cuda_row *r, int variant, const char *suffix) {
    char name[96];
    if (r->dev->refuse) { cuda_raise(r->dev, CUDA_REFUSED, r->row.name, 0); return NULL; }
    if (!r->unit->module && cuda_load(r->unit)) return NULL;
    snprintf(name, sizeof name, *suffix ? "%s_%s" : "%s%s", r->row.name, suffix);
    int pushed = cuda_enter(r->dev);
    CUresult rc = cuModuleGetFunction(&r->fn[variant], r->unit->module, name);
    cuda_leave(pushed);
    if (rc) { r->fn[variant] = NULL; cuda_fail(r->dev, rc, name, 0); }
    return r->fn[variant];
}
static inline CUfunction kernel_of(cuda_row *r, int variant, const char *suffix) {
    return r->fn[variant] ? r->fn[variant] : kernel_find(r, variant, suffix);
}

static inline int launch(cuda_row *r, CUfunction f, int64_t grid_x, unsigned grid_y, unsigned block_x, unsigned shared,
                         void **params) {
    cuda_device *d = r->dev;
    if (__builtin_expect(d->refuse || grid_x > INT32_MAX, 0))
        return cuda_raise(d, d->refuse ? CUDA_REFUSED : CUDA_TOO_LARGE, r->row.name, (size_t)grid_x);
    int pushed = cuda_enter(d);
    CUresult rc = cuLaunchKernel(f, (unsigned)grid_x, grid_y, 1, block_x, 1, 1, shared, d->stream, params, NULL);
    d->log[d->launched++ % CUDA_LOG] = r->row.name;
    if (r->row.flags & ROW_TICKET) d->armed = 1;
    if (__builtin_expect(d->sync_each, 0) && !rc) {
        rc = cuStreamSynchronize(d->stream);
        if (!rc) d->checked = d->launched;
    }
    cuda_leave(pushed);
    return rc ? cuda_fail(d, rc, r->row.name, 0) : BURN_OK;
}

/* ---- waiting, and what is found out by it. The three steps are done under `copying`, but for raising. */
/* Enqueues the copy of the records of wrong values, where one can have been written. */
static CUresult cuda_ask(cuda_device *d) {
    if (!__atomic_exchange_n(&d->armed, 0, __ATOMIC_ACQ_REL)) return CUDA_OK;
    return cuMemcpyDtoHAsync(d->seen, (CUdeviceptr)d->err, CUDA_ERRORS * sizeof *d->seen, d->stream);
}
/* Once the copy is here: takes what it has, and clears those records for the calls to come. */
static void cuda_collect(cuda_device *d, cuda_findings *found) {
    found->n = 0;
    for (int i = 0; i < CUDA_ERRORS; i++)
        if (d->seen[i].ticket) {
            found->record[found->n++] = d->seen[i];
            d->seen[i].ticket = 0;
            cuMemsetD8Async((CUdeviceptr)(d->err + i), 0, sizeof *d->err, d->stream);
        }
}
static int cuda_conclude(cuda_device *d, CUresult rc, uint64_t launched, const cuda_findings *found, const char *what) {
    if (rc) return cuda_fail(d, rc, what, 0);
    d->checked = launched;
    return found->n ? cuda_raise_findings(found) : BURN_OK;
}
static int cuda_sync(int slot) {
    cuda_device *d = device_of(slot);
    cuda_findings found;
    if (d->refuse) return cuda_raise(d, CUDA_REFUSED, "sync", 0);
    int pushed = cuda_enter(d);
    pthread_mutex_lock(&d->copying);
    uint64_t launched = d->launched;
    CUresult rc = cuda_ask(d);
    CUDA_TRY(cuStreamSynchronize(d->stream));
    if (!rc) cuda_collect(d, &found);
    pthread_mutex_unlock(&d->copying);
    cuda_leave(pushed);
    return cuda_conclude(d, rc, launched, &found, "sync");
}

/* ---- copies */
/* The kind of memory that an address is in (1 pinned, 2 a GPU's), and the GPU; 0 for memory that the driver does not know. */
static int cuda_memory_kind(const void *p, int *gpu) {
    int kind = 0, what[] = {POINTER_MEMORY_TYPE, POINTER_ORDINAL};
    void *facts[] = {&kind, gpu};
    *gpu = 0;
    return cuPointerGetAttributes(2, what, facts, (CUdeviceptr)p) ? 0 : kind;
}
static int cuda_upload(int slot, void *to, const void *from, size_t bytes) {
    cuda_device *d = device_of(slot);
    int gpu;
    if (d->refuse) return cuda_raise(d, CUDA_REFUSED, "upload", bytes);
    int pushed = cuda_enter(d);
    CUresult rc = cuMemcpyHtoDAsync((CUdeviceptr)to, from, bytes, d->stream);
    /* From ordinary memory the driver returns once it has the bytes in memory of its own; pinned memory is read later. */
    if (!rc && cuda_memory_kind(from, &gpu)) rc = cuStreamSynchronize(d->stream);
    cuda_leave(pushed);
    return rc ? cuda_fail(d, rc, "upload", bytes) : BURN_OK;
}

/* Through pinned memory in two halves: one is filled by the device while the other is emptied here. */
static int cuda_download(int slot, void *to, const void *from, size_t bytes) {
    cuda_device *d = device_of(slot);
    const size_t half = CUDA_STAGING / 2;
    if (d->refuse) return cuda_raise(d, CUDA_REFUSED, "download", bytes);
    int pushed = cuda_enter(d);
    pthread_mutex_lock(&d->copying);
    cuda_findings found;
    uint64_t launched = d->launched;
    CUresult rc = cuda_ask(d);
    if (bytes <= half) {
        CUDA_TRY(cuMemcpyDtoHAsync(d->staging, (CUdeviceptr)from, bytes, d->stream));
        CUDA_TRY(cuStreamSynchronize(d->stream));
        if (!rc) memcpy(to, d->staging, bytes);
    } else {
        size_t pieces = (bytes + half - 1) / half;
        for (size_t i = 0; i < pieces + 1 && !rc; i++) {
            if (i < pieces) {
                size_t n = i + 1 < pieces ? half : bytes - i * half;
                CUDA_TRY(cuMemcpyDtoHAsync(d->staging + (i & 1) * half, (CUdeviceptr)from + i * half, n, d->stream));
                CUDA_TRY(cuEventRecord(d->half[i & 1], d->stream));
            }
            if (i) {
                size_t k = i - 1, n = k + 1 < pieces ? half : bytes - k * half;
                CUDA_TRY(cuEventSynchronize(d->half[k & 1]));
                if (!rc) memcpy((char *)to + k * half, d->staging + (k & 1) * half, n);
            }
        }
    }
    if (!rc) cuda_collect(d, &found);
    pthread_mutex_unlock(&d->copying);
    cuda_leave(pushed);
    return cuda_conclude(d, rc, launched, &found, "download");
}

/* Between two GPUs through pinned memory: right on every machine, whether or not they reach each other. */
static int cuda_copy(int to_slot, void *to, int from_slot, const void *from, size_t bytes) {
    cuda_device *a = device_of(from_slot), *b = device_of(to_slot);
    if (a->refuse || b->refuse) return cuda_raise(a->refuse ? a : b, CUDA_REFUSED, "copy", bytes);
    CUresult rc = CUDA_OK;
    if (a == b) {
        int pushed = cuda_enter(a);
        rc = cuMemcpyDtoDAsync((CUdeviceptr)to, (CUdeviceptr)from, bytes, a->stream);
        cuda_leave(pushed);
        return rc ? cuda_fail(a, rc, "copy", bytes) : BURN_OK;
    }
    CUresult there = CUDA_OK;
    cuda_findings found;
    pthread_mutex_lock(&a->copying);
    uint64_t launched = a->launched;
    int pushed = cuda_enter(a);
    rc = cuda_ask(a);
    cuda_leave(pushed);
    for (size_t at = 0; at < bytes && !rc && !there; at += CUDA_STAGING) {
        size_t n = bytes - at < CUDA_STAGING ? bytes - at : CUDA_STAGING;
        pushed = cuda_enter(a);
        CUDA_TRY(cuMemcpyDtoHAsync(a->staging, (CUdeviceptr)from + at, n, a->stream));
        CUDA_TRY(cuStreamSynchronize(a->stream));
        cuda_leave(pushed);
        if (rc) break;
        pushed = cuda_enter(b);
        there = cuMemcpyHtoDAsync((CUdeviceptr)to + at, a->staging, n, b->stream);
        if (!there) there = cuStreamSynchronize(b->stream);
        cuda_leave(pushed);
    }
    pushed = cuda_enter(a);
    if (!rc) cuda_collect(a, &found);
    cuda_leave(pushed);
    pthread_mutex_unlock(&a->copying);
    if (there) return cuda_fail(b, there, "copy", bytes);
    return cuda_conclude(a, rc, launched, &found, "copy");
}

static void *cuda_alloc_slot(int slot, size_t bytes) { return cuda_take(device_of(slot), bytes); }
static void cuda_free_slot(int slot, void *p, size_t bytes) { cuda_give(device_of(slot), p, bytes); }
static size_t cuda_trim_slot(int slot) { return cuda_trim(device_of(slot)); }
static int cuda_check_slot(int slot) {
    cuda_device *d = device_of(slot);
    return d->refuse ? cuda_raise(d, CUDA_REFUSED, "flush", 0) : BURN_OK;
}
static const burn_memory cuda_memory = {cuda_alloc_slot, cuda_free_slot, cuda_upload, cuda_download, cuda_copy,
                                        cuda_trim_slot, cuda_check_slot, cuda_sync};

/* ---- order with the streams of other libraries */
/* Our work that follows waits for what is on another stream now (first), or that stream for what is on ours. */
static int cuda_order(cuda_device *d, CUstream other, int ours_waits) {
    CUevent event;
    if (d->refuse) return cuda_raise(d, CUDA_REFUSED, "order", 0);
    int pushed = cuda_enter(d);
    CUresult rc = cuEventCreate(&event, EVENT_DISABLE_TIMING);
    if (!rc) {
        CUDA_TRY(cuEventRecord(event, ours_waits ? other : d->stream));
        CUDA_TRY(cuStreamWaitEvent(ours_waits ? d->stream : other, event, 0));
        cuEventDestroy(event);
    }
    cuda_leave(pushed);
    return rc ? cuda_fail(d, rc, "order", 0) : BURN_OK;
}

/* ---- beginning and end */
static void cuda_after_fork(void) {
    cuda_forked = 1;
    for (int i = 0; i < CUDA_DEVICES; i++) devices[i].refuse = 1;
}

static CUresult cuda_open(int index, int sync_each) {
    cuda_device *d = &devices[index];
    CUdevice handle;
    size_t total = 0, spare = 0;
    uint64_t forever = UINT64_MAX;
    CUmemPoolProps props;
    CUresult rc = cuDeviceGet(&handle, index);
    int pools = 0;
    CUDA_TRY(cuDeviceGetAttribute(&pools, ATTRIBUTE_POOLS, handle));
    if (!rc && !pools) return CUDA_NO_POOLS;
    CUDA_TRY(cuDevicePrimaryCtxRetain(&d->ctx, handle));
    if (rc) return rc;
    d->index = index;
    d->slot = CUDA_FIRST_SLOT + index;
    d->sync_each = sync_each;
    const char *exact = getenv("BURN_CUDA_EXACT");
    cuda_exact = exact && *exact && *exact != '0';
    int pushed = cuda_enter(d);
    memset(&props, 0, sizeof props);
    props.allocation = props.location.kind = 1;
    props.location.id = handle;
    CUdeviceptr err = 0, counters = 0;
    CUDA_TRY(cuDeviceGetAttribute(&d->sms, ATTRIBUTE_SMS, handle));
    CUDA_TRY(cuStreamCreate(&d->stream, 0));
    CUDA_TRY(cuMemPoolCreate(&d->pool, &props));
    CUDA_TRY(cuMemPoolSetAttribute(d->pool, POOL_RELEASE_THRESHOLD, &forever));
    CUDA_TRY(cuMemAllocFromPoolAsync(&err, CUDA_ERRORS * sizeof(cuda_error), d->pool, d->stream));
    CUDA_TRY(cuMemAllocFromPoolAsync(&counters, CUDA_COUNTERS * sizeof(unsigned), d->pool, d->stream));
    CUDA_TRY(cuMemsetD8Async(err, 0, CUDA_ERRORS * sizeof(cuda_error), d->stream));
    CUDA_TRY(cuMemsetD8Async(counters, 0, CUDA_COUNTERS * sizeof(unsigned), d->stream));
    CUDA_TRY(cuMemHostAlloc((void **)&d->seen, CUDA_ERRORS * sizeof(cuda_error), 0));
    CUDA_TRY(cuMemHostAlloc((void **)&d->staging, CUDA_STAGING, 0));
    CUDA_TRY(cuEventCreate(&d->half[0], EVENT_DISABLE_TIMING));
    CUDA_TRY(cuEventCreate(&d->half[1], EVENT_DISABLE_TIMING));
    CUDA_TRY(cuMemGetInfo(&spare, &total));
    CUDA_TRY(cuStreamSynchronize(d->stream));
    if (rc) { /* as if it had never been opened: another try may find room */
        if (d->pool) cuMemPoolDestroy(d->pool);
        if (d->seen) cuMemFreeHost(d->seen);
        if (d->staging) cuMemFreeHost(d->staging);
        if (d->stream) cuStreamDestroy(d->stream);
        cuda_leave(pushed);
        cuDevicePrimaryCtxRelease(handle);
        memset(d, 0, sizeof *d);
        return rc;
    }
    cuda_leave(pushed);
    d->err = (cuda_error *)err;
    d->counters = (unsigned *)counters;
    memset(d->seen, 0, CUDA_ERRORS * sizeof *d->seen);
    d->limit = total / 16;
    pthread_mutex_init(&d->copying, NULL);
    return CUDA_OK;
}

/* At exit: nothing is computed any more; what is freed later goes with the process, pinned memory too, since a thread may
   still be reading there. */
static void cuda_close(int index) {
    cuda_device *d = &devices[index];
    CUdevice handle;
    if (!d->ctx || d->refuse) return;
    d->refuse = 1;
    int pushed = cuda_enter(d);
    pthread_mutex_lock(&d->copying);
    cuStreamSynchronize(d->stream);
    pthread_mutex_unlock(&d->copying);
    cuda_leave(pushed);
    if (!cuDeviceGet(&handle, index)) cuDevicePrimaryCtxRelease(handle);
}
