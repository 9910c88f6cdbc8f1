"""Walks over the parts of modules: one function a purpose, each told apart by the type of the value."""

from burn.errors import ModuleError
from burn.tensor import Tensor

from .flag import Flag
from .param import Param
from .running import RunningState


def visit_value(value, visitor, sequence: str | None = None) -> None:
    """Shows one part to a visitor."""
    kind = type(value)
    if kind is Param:
        getattr(visitor, _VISIT[value.kind])(value)
    elif kind is list or kind is tuple:
        container = sequence or ("Vec" if kind is list else "Tuple")
        for index, item in enumerate(value):
            visitor.enter_module(str(index), container)
            visit_value(item, visitor)
            visitor.exit_module(str(index), container)
    elif kind is Flag:
        visitor.visit_flag(value)
    elif kind is RunningState:
        visitor.visit_float(value.as_param())
    elif kind is not Tensor and value is not None:
        value.visit(visitor)


def map_value(value, mapper, sequence: str | None = None):
    """What a mapper makes of one part; the same object where nothing changed."""
    kind = type(value)
    if kind is Param:
        return getattr(mapper, _MAP[value.kind])(value)
    if kind is list or kind is tuple:
        container = sequence or ("Vec" if kind is list else "Tuple")
        items = []
        for index, item in enumerate(value):
            mapper.enter_module(str(index), container)
            items.append(map_value(item, mapper))
            mapper.exit_module(str(index), container)
        return kind(items)
    if kind is Flag:
        return mapper.map_flag(value)
    if kind is RunningState:
        return value.mapped(mapper.map_float(value.as_param()))
    if kind is Tensor or value is None:
        return value
    return value.map(mapper)


_VISIT = {"float": "visit_float", "int": "visit_int", "bool": "visit_bool"}
_MAP = {"float": "map_float", "int": "map_int", "bool": "map_bool"}

# What the methods of a module do to a plain tensor and to a flag in it.
_TENSOR = {
    "to_device": lambda tensor, device: tensor.to_device(device),
    "fork": lambda tensor, device: tensor.to_device(device),
    "valid": lambda tensor: tensor.inner(),
    "train": lambda tensor: tensor.autodiff(),
    "clone": lambda tensor: tensor,
}


def transform(value, method: str, args: tuple):
    """The part after ``to_device``, ``fork``, ``valid``, ``train`` or ``clone``."""
    kind = type(value)
    if kind is Param or kind is RunningState:
        try:
            return getattr(value, method)(*args)
        except Exception as error:
            error.param = value  # the caller finds its path
            raise
    if kind is Flag:
        return value if method in ("to_device", "fork") else getattr(value, method)()
    if kind is list or kind is tuple:
        return kind(transform(item, method, args) for item in value)
    if kind is Tensor:
        return _TENSOR[method](value, *args)
    if value is None:
        return value
    values = value.__dict__
    return value._with({attribute: transform(values[attribute], method, args) for attribute, _, _ in value._layout})


def parts(value, path: str = ""):
    """Every part below a value with its path, depth first: modules, parameters, flags, states and tensors."""
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from parts(item, f"{path}.{index}" if path else str(index))
    elif value is not None:
        yield path, value
        for attribute, name, _ in getattr(value, "_layout", None) or ():
            yield from parts(value.__dict__[attribute], f"{path}.{name}" if path else name)


def path_of(module, part) -> str:
    """The path of a part below a module."""
    return next((path for path, found in parts(module) if found is part), "")


def check_places(module) -> None:
    """Raises if one module, parameter, flag or state stands in two places."""
    seen = {}
    for path, part in parts(module):
        if type(part) is Tensor:
            continue
        first = seen.setdefault(id(part), path)
        if first is not path:
            raise ModuleError(
                f"[{type(module).__name__}] one {type(part).__name__} stands in two places, {first!r} and {path!r}: "
                "put a clone() of it into the second"
            )


def collect_devices(module, devices: list) -> None:
    """Appends the devices of all parts that are not in the list yet."""
    for _, part in parts(module):
        kind = type(part)
        if kind is Param or kind is RunningState:
            device = part.lazy_device()
        elif kind is Tensor:
            device = part.device
        else:
            continue
        if device not in devices:
            devices.append(device)
