/* Dense float products through cuBLASLt, found at run time like the driver. A plan (descriptors and the algorithm that the
   library's heuristic names) is made once a shape and kept. */
#pragma once
#include "device.h"

enum {
    BLAS_R_32F = 0, BLAS_R_64F = 1, BLAS_R_16F = 2, BLAS_R_16BF = 14, BLAS_COMPUTE_32F = 68, BLAS_COMPUTE_64F = 70,
    BLAS_TRANSA = 3, BLAS_TRANSB = 4, BLAS_EPILOGUE = 7, BLAS_BIAS_POINTER = 8, BLAS_BATCH_COUNT = 5, BLAS_BATCH_OFFSET = 6,
    BLAS_MOST_ROOM = 1, BLAS_ALIGN_A = 5, BLAS_PLAIN = 1, BLAS_RELU = 2, BLAS_BIAS = 4, BLAS_RELU_BIAS = 6
};
#define BLAS_ROOM ((size_t)32 << 20)
#define BLAS_PLANS 1024
#define BLAS_UNSUPPORTED (-2)

typedef struct { uint64_t data[8]; } blas_algo;
typedef struct { blas_algo algo; size_t room; int state; float waves; int reserved[4]; } blas_found;

#define BLAS_API(X) \
    X(cublasLtCreate, (void **)) \
    X(cublasLtDestroy, (void *)) \
    X(cublasLtMatmulDescCreate, (void **, int, int)) \
    X(cublasLtMatmulDescDestroy, (void *)) \
    X(cublasLtMatmulDescSetAttribute, (void *, int, const void *, size_t)) \
    X(cublasLtMatrixLayoutCreate, (void **, int, uint64_t, uint64_t, int64_t)) \
    X(cublasLtMatrixLayoutDestroy, (void *)) \
    X(cublasLtMatrixLayoutSetAttribute, (void *, int, const void *, size_t)) \
    X(cublasLtMatmulPreferenceCreate, (void **)) \
    X(cublasLtMatmulPreferenceDestroy, (void *)) \
    X(cublasLtMatmulPreferenceSetAttribute, (void *, int, const void *, size_t)) \
    X(cublasLtMatmulAlgoGetHeuristic, (void *, void *, void *, void *, void *, void *, void *, int, blas_found *, int *)) \
    X(cublasLtMatmul, (void *, void *, const void *, const void *, void *, const void *, void *, const void *, const void *, \
                       void *, void *, void *, const blas_algo *, void *, size_t, CUstream))

#define BLAS_POINTER(name, params) static int (*name) params;
BLAS_API(BLAS_POINTER)

/* In the library's words: column-major, d[rows, cols] = a[rows, k] b[k, cols]. Zeroed before it is filled: keys are
   compared as bytes. */
typedef struct {
    int64_t rows, cols, k, lda, ldb, ldd, batch, step_a, step_b, step_d;
    int32_t dtype, trans_a, trans_b, epilogue, align[4];
} blas_key;
typedef struct { blas_key key; void *desc, *a, *b, *d; blas_algo algo; int used, usable; } blas_plan;
typedef struct { void *handle, *room; size_t room_bytes; int count; blas_plan plans[BLAS_PLANS]; } blas_state;

static int blas_missing;

static void *blas_library(void) {
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
    const char *path = getenv("BURN_CUBLASLT");
    if (path && *path) return dlopen(path, RTLD_NOW);
    for (int i = 0; i < 3; i++) {
        void *library = dlopen(names[i], RTLD_NOW);
        if (library) return library;
    }
    return NULL;
}
static int blas_load(void) {
    static int tried;
    if (tried) return !blas_missing;
    tried = 1;
    void *library = blas_library();
    if (!library) { blas_missing = 1; return 0; }
#define BLAS_FIND(name, params) \
    *(void **)&name = dlsym(library, #name); \
    if (!name) blas_missing = 1;
    BLAS_API(BLAS_FIND)
    return !blas_missing;
}

static blas_state *blas_of(cuda_device *d) {
    blas_state *s = d->blas;
    if (s || blas_missing) return s;
    if (!blas_load()) return NULL;
    s = calloc(1, sizeof *s);
    if (!s) return NULL;
    if (cublasLtCreate(&s->handle)) { free(s); return NULL; }
    CUdeviceptr room = 0; /* without it there are fewer algorithms to choose from, no more */
    if (!cuMemAllocFromPoolAsync(&room, BLAS_ROOM, d->pool, d->stream)) {
        s->room = (void *)room;
        s->room_bytes = BLAS_ROOM;
    }
    return d->blas = s;
}

static void blas_drop(blas_plan *p) {
    if (p->desc) cublasLtMatmulDescDestroy(p->desc);
    if (p->a) cublasLtMatrixLayoutDestroy(p->a);
    if (p->b) cublasLtMatrixLayoutDestroy(p->b);
    if (p->d) cublasLtMatrixLayoutDestroy(p->d);
    memset(p, 0, sizeof *p);
}

static int blas_layout(void **layout, int type, int64_t rows, int64_t cols, int64_t ld, int64_t batch, int64_t step) {
    int32_t count = (int32_t)batch;
    int rc = cublasLtMatrixLayoutCreate(layout, type, rows, cols, ld);
    if (!rc && batch > 1) {
        rc = cublasLtMatrixLayoutSetAttribute(*layout, BLAS_BATCH_COUNT, &count, sizeof count);
        if (!rc) rc = cublasLtMatrixLayoutSetAttribute(*layout, BLAS_BATCH_OFFSET, &step, sizeof step);
    }
    return rc;
}

static void blas_prepare(blas_state *s, blas_plan *p) {
    const blas_key *k = &p->key;
    int type = k->dtype == DT_F64 ? BLAS_R_64F : k->dtype == DT_F16 ? BLAS_R_16F : k->dtype == DT_BF16 ? BLAS_R_16BF : BLAS_R_32F;
    int wide = k->dtype == DT_F64, count = 0;
    void *wish = NULL;
    uint64_t room = s->room_bytes;
    blas_found found;
    const void *place = (void *)256; /* only whether there is one matters here */
    int rc = cublasLtMatmulDescCreate(&p->desc, wide ? BLAS_COMPUTE_64F : BLAS_COMPUTE_32F, wide ? BLAS_R_64F : BLAS_R_32F);
    CUDA_TRY(cublasLtMatmulDescSetAttribute(p->desc, BLAS_TRANSA, &k->trans_a, sizeof k->trans_a));
    CUDA_TRY(cublasLtMatmulDescSetAttribute(p->desc, BLAS_TRANSB, &k->trans_b, sizeof k->trans_b));
    CUDA_TRY(cublasLtMatmulDescSetAttribute(p->desc, BLAS_EPILOGUE, &k->epilogue, sizeof k->epilogue));
    if (k->epilogue & BLAS_BIAS) CUDA_TRY(cublasLtMatmulDescSetAttribute(p->desc, BLAS_BIAS_POINTER, &place, sizeof place));
    CUDA_TRY(k->trans_a ? blas_layout(&p->a, type, k->k, k->rows, k->lda, k->batch, k->step_a)
                        : blas_layout(&p->a, type, k->rows, k->k, k->lda, k->batch, k->step_a));
    CUDA_TRY(k->trans_b ? blas_layout(&p->b, type, k->cols, k->k, k->ldb, k->batch, k->step_b)
                        : blas_layout(&p->b, type, k->k, k->cols, k->ldb, k->batch, k->step_b));
    CUDA_TRY(blas_layout(&p->d, type, k->rows, k->cols, k->ldd, k->batch, k->step_d));
    CUDA_TRY(cublasLtMatmulPreferenceCreate(&wish));
    CUDA_TRY(cublasLtMatmulPreferenceSetAttribute(wish, BLAS_MOST_ROOM, &room, sizeof room));
    for (int i = 0; i < 4; i++) {
        uint32_t align = (uint32_t)k->align[i];
        CUDA_TRY(cublasLtMatmulPreferenceSetAttribute(wish, BLAS_ALIGN_A + i, &align, sizeof align));
    }
    CUDA_TRY(cublasLtMatmulAlgoGetHeuristic(s->handle, p->desc, p->a, p->b, p->d, p->d, wish, 1, &found, &count));
    if (wish) cublasLtMatmulPreferenceDestroy(wish);
    p->usable = !rc && count > 0 && !found.state;
    if (p->usable) p->algo = found.algo;
}

static blas_plan *blas_find(blas_state *s, const blas_key *key) {
    const uint64_t *words = (const uint64_t *)key;
    uint64_t h = 0;
    for (size_t i = 0; i < sizeof *key / 8; i++) h = (h ^ words[i]) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    if (s->count > BLAS_PLANS * 3 / 4) { /* shapes that never repeat: start again */
        for (int i = 0; i < BLAS_PLANS; i++) if (s->plans[i].used) blas_drop(&s->plans[i]);
        s->count = 0;
    }
    for (;; h++) {
        blas_plan *p = &s->plans[h % BLAS_PLANS];
        if (p->used && !memcmp(&p->key, key, sizeof *key)) return p;
        if (!p->used) {
            p->used = 1;
            p->key = *key;
            s->count++;
            blas_prepare(s, p);
            return p;
        }
    }
}

static inline int blas_alignment(const void *p) {
    uintptr_t low = (uintptr_t)p & -(uintptr_t)p;
    return low > 256 || !low ? 256 : (int)low;
}

/* d = a b (+ bias) (ReLU): BURN_OK, BURN_ERR_RAISED, or BLAS_UNSUPPORTED. */
static int blas_product(cuda_row *r, blas_key *key, const void *a, const void *b, const void *bias, void *d) {
    static const float one = 1, zero = 0;
    static const double one64 = 1, zero64 = 0;
    cuda_device *dev = r->dev;
    if (dev->refuse) return cuda_raise(dev, CUDA_REFUSED, r->row.name, 0);
    int pushed = cuda_enter(dev), rc = BLAS_UNSUPPORTED;
    blas_state *s = blas_of(dev);
    key->align[0] = blas_alignment(a);
    key->align[1] = blas_alignment(b);
    key->align[2] = blas_alignment(d);
    key->align[3] = bias && blas_alignment(bias) < key->align[2] ? blas_alignment(bias) : key->align[2];
    blas_plan *p = s ? blas_find(s, key) : NULL;
    if (p && p->usable) {
        int wide = key->dtype == DT_F64, status = 0;
        if (bias) status = cublasLtMatmulDescSetAttribute(p->desc, BLAS_BIAS_POINTER, &bias, sizeof bias);
        if (!status)
            status = cublasLtMatmul(s->handle, p->desc, wide ? (const void *)&one64 : &one, a, p->a, b, p->b,
                                    wide ? (const void *)&zero64 : &zero, d, p->d, d, p->d, &p->algo, s->room, s->room_bytes,
                                    dev->stream);
        dev->log[dev->launched++ % CUDA_LOG] = r->row.name;
        CUresult fault = CUDA_OK;
        if (dev->sync_each) {
            fault = cuStreamSynchronize(dev->stream);
            if (!fault) dev->checked = dev->launched;
        }
        if (!status && !fault) rc = BURN_OK;
        else if (fault) rc = cuda_fail(dev, fault, r->row.name, 0);
        else p->usable = 0;
    }
    cuda_leave(pushed);
    return rc;
}
