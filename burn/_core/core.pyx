# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: binding=False, auto_pickle=False
"""The compiled core: storage, tensor, ops, dispatch and tape. Built once, for plain x86-64; kernels come in per SIMD level.

One module made of parts, so that the fast path stays inside C:
storage.pxi (memory), tensor.pxi (TensorBase), op.pxi (Op records and dispatch), fast.pxi (operators), axis.pxi (ops
along an axis), views.pxi, copies.pxi (ops that move elements), fresh.pxi (ops that make tensors of no other), rule.pxi
(gradient programs), tape.pxi (nodes, backward), checkpoint.pxi (values computed again), interop.pxi (buffer protocol, DLPack).
"""
cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_DECREF, Py_XDECREF
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New, PyCapsule_IsValid
from cpython.buffer cimport PyObject_GetBuffer, PyBUF_FORMAT, PyBUF_STRIDES, PyBUF_WRITABLE
from cpython.number cimport PyNumber_Index
from cpython.pythread cimport PyThread_get_thread_ident
from cpython.dict cimport PyDict_GetItem, PyDict_Next
from cpython.mem cimport PyMem_Malloc, PyMem_Calloc, PyMem_Realloc, PyMem_Free
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, strcmp
from libc.math cimport INFINITY, isfinite, sqrt
from abi cimport *

cdef extern from "Python.h":
    double PyFloat_AS_DOUBLE(object v) noexcept
    long long PyLong_AsLongLongAndOverflow(object v, int *over) noexcept   # of an exact int: it cannot fail
    PyObject *PyTuple_GET_ITEM(tuple items, Py_ssize_t i) noexcept          # borrowed
    ctypedef struct PySliceObject:
        PyObject *start
        PyObject *stop
        PyObject *step
    int PySlice_Unpack(object slice, Py_ssize_t *start, Py_ssize_t *stop, Py_ssize_t *step) except -1
    Py_ssize_t PySlice_AdjustIndices(Py_ssize_t size, Py_ssize_t *start, Py_ssize_t *stop, Py_ssize_t step) noexcept

cdef extern from "scalar.h" nogil:
    const int DT_SIZE[]
    void scalar_store(int dtype, double v, int64_t i, void *p)

cdef extern from "_openmp.h" nogil:
    ctypedef struct heap_t:
        size_t live, cached, limit, peak, live_blocks, cached_blocks
    heap_t heap
    void heap_init()
    void *heap_alloc(size_t n)
    void heap_free(void *p, size_t n)
    size_t heap_trim()
    size_t headroom_now(const char *root)
    size_t HEADROOM_UNKNOWN
    int pool_size, pool_forked
    int pool_threads()
    void pool_run(void (*body)(void *, int64_t) noexcept nogil, void *ctx, int64_t n)
    void pool_init()

cdef extern from *:
    """
    /* a new object of a Python subclass by the C constructor of its base, past any __new__ of the subclass */
    #define BURN_NEW(base, type, args) (((PyTypeObject *)(base))->tp_new((PyTypeObject *)(type), (args), NULL))
    #define burn_mul_overflow(a, b, out) __builtin_mul_overflow((a), (b), (out))
    #define BURN_REFCNT(o) Py_REFCNT((PyObject *)(o))
    /* Gives a Python subclass the operator functions of its C base. It would find them by name at each use otherwise, which
       costs more than the operation. */
    static void burn_inherit_operators(PyObject *base, PyObject *type) {
        PyNumberMethods *from = ((PyTypeObject *)base)->tp_as_number, *to = ((PyTypeObject *)type)->tp_as_number;
    #define TAKE(slot) to->slot = from->slot;
        TAKE(nb_add) TAKE(nb_subtract) TAKE(nb_multiply) TAKE(nb_true_divide) TAKE(nb_floor_divide) TAKE(nb_remainder)
        TAKE(nb_power) TAKE(nb_matrix_multiply) TAKE(nb_and) TAKE(nb_or) TAKE(nb_xor) TAKE(nb_lshift) TAKE(nb_rshift)
        TAKE(nb_negative) TAKE(nb_absolute) TAKE(nb_invert)
    #undef TAKE
        ((PyTypeObject *)type)->tp_richcompare = ((PyTypeObject *)base)->tp_richcompare;
        ((PyTypeObject *)type)->tp_hash = ((PyTypeObject *)base)->tp_hash;
    }
    /* Objects of one Python class without attributes of its own, made of a list of freed ones: making and freeing them as Python
       does costs as much as a small operation. Such an object leads to no Python object, so the collector need not see it.
       Subclasses have functions of their own for memory, and come here for their base's part alone. */
    #define BURN_KEPT 512
    static struct { PyTypeObject *type, *base; freefunc release; int n; void *object[BURN_KEPT]; } burn_kept;
    static PyObject *burn_kept_new(PyTypeObject *type, Py_ssize_t n) {
        PyObject *o;
        if (type != burn_kept.type) return PyType_GenericAlloc(type, n);
        if (burn_kept.n) {
            o = (PyObject *)burn_kept.object[--burn_kept.n];
            memset(o, 0, (size_t)type->tp_basicsize);
            return PyObject_Init(o, type);
        }
        o = PyType_GenericAlloc(type, n);
        if (o && PyObject_IS_GC(o)) PyObject_GC_UnTrack(o);
        return o;
    }
    static void burn_kept_free(void *o) {
        if (Py_TYPE((PyObject *)o) == burn_kept.type && burn_kept.n < BURN_KEPT) burn_kept.object[burn_kept.n++] = o;
        else burn_kept.release(o);
    }
    static void burn_kept_dealloc(PyObject *o) {
        PyTypeObject *type = Py_TYPE(o);
        if (type->tp_finalize && PyObject_CallFinalizerFromDealloc(o) < 0) return;
        burn_kept.base->tp_dealloc(o);
        Py_DECREF(type);
    }
    static void burn_keep_freed(PyObject *base, PyObject *made) {
        PyTypeObject *type = (PyTypeObject *)made;
        if (burn_kept.type || type->tp_basicsize != ((PyTypeObject *)base)->tp_basicsize) return;
        burn_kept.type = type;
        burn_kept.base = (PyTypeObject *)base;
        burn_kept.release = type->tp_free;
        type->tp_alloc = burn_kept_new;
        type->tp_free = burn_kept_free;
        type->tp_dealloc = burn_kept_dealloc;
    }
    """
    void burn_keep_freed(object base, object type)
    void burn_inherit_operators(object base, object type)
    object BURN_NEW(object base, object type, object args)
    Py_ssize_t BURN_REFCNT(void *o)   # a pointer: an object argument would be counted once more
    bint burn_mul_overflow(int64_t a, int64_t b, int64_t *out) noexcept nogil

cdef extern from "method.h":
    PyObject *burn_method_words
    PyObject *burn_method_rename
    PyObject *burn_method_errors
    object burn_method_new(object func, object form, object op, Py_ssize_t count,
                           object (*shortcut)(object op, object x, PyObject *y))
    void burn_method_compiled(object made, object first, object op, object tail, Py_ssize_t least, Py_ssize_t most)

from burn.errors import (
    ArgumentError, AutodiffError, DeviceError, DivisionByZeroError, DTypeError, ExecutionError, OutOfBoundsError,
    OutOfMemoryError, ShapeError,
)

cdef tuple NO_ARGS = ()
cdef burn_rt runtime

heap_init()
pool_init()
runtime.run = pool_run
runtime.threads = pool_threads
runtime.alloc = heap_alloc
runtime.free = heap_free

include "storage.pxi"
include "tensor.pxi"
include "op.pxi"
include "fast.pxi"
include "axis.pxi"
include "views.pxi"
include "fresh.pxi"
include "copies.pxi"
include "rule.pxi"
include "tape.pxi"
include "checkpoint.pxi"
include "interop.pxi"
include "walk.pxi"
include "update.pxi"


cdef extern from *:
    """
    /* The best kernel level that this processor runs: 4 AVX-512, 3 AVX2 with FMA, 2 SSE4.2, 0 none of them. */
    static int burn_cpu_level(void) {
    #if defined(__x86_64__) && defined(__GNUC__)
        __builtin_cpu_init();
        if (!(__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"))) return 0;
        if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))) return 2;
        if (!(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
              && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd"))) return 3;
        return 4;
    #else
        return 0;
    #endif
    }
    """
    int burn_cpu_level()


def cpu_level():
    """The best kernel level of this processor: 4 (AVX-512), 3 (AVX2), 2 (SSE4.2) or 0."""
    return burn_cpu_level()


cdef object call_op(object op, object x, PyObject *y):
    return unary(<Op>op, x) if y == NULL else binary_op(<Op>op, x, <object>y)


def taught(func, str form, Op op=None, tuple compiled=None):
    """func, whose refusals of wrong arguments are worded by what set_words was given; form shows how it is called.

    With an op the function does nothing but call it on its arguments by position, so it is not entered. compiled is (run, op,
    tail, least, most): for least to most arguments by position, run(op, *arguments, *tail) is tried before the function.
    """
    made = burn_method_new(func, form, op, 0 if op is None else op.n_in, call_op)
    if compiled is not None:
        run, first, tail, least, most = compiled
        burn_method_compiled(made, run, first, tail, least, most)
    return made


def set_words(words, rename, errors):
    """What taught functions say: words(func, form, args, kwargs, refusal) makes the exception for a call that does not fit;
    rename(func, form, error) changes one of a class of errors that the body raised."""
    global burn_method_words, burn_method_rename, burn_method_errors
    for kept in (words, rename, errors):
        Py_INCREF(kept)
    burn_method_words = <PyObject *>words
    burn_method_rename = <PyObject *>rename
    burn_method_errors = <PyObject *>errors


def set_threads(int n):
    """Sets the size of the thread pool; the caller has checked n."""
    global pool_size
    pool_size = n


def pool_size_now():
    """The size of the thread pool; 1 in a forked child."""
    return 1 if pool_forked else pool_size


def forked():
    """Whether this process is a forked child, in which kernels run serially."""
    return bool(pool_forked)
