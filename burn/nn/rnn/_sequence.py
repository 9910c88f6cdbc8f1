"""What recurrent layers share: checks, the order of axes, going step by step."""

from collections.abc import Callable

from burn._arguments import finite, truth
from burn._ops.registry import check_same
from burn.errors import ArgumentError, ShapeError
from burn.nn._checks import check_float, check_size
from burn.nn.activation import Activation, Sigmoid, Tanh
from burn.tensor import Tensor

from .gate_controller import GateController


def check_config(config) -> None:
    """Raises unless sizes are positive and the limit of the state, where there is one, too."""
    name = type(config).__name__
    check_size(name, "d_input", config.d_input)
    check_size(name, "d_hidden", config.d_hidden)
    truth(name, "bias", config.bias)
    check_clip(name, config.clip)


def check_clip(owner: str, clip: float | None) -> float | None:
    """The limit of a state, which must be positive where there is one."""
    if clip is not None and finite(owner, "clip", clip) <= 0:
        raise ArgumentError(f"[{owner}] 'clip' must be positive, or None for no limit, got {clip}")
    return clip


def check_sequence(layer: str, input, d_input: int, batch_first: bool, gate: GateController) -> int:
    """Raises unless the input is a sequence of vectors of d_input elements, like the parameters in the rest; returns the batch
    size."""
    check_float(layer, input, "input")
    axes = "[batch, steps, d_input]" if batch_first else "[steps, batch, d_input]"
    if input.ndim != 3 or input._dims[2] != d_input:
        raise ShapeError(f"[{layer}] 'input' must be {axes} with d_input = {d_input}, got shape {input.dims()}")
    check_same(layer, gate.input_transform.weight.val(), input, "input")
    return input._dims[0 if batch_first else 1]


def check_state(layer: str, name: str, state, shape: tuple, input) -> None:
    """Raises unless a state is None or a tensor of this shape, like the input in the rest."""
    if state is None:
        return
    check_float(layer, state, name)
    check_same(layer, input, state, name)
    if state._dims != shape:
        axes = "[2, batch, d_hidden]" if len(shape) == 3 else "[batch, d_hidden]"
        raise ShapeError(f"[{layer}] {name!r} must be {axes} = {list(shape)}, got shape {state.dims()}")


def is_tanh(activation: Activation) -> bool:
    """Whether an activation is the one that kernels have for candidates and states."""
    return type(activation.module) is Tanh


def is_sigmoid(activation: Activation) -> bool:
    """Whether an activation is the one that kernels have for gates."""
    return type(activation.module) is Sigmoid


def initial(state: Tensor | None, input: Tensor, d_hidden: int) -> Tensor:
    """A state for [steps, batch, d_input]: the one that is given, or zeros."""
    if state is not None:
        return state
    return Tensor.zeros([input._dims[1], d_hidden], input.device, dtype=input.dtype)


def walk(input: Tensor, reverse: bool, states: tuple, step: Callable) -> tuple[Tensor, tuple]:
    """step(x, *states) for each x of [steps, batch, d_input]: the first states in order of time, and the last states.

    This is how a layer goes whose activations have no kernel.
    """
    steps = input._dims[0]
    found = [states[0]] * steps
    for t in reversed(range(steps)) if reverse else range(steps):
        states = step(input.narrow(0, t, 1).squeeze_dim(0), *states)
        found[t] = states[0]
    if not found:
        # None of one step: the output hangs together with what it would be made of, and a backward pass finds its way.
        batch, d_input = input._dims[1:]
        none = step(Tensor.zeros([batch, d_input], input.device, dtype=input.dtype), *states)[0]
        return none.unsqueeze_dim(0)[:0], states
    return Tensor.stack(found, 0), states


def clipped(state: Tensor, clip: float | None) -> Tensor:
    """A state within -clip..clip."""
    return state if clip is None else state.clamp(-clip, clip)
