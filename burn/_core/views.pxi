# Compiled paths of views. None: what does not fit, for the bridge, which says why or does it another way.

cdef TensorBase make_contiguous(TensorBase x):
    if x.contig:
        return x
    cdef TensorBase out = tensor_empty(x.dims, x.ndim, x.dtype, x.dev, x.ctx)
    run_op(copy_op, (x,), (out,), NO_ARGS, NO_ARGS)
    return out


def contiguous(TensorBase x):
    """x itself when its memory is row-major, else a copy; outside the graph."""
    return make_contiguous(x)


cdef TensorBase reshaped_value(TensorBase x, const int64_t *dims, int n):
    """x read with a shape of the same size, outside the graph: a view where the strides allow it, else a copy."""
    cdef int64_t steps[8]
    cdef int64_t offset
    cdef TensorBase out
    cdef int i
    if not x.contig and x.size > 0 and reshape_strides(x, dims, n, steps):
        return view_of(x, dims, steps, n, x.offset)
    out = make_contiguous(x)
    if out is x:
        out = tensor_alias(x, x.ctx)
    offset = out.offset
    out.ndim = n
    for i in range(n):
        out.dims[i] = dims[i]
    set_contiguous(out)
    out.offset = offset
    return out


cdef TensorBase reshape_to(Op op, TensorBase x, const int64_t *dims, int n):
    """x read with a shape of the same size."""
    cdef TensorBase out = reshaped_value(x, dims, n)
    if x.node is not None:
        record(op, (x,), out, None, HOW_RESHAPE, tensor_dims(out) if x.ctx == CTX_BALANCED else None)
    return out


cdef int record_view(Op op, TensorBase x, TensorBase out, object attrs) except -1:
    """Adds a step whose result is a view of x."""
    return record(op, (x,), out, attrs, HOW_VIEW,
                  (tensor_dims(out), tuple_of(out.strides, out.ndim), out.offset - x.offset) if x.ctx == CTX_BALANCED else None)


cdef int read_ints(object values, int64_t *out) noexcept:
    """The ints of a list or tuple of at most 8, or -1."""
    cdef int n = 0
    cdef object v
    if type(values) is list:
        if len(<list>values) > 8:
            return -1
        for v in <list>values:
            if n == 8 or not small_int(v, &out[n]):
                return -1
            n += 1
        return n
    if type(values) is tuple:
        if len(<tuple>values) > 8:
            return -1
        for v in <tuple>values:
            if not small_int(v, &out[n]):
                return -1
            n += 1
        return n
    return -1


cdef inline int spread_ints(tuple given, int64_t *out) noexcept:
    """Ints given one by one, or as one list."""
    return read_ints(given[0] if len(given) == 1 and type(given[0]) is not int else given, out)


cdef inline tuple tuple_of(const int64_t *values, int n):
    return tuple([values[i] for i in range(n)])


def reshape(Op op, x, *shape):
    """x in another shape of positive sizes; -1 once is inferred."""
    cdef TensorBase a
    cdef int64_t dims[8]
    cdef int64_t known = 1
    cdef int i, n, free = -1
    if type(x) is not tensor_type:
        return None
    n = spread_ints(shape, dims)
    a = <TensorBase>x
    if n < 1 or a.size == 0:
        return None
    for i in range(n):
        if dims[i] == -1 and free < 0:
            free = i
        elif dims[i] < 1 or dims[i] > a.size or known > a.size:
            return None
        else:
            known *= dims[i]
    if free >= 0:
        if known > a.size or a.size % known:
            return None
        dims[free] = a.size // known
    elif known != a.size:
        return None
    return reshape_to(op, a, dims, n)


def merge_axes(Op op, x, first, last):
    """Axes first to last as one."""
    cdef TensorBase a
    cdef int64_t dims[8]
    cdef int i, n = 0, f, t
    if type(x) is not tensor_type:
        return None
    a = <TensorBase>x
    f = axis_number(first, a.ndim)
    t = axis_number(last, a.ndim)
    if f < 0 or t < f or a.size == 0:
        return None
    for i in range(a.ndim):
        if f < i <= t:
            dims[n - 1] *= a.dims[i]
        else:
            dims[n] = a.dims[i]
            n += 1
    return reshape_to(op, a, dims, n)


def insert_axis(Op op, x, dim):
    """x with an axis of size 1 more."""
    cdef TensorBase a
    cdef int64_t dims[8]
    cdef int i, at
    if type(x) is not tensor_type:
        return None
    a = <TensorBase>x
    at = axis_number(dim, a.ndim + 1)
    if at < 0 or a.ndim == 8 or a.size == 0:
        return None
    for i in range(a.ndim + 1):
        dims[i] = 1 if i == at else a.dims[i - (i > at)]
    return reshape_to(op, a, dims, a.ndim + 1)


def drop_axis(Op op, x, dim):
    """x without an axis of size 1, which is not the only one."""
    cdef TensorBase a
    cdef int64_t dims[8]
    cdef int i, at
    if type(x) is not tensor_type:
        return None
    a = <TensorBase>x
    at = axis_number(dim, a.ndim)
    if at < 0 or a.ndim == 1 or a.dims[at] != 1 or a.size == 0:
        return None
    for i in range(a.ndim - 1):
        dims[i] = a.dims[i + (i >= at)]
    return reshape_to(op, a, dims, a.ndim - 1)


def expand(Op op, x, *shape):
    """x with axes of size 1, and new leading ones, repeated; -1 keeps a size."""
    cdef TensorBase a, out
    cdef int64_t dims[8]
    cdef int i, n, shift
    if type(x) is not tensor_type:
        return None
    a = <TensorBase>x
    n = spread_ints(shape, dims)
    shift = n - a.ndim
    if n < 1 or shift < 0:
        return None
    for i in range(n):
        if dims[i] == -1 and i >= shift:
            dims[i] = a.dims[i - shift]
        elif dims[i] < 0 or (i >= shift and a.dims[i - shift] != 1 and a.dims[i - shift] != dims[i]):
            return None
    out = expand_to(a, dims, n)
    if a.node is not None:
        record(op, (a,), out, None, HOW_EXPAND, tensor_dims(out) if a.ctx == CTX_BALANCED else None)
    return out


cdef TensorBase permuted(Op op, TensorBase a, const int64_t *axes):
    cdef int64_t dims[8]
    cdef int64_t steps[8]
    cdef int i
    cdef TensorBase out
    for i in range(a.ndim):
        dims[i] = a.dims[axes[i]]
        steps[i] = a.strides[axes[i]]
    out = view_of(a, dims, steps, a.ndim, a.offset)
    if a.node is not None:
        record_view(op, a, out, tuple_of(axes, a.ndim))
    return out


def permute(Op op, x, *axes):
    """The axes in another order."""
    cdef TensorBase a
    cdef int64_t order[8]
    cdef int i, seen = 0
    if type(x) is not tensor_type:
        return None
    a = <TensorBase>x
    if spread_ints(axes, order) != a.ndim:
        return None
    for i in range(a.ndim):
        if order[i] < -a.ndim or order[i] >= a.ndim:
            return None
        if order[i] < 0:
            order[i] += a.ndim
        seen |= 1 << order[i]
    return permuted(op, a, order) if seen == (1 << a.ndim) - 1 else None


def swap(Op op, x, dim1, dim2):
    """Two axes exchanged."""
    cdef TensorBase a
    cdef int64_t order[8]
    cdef int i, p, q
    if type(x) is not tensor_type:
        return None
    a = <TensorBase>x
    p = axis_number(dim1, a.ndim)
    q = axis_number(dim2, a.ndim)
    if p < 0 or q < 0 or p == q:
        return None
    for i in range(a.ndim):
        order[i] = i
    order[p] = q
    order[q] = p
    return permuted(op, a, order)


cdef TensorBase window(Op op, TensorBase a, const int64_t *starts, const int64_t *steps, const int64_t *dims):
    """Elements of every axis from starts by steps."""
    cdef int64_t strides[8]
    cdef int64_t offset = a.offset
    cdef int i
    cdef TensorBase out
    for i in range(a.ndim):
        offset += starts[i] * a.strides[i]
        strides[i] = steps[i] * a.strides[i]
    out = view_of(a, dims, strides, a.ndim, offset)
    if out.size == 0:
        out.offset = a.offset
    if a.node is not None:
        record_view(op, a, out, (tuple_of(starts, a.ndim), tuple_of(steps, a.ndim)))
    return out


def narrow(Op op, x, dim, start, length):
    """length elements of an axis from start."""
    cdef TensorBase a
    cdef int64_t starts[8]
    cdef int64_t steps[8]
    cdef int64_t dims[8]
    cdef int64_t first, count
    cdef int i, at
    if type(x) is not tensor_type:
        return None
    a = <TensorBase>x
    at = axis_number(dim, a.ndim)
    if at < 0 or not small_int(start, &first) or not small_int(length, &count):
        return None
    if count < 1 or first < 0 or first >= a.dims[at] or count > a.dims[at] - first:
        return None
    for i in range(a.ndim):
        starts[i] = 0
        steps[i] = 1
        dims[i] = a.dims[i]
    starts[at] = first
    dims[at] = count
    return window(op, a, starts, steps, dims)


def flip(Op op, x, axes):
    """The order along axes reversed."""
    cdef TensorBase a
    cdef int64_t given[8]
    cdef int64_t starts[8]
    cdef int64_t steps[8]
    cdef int i, n
    cdef int64_t at
    if type(x) is not tensor_type:
        return None
    a = <TensorBase>x
    n = read_ints(axes, given)
    if n < 0 or a.size == 0:
        return None
    for i in range(a.ndim):
        starts[i] = 0
        steps[i] = 1
    for i in range(n):
        at = given[i]
        if at < -a.ndim or at >= a.ndim:
            return None
        at += a.ndim if at < 0 else 0
        if steps[at] < 0:
            return None
        starts[at] = a.dims[at] - 1
        steps[at] = -1
    return window(op, a, starts, steps, a.dims)


cdef int part_of(object key, int64_t size, int64_t *start, int64_t *step, int64_t *count) except -1:
    """What a slice of ints means on an axis; 0 where it holds something else."""
    cdef PySliceObject *s = <PySliceObject *><void *>key
    cdef Py_ssize_t a, b, c
    cdef int64_t v
    if <object>s.step is not None and (not small_int(<object>s.step, &v) or v == 0):
        return 0
    if ((<object>s.start is not None and not small_int(<object>s.start, &v))
            or (<object>s.stop is not None and not small_int(<object>s.stop, &v))):
        return 0
    PySlice_Unpack(key, &a, &b, &c)
    count[0] = PySlice_AdjustIndices(size, &a, &b, c)
    start[0] = a if count[0] else 0
    step[0] = c if count[0] > 1 else 1     # one element needs no step, and a huge one does not fit 64 bits
    return 1


def item(TensorBase x, key):
    """x[key] for ints and slices of an untracked tensor: a view of all of it at once."""
    cdef int64_t dims[8]
    cdef int64_t strides[8]
    cdef int64_t offset = x.offset, start, step, count
    cdef int axis = 0, n = 0, i, given
    cdef tuple keys
    if x.node is not None or x.size == 0:
        return None
    keys = <tuple>key if type(key) is tuple else (key,)
    given = len(keys)
    if given > x.ndim:
        return None
    for k in keys:
        if type(k) is slice:
            if not part_of(k, x.dims[axis], &start, &step, &count) or count == 0:
                return None
            offset += start * x.strides[axis]
            dims[n] = count
            strides[n] = step * x.strides[axis]
            n += 1
        elif small_int(k, &start):
            if start < -x.dims[axis] or start >= x.dims[axis]:
                return None
            if start < 0:
                start += x.dims[axis]
            offset += start * x.strides[axis]
        else:
            return None
        axis += 1
    for i in range(axis, x.ndim):
        dims[n] = x.dims[i]
        strides[n] = x.strides[i]
        n += 1
    if n == 0:
        dims[0] = 1
        strides[0] = 1
        n = 1
    return view_of(x, dims, strides, n, offset)


def split(Op op, x, size, dim):
    """Windows of a size along an axis, the last one smaller."""
    cdef TensorBase a
    cdef int64_t starts[8]
    cdef int64_t steps[8]
    cdef int64_t dims[8]
    cdef int64_t count
    cdef int i, at
    cdef list out = []
    if type(x) is not tensor_type or not small_int(size, &count):
        return None
    a = <TensorBase>x
    at = axis_number(dim, a.ndim)
    if at < 0 or count < 1 or a.size == 0:
        return None
    for i in range(a.ndim):
        starts[i] = 0
        steps[i] = 1
        dims[i] = a.dims[i]
    while starts[at] < a.dims[at]:
        dims[at] = min(count, a.dims[at] - starts[at])
        out.append(window(op, a, starts, steps, dims))
        starts[at] += count
    return out


def chunk(Op op, x, chunks, dim):
    """At most `chunks` equal windows along an axis, the last one smaller."""
    cdef TensorBase a
    cdef int64_t count
    cdef int at
    if type(x) is not tensor_type or not small_int(chunks, &count) or count < 1:
        return None
    a = <TensorBase>x
    at = axis_number(dim, a.ndim)
    return None if at < 0 else split(op, x, max(1, (a.dims[at] + count - 1) // count), at)


def parts(Op op, x, slices):
    """Slices of step 1, an axis each from the first on; all axes stay."""
    cdef TensorBase a
    cdef int64_t starts[8]
    cdef int64_t steps[8]
    cdef int64_t dims[8]
    cdef int i
    if type(x) is not tensor_type:
        return None
    a = <TensorBase>x
    if type(slices) is slice:
        slices = (slices,)
    if (type(slices) is not list and type(slices) is not tuple) or len(slices) > a.ndim or a.size == 0:
        return None
    for i in range(a.ndim):
        starts[i] = 0
        steps[i] = 1
        dims[i] = a.dims[i]
    i = 0
    for k in slices:
        if type(k) is not slice or not part_of(k, a.dims[i], &starts[i], &steps[i], &dims[i]) or steps[i] != 1 or dims[i] == 0:
            return None
        if (<slice>k).step is not None and k.step != 1:
            return None
        i += 1
    return window(op, a, starts, steps, dims)
