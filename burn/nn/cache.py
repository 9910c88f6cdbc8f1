"""Values that a layer keeps from one call to the next."""

from collections.abc import Callable

from burn.errors import ShapeError
from burn.tensor import Tensor

__all__ = ["TensorCache"]


class TensorCache:
    """A tensor that grows along an axis, or that is computed once. Mirrors `burn::nn::cache::TensorCache`.

    >>> grown, kept, x = TensorCache.empty(), TensorCache.empty(), Tensor([[1.0, 2.0]])
    >>> grown.forward_autoregressive(x, 1, lambda x: x * 2).tolist()
    [[2.0, 4.0]]
    >>> kept.forward_full(x, lambda x: x * 2).tolist(), kept.forward_full(x, lambda x: x * 3).tolist()
    ([[2.0, 4.0]], [[2.0, 4.0]])
    """

    def __init__(self, value: Tensor | None = None):
        self.value = value

    @classmethod
    def empty(cls) -> "TensorCache":
        """A cache without a value."""
        return cls()

    def forward_autoregressive(self, input: Tensor, axis: int, call: Callable[[Tensor], Tensor]) -> Tensor:
        """``call(input)`` whose earlier positions are known: only the last position of ``input`` is computed.

        Args:
            input: [batch, positions, ...], one position longer than at the last call.
            axis: the axis of the result along which positions lie.
            call: what is computed, position by position.

        Raises:
            ShapeError: another batch, or not one position more.
        """
        self._check(input, axis)
        return self._append(call(input if self.value is None else input.narrow(1, self.value._dims[axis], 1)), axis)

    def forward_full(self, input: Tensor, call: Callable[[Tensor], Tensor]) -> Tensor:
        """``call(input)``, computed at the first call only.

        Args:
            input: [batch, ...].
            call: what is computed.

        Raises:
            ShapeError: another batch.
        """
        if self.value is None:
            self.value = call(input)
        elif input._dims[0] != self.value._dims[0]:
            raise ShapeError(f"[cache] 'input' must have the batch of {self.value._dims[0]}, got shape {input.dims()}")
        return self.value

    def _check(self, input: Tensor, axis: int) -> None:
        """Raises unless an input has one position more than what is cached, where there is something."""
        if self.value is None:
            return
        batch, known = self.value._dims[0], self.value._dims[axis]
        if input._dims[:2] != (batch, known + 1):
            raise ShapeError(
                f"[cache] 'input' must have the batch of {batch} and one position more than the {known} that are cached, "
                f"got shape {input.dims()}"
            )

    def _append(self, part: Tensor, axis: int) -> Tensor:
        """What is cached, with a part behind it."""
        self.value = part if self.value is None else Tensor.cat([self.value, part], axis)
        return self.value
