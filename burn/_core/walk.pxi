# The walk over the fields of a module, one level of it: modules below are asked themselves (their visit or map may be of their
# own), lists, tuples and dicts are entered here. What the parts are, burn.module says.

cdef object part_param = None       # types
cdef object part_flag = None
cdef object part_state = None
cdef object part_tensor = None
cdef object quiet_visit = None      # enter_module of a visitor that does not care for it
cdef object quiet_map = None


def set_parts(param, number, flag, state, tensor, visitor, mapper):
    """Registers the types of a module's parts and of a parameter's id, and the base classes of visitors and mappers."""
    global part_param, part_flag, part_state, part_tensor, quiet_visit, quiet_map
    part_param, part_flag, part_state, part_tensor = param, flag, state, tensor
    quiet_visit, quiet_map = visitor.enter_module, mapper.enter_module
    find_slots(param, number)


def visit_fields(dict values, layout, str container, visitor):
    """Shows the fields that the layout names to a visitor."""
    cdef bint quiet = getattr(type(visitor), "enter_module", None) is quiet_visit
    for attribute, name, sequence in layout:
        if not quiet:
            visitor.enter_module(name, container)
        visit_part(values[attribute], visitor, sequence, quiet)
        if not quiet:
            visitor.exit_module(name, container)


cdef int visit_part(object value, object visitor, object sequence, bint quiet) except -1:
    cdef Py_ssize_t i
    kind = type(value)
    if kind is part_param:
        adapter = <object>BURN_SLOT(value, slot_adapter)
        if adapter is not None:
            visitor.visit_float(value._bare())
            if not quiet:
                visitor.enter_module(adapter.NAME, "Reparameterization")
            adapter.visit(visitor)
            if not quiet:
                visitor.exit_module(adapter.NAME, "Reparameterization")
        elif value.kind == "float":
            visitor.visit_float(value)
        elif value.kind == "int":
            visitor.visit_int(value)
        else:
            visitor.visit_bool(value)
    elif kind is list or kind is tuple:
        container = sequence or ("Vec" if kind is list else "Tuple")
        for i, item in enumerate(value):
            if not quiet:
                visitor.enter_module(str(i), container)
            visit_part(item, visitor, None, quiet)
            if not quiet:
                visitor.exit_module(str(i), container)
    elif kind is dict:
        for key, item in value.items():
            if not quiet:
                visitor.enter_module(key, "Dict")
            visit_part(item, visitor, None, quiet)
            if not quiet:
                visitor.exit_module(key, "Dict")
    elif kind is part_flag:
        visitor.visit_flag(value)
    elif kind is part_state:
        visitor.visit_float(value.as_param())
    elif kind is not part_tensor and value is not None:
        value.visit(visitor)
    return 0


def map_fields(dict values, layout, str container, mapper):
    """The fields that a mapper changes, by attribute."""
    cdef bint quiet = getattr(type(mapper), "enter_module", None) is quiet_map
    cdef dict changed = {}
    for attribute, name, sequence in layout:
        old = values[attribute]
        if not quiet:
            mapper.enter_module(name, container)
        new = map_part(old, mapper, sequence, quiet)
        if not quiet:
            mapper.exit_module(name, container)
        if new is not old:
            changed[attribute] = new
    return changed


cdef object map_part(object value, object mapper, object sequence, bint quiet):
    cdef Py_ssize_t i
    cdef list items
    cdef dict entries
    kind = type(value)
    if kind is part_param:
        adapter = <object>BURN_SLOT(value, slot_adapter)
        if adapter is not None:
            return map_adapted(value, adapter, mapper, quiet)
        if value.kind == "float":
            return mapper.map_float(value)
        return mapper.map_int(value) if value.kind == "int" else mapper.map_bool(value)
    if kind is list or kind is tuple:
        container = sequence or ("Vec" if kind is list else "Tuple")
        items = []
        for i, item in enumerate(value):
            if not quiet:
                mapper.enter_module(str(i), container)
            items.append(map_part(item, mapper, None, quiet))
            if not quiet:
                mapper.exit_module(str(i), container)
        return items if kind is list else tuple(items)
    if kind is dict:
        entries = {}
        for key, item in value.items():
            if not quiet:
                mapper.enter_module(key, "Dict")
            entries[key] = map_part(item, mapper, None, quiet)
            if not quiet:
                mapper.exit_module(key, "Dict")
        return entries
    if kind is part_flag:
        return mapper.map_flag(value)
    if kind is part_state:
        return value.mapped(mapper.map_float(value.as_param()))
    if kind is part_tensor or value is None:
        return value
    return value.map(mapper)


cdef object map_adapted(object value, object adapter, object mapper, bint quiet):
    """A reparameterized parameter: what is stored of it and what is attached to it are mapped each on its own."""
    stored = value._bare()
    base = mapper.map_float(stored)
    if not quiet:
        mapper.enter_module(adapter.NAME, "Reparameterization")
    attached = adapter.map(mapper)
    if not quiet:
        mapper.exit_module(adapter.NAME, "Reparameterization")
    return value if base is stored and attached is adapter else base._adapted(attached)
