"""`GradientsParams`: gradients by parameter id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn

from burn._arguments import device as check_device
from burn._arguments import instance
from burn._autodiff import Gradients
from burn.errors import AutodiffError
from burn.module import Module, ModuleVisitor, Param, ParamId, PathTracking
from burn.tensor import Tensor

if TYPE_CHECKING:
    from burn.device import Device


class GradientsParams:
    """Gradients of parameters, without autodiff, by the parameters' ids (Burn: `GradientsParams`).

    Example:
        >>> from burn.device import Device
        >>> from burn.nn import LinearConfig
        >>> device = Device.flex().autodiff()
        >>> model = LinearConfig(2, 1).init(device)
        >>> grads = model(Tensor.ones([1, 2], device)).sum().backward()
        >>> grads = GradientsParams.from_grads(grads, model)
        >>> len(grads), grads.get(model.weight.id).shape
        (2, [2, 1])
        >>> grads.register(model.bias.id, Tensor([5.0]))
        >>> grads.remove(model.bias.id).tolist(), len(grads), grads.is_empty(), len(grads.to_device(Device.flex(), model))
        ([5.0], 1, False, 1)
    """

    def __init__(self) -> None:
        self._grads: dict[int, Tensor] = {}  # by the number of the id

    @classmethod
    def from_grads(cls, grads: Gradients, module: Module) -> GradientsParams:
        """The gradients of a module's parameters, taken out of `grads`.

        Parameters that do not require a gradient or did not take part are left out.

        Args:
            grads: what `backward` returned.
            module: the module.

        Raises:
            AutodiffError: if two trained parameters have one id, as those of a layer and its `clone()`: one id has one
                gradient.
        """
        return cls.from_module(grads, module)

    @classmethod
    def from_module(cls, grads: Gradients, module: Module) -> GradientsParams:
        """As `from_grads`; what belongs to other modules stays in `grads`, for several modules of one backward pass.

        Args:
            grads: what `backward` returned.
            module: the module.

        >>> from burn.nn import LinearConfig
        >>> device = burn.Device.flex().autodiff()
        >>> model = LinearConfig(2, 1).init(device)
        >>> len(GradientsParams.from_module(model(Tensor.ones([1, 2], device)).sum().backward(), model))
        2
        """
        return _Collector(grads, None).of(check_module("from_grads", module))

    @classmethod
    def from_params(cls, grads: Gradients, module: Module, ids: Iterable[ParamId]) -> GradientsParams:
        """As `from_module`, for the parameters of the module with these ids.

        Args:
            grads: what `backward` returned.
            module: the module.
            ids: ids of the parameters.

        >>> from burn.nn import LinearConfig
        >>> device = burn.Device.flex().autodiff()
        >>> model = LinearConfig(2, 1).init(device)
        >>> len(GradientsParams.from_params(model(Tensor.ones([1, 2], device)).sum().backward(), model, [model.bias.id]))
        1
        """
        collector = _Collector(grads, set(instance("from_params", "ids", ids, Iterable)))
        return collector.of(check_module("from_params", module))

    def get(self, id: ParamId) -> Tensor | None:
        """The gradient of a parameter; None if there is none.

        Args:
            id: its id.
        """
        return self._grads.get(instance("get", "id", id, ParamId).val())

    def remove(self, id: ParamId) -> Tensor | None:
        """Take the gradient of a parameter out; None if there is none.

        Args:
            id: its id.
        """
        return self._grads.pop(instance("remove", "id", id, ParamId).val(), None)

    def register(self, id: ParamId, tensor: Tensor) -> None:
        """Set the gradient of a parameter, replacing one that is there.

        Args:
            id: its id.
            tensor: the gradient.

        Raises:
            AutodiffError: if `tensor` has autodiff.
        """
        instance("register", "id", id, ParamId)
        if instance("register", "tensor", tensor, Tensor).is_autodiff():
            raise AutodiffError(
                "[register] 'tensor' must be without autodiff, got an autodiff tensor; use tensor.inner()"
            )
        self._grads[id.val()] = tensor

    def is_empty(self) -> bool:
        """Whether there is no gradient."""
        return not self._grads

    def to_device(self, device: Device, module: Module) -> GradientsParams:
        """Move the gradients of a module's parameters; others stay where they are.

        Args:
            device: a Device.
            module: whose gradients to move.
        """
        check_module("to_device", module).visit(_Mover(self._grads, check_device("to_device", device)))
        return self

    def __len__(self) -> int:
        return len(self._grads)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"GradientsParams(len={len(self)})"


def check_module(op: str, module: Module) -> Module:
    """The module; raises where it is none."""
    return instance(op, "module", module, Module)


def check_grads(op: str, grads: GradientsParams) -> GradientsParams:
    """The gradients of a module; raises where they are none."""
    remedy = "make it with GradientsParams.from_grads(loss.backward(), module)"
    return instance(op, "grads", grads, GradientsParams, remedy)


class _Collector(ModuleVisitor):
    def __init__(self, grads: Gradients, ids: set[ParamId] | None) -> None:
        self._grads = instance("from_grads", "grads", grads, Gradients, "loss.backward() gives them")
        self._ids = ids
        self._seen: set[int] = set()
        self._twice: set[int] = set()
        self.result = GradientsParams()

    def of(self, module: Module) -> GradientsParams:
        """The gradients of a module's parameters."""
        module.visit(self)
        if not self._twice.isdisjoint(self.result._grads):
            _refuse_twice(module, self._twice & self.result._grads.keys())
        return self.result

    def visit_float(self, param: Param) -> None:
        # A parameter that is not initialised was in no forward pass: initialising it here would be for nothing.
        if not param.is_initialized() or (self._ids is not None and param.id not in self._ids):
            return
        grad = param.val().grad_remove(self._grads)
        number = param.id.val()
        if grad is not None:
            self.result._grads[number] = grad
        if param.is_active():
            (self._twice if number in self._seen else self._seen).add(number)


class _Places(PathTracking, ModuleVisitor):
    """The paths of trained parameters, by the number of their ids."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[int, list[str]] = {}

    def visit_float(self, param: Param) -> None:
        if param.is_active() and param.is_initialized():
            self.found.setdefault(param.id.val(), []).append(self.path())


def _refuse_twice(module: Module, numbers: set[int]) -> NoReturn:
    """Raises, naming the places of a parameter's id."""
    places = _Places()
    module.visit(places)
    first, second, *_ = next(paths for number, paths in places.found.items() if number in numbers)
    raise AutodiffError(
        f"[from_grads] 'module' must have an id for each trained parameter, but {first!r} and {second!r} have one, as those of "
        "a clone() or of a file that was loaded twice, and so one gradient; build the second layer from its configuration, "
        "freeze() one of them, or give it new ids with a ModuleMapper and Param.from_mapped_value(ParamId(), value.detach(), ...)"
    )


class _Mover(ModuleVisitor):
    def __init__(self, grads: dict[int, Tensor], device: Device) -> None:
        self._grads = grads
        self._device = device

    def visit_float(self, param: Param) -> None:
        grad = self._grads.get(param.id.val())
        if grad is not None:
            self._grads[param.id.val()] = grad.to_device(self._device)
