"""Long short-term memory."""

from collections.abc import Iterable

from burn._arguments import instance, integer
from burn._ops import rnn as ops
from burn.errors import ArgumentError, ShapeError
from burn.module import field
from burn.nn.activation import Activation, ActivationConfig
from burn.tensor import Tensor

from .._checks import check_float
from . import _sequence as sequence
from . import gate_controller as gates
from ._layer import Bidirectional, Recurrent, RecurrentConfig
from .gate_controller import GateController
from .lstm_state import LstmState, OptionalInitialLstmState


class LstmConfig(RecurrentConfig):
    """Configuration of `Lstm`. Mirrors `burn::nn::LstmConfig`.

    Args:
        d_input: size of the vectors of a sequence.
        d_hidden: size of the state.
        bias: whether all products have a bias.
        clip: limit of the cell after each step; none if None.
        initializer: how all parameters are drawn.
        batch_first: whether the batch comes before the steps, in inputs and outputs.
        reverse: whether the sequence is read from its end; outputs keep their places.
        input_forget: whether the forget gate is 1 minus the input gate, and has no parameters.
        gate_activation: of the input, forget and output gates.
        cell_activation: of the cell gate.
        hidden_activation: what the output gate takes of the cell.

    >>> config = LstmConfig(2, 3, True)
    >>> config.init(), config.with_input_forget(True).init().num_params()
    (Lstm {d_input: 2, d_hidden: 3, bias: true, params: 84}, 63)
    """

    batch_first: bool = True
    reverse: bool = False
    input_forget: bool = False
    gate_activation: ActivationConfig = ActivationConfig.Sigmoid
    cell_activation: ActivationConfig = ActivationConfig.Tanh
    hidden_activation: ActivationConfig = ActivationConfig.Tanh

    def init(self, device=None) -> "Lstm":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size or a clip that is not positive.
        """
        parts: list[GateController | None] = [*self._gates(3 if self.input_forget else 4, device)]
        if self.input_forget:
            parts.insert(1, None)
        activations = (self.gate_activation, self.cell_activation, self.hidden_activation)
        return Lstm(
            *parts, self.batch_first, self.reverse, self.clip, self.input_forget, *(a.init(device) for a in activations)
        )


class Lstm(Recurrent):
    """Long short-term memory. Mirrors `burn::nn::Lstm`.

    With i, f and o the sigmoid of the input, forget and output gates and g the tanh of the cell gate:
    ``c = f * c + i * g``, then ``h = o * tanh(c)``. Fields: `input_gate`, `forget_gate` (None where it is 1 minus the
    input gate), `output_gate`, `cell_gate`, the parameters; `d_hidden`; `batch_first`; `reverse`; `clip`, a limit of
    the cell or None; `input_forget`; `gate_activation`; `cell_activation`; `hidden_activation`. A whole sequence is one
    kernel where the activations are Sigmoid and Tanh.

    >>> layer = LstmConfig(1, 1, False).with_initializer(burn.nn.Initializer.Constant(0.5)).init()
    >>> output, state = layer.forward(Tensor([[[0.1], [0.2]]]))
    >>> output.tolist(), state.shape
    ([[[0.0131...], [0.0364...]]], [1, 1])
    """

    input_gate: GateController
    forget_gate: GateController | None
    output_gate: GateController
    cell_gate: GateController
    d_hidden: int
    batch_first: bool
    reverse: bool
    clip: float | None
    input_forget: bool
    gate_activation: Activation
    cell_activation: Activation
    hidden_activation: Activation

    def __init__(
        self,
        input_gate,
        forget_gate,
        output_gate,
        cell_gate,
        batch_first=True,
        reverse=False,
        clip=None,
        input_forget=False,
        gate_activation=None,
        cell_activation=None,
        hidden_activation=None,
    ):
        self.input_gate = input_gate
        self.forget_gate = forget_gate
        self.output_gate = output_gate
        self.cell_gate = cell_gate
        self.d_hidden = gates.sizes(input_gate)[1]
        self.batch_first = batch_first
        self.reverse = reverse
        self.clip = sequence.check_clip("Lstm", clip)
        self.input_forget = input_forget
        self.gate_activation = ActivationConfig.Sigmoid.init() if gate_activation is None else gate_activation
        self.cell_activation = ActivationConfig.Tanh.init() if cell_activation is None else cell_activation
        self.hidden_activation = ActivationConfig.Tanh.init() if hidden_activation is None else hidden_activation

    def forward(self, input: Tensor, state: OptionalInitialLstmState = None) -> tuple[Tensor, LstmState]:
        """Applies the layer.

        Args:
            input: a batch of sequences.
            state: what the first step begins with; zeros if None.

        # Shapes

        - input: [batch, steps, d_input]; [steps, batch, d_input] unless batch_first
        - state: two of [batch, d_hidden]
        - output: [batch, steps, d_hidden], its axes in the order of the input's; and the last state

        Raises:
            KindError: a tensor that is not Float.
            ShapeError: sizes that do not fit.
            ArgumentError: a forget gate that is needed and not there.
        """
        hidden, cell = _states("Lstm", state)
        self._check(input, state__hidden=hidden, state__cell=cell)
        output, *last = self._run(self._turned(input), hidden, cell, self.reverse)
        return self._turned(output), LstmState(last[1], last[0])

    def forward_iter(
        self,
        input_timestep_iter: Iterable[tuple[int, Tensor]],
        state: OptionalInitialLstmState,
        batch_size: int,
        seq_length: int,
        device=None,
    ) -> tuple[Tensor, LstmState]:
        """Applies the layer to the steps of a sequence in the order in which they come.

        Args:
            input_timestep_iter: the place in the output and the input [batch, 1, d_input] of each step.
            state: what the first step begins with; zeros if None.
            batch_size: the size of the batch.
            seq_length: the number of places in the output; those without a step are zeros.
            device: a Device; the default device if None.

        # Shapes

        - input: [batch, 1, d_input] of each step
        - state: two of [batch, d_hidden]
        - output: [batch, seq_length, d_hidden]; and the last state

        Raises:
            ShapeError: sizes that do not fit.
            ArgumentError: a place outside the sequence.

        >>> layer, x = LstmConfig(2, 3, True).init(), Tensor.ones([1, 1, 2])
        >>> layer.forward_iter([(0, x), (1, x)], None, 1, 2)[0].dims()
        [1, 2, 3]
        """
        d_input, d_hidden = gates.sizes(self.input_gate)
        batch_size = integer("Lstm", "batch_size", batch_size, 0)
        found: list[Tensor | None] = [None] * integer("Lstm", "seq_length", seq_length, 0)
        given = _states("Lstm", state)
        start = LstmState.unwrap_or_initial(state, [batch_size, d_hidden], device)
        states, like = (start.hidden, start.cell), start.cell
        for t, x in input_timestep_iter:
            check_float("Lstm", x, "input_timestep_iter")
            if x._dims != (batch_size, 1, d_input):
                raise ShapeError(
                    f"[Lstm] 'input_timestep_iter' must give inputs [batch, 1, d_input] = {[batch_size, 1, d_input]}, got "
                    f"shape {x.dims()}"
                )
            if not 0 <= integer("Lstm", "input_timestep_iter", t) < seq_length:
                raise ArgumentError(
                    f"[Lstm] 'input_timestep_iter' must give places in 0..{seq_length - 1}, got {t}; seq_length says how many"
                )
            for name, part in zip(("state.hidden", "state.cell"), given, strict=True):
                sequence.check_state("Lstm", name, part, (batch_size, d_hidden), x)
            if state is None and like.dtype is not x.dtype:
                states = tuple(s.cast(x.dtype) for s in states)
            states = self._step(x.squeeze_dim(1), *states)
            found[t] = states[0]
        last = LstmState(states[1], states[0])
        empty = Tensor.zeros([batch_size, min(seq_length, 1), d_hidden], like.device, dtype=states[0].dtype)
        output = [empty if h is None else h.unsqueeze_dim(1) for h in found]
        return Tensor.cat(output, 1) if output else empty, last

    def _run(self, input, hidden, cell, reverse):
        """All states of [steps, batch, d_input], the last one, and the last cell."""
        self._check_forget_gate()
        parts = [self.input_gate, self.forget_gate, self.output_gate, self.cell_gate]
        if self.input_forget:
            del parts[1]
        tanh = sequence.is_tanh(self.cell_activation) and sequence.is_tanh(self.hidden_activation)
        if tanh and sequence.is_sigmoid(self.gate_activation) and gates.alike(parts):
            found = gates.values(parts)
            if not self.input_forget:
                found.append(found.pop(1))
            return ops.lstm(input, found, hidden, cell, reverse, self.clip)
        start = tuple(sequence.initial(s, input, self.d_hidden) for s in (hidden, cell))
        output, last = sequence.walk(input, reverse, start, self._step)
        return (output, *last)

    def _check_forget_gate(self):
        if not self.input_forget and self.forget_gate is None:
            raise ArgumentError(
                "[Lstm] 'forget_gate' must be there unless input_forget is true, got None. Forget gate must be present when "
                "input_forget is false"
            )

    def _step(self, x, h, c):
        self._check_forget_gate()
        i = self.gate_activation(self.input_gate.gate_product(x, h))
        f = 1.0 - i if self.input_forget else self.gate_activation(self.forget_gate.gate_product(x, h))
        o = self.gate_activation(self.output_gate.gate_product(x, h))
        g = self.cell_activation(self.cell_gate.gate_product(x, h))
        c = sequence.clipped(f * c + i * g, self.clip)
        return o * self.hidden_activation(c), c

    def _first(self):
        return self.input_gate


def _states(layer: str, state: LstmState | None) -> tuple[Tensor | None, Tensor | None]:
    """(hidden, cell) of a state; None for both where there is none."""
    if state is None:
        return None, None
    return instance(layer, "state", state, LstmState, "use LstmState(cell, hidden)").hidden, state.cell


class BiLstmConfig(RecurrentConfig):
    """Configuration of `BiLstm`. Mirrors `burn::nn::BiLstmConfig`.

    Args:
        d_input: size of the vectors of a sequence.
        d_hidden: size of the state of each direction.
        bias: whether all products have a bias.
        clip: limit of the cell after each step; none if None.
        initializer: how all parameters are drawn.
        batch_first: whether the batch comes before the steps, in inputs and outputs.
        input_forget: whether the forget gate is 1 minus the input gate, and has no parameters.
        gate_activation: of the input, forget and output gates.
        cell_activation: of the cell gate.
        hidden_activation: what the output gate takes of the cell.

    >>> BiLstmConfig(2, 3, True).init()
    BiLstm {d_input: 2, d_hidden: 3, bias: true, params: 168}
    """

    batch_first: bool = True
    input_forget: bool = False
    gate_activation: ActivationConfig = ActivationConfig.Sigmoid
    cell_activation: ActivationConfig = ActivationConfig.Tanh
    hidden_activation: ActivationConfig = ActivationConfig.Tanh

    def init(self, device=None) -> "BiLstm":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size or a clip that is not positive.
        """
        return BiLstm(*self._directions(LstmConfig, device), self.batch_first)


class BiLstm(Bidirectional):
    """Two `Lstm` over the same sequences, one from the end. Mirrors `burn::nn::BiLstm`.

    Fields: `forward_` (`forward` in records) and `reverse`, the layers; `d_hidden` of each; `batch_first`.

    >>> output, state = BiLstmConfig(2, 3, True).init().forward(Tensor.ones([1, 4, 2]))
    >>> output.dims(), state.shape
    ([1, 4, 6], [2, 1, 3])
    """

    forward_: Lstm = field(name="forward")
    reverse: Lstm

    def forward(self, input: Tensor, state: OptionalInitialLstmState = None) -> tuple[Tensor, LstmState]:
        """Applies the layer.

        Args:
            input: a batch of sequences.
            state: what the first steps begin with; zeros if None.

        # Shapes

        - input: [batch, steps, d_input]; [steps, batch, d_input] unless batch_first
        - state: two of [2, batch, d_hidden], the forward one first
        - output: [batch, steps, 2 * d_hidden], its axes in the order of the input's; and the last states

        Raises:
            KindError: a tensor that is not Float.
            ShapeError: sizes that do not fit.
        """
        hidden, cell = _states("BiLstm", state)
        self._check(input, state__hidden=hidden, state__cell=cell)
        output, last = self._both(input, hidden, cell)
        return output, LstmState(last[1], last[0])
