// Kernels of the emulator's own tests.
KERNEL(scale, 256, (float *out, const float *x, long long n, float by)) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
        out[i] = x[i] * by;
}
template <class V> __device__ V block_sum(V v) {
    __shared__ V parts[32];
    for (int step = 16; step; step /= 2) v += __shfl_down_sync(0xffffffff, v, step);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0;
    __syncthreads();
    if (threadIdx.x < 32)
        for (int step = 16; step; step /= 2) v += __shfl_xor_sync(0xffffffff, v, step);
    return v;
}
// The last block that is done adds up what all have left, and leaves the counter at 0.
KERNEL(sum, 1024, (double *out, const double *x, long long n, double *parts, unsigned *counter)) {
    __shared__ bool last;
    double v = 0;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) v += x[i];
    v = block_sum(v);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = v;
        __threadfence();
        last = atomicAdd(counter, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    v = threadIdx.x < gridDim.x ? parts[threadIdx.x] : 0;
    v = block_sum(v);
    if (threadIdx.x == 0) *out = v, *counter = 0;
}
KERNEL(reverse, 1024, (int *x)) {
    DYNAMIC_SHARED(int, kept);
    kept[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = kept[blockDim.x - 1 - threadIdx.x];
}
KERNEL(past_shared, 32, (int *x)) {
    DYNAMIC_SHARED(int, kept);
    kept[threadIdx.x] = x[0];
}
KERNEL(places, 64, (int *out)) {
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    out[b * 24 + t] = b * 100 + t;
}
KERNEL(warps, 64, (long long *out)) {
    int lane = threadIdx.x % 32;
    long long *o = out + threadIdx.x * 8;
    o[0] = __shfl_sync(0xffffffff, lane * 10, 3);
    o[1] = __shfl_up_sync(0xffffffff, (long long)lane, 4);
    o[2] = (long long)__shfl_down_sync(0xffffffff, (double)lane, 30);
    o[3] = __shfl_xor_sync(0xffffffff, lane, 5, 8);
    o[4] = __ballot_sync(0xffffffff, lane % 3 == 0);
    o[5] = __any_sync(0xffffffff, threadIdx.x == 40);
    o[6] = __all_sync(0xffffffff, threadIdx.x < 32);
    o[7] = lane < 16 ? __shfl_xor_sync(0x0000ffff, lane, 1) : __shfl_xor_sync(0xffff0000, lane, 2);
}
KERNEL(divergent, 64, (int *x)) {
    if (threadIdx.x == 5) return;
    __syncthreads();
    x[threadIdx.x] = 1;
}
KERNEL(two_barriers, 64, (int *x)) {
    if (threadIdx.x < 32) {
        __syncthreads();
    } else {
        __syncthreads();
    }
    x[0] = 1;
}
KERNEL(wrong_mask, 32, (int *x)) {
    if (threadIdx.x < 16) x[threadIdx.x] = __shfl_xor_sync(0xffffffff, (int)threadIdx.x, 1);
}
KERNEL(store, 32, (int *x, long long at)) { x[at + threadIdx.x] = 7; }
KERNEL(misaligned, 32, (float4 *x)) { *x = make_float4(1, 2, 3, 4); }
KERNEL(divide, 32, (int *out, const int *x, int by)) { out[threadIdx.x] = x[threadIdx.x] / by; }
KERNEL(asserts, 32, (int *x)) { assert(x[0] == 0); }
KERNEL(halves, 256, (unsigned short *out, const float *x, float *back)) {
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    out[i] = float_to_f16(x[i]);
    back[i] = f16_to_float(out[i]);
}
KERNEL(contracted, 32, (float *out, float a, float b, float c)) {
    out[0] = a * b + c;
    out[1] = __fadd_rn(__fmul_rn(a, b), c);
}
KERNEL(deep, 32, (int *x, int n)) { // more stack than there is
    volatile int local[1 << 20];
    for (int i = 0; i < n; i++) local[i] = i;
    x[0] = local[n - 1];
}
