"""`ModuleOptimizer`: an optimizer for every parameter of a module."""

from __future__ import annotations

import copy
import dataclasses
import math
import warnings
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar

from burn._arguments import finite, fits, instance, shown
from burn._core import core
from burn._locks import Lock
from burn.device import Device
from burn.errors import ArgumentError, ArgumentTypeError, AutodiffError, DTypeError, RecordValidationError, ShapeError
from burn.grad_clipping import GradientClipping, GradientClippingConfig
from burn.module import Module, ModuleMapper, ModuleVisitor, Param, ParamGroup, ParamId, PathTracking
from burn.optim.base import Optimizer
from burn.optim.grads import GradientsParams, check_grads, check_module
from burn.optim.one_pass import OnePass, is_half, runs_at_once
from burn.optim.record import OptimizerRecord
from burn.optim.state import MissingLeaf, flatten, map_tensors, unflatten
from burn.store.pack import PackTensor, Scalar
from burn.tensor import Tensor

_Module = TypeVar("_Module", bound=Module)

_RANK = "__rank"


class _Group(NamedTuple):
    group: ParamGroup
    optimizer: Optimizer
    clipping: GradientClipping | None


class ModuleOptimizer:
    """Optimizer of the parameters of a module (Burn: `ModuleOptimizer`), usually made by `init()` of a config.

    Threads may share one: its steps, copies and records take turns.

    Args:
        optimizer: the rule for every parameter; `with_group` adds others.
        grad_clipping: clipping of each gradient, if any.

    Example:
        >>> from burn.device import Device
        >>> from burn.grad_clipping import GradientClippingConfig
        >>> from burn.nn import LinearConfig
        >>> from burn.optim import AdamConfig, GradientsParams, SgdConfig
        >>> device = Device.flex().autodiff()
        >>> model, optim = LinearConfig(2, 1).init(device), AdamConfig().init()
        >>> grads = model(Tensor.ones([1, 2], device)).sum().backward()
        >>> model = optim.step(0.01, model, GradientsParams.from_grads(grads, model))
        >>> optim.clone().load_record(optim.to_record())
        ModuleOptimizer(Adam; 2 states)
        >>> optim.save("optim")
        >>> AdamConfig().init().load("optim"), AdamConfig().init().from_bytes(optim.into_bytes())
        (ModuleOptimizer(Adam; 2 states), ModuleOptimizer(Adam; 2 states))
        >>> optim.with_group(ParamGroup.from_path("bias"), SgdConfig().build()).has_gradient_clipping()
        False
        >>> optim.with_grad_clipping(GradientClippingConfig.Norm(1.0)).grad_clipping()
        GradientClipping.Norm(1.0)
    """

    def __init__(
        self, optimizer: Optimizer, grad_clipping: GradientClippingConfig | GradientClipping | None = None
    ) -> None:
        self._groups = [_Group(ParamGroup.all(), _rule("ModuleOptimizer", optimizer), _clipping(grad_clipping))]
        self._states: dict[int, core.UpdateState] = {}  # by the number of the id
        self._unseen = False  # whether states were loaded that no step has looked for
        self._lock = Lock()  # steps change moments in place, which a thread that copies them must not see half done

    def with_group(
        self,
        group: ParamGroup,
        optimizer: Optimizer,
        grad_clipping: GradientClippingConfig | GradientClipping | None = None,
    ) -> ModuleOptimizer:
        """Use another rule for a group of parameters; a parameter takes the last group that it belongs to.

        States of parameters in the group are dropped.

        Args:
            group: the parameters.
            optimizer: their rule, made by `build()` of a config.
            grad_clipping: their clipping; that of other groups does not count for them.

        Returns:
            This optimizer, changed.
        """
        instance("with_group", "group", group, ParamGroup, "use ParamGroup.from_path(...)")
        self._groups.append(_Group(group, _rule("with_group", optimizer), _clipping(grad_clipping)))
        self._states = {id: entry for id, entry in self._states.items() if not group.matches(ParamId(id), entry.path)}
        return self

    def with_grad_clipping(self, grad_clipping: GradientClippingConfig | GradientClipping) -> ModuleOptimizer:
        """Set the clipping of parameters that no `with_group` took, from the next step on; returns this optimizer.

        Args:
            grad_clipping: the clipping.
        """
        self._groups[0] = self._groups[0]._replace(clipping=_clipping(grad_clipping))
        return self

    def grad_clipping(self) -> GradientClipping | None:
        """Clipping of the parameters that no `with_group` took."""
        return self._groups[0].clipping

    def has_gradient_clipping(self) -> bool:
        """Whether any group clips gradients."""
        return any(group.clipping is not None for group in self._groups)

    def step(self, lr: float, module: _Module, grads: GradientsParams) -> _Module:
        """Update the parameters of a module.

        Args:
            lr: learning rate, or a `ModuleLearningRate` with one for each group of parameters.
            module: the module; it stays as it is.
            grads: gradients of its parameters; used up. A parameter without one stays as it is, and so does its state, and
                so does one that is not to be trained; one on another device than its gradient moves there, with its
                state, as in Burn.

        Returns:
            The module with updated parameters.

        Raises:
            ArgumentError: if `lr` is not finite.
            ArgumentTypeError: if an argument has another type, as the gradients of `loss.backward()` have.
            AutodiffError: if there are gradients, but none for a parameter of this module.
        """
        lr = _learning_rate(lr)
        check_module("step", module)
        check_grads("step", grads)
        with self._lock.held:
            return self._step(lr, module, grads)

    def _step(self, lr: Any, module: _Module, grads: GradientsParams) -> _Module:
        count = len(grads)
        if self._unseen and count:
            self._unseen = False
            if self._states.keys().isdisjoint(grads._grads):
                warnings.warn(
                    f"[step] none of the {len(self._states)} states that were loaded is of a parameter with a gradient: all "
                    "start anew. States belong to the ids of parameters, so load the record of the model too, and before "
                    "the first step",
                    UserWarning,
                    stacklevel=3,
                )
        if self.has_gradient_clipping():
            # Before anything is updated: a gradient that cannot be clipped leaves module and states as they are.
            module.visit(_Clipper(self, grads))
        # They leave the container at once: a gradient that others could still get must not be overwritten.
        taken, grads._grads = grads._grads, {}
        stepper = _Stepper(self, lr, module, taken)
        try:
            module = module.map(stepper)
        finally:
            grads._grads = {**stepper.left(), **grads._grads}
        stepper.run()
        if count and count == len(grads):
            raise AutodiffError(
                f"[step] 'grads' must be gradients of this module, got {count} of other parameters; make them with "
                "GradientsParams.from_grads(loss.backward(), module), from the module that computed the loss"
            )
        return module

    def to_record(self) -> OptimizerRecord:
        """A snapshot of the states, sorted by parameter id."""
        record = OptimizerRecord()
        with self._lock.held:
            for id in sorted(self._states):
                entry, prefix = self._states[id], str(id)
                record.scalars[f"{prefix}.{_RANK}"] = Scalar.UInt(entry.rank)
                if entry.path is not None:
                    record.paths[prefix] = entry.path
                for name, leaf in flatten(self._state(entry), prefix):
                    if isinstance(leaf, Tensor):
                        # A copy: the next step may change the moments in place.
                        record.tensors.append(PackTensor.from_numpy(name, leaf.numpy().copy(), id))
                    else:
                        record.scalars[name] = _scalar(leaf)
        return record

    def load_record(self, record: OptimizerRecord) -> ModuleOptimizer:
        """Replace all states by those of a record; they keep its dtypes and move to their parameter's device when used.

        Load the model first: states belong to the ids of its parameters.

        Args:
            record: what `to_record` of an optimizer with the same settings gave.

        Returns:
            This optimizer, changed.

        Raises:
            RecordValidationError: if the record was written by another optimizer; the states are then unchanged.
        """
        instance("load_record", "record", record, OptimizerRecord, "read one with OptimizerRecord.load(path)")
        leaves: dict[int, dict[str, Any]] = {}
        for tensor in record.tensors:
            if tensor.param_id is None:
                raise RecordValidationError(
                    f"[load_record] tensor '{tensor.name}' must belong to a parameter, got no id; load the record into "
                    "the optimizer that wrote it (L-BFGS has one state for all parameters)"
                )
            values = tensor.to_numpy()
            value = Tensor.from_data(values, Device.flex(), values.dtype)
            leaves.setdefault(tensor.param_id, {})[tensor.name] = value
        for name, scalar in record.scalars.items():
            prefix = name.split(".", 1)[0]
            if not prefix.isdecimal():
                raise RecordValidationError(f"[load_record] scalar '{name}' must start with the id of a parameter")
            leaves.setdefault(int(prefix), {})[name] = scalar.value
        states = {id: self._entry(id, values, record.paths.get(str(id))) for id, values in leaves.items()}
        with self._lock.held:
            self._states = states
            self._unseen = bool(states)
        return self

    def into_bytes(self) -> bytes:
        """The states as the bytes of a burnpack file."""
        return self.to_record().into_bytes()

    def from_bytes(self, data: bytes) -> ModuleOptimizer:
        """Load the states from the bytes of a burnpack file; see `load_record`.

        Args:
            data: the bytes.
        """
        return self.load_record(OptimizerRecord.from_bytes(data))

    def save(self, path: str | Path, sync: bool = False) -> None:
        """Write the states to a burnpack file; `.bpk` is appended where `path` has no extension.

        Args:
            path: the file.
            sync: whether to wait until the file is on the disk, so that it survives a loss of power too.
        """
        self.to_record().save(path, sync)

    def load(self, path: str | Path) -> ModuleOptimizer:
        """Load the states from a burnpack file; see `load_record`.

        Args:
            path: the file.
        """
        return self.load_record(OptimizerRecord.load(path))

    def clone(self) -> ModuleOptimizer:
        """An optimizer with the same settings and states, which goes its own way from here."""
        # Moments are updated in place only where nobody else holds their memory: a second handle keeps it as it is.
        copied = type(self).__new__(type(self))
        with self._lock.held:
            copied.__dict__.update(self.__dict__)
            copied._lock = Lock()
            copied._groups = list(self._groups)
            copied._states = {id: entry.copy() for id, entry in self._states.items()}
            for entry in copied._states.values():
                copied._keep(entry, map_tensors(copied._state(entry), Tensor.clone))
        return copied

    def __copy__(self) -> ModuleOptimizer:
        return self.clone()

    def __deepcopy__(self, memo: dict) -> ModuleOptimizer:
        copied = self.clone()
        copied._groups = copy.deepcopy(self._groups, memo)
        return copied

    def __getstate__(self) -> tuple[list[_Group], bytes]:
        return self._groups, self.into_bytes()

    def __setstate__(self, state: tuple[list[_Group], bytes]) -> None:
        self._groups, data = state
        self._lock = Lock()
        self._states, self._unseen = {}, False
        self.from_bytes(data)

    def _group_of(self, id: ParamId, path: str | None) -> int:
        """Place of the group whose rule a parameter takes: that of its state, else the last one that matches."""
        entry = self._states.get(id.val())
        return entry.group if entry is not None else last_match(self._groups, id, path)

    def _state(self, entry: core.UpdateState) -> Any:
        """A state as its optimizer's `step` gives it."""
        rule = self._groups[entry.group].optimizer
        return entry.state if entry.tensors is None else rule._pack(entry.time, entry.tensors)

    def _keep(self, entry: core.UpdateState, state: Any) -> None:
        """Puts what an optimizer's `step` gave into an entry."""
        rule = self._groups[entry.group].optimizer
        parts = rule._unpack(state) if runs_at_once(rule) else None
        entry.state, entry.tensors = (state, None) if parts is None else (None, parts[1])
        entry.time = 0 if parts is None else parts[0]

    def _entry(self, id: int, leaves: dict[str, Any], path: str | None) -> core.UpdateState:
        prefix = str(id)
        rank = leaves.pop(f"{prefix}.{_RANK}", None)
        if rank is None:
            rank = next((leaf.ndim for leaf in leaves.values() if isinstance(leaf, Tensor)), 0)
        group = last_match(self._groups, ParamId(id), path)
        optimizer = self._groups[group].optimizer
        try:
            state = unflatten(optimizer.state_type, prefix, leaves)
        except MissingLeaf as missing:
            raise RecordValidationError(
                f"[load_record] the state of parameter {path or ParamId(id)} must fit {type(optimizer).__name__}, but has no "
                f"'{str(missing).removeprefix(prefix + '.')}'; load it into the optimizer that wrote it"
            ) from None
        left = leaves.keys() - {name for name, _ in flatten(state, prefix)}
        if left:
            raise RecordValidationError(
                f"[load_record] the state of parameter {path or ParamId(id)} must fit {type(optimizer).__name__}, which has no "
                f"'{min(left).removeprefix(prefix + '.')}'; load it into the optimizer that wrote it"
            )
        entry = core.UpdateState(Device.flex()._slot, rank, group, path)
        self._keep(entry, state)
        return entry

    def __repr__(self) -> str:
        rules = ", ".join(type(group.optimizer).__name__ for group in self._groups)
        return f"ModuleOptimizer({rules}; {len(self._states)} states)"


class _Clipper(PathTracking, ModuleVisitor):
    """Replaces the gradients of a module by clipped ones."""

    def __init__(self, optimizer: ModuleOptimizer, grads: GradientsParams) -> None:
        super().__init__()
        self._optimizer = optimizer
        self._grads = grads

    def visit_float(self, param: Param) -> None:
        grad = self._grads.get(param.id)
        if grad is None or not param.is_active():
            return
        path = self.path()
        clipping = self._optimizer._groups[self._optimizer._group_of(param.id, path)].clipping
        if clipping is not None:
            self._grads.register(param.id, clipping.clip_gradient(grad, path))


class _Stepper(core.Stepper, ModuleMapper):
    """One step: maps each float parameter that has a gradient to its new value.

    The values are written by `run`; until then nothing has changed, so that a step that fails leaves all states as they are.
    """

    def __init__(self, optimizer: ModuleOptimizer, lr: Any, module: Module, grads: dict[int, Tensor]) -> None:
        # The hook is compiled: most parameters are like the one before, and need nothing of what `_one` does.
        super().__init__(grads, optimizer._states)
        self._optimizer = optimizer
        self._lr = lr
        self._module = module
        self._paths: dict[ParamId, str] | None = None
        self._updates: dict[tuple, core.Updates] = {}
        self._states: dict[int, core.UpdateState | None] = {}  # those to come of the parameters that `_one` took

    def run(self) -> None:
        """Computes what the new parameters hold."""
        for updates in self._updates.values():
            updates.run()
        for id, entry in self._states.items():
            if entry is None:
                self._optimizer._states.pop(id, None)
            else:
                self._optimizer._states[id] = entry

    def updates_like(self, value: Tensor, entry: core.UpdateState) -> core.Updates | None:
        """The updates that a parameter with a state joins; None where `_one` has to see it."""
        lr, rule = self._lr, self._optimizer._groups[entry.group].optimizer
        if not isinstance(lr, float) or not runs_at_once(rule) or is_half(value):
            return None
        return self._updates_of(rule, lr, entry, value)

    def _one(self, param: Param, grad: Tensor, entry: core.UpdateState | None) -> Param:
        optimizer, id, lr = self._optimizer, param.id, self._lr
        # Paths cost a walk: a parameter that was stepped before has one already, unless the rate depends on it.
        path = self._path(id) if entry is None or not isinstance(lr, float) else entry.path
        group = optimizer._group_of(id, path)
        rule = optimizer._groups[group].optimizer
        if not isinstance(lr, float):
            lr = lr.lr_from_param(id, path)
        value = param.base()
        slot = grad._slot
        if value._slot != slot:
            value = core.cut(value.inner().to_device(grad.device), value._ctx)
        if entry is not None:
            entry = entry.copy()
            if entry.slot != slot:
                optimizer._keep(entry, rule.to_device(optimizer._state(entry), grad.device))
        else:
            entry = core.UpdateState(slot, value.ndim, group, path)
        entry.slot, entry.path = slot, path
        if runs_at_once(rule) and not is_half(value):
            if entry.tensors is None:
                entry.time, entry.tensors = rule._begin(value.inner())
            updates = self._updates_of(rule, lr, entry, value)
            if not updates.takes(value, grad, entry):
                _refuse(path, value, grad, entry.tensors)
            self._states[id.val()] = entry
            return core.with_value(param, updates.add(value, grad, entry))
        state = None if entry.tensors is None and entry.state is None else optimizer._state(entry)
        tensor, state = rule.step(lr, value.inner(), grad, state)
        if state is not None:
            optimizer._keep(entry, state)
        self._states[id.val()] = None if state is None else entry
        # The parameter's autodiff association comes back; with_value makes it a leaf again where it is trained.
        return param.with_value(core.cut(tensor, value._ctx) if value._ctx else tensor)

    def _updates_of(self, rule: OnePass, lr: float, entry: core.UpdateState, value: Tensor) -> core.Updates:
        key = entry.group, lr, entry.time, value._slot, value._dtype
        updates = self._updates.get(key)
        if updates is None:
            self._updates[key] = updates = core.Updates(
                rule.op, *rule._numbers(lr, entry.time), entry.time, entry.group
            )
        return updates

    def _path(self, id: ParamId) -> str:
        if self._paths is None:
            paths = _Paths()
            self._module.visit(paths)
            self._paths = paths.found
        return self._paths[id]


class _Paths(PathTracking, ModuleVisitor):
    """The paths of the float parameters of a module."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[ParamId, str] = {}

    def visit_float(self, param: Param) -> None:
        if param.is_active():
            self.found[param.id] = self.path()


def _refuse(path: str | None, value: Tensor, grad: Tensor, state: tuple[Tensor, ...]) -> NoReturn:
    """Raises, naming the parameter whose gradient or state does not fit it."""
    for what, tensor, advice in (
        ("gradient", grad, "register the gradient of this very parameter"),
        *(("state", t, "begin with a new optimizer when parameters change") for t in state),
    ):
        if tensor._dims != value._dims or tensor.dtype is not value.dtype:
            error = ShapeError if tensor._dims != value._dims else DTypeError
            raise error(
                f"[step] the {what} of '{path}' must have the parameter's shape and dtype, {value.dims()} of "
                f"{value.dtype.name}, got {tensor.dims()} of {tensor.dtype.name}; {advice}"
            )
    raise AssertionError(f"[step] '{path}' fits its gradient and state")


def last_match(groups: list, id: ParamId, path: str | None) -> int:
    """Place of the last of `groups` (tuples that start with a `ParamGroup`) that a parameter belongs to."""
    for place in range(len(groups) - 1, 0, -1):
        if groups[place][0].matches(id, path):
            return place
    return 0


def _clipping(clipping: GradientClippingConfig | GradientClipping | None) -> GradientClipping | None:
    if isinstance(clipping, GradientClippingConfig):
        return clipping.init()
    if clipping is None:
        return None
    return instance(
        "ModuleOptimizer", "grad_clipping", clipping, GradientClipping, "use GradientClippingConfig.Norm(1.0)"
    )


def _rule(op: str, optimizer: Optimizer) -> Optimizer:
    instance(op, "optimizer", optimizer, Optimizer, "build() of a config, such as AdamConfig(), makes one")
    kind = getattr(optimizer, "state_type", None)
    if dataclasses.is_dataclass(kind) and any(field.name == _RANK for field in dataclasses.fields(kind)):
        raise ArgumentError(
            f"[{op}] the state of {type(optimizer).__name__} must have no field {_RANK!r}, where records have the rank of the "
            "parameter; give the field another name"
        )
    return optimizer


def _learning_rate(lr: Any) -> Any:
    """The rate as a float, or what gives a rate for each parameter."""
    if type(lr) is float and math.isfinite(lr):
        return lr
    if fits(lr, float):
        return finite("step", "lr", lr)
    if not hasattr(lr, "lr_from_param"):
        remedy = "; use the result of its step()" if hasattr(lr, "step") else ""
        raise ArgumentTypeError(f"[step] 'lr' must be a number or a ModuleLearningRate, got {shown(lr)}{remedy}")
    return lr


def _scalar(value: bool | int | float) -> Scalar:
    """The scalar that Burn writes for a number: its counters are unsigned."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return Scalar.UInt(value)
    return Scalar.of(value)
