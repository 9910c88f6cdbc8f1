"""Records: the parameters of a module, apart from it."""

import collections
import enum
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from burn._arguments import file_path, instance, truth
from burn._core import core
from burn.errors import NotYetError, RecordValidationError
from burn.module.group import ParamGroup
from burn.module.param import Param
from burn.module.param_id import ParamId
from burn.module.visitor import ModuleMapper, ModuleVisitor, PathTracking
from burn.tensor import DType, Tensor
from burn.tensor._interop import HOST

from .pack import PackDType, PackTensor, Reader, Writer

_AHEAD = 1 << 20
"""Bytes from which on a tensor is worth a thread."""
_MAX_THREADS = 4


class DTypePolicy(enum.Enum):
    """Which dtype loaded parameters have. Mirrors `burn::store::DTypePolicy`."""

    FromRecord = 0
    CastToModule = 1


class QuantizedRecordError(NotYetError, RecordValidationError):
    """A record holds quantized tensors, which burn does not have yet."""


class ModuleRecord:
    """The parameters of a module with their paths and ids, and how to load them.

    Made by `Module.into_record()` or read from a burnpack file; `Module.load_record()` applies it. The options return
    a changed record and are not saved. Mirrors `burn::store::ModuleRecord`.

    >>> from burn.nn import LinearConfig
    >>> model = LinearConfig(2, 3).init()
    >>> record = model.into_record()
    >>> len(record), record.paths(), record.is_empty(), record.tensors()[0].shape
    (2, ['weight', 'bias'], False, (2, 3))
    >>> record.save("model")
    >>> ModuleRecord.load("model").apply(LinearConfig(2, 3).init()).weight.val().all_close(model.weight.val())
    True
    >>> weights = ModuleRecord.from_module(model, ParamGroup.from_path("weight"))
    >>> ModuleRecord.from_bytes(weights.into_bytes()).allow_partial(True).apply(model).num_params()
    9
    >>> LinearConfig(2, 3).with_bias(False).init().load_record(record.allow_unused(True).cast_to_module_dtype()).num_params()
    6
    >>> LinearConfig(3, 3).init().load_record(record.validate(False)).num_params()
    12
    """

    __slots__ = ("_cast", "_entries", "_file", "_partial", "_unused", "_validate")

    def __init__(self, entries=()):
        """A record of PackTensors named by path, in visit order."""
        self._entries: list[PackTensor] = list(entries)
        self._cast = False
        self._partial = False
        self._unused = False
        self._validate = True
        self._file = ""

    @classmethod
    def from_module(cls, module, group: ParamGroup | None = None) -> "ModuleRecord":
        """The parameters of a module, or of a group of them, as records hold them.

        Args:
            module: the module.
            group: which parameters; all of them if None.
        """
        collect = _Collect(ParamGroup.all() if group is None else group)
        _module("from_module", module).visit(collect)
        return cls(collect.entries)

    def __len__(self) -> int:
        return len(self._entries)

    def is_empty(self) -> bool:
        """Whether the record holds nothing."""
        return not self._entries

    def paths(self) -> list[str]:
        """The paths of the parameters, in the order of the record."""
        return [entry.name for entry in self._entries]

    def tensors(self) -> list[PackTensor]:
        """The entries: path, dtype, shape, id and bytes of each parameter."""
        return list(self._entries)

    def with_dtype_policy(self, policy: DTypePolicy) -> "ModuleRecord":
        """Sets which dtype loaded parameters have (default ``FromRecord``)."""
        policy = instance("with_dtype_policy", "policy", policy, DTypePolicy)
        return self._with("_cast", policy is DTypePolicy.CastToModule)

    def cast_to_module_dtype(self) -> "ModuleRecord":
        """Converts to the dtypes of the module's parameters, which are initialised for it."""
        return self.with_dtype_policy(DTypePolicy.CastToModule)

    def allow_partial(self, allow: bool) -> "ModuleRecord":
        """Whether parameters that the record lacks stay as they are (default False: they are an error).

        Args:
            allow: whether to.
        """
        return self._with("_partial", truth("allow_partial", "allow", allow))

    def allow_unused(self, allow: bool) -> "ModuleRecord":
        """Whether entries that no parameter wants are passed over (default False: they are an error).

        Args:
            allow: whether to.
        """
        return self._with("_unused", truth("allow_unused", "allow", allow))

    def validate(self, validate: bool) -> "ModuleRecord":
        """Whether wrong shapes and kinds are an error (default True), or leave the parameter as it is.

        Args:
            validate: whether to.
        """
        return self._with("_validate", truth("validate", "validate", validate))

    def into_bytes(self) -> bytes:
        """The record as a burnpack container in memory."""
        return Writer(self._entries).into_bytes()

    @classmethod
    def from_bytes(cls, data) -> "ModuleRecord":
        """Reads a burnpack container in memory.

        Args:
            data: the bytes.

        Raises:
            RecordIoError: the bytes are not a sound container.
        """
        return cls(Reader.from_bytes(data).in_file_order())

    def save(self, path, sync: bool = False) -> None:
        """Writes a burnpack file, which is always the old one or the new one, never a part.

        Args:
            path: destination, replaced if it exists; ``.bpk`` is appended where it has no extension.
            sync: whether to wait until the file is on the disk, so that it survives a loss of power too.

        Raises:
            RecordIoError: the file cannot be written.
        """
        Writer(self._entries).sync(truth("save", "sync", sync)).write_to_file(file_path("save", path))

    @classmethod
    def load(cls, path) -> "ModuleRecord":
        """Opens a burnpack file; tensors are read when the record is applied, from the file as it was opened.

        Args:
            path: the file; ``.bpk`` is appended if the path has no extension and names no existing file.

        Raises:
            RecordIoError: the file is missing, damaged, or of an older format.
        """
        path = file_path("load", path)
        record = cls(Reader.from_file(path).in_file_order())
        record._file = f" of {path!r}"
        return record

    def apply(self, module):
        """The module with the values of this record; the module itself stays as it was.

        Each tensor goes to the device of its parameter, which takes the recorded id and keeps its own trainability.

        Args:
            module: the module.

        Raises:
            RecordValidationError: shapes or kinds that differ, parameters that the record lacks, or entries that no
                parameter wants, unless the options allow them.
            RecordIoError: the file of the record cannot be read any more.
        """
        entries = {entry.name: entry for entry in self._entries}
        if len(entries) < len(self._entries):
            name = next(name for name, count in collections.Counter(self.paths()).items() if count > 1)
            raise RecordValidationError(f"[load_record] two tensors are named {name!r}; names must differ")
        mapper = _Apply(entries, self._cast)
        _module("apply", module)
        loaded = reading_ahead(
            self._entries, lambda threads: module.visit(_Ahead(mapper, threads)), lambda: module.map(mapper)
        )
        if self._validate and mapper.errors:
            raise RecordValidationError(
                f"[load_record] the record{self._file} does not fit the module: {'; '.join(mapper.errors)}; make the "
                "module as it was saved, or load with validate(False) to keep what it has there"
            )
        if not self._partial and mapper.missing:
            raise RecordValidationError(
                f"[load_record] Missing tensors: {_names(mapper.missing)} in the record{self._file}; "
                "load with allow_partial(True) to keep those parameters as they are"
            )
        if not self._unused and mapper.entries:
            raise RecordValidationError(
                f"[load_record] Unused tensors: {_names(sorted(mapper.entries))} in the record{self._file}; "
                f"{_adapters(module, mapper.entries)}load with allow_unused(True) to pass over them"
            )
        return loaded

    def _with(self, option: str, value) -> "ModuleRecord":
        record = ModuleRecord(self._entries)
        for name in ("_cast", "_file", "_partial", "_unused", "_validate"):
            setattr(record, name, getattr(self, name))
        setattr(record, option, value)
        return record

    def __repr__(self):
        return f"ModuleRecord({', '.join(f'{e.name}: {e.dtype} {list(e.shape)}' for e in self._entries)})"


class _Collect(PathTracking, ModuleVisitor):
    """Takes the values of a group of parameters, in the form that records hold."""

    def __init__(self, group: ParamGroup):
        super().__init__()
        self.group = instance("into_record_group", "group", group, ParamGroup, "use ParamGroup.from_path(...)")
        self.entries: list[PackTensor] = []

    def visit_float(self, param: Param):
        path = self.path()
        if self.group.matches(param.id, path):
            self.entries.append(pack_tensor(path, param.transform_for_save(), param.id))

    visit_int = visit_bool = visit_float


class _Apply(PathTracking, ModuleMapper):
    """Puts recorded values into parameters, and keeps account of what did not fit."""

    def __init__(self, entries: dict[str, PackTensor], cast: bool):
        super().__init__()
        self.entries = entries
        self.cast = cast
        self.ahead: dict[str, Future] = {}
        self.missing: list[str] = []
        self.errors: list[str] = []

    def map_float(self, param: Param) -> Param:
        path = self.path()
        entry = self.entries.pop(path, None)
        if entry is None:
            self.missing.append(path)
            return param
        expected = param.record_shape()
        if tuple(entry.shape) != expected:
            self.errors.append(f"{path}: shape mismatch, expected {list(expected)} but record has {list(entry.shape)}")
        elif not self.takes(param.kind, entry.dtype):
            self.errors.append(f"{path}: kind mismatch, the parameter is {param.kind} but the record has {entry.dtype}")
        else:
            id = param.id if entry.param_id is None else ParamId(entry.param_id)
            return param.transform_for_load(self._tensor(entry, param, self.ahead.pop(path, None)), id)
        return param

    map_int = map_bool = map_float

    def takes(self, kind: str, dtype: PackDType) -> bool:
        if kind == "bool":
            return dtype.kind == "bool" or dtype.name in ("U8", "U32")
        # Quantized data has an error of its own, which says more.
        return dtype.kind in (kind, "quantized") or self.cast

    def _tensor(self, entry: PackTensor, param: Param, ahead: Future | None) -> Tensor:
        tensor = unpack_tensor(entry, param.lazy_device(), param.kind) if ahead is None else ahead.result()
        return tensor.cast(param.val().dtype) if self.cast and param.kind != "bool" else tensor


class _Ahead(PathTracking, ModuleVisitor):
    """Hands what a mapper will read to threads. What is wrong is left to the mapper, which finds it again."""

    def __init__(self, mapper: _Apply, threads: ThreadPoolExecutor):
        super().__init__()
        self._mapper = mapper
        self._threads = threads

    def visit_float(self, param: Param):
        mapper, path = self._mapper, self.path()
        entry = mapper.entries.get(path)
        if entry is None or not worth_a_thread(entry) or tuple(entry.shape) != param.record_shape():
            return
        device = param.lazy_device()
        if mapper.takes(param.kind, entry.dtype) and device._dlpack()[0] == HOST:
            mapper.ahead[path] = self._threads.submit(unpack_tensor, entry, device, param.kind)

    visit_int = visit_bool = visit_float


def worth_a_thread(entry: PackTensor) -> bool:
    """Whether a tensor is large, and reading it runs no code but this package's."""
    return entry.byte_len() >= _AHEAD and (entry.is_stored() or entry.is_constant())


def reading_ahead(entries: Iterable[PackTensor], begin: Callable[[ThreadPoolExecutor], None], run: Callable[[], Any]):
    """What run() gives; before it, begin(threads) may hand to threads what it will read, where there is enough of it."""
    workers = min(core.pool_size_now(), _MAX_THREADS)
    if workers == 1 or sum(entry.byte_len() for entry in entries) < 2 * _AHEAD:
        return run()
    with ThreadPoolExecutor(workers, "burn-load") as threads:
        try:
            begin(threads)
            return run()
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise


def pack_tensor(name: str, tensor: Tensor, id: ParamId | None = None) -> PackTensor:
    """A tensor as a container holds it; memory of the CPU is shared, not copied."""
    form = tensor.dtype._serde
    dtype = PackDType("Bool", form["Bool"]) if isinstance(form, dict) else PackDType(form)
    return PackTensor(name, dtype, tuple(tensor.shape), tensor.numpy(), None if id is None else id.val())


def unpack_tensor(entry: PackTensor, device, kind: str | None = None) -> Tensor:
    """A tensor on a device from a container's entry, in the recorded dtype (Bool: in the device's own store)."""
    if entry.dtype.name == "QFloat":
        raise QuantizedRecordError(
            f"[load_record] {entry.name!r} is quantized ({entry.dtype}): this release has no quantized tensors yet; "
            "save the model from Burn after dequantizing it"
        )
    tensor = None if kind == "bool" or entry.dtype.name == "Bool" else _adopted(entry, device)
    if tensor is not None:
        return tensor
    array = entry.to_numpy()
    if kind == "bool" or entry.dtype.name == "Bool":
        # Any byte but 0 counts as true, so no Bool tensor holds anything else than 0 and 1.
        flat = array.view("u1") if array.dtype.itemsize == 1 else array
        return Tensor.from_data(flat != 0, device)
    return Tensor.from_data(array, device, DType.of(entry.dtype.name.lower()))


def _adopted(entry: PackTensor, device) -> Tensor | None:
    """The tensor without a copy: read straight into its memory, or over bytes that never change; None where that cannot be."""
    if device._dlpack()[0] != HOST or not 1 <= len(entry.shape) <= 8:
        return None
    dtype = DType.of(entry.dtype.name.lower())
    if entry.is_stored():
        tensor = core.empty(entry.shape, dtype.code, device._slot, device._ctx)
        if entry.byte_len():
            entry.read_into(core.to_writable(tensor))
        return tensor
    if not entry.is_constant():
        return None
    array = entry.to_numpy()
    if array.ctypes.data % dtype.size or not array.size:
        return None
    return core.borrow(
        array.ctypes.data, array, array.shape, array.strides, dtype.code, device._slot, device._ctx, True
    )


def _module(op: str, module):
    from burn.module.base import Module

    return instance(op, "module", module, Module)


def _adapters(module, unused) -> str:
    """What to do where unused tensors belong to a parameter of the module, as those of adapters do; else nothing."""
    known = ModuleRecord.from_module(module).paths()
    owner = next((path for path in known if any(name.startswith(f"{path}.") for name in unused)), None)
    return "" if owner is None else f"attach to {owner!r} what it had (apply_lora, apply_reparameterization), or "


def _names(paths) -> str:
    return "[" + ", ".join(f'"{path}"' for path in paths) + "]"
