"""Running statistics: tensors that a forward pass updates, and that are no parameters to train."""

import threading

from burn._arguments import shown
from burn._locks import Lock
from burn.errors import ArgumentTypeError, ShapeError
from burn.tensor import Float, Tensor

from .param import Param
from .param_id import ParamId


class RunningState:
    """A tensor that layers such as batch norm update while they run.

    Updates wait in a slot of their thread; the next update, or a read with `value_sync`, folds what is waiting (the
    mean over the threads) into the value. Visitors, mappers and records see it as a Float parameter, with nothing
    waiting. Copies are independent. Mirrors `burn::module::RunningState`.

    >>> state = RunningState(Tensor([1.0]))
    >>> state.update(Tensor([3.0]))
    >>> state.value().tolist(), state.value_sync().tolist(), state.flush().tolist()
    ([1.0], [3.0], [3.0])
    >>> state.as_param().is_active(), state.lazy_shape(), state.lazy_device()
    (False, (1,), Device<Flex(Cpu)>)
    >>> state.clone().train().valid().to_device(burn.Device.flex()).value().tolist()
    [3.0]
    """

    __slots__ = ("_lock", "_pending", "_value", "id")
    kind = "float"

    def __init__(self, value: Tensor, id: ParamId | None = None):
        """A state with this value, a Float tensor, and a new id."""
        if not isinstance(value, Tensor) or value.kind is not Float:
            raise ArgumentTypeError(f"[RunningState] 'value' must be a Float tensor, got {_found(value)}")
        self.id = ParamId() if id is None else id
        self._value = value
        self._pending: dict[int, Tensor] = {}
        self._lock = Lock()

    @classmethod
    def with_id(cls, id: ParamId, value: Tensor) -> "RunningState":
        """A state with this id and value.

        Args:
            id: the id.
            value: the tensor.

        >>> RunningState.with_id(ParamId(1), Tensor([1.0])).id == ParamId(1)
        True
        """
        return cls(value, id)

    @classmethod
    def from_record(cls, param: Param) -> "RunningState":
        """A state with the id and the tensor of a parameter.

        Args:
            param: the parameter.

        >>> RunningState.from_record(Param.from_data([1.0])).value().tolist()
        [1.0]
        """
        return cls(param.val(), param.id)

    def update(self, value: Tensor) -> None:
        """Puts a value into the slot of this thread; one that waits there is folded first.

        Args:
            value: tensor of the state's shape.

        Raises:
            ShapeError: another shape.
        """
        if not isinstance(value, Tensor):
            raise ArgumentTypeError(f"[RunningState.update] 'value' must be a Float tensor, got {_found(value)}")
        if value._dims != self._value._dims:
            raise ShapeError(
                f"[RunningState.update] 'value' must have the shape {self._value.dims()} of the state, got {value.dims()}"
            )
        thread = threading.get_ident()
        with self._lock.held:
            if thread in self._pending:
                self._fold()
            self._pending[thread] = value.detach()

    def value(self) -> Tensor:
        """The folded value: it may lag one update behind."""
        return self._value

    def value_sync(self) -> Tensor:
        """The value with the update of this thread folded in."""
        with self._lock.held:
            if threading.get_ident() in self._pending:
                self._fold()
            return self._value

    def flush(self) -> Tensor:
        """The value with every update folded in."""
        with self._lock.held:
            if self._pending:
                self._fold()
            return self._value

    def as_param(self) -> Param:
        """The flushed value as an untrained parameter with the same id."""
        return Param(self.id, self.flush(), False, "float")

    def lazy_shape(self) -> tuple:
        """The shape."""
        return tuple(self._value.shape)

    def lazy_device(self):
        """The device."""
        return self._value.device

    def clone(self) -> "RunningState":
        """An independent copy."""
        return RunningState(self.flush(), self.id)

    def to_device(self, device) -> "RunningState":
        """A copy on another device.

        Args:
            device: a Device.
        """
        return RunningState(self.flush().to_device(device), self.id)

    fork = to_device

    def valid(self) -> "RunningState":
        """A copy without autodiff."""
        return RunningState(self.flush().inner(), self.id)

    def train(self) -> "RunningState":
        """A copy with autodiff; it never requires a gradient."""
        return RunningState(self.flush().autodiff(), self.id)

    def mapped(self, param: Param) -> "RunningState":
        """The state that a mapper's answer to `as_param` makes.

        Args:
            param: what the mapper gave.

        >>> state = RunningState(Tensor([1.0]))
        >>> state.mapped(state.as_param().map(lambda value: value * 2.0)).value().tolist()
        [2.0]
        """
        value = param.val()
        return RunningState(value.detach() if value.is_tracked() else value, param.id)

    def _fold(self):
        waiting = list(self._pending.values())
        total = waiting[0]
        for value in waiting[1:]:
            total = total + value
        self._value = total / len(waiting) if len(waiting) > 1 else total
        self._pending.clear()

    def _format(self, settings) -> str:
        return "RunningState"

    def __repr__(self):
        return f"RunningState({self._value!r})"

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        return self.clone()

    def __reduce__(self):
        return RunningState, (self.flush().inner(), self.id)


def _found(value) -> str:
    return f"one of dtype {value.dtype}" if isinstance(value, Tensor) else shown(value)
