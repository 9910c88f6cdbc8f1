// A stand-in for libcuda.so with what burn/backend/cuda/driver.h names. Work is done at once, by the caller, one thread at a
// time; but its errors show as the driver's do: in the next calls, and in all of them.
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include <mutex>
#include <string>
#include <vector>

#include "fibers.h"
#include "memory.h"

#define API extern "C" __attribute__((visibility("default")))
#define CALL std::lock_guard<std::recursive_mutex> hold(lock)
#define CHECK(call) do { int error_ = (call); if (error_) return error_; } while (0)

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
struct CUctx_st { int device; };
struct CUstream_st { CUctx_st *context; bool live; };
struct CUevent_st { CUctx_st *context; bool live; };
struct CUmod_st { CUctx_st *context; void *library; Emulation *emulation; std::vector<struct CUfunc_st *> functions; };
struct CUfunc_st { CUmod_st *module; const EmulatedKernel *kernel; unsigned most_dynamic; };
typedef struct CUpool_st *CUmemoryPool;
struct PoolProps { int allocation, handles; struct { int kind, id; } location; void *security; size_t most; };

enum {
    OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101,
    INVALID_IMAGE = 200, INVALID_CONTEXT = 201, INVALID_HANDLE = 400, NOT_FOUND = 500, ILLEGAL_ADDRESS = 700,
    OUT_OF_RESOURCES = 701, NOT_SUPPORTED = 801
};

static const struct { int code; const char *name, *text; } ERRORS[] = {
    {0, "CUDA_SUCCESS", "no error"}, {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}, {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"}, {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}, {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {710, "CUDA_ERROR_ASSERT", "device-side assert triggered"}, {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"}};

static std::recursive_mutex lock;
static bool initialized, reversed;
static std::vector<Device *> devices;
static std::vector<CUctx_st *> contexts; // of each device, its primary one
static thread_local std::vector<CUctx_st *> stack;
static std::map<void *, size_t> host_memory;
static std::map<CUstream_st *, int> streams;
static std::map<CUevent_st *, int> events;
static uint64_t launches;

static long from_env(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtol(text, nullptr, 0) : otherwise;
}

static CUctx_st *current_context() { return stack.empty() ? nullptr : stack.back(); }

static bool valid(CUctx_st *c) { return c && devices[c->device]->retained > 0; }

static void fail(Device &d, int code, const std::string &message) {
    if (!d.error) d.error = code, d.message = message;
    fprintf(stderr, "emulator: %s\n", message.c_str());
}

// What every call in a context checks first: that there is one, and that nothing went wrong in it before.
static int enter() {
    if (!initialized) return NOT_INITIALIZED;
    CUctx_st *c = current_context();
    if (!valid(c)) return INVALID_CONTEXT;
    return devices[c->device]->error;
}

// The context a stream works in; NULL and 1 are the current context's default stream.
static int enter(CUstream_st *s, CUctx_st **context) {
    CHECK(enter());
    *context = current_context();
    if ((uintptr_t)s <= 2) return OK;
    if (!streams.count(s)) return INVALID_HANDLE;
    *context = s->context;
    return devices[s->context->device]->error;
}

// Margins of all allocations, where anything was written since they were looked at.
static void check_margins() {
    if (checked == writes) return;
    checked = writes;
    Open open;
    for (auto &it : allocations) {
        Device &d = *devices[it.second.device];
        long at = d.error ? 0 : overrun(it.first, it.second);
        if (at)
            fail(d, ILLEGAL_ADDRESS, "a write at byte " + std::to_string(at) + " of an allocation of " +
                 std::to_string(it.second.bytes) + " bytes; the last kernel was " + d.last_kernel);
    }
}

static int device_range(CUctx_st *c, CUdeviceptr p, size_t bytes) {
    if (!bytes || holds(p, bytes)) return OK;
    if (was_freed(p)) {
        fail(*devices[c->device], ILLEGAL_ADDRESS, "a copy uses memory after it was freed");
        return OK; // it shows in the next call
    }
    return INVALID_VALUE;
}

// ---- devices and contexts
API CUresult cuInit(unsigned flags) {
    CALL;
    if (flags) return INVALID_VALUE;
    if (initialized) return devices.empty() ? NO_DEVICE : OK;
    long n = from_env("BURN_EMULATED_DEVICES", 2);
    if (from_env("BURN_EMULATED_STRICT", 0)) make_region();
    guarded = !strict && from_env("BURN_EMULATED_GUARD", 0);
    reversed = from_env("BURN_EMULATED_REVERSED", 0);
    for (int i = 0; i < n; i++) {
        Device *d = new Device();
        d->limit = (size_t)from_env("BURN_EMULATED_MEMORY", 1 << 30);
        d->pool.device = i;
        d->pools[&d->pool] = true;
        devices.push_back(d);
        contexts.push_back(new CUctx_st{i});
    }
    initialized = true;
    return n ? OK : NO_DEVICE;
}
API CUresult cuDriverGetVersion(int *version) {
    *version = 13000;
    return OK;
}
API CUresult cuDeviceGetCount(int *n) {
    if (!initialized) return NOT_INITIALIZED;
    *n = (int)devices.size();
    return OK;
}
API CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    if (!initialized) return NOT_INITIALIZED;
    if (ordinal < 0 || ordinal >= (int)devices.size()) return INVALID_DEVICE;
    *device = ordinal;
    return OK;
}
static bool is_device(CUdevice d) { return d >= 0 && d < (int)devices.size(); }
API CUresult cuDeviceGetName(char *name, int n, CUdevice device) {
    if (!is_device(device)) return INVALID_DEVICE;
    snprintf(name, (size_t)n, "Emulated GPU");
    return OK;
}
API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    if (!is_device(device)) return INVALID_DEVICE;
    *bytes = devices[device]->limit;
    return OK;
}
API CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    if (!is_device(device)) return INVALID_DEVICE;
    static const std::map<int, int> VALUES = {{1, 1024}, {2, 1024}, {3, 1024}, {4, 64}, {5, 2147483647}, {6, 65535}, {7, 65535},
        {8, 49152}, {10, 32}, {12, 65536}, {13, 1000000}, {16, 4}, {39, 2048}, {41, 1}, {75, 9}, {76, 0}, {81, 233472},
        {97, MOST_SHARED}, {106, 32}, {115, 1}};
    auto it = VALUES.find(attribute);
    if (attribute < 1 || attribute > 150) return INVALID_VALUE;
    *value = it == VALUES.end() ? 0 : it->second;
    return OK;
}
API CUresult cuDevicePrimaryCtxRetain(CUctx_st **context, CUdevice device) {
    CALL;
    if (!initialized) return NOT_INITIALIZED;
    if (!is_device(device)) return INVALID_DEVICE;
    devices[device]->retained++;
    *context = contexts[device];
    return OK;
}
API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    CALL;
    if (!is_device(device)) return INVALID_DEVICE;
    Device &d = *devices[device];
    if (!d.retained) return INVALID_CONTEXT;
    if (!--d.retained) d.error = 0, d.message.clear(); // the next one starts anew
    return OK;
}
API CUresult cuCtxGetCurrent(CUctx_st **context) {
    if (!initialized) return NOT_INITIALIZED;
    *context = current_context();
    return OK;
}
API CUresult cuCtxSetCurrent(CUctx_st *context) {
    CALL;
    if (context && !valid(context)) return INVALID_CONTEXT;
    if (!stack.empty()) stack.pop_back();
    if (context) stack.push_back(context);
    return OK;
}
API CUresult cuCtxPushCurrent_v2(CUctx_st *context) {
    CALL;
    if (!initialized) return NOT_INITIALIZED;
    if (!valid(context)) return INVALID_CONTEXT;
    stack.push_back(context);
    return OK;
}
API CUresult cuCtxPopCurrent_v2(CUctx_st **context) {
    if (stack.empty()) return INVALID_CONTEXT;
    if (context) *context = stack.back();
    stack.pop_back();
    return OK;
}
API CUresult cuCtxSynchronize() {
    CALL;
    CHECK(enter());
    check_margins();
    return enter();
}

// ---- streams and events
API CUresult cuStreamCreate(CUstream_st **s, unsigned flags) {
    CALL;
    CHECK(enter());
    if (flags > 1) return INVALID_VALUE;
    *s = new CUstream_st{current_context(), true};
    streams[*s] = 1;
    return OK;
}
API CUresult cuStreamDestroy_v2(CUstream_st *s) {
    CALL;
    CHECK(enter());
    if (!streams.erase(s)) return INVALID_HANDLE;
    delete s;
    return OK;
}
API CUresult cuStreamSynchronize(CUstream_st *s) {
    CALL;
    CUctx_st *c;
    CHECK(enter(s, &c));
    check_margins();
    for (auto &p : devices[c->device]->pools) { // memory above the threshold goes back to the system
        Pool *pool = p.first;
        if (pool->reserved > pool->threshold) pool->reserved = pool->used > pool->threshold ? pool->used : pool->threshold;
    }
    return devices[c->device]->error;
}
API CUresult cuStreamQuery(CUstream_st *s) {
    CALL;
    CUctx_st *c;
    return enter(s, &c);
}
API CUresult cuStreamWaitEvent(CUstream_st *s, CUevent_st *e, unsigned) {
    CALL;
    CUctx_st *c;
    CHECK(enter(s, &c));
    return events.count(e) ? OK : INVALID_HANDLE;
}
API CUresult cuEventCreate(CUevent_st **e, unsigned) {
    CALL;
    CHECK(enter());
    *e = new CUevent_st{current_context(), true};
    events[*e] = 1;
    return OK;
}
API CUresult cuEventRecord(CUevent_st *e, CUstream_st *s) {
    CALL;
    CUctx_st *c;
    CHECK(enter(s, &c));
    return events.count(e) && e->context == c ? OK : INVALID_HANDLE;
}
API CUresult cuEventSynchronize(CUevent_st *e) {
    CALL;
    CHECK(enter());
    if (!events.count(e)) return INVALID_HANDLE;
    check_margins();
    return devices[e->context->device]->error;
}
API CUresult cuEventQuery(CUevent_st *e) {
    CALL;
    CHECK(enter());
    return events.count(e) ? OK : INVALID_HANDLE;
}
API CUresult cuEventElapsedTime(float *ms, CUevent_st *, CUevent_st *) {
    *ms = 0.001f;
    return OK;
}
API CUresult cuEventDestroy_v2(CUevent_st *e) {
    CALL;
    CHECK(enter());
    if (!events.erase(e)) return INVALID_HANDLE;
    delete e;
    return OK;
}

// ---- memory
API CUresult cuMemPoolCreate(Pool **pool, const PoolProps *props) {
    CALL;
    if (!initialized) return NOT_INITIALIZED;
    if (props->allocation != 1 || props->location.kind != 1 || !is_device(props->location.id)) return INVALID_VALUE;
    *pool = new Pool{props->location.id, 0, 0, 0, 0, 0};
    devices[props->location.id]->pools[*pool] = true;
    return OK;
}
static Device *device_of(Pool *pool) {
    for (Device *d : devices)
        if (d->pools.count(pool)) return d;
    return nullptr;
}
API CUresult cuDeviceGetDefaultMemPool(Pool **pool, CUdevice device) {
    if (!is_device(device)) return INVALID_DEVICE;
    *pool = &devices[device]->pool;
    return OK;
}
API CUresult cuMemPoolDestroy(Pool *pool) {
    CALL;
    Device *d = device_of(pool);
    if (!d || pool == &d->pool) return INVALID_VALUE;
    if (pool->used) return OK; // it goes when its last memory is freed: here, never
    d->pools.erase(pool);
    delete pool;
    return OK;
}
API CUresult cuMemPoolTrimTo(Pool *pool, size_t keep) {
    CALL;
    if (!device_of(pool)) return INVALID_VALUE;
    uint64_t least = pool->used > keep ? pool->used : keep;
    if (pool->reserved > least) pool->reserved = least;
    return OK;
}
API CUresult cuMemPoolSetAttribute(Pool *pool, int attribute, void *value) {
    CALL;
    if (!device_of(pool)) return INVALID_VALUE;
    if (attribute == 4) pool->threshold = *(uint64_t *)value;
    else if (attribute == 6 && !*(uint64_t *)value) pool->reserved_high = pool->reserved;
    else if (attribute == 8 && !*(uint64_t *)value) pool->used_high = pool->used;
    else if (attribute > 3) return INVALID_VALUE;
    return OK;
}
API CUresult cuMemPoolGetAttribute(Pool *pool, int attribute, void *value) {
    CALL;
    if (!device_of(pool)) return INVALID_VALUE;
    const uint64_t values[] = {pool->threshold, pool->reserved, pool->reserved_high, pool->used, pool->used_high};
    if (attribute < 1 || attribute > 8) return INVALID_VALUE;
    if (attribute < 4) *(int *)value = 1;
    else *(uint64_t *)value = values[attribute - 4];
    return OK;
}
API CUresult cuMemAllocFromPoolAsync(CUdeviceptr *p, size_t bytes, Pool *pool, CUstream_st *s) {
    CALL;
    CUctx_st *c;
    CHECK(enter(s, &c));
    Device *d = device_of(pool);
    if (!bytes || !d) return INVALID_VALUE;
    char *got = take(*d, pool->device, pool, bytes);
    if (!got) return OUT_OF_MEMORY;
    *p = (CUdeviceptr)got;
    return OK;
}
API CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t bytes) {
    CALL;
    CHECK(enter());
    return cuMemAllocFromPoolAsync(p, bytes, &devices[current_context()->device]->pool, nullptr);
}
API CUresult cuMemFreeAsync(CUdeviceptr p, CUstream_st *s) {
    CALL;
    CUctx_st *c;
    CHECK(enter(s, &c));
    auto it = allocations.find(p);
    if (it == allocations.end()) {
        fprintf(stderr, "emulator: %s\n", was_freed(p) ? "memory is freed twice" : "memory is freed that was never given");
        return INVALID_VALUE;
    }
    Device &d = *devices[it->second.device];
    Open open;
    if (overrun(p, it->second)) checked = writes - 1, check_margins();
    release(d, p);
    return OK;
}
API CUresult cuMemFree_v2(CUdeviceptr p) { return p ? cuMemFreeAsync(p, nullptr) : OK; }
API CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    CALL;
    CHECK(enter());
    Device &d = *devices[current_context()->device];
    *total = d.limit;
    *free = d.limit - reserved_on(d);
    return OK;
}
API CUresult cuPointerGetAttributes(unsigned count, int *attributes, void **data, CUdeviceptr p) {
    CALL;
    const Allocation *a = holds(p, 1);
    auto pinned = host_memory.upper_bound((void *)p);
    bool host = pinned != host_memory.begin() && (--pinned, p < (CUdeviceptr)pinned->first + pinned->second);
    for (unsigned i = 0; i < count; i++) {
        if (attributes[i] != 2 && attributes[i] != 9) return INVALID_VALUE;
        *(int *)data[i] = attributes[i] == 2 ? (a ? 2 : host ? 1 : 0) : a ? a->device : 0; // kind of memory, device
    }
    return OK;
}
API CUresult cuMemHostAlloc(void **p, size_t bytes, unsigned) {
    CALL;
    CHECK(enter());
    if (!bytes) return INVALID_VALUE;
    *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!*p) return OUT_OF_MEMORY;
    host_memory[*p] = bytes;
    return OK;
}
API CUresult cuMemFreeHost(void *p) {
    CALL;
    CHECK(enter());
    if (!host_memory.erase(p)) return INVALID_VALUE;
    free(p);
    return OK;
}
API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream_st *s) {
    CALL;
    CUctx_st *c;
    CHECK(enter(s, &c));
    CHECK(device_range(c, to, bytes));
    Open open;
    if (holds(to, bytes)) memcpy((void *)to, from, bytes);
    return OK;
}
API CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream_st *s) {
    CALL;
    CUctx_st *c;
    CHECK(enter(s, &c));
    CHECK(device_range(c, from, bytes));
    Open open;
    if (holds(from, bytes)) memcpy(to, (const void *)from, bytes);
    return OK;
}
API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream_st *s) {
    CALL;
    CUctx_st *c;
    CHECK(enter(s, &c));
    CHECK(device_range(c, to, bytes));
    CHECK(device_range(c, from, bytes));
    Open open;
    if (holds(to, bytes) && holds(from, bytes)) memmove((void *)to, (const void *)from, bytes);
    return OK;
}
API CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUctx_st *to_context, CUdeviceptr from, CUctx_st *from_context, size_t bytes,
                               CUstream_st *s) {
    if (!valid(to_context) || !valid(from_context)) return INVALID_CONTEXT;
    const Allocation *a = holds(to, bytes), *b = holds(from, bytes);
    if (bytes && ((a && a->device != to_context->device) || (b && b->device != from_context->device))) return INVALID_VALUE;
    return cuMemcpyDtoDAsync_v2(to, from, bytes, s);
}
API CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char value, size_t bytes, CUstream_st *s) {
    CALL;
    CUctx_st *c;
    CHECK(enter(s, &c));
    CHECK(device_range(c, p, bytes));
    Open open;
    if (holds(p, bytes)) memset((void *)p, value, bytes);
    return OK;
}

// ---- modules and kernels
// The image is "BURNEMU", a 0, the length of the library (64 bits) and the library itself.
API CUresult cuModuleLoadData(CUmod_st **module, const void *image) {
    CALL;
    CHECK(enter());
    if (memcmp(image, "BURNEMU", 8)) return INVALID_IMAGE;
    uint64_t bytes;
    memcpy(&bytes, (const char *)image + 8, 8);
    const char *folder = getenv("TMPDIR");
    std::string name = std::string(folder && *folder ? folder : P_tmpdir) + "/burn-emulated-XXXXXX";
    char *path = name.data();
    int file = mkstemp(path);
    if (file < 0 || write(file, (const char *)image + 16, bytes) != (ssize_t)bytes) return INVALID_IMAGE;
    close(file);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fprintf(stderr, "emulator: %s\n", dlerror());
    unlink(path);
    if (!library) return INVALID_IMAGE;
    auto emulation = (Emulation * (*)()) dlsym(library, "burn_emulation");
    if (!emulation) return INVALID_IMAGE;
    *module = new CUmod_st{current_context(), library, emulation(), {}};
    return OK;
}
API CUresult cuModuleUnload(CUmod_st *module) {
    CALL;
    CHECK(enter());
    for (CUfunc_st *f : module->functions) delete f;
    dlclose(module->library);
    delete module;
    return OK;
}
API CUresult cuModuleGetFunction(CUfunc_st **f, CUmod_st *module, const char *name) {
    CALL;
    CHECK(enter());
    for (CUfunc_st *known : module->functions)
        if (!strcmp(known->kernel->name, name)) return *f = known, OK;
    for (const EmulatedKernel *k = module->emulation->kernels; k; k = k->next)
        if (!strcmp(k->name, name)) {
            *f = new CUfunc_st{module, k, 48 << 10};
            module->functions.push_back(*f);
            return OK;
        }
    return NOT_FOUND;
}
API CUresult cuFuncSetAttribute(CUfunc_st *f, int attribute, int value) {
    CALL;
    CHECK(enter());
    if (attribute != 8) return OK;
    if (value < 0 || value > (int)MOST_SHARED) return INVALID_VALUE;
    f->most_dynamic = (unsigned)value > 48u << 10 ? (unsigned)value : 48 << 10;
    return OK;
}
API CUresult cuLaunchKernel(CUfunc_st *f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                            unsigned block_z, unsigned dynamic, CUstream_st *s, void **params, void **extra) {
    CALL;
    CUctx_st *c;
    CHECK(enter(s, &c));
    if (!f) return INVALID_HANDLE;
    if (c != current_context() || f->module->context != c) return INVALID_HANDLE;
    uint64_t threads = (uint64_t)block_x * block_y * block_z;
    if (!grid_x || !grid_y || !grid_z || !threads || extra) return INVALID_VALUE;
    if (grid_x > 2147483647u || grid_y > 65535 || grid_z > 65535) return INVALID_VALUE;
    if (block_x > 1024 || block_y > 1024 || block_z > 64 || threads > 1024 || dynamic > f->most_dynamic) return INVALID_VALUE;
    if (threads > f->kernel->most_threads) return OUT_OF_RESOURCES;
    if (f->kernel->n_params && !params) return INVALID_VALUE;
    Device &d = *devices[c->device];
    launches++;
    writes++;
    d.last_kernel = f->kernel->name;
    Open open;
    int error = run_grid(f->module->emulation, f->kernel, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic, params,
                         reversed);
    if (error) fail(d, error, fault_text);
    return OK; // what went wrong shows in later calls
}

API CUresult cuGetErrorName(CUresult code, const char **name) {
    for (auto &e : ERRORS)
        if (e.code == code) return *name = e.name, OK;
    return *name = nullptr, INVALID_VALUE;
}
API CUresult cuGetErrorString(CUresult code, const char **text) {
    for (auto &e : ERRORS)
        if (e.code == code) return *text = e.text, OK;
    return *text = nullptr, INVALID_VALUE;
}

// ---- for tests
API uint64_t emulator_launches() { return launches; }
API uint64_t emulator_live(int device) { return devices[device]->n_live; }
API uint64_t emulator_bytes(int device) { return devices[device]->live; }
API uint64_t emulator_peak(int device) { return devices[device]->peak; }
API void emulator_limit(int device, uint64_t bytes) { devices[device]->limit = bytes; }
API const char *emulator_message(int device) { return devices[device]->message.c_str(); }
// Forgets the error of a device, which a real one keeps for as long as its context lives.
API void emulator_forgive(int device) {
    CALL;
    devices[device]->error = 0;
    devices[device]->message.clear();
}
// Lets others than the driver touch memory, in the strict mode.
API void emulator_open(int open) {
    CALL;
    Open::change(open);
}
// Whether [p, p + bytes) is live memory of a device.
API int emulator_holds(uint64_t p, uint64_t bytes) {
    CALL;
    return holds(p, bytes) != nullptr;
}
// For the stand-in of cuBLASLt: the error of the current context, and a note that it wrote to memory.
API int emulator_wrote(const char *what) {
    CALL;
    CHECK(enter());
    writes++;
    devices[current_context()->device]->last_kernel = what;
    return OK;
}
