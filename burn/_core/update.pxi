# Steps of optimizers. The parameters of a step are collected while the module is walked over and updated together: one kernel
# call for all that share an op, a device, a dtype and the numbers of the step. States are changed in place where nobody else
# holds their memory; the new value goes into the gradient's memory where the step was the gradient's last holder.

cdef extern from *:
    """
    /* Fields of a Python class with __slots__, where they lie: by name each would cost as much as all of them do so. */
    static Py_ssize_t burn_slot_of(PyObject *type, const char *name) {
        PyObject *d = PyObject_GetAttrString(type, name);
        Py_ssize_t at = d && Py_TYPE(d) == &PyMemberDescr_Type ? ((PyMemberDescrObject *)d)->d_member->offset : -1;
        if (d && at < 0) PyErr_Format(PyExc_TypeError, "%s is no slot of %R", name, type);
        Py_XDECREF(d);
        return at;
    }
    static void burn_slot_set(PyObject *o, Py_ssize_t at, PyObject *value) {
        PyObject **place = (PyObject **)((char *)o + at), *old = *place;
        Py_XINCREF(value);
        *place = value;
        Py_XDECREF(old);
    }
    #define BURN_SLOT(o, at) (*(PyObject **)((char *)(o) + (at)))
    """
    Py_ssize_t burn_slot_of(object type, const char *name) except -1
    void burn_slot_set(object o, Py_ssize_t at, object value)
    PyObject *BURN_SLOT(object o, Py_ssize_t at)

cdef Py_ssize_t slot_number = 0             # of a ParamId
cdef Py_ssize_t slot_id = 0                 # of a Param
cdef Py_ssize_t slot_kind = 0
cdef Py_ssize_t slot_value = 0
cdef Py_ssize_t slot_active = 0
cdef Py_ssize_t slot_lazy = 0
cdef Py_ssize_t slot_load = 0
cdef Py_ssize_t slot_save = 0
cdef Py_ssize_t slot_adapter = 0


cdef int find_slots(object param, object number) except -1:
    global slot_number, slot_id, slot_kind, slot_value, slot_active, slot_lazy, slot_load, slot_save, slot_adapter
    slot_number = burn_slot_of(number, "_value")
    slot_id, slot_kind = burn_slot_of(param, "id"), burn_slot_of(param, "kind")
    slot_value, slot_active = burn_slot_of(param, "_value"), burn_slot_of(param, "_active")
    slot_lazy = burn_slot_of(param, "_lazy")
    slot_load, slot_save = burn_slot_of(param, "_load"), burn_slot_of(param, "_save")
    slot_adapter = burn_slot_of(param, "_adapter")
    return 0


@cython.binding(True)      # a method: Param.val
def held_value(self):
    """The tensor, initialised now if need be; of a reparameterized parameter, the one that its state makes of the base."""
    cdef PyObject *held
    if type(self) is part_param:
        held = BURN_SLOT(self, slot_value)
        if held != NULL and <object>held is not None and <object>BURN_SLOT(self, slot_adapter) is None:
            return <object>held
    return self._made()


def powi_f32(float base, int64_t exponent):
    """``base ** exponent`` for an exponent of at least 0, by repeated squaring in single precision."""
    cdef float result = 1.0
    while exponent:
        if exponent & 1:
            result *= base
        exponent >>= 1
        base *= base
    return result


@cython.final
cdef class UpdateState:
    """The state of one parameter in an optimizer: of one that updates by a kernel its age and tensors, else an object."""
    cdef public object state        # what the optimizer's step returned; None where tensors are the state
    cdef public tuple tensors
    cdef public int64_t time        # steps so far
    cdef public int slot            # of its device
    cdef public int rank
    cdef public int group           # place in the optimizer's list of groups
    cdef public object path

    def __init__(self, int slot, int rank, int group, path):
        self.slot = slot
        self.rank = rank
        self.group = group
        self.path = path

    def copy(self):
        """Another state of the same values."""
        cdef UpdateState made = UpdateState(self.slot, self.rank, self.group, self.path)
        made.state = self.state
        made.tensors = self.tensors
        made.time = self.time
        return made


@cython.final
cdef class Updates:
    """Steps that are run together: parameters of one dtype on one device, all of one age."""
    cdef Op op
    cdef tuple ints
    cdef tuple floats
    cdef list values
    cdef list grads
    cdef list states
    cdef list results
    cdef int64_t time
    cdef int group

    def __init__(self, Op op, tuple ints, tuple floats, int64_t time=0, int group=0):
        self.op = op
        self.ints = ints
        self.floats = floats
        self.time = time
        self.group = group
        self.values = []
        self.grads = []
        self.states = []
        self.results = []

    def takes(self, TensorBase value, TensorBase grad, UpdateState state):
        """Whether gradient and state fit the value; an op's own check says why where they do not."""
        return updates_take(self, value, grad, state)

    def add(self, TensorBase value, TensorBase grad, UpdateState state):
        """Adds a parameter and returns its value after the step, which is written by run."""
        return updates_add(self, value, grad, state, False)

    def run(self, bint keep=False):
        """Updates all parameters and states; keep leaves the tensors of the states as they are and puts others in their place."""
        updates_run(self, keep)


cdef inline bint fits_value(TensorBase t, TensorBase value) noexcept:
    return t.dev == value.dev and t.dtype == value.dtype and same_dims(t, value)


cdef bint updates_take(Updates u, TensorBase value, TensorBase grad, UpdateState state) except -1:
    if not fits_value(grad, value) or (u.values and not (
            (<TensorBase>u.values[0]).dev == value.dev and (<TensorBase>u.values[0]).dtype == value.dtype)):
        return False
    for t in state.tensors:
        if not fits_value(<TensorBase>t, value):
            return False
    return True


cdef TensorBase updates_add(Updates u, TensorBase value, TensorBase grad, UpdateState state, bint last):
    """last: nobody but the caller holds the gradient's tensor."""
    cdef TensorBase out
    if (last and grad.contig and grad.offset == 0 and BURN_REFCNT(<void *>grad.st) == 1 and not grad.st.flags
            and grad.st.nbytes == <size_t>grad.size * DT_SIZE[grad.dtype]):
        out = tensor_alias(grad, value.ctx)
    else:
        out = tensor_empty(value.dims, value.ndim, value.dtype, value.dev, value.ctx)
    u.values.append(value if value.contig else make_contiguous(value))
    u.grads.append(grad if grad.contig else make_contiguous(grad))
    u.states.append(state)
    u.results.append(out)
    return out


cdef int updates_run(Updates u, bint keep) except -1:
    cdef Py_ssize_t n = len(u.values), k
    cdef int j, n_states = u.ints[0]
    cdef TensorBase value, t
    cdef UpdateState state
    cdef list after = []        # tensors of the states after the step, a tuple each
    cdef list made
    if n == 0:
        return 0
    for k in range(n):
        state = <UpdateState>u.states[k]
        made = None
        for j in range(n_states):
            t = <TensorBase>state.tensors[j]
            if keep or not (t.contig and t.offset == 0 and BURN_REFCNT(<void *>t.st) == 1 and not t.st.flags):
                if made is None:
                    made = list(state.tensors)
                made[j] = tensor_empty(t.dims, t.ndim, t.dtype, t.dev, CTX_PLAIN)
        after.append(state.tensors if made is None else tuple(made))
    value = <TensorBase>u.values[0]
    if find_row(u.op, value.dev, value.dtype) == NULL:
        for k in range(n):
            state = <UpdateState>u.states[k]
            run_op(u.op, (u.values[k], u.grads[k], *state.tensors), (u.results[k], *after[k]), u.ints, u.floats)
    else:
        updates_kernel(u, n, n_states, after)
    for k in range(n):
        state = <UpdateState>u.states[k]
        state.tensors = <tuple>after[k]
        state.time += 1
    return 0


cdef int updates_kernel(Updates u, Py_ssize_t n, int n_states, list after) except -1:
    """One call for all parameters: inputs value, gradient, states of each, outputs value, states of each."""
    cdef int per_in = 2 + n_states, per_out = 1 + n_states, j, rc
    cdef Py_ssize_t k
    cdef double total = 0.0
    cdef int64_t iv[MAX_ATTRS]
    cdef double fv[MAX_ATTRS]
    cdef burn_args args
    cdef burn_buf *bufs = <burn_buf *>PyMem_Malloc(n * (per_in + per_out) * sizeof(burn_buf))
    cdef burn_buf *bi = bufs
    cdef burn_buf *bo
    cdef TensorBase t
    cdef UpdateState state
    cdef list keep = []
    cdef TensorBase first = <TensorBase>u.values[0]
    cdef const burn_row *row = find_row(u.op, first.dev, first.dtype)
    if bufs == NULL:
        raise MemoryError()
    bo = bufs + n * per_in
    try:
        for k in range(n):
            state = <UpdateState>u.states[k]
            for j in range(per_in):
                t = <TensorBase>(u.values[k] if j == 0 else u.grads[k] if j == 1 else state.tensors[j - 2])
                if t.st.flags & ST_HOST:
                    settle(t.st)
                if not t.contig:
                    t = make_contiguous(t)
                    keep.append(t)
                fill_buf(&bi[k * per_in + j], t)
            for j in range(per_out):
                fill_buf(&bo[k * per_out + j], <TensorBase>(u.results[k] if j == 0 else (<tuple>after[k])[j - 1]))
            total += row.cost * first.size if k == 0 else row.cost * (<TensorBase>u.values[k]).size
        for j in range(<int>len(u.ints)):
            iv[j] = u.ints[j]
        for j in range(<int>len(u.floats)):
            fv[j] = u.floats[j]
        args.i = iv
        args.f = fv
        args.n_in = n * per_in
        args.n_out = n * per_out
        args.row = row
        if tracer is not None:
            trace(u.op, row, bo, bi, &args)
        if total > GIL_NS:
            with nogil:
                rc = row.fn(bo, bi, &args)
        else:
            rc = row.fn(bo, bi, &args)
    finally:
        PyMem_Free(bufs)
    if rc != BURN_OK:
        raise_kernel_error(u.op, rc, args.err[0], args.err[1], args.err[2], None)
    return 0


cdef class Stepper:
    """What a step does with one Float parameter: parameters that are like the one before are added at once, the others
    are left to ``_one(param, gradient, state)`` of a subclass, which returns the parameter after the step."""
    cdef dict grads             # by the number of the id
    cdef dict states
    cdef public Updates updates

    def __init__(self, dict grads, dict states):
        self.grads = grads
        self.states = states

    def map_float(self, param):
        """The parameter after the step; itself where it has no gradient, or is not to be trained (a clone of it may be)."""
        if type(param) is not part_param:
            raise TypeError(f"[step] 'param' must be a Param, got {type(param).__name__}")
        return step_param(self, param)


cdef object step_param(Stepper s, object param):
    key = <object>BURN_SLOT(<object>BURN_SLOT(param, slot_id), slot_number)
    cdef PyObject *found = PyDict_GetItem(s.grads, key)
    if found == NULL or not <object>BURN_SLOT(param, slot_active):
        return param
    cdef TensorBase grad = <TensorBase>found
    cdef PyObject *known = PyDict_GetItem(s.states, key)
    cdef PyObject *held = BURN_SLOT(param, slot_value)
    cdef Updates updates = s.updates
    cdef UpdateState state = <UpdateState>known if known != NULL else None
    del s.grads[key]
    if state is not None and updates is not None and <object>held is not None:
        if (state.tensors is not None and state.group == updates.group and state.time == updates.time
                and updates_take(updates, <TensorBase>held, grad, state)):
            return with_leaf(param, updates_add(updates, <TensorBase>held, grad, state, BURN_REFCNT(<void *>grad) == 1))
    return s._one(param, grad, state)


cdef object with_leaf(object param, TensorBase value):
    """A parameter like another with a value that is in no graph; a leaf where it is trained."""
    cdef object made = BURN_NEW(part_param, part_param, NO_ARGS)
    if value.ctx and <object>BURN_SLOT(param, slot_active):
        value.node = node_new(None, value.dtype)
    burn_slot_set(made, slot_id, <object>BURN_SLOT(param, slot_id))
    burn_slot_set(made, slot_kind, <object>BURN_SLOT(param, slot_kind))
    burn_slot_set(made, slot_value, value)
    burn_slot_set(made, slot_active, <object>BURN_SLOT(param, slot_active))
    burn_slot_set(made, slot_lazy, None)
    burn_slot_set(made, slot_load, <object>BURN_SLOT(param, slot_load))
    burn_slot_set(made, slot_save, <object>BURN_SLOT(param, slot_save))
    burn_slot_set(made, slot_adapter, None)     # walks show a parameter without it, and put it back
    return made


def with_value(param, TensorBase value):
    """param with a Float value that is in no graph; a leaf where it is trained."""
    return with_leaf(param, value)
