# The tape: nodes hold parent nodes and saved values (storage and view, no node), so there are no cycles, a graph that is
# dropped is freed at once, and x[i] = v cannot change what was saved of x. backward walks it without recursion.

cdef int64_t next_node_id = 1
cdef int64_t walk_epoch = 0
cdef object sum_to_shape = None            # (gradient, shape) -> gradient summed over broadcast axes

# Objects whose last reference went away while another node was being freed. Freeing them in a loop instead of from within
# each other keeps the C stack flat for graphs of any depth.
cdef PyObject **doomed = NULL
cdef Py_ssize_t doomed_n = 0
cdef Py_ssize_t doomed_cap = 0
cdef bint draining = False


cdef int doom(object o) noexcept:
    global doomed, doomed_n, doomed_cap
    cdef PyObject **bigger
    if doomed_n == doomed_cap:
        bigger = <PyObject **>PyMem_Realloc(doomed, (doomed_cap * 2 + 256) * sizeof(PyObject *))
        if bigger == NULL:
            return 0               # out of memory: the plain, recursive release still works
        doomed = bigger
        doomed_cap = doomed_cap * 2 + 256
    Py_INCREF(o)
    doomed[doomed_n] = <PyObject *>o
    doomed_n += 1
    return 0


cdef void drain() noexcept:
    global doomed_n, draining
    if draining:
        return
    draining = True
    while doomed_n:
        doomed_n -= 1
        Py_DECREF(<object>doomed[doomed_n])
    draining = False


cdef extern from *:
    """
    /* Freed nodes. Every reference in them is None, as in a new one: most nodes use few of theirs, and setting and clearing all
       of them costs more than the rest of a node. */
    static struct { destructor plain; void (*end)(PyObject *); size_t parts, size; int n; PyObject *node[BURN_KEPT]; } burn_nodes;
    static PyObject *burn_node_new(PyObject *type, PyObject *none) {
        if (!burn_nodes.n) return BURN_NEW(type, type, none);
        PyObject *o = burn_nodes.node[--burn_nodes.n];
        size_t head = sizeof(PyObject) + burn_nodes.parts * sizeof(PyObject *);
        memset((char *)o + head, 0, burn_nodes.size - head);
        return PyObject_Init(o, (PyTypeObject *)type);
    }
    static void burn_node_dealloc(PyObject *o) {
        PyObject **part = (PyObject **)(o + 1);
        if (burn_nodes.n < BURN_KEPT) {
            Py_SET_REFCNT(o, 1); /* as long as others see it */
            burn_nodes.end(o);
            for (size_t k = 0; k < burn_nodes.parts; k++)
                if (part[k] != Py_None) {
                    PyObject *old = part[k];
                    Py_INCREF(Py_None);
                    part[k] = Py_None;
                    Py_DECREF(old);
                }
            Py_SET_REFCNT(o, 0);
        }
        if (burn_nodes.n < BURN_KEPT) burn_nodes.node[burn_nodes.n++] = o;
        else burn_nodes.plain(o);
    }
    static void burn_keep_nodes(PyObject *type, PyObject *node, void *after, void *end) {
        PyTypeObject *t = (PyTypeObject *)type;
        burn_nodes.parts = (size_t)((PyObject **)after - (PyObject **)(node + 1));
        burn_nodes.size = (size_t)t->tp_basicsize;
        burn_nodes.end = (void (*)(PyObject *))end;
        burn_nodes.plain = t->tp_dealloc;
        t->tp_dealloc = burn_node_dealloc;
    }
    """
    object burn_node_new(object type, object none)
    void burn_keep_nodes(object type, object node, void *after, void *end)


@cython.final
@cython.no_gc
cdef class Node:
    """One recorded step, or a leaf that keeps its gradient (op is None)."""
    # References first, up to id: see burn_keep_nodes.
    cdef Op op
    cdef Node p0
    cdef Node p1
    cdef Node p2
    cdef tuple more_parents      # inputs 3.. of ops with many inputs
    cdef TensorBase s0
    cdef TensorBase s1
    cdef TensorBase s2
    cdef TensorBase sout
    cdef tuple more_saved
    cdef object attrs
    cdef tuple shapes
    cdef TensorBase gacc
    cdef TensorBase value        # of the output: kept for, or computed again by, rules under Balanced (checkpoint.pxi)
    cdef object recipe
    cdef int64_t id
    cdef int64_t mark
    cdef int pending
    cdef int n_in
    cdef uint8_t consumed
    cdef uint8_t released
    cdef uint8_t dtype
    cdef uint8_t how             # how checkpoint.pxi runs the op again
    cdef uint8_t lazy            # saved inputs, and in bit 3 the output, that checkpoint.pxi provides in the backward pass
    cdef uint8_t derivable       # the output can be computed again from what this node and its parents hold,
    cdef uint8_t chain           # by so many ops,
    cdef uint8_t products        # so many of them products

    def __dealloc__(self):
        node_end(self)

    # What a rule in Python sees.

    @property
    def attrs(self):
        """Attributes of the op, as it was applied."""
        return self.attrs

    @property
    def count(self):
        """Number of inputs."""
        return self.n_in

    @property
    def output(self):
        """The saved output."""
        return publish(self.sout)

    def saved(self, int i):
        """The saved input i."""
        cdef TensorBase t = self.s0 if i == 0 else (self.s1 if i == 1 else (self.s2 if i == 2 else self.more_saved[i - 3]))
        return publish(t)

    def shape(self, int i):
        """The shape that input i had."""
        return self.shapes[i]

    def needs(self, int i):
        """Whether input i is tracked."""
        return node_parent(self, i) is not None


cdef void node_end(Node n) noexcept:
    if n.n_in == 0:
        return      # a leaf: nothing below it that would be released one by one
    node_release(n)
    if doomed_n:
        drain()


cdef inline Node node_parent(Node n, int i):
    if i == 0:
        return n.p0
    if i == 1:
        return n.p1
    if i == 2:
        return n.p2
    return <Node>n.more_parents[i - 3] if n.more_parents is not None else None


cdef inline void node_release(Node n) noexcept:
    # Drops saved values, and parents through the list of the doomed; saved values hold no nodes, so they cannot recurse.
    if n.released:
        return
    n.released = 1
    n.s0 = None
    n.s1 = None
    n.s2 = None
    n.sout = None
    n.gacc = None
    n.more_saved = None
    n.value = None
    n.recipe = None
    if n.p0 is not None:
        doom(n.p0)
        n.p0 = None
    if n.p1 is not None:
        doom(n.p1)
        n.p1 = None
    if n.p2 is not None:
        doom(n.p2)
        n.p2 = None
    if n.more_parents is not None:
        doom(n.more_parents)
        n.more_parents = None


cdef inline Node node_new(Op op, int dtype):
    global next_node_id
    cdef Node n = <Node>burn_node_new(Node, NO_ARGS)
    n.op = op
    n.id = next_node_id
    n.dtype = dtype
    next_node_id += 1
    return n


cdef int keep_nodes() except -1:
    cdef Node node = Node.__new__(Node)
    burn_keep_nodes(Node, node, &node.id, <void *>node_end)
    return 0


keep_nodes()


cdef inline int record2(Op op, TensorBase x, TensorBase y, TensorBase out) except -1:
    """record for the commonest case: two inputs of the output's shape."""
    cdef Node n
    cdef int uses = 0
    if op.rule is None or op.rule.function is not None or kind_of(out.dtype) != KIND_FLOAT or out.ctx == CTX_BALANCED:
        return record(op, (x, y), out, None)
    n = node_new(op, out.dtype)
    n.n_in = 2
    if x.node is not None:
        n.p0 = x.node
        uses |= op.rule.uses[0]
    if y.node is not None:
        n.p1 = y.node
        uses |= op.rule.uses[1]
    if uses & 1:
        n.s0 = tensor_saved(x)
    if uses & 2:
        n.s1 = tensor_saved(y)
    if uses & USES_OUT:
        n.sout = tensor_saved(out)
    out.node = n
    return 0


cdef int record(Op op, tuple ins, TensorBase out, object attrs, int how=HOW_INFER, object recipe=None) except -1:
    """Adds a step to the tape when an input is tracked; how and recipe say how the step can be run again."""
    cdef Node n
    cdef TensorBase t
    cdef int i, uses = 0, count = len(ins), needed
    cdef bint tracked = False, differs = False
    for t in ins:
        if t.node is not None:
            tracked = True
            break
    if not tracked or op.cuts_graph or kind_of(out.dtype) != KIND_FLOAT:
        return 0
    if op.rule is None:
        raise AutodiffError(f"[{op.name}] has no gradient; call detach() on its input, or use inner()")
    n = node_new(op, out.dtype)
    n.n_in = count
    n.attrs = attrs
    for i in range(count):
        t = <TensorBase>ins[i]
        if t.node is None:
            continue
        uses |= op.rule.uses[i] if i < 8 else op.rule.uses_rest
        if i == 0:
            n.p0 = t.node
        elif i == 1:
            n.p1 = t.node
        elif i == 2:
            n.p2 = t.node
        if op.elementwise and not differs and not same_dims(t, out):
            differs = True
    if count > 3:
        n.more_parents = tuple([(<TensorBase>t).node for t in ins[3:]])
        if uses & 7:
            n.more_saved = tuple([tensor_saved(<TensorBase>t) for t in ins[3:]])
    if differs or uses & USES_SHAPE:
        n.shapes = tuple([tensor_dims(<TensorBase>t) for t in ins])
    out.node = n
    if out.ctx == CTX_BALANCED:
        return save_sparingly(n, ins, out, uses, how, recipe)
    if uses & 1:
        n.s0 = tensor_saved(<TensorBase>ins[0])
    if uses & 2 and count > 1:
        n.s1 = tensor_saved(<TensorBase>ins[1])
    if uses & 4 and count > 2:
        n.s2 = tensor_saved(<TensorBase>ins[2])
    if uses & USES_OUT:
        n.sout = tensor_saved(out)
    return 0


cdef TensorBase add_gradients(TensorBase a, TensorBase b, bint own):
    """a + b; into a's memory when nobody else holds it."""
    cdef burn_buf bi[2]
    cdef burn_buf bo
    cdef burn_args args
    cdef const burn_row *row
    if own and a.contig and b.contig:
        row = find_row(add_op, a.dev, a.dtype)
        if row != NULL:
            fill_buf(&bi[0], a)
            fill_buf(&bi[1], b)
            fill_buf(&bo, a)
            args.n_in = 2
            args.n_out = 1
            run_row(add_op, row, a.dev, &bo, bi, &args)
            return a
    return apply_plain(add_op, a, b, None)


cdef int deliver(Node p, TensorBase g, dict leaves) except -1:
    cdef TensorBase acc
    if p.op is None:
        acc = <TensorBase>leaves.get(p.id)
        if acc is None:
            leaves[p.id] = g
        else:
            # two references: the dict's and ours
            leaves[p.id] = add_gradients(acc, g, BURN_REFCNT(<void *>acc) == 2 and BURN_REFCNT(<void *>acc.st) == 1
                                         and not acc.st.flags & (ST_BORROWED | ST_EXPORTED))
        return 0
    if p.gacc is None:
        p.gacc = g
    else:
        acc = p.gacc
        p.gacc = None
        p.gacc = add_gradients(acc, g, reusable(acc))
    return 0


cdef int step_back(Node n, TensorBase g, dict leaves, list ready) except -1:
    """Runs the rule of one node and hands the results to its parents."""
    cdef Rule rule = n.op.rule
    cdef Program program
    cdef Node p
    cdef TensorBase r
    cdef object results = None
    cdef int i
    if n.lazy:
        provide(n)
    if rule.function is not None:
        results = rule.function(n, publish(g))
    for i in range(n.n_in):
        p = node_parent(n, i)
        if p is None:
            continue
        if rule.function is not None:
            r = <TensorBase>results[i]
            if r is None:
                raise RuntimeError(f"the rule of {n.op.name} gave no gradient for input {i}")
        else:
            program = <Program>rule.programs[i]
            r = run_program(program, n, i, g)
            if n.shapes is not None and tensor_dims(r) != <tuple>n.shapes[i]:
                r = <TensorBase>sum_to_shape(publish(r), n.shapes[i])
        deliver(p, r, leaves)
        if p.op is not None:
            p.pending -= 1
            if p.pending == 0:
                ready.append(p)
    return 0


def backward(TensorBase root):
    """Runs the tape back from root with ones; returns {node id: gradient} of the leaves that keep one."""
    global walk_epoch
    cdef Node n, p
    cdef list order = []
    cdef list stack
    cdef list ready
    cdef dict leaves = {}
    cdef int i
    cdef TensorBase seed
    if root.node is None:
        raise AutodiffError("[backward] the tensor must be tracked, got an untracked one; call autodiff().require_grad() on "
                            "the source leaf before computing the output")
    n = root.node
    if n.op is not None and n.consumed:
        raise AutodiffError(f"[backward] the graph of node {n.id} has already been consumed by an earlier backward"
                            f"{' that failed' if n.consumed == 2 else ''}; combine losses before backward, or compute the "
                            "output again")
    walk_epoch += 1
    n.mark = walk_epoch
    n.pending = 0
    stack = [n]
    while stack:
        n = <Node>stack.pop()
        if n.op is not None and n.consumed:
            raise AutodiffError(f"[backward] the graph at node {n.id} has already been consumed by an earlier backward that "
                                "shared it; combine losses before backward, or compute the output again (detach() cuts it)")
        order.append(n)
        for i in range(n.n_in):
            p = node_parent(n, i)
            if p is None:
                continue
            if p.mark != walk_epoch:
                p.mark = walk_epoch
                p.pending = 0
                stack.append(p)
            p.pending += 1
    for n in order:
        n.consumed = 1
    seed = tensor_empty(root.dims, root.ndim, root.dtype, root.dev, CTX_PLAIN)
    run_op(fill_op, (scalar_tensor(root.dtype, root.dev, CTX_PLAIN, 1.0, 1),), (seed,), NO_ARGS, NO_ARGS)
    ready = []
    try:
        deliver(root.node, seed, leaves)
        seed = None
        if root.node.op is not None:
            ready.append(root.node)
        while ready:
            n = <Node>ready.pop()
            seed = n.gacc
            n.gacc = None
            step_back(n, seed, leaves, ready)
            seed = None
            node_release(n)
    except BaseException:
        for n in order:
            n.consumed = 2
        raise
    finally:
        for n in order:
            if n.op is not None:
                node_release(n)
        drain()
    # an object for each leaf: two leaves may have one gradient, and x[i] = v changes an object
    return {key: tensor_alias(<TensorBase>g, CTX_PLAIN) for key, g in leaves.items()}


def make_leaf(TensorBase x):
    """A new handle of x's value that is a leaf and keeps its gradient."""
    cdef TensorBase t = tensor_alias(x, x.ctx)
    t.node = node_new(None, x.dtype)
    return t


def cut(TensorBase x, int ctx):
    """An untracked handle of x's value in a context."""
    return tensor_alias(x, ctx)


def node_state(TensorBase x):
    """0 untracked, 1 intermediate, 2 leaf that keeps its gradient."""
    return 0 if x.node is None else (2 if x.node.op is None else 1)


def set_sum_to_shape(fn):
    """How gradients of broadcast operands are summed."""
    global sum_to_shape
    sum_to_shape = fn


def assign(TensorBase x, TensorBase value):
    """Makes x hold the value and the place on the tape of another tensor."""
    if x.st.flags & ST_LENT and x.st is not value.st:
        value.st.owner = (value.st.owner, x.st)
        value.st.flags |= ST_LENT   # x still stands for the memory that was lent
    copy_view(x, value)
    x.ctx = value.ctx
    x.node = value.node
