/* Sizes in which memory is kept for reuse: four steps a power of two, so at most 25 % is wasted. */
#pragma once
#include <stddef.h>

#define ALLOC_CLASSES 176

static inline int size_class(size_t bytes, size_t *rounded) {
    if (bytes <= 64) { *rounded = 64; return 0; }
    int log2 = 63 - __builtin_clzll((unsigned long long)bytes - 1);        /* 2^log2 < bytes <= 2^(log2+1) */
    size_t base = (size_t)1 << log2, step = base >> 2, q = (bytes - base + step - 1) / step;
    *rounded = base + q * step;
    return (log2 - 6) * 4 + (int)q;
}
