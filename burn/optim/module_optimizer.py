"""`ModuleOptimizer`: an optimizer for every parameter of a module."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from burn._arguments import finite, fits, instance, shown
from burn._core import core
from burn.device import Device
from burn.errors import ArgumentTypeError, AutodiffError, RecordValidationError
from burn.grad_clipping import GradientClipping, GradientClippingConfig
from burn.module import ModuleMapper, ModuleVisitor, Param, ParamGroup, ParamId, PathTracking
from burn.optim.base import Optimizer
from burn.optim.grads import GradientsParams, check_grads, check_module
from burn.optim.record import OptimizerRecord
from burn.optim.state import MissingLeaf, flatten, map_tensors, unflatten
from burn.store.pack import PackTensor, Scalar
from burn.tensor import Tensor

if TYPE_CHECKING:
    from burn.module import Module

_RANK = "__rank"


class _Group(NamedTuple):
    group: ParamGroup
    optimizer: Optimizer
    clipping: GradientClipping | None


class _Entry(NamedTuple):
    """State of one parameter; `slot` is its device's in the core, `group` its place in the list of groups."""

    state: Any
    slot: int
    rank: int
    group: int
    path: str | None


class ModuleOptimizer:
    """Optimizer of the parameters of a module (Burn: `ModuleOptimizer`), usually made by `init()` of a config.

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
        self._states: dict[ParamId, _Entry] = {}

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
        self._states = {id: entry for id, entry in self._states.items() if not group.matches(id, entry.path)}
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

    def step(self, lr: float, module: Module, grads: GradientsParams) -> Module:
        """Update the parameters of a module.

        Args:
            lr: learning rate, or a `ModuleLearningRate` with one for each group of parameters.
            module: the module; it stays as it is.
            grads: gradients of its parameters; used up. A parameter without one stays as it is, and so does its state;
                one on another device than its gradient moves there, with its state, as in Burn.

        Returns:
            The module with updated parameters.

        Raises:
            ArgumentError: if `lr` is not finite.
            ArgumentTypeError: if an argument has another type, as the gradients of `loss.backward()` have.
            AutodiffError: if there are gradients, but none for a parameter of this module.
        """
        lr = _learning_rate(lr)
        check_module("step", module)
        count = len(check_grads("step", grads))
        if self.has_gradient_clipping():
            # Before anything is updated: a gradient that cannot be clipped leaves module and states as they are.
            module.visit(_Clipper(self, grads))
        module = module.map(_Stepper(self, lr, grads))
        if count and count == len(grads):
            raise AutodiffError(
                f"[step] 'grads' must be gradients of this module, got {count} of other parameters; make them with "
                "GradientsParams.from_grads(loss.backward(), module), from the module that computed the loss"
            )
        return module

    def to_record(self) -> OptimizerRecord:
        """A snapshot of the states, sorted by parameter id."""
        record = OptimizerRecord()
        for id in sorted(self._states, key=ParamId.val):
            entry, prefix = self._states[id], str(id.val())
            record.scalars[f"{prefix}.{_RANK}"] = Scalar.UInt(entry.rank)
            if entry.path is not None:
                record.paths[prefix] = entry.path
            for name, leaf in flatten(entry.state, prefix):
                if isinstance(leaf, Tensor):
                    # A copy: the next step may change the moments in place.
                    record.tensors.append(PackTensor.from_numpy(name, leaf.numpy().copy(), id.val()))
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
        leaves: dict[ParamId, dict[str, Any]] = {}
        for tensor in record.tensors:
            if tensor.param_id is None:
                raise RecordValidationError(
                    f"[load_record] tensor '{tensor.name}' must belong to a parameter, got no id; load the record into "
                    "the optimizer that wrote it (L-BFGS has one state for all parameters)"
                )
            values = tensor.to_numpy()
            value = Tensor.from_data(values, Device.flex(), values.dtype)
            leaves.setdefault(ParamId(tensor.param_id), {})[tensor.name] = value
        for name, scalar in record.scalars.items():
            prefix = name.split(".", 1)[0]
            if not prefix.isdecimal():
                raise RecordValidationError(f"[load_record] scalar '{name}' must start with the id of a parameter")
            leaves.setdefault(ParamId(int(prefix)), {})[name] = scalar.value
        self._states = {id: self._entry(id, values, record.paths.get(str(id.val()))) for id, values in leaves.items()}
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

    def save(self, path: str | Path) -> None:
        """Write the states to a burnpack file; `.bpk` is appended where `path` has no extension.

        Args:
            path: the file.
        """
        self.to_record().save(path)

    def load(self, path: str | Path) -> ModuleOptimizer:
        """Load the states from a burnpack file; see `load_record`.

        Args:
            path: the file.
        """
        return self.load_record(OptimizerRecord.load(path))

    def clone(self) -> ModuleOptimizer:
        """An optimizer with the same settings and states, which goes its own way from here."""
        # Moments are updated in place only where nobody else holds their memory: a second handle keeps it as it is.
        copied = copy.copy(self)
        copied._groups = list(self._groups)
        copied._states = {
            id: entry._replace(state=map_tensors(entry.state, Tensor.clone)) for id, entry in self._states.items()
        }
        return copied

    def _group_of(self, id: ParamId, path: str | None) -> int:
        """Place of the group whose rule a parameter takes: that of its state, else the last one that matches."""
        entry = self._states.get(id)
        return entry.group if entry is not None else last_match(self._groups, id, path)

    def _entry(self, id: ParamId, leaves: dict[str, Any], path: str | None) -> _Entry:
        prefix = str(id.val())
        rank = leaves.pop(f"{prefix}.{_RANK}", None)
        if rank is None:
            rank = next((leaf.ndim for leaf in leaves.values() if isinstance(leaf, Tensor)), 0)
        group = last_match(self._groups, id, path)
        optimizer = self._groups[group].optimizer
        try:
            state = unflatten(optimizer.state_type, prefix, leaves)
        except MissingLeaf as missing:
            raise RecordValidationError(
                f"[load_record] the state of parameter {path or id} must fit {type(optimizer).__name__}, but has no "
                f"'{str(missing).removeprefix(prefix + '.')}'; load it into the optimizer that wrote it"
            ) from None
        return _Entry(state, Device.flex()._slot, rank, group, path)

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
        if grad is None:
            return
        path = self.path()
        clipping = self._optimizer._groups[self._optimizer._group_of(param.id, path)].clipping
        if clipping is not None:
            self._grads.register(param.id, clipping.clip_gradient(grad, path))


class _Stepper(PathTracking, ModuleMapper):
    """One step: maps each float parameter that has a gradient to its new value."""

    def __init__(self, optimizer: ModuleOptimizer, lr: Any, grads: GradientsParams) -> None:
        super().__init__()
        self._optimizer = optimizer
        self._states = optimizer._states
        self._lr = lr
        self._grads = grads

    def map_float(self, param: Param) -> Param:
        id = param.id
        grad = self._grads.remove(id)
        if grad is None:
            return param
        path = self.path()
        group = self._optimizer._group_of(id, path)
        optimizer = self._optimizer._groups[group].optimizer
        lr = self._lr
        if not isinstance(lr, float):
            lr = lr.lr_from_param(id, path)
        entry = self._states.get(id)
        state = entry.state if entry is not None else None
        value = param.base()
        tensor = value.inner()
        slot = grad._slot
        if tensor._slot != slot:
            tensor = tensor.to_device(grad.device)
        if entry is not None and entry.slot != slot:
            state = optimizer.to_device(state, grad.device)
        tensor, state = optimizer.step(lr, tensor, grad, state)
        if state is None:
            self._states.pop(id, None)
        else:
            self._states[id] = _Entry(state, slot, tensor.ndim, group, path)
        # The parameter's autodiff association comes back; with_value makes it a leaf again where it is trained.
        return param.with_value(core.cut(tensor, value._ctx) if value._ctx else tensor)


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
    return instance(op, "optimizer", optimizer, Optimizer, "build() of a config, such as AdamConfig(), makes one")


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
