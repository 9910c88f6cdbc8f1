"""The state of an LSTM."""

import dataclasses
from collections.abc import Callable, Sequence

from burn.errors import ArgumentError
from burn.tensor import Tensor

from .._checks import check_same_shape


@dataclasses.dataclass(frozen=True, eq=False)
class LstmState:
    """Cell and hidden state of an LSTM; the cell comes first. Mirrors `burn::nn::LstmState`.

    Args:
        cell: [batch, d_hidden], or [2, batch, d_hidden] for two directions.
        hidden: of the same shape.

    Raises:
        ShapeError: shapes that differ.

    >>> state = LstmState(Tensor([[1.0]]), Tensor([[2.0]]))
    >>> state.cell.item(), state.hidden.item(), state.shape
    (1.0, 2.0, [1, 1])
    """

    cell: Tensor
    hidden: Tensor

    def __post_init__(self):
        check_same_shape("LstmState", self.cell, self.hidden, ("cell", "hidden"))

    @classmethod
    def initial(cls, shape, device=None) -> "LstmState":
        """A state of zeros.

        Args:
            shape: of each of both tensors.
            device: a Device; the default device if None.

        >>> LstmState.initial([2, 3]).shape
        [2, 3]
        """
        return cls(Tensor.zeros(shape, device), Tensor.zeros(shape, device))

    @classmethod
    def unwrap_or_initial(cls, state: "LstmState | None", shape, device=None) -> "LstmState":
        """The state, or zeros where it is None. Mirrors `OptionalInitialLstmState`.

        Args:
            state: an LstmState or None.
            shape: of the zeros; ignored where a state is given.
            device: of the zeros; the default device if None.

        >>> LstmState.unwrap_or_initial(None, [1, 2]).cell.tolist()
        [[0.0, 0.0]]
        """
        return cls.initial(shape, device) if state is None else state

    @classmethod
    def stack(cls, states: Sequence["LstmState"], dim: int) -> "LstmState":
        """States on a new axis.

        Args:
            states: at least one, all of one shape.
            dim: where the new axis is.

        Raises:
            ArgumentError: no state.

        >>> LstmState.stack([LstmState.initial([2, 3])] * 2, 0).shape
        [2, 2, 3]
        """
        if not states:
            raise ArgumentError("[LstmState] 'states' must hold at least one state, got none")
        cells, hidden = zip(*(s.unpack() for s in states), strict=True)
        return cls(Tensor.stack(list(cells), dim), Tensor.stack(list(hidden), dim))

    @property
    def shape(self):
        """The shape of each of both tensors.

        >>> LstmState.initial([2, 3]).shape
        [2, 3]
        """
        return self.cell.shape

    @property
    def device(self):
        """The device of the cell.

        >>> LstmState.initial([2, 3], burn.Device.flex()).device
        Device<Flex(Cpu)>
        """
        return self.cell.device

    def unpack(self) -> tuple[Tensor, Tensor]:
        """(cell, hidden).

        >>> [t.tolist() for t in LstmState.initial([1, 1]).unpack()]
        [[[0.0]], [[0.0]]]
        """
        return self.cell, self.hidden

    def map_state(self, f: Callable[[Tensor], Tensor]) -> "LstmState":
        """The state of what a function makes of both tensors.

        Args:
            f: from a tensor to a tensor.

        >>> LstmState.initial([1, 1]).map_state(lambda t: t + 1.0).cell.tolist()
        [[1.0]]
        """
        return LstmState(f(self.cell), f(self.hidden))

    def slice(self, slices) -> "LstmState":
        """A part of both tensors.

        Args:
            slices: as `Tensor.slice` takes them.

        >>> LstmState.initial([2, 3]).slice([slice(0, 1)]).shape
        [1, 3]
        """
        return self.map_state(lambda t: t.slice(slices))

    def squeeze_dim(self, dim: int) -> "LstmState":
        """Without an axis of size 1.

        Args:
            dim: which; negative ones count from the end.

        >>> LstmState.initial([1, 2, 3]).squeeze_dim(0).shape
        [2, 3]
        """
        return self.map_state(lambda t: t.squeeze_dim(dim))

    def unsqueeze_dim(self, dim: int) -> "LstmState":
        """With a new axis of size 1.

        Args:
            dim: where; negative ones count from the end of the new shape.

        >>> LstmState.initial([2, 3]).unsqueeze_dim(-1).shape
        [2, 3, 1]
        """
        return self.map_state(lambda t: t.unsqueeze_dim(dim))

    def chunk(self, n: int, dim: int) -> list["LstmState"]:
        """The state cut into parts along an axis.

        Args:
            n: how many parts at most.
            dim: the axis.

        >>> [part.shape for part in LstmState.initial([4, 3]).chunk(2, 0)]
        [[2, 3], [2, 3]]
        """
        parts = zip(self.cell.chunk(n, dim), self.hidden.chunk(n, dim), strict=True)
        return [LstmState(cell, hidden) for cell, hidden in parts]


OptionalInitialLstmState = LstmState | None
"""What an LSTM may begin with; None is a state of zeros. Mirrors `burn::nn::OptionalInitialLstmState`."""
