# Storage: one block of memory. Tensors hold no pointer of their own; every read and write goes through storage_ptr.

cdef enum:
    MAX_SLOTS = 64
    ST_BORROWED = 1     # memory of somebody else (NumPy, DLPack), kept alive by owner
    ST_EXPORTED = 2     # somebody else may read it (a NumPy view, DLPack): never reused for a result
    ST_READONLY = 4     # the owner forbids writing
    ST_HOST = 8         # one value, still in host memory although the device has memory of its own
    ST_LENT = 16        # somebody has its address and holds the tensor only: it must outlive a rebinding (x[i] = v)

cdef int backend_of[MAX_SLOTS]                   # device slot -> backend number, filled by register_device
cdef const burn_memory *memory_of[MAX_SLOTS]     # device slot -> its memory; NULL is the host's
cdef int dl_type_of[MAX_SLOTS]                   # device slot -> device as DLPack names it
cdef int dl_id_of[MAX_SLOTS]
cdef list memory_capsules = []
cdef dict pending_errors = {}                    # thread -> an exception that compiled code of a backend has left here


cdef extern from *:
    """
    /* Freed storages of host memory: no error is put aside for them, as it is where a backend is called. */
    static struct { destructor plain; int n; PyObject *storage[BURN_KEPT]; } burn_storages;
    static PyObject *burn_storage_new(PyObject *type, PyObject *none) {
        if (!burn_storages.n) return BURN_NEW(type, type, none);
        return PyObject_Init(burn_storages.storage[--burn_storages.n], (PyTypeObject *)type);
    }
    static void burn_storage_keep(PyObject *o) {
        if (burn_storages.n < BURN_KEPT) burn_storages.storage[burn_storages.n++] = o;
        else burn_storages.plain(o);
    }
    static void burn_storage_plain(PyObject *o) { burn_storages.plain(o); }
    static void burn_keep_storages(PyObject *type, void (*release)(PyObject *)) {
        burn_storages.plain = ((PyTypeObject *)type)->tp_dealloc;
        ((PyTypeObject *)type)->tp_dealloc = release;
    }
    """
    object burn_storage_new(object type, object none)
    void burn_storage_keep(PyObject *o) noexcept
    void burn_storage_plain(PyObject *o) noexcept
    void burn_keep_storages(object type, void (*release)(PyObject *) noexcept)


@cython.final
@cython.no_gc
cdef class Storage:
    """One reference-counted block of memory on one device."""
    cdef char *p
    cdef size_t nbytes
    cdef int flags
    cdef int device
    cdef object owner

    def __dealloc__(self):
        if self.p != NULL and not self.flags & ST_BORROWED:     # a backend's: memory of the host is freed before, see below
            memory_of[self.device].free(self.device, self.p, self.nbytes)


cdef void storage_dealloc(PyObject *o) noexcept:
    if memory_of[(<Storage>o).device] != NULL and not (<Storage>o).flags & ST_HOST:
        burn_storage_plain(o)
        return
    if (<Storage>o).p != NULL and not (<Storage>o).flags & ST_BORROWED:
        heap_free((<Storage>o).p, (<Storage>o).nbytes)
    (<Storage>o).p = NULL
    (<Storage>o).flags = 0
    if (<Storage>o).owner is not None:
        (<Storage>o).owner = None
    burn_storage_keep(o)


burn_keep_storages(Storage, storage_dealloc)


cdef inline char *storage_ptr(Storage s) noexcept:
    # The one accessor of memory: a pending value (fusion) would be computed here.
    return s.p


cdef object take_pending():
    """The exception that a backend left, or one that says it left none."""
    e = pending_errors.pop(PyThread_get_thread_ident(), None)
    return ExecutionError("[device] the backend failed and gave no reason") if e is None else e


def raise_pending():
    """Raises what set_pending was given."""
    raise take_pending()


def set_pending(e):
    """Leaves an exception for the caller of compiled code of a backend; that code then returns BURN_ERR_RAISED."""
    pending_errors[PyThread_get_thread_ident()] = e


cdef object out_of_memory(str op, size_t nbytes):
    """The exception for a request of host memory that cannot be met."""
    room = memory_headroom()
    left = "" if room is None else f", and {room} bytes are left to this process"
    return OutOfMemoryError(f"[{op}] cannot allocate {nbytes} bytes: {heap.live} bytes are in live tensors{left}; free tensors "
                            "or use smaller batches")


def memory_headroom(str root=""):
    """Bytes of host memory that the process may still take, None where the system does not say; root precedes its files."""
    cdef bytes path = root.encode()
    cdef size_t room = headroom_now(path)
    return None if room == HEADROOM_UNKNOWN else room


cdef Storage storage_new(size_t nbytes, int device):
    cdef Storage s = <Storage>burn_storage_new(Storage, NO_ARGS)
    s.device = device
    s.nbytes = nbytes
    if memory_of[device] == NULL:
        s.p = <char *>heap_alloc(nbytes)
        if s.p == NULL:
            raise out_of_memory("tensor", nbytes)
    else:
        s.p = <char *>memory_of[device].alloc(device, nbytes)
        if s.p == NULL:
            raise take_pending()
    return s


cdef Storage storage_of_value(int device):
    """Room for one value that the host writes; kernels with ROW_HOST take it as it is."""
    cdef Storage s = <Storage>burn_storage_new(Storage, NO_ARGS)
    s.device = device
    s.nbytes = 8
    s.p = <char *>heap_alloc(8)
    if s.p == NULL:
        raise out_of_memory("tensor", 8)
    if memory_of[device] != NULL:
        s.flags = ST_HOST
    return s


cdef int settle(Storage s) except -1:
    """Moves a value that is still in host memory to its device."""
    cdef char *p
    cdef int rc
    if s.flags & ST_HOST:
        p = <char *>memory_of[s.device].alloc(s.device, s.nbytes)
        if p == NULL:
            raise take_pending()
        rc = memory_of[s.device].upload(s.device, p, s.p, s.nbytes)
        if rc != BURN_OK:
            memory_of[s.device].free(s.device, p, s.nbytes)
            raise take_pending()
        heap_free(s.p, s.nbytes)
        s.p = p
        s.flags &= ~ST_HOST
    return 0


cdef int move_bytes(int to_slot, char *to, Storage source, const char *from_, size_t n) except -1:
    """Copies n bytes into memory of a slot, from within a storage."""
    cdef const burn_memory *a
    cdef const burn_memory *b = memory_of[to_slot]
    cdef int rc = BURN_OK, from_slot = source.device
    cdef char value[8]
    if n == 0:
        return 0
    a = memory_of[from_slot]
    if source.flags & ST_HOST:   # another thread may move it to the device meanwhile
        a = NULL
        memcpy(value, from_, n)
        from_ = value
    with nogil:
        if a == NULL and b == NULL:
            memcpy(to, from_, n)
        elif a == NULL:
            rc = b.upload(to_slot, to, from_, n)
        elif b == NULL:
            rc = a.download(from_slot, to, from_, n)
        else:
            rc = a.copy(to_slot, to, from_slot, from_, n)
    if rc != BURN_OK:
        raise take_pending()
    return 0


def register_device(int slot, int backend, memory=None, int dl_type=1, int dl_id=0):
    """Says which backend number a device slot belongs to, its memory if the host cannot reach it, and its name in DLPack."""
    backend_of[slot] = backend
    dl_type_of[slot] = dl_type
    dl_id_of[slot] = dl_id
    if memory is not None:
        memory_capsules.append(memory)
        memory_of[slot] = <const burn_memory *>PyCapsule_GetPointer(memory, "burn.memory")


def sync_device(int slot):
    """Waits until all work of a device is done; wrong values and faults of that work raise here."""
    cdef int rc
    if memory_of[slot] != NULL:
        with nogil:
            rc = memory_of[slot].sync(slot)
        if rc != BURN_OK:
            raise take_pending()


def memory_usage():
    """Bytes and blocks held by live tensors and kept for reuse, and the highest number of live bytes so far."""
    return {
        "live_bytes": heap.live, "live_blocks": heap.live_blocks, "cached_bytes": heap.cached,
        "cached_blocks": heap.cached_blocks, "peak_bytes": heap.peak, "limit_bytes": heap.limit,
    }


def check_device(int slot):
    """Raises when a device takes no work any more; does not wait."""
    if memory_of[slot] != NULL and memory_of[slot].check(slot) != BURN_OK:
        raise take_pending()


def memory_trim(int slot=0):
    """Gives cached blocks of a device back to the system and returns the number of bytes freed."""
    cdef size_t n
    if memory_of[slot] != NULL:
        return memory_of[slot].trim(slot)
    with nogil:
        n = heap_trim()
    return n


def memory_limit(size_t limit):
    """Sets the bound on cached bytes."""
    heap.limit = limit
