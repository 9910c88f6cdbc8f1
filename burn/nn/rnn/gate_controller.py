"""One gate of a recurrent layer."""

from burn._ops.registry import check_same
from burn._ops.rnn import Gate
from burn.errors import ShapeError
from burn.module import Module
from burn.tensor import Tensor

from .._checks import check_float
from ..initializer import Initializer
from ..linear import Linear, LinearConfig


class GateController(Module):
    """What an input and a state contribute to a gate: the sum of two linear layers. Mirrors `burn::nn::GateController`.

    Fields: `input_transform`, a `Linear` of d_input to d_output; `hidden_transform`, one of d_output to d_output.

    >>> gate = GateController.new(2, 3, True, Initializer.Constant(0.5))
    >>> gate.gate_product(Tensor([[1.0, 1.0]]), Tensor([[1.0, 0.0, 0.0]])).tolist()
    [[2.5, 2.5, 2.5]]
    """

    input_transform: Linear
    hidden_transform: Linear

    def __init__(self, input_transform: Linear, hidden_transform: Linear):
        self.input_transform = input_transform
        self.hidden_transform = hidden_transform

    @classmethod
    def new(cls, d_input: int, d_output: int, bias: bool, initializer: Initializer, device=None) -> "GateController":
        """A gate whose parameters are still to be drawn.

        Args:
            d_input: size of the input.
            d_output: size of the state.
            bias: whether both layers have a bias.
            initializer: how the parameters of both layers are drawn, each as of its own numbers of inputs and outputs.
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is no positive integer.
        """
        configs = (LinearConfig(size, d_output, bias, initializer) for size in (d_input, d_output))
        return cls(*(config.init(device) for config in configs))

    def gate_product(self, input: Tensor, hidden: Tensor) -> Tensor:
        """What goes into the gate's activation.

        # Shapes

        - input: [batch, d_input]
        - hidden: [batch, d_output]
        - output: [batch, d_output]

        Raises:
            KindError: a tensor that is not Float.
            ShapeError: sizes that do not fit.
        """
        for name, x, layer in (("input", input, self.input_transform), ("hidden", hidden, self.hidden_transform)):
            weight = layer.weight.val()
            check_float("GateController", x, name)
            check_same("GateController", weight, x, name)
            if x._dims != (input._dims[0], weight._dims[0]):
                axis = "d_input" if name == "input" else "d_output"
                raise ShapeError(
                    f"[GateController] {name!r} must be [batch, {axis}] with {axis} = {weight._dims[0]}, one row for each of "
                    f"the input, got shape {x.dims()} for an input of shape {input.dims()}"
                )
        return self.input_transform(input) + self.hidden_transform(hidden)


def sizes(gate: GateController) -> tuple[int, int]:
    """(d_input, d_hidden) of a gate."""
    d_input, d_hidden = gate.input_transform.weight.lazy_shape()
    return d_input, d_hidden


def has_bias(gate: GateController) -> bool:
    """Whether a gate has a bias."""
    return gate.input_transform.bias is not None


def alike(gates) -> bool:
    """Whether each gate has both biases, or none has any."""
    return len({layer.bias is None for g in gates for layer in (g.input_transform, g.hidden_transform)}) == 1


def values(gates) -> list[Gate]:
    """The parameters of gates, drawn in this order where they are not yet."""
    found = []
    for gate in gates:
        first, second = gate.input_transform, gate.hidden_transform
        bias, state_bias = first.bias, second.bias
        found.append(
            Gate(
                first.weight.val(),
                None if bias is None else bias.val(),
                second.weight.val(),
                None if state_bias is None else state_bias.val(),
            )
        )
    return found
