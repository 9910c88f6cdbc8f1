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
        if x.dtype == y.dtype and x.dev == y.dev and x.ctx == y.ctx and (op.kinds & kind_of(x.dtype)):
            row = find_row(op, x.dev, x.dtype)
            if row == NULL:
                return op.bridge(op, a, b)
            if not (x.contig and y.contig and same_dims(x, y)):
                out = binary_strided(op, row, x, y)
                return op.bridge(op, a, b) if out is None else out
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


cdef inline void fill_broadcast(burn_buf *b, TensorBase t, TensorBase out, int64_t *steps) noexcept:
    """t as an input of the shape of out, of the same rank, where sizes of 1 stretch."""
    cdef int i
    fill_buf(b, t)
    if t.size == 1 or (t.contig and same_dims(t, out)):
        return
    for i in range(out.ndim):
        steps[i] = 0 if t.dims[i] == 1 else t.strides[i]
    b.shape = out.dims
    b.strides = steps
    b.size = out.size


cdef TensorBase binary_strided(Op op, const burn_row *row, TensorBase x, TensorBase y):
    """Two tensors of one rank that are views or broadcast, or None where they do not fit."""
    cdef int64_t dims[8]
    cdef int64_t steps[2][8]
    cdef Storage held = x.st, held_too = y.st
    cdef burn_buf bi[2]
    cdef burn_buf bo
    cdef burn_args args
    cdef TensorBase out
    cdef int i
    if x.ndim != y.ndim or x.size == 0 or y.size == 0 or not row.flags & ROW_STRIDED:
        return None
    for i in range(x.ndim):
        if x.dims[i] != y.dims[i] and x.dims[i] != 1 and y.dims[i] != 1:
            return None
        dims[i] = y.dims[i] if x.dims[i] == 1 else x.dims[i]
    out = tensor_empty(dims, x.ndim, x.dtype if op.out_dtype < 0 else op.out_dtype, x.dev, x.ctx)
    fill_broadcast(&bi[0], x, out, steps[0])
    fill_broadcast(&bi[1], y, out, steps[1])
    fill_buf(&bo, out)
    args.n_in = 2
    args.n_out = 1
    if run_row(op, row, x.dev, &bo, bi, &args):
        return None
    if x.node is not None or y.node is not None:
        record(op, (x, y), out, None)
    return out


cdef object two(Op op, object a, object b):
    """The op on a tensor and a tensor or number."""
    cdef object out
    if type(b) is not tensor_type and type(a) is tensor_type:
        out = number_op(op.with_number, <TensorBase>a, b)
        if out is not None:
            return out
    return binary_op(op, a, b)


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


def linear(tuple ops, input, weight, bias=None):
    """input @ weight + bias over the last axis of the input, by the ops (linear, reshape)."""
    cdef TensorBase x, w, b = None, rows, out
    cdef Storage held, held_too, held_last = None
    cdef burn_buf bi[3]
    cdef burn_buf bo
    cdef burn_args args
    cdef int64_t dims[8]
    cdef int64_t act = 0
    cdef int i, last, ctx
    cdef const burn_row *row
    cdef Op op = <Op>ops[0]
    if type(input) is not tensor_type or type(weight) is not tensor_type:
        return None
    x, w = <TensorBase>input, <TensorBase>weight
    last, ctx = x.ndim - 1, x.ctx or w.ctx
    if (x.size == 0 or w.ndim != 2 or x.dims[last] != w.dims[0] or x.dtype != w.dtype or x.dev != w.dev
            or (x.ctx != ctx and x.ctx != CTX_PLAIN) or (w.ctx != ctx and w.ctx != CTX_PLAIN)
            or (x.st.flags | w.st.flags) & ST_HOST or not (op.kinds & kind_of(x.dtype))):
        return None
    if bias is not None:
        if type(bias) is not tensor_type:
            return None
        b = <TensorBase>bias
        ctx = ctx or b.ctx
        if (b.ndim != 1 or b.dims[0] != w.dims[1] or b.dtype != x.dtype or b.dev != x.dev or b.st.flags & ST_HOST
                or (b.ctx != ctx and b.ctx != CTX_PLAIN)):
            return None
        held_last = b.st
        fill_buf(&bi[2], b)
    row = find_row(op, x.dev, x.dtype)
    if row == NULL:
        return None
    rows = x
    if last != 1:
        dims[0], dims[1] = x.size // x.dims[last], x.dims[last]
        rows = reshape_to(<Op>ops[1], x, dims, 2)
    dims[0], dims[1] = rows.dims[0], w.dims[1]
    out = tensor_empty(dims, 2, x.dtype, x.dev, ctx)
    held = rows.st
    held_too = w.st
    fill_buf(&bi[0], rows)
    fill_buf(&bi[1], w)
    fill_buf(&bo, out)
    args.i = &act
    args.n_in = 2 if b is None else 3
    args.n_out = 1
    if run_row(op, row, x.dev, &bo, bi, &args):
        return None
    if rows.node is not None or w.node is not None or (b is not None and b.node is not None):
        record(op, (rows, w) if b is None else (rows, w, b), out, None, HOW_APPLY,
               (tensor_dims(out), (0,), NO_ARGS) if ctx == CTX_BALANCED else None)
    if last == 1:
        return out
    for i in range(last):
        dims[i] = x.dims[i]
    dims[last] = w.dims[1]
    return reshape_to(<Op>ops[1], out, dims, last + 1)


cdef bint read_number(object v, int dtype, double *real, int64_t *whole) noexcept:
    """Whether v is a Python number that the dtype holds; what it is for scalar_store."""
    cdef int over = 0, kind = kind_of(dtype), bits = 8 * DT_SIZE[dtype]
    real[0] = 0.0
    whole[0] = 0
    if type(v) is float:
        real[0] = PyFloat_AS_DOUBLE(v)
        return kind == KIND_FLOAT
    if type(v) is not int:
        return False
    whole[0] = PyLong_AsLongLongAndOverflow(v, &over)
    if over:
        return False
    if kind == KIND_FLOAT:
        real[0] = <double>whole[0]
        return -9007199254740992 <= whole[0] <= 9007199254740992
    if kind == KIND_BOOL:
        whole[0] = whole[0] != 0
        return True
    if dtype >= DT_U64:
        return whole[0] >= 0 and (bits == 64 or whole[0] >> bits == 0)
    return bits == 64 or -(<int64_t>1 << (bits - 1)) <= whole[0] < <int64_t>1 << (bits - 1)


cdef object number_op(Op op, TensorBase x, object v):
    """The form of an op that takes a number, or None where there is none or it does not fit."""
    cdef double real
    cdef int64_t whole
    if op is None or not (op.kinds & kind_of(x.dtype)) or not read_number(v, x.dtype, &real, &whole):
        return None
    return scalar_op(op, x, real, whole)


cdef object binary(int slot, object a, object b):
    """An operator between a tensor and a tensor or number, in either order."""
    cdef Op op
    cdef object out
    if type(a) is tensor_type:
        op = <Op>slot_kinds[3 * slot + (kind_of((<TensorBase>a).dtype) >> 1)]
        if type(b) is tensor_type:
            if (<TensorBase>a).dtype == (<TensorBase>b).dtype:
                return binary_op(op, a, b)
        else:
            out = number_op(op.with_number, <TensorBase>a, b)
            if out is not None:
                return out
    elif type(b) is tensor_type:
        op = <Op>slot_kinds[3 * slot + (kind_of((<TensorBase>b).dtype) >> 1)]
        out = number_op(op.with_number_left, <TensorBase>b, a)
        if out is not None:
            return out
    if (slot == OP_EQ or slot == OP_NE) and not (hasattr(a, "__float__") and hasattr(b, "__float__")):
        return NotImplemented
    op = <Op>slot_ops[slot]
    return op.bridge(op, a, b)


cdef object unary_slot(int slot, TensorBase x):
    return unary(<Op>slot_kinds[3 * slot + (kind_of(x.dtype) >> 1)], x)


def with_number(Op op, x, value):
    """A form that takes a number, on a tensor and one that fits its dtype; else None."""
    return number_op(op, <TensorBase>x, value) if type(x) is tensor_type else None


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


cdef TensorBase scalar_tensor(int dtype, int dev, int ctx, double value, int64_t whole, int ndim=1):
    cdef TensorBase t = tensor_new()
    cdef int i
    t.ndim = ndim
    for i in range(ndim):
        t.dims[i] = 1
    t.dtype = dtype
    t.dev = dev
    t.ctx = ctx
    set_contiguous(t)
    t.st = storage_of_value(dev)
    scalar_store(dtype, value, whole, storage_ptr(t.st))
    return t


cdef inline void number_buf(burn_buf *b, int64_t *word, const int64_t *one, int dtype) noexcept:
    """A number in host memory as an input."""
    b.p = word
    b.shape = one
    b.strides = NULL
    b.size = 1
    b.ndim = 1
    b.dtype = dtype
    b.host = 1


def mixed(Op op, x, second, third):
    """An elementwise op of three inputs, the first a tensor, the others tensors of its shape or numbers; else None."""
    cdef TensorBase a, t, out
    cdef tuple ins = (x, second, third)
    cdef burn_buf bi[3]
    cdef burn_buf bo
    cdef burn_args args
    cdef int64_t words[3]
    cdef double reals[3]
    cdef int64_t wholes[3]
    cdef int64_t one = 1
    cdef int k
    cdef bint tracked
    if type(x) is not tensor_type:
        return None
    a = <TensorBase>x
    if not a.contig or not (op.kinds & kind_of(a.dtype)):
        return None
    cdef const burn_row *row = find_row(op, a.dev, a.dtype)
    if row == NULL:
        return None
    cdef list held = [a.st, None, None]
    tracked = a.node is not None
    fill_buf(&bi[0], a)
    for k in range(1, 3):
        v = ins[k]
        if type(v) is tensor_type:
            t = <TensorBase>v
            if not t.contig or t.dev != a.dev or t.ctx != a.ctx or not same_dims(a, t):
                return None
            if t.dtype != (DT_BOOL if k == op.mask else a.dtype):
                return None
            tracked = tracked or t.node is not None
            held[k] = t.st
            fill_buf(&bi[k], t)
        else:
            if k == op.mask or not read_number(v, a.dtype, &reals[k], &wholes[k]):
                return None
            words[k] = 0
            scalar_store(a.dtype, reals[k], wholes[k], &words[k])
            number_buf(&bi[k], &words[k], &one, a.dtype)
    out = tensor_empty_like(a, a.dtype)
    fill_buf(&bo, out)
    args.n_in = 3
    args.n_out = 1
    if run_row(op, row, a.dev, &bo, bi, &args):
        return None
    if tracked:
        for k in range(1, 3):
            if held[k] is None:
                held[k] = scalar_tensor(a.dtype, a.dev, a.ctx, reals[k], wholes[k], a.ndim)
        record(op, (a, second if type(second) is tensor_type else held[1], third if type(third) is tensor_type else held[2]),
               out, None)
    return out


def numbered(Op op, x, tuple values):
    """An elementwise op of one tensor and up to four numbers, or None where they do not fit."""
    cdef TensorBase a, out
    cdef Storage held
    cdef burn_buf bi, bo
    cdef burn_args args
    cdef double floats[4]
    cdef int64_t whole
    cdef int k, n = len(values)
    if type(x) is not tensor_type or n > 4:
        return None
    a = <TensorBase>x
    if not a.contig or kind_of(a.dtype) != KIND_FLOAT:
        return None
    for k in range(4):
        floats[k] = 0.0
        if k < n and not read_number(values[k], DT_F64, &floats[k], &whole):
            return None
    cdef const burn_row *row = find_row(op, a.dev, a.dtype)
    if row == NULL:
        return None
    out = tensor_empty_like(a, a.dtype)
    held = a.st
    fill_buf(&bi, a)
    fill_buf(&bo, out)
    args.f = floats
    args.n_in = 1
    args.n_out = 1
    if run_row(op, row, a.dev, &bo, &bi, &args):
        return None
    if a.node is not None:
        values = (floats[0], floats[1], floats[2], floats[3])
        record(op, (a,), out, values[0] if op.attr_form == ATTR_EXPONENT else values, HOW_APPLY,
               (tensor_dims(out), NO_ARGS, values) if a.ctx == CTX_BALANCED else None)
    return out


def converted(Op op, x, int dtype):
    """A tensor in another dtype, or None where there is no such path."""
    cdef TensorBase a, out
    cdef Storage held
    cdef burn_buf bi, bo
    cdef burn_args args
    if type(x) is not tensor_type:
        return None
    a = <TensorBase>x
    if not a.contig or a.dtype == dtype:
        return None
    cdef const burn_row *row = find_row(op, a.dev, a.dtype)
    if row == NULL:
        return None
    out = tensor_empty_like(a, dtype)
    held = a.st
    fill_buf(&bi, a)
    fill_buf(&bo, out)
    args.n_in = 1
    args.n_out = 1
    if run_row(op, row, a.dev, &bo, &bi, &args):
        return None
    if a.node is not None:
        record(op, (a,), out, <int>a.dtype, HOW_APPLY, (tensor_dims(out), NO_ARGS, NO_ARGS) if a.ctx == CTX_BALANCED else None)
    return out


def clamp(Op op, x, low, high):
    """The op on a tensor and two numbers in order, of which one may be None, or None where they do not fit."""
    cdef double a, b
    cdef int64_t whole
    cdef bint floats
    if type(x) is not tensor_type:
        return None
    floats = kind_of((<TensorBase>x).dtype) == KIND_FLOAT
    if low is None:
        low = -INFINITY if floats else None
    if high is None:
        high = INFINITY if floats else None
    if not (read_number(low, DT_F64, &a, &whole) and read_number(high, DT_F64, &b, &whole)) or a > b:
        return None
    return mixed(op, x, low, high)


def masked(Op op, x, mask, value):
    """A tensor where a mask is true, x elsewhere."""
    return mixed(op, x, mask, value) if type(value) is tensor_type else None


def mask_filled(Op op, x, mask, value):
    """A number where a mask is true, x elsewhere."""
    return None if type(value) is tensor_type else mixed(op, x, mask, value)


def between(Op op, x, low, high):
    """A tensor limited to two numbers."""
    return None if low is None or high is None else clamp(op, x, low, high)


def cast_to(Op op, x, dtype):
    """A tensor in another dtype."""
    cdef int code
    if type(dtype) is not dtype_type:
        return None
    code = dtype.code
    return None if code >= DT_BOOL_U8 else converted(op, x, code)
