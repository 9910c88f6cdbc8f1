# Compiled paths of ops that make new tensors: constants, ranges, and copies made of a few windows. None: what does not fit,
# for the bridge, which says why or does it another way.

cdef object device_type = None              # burn.Device
cdef tuple kinds = (None, None, None)       # Float, Int, Bool
cdef list settings_boxes = [None] * MAX_SLOTS   # device slot -> what fixes its settings
cdef int default_dtypes[MAX_SLOTS][3]       # device slot -> its default dtypes
cdef bint settings_fixed[MAX_SLOTS]         # device slot -> whether a tensor follows them already
cdef object usual_device = None             # what Device.default() found
cdef bytes usual_name = None                # and BURN_DEVICE when it did


cdef class DeviceBase:
    """What a Device is to the core."""
    cdef public int _slot
    cdef public int _ctx


def set_devices(type device, tuple three):
    """The class of devices, and the kinds in their order."""
    global device_type, kinds
    device_type = device
    kinds = three


def set_defaults(int slot, box, int float_dtype, int int_dtype, int bool_dtype):
    """The default dtypes of a device; box.fixed is set when a tensor follows them."""
    settings_boxes[slot] = box
    default_dtypes[slot][0] = float_dtype
    default_dtypes[slot][1] = int_dtype
    default_dtypes[slot][2] = bool_dtype
    settings_fixed[slot] = box.fixed


def keep_default(device):
    """Keeps a device as the default for as long as the variable BURN_DEVICE stays as it is."""
    global usual_device, usual_name
    cdef const char *name = getenv("BURN_DEVICE")
    usual_name = b"" if name == NULL else <bytes>name
    usual_device = device


def kept_default():
    """The default device, or None where it must be found first."""
    return default_now()


cdef object default_now():
    cdef const char *name = getenv("BURN_DEVICE")
    if usual_name is None or strcmp(<const char *>b"" if name == NULL else name, usual_name) != 0:
        return None
    return usual_device


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


cdef TensorBase filled_dims(Op op, const int64_t *dims, int n, int dtype, int dev, int ctx, object value):
    cdef int64_t word = 0, whole, one = 1, i
    cdef double real
    cdef const burn_row *row
    cdef TensorBase out
    cdef burn_buf bi, bo
    cdef burn_args args
    if not read_number(value, dtype, &real, &whole):
        return None
    row = find_row(op, dev, dtype)
    if row == NULL or (memory_of[dev] != NULL and not row.flags & ROW_HOST):
        return None
    scalar_store(dtype, real, whole, &word)
    count_of(dims, n)
    out = tensor_empty(dims, n, dtype, dev, ctx)
    if out.size <= 64 and memory_of[dev] == NULL and tracer is None:
        if DT_SIZE[dtype] == 4:
            for i in range(out.size):
                (<int32_t *>storage_ptr(out.st))[i] = <int32_t>word
        else:
            for i in range(out.size):
                memcpy(storage_ptr(out.st) + i * DT_SIZE[dtype], &word, DT_SIZE[dtype])
        return out
    number_buf(&bi, &word, &one, dtype)
    fill_buf(&bo, out)
    args.n_in = 1
    args.n_out = 1
    run_row(op, row, dev, &bo, &bi, &args)
    return out


def filled(Op op, shape, int dtype, int dev, int ctx, value):
    """A new tensor of one number."""
    cdef int64_t dims[8]
    cdef int n = fresh_dims(shape, dims)
    return filled_dims(op, dims, n, dtype, dev, ctx, value) if n else None


cdef int fresh_dims(object shape, int64_t *dims) noexcept:
    """The axes of a new tensor, or 0."""
    cdef int i, n = 1 if small_int(shape, dims) else read_ints(shape, dims)
    for i in range(n):
        if dims[i] < 0:
            return 0
    return max(n, 0)


def fresh(shape, int dtype, int dev, int ctx):
    """A tensor of undefined content."""
    cdef int64_t dims[8]
    cdef int n = fresh_dims(shape, dims)
    if n == 0:
        return None
    count_of(dims, n)
    return tensor_empty(dims, n, dtype, dev, ctx)


cdef int device_and_dtype(object device, int which, int *slot, int *ctx) except -2:
    """The default dtype of a kind on a device, the default one for None, and the device's slot and context; or -1."""
    if device is None:
        device = default_now()
    if type(device) is not device_type:
        return -1
    slot[0] = (<DeviceBase>device)._slot
    ctx[0] = (<DeviceBase>device)._ctx
    if not settings_fixed[slot[0]]:
        if settings_boxes[slot[0]] is None:
            return -1
        settings_boxes[slot[0]].fixed = True
        settings_fixed[slot[0]] = True
    return default_dtypes[slot[0]][which]


cdef TensorBase constant(Op op, object shape, object device, int which, object value):
    """A new tensor of one number, in the default dtype of a kind."""
    cdef int64_t dims[8]
    cdef int n = fresh_dims(shape, dims), slot, ctx, dtype
    if n == 0:
        return None
    dtype = device_and_dtype(device, which, &slot, &ctx)
    return None if dtype < 0 else filled_dims(op, dims, n, dtype, slot, ctx, value)


def new_filled(Op op, shape, device, kind, value):
    """A new tensor of one number in the default dtype of a kind."""
    for which in range(3):
        if kind is kinds[which]:
            return constant(op, shape, device, which, value)
    return None


def full(Op op, shape, value, device=None):
    """A new tensor of one number, whose kind follows from the number."""
    return constant(op, shape, device, 2 if type(value) is bool else 0, value)


def zeros(Op op, shape, device=None):
    """A new Float tensor of zeros."""
    return constant(op, shape, device, 0, 0)


def ones(Op op, shape, device=None):
    """A new Float tensor of ones."""
    return constant(op, shape, device, 0, 1)


def blank(Op op, shape, device=None):
    """A Float tensor of undefined content."""
    cdef int slot, ctx, dtype = device_and_dtype(device, 0, &slot, &ctx)
    return None if dtype < 0 else fresh(shape, dtype, slot, ctx)


def blank_like(Op op, TensorBase x):
    """A tensor of undefined content in the shape of another."""
    return tensor_empty(x.dims, x.ndim, x.dtype, x.dev, x.ctx)


def filled_like(Op op, TensorBase x, value):
    """One number in the shape of a tensor."""
    return filled_dims(op, x.dims, x.ndim, x.dtype, x.dev, x.ctx, value)


def counted(Op op, start, end, step, int dtype, int dev, int ctx):
    """Whole numbers from start to end by a positive step."""
    cdef int64_t first, last, by, count
    cdef burn_buf bo
    cdef burn_args args
    cdef int64_t ints[2]
    cdef TensorBase out
    if not small_int(start, &first) or not small_int(end, &last) or not small_int(step, &by):
        return None
    if by < 1 or max(abs(first), abs(last), by) >= <int64_t>1 << 31 or (dtype != DT_I32 and dtype != DT_I64):
        return None
    cdef const burn_row *row = find_row(op, dev, dtype)
    if row == NULL:
        return None
    count = (last - first + by - 1) // by
    if count < 1:
        return None
    out = tensor_empty(&count, 1, dtype, dev, ctx)
    ints[0] = first
    ints[1] = by
    fill_buf(&bo, out)
    args.i = ints
    args.n_in = 0
    args.n_out = 1
    run_row(op, row, dev, &bo, &bo, &args)
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
