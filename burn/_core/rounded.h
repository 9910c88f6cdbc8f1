/* ROUNDED(product): a product, scalar or vector, that must not become part of a fused multiply-add. */
#pragma once
#if BURN_LEVEL >= 2
#define ROUNDED(v) __asm__("" : "+x"(v))
#else
#define ROUNDED(v) __asm__("" : "+m"(v))
#endif
