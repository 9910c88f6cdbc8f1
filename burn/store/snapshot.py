"""Tensors out of a module, and tensors into one."""

from concurrent.futures import Future, ThreadPoolExecutor

from burn._arguments import instance, shown
from burn.errors import ArgumentTypeError, BurnError, StoreError, StoreValidationError
from burn.module.base import Module
from burn.module.param import Param
from burn.module.param_id import ParamId
from burn.module.visitor import ModuleMapper, ModuleVisitor, PathTracking
from burn.tensor._interop import HOST

from .adapter import IdentityAdapter, ModuleAdapter, ModuleContext, adapter, alternative_paths, is_ours
from .bridge import RefusedTensor, from_tensor, renamed
from .filter import PathFilter
from .pack import PackTensor
from .record import reading_ahead, unpack_tensor, worth_a_thread
from .result import AdapterError, ApplyError, ApplyResult, DTypeMismatch, LoadError, ShapeMismatch

_EXPECTED = {"float": "F32", "int": "I32", "bool": "Bool(Native)"}


class _Tracking(PathTracking):
    """Keeps the path and the containers of the parameter at hand."""

    def __init__(self, skip_enum_variants: bool):
        super().__init__()
        self._skip = skip_enum_variants
        self._containers: list[str] = []
        self._root: Module | None = None

    def enter_module(self, name: str, container_type: str):
        self._names.append(name)
        self._containers.append(container_type)

    def exit_module(self, name: str, container_type: str):
        self._names.pop()
        self._containers.pop()

    def _context(self, param) -> ModuleContext:
        """Where the parameter at hand stands."""
        names = self._names
        if self._skip:
            names = [n for n, container in zip(names, self._containers) if not container.startswith("Enum:")]
        return ModuleContext(".".join(names), self._containers, param, self._names, self._root)


class Collector(_Tracking, ModuleVisitor):
    """The visitor that collects the tensors of a module. Mirrors `burn::store::Collector`.

    Attributes:
        tensors: what was collected, in visit order.

    >>> collector = Collector()
    >>> burn.nn.LinearConfig(2, 3).init().visit(collector)
    >>> [tensor.name for tensor in collector.tensors]
    ['weight', 'bias']
    """

    def __init__(
        self, filter: PathFilter | None = None, adapter_: ModuleAdapter | None = None, skip_enum_variants=False
    ):
        """A visitor with nothing collected.

        Args:
            filter: which parameters; all of them if None.
            adapter_: what changes each tensor.
            skip_enum_variants: whether the variants of enums are left out of the paths.
        """
        super().__init__(skip_enum_variants)
        self.filter = _filter("collect", filter)
        self.adapter = IdentityAdapter() if adapter_ is None else adapter("collect", adapter_)
        self.tensors: list[PackTensor] = []

    def visit_float(self, param: Param):
        context = self._context(param)
        if not self.filter.matches_with_container(context.path, context.container_path()):
            return
        tensor = from_tensor(context.path, param.transform_for_save(), param.id.val())
        try:
            self.tensors.append(_adapted(self.adapter, tensor, context))
        except Exception as error:
            raise StoreError(f"[collect] the adapter failed at {context.path!r}: {_reason(error)}") from error

    visit_int = visit_bool = visit_float


class Applier(_Tracking, ModuleMapper):
    """The mapper that puts tensors into a module, and keeps account of what did not fit. Mirrors `burn::store::Applier`.

    >>> from burn.store import bridge
    >>> applier = Applier([bridge.from_tensor("weight", Tensor([[1.0]])), bridge.from_tensor("scale", Tensor([1.0]))])
    >>> module = burn.nn.LinearConfig(1, 1).init().map(applier)
    >>> result = applier.into_result()
    >>> module.weight.val().tolist(), result.applied, result.missing, result.unused
    ([[1.0]], ['weight'], [('bias', 'Struct:Linear')], ['scale'])
    """

    def __init__(
        self, tensors, filter: PathFilter | None = None, adapter_: ModuleAdapter | None = None, skip_enum_variants=False
    ):
        """A mapper.

        Args:
            tensors: PackTensors, named by path.
            filter: which parameters may be set; all of them if None.
            adapter_: what changes each tensor, and finds those under another name.
            skip_enum_variants: whether the variants of enums are left out of the paths.
        """
        super().__init__(skip_enum_variants)
        self.filter = _filter("apply", filter)
        self.adapter = IdentityAdapter() if adapter_ is None else adapter("apply", adapter_)
        self.tensors = by_name("apply", tensors)
        self._consumed: set[str] = set()
        self._applied: list[str] = []
        self._skipped: set[str] = set()
        self._missing: list[tuple[str, str]] = []
        self._errors: list[ApplyError] = []
        self._ahead: dict[str, Future] = {}

    def map_float(self, param: Param) -> Param:
        context = self._context(param)
        path = context.path
        try:
            key = self._key(context)
        except Exception as error:  # an adapter may be of anybody
            self._errors.append(AdapterError(path, _reason(error)))
            return param
        if not self.filter.matches_with_container(path, context.container_path()):
            self._skipped.add(path)
            self._consumed.add(key or path)
            return param
        if key is None:
            self._missing.append((path, context.container_path()))
            return param
        self._consumed.add(key)
        try:
            tensor = self._adapted(key, context)
        except Exception as error:
            self._errors.append(AdapterError(path, _reason(error)))
            return param
        fault = self._fault(tensor, param, path)
        if fault is None:
            try:
                ahead = self._ahead.pop(path, None)
                value = unpack_tensor(tensor, param.lazy_device(), param.kind) if ahead is None else ahead.result()
                id = param.id if tensor.param_id is None else ParamId(tensor.param_id)
                loaded = param.transform_for_load(value, id)
            except Exception as error:  # load mappers and providers are anybody's too
                fault = LoadError(path, f"Failed to load tensor data: {_reason(error)}")
            else:
                self._applied.append(path)
                return loaded
        self._errors.append(fault)
        return param

    map_int = map_bool = map_float

    def _read_ahead(self, module: Module, threads: ThreadPoolExecutor) -> None:
        """Begins to read the large tensors that `map` will ask for, where no code but this package's has a part in it."""
        if is_ours(self.adapter):
            module.visit(_Ahead(self, threads))

    def into_result(self) -> ApplyResult:
        """What became of it."""
        unused = sorted(name for name in self.tensors if name not in self._consumed)
        return ApplyResult(self._applied, sorted(self._skipped), sorted(self._missing), unused, self._errors)

    def _key(self, context: ModuleContext) -> str | None:
        """The name of the tensor for a parameter: its path, or what the adapter says that it may be called."""
        if context.path in self.tensors:
            return context.path
        return next((other for other in alternative_paths(self.adapter, context) if other in self.tensors), None)

    def _adapted(self, key: str, context: ModuleContext) -> PackTensor:
        tensor = renamed(self.tensors[key], context.path)
        context._found = key
        return tensor if isinstance(tensor, RefusedTensor) else _adapted(self.adapter, tensor, context)

    @staticmethod
    def _fault(tensor: PackTensor, param: Param, path: str) -> ApplyError | None:
        """What keeps a tensor out of a parameter, as far as that can be told without reading it."""
        if isinstance(tensor, RefusedTensor):
            return LoadError(path, tensor.reason)
        kind, dtype = param.kind, tensor.dtype
        takes = dtype.kind in (kind, "quantized") if kind == "float" else dtype.kind == kind
        if not takes and not (kind == "bool" and dtype.name in ("U8", "U32")):
            return DTypeMismatch(path, _EXPECTED[kind], str(dtype))
        expected = param.record_shape()
        return None if tuple(tensor.shape) == expected else ShapeMismatch(path, expected, tuple(tensor.shape))


class _Ahead(_Tracking, ModuleVisitor):
    """Hands what an applier will read to threads. What is wrong is left to the applier, which finds it again."""

    def __init__(self, applier: Applier, threads: ThreadPoolExecutor):
        super().__init__(applier._skip)
        self._root = applier._root
        self._applier = applier
        self._threads = threads

    def visit_float(self, param: Param):
        applier, context = self._applier, self._context(param)
        key = applier._key(context)
        if key is None or not applier.filter.matches_with_container(context.path, context.container_path()):
            return
        tensor = applier.tensors[key]
        if not worth_a_thread(tensor):
            return
        device = param.lazy_device()
        try:
            tensor = applier._adapted(key, context)
        except StoreError:
            return
        if device._dlpack()[0] == HOST and applier._fault(tensor, param, context.path) is None:
            applier._ahead[context.path] = self._threads.submit(unpack_tensor, tensor, device, param.kind)

    visit_int = visit_bool = visit_float


def collect(module, filter=None, adapter=None, skip_enum_variants: bool = False) -> list[PackTensor]:
    """The tensors of a module in visit order, named by path, with their ids."""
    collector = Collector(filter, adapter, skip_enum_variants)
    collector._root = instance("collect", "module", module, Module)
    module.visit(collector)
    return collector.tensors


def apply(module, tensors, filter=None, adapter=None, skip_enum_variants: bool = False):
    """The module with the tensors in it as far as they fit, and what became of each."""
    applier = Applier(tensors, filter, adapter, skip_enum_variants)
    applier._root = instance("apply", "module", module, Module)
    changed = reading_ahead(
        applier.tensors.values(), lambda threads: applier._read_ahead(module, threads), lambda: module.map(applier)
    )
    return changed, applier.into_result()


def by_name(op: str, tensors) -> dict[str, PackTensor]:
    """Tensors by their names, which must differ."""
    if isinstance(tensors, dict):
        tensors = tensors.values()
    found: dict[str, PackTensor] = {}
    for tensor in tensors:
        if not isinstance(tensor, PackTensor):
            raise ArgumentTypeError(
                f"[{op}] 'tensors' must hold PackTensors, got {shown(tensor)}; see burn.store.bridge"
            )
        if found.setdefault(tensor.name, tensor) is not tensor:
            raise StoreValidationError(f"[{op}] two tensors are named {tensor.name!r}; names must differ")
    return found


def _adapted(adapter: ModuleAdapter, tensor: PackTensor, context: ModuleContext) -> PackTensor:
    result = adapter.adapt(tensor, context)
    if not isinstance(result, PackTensor):
        raise ArgumentTypeError(f"adapt() must return a PackTensor, got {shown(result)}; see burn.store.bridge")
    return result


def _filter(op: str, value) -> PathFilter:
    return PathFilter.all() if value is None else instance(op, "filter", value, PathFilter, "use PathFilter()")


def _reason(error: BaseException) -> str:
    return str(error) if isinstance(error, BurnError) else f"{type(error).__name__}: {error}"
