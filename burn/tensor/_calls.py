"""Words for calls that do not fit the signature of a public function: which argument is missing, unknown or too many.

A right call pays for this with one C call; `burn/_core/method.h` tells how a wrong one is noticed.
"""

import types
from inspect import Parameter, signature

from burn._arguments import rename, shown
from burn._core import core
from burn._hints import teaching
from burn.errors import ArgumentTypeError, BurnError

__all__ = ["compiled", "teach_class", "teach_constructor", "teach_constructors", "teach_functions", "teach_layer"]

_METHODS: set[str] = set()  # the names of those of Tensor
_LAYER = "(...)."  # between a class and its function in the form of a call


def teach_class(cls):
    """Gives the public methods of a class, those of its bases in burn included, words for wrong calls."""
    for base in cls.__mro__:
        if not base.__module__.startswith("burn.tensor."):
            continue
        for name, value in list(vars(base).items()):
            wrap = type(value) if isinstance(value, staticmethod | classmethod) else None
            func = value.__func__ if wrap else value
            if not name.startswith("_") and isinstance(func, types.FunctionType):
                form = f"{cls.__name__ if wrap else 'x'}.{name}"
                made = _taught(func, form, name, f"{cls.__qualname__}.{name}", cls.__module__)
                setattr(base, name, wrap(made) if wrap else made)
                _METHODS.add(name)


def teach_functions(namespace):
    """Gives the functions that a module lists in `__all__` words for wrong calls, and the module words for names that it lacks;
    namespace is its `globals()`."""
    namespace.setdefault("__getattr__", teaching(namespace["__name__"]))
    for name in namespace["__all__"]:
        func = namespace[name]
        if isinstance(func, types.FunctionType):
            namespace[name] = _taught(func, name, name, name, func.__module__)


def teach_layer(name, namespace):
    """Gives the forward functions in the body of a layer's class words for wrong calls; they begin with the layer's name."""
    for key, func in namespace.items():
        if (
            key.startswith("forward")
            and isinstance(func, types.FunctionType)
            and not hasattr(func, "__isabstractmethod__")
        ):
            namespace[key] = _taught(func, f"{name}{_LAYER}{key}", key, func.__qualname__, func.__module__)


def teach_constructor(cls):
    """Gives the `__init__` in the body of a class, and functions as `init`, words for wrong calls; they begin with its name."""
    for key, func in list(vars(cls).items()):
        if key == "__init__" or key.startswith("init"):
            _teach(cls, key, func)


def teach_constructors(namespace, methods=False):
    """`teach_constructor` of the classes in the `__all__` of a module that no metaclass makes; namespace is its `globals()`.

    With ``methods`` their public methods are taught too.
    """
    for name in namespace["__all__"]:
        cls = namespace[name]
        if not isinstance(cls, type) or type(cls).__call__ is not type.__call__ or issubclass(cls, BaseException):
            continue
        for key, func in list(vars(cls).items()):
            if key == "__init__" or (methods and not key.startswith("_")):
                _teach(cls, key, func)


def _teach(cls, key, func):
    if isinstance(func, types.FunctionType) and not hasattr(func, "__isabstractmethod__"):
        setattr(cls, key, _taught(func, f"{cls.__name__}{_LAYER}{key}", key, func.__qualname__, func.__module__))


def compiled(run, op, *tail):
    """Decorator of a public function: run(op, *arguments, *tail) of the core is tried before it, and gives None where it does
    not fit. Only arguments by position are taken so, and with a tail only all of them.
    """

    def mark(func):
        func.compiled = run, op, tail
        return func

    return mark


def _compiled(func):
    """What `core.taught` needs to know of a compiled path."""
    if "compiled" not in vars(func):
        return None
    run, op, tail = func.compiled
    names = signature(func).parameters.values()
    listed = [p for p in names if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    most = 1 << 30 if any(p.kind is Parameter.VAR_POSITIONAL for p in names) else len(listed)
    least = len(listed) if tail else sum(p.default is p.empty for p in listed)
    return run, op, tail, least, most


def _taught(func, form, name, qualname, module):
    made = core.taught(func, form, vars(func).get("op"), _compiled(func))
    made.__name__, made.__qualname__, made.__module__ = name, qualname, module
    made.__doc__, made.__annotations__, made.__wrapped__ = func.__doc__, func.__annotations__, func
    return made


def _words(func, form, args, kwargs, refusal):
    """The exception for arguments that func refuses; form is how it is called: `x.sort`, `softmax`, `Linear(...).forward`."""
    if _LAYER in form and args:  # a layer may have inherited it
        form = f"{type(args[0]).__name__}{_LAYER}{form.partition(_LAYER)[2]}"
    names = list(signature(func).parameters.values())
    if names and names[0].name in ("self", "cls") and "." in form:
        names, args = names[1:], args[1:]
    op = _op_of(form)
    listed = [p for p in names if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    called = op if form.endswith(".__init__") else form
    shown_call = f"{called}({', '.join(map(_shown, names))})"
    if form.startswith("x.") and not listed and op + "_dim" in _METHODS:
        shown_call += f", or x.{op}_dim(dim) for one axis"
    for key in kwargs.keys() - {p.name for p in names}:
        return ArgumentTypeError(f"[{op}] takes no argument {key!r}, got {key}={shown(kwargs[key])}; call {shown_call}")
    rest = next((p.name for p in names if p.kind is Parameter.VAR_POSITIONAL), None)
    if rest in kwargs:
        return ArgumentTypeError(
            f"[{op}] {rest!r} must be given by position, got {rest}={shown(kwargs[rest])}; call {shown_call}"
        )
    if len(args) > len(listed):
        return ArgumentTypeError(
            f"[{op}] takes {_count(len(listed))} by position, got {_count(len(args))} with {shown(args[len(listed)])}; call "
            f"{shown_call}"
        )
    for at, p in enumerate(names):
        given = at < len(args) if p.kind is Parameter.POSITIONAL_OR_KEYWORD else False
        if given and p.name in kwargs:
            return ArgumentTypeError(
                f"[{op}] {p.name!r} must be given once, got {shown(args[at])} and {shown(kwargs[p.name])}"
            )
        if not given and p.name not in kwargs and p.default is p.empty and p.kind is not Parameter.VAR_POSITIONAL:
            return ArgumentTypeError(f"[{op}] missing argument {p.name!r}; call {shown_call}")
    return refusal


def _op_of(form):
    """What the message begins with: the operation, or the layer."""
    return form.partition(_LAYER)[0] if _LAYER in form else form.rpartition(".")[2]


def _shown(parameter):
    if parameter.kind is Parameter.VAR_POSITIONAL:
        return f"*{parameter.name}"
    default = "" if parameter.default is parameter.empty else f"={shown(parameter.default)}"
    return parameter.name + default


def _count(n):
    return "no argument" if n == 0 else "1 argument" if n == 1 else f"{n} arguments"


def _rename(func, form, error):
    """Operations are made of others: the error names the one that was called, and its argument."""
    if _LAYER in form:
        return
    if "." in form:
        rename(error, _op_of(form))
    else:
        rename(error, _op_of(form), self=next(iter(signature(func).parameters)))


core.set_words(_words, _rename, BurnError)
