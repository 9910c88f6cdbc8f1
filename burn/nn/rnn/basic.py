"""Recurrent layers with one activation."""

import dataclasses

from burn._arguments import instance
from burn._ops import rnn as ops
from burn.module import field
from burn.nn.activation import Activation, ActivationConfig
from burn.tensor import Tensor

from .._checks import check_tensor
from . import _sequence as sequence
from . import gate_controller as gates
from ._layer import Bidirectional, Recurrent, RecurrentConfig
from .gate_controller import GateController


@dataclasses.dataclass(frozen=True, eq=False)
class RnnState:
    """The state of a plain recurrent layer. Mirrors `burn::nn::RnnState`.

    Args:
        hidden: [batch, d_hidden], or [2, batch, d_hidden] for two directions.

    >>> RnnState(Tensor([[1.0, 2.0]])).hidden.tolist()
    [[1.0, 2.0]]
    """

    hidden: Tensor

    def __post_init__(self):
        check_tensor("RnnState", self.hidden, "hidden")


class RnnConfig(RecurrentConfig):
    """Configuration of `Rnn`. Mirrors `burn::nn::RnnConfig`.

    Args:
        d_input: size of the vectors of a sequence.
        d_hidden: size of the state.
        bias: whether both products have a bias.
        clip: limit of the state after each step; none if None.
        initializer: how all parameters are drawn.
        batch_first: whether the batch comes before the steps, in inputs and outputs.
        reverse: whether the sequence is read from its end; outputs keep their places.
        hidden_activation: what makes the state.

    >>> RnnConfig(2, 3, True).init()
    Rnn {d_input: 2, d_hidden: 3, bias: true, params: 21}
    """

    batch_first: bool = True
    reverse: bool = False
    hidden_activation: ActivationConfig = ActivationConfig.Tanh

    def init(self, device=None) -> "Rnn":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size or a clip that is not positive.
        """
        (gate,) = self._gates(1, device)
        activation = self.hidden_activation.init(device)
        return Rnn(gate, self.batch_first, self.reverse, self.clip, activation)


class Rnn(Recurrent):
    """``h = tanh(x @ W + b + h @ U + c)`` for each x of a sequence. Mirrors `burn::nn::Rnn`.

    Fields: `gate`, the parameters; `d_hidden`; `batch_first`; `reverse`; `clip`, a limit of the state or None;
    `hidden_activation`. A whole sequence is one kernel where the activation is Tanh.

    >>> layer = RnnConfig(1, 1, False).with_initializer(burn.nn.Initializer.Constant(0.5)).init()
    >>> output, state = layer.forward(Tensor([[[0.1], [0.2]]]))
    >>> output.tolist(), state.hidden.dims()
    ([[[0.0499...], [0.1243...]]], [1, 1])
    """

    gate: GateController
    d_hidden: int
    batch_first: bool
    reverse: bool
    clip: float | None
    hidden_activation: Activation

    def __init__(self, gate, batch_first=True, reverse=False, clip=None, hidden_activation=None):
        self.gate = gate
        self.d_hidden = gates.sizes(gate)[1]
        self.batch_first = batch_first
        self.reverse = reverse
        self.clip = sequence.check_clip("Rnn", clip)
        self.hidden_activation = ActivationConfig.Tanh.init() if hidden_activation is None else hidden_activation

    def forward(self, input: Tensor, state: RnnState | None = None) -> tuple[Tensor, RnnState]:
        """Applies the layer.

        Args:
            input: a batch of sequences.
            state: what the first step begins with; zeros if None.

        # Shapes

        - input: [batch, steps, d_input]; [steps, batch, d_input] unless batch_first
        - state: [batch, d_hidden]
        - output: [batch, steps, d_hidden], its axes in the order of the input's; and the last state

        Raises:
            KindError: a tensor that is not Float.
            ShapeError: sizes that do not fit.
        """
        hidden = _hidden("Rnn", state)
        self._check(input, state__hidden=hidden)
        output, last = self._run(self._turned(input), hidden, self.reverse)
        return self._turned(output), RnnState(last)

    def _run(self, input, hidden, reverse):
        """All states of [steps, batch, d_input], and the last one."""
        if sequence.is_tanh(self.hidden_activation) and gates.alike([self.gate]):
            return ops.rnn(input, gates.values([self.gate])[0], hidden, reverse, self.clip)

        def step(x, h):
            return (sequence.clipped(self.hidden_activation(self.gate.gate_product(x, h)), self.clip),)

        output, (last,) = sequence.walk(input, reverse, (sequence.initial(hidden, input, self.d_hidden),), step)
        return output, last

    def _first(self):
        return self.gate


def _hidden(layer: str, state: RnnState | None) -> Tensor | None:
    """The tensor of a state that may be missing."""
    return None if state is None else instance(layer, "state", state, RnnState, "use RnnState(hidden)").hidden


class BiRnnConfig(RecurrentConfig):
    """Configuration of `BiRnn`. Mirrors `burn::nn::BiRnnConfig`.

    Args:
        d_input: size of the vectors of a sequence.
        d_hidden: size of the state of each direction.
        bias: whether both products have a bias.
        clip: limit of the state after each step; none if None.
        initializer: how all parameters are drawn.
        batch_first: whether the batch comes before the steps, in inputs and outputs.
        hidden_activation: what makes the state.

    >>> BiRnnConfig(2, 3, True).init()
    BiRnn {d_input: 2, d_hidden: 3, bias: true, params: 42}
    """

    batch_first: bool = True
    hidden_activation: ActivationConfig = ActivationConfig.Tanh

    def init(self, device=None) -> "BiRnn":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size or a clip that is not positive.
        """
        return BiRnn(*self._directions(RnnConfig, device), self.batch_first)


class BiRnn(Bidirectional):
    """Two `Rnn` over the same sequences, one from the end. Mirrors `burn::nn::BiRnn`.

    Fields: `forward_` (`forward` in records) and `reverse`, the layers; `d_hidden` of each; `batch_first`.

    >>> output, state = BiRnnConfig(2, 3, True).init().forward(Tensor.ones([1, 4, 2]))
    >>> output.dims(), state.hidden.dims()
    ([1, 4, 6], [2, 1, 3])
    """

    forward_: Rnn = field(name="forward")
    reverse: Rnn

    def forward(self, input: Tensor, state: RnnState | None = None) -> tuple[Tensor, RnnState]:
        """Applies the layer.

        Args:
            input: a batch of sequences.
            state: what the first steps begin with; zeros if None.

        # Shapes

        - input: [batch, steps, d_input]; [steps, batch, d_input] unless batch_first
        - state: [2, batch, d_hidden], the forward one first
        - output: [batch, steps, 2 * d_hidden], its axes in the order of the input's; and the last states

        Raises:
            KindError: a tensor that is not Float.
            ShapeError: sizes that do not fit.
        """
        hidden = _hidden("BiRnn", state)
        self._check(input, state__hidden=hidden)
        output, (last,) = self._both(input, hidden)
        return output, RnnState(last)
