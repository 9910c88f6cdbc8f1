/* The part of the driver's C interface that we call, found at run time: neither headers nor the library are needed to build. */
#pragma once
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int CUresult;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUpool_st *CUmemoryPool;
typedef uint64_t CUdeviceptr;

typedef struct {
    int allocation, handles;
    struct { int kind, id; } location;
    void *security;
    size_t most;
    unsigned short usage;
    unsigned char reserved[54];
} CUmemPoolProps;

enum {
    CUDA_OK = 0, CUDA_OUT_OF_MEMORY = 2, CUDA_NO_DEVICE = 100, CUDA_NO_POOLS = 801,
    ATTRIBUTE_SMS = 16, ATTRIBUTE_MAJOR = 75, ATTRIBUTE_MINOR = 76, ATTRIBUTE_POOLS = 115,
    POINTER_MEMORY_TYPE = 2, POINTER_ORDINAL = 9,
    POOL_RELEASE_THRESHOLD = 4, POOL_RESERVED = 5,
    EVENT_DISABLE_TIMING = 2
};

#define DRIVER_API(X) \
    X(cuInit, , (unsigned)) \
    X(cuDriverGetVersion, , (int *)) \
    X(cuDeviceGet, , (CUdevice *, int)) \
    X(cuDeviceGetCount, , (int *)) \
    X(cuDeviceGetName, , (char *, int, CUdevice)) \
    X(cuDeviceGetAttribute, , (int *, int, CUdevice)) \
    X(cuDevicePrimaryCtxRetain, , (CUcontext *, CUdevice)) \
    X(cuDevicePrimaryCtxRelease, _v2, (CUdevice)) \
    X(cuCtxGetCurrent, , (CUcontext *)) \
    X(cuCtxPushCurrent, _v2, (CUcontext)) \
    X(cuCtxPopCurrent, _v2, (CUcontext *)) \
    X(cuStreamCreate, , (CUstream *, unsigned)) \
    X(cuStreamDestroy, _v2, (CUstream)) \
    X(cuStreamSynchronize, , (CUstream)) \
    X(cuStreamWaitEvent, , (CUstream, CUevent, unsigned)) \
    X(cuEventCreate, , (CUevent *, unsigned)) \
    X(cuEventRecord, , (CUevent, CUstream)) \
    X(cuEventSynchronize, , (CUevent)) \
    X(cuEventDestroy, _v2, (CUevent)) \
    X(cuMemPoolCreate, , (CUmemoryPool *, const CUmemPoolProps *)) \
    X(cuMemPoolDestroy, , (CUmemoryPool)) \
    X(cuMemPoolTrimTo, , (CUmemoryPool, size_t)) \
    X(cuMemPoolSetAttribute, , (CUmemoryPool, int, void *)) \
    X(cuMemPoolGetAttribute, , (CUmemoryPool, int, void *)) \
    X(cuMemAllocFromPoolAsync, , (CUdeviceptr *, size_t, CUmemoryPool, CUstream)) \
    X(cuMemFreeAsync, , (CUdeviceptr, CUstream)) \
    X(cuMemGetInfo, _v2, (size_t *, size_t *)) \
    X(cuMemHostAlloc, , (void **, size_t, unsigned)) \
    X(cuMemFreeHost, , (void *)) \
    X(cuMemcpyHtoDAsync, _v2, (CUdeviceptr, const void *, size_t, CUstream)) \
    X(cuMemcpyDtoHAsync, _v2, (void *, CUdeviceptr, size_t, CUstream)) \
    X(cuMemcpyDtoDAsync, _v2, (CUdeviceptr, CUdeviceptr, size_t, CUstream)) \
    X(cuPointerGetAttributes, , (unsigned, int *, void **, CUdeviceptr)) \
    X(cuMemsetD8Async, , (CUdeviceptr, unsigned char, size_t, CUstream)) \
    X(cuModuleLoadData, , (CUmodule *, const void *)) \
    X(cuModuleGetFunction, , (CUfunction *, CUmodule, const char *)) \
    X(cuLaunchKernel, , (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, \
                         void **)) \
    X(cuGetErrorName, , (CUresult, const char **)) \
    X(cuGetErrorString, , (CUresult, const char **))

#define DRIVER_POINTER(name, version, params) static CUresult (*name) params;
DRIVER_API(DRIVER_POINTER)

/* Loads the library (BURN_CUDA_DRIVER names another); the name of what is missing, or NULL when all was found. */
static const char *driver_load(void) {
    static void *library;
    if (!library) {
        const char *path = getenv("BURN_CUDA_DRIVER");
        library = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
        if (!library) return "libcuda.so.1";
    }
#define DRIVER_FIND(name, version, params) \
    *(void **)&name = dlsym(library, #name #version); \
    if (!name) return #name;
    DRIVER_API(DRIVER_FIND)
    return NULL;
}
