"""The bases of recurrent layers and of their configurations: in one direction, and in both."""

import dataclasses
from typing import Any

from burn.config import Config
from burn.errors import ShapeError
from burn.module import ONE_LINE, Module, field
from burn.nn.initializer import Initializer
from burn.tensor import Tensor

from . import _sequence as sequence
from . import gate_controller as gates
from .gate_controller import GateController


class RecurrentConfig(Config):
    """What the configurations of recurrent layers share.

    >>> burn.nn.RnnConfig(2, 3, True).with_clip(1.0).with_initializer(burn.nn.Initializer.Zeros).clip
    1.0
    """

    d_input: int
    d_hidden: int
    bias: bool
    clip: float | None
    initializer: Initializer = Initializer.XavierNormal(1.0)

    def _gates(self, count: int, device) -> list[GateController]:
        """So many gates; raises unless sizes and clip are positive."""
        sequence.check_config(self)
        return [
            GateController.new(self.d_input, self.d_hidden, self.bias, self.initializer, device) for _ in range(count)
        ]

    def _directions(self, kind: type, device) -> list:
        """Two layers of one direction: those of a configuration of this kind, in all that both have fields for."""
        sequence.check_config(self)
        names = [f.name for f in dataclasses.fields(kind) if hasattr(self, f.name) and f.name != "batch_first"]
        one = kind(**{name: getattr(self, name) for name in names})
        return [one.init(device) for _ in range(2)]


class Recurrent(Module):
    """What recurrent layers share: the check of their arguments, the order of axes, the printed line."""

    d_hidden: int

    def _first(self) -> Any:
        """The gate that sizes are read from."""
        raise NotImplementedError

    def _run(self, input: Tensor, *how: Any) -> tuple[Tensor, ...]:
        """All states of [steps, batch, d_input], and the last ones; `how`: the first ones, and whether it goes in reverse."""
        raise NotImplementedError

    def _check(self, input: Tensor, **states: Tensor | None) -> None:
        """Raises unless the input and the states fit the parameters; a double underscore in a name stands for a dot."""
        layer, gate = type(self).__name__, self._first()
        d_input, d_hidden = gates.sizes(gate)
        batch = sequence.check_sequence(layer, input, d_input, self._batch_first(), gate)
        for name, state in states.items():
            sequence.check_state(layer, name.replace("__", "."), state, self._state_shape(batch, d_hidden), input)

    def _state_shape(self, batch: int, d_hidden: int) -> tuple[int, ...]:
        return (batch, d_hidden)

    def _batch_first(self) -> bool:
        return getattr(self, "batch_first", True)

    def _turned(self, x: Tensor) -> Tensor:
        """[batch, steps, ...] as [steps, batch, ...] and back, where the batch comes first."""
        return x.swap_dims(0, 1) if self._batch_first() else x

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        gate = self._first()
        d_input, d_hidden = gates.sizes(gate)
        return content.add("d_input", d_input).add("d_hidden", d_hidden).add("bias", gates.has_bias(gate))


class Bidirectional(Recurrent):
    """Two layers of one direction over the same sequences, one from the end."""

    forward_: Recurrent = field(name="forward")
    reverse: Recurrent
    batch_first: bool

    def __init__(self, forward, reverse, batch_first=True):
        self.forward_ = forward
        self.reverse = reverse
        self.d_hidden = forward.d_hidden
        self.batch_first = batch_first
        if reverse.d_hidden != forward.d_hidden:
            raise ShapeError(
                f"[{type(self).__name__}] both directions must have the same d_hidden, got {forward.d_hidden} and "
                f"{reverse.d_hidden}"
            )

    def _first(self):
        return self.forward_._first()

    def _state_shape(self, batch, d_hidden):
        return (2, batch, d_hidden)

    def _both(self, input: Tensor, *states: Tensor | None) -> tuple[Tensor, list[Tensor]]:
        """The outputs of both directions beside each other, and what each ends with, stacked: the forward one first."""
        x = self._turned(input)
        starts = [[None] * 2 if s is None else [s.narrow(0, i, 1).squeeze_dim(0) for i in (0, 1)] for s in states]
        (ahead, *last), (back, *first) = (
            layer._run(x, *(start[i] for start in starts), bool(i))
            for i, layer in enumerate((self.forward_, self.reverse))
        )
        output = self._turned(Tensor.cat([ahead, back], 2))
        return output, [Tensor.stack([a, b], 0) for a, b in zip(last, first, strict=True)]
