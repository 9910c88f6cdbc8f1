// A stand-in for libcublasLt.so: its products with plain loops, in column-major order as there.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

#define API extern "C" __attribute__((visibility("default")))

enum { OK = 0, NOT_INITIALIZED = 1, ALLOC_FAILED = 3, INVALID_VALUE = 7, EXECUTION_FAILED = 13, NOT_SUPPORTED = 15 };
enum { R_32F = 0, R_64F = 1, R_16F = 2, R_16BF = 14 };
enum { COMPUTE_32F = 68, COMPUTE_32F_PEDANTIC = 69, COMPUTE_64F = 70, COMPUTE_64F_PEDANTIC = 71, COMPUTE_32F_FAST_TF32 = 77 };
enum { EPILOGUE_DEFAULT = 1, EPILOGUE_RELU = 2, EPILOGUE_BIAS = 4 };

struct Handle { uint64_t magic; };
struct Desc {
    int32_t compute, scale, pointer_mode, transa, transb;
    uint32_t epilogue;
    const void *bias;
    int64_t bias_stride;
    int32_t bias_type;
};
struct Layout {
    uint32_t type, order;
    uint64_t rows, cols;
    int64_t ld;
    int32_t batch;
    int64_t stride;
};
struct Preference {
    uint64_t workspace;
    uint32_t align[4];
};
struct Algo { uint64_t data[8]; };
struct Heuristic {
    Algo algo;
    size_t workspace;
    int32_t state;
    float waves;
    int32_t reserved[4];
};
static_assert(sizeof(Algo) == 64 && sizeof(Heuristic) == 96, "as in cublasLt.h");

// The driver that the process uses knows which memory is live.
template <class F> static F of_driver(const char *name) {
    static void *library;
    if (!library) {
        const char *path = getenv("BURN_CUDA_DRIVER");
        library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW);
    }
    return library ? (F)dlsym(library, name) : nullptr;
}

static int set(void *to, size_t room, const void *from, size_t bytes) {
    if (bytes != room || !from) return INVALID_VALUE;
    memcpy(to, from, bytes);
    return OK;
}
#define FIELD(number, field) \
    case number: return set(&it->field, sizeof it->field, from, bytes)

API size_t cublasLtGetVersion() { return 130000; }
API size_t cublasLtGetCudartVersion() { return 13000; }
API const char *cublasLtGetStatusString(int status) {
    return status == OK ? "CUBLAS_STATUS_SUCCESS" : status == INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE"
        : status == NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED" : status == EXECUTION_FAILED ? "CUBLAS_STATUS_EXECUTION_FAILED"
        : status == NOT_INITIALIZED ? "CUBLAS_STATUS_NOT_INITIALIZED" : "CUBLAS_STATUS_INTERNAL_ERROR";
}
API const char *cublasLtGetStatusName(int status) { return cublasLtGetStatusString(status); }

API int cublasLtCreate(Handle **handle) {
    auto current = of_driver<int (*)(void **)>("cuCtxGetCurrent");
    void *context = nullptr;
    if (!current || current(&context) || !context) return NOT_INITIALIZED;
    *handle = new Handle{0xb1a5};
    return OK;
}
API int cublasLtDestroy(Handle *handle) {
    if (!handle || handle->magic != 0xb1a5) return INVALID_VALUE;
    handle->magic = 0;
    delete handle;
    return OK;
}
API int cublasLtMatmulDescCreate(Desc **desc, int compute, int scale) {
    *desc = new Desc{compute, scale, 0, 0, 0, EPILOGUE_DEFAULT, nullptr, 0, -1};
    return OK;
}
API int cublasLtMatmulDescDestroy(Desc *desc) {
    delete desc;
    return OK;
}
API int cublasLtMatmulDescSetAttribute(Desc *it, int attribute, const void *from, size_t bytes) {
    switch (attribute) {
        FIELD(0, compute);
        FIELD(1, scale);
        FIELD(2, pointer_mode);
        FIELD(3, transa);
        FIELD(4, transb);
        FIELD(7, epilogue);
        FIELD(8, bias);
        FIELD(10, bias_stride);
        FIELD(26, bias_type);
        case 5: case 6: case 15: case 25: return OK; // TRANSC, FILL_MODE, SM_COUNT_TARGET, FAST_ACCUM
        default: return NOT_SUPPORTED;
    }
}
API int cublasLtMatrixLayoutCreate(Layout **layout, uint32_t type, uint64_t rows, uint64_t cols, int64_t ld) {
    *layout = new Layout{type, 0, rows, cols, ld, 1, 0};
    return OK;
}
API int cublasLtMatrixLayoutDestroy(Layout *layout) {
    delete layout;
    return OK;
}
API int cublasLtMatrixLayoutSetAttribute(Layout *it, int attribute, const void *from, size_t bytes) {
    switch (attribute) {
        FIELD(0, type);
        FIELD(1, order);
        FIELD(2, rows);
        FIELD(3, cols);
        FIELD(4, ld);
        FIELD(5, batch);
        FIELD(6, stride);
        default: return NOT_SUPPORTED;
    }
}
API int cublasLtMatmulPreferenceCreate(Preference **preference) {
    *preference = new Preference{0, {256, 256, 256, 256}};
    return OK;
}
API int cublasLtMatmulPreferenceDestroy(Preference *preference) {
    delete preference;
    return OK;
}
API int cublasLtMatmulPreferenceSetAttribute(Preference *it, int attribute, const void *from, size_t bytes) {
    switch (attribute) {
        FIELD(1, workspace);
        FIELD(5, align[0]);
        FIELD(6, align[1]);
        FIELD(7, align[2]);
        FIELD(8, align[3]);
        case 0: case 3: case 9: case 12: return OK;
        default: return NOT_SUPPORTED;
    }
}

static size_t size_of(uint32_t type) { return type == R_64F ? 8 : type == R_32F ? 4 : 2; }

static bool known(uint32_t type) { return type == R_32F || type == R_64F || type == R_16F || type == R_16BF; }

// Whether shapes, types and steps fit together; 0 or the status that cuBLASLt gives.
static int check(const Desc *d, const Layout *a, const Layout *b, const Layout *c, const Layout *to) {
    bool wide = d->compute == COMPUTE_64F || d->compute == COMPUTE_64F_PEDANTIC;
    if (!wide && d->compute != COMPUTE_32F && d->compute != COMPUTE_32F_PEDANTIC && d->compute != COMPUTE_32F_FAST_TF32)
        return NOT_SUPPORTED;
    if (d->scale != (wide ? R_64F : R_32F) || d->pointer_mode || (d->epilogue & ~7u)) return NOT_SUPPORTED;
    for (const Layout *l : {a, b, c, to}) {
        if (!known(l->type) || wide != (l->type == R_64F) || l->order > 1) return NOT_SUPPORTED;
        if (!l->rows || !l->cols || l->ld < (int64_t)(l->order ? l->cols : l->rows) || l->batch < 1) return INVALID_VALUE;
        if (l->batch != to->batch) return INVALID_VALUE;
    }
    if (a->type != b->type || c->type != to->type || (to->type != a->type && to->type != R_32F)) return NOT_SUPPORTED;
    uint64_t m = d->transa ? a->cols : a->rows, k = d->transa ? a->rows : a->cols;
    uint64_t kb = d->transb ? b->cols : b->rows, n = d->transb ? b->rows : b->cols;
    if (k != kb || to->rows != m || to->cols != n || c->rows != m || c->cols != n) return INVALID_VALUE;
    return OK;
}

API int cublasLtMatmulAlgoGetHeuristic(Handle *handle, Desc *d, Layout *a, Layout *b, Layout *c, Layout *to,
                                       Preference *preference, int most, Heuristic *results, int *found) {
    *found = 0;
    if (!handle || !preference || most < 1) return INVALID_VALUE;
    int status = check(d, a, b, c, to);
    if (status) return status;
    memset(results, 0, sizeof *results);
    results->algo.data[0] = 0xa160;
    results->workspace = preference->workspace < 1024 ? 0 : 1024;
    results->waves = 1;
    *found = 1;
    return OK;
}

template <class W> static W load(uint32_t type, const void *base, int64_t i) {
    if (type == R_64F) return (W)((const double *)base)[i];
    if (type == R_32F) return (W)((const float *)base)[i];
    if (type == R_16F) return (W)(float)((const _Float16 *)base)[i];
    uint32_t bits = (uint32_t)((const uint16_t *)base)[i] << 16;
    float f;
    memcpy(&f, &bits, 4);
    return (W)f;
}
template <class W> static void store(uint32_t type, void *base, int64_t i, W v) {
    if (type == R_64F) ((double *)base)[i] = (double)v;
    else if (type == R_32F) ((float *)base)[i] = (float)v;
    else if (type == R_16F) ((_Float16 *)base)[i] = (_Float16)(float)v;
    else {
        float f = (float)v;
        uint32_t b;
        memcpy(&b, &f, 4);
        ((uint16_t *)base)[i] = (uint16_t)(f != f ? b >> 16 | 0x40 : (b + 0x7fff + (b >> 16 & 1)) >> 16);
    }
}
static int64_t place(const Layout *l, uint64_t row, uint64_t col) {
    return (int64_t)(l->order ? row * (uint64_t)l->ld + col : col * (uint64_t)l->ld + row);
}

template <class W>
static void product(const Desc *d, W alpha, const void *a, const Layout *la, const void *b, const Layout *lb, W beta,
                    const void *c, const Layout *lc, void *to, const Layout *lt) {
    uint64_t m = lt->rows, n = lt->cols, k = d->transa ? la->rows : la->cols;
    std::vector<W> left(m * k), column(k);
    uint32_t bias_type = d->bias_type < 0 ? lt->type : (uint32_t)d->bias_type;
    for (int32_t z = 0; z < lt->batch; z++) {
        for (uint64_t i = 0; i < m; i++)
            for (uint64_t p = 0; p < k; p++)
                left[i * k + p] = load<W>(la->type, a, z * la->stride + (d->transa ? place(la, p, i) : place(la, i, p)));
        for (uint64_t j = 0; j < n; j++) {
            for (uint64_t p = 0; p < k; p++)
                column[p] = load<W>(lb->type, b, z * lb->stride + (d->transb ? place(lb, j, p) : place(lb, p, j)));
            for (uint64_t i = 0; i < m; i++) {
                W part[8] = {0}, sum = 0; // in parts: as exact as the library, and faster
                const W *row = &left[i * k];
                uint64_t p = 0;
                for (; p + 8 <= k; p += 8)
                    for (int q = 0; q < 8; q++) part[q] += row[p + q] * column[p + q];
                for (; p < k; p++) sum += row[p] * column[p];
                for (W q : part) sum += q;
                W v = alpha * sum;
                if (beta != 0) v += beta * load<W>(lc->type, c, z * lc->stride + place(lc, i, j));
                if (d->epilogue & EPILOGUE_BIAS) v += load<W>(bias_type, d->bias, z * d->bias_stride + (int64_t)i);
                if ((d->epilogue & EPILOGUE_RELU) && v < 0) v = 0;
                store<W>(lt->type, to, z * lt->stride + place(lt, i, j), v);
            }
        }
    }
}

static bool live(const void *p, const Layout *l) {
    auto holds = of_driver<int (*)(uint64_t, uint64_t)>("emulator_holds");
    int64_t last = (l->batch - 1) * l->stride + place(l, l->rows - 1, l->cols - 1);
    return !holds || holds((uint64_t)p, (uint64_t)(last + 1) * size_of(l->type));
}

API int cublasLtMatmul(Handle *handle, Desc *d, const void *alpha, const void *a, Layout *la, const void *b, Layout *lb,
                       const void *beta, const void *c, Layout *lc, void *to, Layout *lt, const Algo *algo, void *workspace,
                       size_t workspace_bytes, void *) {
    if (!handle || !d || !alpha || !beta) return INVALID_VALUE;
    if (algo && algo->data[0] != 0xa160) return INVALID_VALUE;
    int status = check(d, la, lb, lc, lt);
    if (status) return status;
    bool adds = la->type == R_64F ? *(const double *)beta != 0 : *(const float *)beta != 0;
    auto holds = of_driver<int (*)(uint64_t, uint64_t)>("emulator_holds");
    auto wrote = of_driver<int (*)(const char *)>("emulator_wrote");
    if (wrote && wrote("cublasLtMatmul")) return EXECUTION_FAILED;
    bool sound = live(a, la) && live(b, lb) && live(to, lt) && (!adds || live(c, lc));
    if (workspace_bytes && holds) sound = sound && holds((uint64_t)workspace, workspace_bytes);
    if ((d->epilogue & EPILOGUE_BIAS) && holds)
        sound = sound && holds((uint64_t)d->bias, lt->rows * size_of(d->bias_type < 0 ? lt->type : (uint32_t)d->bias_type));
    if (!sound) {
        fprintf(stderr, "emulator: cublasLtMatmul is given memory that is not live on the device\n");
        return EXECUTION_FAILED;
    }
    auto open = of_driver<void (*)(int)>("emulator_open");
    if (open) open(1);
    if (la->type == R_64F) product<double>(d, *(const double *)alpha, a, la, b, lb, *(const double *)beta, c, lc, to, lt);
    else product<float>(d, *(const float *)alpha, a, la, b, lb, *(const float *)beta, c, lc, to, lt);
    if (open) open(0);
    return OK;
}
