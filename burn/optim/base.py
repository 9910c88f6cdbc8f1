"""The `Optimizer` interface: the update of one tensor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from burn.optim.state import map_tensors

if TYPE_CHECKING:
    from burn.device import Device
    from burn.tensor import Tensor


class Optimizer(ABC):
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
