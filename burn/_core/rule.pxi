# Gradient rules as data: a small register program an input, run here without Python; heavy ops have a Python function.
# Registers: 0..2 saved inputs, 3 the saved output, 4 the incoming gradient, 5.. results of earlier instructions.

cdef enum:
    REG_OUT = 3
    REG_G = 4
    REG_TEMP = 5
    MAX_REGS = 24
    I_APPLY = 0         # op on registers a, b, c
    I_SCALAR = 1        # op on register a and a number
    I_EXPAND = 2        # register a expanded to the shape of the input
    I_ZEROS = 3         # zeros in the shape of the input

cdef enum:
    USES_OUT = 8        # bits 0..2: inputs; bit 3: output; bit 4: the input's shape
    USES_SHAPE = 16

cdef struct instr:
    int kind
    int a
    int b
    int c
    int from_attr
    double value


@cython.final
cdef class Program:
    """One gradient expression, compiled."""
    cdef int n
    cdef int result
    cdef instr code[MAX_REGS]
    cdef list ops

    def __init__(self, list code, int result):
        cdef int i
        if len(code) > MAX_REGS - REG_TEMP:
            raise ValueError("a gradient expression is too long")
        self.n = len(code)
        self.result = result
        self.ops = []
        for i in range(self.n):
            kind, op, a, b, c, from_attr, value = code[i]
            self.ops.append(op)
            self.code[i].kind = kind
            self.code[i].a = a
            self.code[i].b = b
            self.code[i].c = c
            self.code[i].from_attr = from_attr
            self.code[i].value = value


@cython.final
cdef class Rule:
    """The gradient rule of an op: a program an input, or one Python function for all of them.

    uses[i] says what the gradient of input i needs: bits of inputs, output, shapes. Only what tracked inputs need is saved.
    """
    cdef list programs
    cdef object function
    cdef int uses[8]
    cdef int uses_rest

    def __init__(self, programs=None, function=None, uses=()):
        cdef int i = 0
        self.programs = programs
        self.function = function
        for u in uses:
            self.uses[i] = u
            i += 1
        self.uses_rest = self.uses[i - 1] if i else 0


cdef TensorBase zeros_of(TensorBase like, tuple shape):
    cdef int64_t dims[8]
    cdef int n
    cdef TensorBase out
    if shape is None:
        out = tensor_empty(like.dims, like.ndim, like.dtype, like.dev, CTX_PLAIN)
    else:
        n = read_dims(shape, dims)
        out = tensor_empty(dims, n, like.dtype, like.dev, CTX_PLAIN)
    run_op(fill_op, (scalar_tensor(like.dtype, like.dev, CTX_PLAIN, 0.0, 0),), (out,), NO_ARGS, NO_ARGS)
    return out


cdef inline bint reusable(TensorBase t) noexcept:
    # Nobody else holds the tensor (one reference: ours) or its memory.
    return (t.contig and BURN_REFCNT(<void *>t) == 1 and BURN_REFCNT(<void *>t.st) == 1
            and not (t.st.flags & (ST_BORROWED | ST_EXPORTED)))


cdef TensorBase apply_plain(Op op, TensorBase x, TensorBase y, TensorBase z):
    """An elementwise op of one to three tensors, outside the graph."""
    cdef TensorBase out = None
    cdef burn_buf bi[3]
    cdef burn_buf bo
    cdef burn_args args
    cdef const burn_row *row
    cdef int n = 1 if y is None else (2 if z is None else 3)
    cdef bint plain = (x.contig and (n < 2 or (y.contig and same_dims(x, y)))
                       and (n < 3 or (z.contig and same_dims(x, z))))
    if not plain:
        return apply_broadcast(op, (x,) if n == 1 else ((x, y) if n == 2 else (x, y, z)))
    row = find_row(op, x.dev, x.dtype)
    if row == NULL:
        return apply_broadcast(op, (x,) if n == 1 else ((x, y) if n == 2 else (x, y, z)))
    out = tensor_empty_like(x, x.dtype if op.out_dtype < 0 else op.out_dtype, False)
    fill_buf(&bi[0], x)
    if n > 1:
        fill_buf(&bi[1], y)
    if n > 2:
        fill_buf(&bi[2], z)
    fill_buf(&bo, out)
    args.n_in = n
    args.n_out = 1
    run_row(op, row, x.dev, &bo, bi, &args)
    return out


cdef TensorBase apply_broadcast(Op op, tuple ins):
    cdef int64_t dims[8]
    cdef int ndim = 0, i
    cdef TensorBase t
    for t in ins:
        if t.ndim > ndim:
            ndim = t.ndim
    for i in range(ndim):
        dims[i] = 1
    for t in ins:
        for i in range(t.ndim):
            if t.dims[i] != 1:
                dims[ndim - t.ndim + i] = t.dims[i]
    t = <TensorBase>ins[0]
    cdef TensorBase out = tensor_empty(dims, ndim, t.dtype if op.out_dtype < 0 else op.out_dtype, t.dev, CTX_PLAIN)
    run_op(op, ins, (out,), NO_ARGS, NO_ARGS)
    return out


cdef inline TensorBase read_reg(Node n, TensorBase g, list temps, int i):
    if i < 0:
        return None
    if i == REG_G:
        return g
    if i >= REG_TEMP:
        return <TensorBase>temps[i - REG_TEMP]
    return n.s0 if i == 0 else (n.s1 if i == 1 else (n.s2 if i == 2 else n.sout))


cdef TensorBase run_program(Program p, Node node, int which, TensorBase g):
    """The gradient of one input."""
    cdef list temps = None
    cdef int i
    cdef instr *c
    cdef TensorBase t, a
    cdef int64_t dims[8]
    for i in range(p.n):
        c = &p.code[i]
        a = read_reg(node, g, temps, c.a)
        if c.kind == I_APPLY:
            t = apply_plain(<Op>p.ops[i], a, read_reg(node, g, temps, c.b), read_reg(node, g, temps, c.c))
        elif c.kind == I_SCALAR:
            t = scalar_plain(<Op>p.ops[i], a, <double>node.attrs if c.from_attr else c.value)
        elif c.kind == I_EXPAND:
            t = expand_to(a, dims, read_dims(node.shapes[which], dims))
        else:
            t = zeros_of(g, None if node.shapes is None else <tuple>node.shapes[which])
        if i == p.n - 1 and p.result == REG_TEMP + i:
            return t
        if temps is None:
            temps = []
        temps.append(t)
    return read_reg(node, g, temps, p.result)


cdef TensorBase scalar_plain(Op op, TensorBase x, double value):
    cdef TensorBase t
    cdef int64_t dims[8]
    cdef int i
    cdef bint one = x.size > 1
    for i in range(x.ndim):
        dims[i] = 1
        one = one and (x.strides[i] == 0 or x.dims[i] == 1)
    if one:     # one value repeated, such as the gradient of a mean, stays so
        t = view_of(x, dims, x.strides, x.ndim, x.offset)
        t.ctx = CTX_PLAIN
    else:
        t = tensor_alias(x, CTX_PLAIN)
    t = <TensorBase>scalar_op(op, t, value, <int64_t>value if isfinite(value) else 0)
    return expand_to(t, x.dims, x.ndim) if one else t
