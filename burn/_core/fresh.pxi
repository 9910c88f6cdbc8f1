# Compiled paths of ops that make tensors of no other: constants, ranges, random numbers, Python lists. None: what does not fit,
# for the bridge, which says why or does it another way.

cdef extern from *:
    """
    #include <stdlib.h>
    #include <string.h>
    /* Whether BURN_DEVICE is what it was. The environment is a list of strings: as long as it is the same strings, nobody has
       to look at what they say, but for the one in question, which some systems overwrite in place. */
    #define BURN_ENVIRONMENT 512
    extern char **environ;
    static struct { char **at, *string[BURN_ENVIRONMENT + 1], *named, value[64]; size_t bytes; } burn_env;
    static int burn_environment_kept(void) {
        return burn_env.bytes && environ == burn_env.at && !memcmp(environ, burn_env.string, burn_env.bytes) &&
               (!burn_env.named || !strcmp(burn_env.named, burn_env.value));
    }
    static void burn_environment_keep(void) {
        size_t n = 0;
        const char *value = getenv("BURN_DEVICE");
        burn_env.bytes = 0; /* nothing is kept of an environment that has no room */
        if (!environ || (value && strlen(value) >= sizeof(burn_env.value))) return;
        for (; environ[n]; n++) {
            if (n == BURN_ENVIRONMENT) return;
            burn_env.string[n] = environ[n];
        }
        burn_env.string[n] = NULL;
        burn_env.named = (char *)value;
        if (value) strcpy(burn_env.value, value);
        burn_env.at = environ;
        burn_env.bytes = (n + 1) * sizeof(char *);
    }
    """
    bint burn_environment_kept() noexcept
    void burn_environment_keep() noexcept

cdef object device_type = None              # burn.Device
cdef tuple kinds = (None, None, None)       # Float, Int, Bool
cdef list settings_boxes = [None] * MAX_SLOTS   # device slot -> what fixes its settings
cdef int default_dtypes[MAX_SLOTS][3]       # device slot -> its default dtypes
cdef bint settings_fixed[MAX_SLOTS]         # device slot -> whether a tensor follows them already
cdef object usual_device = None             # what Device.default() found
cdef list generators = [None] * MAX_SLOTS   # device slot -> its random numbers


cdef class DeviceBase:
    """What a Device is to the core."""
    cdef public int _slot
    cdef public int _ctx


cdef class Generator:
    """The random numbers of a backend: a seed, and how many blocks of its stream were drawn."""
    cdef public uint64_t seed
    cdef public int64_t offset

    def __init__(self, uint64_t seed):
        self.seed = seed
        self.offset = 0

    cdef void draw(self, int64_t count, int64_t *ints) noexcept:
        ints[0] = <int64_t>self.seed
        ints[1] = self.offset
        self.offset += count // 4 + (count % 4 != 0)

    def next(self, int64_t count):
        """(seed, offset) of the next count 32-bit words."""
        cdef int64_t ints[2]
        self.draw(count, ints)
        return ints[0], ints[1]


def set_generator(int slot, Generator generator):
    """The random numbers of a device."""
    generators[slot] = generator


def set_devices(object device, tuple three):
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
    global usual_device
    burn_environment_keep()
    usual_device = device


def kept_default():
    """The default device, or None where it must be found first."""
    return default_now()


cdef object default_now():
    return usual_device if burn_environment_kept() else None


cdef inline bint on_the_spot(TensorBase out) noexcept:
    """Whether a few elements of host memory are written at once: a kernel's preparations would cost more."""
    return out.size <= 64 and memory_of[out.dev] == NULL and tracer is None


cdef TensorBase filled_dims(Op op, const int64_t *dims, int n, int dtype, int dev, int ctx, object value):
    cdef int64_t word = 0, whole, one = 1, i
    cdef double real
    cdef const burn_row *row
    cdef TensorBase out
    cdef char *to
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
    if on_the_spot(out):
        to = storage_ptr(out.st)
        if DT_SIZE[dtype] == 4:
            for i in range(out.size):
                (<int32_t *>to)[i] = <int32_t>word
        else:
            for i in range(out.size):
                memcpy(to + i * DT_SIZE[dtype], &word, DT_SIZE[dtype])
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


cdef TensorBase undefined(object shape, int dtype, int dev, int ctx):
    cdef int64_t dims[8]
    cdef int n = fresh_dims(shape, dims)
    if n == 0:
        return None
    count_of(dims, n)
    return tensor_empty(dims, n, dtype, dev, ctx)


def fresh(shape, int dtype, int dev, int ctx):
    """A tensor of undefined content."""
    return undefined(shape, dtype, dev, ctx)


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
    return None if dtype < 0 else undefined(shape, dtype, slot, ctx)


def blank_like(Op op, TensorBase x):
    """A tensor of undefined content in the shape of another."""
    return tensor_empty(x.dims, x.ndim, x.dtype, x.dev, x.ctx)


def filled_like(Op op, TensorBase x, value):
    """One number in the shape of a tensor."""
    return filled_dims(op, x.dims, x.ndim, x.dtype, x.dev, x.ctx, value)


def arange(Op op, start, end=None, device=None, step=1):
    """Whole numbers of the default dtype from start, or from 0, to a bound by a positive step."""
    cdef int64_t first = 0, last, by, count, i
    cdef burn_buf bo
    cdef burn_args args
    cdef int64_t ints[2]
    cdef const burn_row *row
    cdef TensorBase out
    cdef char *to
    cdef int slot, ctx, dtype
    if end is None:
        end = start
    elif not small_int(start, &first):
        return None
    if not small_int(end, &last) or not small_int(step, &by):
        return None
    if by < 1 or max(abs(first), abs(last), by) >= <int64_t>1 << 31 or first >= last:
        return None
    dtype = device_and_dtype(device, 1, &slot, &ctx)
    if dtype != DT_I32 and dtype != DT_I64:
        return None
    row = find_row(op, slot, dtype)
    if row == NULL:
        return None
    count = (last - first + by - 1) // by
    out = tensor_empty(&count, 1, dtype, slot, ctx)
    if on_the_spot(out):
        to = storage_ptr(out.st)
        for i in range(count):
            if dtype == DT_I32:
                (<int32_t *>to)[i] = <int32_t>(first + i * by)
            else:
                (<int64_t *>to)[i] = first + i * by
        return out
    ints[0] = first
    ints[1] = by
    fill_buf(&bo, out)
    args.i = ints
    args.n_in = 0
    args.n_out = 1
    run_row(op, row, slot, &bo, &bo, &args)
    return out


def eye(Op op, size, device=None):
    """The identity matrix as Floats in host memory."""
    cdef int64_t dims[2]
    cdef int64_t n, i, word = 0
    cdef int slot, ctx, dtype
    cdef TensorBase out
    cdef char *to
    if not small_int(size, &n) or n < 1 or n > 1 << 20:
        return None
    dtype = device_and_dtype(device, 0, &slot, &ctx)
    if dtype < 0 or memory_of[slot] != NULL or tracer is not None:
        return None
    dims[0] = dims[1] = n
    out = filled_dims(op, dims, 2, dtype, slot, ctx, 0)
    if out is not None:
        scalar_store(dtype, 1.0, 1, &word)
        to = storage_ptr(out.st)
        for i in range(n):
            memcpy(to + i * (n + 1) * DT_SIZE[dtype], &word, DT_SIZE[dtype])
    return out


cdef object absent = object()


cdef TensorBase draw(dict forms, const int64_t *dims, int n, object distribution, int dtype, int dev, int ctx):
    """Random numbers of a distribution that f32 and f64 hold with room to spare."""
    cdef object form = forms.get(None if distribution is absent else type(distribution))
    cdef double floats[2]
    cdef int64_t ints[2]
    cdef burn_buf bo
    cdef burn_args args
    cdef const burn_row *row
    cdef Op op
    cdef tuple names
    cdef TensorBase out
    cdef int i
    if form is None or (dtype != DT_F32 and dtype != DT_F64) or generators[dev] is None:
        return None
    op, names = form
    floats[0] = 0.0
    floats[1] = 1.0
    if names:
        for i in range(len(names)):
            value = getattr(distribution, names[i])
            if type(value) is not float or not abs(<double>value) < 1e37:
                return None
            floats[i] = value
        if names == ("p",):
            if not 0 <= floats[0] <= 1:
                return None
        elif floats[1] < 0 if names == ("mean", "std") else not floats[0] < floats[1]:
            return None
    row = find_row(op, dev, dtype)
    if row == NULL:
        return None
    count_of(dims, n)
    out = tensor_empty(dims, n, dtype, dev, ctx)            # fails before a number is drawn
    (<Generator>generators[dev]).draw(out.size * (2 if dtype == DT_F64 else 1), ints)
    fill_buf(&bo, out)
    args.i = ints
    args.f = floats
    args.n_in = 0
    args.n_out = 1
    run_row(op, row, dev, &bo, &bo, &args)
    return out


def drawn(dict forms, shape, distribution=absent, device=None):
    """Random Floats. forms tells what a class of distributions is: the op and its numbers by name, of None what there is
    without a distribution."""
    cdef int64_t dims[8]
    cdef int n = fresh_dims(shape, dims), slot, ctx, dtype
    if n == 0:
        return None
    dtype = device_and_dtype(device, 0, &slot, &ctx)
    return None if dtype < 0 else draw(forms, dims, n, distribution, dtype, slot, ctx)


def drawn_like(dict forms, x, distribution=absent):
    """Random Floats in the shape of a tensor."""
    cdef TensorBase a
    if type(x) is not tensor_type:
        return None
    a = <TensorBase>x
    return draw(forms, a.dims, a.ndim, distribution, a.dtype, a.dev, a.ctx)


cdef bint fill_list(object values, const int64_t *dims, int n, int dtype, bint narrow, char **to) noexcept:
    """Writes nested lists of exactly these sizes; False where they are others, or hold what is not a number of the dtype."""
    cdef int64_t i, whole
    cdef double real
    cdef object v
    cdef bint is_list = type(values) is list
    if not is_list and type(values) is not tuple:
        return False
    if (len(<list>values) if is_list else len(<tuple>values)) != dims[0]:
        return False
    for i in range(dims[0]):
        v = (<list>values)[i] if is_list else (<tuple>values)[i]
        if n > 1:
            if not fill_list(v, dims + 1, n - 1, dtype, narrow, to):
                return False
            continue
        if not read_number(v, DT_I32 if narrow and dtype == DT_I64 else dtype, &real, &whole):
            return False
        if dtype == DT_F32:
            (<float *>to[0])[0] = <float>real
        elif dtype == DT_F64:
            (<double *>to[0])[0] = <float>real if narrow else real
        elif dtype == DT_I32:
            (<int32_t *>to[0])[0] = <int32_t>whole
        else:
            (<int64_t *>to[0])[0] = whole
        to[0] += DT_SIZE[dtype]
    return True


def listed(int which, data, device=None, dtype=None):
    """Nested lists of Python numbers in host memory: Floats (0) or Ints (1), rounded to or within 32 bits, or what they are."""
    cdef int64_t dims[8]
    cdef int n = 0, slot, ctx, code
    cdef bint narrow = which >= 0
    cdef object v = data
    cdef char *to
    cdef TensorBase out
    while type(v) is list or type(v) is tuple:
        if n == 8 or len(v) == 0:
            return None
        dims[n] = len(v)
        n += 1
        v = v[0]
    if n == 0 or dtype is not None:
        return None
    if which < 0:
        which = 0 if type(v) is float else 1
    code = device_and_dtype(device, which, &slot, &ctx)
    if (code != DT_F32 and code != DT_F64 and code != DT_I32 and code != DT_I64) or memory_of[slot] != NULL:
        return None
    out = tensor_empty(dims, n, code, slot, ctx)
    to = storage_ptr(out.st)
    return out if fill_list(data, dims, n, code, narrow, &to) else None
