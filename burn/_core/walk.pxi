# The walk over the fields of a module, one level of it: modules below are asked themselves (their visit or map may be of their
# own), lists, tuples and dicts are entered here. What the parts are, burn.module says.

cdef object part_param = None       # types
cdef object part_flag = None
cdef object part_state = None
cdef object part_tensor = None
cdef object quiet_visit = None      # enter_module of a visitor that does not care for it
cdef object quiet_map = None
cdef object tracking_enter = None   # enter_module and exit_module of PathTracking
cdef object tracking_exit = None


def set_parts(param, number, flag, state, tensor, visitor, mapper, tracking):
    """Registers the types of a module's parts and of a parameter's id, and the base classes of visitors and mappers."""
    global part_param, part_flag, part_state, part_tensor, quiet_visit, quiet_map, tracking_enter, tracking_exit
    part_param, part_flag, part_state, part_tensor = param, flag, state, tensor
    quiet_visit, quiet_map = visitor.enter_module, mapper.enter_module
    tracking_enter, tracking_exit = tracking.enter_module, tracking.exit_module
    keep_params(param, number)


cdef object places_of(object walker, object quiet):
    """How a visitor or mapper hears of places: None does not, a list has the names, else its hooks are called."""
    kind = type(walker)
    enter = getattr(kind, "enter_module", None)
    if enter is quiet:
        return None
    if enter is tracking_enter and getattr(kind, "exit_module", None) is tracking_exit:
        return walker._names
    return walker


cdef int enter_place(object places, object name, object container) except -1:
    if places is not None:
        if type(places) is list:
            (<list>places).append(name)
        else:
            places.enter_module(name, container)
    return 0


cdef int exit_place(object places, object name, object container) except -1:
    if places is not None:
        if type(places) is list:
            (<list>places).pop()
        else:
            places.exit_module(name, container)
    return 0


def visit_fields(dict values, layout, str container, visitor):
    """Shows the fields that the layout names to a visitor."""
    places = places_of(visitor, quiet_visit)
    for attribute, name, sequence in layout:
        enter_place(places, name, container)
        visit_part(values[attribute], visitor, sequence, places)
        exit_place(places, name, container)


cdef int visit_part(object value, object visitor, object sequence, object places) except -1:
    cdef Py_ssize_t i
    cdef str held
    kind = type(value)
    if kind is part_param:
        adapter = <object>PARAM_PART(value, PARAM_ADAPTER)
        if adapter is not None:
            visitor.visit_float(value._bare())
            enter_place(places, adapter.NAME, "Reparameterization")
            adapter.visit(visitor)
            exit_place(places, adapter.NAME, "Reparameterization")
            return 0
        held = <str>PARAM_PART(value, PARAM_KIND)
        if held == "float":
            visitor.visit_float(value)
        elif held == "int":
            visitor.visit_int(value)
        else:
            visitor.visit_bool(value)
    elif kind is list or kind is tuple:
        container = sequence or ("Vec" if kind is list else "Tuple")
        for i, item in enumerate(value):
            name = None if places is None else str(i)
            enter_place(places, name, container)
            visit_part(item, visitor, None, places)
            exit_place(places, name, container)
    elif kind is dict:
        for name, item in value.items():
            enter_place(places, name, "Dict")
            visit_part(item, visitor, None, places)
            exit_place(places, name, "Dict")
    elif kind is part_flag:
        visitor.visit_flag(value)
    elif kind is part_state:
        visitor.visit_float(value.as_param())
    elif kind is not part_tensor and value is not None:
        value.visit(visitor)
    return 0


def map_fields(dict values, layout, str container, mapper):
    """The fields that a mapper changes, by attribute."""
    cdef dict changed = {}
    places = places_of(mapper, quiet_map)
    for attribute, name, sequence in layout:
        old = values[attribute]
        enter_place(places, name, container)
        new = map_part(old, mapper, sequence, places)
        exit_place(places, name, container)
        if new is not old:
            changed[attribute] = new
    return changed


cdef object mapped(object new, object kind, str hook):
    """What a hook of a mapper gave, which must be of the kind that it was given."""
    if type(new) is not kind:
        from burn.errors import ModuleError

        given, wanted = type(new).__name__, kind.__name__
        remedy = "flag.with_value(value)" if kind is part_flag else "param.map(f) or param.with_value(tensor)"
        raise ModuleError(f"[map] {hook!r} must return a {wanted}, got {given}; use {remedy}, or return what it was given")
    return new


cdef object map_part(object value, object mapper, object sequence, object places):
    cdef Py_ssize_t i
    cdef str held
    cdef list items
    cdef dict entries
    kind = type(value)
    if kind is part_param:
        adapter = <object>PARAM_PART(value, PARAM_ADAPTER)
        if adapter is not None:
            return map_adapted(value, adapter, mapper, places)
        held = <str>PARAM_PART(value, PARAM_KIND)
        if held == "float":
            if isinstance(mapper, Stepper):
                return mapped(step_param(<Stepper>mapper, value), part_param, "map_float")
            return mapped(mapper.map_float(value), part_param, "map_float")
        if held == "int":
            return mapped(mapper.map_int(value), part_param, "map_int")
        return mapped(mapper.map_bool(value), part_param, "map_bool")
    if kind is list or kind is tuple:
        container = sequence or ("Vec" if kind is list else "Tuple")
        items = []
        for i, item in enumerate(value):
            name = None if places is None else str(i)
            enter_place(places, name, container)
            items.append(map_part(item, mapper, None, places))
            exit_place(places, name, container)
        return items if kind is list else tuple(items)
    if kind is dict:
        entries = {}
        for name, item in value.items():
            enter_place(places, name, "Dict")
            entries[name] = map_part(item, mapper, None, places)
            exit_place(places, name, "Dict")
        return entries
    if kind is part_flag:
        return mapped(mapper.map_flag(value), part_flag, "map_flag")
    if kind is part_state:
        return value.mapped(mapped(mapper.map_float(value.as_param()), part_param, "map_float"))
    if kind is part_tensor or value is None:
        return value
    return value.map(mapper)


cdef object map_adapted(object value, object adapter, object mapper, object places):
    """A reparameterized parameter: what is stored of it and what is attached to it are mapped each on its own."""
    stored = value._bare()
    base = mapped(mapper.map_float(stored), part_param, "map_float")
    enter_place(places, adapter.NAME, "Reparameterization")
    attached = adapter.map(mapper)
    exit_place(places, adapter.NAME, "Reparameterization")
    return value if base is stored and attached is adapter else base._adapted(attached)
