"""Compiled parts: the core, and the kernels of each SIMD level."""
