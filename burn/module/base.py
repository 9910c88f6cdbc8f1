"""The base of all modules."""

import abc
import copy
import html
import inspect
import sys
import typing
from types import FunctionType

from burn._annotations import allows_none, own_annotations
from burn._arguments import described, fits, instance, shown, truth
from burn._arguments import device as check_device
from burn._core import core
from burn._waiting import lack_waiting
from burn._waiting import shown as without_lacks
from burn.errors import ArgumentTypeError, AutodiffError, BurnError, ModuleError
from burn.tensor import Tensor
from burn.tensor._calls import teach_layer

from .adapted import ModuleReparameterization
from .declared import check_fields, constructor, declared, hints
from .display import Content, DisplaySettings, nested, render
from .field import NO_MARK, FieldInfo, field, holds_parts, own_parts, refusal
from .flag import Flag
from .foreign import lack_foreign
from .group import ParamGroup
from .param import Param
from .records import ModuleRecords
from .snapshot import ModuleSnapshot
from .visitor import ModuleMapper, ModuleVisitor, PathTracking
from .walk import check_places, collect_devices, path_of, transform

_TAUGHT = type(Tensor.exp)  # of functions with words for wrong calls


class FrozenModuleError(ModuleError, AttributeError):
    """A field of a finished module was assigned or deleted."""


def _call_forward(self, *args, **kwargs):
    """The forward pass."""
    forward = getattr(self, "forward", None)
    if forward is None:
        raise ModuleError(f"[{type(self).__name__}] the module cannot be called: it has no method 'forward'")
    return forward(*args, **kwargs)


def _taught(cls: "_ModuleMeta", error: Exception, args: tuple, kwargs: dict) -> Exception | None:
    """The error of a constructor with words on how a module is made; None if it speaks for itself, or is of a user's module."""
    ours, name = cls.__module__.startswith("burn."), cls.__name__
    refused = isinstance(error, TypeError) and _depth(error) == 1  # by the signature
    if isinstance(error, BurnError):
        about = isinstance(error, TypeError | ModuleError) and str(error).startswith(f"[{name}]")
    else:
        about = refused or (ours and isinstance(error, TypeError | ValueError | AttributeError))
    config = getattr(sys.modules[cls.__module__], name + "Config", None)
    if not about or inspect.isabstract(cls) or (config is None and (isinstance(error, BurnError) or not ours)):
        return None
    text = str(error).removeprefix(f"[{name}] ").removeprefix(f"{name}.__init__() ").removeprefix(f"{name}() ")
    if not refused and not isinstance(error, BurnError):
        given = [shown(value) for value in args] + [f"{key}={shown(value)}" for key, value in kwargs.items()]
        text = f"cannot be made of {', '.join(given)}: {text}"
    takes = inspect.Signature([p.replace(annotation=p.empty) for p in cls.__signature__.parameters.values()])
    remedy = f"call {name}{takes}" if config is None else f"make one with {config.__name__}(...).init()"
    return (ModuleError if isinstance(error, ModuleError) else ArgumentTypeError)(f"[{name}] {text}; {remedy}")


def _depth(error: Exception) -> int:
    """How many frames an error came through, that of the call of the class included."""
    frames, at = 0, error.__traceback__
    while at is not None:
        frames, at = frames + 1, at.tb_next
    return frames


@typing.dataclass_transform(field_specifiers=(field,))
class _ModuleMeta(abc.ABCMeta):
    """Collects the marks of a class body, makes its `__init__` and its call, and closes a module after its `__init__`."""

    def __new__(meta, name, bases, namespace, **kwargs):
        marks = {key: value for key, value in namespace.items() if isinstance(value, FieldInfo)}
        for key in marks:
            del namespace[key]
        if namespace["__module__"].startswith("burn."):
            teach_layer(name, namespace)
        cls = super().__new__(meta, name, bases, namespace, **kwargs)
        for base in cls.__mro__[1:]:
            marks = {**getattr(base, "_marks", {}), **marks}
        cls._marks = marks
        if "_container_type" not in namespace:
            type.__setattr__(cls, "_container_type", f"Struct:{name}")
        if cls.__init__ is object.__init__ or hasattr(cls.__init__, "_of_fields"):
            if getattr(cls, "_declares_fields", True) and own_annotations(cls):
                cls.__init__ = constructor(cls, marks)
                cls.__init__._of_fields = True
        cls._alias_call()
        return cls

    def _alias_call(cls):
        """Makes `__call__` the forward pass itself, without a Python frame in between, unless a class defines it."""
        owner = {name: next((c for c in cls.__mro__ if name in c.__dict__), None) for name in ("forward", "__call__")}
        forward, call = owner["forward"], owner["__call__"]
        ours = call is None or call.__dict__["__call__"] in (_call_forward, call.__dict__.get("forward"))
        function = None if forward is None else forward.__dict__["forward"]
        if ours and forward is not call and isinstance(function, FunctionType | _TAUGHT):
            type.__setattr__(cls, "__call__", function)

    @property
    def __signature__(cls):
        """What a call of the class takes: what its `__init__` does."""
        if cls.__init__ is object.__init__:
            return inspect.Signature()
        signature = inspect.signature(cls.__init__)
        return signature.replace(parameters=list(signature.parameters.values())[1:])

    def __dir__(cls):
        return without_lacks(cls, super().__dir__())

    def __setattr__(cls, name, value):
        super().__setattr__(name, value)
        if name == "forward":
            super().__setattr__("__call__", value)

    def __call__(cls, *args, **kwargs):
        try:
            module = cls.__new__(cls, *args, **kwargs)
            _set_layout(module, None)
            module.__init__(*args, **kwargs)
            module._close()
        except RecursionError as error:
            raise ModuleError(
                f"[{cls.__name__}] the fields of a module must not hold themselves, nor lie in too many others: {error}"
            ) from None
        except Exception as error:
            taught = _taught(cls, error, args, kwargs)
            if taught is None:
                raise
            raise taught from None
        return module


class Module(ModuleRecords, ModuleReparameterization, ModuleSnapshot, metaclass=_ModuleMeta):
    """Base of all modules: a container of parameters, other modules and constants.

    Fields are assigned in `__init__`, in the order that records and the printed form have, and stay as they are
    afterwards: every method that changes something returns a new module, `replace(field=value)` among them. A class
    that annotates its fields and has no `__init__` gets one that takes them. A field holds a Param, a Flag, a
    RunningState, a Tensor (a constant that moves with the module), a Module, a list, tuple or dict of these (the keys
    are texts without dots), None, or a plain constant; anything else is marked with ``name = field(skip=True)`` in the
    class body. Calling a module calls its `forward`.

    Copies share what parameters hold; `copy.deepcopy` also copies constants and skipped values. A module that was pickled
    comes back on plain devices, with its trainability: `train()` makes it one for training again.

    Mirrors `burn::module::Module`.

    >>> from burn.module import Module, Param
    >>> from burn.device import Device
    >>> class Scale(Module):
    ...     def __init__(self, device):
    ...         self.weight = Param.from_data([2.0, 3.0], device)
    ...     def forward(self, x):
    ...         return x * self.weight.val()
    >>> device = Device.flex()
    >>> scale = Scale(device)
    >>> scale(Tensor([1.0, 1.0], device)).tolist(), scale.num_params(), scale.devices()
    ([2.0, 3.0], 2, [Device<Flex(Cpu)>])
    >>> scale.replace(weight=scale.weight.map(lambda w: w * 10.0)).weight.val().tolist()
    [20.0, 30.0]
    >>> model = scale.train()  # and back: model.valid()
    >>> model.no_grad().weight.is_active(), model.freeze().unfreeze().weight.is_active(), model.valid().weight.is_autodiff()
    (False, True, False)
    >>> copy = scale.clone().to_device(device).fork(device)
    >>> record = scale.into_record()
    >>> record.paths(), copy.load_record(record).weight.val().tolist()
    (['weight'], [2.0, 3.0])
    """

    # The fields are the instance's `__dict__`; `_layout` lists those to visit as (attribute, name, container type).
    __slots__ = ("__dict__", "__weakref__", "_layout")

    __call__ = _call_forward

    def replace(self, **fields) -> typing.Self:
        """A module with other values in the named fields; everything else is shared.

        Args:
            fields: new values by the name of the field.

        Raises:
            ModuleError: the module has no such field, or the value is not what the field takes.
        """
        values = self.__dict__
        for name, value in fields.items():
            if name not in values:
                raise ModuleError(
                    f"[replace] {name!r} must be a field of {type(self).__name__}, its fields are {', '.join(values)}"
                )
            self._check_field(name, value)
        module = object.__new__(type(self))
        # An empty mapper shares the parameters and copies what changes in place: running states and lists.
        module.__dict__.update(self.map(ModuleMapper()).__dict__)
        module.__dict__.update(fields)
        module._close()
        return module

    def devices(self) -> list:
        """The devices of all parts in order of first appearance, each once; nothing is initialised."""
        return self.collect_devices([])

    def collect_devices(self, devices: list) -> list:
        """Appends the devices that are not in the list yet, and returns it.

        Args:
            devices: the list, which is changed.

        >>> from burn.nn import LinearConfig
        >>> LinearConfig(2, 1).init(burn.Device.flex()).collect_devices([])
        [Device<Flex(Cpu)>]
        """
        collect_devices(self, devices)
        return devices

    def to_device(self, device) -> typing.Self:
        """The module on another device; gradients flow back to this one, so the result cannot be optimised.

        Parameters that are not initialised yet, and have no clones, just change where they initialise.

        Args:
            device: a Device; None is the default one.
        """
        return self._transform("to_device", check_device("to_device", device))

    def fork(self, device) -> typing.Self:
        """An independent module on another device, ready to be trained there.

        Args:
            device: a Device; None is the default one.
        """
        return self._transform("fork", check_device("fork", device))

    def valid(self) -> typing.Self:
        """The module for inference: without autodiff, its flags off. Parameters are initialised."""
        return self._transform("valid")

    def train(self) -> typing.Self:
        """The module for training: with autodiff, active parameters require gradients, flags as configured.

        Raises:
            AutodiffError: a parameter is the result of recorded operations; the message names it.
        """
        return self._transform("train")

    def clone(self) -> typing.Self:
        """An independent module with the same ids; parameters share their tensors, initialised or not."""
        return self._transform("clone")

    def set_require_grad(self, require_grad: bool) -> typing.Self:
        """Switches the training of every Float parameter on or off; flags stay.

        Args:
            require_grad: whether they are trained.

        >>> from burn.nn import LinearConfig
        >>> LinearConfig(2, 1).init().set_require_grad(False).weight.is_active()
        False
        """
        return self.map(_Switch("set_require_grad", ParamGroup.all(), require_grad, flags=False))

    def set_require_grad_group(self, group: ParamGroup, require_grad: bool) -> typing.Self:
        """Switches the training of the Float parameters of a group on or off; flags stay.

        Args:
            group: which parameters.
            require_grad: whether they are trained.

        >>> from burn.nn import LinearConfig
        >>> model = LinearConfig(2, 1).init().set_require_grad_group(ParamGroup.from_path("bias"), False)
        >>> model.weight.is_active(), model.bias.is_active()
        (True, False)
        """
        return self.map(_Switch("set_require_grad_group", group, require_grad, flags=False))

    def no_grad(self) -> typing.Self:
        """No Float parameter is trained; flags stay. The same as ``set_require_grad(False)``."""
        return self.set_require_grad(False)

    def freeze(self) -> typing.Self:
        """No Float parameter is trained and every flag is off, now and after `train()`."""
        return self.map(_Switch("freeze", ParamGroup.all(), False, flags=True))

    def unfreeze(self) -> typing.Self:
        """Every Float parameter is trained and every flag is on, whatever they were before."""
        return self.map(_Switch("unfreeze", ParamGroup.all(), True, flags=True))

    def freeze_group(self, group: ParamGroup) -> typing.Self:
        """Freezes the parameters and flags of a group.

        Args:
            group: which parameters and flags.

        >>> from burn.nn import LinearConfig
        >>> model = LinearConfig(2, 1).init().freeze_group(ParamGroup.from_path("weight"))
        >>> model.weight.is_active(), model.bias.is_active()
        (False, True)
        """
        return self.map(_Switch("freeze_group", group, False, flags=True))

    def unfreeze_group(self, group: ParamGroup) -> typing.Self:
        """Unfreezes the parameters and flags of a group.

        Args:
            group: which parameters and flags.

        >>> from burn.nn import LinearConfig
        >>> model = LinearConfig(2, 1).init().freeze().unfreeze_group(ParamGroup.from_path("bias"))
        >>> model.weight.is_active(), model.bias.is_active()
        (False, True)
        """
        return self.map(_Switch("unfreeze_group", group, True, flags=True))

    def num_params(self) -> int:
        """Number of elements of the Float parameters, running statistics included; nothing is initialised.

        Int and Bool parameters do not count, as in Burn.
        """
        count = _Count()
        self.visit(count)
        return count.total

    def visit(self, visitor: ModuleVisitor) -> None:
        """Shows every parameter and flag to a visitor, in the order of the fields.

        Args:
            visitor: a `ModuleVisitor`.

        >>> from burn.nn import LinearConfig
        >>> class Shapes(ModuleVisitor):
        ...     def visit_float(self, param):
        ...         print(param.lazy_shape())
        >>> LinearConfig(2, 1).init().visit(Shapes())
        (2, 1)
        (1,)
        """
        if not isinstance(visitor, ModuleVisitor):
            instance("visit", "visitor", visitor, ModuleVisitor, "derive its class from ModuleVisitor")
        core.visit_fields(self.__dict__, self._layout or (), self._container_type, visitor)

    def map(self, mapper: ModuleMapper) -> typing.Self:
        """A module whose parameters and flags are what a mapper makes of them.

        Args:
            mapper: a `ModuleMapper`.

        >>> from burn.nn import LinearConfig
        >>> class Zero(ModuleMapper):
        ...     def map_float(self, param):
        ...         return param.map(lambda tensor: tensor.zeros_like())
        >>> LinearConfig(2, 1).init().map(Zero()).weight.val().tolist()
        [[0.0], [0.0]]
        """
        if not isinstance(mapper, ModuleMapper):
            instance("map", "mapper", mapper, ModuleMapper, "derive its class from ModuleMapper")
        changed = core.map_fields(self.__dict__, self._layout, self._container_type, mapper)
        return self._with(changed) if changed else self

    def custom_settings(self) -> DisplaySettings | None:
        """Settings of the printed form that the module wants; the enclosing module's settings win.

        >>> from burn.nn import LinearConfig
        >>> LinearConfig(2, 1).init().custom_settings().new_line_after_attribute
        False
        """
        return None

    def custom_content(self, content: Content) -> Content | None:
        """What the module prints, added to ``content``; None prints every field.

        Args:
            content: what is printed, empty yet.

        >>> class Named(Module):
        ...     def custom_content(self, content):
        ...         return content.add("name", "mine")
        >>> Named()
        Named {
          name: mine
        }
        """
        return None

    def format(self, settings: DisplaySettings | None = None) -> str:
        """The printed form under these settings.

        Args:
            settings: `DisplaySettings`; the defaults if None.

        >>> from burn.nn import LinearConfig
        >>> print(LinearConfig(2, 1).init().format(DisplaySettings().with_show_num_parameters(False)))
        Linear {d_input: 2, d_output: 1, bias: true}
        """
        settings = DisplaySettings() if settings is None else settings
        return self._format(instance("format", "settings", settings, DisplaySettings))

    def _format(self, settings: DisplaySettings) -> str:
        custom = self.custom_settings()
        if custom is not None:
            settings = instance("custom_settings", "what it returns", custom, DisplaySettings).inherit(settings)
        content = Content(nested(settings))
        chosen = None if settings.get("show_all_attributes") else self.custom_content(content)
        if chosen is not None:
            instance("custom_content", "what it returns", chosen, Content, "return the content, or None")
        content = chosen or self._all_fields(content)
        content.settings = settings
        return render(self._display_name(), content, self.num_params())

    def _all_fields(self, content: Content) -> Content:
        annotated = declared(type(self))
        for attribute, value in self.__dict__.items():
            mark = self._marks.get(attribute, NO_MARK)
            content.add_field(mark.name or attribute, value, mark.array, allows_none(annotated.get(attribute)))
        return content

    def _display_name(self) -> str:
        return type(self).__name__

    def _check_field(self, name: str, value):
        """Raises unless a value fits the annotation of a field, or is of the sort that stands there now."""
        mark = self._marks.get(name, NO_MARK)
        hint = hints(type(self)).get(name)
        if mark.skip or (hint is not None and fits(value, hint)):
            return
        wanted = refusal(self.__dict__[name], value, hint is not None)
        if wanted is not None:
            keep = f"; use replace({name}=module.{name}.with_value(tensor))" if wanted == "a Param" else ""
            raise ModuleError(
                f"[replace] '{type(self).__name__}.{name}' must be {wanted if hint is None else described(hint)}, "
                f"got {shown(value)}{keep if type(value) is Tensor else ''}"
            )

    def _close(self):
        """Checks the fields and makes the module unchangeable; lists and dicts of parts become its own."""
        cls, marks = type(self), self._marks
        check_fields(cls, self.__dict__, marks)
        layout = []
        for attribute, value in self.__dict__.items():
            mark = marks.get(attribute, NO_MARK)
            if not mark.skip and holds_parts(value, f"{cls.__name__}.{attribute}"):
                layout.append((attribute, mark.name or attribute, "Array" if mark.array else None))
                self.__dict__[attribute] = own_parts(value)
        _set_layout(self, tuple(layout))
        check_places(self)

    def _with(self, changed: dict) -> typing.Self:
        """A copy with other parts in the same layout; for values that need no check."""
        module = object.__new__(type(self))
        module.__dict__.update(self.__dict__)
        module.__dict__.update(changed)
        _set_layout(module, self._layout)
        return module

    def _transform(self, method: str, *args) -> typing.Self:
        try:
            return transform(self, method, args)
        except AutodiffError as error:
            param = getattr(error, "param", None)
            if param is None:
                raise
            raise AutodiffError(f"[{method}] parameter {path_of(self, param)!r}: {error}") from error

    def __setattr__(self, name, value):
        if self._layout is not None:
            raise FrozenModuleError(
                f"[{type(self).__name__}] {name!r} cannot be assigned, modules do not change: "
                f"use module = module.replace({name}=...)"
            )
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        if self._layout is not None:
            raise FrozenModuleError(f"[{type(self).__name__}] {name!r} cannot be deleted: modules do not change")
        object.__delattr__(self, name)

    def __str__(self):
        return self.format()

    __repr__ = __str__

    def __dir__(self):
        return without_lacks(type(self), super().__dir__())

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        twin = memo[id(self)] = object.__new__(type(self))
        for name, value in self.__dict__.items():
            try:
                twin.__dict__[name] = copy.deepcopy(value, memo)
            except TypeError as error:
                raise ModuleError(
                    f"[deepcopy] '{type(self).__name__}.{name}' cannot be copied: {error}; use clone(), which shares it"
                ) from error
        _set_layout(twin, self._layout)
        return twin

    def __getstate__(self):
        return self.__dict__

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._close()


_set_layout = Module._layout.__set__
lack_waiting(Module)
lack_foreign(Module)


class _Count(ModuleVisitor):
    def __init__(self):
        self.total = 0

    def visit_float(self, param):
        self.total += param.num_elements()


class _Switch(PathTracking, ModuleMapper):
    """Turns training on or off in a group."""

    def __init__(self, op: str, group: ParamGroup, enabled: bool, flags: bool):
        super().__init__()
        self.op = op
        self.group = instance(op, "group", group, ParamGroup, "use ParamGroup.from_path(...)")
        self.enabled = truth(op, "require_grad", enabled)
        self.flags = flags

    def map_float(self, param: Param) -> Param:
        path = self.path()
        if not self.group.matches(param.id, path):
            return param
        try:
            return param.set_require_grad(self.enabled)
        except AutodiffError as error:
            raise AutodiffError(f"[{self.op}] parameter {path!r}: {error}") from error

    def map_flag(self, flag: Flag) -> Flag:
        return flag.with_value(self.enabled) if self.flags and self.group.matches(flag.id, self.path()) else flag
