"""Gated recurrent units."""

from burn._ops import rnn as ops
from burn.module import field
from burn.nn.activation import Activation, ActivationConfig
from burn.tensor import Tensor

from . import _sequence as sequence
from . import gate_controller as gates
from ._layer import Bidirectional, Recurrent, RecurrentConfig
from .gate_controller import GateController


class GruConfig(RecurrentConfig):
    """Configuration of `Gru`. Mirrors `burn::nn::GruConfig`.

    Args:
        d_input: size of the vectors of a sequence.
        d_hidden: size of the state.
        bias: whether all products have a bias.
        clip: limit of the state after each step; none if None.
        initializer: how all parameters are drawn.
        reset_after: whether the reset gate is applied after the product of the state, as PyTorch does, or before.
        gate_activation: of the update gate and the reset gate.
        hidden_activation: of the new gate.

    >>> GruConfig(2, 8, True).init()
    Gru {d_input: 2, d_hidden: 8, bias: true, reset_after: true, params: 288}
    """

    reset_after: bool = True
    gate_activation: ActivationConfig = ActivationConfig.Sigmoid
    hidden_activation: ActivationConfig = ActivationConfig.Tanh

    def init(self, device=None) -> "Gru":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size or a clip that is not positive.
        """
        parts = self._gates(3, device)
        activations = self.gate_activation.init(device), self.hidden_activation.init(device)
        return Gru(*parts, self.reset_after, *activations, self.clip)


class Gru(Recurrent):
    """A gated recurrent unit. Mirrors `burn::nn::Gru`.

    With the products of input and state of each gate: z and r are the sigmoid of the update and the reset gate, n the
    tanh of the new gate, whose product of the state is multiplied by r (or, unless reset_after, the state before it);
    ``h = n * (1 - z) + z * h``. Fields: `update_gate`, `reset_gate`, `new_gate`, the parameters; `d_hidden`;
    `reset_after`; `gate_activation`; `hidden_activation`; `clip`, a limit of the state or None. A whole sequence is one
    kernel where the activations are Sigmoid and Tanh.

    >>> layer = GruConfig(1, 1, False).with_initializer(burn.nn.Initializer.Constant(0.5)).init()
    >>> layer.forward(Tensor([[[0.1], [0.2]]])).tolist()
    [[[0.0243...], [0.0629...]]]
    """

    update_gate: GateController
    reset_gate: GateController
    new_gate: GateController
    d_hidden: int
    reset_after: bool
    gate_activation: Activation
    hidden_activation: Activation
    clip: float | None

    def __init__(
        self,
        update_gate,
        reset_gate,
        new_gate,
        reset_after=True,
        gate_activation=None,
        hidden_activation=None,
        clip=None,
    ):
        self.update_gate = update_gate
        self.reset_gate = reset_gate
        self.new_gate = new_gate
        self.d_hidden = gates.sizes(update_gate)[1]
        self.reset_after = reset_after
        self.gate_activation = ActivationConfig.Sigmoid.init() if gate_activation is None else gate_activation
        self.hidden_activation = ActivationConfig.Tanh.init() if hidden_activation is None else hidden_activation
        self.clip = sequence.check_clip("Gru", clip)

    def forward(self, input: Tensor, state: Tensor | None = None) -> Tensor:
        """Applies the layer.

        Args:
            input: a batch of sequences.
            state: what the first step begins with; zeros if None.

        # Shapes

        - input: [batch, steps, d_input]
        - state: [batch, d_hidden]
        - output: [batch, steps, d_hidden]; its last step is the last state

        Raises:
            KindError: a tensor that is not Float.
            ShapeError: sizes that do not fit.
        """
        self._check(input, state=state)
        return self._turned(self._run(self._turned(input), state, False)[0])

    def _run(self, input, hidden, reverse):
        """All states of [steps, batch, d_input], and the last one."""
        parts = [self.update_gate, self.reset_gate, self.new_gate]
        fused = sequence.is_sigmoid(self.gate_activation) and sequence.is_tanh(self.hidden_activation)
        if fused and gates.alike(parts):
            return ops.gru(input, gates.values(parts), hidden, self.reset_after, reverse, self.clip)
        output, (last,) = sequence.walk(input, reverse, (sequence.initial(hidden, input, self.d_hidden),), self._step)
        return output, last

    def _step(self, x, h):
        z = self.gate_activation(self.update_gate.gate_product(x, h))
        r = self.gate_activation(self.reset_gate.gate_product(x, h))
        new = self.new_gate
        if self.reset_after:
            n = new.input_transform(x) + r * new.hidden_transform(h)
        else:
            n = new.gate_product(x, r * h)
        return (sequence.clipped(self.hidden_activation(n) * (1.0 - z) + z * h, self.clip),)

    def _first(self):
        return self.update_gate

    def custom_content(self, content):
        return super().custom_content(content).add("reset_after", self.reset_after)


class BiGruConfig(RecurrentConfig):
    """Configuration of `BiGru`. Mirrors `burn::nn::BiGruConfig`.

    Args:
        d_input: size of the vectors of a sequence.
        d_hidden: size of the state of each direction.
        bias: whether all products have a bias.
        clip: limit of the state after each step; none if None.
        initializer: how all parameters are drawn.
        reset_after: whether the reset gate is applied after the product of the state, as PyTorch does, or before.
        batch_first: whether the batch comes before the steps, in inputs and outputs.
        gate_activation: of the update gate and the reset gate.
        hidden_activation: of the new gate.

    >>> BiGruConfig(2, 8, True).init()
    BiGru {d_input: 2, d_hidden: 8, bias: true, params: 576}
    """

    reset_after: bool = True
    batch_first: bool = True
    gate_activation: ActivationConfig = ActivationConfig.Sigmoid
    hidden_activation: ActivationConfig = ActivationConfig.Tanh

    def init(self, device=None) -> "BiGru":
        """The layer, its parameters still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size or a clip that is not positive.
        """
        return BiGru(*self._directions(GruConfig, device), self.batch_first)


class BiGru(Bidirectional):
    """Two `Gru` over the same sequences, one from the end. Mirrors `burn::nn::BiGru`.

    Fields: `forward_` (`forward` in records) and `reverse`, the layers; `d_hidden` of each; `batch_first`.

    >>> output, state = BiGruConfig(2, 3, True).init().forward(Tensor.ones([1, 4, 2]))
    >>> output.dims(), state.dims()
    ([1, 4, 6], [2, 1, 3])
    """

    forward_: Gru = field(name="forward")
    reverse: Gru

    def forward(self, input: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
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
        self._check(input, state=state)
        output, (last,) = self._both(input, state)
        return output, last
