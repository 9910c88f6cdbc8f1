"""The fields that a module class declares by annotations: their types, and the constructor that follows from them."""

import functools
import inspect
import types
import typing

from burn._annotations import own_annotations
from burn._arguments import described, fits, shown
from burn.errors import ModuleError
from burn.tensor import Tensor

from .field import NO_MARK, FieldInfo
from .param import Param


@functools.cache
def hints(cls: type) -> dict:
    """The annotations of a class and its bases as types; none where one of them names what is not known here."""
    try:
        return typing.get_type_hints(cls)
    except (NameError, TypeError):
        return {}


@functools.cache
def declared(cls: type) -> dict:
    """The annotations of a class and its bases, bases first."""
    return {name: hint for base in reversed(cls.__mro__) for name, hint in own_annotations(base).items()}


@functools.cache
def field_names(cls: type) -> tuple[str, ...]:
    """The annotated fields in order, without what belongs to the class."""
    return tuple(name for name, hint in declared(cls).items() if not _of_class(hint))


@functools.cache
def _required(cls: type) -> tuple[str, ...]:
    """The annotated fields that the class has no value for."""
    return tuple(name for name in field_names(cls) if not hasattr(cls, name))


@functools.cache
def _types(cls: type) -> dict:
    """The types that values are held against when a module is made."""
    known = hints(cls)
    return {name: known[name] for name in field_names(cls) if name in known}


@functools.cache
def _methods(cls: type) -> frozenset[str]:
    """The names of methods and properties of a class."""
    kinds = (types.FunctionType, staticmethod, classmethod, property)
    return frozenset(name for base in cls.__mro__ for name, value in vars(base).items() if isinstance(value, kinds))


def _of_class(hint) -> bool:
    text = hint if isinstance(hint, str) else getattr(hint, "__forward_arg__", None)
    if text is not None:
        return text.startswith(("ClassVar", "typing.ClassVar"))
    return hint is typing.ClassVar or typing.get_origin(hint) is typing.ClassVar


def constructor(cls: type, marks: dict[str, FieldInfo]):
    """An `__init__` that takes the declared fields in their order, as a Rust struct is written down.

    A value in the class body is the field's default.
    """
    parameters = []
    for name in field_names(cls):
        default = marks[name].default if name in marks else getattr(cls, name, inspect.Parameter.empty)
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        if default is inspect.Parameter.empty and parameters and parameters[-1].default is not default:
            kind = inspect.Parameter.KEYWORD_ONLY
        elif parameters and parameters[-1].kind is inspect.Parameter.KEYWORD_ONLY:
            kind = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(name, kind, default=default))
    signature = inspect.Signature(parameters)

    def __init__(self, *args, **kwargs):
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ModuleError(f"[{cls.__name__}] {error}; its fields are {', '.join(signature.parameters)}") from None
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            setattr(self, name, value)

    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    __init__.__module__ = cls.__module__
    __init__.__signature__ = signature.replace(
        parameters=[inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY), *parameters]
    )
    return __init__


def check_fields(cls: type, values: dict, marks: dict[str, FieldInfo]) -> None:
    """Raises unless the fields of a module are all there, and are what the class declares."""
    for name in _required(cls):
        if name not in values:
            raise ModuleError(
                f"[{cls.__name__}] the field {name!r} was never set: assign it in __init__, None if it may stay empty"
            )
    for name in values.keys() & _methods(cls):
        raise ModuleError(
            f"[{cls.__name__}] the field {name!r} would hide the method of that name: call it {name + '_'!r}; with "
            f"`{name}_ = field(name={name!r})` in the class body its name in paths is still {name!r}"
        )
    for name, hint in _types(cls).items():
        value = values.get(name)
        if type(value) is hint or name not in values or marks.get(name, NO_MARK).skip or fits(value, hint):
            continue
        path, value, hint = misfit(f"{cls.__name__}.{name}", value, hint)
        raise ModuleError(
            f"[{cls.__name__}] {path!r} must be {described(hint)}, got {shown(value)}{remedy(value, hint)}"
        )
    for name, value in values.items():
        if marks.get(name, NO_MARK).skip:
            if type(value) is Param:
                raise ModuleError(
                    f"[{cls.__name__}] '{cls.__name__}.{name}' is skipped and cannot hold a Param, which would be neither "
                    "trained nor recorded: drop field(skip=True), or keep the tensor alone"
                )
        elif type(value) is Tensor and value.is_require_grad():
            raise ModuleError(
                f"[{cls.__name__}] '{cls.__name__}.{name}' must not require a gradient, it is a plain tensor and would "
                "never be trained: wrap it with Param.from_tensor(tensor), or detach() it"
            )


def misfit(path: str, value, hint) -> tuple:
    """What does not fit an annotation: the value itself, or the first part of a list, tuple or dict; its path first."""
    kind, arguments = typing.get_origin(hint), typing.get_args(hint)
    parts = enumerate(value) if kind in (list, tuple) and isinstance(value, list | tuple) else ()
    if kind is dict and isinstance(value, dict):
        parts = value.items()
    elif kind is tuple and arguments[-1] is not ...:
        parts = ()  # the parts have types of their own, and a number
    for key, part in parts:
        wanted = arguments[1] if kind is dict else arguments[0]
        if not fits(part, wanted):
            return misfit(f"{path}.{key}", part, wanted)
    return path, value, hint


def remedy(value, hint) -> str:
    """What to do where a tensor stands in the place of a parameter."""
    wants = hint is Param or Param in typing.get_args(hint)
    return "; wrap it with Param.from_tensor(tensor)" if wants and type(value) is Tensor else ""
