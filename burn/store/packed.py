"""Layers that PyTorch keeps in one matrix and burn in several: attention, and recurrent layers.

`nn.MultiheadAttention` holds the projections of query, key and value above each other, `nn.LSTM` and `nn.GRU` their gates.
"""

from .bridge import derived
from .pack import PackTensor

_ATTENTION = ("query", "key", "value")
# The gates in PyTorch's order.
_GATES = {
    "Struct:Lstm": ("input_gate", "forget_gate", "cell_gate", "output_gate"),
    "Struct:Gru": ("reset_gate", "update_gate", "new_gate"),
    "Struct:Rnn": ("gate",),
}
_SIDES = {"input_transform": "ih", "hidden_transform": "hh"}
_BOTH_WAYS = ("Struct:BiLstm", "Struct:BiGru", "Struct:BiRnn")


def place(path: str, containers: tuple[str, ...]) -> tuple[str, int, int] | None:
    """Where PyTorch has a parameter of these layers: the name in the file, which part of the rows, of how many.

    Args:
        path: the parameter's path.
        containers: what it is in, outermost first.

    Returns:
        Name, part and number of parts; None for other layers.

    >>> place("mha.key.bias", ("Struct:Model", "Struct:MultiHeadAttention", "Struct:Linear"))
    ('mha.in_proj_bias', 1, 3)
    >>> place("rnn.new_gate.input_transform.weight", ("Struct:Model", "Struct:Gru", "Struct:GateController", "Struct:Linear"))
    ('rnn.weight_ih_l0', 2, 3)
    """
    names = path.split(".")
    if containers[-2:] == ("Struct:MultiHeadAttention", "Struct:Linear") and len(names) >= 2:
        *outer, role, name = names
        if role not in _ATTENTION:
            return ".".join([*outer, "out_proj", name]), 0, 1
        return ".".join([*outer, f"in_proj_{name}"]), _ATTENTION.index(role), len(_ATTENTION)
    if containers[-2:] != ("Struct:GateController", "Struct:Linear") or len(names) < 3 or len(containers) < 3:
        return None
    *outer, gate, side, name = names
    gates = _GATES.get(containers[-3], ())
    if gate not in gates or side not in _SIDES:
        return None
    suffix = ""
    if containers[-4:-3] and containers[-4] in _BOTH_WAYS and outer:
        suffix = "_reverse" if outer.pop() == "reverse" else ""
    return ".".join([*outer, f"{name}_{_SIDES[side]}_l0{suffix}"]), gates.index(gate), len(gates)


def part_of(tensor: PackTensor, context) -> PackTensor:
    """The rows of a parameter in a tensor that holds those of several; other tensors are left as they are."""
    found = place(context.path, context.containers)
    if found is None or context.param is None or not tensor.shape:
        return tensor
    _, part, parts = found
    rows = context.param.lazy_shape()[-1]
    if parts == 1 or tensor.shape[0] != parts * rows:
        return tensor
    return derived(
        tensor, lambda array: array[part * rows : (part + 1) * rows], tensor.dtype, (rows, *tensor.shape[1:])
    )
