// CUDA's device language for the host compiler: this comes before the text of a .cu file.
#pragma once
#include <limits>
#include <math.h>
#include <type_traits>
#include <utility>

#include "interface.h"

#define __device__
#define __host__
#define __global__
#define __constant__ static
#define __shared__ static // one block runs at a time
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__

inline Emulation emulation __attribute__((visibility("hidden")));
extern "C" __attribute__((visibility("default"))) Emulation *burn_emulation() { return &emulation; }
static constexpr uint3 &threadIdx = emulation.thread, &blockIdx = emulation.block;
static constexpr dim3 &blockDim = emulation.block_dim, &gridDim = emulation.grid_dim;
static constexpr int warpSize = 32;

// ---- kernels
namespace emulated {
template <auto F> struct Call;
template <class... A, void (*F)(A...)> struct Call<F> {
    static constexpr unsigned n_params = sizeof...(A);
    template <size_t... I> static inline void start(void **p, std::index_sequence<I...>) {
        (void)p;
        F(*(std::remove_cv_t<A> *)p[I]...);
    }
    static void threads(void **params) {
        do {
            while (emulation.next < emulation.count) {
                unsigned t = emulation.next++;
                if (emulation.reversed) t = emulation.count - 1 - t;
                emulation.index = t;
                emulation.thread.x = t;
                if (t >= blockDim.x) {
                    emulation.thread.x = t % blockDim.x;
                    emulation.thread.y = t / blockDim.x % blockDim.y;
                    emulation.thread.z = t / blockDim.x / blockDim.y;
                } else {
                    emulation.thread.y = emulation.thread.z = 0;
                }
                start(params, std::index_sequence_for<A...>{});
                emulation.done++;
            }
        } while (emulation.done == emulation.count && emulation.next_block());
    }
};
struct Registered {
    EmulatedKernel kernel;
    Registered(const char *name, unsigned most, unsigned n, void (*threads)(void **))
        : kernel{name, most, n, threads, emulation.kernels} {
        emulation.kernels = &kernel;
    }
};
template <class V> static inline uint64_t pack(V v) {
    static_assert(sizeof(V) <= 8, "warps exchange up to 64 bits");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &v, sizeof v);
    return bits;
}
template <class V> static inline V unpack(uint64_t bits) {
    V v;
    __builtin_memcpy(&v, &bits, sizeof v);
    return v;
}
template <class To, class From> static inline To bits(From v) {
    static_assert(sizeof(To) == sizeof(From), "same size");
    To to;
    __builtin_memcpy(&to, &v, sizeof to);
    return to;
}
template <class V> static inline V alone(V v) { // no fused multiply-add reaches over this
    asm("" : "+x"(v));
    return v;
}
template <class To, class From> static inline To saturated(From v) { // as the hardware converts
    if (v != v) return 0;
    if (v >= (From)std::numeric_limits<To>::max()) return std::numeric_limits<To>::max();
    if (v <= (From)std::numeric_limits<To>::min()) return std::numeric_limits<To>::min();
    return (To)v;
}
} // namespace emulated

// The function gets a name of its own: kernels may be called like functions of the C library.
#define KERNEL(name, threads, params) EMULATED_KERNEL(name, threads, params)
#define EMULATED_KERNEL(name, most, params) \
    static void kernel_##name params; \
    static emulated::Registered registered_##name(#name, most, emulated::Call<kernel_##name>::n_params, \
                                                  emulated::Call<kernel_##name>::threads); \
    static void kernel_##name params
#define DYNAMIC_SHARED(type, name) type *name = (type *)emulation.shared

// ---- threads that wait for each other
#define __syncthreads() ((void)emulation.block_sync(__LINE__, BLOCK_SYNC, 0))
#define __syncthreads_count(p) ((int)emulation.block_sync(__LINE__, BLOCK_COUNT, (p) != 0))
#define __syncthreads_and(p) ((int)emulation.block_sync(__LINE__, BLOCK_AND, (p) != 0))
#define __syncthreads_or(p) ((int)emulation.block_sync(__LINE__, BLOCK_OR, (p) != 0))
static inline void emulated_syncwarp(int line, unsigned mask = 0xffffffffu) {
    emulation.warp_sync(line, WARP_SYNC, mask, 0, 0, 32);
}
#define __syncwarp(...) emulated_syncwarp(__LINE__, ##__VA_ARGS__)
#define EMULATED_SHUFFLE(name, op) \
    template <class V> static inline V name(int line, unsigned mask, V v, int operand, int width = 32) { \
        return emulated::unpack<V>(emulation.warp_sync(line, op, mask, emulated::pack(v), (unsigned)operand, width)); \
    }
EMULATED_SHUFFLE(emulated_shfl, WARP_INDEX)
EMULATED_SHUFFLE(emulated_shfl_up, WARP_UP)
EMULATED_SHUFFLE(emulated_shfl_down, WARP_DOWN)
EMULATED_SHUFFLE(emulated_shfl_xor, WARP_XOR)
#define __shfl_sync(...) emulated_shfl(__LINE__, __VA_ARGS__)
#define __shfl_up_sync(...) emulated_shfl_up(__LINE__, __VA_ARGS__)
#define __shfl_down_sync(...) emulated_shfl_down(__LINE__, __VA_ARGS__)
#define __shfl_xor_sync(...) emulated_shfl_xor(__LINE__, __VA_ARGS__)
#define __ballot_sync(mask, p) ((unsigned)emulation.warp_sync(__LINE__, WARP_BALLOT, mask, (p) != 0, 0, 32))
#define __any_sync(mask, p) ((int)emulation.warp_sync(__LINE__, WARP_ANY, mask, (p) != 0, 0, 32))
#define __all_sync(mask, p) ((int)emulation.warp_sync(__LINE__, WARP_ALL, mask, (p) != 0, 0, 32))
#define __match_any_sync(mask, v) ((unsigned)emulation.warp_sync(__LINE__, WARP_MATCH, mask, emulated::pack(v), 0, 32))
#define __threadfence() ((void)0)
#define __threadfence_block() ((void)0)
#define __threadfence_system() ((void)0)
#define __nanosleep(ns) ((void)(ns))
#undef assert
#define assert(test) ((test) ? (void)0 : emulation.fault(710, "assertion failed: " #test))
#define __trap() emulation.fault(719, "trap")
static inline long long clock64() { return (long long)__builtin_ia32_rdtsc(); }
extern "C" int printf(const char *, ...);

// ---- atomics: no other thread runs in between
#define EMULATED_ATOMIC(name, value) \
    template <class V, class X> static inline V name(V *p, X x) { \
        V old = *p, v = (V)x; \
        (void)v; \
        *p = value; \
        return old; \
    }
EMULATED_ATOMIC(atomicAdd, (V)(old + v))
EMULATED_ATOMIC(atomicSub, (V)(old - v))
EMULATED_ATOMIC(atomicExch, v)
EMULATED_ATOMIC(atomicMin, v < old ? v : old)
EMULATED_ATOMIC(atomicMax, v > old ? v : old)
EMULATED_ATOMIC(atomicAnd, (V)(old & v))
EMULATED_ATOMIC(atomicOr, (V)(old | v))
EMULATED_ATOMIC(atomicXor, (V)(old ^ v))
EMULATED_ATOMIC(atomicInc, (V)(old >= v ? 0 : old + 1))
EMULATED_ATOMIC(atomicDec, (V)(old == 0 || old > v ? v : old - 1))
template <class V, class X, class Y> static inline V atomicCAS(V *p, X expected, Y v) {
    V old = *p;
    if (old == (V)expected) *p = (V)v;
    return old;
}

// ---- memory
template <class V> static inline V __ldg(const V *p) { return *p; }
template <class V> static inline V __ldcs(const V *p) { return *p; }
template <class V> static inline V __ldcg(const V *p) { return *p; }
template <class V> static inline V __ldca(const V *p) { return *p; }
template <class V> static inline V __ldcv(const V *p) { return *(const volatile V *)p; }
template <class V> static inline void __stcs(V *p, V v) { *p = v; }
template <class V> static inline void __stcg(V *p, V v) { *p = v; }
template <class V> static inline void __stwt(V *p, V v) { *p = v; }

#include "emulated_math.h"
