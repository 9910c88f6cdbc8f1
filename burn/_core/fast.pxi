# The compiled paths of operators and small calls. They never raise by themselves: what does not fit goes to the bridge.

cdef object unary(Op op, object a):
    cdef TensorBase x, out
    cdef Storage held
    cdef const burn_row *row
    cdef burn_buf bi, bo
    cdef burn_args args
    if type(a) is tensor_type and op.elementwise and op.n_in == 1:
        x = <TensorBase>a
        if x.contig and (op.kinds & kind_of(x.dtype)):
            row = find_row(op, x.dev, x.dtype)
            if row != NULL:
                out = tensor_empty_like(x, x.dtype if op.out_dtype < 0 else op.out_dtype)
                held = x.st
                fill_buf(&bi, x)
                fill_buf(&bo, out)
                args.n_in = 1
                args.n_out = 1
                run_row(op, row, x.dev, &bo, &bi, &args)
                if x.node is not None:
                    record(op, (x,), out, None)
                return out
    return op.bridge(op, a)


cdef object binary_op(Op op, object a, object b):
    cdef TensorBase x, y, out
    cdef Storage held, held_too
    cdef const burn_row *row
    cdef burn_buf bi[2]
    cdef burn_buf bo
    cdef burn_args args
    if type(a) is tensor_type and type(b) is tensor_type and (op.elementwise or op.is_matmul):
        x = <TensorBase>a
        y = <TensorBase>b
        if op.is_matmul:
            out = matmul_2d(op, x, y)
            return op.bridge(op, a, b) if out is None else out
        if (x.dtype == y.dtype and x.dev == y.dev and x.ctx == y.ctx and x.contig and y.contig
                and (op.kinds & kind_of(x.dtype)) and same_dims(x, y)):
            row = find_row(op, x.dev, x.dtype)
            if row != NULL:
                out = tensor_empty_like(x, x.dtype if op.out_dtype < 0 else op.out_dtype)
                held = x.st
                held_too = y.st
                fill_buf(&bi[0], x)
                fill_buf(&bi[1], y)
                fill_buf(&bo, out)
                args.n_in = 2
                args.n_out = 1
                run_row(op, row, x.dev, &bo, bi, &args)
                if x.node is not None or y.node is not None:
                    record2(op, x, y, out)
                return out
    return op.bridge(op, a, b)


cdef TensorBase matmul_2d(Op op, TensorBase x, TensorBase y):
    """The product of two matrices that fit, or None."""
    cdef Storage held, held_too
    cdef burn_buf bi[2]
    cdef burn_buf bo
    cdef burn_args args
    cdef int64_t dims[2]
    cdef int64_t act = 0
    cdef const burn_row *row
    cdef TensorBase out
    if (x.ndim != 2 or y.ndim != 2 or x.dims[1] != y.dims[0] or x.dtype != y.dtype or x.dev != y.dev or x.ctx != y.ctx
            or (x.st.flags | y.st.flags) & ST_HOST or not (op.kinds & kind_of(x.dtype))):
        return None
    row = find_row(op, x.dev, x.dtype)
    if row == NULL:
        return None
    dims[0] = x.dims[0]
    dims[1] = y.dims[1]
    out = tensor_empty(dims, 2, x.dtype, x.dev, x.ctx)
    held = x.st
    held_too = y.st
    fill_buf(&bi[0], x)
    fill_buf(&bi[1], y)
    fill_buf(&bo, out)
    args.i = &act
    args.n_in = 2
    args.n_out = 1
    if run_row(op, row, x.dev, &bo, bi, &args):
        return None
    if x.node is not None or y.node is not None:
        record(op, (x, y), out, None, HOW_APPLY,
               (tensor_dims(out), (0,), NO_ARGS) if out.ctx == CTX_BALANCED else None)
    return out


cdef inline bint plain_number(object v):
    """A Python float, or an int that a double holds exactly."""
    return type(v) is float or (type(v) is int and -9007199254740992 <= v <= 9007199254740992)


cdef object binary(int slot, object a, object b):
    """An operator between a tensor and a tensor or number, in either order."""
    cdef Op op
    cdef TensorBase x
    if type(a) is tensor_type:
        if type(b) is tensor_type:
            return binary_op(<Op>slot_ops[slot], a, b)
        if plain_number(b) and slot_scalar[slot] is not None:
            x = <TensorBase>a
            if kind_of(x.dtype) == KIND_FLOAT:
                return scalar_op(<Op>slot_scalar[slot], x, b, 0)
    elif plain_number(a) and slot_scalar_left[slot] is not None:
        x = <TensorBase>b
        if kind_of(x.dtype) == KIND_FLOAT:
            return scalar_op(<Op>slot_scalar_left[slot], x, a, 0)
    if (slot == OP_EQ or slot == OP_NE) and not (hasattr(a, "__float__") and hasattr(b, "__float__")):
        return NotImplemented
    op = <Op>slot_ops[slot]
    return op.bridge(op, a, b)


cdef object scalar_op(Op op, TensorBase x, double value, int64_t whole):
    """value for a Float tensor, whole for the other kinds."""
    cdef Storage held
    cdef TensorBase out, s
    cdef const burn_row *row
    cdef burn_buf bi[2]
    cdef burn_buf bo
    cdef burn_args args
    cdef int64_t word = 0
    cdef int64_t one = 1
    cdef int at
    if not (op.kinds & kind_of(x.dtype)):
        return op.bridge(op, x, value)
    at = 0 if op.scalar_side < 0 else 1
    scalar_store(x.dtype, value, whole, &word)
    row = find_row(op, x.dev, x.dtype)
    if row == NULL or not x.contig:
        out = tensor_empty(x.dims, x.ndim, x.dtype if op.out_dtype < 0 else op.out_dtype, x.dev, x.ctx)
        s = scalar_tensor(x.dtype, x.dev, x.ctx, value, whole)
        run_op(op, (x, s) if at == 1 else (s, x), (out,), NO_ARGS, NO_ARGS)
    else:
        out = tensor_empty_like(x, x.dtype if op.out_dtype < 0 else op.out_dtype)
        held = x.st
        fill_buf(&bi[1 - at], x)
        bi[at].p = &word
        bi[at].shape = &one
        bi[at].strides = NULL
        bi[at].size = 1
        bi[at].ndim = 1
        bi[at].dtype = x.dtype
        bi[at].host = 1
        fill_buf(&bo, out)
        args.n_in = 2
        args.n_out = 1
        run_row(op, row, x.dev, &bo, bi, &args)
    if x.node is not None:
        record(op, (x,), out, value)
    return out


cdef TensorBase scalar_tensor(int dtype, int dev, int ctx, double value, int64_t whole):
    cdef TensorBase t = tensor_new()
    t.ndim = 1
    t.dims[0] = 1
    t.dtype = dtype
    t.dev = dev
    t.ctx = ctx
    set_contiguous(t)
    t.st = storage_of_value(dev)
    scalar_store(dtype, value, whole, storage_ptr(t.st))
    return t
