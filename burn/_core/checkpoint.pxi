# Gradient checkpointing, strategy Balanced. A value that a rule asks for is not kept when it can be computed again from a
# value that is kept anyway: by a chain of cheap ops (elementwise ops and views), and across a product only where the product's
# own input must be computed again too. Of several values that hang together so, the first one asked for is kept. So no step
# ever keeps more than without checkpointing, and a graph in which nothing can be saved runs as without it.

cdef enum:
    LONGEST_CHAIN = 8   # of ops that are run again: bounds what a backward pass holds at once
    SMALL_PART = 4      # an untracked input this many times smaller than the output may be kept to run an op again


cdef inline int hold_input(Node n, int i, TensorBase t) except -1:
    if i == 0:
        if n.s0 is None:
            n.s0 = tensor_saved(t)
    elif i == 1:
        if n.s1 is None:
            n.s1 = tensor_saved(t)
    elif n.s2 is None:
        n.s2 = tensor_saved(t)
    return 0


cdef int save_sparingly(Node n, tuple ins, TensorBase out, int uses, int how, object recipe) except -1:
    """Saves what the rule of n asks for, or the means to compute it again."""
    cdef Op op = n.op
    cdef Node p
    cdef TensorBase t
    cdef int i, count = n.n_in if n.n_in < 3 else 3
    for i in range(count):
        if uses >> i & 1:
            t = <TensorBase>ins[i]
            p = t.node
            if p is None or p.op is None:
                hold_input(n, i, t)
                continue
            n.lazy |= 1 << i
            if p.value is None and not p.derivable:
                p.value = tensor_saved(t)
    if how == HOW_INFER:
        how = HOW_LOST
        if op.elementwise and op.n_out == 1:
            if op.scalar_side:
                how = HOW_NUMBER if type(n.attrs) is float else HOW_LOST
            elif n.attrs is None and n.n_in == op.n_in:
                how = HOW_PLAIN
    if how != HOW_LOST and n.n_in <= 3:
        find_derivation(n, ins, out, uses, how, recipe)
    if uses & USES_OUT:
        n.lazy |= USES_OUT
        if not n.derivable:
            n.value = tensor_saved(out)
    return 0


cdef int find_derivation(Node n, tuple ins, TensorBase out, int uses, int how, object recipe) except -1:
    """Marks n as derivable where its output follows from what is kept, and holds what that takes."""
    cdef Op op = n.op
    cdef Node p
    cdef TensorBase t
    cdef int i, chain = 0, products = 0
    cdef bint view = how >= HOW_VIEW
    if not (view or op.recompute) or (how == HOW_VIEW and not (<TensorBase>ins[0]).contig):
        return 0
    for i in range(n.n_in):
        t = <TensorBase>ins[i]
        p = t.node
        if p is None:
            if not uses >> i & 1 and t.size * SMALL_PART > out.size:
                return 0
        elif p.op is not None and p.value is None:
            if not p.derivable:
                return 0
            chain = max(chain, p.chain)
            products = max(products, p.products)
    if op.recompute == RECOMPUTE_PRODUCT and not view:
        p = n.p0
        if products or p is None or p.op is None or p.value is not None:
            return 0
        products = 1
    if chain >= LONGEST_CHAIN:
        return 0
    for i in range(n.n_in):
        t = <TensorBase>ins[i]
        if t.node is None or t.node.op is None:
            hold_input(n, i, t)
    n.how = how
    n.recipe = recipe
    n.chain = chain + 1
    n.products = products
    n.derivable = 1
    return 0


cdef int provide(Node n) except -1:
    """Puts into place what the rule of n asks for."""
    if n.lazy & 1:
        n.s0 = value_of(n.p0)
    if n.lazy & 2:
        n.s1 = value_of(n.p1)
    if n.lazy & 4:
        n.s2 = value_of(n.p2)
    if n.lazy & USES_OUT:
        n.sout = value_of(n)
    n.lazy = 0
    return 0


cdef inline TensorBase input_value(Node n, int i):
    cdef Node p = n.p0 if i == 0 else (n.p1 if i == 1 else n.p2)
    if p is None or p.op is None:
        return n.s0 if i == 0 else (n.s1 if i == 1 else n.s2)
    return value_of(p)


cdef TensorBase value_of(Node n):
    """The output of a node, computed again where it was not kept; kept from then on."""
    cdef TensorBase a, out
    cdef TensorBase b = None
    cdef TensorBase c = None
    cdef int64_t dims[8]
    cdef int64_t steps[8]
    cdef int rank, i
    if n.value is not None:
        return n.value
    if not n.derivable or n.released:
        raise AutodiffError(f"[backward] the value of node {n.id} ({n.op.name}) is gone; compute the output again")
    a = input_value(n, 0)
    if n.n_in > 1:
        b = input_value(n, 1)
    if n.n_in > 2:
        c = input_value(n, 2)
    if n.how == HOW_PLAIN:
        out = apply_plain(n.op, a, b, c)
    elif n.how == HOW_NUMBER:
        out = scalar_plain(n.op, a, <double>n.attrs)
    elif n.how == HOW_APPLY:
        rank = read_dims(n.recipe[0], dims)
        out = tensor_empty(dims, rank, n.dtype, a.dev, CTX_PLAIN)
        run_op(n.op, (a,) if b is None else ((a, b) if c is None else (a, b, c)), (out,), n.recipe[1], n.recipe[2], n.attrs)
    elif n.how == HOW_VIEW:
        a = make_contiguous(a)
        rank = read_dims(n.recipe[0], dims)
        for i in range(rank):
            steps[i] = n.recipe[1][i]
        out = view_of(a, dims, steps, rank, a.offset + <int64_t>n.recipe[2])
    elif n.how == HOW_RESHAPE:
        rank = read_dims(n.recipe, dims)
        out = reshaped_value(a, dims, rank)
    else:
        rank = read_dims(n.recipe, dims)
        out = expand_to(a, dims, rank)
    n.value = tensor_saved(out)
    return n.value
