# Compiled paths of ops along one axis and of ops that read through indices, driven by the fields of their records. None:
# what does not fit, for the bridge, which says why or does it another way.

cdef inline bint small_int(object v, int64_t *out) noexcept:
    """Whether v is an int of 64 bits."""
    cdef int over = 0
    if type(v) is not int:
        return False
    out[0] = PyLong_AsLongLongAndOverflow(v, &over)
    return not over


cdef inline int axis_number(object dim, int ndim) noexcept:
    """The axis that an int names, or -1."""
    cdef int64_t v
    if not small_int(dim, &v) or v < -ndim or v >= ndim:
        return -1
    return v + ndim if v < 0 else v


cdef inline void fold_axis(TensorBase a, int axis, int64_t *ints) noexcept:
    """ints = outer, n, inner around an axis; -1 is all of them."""
    cdef int i
    ints[0] = ints[2] = 1
    if axis < 0:
        ints[1] = a.size
        return
    for i in range(axis):
        ints[0] *= a.dims[i]
    ints[1] = a.dims[axis]
    for i in range(axis + 1, a.ndim):
        ints[2] *= a.dims[i]


cdef inline int result_dtype(Op op, TensorBase a) noexcept:
    """The dtype of the op's result, or -1 where kernels do not write it."""
    cdef int dtype
    if op.out_dtype != INDEX_DTYPE:
        return a.dtype if op.out_dtype < 0 else op.out_dtype
    dtype = default_dtypes[a.dev][1]
    return dtype if dtype == DT_I32 or dtype == DT_I64 else -1


cdef object axis_attrs(Op op, int axis, const int64_t *ints, bint flag):
    """What the tape keeps of an op along an axis."""
    if op.attr_form == ATTR_DIM:
        return None if axis < 0 else axis
    if op.attr_form == ATTR_SCALE:
        return 1.0 / ints[1]
    if op.attr_form == ATTR_FOLD:
        return (ints[0], ints[1], ints[2])
    if op.attr_form == ATTR_DIM_REVERSE:
        return (axis, bool(flag))
    if op.attr_form == ATTR_DIM_NUMBER:
        return (axis, op.number)
    return None


def along(Op op, x, dim=MISSING, bint flag=False, wanted=None):
    """An op of one tensor along an axis, or over all elements where none is given; or None.

    Kernels get outer, n, inner, flag; those of SHAPE_ROWS, which take the last axis and give `wanted` positions of it (all for
    None), get outer, n, flag, 0, wanted. An op of two results gives positions beside the values.
    """
    cdef TensorBase a, out, second = None
    cdef Storage held
    cdef const burn_row *row
    cdef burn_buf bi
    cdef burn_buf bo[2]
    cdef burn_args args
    cdef int64_t ints[5]
    cdef int64_t dims[8]
    cdef int64_t count
    cdef int axis = -1, ndim, dtype, index = 0, i
    if type(x) is not tensor_type:
        return None
    a = <TensorBase>x
    if not a.contig or a.size == 0 or a.st.flags & ST_HOST or not (op.kinds & kind_of(a.dtype)):
        return None
    if a.node is not None and not op.cuts_graph and (op.rule is None or op.attr_form == ATTR_OTHER or op.n_out > 1):
        return None
    if dim is not MISSING:
        axis = axis_number(dim, a.ndim)
    if axis < 0 and (dim is not MISSING or op.shape_rule != SHAPE_REDUCED):
        return None
    row = find_row(op, a.dev, a.dtype)
    dtype = result_dtype(op, a)
    if op.n_out > 1:
        index = default_dtypes[a.dev][1]
    if row == NULL or dtype < 0 or (op.n_out > 1 and index != DT_I32 and index != DT_I64):
        return None
    fold_axis(a, axis, ints)
    if ints[1] > 0x7fffffff and (op.n_out > 1 or op.out_dtype == INDEX_DTYPE):
        return None
    ints[3] = flag
    ndim = a.ndim
    for i in range(ndim):
        dims[i] = a.dims[i]
    if op.shape_rule == SHAPE_REDUCED:
        if axis < 0:
            ndim = 1
            axis = -1
            dims[0] = 1
        else:
            dims[axis] = 1
    elif op.shape_rule == SHAPE_ROWS:
        count = ints[1]
        if wanted is not None and not small_int(wanted, &count):
            return None
        if ints[2] != 1 or count < 0 or count > ints[1]:
            return None
        dims[axis] = count
        ints[2] = flag
        ints[3] = 0
        ints[4] = count
    out = tensor_empty(dims, ndim, dtype, a.dev, a.ctx)
    fill_buf(&bo[0], out)
    if op.n_out > 1:
        second = tensor_empty(dims, ndim, index, a.dev, a.ctx)
        fill_buf(&bo[1], second)
    held = a.st
    fill_buf(&bi, a)
    args.i = ints
    args.f = &op.number
    args.n_in = 1
    args.n_out = op.n_out
    if run_row(op, row, a.dev, bo, &bi, &args):
        return None
    if a.node is not None:
        record(op, (a,), out, axis_attrs(op, axis, ints, flag))
    return out if second is None else (out, second)


cdef inline int64_t position(TensorBase at, int64_t i) noexcept:
    if at.dtype == DT_I64:
        return (<int64_t *>storage_ptr(at.st))[at.offset + i]
    return (<int32_t *>storage_ptr(at.st))[at.offset + i]


cdef int64_t READ_COST = 16             # elements that are copied in the time of reading one by its own index
cdef int64_t WINDOW_COST = 1 << 10      # and of preparing the copy of a window


cdef TensorBase read_view(Op op, TensorBase a, int axis, TensorBase at, const int64_t *dims):
    """What is picked from a view in host memory, where that costs less than a copy of all of it, for kernels to read; or None."""
    cdef int64_t part[8]
    cdef int64_t where[8]
    cdef int64_t i, from_, count = 1
    cdef int d, size = DT_SIZE[a.dtype]
    cdef TensorBase out
    for d in range(a.ndim):
        part[d] = dims[d]
        where[d] = 0
        count *= dims[d]
    if memory_of[a.dev] != NULL or tracer is not None or count == 0 or not can_move(a):
        return None
    if op.shape_rule == SHAPE_INDICES:
        if count * READ_COST > a.size:
            return None
    elif count + dims[axis] * WINDOW_COST > a.size:
        return None
    for i in range(at.size):
        if not 0 <= position(at, i) < a.dims[axis]:
            return None
    out = tensor_empty(dims, a.ndim, a.dtype, a.dev, a.ctx)
    if op.shape_rule != SHAPE_INDICES:
        part[axis] = 1
        for i in range(dims[axis]):
            move(op, out, i * out.strides[axis], out.strides, part, a.ndim, a, a.offset + position(at, i) * a.strides[axis],
                 a.strides)
        return out
    for i in range(count):
        from_ = a.offset + position(at, i) * a.strides[axis]
        for d in range(a.ndim):
            if d != axis:
                from_ += where[d] * a.strides[d]
        memcpy(storage_ptr(out.st) + i * size, storage_ptr(a.st) + from_ * size, size)
        d = a.ndim - 1
        where[d] += 1
        while d > 0 and where[d] == dims[d]:
            where[d] = 0
            d -= 1
            where[d] += 1
    return out


def indexed(Op op, x, dim, indices):
    """Elements (SHAPE_INDICES) or slices (SHAPE_PICKED) at positions of an axis, or None."""
    cdef TensorBase a, at, out
    cdef Storage held, held_too
    cdef const burn_row *row
    cdef burn_buf bi[2]
    cdef burn_buf bo
    cdef burn_args args
    cdef int64_t ints[4]
    cdef int64_t dims[8]
    cdef int axis, i
    if type(x) is not tensor_type or type(indices) is not tensor_type:
        return None
    a = <TensorBase>x
    at = <TensorBase>indices
    axis = axis_number(dim, a.ndim)
    if (axis < 0 or not at.contig or a.dev != at.dev or (at.dtype != DT_I32 and at.dtype != DT_I64)
            or (at.ctx != a.ctx and at.ctx != CTX_PLAIN) or (a.st.flags | at.st.flags) & ST_HOST):
        return None
    if op.shape_rule == SHAPE_INDICES:
        if at.ndim != a.ndim:
            return None
        for i in range(a.ndim):
            dims[i] = at.dims[i]
            if i != axis and at.dims[i] != a.dims[i]:
                return None
    else:
        if at.ndim != 1:
            return None
        for i in range(a.ndim):
            dims[i] = a.dims[i]
        dims[axis] = at.dims[0]
    row = find_row(op, a.dev, a.dtype)
    if row == NULL:
        return None
    if not a.contig:
        out = read_view(op, a, axis, at, dims)
        if out is not None and a.node is not None:
            record(op, (a, at), out, axis)
        return out
    fold_axis(a, axis, ints)
    ints[3] = dims[axis]
    out = tensor_empty(dims, a.ndim, a.dtype, a.dev, a.ctx)
    held = a.st
    held_too = at.st
    fill_buf(&bi[0], a)
    fill_buf(&bi[1], at)
    fill_buf(&bo, out)
    args.i = ints
    args.n_in = 2
    args.n_out = 1
    if run_row(op, row, a.dev, &bo, bi, &args, axis):
        return None
    if a.node is not None:
        record(op, (a, at), out, axis)
    return out


def written(Op op, Op step, x, dim, indices, values, int mode):
    """A copy of x with values written, added, ... at positions of an axis by op, as one step of the tape; or None.

    Indices have the shape of the values where the step's own name is that of the op, else one axis (slices).
    """
    cdef TensorBase a, at, v, out
    cdef Storage held, held_too, held_target
    cdef const burn_row *row
    cdef burn_buf bi[3]
    cdef burn_buf bo
    cdef burn_args args
    cdef int64_t ints[5]
    cdef int axis, i
    cdef bint slices = op.shape_rule == SHAPE_PICKED
    if mode < 0 or type(x) is not tensor_type or type(indices) is not tensor_type or type(values) is not tensor_type:
        return None
    a = <TensorBase>x
    at = <TensorBase>indices
    v = <TensorBase>values
    axis = axis_number(dim, a.ndim)
    if (axis < 0 or not at.contig or not v.contig or (at.dtype != DT_I32 and at.dtype != DT_I64) or v.dtype != a.dtype
            or at.dev != a.dev or v.dev != a.dev or v.ctx != a.ctx or at.ctx and at.ctx != a.ctx or v.ndim != a.ndim
            or (a.st.flags | at.st.flags | v.st.flags) & ST_HOST or not can_move(a) or (slices and at.ndim != 1)):
        return None
    for i in range(a.ndim):
        if i != axis and v.dims[i] != a.dims[i]:
            return None
    if at.dims[0] != v.dims[axis] if slices else not same_dims(at, v):
        return None
    row = find_row(op, a.dev, a.dtype)
    if row == NULL:
        return None
    fold_axis(a, axis, ints)
    ints[3] = v.dims[axis]
    ints[4] = mode
    out = tensor_empty(a.dims, a.ndim, a.dtype, a.dev, a.ctx)
    args.n_in = 2
    if row.flags & ROW_TARGET and a.contig:
        fill_buf(&bi[2], a)
        args.n_in = 3
    else:
        move(op, out, 0, out.strides, a.dims, a.ndim, a, a.offset, a.strides)
    held = v.st
    held_too = at.st
    held_target = a.st
    fill_buf(&bi[0], v)
    fill_buf(&bi[1], at)
    fill_buf(&bo, out)
    args.i = ints
    args.n_out = 1
    if run_row(op, row, a.dev, &bo, bi, &args, axis):
        return None
    if a.node is not None or v.node is not None:
        record(step, (a, v, at), out, (op.name, axis, mode))
    return out
