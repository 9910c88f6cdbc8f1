"""Enums whose variants hold a module each."""

import typing

from burn._annotations import own_annotations
from burn._arguments import described, fits, shown
from burn.errors import ModuleError

from .base import Module
from .declared import hints
from .display import Content
from .field import field


class EnumModule(Module):
    """Base of enums of modules: each annotation of the class is a variant that holds a module of that type.

    The variant's name is part of the paths of the parameters, and it is fixed once the module exists. The module in a
    variant is its attribute `module`. Mirrors a Rust enum with ``#[derive(Module)]``.

    >>> from burn.module import EnumModule, Module
    >>> class Small(Module):
    ...     def forward(self, x):
    ...         return x + 1
    >>> class Choice(EnumModule):
    ...     Small: Small
    ...     def forward(self, x):
    ...         return self.module(x)
    >>> choice = Choice.Small(Small())
    >>> isinstance(choice, Choice), choice(1)
    (True, 2)
    """

    __match_args__ = ("module",)
    _declares_fields = False  # the annotations of a subclass are variants

    def __init_subclass__(cls, **kwargs: typing.Any) -> None:
        super().__init_subclass__(**kwargs)
        if EnumModule in cls.__bases__:
            for name in own_annotations(cls):
                setattr(cls, name, _variant(cls, name))

    def __init__(self, *args, **kwargs):
        cls = type(self)
        raise ModuleError(
            f"[{cls.__name__}] cannot be made itself, only one of its variants: "
            f"{', '.join(f'{cls.__name__}.{name}(module)' for name in own_annotations(cls))}"
        )

    def _all_fields(self, content: Content) -> Content:
        return content.add("_0", self.module)

    def _close(self):
        base, name = type(self).__mro__[1], type(self).__name__
        hint = hints(base).get(name, Module)
        if not (isinstance(self.module, Module) and fits(self.module, hint)):
            raise ModuleError(f"[{base.__name__}.{name}] 'module' must be {described(hint)}, got {shown(self.module)}")
        super()._close()


def _variant(base: type, name: str) -> type:
    def __init__(self, module: Module | None = None):
        self.module = module

    namespace = {
        "__init__": __init__,
        "__module__": base.__module__,
        "__qualname__": f"{base.__qualname__}.{name}",
        "module": field(name=name),
        "_container_type": f"Enum:{base.__name__}",
        "__doc__": f"The variant ``{name}``.",
    }
    return type(base)(name, (base,), namespace)
