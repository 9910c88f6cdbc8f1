// What a library of emulated kernels and the emulated driver share.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct uint3 { unsigned x, y, z; };
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

// A kernel of the library: threads(params) starts the threads of the block that are not started yet.
struct EmulatedKernel {
    const char *name;
    unsigned most_threads, n_params;
    void (*threads)(void **params);
    EmulatedKernel *next;
};

enum WarpOp { WARP_SYNC, WARP_INDEX, WARP_UP, WARP_DOWN, WARP_XOR, WARP_BALLOT, WARP_ANY, WARP_ALL, WARP_MATCH };
enum BlockOp { BLOCK_SYNC, BLOCK_COUNT, BLOCK_AND, BLOCK_OR };

// One a library. A block's threads run in turn on one host thread; only those that wait for others get a stack each.
struct Emulation {
    uint3 thread, block;
    dim3 block_dim, grid_dim;
    unsigned index;                // of the running thread in its block
    unsigned next, count, done;    // the next thread to start, threads of a block, threads at their end
    int reversed;                  // starts the last thread first
    char *shared;                  // the dynamic shared memory
    EmulatedKernel *kernels;
    bool (*next_block)();
    unsigned (*block_sync)(int line, int op, unsigned value);
    uint64_t (*warp_sync)(int line, int op, unsigned mask, uint64_t value, unsigned operand, unsigned width);
    void (*fault)(int code, const char *message);
};
