# Op records, kernel tables and dispatch. An op is data: what it takes, which kernels it has, its gradient rule.
# The fast path (fast.pxi) never raises by itself: whatever it does not take goes to the op's bridge in Python, which is the
# only source of messages and of broadcasting.

cdef enum:
    MAX_INPUTS = 64
    MAX_ATTRS = 32

# How the op of a step on the tape can be run again (checkpoint.pxi).
cdef enum:
    HOW_INFER = -1      # an elementwise op on its inputs alone, or on its input and the number in attrs
    HOW_LOST = 0        # cannot be run again
    HOW_PLAIN = 1       # elementwise, on the inputs
    HOW_NUMBER = 2      # elementwise, on the input and the number in attrs
    HOW_APPLY = 3       # recipe is (shape, ints, floats)
    HOW_VIEW = 4        # recipe is (shape, strides, offset in the input)
    HOW_RESHAPE = 5     # recipe is the shape
    HOW_EXPAND = 6      # recipe is the shape

cdef enum:
    RECOMPUTE_CHEAP = 1     # Op.recompute: 0 is never
    RECOMPUTE_PRODUCT = 2

cdef enum:
    OP_ADD, OP_SUB, OP_MUL, OP_TRUEDIV, OP_FLOORDIV, OP_MOD, OP_POW, OP_MATMUL, OP_AND, OP_OR, OP_XOR, OP_LSHIFT, OP_RSHIFT
    OP_NEG, OP_ABS, OP_INVERT
    OP_LT, OP_LE, OP_EQ, OP_NE, OP_GT, OP_GE     # in the order of Python's rich comparisons
    N_SLOTS

cdef list slot_ops = [None] * N_SLOTS          # operator slot -> op whose bridge takes any operands
cdef list slot_kinds = [None] * (3 * N_SLOTS)  # operator slot and kind -> op of two tensors (or one) of that kind
cdef dict slot_numbers = {
    "add": OP_ADD, "sub": OP_SUB, "mul": OP_MUL, "truediv": OP_TRUEDIV, "floordiv": OP_FLOORDIV, "mod": OP_MOD,
    "pow": OP_POW, "matmul": OP_MATMUL, "and": OP_AND, "or": OP_OR, "xor": OP_XOR, "lshift": OP_LSHIFT,
    "rshift": OP_RSHIFT, "neg": OP_NEG, "abs": OP_ABS, "invert": OP_INVERT,
    "lt": OP_LT, "le": OP_LE, "eq": OP_EQ, "ne": OP_NE, "gt": OP_GT, "ge": OP_GE,
}
cdef dict family_tables = {}                   # (device slot, family) -> capsule of its kernel table, None if in Python
cdef object family_loader = None               # (device slot, family name) -> capsule or None
cdef object kernel_finder = None               # (backend number, kernel name) -> Python callable, or raises
cdef object kernel_error_type = None           # what a Python kernel raises for values out of range
cdef object tracer = None                      # called with one line an op under BURN_TRACE
cdef object MISSING = object()                 # an operand that was not given; None is a value like any other
cdef list tickets = [None] * 1024              # the last calls whose values are checked later: (ticket, op, attributes)
cdef int64_t next_ticket = 1
cdef dict blamed = {}                          # by thread: (code, position, value, size) -> exception in the words of who calls
cdef bint check_at_once = False                # BURN_CHECK=1: such a call waits for its own check
cdef double GIL_NS = 20000.0                   # estimated work above which a kernel runs without the GIL


cdef enum:
    INDEX_DTYPE = -2        # out_dtype: the device's default Int dtype; -1 is the input's dtype

cdef enum:                  # how the shape of a result follows, for the compiled paths
    SHAPE_SAME, SHAPE_REDUCED, SHAPE_ROWS, SHAPE_INDICES, SHAPE_PICKED

cdef enum:                  # what the tape keeps as attributes, for the compiled paths
    ATTR_NONE, ATTR_DIM, ATTR_SCALE, ATTR_FOLD, ATTR_DIM_REVERSE, ATTR_DIM_NUMBER, ATTR_NUMBERS, ATTR_EXPONENT, ATTR_DTYPE
    ATTR_OTHER

cdef dict shape_rules = {
    "same": SHAPE_SAME, "reduced": SHAPE_REDUCED, "rows": SHAPE_ROWS, "indices": SHAPE_INDICES, "picked": SHAPE_PICKED,
}
cdef dict attr_forms = {
    (): ATTR_NONE, ("dim",): ATTR_DIM, ("scale",): ATTR_SCALE, ("outer", "n", "inner"): ATTR_FOLD,
    ("dim", "reverse"): ATTR_DIM_REVERSE, ("dim", "correction"): ATTR_DIM_NUMBER, ("numbers",): ATTR_NUMBERS,
    ("exponent",): ATTR_EXPONENT, ("from_dtype",): ATTR_DTYPE,
}


@cython.final
cdef class Op:
    """The record of one operation."""
    cdef readonly str name
    cdef readonly str family
    cdef readonly str kernel
    cdef readonly object doc
    cdef readonly object attrs
    cdef readonly int kinds
    cdef readonly int n_in
    cdef readonly int n_out
    cdef readonly bint elementwise
    cdef readonly int out_dtype
    cdef readonly int scalar_side
    cdef readonly double number
    cdef readonly int mask
    cdef public Op with_number
    cdef public Op with_number_left
    cdef public object bridge
    cdef public Rule rule
    cdef readonly bint cuts_graph
    cdef readonly int recompute
    cdef bint is_matmul
    cdef int shape_rule
    cdef int attr_form
    cdef const burn_row **rows[MAX_SLOTS]      # device slot -> rows by dtype, NULL until the first use there
    cdef dict python_kernels

    def __init__(self, str name, str family, *, str kernel=None, int kinds=7, int n_in=1, int n_out=1,
                 bint elementwise=False, int out_dtype=-1, int scalar_side=0, bridge=None, rule=None,
                 bint cuts_graph=False, attrs=(), doc=None, int recompute=-1, str shape="same", double number=0.0,
                 int mask=-1):
        self.name = name
        self.family = family
        self.kernel = name if kernel is None else kernel
        self.kinds = kinds
        self.n_in = n_in
        self.n_out = n_out
        self.elementwise = elementwise
        self.out_dtype = out_dtype
        self.scalar_side = scalar_side
        self.bridge = bridge
        self.rule = rule
        self.cuts_graph = cuts_graph
        self.attrs = tuple(attrs)
        self.doc = doc
        self.python_kernels = {}
        self.is_matmul = family == "matmul"
        self.recompute = (RECOMPUTE_CHEAP if elementwise else 0) if recompute < 0 else recompute
        self.number = number
        self.mask = mask
        self.shape_rule = shape_rules[shape]
        self.attr_form = attr_forms.get(self.attrs, ATTR_OTHER)

    def __dealloc__(self):
        cdef int i
        for i in range(MAX_SLOTS):
            PyMem_Free(self.rows[i])

    def __repr__(self):
        return f"<op {self.name} of {self.family}>"

    def __call__(self, x, y=MISSING):
        """The op on one or two tensors: the compiled path where it fits, the bridge otherwise."""
        return unary(self, x) if y is MISSING else two(self, x, y)

    def one(self, x):
        """The op on one tensor."""
        return unary(self, x)

    def two(self, x, y):
        """The op on a tensor and a tensor or number."""
        return two(self, x, y)

    def scalar(self, TensorBase x, double value, int64_t whole):
        """The op on a tensor and a number that the caller has checked and converted."""
        return scalar_op(self, x, value, whole)

    def apply(self, tuple ins, shape, int dtype, tuple ints=(), tuple floats=(), attrs=None):
        """Runs the op on tensors that the caller has checked; one result of the given shape and dtype."""
        cdef int64_t dims[8]
        cdef int n = read_dims(shape, dims)
        cdef int ctx
        cdef TensorBase first = <TensorBase>ins[0]
        ctx = merge_context(self, ins)
        cdef TensorBase out = tensor_empty(dims, n, dtype, first.dev, ctx)
        run_op(self, ins, (out,), ints, floats, attrs)
        record(self, ins, out, attrs, HOW_APPLY, (tensor_dims(out), ints, floats) if ctx == CTX_BALANCED else None)
        return out

    def apply_many(self, tuple ins, shapes, dtypes, tuple ints=(), tuple floats=(), attrs=None):
        """Like apply for an op of several results; only the first may carry a gradient."""
        cdef int64_t dims[8]
        cdef int n, ctx = merge_context(self, ins)
        cdef TensorBase first = <TensorBase>ins[0]
        cdef list outs = []
        for shape, dtype in zip(shapes, dtypes):
            n = read_dims(shape, dims)
            outs.append(tensor_empty(dims, n, dtype, first.dev, ctx))
        run_op(self, ins, tuple(outs), ints, floats)
        record(self, ins, <TensorBase>outs[0], attrs, HOW_LOST)
        return tuple(outs)

    def write(self, tuple ins, TensorBase out, tuple ints=(), tuple floats=(), attrs=None):
        """Runs the kernel into memory that the caller owns (a fresh tensor, or a view of one); nothing is recorded."""
        run_op(self, ins, (out,), ints, floats, attrs)
        return out

    def update(self, tuple ins, outs, tuple ints=(), tuple floats=()):
        """Like write for several results."""
        run_op(self, ins, tuple(outs), ints, floats)

    def record(self, tuple ins, TensorBase out, attrs=None):
        """Puts a step on the tape whose result the caller has written itself."""
        record(self, ins, out, attrs, HOW_LOST)

    def create(self, shape, int dtype, int dev, int ctx, tuple ints=(), tuple floats=()):
        """Runs an op without inputs."""
        cdef int64_t dims[8]
        cdef int n = read_dims(shape, dims)
        cdef TensorBase out = tensor_empty(dims, n, dtype, dev, ctx)
        run_op(self, NO_ARGS, (out,), ints, floats)
        return out

    def view(self, TensorBase x, shape, strides, int64_t offset, attrs=None):
        """A result that shares x's storage."""
        cdef int64_t dims[8]
        cdef int64_t steps[8]
        cdef int n = read_dims(shape, dims)
        cdef int i = 0
        for v in strides:
            steps[i] = v
            i += 1
        cdef TensorBase out = view_of(x, dims, steps, n, offset)
        if x.node is not None:
            record_view(self, x, out, attrs)
        return out

    def reshaped(self, TensorBase x, shape):
        """x read with another shape of the same size: a view where the strides allow it, else a copy."""
        cdef int64_t dims[8]
        cdef int n = read_dims(shape, dims)
        if count_of(dims, n) != x.size:
            raise ShapeError(f"[reshape] 'shape' must hold {x.size} elements, got {list(shape)}")
        return reshape_to(self, x, dims, n)

    def expanded(self, TensorBase x, shape):
        """x with axes of size 1 (and new leading axes) repeated without a copy."""
        cdef int64_t dims[8]
        cdef int n = read_dims(shape, dims)
        cdef TensorBase out = expand_to(x, dims, n)
        if x.node is not None:
            record(self, (x,), out, None, HOW_EXPAND, tensor_dims(out) if x.ctx == CTX_BALANCED else None)
        return out

    def has_kernel(self, int slot, int dtype):
        """Whether a device can run this op for a dtype."""
        if find_row(self, slot, dtype) != NULL:
            return True
        if family_tables[slot, self.family] is not None:
            return False
        try:
            python_kernel(self, backend_of[slot])
        except DeviceError:
            return False
        return True


cdef int load_rows(Op op, int slot) except -1:
    """Finds the op's rows in the table of its family on a device; a family is loaded when its first op runs there."""
    cdef const burn_table *table
    cdef const burn_row **rows
    cdef const burn_row *row
    cdef const char *at
    cdef int i
    if (slot, op.family) not in family_tables:
        capsule = family_loader(slot, op.family)
        if capsule is not None:
            table = <const burn_table *>PyCapsule_GetPointer(capsule, "burn.kernels")
            if table.init != NULL:
                table.init(&runtime)
        family_tables[slot, op.family] = capsule
    capsule = family_tables[slot, op.family]
    rows = <const burn_row **>PyMem_Calloc(DT_COUNT, sizeof(burn_row *))
    if rows == NULL:
        raise MemoryError()
    if capsule is not None:
        table = <const burn_table *>PyCapsule_GetPointer(capsule, "burn.kernels")
        name = op.kernel.encode()
        at = <const char *>table.rows
        for i in range(table.n):
            row = <const burn_row *>at
            if strcmp(row.name, name) == 0:
                rows[row.dtype] = row
            at += table.stride or sizeof(burn_row)
    op.rows[slot] = rows
    return 0


cdef inline const burn_row *find_row(Op op, int slot, int dtype) except? NULL:
    if op.rows[slot] == NULL:
        load_rows(op, slot)
    return op.rows[slot][dtype]


cdef object python_kernel(Op op, int backend):
    fn = op.python_kernels.get(backend)
    if fn is None:
        fn = kernel_finder(backend, op.kernel)
        op.python_kernels[backend] = fn
    return fn


cdef object missing_kernel(Op op, int slot, int dtype):
    from burn.tensor.dtype import DType
    cdef int i
    for i in range(DT_COUNT):
        if op.rows[slot][i] != NULL:
            break
    else:
        from burn.device import Device
        return DeviceError(f"[{op.name}] is not available on {Device(slot)} yet; move the tensors with "
                           "to_device(Device.flex())")
    return DTypeError(f"[{op.name}] has no kernel for dtype {DType.of_code(dtype).name} on this device; "
                      "cast the tensor to a dtype that it supports, such as f32")


cdef object raise_kernel_error(Op op, int code, int64_t position, int64_t value, int64_t size, object attrs):
    if code == BURN_ERR_RAISED:
        raise take_pending()
    if code == BURN_ERR_INDEX:
        written = "; nothing was written" if op.kernel in ("scatter", "select_assign") else ""
        if type(attrs) is tuple:
            # one place of index tuples: (op, axis, ints a tuple, place)
            name, axis, count, place = attrs
            raise OutOfBoundsError(
                f"[{name}] 'indices' must lie in 0..{size - 1} for axis {axis} of size {size}, got {value} at flat position "
                f"{position * count + place}{written}")
        raise OutOfBoundsError(
            f"[{op.kernel}] 'indices' must lie in 0..{size - 1} for axis {attrs} of size {size}, got {value} at flat position "
            f"{position}{written}")
    if code == BURN_ERR_ZERO_DIV:
        raise DivisionByZeroError(f"[{op.kernel}] 'other' must not be 0 for Int tensors, got 0 at flat position {position}; "
                                  "mask those values or use a Float tensor")
    if code == BURN_ERR_SHIFT:
        raise ArgumentError(f"[{op.kernel}] 'other' must not be negative, got a shift by {value} at flat position {position}")
    if code == BURN_ERR_MEMORY:
        raise OutOfMemoryError(f"[{op.kernel}] cannot allocate {position} bytes of scratch memory; use smaller tensors")
    raise ExecutionError(f"[{op.kernel}] kernel failed with code {code}")


cdef object raise_wrong(Op op, int code, int64_t position, int64_t value, int64_t size, object attrs):
    """What a kernel found before it returned; an index in the words of who called the op, where there are any."""
    words = words_here() if code == BURN_ERR_INDEX else None
    if words is not None:
        raise words(code, position, value, size)
    raise_kernel_error(op, code, position, value, size, attrs)


cdef int run_row(Op op, const burn_row *row, int slot, burn_buf *outs, burn_buf *ins, burn_args *args,
                 object attrs=None) except -1:
    """Calls a kernel: 0, or BURN_ERR_STRIDES when it wants contiguous inputs."""
    cdef int rc, k
    cdef int64_t sizes[8][2][8]
    cdef burn_buf *b
    args.row = row
    if row.flags & ROW_TICKET:
        take_ticket(op, args, attrs)
    cdef double ns = row.cost * (outs[0].size if outs[0].size > (ins[0].size if args.n_in else 0) else ins[0].size)
    if op.is_matmul and args.n_in and row.cost:
        ns = 0.02 * outs[0].size * ins[0].shape[ins[0].ndim - 1]
    if tracer is not None:
        trace(op, row, outs, ins, args)
    if ns > GIL_NS or memory_of[slot] != NULL:
        # Another thread may rebind a tensor (x[i] = v) while this one computes without the lock, or compiles a kernel for
        # a device: the callers hold the storages, shapes are copied here.
        for k in range(args.n_in + args.n_out):
            b = &ins[k] if k < args.n_in else &outs[k - args.n_in]
            if k < 8:
                memcpy(sizes[k][0], b.shape, b.ndim * sizeof(int64_t))
                b.shape = sizes[k][0]
                if b.strides != NULL:
                    memcpy(sizes[k][1], b.strides, b.ndim * sizeof(int64_t))
                    b.strides = sizes[k][1]
    if ns > GIL_NS:
        with nogil:
            rc = row.fn(outs, ins, args)
    else:
        rc = row.fn(outs, ins, args)
    if rc != BURN_OK:
        if rc == BURN_ERR_STRIDES:
            return rc
        raise_wrong(op, rc, args.err[0], args.err[1], args.err[2], attrs)
    if check_at_once and row.flags & ROW_TICKET:
        sync_device(slot)
    return 0


cdef int take_ticket(Op op, burn_args *args, object attrs) except -1:
    """A number by which a later report of wrong values finds the op and its attributes again."""
    global next_ticket
    args.ticket = next_ticket
    next_ticket += 1
    tickets[args.ticket % 1024] = (args.ticket, op, attrs, words_here())
    return 0


def ticket_error(int64_t ticket, int code, int64_t position, int64_t value, int64_t size):
    """The exception for wrong values that a call found after it had returned."""
    entry = tickets[ticket % 1024]
    cdef Op op
    if entry is None or entry[0] != ticket:
        kind = {BURN_ERR_INDEX: OutOfBoundsError, BURN_ERR_ZERO_DIV: DivisionByZeroError}.get(code, ArgumentError)
        return kind(f"[device] an operation more than {len(tickets)} checked calls ago met the wrong value {value} at flat "
                    f"position {position}; set BURN_CHECK=1 to learn which one")
    op = <Op>entry[1]
    if entry[3] is not None:
        error = entry[3](code, position, value, size)
    else:
        try:
            raise_kernel_error(op, code, position, value, size, entry[2])
        except Exception as e:
            error = e
    error.late = True
    return error


cdef inline object words_here():
    return blamed.get(PyThread_get_thread_ident()) if blamed else None


def set_blame(words):
    """words(code, position, value, size) makes the error for indices that ops called from now on by this thread find wrong, at
    once or later; returns what did so before. None: the op's own error."""
    before = words_here()
    if words is None:
        blamed.pop(PyThread_get_thread_ident(), None)
    else:
        blamed[PyThread_get_thread_ident()] = words
    return before


def set_check(bint on):
    """Whether values are checked at once where a device would check them later."""
    global check_at_once
    check_at_once = on


cdef int run_python(Op op, tuple ins, tuple outs, tuple ints, tuple floats, object attrs) except -1:
    """A kernel of a backend written in Python gets NumPy views of the same buffers."""
    cdef TensorBase t
    cdef list a = []
    cdef list b = []
    for t in ins:
        a.append(numpy_view(t, False))
    for t in outs:
        b.append(numpy_view(t, True))
    cdef int backend = backend_of[(<TensorBase>outs[0]).dev]
    if tracer is not None:
        tracer(f"{op.name} backend={backend} in={[x.shape for x in a]} out={[x.shape for x in b]}")
    try:
        python_kernel(op, backend)(b, a, ints, floats)
    except kernel_error_type as e:
        raise_wrong(op, e.code, e.position, e.value, e.size, attrs)
    return 0


cdef void trace(Op op, const burn_row *row, burn_buf *outs, burn_buf *ins, burn_args *args):
    shapes = [[ins[k].shape[i] for i in range(ins[k].ndim)] for k in range(args.n_in)]
    out = [outs[0].shape[i] for i in range(outs[0].ndim)]
    tracer(f"{op.name} in={shapes} out={out} dtype={row.dtype} kernel={row.name.decode()} threads={pool_threads()}")


cdef object kernel_missing_dtype(Op op, tuple ins, tuple outs):
    return missing_kernel(op, (<TensorBase>outs[0]).dev, (<TensorBase>(ins[0] if ins else outs[0])).dtype)


cdef int run_op(Op op, tuple ins, tuple outs, tuple ints, tuple floats, object attrs=None, bint strict=False) except -1:
    """Calls the kernel of the outputs' device. Elementwise inputs are broadcast by strides; strict: all are contiguous."""
    cdef burn_buf bi[MAX_INPUTS]
    cdef burn_buf bo[4]
    cdef int64_t steps[4][8]
    cdef int64_t iv[MAX_ATTRS]
    cdef double fv[MAX_ATTRS]
    cdef burn_args args
    cdef TensorBase t, o = <TensorBase>outs[0]
    cdef list keep = [(<TensorBase>t).st for t in ins]
    cdef list apart = None      # the outputs, with contiguous ones in place of those that the kernel cannot write
    cdef int n_in = len(ins), n_out = len(outs), k, key
    if n_in > MAX_INPUTS or n_out > 4 or (op.elementwise and n_in > 4) or len(ints) > MAX_ATTRS or len(floats) > MAX_ATTRS:
        raise ValueError(f"{op.name} has more inputs, outputs or attributes than dispatch takes")
    key = (<TensorBase>ins[0]).dtype if n_in else o.dtype
    cdef const burn_row *row = find_row(op, o.dev, key)
    if row == NULL:
        if family_tables[o.dev, op.family] is not None:
            raise kernel_missing_dtype(op, ins, outs)
        if op.elementwise:
            views = []
            for k in range(n_in):
                t = <TensorBase>ins[k]
                if t.size != 1 and not same_dims(t, o):
                    t = expand_to(t, o.dims, o.ndim)
                views.append(t)
            ins = tuple(views)
        return run_python(op, ins, outs, ints, floats, attrs)
    for k in range(n_in):
        t = <TensorBase>ins[k]
        if t.st.flags & ST_HOST and not (row.flags & ROW_HOST):
            settle(t.st)
        if not t.contig and (strict or not (row.flags & ROW_STRIDED)):
            t = make_contiguous(t)
            keep.append(t)
        fill_buf(&bi[k], t)
        if op.elementwise and t.size != 1 and not same_dims(t, o):
            t = expand_to(t, o.dims, o.ndim)
            memcpy(steps[k], t.strides, sizeof(steps[k]))
            bi[k].shape = o.dims
            bi[k].strides = steps[k]
            bi[k].size = o.size
            bi[k].ndim = o.ndim
    for k in range(n_out):
        t = <TensorBase>outs[k]
        if not t.contig and (strict or not (row.flags & ROW_STRIDED_OUT)):
            if apart is None:
                apart = list(outs)
            t = tensor_empty(t.dims, t.ndim, t.dtype, t.dev, CTX_PLAIN)
            apart[k] = t
        fill_buf(&bo[k], t)
    for k in range(len(ints)):
        iv[k] = ints[k]
    for k in range(len(floats)):
        fv[k] = floats[k]
    args.i = iv
    args.f = fv
    args.n_in = n_in
    args.n_out = n_out
    if run_row(op, row, o.dev, bo, bi, &args, attrs):
        if strict:
            raise ExecutionError(f"[{op.name}] the kernel refuses contiguous inputs")
        run_op(op, ins, outs, ints, floats, attrs, True)
    elif apart is not None:
        for k in range(n_out):
            if apart[k] is not outs[k]:
                run_op(copy_op, (apart[k],), (outs[k],), NO_ARGS, NO_ARGS)
    return 0


cdef int merge_context(Op op, tuple ins) except -1:
    """The autodiff context of a result; inputs of different devices or strategies raise."""
    cdef TensorBase first = <TensorBase>ins[0]
    cdef TensorBase t
    cdef int ctx = first.ctx
    for t in ins:
        if t.dev != first.dev:
            raise DeviceError(f"[{op.name}] tensors must be on one device, got {first.device} and {t.device}; "
                              "move one with to_device()")
        if t.ctx != ctx:
            if t.ctx and ctx:
                raise AutodiffError(f"[{op.name}] tensors must share a gradient checkpointing strategy, got Disabled and "
                                    "Balanced; make both on device.autodiff(), or both on "
                                    "device.autodiff().gradient_checkpointing()")
            ctx = t.ctx or ctx
    return ctx


def make_scalar(int dtype, int dev, int ctx, double value, int64_t whole, int ndim=1):
    """A tensor of ndim axes of size 1 that holds one number: value for Float dtypes, whole for the others."""
    return scalar_tensor(dtype, dev, ctx, value, whole, ndim)


def read_scalar(TensorBase x, int64_t at):
    """The bytes of the element at a flat row-major position."""
    cdef int64_t pos = x.offset, rest = at
    cdef int i = x.ndim - 1
    while i >= 0:
        pos += rest % x.dims[i] * x.strides[i]
        rest //= x.dims[i]
        i -= 1
    cdef char room[8]
    move_bytes(0, room, x.st, storage_ptr(x.st) + pos * DT_SIZE[x.dtype], DT_SIZE[x.dtype])
    return room[:DT_SIZE[x.dtype]]


cdef Op copy_op = None
cdef Op fill_op = None
cdef Op add_op = None


def set_slot(str operator, Op op, dict by_kind=None):
    """Binds a Python operator to the op that carries it out; by_kind names others for tensors of some kinds."""
    cdef int slot = slot_numbers[operator], i
    slot_ops[slot] = op
    for i in range(3):
        slot_kinds[3 * slot + i] = op if by_kind is None else by_kind.get(1 << i, op)


def set_core_ops(Op copy, Op fill, Op add):
    """The three ops that the core itself needs."""
    global copy_op, fill_op, add_op
    if None in slot_ops:
        raise RuntimeError("an operator has no op")
    copy_op = copy
    fill_op = fill
    add_op = add


def set_hooks(loader, finder, error_type):
    """How kernel tables are loaded, how Python kernels are found, and what these raise for bad values."""
    global family_loader, kernel_finder, kernel_error_type
    family_loader = loader
    kernel_finder = finder
    kernel_error_type = error_type


def set_tracer(fn):
    """fn(line) is called once an op, or None."""
    global tracer
    tracer = fn


def families():
    """Kernel families loaded so far, with their SIMD level."""
    return {name: (<const burn_table *>PyCapsule_GetPointer(c, "burn.kernels")).level.decode()
            for (slot, name), c in family_tables.items() if slot == 0}
