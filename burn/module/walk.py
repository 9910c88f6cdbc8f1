"""Walks over the parts of modules: one function a purpose, each told apart by the type of the value.

Those of visitors and mappers are compiled (`burn/_core/walk.pxi`).
"""

from burn._core import core
from burn.errors import ModuleError
from burn.tensor import Tensor

from .flag import Flag
from .param import Param
from .param_id import ParamId
from .running import RunningState
from .visitor import ModuleMapper, ModuleVisitor, PathTracking

core.set_parts(Param, ParamId, Flag, RunningState, Tensor, ModuleVisitor, ModuleMapper, PathTracking)

# What the methods of a module do to a plain tensor and to a flag in it.
_TENSOR = {
    "to_device": lambda tensor, device: tensor.to_device(device),
    "fork": lambda tensor, device: tensor.to_device(device),
    "valid": lambda tensor: tensor.inner(),
    "train": lambda tensor: tensor.autodiff(),
    "clone": lambda tensor: tensor,
    "materialize": lambda tensor: tensor,
}


def transform(value, method: str, args: tuple):
    """The part after ``to_device``, ``fork``, ``valid``, ``train``, ``clone`` or ``materialize``."""
    kind = type(value)
    if kind is Param or kind is RunningState:
        if kind is RunningState and method == "materialize":
            method = "clone"
        try:
            return getattr(value, method)(*args)
        except Exception as error:
            error.param = value  # the caller finds its path
            raise
    if kind is Flag:
        return value if method in ("to_device", "fork", "materialize") else getattr(value, method)()
    if kind is list or kind is tuple:
        return kind(transform(item, method, args) for item in value)
    if kind is dict:
        return {key: transform(item, method, args) for key, item in value.items()}
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
    elif type(value) is dict:
        for key, item in value.items():
            yield from parts(item, f"{path}.{key}" if path else key)
    elif value is not None:
        yield path, value
        if type(value) is Param:
            if value._adapter is not None:
                yield from parts(value._adapter, f"{path}.{value._adapter.NAME}" if path else value._adapter.NAME)
            return
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
                "keep it in one of them and use it from there, or build the second from its configuration"
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
