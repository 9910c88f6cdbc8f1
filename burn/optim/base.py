"""The `Optimizer` interface: the update of one tensor."""

from __future__ import annotations

import sys
from abc import ABCMeta, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from burn._arguments import shown
from burn.errors import ArgumentTypeError
from burn.optim.state import map_tensors

if TYPE_CHECKING:
    from burn.device import Device
    from burn.tensor import Tensor


class _OptimizerMeta(ABCMeta):
    """Tells who makes an optimizer of burn without its configuration how it is made."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        config = getattr(sys.modules[cls.__module__], cls.__name__ + "Config", None)
        if config is not None and cls.__module__.startswith("burn."):
            wrong = [f"{name}={shown(value)}" for name, value in kwargs.items() if name != "config"]
            if wrong or len(args) + ("config" in kwargs) != 1 or not isinstance((*args, *kwargs.values())[0], config):
                given = ", ".join([*map(shown, args), *wrong]) or "nothing"
                raise ArgumentTypeError(
                    f"[{cls.__name__}] takes its configuration alone, got {given}; make one with {config.__name__}(...).init(): "
                    "the learning rate and the module are arguments of step(lr, module, grads)"
                )
        return super().__call__(*args, **kwargs)


class Optimizer(metaclass=_OptimizerMeta):
    """Rule that updates one tensor from its gradient (Burn: `Optimizer`); `ModuleOptimizer` applies it to a module.

    An optimizer of one's own names the dataclass of its state, which is saved field by field: tensors, numbers, lists
    of tensors, nested dataclasses, or any of these `| None`.

    Example: momentum that only keeps the sign.

        >>> from dataclasses import dataclass
        >>> from burn.tensor import Tensor
        >>> @dataclass
        ... class SignState:
        ...     momentum: Tensor
        >>> class Sign(Optimizer):
        ...     state_type = SignState
        ...     def step(self, lr, tensor, grad, state):
        ...         momentum = grad if state is None else 0.9 * state.momentum + 0.1 * grad
        ...         return tensor - lr * momentum.sign(), SignState(momentum)
    """

    state_type: ClassVar[type]

    @abstractmethod
    def step(self, lr: float, tensor: Tensor, grad: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Update a tensor.

        Args:
            lr: learning rate.
            tensor: the value, without autodiff.
            grad: its gradient: same shape, dtype and device, without autodiff.
            state: what the last step of this tensor returned; None at the first one.

        Returns:
            The new value and the new state (None keeps no state).
        """

    def to_device(self, state: Any, device: Device) -> Any:
        """The state with its tensors on `device`.

        Args:
            state: what `step` returned.
            device: a Device.

        >>> from burn.optim import AdamConfig
        >>> rule = AdamConfig().build()
        >>> value, state = rule.step(0.1, burn.Tensor([1.0]), burn.Tensor([0.5]), None)
        >>> rule.to_device(state, burn.Device.ndarray()).momentum.moment_1.device
        Device<NdArray(Cpu)>
        """
        return map_tensors(state, lambda tensor: tensor.to_device(device))
