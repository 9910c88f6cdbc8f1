"""Parameters: tensors with an identity, initialised when they are first needed."""

import math
import weakref
from collections.abc import Callable, Iterable
from typing import Annotated, ClassVar, Generic

from burn._arguments import device as check_device
from burn._arguments import instance, integer, shown, truth
from burn._core import core
from burn._locks import Lock
from burn.errors import ArgumentTypeError, AutodiffError, ModuleError
from burn.tensor import Float, Kind, Tensor

from .flag import Flag
from .operators import refuse_operators
from .param_id import ParamId
from .typed import Value

_KINDS = {Kind.Float.value: "float", Kind.Int.value: "int", Kind.Bool.value: "bool"}
_TRACKED, _LEAF = 1, 2  # what core.node_state answers, besides 0 for a tensor out of any graph


class _Lazy:
    """The initialisation that a parameter and its clones share: it runs once, whoever asks first."""

    __slots__ = ("__weakref__", "device", "handles", "init", "lock", "require_grad", "shape", "sources", "value")

    def __init__(self, init, device, require_grad, shape, sources=()):
        self.init = init
        self.device = device
        self.require_grad = require_grad
        self.shape = shape
        self.value = None
        # Weak references. A parameter that was moved before it was initialised has the values of the one that it came
        # from, as long as that one is around; otherwise it initialises where it is.
        self.sources = sources
        self.handles = weakref.WeakSet()
        self.lock = Lock()

    def initialise(self) -> Tensor:
        with self.lock.held:
            if self.value is None:
                self.value = self._checked(self._create())
                self.init, self.sources = None, ()
            return self.value

    def _create(self) -> Tensor:
        require_grad = self.require_grad and self.device.is_autodiff()
        source = next(filter(None, (reference() for reference in self.sources)), None)
        if source is None:
            return self.init(self.device, require_grad)
        return _with_grad(source.initialise().to_device(self.device).detach(), require_grad)

    def _checked(self, value: Tensor) -> Tensor:
        if tuple(instance("Param", "the initialiser's result", value, Tensor).shape) != self.shape:
            raise ModuleError(
                f"[Param] the initialiser must give the shape {list(self.shape)} that was declared, "
                f"got {list(value.shape)}"
            )
        return value


class Param(Generic[Value]):
    """A parameter of a module: an id, a tensor that may not exist yet, and whether it is to be trained.

    Parameters do not change: every method returns a new one, and a clone shares the tensor, initialised or not.
    `val()` is the tensor; methods of the tensor (`grad`, `dims`, ...) also work on the parameter itself.
    Mirrors `burn::module::Param`.

    >>> from burn.tensor import Tensor
    >>> from burn.device import Device
    >>> device = Device.flex()
    >>> param = Param.from_tensor(Tensor.ones([2, 3], device))
    >>> param.lazy_shape(), param.kind, param.is_active(), param.num_elements(), param.lazy_device()
    ((2, 3), 'float', True, 6, Device<Flex(Cpu)>)
    >>> param.val().sum().item(), param.map(lambda tensor: tensor * 2.0).into_value().sum().item()
    (6.0, 12.0)
    >>> same = param.clone().to_device(device).fork(device)
    >>> same.id == param.id, same.train().is_autodiff(), same.valid().is_autodiff()
    (True, True, False)
    >>> Param.from_data([1.0, 2.0], device).dims(), Param.from_bool(True)
    ([2], enabled)
    """

    __slots__ = ("__weakref__", "_active", "_adapter", "_lazy", "_load", "_save", "_value", "id", "kind")

    def __init__(
        self,
        id: ParamId,
        value: Tensor | None = None,
        active: bool = False,
        kind: str | None = None,
        lazy=None,
        load=None,
        save=None,
        adapter=None,
    ):
        """Use `initialized`, `from_tensor`, `from_data`, `uninitialized` or `from_bool`."""
        if kind is None:
            raise ArgumentTypeError(
                f"[Param] cannot be made of {shown(id)} alone: use Param.from_tensor(tensor), or Param.from_data(values, device)"
            )
        self.id = id
        self.kind = kind
        self._value = value
        self._active = active
        self._lazy = lazy
        self._load = load
        self._save = save
        self._adapter = adapter
        if lazy is not None:
            lazy.handles.add(self)

    def __class_getitem__(cls, item):
        """`Param[Tensor]`, `Param[Tensor[2]]` and `Param[Flag]` are annotations."""
        return Flag if item is Flag else Annotated[cls, item]

    @staticmethod
    def initialized(id: ParamId, value: "Tensor | Flag | bool") -> "Param | Flag":
        """A parameter with this id and tensor; a Float one is active if the tensor requires a gradient.

        Args:
            id: the id.
            value: the tensor; True, False or a Flag gives a Flag.

        >>> Param.initialized(ParamId(1), Tensor([1, 2])).kind, Param.initialized(ParamId(2), True)
        ('int', enabled)
        """
        instance("initialized", "id", id, ParamId, "use ParamId()")
        if isinstance(value, (bool, Flag)):
            return Flag(bool(value), id)
        kind = _kind_of("initialized", value)
        return Param(id, value, kind == "float" and value.is_require_grad(), kind)

    @staticmethod
    def from_tensor(tensor: Tensor) -> "Param":
        """A parameter with a new id; a Float one is active, and requires a gradient if the tensor has autodiff.

        Args:
            tensor: any shape.

        Raises:
            AutodiffError: the tensor is the result of recorded operations.
        """
        kind = _kind_of("from_tensor", tensor)
        if kind == "float":
            tensor = _with_grad(tensor, True)
        return Param(ParamId(), tensor, kind == "float", kind)

    @staticmethod
    def from_data(data, device=None) -> "Param":
        """A parameter with a new id from nested lists, an array or a TensorData; on the default device if None.

        Args:
            data: the values.
            device: a Device; the default device if None.
        """
        return Param.from_tensor(Tensor.from_data(data, device))

    @staticmethod
    def from_bool(value: bool) -> Flag:
        """A flag.

        Args:
            value: whether the flag is on.
        """
        return Flag(value)

    @staticmethod
    def uninitialized(id: ParamId, init, device, is_require_grad: bool, shape, kind: Kind = Float) -> "Param":
        """A parameter whose tensor is made when it is first needed.

        Args:
            id: the id.
            init: called as ``init(device, require_grad)``; returns the tensor, made on the device it is given.
            device: where to initialise; it may change until then.
            is_require_grad: whether the parameter is active; the tensor requires a gradient if the device has autodiff.
            shape: the shape that ``init`` gives.
            kind: the kind of tensor that ``init`` gives.

        >>> param = Param.uninitialized(ParamId(1), lambda device, grad: Tensor.ones([2], device), burn.Device.flex(), True, [2])
        >>> param.is_initialized(), param.val().tolist(), param.is_initialized()
        (False, [1.0, 1.0], True)
        """
        instance("uninitialized", "id", id, ParamId, "use ParamId()")
        _function("uninitialized", "init", init)
        active = truth("uninitialized", "is_require_grad", is_require_grad) and kind is Float
        device = check_device("uninitialized", device)
        instance("uninitialized", "kind", kind, Kind, "use Float, Int or Bool")
        instance("uninitialized", "shape", shape, Iterable, "put a single size into a list")
        shape = tuple(integer("uninitialized", "shape", size, 0) for size in shape)
        return Param(id, None, active, _KINDS[kind.value], _Lazy(init, device, active, shape))

    val: ClassVar[Callable[["Param"], Tensor]] = (
        core.held_value
    )  # every layer calls it: compiled, with `_made` for what is left

    def _made(self) -> Tensor:
        value = self.base()
        return value if self._adapter is None else self._effective(value)

    def base(self) -> Tensor:
        """The stored tensor, initialised now if need be, without a reparameterization.

        >>> from burn.module import Lora
        >>> weight = burn.nn.LinearConfig(2, 1).init().apply_lora(Lora(1, 1.0)).weight
        >>> weight.base().dims(), weight.adapter().a.dims()
        ([2, 1], [2, 1])
        """
        value = self._value
        return value if value is not None else self._initialise()

    def _effective(self, value: Tensor) -> Tensor:
        made = instance("Param.val", "what a reparameterization makes", self._adapter.apply(value), Tensor)
        if len(made.shape) != len(value.shape):
            raise ModuleError(
                f"[Param] the reparameterization {self._adapter.NAME!r} must keep the number of axes, "
                f"{len(value.shape)}, got {len(made.shape)}"
            )
        return made

    def reparameterization(self, kind: type):
        """What is attached to the parameter if it is a ``kind``, else None.

        Args:
            kind: a subclass of `Reparameterization`.

        >>> from burn.module import Reparameterization
        >>> Param.from_data([1.0]).reparameterization(Reparameterization) is None
        True
        """
        return self._adapter if isinstance(self._adapter, instance("reparameterization", "kind", kind, type)) else None

    def adapter(self):
        """The `LoraAdapter` of the parameter, or None.

        >>> Param.from_data([1.0]).adapter() is None
        True
        """
        from .lora import LoraAdapter

        return self.reparameterization(LoraAdapter)

    def _bare(self) -> "Param[Value]":
        """The parameter without what is attached to it."""
        return self._adapted(None)

    def _adapted(self, adapter) -> "Param[Value]":
        """The parameter with this attached to it."""
        lazy = self._lazy if self._value is None else None
        return Param(self.id, self._value, self._active, self.kind, lazy, self._load, self._save, adapter)

    def _initialise(self) -> Tensor:
        lazy = self._lazy
        with lazy.lock.held:
            value = lazy.initialise()
            if _kind_of("Param", value) != self.kind:
                raise ModuleError(f"[Param] the initialiser must give {self.kind} values, got {value.dtype}")
            if self._value is None:
                # Clones share the tensor; only one that was frozen or unfrozen meanwhile needs its own leaf.
                self._value = value if self._active == lazy.require_grad else self._graded(value)
                lazy.handles.discard(self)
            return self._value

    def _untracked(self) -> Tensor:
        return _with_grad(self.val(), False) if self.kind == "float" else self.val()

    def _graded(self, value: Tensor) -> Tensor:
        return _with_grad(value, self._active) if self.kind == "float" else value

    def is_initialized(self) -> bool:
        """Whether the tensor exists.

        >>> Param.from_data([1.0]).is_initialized()
        True
        """
        return self._value is not None or self._lazy.value is not None

    def is_active(self) -> bool:
        """Whether the parameter is to be trained; `valid()` keeps it, `freeze()` and `set_require_grad` change it."""
        return self._active

    @property
    def shape(self):
        """The shape; nothing is initialised."""
        return self.lazy_shape() if self._value is None else self._value.shape

    @property
    def device(self):
        """The device of the tensor, or where it would be initialised."""
        return self.lazy_device()

    def lazy_shape(self) -> tuple:
        """The shape as a tuple; nothing is initialised."""
        return self._lazy.shape if self._value is None else tuple(self._value.shape)

    def lazy_device(self):
        """The device of the tensor, or where it would be initialised."""
        return self._lazy.device if self._value is None else self._value.device

    def num_elements(self) -> int:
        """Number of elements; nothing is initialised."""
        return math.prod(self.lazy_shape())

    def clone(self) -> "Param[Value]":
        """Another handle with the same id; both share the tensor, or the initialisation that is still to come."""
        return self._copy()

    def map(self, f) -> "Param[Value]":
        """A parameter with the tensor ``f(val())``, the same id and the same trainability.

        ``f`` gets the tensor without its gradient: the result is a leaf, and nothing of ``f`` is recorded. A
        reparameterization is folded in; `Module.map` keeps it, and maps its parameters too.

        Args:
            f: a function of a tensor.
        """
        return self.with_value(_function("map", "f", f)(self._untracked()))

    def with_value(self, value: Tensor) -> "Param[Value]":
        """A parameter with another tensor, the same id, hooks and trainability.

        The tensor becomes a leaf that requires a gradient if the parameter is active and the tensor has autodiff.

        Args:
            value: the tensor, of any shape.
        """
        kind = _kind_of("with_value", value)
        if kind == "float":
            value = _with_grad(value, self._active)
        return Param(self.id, value, self._active and kind == "float", kind, None, self._load, self._save)

    def into_value(self) -> Tensor:
        """The tensor."""
        return self.val()

    def consume(self) -> tuple[ParamId, Tensor, "Param[Value]"]:
        """Id, tensor, and the mapper that `from_mapped_value` needs to rebuild the parameter.

        >>> id, value, mapper = Param.from_data([1.0]).consume()
        >>> Param.from_mapped_value(id, value * 3.0, mapper).val().tolist()
        [3.0]
        """
        return self.id, self.val(), self

    @staticmethod
    def from_mapped_value(id: ParamId, value: Tensor, mapper: "Param") -> "Param":
        """Rebuilds a parameter after `consume`: hooks and trainability are those of the mapper.

        Args:
            id: the id.
            value: the tensor.
            mapper: what `consume` gave.

        >>> id, value, mapper = Param.from_data([1.0]).consume()
        >>> Param.from_mapped_value(id, value * 3.0, mapper).val().tolist()
        [3.0]
        """
        param = instance("from_mapped_value", "mapper", mapper, Param, "take what consume() gave").with_value(value)
        param.id = instance("from_mapped_value", "id", id, ParamId, "use ParamId()")
        return param

    def set_require_grad(self, require_grad: bool) -> "Param[Value]":
        """The parameter switched on or off for training; on a plain device only the setting changes.

        Args:
            require_grad: whether the parameter is trained.

        Raises:
            AutodiffError: the tensor is the result of recorded operations and cannot become a leaf.
        """
        active = truth("set_require_grad", "require_grad", require_grad)
        if self.kind != "float":
            return self
        param = self._adapted(self._adapter)
        param._active = active
        if self._value is not None:
            param._value = _with_grad(self._value, param._active)
        return param

    def load_mapper(self, f) -> "Param[Value]":
        """Sets the function that turns a recorded tensor into the parameter's.

        Args:
            f: a function of a tensor.

        >>> param = Param.from_data([[1.0, 2.0]]).load_mapper(Tensor.transpose).save_mapper(Tensor.transpose)
        >>> param.transform_for_save().dims(), param.transform_for_load(Tensor([[3.0], [4.0]]), param.id).val().tolist()
        ([2, 1], [[3.0, 4.0]])
        """
        param = self._adapted(self._adapter)
        param._load = _function("load_mapper", "f", f)
        return param

    def save_mapper(self, f) -> "Param[Value]":
        """Sets the function that turns the parameter's tensor into the recorded one.

        Args:
            f: a function of a tensor.

        >>> param = Param.from_data([[1.0, 2.0]]).save_mapper(Tensor.transpose)
        >>> param.record_shape(), param.transform_for_save().tolist()
        ((2, 1), [[1.0], [2.0]])
        """
        param = self._adapted(self._adapter)
        param._save = _function("save_mapper", "f", f)
        return param

    def init_mapper(self, f) -> "Param[Value]":
        """The parameter with ``f`` applied to its tensor, now or when it is initialised; a reparameterization is folded in.

        Args:
            f: a function of a tensor.

        >>> Param.from_data([1.0]).init_mapper(lambda tensor: tensor + 1.0).val().tolist()
        [2.0]
        """
        if self.is_initialized():
            return self.map(f)
        _function("init_mapper", "f", f)
        before, adapter = self._lazy, self._adapter

        def init(device, require_grad):
            value = before.initialise()
            if adapter is not None:
                value = adapter.apply(value)
            if value.device != device:
                value = value.to_device(device)
            return _with_grad(f(value.detach().set_require_grad(False)), require_grad)

        lazy = _Lazy(init, before.device, before.require_grad, _shape_after(f, before.shape, before.device))
        return Param(self.id, None, self._active, self.kind, lazy, self._load, self._save)

    def transform_for_load(self, tensor: Tensor, id: ParamId) -> "Param[Value]":
        """The parameter with a recorded tensor and id: moved to its device, load hook applied, trainability kept.

        Args:
            tensor: what the record holds.
            id: the recorded id.

        >>> Param.from_data([1.0]).transform_for_load(Tensor([5.0]), ParamId(7)).val().tolist()
        [5.0]
        """
        device = self.lazy_device()
        if instance("transform_for_load", "tensor", tensor, Tensor, "use Tensor.from_data(...)").device != device:
            tensor = tensor.to_device(device).detach()
        if device.is_autodiff() and not tensor.is_autodiff():
            tensor = core.cut(tensor, device._ctx)
        if self._load is not None:
            tensor = self._load(tensor)
        param = self.with_value(tensor)
        param.id, param._adapter = id, self._adapter
        return param

    def transform_for_save(self) -> Tensor:
        """The tensor as records hold it.

        >>> Param.from_data([1.0]).transform_for_save().tolist()
        [1.0]
        """
        return self.base() if self._save is None else self._save(self.base())

    def record_shape(self) -> tuple:
        """The shape that records hold; nothing is initialised.

        >>> Param.from_data([1.0, 2.0]).record_shape()
        (2,)
        """
        if self._save is None:
            return self.lazy_shape()
        return _shape_after(self._save, self.lazy_shape(), self.lazy_device())

    def to_device(self, device) -> "Param[Value]":
        """The parameter on another device: gradients flow back to this one, so the result cannot be optimised.

        One that is not initialised, and has no clones, just changes where it initialises.

        Args:
            device: a Device; None is the default one.
        """
        device = check_device("to_device", device)
        return self._moved("to_device", device, lambda value: value.to_device(device))

    def fork(self, device) -> "Param[Value]":
        """An independent parameter on another device: its own leaf, with the same id.

        Args:
            device: a Device; None is the default one.
        """
        device = check_device("fork", device)
        if self.kind != "float":
            return self._moved("fork", device, lambda value: value.to_device(device))
        return self._moved("fork", device, lambda value: self._graded(value.to_device(device).detach()))

    def valid(self) -> "Param[Value]":
        """The parameter without autodiff."""
        return self._with_base(self.base().inner(), self._adapter and self._adapter.valid())

    def train(self) -> "Param[Value]":
        """The parameter with autodiff, requiring a gradient if it is active.

        Raises:
            AutodiffError: the tensor is the result of recorded operations.
        """
        return self._with_base(self._graded(self.base().autodiff()), self._adapter and self._adapter.train())

    def materialize(self) -> "Param[Value]":
        """The parameter with a reparameterization folded into its tensor; itself where it has none.

        >>> from burn.module import Lora
        >>> weight = burn.nn.LinearConfig(2, 1).init().apply_lora(Lora(1, 1.0)).weight
        >>> weight.materialize().adapter() is None, weight.materialize().id == weight.id
        (True, True)
        """
        if self._adapter is None:
            return self
        return self._with_base(_with_grad(self.val().detach(), self.base().is_require_grad()), None)

    def _with_base(self, value: Tensor, adapter) -> "Param[Value]":
        return Param(self.id, value, self._active, self.kind, None, self._load, self._save, adapter)

    def _copy(self) -> "Param[Value]":
        return self._adapted(self._adapter and self._adapter.clone())

    def _moved(self, method: str, device, move) -> "Param[Value]":
        """The parameter on another device, which ``move`` brings a tensor to."""
        adapter = self._adapter and getattr(self._adapter, method)(device)
        if self.is_initialized() or len(self._lazy.handles) > 1:
            return self._with_base(move(self.base()), adapter)
        lazy = self._lazy
        device = device.with_autodiff_context_from(lazy.device)
        moved = _Lazy(lazy.init, device, lazy.require_grad, lazy.shape, (weakref.ref(lazy), *lazy.sources))
        return Param(self.id, None, self._active, self.kind, moved, self._load, self._save, adapter)

    def _format(self, settings) -> str:
        shape = self.lazy_shape()
        text = f"rank: {len(shape)}, shape: {list(shape)}, kind: {self.kind}"
        return f"ParamTensor {{{text}, id: {self.id}}}" if settings.get("show_param_id") else f"ParamTensor {{{text}}}"

    def __getattr__(self, name):
        if name.startswith("_"):  # protocols such as __array__ must not initialise by accident
            raise AttributeError(f"'Param' object has no attribute {name!r}")
        return getattr(self.val(), name)

    def __repr__(self):
        hooks = f"load: {str(self._load is not None).lower()}, save: {str(self._save is not None).lower()}"
        return f"Param: {self.id} - ParamMapper {{ {hooks} }}"

    def __str__(self):
        return f"Param: {self.id}"

    def __reduce__(self):
        # An autodiff leaf would refuse to be pickled; trainability travels in the parameter.
        return _restore, (self.id, self.base().inner(), self._active, self._load, self._save, self._adapter)

    def __copy__(self):
        return self._copy()

    def __deepcopy__(self, memo):
        return self._copy()


refuse_operators(Param)


def _restore(id, value, active, load, save, adapter=None):
    return Param(id, value, active, _KINDS[value._kind], None, load, save, adapter)


def _kind_of(op: str, value: Tensor) -> str:
    """The kind of a parameter with this tensor."""
    if not isinstance(value, Tensor):
        instance(op, "value", value, Tensor, "use Tensor.from_data(...)")
    return _KINDS[value._kind]


def _function(op: str, name: str, value):
    return value if callable(value) else instance(op, name, value, Callable, "pass a function")


def _with_grad(tensor: Tensor, require_grad: bool) -> Tensor:
    """The Float tensor as a leaf with the retention asked for, as far as it has autodiff."""
    if not tensor._ctx:
        return tensor
    state = core.node_state(tensor)
    if not require_grad:
        return core.cut(tensor, tensor._ctx) if state else tensor
    if state == _TRACKED:
        raise AutodiffError(
            "[Param] the tensor is the result of recorded operations and cannot be trained: "
            "use fork() in place of to_device(), or detach() it"
        )
    return tensor if state == _LEAF else core.make_leaf(tensor)


def _shape_after(f, shape: tuple, device) -> tuple:
    """The shape that ``f`` makes of ``shape``, found on a tensor that is a single element seen many times."""
    seen = Tensor.zeros([1] * len(shape), device.inner()).expand(list(shape))
    return tuple(f(seen).shape)
