"""Methods of Tensor for autodiff: what is tracked, the backward pass, gradients."""

from typing import Self

from burn._autodiff import Gradients
from burn._core import core
from burn._ops.registry import FLOAT, check_same, check_tensor
from burn.errors import ArgumentError, ArgumentTypeError, AutodiffError, DTypeError, ShapeError


class TrackingMethods:
    """Methods of Tensor for autodiff."""

    __slots__ = ()

    def autodiff(self) -> Self:
        """The same value with autodiff on (untracked). Mirrors `Tensor::autodiff`.

        >>> Tensor([1.0]).autodiff().is_autodiff()
        True
        """
        return self if self._ctx else core.cut(self, 1)

    @classmethod
    def from_inner(cls, tensor) -> Self:
        """The same value with autodiff on. Mirrors `Tensor::from_inner`.

        Args:
            tensor: a tensor of any kind.

        Returns:
            The tensor, untracked, on the device with autodiff.

        >>> Tensor.from_inner(Tensor([1.0])).is_autodiff()
        True
        """
        return check_tensor("from_inner", tensor, "tensor").autodiff()

    def inner(self) -> Self:
        """The same value without autodiff. Mirrors `Tensor::inner`.

        >>> x = Tensor([1.0], burn.Device.flex().autodiff()).require_grad()
        >>> (x * 2.0).inner().is_tracked()
        False
        """
        return core.cut(self, 0) if self._ctx else self

    without_autodiff = inner

    def is_autodiff(self) -> bool:
        """Whether autodiff is on for this tensor. Mirrors `Tensor::is_autodiff`.

        >>> Tensor([1.0], burn.Device.flex().autodiff()).is_autodiff()
        True
        """
        return self._ctx != 0

    def is_tracked(self) -> bool:
        """Whether an ancestor (or this leaf) requires a gradient. Mirrors `Tensor::is_tracked`.

        >>> x = Tensor([1.0]).autodiff().require_grad()
        >>> (x * 2.0).is_tracked(), x.detach().is_tracked(), x.inner().is_tracked()
        (True, True, False)
        """
        return core.node_state(self) != 0

    def is_require_grad(self) -> bool:
        """Whether this is a leaf that keeps its gradient. Mirrors `Tensor::is_require_grad`.

        >>> x = Tensor([1.0]).autodiff().require_grad()
        >>> x.is_require_grad(), (x * 2.0).is_require_grad()
        (True, False)
        """
        return core.node_state(self) == 2

    def require_grad(self) -> Self:
        """This value as a leaf whose gradient is kept. Mirrors `Tensor::require_grad`.

        Raises:
            AutodiffError: autodiff is off, or the tensor is a tracked intermediate.
            DTypeError: not a Float tensor.

        >>> x = Tensor([3.0]).autodiff().require_grad()
        >>> x.grad((x * x).backward()).tolist()
        [6.0]
        """
        if self._kind != FLOAT:
            raise DTypeError(
                f"[require_grad] 'self' must be a Float tensor, got {self.dtype}; only floats have gradients"
            )
        if not self._ctx:
            raise AutodiffError(
                "[require_grad] autodiff is off for this tensor; call autodiff() first, or use device.autodiff()"
            )
        state = core.node_state(self)
        if state == 1:
            raise AutodiffError(
                "[require_grad] the tensor is a tracked intermediate; call it on the source, or detach() first"
            )
        return self if state == 2 else core.make_leaf(self)

    def set_require_grad(self, require_grad) -> Self:
        """require_grad() if true, else an untracked leaf. Mirrors `Tensor::set_require_grad`.

        Args:
            require_grad: whether the result keeps its gradient; False cuts the graph.

        Returns:
            Tensor of the same value.

        >>> x = Tensor([3.0]).autodiff().set_require_grad(True)
        >>> x.set_require_grad(False).is_require_grad()
        False
        """
        if require_grad:
            return self.require_grad()
        return core.cut(self, self._ctx) if core.node_state(self) else self

    def detach(self) -> Self:
        """The value cut from the graph; a leaf keeps requiring its gradient. Mirrors `Tensor::detach`.

        >>> x = Tensor([3.0]).autodiff().require_grad()
        >>> (x * x).detach().is_tracked()
        False
        """
        return core.make_leaf(self) if core.node_state(self) == 2 else core.cut(self, self._ctx)

    def backward(self) -> Gradients:
        """Gradients of the sum of this tensor with respect to its leaves; consumes the graph. Mirrors `Tensor::backward`.

        Returns:
            Gradients: read it with `tensor.grad(gradients)`.

        Raises:
            AutodiffError: untracked, or the graph was consumed by an earlier backward.

        >>> x = Tensor([[1.0, 2.0]]).autodiff().require_grad()
        >>> grads = x.square().sum().backward()
        >>> x.grad(grads).tolist()
        [[2.0, 4.0]]
        """
        from burn._autodiff import Gradients

        return Gradients(core.backward(self))

    def grad(self, grads) -> Self | None:
        """This leaf's gradient as a plain tensor, or None. Mirrors `Tensor::grad`.

        Args:
            grads: what `backward` returned.

        Returns:
            Tensor of the same shape, without autodiff; None if this is no leaf or got no gradient.

        >>> x = Tensor([3.0]).autodiff().require_grad()
        >>> x.grad((x * 2.0).backward()).tolist()
        [2.0]
        """
        grads = _gradients("grad", grads)
        return grads._get(self._node_id) if core.node_state(self) == 2 else None

    def grad_remove(self, grads) -> Self | None:
        """Takes this leaf's gradient out of grads. Mirrors `Tensor::grad_remove`.

        Args:
            grads: what `backward` returned.

        Returns:
            As `grad`; afterwards grads has none for this tensor.

        >>> x = Tensor([3.0]).autodiff().require_grad()
        >>> grads = (x * 2.0).backward()
        >>> x.grad_remove(grads).tolist(), x.grad(grads)
        ([2.0], None)
        """
        grads = _gradients("grad_remove", grads)
        return grads._remove(self._node_id) if core.node_state(self) == 2 else None

    def grad_replace(self, grads, grad) -> None:
        """Puts another plain gradient in place. Mirrors `Tensor::grad_replace`.

        Args:
            grads: what `backward` returned; it is changed.
            grad: tensor of the same shape, dtype and device, without autodiff.

        Raises:
            AutodiffError: self is not tracked, or grad has autodiff.
            ShapeError: grad has another shape.

        >>> x = Tensor([3.0]).autodiff().require_grad()
        >>> grads = (x * 2.0).backward()
        >>> x.grad_replace(grads, Tensor([9.0]))
        >>> x.grad(grads).tolist()
        [9.0]
        """
        if not self._ctx or self._node_id is None:
            raise AutodiffError("[grad_replace] 'self' must be a tracked tensor; call autodiff().require_grad() first")
        if check_tensor("grad_replace", grad, "grad")._ctx:
            raise AutodiffError(
                "[grad_replace] 'grad' must be a plain tensor, got one with autodiff; call inner() on it"
            )
        check_same("grad_replace", self, grad, "grad")
        if grad._dims != self._dims:
            raise ShapeError(f"[grad_replace] 'grad' must have shape {self.dims()}, got {grad.dims()}")
        _gradients("grad_replace", grads)._replace(self._node_id, grad)

    def with_gradient_checkpointing_strategy(self, strategy) -> Self:
        """The same value and graph under another strategy. Mirrors `Tensor::with_gradient_checkpointing_strategy`.

        Args:
            strategy: "Disabled" or "Balanced".

        Returns:
            Tensor of the same value.

        Raises:
            AutodiffError: autodiff is off.

        >>> x = Tensor([3.0]).autodiff().with_gradient_checkpointing_strategy("Balanced")
        >>> x.gradient_checkpointing_strategy()
        'Balanced'
        """
        contexts = {"Disabled": 1, "Balanced": 2}
        if strategy not in contexts:
            raise ArgumentError(
                f"[with_gradient_checkpointing_strategy] 'strategy' must be Disabled or Balanced, got {strategy!r}"
            )
        if not self._ctx:
            raise AutodiffError(
                "[with_gradient_checkpointing_strategy] 'self' must have autodiff on; call autodiff() first"
            )
        return core.with_context(self, contexts[strategy])

    def gradient_checkpointing_strategy(self) -> str | None:
        """None, "Disabled" or "Balanced". Mirrors `Tensor::gradient_checkpointing_strategy`.

        >>> Tensor([3.0]).autodiff().gradient_checkpointing_strategy()
        'Disabled'
        """
        return self.device.gradient_checkpointing_strategy()


def _gradients(op, grads):
    from burn._autodiff import Gradients

    if not isinstance(grads, Gradients):
        raise ArgumentTypeError(
            f"[{op}] 'grads' must be the Gradients that backward() returned, got {type(grads).__name__}"
        )
    return grads
