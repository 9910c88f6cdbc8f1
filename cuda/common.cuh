// What all kernels share. Before this text the loader puts `#define DT_F64 0 ...` (the codes of burn.tensor.dtype.DType) and
// `#define DTYPE DT_F32`: a module holds the kernels of one family for one dtype. No system header is included anywhere.
#pragma once

typedef long long i64;
typedef unsigned long long u64;
typedef int i32;
typedef unsigned int u32;
typedef unsigned char u8;

#ifndef BURN_EMULATED
// A kernel: its name, the largest number of threads a block, its parameters in parentheses.
#define KERNEL(name, threads, params) extern "C" __global__ void __launch_bounds__(threads) name params
// Shared memory whose size the launch gives.
#define DYNAMIC_SHARED(type, name) \
    extern __shared__ __align__(16) char name##_bytes[]; \
    type *name = (type *)name##_bytes
#endif

// Announces an op and the dtypes that it has kernels for: Python reads these lines.
#define OP(name, kinds)

// ---- element types
struct f16 { unsigned short bits; };
struct bf16 { unsigned short bits; };

template <int D> struct type_of;
template <> struct type_of<DT_F64> { typedef double type; };
template <> struct type_of<DT_F32> { typedef float type; };
template <> struct type_of<DT_FLEX32> { typedef float type; };
template <> struct type_of<DT_F16> { typedef f16 type; };
template <> struct type_of<DT_BF16> { typedef bf16 type; };
template <> struct type_of<DT_I64> { typedef i64 type; };
template <> struct type_of<DT_I32> { typedef i32 type; };
template <> struct type_of<DT_I16> { typedef short type; };
template <> struct type_of<DT_I8> { typedef signed char type; };
template <> struct type_of<DT_U64> { typedef u64 type; };
template <> struct type_of<DT_U32> { typedef u32 type; };
template <> struct type_of<DT_U16> { typedef unsigned short type; };
template <> struct type_of<DT_U8> { typedef u8 type; };
template <> struct type_of<DT_BOOL> { typedef u8 type; };

// What a value is computed in, and what many of them are added up in.
template <class S> struct compute { typedef S type; };
template <> struct compute<f16> { typedef float type; };
template <> struct compute<bf16> { typedef float type; };
template <class S> struct wide { typedef i64 type; };
template <> struct wide<f16> { typedef float type; };
template <> struct wide<bf16> { typedef float type; };
template <> struct wide<float> { typedef float type; };
template <> struct wide<double> { typedef double type; };
template <> struct wide<u64> { typedef u64 type; };
template <> struct wide<u32> { typedef u64 type; };
template <> struct wide<unsigned short> { typedef u64 type; };
template <> struct wide<u8> { typedef u64 type; };

typedef type_of<DTYPE>::type T;
typedef compute<T>::type C;
typedef wide<T>::type W;

#define IS_FLOAT (DTYPE <= DT_BF16)
#define IS_INT (DTYPE >= DT_I64 && DTYPE < DT_BOOL)
#define IS_SIGNED (DTYPE >= DT_I64 && DTYPE <= DT_I8)
#define IS_BOOL (DTYPE == DT_BOOL)
#define IS_HALF (DTYPE == DT_F16 || DTYPE == DT_BF16)

#ifndef BURN_EMULATED
__device__ __forceinline__ float f16_to_float(unsigned short h) {
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
    return f;
}
__device__ __forceinline__ unsigned short float_to_f16(float f) {
    unsigned short h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
    return h;
}
#endif

// up: from memory to the compute type. down<S>: to memory, rounded to nearest even.
template <class S> __device__ __forceinline__ typename compute<S>::type up(S v) { return v; }
template <> __device__ __forceinline__ float up<f16>(f16 v) { return f16_to_float(v.bits); }
template <> __device__ __forceinline__ float up<bf16>(bf16 v) { return __uint_as_float((u32)v.bits << 16); }
template <class S> __device__ __forceinline__ S down(typename compute<S>::type v) { return v; }
template <> __device__ __forceinline__ f16 down<f16>(float v) {
    f16 h = {float_to_f16(v)};
    return h;
}
template <> __device__ __forceinline__ bf16 down<bf16>(float v) {
    u32 b = __float_as_uint(v);
    bf16 h = {(unsigned short)(v != v ? b >> 16 | 0x40 : (b + 0x7fff + (b >> 16 & 1)) >> 16)};
    return h;
}

// N neighbours moved as one word; the address must be a multiple of the size.
template <class S, int N> struct __align__(sizeof(S) * N) vec { S v[N]; };

// ---- operands of elementwise kernels, as burn/backend/cuda/device.h declares them
// One operand without strides: step 1 reads p[i], step 0 one value: *p, or v where p is null (a number given by the host).
template <class S> struct In {
    const S *p;
    i64 step;
    S v;
};

// ---- values that a kernel cannot use
enum { ERR_INDEX = 1, ERR_ZERO_DIV = 2, ERR_SHIFT = 4 };
struct Error {
    i64 ticket; // of the call that found it; 0: none
    i32 code;
    i32 lock;
    i64 position, value, size;
    i64 latest; // ticket of the last call that reported here, whether or not the record was free
};
// A call has a record of its own (if two should meet in one, the first keeps it); in it stands the lowest position.
__device__ inline void report(Error *e, i64 ticket, i32 code, i64 position, i64 value, i64 size) {
    volatile Error *seen = e;
    seen->latest = ticket;
    for (;;) {
        i64 holder = seen->ticket;
        if (holder && (holder != ticket || seen->position <= position)) return;
        if (atomicCAS(&e->lock, 0, 1) == 0) {
            __threadfence();
            if (!seen->ticket || (seen->ticket == ticket && seen->position > position)) {
                seen->code = code;
                seen->position = position;
                seen->value = value;
                seen->size = size;
                __threadfence();
                seen->ticket = ticket;
            }
            __threadfence();
            atomicExch(&e->lock, 0);
            return;
        }
    }
}
// Whether this call has found a wrong value (in an earlier kernel of the same call).
__device__ inline bool failed(const Error *e, i64 ticket) { return *(const volatile i64 *)&e->latest == ticket; }
