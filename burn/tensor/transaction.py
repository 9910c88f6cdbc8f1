"""Reading several tensors at once."""

from burn._ops.registry import check_tensor
from burn.errors import AutodiffError, DeviceError
from burn.tensor.data import TensorData

__all__ = ["Transaction"]


class Transaction:
    """Tensors whose values are read together, in the order in which they are registered. Mirrors `Transaction`.

    >>> x = Tensor([1.0, 2.0])
    >>> loss, hits = Transaction().register(x.sum()).register(x.greater(1.5)).execute()
    >>> loss.to_list(), hits.to_list()
    ([3.0], [False, True])
    """

    __slots__ = ("_tensors",)

    def __init__(self):
        self._tensors = []

    @classmethod
    def default(cls) -> "Transaction":
        """An empty transaction.

        >>> Transaction.default().execute()
        []
        """
        return cls()

    def register(self, tensor) -> "Transaction":
        """Adds a tensor of any kind and returns this transaction. Mirrors `Transaction::register`.

        Args:
            tensor: a tensor of any kind.

        Raises:
            DeviceError: the tensor is on another device than the first.
            AutodiffError: it is a Float tensor with autodiff and the first one has none, or the other way round.
        """
        check_tensor("register", tensor, "tensor")
        if self._tensors and tensor._slot != self._tensors[0]._slot:
            raise DeviceError(
                f"[register] 'tensor' must be on {self._tensors[0].device} like the first one, got {tensor.device}; move it with "
                "to_device()"
            )
        floats = [t for t in self._tensors if t.dtype.is_float]
        if tensor.dtype.is_float and floats and (tensor._ctx != 0) != (floats[0]._ctx != 0):
            raise AutodiffError(
                "[register] 'tensor' must have autodiff like the first Float tensor, or none; call inner()"
            )
        self._tensors.append(tensor)
        return self

    def execute(self) -> "list[TensorData]":
        """The values of all tensors; the transaction is empty afterwards. Mirrors `Transaction::execute`.

        Raises:
            ExecutionError: work on the device failed.
        """
        tensors, self._tensors = self._tensors, []
        return [t.to_data() for t in tensors]

    try_execute = execute

    async def execute_async(self) -> "list[TensorData]":
        """The values of all tensors, for `await`. Mirrors `Transaction::execute_async`.

        >>> import asyncio
        >>> asyncio.run(Transaction().register(Tensor([1.0])).execute_async())
        [TensorData([1.0], dtype=f32)]
        """
        return self.execute()
