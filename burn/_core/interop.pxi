# The border with NumPy and other libraries: buffer protocol, borrowing, DLPack.

cdef list FORMATS = [b"d", b"f", b"f", b"e", b"H", b"q", b"i", b"h", b"b", b"Q", b"I", b"H", b"B", b"?", b"B", b"I"]
cdef object np = None
cdef list np_dtypes = None


cdef int load_numpy() except -1:
    global np, np_dtypes
    if np is None:
        import numpy
        np_dtypes = [None if f == b"H" and i == DT_BF16 else numpy.dtype(f.decode()) for i, f in enumerate(FORMATS)]
        np = numpy
    return 0


@cython.final
cdef class Exporter:
    """A view of a tensor's memory that speaks the buffer protocol."""
    cdef Storage st
    cdef char *p
    cdef Py_ssize_t shape[8]
    cdef Py_ssize_t steps[8]
    cdef int ndim
    cdef int dtype
    cdef int64_t size
    cdef bint writable
    cdef bint contig

    def __getbuffer__(self, Py_buffer *view, int flags):
        if flags & PyBUF_WRITABLE and not self.writable:
            raise BufferError("the memory of a tensor is read-only; copy it to change it")
        if not self.contig and (flags & PyBUF_STRIDES) != PyBUF_STRIDES:
            raise BufferError("the memory of this tensor is not contiguous; call contiguous()")
        view.buf = self.p
        view.obj = self
        view.len = self.size * DT_SIZE[self.dtype]
        view.readonly = not self.writable
        view.itemsize = DT_SIZE[self.dtype]
        view.format = <char *>FORMATS[self.dtype] if flags & PyBUF_FORMAT else NULL
        view.ndim = self.ndim
        view.shape = self.shape
        view.strides = self.steps
        view.suboffsets = NULL
        view.internal = NULL

    def __releasebuffer__(self, Py_buffer *view):
        pass


cdef Exporter exporter_of(TensorBase t, bint writable):
    cdef Exporter e = Exporter.__new__(Exporter)
    cdef int i, item = DT_SIZE[t.dtype]
    e.st = t.st
    e.p = storage_ptr(t.st) + t.offset * item
    e.ndim = t.ndim
    e.dtype = t.dtype
    e.size = t.size
    e.writable = writable
    e.contig = t.contig
    for i in range(t.ndim):
        e.shape[i] = t.dims[i]
        e.steps[i] = t.strides[i] * item
    return e


cdef object numpy_view(TensorBase t, bint writable):
    load_numpy()
    a = np.asarray(exporter_of(t, writable))
    if t.dtype == DT_BF16:
        import ml_dtypes
        a = a.view(ml_dtypes.bfloat16)
    return a


cdef TensorBase host_tensor(TensorBase x):
    """x where the host can read it: itself, or a copy when its device has memory of its own."""
    cdef TensorBase out
    if memory_of[x.dev] == NULL:
        return x
    x = make_contiguous(tensor_alias(x, CTX_PLAIN))
    out = tensor_empty(x.dims, x.ndim, x.dtype, 0, CTX_PLAIN)
    move_bytes(0, storage_ptr(out.st), x.st, storage_ptr(x.st) + x.offset * DT_SIZE[x.dtype], x.size * DT_SIZE[x.dtype])
    return out


def transfer(TensorBase x, int slot, int ctx):
    """A copy of x in memory of another device, outside the graph."""
    cdef TensorBase out
    x = make_contiguous(tensor_alias(x, CTX_PLAIN))
    out = tensor_empty(x.dims, x.ndim, x.dtype, slot, ctx)
    move_bytes(slot, storage_ptr(out.st), x.st, storage_ptr(x.st) + x.offset * DT_SIZE[x.dtype], x.size * DT_SIZE[x.dtype])
    return out


def to_numpy(TensorBase t):
    """The values as a read-only array: a view of the tensor's memory, or a copy when the host cannot reach that."""
    t = host_tensor(t)
    t.st.flags |= ST_EXPORTED
    return numpy_view(t, False)


def to_buffer(TensorBase t):
    """An object with the buffer protocol that shows the tensor's values read-only."""
    t = host_tensor(t)
    t.st.flags |= ST_EXPORTED
    return exporter_of(t, False)


def to_writable(TensorBase t):
    """The bytes of a fresh contiguous tensor in the host's memory, to be written before anybody else sees it."""
    return memoryview(exporter_of(t, True)).cast("B")


cdef extern from "checksum.h" nogil:
    int burn_crc32_fast()
    uint32_t burn_crc32(const uint8_t *p, size_t n, uint32_t crc)


def crc32_is_fast():
    """Whether this processor can run crc32."""
    return bool(burn_crc32_fast())


def crc32(const uint8_t[::1] data, uint32_t value=0):
    """What zlib.crc32 gives, several times as fast; only where crc32_is_fast()."""
    cdef size_t n = data.shape[0]
    if n:
        with nogil:
            value = burn_crc32(&data[0], n, value)
    return value


def from_buffer(data, shape, int dtype, int dev, int ctx):
    """A tensor with a copy of contiguous bytes."""
    cdef int64_t dims[8]
    cdef int n = read_dims(shape, dims)
    cdef TensorBase t = tensor_empty(dims, n, dtype, dev, ctx)
    cdef const uint8_t[::1] v
    if t.size:
        v = memoryview(data).cast("B")
        if v.shape[0] != t.size * DT_SIZE[dtype]:
            raise ValueError(f"{v.shape[0]} bytes do not fill shape {list(shape)}")
        load_bytes(t, &v[0])
    return t


cdef int load_bytes(TensorBase t, const void *data) except -1:
    """Fills a fresh contiguous tensor from host memory."""
    cdef const burn_memory *memory = memory_of[t.dev]
    cdef int rc = BURN_OK
    cdef size_t n = t.size * DT_SIZE[t.dtype]
    if memory == NULL:
        memcpy(storage_ptr(t.st), data, n)
        return 0
    with nogil:
        rc = memory.upload(t.dev, t.st.p, data, n)
    if rc != BURN_OK:
        raise take_pending()
    return 0


def borrow(size_t address, owner, shape, byte_strides, int dtype, int dev, int ctx, bint readonly):
    """A tensor over memory that owner keeps alive; strides must be multiples of the item size."""
    cdef int64_t dims[8]
    cdef int n = read_dims(shape, dims), i = 0, item = DT_SIZE[dtype]
    cdef TensorBase t = tensor_new()
    cdef Storage s = <Storage>burn_storage_new(Storage, NO_ARGS)
    s.p = <char *>address
    s.device = dev
    s.flags = ST_BORROWED | (ST_READONLY if readonly else 0)
    s.owner = owner
    t.st = s
    t.ndim = n
    t.dtype = dtype
    t.dev = dev
    t.ctx = ctx
    t.size = count_of(dims, n)
    for i in range(n):
        t.dims[i] = dims[i]
        t.strides[i] = byte_strides[i] // item
    t.contig = find_contiguous(t)
    return t


# DLPack (version 0 structures, which every library reads)

cdef extern from *:
    """
    typedef struct { int32_t device_type, device_id; } dl_device;
    typedef struct { uint8_t code, bits; uint16_t lanes; } dl_dtype;
    typedef struct {
        void *data; dl_device device; int32_t ndim; dl_dtype dtype; int64_t *shape, *strides; uint64_t byte_offset;
    } dl_tensor;
    typedef struct dl_managed { dl_tensor t; void *ctx; void (*deleter)(struct dl_managed *); } dl_managed;
    typedef struct { dl_managed m; int64_t shape[8], strides[8]; } dl_export;
    """
    ctypedef struct dl_device:
        int32_t device_type, device_id
    ctypedef struct dl_dtype:
        uint8_t code, bits
        uint16_t lanes
    ctypedef struct dl_tensor:
        void *data
        dl_device device
        int32_t ndim
        dl_dtype dtype
        int64_t *shape
        int64_t *strides
        uint64_t byte_offset
    ctypedef struct dl_managed:
        dl_tensor t
        void *ctx
        void (*deleter)(dl_managed *) noexcept nogil
    ctypedef struct dl_export:
        dl_managed m
        int64_t shape[8]
        int64_t strides[8]


cdef extern from "Python.h" nogil:
    int Py_IsInitialized()


cdef void dl_release(dl_managed *m) noexcept with gil:
    Py_XDECREF(<PyObject *>m.ctx)
    PyMem_Free(m)


cdef void dl_delete(dl_managed *m) noexcept nogil:
    if Py_IsInitialized():   # another library may let go of it when the interpreter is gone
        dl_release(m)


cdef void dl_capsule_delete(object capsule) noexcept:
    cdef dl_managed *m
    if PyCapsule_IsValid(capsule, "dltensor"):
        m = <dl_managed *>PyCapsule_GetPointer(capsule, "dltensor")
        m.deleter(m)


def address(TensorBase x):
    """(where the tensor's first element is, whether writing is forbidden); the memory counts as lent from now on."""
    settle(x.st)
    x.st.flags |= ST_EXPORTED | ST_LENT
    return <size_t>(storage_ptr(x.st) + x.offset * DT_SIZE[x.dtype]), bool(x.st.flags & ST_READONLY)


def to_dlpack(TensorBase x, keeper=None):
    """A DLPack capsule that shares the tensor's memory; keeper lives as long as that is in use."""
    cdef dl_export *e = <dl_export *>PyMem_Malloc(sizeof(dl_export))
    cdef int i
    if e == NULL:
        raise MemoryError()
    settle(x.st)
    x.st.flags |= ST_EXPORTED
    for i in range(x.ndim):
        e.shape[i] = x.dims[i]
        e.strides[i] = x.strides[i]
    e.m.t.data = storage_ptr(x.st)
    e.m.t.byte_offset = x.offset * DT_SIZE[x.dtype]
    e.m.t.device.device_type = dl_type_of[x.dev]
    e.m.t.device.device_id = dl_id_of[x.dev]
    e.m.t.ndim = x.ndim
    e.m.t.dtype.lanes = 1
    e.m.t.dtype.bits = 8 * DT_SIZE[x.dtype]
    if x.dtype == DT_BF16:
        e.m.t.dtype.code = 4
    elif x.dtype <= DT_F16:
        e.m.t.dtype.code = 2
    elif x.dtype <= DT_I8:
        e.m.t.dtype.code = 0
    elif x.dtype == DT_BOOL:
        e.m.t.dtype.code = 6
    else:
        e.m.t.dtype.code = 1
    e.m.t.shape = e.shape
    e.m.t.strides = e.strides
    held = (x.st, keeper)   # a tuple drops its last entry first
    Py_INCREF(held)
    e.m.ctx = <void *>held
    e.m.deleter = dl_delete
    return PyCapsule_New(&e.m, "dltensor", dl_capsule_delete)


@cython.final
@cython.no_gc
cdef class DlpackOwner:
    """Keeps a consumed DLPack tensor alive."""
    cdef dl_managed *m

    def __dealloc__(self):
        if self.m != NULL and self.m.deleter != NULL:
            self.m.deleter(self.m)


cdef extern from "Python.h":
    int PyCapsule_SetName(object, const char *) except -1

cdef dict dl_codes = {
    (2, 64): DT_F64, (2, 32): DT_F32, (2, 16): DT_F16, (4, 16): DT_BF16, (0, 64): DT_I64, (0, 32): DT_I32, (0, 16): DT_I16,
    (0, 8): DT_I8, (1, 64): DT_U64, (1, 32): DT_U32, (1, 16): DT_U16, (1, 8): DT_U8, (6, 8): DT_BOOL,
}


def from_dlpack(capsule, int dev, int ctx):
    """A tensor that shares the memory of a DLPack capsule of the same device."""
    cdef dl_managed *m = <dl_managed *>PyCapsule_GetPointer(capsule, "dltensor")
    cdef DlpackOwner owner
    cdef int i, code
    cdef int64_t n = 1
    if m.t.device.device_type != dl_type_of[dev] or (dl_type_of[dev] != 1 and m.t.device.device_id != dl_id_of[dev]):
        raise DeviceError(f"[from_dlpack] the memory must be of DLPack device ({dl_type_of[dev]}, {dl_id_of[dev]}), got "
                          f"({m.t.device.device_type}, {m.t.device.device_id}); name the device it is on, or move it first")
    found = dl_codes.get((m.t.dtype.code, m.t.dtype.bits)) if m.t.dtype.lanes == 1 else None
    if found is None:
        raise DTypeError(f"[from_dlpack] no dtype for DLPack code {m.t.dtype.code} with {m.t.dtype.bits} bits")
    code = found
    if m.t.ndim == 0 or m.t.ndim > 8:
        raise ShapeError(f"[from_dlpack] 'source' must have 1 to 8 axes, got {m.t.ndim}; reshape it first")
    owner = DlpackOwner.__new__(DlpackOwner)
    owner.m = m
    PyCapsule_SetName(capsule, "used_dltensor")
    steps = []
    for i in range(m.t.ndim - 1, -1, -1):
        steps.insert(0, (m.t.strides[i] if m.t.strides != NULL else n) * DT_SIZE[code])
        n *= m.t.shape[i]
    return borrow(<size_t>m.t.data + m.t.byte_offset, owner, [m.t.shape[i] for i in range(m.t.ndim)], steps, code, dev, ctx,
                  False)
