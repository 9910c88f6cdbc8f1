"""Optimizers whose step is one kernel over a parameter and its state."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from burn._ops.elementwise import updated
from burn.optim.base import Optimizer

if TYPE_CHECKING:
    from burn._core.core import Op
    from burn.tensor import Tensor


class OnePass(Optimizer):
    """An optimizer that `ModuleOptimizer` runs on many parameters at once.

    A state is an age, the number of steps so far, and tensors of the parameter's shape and dtype. Parameters of half
    precision have no kernel of their own: `_step_half` takes them.
    """

    op: ClassVar[Op]

    @abstractmethod
    def _begin(self, tensor: Tensor) -> tuple[int, tuple[Tensor, ...]]:
        """Age and tensors before the first step of a parameter."""

    @abstractmethod
    def _unpack(self, state: Any) -> tuple[int, tuple[Tensor, ...]] | None:
        """Age and tensors of a state; None where it holds none yet."""

    @abstractmethod
    def _pack(self, time: int, tensors: tuple[Tensor, ...]) -> Any:
        """The state of an age and tensors, as `step` and records have it."""

    @abstractmethod
    def _numbers(self, lr: float, time: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """The kernel's whole numbers and floats for the step after `time` others."""

    @abstractmethod
    def _step_half(self, lr: float, tensor: Tensor, grad: Tensor, state: Any) -> tuple[Tensor, Any]:
        """The step of a parameter of half precision."""

    def step(self, lr: float, tensor: Tensor, grad: Tensor, state: Any) -> tuple[Tensor, Any]:
        if is_half(tensor):
            return self._step_half(lr, tensor, grad, state)
        time, tensors = (None if state is None else self._unpack(state)) or self._begin(tensor)
        tensor, tensors = updated(self.op, tensor, grad, tensors, *self._numbers(lr, time))
        return tensor, self._pack(time + 1, tensors)


def is_half(tensor: Tensor) -> bool:
    """Whether a tensor has too few bits for moments: they would underflow."""
    return tensor.dtype.size == 2


def runs_at_once(optimizer: Optimizer) -> bool:
    """Whether a step is that of the kernel: a class that overrides `step` is asked for each parameter."""
    return isinstance(optimizer, OnePass) and type(optimizer).step is OnePass.step
