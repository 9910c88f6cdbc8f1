"""Layers that PyTorch keeps in one matrix and burn in several: attention, recurrent layers; and blocks whose parts it names else.

`nn.MultiheadAttention` holds the projections of query, key and value above each other, `nn.LSTM` and `nn.GRU` their gates.
"""

from burn.errors import StoreValidationError

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
# Names in the layers of transformers; the norms by whether they stand first, and None for what PyTorch has no name for.
_LAYERS: dict[str, dict[str, str | None]] = {
    "Struct:TransformerEncoderLayer": {"mha": "self_attn", "pwff": None},
    "Struct:TransformerDecoderLayer": {"self_attn": "self_attn", "cross_attn": "multihead_attn", "pwff": None},
}
_NORMS = {
    ("Struct:TransformerEncoderLayer", False): {"norm_1": "norm1", "norm_2": "norm2"},
    ("Struct:TransformerEncoderLayer", True): {"norm_2": "norm1", "norm_1": "norm2"},
    ("Struct:TransformerDecoderLayer", False): {"norm_1": "norm1", "norm_2": "norm2", "norm_3": "norm3"},
    ("Struct:TransformerDecoderLayer", True): {"norm_3": "norm1", "norm_1": "norm2", "norm_2": "norm3"},
}
_FEED_FORWARD = {"linear_inner": "linear1", "linear_outer": "linear2"}


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


def pytorch_path(context) -> str:
    """The path of a parameter as PyTorch's transformers call it; its own path in other modules.

    >>> from burn.store import ModuleContext
    >>> containers = ["Struct:TransformerEncoder", "Vec", "Struct:TransformerEncoderLayer", "Struct:PositionWiseFeedForward"]
    >>> pytorch_path(ModuleContext("layers.0.pwff.linear_inner.weight", [*containers, "Struct:Linear"]))
    'layers.0.linear1.weight'
    """
    kind = next((kind for kind in _LAYERS if kind in context.containers), None)
    if kind is None:
        return context.path
    names = context.path.split(".")
    containers = context.containers
    if len(names) != len(containers):  # the path leaves out the variants of enums
        containers = tuple(c for c in containers if not c.startswith("Enum:"))
    if len(names) != len(containers):
        return context.path
    at = containers.index(kind)
    new: str | None
    if names[at].startswith("norm_"):
        layer = context.module_of(kind)
        new = names[at] if layer is None else _NORMS[kind, bool(layer.norm_first)].get(names[at], names[at])
    else:
        new = _LAYERS[kind].get(names[at], names[at])
    rest = names[at + 1 :]
    if new is None:
        rest[0] = _FEED_FORWARD.get(rest[0], rest[0])
    return ".".join([*names[:at], *([] if new is None else [new]), *rest])


def _check_kind(context, name: str):
    """Raises where PyTorch's gates are not those that the layer has."""
    layer = context.module_of("Struct:Lstm")
    if layer is not None and layer.input_forget:
        raise StoreValidationError(
            f"{name!r} holds four gates, but this Lstm has input_forget and so no forget gate, which PyTorch's LSTM always has: "
            "build it with input_forget=False"
        )
    layer = context.module_of("Struct:Gru")
    if layer is not None and not layer.reset_after:
        raise StoreValidationError(
            f"{name!r} is of PyTorch's GRU, which resets after the product of the state, but this Gru has reset_after=False: "
            "build it with reset_after=True"
        )


def part_of(tensor: PackTensor, context) -> PackTensor:
    """The rows of a parameter in a tensor that holds those of several; other tensors are left as they are."""
    found = place(context.path, context.containers)
    if found is None or context.param is None or not tensor.shape:
        return tensor
    name, part, parts = found
    rows = context.param.lazy_shape()[-1]
    if parts == 1 or tensor.shape[0] != parts * rows:
        if parts > 1 and tensor.shape[0] == rows and context._found.rpartition(".")[2] == name.rpartition(".")[2]:
            raise StoreValidationError(
                f"{name!r} has {rows} rows, enough for one of the {parts} parts that this layer takes from it: "
                "it is of another kind of layer"
            )
        return tensor
    _check_kind(context, name)
    return derived(
        tensor, lambda array: array[part * rows : (part + 1) * rows], tensor.dtype, (rows, *tensor.shape[1:])
    )
