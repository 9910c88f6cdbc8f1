"""`GradientsAccumulator`: the sum of the gradients of several backward passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burn._ops.registry import check_same
from burn.module import ModuleVisitor, Param
from burn.optim.grads import GradientsParams, check_grads, check_module

if TYPE_CHECKING:
    from burn.module import Module


class GradientsAccumulator:
    """Sums gradients, so that several small batches make one step (Burn: `GradientsAccumulator`).

    Gradients are added, not averaged: divide the loss by the number of batches for a mean.

    Example:
        >>> from burn.nn import LinearConfig
        >>> device = burn.Device.flex().autodiff()
        >>> model, accumulator = LinearConfig(2, 1).init(device), GradientsAccumulator()
        >>> for batch in range(2):
        ...     grads = model(burn.Tensor.ones([1, 2], device)).sum().backward()
        ...     accumulator.accumulate(model, GradientsParams.from_grads(grads, model))
        >>> accumulator.grads().get(model.bias.id).tolist(), accumulator.grads().is_empty()
        ([2.0], True)
    """

    def __init__(self) -> None:
        self._sum = GradientsParams()

    def accumulate(self, module: Module, grads: GradientsParams) -> None:
        """Add the gradients of a module's parameters; gradients of others are dropped.

        Args:
            module: the module.
            grads: its gradients; used up.

        Raises:
            DeviceError: a gradient on another device than those before it.
        """
        check_module("accumulate", module).visit(_Adder(self._sum, check_grads("accumulate", grads)))

    def grads(self) -> GradientsParams:
        """The sum; the accumulator is empty afterwards."""
        result, self._sum = self._sum, GradientsParams()
        return result


class _Adder(ModuleVisitor):
    def __init__(self, total: GradientsParams, grads: GradientsParams) -> None:
        self._total = total
        self._grads = grads

    def visit_float(self, param: Param) -> None:
        grad, before = self._grads.get(param.id), self._total.get(param.id)
        if grad is None:
            return
        if before is not None:
            check_same("accumulate", before, grad, "grads")
            grad = before + grad
        self._total.register(param.id, grad)
        self._grads.remove(param.id)
