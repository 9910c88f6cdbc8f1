# TensorBase: a strided view of a storage, with its autodiff context and its place on the tape.

cdef enum:
    CTX_PLAIN = 0           # no autodiff
    CTX_AUTODIFF = 1        # autodiff, strategy Disabled
    CTX_BALANCED = 2        # autodiff, strategy Balanced
    KIND_FLOAT = 1
    KIND_INT = 2
    KIND_BOOL = 4

cdef object tensor_type = None
cdef object shape_type = tuple
cdef object new_tuple = tuple.__new__
cdef object dtype_type = None


cdef inline int kind_of(int dtype) noexcept nogil:
    return KIND_FLOAT if dtype <= DT_BF16 else (KIND_INT if dtype < DT_BOOL else KIND_BOOL)


@cython.no_gc
@cython.freelist(512)
@cython.c_api_binop_methods(True)
cdef class TensorBase:
    """What a tensor is made of; `burn.tensor.Tensor` adds the public methods in Python.

    Inside the tape plain objects of this class are used: they come from a free list, at a third of a public tensor's cost.
    """
    cdef Storage st
    cdef Node node
    cdef int64_t offset
    cdef int64_t size
    cdef int64_t dims[8]
    cdef int64_t strides[8]
    cdef int32_t dev
    cdef uint8_t ndim
    cdef uint8_t dtype
    cdef uint8_t ctx
    cdef uint8_t contig

    def __getbuffer__(self, Py_buffer *view, int flags):
        # read-only; the view holds an exporter, which holds the memory, so that x[i] = v does not disturb it
        if self.dtype == DT_BF16:
            raise BufferError("[buffer] bf16 has no format in the buffer protocol; use numpy(), or cast() to f32")
        PyObject_GetBuffer(to_buffer(self), view, flags)

    @property
    def shape(self):
        """Sizes of the axes."""
        return new_tuple(shape_type, tensor_dims(self))  # past the checks that Shape makes of sizes

    @property
    def ndim(self):
        """Number of axes."""
        return self.ndim

    @property
    def _dtype(self):
        return self.dtype

    @property
    def _kind(self):
        return kind_of(self.dtype)

    @property
    def _slot(self):
        return self.dev

    @property
    def _ctx(self):
        return self.ctx

    @property
    def _size(self):
        return self.size

    @property
    def _dims(self):
        return tensor_dims(self)

    @property
    def _strides(self):
        return tuple([self.strides[i] for i in range(self.ndim)])

    @property
    def _offset(self):
        return self.offset

    @property
    def _contiguous(self):
        return bool(self.contig)

    @property
    def _node_id(self):
        return None if self.node is None else self.node.id

    def _shares_storage(self, TensorBase other):
        return self.st is other.st

    def __len__(self):
        return self.dims[0]

    def __add__(a, b):
        return binary(OP_ADD, a, b)

    def __sub__(a, b):
        return binary(OP_SUB, a, b)

    def __mul__(a, b):
        return binary(OP_MUL, a, b)

    def __truediv__(a, b):
        return binary(OP_TRUEDIV, a, b)

    def __floordiv__(a, b):
        return binary(OP_FLOORDIV, a, b)

    def __mod__(a, b):
        return binary(OP_MOD, a, b)

    def __pow__(a, b, c):
        if c is not None:
            raise TypeError("[pow] a modulus is not supported; use (x ** y) % m")
        return binary(OP_POW, a, b)

    def __matmul__(a, b):
        return binary(OP_MATMUL, a, b)

    def __and__(a, b):
        return binary(OP_AND, a, b)

    def __or__(a, b):
        return binary(OP_OR, a, b)

    def __xor__(a, b):
        return binary(OP_XOR, a, b)

    def __lshift__(a, b):
        return binary(OP_LSHIFT, a, b)

    def __rshift__(a, b):
        return binary(OP_RSHIFT, a, b)

    def __pos__(self):
        return self

    def __neg__(self):
        return unary_slot(OP_NEG, self)

    def __abs__(self):
        return unary_slot(OP_ABS, self)

    def __invert__(self):
        return unary_slot(OP_INVERT, self)

    def __richcmp__(self, other, int which):
        return binary(OP_LT + which, self, other)

    def __hash__(self):
        return <Py_ssize_t><void *>self >> 4


cdef tuple tensor_dims(TensorBase t):
    cdef int n = t.ndim
    if n == 1:
        return (t.dims[0],)
    if n == 2:
        return (t.dims[0], t.dims[1])
    return tuple([t.dims[i] for i in range(n)])


cdef inline TensorBase tensor_new():
    return <TensorBase>BURN_NEW(TensorBase, tensor_type, NO_ARGS)


cdef inline TensorBase inner_new():
    return TensorBase.__new__(TensorBase)


cdef inline void copy_view(TensorBase t, TensorBase x) noexcept:
    # t becomes the view that x is; context and node are the caller's business
    cdef int i
    t.st = x.st
    t.offset = x.offset
    t.size = x.size
    t.ndim = x.ndim
    t.dtype = x.dtype
    t.dev = x.dev
    t.contig = x.contig
    for i in range(x.ndim):
        t.dims[i] = x.dims[i]
        t.strides[i] = x.strides[i]


cdef inline TensorBase tensor_saved(TensorBase x):
    """x as the tape keeps it: storage and view, no node, no autodiff."""
    cdef TensorBase t = inner_new()
    copy_view(t, x)
    return t


cdef TensorBase publish(TensorBase x):
    """x as an object of the public class, for Python code to see."""
    cdef TensorBase t
    if type(x) is not TensorBase:
        return x
    t = tensor_new()
    copy_view(t, x)
    return t


cdef inline void set_contiguous(TensorBase t) noexcept:
    # strides of a row-major tensor from its dims; size too
    cdef int64_t n = 1
    cdef int i = t.ndim - 1
    while i >= 0:
        t.strides[i] = n
        n *= t.dims[i]
        i -= 1
    t.size = n
    t.offset = 0
    t.contig = 1


cdef inline TensorBase tensor_empty_like(TensorBase x, int dtype, bint public=True):
    """A fresh contiguous tensor with the shape and device of a contiguous x; its context too if public."""
    cdef TensorBase t = tensor_new() if public else inner_new()
    cdef int i, n = x.ndim
    t.ndim = n
    for i in range(n):
        t.dims[i] = x.dims[i]
        t.strides[i] = x.strides[i]
    t.size = x.size
    t.contig = 1
    t.dtype = dtype
    t.dev = x.dev
    t.ctx = x.ctx if public else CTX_PLAIN
    t.st = storage_new(x.size * DT_SIZE[dtype], x.dev)
    return t


cdef TensorBase tensor_empty(const int64_t *dims, int ndim, int dtype, int dev, int ctx):
    cdef TensorBase t = tensor_new()
    cdef int i
    cdef double total = DT_SIZE[dtype]
    for i in range(ndim):
        t.dims[i] = dims[i]
        total *= dims[i]
    if total > 7e13:
        raise OutOfMemoryError(f"[tensor] shape {[dims[i] for i in range(ndim)]} would need {total:.3g} bytes; use a smaller one")
    t.ndim = ndim
    t.dtype = dtype
    t.dev = dev
    t.ctx = ctx
    set_contiguous(t)
    t.st = storage_new(t.size * DT_SIZE[dtype], dev)
    return t


cdef inline TensorBase tensor_alias(TensorBase x, int ctx):
    """The same view of the same storage in a context, outside the graph."""
    cdef TensorBase t = tensor_new()
    copy_view(t, x)
    t.ctx = ctx
    return t


cdef int find_contiguous(TensorBase t) noexcept:
    cdef int64_t n = 1
    cdef int i = t.ndim - 1
    while i >= 0:
        if t.dims[i] != 1 and t.strides[i] != n:
            return t.size == 0
        n *= t.dims[i]
        i -= 1
    return 1


cdef inline bint same_dims(TensorBase a, TensorBase b) noexcept:
    cdef int i
    if a.ndim != b.ndim or a.size != b.size:
        return False
    for i in range(a.ndim):
        if a.dims[i] != b.dims[i]:
            return False
    return True


cdef inline void fill_buf(burn_buf *b, TensorBase t) noexcept:
    b.p = storage_ptr(t.st) + t.offset * DT_SIZE[t.dtype]
    b.shape = t.dims
    b.strides = NULL if t.contig else t.strides
    b.size = t.size
    b.ndim = t.ndim
    b.dtype = t.dtype
    b.host = t.st.flags & ST_HOST


cdef int read_dims(object shape, int64_t *dims) except -1:
    cdef int n = 0
    for v in shape:
        if n == 8:
            raise ShapeError(f"[tensor] 'shape' must have at most 8 axes, got {list(shape)}; merge some with reshape()")
        dims[n] = PyNumber_Index(v)
        n += 1
    return n


cdef int64_t count_of(const int64_t *dims, int ndim) except -1:
    """Number of elements; more than a signed 64-bit number holds is an error."""
    cdef int64_t n = 1
    cdef bint over = False
    cdef int i
    for i in range(ndim):
        if dims[i] == 0:
            return 0
        if burn_mul_overflow(n, dims[i], &n):
            over = True
    if over:
        raise ShapeError(f"[tensor] 'shape' must describe fewer than 2**63 elements, got {[dims[i] for i in range(ndim)]}")
    return n


def set_types(tensor, type shape, dtype):
    """Registers the public Tensor and Shape classes that the core creates, and that of dtypes; some have metaclasses."""
    global tensor_type, shape_type, dtype_type
    dtype_type = dtype
    tensor_type = <type>tensor
    shape_type = shape
    burn_inherit_operators(TensorBase, tensor)
    burn_keep_freed(TensorBase, tensor)


def empty(shape, int dtype, int dev, int ctx):
    """A tensor of undefined content."""
    cdef int64_t dims[8]
    cdef int n = read_dims(shape, dims)
    return tensor_empty(dims, n, dtype, dev, ctx)


def empty_along(TensorBase x, shape, int ctx):
    """A tensor of undefined content, of x's rank, whose axes before the last lie in memory in the order of x's."""
    cdef int64_t dims[8]
    cdef int64_t steps[8]
    cdef int order[8]
    cdef int n = read_dims(shape, dims), i, k
    cdef int64_t step = 1
    cdef TensorBase out = tensor_empty(dims, n, x.dtype, x.dev, ctx)
    for i in range(n):
        k = i
        while k > 0 and i < n - 1 and x.strides[order[k - 1]] < x.strides[i]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = i
    for i in range(n - 1, -1, -1):
        steps[order[i]] = step
        step *= dims[order[i]]
    return view_of(out, dims, steps, n, 0)


def alias(TensorBase x, int ctx):
    """The same values in another autodiff context, outside the graph."""
    return tensor_alias(x, ctx)


def clone(TensorBase x):
    """Another handle of the same value and the same node."""
    return with_context(x, x.ctx)


def with_context(TensorBase x, int ctx):
    """The same value at the same place on the tape, in another autodiff context."""
    cdef TensorBase t = tensor_alias(x, ctx)
    t.node = x.node
    return t


def sole_owner(TensorBase x):
    """Whether no other tensor and no other library holds x's memory."""
    return BURN_REFCNT(<void *>x.st) == 1 and not x.st.flags & (ST_BORROWED | ST_EXPORTED)


def reinterpret(TensorBase x, int dtype):
    """The same bytes read as another dtype of the same size, outside the graph."""
    cdef TensorBase t = tensor_alias(x, x.ctx)
    t.dtype = dtype
    return t


cdef TensorBase view_of(TensorBase x, const int64_t *dims, const int64_t *strides, int ndim, int64_t offset):
    cdef TensorBase t = tensor_new()
    cdef int i
    t.size = count_of(dims, ndim)
    t.st = x.st
    t.dtype = x.dtype
    t.dev = x.dev
    t.ctx = x.ctx
    t.ndim = ndim
    t.offset = offset
    for i in range(ndim):
        t.dims[i] = dims[i]
        t.strides[i] = strides[i]
    t.contig = find_contiguous(t)
    return t


cdef TensorBase expand_to(TensorBase x, const int64_t *dims, int ndim):
    """A view with stride 0 on axes of size 1 that grow; ranks are aligned at the right."""
    cdef int64_t strides[8]
    cdef int i, shift = ndim - x.ndim
    for i in range(ndim):
        if i < shift or (x.dims[i - shift] == 1 and dims[i] != 1):
            strides[i] = 0
        else:
            strides[i] = x.strides[i - shift]
    return view_of(x, dims, strides, ndim, x.offset)


cdef bint reshape_strides(TensorBase x, const int64_t *dims, int ndim, int64_t *strides) noexcept:
    """Strides under which x read with dims is a view, if there are any."""
    cdef int64_t old_d[8]
    cdef int64_t old_s[8]
    cdef int n = 0, i, oi = 0, oj, ni = 0, nj, k
    cdef int64_t np_, op_
    for i in range(x.ndim):
        if x.dims[i] != 1:
            old_d[n] = x.dims[i]
            old_s[n] = x.strides[i]
            n += 1
    while ni < ndim and oi < n:
        np_ = dims[ni]
        op_ = old_d[oi]
        nj = ni + 1
        oj = oi + 1
        while np_ != op_:
            if np_ < op_:
                np_ *= dims[nj]
                nj += 1
            else:
                op_ *= old_d[oj]
                oj += 1
        for k in range(oi, oj - 1):
            if old_s[k] != old_d[k + 1] * old_s[k + 1]:
                return False
        strides[nj - 1] = old_s[oj - 1]
        k = nj - 2
        while k >= ni:
            strides[k] = strides[k + 1] * dims[k + 1]
            k -= 1
        ni = nj
        oi = oj
    k = ni
    while k < ndim:
        strides[k] = 1
        k += 1
    return True
