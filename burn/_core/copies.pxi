# Compiled paths of ops that copy: a result made of a few windows. None: what does not fit, for the bridge, which says why or
# does it another way.

cdef void copy_small(char *to, const int64_t *to_steps, const char *x, const int64_t *steps, const int64_t *dims, int n,
                     int size) noexcept:
    """A few elements of host memory, for which a kernel's preparations would cost more."""
    cdef int64_t i
    if n == 1 and to_steps[0] == 1 and steps[0] == 1:
        memcpy(to, x, dims[0] * size)
    elif n == 0:
        memcpy(to, x, size)
    else:
        for i in range(dims[0]):
            copy_small(to + i * to_steps[0] * size, to_steps + 1, x + i * steps[0] * size, steps + 1, dims + 1, n - 1, size)


cdef int move(Op op, TensorBase out, int64_t to, const int64_t *to_steps, const int64_t *dims, int ndim, TensorBase x,
              int64_t at, const int64_t *steps) except -1:
    """Copies a window of x to one of out; both are given by the place of their first element and by strides."""
    cdef const burn_row *row = find_row(copy_op, out.dev, out.dtype)
    cdef burn_buf bi, bo
    cdef burn_args args
    cdef int i
    bo.size = 1
    for i in range(ndim):
        bo.size *= dims[i]
    if bo.size == 0:
        return 0
    bi.p = storage_ptr(x.st) + at * DT_SIZE[x.dtype]
    bo.p = storage_ptr(out.st) + to * DT_SIZE[x.dtype]
    if bo.size <= 64 and memory_of[out.dev] == NULL and tracer is None:
        copy_small(<char *>bo.p, to_steps, <char *>bi.p, steps, dims, ndim, DT_SIZE[x.dtype])
        return 0
    bi.shape = bo.shape = dims
    bi.strides = steps
    bo.strides = to_steps
    bi.size = bo.size
    bi.ndim = bo.ndim = ndim
    bi.dtype = bo.dtype = x.dtype
    bi.host = x.st.flags & ST_HOST
    bo.host = 0
    args.n_in = 1
    args.n_out = 1
    return run_row(op, row, out.dev, &bo, &bi, &args)


cdef inline bint can_move(TensorBase x) except -1:
    return find_row(copy_op, x.dev, x.dtype) != NULL


def join(Op op, tensors, dim, bint stack=False):
    """Tensors joined along an axis, or along a new one."""
    cdef TensorBase first, t, out
    cdef tuple ins
    cdef int64_t dims[8]
    cdef int64_t steps[8]
    cdef int64_t part[8]
    cdef int64_t at = 0
    cdef int i, k, axis, ndim, count
    cdef bint tracked = False
    if type(tensors) is not list and type(tensors) is not tuple:
        return None
    ins = tuple(tensors)
    count = len(ins)
    if count == 0 or count > 60 or type(ins[0]) is not tensor_type:
        return None
    first = <TensorBase>ins[0]
    ndim = first.ndim + stack
    if ndim > 8:
        return None
    axis = axis_number(dim, ndim)
    if axis < 0 or not can_move(first):
        return None
    for i in range(ndim):
        if stack and i == axis:
            dims[i] = 0
        else:
            dims[i] = first.dims[i - (stack and i > axis)]
    dims[axis] = 0
    for k in range(count):
        if type(ins[k]) is not tensor_type:
            return None
        t = <TensorBase>ins[k]
        if t.dtype != first.dtype or t.dev != first.dev or t.ctx != first.ctx or t.ndim != first.ndim:
            return None
        for i in range(t.ndim):
            if t.dims[i] != first.dims[i] and (stack or i != axis):
                return None
        dims[axis] += 1 if stack else t.dims[axis]
        tracked = tracked or t.node is not None
    if tracked and stack:
        return None
    out = tensor_empty(dims, ndim, first.dtype, first.dev, first.ctx)
    for k in range(count):
        t = <TensorBase>ins[k]
        for i in range(ndim):
            if stack:
                part[i] = 1 if i == axis else dims[i]
                steps[i] = 0 if i == axis else t.strides[i - (i > axis)]
            else:
                part[i] = t.dims[i]
                steps[i] = t.strides[i]
        move(op, out, at, out.strides, part, ndim, t, t.offset, steps)
        at += part[axis] * out.strides[axis]
    if tracked:
        record(op, ins, out, axis)
    return out


def roll(Op op, x, shifts, axes):
    """x turned along axes: a copy for each combination of the two parts of each axis."""
    cdef TensorBase a, out
    cdef int64_t by[8]
    cdef int64_t where[8]
    cdef int64_t total[8]
    cdef int64_t dims[8]
    cdef int64_t at, to
    cdef int i, n, corner
    cdef bint still = True, skip
    if type(x) is not tensor_type:
        return None
    a = <TensorBase>x
    n = read_ints(shifts, by)
    if n < 0 or read_ints(axes, where) != n or a.size == 0 or not can_move(a):
        return None
    for i in range(a.ndim):
        total[i] = 0
    for i in range(n):
        if where[i] < -a.ndim or where[i] >= a.ndim:
            return None
        if where[i] < 0:
            where[i] += a.ndim
        at = a.dims[where[i]]
        total[where[i]] = (total[where[i]] + by[i] % at + at) % at
    for i in range(a.ndim):
        still = still and total[i] == 0
    if still:
        return x
    out = tensor_empty(a.dims, a.ndim, a.dtype, a.dev, a.ctx)
    for corner in range(1 << a.ndim):      # a bit an axis: its last elements, which come to the front
        at = a.offset
        to = 0
        skip = False
        for i in range(a.ndim):
            if corner >> i & 1:
                skip = skip or total[i] == 0
                dims[i] = total[i]
                at += (a.dims[i] - total[i]) * a.strides[i]
            else:
                dims[i] = a.dims[i] - total[i]
                to += total[i] * out.strides[i]
        if not skip:
            move(op, out, to, out.strides, dims, a.ndim, a, at, a.strides)
    if a.node is not None:
        record(op, (a,), out, tuple_of(total, a.ndim))
    return out


def triangle(Op op, x, diagonal, int upper):
    """The upper or lower triangle of the last two axes."""
    cdef TensorBase a, out
    cdef Storage held
    cdef burn_buf bi, bo
    cdef burn_args args
    cdef int64_t ints[5]
    cdef int64_t cut
    cdef const burn_row *row
    if type(x) is not tensor_type or not small_int(diagonal, &cut):
        return None
    a = <TensorBase>x
    if a.ndim < 2 or not a.contig or a.size == 0 or a.st.flags & ST_HOST or not (op.kinds & kind_of(a.dtype)):
        return None
    row = find_row(op, a.dev, a.dtype)
    if row == NULL:
        return None
    ints[1] = a.dims[a.ndim - 2]
    ints[2] = a.dims[a.ndim - 1]
    ints[0] = a.size // (ints[1] * ints[2])
    ints[3] = max(-ints[1], min(cut, ints[2]))
    ints[4] = upper
    out = tensor_empty_like(a, a.dtype)
    held = a.st
    fill_buf(&bi, a)
    fill_buf(&bo, out)
    args.i = ints
    args.n_in = 1
    args.n_out = 1
    run_row(op, row, a.dev, &bo, &bi, &args)
    if a.node is not None:
        record(op, (a,), out, diagonal)
    return out


def repeat(Op op, x, sizes):
    """An untracked tensor of at most four axes, tiled."""
    cdef TensorBase a, out
    cdef int64_t times[8]
    cdef int64_t dims[8]
    cdef int64_t inner[8]
    cdef int64_t steps[8]
    cdef int64_t to[8]
    cdef int i, n
    if type(x) is not tensor_type:
        return None
    a = <TensorBase>x
    n = read_ints(sizes, times)
    if n < 0 or n > a.ndim or a.ndim > 4 or a.node is not None or not can_move(a):
        return None
    for i in range(a.ndim):
        if i >= n:
            times[i] = 1
        if times[i] < 1 or times[i] > 1 << 40:
            return None
        dims[i] = a.dims[i] * times[i]
    count_of(dims, a.ndim)
    out = tensor_empty(dims, a.ndim, a.dtype, a.dev, a.ctx)
    for i in range(a.ndim):
        inner[2 * i] = times[i]
        inner[2 * i + 1] = a.dims[i]
        steps[2 * i] = 0
        steps[2 * i + 1] = a.strides[i]
        to[2 * i] = out.strides[i] * a.dims[i]
        to[2 * i + 1] = out.strides[i]
    move(op, out, 0, to, inner, 2 * a.ndim, a, a.offset, steps)
    return out


def only_value(TensorBase x):
    """The one element of a tensor as a Python number, or None where there are others or its dtype is not Python's."""
    cdef char room[8]
    if x.size != 1 or x.dtype == DT_F16 or x.dtype == DT_BF16:
        return None
    move_bytes(0, room, x.st, storage_ptr(x.st) + x.offset * DT_SIZE[x.dtype], DT_SIZE[x.dtype])
    if x.dtype == DT_F64:
        return (<double *>room)[0]
    if x.dtype == DT_F32 or x.dtype == DT_FLEX32:
        return <double>(<float *>room)[0]
    if x.dtype == DT_BOOL:
        return room[0] != 0
    if x.dtype == DT_I64:
        return (<int64_t *>room)[0]
    if x.dtype == DT_I32:
        return (<int32_t *>room)[0]
    return None


def pad(Op op, x, padding, int mode, value):
    """An untracked tensor within a frame of a number (mode 0), of its mirrored elements (1), or of its outermost (2)."""
    cdef TensorBase a, out
    cdef int64_t pair[8]
    cdef int64_t before[8]
    cdef int64_t after[8]
    cdef int64_t dims[8]
    cdef int64_t inner[8]
    cdef int64_t sizes[8]
    cdef int64_t still[8]
    cdef int64_t steps[8]
    cdef int64_t count, place, start, word = 0, whole = 0, base = 0
    cdef double real = 0.0
    cdef int i, axis, side, n, shift
    cdef TensorBase one
    if type(x) is not tensor_type or type(padding) is not list:
        return None
    a = <TensorBase>x
    n = len(<list>padding)
    shift = a.ndim - n
    if a.node is not None or a.size == 0 or n < 1 or shift < 0 or kind_of(a.dtype) == KIND_BOOL or not can_move(a):
        return None
    for i in range(a.ndim):
        before[i] = after[i] = still[i] = 0
        if i >= shift:
            if read_ints((<list>padding)[i - shift], pair) != 2:
                return None
            before[i] = pair[0]
            after[i] = pair[1]
        count = max(before[i], after[i])
        if min(before[i], after[i]) < 0 or count > 1 << 40 or (mode == 1 and count >= a.dims[i] and count):
            return None
        dims[i] = a.dims[i] + before[i] + after[i]
    if mode == 0:
        if not read_number(value, a.dtype, &real, &whole):
            return None
        one = scalar_tensor(a.dtype, a.dev, CTX_PLAIN, real, whole)
    out = tensor_empty(dims, a.ndim, a.dtype, a.dev, a.ctx)
    for i in range(a.ndim):
        inner[i] = before[i]
        sizes[i] = a.dims[i]
        base += before[i] * out.strides[i]
    move(op, out, base, out.strides, a.dims, a.ndim, a, a.offset, a.strides)
    for axis in range(a.ndim):              # later axes come last, and their borders include the corners
        for side in range(2):
            count = after[axis] if side else before[axis]
            if count == 0:
                continue
            place = before[axis] + a.dims[axis] if side else 0
            base = 0
            for i in range(a.ndim):
                steps[i] = out.strides[i]
                if i != axis:
                    base += inner[i] * out.strides[i]
            sizes[axis] = count
            if mode == 0:
                move(op, out, base + place * out.strides[axis], out.strides, sizes, a.ndim, one, 0, still)
                continue
            if mode == 1:
                start = place - 2 if side else 2 * before[axis]
                steps[axis] = -out.strides[axis]
            else:
                start = place - 1 if side else before[axis]
                steps[axis] = 0
            move(op, out, base + place * out.strides[axis], out.strides, sizes, a.ndim, out,
                 base + start * out.strides[axis], steps)
        sizes[axis] = dims[axis]
        inner[axis] = 0
    return out
