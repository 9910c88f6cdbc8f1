# Storage: one block of memory. Tensors hold no pointer of their own; every read and write goes through storage_ptr.

cdef enum:
    ST_BORROWED = 1     # memory of somebody else (NumPy, DLPack), kept alive by owner
    ST_EXPORTED = 2     # somebody else may read it (a NumPy view, DLPack): never reused for a result
    ST_READONLY = 4     # the owner forbids writing


@cython.final
@cython.no_gc
@cython.freelist(512)
cdef class Storage:
    """One reference-counted block of memory on one device."""
    cdef char *p
    cdef size_t nbytes
    cdef int flags
    cdef int device
    cdef object owner

    def __dealloc__(self):
        if self.p != NULL and not (self.flags & ST_BORROWED):
            heap_free(self.p, self.nbytes)


cdef inline char *storage_ptr(Storage s) noexcept:
    # The one accessor of memory: a pending value (fusion, asynchronous device) would be computed here.
    return s.p


cdef Storage storage_new(size_t nbytes, int device):
    cdef Storage s = Storage.__new__(Storage)
    s.p = <char *>heap_alloc(nbytes)
    if s.p == NULL:
        raise MemoryError(f"[tensor] cannot allocate {nbytes} bytes: {heap.live} bytes are in live tensors; "
                          "free tensors or use smaller batches")
    s.nbytes = nbytes
    s.device = device
    return s


def memory_usage():
    """Bytes and blocks held by live tensors and kept for reuse, and the highest number of live bytes so far."""
    return {
        "live_bytes": heap.live, "live_blocks": heap.live_blocks, "cached_bytes": heap.cached,
        "cached_blocks": heap.cached_blocks, "peak_bytes": heap.peak, "limit_bytes": heap.limit,
    }


def memory_trim():
    """Gives cached blocks back to the system and returns the number of bytes freed."""
    cdef size_t n
    with nogil:
        n = heap_trim()
    return n


def memory_limit(size_t limit):
    """Sets the bound on cached bytes."""
    heap.limit = limit
