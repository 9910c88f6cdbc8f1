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
    #define BURN_SLOT(o, at) (*(PyObject **)((char *)(o) + (at)))

    /* Freed parameters, their slots empty: a step frees as many as it makes. Objects of subclasses come here for the part that
       is a parameter's. */
    enum { PARAM_ID, PARAM_KIND, PARAM_VALUE, PARAM_ACTIVE, PARAM_LAZY, PARAM_LOAD, PARAM_SAVE, PARAM_ADAPTER, PARAM_SLOTS };
    static const char *const param_slots[] = {"id", "kind", "_value", "_active", "_lazy", "_load", "_save", "_adapter"};
    static struct { PyTypeObject *type; Py_ssize_t slot[PARAM_SLOTS], number; int n; PyObject *param[BURN_KEPT]; } burn_params;
    #define PARAM_PART(o, part) BURN_SLOT(o, burn_params.slot[part])
    #define PARAM_NUMBER(o) BURN_SLOT(PARAM_PART(o, PARAM_ID), burn_params.number)
    static void param_set(PyObject *o, int part, PyObject *value) { /* of one that is empty there */
        Py_INCREF(value);
        PARAM_PART(o, part) = value;
    }
    static PyObject *param_new(void) { /* not seen by the collector */
        if (burn_params.n) return PyObject_Init(burn_params.param[--burn_params.n], burn_params.type);
        PyObject *o = PyType_GenericAlloc(burn_params.type, 0);
        if (o) PyObject_GC_UnTrack(o);
        return o;
    }
    static void param_dealloc(PyObject *o) {
        PyTypeObject *type = Py_TYPE(o);
        PyObject_GC_UnTrack(o);
        if (BURN_SLOT(o, type->tp_weaklistoffset)) PyObject_ClearWeakRefs(o);
        for (int k = 0; k < PARAM_SLOTS; k++) Py_CLEAR(PARAM_PART(o, k));
        if (type == burn_params.type && burn_params.n < BURN_KEPT) burn_params.param[burn_params.n++] = o;
        else type->tp_free(o);
        Py_DECREF(type);
    }
    static int keep_params(PyObject *param, PyObject *id) {
        PyTypeObject *type = (PyTypeObject *)param;
        for (int k = 0; k < PARAM_SLOTS; k++)
            if ((burn_params.slot[k] = burn_slot_of(param, param_slots[k])) < 0) return -1;
        if ((burn_params.number = burn_slot_of(id, "_value")) < 0) return -1;
        burn_params.type = type;
        type->tp_dealloc = param_dealloc;
        return 0;
    }
    """
    enum: PARAM_ID, PARAM_KIND, PARAM_VALUE, PARAM_ACTIVE, PARAM_LAZY, PARAM_LOAD, PARAM_SAVE, PARAM_ADAPTER
    PyObject *PARAM_PART(object o, int part)
    PyObject *PARAM_NUMBER(object o)
    void param_set(object o, int part, object value)
    object param_new()
    int keep_params(object param, object id) except -1
    void PyObject_GC_Track(void *o)


@cython.binding(True)      # a method: Param.val
def held_value(self):
    """The tensor, initialised now if need be; of a reparameterized parameter, the one that its state makes of the base."""
    cdef PyObject *held
    if type(self) is part_param:
        held = PARAM_PART(self, PARAM_VALUE)
        if held != NULL and <object>held is not None and <object>PARAM_PART(self, PARAM_ADAPTER) is None:
            return <object>held
    return self._made()


cdef float powi_f32(float base, int64_t exponent) noexcept:
    """``base ** exponent`` for an exponent of at least 0, by repeated squaring in single precision."""
    cdef float result = 1.0
    while exponent:
        if exponent & 1:
            result *= base
        exponent >>= 1
        base *= base
    return result


@cython.cdivision(False)
def momentum_factors(float beta_1, float beta_2, float epsilon, int64_t time):
    """What the age contributes to the moments of Adam, in single precision: both corrections, the root of the second over the
    first, and epsilon times that root."""
    cdef float first = <float>(1.0 - powi_f32(beta_1, time)), second = <float>(1.0 - powi_f32(beta_2, time))
    cdef float root = <float>sqrt(<double>second)
    return first, second, <float>(<double>root / first), <float>(<double>epsilon * root)


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


cdef struct Update:             # one parameter of a step; references that are owned
    PyObject *value
    PyObject *grad
    PyObject *state
    PyObject *out


@cython.final
@cython.no_gc
cdef class Updates:
    """Steps that are run together: parameters of one dtype on one device, all of one age."""
    cdef Op op
    cdef tuple ints
    cdef tuple floats
    cdef int64_t time
    cdef int group
    cdef Py_ssize_t count
    cdef Py_ssize_t room
    cdef Update *items

    def __init__(self, Op op, tuple ints, tuple floats, int64_t time=0, int group=0):
        self.op = op
        self.ints = ints
        self.floats = floats
        self.time = time
        self.group = group

    def __dealloc__(self):
        cdef Py_ssize_t k
        for k in range(self.count):
            Py_DECREF(<object>self.items[k].value)
            Py_DECREF(<object>self.items[k].grad)
            Py_DECREF(<object>self.items[k].state)
            Py_DECREF(<object>self.items[k].out)
        PyMem_Free(self.items)

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
    cdef Py_ssize_t j
    cdef tuple tensors = state.tensors
    if not fits_value(grad, value) or (u.count and not (
            (<TensorBase>u.items[0].value).dev == value.dev and (<TensorBase>u.items[0].value).dtype == value.dtype)):
        return False
    for j in range(len(tensors)):
        if not fits_value(<TensorBase>PyTuple_GET_ITEM(tensors, j), value):
            return False
    return True


cdef inline bint changes_in_place(TensorBase t) noexcept:
    # Whether nobody else holds its memory.
    return t.contig and t.offset == 0 and BURN_REFCNT(<void *>t.st) == 1 and not t.st.flags


cdef TensorBase updates_add(Updates u, TensorBase value, TensorBase grad, UpdateState state, bint last):
    """last: nobody but the caller holds the gradient's tensor."""
    cdef TensorBase out
    cdef Update *item
    cdef Py_ssize_t room
    if u.count == u.room:
        room = 4 * u.room + 16
        item = <Update *>PyMem_Realloc(u.items, room * sizeof(Update))
        if item == NULL:
            raise out_of_memory(u.op.name, room * sizeof(Update))
        u.items, u.room = item, room
    if last and changes_in_place(grad) and grad.st.nbytes == <size_t>grad.size * DT_SIZE[grad.dtype]:
        out = tensor_alias(grad, value.ctx)
    else:
        out = tensor_empty(value.dims, value.ndim, value.dtype, value.dev, value.ctx)
    if not value.contig:
        value = make_contiguous(value)
    if not grad.contig:
        grad = make_contiguous(grad)
    item = u.items + u.count
    item.value, item.grad, item.state, item.out = <PyObject *>value, <PyObject *>grad, <PyObject *>state, <PyObject *>out
    Py_INCREF(value)
    Py_INCREF(grad)
    Py_INCREF(state)
    Py_INCREF(out)
    u.count += 1
    return out


cdef tuple tensors_after(UpdateState state, int n_states, bint keep):
    """The tensors that a step writes a state to: those that it has, but for what others hold too."""
    cdef int j
    cdef TensorBase t
    cdef list made = None
    for j in range(n_states):
        if keep or not changes_in_place(<TensorBase>PyTuple_GET_ITEM(state.tensors, j)):
            if made is None:
                made = list(state.tensors)
            t = <TensorBase>state.tensors[j]
            made[j] = tensor_empty(t.dims, t.ndim, t.dtype, t.dev, CTX_PLAIN)
    return state.tensors if made is None else tuple(made)


cdef int updates_run(Updates u, bint keep) except -1:
    cdef Py_ssize_t k
    cdef int n_states = u.ints[0]
    cdef TensorBase value
    cdef UpdateState state
    cdef tuple then
    cdef dict moved = {}        # tensors after the step of the states, by place, that get others
    if u.count == 0:
        return 0
    for k in range(u.count):
        state = <UpdateState>u.items[k].state
        then = tensors_after(state, n_states, keep)
        if then is not state.tensors:
            moved[k] = then
    value = <TensorBase>u.items[0].value
    if find_row(u.op, value.dev, value.dtype) == NULL:
        for k in range(u.count):
            state = <UpdateState>u.items[k].state
            run_op(u.op, (<object>u.items[k].value, <object>u.items[k].grad, *state.tensors),
                   (<object>u.items[k].out, *moved.get(k, state.tensors)), u.ints, u.floats)
    else:
        updates_kernel(u, n_states, moved)
    for k in range(u.count):
        state = <UpdateState>u.items[k].state
        if moved:
            state.tensors = moved.get(k, state.tensors)
        state.time += 1
    return 0


cdef int updates_kernel(Updates u, int n_states, dict moved) except -1:
    """One call for all parameters: inputs value, gradient, states of each, outputs value, states of each."""
    cdef int per_in = 2 + n_states, per_out = 1 + n_states, j, rc
    cdef Py_ssize_t k, n = u.count
    cdef double total = 0.0
    cdef int64_t iv[MAX_ATTRS]
    cdef double fv[MAX_ATTRS]
    cdef burn_args args
    cdef size_t room = n * (per_in + per_out) * sizeof(burn_buf)
    cdef burn_buf *bufs = <burn_buf *>heap_alloc(room)      # not malloc, which may give so much back to the system each time
    cdef burn_buf *bi = bufs
    cdef burn_buf *bo = bufs + n * per_in
    cdef PyObject *t
    cdef tuple before, then
    cdef list keep = []
    cdef TensorBase first = <TensorBase>u.items[0].value
    cdef const burn_row *row = find_row(u.op, first.dev, first.dtype)
    if bufs == NULL:
        raise out_of_memory(u.op.name, room)
    try:
        for k in range(n):
            before = then = (<UpdateState>u.items[k].state).tensors
            if moved:
                then = <tuple>moved.get(k, before)
            for j in range(per_in):
                t = u.items[k].value if j == 0 else u.items[k].grad if j == 1 else PyTuple_GET_ITEM(before, j - 2)
                if (<TensorBase>t).st.flags & ST_HOST:
                    settle((<TensorBase>t).st)
                if not (<TensorBase>t).contig:
                    keep.append(make_contiguous(<TensorBase>t))
                    t = <PyObject *>keep[len(keep) - 1]
                fill_buf(bi, <TensorBase>t)
                bi += 1
            for j in range(per_out):
                fill_buf(bo, <TensorBase>(u.items[k].out if j == 0 else PyTuple_GET_ITEM(then, j - 1)))
                bo += 1
            total += row.cost * (<TensorBase>u.items[k].value).size
        bi, bo = bufs, bufs + n * per_in
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
        heap_free(bufs, room)
    if rc != BURN_OK:
        raise_kernel_error(u.op, rc, args.err[0], args.err[1], args.err[2], None)
    return 0


cdef class Stepper:
    """What a step does with one Float parameter: parameters that are like the one before are added at once, the others
    are left to a subclass: ``updates_like(value, state)`` gives the updates that a parameter joins, or None; then ``_one(param,
    gradient, state)`` returns the parameter after the step."""
    cdef dict grads             # by the number of the id; the step's own
    cdef dict states
    cdef list taken             # numbers of gradients that are used up and still in grads
    cdef Py_ssize_t next_grad   # places in the dicts, which are mostly in the order of the walk
    cdef Py_ssize_t next_state
    cdef Updates updates        # of the parameter before

    def __init__(self, dict grads, dict states):
        self.grads = grads
        self.states = states
        self.taken = []

    def map_float(self, param):
        """The parameter after the step; itself where it has no gradient, or is not to be trained (a clone of it may be)."""
        if type(param) is not part_param:
            raise TypeError(f"[step] 'param' must be a Param, got {type(param).__name__}")
        return step_param(self, param)

    def left(self):
        """The gradients that no parameter has taken."""
        if len(self.taken) == len(self.grads):
            return {}
        drop_taken(self)
        return self.grads


cdef int drop_taken(Stepper s) except -1:
    for key in s.taken:
        s.grads.pop(key, None)
    s.taken.clear()
    return 0


cdef PyObject *at_place(dict entries, Py_ssize_t *place, PyObject *key) noexcept:
    """What the entry at a place holds, and the place after it, if this very key is there; else NULL."""
    cdef Py_ssize_t after = place[0]
    cdef PyObject *known
    cdef PyObject *value
    if PyDict_Next(entries, &after, &known, &value) and known == key:
        place[0] = after
        return value
    return NULL


cdef object step_param(Stepper s, object param):
    key = <object>PARAM_NUMBER(param)
    if not <object>PARAM_PART(param, PARAM_ACTIVE):
        return param
    cdef PyObject *found = at_place(s.grads, &s.next_grad, <PyObject *>key)
    cdef TensorBase grad
    cdef bint last
    if found != NULL:
        last = BURN_REFCNT(found) == 1
        grad = <TensorBase>found
        s.taken.append(key)
    else:       # not where it is looked for first: it leaves at once, or the place would give it to another one of this id
        drop_taken(s)
        grad = s.grads.pop(key, None)
        if grad is None:
            return param
        last = BURN_REFCNT(<void *>grad) == 1
    cdef PyObject *known = at_place(s.states, &s.next_state, <PyObject *>key)
    if known == NULL:
        known = PyDict_GetItem(s.states, key)
    cdef PyObject *held = PARAM_PART(param, PARAM_VALUE)
    cdef Updates updates = s.updates
    cdef UpdateState state = <UpdateState>known if known != NULL else None
    if state is not None and state.tensors is not None and <object>held is not None:
        # Empty ones say nothing yet of the device and dtype that they were made for.
        if updates is None or updates.count == 0 or state.group != updates.group or state.time != updates.time:
            s.updates = updates = s.updates_like(<object>held, state)
        if updates is not None and updates_take(updates, <TensorBase>held, grad, state):
            return with_leaf(param, updates_add(updates, <TensorBase>held, grad, state, last))
    return s._one(param, grad, state)


cdef object with_leaf(object param, TensorBase value):
    """A parameter like another with a value that is in no graph; a leaf where it is trained."""
    cdef object made = param_new()
    cdef object load = <object>PARAM_PART(param, PARAM_LOAD), save = <object>PARAM_PART(param, PARAM_SAVE)
    if value.ctx and <object>PARAM_PART(param, PARAM_ACTIVE):
        value.node = node_new(None, value.dtype)
    param_set(made, PARAM_ID, <object>PARAM_PART(param, PARAM_ID))
    param_set(made, PARAM_KIND, <object>PARAM_PART(param, PARAM_KIND))
    param_set(made, PARAM_VALUE, value)
    param_set(made, PARAM_ACTIVE, <object>PARAM_PART(param, PARAM_ACTIVE))
    param_set(made, PARAM_LAZY, None)
    param_set(made, PARAM_LOAD, load)
    param_set(made, PARAM_SAVE, save)
    param_set(made, PARAM_ADAPTER, None)    # walks show a parameter without it, and put it back
    if load is not None or save is not None:
        PyObject_GC_Track(<void *>made)         # what else it holds leads nowhere
    return made


def with_value(param, TensorBase value):
    """param with a Float value that is in no graph; a leaf where it is trained."""
    return with_leaf(param, value)
