# cython: language_level=3
"""Kernels of the elementwise ops, of casts and of the fused Adam step.

The lists of ops are in elementwise_float.h and elementwise_int.h; a new op is a line there.
"""
from cpython.pycapsule cimport PyCapsule_New
from burn._core.abi cimport *

cdef extern from "elementwise_rows.h" nogil:
    const burn_table elt_table

table = PyCapsule_New(<void *>&elt_table, "burn.kernels", NULL)
